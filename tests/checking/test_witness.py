"""Tests of what numbers say beside a proof: what is wrong with a rule outside of what is traced, and nothing
of a rule that is right.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.calling.subjects import codes_of
from rulelab.checking.reading.usage import speaks_of_complex
from rulelab.checking.testing.witness import numeric_evidence
from rulelab.symbolic import prove

from .rules import registry_with

NO = rl.NoTangent()


def gated(x, g):
    return x + g * (x**3 - x)


def gated_with(order):
    def rule(x, g):
        def pullback(y_bar):
            x_bar = np.empty(np.shape(x))
            x_bar.flat = (y_bar * (1 + g * (3 * x**2 - 1))).ravel(order=order)
            return NO, x_bar, y_bar * (x**3 - x)

        return gated(x, g), pullback

    return rule


def filtered(x, w):
    """x is time by channels; each channel has its own filter w[:, c]."""
    return sum(w[j] * np.roll(x, j, axis=0) for j in range(len(w)))


def filtered_with(axis):
    def rule(x, w):
        def pullback(y_bar):
            x_bar, w_bar = np.zeros(x.shape), np.zeros(w.shape)
            for j in range(len(w)):
                x_bar += np.roll(w[j] * y_bar, -j, axis=0)
                w_bar[j] = np.sum(np.roll(x, j, axis=0) * y_bar, axis=axis)
            return NO, x_bar, w_bar

        return filtered(x, w), pullback

    return rule


def squares(x):
    return np.sum(x**2)


def squares_with(buffer):
    def rule(x):
        def pullback(y_bar):
            x_bar = buffer(x)
            x_bar[...] = 2 * y_bar * x
            return NO, x_bar

        return squares(x), pullback

    return rule


def mean(x):
    return np.sum(x) / len(x)


def mean_with(length):
    return lambda x: (mean(x), lambda y_bar: (NO, np.full(len(x), y_bar / length(x))))


def scaled(A, x, lower=True):
    return (np.tril(A) if lower else np.triu(A)) @ x


def scaled_with(part_of):
    def rule(A, x, lower=True):
        T = np.tril(A) if lower else np.triu(A)
        return T @ x, lambda y_bar: (NO, part_of(lower)(np.outer(y_bar, x)), T.T @ y_bar, NO)

    return rule


# Each is right for what a proof is of: another layout, kind, type, length or flag shows the mistake.
OUTSIDE = {
    "matrices, transposed in memory": (gated, gated_with("C"), gated_with("K")),
    "rows that the docstring speaks of": (filtered, filtered_with(0), filtered_with(None)),
    "for whole numbers": (squares, squares_with(lambda x: np.empty(x.shape)), squares_with(np.empty_like)),
    "of length": (mean, mean_with(len), mean_with(lambda x: min(len(x), 5))),
    "with lower = False": (
        scaled,
        scaled_with(lambda lower: np.tril if lower else np.triu),
        scaled_with(lambda _: np.tril),
    ),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("where", OUTSIDE)
def test_numbers_find_what_a_proof_did_not_look_at(where):
    f, right, wrong = OUTSIDE[where]
    assert numeric_evidence(f, {}, registry_with(f, right)).wrong is None
    words, at = numeric_evidence(f, {}, registry_with(f, wrong)).wrong
    assert where.startswith("rows") or where.split(", ")[-1] in words
    assert " = " in at


@pytest.mark.parametrize("where", OUTSIDE)
@pytest.mark.every(5, slow=True)
def test_a_proof_does_not_contradict_the_numbers(where):
    """Given nothing a wrong rule is refuted, with what it is right for; and a right rule is proved."""
    f, right, wrong = OUTSIDE[where]
    assert prove(f, registry=registry_with(f, right)).verdict.word == "PROVED"
    report = prove(f, registry=registry_with(f, wrong))
    assert (report.verdict.word, report.verdict.kind) == ("REFUTED", "numbers")
    assert report.notes[0].startswith("found by numbers at ")
    assert report.notes[1].startswith("elsewhere it is right, PROVED for ")


def test_a_proof_for_given_arguments_stands():
    f, _, wrong = OUTSIDE["for whole numbers"]
    proof = prove(f, registry=registry_with(f, wrong), at=(np.array([0.5, 1.5, -2.0]),))
    assert proof.verdict.word == "PROVED"


def test_the_form_of_answers_may_be_another_than_the_ad_takes():
    """A rule that is handed over by hand may say `None` of its function; a registered one may not."""

    def cube(x):
        return x**3

    registry = registry_with(cube, lambda x: (x**3, lambda y_bar: (None, 3 * x**2 * y_bar)))
    assert "None" in numeric_evidence(cube, {}, registry).wrong[0]
    assert numeric_evidence(cube, {}, registry, of_form=False).wrong is None


def test_nothing_is_said_where_no_arguments_are_found():
    def picky(x):
        raise ValueError("not these")

    registry = registry_with(picky, lambda x: (x, lambda y_bar: (NO, y_bar)))
    assert numeric_evidence(picky, {}, registry).wrong is None


def inclination(x):
    return np.arcsin(x)


def inclination_with(slope):
    def rule(x):
        return inclination(x), lambda y_bar: (NO, y_bar * slope(x))

    return rule


@pytest.mark.slow
def test_what_a_proof_sets_aside_as_not_meant_is_asked_of_the_whole_check():
    """A proof between 0 and 1 beside a check that says "wrong" below zero would be two answers."""

    def wrong_below_zero(x):
        return np.sign(x) / np.sqrt(1 - x**2)

    wrong = registry_with(inclination, inclination_with(wrong_below_zero))
    assert prove(inclination, registry=wrong).verdict.word == "REFUTED"
    right = registry_with(inclination, inclination_with(lambda x: 1 / np.sqrt(1 - x**2)))
    assert prove(inclination, registry=right).verdict.word == "PROVED"


@pytest.mark.parametrize("name", ["angle", "real"])
def test_a_function_of_the_authors_own_is_no_word_of_complex_numbers(name):
    """A right rule of real numbers was wrong in complex ones because its function is called like NumPy's."""
    text = (
        "def NAME(x):\n    return np.arcsin(x)\n\n"
        "def rule(x):\n    return NAME(x), lambda y_bar: (NO, y_bar / np.sqrt(1 - x**2))\n"
    )
    space = {"np": np, "NO": NO}
    exec(text.replace("NAME", name), space)
    codes = [space[name].__code__, *codes_of(space["rule"])]
    assert not speaks_of_complex(codes)
    conj = compile("lambda y_bar: np.NAME(y_bar)".replace("NAME", name), "", "eval").co_consts[0]
    assert speaks_of_complex([*codes, conj])
    assert rl.rule_check(space[name], registry=registry_with(space[name], space["rule"])).verdict == "right"
