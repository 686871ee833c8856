"""What can be told about objects by their class: who wrote it, which methods Python calls, what it makes
objects of.
"""

from __future__ import annotations

import builtins
import collections
import functools
import math
import operator
import random
import types
import typing
from typing import Any

import numpy as np

from ...python_facts import OPERATORS
from ...tangents.classes import made_by_python
from ...tangents.one import One
from ...tangents.structural import Tangent, is_namedtuple
from .libraries import is_of_library

BINARY = {getattr(operator, each.name): each.methods for each in OPERATORS}
BINARY[builtins.pow] = BINARY[operator.pow]
BINARY[builtins.divmod] = ("__divmod__", "__rdivmod__")
FIRST = {
    operator.neg: "__neg__",
    operator.pos: "__pos__",
    operator.invert: "__invert__",
    operator.abs: "__abs__",
    builtins.abs: "__abs__",
    operator.getitem: "__getitem__",
    builtins.float: "__float__",
    builtins.complex: "__complex__",
    builtins.int: "__int__",
    builtins.round: "__round__",
    math.floor: "__floor__",
    math.ceil: "__ceil__",
    math.trunc: "__trunc__",
    builtins.reversed: "__reversed__",
    builtins.iter: "__iter__",
    builtins.next: "__next__",
}


# Random generators: the only state of such an object is its position in a stream of random numbers.
GENERATORS = frozenset({random.Random, np.random.Generator, np.random.RandomState})

_NUMBERS = (int, float, complex)
_READ_AS_NUMBERS = ("__float__", "__complex__", "__index__", "__trunc__")
LIKE_ARRAYS = ("__len__", "__getitem__", "__array__", "__array_interface__", "__array_struct__")
_LOOKING_INSIDE = (operator.getitem, builtins.reversed, builtins.iter, builtins.next)


def is_declined(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether the classes of the operands lack a method for an operator or a conversion, so that Python
    raises its own error before running any code.
    """
    if target in BINARY and len(args) == 2:
        return all(_declines(x, name, other) for x, name, other in zip(args, BINARY[target], args[::-1]))
    if target not in FIRST or target in _LOOKING_INSIDE or not args:
        return False
    return not any(_has(type(args[0]), name) for name in (FIRST[target], *_READ_AS_NUMBERS))


def _declines(x: Any, name: str, other: Any) -> bool:
    """Whether a value's own class cannot handle an operator with another value."""
    kind = type(x)
    if written_in_python(kind, name) is not None:
        return False
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.dtype != object):
        # NumPy treats the other value as a scalar, and calls the method of its class.
        return not any(hasattr(type(other), each) for each in LIKE_ARRAYS)
    return issubclass(kind, _NUMBERS) or not _has(kind, name)


def _has(kind: type, name: str) -> bool:
    return in_class(kind, name) is not None


def is_author_class(kind: type) -> bool:
    """Whether a class was made by a class statement outside NumPy and this package, or is one of those in
    `_OF_RULES`, whose methods rules compute with.
    """
    if not made_by_python(kind) or kind in GENERATORS:
        return False
    return kind.__module__.partition(".")[0] not in ("numpy", "rulelab") or kind in _OF_RULES


_OF_RULES = (Tangent, One)


def is_of_c(target: Any) -> bool:
    """Whether a callable is a builtin function or a plain class, and so can be looked up in a table."""
    return type(target) is type or isinstance(target, types.BuiltinFunctionType)


def written_in_python(kind: type, name: str) -> Any:
    """The method of a class that is written in Python; None if there is none."""
    found = getattr(kind, name, None)
    return found if isinstance(found, types.FunctionType) else None


def hands_out_its_own(x: Any) -> bool:
    """Whether a list, tuple or dict of an author's class may yield other items than it contains."""
    kind = type(x)
    return (
        isinstance(x, (list, tuple, dict))
        and is_author_class(kind)
        and any(written_in_python(kind, name) is not None for name in _ITEM_METHODS)
    )


_ITEM_METHODS = ("__iter__", "__getitem__", "__len__", "keys", "values", "items")


