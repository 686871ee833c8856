"""Random programs whose constants are objects with state: loaders that refill one buffer, schedules that
count how often they are asked, streams of random numbers, operators that write to what they hand out.

The code of such objects runs where no derivative goes through it, so that a compiler may be tempted not to
look at it: what it saved may then be refilled, and what was counted may be counted twice. `set_up` makes
everything as it was; `state_of` tells what a run has left.
"""

import collections
import io
import operator
import random
import re

import numpy as np
from corpus.features import FEATURES
from corpus.phrases import new_scalar
from corpus.programs import Writer

# Objects by the name they go by in the programs: the text of their class or function, and how they are made.
# Each counts what it does, and whatever it hands out depends on the count.
OBJECTS = {
    "LOADER": (
        """
class Loader:
    def __init__(self):
        self.buffer, self.count = np.zeros(4), 0

    def __iter__(self):
        for k in range(3):
            self.count += 1
            self.buffer[:] = np.cos(np.arange(4.0) + 0.3 * self.count + k)
            yield self.buffer
""",
        "Loader()",
    ),
    "STREAM": (
        """
class Stream:
    def __init__(self):
        self.buffer, self.count = np.zeros(4), 0

    def __iter__(self):
        return self

    def __next__(self):
        self.count += 1
        if self.count % 4 == 0:
            raise StopIteration
        self.buffer[:] = np.sin(np.arange(4.0) * self.count)
        return self.buffer
""",
        "Stream()",
    ),
    "FRAMES": (
        """
class Frames:
    def __init__(self):
        self.buffer, self.count = np.zeros(4), 0

    def __len__(self):
        return 3

    def __getitem__(self, k):
        if not -3 <= k < 3:
            raise IndexError(k)
        self.count += 1
        self.buffer[:] = np.cos(np.arange(4.0) * (k + 1) + 0.2 * self.count)
        return self.buffer
""",
        "Frames()",
    ),
    "ROWS": (
        """
class Rows:
    def __init__(self):
        self.rows, self.count = np.arange(12.0).reshape(3, 4) / 6.0, 0

    def __getitem__(self, k):
        self.count += 1
        self.rows[k] *= -0.9
        return self.rows[k]
""",
        "Rows()",
    ),
    "SCHEDULE": (
        """
class Schedule:
    def __init__(self):
        self.count, self.weights = 0, np.ones(4)

    @property
    def rate(self):
        self.count += 1
        return 1.0 / (1.0 + 0.2 * self.count)

    @property
    def profile(self):
        self.count += 1
        self.weights *= 0.8
        return self.weights
""",
        "Schedule()",
    ),
    "LAZY": (
        """
class Lazy:
    def __init__(self):
        self.count = 0

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        self.count += 1
        return 0.3 * self.count + len(name)
""",
        "Lazy()",
    ),
    "GAIN_OF": (
        """
class GainOf:
    def __init__(self):
        self.buffer, self.count = np.ones(4), 0

    def __matmul__(self, k):
        self.count += 1
        self.buffer[:] = np.cos(np.arange(4.0) * k + self.count)
        return self.buffer

    def __add__(self, k):
        self.count += 1
        return 0.1 * self.count + k

    def __neg__(self):
        self.buffer *= -0.7
        return self.buffer

    def __lt__(self, k):
        self.count += 1
        return self.count % 2 == 0

    def __contains__(self, k):
        self.count += 1
        return self.count % 3 == 0

    def __bool__(self):
        self.count += 1
        return self.count % 2 == 1

    def __float__(self):
        self.count += 1
        return 0.25 * self.count

    def __index__(self):
        self.count += 1
        return self.count % 4

    def __len__(self):
        self.count += 1
        return 1 + self.count % 3
""",
        "GainOf()",
    ),
    "NOISE": (
        """
class Noise:
    def __init__(self):
        self.rng, self.buffer = np.random.default_rng(3), np.zeros(4)

    def __call__(self, scale=1.0):
        self.rng.random(4, float, self.buffer)
        self.buffer *= scale
        return self.buffer

    def shuffled(self):
        self.rng.shuffle(self.buffer)
        return self.buffer
""",
        "Noise()",
    ),
    "RNG": ("", "np.random.default_rng(5)"),
    "DICE": ("", "random.Random(7)"),
    "PAGE": ("", "np.linspace(0.1, 1.2, 4)"),
    "halve": (
        """
def halve_(factor, array):
    array *= factor
    return array
""",
        "functools.partial(halve_, 0.5)",
    ),
    "tired": (
        """
class Tired:
    def __init__(self):
        self.count = 0

    def asked(self, k):
        self.count += 1
        PAGE[k % 4] = 0.3 * self.count
        return 0.5 * self.count + k
""",
        "np.vectorize(Tired().asked, otypes=[float])",
    ),
    "RING": ("", "collections.deque([0.2, 0.7, 1.3])"),
    "TABLES": (
        """
class Tables:
    def __init__(self):
        self.kept, self.count = {}, 0

    def at(self, k):
        if k not in self.kept:
            self.kept[k] = np.full(4, 0.5 + k)
        self.count += 1
        self.kept[k][self.count % 4] += 0.25
        return self.kept[k]
""",
        "Tables()",
    ),
    "SWITCH": (
        """
class Switch:
    def __init__(self):
        self.level, self.count = np.full(4, 0.5), 0

    def __enter__(self):
        self.count += 1
        self.level += 0.25
        return self.level

    def __exit__(self, *error):
        self.level *= 0.5
        return False
""",
        "Switch()",
    ),
    "READER": (
        """
class Reader:
    def __init__(self):
        self.file = io.BytesIO(np.linspace(-1.0, 1.0, 40).tobytes())
        self.bytes = bytearray(32)
        self.array = np.frombuffer(self.bytes)

    def read(self):
        self.file.readinto(self.bytes)
        return self.array
""",
        "Reader()",
    ),
    "NUMBERS": ("", "iter([0.3 * k - 1.0 for k in range(40)])"),
    "ticks": (
        """
def ticks(n):
    for k in range(n):
        PAGE[:] = np.cos(PAGE + k)
        yield PAGE
""",
        None,
    ),
}
MODULES = ("collections", "functools", "io", "itertools", "random")

