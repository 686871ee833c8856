"""What the types allow to be written out: primal expressions, and derivative formulas of real scalars."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ... import python_facts
from ...python_facts import OPERATORS
from ..analysis.types import F8, FLOAT, INT, Type
from ..base import ir
from ..memory import containers, heap, support
from ..memory.collecting import COLLECTORS

SYMBOLS = {each.name: each.sign for each in OPERATORS}
PREFIXES = dict(python_facts.PREFIXES.values())


class Values(Protocol):
    """The forward values a formula may ask for; asking keeps them for the reverse sweep."""

    def operand(self, number: int) -> str: ...
    def divisor(self, number: int) -> str: ...
    def result(self) -> str: ...


@dataclass(frozen=True)
class Formula:
    """`term(k, bar, values)` is the text of operand k's cotangent; `reads[k]` are the operands that it
    reads.
    """

    term: Callable[[int, str, Values], str]
    reads: tuple[tuple[int, ...], ...]

    def needs(self, number: int, active: Callable[[ir.Atom], bool], operands: tuple[ir.Atom, ...]) -> bool:
        """Whether the reverse sweep reads operand `number`."""
        return any(number in reads for reads, atom in zip(self.reads, operands, strict=True) if active(atom))


def _add(number: int, bar: str, values: Values) -> str:
    return bar


def _sub(number: int, bar: str, values: Values) -> str:
    return bar if number == 0 else f"-{bar}"


def _mul(number: int, bar: str, values: Values) -> str:
    return f"{bar} * {values.operand(1 - number)}"


def _truediv(number: int, bar: str, values: Values) -> str:
    if number == 0:
        return f"{bar} / {values.divisor(1)}"
    return f"-{bar} * {values.result()} / {values.divisor(1)}"


def _neg(number: int, bar: str, values: Values) -> str:
    return f"-{bar}"


def _power(exponent: float) -> Formula:
    """x ** n for a constant whole n: n * x ** (n - 1), and zero for n = 0 wherever x is."""

    def term(number: int, bar: str, values: Values) -> str:
        if exponent == 0:
            return f"{bar} * 0.0"
        if exponent == 1:
            return bar
        if exponent == 2:
            return f"{bar} * (2.0 * {values.operand(0)})"
        if (
            exponent < 0
        ):  # a higher power may overflow, which Python raises; its quotients only become infinite
            return f"{bar} * ({exponent!r} * {values.operand(0)} ** {exponent!r} / {values.operand(0)})"
        return f"{bar} * ({exponent!r} * {values.operand(0)} ** {exponent - 1!r})"

    return Formula(term, ((0,) if exponent not in (0, 1) else (), ()))


_FORMULAS = {
    "add": Formula(_add, ((), ())),
    "sub": Formula(_sub, ((), ())),
    "mul": Formula(_mul, ((1,), (0,))),
    "truediv": Formula(_truediv, ((1,), (1,))),
}
_UNARY = {"neg": Formula(_neg, ((),)), "pos": Formula(_add, ((),))}


def formula(op: ir.Op) -> Formula | None:
    """How the derivative of an operation on real scalars is written, where it is short and safe to write."""
    if isinstance(op, ir.Unary):
        return _UNARY.get(op.operator)
    assert isinstance(op, (ir.Binary, ir.Augmented))
    if op.operator == "pow":
        whole = (
            isinstance(op.right, ir.Const)
            and type(op.right.value) in (int, float)
            and float(op.right.value).is_integer()
        )
        return _power(op.right.value) if whole and abs(op.right.value) < 2**31 else None  # type: ignore[union-attr]
    return _FORMULAS.get(op.operator)


def divides_safely(op: ir.Op, kinds: list[Type]) -> bool:
    """Whether the reverse sweep may divide by what the operation divided by.

    NumPy's numbers divide by zero, Python's raise: after `np.float64(2.0) / 0.0` a quotient of Python's own
    would raise where the primal did not. A whole number may be looked at first (`Values.divisor`); others
    have a sign at zero, which must not be lost.
    """
    if op.operator != "truediv":  # type: ignore[attr-defined]
        return True
    divisor = op.operands()[1]
    known = isinstance(divisor, ir.Const) and divisor.value != 0
    return known or kinds[1] in (F8, INT) or kinds[0] in (FLOAT, INT)


def operator_of(op: ir.Op) -> Any:
    """The function of the module `operator` that an operation calls."""
    if isinstance(op, (ir.Binary, ir.Augmented, ir.Unary)):
        name = "not_" if op.operator == "not_" else op.operator
        return getattr(operator, name)
    return operator.getitem if isinstance(op, ir.Item) else None


def primal_text(op: ir.Op, texts: list[str], helper: Callable[[Any, str], str]) -> str:
    """The operation as Python source, given the texts of its operands."""
    return _TEXTS[type(op)](op, texts, helper)


def _move_text(op: ir.Move, texts: list[str], helper: Callable[[Any, str], str]) -> str:
    if op.checked is None:
        return texts[0]
    return f"{helper(support.bound, 'bound')}({texts[0]}, {op.checked!r})"


def _slice_text(op: ir.Slice, texts: list[str], helper: Callable[[Any, str], str]) -> str:
    return f"slice({', '.join(texts)})" if texts[2] != "None" else f"slice({texts[0]}, {texts[1]})"


def _build_text(op: ir.Build, texts: list[str], helper: Callable[[Any, str], str]) -> str:
    if op.kind == "tuple":
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"
    if op.kind == "list":
        return f"[{', '.join(texts)}]"
    if op.kind == "set":
        return f"{{{', '.join(texts)}}}"
    return (
        "{" + ", ".join(f"{key}: {value}" for key, value in zip(texts[::2], texts[1::2], strict=True)) + "}"
    )


def _format_text(op: ir.Format, texts: list[str], helper: Callable[[Any, str], str]) -> str:
    pieces = [
        f"({value}, {conversion}, {spec})"
        for (_, conversion, _), value, spec in zip(op.parts, texts[::2], texts[1::2], strict=True)
    ]
    return f"{helper(support.format_string, 'format_string')}([{', '.join(pieces)}])"


_TEXTS: dict[type, Callable[..., str]] = {
    ir.Move: _move_text,
    ir.Binary: lambda op, texts, helper: f"{texts[0]} {SYMBOLS[op.operator]} {texts[1]}",
    ir.Augmented: lambda op, texts, helper: f"{texts[0]} {SYMBOLS[op.operator]} {texts[1]}",
    ir.Unary: lambda op, texts, helper: f"{PREFIXES[op.operator]}{texts[0]}",
    ir.Compare: lambda op, texts, helper: f"{texts[0]} {op.symbol} {texts[1]}",
    ir.Attribute: lambda op, texts, helper: f"{texts[0]}.{op.name}",
    ir.Item: lambda op, texts, helper: f"{texts[0]}[{texts[1]}]",
    ir.Slice: _slice_text,
    ir.Build: _build_text,
    ir.Unpack: lambda op, texts, helper: (
        f"{helper(support.unpack, 'unpack')}({texts[0]}, {op.count}{', or_more=True' if op.or_more else ''})"
    ),
    ir.Ask: lambda op, texts, helper: f"{helper(op.function, op.function.__name__)}({', '.join(texts)})",
    ir.Collect: lambda op, texts, helper: f"{helper(COLLECTORS[op.kind][0], op.kind)}({', '.join(texts)})",
    ir.Format: _format_text,
    ir.Indexable: lambda op, texts, helper: f"{helper(support.indexable, 'indexable')}({texts[0]})",
    ir.MakeCell: lambda op, texts, helper: f"{helper(containers.plain_cell, 'make_cell')}({texts[0]})",
    ir.ReadCell: lambda op, texts, helper: (
        f"{helper(containers.cell_value, 'cell_value')}({', '.join(texts)})"
    ),
    ir.Publish: lambda op, texts, helper: f"{helper(heap.publish_plain, 'publish')}({texts[0]})",
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
    b = b if b else np.float64(b)  # there is a quotient, so NumPy made it; a cotangent may be Python's
    return y, lambda y_bar: (support.NO, y_bar / b, -y_bar * y / b)


def _to_both(y_bar: Any) -> Any:
    return support.NO, y_bar, y_bar


def _to_first_and_minus(y_bar: Any) -> Any:
    return support.NO, y_bar, -y_bar


# What stands for the built-in rule where both operands turn out to be real scalars: without broadcasting.
OF_REALS = {
    operator.add: add_reals,
    operator.sub: sub_reals,
    operator.mul: mul_reals,
    operator.truediv: truediv_reals,
}
