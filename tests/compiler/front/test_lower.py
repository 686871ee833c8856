"""The intermediate form names every value once, before it is read, in the order in which Python evaluates."""

import copy
import dis
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import all_cases  # noqa: E402
from corpus.programs import program  # noqa: E402
from differences import difference  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.base import ir  # noqa: E402
from rulelab.compiler.base.liveness import reads_of  # noqa: E402
from rulelab.compiler.base.source import find_source  # noqa: E402
from rulelab.compiler.front.lower import lower  # noqa: E402
from rulelab.compiler.front.lowering import Surroundings  # noqa: E402
from rulelab.errors import CatchBlockError, UnsupportedSyntaxError  # noqa: E402


class Verifier:
    """Complains about a name that is given twice, or read where no path to it has given it."""

    def __init__(self, function):
        self.given = set()
        self.seen = set()
        for name in (*function.parameters, *function.free):
            self.give(name)
        self.block(function.body)
        self.read(function.result)

    def give(self, name):
        assert name not in self.given, f"{name} is given twice"
        self.given.add(name)
        self.seen.add(name)

    def read(self, *atoms):
        for atom in atoms:
            if isinstance(atom, str):
                assert atom in self.seen, f"{atom} is read before it is given"

    def inside(self, block, *atoms):
        """The names of a block are not seen after it; `atoms` are read at its end."""
        seen = set(self.seen)
        self.block(block)
        self.read(*atoms)
        self.seen = seen

    def block(self, block):
        for statement in block:
            getattr(self, f"visit_{type(statement).__name__.lower()}", self.other)(statement)

    def visit_let(self, statement):
        self.read(*statement.op.operands())
        self.give(statement.target)

    def other(self, statement):
        self.read(*reads_of(statement, joins=True))

    def give_all(self, phis):
        for phi in phis:
            self.give(phi.target)

    def visit_if(self, statement):
        self.read(statement.test)
        self.inside(statement.then, *(phi.sources[0] for phi in statement.outs))
        self.inside(statement.orelse, *(phi.sources[1] for phi in statement.outs))
        self.give_all(statement.outs)

    def visit_for(self, statement):
        self.read(*(phi.sources[0] for phi in statement.carried))
        for leaf in ir.leaves(statement.iteration):
            self.read(*(leaf.args if isinstance(leaf, ir.Count) else (leaf.value,)))
        self.give_all(statement.carried)
        seen = set(self.seen)
        for name in items(statement.iteration):
            self.give(name)
        self.inside(statement.body, statement.stop, *(phi.sources[1] for phi in statement.carried))
        self.seen = seen

    def visit_while(self, statement):
        self.read(*(phi.sources[0] for phi in statement.carried))
        self.give_all(statement.carried)
        seen = set(self.seen)
        self.block(statement.head)
        self.read(statement.test)
        self.inside(statement.body, statement.stop, *(phi.sources[1] for phi in statement.carried))
        self.seen = seen

    def visit_try(self, statement):
        self.read(*(phi.sources[0] for phi in statement.slots))
        self.give_all(statement.slots)
        self.inside(statement.body, *(phi.sources[1] for phi in statement.slots))
        for handler in statement.handlers:
            seen = set(self.seen)
            if handler.name:
                self.give(handler.name)
            self.inside(handler.body, *handler.values)
            self.seen = seen


def items(iteration):
    if isinstance(iteration, ir.Enumerated):
        return [iteration.counter, *items(iteration.part)]
    if isinstance(iteration, ir.Zipped):
        return [name for part in iteration.parts for name in items(part)]
    return [iteration.item]


def lowered(f):
    look = lambda name: f.__globals__.get(name, getattr(__import__("builtins"), name, ir.UNBOUND))
    return lower(find_source(f.__code__), f.__code__, Surroundings(look, lambda g: False, lambda g: False))


