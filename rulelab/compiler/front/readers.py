"""Finds functions of the author's that consume their first argument immediately, so that a generator
expression can be passed as a list; and records what a pass assumes about functions whose source it used.

Such a function begins with constants and then exhausts the argument, through a function of Python's that
does so or in a loop that only computes: nothing done between two items may be visible to the code that
makes the next item. The argument occurs nowhere else.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from ...errors import RuleLabError
from ...own_code import is_stand_in
from ..base import ir
from ..base.classes import in_class
from ..base.libraries import is_authors_function
from ..base.source import find_source, first_name
from .consumers import consumes_first

_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_OTHER_KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_COMPUTING = (abs, float, int, complex, bool, round, pow, divmod)  # among the builtin functions
_TAKING = (sum, max, min, list, tuple, sorted, math.fsum, math.prod, len, zip, enumerate, range)
_REBINDING = (ast.Global, ast.Nonlocal)
_COMPUTED: tuple[type, ...] = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant)
_COMPUTED += (ast.Name, ast.Tuple, ast.List, ast.Subscript, ast.Slice)
_OF_SOME = (max, min)  # these compute too, unless their only argument is an iterable
Known = Callable[[ast.expr], Any]


@dataclass(frozen=True)
class Inlined:
    """A global function or method inlined into a pass, as it was then; it is not kept alive."""

    name: str
    function: weakref.ref[types.FunctionType]
    code: weakref.ref[types.CodeType]
    defaults: tuple[Any, ...] | None
    keyword_defaults: dict[str, Any] | None
    of_class: Callable[[], type | None] | None = None  # for a method

    @staticmethod
    def of(
        name: str, function: types.FunctionType, of_class: Callable[[], type | None] | None = None
    ) -> Inlined:
        """A record of the function that a name means now, globally or in a class."""
        text, defaults = weakref.ref(function.__code__), function.__defaults__
        words = dict(function.__kwdefaults__) if function.__kwdefaults__ else None
        return Inlined(name, weakref.ref(function), text, defaults, words, of_class)

    def stands(self, namespace: dict[str, Any]) -> bool:
        """Whether the name still means that function, and the function is unchanged."""
        code, function = self.code(), self.function()
        if code is None or function is None or self._meant(namespace) is not function:
            return False
        return (
            function.__code__ is code
            and function.__globals__ is namespace
            and function.__defaults__ is self.defaults
            and _same_words(function.__kwdefaults__, self.keyword_defaults)
        )

    def _meant(self, namespace: dict[str, Any]) -> Any:
        if self.of_class is None:
            return namespace.get(self.name)
        cls = self.of_class()
        return None if cls is None else in_class(cls, self.name)


def _same_words(now: dict[str, Any] | None, then: dict[str, Any] | None) -> bool:
    if not now or not then:
        return not now and not then
    return now.keys() == then.keys() and all(now[name] is value for name, value in then.items())


def is_plain(
    function: Any, namespace: dict[str, Any], has_rule: Callable[[types.FunctionType], bool]
) -> TypeGuard[types.FunctionType]:
    """Whether a value is an author's function of this namespace that its source defines completely."""
    return (
        isinstance(function, types.FunctionType)
        and function.__globals__ is namespace
        and not function.__closure__
        and not has_marks(function)
        and "__wrapped__" not in function.__dict__
        and is_authors_function(function)
        and not is_stand_in(function.__code__.co_filename)
        and all(map(_may_be_held, function.__defaults__ or ()))
        and all(map(_may_be_held, (function.__kwdefaults__ or {}).values()))
        and not has_rule(function)
    )


def has_marks(function: types.FunctionType) -> bool:
    """Whether another function is to be differentiated in place of this one."""
    return "differentiated_as" in function.__dict__


def _may_be_held(value: Any) -> bool:
    """Whether a default value may be kept alive, and written into code."""
    return all(map(_may_be_held, value)) if type(value) is tuple else type(value) in _PLAIN


