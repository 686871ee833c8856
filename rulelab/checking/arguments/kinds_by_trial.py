"""Find kinds of arguments by trying, where nothing that is read tells them: objects of the author's classes,
lists of pairs, indices. How far a call of the function gets before it raises shows which kinds are likelier.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import inspect
import itertools
import math
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...annotations import signature_of_callable
from ..calling.endless_loops import raising_if_endless
from ..calling.plain_calls import value_raising_warnings
from ..calling.subjects import authors_of, codes_of, helper_codes, helpers_of
from ..probing.drawing import draw_all
from ..probing.probes import watching_opcodes
from ..reading.by_name import interval_of_name, is_matrix_name, means_symmetric
from ..reading.fields_said import shapes_of_fields, words_behind_fields, words_of_fields
from ..reading.kinds import AS_LIST, SQUARE, Kind, Lengths, lengths_of_axes, of_lengths, throughout
from ..reading.kinds_taken import choices_of, fields_of, likeliest_first, narrowed, with_branches
from ..reading.lists_read import sequence
from ..reading.options_read import ANY_OTHER
from ..reading.records_read import attributes_of_elements
from ..reading.texts import attributes_read, has_a_raise
from ..reading.usage import sizes_said
from .guesser import Guesser, Kinds
from .refusals import is_of_domain, is_own_fault, is_raised_by

MOST_TRIES = 1500
"""The largest number of calls of the function in one search."""
MOST_STEPS = 20_000
"""The largest number of bytecode instructions in one call."""
MOST_OBJECTS = 60
"""The largest number of kinds tried for the objects of one class."""
FEW, OF_OBJECTS = 14, 40
"""How many kinds of each of two parameters are tried together; the second number is for objects."""
MOST_LIKELY = 8
"""The largest number of kinds suggested by the name and the code that are tried besides the general ones."""
MOST_TOGETHER = 3
"""The largest number of axes that are given a new length together."""
MOST_ROWS = 6
"""The largest number of objects in a list. There are two for each word that distinguishes them, since
contributions that add up must not overwrite each other.
"""
DRAWS, MOST_DRAWS = 6, 5
"""The number of draws of a kind, and of those with a value it must reach: a count may fit by chance."""
MOST_FIELDS = 6
"""The largest number of fields of objects that are made larger than the others, one at a time, where the
function refuses them.
"""
DEEPEST = 3
"""The depth to which classes are nested in classes whose objects are made."""


def kinds_by_trying(guesser: Guesser) -> Kinds | None:
    """Kinds that a function takes and for which its rule runs, returns cotangents that do not have the
    annotated shapes, or fails by its own fault. None where none are found, or while a debugger traces the
    code.

    At first all arrays have the same length, so that products and sums of them fit. Then axes that may have
    lengths of their own are given different ones.
    """
    if sys.gettrace() is not None or guesser.bound or not guesser.names:
        return None
    with guesser.keeping_generator():
        search = _Search(guesser)
        found = search.found()
        alike = None if found is None else search.in_domain(found)
        if alike is None:
            return None
        if not _standing(guesser, alike)[1]:  # guessed arguments may not be intended
            args = guesser.drawn(alike)
            error = guesser.raised(args)
            return alike if guesser.is_wrong_in_shape(error) or is_own_fault(error, args) else None
        kinds = _with_axes_apart(guesser, alike)
        said = zip(guesser.names, map(lengths_of_axes, kinds))
        guesser.lengths = {name: (lengths,) for name, lengths in said if _has_a_number(lengths)}
        return kinds


def with_places_repeated(guesser: Guesser, kinds: Kinds) -> Iterator[Kinds]:
    """The kinds with a list or tuple of indices in which each comes twice, where the function takes one and
    its rule returns an answer: a rule must add up contributions, not overwrite them.
    """
    for i, kind in enumerate(kinds):
        made, places = kind.made, [part for _, part in kind.parts]
        if made is not list and made is not tuple or len(places) < 2:
            continue
        if not all(part == _whole(k) for k, part in enumerate(places)):
            continue
        twice = (*kinds[:i], sequence(made, [*places, *reversed(places)]), *kinds[i + 1 :])
        with guesser.keeping_generator():
            if guesser.takes(twice) and guesser.rule_runs(guesser.drawn(twice)):
                yield twice


# -- what is tried -------------------------------------------------------------------------------------------

_NUMBER, _VECTOR = Kind("number"), Kind("vector", dims=("n",))
_MATRIX = Kind("matrix", dims=("n", "n"))
_IN_OBJECTS = (_NUMBER, _VECTOR, _MATRIX)
_IN_DICTS = (_NUMBER, Kind("integer"), _VECTOR, _MATRIX)


def _whole(number: int) -> Kind:
    return Kind("integer", number, number + 1)


def _places(count: int, *more: Kind) -> Kind:
    """A list of tuples of so many indices below three, all different, like the edges of a graph, and of
    `more`. In the ring of the first three rows, as many edges lead to each node as away from it; the last row
    breaks this symmetry.
    """
    ring = [[(row + place) % 3 for place in range(count)] for row in range(3)]
    rows = [*ring, [2 - place for place in range(count)]]
    return sequence(list, [sequence(tuple, [*map(_whole, row), *more]) for row in rows])


def _tuples(count: int, kind: Kind) -> Kind:
    return sequence(tuple, [kind] * count)


def _dicts(kind: Kind) -> Kind:
    """A dict with any keys and values of this kind; integers all differ."""
    kinds = map(_whole, range(1, 4)) if kind.form == "integer" else [kind] * 3
    return Kind("object", made=dict, parts=tuple(zip("abc", kinds)))


_ANYTHING = (
    _NUMBER,
    _VECTOR,
    _MATRIX,
    Kind("indices", dims=("n", "n")),
    Kind("integer"),
    Kind("integer", 0, 2),
    Kind("integer", dims=("n",)),
    Kind("vector", dims=("n+1",)),
    Kind("indices", dims=("n", "n"), dtype=AS_LIST),
    *(Kind("matrix", dims=("n", width)) for width in (2, 3)),
    *(Kind("vector", dims=(length,)) for length in (2, 3, 4, "3*n")),
    sequence(list, [_MATRIX] * 3),
    sequence(list, [_VECTOR] * 3),
    sequence(list, [_tuples(2, _NUMBER)] * 3),
    Kind("list"),
    *(Kind("matrix", dims=(length, length)) for length in (2, 3, 4)),
    *(_tuples(count, _NUMBER) for count in (2, 3, 4)),
    *(_tuples(count, _VECTOR) for count in (2, 3)),
    *(Kind("indices", dims=("m", corners, "n")) for corners in (2, 3)),
    *(_places(corners) for corners in (2, 3)),
    _places(2, _NUMBER),
    sequence(list, [_tuples(3, _NUMBER)] * 3),
    *(sequence(tuple, map(_whole, range(count))) for count in (2, 3, 4)),
    Kind("positive definite", dims=("n", "n")),
    Kind("array", dims=("n", "n", "n")),
    Kind("matrix", dims=("n", "2*n")),
    Kind("vector", dims=("2*n",)),
)


def _choices(guesser: Guesser) -> list[tuple[Kind, ...]]:
    """The kinds tried for each parameter, likely ones first."""
    notes, read = _notes_of(guesser.target), attributes_read(guesser.target)
    noted, of_elements = _Noted(_words_compared(guesser)), attributes_of_elements(guesser.target)
    usual = choices_of(guesser.names, None, guesser.domain, guesser.used)
    sized = (Kind("matrix", dims=pair) for pair in sizes_said(guesser.target))
    shaped = (*_ANYTHING[:1], *sized, *_ANYTHING[1:])
    every: list[tuple[Kind, ...]] = []
    for name, likely in zip(guesser.names, usual):
        bounds = guesser.domain.get(name, Kind())
        if bounds.is_asked:
            every.append((bounds,))
            continue
        classes = _classes_with(guesser.target, read.get(name, ()))
        made = [*noted.kinds(notes.get(name)), *(kind for cls in classes for kind in noted.objects(cls))]
        if name not in notes:
            rows = _classes_with(guesser.target, of_elements.get(name, ()))
            made += [kind for cls in rows for kind in noted.kinds(list[cls])]  # type: ignore[valid-type]
        made += [] if made or _OF_DICTS.isdisjoint(read.get(name, ())) else map(_dicts, _IN_DICTS)
        others = () if read.get(name) else shaped
        kinds = dict.fromkeys((*map(with_branches, made), *others, *likely[:MOST_LIKELY]))
        kinds = dict.fromkeys(filter(_NOTED.get(notes.get(name), bool), kinds))
        every.append(tuple(_within(kind, bounds) for kind in kinds))
    return every


def _words_compared(guesser: Guesser) -> Mapping[str, tuple[str, ...]]:
    """The words with which a function or its rules compare fields, plus one that stands for any other word
    where the rules compare with no more words than the function.
    """
    rules = authors_of(guesser.target, guesser.registry)
    own = words_of_fields((guesser.target, *helpers_of(guesser.target)))
    found = words_of_fields((guesser.target, *helpers_of(guesser.target, *rules), *rules))
    alone = {name for name, words in found.items() if {*words} == {*own.get(name, ())}}
    return {name: (*words, *((ANY_OTHER,) if name in alone else ())) for name, words in found.items()}


_OF_DICTS = frozenset(("items", "keys", "values", "get"))
"""Methods of a dict whose keys are not in the code."""


def _is_whole(kind: Kind) -> bool:
    return kind.form == "integer"


def _is_listed(kind: Kind) -> bool:
    return kind.form in ("list", "indices") or kind.made in (list, tuple)


def _is_number(kind: Kind) -> bool:
    return kind.form == "number"


def _is_array(kind: Kind) -> bool:
    return kind.made is None and kind.form not in ("number", "integer", "list")


_NOTED: Mapping[Any, Callable[[Kind], bool]] = {
    float: _is_number, int: _is_whole, list: _is_listed, tuple: _is_listed, np.ndarray: _is_array
}  # fmt: skip
"""Which kinds remain for annotations that say no more than this."""


def _within(kind: Kind, bounds: Kind) -> Kind:
    """The kind with its numbers restricted to these bounds."""
    if kind.form not in _OF_FLOATS:
        return kind
    return dataclasses.replace(kind, low=max(kind.low, bounds.low), high=min(kind.high, bounds.high))


def _notes_of(f: Any) -> Mapping[str, Any]:
    """The annotations of a function, or of a constructor; empty where they cannot be resolved."""
    try:
        return typing.get_type_hints(f)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return {}


def _classes_with(f: Any, attributes: Sequence[str]) -> list[type]:
    """The author's classes whose objects have these attributes."""
    if not attributes:
        return []
    space = getattr(f, "__globals__", {})
    classes = dict.fromkeys(cls for cls in space.values() if isinstance(cls, type))
    return [cls for cls in classes if {*attributes} <= {*fields_of(cls), *_parameters(cls)}]


