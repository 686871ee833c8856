"""What is shown in a terminal fits it, and has colours where the terminal and the reader want them."""

from __future__ import annotations

import ast
import io
from dataclasses import dataclass

import pytest

from rulelab import screen
from rulelab.screen import broken, column_widths, fitted, on_screen, without_colour
from rulelab.tables import Page, Report, Table


class Terminal(io.StringIO):
    def isatty(self):
        return True


class OfKernel(io.StringIO):
    """What a notebook's kernel writes to."""

    __module__ = "ipykernel.iostream"


@pytest.fixture
def columns(monkeypatch):
    def of(number):
        monkeypatch.setenv("COLUMNS", str(number))

    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return of


@pytest.mark.parametrize(
    "environment, stream, expected",
    [
        ({}, Terminal(), True),
        ({}, io.StringIO(), False),
        ({"NO_COLOR": "1"}, Terminal(), False),
        ({"NO_COLOR": ""}, Terminal(), True),
        ({"FORCE_COLOR": "1"}, io.StringIO(), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, Terminal(), False),
        ({"TERM": "dumb"}, Terminal(), False),
        ({"FORCE_COLOR": "1"}, OfKernel(), False),
    ],
)
def test_colours_are_where_they_are_wanted(environment, stream, expected, columns, monkeypatch):
    """A terminal has them, a file has not, and the two variables are heeded."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert screen.has_colour(stream) is expected


class Timed(Report):
    def page(self):
        cells = ("40.4 ms", "42.6 ms to 53.4 ms", "20.2 MB", "2")
        rows = [(f"gradient of function_{n}", *cells) for n in range(3)]
        lead = "rule of f: wrong: " + "the answer is not linear in the cotangent, " * 4
        columns = ("call", "minimum", "middle half", "peak memory", "blocks kept")
        return Page((lead,), (Table("Time of one call", columns, tuple(rows)),), ("a note",))

    def to_dict(self):
        return {}


@pytest.mark.parametrize("number", [40, 60, 80, 100])
def test_a_report_fits_the_terminal(number, columns):
    """No line is longer than the terminal is wide, and no word is lost."""
    columns(number)
    shown = without_colour(on_screen(Timed(), Terminal()))
    assert max(map(len, shown.split("\n"))) <= number
    letters = "".join(shown.split())
    for word in ("gradient", "function_2", "53.4", "cotangent", "a note".replace(" ", "")):
        assert word in letters


def test_without_a_terminal_lines_are_as_long_as_they_are(columns):
    """What goes into a file or a page is the same on every machine."""
    columns(40)
    assert on_screen(Timed(), io.StringIO()) == str(Timed())


def test_a_line_beside_a_prompt_fits_with_it(columns):
    """One that would not begins below the prompt, where IPython puts what has several lines."""
    columns(60)
    sentence = "pullback of f: right to rounding: at most 1.3 ulps off"

    def lines(text, beside, stream):
        return without_colour(on_screen(text, stream, beside=beside)).split("\n")

    assert lines(sentence, 0, Terminal()) == lines(sentence, 5, Terminal()) == [sentence]
    assert lines(sentence, 11, Terminal()) == ["pullback of f: right to rounding: at most 1.3", "  ulps off"]
    assert lines(f"{sentence}\nmore", 11, Terminal()) == [sentence, "more"]
    assert lines(sentence, 11, io.StringIO()) == [sentence]


def test_verdicts_have_their_colours(columns):
    """In the headline, and where a line begins with one; other words are left alone."""
    columns(100)
    shown = on_screen("2 checks: 1 wrong.\nwrong: f\nthe rule is wrong here", Terminal())
    assert shown == "2 checks: 1 \x1b[31mwrong\x1b[0m.\n\x1b[31mwrong\x1b[0m: f\nthe rule is wrong here"


@dataclass
class Judged(Report):
    """A report with a headline, a verdict, and lines of code before it."""

    head: str
    verdict: str
    code: tuple[str, ...] = ()

    def page(self):
        return Page((self.head,), verdict=self.verdict)

    def to_dict(self):
        return {}

    def __str__(self):
        return "\n".join((*self.code, self.head))

    def code_lines(self):
        return self.code


@pytest.mark.parametrize(
    ("head", "verdict", "shown"),
    [
        ("Right: f and g agree", "right", "\x1b[32mRight\x1b[0m: f and g agree"),
        ("f: cannot tell: not wrong", "UNDECIDED", "f: \x1b[33mcannot tell\x1b[0m: not wrong"),
        ("f: no digit is right", "loses digits", "\x1b[33mf: no digit is right\x1b[0m"),
    ],
)
def test_a_headline_has_the_colour_of_its_own_verdict(head, verdict, shown, columns):
    """And of no other word that could be one."""
    columns(80)
    assert on_screen(Judged(head, verdict), Terminal()) == shown


def test_a_rule_to_be_copied_is_not_broken(columns):
    """In the narrowest terminal it is still Python, and says no verdict in a colour."""
    columns(40)
    code = ("# loses digits for x from 1 to 2 (no digit is right, it is wrong)", "y = f(x" + ", x" * 30 + ")")
    *lines, last = on_screen(Judged("rule derived for f: right", "right", code), Terminal()).split("\n")
    assert tuple(lines) == code and last == "rule derived for f: \x1b[32mright\x1b[0m"


def test_a_table_of_code_is_not_broken():
    """The spaces of a program count."""
    table = Table("Lines", ("line", "source"), (("1", "    " + "x = x + 1; " * 9),), verbatim=("source",))
    with fitted(60):
        assert "    " + "x = x + 1; " * 8 in table.text()


@pytest.mark.parametrize("number", [40, 60, 80])
def test_a_caret_stays_below_what_it_points_at(number, columns):
    """Also in a line of code that is longer than the terminal is wide."""
    columns(number)
    code = "    shapes.py, line 10, in square_rrule: return x * x, lambda y_bar: (rl.NoTangent(), 2 * slope)"
    caret = " " * code.index("slope") + "^^^^^"
    lines = on_screen(f"{code}\n{caret}", Terminal()).split("\n")
    assert max(map(len, lines)) <= number
    (at,) = (number for number, line in enumerate(lines) if "^" in line)
    assert lines[at - 1][lines[at].index("^") : lines[at].rindex("^") + 1] == "slope"
    words = " ".join(line.strip() for line in lines if "^" not in line)
    assert words == code.strip()


def test_code_that_fits_is_whole_below_its_place():
    """Where place and code do not fit on one line, the place stands above, and the code is not cut."""
    code = "cell In [8], line 5, in softmax_rrule: return rl.NoTangent(), y_bar - y * np.sum(y_bar * y)"
    place, statement = code.split(": ")
    lines = screen.fitting([code, " " * code.index("y_bar - y") + "^^^^^"], 80)
    assert lines == [f"{place}:", f"  {statement}", "  " + " " * statement.index("y_bar") + "^^^^^"]
    short = [f"{place}: return y", " " * code.index("return") + "^^^^^^"]
    assert screen.fitting(short, 80) == short
    lone = ["    def scaled(x: float, factor: float): return x * factor + offset", " " * 49 + "^"]
    assert screen.fitting(lone, 60)[0].startswith("    def scaled(x: float, factor")


@pytest.mark.parametrize("number", range(60, 100))
def test_a_quoted_formula_stays_on_one_line(number):
    """What stands in backticks is copied as a whole, however long, as long as a line has room for it."""
    formula = "`y_bar * (z ** 2 - 1) / sigma - 2 * np.sum(y_bar * y)`"
    said = f"rule of gauss is wrong: lacks a term: {formula} belongs there, in the cotangent of sigma"
    lines = screen.fitting([said], number)
    assert max(map(len, lines)) <= number
    assert sum(formula in line for line in lines) == 1
    assert " ".join(line.strip() for line in lines) == said


def test_code_to_paste_is_not_broken_within_its_comment():
    """What goes on in the next line would be no comment there: the code is read as it was."""
    code = "    back((1.0, np.array([2.0, 3.0])))[1]    # gives 3, should be 4"
    parts = broken(code, 44)
    assert all(len(part) <= 44 for part in parts)
    assert [part.strip() for part in parts] == [
        "back((1.0, np.array([2.0, 3.0])))[1]", "# gives 3, should be 4"
    ]  # fmt: skip
    pasted = "\n".join(map(str.strip, broken(code, 40)))
    assert ast.dump(ast.parse(pasted)) == ast.dump(ast.parse(code.strip()))
    assert broken(code, 80) == [code]


def test_a_quoted_formula_wider_than_the_terminal_is_broken():
    """There it cannot stay whole, and no line is longer than the terminal is wide."""
    said = "has `" + " + ".join(["np.sum(y_bar * y)"] * 5) + "` in it"
    lines = screen.fitting([said], 60)
    assert max(map(len, lines)) <= 60 and " ".join(line.strip() for line in lines) == said


def test_a_number_is_not_parted_from_its_error():
    """An end of a line between them would make two numbers of one."""
    said = "cotangent of sigma: the rule gives 0.1512167632, differences -1.701188586 ± 4e-12"
    for number in range(60, 82):
        assert any("-1.701188586 ± 4e-12" in line for line in screen.fitting([said], number))


@pytest.mark.parametrize("sign", "-+")
def test_a_changed_line_of_code_is_broken_at_a_comma_between_its_formulas(sign):
    """In as few brackets as possible, where that leaves no short line; not within a formula."""
    formulas = ["-g * y * z / sigma", "g * y * z / sigma", "g * y * (z**2 - 1) / sigma"]
    line = f"    {sign} return y, lambda g: (rl.NoTangent(), {', '.join(formulas)})"
    for number in range(60, 100):
        lines = screen.fitting([line], number)
        assert max(map(len, lines)) <= number
        assert all(any(formula in part for part in lines) for formula in formulas)
        assert " ".join(part.strip() for part in lines) == line.strip()


def test_an_error_in_a_notebook_is_broken_between_words():
    """JupyterLab would break it within one; a magic and what is in backticks stay whole, a caret in place."""
    words = "do: write it without mutation; or write a rule for addone (%rule_stub addone); or fill a Buffer"
    code = "cell In [4], line 13, in a_function_with_a_long_name: x[i] = x[i] + numbers[i]"
    lines = screen.of_message([words, code, " " * code.index("x[i]") + "^^^^"], OfKernel())
    assert max(map(len, lines)) <= screen.NOTEBOOK and len(lines) > 3
    assert any("%rule_stub addone" in line for line in lines)
    assert screen.of_message([words], io.StringIO()) == [words]
    pointing = next(n for n, line in enumerate(lines) if line.strip() == "^^^^")
    assert lines[pointing - 1][lines[pointing].index("^") :].startswith("x[i]")


def test_no_word_of_a_table_is_cut():
    """Neither in a head nor in a cell: where there is no room, the rows are lists."""
    rows = [("call", "largest absolute", "from differences"), ("softmax_cr", "-4.498496808", "3.4e-13")]
    for columns in range(20, 60):
        with fitted(columns):
            widths = column_widths(rows)
            if widths is not None:
                words = [max((len(w) for c in column for w in c.split())) for column in zip(*rows)]
                assert all(width is None or width >= word for width, word in zip(widths, words))
