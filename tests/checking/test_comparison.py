"""A right rule is told that it agrees, a wrong one where and by how much."""

import dataclasses
import json
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.comparing.comparison import (
    Settings,
    argument_names,
    compare,
    compare_without,
    first_difference,
)
from rulelab.checking.measuring.shortening import shortened
from rulelab.compiler.calls.cache import StaleRuleWarning
from rulelab.errors import MutationError, NotDifferentiableError, ScalarOutputError


class HandWritten:
    """A stand-in AD that finds the pullback on the function; one without is refused as the real one refuses
    it.
    """

    @staticmethod
    def pullback(f, *args, **kwargs):
        if not hasattr(f, "rule"):
            raise MutationError("Mutating arrays is not supported -- called ndarray.__setitem__(float64[3])")
        return f.rule(*args, **kwargs)

    @classmethod
    def gradient(cls, f, *args, **kwargs):
        return cls.pullback(f, *args, **kwargs)[1](1.0)


@pytest.fixture
def settings():
    return Settings(ad=HandWritten, rng=np.random.default_rng(0))


def with_rule(primal, cotangents):
    """A function with this primal whose pullback is `cotangents(seed, *args)`."""

    def f_cr(*args, **kwargs):
        return primal(*args, **kwargs)

    f_cr.rule = lambda *args, **kwargs: (primal(*args, **kwargs), lambda seed: cotangents(seed, *args))
    return f_cr


def mse(y, yh):
    return float(np.mean((y - yh) ** 2))


def mse_cotangents(seed, y, yh):
    g = 2 / len(y) * (y - yh) * seed
    return g, -g


mse.rule = lambda y, yh: (mse(y, yh), lambda seed: mse_cotangents(seed, y, yh))
Y, YH = np.arange(8.0), np.ones(8)


def test_a_right_rule_agrees(settings):
    """Values, gradients and pullbacks agree, and the sentence says to what."""
    found = compare(mse, with_rule(mse, mse_cotangents), Y, YH, settings=settings)
    assert found.agree and found.verdict == "agree exactly"
    assert [d.name for d in found.gradients] == ["gradient of y", "gradient of yh"]
    nearly = with_rule(mse, lambda s, y, yh: tuple(g * (1 + 3e-13) for g in mse_cotangents(s, y, yh)))
    assert compare(mse, nearly, Y, YH, settings=settings).verdict == "agree to 1e-12"


def test_a_wrong_sign_is_found_with_its_worst_element(settings):
    """The argument, the index and both numbers are named."""
    wrong = with_rule(mse, lambda s, y, yh: (mse_cotangents(s, y, yh)[0],) * 2)
    found = compare(mse, wrong, Y, YH, settings=settings)
    assert not found.agree
    assert found.verdict == "differ: gradient of yh: at [7] -1.5 against 1.5"
    worst = found.gradients[1]
    assert worst.worst == (7,) and worst.absolute == 3.0 and worst.relative == 2.0
    assert found.gradients[0].agree


def test_a_rule_that_ignores_its_cotangent_is_caught(settings):
    """With the seed 1 it is right; it is told nevertheless."""
    ignoring = with_rule(mse, lambda s, y, yh: mse_cotangents(1.0, y, yh))
    found = compare(mse, ignoring, Y, YH, settings=settings)
    assert all(d.agree for d in found.gradients) and not found.agree
    assert "the rule ignores its cotangent: back(2) equals back(1) for y and yh" in found.sentence


def test_a_rule_that_is_wrong_for_negative_seeds_is_caught(settings):
    """A pullback that is right for the seed 1 only is compared with another seed."""
    odd = with_rule(mse, lambda s, y, yh: mse_cotangents(abs(s) ** 2, y, yh))
    assert "though with the seed 1 they agree" in compare(mse, odd, Y, YH, settings=settings).verdict


def test_finite_differences_stand_in_for_a_refused_function(settings):
    """The column says that it is finite differences, and why, in one line."""

    def addone(x):
        x += 1
        return float((x**2).sum())

    x = np.array([1.0, 2.0, 3.0])
    addone_cr = with_rule(lambda x: float(((x + 1) ** 2).sum()), lambda s, x: (2 * (x + 1) * s,))
    found = compare(addone, addone_cr, x, settings=settings)
    assert found.agree and found.left_name == "addone (finite differences)"
    assert found.refused == (
        "addone is refused by the AD, so its column is finite differences (MutationError: Mutating "
        "arrays is not supported -- called ndarray.__setitem__(float64[3]))."
    )
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_where_finite_differences_know_nothing_no_verdict_is_given(settings):
    """A nan of the differences is no evidence against a rule, and none for it."""

    def step(x):
        return float("nan") if x != 2.0 else 1.0

    found = compare(step, with_rule(step, lambda s, x: (s * 3.0,)), 2.0, settings=settings)
    assert found.verdict.startswith("cannot tell")


