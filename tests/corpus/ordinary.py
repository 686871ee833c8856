"""Corpus: ordinary code that hands things on, keeps them, throws them away: generator expressions, lists
beside arrays, heaps, counters, classes of lists and dicts, dispatch by class, draws, values nobody needs.
"""

import bisect
import copy
import functools
import heapq
import itertools
import random
import types
from collections import Counter, OrderedDict, deque

import numpy as np
from corpus.harness import case

A = [1.5, -0.7, 2.3]
V = np.array([0.5, -1.5, 2.0])
W = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.2]])


# -- values that the result does not need --------------------------------------------------------------------


@case((1.7,))
def unneeded_partial(x):
    functools.partial(pow, exp=x)
    return x**3


@case((1.7,))
def unneeded_reduce(x):
    functools.reduce(lambda u, w: u + np.sin(w), [x, x * x])
    return x**3


@case((1.7,))
def unneeded_list_written(x):
    m = list([x, x])
    m[0] = 0.98
    m.append(x)
    return x**3


def listed(x):
    return list([x, x])


@case((1.7,))
def unneeded_lists_of_all_makers(x):
    m = listed(x)
    m[0] = 0.98
    made = [sorted([x, x]), [x] * 3, [x, 1.0].copy(), np.array([x, x]).tolist(), list(zip([x], [1]))]
    for n in made:
        n[0] = 2.0
    part = made[1][:2]
    part.append(x)
    return x**3


@case((1.7,))
def unneeded_dicts(x):
    d = {"a": x}
    e = dict(d)
    e["b"] = x
    d.update(e)
    d |= {"c": x}
    items = list(d.items())
    items.pop()
    return x**3


@case((1.7,))
def unneeded_iterators(x):
    pairs, calls, items = zip([x], [x]), map(lambda t: t * x, [1, 2]), iter([x, 2 * x])
    next(pairs), next(calls), next(items), sum(items)
    next(itertools.count(x))
    totals = list(itertools.accumulate([x, x]))
    totals.append(x)
    return x**3


@case((1.7,))
def unneeded_copies(x):
    rows = copied([x, [x]])
    rows[1][0] = 3.0
    return x**3


def copied(rows):
    return copy.deepcopy(rows)


class Held:
    def __init__(self, x):
        self.x = x
        self.items = [x]

    def add(self, v):
        self.items.append(v)
        self.x += v
        return self


@case((1.7,))
def unneeded_objects(x):
    held = Held(x).add(x)
    held.x *= 2
    held.items.append(1.0)
    other = types.SimpleNamespace(a=x)
    other.b = 2.0
    constant = Held(1.0)
    constant.items.append(2.0)
    return x**3


@case((1.7,))
def unneeded_functions(x):
    kept = [functools.partial(lambda t: t * x), np.vectorize(lambda t: t * x)]
    kept.append(kept[0])
    kept[-1](2.0)
    return x**3


# -- containers changed in place -----------------------------------------------------------------------------


@case((1.7,))
def operators_in_place_seen_by_another_name(x):
    m, q, d = [x, 2 * x], deque([x, 2.0]), {"a": x}
    n, p, e = m, q, d
    m += [x * x, 3.0]
    m *= 2
    q += (x * x,)
    q *= 2
    d |= {"b": x * x, "a": 2 * x}
    return n[6] * n[1] + p[2] * p[-3] + e["a"] * e["b"]


# -- generator expressions that are handed on ----------------------------------------------------------------


def total(xs):
    return sum(list(xs))


def squares(xs):
    found = 0.0
    for v in xs:
        found += v * v
    return found


@case((V,))
def generator_handed_to_a_function(v):
    return total(e * e for e in v)


@case((1.7,))
def generator_read_in_part(x):
    g = (v * x for v in [x, 2 * x, 3 * x] if v > 1.5 * x)
    rest = itertools.islice((v * v for v in [x, 1.0, x]), 1, None)
    return next(g) * 2 + next(g, 0.0) * total(rest)


