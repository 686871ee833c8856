"""Phrases of the random programs: one small way to use a construct each, plain or a hazard.

A phrase is handed the writer, the names in scope, the depth to write at and how deep it may nest; it puts
statements and adds to the scope what they bind. A plain phrase names the features that it needs. Lists in
`scope.lists` are never empty, dicts in `scope.tables` have numbers at 'k' and 'm', tuples have three items.
"""

from corpus.features import MEANINGS

PLAIN = []  # (needs, phrase)
HAZARDS = []

# What the phrases call; a module holds the pieces that it names.
PIECES = {
    "total": """
def total(items, start=0.0):
    for item in items:
        start = start + item
    return start
""",
    "horner": """
def horner(items, p):
    value = 0.0
    for i in range(len(items) - 1, -1, -1):
        value = math.tanh(value * p) + items[i]
    return value
""",
    "spread": """
def spread(p, q):
    return [p, p * q, q]
""",
    "powers": """
def powers(p, n):
    out = [1.0]
    for _ in range(n):
        out.append(math.tanh(out[-1] * p))
    return out
""",
    "both": """
def both(p, q):
    return {"k": p * q, "m": math.sin(p)}
""",
    "scaler": """
def scaler(k):
    def scaled(p):
        return math.tanh(p * k)

    return scaled
""",
    "weigh": """
def weigh(p, q=0.5, *, r=1.5):
    return p * q + math.sin(r)
""",
    "average": """
def average(p, *others):
    value = p
    for q in others:
        value = value + q
    return value / (1 + len(others))
""",
    "named": """
def named(p, **others):
    return p * others["q"] + others["r"]
""",
    "push": """
def push(items, p):
    items.append(math.tanh(p))
""",
    "replace_last": """
def replace_last(items, p):
    old = items[-1]
    items[-1] = math.tanh(p) + 0.5 * old
    return old
""",
    "tally": """
def tally(table, key, p):
    table[key] = math.tanh(table[key] + p)
    return table
""",
    "poke": """
def poke(array, s):
    array[1] = s
    return array
""",
    "grow": """
def grow(items, s):
    items.append(s * 0.5)
""",
    "kept": """
def kept(array):
    BOX[1] = array[0]
    return BOX[1]
""",
    "remember": """
def remember(s, seen=[0.5]):
    seen.append(s)
    return seen[0] + seen[-1]
""",
    "risky": """
def risky(items, s):
    items[0] = s
    if s > 0.0:
        raise ValueError("positive")
    return items[0]
""",
    "drain": """
def drain(items):
    value = 0.0
    while len(items) > 1:
        value = math.tanh(value + items.pop())
    return value
""",
    "same": """
def same(items):
    return items
""",
    "held": """
def held(items, s):
    return {"k": items, "m": [items, s]}
""",
    "Point": """
class Point:
    def __init__(self, a, b=1.0):
        self.a = a
        self.b = b

    def norm(self):
        return self.a * self.a + self.b

    def move(self, s):
        self.a = math.tanh(self.a + s)
        return self
""",
    "Params": """
@dataclass
class Params:
    a: float
    b: float = 0.5
    items: list = field(default_factory=list)

    def norm(self):
        return self.a * self.b
""",
    "Pair": """
class Pair(NamedTuple):
    a: float
    b: float = 0.5
""",
    "Shared": """
class Shared:
    seen = [0.5]
""",
}
IMPORTS = {
    "functools": "import functools",
    "itertools": "import itertools",
    "dataclass": "from dataclasses import dataclass, field",
    "replace": "from dataclasses import replace",
    "NamedTuple": "from typing import NamedTuple",
}


def plain(*needs):
    """Put a phrase among the plain ones; `needs` are features (features.py)."""
    if unknown := set(needs) - set(MEANINGS):
        raise ValueError(f"no such feature: {sorted(unknown)}")

    def register(phrase):
        PLAIN.append((frozenset(needs), phrase))
        return phrase

    return register


def hazard(phrase):
    """Put a phrase among the hazards, which may be refused whatever the features."""
    HAZARDS.append(phrase)
    return phrase


def one(w, scope):
    """A short scalar expression."""
    return w.scalar(scope, 1)


def bound(w, expression):
    """The expression, kept small."""
    return f"{w.pick.choice(['math.tanh', 'math.sin', 'np.tanh'])}({expression})"


def new_scalar(w, scope, depth, expression):
    target = w.name("s")
    w.put(depth, f"{target} = {expression}")
    scope.scalars.append(target)
    return target


def new_list(w, scope, depth, expression=None):
    """A list made here."""
    target = w.name("l")
    w.put(depth, f"{target} = {expression or f'[{one(w, scope)}, {one(w, scope)}, {one(w, scope)}]'}")
    scope.lists.append(target)
    scope.own.append(target)
    return target


def own_list(w, scope, depth):
    """A list that was made inside: an old one, or one made here."""
    return w.pick.choice(scope.own) if scope.own and w.pick.random() < 0.6 else new_list(w, scope, depth)


def own_table(w, scope, depth):
    """A dict that was made inside, with numbers at 'k' and 'm'."""
    if scope.tables and w.pick.random() < 0.6:
        return w.pick.choice(scope.tables)
    target = w.name("d")
    w.put(depth, f"{target} = {{'k': {one(w, scope)}, 'm': {one(w, scope)}}}")
    scope.tables.append(target)
    return target


def own_object(w, scope, depth):
    """An instance made inside, with numbers at .a and .b and a method norm()."""
    if scope.objects and w.pick.random() < 0.6:
        return w.pick.choice(scope.objects)
    target = w.name("o")
    made = w.pick.choice([f"{one(w, scope)}", f"{one(w, scope)}, {one(w, scope)}", f"{one(w, scope)}, b=0.5"])
    w.put(depth, f"{target} = Point({made})")
    scope.objects.append(target)
    return target


def reader(w, scope, budget):
    """A scope for the body of something that is run later."""
    inner = scope.inner()
    inner.scalars.append("p")
    return inner


# --------------------------------------------------------------------------------------------------
# plain: what has long been taken


