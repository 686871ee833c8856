"""What a function's code can reach besides its arguments (globals, captured variables and defaults, what
these hold, and functions called from there), and whether it seems to write to containers.
"""

from __future__ import annotations

import builtins
import dis
import functools
import gc
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...own_code import is_without_authors, may_hide
from ...python_facts import IN_PLACE_METHODS, KINDS, WRITES, names_that
from ...tangents.holding import TooMuch, everything_held, inside
from ..base.libraries import BY_RULE, is_library, is_of_library
from .heap import LEAVES

# With these the code may reach anything, under names that its text does not show.
LOOKING_AROUND = frozenset(
    {
        "globals",
        "locals",
        "vars",
        "eval",
        "exec",
        "__import__",
        "sys",
        "gc",
        "inspect",
        "importlib",
        "weakref",
    }
)
_MOST = 20_000  # values to visit before giving up
_ATTRIBUTES = ("LOAD_METHOD", "LOAD_ATTR", "LOAD_SUPER_ATTR", "IMPORT_FROM")
_VARIABLES = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
_WRITING = frozenset({"STORE_ATTR", "DELETE_ATTR", "STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"})
# These write to an object under construction, which nothing else holds.
_MAKING = frozenset({"__init__", "__post_init__", "__new__", "__setstate__", "__set_name__"})
_AUGMENTED = "augmented assignment"
_CHANGING = names_that(WRITES, *KINDS)
OF_LIBRARIES = frozenset({*sys.stdlib_module_names, *BY_RULE}) - {"__main__"}
_LEAVES = (*LEAVES, range, slice, types.CodeType, types.GenericAlias)
_QUICK = frozenset(
    {float, int, str, bool, type(None), complex, bytes, np.ndarray, np.ufunc, types.ModuleType}
    | {types.GetSetDescriptorType, types.MemberDescriptorType}
    | {types.WrapperDescriptorType, types.MethodDescriptorType, types.CodeType, range, slice}
)
# The records that `dataclass` and Python keep of fields and annotations: no method calls them.
_DESCRIPTIONS = frozenset(
    {"__dataclass_fields__", "__dataclass_params__", "__annotate_func__", "__annotations_cache__"}
)


class Reached(NamedTuple):
    """What code can reach: the identities of `objects`, and whether some of the code `writes` to containers.

    `complete` is False if there was too much to visit; `hides` says that some code is marked as not to be
    differentiated, or may reach more than its text shows.
    """

    objects: set[int]
    writes: bool
    hides: bool
    complete: bool


class Text(NamedTuple):
    """What the bytecode of a function names, its nested functions included."""

    names: frozenset[str]  # looked up as globals
    imports: frozenset[str]
    attributes: frozenset[str]
    noted: frozenset[str]  # outer variables to which it adds something
    used: frozenset[str]  # outer variables that it uses in another way
    read: frozenset[str]  # attributes that it names, except where it adds something to them
    writes: bool


_TEXTS: weakref.WeakKeyDictionary[types.CodeType, Text] = weakref.WeakKeyDictionary()


def reached_by(roots: Sequence[Any]) -> Reached:
    """What the code of these functions, objects and classes can reach."""
    walk = _Walk(roots)
    walk.called.update(x.__code__.co_name for x in roots if isinstance(x, types.FunctionType))
    complete = walk.run()
    return Reached(set(map(id, walk.held)), walk.writes(), walk.hides, complete)


def walked(roots: Iterable[Any]) -> tuple[list[Any], set[str]]:
    """The objects that the code of these can reach, up to the limit of a search, and the attributes that the
    code names.
    """
    walk = _Walk(roots)
    walk.run()
    return walk.held, walk.called


class _Walk:
    """A search through all that some code can reach."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._roots = roots
        self.held: list[Any] = []
        self.called: set[str] = set()  # names of functions that the code calls, or may call
        self._writers: set[str] = set()
        self.hides = False

    def run(self) -> bool:
        """Search; return False if there was too much to visit."""
        try:
            self.held.extend(everything_held(self._roots, self._from, stops=_is_closed, most=_MOST))
        except TooMuch:
            return False
        return True

    def writes(self) -> bool:
        return bool(self._writers & self.called)

    def _from(self, x: Any) -> Iterable[Any]:
        """The values that are reached directly from one value."""
        if isinstance(x, (types.FunctionType, type)):
            self.hides |= may_hide(x)
        if isinstance(x, types.FunctionType):
            return () if is_library(x) else self._from_function(x)
        if isinstance(x, type):
            return () if is_of_library(x) else self._from_class(x)
        if isinstance(x, types.BuiltinFunctionType):
            return (x.__self__,)  # the list of `xs.append`
        if isinstance(x, dict):
            return (*_unknown(x.keys()), *_unknown(x.values()), *_class_of(x))
        if isinstance(x, (list, tuple, set, frozenset, deque)):
            return (*_unknown(x), *_class_of(x))
        if isinstance(x, (property, functools.cached_property, staticmethod, classmethod, types.MethodType)):
            return gc.get_referents(x)
        return (type(x), *(part for part in gc.get_referents(x) if not isinstance(part, types.ModuleType)))

    def _from_function(self, function: types.FunctionType) -> Iterator[Any]:
        text, name = text_of(function.__code__), function.__code__.co_name
        self.called |= text.attributes - {_AUGMENTED} if name in IN_PLACE_METHODS else text.attributes
        self.hides |= not text.names.isdisjoint(LOOKING_AROUND)
        if text.writes and name not in _MAKING:
            self._writers.add(_AUGMENTED if name in IN_PLACE_METHODS else name)
            owner = function.__qualname__.rpartition(".")[0]
            if (
                not owner
                or owner.endswith("<locals>")
                or (name.startswith("__") and name not in IN_PLACE_METHODS)
            ):
                self.called.add(name)  # it is called by its own name, or by an operator
        yield from inside(function)
        read = None if "getattr" in text.names else text.attributes
        for name in text.names:
            yield from _of_name(function.__globals__, name, read, 4)
        for name in text.imports:
            yield from _of_name(sys.modules, name, read, 4)

    def _from_class(self, cls: type) -> Iterator[Any]:
        yield from cls.__bases__
        yield type(cls)
        yield from (part for name, part in vars(cls).items() if name not in _DESCRIPTIONS)
        for described in vars(cls).get("__dataclass_fields__", {}).values():
            yield described.default_factory


def _is_closed(x: Any) -> bool:
    """Whether nothing can be reached through a value."""
    if type(x) in _QUICK or is_without_authors(x):
        return True
    return x.__module__ == "builtins" if isinstance(x, type) else isinstance(x, _LEAVES)


def _of_name(names: dict[str, Any], name: str, read: frozenset[str] | None, depth: int) -> Iterator[Any]:
    """The value of a global name, or a module's attributes that the code may read (all if `read` is None)."""
    found = names.get(name, vars(builtins).get(name))
    if not isinstance(found, types.ModuleType):
        yield found
    elif depth and found.__name__.partition(".")[0] not in OF_LIBRARIES:
        for inner in list(vars(found)) if read is None else read & vars(found).keys():
            yield from _of_name(vars(found), inner, read, depth - 1)


