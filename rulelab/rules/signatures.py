"""The argument types that a rule accepts, and which of two rules is more specific."""

from __future__ import annotations

import ast
import builtins
import contextlib
import sys
import types
import typing
import weakref
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..annotations import annotations_of
from ..errors import AmbiguousRuleError, Place, RuleRegistrationError
from ..parsing import parse
from ..tangents.classes import made_by_python
from ..tangents.holding import captured
from .twins import written

_REFUSED = "a rule's annotations must be classes, unions of classes, Any or numpy.typing.NDArray[...]"


class ArrayType(NamedTuple):
    """The type of an array argument as rules see it: its class and the scalar type of its dtype."""

    cls: type
    scalar: type


def type_of(x):
    """The type of an argument as rules see it: an ArrayType for an array, else its class.

    >>> type_of(2.0), type_of(np.zeros(2, np.float32)).scalar
    (<class 'float'>, <class 'numpy.float32'>)
    """
    if isinstance(x, np.ndarray):
        return ArrayType(type(x), x.dtype.type)
    return type(x)


def types_of(args):
    """The types of a tuple of arguments."""
    return tuple([type_of(x) for x in args])


def weakly(kind):
    """A type as part of a stored key that does not keep it alive: a weak reference for a class made in
    Python.

    References to the same living class are equal and have its hash.
    """
    if kind in _OF_C or not isinstance(kind, type) or not made_by_python(kind):
        return kind
    return weakref.ref(kind)


_OF_C = frozenset({float, int, bool, str, tuple, list, dict, types.NoneType, types.FunctionType})  # most


# What an annotation accepts besides subclasses: float also accepts ints, but not bools.
_TOWER = {
    float: (float, int, np.floating, np.integer),
    complex: (complex, float, int, np.number),
    int: (int, np.integer),
}


@dataclass(frozen=True)
class ClassAtom:
    """Accepts the instances of a class; for float and complex also the numbers that convert without loss of
    meaning.
    """

    cls: type

    def accepts(self, given):
        cls = given.cls if isinstance(given, ArrayType) else given
        if self.cls is object:
            return True
        if self.cls in (float, complex) and issubclass(cls, (bool, np.bool_)):
            return False
        return issubclass(cls, _TOWER.get(self.cls, self.cls))

    def covers(self, other):
        if self.cls is object:
            return True
        return self.accepts(other.cls)

    def __str__(self):
        return self.cls.__name__


@dataclass(frozen=True)
class ArrayAtom:
    """Accepts arrays whose dtype has a given scalar type."""

    scalar: type
    cls: type = np.ndarray

    def accepts(self, given):
        if isinstance(given, ArrayType):
            return issubclass(given.cls, self.cls) and issubclass(given.scalar, self.scalar)
        if issubclass(given, self.cls):
            raise AmbiguousRuleError(
                f"a rule for {self} was looked up for an array of unknown dtype",
                fixes=("ask with signatures.types_of(args)",),
            )
        return False

    def covers(self, other):
        return (
            isinstance(other, ArrayAtom)
            and issubclass(other.cls, self.cls)
            and issubclass(other.scalar, self.scalar)
        )

    def __str__(self):
        return f"NDArray[{self.scalar.__name__}]"


ANY = (ClassAtom(object),)


@dataclass(frozen=True)
class Accepts:
    """The types that a rule accepts, as a tuple of alternatives for each positional parameter.

    `rest` are those for `*args`, or None; `names` are for messages and are ignored in comparisons.
    """

    parameters: tuple
    rest: tuple | None = None
    names: tuple = ()
    open_ended: bool = False  # more arguments than parameters are accepted, of any type
    least: int = 0  # minimal number of arguments of a call

    def match(self, given):
        """Whether a call with arguments of these types is accepted; parameters without an argument are
        ignored.
        """
        if len(given) < self.least:
            return False
        if len(given) > len(self.parameters) and self.rest is None and not self.open_ended:
            return False
        return all(any(atom.accepts(t) for atom in self.at(i)) for i, t in enumerate(given))

    def at(self, index):
        if index < len(self.parameters):
            return self.parameters[index]
        return self.rest if self.rest is not None else ANY

    def covers(self, other, count):
        """Whether everything that `other` accepts in calls with `count` arguments is accepted here too."""
        return all(
            all(any(mine.covers(theirs) for mine in self.at(i)) for theirs in other.at(i))
            for i in range(count)
        )

    def same(self, other):
        """Whether a new rule with these types replaces one with those of `other`."""
        return (self.parameters, self.rest) == (other.parameters, other.rest)

    def __str__(self):
        names = self.names or tuple(f"x{i + 1}" for i in range(len(self.parameters)))
        shown = [n if a == ANY else f"{n}: {' | '.join(map(str, a))}" for n, a in zip(names, self.parameters)]
        if self.rest is not None:
            shown.append("*args" if self.rest == ANY else f"*args: {' | '.join(map(str, self.rest))}")
        return f"({', '.join(shown)})"