@plain()
def table_made(w, scope, depth, budget):
    target = own_table(w, scope, depth)
    new_scalar(w, scope, depth, f"{target}[{w.pick.choice(['k', 'm'])!r}] * {one(w, scope)}")


@plain()
def tables_nested(w, scope, depth, budget):
    target = w.name("d")
    w.put(depth, f"{target} = {{'in': {{'k': {one(w, scope)}}}, 1: [{one(w, scope)}, 0.5]}}")
    new_scalar(w, scope, depth, f"{target}['in']['k'] * {target}[1][0] + {target}[1][-1]")


@plain()
def key_from_text(w, scope, depth, budget):
    target, i = w.name("d"), w.name("i")
    w.put(depth, f"{target} = {{'n0': {one(w, scope)}, 'n1': {one(w, scope)}}}")
    s = new_scalar(w, scope, depth, "0.0")
    w.put(depth, f"for {i} in range(2):")
    w.put(depth + 1, f"{s} += {target}[f'n{{{i}}}'] * ({i} + 1)")


@plain()
def table_looped_over(w, scope, depth, budget):
    target, key = own_table(w, scope, depth), w.name("key")
    s = new_scalar(w, scope, depth, "1.0")
    w.put(depth, f"for {key} in {target}:")
    w.put(depth + 1, f"{s} = {bound(w, f'{s} * {target}[{key}]')} + {one(w, scope)}")


@plain()
def tuple_made(w, scope, depth, budget):
    target, a, b, c = w.name("t"), w.name("s"), w.name("s"), w.name("s")
    w.put(depth, f"{target} = ({one(w, scope)}, {one(w, scope)}, {one(w, scope)})")
    w.put(depth, f"{a}, ({b}, {c}) = {target}[0], {target}[1:]")
    scope.scalars += [a, b, c]
    scope.tuples.append(target)


@plain()
def tuple_grown(w, scope, depth, budget):
    target, i = w.name("t"), w.name("i")
    w.put(depth, f"{target} = ()")
    w.put(depth, f"for {i} in range(3):")
    w.put(depth + 1, f"{target} = {target} + ({one(w, scope)} * {i},)")
    scope.tuples.append(target)


@plain()
def comprehension_of_two(w, scope, depth, budget):
    e, k, items = w.name("e"), w.name("e"), w.pick.choice(scope.lists)
    test = w.pick.choice([f" if {k} != {w.constant()}", f" if {e} > -9.0 if {k} < 9.0", ""])
    new_list(w, scope, depth, f"[{e} * {k} for {e} in {items} for {k} in (0.5, {one(w, scope)}){test}]")


@plain()
def comprehension_of_rows(w, scope, depth, budget):
    rows, i, e, items = w.name("rows"), w.name("i"), w.name("e"), w.pick.choice(scope.lists)
    w.put(depth, f"{rows} = [[{e} * {i} + {one(w, scope)} for {e} in {items}] for {i} in range(2)]")
    new_scalar(w, scope, depth, bound(w, f"{rows}[1][0] * {rows}[0][-1] + sum({rows}[1])"))


@plain()
def lists_joined(w, scope, depth, budget):
    items, other = w.pick.choice(scope.lists), w.pick.choice(scope.lists)
    part = w.pick.choice([":2", "-1:", "::2", "::-1", "1:"])
    new_list(w, scope, depth, f"{items}[{part}] + [{one(w, scope)}] * 2 + {other}[:1]")


@plain()
def helper_reads_list(w, scope, depth, budget):
    items = w.pick.choice(scope.lists)
    reading = w.pick.choice([f"total({items}, {one(w, scope)})", f"horner({items}, {one(w, scope)})"])
    new_scalar(w, scope, depth, bound(w, reading))


@plain()
def helper_returns_list(w, scope, depth, budget):
    call = w.pick.choice([f"spread({one(w, scope)}, {one(w, scope)})", f"powers({one(w, scope)}, 3)"])
    new_list(w, scope, depth, call)


@plain()
def helper_returns_parts(w, scope, depth, budget):
    a, b, c = w.name("s"), w.name("s"), w.name("s")
    w.put(depth, f"{a}, {b}, {c} = spread({one(w, scope)}, {one(w, scope)})")
    scope.scalars += [a, b, c]


@plain()
def helper_returns_table(w, scope, depth, budget):
    target = w.name("d")
    w.put(depth, f"{target} = both({one(w, scope)}, {one(w, scope)})")
    scope.tables.append(target)


@plain()
def best_so_far(w, scope, depth, budget):
    e, items, s = w.name("e"), w.pick.choice(scope.lists), w.name("s")
    w.put(depth, f"{s} = None")
    w.put(depth, f"for {e} in {items}:")
    w.put(depth + 1, f"if {s} is None or {e} {w.pick.choice(['>', '<'])} {s}:")
    w.put(depth + 2, f"{s} = {e} * {one(w, scope)}")
    scope.scalars.append(s)


@plain()
def flag_and_mode(w, scope, depth, budget):
    mode, found = w.name("mode"), w.name("found")
    w.put(depth, f"{mode} = 'wide' if {w.condition(scope)} else 'narrow'")
    w.put(depth, f"{found} = {mode} == 'wide' and not {w.condition(scope)}")
    new_scalar(w, scope, depth, f"{one(w, scope)} if {found} else {one(w, scope)}")


@plain()
def found_in_loop(w, scope, depth, budget):
    found, i, items = w.name("found"), w.name("i"), w.pick.choice(scope.lists)
    s = new_scalar(w, scope, depth, one(w, scope))
    w.put(depth, f"{found} = False")
    w.put(depth, f"for {i} in range(len({items})):")
    w.put(depth + 1, f"if not {found} and {items}[{i}] > {w.constant()}:")
    w.put(depth + 2, f"{found}, {s} = True, {items}[{i}] * {s}")


@plain()
def extremes(w, scope, depth, budget):
    items = w.pick.choice(scope.lists)
    form = w.pick.choice(
        [
            f"max({items}) - min({items})",
            f"max({one(w, scope)}, {one(w, scope)})",
            f"max({items}, key=lambda p: -p)",
            f"sorted({items})[0] * sorted({items}, reverse=True)[0]",
            f"sum({items}, {one(w, scope)})",
            f"sum(e * e for e in {items})",
            f"max(e * 0.5 for e in {items})",
        ]
    )
    new_scalar(w, scope, depth, form)


