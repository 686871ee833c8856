"""Tests of `rule_check` and the testers: right rules pass, wrong ones do not, nothing unmeasured passes."""

import math
import time

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import (
    InconclusiveCheckError,
    NoInputsError,
    NoRuleError,
    WrongRuleError,
    checking,
    rule_check,
    with_tangent,
)
from rulelab.checking.testing import checks
from rulelab.checking.testing.testers import check_frule, check_rrule, check_scalar
from rulelab.checking.testing.testers import test_frule as frule_tester
from rulelab.checking.testing.testers import test_rrule as rrule_tester
from rulelab.checking.testing.testers import test_scalar as scalar_tester
from rulelab.pieces import Limited
from rulelab.rules.registry import Registry

from .rules import (
    blind_rrule,
    counts_all_rrule,
    cube,
    cube_frule,
    cube_rrule,
    forgetful_rrule,
    largest,
    largest_rrule,
    product,
    product_rrule,
    registry_with,
    relu,
    relu_rrule,
    step,
    step_rrule,
)

# -- right rules ---------------------------------------------------------------------------------------------


@pytest.mark.every(11)
@pytest.mark.parametrize(
    "f, rule, args",
    [
        (cube, cube_rrule, ()),
        (cube, cube_rrule, (2.0,)),
        (cube, cube_rrule, (np.array([1.0, -2.0]),)),
        (product, product_rrule, (np.ones((2, 3)), np.ones((3, 4)))),
        (relu, relu_rrule, (np.array([1.0, -2.0, 0.0]),)),
        (relu, relu_rrule, ()),
        (largest, largest_rrule, (np.array([1.0, 3.0, 3.0]),)),
        (largest, largest_rrule, ()),
        (step, step_rrule, ()),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_right_rules_pass(f, rule, args, seed):
    """At points of all kinds: ties, kinks, zeros, both branches, single precision, other layouts."""
    found = rule_check(f, *args, registry=registry_with(f, rule), seed=seed)
    assert found.verdict == "right" and bool(found), found


def test_the_report_says_where_arguments_came_from():
    """Drawn ones are said to be drawn, with their kinds."""
    found = rule_check(cube, registry=registry_with(cube, cube_rrule))
    assert any("drawn (x: a number; or x: a vector)" in note for note in found.notes)
    given = rule_check(cube, 2.0, registry=registry_with(cube, cube_rrule))
    assert given.points[0].origin == "given" and not any("drawn" in note for note in given.notes)


def _sum_of_squares(x):
    return np.sum(x**2)


def _sum_of_products(x, w):
    return np.sum(x * w)


def _damped(t, s):
    return np.exp(-s * t)


def _scaled_sum(a, x):
    return a * np.sum(x)


def _summed_rrule(x):
    return x**3, lambda y_bar: (rl.NoTangent(), np.sum(3 * x**2 * y_bar) * np.ones_like(x))


def _one_number_rrule(x):
    return np.sum(x**2), lambda y_bar: (rl.NoTangent(), np.sum(2 * x) * y_bar)


def _one_of_two_rrule(x, w):
    return np.sum(x * w), lambda y_bar: (rl.NoTangent(), np.sum(w) * y_bar, x * y_bar)


@pytest.mark.every(7)
@pytest.mark.parametrize("depth", ["quick", "normal"])
@pytest.mark.parametrize(
    "f, rule",
    [(cube, _summed_rrule), (_sum_of_squares, _one_number_rrule), (_sum_of_products, _one_of_two_rrule)],
)
def test_a_rule_that_is_right_for_numbers_alone_is_found_out(f, rule, depth):
    """Without arguments a function that takes vectors is looked at with vectors too."""
    found = rule_check(f, registry=registry_with(f, rule), depth=depth)
    assert found.verdict == "wrong", found
    assert any(len(np.shape(x)) or "[" in x for point in found.points for x in point.inputs)


def _damped_rrule(t, s):
    y = np.exp(-s * t)
    return y, lambda y_bar: (rl.NoTangent(), -s * y * y_bar, np.sum(-t * y * y_bar))


def _scaled_sum_rrule(a, x):
    return a * np.sum(x), lambda y_bar: (rl.NoTangent(), np.sum(x) * y_bar, a * y_bar * np.ones_like(x))


@pytest.mark.every(7)
@pytest.mark.parametrize("depth", ["quick", "normal", "deep"])
@pytest.mark.parametrize(
    "f, rule, shown",
    [
        (_damped, _damped_rrule, "t: a vector, s: a number"),
        (_scaled_sum, _scaled_sum_rrule, "a: a number, x: a vector"),
    ],
)
def test_an_argument_that_is_meant_to_be_a_number_stays_one(f, rule, shown, depth):
    """The rule is right where the other argument is a vector: two vectors would ask for another function."""
    found = rule_check(f, registry=registry_with(f, rule), depth=depth)
    assert found.verdict == "right" and any(shown in note for note in found.notes), found


def test_numbers_that_are_put_in_a_list_stay_numbers():
    """With vectors in their places it is another function, of which the author says nothing."""

    def spread(a, b):
        return np.sum([2.0 * a, b])

    def spread_rrule(a, b):
        return spread(a, b), lambda y_bar: (rl.NoTangent(), 2.0 * y_bar, y_bar)

    found = rule_check(spread, registry=registry_with(spread, spread_rrule))
    assert found.verdict == "right" and any("drawn (a: a number, b: a number);" in n for n in found.notes)


def test_numbers_that_are_asked_for_are_numbers():
    """By the domain or by the annotation of the rule."""

    def annotated(x: float):
        return _summed_rrule(x)

    for registry, domain in (
        (registry_with(cube, _summed_rrule), "number"),
        (registry_with(cube, annotated), None),
    ):
        found = rule_check(cube, registry=registry, domain=domain)
        assert found.verdict == "right" and any("drawn (x: a number);" in note for note in found.notes)


def test_a_function_that_refuses_vectors_is_checked_with_numbers():
    """Nor is a rule that raises a TypeError for a vector asked about vectors."""

    def sine(x):
        return math.sin(x)

    def sine_rrule(x):
        return math.sin(x), lambda y_bar: (rl.NoTangent(), math.cos(x) * y_bar)

    def plain_sine(x):
        return np.sin(x)

    for f in (sine, plain_sine):
        found = rule_check(f, registry=registry_with(f, sine_rrule))
        assert found.verdict == "right" and any("drawn (x: a number);" in note for note in found.notes)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_report():
    """But for the seconds."""
    registry = registry_with(cube, forgetful_rrule)
    first, second = (rule_check(cube, registry=registry, seed=4).to_dict() for _ in "12")
    first.pop("seconds"), second.pop("seconds")
    assert first == second


# -- wrong rules ---------------------------------------------------------------------------------------------


def test_a_rule_that_forgets_its_cotangent_is_wrong_at_once():
    """In the quick check too, which takes less than a third of a second even here."""
    registry = registry_with(cube, forgetful_rrule)
    start = time.process_time()
    found = rule_check(cube, registry=registry, depth="quick")
    assert time.process_time() - start < 3.0
    assert found.verdict == "wrong" and len(found.points) <= 3
    worst = next(f.worst for f in found.findings if f.worst is not None)
    assert worst.name == "x" and abs(worst.found - worst.expected) > worst.error


def test_a_rule_that_is_wrong_beyond_a_number_in_the_code_is_found_out():
    """Points are drawn on both sides of 2.5, because it stands there."""
    found = rule_check(step, registry=registry_with(step, blind_rrule))
    assert found.verdict == "wrong"


def test_a_rule_that_is_wrong_at_ties_is_found_out():
    """No difference quotient exists there, but the slopes to both sides do."""
    found = rule_check(largest, np.array([1.0, 3.0, 2.0]), registry=registry_with(largest, counts_all_rrule))
    assert found.verdict == "wrong"
    assert any("at a kink the rule gives" in finding.words for finding in found.findings)


def test_a_wrong_value_is_told_with_both_numbers():
    """A rule may compute the value its own way, but not another value."""

    def off_rrule(x):
        y, back = cube_rrule(x)
        return y + 1e-6, back

    found = rule_check(cube, 2.0, registry=registry_with(cube, off_rrule))
    assert found.verdict == "wrong"
    assert any("the value by the rule is 8.000001" in f.words for f in found.findings)


def test_a_relative_error_of_a_millionth_is_found():
    """Which a comparison of printed numbers would pass."""

    def nearly_rrule(x):
        return x**3, lambda y_bar: (rl.NoTangent(), 3 * x**2 * y_bar * (1 + 1e-6))

    assert rule_check(cube, registry=registry_with(cube, nearly_rrule)).verdict == "wrong"


@pytest.mark.slow
def test_a_transposed_cotangent_is_found_at_square_arguments_too():
    """Matrices are drawn without any symmetry."""

    def transposed_rrule(a, b):
        def transposed_pullback(y_bar):
            return rl.NoTangent(), (y_bar @ b.T).T, a.T @ y_bar

        return a @ b, transposed_pullback

    registry = registry_with(product, transposed_rrule)
    assert rule_check(product, np.ones((3, 3)), np.ones((3, 3)), registry=registry).verdict == "wrong"


def test_an_error_of_the_rule_is_a_finding():
    """Not one of the check."""

    def broken_rrule(x):
        return x**3, lambda y_bar: undefined_name  # noqa: F821

    found = rule_check(cube, 2.0, registry=registry_with(cube, broken_rrule))
    assert found.verdict == "wrong" and "raises NameError" in str(found)


@pytest.mark.slow
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize("size", [500, pytest.param(2000, marks=pytest.mark.campaign)])
def test_large_arguments_are_asked_in_random_directions(size):
    """A million numbers would take a million differences."""
    x = np.linspace(0.5, 2.0, size)
    assert rule_check(cube, x, registry=registry_with(cube, cube_rrule)).verdict == "right"
    assert rule_check(cube, x, registry=registry_with(cube, forgetful_rrule)).verdict == "wrong"


# -- neither -------------------------------------------------------------------------------------------------


def test_a_function_that_gives_another_value_each_time_is_not_judged():
    """It cannot be measured, and is not passed."""

    def noisy(x):
        return x + np.random.default_rng().standard_normal()

    def noisy_rrule(x):
        return noisy(x), lambda y_bar: (rl.NoTangent(), y_bar)

    found = rule_check(noisy, 2.0, registry=registry_with(noisy, noisy_rrule))
    assert found.verdict == "inconclusive" and "different value at each call" in found.sentence


def test_a_function_of_jumps_is_not_judged():
    """No two differences agree anywhere."""

    def saw(x):
        return math.floor(x * 1e3) / 1e3

    def saw_rrule(x):
        return saw(x), lambda y_bar: (rl.NoTangent(), y_bar)

    found = rule_check(saw, 2.0, registry=registry_with(saw, saw_rrule))
    assert found.verdict != "right"


def test_nothing_to_move_is_no_pass():
    """A check that compared nothing says so."""

    def named(x):
        return 2.0

    def named_rrule(x):
        return 2.0, lambda y_bar: (rl.NoTangent(), rl.NoTangent())

    found = rule_check(named, "text", registry=registry_with(named, named_rrule))
    assert found.verdict == "inconclusive" and "no number among the arguments" in found.sentence


def test_a_check_that_was_stopped_is_no_pass():
    """What it has found by then is in the report."""
    check = checking(cube, 2.0, registry=registry_with(cube, cube_rrule))
    pieces = check.pieces()
    next(pieces)
    found = check.result(interrupted=True)
    assert found.verdict == "inconclusive" and found.interrupted and len(found.points) == 1
    assert "stopped after 1 point, at which it is right" in found.sentence


def test_ctrl_c_gives_the_partial_report():
    """Also out of the function that is checked."""
    calls = []

    def slow(x):
        calls.append(x)
        if len(calls) > 200:
            raise KeyboardInterrupt
        return x**3

    found = rule_check(slow, 2.0, registry=registry_with(slow, cube_rrule), depth="deep")
    assert found.interrupted and found.points


# -- what is asked -------------------------------------------------------------------------------------------


def test_without_a_rule_nothing_is_asked_in_its_place():
    """The derivative by the AD would prove nothing of a rule."""
    with pytest.raises(NoRuleError, match="cube has no rrule"):
        rule_check(cube, 2.0, registry=Registry())


def test_a_function_stated_to_have_no_derivative():
    """There is nothing to compare with."""
    registry = Registry()
    rl.non_differentiable(cube, registry=registry)
    with pytest.raises(NoRuleError, match="declared to have no derivative"):
        rule_check(cube, 2.0, registry=registry)


def test_arguments_that_cannot_be_found():
    """The message says what to give."""

    def strange(x):
        raise ValueError("nothing suits me")

    with pytest.raises(NoInputsError, match="nothing suits me") as caught:
        rule_check(strange, registry=registry_with(strange, cube_rrule))
    assert "give them: rule_check(" in str(caught.value)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"depth": "shallow"}, "depth must be one of 'quick', 'normal', 'deep'"),
        ({"order": 3}, "order must be 1 or 2"),
        ({"mode": "both"}, "mode must be 'rrule' or 'frule'"),
        ({"domain": "nonsense"}, "'nonsense' is not a domain"),
        ({"domain": (2, 1)}, "low < high"),
        ({"domain": {"z": "positive"}}, "cube has no parameter z"),
    ],
)
def test_options_that_mean_nothing(options, said):
    """One line, before anything runs."""
    with pytest.raises(rl.RuleLabError, match=said):
        rule_check(cube, registry=registry_with(cube, cube_rrule), **options)


