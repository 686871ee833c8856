"""Rules that have a pullback alone, in forward mode and in second derivatives: it is turned round."""

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
    with pytest.raises(rl.RuleError, match="None or a class"):
        rl.pushforward(same, 3.0)(1.0)
