"""The limits that the reference states, each with its message, or its derivative where it is no limit here.

`x .= v` is `x[:] = v` here, `push!` is `append`, and a C function is called by ctypes.
"""

import ctypes
import ctypes.util
import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import rulelab as rl

Y = np.array([1.0, 2.0, 3.0])


def doubled_in_place(x):
    x[:] = 2 * x
    return x


def g_inner(x, y):
    for i in range(len(y)):
        x[i] = 2 * y[i]
    return x


def g_outer(y):
    z = np.empty_like(y)
    g_inner(z, y)
    return z


class TestArrayMutation:
    """Refused at the write, before it, with a way out."""

    def test_writing_to_the_argument(self):
        """The words of the reference, the line, and the array as it was."""
        x = Y.copy()
        with pytest.raises(rl.MutationError) as caught:
            rl.gradient(lambda x: np.sum(doubled_in_place(x)), x)
        error = caught.value
        assert str(error).startswith(
            "Mutating arrays is not supported -- called ndarray.__setitem__(float64[3])"
        )
        assert error.place.function == "doubled_in_place" and error.place.text.strip() == "x[:] = 2 * x"
        assert error.fixes[0] == "write it without mutation"
        np.testing.assert_array_equal(x, Y)

    def test_a_write_inside_of_a_function_that_only_allocates(self):
        """`g_outer` leaves its argument alone and is refused all the same; the chain of calls is told."""
        with pytest.raises(rl.MutationError) as caught:
            rl.gradient(lambda y: np.sum(g_outer(y)), Y)
        assert caught.value.place.function == "g_inner"
        assert [spot.function for spot in caught.value.chain][-1] == "g_outer"

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: np.matmul(np.eye(3), x, out=np.empty(3)).sum(),
            lambda x: (x.sort(), x.sum())[1],
            lambda x: (np.copyto(x, 2 * x), x.sum())[1],
        ],
    )
    def test_calling_a_mutating_function(self, f):
        """As `mul!`."""
        with pytest.raises(rl.MutationError):
            rl.gradient(f, Y.copy())

    def test_appending_and_popping_is_no_limit_for_lists(self):
        """`push!` and `pop!` are refused there; a Python list is not an array."""

        def f(x):
            items = [x]
            items.append(x * x)
            return items.pop() * items[0]

        assert rl.gradient(f, 2.0) == (12.0,)

    @pytest.mark.parametrize("better", [lambda y: 2 * y, lambda y: np.array([2 * v for v in y])])
    def test_written_without_mutation(self, better):
        """The first way out: an expression, or a comprehension."""
        np.testing.assert_array_equal(rl.gradient(lambda y: np.sum(better(y)), Y)[0], [2.0, 2.0, 2.0])

    def test_a_rule(self):
        """The second way out: what one knows about the function."""

        def g(y):
            return g_outer(y)

        @rl.rrule_for(g)
        def g_rrule(y):
            return g(y), lambda z_bar: (rl.NoTangent(), 2 * z_bar)

        np.testing.assert_array_equal(rl.gradient(lambda y: np.sum(g(y) ** 2), Y)[0], 8 * Y)

    def test_forward_mode_for_a_part(self):
        """The third: the same value, and its derivative by forward mode, in which writing is no limit."""
        y, back = rl.pullback(lambda y: np.sum(rl.forwarddiff(g_outer, y) ** 2), Y)
        assert y == np.sum(4 * Y**2)
        np.testing.assert_allclose(back(1.0)[0], 8 * Y)

    def test_a_buffer(self):
        """The pattern of allocating and then writing."""

        def g(y):
            z = rl.Buffer(y)
            for i in range(len(y)):
                z[i] = 2 * y[i]
            return np.sum(z.copy() ** 2)

        np.testing.assert_allclose(rl.gradient(g, Y)[0], 8 * Y)


def safe_sqrt(x):
    try:
        return _positive_root(x)
    except ValueError:
        return 0.0


def _positive_root(x):
    if x < 0:
        raise ValueError("out of domain")
    return x**0.5


class TestTryAndExcept:
    """Differentiated as long as nothing is thrown."""

    def test_nothing_is_thrown(self):
        """`gradient(safe_sqrt, 4.)`"""
        assert rl.gradient(safe_sqrt, 4.0) == (0.25,)

    def test_something_is(self):
        """The value is returned; back names file and line of the handler."""
        value, back = rl.pullback(safe_sqrt, -1.0)
        assert value == 0.0
        with pytest.raises(rl.CatchBlockError) as caught:
            back(1.0)
        line = safe_sqrt.__code__.co_firstlineno + 3
        assert "Can't differentiate code that ran in an except block at" in str(caught.value)
        assert f"test_limitations_of_zygote.py, line {line}" in str(caught.value).splitlines()[0]
        assert "sentinel value" in caught.value.fixes[0]

    def test_a_sentinel_value_instead(self):
        """What the reference advises."""

        def tested(x):
            return None if x < 0 else x**0.5

        assert rl.gradient(lambda x: 0.0 if tested(x) is None else tested(x), 4.0) == (0.25,)


