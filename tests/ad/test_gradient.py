"""What `gradient`, `withgradient` and `grad` promise at the front door."""

import math
import operator
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import assert_close, finite_differences, flat  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import RuleLabError, ScalarOutputError  # noqa: E402

OFFSET = np.array([1.0, 2.0, 3.0])


def agrees(f, *args, wrt=(0,), tolerance=1e-8):
    """The gradient of `f`, once it has been compared with finite differences."""
    gradient = rl.gradient(f, *args)
    for i in wrt:
        numeric, _ = finite_differences(f, args, i)
        assert_close(flat(gradient[i], args[i]), numeric, tolerance, f"argument {i}")
    return gradient


# --- the examples of the reference ---


def test_product_of_three():
    """Each argument gets its own entry, in order."""
    assert rl.gradient(lambda a, b, c: a * b * c, 2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)


def test_sum_of_squared_moduli():
    """An array argument gets an array."""
    (g,) = rl.gradient(lambda x: np.sum(np.abs(x) ** 2), np.array([7.0, 11.0, 13.0]))
    assert g.tolist() == [14.0, 22.0, 26.0]


@pytest.mark.parametrize("x", [np.array([7.0, 11.0]), np.array([7, 11])])
@pytest.mark.parametrize("y", [0, 0.0])
def test_activity_decides_not_dtype(x, y):
    """Ints that are computed with get a float gradient; an int used as an axis gets None."""

    def f(x, y, d):
        p = x.shape[d]
        return np.sum(x**p + y)

    x_bar, y_bar, d_bar = rl.gradient(f, x, y, 0)
    assert x_bar.tolist() == [14.0, 22.0] and x_bar.dtype == float
    assert y_bar == 2.0 and isinstance(y_bar, float)
    assert d_bar is None


def test_withgradient_of_division():
    """The value and the gradient come together, by name or by position."""
    r = rl.withgradient(operator.truediv, 1.0, 2.0)
    assert r.val == 0.5 and r.grad == (0.5, -0.25)
    val, grad = r
    assert val == 0.5 and grad == (0.5, -0.25)
    assert r._fields == ("val", "grad")


def test_withgradient_of_a_lambda():
    """A lambda given in the call is found on its line."""
    assert rl.withgradient(lambda x, y: x / y, 1.0, 2.0) == (0.5, (0.5, -0.25))


@pytest.mark.parametrize(
    "f, x", [(math.sin, 0.3), (np.exp, 0.3), (abs, -2.0), (math.sqrt, 2.0), (np.sum, OFFSET)]
)
def test_functions_with_a_rule_directly(f, x):
    """A library function may be asked for without a wrapper."""
    agrees(f, x)


def test_bound_methods():
    """A method of an object is a function of its remaining arguments."""

    class Spring:
        def __init__(self, k):
            self.k = k

        def energy(self, x):
            return 0.5 * self.k * x * x

    assert rl.gradient(Spring(3.0).energy, 2.0) == (6.0,)
    assert rl.gradient(OFFSET.dot, np.array([1.0, 1.0, 1.0]))[0].tolist() == [1.0, 2.0, 3.0]


# --- None and zeros ---


def test_none_means_nothing_depends_on_it():
    """An argument that is not read gets None, never zeros."""
    assert rl.gradient(lambda x, y: x * x, 3.0, 4.0) == (6.0, None)
    assert rl.gradient(lambda x: 4.0, 3.0) == (None,)


@pytest.mark.parametrize(
    "f", [lambda x: 0.0 * x, lambda x: math.floor(x) * 1.0, lambda x: np.floor(x) + 0 * x]
)
def test_zero_derivative_gives_zero(f):
    """Dependence with derivative zero gives zero, not None."""
    assert rl.gradient(f, 2.5) == (0.0,)


def test_zero_derivative_of_arrays_gives_zeros():
    """Dependence with derivative zero gives an array of zeros."""
    (g,) = rl.gradient(lambda x: np.sum(np.floor(x)), OFFSET)
    assert isinstance(g, np.ndarray) and g.tolist() == [0.0, 0.0, 0.0]