def test_corpus_is_well_formed():
    """Every function of the corpus: each name given once, and before it is read."""
    count = 0
    for case in all_cases():
        f = case.function
        if hasattr(f, "__code__") and not f.__code__.co_flags & 0x0C:
            try:
                function = lowered(f)
            except UnsupportedSyntaxError:
                continue
            Verifier(function)
            count += 1
    assert count > 150, count


@pytest.mark.every(8)
@pytest.mark.parametrize("start", range(0, 240, 30))
def test_random_programs_are_well_formed(cells, start):
    """Random programs with loops, branches and handlers: each name given once, and before it is read."""
    for seed in range(start, start + 30):
        cells.run(program(seed, seed % 2))
        for f in [
            f
            for f in cells.names.values()
            if getattr(f, "__module__", "") == "__main__" and hasattr(f, "__code__")
        ]:
            try:
                function = lowered(f)
            except UnsupportedSyntaxError:
                continue
            Verifier(function)


@pytest.mark.parametrize(
    "body",
    [
        "return a(b(1), c[d], k=e) + g",
        "return a if b else c",
        "return a < b < c and d or not e",
        "a[b, c:d:e] = g",
        "a[b] += c",
        "a.b += c",
        "return {a: b, c: d}, {e}, [g, h], f'{a}{b:{c}}'",
        "return a(b).c(d(e))[g:h]",
        "x, (y, z) = a, (b, c)\nreturn x + y",
        "return a(b, k=c)",
        "assert a, b\nraise c from d",
        "for x in range(a, b):\n    return c",
        "g = lambda x=a, *, y=b: x\nreturn g(c)",
    ],
)
def test_order_of_evaluation(cells, body):
    """Global names are read in the order of Python's own bytecode."""
    text = "def f():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    function = cells.lowered(text)
    ours = [s.op.name for s in ir.walk(function.body) if isinstance(s, ir.Let) and isinstance(s.op, ir.Load)]
    pythons = [i.argval for i in dis.get_instructions(cells.names["f"]) if i.opname == "LOAD_GLOBAL"]
    assert ours == [name for name in pythons if name != "range"]


def test_the_author_s_names(cells):
    """The first value of a variable keeps its name; later ones are close to it and clash with no other."""
    function = cells.lowered("def f(x, x_1):\n    y = x\n    y = g(y)\n    y = g(y) + y_1\n    return y\n")
    names = [s.target for s in ir.walk(function.body) if isinstance(s, ir.Let)]
    assert function.parameters == ["x", "x_1"]
    assert "y" in names and "y_2" in names
    assert not {"x_1", "y_1"} & set(names), "y_1 is a global of the author's, x_1 a parameter"


def test_positions(cells):
    """Each operation stands at the author's expression."""
    text = "def f(x):\n    return (x +\n            x) * 2\n"
    function = cells.lowered(text)
    places = {
        s.op.operator: s.position
        for s in ir.walk(function.body)
        if isinstance(s, ir.Let) and isinstance(s.op, ir.Binary)
    }
    assert places["add"] == (2, 3, 12, 13)
    assert places["mul"] == (2, 3, 11, 18)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x > 1:\n        y = x\n    return y\n",
        "def f(x):\n    for i in range(0):\n        y = x\n    return y\n",
        "def f(x):\n    try:\n        y = x\n    except KeyError as y:\n        pass\n"
        "    if x < 5:\n        return z\n    z = x\n    return y\n",
        "def f(x):\n    while x > 9:\n        y = x\n    y += x\n    return y\n",
        "def f(x):\n    y = x\n    try:\n        if x < 1:\n            raise KeyError\n"
        "    except KeyError as y:\n        pass\n    return x * y\n",
        "def f(x):\n    y = x\n    try:\n        if x < 1:\n            raise KeyError\n"
        "    except KeyError:\n        del y\n    return x * y\n",
        "def f(x):\n    try:\n        if x < 1:\n            raise KeyError\n"
        "    except* KeyError as y:\n        pass\n    return x * y\n",
    ],
)
def test_unbound_variable(cells, text):
    """A variable without a value is Python's own error, in Python's own words, in every mode."""
    f = cells.run(text)["f"]
    with pytest.raises(UnboundLocalError) as pythons:
        f(0.5)
    with pytest.raises(UnboundLocalError) as ours:
        rl.gradient(f, 0.5)
    with pytest.raises(UnboundLocalError) as forwards:
        rl.pushforward(f, 0.5)(1.0)
    assert str(ours.value) == str(forwards.value) == str(pythons.value)


