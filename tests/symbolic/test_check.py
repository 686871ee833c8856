"""Verdicts on rules whose rightness is known: the cases of the texts this project grew from, and one for
each slip."""

import ctypes
import math
import re
import time

import numpy as np
import pytest
import sympy as sp

import rulelab as rl
from rulelab.errors import RuleError
from rulelab.rules.authoring import rrule_for, scalar_rule
from rulelab.rules.registry import Registry
from rulelab.rules.twins import twin
from rulelab.symbolic import Agrees, Proved, Refuted, Undecided, Unsupported, prove, scan_stability
from rulelab.symbolic.cell_proofs import _is_ratio_of_many
from rulelab.tangents.zeros import NoTangent, ZeroTangent

NOTHING = NoTangent()


def rule_from(f, *cotangents):
    """A rule for `f` whose cotangents are functions of (y_bar, y, *xs)."""

    def rule(*xs):
        y = f(*xs)

        def pullback(y_bar):
            return NOTHING, *(c(y_bar, y, *xs) for c in cotangents)

        return y, pullback

    return rule


def judge(f, *cotangents, **options):
    return prove(f, rule_from(f, *cotangents), **options).verdict


def exception(x):
    try:
        return x**2
    except Exception:
        print("could not square input")


def clock_times(x):
    return 12345 * x


def tanh(x):
    return np.tanh(x)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def raised(x, exponent):
    return x**exponent


def power(x, n):
    return x**n


def polynomial(x):
    s = 0.0
    for k in range(4):
        s += (k + 1) * x**k
    return s


def newton_sqrt(x):
    y = x
    for _ in range(4):
        y = 0.5 * (y + x / y)
    return y


def newton_slope(x):
    y, slope = x, 1.0
    for _ in range(4):
        y, slope = 0.5 * (y + x / y), 0.5 * (slope + 1 / y - x * slope / y**2)
    return slope


def relu(x):
    return max(x, 0.0)


def far_branch(x):
    return x**2 if x < 100 else x**3


def squared_sine(x):
    return np.sin(x) ** 2


def with_closure(c):
    def scaled(x):
        return c * squared_sine(x) + math.pi * x

    return scaled


