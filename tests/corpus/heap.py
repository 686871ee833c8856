"""Corpus: lists, dicts and objects made inside and changed by the function, its helpers and closures."""

import math
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from corpus.harness import case

A = np.array([0.5, -1.5, 2.0, 0.75])
FACTORS = (0.5, 2.0, -1.0)
LIST = ("list-writes",)
ALIASED = ("list-writes", "list-aliases")
HELPED = ("list-writes", "list-aliases", "helper-writes")
DICT = ("dict-writes",)
OBJECT = ("objects",)


# --------------------------------------------------------------------------------------------------
# lists: one write


@case((1.5,), (-0.5,), needs=LIST)
def item_assigned(x):
    items = [x, 2.0 * x]
    items[0] = x * x
    return items[0] * items[1]


@case((1.5,), needs=LIST)
def item_assigned_at_a_negative_index(x):
    items = [x, x, x]
    items[-1] = math.sin(x)
    return items[0] * items[2]


@case((1.5,), needs=LIST)
def item_augmented(x):
    items = [x, 2.0]
    items[0] += x * x
    items[1] *= items[0]
    items[0] -= items[1]
    return items[0] * items[1]


@case((1.5,), (-0.5,), needs=LIST)
def constant_list_filled(x):
    out = [0.0] * 4
    for i in range(4):
        out[i] = x**i
    return sum(out) + out[2] * out[3]


@case((1.5,), needs=LIST)
def popped_from_the_end(x):
    items = [x, x * x, x**3]
    last = items.pop()
    return last * items[-1] + len(items)


@case((1.5,), needs=LIST)
def popped_from_the_front(x):
    items = [x, x * x, x**3]
    first = items.pop(0)
    return first * items[0] + items[1]


@case((1.5,), needs=LIST)
def inserted(x):
    items = [x, x * x]
    items.insert(1, math.cos(x))
    items.insert(0, 3.0)
    return items[0] * items[2] + items[1] * items[3]


@case((1.5,), needs=LIST)
def extended(x):
    items = [x]
    items.extend([x * x, 2.0 * x])
    items.extend(items)
    return items[1] * items[5] + items[3]


@case((A,), needs=LIST)
def extended_by_an_array(v):
    items = [1.0]
    items.extend(v * v)
    return items[1] * items[4] + sum(items)


@case((1.5,), needs=LIST)
def reversed_in_place(x):
    items = [x, x * x, 2.0]
    items.reverse()
    return items[0] * items[1] + items[2] ** 3


@case((1.5, 0.5), (0.5, 1.5), needs=LIST)
def sorted_in_place(x, y):
    items = [x, y, 1.0]
    items.sort()
    return items[0] + 2.0 * items[1] * items[2]


@case((1.5,), needs=LIST)
def removed_by_value(x):
    items = [x, 4.0, x * x]
    items.remove(4.0)
    return items[0] * items[1]


@case((1.5,), needs=LIST)
def cleared_and_filled_again(x):
    items = [x, x * x]
    total = items[0] * items[1]
    items.clear()
    items.append(total)
    return items[0] * x


@case((1.5,), needs=LIST)
def slice_assigned(x):
    items = [x, x, x, x]
    items[1:3] = [x * x, 2.0]
    return items[0] * items[1] + items[2] * items[3]


@case((1.5,), needs=LIST)
def slice_assigned_of_another_length(x):
    items = [x, 1.0, 2.0]
    items[1:] = [x * x, x**3, math.sin(x)]
    items[:1] = []
    return items[0] * items[1] + items[2]


@case((1.5,), needs=LIST)
def every_second_item_assigned(x):
    items = [x] * 4
    items[::2] = [x * x, 3.0]
    return items[0] * items[1] + items[2] * items[3]


@case((1.5,), needs=("list-writes", "del"))
def item_and_slice_deleted(x):
    items = [1.0, x, x * x, x**3, 2.0]
    del items[0]
    del items[1:3]
    return items[0] * items[1]


@case((1.5, 2.0), needs=LIST)
def items_swapped(x, y):
    items = [x, y]
    items[0], items[1] = items[1], items[0]
    return items[0] + 3.0 * items[1] ** 2


# --------------------------------------------------------------------------------------------------
# lists: the order of reads and writes, loops


