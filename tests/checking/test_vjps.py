"""Any function that gives (y, pullback) gets the report of a rule."""

from __future__ import annotations

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.testing.vjps import check_vjp


def weighted(x, w):
    return w * np.sum(x)


def weighted_vjp(x, w):
    def pullback(y_bar):
        return y_bar * w * np.ones_like(x), y_bar * np.sum(x)

    return w * np.sum(x), pullback


X, W = np.array([1.0, -2.0, 0.5]), 1.5


def judged(pullback):
    """The report for `weighted` with another pullback, of y_bar, x and w."""
    return check_vjp(weighted, lambda x, w: (weighted(x, w), lambda y_bar: pullback(y_bar, x, w)), X, W)


def test_a_right_vjp_is_right():
    """The vjp by its name, at points around those given."""
    report = check_vjp(weighted, weighted_vjp, X, W)
    assert report and report.sentence.startswith("weighted_vjp of weighted is right at ")
    assert report.names == ("x", "w") and report.place.filename == __file__


def test_arguments_may_be_drawn():
    """Without arguments they are drawn by the names of the parameters."""
    assert check_vjp(weighted, weighted_vjp)
    assert check_vjp(np.tanh, lambda x: (np.tanh(x), lambda y_bar: y_bar * (1 - np.tanh(x) ** 2)))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "pullback, words",
    [
        (lambda y_bar, x, w: (w * np.ones_like(x), np.sum(x)), "linear"),
        (
            lambda y_bar, x, w: (-y_bar * w * np.ones_like(x), y_bar * np.sum(x)),
            "the cotangent of x is wrong",
        ),
        (lambda y_bar, x, w: (y_bar * w * np.ones_like(x), None), "the cotangent of w is wrong"),
        (
            lambda y_bar, x, w: (y_bar * w * np.ones_like(x),),
            "the pullback of <lambda> returned 1 cotangents, expected 2: for x, w",
        ),
        (
            lambda y_bar, x, w: (y_bar * np.ones((2, 3)), y_bar * np.sum(x)),
            "the pullback of <lambda> returned for x: ",
        ),
        (lambda y_bar, x, w: 1 / 0, "raises ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_vjps_are_wrong_with_the_reason(pullback, words):
    """What is wrong with somebody's vjp is said as it is of a rule, by the names of the arguments."""
    report = judged(pullback)
    assert report.verdict == "wrong" and any(words in finding.words for finding in report.findings)


def test_what_is_no_vjp_is_told():
    """A function that gives no pair is wrong, in words."""
    report = check_vjp(weighted, weighted, X, W)
    assert "weighted must return (y, pullback), not a float64" in report.findings[0].words
    report = check_vjp(weighted, lambda x, w: (1.0, 2.0), X, W)
    assert "must return (y, pullback), not a tuple of 2" in report.findings[0].words


def test_one_argument_needs_no_tuple_and_none_is_a_zero():
    """`pullback` may give the cotangent alone; None says that nothing depends on the argument."""
    assert check_vjp(np.sin, lambda x: (np.sin(x), lambda y_bar: y_bar * np.cos(x)), X)
    assert check_vjp(lambda x, n: x * 2, lambda x, n: (x * 2, lambda y_bar: (2 * y_bar, None)), X, 1.0)


def test_handing_on_the_cotangent_itself_is_not_wrong():
    """Others may return what they were given, twice: sharing memory is a matter of their own conventions."""
    assert check_vjp(lambda x, y: x + y, lambda x, y: (x + y, lambda y_bar: (y_bar, y_bar)), X, X + 1)


def test_structures_go_in_and_out():
    """A `y_bar` has the form of `y`: a tuple for a tuple, so that the vjps of others can take it."""

    def f(p):
        return p["a"] * p["b"], np.sum(p["a"])

    def f_vjp(p):
        def pullback(y_bar):
            assert type(y_bar) is tuple
            first, second = y_bar
            return {"a": first * p["b"] + second, "b": first * p["a"]}

        return f(p), pullback

    assert check_vjp(f, f_vjp, {"a": X, "b": X + 2})


def test_a_vjp_that_writes_to_what_it_was_lent_is_wrong():
    """Writing into the input or the cotangent is found here too."""

    def writing(x):
        def pullback(y_bar):
            y_bar *= 2 * x
            return y_bar

        return x * x, pullback

    report = check_vjp(lambda x: x * x, writing, X)
    assert report.verdict == "wrong" and "which belongs to the caller" in report.sentence


def test_rules_of_the_function_play_no_part():
    """It is the vjp that is judged: a wrong rule of the function does not matter, none is registered."""

    def f(x):
        return x * x

    @rl.rrule_for(f)
    def wrong_rule(x):
        return x * x, lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)

    epoch = rl.rules.registry.DEFAULT.epoch
    assert check_vjp(f, lambda x: (x * x, lambda y_bar: 2 * x * y_bar), 3.0)
    assert rl.rules.registry.DEFAULT.epoch == epoch


def test_methods_and_objects_can_be_judged():
    """`f` may be any callable: a bound method, an object with `__call__`."""

    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return self.by * x

        def vjp(self, x):
            return self(x), lambda y_bar: self.by * y_bar

    scale = Scale(3.0)
    assert check_vjp(scale, scale.vjp, X)
    assert check_vjp(scale.__call__, scale.vjp, X).function == "__call__"


def test_advice_on_a_vjp_is_not_that_on_a_rule():
    """A vjp has no cotangent of the function itself."""
    told = str(check_vjp(weighted, weighted, X, W))
    assert "do: return a pair: the value, and a function from its cotangent to those of the arguments" in told
    told = str(check_vjp(weighted, lambda x, w: (weighted(x, w), lambda y_bar: (w * y_bar,)), X, W))
    assert "do: return one cotangent for each argument" in told and "NoTangent" not in told


@pytest.mark.parametrize(
    ("given", "words"), [((3, weighted), "the function is an int"), ((weighted, X), "ndarray")]
)
def test_what_cannot_be_called_is_refused(given, words):
    """In words, not by an error of ours from within."""
    with pytest.raises(rl.RuleLabError, match=f"{words}, which cannot be called") as refused:
        check_vjp(*given, X, W)
    assert "do: write check_vjp(f, vjp, x, y)" in str(refused.value)


def test_an_option_that_does_not_exist_is_refused_by_the_name_that_was_called():
    """Not by that of a function within, and with the option that may have been meant."""
    said = r"check_vjp\(\) got an unexpected keyword argument 'depht'; did you mean depth\?"
    with pytest.raises(TypeError, match=said):
        check_vjp(weighted, weighted, X, W, depht="quick")
