"""None means that no path leads from an argument to the result, which is told without running anything."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.analysis.activity import Activity
from rulelab.compiler.analysis.regions import Regions
from rulelab.compiler.analysis.types import Types
from rulelab.compiler.base import ir
from rulelab.rules.kinds import signature_of, type_of_signature

PRELUDE = "import numpy as np\nimport math\nCONSTANT = 2.0\ndef g(*args, **kwargs):\n    return 0.0\n"


def judged(cells, text, wanted=True, start=None, constant=(), **values):
    """(the activity, the function) of `f` in a cell, for arguments of these values."""
    cells.run(PRELUDE)
    function = cells.lowered(text)
    types = Types(
        function, {n: type_of_signature(signature_of(v)) for n, v in values.items()}, cells.find_global
    )
    start = set(values) if start is None else start
    is_constant = lambda op: getattr(op, "method", None) in constant
    regions = Regions(function, types, lambda op: False, is_constant)
    return Activity(function, types, regions, start, is_constant, wanted), function


def active_names(cells, body, start=None, **values):
    text = f"def f({', '.join(values)}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    activity, function = judged(cells, text, start=start, constant=("argmax",), **values)
    return {name for name in function.parameters if activity(name)}


V = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    "body, names",
    [
        ("return x * y", "xy"),
        ("return x", "x"),
        ("z = x\nx = y\nreturn x", "y"),
        ("return (x, y)[0]", "xy"),
        ("return g(x, k=y)", "xy"),
        ("return x if y > 0 else 2 * x", "x"),
        ("s = 0.0\nfor i in range(3):\n    s = s * x\nreturn s", "x"),
        ("a = b = 1.0\nfor i in range(3):\n    a, b = b, a * y\nreturn b", "y"),
        ("for i in range(3):\n    x = x * y\nreturn 1.0", ""),
        ("return float(x < y)", ""),
        ("return len(f'{x}{y}')", ""),
        ("return not x", ""),
        ("s = y\nif x > 0:\n    s = 2.0\nreturn s", "y"),
        ("try:\n    s = x\nexcept KeyError:\n    s = y\nreturn s", "xy"),
        ("while x > 0:\n    x = x - y\nreturn x", "xy"),
        ("h = lambda u: u * x\nreturn h(y)", "xy"),
        ("return {1: x}[1] + [y][0]", "xy"),
    ],
)
def test_paths(cells, body, names):
    """A value is active if its path leads to the result, through joins, containers, calls and closures."""
    assert active_names(cells, body, x=1.0, y=2.0) == set(names)


def test_indices_carry_nothing(cells):
    """Of `v[i]` the array is active, the index is not; nor is what a declared constant was made from."""
    assert active_names(cells, "return v[i]", v=V, i=1) == {"v"}
    assert active_names(cells, "return w[v.argmax()]", v=V, w=V) == {"w"}


def test_only_what_is_asked_for(cells):
    """An argument that is not asked for is not active, though it matters."""
    assert active_names(cells, "return x * y", start={"y"}, x=1.0, y=2.0) == {"y"}


@pytest.mark.parametrize("value", [True, "a", None, slice(None)])
def test_types_that_carry_nothing(cells, value):
    """A bool, a string, None and a slice are never active."""
    assert active_names(cells, "return g(x, y)", x=1.0, y=value) == {"x"}


def test_nothing_wanted(cells):
    """Where no cotangent is wanted nothing is active, but what varies is still known, lest it be kept."""
    activity, function = judged(cells, "def f(x):\n    y = x * 2\n    return y\n", wanted=False, x=1.0)
    assert not activity("x") and not activity.useful
    assert {"x", "y"} <= activity.varied


def test_constants_are_not_active(cells):
    """A literal and a global carry nothing."""
    activity, function = judged(cells, "def f(x):\n    y = CONSTANT\n    return x * y\n", x=1.0)
    assert not activity(ir.Const(1.0))
    assert not activity("y")


def test_result_without_a_name(cells):
    """A function that returns a literal has no active value at all."""
    activity, function = judged(cells, "def f(x):\n    y = x\n    return 3.0\n", x=1.0)
    assert not any(map(activity, function.parameters))


@pytest.mark.parametrize("flag", [True, False])
def test_none_and_zeros_do_not_depend_on_the_branch(cells, flag):
    """An argument used on one branch has a gradient of zero, not None, when the other is taken."""
    f = cells.run("def f(x, y, flag):\n    if flag:\n        return x * y\n    return x\n")["f"]
    assert rl.gradient(f, 2.0, 3.0, flag) == ((3.0, 2.0, None) if flag else (1.0, 0.0, None))


IN_TURN = [
    "s = 0.0\nfor i in range(3):\n    s = s * x\nreturn s",
    "a = b = 1.0\nfor i in range(3):\n    a, b = b, a * y\nreturn b",
    "a = b = c = 1.0\nfor i in range(5):\n    for j in range(2):\n        a, b, c = b, c, a * y\nreturn a",
    "xs = []\nfor i in range(3):\n    xs.append(x)\n    y = y * sum(xs)\nreturn y",
    "xs = [1]\nfor i in range(3):\n    last = xs[-1]\n    xs.append(last * y)\nreturn last",
    "t = 1\nwhile t < 9:\n    s = t\n    t = t + y\nreturn s",
    "xs = [0, 0]\nys = [xs]\nfor i in range(2):\n    y = y + xs[0]\n    ys[0][0] = x\nreturn y",
    "s = 1\ntry:\n    s = x\n    t = s * y\nexcept KeyError as error:\n    t = s\nreturn t",
    "for i in range(2):\n    try:\n        x, y = y, x * y\n    except KeyError:\n        y = x\nreturn y",
    "h = lambda u: u * x\nfor i in range(3):\n    x = h(y)\nreturn x",
    "for i in range(3):\n    if x > y:\n        x, y = y, 1\n    else:\n        x = g(y)\nreturn x",
]


@pytest.mark.parametrize("body", IN_TURN)
def test_what_is_found_in_one_turn_is_all(cells, body):
    """To look at everything once more tells nothing new, of kinds or of what varies and is useful."""
    text = "def f(x, y):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    activity, function = judged(cells, text, x=1.5, y=2.0)
    types = activity._types
    known = dict(types.of), dict(types._items), set(activity.varied), set(activity.useful)
    types._block(function.body)
    activity._vary(function.body)
    activity._use_in_turn(function)
    assert known == (types.of, types._items, activity.varied, activity.useful)
