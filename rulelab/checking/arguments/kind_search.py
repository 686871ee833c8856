"""Search the kinds of arguments that a function may be written for, the likeliest first, and choose those at
which its rule is judged.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ...advice import TO_JUDGE
from ...raised import raised_words
from ...rules.signatures import Accepts, meant_types
from ...tangents.zeros import AbstractZero
from ..calling.plain_calls import value_and_warnings
from ..calling.subjects import author_of, authors_of, rules_of
from ..measuring.vectors import to_vec
from ..probing.perturb import revalued
from ..reading.axes_read import is_for_any_axes, multiplies_matrices, sums_within
from ..reading.by_name import is_matrix_name, penalty_names
from ..reading.kinds import MATRICES, SQUARE, Kind
from ..reading.kinds_taken import are_as_named, guesses, narrowed
from ..reading.ranks_said import says_axes
from .guesser import Guesser, Kinds, as_annotated, is_about_form, is_complex, is_finite
from .refusals import REFUSALS, is_own_fault

TRIES = 400
"""The largest number of kinds at which the function is called to find arguments it takes."""
MOST_REFUSED = 24
"""The number of kinds for which a rule may raise before it is considered wrong for all."""
MOST_TAKEN = 24
"""The number of kinds for which a rule may be right or wrong before the search ends."""
MOST_KINDS = 3
"""The largest number of kinds judged for a function that takes several."""
MOST_OTHERS = 4
"""The largest number of kinds besides those judged at which a correction is verified."""
SIGNED = 6
"""The number of draws whose signs are changed."""
AT_TIMES, MOST_UNSETTLED = 16, 12
"""The number of draws, of which a quarter must have a value, for kinds without a suitable interval; and the
largest number of such kinds that are tried."""
CHANCES = 8
"""The number of draws at which a rule that is wrong for likelier kinds is tried again."""


class Search:
    """The kinds tried, sorted by what the function and its rule do with them."""

    def __init__(self, guesser: Guesser, several: bool) -> None:
        self.guesser, self.several = guesser, several
        self.right: list[Kinds] = []  # the rule seems right there
        self.wrong: list[Kinds] = []  # it runs there
        self.refused: list[Kinds] = []  # the function runs there
        self.unsettled: list[Kinds] = []  # it may run at some draws, but at most draws of no interval
        self.named: Kinds | None = None  # what the names speak of
        self.faulty: Kinds | None = None  # it raises there what it would raise at any arguments
        self.misshapen: Kinds | None = None  # its cotangents do not have the annotated shapes
        self.relation: tuple[bool, bool] | None = None
        self._counts: dict[Kinds, int] = {}
        self.tried, self.last = 0, "no kind of number suits its parameters"

    def candidates(self) -> Iterator[Kinds]:
        """Each combination of kinds once, the likeliest first: those that the annotations allow, and others
        where the rule runs for none of these.
        """
        guesser, seen = self.guesser, set()
        rules = rules_of(guesser.target, guesser.registry)
        of_rules: list[Accepts | None] = [rule.accepts for rule in rules if rule.mode == guesser.mode]
        for accepted in (*(as_annotated(a, guesser.target) for a in of_rules or [None]), None):
            if accepted is None and (self.right or self.wrong or self.named):
                return
            guessed = guesses(guesser.names, accepted, guesser.domain, guesser.used)
            for kinds in sorted(guessed, key=self._place):
                if kinds not in seen:
                    seen.add(kinds)
                    yield kinds

    def _place(self, kinds: Kinds) -> tuple[bool, bool, bool]:
        guesser = self.guesser
        of_numbers = all(kind.form in ("number", "integer") for kind in kinds)
        named = zip(guesser.names, kinds)
        is_other = any(name in guesser.special and k.form != guesser.special[name] for name, k in named)
        return not are_as_named(guesser.names, kinds), is_other, guesser.of_axes and of_numbers

    def is_over(self, guessed: Kinds) -> bool:
        """Try kinds over smaller and smaller intervals, and return whether the search is over."""
        forms = _forms(guessed)
        taken = [_forms(kinds) for kinds in (*self.right, *self.wrong)]
        if any(_is_special_case(forms, others) for others in taken) or taken and "list" in forms:
            return False
        if self.guesser.of_axes and guessed[0].form in {kinds[0].form for kinds in self.right}:
            return False
        for kinds in narrowed(guessed):
            if self.tried >= TRIES or self.guesser.end.is_over() or len(self.refused) >= MOST_REFUSED:
                return True
            self.tried += 1
            is_half = kinds != guessed and all(kind.high == math.inf and kind.low <= 0.0 for kind in kinds)
            of_lengths = any(kind.form != "number" for kind in kinds) and self.guesser.iterated is None
            wider = guessed if is_half and of_lengths and self._has_any_sign(kinds) else kinds
            if self._is_settled(kinds, wider):
                break
        else:
            self.unsettled.append(guessed)
        if self.named is not None or len(self.right) + len(self.wrong) >= MOST_TAKEN:
            return True
        return len(self.right) >= (MOST_KINDS if self.several else 1)

    def _has_any_sign(self, kinds: Kinds) -> bool:
        """Whether the function also has values for numbers of any sign wherever it has one in a narrower
        interval: what it refused before were the lengths or counts drawn.
        """
        with self.guesser.keeping_generator():
            return not any(self._needs_a_sign(kinds, number) for number in range(SIGNED)) and (
                self.guesser.takes(kinds)
            )

    def _needs_a_sign(self, kinds: Kinds, number: int) -> bool:
        """Whether the function has a value for some arguments, but none with other signs."""
        args = self.guesser.draw(kinds, number)
        return self._is_real_at(args) and not self._is_real_at(revalued(args, self._signed))

    def _is_real_at(self, args: tuple) -> bool:
        """Whether the function has a real value; a power may have a complex one."""
        return any(not is_complex(y) for y in self.guesser.finite_values([args]))

    def _signed(self, numbers: np.ndarray) -> np.ndarray:
        return numbers * self.guesser.rng.choice([-1.0, 1.0], numbers.shape)

    def _is_settled(self, kinds: Kinds, wider: Kinds) -> bool:
        """Try some kinds and record them as `wider`; return whether other intervals need not be tried."""
        guesser = self.guesser
        args = guesser.draw(kinds)
        if guesser.rule_for(args) is None:
            return True
        try:
            with guesser.raising_if_endless():
                y, said = value_and_warnings(guesser.f, args, guesser.kwargs)
        except Exception as error:
            self.last = raised_words(error)[:100]
            return is_about_form(error)
        relation = _relation(args, y)
        if not is_finite(y) or not guesser.takes(kinds):
            return False
        if self.relation not in (None, relation) and not guesser.of_axes:
            return True
        if DeprecationWarning in said:  # as `np.cross` does of vectors of two numbers
            self.last = "it warns that such arguments are deprecated"
            return True
        if self._has_arrays_for_lists(kinds, args):
            return True  # it is written for arrays, and lists of numbers work only by chance
        raised = guesser.raised(args)
        if isinstance(raised, REFUSALS):
            self._refuse(wider, args, y)
            if self.faulty is None and is_own_fault(raised, args):
                self.faulty = wider
            if self.misshapen is None and guesser.is_wrong_in_shape(raised):
                self.misshapen = wider
        elif (
            guesser.seems_right(args)
            and guesser.seems_right(guesser.drawn(kinds))
            and (
                np.any(to_vec(y)[0]) or self._is_right_inside(kinds)  # any rule is right for zeros
            )
        ):
            self.relation = relation
            self.right.append(wider)
        else:
            self.wrong.append(wider)
        return True

    def _refuse(self, kinds: Kinds, args: tuple, y: Any) -> None:
        as_named = are_as_named(self.guesser.names, kinds) and self._lacks_sums(args, y)
        is_made = [kind.made for kind in kinds if kind.made is not None]
        if as_named or not is_made and self._has_arrays_for_floats(args):
            self.named = kinds  # broadcast: the kinds that the names suggest are intended, so they are judged
        elif all(made in (dict, list, tuple) for made in is_made):  # their arrays may be of any rank
            self.refused.append(kinds)

    def _has_arrays_for_lists(self, kinds: Kinds, args: tuple) -> bool:
        """Whether the rule returns an array or a number as the cotangent of a list that the caller did not
        choose.
        """
        bars = self.guesser.answered(args)[1:] if any(kind.form == "list" for kind in kinds) else ()
        lists = (bar for kind, bar in zip(kinds, bars) if kind.form == "list" and not kind.is_asked)
        return any(isinstance(bar, (np.ndarray, np.generic, float)) for bar in lists)

    def _has_lists_for_arrays(self, args: tuple) -> bool:
        """Whether the rule returns a list or a tuple as the cotangent of an array."""
        return any(
            isinstance(x, np.ndarray) and isinstance(bar, (list, tuple))
            for x, bar in zip(args, self.guesser.answered(args)[1:])
        )

    def _has_arrays_for_floats(self, args: tuple) -> bool:
        """Whether all cotangents of the rule have the right shapes, except that it returns arrays for some
        numbers: those that the function or the caller calls floats, or that are named like the weights of
        penalties beside matrices.
        """
        names, bars = self.guesser.names, self.guesser.answered(args)[1:]
        asked = {name for i, name in enumerate(names) if self.guesser.is_asked_as_number(i)}
        floats, larger = floats_of(self.guesser.target) | penalty_names(names) | asked, False
        for name, x, bar in zip(names, args, bars):
            if isinstance(bar, AbstractZero) or _shape(bar) == _shape(x):
                continue
            if name not in floats or _shape(x) or _shape(bar) in ((), (1,)):
                return False
            larger = True
        return larger

    def _lacks_sums(self, args: tuple, y: Any) -> bool:
        """Whether a value has rows as long as a vector among the arguments, and the rule has cotangents of
        the right shapes for all arguments but the vectors.
        """
        if len(_shape(y)) != 2 or _shape(y)[1:] not in {_shape(x) for x in args if len(_shape(x)) == 1}:
            return False
        bars = self.guesser.answered(args)[1:]
        return len(bars) == len(args) and all(
            len(_shape(x)) == 1 or isinstance(bar, AbstractZero) or _shape(bar) == _shape(x)
            for x, bar in zip(args, bars)
        )

    def found(self) -> tuple[Kinds, ...]:
        """The kinds to be judged; none where the rule runs nowhere."""
        if self.named is not None:
            return (self.named,)
        self.right = [kinds for kinds in self.right if not self._is_chance_of_squares(kinds)]
        meant = list(filter(self._is_as_named, self.wrong))
        if meant and not any(map(self._is_as_named, self.right)) and self._is_of_arrays():
            # for a vector, a wrong transpose is right as well
            return self._with_numbers(self._likeliest(meant))
        alike = [kinds for kinds in self.wrong if _are_alike(kinds)]
        if not self.right:
            with self.guesser.keeping_generator():
                lacking = self._likelier_refused()
            likeliest = lacking or self._with_numbers(self._likeliest(self.wrong))
            with self.guesser.keeping_generator():
                return (*likeliest, *self._of_other_ranks(likeliest))
        if alike and _has_number_first(self.right[0]) and self._is_chance(self.right[0], alike[0]):
            return self._likeliest(alike)
        if alike and not _are_alike(self.right[0]) and not self._is_right_inside(self.right[0]):
            return self._likeliest(alike)  # a length happened to be a number of the rule
        if not self.several:
            return (*self.right[:1], *self._vectors_for(self.right[0]))
        others = self._of_axes() if self.guesser.of_axes else ()
        return (*self.right, *others)[:MOST_KINDS]

    def taken_at_times(self) -> Kinds | None:
        """Of the kinds tried first, those for which the function has a value at some draws, and its rule an
        answer; preferably kinds for which the rule is right. Such a domain, as that of matrices with a
        positive determinant, cannot be expressed by intervals of numbers.
        """
        runs: list[Kinds] = []
        for kinds in self.unsettled[:MOST_UNSETTLED]:
            if self.guesser.end.is_over():
                break
            if any(_is_special_case(_forms(kinds), _forms(others)) for others in runs):
                continue  # for a symmetric matrix a transpose is right
            drawn = [self.guesser.draw(kinds) for _ in range(AT_TIMES)]
            taken = [args for args in drawn if any(True for _ in self.guesser.finite_values([args]))]
            if any(map(self._has_lists_for_arrays, taken[:1])):
                continue  # the function is written for lists
            if 4 * len(taken) >= AT_TIMES and all(map(self.guesser.rule_runs, taken)):
                runs.append(kinds)
                if all(map(self.guesser.seems_right, taken)):
                    return kinds
        return runs[0] if runs else None

    def is_for_matrices_alone(self, found: tuple[Kinds, ...]) -> bool:
        """Whether a rule is wrong for matrices, where nothing mentions matrices, and refuses vectors that the
        function takes: vectors of another length than those tried may be intended.
        """
        if self.right or self.named or self.guesser.of_axes or multiplies_matrices(self.guesser.target):
            return False
        of_matrices = all(any(kind.form in MATRICES for kind in kinds) for kinds in found)
        return of_matrices and any("vector" in _forms(kinds) for kinds in self.refused)

    def _likelier_refused(self) -> tuple[Kinds, ...]:
        """The kinds at which the rule has cotangents of wrong shapes, if more of the others are right than at
        any kinds for which it runs: it was written for these, and lacks a sum.
        """
        if self.guesser.mode != "rrule" or not self.wrong or not self.refused:
            return ()
        best = self.likeliest_refused()
        most = max(map(self._right_at, self.wrong))
        return (best,) if self.guesser.cotangents_right(best) > max(most, 0) else ()

    def likeliest_refused(self) -> Kinds:
        """Of the kinds for which a rule has cotangents of wrong shapes, those with most right cotangents: the
        rule was probably written for these.
        """
        return max(self.refused, key=self.guesser.cotangents_right)

    def _vectors_for(self, kinds: Kinds) -> tuple[Kinds, ...]:
        """Kinds for which the rule is wrong, with vectors in place of the matrices of kinds for which it
        seems right. By the names, matrices are no likelier than vectors, and a mistake in the order of
        elements may have no effect on the order of rows.
        """
        guesser = self.guesser
        if guesser.of_axes or multiplies_matrices(guesser.target) or any(map(is_matrix_name, guesser.names)):
            return ()
        forms = ["vector" if kind.form == "matrix" else kind.form for kind in kinds]
        wrong = (others for others in self.wrong if _plain_forms(others) == forms)
        return tuple(itertools.islice(wrong, 1)) if "matrix" in (kind.form for kind in kinds) else ()

    def _is_chance_of_squares(self, kinds: Kinds) -> bool:
        """Whether a rule is right for a square matrix, refuses other matrices, and runs, but is wrong, for a
        vector instead. Nothing mentions matrices, so the rule is right for square ones by chance.
        """

        def with_form(form: str) -> list[str]:
            return [form if kind.form == "square" else kind.form for kind in kinds]

        of_names = any(k.form in SQUARE and is_matrix_name(n) for n, k in zip(self.guesser.names, kinds))
        if of_names or "square" not in with_form("square") or multiplies_matrices(self.guesser.target):
            return False
        refused = any(_plain_forms(others) == with_form("matrix") for others in self.refused)
        return refused and any(_plain_forms(others) == with_form("vector") for others in self.wrong)

    def _is_chance(self, kinds: Kinds, likelier: Kinds) -> bool:
        """Whether a rule is wrong at some arguments of kinds at which it seemed right, as on one side of a
        branch, or is right at most of those of likelier kinds: it is then written for the latter.
        """
        wrong = CHANCES - self._times_right(kinds)
        return wrong > 1 or 2 * self._times_right(likelier) >= CHANCES

    def _is_right_inside(self, kinds: Kinds) -> bool:
        """Whether a rule also seems right for these kinds at other lengths."""
        return all(map(self.guesser.seems_right, self.guesser.inside(kinds)))

    def _times_right(self, kinds: Kinds) -> int:
        return [self.guesser.seems_right(self.guesser.drawn(kinds)) for _ in range(CHANCES)].count(True)

    def _is_of_arrays(self) -> bool:
        """Whether names of matrices, masks or indices really mean these: `R` may be a number in a plain
        formula, unless all names are such and a rule multiplies matrices.
        """
        guesser = self.guesser
        is_said = guesser.of_axes or bool(guesser.special) or multiplies_matrices(guesser.target)
        return is_said or all(map(is_matrix_name, guesser.names)) and self._has_rule_of_matrices()

    def _has_rule_of_matrices(self) -> bool:
        rules = rules_of(self.guesser.target, self.guesser.registry)
        return any(multiplies_matrices(author_of(rule)) for rule in rules if not rule.built_in)

    def _likeliest(self, wrong: list[Kinds]) -> tuple[Kinds, ...]:
        """Of the kinds for which a rule is wrong, those with most right cotangents: the rule was written for
        these. Where several have as many, those with most numbers, for which it has to sum.
        """
        if len(wrong) < 2:
            return tuple(wrong)
        return (max(wrong, key=self._likelihood),)

    def _with_numbers(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """The same kinds, with numbers for those arrays in place of which the rule was more likely written
        for numbers: with many arguments not all combinations are tried, nor those without the lengths found
        in the code.
        """
        if len(found) != 1 or self.guesser.mode != "rrule":
            return found
        best = found[0]
        for i, kind in enumerate(best):
            if kind.form == "vector" and not kind.is_asked and kind.made is None:
                number = Kind("number", kind.low, kind.high, kind.dtype)
                others = (*best[:i], number, *best[i + 1 :])
                is_likelier = self._runs(others) and self._likelihood(others) > self._likelihood(best)
                if is_likelier and not self._is_held(best, i):
                    best = others
        return (best,)

    def _is_held(self, kinds: Kinds, i: int) -> bool:
        """Whether the rule returns no cotangent for an argument, which makes all kinds of it equally
        likely.
        """
        bars = self.guesser.answered(self.guesser.drawn(kinds))[1:]
        return i < len(bars) and isinstance(bars[i], AbstractZero)

    def _runs(self, kinds: Kinds) -> bool:
        """Whether the rule has the value of the function and cotangents of the right shapes for some
        kinds.
        """
        return self.guesser.has_value(kinds) and self._right_at(kinds) >= 0

    def _likelihood(self, kinds: Kinds) -> tuple[int, bool, bool, int]:
        """How likely it is that a rule with a mistake was written for some kinds, as a sort key: most right
        cotangents first, then kinds without lists, then arrays that the function reduces to one number
        (unless it names an axis), then those with most numbers.
        """
        forms = [kind.form for kind in kinds]
        numbers = sum(form in ("number", "integer") for form in forms)
        has_arrays = numbers < len(forms)
        reduces = has_arrays and not self.guesser.of_axes and self.guesser.makes_one_number(kinds)
        if not self._may_sum and _are_alike(kinds):
            numbers = len(forms)  # it was written for arrays of one shape
        return self._right_at(kinds), "list" not in forms, reduces, numbers

    @cached_property
    def _may_sum(self) -> bool:
        """Whether a rule sums, or does something like it, as it must for numbers beside arrays."""
        authors = authors_of(self.guesser.target, self.guesser.registry, self.guesser.mode)
        return any(map(sums_within, authors))

    def _right_at(self, kinds: Kinds) -> int:
        """How many cotangents are right for some kinds."""
        if kinds not in self._counts:
            self._counts[kinds] = self.guesser.right_cotangents(self.guesser.drawn(kinds))
        return self._counts[kinds]

    def _is_as_named(self, kinds: Kinds) -> bool:
        """Whether some arguments are named like matrices, masks or indices, and all of these are of the kind
        that their names suggest.
        """
        special, pairs = self.guesser.special, list(zip(self.guesser.names, kinds))
        named = [kind.form in MATRICES for name, kind in pairs if is_matrix_name(name)]
        named += [kind.form == special[name] for name, kind in pairs if name in special]
        return bool(named) and all(named)

    def _of_axes(self) -> Iterator[Kinds]:
        """Kinds for which the rule is wrong, but for which a function that names an axis is intended: the
        first argument has a different number of axes there than where the rule is right.

        Different ranks may not be intended where the rule is right for matrices of one shape; with vectors of
        one length nothing shows how it sums over rows. A function that uses `...`, or mentions an axis in its
        docstring, is itself written for matrices, and a rule with cotangents of another shape is wrong.
        """
        ranks = {_rank_of(kinds[0]) for kinds in self.right}
        of_one_shape = any(_are_alike(kinds) and kinds[0].form in MATRICES for kinds in self.right)
        wrong = [*self.wrong, *(self.refused if self._says_axes() else ())]
        for kinds in wrong:
            if not self.guesser.has_value(kinds):
                continue  # its value is wrong there, too
            if _rank_of(kinds[0]) not in ranks and (_are_alike(kinds) or not of_one_shape):
                ranks.add(_rank_of(kinds[0]))
                yield kinds

    def _says_axes(self) -> bool:
        """Whether a function says that it takes arrays of several axes, in its code or in its docstring."""
        return is_for_any_axes(self.guesser.target) or says_axes(self.guesser.target)

    def _of_other_ranks(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """The same kinds with a matrix for a vector as the first argument, or the other way round, where a
        function names an axis and its rule is wrong for both and has at least as many right cotangents there:
        a correction must be right for both.
        """
        if not self.guesser.of_axes or not found:
            return ()
        first, count = found[0], self._right_at(found[0])
        alike = (k for k in self.wrong if _rank_of(k[0]) != _rank_of(first[0]) and k[1:] == first[1:])
        beside = (k for k in alike if self.guesser.has_value(k) and self._right_at(k) >= count)
        return tuple(itertools.islice(beside, 1))

    def others(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """Kinds of numbers and vectors besides those judged for which the rule also runs: a correction must
        not break it there.
        """
        run = [kinds for kinds in (*self.right, *self.wrong) if kinds not in found]
        if not self.right and found and self.named is None:  # it was not written for those of less worth
            best = self._right_at(found[0])
            run = [kinds for kinds in run if self._right_at(kinds) >= best]
        plain = ("number", "vector", "integer", "mask", "indices")
        return tuple(kinds for kinds in run if all(kind.form in plain for kind in kinds))[:MOST_OTHERS]

    def notes(self, found: tuple[Kinds, ...]) -> tuple[str, ...]:
        """Notes on kinds that the function takes, but perhaps unintentionally."""
        left = [kinds for kinds in self.wrong if kinds not in found] if self.right and self.several else []
        listed = (", ".join(f"{n}: {k}" for n, k in zip(self.guesser.names, kinds)) for kinds in left[:2])
        ending = f"which may not be intended: {TO_JUDGE} there"
        return tuple(f"not right for ({kinds}), {ending}" for kinds in listed)

    def why(self) -> str:
        """Why no arguments were found."""
        end = self.guesser.end
        return f"none in {end.seconds:g} s; {self.last}" if end.is_over() else self.last


def _forms(kinds: Kinds) -> tuple[str, ...]:
    """The forms of kinds; for an object, everything in it."""
    return tuple(kind.form if kind.made is None else repr(kind.parts) for kind in kinds)


def _plain_forms(kinds: Kinds) -> list[str]:
    return [kind.form for kind in kinds]


def _rank_of(kind: Kind) -> str:
    """The form that stands for all with as many axes: "matrix" for a square matrix, "vector" for a list."""
    return "matrix" if kind.form in MATRICES else "vector" if kind.form == "list" else kind.form


def _are_alike(kinds: Kinds) -> bool:
    """Whether all arguments have the same form, which is likelier to be intended than numbers that
    broadcast.
    """
    return len({kind.form for kind in kinds}) == 1


def _has_number_first(kinds: Kinds) -> bool:
    """Whether arrays follow a number: functions of arrays and numbers mostly take the arrays first."""
    return kinds[0].form == "number" and not _are_alike(kinds)


_SPECIAL = {"integer": ("number",), "square": ("matrix",), "positive definite": ("matrix", "square")}


def _is_special_case(forms: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether the first kinds are special cases of the others, so that trying them shows nothing new."""
    return all(a == b or b in _SPECIAL.get(a, ()) for a, b in zip(forms, others))


def floats_of(target: Any) -> frozenset[str]:
    """The parameters that the annotations of a function call floats."""
    return frozenset(name for name, note in meant_types(target).items() if note is float)


def _relation(args: tuple, y: Any) -> tuple[bool, bool]:
    """How a value relates to its arguments: whether it is one number, and whether it has the rank of the
    first.

    A function that maps vectors to a number does something else where it maps matrices to vectors.
    """
    return to_vec(y)[0].size == 1, _rank(y) == _rank(args[0])


def _rank(x: Any) -> int:
    return x.ndim if isinstance(x, np.ndarray) else 0


def _shape(x: Any) -> tuple[int, ...]:
    """The shape of an array; () for a number and for a list of arrays, which need not have a shape."""
    return x.shape if isinstance(x, np.ndarray) else ()
