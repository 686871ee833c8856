"""Whether a rule is equivalent to a `scalar_rule`, and with which partial derivatives."""

from __future__ import annotations

import ast
import cmath
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...compiler.base.source import find_source
from ...errors import RuleLabError
from ...rules.signatures import meant_types
from ...rules.twins import is_twin, primal_of
from ..reading.anatomy import Anatomy, assigned_once, found_in, inlined, part_of, returns_of, text_of

LONGEST = 72
"""The maximum length of all partials together: longer ones would be no shorter than the rule."""

_MODULES_OF_NUMBERS = (math.__name__, cmath.__name__)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


def partials_of(rule: Anatomy) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """The name of the output, the parameters, and the partial derivative with respect to each; None for any
    other rule.

    Every cotangent must be the cotangent of the output multiplied by arithmetic on numbers, and the function
    itself must be known to work on numbers or elementwise.
    """
    a = rule.node.args
    plain = not (a.vararg or a.kwarg or a.kwonlyargs or a.defaults) and not rule.rule.requires
    if rule.rule.mode != "rrule" or not plain or len(rule.pullbacks) != 1 or len(rule.returned) != 1:
        return None
    (pullback,) = rule.pullbacks
    answers, seeds = list(rule.answers(pullback)), pullback.args.args
    if (
        len(answers) != 1
        or len(seeds) != 1
        or not is_straight_line_code(rule.node)
        or not is_straight_line_code(pullback)
    ):
        return None
    given = [expression for _, expression in answers[0].cotangents]
    if len(given) != len(rule.parameters) or not given or not _is_of_numbers(rule):
        return None
    output = rule.returned[0].elts[0]  # type: ignore[attr-defined]  # the value beside the pullback
    out = output.id if isinstance(output, ast.Name) and output.id not in rule.parameters else _unused(rule)
    known = {**assigned_once(rule.node), **assigned_once(pullback)}
    known.pop(out, None)
    partials = [_partial(rule, inlined(e, known), seeds[0].arg, {out, *rule.parameters}) for e in given]
    texts = tuple(text_of(p) for p in partials if p is not None)
    if len(texts) != len(given) or sum(map(len, texts)) > LONGEST:
        return None
    return out, rule.parameters, texts


def _partial(rule: Anatomy, node: ast.expr, seed: str, allowed: set[str]) -> ast.expr | None:
    """The factor by which a cotangent multiplies the seed; None if it is not such a product of numbers."""
    partial = without_seed(node, seed)
    if partial is None or not _is_arithmetic(partial, rule.stands_for, allowed):
        return None
    return partial


def without_seed(node: ast.expr, seed: str) -> ast.expr | None:
    """The other factors of a product that has the seed as one factor; None for anything else."""
    if isinstance(node, ast.Name) and node.id == seed:
        return ast.Constant(1.0)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = without_seed(node.operand, seed)
        return None if inner is None else ast.UnaryOp(ast.USub(), inner)
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Mult, ast.Div)):
        return None
    left = without_seed(node.left, seed) if _reads(node.left, seed) else None
    if left is not None and not _reads(node.right, seed):
        if isinstance(node.op, ast.Mult) and _is_one(left):
            return node.right
        if isinstance(node.op, ast.Mult) and isinstance(left, ast.UnaryOp) and _is_one(left.operand):
            return ast.UnaryOp(ast.USub(), node.right)
        return ast.BinOp(left, node.op, node.right)
    if isinstance(node.op, ast.Mult) and not _reads(node.left, seed):
        right = without_seed(node.right, seed)
        if right is not None:
            return node.left if _is_one(right) else ast.BinOp(node.left, ast.Mult(), right)
    return None


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1.0


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _is_of_numbers(rule: Anatomy) -> bool:
    """Whether the function is known to take numbers, or arrays elementwise."""
    notes = meant_types(rule.function)
    if all(notes.get(name) in (float, int, complex) for name in rule.parameters):
        return True
    target = primal_of(rule.target) if is_twin(rule.target) else rule.target
    if isinstance(target, np.ufunc):
        return target.signature is None and target.nout == 1
    if isinstance(target, types.BuiltinFunctionType):
        return target.__module__ in _MODULES_OF_NUMBERS
    return isinstance(target, types.FunctionType) and _is_elementwise(target)


def _is_elementwise(function: types.FunctionType) -> bool:
    """Whether an author's function is arithmetic on its arguments, according to its text."""
    try:
        node = find_source(function.__code__).node
    except RuleLabError:
        return False
    returned = returns_of(node)
    if len(returned) != 1 or not is_straight_line_code(node):
        return False
    bound = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
    known = assigned_once(node)

    def stands_for(part: ast.AST) -> Any:
        if isinstance(part, ast.Name):
            return found_in(function, part.id)
        return part_of(stands_for(part.value), part.attr) if isinstance(part, ast.Attribute) else None

    return _is_arithmetic(inlined(returned[0], known), stands_for, bound)


def takes_numbers_alone(function: Any) -> bool:
    """Whether an author's function cannot take arrays: it is arithmetic with calls of `math`."""
    if not isinstance(function, types.FunctionType) or not _is_elementwise(function):
        return False
    globals_read = (function.__globals__.get(name) for name in function.__code__.co_names)
    return any(_module_of(found) in _MODULES_OF_NUMBERS for found in globals_read)


def _module_of(found: Any) -> str:
    return found.__name__ if isinstance(found, types.ModuleType) else getattr(found, "__module__", "")


def is_straight_line_code(function: Any) -> bool:
    """Whether a function only assigns names, defines functions and returns."""
    body = getattr(function, "body", [])
    if isinstance(function, ast.Lambda):
        return True
    return all(
        isinstance(s, (ast.Assign, ast.AnnAssign, ast.Return, ast.FunctionDef)) or _is_text(s) for s in body
    )


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_arithmetic(node: ast.expr, stands_for: Callable[[ast.AST], Any], allowed: set[str]) -> bool:
    """Whether an expression consists of numbers, the allowed names, arithmetic and elementwise functions."""
    if isinstance(node, ast.Name):
        return node.id in allowed or isinstance(stands_for(node), (int, float, complex))
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, complex))
    if isinstance(node, ast.Attribute):
        return isinstance(stands_for(node), (int, float, complex))
    if isinstance(node, ast.UnaryOp):
        return _is_arithmetic(node.operand, stands_for, allowed)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return isinstance(node.op, _ARITHMETIC) and all(_is_arithmetic(s, stands_for, allowed) for s in sides)
    if isinstance(node, ast.Call) and not node.keywords:
        return _is_function_of_numbers(stands_for(node.func)) and all(
            _is_arithmetic(a, stands_for, allowed) for a in node.args
        )
    return False


def _is_function_of_numbers(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    return getattr(function, "__module__", None) in _MODULES_OF_NUMBERS


def _unused(rule: Anatomy) -> str:
    return next(name for name in ("y", "out", "result", "value") if name not in rule.parameters)