def safe_sqrt(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return 0.0


def gelu(x):
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def addone(a):
    b = np.empty_like(a)
    b[:] = a + 1
    return np.sum(b)


def mse(y, yh):
    s = 0.0
    for i in range(len(y)):
        s += (y[i] - yh[i]) ** 2.0
    return s / len(y)


def mse_rule(y, yh):
    out = mse(y, yh)

    def mse_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return NOTHING, g, -g

    return out, mse_pullback


def sum3(a):
    x, y, z = a[0], a[1], a[2]
    return x + y + z


def sum3_rule(a):
    def sum3_pullback(y_bar):
        g = np.zeros(len(a))
        g[:3] += y_bar
        return NOTHING, g

    return sum3(a), sum3_pullback


RIGHT = {
    "square in try": (exception, lambda b, y, x: 2 * x * b),
    "injected clock": (clock_times, lambda b, y, x: b * 12345),
    "sin": (lambda x: math.sin(x), lambda b, y, x: b * math.cos(x)),
    "exp sin": (lambda x: np.exp(x) * np.sin(x), lambda b, y, x: b * (y + np.exp(x) * np.cos(x))),
    "sqrt by y": (lambda x: math.sqrt(x), lambda b, y, x: b / (2 * y)),
    "log": (lambda x: np.log(x), lambda b, y, x: b / x),
    "tanh by y": (tanh, lambda b, y, x: b * (1 - y**2)),
    "sigmoid by y": (sigmoid, lambda b, y, x: b * y * (1 - y)),
    "atan2": (
        lambda y, x: math.atan2(y, x),
        lambda b, _, y, x: b * x / (x * x + y * y),
        lambda b, _, y, x: -b * y / (x * x + y * y),
    ),
    "hypot": (lambda x, y: math.hypot(x, y), lambda b, r, x, y: b * x / r, lambda b, r, x, y: b * y / r),
    "power": (power, lambda b, y, x, n: b * n * x ** (n - 1), lambda b, y, x, n: b * y * math.log(x)),
    "loop": (polynomial, lambda b, y, x: b * (2 + 6 * x + 12 * x * x)),
    "newton itself": (newton_sqrt, lambda b, y, x: b * newton_slope(x)),
    "relu": (relu, lambda b, y, x: b * (x > 0)),
    "abs": (lambda x: abs(x), lambda b, y, x: b * np.sign(x)),
    "branch far out": (far_branch, lambda b, y, x: b * 2 * x if x < 100 else 3 * b * x * x),
    "closure and helper": (with_closure(0.1), lambda b, y, x: b * (0.1 * np.sin(2 * x) + math.pi)),
    "exception handler": (safe_sqrt, lambda b, y, x: b / (2 * y) if y else 0.0),
    "softplus": (lambda x: np.log1p(np.exp(x)), lambda b, y, x: b / (1 + np.exp(-x))),
    "gelu": (
        gelu,
        lambda b, y, x: (
            b * (0.5 * (1 + math.erf(x / math.sqrt(2))) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi))
        ),
    ),
    "root of square": (lambda x: np.sqrt(x * x), lambda b, y, x: b * np.sign(x)),
    "cube root": (lambda x: np.cbrt(x), lambda b, y, x: b / (3 * y * y)),
    "logaddexp": (
        lambda x, y: np.logaddexp(x, y),
        lambda b, z, x, y: b * np.exp(x - z),
        lambda b, z, x, y: b * np.exp(y - z),
    ),
    "arcsin": (
        lambda x: x * np.arcsin(x),
        lambda b, y, x: b * (np.arcsin(x) + x / np.sqrt((1 - x) * (1 + x))),
    ),
    "remainder": (lambda x: x % 1.0, lambda b, y, x: b),
    "where": (lambda x: np.where(x > 0, x, 0.1 * x), lambda b, y, x: b * np.where(x > 0, 1.0, 0.1)),
    "constant": (lambda x: 3.0, lambda b, y, x: ZeroTangent()),
    "array": (addone, lambda b, y, a: b * np.ones(len(a))),
}


@pytest.mark.every(17)
@pytest.mark.parametrize("name", RIGHT)
def test_right_rules_are_proved(name):
    """A right rule of a function I would write is proved, in about a second at most."""
    started = time.process_time()  # not what others do on this machine meanwhile
    verdict = judge(*RIGHT[name])
    assert isinstance(verdict, Proved), verdict.sentence()
    assert time.process_time() - started < 2


def test_array_rules_with_writes_and_loops_are_proved():
    """Rules that loop over arrays or write into a gradient buffer are proved, and say for which sizes."""
    for f, rule, kinds in (
        (mse, mse_rule, "vectors of length 2, 3, 5 "),
        (sum3, sum3_rule, "vectors of length 3;"),  # which takes three numbers and asks for nothing else
    ):
        verdict = prove(f, rule).verdict
        assert isinstance(verdict, Proved), verdict.sentence()
        assert kinds in verdict.kinds


WRONG = {
    "ignores the cotangent": ("ignores", exception, lambda b, y, x: 2 * x),
    "ones for addone": ("ignores", addone, lambda b, y, a: np.ones(len(a))),
    "y for y/x": ("but x times that", clock_times, lambda b, y, x: b * y),
    "sign": ("wrong sign", lambda x: math.cos(x), lambda b, y, x: b * math.sin(x)),
    "factor two": ("but 2 times that", polynomial, lambda b, y, x: 2 * b * (2 + 6 * x + 12 * x * x)),
    "swapped": (
        "swapped",
        lambda x, y: math.hypot(x, y),
        lambda b, r, x, y: b * y / r,
        lambda b, r, x, y: b * x / r,
    ),
    "dropped": (
        "zero, but the result depends on exponent",
        raised,
        lambda b, y, x, n: b * n * x ** (n - 1),
        lambda b, y, x, n: NOTHING,
    ),
    "one in a million": (
        "only 6 digits agree",
        lambda x: math.sin(x),
        lambda b, y, x: b * math.cos(x) * (1 + 1e-6),
    ),
    "wrong on a half-line": ("", lambda x: abs(x), lambda b, y, x: b),
    "wrong beyond 100": ("", far_branch, lambda b, y, x: b * 2 * x),
    "size hard-coded": (
        "",
        mse,
        lambda b, o, y, yh: 2 / 3 * (y - yh) * b,
        lambda b, o, y, yh: -2 / 3 * (y - yh) * b,
    ),
    "not zero": ("not zero, but the derivative is", lambda x: 3.0, lambda b, y, x: b),
    "the limit's slope for four Newton steps": ("", newton_sqrt, lambda b, y, x: b / (2 * y)),
}


