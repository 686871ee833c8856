"""Rules that are derived: what stands in the text, that it is right, what is refused and not guessed."""

import functools
import itertools
import json
import linecache
import math
import time
import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import DerivationError
from rulelab.rules.registry import Registry
from rulelab.symbolic import Caveat, DerivedRule, Proved, SymbolicReport, derive, derive_rule, worker

from ..differences import gradient_by_differences

LIMIT = 3.0
RATE = 0.5
TERMS = 3
TABLE = [1.0, 2.0]
WEIGHTS = np.ones(3)
settings = types.SimpleNamespace(rate=2.0)


def logistic(x):
    return 1 / (1 + math.exp(-x))


def huber(x):
    if abs(x) < LIMIT:
        return 0.5 * x * x
    return LIMIT * (abs(x) - 0.5 * LIMIT)


@functools.cache
def derived_once(f):
    """For the tests that only read what was derived, scan included: to derive takes a second."""
    return derive_rule(f)


def leaky(x):
    return np.where(x > 0, x, 0.1 * x)


def sinc(x):
    if x == 0:
        return 1.0
    return math.sin(x) / x


def power(x, n):
    return x**n


def decay(t):
    return math.exp(-RATE * t)


def series(x):
    return sum(x**i for i in range(TERMS))


def table(x):
    return TABLE[0] + TABLE[1] * x * x


def rosenbrock(v):
    return (1 - v[0]) ** 2 + 100 * (v[1] - v[0] ** 2) ** 2


def gaussian(x, m):
    return np.exp(-((x - m) ** 2))


def scaled(x, *, k=2.0):
    return k * math.sin(x)


@pytest.fixture(autouse=True)
def unscanned(request, monkeypatch):
    """To look for where a derived rule loses digits takes half of the time, and few tests here read it."""
    if request.node.get_closest_marker("scanned") is None:
        monkeypatch.setattr(derive, "_scanned", lambda *_: ((), ()))


@pytest.fixture
def unjudged(monkeypatch):
    """The text alone, judged by numbers of the test: proof and check take most of the time."""
    monkeypatch.setattr(derive, "_draft_result", lambda *_: derive._DraftResult(None, "", False, False))


def gradient_of(derived, f, *args, seed=1.5, scope=None):
    """The cotangents that the derived text gives, stated in a registry of its own."""
    registry = Registry()

    def stated(kind):
        return lambda *given: kind(*given, registry=registry)

    words = types.SimpleNamespace(
        **{w: getattr(rl, w) for w in ("NoTangent", "thunk", "not_implemented", "pullback")},
        rrule_for=stated(rl.rrule_for),
        scalar_rule=stated(rl.scalar_rule),
    )
    exec(derived.source, {**f.__globals__, **(scope or {}), f.__name__: f, "rl": words})
    _, back = rl.rrule(f, *args, registry=registry)
    return [rl.unthunk(c) for c in back(seed)[1:]]


# -- the text ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.scanned
def test_the_rule_calls_the_function_and_uses_its_value():
    """y * (1 - y) for the logistic function, and the cell is the same behind a magic."""
    derived = derived_once(logistic)
    assert "y = logistic(x)" in derived.source
    assert "return rl.NoTangent(), y * (1 - y) * y_bar" in derived.source
    assert derived.cell.startswith("%%rrule logistic\n") and "\ndef logistic_rrule(x):\n" in derived.cell
    assert derived.is_proved and derived.is_checked and isinstance(derived.proof.verdict, Proved)


@pytest.mark.slow
def test_functions_are_spelled_as_the_author_spells_them():
    """`math` beside `math`, NumPy beside NumPy."""
    assert "math.cos(x)" in derive_rule(scaled).source
    assert "np.exp" in derive_rule(lambda x: np.logaddexp(0.0, x), name="softplus").source


