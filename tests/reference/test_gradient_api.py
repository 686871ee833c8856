"""The examples of the reference on gradients, with the numbers that it prints.

Translated: a first index is 0, a dimension 1 is the axis 0, and matrices are flattened row by row, so the
columns of a Jacobian by a matrix stand in another order than printed. A `do` block is a function here.
"""

import math
import operator

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.registry import DEFAULT


class TestImplicitStyle:
    """A function without arguments, differentiated by the arrays that it reaches."""

    def test_gradient_by_params(self):
        """One entry for each parameter, by identity; what is no parameter has none."""
        x, y, z = np.array([[1, 2, 3], [4, 5, 6]]), np.array([7, 8]), np.array([1, 10, 100])
        g = rl.gradient(lambda: np.sum(x * y[:, None] * z), rl.Params([x, y]))
        np.testing.assert_array_equal(g[x], [[7.0, 70.0, 700.0], [8.0, 80.0, 800.0]])
        np.testing.assert_array_equal(g[y], [321.0, 654.0])
        assert x in g and y in g and z not in g

    def test_withgradient_by_params(self):
        """The value beside it."""
        x = np.array([1.0, 2.0])
        found = rl.withgradient(lambda: np.sum(x * x), rl.Params([x]))
        assert found.val == 5.0
        np.testing.assert_array_equal(found.grad[x], [2.0, 4.0])

    def test_jacobian_by_params(self):
        """A matrix for each parameter; by the matrix, its entries row by row."""
        xs, ys = np.array([[1, 2], [3, 4]]), np.array([5, 7, 9])
        found = rl.jacobian(lambda: ys[:2] + np.sum(xs**2), rl.Params([xs, ys]))
        np.testing.assert_array_equal(found[ys], [[1, 0, 0], [0, 1, 0]])
        np.testing.assert_array_equal(found[xs], [[2, 4, 6, 8], [2, 4, 6, 8]])  # printed: 2 6 4 8


class TestExplicitStyle:
    """A function and its arguments."""

    def test_three_numbers(self):
        """`gradient(*, 2.0, 3.0, 5.0)`"""
        assert rl.gradient(lambda a, b, c: a * b * c, 2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)

    def test_an_array(self):
        """`sum(abs2, x)`"""
        (found,) = rl.gradient(lambda x: np.sum(np.abs(x) ** 2), np.array([7.0, 11.0, 13.0]))
        np.testing.assert_array_equal(found, [14.0, 22.0, 26.0])

    def test_an_array_of_ints_and_an_axis(self):
        """Ints that are computed with have a derivative in floats, one that is an axis has None."""

        def f(x, y, d):
            p = x.shape[d]
            return np.sum(x**p + y)

        of_x, of_y, of_d = rl.gradient(f, np.array([7, 11]), 0, 0)
        np.testing.assert_array_equal(of_x, [14.0, 22.0])
        assert of_x.dtype == float and (of_y, of_d) == (2.0, None)

    def test_value_and_gradient(self):
        """A named tuple, whose second part is what `gradient` gives."""
        y, found = pair = rl.withgradient(operator.truediv, 1, 2)
        assert (y, found) == (0.5, (0.5, -0.25))
        assert (pair.val, pair.grad) == (y, found)
        assert found == rl.gradient(operator.truediv, 1, 2)

    def test_gradient_understands_a_tuple(self):
        """Where a Jacobian gives nothing."""
        of_a, of_t = rl.gradient(lambda a, t: np.sum(a * t[0]) + t[1], np.array([1, 2, 3]), (4, 5))
        np.testing.assert_array_equal(of_a, [4.0, 4.0, 4.0])
        assert of_t == (6.0, 1.0)

    def test_an_array_as_result_has_no_gradient(self):
        """`f(args...)` must be a real number."""
        with pytest.raises(rl.ScalarOutputError, match="Output is an array"):
            rl.gradient(lambda a: 100 * a[:3] ** 2, np.arange(1, 8))