# Uses, each an expression of a number: {a} an array that varies, {s} a number that varies, {k} an integer.
EXPRESSIONS = (
    "sum([({a} @ b) ** 2 for b in LOADER])",
    "sum([np.sum({a} * b * k) for k, b in enumerate(LOADER)])",
    "sum([{s} * b[1] * q for b, q in zip(LOADER, {a})])",
    "sum([np.sum({a} * {a} * b) for b in itertools.islice(LOADER, 2)])",
    "sum(map(lambda b: np.sum({a} * b), LOADER))",
    "np.sum({a} * {a} * next(STREAM))",
    "sum([np.sum({a} * b) * {s} for b in STREAM])",
    "sum([np.sum({a} * {a} * FRAMES[t]) for t in range(3)])",
    "sum([np.sum({a} * f * {s}) for f in FRAMES])",
    "np.sum({a} * FRAMES[{k} % 3] * FRAMES[-1])",
    "np.sum({a} * ROWS[{k} % 3] * {s})",
    "np.sum(ROWS[1] * {a} * {a}) - np.sum(ROWS[1] * {a})",
    "{s} * SCHEDULE.rate * {s}",
    "np.sum({a} * {a} * SCHEDULE.profile)",
    "np.sum({a} * SCHEDULE.profile) * np.sum({a} * SCHEDULE.profile)",
    "{s} * LAZY.slope + LAZY.offset * {s} ** 2",
    "np.sum({a} * {a} * (GAIN_OF @ {k}))",
    "np.sum((GAIN_OF @ 1) * {a} * (GAIN_OF @ 2))",
    "{s} * (GAIN_OF + {k})",
    "np.sum(-GAIN_OF * {a} * {a})",
    "({s} ** 2 if GAIN_OF < 2 else {s})",
    "({s} * 2.0 if {k} in GAIN_OF else {s} ** 3)",
    "({s} * 1.5 if GAIN_OF else {s} ** 2)",
    "float(GAIN_OF) * {s} * {s}",
    "{a}[GAIN_OF] * {s}",
    "len(GAIN_OF) * {s} ** 2",
    "np.sum({a} * {a} * NOISE())",
    "np.sum({a} * NOISE(0.5) * NOISE(2.0))",
    "np.sum({a} * NOISE()) + np.sum({a} * {a} * NOISE.shuffled())",
    "np.sum({a} * {a} * RNG.random(4, float, PAGE))",
    "np.sum({a} * RNG.standard_normal(4)) * {s}",
    "{s} * RNG.uniform() * {s}",
    "{s} * DICE.random() + {s} ** 2 * DICE.gauss(0.0, 1.0)",
    "np.sum({a} * {a} * halve(PAGE))",
    "np.sum({a} * PAGE) * np.sum(halve(PAGE))",
    "np.sum({a} * {a} * tired(np.arange(4)))",
    "np.sum({a} * PAGE * tired(1))",
    "RING[0] * {s} ** 2 + (RING.rotate(1) or 0.0) + RING[0] * {s}",
    "np.sum({a} * {a} * TABLES.at({k} % 2))",
    "np.sum({a} * TABLES.at(0) * TABLES.at(0))",
    "np.sum({a} * {a} * READER.read())",
    "np.sum({a} * READER.read()) * np.sum(READER.read())",
    "next(NUMBERS) * {s} + next(NUMBERS) * {s} ** 2",
    "sum([np.sum({a} * {a} * t) for t in ticks(2)])",
    "sum([np.sum({a} * x * y) for x, y in zip(ticks(2), LOADER)])",
    "np.sum({a} * {a} * np.cos(PAGE, out=PAGE))",
    "np.sum({a} * np.add(PAGE, 0.25, out=PAGE) * {s})",
)