def most_specific(candidates, count, target_name):
    """Return the one of several matching entries (anything with `.accepts`) that all others cover.

    Of two that accept exactly the same, the later wins. Raises AmbiguousRuleError, naming two, if there is no
    such entry.
    """
    best = candidates[0]
    for entry in candidates[1:]:
        if _beats(entry, best, count):
            best = entry
    for entry in candidates:
        if entry is not best and not _beats(best, entry, count) and not entry.accepts.same(best.accepts):
            raise AmbiguousRuleError(
                f"two rules for {target_name} fit equally well: {_where(best)} and {_where(entry)}",
                place=best.place,
                fixes=("add a rule for the types where both apply", "narrow the annotations of one of them"),
            )
    return best


def _beats(entry, other, count):
    covered = other.accepts.covers(entry.accepts, count)
    covering = entry.accepts.covers(other.accepts, count)
    if (
        covered and covering
    ):  # equal for this call: a fixed number of arguments beats *args, else the later wins
        return not (entry.accepts.rest is not None and other.accepts.rest is None)
    return covered


def _where(entry):
    return f"{entry.accepts} at {entry.place.label()}" if entry.place is not None else str(entry.accepts)


def accepts_of(function, skip=0, read=None):
    """Return what the annotations of a rule function accept, after its first `skip` parameters.

    String annotations are looked up by name in the function's closure, globals and builtins; they are never
    evaluated. Raises RuleRegistrationError for an annotation of another form. `read` caches annotations by
    identity, since a file of rules uses the same few at hundreds of places.
    """
    code, notes = function.__code__, annotations_of(function)
    names = code.co_varnames[skip : code.co_argcount]
    if not notes:  # as in most built-in rules
        return Accepts((ANY,) * len(names), ANY if code.co_flags & 0x04 else None, names)

    def atoms(name):
        if name not in notes:
            return ANY
        note = notes[name]
        if read is None or isinstance(note, str):
            return _atoms(note, function, name)
        if id(note) not in read:
            read[id(note)] = note, _atoms(note, function, name)
        return read[id(note)][1]

    parameters = tuple(map(atoms, names))
    rest = None
    if code.co_flags & 0x04:
        rest = atoms(code.co_varnames[code.co_argcount + code.co_kwonlyargcount])
    return Accepts(parameters, rest, names)


def accepts_from(annotations):
    """Return what a tuple of types accepts; further arguments may be of any type."""
    return Accepts(
        tuple([_atoms(a, None, f"argument {i + 1}") for i, a in enumerate(annotations)]), open_ended=True
    )


def meant_types(function):
    """The types that the annotations of a function refer to, by parameter. Strings are looked up and type
    aliases replaced, if they can be resolved; other annotations stay as they are.

    >>> def f(x: "float"): ...
    >>> meant_types(f)
    {'x': <class 'float'>}
    """
    function = written(function)
    found = dict(annotations_of(function))
    scope = function if hasattr(function, "__code__") else None
    for name, note in found.items():
        with contextlib.suppress(RuleRegistrationError):
            found[name] = _plain(note, scope, name)
    return found


def _atoms(note, function, name):
    """The alternatives that one annotation accepts."""
    if type(note) is type:  # the most frequent case, in which nothing must be looked up
        return ANY if note is object else (_class_atom(note, function, name),)
    note = _plain(note, function, name)
    if note is typing.Any or note is object:
        return ANY
    if note is None:
        return (ClassAtom(type(None)),)
    origin = typing.get_origin(note)
    if origin in _UNIONS:
        return tuple(
            dict.fromkeys(atom for part in typing.get_args(note) for atom in _atoms(part, function, name))
        )
    if isinstance(origin, type) and issubclass(origin, np.ndarray):
        return _array_atoms(note, origin, function, name)
    if isinstance(note, type) and origin is None:
        return (_class_atom(note, function, name),)
    raise _refusal(note, function, name)


def _class_atom(cls, function, name):
    try:
        issubclass(int, cls)
    except TypeError:
        raise _refusal(cls, function, name) from None
    return ClassAtom(cls)


def _array_atoms(note, origin, function, name):
    dtype = typing.get_args(note)[1] if len(typing.get_args(note)) > 1 else typing.Any
    dtype = _plain(dtype, function, name)
    inner = typing.get_args(dtype) if typing.get_origin(dtype) is np.dtype else (dtype,)
    scalars = _plain(inner[0], function, name)
    if scalars is typing.Any or isinstance(scalars, typing.TypeVar):
        return (ClassAtom(origin),)
    union = typing.get_origin(scalars) in _UNIONS
    choices = typing.get_args(scalars) if union else (scalars,)
    if not all(isinstance(c, type) and issubclass(c, np.generic) for c in choices):
        raise _refusal(note, function, name)
    return tuple(ClassAtom(origin) if c is np.generic else ArrayAtom(c, origin) for c in choices)


