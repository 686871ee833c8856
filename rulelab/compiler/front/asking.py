"""What generated code asks in Python's place: for `match`, `with`, `except`, `except*`, `import`, `wraps`."""

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
    """Replaces a nested function that CPython compiled no code for; if it runs, the source was misread."""
    raise InternalError(
        "A bug in rulelab: a nested function was reached for which Python has no code",
        fixes=("report it, with the function",),
        read="limitations#wrong-transform",
    )


# --- copies -------------------------------------------------------------------------------------------------


def check_copy(owner: Any, made: Any) -> None:
    """Raise MutationError if the `copy` method of something other than an array returned an array: that array
    is about to be changed in place, and may be in use elsewhere.
    """
    if isinstance(made, np.ndarray) and not isinstance(owner, (np.ndarray, np.generic)):
        raise mutation(f"an in-place operator on the result of {type(owner).__name__}.copy", None)


# --- match --------------------------------------------------------------------------------------------------


def is_sequence(x: Any) -> bool:
    """Whether a sequence pattern may match: a list or tuple, but not a string; an array from NumPy 2.5 on."""
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
    """Whether a mapping has these keys; a mapping that creates missing values is not made to create them."""
    if len(set(keys)) < len(keys):
        twice = next(key for number, key in enumerate(keys) if key in keys[:number])
        raise ValueError(f"mapping pattern checks duplicate key ({twice!r})")
    return len(x) >= len(keys) and all(x.get(key, _NOTHING) is not _NOTHING for key in keys)


def is_instance(x: Any, cls: Any) -> bool:
    """Whether a class pattern may match; raises Python's own error if `cls` is not a class."""
    match x:
        case cls():
            return True
    return False


def matches_itself(cls: Any) -> bool:
    """Whether the single positional pattern of a class pattern matches the value itself, as in `float(x)`."""
    return not hasattr(cls, "__match_args__") and bool(cls.__flags__ & _MATCHES_ITSELF)


def matched_name(cls: Any, number: int, count: int) -> str:
    """The attribute that positional pattern `number` of `count` is matched against."""
    given = getattr(cls, "__match_args__", None)
    if type(given) is tuple and len(given) >= count and type(given[number]) is str:  # most often
        return given[number]
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
    """Whether an object has every attribute that a class pattern reads."""
    for name in names:
        if not hasattr(x, name):
            return False
    return True


# --- with ---------------------------------------------------------------------------------------------------


def manages(x: Any) -> None:
    """Raise Python's own error if `x` is not a context manager, and ours for an `ignore_derivatives()` not
    called in the `with` statement itself.
    """
    if isinstance(x, Ignored):
        raise NotDifferentiableError(
            "ignore_derivatives() must be called in the with statement itself",
            fixes=("write with rl.ignore_derivatives(): ...",),
            read="limitations#syntax",
        )
    if not has_attributes(type(x), "__enter__", "__exit__"):
        with x:  # both are looked up before entering; the wording of the error depends on the Python version
            pass


def is_ours(error: BaseException) -> bool:
    """Whether an exception is one of our own refusals, which must never be swallowed."""
    return isinstance(error, RuleLabError)


def goes_on(error: BaseException, swallowed: Any) -> bool:
    """Whether an exception propagates after `__exit__` returned `swallowed`; our own refusals always do."""
    return not swallowed or is_ours(error)


# --- except -------------------------------------------------------------------------------------------------


def is_caught(error: BaseException, kinds: Any) -> bool:
    """Whether `except kinds` catches an exception, judged by its class without `__instancecheck__`. Raises
    Python's own TypeError for a kind that is not an exception class.
    """
    return any(kind in type(error).__mro__ for kind in _classes(kinds))


def _classes(kinds: Any) -> tuple[type[BaseException], ...]:
    """The classes after `except`, given as one class or a tuple of them."""
    given = kinds if isinstance(kinds, tuple) else (kinds,)
    for kind in given:
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise TypeError("catching classes that do not inherit from BaseException is not allowed")
    return given


