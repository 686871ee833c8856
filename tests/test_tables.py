"""Reports read the same as text, HTML, Markdown, LaTeX and JSON, and none of them runs what it is given."""

import json
import re

import pytest

from rulelab.screen import fitted
from rulelab.tables import Page, Report, Table, engineering, prose
from rulelab.verdicts import SIGNS

HOSTILE = "<script>alert(1)</script> & $x^2$ `|` \\input{x} {{ 7 * 7 }}"


class Hostile(Report):
    def page(self):
        return Page(
            (HOSTILE,),
            (
                Table(HOSTILE, (HOSTILE, "b"), ((HOSTILE, "1"),)),
                Table("folded", ("a",), (("x",),), folded=True),
            ),
            (HOSTILE,),
        )

    def to_dict(self):
        return {"text": HOSTILE, "worst": float("inf"), "none": float("nan")}


def test_html_escapes_every_word():
    """A name or an error text with HTML in it is shown, never run."""
    html = Hostile()._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html and "{{ 7 * 7 }}" in html


def test_html_tells_mathjax_to_leave_it_alone():
    """A key of a dict that is called `$x$` is shown so, in Jupyter and in an exported page."""
    html = Hostile()._repr_html_()
    assert html.startswith('<div class="rulelab-report tex2jax_ignore mathjax_ignore">')


def test_html_can_be_read_aloud_and_folded():
    """Tables have captions and header cells, long ones are folded, and no script is needed."""
    html = Hostile()._repr_html_()
    for part in (
        "<caption>",
        '<th scope="col">',
        '<th scope="row">',
        "<details><summary>folded",
        "var(--jp-",
    ):
        assert part in html


def test_styles_stay_within_the_report():
    """Every style rule names our own class, so a report changes nothing else on the page."""
    style = Hostile()._repr_html_().split("<style>")[1].split("</style>")[0]
    selectors = [line.strip() for line in style.splitlines() if "{" in line]
    assert all(line.startswith((".rulelab-report", "@container")) for line in selectors)
    assert "@container (max-width" in style  # which counts the width of the report, not of the window


def test_markdown_and_latex_escape():
    """Markdown shows the words as they are; LaTeX neither breaks nor includes files."""
    assert Page(("<b> & *c*",)).markdown() == "\\<b\\> \\& \\*c\\*"
    # Jupyter would take dollars and backslashes for mathematics, escaped or not, but not in code.
    assert f"``{HOSTILE}``" in Hostile().to_markdown()
    assert "`a\\|$`" in Page(tables=(Table("", ("a|$",), ()),)).markdown()
    assert "\\input{x}" not in Hostile().to_latex()


def test_json_is_json():
    """Infinities and nan, which JSON lacks, are words."""
    assert json.loads(Hostile().to_json()) == {"text": HOSTILE, "worst": "inf", "none": "nan"}


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (3.82e-5, "s", "38.2 µs"),
        (1.43e-7, "s", "143 ns"),
        (0.0, "s", "0 s"),
        (1.0, "s", "1 s"),
        (0.9999, "s", "1 s"),
        (1536, "B", "1.54 kB"),
        (5e-10, "s", "0.5 ns"),
        (float("nan"), "s", "–"),
        (72.4, "s", "72.4 s"),
    ],
)
def test_numbers_are_read_at_a_glance(value, unit, shown):
    """Three digits and a prefix."""
    assert engineering(value, unit) == shown


def test_a_table_without_rows_is_still_a_table():
    """In LaTeX, too, where the columns are counted."""
    empty = Table("none", ("a", "b"), ())
    assert "\\begin{tabular}{ll}" in Page(tables=(empty,)).latex()
    assert Page(tables=(empty,)).text().splitlines()[1].split() == ["a", "b"]


def test_what_would_act_in_a_terminal_is_shown_as_a_sign():
    """An escape sequence in a name does not colour the screen, nor does a mark turn its text around."""
    page = Page(("\x1b[31m",), (Table("\x07", ("\u202e", "b"), (("\x9b", "1"),)),), ("\x7f",))
    for face in (page.text(), page.html(), page.markdown(), page.latex()):
        assert not set(face) & set("\x1b\x07\u202e\x9b\x7f")


