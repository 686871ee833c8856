"""The doctor names the mistake in a rule, shows its line, and corrects it where it can."""

from types import SimpleNamespace

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import doctor
from rulelab.checking.doctor import mistakes, regions
from rulelab.checking.doctor.evidence import Case, Evidence
from rulelab.checking.doctor.formulas import named_constant
from rulelab.checking.testing.testers import rule_check
from rulelab.rules.registry import Registry

from .rules import registry_with
from .written_rules import corrected, judged, rule, written


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over."""
    monkeypatch.setattr(doctor.Strict, "raises", True)


REFERENCES = {
    "addone": (
        rule("float(np.sum(a + 1))", "np.ones(len(a))", "a"),
        (np.array([1.0, 2.0, 3.0]),),
        "ignores its cotangent: back(2) equals back(1)",
    ),
    "exception": (rule("x**2", "2 * x"), (3.0,), "ignores its cotangent: back(2) equals back(1)"),
    "jclock": (
        "def clock():\n    return 30921278.0\n" + rule("clock() * x", "y_bar * y"),
        (0.75,),
        "off by a factor of x",
    ),
}


@pytest.mark.every(7)
@pytest.mark.parametrize("depth", ["quick", "normal"])
@pytest.mark.parametrize("name", REFERENCES)
def test_the_wrong_rules_of_the_reference_texts_are_named_and_corrected(name, depth):
    """Whoever copies a wrong rule from the texts learns which mistake it has, and a line that is right."""
    text, args, words = REFERENCES[name]
    found = judged(text, *args, depth=depth)
    (diagnosis,) = found.diagnoses
    assert diagnosis.words == words
    assert found.sentence == f"f_rrule of f is wrong: {words}."
    assert judged(corrected(text, diagnosis.diff), *args).verdict == "right"


WORDS = [
    (rule("x**2", "4 * x * y_bar"), (2.0,), "off by a factor of 2"),
    (rule("np.cos(x)", "np.sin(x) * y_bar"), (0.5,), "has the wrong sign"),
    (rule("a - b", "y_bar, y_bar", "a, b"), (2.0, 1.0), "has the wrong sign, in the cotangent of b"),
    (rule("a * b", "a * y_bar, b * y_bar", "a, b"), (2.0, 3.5), "swaps the cotangents of a and b"),
    (rule("a * b", "b * y_bar, rl.NoTangent()", "a, b"), (2.0, 3.5),
     "drops b: its cotangent is zero, but its derivative is not"),
    (rule("x + b", "y_bar.copy(), y_bar.copy()", "x, b"), (np.ones((2, 3)), np.ones(3)),
     "lacks a sum over axis 0, along which b is repeated"),
    (rule("np.where(x > 0, x, -2.0 * x)", "np.where(x > 0, 1.0, 2.0) * y_bar"), (np.array([1.5, -1.0]),),
     "wrong where x < 0, with the wrong sign there"),
    (rule("x**3 + 5 * x", "3 * x**2 * y_bar"), (1.5,), "lacks a term: too small by 5"),
    (rule("2.0 * x", "2.0 * abs(y_bar)"), (1.5,), "takes the absolute value of its cotangent"),
    (rule("2.0 * x", "2.0 * y_bar + 1"), (1.5,), "adds 1, whatever its cotangent"),
    (rule("np.sin(x)", "np.sin(x) * y_bar"), (0.5,), "gives y where the derivative is np.cos(x)"),
]  # fmt: skip


@pytest.mark.every(11)
@pytest.mark.parametrize(("text", "args", "words"), WORDS, ids=[words for _, _, words in WORDS])
def test_mistakes_are_said_in_exact_words(text, args, words):
    """The sentence names the argument, the factor, the axis, the side of the branch."""
    assert judged(text, *args).diagnoses[0].words == words


@pytest.mark.every(11)
@pytest.mark.parametrize(("text", "args", "words"), WORDS, ids=[words for _, _, words in WORDS])
def test_a_correction_that_is_shown_is_right(text, args, words):
    """A diff is only given if the rule that it makes passes a whole check."""
    for diagnosis in judged(text, *args).diagnoses:
        if diagnosis.diff:
            assert judged(corrected(text, diagnosis.diff), *args, seed=3).verdict == "right", diagnosis.diff


@pytest.mark.slow
def test_the_place_is_what_is_to_be_changed_or_the_expression_of_the_cotangent():
    """The report points at the author's own line, with a caret below what the correction changes; without
    one, below the expression of the cotangent.
    """
    place = judged(rule("x**2", "4 * x * y_bar"), 2.0).diagnoses[0].place
    assert place.source()[place.column : place.end_column] == "4"
    place = judged(rule("float(np.i0(x))", "np.cosh(x) * 0.3 * y_bar"), 2.0).diagnoses[0].place
    assert place.source()[place.column : place.end_column] == "np.cosh(x) * 0.3 * y_bar"


def test_both_arguments_are_corrected_in_one_diff():
    """Where two cotangents are wrong, the diff has both lines."""
    text = rule("a * b", "a, b", "a, b")
    (diagnosis,) = judged(text, 2.0, 3.5).diagnoses
    assert diagnosis.words == "ignores its cotangent: back(2) equals back(1)"
    assert diagnosis.argument is None


@pytest.mark.slow
def test_a_number_that_stands_for_a_size_is_corrected_wherever_it_stands():
    """In a notebook, too, where arrays stand beside the rule."""
    answer = "y_bar * (2 / 3) * (a - b), -y_bar * (2 / 3) * (a - b)"
    text = "data = np.array([1.0, 2.0])\n" + rule("np.mean((a - b)**2)", answer, "a, b")
    diagnosis = judged(text, np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.5, 1.0])).diagnoses[0]
    assert diagnosis.mistake == "size" and diagnosis.diff
    assert judged(corrected(text, diagnosis.diff), depth="quick").verdict == "right"


def test_rules_made_by_a_function_are_corrected_over_their_own_cells():
    """A correction is tried with what the rule has captured, and binds nothing anew."""
    text = (
        "def f(x):\n    return 3.0 * x\n"
        "def make(slope):\n    @rl.rrule_for(f, registry=registry)\n    def f_rrule(x):\n"
        "        def f_pullback(y_bar):\n            return rl.NoTangent(), -slope * y_bar\n"
        "        return slope * x, f_pullback\n    return f_rrule\nkept = make(3.0)\n"
    )
    made = written(text)
    before = dict(made)
    diagnosis = rule_check(made["f"], 2.0, registry=made["registry"]).diagnoses[0]
    assert "+            return rl.NoTangent(), slope * y_bar" in diagnosis.diff
    assert made == before


def test_a_rule_without_text_gets_words_and_advice():
    """A rule whose source cannot be found is diagnosed, but not corrected."""
    made = written(rule("x**2", "2 * x"), seen=False)
    (diagnosis,) = rule_check(made["f"], 3.0, registry=made["registry"]).diagnoses
    assert diagnosis.mistake == "ignores_cotangent" and diagnosis.diff == ""
    assert diagnosis.advice == doctor.ADVICE["ignores_cotangent"]


def test_no_condition_is_named_where_several_fit():
    """A rule that is wrong for what no condition tells is not blamed on a coincidence."""
    text = rule("x * y", "(y if int(1000 * x) % 2 else 2 * y) * z_bar, x * z_bar", "x, y").replace(
        "y_bar", "z_bar"
    )
    words = judged(text.replace("y = x * y", "v = x * y").replace("return y, f", "return v, f"), 1.53, 2.5)
    said = words.diagnoses[0].words
    assert "wrong where" not in said, said


def test_a_recogniser_that_fails_costs_nothing_but_itself(monkeypatch):
    """A fault of the doctor's own is passed over: the check and the other diagnoses stand."""

    def broken(evidence: Evidence, case: Case):
        raise ZeroDivisionError

    monkeypatch.setattr(mistakes, "OF_COTANGENTS", (broken, *mistakes.OF_COTANGENTS))
    with pytest.raises(ZeroDivisionError):
        judged(rule("x**2", "2 * x"), 3.0)
    monkeypatch.setattr(doctor.Strict, "raises", False)
    assert judged(rule("x**2", "2 * x"), 3.0).diagnoses[0].mistake == "ignores_cotangent"