@case((1.5,), needs=LIST)
def item_read_before_and_after_its_overwriting(x):
    items = [x * x]
    before = items[0] * 3.0
    items[0] = items[0] * x
    between = math.sin(items[0])
    items[0] = between * items[0]
    return before * items[0] + between


@case((0.8,), needs=LIST)
def item_overwritten_in_a_loop(x):
    state = [x, 1.0]
    for k in range(4):
        state[0] = math.sin(state[0]) + state[1] * x
        state[1] = state[0] * 0.5 + k
    return state[0] * state[1]


@case((0.8,), needs=LIST)
def active_item_overwritten_by_a_constant(x):
    items = [x * x, x]
    kept = items[0]
    items[0] = 7.0
    return items[0] * items[1] + kept


@case((0.8,), (-0.8,), needs=LIST)
def item_assigned_on_one_path(x):
    items = [x, 2.0 * x]
    if x > 0:
        items[1] = x**3
    return items[0] * items[1]


@case((A,), needs=LIST)
def prefix_sums_in_place(v):
    items = list(v)
    for i in range(1, len(items)):
        items[i] += items[i - 1] * items[i - 1]
    return items[-1] * items[1]


@case((A,), needs=LIST)
def insertion_sort(v):
    items = [e * 1.0 for e in v]
    for i in range(1, len(items)):
        key = items[i]
        j = i - 1
        while j >= 0 and items[j] > key:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = key
    return items[0] + 2.0 * items[1] * items[2] - items[3] ** 2


@case((A,), needs=LIST)
def bubble_sort_by_swaps(v):
    items = [e for e in v]
    for i in range(len(items)):
        for j in range(len(items) - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return sum(k * e * e for k, e in enumerate(items))


@case((1.3, 0.4), needs=LIST)
def stack_machine(x, y):
    stack = []
    for word in ("x", "y", "add", "x", "mul", "y", "dup", "mul", "add"):
        if word == "x":
            stack.append(x)
        elif word == "y":
            stack.append(y)
        elif word == "dup":
            stack.append(stack[-1])
        elif word == "add":
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b)
        else:
            stack.append(stack.pop() * stack.pop())
    return stack.pop()


@case((0.9,), needs=LIST)
def queue_worked_off(x):
    queue, total = [x], 0.0
    while queue:
        head = queue.pop(0)
        total += head * head
        if len(queue) < 3 and total < 2.0:
            queue.append(head * 0.7)
            queue.append(math.sin(head))
    return total


@case((0.9,), needs=LIST)
def appended_while_iterated(x):
    items = [x, 2.0 * x]
    for e in items:
        if len(items) < 6:
            items.append(e * x)
    return items[-1] + items[3]


@case((0.9,), needs=LIST)
def overwritten_while_iterated(x):
    items = [x, 2.0, 3.0]
    total = 0.0
    for i, e in enumerate(items):
        total += e * e
        if i + 1 < len(items):
            items[i + 1] = e * x
    return total


@case((1.2,), needs=LIST)
def returns_between_writes(x):
    items = [x]
    for k in range(5):
        items[0] = items[0] * x
        if items[0] > 2.0:
            return items[0] + k
        items[0] += 0.1
    return -items[0]


@case((A,), needs=LIST)
def list_argument_copied_then_written(v):
    items = list(v)
    items[0] = items[1] * items[2]
    items.append(items[0] ** 2)
    return sum(items)


@case(([0.5, 1.5, -0.5],), needs=("list-writes", "list-methods"))
def copy_written_original_read(xs):
    mine = xs.copy()
    mine[0] = mine[1] * xs[0]
    other = xs[:]
    other[2] = mine[0]
    return mine[0] * other[2] + xs[2] * other[1]


# --------------------------------------------------------------------------------------------------
# lists: two names, lists in lists


@case((1.5,), needs=ALIASED)
def written_through_another_name(x):
    items = [x, x * x]
    other = items
    other[0] = math.sin(x)
    items.append(x)
    return items[0] * items[1] * other[2]


@case((1.5,), (-1.5,), needs=ALIASED)
def one_of_two_lists_written(x):
    a, b = [x], [2.0 * x]
    chosen = a if x > 0 else b
    chosen[0] = chosen[0] * x
    return a[0] + 3.0 * b[0]


