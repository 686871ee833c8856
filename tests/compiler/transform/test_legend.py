"""The comments at the head of a pass say what it is for, and what the helpers do that it names."""

import math
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import all_cases  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.transform.legend import _MEANINGS  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402


def scaled(x, factor):
    return np.sum(x * factor)


def left_over(x, step):
    """By a rule with a function of its own for both partial derivatives."""
    return math.fmod(x, step)


def head(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("#")]


def explained(f, *args):
    """How the comments on helpers begin."""
    return {line[4:].partition(",")[0] for line in head(rl.adjoint_source(f, *args))[1:]}


def test_the_arguments_are_named():
    """With their types, which the code depends on."""
    text = rl.adjoint_source(scaled, np.ones((2, 3)), 2.0)
    assert head(text)[0].startswith("# scaled(x: float64[2, 3], factor: float): ")


def test_what_is_not_there_is_not_explained():
    """A formula of numbers needs no helper, one of arrays others than a call of a rule."""
    square, middle = lambda x: x * x, lambda x: np.median(x)
    assert explained(square, 2.0) == {"ZERO: nothing flowed back; NO: nothing can"}
    assert explained(middle, np.ones(2)) >= {"pull(mul_back"}
    of_scaled = explained(scaled, np.ones(2), 2.0)
    assert of_scaled >= {"sum_bar(y_bar", "unbroadcast(y_bar * b"}
    assert not any(line.startswith("pull(") for line in of_scaled)


def test_every_operation_is_named():
    """No site, and no pullback, goes by a number alone."""
    met = set()
    sampled = [(case.function, case.points[0], case.kwargs) for case in all_cases()[::6]]
    for function, args, kwargs in [*sampled, (left_over, (7.25, 1.5), {})]:
        try:
            text = rl.adjoint_source(function, *args, **kwargs)
        except RuleLabError:
            continue
        if not text.startswith("# by rule"):
            body = text.replace(function.__name__, "")
            assert not re.search(r"\b(?:find|back|partials)(?:_\d+)?\b[(,]", body), function
            met |= {pattern for pattern, _ in _MEANINGS if re.search(pattern, text)}
    assert met == {pattern for pattern, _ in _MEANINGS}