@plain()
def loop_backwards(w, scope, depth, budget):
    i, e, items = w.name("i"), w.name("e"), w.pick.choice(scope.lists)
    s = new_scalar(w, scope, depth, "0.5")
    head = w.pick.choice(
        [
            f"for {e} in reversed({items}):",
            f"for {i}, {e} in enumerate({items}, 1):",
            f"for {e} in sorted({items}):",
            f"for {i}, ({e}, _) in enumerate(zip({items}, {items})):",
        ]
    )
    w.put(depth, head)
    w.put(depth + 1, f"{s} = {bound(w, f'{s} * {one(w, scope)} + {e}')}")


@plain()
def tried(w, scope, depth, budget):
    s = w.name("s")
    w.put(depth, "try:")
    w.put(depth + 1, f"{s} = math.sqrt(1.0 + ({one(w, scope)}) ** 2)")
    w.put(depth, f"except {w.pick.choice(['ValueError', '(ValueError, KeyError)'])}:")
    w.put(depth + 1, f"{s} = 0.0")
    scope.scalars.append(s)


@plain()
def nested_recursion(w, scope, depth, budget):
    go = w.name("go")
    w.put(depth, f"def {go}(p, n):")
    w.put(depth + 1, "if n == 0:")
    w.put(depth + 2, f"return p * {w.constant()}")
    w.put(depth + 1, f"return math.tanh({go}(p * 0.5, n - 1)) + p")
    new_scalar(w, scope, depth, f"{go}({one(w, scope)}, {w.pick.randrange(4)})")


@plain()
def lambda_with_default(w, scope, depth, budget):
    f = w.name("f")
    w.put(depth, f"{f} = lambda p, q={one(w, scope)}: math.sin(p) * q")
    new_scalar(w, scope, depth, f"{f}({one(w, scope)}) + {f}({one(w, scope)}, q={one(w, scope)})")


@plain()
def called_by_keyword(w, scope, depth, budget):
    form = w.pick.choice(["weigh({0})", "weigh({0}, r={1})", "weigh(q={1}, p={0})", "weigh({0}, {1}, r={2})"])
    new_scalar(w, scope, depth, form.format(one(w, scope), one(w, scope), one(w, scope)))


@plain()
def function_chosen(w, scope, depth, budget):
    f = w.name("f")
    w.put(depth, f"{f} = math.sin if {w.condition(scope)} else (lambda p: p * {w.constant()})")
    new_scalar(w, scope, depth, f"{f}({one(w, scope)})")


@plain()
def functions_in_containers(w, scope, depth, budget):
    f, k = w.name("f"), w.constant()
    made = w.pick.choice([f"[math.cos, lambda p: p * {k}]", f"{{0: math.cos, 1: lambda p: p * {k}}}"])
    w.put(depth, f"{f} = {made}")
    new_scalar(w, scope, depth, f"{f}[0]({one(w, scope)}) * {f}[1]({one(w, scope)})")


@plain()
def functions_looped_over(w, scope, depth, budget):
    f = w.name("f")
    s = new_scalar(w, scope, depth, one(w, scope))
    w.put(depth, f"for {f} in (math.sin, np.tanh, lambda p: p * {w.constant()}):")
    w.put(depth + 1, f"{s} = {f}({s}) + {one(w, scope)}")


@plain()
def closure_returned(w, scope, depth, budget):
    new_scalar(w, scope, depth, f"scaler({one(w, scope)})({one(w, scope)}) * scaler(0.5)({one(w, scope)})")


@plain()
def endless_loop_left(w, scope, depth, budget):
    n = w.name("n")
    s = new_scalar(w, scope, depth, one(w, scope))
    w.put(depth, f"{n} = 0")
    w.put(depth, "while True:")
    w.put(depth + 1, f"{s} = {bound(w, f'{s} * {one(w, scope)}')} + 0.1 * {n}")
    w.put(depth + 1, f"{n} += 1")
    w.put(depth + 1, f"if {n} > {w.pick.randrange(4)} or {s} > 9.0:")
    w.put(depth + 2, "break")


@plain()
def matrix(w, scope, depth, budget):
    m, a = w.name("m"), w.pick.choice(scope.arrays)
    w.put(depth, f"{m} = np.outer({a}, {w.array(scope, 1)}) * 0.5")
    forms = [
        f"{m} @ {a}",
        f"{m}.T @ {a}",
        f"{m}.sum(axis=0)",
        f"np.mean({m}, axis=1)",
        f"{m}[1]",
        f"{m}[:, -1]",
        f"np.diag({m})",
        f"{m}.reshape(-1)[2:6]",
        f"np.dot({a}, {m})",
        f"np.stack([{a}, {a}])[1] * {m}[0]",
    ]
    target = w.name("a")
    w.put(depth, f"{target} = np.tanh({w.pick.choice(forms)})")
    scope.arrays.append(target)


@plain()
def array_functions(w, scope, depth, budget):
    a, b = w.pick.choice(scope.arrays), w.array(scope, 1)
    forms = [
        f"np.cumsum({a}) * 0.25",
        f"np.maximum({a}, {b})",
        f"np.abs({a})",
        f"np.sqrt(1.0 + {a} ** 2)",
        f"np.exp(-({a}) ** 2)",
        f"np.log(2.0 + np.cos({a}))",
        f"np.roll({a}, 1)",
        f"np.flip({a})",
        f"np.hstack([{a}[:2], {b}[2:]])",
        f"{a}.clip(-1.0, 1.0)",
        f"np.linspace(0.0, 1.0, 4) * {a}",
        f"np.full(4, 0.5) + {a}",
    ]
    target = w.name("a")
    w.put(depth, f"{target} = {w.pick.choice(forms)}")
    scope.arrays.append(target)


