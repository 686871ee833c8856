"""Tests of one point of a check: what is measured there, what the rule is asked, and which lines ran."""

import dataclasses
import sys

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.calling.subjects import NoRuleError, Subject, subject_of
from rulelab.checking.probing.closeness import Tolerance, closeness, weighted
from rulelab.checking.probing.probes import (
    Point,
    answers_of_changed_rule,
    probe_forward,
    probe_reverse,
    truth_at,
    watched_lines,
)
from rulelab.checking.testing.testers import rule_check
from rulelab.rules.registry import Registry

from .rules import (
    cube,
    cube_frule,
    cube_rrule,
    forgetful_rrule,
    product,
    product_rrule,
    registry_with,
    step,
    step_rrule,
)

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def rng():
    return np.random.default_rng(5)


def probed(f, rule, *args, mode="rrule", **point):
    subject, inputs = subject_of(f, args, {}, mode, None, registry_with(f, rule, mode))
    where = Point(inputs, **point)
    ask = probe_reverse if mode == "rrule" else probe_forward
    return subject, ask(subject, where, truth_at(subject, where, rng()), rng())


def test_the_matrices_of_function_and_rule():
    """Small functions are known whole, and so is what their rule stands for."""
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0], [-1.0]])
    _, probe = probed(product, product_rrule, a, b)
    np.testing.assert_allclose(probe.truth.jacobian.value, [[3.0, -1.0, 1.0, 2.0]], rtol=1e-9)
    np.testing.assert_allclose(probe.matrix, [[3.0, -1.0, 1.0, 2.0]], rtol=1e-9)
    assert [leaf.name for leaf in probe.truth.inputs] == ["a", "b"]


def test_complex_numbers_are_two_reals():
    """The real part first; the transpose of the real matrix is the convention for cotangents."""

    def conjugate_cube_rrule(z):
        return z**3, lambda y_bar: (__import__("rulelab").NoTangent(), np.conj(3 * z**2) * y_bar)

    _, probe = probed(cube, conjugate_cube_rrule, 1.0 + 2.0j)
    np.testing.assert_allclose(probe.matrix, probe.truth.jacobian.value, rtol=1e-9)


def test_large_functions_are_known_along_some_directions():
    """Asking for the whole matrix says so, instead of giving a part of it."""
    _, probe = probed(cube, cube_rrule, np.linspace(1.0, 2.0, 100))
    assert not probe.truth.whole and not closeness(probe, Tolerance.of(probe)).wrong.any()
    with pytest.raises(ValueError, match="directions"):
        probe.truth.jacobian
    with pytest.raises(ValueError, match="cotangents"):
        probe.matrix


def test_an_input_held_fixed_has_no_column():
    """Neither in the function nor in the rule."""
    _, probe = probed(product, product_rrule, np.ones((1, 2)), np.ones((2, 1)), constant=frozenset({1}))
    assert probe.truth.jacobian.value.shape == probe.matrix.shape == (1, 2)


def test_single_precision_is_measured_in_double():
    """At the same numbers: the error bars are those of doubles."""
    _, probe = probed(cube, cube_rrule, np.array([1.5, -2.0], np.float32))
    np.testing.assert_allclose(np.diag(probe.truth.jacobian.value), [6.75, 12.0], rtol=1e-9)
    assert Tolerance.of(probe).rtol > 1e-5


def test_bounds_are_never_crossed():
    """Not by a difference either."""
    asked = []

    def f(x):
        asked.append(x)
        return x**3

    subject, inputs = subject_of(f, (0.01,), {}, "rrule", None, registry_with(f, cube_rrule))
    truth_at(subject, Point(inputs, bounds=((0.0, 1.0),)), rng())
    assert 0.0 < min(asked) and max(asked) < 1.0


def test_what_a_rule_raises_is_kept():
    """The check goes on."""

    def broken_rrule(x):
        raise KeyError("lost")

    _, probe = probed(cube, broken_rrule, 2.0)
    assert isinstance(probe.failure, KeyError) and not probe.answers.size


def test_the_lines_that_ran_are_known():
    """Of the function and of its rule; each branch has its own."""
    _, low = probed(step, step_rrule, 1.0)
    _, high = probed(step, step_rrule, 3.0)
    assert low.lines and high.lines and low.lines != high.lines


def test_a_debugger_keeps_its_hook():
    """Lines are not watched under it."""
    subject, _ = subject_of(cube, (2.0,), {}, "rrule", None, registry_with(cube, cube_rrule))

    def own(frame, event, arg):
        return None

    before = sys.gettrace()
    sys.settrace(own)
    try:
        with watched_lines(subject) as lines:
            cube(2.0)
            assert sys.gettrace() is own
    finally:
        sys.settrace(before)
    assert not lines