def _parameters(cls: type) -> tuple[str, ...]:
    """The names of the parameters of a constructor that have no default."""
    made_with = _made_with(cls)
    if any(p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in made_with):
        return ()
    return tuple(p.name for p in made_with if p.default is p.empty)


def _made_with(cls: type) -> Sequence[inspect.Parameter]:
    """The parameters of a constructor; none where they are not known."""
    try:
        return [*signature_of_callable(cls).parameters.values()]
    except (TypeError, ValueError):
        return []


def _as_named(name: str, kinds: tuple[Kind, ...]) -> tuple[Kind, ...]:
    """The kinds, matrices first if the name suggests one."""
    if not is_matrix_name(name) and not means_symmetric(name):
        return kinds
    return tuple(sorted(kinds, key=lambda kind: kind.form != "matrix"))


_ANY_WORD = (Kind("option", options=(ANY_OTHER,)),)
"""A text field that is compared with nothing, such as a name."""
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable)


class _Noted:
    """The kinds that annotations mean, given the `words` with which functions compare the fields of objects,
    as in `kind == "R"`.
    """

    def __init__(self, words: Mapping[str, tuple[str, ...]]) -> None:
        self.words = words

    def objects(self, cls: type, depth: int = DEEPEST, number: int = 0) -> tuple[Kind, ...]:
        """The objects of a class, made of numbers, arrays, lists, words and other such objects. The objects
        of a list differ from each other in their integers, words and flags.
        """
        names = _parameters(cls)
        if not names or depth == 0:
            return ()
        notes = _notes_of(cls) or _notes_of(getattr(cls, "__init__", None))
        whole, shapes = itertools.count(number), shapes_of_fields(cls, names)
        choices: list[tuple[Kind, ...]] = []
        for name in names:
            note = notes.get(name, Any)
            if name in shapes and note in (Any, np.ndarray):
                choices.append((of_lengths(shapes[name]),))
            elif note is int:
                choices.append((_whole(next(whole) % 3),))
            elif words := self._words(cls, name, note, number):
                choices.append(words)
            else:
                usual = _IN_OBJECTS if note is Any else _ANY_WORD if note is str else ()
                kinds, bounds = self.kinds(note, depth - 1) or usual, Kind("number", *interval_of_name(name))
                choices.append(_as_named(name, tuple(_within(kind, bounds) for kind in kinds)))
        are_alike = len({notes.get(name) for name in names}) == 1 and all(kind.made for kind in choices[0])
        alike = zip(*choices) if are_alike else ()  # two layers in one object have arrays of the same forms
        every = itertools.chain(alike, likeliest_first(choices)) if all(choices) else iter(())
        mixed = dict.fromkeys(itertools.islice(every, MOST_OBJECTS))
        flags = tuple(_flags_turned(cls)) if number % 3 else ()  # by three, so that a reversed list differs
        return tuple(Kind("object", made=cls, parts=(*zip(names, parts), *flags)) for parts in mixed)

    def _words(self, cls: type, name: str, note: Any, number: int) -> tuple[Kind, ...]:
        """One of the words that a field may have, a different one for each object of a list: the words that
        its annotation names, those in the comment after it, or those it is compared with and any other.
        """
        words = typing.get_args(note) if typing.get_origin(note) is typing.Literal else ()
        if not words and (note is str or note is Any) and name in self.words:
            words = words_behind_fields(cls).get(name, ()) or self.words[name]
        return (Kind("option", options=(words[number % len(words)],)),) if words else ()

    def kinds(self, note: Any, depth: int = DEEPEST, number: int = 0) -> tuple[Kind, ...]:
        """The kinds that an annotation means; none where it does not tell."""
        if isinstance(note, type) and note in _PLAIN:
            return _PLAIN[note]
        origin, of = typing.get_origin(note), typing.get_args(note)
        if origin is np.ndarray:
            return _PLAIN[np.ndarray]
        if origin in (typing.Union, types.UnionType):
            return tuple(kind for one in of for kind in self.kinds(one, depth, number))
        if origin in _LISTS and len(of) == 1:
            twice = 2 * max(map(len, self.words.values()), default=0)
            each = [self.kinds(of[0], depth, row) for row in range(max(3, min(twice, MOST_ROWS)))]
            return tuple(sequence(list, alike) for alike in zip(*each))
        if origin in (dict, collections.abc.Mapping) and of and of[0] is str:
            return tuple(map(_dicts, self.kinds(of[1], depth, number)))
        if origin is tuple and of[1:] == (Ellipsis,):
            return tuple(_tuples(3, kind) for kind in self.kinds(of[0], depth, number))
        if origin is tuple and of:
            mixed = likeliest_first([self.kinds(one, depth, number + place) for place, one in enumerate(of)])
            return tuple(sequence(tuple, parts) for parts in itertools.islice(mixed, MOST_OBJECTS))
        return self.objects(note, depth, number) if isinstance(note, type) and _is_own(note) else ()