def test_a_domain_is_kept_to():
    """The function is never asked outside it, by no difference either."""
    asked = []

    def root(x):
        asked.append(x)
        return math.sqrt(x)

    def root_rrule(x):
        y = math.sqrt(x)
        return y, lambda y_bar: (rl.NoTangent(), y_bar / (2 * y))

    assert rule_check(root, domain="positive", registry=registry_with(root, root_rrule))
    assert min(map(np.min, asked)) > 0  # with vectors, too, which it refuses


def test_an_argument_held_fixed_is_not_looked_at():
    """`with_tangent(x, NoTangent())` says that it is a constant of the test."""

    def power(x, n):
        return x**n

    def power_rrule(x, n):
        return x**n, lambda y_bar: (rl.NoTangent(), n * x ** (n - 1) * y_bar, rl.NoTangent())

    registry = registry_with(power, power_rrule)
    assert rule_check(power, 2.0, with_tangent(3.0, rl.NoTangent()), registry=registry)
    assert rule_check(power, 2.0, 3.0, registry=registry).verdict == "wrong"
    assert rule_check(power, 2.0, 3, registry=registry)  # an integer is held fixed by itself


def test_integers_alone_are_taken_as_floats():
    """`--at 2` means the number."""
    found = rule_check(cube, 2, registry=registry_with(cube, cube_rrule))
    assert found and "integers were taken as floats" in found.notes