@case((1.5,), needs=ALIASED)
def same_row_twice_in_a_matrix(x):
    rows = [[x, 1.0]] * 2
    rows[0][0] = x * x
    return rows[0][0] * rows[1][0] + rows[1][1]


@case((1.5, 0.5), needs=ALIASED)
def matrix_as_list_of_lists(x, y):
    m = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        for j in range(2):
            m[i][j] = x**i * y**j + i
    m[1][0] += m[0][1] * m[1][1]
    return m[0][0] * m[1][1] - m[0][1] * m[1][0]


@case((1.1, 0.3), needs=ALIASED)
def elimination_on_lists(x, y):
    m = [[2.0 + x, y, 1.0], [y, 3.0, x]]
    f = m[1][0] / m[0][0]
    for j in range(3):
        m[1][j] -= f * m[0][j]
    low = m[1][2] / m[1][1]
    return low * (m[0][2] - m[0][1] * low) / m[0][0]


@case((1.5,), needs=ALIASED)
def row_kept_by_name_and_in_the_matrix(x):
    row = [x]
    rows = [row, [2.0]]
    row.append(x * x)
    rows[0][0] = 3.0 * x
    rows[1] = row
    return rows[1][0] * rows[0][1] + row[0]


@case((1.5,), needs=ALIASED)
def one_list_in_two_containers(x):
    shared = [x]
    table = {"a": shared, "b": [shared, x]}
    table["b"][0].append(x * x)
    table["a"][0] = math.cos(x)
    return shared[0] * shared[1] + table["b"][1]


@case((1.5,), needs=ALIASED)
def list_inside_a_tuple(x):
    pair = ([x], 2.0)
    pair[0][0] = x * x
    pair[0].append(pair[1])
    return pair[0][0] * pair[0][1]


@case((0.7,), needs=ALIASED)
def two_lists_exchanged_in_a_loop(x):
    old, new = [x, 1.0], [0.0, 0.0]
    for _ in range(3):
        new[0] = old[0] * old[1]
        new[1] = old[0] + math.sin(old[1])
        old, new = new, old
    return old[0] * old[1] + new[0]


@case((1.2,), needs=ALIASED)
def augmented_assignment_of_a_list_is_seen_by_its_alias(x):
    items = [x]
    other = items
    items += [x * x]
    return other[1] * items[0] + len(other)


@case((1.5,), (-1.5,), needs=ALIASED)
def one_list_reached_in_many_ways(x):
    items = [x]
    (by_unpacking,) = (items,)
    by_unpacking.append(x * 2.0)
    by_condition = items if x > 0 else by_unpacking
    by_condition.append(x * x)
    for by_loop in [items, items]:
        by_loop.append(items[-1] * 0.5)
    by_or = items or []
    by_or[0] = math.sin(x)
    by_comprehension = [inner for inner in [items]][0]
    by_comprehension[1] = items[2] * x
    return items[0] * items[1] + items[3] * items[4]


@case((1.5,), needs=ALIASED)
def one_list_reached_by_zip_and_call(x):
    same = lambda given: given
    items = [x]
    for rows, k in zip([items, [2.0]], [1.0, 2.0]):
        rows.append(x * k)
    same(items).append(x**3)
    largest = max([items, [-9.0]])
    largest[0] = items[2] * x
    return items[0] * items[1]


@case((1.5,), needs=ALIASED)
def methods_held_by_name(x):
    items = [x]
    put = items.append
    put(x * x)
    list.append(items, items[1] * x)
    [put(x * k) for k in range(2)]
    return items[1] * items[2] + items[4]


@case((1.5,), needs=ALIASED)
def copies_are_not_aliases(x):
    items = [x, 2.0]
    sliced, listed, frozen, joined = items[:], list(items), tuple(items), items + []
    items[0] = x * x
    sliced[1] = items[0]
    listed.append(sliced[1])
    joined[0] = 3.0 * x
    return items[0] * sliced[0] + listed[2] * frozen[0] + joined[0] * listed[0]