def test_mistakes_have_general_words_and_advice_is_for_mistakes():
    """Every key can be looked up, and no advice is left over from a mistake that is gone."""
    assert all(words and not words.endswith(".") for words in doctor.MISTAKES.values())
    assert set(doctor.ADVICE) <= set(doctor.MISTAKES)


def test_constants_are_written_as_people_write_them():
    """Fractions, and multiples of pi and of logarithms, are recognised; others are given by digits."""
    said = [named_constant(c) for c in (2.0, -0.5, np.pi / 180, 2 * np.pi, np.log(10), 1 / np.log(2), 0.7312)]
    assert said == ["2", "-1/2", "pi/180", "2*pi", "log(10)", "1/log(2)", "0.7312"]


def test_the_argument_that_is_wrong_is_the_one_that_is_named():
    """A report blames no argument whose cotangent is right."""
    made = written(rule("a * b", "b * y_bar, 2 * a * y_bar", "a, b"))
    found = rule_check(made["f"], 2.0, 3.5, registry=made["registry"])
    assert found.diagnoses[0].argument == "b"


def test_a_value_of_another_kind_is_called_that_and_not_corrected_by_a_change_elsewhere():
    """An array of no dimensions for a number: the numbers agree, and no sign in front of it mends that."""
    no = rl.NoTangent()

    def square(x):
        return x * x

    def square_rrule(x):
        return np.array(x * x), lambda y_bar: (no, 2 * x * y_bar)

    registry = Registry()
    rl.rrule_for(square, registry=registry)(square_rrule)
    report = rule_check(square, 1.5, registry=registry)
    assert report.verdict == "wrong"
    assert "an array of shape () for a float" in report.reason and "1 times it" not in str(report)
    assert "-no" not in str(report)


def of_lines(f, above, pullback, parameters="x"):
    """A text: a function of one expression, and a rule of several lines."""
    lines = "".join(f"        {line}\n" for line in above)
    return (
        f"def f({parameters}):\n    return {f}\n"
        f"@rl.rrule_for(f, registry=registry)\ndef f_rrule({parameters}):\n    y = {f}\n"
        f"    def f_pullback(y_bar):\n{lines}        return rl.NoTangent(), {pullback}\n"
        "    return y, f_pullback\n"
    )


