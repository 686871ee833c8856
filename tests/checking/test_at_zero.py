"""Zero, where a function does something special and is smooth: a rule that has no number there is wrong."""

import numpy as np
import pytest

from rulelab.checking.calling.subjects import Subject
from rulelab.checking.probing.at_zero import slopes_at, slopes_if_smooth, special_at_zero
from rulelab.checking.probing.probes import Point
from rulelab.symbolic import prove

from .written_rules import judged, rule, written

SMOOTH = {
    "a square with its sign": ("v * abs(v)", "2 * abs(v) * y_bar", "2 * v**2 / np.sqrt(v**2) * y_bar", "v"),
    "a power of a norm": ("np.linalg.norm(x)**4", "4 * np.linalg.norm(x)**2 * x * y_bar",
                          "4 * np.linalg.norm(x)**3 * (x / np.linalg.norm(x)) * y_bar", "x"),
    "a cube of a size": ("np.abs(x)**3", "3 * x * np.abs(x) * y_bar", "3 * np.abs(x)**3 / x * y_bar", "x"),
    "a smooth size": ("np.sqrt(x**2 + 0.1)", "y_bar * x / y", "y_bar * (y - 0.1 / y) / x", "x"),
    "a product": ("np.prod(x)", "y_bar * np.array([np.prod(np.delete(x, i)) for i in range(len(x))])",
                  "y_bar * y / x", "x"),
    "a product of differences from one": (
        "np.cumprod(1.0 - x)[-1]",
        "-y_bar * np.array([np.prod(np.delete(1.0 - x, i)) for i in range(len(x))])",
        "-y_bar * y / (1.0 - x)", "x"),
    "sin(x) / x": ("np.sinc(x)",
                   "y_bar * np.where(x == 0, 0.0, (np.cos(np.pi * x) - y) / np.where(x == 0, 1.0, x))",
                   "y_bar * (np.cos(np.pi * x) - y) / x", "x"),
}  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.parametrize(("f", "right", "wrong", "name"), SMOOTH.values(), ids=SMOOTH)
def test_a_rule_without_a_number_at_zero_is_wrong_where_the_derivative_is_one(f, right, wrong, name):
    """It is shown where, and what the derivative is; a rule that has it is right."""
    assert judged(rule(f, right, name)).verdict == "right"
    report = judged(rule(f, wrong, name))
    assert report.verdict == "wrong" and not report.diagnoses[0].diff
    assert report.diagnoses[0].mistake == "not_finite" and report.diagnoses[0].place is not None


@pytest.mark.parametrize(("f", "bars", "place"), [
    ("h * np.sum(np.cos(x))", "y_bar * y / h, -y_bar * h * np.sin(x)", "h = 0"),
    ("np.sum(h * np.cos(x))", "y_bar * (h * np.cos(x)) / h, -y_bar * h * np.sin(x)", "h = [0.,"),
])  # fmt: skip
def test_where_one_of_several_arguments_is_zero_is_told(f, bars, place):
    """As the step of a sum of areas, or the diameters of trees, it need not be meant for zero."""
    report = judged(rule(f, bars, "h, x"))
    assert report.verdict == "right" and place in report.no_number_at


@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("name", "verdict"), [("eps=1e-9", "right"), ("least=0.2", "wrong")])
def test_a_guard_is_not_meant_to_be_zero(name, verdict):
    """It keeps something from being zero; another bound may be."""
    bound = name.partition("=")[0]
    bars = f"y_bar * (x > {bound}), y_bar * np.sum((x <= {bound}) * {bound}) / {bound}"
    report = judged(rule(f"np.sum(np.maximum(x, {bound}))", bars, f"x, {name}"))
    assert report.verdict == verdict and f"{bound} = 0" in report.sentence


AT_REST = "y_bar, y_bar * np.sin(t), y_bar * v * np.cos(t)"


@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize("bars", [
    AT_REST.replace("np.sin(t)", "(y - a) / v"), AT_REST.replace("y_bar * v *", "y_bar / (1 / v) *"),
])  # fmt: skip
@pytest.mark.parametrize(("said", "verdict"), [("", "right"), ("The speed v may be zero.", "wrong")])
def test_a_number_is_meant_for_zero_where_that_is_said(bars, said, verdict):
    """Nobody but its author knows: a wavelength or a resistance is never zero, a speed is."""
    text = rule("a + v * np.sin(t)", bars, "a, v, t").replace("    return", f'    "{said}"\n    return', 1)
    report = judged(text, domain=dict.fromkeys("avt", "number"))
    assert report.verdict == verdict and "v = 0" in report.sentence