@pytest.mark.every(7)
@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules_are_refuted_with_a_point_that_shows_it(name):
    """A wrong rule is refuted in words that name the slip, and the code I am given to paste shows it."""
    words, f, *cotangents = WRONG[name]
    bad = rule_from(f, *cotangents)
    verdict = prove(f, bad).verdict
    assert isinstance(verdict, Refuted) and verdict.kind == "gradient", verdict.sentence()
    assert words in verdict.reason
    example = verdict.counterexample
    namespace = {"rule": bad, "np": np}
    setup, ask = example.code.splitlines()
    exec(setup, namespace)
    shown = eval(ask, namespace)
    assert (0.0 if shown is NOTHING else shown) == pytest.approx(float(example.found), rel=1e-6)
    assert float(example.expected) != pytest.approx(float(example.found), rel=1e-9)


def test_the_expected_number_of_a_counterexample_is_the_derivative():
    """What a counterexample says should come out is y_bar times the derivative, by finite differences."""
    example = judge(exception, lambda b, y, x: 2 * x).counterexample
    x, y_bar = (float(eval(text)) for text in (example.arguments["x"], example.y_bar))
    slope = (exception(x + 1e-6) - exception(x - 1e-6)) / 2e-6
    assert float(example.expected) == pytest.approx(y_bar * slope, rel=1e-6)
    assert y_bar != 1


def _with_pullback(pullback, y=lambda x: x):
    return lambda x: (y(x), pullback)


@pytest.mark.parametrize(
    ("kind", "words", "rule"),
    [
        ("value", "not f of the arguments", _with_pullback(lambda b: (NOTHING, b), lambda x: 1.01 * x)),
        ("arity", "1 cotangents; 2 are needed", _with_pullback(lambda b: (b,))),
        ("arity", "must return a tuple", _with_pullback(lambda b: b)),
        ("arity", "(y, pullback)", lambda x: x),
        ("arity", "is None", _with_pullback(lambda b: (NOTHING, None))),
        (
            "effects",
            "RuntimeError: boom",
            _with_pullback(lambda b: (_ for _ in ()).throw(RuntimeError("boom"))),
        ),
        ("shape", "has shape (2,)", _with_pullback(lambda b: (NOTHING, np.array([b, b])))),
    ],
)
def test_rules_of_the_wrong_form_are_refuted_by_kind(kind, words, rule):
    """A rule with a wrong value, count, shape or a pullback that raises is refuted, and told which it is."""
    verdict = prove(lambda x: x, rule, at=(1.5,)).verdict
    assert isinstance(verdict, Refuted) and verdict.kind == kind, verdict.sentence()
    assert words in verdict.reason
    unasked = prove(lambda x: x, rule).verdict
    assert isinstance(unasked, Unsupported if "boom" in words else Refuted), unasked.sentence()


def test_a_pullback_that_remembers_is_refuted():
    """A pullback that gives a different answer the second time is refuted for its effects."""

    def rule(x):
        calls = []

        def pullback(y_bar):
            calls.append(y_bar)
            return NOTHING, y_bar * len(calls)

        return x, pullback

    assert prove(lambda x: x, rule).verdict.kind == "effects"