@plain()
def array_to_number(w, scope, depth, budget):
    a, b = w.pick.choice(scope.arrays), w.array(scope, 1)
    forms = [
        f"np.dot({a}, {b})",
        f"np.linalg.norm({a} + 3.0)",
        f"np.prod(np.tanh({a}))",
        f"np.max({a}) - np.min({b})",
        f"float({a}[0]) * len({a})",
        f"{a}[{a}.shape[0] - 1]",
        f"np.var({a})",
        f"math.prod([{a}[0], {a}[1]])",
        f"math.hypot({a}[0], 2.0)",
    ]
    new_scalar(w, scope, depth, bound(w, w.pick.choice(forms)))


@plain()
def odds_and_ends(w, scope, depth, budget):
    s, a = w.name("s"), w.name("s")
    forms = [
        f"{s}: float = {one(w, scope)}",
        f"{s} = {a} = {one(w, scope)}",
        f"{s} = abs({one(w, scope)}) + int(True) * 0.5",
        f"{s} = {one(w, scope)} if isinstance({w.pick.choice(scope.scalars)}, float) else 0.25",
        f"{s} = float({one(w, scope)}) * (3 // 2) + 5 % 3",
        f"{s} = {one(w, scope)} if 0 < len({w.pick.choice(scope.lists)}) < 99 else 0.25",
    ]
    w.put(depth, f"assert {w.pick.choice(scope.scalars)} < 1e9, f'too large: {{1 + 1}}'")
    w.put(depth, w.pick.choice(forms))
    scope.scalars.append(s)


# --------------------------------------------------------------------------------------------------
# plain: containers changed where they were made


@plain("list-writes")
def list_written(w, scope, depth, budget):
    items, s = own_list(w, scope, depth), one(w, scope)
    k = w.pick.choice(["0", "-1", f"len({items}) // 2"])
    new_scalar(w, scope, depth, f"{items}[{k}] * {s}")
    forms = [
        f"{items}[{k}] = {s}",
        f"{items}[{k}] += {s}",
        f"{items}[{k}] = {bound(w, f'{items}[{k}] + {s}')}",
        f"{items}[{k}] *= {s}",
        f"{items}.insert({k}, {s})",
        f"{items}.extend([{s}, 0.5])",
        f"{items}.reverse()",
        f"{items}.sort()",
        f"{items}[:1] = [{s}, {s}]",
        f"{items}[1:] = [{s}]",
        f"{items}[0], {items}[-1] = {items}[-1], {items}[0]",
    ]
    w.put(depth, w.pick.choice(forms))


@plain("list-writes")
def list_filled_by_index(w, scope, depth, budget):
    items, i = new_list(w, scope, depth, "[0.0] * 4"), w.name("i")
    inner = scope.inner()
    inner.counters.append(i)
    w.put(depth, f"for {i} in range({w.pick.choice(['4', '3, 0, -1'])}):")
    w.put(depth + 1, f"{items}[{i}] = {bound(w, f'{items}[{i} - 1] + {w.scalar(inner, 2)}')}")


@plain("list-writes")
def popped(w, scope, depth, budget):
    items = new_list(w, scope, depth)
    s = new_scalar(w, scope, depth, f"{items}.pop({w.pick.choice(['', '0', '-2'])})")
    w.put(depth, f"{items}.append({s} * {items}[0])")


@plain("list-writes")
def queue(w, scope, depth, budget):
    items = new_list(w, scope, depth)
    s, k = new_scalar(w, scope, depth, "0.0"), w.pick.choice(["", "0"])
    w.put(depth, f"while len({items}) > 1:")
    w.put(depth + 1, f"{s} = {bound(w, f'{s} + {items}.pop({k})')}")
    w.put(depth + 1, f"if {s} > {w.constant()}:")
    w.put(depth + 2, f"{items}[-1] = {s} * {one(w, scope)}")


@plain("list-writes", "del")
def deleted(w, scope, depth, budget):
    items = new_list(w, scope, depth)
    w.put(depth, f"del {items}[{w.pick.choice(['0', '-1', '1:', ':2'])}]")


@plain("list-writes", "list-aliases")
def alias_written(w, scope, depth, budget):
    items, other = own_list(w, scope, depth), w.name("l")
    w.put(depth, f"{other} = {items}")
    scope.lists.append(other)
    scope.own.append(other)
    w.put(depth, w.pick.choice([f"{other}[0] = {one(w, scope)}", f"{items}.append({one(w, scope)})"]))
    new_scalar(w, scope, depth, f"{items}[-1] * {other}[0]")


@plain("list-writes", "list-aliases")
def rows_written(w, scope, depth, budget):
    rows, i, j = w.name("rows"), w.name("i"), w.name("i")
    inner = scope.inner()
    inner.counters += [i, j]
    made = w.pick.choice(["[[0.0, 0.5], [1.0, 0.0]]", "[[0.5] * 2 for _ in range(2)]", "[[1.0, 0.5]] * 2"])
    w.put(depth, f"{rows} = {made}")
    w.put(depth, f"for {i} in range(2):")
    w.put(depth + 1, f"for {j} in range(2):")
    w.put(depth + 2, f"{rows}[{i}][{j}] {w.pick.choice(['=', '+='])} {bound(w, w.scalar(inner, 2))}")
    new_scalar(w, scope, depth, f"{rows}[0][1] * {rows}[1][0] - {rows}[0][0] * {rows}[1][1]")


@plain("list-methods")
def list_copied(w, scope, depth, budget):
    items = w.pick.choice(scope.lists)
    other = new_list(w, scope, depth, f"{items}.copy()")
    new_scalar(w, scope, depth, f"{items}[{other}.index(max({other}))]")


@plain("helper-writes", "list-writes", "list-aliases")
def helper_changes_list(w, scope, depth, budget):
    items = own_list(w, scope, depth)
    s = new_scalar(w, scope, depth, f"{items}[-1]")
    w.put(depth, f"push({items}, {one(w, scope)})")
    if w.pick.random() < 0.5:
        new_scalar(w, scope, depth, f"replace_last({items}, {s}) * {items}[-1]")


@plain("helper-writes", "dict-writes")
def helper_changes_table(w, scope, depth, budget):
    target = own_table(w, scope, depth)
    new_scalar(w, scope, depth, f"{target}['k'] * tally({target}, 'k', {one(w, scope)})['m']")


