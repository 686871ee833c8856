"""Nothing that somebody reads is left out, and nothing is kept that nobody reads."""

import pytest

from rulelab.compiler.base import ir
from rulelab.compiler.base.liveness import phis_of, prune, reads_of


def joins(function):
    return [phi for statement in ir.walk(function.body) for phi in phis_of(statement)]


@pytest.mark.parametrize(
    "body, kept",
    [
        ("if x > 0:\n    y = 1.0\nelse:\n    y = 2.0\nreturn x", 0),
        ("if x > 0:\n    y = 1.0\nelse:\n    y = 2.0\nreturn y", 1),
        ("a = b = x\nfor i in range(3):\n    a = a * 2\n    b = b * 3\nreturn a", 2),
        ("a = b = x\nfor i in range(3):\n    a, b = b, a\nreturn a", 2),
        ("while x > 1:\n    x = x / 2\nreturn 0.0", 1),
        ("a = x\nfor i in range(3):\n    a = i\n    b = a\nreturn x", 0),
        ("a = x\nfor i in range(3):\n    a = a + i\nreturn 0.0", 1),
    ],
)
def test_joins(cells, body, kept):
    """A join stays exactly if an operation or a join reads it, be it in the next turn of its loop."""
    function = cells.lowered("def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    prune(function)
    assert len([phi for phi in joins(function) if not phi.target.startswith(("result", "done"))]) == kept


def test_what_is_read_stays(cells):
    """After pruning, every name that is read is still given."""
    text = (
        "def f(x, n):\n    a = b = c = x\n    for i in range(n):\n        try:\n            a = a * x\n"
        "            if a > 3:\n                b = a\n                break\n"
        "        except ValueError:\n            c = b\n    return c\n"
    )
    function = cells.lowered(text)
    prune(function)
    given = {*function.parameters, *(phi.target for phi in joins(function))}
    for statement in ir.walk(function.body):
        if isinstance(statement, ir.Let):
            given.add(statement.target)
        if isinstance(statement, ir.For):
            given |= {leaf.item for leaf in ir.leaves(statement.iteration)}
    read = {a for s in ir.walk(function.body) for a in reads_of(s) if isinstance(a, str)} | {function.result}
    assert read <= given
    kept = {s.slot for s in ir.walk(function.body) if isinstance(s, ir.Keep)}
    assert kept <= {phi.target for s in ir.walk(function.body) if isinstance(s, ir.Try) for phi in s.slots}