def test_code_that_cannot_be_followed_is_unsupported_with_its_name_and_line():
    """A C call is named with the line it is on; nothing is claimed about the rule."""
    libm = ctypes.CDLL(None)
    libm.sin.restype, libm.sin.argtypes = ctypes.c_double, [ctypes.c_double]

    def calls_c(x):
        return 2 * libm.sin(x)

    def asks_clock(x):
        return x * time.process_time()

    for f, name in ((calls_c, "libm.sin"), (asks_clock, "time.process_time")):
        verdict = judge(f, lambda b, y, x: b * y / x)
        assert isinstance(verdict, Unsupported) and name in verdict.construct, verdict.sentence()
        assert verdict.place.line == f.__code__.co_firstlineno + 1


def test_a_function_that_treats_floats_specially_is_not_proved():
    """Code that would go another way for traced numbers than for floats ends in unsupported, never in a
    proof."""

    def picky(x):
        return x**2 if type(x).__name__ == "float" else x**3

    assert isinstance(judge(picky, lambda b, y, x: 3 * b * x**2), Unsupported | Refuted)
    assert isinstance(judge(picky, lambda b, y, x: 2 * b * x), Unsupported)


def test_a_rounded_constant_agrees_to_its_digits_and_is_named_with_its_line():
    """A rule that agrees to fifteen digits by a rounded constant is neither proved nor refuted; the constant
    and its line are told, once as the reason and once as a warning."""

    def slope(b, y, x):
        return b * math.cos(x) * 1.0000000000000002

    report = prove(math.sin, rule_from(math.sin, slope))
    verdict, line = report.verdict, slope.__code__.co_firstlineno + 1
    assert isinstance(verdict, Agrees) and verdict.digits == 15
    assert verdict.sentence().startswith("right, but for rounded constants: it agrees to 15 digits")
    assert f"1.0000000000000002 (test_check.py, line {line}, in slope) is a rounded constant" in verdict.why
    (warning,) = report.warnings
    assert warning.kind == "INEXACT_CONSTANT" and warning.place.line == line
    assert not any("1.0000000000000002" in note for note in report.notes)


def test_an_iteration_that_stops_agrees_to_some_digits():
    """The slope of the limit, for an iteration that ends when it is near enough, agrees; no identity is
    claimed."""

    def length(x):
        square = x * x + 1.0
        y = square
        while abs(y * y - square) > 1e-14 * square:
            y = 0.5 * (y + square / y)
        return y

    verdict = judge(length, lambda b, y, x: b * x / y)
    assert isinstance(verdict, Agrees), verdict.sentence()
    assert f"differ from digit {verdict.digits + 1} on" in verdict.why


def test_an_exact_identity_with_a_rounded_constant_is_proved_with_a_warning():
    """Where function and rule share a rounded constant the proof stands for that decimal, and says so."""

    def tilted(x):
        return 0.1234567890123456 * x

    report = prove(tilted, rule_from(tilted, lambda b, y, x: 0.1234567890123456 * b))
    assert isinstance(report.verdict, Proved)
    assert [w.kind for w in report.warnings] == ["INEXACT_CONSTANT"]


def test_cells_that_were_left_out_are_a_warning():
    """Where more cells were met than are tried, the report warns that they were capped."""

    def steps(x):
        return math.floor(x) * x

    report = prove(steps, rule_from(steps, lambda b, y, x: b * math.floor(x)))
    (capped,) = [w.words for w in report.warnings if w.kind == "CELLS_CAPPED"]
    said = r"8 cases were judged; \d+ more cases? (was|were) found and not judged"
    assert re.fullmatch(said, capped)


