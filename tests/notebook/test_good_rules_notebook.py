"""The third notebook, run from top to bottom: each bad cell gets its advice, and no good one does."""

import pytest

from rulelab.checking.advice.advices import KINDS

from .ran import NUMBER, check_clean, check_stored

FILE = "notebooks/03-writing-good-rules.ipynb"
WORDS = {
    "name-bad": "is a lambda",
    "thunks-bad": "W_bar and X_bar are always computed",
    "variable-bad": "round a variable, W_bar",
    "constant-bad": "round a constant, rl.ZeroTangent()",
    "wrapper-bad": "round a mere wrapper",
    "twice-bad": "round another thunk, W_bar",
    "another-bad": "round the result of another rule, W_bar",
    "only-bad": "The only derivative",
    "zeros-bad": "zeros, written out",
    "none-bad": "is NoTangent(), but on another path it has a derivative",
    "reverse-bad": "is ZeroTangent(), but an index cannot vary",
    "type-lint": "is defined for type(line)",
    "scalar-bad": "is what scalar_rule makes from the partial derivatives",
    "constant-rule-bad": "as non_differentiable does",
    "undefined-bad": "w is not defined",
    "test-lint": "test_ball expects the formula of ball_cr_rrule",
}
"""The bad cells, and what is said of each."""


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


@pytest.mark.rest
def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


def test_every_advice_has_its_cells():
    """None of them is left out of the notebook."""
    assert len(WORDS) == len(KINDS)


@pytest.mark.rest
@pytest.mark.parametrize("cell", WORDS)
def test_a_bad_cell_gets_its_advice(ran, cell):
    """Below the rule, in one line, or by `%rule_lint`."""
    assert WORDS[cell] in ran.text(cell)


@pytest.mark.rest
def test_a_good_cell_gets_none(ran):
    """Nothing but the line that says which rule it is."""
    good = [name for name in ran.cells if name.endswith("-good") and "%%rrule" in ran.cells[name].source]
    assert len(good) >= 8
    for name in good:
        assert ran.text(name).count("\n") == 0, name


@pytest.mark.rest
@pytest.mark.parametrize("cell", ["thunks-cost", "variable-cost", "zeros-cost", "scalar-forward-cost"])
def test_what_is_dear_is_seen_to_be(ran, cell):
    """Half as much again and more, where a machine at rest shows; a busy one must still show some of it."""
    assert float(NUMBER.findall(ran.text(cell))[0]) > 1.1


@pytest.mark.rest
def test_what_costs_no_time_is_shown_otherwise(ran):
    """A name in a traceback, a gradient of None, a test that passes."""
    assert ran.text("name-cost").split() == [
        *"float division by zero, in <lambda> float division by zero, in rms_good_pullback".split()
    ]
    assert "discounted_bad: a step of gradient descent fails" in ran.text("none-cost")
    assert "respect to the index is 0.0" in ran.text("reverse-cost") and "is None" in ran.text("reverse-cost")
    assert "would apply to every constructor" in ran.text("type-refused")
    assert "line_call_rrule" in ran.text("type-cost")
    assert "cannot have a gradient with shape (1000,)" in ran.text("scalar-cost")
    assert ran.text("test-bad").strip() == "the test passes"
    assert ran.text("test-good").strip() == "the test fails, as it should"