def test_forwards_each_direction_is_one_call():
    """The columns of the matrix, then random tangents."""
    _, probe = probed(cube, cube_frule, np.array([1.0, 2.0]), mode="frule")
    np.testing.assert_allclose(probe.answers[:2], np.diag([3.0, 12.0]), rtol=1e-9)
    assert not closeness(probe, Tolerance.of(probe), forward=True).wrong.any()


def test_the_worst_number_is_pointed_at():
    """By the name it has in Python."""
    _, probe = probed(cube, forgetful_rrule, np.array([1.0, 2.0]))
    compared = closeness(probe, Tolerance.of(probe))
    worst = compared.worst(compared.wrong_leaves()[0])
    assert worst.name in ("x[0]", "x[1]") and worst.found != worst.expected


def test_numbers_that_are_not_known_are_neither_right_nor_wrong():
    """Where they have weight; where they have none they do not matter."""
    value, error = np.array([[1.0], [np.nan]]), np.array([[0.1], [np.inf]])
    total, bars = weighted(np.array([[2.0, 0.0], [1.0, 1.0]]), value, error)
    assert total[0, 0] == 2.0 and np.isnan(total[1, 0]) and np.isinf(bars[1, 0])


def test_noise_of_the_rule_lengthens_the_error_bars():
    """What moves by a last digit of the inputs is no mistake."""
    _, probe = probed(cube, forgetful_rrule, 2.0)
    compared = closeness(probe, Tolerance.of(probe)).of_rows(probe.usual)
    assert compared.wrong.any()
    assert not compared.with_noise(np.full(compared.found.shape, 1e3)).wrong.any()
    assert compared.with_noise(np.zeros(compared.found.shape)).wrong.any()


def test_a_method_has_its_object_first():
    """The numbers in the object are inputs too."""
    import rulelab as rl

    @dataclasses.dataclass
    class Line:
        slope: float

        def at(self, x):
            return self.slope * x

    @rl.rrule_for(Line.at)
    def at_rrule(self, x):
        return self.slope * x, lambda y_bar: (
            rl.NoTangent(), rl.Tangent(Line, slope=x * y_bar), self.slope * y_bar,
        )  # fmt: skip

    subject, inputs = subject_of(Line(2.0).at, (3.0,), {})
    probe = probe_reverse(subject, Point(inputs), truth_at(subject, Point(inputs), rng()), rng())
    assert [leaf.name for leaf in probe.truth.inputs] == ["self.slope", "x"]
    np.testing.assert_allclose(probe.matrix, [[3.0, 2.0]])


def test_no_rule_says_for_which_arguments():
    """And how one is stated."""
    with pytest.raises(NoRuleError, match=r"cube has no rrule for these arguments \(float\)"):
        subject_of(cube, (2.0,), {}, registry=Registry())


@pytest.mark.parametrize("large", [3.0, 3000.0, 3e6])
def test_close_by_is_what_is_so_for_each_argument(large):
    """Beside a large number a share is moved by no more than beside a small one; a jump is one by both."""

    def settling(speed, share):
        return np.log10(share) ** -2 + 1e-9 * speed

    def stepping(speed, share):
        return 1.0 + (share > 0.02) + 1e-9 * speed

    named = ("speed", "share")
    point = Point((large, 0.02))
    found = truth_at(Subject("settling", settling, names=named), point, rng()).slopes
    assert found.known().all()
    expected = -2 * np.log10(0.02) ** -3 / (0.02 * np.log(10))
    np.testing.assert_allclose(found.value, [[1e-9, expected]], rtol=1e-6)
    assert not truth_at(Subject("stepping", stepping, names=named), point, rng()).is_smooth


def test_coefficients_of_a_ten_millionth_are_measured():
    """As those of a thermistor: a millionth away the function is another one."""

    def celsius(resistance, a, b, c):
        x = np.log(resistance)
        return 1.0 / (a + b * x + c * x**3) - 273.15

    args = (1e4, 1.1e-3, 2.4e-4, 7.5e-8)
    named = ("resistance", "a", "b", "c")
    found = truth_at(Subject("celsius", celsius, names=named), Point(args), rng()).slopes
    x, kelvin = np.log(1e4), celsius(*args) + 273.15
    assert found.known().all()
    np.testing.assert_allclose(found.value[0, 1:], -(kelvin**2) * x ** np.array([0.0, 1.0, 3.0]), rtol=1e-6)


def test_nothing_is_said_at_a_jump():
    """Not of the numbers beside the one that jumps either."""
    singular = np.array([[0.5, 0.5], [0.5, 0.5]])
    for f, x in ((np.linalg.pinv, singular), (np.floor, np.array([1.0, 2.5]))):
        subject, inputs = subject_of(f, (x,), {})
        assert not truth_at(subject, Point(inputs), rng()).jacobian.known().any()
    subject, inputs = subject_of(np.linalg.pinv, (singular + np.eye(2),), {})
    assert truth_at(subject, Point(inputs), rng()).jacobian.known().all()


