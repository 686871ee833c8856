"""Arguments taken apart, and loops through what is in them, in the intermediate form."""

import builtins

import pytest

from rulelab.compiler.base import ir
from rulelab.compiler.base.liveness import use_counts
from rulelab.compiler.front.opening import NotOpened, Structure, open_arguments, settle
from rulelab.compiler.front.unrolling import MOST

PAIR = Structure(list, (), (None, None))
NAMED = Structure(dict, ("W", "b"), (None, None))


def callee_in(function):
    """What is called by the name of a builtin function."""
    loads = {let.target: let.op.name for let in function.lets() if isinstance(let.op, ir.Load)}
    return lambda op: getattr(builtins, loads.get(op.function, ""), ir.UNBOUND)


@pytest.fixture
def opened(cells):
    def opened(text, *structures):
        function, names = open_arguments(cells.lowered(text), structures)
        return function, settle(function, names, callee_in)

    return opened


def test_parts_are_parameters(opened):
    """In the order of the containers, called after them; what nobody reads is a parameter, too."""
    function, read = opened("def f(p, x):\n    return p['W'] * x[0]\n", NAMED, PAIR)
    assert [name.rstrip("_1") for name in function.parameters] == ["p_W", "p_b", "x_0", "x"]
    first, _, third, _ = function.parameters
    assert read == {first, third}
    assert [type(let.op) for let in ir.lets(function.body)] == [ir.Binary]


def test_a_loop_is_a_copy_for_each_part(opened):
    """With the start, the counter and the order that it has."""
    loop = "    for i, a in enumerate(reversed(t), 3):\n        s = s * a + i\n"
    text = f"def f(t):\n    s = 1.0\n{loop}    return s * a\n"
    function, _ = opened(text, PAIR)
    assert not any(isinstance(s, ir.For) for s in ir.walk(function.body))
    one, two = function.parameters
    binary = [let.op for let in ir.lets(function.body) if isinstance(let.op, ir.Binary)]
    assert [op.right for op in binary if op.operator == "mul"][:2] == [two, one]
    assert [op.right.value for op in binary if op.operator == "add"] == [3, 4]


def test_a_long_loop_stays_one(opened):
    """Its container is a tuple of the parts."""
    text = "def f(t):\n    s = 1.0\n    for a in t:\n        s = s * a\n    return s\n"
    function, _ = opened(text, Structure(list, (), (None,) * (MOST + 1)))
    assert any(isinstance(s, ir.For) for s in ir.walk(function.body))
    (build,) = [let.op for let in ir.lets(function.body) if isinstance(let.op, ir.Build)]
    assert build.kind == "tuple" and list(build.items) == function.parameters


def test_a_comprehension_is_the_tuple_of_its_items(opened):
    function, _ = opened("def f(t):\n    return sum([a * a for a in t])\n", PAIR)
    assert not any(isinstance(let.op, (ir.Append, ir.Publish)) for let in ir.lets(function.body))
    assert all(count for name, count in use_counts(function).items() if isinstance(name, str))


@pytest.mark.parametrize(
    "body",
    [
        "return sorted(t)[0]",
        "return max(t, key=g)",
        "return max(t, default=2.0)",
        "return sum(t, 2.0)",
        "return list(t)[0]",
        "return u in set(t)",
    ],
)
def test_what_goes_through_a_list(opened, body):
    """A function of Python's that goes through it at once, whatever else it is given."""
    function, _ = opened(f"def f(t, u):\n    {body}\n", PAIR, None)
    assert len(function.parameters) == 3


@pytest.mark.parametrize(
    "body",
    [
        "t.append(1.0)\n    return t[0]",
        "t[0] = 2.0\n    return t[0]",
        "return g(t)",
        "return max(t, key=t.index)",
        "return sorted([t])[0]",
        "return t",
        "u = [t]\n    return u[0][0]",
        "u = t if t[0] else [1.0]\n    return u[0]",
        "return t[0] if t == [1.0] else 2.0",
        "return t[0] if t is u else 2.0",
        "h = lambda: t[0]\n    return h()",
        "t += [1.0]\n    return t[0]",
        "del t[0]\n    return t[0]",
        "return f'{t}'",
        "return isinstance(t, list) * t[0]",
        "for a in t:\n        t.pop()\n    return a",
    ],
)
def test_what_more_is_done_with_a_list(opened, body):
    """To change it, keep it, hand it on, or ask what it is."""
    with pytest.raises(NotOpened):
        opened(f"def f(t, u):\n    {body}\n", PAIR, None)


@pytest.mark.parametrize(
    "body", ["return t['no']", "return t.get('W')", "return len(t) * t[u]", "return 'W' in t", "return t | u"]
)
def test_what_more_is_done_with_a_dict(opened, body):
    with pytest.raises(NotOpened):
        opened(f"def f(t, u):\n    {body}\n", NAMED, None)
