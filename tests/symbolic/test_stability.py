"""Where right rules lose digits: regions, causes and better formulas that are known from the textbooks."""

import json
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleError
from rulelab.rules.registry import Registry
from rulelab.symbolic import scan_stability
from rulelab.symbolic.stability import Region


def rule_of(f, slope):
    """A rule of one argument with the derivative `slope(y, x)`."""

    def rule(x):
        y = f(x)
        return y, lambda y_bar: (None, slope(y, x) * y_bar)

    return rule


def tanh(x):
    return math.tanh(x)


def logistic(x):
    return 1 / (1 + math.exp(-x))


def logistic_of_arrays(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0.0, x)


def arcsin(x):
    return math.asin(x)


def expm1(x):
    return math.expm1(x)


def gap(x):
    return x - math.sin(x)


def root(x):
    return math.hypot(x, 1.0)


def log1p(x):
    return math.log1p(x)


def tan(z):
    return np.tan(z)


def naive_hypot(a, b):
    return math.sqrt(a * a + b * b)


BAD = {
    "tanh": (tanh, lambda y, x: 1 - y * y, 20.0, "cancellation in 1 - y * y", "exp(-2 * math.fabs(x))"),
    "logistic": (
        logistic,
        lambda y, x: y * (1 - y),
        30.0,
        "cancellation in 1 - y",
        "math.exp(-math.fabs(x))",
    ),
    "logistic overflows": (
        logistic_of_arrays,
        lambda y, x: np.exp(-x) / (1 + np.exp(-x)) ** 2,
        -800.0,
        "overflow in exp(-x)",
        "y / (np.exp(x) + 1)",
    ),
    "softplus": (
        softplus,
        lambda y, x: np.exp(x) / (1 + np.exp(x)),
        800.0,
        "overflow in exp(x)",
        "1 / (1 + np.exp(-x))",
    ),
    "arcsin": (
        arcsin,
        lambda y, x: 1 / math.sqrt(1 - x * x),
        1 - 1e-9,
        "cancellation in 1 - x * x",
        "(1 - x)",
    ),
    "expm1": (expm1, lambda y, x: y + 1, -30.0, "cancellation in y + 1", "math.exp(x)"),
    "gap": (gap, lambda y, x: 1 - math.cos(x), 1e-5, "cancellation in 1 - cos(x)", "math.sin(0.5 * x)**2"),
}


@pytest.mark.every(7)
@pytest.mark.parametrize("name", BAD)
def test_a_bad_formula_is_found_with_its_cause_and_a_better_one(name):
    """The region holds the number the textbook names, and the better formula is measured."""
    f, slope, x, cause, better = BAD[name]
    report = scan_stability(f, rule_of(f, slope))
    assert not report
    found = [r for r in report.regions if float(r.low) <= x <= float(r.high)]
    assert found and found[0].cause == cause and found[0].ulps > 1e3
    (proposed,) = report.better
    assert better in proposed.formula
    assert proposed.bits < 1.0 < proposed.bits_before and proposed.worst < 10


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (root, lambda y, x: x / y),
        (log1p, lambda y, x: 1 / (1 + x)),
        (tanh, lambda y, x: 4 * math.exp(-2 * abs(x)) / (1 + math.exp(-2 * abs(x))) ** 2),
        (math.sin, lambda y, x: math.cos(x)),
    ],
)
def test_a_good_formula_is_called_good(f, slope):
    """A few ulps, at hundreds of inputs."""
    report = scan_stability(f, rule_of(f, slope))
    assert report and report.points > 150 and report.worst < 10 and "ulps off at" in str(report)


@pytest.mark.slow
def test_in_the_complex_plane():
    """1 + tan(z)**2 is 1 - 1 for large imaginary parts; one over the square of the cosine is not."""
    report = scan_stability(tan, rule_of(tan, lambda y, z: np.conj(1 + y * y)), plane=True)
    assert {r.cause for r in report.regions} == {"cancellation in y * y + 1"}
    assert complex(report.regions[0].worst).imag != 0
    assert report.better and "np.cos(z)" in report.better[0].formula


