"""Calls of a function and of its rule while it is not known which arguments they are for: values at arguments
of some kinds, and whether the rule seems right there.
"""

from __future__ import annotations

import collections.abc
import contextlib
import dataclasses
import math
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...advice import checked_with, with_domain
from ...errors import RuleLabError, RuleShapeError
from ...rules.authoring import ask, frule, rrule
from ...rules.lent import given_copies
from ...rules.registry import Found as FoundRule
from ...rules.registry import Registry
from ...rules.signatures import ANY, Accepts, accepts_from, meant_types
from ...rules.targets import name_of, resolve
from ...tangents.thunks import unthunk
from ...tangents.zeros import NoTangent
from ..calling.budgets import Limit
from ..calling.endless_loops import (
    FEW_LINES,
    MOST_LINES,
    EndlessError,
    forget_endless_calls,
    raising_if_endless,
    value_if_it_ends,
)
from ..calling.plain_calls import value_of
from ..calling.subjects import authors_of, codes_of, helper_codes, raw_pullback
from ..measuring.copies import own_copies, own_keywords
from ..measuring.differences import fd_jvp
from ..measuring.vectors import cotangent_vec, leaves, to_vec
from ..probing.drawing import draw_all
from ..probing.perturb import put_in_order, rand_tangent, revalued
from ..probing.probes import without_warnings
from ..reading.answers_read import held_by_answers, lists_answered, objects_answered, tuples_answered
from ..reading.arrays_said import arrays_counted
from ..reading.axes_read import (
    axes_of_matrices,
    cross_product_parameters,
    multiplies_matrices,
    names_an_axis,
    put_in_places,
    reduced_keys,
    sums,
    sums_by_axes,
)
from ..reading.by_name import (
    COUNTS,
    forms_by_name,
    interval_of_name,
    means_symmetric,
    names_several,
    ordered_pairs,
    special_names,
)
from ..reading.counts import REST, counting_parameters, cut_into, made_so_long, meant_whole
from ..reading.groups_read import distinguished_from_numbers, label_kinds
from ..reading.kinds import AS_LIST, AS_ROWS, MATRICES, Kind, Lengths
from ..reading.kinds_taken import dicts_of, objects_with
from ..reading.lists_read import layered_kinds, lists_of_arrays, sequence
from ..reading.loops_read import zipped_parameters
from ..reading.options_read import options_required
from ..reading.own_docstrings import note_rules
from ..reading.parameters import all_names, defaults_after, required_names
from ..reading.pieces_read import kinds_of_pieces
from ..reading.positions_read import picked_side_by_side, positions_read, several_positions
from ..reading.random_sources import random_sources
from ..reading.records_read import lists_of_records
from ..reading.relations import NOTHING_SAID, relations_of
from ..reading.shapes_read import shapes_read
from ..reading.shapes_solved import shapes_solved
from ..reading.stated_kinds import (
    counts_each,
    covariances_said,
    intervals_said,
    kinds_said,
    labels_said,
    meant_as_positive,
    numbered_in_plural,
    numbers_said,
    positions_said,
    signs_said,
    speaks_of_any_square,
)
from ..reading.texts import attributes_read, keys_read
from ..reading.usage import (
    array_function_parameters,
    index_parameters,
    mask_parameters,
    scatter_index_parameters,
    shapes_in,
    speaks_of_complex,
)
from .iterated import Iterated, iteration_of
from .refusals import REFUSALS

Kinds = tuple[Kind, ...]
LISTED = 3
"""The length of a list of numbers."""
DRAWS = 20
"""The largest number of draws to find arguments at which the function has a value."""
SEVERAL = 8
"""The number of draws, of several lengths, at which the form of a function's value is determined."""
ROUGHLY = 1e-4
NOISE = 1e-10
"""The error of a difference quotient relative to the values: where these do not change it is not exactly
zero.
"""
OF_ROWS = Kind("mask", dims=(AS_ROWS,))
INDICES = (Kind("indices"), Kind("indices", 0.0, 3.0), Kind("mask"), Kind("integer"), OF_ROWS)
"""Kinds of a parameter used as an index into arrays, if its name does not say more."""
PICKS = (Kind("indices"), Kind("indices", dims=("m", AS_ROWS)), Kind("indices", 0.0, 3.0), Kind("integer"))
"""Kinds of such a parameter if it is also compared with numbers, as booleans are not."""
WHOLE = (Kind("integer"), Kind("indices"), *map(Kind, ("number", "vector", "matrix")))
"""Kinds of a parameter that is a count by how the function uses it."""
LABELS = (Kind("mask"), OF_ROWS, *map(Kind, ("number", "vector", "matrix")))
"""Kinds of a parameter of which the function says that it has only two values."""
FLAGS = (
    *(Kind("mask"), Kind("flags"), Kind("mask", dims=("n", "m"))),
    *(Kind("number"), Kind("vector"), Kind("matrix")),
)
"""Kinds of a parameter whose elements each decide something in the function."""