# Uses of several statements; the last binds {t}.
STATEMENTS = (
    ("{t} = 0.0", "for {b} in LOADER:", "    {t} = {t} + ({a} @ {b}) ** 2"),
    ("{t} = {s}", "for {b} in LOADER:", "    {t} = math.tanh({t} * {b}[0]) + np.sum({a} * {b})"),
    ("{b} = FRAMES[0]", "{t} = np.sum({a} * {a} * {b})", "{b} = FRAMES[1]", "{t} = {t} + np.sum({a} * {b})"),
    ("{b} = PAGE", "{t} = np.sum({a} * {a} * {b})", "halve({b})", "{t} = {t} + np.sum({a} * {b})"),
    ("{b} = PAGE[1:3]", "{t} = np.sum({a}[1:3] * {a}[:2] * {b})", "RNG.shuffle(PAGE)", "{t} = {t} * {b}[0]"),
    ("with SWITCH as {b}:", "    {t} = np.sum({a} * {a} * {b})", "{t} = {t} + np.sum({b} * {a})"),
    ("{t} = np.sum({a} * PAGE)", "for {b} in ticks(2):", "    {t} = {t} + np.sum({a} * {a} * {b})"),
    ("{b} = NOISE()", "{t} = np.sum({a} * {b})", "RNG.random(4, float, {b})", "{t} = {t} + {a} @ {b}"),
    ("{b} = np.ones(4)", "{t} = {a} @ ({a} * {b})", "RNG.random(out={b})", "{t} = {t} + {a} @ {b}"),
    ("{b} = list(LOADER)", "{t} = np.sum({a} * {b}[0]) + np.sum({a} * {a} * {b}[2])"),
    ("{t} = {s}", "for {b} in range(3):", "    {t} = {t} * SCHEDULE.rate + {s}"),
    ("{t} = {s} * {s}", "while GAIN_OF < 1:", "    {t} = math.tanh({t}) * 1.5"),
    ("{b} = iter(STREAM)", "{t} = np.sum({a} * {a} * next({b}))", "{t} = {t} + np.sum({a} * next({b}))"),
    ("{b} = TABLES.at(1)", "{t} = {a} @ ({a} * {b})", "TABLES.at(1)", "{t} = {t} + {a} @ {b}"),
    ("np.copyto(PAGE, TABLE)", "{t} = {a} @ (PAGE * {a})", "np.copyto(PAGE, 0.5)", "{t} = {t} * PAGE[0]"),
)