@pytest.mark.slow
@pytest.mark.scanned
def test_branches_are_the_conditions_of_the_function():
    """With the name of the constant, so that the rule follows it when it changes."""
    derived = derived_once(huber)
    assert "if x < LIMIT:" in derived.source and "3" not in derived.source
    assert gradient_of(derived, huber, 1.0) == [1.5]
    assert gradient_of(derived, huber, 5.0) == [4.5] and gradient_of(derived, huber, -5.0) == [-4.5]


@pytest.mark.usefixtures("unjudged")
def test_branches_of_array_code_are_chosen_element_by_element():
    """np.where in the function, np.where in the rule."""
    derived = derive_rule(leaky)
    assert "np.where(x > 0, y_bar, 0.1 * y_bar)" in derived.source
    (found,) = gradient_of(derived, leaky, np.array([-1.0, 2.0]), seed=np.array([1.0, 1.0]))
    assert found.tolist() == [0.1, 1.0]


@pytest.mark.usefixtures("unjudged")
def test_a_removable_point_gets_the_limit():
    """sin(x)/x has the slope 0 at 0, where the formula of its neighbourhood divides by zero."""
    derived = derive_rule(sinc)
    assert gradient_of(derived, sinc, 0.0) == [0.0]
    assert gradient_of(derived, sinc, 1.0) == pytest.approx([1.5 * (math.cos(1) - math.sin(1))])


@pytest.mark.usefixtures("unjudged")
def test_no_division_by_what_may_be_zero_is_made():
    """y*n/x is shorter than n*x**(n - 1), and wrong at 0."""
    derived = derive_rule(power)
    assert "/ x" not in derived.source
    assert gradient_of(derived, power, 2.0, 3.0)[0] == pytest.approx(18.0)


def test_the_value_of_a_length_is_used():
    """a/y, not another square root; and sums of squares may be zero, too."""
    derived = derive_rule(lambda a, b: math.hypot(a, b), name="length")
    assert "sqrt" not in derived.source


@pytest.mark.slow
def test_large_arguments_are_the_floats_that_they_are():
    """sin(1e15) is compared with the sine of this float, and not of a fraction nearby."""
    f = eval("lambda a, b: np.where(a > b, a * a, np.sin(b))", {"np": np})
    assert derive_rule(f, name="f").is_proved


def test_a_whole_number_keeps_its_name_and_its_cotangent_waits():
    """log(x) is not worked out where nobody asks, so that x may be negative."""
    derived = derive_rule(power, 2.0, 3)
    assert "rl.thunk(lambda: y * math.log(x) * y_bar)" in derived.source


@pytest.mark.usefixtures("unjudged")
def test_several_arguments_of_array_code_make_a_scalar_rule():
    """Which undoes broadcasting."""
    derived = derive_rule(gaussian)
    assert (
        derived.source.startswith("def gaussian_partials(out, x, m):") or "rl.scalar_rule(" in derived.source
    )
    found = gradient_of(derived, gaussian, np.array([0.5, 1.0]), 0.25, seed=np.ones(2))
    assert np.shape(found[1]) == ()


@pytest.mark.slow
@pytest.mark.scanned
def test_a_scalar_rule_in_a_line():
    """As a call in plain Python, as a line magic in a notebook."""
    derived = derive_rule(logistic, scalar=True)
    assert derived.source.endswith("\nrl.scalar_rule(logistic, lambda out, x: out * (1 - out))\n")
    assert derived.cell.endswith("\n%scalar_rule logistic(x): out * (1 - out)\n")
    assert gradient_of(derived, logistic, 0.0) == [0.375]


@pytest.mark.usefixtures("unjudged")
def test_short_arrays_entry_by_entry():
    """For the shape that was given; the AD answers for others."""
    derived = derive_rule(rosenbrock, np.array([1.0, 2.0]))
    (found,) = gradient_of(derived, rosenbrock, np.array([0.5, 2.0]), seed=1.0)
    assert found == pytest.approx([-2 * 0.5 - 400 * 0.5 * 1.75, 200 * 1.75])
    (found,) = gradient_of(derived, rosenbrock, np.array([0.5, 2.0, 7.0]), seed=1.0)
    assert found == pytest.approx([-2 * 0.5 - 400 * 0.5 * 1.75, 200 * 1.75, 0.0])


