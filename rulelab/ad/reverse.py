"""Reverse mode for callers: the gradient, with or without the value, and the pullback."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any, NoReturn

import numpy as np
from numpy import ndarray

from ..compiler.base.deriving import derives
from ..compiler.base.places import tell_bodies
from ..compiler.calls.borrowed import asks_for_copies, begin_again, needs_to_copy, sweeping
from ..compiler.calls.cache import DEFAULT as DEFAULT_CACHE
from ..compiler.calls.cache import Cache
from ..compiler.calls.entries import KEPT, NOTHING_KNOWN, Entry
from ..compiler.calls.opened import may_have_way, way_of
from ..compiler.calls.pullbacks import Pullbacks
from ..compiler.memory.fingerprints import is_as_it_was, kept_by, state_of
from ..compiler.memory.heap import enter, is_nested, is_own, leave
from ..compiler.memory.lending import LentArguments, OutOfSight, lent_to, look_after
from ..compiler.memory.operands import describe, may_vary
from ..compiler.memory.snapshots import Snapshots
from ..errors import (
    An,
    MutatedAfterCaptureError,
    NotDifferentiableError,
    RuleLabError,
    RuleShapeError,
)
from ..rules.kinds import varies
from ..rules.lent import DEBUGGING
from ..tangents.algebra import is_number
from ..tangents.projection import project, to_natural
from ..tangents.zeros import NoTangent, ZeroTangent
from .agreement import Compared
from .by_entry import run_entry
from .by_keywords import by_keywords
from .fast_gradient import note_chosen, note_parts, note_way, through_parts
from .fast_pullback import pulled
from .implicit import gradient_of_params, implicit_params
from .keywords import refuse_shared
from .natural import natural_entries
from .nested_functions import grad_
from .operator_arguments import (
    PULLBACKS,
    WithGradient,
    asks_for_several,
    called_name,
    complete_error,
    numbers_asked,
    seed_of,
    which_asked,
)
from .uncallable import refuse_uncallable

_NONE_GIVEN: Any = object()


def gradient(
    f: Callable[..., Any],
    x: Any = _NONE_GIVEN,  # the first of `args`; apart from them, so that calls with one are faster
    /,
    *args: Any,
    argnums: int | tuple[int, ...] | None = None,
    cache: Cache | None = None,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """The gradient of a real-valued function: ∂f/∂x for each positional argument x.

    For a complex argument the entry is ∂f/∂Re + i ∂f/∂Im.

    `gradient(loss, Params([W, b]))` is the implicit style: a loss without arguments, and a `Grads` keyed by
    the arrays. Prefer the explicit style, `gradient(loss, W, b)`: it says what the loss depends on, takes
    numbers and structures as well as arrays, and cannot miss a parameter that was copied on the way.

    Parameters
    ----------
    f : callable
        A function that returns a real number.
    *args
        Its positional arguments: numbers, arrays, tuples, lists, dicts, dataclasses, objects.
    argnums : int or tuple of int, optional
        The positions of the arguments asked for; the result then has one entry for each.
    cache : Cache, optional
        Where compiled code is kept.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    tuple
        One entry for each argument, of its shape, dtype and structure: a float for a number, a new writable
        array for an array, the same structure for a tuple, list, dict or dataclass. It is None where no path
        leads from the argument to the result (an index, a string, a flag), and zeros where there is one and
        the derivative is zero.

    Raises
    ------
    ScalarOutputError
        Unless f returns a real number.
    MutationError, ForeignCallError, UnsupportedSyntaxError
        If f does what cannot be differentiated; also other subclasses of RuleLabError.

    Examples
    --------
    >>> gradient(lambda a, b, c: a * b * c, 2.0, 3.0, 5.0)
    (15.0, 10.0, 6.0)
    """
    __tracebackhide__ = True  # an error in the author's function is shown at the author's lines
    if argnums is None and cache is None and not kwargs:
        if _AT_ONCE and type(f) is FunctionType:
            try:
                known = f.__rulelab_entries__  # type: ignore[attr-defined]  # faster than by the name `KEPT`
            except AttributeError:
                known = NOTHING_KNOWN
            if not args:
                way = known.of_one
                at_once = way(f, x)
                if at_once is not None:
                    return at_once
            elif len(args) == 1:
                way = known.of_two
                at_once = way(f, x, args[0])
                if at_once is not None:
                    return at_once
            else:
                way = known.of_more
                at_once = way(f, x, *args)
                if at_once is not None:
                    return at_once
        args = _all_given(x, args)
        found = _quickly(f, args)
        if found is not None:
            return found[1]
    elif cache is None and not kwargs:
        args = _all_given(x, args)
        if _AT_ONCE and type(f) is FunctionType:
            given, count, way = f.__dict__.get(KEPT, NOTHING_KNOWN).of_chosen
            if given is argnums and count == len(args):
                at_once = way(f, *args)
                if at_once is not None:
                    return at_once
        numbers = _numbers(args, argnums)
        found = None if numbers is None else _quickly(f, args, numbers=numbers, argnums=argnums)
        if found is not None:
            return found[1]
    else:
        args = _all_given(x, args)
    if cache is None:
        found = _by_words(f, args, kwargs, argnums)
        if found is not None:
            return found[1]
    params = implicit_params("gradient", args, argnums, kwargs)
    if params is not None:
        return gradient_of_params(f, params, cache).grad
    refuse_shared(f, "gradient", argnums=argnums, cache=cache)
    return _value_and_gradient(f, args, kwargs, argnums, cache)[1]


def _all_given(first: Any, others: tuple[Any, ...]) -> tuple[Any, ...]:
    return others if first is _NONE_GIVEN else (first, *others)


def _as_documented(function: Callable[..., Any]) -> inspect.Signature:
    """The documented signature of `gradient`, with all arguments of the function in `args`."""
    signature = inspect.signature(function)
    return signature.replace(parameters=[p for name, p in signature.parameters.items() if name != "x"])


gradient.__signature__ = _as_documented(gradient)  # type: ignore[attr-defined]


def withgradient(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | tuple[int, ...] | None = None,
    cache: Cache | None = None,
    **kwargs: Any,
) -> WithGradient:
    """Return the value and the gradient, as a named tuple `(val, grad)`.

    Parameters
    ----------
    f : callable
        A function that returns a real number, or a tuple `(loss, more…)`, whose first entry is
        differentiated.
    *args
        Its positional arguments.
    argnums : int or tuple of int, optional
        The positions of the arguments asked for.
    cache : Cache, optional
        Where compiled code is kept.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    WithGradient
        `val`, everything that f returned; `grad`, as from `gradient`.

    Raises
    ------
    ScalarOutputError
        Unless f returns a real number, alone or first in a tuple.
    RuleLabError
        If f does what cannot be differentiated; the class of the error says what.

    Examples
    --------
    >>> withgradient(lambda x, y: x / y, 1.0, 2.0)
    WithGradient(val=0.5, grad=(0.5, -0.25))
    """
    __tracebackhide__ = True
    if argnums is None and cache is None and not kwargs:
        found = _quickly(f, args, several=True)
        if found is not None:
            return WithGradient(*found)
    if cache is None:
        found = _by_words(f, args, kwargs, argnums, several=True)
        if found is not None:
            return WithGradient(*found)
    params = implicit_params("withgradient", args, argnums, kwargs)
    if params is not None:
        return gradient_of_params(f, params, cache, several=True)
    refuse_shared(f, "withgradient", argnums=argnums, cache=cache)
    return WithGradient(*_value_and_gradient(f, args, kwargs, argnums, cache, several=True))


def grad(f: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return the gradient as a function: with respect to argument `argnums`, or a tuple of gradients for
    several.

    >>> grad(lambda x: x**3)(2.0)
    12.0
    """

    def gradient_of_f(*args: Any, **kwargs: Any) -> Any:
        found = gradient(f, *args, argnums=argnums, **kwargs)
        return found if asks_for_several(argnums) else found[0]

    gradient_of_f.differentiated_as = grad_(f, argnums)  # type: ignore[attr-defined]
    gradient_of_f.__name__ = f"grad_{getattr(f, '__name__', 'f')}"
    gradient_of_f.__doc__ = f"The gradient of {getattr(f, '__name__', 'f')} for argument {argnums}."
    return gradient_of_f


