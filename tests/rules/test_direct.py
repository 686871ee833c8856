"""Tests of what stands for functions of NumPy: the same numbers, bit by bit, the same warnings and errors."""

import warnings

import numpy as np
import pytest

from rulelab.rules import direct
from rulelab.rules.kinds import F8, Array

ARRAYS = [
    np.array([0.5, -1.0, 3.25, 1e-300]), np.array([-0.0]), np.array([np.nan, 1.0]), np.array([1e308, 1e308]),
    np.array([np.inf, -np.inf]), np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)),
    np.arange(12.0).reshape(3, 4) / 7, (np.arange(24.0).reshape(2, 3, 4) / 7).T, np.arange(24.0)[::-3] / 3,
    np.arange(6).reshape(2, 3), np.array([True, False, True]), np.float32([0.1, 0.2, 3e38, 3e38]),
    np.array([1 + 2j, 3 - 1j]), np.random.default_rng(0).random((3, 300)),
]  # fmt: skip
AXES = [None, 0, -1, 1, 2, -4, (0,), (0, 1), (-1, 0), (2, 0), (), (0, 0), (0, 5)]
OPTIONS = [(), *((axis,) for axis in AXES)]


def said(call):
    """What a call gives, or what it raises, and its warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            y = call()
            told = type(y), np.shape(y), y.dtype, y.tobytes()
        except Exception as error:
            told = type(error), str(error)
    return told, [(one.category, str(one.message)) for one in heard]


@pytest.mark.parametrize("target", list(direct._DIRECT), ids=lambda f: f.__qualname__)
@pytest.mark.parametrize("words", [{}, {"keepdims": True}, {"keepdims": False}], ids=str)
def test_what_stands_for_a_function_says_what_it_says(target, words):
    asked = 0
    for x in ARRAYS:
        found = direct.direct(target, Array(x.dtype.str[1:], x.ndim))
        for options in OPTIONS if found else ():
            asked += 1
            axis = options or (None,)
            wanted = said(lambda x=x, options=options: target(x, *options, **words))
            assert said(lambda x=x, axis=axis, found=found: found.call(x, *axis, **words)) == wanted
    assert asked > 50


def test_only_for_what_certainly_is_an_array():
    assert direct.direct(np.sum, F8) is None
    assert direct.direct(np.mean, Array("i8", 1)) is None
    assert direct.direct(np.exp, Array("f8", 1)) is None
    assert direct.direct([], Array("f8", 1)) is None