@pytest.mark.parametrize(
    ("f", "slope", "kind", "words"),
    [
        (lambda x: math.floor(x) * x, math.floor, "CELLS_CAPPED", "8 cases were judged"),
        (abs, lambda x: math.copysign(1.0, x) if x else 5.0, "NOT_A_SUBGRADIENT", "at x = 0: the slope"),
        (
            lambda x: 0.1234567890123456 * x,
            lambda x: 0.1234567890123456,
            "INEXACT_CONSTANT",
            "0.1234567890123456 is a rounded constant",
        ),
    ],
    ids=["cases", "kink", "constant"],
)
def test_warnings_are_sentences_and_their_kinds_stay_codes(f, slope, kind, words):
    """What is read has no codes in it; a program finds them in the warnings."""

    def judged(x):
        return f(x)

    report = prove(judged, rule_from(judged, lambda b, y, x: b * slope(x)))
    assert kind in [w.kind for w in report.warnings]
    for text in (str(report), report._repr_html_()):
        assert words in text and kind not in text


@pytest.mark.parametrize("part", ["rule", "pullback"])
def test_a_rule_that_raises_is_shown_in_every_form(part):
    """In place of numbers there are words: a result that should be, and the error that was."""

    def fails():
        raise TypeError("takes 2 arguments")

    def rule(x):
        return (x if part == "pullback" else fails()), lambda y_bar: fails()

    report = prove(lambda x: x, rule, at=(1.5,))
    assert report.verdict.word == "REFUTED"
    for shown in (str(report), report.details(), report._repr_html_()):
        assert " raises TypeError" in shown and "takes 2 arguments" in shown


@pytest.mark.slow
def test_a_scan_of_stability_can_stand_among_the_warnings():
    """What a scan has found is told beside the proof, where I hand it over."""

    rule = rule_from(sigmoid, lambda b, y, x: b * y * (1 - y))
    scan = scan_stability(sigmoid, rule, time_limit=20)
    report = prove(sigmoid, rule, stability=scan)
    assert isinstance(report.verdict, Proved)
    assert [w.kind for w in report.warnings] == ["UNSTABLE"] * len(scan.regions) and scan.regions


def test_sample_arguments_set_kinds_and_hold_ints_fixed():
    """By at= I say which arguments are arrays; an int in it is held, and the verdict says so."""

    def nth(x, n):
        total = 0.0
        for _ in range(n):
            total = total + x * x
        return total

    verdict = judge(nth, lambda b, y, x, n: 2 * n * x * b, lambda *_: NOTHING, at=(1.5, 3))
    assert isinstance(verdict, Proved) and "n = 3" in verdict.scope


def test_rules_come_from_the_registry():
    """A rule on a twin and a scalar rule are found where they are registered; a function without one is an
    error."""
    registry = Registry()
    f_cr = twin(tanh, "tanh_cr")

    @rrule_for(f_cr, registry=registry)
    def f_cr_rrule(x):
        y = tanh(x)

        def f_cr_pullback(y_bar):
            return NOTHING, y_bar * (1 - y * y)

        return y, f_cr_pullback

    def cube(x):
        return x**3

    scalar_rule(cube, lambda out, x: 3 * x**2, registry=registry)
    assert isinstance(prove(f_cr, registry=registry).verdict, Proved)
    assert isinstance(prove(cube, registry=registry).verdict, Proved)
    with pytest.raises(RuleError, match="has no rule"):
        prove(sigmoid, registry=registry)


@pytest.mark.slow
def test_a_rule_for_lists_is_not_said_to_be_missing():
    """It is judged for lists, or it is said that nothing else was tried."""

    def total(parts: list):
        return sum(parts)

    def joined(parts: str):
        return parts

    registry = Registry()

    @rrule_for(total, registry=registry)
    def total_rrule(parts: list):
        return sum(parts), lambda y_bar: (NOTHING, [y_bar] * len(parts))

    @rrule_for(joined, registry=registry)
    def joined_rrule(parts: str):
        return parts, lambda y_bar: (NOTHING, NOTHING)

    assert "parts[0]" in prove(total, registry=registry).verdict.scope
    with pytest.raises(RuleError, match="has no rule for numbers or arrays"):
        prove(joined, registry=registry)


