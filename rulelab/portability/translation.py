"""A function's text translated to a framework: statement by statement, with a table of names."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import ExportError
from ..parsing import parse
from .anatomy import Text, root, without_docstring, written
from .naming import Facts, Names, math_name
from .words import (
    CONSTANTS,
    ELEMENTWISE,
    LIKE,
    MAKERS,
    METHODS,
    NEW_AXIS,
    OF_SHAPES,
    SAFE_BUILTINS,
    SHAPES,
)

_ZEROS = {"NoTangent", "ZeroTangent", "NO_FIELDS", "Zero", "DoesNotExist"}
_THUNKS = {"thunk", "Thunk"}


def made(pattern: str, **parts: ast.expr) -> ast.expr:
    """An expression with other expressions substituted for names.

    >>> ast.unparse(made("torch.cat(arrays, dim=axis)", arrays=ast.Name("xs"), axis=ast.Constant(0)))
    'torch.cat(xs, dim=0)'
    """

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return copy.copy(parts.get(node.id, node))

    return Filled().visit(parse(pattern, mode="eval").body)


def is_zero(names: Names, node: ast.AST) -> bool:
    """Whether an expression is `NoTangent()` or `ZeroTangent()`, by any of their names."""
    named = node.func if isinstance(node, ast.Call) and not node.args else node
    dotted = names.dotted(named) or ""
    return dotted.startswith("rulelab.") and dotted[8:] in _ZEROS


def unwrapped(names: Names, node: ast.expr) -> ast.expr:
    """A cotangent without the thunk around it or the projection onto its primal."""
    while isinstance(node, ast.Call) and len(node.args) == 1:
        last = (names.dotted(node.func) or "").removeprefix("rulelab.")
        if last in _THUNKS and isinstance(node.args[0], ast.Lambda):
            node = node.args[0].body
        elif last == "unthunk":
            node = node.args[0]
        elif isinstance(node.func, ast.Call) and names.dotted(node.func.func) == "rulelab.ProjectTo":
            node = node.args[0]
        else:
            break
    return node


class Translator:
    """The statements of one function in the terms of a framework. Subclasses are the frameworks.

    `reference` is the parameter whose precision and device new arrays get.
    """

    framework = "the framework"
    traces = False
    writes_elements = True

    def __init__(
        self,
        text: Text,
        names: Names,
        static: Iterable[str],
        traced: Iterable[str],
        reference: str | None = None,
    ):
        self.facts = Facts(text, names, static, traced)
        self.text, self.names, self.reference = text, names, reference
        self.parameters = {*static, *traced}
        self.needs: set[str] = set()  # modules and helpers from rulelab that the result uses
        self.branches = False  # whether it branches on a value

    # --- refusals -------------------------------------------------------------------------------------------

    def refuse(self, node: ast.AST, why: str, *fixes: str) -> ExportError:
        return self.text.refusal(node, why, fixes)

    def no_counterpart(self, node: ast.AST, what: str) -> ExportError:
        return self.refuse(node, f"{what} has no counterpart in {self.framework}")

    # --- statements -----------------------------------------------------------------------------------------

    def body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a function, translated."""
        found = self.block(without_docstring(statements))
        return found or [ast.Pass()]

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in statements for made in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        method: Callable | None = getattr(self, f"_{type(node).__name__}", None)
        if method is None:
            raise self.no_counterpart(node, f"`{_keyword(node)}`")
        return method(node)

    def _Pass(self, node: ast.stmt) -> list[ast.stmt]:
        return [node]

    _Break = _Continue = _Pass

    def _Return(self, node: ast.Return) -> list[ast.stmt]:
        if node.value is None:
            raise self.no_counterpart(node, "a function without a value")
        return [ast.Return(self.value(node.value))]

    def value(self, node: ast.expr) -> ast.expr:
        """What a function returns."""
        return self.expression(node)

    def _Assign(self, node: ast.Assign) -> list[ast.stmt]:
        self.see_alias(node)
        value = self.expression(node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return [self.element_written(node.targets[0], value, None, node)]
        return [ast.Assign([self.target(t) for t in node.targets], value)]

    def _AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        if node.value is None:
            return []
        plain = ast.copy_location(ast.Assign([node.target], node.value), node)
        return self._Assign(plain)

    def _AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        value = self.expression(node.value)
        if isinstance(node.target, ast.Subscript):
            return [self.element_written(node.target, value, node.op, node)]
        if not isinstance(node.target, ast.Name):
            raise self.no_counterpart(node, "a write to an attribute")
        name = node.target.id
        if None in self._bound_to(name) and not self.facts.is_static(node.target):
            raise self.refuse(node, f"`{_sign(node.op)}=` may write into the array of which {name} is a part")
        if name in self.parameters and not self.facts.is_static(node.target):
            raise self.refuse(
                node, f"`{_sign(node.op)}=` writes into the argument {name} where it is an array"
            )
        sum_ = ast.BinOp(ast.Name(name, ast.Load()), node.op, value)
        return [ast.Assign([ast.Name(name, ast.Store())], sum_)]

    def _Expr(self, node: ast.Expr) -> list[ast.stmt]:
        call = node.value
        if isinstance(call, ast.Constant):
            return []
        if isinstance(call, ast.Call):
            if self.facts.dotted(call.func) == "numpy.add.at" and len(call.args) == 3:
                return [self.added_at(call)]
            func = call.func
            if (
                isinstance(func, ast.Attribute)
                and func.attr in ("append", "extend")
                and isinstance(func.value, ast.Name)
            ):
                if func.value.id not in self.parameters:
                    return [ast.Expr(ast.Call(func, [self.expression(x) for x in call.args], []))]
        raise self.refuse(
            node, f"`{ast.unparse(call)[:60]}` is called for an effect, which {self.framework} does not keep"
        )

    def added_at(self, call: ast.Call) -> ast.stmt:
        raise self.no_counterpart(call, "np.add.at")

    def added_to(self, call: ast.Call) -> ast.Name:
        """The array that `np.add.at` adds to, which must have been made by the function itself."""
        base = root(call.args[0])
        if (
            base is None
            or base is not call.args[0]
            or base.id in self.parameters
            or base.id not in self.facts.own
        ):
            raise self.refuse(call, "np.add.at writes into an array that the function has not made itself")
        return base

    def _If(self, node: ast.If) -> list[ast.stmt]:
        self.branches |= not self.facts.is_static(node.test)
        return [
            ast.If(self.expression(node.test), self.block(node.body) or [ast.Pass()], self.block(node.orelse))
        ]

    def _For(self, node: ast.For) -> list[ast.stmt]:
        if node.orelse:
            raise self.no_counterpart(node, "`else` after a loop")
        over = self.expression(node.iter)
        return [ast.For(self.target(node.target), over, self.block(node.body) or [ast.Pass()], [])]

    def _While(self, node: ast.While) -> list[ast.stmt]:
        if node.orelse:
            raise self.no_counterpart(node, "`else` after a loop")
        self.branches |= not self.facts.is_static(node.test)
        return [ast.While(self.expression(node.test), self.block(node.body) or [ast.Pass()], [])]

    def _With(self, node: ast.With) -> list[ast.stmt]:
        for item in node.items:
            context = item.context_expr
            if not isinstance(context, ast.Call) or self.facts.dotted(context.func) != "numpy.errstate":
                raise self.no_counterpart(node, "`with`")
        return self.block(node.body)

    def _Raise(self, node: ast.Raise) -> list[ast.stmt]:
        if node.exc is None or node.cause is not None:
            raise self.no_counterpart(node, "`raise` without an error, or from another")
        error = node.exc
        named = error.func if isinstance(error, ast.Call) else error
        if not _is_exception(self.facts.builtin(named)):
            raise self.refuse(node, "an export can raise only built-in exceptions")
        args = [self.expression(x) for x in error.args] if isinstance(error, ast.Call) else []
        return [ast.Raise(ast.Call(named, args, []), None)]

    def _Assert(self, node: ast.Assert) -> list[ast.stmt]:
        return [ast.Assert(self.expression(node.test), self.expression(node.msg) if node.msg else None)]

    def target(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, (ast.Tuple, ast.List)):
            return ast.Tuple([self.target(t) for t in node.elts], ast.Store())
        if isinstance(node, ast.Starred):
            return ast.Starred(self.target(node.value), ast.Store())
        raise self.refuse(node, "one of several targets is an element or an attribute")

    def element_written(
        self, target: ast.Subscript, value: ast.expr, op: ast.operator | None, node: ast.stmt
    ) -> ast.stmt:
        """`x[i] = value`, or with an operator `x[i] += value`."""
        self.own_array(target, node)
        self.one_by_one(target.slice)
        base = ast.Subscript(self.expression(target.value), self.index(target.slice), ast.Store())
        return ast.Assign([base], value) if op is None else ast.AugAssign(base, op, value)

    def own_array(self, target: ast.Subscript, node: ast.AST) -> str:
        """The name of the array whose element is written: it must have been made by the function itself, and
        not be a view.
        """
        name = target.value.id if isinstance(target.value, ast.Name) else None
        if name is None or name not in self.facts.own or name in self.parameters or not self.is_made(name):
            raise self.refuse(node, "a write to an element of an array that the function has not created")
        return name

    def is_made(self, name: str) -> bool:
        """Whether a name is bound to new arrays only."""
        held = self._bound_to(name)
        return bool(held) and all(self._is_new(v) for v in held)

    def _bound_to(self, name: str) -> list[ast.AST | None]:
        """The expressions that a name is bound to; None for a binding by a loop or by unpacking."""
        found: list[ast.AST | None] = []
        for node in ast.walk(self.text.tree):
            if isinstance(node, ast.Assign):
                for t in node.targets:
                    if isinstance(t, ast.Name) and t.id == name:
                        found.append(node.value)
                    elif isinstance(t, (ast.Tuple, ast.List)) and name in written([t]):
                        found.append(None)
            elif (
                isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and getattr(node.target, "id", None) == name
            ):
                found.append(node.value)
            elif isinstance(node, (ast.For, ast.comprehension)) and name in written([node.target]):
                found.append(None)
        return found

    def _is_new(self, node: ast.AST | None) -> bool:
        """Whether an expression certainly returns a new array."""
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return True
        if not isinstance(node, ast.Call):
            return False
        name = (self.facts.dotted(node.func) or "").removeprefix("numpy.")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy":
            return True
        return name in MAKERS | LIKE | ELEMENTWISE - {"real", "imag", "conj", "conjugate", "positive"} | {
            "array",
            "copy",
        }

    def one_by_one(self, index: ast.expr) -> None:
        """Refuse an index that may name an element twice: only NumPy defines which value that element
        gets.
        """
        for part in _indices(index):
            number = self.facts.is_whole(part) or self.is_one_place(part)
            static = self.facts.is_static(part) and not isinstance(part, (ast.List, ast.Tuple))
            if not (
                isinstance(part, (ast.Slice, ast.Constant)) or number or static or self.facts.is_mask(part)
            ):
                raise self.refuse(
                    part, "NumPy's meaning of an index that may name an element twice"
                )

    def is_one_place(self, node: ast.expr) -> bool:
        """Whether an expression is a single position in an array, found by `argmax` or `argmin`."""
        held = self._bound_to(node.id) if isinstance(node, ast.Name) else [node]
        return bool(held) and all(
            isinstance(v, ast.Call)
            and self.facts.dotted(v.func) in ("numpy.argmax", "numpy.argmin")
            and len(v.args) == 1
            and not v.keywords
            for v in held
        )

    def see_alias(self, node: ast.Assign) -> None:
        """Refuse two names for one array of which an element is written, or that is added to in place."""
        if self.facts.is_static(node.value):
            return
        changed = self.changed()
        bound = [t for t in node.targets if not isinstance(t, ast.Subscript)]  # an element gets a copy
        names = {t.id for target in bound for t in ast.walk(target) if isinstance(t, ast.Name)}
        for base in self._same_memory(node.value) if names else ():
            if (names | {base}) & changed:
                both = " and ".join(sorted(names | {base}))
                raise self.refuse(node, f"{both} may be the same array, which is written into")

    def _same_memory(self, source: ast.AST) -> set[str]:
        """The names of arrays that the value of an expression may be, or may be a part of."""
        if isinstance(source, ast.Name):
            return {source.id}
        if isinstance(source, (ast.Tuple, ast.List)):
            return {base for part in source.elts for base in self._same_memory(part)}
        if isinstance(source, ast.IfExp):
            return self._same_memory(source.body) | self._same_memory(source.orelse)
        if isinstance(source, ast.Subscript):
            sliced = any(isinstance(p, ast.Slice) for p in _indices(source.slice))
            return self._same_memory(source.value) if sliced else set()
        if isinstance(source, ast.Attribute) and source.attr in ("T", "real", "imag", "flat", "mT"):
            return self._same_memory(source.value)
        if isinstance(source, ast.Call):
            word = (self.facts.dotted(source.func) or "").rpartition(".")[2]
            if isinstance(source.func, ast.Attribute) and not word:
                return self._same_memory(source.func.value) if source.func.attr in _VIEWS else set()
            if word in _VIEWS and source.args:
                return self._same_memory(source.args[0])
        return set()

    def changed(self) -> set[str]:
        """The names of arrays that are written into anywhere in the function."""
        found = set()
        for node in ast.walk(self.text.tree):
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                found |= {base.id for base in [root(node)] if base is not None}
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                found |= written([node])
        return found - self.facts.static

    # --- expressions ----------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        node = unwrapped(self.names, node)
        method: Callable | None = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            raise self.no_counterpart(node, f"`{_keyword(node)}`")
        return method(node)

    def _of_Constant(self, node: ast.Constant) -> ast.expr:
        return node

    def _of_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.facts.own:
            return node
        if node.id in self.names.numbers | self.names.arrays | self.names.helpers:
            return self.constant(node) if node.id in self.names.arrays else node
        dotted = self.facts.dotted(node)
        if dotted is not None:
            return self.library_value(node, dotted)
        if self.facts.builtin(node) in SAFE_BUILTINS | {"float", "int", "bool", "complex", "str"}:
            return node
        raise self.no_counterpart(node, node.id)

    def constant(self, node: ast.Name) -> ast.expr:
        """An array that the module holds."""
        return node

    def library_value(self, node: ast.expr, dotted: str) -> ast.expr:
        """What a library has besides functions: a number, or the name for a new axis."""
        if dotted in CONSTANTS and dotted != "numpy.euler_gamma":
            self.needs.add("math")
            return made(f"math.{dotted.rpartition('.')[2]}")
        if dotted == NEW_AXIS:
            return ast.Constant(None)
        raise self.no_counterpart(node, ast.unparse(node))

    def _of_Attribute(self, node: ast.Attribute) -> ast.expr:
        dotted = self.facts.dotted(node)
        if dotted is not None:
            return self.library_value(node, dotted)
        if node.attr in SHAPES | {"T", "real", "imag", "mT"}:
            return self.array_attribute(node)
        return self.field(node)

    def array_attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Attribute(self.expression(node.value), node.attr, ast.Load())

    def field(self, node: ast.Attribute) -> ast.expr:
        raise self.no_counterpart(node, f"the attribute {node.attr}")

    def _of_BinOp(self, node: ast.BinOp) -> ast.expr:
        return ast.BinOp(self.expression(node.left), node.op, self.expression(node.right))

    def _of_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return ast.UnaryOp(node.op, self.expression(node.operand))

    def _of_Compare(self, node: ast.Compare) -> ast.expr:
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops) and not self.facts.is_static(node):
            raise self.no_counterpart(node, "`in`")
        return ast.Compare(
            self.expression(node.left), node.ops, [self.expression(x) for x in node.comparators]
        )

    def _of_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.branches |= not self.facts.is_static(node)
        return ast.BoolOp(node.op, [self.expression(x) for x in node.values])

    def _of_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.branches |= not self.facts.is_static(node.test)
        return ast.IfExp(*map(self.expression, (node.test, node.body, node.orelse)))

    def _of_Tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple([self.expression(x) for x in node.elts], ast.Load())

    def _of_List(self, node: ast.List) -> ast.expr:
        return ast.List([self.expression(x) for x in node.elts], ast.Load())

    def _of_Starred(self, node: ast.Starred) -> ast.expr:
        return ast.Starred(self.expression(node.value), ast.Load())

    def _of_Dict(self, node: ast.Dict) -> ast.expr:
        if None in node.keys:
            raise self.no_counterpart(node, "`**` in a dict")
        return ast.Dict(
            [self.expression(k) for k in node.keys if k], [self.expression(v) for v in node.values]
        )

    def _comprehension(self, node: Any) -> ast.expr:
        for loop in node.generators:
            if any(not self.facts.is_static(test) for test in loop.ifs) or loop.is_async:
                raise self.no_counterpart(node, "a comprehension that chooses by value")
        loops = [
            ast.comprehension(
                self.target(g.target), self.expression(g.iter), [self.expression(t) for t in g.ifs], 0
            )
            for g in node.generators
        ]
        if isinstance(node, ast.DictComp):
            return ast.DictComp(self.expression(node.key), self.expression(node.value), loops)
        return type(node)(self.expression(node.elt), loops)

    _of_ListComp = _of_GeneratorExp = _of_DictComp = _comprehension

    def _of_Subscript(self, node: ast.Subscript) -> ast.expr:
        return ast.Subscript(self.expression(node.value), self.index(node.slice), ast.Load())

    def index(self, node: ast.expr) -> ast.expr:
        """The index between the brackets."""
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.index(x) for x in node.elts], ast.Load())
        return self.expression(node)

    def _of_Slice(self, node: ast.Slice) -> ast.expr:
        return ast.Slice(
            *[None if x is None else self.expression(x) for x in (node.lower, node.upper, node.step)]
        )

    def _of_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        return ast.JoinedStr([self.expression(x) for x in node.values])

    def _of_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        if node.format_spec is not None:
            raise self.no_counterpart(node, "a format")
        return ast.FormattedValue(self.expression(node.value), node.conversion, None)

    # --- calls ----------------------------------------------------------------------------------------------

    def _of_Call(self, node: ast.Call) -> ast.expr:
        func = node.func
        dotted = self.facts.dotted(func)
        if dotted is not None:
            return self._library_call(node, dotted)
        if isinstance(func, ast.Name):
            if func.id in self.names.helpers and func.id not in self.facts.own:
                return self.helper_call(node)
            builtin = self.facts.builtin(func)
            if builtin is not None:
                return self.builtin_call(node, builtin)
        if isinstance(func, ast.Attribute):
            return self.method_call(node, func)
        raise self.no_counterpart(node, f"a call of {ast.unparse(func)[:60]}")

    def helper_call(self, node: ast.Call) -> ast.expr:
        return ast.Call(node.func, self.arguments(node), self.keywords(node))

    def arguments(self, node: ast.Call) -> list[ast.expr]:
        return [self.expression(x) for x in node.args]

    def keywords(self, node: ast.Call) -> list[ast.keyword]:
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.no_counterpart(node, "`**` in a call")
        return [ast.keyword(k.arg, self.expression(k.value)) for k in node.keywords]

    def _library_call(self, node: ast.Call, dotted: str) -> ast.expr:
        for keyword in node.keywords:
            if keyword.arg in ("out", "where", "order", "casting", None):
                raise self.no_counterpart(node, f"`{keyword.arg or '**'}` of {ast.unparse(node.func)}")
        if (name := math_name(dotted)) and all(map(self.facts.is_static, node.args)) and not node.keywords:
            self.needs.add("math")
            return ast.Call(made(f"math.{name}"), self.arguments(node), [])
        if dotted == "rulelab.Tangent":
            return self.tangent(node)
        if dotted.startswith("rulelab."):
            raise self.no_counterpart(node, ast.unparse(node.func))
        if dotted in OF_SHAPES:
            return self.shape_call(node, dotted)
        return self.library_call(node, dotted)

    def shape_call(self, node: ast.Call, dotted: str) -> ast.expr:
        """`np.shape(x)` and similar calls."""
        word = dotted.rpartition(".")[2]
        if word not in SHAPES or len(node.args) != 1:
            raise self.no_counterpart(node, ast.unparse(node.func))
        return ast.Attribute(self.expression(node.args[0]), word, ast.Load())

    def library_call(self, node: ast.Call, dotted: str) -> ast.expr:
        raise self.no_counterpart(node, ast.unparse(node.func))

    def tangent(self, node: ast.Call) -> ast.expr:
        """The cotangent of a tuple, a list or a dict, as a tuple, list or dict itself."""
        if not node.args or not isinstance(node.args[0], ast.Name):
            raise self.no_counterpart(node, "the cotangent of an object")
        kind, items = self.facts.builtin(node.args[0]), node.args[1:]
        parts = [self.expression(x) for x in items]
        if kind == "tuple" and not node.keywords:
            return ast.Tuple(parts, ast.Load())
        if kind == "list" and not node.keywords:
            return ast.List(parts, ast.Load())
        if kind == "dict" and not items:
            return ast.Dict(
                [ast.Constant(k.arg) for k in node.keywords],
                [self.expression(k.value) for k in node.keywords],
            )
        if kind == "dict" and len(parts) == 1:
            return parts[0]
        raise self.no_counterpart(node, "the cotangent of an object")

    def builtin_call(self, node: ast.Call, name: str) -> ast.expr:
        if all(map(self.facts.is_static, node.args)) and name in (
            "int",
            "float",
            "bool",
            "max",
            "min",
            "round",
        ):
            return ast.Call(node.func, self.arguments(node), self.keywords(node))
        if name in SAFE_BUILTINS | {"max", "min"}:
            return self.safe_builtin(node, name)
        if name == "pow" and len(node.args) == 2:
            return ast.BinOp(self.expression(node.args[0]), ast.Pow(), self.expression(node.args[1]))
        if _is_exception(name):
            return ast.Call(node.func, self.arguments(node), [])
        raise self.no_counterpart(node, f"{name}() of what varies")

    def safe_builtin(self, node: ast.Call, name: str) -> ast.expr:
        if name == "isinstance":
            raise self.refuse(node, f"an argument has a different type in {self.framework}")
        if name in ("max", "min"):
            self.branches = True
        return ast.Call(node.func, self.arguments(node), self.keywords(node))

    def method_call(self, node: ast.Call, func: ast.Attribute) -> ast.expr:
        if func.attr == "astype" and len(node.args) == 1 and not node.keywords:
            return self.cast(self.expression(func.value), node.args[0])
        if func.attr in METHODS:
            return self.array_method(node, func)
        if func.attr in ("items", "keys", "values") and not node.args:
            return ast.Call(ast.Attribute(self.expression(func.value), func.attr, ast.Load()), [], [])
        raise self.no_counterpart(node, f"the method {func.attr}")

    def array_method(self, node: ast.Call, func: ast.Attribute) -> ast.expr:
        method = ast.Attribute(self.expression(func.value), func.attr, ast.Load())
        return ast.Call(method, self.arguments(node), self.keywords(node))

    def cast(self, value: ast.expr, dtype: ast.expr) -> ast.expr:
        return made("value.astype(dtype)", value=value, dtype=self.dtype(dtype))

    def dtype(self, node: ast.expr) -> ast.expr:
        """The framework's dtype for one of NumPy's."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return self.expression(node)
        word = self.facts.builtin(node) or (self.facts.dotted(node) or "").removeprefix("numpy.")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value
        found = self.dtype_of(_DTYPES.get(word, word))
        if found is None:
            raise self.no_counterpart(node, f"the dtype {ast.unparse(node)}")
        return found

    def dtype_of(self, word: str) -> ast.expr | None:
        """The dtype for a NumPy name: float, complex, int, bool, float32 or complex64."""
        return made(word) if word in ("float", "complex", "int", "bool") else None


_VIEWS = set(
    "reshape ravel transpose swapaxes moveaxis squeeze expand_dims broadcast_to diagonal "
    "diag asarray atleast_1d "
    "atleast_2d real imag conj conjugate flip fliplr flipud rot90 split view permute_dims positive".split()
)
"""Functions that return a view of their argument, or may return the argument itself."""
_DTYPES = {
    "float64": "float",
    "double": "float",
    "complex128": "complex",
    "int64": "int",
    "intp": "int",
    "int_": "int",
    "bool_": "bool",
}


def _is_exception(name: str | None) -> bool:
    known = getattr(builtins, name or "", None)
    return isinstance(known, type) and issubclass(known, Exception)


def _indices(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _keyword(node: ast.AST) -> str:
    words = {
        "Try": "try",
        "FunctionDef": "def",
        "ClassDef": "class",
        "NamedExpr": ":=",
        "Import": "import",
        "ImportFrom": "import",
    }
    return words.get(type(node).__name__, type(node).__name__.lower())


def _sign(op: ast.operator) -> str:
    return ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b")))[2:-2]
