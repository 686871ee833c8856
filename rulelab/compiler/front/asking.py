"""What emitted code asks of values where Python asks by itself: in `match`, `with`, `except`, `except*`,
`import`, `wraps`."""

from __future__ import annotations

import functools
import importlib
import types
from typing import Any

import numpy as np

from ...errors import InternalError, NotDifferentiableError, RuleLabError
from ...rules.programs import Behind
from ...tangents.holding import inside
from ..base.refusals import mutation
from .ignoring import Ignored

_SEQUENCE, _MAPPING = 1 << 5, 1 << 6  # Py_TPFLAGS_SEQUENCE and Py_TPFLAGS_MAPPING
_MATCHES_ITSELF = 1 << 22  # _Py_TPFLAGS_MATCH_SELF
_NOTHING = object()


# --- nested functions ---------------------------------------------------------------------------------------


def never_reached() -> None:
    """What stands where CPython made no code for a nested function: the text was misread if this runs."""
    raise InternalError(
        "A bug in rulelab: a nested function was reached for which Python has no code",
        fixes=("report it, with the function",),
        read="limitations#wrong-transform",
    )


# --- copies -------------------------------------------------------------------------------------------------


def check_copy(owner: Any, made: Any) -> None:
    """MutationError for an array that the `copy` method of something else than an array has given: it may
    be one that others hold, and it is changed in place.
    """
    if isinstance(made, np.ndarray) and not isinstance(owner, (np.ndarray, np.generic)):
        raise mutation(f"an operator in place on what {type(owner).__name__}.copy gave", None)


# --- match --------------------------------------------------------------------------------------------------


def is_sequence(x: Any) -> bool:
    """Whether a sequence pattern may match: a list, a tuple, but no text; an array from NumPy 2.5 on."""
    return bool(type(x).__flags__ & _SEQUENCE)


def is_mapping(x: Any) -> bool:
    """Whether a mapping pattern may match."""
    return bool(type(x).__flags__ & _MAPPING)


def has_length(x: Any, count: int) -> bool:
    """Whether a sequence has this many items."""
    return len(x) == count


def has_at_least(x: Any, count: int) -> bool:
    """Whether a sequence has this many items or more."""
    return len(x) >= count


def has_keys(x: Any, *keys: Any) -> bool:
    """Whether a mapping has these keys; one that makes up missing values is not asked to."""
    if len(set(keys)) < len(keys):
        twice = next(key for number, key in enumerate(keys) if key in keys[:number])
        raise ValueError(f"mapping pattern checks duplicate key ({twice!r})")
    return len(x) >= len(keys) and all(x.get(key, _NOTHING) is not _NOTHING for key in keys)


def is_instance(x: Any, cls: Any) -> bool:
    """Whether a class pattern may match; Python's own error, worded as it is there, for what is no class."""
    match x:
        case cls():
            return True
    return False


def matches_itself(cls: Any) -> bool:
    """Whether the one positional pattern of a class pattern stands for the value: `float(x)`."""
    return not hasattr(cls, "__match_args__") and bool(cls.__flags__ & _MATCHES_ITSELF)


def matched_name(cls: Any, number: int, count: int) -> str:
    """The attribute that positional pattern `number` of `count` stands for."""
    if matches_itself(cls):
        raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({count} given)")
    names = getattr(cls, "__match_args__", ())
    if not isinstance(names, tuple):
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(names).__name__})")
    if len(names) < count:
        allowed = f"{len(names)} positional sub-pattern{'' if len(names) == 1 else 's'}"
        raise TypeError(f"{cls.__name__}() accepts {allowed} ({count} given)")
    name = names[number]
    if not isinstance(name, str):
        raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
    return name


def has_attributes(x: Any, *names: str) -> bool:
    """Whether an object has every attribute that a class pattern looks at."""
    return all(hasattr(x, name) for name in names)


# --- with ---------------------------------------------------------------------------------------------------


def manages(x: Any) -> None:
    """Python's own error for what `with` cannot take; what is known by its name only must be called by it."""
    if isinstance(x, Ignored):
        raise NotDifferentiableError(
            "ignore_derivatives() must be called in the with statement itself",
            fixes=("with rl.ignore_derivatives(): ...",),
            read="limitations#syntax",
        )
    if not has_attributes(type(x), "__enter__", "__exit__"):
        with x:  # both are looked up before anything is entered, and each Python has words of its own for it
            pass


def is_ours(error: BaseException) -> bool:
    """Whether an exception is a refusal of ours, which nobody may swallow."""
    return isinstance(error, RuleLabError)


def goes_on(error: BaseException, swallowed: Any) -> bool:
    """Whether an exception goes on after `__exit__` has answered."""
    return not swallowed or is_ours(error)


