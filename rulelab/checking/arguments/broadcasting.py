"""Kinds beside those found so far that show what a rule does with broadcast arguments: vectors for numbers,
rows beside matrices, numbers beside arrays.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...tangents.zeros import AbstractZero
from ..calling.subjects import authors_of
from ..measuring.vectors import shape_of, shape_of_answer, to_vec
from ..reading.axes_read import (
    factors_of,
    multiplies_matrices,
    ranks_asked,
    reduced_parameters,
    undoes_broadcasts,
)
from ..reading.by_name import (
    names_a_constant,
    names_a_shift,
    names_a_spread,
    names_of_a_formula,
    scalar_names,
)
from ..reading.kinds import MATRICES, Kind, dims_of
from ..reading.kinds_taken import narrowed
from ..reading.own_docstrings import docstring_of
from ..reading.ranks import ranks_told
from .guesser import Guesser, Kinds, is_finite, is_one_number, shapes
from .refusals import NOT_WRITTEN_FOR


def with_vectors(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found and, if these are only numbers, also vectors where the function and its rule take them:
    the vectors first where the function reduces them to one number.

    A rule that lacks a sum, or has one too many, is right for numbers. Some of several arguments may be meant
    as numbers: the rule is judged with those arguments as vectors for which it seems right, else with all for
    which it returns an answer. No vectors are added where the function does not broadcast, as one that puts
    its arguments in a list, or where the time was too short to find out.
    """
    first = found[0]
    free = [kind.form == "number" and guesser.is_any_number(i) for i, kind in enumerate(first)]
    if not any(free) or not all(map(_is_of_numbers, first)):
        return found
    meant = _meant_numbers(guesser, first, free) | _numbers_by_the_rule(guesser, first)
    free = [is_free and i not in meant for i, is_free in enumerate(free)]
    if not any(free):
        return found
    taken: list[tuple[Kinds, tuple]] = []
    for kinds in _some_as(first, free, "vector"):
        if guesser.end.is_over():
            return found
        found_there = _vectors_taken(guesser, first, kinds)
        if found_there is None:
            continue
        kinds, args = found_there
        if _sums_a_stack(guesser, first, args):
            continue
        is_only = sum(free) == 1 and all(kind.made is None for kind in first)
        if is_only or guesser.seems_right(args):
            taken = [_with_constants(guesser, first, kinds, args)]
            break
        taken.append((kinds, args))
    else:
        if len(taken) < 2 and sum(free) > 1 and not _keeps_rank(guesser, first, taken):
            return found  # none taken, or all as vectors but not some: it does not broadcast
        tried, answered = taken, [one for one in taken if _answers_for(guesser, *one)]
        with guesser.keeping_generator():
            taken = _lacking_sums(guesser, answered, tried) or answered
        taken = taken or [one for one in tried if _is_right_but_for(guesser, one[1], meant)]
        taken = taken or [one for one in tried if _sums_for_others(guesser, *one)]
        if not taken:
            return found
    kinds, args = max(taken, key=lambda one: guesser.right_cotangents(one[1])) if len(taken) > 1 else taken[0]
    if _is_less_right(guesser, first, args):
        return found
    return tuple(dict.fromkeys((kinds, *found) if guesser.makes_one_number(kinds) else (*found, kinds)))


def _numbers_by_the_rule(guesser: Guesser, first: Kinds) -> frozenset[int]:
    """The positions of arguments that are numbers by the annotations of the rule that is found for numbers:
    with a vector there, a different rule is found.
    """
    with guesser.keeping_generator():
        args = guesser.draw(first)
    rule, vector = guesser.rule_for(args), np.array([0.5, 1.5])
    each = [(*args[:i], vector, *args[i + 1 :]) for i in range(len(args))]
    return frozenset(i for i, others in enumerate(each) if guesser.rule_for(others) is not rule)


