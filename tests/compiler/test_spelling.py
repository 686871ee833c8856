"""Text made from values that vary."""

import numpy as np
import pytest

import rulelab as rl


def parse(text):
    return float(text)


def through_an_f_string(x):
    return float(f"{x}") * 2.0


def through_str(x):
    return float(str(x * x))


def through_format(x):
    text = "{:.17g}".format(x)
    return x + float(text.strip())


def through_a_helper(x):
    return parse(repr(x))


def through_a_branch(x):
    text = "1.0"
    if x > 0:
        text = f"{x}"
    return float(text)


def shown_only(x):
    print(f"x is {x:.1f}")
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x * 2.0


def counted(x):
    return x * len(f"{x:.3f}")


def of_constants(x, unit="2.5"):
    return x * float(f"{unit}0")


@pytest.mark.parametrize(
    "f", [through_an_f_string, through_str, through_format, through_a_helper, through_a_branch]
)
def test_a_number_read_back_from_text_is_refused(f):
    """A gradient is never lost on the way through a text: the function is refused before it runs."""
    with pytest.raises(rl.NotDifferentiableError, match="written as text") as caught:
        rl.gradient(f, 3.0)
    assert caught.value.place.function == f.__name__
    assert len(str(caught.value).splitlines()) <= 6


@pytest.mark.parametrize(("f", "slope"), [(shown_only, 2.0), (counted, 5.0), (of_constants, 2.5)])
def test_text_that_is_only_text_is_fine(f, slope):
    """Printing, raising and measuring text, and reading constant text, do not stand in the way."""
    assert rl.gradient(f, 3.0) == (slope,)


def test_a_function_may_capture_what_may_not_be_there():
    """A nested function with a variable that has a value on some paths only works where it has, and misses it
    in Python's words where it has not.
    """

    def f(x):
        if x > 10:
            a = x

        def g():
            return a * x

        return g() if x > 5 else x

    assert rl.gradient(f, 3.0) == (1.0,) and rl.gradient(f, 11.0) == (22.0,)
    with pytest.raises(NameError, match="free variable 'a'"):
        rl.gradient(f, 7.0)



def test_objects_with_slots_are_structs():
    """An object that keeps its numbers in slots gets a gradient by field."""

    class Pair:
        __slots__ = ("a", "b")

    pair = Pair()
    pair.a, pair.b = 2.0, 3.0
    (g,) = rl.gradient(lambda p: p.a * p.b, pair)
    assert (g.a, g.b) == (3.0, 2.0)


def test_a_cotangent_for_a_function_that_holds_nothing():
    """A pullback that returns its cotangents in the wrong order is told so."""

    def square(x):
        return x**2

    @rl.rrule_for(square)
    def square_rrule(x):
        def square_pullback(y_bar):
            return 2 * x * y_bar, rl.NoTangent()

        return x**2, square_pullback

    for f in (square, lambda x: square(x) + 1.0):
        with pytest.raises(rl.RuleError, match="itself, which holds no numbers"):
            rl.gradient(f, 3.0)


def test_bytes_may_not_be_swapped_in_place():
    """`byteswap` can write to its array, so it counts as a write."""

    def f(x):
        w = np.ones(3)
        y = np.sum(x * w)
        w.byteswap(True)
        return y

    with pytest.raises(rl.MutationError, match="byteswap"):
        rl.gradient(f, np.ones(3))


def spelled(x):
    return f"{x:.3f}"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(spelled(x)),
        lambda x: sum(map(float, map(str, [x, 2 * x]))),
        lambda x: float([spelled(x)][0]) * x,
        lambda x: int(spelled(x)[0]) * x,
        lambda x: np.float64(spelled(x)),
    ],
)
def test_text_that_comes_from_elsewhere_is_not_read_as_a_number(f):
    """A number written by one function and read by another has lost its derivative: refused, never zero."""
    with pytest.raises(rl.NotDifferentiableError, match="written as text"):
        rl.gradient(f, 2.0)


def test_text_of_the_arguments_is_read_as_a_number():
    """What was text when it came in has nothing to lose."""
    assert rl.gradient(lambda x, s: float(s) * x, 2.0, "3.0") == (3.0, None)
