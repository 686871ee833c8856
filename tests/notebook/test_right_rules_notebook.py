"""The fourth notebook, run from top to bottom: each wrong rule is named, each right one passes, by numbers
and by proof; the one that is right and loses its digits is found out.
"""

import pytest

from .ran import check_clean, check_stored

pytestmark = pytest.mark.slow  # a whole notebook; the first one is run with the suite

FILE = "notebooks/04-is-this-rule-right.ipynb"
WRONG = {
    "addone-check": "is wrong: ignores its cotangent",
    "squared-printed": "Check: wrong: ignores its cotangent",
    "jclock-printed": "Check: wrong: off by a factor of x",
    "transposed-check": "has something transposed",
    "product": "Check: wrong: has a matrix product where an elementwise one belongs",
    "swapped": "Check: wrong: swaps the cotangents of a and b",
    "sign": "Check: wrong: has the wrong sign, in the cotangent of b",
    "size": "Check: wrong: made for one size",
    "branch": "Check: wrong where x < 0",
    "conjugate": "Check: wrong: lacks a conjugate",
    "term": "Check: wrong: lacks a term",
    "shared": "changed what it had returned before",
    "repeated-check": "takes a mean over the axis that it was broadcast along, where a sum belongs",
    "gradient-wrong": "The gradient of wrong_loss is wrong",
    "tests-wrong": "is wrong: swaps the cotangents of a and b",
}
"""The cells of wrong rules, and what is said of each."""
RIGHT = ("addone-right", "squared-right", "jclock-right", "domain-check", "gradient-right")


PROVED = (
    "proof-squared", "proof-jclock", "proof-addone", "erf-right", "size-three", "domain-positive",
    "logistic-derive", "logistic-derived", "logistic-better",
)  # fmt: skip
REFUTED = {
    "erf-rounded": "only 11 digits agree",
    "erf-symbolic": "back(-4.0)[1]    # gives -0.257476010405, should be -0.257476010406",
    "size-two": "but 4/3 times that",
    "domain-everywhere": "where x <= 0",
}
"""The cells of rules that are refuted, and what is said of each."""


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


@pytest.mark.parametrize("cell", WRONG)
def test_a_wrong_rule_is_named(ran, cell):
    """By its mistake, with the cell and the line of it."""
    said = ran.text(cell).replace("…", "")  # a long headline goes on below
    assert WRONG[cell] in " ".join(said.split())
    assert "cell In [" in ran.text(cell)


@pytest.mark.parametrize("cell", RIGHT)
def test_a_right_rule_passes(ran, cell):
    """The corrections of the printed rules among them."""
    assert "right at " in ran.text(cell)


def test_the_text_prints_what_the_wrong_rule_gives(ran):
    """Right with the cotangent 1, wrong inside of something else."""
    assert ran.text("addone-gradient") == "(array([1., 1., 1.]),)" == ran.text("addone-inside")


@pytest.mark.parametrize("cell", ["addone-check", "transposed-check", "repeated-check"])
def test_a_correction_that_was_tried_is_shown(ran, cell):
    """As a diff, in text and HTML."""
    assert "corrected, and right at every point of this check" in ran.text(cell)
    assert "rulelab-plus" in ran.html(cell)


def test_a_report_fits_on_a_screen(ran):
    """Each of those at length."""
    assert all(len(ran.text(cell).splitlines()) <= 30 for cell in ran.cells)


# -- the second half -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", PROVED)
def test_a_right_rule_is_proved_with_a_scope(ran, cell):
    """Never just proved."""
    assert "PROVED for " in ran.text(cell)


@pytest.mark.parametrize("cell", REFUTED)
def test_a_wrong_rule_is_refuted_with_an_example(ran, cell):
    """Also one that differences take for right."""
    assert "REFUTED" in ran.text(cell) and REFUTED[cell] in ran.text(cell)
    assert "the check by numbers said right at" in ran.text("erf-rounded")


def test_the_example_can_be_pasted(ran):
    """The cell below the report has its last two lines, and gives what they say."""
    said = ran.text("erf-symbolic")
    assert all(line.strip() in said for line in ran.cells["erf-pasted"].source.splitlines())
    assert ran.number("erf-pasted") == pytest.approx(-0.257476010405, abs=1e-12)


def test_a_scope_names_sizes_and_domain(ran):
    """Those that were asked for."""
    alone = ran.text("size-three")
    assert "PROVED for vectors of length 3;" in alone and "one size was tried" in alone
    assert "with x positive" in ran.text("domain-positive")
    assert "a call of time.perf_counter(), which is compiled code, cell In [" in ran.text("stamped-symbolic")


def test_the_derived_rule_is_the_one_that_is_run(ran):
    """The notebook holds what %rule_derive puts into a cell."""
    lines = ran.cells["logistic-derived"].source.splitlines()[1:]
    said = ran.text("logistic-derive")
    assert lines[0].startswith("# loses digits") and lines[0] in said
    assert "\n".join(lines[lines.index("") + 1 :]) in said


def test_the_right_rule_that_loses_its_digits_is_mended(ran):
    """0 where it should be e**-40; then the formula that the scan has found, which keeps them."""
    assert ran.text("logistic-forty").startswith("((0.0,), 4.24835425529")
    scanned = ran.text("logistic-scan")
    assert "no digit is right" in scanned and "cancellation in 1 - y" in scanned
    formula = ran.cells["logistic-better"].source.partition(": ")[2]
    assert formula in scanned
    assert "inputs" in ran.text("logistic-scan-again") and "loses" not in ran.text("logistic-scan-again")
    assert ran.number("logistic-forty-again") == pytest.approx(4.248354255291589e-18, rel=1e-12)


def test_formulas_are_mathematics_in_html(ran):
    """And LaTeX beside it."""
    assert "<math" in ran.html("proof-squared") and "rulelab-symbolic" in ran.html("proof-squared")
    assert any("text/latex" in out["data"] for out in ran.cells["proof-squared"].outputs)