def _lacking_sums(
    guesser: Guesser, answered: list[tuple[Kinds, tuple]], tried: list[tuple[Kinds, tuple]]
) -> list[tuple[Kinds, tuple]]:
    """Of the kinds tried, those with most right cotangents, if they have more than any for which the rule
    returns an answer that is wrong: the rule was written for these vectors beside numbers, and lacks a sum
    for a number.
    """
    most = max((guesser.right_cotangents(args) for _, args in answered), default=None)
    if most is None:
        return []
    counts = [len(guesser.rightly_answered(args, of_right_shapes=False) or ()) for _, args in tried]
    return [one for one, count in zip(tried, counts) if count > max(most, 0) and count == max(counts)]


def _keeps_rank(guesser: Guesser, numbers: Kinds, taken: list[tuple[Kinds, tuple]]) -> bool:
    """Whether a function makes one number of numbers and a vector of vectors without broadcasting, as a
    convolution does: the value is not a stack of the arguments.
    """
    with guesser.keeping_generator():
        value = guesser.value(guesser.drawn(numbers))
    of_vectors = [guesser.value(args) for _, args in taken]
    return shapes(value) == [()] and all(isinstance(y, np.ndarray) and y.ndim == 1 for y in of_vectors)


def _sums_a_stack(guesser: Guesser, numbers: Kinds, args: tuple) -> bool:
    """Whether a function makes an array of numbers (`np.array([np.cos(t), np.sin(t)])`), and its rule returns
    one number for each vector in the place of a number: it sums over what the function has stacked, not over
    what was broadcast.
    """
    with guesser.keeping_generator():
        value = guesser.value(guesser.drawn(numbers))
    if any(shape == () for shape in shapes(value)):
        return False
    bars = guesser.answered(args)[1 : len(args) + 1]
    of_vectors = [bar for x, bar in zip(args, bars) if shape_of(x)]
    return bool(of_vectors) and all(shape_of_answer(b) == () for b in of_vectors)


def _is_of_numbers(kind: Kind) -> bool:
    """Whether a kind is a number, or an object that contains only numbers."""
    if kind.made is not None:
        return all(_is_of_numbers(part) for _, part in kind.parts)
    return kind.form in ("number", "integer")


def _is_less_right(guesser: Guesser, numbers: Kinds, args: tuple) -> bool:
    """Whether a rule that is wrong for numbers has fewer right cotangents for some vectors: it was written
    for numbers, and what else it does with vectors is not a mistake.
    """
    if guesser.mode != "rrule" or guesser.seems_right(args):
        return False
    plain = guesser.drawn(numbers)
    return not guesser.seems_right(plain) and guesser.right_cotangents(args) < guesser.right_cotangents(plain)


APART = (5,)
"""The length of a vector that no array beside it has."""