GIVEN_NOTHING = {
    "a constant that is a logarithm": (
        rule("np.log2(1 + x**2)", "y_bar * 2 * x / (1 + x**2)"), "factor", "/ np.log(2)"),
    "a constant that is a quotient of pi": (
        rule("np.sin(np.pi * x / 180)", "y_bar * np.cos(np.pi * x / 180)"), "factor", "np.pi / 180"),
    "one name for another in several places": (
        rule("np.exp(x) * x", "y_bar * np.exp(y) * (1 + y)"), "wrong_variable", "np.exp(x) * (1 + x)"),
    "a number of elements, where numbers are asked too": (
        rule("np.mean((a - b)**2)", "2 * (a - b) * y_bar, -2 * (a - b) * y_bar", "a, b"), "factor", None),
    "a name for what is returned as zero": (
        of_lines("a * b", ["b_bar = y_bar * a"], "y_bar * b, rl.NoTangent()", "a, b"),
        "dropped_argument", "b_bar"),
    "a running sum that runs back": (
        rule("np.cumsum(x**2)", "2 * x * np.cumsum(y_bar)"), "order", "np.cumsum(y_bar[::-1])[::-1]"),
    "where the function divides by zero": (
        rule("np.exp(-((x / s) ** 2))", "-2 * y * x / s**2 * y_bar, 2 * y * x / s**3 * y_bar", "x, s"),
        "factor", None),
    "a logarithm that multiplies": (
        rule("np.log10(x)", "np.log(10) * y_bar / x"), "factor", "log(10)"),
    "the slope of another inverse function": (
        rule("np.arcsin(x / 2)", "y_bar / 2 / (1 + (x / 2) ** 2)"), "other_function",
        "np.sqrt(1 - (x / 2) ** 2)"),
    "a shift the wrong way": (
        of_lines("x - a * np.append(0.0, x[:-1])",
                 ["x_bar = y_bar.copy()", "x_bar[1:] -= a * y_bar[:-1]"],
                 "x_bar, -np.dot(y_bar[1:], x[:-1])", "x: np.ndarray, a: float"),
        "off_by_one", "x_bar[:-1] -= a * y_bar[1:]"),
    "what another cotangent has been made of": (
        of_lines("np.sqrt(np.sum(w * x**2))", ["g = y_bar / (2 * y)"], "2 * w * x * g, x**2 * y_bar", "x, w"),
        "factor", "x**2 * g"),
    "a conjugate too many, at whole numbers too": (
        rule("(x * np.conj(x)).real", "2 * np.conj(x) * y_bar"), "conjugate", "2 * x * y_bar"),
}  # fmt: skip


@pytest.mark.every(13)
@pytest.mark.parametrize(("text", "mistake", "line"), GIVEN_NOTHING.values(), ids=GIVEN_NOTHING)
def test_a_small_mistake_is_named_and_corrected_given_nothing(text, mistake, line):
    """What one writes wrongly by hand: the check draws its arguments, and offers the right line."""
    first = judged(text).diagnoses[0]
    assert first.mistake == mistake, first
    if line is not None:
        assert line in first.diff.splitlines()[-1], first
    assert judged(corrected(text, first.diff)).verdict == "right"


def test_what_writes_to_its_argument_gets_a_copy_and_no_other_change():
    """Where that was written to by a look at the rule, it had the numbers that are written."""
    text = (
        "def f(G, v):\n    pinned = v.copy()\n    pinned[0] = 1.0\n    return pinned @ G @ pinned\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(G, v):\n"
        "    pinned = np.asarray(v)\n    pinned[0] = 1.0\n"
        "    def f_pullback(y_bar):\n"
        "        v_bar = y_bar * (G @ pinned + pinned @ G)\n        v_bar[0] = 0.0\n"
        "        return rl.NoTangent(), y_bar * np.outer(pinned, pinned), v_bar\n"
        "    return pinned @ G @ pinned, f_pullback\n"
    )
    first = judged(text).diagnoses[0]
    assert first.mistake == "writes" and "+    pinned = np.array(v)" in first.diff


def test_no_correction_is_offered_that_keeps_what_it_should_not():
    """A rule that reads what another call has left gives right numbers when it is asked once."""
    text = (
        "KEPT = {}\ndef f(x):\n    return np.sum(np.exp(x))\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x):\n    KEPT['e'] = np.exp(x)\n"
        "    def f_pullback(y_bar):\n        return rl.NoTangent(), y_bar * KEPT['e']\n"
        "    return np.sum(KEPT['e']), f_pullback\n"
    )
    first = judged(text).diagnoses[0]
    assert first.mistake == "stateful"
    assert not first.diff or judged(corrected(text, first.diff)).verdict == "right", first


def test_a_rule_for_arrays_of_one_shape_is_not_wrong_for_a_mixture_that_was_drawn():
    """`n` is drawn as a number beside vectors: no sum over what nobody repeated is missing."""
    text = rule("a * x**n", "a * n * x**(n - 1) * y_bar, x**n * y_bar, y * np.log(x) * y_bar", "x, a, n")
    assert judged(text).verdict == "right"


@pytest.mark.parametrize("args", [(), (np.array([-1.0, 4.0]),)], ids=["drawn", "given"])
def test_of_the_few_points_of_a_quick_check_no_change_is_blamed(args):
    """A nan is called one, or the mask is offered that takes it away everywhere, also at zero: nearly any
    change is right at three points.
    """
    text = rule("np.sqrt(np.maximum(x, 0))", "y_bar * (x > 0) / (2 * y)")
    first = judged(text, *args, depth="quick").diagnoses[0]
    assert first.mistake == "not_finite" or "np.where(x > 0, " in first.diff, first
    assert "belongs" not in first.advice, first


@pytest.mark.slow
def test_no_correction_gives_complex_numbers_for_a_real_argument():
    """Their imaginary parts are dropped without a word, so that the numbers seem right."""
    text = of_lines(
        "np.fft.fft(x).real ** 2 + np.fft.fft(x).imag ** 2",
        ["F_bar = 2 * np.fft.fft(x) * y_bar"], "np.fft.ifft(F_bar).imag * len(x)",
    )  # fmt: skip
    first = judged(text, np.array([0.3, -2.0, 1.7, 0.4])).diagnoses[0]
    assert "np.fft.ifft(F_bar).real" in first.diff, first