@pytest.mark.usefixtures("unjudged")
def test_keyword_arguments_are_passed_on():
    """The rule has the signature of the function."""
    derived = derive_rule(scaled)
    assert "def scaled_rrule(x, *, k):" in derived.source and "scaled(x, k=k)" in derived.source


SPECIAL = {
    "gamma": (lambda x: math.gamma(x), 2.5),
    "lgamma": (lambda x: math.lgamma(x), 2.5),
    "erf": (lambda x: math.erf(x), 0.5),
    "erfc": (lambda x: math.erfc(x), 0.5),
    "gelu": (lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), 0.5),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name):
    """Against mpmath's derivative of the same function."""
    import mpmath

    pytest.importorskip("scipy")
    f, x = SPECIAL[name]
    exact = {
        "gamma": mpmath.gamma,
        "lgamma": mpmath.loggamma,
        "erf": mpmath.erf,
        "erfc": mpmath.erfc,
        "gelu": lambda x: x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2,
    }[name]
    derived = derive_rule(f, name="f")
    f.__name__ = "f"
    assert derived.is_proved
    assert gradient_of(derived, f, x, seed=1.0) == pytest.approx([float(mpmath.diff(exact, x))], rel=1e-12)


# -- names ---------------------------------------------------------------------------------------------------


def hostile(y, y_bar, t1):
    return (y + t1) * math.exp((y + t1) * y_bar)


def shadowing(math):
    return np.exp(math * math)


@pytest.mark.usefixtures("unjudged")
def test_names_do_not_collide_with_the_authors():
    """Arguments called y, y_bar and t1 keep their meaning."""
    derived = derive_rule(hostile)
    y, y_bar, t1 = 0.5, 0.25, 0.75
    s = y + t1
    slope = math.exp(s * y_bar) * (1 + s * y_bar)
    assert gradient_of(derived, hostile, y, y_bar, t1, seed=1.0) == pytest.approx(
        [slope, s * s * math.exp(s * y_bar), slope]
    )


@pytest.mark.usefixtures("unjudged")
def test_an_argument_that_hides_a_module():
    """Its name is not taken for the module."""
    assert gradient_of(derive_rule(shadowing), shadowing, 0.5, seed=1.0) == pytest.approx([math.exp(0.25)])


@pytest.mark.usefixtures("unjudged")
def test_modules_that_are_not_there_are_imported_under_a_free_name():
    """The cell brings what it needs, and takes nobody's name."""
    scope = {"pow2": pow, "math": "mine", "__name__": "elsewhere"}
    f = types.FunctionType((lambda a, b: a**b).__code__, scope, "f")
    derived = derive_rule(f, name="f")
    assert "import math as math_" in derived.source and "math_.log(a)" in derived.source


# -- what it depends on --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unjudged")
def test_a_module_constant_stays_a_name():
    """The rule is right for its next value, too."""
    derived = derive_rule(decay)
    assert "-RATE * y * y_bar" in derived.source
    assert gradient_of(derived, decay, 0.0, seed=1.0, scope={"RATE": 4.0}) == [-4.0]


@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize(
    ("f", "name", "changed", "slope"),
    [(series, "TERMS", 5, 1 + 4 + 12 + 32), (table, "TABLE", [1.0, 5.0], 20)],
)
def test_where_what_cannot_be_a_symbol_has_changed_the_ad_answers(f, name, changed, slope, monkeypatch):
    """A count, a list: the rule was derived for one of them, and is not asked about another."""
    derived = derive_rule(f)
    assert name in derived.source and gradient_of(derived, f, 2.0, seed=1.0) != [slope]
    monkeypatch.setitem(f.__globals__, name, changed)
    assert gradient_of(derived, f, 2.0, seed=1.0) == [slope]
    with pytest.raises(DerivationError, match="partial derivatives cannot fall back on"):
        derive_rule(f, scalar=True)


