"""Sizes and domains of one's own: the samples keep to them, the verdict names them, nonsense is told."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rulelab.advice import ONE_SIZE
from rulelab.checking.reading.kinds import DomainError
from rulelab.errors import RuleLabError
from rulelab.symbolic import prove
from rulelab.symbolic.cells import Array, Static, Symmetric, samples
from rulelab.symbolic.limits import is_inside_limits, sized_specs
from rulelab.symbolic.questions import judged_arguments


def magnitude(x):
    return abs(x)


def magnitude_rrule(x):
    """Right for positive numbers alone."""
    return abs(x), lambda y_bar: (None, y_bar)


def mean(x):
    return np.sum(x) / len(x)


def mean_rrule(x):
    """Right for three numbers alone."""
    return mean(x), lambda y_bar: (None, np.full(len(x), y_bar / 3))


def matvec(A, b):
    return A @ b


def matvec_rrule(A, b):
    return A @ b, lambda y_bar: (None, np.outer(y_bar, b), A.T @ y_bar)


# -- domains -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limit", [(0, math.inf), (-math.inf, 0), (Fraction(1), Fraction(2)), (-3, Fraction(1, 10)), (5, math.inf)]
)
def test_every_sample_lies_inside(limit):
    """Numbers and the entries of arrays, strictly between both ends."""
    points = list(samples(("scalar", (2, 2), Static(7)), np.random.default_rng(3), (limit, limit, None)))
    assert points and all(is_inside_limits(point, (limit, limit, None)) for point in points)
    assert {point[2].value for point in points} == {7}


def test_an_interval_around_zero_is_tried_on_both_sides():
    """A rule that is wrong on one half of it is found."""
    points = list(samples(("scalar",), np.random.default_rng(3), ((-1, Fraction(1, 2)),)))
    assert {point[0] > 0 for point in points} == {True, False}
    assert prove(magnitude, magnitude_rrule, domain=(-1, 0.5)).verdict.word == "REFUTED"


def test_without_limits_the_samples_are_as_they_were():
    """A domain of all numbers changes no verdict."""
    plain = list(samples(("scalar", (3,)), np.random.default_rng(5)))
    assert plain == list(samples(("scalar", (3,)), np.random.default_rng(5), (None, None)))


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ("positive", "x positive"),
        ((1, 2.5), "x between 1 and 2.5"),
        ({"x": (3, math.inf)}, "x above 3"),
    ],
)
def test_a_rule_that_is_right_there_is_proved_there(domain, words):
    """And the scope says for which numbers; everywhere it is refuted."""
    assert prove(magnitude, magnitude_rrule).verdict.word == "REFUTED"
    verdict = prove(magnitude, magnitude_rrule, domain=domain).verdict
    assert verdict.word == "PROVED" and verdict.scope.endswith(words)


def test_a_border_outside_of_the_domain_is_not_visited():
    """The function has another branch beyond 10, where the rule is wrong."""

    def bent(x):
        return x if x < 10 else 2 * x

    def rule(x):
        return bent(x), lambda y_bar: (None, y_bar)

    assert prove(bent, rule).verdict.word == "REFUTED"
    assert prove(bent, rule, domain=(0, 10)).verdict.word == "PROVED"


def test_a_function_that_lives_on_an_interval_is_judged_there():
    """Entropy, on vectors of probabilities, as words for a domain say it."""

    def entropy(p):
        return -np.sum(p * np.log(p))

    def rule(p):
        return entropy(p), lambda y_bar: (None, -y_bar * (np.log(p) + 1))

    verdict = prove(entropy, rule, domain="probability vector").verdict
    assert verdict.word == "PROVED" and "sizes (2,), (3,) and (5,), with p between 0 and 1" in verdict.scope


def test_words_say_what_an_argument_is():
    """A positive definite matrix is sampled as one."""

    def log_determinant(A):
        return np.log(np.linalg.det(A))

    def rule(A):
        return log_determinant(A), lambda y_bar: (None, y_bar * np.linalg.inv(A).T)

    verdict = prove(log_determinant, rule, domain="positive definite", sizes=[(2, 2), (3, 3)]).verdict
    assert verdict.word == "PROVED" and "(3, 3) (symmetric)" in verdict.scope
    _, plans = judged_arguments(log_determinant, None, (), None, {"A": "square"})
    assert {plan.specs for plan in plans} == {(((2, 2),), ((3, 3),))}
    _, plans = judged_arguments(log_determinant, None, (), [(2, 2)], {"A": "positive definite"})
    assert plans[0].specs == ((Symmetric(2),),)


def test_a_given_matrix_moves_as_those_of_its_domain_do():
    """A rule that shares its cotangent out to both triangles is right where matrices stay symmetric."""

    def rule(A):
        L = np.linalg.cholesky(A)

        def back(b):
            middle = np.tril(L.T @ b)
            middle = middle - np.diag(np.diag(middle)) / 2
            inverse = np.linalg.inv(L)
            full = inverse.T @ middle @ inverse
            return None, (full + full.T) / 2

        return L, back

    at = (np.array([[4.0, 1.0], [1.0, 3.0]]),)
    domain = {"A": "positive definite"}
    report = prove(lambda A: np.linalg.cholesky(A), rule, at=at, domain=domain)
    assert report.verdict.word == "PROVED" and "positive definite matrices 2x2" in report.verdict.sentence()
    with pytest.raises(DomainError, match="not symmetric"):
        prove(np.linalg.cholesky, rule, at=(np.array([[4.0, 1.0], [2.0, 3.0]]),), domain="positive definite")


@pytest.mark.parametrize(
    ("domain", "options", "words"),
    [
        ((2, 1), {}, "low < high"),
        ((1, 1), {}, "low < high"),
        ((math.nan, 1), {}, "low < high"),
        ("positve", {}, "'positve' is not a domain"),
        ({"q": (0, 1)}, {}, "there is no argument q, only x, n"),
        ({"n": (0, 9)}, {}, "n is held fixed"),
        ("complex", {}, "cannot choose arguments such as a complex number"),
        ("integer", {}, "cannot choose arguments such as an integer"),
        ("positive", {"at": -2.0}, "do not lie in the domain"),
        ("positive", {"at": 0.0}, "do not lie in the domain"),
        ("vector", {"at": 2.0}, "does not fit the kind or size"),
        ("square", {"sizes": [(2, 3)]}, "does not fit the kind or size"),
        (7, {}, "a word or"),
    ],
)
def test_a_domain_that_makes_no_sense_is_told(domain, options, words):
    """Before anything is computed."""

    def power(x, n=2):
        return x**n

    with pytest.raises(DomainError, match=words):
        prove(power, lambda x, n=2: None, domain=domain, **options)


# -- sizes ---------------------------------------------------------------------------------------------------


def test_a_rule_made_for_one_size_is_found_at_another():
    """At the one size it is made for it is proved, with a word of warning."""
    alone = prove(mean, mean_rrule, sizes=[3])
    assert alone.verdict.word == "PROVED" and alone.verdict.scope.endswith("for sizes (3,)")
    assert alone.notes == (ONE_SIZE,)
    assert prove(mean, mean_rrule, sizes=3).verdict == alone.verdict
    assert prove(mean, mean_rrule, sizes=[3, 4]).verdict.word == "REFUTED"


def test_each_argument_may_have_a_size_of_its_own():
    """A tuple of shapes; the scope names them."""
    verdict = prove(matvec, matvec_rrule, sizes=[((2, 3), 3), ((4, 2), 2)]).verdict
    assert verdict.word == "PROVED" and "for A: matrix 2x3, 4x2, b: vector of length 3, 2" in verdict.scope


def test_numbers_and_arrays_are_shared_out():
    """All of the arguments are arrays at first, then some of them."""
    assert sized_specs([3, (2, 4)], [None, Static(5), None]) == [
        (((3,), Static(5), (3,)), ((2, 4), Static(5), (2, 4))),
        (((3,), Static(5), "scalar"), ((2, 4), Static(5), "scalar")),
        (("scalar", Static(5), (3,)), ("scalar", Static(5), (2, 4))),
    ]
    assert sized_specs([((), 3)], [None, None]) == [(("scalar", (3,)),)]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ([], r"such as \[3, 5\]"),
        ("3", r"such as \[3, 5\]"),
        ({3}, r"such as \[3, 5\]"),
        ([0], "lengths of a size must be at least 1"),
        ([(2, -1)], "lengths of a size must be at least 1"),
        ([2.5], "a length such as 3"),
        (["3"], "a length such as 3"),
        ([()], "a length or a shape"),
        ([((2, 3), 3)], "a shape for each argument that varies: 1, not 2"),
    ],
)
def test_sizes_that_make_no_sense_are_told(sizes, words):
    """Before anything is computed."""
    with pytest.raises(RuleLabError, match=words):
        prove(mean, mean_rrule, sizes=sizes)


def test_sizes_and_sample_arguments_are_one_too_many():
    """Both would say how large the arrays are."""
    with pytest.raises(RuleLabError, match="not both"):
        prove(mean, mean_rrule, sizes=[3], at=np.ones(3))
    with pytest.raises(RuleLabError, match="held fixed"):
        prove(lambda n=3: n, lambda n=3: None, sizes=[3])


def test_a_function_that_refuses_these_sizes_is_told():
    """With what it raised."""
    verdict = prove(matvec, matvec_rrule, sizes=[(2, 3)]).verdict
    assert verdict.word == "UNSUPPORTED" and "mismatch" in verdict.construct
    verdict = prove(lambda x: math.exp(x), lambda x: None, sizes=[3, 4]).verdict
    assert verdict.word == "UNSUPPORTED" and "arrays of these kinds and sizes" in verdict.construct


# -- keyword arguments ---------------------------------------------------------------------------------------


def test_a_parameter_given_by_keyword_is_held():
    """Also one that could be given by position: the rule is called as the caller writes it."""

    def scaled(x, k=1.0):
        return k * x

    def rule(x, k=1.0):
        return k * x, lambda y_bar: (None, k * y_bar)

    assert prove(scaled, rule, kwargs={"k": 2.0}).verdict.word == "PROVED"
    assert prove(scaled, rule, at=(3.0,), kwargs={"k": 2.0}).verdict.word == "PROVED"
    assert prove(scaled, rule).verdict.kind == "arity"


def test_the_entries_of_an_array_are_looked_at():
    """One outside is one too many."""
    assert is_inside_limits((Array((Fraction(1), Fraction(2)), (2,)),), ((0, 3),))
    assert not is_inside_limits((Array((Fraction(1), Fraction(3)), (2,)),), ((0, 3),))