def test_shapes_and_values_are_compared(settings):
    """A cotangent of the wrong shape and a twin with another value are differences."""
    scalar = with_rule(mse, lambda s, y, yh: (np.float64(1.0) * s, mse_cotangents(s, y, yh)[1]))
    assert "gradient of y: shape (8,) against ()" in compare(mse, scalar, Y, YH, settings=settings).verdict
    other = with_rule(lambda y, yh: mse(y, yh) + 1, mse_cotangents)
    assert compare(mse, other, Y, YH, settings=settings).verdict == "differ: value: 11.5 against 12.5"


def test_small_elements_beside_large_ones_count(settings):
    """An element that is off by half is found though another is a million times larger."""

    def f(x):
        return float(np.sum(x))

    f.rule = lambda x: (f(x), lambda s: (s * np.array([1e6, 1e-3]),))
    wrong = with_rule(f, lambda s, x: (s * np.array([1e6, 1.5e-3]),))
    assert compare(f, wrong, np.ones(2), settings=settings).gradients[0].worst == (1,)


def test_none_beside_zeros_agrees_and_says_so(settings):
    """No dependence and a derivative of zero are the same number, told apart in a note."""
    none, zeros = (
        with_rule(mse, lambda s, y, yh: (None, -yh * s)),
        with_rule(mse, lambda s, y, yh: (0 * y, -yh * s)),
    )
    found = compare(none, zeros, Y, YH, settings=settings)
    assert found.agree and "None on one side, zero on the other" in found.gradients[0].verdict
    assert "rule_check" not in str(found)  # who derived None from the code knows
    three = with_rule(mse, lambda s, y, yh: (y * s, -yh * s))
    assert not compare(none, three, Y, YH, settings=settings).agree


def test_a_gradient_that_is_zero_here_and_left_out_by_the_rule_is_mentioned(settings):
    """Agreement at a point where the slope happens to vanish does not say that the rule may leave it out."""

    def parabola(c, x):
        return c * (x - 2.0) ** 2

    zero = with_rule(parabola, lambda s, c, x: ((x - 2.0) ** 2 * s, 2 * c * (x - 2.0) * s))
    none = with_rule(parabola, lambda s, c, x: ((x - 2.0) ** 2 * s, None))
    found = compare(zero, none, 3.0, 2.0, settings=settings)
    assert found.agree and ": zero at these arguments, and f_cr says that the result does not" in str(found)
    assert "A check of the rule tells whether that holds elsewhere." in str(found)
    assert not compare(zero, none, 3.0, 2.5, settings=settings).agree
    assert "rule_check" not in str(compare(zero, zero, 3.0, 2.0, settings=settings))


def test_array_functions_are_compared_by_their_pullbacks(settings):
    """A function that returns an array has no gradient; its pullback at a random seed is compared."""

    def double(x):
        return 2 * x

    double.rule = lambda x: (double(x), lambda s: (2 * s,))
    right, wrong = (
        with_rule(double, lambda s, x: (2 * s,)),
        with_rule(double, lambda s, x: (2 * np.ones_like(x),)),
    )
    assert compare(double, right, np.ones(3), settings=settings).agree
    assert "ignores its cotangent" in compare(double, wrong, np.ones(3), settings=settings).verdict


def test_structured_gradients_are_compared_leaf_by_leaf(settings):
    """A dict of parameters is named key by key."""

    def f(p):
        return p["w"] * p["b"][0]

    f.rule = lambda p: (f(p), lambda s: ({"w": s * p["b"][0], "b": (s * p["w"],)},))
    wrong = with_rule(f, lambda s, p: ({"w": s * p["b"][0], "b": (s,)},))
    found = compare(f, wrong, {"w": 3.0, "b": (4.0,)}, settings=settings)
    assert found.verdict == "differ: gradient of p['b'][0]: 3 against 1"


def test_float32_is_judged_as_float32(settings):
    """Rounding of the dtype is no difference."""
    y, yh = Y.astype(np.float32), np.float32(0.3) * YH.astype(np.float32)
    nearly = with_rule(
        mse,
        lambda s, y, yh: tuple(
            (g * np.float32(1 + 1e-6)).astype(np.float32) for g in mse_cotangents(s, y, yh)
        ),
    )
    assert compare(mse, nearly, y, yh, settings=settings).agree


