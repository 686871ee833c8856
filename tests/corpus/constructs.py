"""One small function for each construct a user may try: the rows of docs/support.md, in their order.

Each is either differentiated rightly or refused by a typed error; which of the two is not stated here but
found by running it (support_table.py). `instead` says what to write where it is refused; without it the
page gives what the error advises.
"""

import bisect
import contextlib
import functools
import heapq
import itertools
import math
import operator
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

import rulelab as rl

V = np.array([0.5, -1.5, 2.0])
RULE = "write a rule for the function"


@dataclass(frozen=True)
class Row:
    """One construct: its group on the page, its name there, a function that uses it, and what to do else."""

    group: str
    construct: str
    function: Callable
    args: tuple
    instead: str | None


ROWS: list[Row] = []


def shown(group, construct, args=(1.7,), instead=None):
    """Put the decorated function, unchanged, on the page."""

    def register(function):
        ROWS.append(Row(group, construct, function, args, instead))
        return function

    return register


# --------------------------------------------------------------------------------------------------
SYNTAX = "Statements and expressions"


@shown(SYNTAX, "assignment, chained, annotated, to tuples")
def assignment(x):
    a = b = x * x
    c: float = a
    (d, e), f = (b, c), x
    return a * d + e * f


@shown(SYNTAX, "augmented assignment of a name: `s += x`")
def augmented_assignment(x):
    s = x
    s += x * x
    s *= 2.0
    return s


@shown(SYNTAX, "`if`, `elif`, `else`, conditional expressions, comparisons, `and`, `or`, `not`")
def branches(x):
    if x > 3 and not x > 5:
        return x
    elif 0 < x < 2:
        return x * x
    return x if x < 0 else 0.0


@shown(SYNTAX, "`for` over ranges, arrays, lists, tuples, strings")
def for_loops(x):
    total = 0.0
    for i in range(3):
        for value in [x, x * i]:
            total += value * len("".join([letter for letter in "ab"]))
    for value in (x, 2.0):
        total *= value
    for value in V * x:
        total += value
    return total


@shown(SYNTAX, "`while`, `break`, `continue`, early `return`")
def while_loops(x):
    n = 0
    while True:
        n += 1
        if n == 2:
            continue
        x = x * 0.9
        if n > 4:
            break
    return x * x


@shown(SYNTAX, "the `else` of a loop", instead="set a flag before `break`")
def loop_else(x):
    for i in range(3):
        if x > 10:
            break
    else:
        x = x * x
    return x


@shown(SYNTAX, "list comprehensions, nested and filtered; generator expressions in `sum`, `max`")
def comprehensions(x):
    table = [a * b for a in (x, 2.0) for b in (1.0, x) if a > 0]
    return sum(table) + max(v * v for v in table) + sum(v for v in table)


@shown(SYNTAX, "dict comprehensions", instead="a literal, or two lists")
def dict_comprehension(x):
    table = {k: x**k for k in range(3)}
    return table[2]


@shown(SYNTAX, "set comprehensions", instead="a list comprehension")
def set_comprehension(x):
    return x * len({k % 2 for k in range(3)})


@shown(SYNTAX, "`a, *rest = items`", instead="slices: `a, rest = items[0], items[1:]`")
def starred_assignment(x):
    a, *rest = [x, x * x, 2.0]
    return a * rest[0]


@shown(SYNTAX, "`[*items, x]`", instead="`items + [x]`")
def starred_display(x):
    items = [x, x * x]
    return sum([*items, x])


@shown(SYNTAX, "`{**table, 'k': x}`", instead="write the keys out")
def double_starred_display(x):
    table = {"a": x}
    return {**table, "b": x * x}["b"] * table["a"]


@shown(SYNTAX, "the walrus: `(y := x * x)`", instead="assign on a line of its own")
def walrus(x):
    return (y := x * x) * y