def test_a_cotangent_of_ones_is_told():
    """It hides mistakes: a rule that ignores its cotangent is right there."""
    found = rule_check(cube, 2.0, output_tangent=1.0, registry=registry_with(cube, cube_rrule))
    assert found and any("all ones" in finding.words for finding in found.findings)


def test_keyword_arguments_are_constants():
    """They are those of every call."""

    def scaled(x, *, by=1.0):
        return by * x

    def scaled_rrule(x, *, by=1.0):
        return by * x, lambda y_bar: (rl.NoTangent(), by * y_bar)

    assert rule_check(scaled, 2.0, fkwargs={"by": 3.0}, registry=registry_with(scaled, scaled_rrule))


@pytest.mark.parametrize(
    ("args", "given"),
    [((np.ones((2, 3)),), {"axis": 1}), ((), {"x": np.ones((2, 3)), "keep": True}), ((np.ones(3), None), {})],
)
def test_arguments_by_name_are_those_by_place(args, given):
    """A rule takes them by place; what was left out between them has its default."""

    def total(x, axis=None, keep=False):
        return np.sum(x**2, axis=axis, keepdims=keep)

    def total_rrule(x, axis=None, keep=False):
        def back(y_bar):
            wide = y_bar if axis is None or keep else np.expand_dims(y_bar, axis)
            return rl.NoTangent(), 2 * x * wide, rl.NoTangent(), rl.NoTangent()

        return total(x, axis, keep), back

    registry = registry_with(total, total_rrule)
    found = rule_check(total, *args, fkwargs=given, registry=registry)
    assert found and ("axis = 1: a whole number, held fixed" in found.notes) == ("axis" in given)
    with pytest.raises(rl.RuleLabError, match="not complete: .*missing 1 required positional argument: 'x'"):
        rule_check(total, fkwargs={"axis": 1}, registry=registry)