def hinge(w):
    return np.max(np.maximum(0, 1 - w))


def largest_share(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def rectified(x):
    return np.sum(np.maximum(x, 0.0))


@pytest.mark.first(1)
@pytest.mark.usefixtures("unjudged")
@pytest.mark.parametrize("f, size", [(hinge, 2), (largest_share, 3), (rectified, 2)])
def test_functions_that_compare_entries_are_known_on_each_side(f, size):
    """However the entries are ordered, and whatever their signs, the cotangents are the slopes."""
    derived = derive_rule(f, np.linspace(1.0, -0.7, size))
    for x in map(np.array, itertools.permutations(np.linspace(-0.9, 1.6, size))):
        (found,) = gradient_of(derived, f, x, seed=1.0)
        assert found == pytest.approx(gradient_by_differences(f, x), abs=1e-8)


# -- beyond what it was derived for --------------------------------------------------------------------------


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x))


def mse(y, t):
    return np.mean((y - t) ** 2)


def cube(x):
    return x**3


@pytest.fixture
def registered():
    """States derived rules, and removes them at the end."""
    done = []

    def state(derived, f):
        done.append(f)
        name = f"<rule of {f.__name__} in {len(linecache.cache)}>"
        linecache.cache[name] = (1, None, derived.source.splitlines(True), name)
        exec(compile(derived.source, name, "exec"), {**f.__globals__, f.__name__: f})

    yield state
    for f in done:
        rl.remove_rule(f)


HERE = np.array([0.5, -1.25, 2.0])
LONGER = np.array([0.5, -1.25, 2.0, 0.25])
BEYOND = {
    "another size": (mse, (HERE, 2 * HERE), (LONGER, 3 * LONGER), lambda y, t: mse(y, t)),
    "a matrix": (mse, (HERE, 2 * HERE), (np.ones((2, 2)), LONGER.reshape(2, 2)), lambda y, t: mse(y, t)),
    "vectors": (softmax, (), (HERE,), lambda x: softmax(x)[0]),
    "another vector": (softmax, (HERE,), (LONGER,), lambda x: softmax(x)[0]),
    "an array": (huber, (), (np.array([0.5]),), lambda x: np.sum(huber(x))),
    "arrays by entry": (cube, (), (HERE,), lambda x: np.sum(cube(x))),
}


@pytest.mark.usefixtures("unjudged")
@pytest.mark.every(7)
@pytest.mark.parametrize("name", BEYOND)
def test_a_derived_rule_takes_nothing_from_the_ad(name, registered):
    """With the rule, gradients and second derivatives are those without it."""
    f, derived_for, args, loss = BEYOND[name]
    wanted = rl.gradient(loss, *args), rl.hvp(lambda x: loss(x, *args[1:]), args[0], np.ones_like(args[0]))
    registered(derive_rule(f, *derived_for), f)
    found = rl.gradient(loss, *args), rl.hvp(lambda x: loss(x, *args[1:]), args[0], np.ones_like(args[0]))
    for have, want in zip((*found[0], found[1]), (*wanted[0], wanted[1]), strict=True):
        assert have == pytest.approx(want)


@pytest.mark.slow
def test_complex_numbers_do_not_reach_a_rule_for_real_ones(registered):
    """Its cotangents are not conjugated."""

    def loss(z):
        return abs(cube(z)) ** 2

    (wanted,) = rl.gradient(loss, 1.5 + 0.5j)
    registered(derive_rule(cube), cube)
    assert rl.which_rule(cube, 1.5) and not rl.which_rule(cube, 1.5 + 0.5j)
    assert rl.gradient(loss, 1.5 + 0.5j) == (pytest.approx(wanted),)
    assert rl.gradient(lambda z: np.sum(abs(leaky(z))), HERE + 1j)