@case((1.5,), needs=ALIASED)
def copies_are_shallow(x):
    rows = [[x], [2.0]]
    other = rows[:]
    other[0][0] = x * x
    other[1] = [x]
    return rows[0][0] * rows[1][0] + other[1][0]


@case((1.5,), needs=ALIASED)
def augmented_array_inside_a_list(x):
    parts = [np.array([x, 1.0])]
    kept = parts[0]
    parts[0] = parts[0] * x
    parts.append(kept)
    return np.sum(parts[0] * parts[1]) + kept[0]


# --------------------------------------------------------------------------------------------------
# helpers that change what they are handed


def push(items, value):
    items.append(value * value)


def overwrite(items, k, value):
    old = items[k]
    items[k] = value
    return old


def scale_in_place(items, factor):
    for i in range(len(items)):
        items[i] *= factor
    return items


def fill_recursively(items, x, n):
    if n > 0:
        items.append(x**n)
        fill_recursively(items, x * 0.9, n - 1)


def tally(counts, key, value):
    counts[key] = counts.get(key, 0.0) + value


@case((1.5,), needs=HELPED)
def helper_appends(x):
    items = []
    push(items, x)
    push(items, items[0] + x)
    return items[0] * items[1]


@case((1.5,), needs=HELPED)
def helper_overwrites_and_gives_the_old(x):
    items = [x, x * x]
    total = items[1]
    old = overwrite(items, 1, math.sin(x))
    return old * items[1] + total * items[0]


@case((1.5,), needs=HELPED)
def helper_gives_back_what_it_changed(x):
    items = [x, 1.0]
    same = scale_in_place(items, x)
    same[0] += 1.0
    return items[0] * same[1] + items[1]


@case((0.9,), needs=HELPED)
def recursive_helper_appends(x):
    items = [x]
    fill_recursively(items, x, 3)
    return items[1] * items[3] + items[2]


@case((0.9, 1.4), needs=HELPED)
def one_helper_two_lists(x, y):
    a, b = [x], [y]
    for _ in range(3):
        push(a, b[-1])
        push(b, a[-1] * 0.5)
    return a[-1] + b[-1] * a[1]


@case((0.9, 1.4), needs=HELPED)
def the_same_list_handed_over_twice(x, y):
    def cross(a, b, value):
        a[0] = value
        return a[0] * b[0]

    items = [x]
    return cross(items, items, x * y) + cross([y], items, x) + items[0]


@case((1.2, 0.6), needs=("helper-writes", "dict-writes", "dict-reads"))
def helper_tallies(x, y):
    counts = {}
    for key, value in (("a", x), ("b", y), ("a", x * y)):
        tally(counts, key, value)
    return counts["a"] * counts["b"]


# --------------------------------------------------------------------------------------------------
# dicts


@case((1.5,), needs=DICT)
def key_assigned(x):
    d = {}
    d["a"] = x * x
    d["b"] = d["a"] * x
    return d["a"] + d["b"]


@case((1.5,), needs=DICT)
def key_overwritten_after_it_was_read(x):
    d = {"a": x, "b": 2.0}
    first = d["a"] * d["b"]
    d["a"] = first * x
    d["b"] += d["a"]
    return d["a"] * d["b"] + first


@case((A,), needs=DICT)
def accumulated_by_key(v):
    totals = {"even": 0.0, "odd": 1.0}
    for i, e in enumerate(v):
        key = "even" if i % 2 == 0 else "odd"
        totals[key] += e * e
    return totals["even"] * totals["odd"]


@case((A,), needs=("dict-writes", "dict-reads"))
def grouped_by_sign(v):
    groups = {}
    for e in v:
        key = bool(e > 0)
        groups[key] = groups.get(key, 1.0) * e
    return groups[True] + 2.0 * groups[False]


@case((1.5,), needs=("dict-writes", "dict-reads"))
def items_of_a_dict_filled_in_a_loop(x):
    d = {}
    for k in range(3):
        d[k] = x**k + k
    total = 0.0
    for k, value in d.items():
        total += k * value * value
    return total + sum(d.values())


@case((1.5,), needs=("dict-writes", "dict-reads"))
def updated(x):
    d = {"a": x, "b": 1.0}
    e = {"b": x * x, "c": math.sin(x)}
    d.update(e)
    e["b"] = 10.0
    return d["a"] * d["b"] + d["c"]


