"""Where equal numbers, which nobody gave, bring a function to an edge, a rule may have no number; where the
function is smooth there it may not.
"""

import pytest

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

RULE = """
def f(x):
    d = x[:, None] - x[None, :]
    return np.sum({value})


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    d = x[:, None] - x[None, :]
    apart = ~np.eye(len(x), dtype=bool)

    def back(y_bar):
        with np.errstate(all="ignore"):
            pull = np.where(apart[..., None], {slope}, 0.0)
        return rl.NoTangent(), 2 * y_bar * np.sum(pull, axis=1)

    return np.sum({value}), back
"""
SIZE = "np.sqrt(np.sum(d**4, axis=-1))"
SQUARE = "np.sum(d**2, axis=-1, keepdims=True)"


@pytest.mark.slow
def test_points_that_lie_in_one_are_an_edge_where_there_is_no_second_derivative():
    """That the rule has no number there is told."""
    slope = f"2 * d**3 / {SIZE}[..., None]"
    report = judged(RULE.format(value=SIZE, slope=slope))
    assert report.verdict == "right" and report.no_number_at.startswith("x = ")
    assert judged(RULE.format(value=SIZE, slope=slope.replace("2 *", "3 *"))).verdict == "wrong"


def test_and_none_where_the_function_is_smooth():
    slope = f"-2 * d * np.exp(-{SQUARE}) * {SQUARE} / {SQUARE}"
    report = judged(RULE.format(value="np.exp(-np.sum(d**2, axis=-1))", slope=slope))
    assert report.verdict != "right" and "nan" in str(report)


def test_all_zeros_may_be_an_edge_by_themselves():
    """Nobody needs points that are equal for that: `x = 0` is where one starts."""
    text = """
def f(x):
    return np.sum(x) * np.linalg.norm(x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    size = np.linalg.norm(x)
    return f(x), lambda y_bar: (rl.NoTangent(), y_bar * (size + np.sum(x) * x / size))
"""
    assert judged(text).verdict == "wrong"
