"""Lengths of guessed arguments: arrays that fit together, arrays with lengths of their own, and matrices with
few columns.
"""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...rules.signatures import meant_types
from ..calling.subjects import rules_of
from ..measuring.vectors import shape_of
from ..probing.drawing import draw
from ..probing.probes import Point, without_warnings
from ..reading.by_name import COUNTS, is_matrix_name, special_names
from ..reading.kinds import Kind, Lengths, is_square
from ..reading.kinds_taken import choices_of, likeliest_first, narrowed
from ..reading.loops_read import zipped_parameters
from ..reading.shapes_solved import solved_together
from ..reading.usage import elements_taken, picks_by_number
from .accidental_lengths import is_taken_by_accident
from .guesser import Guesser, Kinds, as_annotated, is_about_form, is_about_numbers, is_finite

OWN_LENGTHS = (6, 3, 4, 2, 5)
"""Lengths of vectors that are tried, separately for each vector, where a function or its rule needs
particular lengths; one with several divisors comes first, for functions that group the elements of a vector.
"""
MOST_CALLED = 4000
"""The largest number of calls of the function at arguments that may not fit together."""
MOST_SIZED = 300
"""The largest number of kinds that fit together at which the function and its rule are called."""
MOST_AFTER = 40
"""How many of these are still tried after the rule has run, to find some at which it seems right."""
RELATED = {"vector": (("n",), ("m",), ("p",)), "matrix": (("m", "n"), ("n", "m"), ("n", "p"), ("n", "n"))}
"""Lengths as letters: matrices and vectors that fit together."""
LETTERS = {"n": 3, "m": 2, "p": 4}


def _by_letters(name: str, said: Kind | None, used: tuple[Kind, ...]) -> list[Kind]:
    """The kinds of one argument with lengths that other arguments may share, likeliest first."""
    if used:
        return list(used)
    if said is not None and said.is_asked:
        of_letters = [dataclasses.replace(said, dims=dims) for dims in RELATED.get(said.form, ())]
        return [said] if said.dims or not of_letters else of_letters
    matrices, vectors = ([Kind(form, dims=dims) for dims in RELATED[form]] for form in ("matrix", "vector"))
    kinds = [Kind(), *vectors[:2], *matrices]
    if is_matrix_name(name):
        kinds = [*matrices, *vectors[:2], Kind()]
    if name in COUNTS:
        kinds.insert(1, Kind("integer"))
    special = special_names((name,)).get(name)
    if special is not None:
        kinds.insert(0, Kind(special))
    return _within(kinds, said)


def _of_fixed_lengths(name: str, said: Kind | None, used: tuple[Kind, ...]) -> list[Kind]:
    """The kinds of one argument with lengths of its own."""
    if used and used[0].made is not None:
        return [one for kind in used for one in _of_own_parts(kind)]
    if used and any(isinstance(d, int) for kind in used for d in kind.dims):
        return list(used)
    fixed = [Kind("vector", dims=(n,)) for n in OWN_LENGTHS]
    if said is not None and said.is_asked:
        own = [dataclasses.replace(said, dims=kind.dims) for kind in fixed if said.form == "vector"]
        return [said] if said.dims or not own else own
    return _within([Kind(), *fixed, *(Kind("integer") for _ in COUNTS.intersection([name]))], said)


_OF_SPACE = (Kind("matrix", dims=("n", 2)), Kind("matrix", dims=("n", 3)), Kind("matrix", dims=(3, 3)))
_FEW = (*_OF_SPACE, Kind("matrix", dims=(2, 2)), Kind("vector", dims=(2,)), Kind("vector", dims=(3,)))


def _of_few_columns(name: str, said: Kind | None, used: tuple[Kind, ...]) -> list[Kind]:
    """The kinds of one argument with the lengths of points in the plane or in space, and of matrices that map
    them: a function that appends a column of ones to points takes a matrix with one more column than they
    have.
    """
    if used or said is not None and (said.is_asked or said.form != "number"):
        return _by_letters(name, said, used)
    return _within([*_FEW, Kind()] if is_matrix_name(name) else [Kind(), *_FEW], said)