# -- floats --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_square_of_what_the_results_are_made_of_overflows():
    """Softmax bears an exponent of 400; its sum of exponentials squared does not."""
    derived = derive_rule(softmax, HERE[:2])
    (found,) = gradient_of(derived, softmax, np.array([400.0, 0.0]), seed=np.array([1.0, 2.0]))
    assert derived.is_proved and found[1] == pytest.approx(math.exp(-400), rel=1e-12, abs=1e-300)
    assert abs(found[0]) < 1e-170


@pytest.mark.slow
@pytest.mark.scanned
def test_what_is_lost_is_said_in_the_cell():
    """Where, why, and a formula that loses less; not where nothing to speak of is lost."""
    derived = derived_once(logistic)
    assert derived.source.startswith("# loses digits for x from ")
    assert derived.source.splitlines()[0].endswith("cancellation in 1 - y")
    assert derived.cell.startswith("%%rrule logistic\n# loses digits")
    better = "a formula that loses fewer digits for x: math.exp(-math.fabs(x))"
    assert any(better in note for note in derived.notes)
    assert "#" not in derived_once(huber).source


# -- refusals ------------------------------------------------------------------------------------------------


def rounds(x):
    return x - math.floor(x)


def converges(x):
    x = y = abs(x)
    while abs(y * y - x) > 1e-12 * x:
        y = 0.5 * (y + x / y)
    return y


def reads_array(x):
    return float(WEIGHTS.sum()) * x


def reads_object(x):
    return settings.rate * x


def rare(x):
    if math.sin(x) > 1.5 - 1e-9 * x * x:
        return 2.0 * x
    return x


def raises_here(x):
    return hash(x) * x


def patched(x):
    return np.nan_to_num(np.log(x))


def no_arguments():
    return 1.0


def many(*xs):
    return sum(xs)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (rounds, "rounds a number"),
        (converges, "more than"),
        (reads_array, "WEIGHTS"),
        (reads_object, "settings"),
        (rare, "this branch cannot be derived"),
        (raises_here, "SymPy's symbols"),
        (patched, "its formula has none"),
        (no_arguments, "no positional argument"),
        (many, r"\*args"),
        (np.sin, "Python functions"),
        ([].append, "Python functions"),
    ],
)
def test_what_cannot_be_derived_is_refused_with_its_reason(f, words):
    """An error with the line, never a guess."""
    with pytest.raises(DerivationError, match=words) as caught:
        derive_rule(f)
    assert isinstance(caught.value, rl.RuleError)


def hardest(x):
    total = 0.0
    for one in x:
        total = total + np.exp(one - x.max())
    return x.max() + np.log(total)


def spread(x):
    return np.sum((x - np.mean(x)) ** 2)


@pytest.mark.slow
def test_a_rule_for_numbers_of_a_function_of_arrays_says_so():
    """Whoever gives no arguments reads what the rule is for; for a function of numbers nothing is said."""
    (note,) = [note for note in derive_rule(spread).notes if "derived for numbers" in note]
    assert note.endswith("for arrays: derive_rule(spread, x)")
    for found in (derive_rule(spread, np.arange(3.0)), derive_rule(lambda x: x * x)):
        assert not any("derived for numbers" in note for note in found.notes)


def test_what_cannot_be_derived_is_told_with_another_start():
    """Whoever gets no rule reads why, in terms of their function, and where to begin one of their own."""
    with pytest.raises(DerivationError) as without:
        derive_rule(hardest)
    assert "called with numbers, because no arguments were given, it raised" in str(without.value)
    with pytest.raises(DerivationError) as large:
        derive_rule(hardest, np.arange(5.0))
    assert "like that of a maximum or a sort of several numbers" in str(large.value)
    formula, steps, *others = str(large.value).splitlines()
    assert formula.startswith("no formula: ") and steps.startswith("no rule statement by statement: a loop")
    assert others[0] == "asked: a rule derived for hardest" and len(others) == 4
    for refused in (without.value, large.value):
        assert "%adjoint hardest(x) shows the AD's own pullback" in refused.fixes[-1]
    assert "def hardest(x)" in rl.adjoint_source(hardest, np.arange(5.0))