def of_vectors_apart(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found with a vector of its own length for a number beside arrays, where function and rule
    take one. The vector is then not broadcast, and may hold positions, some of which coincide. A rule with a
    different value or with cotangents of other shapes there was not written for a vector.
    """
    first = found[0]
    if not any(kind.form in ("vector", *MATRICES) for kind in first):
        return
    for i, kind in enumerate(first):
        if kind.form != "number" or not guesser.is_any_number(i) or guesser.end.is_over():
            continue
        vector = dataclasses.replace(kind, form="vector", dims=APART)
        for (narrower,) in narrowed((vector,)):
            kinds = (*first[:i], narrower, *first[i + 1 :])
            if guesser.takes(kinds):
                if guesser.right_cotangents(guesser.drawn(kinds)) >= 0:
                    yield kinds
                return


def of_ranks_asked(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found with a number for an array, or a vector for a number beside arrays, where the function
    or its rule tests which of the two it has: both are intended, and a branch of the rule handles one of
    them.
    """
    asked = frozenset().union(*map(ranks_asked, _authors(guesser)))
    arrays = ("vector", *MATRICES)
    first = next((kinds for kinds in found if any(kind.form in arrays for kind in kinds)), found[0])
    for i, (name, kind) in enumerate(zip(guesser.names, first)):
        beside = [k for k in first if k is not kind and k.form in arrays]
        if name not in asked or not beside or guesser.is_asked(i):
            continue
        for other in _of_another_rank(kind, beside[0]):
            kinds = (*first[:i], other, *first[i + 1 :])
            if kinds not in found and guesser.takes(kinds) and guesser.rule_runs(guesser.drawn(kinds)):
                yield kinds


def _of_another_rank(kind: Kind, beside: Kind) -> Iterator[Kind]:
    """A number instead of an array; instead of a number a vector, and a matrix where there is one beside
    it.
    """
    if kind.form in ("vector", "matrix"):
        yield dataclasses.replace(kind, form="number", dims=())
    elif kind.form == "number":
        yield dataclasses.replace(kind, form="vector", dims=beside.dims[:1])
        if beside.form in MATRICES:
            yield dataclasses.replace(kind, form="matrix", dims=beside.dims)


def _authors(guesser: Guesser) -> list[Any]:
    return [guesser.target, *authors_of(guesser.target, guesser.registry)]


def of_ranks_told(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found with a vector for a matrix, or the other way round, where the code of the function or
    its rule distinguishes the two; for a part of an argument, also with a number for a vector. They are
    judged whatever the rule returns: its code handles both.
    """
    first = found[0]
    if not any(kind.made or kind.dims or kind.form in MATRICES for kind in first):
        return  # matrices are tried in the place of plain vectors
    with_numbers = any(kind.form == "number" for kinds in found for kind in kinds)
    for author in _authors(guesser):
        for (name, *key), (numbers, matrices) in ranks_told(author, with_numbers).items():
            if name not in guesser.names or guesser.is_asked(guesser.names.index(name)):
                continue
            i = guesser.names.index(name)
            parts = dict(first[i].parts)
            kind = first[i] if not key else parts.get(key[0])
            if kind is None or (not key and first[i].made is not None):
                continue
            letter = _letter_apart_from(first)
            others = [*(_as_matrices_told(kind, letter) if matrices else ())]
            others += [*(_as_numbers_told(kind) if numbers and key else ())]
            for other in others:
                those = tuple((k, other if [k] == key else part) for k, part in first[i].parts)
                whole = dataclasses.replace(first[i], parts=those) if key else other
                kinds = (*first[:i], whole, *first[i + 1 :])
                if kinds not in found and not guesser.end.is_over() and guesser.takes(kinds):
                    yield kinds
                    break


def _as_matrices_told(kind: Kind, letter: str) -> Iterator[Kind]:
    """Matrices with rows like a given vector, or vectors like a row or a column of a given matrix, likeliest
    first.
    """
    if kind.form == "vector":
        dims = (letter, *kind.dims) if kind.dims else ()
        yield dataclasses.replace(kind, form="matrix", dims=dims)
    elif kind.form == "matrix" and kind.dims:
        yield dataclasses.replace(kind, form="vector", dims=kind.dims[-1:])
        yield dataclasses.replace(kind, form="vector", dims=kind.dims[:1])
    elif kind.form in MATRICES:
        yield from (dataclasses.replace(kind, form=form, dims=()) for form in ("columns", "rows", "vector"))


def _as_numbers_told(kind: Kind) -> Iterator[Kind]:
    other = {"vector": "number", "matrix": "number", "number": "vector"}.get(kind.form)
    if other is not None:
        yield dataclasses.replace(kind, form=other, dims=())


def _letter_apart_from(kinds: Kinds) -> str:
    """A letter for a length that none of the kinds uses."""
    taken = {letter for kind in kinds for letter in dims_of(kind)}
    return next(letter for letter in "kmpqrstuvw" if letter not in taken)


MOST_BROADCAST = 4
"""The largest number of arguments for which it is tested how a rule broadcasts them."""
MOST_WITH_ONE_NUMBER = 8
"""The largest number of arguments of which each in turn is tried as a number beside matrices."""


def of_rows_beside(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """Matrices beside vectors as long as their rows, where a rule sums over an axis that its function does
    not name and none of the kinds found has a matrix: with numbers and vectors only, that sum has no effect.

    The kinds with most right cotangents, among which there must be one of a vector, that is a sum. Where the
    function says that it broadcasts, or the rule compares shapes, each argument in turn is smaller than the
    others, whatever the rule returns for that.
    """
    first = found[0]
    if _OF_ANY_SHAPES.search(docstring_of(guesser.target)):
        yield from _each_broadcast(guesser, first, _free_to_broadcast(guesser, first))
        return
    free = [i for i, kind in enumerate(first) if kind.form in ("number", "vector") and not kind.dims]
    free = [i for i in free if guesser.is_any_number(i)]
    if not 2 <= len(free) <= MOST_WITH_ONE_NUMBER or not guesser.sums_over_axes:
        return
    if any(kind.form not in ("number", "vector", "integer") for kinds in found for kind in kinds):
        return
    rules = authors_of(guesser.target, guesser.registry)
    says_so = _BROADCASTS.search(docstring_of(guesser.target))
    if says_so or any(map(undoes_broadcasts, rules)):
        yield from _each_broadcast(guesser, first, free)
        return
    if len(free) > MOST_BROADCAST:
        return
    best: tuple[int, int, Kinds] | None = None
    for forms in itertools.product(("matrix", "columns", "number"), repeat=len(free)):
        if "matrix" not in forms or "columns" not in forms or guesser.end.is_over():
            continue
        those = dict(zip(free, forms))
        kinds = tuple(
            dataclasses.replace(kind, form=those[i]) if i in those else kind for i, kind in enumerate(first)
        )
        args = guesser.drawn(kinds)
        try:
            y = guesser.value(args)
        except Exception:
            continue
        if len(shape_of(y)) != 2 and not is_one_number(y) or not is_finite(y) or not guesser.takes(kinds):
            continue
        right = guesser.rightly_answered(args, of_right_shapes=False) or frozenset()
        if not _has_shapes_of_matrices(guesser, args):
            continue
        if any(i in right for i, form in those.items() if form == "columns"):
            worth = len(right), forms.count("columns"), kinds
            best = worth if best is None or worth[:2] > best[:2] else best
    if best is not None:
        yield _with_small_constants(guesser, best[2])


_BROADCASTS = re.compile(r"\bbroadcast", re.IGNORECASE)
_OF_ANY_SHAPES = re.compile(
    r"\bNumPy(?:'s)? broadcasting|\bany (?:arrays?|shapes?) that broadcasts?\b"
    r"|\bbroadcast(?:able)? (?:together|against (?:each other|one another))",
    re.IGNORECASE,
)
"""The shapes that are stated beside this are examples."""


def _free_to_broadcast(guesser: Guesser, kinds: Kinds) -> list[int]:
    """The arguments that may be arrays: those whose form is open or of which a shape is stated; none if that
    is fewer than two.
    """
    names = guesser.names
    free = [i for i, kind in enumerate(kinds) if kind.form in _OF_RANK]
    free = [i for i in free if guesser.is_any_number(i) or names[i] in guesser.sized]
    return free if 2 <= len(free) <= MOST_WITH_ONE_NUMBER else []


def _each_broadcast(guesser: Guesser, first: Kinds, free: list[int]) -> Iterator[Kinds]:
    """Matrices, of which each in turn is replaced by a vector, a matrix with one column or one row, or a
    number, where the function takes that; by a number alone if there are many.
    """
    whole: tuple[int | str, ...] = ("m", "n")
    smaller: tuple[tuple[int | str, ...], ...] = (("n",), ("m", 1), (1, "n"), ())
    every = [(row, alone) for alone in smaller[0 if len(free) <= MOST_BROADCAST else -1 :] for row in free]
    for row, alone in every:
        dims = {i: alone if i == row else whole for i in free}
        kinds = tuple(
            dataclasses.replace(kind, form=_OF_RANK[len(dims[i])], dims=dims[i]) if i in dims else kind
            for i, kind in enumerate(first)
        )
        if not guesser.end.is_over() and guesser.takes(kinds):
            yield kinds


_OF_RANK = ("number", "vector", "matrix")


def _has_shapes_of_matrices(guesser: Guesser, args: tuple) -> bool:
    """Whether the cotangents that a rule returns for matrices have their shapes: a rule is not written for a
    matrix that it flattens, as a cumulative sum does.
    """
    bars = guesser.answered(args)[1:]
    pairs = [
        (x, bar) for x, bar in zip(args, bars) if len(shape_of(x)) == 2 and not isinstance(bar, AbstractZero)
    ]
    return all(shape_of_answer(bar) == shape_of(x) for x, bar in pairs)


def _with_small_constants(guesser: Guesser, kinds: Kinds) -> Kinds:
    """The kinds with a row for each matrix that is a constant by its name, and for each that is a spread by
    its name where a shift beside it is a row; unchanged unless exactly one matrix is left and the value keeps
    its shape.
    """
    matrices = [i for i, kind in enumerate(kinds) if kind.form == "matrix"]
    names = guesser.names
    beside = any(kind.form == "columns" and names_a_shift(name) for name, kind in zip(names, kinds))
    named = [i for i in matrices if names_a_shift(names[i]) or names_a_constant(names[i])]
    named += [i for i in matrices if beside and i not in named and names_a_spread(names[i])]
    if not named or len(matrices) - len(named) != 1:
        return kinds
    rows = tuple(dataclasses.replace(k, form="columns") if i in named else k for i, k in enumerate(kinds))
    with contextlib.suppress(Exception):
        args, others = guesser.drawn(rows), guesser.drawn(kinds)
        if shapes(guesser.value(args)) == shapes(guesser.value(others)):
            return rows
    return kinds


def _answers_for(guesser: Guesser, kinds: Kinds, args: tuple) -> bool:
    """Whether a rule returns cotangents of the right shapes for some numbers and some vectors, or the
    function reduces these to one number.

    If the value has the shape of the vectors, an array in place of a number was broadcast only by us, and a
    rule for arrays of one shape (`a * x**n`) is not wrong for failing there. For a sum over vectors it is.
    """
    return guesser.makes_one_number(kinds) or guesser.rule_runs(args)


def _is_right_but_for(guesser: Guesser, args: tuple, meant: frozenset[int]) -> bool:
    """Whether the cotangents of all arguments are right but for some of those meant as numbers: the rule
    lacks a sum for these.
    """
    right = guesser.rightly_answered(args, of_right_shapes=False) or frozenset()
    return bool(meant) and right | meant == frozenset(range(len(args)))


def _sums_for_others(guesser: Guesser, kinds: Kinds, args: tuple) -> bool:
    """Whether the cotangents of all arguments are right but for some that the caller calls numbers, and the
    rule sums for another argument that is a number: it is written for numbers beside vectors, and lacks a sum
    for the wrong ones.
    """
    asked = frozenset(filter(guesser.is_asked_as_number, range(len(kinds))))
    right = guesser.rightly_answered(args, of_right_shapes=False) or frozenset()
    sums = right.intersection(_answered_as_numbers(guesser, kinds, args))
    return bool(sums) and _is_right_but_for(guesser, args, asked)


def _meant_numbers(guesser: Guesser, first: Kinds, free: list[bool]) -> frozenset[int]:
    """The positions of the arguments that are numbers by their names and are broadcast against vectors: the
    value has the same shape as with vectors for all.

    Where the names do not say so for certain, this holds only if the function reduces the vectors to one
    number, since then they are intended; otherwise all arguments may be numbers.
    """
    of_arrays = guesser.of_axes or multiplies_matrices(guesser.target)
    called = guesser.names if of_arrays else names_of_a_formula(guesser.names)
    known, likely = scalar_names(called)
    arrays = reduced_parameters(guesser.target)
    scalars = (known | likely) - {word for name, word in zip(guesser.names, called) if name in arrays}
    those = frozenset(i for i, word in enumerate(called) if free[i] and word in scalars)
    if not those or len(those) == sum(free):
        return frozenset()
    shares = ([i in those for i in range(len(free))], [not is_free for is_free in free])
    values = []
    for numbers in shares:
        vectors = (dataclasses.replace(kind, form="vector", dims=()) for kind in first)
        kinds = tuple(k if is_number else v for k, v, is_number in zip(first, vectors, numbers))
        try:
            values.append(guesser.value(guesser.draw(kinds)))
        except Exception:  # it does not broadcast
            return frozenset()
    alike = shapes(values[0]) == shapes(values[1])
    is_meant = known & scalars or is_one_number(values[0])
    return those if alike and is_finite(values[0]) and is_meant else frozenset()


def _has_siblings(names: tuple[str, ...], kinds: Kinds, position: int) -> bool:
    """Whether a parameter is named by a capital letter, or by a letter and a number, like at least two others
    that are all numbers, while another parameter is an array: in `A, B, C, t` and `b0, b1, b2, t` the first
    three are constants.
    """
    family = _family(names[position])
    if family is None:
        return False
    others = [i for i, name in enumerate(names) if _family(name) == family and i != position]
    plain = [i for i, name in enumerate(names) if _family(name) != family and kinds[i].form != "number"]
    return len(others) > 1 and bool(plain) and all(kinds[i].form == "number" for i in others)


def _family(name: str) -> str | None:
    """What a name shares with others of its family: the letters before its number, or being a capital letter;
    None for other names.
    """
    if len(name) == 1 and name.isupper():
        return "capitals"
    numbered = _NUMBERED.fullmatch(name)
    return None if numbered is None else numbered[1]


_NUMBERED = re.compile(r"([A-Za-z]+_?)\d")


MOST_SHARES = 32
"""The largest number of ways to turn some of several numbers into vectors that are tried."""


def _some_as(kinds: Kinds, free: list[bool], form: str) -> Iterator[Kinds]:
    """The same kinds in another form where `free` allows it: all of them first, then some."""
    shares = itertools.product(*[(True, False) if is_free else (False,) for is_free in free])
    for share in itertools.islice((s for s in shares if any(s)), MOST_SHARES):
        yield tuple(
            dataclasses.replace(kind, form=form, dims=()) if is_other else kind
            for kind, is_other in zip(kinds, share)
        )


def _vectors_taken(guesser: Guesser, numbers: Kinds, kinds: Kinds) -> tuple[Kinds, tuple] | None:
    """These kinds, which have vectors in place of some of `numbers`, narrowed to an interval in which the
    function takes them, and arguments drawn from them: the interval of a number may be too wide for several
    elements. None where the function, or the rule found for the numbers, does not take them.
    """
    rule = guesser.rule_for(guesser.draw(numbers))
    if rule is None:
        return None
    for narrower in dict.fromkeys((*narrowed(kinds), _where_numbers_are(guesser, numbers, kinds))):
        args = guesser.draw(narrower)
        if guesser.rule_for(args) is not rule:
            return None
        try:
            y = guesser.value(args)
        except Exception:
            return None
        if is_finite(y) and guesser.takes(narrower):
            meant = guesser.rule_runs(args, NOT_WRITTEN_FOR) and not _fits_by_a_count(guesser, args)
            return (narrower, args) if meant else None
    return None


def _where_numbers_are(guesser: Guesser, numbers: Kinds, kinds: Kinds) -> Kinds:
    """These kinds with the interval of each vector narrowed to where the function has a value for a number in
    its place: most vectors of shares have an element at which `log(1 - 4 * p / 3)` is not defined.
    """
    with guesser.keeping_generator():
        base = guesser.drawn(numbers)

    def has_value(i: int, x: float) -> bool:
        try:
            return is_finite(guesser.value((*base[:i], x, *base[i + 1 :])))
        except Exception:
            return False

    def inside(i: int, kind: Kind) -> Kind:
        if numbers[i] == kind or not np.all(np.isfinite((kind.low, kind.high))):
            return kind
        steps = np.linspace(kind.low, kind.high, STEPS + 1)[1:-1].tolist()
        runs = itertools.groupby(steps, lambda x: has_value(i, x))
        longest = max((list(run) for there, run in runs if there), key=len, default=[])
        return dataclasses.replace(kind, low=longest[0], high=longest[-1]) if len(longest) > 1 else kind

    return tuple(inside(i, kind) for i, kind in enumerate(kinds))


STEPS = 24
"""The number of steps of an interval between which it is tested whether a function has a value."""


def _fits_by_a_count(guesser: Guesser, args: tuple) -> bool:
    """Whether vectors fit only by chance to arrays that the function or its rule makes as long as a whole
    number beside them: they broadcast where that number is their length or 1, but not with another number.
    The vectors are then numbers that we made longer.
    """
    other = 1 + max((to_vec(x)[0].size for x in args), default=0)
    moved = tuple(other if type(x) is int else x for x in args)
    if all(new is old for new, old in zip(moved, args)):
        return False
    try:
        guesser.value(moved)
    except ValueError as error:
        return "broadcast" in str(error)
    except Exception:
        return False
    raised = guesser.raised(moved)
    return isinstance(raised, ValueError) and "broadcast" in str(raised)


def _answered_as_numbers(guesser: Guesser, kinds: Kinds, args: tuple) -> list[int]:
    """The positions of numbers not named as such by the caller for which the rule returns a cotangent that is
    not zero.
    """
    bars = guesser.answered(args)[1:]
    numbers = [i for i, kind in enumerate(kinds) if kind.form == "number" and not guesser.is_asked(i)]
    return [i for i in numbers if i < len(bars) and not isinstance(bars[i], AbstractZero)]


def _with_constants(guesser: Guesser, numbers: Kinds, kinds: Kinds, args: tuple) -> tuple[Kinds, tuple]:
    """The kinds at which a rule seems right, with numbers for those vectors that are constants by their names
    and by what the function does with them, where the rule sums the cotangent of another number: it is then
    written for numbers beside vectors, and may lack one of the sums.

    None of the three signs is enough on its own: an array may be called `k`, be a factor of a product, and be
    as long as `x` where the third argument is a number. Beside more than one array it may be an array itself.
    """
    vectors = [i for i, (n, kind) in enumerate(zip(numbers, kinds)) if n.form == "number" != kind.form]
    if any(names_a_spread(guesser.names[i]) for i in vectors):
        return kinds, args  # beside an array of spreads, a shift is an array as well
    sums = _answered_as_numbers(guesser, kinds, args)
    if len(vectors) < 2 or not sums or guesser.makes_one_number(kinds):
        return kinds, args
    shifts = [i for i in vectors if names_a_shift(guesser.names[i]) or _has_siblings(guesser.names, kinds, i)]
    named = [i for i in vectors if i in shifts or names_a_constant(guesser.names[i])]
    arrays = [i for i in vectors if i not in named] or vectors[:1]
    factors = factors_of(guesser.target, frozenset(guesser.names[i] for i in arrays))
    those = [i for i in named if i not in arrays and (i in shifts or guesser.names[i] in factors)]
    if not those or len(arrays) > 1:
        return kinds, args
    meant = tuple(numbers[i] if i in those else kind for i, kind in enumerate(kinds))
    drawn = guesser.drawn(meant)
    with contextlib.suppress(Exception):
        y = guesser.value(drawn)
        if is_finite(y) and shapes(y) == shapes(guesser.value(args)):
            return meant, drawn
    return kinds, args
