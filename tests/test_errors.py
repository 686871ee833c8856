"""Tests of the one way errors are worded."""

import pickle

import numpy as np
import pytest

from rulelab import errors
from rulelab.errors import MutationError, Place, RuleLabError, register_cell_label


def test_six_lines_with_a_caret_under_the_culprit():
    """An error shows what was found, what was asked, my line with a caret, the fixes and where to read."""
    place = Place("models/model.py", 12, 4, 8, "loss", "    x[0] = 1.0")
    error = MutationError(
        "Mutating arrays is not supported", asked="gradient of loss(x)", place=place,
        fixes=["write it without mutation", "use rl.Buffer"], read="docs/limitations.md#mutation",
    )  # fmt: skip
    lines = str(error).splitlines()
    assert lines[0] == "Mutating arrays is not supported"
    assert lines[1] == "asked: gradient of loss(x)"
    assert lines[2] == "model.py, line 12, in loss: x[0] = 1.0"
    assert lines[3].index("^") == lines[2].index("x[0]") and lines[3].count("^") == 4
    assert lines[4] == "do: write it without mutation; or use rl.Buffer"
    assert lines[5] == "read: docs/limitations.md#mutation"
    assert len(lines) == 6


def test_a_file_that_every_package_has_is_called_by_its_folder():
    """In a table of the rules of an installed package, it would be any of them."""
    assert Place("/s/my_rules/__init__.py", 7, function="f").label() == "my_rules/__init__.py, line 7, in f"
    assert Place("C:\\my_rules\\__main__.py", 7).label() == "my_rules/__main__.py, line 7"
    assert Place("__init__.py", 7).label() == "__init__.py, line 7"


def test_never_more_than_six_lines_of_160_columns():
    """However long the texts, an error fits in six lines of 160 columns."""
    chain = [Place("a.py", i, function="f" * 50) for i in range(9)]
    place = Place("b.py", 3, 400, 410, "g", "é = " + "y" * 900)
    error = RuleLabError(
        "w\n" * 500, asked="q" * 500, place=place, fixes=["z" * 300] * 3, read="r" * 400, chain=chain
    )
    lines = str(error).splitlines()
    assert len(lines) == 6 and max(map(len, lines)) <= 160
    assert "^" in lines[3]


def test_a_line_that_is_too_long_ends_with_a_word():
    """No word is cut, unless it is most of the line; of several ways those that fit are whole."""
    for length in range(1, 40):
        words = " ".join(["w" * length] * 200)
        found, asked, do = str(RuleLabError(words, asked=words, fixes=words)).splitlines()
        for line in (found, asked.removeprefix("asked: "), do.removeprefix("do: ")):
            *whole, end = line.split(" ")
            assert end == "…" and set(whole) == {"w" * length} and len(line) > 100
    short, long = "pass a float", "write a rule " + "that says more " * 12
    told = str(RuleLabError("no", fixes=[short, "give a twin", long, short])).splitlines()[1]
    assert told == "do: pass a float; or give a twin; or …"
    assert str(RuleLabError("no", fixes=[long])).endswith((" says …", " that …", " more …"))


def test_the_caret_counts_characters_not_bytes():
    """A line with accents or Greek letters has its caret under the right character."""
    text = "ẋ = ȳ * x[0]"
    column = len(text[: text.index("x[0]")].encode())
    lines = str(RuleLabError("no", place=Place("a.py", 1, column, column + 4, None, text))).splitlines()
    assert lines[2].index("^") == lines[1].index("x[0]")


def test_a_cell_is_named_by_its_number():
    """A place in a notebook is called by its cell, once the notebook has said which file is which cell."""
    place = Place("/tmp/ipykernel_123/456.py", 2, function="addone")
    assert place.label() == "456.py, line 2, in addone"
    register_cell_label("/tmp/ipykernel_123/456.py", "cell In [3]")
    assert place.label() == "cell In [3], line 2, in addone"
    assert "reached from addone, line 2" in str(
        RuleLabError("x", place=Place("b.py", 1), chain=[place])
    )


def test_cell_labels_are_bounded():
    """A session of any length does not pile up cell names."""
    for i in range(errors.MOST_CELLS + 50):
        register_cell_label(f"<cell {i}>", f"cell In [{i}]")
    assert len(errors._labels) == errors.MOST_CELLS
    assert Place("<cell 0>", 1).label() == "<cell 0>, line 1"


def test_errors_survive_pickling():
    """An error raised in a worker process arrives with all its parts."""
    for cls in [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, RuleLabError)]:
        error = cls(
            "found",
            asked="asked",
            place=Place("a.py", 1, text="x"),
            fixes=("f",),
            read="r",
            chain=[Place("b", 2)],
        )
        error.cells = 3
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is cls and str(back) == str(error) and back.chain == error.chain and back.cells == 3


def test_place_of_a_function_and_of_a_frame():
    """Places are taken from code, with the columns of the expression that is running."""
    import sys

    assert (
        Place.of_function(test_place_of_a_function_and_of_a_frame).function
        == "test_place_of_a_function_and_of_a_frame"
    )
    place = np.array([0]) is not None and Place.of_frame(sys._getframe())
    assert place.source().strip().startswith("place = np.array") and place.column > 0


def test_every_class_is_under_one_roof():
    """`except rl.RuleLabError` catches every refusal."""
    with pytest.raises(RuleLabError):
        raise errors.RuleShapeError("x")
    assert issubclass(errors.RuleShapeError, errors.RuleError)


def test_what_would_act_in_a_terminal_is_shown_as_a_sign():
    """One sign for one character, so the caret stays below what it points at."""
    place = Place("cell\x1b", 1, 7, 8, text="x\x07\u202e\x1b = y")
    text = str(RuleLabError("\x1b[2J", place=place, fixes="\x9b"))
    assert not set(text) & set("\x1b\x07\u202e\x9b")
    line, caret = text.splitlines()[1:3]
    assert line[caret.index("^")] == "="  # columns count the bytes of UTF-8, and the second mark has three