def test_partly_read_array():
    """What was not read of an array is zero, not missing."""
    (g,) = rl.gradient(lambda x: x[1] * 2.0, OFFSET)
    assert g.tolist() == [0.0, 2.0, 0.0]


def test_structures():
    """Lists, tuples and dicts get a gradient of the same shape; None where nothing flowed."""
    (g,) = rl.gradient(lambda xs: xs[0] * xs[2], [2.0, 5.0, 7.0])
    assert list(g) == [7.0, None, 2.0]
    (g,) = rl.gradient(lambda p: p["w"] * 3.0, {"w": 2.0, "b": 1.0})
    assert g == {"w": 3.0, "b": None}
    (g,) = rl.gradient(lambda t: t[0] * t[1][0], (2.0, (3.0, 4.0)))
    assert g == (3.0, (2.0, None))


def test_strings_and_none_pass_through():
    """Arguments that are not numbers get None."""
    assert rl.gradient(
        lambda x, mode, extra: x * x if mode == "a" and extra is None else x, 3.0, "a", None
    ) == (
        6.0,
        None,
        None,
    )


# --- kinds of numbers ---


def test_int_gets_a_float():
    """An int argument gets a float gradient."""
    (g,) = rl.gradient(lambda x: 3 * x**2 + 2 * x + 1, 5)
    assert g == 32.0 and isinstance(g, float)


@pytest.mark.parametrize("flag", [True, False, np.True_])
def test_bool_never_gets_one(flag):
    """A bool gets None even where it is computed with."""
    g = rl.gradient(lambda x, b: x * b + x, 2.0, flag)
    assert g == (1.0 + bool(flag), None)


def test_bool_array_gets_none():
    """A mask gets None."""
    x_bar, mask_bar = rl.gradient(lambda x, m: np.sum(x * m), OFFSET, np.array([True, False, True]))
    assert x_bar.tolist() == [1.0, 0.0, 1.0] and mask_bar is None


def test_float32_stays_float32():
    """A float32 array gets a float32 gradient, also when the computation was wider."""
    (g,) = rl.gradient(lambda x: np.sum(x * OFFSET), np.ones(3, dtype=np.float32))
    assert g.dtype == np.float32 and g.tolist() == [1.0, 2.0, 3.0]


def test_float32_scalar():
    """The gradient of a float32 scalar is a float32 scalar, the value is the function's."""
    val, (g,) = rl.withgradient(lambda x: x * x, np.float32(1.5))
    assert type(val) is np.float32 and val == np.float32(2.25)
    assert g == 3.0


def test_zero_dimensional_array():
    """A 0-d array gets a 0-d array."""
    (g,) = rl.gradient(lambda x: x * x * 2.0, np.array(1.5))
    assert np.shape(g) == () and float(g) == 6.0


def test_one_element_shapes_are_kept():
    """Shapes (1,) and (1, 1) come back as they went in."""
    for shape in [(1,), (1, 1), (3, 1), (1, 3)]:
        (g,) = rl.gradient(lambda x: (x * x).sum(), np.ones(shape))
        assert g.shape == shape and np.all(g == 2.0)


def test_empty_array():
    """An empty array gets an empty array of its shape."""
    (g,) = rl.gradient(lambda x: np.sum(x * x), np.zeros((0, 3)))
    assert g.shape == (0, 3)


def test_complex_argument_of_a_real_function():
    """The gradient of a real function of a complex z is df/dRe + i df/dIm."""
    (g,) = rl.gradient(lambda z: abs(z) ** 2, 3.0 + 4.0j)
    assert g == pytest.approx(6.0 + 8.0j)


def test_real_argument_gets_a_real_gradient():
    """A real argument gets a real gradient although the computation went through complex numbers."""
    (g,) = rl.gradient(lambda x: ((x + 2.0j) * (x + 2.0j)).real, 3.0)
    assert g == pytest.approx(6.0) and not isinstance(g, complex)


# --- sharing ---


def test_same_array_twice():
    """One array passed twice gets one cotangent per position."""
    x = np.array([1.0, 2.0])
    a, b = rl.gradient(lambda p, q: np.sum(p * q * q), x, x)
    assert a.tolist() == [1.0, 4.0] and b.tolist() == [2.0, 8.0]
    assert not np.shares_memory(a, b)


