"""What the probes of a wrong rule show, as matrices side by side for each argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import Place
from ..calling.plain_calls import value_of
from ..calling.subjects import Subject
from ..measuring.vectors import Leaf, to_vec
from ..probing.closeness import Closeness, Tolerance, closeness
from ..probing.findings import WRONG, Finding
from ..probing.probes import SEEDS, Point, Probe, probe_forward, probe_reverse, truth_at

EXACT, COARSE = 1e-7, 2e-3
"""By how much, relatively, a number may differ from what a mistake would give; the second in single
precision.
"""


@dataclass(frozen=True)
class ProbeMatrices:
    """One probe as matrices of shape (numbers out, numbers in): the rule's answers and the measurement.

    For a function with too many numbers the rows are seeds and the columns directions, each within one
    argument, as `columns` says; single numbers are then unknown, and the look is not `whole`. `wrong` marks
    the numbers outside the tolerance.
    """

    probe: Probe
    given: np.ndarray
    right: np.ndarray
    error: np.ndarray
    wrong: np.ndarray
    whole: bool
    forward: bool
    columns: tuple[Leaf, ...] = ()

    @property
    def seeds(self) -> np.ndarray:
        """The cotangents (forward: the tangents) for which the rule was called."""
        return self.probe.seeds

    @cached_property
    def is_coarse(self) -> bool:
        """Whether some number in or out has less than double precision."""
        leaves = (*self.probe.truth.inputs, *self.probe.truth.outputs)
        return any(leaf.dtype.itemsize < (16 if leaf.dtype.kind == "c" else 8) for leaf in leaves)

    @property
    def closeness(self) -> float:
        return COARSE if self.is_coarse else EXACT

    @property
    def y_shape(self) -> tuple[int, ...]:
        """The shape of the value; `()` for a number or a structure."""
        y = self.probe.truth.y
        return y.shape if isinstance(y, np.ndarray) else ()

    def same(self, one: np.ndarray, other: np.ndarray, error: Any = 0.0) -> bool:
        """Whether two tables agree within the tolerance and the error bars, wherever both are known, and some
        number is.
        """
        if one.shape != other.shape:
            return False
        with np.errstate(all="ignore"):
            known = np.isfinite(other) & np.isfinite(np.broadcast_to(error, other.shape))
            if not known.any():
                return False
            one, other = one[known], other[known]
            bars = np.broadcast_to(error, known.shape)[known]
            scale = max(
                float(np.max(np.abs(other))), float(np.max(np.abs(one))) if np.all(np.isfinite(one)) else 0
            )
            limit = self.closeness * (np.maximum(np.abs(one), np.abs(other)) + 1e-3 * scale) + 8 * bars
            return bool(np.all(np.abs(one - other) <= limit))


@dataclass(frozen=True)
class Block:
    """The columns of a look that belong to one argument, or to one of its leaves."""

    look: ProbeMatrices
    leaf: Leaf | None
    columns: slice

    @property
    def given(self) -> np.ndarray:
        return self.look.given[:, self.columns]

    @property
    def right(self) -> np.ndarray:
        return self.look.right[:, self.columns]

    @property
    def error(self) -> np.ndarray:
        return self.look.error[:, self.columns]

    @property
    def wrong(self) -> np.ndarray:
        return self.look.wrong[:, self.columns]

    @cached_property
    def bar(self) -> float:
        """The largest error bar, for combinations of several numbers."""
        finite = self.error[np.isfinite(self.error)]
        return float(finite.max(initial=0.0))

    @property
    def is_measured(self) -> bool:
        """Whether any of its numbers could be measured."""
        return bool(np.isfinite(self.right).any()) or not self.right.size

    @property
    def answers(self) -> np.ndarray:
        """The answers to each seed: this argument's part of cotangents, or whole tangents."""
        answers = self.look.probe.answers
        if self.look.forward:
            return answers
        return answers[:, self.columns] if self.look.whole else self.look.given[:, self.columns]

    def right_answers(self, seeds: np.ndarray) -> np.ndarray:
        """The right answers to these seeds; nan where they are not known."""
        if not self.look.whole:
            return np.full((len(seeds), self.answers.shape[1]), np.nan)
        if self.look.forward:
            return seeds @ self.look.right.T
        return seeds @ self.right

    def gives(self, matrix: np.ndarray) -> bool:
        """Whether the rule's numbers are these instead of the measured ones."""
        return self.look.same(self.given, matrix, np.maximum(self.bar, 0.0))

    @property
    def is_right(self) -> bool:
        return not self.wrong.any()

    @property
    def is_known(self) -> bool:
        """Whether all its numbers could be measured."""
        return bool(np.all(np.isfinite(self.error)) and np.all(np.isfinite(self.right)))


@dataclass(frozen=True)
class Case:
    """All blocks of one argument, one for each probe at which the rule answered."""

    name: str
    blocks: tuple[Block, ...]

    def all_of(self, holds: Callable[[Block], bool]) -> bool:
        """Whether something holds for every block with measured numbers, and there is one."""
        known = [block for block in self.blocks if block.is_measured]
        return bool(known) and all(map(holds, known))

    def only(self, blocks: list[Block]) -> Case:
        return Case(self.name, tuple(blocks))