def of_signs(kind: Kind) -> Kind:
    """The kind with -1 and 1 in place of flags."""
    return dataclasses.replace(kind, low=-1.0, high=1.0) if kind.form == "mask" else kind


SIGNS = tuple(map(of_signs, LABELS))


class NoInputsError(RuleLabError):
    """A check could not find arguments that the function takes."""


@dataclasses.dataclass
class Guesser:
    """A function whose rule is judged at guessed arguments, and what is known about these.

    `domain` gives the kinds of some parameters; the search stops at the limit `end`.
    """

    f: Callable
    kwargs: Mapping[str, Any]
    domain: Mapping[str, Kind]
    rng: np.random.Generator
    mode: str
    config: Any
    registry: Registry
    end: Limit

    def __post_init__(self) -> None:
        self.target, self.bound = resolve(self.f)
        forget_endless_calls(self.target)
        note_rules(self.target, authors_of(self.target, self.registry))
        self.set_parameters(required_names(self.f))
        self.asked = frozenset(self.domain)  # the parameters whose kind the caller named
        self.related = NOTHING_SAID  # how numbers must be related, once `adopt_statements` was called
        self.bounds: Mapping[str, Kind] = {}  # the intervals that the function itself states
        self.most_lines = MOST_LINES  # in one call; fewer once a call did not return
        self.sized: frozenset[str] = frozenset()  # the arrays whose lengths the function itself states
        self.lengths: Mapping[str, tuple[Lengths, ...]] = {}  # of arrays, found by trying or from lists

    def set_parameters(self, names: tuple[str, ...]) -> None:
        """Set the parameters for which arguments are guessed: these, the first of the function."""
        self.names = names
        self.ordered, self.special = ordered_pairs(names), special_names(names)

    def adopt_statements(self) -> None:
        """Adopt the kinds, intervals and orders that the docstring and code of the function state for
        parameters the caller said nothing about; where the function states none, those that a docstring of a
        rule states.
        """
        rules = authors_of(self.target, self.registry)
        speakers = (*rules, self.target)  # the last one has precedence
        numbers, picking = numbers_said(self.target), index_parameters(self.target)
        kinds = {name: kind for one in speakers for name, kind in kinds_said(one).items()}
        said = [(one, intervals_said(one)) for one in speakers]
        intervals = {name: ends for _, those in said for name, ends in those.items()}
        notes, domain, used = meant_types(self.target), dict(self.domain), dict(self.used)
        arrays = _arrays_called_complex(self.target, notes)
        positive = {name for one, those in said for name in meant_as_positive(one, those)}
        marked = labels_said(self.target)
        counts = counts_each(self.target).intersection(*(held_by_answers(self.target, one) for one in rules))
        for name in positive.intersection(self.names) - intervals.keys() - marked:
            if not any(k.made or k.form in MATRICES for k in (*kinds.get(name, ()), *used.get(name, ()))):
                intervals[name] = (0.0, math.inf)
        for name in (name for name in self.names if name not in self.domain):
            low, high = intervals.get(name, interval_of_name(name))
            tuples = _tuples_annotated(notes.get(name))
            if name in intervals and tuples is None:
                self.bounds = {**self.bounds, name: Kind(low=low, high=high)}
                domain[name] = self.bounds[name]
            if name in numbers and name not in arrays:
                domain[name] = dataclasses.replace(numbers[name], low=low, high=high)
            elif (parts := _numbers_annotated(notes.get(name))) is not None:
                domain[name] = parts
                used.pop(name, None)
            elif _is_list_of(notes.get(name), int):
                read = [kind for kind in used.get(name, ()) if kind.form == "indices" and kind.dims]
                picks = read[0] if read else Kind("indices", 0.0, 3.0)
                domain[name] = dataclasses.replace(picks, dtype=AS_LIST, is_asked=True)
                used.pop(name, None)
            elif tuples is not None:
                used[name] = (sequence(list, [tuples] * LISTED),)
            elif _is_list_of(notes.get(name), float):
                used[name] = (sequence(list, [Kind(low=low, high=high)] * LISTED),)
            elif notes.get(name) is int and name in picking:
                domain[name] = Kind("integer", 0.0, 2.0, is_asked=True)
                used.pop(name, None)
            elif name in kinds and _is_of_whole_numbers(kinds[name], name in picking or name in counts):
                domain[name] = dataclasses.replace(kinds[name][0], is_asked=True)
                used.pop(name, None)
            elif name in kinds and kinds[name][0].form == "vector" and _means_flags(name, used.get(name, ())):
                used[name] = (Kind("mask"), *kinds[name])
            elif name in kinds and not any(kind.made for kind in used.get(name, ())):
                used[name] = (*_with_lengths(used.get(name, ()), kinds[name][0]), *kinds[name])
                if name in intervals:
                    used[name] = tuple(dataclasses.replace(k, low=low, high=high) for k in used[name])
        for name in marked.intersection(self.names) - domain.keys():
            used.setdefault(name, SIGNS if name in signs_said(self.target) else LABELS)
        plain = (name for name in self.names if name not in self.special)
        for name in (name for name in plain if notes.get(name) is np.ndarray):
            bounds = domain.get(name, Kind())
            if not bounds.is_asked and name not in used:
                forms = (form for form in forms_by_name(name) if form not in ("number", "integer", "list"))
                used[name] = tuple(Kind(form, bounds.low, bounds.high, bounds.dtype) for form in forms)
        self.domain, self.used = domain, used
        self.related = relations_of(self.target, self.names, rules)
        self.ordered += self.related.ordered

    @cached_property
    def iterated(self) -> Iterated | None:
        """The function with more steps, if it repeats a step that has to converge."""
        return iteration_of(self.target, self.registry)

    @cached_property
    def of_axes(self) -> bool:
        """Whether the function names an axis."""
        return names_an_axis(self.target)

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """The parameters that are named like symmetric matrices, or that the docstring calls covariances."""
        named = () if speaks_of_any_square(self.target) else filter(means_symmetric, self.names)
        return covariances_said(self.target).union(named)

    @cached_property
    def sums_over_axes(self) -> bool:
        """Whether a rule names an axis, itself or in a helper, that its function does not name."""
        authors = authors_of(self.target, self.registry, self.mode)
        if self.of_axes:
            own = axes_of_matrices(self.target)
            return bool(own) and any(axes_of_matrices(author) - own for author in authors)
        return any(map(sums_by_axes, authors))

    @cached_property
    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        """The kinds of the parameters whose use in the function tells their kind."""
        return kinds_used(self.target, self.registry)

    @contextlib.contextmanager
    def raising_if_endless(self) -> Iterator[None]:
        """Raise EndlessError for a call of the function that does not return; after that, for further calls
        sooner.
        """
        try:
            with raising_if_endless(self.target, self.most_lines):
                yield
        except EndlessError:
            self.most_lines = FEW_LINES
            raise

    @contextlib.contextmanager
    def keeping_generator(self) -> Iterator[None]:
        """Draw without changing later draws: for trials that mostly come to nothing."""
        before = self.rng.bit_generator.state
        try:
            yield
        finally:
            self.rng.bit_generator.state = before

    # -- calls of the function and of its rule ---------------------------------------------------------------

    def is_asked(self, index: int) -> bool:
        """Whether the caller named the kind of an argument."""
        name = self.names[index]
        return name in self.domain and self.domain[name].is_asked

    def is_form_asked(self, index: int) -> bool:
        """Whether the caller named the kind of an argument; not where the docstring only states its
        lengths.
        """
        return self.is_asked(index) and self.names[index] not in self.sized

    def is_asked_as_number(self, index: int) -> bool:
        """Whether the caller said that an argument is a number."""
        return self.is_asked(index) and self.domain[self.names[index]].form == "number"

    def is_said_as_number(self, index: int) -> bool:
        """Whether the function itself says that an argument is a number and nothing else."""
        kinds = self.used.get(self.names[index], ())
        return bool(kinds) and all(kind.form == "number" and kind.made is None for kind in kinds)

    def is_any_number(self, index: int) -> bool:
        """Whether the kind of an argument, which may be a number among others, is not stated anywhere."""
        return not self.is_asked(index) and not self.is_said_as_number(index)

    def value(self, args: tuple) -> Any:
        if not self.related.hold(args):
            raise NoInputsError(f"the docstring of {name_of(self.target)} rules these arguments out")
        with self.raising_if_endless():
            y = value_of(self.f, args, self.kwargs)
            if self.iterated is not None and not self.iterated.has_ended(args, self.kwargs, y):
                raise NoInputsError(f"{name_of(self.target)} has not converged there")
        return y

    def _called(self, *args: Any) -> Any:
        return value_if_it_ends(self.target, lambda: self.f(*args, **self.kwargs))

    def draw(self, kinds: Kinds, number: int = 0) -> tuple:
        """Arguments of these kinds, in the order and with the relations that the function states, if such are
        found. `number` selects the lengths; where no draw fits, those of the next numbers are tried.
        """
        for size in (*[number] * (DRAWS + 1), *range(number + 1, number + DRAWS + 1)):
            args = self.related.repaired(put_in_order(draw_all(kinds, self.rng, size), self.ordered))
            if self.related.hold(args):
                break
        return args

    def drawn(self, kinds: Kinds) -> tuple:
        """Arguments of these kinds at which the function has a value, if some are found: usually they are."""
        args = self.draw(kinds)
        for _ in range(DRAWS):
            with contextlib.suppress(Exception):
                if is_finite(self.value(args)):
                    return args
            args = self.draw(kinds)
        return args

    def require_value(self, args: tuple) -> None:
        """Raise NoInputsError if the function has no value at these arguments: it may have had one at other
        lengths.
        """
        try:
            self.value(args)
        except Exception as error:
            raise none_found(self.target, f"{type(error).__name__}: {error}") from None

    def takes(self, kinds: Kinds) -> bool:
        """Whether most draws of these kinds are in the function's domain.

        A function of real numbers that returns complex values at some draws, as powers do, has left its
        domain there. A value without elements, as that of a window longer than its vector, does not rule out
        a kind.
        """
        drawn = [self.draw(kinds, number) for number in range(1, 5)]
        values = list(self.values(drawn))
        finite, empty = list(filter(is_finite, values)), [y for y in values if not to_vec(y)[0].size]
        pairs = zip(kinds, drawn[0])
        below = tuple(revalued((x,), _below_zero)[0] if kind.low < 0.0 else x for kind, x in pairs)
        of_signs = self.finite_values([revalued(drawn[0], np.abs), below])
        most = len(finite) >= 2 and len(finite) + len(empty) >= 3
        if most and any((kind.low, kind.high) == (-1.0, 1.0) for kind in kinds):  # not only at some signs
            most = any(True for _ in self.finite_values([revalued(drawn[0], _below_zero)]))
        if not self.means_complex and all(type(y) is complex for y in finite):
            # A negative number was raised to a fraction each time.
            most = most and any(is_complex(x) for args in drawn for x in args)
        return most and len({is_complex(y) for y in (*finite, *of_signs)}) == 1

    def makes_one_number(self, kinds: Kinds) -> bool:
        """Whether the function returns one number at all draws of these kinds that have a value. A number on
        one side of a branch only, as in `if x <= 0: return 0.0`, does not count.
        """
        with self.keeping_generator():
            drawn = [self.draw(kinds, number) for number in range(SEVERAL)]
            values = list(self.finite_values(drawn))
        return bool(values) and all(map(is_one_number, values))

    def inside(self, kinds: Kinds) -> Iterator[tuple]:
        """Draws of these kinds, with other lengths, at which the function has a value; none of length 1,
        where broadcasting lets code run that is not meant to.
        """
        for number in (1, 4, 6, 9):
            args = self.draw(kinds, number)
            if any(True for _ in self.finite_values([args])):
                yield args

    def finite_values(self, drawn: list[tuple]) -> Iterator[Any]:
        """The finite values of the function at these arguments; others are skipped."""
        return filter(is_finite, self.values(drawn))

    def values(self, drawn: list[tuple]) -> Iterator[Any]:
        """The values of the function at these arguments; where it has none, that one is skipped."""
        for args in drawn:
            with contextlib.suppress(Exception):
                y = self.value(args)
                to_vec(y)  # only values of numbers
                yield y

    @cached_property
    def means_complex(self) -> bool:
        """Whether the code of the function mentions complex numbers."""
        return speaks_of_complex((*codes_of(self.target), *helper_codes(self.target)))

    def rule_for(self, args: tuple) -> Any:
        """The rule that is found for these arguments; None if there is none."""
        found = ask(self.target, args, dict(self.kwargs), self.mode, self.config, self.registry)
        return found.rule if isinstance(found, FoundRule) else None

    def answer(self, args: tuple) -> tuple[Any, Callable]:
        """The value and the pullback that the rule returns for copies of the arguments, so that it cannot
        change these.
        """
        with without_warnings(), self.raising_if_endless(), given_copies():
            return rrule(
                self.f,
                *own_copies(args),
                config=self.config,
                registry=self.registry,
                **own_keywords(self.kwargs),
            )

    def _pushed_forward(self, args: tuple) -> Any:
        """The value and its tangent that a forward rule returns."""
        args = (*args, *defaults_after(self.target, len(args)))
        tangents = [rand_tangent(x, np.random.default_rng(0)) for x in args]
        with self.raising_if_endless():
            return frule(
                (NoTangent(), *tangents),
                self.f,
                *own_copies(args),
                config=self.config,
                registry=self.registry,
                **own_keywords(self.kwargs),
            )

    def answered(self, args: tuple) -> tuple:
        """The cotangents that the pullback returns for a random cotangent, that of the function included,
        with thunks evaluated; empty where the rule or a thunk raises.
        """
        if self.mode != "rrule":
            return ()
        with without_warnings():
            try:
                y, back = self.answer(args)
                bars = raw_pullback(back)(rand_tangent(y, np.random.default_rng(0)))
                return tuple(map(unthunk, bars)) if isinstance(bars, tuple) else ()
            except Exception:
                return ()

    def rule_runs(self, args: tuple, refusals: tuple[type[Exception], ...] = REFUSALS) -> bool:
        """Whether a rule runs without a refusal for these arguments: one written for arrays may refuse a
        number.

        Whether its answer is right is left to the check.
        """
        return not isinstance(self.raised(args), refusals)

    def raised(self, args: tuple) -> Exception | None:
        """The exception that a rule raises for these arguments; None if it raises none."""
        with without_warnings():
            try:
                if self.mode != "rrule":
                    self._pushed_forward(args)
                    return None
                y, back = self.answer(args)
                for bar in back(y):
                    unthunk(bar)
            except Exception as error:
                return error
        return None

    def is_wrong_in_shape(self, error: Exception | None) -> bool:
        """Whether a cotangent of the rule does not have the shape of its argument, in a function that
        annotates all of its arguments.
        """
        return isinstance(error, RuleShapeError) and {*self.names} <= {*meant_types(self.target)}

    def seems_right(self, args: tuple, of_all: bool = False) -> bool:
        """Whether a reverse rule agrees with a finite difference in one direction, by the dot-product test.
        Arguments for which it returns NoTangent() do not vary in that direction, unless it is to be right
        `of_all`. True for a forward rule, which does with broadcast arguments what its function does.
        """
        if self.mode != "rrule":
            return True
        bars = () if of_all else self.answered(args)
        held = [isinstance(bar, NoTangent) for bar in bars[1:]] or [False] * len(args)
        x_dots = tuple(NoTangent() if h else rand_tangent(x, self.rng) for x, h in zip(args, held))
        with without_warnings():
            try:
                y, back = self.answer(args)
                y_bar = rand_tangent(y, self.rng)
                x_bars = back(y_bar)[1:]
                y_dot = fd_jvp(self._called, x_dots, *args)
                found = sum(_dot(x, x_bar, x_dot) for x, x_bar, x_dot in zip(args, x_bars, x_dots))
                wanted, size = _dot(y, y_bar, y_dot), np.abs(to_vec(y)[0]) @ np.abs(to_vec(y_bar)[0])
            except Exception:
                return False
        return bool(abs(found - wanted) <= ROUGHLY * max(abs(found), abs(wanted)) + NOISE * size)

    def has_value(self, kinds: Kinds) -> bool:
        """Whether the value that a rule returns for arguments of some kinds is that of the function."""
        args = self.drawn(kinds)
        with without_warnings():
            try:
                given, y = to_vec(self.answer(args)[0])[0], to_vec(self.value(args))[0]
            except Exception:
                return False
        return given.shape == y.shape and bool(np.allclose(given, y, rtol=ROUGHLY))

    def right_cotangents(self, args: tuple) -> int:
        """How many arguments have a cotangent that agrees with a finite difference in one direction of that
        argument; -1 where the rule raises, or its value or a cotangent has another shape than it must. Zeros
        are not counted.
        """
        found = self.rightly_answered(args, of_right_shapes=True)
        return -1 if found is None else len(found)

    def cotangents_right(self, kinds: Kinds) -> int:
        """How many cotangents are right for some kinds, whatever the shapes of the others are; -1 where the
        rule raises or its value has another shape.
        """
        right = self.rightly_answered(self.drawn(kinds), of_right_shapes=False)
        return -1 if right is None else len(right)

    def rightly_answered(self, args: tuple, of_right_shapes: bool) -> frozenset[int] | None:
        """The positions of the arguments with right cotangents; None where the rule raises or its value has
        another shape and, with `of_right_shapes`, where a cotangent has.
        """
        right: set[int] = set()
        with without_warnings():
            try:
                (given, back), y = self.answer(args), self.value(args)
                if shapes(given) != shapes(y):
                    return None
                y_bar = rand_tangent(y, self.rng)
                x_bars = (back if of_right_shapes else raw_pullback(back))(y_bar)[1:]
            except Exception:
                return None
            for i, x in enumerate(args):
                with contextlib.suppress(Exception):
                    x_dot = rand_tangent(x, self.rng)
                    if _dot(x, x_bars[i], x_dot) == 0:
                        continue  # a zero proves nothing
                    alone = (*[NoTangent()] * i, x_dot, *[NoTangent()] * (len(args) - i - 1))
                    y_dot = fd_jvp(self._called, alone, *args)
                    found, wanted = _dot(x, x_bars[i], x_dot), _dot(y, y_bar, y_dot)
                    if 0 < abs(wanted) and abs(found - wanted) <= ROUGHLY * abs(wanted):
                        right.add(i)
        return frozenset(right)


