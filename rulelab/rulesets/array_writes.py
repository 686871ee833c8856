"""Forward rules of functions that write to arrays: what is done to an array is done to the tangent beside it.

An array whose tangent nobody keeps may be given constants alone (`check_kept`).
"""

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.shadows import is_constant
from ..tangents.zeros import NoTangent
from .array_likes import dense
from .container_tangents import check_exact, check_kept

TABLE = RuleTable("array_writes")

NO = NoTangent()


def check_written(a, a_dot, value, value_dot):
    """MutationError or NotDifferentiableError for a value that varies where its tangent would be lost."""
    check_kept(a, a_dot, value_dot)
    check_exact(a, value, value_dot)


TABLE.non_differentiable(check_written)


@TABLE.frule(np.copyto)
def copyto_frule(tangents, dst, src, casting="same_kind", where=True):
    check_written(dst, tangents[1], src, tangents[2])
    np.copyto(dst, src, casting=casting, where=where)
    if not is_constant(tangents[1]):
        np.copyto(tangents[1], dense(src, tangents[2]), where=where)
    return None, NO


@TABLE.frule(np.ndarray.fill)
def fill_frule(tangents, a, value, /):
    check_written(a, tangents[1], value, tangents[2])
    a.fill(value)
    if not is_constant(tangents[1]):
        tangents[1][...] = dense(value, tangents[2])
    return None, NO


@TABLE.frule(np.put, np.ndarray.put)
def put_frule(tangents, a, ind, v, mode="raise"):
    check_written(a, tangents[1], v, tangents[3])
    np.put(a, ind, v, mode)
    if not is_constant(tangents[1]):
        np.put(tangents[1], ind, dense(v, tangents[3]), mode)
    return None, NO


@TABLE.frule(np.fill_diagonal)
def fill_diagonal_frule(tangents, a, val, wrap=False):
    check_written(a, tangents[1], val, tangents[2])
    np.fill_diagonal(a, val, wrap)
    if not is_constant(tangents[1]):
        np.fill_diagonal(tangents[1], dense(val, tangents[2]), wrap)
    return None, NO


@TABLE.frule(np.putmask)
def putmask_frule(tangents, a, mask, values):
    check_written(a, tangents[1], values, tangents[3])
    np.putmask(a, mask, values)
    if not is_constant(tangents[1]):
        np.putmask(tangents[1], mask, dense(values, tangents[3]))
    return None, NO


@TABLE.frule(np.place)
def place_frule(tangents, arr, mask, vals):
    check_written(arr, tangents[1], vals, tangents[3])
    np.place(arr, mask, vals)
    if not is_constant(tangents[1]):
        np.place(tangents[1], mask, dense(vals, tangents[3]))
    return None, NO


@TABLE.frule(np.put_along_axis)
def put_along_axis_frule(tangents, arr, indices, values, axis=-1):
    check_written(arr, tangents[1], values, tangents[3])
    np.put_along_axis(arr, indices, values, axis)
    if not is_constant(tangents[1]):
        np.put_along_axis(tangents[1], indices, dense(values, tangents[3]), axis)
    return None, NO


@TABLE.frule(np.ndarray.sort)
def sort_frule(tangents, a, axis=-1, kind=None, order=None, *, stable=None):
    """The tangents go where their numbers go."""
    check_kept(a, tangents[1])
    if is_constant(tangents[1]):
        a.sort(axis, kind, order, stable=stable)
        return None, NO
    moved = np.argsort(a, axis=axis, kind="stable")
    a.sort(axis, kind, order, stable=stable)
    tangents[1][...] = np.take_along_axis(tangents[1], moved, axis)
    return None, NO


def _state_at(target, sign):
    @TABLE.frule(target)
    def at_frule(tangents, a, indices, b, /):
        check_written(a, tangents[1], b, tangents[3])
        target(a, indices, b)
        if not is_constant(tangents[1]):
            np.add.at(tangents[1], indices, sign * dense(b, tangents[3]))
        return None, NO


_state_at(np.add.at, 1.0)
_state_at(np.subtract.at, -1.0)
