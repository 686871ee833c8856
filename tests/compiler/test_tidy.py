"""Nothing that somebody reads is left out, and nothing is kept that nobody reads."""

import pytest

from rulelab.compiler import ir
from rulelab.compiler.tidy import Line, Region, Sum, begin, phis_of, prune, reads_of


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


def line(text, *bars):
    return Line(text, None, frozenset(bars))


def grow(bar, text, *bars, delayed=""):
    return Sum(bar, text, None, frozenset(bars), True, delayed)


def shown(nodes):
    out = []
    for node in nodes:
        if isinstance(node, Region):
            for header, body in node.arms:
                out += [header, *(f"    {text}" for text in shown(body))]
        else:
            out.append(f"{node.bar} += {node.text}" if isinstance(node, Sum) else node.text)
    return out


def test_the_first_sum_is_an_assignment():
    """A cotangent that starts with a sum needs no zero."""
    nodes = [line("other"), grow("x_bar", "y_bar * 2", "y_bar"), grow("x_bar", "y_bar", "y_bar")]
    assert begin(nodes, [("x_bar", "0.0")])
    assert shown(nodes) == ["other", "x_bar = y_bar * 2", "x_bar += y_bar"]


def test_a_delayed_term_is_unwrapped():
    """A term that may be a thunk is unwrapped when it becomes the first value."""
    nodes = [grow("x_bar", "got[1]", delayed="value")]
    begin(nodes, [("x_bar", "ZERO")])
    assert shown(nodes) == ["x_bar = value(got[1])"]


def test_a_sum_that_may_not_happen():
    """Where the first sum stands in a branch or loop, the zero stands before it."""
    nodes = [Region([("if t:", [grow("x_bar", "y_bar", "y_bar")]), ("else:", [line("pass")])], None)]
    assert begin(nodes, [("x_bar", "0.0")])
    assert shown(nodes) == ["x_bar = 0.0", "if t:", "    x_bar += y_bar", "else:", "    pass"]


def test_a_sum_of_itself():
    """A term that mentions the cotangent itself needs the zero."""
    nodes = [grow("x_bar", "x_bar * 2", "x_bar")]
    begin(nodes, [("x_bar", "0.0")])
    assert shown(nodes) == ["x_bar = 0.0", "x_bar += x_bar * 2"]


def test_a_read_before_the_sum():
    """A line that reads the cotangent first gets the zero."""
    nodes = [line("z_bar = x_bar", "x_bar", "z_bar"), grow("x_bar", "y_bar", "y_bar")]
    begin(nodes, [("x_bar", "0.0")])
    assert shown(nodes) == ["x_bar = 0.0", "z_bar = x_bar", "x_bar += y_bar"]


def test_never_mentioned():
    """A cotangent that nobody mentions gets no line."""
    nodes = [line("other")]
    assert not begin(nodes, [("x_bar", "0.0")])
    assert shown(nodes) == ["other"]


def test_mentions():
    """A mention is found at any depth, as what grows or as what is read."""
    inner = Region([("for i in t:", [Region([("if u:", [grow("x_bar", "y_bar", "y_bar")])], None)])], None)
    assert begin([inner], [("x_bar", "0.0"), ("y_bar", "0.0"), ("z_bar", "0.0")]) == {"x_bar", "y_bar"}
