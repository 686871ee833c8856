"""Find the kinds of arguments that a function takes and that its rule is written for, where the caller did
not say.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ...errors import RuleLabError
from ...rules.targets import name_of
from ...tangents.zeros import AbstractZero, NoTangent
from ..calling.budgets import Limit
from ..calling.subjects import authors_of
from ..measuring.vectors import shape_of_answer, to_vec
from ..probing.forms import SYMMETRIC
from ..reading.answers_read import held_by_answers, lists_answered
from ..reading.arrays_said import numbers_beside_shapes
from ..reading.axes_read import scaling_sums, summed_for
from ..reading.by_name import COUNTS, names_of_curve
from ..reading.counts import REST, cut_into
from ..reading.docstrings import list_counts_said
from ..reading.groups_read import labels_in_words
from ..reading.kinds import MATRICES, Kind, Lengths, is_square, lengths_of_axes, of_lengths
from ..reading.own_docstrings import docstring_of
from ..reading.parameters import all_names
from ..reading.pieces_read import pieces_read
from ..reading.positions_read import positions_read
from ..reading.relations import NOTHING_SAID
from ..reading.shapes_solved import taken_as_square
from ..reading.stated_kinds import complex_said, labels_said, numbered_in_plural, signs_said, whole_said
from ..reading.texts import defaults_of
from ..reading.typical_said import typical_said
from ..reading.usage import index_parameters, lengths_picked_from, mask_parameters, shapes_said
from .broadcasting import (
    of_ranks_asked,
    of_ranks_told,
    of_rows_beside,
    of_vectors_apart,
    with_vectors,
)
from .guesser import OF_ROWS, Guesser, Kinds, NoInputsError, none_found, of_signs
from .kind_search import Search, floats_of
from .kinds_by_trial import kinds_by_trying, with_places_repeated
from .kinds_from_answers import as_axes_answered, as_lists_answered
from .kinds_from_docstring import (
    of_arrays_alike,
    of_arrays_said,
    of_lists_said,
    of_ranks_said,
    of_rows_said,
    with_arrays_told,
)
from .lengths import (
    of_axes_apart,
    of_indices_apart,
    of_one_length,
    of_other_fixed_lengths,
    of_own_lengths,
    of_products,
    of_unlike_lengths,
    with_larger,
    with_rows,
)
from .refusals import REFUSALS, is_own_fault
from .wider_intervals import of_sides_compared, of_wider_intervals

MOVES = 3
"""The number of draws at which it is tested whether a rule has a cotangent for integers."""
TRYING = 2.0
"""Processor time in seconds that may be spent on kinds other than those found."""
CHANCES = 4
"""The number of draws at which a rule must be right if it is wrong for likelier kinds."""


SIZES_TRIED = (1e2, 1e-2, 1e3, 1e-3, 1e4, 1e-4, 1e6, 1e-6)
"""The sizes of numbers that are tried for one parameter of a function that is constant at usual ones."""
EXAMPLES = 9
"""The number of draws by which it is tested whether a function needs numbers like the examples of its
docstring.
"""


class Found(NamedTuple):
    """The guessed kinds at which a rule is judged, `others` of numbers and vectors for which it runs, and
    notes on those for which it is wrong but not judged.
    """

    kinds: tuple[Kinds, ...]
    others: tuple[Kinds, ...] = ()
    notes: tuple[str, ...] = ()


def kinds_of(guesser: Guesser, several: bool) -> Found:
    """The kinds at which a rule is judged: several, if they are wanted or the function names an axis.

    What the function states about its parameters is respected, unless it takes no such arguments; and where
    it repeats a step, so is whether it has converged.
    """
    unknown = set(guesser.domain) - set(guesser.names) - set(all_names(guesser.target))
    if unknown:
        raise NoInputsError(f"{name_of(guesser.target)} has no parameter {sorted(unknown)[0]}")
    if guesser.iterated is not None:
        with contextlib.suppress(NoInputsError):
            return _kinds_heeded(guesser, several)
        guesser.iterated = None
    try:
        found = _kinds_heeded(guesser, several)
    except NoInputsError:
        kinds = kinds_by_trying(guesser) or _with_those_of_none(guesser)
        if kinds is None:
            raise
        return _as_tried(guesser, _with_arrays_for_indices(guesser, kinds))
    kinds = _others_by_trying(guesser) if _is_refused(guesser, found) else _right_by_trying(guesser, found)
    return found if kinds is None else _as_tried(guesser, kinds)


def _as_tried(guesser: Guesser, kinds: Kinds) -> Found:
    """The kinds found by trying, with lists where the rule returns lists."""
    return Found((*as_lists_answered(guesser, kinds), *with_places_repeated(guesser, kinds)))


def _with_arrays_for_indices(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds with arrays of numbers in place of indices for which the rule returns a cotangent, if the
    function takes them: arrays were tried late, and the code also runs with indices.
    """
    moving = {name for name, is_moved in _moved_integers(guesser, kinds).items() if is_moved}
    pairs = list(zip(guesser.names, kinds))
    those = [name in moving and kind.form == "indices" for name, kind in pairs]
    arrays = tuple(
        of_lengths(lengths_of_axes(kind)) if is_one and kind.dims else Kind("vector") if is_one else kind
        for (_, kind), is_one in zip(pairs, those)
    )
    return arrays if any(those) and guesser.takes(arrays) else kinds