@pytest.mark.first(1)
@pytest.mark.parametrize("given", [(), (np.ones((4, 3)) + np.arange(3.0), 1.5)])
def test_lengths_in_a_domain_are_kept(given):
    """Points of space have three coordinates at every point of the check, given or drawn."""
    seen = set()

    def pinhole(points, focal):
        seen.add(points.shape[1])
        return focal * points[:, :2] / (3 + points[:, -1:] ** 2)

    def pinhole_rrule(points, focal):
        depth = 3 + points[:, -1:] ** 2

        def back(y_bar):
            plane = focal * y_bar / depth
            along = -2 * points[:, -1:] * np.sum(plane * points[:, :2], axis=1, keepdims=True) / depth
            return rl.NoTangent(), np.hstack([plane, along]), np.sum(y_bar * points[:, :2] / depth)

        return pinhole(points, focal), back

    registry = registry_with(pinhole, pinhole_rrule)
    found = rule_check(pinhole, *given, registry=registry, domain={"points": "matrix (n, 3)"})
    assert found and seen == {3}


# -- both modes, second order --------------------------------------------------------------------------------


def test_a_forward_rule_alone_is_what_is_checked():
    """Without a word on the mode."""
    found = rule_check(cube, 2.0, registry=registry_with(cube, cube_frule, "frule"))
    assert found and found.mode == "frule"


