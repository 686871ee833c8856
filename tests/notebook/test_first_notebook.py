"""The first notebook, run from top to bottom in a fresh kernel as Run All does."""

import re

import pytest

from .ran import check_clean, check_stored

pytestmark = pytest.mark.slow  # the suite runs it in a browser

FILE = "notebooks/01-a-rule-in-a-cell.ipynb"


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs or counts, for the kernel that every Jupyter has; ids name the cells."""
    check_stored(stored)


def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through; what reaches the error stream would look like a failure."""
    check_clean(ran)


@pytest.mark.parametrize(
    "cell",
    [
        "referee-code", "addone-check", "exception-without", "exception-with", "safe-sqrt-define",
        "safe-sqrt-with", "mse-define", "mse-check", "sum3-define", "sum3-check", "simpson-define",
        "simpson-check", "your-turn-define",
    ],
)  # fmt: skip
def test_gradients_agree_with_finite_differences(ran, cell):
    """Without a rule and with one: `off_by` is the last number that these cells show."""
    assert 0.0 <= ran.number(cell) < 1e-8


def test_addone_is_refused_and_then_has_a_gradient(ran):
    """The error names the line inside addone; after the rule, in the same session, there are ones."""
    refused = ran.text("addone-without")
    assert refused.startswith("MutationError: Mutating arrays is not supported -- called ndarray.__setitem__")
    assert "line 3, in addone: b[:] = a + 1" in refused
    assert ran.text("addone-with") == "(array([1., 1., 1.]),)"


def test_another_seed_shows_what_the_printed_rules_do(ran):
    """The right rules answer as finite differences do, the printed ones do not."""
    assert ran.text("addone-printed-gradient") == ran.text("addone-with")
    right, printed, differences = ran.text("addone-seed").splitlines()
    assert "[10. 10. 10.]" in right and "[1. 1. 1.]" in printed and "[10. 10. 10.]" in differences
    assert "the rule ignores its cotangent" in ran.text("addone-compare")
    right, printed, differences = ran.text("exception-seed").splitlines()
    assert right.endswith(" 60.0") and printed.endswith(" 6.0") and differences.endswith(" 60.0")


def test_sympy_judges_the_rules_of_exception(ran):
    """PROVED for the right one, REFUTED for the printed one, with the reason; formulas come as LaTeX."""
    assert "exception: right, PROVED" in ran.text("exception-proved")
    refuted = ran.text("exception-refuted")
    assert "exception_printed: wrong, REFUTED" in refuted and "ignores the incoming cotangent" in refuted
    assert any("text/latex" in out["data"] for out in ran.cells["exception-proved"].outputs)


def test_safe_sqrt_returns_its_value_and_only_back_is_refused(ran):
    """Left of zero; the rule then gives the derivative there."""
    assert ran.text("safe-sqrt-value") == "0.0"
    refused = ran.text("safe-sqrt-without")
    assert refused.startswith("CatchBlockError: Can't differentiate code that ran in an except block")
    assert "in safe_sqrt: except ValueError:" in refused
    assert "at -1.0: 0.0" in ran.text("safe-sqrt-with")


def test_the_rules_of_mse_agree_and_are_timed(ran):
    """Both twins equal mse; the closing words repeat the medians of the tables above them."""
    assert "mse and mse_cr agree" in ran.text("mse-compare")
    assert "mse and mse_fast agree" in ran.text("mse-fast-compare")
    assert "def mse(y, yh):" in ran.text("mse-adjoint") and "for i in range(n):" in ran.text("mse-adjoint")
    for cell in ("mse-bench", "mse-fast-bench"):
        assert "Time of one call" in ran.text(cell) and "<table>" in ran.html(cell)
    assert _said_and_measured(ran, "The rule that runs the loop", "mse-bench", "gradient of mse_cr")
    assert _said_and_measured(ran, "The rule that works on arrays", "mse-fast-bench", "gradient of mse_fast")


