"""Compare the value of a pass with that of the function itself: the guard against a wrong transform."""

from __future__ import annotations

import operator
import types
import weakref
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..compiler.analysis.effects import Noted, Watch
from ..compiler.calls.borrowed import may_meet, needs_copies
from ..compiler.calls.cache import Cache
from ..compiler.calls.pullbacks import Pullbacks
from ..compiler.memory.heap import enter, leave
from ..compiler.memory.holding import fields_of, holds_iterator
from ..compiler.memory.lending import LentArguments, may_lend
from ..compiler.memory.operands import describe
from ..errors import NotDifferentiableError, Place, RuleLabError, WrongTransformError
from ..rules.registry import Registry
from ..rules.targets import name_of, resolve
from ..tangents.algebra import is_number
from ..tangents.holding import CACHED

_LONGEST = 1.0  # seconds of a first sweep beyond which the function is not run again
_NOT_OURS = (
    RuleLabError,
    RecursionError,
    MemoryError,
)  # a pass needs more stack and memory than its function


class Raised:
    """An error in place of a value; two agree if their errors are of the same class."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Compared(Watch):
    """A block that runs a forward sweep of `f(*args, **kwargs)` and stores `(y, back)` in `found`.

    At its end, if a comparison is due, y or the error of the block is compared with what the function itself
    gives. WrongTransformError is raised if the two differ and each gives the same again when repeated. If
    both raise, the function's own error is raised, unless all calls are compared. `active` is as in
    `Pullbacks.find`. With `lent`, arguments that the function may change, it runs on copies of them, and what
    it leaves in these must agree too.
    """

    __slots__ = ("_cache", "_implicit", "_keeps", "_lent", "active", "args", "f", "found", "kwargs")

    def __init__(
        self,
        cache: Cache,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        lent: LentArguments | None = None,
        implicit: bool = False,
        keeps: bool = False,
    ) -> None:
        super().__init__()
        self._keeps = keeps
        self._lent = lent
        self._implicit = implicit
        self.f, self.args, self.kwargs, self.active = f, args, kwargs, active
        self._cache = cache
        self.found: Any = None

    def __enter__(self) -> Compared:
        self._cache.watches.open(self)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        __tracebackhide__ = True
        self._cache.watches.close()
        if self.compiled or self._cache.compare is True:
            if error is None:
                self._compare(self._left(self.found[0], self.args))
            elif isinstance(error, Exception) and not isinstance(error, _NOT_OURS):
                self._compare(Raised(error))

    def before_effect(self) -> None:
        """Before an effect that cannot be repeated, ask for a restart with copies if the function may call
        code that is not followed.
        """
        if self._keeps:
            return
        target, bound = resolve(self.f)
        code = getattr(target, "__code__", None)
        examined = self._cache.examined
        if id(code) in examined:
            return
        if may_meet((target, *bound, *self.args, *self.kwargs.values())):
            raise needs_copies(name_of(target), None)
        if code is not None:
            number = id(code)
            examined[number] = weakref.ref(code, lambda _: examined.pop(number, None) and None)

    def _compare(self, found: Any) -> None:
        __tracebackhide__ = True
        if not self._is_due():
            return
        plain = _outcome(self._plain)
        if agree(found, plain) or (isinstance(plain, Raised) and isinstance(plain.error, _NOT_OURS)):
            return
        if isinstance(found, Raised) and isinstance(found.error, FloatingPointError):
            return  # raised because of np.errstate; the value may exist where the slope does not
        if not (self._is_steady(found, self._derived) and self._is_steady(plain, self._plain)):
            return
        seen = self._looked_through()
        if seen.ruled or (_may_round(seen, self._cache.registry) and agree(found, plain, exact=False)):
            return
        held = next((target for target in seen.met or () if type(target) is CACHED), None)
        if held is not None and agree(found, plain, by_type=False):
            return  # Python's cache answers for the type that a key had first
        self._cache.drop_passes()
        if held is not None and not isinstance(found, Raised):
            raise _filled_before(self.f, held, found, plain)
        if isinstance(found, Raised) and isinstance(plain, Raised) and self._cache.compare is not True:
            raise plain.error  # no value either way, and the author knows this error
        raise _wrong(self.f, self.args, found, plain)

    def _is_due(self) -> bool:
        """Whether the function should be run once more, and can be without consequences."""
        seconds = perf_counter() - self.start
        if self.ruled or self._cache.compare is False:
            return False
        if self._cache.compare is True:
            quiet = self.noted < Noted.EFFECT
        else:
            quiet = self.noted is Noted.NOTHING and seconds < _LONGEST
        if not quiet:
            return False
        target, bound = resolve(self.f)
        entry = self._cache.registry.entry(target)
        if entry is not None and entry.user:
            return False
        return not holds_iterator((target, *bound, *self.args, *self.kwargs.values()))

    def _left(self, y: Any, args: tuple[Any, ...]) -> Any:
        """What two runs are compared by: the value, and the arguments if the function may change them."""
        return y if self._lent is None else (y, args)

    def _call(self) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        return (self.f, self.args, self.kwargs) if self._lent is None else self._lent.afresh(self.f)

    def _plain(self) -> Any:
        f, args, kwargs = self._call()
        return self._left(f(*args, **kwargs), args)

    def _derived(self, cache: Cache | None = None) -> Any:
        """The value of a forward sweep, with another cache if one is given."""
        find = Pullbacks(self._cache if cache is None else cache, self._implicit, self._keeps).find
        f, args, kwargs = self._call()
        outer = enter()
        try:
            lent = may_lend(f, args, kwargs) if self._lent is not None else None
            active = self.active if lent is None else lent.own(self.active)
            return self._left(find(f, args, kwargs, active, None)(*args, **kwargs)[0], args)
        finally:
            leave(outer)

    def _is_steady(self, value: Any, run: Callable[[], Any]) -> bool:
        """Whether a second run gives the same value. A function that reads a clock, for instance, does
        not.
        """
        return agree(value, _outcome(run))

    def _looked_through(self) -> Watch:
        """Run a sweep with an empty cache, so that everything is compiled and no call takes a fast path, and
        return what takes part in it.
        """
        fresh = Cache(self._cache.registry)
        watch = Watch()
        watch.met = []
        fresh.watches.open(watch)
        _outcome(lambda: self._derived(fresh))
        return watch


def _may_round(seen: Watch, registry: Registry) -> bool:
    """Whether the last digits may differ: rules of linear algebra may call a different LAPACK routine, BLAS
    may sum in an order that depends on the memory alignment of its arguments, a derivative that is itself
    differentiated may add up its terms in another order, and nothing is known about code that ran unobserved.
    """
    return seen.noted is not Noted.NOTHING or any(_rounds(target, registry) for target in seen.met or ())


def _rounds(target: Any, registry: Registry) -> bool:
    entry = registry.entry(target)
    return target is operator.matmul or entry is not None and any(rule.rounds for rule in entry.built_in)


def _outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        return Raised(error)


def _wrong(f: Any, args: tuple[Any, ...], found: Any, plain: Any) -> WrongTransformError:
    target, _ = resolve(f)
    name = name_of(target)
    by_rule = (f"write a rule for {name} (%rule_stub {name})",) if name.isidentifier() else ()
    return WrongTransformError(
        f"A bug in rulelab: the pass of {name} gives {_shown(found)}, but {name} itself gives "
        f"{_shown(plain)}",
        asked=f"the gradient of {name}({', '.join(map(describe, args))})",
        place=Place.of_function(target) if isinstance(target, types.FunctionType) else None,
        fixes=(
            "report it, with the function",
            *by_rule,
            "use rl.debug_mode(compare=False) if you are sure that the pass is right",
        ),
        read="limitations#wrong-transform",
    )


def _filled_before(f: Any, held: Any, found: Any, plain: Any) -> NotDifferentiableError:
    name, cached = name_of(resolve(f)[0]), getattr(held, "__name__", "f")
    return NotDifferentiableError(
        f"{name} gives {_shown(plain)}, but {_shown(found)} when {cached} is run and not answered from its "
        "cache that was filled before",
        fixes=(f"call {cached}.cache_clear() first", f"remove the cache of {cached}"),
        read="limitations#iteration",
    )


def _shown(value: Any) -> str:
    """A value with its type, in at most 60 characters."""
    if isinstance(value, Raised):
        return f"{type(value.error).__name__}: {value.error}"[:60]
    if isinstance(value, np.ndarray):
        with np.printoptions(threshold=6, edgeitems=2, precision=17):
            return f"{describe(value)} {' '.join(str(value).split())}"[:60]
    text = str(value) if is_number(value) else repr(value)
    return f"{describe(value)} {text}"[:60]


# --- when two values agree ----------------------------------------------------------------------------------


def agree(
    found: Any,
    plain: Any,
    *,
    exact: bool = True,
    by_type: bool = True,
    seen: set[tuple[int, int]] | None = None,
) -> bool:
    """Whether two values are equal in type, structure and numbers, with NaN equal to NaN.

    If not `exact`, floats may differ by √eps times the largest magnitude in the same array. If not `by_type`,
    numbers of different types may be equal.

    >>> agree([1.0, float("nan")], [1.0, float("nan")]), agree(1.0, 1), agree(2.0, np.float64(2.0))
    (True, False, False)
    """
    if found is plain:
        return True
    if type(found) is not type(plain):
        return not by_type and is_number(found) and is_number(plain) and bool(found == plain)
    if isinstance(found, Raised):
        return type(found.error) is type(plain.error)
    if type(found) in _FLOATS and (found == plain or (found != found and plain != plain)):
        return True
    if isinstance(found, np.ndarray):
        return _arrays_agree(found, plain, exact)
    if is_number(found):
        return _numbers_agree(np.asarray(found), np.asarray(plain), exact)
    if isinstance(found, _COMPARED_WHOLE):
        return bool(found == plain)
    seen = set() if seen is None else seen
    if (id(found), id(plain)) in seen:
        return True
    seen.add((id(found), id(plain)))
    parts, others = _parts(found), _parts(plain)
    return len(parts) == len(others) and all(
        agree(a, b, exact=exact, by_type=by_type, seen=seen) for a, b in zip(parts, others, strict=True)
    )


_FLOATS = frozenset({float, np.float64})  # the most frequent types, compared without making arrays
_COMPARED_WHOLE = (
    str, bytes, bool, np.generic, np.dtype, np.ufunc, type,
    types.CodeType, types.ModuleType, types.BuiltinFunctionType, range, slice,
)  # fmt: skip


def _parts(value: Any) -> list[Any]:
    """The parts of a structure, including keys and names of attributes; empty for an opaque object."""
    if isinstance(value, types.FunctionType):
        return [value.__code__]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, (set, frozenset)):
        return [sorted(map(repr, value))]
    found: list[Any] = []
    if isinstance(value, dict):
        found += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple)):
        found += value
    fields = fields_of(value)
    found += [*fields.keys(), *fields.values()]
    names = [name for cls in type(value).__mro__ for name in _listed(cls.__dict__.get("__slots__", ()))]
    return found + [getattr(value, name, None) for name in names if not name.startswith("__")]


def _listed(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _arrays_agree(found: np.ndarray, plain: np.ndarray, exact: bool) -> bool:
    if found.dtype != plain.dtype or found.shape != plain.shape:
        return False
    if found.dtype.hasobject:
        return agree(found.ravel().tolist(), plain.ravel().tolist(), exact=exact)
    return _numbers_agree(found, plain, exact)


def _numbers_agree(found: np.ndarray, plain: np.ndarray, exact: bool) -> bool:
    with np.errstate(all="ignore"):
        same = np.asarray((found == plain) | ((found != found) & (plain != plain)))
        if same.all():
            return True
        if exact or found.dtype.kind not in "fc":
            return False
        sizes = np.abs(plain)
        largest = np.max(sizes, where=np.isfinite(sizes), initial=0.0)
        near = np.abs(found - plain) <= np.sqrt(np.finfo(found.dtype).eps) * largest
    return bool((same | near).all())
