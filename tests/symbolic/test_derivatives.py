"""A gradient by the AD and a formula of the author's are judged: right ones are proved, no wrong one is."""

import math
import time

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import MutationError, RuleLabError, ScalarOutputError
from rulelab.symbolic import DerivativeReport, sym_check

V = np.array([1.0, 2.0, 0.5])
A = np.array([[2.0, 0.5], [0.3, 1.5]])


def wave(x):
    return x**2 * math.sin(x)


def wave_slope(x):
    return 2 * x * math.sin(x) + x**2 * math.cos(x)


def mse(y, yh):
    return np.sum((y - yh) ** 2) / len(y)


def mse_slopes(y, yh):
    return 2 / len(y) * (y - yh), -2 / len(y) * (y - yh)


def powers(x, n=3, *, scale=1.0):
    return scale * x**n


# --- formulas -----------------------------------------------------------------------------------------------

RIGHT = {
    "a number": (wave, (2.0,), wave_slope),
    "any number": (wave, (float,), wave_slope),
    "another form": (wave, (2.0,), lambda x: x * (2 * math.sin(x) + x * math.cos(x))),
    "two arrays": (mse, (V, V + 0.5), mse_slopes),
    "an elementwise function": (np.sin, (V,), np.cos),
    "an elementwise function with a constant slope": (lambda x: 2 * x, (V,), lambda x: 2.0),
    "a number that is repeated": (lambda x: x * V, (2.0,), lambda x: V),
    "a matrix": (np.linalg.det, (A,), lambda A: np.linalg.det(A) * np.linalg.inv(A).T),
    "branches": (abs, (2.0,), np.sign),
    "part of the line": (lambda x: math.log(x - 5), (float,), lambda x: 1 / (x - 5)),
    "a held integer": (lambda x, n: x**n, (2.0, 4), lambda x, n: n * x ** (n - 1)),
}


@pytest.mark.every(11)
@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT)
def test_a_right_formula_is_proved(case):
    """For numbers, arrays and elementwise functions, whatever its form."""
    f, args, formula = case
    report = sym_check(f, *args, formula=formula)
    assert isinstance(report, DerivativeReport) and report.verdict.word == "PROVED", str(report)
    assert all(number.digits >= 14 for number in report.numbers) and report.numbers


WRONG = {
    "sign": (wave, (2.0,), lambda x: -wave_slope(x)),
    "sign of a term": (wave, (2.0,), lambda x: 2 * x * math.sin(x) - x**2 * math.cos(x)),
    "factor": (wave, (2.0,), lambda x: 2 * wave_slope(x)),
    "missing term": (wave, (2.0,), lambda x: 2 * x * math.sin(x)),
    "a millionth": (wave, (2.0,), lambda x: (1 + 1e-6) * wave_slope(x)),
    "zero": (wave, (2.0,), lambda x: 0.0),
    "wrong for negative x only": (lambda x: x**2, (2.0,), lambda x: 2 * abs(x)),
    "wrong for negative x of any": (lambda x: x**2, (float,), lambda x: 2 * abs(x)),
    "wrong beyond a bound": (lambda x: x**2, (0.5,), lambda x: 2 * x if x < 5 else 3 * x),
    "right where it is asked": (lambda x: x**2, (2.0,), lambda x: 4.0),
    "right at whole numbers": (lambda x: x, (1.0,), lambda x: 1 + math.sin(math.pi * x)),
    "swapped": (lambda x, y: x * y, (2.0, 3.0), lambda x, y: (x, y)),
    "sign of one of two": (mse, (V, V + 0.5), lambda y, yh: (mse_slopes(y, yh)[0],) * 2),
    "mean for sum": (mse, (V, V + 0.5), lambda y, yh: tuple(g * len(y) for g in mse_slopes(y, yh))),
    "transposed": (np.linalg.det, (A,), lambda A: np.linalg.det(A) * np.linalg.inv(A)),
    "reversed": (lambda x: np.sum(x**2), (V,), lambda x: 2 * x[::-1]),
    "not elementwise": (np.cumsum, (V,), lambda x: np.ones(3)),
    "one number for an array": (np.sum, (V,), lambda x: 1.0),
    "an array for one number": (lambda x: np.sum(V) * x, (2.0,), lambda x: V),
    "a pole that is not there": (lambda x: x**2, (2.0,), lambda x: 2 * x * (x + 1 / 7) / (x + 1 / 7 + 1e-9)),
    "an error": (lambda x: x**2, (2.0,), lambda x: 2 * x if x > 0 else [][0]),
}


