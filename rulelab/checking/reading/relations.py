"""The relations between numbers that the docstring of a function states as formulas: `d < n`, `0 <= p <= 1`,
`len(x) > 1`, or that two indices are different; and those that its code implies by functions that are meant
for positive numbers.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...rules.signatures import meant_types
from ..measuring.vectors import shape_of
from .axes_read import halved_parameters
from .by_name import interval_of_name, ordered_pairs
from .counts import REST, cut_into
from .counts_said import counted_among
from .docstrings import TO_LAST, bounded_in_brackets, docstring_text
from .guards import larger_by_guards
from .lookup_tables import places_by_whole_part, tables_read
from .own_docstrings import docstring_of
from .parameters import default_of
from .pieces_read import pieces_read
from .positions_read import positions_in
from .records_read import attributes_of_elements
from .signs_read import half_widths, meant_as_sizes, meant_positive, meant_positive_together
from .texts import attributes_read, unpacked_names
from .usage import (
    clipped_between,
    compared_pairs,
    decides_by,
    index_parameters,
    meant_larger,
    meant_to_rise,
    shapes_said,
)

SPREAD = 5.0
"""The factor that spreads drawn positions along a whole axis."""
AT_LAST = 0.25
"""How much of the interval rounds to the very last position: a rule that reads the element after it may raise
only there.
"""
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne,
    "rises": lambda x, _: np.ndim(x) != 1 or np.diff(x) > 0,
    "even along": lambda x, axis: not _is_odd(x, axis),
    "odd along": lambda x, axis: axis >= len(shape_of(x)) or _is_odd(x, axis),
    "a multiple of": lambda length, count: count == 0 or length % count == 0,
    "cuts all of": lambda x, length: np.ndim(x) != 1 or (np.diff(x) >= 0) & (x[0] == 0) & (x[-1] == length),
}  # fmt: skip
_OF_NO_INTERVAL = ("!=", "rises", "even along", "odd along", "cuts all of")
_RISES = re.compile(
    r"\b(\w+)(?: must)? "
    r"(?:rises?|increases?|(?:is|are|be) (?:strictly )?(?:sorted|rising|increasing|ascending))\b"
)
_RISING = re.compile(  # with k increasing cutpoints, under increasing cut points cuts
    r"\b(?:sorted|rising|increasing|ascending)"
    r"((?: (?!(?:by|in|of|and|or|with|to|at|along)\b)\w+){1,3})"
)
_OF_ONE: Mapping[str, Callable[[Any], Any]] = {"len": len, "abs": np.abs}
_SIDE = r"(?:(?:len|abs)\(\w+\)|\|\w+\||[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|-?pi\b|[A-Za-z_]\w*)"
_SIGN = r"\s*(?:<=|>=|!=|<|>)\s*"
_REMARK = r"\((?:an? )?[A-Za-z]{3,}[A-Za-z ,']*\)"  # (a float or an array)
_CHAIN = re.compile(
    rf"(?<![\w.)\]*/+-])(?<![*/+-] ){_SIDE}(?:{_SIGN}{_SIDE})+"
    rf"(?![\w(\[.]\w|\s*[*/+^\[-]|\(|\s+(?!{_REMARK})\()"
)
_OPERATOR = re.compile(r"\s*(<=|>=|!=|<|>)\s*")
_CONDITION = re.compile(
    r"\b(if|when|whenever|unless|otherwise|else|beyond|once|until|while)\b[^.;]*$", re.IGNORECASE
)
_PART = re.compile(r"\b(where|for|at|as)\b[^.;]*$")
_PART_UP_TO_COMMA = re.compile(r"\b(where|for|at|as)\b[^.;,]*$")
"""Words before a relation that always make it a special case, and words that may."""
_TO_LAST = re.compile(rf"\b(\w+) <= {TO_LAST}")  # rows <= h - 1
_LENGTHS_COMPARED = re.compile(r"\b([A-Za-z]\w*) (<=|<|>=|>) ([A-Za-z]\w*)\b(?! ?[-+*/(\[])")
_OF_SHAPE = re.compile(r"\b(\w+) has shape \(([^)]*)\)")
_AT_LEAST = re.compile(r"\b(\w+)(?: \(| ?: |, )[^().;]*\bat least (\w+)\b")  # values x (1-D, at least k)
_OF_PARITY = re.compile(r"\b(\w+) (?:is )?of (even|odd) length\b")
_PARITY_BEFORE = re.compile(r"\b(even|odd)-length (\w+)\b")
_LENGTH_OF_PARITY = re.compile(r"\b(\w+) (?:is|must be|has to be|should be) (even|odd)\b")  # the width is odd
_NAME_BEFORE = re.compile(r"\w+(?= \($)")
_SUM = r"([A-Za-z_]\w*) \+ ([A-Za-z_]\w*)"
_COMPARED, _NO_MORE = r"\s*(<=|>=|<|>)\s*", r"(?![\w(\[.]\w|\s*[-+*/^\[(])"
_MORE_THAN = re.compile(rf"\b([A-Za-z_]\w*){_COMPARED}{_SUM}{_NO_MORE}")
_SUM_OF = re.compile(rf"(?<![\w.)\]*/+-])(?<![*/+-] )\b{_SUM}{_COMPARED}({_SIDE}){_NO_MORE}")
"""A comparison with a sum of two parameters: gate >= attack + decay; T + C > 0."""
_UNLIKE = re.compile(r"\b(different|distinct|unequal|not equal|differ|differs)\b")
_TWO = re.compile(r"\b(\w+)(?:,| and|, and)\s+(\w+)\b")


@dataclass(frozen=True)
class Side:
    """One side of a relation: a number, or a parameter by its name (or an attribute of one, or of the objects
    in a list), its length or absolute value, the last index along an axis of it, or its sum with another.
    """

    name: str = ""
    number: float = math.nan
    of: str = ""
    axis: int | None = None
    plus: str = ""

    def at(self, arguments: Mapping[str, Any]) -> Any:
        """The value of this side for these arguments; None where there is nothing to compare."""
        if not self.name:
            return self.number
        if self.plus:
            one, other = replace(self, plus="").at(arguments), Side(self.plus).at(arguments)
            return None if one is None or other is None else one + other
        name, *attributes = self.name.split(".")
        x = arguments.get(name)
        for attribute in attributes:
            x = _attribute_of(x, attribute)
        if self.axis is not None:
            return shape_of(x)[self.axis] - 1 if self.axis < len(shape_of(x)) else None
        if self.of == "len":
            return len(x) if isinstance(x, (list, tuple)) or isinstance(x, np.ndarray) and x.ndim else None
        if isinstance(x, bool) or not isinstance(x, (int, float, np.number, np.ndarray)):
            return None
        if np.asarray(x).dtype.kind not in "iuf":
            return None
        return _OF_ONE[self.of](x) if self.of else x


def _attribute_of(x: Any, attribute: str) -> Any:
    """An attribute of an object, or an array of the attributes of the objects in a list; None if there is
    none.
    """
    if type(x) not in (list, tuple):
        return getattr(x, attribute, None)
    numbers = [getattr(one, attribute, None) for one in x]
    return np.array(numbers) if all(isinstance(one, (int, float)) for one in numbers) else None


@dataclass(frozen=True)
class Relation:
    """Two sides, and how they compare."""

    left: Side
    sign: str
    right: Side
    in_words: bool = False

    def holds(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the relation holds for all numbers of these arguments; also True where there is nothing to
        compare.

        >>> relation, = relations_in("with d < n", ("d", "n"))
        >>> relation.holds({"d": 1.0, "n": 2.0}), relation.holds({"d": 1.0, "n": np.array([0.5, 2.0])})
        (True, False)
        """
        if self.in_words and any(shape_of(arguments.get(name, 0)) for name in self.names):
            return False  # it is about two indices, not two arrays of them
        try:
            left, right = self.left.at(arguments), self.right.at(arguments)
            if left is None or right is None:
                return True
            return bool(np.all(_OPERATORS[self.sign](left, right)))
        except (TypeError, ValueError):  # they are no numbers, or the lengths do not fit together
            return True

    @property
    def names(self) -> frozenset[str]:
        sides = (self.left, self.right)
        return frozenset(name for side in sides for name in (side.name, side.plus) if name)

    @property
    def is_of_shapes(self) -> bool:
        """Whether the relation is only about lengths, not about numbers."""
        return self.left.axis is not None and self.right.axis is not None

    @property
    def ordered(self) -> tuple[str, str] | None:
        """Two parameters of which the first has the smaller numbers; None if the relation says something
        else.
        """
        if self.left.of or self.right.of or len(self.names) != 2 or self.sign == "!=":
            return None
        if self.left.plus or self.right.plus or self.is_of_shapes:
            return None
        pair = self.left.name, self.right.name
        return pair if self.sign in ("<", "<=") else pair[::-1]

    @property
    def interval(self) -> tuple[str, float, float] | None:
        """A parameter, and the interval that contains its numbers; None if the relation says something
        else.
        """
        if "len" in (self.left.of, self.right.of) or self.sign in _OF_NO_INTERVAL or len(self.names) != 1:
            return None
        if self.is_of_shapes:
            return None
        side, number = (self.left, self.right.number) if self.left.name else (self.right, self.left.number)
        is_below = (self.sign in ("<", "<=")) == bool(self.left.name)
        if side.of == "abs":
            return (side.name, -number, number) if is_below else None
        return (side.name, -math.inf, number) if is_below else (side.name, number, math.inf)


