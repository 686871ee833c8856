"""The rules for products of vectors, matrices and tensors."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents, registry_of, rule_at

import rulelab as rl
from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.linalg_products import (
    TABLE,
    matmul_frule,
    matmul_left_bar,
    matmul_right_bar,
    matmul_rrule,
    trace_bar,
)
from rulelab.tangents.thunks import Thunk
from rulelab.tangents.zeros import NoTangent, ZeroTangent


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every rule is right at every one of its points, in both modes."""
    at_each(points, check)


def rrule(target, *args, **kwargs):
    return rule_at(registry_of(TABLE), target, args, "rrule").function(*args, **kwargs)


def test_matmul_does_not_compute_what_nobody_asks_for():
    """Both cotangents are delayed: the product for an operand without derivative is never formed."""
    _, pullback = matmul_rrule(np.ones((2, 3)), np.ones((3, 4)))
    own, a_bar, b_bar = pullback(np.ones((2, 4)))
    assert own is NoTangent() and isinstance(a_bar, Thunk) and isinstance(b_bar, Thunk)
    assert not a_bar.evaluated and not b_bar.evaluated


def test_a_real_operand_of_a_complex_product_gets_a_real_cotangent():
    """A real array never gets a complex gradient."""
    z = np.array([[1j, 2.0]])
    _, pullback = matmul_rrule(np.ones((2, 1)), z)
    _, a_bar, b_bar = pullback(np.ones((2, 2)) + 1j)
    assert a_bar.unthunk().dtype == float and b_bar.unthunk().dtype == complex


def test_the_pushforward_skips_zero_tangents():
    """A constant operand costs no product, and two constants give zeros."""
    a, b = np.ones((2, 3)), np.ones((3, 2))
    np.testing.assert_array_equal(matmul_frule((NoTangent(), ZeroTangent(), NoTangent()), a, b)[1], 0 * a @ b)
    np.testing.assert_array_equal(matmul_frule((NoTangent(), a, ZeroTangent()), a, b)[1], a @ b)


@pytest.mark.parametrize("call", [
    lambda: rrule(np.matmul, np.ones((2, 2)), np.ones((2, 2)), axes=[(0, 1), (0, 1), (0, 1)]),
    lambda: rrule(np.linalg.multi_dot, [np.ones((1, 2, 3)), np.ones((3, 2))]),
    lambda: rrule(np.trace, np.eye(2), dtype=int)])
def test_what_is_not_covered_is_refused(call):
    """A call the rules do not cover raises the typed error instead of giving a number."""
    with pytest.raises(NotDifferentiableError):
        call()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cross_products_in_the_plane_are_refused():
    """np.cross of two-component vectors, deprecated in NumPy, is refused with what to write instead."""
    _, pullback = rrule(np.cross, np.ones(3), np.ones(3))
    with pytest.raises((NotDifferentiableError, ValueError)):
        _, pullback = rrule(np.cross, np.ones(2), np.ones(2))
        cotangents(TABLE, np.cross, np.ones(2), np.ones(2))


def test_matrix_power_zero_is_constant():
    """The identity does not depend on the matrix."""
    np.testing.assert_array_equal(cotangents(TABLE, np.linalg.matrix_power, 2 * np.eye(2), 0)[0],
                                  np.zeros((2, 2)))


STACK = np.sin(np.arange(24.0)).reshape(2, 3, 4)


@pytest.mark.parametrize("b", [STACK[1], STACK[1, :2].T, STACK[:, :, 0], STACK[1, 0]])
@pytest.mark.parametrize("a", [STACK[0].T, STACK[0, ::-1].T, STACK[0].copy().T[:1], STACK, STACK[0, :, 0]])
def test_the_stated_cotangents_of_a_product_are_those_of_the_rule(a, b):
    """As emitted code and as the rule work them out: the same numbers, bit by bit."""
    try:
        y = a @ b
    except ValueError:
        return
    y_bar = np.cos(y)
    wanted = cotangents(TABLE, np.matmul, a, b, seed=y_bar)
    for x, found, other in zip((a, b), (matmul_left_bar, matmul_right_bar), wanted):
        got = found(y_bar, a, b)
        assert np.asarray(got).tobytes() == np.asarray(other).tobytes() and got.shape == x.shape


@pytest.mark.parametrize("where", [(), (1,), (-1,), (0, 1, 0), (-2,)])
@pytest.mark.parametrize("a", [STACK[0], STACK[0].T, STACK[0, :, :3], STACK[0, :, :0], STACK[0, :0], STACK])
def test_the_stated_cotangent_of_a_trace_is_that_of_the_rule(a, where):
    y_bar = np.cos(np.trace(a, *where))
    (wanted,) = cotangents(TABLE, np.trace, a, *where, seed=y_bar)
    assert trace_bar(y_bar, a, *where).tobytes() == np.asarray(wanted).tobytes()


@pytest.mark.skipif(not hasattr(np, "vecdot"), reason="an older NumPy has none")
def test_options_that_change_no_number():
    """The precision of a product and its order in memory are constants."""
    x, y = np.array([1.0, 2.0]), np.array([3.0, 0.5])
    for words in ({"dtype": np.float32}, {"order": "F"}, {"casting": "same_kind"}):
        assert rl.gradient(lambda x: np.vecdot(x, y, **words), x)[0].tolist() == [3.0, 0.5]
        assert rl.pushforward(lambda x: np.vecdot(x, y, **words), x)(x) == 4.0
