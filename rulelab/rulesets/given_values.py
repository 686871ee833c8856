"""Values that a library gives itself, in the midst of Python code that is differentiated in its place."""

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import dense

TABLE = RuleTable("given_values")


def as_given(value, found):
    """What a library gives, of its type and to the last digit, where it is `found` by other operations that
    have derivatives.
    """
    return value.copy() if isinstance(value, np.ndarray) else value


@TABLE.rrule(as_given, leading=2)
def as_given_rrule(value, found):
    def as_given_pullback(y_bar):
        return NoTangent(), NoTangent(), y_bar

    return as_given(value, found), as_given_pullback


@TABLE.frule(as_given)
def as_given_frule(tangents, value, found):
    return as_given(value, found), dense(found, tangents[2])


def unmoved(function, *arrays):
    """What a function gives of arrays that do not move it: there are no numbers in them, or none in what it
    gives.

    >>> unmoved(np.sum, np.zeros((3, 0)))
    np.float64(0.0)
    """
    return function(*arrays)


@TABLE.rrule(unmoved, leading=None)
def unmoved_rrule(function, *arrays):
    def unmoved_pullback(y_bar):
        return NoTangent(), NoTangent(), *[ZeroTangent() for _ in arrays]

    return function(*arrays), unmoved_pullback


@TABLE.frule(unmoved)
def unmoved_frule(tangents, function, *arrays):
    y = function(*arrays)
    return y, no_change(y)


def no_change(y):
    """The tangent of what does not move, in its form."""
    if isinstance(y, tuple):
        return tuple([no_change(item) for item in y])
    return dense(y, ZeroTangent()) if np.asarray(y).dtype.kind in "fc" else NoTangent()


TABLE.non_differentiable(no_change)


def lapack_kind(dtype):
    """The kind of numbers in which LAPACK computes with arrays of another.

    >>> lapack_kind(np.dtype(np.float16)), lapack_kind(np.dtype(np.float32)), lapack_kind(np.dtype(int))
    (dtype('float32'), dtype('float32'), dtype('float64'))
    """
    if dtype.char in "fdFD":
        return dtype
    if dtype.char == "e":
        return np.dtype(np.float32)
    return np.dtype(complex if dtype.kind == "c" else float)


TABLE.non_differentiable(lapack_kind)


def for_lapack(a):
    """An array in the kind of numbers in which LAPACK computes with it."""
    a = np.asarray(a)
    kind = lapack_kind(a.dtype)
    return a if a.dtype == kind else a.astype(kind)


def as_precise(x, *others):
    """An array with as many digits as the most precise of these arrays has, as what SciPy does with all of
    them in one kind of numbers.

    >>> as_precise(np.ones(1, np.complex64), np.ones(1)).dtype
    dtype('complex128')
    """
    digits = np.finfo(np.result_type(x, *others, np.float16)).dtype
    kind = np.result_type(x, digits)
    return x if x.dtype == kind else x.astype(kind)


def check_all_finite(asked, *arrays):
    """SciPy's own error if some number of these is none, where `check_finite=` asks for it.

    >>> check_all_finite(False, np.array([np.nan]))
    """
    for a in arrays if asked else ():
        np.asarray_chkfinite(a)


TABLE.non_differentiable(check_all_finite)