def _flags_turned(cls: type) -> Iterator[tuple[str, Kind]]:
    """The flags of a class that have a default, with the other value."""
    for parameter in _made_with(cls):
        if type(parameter.default) is bool:
            yield parameter.name, Kind("option", options=(not parameter.default,))


def _is_own(cls: type) -> bool:
    """Whether a class is an author's own, not one of Python or NumPy."""
    return cls.__module__ not in ("builtins", "typing", "collections.abc") and not issubclass(cls, np.generic)


_PLAIN: Mapping[Any, tuple[Kind, ...]] = {
    float: (_NUMBER,),
    int: (Kind("integer"),),
    complex: (Kind("number", dtype="complex128"),),
    np.ndarray: (
        _VECTOR,
        _MATRIX,
        *(Kind("vector", dims=(length,)) for length in ("n+1", 2, 3, 4)),
        *(Kind("matrix", dims=("n", width)) for width in (2, 3)),
        Kind("array", dims=("n", "n", "n")),
    ),
}


# -- the search ----------------------------------------------------------------------------------------------


class _Search:
    """The search for kinds that a function takes: one parameter at a time, then two together."""

    def __init__(self, guesser: Guesser) -> None:
        self.guesser, self.tries = guesser, 0
        self.refuses = False  # whether a `raise` of the function refuses some numbers
        self.seen: dict[Kinds, tuple[bool, int]] = {}
        self.standings: dict[Kinds, tuple[Standing, Kinds]] = {}
        self.at_one_length: list[Kinds] = []  # kinds with a value only at the first length
        self.may_refuse = has_a_raise(guesser.target)
        self.choices = _choices(guesser)
        self.wanted = frozenset((*codes_of(guesser.target), *helper_codes(guesser.target)))

    def found(self) -> Kinds | None:
        if not all(self.choices):
            return None
        best = tuple(likely[0] for likely in self.choices)
        while not self.reached(best)[0]:
            before = self.reached(best)
            for i, likely in enumerate(self.choices):
                best = self._better(best, (((i, kind),) for kind in likely))
            if self.reached(best) == before:
                best = self._better(best, _by_twos([self._furthest(best, i) for i in range(len(best))]))
            if self.reached(best) == before or self.is_over():
                break
        return self._likeliest(best) if self.reached(best)[0] else self._of_one_length()

    def _likeliest(self, best: Kinds) -> Kinds:
        """Of the kinds that the function takes, those for which the rule was most likely written. Tried are
        other kinds of one parameter, matrices for all vectors, one of the arrays for all numbers, and other
        kinds of two parameters.
        """
        self.tries = 0  # the tries so far were spent on kinds that the function does not take
        for i, likely in 2 * [*enumerate(self.choices)]:  # a count may have to come first
            # for symmetric matrices a wrong transpose is right
            general = (kind for kind in likely if kind.form not in SQUARE)
            best = self._best(best, ((*best[:i], kind, *best[i + 1 :]) for kind in general))
        best = self._best(best, iter([tuple(_MATRIX if k.form == "vector" else k for k in best)]))
        arrays = (kind for kind in best if kind.form not in ("number", "integer") and kind.made is None)
        best = self._best(
            best, (tuple(kind if k.form == "number" else k for k in best) for kind in dict.fromkeys(arrays))
        )
        pairs = itertools.combinations(range(len(best)), 2)
        while not self._standing(best)[1] and not self.is_over() and (pair := next(pairs, None)):
            i, j = pair
            both = itertools.product(self._furthest(best, i), self._furthest(best, j))
            best = self._best(best, (_with(best, ((i, one), (j, other))) for one, other in both))
        return best

    def _best(self, best: Kinds, others: Iterator[Kinds]) -> Kinds:
        taken = (kinds for kinds in others if not self.is_over() and self.reached(kinds)[0])
        return max((best, *taken), key=self._standing)

    def _standing(self, kinds: Kinds) -> Standing:
        return self._asked(kinds)[0]

    def in_domain(self, kinds: Kinds) -> Kinds:
        """The same kinds over the first interval at which the function mostly has a value and its rule runs,
        or at least the function has a value; not over all numbers if the function refuses some.
        """
        return self._asked(kinds)[1]

    def _asked(self, kinds: Kinds) -> tuple[Standing, Kinds]:
        if kinds not in self.standings:
            best = _NOWHERE, kinds
            for one in self._taken(kinds):
                best = max(best, (_standing(self.guesser, one), one), key=operator.itemgetter(0))
                if best[0][1]:
                    break
            self.standings[kinds] = best
        return self.standings[kinds]

    def _taken(self, kinds: Kinds) -> Iterator[Kinds]:
        """The same kinds over each interval in which the function mostly has a value."""
        with contextlib.suppress(Exception):
            over = itertools.chain(narrowed(kinds), _with_one_larger(kinds) if self.may_refuse else ())
            yield from filter(self.guesser.takes, itertools.islice(over, self.refuses, None))

    def _furthest(self, best: Kinds, i: int) -> list[Kind]:
        """The kinds of a parameter with which a call gets furthest, the likeliest first."""
        likely = sorted(self.choices[i], key=lambda k: -self.reached((*best[:i], k, *best[i + 1 :]))[1])
        return likely[: FEW if likely[0].made is None else OF_OBJECTS]

    def is_over(self) -> bool:
        return self.tries >= MOST_TRIES or self.guesser.end.is_over()

    def _better(self, best: Kinds, changes: Iterator[tuple[tuple[int, Kind], ...]]) -> Kinds:
        """The first kinds with which a call of the function gets furthest."""
        for change in changes:
            if self.reached(best)[0] or self.is_over():
                break
            best = max(best, _with(best, change), key=self.reached)
        return best

    def reached(self, kinds: Kinds) -> tuple[bool, int]:
        """Whether the function has a value with arguments of these kinds, and how many instructions of its
        code were run.
        """
        if kinds not in self.seen and self.is_over():
            return False, 0
        if kinds not in self.seen:
            self.tries += 1
            self.seen[kinds] = self._reached(kinds)
        return self.seen[kinds]

    def _reached(self, kinds: Kinds) -> tuple[bool, int]:
        """Compute what `reached` returns. Where the function itself refuses the arguments, or a root of
        Python does, try again with positive numbers, or with one field larger than the others.
        """
        steps: set[tuple[types.CodeType, int]] = set()
        error = self._error_with(kinds, steps)
        if error is not None and (is_raised_by(error, self.wanted) or is_of_domain(error)):
            others = (tuple(map(_positive, kinds)), *_with_one_larger(kinds))
            if any(self._error_with(one, steps) is None for one in others):
                error, self.refuses = None, True
        is_taken = error is None and next(self._taken(kinds), None) is not None
        if error is None and not is_taken:
            self.at_one_length.append(_at_first_length(kinds))
        return is_taken, len(steps)

    def _of_one_length(self) -> Kinds | None:
        """Of the kinds for which the function has a value only at the first length, those for which the rule
        seems to be written. Only a few are tried, since the time is mostly over by then.
        """
        first = itertools.islice(dict.fromkeys(self.at_one_length), FEW)
        return max(filter(lambda kinds: self._standing(kinds)[1], first), key=self._standing, default=None)

    def _error_with(self, kinds: Kinds, steps: set[tuple[types.CodeType, int]]) -> BaseException | None:
        """The exception that the function raises for such arguments; None where it has a value. The
        instructions run are added to `steps`.
        """
        guesser = self.guesser
        try:
            args = guesser.related.repaired(draw_all(kinds, np.random.default_rng(0)))
            with raising_if_endless(guesser.target), _noted(self.wanted, steps):
                value_raising_warnings(guesser.f, args, guesser.kwargs)
        except (Exception, _TooManyStepsError) as error:
            return error
        return None


