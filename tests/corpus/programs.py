"""Random programs: seeded text of small functions made of the constructs people use, plain or with hazards.

`program(seed)` gives the text of a module with one function `program(x, y, v, xs)` of two floats, an array
of four and a list of three floats, which returns a float. With `hazards=True` it also aliases, takes views,
writes items and slices, repeats indices, uses `out=`, writes in callees, in globals, in lists passed on.
The constructs beyond arithmetic and loops are the phrases of phrases.py; of these each program uses a few, so
that they meet, and of the plain ones only those that need nothing beyond `features` (features.py).
"""

import ast
import copy
import importlib.util
import itertools
import linecache
import math
import random
import re
import sys
from contextlib import contextmanager

import numpy as np
from corpus.features import FEATURES
from corpus.harness import derivative, flat, rebuilt, same
from corpus.phrases import HAZARDS, IMPORTS, PIECES, PLAIN

GLOBALS = "GAIN = 0.75\nTABLE = np.array([0.5, -1.0, 1.5, 0.25])\nBOX = [0.5, -0.25]\n"
NAME = re.compile(r"[A-Za-z_]\w*")


KINDS = ("scalars", "arrays", "lists", "calls", "counters", "dicts", "own", "tables", "objects", "tuples")


class Scope:
    """The names a statement may read, by kind; `own` are the lists that were made inside."""

    def __init__(self, **names):
        for kind in KINDS:
            setattr(self, kind, list(names.get(kind, ())))

    def inner(self):
        return Scope(**vars(self))


PHRASES = 8  # different ones in one program


