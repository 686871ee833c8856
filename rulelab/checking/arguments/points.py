"""The points of a check: given or drawn, of several sizes and scales, with ties, on both sides of
branches.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import dis
import functools
import itertools
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...rules.registry import Registry
from ...tangents.zeros import AbstractZero
from ..calling.budgets import Limit, took_more
from ..calling.endless_loops import raising_if_endless
from ..calling.plain_calls import HEEDED, value_and_warnings, value_of, value_raising_warnings
from ..calling.subjects import Subject
from ..measuring.shortening import shortened
from ..measuring.vectors import leaves, shape_of, to_vec
from ..probing.at_zero import zero_allowed_by_docstring
from ..probing.drawing import DRAWN_SCALES, SIZES, draw_all
from ..probing.forms import SYMMETRIC, forms_read
from ..probing.perturb import (
    WithTangent,
    all_equal,
    compared_numbers,
    fresh,
    jittered,
    landmarks,
    mirrored,
    moved_between,
    moved_beyond,
    moved_exactly_to,
    moved_near,
    narrow_gaps,
    put_in_order,
    revalued,
    with_all_digits,
    with_equal_pairs,
    with_opposite_signs,
    with_ties,
)
from ..probing.probes import Point, watched_lines, watched_steps, without_warnings
from ..reading.axes_read import takes_triangles
from ..reading.by_name import interval_of_name
from ..reading.kinds import Kind, Lengths
from ..reading.parameters import all_names
from ..reading.relations import NOTHING_SAID
from ..reading.texts import defaults_of
from ..reading.usage import reads_both_ends
from .alternative_kinds import AlternativeKinds, alternatives, not_symmetric
from .guesser import DRAWS, Guesser, is_complex, is_finite
from .guessing import kinds_of
from .iterated import Iterated
from .kinds_from_docstring import is_told
from .wider_intervals import with_other_sides

ATTEMPTS_APART = 7
"""By how much the numbers of a point and of its replacement, if it is refused, differ."""
BESIDE_SECONDS = 4.0
"""Processor time that may be spent on kinds beside those judged."""
USUAL = (3, 1)
"""The sizes (see `SIZES`) of further arguments, which include vectors of even length."""
FAR = 4.0
"""The factor by which drawn arguments are larger or smaller than usual from where digits may be lost."""


class Source:
    """The points of one check: those `given` by the caller, or drawn from the kinds that the function takes.

    `forms` says, by position, which arguments are symmetric matrices. `whole` are the arguments as given, if
    integers among them were converted to floats.
    """

    def __init__(
        self,
        f: Callable,
        given: tuple | None,
        kwargs: Mapping[str, Any],
        domain: Mapping[str, Kind],
        rng: np.random.Generator,
        mode: str,
        config: Any,
        registry: Registry,
        several: bool = False,
        seconds: float = 5.0,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.f, self.kwargs, self.rng = f, kwargs, rng
        self.choices: tuple[tuple[Kind, ...], ...] = ()
        self.notes: tuple[str, ...] = ()
        self.whole: tuple | None = None
        self.elsewhere: tuple[tuple, ...] = ()  # arguments of other kinds for which the rule runs
        self.took_more = ""  # a sentence, if the search for kinds ran out of time
        self.told: tuple[bool, ...] = ()  # for each of the kinds, whether the docstring mentions it
        self.is_guessed = True  # whether neither the arguments nor their kinds were given
        self.ordered: tuple[tuple[int, int], ...] = ()  # of the arguments that are drawn
        self.related = NOTHING_SAID  # of the arguments that are drawn
        self.iterated: Iterated | None = None  # the function with more steps, if it has to converge
        self.named_intervals: Mapping[int, tuple[float, float]] = {}  # of given arguments, by their names
        self.bounds: Mapping[str, Kind] = {}  # and the intervals that the function itself states
        self.lengths: Mapping[str, tuple[Lengths, ...]] = {}  # that arguments must have, as trials showed
        guesser = Guesser(f, kwargs, domain, rng, mode, config, registry, Limit(seconds))
        if given is not None:
            plain = tuple(x.value if isinstance(x, WithTangent) else x for x in given)
            held = frozenset(i for i, x in enumerate(given) if isinstance(x, WithTangent))
            self.args, self.notes = _movable(guesser, plain, held)
            self.whole = plain if self.args is not plain else None
            named = dict(zip(names or all_names(guesser.target), plain))
            said = [domain[name].form if name in domain else None for name in named]
            self.forms = _forms(f, self.args, kwargs, rng, said, drawn=False)
            self.notes += _kept_symmetric(tuple(named), self.forms, said)
            self.named_intervals = _intervals_by_name(tuple(named), self.args)
            if guesser.iterated is not None and guesser.iterated.has_ended(self.args, kwargs):
                self.iterated = guesser.iterated  # it converges there, so it must near these, too
            return
        found, others, self.notes = kinds_of(guesser, several)
        self.took_more = took_more("the search for arguments", seconds) if guesser.end.was_over else ""
        self.ordered, self.related = guesser.ordered, guesser.related
        self.bounds = with_other_sides(guesser.bounds, guesser.names, found)
        self.iterated, self.lengths = guesser.iterated, guesser.lengths
        asked = (name in domain and domain[name].is_asked for name in guesser.names)
        self.is_guessed = not guesser.sized and not all(asked)
        self.elsewhere = tuple(map(guesser.drawn, others))
        args = guesser.drawn(found[0])
        self.forms = _forms(f, args, kwargs, rng, [kind.form for kind in found[0]], drawn=True)
        self.choices = tuple(_of_forms(kinds, self.forms) if kinds == found[0] else kinds for kinds in found)
        self.args = guesser.drawn(self.choices[0]) if self.choices != found else args
        self.told = tuple(is_told(guesser, kinds) for kinds in self.choices)
        self._guesser = guesser
        if self.is_guessed:
            guesser.require_value(self.args)

    @property
    def drawn(self) -> bool:
        """Whether the arguments are drawn, not given by the caller."""
        return bool(self.choices)

    def intervals(self) -> Mapping[int, tuple[float, float]]:
        """The intervals of the arguments, by position, that are drawn between two numbers, as shares are, or
        above one, as widths are; for given arguments, the intervals that their names imply and that contain
        them.

        An interval with only one end must be stated or implied by a name: drawn arguments may lie there just
        because the function had no value for others.
        """
        if not self.choices:
            return self.named_intervals
        kinds = enumerate(self.choices[0])
        return {i: (k.low, k.high) for i, k in kinds if self._has_interval(i, k)}

    def _has_interval(self, i: int, kind: Kind) -> bool:
        ends = np.isfinite((kind.low, kind.high))
        name = self._guesser.names[i]
        by_name = np.isfinite(interval_of_name(name)).any()
        return bool(ends.all() or (ends.any() and (self.is_said(name) or by_name)))

    def is_said(self, name: str) -> bool:
        """Whether the function itself, or a domain, states where the numbers of a drawn argument lie."""
        names = self._guesser.names
        return name in self.bounds or name in names and self._guesser.is_asked(names.index(name))

    def beside(self) -> Iterator[tuple[AlternativeKinds, tuple]]:
        """Kinds close to those judged, each with arguments at which the function has a value if possible;
        none where the kinds are not guessed.
        """
        if not self.drawn or not self.is_guessed:
            return
        guesser = dataclasses.replace(self._guesser, end=Limit(BESIDE_SECONDS), rng=np.random.default_rng(0))
        guesser.set_parameters(self._guesser.names)
        guesser.ordered, guesser.related, guesser.bounds = self.ordered, self.related, self.bounds
        guesser.used = self._guesser.used
        for one in (
            not_symmetric(guesser, self.choices) if any(self.forms) else alternatives(guesser, self.choices)
        ):
            yield one, guesser.drawn(one.kinds)

    def usual(self) -> Iterator[tuple]:
        """Further arguments of a usual size, with other lengths, for each of the judged kinds; for given
        arguments, these perturbed and with other signs.
        """
        for number in USUAL:
            for kinds in self.choices:
                yield self._guesser.draw(kinds, number)
        if not self.choices:
            yield self._inside(jittered(self.args, self.rng, flips=True))

    def args_at(self, number: int) -> tuple:
        """The arguments of the point of this number; the first are those the caller gave.

        Numbers have few digits, so that they are exact in single precision; but not at all points, or a rule
        that stores its arguments in single precision would pass.
        """
        if number == 0:
            return self.args
        args = self._moved(number)
        return with_all_digits(args, self.rng) if number % 4 == 1 else args

    def _moved(self, number: int) -> tuple:
        if not self.choices:
            return self._inside(self._near_those_given(number))
        size, choice = divmod(number, len(self.choices))
        if 1 in SIZES[size % len(SIZES)] and self.needs_two:
            size = -1
        kinds = self.choices[choice]
        for _ in range(DRAWS):
            drawn = draw_all(kinds, self.rng, size, self._scale(number))
            found = put_in_order(
                with_opposite_signs(drawn, self.args, kinds) if number == 1 else drawn, self.ordered
            )
            found = self.related.repaired(found)
            if self.related.hold(found):
                break
        return found

    @functools.cached_property
    def needs_two(self) -> bool:
        """Whether no length of 1 is drawn, since the function reads both ends of an array."""
        return bool(self.choices) and reads_both_ends(self._guesser.target)

    def _near_those_given(self, number: int) -> tuple:
        """The given arguments, perturbed. At some points all signs change, and where that is refused, or the
        next time, those of one argument only: `delta` may have to be positive, but not `x`.
        """
        attempt, turn = divmod(number, ATTEMPTS_APART)
        if turn % 3 != 2:
            return jittered(self.args, self.rng)
        flipped = jittered(self.args, self.rng, flips=True)
        if turn == 2 and not attempt:
            return flipped
        moving = [i for i, x in enumerate(self.args) if to_vec(x)[0].size]
        alone = moving[(attempt - (turn == 2)) % len(moving)] if moving else 0
        same = jittered(self.args, self.rng)
        return tuple(flipped[i] if i == alone else x for i, x in enumerate(same))

    def _inside(self, args: tuple) -> tuple:
        """The arguments, with absolute values for those that are positive by name and were given so."""
        return tuple(
            revalued((x,), np.abs)[0] if self.named_intervals.get(i, (-np.inf,))[0] == 0.0 else x
            for i, x in enumerate(args)
        )

    def _scale(self, number: int) -> float:
        if number < len(self.choices):
            return 1.0  # otherwise a kind might be tried only far away
        return DRAWN_SCALES[number % len(DRAWN_SCALES)] if self.choices else 1.0

    def is_far(self, number: int) -> bool:
        """Whether the point of this number has arguments of an unusual size, not chosen by the caller."""
        return not 1 / FAR <= self._scale(number) <= FAR

    def is_told(self, number: int) -> bool:
        """Whether the point of this number is of kinds that the docstring mentions."""
        return bool(self.told) and self.told[number % len(self.told)]

    def origin(self, number: int) -> str:
        """Where the numbers of the point of this number come from, in words."""
        if self.choices:
            return "drawn"
        return "given" if number == 0 else "near those given"


def _forms(
    f: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    rng: np.random.Generator,
    said: list[str | None],
    drawn: bool,
) -> tuple[str | None, ...]:
    """Which arguments are symmetric: those said to be, and those of which f looks at one triangle.

    A function that takes a triangle out of a matrix itself means one that has but this.
    """
    padded = [*said, *(None for _ in args[len(said) :])][: len(args)]
    seen = {} if drawn and takes_triangles(f) else forms_read(f, args, kwargs, rng, drawn)
    found = tuple(form if form in SYMMETRIC else seen.get(i) for i, form in enumerate(padded))
    return found if any(found) else ()


def _kept_symmetric(
    names: tuple[str, ...], forms: tuple[str | None, ...], said: list[str | None]
) -> tuple[str, ...]:
    """The note on given matrices that are kept symmetric although no domain requires it."""
    kept = [name for name, form, asked in zip(names, forms, said) if form is not None and asked is None]
    words = "kept symmetric; a rule may divide the cotangent between both triangles in any way"
    return (f"{', '.join(kept)}: {words}",) if kept else ()


def _intervals_by_name(names: tuple[str, ...], args: tuple) -> dict[int, tuple[float, float]]:
    """The intervals of arguments that are positive, or shares, by their names, if the given ones lie in
    them.
    """
    found: dict[int, tuple[float, float]] = {}
    for i, (name, x) in enumerate(zip(names, args)):
        (low, high), numbers = interval_of_name(name), to_vec(x)[0]
        if low > -np.inf and numbers.size and np.all((low < numbers) & (numbers < high)):
            found[i] = low, high
    return found


def _of_forms(kinds: tuple[Kind, ...], forms: tuple[str | None, ...]) -> tuple[Kind, ...]:
    """The same kinds, with the symmetric form for symmetric arguments."""
    if not forms:
        return kinds
    return tuple(
        kind if form is None or kind.form in SYMMETRIC else dataclasses.replace(kind, form=form)
        for kind, form in zip(kinds, forms)
    )


def _movable(guesser: Guesser, args: tuple, fixed: frozenset[int]) -> tuple[tuple, tuple[str, ...]]:
    """Arguments with something to perturb: integers become floats where there is nothing else, or where the
    rule returns a cotangent for them, if `f` then returns the same value.
    """
    counts = [i for i, x in enumerate(args) if isinstance(x, (int, np.integer)) and not isinstance(x, bool)]
    if not to_vec(args)[0].size:
        wide = tuple(x if i in fixed else _as_float(x) for i, x in enumerate(args))
        if to_vec(wide)[0].size and _gives_the_same(guesser, args, wide):
            return wide, ("integers were taken as floats",)
    arrays = [i for i, x in enumerate(args) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and x.size]
    bars = guesser.answered(args) if counts or arrays else ()
    shift = len(bars) - len(args)
    answered = [
        i for i in sorted((*counts, *arrays))
        if i not in fixed and shift > 0 and not isinstance(bars[i + shift], AbstractZero)
    ]  # fmt: skip
    notes = []
    for varied in (answered, [i for i in answered if i in counts]):  # an array may hold indices
        wide = tuple(_as_float(x) if i in varied else x for i, x in enumerate(args))
        if varied and _gives_the_same(guesser, args, wide) and guesser.rule_runs(wide):
            notes = [f"{_stated(guesser, args, varied)}: taken as {_floats(args, varied)}"]
            counts, answered = ([i for i in those if i not in varied] for those in (counts, answered))
            args = wide
            break
    if unseen := [i for i in answered if i in arrays]:
        notes.append(f"{_stated(guesser, args, unseen)}: whole numbers, whose cotangent was not checked")
    if counts and to_vec(args)[0].size:
        held = "a whole number, held fixed" if len(counts) == 1 else "whole numbers, held fixed"
        notes.append(f"{_stated(guesser, args, counts)}: {held}")
    return args, tuple(notes)


def _floats(args: tuple, varied: list[int]) -> str:
    return "a float" if len(varied) == 1 and not shape_of(args[varied[0]]) else "floats"


def _stated(guesser: Guesser, args: tuple, places: list[int]) -> str:
    """`axis = 1, k = 3`: arguments by their names, where the function has names for them."""
    names = all_names(guesser.f)
    shown = [shortened(args[i]) if isinstance(args[i], np.ndarray) else repr(args[i]) for i in places]
    return ", ".join(f"{names[i]} = {x}" if i < len(names) else x for i, x in zip(places, shown))


def _gives_the_same(guesser: Guesser, args: tuple, wide: tuple) -> bool:
    try:
        return bool(np.allclose(guesser.value(wide), guesser.value(args), equal_nan=True))
    except Exception:
        return False


def _as_float(x: Any) -> Any:
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return [_as_float(part) for part in x] if type(x) is list else x


def value_if_usable(
    subject: Subject, point: Point, like: Any, heeded: Iterable[type[Warning]] = HEEDED
) -> Any:
    """The value at a point, or None where the function refuses it, returns something not finite, gives a
    warning that is heeded, or returns complex numbers although its values (`like`) are real, or real ones
    although these are complex.
    """
    if not point.is_inside():
        return None
    try:
        with raising_if_endless(subject.primal):
            y = value_raising_warnings(subject.primal, point.floats, point.kwargs, heeded)
    except Exception:
        return None
    largest = np.abs(to_vec(y)[0]).max(initial=0.0)
    if is_single(point.inputs) and largest > np.finfo(np.float32).max:
        return None  # computed in double precision; but a cotangent of the arguments' dtype would overflow
    return y if is_finite(y) and is_complex(y) == is_complex(like) else None


def heeded_warnings_at(subject: Subject, point: Point) -> tuple[type[Warning], ...]:
    """The classes of warnings that count elsewhere: those the function does not give at this point."""
    _, said = value_and_warnings(subject.primal, point.inputs, point.kwargs)
    return tuple(kind for kind in HEEDED if kind not in said)


def is_single(inputs: tuple) -> bool:
    """Whether some numbers of the arguments are in single or half precision."""
    return any(leaf.dtype in (np.float32, np.complex64, np.float16) for leaf in leaves(inputs))


COMPARED = 6
"""The largest number of constants compared with in the code around which points lie first, where it has
many.
"""
EXACT, MORE_EXACT = 6, 16
"""How many constants of the code points hit exactly, and how many more if a line was not reached."""


def branching_numbers(subject: Subject) -> tuple[float, ...]:
    """The first numbers by which the function or its rule chooses a branch; a parameter stands for its
    default.
    """
    named = {**_number_defaults(subject), **subject.named}
    return compared_numbers((*subject.codes, *subject.helpers), named)[:COMPARED]


def _number_defaults(subject: Subject) -> dict[str, float]:
    return {name: x for name, x in defaults_of(subject.primal).items() if type(x) in (int, float)}


def odd_points(subject: Subject, point: Point, rng: np.random.Generator) -> Iterator[Point]:
    """Points with ties, with zeros, and around the constants in the code."""
    yield point.moved(all_equal(point.inputs), "all equal")
    for _ in range(2):
        yield point.moved(with_ties(point.inputs, rng), "with ties")
    yield point.moved(with_equal_pairs(point.inputs), "in equal pairs")
    codes, first = (*subject.codes, *subject.helpers), branching_numbers(subject)
    marks = tuple(sorted({*landmarks(codes), *first}, key=abs))
    if len(marks) > EXACT:  # with so many constants, those compared with in the code come first
        for mark in first:
            yield from _around(point, mark, rng)
    for mark in marks[:EXACT]:
        for inputs in moved_exactly_to(point.inputs, mark):
            yield point.moved(inputs, f"exactly {mark:g}", edge=True)
    for inputs in _all_zero(subject, point.inputs):
        yield point.moved(inputs, "exactly 0", edge=True)
    for low, high in narrow_gaps(marks):
        yield point.moved(moved_between(point.inputs, low, high, rng), f"between {low:g} and {high:g}")
    for inputs in mirrored(point.inputs):
        yield point.moved(inputs, "with another sign")
    for mark in marks[:8]:
        yield from _around(point, mark, rng)
        if mark > 0 and -mark not in marks:  # abs(x) <= mark changes there, too
            yield point.moved(moved_beyond(point.inputs, mark, rng), f"around {-mark:g}")
    further = (*marks[EXACT:], *(-mark for mark in marks))  # x + mark is zero at -mark
    left = [mark for mark in further if mark not in marks[:EXACT]][:MORE_EXACT]
    nominal = [x for x in _number_defaults(subject).values() if x not in (*marks, *left)]
    for mark in (*left, *dict.fromkeys(nominal)):  # x - f0 is in a dead band at the default of f0
        for inputs in moved_exactly_to(point.inputs, mark):
            yield point.moved(inputs, f"exactly {mark:g}", edge=True)
    for mark in dict.fromkeys(nominal):
        yield from _around(point, mark, rng)


def _around(point: Point, mark: float, rng: np.random.Generator) -> Iterator[Point]:
    """Points with numbers on both sides of a constant of the code, in the order that the arguments must
    have.
    """
    for inputs in moved_near(point.inputs, mark, rng):
        yield point.moved(put_in_order(inputs, point.ordered), f"around {mark:g}")


def _all_zero(subject: Subject, inputs: tuple) -> Iterator[tuple]:
    """The arguments with one array set to zeros that may be zero according to the function: the rule may have
    a branch for it, as at `np.dot(w, w) == 0`.
    """
    said = zero_allowed_by_docstring(subject.primal)
    for i, (name, x) in enumerate(zip(subject.names, inputs)):
        if name in said and isinstance(x, np.ndarray) and x.size > 1 and x.dtype.kind in "fc":
            yield (*inputs[:i], np.zeros_like(x), *inputs[i + 1 :])


def points_reaching_new_lines(
    subject: Subject,
    candidates: Iterator[Point],
    reached: set[tuple[types.CodeType, int]],
    most: int,
    is_usable: Callable[[Point], bool],
    with_arms: bool = True,
) -> Iterator[tuple[Point, frozenset[tuple[types.CodeType, int]]]]:
    """Those candidates at which the function and its rule run lines, or arms of conditional expressions
    within a line, that were not `reached` before, with these lines. The caller adds them to `reached` if the
    point could be judged; where the rule raises, for instance, the same lines are tried a few times more.

    Once everything has been run none is tried any more; the candidates are still drawn, so that later draws
    are the same.
    """
    everything = frozenset().union(*map(_lines_that_run, subject.codes))
    if with_arms:
        everything = everything.union(*map(_arms, subject.codes))
    tries: Counter[frozenset[tuple[types.CodeType, int]]] = Counter()
    for point in candidates:
        if most <= 0:
            return
        if everything <= reached or not is_usable(point):
            continue
        new = frozenset(lines_at(subject, point, with_arms) - reached)
        tries[new] += 1
        if new and tries[new] <= TRIES:
            yield point, new
            most -= not reached.isdisjoint(new)  # those at which nothing could be judged do not count


TRIES = 12
"""How many points are tried that reach the same new lines."""


def lines_at(subject: Subject, point: Point, with_arms: bool) -> set[tuple[types.CodeType, int]]:
    """The lines that the function and its rule run at a point, and the arms of conditional expressions."""
    with watched_lines(subject) as lines, without_warnings():
        _run(subject, point)
    return lines | arms_at(subject, point) if with_arms else lines


def _run(subject: Subject, point: Point) -> None:
    """Call a function and its rule, ignoring exceptions."""
    with contextlib.suppress(Exception):
        y = value_of(subject.primal, point.inputs, point.kwargs)
        if subject.reverse is not None:
            _, back = subject.reverse(*fresh(point.inputs), **copy.deepcopy(dict(point.kwargs)))
            back(y)


def arms_at(subject: Subject, point: Point) -> set[tuple[types.CodeType, int]]:
    """The arms of conditional expressions within a line, such as `a if x > 0 else b`, that are taken at a
    point.
    """
    arms = {code: found for code in subject.codes if (found := {place for _, place in _arms(code)})}
    if not arms:
        return set()
    with watched_steps(arms) as steps, without_warnings():
        _run(subject, point)
    return steps


@functools.lru_cache(256)
def _arms(code: types.CodeType) -> frozenset[tuple[types.CodeType, int]]:
    """The first instructions of the two arms of each conditional within a line, as negative offsets."""
    steps = list(dis.get_instructions(code))
    at = {one.offset: one for one in steps}
    found: set[int] = set()
    for jump, following in itertools.pairwise(steps):
        if jump.opname.startswith("POP_JUMP") and isinstance(jump.argval, int):
            ends = [at.get(jump.argval), following]
            lines = {one.positions.lineno for one in (jump, *ends) if one is not None and one.positions}
            if None not in ends and len(lines) == 1:
                found.update(-one.offset for one in ends if one is not None)
    return frozenset((code, place) for place in found)


@functools.lru_cache(256)
def _lines_that_run(code: types.CodeType) -> frozenset[tuple[types.CodeType, int]]:
    """The lines of some code that a run can execute."""
    run = (one for one in dis.get_instructions(code) if one.opname not in _PRELUDE)
    lines = {one.positions.lineno for one in run if one.positions is not None}
    return frozenset((code, line) for line in lines if line is not None)


_PRELUDE = ("RESUME", "COPY_FREE_VARS", "MAKE_CELL")
"""Instructions on the line of a `def` that do not count as running that line."""


def lines_of(codes: tuple[types.CodeType, ...]) -> set[tuple[types.CodeType, int]]:
    """The executable lines of some code: those of statements, without the line of its `def`."""
    return {
        (code, line)
        for code in codes
        for _, _, line in code.co_lines()
        if line is not None and line != code.co_firstlineno
    }


def raising_lines(codes: tuple[types.CodeType, ...]) -> set[tuple[types.CodeType, int]]:
    """The lines of some code that only raise an exception."""
    raising = ((code, s.positions) for code in codes for s in dis.get_instructions(code) if _raises(s))
    spans = ((code, p.lineno, p.end_lineno) for code, p in raising if p is not None)
    return {(code, n) for code, first, last in spans if first and last for n in range(first, last + 1)}


def _raises(step: dis.Instruction) -> bool:
    return step.opname == "RAISE_VARARGS"
