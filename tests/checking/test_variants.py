"""Tests of the same point as users have it."""

import numpy as np

from rulelab.checking.perturb import laid_out_like, laid_out_otherwise
from rulelab.checking.probes import Point
from rulelab.checking.variants import in_complex, in_floats, in_whole_numbers, of_other_lengths, same_numbers

X = np.array([[0.5, 1.5, -2.5], [3.5, 4.5, 5.5]])


def rng():
    return np.random.default_rng(2)


def test_the_same_numbers_in_every_layout():
    """Gaps, backwards, transposed, and in single precision; none of a number."""
    points = list(same_numbers(Point((X, 2.0)), 1.0))
    assert all(np.array_equal(p.inputs[0], X) and p.guessed for p in points)
    arrays = [p.inputs[0] for p in points]
    assert [a.dtype == np.float32 for a in arrays] == [True, False, False, False]
    assert [min(a.strides) < 0 for a in arrays] == [False, False, True, False]
    assert arrays[3].flags.f_contiguous and not arrays[1].flags.forc
    assert not list(same_numbers(Point((2.0,)), 1.0))


def test_a_layout_is_kept():
    """By another array of the same rank."""
    for how in ("gaps", "backwards", "transposed"):
        (x,) = laid_out_otherwise((X,), how)
        assert laid_out_like(x, X + 1.0).strides == x.strides


def test_whole_numbers_know_their_floats():
    """A derivative is by these; no number is 1, which hides mistakes."""
    floats = in_floats(Point((X, 0.25)))
    whole = in_whole_numbers(floats)
    assert whole.inputs[0].dtype == np.int64 and type(whole.inputs[1]) is int
    assert np.array_equal(whole.inputs[0], whole.floats[0]) and whole.floats[0].dtype == float
    assert not np.any(np.abs(floats.inputs[0]) == 1)
    assert in_whole_numbers(Point((np.arange(3),))) is None


def test_axes_of_one_length_vary_together():
    """So a product stays one, and labels stay labels."""
    labels = np.array([0, 1, 1])
    for point in of_other_lengths(Point((X, np.arange(3.0), labels, [1.0, 2.0])), (), rng()):
        matrix, vector, indices, _ = point.inputs
        assert matrix.shape[1] == len(vector) == len(indices) and set(indices) <= {0, 1}


def test_lengths_stand_in_the_code():
    """Both sides of a number that lengths may be compared with."""

    def f(x):
        return x if len(x) > 10 else 2 * x

    lengths = {len(p.inputs[0]) for p in of_other_lengths(Point((np.ones(3),)), [f.__code__], rng())}
    assert {2, 4, 7, 10, 11} <= lengths


def test_complex_numbers_have_both_parts():
    """A domain of real numbers has none."""
    point = in_complex(Point((X, 2.0)), rng())
    assert np.all(point.inputs[0].imag != 0) and point.inputs[1].imag
    assert in_complex(Point((X,), bounds=((0.0, np.inf),)), rng()) is None
    assert in_complex(Point((np.arange(3),)), rng()) is None


def test_vectors_of_two_lengths_are_not_brought_to_one():
    """A quaternion is not as long as a vector; a matrix may be square, and there a rule may be another."""
    rng = np.random.default_rng(0)
    for inputs, is_tried in (((np.ones(4), np.ones(3)), False), ((np.ones((4, 3)), np.ones(3)), True)):
        origins = [point.origin for point in of_other_lengths(Point(inputs), (), rng)]
        assert origins and ("of one length, 3" in origins) == is_tried