def two_steps(s, h):
    def slope(s):
        return np.array([s[1], -9.81 * np.sin(s[0])])

    half = s + h / 2 * slope(s)
    return s + h * slope(half)


@pytest.mark.slow
@pytest.mark.scanned
def test_far_samples_at_which_floats_mean_nothing_do_not_refuse_a_formula():
    """A step of an equation whose floats are lost to rounding for huge steps has a rule, and a right one."""
    at = np.array([0.5, 0.1]), 0.1
    found = derive_rule(two_steps, *at)
    assert found.is_proved and found.is_checked
    scope = {**globals()}
    exec(found.source, scope)
    back = scope["two_steps_rrule"](*at)[1]
    for seed in np.eye(2):
        _, s_bar, h_bar = back(seed)
        expected = gradient_by_differences(lambda s: seed @ two_steps(s, at[1]), at[0])
        np.testing.assert_allclose(s_bar, expected, rtol=1e-6)
        (expected,) = gradient_by_differences(lambda h: seed @ two_steps(at[0], h[0]), np.array([at[1]]))
        np.testing.assert_allclose(h_bar, expected, rtol=1e-6)


def jumps_far(x):
    return x * x if x < 500.0 else 1.0 + math.sin(1e17 * x)


@pytest.mark.slow
def test_a_branch_far_away_is_not_forgotten_where_its_floats_are_lost():
    """What is not compared with floats is still a branch of the formula, or the rule is refused."""
    try:
        found = derive_rule(jumps_far)
    except DerivationError:
        return
    scope = {**globals()}
    exec(found.source, scope)
    slope = scope["jumps_far_rrule"](600.0)[1](1.0)[1]
    assert abs(slope) != 1200.0 and "500" in found.source


def test_the_time_limit_is_that_of_the_whole():
    """The parts of a derivation, in seconds of processor time, are not longer than what was announced."""
    shares = derive.DRAFT_SHARE, derive.PROOF_SHARE, derive.CHECK_SHARE, derive.SCAN_SHARE
    assert sum(shares) <= 1.0


class Shouting(str):
    def __repr__(self):
        return "print('run')"


def test_hostile_names_and_words_are_refused():
    """Nothing of a name or of a repr gets into the text unless it is what it seems."""

    def f(x, mode=Shouting("a")):
        return x * x if mode else x

    def g(x):
        return x * RATE

    renamed = types.FunctionType(g.__code__.replace(co_varnames=("x); print('run'",)), globals(), "g")
    reads = types.FunctionType(g.__code__.replace(co_names=("a.b\nprint",)), {"a.b\nprint": 2.0}, "g")
    for hostile in (f, renamed, reads):
        with pytest.raises(DerivationError):
            derive_rule(hostile)
    with pytest.raises(DerivationError):
        derive_rule(g, name="g(1)\nprint")


def test_a_power_goes_on_where_logarithms_end():
    """The rule of x**3 passes at negative x, too."""
    derived = derive_rule(power, 2.0, 3)
    assert "of 4 points" in derived.checked or "of 2 points" in derived.checked


def test_a_wrong_derivation_is_not_shown(monkeypatch):
    """What is printed is proved and checked again: a fault of the derivation ends in an error."""
    from rulelab.symbolic import derive

    def wrong(slope, *given):
        return 2 * right(slope, *given)

    right = derive.best_form
    monkeypatch.setattr(derive, "best_form", wrong)
    with pytest.raises(DerivationError, match=r"did not pass: wrong, REFUTED \(gradient\)"):
        derive_rule(logistic)