def test_a_slope_that_is_another_close_by_binds_nobody():
    """`clip(a, b, b)` does not change with a alone, and a rule may yet give it all of the cotangent; what is
    smooth beside a kink is known.
    """
    subject, inputs = subject_of(np.clip, (0.3, 0.3, 0.3), {})
    assert not truth_at(subject, Point(inputs), rng()).jacobian.known().any()
    subject, inputs = subject_of(bent, (np.array([0.0, 1.5]),), {}, registry=registry_with(bent, bent_rrule))
    assert truth_at(subject, Point(inputs), rng()).jacobian.known().tolist() == [[False, True]]


def bent(x):
    return abs(x[0]) + x[1] ** 3


def bent_rrule(x):
    return bent(x), lambda y_bar: (None, y_bar * np.array([np.sign(x[0]), 3 * x[1] ** 2]))


def guarded(guard, slope=1.0):
    """A function with a number in its code against a division by zero, and its rule; right for slope 1."""
    made = {"np": np, "slope": slope, "NOTHING": rl.NoTangent()}
    text = f"""
def unit(x):
    return x / np.maximum(np.sqrt(np.sum(x**2)), {guard!r})

def rule(x):
    n = np.maximum(np.sqrt(np.sum(x**2)), {guard!r})
    return x / n, lambda y_bar: (NOTHING, slope * (y_bar - x * np.sum(x * y_bar) / n**2) / n)
"""
    exec(text, made)
    return made["unit"], made["rule"]


@pytest.mark.every(11)
@pytest.mark.parametrize("given", [np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0], np.float32)], ids=str)
@pytest.mark.parametrize("guard", [1e-12, 1e-38, 1e-46, 1e-100, 1e-300])
def test_a_number_of_the_code_is_a_cotangent_only_where_floats_of_that_size_hold_digits(guard, given):
    """A guard against zero is none in single precision, where it is zero itself."""
    for slope, verdict in ((1.0, "right"), (1.5, "wrong")):
        unit, rule = guarded(guard, slope)
        report = rule_check(unit, given, registry=registry_with(unit, rule))
        assert report.verdict == verdict, str(report)


def test_a_number_of_the_code_is_a_cotangent():
    """Rules compare cotangents with such."""

    def clipping(x):
        return x**3, lambda y_bar: (rl.NoTangent(), 3 * x**2 * np.where(np.abs(y_bar) <= 1e-20, 0.0, y_bar))

    assert rule_check(cube, np.array([1.0, 2.0]), registry=registry_with(cube, clipping)).verdict == "wrong"


def overwriting(x, at, s):
    """Writes into what it is handed."""
    x *= s
    at += 1
    return np.sum(x**2 * at)


def overwriting_rrule(x, at, s):
    def back(y_bar):
        factor = 2 * y_bar * (at + 1)
        return rl.NoTangent(), factor * s**2 * x, rl.NoTangent(), np.sum(factor * s * x**2)

    return np.sum((x * s) ** 2 * (at + 1)), back


@pytest.mark.parametrize("constant", [(), (1,)])
def test_what_a_function_writes_into_its_arguments_is_written_into_copies(constant):
    """Each time that it is asked: the next time they are as they were given."""
    given = np.array([1.0, 2.0]), np.array([0, 3]), 1.5
    subject, _ = subject_of(
        overwriting, given, {}, "rrule", None, registry_with(overwriting, overwriting_rrule, "rrule")
    )
    truth = truth_at(subject, Point(given, constant=frozenset(constant)), rng())
    assert given[0].tolist() == [1.0, 2.0] and given[1].tolist() == [0, 3]
    np.testing.assert_allclose(truth.jacobian.value, [[4.5, 36.0, 51.0]])


def _square(x):
    return x * x


def _squares_pullback(x):
    return _square(x), lambda y_bar: (2 * y_bar * x,)


def _squares_tangent(tangents, x):
    return _square(x), 2 * tangents[0] * x


@pytest.mark.parametrize(
    "ask, how",
    [(probe_reverse, {"reverse": _squares_pullback}), (probe_forward, {"forward": _squares_tangent})],
)
def test_a_rule_that_is_not_watched_answers_alike(ask, how):
    (rule,) = how.values()
    subject = Subject("square", _square, names=("x",), codes=(rule.__code__,), **how)
    point = Point((3.0,))
    truth = truth_at(subject, point, np.random.default_rng(0))
    watched = ask(subject, point, truth, np.random.default_rng(1))
    again = answers_of_changed_rule(subject, watched, np.random.default_rng(1))
    assert watched.lines and not again.lines
    np.testing.assert_array_equal(watched.answers, again.answers)
    np.testing.assert_array_equal(watched.answers, 6.0 * watched.seeds)