@pytest.mark.slow
def test_a_correction_is_right_for_matrices_and_in_complex_numbers():
    """Of vectors and of real numbers many a change is right that is none otherwise."""
    softmax = rule("np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)", "y * (1 - y) * y_bar")
    first = judged(softmax, np.array([0.3, -2.0, 1.7])).diagnoses[0]
    assert first.mistake == "lacks_term" and "axis=-1" in first.diff, first
    modulus = rule("x * a * np.conj(a)", "y_bar * a * np.conj(a), y_bar * np.conj(x) * a", "x, a")
    diff = judged(modulus).diagnoses[0].diff
    assert "conj(y_bar" in diff or not diff, diff


def test_what_is_zero_for_all_arguments_is_not_kept():
    """A cotangent that is forgotten is the same everywhere, and nothing is kept between calls."""
    pullback = "y_bar * np.where(np.abs(x) < d, x, d * np.sign(x)), rl.NoTangent()"
    text = rule("np.where(np.abs(x) < d, x**2 / 2, d * np.abs(x) - d**2 / 2)", pullback, "x, d")
    assert judged(text, 0.3, 1.0).diagnoses[0].mistake == "dropped_argument"


def test_every_place_has_its_line():
    """Also where it is known by the lines alone that ran."""
    text = (
        "def f(x):\n    return x * abs(x)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x):\n"
        "    def f_pullback(y_bar):\n        if x > 0:\n            return rl.NoTangent(), 2 * x * y_bar\n"
        "        return rl.NoTangent(), np.cosh(x) * y_bar\n    return x * abs(x), f_pullback\n"
    )
    place = judged(text, -1.5).diagnoses[0].place
    assert place.line == 8 and "cosh" in place.text


@pytest.mark.slow
def test_two_cotangents_of_the_other_sign_are_not_called_exchanged():
    """Where one is the other but for its sign, a wrong sign is what one writes."""
    text = of_lines("np.exp(a - b)", ["d = -y * y_bar"], "d, -d", "a, b")
    assert judged(text).diagnoses[0].mistake == "sign"


def of_loops(f, rule, parameters, mistake, above=""):
    """A text: a function of several lines with the pullback of its rule, in which `mistake` is (what should
    be written, what is)."""
    right, wrong = mistake
    assert rule.count(right) == 1, rule
    rule = rule if wrong is None else rule.replace(right, wrong)
    name, inner = "def f_pullback(y_bar):", "\n".join("        " + line for line in rule.strip().splitlines())
    body = "\n".join("    " + line for line in f.strip().splitlines())
    given = ", ".join(one.split(":")[0] for one in parameters.split(", "))
    return (
        f"{above}def f({parameters}):\n{body}\n"
        f"@rl.rrule_for(f, registry=registry)\ndef f_rrule({parameters}):\n"
        f"    y = f({given})\n    {name}\n{inner}\n    return y, f_pullback\n"
    )


