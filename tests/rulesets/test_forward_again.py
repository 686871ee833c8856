"""The forward rules of containers and iteration are themselves differentiated, for second derivatives."""

import functools
import itertools
import operator

import numpy as np
import pytest
from forward_oracle import NO, rule_for

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