def test_every_face_of_the_result(settings):
    """Text, HTML, JSON and Markdown say the same verdict."""
    found = compare(mse, with_rule(mse, mse_cotangents), Y, YH, settings=settings)
    assert json.loads(found.to_json())["verdict"] == found.verdict
    for face in (str(found), found._repr_html_(), found.to_markdown(), found.to_latex()):
        assert "agree exactly" in face
    assert str(found).startswith("Right: mse and f_cr agree exactly.")


def test_argument_names_of_functions_without_a_signature():
    """C functions and surplus arguments get a name too."""
    assert argument_names(lambda x, *ws: x, (1, 2, 3)) == ["x", "ws[0]", "ws[1]"]
    assert argument_names(print, (1, 2)) == ["args[0]", "args[1]"]


def test_the_value_is_the_one_that_a_rule_returns(settings):
    """A rule whose gradient is right and whose value is not is told, on either side."""
    shifted = with_rule(mse, mse_cotangents)
    shifted.rule = lambda y, yh: (mse(y, yh) + 1, lambda seed: mse_cotangents(seed, y, yh))
    found = compare(mse, shifted, Y, YH, settings=settings)
    assert (found.value[0].left, found.value[0].right) == (11.5, 12.5) and not found.agree
    assert found.verdict == "differ: value of f_cr by its rule: 12.5 against 11.5 by the plain call"
    assert "value of f_cr by its rule" in str(found)
    assert not compare(shifted, mse, Y, YH, settings=settings).agree


def test_a_rule_whose_value_is_that_of_the_other_function_is_told_too(settings):
    """Both agree where they are differentiated, and the plain call of the twin is another function."""
    other = with_rule(lambda y, yh: mse(y, yh) + 1, mse_cotangents)
    other.rule = mse.rule
    found = compare(mse, other, Y, YH, settings=settings)
    assert found.value[0].agree and not found.agree
    assert found.to_dict()["by_rule"][0]["right"] == 12.5


def test_a_rule_may_compute_the_value_its_own_way(settings):
    """Rounding is no finding; the row of values shows it."""
    rounded = with_rule(mse, mse_cotangents)
    rounded.rule = lambda y, yh: (mse(y, yh) * (1 + 1e-15), lambda seed: mse_cotangents(seed, y, yh))
    found = compare(mse, rounded, Y, YH, settings=settings)
    assert found.agree and not found.by_rule and found.value[0].absolute > 0


def test_the_value_of_a_rule_within_a_loss(settings):
    """A rule that returns another value changes the value of the loss, and only with the rule."""

    def square(x):
        return x * x

    rl.rrule_for(square)(lambda x: (x * x + 1, lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar)))
    found = compare_without(lambda x: 3.0 * square(x), square, 2.0)
    assert found.value[0].row()[1:3] == ("12", "15") and not found.agree
    assert "with the rule of square: 15 against 12 by the plain call" in found.verdict


@pytest.mark.parametrize("given", [{"y": Y, "yh": YH}, {}])
def test_nothing_to_compare_by_is_refused(given):
    """Keywords are constants: a comparison of no gradient at all is not called agreement."""
    with pytest.raises(NotDifferentiableError, match="nothing to differentiate with respect to") as caught:
        compare(mse, mse, **given)
    assert not given or "give them by position: mse(y, yh)" in str(caught.value)
    with pytest.raises(NotDifferentiableError):
        compare_without(mse, np.mean, **given)


@pytest.fixture
def square():
    """A function with a rule."""

    def square(x):
        return x * x

    rl.rrule_for(square)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar)))
    return square


def test_a_rule_that_takes_no_part_proves_nothing(square):
    """A loss that does not come to the function is the same with and without its rule: that is no pass."""

    def loss(x):
        return square(x) if x > 0 else 2.0 * x

    def other(x):
        return 3.0 * x

    assert compare_without(loss, square, 2.0).agree
    assert compare_without(square, square, 2.0).agree
    for found in (compare_without(other, square, 2.0), compare_without(loss, square, -2.0)):
        assert not found.agree
        assert found.verdict == "cannot tell: the rule of square was not used in this call"
        assert found.sentence.startswith("Cannot tell whether ")
        assert found.to_dict()["unasked"] is not None
    assert "there is no rule for other" in compare_without(loss, other, 2.0).verdict