def _with_lengths_read(guesser: Guesser, choices: list[list[Kind]]) -> list[list[Kind]]:
    """The choices, with vectors of each length that the function gives as a number for other arguments."""
    read = {d for kinds in guesser.used.values() for kind in kinds for d in kind.dims if isinstance(d, int)}
    if not read:
        return choices
    more = [Kind("vector", dims=(length,)) for length in sorted(read)]
    free = [not guesser.used.get(name) and name not in guesser.domain for name in guesser.names]
    return [[*one[:1], *more, *one[1:]] if is_free else one for one, is_free in zip(choices, free)]


def _with_elements_taken(guesser: Guesser, choices: list[list[Kind]]) -> list[list[Kind]]:
    """The choices, with a vector of as many elements as the function reads one by one, if it reads nothing
    else of an argument: coefficients.
    """
    taken = elements_taken(guesser.target)
    free = [not guesser.used.get(name) and name not in guesser.domain for name in guesser.names]
    return [
        [Kind("vector", dims=(taken[name],)), *one] if is_free and name in taken else one
        for name, one, is_free in zip(guesser.names, choices, free)
    ]


def _within(kinds: list[Kind], said: Kind | None) -> list[Kind]:
    low, high = (said.low, said.high) if said is not None else (-np.inf, np.inf)
    return [dataclasses.replace(kind, low=low, high=high) for kind in kinds]


def _of_own_parts(kind: Kind) -> Iterator[Kind]:
    """An object with its vectors of each length in turn."""
    if any(part.dims or part.parts for _, part in kind.parts):
        yield kind
        return
    for n in OWN_LENGTHS:
        sized = ((k, dataclasses.replace(p, dims=(n,)) if p.form == "vector" else p) for k, p in kind.parts)
        yield dataclasses.replace(kind, parts=tuple(sized))


def _of_arrays_annotated(guesser: Guesser, choices: list[list[Kind]]) -> list[list[Kind]]:
    """The choices without numbers for what the function annotates as an array."""
    notes = meant_types(guesser.target)
    found = []
    for name, kinds in zip(guesser.names, choices):
        note = notes.get(name)
        is_array = isinstance(of := typing.get_origin(note) or note, type) and issubclass(of, np.ndarray)
        arrays = [kind for kind in kinds if kind.form not in ("number", "integer")] if is_array else []
        found.append(arrays or kinds)
    return found


def of_own_lengths(guesser: Guesser) -> Kinds | None:
    """Numbers, and arrays that fit together as the function multiplies and adds them, or that each have a
    length of their own, for which its rule seems right; else the first for which the rule runs; None where
    there are none. A polynomial may need three coefficients, a rotation a quaternion, a regression a matrix
    between two vectors.
    """
    runs: list[Kinds] = []
    left, notes = MOST_SIZED, meant_types(guesser.target)
    for kinds_of in (_by_letters, _of_fixed_lengths, _of_few_columns):
        choices = [
            [Kind("integer")]
            if notes.get(n) is int and n not in guesser.domain and n not in guesser.used
            else kinds_of(n, guesser.domain.get(n), guesser.used.get(n, ()))
            for n in guesser.names
        ]
        choices = _of_arrays_annotated(guesser, choices)
        choices = _with_elements_taken(guesser, _with_lengths_read(guesser, choices))
        for guessed in _fitting(guesser, choices):
            for kinds in narrowed(guessed):
                if left <= 0 or guesser.end.is_over():
                    return runs[0] if runs else None
                left -= 1
                args = guesser.draw(kinds)
                try:
                    y = guesser.value(args)
                except Exception as error:
                    if is_about_form(error) or not is_about_numbers(error):
                        break  # another interval would not help
                    continue
                if not is_finite(y):
                    continue
                is_special = any(_is_case_of(kinds, others) for others in runs)
                if guesser.rule_for(args) is not None and not is_special and guesser.takes(kinds):
                    drawn = [args, *guesser.inside(kinds)]
                    ran = [one for one in drawn if guesser.rule_runs(one)]
                    if ran:
                        if all(map(guesser.seems_right, drawn)):
                            return kinds
                        sized = _as_long_as(kinds, ran[0])
                        if sized and any(_is_case_of(sized, others) for others in runs):
                            sized = None
                        if len(ran) < len(drawn) and sized and _is_right_for(guesser, sized):
                            return sized
                        runs.append(kinds)
                        left = min(left, MOST_AFTER)
                break
    return runs[0] if runs else None