def test_lines_of_a_program_keep_their_indentation():
    """In every face the spaces at the head of a verbatim cell, and those inside, are there; elsewhere a table
    is laid out as before.
    """
    table = Table("t", ("line", "source"), (("1", "    x  = [<b>]"),), verbatim=("source",))
    assert table.text().splitlines()[-1] == "1           x  = [<b>]"
    page = Page(tables=(table,))
    hanging = 'style="padding-left: 6ch; text-indent: -6ch"'  # where it is broken, it goes on below the x
    assert f'<td class="rulelab-verbatim" {hanging}>    x  = [&lt;b&gt;]</td>' in page.html()
    deep = Page(tables=(Table("t", ("", "source"), (("", " " * 40 + "x"),), verbatim=("source",)),))
    assert 'style="padding-left: 10ch; text-indent: -10ch"' in deep.html()  # room is left for the text
    assert "\N{NO-BREAK SPACE}" * 4 + "x" in page.markdown()
    assert "\N{NO-BREAK SPACE}" * 4 + "x" in page.latex()
    assert "\ue000" not in page.text() + page.markdown() + page.latex() + page.html()


def test_a_number_and_its_unit_stay_together_in_every_layout():
    """In sentences, headers and cells of HTML, and in a terminal, where cells are broken into lines."""
    table = Table("5.2 µs in all", ("call", "in 4 ms", "at"), (("gradient of f", "10.5 to 12.3 µs", "1 s"),))
    html = Page(("67% of 5.2 µs",), (table,), ("8 B more",)).html()
    for whole in ("5.2 µs</span></p>", "5.2 µs</span> in all", "4 ms</span></th>", "8 B</span> more"):
        assert f'<span style="white-space: nowrap">{whole}' in html
    assert "10.5 to 12.3\xa0µs" in html
    with fitted(30):
        assert "12.3 µs" in table.text() and "10.5 to 12.3" not in table.text()


def test_a_row_that_is_named_by_a_number_says_of_what_on_a_phone():
    """There the header of the table is not shown."""
    html = Page((), (Table("t", ("N", "time"), (("1,000", "5 s"), ("sum", "7 s"))),)).html()
    assert '<th scope="row" data-label="N">1,000</th>' in html and '<th scope="row">sum</th>' in html


def test_shapes_are_words():
    """A column of them has the same place whether or not each has a single length."""
    for shapes in (("30", "4"), ("30", "6×4")):
        assert Table("t", ("argument", "shape"), tuple(("x", one) for one in shapes)).numeric() == set()


def test_a_row_of_latex_that_begins_with_a_bracket_is_no_argument():
    """LaTeX would take `[x]` after the end of a row for a length."""
    latex = Page(tables=(Table("t", ("[n]", "b"), (("[x]", "1"), ("*", "2"))),)).latex()
    assert "{[}n]" in latex and "{[}x]" in latex and "{*}" in latex


def test_numbers_and_their_units_stay_on_one_line():
    """Only long cells are broken into lines, and words in them only where they are long themselves; lines of
    a program keep their spaces.
    """
    rows = (("gradient of f", "22.9 µs to 23.6 µs"), ("g", "differ: " + "x" * 60), ("h", "differ: " * 6))
    html = Page(tables=(Table("times", ("call", "time"), rows, verbatim=("call",)),)).html()
    both = (f'<span style="white-space: nowrap">{time} µs</span>' for time in (22.9, 23.6))
    assert f'<td data-label="time">{" to ".join(both)}</td>' in html
    assert '<td class="rulelab-long rulelab-unbroken" data-label="time">differ: xxx' in html
    assert '<td class="rulelab-long" data-label="time">differ: differ: ' in html
    assert '<div class="rulelab-scroll" tabindex="0" role="article" aria-label="times">' in html
    assert "th, .rulelab-report.rulelab-report td { white-space: nowrap; }" in html


def test_a_short_verdict_stays_on_one_line():
    """A long one is broken between its words."""
    rows = (("y", "agree exactly"), ("z", "differ: at [5] -0.1150043486 against -0.1725065229"))
    html = Page(tables=(Table("Values", ("", "verdict"), rows, verdicts=("right", "wrong")),)).html()
    assert '<td class="rulelab-brief" data-label="verdict">' in html
    assert '<td class="rulelab-long" data-label="verdict">' in html


def test_columns_of_numbers_stand_to_the_right():
    """With units, intervals and blanks among them; a column with a word in it stands to the left."""
    rows = (("f", "1,200", "22.9 µs to 23.6 µs", "agree to 1e-15", "–"), ("g", "–", "–", "1e-15", "–"))
    table = Table("times", ("call", "blocks", "middle half", "verdict", "none"), rows)
    assert table.numeric() == {1, 2}
    assert Table("lines", ("line", "runs", "no"), (("1", "30", ""), ("2", "", ""))).numeric() == {1}
    html = Page(tables=(table,)).html()
    assert html.count('class="rulelab-number') == 6  # two heads, four cells
    assert html.count('class="rulelab-number rulelab-range"') == 1  # it may be broken
    assert '<td class="rulelab-number" data-label="blocks">1,200</td>' in html