def test_same_array_twice_in_a_list():
    """One array twice in a list gets one cotangent per place."""
    x = np.array([1.0, 2.0])
    (g,) = rl.gradient(lambda xs: np.sum(xs[0] * xs[1] * xs[1]), [x, x])
    assert g[0].tolist() == [1.0, 4.0] and g[1].tolist() == [2.0, 8.0]


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.sum(x + y),
        lambda x, y: np.sum(x) + np.sum(y),
        lambda x, y: np.sum(x.reshape(-1) - y[::1]),
        lambda x, y: (x @ OFFSET) + (y @ OFFSET),
    ],
)
def test_results_are_writable_and_fresh(f):
    """Results share memory with nothing: not with each other, the arguments or what the function captured."""
    x, y = np.ones(3), np.full(3, 2.0)
    before = OFFSET.copy()
    a, b = rl.gradient(f, x, y)
    kept = b.copy()
    a += 100.0
    assert np.array_equal(b, kept)
    b *= 7.0
    assert np.all(x == 1.0) and np.all(y == 2.0) and np.array_equal(OFFSET, before)


def test_caller_may_edit_the_gradient():
    """Editing a returned gradient changes nothing of the next one."""

    def f(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * OFFSET[i]
        return s + np.sum(x)

    x = np.ones(3)
    (first,) = rl.gradient(f, x)
    kept = first.copy()
    first[:] = -1.0
    (second,) = rl.gradient(f, x)
    assert np.array_equal(second, kept) and second is not first


def test_arguments_are_not_written():
    """The arguments are the caller's."""
    x = np.arange(4.0)
    rl.gradient(lambda v: np.sum(np.cumsum(v[::-1]) ** 2), x)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


# --- constants ---


def test_closures_and_globals_are_constants():
    """Captured arrays are constants, and what they hold now counts."""
    w = np.array([1.0, 2.0, 3.0])

    def f(x):
        return np.sum(w * x) + np.sum(OFFSET * x)

    assert rl.gradient(f, np.ones(3))[0].tolist() == [2.0, 4.0, 6.0]
    w[0] = 10.0
    assert rl.gradient(f, np.ones(3))[0].tolist() == [11.0, 4.0, 6.0]


def test_keyword_arguments_are_constants():
    """Keyword arguments are passed on and get no entry."""

    def f(x, *, k, shift=1.0):
        return k * x * x + shift * x

    assert rl.gradient(f, 2.0, k=3.0) == (13.0,)
    assert rl.gradient(f, 2.0, k=3.0, shift=-1.0) == (11.0,)
    assert rl.withgradient(f, 2.0, k=3.0).val == 14.0


def test_defaults_have_no_entry():
    """There is one entry per argument given, not per parameter."""

    def f(x, a=3.0):
        return a * x

    assert rl.gradient(f, 2.0) == (3.0,)
    assert rl.gradient(f, 2.0, 5.0) == (5.0, 2.0)


def test_no_arguments():
    """Nothing asked, nothing answered."""
    assert rl.gradient(lambda: 3.0) == ()


# --- grad and argnums ---


def cubic(x, y, z):
    return x * y**2 * z**3


def test_argnums_of_gradient():
    """`argnums` picks entries; the result is still a tuple, in the order asked."""
    whole = rl.gradient(cubic, 2.0, 3.0, 1.5)
    picked = rl.gradient(cubic, 2.0, 3.0, 1.5, argnums=(2, 0))
    assert picked == (whole[2], whole[0])


def test_grad_is_a_function():
    """`grad(f)` is the derivative in the first argument; with a tuple it is a tuple."""
    whole = rl.gradient(cubic, 2.0, 3.0, 1.5)
    assert rl.grad(cubic)(2.0, 3.0, 1.5) == whole[0]
    assert rl.grad(cubic, argnums=2)(2.0, 3.0, 1.5) == whole[2]
    assert rl.grad(cubic, argnums=(0, 1))(2.0, 3.0, 1.5) == whole[:2]
    assert rl.grad(cubic, 1)(2.0, 3.0, 1.5) == whole[1]


def test_argnums_out_of_range():
    """A position that does not exist is an error that says how many there are."""
    with pytest.raises(RuleLabError, match="argnums=7, but the call has 3 positional arguments"):
        rl.grad(cubic, argnums=7)(2.0, 3.0, 1.5)


@pytest.mark.parametrize("argnums", [1.0, "x", [0, None], np.array([1]), {0}])
def test_argnums_that_are_no_whole_numbers(argnums):
    """They are refused by what they are, at the first call and later, and inside of a derivative."""
    words = "argnums must be a whole number or a tuple of whole numbers"

    def inner(x):
        return rl.grad(cubic, argnums)(x, 3.0, 1.5)

    for ask in (lambda: rl.grad(cubic, argnums)(2.0, 3.0, 1.5), lambda: rl.gradient(inner, 2.0)):
        for _ in range(3):
            with pytest.raises(RuleLabError, match=words):
                ask()


def test_argnums_none_is_all():
    """As a tuple, in a derivative, too."""
    whole = rl.gradient(cubic, 2.0, 3.0, 1.5)
    assert rl.grad(cubic, None)(2.0, 3.0, 1.5) == whole == rl.gradient(cubic, 2.0, 3.0, 1.5, argnums=None)
    inner = rl.gradient(lambda x: rl.grad(cubic, None)(x, 3.0, 1.5)[2], 2.0)
    assert inner == rl.gradient(lambda x: rl.grad(cubic, 2)(x, 3.0, 1.5), 2.0)


def test_argnums_of_numpy():
    """A whole number of NumPy is one, however often it is asked, in a derivative and in a Jacobian."""
    whole = rl.gradient(cubic, 2.0, 3.0, 1.5)
    for number in (np.int64(1), np.array(1)):
        for _ in range(3):
            assert rl.gradient(cubic, 2.0, 3.0, 1.5, argnums=number) == whole[1:2]
            assert rl.grad(cubic, number)(2.0, 3.0, 1.5) == whole[1]
        second = rl.gradient(lambda y: rl.grad(cubic, number)(2.0, y, 1.5), 3.0)
        assert second == rl.gradient(lambda y: rl.grad(cubic, 1)(2.0, y, 1.5), 3.0)
        by_first = rl.jacobian(cubic, 2.0, 3.0, 1.5, argnums=1)
        assert rl.jacobian(cubic, 2.0, 3.0, 1.5, argnums=number) == by_first


# --- outputs that are not real scalars ---


def returns_array(x):
    return x * 2.0


def returns_complex(x):
    return x * 1j


def returns_nothing(x):
    x * x


def returns_none_early(x):
    if x > 0:
        return None
    return x


def returns_string(x):
    return "seven"


def returns_list(x):
    return [x, x]


@pytest.mark.parametrize(
    "f, x, words",
    [
        (returns_array, OFFSET, "array"),
        (returns_array, np.ones((2, 2)), "array"),
        (returns_complex, 2.0, "complex"),
        (returns_nothing, 2.0, "Output is None, so"),
        (returns_none_early, 2.0, "Output is None, so"),
        (returns_string, 2.0, "Output is a str, so"),
        (returns_list, 2.0, "Output is a list, so"),
    ],
)
def test_output_must_be_a_real_scalar(f, x, words):
    """Another output is refused by kind, and the message names the function."""
    with pytest.raises(ScalarOutputError) as caught:
        rl.gradient(f, x)
    text = str(caught.value)
    assert words in text and f.__name__ in text
    assert len(text.splitlines()) <= 6


def test_array_output_line():
    """The message points at the line that returned."""
    with pytest.raises(ScalarOutputError) as caught:
        rl.gradient(returns_array, OFFSET)
    text = str(caught.value)
    assert "return x * 2.0" in text
    assert str(returns_array.__code__.co_firstlineno + 1) in text


def returns_pair(x):
    if x > 10.0:
        return x, x

    def doubled(a):
        return 2.0 * a

    return doubled(x), x


def test_the_line_that_returned_is_none_of_a_function_within():
    """The last return of the function itself, however many functions it contains."""
    with pytest.raises(ScalarOutputError) as caught:
        rl.gradient(returns_pair, 1.0)
    assert "return doubled(x), x" in str(caught.value)


def test_one_element_array_is_not_a_scalar():
    """An array of one element is an array; a 0-d one is a scalar."""
    with pytest.raises(ScalarOutputError):
        rl.gradient(lambda x: x * 2.0, np.ones(1))
    assert float(rl.gradient(lambda x: x * 2.0, np.array(1.0))[0]) == 2.0


def test_auxiliary_output():
    """A function that returns (loss, aux...) is differentiated in the loss; the rest is carried."""
    r = rl.withgradient(lambda x: (x * x, x + 1.0, "note"), 3.0)
    assert r.val == (9.0, 4.0, "note") and r.grad == (6.0,)


# --- errors of the user's own ---


def test_the_functions_own_error_passes_through():
    """An error of the function is the function's, not ours."""

    def f(x):
        return [x][3]

    with pytest.raises(IndexError):
        rl.gradient(f, 2.0)
    with pytest.raises(ZeroDivisionError):
        rl.gradient(lambda x: x / 0.0, 1.0)
    with pytest.raises(ValueError, match="math domain|expected a"):
        rl.gradient(lambda x: math.sqrt(x), -1.0)


@pytest.mark.parametrize("args", [(), (1.0, 2.0)])
def test_wrong_number_of_arguments(args):
    """Too few or too many arguments are the TypeError that Python gives."""
    with pytest.raises(TypeError):
        rl.gradient(lambda x: x * x, *args)


def test_not_a_function():
    """What cannot be called is refused."""
    with pytest.raises((TypeError, RuleLabError)):
        rl.gradient(3.0, 2.0)


# --- nesting and marks ---


def test_ignore_derivatives_of_a_value():
    """A value marked so is a constant for the derivative."""
    assert rl.gradient(lambda x: x * rl.ignore_derivatives(x), 3.0) == (3.0,)


def test_ignore_derivatives_of_a_function():
    """A function marked so is called as it is, and its result is a constant."""
    assert rl.gradient(lambda x: x + rl.ignore_derivatives(lambda: np.floor(x) ** 2), 3.5) == (1.0,)


def test_everything_ignored():
    """Where all is ignored the gradient is zero or None, never a number."""
    (g,) = rl.gradient(lambda x: rl.ignore_derivatives(x) * 2.0, 3.0)
    assert g is None or g == 0.0


def test_gradient_inside_a_function():
    """A gradient inside a function is right or refused: x * d(x + y)/dy has derivative 1."""
    try:
        (g,) = rl.gradient(lambda x: x * rl.gradient(lambda y: x + y, x)[0], 2.0)
    except RuleLabError:
        return
    assert g == 1.0


def test_a_keyword_that_is_ours_and_the_functions_is_refused():
    """Whose `argnums` it is cannot be told, and f must not be called without its own."""

    def f(x, argnums=1.0, cache=2.0):
        return x * argnums * cache

    for ask in (rl.gradient, rl.withgradient):
        with pytest.raises(rl.KeywordError, match="argnums= is a keyword of"):
            ask(f, 2.0, argnums=0)
    for ask in (rl.gradient, rl.pullback):
        with pytest.raises(rl.KeywordError, match="cache= is a keyword of"):
            ask(f, 2.0, cache=3.0)
    assert rl.gradient(f, 2.0, 3.0, 1.0)[0] == 3.0
    assert rl.gradient(lambda x: f(x, argnums=5.0), 2.0) == (10.0,)


@pytest.mark.parametrize("argnums", [0, 1, -1, (0, 1), (2, 0), (1, 1), ()])
def test_argnums_by_what_is_remembered(argnums):
    """The second and third gradient in some arguments go another way than the first, to the same numbers;
    what was asked of other arguments before is no answer.
    """

    def f(x, y, n):
        return np.sum(x * y) * n

    x, y = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    whole = (y * 2.0, x * 2.0, float(x @ y))
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    rl.gradient(f, x, y, 2.0)
    for _ in range(3):
        found = rl.gradient(f, x, y, 2.0, argnums=argnums)
        assert len(found) == len(numbers)
        assert all(np.array_equal(a, whole[number]) for a, number in zip(found, numbers))
    assert all(map(np.array_equal, rl.gradient(f, x, y, 2.0), whole))
