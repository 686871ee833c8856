"""Corpus: functions of Python that hand items on one by one, and what is done with their iterators."""

import itertools
import math
import statistics

import numpy as np
from corpus.harness import case

A = [1.5, -0.7, 2.3]
B = [0.4, 1.9, -1.1]
V = np.array([0.5, -1.5, 2.0])
M = np.array([[0.5, -1.5], [2.0, 0.25]])


@case((A, B), (V, A))
def zipped_as_a_value(a, b):
    total = 0.0
    for pair in zip(a, b):
        total += pair[0] * pair[1] ** 2
    return total


@case((A, B))
def zip_read_in_two_goes(a, b):
    pairs = zip(a, b)
    first = next(pairs)
    return first[0] * 5 + sum([x * y * y for x, y in list(pairs)])


@case((A,))
def iterator_is_read_once(a):
    squares = map(lambda v: v * v, a)
    return sum(squares) + 7.0 * sum(squares)


@case((A, 3.0))
def loop_left_early_and_taken_up(a, d):
    rest = iter(a)
    for v in rest:
        if v > 0:
            break
    total = 0.0
    for v in rest:
        total += v * v
    return total + next(rest, d) * total


@case((A,))
def pairs_from_one_iterator(a):
    it = iter(a + a)
    total = 0.0
    for x, y in zip(it, it):
        total += x * y
    return total


@case((A, 2.0))
def next_with_default(a, d):
    it = iter(a[:1])
    return next(it) * next(it, d) ** 2


@case((A,), (V,))
def enumerated_as_a_value(a):
    total = 0.0
    for pair in enumerate(a, 2):
        total += pair[0] * pair[1] ** 2
    return total


@case((A,), (V,))
def reversed_as_a_value(a):
    total = 0.0
    for v in map(lambda t: t * t, reversed(a)):
        total = total * 2 + v
    return total


@case((A,))
def unpacked_iterator(a):
    x, y, z = map(lambda t: t * t, a)
    return x * y + z


@case((M,))
def rows_through_zip(m):
    return sum([np.sum(r * s) * r[0] for r, s in list(zip(m, m[::-1]))])


@case((A, B))
def chained(a, b):
    return sum([x**3 for x in itertools.chain(a, b, a)])


@case(([A, B],))
def chained_from_iterable(rows):
    return sum([x**3 for x in itertools.chain.from_iterable(rows)])


@case((A, B))
def product_of_two(a, b):
    return sum([x * y * y for x, y in itertools.product(a, b)])


@case((A,))
def product_repeated(a):
    return sum([x * y * y for x, y in itertools.product(a, repeat=2)])


@case((A,))
def combinations_and_permutations(a):
    total = sum([x * y for x, y in itertools.combinations(a, 2)])
    total += sum([x * y * y for x, y in itertools.permutations(a, 2)])
    return total + sum([x * y for x, y in itertools.combinations_with_replacement(a, 2)])


@case((A,))
def pairwise_differences(a):
    return sum([(x - y) ** 2 for x, y in itertools.pairwise(a)])


@case((A,))
def slice_of_a_cycle(a):
    return sum(itertools.islice(itertools.cycle(a), 7)) ** 2


@case((2.0, A))
def repeated_without_end(x, a):
    return sum([p * q for p, q in zip(itertools.repeat(x), a)]) + sum(itertools.repeat(x, 3)) ** 2


@case((A, B))
def zip_longest_with_fill(a, b):
    return sum([p * q for p, q in itertools.zip_longest(a, b[:2], fillvalue=a[0])])


@case((A,))
def takewhile_and_dropwhile(a):
    return sum(itertools.takewhile(lambda x: x > 0, a)) + 3.0 * sum(itertools.dropwhile(lambda x: x > 0, a))


@case((A,))
def filters(a):
    return sum(filter(lambda x: x > 0, a)) ** 2 + sum(itertools.filterfalse(lambda x: x > 0, a)) ** 3


@case((A,))
def compressed(a):
    return sum(itertools.compress(a, [1, 0, 1])) ** 2


@case((A,))
def tee_with_an_offset(a):
    p, q = itertools.tee(a)
    next(q)
    return sum([x * y for x, y in zip(p, q)])


@case((A,))
def accumulated(a):
    return sum([x * x for x in itertools.accumulate(a)])


@case((A, 2.0))
def accumulated_by_a_function(a, k):
    return sum([x * x for x in itertools.accumulate(a, lambda s, x: s * k + x, initial=k)])


@case((A,))
def consumers_of_iterators(a):
    largest = max(map(lambda x: x * x, a)) + min(iter(a))
    return largest + math.fsum(map(math.sin, a)) + math.prod(map(abs, a)) + statistics.mean(map(math.exp, a))


@case((A, 2.0))
def default_of_max(a, d):
    return max(filter(lambda v: v > 100, a), default=d) ** 2 + max(a, default=d)


@case((A,))
def sorted_by_key(a):
    return sorted(a, key=lambda x: -x)[0] * 3 + sorted(map(abs, a), reverse=True)[1] ** 2


@case((A, B))
def sum_of_lists(a, b):
    return sum([x * x for x in sum([a, b], [])])


@case((A,))
def questions_about_iterators(a):
    factor = 2.0 if any(map(lambda x: x > 2, a)) and not all(map(lambda x: x > 0, a)) else 1.0
    return factor * sum(a) * len(tuple(map(lambda x: x, a)))


@case(({"a": 1.5, "b": 2.0},))
def views_of_a_dict(d):
    total = sum(d.values()) ** 2 + max(d.values())
    for name, value in d.items():
        total += value * value * len(name)
    x, y = d.values()
    return total * x * y + sum([v**3 for v in d.values()])


@case(({"a": 1.5, "b": 2.0}, 3.0))
def dict_get(d, z):
    return d.get("a", z) * d.get("c", z) + len(d.keys()) + d.copy()["b"] ** 2


@case((A, B))
def dict_constructors(a, b):
    d = dict(zip(["x", "y", "z"], a))
    e = dict(d, x=b[0])
    f = dict(p=b[1], q=a[0])
    g = dict([("x", a[1]), ("x", b[2])])
    return d["x"] * d["y"] + e["x"] * e["z"] + f["p"] * f["q"] + g["x"] ** 2


@case(({"a": 1.5, "b": 2.0},))
def loop_over_keys(d):
    total = 0.0
    for key in d:
        total += d[key] ** 2
    return total


@case((A,), ((2.0, -0.5),))
def fromiter(a):
    return np.sum(np.fromiter(map(lambda x: x * x, a), float) ** 2)


@case(([0.3, -1.2, 2.0, 0.9],))
def statistics_of_a_list(a):
    return statistics.stdev(a) * statistics.median(a) + statistics.pvariance(a) / statistics.fmean(a)


@case(({"a": 1.5, "b": 2.0},))
def reversed_views(d):
    total = 0.0
    for v in reversed(d.values()):
        total = total * 2.0 + v * v
    return total


@case((A,))
def next_in_a_while_loop(a):
    it, total = iter(a), 1.0
    while total < 3.0:
        total += next(it, 5.0) ** 2
    return total
