"""Tests of what is read in the text of a function about its parameters."""

import numpy as np
import pytest

from rulelab.checking.reading.axes_read import factors_of, reduced_parameters, summed_for
from rulelab.checking.reading.usage import clipped_between, index_parameters


def packet(x, k, s):
    return np.tanh(k * x) * np.exp(-(x**2) / (2 * s**2))


def rate_law(s, vmax, km):
    return vmax * s / (km + s)


def step(w, g, rate):
    return w - rate * g


@pytest.mark.parametrize(
    "f, others, factors", [(packet, "x", {"k", "s"}), (rate_law, "s", {"vmax"}), (step, "w", set())]
)
def test_a_factor_stands_in_products_with_the_others_alone(f, others, factors):
    assert factors_of(f, frozenset([others])) - {others} == factors


def picked(E, tokens):
    return E[tokens]


def binned(x, seg, i, w):
    out = np.zeros(3)
    np.add.at(out, seg, w * x)
    return out[i, 0] + np.bincount(seg)[0]


def joined(x, last):
    return x * np.r_[x[:-1], last] + np.c_[x, last].sum(1)


def looked_up(E, tokens, order):
    rows = np.asarray(tokens)
    return E[rows].sum(axis=0)[order.astype(int)]


@pytest.mark.parametrize(
    "f, found",
    [
        (picked, {"tokens"}),
        (looked_up, {"tokens", "order"}),
        (binned, {"seg", "i"}),
        (step, set()),
        (joined, set()),
    ],
)
def test_what_picks_out_of_arrays_is_an_index(f, found):
    assert index_parameters(f) == found


def log_normaliser(alpha, p, scale):
    return np.sum(alpha) + len(p) * scale


def limited(x, floor, cap, c):
    return np.clip(x, floor, cap) + x.clip(0, cap) + np.clip(x, -c, c) + np.clip(x, 0.0, 1.0)


def test_what_a_sum_is_taken_of_is_an_array():
    assert reduced_parameters(log_normaliser) == {"alpha", "p"}


def test_the_ends_of_a_clip_are_in_order():
    assert set(clipped_between(limited)) == {("floor", "cap"), (0.0, "cap"), (0.0, "c")}


def shares_rrule(x, k):
    share = x / x.sum()

    def back(y_bar):
        return None, share * y_bar / k, -np.sum(share * x) * y_bar / k**2

    return np.sum(share * x) / k, back


def test_what_stands_beside_its_own_sum_is_no_number():
    """`x / x.sum()` is an array as x is; a sum over everything, by a number, is a number."""
    assert summed_for(shares_rrule, of_number=True) == {"k"}