@plain("dict-reads")
def table_read(w, scope, depth, budget):
    target, key, e = own_table(w, scope, depth), w.name("key"), w.name("e")
    form = w.pick.choice(["get", "items", "values", "sum"])
    if form == "get":
        return new_scalar(w, scope, depth, f"{target}.get('k', 0.5) * {target}.get('z', {one(w, scope)})")
    if form == "sum":
        return new_scalar(w, scope, depth, f"sum({target}.values())")
    s = new_scalar(w, scope, depth, "0.5")
    w.put(
        depth,
        f"for {key}, {e} in {target}.items():" if form == "items" else f"for {e} in {target}.values():",
    )
    w.put(depth + 1, f"{s} = {bound(w, f'{s} * {e} + {one(w, scope)}')}")


@plain("dict-writes")
def table_written(w, scope, depth, budget):
    target, s = own_table(w, scope, depth), one(w, scope)
    new_scalar(w, scope, depth, f"{target}['k'] * {s}")
    forms = [
        f"{target}['k'] = {s}",
        f"{target}['m'] += {s}",
        f"{target}['k'] = math.sin({target}['k'] * {target}['m'])",
        f"{target}.update({{'k': {s}, 'n': 0.5}})",
        f"{target}.setdefault('m', {s})",
        f"{target}['m'] = {target}.pop('k') * {target}.setdefault('k', {s})",
    ]
    w.put(depth, w.pick.choice(forms))


@plain("dict-writes")
def table_filled(w, scope, depth, budget):
    target, i = w.name("d"), w.name("i")
    inner = scope.inner()
    inner.counters.append(i)
    w.put(depth, f"{target} = {{'k': 0.0, 'm': 1.0}}")
    w.put(depth, f"for {i} in range(4):")
    w.put(depth + 1, f"{target}['k' if {i} % 2 else 'm'] += {w.scalar(inner, 2)}")
    scope.tables.append(target)


@plain("dict-comprehensions")
def table_comprehended(w, scope, depth, budget):
    target, key, e = w.name("d"), w.name("key"), w.pick.choice(scope.scalars)
    w.put(depth, f"{target} = {{{key}: {e} * len({key}) + {one(w, scope)} for {key} in ('k', 'm')}}")
    scope.tables.append(target)


@plain("truth-of-containers")
def asked_whether_empty(w, scope, depth, budget):
    items, i = w.name("l"), w.name("i")
    s = new_scalar(w, scope, depth, one(w, scope))
    w.put(depth, f"{items} = []")
    w.put(depth, f"for {i} in range(3):")
    w.put(depth + 1, f"if {w.pick.choice(['', 'not '])}{items}:")
    w.put(depth + 2, f"{s} = {bound(w, f'{s} * {one(w, scope)}')}")
    w.put(depth + 1, f"{items}.append({s} * {one(w, scope)})")
    scope.lists.append(items)
    scope.own.append(items)


@plain("computed-indices")
def read_where_told(w, scope, depth, budget):
    items, order, best, i = w.pick.choice(scope.lists), w.name("order"), w.name("best"), w.name("i")
    w.put(depth, f"{order}, {best} = [-1, 0], None")
    w.put(depth, f"for {i} in range(len({items})):")
    w.put(depth + 1, f"if {best} is None or {items}[{i}] > {items}[{best}]:")
    w.put(depth + 2, f"{best} = {i}")
    largest = f"{items}[max(range(len({items})), key=lambda p: p % 2)]"
    new_scalar(w, scope, depth, f"{items}[{best}] * {items}[{order}[0]] + {largest}")


@plain("objects")
def object_made(w, scope, depth, budget):
    target = own_object(w, scope, depth)
    new_scalar(w, scope, depth, f"{target}.norm() * {target}.a")


@plain("objects")
def object_written(w, scope, depth, budget):
    target, s = own_object(w, scope, depth), one(w, scope)
    new_scalar(w, scope, depth, f"{target}.a * {s}")
    forms = [
        f"{target}.a = {bound(w, s)}",
        f"{target}.b += {s}",
        f"{target}.a *= {target}.b",
        f"{target}.move({s})",
        f"{target}.a, {target}.b = {target}.b, {target}.a",
    ]
    w.put(depth, w.pick.choice(forms))


@plain("objects")
def objects_linked(w, scope, depth, budget):
    target, i, node = w.name("o"), w.name("i"), w.name("node")
    w.put(depth, f"{target} = None")
    w.put(depth, f"for {i} in range(3):")
    w.put(depth + 1, f"{target} = Point({one(w, scope)} * {i}, {target})")
    s = new_scalar(w, scope, depth, "0.5")
    w.put(depth, f"{node} = {target}")
    w.put(depth, f"while {node} is not None:")
    w.put(depth + 1, f"{s}, {node} = {bound(w, f'{s} * {node}.a')}, {node}.b")


@plain("dataclasses")
def dataclass_used(w, scope, depth, budget):
    target, s = w.name("o"), one(w, scope)
    w.put(depth, f"{target} = Params({one(w, scope)}, b={one(w, scope)})")
    scope.objects.append(target)
    forms = [f"{target}.a += {s}", f"{target} = replace({target}, b={s})", f"{target}.items.append({s})"]
    w.put(depth, w.pick.choice(forms))
    new_scalar(w, scope, depth, f"{target}.norm()")


@plain("namedtuples")
def named_tuple_used(w, scope, depth, budget):
    target, a, b = w.name("o"), w.name("s"), w.name("s")
    w.put(depth, f"{target} = Pair({one(w, scope)}, b={one(w, scope)})")
    w.put(depth, f"{a}, {b} = {target}{w.pick.choice(['', f'._replace(a={one(w, scope)})'])}")
    scope.scalars += [a, b]
    new_scalar(w, scope, depth, f"{target}.a * {target}[1]")


# --------------------------------------------------------------------------------------------------
# plain: closures


