"""A redefinition counts at once in forward mode and at the second order: functions, what they read, rules."""

import linecache

import numpy as np
import pytest

import rulelab as rl


def F(f):
    return lambda x: rl.pushforward(f, x)(1.0)


def R(f):
    return lambda x: rl.gradient(f, x)[0]


# How a derivative of f is asked for at 1: of order one, and of order two.
FIRST = {"forward": F, "jacobian": lambda f: lambda x: rl.jacobian(f, x, mode="forward")[0][0]}
SECOND = {
    "reverse over reverse": lambda f: R(R(f)),
    "forward over reverse": lambda f: F(R(f)),
    "reverse over forward": lambda f: R(F(f)),
    "forward over forward": lambda f: F(F(f)),
    "hessian": lambda f: lambda x: rl.hessian(f, x),
    "derivative": lambda f: rl.derivative(f, 2),
    "hvp": lambda f: lambda x: rl.hvp(f, x, 1.0),
}
ORDERS = {name: (way, 3.0) for name, way in FIRST.items()} | {n: (w, 6.0) for n, w in SECOND.items()}


@pytest.fixture(params=["auto", "manual"])
def mode(request):
    """Each test in both modes; the mode is put back."""
    rl.refresh(request.param)
    yield request.param
    rl.refresh("auto")


@pytest.fixture
def manual():
    rl.refresh("manual")
    yield
    rl.refresh("auto")


@pytest.fixture(params=ORDERS)
def asked(request):
    """`D(f)`: the derivative of f at 1 in one of the ways, over that of x³."""
    way, unit = ORDERS[request.param]
    return lambda f: way(f)(1.0) / unit


class Notebook:
    """Cells run in one namespace, whose text can be found again."""

    count = 0

    def __init__(self):
        self.names = {"rl": rl, "np": np, "__name__": "__main__"}

    def run(self, text):
        Notebook.count += 1
        name = f"<cell of forward staleness {Notebook.count}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), self.names)

    def __getitem__(self, name):
        return self.names[name]


@pytest.fixture
def notebook():
    return Notebook()


# --- A1 to A8: code and what it reads, in both modes ---


@pytest.mark.every(7)
def test_a1_function_redefined(mode, asked, notebook):
    """A function defined again is the new function."""
    for k in (2.0, 3.0):
        notebook.run(f"def f(x):\n    return {k} * x * x * x\n")
        assert asked(notebook["f"]) == k


@pytest.mark.every(7)
def test_a2_callee_redefined(mode, asked, notebook):
    """A callee defined again is used."""
    notebook.run("def f(x):\n    return g(x)\n")
    for k in (2.0, 3.0):
        notebook.run(f"def g(x):\n    return {k} * x * x * x\n")
        assert asked(notebook["f"]) == k


@pytest.mark.every(7)
def test_a2_function_whose_derivative_a_function_takes(mode, asked, notebook):
    """A function whose gradient another one takes inside, defined again, is used."""
    notebook.run("def f(x):\n    return rl.gradient(g, x)[0] * x / 4.0\n")
    for k in (2.0, 3.0):
        notebook.run(f"def g(x):\n    return {k} * x * x * x * x / x * 4.0 / 3.0\n")
        assert asked(notebook["f"]) == pytest.approx(k, rel=1e-12)


@pytest.mark.every(7)
def test_a3_global_number(mode, asked, notebook):
    """A global number counts as it is now."""
    notebook.run("k = 2.0\ndef f(x):\n    return k * x * x * x\n")
    assert asked(notebook["f"]) == 2.0
    for new in (5.0, 7, np.float64(4.0)):
        notebook.names["k"] = new
        assert asked(notebook["f"]) == new


@pytest.mark.every(7)
def test_a4_items_and_arrays(mode, asked, notebook):
    """An item of a global dict, and of an array written in place, counts as it is now."""
    notebook.run("cfg = {'k': 2.0}\nw = np.array([3.0])\ndef f(x):\n    return cfg['k'] * w[0] * x * x * x\n")
    assert asked(notebook["f"]) == 6.0
    notebook["cfg"]["k"] = 10.0
    notebook["w"][0] = 2.0
    assert asked(notebook["f"]) == 20.0


@pytest.mark.every(7)
def test_a5_captured_value(mode, asked):
    """A captured variable counts as it is now."""

    def make():
        k = 2.0

        def f(x):
            return k * x * x * x

        def set_k(new):
            nonlocal k
            k = new

        return f, set_k

    f, set_k = make()
    assert asked(f) == 2.0
    set_k(7.0)
    assert asked(f) == 7.0


