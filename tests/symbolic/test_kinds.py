"""The shapes that are tried fit together and come in two sizes."""

import numpy as np

from rulelab.symbolic.cells import Static, Symmetric, shape_of
from rulelab.symbolic.kinds import MOST, array_specs, vector_specs


def test_matrices_come_at_two_sizes_that_are_not_square():
    """The first kind for an argument with the name of a matrix is a matrix of (2, 3), then of (3, 1)."""
    assert next(array_specs(("X",), (None,))) == (((2, 3),), ((3, 1),))


def test_partners_of_a_product_are_among_them():
    """For two matrices there are shapes that multiply, at both sizes."""
    found = list(array_specs(("X", "W"), (None, None)))
    assert any(
        all(np.ones(shape_of(x)).dot(np.ones(shape_of(w))).ndim == 2 for x, w in specs)
        for specs in found
        if all(len(shape_of(k)) == 2 and shape_of(s[0])[1] == shape_of(s[1])[0] for s in specs for k in s)
    )
    assert len(found) <= MOST


def test_positive_definite_ones_are_tried_and_what_is_held_stays():
    """Symmetric matrices come too, and an argument that is held fixed is in its place in each kind."""
    found = list(array_specs(("a", "axis"), (None, Static(1))))
    assert ((Symmetric(2), Static(1)), (Symmetric(3), Static(1))) in found
    assert all(spec[1] == Static(1) for specs in found for spec in specs)


def test_what_a_name_says_is_a_number_is_no_vector_beside_one():
    """A proof for vectors of one length says nothing of a sum that is lacking for a number."""
    assert {spec for specs in vector_specs(("v", "s"), (None, None)) for spec in specs} == {
        ((n,), "scalar") for n in (2, 3, 5)
    }
    assert ((2,), (2,)) in next(vector_specs(("a", "b"), (None, None)))
    assert all(len(b) < 2 or b == "scalar" for (_, b), _ in array_specs(("X", "b"), (None, None)))
