"""Corpus: items and slices of arrays, lists, tuples and dicts."""

import numpy as np
from corpus.harness import case

A = np.array([0.5, -1.5, 2.0, 3.0, 1.25])
M = np.arange(12.0).reshape(3, 4) / 4.0 - 1.0


@case((A,))
def three_items(x):
    return x[0] + x[1] * x[2]


@case((A,))
def same_item_twice(x):
    return x[2] * x[2] * x[2] + x[2]


@case((A,))
def negative_indices(x):
    return x[-1] * x[-2] + x[-5]


@case((A,))
def slices(x):
    return (x[1:3] * x[2:4]).sum() + x[:2].sum() * x[-2:].sum()


@case((A,))
def slices_with_step(x):
    return (x[::2] ** 2).sum() + (x[::-1] * x).sum() + x[4:0:-2].sum()


@case((M,))
def item_of_matrix(m):
    return m[0, 1] * m[2, 3] + m[1][2] ** 2 + m[-1, -1]


@case((M,))
def rows_and_columns(m):
    return (m[1] * m[2]).sum() + (m[:, 0] * m[:, 3]).sum()


@case((M,))
def blocks(m):
    return (m[:2, 1:3] * m[1:, 2:]).sum() + m[..., 0].sum() ** 2


@case((A,))
def new_axis(x):
    return (x[:, None] * x[None, :] ** 2).sum()


@case((A,))
def fancy_index_repeated(x):
    return (x[[0, 0, 1, 3]] ** 2).sum() + x[np.array([2, 2])].prod()


@case((A,))
def boolean_mask(x):
    return (x[x > 0] ** 2).sum() + x[x < 0].sum() * 3.0


@case((M,))
def fancy_pairs(m):
    return (m[[0, 1, 1], [2, 3, 3]] ** 2).sum() + (m[[0, 2]] * m[[2, 2]]).sum()


@case((A, 2), (A, -1), wrt=(0,), inert=(1,))
def index_argument(x, i):
    return x[i] * x[i] + x[0]


@case((np.array([1.0, 5.0, 2.0]),))
def index_found_by_argmax(x):
    k = np.argmax(x)
    return x[k] * x[0]


@case((A,))
def item_and_whole(x):
    return x[0] * x.sum() + x[1]


@case((A,))
def slice_of_slice(x):
    y = x[1:]
    z = y[1:3]
    return z[0] * y[0] * z[1]


@case(([1.0, 2.0, 3.0],), ([4.0, 5.0, 6.0],))
def list_items(xs):
    return xs[0] * xs[-1] + xs[1]


@case(([1.0, 2.0, 3.0],))
def list_slices(xs):
    front = xs[:2]
    return front[0] * front[1] + sum(xs[1:])


@case(((1.0, 2.0), 3.0))
def tuple_items(pair, x):
    return pair[0] * x + pair[1] ** 2


@case(({"w": 2.0, "b": 3.0}, 1.5))
def dict_items(params, x):
    return params["w"] * x * x + params["b"]


@case(({"w": np.array([1.0, 2.0]), "b": 0.5}, np.array([3.0, 4.0])))
def dict_of_arrays(params, x):
    return (params["w"] * x).sum() ** 2 + params["b"]


@case(([np.array([1.0, 2.0]), np.array([3.0])],))
def list_of_arrays(arrays):
    return arrays[0].sum() * arrays[1][0] + arrays[0][1]


@case(([[1.0, 2.0], [3.0, 4.0]],))
def nested_list_items(rows):
    return rows[0][1] * rows[1][0] + rows[1][1] ** 2


@case((A,))
def indices_computed(x):
    s = 0.0
    n = len(x)
    for i in range(n):
        s += x[(2 * i + 1) % n] * x[n - 1 - i]
    return s


@case(([0.5, -1.5, 2.0], (2, 0)), ([0.5, -1.5, 2.0], [-1, 1]), inert=(1,))
def list_indexed_by_items_of_another(values, order):
    total = 1.0
    for i in order:
        total = total * values[i] + values[i]
    return total