@dataclass(frozen=True)
class Evidence:
    """All evidence: the subject, the probes with their matrices, the findings."""

    subject: Subject
    probes: list[Probe]
    findings: list[Finding]
    looks: tuple[ProbeMatrices, ...]

    @property
    def forward(self) -> bool:
        return self.subject.reverse is None

    @cached_property
    def nearby_looks(self) -> dict[tuple[int, ...], list[ProbeMatrices]]:
        """Looks at further points, by the ids of the looks that they are near."""
        return {}

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The arguments whose cotangents are wrong somewhere, with their blocks."""
        found = [case for case in self.arguments if not all(b.is_right for b in case.blocks)]
        return tuple(found)

    @cached_property
    def arguments(self) -> tuple[Case, ...]:
        """Every argument with numbers; a single case without a name if arguments cannot be told apart."""
        whole = [look for look in self.looks if look.whole]
        by_name: dict[str, list[Block]] = {}
        if not whole:
            for look in self.looks:
                for leaf in look.columns or (None,):
                    columns = slice(None) if leaf is None else slice(leaf.start, leaf.stop)
                    by_name.setdefault(leaf.name if leaf else "", []).append(Block(look, None, columns))
        for look in whole:
            for leaf in look.probe.truth.inputs:
                if leaf.stop > leaf.start:
                    by_name.setdefault(leaf.name, []).append(Block(look, leaf, slice(leaf.start, leaf.stop)))
        return tuple(Case(name, tuple(blocks)) for name, blocks in by_name.items())

    @property
    def wrong(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.level == WRONG]

    def of_check(self, check: str) -> list[Finding]:
        return [finding for finding in self.wrong if finding.check == check]


@dataclass(frozen=True)
class Explanation:
    """A mistake that explains the numbers of one argument at every probe (of all arguments if `argument` is
    None).

    `words` complete "the rule of f is wrong: …" without the argument. `edits` are Python expressions that may
    correct it, with IT for what the rule returns now, BAR for its cotangent and NP for NumPy.
    """

    mistake: str
    words: str
    argument: str | None = None
    edits: tuple[str, ...] = ()
    place: Place | None = None
    whole: bool = field(default=False, compare=False)
    """Whether the words name all the arguments concerned."""


def evidence_of(
    subject: Subject, probes: list[Probe], compared: list[tuple[Probe, Closeness]], findings: list[Finding]
) -> Evidence:
    """The matrices of all probes at which the rule answered."""
    forward = subject.reverse is None
    looks = [look for probe, close in compared if (look := _look(probe, close, forward)) is not None]
    return Evidence(subject, probes, findings, tuple(looks))


def _look(probe: Probe, close: Closeness, forward: bool) -> ProbeMatrices | None:
    truth = probe.truth
    if not truth.whole or not close.whole:
        columns = () if forward else close.columns
        return ProbeMatrices(
            probe, close.found, close.expected, close.error, close.wrong, False, forward, columns
        )
    count = truth.directions.shape[1] if forward else probe.units
    if not count:
        return None
    given, wrong = probe.answers[:count], close.wrong[:count]
    if forward:
        given, wrong = given.T, wrong.T
    if given.shape != truth.slopes.value.shape:
        return None
    # If an answer is wrong for random seeds only, all entries of its columns count as wrong.
    if not wrong.any() and close.wrong.any():
        rest = close.wrong[count:]
        spread = np.full(wrong.shape[1], rest.any()) if forward else rest.any(0)
        wrong = wrong | np.asarray(spread)[None, :]
    return ProbeMatrices(probe, given, truth.slopes.value, truth.slopes.error, wrong, True, forward)


def look_at(evidence: Evidence, point: Point, rng: np.random.Generator) -> ProbeMatrices | None:
    """The look at one more point; None if the function or the rule has no answer there."""
    try:
        y = value_of(evidence.subject.primal, point.inputs, point.kwargs)
    except Exception:
        return None
    if not np.all(np.isfinite(to_vec(y)[0])):
        return None
    ask = probe_forward if evidence.forward else probe_reverse
    try:
        probe = ask(evidence.subject, point, truth_at(evidence.subject, point, rng, y=y), rng)
    except Exception:  # the function has no value nearby
        return None
    if probe.failure is not None:
        return None
    return _look(probe, closeness(probe, Tolerance.of(probe), evidence.forward), evidence.forward)


def raw_cotangents(probe: Probe) -> tuple[tuple, np.ndarray] | None:
    """The cotangents that the author's own pullback returned for the arguments, and the seed for which it
    did. None if it did not return a tuple for all of them.
    """
    if not isinstance(probe.raw, tuple) or len(probe.raw) != 1 + len(probe.point.inputs):
        return None
    return probe.raw[1:], probe.seeds[-SEEDS]