class Writer:
    """Writes one random module."""

    def __init__(self, seed, hazards, features):
        self.pick = random.Random(seed)
        self.hazards = hazards
        self.late = hazards or "late-binding" in features
        usable = [phrase for needs, phrase in PLAIN if needs <= features]
        self.phrases = self.pick.sample(usable, min(PHRASES, len(usable)))
        self.actions = self.pick.sample(HAZARDS, self.pick.randrange(1, 6)) if hazards else []
        self.numbers = itertools.count()
        self.lines = []
        self.returning = False
        self.captured = set()  # what a closure holds is not rebound later, except among the hazards

    def name(self, stem):
        return f"{stem}{next(self.numbers)}"

    def target(self, names, stem):
        """A name to bind: one of `names` that no closure holds, or a new one."""
        free = [name for name in names if self.late or name not in self.captured]
        return self.pick.choice(free) if free else self.name(stem)

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    # --- expressions ---

    def constant(self):
        return str(round(self.pick.uniform(0.2, 1.8), 2))

    def leaf(self, scope):
        kinds = [
            self.constant,
            lambda: self.pick.choice(scope.scalars),
            lambda: self.pick.choice(scope.scalars),
        ]
        if scope.arrays:
            kinds.append(lambda: f"{self.pick.choice(scope.arrays)}[{self.pick.randrange(-4, 4)}]")
        if scope.lists:
            kinds.append(lambda: f"{self.pick.choice(scope.lists)}[{self.pick.choice([0, -1])}]")
        if scope.counters:
            kinds.append(lambda: f"({self.pick.choice(scope.counters)} + 1)")
            if scope.arrays:
                kinds.append(
                    lambda: f"{self.pick.choice(scope.arrays)}[{self.pick.choice(scope.counters)} % 4]"
                )
        if scope.dicts:
            kinds.append(lambda: f"{self.pick.choice(scope.dicts)}['k']")
        if scope.tables:
            kinds.append(lambda: f"{self.pick.choice(scope.tables)}['{self.pick.choice('km')}']")
        if scope.objects:
            kinds.append(lambda: f"{self.pick.choice(scope.objects)}.a")
        if scope.tuples:
            kinds.append(lambda: f"{self.pick.choice(scope.tuples)}[{self.pick.randrange(-3, 3)}]")
        return self.pick.choice(kinds)()

    def scalar(self, scope, depth=3):
        if depth == 0 or self.pick.random() < 0.2:
            return self.leaf(scope)

        def sub(less=1):
            return self.scalar(scope, depth - less)

        forms = [
            lambda: f"({sub()} + {sub()})",
            lambda: f"({sub()} - {sub()})",
            lambda: f"({sub()} * {sub()})",
            lambda: f"({sub()} * {sub()})",
            lambda: f"{sub()} / (1.5 + ({sub()}) ** 2)",
            lambda: f"-({sub()})",
            lambda: f"({sub()}) ** {self.pick.choice(['2', '3', '2.0'])}",
            lambda: f"math.{self.pick.choice(['sin', 'cos', 'tanh', 'atan'])}({sub()})",
            lambda: f"np.{self.pick.choice(['sin', 'cos', 'tanh', 'arctan'])}({sub()})",
            lambda: f"math.exp(-({sub()}) ** 2)",
            lambda: f"({sub()} if {self.condition(scope)} else {sub()})",
            lambda: (
                f"float(np.sum({self.array(scope, depth - 1)}))"
                if self.pick.random() < 0.2
                else f"np.sum({self.array(scope, depth - 1)})"
            ),
            lambda: f"({self.array(scope, depth - 1)}).{self.pick.choice(['sum', 'mean'])}()",
            lambda: f"(({self.array(scope, depth - 1)}) @ ({self.array(scope, depth - 1)}))",
        ]
        if scope.lists:
            forms.append(lambda: f"sum({self.pick.choice(scope.lists)})")
            forms.append(
                lambda: f"sum([e * {sub(2) if depth > 1 else 'e'} for e in {self.pick.choice(scope.lists)}])"
            )
        if scope.calls:
            forms += [lambda: self.call(scope, depth - 1)] * 3
        return self.pick.choice(forms)()

    def call(self, scope, depth):
        called, count = self.pick.choice(scope.calls)
        arguments = ", ".join(self.scalar(scope, max(depth, 0)) for _ in range(abs(count)))
        return f"{called}({arguments}, {self.pick.randrange(4)})" if count < 0 else f"{called}({arguments})"

    def array(self, scope, depth=2):
        if depth <= 0 or self.pick.random() < 0.25:
            return self.pick.choice(scope.arrays) if scope.arrays else "TABLE"

        def sub():
            return self.array(scope, depth - 1)

        def number():
            return self.scalar(scope, depth - 1)

        return self.pick.choice(
            [
                lambda: f"({sub()} + {sub()})",
                lambda: f"({sub()} * {sub()})",
                lambda: f"({sub()} * {number()})",
                lambda: f"({number()} - {sub()})",
                lambda: f"{sub()} / (1.5 + ({sub()}) ** 2)",
                lambda: f"np.{self.pick.choice(['sin', 'tanh', 'cos'])}({sub()})",
                lambda: f"({sub()})[::-1]",
                lambda: f"np.array([{number()}, {number()}, {number()}, {number()}])",
                lambda: f"np.concatenate([({sub()})[:2], ({sub()})[2:]])",
                lambda: f"np.where({sub()} > {number()}, {sub()}, {sub()})",
                lambda: f"(TABLE * {sub()})",
                lambda: f"({sub()})[[0, 0, 3, {self.pick.randrange(4)}]]",
            ]
        )()

    def condition(self, scope):
        if scope.counters and self.pick.random() < 0.5:
            return (
                f"{self.pick.choice(scope.counters)} % {self.pick.choice([2, 3])} == {self.pick.randrange(2)}"
            )
        test = f"{self.leaf(scope)} {self.pick.choice(['<', '>', '>='])} {self.leaf(scope)}"
        joined = self.pick.random()
        if joined < 0.1:
            return f"{test} and {self.leaf(scope)} < 1.0"
        if joined < 0.2:
            return f"{test} or not {self.leaf(scope)} > 0.5"
        return test

    # --- statements ---

    def block(self, scope, depth, budget, loop=False):
        """Statements at one depth; ends with at least one."""
        count, written = self.pick.randrange(1, 4), len(self.lines)
        for _ in range(count):
            self.statement(scope, depth, budget, loop)
        if len(self.lines) == written:  # a statement may find nothing to work on
            self.put(depth, "pass")

    def statement(self, scope, depth, budget, loop):
        simple = [self.assign, self.assign, self.augment, self.assign_array, self.swap, self.comprehend]
        nested = [self.branch, self.loop, self.loop, self.while_loop, self.closure, self.grow_list]
        choices = simple + (nested if budget > 0 else [])
        if self.actions and self.pick.random() < 0.3:
            return self.pick.choice(self.actions)(self, scope, depth, budget)
        if self.phrases and self.pick.random() < 0.35:
            return self.pick.choice(self.phrases)(self, scope, depth, budget)
        if loop and self.pick.random() < 0.15:
            return self.leave(scope, depth)
        if self.returning and self.pick.random() < 0.03:
            self.put(depth, f"if {self.condition(scope)}:")
            return self.put(depth + 1, f"return {self.scalar(scope)}")
        return self.pick.choice(choices)(scope, depth, budget)

    def assign(self, scope, depth, budget):
        expression = self.scalar(scope)
        target = self.target(scope.scalars if self.pick.random() < 0.5 else [], "s")
        self.put(depth, f"{target} = {expression}")
        if target not in scope.scalars:
            scope.scalars.append(target)

    def augment(self, scope, depth, budget):
        target, sign = self.target(scope.scalars, "s"), self.pick.choice(["+=", "-=", "*="])
        if target in scope.scalars:
            self.put(depth, f"{target} {sign} {self.scalar(scope, 2)}")

    def assign_array(self, scope, depth, budget):
        expression = self.array(scope)
        target = self.target(scope.arrays if self.pick.random() < 0.5 else [], "a")
        self.put(depth, f"{target} = {expression}")
        if target not in scope.arrays:
            scope.arrays.append(target)

    def swap(self, scope, depth, budget):
        a, b = self.target(scope.scalars, "s"), self.target(scope.scalars, "s")
        one, other = self.scalar(scope, 1), self.scalar(scope, 1)
        self.put(depth, f"{a}, {b} = {one}, {other}" if a != b else f"{a} = {one}")
        scope.scalars += [name for name in {a: 0, b: 0} if name not in scope.scalars]

    def comprehend(self, scope, depth, budget):
        e, target = self.name("e"), self.name("l")
        inner = scope.inner()
        inner.scalars.append(e)
        over = self.pick.choice(scope.arrays + scope.lists)
        chosen = (
            f" if {e} {self.pick.choice(['<', '>'])} {self.constant()}" if self.pick.random() < 0.3 else ""
        )
        body = self.scalar(inner, 2)
        tail = " + [0.5]" if chosen else ""
        self.put(depth, f"{target} = [{body} for {e} in {over}{chosen}]{tail}")
        scope.lists.append(target)

    def branch(self, scope, depth, budget):
        self.put(depth, f"if {self.condition(scope)}:")
        self.block(scope.inner(), depth + 1, budget - 1, False)
        if self.pick.random() < 0.3:
            self.put(depth, f"elif {self.condition(scope)}:")
            self.block(scope.inner(), depth + 1, budget - 1, False)
        if self.pick.random() < 0.6:
            self.put(depth, "else:")
            self.block(scope.inner(), depth + 1, budget - 1, False)

    def loop(self, scope, depth, budget):
        inner = scope.inner()
        i, e, k = self.name("i"), self.name("e"), self.name("e")
        array, items = self.pick.choice(scope.arrays), self.pick.choice(scope.lists)
        head, scalars, counters = self.pick.choice(
            [
                (f"for {i} in range({self.pick.randrange(1, 5)}):", [], [i]),
                (f"for {i} in range(3, -1, -1):", [], [i]),
                (f"for {e} in {array}:", [e], []),
                (f"for {e} in list({items}):", [e], []),
                (f"for {i}, {e} in enumerate({array}):", [e], [i]),
                (f"for {e}, {k} in zip({array}, [0.5, -0.5, 1.0]):", [e, k], []),
                (f"for {e}, {k} in zip(v, xs):", [e, k], []),
            ]
        )
        inner.scalars += scalars
        inner.counters += counters
        self.put(depth, head)
        self.block(inner, depth + 1, budget - 1, True)
        self.damp(scope, depth + 1)

    def while_loop(self, scope, depth, budget):
        inner = scope.inner()
        i = self.name("i")
        inner.counters.append(i)
        self.put(depth, f"{i} = 0")
        self.put(depth, f"while {i} < {self.pick.randrange(1, 5)}:")
        self.put(depth + 1, f"{i} += 1")
        self.block(inner, depth + 1, budget - 1, True)
        self.damp(scope, depth + 1)

    def damp(self, scope, depth):
        """Keeps a loop from running away: one carried variable is bent back to [-1, 1]."""
        target = self.target(scope.scalars, "s")
        if target in scope.scalars:
            self.put(depth, f"{target} = math.tanh({target})")

    def leave(self, scope, depth):
        self.put(depth, f"if {self.condition(scope)}:")
        self.put(depth + 1, self.pick.choice(["break", "continue"]))

    def closure(self, scope, depth, budget):
        called = self.name("inner")
        p = self.name("p")
        start = len(self.lines)
        inner = scope.inner()
        inner.scalars.append(p)
        if self.pick.random() < 0.5:
            self.put(depth, f"{called} = lambda {p}: {self.scalar(inner, 2)}")
        else:
            captured = scope.inner()
            captured.calls = []
            own = Scope(scalars=[p])
            self.put(depth, f"def {called}({p}):")
            self.put(depth + 1, f"q = {self.scalar(inner, 2)}")
            own.scalars.append("q")
            self.put(depth + 1, f"return {self.scalar(own, 2)}")
        self.captured.update(name for line in self.lines[start:] for name in NAME.findall(line))
        scope.calls.append((called, 1))
        target = self.name("s")
        self.put(depth, f"{target} = {called}({self.leaf(scope)}) * 0.5")
        scope.scalars.append(target)

    def grow_list(self, scope, depth, budget):
        target, i = self.name("l"), self.name("i")
        inner = scope.inner()
        inner.counters.append(i)
        self.put(depth, f"{target} = [{self.scalar(scope, 1)}]")
        self.put(depth, f"for {i} in range({self.pick.randrange(1, 4)}):")
        if self.pick.random() < 0.4:
            self.put(depth + 1, f"if {self.condition(inner)}:")
            self.put(depth + 2, f"{target}.append({self.scalar(inner, 2)})")
        else:
            self.put(depth + 1, f"{target}.append({self.scalar(inner, 2)} + 0.5 * {target}[-1])")
        scope.lists.append(target)

    # --- the module ---

    def helpers(self):
        calls = []
        for _ in range(self.pick.randrange(3)):
            called = self.name("helper")
            self.put(0, f"def {called}(p, q):")
            scope = Scope(scalars=["p", "q", "GAIN"], calls=calls)
            for _ in range(self.pick.randrange(3)):
                target = self.name("s")
                self.put(1, f"{target} = {self.scalar(scope, 2)}")
                scope.scalars.append(target)
            if self.pick.random() < 0.4:
                self.put(1, f"if {self.condition(scope)}:")
                self.put(2, f"return {self.scalar(scope, 2)}")
            self.put(1, f"return {self.scalar(scope, 2)}")
            calls.append((called, 2))
        if self.pick.random() < 0.4:
            called = self.name("recursive")
            scope = Scope(scalars=["p"], calls=calls, counters=["n"])
            self.put(0, f"def {called}(p, n):")
            self.put(1, "if n <= 0:")
            self.put(2, f"return {self.scalar(scope, 2)}")
            self.put(
                1, f"return math.tanh({called}({self.scalar(scope, 1)}, n - 1)) * {self.leaf(scope)} + p"
            )
            calls.append((called, -1))
        return calls

    def module(self):
        calls = self.helpers()
        self.returning = True
        scope = Scope(scalars=["x", "y", "GAIN"], arrays=["v"], lists=["xs"], calls=calls)
        self.put(0, "def program(x, y, v, xs):")
        self.put(1, "s0 = x * y")
        scope.scalars = ["x", "y", "s0"]
        for _ in range(self.pick.randrange(3, 7)):
            self.statement(scope, 1, 2, False)
        parts = [f"{s} * {self.constant()}" for s in scope.scalars[-4:]]
        parts += [f"np.sum({a})" for a in scope.arrays[-2:]] + [f"sum({items})" for items in scope.lists[-2:]]
        parts += [f"{d}['k'] * {d}['m']" for d in scope.tables[-1:]] + [f"{o}.a" for o in scope.objects[-1:]]
        self.put(1, f"return {' + '.join(parts)}")
        return self.head() + "\n\n" + "\n".join(self.lines) + "\n"

    def head(self):
        """The imports, the globals, and the pieces that the module calls."""
        named = set(NAME.findall("\n".join(self.lines)))
        pieces = [text for name, text in PIECES.items() if name in named]
        named |= set(NAME.findall("".join(pieces)))
        imports = [line for name, line in IMPORTS.items() if name in named]
        imports = sorted(["import math", *imports], key=lambda line: (line.startswith("from"), line))
        return "\n".join([*imports, "", "import numpy as np", "", GLOBALS]) + "\n".join(pieces)