VARIATION = (
    "return np.sum(np.abs(np.diff(u)))",
    "s = np.sign(np.diff(u))\nu_bar = np.zeros(len(u))\nu_bar[1:] += y_bar * s\nu_bar[:-1] -= y_bar * s\n"
    "return rl.NoTangent(), u_bar",
    "u",
)
PAIRS = (
    "y = 0.0\nfor i in range(len(p)):\n    for j in range(i + 1, len(p)):\n        y += (p[i] - p[j]) ** 4\n"
    "return y",
    "p_bar = np.zeros(len(p))\nfor i in range(len(p)):\n    for j in range(i + 1, len(p)):\n"
    "        d = p[i] - p[j]\n        p_bar[i] += 4 * y_bar * d**3\n        p_bar[j] -= 4 * y_bar * d**3\n"
    "return rl.NoTangent(), p_bar",
    "p",
)
DRAWDOWN = (
    "return np.max(np.maximum.accumulate(p) - p)",
    "d = np.maximum.accumulate(p) - p\nj = np.argmax(d)\ni = np.argmax(p[:j + 1])\np_bar = np.zeros(len(p))\n"
    "p_bar[i] += y_bar\np_bar[j] -= y_bar\nreturn rl.NoTangent(), p_bar",
    "p",
)
SMOOTHED = (
    "y = np.zeros(len(x))\ns = 0.0\nfor t in range(len(x)):\n    s = a * x[t] + (1 - a) * s\n    y[t] = s\n"
    "return y",
    "x_bar, a_bar, s_bar = np.zeros(len(x)), 0.0, 0.0\nfor t in reversed(range(len(x))):\n"
    "    s_bar += y_bar[t]\n    before = y[t - 1] if t > 0 else 0.0\n    x_bar[t] = a * s_bar\n"
    "    a_bar += (x[t] - before) * s_bar\n    s_bar *= 1 - a\nreturn rl.NoTangent(), x_bar, a_bar",
    "x, a: float",
)
AVERAGED = (
    "y = np.empty(len(x))\nfor t in range(len(x)):\n    first = max(0, t - 2)\n"
    "    y[t] = np.sum(x[first:t + 1]) / (t + 1 - first)\nreturn y",
    "x_bar = np.zeros(len(x))\nfor t in range(len(x)):\n    first = max(0, t - 2)\n"
    "    x_bar[first:t + 1] += y_bar[t] / (t + 1 - first)\nreturn rl.NoTangent(), x_bar",
    "x",
)
CONGRUENCE = (
    "return A.T @ X @ A",
    "A_bar = X @ A @ y_bar.T + X.T @ A @ y_bar\nX_bar = A @ y_bar @ A.T\nreturn rl.NoTangent(), A_bar, X_bar",
    "A, X",
)
ARC = (
    "return np.sin(b - a) * np.cos(a) * np.cos(b)",
    "d_bar = y_bar * np.cos(b - a) * np.cos(a) * np.cos(b)\n"
    "a_bar = -d_bar - y_bar * np.sin(b - a) * np.sin(a) * np.cos(b)\n"
    "b_bar = d_bar - y_bar * np.sin(b - a) * np.cos(a) * np.sin(b)\nreturn rl.NoTangent(), a_bar, b_bar",
    "a, b",
)
RIDGE = (
    "return np.linalg.solve(A.T @ A + np.eye(A.shape[1]), A.T @ b)",
    "w = np.linalg.solve(A.T @ A + np.eye(A.shape[1]), y_bar)\nrest = b - A @ y\n"
    "A_bar = np.outer(rest, w) - np.outer(A @ w, y)\nreturn rl.NoTangent(), A_bar, A @ w",
    "A: np.ndarray, b: np.ndarray",
)
NORMED = (
    "m = x.mean(axis=-1, keepdims=True)\nreturn (x - m) / np.sqrt(x.var(axis=-1, keepdims=True) + 0.1)",
    "s = np.sqrt(x.var(axis=-1, keepdims=True) + 0.1)\n"
    "g = y_bar - y_bar.mean(axis=-1, keepdims=True)\n"
    "x_bar = (g - y * (y_bar * y).mean(axis=-1, keepdims=True)) / s\n"
    "return rl.NoTangent(), x_bar",
    "x",
)
SOFTMAX = (
    "e = np.exp(x - np.max(x))\nreturn np.log(np.sum(e)) + np.max(x)",
    "e = np.exp(x - np.max(x))\nreturn rl.NoTangent(), y_bar * e / np.sum(e)",
    "x",
)
LARGEST = (
    "return x.reshape(-1, 3).max(axis=1)",
    "rows = x.reshape(-1, 3)\nx_bar = np.zeros(rows.shape)\nk = rows.argmax(axis=1)\n"
    "x_bar[np.arange(len(k)), k] = y_bar\nreturn rl.NoTangent(), x_bar.reshape(-1)",
    "x",
)
TWIST = (
    "return x[0] * (u @ v) + x[0] ** 2 * (u @ np.cumsum(v))",
    "x_bar = np.zeros(x.shape)\nx_bar[0] = y_bar * (u @ v + 2 * x[0] * (u @ np.cumsum(v)))\n"
    "u_bar = y_bar * (x[0] * v + x[0] ** 2 * np.cumsum(v))\n"
    "v_bar = y_bar * (x[0] * u + x[0] ** 2 * np.cumsum(u[::-1])[::-1])\n"
    "return rl.NoTangent(), x_bar, u_bar, v_bar",
    "x: np.ndarray, u: np.ndarray, v: np.ndarray",
)
LEFT_OUT = {
    "a decay": (SMOOTHED, ("    s_bar *= 1 - a\n", ""), "factor"),
    "a factor beside a product of vectors": (TWIST, ("2 * x[0] * (u", "x[0] * (u"), "factor"),
    "the other end of a difference": (VARIATION, ("u_bar[:-1] -= y_bar * s\n", ""), "lacks_term"),
    "the other of a pair": (PAIRS, ("        p_bar[j] -= 4 * y_bar * d**3\n", ""), "lacks_term"),
    "what an index was computed for": (DRAWDOWN, ("p_bar[i] += y_bar\n", ""), "lacks_term"),
    "up to where something is picked": (DRAWDOWN, ("p[:j + 1]", "p"), "wrong_element"),
    "a condition on an index": (SMOOTHED, ("y[t - 1] if t > 0 else 0.0", "y[t - 1]"), "off_by_one"),
    "what a function divides by": (AVERAGED, ("(t + 1 - first)\nreturn", "3\nreturn"), None),
    "the transposed term": (CONGRUENCE, ("X @ A @ y_bar.T + ", ""), "lacks_term"),
    "two terms of which one is taken twice": (
        CONGRUENCE, ("X @ A @ y_bar.T + X.T @ A @ y_bar", "2 * X @ A @ y_bar"), "transposed"),
    "two transpositions": (CONGRUENCE, ("A @ y_bar @ A.T", "A.T @ y_bar @ A"), "transposed"),
    "a term that the other argument has": (
        ARC, ("d_bar - y_bar * np.sin(b - a) * np.cos(a) * np.sin(b)", "d_bar"), "lacks_term"),
    "a product in an outer product": (RIDGE, (" - np.outer(A @ w, y)", ""), "lacks_term"),
    "names of a call, exchanged": (RIDGE, ("np.outer(A @ w, y)", "np.outer(A @ y, w)"), "wrong_variable"),
    "a mean that is taken away": (NORMED, (" - y_bar.mean(axis=-1, keepdims=True)", ""), "lacks_term"),
    "a sum that is divided by": (SOFTMAX, (" / np.sum(e)", ""), "factor"),
    "the largest": (LARGEST, ("argmax", "argmin"), "wrong_element"),
}  # fmt: skip


OF_THESE = list(dict.fromkeys(case[0] for case in LEFT_OUT.values()))


