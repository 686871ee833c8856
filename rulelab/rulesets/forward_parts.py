"""Rules for the parts that forward rules are made of, so that they can be differentiated themselves.

A second derivative is the pullback of a forward rule. What such a rule asks of its arguments is constant;
what it makes of a tangent is linear in it.
"""

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..rules.rule_table import RuleTable
from ..tangents.forms import by_missing, laid_out
from ..tangents.structural import Tangent
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent
from .array_likes import check_plain, dense, gradient_dtype, is_zero, tangent_like
from .numpy_calculus import interpolation_of
from .numpy_reductions import extreme_of, middles_of
from .numpy_shaping import padded_labels
from .numpy_statistics import quantiles_of

TABLE = RuleTable("forward_parts")

TABLE.non_differentiable(is_zero, gradient_dtype, check_plain, normalize_axis_tuple, normalize_axis_index)
TABLE.non_differentiable(
    extreme_of, interpolation_of, middles_of, padded_labels, quantiles_of
)  # which entries, not their values


def _as_given(x_dot, bar):
    """The cotangent of a tangent that `dense` took, from that of the array it gave."""
    if is_zero(x_dot):
        return NoTangent()
    if isinstance(x_dot, (list, tuple)):
        return Tangent(type(x_dot), *[_as_given(item, bar[i]) for i, item in enumerate(x_dot)])
    return bar


@TABLE.rrule(dense, leading=2)
def dense_rrule(x, x_dot):
    """Every number of the array is one of the tangent's."""

    def dense_pullback(y_bar):
        return NoTangent(), NoTangent(), _as_given(x_dot, y_bar)

    return dense(x, x_dot), dense_pullback


@TABLE.frule(dense)
def dense_frule(tangents, x, x_dot):
    return dense(x, x_dot), dense(x, tangents[2])


@TABLE.rrule(laid_out, leading=2)
def laid_out_rrule(y, y_dot):
    """The same numbers in another order of memory."""

    def laid_out_pullback(bar):
        return NoTangent(), NoTangent(), bar

    return laid_out(y, y_dot), laid_out_pullback


@TABLE.frule(laid_out)
def laid_out_frule(tangents, y, y_dot):
    return laid_out(y, y_dot), laid_out(y, dense(y, tangents[2]))


@TABLE.rrule(by_missing, leading=2)
def by_missing_rrule(slope, x_dot):
    return by_missing(slope, x_dot), lambda _: (NoTangent(), NoTangent(), slope)


@TABLE.frule(by_missing)
def by_missing_frule(tangents, slope, x_dot):
    """It is linear in what moves, whatever the slope is: where that moves in turn, the slope is missing."""
    x_ddot = tangents[2]
    return by_missing(slope, x_dot), x_ddot if is_zero(x_ddot) else by_missing(slope, x_ddot)


@TABLE.rrule(tangent_like, leading=2)
def tangent_like_rrule(value, x_dot):
    """The nested lists of an array: their cotangent is the array of theirs."""

    def tangent_like_pullback(y_bar):
        return NoTangent(), NoTangent(), np.asarray(dense(value, y_bar))

    return tangent_like(value, x_dot), tangent_like_pullback


@TABLE.frule(tangent_like)
def tangent_like_frule(tangents, value, x_dot):
    return tangent_like(value, x_dot), tangent_like(value, dense(x_dot, tangents[2]))


@TABLE.rrule(unthunk, leading=1)
def unthunk_rrule(x):
    """The value itself."""

    def unthunk_pullback(y_bar):
        return NoTangent(), y_bar

    return unthunk(x), unthunk_pullback


@TABLE.frule(unthunk)
def unthunk_frule(tangents, x):
    return unthunk(x), tangents[1]
