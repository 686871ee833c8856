"""What Python asks of an object in passing (`if x`, `len(x)`, `x < y`, `y in x`, a key's hash, a text of it):
code of the author's that no derivative follows, since no answer to such a question varies.

Where the code does more than answer, what it writes would be lost silently. So what it can get hold of
is compared before and after, and a change that may vary is refused. No value of Python's or NumPy's own is
looked at so, nor is an object whose class shows that it only answers.
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
# What asks the items that it goes through, and is no question itself.
OF_ITEMS = (
    *(sorted, min, max, any, all, list.sort, list.remove, deque.remove),
    *(operator.contains, operator.indexOf, operator.countOf),
)
_OF_ITEMS = frozenset(map(id, OF_ITEMS))  # looked up at each call of a container's method
_COLLECTIONS = (list, tuple, set, frozenset, deque)
_COUNTED = frozenset({*_COLLECTIONS, dict})  # of exactly these, `len` runs nobody's code
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_DEPTH = 3  # of lists in lists whose items are looked for


def asker(pullbacks: Question, place: Place | None, forward: bool) -> Callable[..., Any]:
    """`ask(question, *xs)` for a place: the answer, after a look at whose code gives it."""

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
    """Whether a function goes by a rule and asks the items that it is given: also `%` of a text."""
    if target is operator.mod:
        return isinstance(args[0], (str, bytes))
    return id(target) in _OF_ITEMS


def asks_parts(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether a method of a container asks its items, or an object of the author's that is a key of it."""
    if isinstance(args[0], (dict, set)):
        return len(args) > 1 and is_author_class(type(args[1]))
    return asks_items(target, args)


def asking(call: Callable[..., Any], question: Any, place: Place | None) -> Callable[..., Any]:
    """What is called for a question, itself or a handler of it, as one that is looked at while it runs, but
    for functions of ours that ask nothing.
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
    """What a question gives; MutationError if the code behind it has changed what may vary. What is called
    for a `question` is itself, or a handler or program of it; then it is asked `of` these.
    """
    __tracebackhide__ = True
    question = call if question is None else question
    if asks_nothing(question):
        return call(*xs, **words)
    of = (*xs, *words.values()) if of is None else of
    attribute = of[1] if question is hasattr and len(of) == 2 else None
    depth = 0 if any(question is each for each in _OF_ITSELF) else _DEPTH
    asked = list(_open_among(of, attribute, depth))
    if asks_items(question, of):  # the functions that it calls are looked at elsewhere
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
    """The objects and functions of the author's whose code may do more than answer."""
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
    """What code can get hold of, as it is now, but for what the question itself is `about`."""

    def __init__(self, roots: list[Any], about: tuple[Any, ...]) -> None:
        given = {id(x) for x in about if isinstance(x, CHANGING)}
        held = [x for x in walked(roots)[0] if id(x) not in given]
        self._states = [(x, state) for x in held if (state := _state(x)) is not None]
        parts = (part for _, state in self._states for part in _parts(state))
        behind = (getattr(x, "__self__", None) for x in held if isinstance(x, types.BuiltinFunctionType))
        arrays = {id(x): x for x in (*parts, *behind) if isinstance(x, np.ndarray)}
        self._prints = [(x, array_fingerprint(x)) for x in arrays.values() if x.dtype.kind in "fcO"]

    def changed(self) -> str | None:
        """What was changed by something that may vary, in words."""
        for x, seen in self._prints:
            if array_fingerprint(x) != seen:
                return "an array"
        for x, then in self._states:
            if _differs(then, _state(x)):
                return "a captured or global variable" if callable(x) else f"{an(type(x).__name__)}"
        return None


def _state(x: Any) -> Any:
    """The values that something holds which may change; None for what holds none."""
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
    """Whether something has changed that may vary: a counter and a text do not, one more item of a list puts
    others where its derivative has none.
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
