"""A generator expression given to a function of the author's that reads it at once is a loop; to any other it
is what it is in Python, whoever redefines what.
"""

import types

import numpy
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.front.readers import reader
from rulelab.errors import MutationError, UnsupportedSyntaxError

from ...differences import gradient_by_differences

AT_ONCE = {
    "a consumer": "    return sum(xs)",
    "a list first": "    return sum(list(xs))",
    "another name for it": "    '''What the items sum up to.'''\n    return 2.0 * add_up(xs)",
    "a sum in a loop": "    found = 0.0\n    for v in xs:\n        found += v * v\n    return found",
    "two sums": (
        "    n, found = 0, 0.0\n    for v in xs:\n        n += 1\n        found += v\n    return found / n"
    ),
    "numbers beside": (
        "    found = 0.0\n    for k, v in enumerate(xs):\n        found += k * math.sin(v)\n    return found"
    ),
    "a choice": (
        "    best = -1e9\n    for v in xs:\n        if v > best:\n            best = v\n    return best"
    ),
    "a comprehension": "    return sum([v * v for v in xs][1:])",
    "a generator of its own": "    return math.sqrt(sum(v * v for v in xs))",
    "more afterwards": "    ys = sorted(xs)\n    return ys[0] * ys[-1] + noted(len(SEEN))",
}
BIT_BY_BIT = {
    "a break": (
        "    found = 0.0\n    for v in xs:\n        if v > 2.0:\n            break\n"
        "        found += v\n    return found"
    ),
    "a return": "    for v in xs:\n        return v * v",
    "read twice": "    return sum(xs) + sum(xs)",
    "asked what it is": "    return sum(xs) if hasattr(xs, '__next__') else 0.0",
    "one of them": "    return next(xs)",
    "something before": "    n = len(SEEN)\n    return sum(xs) + n",
    "a global between": "    found = 0.0\n    for v in xs:\n        found += v * len(SEEN)\n    return found",
    "a call between": "    found = 0.0\n    for v in xs:\n        found += noted(v)\n    return found",
    "a write between": "    a = [0.0]\n    for v in xs:\n        a[0] = a[0] + v\n    return a[0]",
    "of an argument": "    found = xs\n    return sum(found)",
    "in a nested function": "    return (lambda: sum(xs))()",
    "two loops": "    return sum(v * w for v in (1.0, 2.0) for w in xs)",
    "an item changed": "    for v in xs:\n        v += 1.0\n    return v",
    "in one branch": "    if SEEN:\n        return 0.0\n    return sum(xs)",
    "handed on": "    return noted(xs)",
}
AROUND = """
import math
SEEN = []
add_up = sum
def noted(v):
    return sum(v) if hasattr(v, "__next__") else v
"""
CALLER = """
def f(x):
    return g(v * x for v in [x, 2.0, x * x] if v > 0.5) + g(x - k for k in range(3))
"""


def program(cells, body):
    cells.run(AROUND)
    cells.run(f"def g(xs):\n{body}\n")
    return cells.run(CALLER)["f"]


def is_a_loop(f):
    """Whether the items are made in the pass itself."""
    return "genexpr" not in rl.adjoint_source(f, 1.3)


@pytest.mark.parametrize("name", [*AT_ONCE, *BIT_BY_BIT])
def test_what_reads_at_once(cells, name):
    """The text tells; the values and slopes are those of the program either way."""
    f = program(cells, (AT_ONCE | BIT_BY_BIT)[name])
    assert (reader("g", cells.names["g"]) is not None) is (name in AT_ONCE)
    assert is_a_loop(f) is (name in AT_ONCE)
    wanted = gradient_by_differences(f, 1.3)
    value, (slope,) = rl.withgradient(f, 1.3)
    assert value == f(1.3) and abs(slope - wanted) < 1e-5 * max(1.0, abs(wanted))
    assert abs(rl.pushforward(f, 1.3)(1.0) - slope) < 1e-12 * max(1.0, abs(slope))


@pytest.mark.parametrize(
    "item", ["next(it) * v for v in xs", "v.pop() for v in [xs]", "h(v) for v in xs", "h(1.0) for h in xs"]
)
def test_what_may_end_an_iteration_stays(cells, item):
    """In a generator StopIteration is an error, in a loop it would end something else."""
    cells.run("def h(v):\n    return v.total()\ndef g(xs):\n    return sum(xs)\n")
    f = cells.run(f"def f(x):\n    it, xs = iter([]), []\n    return x * g({item})\n")["f"]
    assert not is_a_loop(f)


