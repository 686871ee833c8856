"""What a call itself raises in plain Python: the author's mistake, not a limit of rulelab."""

from __future__ import annotations

import collections
import operator
import types
import warnings
from typing import Any

import numpy as np

from ...python_facts import CONTAINERS, IN_PLACE, STUBS, WRITING_OPERATORS
from ...rules.binding import Binder, plain_names
from ..analysis.effects import is_side_effect_free
from ..base.classes import BINARY, is_declined, is_of_c
from ..base.libraries import is_library
from ..memory import heap

_OF_C = (
    *(types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType),
    *(types.ClassMethodDescriptorType, np.ufunc, type(np.sum)),
)
_MODULES = ("builtins", "collections", "itertools", "functools", "numpy")
# With these a ufunc writes to memory that is seen elsewhere, or leaves part of its result unset; those of
# scipy.special even write beyond that memory.
_LEFT_ALONE = frozenset(("out", "where"))
_MOST_FITTING = 4096
# Functions, with the number of arguments and the keywords that they have been found to accept.
_FITTING: set[tuple[Any, int, tuple[str, ...]]] = set()


def own_error(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    """The error that a call raises in plain Python, if it raises one and trying it has no visible effect;
    else None. Tried before a call is refused.
    """
    if not fits(target, args, kwargs):
        return _misfit(target, args, kwargs)
    if is_of_c(target):  # another target may not be hashable
        if is_declined(target, args) or (target in BINARY and all(type(x) in _COUNTED for x in args)):
            return _raised(target, args, kwargs)
        if target in _IN_PLACE:
            return failing_in_place(target, args)
    if (
        not is_side_effect_free(target)
        or target in WRITING_OPERATORS
        or not all(map(_is_data, (*args, *kwargs.values())))
        or (isinstance(target, np.ufunc) and _is_let_write(target, args, kwargs))
    ):
        return None
    return _raised(target, args, kwargs)


def failing_in_place(target: Any, args: tuple[Any, ...]) -> Exception | None:
    """The error that an in-place operator such as `xs *= 1.5` raises, found on a copy of the container; else
    None.
    """
    if not is_of_c(target) or target not in _IN_PLACE:
        return None
    if type(args[0]) not in CONTAINERS or not _is_data(args[1]):
        return None
    return _raised(target, (args[0].copy(), args[1]), {})


def _is_let_write(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return len(args) > ufunc.nin or not _LEFT_ALONE.isdisjoint(kwargs)


def refuse_misfit(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises the error of a call of a C or library function whose arguments it does not accept. A rule in
    Python might accept them, or complain in its own words.
    """
    if type(target) is types.FunctionType and len(args) == target.__code__.co_argcount and not kwargs:
        return  # the usual call of a Python function, which itself complains about a missing keyword
    if fits(target, args, kwargs):
        return
    found = _misfit(target, args, kwargs)
    if found is not None:
        raise found


def fits(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a third-party function accepts this many arguments and these keywords, as far as known."""
    if type(target) is types.FunctionType:
        return not is_library(target) or _binds(target, args, kwargs)
    if not (isinstance(target, _OF_C) or _is_class_of_c(target)):
        return True
    known_by = _known_by(target)
    shape = (known_by, len(args), tuple(kwargs) if kwargs else ())
    if shape in _FITTING:
        return True
    if isinstance(target, np.ufunc):
        found = target.nin <= len(args) <= target.nargs
    else:
        described = STUBS.get(target, target)
        names = None if kwargs else plain_names(described)
        found = _binds(described, args, kwargs) if names is None else len(names) == len(args)
    if found:
        if len(_FITTING) >= _MOST_FITTING:
            _FITTING.clear()
        if known_by is not None:
            _FITTING.add(shape)
    return found


def _binds(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        Binder.of(target).bind(args, kwargs)
    except TypeError:
        return False
    return True


def _misfit(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    return _raised(target, tuple(map(_copied, args)), kwargs)


def _known_by(target: Any) -> Any:
    """The object under which the parameters of a C function or class are remembered: the target itself, but
    for a bound method that of the class, so that its object is not kept alive; None if there is none.
    """
    if type(target) is not types.BuiltinFunctionType:
        return target
    owner = target.__self__
    if owner is None or type(owner) is types.ModuleType:
        return target
    method = None if isinstance(owner, type) else getattr(type(owner), target.__name__, None)
    return method if type(method) is types.MethodDescriptorType else None


def _is_class_of_c(target: Any) -> bool:
    return isinstance(target, type) and target.__module__ in _MODULES


def _copied(x: Any) -> Any:
    """An argument for a call that should fail; if it does not, it has written to a copy."""
    return x.copy() if type(x) in (*heap.KINDS, np.ndarray) else x


def _raised(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target(*args, **kwargs)
    except Exception as error:
        return error
    return None


def _is_data(x: Any) -> bool:
    """Whether operations on a value run none of the author's code: numbers, texts, arrays and containers of
    these.
    """
    waiting, seen = [x], set()
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind in _HOLDING:
            if id(item) not in seen:
                seen.add(id(item))
                waiting += (*item.keys(), *item.values()) if issubclass(kind, dict) else item
        elif not (kind in _SCALARS or issubclass(kind, np.generic) or _is_plain_array(item)):
            return False
    return True


def _is_plain_array(x: Any) -> bool:
    return type(x) is np.ndarray and not x.dtype.hasobject


_SCALARS = (int, float, complex, bool, str, bytes, type(None))
# Arithmetic on these examines no items.
_COUNTED = (list, tuple, collections.deque, int, float, complex, bool, type(None))
_HOLDING = (list, tuple, set, frozenset, dict, collections.OrderedDict, collections.deque)
_IN_PLACE = frozenset(getattr(operator, name) for name in IN_PLACE.values())
