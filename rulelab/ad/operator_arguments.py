"""What all derivative operators share: the compiler they use, which arguments are requested, the seed, and
the error where there is none.
"""

from __future__ import annotations

import ast
import functools
import operator
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..compiler.base.installed import point_to_package
from ..compiler.base.places import place_in_passes
from ..compiler.base.source import find_source
from ..compiler.calls.borrowed import asks_for_copies, remember
from ..compiler.calls.cache import DEFAULT as DEFAULT_CACHE
from ..compiler.calls.pullbacks import Pullbacks
from ..compiler.memory.operands import describe
from ..errors import RuleLabError, ScalarOutputError, an
from ..own_code import is_stand_in
from ..rules.programs import Seed
from ..rules.targets import name_of, resolve
from ..tangents.algebra import is_number

PULLBACKS = Pullbacks(DEFAULT_CACHE)


class WithGradient(NamedTuple):
    """The value of a function, and its gradient.

    Attributes
    ----------
    val : object
        The value.
    grad : tuple or Grads
        The gradient, with one entry per argument, each in the shape of its argument; a `Grads` for
        `Params`.

    Examples
    --------
    >>> import rulelab as rl
    >>> found = rl.withgradient(lambda x: x * x, 3.0)
    >>> found.val, found.grad
    (9.0, (6.0,))
    """

    val: Any
    grad: Any  # a tuple, or the Grads of Params


def asks_for_several(argnums: Any) -> bool:
    """Whether `argnums` is a list of positions, or None for all, so that the result is a tuple."""
    return argnums is None or isinstance(argnums, (tuple, list, range))


def numbers_asked(args: tuple[Any, ...], argnums: Any) -> tuple[int, ...]:
    """The positions of the requested arguments, from zero, in the order of `argnums`; all of them for
    None.
    """
    if argnums is None:
        return tuple(range(len(args)))
    count = len(args)
    listed = argnums if asks_for_several(argnums) else (argnums,)
    try:
        numbers = [operator.index(number) for number in listed]
    except TypeError:
        words = f"argnums must be a whole number or a tuple of whole numbers, not {argnums!r}"
        raise RuleLabError(words, fixes=("use 0 for the first argument, -1 for the last",)) from None
    if not all(-count <= number < count for number in numbers):
        arguments = "argument" if count == 1 else "arguments"
        raise RuleLabError(f"argnums={argnums!r}, but the call has {count} positional {arguments}")
    return tuple(number % count for number in numbers)


def which_asked(args: tuple[Any, ...], argnums: Any) -> tuple[bool, ...]:
    """For each argument, whether it is requested."""
    if argnums is None:
        return (True,) * len(args)
    wanted = numbers_asked(args, argnums)
    return tuple(number in wanted for number in range(len(args)))


def complete_error(error: RuleLabError, f: Any, args: tuple[Any, ...], called: str = "gradient") -> None:
    """Add to an error what was asked and, if a rule raised it without knowing the author's line, that
    line.
    """
    if asks_for_copies(error):
        remember(PULLBACKS, f)
    error.asked = error.asked or asked_text(f, args, called)
    if error.place is None or is_stand_in(error.place.filename):
        error.place, error.chain = place_in_passes(error)
    point_to_package(error)


def asked_text(f: Any, args: tuple[Any, ...], called: str = "gradient") -> str:
    return f"the {called} of {called_name(f)}({', '.join(map(describe, args))})"


def seed_of(y: Any, f: Any, args: tuple[Any, ...], several: bool) -> Any:
    """The seed of a gradient; with `several`, the output may be a tuple, whose first entry is
    differentiated.
    """
    if several and isinstance(y, tuple) and y:
        return (_one(y[0], f, args), *[None] * (len(y) - 1))
    return _one(y, f, args)


# The seeds of gradients taken inside a differentiated function.
SEED = Seed(functools.partial(seed_of, several=False))
SEED_OF_FIRST = Seed(functools.partial(seed_of, several=True))


_FOR_ARRAYS = ("return a number, for example np.sum(...)", "use rl.pullback with a cotangent of your choice")
_FOR_NUMBERS = ("return one entry, or a sum", "use rl.withgradient: it differentiates the first entry")
"""Suggestions for a function that returns a tuple whose first entry is a number."""


def _is_real_number(y: Any) -> bool:
    if isinstance(y, np.ndarray):
        return y.ndim == 0 and y.dtype.kind in "fiu"
    return is_number(y) and not isinstance(y, (complex, np.complexfloating))


def _one(y: Any, f: Any, args: tuple[Any, ...]) -> Any:
    """The seed for one real number y; ScalarOutputError for anything else."""
    if _is_real_number(y):
        if isinstance(y, np.ndarray):
            return np.ones((), y.dtype if y.dtype.kind == "f" else float)
        return type(y)(1.0) if isinstance(y, np.floating) else 1.0
    asked = asked_text(f, args)
    fixes: tuple[str, ...] = ()
    if isinstance(y, np.ndarray):
        found, fixes = (
            "Output is an array, so the gradient is not defined. Perhaps you wanted jacobian",
            _FOR_ARRAYS,
        )
        found = f"{found} (output {describe(y)})"
    elif isinstance(y, (complex, np.complexfloating)):
        found, fixes = (
            "Output is complex, so the gradient is not defined",
            ("return its real part or its modulus",),
        )
    elif y is None:
        found, fixes = (
            "Output is None, so the gradient is not defined",
            ("return a value on every path",),
        )
    else:
        found = f"Output is {an(describe(y))}, so the gradient is not defined"
        if isinstance(y, tuple):
            fixes = _FOR_NUMBERS if y and _is_real_number(y[0]) else _FOR_ARRAYS
    raise ScalarOutputError(
        found, asked=asked, place=return_place(f), fixes=fixes, read="limitations#scalar-output"
    )


def called_name(f: Any) -> str:
    return name_of(resolve(f)[0])


def return_place(f: Any) -> Any:
    """The place of the last return statement, or of the function if it has none; None if the source is
    unavailable.
    """
    target, _ = resolve(f)
    if not isinstance(target, types.FunctionType):
        return None
    try:
        source = find_source(target.__code__)
    except RuleLabError:
        return None
    if isinstance(source.node, ast.Lambda):
        return source.place(source.node.body)
    returns = list(_returns(source.node))
    return source.place(returns[-1] if returns else source.node)


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    """The return statements of a function in source order, without those of nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _returns(child)