def test_a_name_that_a_handler_takes_is_gone_for_a_pass_that_is_there():
    """`except E as k` unbinds `k` also where the pass was made at arguments that raise nothing."""

    def f(x):
        k = x
        try:
            if x < 0:
                raise ValueError
        except ValueError as k:
            pass
        return x * k

    assert rl.gradient(f, 2.0) == (4.0,)
    with pytest.raises(UnboundLocalError):
        rl.gradient(f, -1.0)


COMPUTED = """
def f(x, kinds):
    y = x * x
    try:
        y = y * x
        if x > 1.0:
            raise KeyError("large")
    except LookupError if x < 1.5 else kinds as error:
        y = y * len(error.args[0])
    except (OSError, *[ArithmeticError]):
        return x
    return y * y
"""


@pytest.mark.parametrize("x, kinds", [(0.5, ValueError), (1.2, ValueError), (2.0, (OSError, KeyError))])
def test_computed_classes_after_except(cells, x, kinds):
    """A handler is chosen by classes that are worked out when something was raised: forward mode has its
    derivative, reverse mode that of the block or a refusal.
    """
    f = cells.run(COMPUTED)["f"]
    slope = difference(lambda t: f(x + 1e-6 * t, kinds), 1e-6)
    assert rl.pushforward(lambda x: f(x, kinds), x)(1.0) == pytest.approx(slope, rel=1e-6)
    if x < 1.0:
        assert rl.gradient(lambda x: f(x, kinds), x)[0] == pytest.approx(slope, rel=1e-6)
    else:
        with pytest.raises(CatchBlockError):
            rl.gradient(lambda x: f(x, kinds), x)


CLAUSES = """
def f(x, kinds):
    y = x
    try:
        if x > 0.0:
            raise kinds[int(x)]
    except kinds[0]:
        y = 2 * x
    except (OSError, *kinds[1:2]) as error:
        if x < 1.0:
            raise
        y = 3 * x
    except kinds[2]:
        raise RuntimeError("another") from None
    except:
        try:
            y = x * 4
        except kinds[0]:
            y = 1.0
    return y
"""


@pytest.mark.parametrize("x, line", [(0.5, 7), (1.5, 9), (3.5, 15)])
def test_the_clause_that_is_refused_is_shown(cells, x, line):
    """Of clauses whose classes are computed the one that has run is pointed at, not the first."""
    f = cells.run(CLAUSES)["f"]
    kinds = [KeyError, ValueError, ArithmeticError, IndexError]
    slope = difference(lambda t: f(x + 1e-6 * t, kinds), 1e-6)
    assert rl.pushforward(lambda x: f(x, kinds), x)(1.0) == pytest.approx(slope, rel=1e-6)
    with pytest.raises(CatchBlockError) as info:
        rl.gradient(lambda x: f(x, kinds), x)
    assert info.value.place.line == line
    with pytest.raises(RuntimeError, match="another"):
        rl.gradient(lambda x: f(x, kinds), 2.5)
    assert rl.gradient(lambda x: f(x, kinds), -1.0) == (1.0,)


@pytest.mark.parametrize("kinds, error", [(ValueError, KeyError), (3, TypeError), ((OSError, 3), TypeError)])
def test_what_computed_classes_do_not_take_goes_on(cells, kinds, error):
    """As in Python, whose own error tells of what is no class of exceptions."""
    f = cells.run(COMPUTED)["f"]
    for run in (f, rl.gradient, lambda f, x, kinds: rl.pushforward(lambda x: f(x, kinds), x)(1.0)):
        with pytest.raises(error):
            run(*(() if run is f else (f,)), 2.0, kinds)


