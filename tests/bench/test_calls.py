"""The calls that are timed: of any function, on copies of its arguments."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

from rulelab.ad import reverse
from rulelab.bench import GradientDuel, first_gradient, scaling
from rulelab.bench.calls import timed_gradient
from rulelab.errors import MeasurementError


class Fit(NamedTuple):
    loss: float
    residual: np.ndarray


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x.sum(), x),
        lambda x: {"loss": x.sum(), "residual": x, "name": "fit"},
        lambda x: [x, 2.0 * x],
        lambda x: Fit(x.sum(), x),
    ],
)
def test_results_of_several_parts_are_timed(function):
    """Each part gets ones of its own shape; what is not a number gets none."""
    timed = timed_gradient(function, (np.zeros(3),), {}, reverse)
    (x_bar,) = timed.thunk()
    assert timed.name.startswith("value with pullback of")
    assert x_bar.tolist() in ([2.0] * 3, [3.0] * 3)


def plain(x, other):
    return x * x


@pytest.mark.parametrize(
    "measured",
    [
        lambda other: GradientDuel(plain, plain, (1.0, other)),
        lambda other: first_gradient(plain, 1.0, other),
        lambda other: scaling(plain, plain, lambda n: (1.0, other), [2], rounds=1),
    ],
    ids=["duel", "first", "scaling"],
)
@pytest.mark.parametrize("other", [(i for i in range(3)), threading.Lock(), np], ids=["it", "lock", "module"])
def test_what_cannot_be_copied_is_refused_in_words(measured, other):
    """Not with an error about pickles, which nobody asked for."""
    with pytest.raises(MeasurementError, match="arguments of plain cannot be copied"):
        measured(other)
