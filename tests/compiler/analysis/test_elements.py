"""Which lists nobody but their function can change; the kinds of their items are known."""

import numpy as np
import pytest

from rulelab.compiler.analysis.elements import private_lists
from rulelab.compiler.analysis.types import Types
from rulelab.compiler.base import ir
from rulelab.compiler.base.liveness import prune
from rulelab.rules.kinds import Array, is_real, signature_of, type_of_signature

LOOP = "for k in range(3):\n"
PRIVATE = {
    "appended to": "l = [x[0]]\nl.append(x[1])\nreturn l[0]",
    "in a loop": f"l = []\n{LOOP}    l.append(x[k])\nreturn l[0]",
    "returned at the end": "l = [x[0]]\nreturn l",
    "on a branch": "l = [x[0]]\nif x[1] > 0:\n    l.append(x[1])\nreturn l[0]",
    "one of two": "l = [x[0]] if x[1] > 0 else [x[1]]\nreturn l[0]",
    "made anew": f"l = [x[0]]\n{LOOP}    if k == 1:\n        l = []\n    l.append(x[k])\nreturn l[0]",
    "counted": "l = [x[0]]\nreturn l[0] * len(l)",
    "summed": "l = [x[0]]\nl.append(x[1])\nreturn l[0] * sum(l)",
    "its extremes": "l = [x[0], x[1]]\nreturn l[0] * max(l) * min(l)",
    "put together": "l = [x[0]]\nl.append(x[1])\nreturn np.array(l)",
}
OTHERS = {
    "handed to a call": "l = [x[0]]\nother(l)\nreturn l[0]",
    "handed to a method": "l = [x[0]]\nx.other(l)\nreturn l[0]",
    "in another list": "l = [x[0]]\nm = [l]\nreturn l[0]",
    "in a tuple": "l = [x[0]]\nm = (l, 1)\nreturn l[0]",
    "in a dict": "l = [x[0]]\nm = {'l': l}\nreturn l[0]",
    "appended to another": "l = [x[0]]\nm = []\nm.append(l)\nreturn l[0]",
    "appended to itself": "l = [x[0]]\nl.append(l)\nreturn l[0]",
    "half written to": "l = [x[0]]\ntry:\n    l[0] = 1.0\nfinally:\n    y = l[0]\nreturn y",
    "written to and returned": "l = [x[0]]\nl[0] = 1.0\nreturn l",
    "written to, and one of two": "l = [x[0]]\nif x[1] > 0:\n    l = [1.0]\nl[0] = 2.0\nreturn l[0]",
    "written to after the loop that makes it": f"{LOOP}    l = [x[0]]\nl[0] = 2.0\nreturn l[0]",
    "written to, and handed to another call": "l = [x[0]]\nl[0] = 2.0\nreturn sorted(l)[0]",
    "grown while it is read": "l = [x[0]]\nl[0] = 2.0\nfor e in l:\n    l.append(e)\nreturn l[0]",
    "grown in place": "l = [x[0]]\nl += x\nreturn l[0]",
    "changed by a method": "l = [x[0]]\nl.insert(0, x)\nreturn l[0]",
    "its method": "l = [x[0]]\nf = l.append\nf(x)\nreturn l[0]",
    "captured": "l = [x[0]]\ndef f():\n    l.append(x)\nf()\nreturn l[0]",
    "an attribute": "l = [x[0]]\nx.l = l\nreturn l[0]",
    "repeated": "l = [x[0]] * 2\nreturn l[0]",
    "a slice": "m = [x[0]]\nl = m[:]\nreturn l[0]",
    "summed by another of that name": "sum = other\nl = [x[0]]\ns = sum(l)\nreturn l[0]",
    "an argument": "l = x\nl.append(1.0)\nreturn l[0]",
    "one of two, of which one is not": "l = [x[0]] if x[1] > 0 else x\nreturn l[0]",
    "deleted from": "l = [x[0]]\ndel l[0]\nreturn l[0]",
    "compared": "l = [x[0]]\nif l == x:\n    return 1.0\nreturn l[0]",
}


def function_of(cells, body):
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return cells.lowered(f"import numpy as np\ndef f(x):\n{indented}")


def types_of(cells, body, pruned=False):
    lowered = function_of(cells, body)
    if pruned:
        prune(lowered)
    return lowered, Types(
        lowered, {"x": type_of_signature(signature_of(np.ones(4)))}, lambda name: cells.find_global(name)
    )


