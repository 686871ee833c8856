"""A rule that is right almost everywhere is also asked at kinks, ties, zeros and where it divides by zero."""

import math
import types

import numpy as np
import pytest
from own_rules import cases

from rulelab.symbolic import Proved, Refuted, Undecided, boundary, prove, worker
from rulelab.tangents.zeros import NoTangent

NOTHING = NoTangent()


def rule_from(f, *cotangents):
    """A rule for `f` whose cotangents are functions of (y_bar, y, *xs)."""

    def rule(*xs):
        y = f(*xs)
        return y, lambda y_bar: (NOTHING, *(c(y_bar, y, *xs) for c in cotangents))

    return rule


def judge(f, *cotangents, **options):
    return prove(f, rule_from(f, *cotangents), **options)


def at_borders(report):
    """Kinds and points of the warnings that are about points."""
    return [(w.kind, w.point) for w in report.warnings if w.point]


def power(x, p):
    return x**p


def cube(x):
    return np.power(x, 3)


def relu(x):
    return np.maximum(x, 0.0)


def sinc(x):
    return math.sin(x) / x if x != 0 else 1.0


def largest(a):
    return np.max(a)


def norm(a):
    return np.sqrt(np.sum(a * a))


def sqrt(x):
    return np.sqrt(x)


def beyond(x):
    return x if x < 1.5 else 3 * x - 3.0


THREE = np.array([1.0, 3.0, 2.0])
OTHERWISE = {
    "p*y/x for a power": (
        "SINGULAR_AT",
        "x = 0, ",
        power,
        {},
        lambda b, y, x, p: b * p * y / x,
        lambda b, y, x, p: b * y * math.log(x) if x else 0.0,
    ),
    "3*y/x for a cube, by NumPy": (
        "SINGULAR_AT",
        "x = 0",
        cube,
        {"at": 0.7},
        lambda b, y, x: 3 * b * np.float64(y) / np.float64(x),
    ),
    "sinc": ("SINGULAR_AT", "x = 0", sinc, {"at": 0.7}, lambda b, y, x: b * (np.cos(x) - y) / np.float64(x)),
    "every maximum in full": (
        "NOT_A_SUBGRADIENT",
        "a = [0, 0, 0]",
        largest,
        {"at": THREE},
        lambda b, y, a: b * (a == y),
    ),
    "relu with slope 2 at 0": (
        "NOT_A_SUBGRADIENT",
        "x = 0",
        relu,
        {},
        lambda b, y, x: b * (1.0 if x > 0 else 2.0 if x == 0 else 0.0),
    ),
    "relu that ignores y_bar at 0": (
        "NOT_A_SUBGRADIENT",
        "x = 0",
        relu,
        {},
        lambda b, y, x: b * 1.0 if x > 0 else 1.5 if x == 0 else 0.0,
    ),
    "abs with slope -1.5 at 0": (
        "NOT_A_SUBGRADIENT",
        "x = 0",
        lambda x: abs(x),
        {},
        lambda b, y, x: b * (np.sign(x) if x else -1.5),
    ),
    "a border of the author's own": (
        "NOT_A_SUBGRADIENT",
        "x = 3/2",
        beyond,
        {"at": 0.5},
        lambda b, y, x: b * (1.0 if x < 1.5 else 0.0 if x == 1.5 else 3.0),
    ),
    "a root with a number where it is steep": (
        "SINGULAR_AT",
        "x = 0",
        sqrt,
        {},
        lambda b, y, x: b * (0.5 / y if y > 0 else 0.0),
    ),
    "nan for a norm": ("SINGULAR_AT", "a = [0, 0, 0]", norm, {"at": THREE}, lambda b, y, a: b * a / y),
    "products divided by an entry": (
        "SINGULAR_AT",
        "a = [0, 0, 0]",
        lambda a: np.cumprod(a),
        {"at": THREE},
        lambda b, y, a: np.cumsum((b * y)[::-1])[::-1] / a,
    ),
}


