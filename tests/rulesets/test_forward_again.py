"""The forward rules of containers and iteration are themselves differentiated, for second derivatives."""

import functools
import itertools
import operator

import numpy as np
import pytest
from forward_oracle import NO, rule_for
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import rulelab as rl
from rulelab.ad.operator_arguments import PULLBACKS

from ..differences import gradient_by_differences


def square(x):
    return x * x


CONFIG = PULLBACKS.push.config
append, extend, pop = (
    rule_for(*call).function
    for call in ((list.append, ([], 1.0)), (list.extend, ([], [])), (list.pop, ([],)))
)
make_list, make_dict = rule_for(list, ([],)).function, rule_for(dict, ()).function
update, setdefault = (
    rule_for(dict.update, ({}, {})).function,
    rule_for(dict.setdefault, ({}, "a", 1.0)).function,
)
item, joined = rule_for(operator.getitem, ([], 0)).function, rule_for(operator.add, ([], [])).function
zipped, numbered = rule_for(zip, ([],)).function, rule_for(enumerate, ([],)).function
mapped, reduced = rule_for(map, (square, [])).function, rule_for(functools.reduce, (square, [])).function
totals, sliced = rule_for(itertools.accumulate, ([],)).function, rule_for(itertools.islice, ([], 2)).function
summed, largest, ordered = (rule_for(f, ([],)).function for f in (sum, max, sorted))


def appended(x, d):
    xs, dots = [], []
    append((NO, dots, d), xs, x)
    append((NO, dots, d * x), xs, x)
    append((NO, dots, NO), xs, x)
    pop((NO, dots), xs)
    return xs[0] * dots[1]


def extended(x, d):
    y, y_dot = make_list(CONFIG, (NO, [d, x * d]), [x, x])
    extend(CONFIG, (NO, y_dot, [d]), y, [x])
    return y_dot[1] * y[2] * y_dot[2]


def side_by_side(x, d):
    rows, dots = zipped(CONFIG, (NO, [d, x * d], NO, [d, d]), [x, x], [1, 2], [x, 2.0])
    total = 0.0
    for (a, k, b), (a_dot, _, b_dot) in zip(rows, dots):
        total = total + k * a * b_dot + a_dot * b
    return total


def counted(x, d):
    rows, dots = numbered(CONFIG, (NO, [d, x * d]), [x, x])
    total = 0.0
    for (k, a), (_, a_dot) in zip(rows, dots):
        total = total + k * a * a_dot
    return total


def of_dicts(x, d):
    y, y_dot = make_dict(CONFIG, (NO, d), a=x)
    update(CONFIG, (NO, y_dot, {"b": x * d}), y, {"b": x})
    setdefault((NO, y_dot, NO, d), y, "c", x)
    return y_dot["b"] * y["a"] * y_dot["c"]


def of_iterators(x, d):
    it, it_dot = sliced(CONFIG, (NO, iter([d, x * d, d]), NO), iter([x, x, x]), 2)
    y, y_dot = make_list(CONFIG, (NO, it_dot), it)
    return y[0] * y_dot[1]


def of_a_map(x, d):
    it, it_dot = mapped(CONFIG, (NO, NO, [d, x * d]), square, [x, x])
    y, y_dot = make_list(CONFIG, (NO, it_dot), it)
    return y_dot[1] * y[0]


def of_running_totals(x, d):
    rows, dots = totals(CONFIG, (NO, [d, x * d]), [x, x])
    total = 0.0
    for a, a_dot in zip(rows, dots):
        total = total + a * a_dot
    return total


def of_readers(x, d):
    y, y_dot = summed(CONFIG, (NO, [d, x * d]), [x, x])
    z, z_dot = largest(CONFIG, (NO, d, x * d), x, 2.0 * x)
    w, w_dot = ordered(CONFIG, (NO, [d, x * d]), [x, -x])
    v, v_dot = reduced(CONFIG, (NO, NO, [d, x * d]), operator.add, [x, x])
    return y * y_dot + z * z_dot + w[0] * w_dot[0] + v * v_dot


