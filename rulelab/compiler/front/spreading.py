"""Makes each item of `*args` a parameter, where the function only takes the tuple apart.

The tuple is new at each call, so nothing else refers to it: reading an item by its index reads the argument
itself, which then has its own kind, derivative and cotangent. The dict of `**words` is left out where a
call passes no keywords and the function only passes them on, as wrappers do.
"""

from __future__ import annotations

import ast
import inspect
import types
import weakref
from collections.abc import Collection

from ...errors import RuleLabError
from ..base import ir
from ..base.copying import duplicate
from ..base.liveness import drop, prune, use_counts
from ..base.source import find_source
from .forwarding import forward

MOST = 64  # arguments that become parameters; the code grows with each


_HANDING_ON: dict[int, tuple[weakref.ref[types.CodeType], bool]] = {}  # by the id of the code


def hands_on_words(code: types.CodeType) -> bool:
    """Whether a function does nothing with its `**words` but pass them on: `f(*args, **words)`."""
    known, number = _HANDING_ON.get(id(code)), id(code)
    if known is None or known[0]() is not code:
        gone = weakref.ref(code, lambda _: _HANDING_ON.pop(number, None))
        known = _HANDING_ON[number] = gone, _only_hands_on(code)
    return known[1]


def _only_hands_on(code: types.CodeType) -> bool:
    try:
        node = find_source(code).node
    except RuleLabError:
        return False
    number = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    name = code.co_varnames[number]
    handed = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.keyword) and n.arg is None}
    named = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    return name not in code.co_cellvars and all(id(n) in handed for n in named)


def spread(
    function: ir.Function, count: int, with_words: bool = False, texts: Collection[str] = ()
) -> ir.Function | None:
    """The function with `count` parameters in place of `*args`; None if it does more with it than read items
    by index. `with_words` says that `**words` follows, which is empty; `texts` are the captured functions
    whose bodies may replace calls of them, with stars or without.
    """
    if not function.body:
        return None
    made = duplicate(function)
    if with_words:
        made.parameters, words = made.parameters[:-1], made.parameters[-1]
        made.body.insert(0, ir.Let(made.body[0].position, words, ir.Build("dict", (), opened=True)))
    *others, rest = made.parameters
    names = _names(made, rest, count)
    position = made.body[0].position
    made.body.insert(0, ir.Let(position, rest, ir.Build("tuple", tuple(names))))
    made.parameters = [*others, *names]
    forward(made, texts)
    if use_counts(made)[rest] or (with_words and use_counts(made)[words]):
        return None
    if with_words:
        drop(made.body, {words})
    # An argument that is not read is on no path to the result, though others of the tuple may be.
    made.handed = [handed for handed in made.handed if rest not in (handed.value, *handed.atoms)]
    prune(made)
    return made


def _names(function: ir.Function, rest: str, count: int) -> list[str]:
    """The names of the parameters: the variables that the function unpacks them into, or new ones."""
    names: dict[int, str] = {}
    same = {rest}
    for statement in function.body:
        if not isinstance(statement, ir.Let):
            continue
        op, target = statement.op, statement.target
        if isinstance(op, (ir.Move, ir.Unpack)) and op.value in same:
            same.add(target)
        elif isinstance(op, ir.Item) and op.value in same and isinstance(op.index, ir.Const):
            number = op.index.value
            if type(number) is int and 0 <= number < count and target in function.locals:
                names.setdefault(number, target)
    return [names.get(number) or function.fresh(rest) for number in range(count)]
