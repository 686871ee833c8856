"""The search among the kinds of arguments that a function may be for, the likeliest first, and at which of
them its rule is judged.
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
from ..calling.plain_calls import heard
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
"""Calls of the function that may be spent on finding arguments it takes."""
MOST_REFUSED = 24
"""Kinds that a rule may fail for before it is taken for wrong about all."""
MOST_TAKEN = 24
"""Kinds that a rule may be wrong for before it is taken for wrong about all."""
MOST_KINDS = 3
"""Kinds that are judged of a function that takes several."""
MOST_OTHERS = 4
"""Kinds besides those judged at which a correction is verified."""
SIGNED = 6
"""Draws at which the signs of numbers are changed."""
AT_TIMES, MOST_UNSETTLED = 16, 12
"""Draws of which a quarter have to have a value, where no interval was found; and kinds that are asked so."""
CHANCES = 8
"""Draws at which a rule is asked again that is wrong for likelier kinds."""


class Search:
    """What became of the kinds that were tried."""

    def __init__(self, guesser: Guesser, several: bool) -> None:
        self.guesser, self.several = guesser, several
        self.right: list[Kinds] = []  # the rule seems right there
        self.wrong: list[Kinds] = []  # it runs there
        self.refused: list[Kinds] = []  # the function runs there
        self.unsettled: list[Kinds] = []  # it may run there at times, and over no interval does so mostly
        self.named: Kinds | None = None  # what the names speak of
        self.faulty: Kinds | None = None  # it raises there what it would raise wherever it is asked
        self.misshapen: Kinds | None = None  # its cotangents have other shapes than what is annotated
        self.relation: tuple[bool, bool] | None = None
        self._counts: dict[Kinds, int] = {}
        self.tried, self.last = 0, "no kind of number suits them"

    def candidates(self) -> Iterator[Kinds]:
        """Each mixture of kinds once, the likeliest first: those that annotations speak of, others where the
        rule runs for none of these.
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
        """Try kinds over smaller and smaller intervals; whether nothing more is to be tried."""
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
        """Whether the function has values for numbers of any sign, too, wherever it has one for those of a
        narrower interval: what it refused before were the lengths or counts that were drawn.
        """
        with self.guesser.undisturbed():
            return not any(self._needs_a_sign(kinds, number) for number in range(SIGNED)) and (
                self.guesser.takes(kinds)
            )

    def _needs_a_sign(self, kinds: Kinds, number: int) -> bool:
        """Whether the function has a value for some arguments, and none with other signs."""
        args = self.guesser.draw(kinds, number)
        return self._is_real_at(args) and not self._is_real_at(revalued(args, self._signed))

    def _is_real_at(self, args: tuple) -> bool:
        """Whether the function has a value, and not a complex one, as a power may have."""
        return any(not is_complex(y) for y in self.guesser.finite_values([args]))

    def _signed(self, numbers: np.ndarray) -> np.ndarray:
        return numbers * self.guesser.rng.choice([-1.0, 1.0], numbers.shape)

    def _is_settled(self, kinds: Kinds, wider: Kinds) -> bool:
        """Try some kinds, and keep them as `wider` ones; whether other intervals need not be tried."""
        guesser = self.guesser
        args = guesser.draw(kinds)
        if guesser.rule_for(args) is None:
            return True
        try:
            with guesser.ending():
                y, said = heard(guesser.f, args, guesser.kwargs)
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
            return True  # it is for arrays, and numbers in a list do as well for what it does with them
        raised = guesser.raised(args)
        if isinstance(raised, REFUSALS):
            self._refuse(wider, args, y)
            if self.faulty is None and is_own_fault(raised, args):
                self.faulty = wider
            if self.misshapen is None and guesser.is_wrong_in_shape(raised):
                self.misshapen = wider
        elif guesser.seems_right(args) and guesser.seems_right(guesser.drawn(kinds)) and (
            np.any(to_vec(y)[0]) or self._is_right_inside(kinds)  # of nothing but zeros any rule is right
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
            self.named = kinds  # broadcast: what the names say is meant, and to be judged
        elif all(made in (dict, list, tuple) for made in is_made):  # their arrays may be of any rank
            self.refused.append(kinds)

    def _has_arrays_for_lists(self, kinds: Kinds, args: tuple) -> bool:
        """Whether the rule answers with an array, or a number, for a list that nobody asked for."""
        bars = self.guesser.answered(args)[1:] if any(kind.form == "list" for kind in kinds) else ()
        lists = (bar for kind, bar in zip(kinds, bars) if kind.form == "list" and not kind.is_asked)
        return any(isinstance(bar, (np.ndarray, np.generic, float)) for bar in lists)

    def _has_lists_for_arrays(self, args: tuple) -> bool:
        """Whether the rule answers with a list or a tuple for an array."""
        return any(
            isinstance(x, np.ndarray) and isinstance(bar, (list, tuple))
            for x, bar in zip(args, self.guesser.answered(args)[1:])
        )

    def _has_arrays_for_floats(self, args: tuple) -> bool:
        """Whether the rule has cotangents of the right shapes for all but numbers that the function or the
        caller says are some, or that are called as the weights of penalties beside matrices, and larger
        arrays for these.
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
        """Whether a value has rows like the vectors among the arguments, and the rule has cotangents of the
        right shapes for all but these.
        """
        if len(_shape(y)) != 2 or _shape(y)[1:] not in {_shape(x) for x in args if len(_shape(x)) == 1}:
            return False
        bars = self.guesser.answered(args)[1:]
        return len(bars) == len(args) and all(
            len(_shape(x)) == 1 or isinstance(bar, AbstractZero) or _shape(bar) == _shape(x)
            for x, bar in zip(args, bars)
        )

    def found(self) -> tuple[Kinds, ...]:
        """What is to be judged; nothing where the rule runs nowhere."""
        if self.named is not None:
            return (self.named,)
        self.right = [kinds for kinds in self.right if not self._is_chance_of_squares(kinds)]
        meant = list(filter(self._is_as_named, self.wrong))
        if meant and not any(map(self._is_as_named, self.right)) and self._is_of_arrays():
            return self._with_numbers(self._likeliest(meant))  # of a vector, too, a transpose is right
        alike = [kinds for kinds in self.wrong if _are_alike(kinds)]
        if not self.right:
            with self.guesser.undisturbed():
                lacking = self._likelier_refused()
            likeliest = lacking or self._with_numbers(self._likeliest(self.wrong))
            with self.guesser.undisturbed():
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
        """Of the kinds that were tried first those for which the function has a value at times, and its rule
        an answer, best a right one: for a determinant above zero, say, which no interval of numbers tells.
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
                continue  # lists are meant
            if 4 * len(taken) >= AT_TIMES and all(map(self.guesser.rule_runs, taken)):
                runs.append(kinds)
                if all(map(self.guesser.seems_right, taken)):
                    return kinds
        return runs[0] if runs else None

    def is_for_matrices_alone(self, found: tuple[Kinds, ...]) -> bool:
        """Whether a rule is wrong for matrices, where nobody speaks of any, and refuses vectors that the
        function takes: these may be of another length than those that were tried.
        """
        if self.right or self.named or self.guesser.of_axes or multiplies_matrices(self.guesser.target):
            return False
        of_matrices = all(any(kind.form in MATRICES for kind in kinds) for kinds in found)
        return of_matrices and any("vector" in _forms(kinds) for kinds in self.refused)

    def _likelier_refused(self) -> tuple[Kinds, ...]:
        """Kinds for which a rule has cotangents of other shapes, where more of the others are right than at
        any for which it runs: it was written for these, and lacks a sum.
        """
        if self.guesser.mode != "rrule" or not self.wrong or not self.refused:
            return ()
        best = self.likeliest_refused()
        most = max(map(self._right_at, self.wrong))
        return (best,) if self.guesser.cotangents_right(best) > max(most, 0) else ()

    def likeliest_refused(self) -> Kinds:
        """Of the kinds for which a rule has no answer of the right shapes that for which most of what it
        answers is right: there it was written for the others, too.
        """
        return max(self.refused, key=self.guesser.cotangents_right)

    def _vectors_for(self, kinds: Kinds) -> tuple[Kinds, ...]:
        """Kinds for which the rule is wrong, with vectors for the matrices of some for which it seems right:
        by the names these are no likelier, and a mistake in an order may be none in that of rows.
        """
        guesser = self.guesser
        if guesser.of_axes or multiplies_matrices(guesser.target) or any(map(is_matrix_name, guesser.names)):
            return ()
        forms = ["vector" if kind.form == "matrix" else kind.form for kind in kinds]
        wrong = (others for others in self.wrong if _plain_forms(others) == forms)
        return tuple(itertools.islice(wrong, 1)) if "matrix" in (kind.form for kind in kinds) else ()

    def _is_chance_of_squares(self, kinds: Kinds) -> bool:
        """Whether a rule is right for a square matrix, refuses others, and runs, wrong, for a vector instead:
        nothing speaks of matrices, and what it does not know of them is right by chance.
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
        branch, or right at most of those of likelier kinds, too: then it is written for these.
        """
        wrong = CHANCES - self._times_right(kinds)
        return wrong > 1 or 2 * self._times_right(likelier) >= CHANCES

    def _is_right_inside(self, kinds: Kinds) -> bool:
        """Whether a rule seems right for some kinds at other lengths, too."""
        return all(map(self.guesser.seems_right, self.guesser.inside(kinds)))

    def _times_right(self, kinds: Kinds) -> int:
        return [self.guesser.seems_right(self.guesser.drawn(kinds)) for _ in range(CHANCES)].count(True)

    def _is_of_arrays(self) -> bool:
        """Whether names of matrices, masks or indices mean such: `R` may be a number in a plain formula,
        unless there are no other names and a rule multiplies matrices.
        """
        guesser = self.guesser
        is_said = guesser.of_axes or bool(guesser.special) or multiplies_matrices(guesser.target)
        return is_said or all(map(is_matrix_name, guesser.names)) and self._has_rule_of_matrices()

    def _has_rule_of_matrices(self) -> bool:
        rules = rules_of(self.guesser.target, self.guesser.registry)
        return any(multiplies_matrices(author_of(rule)) for rule in rules if not rule.built_in)

    def _likeliest(self, wrong: list[Kinds]) -> tuple[Kinds, ...]:
        """Of the kinds for which a rule is wrong, that for which most of its cotangents are right: it was
        written for these. Of several, that with most numbers, for which it has to sum.
        """
        if len(wrong) < 2:
            return tuple(wrong)
        return (max(wrong, key=self._likelihood),)

    def _with_numbers(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """The same with numbers for those arrays in place of which the rule was likelier written for some: of
        many arguments not all mixtures are tried, and the lengths that the text tells are no part of it.
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
        """Whether the rule gives an argument no cotangent: then it is likely for any kind of it."""
        bars = self.guesser.answered(self.guesser.drawn(kinds))[1:]
        return i < len(bars) and isinstance(bars[i], AbstractZero)

    def _runs(self, kinds: Kinds) -> bool:
        """Whether function and rule have values and cotangents of the right shapes for some kinds."""
        return self.guesser.has_value(kinds) and self._right_at(kinds) >= 0

    def _likelihood(self, kinds: Kinds) -> tuple[int, bool, bool, int]:
        """How likely it is that a rule with a mistake in it was written for some kinds: for arrays, where the
        function makes one number of them; where it names an axis it may mean more than that.
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
        """Whether a rule has sums, or something like them, as for numbers beside arrays it has to."""
        authors = authors_of(self.guesser.target, self.guesser.registry, self.guesser.mode)
        return any(map(sums_within, authors))

    def _right_at(self, kinds: Kinds) -> int:
        """How many cotangents are right for some kinds."""
        if kinds not in self._counts:
            self._counts[kinds] = self.guesser.right_cotangents(self.guesser.drawn(kinds))
        return self._counts[kinds]

    def _is_as_named(self, kinds: Kinds) -> bool:
        """Whether some arguments have the names of matrices, masks or indices, and all of these are such."""
        special, pairs = self.guesser.special, list(zip(self.guesser.names, kinds))
        named = [kind.form in MATRICES for name, kind in pairs if is_matrix_name(name)]
        named += [kind.form == special[name] for name, kind in pairs if name in special]
        return bool(named) and all(named)

    def _of_axes(self) -> Iterator[Kinds]:
        """Kinds for which the rule is wrong and that a function is meant for which names an axis: there the
        first argument has another number of axes than where it is right. A mixture may not be meant where it
        is right for matrices of one shape; of vectors of one length nothing shows how it sums over rows. With
        `...`, or an axis in its docstring, it says itself that it is for matrices, and a rule with cotangents
        of another shape is wrong.
        """
        ranks = {_rank_of(kinds[0]) for kinds in self.right}
        of_one_shape = any(_are_alike(kinds) and kinds[0].form in MATRICES for kinds in self.right)
        wrong = [*self.wrong, *(self.refused if self._says_axes() else ())]
        for kinds in wrong:
            if not self.guesser.has_value(kinds):
                continue  # nor is its value that of the function there
            if _rank_of(kinds[0]) not in ranks and (_are_alike(kinds) or not of_one_shape):
                ranks.add(_rank_of(kinds[0]))
                yield kinds

    def _says_axes(self) -> bool:
        """Whether a function says that it is for arrays of several axes, in its code or in its docstring."""
        return is_for_any_axes(self.guesser.target) or says_axes(self.guesser.target)

    def _of_other_ranks(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """The same with matrices for vectors, or the other way round, where a function names an axis and its
        rule is wrong for both, in as many cotangents: a correction is to be right for both, too.
        """
        if not self.guesser.of_axes or not found:
            return ()
        first, count = found[0], self._right_at(found[0])
        alike = (k for k in self.wrong if _rank_of(k[0]) != _rank_of(first[0]) and k[1:] == first[1:])
        beside = (k for k in alike if self.guesser.has_value(k) and self._right_at(k) >= count)
        return tuple(itertools.islice(beside, 1))

    def others(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """Numbers and vectors for which the rule runs, too: whoever mends it must not spoil it there."""
        run = [kinds for kinds in (*self.right, *self.wrong) if kinds not in found]
        if not self.right and found and self.named is None:  # it was not written for those of less worth
            best = self._right_at(found[0])
            run = [kinds for kinds in run if self._right_at(kinds) >= best]
        plain = ("number", "vector", "integer", "mask", "indices")
        return tuple(kinds for kinds in run if all(kind.form in plain for kind in kinds))[:MOST_OTHERS]

    def notes(self, found: tuple[Kinds, ...]) -> tuple[str, ...]:
        """On kinds that a function takes without meaning anything by it, perhaps."""
        left = [kinds for kinds in self.wrong if kinds not in found] if self.right and self.several else []
        listed = (", ".join(f"{n}: {k}" for n, k in zip(self.guesser.names, kinds)) for kinds in left[:2])
        ending = f"which may not be intended: {TO_JUDGE} there"
        return tuple(f"not right for ({kinds}), {ending}" for kinds in listed)

    def why(self) -> str:
        """Why no arguments were found."""
        end = self.guesser.end
        return f"none in {end.seconds:g} s; {self.last}" if end.is_over() else self.last


def _forms(kinds: Kinds) -> tuple[str, ...]:
    """The forms of kinds, those of objects with all that is in them."""
    return tuple(kind.form if kind.made is None else repr(kind.parts) for kind in kinds)


def _plain_forms(kinds: Kinds) -> list[str]:
    return [kind.form for kind in kinds]


def _rank_of(kind: Kind) -> str:
    """A form that stands for all with as many axes: a square matrix has those of any other, and a list those
    of a vector."""
    return "matrix" if kind.form in MATRICES else "vector" if kind.form == "list" else kind.form


def _are_alike(kinds: Kinds) -> bool:
    """Whether all arguments are of one form: likelier to be meant than numbers that broadcast."""
    return len({kind.form for kind in kinds}) == 1


def _has_number_first(kinds: Kinds) -> bool:
    """Whether arrays follow a number: functions of arrays and of numbers mostly have the arrays first."""
    return kinds[0].form == "number" and not _are_alike(kinds)


_SPECIAL = {"integer": ("number",), "square": ("matrix",), "positive definite": ("matrix", "square")}


def _is_special_case(forms: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether some kinds are others, of a special form: nothing new is seen there."""
    return all(a == b or b in _SPECIAL.get(a, ()) for a, b in zip(forms, others))


def floats_of(target: Any) -> frozenset[str]:
    """The parameters that the annotations of a function call floats."""
    return frozenset(name for name, note in meant_types(target).items() if note is float)


def _relation(args: tuple, y: Any) -> tuple[bool, bool]:
    """How a value goes with its arguments: whether it is one number, whether it has the rank of the first.

    A function that takes vectors to a number is another function where it takes matrices to vectors.
    """
    return to_vec(y)[0].size == 1, _rank(y) == _rank(args[0])


def _rank(x: Any) -> int:
    return x.ndim if isinstance(x, np.ndarray) else 0


def _shape(x: Any) -> tuple[int, ...]:
    """The shape of an array; none of a number, nor of a list of arrays, which need not have one."""
    return x.shape if isinstance(x, np.ndarray) else ()
