"""Tests of the multiplicative identity of the older texts."""

import copy
import operator
import pickle
import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import NotImplementedTangentError
from rulelab.tangents.one import One
from rulelab.tangents.projection import ProjectTo
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import NoTangent, ZeroTangent


class Counting:
    """A number that counts how often it is multiplied."""

    multiplications = 0

    def __mul__(self, other):
        Counting.multiplications += 1
        return self

    __rmul__ = __mul__


def test_a_product_with_one_is_not_computed():
    """The other factor comes back itself: nothing is multiplied, no array made, no thunk run."""
    number, array = Counting(), np.ones(3)
    assert One() * number is number and number * 2.0 is number
    before = Counting.multiplications
    assert before > 0  # the counter counts
    for _ in range(5):
        assert One() * number is number
    assert Counting.multiplications == before
    assert One() * array is array and array * One() is array
    assert np.multiply(array, One()) is array and np.multiply(One(), array) is array
    dear = rl.thunk(lambda: 1 / 0)
    assert One() * dear is dear and dear * One() is dear and dear / One() is dear
    t = Tangent(tuple, 1.0)
    assert One() * t is t


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
def test_widths_are_kept(dtype):
    """One takes the type of what it meets, also in place."""
    x = np.full(2, 2, dtype)
    assert all(y.dtype == dtype for y in (x * One(), x + One(), One() + x, x - One(), x / One(), One() / x))
    assert np.array_equal(x + One(), [3, 3]) and np.array_equal(One() - x, [-1, -1])
    acc = x.copy()
    assert (
        operator.imul(acc, One()) is acc and operator.iadd(acc, One()) is acc and np.array_equal(acc, [3, 3])
    )
    assert (dtype(2) * One()).dtype == dtype and (dtype(2) + One()).dtype == dtype


def test_it_is_the_number_one():
    """In sums, quotients, powers, comparisons and conversions."""
    one = One()
    assert one == 1 and one == 1.0 and one != 2 and hash(one) == hash(1) and one is One()
    assert one + one == 2 and one - one == 0 and -one == -1 and 2.0 / one == 2.0 and one / 2.0 == 0.5
    assert (float(one), complex(one), int(one), 3.0**one, one**5) == (1.0, 1 + 0j, 1, 3.0, 1)
    assert one.conjugate() is one.real is abs(one) is one and one.imag == 0 and np.sqrt(one) == 1
    assert repr(one) == "One()" and np.asarray(one) == 1.0
    assert pickle.loads(pickle.dumps(one)) is copy.deepcopy(one) is one


def test_it_meets_the_other_kinds():
    """A zero absorbs it, a missing derivative stays an error, and a projection gives a number."""
    one = One()
    for zero in (ZeroTangent(), NoTangent()):
        assert one * zero is zero * one is zero and one + zero is zero + one is one and one - zero is one
    with pytest.raises(NotImplementedTangentError):
        rl.not_implemented("why") * one
    assert ProjectTo(np.float32(2))(one).dtype == np.float32 and ProjectTo(1j)(one) == 1 + 0j
    assert rl.add_into(2.0, one) == 3.0


@pytest.mark.parametrize("bad", [None, "ab", [1.0], (1.0,)])
def test_what_is_no_factor_is_refused(bad):
    """Text and lists are not repeated once, and None is not handed on."""
    with pytest.raises(TypeError):
        One() * bad
    with pytest.raises(TypeError):
        bad * One()


def shifted(x, y):
    return x + y


def test_a_rule_of_the_older_texts_works_in_all_modes():
    """`scalar_rule(x + y: One(), One())`: gradients, arrays, pushforward, second derivatives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        one = rl.One()
    rl.scalar_rule(shifted, lambda out, x, y: (one, one))
    try:
        assert rl.gradient(shifted, 2.0, 3.0) == (1.0, 1.0)
        total = rl.gradient(lambda x: np.sum(shifted(x, 1.0) * x), np.ones(2, np.float32))[0]
        assert total.dtype == np.float32 and np.array_equal(total, [3, 3])
        assert rl.pushforward(shifted, 2.0, 3.0)(1.0, 2.0) == 3.0
        assert rl.hessian(lambda x: shifted(x * x, x), 2.0) == 2.0
    finally:
        rl.remove_rule(shifted)


def test_a_result_of_a_rule_with_one_may_be_written_to():
    """A write to the result, whose tangent is that of the argument, leaves the argument's tangent alone."""

    def changed(x):
        y = shifted(x, 0.0)
        y[0] = 7.0
        return y * x

    rl.scalar_rule(shifted, lambda out, x, y: (One(), One()))
    try:
        assert np.array_equal(rl.pushforward(changed, np.ones(2))(np.ones(2)), [7, 2])
    finally:
        rl.remove_rule(shifted)
