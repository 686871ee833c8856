"""Tests of where the inputs of a check come from."""

import dataclasses
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import DomainError, Kind, rand_tangent, with_tangent
from rulelab.checking.probing.drawing import draw
from rulelab.checking.probing.perturb import (
    all_equal,
    in_float32,
    jittered,
    laid_out_otherwise,
    landmarks,
    moved_near,
    nudged,
    with_ties,
)
from rulelab.checking.reading.kinds import kind_named


@dataclasses.dataclass
class Point:
    x: float
    y: np.ndarray
    name: str = "p"


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize(
    "x", [1.5, 2 - 1j, np.ones((2, 3)), np.ones(2, np.float32), [1.0, (2.0, 3.0)], {"a": 1.0}]
)
def test_a_random_tangent_fits_its_primal(x):
    """Same structure, shapes and dtypes, short decimals, no zeros."""
    drawn = rand_tangent(x, rng())
    assert type(drawn) is type(x)
    flat = np.concatenate([np.ravel(v) for v in _numbers(drawn)]) * 100
    assert np.all(np.abs(flat - np.round(flat)) < 1e-4) and np.all(flat != 0) and np.all(np.abs(flat) <= 1300)


def _numbers(x):
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, (list, tuple)):
        return [leaf for part in x for leaf in _numbers(part)]
    return [x]


@pytest.mark.parametrize("x", [3, "text", None, print, True, [1, 2], np.arange(3)])
def test_what_cannot_be_moved_has_no_tangent(x):
    """Integers, text, functions."""
    assert isinstance(rand_tangent(x, rng()), rl.NoTangent)


def test_a_random_tangent_of_an_object():
    """Of its class, what is not a number as it was."""
    drawn = rand_tangent(Point(1.0, np.ones(2)), rng())
    assert drawn.name == "p" and drawn.y.shape == (2,)


def test_a_tangent_of_ones_own():
    """Is kept beside its value."""
    assert with_tangent(2.0, 1.0) == (2.0, 1.0)


@pytest.mark.parametrize(
    "words, kind",
    [
        ("positive", Kind("number", 0.0, math.inf)),
        ("positive vector", Kind("vector", 0.0, math.inf)),
        ("positive definite", Kind("positive definite")),
        ("symmetric matrix", Kind("symmetric")),
        ("complex matrix", Kind("matrix", dtype="complex128")),
        ("unit", Kind("number", 0.0, 1.0)),
        ((0, 2), Kind("number", 0.0, 2.0)),
        ("matrix (4m, d + m)", Kind("matrix", dims=("4*m", "d+m"), is_asked=True)),
    ],
)
def test_domains_in_words(words, kind):
    """The words that the messages name."""
    assert kind_named(words) == kind


@pytest.mark.parametrize("words", ["greenish", (1, 0), 3, (1, 2, 3), "positive greenish", "matrix (4**m)"])
def test_what_is_no_domain(words):
    """Says which words there are."""
    with pytest.raises(DomainError, match="domain"):
        kind_named(words)


@pytest.mark.parametrize(
    "form", ["number", "vector", "matrix", "square", "symmetric", "positive definite", "list"]
)
@pytest.mark.parametrize("bounds", [(-math.inf, math.inf), (0.0, math.inf), (0.0, 1.0), (-math.inf, -2.0)])
def test_what_is_drawn_lies_in_its_interval(form, bounds):
    """At every size and scale, and float32 has the number too."""
    if form == "positive definite" and bounds[0] == -math.inf and bounds[1] < 0:
        bounds = (-math.inf, math.inf)
    for size in range(4):
        for scale in (1.0, 64.0, 2.0**-6):
            x = np.asarray(draw(Kind(form, *bounds), rng(), size, scale))
            if form not in ("square", "symmetric", "positive definite"):  # which are shifted on the diagonal
                assert np.all((bounds[0] < x) & (x < bounds[1]))
                assert np.array_equal(x.astype(np.float32), x)


def test_matrices_are_of_their_kind():
    """Symmetric ones symmetric, positive definite ones positive, others neither square nor symmetric."""
    symmetric = draw(Kind("symmetric"), rng())
    assert np.array_equal(symmetric, symmetric.T)
    assert np.all(np.linalg.eigvalsh(draw(Kind("positive definite"), rng())) > 0)
    rows, columns = draw(Kind("matrix"), rng()).shape
    assert rows != columns
    square = draw(Kind("square"), rng())
    assert not np.allclose(square, square.T)


def test_landmarks_are_the_numbers_of_the_code():
    """Of the functions inside it as well, and zero; text and flags are none."""

    def f(x):
        if x > 2.5:
            return "text", True
        return x + 7

    assert landmarks([f.__code__]) == (0.0, 2.5, 7.0)


def test_points_near_a_landmark_lie_on_both_sides():
    """And not on it."""
    x = next(moved_near((np.zeros(200),), 2.5, rng()))[0]
    assert (x > 2.5).any() and (x < 2.5).any() and (x != 2.5).all() and np.abs(x - 2.5).max() < 1.5


def test_ties_are_ties():
    """Within an argument and between two."""
    a, b = with_ties((np.arange(1.0, 6.0), np.arange(2.0, 7.0)), rng())
    assert len(set(a)) <= 2 and set(b) <= set(a) | {1.0, 2.0}
    a, b = all_equal((np.arange(1.0, 6.0), 3.0))
    assert set(a) == {1.0} and b == 1.0


def test_jitter_leaves_what_is_no_number():
    """Integers and text stay what they are; no number stays the same."""
    x, n, word = jittered((np.arange(4.0), 3, "text"), rng())
    assert n == 3 and word == "text" and np.all(x != np.arange(4.0))


def test_other_precision_and_layout_hold_the_same_numbers():
    """And are really others; None where there is nothing to change."""
    x = np.array([[0.5, 1.5], [2.5, 3.5]])
    (single,), (spread,) = in_float32((x,)), laid_out_otherwise((x,))
    assert single.dtype == np.float32 and np.array_equal(single, x)
    assert not spread.flags.c_contiguous and np.array_equal(spread, x)
    assert in_float32((1.0, 2)) is None and laid_out_otherwise((1.0,)) is None


def test_a_nudge_is_a_last_digit():
    """Of the dtype of the argument."""
    (x,), (y,) = nudged((np.ones(3),), rng()), nudged((np.ones(3, np.float32),), rng())
    assert 0 < np.abs(x - 1).max() < 1e-15 and 0 < np.abs(y - 1).max() < 1e-6
