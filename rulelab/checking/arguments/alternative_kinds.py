"""Kinds of arguments close to those judged that a function takes as well: a number for one of several
vectors, a row beside matrices, matrices for vectors.

What a rule does there does not make it wrong, since a right rule for arrays of one shape behaves the same
way. But the report says for which of these kinds a rule is not right, and where a name suggests that one of
them is intended, no judgement is possible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..reading.by_name import names_of_curve
from ..reading.kinds import MATRICES, Kind
from .guesser import Guesser, Kinds

SHAPE, NUMBERS = "its cotangents have a different shape", "its numbers are wrong"


class AlternativeKinds(NamedTuple):
    """Kinds close to those judged: `form` replaces the kind of the argument called `name`. `name` is empty
    where matrices replace all vectors, or vectors all numbers.
    """

    form: str
    name: str
    kinds: Kinds


class AlternativeAnswer(NamedTuple):
    """What is wrong with the answer of a rule for such kinds: its numbers, or the shape of a cotangent."""

    beside: AlternativeKinds
    what: str


def alternatives(guesser: Guesser, judged: tuple[Kinds, ...]) -> Iterator[AlternativeKinds]:
    """The kinds that differ from judged ones in the form of one argument, if the caller did not choose that
    form, or of all vectors, or of all numbers where there are no arrays; each once.
    """
    seen = set(map(_forms, judged))
    has_matrices = any(kind.form in MATRICES for kinds in judged for kind in kinds)
    of_numbers = all(kind.form in ("number", "integer") for kinds in judged for kind in kinds)
    for kinds in judged:
        for one in (_of_vectors(guesser, kinds),) if of_numbers else _close_to(guesser, kinds, has_matrices):
            if guesser.end.is_over():
                return
            if _forms(one.kinds) not in seen:
                seen.add(_forms(one.kinds))
                yield one


def not_symmetric(guesser: Guesser, judged: tuple[Kinds, ...]) -> Iterator[AlternativeKinds]:
    """The judged kinds with a general square matrix for one that is symmetric only by its name or by a word
    of the docstring.
    """
    for kinds in judged[:1]:
        for i, (name, kind) in enumerate(zip(guesser.names, kinds)):
            is_guessed = name in guesser.symmetric and not guesser.is_form_asked(i)
            if kind.form == "positive definite" and is_guessed:
                square = dataclasses.replace(kind, form="square")
                yield AlternativeKinds("square matrix", name, (*kinds[:i], square, *kinds[i + 1 :]))


def _forms(kinds: Kinds) -> tuple[tuple[str, tuple], ...]:
    return tuple((kind.form, kind.dims) for kind in kinds)


def _of_vectors(guesser: Guesser, kinds: Kinds) -> AlternativeKinds:
    """Vectors in place of all numbers, where no array is judged."""
    numbers = [i for i, kind in enumerate(kinds) if kind.form == "number" and guesser.is_any_number(i)]
    return AlternativeKinds("vectors", "", _with(kinds, dict.fromkeys(numbers, "vector")))


def _close_to(guesser: Guesser, kinds: Kinds, has_matrices: bool) -> Iterator[AlternativeKinds]:
    """The kinds close to these. Where the rule is judged at matrices, matrices in place of vectors are left
    out: rows beside the matrices say more.
    """
    names = guesser.names
    plain = [kind.made is None and guesser.is_any_number(i) for i, kind in enumerate(kinds)]
    arrays = [i for i, kind in enumerate(kinds) if kind.form in ("vector", *MATRICES)]
    vectors = [i for i in arrays if kinds[i].form == "vector" and plain[i] and not kinds[i].dims]
    for i, (name, kind) in enumerate(zip(names, kinds)):
        if not plain[i]:
            continue
        if len(arrays) > 1 and kind.form in ("vector", "matrix"):
            yield AlternativeKinds("number", name, _with(kinds, {i: "number"}))
        if kind.form == "number" and any(kinds[j].form == "vector" and not kinds[j].dims for j in arrays):
            yield AlternativeKinds("vector", name, _with(kinds, {i: "vector"}))
        if kind.form == "matrix" and len(arrays) > 1 and not kind.dims:
            yield AlternativeKinds("row", name, _with(kinds, {i: "columns"}))
    if has_matrices:
        return
    if vectors:
        yield AlternativeKinds("matrices", "", _with(kinds, dict.fromkeys(vectors, "matrix")))
    for i in vectors if len(vectors) > 1 else ():
        yield AlternativeKinds(
            "row", names[i], _with(kinds, {**dict.fromkeys(vectors, "matrix"), i: "columns"})
        )


def _with(kinds: Kinds, forms: dict[int, str]) -> Kinds:
    def formed(i: int, kind: Kind) -> Kind:
        return dataclasses.replace(kind, form=forms[i], dims=()) if i in forms else kind

    return tuple(formed(i, kind) for i, kind in enumerate(kinds))


def doubtful_argument(
    answers: Iterable[AlternativeAnswer], names: tuple[str, ...], held: frozenset[int]
) -> str | None:
    """The argument that is an array at all points because we chose so, and a number by its name, where the
    rule lacks the sum that a number needs: it is named like the parameter of a curve, comes after the only
    other array, and there are at least two further numbers that are not `held`. Whether an array is intended
    or a sum is missing cannot be known.
    """
    for one in (one.beside for one in answers if one.what == SHAPE and one.beside.form == "number"):
        arrays = [name for name, kind in zip(names, one.kinds) if kind.form == "vector"]
        numbers = [i for i, kind in enumerate(one.kinds) if kind.form == "number" and i not in held]
        is_alone = len(arrays) == 1 and all(kind.form in _PLAIN for kind in one.kinds)
        if not is_alone or len(numbers) <= OTHERS or names.index(arrays[0]) > names.index(one.name):
            continue
        if names_of_curve(one.name, arrays[0]):
            return one.name
    return None


_PLAIN = ("number", "vector", "integer")
OTHERS = 2
"""How many further numbers there must be: a single one proves nothing."""


def alternatives_in_words(answers: Iterable[AlternativeAnswer], arrays: Iterable[str]) -> str:
    """For which kinds a rule answers differently, in words; `arrays` are the names of the arguments judged as
    arrays.

    A vector in place of a number is reported only for wrong numbers: a rule that sums a cotangent is meant
    for a number and has the wrong shape for an array.
    """
    told = [one for one in answers if one.what == NUMBERS or one.beside.form != "vector"]
    clauses = []
    for what in (NUMBERS, SHAPE):
        names: dict[str, list[str]] = {}
        for one in (one for one in told if one.what == what):
            those = names.setdefault(one.beside.form, [])
            if one.beside.name not in those:  # beside several kinds that are judged
                those.append(one.beside.name)
        if names.get("number") and set(names["number"]) == set(names.get("row", ())):
            names = {"number or a row": names.pop("number"), **names}
            del names["row"]
        kinds = [_kind_in_words(form, those, set(arrays)) for form, those in names.items()]
        if kinds:
            clauses.append(f"for {_either(kinds)} {what}")
    return "; ".join(clauses)


def _kind_in_words(form: str, names: list[str], arrays: set[str]) -> str:
    if form in ("matrices", "vectors"):
        return form if form == "matrices" else "vectors in place of all numbers"
    if form.startswith("number") and set(names) == arrays:
        return "numbers or rows beside arrays" if "row" in form else "numbers beside arrays"
    return f"a {form} as {_either(names)}"


def _either(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
