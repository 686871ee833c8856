"""Iterators over lists and dicts that change while they are read: the right derivative, or a typed error."""

import functools
import heapq
from collections import Counter, deque

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad.forward import jvp
from rulelab.errors import MutationError, NotDifferentiableError

AT = 1.3, 0.7


def merged_in_loop(x, y):
    xs, total = [y, x], 0.0
    for v in heapq.merge(xs, [y * y, x * x]):
        total += v * v * x
        if len(xs) < 3:
            xs.append(x * x * x)
    return total


def merged_in_a_generator(x, y):
    xs, total = [y, x], 0.0
    for v in (w * x for w in heapq.merge(xs, [y])):
        total += v * v
        if len(xs) < 3:
            xs.append(x * x * x)
    return total


def merged_and_reduced(x, y):
    xs = [y, x]

    def combined(a, b):
        if len(xs) < 3:
            xs.append(x * x * x)
        return a * b + x

    return functools.reduce(combined, heapq.merge(xs, [y]))


def merged_with_key(x, y):
    xs = [y, x]

    def key(v):
        if len(xs) < 3:
            xs.append(x * x * x)
        return v

    return max(heapq.merge(xs, [y]), key=key)


def merged_later(x, y):
    xs = [y, x]
    merged = heapq.merge(xs, [y * y, x * x])
    least = next(merged)
    xs.append(x * x * x)
    return least * sum(merged)


def merged_at_the_end(x, y):
    xs, total = [y, x], 0.0
    merged = heapq.merge(xs, [y])
    for v in merged:
        total = total * y + v
        if v == x:
            xs.append(x * x * x)
    return total


@pytest.mark.parametrize(
    "f",
    [
        merged_in_loop, merged_in_a_generator, merged_and_reduced, merged_with_key, merged_later,
        merged_at_the_end,
    ],
)  # fmt: skip
def test_heapq_merge_notices_that_a_list_changes(f):
    with pytest.raises(MutationError):
        rl.gradient(f, *AT)
    with pytest.raises(MutationError):
        jvp(f, AT, (1.0, 0.0))


def collected_while_merged(x, y):
    out, merged = [], heapq.merge([y, x], {"a": x * y}.values(), (x * x,), reverse=False)
    for v in merged:
        out.append(v * v * x)
    return sum(out)


def test_heapq_merge_beside_a_list_that_grows():
    wanted = 3 * AT[0] ** 2 + AT[1] ** 2 + 3 * AT[0] ** 2 * AT[1] ** 2 + 5 * AT[0] ** 4
    assert np.isclose(rl.gradient(collected_while_merged, *AT)[0], wanted)
    assert np.isclose(jvp(collected_while_merged, AT, (1.0, 0.0))[1], wanted)


def replaced_in_iter(x, y):
    xs = [x, y]
    read = iter(xs)
    first = next(read)
    xs[1] = x
    return first * next(read)


def replaced_in_reversed(x, y):
    xs = [x, y]
    read, total = reversed(xs), 0.0
    xs[1] = x
    for v in read:
        total += v * v
    return total


def replaced_in_zip(x, y):
    xs = [x, y]
    read = zip(xs, [x, y])
    first, _ = next(read)
    xs[-1] = x
    return first * sum(v * w for v, w in read)


def replaced_by_two_changes(x, y):
    xs = [x, y]
    read = iter(xs)
    first = next(read)
    xs.pop()
    xs.append(x)
    return first * next(read)


def replaced_in_deque(x, y):
    xs = deque([x, y])
    read = map(lambda v: v * v, xs)
    xs[1] = x
    return sum(read)


def replaced_in_values(x, y):
    d = {"a": x, "b": y}
    read = iter(d.values())
    first = next(read)
    d["b"] = x
    return first * next(read)


@pytest.mark.parametrize(
    "f",
    [
        replaced_in_iter, replaced_in_reversed, replaced_in_zip, replaced_by_two_changes, replaced_in_deque,
        replaced_in_values,
    ],
)  # fmt: skip
def test_the_same_value_from_another_variable(f):
    x = 1.3
    with pytest.raises(MutationError):
        rl.gradient(f, x, x)


def test_items_already_read_may_be_replaced():
    def f(x, y):
        xs, total = [x, y, x * y], 0.0
        for i, (a, b) in enumerate(zip(xs, [y, x, y])):
            total += a * b
            xs[i] = a * a
        return total + sum(xs)

    assert np.allclose(rl.gradient(f, *AT), [y_bar(f, k) for k in range(2)], atol=1e-6)


def y_bar(f, number, h=1e-6):
    low, high = list(AT), list(AT)
    low[number] -= h
    high[number] += h
    return (f(*high) - f(*low)) / (2 * h)


def values_later(x, y):
    d = {"a": x, "b": y}
    seen = d.values()
    d["a"] = y * y
    return sum(v * v for v in seen)


def items_later(x, y):
    d = Counter(a=x, b=y)
    seen = d.items()
    d["a"] = y * y
    total = 0.0
    for _, v in seen:
        total += v * v
    return total


@pytest.mark.parametrize("f", [values_later, items_later])
def test_second_derivatives_of_a_view_of_a_dict_that_has_changed(f):
    y, dots = AT[1], (1.0, 0.5)
    wanted = 0.0, (12 * y**2 + 2) * dots[1]

    def slope(*xs):
        found = rl.gradient(f, *xs)
        return found[0] * dots[0] + found[1] * dots[1]

    def gradient_of_f(*xs):
        return rl.gradient(f, *xs)

    assert np.allclose(rl.gradient(slope, *AT), wanted)
    assert np.allclose(rl.pushforward(gradient_of_f, *AT)(*dots), wanted)


def test_a_cached_function_that_makes_functions():
    def is_kept(x, y):
        @functools.cache
        def f(a):
            return lambda b: a * b

        g = f(x)
        return g(y) * (1.0 if g is f(x) else 0.0)

    with pytest.raises(NotDifferentiableError, match="The cached function f"):
        rl.gradient(is_kept, *AT)
