"""An iterator that has a variable, and is read by one statement, is what it is without one."""

import pytest

import rulelab as rl
from rulelab.errors import MutationError, NotDifferentiableError, UnsupportedSyntaxError
from rulelab.parsing import nodes_of, parse

from ...differences import gradient_by_differences
from ..agreeing import check_slope

IN_PLACE = {
    "a sum": "g = (v * x for v in [x, 2.0])\n    return sum(g)",
    "a loop": "g = (v * x for v in [x, 2.0])\n    for v in g:\n        s = s + v * v\n    return s",
    "a list of a map": "g = map(lambda v: v * x, [x, 2.0])\n    xs = list(g)\n    return xs[0] * xs[1]",
    "pairs": "g = zip([x, 2.0], [3.0, x * x])\n    return sum(v * w for v, w in g)",
    "numbered": "g = enumerate([x, x * x], 1)\n    s += sum([k * v for k, v in g])\n    return s * x",
    "one of another": "a = (v * x for v in [x, 2.0])\n    b = (v + x for v in a)\n    return max(b) * x",
    "a part of the next": "g = (v * x for v in [x, 2.0, x])\n    return sorted(g)[1] ** 2 + x",
    "behind a number": "g = (v * x for v in [x, 2.0])\n    s = 2.0 * sum(g)\n    return s * x",
    "in a loop": (
        "for k in range(3):\n        g = (v * k for v in [x, s])\n        s = sum(g) + s * x\n    return s"
    ),
    "of a name that changes": "xs = [x]\n    g = (v * x for v in xs)\n    xs = list(g)\n    return xs[0] * x",
}
LATER = {
    "after a number": "g = (v * s for v in [x, 2.0])\n    t = x * x\n    return sum(g) * t",
    "after another call": "g = (v * x for v in [x, 2.0])\n    return noted(s) + sum(g)",
    "in a branch": "g = (v * x for v in [x, 2.0])\n    return sum(g) if x > 1 else x",
    "perhaps": "g = (v * x for v in [x, 2.0])\n    if x > 1:\n        s = sum(g)\n    return s * x",
    "two": "g = (v * x for v in [x, 2.0])\n    h = (v + x for v in (x, 3.0))\n    return sum(g) * max(h)",
    "a loop afterwards": (
        "g = map(lambda v: v * x, [x, 2.0])\n    t = x\n    for v in g:\n        t += v * v\n    return t"
    ),
    "pairs afterwards": (
        "g = zip((v for v in [x, 2.0]), (v * x for v in [3.0, x]))\n    s += x\n"
        "    return s * sum(v * w for v, w in g)"
    ),
    "one of another afterwards": (
        "a = (v * x for v in [x, 2.0])\n    b = (v + x for v in a)\n    s += x\n    return max(b) * s"
    ),
    "of whole numbers": "g = (v * x for v in range(1, 4))\n    s += x\n    return sum(g) * s",
    "what it reads changes": "g = (v * s for v in [x, 2.0])\n    s = x\n    return sum(g)",
    "what it runs over changes": (
        "xs = [x, 2.0]\n    g = (v * x for v in xs)\n    xs.append(x)\n    return sum(g)"
    ),
    "the name of what it runs over changes": (
        "xs = [x, 2.0]\n    g = (v * x for v in xs)\n    xs = [x * x]\n    return sum(g) * xs[0]"
    ),
    "a number in a list changes": (
        "xs = [x]\n    g = (v * s for v in [xs[0]])\n    xs[0] = 5.0\n    return sum(g)"
    ),
    "in a loop afterwards": (
        "for k in range(3):\n        g = (v * k for v in [x, s])\n        t = s * x\n        s = sum(g) + t\n"
        "    return s"
    ),
}
OTHERWISE = {
    "of an iterator read before": (
        "it = iter([x, 2.0])\n    g = (v * x for v in it)\n    s = next(it)\n    return sum(g) + s"
    ),
    "of a parameter": "g = (v for v in x_s)\n    t = x * x\n    return sum(g) * t",
    "read twice": "g = (v * x for v in [x, 2.0])\n    return sum(g) + sum(g)",
    "a part of it": "g = (v * x for v in [x, 2.0])\n    return next(g) * x",
    "in another function": "g = (v * x for v in [x, 2.0])\n    return (lambda: sum(g))()",
    "again and again": ("g = (v * x for v in [x, 2.0])\n    return sum([sum(g) + w for w in [x, 1.0]])"),
    "bound twice": "g = (v for v in [x])\n    g = (v * x for v in g)\n    return sum(g)",
    "in the second place": "g = (v * x for v in [x, 2.0])\n    return sum([v * w for v in [x] for w in g])",
}


def program(cells, body):
    cells.run("def noted(v):\n    return v\n")
    return cells.run(f"def f(x):\n    s, x_s = 1.0, (x, 2.0)\n    {body}\n")["f"]