@pytest.mark.slow
def test_each_argument_in_turn():
    """Of two arguments each is scanned for its own cotangent, and the function's overflow is told."""

    def rule(a, b):
        y = naive_hypot(a, b)
        return y, lambda y_bar: (None, a / y * y_bar, (y - a * a / y) / b * y_bar)

    report = scan_stability(naive_hypot, rule)
    lost = {(r.argument, r.cause.split(" in ")[0]) for r in report.regions if abs(float(r.worst)) < 1e100}
    assert lost == {("b", "cancellation")} and report.points > 500
    assert any("naive_hypot itself gives no finite number at a = " in note for note in report.notes)


def test_a_wrong_rule_without_rounding_errors_is_not_its_business():
    """`prove` says that it is wrong; this scan asks how well the code is worked out."""
    assert scan_stability(root, rule_of(root, lambda y, x: x + 1e-3 * x))


def test_what_cannot_be_scanned_is_refused():
    """Long and complex arrays, two complex arguments, code that cannot be followed."""
    for x, words in ((np.ones(80), "up to 64"), (np.ones(3) + 1j, "with real arguments")):
        with pytest.raises(RuleError, match=words):
            scan_stability(np.sum, rule_of(np.sum, lambda y, x: x), at=(x,))
    with pytest.raises(RuleError, match="one argument"):
        scan_stability(naive_hypot, lambda a, b: None, plane=True)
    with pytest.raises(RuleError, match="followed: a call of"):
        scan_stability(math.sin, rule_of(math.sin, lambda y, x: __import__("time").time() * x))


# -- overflow, underflow and nan --------------------------------------------------------------------------


def late_softplus(x):
    return np.log1p(np.exp(x))


def math_softplus(x):
    return math.log1p(math.exp(x))


@pytest.mark.every(2)
@pytest.mark.parametrize("f", [late_softplus, math_softplus])
def test_an_input_at_which_the_function_overflows_is_no_input_to_drop(f):
    """log(1 + exp(1000)) is 1000, with the slope 1: infinity, nan and an error there are found."""
    report = scan_stability(f, rule_of(f, lambda y, x: np.exp(x) / (1 + np.exp(x))))
    assert not report
    (region,) = report.regions
    assert float(region.low) <= 1000 <= float(region.high) and region.cause == "overflow in exp(x)"
    assert (region.found, region.exact, region.loss) == ("nan", "1", "no finite number")
    assert len(report.sentence) <= 110 and "itself gives no finite number" in str(report)


def test_a_rule_that_is_right_where_its_function_overflows_is_good():
    """It does not answer for the function, which is told."""
    report = scan_stability(late_softplus, rule_of(late_softplus, lambda y, x: 1 / (1 + np.exp(-x))))
    assert report and "late_softplus itself gives no finite number at x = " in report.notes[0]


def test_an_overflow_of_what_no_float_can_hold_is_none():
    """exp(800) is larger than every float, and so is its slope."""
    assert scan_stability(np.exp, rule_of(np.exp, lambda y, x: y))


# -- vectors ----------------------------------------------------------------------------------------------


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


def shifted_softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def length(x):
    return np.sqrt(np.sum(x * x))


def pulled(f, pull):
    """A rule of one argument with the pullback `pull(y_bar, y, x)`."""

    def rule(x):
        y = f(x)
        return y, lambda y_bar: (None, pull(y_bar, y, x))

    return rule


def quotient(y_bar, y, x):
    e = np.exp(x)
    return e * y_bar / np.sum(e) - e * np.sum(e * y_bar) / np.sum(e) ** 2


@pytest.mark.every(2)
@pytest.mark.parametrize("given", [None, (np.array([0.5, -1.0, 0.25]),)])
def test_a_function_of_vectors_is_scanned_as_one(given):
    """Softmax of a number is 1; of vectors, its squares overflow at half of what its exponentials bear."""
    report = scan_stability(softmax, pulled(softmax, quotient), at=given)
    assert not report and report.points > 100
    squares = [r for r in report.regions if "overflow" in r.cause and "**2" in r.cause]
    assert squares and squares[0].ulps == math.inf
    assert len(report.sentence) <= 110