def _class_of(x: Any) -> tuple[Any, ...]:
    return () if type(x).__module__ == "builtins" else (type(x), getattr(x, "__dict__", None))


def _unknown(items: Iterable[Any]) -> list[Any]:
    """The items that may hold something else."""
    return [] if _QUICK.issuperset(map(type, items)) else [x for x in items if type(x) not in _QUICK]


def only_reads(function: types.FunctionType) -> bool:
    """Whether a function's own code is enough to show that it writes to nothing, and reaches only its
    arguments, builtins and libraries.
    """
    code, names = function.__code__, function.__globals__
    text = text_of(code)
    if text.writes or text.imports or code.co_freevars or function.__defaults__ or function.__kwdefaults__:
        return False
    if may_hide(function) or not text.names.isdisjoint(LOOKING_AROUND):
        return False
    for name in text.names:
        if name in names:
            found = names[name]
            if type(found) is not types.ModuleType or found.__name__.partition(".")[0] not in OF_LIBRARIES:
                return False
        elif name not in vars(builtins):
            return False
    return True


def is_harmless(code: types.CodeType) -> bool:
    """Whether the code of a function shows that it changes nothing: it writes nothing, names only builtins,
    and captures nothing, since it might call what it captures.
    """
    text = text_of(code)
    known = all(hasattr(builtins, name) for name in text.names) and text.names.isdisjoint(LOOKING_AROUND)
    return known and not (text.writes or text.attributes or text.imports or code.co_freevars)


def text_of(code: types.CodeType) -> Text:
    """What the bytecode of a function names; read once."""
    found = _TEXTS.get(code)
    if found is None:
        found = _TEXTS[code] = _read(code)
    return found


def _read(code: types.CodeType) -> Text:
    """Read what the bytecode of a function names, without the cache of `text_of`."""
    mine: list[set[str]] = [set() for _ in range(6)]
    names, imports, attributes, noted, used, read = mine
    writes = False
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    outside = {*code.co_freevars, *code.co_cellvars}
    steps = list(dis.get_instructions(code))
    for before, step, after in zip([None, *steps], steps, [*steps[1:], steps[-1]]):
        adds = after.opname in _ATTRIBUTES and after.argval in ("append", "add")
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
            (noted if adds else used).add(step.argval)
        elif step.opname in _ATTRIBUTES:
            attributes.add(step.argval)
            read.update(() if adds else (step.argval,))
        elif step.opname.startswith(_VARIABLES) and step.argval in outside:
            (noted if adds else used).add(step.argval)
        elif step.opname == "IMPORT_NAME":
            imports.add(step.argval)
        elif step.opname in _WRITING:
            writes = True
        elif step.opname == "BINARY_OP" and step.argrepr.endswith("="):
            attributes.add(_AUGMENTED)
        elif _is_in_place(before) and _stored(step) in parameters:
            writes = True
    writes = writes or bool(attributes & _CHANGING) or not names.isdisjoint(("setattr", "delattr"))
    inside = [text_of(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)]
    writes = writes or any(text.writes for text in inside)
    united = [frozenset().union(*found) for found in zip(mine, *inside)]  # all but the last, `writes`
    return Text._make((*united, writes))


def _stored(step: dis.Instruction) -> str | None:
    """The local variable in which an instruction stores the result of the one before, or None."""
    if not step.opname.startswith(("STORE_FAST", "STORE_DEREF")):
        return None
    # From Python 3.13 on, a store may be merged with the next instruction on its line.
    return step.argval[0] if isinstance(step.argval, tuple) else step.argval


def _is_in_place(step: dis.Instruction | None) -> bool:
    return step is not None and step.opname == "BINARY_OP" and step.argrepr.endswith("=")
