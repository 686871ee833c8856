"""Arguments are taken apart, and gradients put together, by code made for their structure."""

from collections import OrderedDict

import numpy as np
import pytest

from rulelab.compiler.calls.taken_apart import closer, taker

F8 = np.dtype(float)
KEYS = ((list, (tuple, (F8, 2), float), (dict, ("w", 1), (F8, 1), int)), float)
W, V = np.ones((2, 2)), np.ones(3)


def test_the_parts_of_a_structure():
    take = taker(KEYS)
    parts = take([(W, 2.0), {"w": V, 1: 4}], 3.0)
    assert parts[0] is W and parts[2] is V and (parts[1], *parts[3:]) == (2.0, 4, 3.0)
    assert taker(())() == ()
    assert taker(((list, float),))([5.0]) == (5.0,)


@pytest.mark.parametrize(
    "first",
    [
        [(W, 2.0)],
        [(W, 2.0), {"w": V, 1: 4}, 1.0],
        ((W, 2.0), {"w": V, 1: 4}),
        [(W, 2), {"w": V, 1: 4}],
        [(W, np.float64(2.0)), {"w": V, 1: 4}],
        [(V, 2.0), {"w": V, 1: 4}],
        [(W.astype("f4"), 2.0), {"w": V, 1: 4}],
        [(W.view(np.matrix), 2.0), {"w": V, 1: 4}],
        [(W, 2.0), {1: 4, "w": V}],
        [(W, 2.0), {"w": V, True: 4}],
        [(W, 2.0), {np.str_("w"): V, 1: 4}],
        [(W, 2.0), OrderedDict({"w": V, 1: 4})],
        [(W, 2.0), {"w": V}],
        2.0,
    ],
    ids=str,
)
def test_another_structure_has_no_parts_here(first):
    """Where it only seems to be another one, whoever asks looks again."""
    assert taker(KEYS)(first, 3.0) is None


def test_a_gradient_for_the_arguments():
    """In their structure, None for what is not asked for."""
    close = closer(KEYS, (True, True, True, False, True), (True, True, True, False, False))
    assert close((W, 2.0, V, None, 3.0)) == ([(W, 2.0), {"w": V, 1: None}], 3.0)
    assert close((W, 2.0, V, None, None)) == ([(W, 2.0), {"w": V, 1: None}], None)
    only = closer(KEYS, (False, False, True, True, False), (False, False, True, True, False))
    assert only((None, None, V, 4.0, None)) == ([None, {"w": V, 1: 4.0}], None)
    assert closer(KEYS, (False,) * 5, (False,) * 5)((None,) * 5) == (None, None)


@pytest.mark.parametrize(
    ("entries", "read"),
    [
        ((W, 0.0, V, 1.0, 3.0), (True,) * 5),
        ((W * 0, 2.0, V, 1.0, 3.0), (True,) * 5),
        ((W, 2.0, V * 0, 1.0, 3.0), (True,) * 5),
        ((W, None, V, 1.0, 3.0), (True,) * 5),
        ((np.zeros((0, 2)), 2.0, V, 1.0, 3.0), (True,) * 5),
        ((None, None, V, 1.0, 3.0), (False, False, True, True, False)),
    ],
    ids=str,
)
def test_none_or_zero_in_a_container_is_for_others_to_tell(entries, read):
    assert closer(KEYS, (True,) * 5, read)(entries) is None


def test_what_is_not_read_may_have_none_beside_what_is():
    close = closer(KEYS, (True,) * 5, (True, False, True, True, False))
    assert close((W, None, V, 1.0, 0.0)) == ([(W, None), {"w": V, 1: 1.0}], 0.0)
    late = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert close((late, None, V, 1.0, 0.0))[0][0][0] is late