@pytest.mark.slow
def test_what_underflows_in_a_vector_is_named():
    """The square of 1e-200 is nothing, and the length divides by it."""
    at = (np.array([0.5, -1.25, 2.0]),)
    report = scan_stability(length, pulled(length, lambda y_bar, y, x: y_bar * x / y), at=at)
    assert {"underflow in x[2] * x[2]", "overflow in x[2] * x[2]"} == {r.cause for r in report.regions}


def two_rates(x):
    return np.log(np.exp(0.3 * x) + np.exp(0.7 * x))


def rate(y_bar, y, x):
    a, b = np.exp(0.3 * x), np.exp(0.7 * x)
    return y_bar * (0.3 * a + 0.7 * b) / (a + b)


def test_where_there_is_no_finite_number_the_cause_is_the_step_that_has_none():
    """Another step may have lost a few digits before it."""
    report = scan_stability(two_rates, pulled(two_rates, rate))
    lost = [r.cause for r in report.regions if r.ulps == math.inf]
    assert lost and not any("magnifies" in cause for cause in lost), lost


@pytest.mark.slow
def test_no_range_of_inputs_is_listed_twice():
    """Of [1, 0], the first entry varies alone, and again where all are scaled."""
    at = (np.array([1.0, 0.0]),)
    report = scan_stability(softmax, pulled(softmax, quotient), at=at)
    ranges = [(r.argument, r.low, r.high) for r in report.regions]
    assert ranges and len(set(ranges)) == len(ranges)


@pytest.mark.slow
def test_a_good_rule_of_vectors_is_called_good():
    """One that overflows nowhere, cancels nowhere, whatever its function is given."""

    def rule(x):
        e = np.exp(x - np.max(x))
        return np.log(np.sum(e)) + np.max(x), lambda y_bar: (None, y_bar * e / np.sum(e))

    def log_sum(x):
        return np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x)

    report = scan_stability(log_sum, rule)
    assert report and report.points > 200 and report.worst < 10


def test_an_elementwise_function_is_scanned_as_one_of_numbers():
    """Whatever it was given: more inputs, and a better formula."""
    rule = rule_of(late_softplus, lambda y, x: 1 / (1 + np.exp(-x)))
    given = scan_stability(late_softplus, rule, at=(np.ones(3),))
    assert given and given.points > 300


@pytest.mark.slow
def test_the_report_has_its_faces():
    """Text, HTML without script, JSON."""
    report = scan_stability(tanh, rule_of(tanh, lambda y, x: 1 - y * y))
    assert "no digit is right" in str(report) and "cancellation in 1 - y * y" in report._repr_html_()
    assert "<script" not in report._repr_html_() and report.to_latex() and report.to_markdown()
    assert json.loads(report.to_json())["regions"][0]["cause"] == "cancellation in 1 - y * y"


@pytest.mark.slow
def test_a_rule_of_several_results_is_scanned():
    """Arrays of unlike shapes, numbers and counts in a tuple: right where it is, and lost digits are seen."""

    def moments(x, scale):
        return x * scale, np.array([[x, scale]]), 3, [np.array([x + scale, x, scale])]

    def rule(x, scale, slip=0.0):
        def back(bars):
            scaled, (pair,), _, (sums,) = bars
            x_bar = scaled * scale + pair[0] + sums[0] + sums[1]
            scale_bar = scaled * x + pair[1] + sums[0] + sums[2]
            return None, (x_bar + slip) - slip, scale_bar

        return moments(x, scale), back

    found = scan_stability(moments, rule, at=(0.75, 1.25))
    assert found.points > 100 and found.worst < 2.0**12, found
    lost = scan_stability(moments, lambda x, scale: rule(x, scale, 2.0**40 * x), at=(0.75, 1.25))
    assert lost.worst > 2.0**30 and lost.regions[0].argument == "x", lost
    assert all(region.found != region.exact for region in lost.regions)


