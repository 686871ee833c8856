"""Which calls consume an iterator immediately, so that a list would do as well, and which iterators can be
written as generator expressions."""

from __future__ import annotations

import ast
import heapq
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...python_facts import CONSUMING, STATISTICS
from ..base.classes import is_of_c
from ..base.source import first_name
from .bindings import Comprehension
from .making import placed
from .names import renamed


def consumes_first(call: ast.Call, known: Callable[[ast.expr], Any]) -> bool:
    """Whether the call exhausts its first argument before anything else happens.

    `known(expression)` gives the object that a global name refers to. False if evaluating the other arguments
    may have side effects, which would come before the first item.
    """
    others = [*call.args[1:], *(k.value for k in call.keywords)]
    if not call.args or not all(map(is_side_effect_free, others)):
        return False
    function = known(call.func)
    if any(function is consumer for consumer in (*CONSUMING, *(() if others else STATISTICS))):
        return True
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "join"
        and isinstance(call.func.value, ast.Constant)
        and isinstance(call.func.value.value, (str, bytes))
    )


def as_generator(
    node: ast.expr, is_builtin: Callable[[ast.expr, str], bool], ends_none: Callable[[ast.expr], bool]
) -> ast.GeneratorExp | None:
    """The generator expression that is equivalent to a call of `zip`, `enumerate`, `iter`, `reversed`,
    `filter` or `map` (`as_calls`): `((x, y) for x, y in zip(xs, ys))` for `zip(xs, ys)`. None otherwise.
    `ends_none(expression)` says whether a call of the function that it refers to ends no iteration.
    """
    if not isinstance(node, ast.Call) or any(isinstance(part, ast.Starred) for part in node.args):
        return None
    if len(node.args) == 2 and not node.keywords and is_builtin(node.func, "filter"):
        return _as_choice(node, ends_none)
    if (calls := as_calls(node, is_builtin, ends_none)) is not None:
        return calls
    if len(node.args) == 1 and not node.keywords:
        if any(is_builtin(node.func, name) for name in ("iter", "reversed")):
            item = ast.Name("item", ast.Load())
            return _generator(node, item, ast.Name("item", ast.Store()), node, [])
    if is_builtin(node.func, "zip"):
        words, count = ("strict",), len(node.args)
    elif is_builtin(node.func, "enumerate"):
        words, count = ("start",), 2
    else:
        return None
    if not node.args or any(k.arg not in words for k in node.keywords):
        return None
    if any(k.arg == "strict" and not isinstance(k.value, ast.Constant) for k in node.keywords):
        return None

    def items(context: ast.expr_context) -> ast.Tuple:
        names: list[ast.expr] = [ast.Name(f"item_{number}", context) for number in range(count)]
        return ast.Tuple(names, context)

    through = ast.comprehension(items(ast.Store()), node, [], 0)
    made = ast.copy_location(ast.GeneratorExp(items(ast.Load()), [through]), node)
    for part in (made.elt, through.target, *made.elt.elts, *through.target.elts):  # type: ignore[attr-defined]
        ast.copy_location(part, node)
    return made


def as_calls(
    node: ast.expr, is_builtin: Callable[[ast.expr, str], bool], ends_none: Callable[[ast.expr], bool]
) -> ast.GeneratorExp | None:
    """`(f(x) for x in xs)` for `map(f, xs)`, or the body of a lambda: `(v * v for v in xs)`. None where `f`
    might raise StopIteration, as `next` does: it ends a `map`, but is an error in a generator expression.
    """
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) < 2:
        return None
    if any(isinstance(part, ast.Starred) for part in node.args) or not is_builtin(node.func, "map"):
        return None
    function, *iterables = node.args
    names = _parameters(function, len(iterables))
    item = _called(function, names, ends_none)
    if item is None:
        return None
    if len(iterables) == 1:
        return _generator(node, item, ast.Name(names[0], ast.Store()), iterables[0], [])
    zipped = ast.copy_location(ast.Name("zip", ast.Load()), node)
    if not is_builtin(zipped, "zip"):
        return None
    target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    return _generator(node, item, target, ast.copy_location(ast.Call(zipped, iterables, []), node), [])