def test_built_in_rules_methods_and_inner_calls_take_part(square):
    """However the rule is come to, it counts as asked."""

    class Model:
        def __init__(self, w):
            self.w = w

        def score(self, x):
            return self.w * x

    def inner(x):
        return 2.0 * square(x)

    @rl.rrule_for(Model.score)
    def score_rrule(self, x):
        return self.w * x, lambda s: (rl.NoTangent(), rl.NoTangent(), s * self.w)

    model = Model(3.0)
    assert compare_without(lambda x: model.score(x) ** 2, Model.score, 2.0).agree
    assert compare_without(lambda x: model.score(x) ** 2, model.score, 2.0).agree
    assert compare_without(lambda x: inner(x) + 1.0, square, 2.0).agree
    assert compare_without(lambda x: sum(map(square, [x, x])), square, 2.0).agree
    assert compare_without(lambda x: math.hypot(x, 4.0) ** 2, math.hypot, 3.0).agree
    assert compare_without(lambda x: float(np.sum(np.sin(x))), np.sin, np.ones(3)).agree
    rl.refresh()  # of hypot and sin the default cache has heard that they have no rule


def test_manual_mode_leaves_no_rule_out(square):
    """Old answers count on both sides there, so their agreement says nothing."""
    rl.refresh("manual")
    try:
        with pytest.warns(StaleRuleWarning):
            found = compare_without(lambda x: 3.0 * square(x), square, 2.0)
        assert found.verdict.startswith("cannot tell: the refresh mode is manual")
    finally:
        rl.refresh("auto")


@pytest.mark.parametrize("returned", [None, "text", (None, "text"), {}])
def test_a_result_without_a_number_is_refused(returned):
    """As by `gradient`, on either side: there is nothing that could agree."""
    for pair in ((lambda x: returned, lambda x: returned), (lambda x: returned, lambda x: x)):
        with pytest.raises(ScalarOutputError):
            compare(*pair, 2.0)
        with pytest.raises(ScalarOutputError):
            compare(*pair[::-1], 2.0)


def test_results_of_different_structure_differ():
    """A difference in the table, not an error of whatever is asked next."""
    found = compare(lambda x: x * np.ones(2), lambda x: x, 1.0)
    assert found.verdict == "differ: value: shape (2,) against ()"
    assert not compare(lambda x: x, lambda x: x * np.ones(2), 1.0).agree
    assert not compare(lambda x: (x, None), lambda x: (x, 0.0), 1.0).agree
    assert compare(lambda x: (x, None), lambda x: (x, None), 1.0).agree
    assert json.loads(found.to_json())["agree"] is False and str(found)


def test_a_difference_with_another_seed_only_is_said_to_be_there(settings):
    """In the headline, and in the line of the pullbacks below a table in which every row agrees exactly."""
    nearly = with_rule(mse, lambda s, y, yh: mse_cotangents(s if s == 1.0 else s * (1 + 3e-13), y, yh))
    found = compare(mse, nearly, Y, YH, settings=settings)
    assert found.agree and found.verdict == "agree to 1e-12"
    assert "agree to 1e-12 as well" in str(found) and ">1e-12</span> as well" in found._repr_html_()


def test_names_may_be_given():
    """For methods, lambdas and what else has no name of its own."""
    found = compare(lambda x: x * x, lambda x: x**2, 2.0, settings=Settings(names=("model.f", "fast")))
    assert found.sentence == "Right: model.f and fast agree exactly."
    without = compare_without(math.sqrt, math.sqrt, 2.0, settings=Settings(names=("loss", "root")))
    assert without.left_name == "loss without the rule of root (finite differences)"
    assert without.right_name == "loss with it"


def test_a_value_changed_by_a_rule_further_in_is_told(square):
    """The rule sits on what the function calls: its value with the gradient is another one."""
    rl.rrule_for(square)(lambda x: (x * x + 1, lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar)))
    found = compare(lambda x: x * x * 3.0, lambda x: 3.0 * square(x), 2.0)
    assert found.verdict == "differ: value of <lambda> with its gradient: 15 against 12 by the plain call"


def test_of_a_function_that_draws_numbers_nothing_is_told():
    """Its values differ from call to call: neither side is called wrong for that, nor right."""
    rng = np.random.default_rng(3)
    found = compare(lambda x: x * x + 1e-3 * rng.random(), lambda x: x * x, 2.0)
    assert found.word == "cannot tell" and not found.agree
    assert "returns a different value at each call" in found.sentence
    assert {sign for table in found.page().tables for sign in table.verdicts} == {"cannot tell", "right"}