def _is_case_of(kinds: Kinds, others: Kinds) -> bool:
    """Whether the first kinds are the others with fixed lengths in place of free ones, where the others also
    have lengths that are fixed: a rule that is wrong for the others is right for the first by chance.
    """
    pairs = list(zip(kinds, others))
    free = [any(isinstance(d, str) for d in other.dims) for other in others]
    is_known = any(isinstance(d, int) for other in others for d in other.dims)
    alike = (one == other or is_free and one.form == other.form for (one, other), is_free in zip(pairs, free))
    return is_known and any(free) and all(alike)


def of_products(guesser: Guesser) -> Iterator[Kinds]:
    """Kinds of all arguments with lengths inferred from the products in the function's code, if it takes
    them.
    """
    rules = (rule for rule in rules_of(guesser.target, guesser.registry) if rule.mode == guesser.mode)
    accepted = as_annotated(next((rule.accepts for rule in rules), None), guesser.target)
    usual = choices_of(guesser.names, accepted, guesser.domain, guesser.used)
    if not all(usual):
        return
    for read in solved_together(guesser.target):
        kinds = tuple(_sized(choices[0], read.get(name)) for name, choices in zip(guesser.names, usual))
        if read.keys() <= set(guesser.names) and _has_value(guesser, kinds) and guesser.takes(kinds):
            yield kinds


MOST_LARGER = 40
"""The largest number of ways to make some lengths larger than others that are tried for one function."""


def with_larger(guesser: Guesser, said: Mapping[str, Kind]) -> Iterator[dict[str, Kind]]:
    """The first kinds with given lengths that the function takes if one length is larger than another, or two
    are: a window is not longer than what it moves along. For functions that take none with independent
    lengths.
    """
    rules = (rule for rule in rules_of(guesser.target, guesser.registry) if rule.mode == guesser.mode)
    accepted = as_annotated(next((rule.accepts for rule in rules), None), guesser.target)
    for larger in itertools.islice(_larger_ones(said), MOST_LARGER):
        dims = {name: tuple(larger.get(d, d) for d in kind.dims) for name, kind in said.items()}
        kinds = {name: dataclasses.replace(kind, dims=dims[name]) for name, kind in said.items()}
        choices = choices_of(guesser.names, accepted, {**guesser.domain, **kinds}, guesser.used)
        with guesser.keeping_generator():
            is_taken = all(choices) and guesser.takes(tuple(one[0] for one in choices))
        if is_taken:
            yield kinds
            return


def _larger_ones(said: Mapping[str, Kind]) -> Iterator[dict[Any, str]]:
    """Which lengths are the sum of another and their own letter: one of an argument that exceeds one of a
    later argument, or of an earlier one; then two of them; then one that exceeds another of the same
    argument, as a matrix of full column rank has more rows.
    """
    letters = [(d, i) for i, kind in enumerate(said.values()) for d in dict.fromkeys(kind.dims)]
    of = {d: i for d, i in reversed(letters) if isinstance(d, str)}
    ordered = list(itertools.permutations(sorted(of, key=of.__getitem__), 2))
    pairs = [(long, short) for long, short in ordered if of[long] != of[short]]
    yield from ({long: f"{short}+{long}"} for long, short in pairs)
    for (long, short), (other, another) in itertools.combinations(pairs, 2):
        if len({long, short, other, another}) == 4 and (of[long], of[short]) == (of[other], of[another]):
            yield {long: f"{short}+{long}", other: f"{another}+{other}"}
    yield from ({long: f"{short}+{long}"} for long, short in ordered if of[long] == of[short])


def of_one_length(kinds: Kinds) -> Kinds:
    """The kinds with the same length along all axes whose length is a letter."""
    dims = (tuple("n" if isinstance(length, str) else length for length in kind.dims) for kind in kinds)
    return tuple(dataclasses.replace(kind, dims=alike) for kind, alike in zip(kinds, dims))


def _sized(kind: Kind, read: Kind | None) -> Kind:
    """A kind with the form and lengths inferred from the code, including those of the parts of an object."""
    if read is None or kind.is_asked or (kind.made is None) != (not read.parts):
        return kind
    if kind.made is None:
        return dataclasses.replace(kind, form=read.form, dims=read.dims)
    within = dict(read.parts)
    parts = tuple((name, _sized(part, within.get(name))) for name, part in kind.parts)
    return dataclasses.replace(kind, parts=parts)