@pytest.mark.every(17, slow=True)
@pytest.mark.parametrize(("of", "slip", "mistake"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_is_easily_left_out_is_named_and_put_back(of, slip, mistake):
    """The other half of a statement, of a term, of a pair: named, and corrected with what the rule has."""
    f, pullback, parameters = of
    text = of_loops(f, pullback, parameters, slip)
    first = judged(text).diagnoses[0]
    assert mistake is None or first.mistake == mistake, first
    assert first.diff and judged(corrected(text, first.diff)).verdict == "right", first


@pytest.mark.campaign
@pytest.mark.parametrize("of", OF_THESE, ids=lambda of: of[0][:30])
def test_the_rules_in_which_something_is_left_out_are_right_with_it(of):
    """What is spoilt was right before."""
    f, pullback, parameters = of
    assert judged(of_loops(f, pullback, parameters, (pullback.splitlines()[-1], None))).verdict == "right"


NAMED_BY_THE_CORRECTION = {
    "a transpose, where arrays do not go together": (
        of_lines("np.sum(np.tanh(W @ x))", ["z_bar = y_bar * (1 - np.tanh(W @ x) ** 2)"],
                 "np.outer(z_bar, x), W @ z_bar", "W, x"), "transposed"),
    "a sum, where a cotangent has another shape": (
        of_lines("a * np.sin(x)", ["g = y_bar * np.sin(x)"], "g, y_bar * a * np.cos(x)", "a: float, x"),
        ("lacks_sum", "broadcast_sum")),
    "a root": (rule("np.hypot(x, 2.0)", "y_bar * x / np.sqrt(y)"), ("factor", "power")),
    "a sign in an exponent": (rule("np.log1p(np.exp(x))", "y_bar * np.exp(y - x)"), "sign"),
    "the factor of a chain": (
        of_lines("np.tanh(W @ x) @ v", ["h = np.tanh(W @ x)", "h_bar = y_bar * v", "z_bar = h_bar"],
                 "np.outer(z_bar, x), W.T @ z_bar, y_bar * h", "W, x, v"), "factor"),
    "a part of a complex number": (
        rule("r + 1j * w", "y_bar.real, y_bar.real", "r: float, w: float"), "conjugate"),
    "an order": (
        rule("x @ [1.0, 3.0, 4.5]", "np.dot(y_bar, [3.0, 1.0, 4.5])", "x: np.ndarray"), "wrong_element"),
}  # fmt: skip


@pytest.mark.every(7, slow=True)
@pytest.mark.parametrize(("text", "mistakes"), NAMED_BY_THE_CORRECTION.values(), ids=NAMED_BY_THE_CORRECTION)
def test_a_correction_tells_more_than_what_follows_from_the_mistake(text, mistakes):
    """Whoever forgets a transpose reads of a transpose, and not of arrays that do not go together."""
    first = judged(text).diagnoses[0]
    assert first.mistake in np.atleast_1d(mistakes) and first.diff, first


@pytest.mark.slow
def test_a_field_of_an_object_is_a_factor_that_may_be_missing():
    """Of a camera the focal length, of a spring its stiffness."""
    above = "import dataclasses\n@dataclasses.dataclass\nclass Spring:\n    k: float\n    at: float\n"
    text = of_loops(
        "return np.array([s.k * (x - s.at), s.k * (x - s.at) ** 2])",
        "p, q = y_bar\nu_bar = s.k * p + 2 * s.k * q * (x - s.at)\n"
        "s_bar = rl.Tangent(Spring, k=p * (x - s.at) + q * (x - s.at) ** 2, at=-u_bar)\n"
        "return rl.NoTangent(), s_bar, u_bar",
        "s, x: float",
        ("u_bar = s.k * p", "u_bar = p"),
        above,
    ).replace("def f_rrule(s,", "def f_rrule(s: Spring,")
    first = judged(text).diagnoses[0]
    assert first.mistake == "factor" and "s.k" in first.diff.splitlines()[-1], first


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ([(3, 2)] * 3, [(4, 5), (3, 3), (5, 4)], "len(c) is 2"),
        ([(2, 2)] * 3, [(3, 3), (5, 3), (4, 4)], "len(x) is 2 and len(c) is 2"),
        ([(2, 2), (3, 3), (4, 4)], [(3, 2), (5, 3), (2, 4)], "len(x) is len(c)"),
        ([(3, 2)] * 3, [(3, 2), (3, 3), (5, 4)], None),
    ],
    ids=["one", "two at once", "alike", "none"],
)
def test_of_lengths_that_go_together_none_is_blamed_alone(right, wrong, told):
    """Where a rule is right, two lengths may have been the same each time: both are told."""
    blocks = []
    for is_right, those in ((True, right), (False, wrong)):
        for sizes in those:
            probe = SimpleNamespace(point=SimpleNamespace(inputs=tuple(map(np.ones, sizes))))
            look = SimpleNamespace(probe=probe)
            blocks.append(SimpleNamespace(is_right=is_right, right=np.ones(1), look=look))
    evidence = SimpleNamespace(subject=SimpleNamespace(names=("x", "c")))
    assert regions._only_length(evidence, blocks) == told


@pytest.mark.slow
def test_the_doctor_tells_all_lengths_at_which_alone_a_rule_is_right():
    """The first two polynomials of Hermite are powers, and vectors of length 2 were drawn together."""
    text = (
        "from numpy.polynomial import hermite_e\n"
        "def f(x, c):\n    'x, c: vectors.'\n    return hermite_e.hermeval(x, c)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x, c):\n"
        "    slope = hermite_e.hermeval(x, hermite_e.hermeder(c))\n"
        "    powers = np.vander(x, len(c), increasing=True)\n"
        "    return f(x, c), lambda y_bar: (rl.NoTangent(), y_bar * slope, powers.T @ y_bar)\n"
    )
    assert "right only where len(x) is 2 and len(c) is 2" in judged(text).diagnoses[0].words