@shown(SYNTAX, "`try` in which nothing is raised")
def try_without_raise(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return 0.0


@shown(SYNTAX, "`try` whose handler has run", instead="test before, instead of catching after")
def try_with_raise(x):
    try:
        return math.sqrt(-x)
    except ValueError:
        return x


@shown(SYNTAX, "`except` with computed classes")
def try_except_computed(x):
    kinds = (ValueError, KeyError)
    try:
        y = x * x
    except kinds:
        y = 0.0
    return y


@shown(SYNTAX, "`except*`", instead="catch the group with `except`")
def try_except_star(x):
    try:
        y = x * x
    except* ValueError:
        y = 0.0
    return y


@shown(SYNTAX, "the `else` of a `try`", instead="put it at the end of the `try`")
def try_else(x):
    try:
        y = x * x
    except ValueError:
        y = 0.0
    else:
        y = y * x
    return y


@shown(SYNTAX, "`finally`", instead="move the `try` into the caller")
def try_finally(x):
    try:
        y = x * x
    finally:
        done = True
    return y


@shown(SYNTAX, "`with np.errstate(...)`", instead="use it around the call of `gradient`")
def with_errstate(x):
    with np.errstate(all="ignore"):
        y = x * x
    return y


@contextlib.contextmanager
def lent(value):
    yield value * value


@shown(SYNTAX, "`with` on a manager that returns what varies", instead="a function call")
def with_manager(x):
    with lent(x) as y:
        return y * x


@shown(SYNTAX, "`match` on constants", instead="`if` and `elif`")
def match_constants(x):
    match len([x, x]):
        case 2:
            return x * x
        case _:
            return x


@shown(SYNTAX, "`match` that unpacks a sequence", instead="unpacking and `if`")
def match_sequences(x):
    match (x, x * x):
        case (a, b):
            return a * b


@shown(SYNTAX, "`del` of a name", instead="leave it out")
def del_name(x):
    y = x * x
    z = y * x
    del y
    return z


@shown(SYNTAX, "`assert`, `raise`, f-strings in messages")
def asserts(x):
    assert x > 0, f"{x} is not positive"
    if x > 100:
        raise ValueError(f"{x} is too large")
    return x * x


@shown(SYNTAX, "varying numbers that are converted to text and read back", instead="pass the number itself")
def text_read_again(x):
    return float(f"{x:.3f}") * x


@shown(SYNTAX, "`import` inside a function", instead="import at the top of the file")
def import_inside(x):
    import math as mathematics

    return mathematics.sin(x)


@shown(SYNTAX, "generator expressions that are assigned, passed on, read in part")
def generator_expressions(x):
    squares = (v * v for v in [x, 2.0, x])
    return next(squares) * sum(list(squares))


@shown(SYNTAX, "`yield`: generators", instead="collect a list and return it")
def generator(x):
    def squares():
        for k in range(3):
            yield x * k

    return sum(squares())


async def waited(x):
    return x * x


@shown(SYNTAX, "`async`, `await`", instead="a plain function")
def asynchronous(x):
    return waited(x).send(None)


@shown(SYNTAX, "`class` inside a function", instead="define the class outside")
def class_inside(x):
    class Local:
        k = 2.0

    return x * Local.k


# --------------------------------------------------------------------------------------------------
FUNCTIONS = "Functions and closures"
TOTAL = 0.0


def product(a, b=2.0, *, c=1.0):
    return a * b * c


def average(*values):
    return sum(values) / len(values)


def named(**values):
    return values["a"] * values["b"]


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


@shown(FUNCTIONS, "calls of Python functions; keyword arguments, defaults")
def calls(x):
    return product(x) + product(x, b=x) + product(x, c=x * x)


@shown(FUNCTIONS, "recursion")
def recursion(x):
    return power(x, 4)


@shown(FUNCTIONS, "nested functions, `lambda`, functions returned, in lists, as arguments")
def nested_functions(x):
    def scaled(k):
        return lambda v: v * k * x

    return [scaled(2.0), scaled(x)][1](x)


@shown(FUNCTIONS, "`f(*items)`", instead="write the arguments out")
def starred_call(x):
    return product(*(x, x * x))


@shown(FUNCTIONS, "`f(**options)`", instead="write the keywords out")
def double_starred_call(x):
    return product(**{"a": x, "b": x})


@shown(FUNCTIONS, "`def f(*values)`", instead="take a list")
def star_parameter(x):
    return average(x, x * x, 1.0)


@shown(FUNCTIONS, "`def f(**options)`", instead="name the keywords, or take a dict")
def double_star_parameter(x):
    return named(a=x, b=x * x)


@shown(FUNCTIONS, "a captured variable that is bound again", instead="a default: `lambda v, k=k: v * k`")
def late_binding(x):
    k = x
    scaled = lambda v: v * k
    first = scaled(x)
    k = first * x
    return scaled(x)


@shown(FUNCTIONS, "a loop variable held by a closure", instead="a default: `lambda v, i=i: v * i`")
def loop_variable_captured(x):
    made = []
    for i in range(3):
        made.append(lambda v: v * i)
    return made[0](x) * x


@shown(FUNCTIONS, "`nonlocal`", instead="return the new value")
def nonlocal_counter(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v

    add(x)
    add(x)
    return total


@shown(FUNCTIONS, "`global` writes", instead="return the value")
def global_write(x):
    global TOTAL
    TOTAL = x
    return TOTAL * x


@functools.cache
def remembered(x):
    return x * x


@shown(FUNCTIONS, "`functools.cache`", instead="call the undecorated function")
def cached_function(x):
    return remembered(x) * x


@shown(FUNCTIONS, "`gradient` inside a differentiated function", instead=RULE)
def second_derivative(x):
    return rl.gradient(lambda v: v**3, x)[0]


# --------------------------------------------------------------------------------------------------
BUILTINS = "Builtins and the standard library"


@shown(BUILTINS, "`abs`, `float`, `int`, `len`, `pow`, `isinstance`")
def numbers(x):
    return abs(x) * float(x) + len([x, x]) * pow(x, 2) + int(2.7) + isinstance(x, float)


@shown(BUILTINS, "`sum`, `min`, `max` with `key=`, `sorted`, `any`, `all`")
def reductions(x):
    items = [x, x * x, 2.0]
    chosen = max(items, key=lambda v: -v) * min(items)
    return sum(items, x) + chosen + sorted(items)[0] if any([x > 1]) and all([x < 9]) else x


@shown(BUILTINS, "`zip`, `enumerate`, `reversed`, `range`")
def iteration(x):
    total = 0.0
    for i, (a, b) in enumerate(zip([x, 2.0], reversed([x, 3.0])), 1):
        total += i * a * b
    for k in range(3, 0, -1):
        total += x**k
    return total


@shown(BUILTINS, "`list`, `tuple` of a list")
def list_of(x):
    return list((x, 2.0))[0] * tuple([x, x * x])[1]


@shown(BUILTINS, "`map`", instead="a list comprehension")
def map_of(x):
    return sum(map(math.sin, [x, x * x]))


@shown(BUILTINS, "`filter`", instead="a list comprehension with `if`")
def filter_of(x):
    return sum(filter(lambda v: v > 0, [x, x * x]))


@shown(BUILTINS, "`dict(a=x)`", instead="a literal: `{'a': x}`")
def dict_of(x):
    return dict(a=x, b=2.0)["a"] * x


@shown(BUILTINS, "`iter`, `next`", instead="a `for` loop, or an index")
def iterators(x):
    return next(iter([x * x, 2.0]))


@shown(BUILTINS, "`getattr`", instead="`p.a`")
def attributes_by_name(x):
    return getattr(np, "sin")(x)


@shown(BUILTINS, "`print`")
def printing(x):
    print(end="")
    return x * x


@shown(BUILTINS, "`math`: `sin`, `exp`, `log`, `sqrt`, `hypot`, `atan2`, `prod`")
def math_module(x):
    waves = math.sin(x) * math.exp(-x) + math.log(x) * math.sqrt(x)
    return waves + math.hypot(x, 1.0) + math.atan2(x, 2.0) * math.prod([x, 2.0])


@shown(BUILTINS, "`math.fsum`, `math.dist`", instead="`sum`, `np.linalg.norm`")
def math_of_sequences(x):
    return math.fsum([x, x * x]) + math.dist([x, 1.0], [0.5, x])


@shown(BUILTINS, "`operator.mul` and the like")
def operators(x):
    return operator.mul(x, x) + operator.add(x, 1.0)


@shown(BUILTINS, "`functools.reduce`", instead="a loop")
def reduce_of(x):
    return functools.reduce(lambda a, b: a * b, [x, x * x, 2.0])


@shown(BUILTINS, "`functools.partial`", instead="a `lambda`")
def partial_of(x):
    return functools.partial(product, x)(b=x)


@shown(BUILTINS, "`itertools.product`", instead="nested loops")
def itertools_product(x):
    return sum([a * b for a, b in itertools.product([x, 1.0], [x, 2.0])])


@shown(BUILTINS, "`itertools.chain`", instead="`+`")
def itertools_chain(x):
    return sum([v * v for v in itertools.chain([x], [x, 2.0])])


@shown(BUILTINS, "`itertools.accumulate`", instead="a loop, or `np.cumsum`")
def itertools_accumulate(x):
    return list(itertools.accumulate([x, x * x]))[1]


@shown(BUILTINS, "`random` numbers that do not depend on what varies")
def random_numbers(x):
    return x * random.Random(3).random()


@shown(BUILTINS, "random draws that are shifted and scaled: `rng.normal(mu, s)`, `random.gauss(mu, s)`")
def random_draws(x):
    return np.random.default_rng(3).normal(x, x * x) * random.Random(3).uniform(0.0, x)


@shown(BUILTINS, "random draws whose shape varies", instead="constant parameters")
def random_draws_of_shapes(x):
    return np.random.default_rng(3).gamma(x, 1.0)


@shown(BUILTINS, "`heapq`, `bisect`")
def heaps(x):
    heap = []
    for v in [3.0 * x, x, 2.0 * x]:
        heapq.heappush(heap, v)
    bisect.insort(kept := [x, 4.0 * x], heapq.heappop(heap) * 2)
    return kept[1] * heapq.nsmallest(1, heap)[0]


@shown(BUILTINS, "`collections.Counter`")
def counter(x):
    weights = Counter(a=x, b=2 * x)
    weights["a"] += x * x
    return (weights + weights).most_common(1)[0][1]


@functools.singledispatch
def sized(shape):
    return shape * shape


@sized.register
def _(shape: list):
    return shape[0] * shape[1]


@shown(BUILTINS, "functions and methods that dispatch on the class of an argument (singledispatch)")
def dispatch(x):
    return sized(x) + sized([x, 2.0])


# --------------------------------------------------------------------------------------------------
CONTAINERS = "Lists, dicts and tuples made inside"


@shown(CONTAINERS, "list literals, indices, slices, `+`, `*`, `in`")
def lists_read(x):
    items = [x, x * x] + [2.0] * 2
    return items[-1] * items[0] + sum(items[1:3]) * (1.0 if 2 in [1, 2] else 0.0)


@shown(CONTAINERS, "`items.append(x)` on a list that nothing else refers to", instead="`items = items + [x]`")
def list_append(x):
    items = []
    for k in range(3):
        items.append(x**k)
    return items[1] * items[2]


@shown(CONTAINERS, "`items.append(x)` seen through a second name", instead="one name")
def list_append_aliased(x):
    items = [x]
    other = items
    other.append(x * x)
    return items[1]


@shown(CONTAINERS, "`items[k] = x`, `items[k] += x`", instead="build a new list by a comprehension")
def list_item_assignment(x):
    items = [x, 2.0]
    items[0] = x * x
    items[1] += items[0]
    return items[0] * items[1]


@shown(CONTAINERS, "`items[a:b] = other`", instead="`items[:a] + other + items[b:]`")
def list_slice_assignment(x):
    items = [x, 2.0, 3.0]
    items[1:] = [x * x]
    return items[0] * items[1]


@shown(CONTAINERS, "`items += other`", instead="`items = items + other`")
def list_augmented(x):
    items = [x]
    items += [x * x]
    return items[1]


@shown(CONTAINERS, "`extend`, `insert`", instead="`items + other`")
def list_extend(x):
    items = [x]
    items.extend([x * x, 2.0])
    items.insert(0, x)
    return items[0] * items[2]


@shown(CONTAINERS, "`pop`, `remove`, `clear`", instead="an index and a slice")
def list_pop(x):
    items = [x, x * x, 3.0]
    items.remove(3.0)
    last = items.pop()
    items.clear()
    return last


@shown(CONTAINERS, "`sort`, `reverse`", instead="`sorted(items)`, `items[::-1]`")
def list_sort(x):
    items = [x * x, x]
    items.sort()
    items.reverse()
    return items[0]


@shown(CONTAINERS, "`copy`, `index`", instead="`items[:]`")
def list_methods(x):
    items = [x, x * x]
    return items.copy()[items.index(x)]


@shown(CONTAINERS, "`del items[k]`", instead="a slice")
def list_del(x):
    items = [x, x * x]
    del items[0]
    return items[0]


@shown(CONTAINERS, "`rows[i][j] = x`: lists of lists written", instead="an array of NumPy, built at once")
def list_of_lists(x):
    rows = [[0.0, 1.0], [1.0, 0.0]]
    for i in range(2):
        rows[i][0] = x**i * x
    return rows[0][0] * rows[1][0]


def push(items, value):
    items.append(value)


@shown(CONTAINERS, "a helper function changes a list that is passed to it", instead="return a new list")
def list_changed_by_helper(x):
    items = []
    push(items, x * x)
    return items[0]


@shown(CONTAINERS, "a nested function changes a list that it holds", instead="return a new list")
def list_changed_by_closure(x):
    items = []
    note = lambda v: items.append(v * v)
    note(x)
    return items[0]


@shown(CONTAINERS, "dict literals, `d[k]`, `k in d`, `for k in d`")
def dicts_read(x):
    table = {"a": x, "b": x * x}
    total = 0.0
    for key in table:
        total += table[key]
    return total if "a" in table else 0.0


@shown(CONTAINERS, "`d.get`", instead="`d[k] if k in d else …`")
def dict_get(x):
    table = {"a": x}
    return table.get("a", 0.0) * table.get("b", x)


@shown(CONTAINERS, "`d.items()`, `d.values()`, `d.keys()`", instead="`for k in d`")
def dict_views(x):
    table = {"a": x, "b": x * x}
    total = sum(table.values()) + sum([v for k, v in table.items()])
    for key in table.keys():
        total = total * table[key]
    return total


@shown(CONTAINERS, "`d[k] = x`, `d[k] += x`", instead="a literal")
def dict_item_assignment(x):
    table = {"a": x}
    table["b"] = x * x
    table["a"] += table["b"]
    return table["a"]


@shown(CONTAINERS, "`d.update`, `d.setdefault`, `d.pop`", instead="a literal")
def dict_update(x):
    table = {"a": x}
    table.update({"b": x * x})
    return table.setdefault("c", x) * table.pop("b")


@shown(CONTAINERS, "`del d[k]`", instead="leave the key in")
def dict_del(x):
    table = {"a": x, "b": x * x}
    del table["a"]
    return table["b"]


@shown(CONTAINERS, "`defaultdict`", instead="a dict with its keys set before")
def default_dict(x):
    table = defaultdict(float)
    table["a"] += x * x
    return table["a"]


@shown(CONTAINERS, "`deque`", instead="a list")
def double_ended_queue(x):
    queue = deque([x, 2.0])
    queue.append(x * x)
    return queue.popleft() * queue[-1]


@shown(CONTAINERS, "tuples: literals, indices, slices, `+`")
def tuples(x):
    pair = (x, 2.0) + (x * x,)
    a, b = pair[1:]
    return pair[0] * a * b


@shown(CONTAINERS, "sets of constants")
def sets(x):
    return x * x if 2 in {1, 2} else x


class Stack(list):
    def push(self, v):
        self.append(v)
        return self


@shown(CONTAINERS, "subclasses of lists, dicts, deques, sets")
def list_class(x):
    stack = Stack([x]).push(x * x)
    return stack.pop() * stack[0]


# --------------------------------------------------------------------------------------------------
CLASSES = "Classes"


class Point:
    kind = 2.0

    def __init__(self, a, b=1.0):
        self.a = a
        self.b = b

    def norm(self):
        return self.a * self.a + self.b

    @property
    def double(self):
        return 2.0 * self.a

    @double.setter
    def double(self, value):
        self.a = 0.5 * value

    @staticmethod
    def squared(x):
        return x * x

    @classmethod
    def unit(cls, x):
        return x * cls.kind

    def __call__(self, x):
        return self.a * x

    def __mul__(self, other):
        return self.a * other


class Frozen(Point):
    def norm(self):
        return super().norm() * 2.0


@dataclass
class Params:
    w: float
    b: float = 0.5
    history: list = field(default_factory=list)


class Pair(NamedTuple):
    p: float
    q: float = 2.0


MODEL = Point(3.0)
MADE_OUTSIDE = "an object made outside"


@shown(CLASSES, f"{MADE_OUTSIDE}, argument or global: attributes, methods", args=(1.7, Point(2.0)))
def object_read(x, point):
    return point.a * x + point.norm() + MODEL.a * x


@shown(CLASSES, f"{MADE_OUTSIDE}: called", args=(1.7, Point(2.0)), instead="a method with a name")
def object_called(x, point):
    return point(x) * x


@shown(CLASSES, f"{MADE_OUTSIDE}: operators of its class", args=(1.7, Point(2.0)), instead="call a method")
def object_operator(x, point):
    return point * x


@shown(CLASSES, "static methods, class methods, class attributes", args=(1.7, Point(2.0)))
def static_methods(x, point):
    return Point.squared(x) + point.unit(x) + Point.kind * x


@shown(CLASSES, "`super()`", args=(1.7, Frozen(2.0)), instead="name the class: `Base.method(self)`")
def super_called(x, point):
    return point.norm() * x


@shown(CLASSES, "properties", args=(1.7, Point(2.0)), instead="call a method or a function")
def properties(x, point):
    return point.double * x


@shown(CLASSES, "instances made inside, their methods", instead="make it outside, or a tuple or dict")
def object_made(x):
    point = Point(x, b=2.0)
    return point.norm() * point.a


@shown(CLASSES, "attributes of instances made inside assigned: `p.a = x`", instead="make a new one")
def attribute_assigned(x):
    point = Point(x)
    point.a = x * x
    point.b += point.a
    return point.norm()


@shown(CLASSES, "property setters", instead="set the attribute itself")
def property_set(x):
    point = Point(x)
    point.double = x * x
    return point.a


@shown(CLASSES, "dataclasses made inside, `replace`", instead="make it outside, or a tuple or dict")
def dataclass_made(x):
    params = Params(x)
    return replace(params, b=x * x).b * params.w


@shown(CLASSES, "dataclass fields assigned, `default_factory`", instead="make a new one")
def dataclass_written(x):
    params = Params(x)
    params.b = x * x
    params.history.append(params.b)
    return params.history[0] * params.w


@shown(CLASSES, "named tuples made inside, `_replace`", instead="a plain tuple")
def named_tuple_made(x):
    pair = Pair(x)
    p, q = pair._replace(q=x * x)
    return pair.p * p * q


# --------------------------------------------------------------------------------------------------
OTHERS = "Changing what other code refers to"
ANSWER = "return a new one and let the caller keep it"
SEEN = [1.0]


def remembers(x, seen=[1.0]):
    seen.append(x)
    return seen[0] * x


@shown(OTHERS, "a list or dict that is an argument", args=(1.7, [1.0, 2.0]), instead=ANSWER)
def argument_list_changed(x, items):
    items[0] = x
    return items[0] * items[1]


@shown(OTHERS, "an object that is an argument", args=(1.7, Point(2.0)), instead=ANSWER)
def argument_object_changed(x, point):
    point.a = x
    return point.a * x


@shown(OTHERS, "a global or captured list, dict or object", instead=ANSWER)
def global_list_changed(x):
    SEEN.append(x)
    return SEEN[0] * x


@shown(OTHERS, "a class attribute", instead=ANSWER)
def class_attribute_changed(x):
    Point.kind = x
    return Point.kind * x


@shown(OTHERS, "a mutable default", instead="`seen=None`, and a new list inside")
def mutable_default_changed(x):
    return remembers(x)


# --------------------------------------------------------------------------------------------------
ARRAYS = "NumPy"


@shown(ARRAYS, "arithmetic, broadcasting, comparisons", args=(1.7, V))
def array_arithmetic(x, v):
    return np.sum(v * x + v**2 / (1.0 + v[:, None] ** 2) - (v > 0))


@shown(ARRAYS, "`np.sin`, `exp`, `log`, `sqrt`, `tanh`, `abs` and the like", args=(1.7, V))
def array_functions(x, v):
    return np.sum(np.sin(v) + np.exp(-v) + np.log(v * v + x) + np.sqrt(v * v + x) + np.tanh(v) * np.abs(v))


@shown(ARRAYS, "`np.maximum`, `minimum`, `clip`, `where`, `sign`", args=(1.7, V))
def array_choices(x, v):
    chosen = np.maximum(v, 0.7) * np.minimum(v, x)
    return np.sum(chosen + np.clip(v, -1.0, 1.0) + np.where(v > 0, v * x, v) + np.sign(v))


@shown(ARRAYS, "`sum`, `mean`, `prod`, `max`, `min`, `var`, `std`, `axis=`, `keepdims=`", args=(1.7, V))
def array_reductions(x, v):
    m = np.outer(v, v)
    sums = m.sum(axis=0)[1] + m.sum(axis=1, keepdims=True)[1, 0]
    return sums + np.mean(m) + np.prod(v) + np.max(v) * v.min() + np.var(v) + np.std(v) * x


@shown(ARRAYS, "`cumsum`, `cumprod`, `diff`", args=(1.7, V))
def array_scans(x, v):
    return np.sum(np.cumsum(v) ** 2) + np.sum(np.cumprod(v) * x) + np.sum(np.diff(v) ** 2)


@shown(ARRAYS, "`reshape`, `T`, `transpose`, `ravel`, `squeeze`, `swapaxes`", args=(1.7, V))
def array_shapes(x, v):
    m = np.outer(v, v * v).reshape(3, 3).T
    return m.ravel()[1] * x + np.transpose(m)[0, 2] + np.squeeze(v[None])[0] + np.swapaxes(m, 0, 1)[1, 0]


@shown(ARRAYS, "`concatenate`, `stack`, `hstack`, `vstack`, `tile`, `repeat`, `roll`, `flip`", args=(1.7, V))
def array_joins(x, v):
    joined = np.concatenate([v, np.hstack([v, v]), np.tile(v, 2), np.repeat(v, 2), np.roll(v, 1), np.flip(v)])
    return np.sum(joined**2) * x + np.stack([v, v])[1, 0] + np.vstack([v, v])[0, 1]


@shown(ARRAYS, "indices, slices, masks, index arrays, `take`", args=(1.7, V))
def array_indices(x, v):
    return v[0] * v[-1] + np.sum(v[1:] * x) + np.sum(v[v > 0]) + np.sum(v[[0, 0, 2]]) + np.take(v, 1)


@shown(ARRAYS, "`np.array`, `zeros`, `ones`, `full`, `arange`, `linspace`, `eye`", args=(1.7, V))
def array_makers(x, v):
    constants = np.ones(3) + np.arange(3) + np.full(3, 0.5) + np.zeros(3) + np.linspace(0.0, 1.0, 3)
    return np.sum(np.array([x, x * x, 1.0]) * v) + np.sum(constants * v) + np.sum(np.eye(3) @ v)


@shown(ARRAYS, "`@`, `dot`, `matmul`, `outer`, `inner`, `tensordot`, `einsum`", args=(1.7, V))
def array_products(x, v):
    m = np.outer(v, v) * x
    products = np.dot(m, v)[0] + np.matmul(m, v)[1] + np.tensordot(m, v, 1)[2]
    return v @ m @ v + products + np.inner(v, v) + np.einsum("ij,j->i", m, v)[1]


@shown(ARRAYS, "`np.linalg`: `solve`, `inv`, `det`, `norm`", args=(1.7, V))
def array_algebra(x, v):
    m = np.outer(v, v) + 3.0 * np.eye(3)
    algebra = np.linalg.solve(m, v)[0] * x + np.linalg.inv(m)[0, 1]
    return algebra + np.linalg.det(m) + np.linalg.norm(v)


@shown(ARRAYS, "`trace`, `diag`, `tril`, `triu`", args=(1.7, V))
def array_diagonals(x, v):
    m = np.outer(v, v) * x
    return np.trace(m) + np.diag(m)[1] + np.sum(np.tril(m)) + np.sum(np.triu(m, 1))


@shown(ARRAYS, "`sort`, `argmax`, `argsort` as an index", args=(1.7, V))
def array_sorting(x, v):
    return np.sort(v)[0] * x + v[np.argmax(v)] + np.sum(v[np.argsort(v)] * np.arange(3))


@shown(ARRAYS, "a list or tuple next to an array: `v * [1.0, x, 3.0]`, `np.exp([x, y])`", args=(1.7, V))
def array_beside_list(x, v):
    return np.sum(v * [1.0, x, 3.0] + (x, 2.0, 3.0)) + np.sum(np.exp([x, v[0]]))


@shown(ARRAYS, "indexed NumPy numbers: `s[()]`, `s[None]`", args=(1.7, V))
def number_indexed(x, v):
    return np.sum(v)[()] * np.sum(np.sum(v)[None] * x)


@shown(ARRAYS, "`np.interp`", args=(1.7, V))
def array_interpolation(x, v):
    return np.interp(0.5, np.arange(3.0), v) * x


@shown(ARRAYS, "`np.fft`", args=(1.7, V), instead=RULE)
def array_transform(x, v):
    return np.sum(np.abs(np.fft.fft(v)) ** 2) * x


@shown(ARRAYS, "`np.vectorize`", args=(1.7, V), instead="array operations, or a loop")
def array_vectorize(x, v):
    return np.sum(np.vectorize(lambda e: e * e)(v)) * x


@shown(ARRAYS, "`s += v` on an array that nothing else refers to", args=(1.7, V))
def array_accumulated(x, v):
    s = np.zeros(3)
    for k in range(3):
        s += v * k
    return np.sum(s * s)


@shown(ARRAYS, "`a[k] = c` of constants, before what varies has read it", args=(1.7, V))
def array_of_constants_written(x, v):
    weights = np.zeros(3)
    weights[1] = 5.0
    return np.sum(weights * v) * x


@shown(ARRAYS, "`a[k] = x`", args=(1.7, V), instead="`np.where`, `np.concatenate`, or a list and `np.array`")
def array_written(x, v):
    out = np.zeros(3)
    for k in range(3):
        out[k] = v[k] * x
    return np.sum(out * out)


@shown(ARRAYS, "`out=`", args=(1.7, V), instead="leave it out, and use the returned array")
def array_out(x, v):
    out = np.empty(3)
    np.multiply(v, x, out=out)
    return np.sum(out)


@shown(ARRAYS, "`np.add.at`, `np.copyto`", args=(1.7, V), instead="`+`, or an index array on the other side")
def array_functions_that_write(x, v):
    out = np.zeros(3)
    np.copyto(out, v)
    np.add.at(out, [0, 0, 1], x)
    return np.sum(out * out)


@shown(ARRAYS, "an argument written: `v *= 2`", args=(1.7, V), instead="`v = v * 2`")
def array_argument_written(x, v):
    v *= x
    return np.sum(v)
