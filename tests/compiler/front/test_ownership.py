"""A change of an object is called one's own only where nobody else can see it."""

import ast
import textwrap

import pytest

from rulelab.compiler.front.ownership import Ownership, is_append

NEW = ("zeros", "list")
READERS = ("total", "print")


def calls(node, names):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def is_new(node):
    return isinstance(node, (ast.List, ast.BinOp)) or calls(node, NEW)


def change_in(tree, fragment):
    """The node of the change, from its text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) or is_append(node):
            if ast.unparse(node) == fragment:
                return node
        if isinstance(node, ast.Assign) and ast.unparse(node) == fragment:
            return node.targets[0]
    raise LookupError(fragment)


def judged(body, fragment):
    tree = ast.parse("def f(x, n):\n" + textwrap.indent(body, "    ")).body[0]
    life = Ownership(tree, lambda call: calls(call, READERS), is_new)
    return life, change_in(tree, fragment)


OWNED = {
    "made here": "s = zeros(3)\ns += x",
    "made by arithmetic": "s = x * 2\ns += x",
    "changed in a loop": "s = zeros(3)\nfor i in n:\n    s += x\nreturn s",
    "read before": "s = zeros(3)\nt = s * 2 + total(s) + s.sum()\ns += x",
    "its shape read before": "s = zeros(3)\nt = g(s.shape)\ns += x",
    "tested before": "s = zeros(3)\nif s > 0:\n    pass\ns += x",
    "handed on afterwards": "s = zeros(3)\ns += x\ng(s)",
    "made anew since it was handed on": "s = zeros(3)\ng(s)\ns = zeros(3)\ns += x",
    "made anew in each iteration": "for i in n:\n    s = zeros(3)\n    s += x\n    g(s)",
    "its value the other operand": "s = zeros(3)\nt = zeros(3)\ns += t\nt += s\ns += x",
}
SHARED = {
    "an argument": "x += n\ns = x\ns += x",
    "another name": "s = zeros(3)\nt = s\ns += x",
    "a second target": "s = t = zeros(3)\ns += x",
    "from who knows": "s = g(3)\ns += x",
    "perhaps from who knows": "s = zeros(3)\nif n:\n    s = x\ns += x",
    "handed to a call": "s = zeros(3)\ng(s)\ns += x",
    "handed to a method": "s = zeros(3)\nx.keep(s)\ns += x",
    "its own method that may keep it": "s = zeros(3)\nt = s.view()\ns += x",
    "in a list": "s = zeros(3)\nt = [s]\ns += x",
    "in a dict": "s = zeros(3)\nt = {1: s}\ns += x",
    "a view of it": "s = zeros(3)\nt = s[1:]\ns += x",
    "a row of it": "s = zeros(3)\nt = s[0]\ns += x",
    "its transpose": "s = zeros(3)\nt = s.T\ns += x",
    "looped over": "s = zeros(3)\nfor t in s:\n    s += x",
    "captured": "s = zeros(3)\ng = lambda: s\ns += x",
    "captured by a function": "s = zeros(3)\ndef g():\n    return s\ns += x",
    "handed on in the iteration before": "s = zeros(3)\nfor i in n:\n    s += x\n    g(s)",
    "handed on, perhaps made anew": "s = zeros(3)\ng(s)\nif n:\n    s = zeros(3)\ns += x",
    "chosen": "s = zeros(3)\nt = s if n else x\ns += x",
    "unpacked": "s, t = n\ns += x",
    "a loop variable": "for s in n:\n    s += x",
    "handed on in a handler": "s = zeros(3)\ntry:\n    pass\nexcept KeyError:\n    g(s)\ns += x",
    "remade in a body that may be left": "s = zeros(3)\ng(s)\n"
    "try:\n    s = zeros(3)\nexcept KeyError:\n    pass\ns += x",
    "swapped": "s, t = zeros(3), zeros(3)\ns, t = t, s\ns += x",
    "in a comprehension": "s = zeros(3)\nt = [s for i in n]\ns += x",
}


@pytest.mark.parametrize("case", OWNED)
def test_owned(case):
    """`op=` on an object made here that only its variable holds is as good as a rebinding."""
    life, change = judged(OWNED[case], "s += x")
    assert life.owns(change)


@pytest.mark.parametrize("case", SHARED)
def test_shared(case):
    """Where another name, a view, a container, a closure or a callee may hold it, the change is not owned."""
    life, change = judged(SHARED[case], "s += x")
    assert not life.owns(change)


@pytest.mark.parametrize(
    "body, owned",
    [
        ("s = []\ns.append(x)", True),
        ("s = []\nfor i in n:\n    s.append(x)\nreturn s", True),
        ("s = list(n)\nt = s[0]\ns.append(x)", True),
        ("s = []\nfor i in n:\n    t = s[0]\n    s.append(x)", True),
        ("s = []\nt = [s]\ns.append(x)", False),
        ("s = n\ns.append(x)", False),
        ("s = []\ng(s)\ns.append(x)", False),
    ],
)
def test_append(body, owned):
    """An append to a list of one's own is a rebinding; its items are no part of it."""
    life, change = judged(body, "s.append(x)")
    assert life.owns(change) is owned


def test_appended_object():
    """What was appended to a list is held by the list."""
    life, change = judged("s = zeros(3)\nt = []\nt.append(s)\ns += x", "s += x")
    assert not life.owns(change)


@pytest.mark.parametrize(
    "body, owned",
    [
        ("s = zeros(3)\ns[0] = 5", True),
        ("s = zeros(3)\nfor i in n:\n    s[0] = 5\nreturn s", True),
        ("s = zeros(3)\nt = s * 2\ns[0] = 5", False),
        ("s = zeros(3)\ns[0] = 5\nt = s * 2", True),
        ("s = zeros(3)\nfor i in n:\n    s[0] = 5\n    t = s * 2", False),
        ("s = zeros(3)\nfor i in n:\n    s = zeros(3)\n    s[0] = 5\n    t = s * 2", True),
        ("t = zeros(3)\ns = t\ns[0] = 5", False),
    ],
)
def test_unread(body, owned):
    """An item may be overwritten for good only if nobody has read the object before."""
    life, change = judged(body, "s[0] = 5")
    assert life.owns_unread(change) is owned


@pytest.mark.parametrize(
    "body, owned",
    [
        ("s = x.copy()\ns += n", True),
        ("s = x[1:].copy()\nfor i in n:\n    t = s * 2\n    s -= t", True),
        ("s = x.copy()\nt = s\ns += n", False),
        ("s = x.copy(n)\ns += n", False),
        ("s = x.copy()\nif n:\n    s = x\ns += n", False),
    ],
)
def test_copies(body, owned):
    """A copy is one's own if it is an array, which is seen when it is made; no more than that is said."""
    fragment = body.rpartition("\n")[2].strip()
    life, change = judged(body, fragment)
    assert life.owns_copy(change) == owned
    assert not life.owns(change) and not life.owns_unread(change)


@pytest.mark.parametrize(
    "body, owned",
    [
        ("x = x * 2\nx += n", True),
        ("for i in n:\n    x = x * 2\n    x += n", True),
        ("if n:\n    x = x * 2\nx += n", False),
        ("for i in n:\n    x += n\n    x = x * 2", False),
        ("x = x * 2\nx = g(x)\nx += n", False),
    ],
)
def test_arguments_bound_anew(body, owned):
    """The caller holds what came in, and not what the parameter was certainly bound to since."""
    life, change = judged(body, "x += n")
    assert life.owns(change) == owned
