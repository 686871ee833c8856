"""Snapshots of the mutable state that a function can reach, to compare with later, or to restore temporarily.

The derivative of a derivative runs a function again, later. It must find the state that the function found.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError
from ..own_code import is_record_keeper, keeps_records
from .classes import made_by_python
from .contents import contents_of, fill
from .holding import UNBOUND, captured, contents, everything_held, inside
from .pairings import moving, pairing

keeps_records(__name__)


class StateSnapshot:
    """A snapshot of the contents of every container, object and captured variable that can be reached from
    `roots`.

    As a context manager it restores, during the block, those for which `mine` holds. With `arrays` it also
    records the numbers in arrays, to detect a change; it does not restore them.
    """

    def __init__(
        self, *roots: Any, arrays: bool = False, mine: Callable[[Any], bool] = lambda x: True
    ) -> None:
        self._now: list[tuple[Any, Any]] = []
        self._roots, self._arrays = roots, arrays
        self.take(mine)

    def take(self, mine: Callable[[Any], bool] = lambda x: True) -> None:
        """Take a new snapshot."""
        self._kept: dict[int, tuple[Any, Any]] = {}
        self._mine: set[int] = set()
        for x in everything_held(self._roots, self._inside):
            state = self._state(x)
            if state is not None:
                self._kept[id(x)] = x, state
                if mine(x):
                    self._mine.add(id(x))

    def objects(self) -> list[Any]:
        """The objects whose contents it has."""
        return [x for x, _ in self._kept.values()]

    def changed(self) -> list[Any]:
        """The objects whose contents have changed since."""
        return [x for x, state in self._kept.values() if not _same(state, self._state(x))]

    def __enter__(self) -> StateSnapshot:
        self._now = [(x, self._state(x)) for x in self.changed() if id(x) in self._mine]
        for x, _ in self._now:
            _fill(x, self._kept[id(x)][1])
        return self

    def __exit__(self, *_: object) -> None:
        changed, self._now = self._now, []
        for x in self.changed():
            if id(x) in self._mine:
                _fill(x, self._kept[id(x)][1])
        for x, now in changed:
            _fill(x, now)

    def _state(self, x: Any) -> Any:
        """The contents of a mutable object; None for anything else."""
        if isinstance(x, types.CellType):
            return [contents(x)]
        if isinstance(x, np.ndarray):
            return [x.shape, x.dtype.str, x.tobytes()] if self._arrays and not x.dtype.hasobject else None
        return contents_of(x) if isinstance(x, (list, deque, dict)) or _is_object(x) else None

    def _inside(self, x: Any) -> Iterator[Any]:
        """What can be reached from a value in one step."""
        if isinstance(x, np.ndarray):
            return
        _, state = self._kept.get(id(x), (x, None))
        if isinstance(state, dict):
            yield from state.values()
        elif state is not None or isinstance(x, tuple):
            yield from state if state is not None else x
        else:
            yield from inside(x, cells=True)
        if isinstance(x, dict) and hasattr(x, "default_factory"):
            yield x.default_factory


def _is_object(x: Any) -> bool:
    kind = type(x)
    if is_record_keeper(kind):
        return False
    if kind is types.SimpleNamespace:
        return True
    return made_by_python(kind) and not isinstance(x, (type, tuple, BaseException, np.generic))


def _same(then: Any, now: Any) -> bool:
    """Whether two states consist of the same objects."""
    if type(then) is not type(now) or len(then) != len(now):
        return False
    if isinstance(then, dict):
        return list(then) == list(now) and all(map(_is, then.values(), now.values()))
    return all(map(_is, then, now))


def _is(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bytes, str, int, tuple)) and a == b)


def _fill(x: Any, state: Any) -> None:
    """Replace the contents of `x` by these."""
    if not isinstance(x, types.CellType):
        fill(x, state)
    elif state[0] is UNBOUND:
        del x.cell_contents
    else:
        x.cell_contents = state[0]


EFFECTS = [0]  # counts the effects that were noticed: random draws, prints, code that is not followed
_LAST_DIGITS = 1e-6  # relative difference allowed between two ways to compute a value
_SAME = 1e-12  # the same after effects, when a second run may give a different value


@dataclass(frozen=True, slots=True)
class Run:
    """A call that was made, and its value; `effects` is the count of effects at its end."""

    f: Any
    args: tuple[Any, ...]
    words: dict[str, Any] | None
    y: Any
    effects: int = field(default_factory=lambda: EFFECTS[0])

    def check_value(self, again: Any) -> None:
        """Raise NotDifferentiableError if the next run returned a different value."""
        if not agree(self.y, again, _LAST_DIGITS if self._was_quiet() else _SAME):
            raise not_repeatable(self.f, "returns a different value when it runs again")

    def check_slope(self, x_bars: Any, x_dots: Any, y_bar: Any, y_dot: Any) -> None:
        """The same for a difference that hardly shows in the value: the gradient of this run, paired with
        `x_dots`, must equal `y_bar` paired with the directional derivative of the next run, <x̄, ẋ> = <ȳ, ẏ>.
        """
        if self._was_quiet():
            return
        pairs = zip(self.args, moving(tuple(x_bars)), x_dots, strict=True)
        terms = [float(pairing(x, x_bar, x_dot)) for x, x_bar, x_dot in pairs]
        slope = float(pairing(self.y, moving(y_bar), y_dot))
        if abs(sum(terms) - slope) > _LAST_DIGITS * (sum(map(abs, terms)) + abs(slope)):
            raise not_repeatable(self.f, "has a different derivative when it runs again")

    def _was_quiet(self) -> bool:
        """Whether nothing has happened since that may change the next run."""
        return self.effects == EFFECTS[0]


def run_behind(g: Any) -> Run | None:
    """The run with which a function compares its own, if it captures one."""
    return next((x for x in captured(g).values() if isinstance(x, Run)), None)


def not_repeatable(f: Any, what: str) -> NotDifferentiableError:
    """The error for a function whose derivative cannot be differentiated, because this runs the function
    again.
    """
    return NotDifferentiableError(
        f"{getattr(f, '__name__', 'A function')} {what}, and its derivative is differentiated",
        fixes=("have it use nothing but its arguments, and return its result",),
        read="limitations#second-derivatives",
    )


def agree(a: Any, b: Any, within: float = _LAST_DIGITS) -> bool:
    """Whether two runs of a function gave the same value, up to a relative difference of `within`."""
    if isinstance(a, (float, int)) and isinstance(b, (float, int)):
        # A quotient of two whole numbers may be of any size; a product with a float may not.
        return a == b or abs(a - b) / max(abs(b), 1e-3) <= within or (a != a and b != b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(agree(x, y, within) for x, y in zip(a, b, strict=True))
    if isinstance(a, (int, float, complex, np.number, np.ndarray)) and np.shape(a) == np.shape(b):
        if getattr(a, "dtype", np.dtype(float)).kind not in "fciub":
            return True
        most = float(np.max(np.abs(a), initial=1.0))
        return bool(np.allclose(a, b, rtol=within, atol=1e-3 * within * most, equal_nan=True))
    return np.shape(a) == np.shape(b) if isinstance(a, np.ndarray) else True