@dataclass(frozen=True)
class Reader:
    """A global function that consumes its first argument immediately, or only computes (`computing`), while
    what it calls is unchanged.
    """

    held: Inlined
    called: tuple[tuple[tuple[str, ...], Any], ...]  # dotted names in its source, and what they refer to

    @property
    def name(self) -> str:
        """The global name of the function."""
        return self.held.name

    @property
    def function(self) -> weakref.ref[types.FunctionType]:
        """A weak reference to the function, which may be given a rule."""
        return self.held.function

    def stands(self, namespace: dict[str, Any]) -> bool:
        """Whether the function and everything it calls are unchanged."""
        return self.held.stands(namespace) and all(
            _meaning(path, namespace) is value for path, value in self.called
        )


@dataclass(frozen=True)
class Restated:
    """A library function whose calls were replaced by other code, as long as it is not given a rule."""

    name: str
    target: Any
    called: tuple[tuple[tuple[str, ...], Any], ...]  # as in `Reader`

    def stands(self, namespace: dict[str, Any]) -> bool:
        """Whether the names still refer to the same objects."""
        return all(_meaning(path, namespace) is value for path, value in self.called)


def restated(node: ast.Call, known: Known, has_rule: Callable[[Any], bool]) -> Restated | None:
    """`np.fromiter(items, float)`, which equals the array of a list of the items; None for others."""
    target, path = known(node.func), path_of(node.func)
    if target is not np.fromiter or path is None or len(node.args) != 2 or node.keywords:
        return None
    kind = path_of(node.args[1])
    if kind is None or known(node.args[1]) is not float or has_rule(target):
        return None
    return Restated(".".join(path), target, ((path, target), (kind, float)))


def _meaning(path: tuple[str, ...], namespace: dict[str, Any]) -> Any:
    """What a dotted name refers to; UNBOUND if that would have to be computed."""
    first, *others = path
    found = namespace[first] if first in namespace else vars(builtins).get(first, ir.UNBOUND)
    for name in others:
        if not isinstance(found, types.ModuleType):
            return ir.UNBOUND
        found = getattr(found, name, ir.UNBOUND)
    return found


def reader(name: str, function: types.FunctionType) -> Reader | None:
    """The `Reader` for a function, if it consumes its first argument immediately; else None."""
    first = function.__code__.co_varnames[:1]
    return _read(name, function, lambda text, node: text.reads(node, *first))


def computing(name: str, function: types.FunctionType) -> Reader | None:
    """A `Reader` for a function that does nothing but compute a value from its arguments; else None."""
    return _read(name, function, lambda text, node: text.only_computes(node))


def only_computes(node: ast.FunctionDef | ast.Lambda, known: Known) -> bool:
    """Whether a function made inside another one, where `known` looks names up, does nothing but compute."""
    own = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)} | {n.id for n in _stored(node)}

    def known_inside(asked: ast.expr) -> Any:
        return ir.UNBOUND if first_name(asked) in own else known(asked)

    return _Text(own, known_inside).only_computes(node)


def _read(
    name: str,
    function: types.FunctionType,
    is_so: Callable[[_Text, ast.FunctionDef | ast.Lambda], bool],
) -> Reader | None:
    """The `Reader` for a function whose text `is_so`; None for others, and if there is no text."""
    code, namespace = function.__code__, function.__globals__
    if not code.co_argcount or code.co_flags & (_OTHER_KINDS | _STARS) or code.co_freevars:
        return None
    try:
        node = find_source(code).node
    except RuleLabError:
        return None
    own = {*code.co_varnames, *code.co_cellvars}
    own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    called: dict[tuple[str, ...], Any] = {}

    def known(asked: ast.expr) -> Any:
        path = path_of(asked)
        if path is None or path[0] in own:
            return ir.UNBOUND
        return called.setdefault(path, _meaning(path, namespace))

    if not is_so(_Text(own, known), node):
        return None
    return Reader(Inlined.of(name, function), tuple(called.items()))