@pytest.mark.slow
def test_a_rule_that_is_right_at_length_one_by_a_zero_is_not_made_for_one_size():
    """Where the derivative is zero nothing is told: no size is blamed."""
    text = (
        "def f(x, w: float):\n    return np.sum(np.cumsum(x) * (w * np.arange(len(x))) ** 3)\n"
        "@rl.rrule_for(f, registry=registry)\ndef f_rrule(x, w: float):\n    a = np.arange(len(x))\n"
        "    def f_pullback(y_bar):\n        x_bar = np.cumsum(((w * a) ** 3)[::-1])[::-1] * y_bar\n"
        "        return rl.NoTangent(), x_bar, y_bar * np.sum(np.cosh(x) * a)\n"
        "    return f(x, w), f_pullback\n"
    )
    assert judged(text).diagnoses[0].mistake != "size"


def test_too_large_without_a_sum_is_a_term_that_is_missing():
    """Of a cotangent that is one product nothing can be too many."""
    text = rule("np.exp(-z) - np.log(b)", "-y_bar * np.exp(-z), 0 * y_bar", "z: float, b: float")
    kept = [d for d in judged(text).diagnoses if d.argument in (None, "b")]
    assert kept and kept[0].mistake in ("lacks_term", "dropped_argument", "factor"), kept


@pytest.mark.slow
def test_a_division_by_zero_at_one_place_takes_no_correction_away():
    """That the corrected rule has no number there is told of it, and nothing else."""
    divides = rule("x * a**3", "y_bar * a**3, 3 * y / a * y_bar", "x, a")
    assert judged(divides, 0.5, 0.25).verdict == "right"
    wrong = divides.replace(" * y_bar\n", "\n")
    report = judged(wrong)
    assert report.verdict == "wrong" and "ZeroDivisionError" not in report.sentence
    again = corrected(wrong, report.diagnoses[0].diff)
    assert judged(again, 0.5, 0.25).verdict == "right"
    report = judged(again)
    assert report.verdict == "right" and "nan or infinite at" in report.sentence
    assert "ZeroDivisionError" in str(report)  # of numbers, which need not be meant for zero


