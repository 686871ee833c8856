"""Tests of what a function says of its parameters in words, and of the arguments that a rule is judged at."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.reading.stated_kinds import intervals_said, kinds_said

from .rules import registry_with
from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def first_kinds(doc, *names):
    f = eval(f"lambda {', '.join(names)}: 0")
    f.__doc__ = doc
    return {name: str(kinds[0]) for name, kinds in kinds_said(f).items()}


@pytest.mark.parametrize(
    "doc, names, wanted",
    [
        ("The product with the real matrix E.", "E x", {"E": "a matrix"}),
        ("A layer; W is a real matrix and b is a vector.", "W b", {"W": "a matrix", "b": "a vector"}),
        ("Of the signal; i is a vector of integers.", "x i", {"i": "a vector of indices"}),
        ("The logarithm of a positive array.", "x", {"x": "a vector, positive"}),
        ("The distance of two vectors of one length.", "p q", {"p": "a vector", "q": "a vector"}),
        ("The phase of the complex signal z.", "z", {"z": "a complex vector"}),
        ("Turns the point p, a vector of three, about k.", "p k", {"p": "a vector (3)"}),
        ("Its likelihood; K is symmetric positive definite.", "K", {"K": "a positive definite matrix"}),
        ("Of the risk. cov symmetric positive definite.", "w cov", {"cov": "a positive definite matrix"}),
        ("The determinant of an invertible matrix.", "A", {"A": "a square matrix"}),
        ("W: input weight matrix, b: bias vector", "W b", {"W": "a matrix", "b": "a vector"}),
        ("K: symmetric positive definite Gram matrix", "K y", {"K": "a positive definite matrix"}),
        ("The rows ids of the matrix E, times w.", "E ids w", {"E": "a matrix"}),
        (
            "Calls for an array of prices; strike, the positive vol and t are numbers.",
            "prices strike vol t",
            dict.fromkeys(("strike", "vol", "t"), "a number") | {"prices": "a vector"},
        ),
        (
            "Yields at positive maturities; the other arguments are numbers.",
            "maturity level slope",
            dict.fromkeys(("level", "slope"), "a number"),
        ),
        (
            "Currents i = s (exp(v - i r) - 1) at the voltages v; the others are positive numbers.",
            "v r s",
            dict.fromkeys(("r", "s"), "a number, positive"),
        ),
        (
            "Scores of forecasts: arrays of observations and means, one positive spread.",
            "observed mean spread",
            {"mean": "a vector", "spread": "a number"},
        ),
        ("For mu a number and t a positive number.", "mu t", {"mu": "a number", "t": "a number, positive"}),
        ("The sum with one weight for each row.", "x weight", {}),
        ("A layer with the matrices params['W'].", "params", {}),
        ("Returns a matrix.", "x", {}),
        ("Differences of the two sides.", "a b", {}),
    ],
)
def test_a_docstring_says_kinds(doc, names, wanted):
    assert first_kinds(doc, *names.split()) == wanted


@pytest.mark.parametrize(
    "doc, names, wanted",
    [
        ("With a > 0 and -1 < b <= 2.", "a b", {"a": (0.0, np.inf), "b": (-1.0, 2.0)}),
        ("The rate; all are positive.", "a b", {"a": (0.0, np.inf), "b": (0.0, np.inf)}),
        ("The gap, where n * a < 2 * b.", "n a b", {}),
        ("The point, with p[2] > 0.", "p", {}),
        ("The loss; a and b are positive.", "a b c", {"a": (0.0, np.inf), "b": (0.0, np.inf)}),
        ("The response to positive doses d.", "d doses", {"doses": (0.0, np.inf)}),
        ("The response to positive doses and k.", "dose k", {"dose": (0.0, np.inf), "k": (0.0, np.inf)}),
        ("From the positive doses and the changes of all.", "dose changes", {"dose": (0.0, np.inf)}),
        ("Yields at positive maturities.", "maturity k", {"maturity": (0.0, np.inf)}),
        ("Of calls; k and the positive vol are numbers.", "k vol", {"vol": (0.0, np.inf)}),
        ("Tells negative angles from those that belong to positive angles.", "angle", {}),
        ("Of counts (>= 0) at rates r.", "counts rates", {"counts": (0.0, np.inf)}),
        ("Of rates (1/s, > 1) and counts.", "counts rates", {"rates": (1.0, np.inf)}),
        ("Of levels E_i with degeneracies g_i > 0.", "levels degeneracies", {"degeneracies": (0.0, np.inf)}),
        ("Of order k for -1 < x < 1 (Bonnet's recursion).", "k x", {"x": (-1.0, 1.0)}),
        ("a: a sum, b: a variance, > 0, c: any", "a b c", {"b": (0.0, np.inf)}),
        (
            "Runoff; rain and heat positive, k > 1.",
            "rain heat k",
            {"rain": (0.0, np.inf), "heat": (0.0, np.inf), "k": (1.0, np.inf)},
        ),
        (
            "The time that it takes; everything positive.",
            "way pace",
            {"way": (0.0, np.inf), "pace": (0.0, np.inf)},
        ),
        ("Whether a positive number is near b.", "a b", {}),
    ],
)
def test_a_docstring_says_intervals(doc, names, wanted):
    f = eval(f"lambda {', '.join(names.split())}: 0")
    f.__doc__ = doc
    assert intervals_said(f) == wanted


def box_cox(x, lam: float):
    return (x**lam - 1) / lam


def box_cox_with(total):
    def rule(x, lam):
        z = box_cox(x, lam)

        def pullback(z_bar):
            return NO, x ** (lam - 1) * z_bar, total((x**lam * np.log(x) - z) / lam * z_bar)

        return z, pullback

    return rule


def rows_of(E, i):
    """The sum of the rows i of the real matrix E, where i is a vector of integers."""
    return E[i].sum(axis=0)


def rows_with(add):
    def rule(E, i):
        def pullback(y_bar):
            E_bar = np.zeros(E.shape)
            add(E_bar, i, y_bar)
            return NO, E_bar, NO

        return rows_of(E, i), pullback

    return rule


def overwritten(E_bar, i, y_bar):
    E_bar[i] = y_bar


def damped(z, noise: float):
    return np.real(np.conj(z) * z) / noise


def damped_rule(z, noise):
    def pullback(y_bar):
        return NO, 2 * z * y_bar / noise, -np.sum(y_bar * np.abs(z) ** 2) / noise**2

    return damped(z, noise), pullback


def survival(d, n):
    """The survival curve: d[i] have died of n[i], two vectors with d < n."""
    return np.cumprod(1 - d / n)


def survival_with(turned):
    def rule(d, n):
        q = 1 - d / n
        y = np.cumprod(q)

        def pullback(y_bar):
            q_bar = turned(np.cumsum(turned(y_bar * y))) / q
            return NO, -q_bar / n, q_bar * d / n**2

        return y, pullback

    return rule


def mean_of_exp(x, axis: int):
    return np.log(np.mean(np.exp(x), axis=axis))


def mean_of_exp_with(spread):
    def rule(x, axis):
        e = np.exp(x)
        p = e / np.sum(e, axis=axis, keepdims=True)
        return mean_of_exp(x, axis), lambda y_bar: (NO, p * spread(y_bar, axis), NO)

    return rule


def left_as_it_is(y_bar, axis=0):
    return y_bar


CASES = [
    pytest.param(box_cox, box_cox_with(np.sum), box_cox_with(left_as_it_is), id="a float is a number"),
    pytest.param(rows_of, rows_with(np.add.at), rows_with(overwritten), id="a matrix and indices"),
    pytest.param(survival, survival_with(np.flip), survival_with(left_as_it_is), id="an order"),
    pytest.param(
        mean_of_exp, mean_of_exp_with(np.expand_dims), mean_of_exp_with(left_as_it_is), id="an axis"
    ),
]


@pytest.mark.every(2)
@pytest.mark.parametrize("f, right, wrong", CASES)
def test_a_right_rule_is_judged_as_its_function_says(f, right, wrong):
    assert rule_check(f, registry=registry_with(f, right)).verdict == "right"


@pytest.mark.every(2)
@pytest.mark.parametrize("f, right, wrong", CASES)
def test_a_wrong_rule_is_judged_as_its_function_says(f, right, wrong):
    assert rule_check(f, registry=registry_with(f, wrong)).verdict == "wrong"


def test_what_is_called_a_float_is_not_asked_in_complex_numbers():
    assert rule_check(damped, registry=registry_with(damped, damped_rule)).verdict == "right"


def test_a_function_that_does_not_take_what_it_says_is_judged_at_what_it_takes():
    def total(x: float):
        return np.sum(x[1:] * x[:-1])

    def rule(x):
        x_bar = np.zeros_like(x)
        x_bar[1:] += x[:-1]
        x_bar[:-1] += x[1:]
        return total(x), lambda y_bar: (NO, y_bar * x_bar)

    assert rule_check(total, depth="quick", registry=registry_with(total, rule)).verdict == "right"


def power_with(of_sum):
    """Rules of functions of real numbers: right for these, and wrong for complex ones."""

    def rule(x, w):
        spectrum = np.fft.fft(x)
        y = np.sum(w * np.abs(spectrum) ** 2)

        def pullback(y_bar):
            x_bar = of_sum(2 * y_bar * len(x) * np.fft.ifft(w * spectrum).real)
            return NO, x_bar, y_bar * np.abs(spectrum) ** 2

        return y, pullback

    return rule


def power(x, w):
    """The power of a real signal (n,) with weights (n,)."""
    return np.sum(w * np.abs(np.fft.fft(x)) ** 2)


def power_of_any(x, w):
    return np.sum(w * np.abs(np.fft.fft(x)) ** 2)


@pytest.mark.slow
def test_what_is_said_to_be_of_real_numbers_is_not_judged_in_complex_ones():
    """Nor what is not, if its rule takes the real part of a cotangent."""
    for f, factor, verdict in ((power, 1.0, "right"), (power, 2.0, "wrong"), (power_of_any, 1.0, "right")):
        registry = registry_with(f, power_with(lambda x_bar, factor=factor: factor * x_bar))
        assert rule_check(f, registry=registry).verdict == verdict, f.__name__


def limited_with(conjugate):
    def rule(z, ceiling):
        size = np.abs(z)
        loud = size > ceiling
        unit = np.where(loud, z / np.where(loud, size, 1.0), 0.0)

        def pullback(y_bar):
            along = (conjugate(unit) * y_bar).real
            turned = ceiling / np.where(loud, size, 1.0) * (y_bar - along * unit)
            return NO, np.where(loud, turned, y_bar), np.sum(along)

        return limited(z, ceiling), pullback

    return rule


def limited(z, ceiling):
    """Samples z (complex) louder than the ceiling are scaled down to it, their phase is kept."""
    z = np.asarray(z, dtype=complex)
    size = np.abs(z)
    return np.where(size > ceiling, ceiling * z / np.maximum(size, ceiling), z)


@pytest.mark.slow
def test_what_is_called_complex_in_parentheses_is_judged_so():
    registry = registry_with(limited, limited_with(np.conj))
    assert rule_check(limited, registry=registry).verdict == "right"
    assert rule_check(limited, registry=registry_with(limited, limited_with(np.array))).verdict == "wrong"


def test_lengths_in_brackets_do_not_part_a_sentence():
    def transported(cost, a, b, eps):
        "Cost: (m, n); a: (m,) and b: (n,) are positive weights; eps > 0."

    assert dict(intervals_said(transported)) == dict.fromkeys(("a", "b", "eps"), (0.0, np.inf))


def test_an_article_is_no_parameter_that_is_told_of():
    def bond(r, tau, a, b):
        "Prices of a zero coupon bond. r: array of short rates; the others are numbers."

    assert sorted(name for name, (kind, *_) in kinds_said(bond).items() if kind.form == "number") == [
        "a",
        "b",
        "tau",
    ]


def test_everything_else_may_be_real():
    def current(voltage, omega, R=1.0):
        "The voltage is a complex number, everything else a real one."

    kinds = {name: (kind.form, kind.dtype) for name, (kind, *_) in kinds_said(current).items()}
    assert kinds["omega"] == ("number", "float64") and kinds["voltage"][1] == "complex128"


SOFT = '''
def f(p, t):
    """Squared error of forecasts.

    p: probabilities
    t: labels ({})
    """
    return np.sum((p - t) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(p, t):
    def back(y_bar):
        g = 2 * (p - t) * y_bar
        return rl.NoTangent(), g, {}

    return f(p, t), back
'''


@pytest.mark.slow
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("words", "bar", "verdict"), [
    ("0 or 1, or soft", "rl.ZeroTangent()", "wrong"), ("0 or 1, or soft", "-g", "right"),
    ("0 or 1", "rl.NoTangent()", "right"),
])  # fmt: skip
def test_labels_that_may_be_soft_have_a_derivative(words, bar, verdict):
    assert judged(SOFT.format(words, bar)).verdict == verdict