def test_a_wrong_forward_rule():
    """It forgets the tangent."""

    def wrong_frule(tangents, x):
        return x**3, 3 * x**2

    assert rule_check(cube, registry=registry_with(cube, wrong_frule, "frule")).verdict == "wrong"


def test_the_two_rules_are_held_against_each_other():
    """Forward and reverse mode are one linear map and its transpose."""
    registry = registry_with(cube, cube_rrule)
    rl.frule_for(cube, registry=registry)(lambda tangents, x: (x**3, 2 * x**2 * tangents[1]))
    found = rule_check(cube, 2.0, registry=registry)
    assert found.verdict == "wrong" and any("disagree" in f.words for f in found.findings)


def test_second_derivatives_through_a_rule():
    """The first derivative is right; the pullback hides x from the second."""

    def square(x):
        return x * x

    def opaque_rrule(x):
        slope = rl.ignore_derivatives(2.0 * x)
        return x * x, lambda y_bar: (rl.NoTangent(), slope * y_bar)

    rl.rrule_for(square)(opaque_rrule)
    assert rule_check(square, 2.0)
    found = rule_check(square, 2.0, order=2)
    assert found.verdict == "wrong" and any("second derivative" in f.words for f in found.findings)


def test_second_derivatives_that_are_right():
    """Of a rule in plain Python, by differentiating it."""

    def fourth(x):
        return x**4

    @rl.rrule_for(fourth)
    def fourth_rrule(x):
        def fourth_pullback(y_bar):
            return rl.NoTangent(), 4 * x**3 * y_bar

        return x**4, fourth_pullback

    found = rule_check(fourth, 1.5, order=2)
    assert found and any(c.name == "second order" for c in found.checks)


# -- for test suites -----------------------------------------------------------------------------------------


def test_testers_raise_what_pytest_shows():
    """An AssertionError with the mistake in its first line and the report in it."""
    with pytest.raises(AssertionError) as caught:
        rrule_tester(cube, 2.0, registry=registry_with(cube, forgetful_rrule))
    assert isinstance(caught.value, WrongRuleError) and caught.value.report.verdict == "wrong"
    assert "cube is wrong" in str(caught.value).splitlines()[0]


def test_testers_pass_nothing_that_was_not_measured():
    """Neither right nor wrong is a failure too."""

    def noisy(x):
        return x + np.random.default_rng().standard_normal()

    def noisy_rrule(x):
        return noisy(x), lambda y_bar: (rl.NoTangent(), y_bar)

    with pytest.raises(InconclusiveCheckError):
        rrule_tester(noisy, 2.0, registry=registry_with(noisy, noisy_rrule))


def test_testers_are_not_collected_and_have_two_names():
    """pytest takes what is called `test…` for a test, unless it is told."""
    assert check_rrule is rrule_tester and check_frule is frule_tester and check_scalar is scalar_tester
    assert not any(f.__test__ for f in (rrule_tester, frule_tester, scalar_tester))


def test_a_scalar_function_in_both_modes():
    """Needs both rules."""
    assert scalar_tester(math.sin, 0.7) and scalar_tester(np.exp, 0.3 + 0.2j)
    with pytest.raises(NoRuleError):
        scalar_tester(cube, 2.0, registry=registry_with(cube, cube_rrule))