@pytest.mark.parametrize("name", [*IN_PLACE, *LATER, *OTHERWISE])
def test_values_and_slopes(cells, name):
    f = program(cells, (IN_PLACE | LATER | OTHERWISE)[name])
    check_slope(f, 1.3)
    second = float(gradient_by_differences(lambda x: rl.gradient(f, float(x))[0], 1.3))
    assert rl.gradient(lambda y: rl.pushforward(f, y)(1.0), 1.3)[0] == pytest.approx(
        second, rel=1e-5, abs=1e-5
    )


@pytest.mark.parametrize("name", [*IN_PLACE, *LATER])
def test_its_items_are_made_in_the_pass(cells, name):
    text = str(rl.adjoint_source(program(cells, (IN_PLACE | LATER)[name]), 1.3))
    names = {n.id for n in nodes_of(parse(text)) if hasattr(n, "id")}
    assert not any(each.startswith(("generated", "zip_", "map_", "enumerate_")) for each in names)


EFFECTS = {
    "before it is read": (
        "g = (noted(v, 'item') * x for v in noted([x], 'items'))\n    return sum(g, noted(0.0, 'start'))"
    ),
    "its error": "g = (v / x for v in [x][noted(5, 'index')])\n    return sum(g)",
    "an error of an item": "g = (v * [][0] for v in noted([x], 'items'))\n    return noted(sum(g), 'never')",
    "before other calls": (
        "g = (noted(v, 'item') * x for v in [noted(x, 'first'), 2.0])\n    t = noted(x, 'between')\n"
        "    return t * sum(g) * noted(1.0, 'after')"
    ),
    "two at once": (
        "g = (noted(v, 'g') * x for v in [noted(x, 'of g')])\n"
        "    h = (noted(v, 'h') * x for v in [noted(x, 'of h')])\n    return sum(h) + sum(g)"
    ),
    "half of it": (
        "g = map(lambda v: noted(v, 'item') * x, [x, noted(2.0, 'second'), 3.0])\n"
        "    t = noted(x, 'between')\n"
        "    for v in g:\n        if noted(v, 'body') > 2:\n            break\n        t += v\n    return t"
    ),
    "an error between": (
        "g = (noted(v, 'item') for v in [noted(x, 'first')])\n    t = [x][noted(3, 'index')]\n"
        "    return t + sum(g)"
    ),
    "items of unequal number": (
        "g = zip((noted(v, 'v') for v in [x, 2.0]), (noted(w, 'w') for w in [x]), strict=False)\n"
        "    t = noted(x, 'between')\n"
        "    return t + sum(v * w for v, w in g)"
    ),
    "perhaps read": (
        "g = (noted(v, 'item') for v in [noted(x, 'first')])\n    t = noted(x, 'between')\n"
        "    if t > 5:\n        return sum(g)\n    return t"
    ),
    "never read": "g = (noted(v, 'item') for v in noted([x], 'items'))\n    return x * x",
}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_happens_happens_in_the_same_order(cells, name):
    cells.run(
        "import rulelab as rl\nSEEN = []\n"
        "def noted(v, what):\n    rl.ignore_derivatives(lambda: SEEN.append(what))\n    return v\n"
    )
    f = cells.run(f"def f(x):\n    {EFFECTS[name]}\n")["f"]
    seen, found = cells.names["SEEN"], []
    for call in (f, lambda x: rl.withgradient(f, x)[0]):
        seen.clear()
        try:
            value = call(1.3)
        except IndexError as error:
            value = str(error).splitlines()[0]
        found.append((value, list(seen)))
    assert found[1][0] == found[0][0] and found[1][1][: len(found[0][1])] == found[0][1]


BUMP = "n = 1.0\n    def bump():\n        nonlocal n\n        n = n + x\n        return [x, 2 * x]\n    "
CHANGING = {
    "a dict that changes": (
        "d = {1: x}\n    g = (d[k] for k in d)\n    d[1] = 2 * x\n    return sum(g)"
    ),
    "backwards over a list that changes": (
        "xs = [x, 2.0]\n    g = reversed(xs)\n    xs.append(x)\n"
        "    return sum([k * v for k, v in enumerate(g)])"
    ),
    "a sum": "g = zip(bump(), [1, 2])\n    return n + sum(a * b for a, b in g)",
    "a product": "g = (v for v in bump())\n    r = n * sum(g)\n    return r",
    "a sum in place": "g = (v for v in bump())\n    n += sum(g)\n    return n",
    "an attribute": (
        "o = lambda: 0\n    o.n = x\n    def put():\n        o.n = 3 * x\n        return [x, x]\n"
        "    g = (v for v in put())\n    r = o.n * sum(g)\n    return r"
    ),
    "an assignment inside": "g = map(lambda v: v * x, [x, (n := 7 * x)])\n    r = n + sum(g)\n    return r",
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_making_it_changes_is_read_afterwards(cells, name):
    body = CHANGING[name] if "n :=" in CHANGING[name] else BUMP + CHANGING[name]
    f = cells.run(f"def f(x):\n    {body}\n")["f"]
    try:
        value, (slope,) = rl.withgradient(f, 1.3)
    except (MutationError, NotDifferentiableError, UnsupportedSyntaxError):
        return
    assert value == f(1.3)
    assert slope == pytest.approx(float(gradient_by_differences(lambda x: f(float(x)), 1.3)), rel=1e-6)
