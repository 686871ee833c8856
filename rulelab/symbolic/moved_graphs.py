"""Evaluate a finished graph with its arguments moved a little: repeat the operations that depend on a moved
argument.

Running the author's code twice gives the same, but takes a run for each argument and side. If the graph alone
does not determine what the code would do there, `moved` returns None, and the code has to be run.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .functions import ELEMENTARY
from .scalars import CONTEXT, Decision, Scalar, Trace, is_finite
from .work_counter import A_RUN, COUNTER


def _power(base, exponent):
    whole = int(exponent)
    return base**whole if whole == exponent else base**exponent


COMPUTE = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "pow": _power,
    "atan2": CONTEXT.atan2,
}
DECIDED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "floor": lambda x, _: CONTEXT.floor(x),
    "ceil": lambda x, _: CONTEXT.ceil(x),
    "round": lambda x, _: CONTEXT.nint(x),
}


AT_ONCE = frozenset(COMPUTE) | frozenset(
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt".split()
)
"""Operations that take almost no time, whatever their operands."""


def operation(op):
    """The function that computes the value of a node from those of its operands."""
    return COMPUTE.get(op) or ELEMENTARY[op].evaluate


def in_order(roots: Iterable[Scalar], known: Container[int] = ()) -> Iterator[Scalar]:
    """Yield all nodes below `roots`, operands first, except those whose ids are `known`."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        top = stack[-1]
        if id(top) in seen or id(top) in known:
            stack.pop()
            continue
        operands = () if top.op in ("argument", "constant") else top.args
        if missing := [a for a in operands if id(a) not in seen and id(a) not in known]:
            stack.extend(missing)
            continue
        stack.pop()
        seen.add(id(top))
        yield top


class _Step(NamedTuple):
    """A node: its id, the function that computes its value, its operands, and a bit mask of the leaves it
    depends on.
    """

    key: int
    compute: Any
    operands: tuple
    leaves: int


class MovedGraph:
    """The results `y` as functions of the `leaves`, as they were when the primal ended.

    Moving leaves counts as much work as a run of the code, so that what is left out as too much work does not
    depend on which of the two was done.
    """

    def __init__(self, trace: Trace, leaves: Sequence[Scalar], y: Sequence[Scalar]) -> None:
        self.leaves, self.y = list(leaves), list(y)
        self.decisions = list(trace.decisions)
        self.work = A_RUN + trace.operations
        self.is_told = not (trace.beyond_decisions or trace.integrands or trace.bound)
        self.is_told &= all(d.relation in DECIDED for d in self.decisions)
        self._steps: list[_Step] | None = None

    def moved(self, by: Mapping[int, Any]) -> list[Any] | None:
        """The results with leaves moved, each by its amount in `by`; None if the graph does not determine
        them.
        """
        if not self.is_told:
            return None
        known = {id(self.leaves[i]): self.leaves[i].shadow + off for i, off in by.items()}
        which = sum(1 << i for i in by)
        try:
            for key, compute, operands, leaves in self.steps():
                if leaves & which:
                    value = compute(*[known.get(id(a), a.shadow) for a in operands])
                    if not is_finite(value):
                        return None
                    known[key] = value
        except (ArithmeticError, ValueError, CONTEXT.NoConvergence):
            return None
        if not all(self._holds(decision, known) for decision in self.decisions):
            return None
        COUNTER.done += self.work
        return [known.get(id(one), one.shadow) for one in self.y]

    def _holds(self, decision, known):
        left, relation, right, outcome = decision
        if id(left) not in known and id(right) not in known:
            return True
        here = known.get(id(left), left.shadow), known.get(id(right), right.shadow)
        return bool(DECIDED[relation](*here) == outcome)

    def steps(self) -> list[_Step]:
        """The nodes that depend on leaves, operands first."""
        if self._steps is None:
            sides = (side for d in self.decisions for side in (d.left, d.right))
            self._steps = list(self._in_order((*self.y, *sides)))
        return self._steps

    def _in_order(self, roots: Iterable[Scalar]) -> Iterable[_Step]:
        depends = {id(leaf): 1 << i for i, leaf in enumerate(self.leaves)}
        for node in in_order(roots, frozenset(depends)):
            operands = () if node.op in ("argument", "constant") else node.args
            leaves = depends[id(node)] = functools.reduce(
                operator.or_, (depends[id(a)] for a in operands), 0
            )
            if leaves:
                yield _Step(id(node), operation(node.op), operands, leaves)


class Difference:
    """The difference of the two sides of a decision, as a function of the arguments by name."""

    def __init__(self, decision: Decision) -> None:
        self.sides = decision.left, decision.right
        self.nodes = list(in_order(self.sides))
        ops = {node.op for node in self.nodes}
        self.is_at_once = ops <= AT_ONCE | {"argument", "constant"}

    def sign(self, numbers: Mapping[str, Any]) -> int:
        """1 or -1; 0 if the difference is zero or not a real number."""
        values: dict[int, Any] = {}
        try:
            for node in self.nodes:
                if node.op in ("argument", "constant"):
                    values[id(node)] = numbers[node.args] if node.op == "argument" else node.shadow
                else:
                    values[id(node)] = operation(node.op)(*[values[id(a)] for a in node.args])
            left, right = (values[id(side)] for side in self.sides)
            difference, size = left - right, abs(left) + abs(right)
        except (ArithmeticError, ValueError, TypeError):
            return 0
        if CONTEXT.im(difference) or not CONTEXT.isfinite(difference) or abs(difference) <= NOTHING * size:
            return 0
        return 1 if CONTEXT.re(difference) > 0 else -1


NOTHING = CONTEXT.mpf(10) ** -60
"""The relative difference that rounding leaves between two equal numbers."""