@pytest.mark.slow
def test_bombs_end_at_the_time_limit_with_what_was_known():
    """A function that makes SymPy choke comes back at the limit, with the digits that were seen."""

    def tower(x):
        y = x
        for _ in range(150):
            y = math.asin(0.9 * math.sin(y))
        return y

    def slope(x):
        y, d = x, 1.0
        for _ in range(150):
            d = d * 0.9 * math.cos(y) / math.sqrt(1 - (0.9 * math.sin(y)) ** 2)
            y = math.pi / 2 - math.acos(0.9 * math.sin(y))  # the same, which is not seen at once
        return d

    started = time.perf_counter()
    verdict = judge(tower, lambda b, y, x: b * slope(x), time_limit=1.5)
    assert time.perf_counter() - started < 300  # for a machine that is busy with other things
    assert isinstance(verdict, Undecided), verdict.sentence()


def test_a_rule_that_asks_the_ad_is_told_apart_from_one_that_refuses():
    """With its line and what to do: no sample of the author's choice would help."""

    def inner(x):
        return math.sin(x) * x

    def outer(x):
        return inner(x) ** 2

    def outer_rrule(x):
        y, back = rl.pullback(inner, x)
        return y**2, lambda y_bar: (NoTangent(), back(2 * y * y_bar)[0])

    verdict = prove(outer, outer_rrule).verdict
    assert isinstance(verdict, Unsupported) and verdict.construct == "the rule calls the AD"
    assert verdict.place.function == "outer_rrule" and verdict.advice.endswith("by numbers: rule_check")


@pytest.mark.slow
def test_high_powers_of_sums_are_decided_without_multiplying_out():
    """(x + y + 1)**200 is judged in a moment."""
    verdict = judge(
        lambda x, y: (x + y + 1) ** 200,
        lambda b, z, x, y: 200 * b * z / (x + y + 1),
        lambda b, z, x, y: 200 * b * (x + y + 1) ** 199,
    )
    assert isinstance(verdict, Proved), verdict.sentence()


@pytest.mark.every(5)
@pytest.mark.parametrize("name", ["tanh by y", "power", "relu", "gelu", "closure and helper"])
def test_mutants_of_right_rules_are_never_proved(name):
    """Change a right rule by a sign, a factor, a millionth, or drop the seed: none is proved."""
    changes = {
        "sign": lambda c: lambda b, y, *xs: -c(b, y, *xs),
        "double": lambda c: lambda b, y, *xs: 2 * c(b, y, *xs),
        "millionth": lambda c: lambda b, y, *xs: c(b, y, *xs) * (1 + 1e-6),
        "plus one": lambda c: lambda b, y, *xs: c(b, y, *xs) + 1.0,
        "no seed": lambda c: lambda b, y, *xs: c(1.0, y, *xs),
        "seed squared": lambda c: lambda b, y, *xs: c(b * b, y, *xs),
    }
    f, first, *others = RIGHT[name]
    for change, make in changes.items():
        verdict = judge(f, make(first), *others)
        assert isinstance(verdict, Refuted), f"{name}, {change}: {verdict.sentence()}"


@pytest.mark.parametrize(
    ("value", "cotangent", "kind"),
    [
        (None, math.nan, "gradient"),
        (None, -math.inf, "gradient"),
        (math.nan, math.nan, "value"),
        (math.inf, 0.0, "value"),
    ],
)
def test_a_rule_that_gives_no_number_is_refuted(value, cotangent, kind):
    """nan and infinity are wrong answers, told in words, with an example."""

    def square(x):
        return x * x

    def square_rrule(x):
        return x * x if value is None else value, lambda y_bar: (None, cotangent)

    verdict = prove(square, square_rrule).verdict
    assert (verdict.word, verdict.kind) == ("REFUTED", kind)
    if kind == "gradient":
        assert verdict.reason.removeprefix("the cotangent of x is ") in ("nan", "-inf")


def test_the_code_to_paste_calls_the_function_as_its_author_does():
    """A lambda has no name of its own; the one it was asked about by is used."""
    r = Registry()
    square = lambda x: x * x  # noqa: E731
    with pytest.raises(RuleError, match=r"state one with @rl.rrule_for\(square\)"):
        prove(square, registry=r, name="square")
    rrule_for(square, registry=r)(lambda x: (x * x, lambda y_bar: (NoTangent(), x * y_bar)))
    report = prove(square, registry=r, name="square")
    assert report.function == "square" and "rl.rrule(square, " in report.verdict.counterexample.code


