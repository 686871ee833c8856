"""What forward mode answers a call with: a program, and templates of its arguments.

A call is a tuple `(g, g_dot, args, dots, names, method)`: the last arguments are keywords, with these
`names`; with `method`, that method of `g` is called. Each answer is a *program*: a Python function that
returns `(y, y_dot)`, and templates of its arguments, whose Refs are paths into the call. The same answer
serves forward mode, which calls it, reverse over forward, which differentiates it, and the next order, which
takes its tangent.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...own_code import holds_no_authors
from ...rules import programs
from ...rules.rule import Rule
from ...tangents.zeros import AbstractZero, NoTangent
from ..memory.operands import carries
from .call import Call
from .protocols import asked_once

holds_no_authors(__name__)

NO = NoTangent()
Raw = tuple[Any, Any, tuple[Any, ...], tuple[Any, ...], tuple[str, ...], Any]


G, G_DOT, ARGS, DOTS = range(4)


@dataclass(frozen=True)
class Ref:
    """A part of a call, by its path."""

    path: tuple[Any, ...]


@dataclass(eq=False, slots=True)
class Program:
    """`function(*given, **words)` returns `(y, y_dot)`; `given` and `words` are templates.

    A `derived` function is the tangent of a callee, to be compiled; it captures what the function at
    `closure` captures. The tangent from a `trusted` function is already in the form that forward mode needs.
    `rule` is set if the function is that of an author's rule, whose answer is checked; with `of_rule`, what
    the function captures is constant, also in its tangent. A program that `asks` gives a constant answer
    about a value that may be an author's object. None is ever changed, since calls share them; freezing the
    class would make one take twice as long to make.
    """

    function: Any
    given: tuple[Any, ...]
    words: dict[str, Any] = field(default_factory=dict)
    derived: bool = False
    trusted: bool = False
    closure: Ref | None = None
    rule: Rule | None = None
    of_rule: bool = False
    asks: bool = False


@dataclass(frozen=True)
class Default(Ref):
    """A default value of a nested function, set when the function at `path` was made: a part of that
    function.
    """

    name: str
    where: tuple[Any, ...]  # its path in the tangent of the function
    value: Any

    def of(self, x: Any) -> Any:
        """The value of the default; `x` is the function."""
        return self.value


@dataclass(frozen=True)
class Asked(Ref):
    """The number or array that a constant object converts to, asked for once for both the value and its
    tangent; `as_key` says that the object is the key in `x[key]`.
    """

    as_key: bool = False

    def of(self, x: Any) -> Any:
        return programs.key_asked_once(x) if self.as_key else asked_once(x)


SELF = object()  # in a path: the object of a bound method or `super()`; tangent and cotangent are its own


@functools.lru_cache(256)
def arg(k: int) -> Ref:
    return Ref((ARGS, k))


@functools.lru_cache(256)
def dot(k: int) -> Ref:
    return Ref((DOTS, k))


THIS, THIS_DOT = Ref((G,)), Ref((G_DOT,))  # what is called, and its tangent


def build(template: Any, call: Any) -> Any:
    """A template with its Refs replaced by parts of the call; a part of a missing tangent is missing."""
    kind = type(template)
    if kind is Ref or kind is Asked:
        path = template.path
        if len(path) == 2 and kind is Ref:  # most often
            first, key = path
            found = call[first]
            return found if found is NO else found.__self__ if key is SELF else found[key]
        found = call
        for key in path:
            if found is NO:
                return NO
            found = found.__self__ if key is SELF else found[key]
        return found if kind is Ref else template.of(found)
    if kind is tuple:
        return tuple([build(part, call) for part in template])
    if kind is dict:
        return {key: build(part, call) for key, part in template.items()}
    return template.value if kind is Default else template


def asked_now(template: Any, call: Any) -> Any:
    """A template with each `Asked` replaced by the answer, so that the object is asked only once: its answer
    serves both to find the program and to run it.
    """
    kind = type(template)
    if kind is Asked:
        return build(template, call)
    if kind is tuple and any(type(part) in (Asked, tuple) for part in template):
        return tuple([asked_now(part, call) for part in template])
    return template


def rewritten(template: Any, function: Any) -> Any:
    """A template with `function(path)` in place of each Ref."""
    kind = type(template)
    if kind is Ref:
        return function(template.path)
    if kind is tuple:
        return tuple([rewritten(part, function) for part in template])
    if kind is dict:
        return {key: rewritten(part, function) for key, part in template.items()}
    if kind is Asked or kind is Default:
        found = function(template.path)
        return dataclasses.replace(template, path=found.path) if type(found) is Ref else template.of(found)
    return template


def tangent_template(template: Any) -> Any:
    """The template of the tangent of what a template builds, where the call is an argument of a `push`."""
    kind = type(template)
    if kind is Ref:
        return Ref((DOTS, *(key for key in template.path if key is not SELF)))
    if kind is Default:
        return Ref((DOTS, *template.path, *template.where))
    if kind is tuple:
        return tuple([tangent_template(part) for part in template])
    return {key: tangent_template(part) for key, part in template.items()} if kind is dict else NO


def descend(template: Any, path: tuple[Any, ...]) -> Any:
    """The part at a path of what a template refers to, or of a value."""
    for number, key in enumerate(path):
        if type(template) is Ref:
            return Ref((*template.path, *path[number:]))
        if template is NO:
            return NO
        template = template.__self__ if key is SELF else template[key]
    return template


def refs_of(kind: int, args: tuple[Any, ...]) -> tuple[Ref, ...]:
    return _refs(kind, len(args))


@functools.lru_cache(256)
def _refs(kind: int, count: int) -> tuple[Ref, ...]:
    return tuple([Ref((kind, k)) for k in range(count)])


def constant_program(call: Raw, asks: bool = False) -> Program:
    """The program of a call as it is, with a zero tangent; `asks` says that it may run code of the author's
    implicitly.
    """
    g, _, args, _, names, _ = call
    refs, count = refs_of(ARGS, args), len(args) - len(names)
    given = (g, refs[:count], dict(zip(names, refs[count:])))
    makes_new = isinstance(g, np.ufunc) or str(getattr(g, "__module__", "")).partition(".")[0] == "numpy"
    makes_new = makes_new or g is programs.zero_beside or g is programs.zero_of
    function = programs.constant_of_numpy if makes_new else programs.constant
    return Program(function, given, trusted=True, asks=asks)


def varies(x: Any, x_dot: Any) -> bool:
    """Whether a tangent says that its value varies; an integer with a zero tangent does not."""
    kind = type(x_dot)
    if kind is NoTangent:
        return False
    if kind is tuple and type(x) is tuple:
        return any(map(varies, x, x_dot)) if len(x) == len(x_dot) else any(d is not NO for d in x_dot)
    if kind is float and isinstance(x, (int, np.integer)):
        return x_dot != 0.0
    return not isinstance(x_dot, AbstractZero)


def carries_and_varies(x: Any, x_dot: Any) -> bool:
    return carries(x) and varies(x, x_dot)


def has_refs(template: Any) -> bool:
    parts = template if type(template) is tuple else template.values() if type(template) is dict else ()
    return type(template) is Ref or any(map(has_refs, parts))


class Pushed(Call):
    """A call as forward mode sees it; programs refer to the parts of `raw` by templates."""

    __slots__ = ("names", "raw")
    in_forward = True

    def __init__(self, raw: Raw) -> None:
        g, _, args, _, names, _ = raw
        self.target = g
        self.raw = raw
        self.names = names
        self.place = None
        self.args, self.kwargs = args, {}
        if names:
            count = len(args) - len(names)
            self.args, self.kwargs = args[:count], dict(zip(names, args[count:]))

    @property
    def active(self) -> tuple[bool, ...]:  # type: ignore[override]
        """Computed on demand, since not every call needs it."""
        _, g_dot, args, dots, _, _ = self.raw
        return (g_dot is not NO, *map(varies, args, dots))

    def refs(self) -> tuple[Ref, ...]:
        """Templates of all arguments."""
        return refs_of(ARGS, self.raw[ARGS])

    def dot_refs(self) -> tuple[Ref, ...]:
        """Templates of the tangents of all arguments."""
        return refs_of(DOTS, self.raw[ARGS])


class Forward(Protocol):
    """What the modules that answer the forward question need of it, to ask it again."""

    cache: Any
    config: Any
    pullbacks: Any

    def program(self, call: Raw) -> Program: ...

    def through(
        self,
        call: Raw,
        function: Any,
        args: tuple[Any, ...],
        dots: tuple[Any, ...],
        names: tuple[str, ...] = (),
        closure: Ref | None = None,
        closure_dot: Any = NO,
    ) -> Program: ...

    def rule(self, g: Any, args: tuple[Any, ...], names: tuple[str, ...]) -> Rule | None: ...