ITEMS = {
    "an expression": "    return v * v + RATE",
    "steps": "    w = v * v\n    if w > RATE:\n        w += v\n    return w",
    "a loop": "    w = 0.0\n    for k in range(3):\n        w += k * v\n    return w",
    "of iterables": "    return sum(list(k * v for k in [v, 2.0])) * max([v, 1.0]) + len((v, v))",
    "functions of math": "    return math.sin(v) * (v, 2.0)[0]",
}
ITEMS_BY_ONE = {
    "next": "    return next(iter([v])) * v",
    "of a method": "    return v.conjugate() * v",
    "of another function": "    return noted(v) * v",
    "a change": "    SEEN.append(1)\n    return v * v",
    "a global": "    global RATE\n    RATE = 2.0\n    return v * RATE",
    "an error": "    if v > 100.0:\n        raise StopIteration\n    return v * v",
}
CALLERS = [
    "g(h(v) for v in [x, 2.0 * x])",
    "sum(map(h, [x, 2.0]))",
    "sum(filter(h, [x, 2.0]))",
    "max(map(h, [2.0, x])) + g(g(h(v) * w for w in [x, v]) for v in [x, 2.0])",
]


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("call", CALLERS)
@pytest.mark.parametrize("name", [*ITEMS, *ITEMS_BY_ONE])
def test_items_by_functions_that_only_compute(cells, name, call, local):
    """Their items are made in a loop as well, wherever the function is made."""
    cells.run(AROUND + "RATE = 0.5\n")
    cells.run("def g(xs):\n    return sum(list(xs))\n")
    made = f"def h(v):\n{(ITEMS | ITEMS_BY_ONE)[name]}"
    inside = "".join(f"    {line}\n" for line in made.splitlines()) if local else ""
    cells.run("" if local else made + "\n")
    f = cells.run(f"def f(x):\n{inside}    return x * ({call})\n")["f"]
    text = rl.adjoint_source(f, 1.3)
    if name in ITEMS:
        assert not any(each in text for each in ("genexpr", "map_at", "filter_at"))
    wanted = gradient_by_differences(f, 1.3)
    for _ in range(2):
        try:
            value, (slope,) = rl.withgradient(f, 1.3)
        except (MutationError, UnsupportedSyntaxError):
            assert name in ("a change", "a global")
            return
        assert value == f(1.3) and abs(slope - wanted) < 1e-5 * max(1.0, abs(wanted))
        assert abs(rl.pushforward(f, 1.3)(1.0) - slope) < 1e-12 * max(1.0, abs(slope))


COMPUTING_NO_MORE = {
    "the function": "def h(v):\n    return v if v < 2.0 else next(iter(()))\n",
    "what it calls": "def abs(v):\n    return v if v < 2.0 else next(iter(()))\n",
}


@pytest.mark.parametrize("name", COMPUTING_NO_MORE)
def test_a_function_that_no_longer_only_computes(cells, name):
    """From then on it may end the `map` that calls it."""
    cells.run("def h(v):\n    return abs(v)\n")
    f = cells.run("def f(x):\n    return sum(map(h, [x, 3.0 * x, x]))\n")["f"]
    for _ in range(12):
        assert rl.gradient(f, 1.3) == (5.0,)
    cells.run(COMPUTING_NO_MORE[name])
    assert f(1.3) == 1.3 and rl.withgradient(f, 1.3) == (1.3, (1.0,))


@pytest.mark.parametrize(
    "call", ["g((v for v in [x, 2.0]), note())", "g(*(v for v in [[x, 2.0]]))", "g(xs=(v for v in [x, 2.0]))"]
)
def test_other_calls_stay(cells, call):
    """What comes between the making and the reading, and arguments that are not the first one."""
    cells.run("def note():\n    return 0.0\ndef g(xs, start=0.0):\n    return sum(xs, start)\n")
    f = cells.run(f"def f(x):\n    return {call}\n")["f"]
    assert rl.gradient(f, 1.3) == (1.0,)


REDEFINED = {
    "the function": ("def g(xs):\n    return 3.0 * next(xs)\n", lambda x: 3.0),
    "its code": ("def other(xs):\n    return 3.0 * next(xs)\ng.__code__ = other.__code__\n", lambda x: 3.0),
    "its default": ("g.__defaults__ = (5.0,)\n", lambda x: 10.0),
    "what it calls": ("def sum(xs):\n    return 7.0 * next(xs)\n", lambda x: 7.0),
    "to a lambda": ("g = lambda xs: 4.0 * next(xs)\n", lambda x: 4.0),
}


