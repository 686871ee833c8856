"""Rules that have a pullback alone, in forward mode and in second derivatives: it is turned round."""

import numpy as np
import pytest

import rulelab as rl


def ruled(f, rule):
    rl.rrule_for(f)(rule)
    return f


def product_with_default():
    def scaled(x, factor=2.0):
        return factor * x

    def scaled_rrule(x, factor=2.0):
        return factor * x, lambda y_bar: (rl.NoTangent(), factor * y_bar, x * y_bar)

    return ruled(scaled, scaled_rrule)


def test_defaults_are_arguments_that_stand_still():
    """The pullback has a cotangent for each parameter, whether it was given or not."""
    scaled = product_with_default()
    assert rl.pushforward(scaled, 3.0)(1.0) == 2.0
    assert rl.pushforward(scaled, 3.0, 5.0)(1.0, 1.0) == 8.0
    assert rl.hessian(scaled, 3.0) == 0.0


def test_a_parameter_may_be_given_by_name():
    """Its tangent is not lost."""
    scaled = product_with_default()
    assert rl.pushforward(lambda x, k: scaled(x, factor=k), 3.0, 5.0)(1.0, 1.0) == 8.0
    assert rl.hessian(lambda x: scaled(x, factor=x), 3.0) == pytest.approx(2.0)


def test_a_keyword_is_a_constant():
    """One that varies is refused, as in reverse mode."""

    def powered(x, *, k):
        return k * x

    ruled(powered, lambda x, *, k: (k * x, lambda y_bar: (rl.NoTangent(), k * y_bar)))
    assert rl.pushforward(lambda x: powered(x, k=3.0), 2.0)(1.0) == 3.0
    with pytest.raises(rl.KeywordError, match="a differentiable value for k="):
        rl.pushforward(lambda x: powered(x, k=x), 2.0)(1.0)


@pytest.mark.parametrize("count", [1, 3])
def test_a_wrong_count_is_an_error(count):
    """A cotangent that is not there is not zero."""

    def product(x, y):
        return x * y

    ruled(product, lambda x, y: (x * y, lambda y_bar: (rl.NoTangent(), *[y_bar] * count)))
    with pytest.raises(rl.RuleCountError, match=f"returned {count + 1} cotangents, expected 3"):
        rl.pushforward(product, 3.0, 2.0)(1.0, 1.0)


@pytest.mark.parametrize("answer", [None, rl.NoTangent])
def test_none_is_no_cotangent(answer):
    """As in reverse mode: neither is zero."""

    def same(x):
        return x * 1.0

    ruled(same, lambda x: (x * 1.0, lambda y_bar: (rl.NoTangent(), answer)))
    with pytest.raises(rl.RuleError, match="returned (None|the class NoTangent) for x"):
        rl.pushforward(same, 3.0)(1.0)


class Kept:
    """What a rule is for that returns an object."""

    def __init__(self, x):
        self.x = x


VALUES = {
    "object": (Kept, lambda y: y.x),
    "tuple": (lambda x: (x, x), lambda y: y[0]),
    "dict": (lambda x: {"a": [x]}, lambda y: y["a"][0]),
    "array": (lambda x: np.array([x, x]), lambda y: y[0]),
}


@pytest.mark.parametrize("zero", [rl.ZeroTangent(), rl.NoTangent(), 0.0], ids=str)
@pytest.mark.parametrize("value", VALUES)
def test_a_pullback_that_needs_no_cotangent_to_give_zero(value, zero):
    """A value that stands still stands still in both modes, whatever it consists of."""
    made, part = VALUES[value]
    f = ruled(lambda x: made(x), lambda x: (made(x), lambda y_bar: (rl.NoTangent(), zero)))

    def times(x):
        return part(f(x)) * x

    assert along(times, 3.0) == (3.0, 3.0)


@pytest.mark.parametrize("value", VALUES)
def test_a_pullback_that_ignores_its_cotangent_is_refused_in_forward_mode(value):
    """It is no linear map, so that it says nothing of tangents: neither zero nor an error of ours."""
    made, part = VALUES[value]
    f = ruled(lambda x: made(x), lambda x: (made(x), lambda y_bar: (rl.NoTangent(), 1.0)))
    with pytest.raises(rl.RuleError, match="ignores its cotangent"):
        rl.pushforward(lambda x: part(f(x)) * x, 3.0)(1.0)


# -- what a rule states, and what is made of it --------------------------------------------------------------


def along(f, x=2.0):
    """The derivative of a function of one number by both modes."""
    return rl.pushforward(f, x)(1.0), rl.gradient(f, x)[0]


def test_what_a_pullback_returns_is_projected_as_in_reverse_mode():
    """A complex cotangent of a real number, a real one of a complex one, a column for a vector, a list for
    a tuple, None where nothing flowed: the same in both modes.
    """
    square = ruled(lambda x: x * x, lambda x: (x * x, lambda y_bar: (rl.NoTangent(), (2 * x + 5j) * y_bar)))
    assert along(square) == (4.0, 4.0) and rl.hessian(square, 2.0) == 2.0
    real = ruled(lambda z: z.real, lambda z: (z.real, lambda y_bar: (rl.NoTangent(), y_bar)))
    assert along(lambda x: real(x + 1j * x) ** 2) == (4.0, 4.0)
    total = ruled(
        lambda x: np.sum(x),
        lambda x: (np.sum(x), lambda y_bar: (rl.NoTangent(), np.full((len(x), 1), y_bar))),
    )
    assert rl.pushforward(total, np.ones(3))(np.ones(3)) == 3.0
    product = ruled(
        lambda t: t[0] * t[1], lambda t: (t[0] * t[1], lambda y_bar: (rl.NoTangent(), [t[1] * y_bar, None]))
    )
    assert along(lambda x: product((x, 3.0))) == (3.0, 3.0)
    assert rl.hessian(lambda x: product((x, x)), 2.0) == 1.0  # half of it is left out by the rule


