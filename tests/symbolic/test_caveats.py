"""Warnings say what, where and at which line, in every form of a report."""

import json

from rulelab.errors import Place
from rulelab.symbolic import Proved, SymbolicReport
from rulelab.symbolic.caveats import NOT_A_SUBGRADIENT, Caveat, of_constants, place_of_constant

KINK = Caveat(
    NOT_A_SUBGRADIENT, "the slope is 2, <b>not</b> 0 to 1", "x = 0", code="y, back = rule(0.0)\nback(1)"
)
REPORT = SymbolicReport(
    "f", ("x",), Proved("one cell", "expansion", "none"), notes=("a note",), warnings=(KINK,)
)


def test_a_warning_is_in_every_form_of_the_report():
    """Text, LaTeX, HTML, Markdown and data have the warning once, with its point and what to paste; its kind
    is in the data alone.
    """
    for text in (str(REPORT), REPORT.to_latex(), REPORT._repr_html_(), REPORT.to_markdown()):
        plain = text.replace("\\", "")
        assert plain.count("at x = 0: the slope is 2, ") == 1 and "back(1)" in plain
        assert "SUBGRADIENT" not in plain
    (data,) = json.loads(json.dumps(REPORT.to_dict()))["warnings"]
    assert data["kind"] == "NOT_A_SUBGRADIENT" and data["point"] == "x = 0" and data["place"] is None


def test_words_of_a_warning_are_escaped():
    """Nothing in the words of a warning acts in a page."""
    assert "<b>" not in REPORT._repr_html_() and "&lt;b&gt;" in REPORT._repr_html_()


def test_a_constant_is_found_on_its_line():
    """The line of a rounded constant is that of the code which has it, in functions within functions too."""

    def f(x):
        y = x + 1
        return y * 0.1234567890123456

    codes = {f.__code__}
    place = place_of_constant(0.1234567890123456, codes)
    assert place == Place(__file__, f.__code__.co_firstlineno + 2, function="f")
    assert place_of_constant(0.5, codes) is None
    (caveat,) = of_constants([0.1234567890123456], codes)
    assert f"line {place.line}" in caveat.sentence()


def test_the_entries_of_an_array_do_not_fill_the_report_with_caveats():
    """Three of them are shown, the others counted."""
    caveats = of_constants([0.1 * k for k in range(1, 10)], ())
    assert len(caveats) == 4 and "6 more rounded constants are" in caveats[-1].words
    assert len(of_constants([0.1, 0.2, 0.3], ())) == 3