def _at_first_length(kinds: Kinds) -> Kinds:
    """The kinds with the lengths of the first draw: a cross product needs vectors of three numbers."""

    def length(said: int | str) -> int | str:
        return _FIRST.get(said, said) if isinstance(said, str) else said

    def fixed(kind: Kind) -> Kind:
        return dataclasses.replace(kind, dims=tuple(map(length, kind.dims)))

    return tuple(throughout(kind, fixed) for kind in kinds)


_FIRST = {"n": 3, "n+1": 4, "2*n": 6, "3*n": 9}


def _positive(kind: Kind) -> Kind:
    """The kind with positive numbers, also in its parts."""
    return throughout(kind, lambda one: _above(one, 0.0))


_LARGER = 8.0


def _with_one_larger(kinds: Kinds) -> Iterator[Kinds]:
    """The kinds in which one field of all objects is larger than the others: an energy must be large enough
    for a momentum to exist.
    """

    def larger(kind: Kind, field: str) -> Kind:
        changed = (
            (name, _above(part, _LARGER) if name == field else larger(part, field))
            for name, part in kind.parts
        )
        return dataclasses.replace(kind, parts=tuple(changed))

    fields = [*dict.fromkeys(field for kind in kinds for field in _fields_in(kind))]
    for field in fields[:MOST_FIELDS] if len(fields) > 1 else ():
        yield tuple(larger(kind, field) for kind in kinds)