def test_the_panel_shows_the_pair(ran):
    """With its copy for pages without a kernel: gradients, times, code, and what SymPy says."""
    text, html = ran.text("mse-lab"), ran.html("mse-lab")
    for part in ("mse and mse_fast agree", "def mse_fast_rrule(y, yh):"):
        assert part in text
    # Which of these it is depends on what else the machine does.
    undecided = "(Cannot tell which of|Too few rounds for a verdict on) the gradient of mse and"
    assert re.search(rf"gradient of mse_fast is (faster|slower) than the gradient of mse|{undecided}", text)
    assert "<details" in html and "Time of one call" in html


def _said_and_measured(ran, rule, table, row):
    """Whether the sentence about a rule has the median of its row, to the digits shown."""
    (sentence,) = [line for line in ran.text("mse-verdict").splitlines() if line.startswith(rule)]
    (measured,) = [line for line in ran.text(table).splitlines() if line.startswith(f"{row}  ")]
    said = float(sentence.removeprefix(f"{rule}: ").split(" ")[0])
    _, _, median = re.split(r"  +", measured)[:3]
    number, unit = median.split()
    return abs(said - float(number) * {"ns": 1e-3, "µs": 1.0, "ms": 1e3}[unit]) <= 0.05 + 0.005 * said


def test_sum3_and_the_area_agree_with_their_rules(ran):
    """In the same session; for the area within the error of Simpson's rule, which is stated."""
    assert "sum3 and sum3_cr agree" in ran.text("sum3-compare")
    assert "area and area_cr agree" in ran.text("simpson-compare")
    apart = ran.text("simpson-error")
    assert apart.count("fine") == 3 and "WRONG" not in apart


def test_the_c_call_is_refused_and_then_has_a_gradient(ran):
    """It repeats, for the clock stands still; the printed rule is right at 1 only."""
    refused = ran.text("jclock-without")
    assert refused.startswith("ForeignCallError: Can't differentiate foreign call expression")
    assert "in jclock: return clock_times(x)" in refused
    assert ran.text("jclock-with") == "((15460639.0,), (15460639.0,))"
    at_one, printed_at_one, at_half, printed_at_half = ran.text("jclock-seed").splitlines()
    assert at_one.split("=")[1] == printed_at_one.split("=")[1] == at_half.split("=")[1]
    assert printed_at_half.split("=")[1] != at_half.split("=")[1]
    assert "jclock and jclock_printed differ" in ran.text("jclock-compare")


def test_manual_keeps_the_old_answer_and_says_so_and_auto_does_not(ran):
    """The rule prints when it is used; the notice and the list name the function."""
    for cell in ("refresh-first", "refresh-old", "refresh-new", "refresh-again"):
        assert "(12.0,)" in ran.text(cell), cell
    old = ran.text("refresh-old")
    assert "the rule of cube is used" not in old and "the rules of cube have changed" in old
    assert "cube" in ran.text("refresh-now") and "a rule was defined at cell In" in ran.text("refresh-now")
    assert "(the rule of cube is used)" in ran.text("refresh-new")
    assert "(the newer rule of cube is used)" in ran.text("refresh-again")
    assert "the rules of cube have changed" not in ran.text("refresh-again")


def test_errors_are_short_and_hide_our_own_frames(ran):
    """At most six lines each, and no path into the package anywhere."""
    for cell in ("addone-without", "safe-sqrt-without", "jclock-without"):
        assert len(ran.text(cell).strip().splitlines()) <= 6
    for name in ran.cells:
        assert "/rulelab/" not in ran.text(name), name


def test_its_rules_are_listed_at_the_end(ran):
    """With the cell that each was defined in."""
    rules = ran.text("rules")
    for name in "addone exception safe_sqrt mse_cr mse_fast sum3_cr jclock area_cr cube".split():
        assert re.search(rf"^{name}\s+rrule\s+{name}_rrule\s+cell In \[\d+\]", rules, re.MULTILINE), name
