"""The words that rules are written in: cotangents of structures, projections and delayed cotangents.

They are differentiated where the derivative of a rule is wanted. The cotangent of a Tangent, and its tangent,
is a Tangent of the same class: it is linear in its entries, and so is all that is done with it.
"""

from ..rules.programs import is_none, refused_write
from ..rules.rule_table import RuleTable
from ..tangents.algebra import add, add_into
from ..tangents.missing import not_implemented
from ..tangents.one import One
from ..tangents.pairings import added, in_form_of, part_at
from ..tangents.projection import ProjectTo, zero_tangent
from ..tangents.structural import (
    Tangent,
    canonicalize,
    class_of,
    entries_of,
    field_names,
    is_mapping,
    is_namedtuple,
    is_sequence,
    make,
)
from ..tangents.thunks import InplaceableThunk, Thunk, thunk
from ..tangents.tracked import check_untracked
from ..tangents.zeros import NoTangent

TABLE = RuleTable("vocabulary")

NO = NoTangent()

TABLE.non_differentiable(ProjectTo, zero_tangent, not_implemented, Tangent.__len__, Tangent.__eq__)


# -- made and read -------------------------------------------------------------------------------------------


@TABLE.stands_in(Tangent, rest=1)
def tangent_(cls, items=(), **fields):
    if len(items) == 0:
        return with_entries(cls, fields, None)
    if is_mapping(cls):
        return with_entries(cls, items[0], None)
    return with_entries(cls, dict(zip(keys_for(cls, len(items)), items)), len(items))


def keys_for(cls, count):
    """What the entries of a Tangent that are given by position are called."""
    if is_namedtuple(cls):
        Tangent(cls, *(NO,) * count)  # refuses another number than it has fields
        return cls._fields
    return range(count)


def with_entries(cls, entries, length):
    """The Tangent of a class with these entries by key."""
    if is_sequence(cls):
        return Tangent(cls, *entries.values())
    return Tangent(cls, entries) if is_mapping(cls) else Tangent(cls, **entries)


@TABLE.rrule(with_entries, leading=2)
def with_entries_rrule(cls, entries, length):
    def with_entries_pullback(y_bar):
        return NO, NO, make(dict, {key: part_at(y_bar, key) for key in entries})

    return with_entries(cls, entries, length), with_entries_pullback


@TABLE.frule(with_entries)
def with_entries_frule(tangents, cls, entries, length):
    y = with_entries(cls, entries, length)
    return y, NO if is_none(tangents[2]) else with_entries(cls, tangents[2], length)


TABLE.non_differentiable(is_mapping, is_namedtuple, is_sequence, keys_for, class_of)


def entry(t, key):
    """The entry of a Tangent by position, key or name."""
    return t[key] if not isinstance(key, str) or is_mapping(class_of(t)) else getattr(t, key)


@TABLE.rrule(entry, leading=1)
def entry_rrule(t, key):
    def entry_pullback(y_bar):
        return NO, Tangent.at(t, key, y_bar)

    return entry(t, key), entry_pullback


@TABLE.frule(entry)
def entry_frule(tangents, t, key):
    return entry(t, key), NO if is_none(tangents[1]) else entry(tangents[1], key)


@TABLE.stands_in(Tangent.__getattr__)
def getattr_(t, name):
    return entry(t, name)


def positions(t):
    """What stands for each entry of a Tangent that is read from one end to the other."""
    if is_mapping(class_of(t)):
        return list(t)
    return list(range(len(t))) if is_sequence(class_of(t)) else list(_names(t))


def _names(t):
    return field_names(class_of(t)) or tuple(entries_of(t))


TABLE.non_differentiable(positions)


def listed(t):
    """The entries of a Tangent of a sequence or object, in order."""
    return [entry(t, key) for key in positions(t)]


@TABLE.stands_in(Tangent.__getitem__)
def getitem_(t, key):
    if isinstance(key, slice):
        items = listed(t)[key]
        return with_entries(slice_class(t), dict(zip(range(len(items)), items)), len(items))
    return entry(t, key)


def slice_class(t):
    """The class of a part of a Tangent."""
    return class_of(t) if is_sequence(class_of(t)) else tuple


TABLE.non_differentiable(slice_class)


@TABLE.stands_in(Tangent.__iter__)
def iter_(t):
    return iter(positions(t) if is_mapping(class_of(t)) else listed(t))


