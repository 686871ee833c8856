"""Gradients by a pass that takes the contents of the arguments one by one: the numbers and arrays in tuples,
lists, dicts and objects, such as the parameters of a model (`front/opening`).

Such a pass belongs to the code of a function, not to the function object, so that a lambda, or a closure over
the data of a step, shares it although it is recreated for each call. Like a fused pass, it is compiled when a
call with the same structure comes again, and only for a function that does nothing but compute.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from numpy import ndarray

from ...errors import RuleLabError
from ...parsing import with_room
from ...rules.kinds import signature_of, varies
from ...rules.registry import KEPT as KEPT_RULES
from ...rules.signatures import weakly
from ..base.ir import Field
from ..base.libraries import is_authors_function
from ..front.opening import Named, NotOpened, Object, Structure
from ..memory.operands import may_vary
from .cache import Pass, of_code
from .captured import constants_captured
from .entries import KEPT
from .on_floats import MOST_MISSES
from .passes import NotFused, compile_pass
from .taken_apart import CONTAINERS, closer, fields_of, inner, is_container, names_in, taker

MOST = 64  # numbers and arrays in the arguments of a call: the text grows with each
# Above MOST, compiling takes as long as one call by the other sweeps for every PARTS_A_CALL parts, so that
# many calls come first.
MOST_OFTEN, PARTS_A_CALL = 512, 8
_DEEPEST = 6
_FEW = 64  # structures remembered for one code object
_TAKES_MORE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_KEYS = frozenset({str, int})
_OURS = frozenset({KEPT, KEPT_RULES})  # attributes of a function that do not say what a call of it runs
_LAST = object()  # the key of the way that was last used, among the ways of a code object


@dataclass(eq=False)
class Way:
    """How the functions with one code object answer calls with arguments of one structure, for derivatives
    with respect to the arguments `numbers` and with the constants `captured`.
    """

    numbers: tuple[int, ...] | None
    captured: tuple[Any, ...]
    made: Pass
    fused: Pass | None
    take: Callable[..., tuple[Any, ...] | None]
    close: Callable[[tuple[Any, ...]], tuple[Any, ...] | None]
    misses: int = 0

    def closed(self, entries: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The gradient with respect to the arguments themselves, from that with respect to the parts.

        None if a part of a container has no gradient, or zero, or if all parts of one have none. The sweeps
        on containers may then give None for zero, or the reverse, depending on whether anything flowed back
        along the path that the function took this time. After a few such calls in a row, the way is no longer
        tried, and the sweeps on containers answer.
        """
        found = self.close(entries)
        if found is None:
            self.misses += 1
        elif self.misses:
            self.misses = 0
        return found


class _NotTaken(Exception):
    """The arguments contain more than is taken one by one."""


def _key(x: Any, parts: list[Any], depth: int = 0) -> Any:
    """What the pass depends on in an argument; the argument's parts are appended to `parts`."""
    kind = type(x)
    if kind is ndarray:
        parts.append(x)
        return (x.dtype, x.ndim)
    if kind not in CONTAINERS:
        if varies(x) is None:
            return _key_of_object(x, parts, depth)
        parts.append(x)
        return kind
    if depth == _DEEPEST or len(x) + len(parts) > MOST_OFTEN or not x:
        raise _NotTaken
    if kind is not dict:
        return (kind, *[_key(part, parts, depth + 1) for part in x])
    names = tuple(x)
    if not _KEYS.issuperset(map(type, names)):
        raise _NotTaken
    return (dict, names, *[_key(part, parts, depth + 1) for part in x.values()])


def _key_of_object(x: Any, parts: list[Any], depth: int) -> Any:
    """What the pass depends on in an object or a NamedTuple whose contents are its attributes."""
    kind = type(x)
    names, values = fields_of(x)
    if depth == _DEEPEST or len(names) + len(parts) > MOST_OFTEN or not names:
        raise _NotTaken
    which = Named if isinstance(x, tuple) else Object
    return (which, weakly(kind), names, *[_key(part, parts, depth + 1) for part in values])


def _structure(key: Any) -> Structure | None:
    """The structure of an argument with this key; None for a single number or array."""
    if not is_container(key):
        return None
    keys, parts = names_in(key), tuple(map(_structure, inner(key)))
    if key[0] is not Object:
        return Structure(key[0], keys, parts)
    return Structure(Object, tuple(map(Field, keys)), parts, key[1])


def _count(structure: Structure | None) -> int:
    """How many parts an argument has."""
    return 1 if structure is None else sum(map(_count, structure.parts))


def may_have_way(function: Any, args: tuple[Any, ...]) -> bool:
    """Whether to look for a way: there are containers, or the function has no entries of its own."""
    if type(function) is not FunctionType:
        return False
    if KEPT not in function.__dict__:
        return True
    return any(type(x) in CONTAINERS or (type(x) is not ndarray and varies(x) is None) for x in args)


