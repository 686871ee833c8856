"""Tests of the arguments that are drawn for what a function cuts into blocks."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.reading.shapes_read import shapes_read

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def centred(x, gain, *, groups=2):
    n, c = x.shape
    g = x.reshape(n, groups, c // groups)
    return (g - g.mean(axis=2, keepdims=True)).reshape(n, c) * gain


def centred_in(parts_of):
    def rule(x, gain, *, groups=2):
        n, c = x.shape
        split = (n, parts_of(groups), -1)
        g = x.reshape(split)
        z = (g - g.mean(axis=2, keepdims=True)).reshape(n, c)

        def pullback(y_bar):
            z_bar = (y_bar * gain).reshape(split)
            x_bar = z_bar - z_bar.mean(axis=2, keepdims=True)
            return NO, x_bar.reshape(n, c), np.sum(y_bar * z, axis=0)

        return centred(x, gain, groups=groups), pullback

    return rule


def test_as_many_blocks_as_an_option_says():
    kinds = shapes_read(centred)
    assert str(kinds["x"][0]) == "a matrix (n, 2*m)"
    assert [str(kind) for kind in kinds["gain"]] == ["a vector (2*m)", "a vector (n)", "a number"]


@pytest.mark.slow
def test_a_rule_that_is_for_the_usual_number_of_blocks_alone_is_wrong():
    def judged(parts_of):
        return rule_check(centred, registry=registry_with(centred, centred_in(parts_of)))

    right, wrong = judged(lambda groups: groups), judged(lambda groups: 2)
    assert right.verdict == "right", str(right)
    assert "(n, 2*m)" in str(right)
    assert wrong.verdict == "wrong", str(wrong)


def pooled(image, scale):
    h, w = image.shape
    return scale * image.reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3))


def test_blocks_along_both_axes():
    kinds = shapes_read(pooled)
    assert str(kinds["image"][0]) == "a matrix (2*n, 2*m)"
    assert str(kinds["scale"][-1]) == "a number"
