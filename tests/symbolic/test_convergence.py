"""Rules that are right in the limit of many steps, and rules that are not."""

import math

import numpy as np
import pytest

from rulelab.errors import RuleError
from rulelab.rules.authoring import rrule_for
from rulelab.rules.registry import Registry
from rulelab.rules.twins import twin
from rulelab.symbolic import Converges, Refuted, prove
from rulelab.symbolic.convergence import _limit
from rulelab.symbolic.scalars import CONTEXT
from rulelab.tangents.zeros import NoTangent

NOTHING = NoTangent()
PATIENCE = 20.0  # seconds, for a machine that is busy with other things
STEPS = 20


def bell(t):
    return math.exp(-t * t)


def area(a, b, *, n=1000):
    """The integral of the reference texts as notebook 01 has it, by Simpson's rule."""
    h = (b - a) / n
    total = bell(a) + bell(b)
    for i in range(1, n):
        total += (4.0 if i % 2 else 2.0) * bell(a + i * h)
    return total * h / 3.0


def trapezoid(a, b, n):
    h = (b - a) / n
    return h * (0.5 * (bell(a) + bell(b)) + sum(bell(a + i * h) for i in range(1, n)))


def left_sum(a, b, n=50):
    h = (b - a) / n
    return h * sum(bell(a + i * h) for i in range(n))


def midpoints(a, b, k, n=50):
    h = (b - a) / n
    return h * sum(math.cos(k * (a + (i + 0.5) * h)) for i in range(n))


def of_a_module(a, b):
    h = (b - a) / STEPS
    return h * sum(bell(a + (i + 0.5) * h) for i in range(STEPS))


def of_points(a, b, num=25):
    t = np.linspace(a, b, num)
    return np.trapezoid(np.exp(-t * t), t)


def ends(y_bar, a, b):
    return -y_bar * bell(a), y_bar * bell(b)


def by_sum(y_bar, a, b, k, n):
    h = (b - a) / n
    t = [a + (i + 0.5) * h for i in range(n)]
    by_k = -y_bar * h * sum(s * math.sin(k * s) for s in t)
    return -y_bar * math.cos(k * a), y_bar * math.cos(k * b), by_k


def judge(f, pullback, spoil=lambda cotangents: cotangents, **options):
    """The verdict on the rule of `f` with the cotangents `pullback(y_bar, *numbers)`, spoilt by `spoil`."""

    def rule(*xs, **keywords):
        numbers = [x for x in xs if not isinstance(x, int)]
        counts = xs[len(numbers) :]

        def rule_pullback(y_bar):
            cotangents = pullback(y_bar, *numbers, *(counts if pullback is by_sum else ()))
            return NOTHING, *spoil(cotangents), *(NOTHING for _ in counts)

        return f(*xs, **keywords), rule_pullback

    return prove(f, rule, **({"time_limit": PATIENCE} | options)).verdict


@pytest.mark.parametrize(
    ("f", "pullback", "order", "options"),
    [
        (trapezoid, ends, 2, {}),
        (trapezoid, ends, 2, {"at": (0.0, 1.0, 10)}),
        (left_sum, ends, 1, {}),
        (midpoints, by_sum, 2, {}),
        (area, ends, 4, {"kwargs": {"n": 20}}),
        (of_a_module, ends, 2, {}),
        (of_points, ends, 2, {"steps": "num"}),
    ],
)
@pytest.mark.every(7, slow=True)
def test_the_order_is_found(f, pullback, order, options):
    """Trapezoid, Simpson, midpoints, left sums; the number of steps an argument, a keyword or a constant."""
    verdict = judge(f, pullback, **options)
    assert isinstance(verdict, Converges), verdict.sentence()
    assert abs(verdict.order - order) < 0.05
    assert verdict.samples >= 3
    assert verdict.left < 1e-8
    assert f"order {order}.0" in verdict.sentence()
    assert "for the integral" in verdict.sentence()
    assert STEPS == 20  # was set, and set back


@pytest.mark.slow
def test_the_integral_of_the_reference_texts():
    """As notebook 01 has it, with its rule looked up: right for the integral, not for Simpson's sum."""
    registry = Registry()
    area_cr = twin(area, "area_cr")

    @rrule_for(area_cr, registry=registry)
    def area_cr_rrule(a, b, *, n=1000):
        return area(a, b, n=n), lambda y_bar: (NOTHING, *ends(y_bar, a, b))

    report = prove(area_cr, registry=registry, time_limit=60.0)
    assert isinstance(report.verdict, Converges), report.verdict.sentence()
    assert round(report.verdict.order, 1) == 4.0


SLIPS = {
    "sign": lambda g: -g,
    "doubled": lambda g: 2 * g,
    "nothing": lambda g: 0.0 * g,
    "a thousandth": lambda g: g * (1 + 1e-3),
    "a millionth": lambda g: g * (1 + 1e-6),
    "a billionth": lambda g: g * (1 + 1e-9),
    "shifted": lambda g: g + 1e-4,
    "without the cotangent": lambda g: g / 3.7,
}