def test_comprehension_scope(cells):
    """The variable of a comprehension is not the function's variable of that name."""
    f = cells.run("def f(i):\n    t = [i * i for i in (i, 2 * i, 3 * i)]\n    return sum(t) + i\n")["f"]
    assert rl.withgradient(f, 2.0) == (f(2.0), (1 + 28 * 2.0,))


@pytest.mark.parametrize(
    "body, fragment",
    [
        ("return next((z := y) for y in [x]) + z", "((z := y) for y in [x])"),
    ],
)
def test_refused(cells, body, fragment):
    """What Python binds late and we would bind now is refused, under the caret."""
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(UnsupportedSyntaxError) as caught:
        cells.lowered(text)
    place = caught.value.place
    assert place.text[place.column : place.end_column] == fragment


LOG = []


def note(value):
    """Leaves a trace; its rule makes it transparent to the AD."""
    LOG.append(value)
    return copy.copy(value) if isinstance(value, (list, dict)) else value


@rl.rrule_for(note)
def note_rrule(value):
    return note(value), lambda y_bar: (rl.NoTangent(), y_bar)


def summed(*args, **words):
    return sum(args) + words["c"] * args[0]


ORDERS = {
    "a call with stars": "g = note(summed)\n"
    "return g(note(x), *[note(2.0), note(3.0)], c=note(x), **{'d': note(5.0)})",
    "displays": "z = [note(x), *[note(1.0)], note(x)], {note('a'): note(x), **{note('b'): note(2.0)}}\n"
    "return z[0][2] * z[1]['a']",
    "walrus": "return x + (x := note(x * x)) * note(x) + (y := note(3.0)) * y",
    "comparisons": "return x if note(1) < note(3) < note(2) < note(4) else x * x",
    "dict comprehension": "return {note(k): note(k * x) for k in (1, 2, 1) if note(k) or x}[2]",
    "generators": "a = [note(v) * 2 for v in (note(w) for w in [x, 1.0])]\n"
    "for u, v in zip((note(w) for w in a), (note(w + 1) for w in a)):\n    x = x * note(u) * v\n"
    "for k, v in enumerate((note(w) for w in [3.0, 4.0, 5.0] if note(w) < 5), 1):\n    x = x * note(k) * v\n"
    "return x * [*(note(w) for w in a)][0]",
    "decorators": "@note(lambda f: f)\n@note(lambda f: lambda *a: 2 * f(*a))\ndef g(v, w=note(x)):\n"
    "    return v * w\nreturn g(x)",
    "starred targets": "d = [0.0, 1.0]\na, *b = note([x, 2.0, x])\n(p, *q), r = note(((x, x), 2.0))\n"
    "return a * b[0] * b[1] * p * q[0] * r",
    "chained assignment": "a = [b, *c] = note([x, 2.0])\nreturn a[0] * b * c[0]",
    "annotations": "a: note('never') = note(x)\nb: note('never')\nreturn a * a",
    "assert": "assert note(1), note('never')\nreturn x",
    "with": "import contextlib\nwith contextlib.nullcontext(note(1)) as a, contextlib.nullcontext(note(a)):\n"
    "    return note(x) * a",
    "match": "match note(x), note(2.0):\n    case (a, b) if note(b) > 5 or note(a) < 0:\n        return 9.0\n"
    "    case [a, *b] if note(b):\n        return a * b[0]",
    "del": "y = note(x)\nz = y * y\ndel y\nreturn z",
    "f-strings": "w = note(3)\ns = f'{note(w)=} {note(w)!r:>{note(w)}}'\nreturn x * len(s)",
    "a failed assertion": "assert note(0), note('text')\nreturn x",
    "an unbound name": "y = note(x)\ndel y\nreturn note(y)",
    "a name deleted twice": "y = note(x)\ndel y, y\nreturn x",
    "too few values": "a, *b, c = note([x])\nreturn a",
    "too many values": "a, b = (note(v) for v in (x, x, x))\nreturn a",
    "a missing key": "return {**note({'a': x})}['b']",
    "no mapping": "return {'a': note(x), **note([1])}",
}