def _plain(note, function, name, opened=()):
    """Resolve an annotation, for a union each part: look up strings, and replace type aliases (`type X =
    ...`, and `NDArray` itself in NumPy 2.5) by their values.

    `opened` are the aliases being resolved; one that refers to itself is refused.
    """
    if isinstance(note, typing.ForwardRef):
        note = note.__forward_arg__
    if isinstance(note, str):
        note = _named(note, function, name)
    alias = note if _is_alias(note) else typing.get_origin(note)
    if _is_alias(alias):
        if alias in opened:
            raise _refusal(note, function, name)
        arguments = tuple([_plain(part, function, name, opened) for part in typing.get_args(note)])
        return _plain(_meaning(alias, arguments, function, name), function, name, (*opened, alias))
    if typing.get_origin(note) in _UNIONS:
        parts = tuple([_plain(part, function, name, opened) for part in typing.get_args(note)])
        return typing.Union[parts]  # noqa: UP007 (not all have `|`)
    return note


_UNIONS = (typing.Union, types.UnionType)


def _is_alias(note):
    """Whether an annotation is a type alias, made by the interpreter or by the backport for Python 3.11."""
    kind = type(note)
    if kind.__name__ != "TypeAliasType":
        return False
    places = (typing, sys.modules.get("typing_extensions"))
    return any(kind is getattr(place, "TypeAliasType", None) for place in places)


def _meaning(alias, arguments, function, name):
    """The value of a type alias, with its parameters replaced by the given arguments."""
    try:
        value = alias.__value__  # evaluates the right side of `type X = ...`, which Python does lazily
    except NameError as error:
        raise _undefined(f"{alias} of {name}", error.name, function) from None
    except Exception:
        raise _refusal(alias, function, name) from None
    given = dict(zip(alias.__type_params__, arguments))
    if isinstance(value, typing.TypeVar):
        return given.get(value, value)
    free = getattr(value, "__parameters__", ())
    if not given or not free or isinstance(value, type):
        return value
    try:
        return value[tuple([given.get(parameter, parameter) for parameter in free])]
    except TypeError:
        raise _refusal(alias, function, name) from None


def _refusal(note, function, name):
    shown = (
        note if isinstance(note, str) else getattr(note, "__name__", None) if isinstance(note, type) else note
    )
    return RuleRegistrationError(
        f"the annotation {shown} of {name} cannot be used to find a rule: {_REFUSED}",
        place=Place.of_function(function) if function is not None else None,
        fixes=("leave the annotation out", _class_alone(note)),
    )


def _class_alone(note):
    """The suggestion for an annotation that says what a container holds, which cannot be checked in a
    call.

    >>> _class_alone(list[float]), _class_alone("dict[str, float]")
    ('use the class alone: list', 'use the class alone: dict')
    """
    origin = typing.get_origin(note)
    head = note.partition("[")[0].strip() if isinstance(note, str) and "[" in note else ""
    head = origin.__name__ if isinstance(origin, type) else head
    return f"use the class alone: {head}" if head else "use the class alone, such as list for list[float]"


def _named(text, function, name):
    """Return the object that an annotation in quotes names."""
    try:
        tree = parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise _refusal(text, function, name) from None
    return _read(tree, text, function, name)


def _read(node, text, function, name):
    if isinstance(node, ast.Name):
        return _look_up(node.id, text, function, name)
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _named(node.value, function, name)
    if isinstance(node, ast.Attribute):
        base = _read(node.value, text, function, name)
        if isinstance(base, (types.ModuleType, type)) and hasattr(base, node.attr):
            return getattr(base, node.attr)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left, right = (_read(side, text, function, name) for side in (node.left, node.right))
        return typing.Union[left, right]  # noqa: UP007 (a value, and not all have `|`)
    if isinstance(node, ast.Subscript):
        base = _read(node.value, text, function, name)
        arrays = base in (np.ndarray, np.dtype) or typing.get_origin(base) is np.ndarray
        if arrays or _is_alias(base) or base is typing.Union or base is typing.Optional:
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            read = tuple([_read(item, text, function, name) for item in items])
            return base[read if len(read) > 1 else read[0]]
    if isinstance(node, ast.Tuple) and not node.elts:
        return typing.Any
    raise _refusal(text, function, name)


def _look_up(word, text, function, name):
    for space in (captured(function), getattr(function, "__globals__", {}), vars(builtins)):
        if word in space:
            return space[word]
    raise _undefined(f"{text!r} of {name}", word, function)


def _undefined(what, word, function):
    return RuleRegistrationError(
        f"the annotation {what} names {word}, which is not defined where the rule is",
        place=Place.of_function(function) if function is not None else None,
        fixes=(f"define or import {word} before the rule", "leave the annotation out"),
    )