def test_a_sign_taken_of_the_seed_is_refuted():
    """A rule that is right for seeds of one sign only is wrong: |y_bar| for y_bar."""
    for f, slope in ((math.erfc, -2 / math.sqrt(math.pi)), (math.erf, 2 / math.sqrt(math.pi))):
        verdict = judge(f, lambda b, y, x, slope=slope: abs(b) * slope * math.exp(-x * x))
        assert isinstance(verdict, Refuted)
        wrong = judge(f, lambda b, y, x, slope=slope: b * slope * math.exp(-x * x) if b > 0 else 0.0 * b)
        assert isinstance(wrong, Refuted)


@pytest.mark.slow
def test_a_logarithm_of_gamma_is_judged_below_zero_too():
    """log |Gamma| has a value between the poles, and a rule that is wrong there is refuted."""
    special = pytest.importorskip("scipy.special")

    def lgamma(x):
        return math.lgamma(x)

    assert isinstance(judge(lgamma, lambda b, y, x: b * special.digamma(x)), Proved)
    assert isinstance(judge(lgamma, lambda b, y, x: b * special.digamma(abs(x))), Refuted)


def test_samples_that_were_too_much_work_are_told(monkeypatch):
    """A proof says how many of its samples were not tried."""
    monkeypatch.setattr("rulelab.symbolic.plan_judge.NUMERIC_SHARE", 0.0)
    report = prove(relu, rule_from(relu, lambda b, y, x: b * (x > 0)))
    assert any("of the samples were not tried" in note for note in report.notes)


# --- samples between and beyond borders ---------------------------------------------------------------------


def test_a_rule_that_is_wrong_between_two_close_constants_is_refuted():
    """The bound of the rule is a little off that of the function."""

    def clipped(x):
        return np.clip(x, -1.0, 1.0)

    verdict = judge(clipped, lambda y_bar, y, x: y_bar * ((x > -1) & (x < 1.0001)))
    assert isinstance(verdict, Refuted) and verdict.kind == "gradient"


def test_a_function_with_a_step_at_every_integer_is_followed_to_both_sides():
    """Its borders do not use up all samples: the rule is wrong from 3 on."""

    def fraction_of(x):
        return x - np.floor(x)

    verdict = judge(fraction_of, lambda y_bar, y, x: y_bar if x < 3 else 0.0 * y_bar)
    assert isinstance(verdict, Refuted) and verdict.kind == "gradient"


@pytest.mark.parametrize("wrapped", [lambda y: [y], lambda y: np.array([y]), lambda y: (y, y)])
def test_a_rule_whose_value_has_another_shape_is_refuted(wrapped):
    """The number in it may be right: the program around it gets something else."""

    def square(x):
        return x * x

    verdict = prove(square, lambda x: (wrapped(x * x), lambda y_bar: (None, 2 * x * y_bar))).verdict
    assert isinstance(verdict, Refuted) and verdict.kind == "shape"


def test_a_constant_function_may_have_a_plain_zero_for_a_cotangent():
    """That it makes one number of a vector, too, does not make it a function for vectors."""

    def two(x):
        return 2.0

    assert isinstance(judge(two, lambda y_bar, y, x: 0.0 * y_bar), Proved)


@pytest.mark.first(1)
@pytest.mark.parametrize("name, word", [("n", "UNDECIDED"), ("order", "UNDECIDED"), ("nu", "REFUTED")])
def test_no_tangent_of_what_is_called_a_count_asks_for_a_whole_number(name, word):
    """Who writes it on purpose means a whole number; for another name it is a zero that is wrong."""
    space = {}
    exec(f"def powered(x, {name}): return x**{name}", space)
    f = space["powered"]
    back = lambda y_bar, y, x, n: n * x ** (n - 1) * y_bar  # noqa: E731
    held = lambda *_: NOTHING  # noqa: E731
    verdict = judge(f, back, held)
    assert verdict.word == word
    assert judge(f, back, held, at=(0.7, 3)).word == "PROVED"
    assert judge(f, lambda y_bar, y, x, n: x**n * y_bar, held, at=(0.7, 3)).word == "REFUTED"