WITH_THE_SUITE = {(trapezoid, 0), (left_sum, 1), (midpoints, 2), (of_a_module, 0)}  # one of each rule
SPOILT = [
    pytest.param(
        f,
        pullback,
        place,
        id=f"{f.__name__}, {place}",
        marks=[pytest.mark.campaign] * ((f, place) not in WITH_THE_SUITE),
    )
    for f, pullback in ((trapezoid, ends), (left_sum, ends), (midpoints, by_sum), (of_a_module, ends))
    for place in range(3 if pullback is by_sum else 2)
]
LONG = set(SLIPS) - {"a billionth"}


@pytest.mark.first(1)
@pytest.mark.parametrize("slip", [pytest.param(s, marks=[pytest.mark.campaign] * (s in LONG)) for s in SLIPS])
@pytest.mark.parametrize(("f", "pullback", "place"), SPOILT)
def test_no_slip_converges(f, pullback, place, slip):
    """Each cotangent of four rules, spoilt in turn: the error has a limit, and the rule stays refuted."""

    def spoil(cotangents):
        return tuple(SLIPS[slip](g) if i == place else g for i, g in enumerate(cotangents))

    verdict = judge(f, pullback, spoil)
    assert isinstance(verdict, Refuted), verdict.sentence()


@pytest.mark.slow
def test_swapped_ends_and_a_missing_parameter_do_not_converge():
    """Nor does a rule that is right on one side of a border only."""
    assert isinstance(judge(trapezoid, ends, lambda g: g[::-1]), Refuted)
    assert isinstance(judge(midpoints, by_sum, lambda g: (*g[:2], 0.0 * g[2])), Refuted)

    def half_right(y_bar, a, b):
        return -y_bar * bell(a), y_bar * bell(b) * (1 if b < 2 else 1.001)

    assert isinstance(judge(trapezoid, half_right), Refuted)


@pytest.mark.slow
def test_a_rule_that_lags_behind_the_sum_does_not_converge():
    """The last node in place of the end is right in the limit at first order, where the sum has second."""

    def rule(a, b, n=20):
        h = (b - a) / n
        return trapezoid(a, b, n), lambda y_bar: (NOTHING, -y_bar * bell(a), y_bar * bell(b - h), NOTHING)

    assert isinstance(prove(trapezoid, rule, time_limit=PATIENCE).verdict, Refuted)


def test_a_whole_number_that_counts_no_steps():
    """A wrong rule of a power is refuted, whatever its exponent is called."""

    def power(x, n=3):
        return x**n

    def rule(x, n=3):
        return x**n, lambda y_bar: (NOTHING, n * x**n * y_bar, NOTHING)

    verdict = prove(power, rule, time_limit=PATIENCE).verdict
    assert isinstance(verdict, Refuted), verdict.sentence()


def test_steps_must_be_there():
    """A name that nothing has is an error, before anything is computed."""
    with pytest.raises(RuleError, match="no integer called strips"):
        judge(trapezoid, ends, steps="strips")


@pytest.mark.slow
def test_the_errors_are_shown_as_a_table():
    """In text, HTML, LaTeX and data."""

    def rule(a, b, n=20):
        return trapezoid(a, b, n), lambda y_bar: (NOTHING, *ends(y_bar, a, b), NOTHING)

    report = prove(trapezoid, rule, at=(0.0, 1.0, 8), time_limit=PATIENCE)
    assert isinstance(report.verdict, Converges), str(report)
    text = str(report)
    assert "relative errors by n:" in text
    assert all(f" {n} " in text for n in (8, 16, 32, 64, 128))
    html = report._repr_html_()
    assert "Relative errors" in html and '<th scope="row">128</th>' in html
    assert "error in the cotangent of b" in report.page().latex()
    assert "128" in report.to_latex()
    data = report.to_dict()
    assert data["verdict"] == "CONVERGES" and data["sizes"] == [8, 16, 32, 64, 128]


def test_where_errors_lead():
    """A limit is found in every digit that the powers of the step explain; another ladder is doubted."""
    sizes = (8, 16, 32, 64, 128)
    plain = [CONTEXT.mpf(1) / n**2 + CONTEXT.mpf(3) / n**4 for n in sizes]
    limit, doubt = _limit(sizes, plain)
    assert abs(limit) < 1e-60 and doubt < 1e-60
    off = [value + CONTEXT.mpf(10) ** -12 for value in plain]
    limit, doubt = _limit(sizes, off)
    assert abs(limit - CONTEXT.mpf(10) ** -12) < 1e-60
    rough = [CONTEXT.mpf(n) ** -1.5 for n in sizes]
    assert _limit(sizes, rough)[1] > 1e-9