@plain("late-binding")
def bound_late(w, scope, depth, budget):
    f, k = w.name("f"), w.name("s")
    w.put(depth, f"{k} = {one(w, scope)}")
    w.put(depth, f"{f} = lambda p: math.sin(p) * {k}")
    first = new_scalar(w, scope, depth, f"{f}({one(w, scope)})")
    w.put(depth, f"{k} = {w.pick.choice([one(w, scope), f'{first} * {k}'])}")
    new_scalar(w, scope, depth, f"{f}({one(w, scope)})")


@plain("late-binding")
def closures_of_a_loop(w, scope, depth, budget):
    fs, i = w.name("fs"), w.name("i")
    w.put(depth, f"{fs} = []")
    w.put(depth, f"for {i} in range(3):")
    w.put(depth + 1, f"{fs}.append(lambda p: math.tanh(p) * ({i} + {w.pick.choice(scope.scalars)}))")
    new_scalar(w, scope, depth, f"{fs}[0]({one(w, scope)}) * {fs}[2]({one(w, scope)})")


@plain("nonlocal")
def counted(w, scope, depth, budget):
    f, k = w.name("f"), w.name("s")
    w.put(depth, f"{k} = {one(w, scope)}")
    w.put(depth, f"def {f}(p):")
    w.put(depth + 1, f"nonlocal {k}")
    w.put(depth + 1, f"{k} = {bound(w, f'{k} * p')} + 0.5")
    w.put(depth + 1, f"return {k}")
    new_scalar(w, scope, depth, f"{f}({one(w, scope)}) * {f}({one(w, scope)})")
    scope.scalars.append(k)


@plain("held-lists")
def list_held(w, scope, depth, budget):
    items, f = new_list(w, scope, depth), w.name("f")
    w.put(depth, f"{f} = lambda: {items}[-1] * {items}[0]")
    first = new_scalar(w, scope, depth, f"{f}()")
    w.put(depth, f"{items}.append({first} * {one(w, scope)})")
    new_scalar(w, scope, depth, f"{f}()")


@plain("closure-writes", "held-lists", "list-writes")
def list_changed_by_closure(w, scope, depth, budget):
    items, f = new_list(w, scope, depth), w.name("f")
    w.put(depth, f"def {f}(p):")
    w.put(depth + 1, w.pick.choice([f"{items}.append(p)", f"{items}[0] = math.tanh({items}[0] + p)"]))
    w.put(depth + 1, f"return len({items})")
    w.put(depth, f"{f}({one(w, scope)})")
    new_scalar(w, scope, depth, f"{items}[0] * {f}({one(w, scope)}) + {items}[-1]")


# --------------------------------------------------------------------------------------------------
# plain: syntax and stand-ins


@plain("starred")
def starred(w, scope, depth, budget):
    items, a, rest = w.pick.choice(scope.lists), w.name("s"), w.name("l")
    forms = [
        f"average(*{items})",
        f"average({one(w, scope)}, {one(w, scope)}, {one(w, scope)})",
        f"sum([*{items}, {one(w, scope)}])",
    ]
    new_scalar(w, scope, depth, w.pick.choice(forms))
    w.put(depth, f"{a}, *{rest} = [{one(w, scope)}, *{items}]")
    scope.scalars.append(a)
    scope.lists.append(rest)


@plain("double-star")
def double_starred(w, scope, depth, budget):
    form = w.pick.choice(["named({0}, q={1}, r={2})", "named({0}, **{{'q': {1}, 'r': {2}}})"])
    new_scalar(w, scope, depth, form.format(one(w, scope), one(w, scope), one(w, scope)))
    source, target = own_table(w, scope, depth), w.name("d")
    w.put(depth, f"{target} = {{**{source}, 'm': {one(w, scope)}}}")
    scope.tables.append(target)


@plain("walrus")
def walrus(w, scope, depth, budget):
    s = w.name("s")
    new_scalar(w, scope, depth, f"({s} := {one(w, scope)}) * {s} + {one(w, scope)}")
    scope.scalars.append(s)


@plain("with")
def with_statement(w, scope, depth, budget):
    w.put(depth, "with np.errstate(all='ignore'):")
    new_scalar(w, scope, depth + 1, w.scalar(scope, 2))


@plain("match")
def matched(w, scope, depth, budget):
    s = w.name("s")
    w.put(depth, f"match len({w.pick.choice(scope.lists)}):")
    for pattern in ("3", "1 | 2", "_"):
        w.put(depth + 1, f"case {pattern}:")
        w.put(depth + 2, f"{s} = {one(w, scope)}")
    scope.scalars.append(s)


@plain("loop-else")
def loop_with_else(w, scope, depth, budget):
    e, items = w.name("e"), w.pick.choice(scope.lists)
    s = new_scalar(w, scope, depth, one(w, scope))
    w.put(depth, f"for {e} in list({items}):")
    w.put(depth + 1, f"{s} = {bound(w, f'{s} + {e}')}")
    w.put(depth + 1, f"if {s} > {w.constant()}:")
    w.put(depth + 2, "break")
    w.put(depth, "else:")
    w.put(depth + 1, f"{s} = {s} * {one(w, scope)}")


@plain("try-else", "finally")
def tried_with_else(w, scope, depth, budget):
    s = w.name("s")
    w.put(depth, "try:")
    w.put(depth + 1, f"{s} = {one(w, scope)}")
    w.put(depth, "except ValueError:")
    w.put(depth + 1, f"{s} = 0.0")
    w.put(depth, "else:")
    w.put(depth + 1, f"{s} = {s} * {one(w, scope)}")
    w.put(depth, "finally:")
    w.put(depth + 1, "done = True")
    scope.scalars.append(s)


@plain("map")
def mapped(w, scope, depth, budget):
    items = w.pick.choice(scope.lists)
    forms = [
        f"sum(map(math.sin, {items}))",
        f"sum(map(lambda p, q: p * q, {items}, {items}))",
        f"sum(filter(lambda p: p > -9.0, {items}))",
    ]
    new_scalar(w, scope, depth, w.pick.choice(forms))
    new_list(w, scope, depth, f"list(map(lambda p: p * {w.constant()}, {items}))")


@plain("reduce")
def reduced(w, scope, depth, budget):
    items = w.pick.choice(scope.lists)
    tail = w.pick.choice(["", f", {one(w, scope)}"])
    new_scalar(
        w, scope, depth, f"functools.reduce(lambda p, q: math.tanh(p) * {w.constant()} + q, {items}{tail})"
    )


