"""What the transform asks of a lowered function its names, how often each is read, what grows."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..base import ir
from ..base.liveness import joins_of, phis_of, reads_of
from .activity import Activity


def all_names(function: ir.Function) -> set[str]:
    """The names that statements other than `let` give."""
    names: set[str] = set()
    for statement in ir.walk(function.body):
        names |= {phi.target for phi in phis_of(statement)}
        if isinstance(statement, ir.For):
            names |= {leaf.item for leaf in ir.leaves(statement.iteration)} | set(
                counters(statement.iteration)
            )
        if isinstance(statement, ir.Try):
            names |= {h.name for h in statement.handlers if h.name}
    return names


def counters(iteration: ir.Iteration) -> list[str]:
    """The names that count in an iteration."""
    if isinstance(iteration, ir.Enumerated):
        return [iteration.counter, *counters(iteration.part)]
    return (
        [name for part in iteration.parts for name in counters(part)]
        if isinstance(iteration, ir.Zipped)
        else []
    )


def use_counts(function: ir.Function) -> Counter[Any]:
    """How often each name is read."""
    counts: Counter[Any] = Counter([function.result])
    for statement in ir.walk(function.body):
        counts.update(reads_of(statement))
    return counts


def growing(function: ir.Function) -> set[str]:
    """The names under which a list goes that something is appended to, before and after."""
    names: set[str] = set()
    pairs: list[tuple[str, ir.Atom]] = []
    for statement in ir.walk(function.body):
        pairs += [(name, atom) for name, atoms in joins_of(statement) for atom in atoms]
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Append):
            names.add(statement.target)
            pairs.append((statement.target, statement.op.value))
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Move):
            pairs.append((statement.target, statement.op.value))
    size = -1
    while size != len(names):
        size = len(names)
        for target, source in pairs:
            if isinstance(source, str) and (target in names or source in names):
                names |= {target, source}
    return names


def has_active(statement: ir.Statement, active: Activity) -> bool:
    """Whether anything in a statement is differentiated."""
    return any(
        (isinstance(s, ir.Let) and active(s.target)) or any(active(phi.target) for phi in phis_of(s))
        for block in ir.blocks(statement)
        for s in ir.walk(block)
    ) or any(active(phi.target) for phi in phis_of(statement))


def ends_in_raise(block: ir.Block) -> bool:
    """Whether a block leaves by an exception at its end."""
    return bool(block) and isinstance(block[-1], ir.Raise)