libm = ctypes.CDLL(ctypes.util.find_library("m"))
libm.cos.restype, libm.cos.argtypes = ctypes.c_double, (ctypes.c_double,)


def c_cosine(x):
    return libm.cos(x) * 2


class TestForeignCalls:
    """C code cannot be looked into."""

    def test_it_is_refused(self):
        """The words, the line, and the ways out in order of preference."""
        with pytest.raises(rl.ForeignCallError) as caught:
            rl.gradient(c_cosine, 0.5)
        assert str(caught.value).startswith("Can't differentiate foreign call expression")
        assert caught.value.place.function == "c_cosine"
        assert "write a rule" in caught.value.fixes[0] and caught.value.read == "limitations#foreign-calls"

    def test_a_call_without_the_argument_is_a_constant(self):
        """`clock() * x` asks nothing of the C function: it is a factor."""
        libc = ctypes.CDLL(None)
        libc.labs.restype, libc.labs.argtypes = ctypes.c_long, (ctypes.c_long,)
        assert rl.gradient(lambda x: libc.labs(-3) * x, 2.0) == (3.0,)

    def test_a_rule_is_the_way_out(self):
        """As the reference writes one for `jclock`: the function is linear, so at 1 its slope is y."""
        ticks = ctypes.CDLL(None).labs

        def jclock(x):
            return ticks(-3) * x

        @rl.rrule_for(jclock)
        def jclock_rrule(x):
            y = jclock(x)

            def jclock_pullback(y_bar):
                return rl.NoTangent(), y_bar * y

            return y, jclock_pullback

        assert rl.gradient(jclock, 1.0) == (3.0,)
        assert rl.gradient(lambda x: 10 * jclock(x), 1.0) == (30.0,)


@dataclass
class X:
    a: float
    b: float


def mysum(x, n):
    tot = 0.0
    for _ in range(n):
        tot += x**n
    return tot


class TestKnownIssues:
    """What the reference warns of."""

    def test_a_field_of_a_mutable_struct(self):
        """On an object that the function made, and on its argument."""

        def f(v):
            x = X(v, 2.0)
            x.a = x.a * x.b
            return x.a * x.a

        def g(x):
            x.a = x.a * x.b
            return x.a * x.a

        assert rl.gradient(f, 3.0) == (24.0,)
        x = X(3.0, 2.0)
        (found,) = rl.gradient(g, x)
        assert (found.a, found.b) == (24.0, 36.0) and x.a == 6.0

    def test_a_new_object_instead(self):
        """The simple solution, without side effects on other copies."""

        def f(x):
            other = dataclasses.replace(x, a=x.a * x.b)
            return other.a * x.a

        x = X(3.0, 2.0)
        (found,) = rl.gradient(f, x)
        assert (found.a, found.b) == (12.0, 9.0) and x == X(3.0, 2.0)

    def test_a_name_that_is_used_again(self):
        """Accumulated in a loop."""
        assert rl.gradient(mysum, 2.0, n=3) == (36.0,)

    def test_a_name_whose_type_changes(self):
        """An int, a float, an array."""

        def f(x):
            tot = 0
            for k in range(3):
                tot += x * k
            tot = tot * np.ones(2)
            return np.sum(tot)

        assert rl.gradient(f, 2.0) == (6.0,)

    def test_a_name_that_a_closure_binds_again(self):
        """Boxed there; a cell here."""

        def f(x):
            tot = 0.0

            def add():
                nonlocal tot
                tot += x * x

            add()
            add()
            return tot

        assert rl.gradient(f, 3.0) == (12.0,)


def slope_of_cube(x):
    return rl.gradient(lambda v: v**3, x)[0]


class TestSecondDerivatives:
    """In principle supported there, with problems."""

    def test_the_derivative_of_a_derivative(self):
        """Reverse over reverse as the author sees it."""
        assert rl.gradient(slope_of_cube, 2.0)[0] == pytest.approx(12.0)

    def test_a_hessian_mixes_the_modes(self):
        """Forward over reverse, as the reference advises."""
        x = np.array([1.0, 2.0])
        np.testing.assert_allclose(rl.hessian(lambda v: v[0] ** 3 * v[1], x), [[12.0, 3.0], [3.0, 0.0]])
        np.testing.assert_allclose(
            rl.hessian_reverse(lambda v: v[0] ** 3 * v[1], x), [[12.0, 3.0], [3.0, 0.0]]
        )

    def test_a_rule_whose_pullback_mutates_stands_in_the_way(self):
        """Its first derivative is right; the second is refused with the line of the rule."""

        def squares(x):
            return np.sum(x * x)

        @rl.rrule_for(squares)
        def squares_rrule(x):
            def squares_pullback(y_bar):
                x_bar = np.empty_like(x)
                x_bar[:] = 2 * x * y_bar
                return rl.NoTangent(), x_bar

            return np.sum(x * x), squares_pullback

        np.testing.assert_array_equal(rl.gradient(squares, Y)[0], 2 * Y)
        with pytest.raises(rl.RuleLabError) as caught:
            rl.gradient(lambda x: np.sum(rl.gradient(squares, x)[0]), Y)
        assert "squares_pullback" in str(caught.value)