def test_a_rule_that_asks_for_a_config():
    """It gets that of the AD."""

    def applied(f, x):
        return f(x)

    registry = Registry()

    @rl.rrule_for(applied, requires={"reverse"}, registry=registry)
    def applied_rrule(config, f, x):
        y, back = config.rrule_via_ad(f, x)
        return y, lambda y_bar: (rl.NoTangent(), rl.NoTangent(), back(y_bar)[1])

    assert rule_check(applied, math.sin, 0.5, registry=registry)


def test_a_difference_method_of_ones_own():
    """Has to agree too; one that cannot leaves nothing known, and nothing passes."""
    from rulelab.checking import central_fdm, forward_fdm

    registry = registry_with(cube, cube_rrule)
    assert rule_check(cube, 2.0, fdm=central_fdm(5), registry=registry)
    useless = forward_fdm(2, adapt=0, condition=1e-9)  # believes that nothing bends
    assert rule_check(cube, 2.0, fdm=useless, registry=registry).verdict == "inconclusive"


def test_finite_differences_in_place_of_an_ad():
    """So that a rule which calls back is tested for itself."""
    from rulelab.checking import FiniteDifferenceConfig

    config = FiniteDifferenceConfig()
    y, back = config.rrule_via_ad(lambda x: x**3, 2.0)
    np.testing.assert_allclose(back(1.0)[1], 12.0, rtol=1e-9)
    assert config.rrule_via_ad(math.sin, 0.5)[1](1.0)[1] == math.cos(0.5)  # by its rule
    y, y_dot = config.frule_via_ad((rl.NoTangent(), 1.0), lambda x: x**3, 2.0)
    np.testing.assert_allclose(y_dot, 12.0, rtol=1e-9)


def test_a_quick_check_of_a_slow_function_says_so():
    """It runs while a rule is being defined, and must not keep its author waiting."""

    def slow(x):
        time.sleep(0.25)
        return x**3

    found = rule_check(slow, 2.0, depth="quick", registry=registry_with(slow, cube_rrule))
    assert found.verdict == "inconclusive" and "too long for a quick check" in found.sentence


@pytest.mark.slow
def test_finding_arguments_ends_in_time(monkeypatch):
    """A function that takes nothing and is slow to say so is not asked for ever."""

    asked = []

    def slow(x):
        asked.append(x)
        time.sleep(0.05)
        raise ValueError("nothing suits me")

    monkeypatch.setitem(checks.FINDING, "quick", 1.0)
    with pytest.raises(NoInputsError, match="none in 1 s"):
        rule_check(slow, depth="quick", registry=registry_with(slow, cube_rrule))
    assert len(asked) < 50


# -- where points have to lie for a mistake to be seen -------------------------------------------------------


def sine(x):
    return np.sin(x)


def slope_of_sine(x):
    return np.cos(x) if x < 1000 else 0.0


def judged(f, slope, *args, seed=0):
    """The verdict on the rule of `f` whose cotangent is `slope(x)` times y_bar."""

    def rule(x):
        return f(x), lambda y_bar: (rl.NoTangent(), y_bar * slope(x))

    return rule_check(f, *args, seed=seed, registry=registry_with(f, rule)).verdict


@pytest.mark.every(5)
@pytest.mark.parametrize("seed", range(5))
def test_both_sides_of_a_number_of_the_code_are_looked_at(seed):
    """Also where both stand on one line, so that no further line tells of the other side."""

    def rule(x):
        return np.sin(x), lambda y_bar: (rl.NoTangent(), y_bar * np.cos(x) if x < 150 else 0.0)

    assert rule_check(sine, seed=seed, registry=registry_with(sine, rule)).verdict == "wrong"


@pytest.mark.every(5)
@pytest.mark.parametrize("seed", range(5))
def test_numbers_in_a_function_that_the_rule_calls_count(seed):
    """The bound at which a mistake begins may stand there."""
    assert judged(sine, slope_of_sine, seed=seed) == "wrong"


def test_points_lie_between_two_close_numbers_of_the_code():
    """A bound of the rule that is a little off that of the function."""

    def bent(x):
        return np.where(x > -2, x * x, -4 * x)

    def rule(x):
        return bent(x), lambda y_bar: (rl.NoTangent(), y_bar * np.where(x > -1.99, 2 * x, -4))

    assert rule_check(bent, registry=registry_with(bent, rule)).verdict == "wrong"