@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(
    "said", [{"a": "number", "b": "number"}, pytest.param({}, marks=pytest.mark.slow)], ids=["numbers", "any"]
)
def test_a_rule_without_a_number_where_two_arguments_are_equal_is_wrong_where_the_function_is_smooth(said):
    f = "np.sum((1.0 + a * a) * np.exp(-(a - b) ** 2))"
    bars = (
        "y_bar * np.exp(-(a - b) ** 2) * (2 * a - 2 * (1.0 + a * a) * {d}), "
        "y_bar * 2 * (1.0 + a * a) * np.exp(-(a - b) ** 2) * {d}"
    )
    assert judged(rule(f, bars.format(d="(a - b)"), "a, b"), domain=said).verdict == "right"
    report = judged(rule(f, bars.format(d="(a - b) ** 2 / (a - b)"), "a, b"), domain=said)
    assert report.verdict == "wrong" and " at a = " in report.sentence


@pytest.mark.slow
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("f", "slope"), [
    ("5.0 + np.sum(np.abs(a - b))", "y_bar * (a - b) / np.abs(a - b)"),
    ("np.where(a == b, 0.0, (a - b) * np.exp(a - b))", "y_bar * (y + y / (a - b))"),
])  # fmt: skip
def test_and_not_condemned_where_it_has_a_kink_or_vanishes(f, slope):
    assert judged(rule(f, f"{slope}, -{slope}", "a, b")).verdict != "wrong"


SAID = """
def f(dose, n):
    "A share of a dose: {said}; n is a number, n > 1."
    return dose**n / (2.0 + dose**n)


@rl.rrule_for(f, registry=registry)
def f_rrule(dose, n):
    y = f(dose, n)

    def back(y_bar):
        slope = y_bar * 2.0 / (2.0 + dose**n) ** 2
        return rl.NoTangent(), slope * n * dose ** (n - 1), slope * {of_n}

    return y, back
"""
WITH_ZERO = "dose**n * np.log(dose + (dose == 0))"


@pytest.mark.first(1)
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("said", "of_n", "verdict"), [
    ("dose is zero or positive", "dose**n * np.log(dose)", "wrong"),
    ("dose is a number and may be zero, dose >= 0", WITH_ZERO, "right"),
    ("dose is a positive number", "dose**n * np.log(dose)", "right"),
])  # fmt: skip
def test_zero_is_meant_where_a_docstring_says_so(said, of_n, verdict):
    """Also at the end of what the function is for, where there is no slope by the number itself."""
    with np.errstate(all="ignore"):
        assert judged(SAID.format(said=said, of_n=of_n)).verdict == verdict


def test_a_division_by_zero_that_python_refuses_is_one_as_well():
    report = judged(rule("v * abs(v)", "2 * v**2 / abs(v) * y_bar", "v"))
    assert report.verdict == "wrong" and "ZeroDivisionError at v = 0" in report.sentence


NO_DERIVATIVE = {
    "a size": ("np.abs(x)", "y_bar * x / np.abs(x)", "x"),
    "a norm": ("np.linalg.norm(x)", "y_bar * x / y", "x"),
    "a root": ("np.sqrt(np.abs(x))", "y_bar * np.sign(x) / (2 * y)", "x"),
    "a factor by which the function divides": ("np.abs(x) / a", "-y_bar * y / a, y_bar * np.sign(x) / a",
                                               "a, x"),
    "an end of what it is for": ("np.log(x) * np.maximum(x, 1.0)",
                                 "y_bar * (np.maximum(x, 1.0) / x + np.log(x) * (x > 1))", "x"),
}  # fmt: skip


@pytest.mark.first(1)
@pytest.mark.parametrize(("f", "bar", "names"), NO_DERIVATIVE.values(), ids=NO_DERIVATIVE)
def test_a_rule_without_a_number_where_there_is_no_derivative_is_not_condemned(f, bar, names):
    """At a kink, at a pole, and where a function does nothing special about zero there is nothing to miss."""
    assert judged(rule(f, bar, names)).verdict == "right"


CUBED = "-c * np.sqrt(np.sum(x**2)) ** 3"