def test_a_ratio_of_many_numbers_is_no_factor_to_be_shown():
    """Numbers tell it, of what saturates too; one of a few numbers is left to SymPy."""
    w, x, g = (sp.symbols(f"{name}:3") for name in "wxg")
    given = sum(a * b for a, b in zip(w, g))
    inner = sum(a * b for a, b in zip(w, x))
    right = given * (1 - sp.tanh(inner) ** 2)
    assert _is_ratio_of_many(right * given, given) and _is_ratio_of_many(given, right)
    assert not _is_ratio_of_many(2 * x[0] * right, right) and not _is_ratio_of_many(right, sp.Integer(0))


def test_what_stands_in_memory_is_not_shown():
    """Code that reads the bytes of an array finds no floats there: what is said of it is always the same."""

    def rule(x):
        return 2 * x, lambda y_bar: (NoTangent(), 2 * np.frombuffer(memoryview(y_bar).tobytes()))

    said = {prove(lambda x: 2 * x, rule, at=np.array([1.5, -2.0])).verdict.sentence() for _ in range(2)}
    assert len(said) == 1 and "differs from that in floats ([" in said.pop()


@pytest.mark.slow
def test_the_formulas_shown_say_something():
    """The softmax of a number is 1, and its derivative 0: a reader wants to see those of vectors."""

    def softmax(x):
        e = np.exp(x)
        return e / np.sum(e)

    def softmax_rrule(x):
        s = softmax(x)
        return s, lambda s_bar: (rl.NoTangent(), s * (s_bar - np.sum(s * s_bar)))

    report = prove(softmax, softmax_rrule)
    assert report.verdict.word == "PROVED"
    assert all(row.derivative.text != "0" for row in report.arguments) and report.arguments


def test_a_copy_is_blamed_at_the_line_of_its_author():
    """Not in the text that `rl.twin` made; with a caret where a line is to blame."""

    def own(x):
        return np.fft.fft(x).real.astype("complex64").real[0]

    copied = rl.twin(own, "copied")

    def rule(x):
        y, back = rl.pullback(own, x)
        return y, lambda y_bar: (rl.NoTangent(), *back(y_bar))

    said = str(prove(copied, rule, at=(np.array([1.0, 2.0]),)))
    assert "<twin" not in said and "test_check.py" in said
    assert "y, back = rl.pullback(own, x)" in said and "^^^" in said


def swung(theta, omega, g, h=0.05, steps=10):
    for _ in range(steps):
        theta, omega = theta + h * omega, omega - h * g * math.sin(theta)
    return theta


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_samples_whose_value_rounding_decides_say_nothing(factor):
    """After many large steps of a chaotic equation floats have lost all digits: other samples are judged."""

    def swung_rrule(theta, omega, g, h=0.05, steps=10):
        states = [(theta, omega)]
        for _ in range(steps):
            theta, omega = theta + h * omega, omega - h * g * math.sin(theta)
            states.append((theta, omega))

        def back(y_bar):
            t_bar, o_bar, g_bar, h_bar = y_bar, 0.0, 0.0, 0.0
            for theta, omega in reversed(states[:-1]):
                sine = math.sin(theta)
                g_bar = g_bar - factor * h * sine * o_bar
                h_bar = h_bar + omega * t_bar - g * sine * o_bar
                t_bar, o_bar = t_bar - h * g * math.cos(theta) * o_bar, o_bar + h * t_bar
            return NOTHING, t_bar, o_bar, g_bar, h_bar, NOTHING

        return theta, back

    report = prove(swung, swung_rrule, at=(0.7, 0.2, 9.0))
    if factor == 1.0:
        assert not isinstance(report.verdict, (Refuted, Unsupported)), report
    else:
        assert isinstance(report.verdict, Refuted) and "g" in report.verdict.reason, report