@pytest.mark.every(7)
def test_a6_defaults(mode, asked):
    """Changed defaults count."""

    def f(x, a=2.0):
        return a * x * x * x

    assert asked(f) == 2.0
    f.__defaults__ = (9.0,)
    assert asked(f) == 9.0


@pytest.mark.every(7)
def test_a7_code_replaced(mode, asked, notebook):
    """A function whose code object is replaced is the new function."""
    notebook.run("def f(x):\n    return 2.0 * x * x * x\ndef h(x):\n    return 5.0 * x * x * x\n")
    assert asked(notebook["f"]) == 2.0
    notebook["f"].__code__ = notebook["h"].__code__
    assert asked(notebook["f"]) == 5.0


# --- A9, A10: rules; the derivative by a rule of slope k is that of k x³ ---

CALLER = "def g(x):\n    return x * x * x\ndef f(x):\n    return g(x) * 1.0\n"
FRULE = "@rl.frule_for(g)\ndef g_frule(tangents, x):\n    return x * x * x, 3.0 * K * x * x * tangents[1]\n"
RRULE = (
    "@rl.rrule_for(g)\ndef g_rrule(x):\n    def g_pullback(y_bar):\n"
    "        return rl.NoTangent(), 3.0 * K * x * x * y_bar\n    return x * x * x, g_pullback\n"
)
BY_FRULE = {"frule": (FRULE,), "both": (FRULE, RRULE), "rrule": (RRULE,)}


@pytest.fixture(params=BY_FRULE)
def rules(request):
    """The text of rules of a slope."""
    return lambda k: "".join(BY_FRULE[request.param]).replace("K", str(k))


@pytest.mark.slow
def test_a9_rule_after_the_derivative(notebook, rules):
    """A rule stated, restated and removed counts at once, in forward mode and at the second order."""
    twice_forward = {"forward over forward": SECOND["forward over forward"]}
    ways = FIRST | (SECOND if "rrule_for" in rules(1.0) else twice_forward)  # reverse mode asks no frule
    notebook.run(CALLER)
    f = notebook["f"]

    def all_are(k):
        found = {name: way(f)(1.0) / ORDERS[name][1] for name, way in ways.items()}
        assert found == pytest.approx(dict.fromkeys(ways, k)), found

    all_are(1.0)
    for k in (2.0, 3.0):
        notebook.run(rules(k))
        all_are(k)
    rl.remove_rule(notebook["g"])
    all_are(1.0)
    notebook.run(rules(4.0))
    all_are(4.0)


def test_a9_manual_keeps_the_old_rules(notebook, manual, rules):
    """In manual mode a rule stated or removed counts after a refresh, and not before."""
    ways = {"forward": F, "forward over forward": SECOND["forward over forward"]}
    notebook.run(CALLER)
    f = notebook["f"]

    def all_are(k):
        assert {n: way(f)(1.0) / ORDERS[n][1] for n, way in ways.items()} == dict.fromkeys(ways, k)

    all_are(1.0)
    notebook.run(rules(2.0))
    all_are(1.0)
    rl.refresh()
    all_are(2.0)
    rl.remove_rule(notebook["g"])
    all_are(2.0)
    rl.refresh()
    all_are(1.0)


def test_a9_manual_keeps_the_old_rules_at_the_second_order(notebook, manual):
    """The same of the ways that take a gradient."""
    notebook.run(CALLER)
    f = notebook["f"]
    ways = ("reverse over reverse", "forward over reverse", "reverse over forward", "hessian")

    def all_are(k):
        assert {n: SECOND[n](f)(1.0) / 6.0 for n in ways} == dict.fromkeys(ways, k)

    all_are(1.0)
    notebook.run((FRULE + RRULE).replace("K", "2.0"))
    all_are(1.0)
    rl.refresh()
    all_are(2.0)


def test_a10_without_rule(notebook):
    """A rule set aside for a block is set aside in forward mode, too."""
    notebook.run(CALLER + (FRULE + RRULE).replace("K", "2.0"))
    f = notebook["f"]
    for name, way in (FIRST | SECOND).items():
        before = way(f)(1.0)
        with rl.without_rule(notebook["g"]):
            inside = way(f)(1.0)
        assert (before, inside, way(f)(1.0)) == (2 * inside, ORDERS[name][1], 2 * inside)


def test_a10_pushforward_made_before_a_rule(notebook):
    """A pushforward is worked out when it is called, with the rules of then."""
    notebook.run(CALLER)
    push = rl.pushforward(notebook["f"], 1.0)
    assert push(1.0) == 3.0
    notebook.run(FRULE.replace("K", "2.0"))
    assert push(1.0) == 6.0