@plain("partial")
def partially_applied(w, scope, depth, budget):
    f = w.name("f")
    w.put(depth, f"{f} = functools.partial(weigh, {w.pick.choice(['', 'q='])}{one(w, scope)})")
    new_scalar(w, scope, depth, f"{f}(r={one(w, scope)}) if {f}.args else {f}({one(w, scope)})")


@plain("itertools")
def iterated(w, scope, depth, budget):
    items = w.pick.choice(scope.lists)
    forms = [
        f"sum([a * b for a, b in itertools.product({items}, [0.5, {one(w, scope)}])])",
        f"list(itertools.accumulate({items}))[-1]",
        f"sum(itertools.chain({items}, [{one(w, scope)}]))",
        f"sum([b - a * 0.5 for a, b in itertools.pairwise([0.5] + {items})])",
    ]
    new_scalar(w, scope, depth, w.pick.choice(forms))


# --------------------------------------------------------------------------------------------------
# hazards


def array_hazard(*forms):
    """One hazard for statements on two arrays, an index, a slice and a scalar."""
    for form in forms:

        def phrase(w, scope, depth, budget, form=form):
            a, b = w.pick.choice(scope.arrays), w.pick.choice(scope.arrays)
            where = {"i": w.pick.randrange(-4, 4), "two": w.pick.choice(["0:2", "1:3", "::2", "2:"])}
            w.put(depth, form.format(a=a, b=b, s=one(w, scope), **where))

        HAZARDS.append(phrase)


def list_hazard(*forms):
    """One hazard for statements on a list, the caller's or one made inside, and a scalar."""
    for form in forms:

        def phrase(w, scope, depth, budget, form=form):
            made = scope.own and w.pick.random() < 0.7
            items = w.pick.choice(scope.own if made else scope.lists)
            number, s = w.pick.choice(scope.scalars), one(w, scope)
            w.put(depth, form.format(items=items, k=w.pick.choice([0, -1]), s=s, number=number))

        HAZARDS.append(phrase)


array_hazard(
    "{a}[{i}] = {s}",
    "{a}[{i}] += {s}",
    "{a}[{two}] = {s}",
    "{a}[{two}] *= {s}",
    "{a}[1:3] += {b}[:2]",
    "{a} += {b}",
    "{a} *= {s}",
    "{a}[[0, 0, 1]] += {s}",
    "np.add.at({a}, [0, 0, 1], {s})",
    "np.multiply({a}, 0.5, out={b})",
    "np.copyto({a}, {b})",
    "{a}.sort()",
    "{a}.fill(0.5)",
    "{a}.put([0], [0.5])",
    "{a}.flat[{i}] = {s}",
    "{a}[{a} > 0.5] = {s}",
    "poke({a}, {s})",
    "TABLE[{i}] = {s}",
)
list_hazard(
    "grow({items}, {s})",
    "{items}[{k}] = {s}",
    "{items}[{k}] += {s}",
    "{items}.append({s})",
    "{items}.extend([{s}, 0.5])",
    "{items}.insert(0, {s})",
    "{number} = {items}.pop() if len({items}) > 1 else 0.5",
    "{number} = drain({items})",
    "{items}.reverse()",
    "{items}.sort()",
    "{items} += [{s}]",
    "{items}[:1] = [{s}, {s}]",
    "{items}[0], {items}[-1] = {items}[-1], {items}[0]",
    "{items} *= 2 if len({items}) < 5 else 1",
)


@hazard
def array_alias(w, scope, depth, budget):
    target = w.name("a")
    w.put(depth, f"{target} = {w.pick.choice(scope.arrays)}{w.pick.choice(['', '[:]', '[::-1]', '[...]'])}")
    scope.arrays.append(target)


@hazard
def array_reshaped(w, scope, depth, budget):
    target = w.name("a")
    w.put(depth, f"{target} = {w.pick.choice(scope.arrays)}.reshape(2, 2).T.reshape(4)")
    scope.arrays.append(target)


@hazard
def array_filled(w, scope, depth, budget):
    target, a = w.name("a"), w.pick.choice(scope.arrays)
    w.put(depth, f"{target} = np.{w.pick.choice(['empty_like', 'zeros_like', 'ones_like'])}({a})")
    w.put(depth, f"{target}[:] = {a} * {one(w, scope)}")
    scope.arrays.append(target)


@hazard
def array_copied(w, scope, depth, budget):
    target = w.name("a")
    w.put(depth, f"{target} = {w.pick.choice(scope.arrays)}.copy()")
    w.put(depth, f"{target}[{w.pick.randrange(-4, 4)}] = {one(w, scope)}")
    scope.arrays.append(target)


@hazard
def array_of_constants_written(w, scope, depth, budget):
    target, s = w.name("a"), one(w, scope)
    w.put(depth, f"{target} = np.zeros(4)")
    w.put(depth, f"{target}[{w.pick.randrange(4)}] = {w.pick.choice(['2.0', s])}")
    scope.arrays.append(target)


@hazard
def list_alias(w, scope, depth, budget):
    target, items = w.name("l"), w.pick.choice(scope.lists)
    w.put(depth, f"{target} = {items}")
    scope.lists.append(target)
    if items in scope.own:
        scope.own.append(target)


@hazard
def table_of_arrays(w, scope, depth, budget):
    target = w.name("d")
    w.put(depth, f"{target} = {{'k': {one(w, scope)}, 'other': {w.pick.choice(scope.arrays)}}}")
    w.put(depth, f"{target}['k'] = {target}['k'] * {one(w, scope)}")
    scope.dicts.append(target)


@hazard
def list_in_two_containers(w, scope, depth, budget):
    items, pair = own_list(w, scope, depth), w.name("t")
    made = w.pick.choice([f"[{items}, {items}]", f"({items}, [{items}])", f"{{0: {items}, 1: {items}}}"])
    inner = f"{pair}[1][0]" if made.startswith("(") else f"{pair}[1]"
    w.put(depth, f"{pair} = {made}")
    w.put(depth, w.pick.choice([f"{inner}.append({one(w, scope)})", f"{pair}[0][0] = {one(w, scope)}"]))
    new_scalar(w, scope, depth, f"{inner}[-1] * {items}[0]")


