"""What differences say about a derivative is right within its error bar, or is not said."""

import math

import mpmath as mp
import numpy as np
import pytest

from rulelab.checking.measuring import oracles
from rulelab.checking.measuring.oracles import (
    Measured,
    complex_step,
    measured_jacobian,
    measured_jvp,
    mp_derivative,
)

EVERYWHERE, POSITIVE, MODERATE = (-1e6, 1e6), (0.0, 1e6), (-30.0, 30.0)
SCALAR = [  # a function, the same for mpmath, and where its points lie
    (np.sin, mp.sin, EVERYWHERE),
    (np.cos, mp.cos, EVERYWHERE),
    (np.tan, mp.tan, EVERYWHERE),
    (np.exp, mp.exp, MODERATE),
    (np.expm1, mp.expm1, MODERATE),
    (np.exp2, lambda x: mp.mpf(2) ** x, MODERATE),
    (np.log, mp.log, POSITIVE),
    (np.log2, lambda x: mp.log(x, 2), POSITIVE),
    (np.log1p, mp.log1p, (-1.0, 1e6)),
    (np.sqrt, mp.sqrt, POSITIVE),
    (np.cbrt, mp.cbrt, POSITIVE),
    (lambda x: x * x, lambda x: x * x, EVERYWHERE),
    (lambda x: x**3, lambda x: x**3, EVERYWHERE),
    (lambda x: x**10, lambda x: x**10, EVERYWHERE),
    (lambda x: 1 / x, lambda x: 1 / x, EVERYWHERE),
    (lambda x: x**-3.0, lambda x: x**-3, EVERYWHERE),
    (np.arctan, mp.atan, EVERYWHERE),
    (np.arcsin, mp.asin, (-1.0, 1.0)),
    (np.arccos, mp.acos, (-1.0, 1.0)),
    (np.arctanh, mp.atanh, (-1.0, 1.0)),
    (np.sinh, mp.sinh, MODERATE),
    (np.cosh, mp.cosh, MODERATE),
    (np.tanh, mp.tanh, (-15.0, 15.0)),
    (np.arcsinh, mp.asinh, EVERYWHERE),
    (np.arccosh, mp.acosh, (1.0, 1e6)),
    (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (1 + mp.exp(-x)), MODERATE),
    (lambda x: np.logaddexp(0, x), lambda x: mp.log(1 + mp.exp(x)), MODERATE),
    (lambda x: np.exp(-x * x), lambda x: mp.exp(-x * x), (-5.0, 5.0)),
    (np.sinc, lambda x: mp.sin(mp.pi * x) / (mp.pi * x), EVERYWHERE),
    (lambda x: np.hypot(x, 1.0), lambda x: mp.sqrt(x * x + 1), EVERYWHERE),
    (lambda x: 1 / (1 + 25 * x * x), lambda x: 1 / (1 + 25 * x * x), EVERYWHERE),
    (lambda x: x * np.log(x), lambda x: x * mp.log(x), POSITIVE),
    (lambda x: x**x, lambda x: x**x, (0.0, 20.0)),
    (lambda x: np.sin(x * x), lambda x: mp.sin(x * x), EVERYWHERE),
    (lambda x: np.sin(30 * x), lambda x: mp.sin(30 * x), EVERYWHERE),
    (lambda x: 1e6 + np.sin(x), lambda x: 10**6 + mp.sin(x), EVERYWHERE),
    (lambda x: (1 - np.cos(x)) / x**2, lambda x: (1 - mp.cos(x)) / x**2, EVERYWHERE),
    (lambda x: (np.exp(x) - 1) / x, lambda x: (mp.exp(x) - 1) / x, MODERATE),
    (lambda x: (x**3 - 2 * x) / (x * x + 3), lambda x: (x**3 - 2 * x) / (x * x + 3), EVERYWHERE),
    (np.abs, abs, EVERYWHERE),
    (lambda x: np.maximum(x, 0.0), lambda x: max(x, 0), EVERYWHERE),
    (lambda x: 3 * x + 1, lambda x: 3 * x + 1, EVERYWHERE),
]


