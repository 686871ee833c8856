"""Rules by the fundamental theorem of calculus for functions that call `scipy.integrate.quad`."""

import math

import numpy as np
import pytest

from rulelab.symbolic import Agrees, Proved, Refuted, Unsupported, prove
from rulelab.symbolic.integrals import integral
from rulelab.symbolic.scalars import CONTEXT, NoRealValue, Trace
from rulelab.tangents.zeros import NoTangent

scipy_integrate = pytest.importorskip("scipy.integrate")
quad = scipy_integrate.quad
NOTHING = NoTangent()
PATIENCE = 20.0  # seconds, for a machine that is busy with other things


def judge(f, pullback, **options):
    """The verdict on the rule of `f` whose pullback is `pullback(y_bar, *xs)`."""

    def rule(*xs):
        return f(*xs), lambda y_bar: (NOTHING, *pullback(y_bar, *xs))

    return prove(f, rule, time_limit=PATIENCE, **options).verdict


def bell(t):
    return math.exp(-t * t)


def area(a, b):
    return quad(bell, a, b)[0]


def damped(t, k):
    return math.sin(k * t) * math.exp(-t)


def wave(a, b, k):
    return quad(damped, a, b, args=(k,))[0]


def wave_pullback(y_bar, a, b, k):
    by_k = quad(lambda s: s * math.cos(k * s) / math.exp(s), a, b)[0]
    return -y_bar * damped(a, k), y_bar * damped(b, k), y_bar * by_k


def up_to_square(x):
    return quad(lambda t: np.cos(x * t) / (1 + t * t), 0, x**2)[0]


def laplace(k):
    value, error = quad(lambda t: math.exp(-k * k * t) / (1 + t * t), 0, math.inf)
    return value


def laplace_slope(t, k):
    return t * math.exp(-k * k * t) / (1 + t * t)


def bump(k):
    return quad(lambda t: math.exp(-k * k * t * t) * math.cos(t), -np.inf, np.inf)[0]


def both(a, b):
    return quad(bell, a, b)


def over(f, a, b):
    return quad(f, a, b)[0]


def root(x):
    return quad(lambda t: math.sqrt(t) * x, 0, x * x)[0]


RIGHT = {
    "the limits": (area, lambda y, a, b: (-y * bell(a), y * bell(b))),
    "a parameter, by another quad": (wave, wave_pullback),
    "the cotangent inside": (
        wave,
        lambda y, a, b, k: (
            *wave_pullback(y, a, b, k)[:2],
            quad(lambda t, c: c * t * math.cos(c * t - (c - k) * t) * math.exp(-t) * y / c, a, b, (k,))[0],
        ),
    ),
    "a limit and the integrand": (
        up_to_square,
        lambda y, x: (
            y * 2 * x * np.cos(x**3) / (1 + x**4)
            - y * quad(lambda t: t * np.sin(x * t) / (1 + t * t), 0, x**2)[0],
        ),
    ),
    "a sum taken apart": (
        up_to_square,
        lambda y, x: (
            y * 2 * x * np.cos(x**3) / (1 + x**4)
            + y * quad(lambda t: t * np.sin(x * t) / (1 + t * t), x**2, x)[0]
            - y * quad(lambda t: t * np.sin(x * t) / (1 + t * t), 0, x)[0],
        ),
    ),
    "to infinity": (
        laplace,
        lambda y, k: (-2 * k * y * quad(laplace_slope, 0, np.inf, args=(k,))[0],),
    ),
    "the whole line": (
        bump,
        lambda y, k: (
            -2 * k * y * quad(lambda t: t * t * math.exp(-k * k * t * t) * math.cos(t), -np.inf, np.inf)[0],
        ),
    ),
    "value and error": (both, lambda y, a, b: (-y[0] * bell(a), y[0] * bell(b))),
    "an integrand with a singularity at its end": (
        root,
        lambda y, x: (y * quad(math.sqrt, 0, x * x)[0] + y * 2 * x * x * math.sqrt(x * x),),
    ),
}


SLOW = ("the cotangent inside", "a parameter, by another quad", "the whole line")  # 5 to 8 s each


@pytest.mark.every(11, slow=True)
@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.campaign] * (what in SLOW)) for what in RIGHT]
)
def test_a_right_rule_is_proved(what):
    """Limits, parameters inside, infinite limits, the pair that quad returns; the pullback may integrate."""
    verdict = judge(*RIGHT[what])
    assert isinstance(verdict, Proved), verdict.sentence()


@pytest.mark.slow
def test_the_integrand_may_be_an_argument():
    """Such a function is held fixed, and named in the verdict."""
    verdict = judge(over, lambda y, f, a, b: (NOTHING, -y * f(a), y * f(b)), at=(bell, 0.3, 1.2))
    assert isinstance(verdict, Proved), verdict.sentence()
    assert "with f = bell" in verdict.scope