@dataclass(frozen=True)
class Related:
    """The relations between some parameters, whose names are in the order of the arguments, and between the
    parts that a function unpacks from some of them.
    """

    names: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    parts: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def hold(self, args: Sequence[Any]) -> bool:
        """Whether all relations hold for these arguments."""
        if not self.relations:
            return True
        named = self._named(args)
        return all(relation.holds(named) for relation in self.relations)

    def _named(self, args: Sequence[Any]) -> dict[str, Any]:
        named = dict(zip(self.names, args))
        for name, parts in self.parts:
            of = named.get(name)
            if isinstance(of, np.ndarray):
                of = tuple(of) if of.ndim else ()
            if isinstance(of, (tuple, list)) and len(of) == len(parts):
                named |= {part: x for part, x in zip(parts, of) if part not in self.names}
        return named

    def repaired(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments, changed to satisfy relations: vectors that must increase are sorted, the last
        element is removed where a length must be even or odd (or elements are inserted in a single array),
        and positions along an axis are moved onto it.
        """
        rising = {relation.left.name for relation in self.relations if relation.sign == "rises"}
        even = {r.left.name: r.right.number for r in self.relations if r.sign == "even along"}
        odd = {r.left.name: r.right.number for r in self.relations if r.sign == "odd along"}
        named = itertools.zip_longest(self.names, args)
        is_alone = sum(isinstance(x, np.ndarray) and x.ndim > 0 for x in args) == 1
        evened = _doubled if is_alone else _evened
        cut = ((name, evened(x, even[name]) if name in even else x) for name, x in named)
        cut = ((name, _made_odd(x, odd[name]) if name in odd else x) for name, x in cut)
        put = {n: np.sort(x) if n in rising and len(shape_of(x)) == 1 else x for n, x in cut if n is not None}
        for places in (r for r in self.relations if r.right.axis is not None):
            last, x = places.right.at(put), put.get(places.left.name)
            if last and isinstance(x, (float, np.ndarray)) and np.asarray(x).dtype.kind == "f":
                room = AT_LAST if places.sign == "<=" else 0.0
                put[places.left.name] = np.minimum(SPREAD * x % (last + room), last)
        for cuts in (r for r in self.relations if r.sign == "cuts all of"):
            bounds, last = put.get(cuts.left.name), cuts.right.at(put)
            if isinstance(bounds, np.ndarray) and bounds.ndim == 1 and len(bounds) > 1 and last is not None:
                put[cuts.left.name] = _cuts(bounds, last)
        return (*put.values(), *args[len(put) :])

    def holding(self, args: Sequence[Any]) -> Related:
        """The relations that hold for these arguments."""
        named = self._named(args)
        return replace(self, relations=tuple(r for r in self.relations if r.holds(named)))

    @property
    def ordered(self) -> tuple[tuple[int, int], ...]:
        """The positions of pairs of arguments of which the first is the smaller."""
        pairs = (relation.ordered for relation in self.relations)
        places = [(pair[0], pair[1]) for pair in pairs if pair is not None and {*pair} <= {*self.names}]
        return tuple((self.names.index(one), self.names.index(other)) for one, other in places)

    @property
    def intervals(self) -> Iterator[tuple[str, float, float]]:
        """The parameters that are compared with numbers, and their intervals."""
        yield from (r.interval for r in self.relations if r.interval is not None)


NOTHING_SAID = Related()


def _cuts(drawn: np.ndarray, last: int) -> np.ndarray:
    """Bounds that split `last` elements into pieces, none empty if there are enough elements, and not all of
    the same length.

    >>> _cuts(np.array([0, 1, 1, 0]), 7)
    array([0, 3, 5, 7])
    """
    bounds = np.linspace(0, last, len(drawn)).astype(drawn.dtype)
    inner = bounds[1:-1] + drawn[1:-1] % 2
    bounds[1:-1] = np.where(inner < bounds[2:], inner, bounds[1:-1])
    return bounds


def relations_of(f: Any, names: tuple[str, ...], rules: Sequence[Callable] = ()) -> Related:
    """The relations that a function states about its parameters, mostly in its docstring. Rules count too
    where they use a parameter as a position.

    A relation after an `if` or `otherwise` describes a special case, and so does one after `for` or `where`
    if the function decides by that parameter: the rule must also be right in the other case. That two
    parameters are different counts only for indices: about others it may be a side remark.
    """
    said = docstring_text(f)
    if not isinstance(getattr(f, "__code__", None), types.CodeType):
        return NOTHING_SAID
    remarked = bounded_in_brackets(docstring_of(f))  # at an area (> 1): this is not a special case
    found = tuple(relations_in(said, names, decides_by(f) - remarked)) if said else ()
    cases = compared_pairs(f) if found else frozenset()  # there the rule must be right on both sides
    found = tuple(relation for relation in found if relation.in_words or relation.names not in cases)
    parts = tuple(unpacked_names(f).items())
    known = {*names}.union(*(those for _, those in parts))
    of_sizes = sorted(meant_as_sizes(f) | meant_positive_together(f))
    sizes = (name for name in of_sizes if name.partition(".")[0] in known)
    read = (*attributes_read(f).items(), *attributes_of_elements(f).items())
    parts_read = ((name, part) for name, those in read if name in names for part in those)
    named = (f"{name}.{part}" for name, part in parts_read if interval_of_name(part)[0] == 0.0)
    of_zero = {r.left.name for r in found if r.sign in (">", ">=") and r.right.number == 0.0}
    guessed = (meant_positive(f) | half_widths(f)) - of_zero  # the docstring has precedence
    below = {r.left.name for r in found if r.interval is not None and r.interval[2] <= 0}
    positive = (*(name for name in names if name in guessed), *sizes, *named)
    positive = tuple(name for name in positive if name not in below)
    found += tuple(Relation(Side(name), ">", Side(number=0.0)) for name in positive)
    ends = ((_end(low), _end(high)) for low, high in clipped_between(f))
    found += tuple(Relation(low, "<", high) for low, high in ends)
    larger = sorted(meant_larger(f) | larger_by_guards(f))
    found += tuple(Relation(Side(low), "<", Side(high)) for low, high in larger)
    found += tuple(Relation(Side(part), "<=", Side(of)) for part, of in counted_among(said, names))
    found += (*_along_axes(f, said, names), *_as_long_as(f, said, names), *_between_places(f, names))
    found += tuple(_between_lengths(f, said))
    tables = tuple(tables_read(f))
    placed = frozenset().union(*map(places_by_whole_part, (f, *rules)))
    least = [(name, table.first) for table in tables for name in sorted(table.of | table.looked_up)]
    least += [(name, 0.0) for name in names if name in placed]
    found += tuple(Relation(Side(name), ">", Side(number=first)) for name, first in least if name in names)
    pieces = ((each.bounds, each.cut[0]) for each in pieces_read(f) if each.cut)
    found += tuple(Relation(Side(name), "cuts all of", Side(cut, of="len")) for name, cut in pieces)
    in_words = (*_RISES.findall(said), *" ".join(_RISING.findall(said)).split())
    told = {*in_words, *meant_to_rise(f)}.union(*(table.of for table in tables))
    rising = (name for name in names if name in told)
    found += tuple(Relation(Side(name), "rises", Side(number=0.0)) for name in rising)
    halves = (
        Relation(Side(name), "even along", Side(number=axis)) for name, axis in sorted(halved_parameters(f))
    )
    found += tuple(half for half in halves if half.left.name in names)
    found += tuple(relation for relation in _of_parity(f, said) if relation.left.name in names)
    groups = ((name, counts[0]) for name, counts in cut_into(f).items() if counts[1:] == (REST,))
    those_cut = ((name, count) for name, count in groups if {name, count} <= {*names})
    found += tuple(Relation(Side(name, of="len"), "a multiple of", Side(count)) for name, count in those_cut)
    for _, those in parts:
        found += tuple(Relation(Side(those[i]), "<", Side(those[j])) for i, j in ordered_pairs(those))
    if any(relation.in_words for relation in found):
        places = index_parameters(f) | {name for name, note in meant_types(f).items() if note is int}
        found = tuple(r for r in found if not r.in_words or r.names <= places)
    return Related(names, found, parts)


def _of_parity(f: Callable, said: str) -> Iterator[Relation]:
    """Arrays that a docstring gives an even or odd length, along an axis if it names the length of one.

    >>> def smoothed(x, kernel):
    ...     "x is (rows, length), kernel (rows, width); the width is odd."
    >>> [(r.left.name, r.sign, r.right.number) for r in _of_parity(smoothed, smoothed.__doc__)]
    [('kernel', 'odd along', 1.0)]
    """
    both = (*_OF_PARITY.findall(said), *((name, parity) for parity, name in _PARITY_BEFORE.findall(said)))
    yield from (Relation(Side(name), f"{parity} along", Side(number=0.0)) for name, parity in both)
    shapes = shapes_said(f)
    for word, parity in _LENGTH_OF_PARITY.findall(said):
        for name, lengths in shapes.items():
            if word in lengths:
                yield Relation(Side(name), f"{parity} along", Side(number=float(lengths.index(word))))


def _between_lengths(f: Callable, said: str) -> Iterator[Relation]:
    """The relations between the lengths of axes that a docstring compares.

    >>> def volume(J):
    ...     "Of a Jacobian J of shape (m, n), with m <= n."
    >>> [(r.left.axis, r.sign, r.right.axis) for r in _between_lengths(volume, volume.__doc__)]
    [(0, '<=', 1)]
    """
    pairs = _LENGTHS_COMPARED.findall(said)
    axes = shapes_said(f) if pairs else {}
    sides = {word: Side(name, axis=axis) for name, those in axes.items() for axis, word in enumerate(those)}
    yield from (Relation(sides[a], sign, sides[b]) for a, sign, b in pairs if a in sides and b in sides)


def _as_long_as(f: Callable, said: str, names: Sequence[str]) -> Iterator[Relation]:
    """Arrays that have at least as many elements, according to a docstring, as the default of a count
    says.
    """
    for name, count in _AT_LEAST.findall(said):
        least = default_of(f, count)
        if name in names and type(least) is int:
            yield Relation(Side(name, of="len"), ">=", Side(number=least))


def relations_in(text: str, names: Sequence[str], cases: frozenset[str] = frozenset()) -> Iterator[Relation]:
    """The relations between parameters, or between parameters and numbers, in a text.

    >>> [(r.left.name, r.sign, r.right.number) for r in relations_in("a share, 0 < p <= 1.", ("p",))]
    [('', '<', nan), ('p', '<=', 1.0)]
    >>> list(relations_in("x if x > 0, else 0", ("x",)))
    []
    >>> [r.right.number for r in relations_in("for x > 1 (a float or an array), or x > 2 (y - 1)", ("x",))]
    [1.0]
    """
    known = frozenset(names)
    for found in _CHAIN.finditer(text):
        before = text[: found.start()]
        parts = _OPERATOR.split(found[0])
        sides = [_side(part, known) for part in parts[::2]]
        told = {side.name for side in sides if side is not None and side.name}
        is_of_name = before.endswith("(") and (_NAME_BEFORE.search(before) or ("",))[0] in told
        part = _PART_UP_TO_COMMA if before.endswith("(") else _PART  # at an angle, closed orbit (0 <= e < 1)
        if _CONDITION.search(before) and not is_of_name or told & cases and part.search(before):
            continue
        if re.match(r"[^.;]*\b(else|otherwise)\b", text[found.end() :]):
            continue
        for (left, right), sign in zip(itertools.pairwise(sides), parts[1::2]):
            if left is not None and right is not None and (left.name or right.name):
                yield Relation(left, sign, right)
    yield from _of_sums(text, known)
    for sentence in re.split(r"[.;]\s", text):
        if _UNLIKE.search(sentence):
            for one, other in _TWO.findall(sentence):
                if one != other and {one, other} <= known:
                    yield Relation(Side(one), "!=", Side(other), in_words=True)


def _of_sums(text: str, known: frozenset[str]) -> Iterator[Relation]:
    """The relations between a sum of two parameters and another parameter or a number.

    >>> found, = _of_sums("gate >= a + b", frozenset(("gate", "a", "b")))
    >>> found.holds({"gate": 2.0, "a": 1.0, "b": 0.5}), found.holds({"gate": 2.0, "a": 1.0, "b": 1.5})
    (True, False)
    """
    for name, sign, one, other in _MORE_THAN.findall(text):
        if {name, one, other} <= known:
            yield Relation(Side(name), sign, Side(one, plus=other))
    for one, other, sign, beside in _SUM_OF.findall(text):
        side = _side(beside, known)
        if {one, other} <= known and side is not None:
            yield Relation(Side(one, plus=other), sign, side)


def stated_minimums(f: Callable) -> Mapping[str, int]:
    """The parameters for which the docstring of a function states a minimum of 0, 1 or 2, with that minimum.

    >>> def later(x, lag=1, every=2):
    ...     "x[lag:], where 0 <= lag < len(x), and every > 0."
    >>> stated_minimums(later)
    {'lag': 0}
    """
    code = getattr(f, "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code is not None else ()
    found = (
        r for r in relations_in(docstring_text(f), names) if r.sign in ("<=", ">=") and r.interval is not None
    )
    ends = (r.interval for r in found if not r.left.of + r.right.of)
    return {end[0]: int(end[1]) for end in ends if end is not None and end[1] in (0.0, 1.0, 2.0)}


def _along_axes(f: Callable, text: str, names: Sequence[str]) -> Iterator[Relation]:
    """The positions along an axis of an array, up to the last: `rows <= h - 1`, where img is (h, w)."""
    ends = _TO_LAST.findall(text)
    shapes = [(array, re.split(r",\s*", shape)) for array, shape in _OF_SHAPE.findall(text)]
    shapes += [(array, [*map(str, dims)]) for array, dims in shapes_said(f).items()] if ends else []
    lengths: dict[str, Side] = {}
    for array, dims in shapes:
        for axis, length in enumerate(dims):
            lengths.setdefault(length, Side(array, axis=axis))
    for name, end, axis in ends:
        side = Side(end, axis=int(axis)) if axis else lengths.get(end)
        if side is not None and {name, side.name} <= {*names}:
            yield Relation(Side(name), "<=", side)


def _between_places(f: Callable, names: Sequence[str]) -> Iterator[Relation]:
    """The positions that a function rounds down to an index of an array: none is below zero or after the last
    one.
    """
    for name, _, array, axis, _, may_be_last in dict.fromkeys(positions_in(f)):
        if {name, array} <= {*names}:
            yield Relation(Side(name), "<=" if may_be_last else "<", Side(array, axis=axis))
            yield Relation(Side(name), ">=", Side(number=0.0))


def _is_odd(x: Any, axis: float) -> bool:
    shape = shape_of(x)
    return -len(shape) <= axis < len(shape) and shape[int(axis)] % 2 == 1


def _evened(x: Any, axis: float) -> Any:
    """An array without the last element along an axis of odd length; a single element is repeated instead."""
    if not isinstance(x, np.ndarray) or not _is_odd(x, axis):
        return x
    length = x.shape[int(axis)]
    return np.take(x, range(length - 1) if length > 1 else (0, 0), int(axis))


def _made_odd(x: Any, axis: float) -> Any:
    """An array without the last element along an axis of even length."""
    if not isinstance(x, np.ndarray) or axis >= x.ndim or _is_odd(x, axis):
        return x
    return np.take(x, range(max(x.shape[int(axis)] - 1, 0)), int(axis))


def _doubled(x: Any, axis: float) -> Any:
    """An array with twice as many elements along an axis of odd length, the new ones between the old: in
    halves of one or two elements, a shift to the left is one to the right.
    """
    if not isinstance(x, np.ndarray) or not _is_odd(x, axis) or x.shape[int(axis)] < LEAST_DOUBLED:
        return _evened(x, axis)
    halfway = (x + np.roll(x, 1, int(axis))) / 2
    return np.concatenate([x, halfway.astype(x.dtype)], int(axis))


LEAST_DOUBLED = 3


def _end(end: str | float) -> Side:
    return Side(end) if isinstance(end, str) else Side(number=end)


def _side(word: str, names: frozenset[str]) -> Side | None:
    """One side of a relation; None if it is something unknown."""
    of, name = "", word
    if word.startswith("|") or "(" in word:
        of = "len" if word.startswith("len") else "abs"
        name = word.strip("|").rpartition("(")[2].rstrip(")")
    if name in names:
        return Side(name, of=of)
    if word in ("pi", "-pi"):
        return Side(number=math.copysign(math.pi, -1.0 if word[0] == "-" else 1.0))
    try:
        number = ast.literal_eval(word.lstrip("+"))
    except (ValueError, SyntaxError):
        return None
    return Side(number=float(number)) if isinstance(number, (int, float)) else None