@case((1.7,))
def generator_of_two_loops(x):
    return squares(u * v for u in [x, 1.0] for v in (u, x) if v != 3)


@case((1.7,))
def generator_of_patterns(x):
    first = squares(i * v for i, v in enumerate([x, x**2, 3.0]))
    return first + total(max(p, q) for (p, q) in [(x, 0.3), (0.2, x**2)])


@case((1.7,))
def generator_with_a_rest(x):
    return squares(a + sum(rest) for a, *rest in [(x, 1.0, x), (2.0, x)])


@case((1.7,))
def generators_in_a_loop(x):
    found = 0.0
    for k in range(3):
        found += total(v * k for v in [x, k * x])
    return found + sum([total(v * k * x for v in [x, 2.0]) for k in range(3)])


@case((1.7,))
def generators_of_generators(x):
    inner = (v**2 for v in [x, 3.0])
    return squares(w for w in inner) + total(total(w * v for w in [x, v]) for v in [x, 2.0])


@case((1.7,))
def generators_through_functions_of_python(x):
    pairs = zip((v for v in [x, 2.0]), (v * x for v in [x, 3.0]))
    product = functools.reduce(lambda p, q: p * q, (v + x for v in [x, 2.0]))
    doubled = list(map(lambda t: t * x, (v for v in [1.0, x])))
    read = np.sum(np.fromiter((v * x for v in A), float))
    return total(p * q for p, q in pairs) * product + doubled[1] + read


@case((1.7,))
def generators_read_into_containers(x):
    m, d = [x], {}
    n = m
    m.extend(v * x for v in [x, 2.0])
    m[1:] = (v * 2 for v in [x, x])
    m += (v * x for v in [1.0])
    d.update((k, v * x) for k, v in zip("ab", [x, 2.0]))
    return n[1] * n[3] + d["a"] * d["b"] + deque(v * x for v in [x, 1.0])[0]


@case((1.7,))
def generator_given_back(x):
    def inner():
        return (v * x for v in [x, 2.0, 1.0])

    it = inner()
    next(it)
    first, second = it
    return first * second


class Weighted:
    def __init__(self, xs):
        self.xs = list(xs)

    def total(self, w):
        return self.add(v * w for v in self.xs)

    def add(self, xs):
        return sum(xs)


@case((1.7,))
def generators_and_objects(x):
    return Weighted(x * i for i in range(3)).total(x)


@case((V,))
def walrus_in_a_comprehension_in_a_lambda(v):
    return (lambda s: [s := s * e + 1.0 for e in v][-1])(1.0)


# -- lists and tuples beside arrays --------------------------------------------------------------------------


@case((V,))
def array_and_list(v):
    found = v * [1.0, 2.0, 3.0] - (v[0], 1.0, v[2])
    return np.sum(([v[1] ** 2, 2.0, 3.0] / (found + 10.0)) ** 2 + 2.0 ** np.array(v) * [v[0]] * 3)


@case((V,))
def matrix_times_list(v):
    return v @ [[v[0], 1.0], [2.0, v[1]], [0.5, v[2]]] @ (1.0, v[0])


@case((V,))
def list_grown_by_an_array(v):
    items = [v[0], 2.0, v[1]]
    items += v * v
    return np.prod(items)


@case((V,))
def functions_of_lists(v):
    return np.sum(np.hypot([v[0], 1.0], (2.0, v[1])) + np.exp([v[0], v[1]]) + np.arctan2(v[2], [1.0, v[0]]))


@case((V,))
def numbers_that_are_indexed(v):
    s = np.sum(v * v)
    return s[()] * np.sum(s[None] ** 2) + np.sum(s[..., None] * v)


@case((V,))
def real_if_close(v):
    close, far = np.real_if_close(v * v + 0j), np.real_if_close(v + 1j)
    return np.sum(close * np.abs(far) ** 2) + np.sum(np.real_if_close(v) ** 3)


# -- heaps and sorted lists ----------------------------------------------------------------------------------