@case((1.5,), needs=DICT)
def popped_from_a_dict(x):
    d = {"a": x * x, "b": x}
    value = d.pop("a")
    missing = d.pop("z", 2.0)
    return value * missing * d["b"] + len(d)


@case((1.5,), needs=DICT)
def set_by_default(x):
    d = {"a": x}
    p = d.setdefault("a", 100.0)
    q = d.setdefault("b", x * x)
    return p * q + d["b"]


@case((1.5,), needs=("dict-writes", "del"))
def key_deleted(x):
    d = {"a": x, "b": x * x}
    kept = d["a"]
    del d["a"]
    d["a"] = kept * 2.0
    return d["a"] * d["b"]


@case((1.5,), needs=DICT)
def dict_of_dicts(x):
    tree = {"left": {"v": x}, "right": {"v": 2.0}}
    tree["left"]["v"] = tree["left"]["v"] * x
    tree["right"]["w"] = tree["left"]["v"]
    tree["left"] = tree["right"]
    return tree["left"]["v"] * tree["right"]["w"]


@case((1.5,), needs=("dict-writes", "list-aliases"))
def dict_of_lists(x):
    groups = {}
    for k in range(4):
        key = k % 2
        if key not in groups:
            groups[key] = []
        groups[key].append(x**k)
    return groups[0][1] * groups[1][0] + sum(groups[1])


@case((0.6,), needs=("dict-writes", "closure-writes"))
def memo_in_a_recursion(x):
    memo = {}

    def fibonacci(n):
        if n < 2:
            return x if n else 1.0
        if n not in memo:
            memo[n] = fibonacci(n - 1) * x + fibonacci(n - 2)
        return memo[n]

    return fibonacci(6) + fibonacci(4)


def paths(n, m, x, memo):
    if (n, m) in memo:
        return memo[n, m]
    value = 1.0 if n == 0 or m == 0 else x * paths(n - 1, m, x, memo) + paths(n, m - 1, x, memo)
    memo[n, m] = value
    return value


@case((0.6,), needs=("dict-writes", "helper-writes"))
def memo_handed_down(x):
    memo = {}
    return paths(3, 2, x, memo) * memo[1, 1]


# --------------------------------------------------------------------------------------------------
# objects of plain classes


class Point:
    kind = 2.0  # a class attribute, hidden by an instance's own

    def __init__(self, a, b=1.0):
        self.a = a
        self.b = b

    def norm(self):
        return self.a * self.a + self.b * self.b

    def move(self, da):
        self.a += da
        return self


class Node:
    def __init__(self, value, rest=None):
        self.value = value
        self.rest = rest


class Account:
    def __init__(self, start):
        self.balance = start
        self.log = []

    def deposit(self, amount):
        self.balance = self.balance * 1.1 + amount
        self.log.append(self.balance)


class Counter:
    def __init__(self):
        self.count = 0
        self.total = 0.0

    def __call__(self, value):
        self.count += 1
        self.total += self.count * value
        return self.total


class Scaled(Point):
    def __init__(self, a, b, scale):
        super().__init__(a, b)
        self.scale = scale

    def norm(self):
        return self.scale * super().norm()


class Vector:
    def __init__(self, p, q):
        self.p, self.q = p, q

    def __add__(self, other):
        return Vector(self.p + other.p, self.q + other.q)

    def __mul__(self, factor):
        return Vector(self.p * factor, self.q * factor)

    def __getitem__(self, k):
        return self.p if k == 0 else self.q


@case((1.5, 2.0), needs=OBJECT)
def object_made_and_read(x, y):
    point = Point(x * y, b=y)
    return point.a * point.b + point.norm()


@case((1.5,), needs=OBJECT)
def attribute_rebound_between_two_reads(x):
    point = Point(x)
    before = point.a * 2.0
    point.a = math.sin(before)
    after = point.a
    point.a = after * point.a
    return before * after + point.a


@case((1.5,), needs=OBJECT)
def attribute_augmented_in_a_loop(x):
    point = Point(x, 0.0)
    for k in range(3):
        point.b += point.a * k
        point.a *= 0.5
    return point.a * point.b