@sweeping
@derives
def pullback(
    f: Callable[..., Any], *args: Any, cache: Cache | None = None, **kwargs: Any
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return `(y, back)`: the value, and the function that maps a cotangent of y to those of the
    arguments.

    Parameters
    ----------
    f : callable
        The function to differentiate.
    *args
        Its positional arguments.
    cache : Cache, optional
        Where compiled code is kept.
    **kwargs
        Its keyword arguments, which are constants.

    Returns
    -------
    tuple
        The value y, and `back`: `back(y_bar)` returns one entry for each positional argument, with the same
        meaning as in `gradient`, and may be called again. None in a seed is zero.

    Raises
    ------
    MutatedAfterCaptureError
        From `back`, if an array that the pass kept, an argument or any other, has changed since: the old
        values are needed, but lost. The same holds for lists, dicts, objects and captured variables
        that a rule kept.
    RuleLabError
        If f does what cannot be differentiated; the class of the error says what.

    Examples
    --------
    >>> y, back = pullback(lambda x, y: x * y, 2.0, 3.0)
    >>> y, back(1.0), back(2.0)
    (6.0, (3.0, 2.0), (6.0, 4.0))
    """
    __tracebackhide__ = True
    if _AT_ONCE and cache is None and not kwargs:
        if type(f) is FunctionType:
            known = f.__dict__.get(KEPT, NOTHING_KNOWN)
            at_once = known.of_numbers(f, args, _seed)
            if at_once is not None:
                return at_once
        found = pulled(f, args, _Fingerprints, _refuse_changed, _seed)
        if found is not None:
            return found
    if implicit_params("pullback", args, None, kwargs) is not None:
        raise NotDifferentiableError(
            "pullback takes no Params",
            asked="pullback(loss, Params([…]))",
            fixes=("use withgradient(loss, params)", "use pullback(f, *arrays)"),
            read="limitations#implicit-parameters",
        )
    refuse_shared(f, "pullback", cache=cache)
    outer = enter()
    try:
        y, inner = _forward(f, args, kwargs, which_asked(args, None), cache)
        kept = _Fingerprints(inner, None if cache is None else cache.probes)
    finally:
        leave(outer)
    # Snapshots, since the caller may change lists and dicts before the pullback is called.
    shown, entered = Snapshots().of(y), Snapshots().of(_as_entered(args, inner))

    @sweeping
    @derives
    def back(y_bar: Any) -> tuple[Any, ...]:
        __tracebackhide__ = True
        kept.check(f)
        seed = _seed(shown, y_bar)
        outer = enter()
        try:
            _, *found = inner(seed)
        finally:
            leave(outer)
            kept.take_again()
        shared = [to_natural(x, x_bar) for x, x_bar in zip(entered, found)]
        # A built-in rule gives cotangents for its first arguments; any other that can vary was refused.
        return (*shared, *(None,) * (len(entered) - len(shared)))

    back.__name__ = (
        f"{getattr(f, '__name__', 'f')}_pullback"
        if str(getattr(f, "__name__", "")).isidentifier()
        else "back"
    )
    return y, back


@sweeping
@derives
def _value_and_gradient(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    argnums: Any,
    cache: Cache | None,
    several: bool = False,
) -> tuple[Any, tuple[Any, ...]]:
    __tracebackhide__ = True
    asked = which_asked(args, argnums)
    outer = enter()
    try:
        y, back = _forward(f, args, kwargs, asked, cache)
        try:
            found = back(seed_of(y, f, args, several))
        except RuleLabError as error:
            if (lent := lent_to(back)) is not None:
                lent.put_back()
            complete_error(error, f, args)
            raise
    finally:
        leave(outer)
    entries = [
        to_natural(x, found[1 + number]) if on else None
        for number, (x, on) in enumerate(zip(_as_entered(args, back), asked, strict=True))
    ]
    return y, tuple(entries if argnums is None else [entries[n] for n in numbers_asked(args, argnums)])


def _numbers(args: tuple[Any, ...], argnums: Any) -> tuple[int, ...] | None:
    """The positions of the requested arguments, from zero; None if `argnums` is neither an int nor a tuple of
    ints in range, which other code reports.
    """
    numbers = (argnums,) if type(argnums) is int else argnums
    if type(numbers) is not tuple:
        return None
    count = len(args)
    if not all(type(number) is int and -count <= number < count for number in numbers):
        return None
    return tuple([number % count for number in numbers])


@sweeping
@derives
def _quickly(
    f: Any,
    args: tuple[Any, ...],
    several: bool = False,
    numbers: tuple[int, ...] | None = None,
    argnums: Any = None,
    by_parts: bool = True,
) -> tuple[Any, tuple[Any, ...]] | None:
    """Value and gradient by an entry for this call, if there is one and its results fit; None for the slow
    path. With `numbers`, given by the caller as `argnums`, the gradient is taken with respect to these
    arguments only. Without `by_parts`, passes that take the contents of containers are not tried.
    """
    __tracebackhide__ = True
    if _AT_ONCE and by_parts and not is_nested() and may_have_way(f, args):
        called_before = KEPT in f.__dict__  # one recreated for each call is not worth a fast path
        way = way_of(PULLBACKS, f, args, numbers)
        answer = None if way is None else through_parts(f, args, *way, several, numbers)
        if way is not None and answer is not None:
            if called_before and not several:
                note_parts(f, way[0], len(args), argnums, DEFAULT_CACHE, _without_parts)
            return answer
    if _AT_ONCE and args and type(f) is types.MethodType and not is_nested():
        return _by_method(f, args, several, numbers)
    flags = None
    if numbers is not None:
        moving = [varies(x) for x in args]
        if None in moving:
            return None
        flags = tuple([bool(on) and number in numbers for number, on in enumerate(moving)])
    entry = _FIND(f, args, flags)
    if entry is None and flags is None and not _CONTAINERS.isdisjoint(map(type, args)):
        entry = _FIND(f, args, tuple(map(may_vary, args)))  # whether they vary depends on their contents
    if entry is None or (
        entry.structured
        and (tuple in map(type, args) or is_nested() or look_after(f, args, {}) is not None)
    ):
        return None
    swept = run_entry(entry, f, args, args, several)
    if swept is None:
        return None
    y, found, exact = swept
    if _AT_ONCE and args:
        if numbers is None:
            note_way(f.__dict__[KEPT], entry, args, DEFAULT_CACHE)
        elif argnums is not None:
            note_chosen(f.__dict__[KEPT], entry, args, argnums, numbers, DEFAULT_CACHE)
    del swept
    entries = found[1] if exact else natural_entries(args, found, entry.projected)
    if numbers is not None:
        entries = tuple([entries[number] for number in numbers])
    return y, entries


def _by_method(
    f: types.MethodType, args: tuple[Any, ...], several: bool, numbers: tuple[int, ...] | None
) -> tuple[Any, tuple[Any, ...]] | None:
    """The same for a method of an object, whose attributes are passed one by one, as constants."""
    function, given = f.__func__, (f.__self__, *args)
    if type(function) is not FunctionType:
        return None
    asked = tuple([1 + number for number in (range(len(args)) if numbers is None else numbers)])
    way = way_of(PULLBACKS, function, given, asked)
    return None if way is None else through_parts(function, given, *way, several, asked)


@sweeping
@derives
def _by_words(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Any = None, several: bool = False
) -> tuple[Any, tuple[Any, ...]] | None:
    """The same for a call with keywords or with parameters left to their defaults, and for a partial."""
    __tracebackhide__ = True
    if not _AT_ONCE or (type(f) is not FunctionType and type(f) is not functools.partial):
        return None
    numbers = None if argnums is None else _numbers(args, argnums)
    if argnums is not None and numbers is None:
        return None
    return by_keywords(f, args, kwargs, numbers, several)


def _without_parts(f: Any, args: tuple[Any, ...], argnums: Any) -> tuple[Any, ...]:
    """Return the gradient after a pass for the contents of containers was tried and failed."""
    __tracebackhide__ = True
    numbers = None if argnums is None else _numbers(args, argnums)
    found = _quickly(f, args, numbers=numbers, argnums=argnums, by_parts=False)
    if found is None:
        refuse_shared(f, "gradient", argnums=argnums, cache=None)
        found = _value_and_gradient(f, args, {}, argnums, None)
    return found[1]


def _find_compared(f: Any, args: tuple[Any, ...], flags: tuple[bool, ...] | None) -> Entry | None:
    """Return the entry of a call, with a forward sweep that compares its value with the function's."""
    entry = PULLBACKS.entries.find(f, args, flags)
    if entry is None:
        return None
    wanted = tuple(map(may_vary, args)) if flags is None else flags

    def forward(*args: Any) -> Any:
        __tracebackhide__ = True
        with Compared(DEFAULT_CACHE, f, args, {}, (False, *wanted)) as run:
            run.found = entry.forward(*args)
        return run.found

    return replace(entry, forward=forward, fuse=None, fused=None)


def _find_nothing(f: Any, args: tuple[Any, ...], flags: tuple[bool, ...] | None) -> None:
    """Return None: in debug mode no call takes the fast path, since sweeps keep copies and compare."""


_CONTAINERS = frozenset({list, dict})
_FIND: Callable[..., Entry | None] = PULLBACKS.entries.find
_AT_ONCE = True  # whether fast paths may be used: nothing is checked or compared


class _Before:
    """Restores the debug mode at the end of a `with` block; without a block the change stays."""

    def __init__(self) -> None:
        self._rules, self._compare = DEBUGGING.rules, DEFAULT_CACHE.compare

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        DEBUGGING.rules = self._rules
        _set_compare(self._compare)


def debug_mode(*, rules: bool | None = None, compare: bool | str | None = None) -> _Before:
    """Check every rule of yours at every call, or set how often values are compared.

    `debug_mode()` is `debug_mode(rules=True)`. At every call of an author's rule the value is compared with
    that of the function in type, shape and dtype. The cotangents or tangents must have the right count and
    shape and a dtype that loses no digits, and must be finite if everything that they are computed from is. A
    rule may not write to its arguments, its value or its cotangent, nor return memory that anything else
    uses, and its pullback must return the same when it is called again. A violation raises a RuleError,
    RuleCountError, RuleShapeError, RuleDtypeError or RuleEffectsError that names the rule and its line. For
    this, the function and the pullback run once more, on copies.

    `compare` sets how often the value of a derived function is compared with that of the function itself.
    True: at every call. "first", the default: when a derivative is new, if the function is seen to do nothing
    but compute. False: never. A difference is a bug in rulelab and raises WrongTransformError.

    In debug mode the sweeps also keep copies of the arrays that their pullbacks will need. If an array has
    different contents when the reverse sweep runs, although no code that is not followed was seen to run,
    another thread or C code has changed it. That raises MutationError; a sweep without copies would return a
    wrong number.

    The setting holds from the call on, or for a `with` block.

    >>> import rulelab as rl
    >>> def total(x): return np.sum(x)
    >>> @rl.rrule_for(total)
    ... def total_rrule(x):
    ...     def total_pullback(y_bar):
    ...         return rl.NoTangent(), np.broadcast_to(y_bar, x.shape)
    ...     return np.sum(x), total_pullback
    >>> with debug_mode():
    ...     gradient(total, np.ones(3))
    Traceback (most recent call last):
    rulelab.errors.RuleEffectsError: total_pullback returned an array for x that cannot be written to
    ...
    """
    if compare not in (True, False, "first", None):
        raise RuleLabError(
            f'compare must be True, "first" or False, not {compare!r}', asked="debug_mode"
        )
    if rules not in (True, False, None):
        raise RuleLabError(f"rules must be True or False, not {rules!r}", asked="debug_mode")
    before = _Before()
    if rules is not None or compare is None:
        DEBUGGING.rules = rules is not False
    _set_compare(DEFAULT_CACHE.compare if compare is None else compare)
    return before


def _set_compare(compare: bool | str) -> None:
    """Switch the function that finds entries, so that the fast path costs nothing extra when nothing is
    compared.
    """
    global _FIND, _AT_ONCE
    _AT_ONCE = False  # set first, and to True last, so that an interrupt leaves the slower path
    DEFAULT_CACHE.compare = compare
    _FIND = _find_compared if compare is True else PULLBACKS.entries.find
    if DEBUGGING.rules:
        _FIND = _find_nothing
    _AT_ONCE = compare is not True and not DEBUGGING.rules


def _forward(
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    asked: tuple[bool, ...],
    cache: Cache | None,
    keeps: bool = False,
) -> tuple[Any, Any]:
    __tracebackhide__ = True
    if type(f) is not FunctionType:
        refuse_uncallable(f, "gradient(f, *args)")
    pullbacks = PULLBACKS if cache is None else Pullbacks(cache)
    if keeps or needs_to_copy(pullbacks, f):
        pullbacks = pullbacks.with_copies
    active = _active(args, kwargs, asked)
    nested, looked = is_nested(), look_after(f, args, kwargs)
    lent = looked if isinstance(looked, LentArguments) and not nested else None
    unseen = looked if isinstance(looked, OutOfSight) else None
    wanted = active if lent is None else lent.own(active)
    try:
        with Compared(pullbacks.cache, f, args, kwargs, active, lent, keeps=pullbacks.keeps) as run:
            sweep = pullbacks.find(f, args, kwargs, wanted, None)
            if unseen is None:
                run.found = sweep(*args, **kwargs)
            else:
                with unseen:
                    run.found = sweep(*args, **kwargs)
    except RuleLabError as error:
        if lent is not None:
            lent.put_back()
        if asks_for_copies(error) and not pullbacks.keeps and not run.is_done:
            begin_again(pullbacks, f)
            return _forward(f, args, kwargs, asked, cache, keeps=True)
        complete_error(error, f, args)
        raise
    except Exception as error:
        tell_bodies(error)
        raise
    y, back = run.found
    return y, back if lent is None else lent.collecting(back, y)


def _as_entered(args: tuple[Any, ...], back: Any) -> tuple[Any, ...]:
    """The arguments with the contents that they had when the function was called."""
    lent = lent_to(back)
    return args if lent is None else tuple(map(lent.as_it_was, args))


def _active(args: tuple[Any, ...], kwargs: dict[str, Any], asked: tuple[bool, ...]) -> tuple[bool, ...]:
    """Whether a cotangent is wanted for the function, each argument and each keyword."""
    wanted = [on and may_vary(x) for on, x in zip(asked, args, strict=True)]
    return (False, *wanted, *(False,) * len(kwargs))


def forward_sweep(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], pullbacks: Pullbacks | None = None
) -> Callable[..., Any]:
    """Return the forward sweep that `gradient` runs for these arguments: called with them, it returns the
    value and the reverse sweep. For measuring the sweeps alone, without the checks of `pullback`.
    """
    asked = which_asked(args, None)
    return (PULLBACKS if pullbacks is None else pullbacks).find(
        f, args, kwargs, _active(args, kwargs, asked), None
    )