# --- except -------------------------------------------------------------------------------------------------


def is_caught(error: BaseException, kinds: Any) -> bool:
    """Whether `except kinds` takes an exception, by its class and not by `__instancecheck__`. Python's own
    error.
    """
    return any(kind in type(error).__mro__ for kind in _classes(kinds))


def _classes(kinds: Any) -> tuple[type[BaseException], ...]:
    """What stands after `except`, one class or a tuple of them."""
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    for kind in given:
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return given


# --- except* ------------------------------------------------------------------------------------------------


Raised = tuple[tuple[BaseException, bool], ...]  # by blocks of `except*`; whether by a bare `raise`


def none_raised() -> Raised:
    """What the blocks of `except*` have raised before the first."""
    return ()


def one_more(
    raised: Raised, error: BaseException, share: BaseException, caught: BaseException, again: bool
) -> Raised:
    """What they have raised so far, and one more; it was raised while its share was handled."""
    if error is share:
        error.__context__ = caught.__context__
    link = error
    while link.__context__ is not None and link.__context__ is not caught:
        link = link.__context__
    if link.__context__ is caught and link is not share:
        link.__context__ = share
    return (*raised, (error, again and error is share))


def share_of(error: BaseException | None, kinds: Any) -> BaseException | None:
    """What `except* kinds` takes of an exception, as a group; None if nothing. Python's own errors."""
    for kind in _classes(kinds):
        if issubclass(kind, BaseExceptionGroup):
            raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    if isinstance(error, BaseExceptionGroup):
        return error.split(kinds)[0]
    return BaseExceptionGroup("", [error]) if isinstance(error, kinds) else None


def left_over(error: BaseException | None, kinds: Any) -> BaseException | None:
    """What `except* kinds` leaves of an exception; None if nothing."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(kinds)[1]
    return None if isinstance(error, kinds) else error


def regrouped(caught: BaseException, rest: BaseException | None, raised: Raised) -> BaseException | None:
    """What goes on after all clauses of `except*`: what they left over, beside what their blocks raised."""
    if not isinstance(caught, BaseExceptionGroup):
        return raised[0][0] if raised else rest
    new = [error for error, again in raised if not again]
    going_on = [*([] if rest is None else [rest]), *(error for error, again in raised if again)]
    leaves = set().union(*map(_leaves, going_on))
    left = caught if leaves == _leaves(caught) else caught.subgroup(lambda error: id(error) in leaves)
    parts = [*new, *([] if left is None else [left])]
    return BaseExceptionGroup("", parts) if len(parts) > 1 else next(iter(parts), None)


def _leaves(error: BaseException) -> set[int]:
    """The exceptions in a group, by identity."""
    if isinstance(error, BaseExceptionGroup):
        return set().union(*map(_leaves, error.exceptions))
    return {id(error)}


# --- wraps --------------------------------------------------------------------------------------------------


def take_name(wrapper: Any, function: Any) -> None:
    """What `functools.wraps(function)` does to the function that it decorates. Where the function holds
    values, no attribute would keep their derivatives, and `__wrapped__` is only what stands for it.
    """
    functools.update_wrapper(wrapper, function)
    if callable(function) and next(inside(function), None) is not None:
        wrapper.__wrapped__ = Behind(function)


def check_wrapped(x: Any) -> None:
    """NotDifferentiableError before `x.__wrapped__` is read by that name, with the line that reads it."""
    if isinstance(x, types.FunctionType):
        behind = vars(x).get("__wrapped__")
        if type(behind) is Behind:
            behind()


# --- import -------------------------------------------------------------------------------------------------


def module(name: str, package: str | None) -> Any:
    """The module of this name, imported if it was not yet."""
    return importlib.import_module(name, package)


def top_module(name: str) -> Any:
    """What `import a.b` binds: the module a, with a.b imported."""
    importlib.import_module(name)
    return importlib.import_module(name.partition(".")[0])


def from_module(name: str, package: str | None, wanted: str) -> Any:
    """What `from name import wanted` binds: an attribute of the module, else a module inside it."""
    if name.startswith(".") and not package:
        raise ImportError("attempted relative import with no known parent package")
    found = importlib.import_module(name, package)
    try:
        return getattr(found, wanted)
    except AttributeError:
        pass
    inner = f"{found.__name__}.{wanted}"
    try:
        return importlib.import_module(inner)
    except ModuleNotFoundError as error:
        if error.name != inner:
            raise
    where = getattr(found, "__file__", None) or "unknown location"
    raise ImportError(
        f"cannot import name {wanted!r} from {found.__name__!r} ({where})", name=found.__name__, path=where
    )