@case((1.5,), needs=OBJECT)
def new_attribute(x):
    point = Point(x)
    point.c = x * x
    return point.c * point.a


@case((1.5,), needs=OBJECT)
def methods_in_a_row(x):
    return Point(x).move(x * x).move(1.0).norm()


@case((1.5,), needs=OBJECT)
def two_names_for_one_object(x):
    point = Point(x)
    other = point
    other.a = x * x
    point.b = other.a * 2.0
    return point.a * other.b


@case((1.5,), needs=("objects", "helper-writes"))
def helper_sets_an_attribute(x):
    def shift(point, by):
        point.a = point.a + by

    point = Point(x)
    first = point.norm()
    shift(point, x * x)
    return first * point.norm()


@case((1.5,), needs=OBJECT)
def class_attribute_hidden_by_an_instance(x):
    one, other = Point(x), Point(x * x)
    one.kind = x
    return one.kind * other.kind * other.a


@case((0.8,), needs=OBJECT)
def linked_list(x):
    head = None
    for k in range(4):
        head = Node(x**k, head)
    total, node = 0.0, head
    while node is not None:
        total = total * x + node.value
        node = node.rest
    return total


@case((0.8,), needs=OBJECT)
def linked_list_changed_in_the_middle(x):
    head = Node(x, Node(2.0, Node(x * x)))
    head.rest.value = head.value * head.rest.rest.value
    head.rest.rest = Node(3.0 * x)
    return head.rest.value * head.rest.rest.value + head.value


def planted(x, depth):
    tree = Node(x)
    if depth:
        tree.rest = (planted(x * 0.5, depth - 1), planted(math.sin(x), depth - 1))
    return tree


def harvest(tree):
    if tree.rest is None:
        return tree.value**2
    left, right = tree.rest
    return tree.value * harvest(left) + harvest(right)


@case((0.8,), needs=OBJECT)
def tree_of_objects(x):
    return harvest(planted(x, 3))


@case((0.8,), needs=("objects", "list-aliases"))
def object_that_keeps_a_log(x):
    account = Account(x)
    for amount in (x, 2.0, x * x):
        account.deposit(amount)
    return account.log[0] * account.log[2] + account.balance


@case((0.8,), needs=OBJECT)
def object_that_is_called(x):
    counter = Counter()
    counter(x)
    counter(x * x)
    return counter(2.0) * counter.count


@case((0.8, 1.2), needs=OBJECT)
def inherited_method(x, y):
    return Scaled(x, y, x * y).norm() + Scaled(x, y, 2.0).move(y).norm()


@case((0.8, 1.2), needs=OBJECT)
def operators_of_a_class(x, y):
    v = Vector(x, y) + Vector(y, 1.0) * x
    return v[0] * v[1]


@case((0.8,), needs=("objects", "list-writes", "list-aliases"))
def objects_in_a_list(x):
    points = [Point(x * k) for k in range(3)]
    points[1].a = points[2].a * x
    points[0] = points[1]
    points[0].b = math.cos(x)
    return points[1].b * points[0].a + points[2].norm()


@case((0.8,), needs=OBJECT)
def objects_that_know_each_other(x):
    left, right = Node(x), Node(x * x)
    left.rest, right.rest = right, left
    left.rest.value = left.value * 3.0
    return right.value * right.rest.value + left.rest.rest.value


# --------------------------------------------------------------------------------------------------
# dataclasses and named tuples


@dataclass
class Params:
    w: float
    b: float = 0.5
    history: list = field(default_factory=list)


@dataclass
class Derived:
    a: float
    twice: float = field(init=False)

    def __post_init__(self):
        self.twice = 2.0 * self.a


@dataclass(frozen=True)
class Frozen:
    a: float
    b: float

    def product(self):
        return self.a * self.b


class Pair(NamedTuple):
    p: float
    q: float = 2.0

    def product(self):
        return self.p * self.q


Triple = namedtuple("Triple", "a b c")


@case((1.5,), needs=("dataclasses",))
def dataclass_made_inside(x):
    params = Params(x * x)
    params.b += x
    return params.w * params.b


@case((1.5,), needs=("dataclasses", "list-aliases"))
def default_factory(x):
    one, other = Params(x), Params(w=2.0)
    one.history.append(x * x)
    other.history.append(one.history[0] * x)
    return one.history[0] * other.history[0] + len(one.history)


