"""Whether code of the author's that runs without being followed (behind operators, attributes, items and
loops over constants) certainly does no more than return a value, judged by its source.

A method that is called by name goes through a pass and needs no such check. Only what is proved counts:
code whose source leaves anything open is taken to have effects, which may include refilling arrays that it
returned.
"""

from __future__ import annotations

import array
import ast
import builtins
import dataclasses
import datetime
import decimal
import fractions
import functools
import gc
import itertools
import types
import weakref
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from ...errors import RuleLabError
from ...rules.registry import DEFAULT
from ..base.classes import BINARY, FIRST, in_class, is_generated
from ..base.libraries import is_library, is_of_library
from ..base.purity import HARMLESS
from ..base.source import find_source
from ..memory.heap import KINDS, LEAVES
from ..memory.holding import fields_of
from .effects import Noted, is_side_effect_free, side_effect_of_call

# The methods of a class through which operators, loops and C code run its author's code.
OPERATORS = frozenset(
    {"__iter__", "__next__", "__len__", "__length_hint__", "__contains__", "__missing__", "__bool__"}
    | {"__index__", "__hash__", "__format__", "__str__", "__repr__"}
    | {"__array__", "__array_ufunc__", "__array_function__", "__array_interface__", "__array_struct__"}
    | {f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne")}
    | {name for pair in BINARY.values() for name in pair}
    | set(FIRST.values())
)
_READERS = ("__getattribute__", "__getattr__")
_MAKING = ("__init__", "__post_init__", "__new__")
_MOST_OBJECTS = 1000  # in a list or dict, each of which is checked; with more, the answer is no
_DEPTH = 6
_DATA = (
    *LEAVES,
    *(range, slice, np.dtype, np.ufunc, Enum, memoryview, bytearray, array.array, types.GenericAlias),
    *(types.FunctionType, types.BuiltinFunctionType, types.MethodType),  # checked where they are called
    *(datetime.date, datetime.timedelta, decimal.Decimal, fractions.Fraction, property, Ellipsis.__class__),
)
_CONTAINERS = frozenset(
    {list, tuple, set, frozenset, deque, dict, OrderedDict, defaultdict, Counter, ChainMap}
)
_MOST_ARGUMENTS = 2  # of a NumPy function: a third one may be the output
_PURE_MODULES = ("numpy", "math", "cmath", "operator", "_operator", "itertools")

Paths = frozenset[tuple[str, ...]]
_NONE: Paths = frozenset()


def is_pure(x: Any, attribute: str | None = None, depth: int = _DEPTH) -> bool:
    """Whether reading an attribute of `x` (or, if None, using its operators, items and loops) certainly does
    no more than return a value.
    """
    kind = type(x)
    if isinstance(x, _DATA) and (kind.__module__ in ("builtins", "numpy") or is_of_library(kind)):
        return True
    if kind in KINDS:
        return True
    if kind in _CONTAINERS:
        return attribute is not None or _are_pure_inside(x, depth)
    if is_of_library(kind):
        return attribute is not None or not hasattr(kind, "__next__") or _is_pure_iterator(x, depth)
    paths = reads(kind, attribute)
    return paths is not None and all(depth > 0 and _are_data(x, path, depth - 1) for path in paths)


def _are_pure_inside(x: Any, depth: int) -> bool:
    """Whether `is_pure` holds for everything in a container and in those inside it, keys included."""
    level = [x]
    while level:
        parts = list(itertools.chain.from_iterable(map(_parts_of, level)))
        if (parts and depth <= 0) or not all(map(_makes_purely, level)):
            return False
        kinds = set(map(type, parts))
        open_kinds = {kind for kind in kinds if kind not in _CONTAINERS and not of_class(kind)}
        objects = [part for part in parts if type(part) in open_kinds] if open_kinds else []
        if len(objects) > _MOST_OBJECTS or not all(is_pure(part, None, depth - 1) for part in objects):
            return False
        inner = {id(part): part for part in parts if type(part) in _CONTAINERS} if kinds & _CONTAINERS else {}
        level = list(inner.values())  # each once: a list may hold itself many times
        depth -= 1
    return True


def _makes_purely(x: Any) -> bool:
    """Whether the value that a container makes for a missing key, if any, is certainly made purely."""
    return not isinstance(x, defaultdict) or x.default_factory is None or is_pure_function(x.default_factory)


def _parts_of(x: Any) -> Iterable[Any]:
    """The contents of a container, listed without hashing or comparing its keys."""
    if isinstance(x, ChainMap):
        return x.maps
    return (*x, *x.values()) if isinstance(x, dict) else x


def of_class(kind: type, attribute: str | None = None) -> bool:
    """Whether `is_pure` holds for every object of a class, whatever it contains."""
    if kind in _CONTAINERS:
        return True  # its items are checked where they are used
    if kind in KINDS or (issubclass(kind, _DATA) and kind.__module__ in ("builtins", "numpy")):
        return True
    if is_of_library(kind):
        return attribute is not None or not hasattr(kind, "__next__")
    return reads(kind, attribute) == _NONE


def _is_pure_iterator(x: Any, depth: int) -> bool:
    """Whether an iterator of a library certainly runs no code with effects."""
    kind = type(x)
    if isinstance(x, (types.GeneratorType, np.nditer)) or depth <= 0:
        return False
    if kind.__module__ not in ("builtins", "itertools", "_collections"):
        return True  # such as a file, whose lines are only text
    return all(_is_pure_part(part, depth - 1) for part in gc.get_referents(x) if part is not kind)


def _is_pure_part(x: Any, depth: int) -> bool:
    if isinstance(x, (types.FunctionType, types.MethodType)):
        return is_pure_function(x)
    return is_side_effect_free(x) if isinstance(x, types.BuiltinFunctionType) else is_pure(x, None, depth)


def _are_data(x: Any, path: tuple[str, ...], depth: int) -> bool:
    """Whether the value at a path of fields certainly runs no code with effects when it is used."""
    for name in path:
        if name is _OF_PYTHON:
            return is_of_library(type(x))
        field = fields_of(x).get(name, _NOTHING)
        if field is _NOTHING:
            found = in_class(type(x), name)
            if isinstance(found, types.MemberDescriptorType):
                field = getattr(x, name, None)
            elif found is None or hasattr(type(found), "__get__"):
                return found is not None and (is_of_library(type(x)) or is_pure(x, name, depth))
            else:
                field = found
        x = field
    return is_pure(x, None, depth)


_NOTHING = object()
_OF_PYTHON = "()"  # at the end of a path: the value's class must be a library's, since a method is called

_KNOWN: weakref.WeakKeyDictionary[type, dict[str | None, Paths | None]] = weakref.WeakKeyDictionary()


def reads(kind: type, attribute: str | None) -> Paths | None:
    """The fields read by the code behind an attribute of a class, or behind its operators; None if that code
    may do more than read.
    """
    known = _KNOWN.setdefault(kind, {})
    if attribute not in known:
        known[attribute] = None  # not proved if the class leads back to itself
        known[attribute] = _found(kind, attribute)
    return known[attribute]


def _found(kind: type, attribute: str | None) -> Paths | None:
    found: set[tuple[str, ...]] = set()
    for function in _entries(kind, attribute):
        paths = None if function is None else _read(function, kind, frozenset())
        if paths is None:
            return None
        found |= paths
    return frozenset(found)


def _entries(kind: type, attribute: str | None) -> Iterator[types.FunctionType | None]:
    """The functions behind an attribute, or behind the operators; None for code that cannot be read."""
    if attribute is None:
        for cls in kind.__mro__:
            if not is_of_library(cls):
                for name in OPERATORS & vars(cls).keys():
                    if not _by_library(vars(cls)[name]):
                        yield from _behind(vars(cls)[name])
        return
    for name in _READERS:
        reader = in_class(kind, name)
        if isinstance(reader, types.FunctionType):
            yield reader
    yield from _behind(in_class(kind, attribute), reading=True)


def _by_library(found: Any) -> bool:
    """Whether a method was written by a library, as by `dataclass`, to compare or show the fields."""
    return isinstance(found, types.FunctionType) and (is_library(found) or is_generated(found))


def _behind(found: Any, reading: bool = False) -> Iterator[types.FunctionType | None]:
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif reading:  # a method or class attribute, for which no code runs, or a descriptor
        getter = getattr(type(found), "__get__", None)
        if isinstance(getter, types.FunctionType) and not is_library(getter):
            yield getter
        return
    if isinstance(found, types.FunctionType):
        yield found
    elif found is not None:
        # A C method, such as `__add__ = float.__add__`, only returns a value.
        if not isinstance(found, types.WrapperDescriptorType) or not is_of_library(found.__objclass__):
            yield None


_FUNCTIONS: weakref.WeakKeyDictionary[types.FunctionType, bool] = weakref.WeakKeyDictionary()
_TEXTS: weakref.WeakKeyDictionary[types.CodeType, bool] = weakref.WeakKeyDictionary()
_CODE = types.CodeType


def is_pure_function(x: Any) -> bool:
    """Whether the source of a function shows that calling it does no more than return a value."""
    function = x.__func__ if isinstance(x, types.MethodType) else x
    if not isinstance(function, types.FunctionType):
        return is_side_effect_free(function)
    code = function.__code__
    if not (code.co_names or _CODE in map(type, code.co_consts) or is_library(function)):
        # the answer depends on its text only
        if code not in _TEXTS:
            _TEXTS[code] = _read(function, None, frozenset()) == _NONE
        return _TEXTS[code]
    if function not in _FUNCTIONS:
        _FUNCTIONS[function] = _read(function, None, frozenset()) == _NONE
    return _FUNCTIONS[function]


# --- the source ---------------------------------------------------------------------------------------------


class _Open(Exception):
    """The source does not show what the code does."""


def _read(
    function: types.FunctionType, kind: type | None, around: frozenset[Any], making: bool = False
) -> Paths | None:
    """The fields of its first argument, an object of `kind`, that a function reads; None if its source does
    not show that it only reads.
    """
    if function.__code__ in around:
        return _NONE
    if is_library(function):
        return None
    try:
        reader = _Reader(function, kind, around | {function.__code__}, making)
        reader.run()
    except (_Open, RuleLabError, RecursionError):
        return None
    return frozenset(reader.paths)


_LOCAL: dict[int, tuple[weakref.ref[types.CodeType], frozenset[str]]] = {}


def _local_names(code: types.CodeType, node: Any) -> frozenset[str]:
    """The names that are local in a function or in one inside it. They are cached by code, so that a function
    that is made again in each step is walked once.
    """
    number = id(code)
    known = _LOCAL.get(number)
    if known is None or known[0]() is not code:
        names = {*code.co_varnames, *code.co_freevars, *code.co_cellvars}
        names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _binds(n)}
        names |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        known = _LOCAL[number] = weakref.ref(code, lambda gone: _forget(number, gone)), frozenset(names)
    return known[1]


