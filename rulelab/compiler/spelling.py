"""Text made from values that vary: where it could be read back as a number, the derivative would be lost
without a word.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from . import ir
from .tidy import phis_of, reads_of
from .types import STR, Types

_READERS = {  # module, name: what makes numbers of text
    ("builtins", "float"),
    ("builtins", "int"),
    ("builtins", "complex"),
    ("ast", "literal_eval"),
    ("json", "loads"),
    ("decimal", "Decimal"),
    ("fractions", "Fraction"),
    ("numpy", "fromstring"),
    ("numpy", "float64"),
    ("numpy", "float32"),
}
_WRITERS = frozenset({builtins.str, builtins.repr, builtins.ascii, builtins.format})
_CARRIERS = (
    ir.Binary,
    ir.Augmented,
    ir.Item,
    ir.Build,
    ir.Attribute,
    ir.Move,
    ir.Unpack,
    ir.Append,
    ir.Collect,
)


def reads_numbers(target: Any) -> bool:
    """Whether a function makes numbers of a text that it is given."""
    return (getattr(target, "__module__", None), getattr(target, "__name__", None)) in _READERS


def readings(
    function: ir.Function, varied: set[str], types: Types, is_harmless: Callable[[Any], bool]
) -> Iterator[ir.Let]:
    """The calls that are handed a spelled-out varying value and whose result is used.

    `is_harmless(callee)` says of a known callable that what it returns does not depend on such a text as
    on a number.
    """
    spelled = _spelled(function, varied, types)
    if not spelled:
        return
    used = {atom for statement in ir.walk(function.body) for atom in reads_of(statement)} | {function.result}
    for statement in ir.walk(function.body):
        if (
            isinstance(statement, ir.Let)
            and isinstance(statement.op, (ir.Call, ir.Apply))
            and statement.target not in spelled
        ):
            op = statement.op
            handed = any(isinstance(atom, str) and atom in spelled for atom in op.operands()[1:])
            if handed and statement.target in used and not _harmless(types.callee(op), is_harmless):
                yield statement


def _harmless(callee: Any, is_harmless: Callable[[Any], bool]) -> bool:
    if isinstance(callee, type):
        return issubclass(callee, BaseException)
    return callee is not ir.UNBOUND and is_harmless(callee)


def _spelled(function: ir.Function, varied: set[str], types: Types) -> set[str]:
    spelled: set[str] = set()
    size = -1
    while size != len(spelled):
        size = len(spelled)
        for statement in ir.walk(function.body):
            if isinstance(statement, ir.Let) and _spells(statement.op, varied, spelled, types):
                spelled.add(statement.target)
            for phi in phis_of(statement):
                if any(isinstance(source, str) and source in spelled for source in phi.sources):
                    spelled.add(phi.target)
    return spelled


def _spells(op: ir.Op, varied: set[str], spelled: set[str], types: Types) -> bool:
    """Whether the operation makes a text from what varies, or hands one on."""
    names = {atom for atom in op.operands() if isinstance(atom, str)}
    if isinstance(op, _CARRIERS):
        return bool(names & spelled)
    if not names & (varied | spelled):
        return False
    if isinstance(op, ir.Format):
        return True
    if not isinstance(op, ir.Call):
        return False
    if op.method is not None and (
        types(op.function) == STR or (isinstance(op.function, str) and op.function in spelled)
    ):
        return True  # "{}".format(x), text.strip()
    if any(types.callee(op) is copier for copier in (list, tuple)):
        return bool(names & spelled)
    return any(types.callee(op) is writer for writer in _WRITERS)