@case((1.7,))
def heap_of_numbers(x):
    heap, found = [], 0.0
    for v in [x * x, 3 * x, x + 1, 0.5, x]:
        heapq.heappush(heap, v)
    for _ in range(4):
        found = found * x + heapq.heappop(heap)
    return found


@case((1.7,))
def heap_of_a_list(x):
    heap = [x * x, 3 * x, x + 1, 0.5, x]
    heapq.heapify(heap)
    least = heapq.heapreplace(heap, 2 * x**2) * heapq.heappushpop(heap, x**3)
    return least * heap[0] + heap[-1] * x


@case((1.7,))
def shortest_path(x):
    graph = {0: [(1, x), (2, 4 * x)], 1: [(2, x * x), (3, 6.0)], 2: [(3, x)], 3: []}
    distance, queue = {0: 0.0}, [(0.0, 0)]
    while queue:
        here, place = heapq.heappop(queue)
        for other, length in graph[place]:
            if here + length < distance.get(other, 1e9):
                distance[other] = here + length
                heapq.heappush(queue, (here + length, other))
    return distance[3] ** 2


@case((1.7,))
def some_of_the_smallest(x):
    smallest = heapq.nsmallest(3, [x * x, 3 * x, x + 1, x], key=lambda t: -t)
    return sum([i * v for i, v in enumerate(smallest)]) * heapq.nlargest(2, [x, x**2])[1]


@case((1.7,))
def merged(x):
    rows = heapq.merge([x, 3 * x], (v + x for v in [1.0, 5.0]), (0.1, 8 * x))
    back = list(heapq.merge([3 * x, x], [2 * x], reverse=True))
    return sum([i * v * x for i, v in enumerate(rows)]) + back[1] ** 2


@case((1.7,))
def kept_in_order(x):
    xs = [x, 2 * x, 4 * x]
    bisect.insort(xs, 3.1 * x)
    bisect.insort_left(xs, 0.1)
    return sum([i * v for i, v in enumerate(xs)]) * x * bisect.bisect(xs, x)


# -- dispatch by the class of an argument --------------------------------------------------------------------


@functools.singledispatch
def area(shape, k):
    return shape * shape * k


@area.register
def _(shape: list, k):
    return shape[0] * shape[1] * k


@area.register(tuple)
def _(shape, k=2.0):
    return shape[0] ** k


class Measure:
    def __init__(self, k):
        self.k = k

    @functools.singledispatchmethod
    def area(self, shape):
        return shape * shape * self.k

    @area.register
    def _(self, shape: list):
        return shape[0] * self.k**2


@case((1.7,))
def dispatched(x):
    measure = Measure(x)
    found = area(x, x) + area([x, 2 * x], 3.0) + area((x,), k=x) + area((x,))
    return found + measure.area(x) * measure.area([x])


# -- classes of lists, dicts, deques, sets -------------------------------------------------------------------


class Stack(list):
    def push(self, v):
        self.append(v)
        return self

    def peek(self):
        return self[-1]

    def total(self):
        found = 0.0
        for v in self:
            found += v
        return found


class Doubling(list):
    def append(self, v):
        super().append(2 * v)


class Table(dict):
    unit = 3.0

    def __init__(self, **entries):
        super().__init__(**entries)
        self.name = "table"

    def scaled(self, key):
        return self[key] * self.unit


class Ring(deque):
    pass


class Ordered(OrderedDict):
    pass


class Names(set):
    pass


@case((1.7,))
def stack_made_inside(x):
    stack = Stack()
    stack.append(x)
    return stack.pop() ** 2 + Stack([x]).peek()


@case((1.7,))
def stack_of_all_methods(x):
    stack = Stack([x, 2 * x]).push(x * x).push(3.0)
    stack[0] = x**3
    stack.insert(1, 4 * x)
    stack.extend(v * x for v in [1.0, x])
    del stack[2]
    stack.reverse()
    stack.sort()
    part = stack[1:3]
    part.append(1.0)
    return stack.total() * stack.peek() * part[0] + sum(stack) * stack[0] + len(stack) * max(stack)