def _forget(number: int, gone: object) -> None:
    known = _LOCAL.get(number)
    if known is not None and known[0] is gone:
        del _LOCAL[number]


class _Reader:
    """Walks the source of one function; raises `_Open` at anything whose effects it does not show."""

    def __init__(
        self, function: types.FunctionType, kind: type | None, around: frozenset[Any], making: bool
    ) -> None:
        code = function.__code__
        self.kind, self.around, self.making = kind, around, making
        self.names = function.__globals__
        self.node = find_source(code).node
        self.own = code.co_varnames[0] if kind is not None and code.co_argcount else None
        if code.co_freevars not in ((), ("__class__",)):
            raise _Open  # captured variables may be anything
        self.local = _local_names(code, self.node)
        self.paths: set[tuple[str, ...]] = set()

    def run(self) -> None:
        body = self.node.body
        for node in body if isinstance(body, list) else [body]:
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, _REFUSED):
            raise _Open
        method = getattr(self, f"visit_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
        else:
            for child in _RUNNING.get(type(node), ast.iter_child_nodes)(node):
                self.visit(child)

    def visit_subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            raise _Open
        self.visit(node.value)
        self.visit(node.slice)

    def visit_augassign(self, node: ast.AugAssign) -> None:
        """`n += 1` is accepted for a number or text that the function started; else it may be a write."""
        if not isinstance(node.target, ast.Name) or not self.begins_with_constant(node.target.id):
            raise _Open
        self.visit(node.value)

    def begins_with_constant(self, name: str) -> bool:
        bound = [n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == name and _binds(n)]
        begun = [
            target
            for n in ast.walk(self.node)
            if isinstance(n, ast.Assign)
            for target, value in _pairs(n.targets[0], n.value)
            if isinstance(value, ast.Constant) and target in bound
        ]
        updated = [n for n in ast.walk(self.node) if isinstance(n, ast.AugAssign) and n.target in bound]
        return len(begun) + len(updated) == len(bound)

    def visit_name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id not in self.local:
            value = self.names.get(node.id, vars(builtins).get(node.id))
            if isinstance(value, types.FunctionType) and not is_library(value):
                self.follow(value, None)  # passed on, perhaps to be called
            elif isinstance(value, type) and not is_of_library(value):
                self.made(value)
            elif not is_pure(value) and not is_pure_call(value, 0):
                raise _Open

    def visit_attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            if self.making and isinstance(node.value, ast.Name) and node.value.id == self.own:
                return  # an incomplete object, which nothing else refers to
            raise _Open
        root, path = _chain(node)
        if isinstance(root, ast.Name) and root.id == self.own and root.id is not None:
            self.read_field(path)
        elif isinstance(root, ast.Name) and root.id not in self.local:
            self.visit_name(root)
        else:
            self.visit(root)

    def read_field(self, path: tuple[str, ...]) -> None:
        """`self.a.b`: a field, whose value is checked later; the code of a property or method is followed."""
        found = in_class(self.kind, path[0]) if self.kind is not None else None
        behind = list(_behind(found, reading=True))
        if isinstance(found, types.FunctionType):  # passed on, perhaps to be called
            behind = [found]
        for function in behind:
            self.follow(function, self.kind)
        if not behind:
            self.paths.add(path)

    def follow(self, function: Any, kind: type | None, making: bool = False) -> None:
        """Add what a function reads; raises `_Open` if its source does not show that it only reads."""
        paths = _read(function, kind, self.around, making) if function is not None else None
        if paths is None:
            raise _Open
        if kind is self.kind:
            self.paths |= paths

    # -- calls -----------------------------------------------------------------------------------------------

    def visit_call(self, node: ast.Call) -> None:
        for argument in (*node.args, *(word.value for word in node.keywords)):
            self.visit(argument)
        if any(word.arg in ("out", None) for word in node.keywords):
            raise _Open
        function = node.func
        if isinstance(function, ast.Attribute):
            self.called_attribute(function, node)
        elif isinstance(function, ast.Name) and function.id not in self.local:
            self.called(self.names.get(function.id, vars(builtins).get(function.id)), node)
        elif isinstance(function, ast.Call) and _is_name(function.func, "type") and self.kind is not None:
            self.visit(function)  # type(self)(…)
            self.made(self.kind)
        else:
            raise _Open

    def called_attribute(self, function: ast.Attribute, node: ast.Call) -> None:
        root, path = _chain(function)
        if isinstance(root, ast.Name) and root.id not in self.local:
            value = self.names.get(root.id)
            for name in path if isinstance(value, (types.ModuleType, type)) else ():
                value = getattr(value, name, None)
            if isinstance(self.names.get(root.id), (types.ModuleType, type)):
                self.called(value, node)
                return
        if isinstance(root, ast.Call) and _is_name(root.func, "super") and self.kind is not None:
            self.of_bases(path)
            return
        if isinstance(root, ast.Name) and root.id == self.own and len(path) == 1 and self.kind is not None:
            found = in_class(self.kind, path[0])
            if path[0] == "__class__":
                self.made(self.kind)
                return
            if not isinstance(found, types.FunctionType):
                raise _Open
            self.follow(found, self.kind)
            return
        if path[-1] not in HARMLESS:
            raise _Open
        if isinstance(root, ast.Name) and root.id == self.own:
            self.paths.add((*path[:-1], _OF_PYTHON))
        self.visit(function.value)

    def of_bases(self, path: tuple[str, ...]) -> None:
        """`super().name(…)`: follow every method of that name in the bases, any of which may be called."""
        for cls in self.kind.__mro__ if self.kind is not None else ():
            found = vars(cls).get(path[0])
            if isinstance(found, types.FunctionType) and not is_of_library(cls):
                self.follow(found, self.kind, self.making)

    def called(self, value: Any, node: ast.Call) -> None:
        if isinstance(value, type) and not is_of_library(value):
            self.made(value)
        elif isinstance(value, types.FunctionType) and not is_library(value):
            self.follow(value, None)
        elif not is_pure_call(value, len(node.args)):
            raise _Open

    def made(self, kind: type) -> None:
        """Check the construction of an object of an author's class."""
        if type(kind) is not type:
            raise _Open
        for name in _MAKING:
            found = in_class(kind, name)
            if isinstance(found, types.FunctionType) and not is_library(found):
                self.made_by(found, kind)

    def made_by(self, function: types.FunctionType, kind: type) -> None:
        if is_generated(function) and hasattr(kind, "__dataclass_fields__"):
            if all(field.default_factory in _FACTORIES for field in kind.__dataclass_fields__.values()):
                return  # as written by `dataclass`
        if _read(function, kind, self.around, making=True) is None:
            raise _Open


# For nodes with parts that do not run, such as annotations: the parts that do.
_RUNNING: dict[type, Callable[[Any], Iterable[ast.AST]]] = {
    ast.AnnAssign: lambda node: (node.target, node.value) if node.value is not None else (node.target,),
    ast.FunctionDef: lambda node: (*node.decorator_list, *node.body),
}
_FACTORIES = (dataclasses.MISSING, list, dict, set, tuple)
_REFUSED = (
    *(ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.With, ast.AsyncWith, ast.AsyncFor),
    *(ast.Await, ast.AsyncFunctionDef, ast.ClassDef),
)


def is_pure_call(value: Any, count: int) -> bool:
    """Whether calling a library function does no more than return a value."""
    if side_effect_of_call(value, True) is Noted.EFFECT or DEFAULT.mutator(value) is not None:
        return False
    if isinstance(value, np.ufunc):
        return count <= value.nin
    if is_side_effect_free(value) or value is iter or value is sorted:
        return True
    module = str(getattr(value, "__module__", None)).partition(".")[0]
    if module not in _PURE_MODULES or not callable(value):
        return False
    return module != "numpy" or count <= _MOST_ARGUMENTS or isinstance(value, type)


def _chain(node: ast.Attribute) -> tuple[ast.expr, tuple[str, ...]]:
    """`(a, ("b", "c"))` for `a.b.c`."""
    path: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        path.append(inner.attr)
        inner = inner.value
    return inner, tuple(reversed(path))


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`a, b = 0, 1` as (target, value) pairs."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _binds(node: ast.Name) -> bool:
    return isinstance(node.ctx, (ast.Store, ast.Del))


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