@pytest.mark.every(7)
@pytest.mark.parametrize(
    ("f", "pullback", "said"),
    [
        (area, lambda y, a, b: (y * bell(a), y * bell(b)), "wrong sign"),
        (area, lambda y, a, b: (-bell(a), bell(b)), "ignores the incoming cotangent"),
        (area, lambda y, a, b: (y * bell(b), -y * bell(a)), "swapped"),
        (area, lambda y, a, b: (-y * bell(a), y * bell(b) * (1 + 1e-9)), "only 9 digits agree"),
        (wave, lambda y, a, b, k: (*wave_pullback(y, a, b, k)[:2], 0.0 * y), "is zero"),
        (up_to_square, lambda y, x: (y * 2 * x * np.cos(x**3) / (1 + x**4),), "is not y_bar times"),
        (laplace, lambda y, k: (-k * y * quad(laplace_slope, 0, np.inf, (k,))[0],), "1/2 times"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_refuted(f, pullback, said):
    """A sign at the lower limit, a missing parameter, a factor, a cotangent that is not used."""
    verdict = judge(f, pullback)
    assert isinstance(verdict, Refuted), verdict.sentence()
    assert verdict.kind == "gradient"
    assert said in verdict.reason


@pytest.mark.slow
def test_the_formulas_are_those_of_leibniz():
    """The report shows the integral of the derivative, and says what was taken for what."""

    def from_zero(b, k):
        return wave(0, b, k)

    def rule(b, k):
        return wave(0, b, k), lambda y_bar: (NOTHING, *wave_pullback(y_bar, 0, b, k)[1:])

    report = prove(from_zero, rule, time_limit=PATIENCE)
    by_k = next(row for row in report.arguments if row.name == "k")
    assert by_k.derivative.text == "y_bar*Integral(t*exp(-t)*cos(k*t), (t, 0, b))"
    assert r"\int" in by_k.derivative.latex
    assert any("quad is treated as the exact integral" in note for note in report.notes)


def test_the_variable_has_a_name_of_its_own():
    """An argument that is called t is not mixed up with the variable."""

    def shifted(t):
        return quad(lambda u: math.exp(-u * u * t), 0, 1)[0]

    right = judge(shifted, lambda y, t: (-y * quad(lambda t_: t_ * t_ * math.exp(-t_ * t_ * t), 0, 1)[0],))
    wrong = judge(shifted, lambda y, t: (-y * quad(lambda t_: t * t_ * math.exp(-t_ * t_ * t), 0, 1)[0],))
    assert isinstance(right, Proved), right.sentence()
    assert isinstance(wrong, Refuted)


@pytest.mark.campaign
def test_an_integral_within_an_integral():
    """The inner one is worked out at every node of the outer one."""

    def twice(x, y):
        return quad(lambda t: quad(lambda s: math.exp(-s * t * x), 0, y)[0], 0, 1)[0]

    def pullback(z_bar, x, y):
        by_x = quad(lambda t: quad(lambda s: -s * t * math.exp(-s * t * x), 0, y)[0], 0, 1)[0]
        return z_bar * by_x, z_bar * quad(lambda t: math.exp(-y * t * x), 0, 1)[0]

    verdict = judge(twice, pullback)
    assert isinstance(verdict, Proved), verdict.sentence()


def kinked(a, b):
    return quad(lambda t: t if t > 0.5 else 0.5, a, b)[0]


def kinked_pullback(y, a, b):
    return -y * max(a, 0.5), y * max(b, 0.5)


@pytest.mark.parametrize(
    ("f", "pullback", "said"),
    [
        (kinked, kinked_pullback, "a branch on the variable of integration"),
        (
            lambda a, b: quad(bell, a, b, weight="cos", wvar=1.0)[0],
            lambda y, a, b: (-y * bell(a) * math.cos(a), y * bell(b) * math.cos(b)),
            "weight=",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_named(f, pullback, said):
    """A branch on the variable, and the weights that quad knows."""
    verdict = judge(f, pullback)
    assert isinstance(verdict, Unsupported), verdict.sentence()
    assert said in verdict.construct


def test_a_branch_that_goes_one_way_all_along_is_followed():
    """Where every node decides alike, the graph describes the whole way: abs of what is positive."""

    def logarithm(x):
        return quad(lambda t: 1 / abs(t), 1, 1 + x * x)[0]

    verdict = judge(logarithm, lambda y, x: (y * 2 * x / (1 + x * x),))
    assert isinstance(verdict, Proved), verdict.sentence()


def transform(k):
    return quad(lambda t: math.exp(-k * t), 0, 1)[0]


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "pullback",
    [
        lambda y, k: (y * (math.exp(-k) * (k + 1) - 1) / k**2,),
        lambda y, k: (y * quad(lambda u: -2 * u**3 * math.exp(-k * u * u), 0, 1)[0],),
    ],
)
def test_a_rule_in_closed_form_is_proved(pullback):
    """Where the author has solved the integral, or substituted, SymPy is asked to solve it too."""
    verdict = judge(transform, pullback, domain={"k": "positive"})
    assert isinstance(verdict, Proved), verdict.sentence()
    assert verdict.method == "SymPy's integration"


def test_a_rule_in_closed_form_that_divides_by_zero_is_not_proved_there():
    """The integral is as smooth at zero as elsewhere, but nobody has asked there."""
    divides = lambda y, k: (y * (math.exp(-k) * (k + 1) - 1) / k**2,)  # noqa: E731
    verdict = judge(transform, divides)
    assert isinstance(verdict, Proved) and verdict.kinds.endswith("; not at k = 0")


SLIPS = {
    "sign": lambda g: -g,
    "doubled": lambda g: 2 * g,
    "halved": lambda g: g / 2,
    "nothing": lambda g: 0.0 * g,
    "a thousandth": lambda g: g * (1 + 1e-3),
    "a millionth": lambda g: g * (1 + 1e-6),
    "shifted": lambda g: g + 1e-3,
    "squared": lambda g: g * g,
}


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.every(11, slow=True)
def test_no_slip_is_proved(slip):
    """Each cotangent of three right rules, spoilt in turn."""
    for f, pullback in (RIGHT["the limits"], RIGHT["a parameter, by another quad"], RIGHT["to infinity"]):
        for place in range(f.__code__.co_argcount):

            def spoilt(y_bar, *xs, pullback=pullback, place=place):
                cotangents = pullback(y_bar, *xs)
                return tuple(SLIPS[slip](g) if i == place else g for i, g in enumerate(cotangents))

            verdict = judge(f, spoilt)
            assert isinstance(verdict, Refuted), (f.__name__, place, verdict.sentence())


# --- the numbers --------------------------------------------------------------------------------------------


def value_of(function, a, b):
    """(value, digits it is known to) of an integral."""
    trace = Trace()
    number = integral(trace, function, a, b)
    return number.shadow, trace.known_digits


@pytest.mark.parametrize(
    ("function", "a", "b", "exact"),
    [
        (lambda t: 1 / t, 1.0, 2.0, lambda: CONTEXT.log(2)),
        (lambda t: 1 / t, 2.0, 1.0, lambda: -CONTEXT.log(2)),
        (lambda t: 4 / (1 + t * t), 0.0, 1.0, lambda: +CONTEXT.pi),
        (lambda t: t**-0.5, 0.0, 4.0, lambda: CONTEXT.mpf(4)),
        (lambda t: 1 / (1 + t * t), -math.inf, math.inf, lambda: +CONTEXT.pi),
        (lambda t: 1 / (1 + t * t), -math.inf, 0, lambda: CONTEXT.pi / 2),
        (lambda t: (-t * t).exp(), 0, math.inf, lambda: CONTEXT.sqrt(CONTEXT.pi) / 2),
        (lambda t: 3.0, 1, 5, lambda: CONTEXT.mpf(12)),
    ],
)
def test_a_value_has_the_digits_it_claims(function, a, b, exact):
    """Smooth, singular at an end, infinite, reversed, constant."""
    value, digits = value_of(function, a, b)
    assert digits >= 32
    assert abs(value - exact()) <= abs(exact()) * CONTEXT.mpf(10) ** -min(digits, 90)


@pytest.mark.parametrize(
    ("function", "a", "b"),
    [
        (lambda t: t.sin() / t, 0.5, math.inf),
        (lambda t: t**-0.9, 0.0, 1.0),
        (lambda t: 1 / (t - 2), 1.0, 2.0),
    ],
)
def test_digits_are_not_made_up(function, a, b):
    """An integral that swings on to infinity, is too steep at its end or does not exist has no value."""
    with pytest.raises(NoRealValue, match=r"only \d+ digits"):
        value_of(function, a, b)


def steep(t):
    return math.exp(-(t**4))


FADING = {
    "a bell from 0": (lambda b: quad(bell, 0, b)[0], lambda b: bell(b)),
    "to infinity": (lambda b: quad(bell, b, math.inf)[0], lambda b: -bell(b)),
    "steeper": (lambda b: quad(steep, 0, b)[0], lambda b: steep(b)),
}


@pytest.mark.every(7)
@pytest.mark.parametrize("name", FADING)
@pytest.mark.parametrize("seed", range(2))
def test_a_slope_that_is_nothing_beside_the_value_is_no_evidence(name, seed):
    """exp(-225) of an integral that is known to 36 digits has no digits: a right rule is proved, wherever the
    samples fall, and a wrong one is refuted or called no identity where there are digits."""
    f, slope = FADING[name]
    rng = np.random.default_rng(seed)
    assert isinstance(judge(f, lambda y, b: (y * slope(b),), rng=rng), Proved)
    assert isinstance(judge(f, lambda y, b: (y * slope(b) * (1 + 1e-9),), rng=rng), Refuted)
    almost = judge(f, lambda y, b: (y * slope(b) + y * slope(b) / 10**21,), rng=rng)
    assert isinstance(almost, Agrees) and almost.digits == 21
