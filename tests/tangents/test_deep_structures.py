"""Structures that nest deeper than Python calls may: lists of linked objects, lists and dicts."""

import numpy as np
import pytest

import rulelab as rl

LENGTH = 3000


class Node:
    def __init__(self, v, next):
        self.v, self.next = v, next


def linked(make):
    chain = None
    for k in range(LENGTH):
        chain = make(float(k), chain)
    return chain


def over_objects(o):
    s = 0.0
    while o is not None:
        s = s + o.v**2
        o = o.next
    return s


def over_pairs(o):
    s = 0.0
    while o is not None:
        s = s + o[0] ** 2
        o = o[1]
    return s


def over_dicts(o):
    s = 0.0
    while o is not None:
        s = s + o["v"] ** 2
        o = o["next"]
    return s


KINDS = {
    "objects": (over_objects, Node, lambda g: (g.v, g.next)),
    "lists": (over_pairs, lambda v, n: [v, n], lambda g: g),
    "dicts": (over_dicts, lambda v, n: {"v": v, "next": n}, lambda g: g.values()),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("f, make, taken", KINDS.values(), ids=KINDS)
def test_a_long_list_of_linked(f, make, taken):
    """The gradient by a linked list that a plain loop goes along is a linked list of the same length."""
    with rl.debug_mode(compare="first"):
        (g,) = rl.gradient(f, linked(make))
    found = []
    while g is not None:
        v, g = taken(g)
        found.append(v)
    assert np.array_equal(found, 2.0 * np.arange(LENGTH)[::-1])