# --- except* ------------------------------------------------------------------------------------------------


Raised = tuple[tuple[BaseException, bool], ...]  # one per block that raised; True for bare `raise`


def none_raised() -> Raised:
    """The start value: no block of `except*` has raised anything yet."""
    return ()


def one_more(
    raised: Raised, error: BaseException, share: BaseException, caught: BaseException, again: bool
) -> Raised:
    """Add an exception to `raised`, with the context that Python would give it; a block of `except*` raised
    it while handling `share` of `caught`.
    """
    if error is share:
        error.__context__ = caught.__context__
    link = error
    while link.__context__ is not None and link.__context__ is not caught:
        link = link.__context__
    if link.__context__ is caught and link is not share:
        link.__context__ = share
    return (*raised, (error, again and error is share))


def share_of(error: BaseException | None, kinds: Any) -> BaseException | None:
    """The part of an exception that `except* kinds` handles, as a group, or None; raises Python's errors."""
    for kind in _classes(kinds):
        if issubclass(kind, BaseExceptionGroup):
            raise TypeError("catching ExceptionGroup with except* is not allowed. Use except instead.")
    if isinstance(error, BaseExceptionGroup):
        return error.split(kinds)[0]
    return BaseExceptionGroup("", [error]) if isinstance(error, kinds) else None


def left_over(error: BaseException | None, kinds: Any) -> BaseException | None:
    """The part of an exception that `except* kinds` does not handle; None if nothing is left."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(kinds)[1]
    return None if isinstance(error, kinds) else error


def regrouped(caught: BaseException, rest: BaseException | None, raised: Raised) -> BaseException | None:
    """The exception that propagates after all clauses of `except*`, from what they did not handle and what
    their blocks raised; None if there is none.
    """
    if not isinstance(caught, BaseExceptionGroup):
        return raised[0][0] if raised else rest
    new = [error for error, again in raised if not again]
    going_on = [*([] if rest is None else [rest]), *(error for error, again in raised if again)]
    leaves = set().union(*map(_leaves, going_on))
    left = caught if leaves == _leaves(caught) else caught.subgroup(lambda error: id(error) in leaves)
    parts = [*new, *([] if left is None else [left])]
    return BaseExceptionGroup("", parts) if len(parts) > 1 else next(iter(parts), None)


def _leaves(error: BaseException) -> set[int]:
    """The ids of the exceptions in a group, nested groups included."""
    if isinstance(error, BaseExceptionGroup):
        return set().union(*map(_leaves, error.exceptions))
    return {id(error)}


# --- wraps --------------------------------------------------------------------------------------------------


def take_name(wrapper: Any, function: Any) -> None:
    """What `functools.wraps(function)` does to the function it decorates. If `function` holds values, their
    derivatives would be lost through the attribute, so `__wrapped__` is a placeholder (`Behind`) for it.
    """
    functools.update_wrapper(wrapper, function)
    if callable(function) and next(inside(function), None) is not None:
        wrapper.__wrapped__ = Behind(function)


def check_wrapped(x: Any) -> None:
    """Raise NotDifferentiableError, at the line that reads `x.__wrapped__`, if that is a placeholder."""
    if isinstance(x, types.FunctionType):
        behind = vars(x).get("__wrapped__")
        if type(behind) is Behind:
            behind()


# --- import -------------------------------------------------------------------------------------------------


def module(name: str, package: str | None) -> Any:
    """The module of this name, imported if necessary."""
    return importlib.import_module(name, package)


def top_module(name: str) -> Any:
    """What `import a.b` binds: the module a, with a.b imported."""
    importlib.import_module(name)
    return importlib.import_module(name.partition(".")[0])


def from_module(name: str, package: str | None, wanted: str) -> Any:
    """What `from name import wanted` binds: an attribute of the module, or else a submodule."""
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