def expression(form):
    def phrase(w, scope, depth, budget):
        a = w.pick.choice(scope.arrays) if scope.arrays else "v"
        filled = form.format(a=a, s=f"({w.leaf(scope)})", k=w.pick.randrange(4))
        new_scalar(w, scope, depth, f"math.tanh({filled})")

    return phrase


def statements(forms):
    def phrase(w, scope, depth, budget):
        names = {
            "t": w.name("s"),
            "b": w.name("b"),
            "a": w.pick.choice(scope.arrays) if scope.arrays else "v",
            "s": f"({w.leaf(scope)})",
        }
        for form in forms:
            w.put(depth, form.format(**names))
        w.put(depth, f"{names['t']} = math.tanh({names['t']})")
        scope.scalars.append(names["t"])

    return phrase


USES = [*map(expression, EXPRESSIONS), *map(statements, STATEMENTS)]


class StatefulWriter(Writer):
    """Writes a random module some of whose statements use objects with state."""

    def __init__(self, seed, hazards, features):
        super().__init__(seed, hazards, features)
        self.phrases = [*self.phrases[:3], *self.pick.sample(USES, 7)]

    def head(self):
        """The objects that the lines name, and those that these name, with `set_up`."""
        texts, named = {}, set()
        waiting = ["\n".join(self.lines)]
        while waiting:
            words = set(re.findall(r"[A-Za-z_]\w*", waiting.pop()))
            for name in words & OBJECTS.keys() - named:
                named.add(name)
                text, made = OBJECTS[name]
                texts[name] = text
                waiting.append(f"{text} {made}")
        kept = [name for name in OBJECTS if name in named]
        made = [f"    {name} = {OBJECTS[name][1]}" for name in kept if OBJECTS[name][1] is not None]
        names = [line.split()[0] for line in made]
        lines = ["def set_up():", *([f"    global {', '.join(names)}"] if names else ["    pass"]), *made]
        text = "\n".join([*(texts[name] for name in kept), "", *lines, "", "", "set_up()", ""])
        whole = text + "\n".join(self.lines)
        head = super().head()
        missing = [
            f"import {name}"
            for name in MODULES
            if re.search(rf"(?<!\.)\b{name}\.", whole) and f"import {name}\n" not in head
        ]
        return "\n".join([*missing, head]) + text


def stateful_program(seed, hazards=False, features=FEATURES):
    """The text of the random module with this seed, some of whose constants are objects with state."""
    return StatefulWriter(f"stateful-{seed}-{hazards}", hazards, features).module()


def state_of(module):
    """What a run has left in the objects of a stateful program, in numbers and texts."""
    return {name: _seen(vars(module)[name]) for name in OBJECTS if name in vars(module)}


def _seen(held):
    if isinstance(held, np.ndarray):
        return held.tolist()
    if isinstance(held, np.random.Generator):
        return str(held.bit_generator.state)
    if isinstance(held, random.Random):
        return str(held.getstate())
    if isinstance(held, io.BytesIO):
        return held.tell()
    if isinstance(held, np.vectorize):
        return _seen(held.pyfunc.__self__)
    if isinstance(held, collections.deque):
        return list(held)
    if isinstance(held, dict):
        return {name: _seen(part) for name, part in held.items()}
    if isinstance(held, type(iter([]))):
        return operator.length_hint(held)
    if isinstance(held, (int, float, str, bytes, bytearray)):
        return held
    return _seen(getattr(held, "__dict__", {}))
