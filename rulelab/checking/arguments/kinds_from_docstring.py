"""Kinds beside those found so far that the docstring of a function mentions: a rule is judged at them
whatever it returns there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping

from ..reading.arrays_said import alike_in_shape, forms_told, numbers_beside_shapes
from ..reading.docstrings import lengths_differ
from ..reading.kinds import MATRICES, Kind
from ..reading.ranks_said import IMAGES, ranks_said, says_axes
from ..reading.stated_kinds import arrays_by_contrast, rows_said
from .guesser import Guesser, Kinds, is_complex


def of_arrays_said(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found first, with vectors for those numbers that the docstring calls arrays by contrast with
    others.
    """
    first, arrays = found[0], arrays_by_contrast(guesser.target)
    kinds = tuple(
        dataclasses.replace(kind, form="vector") if name in arrays and kind.form == "number" else kind
        for name, kind in zip(guesser.names, first)
    )
    if kinds not in found and guesser.takes(kinds):
        yield kinds


def with_arrays_told(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found, and those with vectors for what a docstring calls arrays and numbers for what it calls
    numbers, if it leaves no argument open.

    Only the latter if the docstring calls arrays complex and the value is real for the kinds found, or the
    other way round: the rule is judged for one of the two.
    """
    made = dict.fromkeys(_with_arrays_told(guesser, found[0]))
    told = tuple(kinds for kinds in made if not guesser.end.is_over() and _is_meant(guesser, kinds))
    if any(_makes_complex(guesser, kinds) != _makes_complex(guesser, found[0]) for kinds in told):
        return told
    return tuple(dict.fromkeys((*found, *told)))


def _makes_complex(guesser: Guesser, kinds: Kinds) -> bool:
    with contextlib.suppress(Exception):
        return is_complex(guesser.value(guesser.drawn(kinds)))
    return False


def _with_arrays_told(guesser: Guesser, kinds: Kinds) -> Iterator[Kinds]:
    told, named = forms_told(guesser.target), dict(zip(guesser.names, kinds))
    asked = {name for i, name in enumerate(guesser.names) if guesser.is_form_asked(i)}
    objects = {name for name in told if named[name].made and told[name][0].form == "number"}  # not numbers
    told = {name: kinds for name, kinds in told.items() if name not in asked | objects}
    others = (kind for name, kind in named.items() if name not in told.keys() | asked)
    if not told or any(kind.form in _FREE for kind in others) or any(named[name].made for name in told):
        return
    for chosen in itertools.product(*told.values()):
        forms = {name: _in_form(named[name], kind) for name, kind in zip(told, chosen)}
        yield tuple((named | forms).values())


def of_arrays_alike(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds with matrices for the vectors that a docstring calls arrays of the same shape, where the
    function makes one number of both or of neither.
    """
    alike = alike_in_shape(guesser.target)
    those = [i for i, name in enumerate(guesser.names) if name in alike and not guesser.is_asked(i)]
    for kinds in found:
        forms = {(kinds[i].form, kinds[i].dims) for i in those}
        if forms != {("vector", ())} or guesser.end.is_over():
            continue
        pairs = enumerate(kinds)
        matrices = tuple(dataclasses.replace(k, form="matrix") if i in those else k for i, k in pairs)
        is_one = guesser.makes_one_number(kinds), guesser.makes_one_number(matrices)
        if matrices not in found and is_one[0] == is_one[1] and guesser.takes(matrices):
            yield matrices
            return


def of_lists_said(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found first, with lists of vectors that each have a length of their own, where the docstring
    says that their lengths differ.
    """
    first, apart = found[0], itertools.count()
    said = {name for name in guesser.names if lengths_differ(guesser.target, name)}
    kinds = tuple(
        dataclasses.replace(kind, parts=tuple((n, _apart(part, next(apart))) for n, part in kind.parts))
        if name in said and kind.made is list and all(part.form == "vector" for _, part in kind.parts)
        else kind
        for name, kind in zip(guesser.names, first)
    )
    if kinds not in found and not guesser.end.is_over() and guesser.takes(kinds):
        yield kinds


def _apart(kind: Kind, number: int) -> Kind:
    return dataclasses.replace(kind, dims=(f"length_{number}",))


def _in_form(kind: Kind, other: Kind) -> Kind:
    return dataclasses.replace(kind, form=other.form, dtype=other.dtype, dims=())


def _is_meant(guesser: Guesser, kinds: Kinds) -> bool:
    """Whether a function takes these kinds, and does not reduce arrays to one number only where all numbers
    are arrays too, as a product of two does: there we may have made a number of an argument meant as an
    array.
    """
    arrays = tuple(dataclasses.replace(k, form="vector") if k.form == "number" else k for k in kinds)
    is_one = guesser.makes_one_number(arrays) and not guesser.makes_one_number(kinds)
    return guesser.takes(kinds) and not is_one


def of_rows_said(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds with a matrix for what the docstring says has rows, and for the other arrays vectors as long
    as a row, or else as long as a column.
    """
    first = found[0]
    positions = [i for i, name in enumerate(guesser.names) if name in rows_said(guesser.target)]
    arrays = [i for i, kind in enumerate(first) if kind.form in ("vector", "matrix")]
    if not positions or not {*positions} < {*arrays}:
        return
    if any(first[i].dims or guesser.is_asked(i) for i in arrays):
        return
    for beside in ("columns", "rows"):
        those = dict.fromkeys(arrays, beside)
        those |= dict.fromkeys(positions, "matrix")
        kinds = tuple(
            dataclasses.replace(kind, form=those[i]) if i in those else kind for i, kind in enumerate(first)
        )
        if kinds in found:
            return
        if not guesser.end.is_over() and guesser.takes(kinds):
            yield kinds
            return


def of_ranks_said(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """The kinds found, with arguments of each rank that the docstring mentions: numbers and vectors for "a
    number or an array", vectors and matrices for "any array". Arguments described alike have the same rank;
    one for which that rank is not mentioned keeps its first.

    The other arguments stay as they are. If the kind of one of them is not known, the new kinds are judged
    only where the rule seems right for them: an undescribed argument may be intended to have the same rank.
    """
    said = _ranks_said(guesser)
    for rank in dict.fromkeys(_rank(kind) for kinds in said.values() for kind in kinds):
        of_rank = {name: _of_rank(kinds, rank) for name, kinds in said.items()}
        known = {tuple(map(_shape, one)) for one in found}
        for kinds in _with_forms(guesser, found[0], of_rank):
            if tuple(map(_shape, kinds)) in known or guesser.end.is_over():
                break
            is_meant = _are_told(guesser, kinds, of_rank.keys()) or guesser.seems_right(guesser.drawn(kinds))
            if is_meant and guesser.takes(kinds):
                yield kinds
                break


def is_told(guesser: Guesser, kinds: Kinds) -> bool:
    """Whether the docstring mentions arrays of these kinds: that they are arrays, their ranks, or the axes of
    matrices. If a rule raises an exception about shapes there, the rule is at fault.
    """
    if kinds in _with_arrays_told(guesser, kinds):
        return True
    said, named = _ranks_said(guesser), dict(zip(guesser.names, kinds))
    if says_axes(guesser.target) and kinds[0].form in MATRICES:
        said = {**said, guesser.names[0]: kinds[:1]}
    shapes = {name: _shape(named[name]) for name in said}
    are_arrays = bool(said) and all(form != "number" for form, _ in shapes.values())
    are_said = all(_is_among(named[name], those) for name, those in said.items())
    return are_arrays and are_said and _are_told(guesser, kinds, said.keys())


def _is_among(kind: Kind, said: Kinds) -> bool:
    return any(_shape(_formed(kind, one)) == _shape(kind) for one in (*said, *map(_larger, said)))


def _ranks_said(guesser: Guesser) -> dict[str, Kinds]:
    """The kinds of each rank that the docstring gives for arguments whose form the caller left open. Left out
    are those for which it also gives one fixed shape, unless that is the shape of the arrays in "a number or
    an array (n,)".
    """
    said = ranks_said(guesser.target)
    free = [name for i, name in enumerate(guesser.names) if not guesser.is_form_asked(i) and name in said]
    return {name: said[name] for name in free if name not in guesser.sized or _are_of_ranks(said[name])}


def _are_of_ranks(kinds: Kinds) -> bool:
    """Whether each of several kinds has a shape, or the first is a number, which has none."""
    return len(kinds) > 1 and all(kind.dims for kind in kinds) or kinds[0].form == "number"


def _with_forms(guesser: Guesser, kinds: Kinds, forms: Mapping[str, Kind]) -> Iterator[Kinds]:
    """The kinds with other forms of some arguments, if none of these is an object; then with larger images,
    which are not empty after a window has moved along them.
    """
    pairs = list(zip(guesser.names, kinds))
    if any(kind.made is not None for name, kind in pairs if name in forms):
        return
    yield tuple(_formed(kind, forms[name]) if name in forms else kind for name, kind in pairs)
    larger = {name: _larger(kind) for name, kind in forms.items()}
    if larger != forms:
        yield tuple(_formed(kind, larger[name]) if name in forms else kind for name, kind in pairs)


def _formed(kind: Kind, other: Kind) -> Kind:
    """The kind in another form; unchanged if it has that rank already and no lengths are given: it may be
    square.
    """
    if not other.dims and _rank(kind) == _rank(other):
        return kind
    return dataclasses.replace(kind, form=other.form, dims=other.dims)


WINDOW = 4
"""What is added to the lengths of images, for functions that move a window along them."""


def _larger(kind: Kind) -> Kind:
    free = (length in _OF_IMAGES for length in kind.dims)
    dims = (f"{length}+{WINDOW}" if is_free else length for is_free, length in zip(free, kind.dims))
    return dataclasses.replace(kind, dims=tuple(dims))


_OF_IMAGES = IMAGES[0].dims


def _rank(kind: Kind) -> int:
    return 1 if kind.form == "vector" else len(kind.dims) or 2 * (kind.form in MATRICES)


def _of_rank(kinds: Kinds, rank: int) -> Kind:
    return next((kind for kind in kinds if _rank(kind) == rank), kinds[0])


def _shape(kind: Kind) -> tuple[str, tuple[int | str, ...]]:
    return kind.form, kind.dims


def _are_told(guesser: Guesser, kinds: Kinds, said: Collection[str]) -> bool:
    """Whether the kinds of all arguments whose ranks are not `said` are known, so that they go with those
    that are.
    """
    single = numbers_beside_shapes(guesser.target)
    others = [i for i, name in enumerate(guesser.names) if name not in said]
    others = [i for i in others if guesser.names[i] not in single or kinds[i].form != "number"]
    return all(
        not guesser.is_any_number(i) or bool(kinds[i].dims) or kinds[i].form not in _FREE for i in others
    )


_FREE = ("number", "vector", *MATRICES)