def _as_long_as(kinds: Kinds, args: tuple) -> Kinds | None:
    """Kinds of only vectors, each as long as the argument for which a rule has run; None if others are among
    them.
    """
    if any(kind.form != "vector" for kind in kinds):
        return None
    return tuple(dataclasses.replace(kind, dims=shape_of(x)) for kind, x in zip(kinds, args))


def _is_right_for(guesser: Guesser, sized: Kinds) -> bool:
    """Whether a function that reads elements at constant indices, as for points in the plane, has a rule that
    is right for these vectors: it is then written for these lengths only.
    """
    if not picks_by_number(guesser.target) or not guesser.takes(sized):
        return False
    return all(guesser.seems_right(guesser.drawn(sized)) for _ in range(3))


def _fitting(guesser: Guesser, choices: list[list[Kind]]) -> Iterator[Kinds]:
    """The combinations of kinds whose shapes the function takes, likeliest first. Each kind is drawn once for
    all combinations, since most of these are refused.
    """
    drawn = [{kind: draw(kind, guesser.rng, lengths=LETTERS) for kind in one} for one in choices]
    mixtures = likeliest_first([tuple(one) for one in drawn])
    for kinds in itertools.islice(mixtures, MOST_CALLED):
        if guesser.end.is_over():
            return
        try:
            with without_warnings(), guesser.raising_if_endless():
                guesser.f(*(values[kind] for values, kind in zip(drawn, kinds)), **guesser.kwargs)
        except Exception as error:
            if is_about_form(error) or not is_about_numbers(error):
                continue
        yield kinds


_OF_ROWS: tuple[tuple[int | str, int | str], ...] = (("n", 2), ("n", 3), (2, "n"), (3, "n"))
"""Shapes of matrices with few columns or few rows: points of a plane, columns of a regression."""


def with_rows(guesser: Guesser, kinds: Kinds) -> Kinds:
    """Kinds with matrices of few columns, or few rows, in place of square ones, or with one of two
    transposed; the kinds themselves where the function takes no such matrices, or the rule is right for
    square ones and no cotangent is for the others.

    A rule for points of a plane runs at two points by chance, where an area is zero; and with as many
    unknowns as equations there are no residuals.
    """
    square = [kind.form == "square" or kind.dims == ("n", "n") for kind in kinds]
    those = [i for i, is_square in enumerate(square) if is_square and not guesser.is_asked(i)]
    if not those or guesser.end.is_over():
        return kinds
    drawn = [guesser.drawn(kinds), *guesser.inside(kinds)]
    is_right = all(map(guesser.rule_runs, drawn)) and all(map(guesser.seems_right, drawn))
    if len(those) == 2:
        alike, turned = (
            tuple(
                dataclasses.replace(kind, form="matrix", dims=dims[those.index(i)]) if i in those else kind
                for i, kind in enumerate(kinds)
            )
            for dims in ((("n", "m"), ("n", "m")), (("n", "m"), ("m", "n")))
        )
        with guesser.keeping_generator():
            is_taken = not guesser.takes(alike) and guesser.takes(turned)
            if is_taken and all(map(guesser.rule_runs, guesser.inside(turned))):
                return turned  # one of the two is transposed
    for dims in _OF_ROWS:
        long = dims[:1] if isinstance(dims[0], str) else dims[1:]
        new = tuple(
            dataclasses.replace(kind, form="matrix", dims=dims) if i in those
            else dataclasses.replace(kind, form="vector", dims=long) if kind.form == "rows"
            else kind
            for i, kind in enumerate(kinds)
        )  # fmt: skip
        if guesser.takes(new):
            others = list(guesser.inside(new))
            runs = bool(others) and all(map(guesser.rule_runs, others))
            if runs and not (is_right and guesser.right_cotangents(guesser.drawn(new)) < 1):
                return new
    return kinds