@pytest.mark.slow
def test_a_rule_is_right_that_has_no_number_where_the_steps_of_the_function_have_none():
    """The root has no slope where all numbers are zero, and the function takes no care of it: it is told."""
    text = rule(CUBED, "3 * y_bar * y * x / np.sum(x**2), y_bar * y / c", "x, c")
    report = judged(text)
    assert report.verdict == "right", report
    assert "nan or infinite at x = " in report.sentence
    with_care = text.replace(CUBED, f"np.where(np.sum(x**2) == 0, 0.0, {CUBED})")
    assert judged(with_care).verdict == "wrong"


ENDS = {
    "a rate that the code compares with zero": (
        "def f(rate, n):\n    return n if rate == 0 else -np.expm1(-n * np.log1p(rate)) / rate\n",
        "slope = -0.5 * n * (n + 1) if {} else (n / (1 + rate) * np.exp(-n * np.log1p(rate)) - y) / rate",
        "abs(rate) < 1e-9",
        "rate == 0 and n == 0",
    ),
    "an angle up to that of total reflection": (
        "def f(rate, n):\n    return np.sqrt(np.abs(n) + 1.0 - np.sin(rate) ** 2)\n",
        "slope = {}",
        "-np.sin(rate) * np.cos(rate) / y",
        "(y**2 - np.abs(n) - 1.0) / np.tan(rate) / y",
    ),
}


N_BAR = {
    "a rate that the code compares with zero": "1.0 if rate == 0 else (1 - rate * y) * np.log1p(rate) / rate",
    "an angle up to that of total reflection": "np.sign(n) / (2 * y)",
}


def at_an_end(which, number):
    """A text: the function, and its rule with its right text (2) or the wrong one (3)."""
    f, slope, *texts = ENDS[which]
    return (
        f"{f}@rl.rrule_for(f, registry=registry)\ndef f_rrule(rate, n):\n    y = f(rate, n)\n"
        f"    {slope.format(texts[number - 2])}\n    n_bar = {N_BAR[which]}\n"
        "    return y, lambda y_bar: (rl.NoTangent(), y_bar * slope, y_bar * n_bar)\n"
    )


@pytest.mark.first(1)
@pytest.mark.parametrize("which", ENDS)
def test_zero_at_the_end_of_what_a_name_says_counts_where_the_code_says_what_is_there(which):
    """A rate is positive by its name, and so drawn: the function has a value and slopes on both sides of
    zero."""
    assert judged(at_an_end(which, 2)).verdict == "right"
    report = judged(at_an_end(which, 3))
    assert report.verdict == "wrong" and "at rate = 0" in str(report)


def test_a_place_is_looked_at_among_other_numbers_before_a_correction_is_offered():
    """`n < 0` would be right where it was found, and not for others."""
    assert "n < 0" not in str(judged(at_an_end("a rate that the code compares with zero", 3)))


QUOTIENT = "np.where(x == 2.0, 1.0, np.expm1(x - 2.0) / np.where(x == 2.0, 1.0, x - 2.0))"
SERIES = (
    "y_bar * np.where(abs(x - 2.0) < 1e-5, 0.5 + (x - 2.0) / 3, "
    "(np.exp(x - 2.0) - y) / (x - 2.0 + (x == 2.0)))"
)


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("f", [QUOTIENT, "np.where(x == 2.0, 1.0, np.expm1(x - 2.0) / (x - 2.0))"])
def test_a_number_of_the_code_is_such_a_place_too(f):
    """Where the function says what it is there, also if it divides by zero on its way."""
    assert judged(rule(f, SERIES)).verdict == "right"
    report = judged(rule(f, "y_bar * (np.exp(x - 2.0) - y) / (x - 2.0)"))
    assert report.verdict == "wrong" and "x = 2" in str(report)


@pytest.mark.slow
def test_nan_where_the_function_divides_by_zero_itself_is_told_and_is_no_lost_digits():
    """It has a value there in floats, and slopes; a proof leaves the place out."""
    text = rule("np.sum(1.0 / (1.0 + 1.0 / x))", "y_bar * (1.0 / (1.0 + 1.0 / x)) ** 2 / x**2")
    report = judged(text)
    assert report.verdict == "right", report
    assert "; nan or infinite at x = [0., " in report.sentence and "digits" not in report.sentence
    made = written(text)
    proof = prove(made["f"], registry=made["registry"]).verdict
    assert proof.word == "PROVED" and "not at " in proof.sentence()


def test_an_end_by_which_the_function_divides_condemns_nothing():
    """As the width of a window, whose default is positive: where it is zero nothing is within."""
    f = "np.sum(np.where(np.abs(x) <= width, 1.0 - (1.0 - (x / width) ** 2) ** 3, 1.0))"
    inside = "(np.abs(x) <= width) * 6.0 * (1.0 - (x / width) ** 2) ** 2"
    bars = f"y_bar * {inside} * x / width**2, -y_bar * np.sum({inside} * x**2 / width**3)"
    report = judged(rule(f, bars, "x, width=2.0"))
    assert report.verdict == "right", report