def _others_by_trying(guesser: Guesser) -> Kinds | None:
    """Kinds other than those found, with a time limit of their own; None if that is exceeded, and then those
    found are judged.
    """
    usual, guesser.end = guesser.end, Limit(TRYING)
    try:
        return kinds_by_trying(guesser)
    finally:
        guesser.end = usual if usual.was_over else Limit(usual.seconds)


def _right_by_trying(guesser: Guesser, found: Found) -> Kinds | None:
    """Kinds for which a rule is right that is wrong for all kinds found, if indices are among these: what
    they index may be rows of matrices as well. None where there are none, and where the code tells what the
    indices are of, or the docstring numbers them in the plural.
    """
    those = found.kinds
    if pieces_read(guesser.target) or numbered_in_plural(guesser.target):
        return None
    if guesser.mode != "rrule" or not all(any(k.form == "indices" for k in kinds) for kinds in those):
        return None
    with guesser.keeping_generator():
        if any(guesser.seems_right(guesser.drawn(kinds)) for kinds in those):
            return None
        kinds = _others_by_trying(guesser)
        if kinds is None or _moved_integers(guesser, kinds):
            return None
        drawn = [guesser.draw(kinds, number) for number in range(CHANCES)]
        return kinds if all(map(guesser.seems_right, drawn)) else None


def _with_those_of_none(guesser: Guesser) -> Kinds | None:
    """Kinds that also give values to parameters whose default is None: of `dx=None, x=None`, one must be
    given. None where that does not help.
    """
    required, names, defaults = guesser.names, all_names(guesser.target), defaults_of(guesser.target)
    more = itertools.takewhile(lambda name: defaults.get(name, 0) is None, names[len(required) :])
    for count, _ in enumerate(more, len(required) + 1):
        guesser.set_parameters(names[:count])
        if (kinds := kinds_by_trying(guesser)) is not None:
            return kinds
    guesser.set_parameters(required)
    return None


def _is_refused(guesser: Guesser, found: Found) -> bool:
    """Whether a rule raises exceptions of Python or NumPy, not due to a fault of its own, for all kinds
    found: it may be written for other kinds.
    """

    def is_refused(args: tuple) -> bool:
        error = guesser.raised(args)
        is_told = isinstance(error, REFUSALS) and not isinstance(error, RuleLabError)
        return is_told and not is_own_fault(error, args)

    with guesser.keeping_generator():
        return all(is_refused(guesser.drawn(kinds)) for kinds in found.kinds)


def _kinds_heeded(guesser: Guesser, several: bool) -> Found:
    """The kinds found if what the function states about its parameters is respected; else those found
    without.
    """
    usual = guesser.domain, guesser.used, guesser.ordered
    guesser.adopt_statements()
    if usual != (guesser.domain, guesser.used, guesser.ordered) or guesser.related.relations:
        found = _of_other_sizes(guesser, several) or _kinds_or_none(guesser, several)
        if found is not None:
            return found
        guesser.domain, guesser.used, guesser.ordered = usual
        guesser.bounds, guesser.related = {}, NOTHING_SAID
    return _of_other_sizes(guesser, several) or _kinds_of(guesser, several)


def _of_other_sizes(guesser: Guesser, several: bool) -> Found | None:
    """The kinds with numbers of another size than usual, if the docstring gives examples or the function
    needs them; otherwise None.
    """
    return _as_in_examples(guesser, several) or _where_it_varies(guesser, several)


def _kinds_or_none(guesser: Guesser, several: bool) -> Found | None:
    with contextlib.suppress(NoInputsError):
        return _kinds_of(guesser, several)
    return None


