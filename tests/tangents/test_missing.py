"""Tests of cotangents that nobody has derived."""

import copy
import operator
import pickle

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import NotImplementedTangentError
from rulelab.tangents.algebra import add, scale
from rulelab.tangents.missing import MissingSlope, not_implemented
from rulelab.tangents.projection import ProjectTo, to_natural
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import thunk
from rulelab.tangents.zeros import ZeroTangent


def test_it_survives_sums_from_either_side():
    """A missing cotangent is not lost in a sum: the sum is missing too."""
    missing = not_implemented("order of a Bessel function")
    for other in (1.0, np.ones(2), ZeroTangent(), thunk(lambda: 1 / 0), (1.0,), missing):
        assert add(missing, other) is missing and add(other, missing) is missing
    assert missing + 1.0 is missing and np.ones(2) + missing is missing
    assert scale(2.0, missing) is missing and ProjectTo(1.0)(missing) is missing


def test_it_raises_where_its_value_is_needed_and_says_where_it_was_made():
    """Computing with it, or handing it to me, is an error that names the rule's own line."""
    missing = not_implemented("see issue 7")
    uses = [lambda: missing * 2.0, lambda: np.ones(2) * missing, lambda: -missing, lambda: float(missing)]
    uses += [
        lambda: missing - 1,
        lambda: missing[0],
        lambda: to_natural(1.0, missing),
        lambda: np.asarray(missing),
    ]
    for use in uses:
        with pytest.raises(NotImplementedTangentError, match="see issue 7") as caught:
            use()
        assert caught.value.place.filename == __file__ and "not_implemented" in str(caught.value)
    assert missing * ZeroTangent() is ZeroTangent()


@pytest.mark.parametrize(
    "use",
    [
        lambda t: np.sin(t), lambda t: np.multiply(t, 2.0), lambda t: np.subtract(1.0, t), lambda t: t.sum(),
        lambda t: t.shape, lambda t: t > 0, lambda t: t // 2, lambda t: np.ones(2) @ t, lambda t: 2.0 in t,
        lambda t: np.add(1.0, 2.0, out=(t,)), lambda t: t[0], lambda t: np.add.reduce(t), lambda t: round(t),
        lambda t: 2.0 * Tangent(tuple, 1.0) * t, lambda t: operator.iadd(np.ones(2), t),
    ],
)  # fmt: skip
def test_whatever_computes_with_it_hears_the_reason(use):
    """NumPy functions, methods, comparisons and writes raise the author's reason, not a TypeError."""
    with pytest.raises(NotImplementedTangentError, match="see issue 7"):
        use(not_implemented("see issue 7"))


def test_a_sum_with_it_stays_missing_in_numpy_too():
    """`np.add` is a sum as `+` is."""
    missing = not_implemented("why")
    assert np.add(np.ones(2), missing) is missing and np.add(missing, 1.0) is missing


def test_a_slope_that_no_rule_has_passes_what_is_linear():
    """It stays missing, and is told of where its number is needed."""
    missing = MissingSlope("the order")
    linear = (2.0 * missing, missing / 3, -missing, np.ones(2) * missing, missing[0], np.real(missing))
    assert all(each is missing for each in (*linear, np.sum(missing)))
    assert missing * ZeroTangent() is ZeroTangent()
    for use in (float, np.sin, np.asarray, lambda t: t**2, lambda t: t > 0, lambda t: 1 / t, abs):
        with pytest.raises(NotImplementedTangentError, match="the order"):
            use(missing)


def test_it_travels_and_is_shown():
    """It can be copied, sent to a worker and shown; without a reason it says no more than it knows."""
    missing = not_implemented("why")
    for other in (copy.deepcopy(missing), pickle.loads(pickle.dumps(missing))):
        assert repr(other) == repr(missing) and "test_missing.py, line" in repr(other)
    assert not hasattr(missing, "_repr_html_")
    assert str(not_implemented().error()).splitlines()[0] == "tangent not implemented"


def power(n, x):
    return x**n


@pytest.fixture
def half_done():
    """A rule whose derivative by the exponent is not derived."""

    def power_rrule(n: float, x: float):
        def power_pullback(y_bar):
            return (
                rl.NoTangent(),
                rl.not_implemented("logarithm of a negative number"),
                y_bar * n * x ** (n - 1),
            )

        return x**n, power_pullback

    rl.rrule_for(power)(power_rrule)
    yield
    rl.remove_rule(power)


def test_a_missing_derivative_is_an_error_only_where_it_is_asked_for(half_done):
    """The rule serves those who hold the exponent fixed; who varies it hears the reason and the line."""
    assert rl.gradient(lambda x: power(2.0, x), 3.0) == (6.0,)
    questions = [
        lambda: rl.gradient(power, 2.0, 3.0),
        lambda: rl.gradient(lambda n: 5 * power(n * n, 3.0), 2.0),
        lambda: rl.pullback(power, 2.0, 3.0)[1](1.0),
        lambda: rl.gradient(lambda n: power(n, 3.0) + n, 2.0),
        lambda: rl.jacobian(lambda n: np.array([power(n, 3.0), n]), 2.0),
    ]
    for ask in questions:
        with pytest.raises(NotImplementedTangentError, match="logarithm of a negative") as caught:
            ask()
        assert caught.value.place.filename == __file__ and caught.value.place.function == "power_pullback"


def test_one_of_a_number_in_an_array_says_what_is_missing():
    """NumPy would take it for a sequence."""

    def bessel(order, x):
        return order * x

    @rl.rrule_for(bessel)
    def bessel_rrule(order, x):
        return order * x, lambda s: (rl.NoTangent(), not_implemented("of the order"), s * order)

    with pytest.raises(NotImplementedTangentError, match="of the order"):
        rl.gradient(lambda p: bessel(p[0], p[1]), np.array([2.0, 3.0]))