def path_of(node: ast.expr) -> tuple[str, ...] | None:
    """The names of a dotted name; None for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ast.Name) else None


@dataclass(frozen=True)
class _Text:
    """The source of a function: the names of its `own` variables, and a look-up for other names."""

    own: set[str]
    known: Known

    def reads(self, node: ast.FunctionDef | ast.Lambda, parameter: str) -> bool:
        """Whether the function consumes a parameter immediately, with nothing visible happening before."""
        uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == parameter]
        if len(uses) != 1 or any(isinstance(n, (ast.Global, ast.Nonlocal)) for n in ast.walk(node)):
            return False
        if isinstance(node, ast.Lambda):
            return self._is_first(node.body, uses[0])
        begun: set[str] = set()
        for statement in node.body:
            if any(n is uses[0] for n in ast.walk(statement)):
                return self._begins_with(statement, uses[0], begun)
            if not _is_docstring(statement) and not _sets_constants(statement):
                return False
            begun |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        return False

    def _begins_with(self, statement: ast.stmt, use: ast.Name, begun: set[str]) -> bool:
        """Whether a statement begins by consuming `use`; `begun` are the variables that hold constants."""
        if isinstance(statement, ast.For):
            iterable = statement.iter
            if isinstance(iterable, ast.Call) and self.known(iterable.func) is enumerate:
                iterable = iterable.args[0] if len(iterable.args) == 1 and not iterable.keywords else iterable
            if iterable is not use or statement.orelse or not _is_pattern(statement.target):
                return False
            summed = {n.target.id for n in _augmented(statement) if isinstance(n.target, ast.Name)}
            given = [n for n in ast.walk(statement) if isinstance(n, (ast.Assign, ast.AnnAssign))]
            others = {n.id for part in (statement.target, *given) for n in _stored(part)}
            return summed <= begun - others and all(map(self._only_computes, statement.body))
        if isinstance(statement, (ast.Return, ast.Assign, ast.Expr)):
            return statement.value is not None and self._is_first(statement.value, use)
        return False

    def _is_first(self, node: ast.expr, use: ast.Name) -> bool:
        """Whether consuming `use` is the first thing that an expression does."""
        if isinstance(node, ast.ListComp):
            return self._is_computed_of(node, use)
        if isinstance(node, ast.BinOp):
            return self._is_first(node.right if _is_constant(node.left) else node.left, use)
        if isinstance(node, ast.UnaryOp):
            return self._is_first(node.operand, use)
        if isinstance(node, ast.Subscript):
            return self._is_first(node.value, use)
        if not isinstance(node, ast.Call) or not node.args:
            return False
        first = node.args[0]
        if consumes_first(node, self.known):
            if first is use or (isinstance(first, ast.GeneratorExp) and self._is_computed_of(first, use)):
                return True
        elif not self._is_computing(node):
            return False
        return self._is_first(first, use)

    def _is_computed_of(self, node: ast.ListComp | ast.GeneratorExp, use: ast.Name) -> bool:
        """Whether a comprehension goes through the argument and only computes."""
        first, *others = node.generators
        if others or first.iter is not use or not _is_pattern(first.target):
            return False
        return all(map(self._is_arithmetic, (node.elt, *first.ifs)))

    def _only_computes(self, statement: ast.stmt) -> bool:
        """Whether a statement does nothing but assign computed values to variables."""
        if isinstance(statement, ast.Assign):
            return all(map(_is_pattern, statement.targets)) and self._is_arithmetic(statement.value)
        if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            named = isinstance(statement.target, ast.Name) and statement.value is not None
            return named and self._is_arithmetic(statement.value)  # type: ignore[arg-type]
        if isinstance(statement, ast.If):
            parts = (*statement.body, *statement.orelse)
            return self._is_arithmetic(statement.test) and all(map(self._only_computes, parts))
        return isinstance(statement, ast.Pass) or _is_docstring(statement)

    def _is_arithmetic(self, node: ast.expr) -> bool:
        """Whether an expression only computes, from constants and the function's own variables."""
        if isinstance(node, ast.Name):
            return node.id in self.own
        if isinstance(node, ast.Call):
            return self._is_computing(node) and all(map(self._is_arithmetic, node.args))
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple)):
            return all(
                self._is_arithmetic(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)
            )
        return isinstance(node, ast.Constant)

    def only_computes(self, node: ast.FunctionDef | ast.Lambda) -> bool:
        """Whether all that a function does is to compute a value, perhaps from the items of iterables."""
        if node.args.vararg or node.args.kwarg or any(isinstance(n, _REBINDING) for n in ast.walk(node)):
            return False
        statements = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
        return all(map(self._is_step, statements))

    def _is_step(self, statement: ast.stmt) -> bool:
        """Whether a statement of a function only computes, binds variables to what it computes, or returns
        that.
        """
        if isinstance(statement, ast.Return):
            return statement.value is None or self._is_computed(statement.value)
        if isinstance(statement, ast.Assign):
            return all(map(_is_pattern, statement.targets)) and self._is_computed(statement.value)
        if isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            value = statement.value
            return isinstance(statement.target, ast.Name) and value is not None and self._is_computed(value)
        if isinstance(statement, (ast.If, ast.For)):
            of, parts = statement.test if isinstance(statement, ast.If) else statement.iter, statement.body
            target = statement.target if isinstance(statement, ast.For) else None
            steps = all(map(self._is_step, (*parts, *statement.orelse)))
            return steps and self._is_computed(of) and (target is None or _is_pattern(target))
        return isinstance(statement, (ast.Pass, ast.Break, ast.Continue)) or _is_docstring(statement)

    def _is_computed(self, node: ast.expr) -> bool:
        """Whether an expression only computes, perhaps from the items of iterables."""
        if isinstance(node, ast.Call):
            function = self.known(node.func)
            takes = not node.keywords and any(function is one for one in _TAKING)
            return (takes or self._is_computing(node)) and all(map(self._is_computed, node.args))
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            loops = node.generators
            sources = [part for loop in loops for part in (loop.iter, *loop.ifs)]
            patterns = all(_is_pattern(loop.target) for loop in loops)
            return patterns and all(map(self._is_computed, (node.elt, *sources)))
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return isinstance(node, _COMPUTED) and all(map(self._is_computed, parts))

    def _is_computing(self, call: ast.Call) -> bool:
        """Whether a call is to a function that only computes a number."""
        function, count = self.known(call.func), len(call.args)
        if call.keywords or any(isinstance(part, ast.Starred) for part in call.args):
            return False
        if isinstance(function, np.ufunc):
            return count == function.nin  # an extra argument would be the output
        if any(function is other for other in _OF_SOME):
            return count > 1
        if any(function is other for other in _COMPUTING):
            return True
        of_c = isinstance(function, types.BuiltinFunctionType)
        return of_c and function.__module__ in ("math", "cmath") and not consumes_first(call, self.known)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _sets_constants(statement: ast.stmt) -> bool:
    """Whether a statement assigns only constants, which the code that makes the items cannot notice."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    parts: list[ast.expr | None] = [statement.value]
    if isinstance(statement.value, ast.Tuple):
        parts = list(statement.value.elts)
    return all(map(_is_pattern, targets)) and all(map(_is_constant, parts))


def _is_constant(node: ast.expr | None) -> bool:
    value = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(value, ast.Constant)


def _is_pattern(target: ast.expr) -> bool:
    """Whether a target consists of variables only."""
    if isinstance(target, ast.Tuple):
        return all(map(_is_pattern, target.elts))
    return isinstance(target, ast.Name)


def _augmented(statement: ast.stmt) -> list[ast.AugAssign]:
    return [n for n in ast.walk(statement) if isinstance(n, ast.AugAssign)]


def _stored(node: ast.AST) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
