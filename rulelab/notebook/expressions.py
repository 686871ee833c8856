"""`EXPR [== FORMULA]`: an author's expression and a formula for its derivative, each as a function of the
names that vary.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from IPython.utils.process import arg_split

from ..errors import an
from .cells import MagicError, evaluate, parse
from .lines import parse_arguments, raw_rest
from .names import free_names, may_vary


class Equation(NamedTuple):
    """The text and the tree of an expression, and those of the formula to the right of `==`, if any."""

    text: str
    tree: ast.expr
    formula: str | None = None
    formula_tree: ast.expr | None = None


class Varying(NamedTuple):
    """A function of the names that vary, its text, and the values of these names; `float` for an undefined
    name.
    """

    names: tuple[str, ...]
    values: tuple
    function: Any
    text: str
    formula: Any = None
    formula_text: str | None = None

    held: tuple[str, ...] = ()

    def notes(self) -> list[str]:
        """Notes for the report about the names."""
        said = [f"{name} is any real number: nothing of that name is defined" for name in self.undefined]
        return [*said, *([f"held fixed: {', '.join(self.held)}"] if self.held else [])]

    @property
    def undefined(self) -> list[str]:
        """The names that stand for any real number."""
        return [name for name, value in zip(self.names, self.values, strict=True) if value is float]


def split_options(method, line: str) -> tuple[Any, str]:
    """The options of a line, and the expression after them, which may begin with a minus sign."""
    __tracebackhide__ = True
    words = arg_split(line, posix=False, strict=False)
    actions = method.parser._option_string_actions
    taken = 0
    while taken < len(words):
        option, _, value = words[taken].partition("=")
        if option not in actions:
            break
        taken += 1 if value or actions[option].nargs == 0 else 2
    rest = words[taken:]
    text = raw_rest(line, rest)
    head = line.rstrip()[: -len(text)] if text else line
    return parse_arguments(method, head), text


def parse_names(magic: str, text: str) -> list[str]:
    """The value of `--wrt`: names separated by commas."""
    names = [name.strip() for name in text.strip("'\"").split(",")]
    if not all(map(str.isidentifier, names)) or len(set(names)) < len(names):
        raise MagicError(f"{magic}: --wrt takes names, as in --wrt x or --wrt x,y, not {text}")
    return names


def equation(magic: str, text: str) -> Equation:
    """The two sides of the single `==` that is not within brackets; nothing is run.

    >>> found = equation("%sym_check", "f(x == y) == (a, b)")
    >>> found.text, found.formula
    ('f(x == y)', '(a, b)')
    """
    tree = parse(magic, text, "the expression")
    if isinstance(tree, ast.Tuple) and any(isinstance(part, ast.Compare) for part in tree.elts):
        raise MagicError(f"{magic}: a formula for several names must be a tuple in parentheses: == (…, …)")
    if not isinstance(tree, ast.Compare):
        return Equation(text, tree)
    if len(tree.ops) != 1 or not isinstance(tree.ops[0], ast.Eq):
        raise MagicError(f"{magic}: give an expression, or one `==` between it and a formula, not `{text}`")
    left, right = (_segment(text, side) for side in (tree.left, tree.comparators[0]))
    return Equation(left, tree.left, right, tree.comparators[0])


def _segment(text: str, node: ast.expr) -> str:
    return ast.get_source_segment(text, node) or ast.unparse(node)


def plain_call(equation: Equation, namespace: Mapping) -> ast.Call | None:
    """The call, if it consists of names and numbers, all defined, without a formula: its positional arguments
    then vary, as in the other magics. None for any other expression.
    """
    call = equation.tree
    if equation.formula is not None or not isinstance(call, ast.Call) or not call.args:
        return None
    owner = call.func
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    if isinstance(owner, ast.Name) and may_vary(namespace.get(owner.id)):
        return None  # a method of what varies
    defined = all(_is_defined(name, namespace) for name in free_names(equation.text))
    return call if defined and all(map(_is_simple, call.args)) else None


def _is_simple(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, (ast.Name, ast.Constant))


def varying(
    magic: str, shell, equation: Equation, scope: Mapping, namespace: Mapping, wrt: list[str] | None
) -> Varying:
    """Expression and formula as functions of the names `wrt`; by default of those in the expression that hold
    a float or an array of floats, or are undefined.
    """
    __tracebackhide__ = True
    free = free_names(equation.text)
    names = _names_of(magic, equation, free, namespace) if wrt is None else wrt
    for name in names:
        if name not in free:
            raise MagicError(f"{magic}: there is no {name} in `{equation.text}`")
    _refuse_undefined(magic, equation.tree, [name for name in free if name not in names], namespace)
    _refuse_used_undefined(magic, equation.tree, names, namespace)
    values = tuple(_value_of(magic, name, namespace) for name in names)
    own = {} if scope is shell.user_ns else scope
    function, text = _function(magic, shell, names, equation.text, own)
    held = tuple(_held([name for name in free if name not in names], namespace))
    if equation.formula is None:
        return Varying(tuple(names), values, function, text, held=held)
    known = [name for name in free_names(equation.formula) if name not in names]
    _refuse_undefined(magic, equation.formula_tree, known, namespace)
    if len(names) > 1 and not _may_be_tuple(equation.formula_tree, names):
        wanted = f"give a tuple of {len(names)} formulas, or --wrt {names[-1]} to hold the rest"
        raise MagicError(f"{magic}: {', '.join(names)} vary: {wanted}")
    formula, formula_text = _function(magic, shell, names, equation.formula, own)
    return Varying(tuple(names), values, function, text, formula, formula_text, held)


def _may_be_tuple(node: Any, names: list[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in names
    return isinstance(node, (ast.Tuple, ast.Call))


def _names_of(magic: str, equation: Equation, free: list[str], namespace: Mapping) -> list[str]:
    called = _used_as(equation.tree)
    names = [
        name
        for name in free
        if (may_vary(namespace[name]) if name in namespace else name not in called | set(vars(builtins)))
    ]
    if not names:
        _refuse_undefined(magic, equation.tree, free, namespace)
        raise MagicError(
            f"{magic}: no name in `{equation.text}` holds a float or an array of them; use --wrt to say what "
            "varies"
        )
    return names


def _held(names: list[str], namespace: Mapping) -> Iterator[str]:
    """Those names that do not vary but hold data: numbers with their value, arrays by name."""
    for name in names:
        value = namespace.get(name)
        if isinstance(value, (int, float, complex, np.number)):
            yield f"{name} = {value}"
        elif isinstance(value, (np.ndarray, list, tuple, dict, str)):
            yield name


def _is_defined(name: str, namespace: Mapping) -> bool:
    return name in namespace or hasattr(builtins, name)


def _used_as(tree: ast.expr) -> set[str]:
    """The names that are called, or whose attributes or items are read: a real number has none."""
    owners = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    owners += [node.value for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.Subscript))]
    return {owner.id for owner in owners if isinstance(owner, ast.Name)}


def _refuse_undefined(magic: str, tree: Any, names: list[str], namespace: Mapping) -> None:
    for name in names:
        if not _is_defined(name, namespace):
            hint = f": from math import {name}, or np.{name}" if hasattr(math, name) else ""
            raise MagicError(f"{magic}: {name} is not defined{hint}")


def _refuse_used_undefined(magic: str, tree: ast.expr, names: list[str], namespace: Mapping) -> None:
    used = _used_as(tree)
    _refuse_undefined(magic, tree, [name for name in names if name in used], namespace)


def _value_of(magic: str, name: str, namespace: Mapping) -> Any:
    if name not in namespace:
        return float
    value = namespace[name]
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.astype(float)
    if not may_vary(value):
        raise MagicError(f"{magic}: {name} is {an(type(value).__name__)}, which cannot vary")
    return value


def _function(magic: str, shell, names: list[str], body: str, own: Mapping) -> tuple[Any, str]:
    """`body` as a function of the names, and its text. Local names, which it would not see, are passed
    through a function around it.
    """
    text = f"lambda {', '.join(names)}: ({body})"
    around = [name for name in free_names(body) if name in own and name not in names]
    whole = f"lambda {', '.join(around)}: ({text})" if around else text
    made = evaluate(shell, whole, {}, parse(magic, whole, "the expression", shown=body))
    return (made(*(own[name] for name in around)) if around else made), text