def of_unlike_lengths(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """Several vectors of different lengths, or two matrices of different shapes, where the function and its
    rule take them: of two vectors of one length, a convolution makes a single number.
    """
    for kinds in found:
        matrices = [i for i, kind in enumerate(kinds) if kind.form in ("matrix", "square") and not kind.dims]
        if len(matrices) == 2 and not any(map(guesser.is_asked, matrices)):
            for pair in UNLIKE_SHAPES:
                shapes = iter(pair)
                unlike = tuple(
                    dataclasses.replace(k, form="matrix", dims=next(shapes)) if i in matrices else k
                    for i, k in enumerate(kinds)
                )
                # square matrices of different sizes are judged whatever the rule does
                are_square = all(rows == columns for rows, columns in pair)
                if guesser.takes(unlike) and (are_square or guesser.rule_runs(guesser.drawn(unlike))):
                    yield unlike
                    break
            return
        vectors = [i for i, kind in enumerate(kinds) if kind.form == "vector" and not kind.dims]
        beside = frozenset().union(*zipped_parameters(guesser.target))
        free = [i for i in vectors if not guesser.is_asked(i) and guesser.names[i] not in beside]
        if 2 <= len(free) <= 3:
            lengths = iter(UNLIKE)
            unlike = tuple(
                dataclasses.replace(k, dims=(next(lengths),)) if i in free else k for i, k in enumerate(kinds)
            )
            for apart in (unlike, *_of_two_lengths(kinds, free)):
                if guesser.takes(apart) and guesser.rule_runs(guesser.drawn(apart)):
                    yield apart
                    return
            return


def _of_two_lengths(kinds: Kinds, free: list[int]) -> Iterator[Kinds]:
    """Three vectors of which two share a length and the third has another: points, and centres with
    weights.
    """
    for letters in _lettered(len(free), known=1) if len(free) > 2 else ():
        if len(set(letters)) < len(free):
            dims = dict(zip(free, letters))
            yield tuple(
                dataclasses.replace(k, dims=(dims[i],)) if i in dims else k for i, k in enumerate(kinds)
            )


def of_other_fixed_lengths(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found that have two vectors of fixed lengths, with other pairs of lengths that fit together:
    a rule may be right by chance for a signal of two elements, since the Fourier transform of these is real.
    Lengths at which a piece of one element happens to be broadcast are left out.
    """
    first = found[0]
    fixed = [i for i, k in enumerate(first) if k.form == "vector" and k.dims and isinstance(k.dims[0], int)]
    is_free = len(fixed) == 2 and not any(map(guesser.is_asked, fixed))
    if not is_free or any(guesser.used.get(guesser.names[i]) for i in fixed):
        return
    usual, left = Point(guesser.drawn(first)), MOST_FIXED
    for pair in itertools.product(FIXED, repeat=2):
        lengths = dict(zip(fixed, pair))
        kinds = tuple(
            dataclasses.replace(kind, dims=(lengths[i],)) if i in lengths else kind
            for i, kind in enumerate(first)
        )
        if not left or guesser.end.is_over():
            return
        if kinds in found or not _has_value(guesser, kinds) or not guesser.takes(kinds):
            continue
        args = guesser.drawn(kinds)
        if guesser.rule_runs(args) and not is_taken_by_accident(guesser.f, Point(args), usual):
            left -= 1
            yield kinds


FIXED = (8, 5, 3, 6, 4)
"""Lengths tried besides those found: even and odd ones, and their halves."""
MOST_FIXED = 2


UNLIKE = (5, 3, 2)
"""Lengths of vectors that need not have the same length."""


UNLIKE_SHAPES: tuple[tuple[tuple[int | str, ...], ...], ...] = (
    ((5, 4), (3, 2)),
    ((5, 4), (2, 2)),
    ((3, 3), (2, 2)),
)
"""Shapes of two matrices that need not have the same shape; then with a square second one, in case a rule
swaps its axes; then with both square, in case the function takes no others.
"""


AXES = "nmpq"
"""Letters for the lengths of the axes of matrices that fit together."""
MOST_AXES_APART = 6
"""The largest total number of axes of matrices and vectors for which different lengths are tried."""


def of_axes_apart(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found with as many different lengths as the function takes, where square matrices or several
    of one shape were found: equal lengths hide by which of them a rule divides.
    """
    for kinds in found:
        plain = [kind.form in _RANKS and all(d in AXES for d in map(str, kind.dims)) for kind in kinds]
        free = [is_plain and not guesser.is_asked(i) for i, is_plain in enumerate(plain)]
        matrices = [i for i, kind in enumerate(kinds) if kind.form in ("matrix", "square") and free[i]]
        arrays = [i for i, is_free in enumerate(free) if is_free]
        ranks = [_RANKS[kinds[i].form] for i in arrays]
        is_alike = len(matrices) > 1 or any(is_square(kinds[i]) for i in matrices)
        if not is_alike or len(arrays) < 2 or sum(ranks) > MOST_AXES_APART:
            continue
        lettered = {letter for i in arrays for letter in kinds[i].dims}  # those already judged
        known = len(lettered) or 1 + all(kinds[i].form == "matrix" for i in matrices)
        for letters in _lettered(sum(ranks), known):
            left = iter(letters)
            dims = {i: tuple(itertools.islice(left, rank)) for i, rank in zip(arrays, ranks)}
            apart = tuple(
                dataclasses.replace(kind, form=_AS_LONG.get(kind.form, kind.form), dims=dims[i])
                if i in dims
                else kind
                for i, kind in enumerate(kinds)
            )
            if guesser.end.is_over():
                return
            if _has_value(guesser, apart) and guesser.takes(apart):
                if guesser.rule_runs(guesser.drawn(apart)):
                    yield apart
                    return


_RANKS = {"matrix": 2, "square": 2, "vector": 1, "rows": 1, "columns": 1, "mask": 1}
_AS_LONG = {"square": "matrix", "rows": "vector", "columns": "vector"}
"""The forms of arrays whose lengths follow others, and the form that replaces each if it has a length of its
own.
"""


def _lettered(axes: int, known: int) -> list[tuple[str, ...]]:
    """The ways to assign letters to so many axes, new letters in alphabetical order; those with most letters
    first, and only those with more than `known` letters.
    """
    ways: list[tuple[str, ...]] = [()]
    for _ in range(axes):
        ways = [(*way, letter) for way in ways for letter in AXES[: len(set(way)) + 1]]
    return sorted((way for way in ways if len(set(way)) > known), key=lambda way: -len(set(way)))


def _has_value(guesser: Guesser, kinds: Kinds) -> bool:
    """Whether the function has some value for one draw."""
    try:
        guesser.value(guesser.draw(kinds))
    except Exception:
        return False
    return True


MOST_SHARED = 3
"""The largest number of arrays beside indices for which it is tried which are as long as the indices."""
_OF_TABLE: dict[str, Lengths] = {"vector": ("n",), "matrix": ("n", "p")}
_OF_PICKS: dict[str, Lengths] = {"vector": ("m",), "matrix": ("m", "p")}
_OF_APART: dict[Lengths, Lengths] = {
    (): ("m", "n"),
    **{("n", corners, "n"): ("m", corners, "n") for corners in (2, 3, 4)},
    (2, "n", "n"): (2, "m", "n"),
}
"""Lengths of indices as they are found, and with a count of their own: single indices, edges, triangles."""


def of_indices_apart(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found with a number of indices independent of the number of elements they pick from, if
    function and rule take them: equal numbers hide by which of the two a rule divides.
    """
    for kinds in found:
        picks = [kind.form == "indices" and kind.dims in _OF_APART for kind in kinds]
        free = [all(isinstance(length, str) for length in kind.dims) for kind in kinds]
        arrays = [i for i, kind in enumerate(kinds) if kind.form in _OF_TABLE and free[i]]
        if not any(picks) or not 1 <= len(arrays) <= MOST_SHARED:
            continue
        for shares in itertools.product((_OF_TABLE, _OF_PICKS), repeat=len(arrays)):
            if _OF_TABLE not in shares or guesser.end.is_over():
                continue
            dims = {i: share[kinds[i].form] for i, share in zip(arrays, shares)}
            dims |= {i: _OF_APART[kinds[i].dims] for i, one in enumerate(picks) if one}
            apart = tuple(dataclasses.replace(k, dims=dims.get(i, k.dims)) for i, k in enumerate(kinds))
            is_plain = len(arrays) == 1  # how many elements of a single array are picked is up to the caller
            if guesser.takes(apart) and (is_plain or guesser.rule_runs(guesser.drawn(apart))):
                yield apart
                return