@pytest.mark.parametrize("body", PRIVATE.values(), ids=PRIVATE)
def test_a_list_that_is_built_appended_to_and_read_is_private(cells, body):
    """And what is read from it is a number."""
    lowered, types = types_of(cells, body)
    names = private_lists(lowered, types._only_reads)
    assert names
    items = [let for let in ir.lets(lowered.body) if isinstance(let.op, ir.Item) and let.op.value in names]
    assert all(types(let.target) == types_of_item(types, let) for let in items)


def types_of_item(types, let):
    """The kind of the numbers of `x`, which all these lists hold."""
    return types._items[types._lists[let.op.value]]


@pytest.mark.parametrize("body", OTHERS.values(), ids=OTHERS)
def test_a_list_that_others_may_hold_or_that_is_written_to_is_not(cells, body):
    lowered, types = types_of(cells, body)
    names = private_lists(lowered, types._only_reads, types._measures, types.makes_list)
    assert not names.keys() & {"l", "l_1"}, names
    assert not types.written


WRITTEN = {
    "an item": "l = [x[0]]\nl[0] = x[1]\nreturn l[0]",
    "an item in place": "l = [x[0]]\nl[0] += x[1]\nreturn l[0]",
    "under another name": "l = [x[0]]\nm = l\nm[0] = x[1]\nreturn l[0]",
    "in a loop": f"l = [x[0], x[1], x[2]]\n{LOOP}    l[k] = x[k] * l[k - 1]\nreturn l[0]",
    "made in a loop": f"s = 0.0\n{LOOP}    l = [x[k]]\n    l[0] = 2.0\n    s += l[0]\nreturn s",
    "while it is read": "l = [x[0], x[1]]\ns = 0.0\nfor e in l:\n    l[1] = e\n    s += e\nreturn s",
    "repeated": "l = [0.0] * 3\nl[0] = x[1]\nreturn l[0]",
    "a copy": "l = list(x)\nl[0] = x[1] * l[0]\nreturn l[0]",
    "an extreme of it": "l = [x[0], x[1]]\nl[0] = 2.0\nreturn max(l)",
    "a stack": "l = []\nm = l\nm.append(x[0])\nm.append(x[1])\nreturn l.pop()",
}


@pytest.mark.parametrize("body", WRITTEN.values(), ids=WRITTEN)
def test_a_list_of_numbers_that_is_changed_here_alone_is_private(cells, body):
    """And what is read from it is a number."""
    lowered, types = types_of(cells, body, pruned=True)
    assert types.written
    assert is_real(types(lowered.result))


@pytest.mark.parametrize(
    "body",
    [
        "l = [x[0]]\nl[0] = x\nreturn l[0]",
        "l = [x[0], 1.0]\nl[:1] = [x[1]]\nreturn l[0]",
        "l = [x[0], 1.0]\nl[0] = x[1]\nreturn l[:1][0]",
        "l = [x[0], 1.0]\nl[x[0]] = 2.0\nreturn l[0]",
        "l = [x[0]] * y\nl[0] = 2.0\nreturn l[0]",
        "l = list(y)\nl[0] = 2.0\nreturn l[0]",
    ],
    ids=["an array", "a slice", "read by a slice", "by no whole number", "so many times", "of anything"],
)
def test_a_list_is_not_if_its_items_or_places_may_be_something_else(cells, body):
    _, types = types_of(cells, body)
    assert not types.written


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("l = [x]\nl.append(x * 2.0)\nreturn l[1]", Array("f8", 1)),
        ("l = []\nfor k in range(3):\n    l.append(x)\nreturn l[k]", Array("f8", 1)),
    ],
)
def test_the_kind_of_an_item_is_that_of_all_that_was_put_in(cells, body, kind):
    lowered, types = types_of(cells, body)
    assert types(lowered.result) == kind


@pytest.mark.parametrize(
    "body",
    [
        "l = [x[0]]\nl.append(x)\nreturn l[0]",
        "l = [x[0]]\nm = l\nm.append(x)\nreturn l[0]",
        "l = [x[0]]\nl.append(None)\nreturn l[0]",
        "l = [x]\nl.append(np.outer(x, x))\nreturn l[0]",
    ],
)
def test_of_items_of_several_kinds_only_what_all_have_is_known(cells, body):
    lowered, types = types_of(cells, body)
    assert not isinstance(types(lowered.result), Array)
    assert types(lowered.result) != type_of_signature(float)