@sweeping
@derives
def sweeps(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], asked: tuple[bool, ...]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return `(y, back)` as `pullback` does, for a caller who changes nothing in between: no array is
    watched, and seeds are not checked. The entry of an argument that is not `asked` for is None.
    """
    __tracebackhide__ = True
    outer = enter()
    try:
        y, inner = _forward(f, args, kwargs, asked, None)
    finally:
        leave(outer)

    @sweeping
    @derives
    def back(y_bar: Any) -> tuple[Any, ...]:
        __tracebackhide__ = True
        outer = enter()
        try:
            found = inner(y_bar)
        except RuleLabError as error:
            complete_error(error, f, args)
            raise
        finally:
            leave(outer)
        pairs = enumerate(zip(args, asked, strict=True))
        return tuple(to_natural(x, found[1 + number]) if on else None for number, (x, on) in pairs)

    return y, back


def seed_for(y: Any, f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """A cotangent with which to run a reverse sweep: the seed of `withgradient` for a number, ones for an
    array.

    Raises ScalarOutputError if y is neither, nor a tuple that begins with a number.
    """
    if isinstance(y, np.ndarray) and y.ndim and y.dtype.kind in "fciu":
        return np.ones_like(y, dtype=np.result_type(y, float))
    return seed_of(y, f, args, several=True)


def need_positional(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise NotDifferentiableError for a call without positional arguments: there is nothing to differentiate
    with respect to.

    For callers that compare, time or show gradients, where an empty one would pass for a result.
    """
    __tracebackhide__ = True
    if args:
        return
    name = getattr(f, "__name__", None) or type(f).__name__
    if not kwargs:
        found, fix = f"{name} is called without arguments", f"give it one by position: {name}(x)"
    else:
        found = f"{name} is called without a positional argument, and keywords are constants"
        fix = f"give them by position: {name}({', '.join(kwargs)})"
    raise NotDifferentiableError(f"{found}: there is nothing to differentiate with respect to", fixes=(fix,))