def of_items(x, d):
    y, y_dot = joined((NO, [d], [x * d]), [x], [x])
    z, z_dot = item((NO, y_dot, NO), y, 1)
    return z_dot * z


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "f",
    [
        appended, extended, side_by_side, counted, of_dicts, of_iterators, of_a_map, of_running_totals,
        of_readers, of_items,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_a_tangent_is_differentiated_again(f):
    """The gradient of a function of tangents, by reverse mode through the rules, is that of differences."""
    x, d = 1.5, 0.7
    wanted = gradient_by_differences(lambda x: f(x, d), x), gradient_by_differences(lambda d: f(x, d), d)
    np.testing.assert_allclose(rl.gradient(f, x, d), wanted, rtol=1e-7)


VIEWS = {
    "einsum of the diagonal": lambda y: np.einsum("ii->i", y),
    "einsum of other axes": lambda y: np.einsum("ij->ji", y)[1],
    "einsum of lists": lambda y: np.einsum(y, [0, 1], [1, 0])[1],
    "T": lambda y: y.T[1],
    "mT": lambda y: y.mT[1],
    "transpose": lambda y: np.transpose(y)[1],
    "swapaxes": lambda y: np.swapaxes(y, 0, 1)[2],
    "moveaxis": lambda y: np.moveaxis(y, 0, 1)[2],
    "reshape": lambda y: np.reshape(y, -1)[::4],
    "ravel": lambda y: np.ravel(y)[1::3],
    "flip": lambda y: np.flip(y, 1)[0],
    "rot90": lambda y: np.rot90(y)[0],
    "split": lambda y: np.split(y, 3)[1][0],
    "array_split": lambda y: np.array_split(y, 2, axis=1)[1][:, 0],
    "squeeze": lambda y: np.squeeze(y[None])[1],
    "expand_dims": lambda y: np.expand_dims(y, 0)[0, 1],
    "atleast_3d": lambda y: np.atleast_3d(y)[0, :, 0],
    "asarray": lambda y: np.asarray(y)[2],
    "real": lambda y: np.real(y)[2],
    "sliding_window_view": lambda y: sliding_window_view(y[0], 3, writeable=True)[0],
    "as_strided": lambda y: as_strided(y, (3,), (16,)),
    "a row": lambda y: list(y)[1],
    "the start of an empty sum": lambda y: sum([], y[1]),
    "the initial value of a reduction": lambda y: functools.reduce(operator.add, [], y[1]),
    "the first of running totals": lambda y: next(itertools.accumulate([y[1], y[2]])),
    "a default": lambda y: next(iter([]), y[1]),
    "no differences": lambda y: np.diff(y, n=0)[1],
    "slices": lambda y: y[::-1][:, ::-1][0],
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", VIEWS)
def test_tangents_of_views_are_views_at_each_order(name):
    """What is written into a view shows in the array that it is of, in the tangent of its tangent too."""

    def f(x):
        y = np.outer(x, x) + 1.0
        part = VIEWS[name](y)
        part[:] = x**3
        part *= x
        return np.sum(y**2 * np.arange(9.0).reshape(3, 3))

    x, v = np.array([0.7, 1.3, -0.4]), np.array([1.0, -0.5, 2.0])
    np.testing.assert_allclose(rl.pushforward(f, x)(v), gradient_by_differences(f, x) @ v, rtol=1e-6)
    slopes = [gradient_by_differences(lambda x, e=e: rl.pushforward(f, x)(e), x) for e in np.eye(3)]
    again = rl.pushforward(lambda x: rl.pushforward(f, x)(v), x)(v)
    np.testing.assert_allclose(again, v @ np.array(slopes) @ v, rtol=1e-6)
    np.testing.assert_allclose(rl.hessian(lambda x: rl.forwarddiff(f, x), x), slopes, rtol=1e-6, atol=1e-7)