@pytest.mark.every(7)
@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_wrong_formula_is_refuted(case):
    """Not only where it was asked, and not by numbers alone: no wrong formula is ever proved."""
    f, args, formula = case
    report = sym_check(f, *args, formula=formula)
    assert report.verdict.word == "REFUTED", str(report)
    assert report.verdict.kind in ("gradient", "shape", "effects")


def test_a_refutation_shows_both_numbers_the_difference_and_code():
    """All that one needs to see the mistake oneself."""
    report = sym_check(
        wave, 2.0, formula=lambda x: 2 * wave_slope(x), name="wave(x)", written="lambda x: (2*wave_slope(x))"
    )
    assert report.verdict.reason == "the formula for x is not the derivative, but 2 times that"
    (row,) = report.arguments
    assert row.difference.text.startswith("-x") and row.difference.text != "0"
    example = report.verdict.counterexample
    assert float(example.expected) == pytest.approx(wave_slope(2.0), rel=1e-15)
    assert float(example.found) == pytest.approx(2 * wave_slope(2.0), rel=1e-15)
    space = {"wave_slope": wave_slope}
    assert eval(example.code, space) == pytest.approx(2 * wave_slope(2.0))
    assert "2*wave_slope(x) as the derivative of wave(x): wrong, REFUTED" in str(report)


def test_the_code_of_an_elementwise_counterexample_gives_the_number_it_says():
    """Where the entries are weighted, so is the code."""
    report = sym_check(np.cumsum, V, formula=lambda x: np.ones(3), written="lambda x: (np.ones(3))")
    code, _, said = report.verdict.counterexample.code.partition("# gives ")
    assert eval(code, {"np": np}) == pytest.approx(float(said.split(",")[0]))


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (lambda x, y: x, "gives 1 derivative, and 2 are needed"),
        (lambda x, y: (x, y, x), "gives 3 derivatives, and 2 are needed"),
        (lambda x, y: ([y], x), "gives a list, not a real number"),
        (lambda x, y: (None, x), "gives a NoneType, not a real number"),
    ],
)
def test_a_formula_that_cannot_be_one_is_an_error(formula, said):
    """Before anything is judged."""
    with pytest.raises(RuleLabError, match=said):
        sym_check(lambda x, y: x * y, 2.0, 3.0, formula=formula)


def test_what_the_formula_raises_is_raised():
    """It is the author's own error, and its message is theirs."""
    with pytest.raises(ZeroDivisionError, match="division"):
        sym_check(wave, 2.0, formula=lambda x: 1 / 0)


def test_a_formula_needs_something_that_varies():
    """A whole number is held, as everywhere."""
    with pytest.raises(RuleLabError, match="No argument of wave is a float"):
        sym_check(wave, 2, formula=wave_slope)


def test_the_value_must_be_a_number():
    """Or an array of numbers, where there is a formula."""
    with pytest.raises(ScalarOutputError, match="gives a list"):
        sym_check(lambda x: [x], 2.0, formula=lambda x: 1.0)
    with pytest.raises(ScalarOutputError):
        sym_check(lambda x: x * V, 2.0)


# --- the gradient -------------------------------------------------------------------------------------------