@pytest.mark.usefixtures("run_once")
@pytest.mark.parametrize("body", ORDERS.values(), ids=ORDERS)
def test_the_order_of_evaluation(cells, body):
    """What runs, in which order, and what is given or raised in the end is as in Python; so is the slope."""
    cells.names |= {"note": note, "summed": summed}
    f = cells.run("def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()))["f"]

    def outcome(call):
        LOG.clear()
        try:
            found = call()
        except Exception as error:
            assert not isinstance(error, rl.RuleLabError)
            found = f"{type(error).__name__}: {error}"
        return found, [type(v) if callable(v) else v for v in LOG]

    wanted = outcome(lambda: f(1.5))
    gradients = []

    def forward():
        value, gradient = rl.withgradient(f, 1.5)
        gradients.append(gradient)
        return value

    assert outcome(forward) == wanted
    if gradients:
        slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
        assert gradients[0][0] == pytest.approx(slope, rel=1e-7)


def test_lambdas_of_one_line():
    """Two lambdas, equal or not, with defaults and stars, are told apart or are one."""

    def program(x):
        f, g, h = lambda v: v * x, lambda v: v * x, lambda v: v + x
        k, m = lambda *a, c=x: a[0] * c, lambda a, /, **w: a * w["u"] * (lambda v: v * x)(a)
        return f(1.0) * g(2.0) + h(3.0) + k(4.0) + m(x, u=5.0)

    assert rl.gradient(program, 3.0) == (4 * 3.0 + 1 + 4 + 5 * 3 * 9.0,)


@pytest.mark.parametrize(
    "body",
    [
        "@D\ndef g(v, n):\n    return v * g(v, n - 1) if n else v\nreturn g(x, 2)",
        "for i in range(2):\n    @D\n    def g(v):\n        return v * v + i\n    x = g(x)\nreturn x",
        "fs = []\nfor i in range(3):\n    fs.append(lambda y: y * x * i)\nreturn fs[0](x)",
        "k = 1.0\ng = lambda y: y * k\nk = x\nreturn g(x)",
        "gs = [lambda y: y * y * i for i in (1, 2)]\nreturn gs[0](x)",
        "y = x * x\ng = lambda: y\nz = g()\ndel y\nreturn x * z",
        "def even(n):\n    return 1.0 if n == 0 else x * odd(n - 1)\n"
        "def odd(n):\n    return 0.0 if n == 0 else x * even(n - 1)\nreturn even(4)",
        "n = 0\ndef count(v):\n    nonlocal n\n    n = n + v\n    return n\n"
        "count(x)\ncount(x * x)\nreturn n * count(x)",
    ],
)
def test_captured_variables_are_seen_as_they_are_when_called(cells, body):
    """Rebound in a loop, later, by a decorator, by a nested function, or gone: as in Python."""
    text = "def D(f):\n    return lambda *xs: 2.0 * f(*xs)\n\ndef f(x):\n"
    f = cells.run(text + "".join(f"    {line}\n" for line in body.splitlines()))["f"]
    h = 1e-5
    slope = (f(1.5 - 2 * h) - 8 * f(1.5 - h) + 8 * f(1.5 + h) - f(1.5 + 2 * h)) / (12 * h)
    assert rl.gradient(f, 1.5)[0] == pytest.approx(slope, rel=1e-8)


def test_a_captured_variable_that_is_gone(cells):
    """A variable that was deleted is missed by the function that captured it, as in Python."""
    f = cells.run("def f(x):\n    y = x\n    g = lambda: y\n    del y\n    return g() * x\n")["f"]
    with pytest.raises(NameError):
        f(2.0)
    with pytest.raises(NameError):
        rl.gradient(f, 2.0)
