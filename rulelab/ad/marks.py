"""Functions that an author calls in a function to influence its derivative, or to observe it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiler.base.deriving import isderiving, nest_level
from ..compiler.base.places import calls_leading_here
from ..compiler.front.ignoring import ignore_derivatives, run_block
from ..errors import Place, RuleError, RuleLabError
from ..own_code import runs_out_of_sight
from ..parsing import parse
from ..rules.rule_table import RuleTable
from ..tangents.projection import project, to_natural
from ..tangents.zeros import NoTangent, ZeroTangent

runs_out_of_sight(__name__)

TABLE = RuleTable("marks")
TABLE.non_differentiable(isderiving, nest_level)
TABLE.non_differentiable(ignore_derivatives, run_block, backwards_only=True)


def dropgrad(x: Any) -> Any:
    """Return `x` itself, without a gradient: in what is computed from it, it is a constant.

    Like `ignore_derivatives(x)`, but also for a function, which is not called.

    >>> dropgrad(2.0)
    2.0
    """
    return x


TABLE.non_differentiable(dropgrad)


# --- what happens to a gradient on its way back -------------------------------------------------------------


def hook(fn: Callable[[Any], Any], x: Any) -> Any:
    """Return `x` itself; in the reverse sweep its gradient is replaced by `fn` of it.

    `fn` gets the gradient of this use of x, with the shape of x, as `gradient` would return it: a float, an
    array of its own, a structure. It is called once for each use that a cotangent reaches, so never if
    nothing depends on x. Its result replaces the gradient and must fit x; RuleError if it returns None or
    another shape. Forward mode and second derivatives have no reverse sweep through x, and refuse it.

    >>> hook(print, 3.0)
    3.0
    """
    return x


@TABLE.rrule(hook, leading=2)
def hook_rrule(fn, x):
    def hook_pullback(y_bar):
        return NoTangent(), NoTangent(), _answer(fn, x, y_bar)

    return x, hook_pullback


def _answer(fn: Callable[[Any], Any], x: Any, y_bar: Any) -> Any:
    """The result of a hook for a cotangent; the hook gets a copy that it may write to."""
    x_bar = to_natural(x, y_bar)
    if x_bar is None:
        return ZeroTangent()
    answer = fn(x_bar)
    if answer is None:
        raise RuleError(
            f"The hook {_called(fn)} returned None for a gradient",
            asked="hook(fn, x)",
            fixes=("return the gradient, changed or not",),
        )
    try:
        return project(x, answer)
    except RuleLabError as error:
        error.asked = f"hook({_called(fn)}, x)"
        raise


def _called(fn: Any) -> str:
    return getattr(fn, "__name__", type(fn).__name__)


def clip_grad(x: Any, lo: float, hi: float) -> Any:
    """Return `x` itself; in the reverse sweep, each number of its gradient is limited to between `lo` and
    `hi`.

    Parameters
    ----------
    x : object
        A value inside a function that is differentiated.
    lo, hi : float
        The limits.

    Returns
    -------
    object
        `x`.

    Raises
    ------
    RuleError
        For a complex gradient, which has no order.
    NotDifferentiableError
        In forward mode and in second derivatives, where no gradient passes through it.

    Examples
    --------
    >>> clip_grad(3.0, -1.0, 1.0)
    3.0
    """
    return x


@TABLE.rrule(clip_grad, leading=1)
def clip_grad_rrule(x, lo, hi):
    def clip(x_bar):
        if np.iscomplexobj(x_bar):
            raise RuleError(
                "A complex gradient cannot be clipped: complex numbers have no order",
                asked="clip_grad(x, lo, hi)",
            )
        return np.clip(x_bar, lo, hi)

    def clip_grad_pullback(y_bar):
        return NoTangent(), _answer(clip, x, y_bar)

    return x, clip_grad_pullback


def showgrad(x: Any, label: str | None = None) -> Any:
    """Return `x` itself; when its gradient arrives in the reverse sweep, `∂(label) = ...` is printed.

    Each use is shown as it comes, the last one first. The default label is the argument as the author wrote
    it, or the place of the call if that cannot be found.

    >>> from rulelab import gradient
    >>> gradient(lambda x: showgrad(x, "x") ** 2, 3.0)
    ∂(x) = 6.0
    (6.0,)
    """
    return x


@TABLE.rrule(showgrad, leading=1)
def showgrad_rrule(x, label=None):
    shown = label if label is not None else _expression_here()

    def show(x_bar):
        sys.stdout.write(f"∂({shown}) = {x_bar!r}\n")
        return x_bar

    def showgrad_pullback(y_bar):
        return NoTangent(), _answer(show, x, y_bar)

    return x, showgrad_pullback


def _expression_here() -> str:
    """The source of the first argument of the call that the author's function is executing, or the place of
    that call.
    """
    places = calls_leading_here()
    if not places:
        return "x"
    return _first_argument(places[-1]) or places[-1].label()


def _first_argument(place: Place) -> str | None:
    if place.column is None or place.end_column is None:
        return None
    text = place.source().encode()[place.column : place.end_column].decode(errors="replace")
    try:
        node = parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(node, ast.Call):
        return None
    words = {word.arg: word.value for word in node.keywords}
    given = node.args[0] if node.args else words.get("x")
    return None if given is None or isinstance(given, ast.Starred) else ast.get_source_segment(text, given)
