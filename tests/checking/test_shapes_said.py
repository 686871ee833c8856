"""Lengths that a docstring gives in words of its own: of two, one may have to be the larger; a section may
have them in what it says of a parameter.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.usage import shapes_said

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def judged(f, rule):
    return rule_check(f, registry=registry_with(f, rule))


def windows(series, taps):
    """Each window of the series (channels, steps), weighted by the taps (channels, width)."""
    seen = np.lib.stride_tricks.sliding_window_view(series, taps.shape[1], axis=1)
    return np.einsum("csw,cw->s", seen, taps)


def matched(image, stamp):
    """How well a stamp (p, q) fits at each place of an image (h, w)."""
    seen = np.lib.stride_tricks.sliding_window_view(image, stamp.shape)
    return np.einsum("hwpq,pq->hw", seen, stamp)


def windows_with(adds):
    def rule(series, taps):
        width = taps.shape[1]

        def pullback(y_bar):
            series_bar, taps_bar = np.zeros(series.shape), np.zeros(taps.shape)
            for s in range(len(y_bar)):
                there = slice(s, s + width)
                series_bar[:, there] = adds * series_bar[:, there] + y_bar[s] * taps
                taps_bar += y_bar[s] * series[:, there]
            return NO, series_bar, taps_bar

        return windows(series, taps), pullback

    return rule


def matched_with(adds):
    def rule(image, stamp):
        p, q = stamp.shape

        def pullback(y_bar):
            image_bar, stamp_bar = np.zeros(image.shape), np.zeros(stamp.shape)
            for i, j in np.ndindex(y_bar.shape):
                there = slice(i, i + p), slice(j, j + q)
                image_bar[there] = adds * image_bar[there] + y_bar[i, j] * stamp
                stamp_bar += y_bar[i, j] * image[there]
            return NO, image_bar, stamp_bar

        return matched(image, stamp), pullback

    return rule


@pytest.mark.parametrize(("f", "rule_with"), [(windows, windows_with), (matched, matched_with)])
def test_of_two_lengths_that_are_said_one_may_have_to_be_the_larger(f, rule_with):
    """Of a window as long as what it moves along there is one, and nothing overlaps."""
    right = judged(f, rule_with(1))
    assert right.verdict == "right", right
    assert judged(f, rule_with(0)).verdict == "wrong"


def curve(points, t, steps, labels):
    """Points on a line through others.

    Args:
        points (array): what it goes through, shape (k, d).
        t (np.ndarray, shape (n,)): where.
        steps: of shape (m, n) or (n,).
        labels (array of int): classes, shape (m,).
    """
    return np.interp(t, np.arange(len(points)), points[:, 0])


def test_a_section_gives_lengths_in_what_it_says_of_a_parameter():
    assert dict(shapes_said(curve)) == {"points": ("k", "d"), "t": ("n",)}