@pytest.mark.every(11, slow=True)
@pytest.mark.parametrize("name", OTHERWISE)
def test_a_rule_that_fails_where_cells_meet_is_not_proved_without_a_word(name):
    """A right rule with a wrong number, or none, at a special point is proved apart from that point, which is
    named, with code that shows it."""
    kind, point, f, options, *cotangents = OTHERWISE[name]
    report = judge(f, *cotangents, time_limit=20, **options)
    assert isinstance(report.verdict, Proved), report.verdict.sentence()
    ((found, where), *_) = at_borders(report)
    assert found == kind and where.startswith(point)
    assert f"but not at points such as {where}" in report.verdict.scope
    code = next(w.code for w in report.warnings if w.point)
    setup, ask = code.splitlines()
    namespace = {"rule": rule_from(f, *cotangents), "np": np}
    told = ask.partition("gives ")[2].partition(",")[0]
    with np.errstate(all="ignore"):
        exec(setup, namespace)
        if "raises" not in str(report):
            shown = eval(ask, namespace)
            assert not told or float(shown) == pytest.approx(float(told), nan_ok=True)


FINE = {
    "relu with 0 at 0": (relu, {}, lambda b, y, x: b * (x > 0)),
    "relu with 1 at 0": (relu, {}, lambda b, y, x: b * (x >= 0)),
    "abs with 0.5 at 0": (lambda x: abs(x), {}, lambda b, y, x: b * (np.sign(x) if x else 0.5)),
    "maximum shared": (largest, {"at": THREE}, lambda b, y, a: b * (a == y) / np.sum(a == y)),
    "maximum to the first": (
        largest,
        {"at": THREE},
        lambda b, y, a: b * (np.arange(len(a)) == np.argmax(a)),
    ),
    "sort": (
        lambda a: np.sort(a),
        {"at": THREE},
        lambda b, y, a: b[np.argsort(np.argsort(a, kind="stable"), kind="stable")],
    ),
    "norm with 0 at 0": (norm, {}, lambda b, y, a: b * a / (y if y else 1.0)),
    "norm with a unit vector at 0": (
        norm,
        {},
        lambda b, y, a: b * a / y if y else b * np.eye(len(a))[0],
    ),
    "sqrt with inf at 0": (sqrt, {}, lambda b, y, x: b * 0.5 / y),
    "a power by its own formula": (
        power,
        {},
        lambda b, y, x, p: b * p * x ** (p - 1),
        lambda b, y, x, p: b * y * math.log(x) if x else 0.0,
    ),
    "sinc by cases": (sinc, {}, lambda b, y, x: b * (np.cos(x) - y) / x if x else 0.0),
    "elementwise root": (lambda a: np.sqrt(a), {"at": THREE}, lambda b, y, a: b * 0.5 / y),
    "a logarithm kept from 0": (
        lambda x: np.log(x + 2.0**-1000),
        {"at": 0.5},
        lambda b, y, x: b / (x + 2.0**-1000),
    ),
    "a jump": (lambda x: np.floor(x), {}, lambda b, y, x: math.nan if x == np.floor(x) else 0.0),
    "relu of a vector": (
        lambda a: np.maximum(a, 0.0),
        {"at": np.array([1.0, -2.0, 3.0, 0.5, -1.0])},
        lambda b, y, a: b * (a > 0),
    ),
    "the middle of six": (
        lambda a: np.median(a),
        {"at": np.array([1.0, 4.0, 2.0, 6.0])},
        lambda b, y, a: b * 0.5 * np.isin(np.arange(4), np.argsort(a, kind="stable")[1:3]),
    ),
    "a high power": (
        lambda x, z: (x + z + 1) ** 200,
        {},
        *(2 * [lambda b, y, x, z: 200 * b * (x + z + 1) ** 199]),
    ),
}