def test_an_end_beyond_which_the_function_has_no_value_condemns_nothing():
    """As of a product of powers, with exponents that are no whole numbers."""
    assert judged(rule("np.prod(c**1.5)", "y_bar * 1.5 * y / c", "c")).verdict == "right"


def test_a_slope_is_known_where_both_sides_agree():
    """Of `v * abs(v)` to the digits of a step, of a kink not at all."""
    (found,) = slopes_at(lambda v: v * abs(v) + 3 * v, Point((0.0,)), 0)
    assert found[0] == 0 and abs(found[1] - 3) < 1e-9
    assert not list(slopes_at(np.abs, Point((0.0,)), 0))
    assert not list(slopes_at(np.sqrt, Point((0.0,)), 0))


def test_what_is_special_is_followed_through_names():
    def f(rho, v, w, area):
        speed = np.abs(v)
        return rho * v * speed * np.sqrt(w**2 + 1.0) / area if area > 1 else 0.0

    assert special_at_zero(f) == {"v", "w"}


@pytest.mark.parametrize(("f", "is_smooth"), [
    (lambda a, b: np.exp(a - b) * a, True),
    (lambda a, b: 0.1 + a * np.abs(a - b), False),
    (lambda a, b: 1.0 + ((a - b) ** 3 / ((a - b) ** 2 + (a + b - 2) ** 2) if a != b else 0.0), False),
    (lambda a, b: 1.0 + np.sqrt((a - b) ** 4 + (a - 1.0) ** 4), False),
])  # fmt: skip
def test_a_function_is_shown_to_be_smooth_from_several_directions(f, is_smooth):
    """Slopes along the axes alone show nothing, nor do first derivatives."""
    found = slopes_if_smooth(Subject("f", f, names=("a", "b")), Point((1.0, 1.0)))
    assert (found is not None) == is_smooth
    if is_smooth:
        np.testing.assert_allclose(found, [[2.0, -1.0]], rtol=1e-3)


MOVED = """
def f(w, v):
    "Moves v by w, however far that is{said}."
    size = np.sqrt(np.dot(w, w))
    if size == 0:
        return 1.0 * v
    return v * np.cos(size) + w * np.sin(size) / size * np.sum(v)


@rl.rrule_for(f, registry=registry)
def f_rrule(w, v):
    size = np.sqrt(np.dot(w, w))

    def back(y_bar):
        if size == 0:
            return rl.NoTangent(), {at_zero}, 1.0 * y_bar
        c, s, total, along = np.cos(size), np.sin(size), np.sum(v), np.dot(w, y_bar)
        slope = -s * np.dot(v, y_bar) + total * along * (c / size - s / size**2)
        return rl.NoTangent(), slope * w / size + total * s / size * y_bar, c * y_bar + along * s / size

    return f(w, v), back
"""


@pytest.mark.slow
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("said", "at_zero", "verdict"), [
    ("; w may be zero", "np.sum(v) * y_bar", "right"), ("; w may be zero", "rl.ZeroTangent()", "wrong"),
])  # fmt: skip
def test_an_array_that_may_be_zero_is_so_as_a_whole(said, at_zero, verdict):
    """Where each of its numbers is zero a branch may begin that no single zero leads to."""
    assert judged(MOVED.format(said=said, at_zero=at_zero)).verdict == verdict


DAMPED = """
def f(a, s):
    \"\"\"Mean size.

    a: amplitude, nonnegative
    s: width, positive\"\"\"
    return np.sqrt(s * s + a**2 / 3) - np.log(s)


@rl.rrule_for(f, registry=registry)
def f_rrule(a, s):
    root = np.sqrt(s * s + a**2 / 3)

    def back(y_bar):
        return rl.NoTangent(), {}, y_bar * (s / root - 1 / s)

    return root - np.log(s), back
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a_bar", "verdict"),
    [("y_bar * a / (3 * root)", "right"), ("y_bar * (root - s * s / root) / np.float64(a)", "wrong")],
)
def test_zero_is_among_what_is_nonnegative(a_bar, verdict):
    """Whatever the code of the function would be taken for: it divides by a positive number alone."""
    assert judged(DAMPED.format(a_bar)).verdict == verdict