def way_of(
    pullbacks: Any, function: FunctionType, args: tuple[Any, ...], numbers: tuple[int, ...] | None
) -> tuple[Way, Sequence[Any]] | None:
    """The way of a call and the parts of the arguments; None if there is none. With `numbers`, only the
    gradient with respect to these arguments is wanted.
    """
    cache = pullbacks.cache
    if not _is_its_text(cache, function):
        return None
    captured = constants_captured(cache, function)
    if captured is None:
        return None
    ways = of_code(cache.memory.ways, function.__code__).by_key
    way: Way | None = ways.get(_LAST)
    parts: Sequence[Any] | None = None
    if way is not None and way.numbers == numbers and way.captured == captured:
        parts = way.take(*args) if len(args) == function.__code__.co_argcount else None
    if way is None or parts is None or way.made.epoch != cache.registry.snapshot.epoch:
        found = _way_by_key(pullbacks, function, args, numbers, captured, ways)
        if found is None:
            return None
        way, parts = found
        ways[_LAST] = way
    if way.misses >= MOST_MISSES or not way.made.guard(function.__globals__):
        return None
    if KEPT not in function.__dict__:
        pullbacks.entries.open_for(function)  # from its next call on it gets its own, which are quicker
    return way, parts


def _way_by_key(
    pullbacks: Any,
    function: FunctionType,
    args: tuple[Any, ...],
    numbers: tuple[int, ...] | None,
    captured: tuple[Any, ...],
    ways: dict[Any, Any],
) -> tuple[Way, Sequence[Any]] | None:
    """The way of a call looked up by all that it depends on; compiled once `_awaited` calls have come."""
    parts: list[Any] = []
    try:
        key = tuple([_key(x, parts) for x in args])
    except _NotTaken:
        return None
    asked = (numbers, key, captured)
    way = ways.get(asked, 0)  # or the number of calls so far
    if way is not None and type(way) is not int and way.made.epoch != pullbacks.cache.registry.snapshot.epoch:
        way = 0
    if type(way) is int:
        if way < _awaited(len(parts)):
            if asked in ways or len(ways) < _FEW:
                ways[asked] = way + 1
            return None
        way = ways[asked] = _compiled(pullbacks, function, args, parts, asked)
    return None if way is None else (way, parts)


def _awaited(count: int) -> int:
    """The number of calls with `count` parts after which a way is worth compiling."""
    return 1 if count <= MOST else count // PARTS_A_CALL


def _is_its_text(cache: Any, function: FunctionType) -> bool:
    """Whether a call of a function runs its own code and nothing else, with all parameters by position."""
    marks, code = function.__dict__, function.__code__
    if marks and not marks.keys() <= _OURS:
        return False
    if code.co_kwonlyargcount or code.co_flags & _TAKES_MORE or cache.memory.mode != "auto":
        return False
    if cache.copying is not None and code in cache.copying:
        return False  # its sweeps have to keep copies
    return cache.registry.has_nothing_for(function)


def _compiled(
    pullbacks: Any,
    function: FunctionType,
    args: tuple[Any, ...],
    parts: list[Any],
    asked: tuple[tuple[int, ...] | None, tuple[Any, ...], tuple[Any, ...]],
) -> Way | None:
    """The way by a pass for parts; None if there is none."""
    numbers, key, free = asked
    if len(key) != function.__code__.co_argcount or not is_authors_function(function):
        return None
    structures = tuple(map(_structure, key))
    wanted = [
        numbers is None or number in numbers
        for number, structure in enumerate(structures)
        for _ in range(_count(structure))
    ]
    flags = tuple([bool(varies(part)) and on for part, on in zip(parts, wanted, strict=True)])
    opened = None if structures == (None,) * len(structures) else structures

    def compiled(fused: int | None) -> Pass:
        signature = tuple(map(signature_of, parts))
        given = (pullbacks, function, signature, flags, free, False, True)
        return with_room(lambda: compile_pass(*given, opened=opened, fused=fused))

    try:
        if opened is None:  # it was compiled before there was a way
            made = pullbacks.pass_of(function, tuple(parts), flags, False, True, None)
        else:
            made = compiled(None)
    except (NotOpened, RuleLabError):
        return None
    if not made.computes or made.noted:
        return None
    fused = None
    with suppress(NotFused, RuleLabError):
        fused = compiled(len(parts))
    read = made.parts_read or (False,) * len(parts)
    read = tuple([a and b for a, b in zip(read, flags, strict=True)])
    through = () if opened is None else _gone_through(pullbacks, function, args, numbers)
    close = closer(key, flags, read, made.parts_reached, through)
    return Way(numbers, free, made, fused, taker(key), close)


def _gone_through(
    pullbacks: Any, function: FunctionType, args: tuple[Any, ...], numbers: tuple[int, ...] | None
) -> tuple[bool, ...]:
    """For which arguments the sweeps on containers give a cotangent, possibly zero, for every item."""
    wanted = [numbers is None or number in numbers for number in range(len(args))]
    flags = tuple([on and may_vary(x) for x, on in zip(args, wanted, strict=True)])
    try:
        made: Pass = pullbacks.pass_of(function, args, flags, False, True, None)
    except RuleLabError:
        return ()
    return made.gone_through