def test_the_gradient_of_a_program_is_proved():
    """Loop, branch, helper and all; with SymPy's derivative beside it."""

    def program(x, y):
        total = 0.0
        for i in range(3):
            total += math.sin(x) * y if x > 0 else x * y * i
        return total * wave(y)

    report = sym_check(program, 1.0, 2.0)
    assert report.verdict.word == "PROVED" and "x > 0" in report.verdict.scope
    assert [n.name for n in report.numbers] == ["x", "y"]
    found = rl.gradient(program, 1.0, 2.0)
    assert tuple(n.found for n in report.numbers) == found
    assert [float(n.exact) for n in report.numbers] == pytest.approx(found)


def test_keywords_and_defaults_are_held():
    """Neither is differentiated by, as in `gradient`."""
    report = sym_check(powers, 2.0, kwargs={"scale": 2.5})
    assert report.verdict.word == "PROVED" and report.names == ("x",)
    assert report.arguments[0].derivative.text == "15*x**2/2"
    assert sym_check(powers, 2.0, kwargs={"n": 2}).arguments[0].derivative.text == "2*x"


def test_a_whole_number_is_the_float_it_is_differentiated_as():
    """`gradient` gives a float for it, so the check judges that."""
    report = sym_check(lambda x: x**3, 2)
    assert report.verdict.word == "PROVED" and report.numbers[0].found == 12.0


def test_what_the_passes_hide_is_compared_by_numbers():
    """A closure over what varies is not followed: nothing is proved, and the verdict says so."""

    def closure(x):
        held = [lambda t: t * x]
        return held[0](x) + held[0](2.0)

    report = sym_check(closure, 1.5)
    assert report.verdict.word == "UNDECIDED" and report.verdict.digits >= 14
    assert "the function <lambda>, which captures what varies" in report.verdict.why
    assert report.arguments[0].derivative.text == "2*x + 2"
    assert "compared with the exact derivative at 7 points" in " ".join(report.notes)


def test_a_wrong_gradient_is_refuted_by_numbers_alone():
    """Also where the passes cannot be followed."""

    def helper(x):
        return x**2

    @rl.rrule_for(helper)
    def helper_rrule(x):
        return x**2, lambda s: (rl.NoTangent(), 3 * x * s)

    def closure(x):
        def inner(t):
            return helper(t) * x

        return inner(x)

    report = sym_check(closure, 1.5)
    assert report.verdict.word == "REFUTED", str(report)
    example = report.verdict.counterexample
    assert eval(example.code, {"rl": rl, "closure": closure}) == pytest.approx(float(example.found))
    assert float(example.expected) == pytest.approx(3 * 1.5**2)


@pytest.mark.slow
def test_more_numbers_than_can_be_proved_are_compared():
    """A vector of a hundred is no reason to say nothing."""
    report = sym_check(lambda x: np.sum(x**3), np.linspace(0.5, 1.5, 100), time_limit=20.0)
    assert report.verdict.word == "UNDECIDED" and "more than 64 numbers" in report.verdict.why
    assert len(report.numbers) == 100 and "89 more" in str(report)


def test_what_the_ad_refuses_is_raised_as_by_gradient():
    """In the same words."""

    def addone(x):
        x[0] = x[0] + 1
        return np.sum(x)

    with pytest.raises(MutationError):
        sym_check(addone, V)