@pytest.mark.slow
def test_a_rule_that_keeps_its_argument_in_single_precision_is_wrong():
    """Though most points of a check have few digits."""

    def square(x):
        return x * x

    assert judged(square, lambda x: 2 * x, np.array([0.5, 2.0])) == "right"
    assert judged(square, lambda x: 2 * x.astype(np.float32), np.array([0.5, 2.0])) == "wrong"
    assert judged(square, lambda x: 2 * float(np.float32(x))) == "wrong"


def test_a_function_that_looks_at_the_dtype_is_another_one_in_single_precision():
    """Its derivative in doubles says nothing of a rule there, and the report says so."""

    def damping(x):
        return 0.5 if x.dtype == np.float32 else 1e-12

    def normalised(x):
        return x / np.sqrt(np.sum(x * x) + damping(x))

    def rule(x):
        length = np.sqrt(np.sum(x * x) + damping(x))
        y = x / length
        return y, lambda y_bar: (rl.NoTangent(), (y_bar - y * np.sum(y_bar * y)) / length)

    report = rule_check(normalised, np.array([0.1, 0.2, 0.4]), registry=registry_with(normalised, rule))
    assert report.verdict == "right"
    assert any("single precision" in note and "not judged there" in note for note in report.notes)


@pytest.mark.slow
def test_a_power_that_is_complex_here_and_there_is_drawn_where_it_is_real():
    """Python makes a complex number of (-2.0)**0.5, for which no rule of real numbers is meant."""

    def power(x, y):
        return x**y

    def rule(x, y):
        z = x**y
        return z, lambda z_bar: (rl.NoTangent(), z_bar * y * x ** (y - 1), z_bar * z * np.log(x))

    assert all(rule_check(power, seed=s, registry=registry_with(power, rule)) for s in range(5))


def second_of_chebyshev(x):
    return 2 * x * x - 1 + 0 * x


def ellipse(a, b):
    return np.where(a == b, 0.0, (a - b) * (a + b))


def by_angle(factor):
    def rule(x):
        angle = np.arccos(x)

        def pullback(y_bar):
            return rl.NoTangent(), factor * y_bar * np.sin(2 * angle) / np.sin(angle)

        return second_of_chebyshev(x), pullback

    return rule


def by_quotient(factor):
    def rule(a, b):
        y = ellipse(a, b)

        def pullback(y_bar):
            with np.errstate(all="ignore"):
                slope = factor * y_bar * y / (a - b) / (a + b)
            return rl.NoTangent(), slope * a, -slope * b

        return y, pullback

    return rule


@pytest.mark.first(1)
@pytest.mark.usefixtures("without_diagnoses")
@pytest.mark.parametrize(("f", "rule_with"), [(second_of_chebyshev, by_angle), (ellipse, by_quotient)])
def test_what_is_no_number_at_arguments_that_nobody_gave_condemns_no_rule(f, rule_with):
    """The angle of a cosine is none outside of [-1, 1], and equal axes need not be meant: it cannot tell."""
    found = rule_check(f, registry=registry_with(f, rule_with(2)))
    assert found.verdict == "inconclusive" and "nan or infinite where" in found.sentence


@pytest.mark.usefixtures("without_diagnoses")
def test_a_wrong_number_beside_what_is_none_is_wrong():
    """Outside of [-1, 1] it has none, within it is off."""
    registry = registry_with(second_of_chebyshev, by_angle(3))
    assert rule_check(second_of_chebyshev, registry=registry, depth="quick").verdict == "wrong"


@pytest.mark.usefixtures("without_diagnoses")
def test_what_is_no_number_at_arguments_that_were_given_is_wrong():
    given = rule_check(ellipse, 2.0, 2.0, registry=registry_with(ellipse, by_quotient(2)))
    assert given.verdict == "wrong"


WHOLE = np.array([1, 2, 3, 0])