class TestJacobian:
    """`J[k, i] = ∂y[k]/∂a[i]`."""

    def test_the_first_index_is_the_output(self):
        """Three results of seven numbers."""
        (found,) = rl.jacobian(lambda a: 100 * a[:3] ** 2, np.arange(1, 8))
        wanted = np.zeros((3, 7))
        wanted[0, 0], wanted[1, 1], wanted[2, 2] = 200, 400, 600
        np.testing.assert_array_equal(found, wanted)

    def test_a_number_as_argument_has_a_vector(self):
        """Beside the matrix of the array."""
        of_a, of_x = rl.jacobian(lambda a, x: a**2 * x, np.array([1, 2, 3]), 1)
        np.testing.assert_array_equal(of_a, np.diag([2, 4, 6]))
        np.testing.assert_array_equal(of_x, [1, 4, 9])

    def test_an_axis_has_zeros(self):
        """A number on which nothing depends; the matrix goes row by row."""
        of_a, of_d = rl.jacobian(lambda a, d: np.prod(a, axis=d), np.array([[1, 2], [3, 4], [5, 6]]), 1)
        np.testing.assert_array_equal(
            of_a, [[2, 1, 0, 0, 0, 0], [0, 0, 4, 3, 0, 0], [0, 0, 0, 0, 6, 5]]
        )  # printed with the columns 1, 3, 5, 2, 4, 6
        np.testing.assert_array_equal(of_d, [0, 0, 0])

    def test_text_has_none(self):
        """For arguments of any type but numbers and arrays the result is nothing."""
        of_a, of_s = rl.jacobian(lambda a, s: a ** len(s), np.array([1, 2, 3]), "str")
        np.testing.assert_array_equal(of_a, np.diag([3, 12, 27]))
        assert of_s is None

    def test_a_tuple_has_none_and_a_number_as_result_one_row(self):
        """Even where `gradient` works."""
        of_a, of_t = rl.jacobian(lambda a, t: np.sum(a * t[0]) + t[1], np.array([1, 2, 3]), (4, 5))
        np.testing.assert_array_equal(of_a, [[4, 4, 4]])
        assert of_t is None

    def test_value_and_jacobian(self):
        """`withjacobian`"""
        found = rl.withjacobian(lambda a: a**2, np.array([1.0, 2.0]))
        np.testing.assert_array_equal(found.val, [1.0, 4.0])
        np.testing.assert_array_equal(found.grad[0], np.diag([2.0, 4.0]))


class TestLeavingOut:
    """`ignore_derivatives` and `@non_differentiable`."""

    def test_a_block_that_keeps_a_record(self):
        """It runs, and has no part in the gradient."""
        collection = []

        def f(x):
            rl.ignore_derivatives(lambda: collection.append(x))
            return x * x

        assert rl.gradient(f, 3.0) == (6.0,)
        assert 3.0 in collection

    def test_wrong_use_loses_the_gradient_or_is_refused(self):
        """What depends on x goes into a list out of sight: never the right-looking wrong number."""

        def wrong_grads(x):
            y = [1.0, 1.0, 1.0]
            rl.ignore_derivatives(lambda: y.append(x))
            return sum(y)

        with pytest.raises(rl.MutationError):
            rl.gradient(wrong_grads, 2.0)

    def test_an_argument_left_out(self):
        """`ignore_derivatives(x) * w`"""
        assert rl.gradient(lambda x, w: rl.ignore_derivatives(x) * w, 2.0, 3.0) == (None, 2.0)

    def test_equality_has_no_derivative(self):
        """`rrule(==, 2.0, 3.0)`"""
        y, pullback = rl.rrule(operator.eq, 2.0, 3.0)
        assert y is False and pullback(1.0) == (rl.NoTangent(),) * 3

    def test_length_has_no_derivative(self):
        """`frule((ZeroTangent(), 1), length, [2.0, 3.0])`, for types of one's choice."""

        def length(xs):
            return len(xs)

        rl.non_differentiable(length, types=(list | np.ndarray,))
        y, y_dot = rl.frule((rl.ZeroTangent(), [1.0, 1.0]), length, [2.0, 3.0])
        assert y == 2 and y_dot is rl.NoTangent()
        assert rl.frule((rl.ZeroTangent(), 1), length, "text") is None


class TestRules:
    """`rrule` as a question."""

    def test_one_number(self):
        """The sine and its pullback."""
        x = 0.37
        y, sin_pullback = rl.rrule(math.sin, x)
        assert y == math.sin(x) and sin_pullback(1) == (rl.NoTangent(), math.cos(x))

    def test_two_numbers(self):
        """The hypotenuse."""
        x, y = 0.37, 0.81
        h, hypot_pullback = rl.rrule(math.hypot, x, y)
        assert h == math.hypot(x, y)
        none, x_bar, y_bar = hypot_pullback(1)
        assert none is rl.NoTangent() and (x_bar, y_bar) == pytest.approx((x / h, y / h))

    def test_no_rule(self):
        """Nothing is what one gets where no rule matches."""
        assert rl.rrule(lambda x: x, 1.0) is None

    def test_a_rule_that_asks_for_more_than_there_is(self):
        """A rule for a system with reverse mode stands beside one that every system can use."""

        def g(x):
            return 2 * x

        @rl.rrule_for(g)
        def g_rrule(x):
            return 2 * x, lambda y_bar: (rl.NoTangent(), 2 * y_bar)

        assert rl.rrule(g, 3.0)[1](1.0) == (rl.NoTangent(), 2.0)
        assert DEFAULT.entry(g) is not None