@TABLE.rrule(canonicalize, leading=1)
def canonicalize_rrule(tangent):
    def canonicalize_pullback(y_bar):
        return NO, in_form_of(tangent, y_bar)

    return canonicalize(tangent), canonicalize_pullback


@TABLE.frule(canonicalize)
def canonicalize_frule(tangents, tangent):
    return canonicalize(tangent), canonicalize(tangents[1])


# -- arithmetic ----------------------------------------------------------------------------------------------


@TABLE.rrule(add, leading=2)
def add_rrule(a, b):
    def add_pullback(y_bar):
        return NO, in_form_of(a, y_bar), in_form_of(b, y_bar)

    return add(a, b), add_pullback


@TABLE.frule(add)
def add_frule(tangents, a, b):
    return add(a, b), add(tangents[1], tangents[2])


@TABLE.stands_in(Tangent.__mul__, Tangent.__rmul__)
def multiple(t, factor):
    cls = class_of(t)
    keys = kept(t)
    return with_entries(cls, {key: times(entry(t, key), factor) for key in keys}, len(keys))


def times(bar, factor):
    return bar if is_none(bar) else bar * factor


def kept(t):
    """The keys of the entries that are there; of a sequence all, for these go by position."""
    return list(range(len(t))) if is_sequence(class_of(t)) else list(entries_of(t))


TABLE.non_differentiable(kept)


@TABLE.stands_in(Tangent.__add__, Tangent.__radd__)
def sum_(t, other):
    return add(t, other)


@TABLE.stands_in(Tangent.__sub__)
def difference(t, other):
    return add(t, -other)


@TABLE.stands_in(Tangent.__neg__)
def negative(t):
    return multiple(t, -1.0)


@TABLE.stands_in(Tangent.__pos__)
def itself(t):
    return t


@TABLE.stands_in(Tangent.__truediv__)
def quotient(t, divisor):
    return multiple(t, 1 / divisor)


@TABLE.stands_in(One.__mul__, One.__rmul__, One.__rtruediv__)
def product_with_one(one, other):
    return other


@TABLE.stands_in(One.__truediv__)
def one_over(one, other):
    return 1 / other


@TABLE.stands_in(One.__add__, One.__radd__)
def one_and(one, other):
    return one if is_none(other) else 1 + other


@TABLE.stands_in(One.__sub__)
def one_less(one, other):
    return one if is_none(other) else 1 - other


@TABLE.stands_in(One.__rsub__)
def less_one(one, other):
    return other - 1


# -- projections ---------------------------------------------------------------------------------------------


@TABLE.rrule(ProjectTo.__call__, leading=2)
def project_rrule(project, x_bar):
    """A projection is its own transpose: from what it was projected to, back to what was given."""

    def project_pullback(y_bar):
        return NO, NO, in_form_of(x_bar, y_bar)

    return project(x_bar), project_pullback


@TABLE.frule(ProjectTo.__call__)
def project_frule(tangents, project, x_bar):
    return project(x_bar), NO if is_none(tangents[2]) else project(tangents[2])


# -- delayed cotangents: where they are differentiated, they are computed ----------------------------------


@TABLE.stands_in(thunk, Thunk)
def evaluated(f):
    return f()


@TABLE.stands_in(InplaceableThunk)
def evaluated_apart(add_into, value):
    return value()


# -- sums in place -------------------------------------------------------------------------------------------

TABLE.mutates(add_into)  # where nobody wants what it returns


@TABLE.rrule(add_into, leading=2)
def add_into_rrule(acc, t):
    """The sum, in memory of its own: an earlier step may have kept `acc`, which nobody reads any more."""

    def add_into_pullback(y_bar):
        return NO, in_form_of(acc, y_bar), in_form_of(t, y_bar)

    return add(acc, t), add_into_pullback


@TABLE.frule(add_into)
def add_into_frule(tangents, acc, t):
    """Where the sum was written into `acc`, so is its tangent."""
    y = add_into(acc, t)
    if y is acc:
        add_beside(acc, tangents[1], tangents[2])
        return y, tangents[1]
    return y, added(tangents[1], tangents[2])


def add_beside(acc, acc_dot, t_dot):
    """Write the tangent of a sum in place, too."""
    if is_none(t_dot):
        return
    if is_none(acc_dot):
        check_untracked(acc)
        raise refused_write(acc)
    acc_dot[...] = acc_dot + t_dot