@case((1.7,))
def stack_changed_by_a_helper(x):
    def helper(s):
        s.append(x**2)
        return s[0]

    stack = Stack(v for v in [x, 2.0])
    other = copy.copy(stack)
    other.append(x)
    return helper(stack) * stack[2] + other[2] * len(stack)


@case((1.7,))
def list_with_a_method_of_its_own(x):
    doubling = Doubling()
    doubling.append(x)
    doubling.append(x * x)
    return doubling[0] * doubling[1]


@case((1.7,))
def table_made_inside(x):
    table = Table(a=x * x)
    table["b"] = x
    table.update(c=2 * x)
    taken = table.pop("b")
    by_place = sum([q * w for q, (_, w) in enumerate(table.items())])
    return table.scaled("a") * taken * table["c"] + sum(table.values()) + by_place


@case((1.7,))
def other_classes_of_containers(x):
    ring, ordered, names = Ring([x, 1.0]), Ordered(a=x), Names()
    ring.appendleft(x * x)
    ring.rotate(1)
    ordered["b"] = x * x
    ordered.move_to_end("a")
    names.add(3)
    return ring[0] * ring.pop() * ring[-1] + list(ordered.values())[0] * x * len(names)


@case((1.7,))
def counters(x):
    one, other = Counter(a=x, b=2 * x), Counter({"a": x * x, "c": 1.0})
    both = one + other
    one["z"] += x
    one.update({"b": x})
    one.subtract(a=0.1 * x)
    less, most = one - Counter(a=0.2 * x), one | other
    found = both["a"] * both["b"] * one["z"] + one["b"] * one["a"] + both.total() * (1 + one["nothing"])
    return found + less["a"] * most["a"] + (one & other)["a"] + sum(one.values()) * x


@case((1.7,))
def counted_weights(x):
    weights = Counter({k: v * x for k, v in Counter("abca").items()})
    for key, v in [("a", x), ("d", x * x), ("a", 2 * x)]:
        weights[key] += v
    return weights.most_common(1)[0][1] * x * weights.most_common()[-1][1]


# -- random draws --------------------------------------------------------------------------------------------


@case((0.7,))
def draws_of_all_kinds(x):
    found = 1.0
    for rng in (np.random.default_rng(3), np.random.RandomState(3)):
        found += rng.normal(x, x * x) * rng.laplace(x, 2.0) + rng.logistic(x, x) * rng.gumbel(1.0, x)
        found += rng.uniform(x, 2 + x) * rng.exponential(x) * rng.lognormal(x, 0.5 * x) + rng.rayleigh(x)
        found += rng.normal() * x
    return found


@case((0.7,))
def draws_of_arrays(x):
    found = 0.0
    for rng in (np.random.default_rng(3), np.random.RandomState(3)):
        normal = rng.normal(np.array([x, x**2, 1.0]), 2 * x + 1, (2, 3))
        uniform = rng.uniform([x, x**2, 1.0], 2 * x + 1, size=(2, 3))
        found += np.sum(W * normal) + np.sum(W * uniform)
    return found


@case((0.7,))
def draws_of_arrays_by_scale(x):
    found = 0.0
    for rng in (np.random.default_rng(3), np.random.RandomState(3)):
        laplace = rng.laplace(np.array([[x], [1.0]]), np.array([x + 1, x * x, 2.0]))
        exponential = rng.exponential(scale=x * x, size=(2, 3))
        found += np.sum(W * laplace) + np.sum(W * exponential) * rng.standard_normal()
    return found


@case((0.7,))
def draws_of_python(x):
    rng = random.Random(3)
    found = rng.gauss(x, x * x) * rng.normalvariate(x, 2.0) + rng.uniform(x, 2 * x + 1)
    return found * rng.expovariate(x) + rng.lognormvariate(x, 0.5 * x) * rng.random()
