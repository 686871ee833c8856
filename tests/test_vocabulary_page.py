"""docs/coming-from/vocabulary.md says of each tool of ChainRules what it is here."""

import itertools
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from corpus import vocabulary_table  # noqa: E402
from corpus.vocabulary import ROWS, Row  # noqa: E402
from corpus.vocabulary_table import PAGE, groups, names, page, run  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.tangents.oldnames import OLD_NAMES  # noqa: E402

GROUPS = [(group, [row for _, row in rows]) for group, rows in groups()]


@pytest.mark.parametrize("rows", [rows for _, rows in GROUPS], ids=[group for group, _ in GROUPS])
def test_every_example_gives_what_it_states(rows):
    """Whoever types the examples of a group, in their order, sees the outputs that stand on the page."""
    known = names()
    assert [complaint for row in rows if row.example and (complaint := run(row, known))] == []


def test_the_page_is_up_to_date():
    """What the committed page says is what happens today; `make vocabulary-table` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make vocabulary-table`"


def test_a_row_has_an_example_or_a_reason():
    """No tool is listed without either, and none has both."""
    assert [row.theirs for row in ROWS if bool(row.example) == bool(row.reason)] == []
    assert [row.theirs for row in ROWS if bool(row.ours) == bool(row.reason)] == []


def test_what_a_row_spells_is_used_in_its_example():
    """Each `rl.name` in the column of ours is one that `rulelab` offers, and stands in the example."""
    for row in ROWS:
        for name in re.findall(r"`@?rl\.(\w+)", row.ours):
            assert name in OLD_NAMES or hasattr(rl, name), name
            assert f"rl.{name}" in row.example, (row.theirs, name)


def test_the_page_is_a_table_with_its_examples():
    """Each tool stands there once, in lines of three cells; each number leads to its example."""
    assert len({row.theirs for row in ROWS}) == len(ROWS) > 60
    text = page()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines)
    led_to = re.findall(r"\(#(example-\d+)\)", text)
    assert led_to == re.findall(r"^\((example-\d+)\)=$", text, re.MULTILINE)


def test_the_magics_that_a_row_names_exist():
    """`%name` on the page is one that `%load_ext rulelab` brings."""
    pytest.importorskip("IPython")
    from rulelab.notebook.magics import RuleLab

    named = {name for row in ROWS for name in re.findall(r"`%(\w+)", row.ours)}
    assert named and named <= {*RuleLab.magics["line"], *RuleLab.magics["cell"]}


@pytest.mark.parametrize(
    "name",
    """rrule frule scalar_rule non_differentiable opt_out NoTangent ZeroTangent Tangent canonicalize thunk
    unthunk InplaceableThunk not_implemented ProjectTo RuleConfig rrule_via_ad frule_via_ad ignore_derivatives
    derivatives_given_output is_inplaceable_destination realdot muladd MutableTangent zero_tangent""".split(),
)
def test_the_tools_of_chainrules_are_all_there(name):
    """What ChainRulesCore exports to authors of rules, and their experiments, have a row."""
    assert any(re.search(rf"\b{name}\b", row.theirs) for row in ROWS)


def test_a_wrong_output_is_not_put_on_the_page(monkeypatch):
    """The page cannot be made while an example gives another output, or raises."""
    for example in (">>> 1 + 1\n3", ">>> 1 / 0\n0"):
        wrong = Row("Group", "theirs", "ours", example)
        monkeypatch.setattr(vocabulary_table, "ROWS", [wrong])
        with pytest.raises(AssertionError, match="Failed example"):
            page()


def test_groups_stand_together():
    """A group's rows follow one another, so that its heading stands there once."""
    assert len(list(itertools.groupby(row.group for row in ROWS))) == len({row.group for row in ROWS})
