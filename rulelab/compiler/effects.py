"""Whether a run did more than compute a value: what passes do, what they call, and who wants to know."""

from __future__ import annotations

import builtins
import contextlib
import inspect
import operator
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import RuleLabError
from ..tangents.holding import held_by, inside
from ..tangents.moments import EFFECTS, not_repeatable, run_behind
from . import ir
from .types import ANY, FUNCTION, Types


class Noted(IntEnum):
    """What came to notice in a run, the gravest last."""

    NOTHING = 0
    UNSEEN = 1  # code ran that nobody has looked into
    EFFECT = 2  # something was printed, drawn or consumed


LOUD = [0]  # how many effects and rules of users have come to notice: as long as it stays, nothing happened


class Watch:
    """What one run of a pass turned out to do."""

    __slots__ = ("compiled", "met", "noted", "ruled", "start")

    @property
    def is_done(self) -> bool:
        """Whether something has happened that must not happen twice: an effect, or a rule of a user's."""
        return self.ruled or self.noted is Noted.EFFECT

    def before_effect(self) -> None:
        """The first effect of the run, or the first rule of a user's, is about to happen."""

    def __init__(self) -> None:
        self.start = perf_counter()
        self.compiled = False
        self.ruled = False
        self.noted = Noted.NOTHING
        self.met: list[Any] | None = None  # a list: what was called by rule is kept in it


class Watches(threading.local):
    """The watches that are open in the running thread, innermost last."""

    def __init__(self) -> None:
        self._open: list[Watch] = []

    def open(self, watch: Watch) -> None:
        self._open.append(watch)

    def close(self) -> None:
        self._open.pop()

    def note(self, what: Noted) -> None:
        if what is Noted.EFFECT:
            if self._open and self._open[-1].noted is not Noted.EFFECT:
                self._open[-1].before_effect()
            LOUD[0] += 1
            EFFECTS[0] += 1
        for watch in self._open:
            watch.noted = max(watch.noted, what)

    def note_compiled(self, relied_on: Iterable[Any]) -> None:
        for watch in self._open:
            watch.compiled = True
            if watch.met is not None:
                watch.met.extend(relied_on)

    def note_met(self, target: Any) -> None:
        for watch in self._open:
            if watch.met is not None:
                watch.met.append(target)

    def note_ruled(self) -> None:
        if self._open and not self._open[-1].ruled:
            self._open[-1].before_effect()
        LOUD[0] += 1
        for watch in self._open:
            watch.ruled = True


def noting(watches: Watches, what: Noted, forward: Callable[..., Any]) -> Callable[..., Any]:
    """A forward sweep that tells at each call what it does."""

    def noted(*args: Any) -> Any:
        watches.note(what)
        return forward(*args)

    return noted


# --- what runs again ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def running_again(f: Any, args: tuple[Any, ...], words: dict[str, Any] | None = None) -> Iterator[None]:
    """A block in which a function is differentiated that has run before. An error that comes out of it after
    an effect, or that a plain call raises too, says that the function cannot run twice; others, such as
    those of a rule that did not answer before, are left as they are.
    """
    happened = EFFECTS[0]
    try:
        yield
    except RuleLabError:
        raise
    except Exception as error:
        if EFFECTS[0] != happened or _fails(f, args, words or {}):
            raise not_repeatable(f, f"raises {type(error).__name__} when it runs again") from error
        raise


def as_again(g: Any) -> contextlib.AbstractContextManager[None]:
    """The same for a function that runs another one again."""
    run = run_behind(g)
    return contextlib.nullcontext() if run is None else running_again(run.f, run.args, run.words)


def _fails(f: Any, args: tuple[Any, ...], words: dict[str, Any]) -> bool:
    try:
        f(*args, **words)
    except Exception:
        return True
    return False


# --- what is called -----------------------------------------------------------------------------------------

# The house knows these as constants, and each does something besides. `id` tells of memory.
_LOUD: frozenset[Any] = frozenset(
    {
        print,
        input,
        open,
        next,
        id,
        setattr,
        delattr,
        np.seterr,
        np.set_printoptions,
        np.save,
        np.savez,
        np.savetxt,
        np.ndarray.tofile,
    }
)
# Their functions draw, read or write.
_LOUD_MODULES = tuple(
    f"{name}."
    for name in ("random", "_random", "numpy.random", "time", "secrets", "os", "posix", "io", "_io")
)
_PURE_MODULES = frozenset({"math", "cmath", "operator", "_operator"})
_DATA = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    tuple,
    range,
    frozenset,
    list,
    dict,
    set,
    np.ndarray,
    np.generic,
)
_WRITING = frozenset(
    "append extend insert remove pop popitem clear sort reverse setdefault update add discard "
    "fill put itemset partition resize setfield setflags byteswap tofile dump".split()
)


def loudness(target: Any, from_house: bool) -> Noted:
    """What a call of something without a pass may do; `from_house`: the house has a rule for it."""
    if _among(target, _LOUD) or _module_of(target).startswith(_LOUD_MODULES):
        return Noted.EFFECT
    return Noted.NOTHING if from_house or is_quiet(target) else Noted.UNSEEN