def _as_in_examples(guesser: Guesser, several: bool) -> Found | None:
    """The kinds with numbers near the examples of the docstring, for parameters of which nothing else is
    known. None where there are none, where function and rule have finite values at all other numbers, too, or
    where they do not have them near the examples.
    """
    typical = typical_said(guesser.target)
    those = {name: Kind("number", *ends) for name, ends in typical.items() if name not in guesser.domain}
    plain, usual = tuple(guesser.domain.get(name, Kind()) for name in guesser.names), guesser.domain
    typical_ones = tuple(those.get(name, kind) for name, kind in zip(guesser.names, plain))
    if not those or _have_numbers(guesser, plain) or not _have_numbers(guesser, typical_ones):
        return None
    guesser.domain = {**usual, **those}
    found = _kinds_or_none(guesser, several)
    guesser.domain = guesser.domain if found else usual
    return found


def _where_it_varies(guesser: Guesser, several: bool) -> Found | None:
    """The kinds with numbers of another size for one parameter, if the function of numbers has the same value
    at all draws of usual size: a transport that begins above a threshold in SI units is zero there, and any
    rule that is zero would be right. None if the function varies, or if no size of one parameter helps.
    """
    plain, usual = tuple(guesser.domain.get(name, Kind()) for name in guesser.names), guesser.domain
    positive = tuple(k if k.high <= 0.0 else dataclasses.replace(k, low=max(k.low, 0.0)) for k in plain)
    with guesser.keeping_generator():
        base, is_constant = plain, _is_constant(guesser, plain) if plain else False
        if is_constant is None:  # it has no value at some draws: of negative numbers, perhaps
            base, is_constant = positive, _is_constant(guesser, positive)
        if not is_constant:
            return None
        sizes = itertools.product(SIZES_TRIED, range(len(base)))
        sized = ((i, (*base[:i], Kind("number", size / 2, size * 2), *base[i + 1 :])) for size, i in sizes)
        found = next(((i, kinds) for i, kinds in sized if _mostly_varies(guesser, kinds)), None)
    if found is None:
        return None
    guesser.domain = {**usual, guesser.names[found[0]]: found[1][found[0]]}
    kinds = _kinds_or_none(guesser, several)
    guesser.domain = guesser.domain if kinds else usual
    return kinds


def _is_constant(guesser: Guesser, kinds: Kinds) -> bool | None:
    """Whether the function has the same value at all draws of these kinds; None if it has none at some."""
    first, count = None, 0
    for y in guesser.finite_values([guesser.draw(kinds, number) for number in range(EXAMPLES)]):
        first, count = to_vec(y)[0] if first is None else first, count + 1
        if not np.array_equal(to_vec(y)[0], first):
            return False
    return True if count == EXAMPLES else None


def _mostly_varies(guesser: Guesser, kinds: Kinds) -> bool:
    """Whether the function has finite values at all draws of these kinds, most of them unlike the first."""
    drawn = [guesser.draw(kinds, number) for number in range(EXAMPLES)]
    values = [to_vec(y)[0] for y in guesser.finite_values(drawn)]
    differ = sum(not np.array_equal(value, values[0]) for value in values)
    return len(values) == EXAMPLES and 2 * differ > EXAMPLES


def _have_numbers(guesser: Guesser, kinds: Kinds) -> bool:
    """Whether a function has finite values, and its rule raises nothing, at all draws."""
    with guesser.keeping_generator():
        drawn = [guesser.draw(kinds, number) for number in range(EXAMPLES)]
        values = list(guesser.finite_values(drawn))
        return len(values) == len(drawn) and not any(map(guesser.raised, drawn))


def _kinds_of(guesser: Guesser, several: bool) -> Found:
    several = several or guesser.of_axes
    found = _of_said_shapes(guesser) or _taken(guesser, several)
    found = _with_numbers_for_whole(guesser, several, found)
    with guesser.keeping_generator():
        lists = itertools.chain.from_iterable(as_lists_answered(guesser, kinds) for kinds in found.kinds)
        axes = (as_axes_answered(guesser, kinds) for kinds in lists)
        found = found._replace(kinds=tuple(dict.fromkeys(axes)))
    found = found._replace(kinds=tuple(dict.fromkeys(with_rows(guesser, kinds) for kinds in found.kinds)))
    with guesser.keeping_generator():
        found = _of_one_index(guesser, _of_symmetric(guesser, found))
        answered = dict.fromkeys(_as_answered(guesser, kinds) for kinds in found.kinds)
    found = found._replace(kinds=tuple(answered))
    kinds = with_vectors(guesser, found.kinds)
    with guesser.keeping_generator():
        kinds = tuple(_as_ordered(guesser, _as_answered(guesser, one)) for one in kinds)
    kinds = tuple(dict.fromkeys((*kinds, *of_rows_beside(guesser, kinds), *of_vectors_apart(guesser, kinds))))
    with guesser.keeping_generator():
        kinds = tuple(dict.fromkeys((*kinds, *of_ranks_asked(guesser, kinds))))
        kinds = tuple(dict.fromkeys((*kinds, *of_ranks_told(guesser, kinds))))
        kinds = tuple(dict.fromkeys((*kinds, *of_arrays_said(guesser, kinds))))
        kinds = with_arrays_told(guesser, kinds)
        kinds = (*kinds, *of_arrays_alike(guesser, kinds))
        kinds = tuple(dict.fromkeys((*kinds, *of_rows_said(guesser, kinds))))
        kinds = tuple(dict.fromkeys((*kinds, *of_ranks_said(guesser, kinds))))
        kinds = (*kinds, *of_lists_said(guesser, kinds))
    apart = (*of_unlike_lengths(guesser, kinds), *of_indices_apart(guesser, kinds))
    with guesser.keeping_generator():
        apart = (*apart, *of_other_fixed_lengths(guesser, kinds))
        apart = (*apart, *of_axes_apart(guesser, (*kinds, *apart)))
        apart = (*apart, *of_wider_intervals(guesser, kinds[:1]), *of_sides_compared(guesser, kinds[0]))
    counted = _of_whole_matrices(guesser, _counting(guesser, (*kinds, *apart)))
    return found._replace(kinds=_of_labels(guesser, counted))