@pytest.mark.parametrize("value", [3, True, "text", None, (), np.array(["a"])])
def test_values_without_a_derivative(value):
    """A whole number, a bool, a text or None as the value of a rule stands still."""
    f = ruled(lambda x: value, lambda x: (value, lambda y_bar: (rl.NoTangent(), rl.ZeroTangent())))

    def squared(x):
        f(x)
        return x**2

    assert along(squared) == (4.0, 4.0) and rl.hessian(squared, 2.0) == 2.0


@pytest.mark.parametrize(
    "make", [lambda x: lambda t: x * t, lambda x: iter([x]), lambda x: {"a": [lambda: x]}]
)
def test_values_that_nobody_can_look_into_are_refused(make):
    """A closure or an iterator, also inside a structure, has no tangent that a pullback could tell."""
    f = ruled(make, lambda x: (make(x), lambda y_bar: (rl.NoTangent(), 1.0)))
    with pytest.raises(rl.NotDifferentiableError, match="The value of a rule is, or holds, a"):
        rl.pushforward(lambda x: [f(x)] and x, 2.0)(1.0)


def test_a_cotangent_that_is_not_implemented():
    """Is an error where its argument moves, and nothing where it stands still."""
    f = ruled(
        lambda x, k: x * k,
        lambda x, k: (x * k, lambda y_bar: (rl.NoTangent(), y_bar * k, rl.not_implemented("k"))),
    )
    assert rl.hessian(lambda x: f(x, 3.0) ** 2, 2.0) == 18.0
    assert np.array_equal(rl.pushforward(lambda x: f(x, 3.0), np.ones(2))(np.ones(2)), [3.0, 3.0])
    for moved in (2.0, np.ones(2)):
        with pytest.raises(rl.NotImplementedTangentError, match="k"):
            rl.pushforward(f, moved, 3.0)(moved, 1.0)


@pytest.mark.parametrize("mode", ["rrule", "frule"])
def test_a_value_that_is_the_argument_itself(mode):
    """It cannot move in two ways: where the rule says that it does, it has to be a copy."""

    def reversed_(x):
        return x

    def copied(x):
        return x * 1.0

    for f, value in ((reversed_, lambda x: x), (copied, lambda x: x.copy())):
        if mode == "rrule":
            rl.rrule_for(f)(lambda x, value=value: (value(x), lambda y_bar: (rl.NoTangent(), -y_bar)))
        else:
            rl.frule_for(f)(lambda tangents, x, value=value: (value(x), -tangents[1]))
    x = np.array([2.0, 3.0])
    assert np.array_equal(rl.pushforward(copied, x)(x), -x)
    with pytest.raises(rl.NotDifferentiableError, match="an array that was passed to it") as error:
        rl.pushforward(reversed_, x)(x)
    assert "x.copy()" in str(error.value)
    assert np.array_equal(rl.pushforward(lambda x: np.stack([reversed_(v) for v in x]), x)(x), -x)


def test_what_an_object_shares_with_an_argument_moves_with_it():
    """A constructor with a rule keeps the very array: what is written to it moves in both places."""

    class Holder:
        def __init__(self, x):
            self.x = x

    rl.rrule_for(Holder)(lambda x: (Holder(x), lambda holder_bar: (rl.NoTangent(), holder_bar.x)))

    def written(x):
        y = x * 1.0
        holder = Holder(y)
        holder.x[0] = 5 * x[1]
        return y[0] * y[1]

    assert rl.pushforward(written, np.array([2.0, 3.0]))(np.array([0.0, 1.0])) == 30.0


def test_tangents_that_an_frule_states():
    """A Tangent, a thunk and a complex tangent of a real value are taken as what they stand for."""

    def pair(x):
        return [x, 2 * x]

    def square(x):
        return x * x

    rl.frule_for(pair)(lambda tangents, x: (pair(x), rl.Tangent(list, tangents[1], 2 * tangents[1])))
    rl.frule_for(square)(lambda tangents, x: (x * x, rl.thunk(lambda: (2 * x + 1j) * tangents[1])))
    for f in (lambda x: pair(x)[0] * pair(x)[1], lambda x: 2 * (square(x) * (1 + 1j)).real):
        assert along(f) == (8.0, 8.0) and rl.hessian(f, 2.0) == pytest.approx(4.0)


def test_an_author_is_told_what_is_wrong_by_the_name_of_the_argument():
    """As in reverse mode: which cotangent, of which function."""
    f = ruled(lambda x, w: x * w, lambda x, w: (x * w, lambda y_bar: (rl.NoTangent(), np.ones(3), y_bar * x)))
    with pytest.raises(rl.RuleShapeError, match="returned for x: .* shape"):
        rl.pushforward(f, 2.0, 3.0)(1.0, 1.0)