@pytest.mark.parametrize("way", ["gradient", "pushforward"])
@pytest.mark.parametrize("name", REDEFINED)
def test_redefinitions_count(cells, name, way):
    """A function that reads no longer at once gets its generator from then on."""
    text, wanted = REDEFINED[name]
    cells.run("def g(xs, k=1.0):\n    return k * sum(xs)\n")
    cells.run("def f(x):\n    return g(x * v for v in [1.0, 1.0])\n")
    f = cells.names["f"]

    def slope():
        return rl.gradient(f, 1.3)[0] if way == "gradient" else rl.pushforward(f, 1.3)(1.0)

    for _ in range(12):  # until the quick ways are taken
        assert slope() == 2.0
    cells.run(text)
    assert slope() == wanted(1.3) and f(1.3) == pytest.approx(1.3 * wanted(1.3))


@pytest.mark.parametrize("mode", ["rrule", "frule"])
def test_a_rule_is_given_the_generator(cells, mode):
    """Once there is a rule for the function, what it gets is no list; without the rule all is as before."""
    cells.run("def g(xs):\n    return sum(xs)\n")
    f = cells.run("def f(x):\n    return g(v * x for v in [1.0, 2.0])\n")["f"]
    g, given = cells.names["g"], []
    assert rl.gradient(f, 1.3) == (3.0,) and rl.pushforward(f, 1.3)(1.0) == 3.0

    def primal(xs):
        given.append(xs)
        return sum(xs)

    if mode == "rrule":
        rl.rrule_for(g)(lambda xs: (primal(xs), lambda y_bar: (rl.NoTangent(), rl.ZeroTangent())))
        assert rl.gradient(f, 1.3)[0] in (None, 0.0)
    else:
        rl.frule_for(g)(lambda dots, xs: (primal(xs), 100.0))
        assert rl.pushforward(f, 1.3)(1.0) == 100.0
    assert given and not any(isinstance(xs, list) for xs in given)
    rl.remove_rule(g)
    assert rl.gradient(f, 1.3) == (3.0,) and rl.pushforward(f, 1.3)(1.0) == 3.0


def test_in_manual_mode_functions_stay_calls(cells):
    """There the rules of a function that is called are those that it was first called with."""
    cells.run("def g(xs):\n    return sum(xs)\n")
    f = cells.run("def f(x):\n    return g(v * x for v in [1.0, 2.0])\n")["f"]
    cache = Cache()
    cache.refresh("manual")
    assert rl.gradient(f, 1.3, cache=cache) == (3.0,)
    texts = [made.text for held in cache.memory.passes.values() for made in held.by_key.values()]
    assert any("genexpr" in text for text in texts)


def test_a_variable_is_read_when_the_item_is_made(cells):
    """Captured variables, and one that a comprehension around it gives values to."""
    cells.run("def g(xs):\n    return sum(list(xs))\n")
    f = cells.run(
        "def f(x):\n"
        "    k = 2.0\n    found = [g(v * k * x for v in [x, j]) for j in range(3)]\n"
        "    k = 3.0\n"
        "    return sum(found) + g(k * v for v in [x])\n"
    )["f"]
    assert rl.gradient(f, 1.3)[0] == pytest.approx(12.0 * 1.3 + 6.0 + 3.0) and is_a_loop(f)


