"""Rules for the methods of dicts, lists and tuples that read, and for copies of structures.

The views of a dict are views in a pass too; the cotangent of one is that of its dict.
"""

import copy
import dataclasses
from collections import OrderedDict

import numpy as np

from ..errors import An, NotDifferentiableError, RuleDtypeError, an
from ..rules.rule_table import RuleTable
from ..tangents.holding import carrier, everything_held
from ..tangents.ranks import RANKING
from ..tangents.structural import Tangent, entries_of, make, one_part
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import is_zero

TABLE = RuleTable("containers")
TABLE.non_differentiable(*RANKING)

_D = {"a": 0.3, "b": np.array([1.0, -2.0])}


# -- dicts ---------------------------------------------------------------------------------------------------


@TABLE.rrule(dict.get, leading=3, points=[(_D, "b"), (_D, "a", 2.0), (_D, "z", 2.0)])
def get_rrule(d: dict, key, default=None, /):
    """`d.get(key, default)`: the entry if there is one, else the default."""
    if isinstance(key, (float, complex, np.inexact)):
        raise NotDifferentiableError(
            "The rule of dict.get gives no derivative for its argument key",
            fixes=("use rl.ignore_derivatives(key) if it is a constant",),
            read="limitations#keywords",
        )
    if dict.__contains__(d, key):
        y, kind = dict.get(d, key), type(d)

        def get_pullback(y_bar):
            return NoTangent(), one_part(kind, None, key, y_bar), NoTangent(), ZeroTangent()

        return y, get_pullback

    def default_pullback(y_bar):
        return NoTangent(), ZeroTangent(), NoTangent(), y_bar

    return default, default_pullback


def _state_view(method):
    @TABLE.rrule(method, leading=1)
    def view_rrule(d: dict, /):
        def view_pullback(y_bar):
            y_bar = unthunk(y_bar)
            if not is_zero(y_bar) and not isinstance(y_bar, Tangent):
                raise RuleDtypeError(
                    f"{an(type(method(d)).__name__)} cannot have a gradient of kind {type(y_bar).__name__}",
                    fixes=("return a list: list(...)",),
                )
            return NoTangent(), y_bar if is_zero(y_bar) else make(type(d), entries_of(y_bar))

        return method(d), view_pullback


def _state_names(method):
    @TABLE.rrule(method, leading=1)
    def names_rrule(d: dict, /):
        """The keys are names; where one is a number that varies, the loop that reads it refuses."""

        def names_pullback(y_bar):
            if not is_zero(unthunk(y_bar)):
                raise NotDifferentiableError(
                    "The keys of a dict cannot have a gradient",
                    fixes=("return a list: list(...)",),
                    read="limitations#iteration",
                )
            return NoTangent(), ZeroTangent()

        return method(d), names_pullback


for _kind in (dict, OrderedDict):
    _state_view(_kind.values)
    _state_view(_kind.items)
    _state_names(_kind.keys)
TABLE.non_differentiable(dict.__contains__, dict.__len__)


# -- items of the base class, which a class of the author's asks for by name or through super() --------------


def _state_item(base):
    @TABLE.rrule(base.__getitem__, leading=1)
    def item_rrule(x: base, key, /):
        kind, size = type(x), len(x)

        def item_pullback(y_bar):
            return NoTangent(), one_part(kind, size, key, y_bar)

        return base.__getitem__(x, key), item_pullback


for _base in (list, tuple, dict):
    _state_item(_base)


# -- lists and tuples ----------------------------------------------------------------------------------------

TABLE.non_differentiable(dataclasses.fields, dataclasses.is_dataclass)
TABLE.non_differentiable(list.index, list.count, tuple.index, tuple.count)


# -- copies --------------------------------------------------------------------------------------------------

_OWN_WAYS = ("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
_PLAIN = (list, tuple, dict, set, frozenset, int, float, complex, str, bytes, type(None))


def check_copied_field_by_field(x):
    """Refuse an object whose class says how it is copied: what it does there is not known."""
    if isinstance(x, (np.ndarray, np.generic)) or type(x) in _PLAIN:
        parts = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    else:
        for name in _OWN_WAYS:
            found = getattr(type(x), name, None)
            if found is not None and hasattr(found, "__code__"):
                raise NotDifferentiableError(
                    f"{An(type(x).__name__)} is copied by its own {name}, which is not differentiated",
                    fixes=("make the new object from the fields",),
                    read="limitations#attributes",
                )
        parts = getattr(x, "__dict__", {}).values()
    return parts


def check_all_copied(x):
    """The same of all that the object holds."""
    for _ in everything_held([carrier(x)], lambda x: map(carrier, check_copied_field_by_field(x)), (type,)):
        pass


def _state_copy(target, deep, points):
    @TABLE.rrule(target, leading=1, points=points)
    def copy_rrule(x, /):
        """The same parts in a new object: the cotangent of the copy is that of the original."""
        check_all_copied(x) if deep else check_copied_field_by_field(x)

        def copy_pullback(y_bar):
            return NoTangent(), y_bar

        return target(x), copy_pullback


_COPIED = [([0.3, [1.0, 2.0]],), ((0.3, 1.0),), (np.array([0.3, 1.0]),), (0.5,)]
_state_copy(copy.copy, False, _COPIED)
_state_copy(copy.deepcopy, True, _COPIED)


def _state_copy_of_base(method, points):
    @TABLE.rrule(method, leading=1, points=points)
    def copy_rrule(x: list | dict, /):
        """A plain list or dict of the same items, also of a subclass."""
        size = len(x) if isinstance(x, list) else None

        def copy_pullback(y_bar):
            y_bar = unthunk(y_bar)
            if is_zero(y_bar) or not isinstance(y_bar, Tangent):
                return NoTangent(), y_bar
            return NoTangent(), make(type(x), entries_of(y_bar), size)

        return method(x), copy_pullback


_state_copy_of_base(dict.copy, ())
_state_copy_of_base(list.copy, [([0.3, 1.0],)])