def _above(kind: Kind, low: float) -> Kind:
    """The kind with numbers above `low`, if it has numbers without a lower bound."""
    is_free = kind.form in _OF_FLOATS and kind.low == -math.inf
    return dataclasses.replace(kind, low=low) if is_free else kind


def _fields_in(kind: Kind) -> Iterator[str]:
    """The names of the fields in a kind, at all depths; the parts of a list or a tuple have none."""
    for name, part in kind.parts:
        if kind.made not in (list, tuple):
            yield name
        yield from _fields_in(part)


_OF_FLOATS = ("number", "vector", "matrix", "list", "array")


def _with(kinds: Kinds, change: tuple[tuple[int, Kind], ...]) -> Kinds:
    those = dict(change)
    return tuple(those.get(i, kind) for i, kind in enumerate(kinds))


def _by_twos(furthest: Sequence[Sequence[Kind]]) -> Iterator[tuple[tuple[int, Kind], tuple[int, Kind]]]:
    """All changes of two parameters, likely pairs of kinds first."""
    pairs = list(itertools.combinations(range(len(furthest)), 2))
    for total in range(2 * max(map(len, furthest))):
        for i, j in pairs:
            for place, one in enumerate(furthest[i][: total + 1]):
                for other in furthest[j][total - place : total - place + 1]:
                    yield (i, one), (j, other)


