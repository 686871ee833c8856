"""What can be written out: primal expressions, and derivative formulas for operations on real scalars."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import python_facts
from ...python_facts import OPERATORS
from ...rules.kinds import F8, FLOAT, INT, Type
from ..base import ir
from ..memory import containers, heap, support
from ..memory.collecting import COLLECTORS

SYMBOLS = {each.name: each.sign for each in OPERATORS}
PREFIXES = dict(python_facts.PREFIXES.values())


# The cotangent of each operand of an operation on real scalars, in terms of the cotangent of the result
# (`bar`), the operands (`left` and `right`, or `divisor` in a quotient) and the result.
TERMS = {
    "add": ("{bar}", "{bar}"),
    "sub": ("{bar}", "-{bar}"),
    "mul": ("{bar} * {right}", "{bar} * {left}"),
    "truediv": ("{bar} / {divisor}", "-{bar} * {result} / {divisor}"),
    "neg": ("-{bar}",),
    "pos": ("{bar}",),
}


# The terms of a power of Python floats that is real; they raise where the slope is not a real number.
_OF_REAL_POWER = ("{right} * {left} ** ({right} - 1.0) * {bar}", "{result} * {h0}({left}) * {bar}")
HELPERS = (support.log_of_base,)  # the functions in these terms: `h0` is the first


def terms(op: ir.Binary | ir.Augmented | ir.Unary) -> tuple[str, ...] | None:
    """The terms of an operation, one for each operand; None if they are long, or unsafe to write out."""
    if op.operator == "mul" and op.operands()[0] == op.operands()[1]:
        return _power(2), ""
    if op.operator != "pow":
        return TERMS.get(op.operator)
    if isinstance(op, ir.Binary) and op.real:
        return _OF_REAL_POWER
    exponent = op.operands()[1]
    if not isinstance(exponent, ir.Const) or type(exponent.value) not in (int, float):
        return None
    whole = float(exponent.value).is_integer() and abs(exponent.value) < 2**31
    return (_power(exponent.value), "") if whole else None


def _power(n: float) -> str:
    """The term of x ** n for a constant whole n: n * x ** (n - 1), and zero for n = 0, whatever x is."""
    if n == 0:
        return "{bar} * 0.0"
    if n == 1:
        return "{bar}"
    if n == 2:
        return "{bar} * 2.0 * {left}"  # doubling a large operand first might overflow
    if n < 0:  # a higher power may overflow, which Python raises; its quotients only become infinite
        return f"{{bar}} * ({n!r} * {{left}} ** {n!r} / {{left}})"
    return f"{{bar}} * ({n!r} * {{left}} ** {n - 1!r})"


def divides_safely(op: ir.Op, kinds: list[Type]) -> bool:
    """Whether the reverse sweep may divide by what the operation divided by.

    NumPy's numbers divide by zero, Python's raise: after `np.float64(2.0) / 0.0` a quotient of Python floats
    would raise where the primal did not. An integer zero can be replaced by NumPy's (`divisor` in
    `formulas`); a zero float cannot, since its sign would be lost.
    """
    if op.operator != "truediv":  # type: ignore[attr-defined]
        return True
    divisor = op.operands()[1]
    known = isinstance(divisor, ir.Const) and divisor.value != 0
    return known or kinds[1] in (F8, INT) or kinds[0] in (FLOAT, INT)


def operator_of(op: ir.Op) -> Any:
    """The function of the module `operator` that an operation amounts to, or None."""
    if isinstance(op, (ir.Binary, ir.Augmented, ir.Unary)):
        return getattr(operator, op.operator)
    return operator.getitem if isinstance(op, ir.Item) else None


def primal_text(op: ir.Op, texts: list[str], asked: Callable[..., str]) -> str:
    """The operation as Python source, given the texts of its operands; `asked(helper, *texts)` gives the text
    of a call of a helper.
    """
    return _TEXTS[type(op)](op, texts, asked)


def _build_text(op: ir.Build, texts: list[str], asked: Callable[..., str]) -> str:
    if op.kind == "tuple":
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    pairs = zip(texts[::2], texts[1::2]) if op.kind == "dict" else ()
    inside = ", ".join([f"{key}: {value}" for key, value in pairs] or texts)
    return f"[{inside}]" if op.kind == "list" else f"{{{inside}}}"


def _format_text(op: ir.Format, texts: list[str], asked: Callable[..., str]) -> str:
    pieces = [
        f"({value}, {conversion}, {spec})"
        for (_, conversion, _), value, spec in zip(op.parts, texts[::2], texts[1::2], strict=True)
    ]
    return asked(support.format_string, f"[{', '.join(pieces)}]")


_TEXTS: dict[type, Callable[..., str]] = {
    ir.Move: lambda op, texts, asked: (
        texts[0] if op.checked is None else asked(support.bound, texts[0], repr(op.checked))
    ),
    ir.Binary: lambda op, texts, asked: (
        asked(math.pow, *texts) if op.real else f"{texts[0]} {SYMBOLS[op.operator]} {texts[1]}"
    ),
    ir.Augmented: lambda op, texts, asked: f"{texts[0]} {SYMBOLS[op.operator]} {texts[1]}",
    ir.Unary: lambda op, texts, asked: f"{PREFIXES[op.operator]}{texts[0]}",
    ir.Compare: lambda op, texts, asked: f"{texts[0]} {op.symbol} {texts[1]}",
    ir.Attribute: lambda op, texts, asked: f"{texts[0]}.{op.name}",
    ir.Item: lambda op, texts, asked: f"{texts[0]}[{texts[1]}]",
    ir.Slice: lambda op, texts, asked: f"slice({', '.join(texts if texts[2] != 'None' else texts[:2])})",
    ir.Build: _build_text,
    ir.Unpack: lambda op, texts, asked: asked(
        support.unpack, texts[0], str(op.count), *(["or_more=True"] if op.or_more else [])
    ),
    ir.Ask: lambda op, texts, asked: asked(op.function, *texts, base=op.function.__name__),
    ir.Collect: lambda op, texts, asked: asked(COLLECTORS[op.kind][0], *texts, base=op.kind),
    ir.Format: _format_text,
    ir.Indexable: lambda op, texts, asked: asked(support.indexable, texts[0]),
    ir.Elements: lambda op, texts, asked: asked(float if op.of_number else memoryview, texts[0]),
    ir.MakeCell: lambda op, texts, asked: asked(containers.plain_cell, texts[0], base="make_cell"),
    ir.ReadCell: lambda op, texts, asked: asked(containers.cell_value, *texts),
    ir.Publish: lambda op, texts, asked: asked(heap.publish_plain, texts[0], base="publish"),
}


# --- real scalars met at run time ---------------------------------------------------------------------------


def add_reals(a: float, b: float) -> Any:
    """a + b and its pullback, for two real scalars."""
    return a + b, _to_both


def sub_reals(a: float, b: float) -> Any:
    """a - b and its pullback, for two real scalars."""
    return a - b, _to_first_and_minus


def mul_reals(a: float, b: float) -> Any:
    """a * b and its pullback, for two real scalars."""
    return a * b, lambda y_bar: (support.NO, y_bar * b, y_bar * a)


def truediv_reals(a: float, b: float) -> Any:
    """a / b and its pullback, for two real scalars."""
    y = a / b
    b = b if b else np.float64(b)  # no error above, so NumPy divided; y_bar may be a Python float
    return y, lambda y_bar: (support.NO, y_bar / b, -y_bar * y / b)


def pow_reals(a: float, n: int) -> Any:
    """a ** n and its pullback, for a whole number n that does not vary."""
    y = a**n
    if n == 0:
        return y, lambda y_bar: (support.NO, y_bar * 0.0, support.NO)
    if n < 0:  # a higher power may overflow, which Python raises; its quotients only become infinite
        return y, lambda y_bar: (support.NO, y_bar * (n * y / a), support.NO)
    return y, lambda y_bar: (support.NO, y_bar * (n * a ** (n - 1)), support.NO)


def _to_both(y_bar: Any) -> Any:
    return support.NO, y_bar, y_bar


def _to_first_and_minus(y_bar: Any) -> Any:
    return support.NO, y_bar, -y_bar


def of_reals(target: Any, args: tuple[Any, ...], active: tuple[bool, ...]) -> Callable[..., Any] | None:
    """The function that replaces the built-in rule of an operator on real scalars, at least one of them a
    float: it needs no broadcasting. None for other operands; `active` says which need a cotangent.
    """
    kinds = tuple(map(type, args))
    if target is operator.pow:
        return pow_reals if kinds in _POWERS and not active[1] else None
    fits = (
        _FLOATS.issuperset(kinds)
        or (kinds[0] in _FLOATS and kinds[1] is int)
        or (kinds[0] is int and kinds[-1] in _FLOATS)
    )
    return OF_REALS.get(target) if fits else None


_FLOATS = frozenset({float, np.float64})
_POWERS = frozenset({(float, int), (np.float64, int)})
OF_REALS = {
    operator.add: add_reals,
    operator.sub: sub_reals,
    operator.mul: mul_reals,
    operator.truediv: truediv_reals,
}
