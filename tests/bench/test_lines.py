"""The table of a profile stands beside the source, in every face."""

import json

from rulelab.bench.lines import SHOWN_LINES, FunctionLines, Line, Profile


def report(lines, **changed):
    function = FunctionLines("f", "model.py", "model.py, line 1", 1, tuple(lines))
    fields = dict(
        call="f(x)", forward=3e-6, reverse=7e-6, outside=0.0, held=4096, peak=100, functions=(function,),
        rounds=10, calls=23,
    )  # fmt: skip
    return Profile(**{**fields, **changed})


LINES = [
    Line(1, "def f(x):", runs=1),
    Line(2, "    for i in x:", runs=3, forward=1e-6, own=1e-6),
    Line(
        3,
        "        s = <b>s</b>",
        runs=3,
        forward=2e-6,
        reverse=7e-6,
        own=9e-6,
        held=4000,
        remarks=("rule r",),
    ),
    Line(4, ""),
]


def test_the_sentence_says_the_whole_and_the_line_to_look_at():
    """Times, bytes, share and the line's text."""
    assert report(LINES).sentence == (
        "f(x): 3 µs forward, 7 µs reverse, 4.1 kB held between them; 90% at line 3: s = <b>s</b>"
    )


def test_the_sentence_quotes_a_line_whole_or_not_at_all():
    """Code that ends in the middle of an expression is read as other code."""
    for length in (30, 80):
        text = "s = " + "x" * length
        line = Line(3, f"    {text}", runs=1, forward=2e-6, reverse=7e-6, own=9e-6)
        sentence = report([line]).sentence
        assert len(sentence) <= 110
        assert sentence.endswith(f"at line 3: {text}" if length == 30 else "at line 3")


def test_the_table_keeps_the_indentation_in_every_face():
    """Text, HTML, Markdown and LaTeX; words of the source are escaped."""
    found = report(LINES)
    row = next(line for line in str(found).splitlines() if line.startswith("3 "))
    assert "        s = <b>s</b>" in row and "#########" in row and row.endswith("rule r")
    hanging = 'style="padding-left: 10ch; text-indent: -10ch"'
    cell = f'<td class="rulelab-verbatim" {hanging}>        s = &lt;b&gt;s&lt;/b&gt;</td>'
    assert cell in found._repr_html_()
    assert "\N{NO-BREAK SPACE}" * 8 in found.to_markdown() and "\N{NO-BREAK SPACE}" * 8 in found.to_latex()


def test_the_numbers_are_in_the_json():
    """Seconds and bytes of every line that did something."""
    found = json.loads(report(LINES).to_json())
    assert [line["number"] for line in found["functions"][0]["lines"]] == [1, 2, 3]
    assert found["functions"][0]["lines"][2]["reverse"] == 7e-6 and found["held"] == 4096


def test_a_long_function_is_shown_without_the_lines_that_did_nothing():
    """With a mark where they were left out."""
    lines = [Line(1, "def f(x):", runs=1)] + [Line(n, "    pass") for n in range(2, 2 * SHOWN_LINES)]
    lines += [Line(2 * SHOWN_LINES, "    return x", runs=1, forward=1e-6, own=1e-6)]
    (table,) = report(lines).page().tables
    assert [row[0] for row in table.rows] == ["1", "…", str(2 * SHOWN_LINES)]


def test_time_that_belongs_to_no_line_is_said():
    """From two parts in a hundred on."""
    assert "40% of the time belongs to no line" in str(report(LINES, outside=4e-6))
    assert "belongs to no line" not in str(report(LINES, outside=1e-7))


def test_without_any_measurement_it_says_so():
    """Stopped at once: no table, no number."""
    found = report([], functions=(), forward=float("nan"), reverse=float("nan"), held=None, interrupted=True)
    assert "nothing measured" in found.sentence and found.page().tables == ()