def points(rng, ends, count):
    """Points of every size from 1e-6 to 1e6 between the ends, half of them with few digits."""
    low, high = ends
    found = []
    while len(found) < count:
        x = (low if low in (0.0, 1.0, -1.0) and high > 1 else 0.0) + 10 ** rng.uniform(-6, 6)
        x = (
            rng.uniform(*ends)
            if high < 100 and rng.random() < 0.5
            else x * (rng.choice([-1, 1]) if low < 0 else 1)
        )
        x = float(f"{x:.2g}") if rng.random() < 0.5 else float(x)
        if low < x < high:
            found.append(x)
    return found


def truth(f, x):
    with mp.workdps(60):
        return float(mp.diff(f, mp.mpf(x), h=mp.mpf(10) ** -25 * max(1e-6, min(abs(x), 1))))


def measured(f, x, **options):
    found = measured_jvp(f, np.array([float(x)]), np.ones(1), **options)
    return found.value[0], found.error[0]


@pytest.mark.slow
def test_the_error_bars_are_honest():
    """Over 42 functions at points from 1e-6 to 1e6, 99.9% of the values lie within their error bar, none is
    off by ten of them, nearly all have one, and the bars are short.
    """
    rng, inside, known, total, bars = np.random.default_rng(7), 0, 0, 0, []
    for f, exact, ends in SCALAR:
        for x in points(rng, ends, 20):
            true, (value, error) = truth(exact, x), measured(f, x)
            total += 1
            if not math.isfinite(error):
                assert math.isnan(value)
                continue
            known += 1
            off = abs(value - true) - np.spacing(abs(true))
            assert off <= 10 * error, (exact, x, value, true, error)
            inside += off <= error
            bars.append(error / max(abs(true), 1e-300))
    assert inside >= 0.999 * known and known >= 0.95 * total and np.median(bars) < 1e-11


ORDINARY = [entry for entry in SCALAR[:35] if entry[0] is not np.tan]


def test_ordinary_points_are_measured_to_nine_digits():
    """Near 1, where checks are made, the relative error is below 1e-9 and the error bar below 1e-7."""
    rng = np.random.default_rng(3)
    for f, exact, (low, high) in ORDINARY:
        x = float(rng.uniform(max(low, -2.0) + 0.2, min(high, 2.0) - 0.2)) if low != 1.0 else 1.7
        true, (value, error) = truth(exact, x), measured(f, x)
        assert abs(value - true) <= 1e-9 * abs(true) and error <= 1e-7 * abs(true), (
            exact,
            x,
            value,
            true,
            error,
        )


def flat(f):
    return lambda x: np.ravel(f(x.reshape(3, 3)))