PUT_BACK = {
    "what a loop carries to the start": (
        "def f(y, rate):\n    level, total = y[0], 0.0\n    for t in range(1, len(y)):\n"
        "        err = y[t] - level\n        total, level = total + err * err, level + rate * err\n"
        "    return total\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(y, rate):\n"
        "    n = len(y)\n"
        "    levels, errs = np.zeros(n), np.zeros(n)\n"
        "    levels[0] = y[0]\n"
        "    for t in range(1, n):\n"
        "        errs[t] = y[t] - levels[t - 1]\n"
        "        levels[t] = levels[t - 1] + rate * errs[t]\n"
        "    def f_pullback(total_bar):\n"
        "        y_bar, rate_bar, level_bar = np.zeros(n), 0.0, 0.0\n"
        "        for t in range(n - 1, 0, -1):\n"
        "            err_bar = 2 * errs[t] * total_bar + rate * level_bar\n"
        "            rate_bar += errs[t] * level_bar\n"
        "            y_bar[t] += err_bar\n"
        "            level_bar = level_bar - err_bar\n"
        "        return rl.NoTangent(), y_bar, rate_bar\n"
        "    return np.sum(errs**2), f_pullback\n",
        "drops what its loop carries: lacks `y_bar[0] += level_bar` after the loop",
        "y_bar[0] += level_bar",
    ),
    "an element on both sides": (
        "def f(x):\n    total = 0.0\n    for i in range(len(x)):\n"
        "        total += np.log(np.sum(np.exp(x[i:])))\n    return total\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x):\n"
        "    def f_pullback(y_bar):\n"
        "        g = np.zeros(len(x))\n"
        "        for i in range(len(x)):\n"
        "            e = np.exp(x[i:])\n"
        "            g[i + 1 :] += (e / np.sum(e))[1:]\n"
        "        return rl.NoTangent(), y_bar * g\n"
        "    return f(x), f_pullback\n",
        "leaves out elements: has `g[i + 1:] += (e / np.sum(e))[1:]` where `g[i:] += e / np.sum(e)` belongs",
        "g[i:] += e / np.sum(e)",
    ),
    "a statement that belongs into the loop before it": (
        "def f(a, x):\n    total = 0.0\n    for c in a:\n        total = total * x + c\n    return total\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(a: np.ndarray, x: float):\n"
        "    n = len(a)\n"
        "    def f_pullback(y_bar):\n"
        "        a_bar, slope, power = np.zeros(n), 0.0, 1.0\n"
        "        for k in range(n - 1, -1, -1):\n"
        "            a_bar[k] = power * y_bar\n"
        "            if k > 0:\n"
        "                slope += (n - k) * a[k - 1] * power\n"
        "        power *= x\n"
        "        return rl.NoTangent(), a_bar, slope * y_bar\n"
        "    return f(a, x), f_pullback\n",
        "`power *= x` is after the loop, but belongs inside it",
        None,
    ),
    "the statement with the parts exchanged": (
        "def f(x, lag: int):\n    return np.sum(x[: len(x) - lag] * x[lag:])\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x, lag: int):\n"
        "    n = len(x)\n"
        "    def f_pullback(y_bar):\n"
        "        x_bar = np.zeros(n)\n"
        "        x_bar[: n - lag] += x[lag:]\n"
        "        return rl.NoTangent(), y_bar * x_bar, rl.NoTangent()\n"
        "    return f(x, lag), f_pullback\n",
        "lacks a statement",
        "x_bar[lag:] += x[:n - lag]",
    ),
    "a mean taken off within": (
        "def f(x):\n    d = x - x.mean()\n    return np.mean(d**3) / np.mean(d**2) ** 1.5\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x):\n"
        "    d = x - x.mean()\n"
        "    m2, m3 = np.mean(d**2), np.mean(d**3)\n"
        "    g = m3 / m2**1.5\n"
        "    def f_pullback(y_bar):\n"
        "        return rl.NoTangent(), 3 * y_bar / x.size * (d**2 / m2**1.5 - g * d / m2)\n"
        "    return g, f_pullback\n",
        "lacks a term",
        "d ** 2 - m2",
    ),
    "the neighbours on the other side": (
        "def f(x, y):\n    return np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x, y):\n"
        "    def f_pullback(y_bar):\n"
        "        x_bar = y_bar * np.roll(y, -1)\n"
        "        return rl.NoTangent(), x_bar, y_bar * (np.roll(x, 1) - np.roll(x, -1))\n"
        "    return f(x, y), f_pullback\n",
        "lacks a term",
        "np.roll(y, -1) - np.roll(y, 1)",
    ),
    "a count by its name, and not the number that it is by default": (
        "def f(x, size: int = 2):\n    n = len(x) // size\n"
        "    return x[: n * size].reshape(n, size).max(axis=1)\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x, size: int = 2):\n"
        "    n = len(x) // size\n"
        "    winners = x[: n * size].reshape(n, size).argmax(axis=1)\n"
        "    def f_pullback(y_bar):\n"
        "        x_bar = np.zeros(x.shape)\n"
        "        x_bar[np.arange(n) + winners] = y_bar\n"
        "        return rl.NoTangent(), x_bar, rl.NoTangent()\n"
        "    return f(x, size), f_pullback\n",
        "has `np.arange(n)` where `np.arange(n) * size` belongs",
        "np.arange(n) * size",
    ),
    "the size of what may be a matrix": (
        "def f(x):\n    return np.mean(np.sin(x))\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x: np.ndarray):\n"
        "    return f(x), lambda y_bar: (rl.NoTangent(), y_bar * np.cos(x))\n",
        "off by a factor",
        "x.size",
    ),
    "the sum of what a number was repeated for": (
        "def f(x, tau):\n    return np.sign(x) * np.maximum(np.abs(x) - tau, 0.0)\n"
        "@rl.rrule_for(f, registry=registry)\n"
        "def f_rrule(x: np.ndarray, tau: float):\n"
        "    active = np.abs(x) > tau\n"
        "    def f_pullback(y_bar):\n"
        "        return rl.NoTangent(), y_bar * active, -y_bar * np.sign(x) * active\n"
        "    return f(x, tau), f_pullback\n",
        "lacks a sum over axis 0, along which tau is repeated",
        "np.sum(-y_bar * np.sign(x) * active)",
    ),
}


@pytest.mark.every(11)
@pytest.mark.parametrize("case", PUT_BACK)
def test_what_was_forgotten_is_put_back_with_what_the_rule_has(case):
    text, words, line = PUT_BACK[case]
    diagnosis = judged(text).diagnoses[0]
    assert diagnosis.words.startswith(words)
    assert line is None or line in diagnosis.diff


CALLED = []


def noted(x):
    """What a rule of an author's may do besides."""
    CALLED.append(x)
    return x


def sine_product(x, y):
    return np.sum(np.sin(x) * y)


def sine_product_rule(x, y):
    s = np.sin(x)
    if x.size > 10_000:
        s = noted(s)

    def pullback(z_bar):
        return rl.NoTangent(), z_bar * y, z_bar * s

    return np.sum(s * y), pullback


@pytest.mark.slow
def test_nothing_of_a_rule_is_run_by_itself_that_does_more_than_give_a_value():
    """What stands in a branch that is not taken is compared with what is wrong, if that does nothing else."""
    CALLED.clear()
    check = rule_check(sine_product, registry=registry_with(sine_product, sine_product_rule))
    assert check.verdict == "wrong" and check.diagnoses[0].diff
    assert not CALLED


@pytest.mark.slow
def test_a_condition_on_a_number_in_an_object_is_named():
    """Where a stiffness is negative, and not merely at some points."""
    above = "import dataclasses\n@dataclasses.dataclass\nclass Stop:\n    gain: float\n    at: float\n"
    text = of_loops(
        "return math.copysign(1.0, x) * abs(s.gain) * (x - s.at) ** 2",
        "g = math.copysign(1.0, x * s.gain) * y_bar\nu_bar = 2 * s.gain * (x - s.at) * g\n"
        "s_bar = rl.Tangent(Stop, gain=(x - s.at) ** 2 * g, at=-u_bar)\n"
        "return rl.NoTangent(), s_bar, u_bar",
        "s, x: float",
        ("math.copysign(1.0, x * s.gain)", "math.copysign(1.0, x)"),
        "import math\n" + above,
    ).replace("def f_rrule(s,", "def f_rrule(s: Stop,")
    first = judged(text).diagnoses[0]
    assert first.words.startswith("wrong where s.gain < 0, with the wrong sign there"), first