@hazard
def appended_while_iterated(w, scope, depth, budget):
    items, e = own_list(w, scope, depth), w.name("e")
    w.put(depth, f"for {e} in {items}:")
    w.put(depth + 1, f"if len({items}) < 6:")
    w.put(depth + 2, f"{items}.append({bound(w, f'{e} * {one(w, scope)}')})")


@hazard
def written_while_iterated(w, scope, depth, budget):
    items, i, e = own_list(w, scope, depth), w.name("i"), w.name("e")
    w.put(depth, f"for {i}, {e} in enumerate({items}):")
    w.put(depth + 1, f"{items}[{w.pick.choice(['-1', i])}] = {bound(w, f'{e} + {one(w, scope)}')}")


@hazard
def mutable_default(w, scope, depth, budget):
    new_scalar(w, scope, depth, f"remember({one(w, scope)}) * {one(w, scope)}")


@hazard
def class_list(w, scope, depth, budget):
    w.put(depth, f"Shared.seen.append({one(w, scope)})")
    new_scalar(w, scope, depth, "Shared.seen[0] * Shared.seen[-1]")


@hazard
def class_attribute(w, scope, depth, budget):
    new_scalar(w, scope, depth, f"Shared.seen[0] * {one(w, scope)}")


@hazard
def global_list(w, scope, depth, budget):
    w.put(depth, f"BOX[{w.pick.randrange(2)}] = {one(w, scope)}")
    new_scalar(w, scope, depth, f"BOX[0] * {one(w, scope)}")


@hazard
def global_read(w, scope, depth, budget):
    new_scalar(w, scope, depth, f"BOX[{w.pick.randrange(2)}] * {one(w, scope)}")


@hazard
def global_written_by_helper(w, scope, depth, budget):
    new_scalar(w, scope, depth, f"kept({w.pick.choice(scope.arrays)}) * 0.5")


@hazard
def raised_after_a_write(w, scope, depth, budget):
    items, s = own_list(w, scope, depth), w.name("s")
    w.put(depth, "try:")
    w.put(depth + 1, f"{s} = risky({items}, {one(w, scope)})")
    w.put(depth, "except ValueError:")
    w.put(depth + 1, f"{s} = {items}[0] * 2.0")
    scope.scalars.append(s)


@hazard
def raised_between_statements(w, scope, depth, budget):
    s = new_scalar(w, scope, depth, one(w, scope))
    w.put(depth, "try:")
    w.put(depth + 1, f"{s} = {s} * {one(w, scope)}")
    w.put(depth + 1, f"if {w.condition(scope)}:")
    w.put(depth + 2, "raise KeyError('late')")
    w.put(depth + 1, f"{s} = {s} + {one(w, scope)}")
    w.put(depth, "except LookupError:")
    w.put(depth + 1, w.pick.choice(["pass", f"{s} = {s} + 1.0"]))


@hazard
def list_given_back(w, scope, depth, budget):
    items, other = own_list(w, scope, depth), w.name("l")
    w.put(depth, f"{other} = same({items})" if w.pick.random() < 0.5 else f"{other} = ({items}, 0.5)[0]")
    w.put(depth, w.pick.choice([f"{other}.append({one(w, scope)})", f"{items}[0] = {one(w, scope)}"]))
    new_scalar(w, scope, depth, f"{items}[-1] * {other}[0]")


@hazard
def list_given_back_in_a_container(w, scope, depth, budget):
    items, box = w.pick.choice(scope.lists), w.name("box")
    w.put(depth, f"{box} = held({items}, {one(w, scope)})")
    write = w.pick.choice(["{box}['k'].append({s})", "{box}['m'][0][-1] = {s}", "{box}['k'] = [{s}]", "pass"])
    w.put(depth, write.format(box=box, s=one(w, scope)))
    new_scalar(w, scope, depth, f"{box}['m'][0][-1] * {items}[0] + {box}['k'][0] * {box}['m'][1]")


@hazard
def object_of_a_list(w, scope, depth, budget):
    target, items = w.name("o"), w.pick.choice(scope.lists)
    w.put(depth, f"{target} = Point({items}, {one(w, scope)})")
    write = w.pick.choice(["{target}.a[0] = {s}", "{target}.a.append({s})", "pass"])
    w.put(depth, write.format(target=target, s=one(w, scope)))
    new_scalar(w, scope, depth, f"{target}.a[0] * {items}[-1] * {target}.b")


@hazard
def object_with_two_names(w, scope, depth, budget):
    target, other = own_object(w, scope, depth), w.name("o")
    w.put(depth, f"{other} = {w.pick.choice([target, f'{target}.move({one(w, scope)})'])}")
    w.put(depth, f"{other}.a = {bound(w, one(w, scope))}")
    new_scalar(w, scope, depth, f"{target}.a * {other}.b")


@hazard
def closure_over_array_written(w, scope, depth, budget):
    f, a = w.name("f"), w.pick.choice(scope.arrays)
    w.put(depth, f"{f} = lambda p: p * {a}[1]")
    first = new_scalar(w, scope, depth, f"{f}({one(w, scope)})")
    w.put(depth, w.pick.choice([f"{a} = {a} * {first}", f"{a}[1] = {first}", f"{a} += {first}"]))
    new_scalar(w, scope, depth, f"{f}({one(w, scope)})")


@hazard
def list_of_arrays_written(w, scope, depth, budget):
    parts, a = w.name("parts"), w.pick.choice(scope.arrays)
    w.put(depth, f"{parts} = [{a}, {a} * 2.0]")
    forms = [
        f"{parts}[0] = {parts}[1]",
        f"{parts}[0][1] = {one(w, scope)}",
        f"{parts}[1] += {a}",
        f"{parts}[0], {parts}[1] = {parts}[1], {parts}[0]",
    ]
    w.put(depth, w.pick.choice(forms))
    new_scalar(w, scope, depth, f"np.sum({parts}[0] * {a}) + {parts}[1][1]")
