"""Corpus: lists built by append, comprehensions, tuples and dicts made inside."""

import numpy as np
from corpus.harness import case

A = np.array([0.5, -1.5, 2.0, 3.0])


@case((1.5,), (-0.5,))
def append_then_sum(x):
    out = []
    for i in range(4):
        out.append(x**i)
    return sum(out)


@case((1.5,))
def append_then_array(x):
    out = []
    for i in range(4):
        out.append(x * i)
    return (np.array(out) ** 2).sum()


@case((1.5,))
def append_then_index(x):
    out = [x]
    for i in range(4):
        out.append(out[-1] * x + out[0])
    return out[-1] + out[2]


@case((A,))
def append_conditionally(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * v)
    return sum(kept) * len(kept)


@case((1.5,))
def append_in_nested_loops(x):
    rows = []
    for i in range(2):
        row = []
        for j in range(3):
            row.append(x ** (i + j))
        rows.append(row)
    return rows[0][2] * rows[1][1] + np.array(rows).sum()


@case((1.5,))
def list_comprehension(x):
    return sum([x**i for i in range(5)])


@case((A,))
def comprehension_over_array(x):
    return sum([v * v for v in x]) + np.array([2.0 * v for v in x]).prod()


@case((A,))
def comprehension_with_condition(x):
    return sum([v**2 for v in x if v > 0])


@case((A,))
def nested_comprehension(x):
    return sum([a * b for a in x for b in x if a != b])


@case((A,))
def comprehension_of_comprehensions(x):
    table = [[a * b for b in x] for a in x]
    return table[0][1] + table[2][2] * table[3][0]


@case((A, A * 0.5))
def comprehension_over_zip(x, y):
    return np.sum(np.array([a * b for a, b in zip(x, y)]) ** 2)


@case((2.0, 3.0))
def comprehension_reads_names(x, y):
    k = x * y
    return sum([k * i + x for i in range(3)])


@case((1.5, 2.5))
def tuple_inside(x, y):
    pair = (x * y, x + y)
    return pair[0] * pair[1]


@case((1.5, 2.5))
def dict_inside(x, y):
    d = {"a": x * y, "b": x}
    return d["a"] * d["b"] + d["b"]


@case((1.5, 2.5))
def list_concatenation(x, y):
    both = [x, y] + [x * y]
    return both[0] * both[1] * both[2] + sum(both)


@case((1.5,))
def list_repeated(x):
    out = [x] * 3
    return out[0] * out[1] + out[2]


@case((1.5, 2.0))
def same_object_twice(x, y):
    row = [x, y]
    rows = [row, row]
    return rows[0][0] * rows[1][1] + rows[1][0]


@case((1.5,))
def lists_carried_through_branches(x):
    out = []
    if x > 1:
        out.append(x * x)
    else:
        out.append(-x)
    out.append(x)
    return out[0] * out[1]


@case((A,))
def arrays_in_list(x):
    parts = [x * k for k in range(3)]
    return sum(p.sum() for p in parts) + parts[1][0] * parts[2][1]


@case((A,))
def generator_in_sum(x):
    return sum(v * v for v in x)


@case((A,))
def stack_of_comprehension(x):
    return (np.stack([x**k for k in range(1, 4)]) ** 2).sum()


@case((1.5, 0.5), ({"a": 1.0, "b": 2.0}, 0.5), wrt=(1,))
def unread_structure(p, x):
    return x * x


@case(([1.0, 2.0, 3.0],), wrt=(0,))
def partly_read_list(xs):
    return xs[0] * 2.0