@pytest.mark.slow
@pytest.mark.scanned
def test_an_endless_function_is_ended():
    """A run that does not end is given up, and told."""

    def endless(x):
        while x != 0.123:
            pass
        return x

    with pytest.raises(DerivationError, match="does not end"):
        derive_rule(endless, time_limit=10.0)


# -- the report ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.scanned
def test_the_report_has_its_faces():
    """Text, HTML without script, JSON, and the verdicts in words in each."""
    derived = derived_once(logistic)
    assert "PROVED" in str(derived) and "with differences" in str(derived)
    assert "PROVED" in derived._repr_html_() and "<script" not in derived._repr_html_()
    assert json.loads(derived.to_json())["cell"] == derived.cell
    assert "PROVED" in derived.to_markdown() and "PROVED" in derived.to_latex()


def test_warnings_of_the_proof_stand_beside_the_derived_rule():
    """What the proof warns of is told with the rule, in text and on the page."""
    warned = Caveat("SINGULAR_AT", "the slope for x is nan, the derivative is 0", "x = 0")
    proof = SymbolicReport("f", ("x",), Proved("x > 0", "expansion", "none"), warnings=(warned,))
    derived = DerivedRule("f", "source\n", "cell\n", proof, "checked", True)
    for text in (str(derived), derived._repr_html_()):
        assert text.count("at x = 0: the slope for x is nan, the derivative is 0") == 1


@pytest.mark.slow
@pytest.mark.scanned
def test_a_rule_is_derived_alike_however_fast_clocks_run(monkeypatch):
    """Which forms are looked for is counted in operations: a busy machine makes no other rule."""

    def squashed(x, k):
        return 1 / (1 + math.exp(-k * x))

    monkeypatch.setattr(worker, "run", lambda job, limit, stop=None, heard=None: worker._run_here(job))
    usual = derive_rule(squashed)
    for name in ("process_time", "thread_time", "monotonic", "perf_counter"):
        clock = getattr(time, name)
        monkeypatch.setattr(time, name, lambda clock=clock: clock() * 1000)
    late = derive_rule(squashed)
    assert late.source == usual.source and late.notes == usual.notes


def test_why_there_is_no_rule_is_said_in_terms_of_the_function():
    """Not in those of NumPy's arrays, nor by an expression that nobody has written."""

    def step(x, P):
        return P @ x, P @ P.T if len(x) else P

    def density(t, y):
        K = 0.1 * np.eye(len(t))
        K += np.exp(-0.5 * (t[:, None] - t[None, :]) ** 2)
        return y @ np.linalg.solve(K, y) + np.sum(np.log(np.diag(np.linalg.cholesky(K))))

    with pytest.raises(DerivationError, match="several values with different shapes") as refused:
        derive_rule(step, np.ones(2), np.eye(2))
    assert "ValueError" not in str(refused.value) and "write one for each" in str(refused.value)
    t = np.array([0.4, 0.9, 1.3, 1.5, 2.8])
    with pytest.raises(DerivationError) as refused:
        derive_rule(density, t, np.sin(t))
    assert "a long expression >" not in str(refused.value) and "%adjoint density" in str(refused.value)


def test_numbers_in_a_list_are_not_derived_for():
    """The rule would have no cotangent for them: they are held fixed, and a check of nothing is right."""

    def length(points):
        return sum((x1 - x0) ** 2 for (x0,), (x1,) in zip(points, points[1:]))

    with pytest.raises(DerivationError, match="no argument is a number or an array of numbers") as refused:
        derive_rule(length, [(0.0,), (1.0,)])
    assert "put the numbers into an array" in str(refused.value)


def log_sum_exp(a):
    m = a.max()
    return m + np.log(np.sum(np.exp(a - m)))


def chosen(scores, labels):
    shifted = scores - scores.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -logs[np.arange(len(labels)), labels].mean()