def _with_lengths(read: Kinds, said: Kind) -> Kinds:
    """The matrices with lengths among the kinds inferred from code, if the docstring only says "matrix"."""
    is_matrix = said.form == "matrix" and not said.dims
    return tuple(kind for kind in read if is_matrix and kind.form == "matrix" and kind.dims)


def as_annotated(accepted: Accepts | None, target: Any) -> Accepts | None:
    """What a rule accepts, and for parameters of which it says nothing, what the annotations of the function
    mean.
    """
    notes = meant_types(target)
    if not notes:
        return accepted
    parameters = []
    notes = {**notes, **dict.fromkeys(_arrays_called_complex(target, notes), _COMPLEX_ARRAY)}
    for i, name in enumerate(all_names(target)):
        said = ANY if accepted is None else accepted.at(i)
        if said == ANY and name in notes:
            with contextlib.suppress(RuleLabError):  # an annotation that is not about numbers
                said = accepts_from((notes[name],)).at(0)
        parameters.append(said)
    return Accepts(tuple(parameters), open_ended=True)


def _arrays_called_complex(target: Any, notes: Mapping[str, Any]) -> frozenset[str]:
    """The parameters annotated as `complex` that are arrays: because of how the function uses them, because
    of a plural name such as `amplitudes`, or because the docstring gives a count after their name.
    """
    found = frozenset(name for name, note in notes.items() if note is complex)
    several = {name for name in found if names_several(name)}
    return found & (array_function_parameters(target) | several | arrays_counted(target)) if found else found