@pytest.mark.every(17)
@pytest.mark.parametrize("name", FINE)
def test_no_false_alarm_at_subgradients_and_true_singularities(name):
    """A rule that gives a subgradient at a kink, a derivative where there is one, and no number where there
    is none, is proved and nothing is said against it."""
    f, options, *cotangents = FINE[name]
    with np.errstate(all="ignore"):
        report = judge(f, *cotangents, time_limit=20, **options)
    assert isinstance(report.verdict, Proved), report.verdict.sentence()
    assert not at_borders(report) and "but not at" not in report.verdict.sentence()


def test_a_wrong_number_where_a_derivative_exists_is_refuted():
    """At a point where the function is smooth a wrong number refutes the rule, though every cell is right."""
    for f, slope, wrong in (
        (lambda x: x * x, lambda x: 2 * x if x != 1 else 7.0, "x = 1"),
        (sinc, lambda x: (math.cos(x) - sinc(x)) / x if x else 1.0, "x = 0"),
    ):
        verdict = judge(f, lambda b, y, x, slope=slope: b * slope(x)).verdict
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient", verdict.sentence()
        assert wrong in verdict.reason
        example = verdict.counterexample
        setup, ask = example.code.splitlines()
        namespace = {"rule": rule_from(f, lambda b, y, x, slope=slope: b * slope(x))}
        exec(setup, namespace)
        assert eval(ask, namespace) == pytest.approx(float(example.found))
        assert float(example.expected) != pytest.approx(float(example.found))


def test_a_right_formula_that_floats_spoil_is_unstable_not_refuted():
    """A rule that loses all its digits at the border of its own series is told to be unstable there."""

    def f(x):
        return 1e8 * sinc(x) if x >= 1e-10 else 1e8 * (1 - x * x / 6)

    def slope(x):
        return 1e8 * (x * math.cos(x) - math.sin(x)) / x**2 if x >= 1e-10 else -1e8 * x / 3

    report = judge(f, lambda b, y, x: b * slope(x), time_limit=20)
    assert isinstance(report.verdict, Proved), report.verdict.sentence()
    ((kind, point),) = at_borders(report)
    assert kind == "UNSTABLE" and point == "x = 1E-10"
    assert "0 in floats" in report.warnings[0].words


def test_a_rule_that_refuses_at_a_kink_is_believed():
    """A rule that raises NotDifferentiableError where there is no derivative does what it should."""
    from rulelab.errors import NotDifferentiableError

    def slope(b, y, x):
        if x == 0:
            raise NotDifferentiableError("the kink")
        return b * np.sign(x)

    report = judge(lambda x: abs(x), slope)
    assert isinstance(report.verdict, Proved) and not at_borders(report)


def test_the_walk_ends_in_time_with_a_note(monkeypatch):
    """Where no time is left the proof stands, and a note says what was not tried."""
    monkeypatch.setattr("rulelab.symbolic.judge.BORDER_SHARE", 0.0)
    report = judge(relu, lambda b, y, x: b * (x > 0))
    assert isinstance(report.verdict, Proved)
    assert any("were tried: trying more would take too long" in note for note in report.notes)


def test_arguments_that_are_not_real_are_left_out_with_a_note():
    """Where arguments are no real numbers there is no hull of slopes; the report says that none was tried."""
    visit = types.SimpleNamespace(sample=(1 + 2j,))
    borders = boundary.Borders(None, [visit], np.random.default_rng(0), math.inf)
    borders.walk()
    assert "for real arguments and results only" in borders.notes[0] and not borders.caveats


@pytest.mark.slow
def test_a_loop_that_does_not_end_at_zero_costs_that_point_alone():
    """Code that hangs at a special point is told of, by the point, and the others are tried."""

    def doubled(x):
        while abs(x) < 1:
            x = 2 * x
        return x

    def slope(b, y, x):
        return b * np.round(y / x)

    report = judge(doubled, slope, time_limit=30)
    assert isinstance(report.verdict, Proved), report.verdict.sentence()
    assert "not judged at x = 0: it took more than 1 s" in report.notes