@pytest.mark.slow
@pytest.mark.parametrize("f", [log_sum_exp, chosen])
def test_arrays_are_drawn_for_a_function_that_takes_no_numbers(f):
    """Whoever gives no arguments gets the rule that they would get for arrays, and reads for which."""
    found = derive_rule(f)
    assert found.is_checked and found.is_proved
    (note,) = [note for note in found.notes if "drawn" in note]
    names = ", ".join(f.__code__.co_varnames[: f.__code__.co_argcount])
    assert note.startswith("derived for arguments that were drawn (") and "vector" in note
    assert note.endswith(f"for others: derive_rule({f.__name__}, {names})")


def poly(c, x):
    total = 0.0
    for a in c[::-1]:
        total = total * x + a
    return total


def fading(p, x):
    a, b = p
    return a * np.exp(-b * x)


def joined(c, x):
    return sum(c + [x])


@pytest.mark.slow
@pytest.mark.parametrize("f, p", [(poly, [1.0, -2.0, 0.5]), (fading, (1.5, 0.5))])
def test_the_cotangent_of_a_list_or_tuple_is_one(f, p):
    """It was not implemented, and the slope of the other argument held for that list only."""
    found = derive_rule(f, p, 0.7)
    assert found.is_checked and found.is_proved
    assert "not_implemented" not in found.source
    scope = {f.__name__: f, "np": np, "rl": rl}
    exec(found.source, scope)
    rule = scope[f"{f.__name__}_rrule"]
    for at in (type(p)([2.0 * part for part in p]), type(p)([*p, 0.25]) if f is poly else p):
        _, p_bar, x_bar = rule(at, 0.3)[1](2.0)
        expected, x_expected = rl.pullback(f, at, 0.3)[1](2.0)
        assert type(p_bar) is type(p) and np.allclose(p_bar, expected) and np.isclose(x_bar, x_expected)
    rl.remove_rule(f)


@pytest.mark.slow
def test_a_list_is_no_array_where_its_operators_mean_something_else():
    """The sum of two lists is a longer list."""
    assert "c != [1.0, 2.0]" in derive_rule(joined, [1.0, 2.0], 3.0).source


def filtered(m, P, z, H, R):
    S = H @ P @ H.T + R
    K = P @ H.T @ np.linalg.inv(S)
    return m + K @ (z - H @ m), P - K @ H @ P


def moments(x, scale):
    m = np.mean(x)
    d = (x - m) * scale
    return m, np.sqrt(np.mean(d**2)), len(x)


RNG = np.random.default_rng(3)
SEVERAL = {
    filtered: (RNG.normal(size=3), 2 * np.eye(3), RNG.normal(size=2), RNG.normal(size=(2, 3)), np.eye(2)),
    moments: (RNG.normal(size=13), 1.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("f", SEVERAL)
def test_a_rule_statement_by_statement_of_a_tuple_of_results(f):
    """Each result has a cotangent of its own; also where one of them has no derivative, or is not used."""
    args = SEVERAL[f]
    found = derive_rule(f, *args)
    assert found.is_checked and " = out_bar" in found.source
    scope = {f.__name__: f, "np": np, "rl": rl}
    exec(found.source, scope)

    def loss(*args):
        return np.sum(f(*args)[0] ** 2)

    by_rule = rl.gradient(loss, *args)
    rl.remove_rule(f)
    for one, other in zip(by_rule, rl.gradient(loss, *args), strict=True):
        assert np.allclose(0.0 if one is None else one, 0.0 if other is None else other)


def doubled(x, y):
    s = x * y
    return s, s


@pytest.mark.slow
def test_a_tuple_with_the_same_value_twice_is_derived_otherwise_or_not():
    """Its two cotangents would have one name."""
    at = np.arange(1.0, 6.0), np.arange(2.0, 7.0)
    try:
        found = derive_rule(doubled, *at)
    except DerivationError as refused:
        assert "the same value twice" in str(refused)
    else:
        assert found.is_checked