VECTOR = {  # a function from a vector to a vector, and its Jacobian
    "product": (lambda x: np.array([x.prod()]), lambda x: (x.prod() / x)[None], 5),
    "softmax": (
        lambda x: np.exp(x) / np.exp(x).sum(),
        lambda x: np.diag(s := np.exp(x) / np.exp(x).sum()) - np.outer(s, s),
        5,
    ),
    "elementwise": (np.tanh, lambda x: np.diag(1 - np.tanh(x) ** 2), 6),
    "norm": (lambda x: np.array([np.linalg.norm(x)]), lambda x: (x / np.linalg.norm(x))[None], 4),
    "largest": (lambda x: np.array([x.max()]), lambda x: (np.arange(x.size) == x.argmax())[None] * 1.0, 6),
    "sorted": (np.sort, lambda x: np.eye(x.size)[np.argsort(x)], 6),
    "running mean": (
        lambda x: np.cumsum(x) / np.arange(1, 7),
        lambda x: np.tril(np.ones((6, 6))) / np.arange(1, 7)[:, None],
        6,
    ),
    "inverse": (
        flat(np.linalg.inv),
        lambda x: -np.einsum("ij,kl->iljk", b := np.linalg.inv(x.reshape(3, 3)), b).reshape(9, 9),
        9,
    ),
    "determinant": (
        flat(np.linalg.det),
        lambda x: (np.linalg.det(a := x.reshape(3, 3)) * np.linalg.inv(a).T).reshape(1, 9),
        9,
    ),
    "log of the determinant": (
        flat(lambda a: np.linalg.slogdet(a)[1]),
        lambda x: np.linalg.inv(x.reshape(3, 3)).T.reshape(1, 9),
        9,
    ),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", VECTOR)
def test_jacobians_are_right_within_their_error_bars(name):
    """Every known entry of a Jacobian, and of its product with a direction, at points of sizes from 0.01 to
    100; nearly all are known.
    """
    f, jacobian, size = VECTOR[name]
    rng, known = np.random.default_rng(11), []
    for number in range(12):
        x = np.round(rng.normal(size=size) * 10 ** rng.uniform(-2, 2 if name != "softmax" else 1), 4)
        if (
            name in ("inverse", "determinant", "log of the determinant")
            and np.linalg.cond(x.reshape(3, 3)) > 100
        ):
            continue
        true, found = jacobian(x), measured_jacobian(f, x)
        assert found.value.shape == found.error.shape == true.shape
        told = found.known()
        assert np.all(np.abs(found.value - true)[told] <= found.error[told] + 1e-14 * np.abs(true[told]))
        assert np.isnan(found.value[~told]).all()
        known.append(told.mean())
        v = rng.normal(size=size)
        along = measured_jvp(f, x, v)
        assert np.all(
            ~along.known() | (np.abs(along.value - true @ v) <= along.error + 1e-13 * np.abs(true) @ abs(v))
        )
    assert np.mean(known) > 0.97


KINKS = {
    "abs": np.abs,
    "relu": lambda u: np.maximum(u, 0.0),
    "leaky": lambda u: np.where(u > 0, u, 0.01 * u),
    "slight": lambda u: np.sin(u + 1) + 1e-6 * np.abs(u),
    "step": lambda u: np.where(u > 0, 1.0, 0.0),
    "floor": np.floor,
    "cusp": lambda u: np.abs(u) ** 0.9,
    "root": lambda u: np.sqrt(np.abs(u)),
    "exp": lambda u: np.exp(np.abs(u)),
    "sign": lambda u: np.sign(u) * np.exp(u),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("at", [0.0, 1.0, -0.7, 12.34, 1e-3, 1e3])
@pytest.mark.parametrize("name", KINKS)
def test_at_a_kink_nothing_is_known(name, at):
    """The two sides differ, and no number in between passes for the derivative."""
    value, error = measured(lambda x: KINKS[name](x - at), at)
    assert math.isnan(value) and error == math.inf


def test_at_a_tie_nothing_is_known():
    """max, min, sort and median of equal numbers, also where each partial derivative exists."""
    tied = np.array([2.0, 2.0, 1.0])
    for f, x in [(lambda x: np.array([x.max()]), tied), (lambda x: np.array([x.min()]), -tied)]:
        assert measured_jacobian(f, x).known().tolist() == [[False, False, True]]
    assert measured_jacobian(lambda x: x * x, np.zeros(2)).known().all()  # not a tie, though flat
    assert not measured_jacobian(np.sort, np.full(3, 0.5)).known()[1].any()


NEARBY = {  # with a kink or jump at 0 and every 0.37 or so: the function, its derivative elsewhere
    "abs": (np.abs, np.sign),
    "step": (lambda u: np.where(u > 0, 1.0, 0.0), lambda u: 0.0),
    "root": (lambda u: np.sqrt(np.abs(u)), lambda u: np.sign(u) / 2 / np.sqrt(abs(u))),
    "teeth": (lambda u: np.mod(u, 0.37), lambda u: 1.0),
    "triangles": (lambda u: np.abs(np.mod(u, 0.2) - 0.1), lambda u: np.sign(np.mod(u, 0.2) - 0.1)),
    "rounded": (np.round, lambda u: 0.0),
    "thousandths": (lambda u: np.floor(u * 1000) / 1000, lambda u: 0.0),
    "four decimals": (lambda u: np.round(u, 4), lambda u: 0.0),
    "sine in steps": (lambda u: np.round(np.sin(u), 5), lambda u: 0.0),
}


@pytest.mark.parametrize("name", NEARBY)
def test_a_kink_or_jump_within_the_points_makes_no_wrong_number(name):
    """At distances from 1e-9 to 3 the derivative is within its error bar, or unknown."""
    f, slope = NEARBY[name]
    rng, known = np.random.default_rng(2), 0
    for _ in range(60):
        at = rng.choice([0.0, 0.5, -2.0])
        x = at + 10 ** rng.uniform(-9, 0.5) * rng.choice([-1, 1])
        value, error = measured(lambda x, at=at: f(x - at) + 0.1 * np.sin(x), x)
        if math.isfinite(error):
            known += 1
            assert abs(value - slope(x - at) - 0.1 * np.cos(x)) <= error
    assert known > 5


@pytest.mark.parametrize("reach", [1e-7, 1e-5, 1e-3])
def test_a_vector_whose_sign_is_chosen_anew_nearby_tells_no_slope(reach):
    """A unit vector turning through 0: its second number is odd, and looks as smooth with the other sign."""

    def turning(x):
        return np.array([np.cos(x[0]), np.sin(x[0])]) * (1.0 if abs(x[0]) < reach else -1.0)

    found = measured_jacobian(turning, np.zeros(1))
    assert np.all(np.abs(found.value - [[0.0], [1.0]]) <= found.error, where=found.known())


@pytest.mark.parametrize("level", [1e-12, 1e-9, 1e-6])
def test_noise_lengthens_the_error_bar(level):
    """A noisy function is measured as well as its noise allows, and says how well."""
    rng, bars = np.random.default_rng(1), []
    for x in np.linspace(0.3, 3.0, 20):
        value, error = measured(lambda x: np.sin(x) + level * rng.standard_normal(1), x)
        assert not abs(value - math.cos(x)) > error
        bars.append(error)
    assert level < np.median(bars) < 1e4 * level


def test_nothing_is_known_of_noise_alone():
    """Neither random numbers nor an oscillation much faster than the points have a derivative here."""
    rng = np.random.default_rng(1)
    assert measured(lambda x: rng.standard_normal(1), 1.0)[1] == math.inf
    assert measured(lambda x: np.sin(x * x), 880000.0)[1] == math.inf


@pytest.mark.parametrize("k", range(-2, 6))
def test_an_oscillation_in_step_with_the_points_does_not_deceive(k):
    """A wave that vanishes at all points of the first family is seen by the second."""
    frequency = 2 * np.pi * oracles.RATIO**k / oracles.FIRST
    value, error = measured(lambda x: x + 1e-2 * np.sin(frequency * x), 0.0)
    assert not abs(value - 1 - 1e-2 * frequency) > error


@pytest.mark.every(3)
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("f", [np.sin, np.log, np.sqrt, lambda x: x**3, lambda x: 1 / x])
def test_single_precision_is_noticed(f, size):
    """Functions computed in float32 have longer error bars, and are within them."""
    rng, bars = np.random.default_rng(4), []
    for x in rng.uniform(0.3, 3.0, 10) * size:
        true, value_error = measured(f, x)[0], measured(lambda x: f(x.astype(np.float32)), x)
        value, error = value_error
        assert not abs(value - true) > error
        bars.append(error / abs(true))
    assert 1e-8 < np.median(bars) < 5e-2


def test_a_domain_is_not_left():
    """No point lies outside, with one end for all or one for each entry, at an end and close to it."""
    seen = []

    def f(x):
        seen.append(x.copy())
        return np.array([np.log(x[0]), np.sqrt(x[1]), np.exp(x[2]), x[0] * x[1] * x[2]])

    x, low, high = np.array([1e-5, 1.0, 0.0]), np.zeros(3), np.array([np.inf, 1.0, 3.0])
    found = measured_jacobian(f, x, domain=(low, high))
    true = np.array([[1e5, 0, 0], [0, 0.5, 0], [0, 0, 1], [0, 0, 1e-5]])
    assert np.all(np.abs(found.value - true) <= found.error) and found.known().all()
    assert np.all([(low <= point) & (point <= high) for point in seen])
    assert np.all([point[0] > 0 for point in seen])
    along = measured_jvp(f, x, np.array([1.0, -1.0, 2.0]), domain=(low, high))
    assert np.all(np.abs(along.value - true @ [1, -1, 2]) <= along.error)
    with pytest.raises(ValueError, match="the point lies outside the domain"):
        measured_jacobian(f, -x, domain=(low, high))
    assert not measured_jacobian(lambda x: x * x, np.array([np.nan])).known().any()  # nowhere, so not outside


def test_a_value_that_is_missing_makes_no_wrong_number():
    """Where the function raises or is nan, the points move closer or to one side, or nothing is known."""

    def scalar(f):
        return lambda x: np.array([f(float(x[0]))])

    for f, x, true in [
        (math.log, 1e-9, 1e9),
        (lambda x: math.log(x - 0.9999), 1.0, 1e4),
        (lambda x: math.sqrt(1 - x), 0.999, -0.5 / math.sqrt(0.001)),
        (lambda x: math.exp(x) if x >= 0 else math.nan, 0.0, 1.0),
        (lambda x: 1 / (x > -1e-3) * x, 0.0, 1.0),
    ]:
        value, error = measured(scalar(f), x)
        assert abs(value - true) <= error < 1e-2 * abs(true)
    for f, x in [(math.sqrt, 0.0), (lambda x: x**0.5, 0.0), (lambda x: math.nan, 1.0)]:
        assert measured(scalar(f), x)[1] == math.inf

    def guarded(x):
        if x[0] > 1:
            raise np.linalg.LinAlgError("no")
        return x**2

    value, error = measured(guarded, 1.0)
    assert abs(value - 2) <= error < 1e-6
    with pytest.raises(ValueError, match="math domain error|expected a (positive|nonnegative) input"):
        measured(scalar(math.sqrt), -1.0)


@pytest.mark.parametrize("x", [1e-300, -1e-310, 1e-320, 1e300, 1e308])
@pytest.mark.parametrize("at_infinity", [0.0, 1.0])
def test_what_is_finite_at_infinity_has_no_slope_over_that_distance(x, at_infinity):
    """As `tanh`, or the state of a solver that gives up: a change divided by infinity is no exact zero."""

    def settled(x):
        return np.where(np.isfinite(x), np.tanh(x), at_infinity)

    found = measured_jacobian(settled, np.array([x]))
    for value, error in (measured(settled, x), (found.value[0, 0], found.error[0, 0])):
        if abs(x) < 1:
            assert abs(value - 1.0) <= error < 1e-3
        else:
            assert error == math.inf or abs(value) <= error


class OutOfRangeError(Exception):
    """As an author's own."""


@pytest.mark.parametrize("error", [AssertionError, KeyError, OutOfRangeError, RuntimeError])
def test_whatever_a_function_refuses_a_place_with_it_has_no_value_there(error):
    def f(x):
        if x[0] <= 0:
            raise error
        return np.sqrt(x)

    found = measured_jacobian(f, np.array([0.3]))
    assert abs(found.value[0, 0] - 0.5 / math.sqrt(0.3)) <= found.error[0, 0] < 1e-6
    with pytest.raises(error):
        measured_jacobian(f, np.array([-0.3]))


def test_each_output_is_judged_for_itself():
    """A kink or a missing value in one output leaves the others known."""

    def f(x):
        return np.array([np.abs(x[0]), x[0] * x[1], np.sqrt(x[1] - 2.0), np.inf])

    found = measured_jacobian(f, np.array([0.0, 3.0]))
    assert found.known().tolist() == [[False, True], [True, True], [True, True], [False, False]]


def test_the_function_is_asked_seldom_and_with_fresh_vectors():
    """About 20 calls for a column and 27 for a direction; a function that writes harms nothing."""
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        y = np.array([np.sin(x).prod(), np.exp(x).sum()])
        x[:] = np.nan
        return y

    x = np.linspace(0.5, 2.0, 6)
    before = x.copy()
    found = measured_jacobian(f, x)
    assert found.known().all() and calls <= 7 + 6 * 25 and np.array_equal(x, before)
    calls = 0
    assert measured_jvp(f, x, np.ones(6)).known().all() and calls <= 31


def test_empty_and_still():
    """No inputs, no outputs, a direction of zeros, a constant function."""
    assert measured_jacobian(lambda x: np.ones(2), np.empty(0)).value.shape == (2, 0)
    assert measured_jacobian(lambda x: np.empty(0), np.ones(3)).value.shape == (0, 3)
    still = measured_jvp(np.sin, np.ones(2), np.zeros(2))
    assert still.value.tolist() == [0.0, 0.0] and np.all(still.error < 1e-12)
    constant = measured_jacobian(lambda x: np.array([1.5, 0.1, 0.0]), np.ones(2))
    assert np.all(np.abs(constant.value) <= constant.error) and np.all(constant.error < 1e-12)
    whole = measured_jacobian(np.floor, np.array([1.5, 0.2]))  # of what could be float32
    assert np.all(np.abs(whole.value) <= whole.error) and np.all(whole.error < 1e-4)


def test_saturated_and_lost_in_single_precision():
    """A float32 that is exactly 1, or 0 by underflow, has no exact derivative of 0."""
    for f, x, true in [(np.tanh, -8.6, 1.3557966e-07), (np.exp2, -169.5, 6.55e-52), (np.exp, -95.2, 4.5e-42)]:
        value, error = measured(lambda x, f=f: f(x.astype(np.float32)), x)
        assert not abs(value - true) > error


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda: measured_jacobian(np.sin, np.ones((2, 2))), ValueError, "x must be a vector"),
        (lambda: measured_jvp(np.sin, np.ones(2), np.ones(3)), ValueError, "direction has shape"),
        (lambda: measured_jacobian(lambda x: 1.0, np.ones(2)), ValueError, "must return a vector"),
        (lambda: measured_jacobian(lambda x: x + 1j, np.ones(2)), TypeError, "must return a real vector"),
    ],
)
def test_what_is_no_vector_is_refused(given, error, message):
    """The functions and points that this is for are real vectors."""
    with pytest.raises(error, match=message):
        given()