@pytest.mark.slow
def test_a_cotangent_for_an_array_of_whole_numbers_is_looked_at():
    """Counts that f multiplies by can vary like any number. Where an array picks elements it is told that its
    cotangent was not looked at. A rule that says there is none is not asked about it."""

    def weighted(x, counts):
        return np.sum(x * counts)

    def picked(x, where):
        return np.sum(x[where])

    def judged(f, x_bar, bar):
        def rule(x, whole):
            return f(x, whole), lambda y_bar: (
                rl.NoTangent(), x_bar(x, whole) * y_bar, bar(x, whole, y_bar)
            )

        return rule_check(f, np.array([0.3, 1.2, -0.7, 2.0]), WHOLE, registry=registry_with(f, rule))

    def added(x, where):
        return np.bincount(where, minlength=len(x))

    nothing = judged(weighted, lambda x, n: n, lambda x, n, y_bar: rl.NoTangent())
    right = judged(weighted, lambda x, n: n, lambda x, n, y_bar: x * y_bar)
    wrong = judged(weighted, lambda x, n: n, lambda x, n, y_bar: 2.0 * x * y_bar)
    assert (nothing.verdict, right.verdict, wrong.verdict) == ("right", "right", "wrong")
    assert "counts = [1, 2, 3, 0]: taken as floats" in str(right) and "counts" not in str(nothing)
    assert "counts" in wrong.sentence and "factor of 2" in wrong.sentence
    unseen = judged(picked, added, lambda x, n, y_bar: np.zeros(4))
    assert unseen.verdict == "right"
    assert "where = [1, 2, 3, 0]: whole numbers, whose cotangent was not checked" in str(unseen)


def swing(angle, speed, h=0.05, steps=4):
    for _ in range(steps):
        angle, speed = angle + h * speed, speed - h * math.sin(angle)
    return angle


@pytest.mark.first(1)
@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "inconclusive"), (1.5, "wrong")])
@pytest.mark.parametrize("depth", ["quick", "normal"])
def test_what_a_rule_says_is_not_implemented_is_held_and_the_others_are_judged(factor, verdict, depth):
    """A slip in the others is found; without one nobody can tell, and the report says of what."""
    registry = Registry()

    @rl.rrule_for(swing, registry=registry)
    def swing_rrule(angle, speed, h=0.05, steps=4):
        by_angle, by_speed = np.eye(2)
        x, v = angle, speed
        for _ in range(steps):
            x, v, by_angle, by_speed = (
                x + h * v, v - h * math.sin(x),
                np.array([by_angle[0] + h * by_angle[1], by_angle[1] - h * math.cos(x) * by_angle[0]]),
                np.array([by_speed[0] + h * by_speed[1], by_speed[1] - h * math.cos(x) * by_speed[0]]),
            )  # fmt: skip

        def back(y_bar):
            by_h = rl.not_implemented("by the step")
            return rl.NoTangent(), by_angle[0] * y_bar, factor * by_speed[0] * y_bar, by_h, rl.NoTangent()

        return x, back

    found = rule_check(swing, 0.7, 0.2, registry=registry, depth=depth)
    assert found.verdict == verdict, found
    if verdict == "wrong":
        assert "speed" in str(found)
    else:
        assert found.reason == "the cotangent of h is not implemented; only the others were judged"
        assert len(found.points) > 2 and "refuses" not in str(found)


def test_a_rule_that_implements_nothing_refuses():
    """There is nothing else to be judged."""
    registry = Registry()
    rl.rrule_for(math.sin, registry=registry)(
        lambda x: (math.sin(x), lambda y_bar: (rl.NoTangent(), rl.not_implemented("later")))
    )
    found = rule_check(math.sin, 0.5, registry=registry)
    assert found.verdict == "inconclusive"
    assert "refuses every point" in found.reason and "later" in found.reason


def test_a_check_is_at_its_end_at_the_end_only():
    """Its progress says so, whatever it finds on the way, and a limit of seconds ends it at any step."""

    def sharp(x):
        return np.sum(np.abs(x) * x)

    def sharp_rrule(x):
        return sharp(x), lambda y_bar: (rl.NoTangent(), 2 * np.abs(x) * y_bar)

    registry = registry_with(sharp, sharp_rrule)
    steps = list(checking(sharp, np.array([0.5, -1.5, 2.0]), registry=registry).pieces())
    assert len(steps) > 20 and steps[-1].done == steps[-1].total
    assert all(before.done < before.total for before in steps[:-1])
    assert [step.done for step in steps] == list(range(1, len(steps) + 1))
    ticks = iter(range(1000))
    cut = Limited(
        checking(sharp, np.array([0.5, -1.5, 2.0]), registry=registry), 15.0, lambda: float(next(ticks))
    )
    assert len(list(cut.pieces())) == 15 and cut.is_over and cut.result().interrupted