_COMPLEX_ARRAY = npt.NDArray[np.complex128]
"""What `complex` means for a parameter that is used as an array."""


def _means_flags(name: str, used: Kinds) -> bool:
    """Whether a vector holds flags, by its name or by its use."""
    return special_names((name,)).get(name) == "mask" or bool(used) and used[0].form == "mask"


def _is_of_whole_numbers(kinds: Kinds, picks: bool) -> bool:
    """Whether the docstring leaves only an integer, or an array of them that is used for indexing. An array
    used in arithmetic is real all the same if the rule has a cotangent for it.
    """
    return len(kinds) == 1 and (kinds[0].form == "integer" or kinds[0].form == "indices" and picks)


def _is_list_of(note: Any, kind: type) -> bool:
    """Whether an annotation is a list of such numbers: `list[int]`, `Sequence[float]`."""
    origin, of = typing.get_origin(note), typing.get_args(note)
    return origin in (list, collections.abc.Sequence) and of == (kind,)


def _numbers_annotated(note: Any) -> Kind | None:
    """The tuple of numbers that an annotation such as `tuple[float, float, int]` means; None for any
    other.
    """
    of = typing.get_args(note)
    if typing.get_origin(note) is not tuple or not of or not set(of) <= {float, int}:
        return None
    parts = tuple((str(i), Kind("number" if part is float else "integer")) for i, part in enumerate(of))
    return Kind("object", made=tuple, parts=parts, is_asked=True)