def test_the_sign_of_a_verdict_stands_at_the_headline_and_in_its_rows():
    """Beside the word, and only in HTML: a terminal or a log may not have it."""
    table = Table("checks", ("check", "verdict", "times"), (("value", "right", "3"),), verdicts=("right",))
    page = Page(("It is wrong.", "below"), (table,), verdict="wrong")
    html = page.html()
    assert f'<p class="rulelab-verdict">{SIGNS["wrong"].html()}It is wrong.</p>' in html
    assert "<p>below</p>" in html  # a headline is one line
    beside = f'<span class="rulelab-beside-sign">{SIGNS["right"].html()}right</span>'  # on one line with it
    assert f'data-label="verdict">{beside}</td>' in html
    assert not any(sign.symbol in page.text() for sign in SIGNS.values() if sign.symbol not in "?–!")


def test_a_warning_is_seen_among_notes():
    """As in the report of a proof, where it has a line of its own."""
    html = Page(("right",), (), ("warning: x < 0 was not tried", "note: 5 points")).html()
    assert "<p><strong>warning:</strong> x &lt; 0 was not tried</p>" in html
    assert "<p>note: 5 points</p>" in html


def test_a_program_in_a_narrow_terminal_has_its_lines_below_the_numbers():
    """The numbers stay in their columns, each line of code is whole, and a remark stands below it."""
    columns = ("line", "source", "runs", "forward", "reverse", "share", "# = 10%", "held", "remark")
    code = ["def f(x):", "    y = np.cross(x, np.cumsum(x)) + np.exp(-x) * x", "    return y"]
    rows = (
        ("1", code[0], "1", "522 ns", "", "4%", "", "", ""),
        ("2", code[1], "1", "2.96 µs", "2.19 µs", "39%", "####", "176 B", "looks up np.cross, mul, add"),
        ("3", code[2], "1", "2.34 µs", "4.31 µs", "50%", "#####", "448 B", ""),
    )
    with fitted(80):
        head, rule, *lines = Table("f", columns, rows, verbatim=("source",)).text().split("\n")[1:]
    assert [lines[1], lines[3], lines[6]] == [f"  {line}" for line in code]
    assert lines[4].strip() == "remark: looks up np.cross, mul, add" and max(map(len, lines)) <= 80
    assert head.split()[:4] == ["line", "runs", "forward", "reverse"] and "source" not in head
    assert lines[2].index("2.19 µs") == lines[5].index("4.31 µs") == head.index("reverse")
    with fitted(30):
        narrow = Table("f", columns, rows, verbatim=("source",)).text()
    assert "source: def f(x):" in narrow


def test_no_line_ends_within_a_number_of_a_verdict():
    """A hyphen may end a line, in 1e-14 and in -0.5 as well: such a word is kept whole."""
    rows = (("value", "agree to 1e-14"), ("gradient", "differ: at [1] -0.5 against <b>0.25"))
    html = Page((), (Table("t", ("", "verdict"), rows, verdicts=("right", "wrong")),)).html()
    for word in ("1e-14", "-0.5"):
        assert f'<span class="rulelab-beside-sign">{word}</span>' in html
    assert "<b>" not in html and " against &lt;b&gt;0.25" in html


def test_words_in_html_have_their_code_as_code_and_their_numbers_whole():
    """What stands in backticks, a power of ten, an option; nothing that somebody else wrote is an element."""
    shown = str(prose("leave out `g[5:9] *= <b>`: agrees to -1e-15 at [0, 12], see --at"))
    assert re.search("<code [^>]*>g\\[5:9\\] \\*= &lt;b&gt;</code>:", shown) and "`" not in shown
    assert [part in shown for part in (">-1e-15</span>", ">[0, 12]</span>,", ">--at</span>")] == [True] * 3
    hostile = prose("`<img src=x>` <script> `&quot;` x--y 1e5 `a\nb`")
    assert re.findall("<(\\w+)", str(hostile)) == ["code"] * 2
    assert str(prose("f-string, x_1 - y, 0.25")) == "f-string, x_1 - y, 0.25"


def test_no_cell_is_broken_within_a_power_of_ten():
    """Neither a number nor the words of a verdict, however narrow the page."""
    table = Table("Off", ("", "error", "in words"), (("x", "9.42e-05", "is off by 4e-05 here"),))
    html = Page(tables=(table,)).html()
    assert all(f'nowrap">{number}</span>' in html for number in ("9.42e-05", "4e-05"))
