"""What cached functions return while a derivative is computed.

A cached function runs once for each key, but what `functools.cache` keeps has no derivative. So a derivative
keeps answers of its own, each with its tangent or its pullback, and gives them again where Python would.
Where the arguments of two calls may be different variables, the function runs again, and has to return the
same.
"""

from __future__ import annotations

import dis
import functools
import types
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, Place
from .contents import own_attributes
from .holding import everything_held, inside
from .moments import EFFECTS
from .zeros import AbstractZero


class Answer:
    """What a call of a cached function returned; `inputs` stay alive, so that no identity is reused."""

    __slots__ = ("clock", "inputs", "y")

    def __init__(self, y: Any, inputs: Any, clock: Any = None) -> None:
        self.y, self.inputs, self.clock = y, inputs, clock


_MADE: weakref.WeakSet[Any] = weakref.WeakSet()


def note_made(held: Any) -> None:
    """Note that a cached function was made while a derivative is computed.

    One that comes from outside may be several arguments, each with a derivative of its own.
    """
    _MADE.add(held)


def is_made_within(held: Any) -> bool:
    """Whether the cached function was noted by `note_made`."""
    return held in _MADE


class CachedAnswers:
    """The answers of the cached functions that one run of a differentiated function has called.

    A key of Python's may have several answers, by what varies. They are forgotten when Python would.
    """

    def __init__(self) -> None:
        self._found: dict[Any, dict[Any, dict[Any, Answer]]] = {}

    def of(self, held: Any, key: Any) -> dict[Any, Answer]:
        """The answers that the cached function `held` has for a key, used most recently from now on."""
        found = self._found.get(held, {})
        if key not in found:
            return {}
        found[key] = found.pop(key)
        return found[key]

    def keep(self, held: Any, key: Any, inner: Any, answer: Answer) -> None:
        """Keep an answer, as the one for `inner`."""
        found, room = self._found.setdefault(held, {}), held.cache_parameters()["maxsize"]
        if room == 0:
            return
        found.setdefault(key, {})[inner] = answer
        if room is not None and len(found) > room:
            del found[next(iter(found))]


