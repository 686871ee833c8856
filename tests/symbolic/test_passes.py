"""The compiled passes are followed on traced numbers: what they compute is judged, and nothing else."""

import math
import pathlib
import sys

import numpy as np
import pytest

import rulelab as rl
from rulelab.symbolic import sym_check

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from corpus.harness import all_cases  # noqa: E402

V = np.array([1.0, 2.0, 0.5])


def with_rule(slope):
    """A new function `area(w)` = w**3 with a rule whose cotangent is `slope(w, area_bar)`."""

    def area(w):
        return w**3

    @rl.rrule_for(area)
    def area_rrule(w):
        def area_pullback(area_bar):
            return rl.NoTangent(), slope(w, area_bar)

        return w**3, area_pullback

    return area


RIGHT = {
    "plain": lambda w, s: 3 * w**2 * s,
    "a thunk": lambda w, s: rl.thunk(lambda: 3 * w**2 * s),
    "in another order": lambda w, s: w * (s * w * 3),
}
WRONG = {
    "factor": lambda w, s: 2 * w**2 * s,
    "sign": lambda w, s: -3 * w**2 * s,
    "a millionth": lambda w, s: 3 * (1 + 1e-6) * w**2 * s,
    "a billionth": lambda w, s: 3 * (1 + 1e-9) * w**2 * s,
    "what comes in is ignored": lambda w, s: 3 * w**2,
    "what comes in is squared": lambda w, s: 3 * w**2 * s * s,
    "zero": lambda w, s: rl.ZeroTangent(),
    "wrong for negative w only": lambda w, s: 3 * w * abs(w) * s,
    "wrong where what comes in is negative": lambda w, s: 3 * w**2 * abs(s),
}


def composed(area):
    """A program in which the rule is one part of many, and what comes in is never 1."""

    def program(x, v):
        total = 0.0
        for i in range(len(v)):
            total += math.sin(x) * v[i] if v[i] > 0.75 else v[i] ** 2
        return area(total) * np.exp(-x) - area(x)

    return program


@pytest.mark.every(3)
@pytest.mark.parametrize("slope", RIGHT.values(), ids=RIGHT)
def test_a_program_with_a_right_rule_in_it_is_proved(slope):
    """And the rule is named: the proof is of the program with it."""
    report = sym_check(composed(with_rule(slope)), 0.7, V, time_limit=20.0)
    assert report.verdict.word == "PROVED", str(report)
    assert " ".join(report.notes).count("made with your rule area") == 1


@pytest.mark.parametrize("slope", WRONG.values(), ids=WRONG)
@pytest.mark.every(11, slow=True)
def test_a_program_with_a_wrong_rule_in_it_is_refuted(slope):
    """Whatever is wrong with the rule, the gradient made with it is wrong, and shown to be."""
    program = composed(with_rule(slope))
    report = sym_check(program, 0.7, V, time_limit=20.0, name="program")
    assert report.verdict.word == "REFUTED", str(report)
    example = report.verdict.counterexample
    found = eval(example.code, {"rl": rl, "np": np, "program": program})
    assert found == pytest.approx(float(example.found), rel=1e-9)


def test_a_rule_that_is_taken_back_no_longer_counts():
    """The gradient judged is the one that `gradient` gives now."""
    area = with_rule(WRONG["factor"])
    assert sym_check(area, 2.0).verdict.word == "REFUTED"
    rl.remove_rule(area)
    assert sym_check(area, 2.0).verdict.word == "PROVED"


def lists(x):
    made = [x, x * x]
    made.append(x**3)
    made[0] = made[1] + made[2]
    return sum(made)


def dicts(x):
    made = {"a": x}
    made["b"] = made["a"] * 2
    return made["a"] * made["b"]


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


def objects(x):
    return Square(x).area() * 2


def keywords(x):
    def scaled(x, by=2.0):
        return x * by

    return scaled(x, by=x) + scaled(3.0, by=x)


def newton(x):
    y = x
    for _ in range(4):
        y = 0.5 * (y + x / y)
    return y


def halved(x):
    n = 0
    while x > 0.1 and n < 5:
        x, n = x / 2, n + 1
    return x * x


def softmax(z):
    e = np.exp(z - np.max(z))
    return -np.log((e / e.sum())[0])


def layer(w, b, x):
    return np.sum(np.tanh(w @ x + b))


def items(m):
    return np.sum(m[0] * 2) + m[1, 1] ** 2 + m.T[0] @ m[0]


SQUARE = np.array([[2.0, 0.5], [0.3, 1.5]])
PROGRAMS = [
    (lists, (2.0,)),
    (dicts, (2.0,)),
    (objects, (2.0,)),
    (keywords, (2.0,)),
    (newton, (2.0,)),
    (halved, (2.0,)),
    (softmax, (V,)),
    (layer, (SQUARE, V[:2], V[1:])),
    (items, (SQUARE,)),
    (lambda x: np.log(np.sum(np.exp(x))), (V,)),
    (lambda a: np.sum(np.linalg.inv(a)), (SQUARE,)),
    (lambda x: np.where(x > 0.7, x**2, x).sum(), (V,)),
    (lambda x: np.cumsum(x)[-1] * x[0], (V,)),
    (lambda x: max(x, 0.0) * 2 + abs(x), (2.0,)),
]


@pytest.mark.every(17)
@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_programs_of_many_kinds_are_proved(f, args):
    """Containers, objects, keywords, loops, branches, items, linear algebra."""
    report = sym_check(f, *args, time_limit=20.0)
    assert report.verdict.word == "PROVED", str(report)


def test_a_number_that_was_frozen_is_no_proof():
    """A handler that keeps the plain number it was found with has forgotten what it depends on."""

    def kept(x):
        return sum(map(lambda v: v * v, [x, 2 * x])) + x

    assert sym_check(kept, 1.5).verdict.word in ("PROVED", "UNDECIDED")
    (number,) = sym_check(kept, 1.5).numbers
    assert number.found == pytest.approx(16.0) and number.digits >= 15


@pytest.mark.every(3)
@pytest.mark.parametrize("start", (0, 32))
def test_no_right_gradient_is_refuted(start):
    """Of the programs that the whole package is tested with, some; most of them are proved."""
    words = []
    for case in all_cases()[start::64]:
        args = case.points[0]
        if any(isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f") for x in args):
            report = sym_check(case.function, *args, kwargs=case.kwargs)
            assert report.verdict.word != "REFUTED", str(report)
            words.append(report.verdict.word)
    assert words.count("PROVED") > 0.6 * len(words)
