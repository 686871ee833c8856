"""What a pass depends on in the variables that a function captures, and which of these are constants.

A captured function of the author's is identified by its source and by the kinds of the values that the source
reads, recursively: its body may then be inlined in the pass, and the values are read from the function at
each call.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any

from numpy import ndarray

from ...own_code import is_stand_in
from ...rules.kinds import Itself, Known, Literal, Text, signature_of, varies, varies_by_type
from ...tangents.holding import UNBOUND, contents
from ..analysis.types import type_of
from ..base.derived import derived_of, stands_for
from ..base.libraries import is_authors_function
from ..front.readers import has_marks
from ..memory.heap import is_own
from ..memory.operands import carries
from .cache import Cache

Guard = Callable[[dict[str, Any]], bool]
_DEEPEST = 4  # depth of functions captured by functions that are identified by source
_MOST = 32  # values that these hold, in all
_WRITTEN = range(-8, 9)  # integers that are written into a pass as defaults: axes, orders, counts
_OTHER_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def signature_of_captured(function: FunctionType, value: Any) -> Any:
    """What a pass depends on in the value of a captured variable: its signature, or the object itself if a
    pass may treat it as fixed, as it may for a global variable (a module, a NumPy function).

    A stand-in shares one pass among many functions: whether they vary is decided as it runs.
    """
    found = signature_of(value)
    if found is float or type(found) is tuple or is_stand_in(function.__code__.co_filename):
        return found
    kind = type_of(value)
    return kind if isinstance(kind, Known) else found


def own_signature(function: FunctionType, cell: CellType) -> Any:
    """The signature of a captured variable, for any cell of a function.

    "cell" for one that is unbound so far or made during this sweep, which is read at each use; "own" for one
    that holds the function itself.
    """
    content = contents(cell)
    if content is UNBOUND or is_own(cell):
        return "cell"
    return "own" if stands_for(function, content) else signature_of_captured(function, content)


def may_carry(free: tuple[Any, ...], cells: tuple[CellType, ...]) -> bool:
    """Whether anything that a function captures may have a cotangent; `free` has the signatures."""
    for part, cell in zip(free, cells, strict=True):
        if part is float or part in ("own", "cell") or carries(contents(cell)):
            return True
    return False


# --- functions by their texts -------------------------------------------------------------------------------


def with_texts(cache: Cache, function: FunctionType, free: tuple[Any, ...]) -> tuple[Any, ...]:
    """The signatures of captured variables, with functions identified by source, for a pass without
    cotangents or tangents for them.

    In manual mode no function is identified so, since there the rules in force are those of the first call.
    """
    return told_by_texts(cache, function, free)[0] if cache.mode == "auto" else free


def told_by_texts(
    cache: Cache, function: FunctionType, free: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[FunctionType]]:
    """The signatures with functions identified by source, in any mode, and the list of these functions.

    In manual mode the list includes functions that have a rule, for a pass that is older than the rule.
    """
    if FunctionType not in free or not _has_texts(function):
        return free, []
    found, told = list(free), list[FunctionType]()
    for number, cell in enumerate(function.__closure__ or ()):
        content = contents(cell)
        if found[number] is FunctionType and not stands_for(function, content):
            telling = _Telling(cache, function)
            text = telling.text(content)
            if text is not None:
                found[number] = text
                told += telling.told
    return tuple(found), told


def _has_texts(function: FunctionType) -> bool:
    """Whether captured functions may be identified by source: not if cotangents or tangents are wanted for
    them.
    """
    derived = derived_of(function.__code__)
    while derived is not None:
        if derived.captured:
            return False
        derived = derived_of(derived.base)
    return not is_stand_in(function.__code__.co_filename)


class _Telling:
    """Builds the signatures of captured functions that are identified by source."""

    def __init__(self, cache: Cache, function: FunctionType) -> None:
        self.cache = cache
        self.with_rules = cache.mode == "manual"
        self.told: list[FunctionType] = []
        self.function = function
        self.names = function.__globals__
        self.around: list[Any] = []  # functions whose parts are being described
        self.left = _MOST

    def text(self, value: FunctionType) -> Text | None:
        """The signature of a function that its source identifies; None for any other."""
        code, cells = value.__code__, value.__closure__ or ()
        defaults, words = value.__defaults__ or (), value.__kwdefaults__ or {}
        self.left -= 1 + len(cells) + len(defaults) + len(words)
        if self.left < 0 or len(self.around) == _DEEPEST or not self._is_its_text(value):
            return None
        captured = list(map(contents, cells))
        if any(x is UNBOUND for x in captured) or any(map(is_own, cells)):
            return None
        self.told.append(value)
        self.around.append(value)
        told = Text(
            Itself(code),
            tuple(map(self._part, captured)),
            tuple(map(self._default, defaults)),
            tuple([(name, self._default(x)) for name, x in words.items()]),
        )
        self.around.pop()
        return told

    def _is_its_text(self, value: FunctionType) -> bool:
        return (
            value.__globals__ is self.names
            and not value.__code__.co_flags & _OTHER_KINDS
            and "__class__" not in value.__code__.co_freevars
            and not any(value is other for other in self.around)
            and not has_marks(value)
            and is_authors_function(value)
            and (self.with_rules or not self.cache.has_rule(value))
        )

    def _part(self, value: Any) -> Any:
        found = signature_of_captured(self.function, value)
        if found is not FunctionType or stands_for(self.function, value):
            return found
        return self.text(value) or found

    def _default(self, value: Any) -> Any:
        """The signature of a default, which often selects a branch in the source: None, True, an axis."""
        kind = type(value)
        if value is None or kind is bool or (kind is int and value in _WRITTEN):
            return Literal(kind, value)
        return self._part(value)


# --- constants ----------------------------------------------------------------------------------------------


def constants_captured(cache: Cache, function: FunctionType) -> tuple[Any, ...] | None:
    """The signatures of captured variables, if all are constants; None otherwise.

    Constants are numbers, arrays, texts, objects that never change, the class that `super()` reads, and
    functions that capture nothing else.
    """
    cells = function.__closure__
    if not cells:
        return ()
    found, functions = [], False
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        content = contents(cell)
        part = signature_of_captured(function, content)
        is_function = part is FunctionType
        settled = name == "__class__" and isinstance(content, type)
        settled |= type(content) is ndarray or varies(content) is not None or type(part) is Known
        if not (settled or is_function) or content is UNBOUND or is_own(cell):
            return None
        functions |= is_function
        found.append(part)
    free = tuple(found)
    if not functions:
        return free
    free = with_texts(cache, function, free)
    return free if all(map(_is_settled, free)) else None


def _is_settled(part: Any) -> bool:
    """Whether a signature is that of a constant."""
    if type(part) is Text:
        return all(map(_is_settled, part.parts()))
    if type(part) is tuple:
        return part[0] is not tuple  # an array
    return type(part) in (Known, Literal) or varies_by_type(part) is not None


def with_captured(cache: Cache, function: FunctionType, guard: Guard | None) -> Guard | None:
    """The guard of a pass that also relies on what the function captures; `guard` itself if it captures
    nothing.

    The guard is valid only as long as no rule is added or removed.
    """
    cells = function.__closure__
    if not cells:
        return guard
    values = list(map(contents, cells))
    free = with_texts(cache, function, tuple([signature_of_captured(function, x) for x in values]))
    held, hold_the_same = weakref.ref(function), _same_values(free, values)
    has_texts = any(type(part) is Text for part in free)

    def as_captured(namespace: dict[str, Any]) -> bool:
        try:
            if not hold_the_same(cells) and not (has_texts and told_alike()):
                return False
        except ValueError:  # it has been deleted
            return False
        return guard is None or guard(namespace)

    def told_alike() -> bool:
        """Whether captured functions were replaced by ones with the same source, all else being as before."""
        function = held()
        if function is None:
            return False
        return with_texts(cache, function, tuple([own_signature(function, x) for x in cells])) == free

    return as_captured


def _same_values(parts: tuple[Any, ...], values: Sequence[Any]) -> Callable[[Sequence[CellType]], bool]:
    """A quick test that cells hold values with these signatures; a function identified by source must be the
    same object as now.
    """
    exact = [(n, part.value) for n, part in enumerate(parts) if type(part) is Known]
    alike = [(n, part) for n, part in enumerate(parts) if type(part) not in (Known, Text)]
    texts = [(n, _same_function(part, values[n])) for n, part in enumerate(parts) if type(part) is Text]

    def hold_the_same(cells: Sequence[CellType]) -> bool:
        for number, value in exact:
            if cells[number].cell_contents is not value:
                return False
        for number, part in alike:
            if signature_of(cells[number].cell_contents) != part:
                return False
        for number, is_the_same in texts:
            if not is_the_same(cells[number].cell_contents):
                return False
        return True

    return hold_the_same


def _same_function(text: Text, value: FunctionType) -> Callable[[Any], bool]:
    """A test that a value is the same function object with the same code, captured values and defaults, for
    which the same rules and globals apply.
    """
    held, captured = weakref.ref(value), list(map(contents, value.__closure__ or ()))
    hold_the_same = _same_values(text.captured, captured)
    code, defaults = text.code, bool(text.defaults or text.words)

    def is_the_same(now: FunctionType | None) -> bool:
        if now is None or now is not held() or now.__code__ is not code() or has_marks(now):
            return False
        if defaults and not _same_defaults(text, now):  # arguments that are always given need none
            return False
        return hold_the_same(now.__closure__ or ())

    return is_the_same


def _same_defaults(text: Text, now: FunctionType) -> bool:
    defaults, words = now.__defaults__ or (), now.__kwdefaults__ or {}
    if len(defaults) != len(text.defaults):
        return False
    return all(map(_is_alike, text.defaults, defaults)) and all(
        name in words and _is_alike(part, words[name]) for name, part in text.words
    )


def _is_alike(part: Any, value: Any) -> bool:
    if type(part) is Literal:
        return type(value) is part.cls and value == part.value
    if type(part) is Known:
        return value is part.value
    return signature_of(value) == part  # never true for functions known by source
