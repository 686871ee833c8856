"""Arguments of another size are like those at hand, and their text makes the same."""

import numpy as np
import pytest

from rulelab.bench.sizes import size_of, sized, sized_text

SYMMETRIC = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
CASES = {
    "numbers": ((np.zeros(4),), "rng.standard_normal(n)"),
    "columns": ((np.zeros((4, 2)), np.zeros(4)), "rng.standard_normal((n, 2)), rng.standard_normal(n)"),
    "across": (
        (np.zeros((4, 2)), np.zeros((3, 4))),
        "rng.standard_normal((n, 2)), rng.standard_normal((3, n))",
    ),
    "positive": ((np.ones(4),), "abs(rng.standard_normal(n))"),
    "float32": ((np.zeros(4, np.float32),), 'rng.standard_normal(n).astype("<f4")'),
    "complex": ((np.zeros(4, complex),), "(rng.standard_normal(n) + 1j * rng.standard_normal(n))"),
    "flags": ((np.zeros(4, bool),), "(rng.random(n) < 0.5)"),
    "whole": ((np.array([7, -2, 3, 3]),), "rng.integers(-2, 8, n)"),
    "huge": (
        (np.array([0, 2**64 - 1, 5, 5], np.uint64),),
        f'rng.integers(0, {2**64}, n, "uint64").astype("<u8")',
    ),
    "indices": ((np.zeros(4), np.array([0, 3, 1, 1])), "rng.standard_normal(n), rng.integers(0, n, n)"),
    "square": (
        (np.zeros((4, 4)) + [0, 1, 2, 3], np.zeros(4)),
        "rng.standard_normal((n, n)), rng.standard_normal(n)",
    ),
    "symmetric": ((SYMMETRIC,), "(lambda a: a + a.T)(rng.standard_normal((n, n)))"),
    "definite": ((np.eye(4),), "(lambda a: a @ a.T / n)(rng.standard_normal((n, 2 * n)))"),
    "list": (([0.5, -1.0, 2.0],), "rng.standard_normal(n).tolist()"),
    "length": ((np.zeros(4), 4, 5, True), "rng.standard_normal(n), n, 5, True"),
    "kept": (
        (np.zeros(4), 0.5, None, "it's", (1.0,), [2, float("inf")]),
        "rng.standard_normal(n), 0.5, None, \"it's\", (1.0,), [2, float(\"inf\")]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_text_makes_what_the_generator_makes(name):
    """What the field shows first is what was timed: same numbers, same dtypes, from the same seed."""
    args, text = CASES[name]
    assert sized_text(args) == text
    made = sized(args, np.random.default_rng(5))(6)
    written = eval(f"({text},)", {"n": 6, "rng": np.random.default_rng(5)})
    assert len(made) == len(written) == len(args)
    for left, right, given in zip(made, written, args):
        assert type(left) is type(right) is type(given)
        assert np.array_equal(left, right)
        if isinstance(given, np.ndarray):
            assert left.dtype == right.dtype == given.dtype


def test_an_empty_array_is_kept():
    """There is nothing in it to draw others after, whatever its other lengths."""
    x, none = sized((np.zeros(4), np.zeros((0, 4), int)), np.random.default_rng(0))(6)
    assert x.shape == (6,) and none.shape == (0, 4)


def test_matrices_stay_what_they_were():
    """Symmetric ones symmetric, positive definite ones fit for Cholesky."""
    made = sized((SYMMETRIC,), np.random.default_rng(0))(50)[0]
    assert made.shape == (50, 50) and np.array_equal(made, made.T)
    np.linalg.cholesky(sized((np.eye(3),), np.random.default_rng(0))(200)[0])


def test_indices_stay_within_the_array():
    """Where the indices at hand reach its end, so do those drawn; and not beyond."""
    x, where = sized((np.zeros(9), np.arange(9)), np.random.default_rng(0))(1000)
    assert where.min() >= 0 and 900 < where.max() < 1000
    _, small = sized((np.zeros(9), np.array([0, 1, 2] * 3)), np.random.default_rng(0))(1000)
    assert set(small) == {0, 1, 2}


def test_labels_of_a_few_classes_stay_labels():
    """Labels that index an axis that is kept stay below its length, however few the samples are."""
    few = (np.zeros((5, 3)), np.array([0, 2, 1, 1, 0]))
    assert sized_text(few) == "rng.standard_normal((n, 3)), rng.integers(0, 3, n)"
    few = ([np.array([0, 2, 1, 1, 0])], {"scores": np.zeros((5, 3))})
    make = sized(few[0], np.random.default_rng(0), few[1])
    assert make(100)[0][0].max() == 2


@pytest.mark.parametrize("args", [(), (1.0, 3), (np.float64(2.0), np.zeros(())), (np.zeros(1),), ("text",)])
def test_without_a_size_there_is_no_generator(args):
    """Numbers and words have no length that could grow."""
    assert (
        size_of(args) is None and sized(args, np.random.default_rng(0)) is None and sized_text(args) is None
    )


def test_what_cannot_be_drawn_gives_no_generator():
    """Arrays of words or objects, and classes of arrays, of the size at hand."""
    for other in (np.array(list("abcd")), np.array([None] * 4), np.ma.zeros(4)):
        assert sized((np.zeros(4), other), np.random.default_rng(0)) is None


def test_keywords_are_drawn_too():
    """They come as the second of a pair, and by name in the text."""
    args, kwargs = (np.zeros(4),), {"weights": np.zeros(4), "rate": 0.5}
    made, named = sized(args, np.random.default_rng(0), kwargs)(7)
    assert made[0].shape == named["weights"].shape == (7,) and named["rate"] == 0.5
    assert sized_text(args, kwargs) == "rng.standard_normal(n), weights=rng.standard_normal(n), rate=0.5"


def test_what_has_no_text_takes_the_users_own():
    """An object is written as the user wrote it, if that is known."""
    args = (np.zeros(4), object())
    assert sized_text(args) is None
    assert sized_text(args, texts=("x", "model")) == "rng.standard_normal(n), model"


def test_kept_arguments_are_not_shared():
    """What one size did to them the next does not see."""
    make = sized((np.zeros(4), [1.0, object()]), np.random.default_rng(0))
    assert make(5)[1] is not make(5)[1]