def holds_callable(owner: Any, name: str) -> bool:
    """Whether `owner.name` is a value that happens to be callable, not a method of the owner's class."""
    if isinstance(owner, (types.ModuleType, type, np.ndarray, np.generic, types.FunctionType)):
        return False
    if isinstance(owner, super):
        return False
    found = in_class(type(owner), name)
    if name in getattr(owner, "__dict__", ()):
        return not hasattr(type(found), "__set__") or isinstance(found, property)
    if isinstance(
        found, (property, functools.cached_property, functools.partialmethod, types.MemberDescriptorType)
    ):
        return True
    if found is None:
        return written_in_python(type(owner), "__getattr__") is not None
    return written_in_python(type(found), "__get__") is not None


def is_dispatcher(target: Any) -> bool:
    """Whether a function was made by `functools.singledispatch`, which chooses by an argument's class."""
    return isinstance(target, types.FunctionType) and target.__code__ is _DISPATCHER


def chosen_by(dispatcher: types.FunctionType, args: tuple[Any, ...]) -> Any:
    """The function that one made by `functools.singledispatch` calls for these arguments. It is looked up in
    the closure: the attribute `dispatch` is missing from a copy of the function.
    """
    cells = dict(zip(dispatcher.__code__.co_freevars, dispatcher.__closure__ or (), strict=True))
    return cells["dispatch"].cell_contents(args[0].__class__)


_DISPATCHER = functools.singledispatch(lambda x: x).__code__  # type: ignore[attr-defined]


def dispatched(owner: Any, name: str, args: tuple[Any, ...]) -> Any:
    """The function that `functools.singledispatchmethod` chooses for `owner.name(*args)`; None for others."""
    found = in_class(type(owner), name)
    if not isinstance(found, functools.singledispatchmethod) or not args:
        return None
    chosen = found.dispatcher.dispatch(args[0].__class__)
    return chosen if isinstance(chosen, types.FunctionType) else None


def in_class(kind: type, name: str) -> Any:
    """The class attribute of this name, with no descriptor called; None if there is none."""
    for cls in kind.__mro__:
        if name in cls.__dict__:
            return cls.__dict__[name]
    return None


def is_authors(cls: Any) -> bool:
    """Whether the objects of a class are made from its arguments only, and hide none of them."""
    if isinstance(cls, type) and is_namedtuple(cls) and is_generated(cls.__new__):
        return True
    return (
        isinstance(cls, type)
        and type(cls).__call__ is type.__call__
        and not issubclass(cls, (BaseException, tuple, int, float, str))
        and (cls in _MADE_WHOLE or cls.__new__ in PLAIN_NEW)
        and (cls in _MADE_WHOLE or cls.__module__ not in ("builtins", "numpy"))
    )


def makes_empty(target: Any, args: tuple[Any, ...]) -> bool:
    """Whether the call is `C.__new__(C)` of an author's class, which makes an object without attributes."""
    if len(args) != 1 or not isinstance(args[0], type) or not any(target is new for new in PLAIN_NEW):
        return False
    return args[0].__new__ in PLAIN_NEW and is_authors(args[0])


def container_base(cls: type) -> type | None:
    """The built-in container (one of `CONTAINER_BASES`) that a container class derives from; None for other
    classes, and for those that redefine how items are read or written.
    """
    if not issubclass(cls, CONTAINER_BASES):
        return None
    if not (is_author_class(cls) and (cls is collections.Counter or not is_of_library(cls))):
        return None
    base = next(base for base in CONTAINER_BASES if issubclass(cls, base))
    if cls.__new__ is not base.__new__ or issubclass(cls, collections.defaultdict):
        return None
    kinds = cls.__mro__[: cls.__mro__.index(base)]
    said = {name for kind in kinds if kind is not collections.Counter for name in vars(kind)}
    return None if said & set(_SAYS_ITSELF) else base


def is_generated(function: Any) -> bool:
    """Whether a method was generated by `dataclass` or `namedtuple`, not written by an author."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(("<string>", "<dataclass"))


CONTAINERS = (collections.deque, collections.defaultdict, collections.OrderedDict)
_MADE_WHOLE = (*CONTAINERS, types.SimpleNamespace)  # C classes whose objects contain their arguments
PLAIN_NEW = (object.__new__, typing.Generic.__new__)  # these make an object and do nothing with it

CONTAINER_BASES = (list, collections.deque, collections.OrderedDict, dict, set)
_SAYS_ITSELF = (
    *("__len__", "__iter__", "__contains__", "__getattribute__"),
    *("__getitem__", "__setitem__", "__delitem__"),
)