def _tuples_annotated(note: Any) -> Kind | None:
    """The tuple of numbers of which an annotation such as `list[tuple[float, float]]` means several; None for
    any other.
    """
    of = typing.get_args(note)
    is_list = typing.get_origin(note) in (list, collections.abc.Sequence)
    return _numbers_annotated(of[0]) if is_list and len(of) == 1 else None


def _below_zero(x: np.ndarray) -> np.ndarray:
    return -np.abs(x)


def _dot(x: Any, x_bar: Any, x_dot: Any) -> float:
    return float(cotangent_vec(x, x_bar) @ cotangent_vec(x, x_dot))


def is_about_form(error: Exception) -> bool:
    """Whether a function refuses arguments because of their form, not because of the numbers in them."""
    if isinstance(error, ValueError):
        return any(word in str(error) for word in ("shape", "dimension"))
    return isinstance(error, (TypeError, AttributeError, IndexError, KeyError))


def is_about_numbers(error: Exception) -> bool:
    """Whether a function refuses the numbers in its arguments, so that it may take others."""
    about = (ArithmeticError, np.linalg.LinAlgError, NoInputsError)
    return isinstance(error, about) or _OF_NUMBERS.search(str(error)) is not None


# The messages of `math`; from Python 3.14 on they say what was expected.
_EXPECTED = "argument value|a (number|finite|positive|nonnegative|noninteger)"
_OF_NUMBERS = re.compile(f"domain|expected ({_EXPECTED})")