COPIES = {
    "gone through at once": ("    return sum(list(xs))", True),
    "under a name": ("    ys = list(xs)\n    return max(ys)", True),
    "of a list that is read again": ("    return sum(list(xs)) + xs[0]", False),
    "that is read again": ("    ys = list(xs)\n    return max(ys) + ys[0]", False),
    "that another function has": ("    return math.dist(list(xs), [0.0])", False),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_that_nobody_sees_is_not_made(cells, name):
    """A list built for one reader is read itself, and one that others have is not."""
    body, spared = COPIES[name]
    cells.run(f"import math\ndef g(xs):\n{body}\n")
    f = cells.run("def f(x):\n    return g([v * x for v in [x, 2.0] if v < 1.5])\n")["f"]
    assert rl.gradient(f, 1.3)[0] == pytest.approx(gradient_by_differences(f, 1.3), abs=1e-5)
    assert ("list_at" not in rl.adjoint_source(f, 1.3)) is spared


def test_what_list_means_counts(cells):
    """A copy is spared only as long as `list` and what reads it are Python's own."""
    cells.run("def g(xs):\n    return sum(list(xs))\n")
    f = cells.run("def f(x):\n    return g([v * x for v in [x, 2.0]])\n")["f"]
    for _ in range(12):
        assert rl.gradient(f, 1.5) == (5.0,)
    cells.run("def list(xs):\n    return [v * 10.0 for v in xs]\n")
    assert rl.gradient(f, 1.5) == (50.0,)
    cells.run("del list\ndef sum(xs):\n    return xs[0]\n")
    assert rl.gradient(f, 1.5) == (3.0,)


FROM_ITEMS = {
    "a generator": "np.fromiter((v * v for v in xs if v > 0.5), float)",
    "a map": "np.fromiter(map(lambda v: v * v, xs), float)",
    "of an array": "np.fromiter((v * 2.0 for v in np.array(xs)), float)",
    "of two": "np.fromiter((v * w for v in xs for w in xs), float)",
}
AS_IT_IS = {
    "a count": "np.fromiter((v * v for v in xs), float, 2)",
    "another dtype": "np.fromiter((v * v for v in xs), np.float64)",
    "by name": "np.fromiter((v * v for v in xs), dtype=float)",
}


@pytest.mark.parametrize("name", [*FROM_ITEMS, *AS_IT_IS])
def test_an_array_of_items(cells, name):
    """The items are made in a loop; what is asked for otherwise goes by NumPy's function."""
    cells.run("import numpy as np\n")
    f = cells.run(f"def f(*xs):\n    return np.sum({(FROM_ITEMS | AS_IT_IS)[name]} ** 2)\n")["f"]
    value, slopes = rl.withgradient(f, 1.5, 0.7, 2.0)
    assert value == f(1.5, 0.7, 2.0)
    for k, slope in enumerate(slopes):
        wanted = gradient_by_differences(lambda x: f(*[x if k == j else v for j, v in enumerate(XS)]), XS[k])
        assert slope == pytest.approx(wanted, rel=1e-5)
        dots = [float(j == k) for j in range(3)]
        assert rl.pushforward(f, *XS)(*dots) == pytest.approx(slope, rel=1e-12)
    assert ("fromiter" not in rl.adjoint_source(f, *XS)) is (name in FROM_ITEMS)


XS = (1.5, 0.7, 2.0)


@pytest.mark.parametrize("change", ["np.fromiter = other", "float = other", "np = Other()"])
def test_what_makes_the_array_counts(cells, monkeypatch, change):
    """Another meaning of one of the names counts from then on."""
    np = types.SimpleNamespace(sum=numpy.sum, fromiter=numpy.fromiter)
    module = types.ModuleType("np")
    vars(module).update(vars(np))
    cells.names["np"] = module
    cells.run("class Other:\n    def fromiter(self, items, kind):\n        return 5.0 * next(items)\n")
    cells.run("def other(items, kind=None):\n    return 5.0 * next(items) if kind else 0.0\n")
    f = cells.run("def f(x):\n    return np.fromiter((v * x for v in [1.0, 1.0]), float)[0] * 1.0\n")["f"]
    for _ in range(12):
        assert rl.gradient(f, 1.3) == (1.0,)
    cells.run(change)
    try:
        found = rl.gradient(f, 1.3)
    except (rl.RuleLabError, TypeError, IndexError) as error:
        found = type(error)
    assert found != (1.0,)


def test_a_rule_of_what_makes_the_array_counts(cells):
    """A rule for NumPy's function is used from then on, and no longer when it is removed."""
    cells.run("import numpy as np\n")
    f = cells.run("def f(x):\n    return np.fromiter((v * x for v in [1.0, 1.0]), float)[0]\n")["f"]
    given = []

    def rule(items, kind):
        given.append(items)
        return numpy.array(list(items), kind), lambda y_bar: (rl.NoTangent(),) + (rl.ZeroTangent(),) * 2

    assert rl.gradient(f, 1.3) == (1.0,)
    rl.rrule_for(numpy.fromiter)(rule)
    try:
        assert rl.gradient(f, 1.3)[0] in (None, 0.0) and not isinstance(given[0], list)
    finally:
        rl.remove_rule(numpy.fromiter)
    assert rl.gradient(f, 1.3) == (1.0,)


@pytest.mark.parametrize(
    "call", ["np.array(ys)", "np.array(ys, float)", "np.stack(ys)", "np.concatenate([ys, ys])"]
)
def test_an_array_of_what_a_list_holds(cells, call):
    """The parts of an argument, gone through by a loop, are put together; the second call goes by them."""
    cells.names["np"] = numpy
    f = cells.run(f"def f(xs):\n    ys = [v * v for v in xs]\n    return np.sum({call} ** 2)\n")["f"]
    slopes = [rl.gradient(f, [1.5, 0.7, 2.0])[0] for _ in range(4)]
    twice = 2.0 if "concatenate" in call else 1.0
    assert slopes == [pytest.approx([4.0 * twice * v**3 for v in XS])] * 4