def program(seed, hazards=False, features=FEATURES):
    """The text of the random module with this seed, of constructs that need no more than `features`."""
    return Writer(f"{seed}-{hazards}", hazards, features).module()


def arguments(seed):
    """Arguments for the program of this seed."""
    pick = random.Random(f"arguments-{seed}")
    draw = lambda: pick.uniform(-1.3, 1.3)  # noqa: E731
    return draw(), draw(), np.array([draw() for _ in range(4)]), [draw() for _ in range(3)]


# --------------------------------------------------------------------------------------------------
# running and judging

# What a program may raise by itself, so that there is nothing to judge.
OF_THE_PROGRAM = (
    *(ArithmeticError, AssertionError, AttributeError),
    *(LookupError, StopIteration, TypeError, ValueError),
)

@contextmanager
def loaded(text, path):
    """The module of a text, written to `path` so that its source can be found."""
    path.write_text(text)
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    module.__loader__ = None  # linecache reads the file, not a loader that may be gone
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
        yield module
    finally:
        sys.modules.pop(name, None)
        linecache.cache.pop(str(path), None)


def call(module, args):
    """The program's value at fresh arguments and fresh globals."""
    reset(module)
    return module.program(*args)


def reset(module):
    """What a program may have changed outside of itself, put back."""
    module.TABLE[:] = [0.5, -1.0, 1.5, 0.25]
    module.BOX[:] = [0.5, -0.25]
    if hasattr(module, "remember"):
        module.remember.__defaults__[0][:] = [0.5]
    if hasattr(module, "Shared"):
        module.Shared.seen[:] = [0.5]
    if hasattr(module, "set_up"):
        module.set_up()


