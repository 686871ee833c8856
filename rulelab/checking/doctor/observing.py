"""The values of an expression of a rule while it runs, and the values it would need for the answer to be
right.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..calling.subjects import Subject
from ..judgement.answer_findings import is_odd
from ..measuring.vectors import to_vec
from ..probing.closeness import Tolerance, closeness, expected_of
from ..probing.probes import Probe, answer_to, without_warnings
from ..reading.editing import Edit
from .watching import is_moving

OBSERVED = 3
"""At how many probes a term has to be right before it is tried as a correction."""
MOST_NUMBERS, MOST_TURNS = 24, 9
"""How many numbers an expression may have, in all iterations together, and how many iterations a loop may
have.
"""
MOST_FAILURES = 2
"""An expression is given up after more than this many probes at which no change of it corrects the answer."""
HOOK = "_rulelab_seen"
_CLOSE = 1e-7


@dataclass
class Evaluation:
    """The value of an expression in one evaluation, and those of the names around it."""

    value: np.ndarray
    names: dict[str, Any]


@dataclass
class Observation:
    """The values of an expression at one probe for one cotangent, in each evaluation. `map` maps a change of
    it to the change of the rule's answer, and `lacking` is the change of the answer that is needed.
    """

    turns: list[Evaluation]
    map: np.ndarray
    lacking: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """Its value in the first evaluation."""
        return self.turns[0].value

    @property
    def names(self) -> dict[str, Any]:
        """The values of the names around it in the first evaluation."""
        return self.turns[0].names


@dataclass
class Hook:
    """Wraps an expression of a rule while it runs: records its values, or adds to them."""

    add: list[Any] | None = None
    turns: list[Evaluation] = field(default_factory=list)
    calls: int = 0

    def __call__(self, value: Any, names: dict[str, Callable[[], Any]]) -> Any:
        turn, self.calls = self.calls, self.calls + 1
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "b":  # a mask, as a factor
            value = value.astype(float)
        if self.add is not None:
            return value + self.add[turn]
        if not is_moving(value):
            raise _NotMoving
        kept = {}
        for name, get in names.items():
            try:
                found = get()
            except Exception:  # not bound yet
                continue
            # A copy, since the array may be written to later.
            kept[name] = found.copy() if isinstance(found, np.ndarray) else found
        self.turns.append(Evaluation(np.array(value), kept))
        return value


class _NotMoving(Exception):
    """The expression has no floating-point numbers."""


def hooked(node: ast.expr, names: list[str]) -> Edit:
    """An expression wrapped in a call of the hook, which also gets the values of some names there."""
    asked = [ast.Constant(name) for name in names]
    nothing = ast.arguments([], [], None, [], [], None, [])
    given: list[ast.expr] = [ast.Lambda(nothing, ast.Name(name, ast.Load())) for name in names]
    table = ast.Dict(list(asked), given)
    return Edit(node, ast.Call(ast.Name(HOOK, ast.Load()), [node, table], []))


def observed(
    make: Callable[[Hook], Subject | None], probes: list[Probe], forward: bool = False
) -> list[Observation]:
    """The values of an expression at some probes; empty if the answer does not depend on it linearly."""
    lacking: list[Observation] = []
    complete: list[Observation] = []
    failures = 0
    for probe in _in_order([p for p in probes if _is_usual(p)], forward)[: 4 * OBSERVED]:
        both = []
        for seed in _seeds(probe, forward):
            one = _observed_at(make, probe, seed)
            if one is None:
                break
            both.append(one)
        if len(both) == 2:
            found = lacking if any(map(_lacks_something, both)) else complete
            found += both
        else:
            failures += 1
        if len(lacking) + len(complete[:2]) >= 2 * OBSERVED or failures > MOST_FAILURES:
            break
    # Probes at which nothing is missing come last: they show the least.
    return [*lacking, *complete][: 2 * OBSERVED]


def _in_order(probes: list[Probe], forward: bool) -> list[Probe]:
    """The probes that show most first: those at which the rule is wrong, with one at which it is right among
    them, and complex ones before real ones, which do not show whether a conjugate is missing. Probes with the
    same numbers in another layout are dropped.
    """
    probes = list({to_vec(p.point.floats)[0].tobytes(): p for p in reversed(probes)}.values())[::-1]
    ordered = sorted(probes, key=lambda p: (not _is_complex(p), -min(_size(p), 6)))
    wrong = [p for p in ordered if not _is_right(p, forward)]
    right = [p for p in ordered if not any(p is one for one in wrong)]
    usual = [p for p in right if not is_odd(p.point)][:1]  # at odd points missing terms may be zero
    rest = [p for p in right if not any(p is one for one in usual)]
    return [*wrong[: OBSERVED - 1], *usual, *wrong[OBSERVED - 1 :], *rest]


def _lacks_something(one: Observation) -> bool:
    return bool(np.abs(one.lacking).max(initial=0.0) > 1e-9)


def _is_usual(probe: Probe) -> bool:
    leaves = (*probe.truth.inputs, *probe.truth.outputs)
    whole = probe.truth.whole and probe.failure is None
    exact = all(leaf.dtype.itemsize >= (16 if leaf.dtype.kind == "c" else 8) for leaf in leaves)
    return whole and exact and probe.point.like is None and _size(probe) <= 4 * MOST_NUMBERS


def _seeds(probe: Probe, forward: bool) -> np.ndarray:
    """Two cotangents of the value, or tangents of the arguments."""
    leaves = probe.truth.inputs if forward else probe.truth.outputs
    return np.random.default_rng(3).normal(size=(2, leaves[-1].stop if leaves else 0))


def _is_right(probe: Probe, forward: bool) -> bool:
    """Whether the unchanged rule was called at a probe, and was right."""
    return len(probe.answers) > 0 and not closeness(probe, Tolerance.of(probe), forward).wrong.any()


def _is_complex(probe: Probe) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in probe.truth.inputs)


def _size(probe: Probe) -> int:
    return probe.truth.inputs[-1].stop if probe.truth.inputs else 0


def _observed_at(
    make: Callable[[Hook], Subject | None], probe: Probe, seed: np.ndarray
) -> Observation | None:
    hook = Hook()
    subject = make(hook)
    if subject is None:
        return None

    def answer(add: list[Any] | None) -> np.ndarray:
        hook.add, hook.calls = add, 0
        return answer_to(seed, subject, probe.point, probe.truth.y)[1]

    with without_warnings():
        try:
            given = answer(None)
            values = [turn.value for turn in hook.turns]
            if not 0 < sum(v.size for v in values) <= MOST_NUMBERS or len(values) > MOST_TURNS:
                return None
            steps = _steps(values)
            columns = [answer(step) - given for step in steps]
            every = answer([sum(parts) for parts in zip(*steps)]) - given
        except Exception:
            return None
    expected, bars = expected_of(probe.truth, seed[None, :], subject.reverse is None)
    known = np.isfinite(expected[0]) & np.isfinite(bars[0]) & np.isfinite(given)
    table, lacking, every = np.array(columns).T[known], (expected[0] - given)[known], every[known]
    lacking = np.where(np.abs(lacking) <= 8 * bars[0][known], 0.0, lacking)  # the measurement is not exact
    if not np.all(np.isfinite(table)) or not np.allclose(table.sum(1), every, rtol=1e-6, atol=1e-9):
        return None
    wanted = np.linalg.lstsq(table, lacking, rcond=None)[0]
    if not np.allclose(
        table @ wanted, lacking, rtol=0, atol=_CLOSE * (1e-3 + np.abs(expected[0][known]).max(initial=0))
    ):
        return None  # no change of this expression corrects the answer
    return Observation(hook.turns, table, lacking)


def _steps(values: Sequence[np.ndarray]) -> list[list[Any]]:
    """Unit steps of each number in each evaluation; for complex numbers, of both parts."""
    steps = []
    for turn, value in enumerate(values):
        for number in range(value.size):
            for unit in [1.0, 1j] if value.dtype.kind == "c" else [1.0]:
                step = np.zeros(value.shape, type(unit))
                step.flat[number] = unit
                row: list[Any] = [0.0] * len(values)
                row[turn] = step if value.shape else step[()]
                steps.append(row)
    return steps


def as_row(value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """A value broadcast to the numbers of an expression of this shape; None if it does not fit, or is neither
    a number nor an array: used as a sequence, `np.r_` is endless.
    """
    if not isinstance(value, (int, float, complex, list, tuple, np.ndarray, np.generic)):
        return None
    try:
        return np.broadcast_to(np.asarray(value), shape).ravel()
    except ValueError:
        return None


def real_rows(rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Numbers as the real numbers of a change; of complex ones, both parts alternately."""
    if like.dtype.kind != "c":
        return np.real(rows).astype(float)
    parts = np.stack([np.real(rows), np.imag(rows)], axis=-1)
    return parts.reshape(*rows.shape[:-1], -1)