def test_the_worst_element_is_told_once():
    """In the headline, or below it where that says something else."""
    found = compare(lambda x: np.sum(x**2), lambda x: np.sum(x**2) + 0.1 * x[1] ** 2, np.array([1.0, 2.0]))
    said = str(found)
    assert found.word == "wrong" and said.count("Worst element") <= 1
    headline, *notes = found.page().lead + found.page().notes
    assert not any(note.removeprefix("Worst element: ").rstrip(".") in headline for note in notes)
    assert compare(lambda x: x * x + 1.0, lambda x: x * x, 2.0).word == "wrong"


def test_a_large_array_is_shown_by_its_corners():
    """A matrix takes no more room in a table than a vector."""
    few = np.zeros((5, 6))
    few[1, 2], few[2, 2:4] = 0.28, 0.18
    assert shortened(few) == "float64[5, 6] 3 of 30 not zero: [1, 2] 0.28, ..., [2, 3] 0.18"
    assert shortened(few * 0.0) == "float64[5, 6] [[0., ..., 0.], ..., [0., ..., 0.]]"
    assert shortened(few * np.nan) == "float64[5, 6] [[nan, ..., nan], ..., [nan, ..., nan]]"
    assert shortened(np.arange(12.0).reshape(3, 4)) == "float64[3, 4] [[0., ..., 3.], ..., [8., ..., 11.]]"


def test_outputs_of_several_shapes_are_compared():
    """A pair of a vector and a matrix, as a filter returns, is no array of NumPy's."""
    found = compare(lambda x: (x, np.outer(x, x)), lambda x: (1.0 * x, x[:, None] * x), np.array([1.0, 2.0]))
    assert found.agree and [d.name for d in found.value] == ["value[0]", "value[1]"]


def likelihood(x, events):
    return float(np.sum(events * x - np.exp(x)))


def test_whole_numbers_that_a_rule_holds_are_a_note(settings):
    """As a check of the rule has it: events are counted, and nobody asks for a derivative by them."""

    def cotangents(seed, x, events):
        return seed * (events - np.exp(x)), None

    left = with_rule(likelihood, lambda seed, x, events: (seed * (events - np.exp(x)), seed * x))
    x, events = np.array([0.5, -1.0, 2.0]), np.array([1, 0, 1])
    found = compare(left, with_rule(likelihood, cotangents), x, events, settings=settings)
    assert found.agree and "its numbers are whole" in str([d.note for d in found.gradients])
    assert not compare(left, with_rule(likelihood, cotangents), x, events + 0.5, settings=settings).agree


def test_what_a_comparison_lets_pass_a_bench_does_not_warn_of():
    """Whole numbers without a derivative are no difference; one in another argument is."""

    def weighted(x, n):
        return np.sum(n * x)

    def stated(wrong):
        copy = rl.twin(weighted, "weighted_cr")

        @rl.rrule_for(copy)
        def rule(x, n):
            return weighted(x, n), lambda y_bar: (rl.NoTangent(), wrong * n * y_bar, rl.NoTangent())

        return copy

    at = np.array([0.5, 1.5]), np.array([2, 3])
    assert compare(weighted, stated(1), *at).agree and first_difference(weighted, stated(1), at, {}) is None
    assert first_difference(weighted, stated(2), at, {}).name == "gradient of x"


@dataclasses.dataclass
class Lens:
    focus: float
    curve: np.ndarray
    name: str = "thin"


class Plain:
    def __init__(self, focus, curve):
        self.focus, self.curve = focus, curve


@pytest.mark.parametrize("kind", [Lens, Plain])
def test_gradients_of_objects_are_compared_field_by_field(kind):
    """Within rounding, like any other numbers; where they differ the field is named."""

    def spread(lens, h):
        return np.sum((h / lens.focus - lens.curve) ** 2)

    def stated(wrong):
        copy = rl.twin(spread, "spread_cr")

        @rl.rrule_for(copy)
        def rule(lens, h):
            def back(y_bar):
                d = 2 * (h * (1 / lens.focus) - lens.curve) * y_bar
                fields = {"focus": -np.sum(d * h) / lens.focus**2, "curve": -wrong * d}
                return rl.NoTangent(), fields, d / lens.focus

            return spread(lens, h), back

        return copy

    at = kind(3.0, np.array([0.1, 0.2])), np.array([1.0, 2.0])
    found = compare(spread, stated(1), *at)
    assert found.agree
    names = "lens.focus", "lens.curve", "h"
    assert [d.name for d in found.gradients] == [f"gradient of {name}" for name in names]
    assert str(compare(spread, stated(2), *at)).startswith(
        "Wrong: spread and spread_cr differ in the gradient of lens.curve: at ["
    )
