"""Whether a run did more than compute a value: what passes do, what they call, and who records it."""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from time import perf_counter
from typing import Any

import numpy as np

from ...errors import RuleLabError
from ...python_facts import FILLS, TELLS, WRITES, does
from ...rules.kinds import ANY, FUNCTION
from ...tangents.moments import EFFECTS, not_repeatable, run_behind
from ..base import ir
from .types import Types


class Noted(IntEnum):
    """What was noticed in a run, from least to most serious."""

    NOTHING = 0
    UNSEEN = 1  # code ran that was not followed
    EFFECT = 2  # something was printed, drawn or consumed


LOUD = [0]  # counts effects and calls of users' rules; unchanged means that there were none


class Watch:
    """What one run of a pass turned out to do."""

    __slots__ = ("compiled", "met", "noted", "ruled", "start")

    @property
    def is_done(self) -> bool:
        """Whether something happened that must not happen twice: an effect, or a call of a user's rule."""
        return self.ruled or self.noted is Noted.EFFECT

    def before_effect(self) -> None:
        """Called just before the first effect of the run, or the first call of a user's rule."""

    def __init__(self) -> None:
        self.start = perf_counter()
        self.compiled = False
        self.ruled = False
        self.noted = Noted.NOTHING
        self.met: list[Any] | None = None  # if a list, the targets called by rule are recorded in it


class Watches(threading.local):
    """The watches that are open in the current thread, innermost last."""

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
        self.note_met(*relied_on)

    def note_met(self, *targets: Any) -> None:
        for watch in self._open:
            if watch.met is not None:
                watch.met.extend(targets)

    def note_ruled(self) -> None:
        if self._open and not self._open[-1].ruled:
            self._open[-1].before_effect()
        LOUD[0] += 1
        for watch in self._open:
            watch.ruled = True


def noting(watches: Watches, what: Noted, forward: Callable[..., Any]) -> Callable[..., Any]:
    """A forward sweep that reports what it does at each call."""

    def noted(*args: Any) -> Any:
        watches.note(what)
        return forward(*args)

    return noted


# --- what runs again ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def running_again(f: Any, args: tuple[Any, ...], words: dict[str, Any] | None = None) -> Iterator[None]:
    """A block that differentiates a function which has already run. If an error leaves the block after an
    effect, or a plain call raises too, the function cannot run twice, and that is reported; other errors,
    such as those of a rule that was not called before, propagate unchanged.
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
    """The block for a function that may run another one again: `running_again`, or one that does nothing."""
    run = run_behind(g)
    return contextlib.nullcontext() if run is None else running_again(run.f, run.args, run.words)


def _fails(f: Any, args: tuple[Any, ...], words: dict[str, Any]) -> bool:
    try:
        f(*args, **words)
    except Exception:
        return True
    return False


# --- what is called -----------------------------------------------------------------------------------------

# Built-in rules treat these as constants, but each has a side effect; `id` reveals a memory address.
_EFFECTFUL: frozenset[Any] = frozenset(
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
# Functions of these modules draw random numbers, read or write.
_EFFECTFUL_MODULES = tuple(
    f"{name}."
    for name in ("random", "_random", "numpy.random", "time", "secrets", "os", "posix", "io", "_io")
)
_DRAWING = ("scipy.stats.", "rvs")  # module and name of the functions that draw from a distribution
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


def side_effect_of_call(target: Any, has_built_in_rule: bool) -> Noted:
    """What a call of something without a pass may do, given whether it has a built-in rule."""
    module = _module_of(target)
    if _among(target, _EFFECTFUL) or module.startswith(_EFFECTFUL_MODULES):
        return Noted.EFFECT
    if module.startswith(_DRAWING[0]) and getattr(target, "__name__", "") == _DRAWING[1]:
        return Noted.EFFECT
    return Noted.NOTHING if has_built_in_rule or is_side_effect_free(target) else Noted.UNSEEN


def is_side_effect_free(target: Any) -> bool:
    """Whether calling a C function or class certainly does nothing but return a value."""
    if isinstance(target, type):
        return target.__module__ == "builtins" or issubclass(target, BaseException)
    if isinstance(target, np.ufunc):
        return True
    if isinstance(target, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        done = does(target.__objclass__, target.__name__)
        return target.__objclass__ in _DATA and done is not None and not done & (WRITES | FILLS | TELLS)
    if isinstance(target, types.BuiltinFunctionType):
        return getattr(target, "__module__", None) in _PURE_MODULES or _among(target, _QUIET_BUILTINS)
    return False


_QUIET_BUILTINS = frozenset(
    {
        abs, all, any, bin, callable, chr, divmod, format, getattr, hasattr, hash, hex, isinstance,
        issubclass, len, max, min, oct, ord, pow, repr, round, sum, vars,
    }
)  # fmt: skip


def _module_of(target: Any) -> str:
    """The module of a function, or of the class of a C method, followed by a dot."""
    module = getattr(target, "__module__", None) or getattr(
        getattr(target, "__objclass__", None), "__module__", None
    )
    return f"{module}."


def _among(target: Any, known: frozenset[Any]) -> bool:
    try:
        return target in known
    except TypeError:  # unhashable, so none of these
        return False


# --- what a pass does itself --------------------------------------------------------------------------------


def effects_of(lowered: ir.Function, kinds: Types, has_built_in_rule: Callable[[Any], bool]) -> Noted:
    """What the statements of one function do, apart from what its callees report at run time."""
    # Writes are not reported: a write to anything that the sweep did not make is refused before it happens.
    calls = [s.op for s in lowered.lets() if isinstance(s.op, ir.Call)]
    return max([_of_call(op, kinds, has_built_in_rule) for op in calls], default=Noted.NOTHING)


def _of_call(op: ir.Call, kinds: Types, has_built_in_rule: Callable[[Any], bool]) -> Noted:
    target = kinds.callee(op)
    if target is ir.UNBOUND:
        return Noted.NOTHING  # reported at run time
    if side_effect_of_call(target, True) is Noted.EFFECT:
        return Noted.EFFECT
    if has_built_in_rule(target) or (isinstance(target, type) and target.__module__ == "builtins"):
        unclear = (FUNCTION, ANY) if target in (map, filter) else (FUNCTION,)
        if any(kinds(atom) in unclear for atom in op.operands()[1:]):
            return Noted.UNSEEN  # a function that is called by code that is not followed
    return Noted.NOTHING