def _seed(y: Any, y_bar: Any) -> Any:
    """Return a cotangent given by the caller, checked against the output it belongs to."""
    if y_bar is None:
        return ZeroTangent()
    if isinstance(y_bar, (NoTangent, ZeroTangent)):
        return ZeroTangent()
    if isinstance(y, np.ndarray) or is_number(y):
        if np.shape(y_bar) != np.shape(y):
            raise RuleShapeError(
                f"The output has shape {np.shape(y)}, but its cotangent has shape {np.shape(y_bar)}",
                asked="back(y_bar)",
                fixes=("give a cotangent of the shape of the output",),
            )
        if isinstance(y_bar, (list, tuple)):
            y_bar = np.asarray(y_bar)
        if np.iscomplexobj(y_bar) and not np.iscomplexobj(y):
            raise RuleShapeError(
                "The output is real, but its cotangent is complex",
                asked="back(y_bar)",
                fixes=("give its real part",),
            )
        return np.array(y_bar, dtype=np.result_type(y_bar, float)) if isinstance(y_bar, np.ndarray) else y_bar
    return project(y, y_bar)


class _Fingerprints:
    """Fingerprints of what a pullback keeps and other code may change, to detect a change between the two
    sweeps: arrays, containers, objects, captured variables. What the function itself has made may change: the
    pullback knows what it was.
    """

    def __init__(self, back: Any, probes: Any = None) -> None:
        found = kept_by(back, but=probes)  # probes record what the sweeps do, so they change
        self._kept = [(held, state_of(held)) for held in found if not is_own(held)]

    def check(self, f: Any) -> None:
        """Raise MutatedAfterCaptureError if one of them has changed."""
        for held, state in self._kept:
            if not is_as_it_was(held, state, may_gain=True):  # the pass cannot have read additions
                _refuse_changed(f, held)

    def take_again(self) -> None:
        """Take new fingerprints of what a rule's pullback may itself change, such as a record of its
        calls.
        """
        self._kept = [
            (held, state if isinstance(held, ndarray) or is_as_it_was(held, state) else state_of(held))
            for held, state in self._kept
        ]


def _refuse_changed(f: Any, held: Any) -> NoReturn:
    raise MutatedAfterCaptureError(
        f"{_described(held)} that the pullback of {called_name(f)} needs "
        "was changed after pullback was called",
        asked="back(y_bar)",
        fixes=("call back before changing it", "pass a copy to pullback"),
        read="limitations#changed-arrays",
    )


def _described(held: Any) -> str:
    if isinstance(held, ndarray):
        return f"An array {describe(held)}"
    name = "captured variable" if isinstance(held, types.CellType) else type(held).__name__
    return An(name)