def test_known_is_where_the_error_is_finite():
    """What is asked of a result before it is used."""
    assert Measured(np.array([1.0, np.nan]), np.array([0.1, np.inf])).known().tolist() == [True, False]


@pytest.mark.parametrize(
    "f",
    [
        np.abs,
        np.linalg.norm,
        lambda x: np.var([x, 2 * x, 1.0]),
        lambda x: np.linalg.slogdet(np.array([[x, 1.0], [0.3, 2.0]]))[1],
        lambda x: np.sqrt(x * np.conj(x)),
        lambda x: x * np.abs(x),
        lambda x: np.real(x) * x,
        lambda x: max(x, 0.0),
        math.sin,
        lambda x: 1.0,
    ],
)
def test_the_complex_step_refuses_what_is_not_analytic(f):
    """Where the imaginary part is lost it would say 0, or a part of the derivative."""
    assert complex_step(f, 1.3) is None


def test_the_complex_step_is_exact_where_it_counts():
    """To rounding, for numbers and arrays, also where differences have few digits."""
    assert complex_step(np.exp, 1.3) == pytest.approx(math.exp(1.3), rel=1e-15)
    assert complex_step(lambda x: np.linalg.det(np.array([[x, 1.0], [0.3, 2.0]])), 1.3) == pytest.approx(
        2.0, rel=1e-15
    )
    np.testing.assert_allclose(complex_step(lambda x: np.array([x, x**2]), 1.3), [1.0, 2.6], rtol=1e-15)
    assert complex_step(lambda x: 1e6 + np.sin(x), 1.3) == pytest.approx(math.cos(1.3), rel=1e-15)
    assert complex_step(np.log, 1e-6) == pytest.approx(1e6, rel=1e-15)


def test_many_digits_where_the_code_allows():
    """mpmath's derivative of code that runs on its numbers, and None for other code and for kinks."""
    assert mp_derivative(lambda x: x**0.5 / (1 + x * x), 2.0) == pytest.approx(
        (0.5 * 2**-0.5 * 5 - 2**0.5 * 4) / 25, rel=1e-15
    )
    assert mp_derivative(abs, -2.0) == -1.0
    assert mp_derivative(abs, 0.0) is None
    assert mp_derivative(np.sin, 1.0) is None
    assert mp_derivative(lambda x: x * math.sin(x), 2.0) is None
    assert mp_derivative(lambda x: "text", 2.0) is None