def _dicts_said(target: Any, keys: tuple[str, ...], of_matrices: bool) -> tuple[Kind, ...]:
    """The dicts with arrays of the shapes that the docstring states under their keys, if it states any."""
    shapes = shapes_in(target, keys)
    return dicts_of(keys, of_matrices, shapes) if shapes else ()


def _without(kinds: tuple[Kind, ...], form: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in kinds if kind.form != form)


def kinds_used(target: Any, registry: Registry) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of the parameters as far as their use in a function tells: keys and attributes that it reads,
    with the classes that it or its rules name, and indexing, shapes, counts, lists and options.
    """
    of_matrices = multiplies_matrices(target)
    solved, of_dicts, summed = shapes_solved(target), keys_read(target), reduced_keys(target)
    kinds = {name: kinds for name, kinds in solved.items() if name not in of_dicts}
    kinds |= {
        name: _dicts_said(target, tuple(keys), of_matrices)
        or (*layered_kinds(keys), *solved.get(name, ()), *dicts_of(keys, of_matrices, arrays=summed))
        for name, keys in of_dicts.items()
    }
    kinds |= dict.fromkeys(put_in_places(target) - kinds.keys(), (Kind("vector"), Kind("matrix")))
    kinds |= dict.fromkeys(cross_product_parameters(target), (Kind("vector", dims=(3,)),))
    whole = WHOLE if not sums(target) else (*WHOLE[1:2], *WHOLE[:1], *WHOLE[2:])
    kinds |= dict.fromkeys(meant_whole(target), whole)
    kinds |= dict.fromkeys(counting_parameters(target), (Kind("integer"),))
    for name, counts in cut_into(target).items():
        kinds[name] = (Kind("vector", dims=("*".join(counts),)),)
        kinds |= {count: (Kind("integer", dims=(count,)),) for count in counts if count != REST}
    unnamed = index_parameters(target) - special_names(tuple(index_parameters(target))).keys()
    kinds |= {name: INDICES[::-1] if name in COUNTS else INDICES for name in unnamed}
    kinds |= dict.fromkeys(unnamed & distinguished_from_numbers(target) - COUNTS, PICKS)
    picks = scatter_index_parameters(target) & kinds.keys()
    listed = picks | (unnamed & numbered_in_plural(target))
    kinds |= {name: _without(kinds[name], "integer") for name in listed}
    positions, alike = positions_said(target) & unnamed, picked_side_by_side(target) & unnamed
    positions |= {name for name in alike if names_several(name)}
    kinds |= {name: _without(kinds[name], "mask") for name in alike | positions}
    kinds |= {name: _without(kinds[name], "integer") for name in positions}
    for length in made_so_long(target) if picks else ():  # the length of an array of sums
        kinds[length] = (Kind("integer", dims=("m",)), Kind("integer"))
        kinds |= {name: (Kind("indices", dims=("n", "m")), *kinds[name]) for name in picks}
    kinds |= dict.fromkeys(mask_parameters(target) - unnamed, FLAGS)
    several = several_positions(target)
    kinds |= dict.fromkeys(several, (Kind("vector"), Kind("matrix")))
    kinds |= {
        name: tuple(kind for kind in read if kind.form != "number" or name not in several)
        for name, read in positions_read(target).items()
    }
    kinds |= label_kinds(target)
    kinds |= kinds_of_pieces(target)
    kinds |= {
        name: (*read, *(kind for kind in kinds.get(name, ()) if kind.form != "integer"))
        for name, read in shapes_read(target).items()
    }
    said = lists_of_arrays(target)
    kinds |= said
    rules = authors_of(target, registry)
    named = [cls for author in (target, *rules) for cls in _classes_named(author)]
    kinds |= lists_of_records(target, named)
    for rule in rules:
        lists = lists_answered(target, rule)
        kinds |= {name: (*kinds.get(name, ()), *lists[name]) for name in lists.keys() - said.keys()}
        for name, made in tuples_answered(target, rule).items():
            read = (kind for kind in kinds.get(name, ()) if kind.made is tuple)  # with lengths
            kinds[name] = (*read, *made)
        kinds |= objects_answered(target, rule)
    kinds |= dict(_beside_lists(target, kinds))
    required = options_required(target, *rules)
    kinds |= {name: (Kind("option", options=values),) for name, values in required.items()}
    attributes, sources = attributes_read(target), random_sources(target)
    if not attributes:
        return {**kinds, **sources}
    beside = [x for x in list(getattr(target, "__globals__", {}).values()) if isinstance(x, type)]
    objects = {}
    for name, those in attributes.items():
        parts = {part: kinds[f"{name}.{part}"] for part in those if f"{name}.{part}" in kinds}
        found = (objects_with(dict.fromkeys(classes), those, parts=parts) for classes in (named, beside))
        objects[name] = next(filter(None, found), ())
    return {**kinds, **objects, **sources}


def _beside_lists(
    target: Any, kinds: Mapping[str, tuple[Kind, ...]]
) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """What a function iterates over together with a list or a tuple: vectors with as many elements."""
    for those in zipped_parameters(target):
        likeliest = [kinds[name][0] for name in those if kinds.get(name)]
        counts = {len(kind.parts) for kind in likeliest if kind.made in (list, tuple)}
        if len(counts) == 1:
            yield from ((name, (Kind("vector", dims=(*counts,)),)) for name in those if not kinds.get(name))


def _classes_named(function: Any) -> Iterator[type]:
    space = getattr(function, "__globals__", {})
    names = dict.fromkeys(name for code in codes_of(function) for name in code.co_names)
    yield from (space[name] for name in names if isinstance(space.get(name), type))


def is_one_number(y: Any) -> bool:
    return to_vec(y)[0].size == 1


def shapes(y: Any) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in leaves(y)]


def none_found(f: Callable, why: str) -> NoInputsError:
    name = getattr(f, "__name__", "the function")
    return NoInputsError(
        f"no arguments were found that {name} takes: {why}",
        asked=f"a check of the rule of {name}",
        fixes=(
            checked_with("give them", "f", ("2.0", "[1.0, 2.0]")),
            with_domain("their kinds", {"x": "positive vector"}),
        ),
        read="howto/check-a-rule",
    )


def is_finite(y: Any) -> bool:
    vector = to_vec(y)[0]
    return bool(vector.size) and bool(np.all(np.isfinite(vector)))


def is_complex(y: Any) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in leaves(y))