def key_of(held: Any, args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Python's key of a call of a cached function; raises its TypeError for an argument without a hash.

    >>> key_of(functools.cache(max), (2, 3), {}) == key_of(functools.cache(max), (2.0, 3), {})
    True
    """
    return functools._make_key(args, words, held.cache_parameters()["typed"])


def identity(x: Any) -> Any:
    """A key that is equal only for the same numbers, or the same objects.

    >>> one, other = [], []
    >>> identity(1.0) == identity(1.0), identity(1.0) == identity(1), identity(one) == identity(other)
    (True, False, False)
    """
    if isinstance(x, (int, float, complex, np.generic, str)):
        return type(x), x
    if type(x) is tuple:
        return tuple(map(identity, x))
    return AbstractZero if isinstance(x, AbstractZero) else id(x)


def recall(
    answers: CachedAnswers,
    held: Any,
    key: Any,
    depth: int,
    inputs: tuple[Any, ...],
    run: Callable[[], Any],
    run_again: Callable[[], Any],
) -> Any:
    """The answer kept for these inputs, else that of `run`; its value is in the first entry, `depth` deep.
    Where Python would not call the function once more, `run_again` does.
    """
    inner = depth, identity(inputs)
    known = answers.of(held, key)
    if inner in known:
        return known[inner].y
    before = next(iter(known.items()), None)
    y = run() if before is None else run_again()
    if before is not None:
        check_again(held, before, (depth, y), arrays=True)
    answers.keep(held, key, inner, Answer(y, inputs))
    return y


def check_again(
    held: Any,
    before: tuple[Any, Answer],
    now: tuple[int, Any],
    place: Place | None = None,
    arrays: bool = False,
) -> tuple[Any, Any]:
    """The values of an answer that is kept and of the call that ran again, each given with its depth; raises
    NotDifferentiableError unless they are equal and nothing in the new one can be changed.
    """
    ((depth, *_), answer), (depth_now, y) = before, now
    first, second = value_of(answer.y, depth), value_of(y, depth_now)
    check_same(held, first, second, place)
    if may_change(second, first, arrays):
        raise changed_answer(held, IS_NEW, place)
    return first, second


def without_effects(held: Any, run: Callable[[], Any], place: Place | None = None) -> Any:
    """What `run` returns, which calls a cached function where Python would not; raises NotDifferentiableError
    if it printed or drew something.
    """
    happened = EFFECTS[0]
    y = run()
    if EFFECTS[0] != happened:
        raise changed_answer(held, HAS_EFFECTS, place)
    return y


def value_of(y: Any, depth: int) -> Any:
    """The value in an answer with its tangents, `depth` deep: the first of the first, and so on."""
    for _ in range(depth):
        y = y[0]
    return y


def check_same(held: Any, before: Any, y: Any, place: Place | None = None) -> None:
    """Raise NotDifferentiableError unless the results of two calls with the same arguments are equal."""
    if before is not y and not _is_same(before, y, 0):
        raise changed_answer(held, IS_ANOTHER, place)


IS_ANOTHER = "returns something else"
IS_NEW = "returns a new object that can be changed"
READS_CHANGED = "reads what has been changed"
HAS_EFFECTS = "changes something"


def changed_answer(held: Any, what: str, place: Place | None = None) -> NotDifferentiableError:
    """The error for a cached function that runs again and does not do the same."""
    name = getattr(held, "__name__", "that is called")
    return NotDifferentiableError(
        f"The cached function {name} {what} when it runs again with the same arguments, which a plain call "
        "answers from the cache",
        place=place,
        fixes=("do not change what it reads or returns", "remove the cache"),
        read="limitations#iteration",
    )


_MUTABLE = (list, dict, set, deque, bytearray)


def may_change(y: Any, before: Any, arrays: bool = False) -> bool:
    """Whether a result holds something that a caller can change and that the result `before` does not hold.

    >>> may_change([1.0], [1.0]), may_change((1.0, len), (1.0, len))
    (True, False)
    """
    shared = {id(x) for x in everything_held([before], _parts)}
    return any(id(x) not in shared and _is_mutable(x, arrays) for x in everything_held([y], _parts))


def _parts(x: Any) -> Any:
    return x if type(x) is tuple else inside(x)


def _is_mutable(x: Any, arrays: bool) -> bool:
    if isinstance(x, types.FunctionType):
        return _assigns(x.__code__)
    if isinstance(x, np.ndarray):
        return arrays
    return isinstance(x, _MUTABLE) or (
        hasattr(x, "__dict__") and not isinstance(x, (type, types.ModuleType, AbstractZero))
    )


def _assigns(code: types.CodeType) -> bool:
    """Whether a function with this code, or one inside it, assigns to a variable that it captures."""
    for step in dis.get_instructions(code) if code.co_freevars else ():
        if step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars:
            return True
    return any(isinstance(part, types.CodeType) and _assigns(part) for part in code.co_consts)


_DEPTH = 20


def _is_same(x: Any, y: Any, depth: int) -> bool:
    """Whether two values have equal contents; those of iterators are not known."""
    if x is y:
        return True
    if type(x) is not type(y) or depth > _DEPTH:
        return False
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    if isinstance(x, types.FunctionType) and x.__code__ is not y.__code__:
        return False
    if callable(x) and (held := list(inside(x))):
        return _is_same(held, list(inside(y)), depth + 1)
    if isinstance(x, types.FunctionType):
        return not list(inside(y))
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all(_is_same(a, b, depth + 1) for a, b in zip(x, y))
    if isinstance(x, dict):
        return list(x) == list(y) and all(_is_same(a, b, depth + 1) for a, b in zip(x.values(), y.values()))
    if hasattr(x, "__dict__") and type(x).__eq__ is object.__eq__:
        return _is_same(own_attributes(x), own_attributes(y), depth + 1)
    try:
        equal = bool(x == y) or bool(x != x and y != y)
    except (TypeError, ValueError):  # objects that cannot be compared
        return False
    return equal and (not hasattr(x, "__dict__") or _is_same(own_attributes(x), own_attributes(y), depth + 1))