def _as_choice(node: ast.Call, ends_none: Callable[[ast.expr], bool]) -> ast.GeneratorExp | None:
    """`(x for x in xs if f(x))` for `filter(f, xs)`; None where `f` might raise StopIteration."""
    function, iterable = node.args
    names = _parameters(function, 1)
    item = ast.Name(names[0], ast.Load())
    asks_nothing = isinstance(function, ast.Constant) and function.value is None
    test = ast.copy_location(item, node) if asks_nothing else _called(function, names, ends_none)
    if test is None:
        return None
    return _generator(node, item, ast.Name(names[0], ast.Store()), iterable, [test])


def _generator(
    node: ast.expr, item: ast.expr, target: ast.expr, iterable: ast.expr, tests: list[ast.expr]
) -> ast.GeneratorExp:
    """A generator expression with one `for`, at the position of `node`."""
    made = ast.copy_location(ast.GeneratorExp(item, [ast.comprehension(target, iterable, tests, 0)]), node)
    for part in (item, *ast.walk(target)):
        if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return made


def _parameters(function: ast.expr, count: int) -> list[str]:
    """Names for the items: the parameters of a lambda if it takes this many, else generated ones."""
    if isinstance(function, ast.Lambda) and len(function.args.args) == count:
        return [parameter.arg for parameter in function.args.args]
    return [f"item_{number}" for number in range(count)]


def _called(
    function: ast.expr, names: list[str], ends_none: Callable[[ast.expr], bool]
) -> ast.expr | None:
    """The expression that a function returns for the variables `names`. None if it might raise StopIteration,
    or is a lambda that creates functions, which would capture the loop variable instead of its parameter.
    """
    if isinstance(function, ast.Lambda):
        given = function.args
        if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
            return None
        if len(given.args) != len(names) or any(isinstance(n, OWN_SCOPES) for n in ast.walk(function.body)):
            return None
        calls = [part.func for part in ast.walk(function.body) if isinstance(part, ast.Call)]
        own = set(names)
        plain = all(not _is_own(call, own) and ends_none(call) for call in calls)
        return function.body if plain else None
    if not isinstance(function, (ast.Name, ast.Attribute)) or not ends_none(function):
        return None
    items: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Load()), function) for name in names]
    return ast.copy_location(ast.Call(function, items, []), function)