def _with_numbers_for_whole(guesser: Guesser, several: bool, found: Found) -> Found:
    """The kinds found again, with numbers in place of those integers and flags for which the rule returns a
    cotangent; repeated, since other parameters may be integers then.
    """
    for _ in guesser.names:
        moving = _moved_integers(guesser, found.kinds[0])
        if not moving:
            return found
        forms = dict(zip(guesser.names, (kind.form for kind in found.kinds[0])))
        numbers = {name: _AS_NUMBERS.get(forms[name], _AS_NUMBERS["mask"]) for name in moving}
        guesser.used = {**guesser.used, **numbers}
        try:
            again = _taken(guesser, several)
        except NoInputsError:
            return found
        args = guesser.drawn(again.kinds[0])
        if not any(moving.values()) and not guesser.seems_right(args) and not _moves(guesser, args, moving):
            return found
        found = again
    return found


def _as_answered(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds with numbers for those vectors whose cotangent a wrong rule sums, by its code, or returns as
    a number, unless the rule is then right without such a sum in the code. It was written for numbers there,
    as what scales sums in its function is a number.
    """
    vectors = [i for i, kind in enumerate(kinds) if kind.form == "vector" and not guesser.is_asked(i)]
    if len(vectors) < 2 or guesser.mode != "rrule":
        return kinds
    args = guesser.drawn(kinds)
    bars = guesser.answered(args)[1 : len(kinds) + 1]
    pairs = [(i, bar) for i, bar in enumerate(bars) if i in vectors]
    zero = [i for i, bar in pairs if not np.any(to_vec(bar)[0])]
    is_right = guesser.seems_right(args)
    if is_right and not zero:
        return kinds
    of_number = guesser.makes_one_number(kinds)
    rules = authors_of(guesser.target, guesser.registry, "rrule")
    summed = frozenset().union(*(summed_for(rule, of_number) for rule in rules))
    # A rule that sums where it should not is right where the sum is zero.
    if is_right and summed.isdisjoint(guesser.names[i] for i in zero):
        return kinds
    alone = {i for i, bar in pairs if shape_of_answer(bar) == ()}
    summed |= scaling_sums(guesser.target)
    said = {i for i in vectors if guesser.names[i] in summed}
    said &= _answered_by_numbers(guesser, _with_numbers(kinds, alone | said))
    those = alone | said
    numbers = _with_numbers(kinds, those)
    if not 0 < len(those) < len(vectors) or not guesser.takes(numbers):
        return kinds
    return kinds if not said and guesser.seems_right(guesser.drawn(numbers)) else numbers


def _as_ordered(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds with numbers for vectors between two numbers, behind a first vector, if nothing describes
    these vectors and the function takes numbers there. In `f(x, rate, shape, scale)`,
    `shape` is hardly an array like x if `rate` and `scale` are numbers: a rule that sums for these two lacks
    a sum for it.
    """
    vectors = [i for i, kind in enumerate(kinds) if kind.form == "vector"]
    numbers = [i for i, kind in enumerate(kinds) if kind.form == "number"]
    if vectors[:1] != [0] or len(numbers) < 2 or guesser.mode != "rrule":
        return kinds
    said = f"{docstring_of(guesser.target)} {' '.join(getattr(guesser.target, '__annotations__', ()))}"
    within = {i for i in vectors if numbers[0] < i < numbers[-1] and guesser.names[i] not in said}
    within = {i for i in within if not kinds[i].dims and not guesser.is_asked(i)}
    # What is named like a parameter of a curve is in doubt elsewhere.
    within = {i for i in within if not names_of_curve(guesser.names[i], guesser.names[0])}
    as_numbers = _with_numbers(kinds, within)
    return as_numbers if within and guesser.takes(as_numbers) else kinds


def _with_numbers(kinds: Kinds, those: set[int]) -> Kinds:
    return tuple(Kind("number", k.low, k.high) if i in those else k for i, k in enumerate(kinds))


def _answered_by_numbers(guesser: Guesser, kinds: Kinds) -> set[int]:
    """The arguments whose cotangents are numbers for some kinds: in the code, a sum and a product with arrays
    look alike.
    """
    bars = guesser.answered(guesser.drawn(kinds))[1 : len(kinds) + 1]
    return {i for i, bar in enumerate(bars) if shape_of_answer(bar) == ()}


def _of_symmetric(guesser: Guesser, found: Found) -> Found:
    """The kinds found, with positive definite matrices for square ones whose names or descriptions mean
    symmetric, where a rule is wrong for general ones and right for these: it uses what its author knows about
    a covariance.
    """
    first = found.kinds[0]
    called = guesser.symmetric
    those = [i for i, (n, kind) in enumerate(zip(guesser.names, first)) if n in called and is_square(kind)]
    if not those or any(map(guesser.is_form_asked, those)) or guesser.seems_right(guesser.drawn(first)):
        return found
    dims = [first[i].dims[:1] for i in those]
    meant = {i: Kind("positive definite", dims=of) for i, of in zip(those, dims)}
    kinds = tuple(meant.get(i, kind) for i, kind in enumerate(first))
    if not guesser.takes(kinds):
        return found
    drawn = [guesser.drawn(kinds), *guesser.inside(kinds)]
    return found._replace(kinds=(kinds,)) if all(map(guesser.seems_right, drawn)) else found


def _of_one_index(guesser: Guesser, found: Found) -> Found:
    """The kinds found, with one index in place of several, where a rule is wrong for several, refuses one
    more of them than there are elements, and is right for one: it was written for one.
    """
    first = found.kinds[0]
    listed = numbered_in_plural(guesser.target)
    several = [i for i, kind in enumerate(first) if kind == Kind("indices") and not guesser.is_asked(i)]
    several = [i for i in several if guesser.names[i] not in listed]
    if not several or guesser.mode != "rrule":
        return found
    args = guesser.drawn(first)
    if guesser.seems_right(args):
        return found
    for i in several:
        one = (*first[:i], Kind("integer", 0.0, 2.0), *first[i + 1 :])
        more = (*args[:i], np.concatenate([args[i], args[i][:1]]), *args[i + 1 :])
        if guesser.rule_runs(more) or not guesser.takes(one):
            continue
        if all(map(guesser.seems_right, [guesser.drawn(one), *guesser.inside(one)])):
            return found._replace(kinds=(one,))
    return found


def _of_said_shapes(guesser: Guesser) -> Found | None:
    """The kinds that the docstring of the function describes, if it states the lengths of arrays and the
    function takes such: the rule is judged there and nowhere else.
    """
    told = shapes_said(guesser.target)
    said: Mapping[str, Lengths] = {name: dims for name, dims in told.items() if name in guesser.names}
    said = {name: dims for name, dims in said.items() if not guesser.is_asked(guesser.names.index(name))}
    rules = authors_of(guesser.target, guesser.registry)
    lists = frozenset().union(*(lists_answered(guesser.target, rule) for rule in rules))
    said = {name: dims for name, dims in said.items() if len(dims) > 1 or name not in lists}
    if not said:
        return None
    usual = guesser.domain, guesser.used, guesser.lengths
    said = _with_room(guesser, _with_groups(guesser, _counted_by_lists(guesser, said)))
    guesser.used = {**guesser.used, **_masks_of(guesser, said)}
    sized = {name: _sized_as_said(guesser, name, dims) for name, dims in said.items()}
    labels = labels_in_words(guesser.target, said).items()
    sized |= {name: kind for name, kind in labels if not guesser.is_asked(guesser.names.index(name))}
    for kinds in itertools.chain([sized], with_larger(guesser, sized)):
        guesser.domain = {**usual[0], **kinds}
        with contextlib.suppress(NoInputsError):
            found = _taken(guesser, several=False)
            drawn, pairs = guesser.drawn(found.kinds[0]), zip(guesser.names, found.kinds[0])
            others = [kind for name, kind in pairs if name not in said]
            is_all_said = all(kind.form == "number" or _has_fields(kind) for kind in others)
            if guesser.takes(found.kinds[0]) and (guesser.rule_runs(drawn) or is_all_said):
                guesser.sized = frozenset(said)
                return found._replace(kinds=tuple(_with_numbers_said(guesser, k) for k in found.kinds))
    guesser.domain, guesser.used, guesser.lengths = usual
    return None


def _with_numbers_said(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds with numbers for those vectors that the docstring describes as one thing each, beside arrays
    whose shapes it states: a rule that returns a vector there lacks a sum.
    """
    single = numbers_beside_shapes(guesser.target)
    those = {i for i, k in enumerate(kinds) if k.form == "vector" and guesser.names[i] in single}
    as_numbers = _with_numbers(kinds, {i for i in those if not guesser.is_asked(i)})
    return as_numbers if guesser.takes(as_numbers) else kinds


def _has_fields(kind: Kind) -> bool:
    """Whether an argument is an object of a class, whose fields have annotations."""
    return kind.made not in (None, dict, list, tuple)


def _counted_by_lists(guesser: Guesser, said: Mapping[str, Lengths]) -> Mapping[str, Lengths]:
    """The given lengths, with the number of arrays in a list for the word that the docstring uses for it, as
    in `list of K vectors`, and for the length of a vector that no other array has: one element for each.
    """
    lists = {name: kinds[0] for name, kinds in guesser.used.items() if kinds and kinds[0].made is list}
    counts = {name: len(kind.parts) for name, kind in lists.items()}
    words = {word.lower(): counts[n] for n, word in list_counts_said(guesser.target).items() if n in counts}

    def counted(dims: Lengths) -> Lengths:
        if words.keys() & {str(length).lower() for length in dims}:
            return tuple(words.get(str(length).lower(), length) for length in dims)
        is_alone = len(dims) == 1 and sum(dims[0] in others for others in said.values()) == 1
        return (*counts.values(),)[:1] if counts and is_alone and isinstance(dims[0], str) else dims

    found = {name: counted(dims) for name, dims in said.items()}
    counted_out = {name: (dims,) for name, dims in found.items() if dims != said[name]}
    guesser.lengths = {**guesser.lengths, **counted_out}
    return found


def _with_groups(guesser: Guesser, said: Mapping[str, Lengths]) -> Mapping[str, Lengths]:
    """The given lengths, where the first axis of an array that is split into a number of groups becomes a
    multiple of that number, as `channels` of `x.reshape(groups, -1)`, in all arrays.
    """
    cut = {name: counts[0] for name, counts in cut_into(guesser.target).items() if counts[1:] == (REST,)}
    groups = {said[name][0]: count for name, count in cut.items() if len(said.get(name, ())) > 1}

    def grouped(length: int | str) -> int | str:
        return f"{groups[length]}*{length}" if isinstance(length, str) and length in groups else length

    return {name: tuple(map(grouped, dims)) for name, dims in said.items()}


def _with_room(guesser: Guesser, said: Mapping[str, Lengths]) -> Mapping[str, Lengths]:
    """The given lengths, two longer wherever a length is that of an array picked from at drawn positions."""
    arrays = (said.get(name, ()) for name, kinds in positions_read(guesser.target).items() if kinds[0].dims)
    longer = {length for dims in arrays for length in dims if isinstance(length, str)}

    def with_more(length: int | str) -> int | str:
        return f"{length}+2" if length in longer else length

    return {name: tuple(map(with_more, dims)) for name, dims in said.items()}


def _masks_of(guesser: Guesser, said: Mapping[str, Lengths]) -> Mapping[str, tuple[Kind, ...]]:
    """The flags whose lengths are not given: as long as any axis whose length is, or of any length."""
    letters = dict.fromkeys(length for dims in said.values() for length in dims if isinstance(length, str))
    masks = {name: kinds for name, kinds in guesser.used.items() if kinds and kinds[0].form == "mask"}
    return {
        name: (*(dataclasses.replace(kinds[0], dims=(letter,)) for letter in letters), *kinds)
        for name, kinds in masks.items()
        if name not in said
    }


def _sized_as_said(guesser: Guesser, name: str, dims: Lengths) -> Kind:
    """The kind of an argument with given lengths, and what else is known: its interval, and whether it is
    symmetric or complex.
    """
    bounds, kinds = guesser.domain.get(name, Kind()), guesser.used.get(name, ())
    form, of_all = of_lengths(dims).form, {kind.dtype for kind in kinds}
    places = lengths_picked_from(guesser.target)
    if name in places and kinds and kinds[0].form == "indices":
        return dataclasses.replace(kinds[0], is_asked=True, dims=(*dims, places[name]))
    if kinds and kinds[0].form in SYMMETRIC and len(dims) == 2:
        form = kinds[0].form
    if len(dims) > 2 and dims[-1] == dims[-2] and name in taken_as_square(guesser.target):
        form = "square"
    if name in labels_said(guesser.target) and _is_held(guesser, name):
        flags = Kind("mask", is_asked=True, dims=dims)
        return of_signs(flags) if name in signs_said(guesser.target) else flags
    dtype = of_all.pop() if len(of_all) == 1 else "float64"
    if name in complex_said(guesser.target):
        dtype = "complex128"
    return Kind(form, bounds.low, bounds.high, dtype, is_asked=True, dims=dims)


def _is_held(guesser: Guesser, name: str) -> bool:
    """Whether every rule says by its text that an argument has no derivative."""
    rules = authors_of(guesser.target, guesser.registry)
    return bool(rules) and all(name in held_by_answers(guesser.target, rule) for rule in rules)


def _moved_integers(guesser: Guesser, kinds: Kinds) -> dict[str, bool]:
    """The arguments guessed to be integers, indices or flags for which the rule returns a cotangent, and
    whether that is not zero: a rule that differentiates with respect to an exponent or a mask is written for
    one that varies, as it is for an `index` that indexes nothing.
    """
    those = [i for i, kind in enumerate(kinds) if kind.form in _WHOLE and not guesser.is_asked(i)]
    picking = (
        index_parameters(guesser.target) if any(kinds[i].form == "indices" for i in those) else frozenset()
    )
    those = [i for i in those if guesser.names[i] not in picking]
    found: dict[str, bool] = {}
    for _ in range(MOVES if those else 0):  # a logarithm is zero at one
        bars = guesser.answered(guesser.draw(kinds))
        if len(bars) <= len(kinds):  # there may be more, for parameters with defaults
            return found
        for i in those:
            if not isinstance(bars[i + 1], AbstractZero):
                name = guesser.names[i]
                found[name] = found.get(name, False) or bool(np.any(to_vec(bars[i + 1])[0]))
    return found


def _moves(guesser: Guesser, args: tuple, names: Iterable[str]) -> bool:
    """Whether a rule returns a nonzero cotangent for some of these arguments, now that they are floats: at
    integers it may have been tried on one side of a branch only.
    """
    bars = dict(zip(guesser.names, guesser.answered(args)[1:]))
    there = [bars[name] for name in names if not isinstance(bars.get(name, NoTangent()), AbstractZero)]
    return any(np.any(to_vec(bar)[0]) for bar in there)


_WHOLE = ("integer", "mask", "flags", "indices")
_AS_NUMBERS = {
    "integer": tuple(map(Kind, ("number", "vector", "matrix"))),
    "indices": tuple(map(Kind, ("vector", "matrix", "number"))),
    "mask": tuple(Kind(form, 0.0, 1.0) for form in ("vector", "matrix", "number")),
}
"""The kinds tried for integers that vary, indices that are not such, and flags that vary."""


def _taken(guesser: Guesser, several: bool) -> Found:
    """The first kinds that the function takes and for which the rule seems right; else the first for which
    the rule runs, and else the first that the function takes.

    A rule is written for some kinds of arguments, and guessed arguments may be of others.
    """
    if guesser.bound:
        raise none_found(guesser.f, "its object's numbers are not drawn")
    search = Search(guesser, several)
    for kinds in search.candidates():
        if search.is_over(kinds):
            break
    found = search.found()
    if not search.right and guesser.mode == "rrule":
        with guesser.keeping_generator():
            multiplied = _of_products(guesser, found, is_named=search.named is not None)
        if multiplied is not None:
            return Found((multiplied,))
    if found and search.is_for_matrices_alone(found) and not guesser.end.is_over():
        sized = of_own_lengths(guesser)  # as for points in the plane, which do not have three numbers
        if sized and guesser.seems_right(guesser.drawn(sized)):
            return Found((sized,))
    if found:
        return Found(found, search.others(found), search.notes(found))
    sized = of_own_lengths(guesser) or _of_products_at_best(guesser)
    if search.misshapen:
        has_lengths = any(kind.is_asked and kind.dims for kind in search.misshapen)
        if has_lengths or not (sized and guesser.seems_right(guesser.drawn(sized))):
            return Found((search.misshapen,))
    sized = sized or search.taken_at_times() or search.faulty
    if sized or search.refused and not guesser.end.is_over():  # with more time, fitting kinds might be found
        return Found((sized or search.likeliest_refused(),))
    raise none_found(guesser.f, search.why())


def _of_products(guesser: Guesser, found: tuple[Kinds, ...], is_named: bool) -> Kinds | None:
    """The kinds with lengths inferred from the products in the function's code, if the rule is right for
    them, or has more right cotangents there than for what was found, unless the names decide. Where the rule
    runs for none of them, all lengths are made equal: a product with a matrix that should be transposed runs
    then.
    """
    sized = list(of_products(guesser))
    for kinds in sized:
        if all(map(guesser.seems_right, [guesser.drawn(kinds), *guesser.inside(kinds)])):
            return kinds
    if not sized or is_named or not found:
        return None
    best = max(sized, key=guesser.cotangents_right)
    if not any(guesser.rule_runs(guesser.drawn(kinds)) for kinds in (found[0], *sized)):
        alike = of_one_length(best)
        if guesser.takes(alike) and guesser.rule_runs(guesser.drawn(alike)):
            return alike
    return best if guesser.cotangents_right(best) > guesser.cotangents_right(found[0]) else None


def _of_products_at_best(guesser: Guesser) -> Kinds | None:
    """Of the kinds with lengths inferred from products, those with most right cotangents."""
    sized = [kinds for kinds in of_products(guesser) if guesser.mode == "rrule"]
    return max(sized, key=guesser.cotangents_right, default=None)


def _counting(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found, with integers for numbers that are named like counts and that the rule holds fixed,
    and arrays of counts for such vectors. Parameters annotated as floats are left alone: `n: float` is an
    index of refraction.
    """
    first = found[0]
    named = zip(guesser.names, first)
    counts = COUNTS - floats_of(guesser.target)
    plain = [(name in counts, kind.form) for name, kind in named]
    those = [i for i, (is_count, form) in enumerate(plain) if is_count and form in ("number", "vector")]
    if not those or len(first) == 1:
        return found
    bars = guesser.answered(guesser.draw(first))
    fixed = [i for i in those if i + 1 < len(bars) and isinstance(bars[i + 1], NoTangent)]
    if not fixed:
        return found
    counted = [tuple(_of_counts(k) if i in fixed else k for i, k in enumerate(kinds)) for kinds in found]
    return tuple(dict.fromkeys(filter(guesser.takes, counted))) or found


_LARGEST_COUNT = 5


def _of_counts(kind: Kind) -> Kind:
    """Whole numbers in the form of a kind."""
    if kind.form != "vector":
        return Kind("integer") if kind.form == "number" else kind
    if kind.dims:
        return Kind("indices", 0.5, dims=(*kind.dims, _LARGEST_COUNT))
    return Kind("indices", 0.5, _LARGEST_COUNT + 1.0)


def _of_whole_matrices(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found, with whole numbers in those matrices that hold such as the function says and that the
    rule holds fixed: coefficients of reactions, the ends of edges.
    """
    said, forms = whole_said(guesser.target), [kind.form for kind in found[0]]
    those = [i for i, name in enumerate(guesser.names) if name in said and forms[i] in MATRICES]
    fixed = {i for i in those if _is_held(guesser, guesser.names[i])}
    if not fixed:
        return found

    def whole(i: int, kind: Kind) -> Kind:
        if i not in fixed or kind.form not in MATRICES:
            return kind
        low = kind.low if kind.low >= 0.0 else -math.inf  # between -1 and 1, most of them would be zero
        return dataclasses.replace(kind, low=low, high=math.inf, dtype="int64")

    of_whole = [tuple(whole(i, kind) for i, kind in enumerate(kinds)) for kinds in found]
    return tuple(dict.fromkeys(filter(guesser.takes, of_whole))) or found


def _of_labels(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found, with flags for vectors that the rule holds fixed and that have only two values, as the
    function says, or that decide something in it.
    """
    deciding, signs = mask_parameters(guesser.target), signs_said(guesser.target)
    names = labels_said(guesser.target) | deciding
    bars = guesser.answered(guesser.draw(found[0])) if names.intersection(guesser.names) else ()
    held = {n for n, bar in zip(guesser.names, bars[1:]) if isinstance(bar, NoTangent) and n in names}
    if not held:
        return found

    def flags(name: str, kind: Kind, of: Kinds) -> Kind:
        is_beside = name in deciding and kind.form == "number" and any(one.form == "vector" for one in of)
        if name not in held or kind.form not in ("vector", "rows") and not is_beside:
            return kind
        of_two = OF_ROWS if kind.form == "rows" else Kind("mask", dims=kind.dims)
        return of_signs(of_two) if name in signs else of_two

    labelled = [tuple(flags(n, kind, kinds) for n, kind in zip(guesser.names, kinds)) for kinds in found]
    arrays = [made for made, kinds in zip(labelled, found) if made != kinds]  # only if an array became flags
    return tuple(dict.fromkeys(filter(guesser.takes, arrays))) or found
