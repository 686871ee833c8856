"""Arrays that the code of a function splits into blocks, so that their lengths are multiples of a number."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from .kinds import Kind, of_lengths
from .texts import whole_number


def of_blocks(node: ast.AST, wholes: Mapping[str, int]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Arrays split into blocks along some axes, `img.reshape(h // 2, 2, w // 2, 2)`, or into as many blocks
    as a parameter says by default: `x.reshape(n, groups, c // groups)`.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr != "reshape" or not isinstance(node.func.value, ast.Name):
        return
    lengths = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
    axes = list(_axes_of_blocks(lengths, wholes))
    if any(blocks > 1 for blocks in axes) and len(axes) < 3:
        dims = tuple(f"{blocks}*{letter}" if blocks > 1 else letter for blocks, letter in zip(axes, "nm"))
        yield node.func.value.id, (of_lengths(dims),)


def _axes_of_blocks(lengths: Sequence[ast.expr], wholes: Mapping[str, int]) -> Iterator[int]:
    """The number by which the length of each axis is divided; 1 for an axis that is not split."""
    left = list(lengths)
    while left:
        one, other = left.pop(0), left[0] if left else None
        blocks = 0 if other is None else _divisor(one, other, wholes) or _divisor(other, one, wholes)
        if blocks:
            del left[0]
        yield blocks or 1


def _divisor(node: ast.expr, by: ast.expr, wholes: Mapping[str, int]) -> int:
    """The number above one by which a length is divided, as in `h // 2`, if it equals `by`; else 0."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
        return 0
    value = wholes.get(by.id, 0) if isinstance(by, ast.Name) else whole_number(by) or 0
    return value if value > 1 and ast.dump(node.right) == ast.dump(by) else 0


def beside_blocks(kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """Kinds for arguments beside an array split into blocks: vectors as long as one of its axes, or a
    number.
    """
    lengths = [length for kind in kinds for length in reversed(kind.dims)]
    return (*(Kind("vector", dims=(length,)) for length in dict.fromkeys(lengths)), Kind())