class _TooManyStepsError(BaseException):
    """A call has run too many instructions. A BaseException, since the function may catch any Exception."""


@contextlib.contextmanager
def _noted(wanted: frozenset[types.CodeType], steps: set[tuple[types.CodeType, int]]) -> Iterator[None]:
    """Record in `steps` which instructions of some code run."""
    left = itertools.count(MOST_STEPS, -1)

    def in_function(frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "opcode":
            steps.add((frame.f_code, frame.f_lasti))
            if next(left) <= 0:
                raise _TooManyStepsError
        return in_function

    with watching_opcodes(wanted, in_function):
        yield


# -- lengths -------------------------------------------------------------------------------------------------


def _with_axes_apart(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds with letters of their own for axes that may have other lengths than the rest, one axis or a
    few together. Those for which the rule is as right as with equal lengths come first, then any for which it
    runs, unless indices are among them: only different lengths show by which one a rule divides.
    """
    for i, kind in enumerate(kinds):
        longer = (dataclasses.replace(kind, dims=dims) for dims in _with_a_letter(kind.dims))
        others = ((*kinds[:i], one, *kinds[i + 1 :]) for one in longer)
        kinds = next((one for one in others if _runs(guesser, one)), kinds)
    known = _standing(guesser, kinds)
    for letter in _LETTERS:
        axes, together = _axes(kinds), range(1, MOST_TOGETHER + 1)
        chosen = (those for count in together for those in itertools.combinations(range(axes), count))
        apart = (_with_letter(kinds, frozenset(those), letter) for those in chosen if len(those) < axes)
        running: list[Kinds] = []
        for one in apart:
            if (standing := _standing(guesser, one)) >= known:
                kinds = one
                break
            running += [one] if standing[1] and not _has_places(one) else []
        else:
            if not running:
                break
            kinds = running[0]
    return kinds


def _has_places(kinds: Kinds) -> bool:
    """Whether some kinds are indices into other arrays, which must be long enough."""
    return any(kind.form == "indices" for kind in kinds)


def _with_a_letter(dims: Lengths) -> Iterator[Lengths]:
    """The lengths of a square matrix of fixed size, with a free number of rows or of columns."""
    if len(dims) == 2 and dims[0] == dims[1] and isinstance(dims[0], int):
        yield "n", dims[1]
        yield dims[0], "n"


def _runs(guesser: Guesser, kinds: Kinds) -> bool:
    """Whether a function has a value for such arguments, and its rule cotangents of the right shapes."""
    return _standing(guesser, kinds)[1]


_LETTERS = "mpqrstuv"


def _has_a_number(dims: Lengths) -> bool:
    return any(isinstance(length, int) for length in dims)


Standing = tuple[bool, bool, int, int]
_NOWHERE: Standing = (False, False, 0, 0)


def _standing(guesser: Guesser, kinds: Kinds) -> Standing:
    """How well such arguments fit, as a sort key: whether a function has a value for them, whether its rule
    runs, how many cotangents are right (in a wrong rule, most are if it is written for such arguments), and
    how many arguments can have one.
    """
    try:  # a constructor may refuse its arguments, too
        drawn = [guesser.draw(kinds, number) for number in range(DRAWS)]
    except Exception:
        return _NOWHERE
    valued = [args for args in drawn if any(True for _ in guesser.finite_values([args]))]
    has_value = len(valued) >= MOST_DRAWS
    runs = has_value and all(map(guesser.rule_runs, valued[:2]))
    right = min(map(guesser.right_cotangents, valued[:2])) if runs else 0
    floats = sum(kind.made is not None or kind.form in _OF_FLOATS for kind in kinds)
    return has_value, runs, right, floats


def _axes(kinds: Kinds) -> int:
    """How many axes there are that have the same length."""
    numbers = itertools.count()
    for kind in kinds:
        _renamed(kind, numbers, frozenset(), "")
    return next(numbers)


def _with_letter(kinds: Kinds, those: frozenset[int], letter: str) -> Kinds:
    numbers = itertools.count()
    return tuple(_renamed(kind, numbers, those, letter) for kind in kinds)


def _renamed(kind: Kind, numbers: Iterator[int], those: frozenset[int], letter: str) -> Kind:
    """The kind with another letter for those of its axes, which are numbered through all kinds."""

    def renamed(one: Kind) -> Kind:
        if one.form in SQUARE:
            is_one = bool(one.dims) and next(numbers) in those
            return dataclasses.replace(one, dims=(letter, letter)) if is_one else one
        dims = (letter if d == "n" and next(numbers) in those else d for d in one.dims)
        return dataclasses.replace(one, dims=tuple(dims))

    return throughout(kind, renamed)