@dataclass(frozen=True)
class Ranking:
    """A call of `sorted`, `max` or `min` with a key: `key` is its value for the variable `.item`."""

    function: str
    items: ast.expr
    key: ast.expr
    reverse: ast.expr | None
    default: ast.expr | None  # the value of `max` or `min` if there are no items
    key_function: ast.Name | None = None  # the variable that has it, if it is not a lambda

    def goes_on(self) -> bool:
        """Whether the items are of a generator expression with more than one loop, or with a condition."""
        if not isinstance(self.items, ast.GeneratorExp):
            return False
        first, *more = self.items.generators
        return bool(more or first.ifs)

    def others(self) -> list[ast.expr]:
        """The arguments besides the items and the key."""
        return [each for each in (self.reverse, self.default) if each is not None]

    def hides_a_name(self) -> bool:
        """Whether a variable of such a generator expression, whose loops then go on to the key, has the name
        of one there.
        """
        if not self.goes_on():
            return False
        loops = self.items.generators  # type: ignore[attr-defined]
        own = {n.id for g in loops for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        return any(isinstance(n, ast.Name) and n.id in own for n in ast.walk(self.key))


def ranking(node: ast.Call) -> Ranking | None:
    """The parts of such a call, if its key is a lambda or a name, or `sorted` has none; None for others."""
    words = {word.arg: word.value for word in node.keywords}
    function = node.func.id if isinstance(node.func, ast.Name) else ""
    if function not in _RANKED or len(node.args) != 1 or not (function == "sorted" or "key" in words):
        return None
    (items,), key = node.args, words.pop("key", None)
    reverse = words.pop("reverse", None) if function == "sorted" else None
    default = words.pop("default", None) if function != "sorted" else None
    others = [each for each in (reverse, default) if each is not None]
    if words or isinstance(items, ast.Starred) or not all(map(is_side_effect_free, others)):
        return None
    if key is None:
        return Ranking(function, items, _item(node), reverse, default)
    if isinstance(key, ast.Lambda):
        given = key.args
        alone = not (given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults)
        if not alone or len(given.args) != 1 or any(isinstance(n, OWN_SCOPES) for n in ast.walk(key.body)):
            return None
        body = renamed(key.body, {given.args[0].arg: ".item"})
        return Ranking(function, items, body, reverse, default)
    if not isinstance(key, ast.Name):
        return None
    return Ranking(function, items, _call(key, _item(key)), reverse, default, key)


def some_ranked(node: ast.Call, function: Any) -> Ranking | None:
    """The parts of a call of `heapq.nsmallest` or `nlargest`; None for others, and for a key that `ranking`
    does not accept.
    """
    if function is not heapq.nsmallest and function is not heapq.nlargest:
        return None
    words, given = {word.arg: word.value for word in node.keywords}, node.args
    if not 2 <= len(given) <= 3 - len(words) or words.keys() - {"key"}:
        return None
    if any(isinstance(part, ast.Starred) for part in given) or not _is_count(given[0]):
        return None
    key = words.get("key", given[-1] if len(given) == 3 else None)
    if key is None or (isinstance(key, ast.Constant) and key.value is None):
        return Ranking(function.__name__, given[1], _item(node), None, None)
    words = [ast.keyword("key", key)]  # type: ignore[assignment]
    call: ast.Call = placed(ast.Call(ast.Name("sorted", ast.Load()), [given[1]], words), node)  # type: ignore[arg-type]
    found = ranking(call)
    return None if found is None else replace(found, function=function.__name__)


def _is_count(node: ast.expr) -> bool:
    """Whether an expression is a variable, or the number of at least one item."""
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value > 0
    return isinstance(node, ast.Name)


_RANKED = ("sorted", "max", "min")


def _item(node: ast.expr) -> ast.expr:
    """The item itself as the key of the call, or at the key, `node`."""
    return ast.copy_location(ast.Name(".item", ast.Load()), node)


def _call(function: ast.expr, item: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(function, [item], []), function)


def ends_nothing(node: ast.GeneratorExp, ends_none: Callable[[ast.expr], bool]) -> bool:
    """Whether no call in a generator expression can raise StopIteration, an error there but not in a loop."""
    own = {n.id for each in node.generators for n in ast.walk(each.target) if isinstance(n, ast.Name)}
    return all(not _is_own(callee, own) and ends_none(callee) for callee in calls_inside(node))


def calls_inside(node: Comprehension) -> list[ast.expr]:
    """The callees in a comprehension, except in its first iterable, which is evaluated outside it."""
    first, *others = node.generators
    made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    inside = [*made, *first.ifs, *(part for each in others for part in (each.iter, *each.ifs))]
    return [n.func for part in inside for n in ast.walk(part) if isinstance(n, ast.Call)]


def _is_own(node: ast.expr, own: set[str]) -> bool:
    """Whether an expression is not a dotted name, or is one that begins with a name in `own`."""
    name = first_name(node)
    return name is None or name in own


def ends_none(function: Any) -> bool:
    """Whether a function is C code that neither raises StopIteration nor reads its caller's variables."""
    if isinstance(function, (np.ufunc, type(np.sum))) or any(function is one for one in _OPERATORS):
        return True
    if not is_of_c(function) or any(function is other for other in _OTHERS):
        return False
    return getattr(function, "__module__", None) in _PLAIN


_PLAIN = ("builtins", "math", "cmath")
_OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.neg)
_OTHERS = (next, eval, exec, locals, vars, dir, super)
OWN_SCOPES = (ast.Lambda, ast.GeneratorExp, ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def is_side_effect_free(node: ast.expr) -> bool:
    """Whether evaluating an expression has no effect other than its value."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Attribute):
        return is_side_effect_free(node.value)
    return isinstance(node, (ast.Constant, ast.Name, ast.Lambda))
