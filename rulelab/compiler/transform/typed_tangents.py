"""The tangents of operations on typed arrays, written out, so that a further transform knows the types."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ...parsing import parse
from ...rules.formulas import Formula, partials_of
from ...rules.kinds import ANY, F8, Array, Known, Tuple, Type, is_real
from ...rules.rule import Rule
from ..base import ir

_CHANGING = frozenset({"dtype", "out", "initial", "where"})  # options that make a sum nonlinear
_OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow"}


class TypedTangents:
    """The part of the tangent that writes out operations that are linear in arrays, or whose partials are
    formulas.

    What it writes assumes that tangents are arrays or numbers: `assumed` has the tangents for which the types
    of the finished function must confirm this.
    """

    assumed: list[ir.Atom]
    builds: dict[str, ir.Build]  # the tuples that the function makes

    types: Callable[[ir.Atom], Type]
    steps: Any
    let: Callable[[ir.Op, str], str]
    define: Callable[[str, ir.Op], None]
    keep: Callable[[str, ir.Op], None]
    dot: Callable[[ir.Atom], ir.Atom]
    full: Callable[[ir.Atom], ir.Atom]
    varies: Callable[[ir.Atom], bool]
    packed: Callable[..., str]
    of_reals: Callable[..., None]

    def of_arrays(self, op: ir.Op, target: str) -> bool:
        """Write out an operation on arrays with its tangent, if possible; return whether that was done."""
        if not _is_float(self.types(target)):
            return False
        rule = self.steps.certain_rule(op, "frule")
        if rule is None or not rule.built_in:
            return False
        made = self.tangent_of(op, rule, target)
        if made is None:
            return False
        self.keep(target, op)
        made()
        return True

    def tangent_of(self, op: ir.Op, rule: Rule, target: str) -> Callable[[], None] | None:
        """A function that writes out the tangent of an operation, or None for operations not handled here."""
        if isinstance(op, ir.Binary):
            if not (_is_float(self.types(op.left)) and _is_float(self.types(op.right))):
                return None
            return self.of_two(op, target)
        if isinstance(op, ir.Unary):
            negates = op.operator == "neg" and _is_float(self.types(op.value))
            return (lambda: self.define(target, ir.Unary("neg", self.dot(op.value)))) if negates else None
        if isinstance(op, ir.Attribute):
            transposes = op.name in ("T", "mT") and _is_float_array(self.types(op.value))
            return (
                (lambda: self.define(target, ir.Attribute(self.array(op.value), op.name)))
                if transposes
                else None
            )
        assert isinstance(op, ir.Call)
        return (
            self.by_slope(op, rule, target) if rule.partials is not None else self.of_linear(op, rule, target)
        )

    def array(self, atom: ir.Atom) -> ir.Atom:
        """The tangent of an array, assumed to be an array as well."""
        dot = self.full(atom)
        self.assumed.append(dot)
        return dot

    # -- operators -------------------------------------------------------------------------------------------

    def of_two(self, op: ir.Binary, target: str) -> Callable[[], None] | None:
        if op.operator in ("mul", "truediv"):
            return lambda: self.of_reals(op, target)
        if op.operator in ("add", "sub"):
            return lambda: self.of_sum(op, target)
        if op.operator == "matmul":
            return lambda: self.of_product(op, target)
        exponent = op.right.value if isinstance(op.right, ir.Const) else 0
        whole = type(exponent) in (int, float) and float(exponent).is_integer() and exponent >= 2
        return (lambda: self.of_power(op, exponent, target)) if op.operator == "pow" and whole else None

    def of_sum(self, op: ir.Binary, target: str) -> None:
        """Define the sum of the tangents; a constant array contributes zeros, so that the shape is right."""
        terms = [
            self.dot(atom)
            if self.varies(atom) or not isinstance(self.types(atom), Array)
            else self.zeros(atom)
            for atom in (op.left, op.right)
        ]
        left, right = terms
        if not self.varies(op.right) and not isinstance(self.types(op.right), Array):
            self.define(target, ir.Move(left))
        elif not self.varies(op.left) and not isinstance(self.types(op.left), Array):
            self.define(target, ir.Unary("neg", right) if op.operator == "sub" else ir.Move(right))
        else:
            self.define(target, ir.Binary(op.operator, left, right))

    def zeros(self, atom: ir.Atom) -> ir.Atom:
        return self.let(ir.Call(ir.Const(np.zeros_like), (atom,)), "zeros")

    def of_product(self, op: ir.Binary, target: str) -> None:
        terms = []
        if self.varies(op.left):
            terms.append(self.let(ir.Binary("matmul", self.dot(op.left), op.right), "t"))
        if self.varies(op.right):
            terms.append(self.let(ir.Binary("matmul", op.left, self.dot(op.right)), "t"))
        self.define(target, ir.Move(terms[0]) if len(terms) == 1 else ir.Binary("add", *terms))

    def of_power(self, op: ir.Binary, exponent: float, target: str) -> None:
        power = (
            op.left if exponent == 2 else self.let(ir.Binary("pow", op.left, ir.Const(exponent - 1)), "power")
        )
        slope = self.let(ir.Binary("mul", ir.Const(exponent), power), "slope")
        self.define(target, ir.Binary("mul", slope, self.dot(op.left)))

    # -- functions -------------------------------------------------------------------------------------------

    def by_slope(self, op: ir.Call, rule: Rule, target: str) -> Callable[[], None] | None:
        """The writer for an elementwise function of one array or number: its slope times the tangent."""
        if op.keywords or len(op.args) != 1 or rule.past is not None:
            return None
        (x,) = op.args
        kind = self.types(x)
        if not _is_float_array(kind) and kind != F8:
            return None
        slopes = self.slopes_of(rule, op.args)
        if not slopes:
            return None
        return lambda: self.define(
            target, ir.Binary("mul", self.written(slopes[0], target, op.args), self.dot(x))
        )

    def slopes_of(self, rule: Rule, args: tuple[ir.Atom, ...]) -> tuple[Formula, ...]:
        """The partials of a rule as formulas, or an empty tuple if they cannot be written as such."""
        kinds = list(map(self.types, args))
        of_arrays = all(isinstance(kind, Array) or kind == F8 for kind in kinds)
        return partials_of(rule.partials, len(args), of_arrays) if rule.partials is not None else ()

    def written(self, formula: Formula, y: str, xs: tuple[ir.Atom, ...]) -> ir.Atom:
        """Add the operations of a formula; return the value of the last one."""
        names: dict[str, ir.Atom] = {"y": y, **{f"x{k}": x for k, x in enumerate(xs)}}
        names |= {f"h{k}": ir.Const(helper) for k, helper in enumerate(formula.helpers)}
        text = formula.text.format_map({name: name for name in names})
        return self.expression(parse(text, mode="eval").body, names)

    def expression(self, node: ast.expr, names: dict[str, ir.Atom]) -> ir.Atom:
        if isinstance(node, ast.Constant):
            return ir.Const(node.value)
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.UnaryOp):
            return self.let(ir.Unary("neg", self.expression(node.operand, names)), "t")
        if isinstance(node, ast.BinOp):
            left, right = self.expression(node.left, names), self.expression(node.right, names)
            return self.let(ir.Binary(_OPERATORS[type(node.op)], left, right), "t")
        assert isinstance(node, ast.Call)
        args = tuple(self.expression(arg, names) for arg in node.args)
        return self.let(ir.Call(self.expression(node.func, names), args), "t")

    def of_linear(self, op: ir.Call, rule: Rule, target: str) -> Callable[[], None] | None:
        """The writer for a function that is linear in its first argument: its value at the tangent."""
        if not rule.linear or any(name in _CHANGING for name, _ in op.keywords):
            return None
        is_method = op.method is not None and not isinstance(self.types(op.function), Known)
        first, *others = (op.function, *op.args) if is_method else op.args
        others += [atom for _, atom in op.keywords]
        if any(self.varies(atom) or _says_nothing(self.types(atom)) for atom in others):
            return None
        if not _is_float_array(self.types(first)) and not self.is_display(first):
            return None

        def define() -> None:
            moved = self.array(first) if _is_float_array(self.types(first)) else self.display(first)
            if is_method:
                self.define(target, dataclasses.replace(op, function=moved))
            else:
                self.define(target, dataclasses.replace(op, args=(moved, *op.args[1:])))

        return define

    def is_display(self, atom: ir.Atom) -> bool:
        """Whether a value is a tuple display of arrays and numbers, perhaps nested."""
        build = self.builds.get(str(atom))
        return build is not None and all(
            _is_float(self.types(item)) or self.is_display(item) for item in build.items
        )

    def display(self, atom: ir.Atom) -> ir.Atom:
        """The tangents of all items of a tuple display, including zeros for the constant ones."""
        items = self.builds[str(atom)].items
        return self.packed(
            [
                self.display(item) if isinstance(self.types(item), Tuple) else self.array(item)
                for item in items
            ],
            handed=True,
        )


def _is_float_array(kind: Type) -> bool:
    return isinstance(kind, Array) and kind.dtype == "f8"


def _is_float(kind: Type) -> bool:
    return is_real(kind) or _is_float_array(kind)


def _says_nothing(kind: Type) -> bool:
    return kind == ANY or isinstance(kind, Known)


def hold(assumed: list[ir.Atom], types: Callable[[ir.Atom], Type]) -> bool:
    """Whether the tangents that were assumed to be arrays or numbers certainly are."""
    return all(_is_float(types(atom)) for atom in assumed)