@case((1.5,), needs=("dataclasses",))
def post_init(x):
    made = Derived(x * x)
    return made.twice * made.a


@case((1.5,), needs=("dataclasses",))
def frozen_replaced(x):
    one = Frozen(x, 2.0)
    other = replace(one, b=x * x)
    return one.product() * other.product()


@case((1.5,), needs=("namedtuples",))
def named_tuple_made_inside(x):
    pair = Pair(x * x)
    p, q = Pair(x, q=pair.product())
    return pair.p * pair[1] + p * q


@case((1.5,), needs=("namedtuples",))
def named_tuple_replaced(x):
    pair = Pair(x, x * x)
    other = pair._replace(q=3.0 * x)
    return pair.product() * other.product()


@case((1.5,), needs=("namedtuples",))
def named_tuple_in_a_loop(x):
    state = Triple(x, 1.0, 0.0)
    for _ in range(3):
        state = Triple(state.a * 0.9, state.a + state.b, c=state.b * x)
    return state.a * state.b + state.c


# --------------------------------------------------------------------------------------------------
# closures


@case((1.5,), needs=("nonlocal",))
def counter_by_nonlocal(x):
    total = 0.0

    def add(value):
        nonlocal total
        total += value * value
        return total

    add(x)
    add(total + x)
    return total * x


@case((1.5,), needs=("nonlocal",))
def made_counter(x):
    def make(start):
        state = start

        def step(by):
            nonlocal state
            state = state * by + 1.0
            return state

        return step

    one, other = make(x), make(2.0)
    one(x)
    return one(2.0) * other(x) + one(0.5)


@case((1.5,), needs=("late-binding",))
def variable_bound_after_the_closure(x):
    def inner(v):
        return v * k

    k = x * x
    return inner(x)


@case((1.5,), needs=("late-binding",))
def variable_bound_again_between_calls(x):
    k = x
    inner = lambda v: v * k
    first = inner(x)
    k = first * 2.0
    return inner(x) + first


@case((1.5,), needs=("late-binding",))
def closures_of_a_loop_share_the_last_value(x):
    made = []
    k = 1.0
    for i in range(3):
        k = k * x
        made.append(lambda v: v * k + i)
    return made[0](x) * made[2](1.0)


@case((1.5,), needs=("late-binding",))
def closure_of_a_loop_called_at_once(x):
    total = 0.0
    for i in range(3):
        scale = x * i

        def scaled(v):
            return v * scale + i

        total += scaled(x)
    return total


@case((1.5,))
def closures_of_a_loop_with_defaults(x):
    made = []
    for i in range(3):
        made.append(lambda v, k=x * i: v * k)
    return made[0](x) + made[1](x) * made[2](2.0)


@case((1.5,), needs=("held-lists",))
def closure_reads_a_list_that_grows(x):
    items = []
    newest = lambda: items[-1]
    items.append(x)
    first = newest()
    items.append(x * x)
    return first * newest()


@case((1.5,), needs=("closure-writes", "held-lists"))
def closure_appends(x):
    seen = []

    def note(value):
        seen.append(value * x)
        return value

    total = note(x) + note(x * x)
    return total * seen[0] + seen[1]


@case((1.5,), needs=("closure-writes", "list-writes", "dict-writes"))
def closure_keeps_state_in_a_list_and_a_dict(x):
    state, table = [x], {}

    def step(name):
        state[0] = state[0] * x
        table[name] = state[0]

    for name in "abc":
        step(name)
    return table["a"] * table["c"] + state[0]


@case((1.5,), needs=("closure-writes", "objects"))
def closure_changes_an_object(x):
    point = Point(x)

    def grow(by):
        point.a *= by

    grow(x)
    first = point.a
    grow(2.0)
    return first * point.norm()


@case((0.7,), needs=("nonlocal", "closure-writes", "list-writes"))
def tape_of_closures(x):
    undo, value = [], x

    def scale(by):
        nonlocal value
        old = value
        value = math.sin(value * by)
        undo.append(lambda: old * by)

    scale(2.0)
    scale(x)
    total = value
    while undo:
        total = total * undo.pop()() + x
    return total