def slopes(module, args, tolerance, directions=3):
    """[(direction, slope)] in random directions, or None where no difference is sharp enough."""
    centre = flat(list(args))
    pick = np.random.default_rng(7)
    found = []
    for _ in range(directions):
        d = pick.standard_normal(centre.size)
        for h in (2e-2, 2e-3, 2e-4):
            try:
                slope, error = derivative(
                    lambda t, d=d: float(call(module, rebuilt(args, centre + t * d))), 0.0, h
                )
            except OF_THE_PROGRAM:
                return None
            if error <= 0.1 * tolerance * max(1.0, abs(slope)):
                break
        else:
            return None
        found.append((d, slope))
    return found


def judge(module, args, withgradient, refusals, tolerance=1e-6):
    """What became of one program: "right", "no witness", the class of a refusal, or what is wrong."""
    try:
        wanted = call(module, copy.deepcopy(args))
    except OF_THE_PROGRAM:
        return "no witness"
    if not (math.isfinite(wanted) and abs(wanted) < 1e4):
        return "no witness"
    witness = slopes(module, args, tolerance)
    if witness is None:
        return "no witness"
    reset(module)
    try:
        value, gradient = withgradient(module.program, *copy.deepcopy(args))
    except refusals as refusal:
        return f"{type(refusal).__name__}: {headline(refusal)}"
    except Exception as error:  # an error that the program itself does not raise is ours
        return f"wrong: {type(error).__name__}: {error}"
    if not same(value, wanted):
        return f"wrong: value {value!r}, the program gives {wanted!r}"
    for d, slope in witness:
        found = float(d @ flat(list(gradient), list(args)))
        if not abs(found - slope) <= tolerance * max(1.0, abs(slope)):
            return f"wrong: slope {found!r}, finite differences {slope!r}; gradient {gradient!r}"
    return "right"


