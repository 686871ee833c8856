"""What can be left out: joins that nobody reads, sums of one term, zeros that are overwritten."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import ir


def prune(function: ir.Function) -> None:
    """Drop the joins (and the kept slots) whose value nobody reads."""
    live = _read_names(function)
    phis = [(statement, phi) for statement in ir.walk(function.body) for phi in phis_of(statement)]
    handlers = {
        id(phi): [h.values[number] for h in s.handlers]
        for s in ir.walk(function.body)
        if isinstance(s, ir.Try)
        for number, phi in enumerate(s.slots)
    }
    growing = True
    while growing:
        growing = False
        for _, phi in phis:
            if phi.target in live:
                more = {a for a in (*phi.sources, *handlers.get(id(phi), ())) if isinstance(a, str)} - live
                growing = growing or bool(more)
                live |= more
    _drop(function.body, live)


def phis_of(statement: ir.Statement) -> list[ir.Phi]:
    """The joins that a statement ends with."""
    if isinstance(statement, ir.If):
        return statement.outs
    if isinstance(statement, (ir.For, ir.While)):
        return statement.carried
    return statement.slots if isinstance(statement, ir.Try) else []


def _read_names(function: ir.Function) -> set[str]:
    read: set[str] = {function.result} if isinstance(function.result, str) else set()
    for statement in ir.walk(function.body):
        read |= {atom for atom in reads_of(statement, joins=False) if isinstance(atom, str)}
    return read


def reads_of(statement: ir.Statement, *, joins: bool = True) -> list[ir.Atom | None]:
    """The atoms that a statement itself reads, those inside its blocks left out."""
    found: list[ir.Atom | None] = []
    if isinstance(statement, ir.Let):
        found.extend(statement.op.operands())
    elif isinstance(statement, ir.If):
        found.append(statement.test)
    elif isinstance(statement, ir.While):
        found.extend((statement.test, statement.stop))
    elif isinstance(statement, ir.For):
        found.append(statement.stop)
        found.extend(_iteration_reads(statement.iteration))
    elif isinstance(statement, ir.Raise):
        found.extend((statement.error, statement.cause))
    if joins:
        found.extend(atom for phi in phis_of(statement) for atom in phi.sources)
        if isinstance(statement, ir.Keep):
            found.append(statement.value)
        if isinstance(statement, ir.Try):
            found.extend(atom for handler in statement.handlers for atom in handler.values)
    return found


def _iteration_reads(iteration: ir.Iteration) -> list[ir.Atom]:
    found: list[ir.Atom] = []
    for leaf in ir.leaves(iteration):
        found.extend(leaf.args if isinstance(leaf, ir.Count) else (leaf.value,))
    parts = [iteration]
    while parts:
        part = parts.pop()
        if isinstance(part, ir.Enumerated):
            found.append(part.start)
            parts.append(part.part)
        elif isinstance(part, ir.Zipped):
            parts.extend(part.parts)
    return found


def _drop(block: ir.Block, live: set[str]) -> None:
    block[:] = [s for s in block if not (isinstance(s, ir.Keep) and s.slot not in live)]
    for statement in block:
        if isinstance(statement, ir.Try):
            kept = [number for number, slot in enumerate(statement.slots) if slot.target in live]
            for handler in statement.handlers:
                handler.values = [handler.values[number] for number in kept]
            statement.slots = [statement.slots[number] for number in kept]
        else:
            phis = phis_of(statement)
            phis[:] = [phi for phi in phis if phi.target in live]
        for inner in ir.blocks(statement):
            _drop(inner, live)


# --- the emitted form ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Line:
    """One line of emitted code; `bars` are the cotangent variables it mentions."""

    text: str
    position: ir.Position | None
    bars: frozenset[str] = frozenset()


@dataclass(eq=False)
class Sum:
    """`bar` grows by the value of `text`; how depends on what kind of cotangent it is."""

    bar: str
    text: str
    position: ir.Position | None
    bars: frozenset[str]
    real: bool
    delayed: str = ""  # what unwraps a term that may be a thunk; a sum does so itself


@dataclass(eq=False)
class Region:
    """A compound statement: each arm is a header and what is indented below it."""

    arms: list[tuple[str, list[Line | Sum | Region]]]
    position: ir.Position | None


Node = Line | Sum | Region


def begin(nodes: list[Node], starts: Iterable[tuple[str, str]]) -> set[str]:
    """Give each cotangent of `starts` (its name and a zero) its first value: a first sum becomes an
    assignment, else the zero stands before the first mention.

    Returns those that are mentioned at all. The nodes are gone through once for all cotangents.
    """
    first: dict[str, int] = {}
    for number in reversed(range(len(nodes))):
        _note_mentioned(nodes[number], number, first)
    before: dict[int, list[Node]] = {}
    begun = set()
    for bar, zero in starts:
        if bar not in first:
            continue
        begun.add(bar)
        at = first[bar]
        node = nodes[at]
        if isinstance(node, Sum) and node.bar == bar and bar not in node.bars:
            term = f"{node.delayed}({node.text})" if node.delayed else node.text
            nodes[at] = Line(f"{bar} = {term}", node.position, node.bars | {bar})
        else:
            before.setdefault(at, []).append(Line(f"{bar} = {zero}", node.position, frozenset({bar})))
    if before:
        nodes[:] = [new for number, node in enumerate(nodes) for new in (*before.get(number, ()), node)]
    return begun


def _note_mentioned(node: Node, number: int, at: dict[str, int]) -> None:
    """Put `number` down for every cotangent that a node mentions."""
    if isinstance(node, Region):
        for _, body in node.arms:
            for inner in body:
                _note_mentioned(inner, number, at)
        return
    if node.bars:
        at.update(dict.fromkeys(node.bars, number))
    if isinstance(node, Sum):
        at[node.bar] = number