def test_a_place_where_the_ad_refuses_proves_nothing():
    """A typed refusal is no wrong number."""

    def fallback(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return x * x

    report = sym_check(fallback, 4.0)
    assert report.verdict.word in ("PROVED", "UNDECIDED"), str(report)


@pytest.mark.parametrize(
    ("f", "args", "said"),
    [
        (lambda x: float(open("/dev/null").read() or 1) * x, (2.0,), "open"),
        (lambda x: np.linalg.svd(x[None, :])[1][0], (V,), "svd"),
        (lambda z: abs(z), (1.0 + 2.0j,), "complex"),
        (lambda xs: xs[0] * xs[1], ([1.0, 2.0],), "no argument is a number"),
    ],
)
def test_what_cannot_be_followed_is_named(f, args, said):
    """UNSUPPORTED says nothing about the gradient, and what stands in the way."""
    report = sym_check(f, *args)
    assert report.verdict.word == "UNSUPPORTED" and said in report.verdict.sentence(), str(report)


def test_a_number_is_found_at_which_the_expression_has_a_value():
    """For a name that stands for any number: `log(x - 5)` has none at 1."""
    report = sym_check(lambda x: math.log(x - 5), float)
    assert report.verdict.word == "PROVED" and report.numbers[0].found > 0


def test_a_point_on_a_kink_is_not_judged_and_said_to_be():
    """Beside it the derivative is proved."""
    report = sym_check(abs, 0.0)
    assert report.verdict.word == "PROVED" and report.numbers[0].digits is None
    assert "the point itself is not judged: on the border between two cases" in report.notes


def test_where_rounding_decides_the_report_says_so():
    """The formula is right, and its floats are not: this is neither hidden nor held against it."""
    report = sym_check(lambda x: math.sqrt(1 + x) - 1, 1e-3, formula=lambda x: 0.5 / math.sqrt(1 + x))
    assert report.verdict.word == "PROVED" and not report.notes
    report = sym_check(lambda x: x**2 / 2, 1e-12, formula=lambda x: (x + 1) - 1)
    assert report.verdict.word == "PROVED"
    assert "at the point only 4 digits agree in floats: rounding dominates there" in report.notes
    report = sym_check(lambda x: (1 - math.cos(x)) / x**2, 1e-8)
    assert report.verdict.word == "UNDECIDED"
    assert "the value in exact arithmetic differs" in report.verdict.why
    assert "1 more were left out, where rounding dominates the value" in " ".join(report.notes)


def test_rounding_is_not_taken_for_a_wrong_gradient():
    """Where floats are all there is to compare, and none of them has digits."""

    def noisy(x):
        def inner(t):
            return math.sin(t**20) * x

        return inner(x)

    assert sym_check(noisy, 14.3).verdict.word != "REFUTED"


def test_names_may_be_those_of_the_check():
    """`y_bar` is a name like any other."""
    report = sym_check(lambda y_bar: y_bar**2, 2.0, formula=lambda y_bar: 2 * y_bar)
    assert report.verdict.word == "PROVED" and report.arguments[0].derivative.text == "2*y_bar"


def test_the_time_limit_holds():
    """A program that takes for ever ends at the limit, with a verdict."""

    def slow(x):
        while quick[0] == 0:
            pass
        quick[0] -= 1
        return x * x

    quick = [2]  # the calls at the arguments themselves are the author's own
    started = time.monotonic()
    report = sym_check(slow, 2.0, formula=lambda x: 2 * x, time_limit=0.5)
    assert report.verdict.word in ("UNDECIDED", "UNSUPPORTED")
    assert time.monotonic() - started < 300


def test_the_answer_is_the_same_each_time():
    """The sample points are seeded."""
    first, second = (sym_check(wave, float, formula=wave_slope) for _ in range(2))
    assert first.point == second.point and first.verdict == second.verdict


def test_a_formula_that_is_no_function_is_named_as_such():
    """Text is not evaluated."""
    with pytest.raises(RuleLabError, match="formula must be a function"):
        sym_check(lambda x: x * x, 2.0, formula="2*x")


def test_digits_of_a_tiny_gradient_are_counted_at_its_own_size():
    """A formula for Planck's constant times a frequency that is twice too large agrees in no digit."""
    report = sym_check(lambda nu: 6.62607015e-34 * nu, 2.0, formula=lambda nu: 2 * 6.62607015e-34)
    assert report.verdict.word == "REFUTED" and report.numbers[0].digits == 0