def headline(refusal):
    """What a refusal found, without the names, numbers and places of one program."""
    found = str(refusal).splitlines()[0]
    found = re.sub(r" (?:at|found in) \S*(?:, line \d+.*)?$", "", found)
    found = re.sub(r"\b(captured variable|captures) \w+", r"\1 ..", found)
    found = re.sub(r"(?<=expression )([\w.]+)\(.*", r"\1(..)", found)
    return re.sub(r"\[[\d, ]+\]", "[..]", found).rstrip(",")


def shrunk(text, path, args, withgradient, refusals, attempts=300):
    """A shorter text that is still judged wrong: parts are taken away as long as it stays so."""

    def wrong(candidate):
        path.unlink(missing_ok=True)
        nonlocal count
        count += 1
        other = path.with_name(f"{path.stem}_{count}.py")
        try:
            with loaded(candidate, other) as module:
                return judge(module, args, withgradient, refusals).split()[:2] == kind
        except Exception:  # a text that no longer runs is no shorter example
            return False

    with loaded(text, path) as module:
        kind = judge(module, args, withgradient, refusals).split()[:2]
    count = 0
    improved = True
    while improved and count < attempts:
        improved = False
        for k in range(10**6):
            candidate = one_step_shorter(text, k)
            if candidate is None or count >= attempts:
                break
            if candidate != text and wrong(candidate):
                text, improved = candidate, True
                break
    return text


def simpler(tree):
    """Every way to make a tree one step shorter, as functions that do it to that tree."""

    def drop(body, i, required):
        def act():
            del body[i]
            if not body and required:
                body.append(ast.Pass())

        return act

    def put(body, i, others):
        return lambda: body.__setitem__(slice(i, i + 1), others)

    def swap(node, field, other):
        return lambda: setattr(node, field, other)

    ways = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for i, statement in enumerate(value):
                    ways.append(drop(value, i, field == "body"))
                    if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                        ways.append(put(value, i, statement.body))
            for other in smaller_expressions(value):
                ways.append(swap(node, field, other))
    return ways


def smaller_expressions(node):
    """The parts of an expression that may stand for it."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return [node.args[0]]
    return []


def one_step_shorter(text, k):
    """The k-th text that is one step shorter; None past the last."""
    tree = ast.parse(text)
    ways = simpler(tree)
    if k >= len(ways):
        return None
    ways[k]()
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, AttributeError, TypeError):
        return text
