"""Questions that Python asks of an object implicitly (`if x`, `len(x)`, `x < y`, `y in x`, a key's hash, its
text): they run code of the author's that no derivative follows, since no answer to such a question varies.

If the code does more than answer, what it writes would be lost silently. So everything that it can reach is
compared before and after, and a change to something that may vary is refused. Values of Python's and NumPy's
own types are not checked, nor is an object whose class shows that it only answers.
"""

from __future__ import annotations

import functools
import operator
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...errors import MutationError, Place, an
from ...own_code import asks_nothing
from ...rules.targets import name_of
from ...tangents.contents import own_attributes
from ...tangents.ranks import RANKING
from ..analysis.unfollowed import is_pure, is_pure_function
from ..base.classes import is_author_class
from ..base.libraries import is_authors_function, is_of_library
from ..base.question import Question
from ..memory.fingerprints import CHANGING, array_fingerprint, read_outside, state_of
from ..memory.reach import walked
from . import borrowed
from .borrowed import look_at

PLAIN = borrowed.PLAIN - {dict}
_OF_ITSELF = (len, bool, hasattr)  # questions that reach no item of a list
# Functions that ask the items they go through, and are not questions themselves.
OF_ITEMS = (
    *(sorted, min, max, any, all, list.sort, list.remove, deque.remove),
    *(operator.contains, operator.indexOf, operator.countOf, *RANKING),
)
_OF_ITEMS = frozenset(map(id, OF_ITEMS))  # looked up at each call of a container's method
_COLLECTIONS = (list, tuple, set, frozenset, deque)
_COUNTED = frozenset({*_COLLECTIONS, dict})  # of exactly these, `len` runs no author's code
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_DEPTH = 3  # of lists in lists whose items are searched


def asker(pullbacks: Question, place: Place | None, forward: bool) -> Callable[..., Any]:
    """The function `ask(question, *xs)` for one place: it checks whose code will run, then asks."""

    def ask(question: Callable[..., Any], /, *xs: Any, **words: Any) -> Any:
        if not words and (
            PLAIN.issuperset(map(type, xs)) or (question is len and len(xs) == 1 and type(xs[0]) in _COUNTED)
        ):
            return question(*xs)
        if not forward:
            look_at(pullbacks, (*xs, *words.values()), place)
        return answered(question, xs, words, place)

    return ask


