"""What the transform asks about a lowered function: which lists grow, what is active, how blocks end."""

from __future__ import annotations

from ..base import ir
from ..base.liveness import joins_of, led_to, phis_of
from .activity import Activity


def growing(function: ir.Function) -> set[str]:
    """The names that refer to a list that is appended to, before or after the append."""
    appended = [s for s in function.lets() if isinstance(s.op, ir.Append)]
    if not appended:
        return set()
    there = [join for s in function.statements() for join in joins_of(s)]
    ops = ((s.target, s.op) for s in function.lets())
    there += [(target, [op.value]) for target, op in ops if isinstance(op, (ir.Append, ir.Move))]
    back: list[tuple[str, list[ir.Atom]]]
    back = [(atom, [name]) for name, atoms in there for atom in atoms if isinstance(atom, str)]
    return led_to([s.target for s in appended], there + back)


def has_active(statement: ir.Statement, active: Activity) -> bool:
    """Whether anything in a statement is differentiated."""
    return any(
        (isinstance(s, ir.Let) and active.reaches(s.target))
        or any(active.reaches(phi.target) for phi in phis_of(s))
        for block in ir.blocks(statement)
        for s in ir.walk(block)
    ) or any(active.reaches(phi.target) for phi in phis_of(statement))


def ends_in_raise(block: ir.Block) -> bool:
    """Whether a block always ends by raising an exception."""
    return bool(block) and isinstance(block[-1], ir.Raise)