def test_a_proof_that_is_cut_in_the_walk_is_none(monkeypatch):
    """Where the time ends between the cells and their borders, nothing is proved: how far a check comes is a
    matter of the machine."""

    def cut_before_the_end(job, time_limit, stop=None, heard=None):
        reports = []
        job(reports.append)
        return worker.Outcome(reports[-3], True)

    monkeypatch.setattr(worker, "run", cut_before_the_end)
    report = judge(relu, lambda b, y, x: b * (x > 0))
    assert isinstance(report.verdict, Undecided)
    assert "zeros, ones, ties and the borders between cases took more than" in report.verdict.why


@pytest.mark.slow
def test_a_proof_that_is_cut_while_its_formulas_are_made_is_one_without_them(monkeypatch):
    """They may take longer than all that went before, and are for people to read."""

    def cut_at_the_formulas(job, time_limit, stop=None, heard=None):
        reports = []
        job(reports.append)
        return worker.Outcome(reports[-2], True)

    whole = judge(relu, lambda b, y, x: b * (x > 0))
    monkeypatch.setattr(worker, "run", cut_at_the_formulas)
    report = judge(relu, lambda b, y, x: b * (x > 0))
    assert isinstance(report.verdict, Proved) and report.verdict == whole.verdict
    assert whole.cells and not report.cells
    assert "no formula is shown: it took more than 5 s" in report.notes and not whole.notes


@pytest.mark.every(11)
@pytest.mark.parametrize(
    "name", ["np.absolute", "np.maximum", "np.sinc", "np.fmod", "np.sign", "np.cbrt", "np.hypot", "np.power"]
)
def test_our_own_rules_are_right_where_cells_meet(name):
    """Rules of the package with kinks and zeros are not warned of."""
    (case,) = [case for case in cases("numpy_elementwise") if str(case).endswith(f":{name}")]
    args, kwargs = case.points[0]
    assert not at_borders(prove(case.target, at=args, kwargs=kwargs, time_limit=20))


@pytest.mark.filterwarnings("error")
def test_a_complex_cotangent_of_a_real_argument_counts_by_its_real_part_where_cells_meet():
    """Nothing is dropped with a warning, and a point at which the real part is right is no exception."""
    report = judge(lambda x: x * x, lambda b, y, x: b * (2 * x + 0j * x))
    assert isinstance(report.verdict, Proved) and "not at" not in report.verdict.sentence()


def absorbed(t, a, b):
    if abs(a - b) < 1e-6:
        return a * t * math.exp(-a * t)
    return a * (math.exp(-b * t) - math.exp(-a * t)) / (a - b)


def absorbed_with(factor):
    """The rule has a limit of its own where the function has a value alone."""

    def rule(t, a, b):
        def pullback(y_bar):
            if abs(a - b) < 1e-6:
                q, by_either = t * math.exp(-a * t), -0.5 * factor * t**2 * math.exp(-a * t)
                t_bar = y_bar * a * (1 - a * t) * math.exp(-a * t)
                return NOTHING, t_bar, y_bar * (q + a * by_either), y_bar * a * by_either
            q = (math.exp(-b * t) - math.exp(-a * t)) / (a - b)
            by_a, by_b = (t * math.exp(-a * t) - q) / (a - b), (q - t * math.exp(-b * t)) / (a - b)
            return NOTHING, y_bar * a * (math.exp(-a * t) - b * q), y_bar * (q + a * by_a), y_bar * a * by_b

        return absorbed(t, a, b), pullback

    return rule


@pytest.mark.slow
def test_the_slope_across_a_narrow_case_is_right_within_it():
    """There the code avoids to divide by next to nothing; what it computes in its place has other slopes."""
    assert isinstance(prove(absorbed, absorbed_with(1.0)).verdict, Proved)
    assert isinstance(prove(absorbed, absorbed_with(1.5)).verdict, Refuted)