@pytest.mark.slow
def test_inputs_that_take_too_long_take_no_others_with_them(monkeypatch):
    """Numbers far off may: the ordinary ones are tried first, and the report says that some were left out."""
    from rulelab.symbolic import stability, worker

    one = stability._RealScan.one

    def slow_far_off(scan, i, x):
        if abs(x) > 1e12 or abs(x) < 1e-12:
            raise worker.TooLong
        return one(scan, i, x)

    monkeypatch.setattr(stability._RealScan, "one", slow_far_off)
    found = scan_stability(logistic, rule_of(logistic, lambda y, x: y * (1 - y)))
    assert found.points > 100 and found.regions and "one of them took more" in str(found), found


def test_a_scan_of_a_function_without_a_rule_says_what_was_asked():
    """That is the scan, and no proof."""

    def bare(x):
        return x * x

    with pytest.raises(RuleError, match="has no rule to judge") as found:
        scan_stability(bare)
    assert found.value.asked == "a stability scan of the rule of bare"


def test_a_loss_of_every_digit_is_said_in_one_way():
    """Just below the bound, no digit is right either: "only 0 digits are right" would be odd."""
    for ulps in (1e15, 3.6e15, 2.0**52, 1e20):
        assert Region("x", "0", "1", "1", ulps, "1", "2", "").loss == "no digit is right"
    assert Region("x", "0", "1", "1", 1e14, "1", "2", "").loss.endswith("only 1 digit is right")


def test_an_image_is_scanned():
    """Arrays of some dozen numbers."""

    def corner(img, x):
        return img[0, 0] * (1 - x) + img[1, 1] * x

    def corner_rule(img, x):
        def back(y_bar):
            img_bar = np.zeros(img.shape)
            img_bar[0, 0], img_bar[1, 1] = y_bar * (1 - x), y_bar * x
            return rl.NoTangent(), img_bar, y_bar * (img[1, 1] - img[0, 0])

        return corner(img, x), back

    registry = Registry()
    rl.rrule_for(corner, registry=registry)(corner_rule)
    found = scan_stability(corner, at=(np.arange(20.0).reshape(4, 5), 0.25), registry=registry)
    assert found.points > 100


def test_arguments_of_unlike_ranks_are_found():
    """An image beside numbers, as a check draws them; what was drawn stands in the report."""

    def between(img, x, gain):
        """The first row of img (h, w) at x, 0 <= x <= w - 1, times a number."""
        j = min(int(x), img.shape[1] - 2)
        return ((1 - (x - j)) * img[0, j] + (x - j) * img[0, j + 1]) * gain

    def rule(img, x, gain):
        j = min(int(x), img.shape[1] - 2)
        y = between(img, x, gain)

        def back(y_bar):
            bar = np.zeros(img.shape)
            bar[0, j], bar[0, j + 1] = (1 - (x - j)) * y_bar * gain, (x - j) * y_bar * gain
            return None, bar, (img[0, j + 1] - img[0, j]) * y_bar * gain, y_bar * y / gain

        return y, back

    report = scan_stability(between, rule)
    assert report.points > 100
    assert "img: a matrix (h, w), x: a number" in str(report)


def test_arguments_that_the_rule_takes_are_found():
    """A cross product also takes vectors of length two; a rule for three may not."""

    def turned(q, v):
        """The vector v (3,) turned by q (w, x, y, z), a vector of length 4."""
        return v + q[0] * np.cross(q[1:], v)

    def rule(q, v):
        def back(b):
            bar = np.zeros(4)
            bar[0], bar[1:] = np.cross(q[1:], v) @ b, q[0] * np.cross(v, b)
            return None, bar, b + q[0] * np.cross(b, q[1:])

        return turned(q, v), back

    registry = Registry()
    rl.rrule_for(turned, registry=registry)(rule)
    report = scan_stability(turned, registry=registry)
    assert report.points > 100 and "q: a vector (4)" in str(report)


def test_a_function_that_takes_no_numbers_is_not_judged():
    """No class of the tracer's is mentioned: what is missing is an argument."""

    def of_objects(config):
        return config.weight.total * 2.0

    def rule(config):
        return config.weight.total * 2.0, lambda y_bar: (None, y_bar)

    report = scan_stability(of_objects, rule)
    assert report.points == 0
    assert "the function takes no numbers" in str(report) and "Scalar" not in str(report)