def is_quiet(target: Any) -> bool:
    """Whether a C function or class certainly does nothing but give a value."""
    if isinstance(target, type):
        return target.__module__ == "builtins" or issubclass(target, BaseException)
    if isinstance(target, np.ufunc):
        return True
    if isinstance(target, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        owner, name = target.__objclass__, target.__name__
        reads = name not in _WRITING and not name.startswith(("__set", "__del", "__i"))
        return owner in _DATA and reads
    if isinstance(target, types.BuiltinFunctionType):
        return getattr(target, "__module__", None) in _PURE_MODULES or _among(target, _QUIET_BUILTINS)
    return False


def own_error(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """The error that a call raises in plain Python, if it raises one and nobody can see that it was tried.

    Before a call is refused: what fails by itself is the author's mistake, and no gap of ours.
    """
    if not is_quiet(target) or _writes(target) or not all(map(_is_data, (*args, *kwargs.values()))):
        return None
    try:
        target(*args, **kwargs)
    except Exception as error:
        return error
    return None


def _writes(target: Any) -> bool:
    """Whether it is an operator in place, or `x[key] = value` or `del x[key]`."""
    name = getattr(target, "__name__", "")
    in_place = name.startswith("i") and all(hasattr(operator, f"__{n}__") for n in (name, name[1:]))
    in_operator = getattr(target, "__module__", None) == "_operator"
    return in_operator and (in_place or name in ("setitem", "delitem"))


def _is_data(x: Any) -> bool:
    """Whether operations on a value run none of the author's code."""
    if isinstance(x, (list, tuple, set, frozenset)):
        return type(x).__module__ == "builtins" and all(type(item) in _SCALARS for item in x)
    return type(x) in _SCALARS or isinstance(x, np.generic) or (type(x) is np.ndarray and x.dtype != object)


_SCALARS = (int, float, complex, bool, str, bytes, type(None))
_QUIET_BUILTINS = frozenset(
    {
        abs, all, any, bin, callable, chr, divmod, format, getattr, hasattr, hash, hex, isinstance,
        issubclass, len, max, min, oct, ord, pow, repr, round, sum,
    }
)  # fmt: skip


def _module_of(target: Any) -> str:
    """The module of a function, or of the class of a C method, with a dot behind it."""
    module = getattr(target, "__module__", None) or getattr(
        getattr(target, "__objclass__", None), "__module__", None
    )
    return f"{module}."


def _among(target: Any, known: frozenset[Any]) -> bool:
    try:
        return target in known
    except TypeError:  # not hashable, so none of these
        return False


# --- what a pass does itself --------------------------------------------------------------------------------


def effects_of(lowered: ir.Function, kinds: Types, is_of_house: Callable[[Any], bool]) -> Noted:
    """What the statements of one function do, apart from what its callees tell at run time."""
    found = Noted.NOTHING
    for statement in ir.walk(lowered.body):
        if isinstance(statement, ir.Let):
            found = max(found, _of_op(statement.op, kinds, is_of_house))
    return found


def _of_op(op: ir.Op, kinds: Types, is_of_house: Callable[[Any], bool]) -> Noted:
    if not isinstance(op, ir.Call):
        return Noted.NOTHING  # a write too: one to what the sweep has not made is refused before it happens
    target = kinds.callee(op)
    if target is ir.UNBOUND:
        return Noted.NOTHING  # told at run time
    if loudness(target, True) is Noted.EFFECT:
        return Noted.EFFECT
    if is_of_house(target) or (isinstance(target, type) and target.__module__ == "builtins"):
        unclear = (FUNCTION, ANY) if target in (map, filter) else (FUNCTION,)
        if any(kinds(atom) in unclear for atom in op.operands()[1:]):
            return Noted.UNSEEN  # a function that is called out of sight
    return Noted.NOTHING


# --- iterators ----------------------------------------------------------------------------------------------

_MOST_LOOKED_AT = 10_000  # structures
_MOST_WAITING = 1_000_000  # items of all kinds
_PLAIN = (str, bytes, int, float, complex, np.ndarray, np.generic, type(None), type, types.ModuleType, range)


def holds_iterator(values: Iterable[Any]) -> bool:
    """Whether something that is used up by reading it is among the values or in them; True if they hold too
    much to tell.
    """
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        held = waiting.pop()
        if isinstance(held, _PLAIN) or id(held) in seen:
            continue
        if len(seen) > _MOST_LOOKED_AT:
            return True
        seen.add(id(held))
        if _is_iterator(held):
            return True
        waiting.extend(_parts(held))
        if len(waiting) > _MOST_WAITING:
            return True
    return False


def _is_iterator(held: Any) -> bool:
    return inspect.getattr_static(type(held), "__next__", None) is not None


def _parts(held: Any) -> Iterator[Any]:
    if isinstance(held, (list, tuple, set, frozenset)):
        yield from held
    elif isinstance(held, dict):
        yield from held.values()
    elif isinstance(held, types.FunctionType):
        yield from held_by(held).by_name().values()
        for name in held.__code__.co_names:
            value = held.__globals__.get(name, vars(builtins).get(name))
            if not isinstance(value, (types.FunctionType, types.ModuleType)):
                yield value
    elif isinstance(held, types.MethodType):
        yield from inside(held)
    else:
        yield from fields_of(held).values()


def fields_of(held: Any) -> dict[str, Any]:
    """The fields of an object, whatever its class makes of being asked."""
    try:
        found = object.__getattribute__(held, "__dict__")
    except Exception:  # it has none, or a class of its own mind
        return {}
    return found if isinstance(found, dict) else {}