def asks_items(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a function has a rule and asks such questions of its arguments' items; also `%` on a text."""
    if target is operator.mod:
        return isinstance(args[0], (str, bytes))
    return id(target) in _OF_ITEMS


def asks_parts(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a container's method asks its items, or an author's object that is used as a key."""
    if isinstance(args[0], (dict, set)):
        return len(args) > 1 and is_author_class(type(args[1]))
    return asks_items(target, args)


def asking(call: Callable[..., Any], question: Any, place: Place | None) -> Callable[..., Any]:
    """Wrap `call`, a question or a handler of one, so that it is watched while it runs. It is returned as it
    is if the question is a function of rulelab's that asks nothing.
    """
    if asks_nothing(question):
        return call
    return lambda *xs, **words: answered(call, xs, words, place, question)


def answered(
    call: Callable[..., Any],
    xs: tuple[Any, ...],
    words: dict[str, Any],
    place: Place | None = None,
    question: Any = None,
    of: tuple[Any, ...] | None = None,
) -> Any:
    """The answer to a question; MutationError if the code behind it has changed something that may vary.

    `call` is the question itself, or a handler or program of `question`, which is then asked `of` these
    values.
    """
    __tracebackhide__ = True
    question = call if question is None else question
    if asks_nothing(question):
        return call(*xs, **words)
    of = (*xs, *words.values()) if of is None else of
    attribute = of[1] if question is hasattr and len(of) == 2 else None
    depth = 0 if any(question is each for each in _OF_ITSELF) else _DEPTH
    asked = list(_open_among(of, attribute, depth))
    if asks_items(question, of):  # the functions that it calls are checked elsewhere
        asked = [x for x in asked if not isinstance(x, _FUNCTIONS)]
    if not asked:
        return call(*xs, **words)
    before = _Held(asked, of)
    try:
        return call(*xs, **words)
    finally:
        changed = before.changed()
        if changed is not None:
            code = ", ".join(sorted({_called(x) for x in asked}))
            raise MutationError(
                f"{name_of(question)} runs code of {code} that changes {changed}: the derivative cannot "
                "follow that",
                place=place,
                fixes=("change it in a method that is called by its name",),
                read="limitations#operators",
            )


def _called(x: Any) -> str:
    return str(getattr(x, "__qualname__", type(x).__name__))


def _open_among(values: Iterable[Any], attribute: str | None, depth: int) -> Iterator[Any]:
    """The author's objects and functions whose code may do more than answer."""
    for x in values:
        kind = type(x)
        if kind in PLAIN:
            continue
        if isinstance(x, _COLLECTIONS) or isinstance(x, dict):
            if depth and not PLAIN.issuperset(map(type, x)):
                yield from _open_among(x, attribute, depth - 1)
            if depth and isinstance(x, dict) and not PLAIN.issuperset(map(type, x.values())):
                yield from _open_among(x.values(), attribute, depth - 1)
        if isinstance(x, _FUNCTIONS[:2]):
            function = x.__func__ if isinstance(x, types.MethodType) else x
            if is_authors_function(function) and not is_pure_function(x):
                yield x
        elif isinstance(x, types.BuiltinFunctionType):
            if isinstance(x.__self__, CHANGING):  # `xs.append`
                yield x
        elif isinstance(x, functools.partial):
            yield from _open_among((x.func, *x.args), attribute, depth)
        elif is_author_class(kind) and not is_of_library(kind) and not is_pure(x, attribute):
            yield x


class _Held:
    """The present state of everything that code can reach, except what the question itself is `about`."""

    def __init__(self, roots: list[Any], about: tuple[Any, ...]) -> None:
        given = {id(x) for x in about if isinstance(x, CHANGING)}
        held = [x for x in walked(roots)[0] if id(x) not in given]
        self._states = [(x, state) for x in held if (state := _state(x)) is not None]
        parts = (part for _, state in self._states for part in _parts(state))
        behind = (getattr(x, "__self__", None) for x in held if isinstance(x, types.BuiltinFunctionType))
        arrays = {id(x): x for x in (*parts, *behind) if isinstance(x, np.ndarray)}
        self._prints = [(x, array_fingerprint(x)) for x in arrays.values() if x.dtype.kind in "fcO"]

    def changed(self) -> str | None:
        """In words, what has changed and may vary; None if nothing."""
        for x, seen in self._prints:
            if array_fingerprint(x) != seen:
                return "an array"
        for x, then in self._states:
            if _differs(then, _state(x)):
                return "a captured or global variable" if callable(x) else f"{an(type(x).__name__)}"
        return None


def _state(x: Any) -> Any:
    """The values that something holds and that may change; None if it holds none."""
    if isinstance(x, types.FunctionType):
        return dict(read_outside(x)) if is_authors_function(x) else None
    if isinstance(x, type):
        return None if is_of_library(x) else dict(vars(x))
    if isinstance(x, CHANGING):
        return state_of(x)
    return own_attributes(x) if is_author_class(type(x)) and not is_of_library(type(x)) else None


def _parts(state: Any) -> Iterable[Any]:
    return state.values() if isinstance(state, dict) else () if isinstance(state, bytes) else state


def _differs(then: Any, now: Any) -> bool:
    """Whether something that may vary has changed.

    A counter or a text does not vary. If a list has a different length, its items no longer match their
    derivatives by position.
    """
    if isinstance(then, bytes):
        return bool(then != now)
    if isinstance(then, dict):
        pairs = [(then.get(key, None), now.get(key, None)) for key in {**then, **now}]
    elif isinstance(then, (set, frozenset)):
        pairs = [(x, None) for x in then ^ now]
    elif len(then) == len(now):
        pairs = list(zip(then, now, strict=True))
    else:
        pairs = [(x, None) for x in (*then, *now)]
    return any(a is not b and not (_stands_still(a) and _stands_still(b)) for a, b in pairs)


def _stands_still(x: Any) -> bool:
    return isinstance(x, (int, str, bytes, type(None)))
