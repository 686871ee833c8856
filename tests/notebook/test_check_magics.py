"""`%rule_check`, `%grad_check` and `--check`: where they look, what they say, what stays whole."""

import pytest

import rulelab.notebook

from .conftest import MSE_RULE

WRONG = MSE_RULE.replace(" * out_bar", "")
CHECKED = "--of mse --check"
CUBE = "def cube(x):\n    return x**3\n"
CUBE_RULE = """\
%%rrule cube --check
def cube_rrule(x):
    def cube_pullback(y_bar):
        return rl.NoTangent(), 3 * x**2 * y_bar
    return x**3, cube_pullback
"""


@pytest.fixture
def judged(notebook):
    """A notebook in which mse_cr has a rule."""
    notebook.ok(MSE_RULE)
    return notebook


# -- what it says --------------------------------------------------------------------------------------------


def test_a_right_rule(judged):
    """The verdict, how much was looked at, and the time."""
    found = judged.ok("%rule_check mse_cr --at y, yh")
    assert found.verdict == "right" and found.points[0].origin == "given"
    assert "mse_cr_rrule of mse_cr is right at " in judged.text
    assert "note: the arguments" not in judged.text  # they are in the line
    assert judged.text.rstrip().endswith("s") and " points, " in judged.text


def test_a_wrong_rule_is_named_with_its_line(judged):
    """In the words of the doctor, with the cell and its line, and the number that is furthest off."""
    judged.ok(WRONG)
    found = judged.ok("%rule_check mse_cr")
    assert found.verdict == "wrong" and not found
    assert "ignores its cotangent" in judged.text and "cell In [3], line" in judged.text
    assert "the rule gives" in judged.text and "±" in judged.text
    assert len(judged.text.splitlines()) <= 30


def test_the_forward_rule(judged):
    """With --frule; without one that is said."""
    judged.ok(CUBE)
    assert "NoRuleError: mse_cr has no frule" in judged.fails("%rule_check mse_cr --frule")
    judged.ok("%%frule cube\ndef cube_frule(tangents, x):\n    return x**3, 3 * x**2 * tangents[1]\n")
    found = judged.ok("%rule_check cube --frule")
    assert found and found.mode == "frule"


def test_deep_looks_at_more_points(judged):
    """More than twice as many."""
    usual = judged.ok("%rule_check mse_cr --at y, yh")
    assert len(judged.ok("%rule_check mse_cr --deep --at y, yh").points) > 1.8 * len(usual.points)


# -- where it looks ------------------------------------------------------------------------------------------


def test_without_arguments_they_are_drawn(judged):
    """The report says of which kinds."""
    judged.ok("%rule_check mse_cr")
    assert "arguments were drawn (y: a vector, yh: a vector)" in judged.text


@pytest.mark.parametrize("magic", ["%grad_compare mse mse_cr", "%rule_lab mse mse_cr --no-widget"])
def test_the_arguments_of_the_last_comparison(judged, monkeypatch, magic):
    """Of either function, whichever magic compared them; the report says which, and in which cell."""
    monkeypatch.setattr("rulelab.notebook.pair.Pair.measure_all", lambda self, seconds: None)
    judged.ok(f"{magic} --at y[:3], yh[:3]")
    found = judged.ok("%rule_check mse_cr")
    assert found.points[0].inputs == ("[0., 1., 2.]", "[1., 1., 1.]")
    assert f"note: the arguments are those of {magic.split()[0]} in cell In [3]" in judged.text


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "line",
    ["%gradient {}(y[:3], yh[:3])", "%grad_check {}(y[:3], yh[:3])", "%rule_check {} --at y[:3], yh[:3]"],
)
@pytest.mark.parametrize("name", ["mse", "mse_cr"])
def test_the_arguments_of_any_command(judged, line, name):
    """Of the function, or of the one that it is a copy of; a command that fails leaves none behind."""
    if name == "mse" and line.startswith("%rule"):
        pytest.skip("it has no rule of its own")
    judged.ok(line.format(name))
    judged.ok("try: get_ipython().run_line_magic('gradient', 'mse_cr(y[:2])')\nexcept Exception: pass")
    found = judged.ok("%rule_check mse_cr")
    assert found.points[0].inputs == ("[0., 1., 2.]", "[1., 1., 1.]")
    assert f"note: the arguments are those of {line.split()[0]} in cell In [" in judged.text


def test_at_and_domain_come_before_the_last_comparison(judged):
    """What the line says counts."""
    judged.ok("%grad_compare mse mse_cr --at y, yh")
    assert judged.ok("%rule_check mse_cr --at y[:2], yh[:2]").points[0].inputs[0] == "[0., 1.]"
    judged.ok('%rule_check mse_cr --domain "positive vector"')
    assert "arguments were drawn (y: a vector, positive" in judged.text


def test_arguments_that_the_function_no_longer_takes_are_not_used(judged):
    """Its name may stand for another function by then."""
    judged.ok(CUBE)
    judged.ok("%grad_compare cube cube --at 2.0")
    judged.ok("def cube(x, a):\n    return a * x**3\n")
    judged.ok(CUBE_RULE.replace("(x):", "(x, a):").replace("* y_bar", "* a * y_bar, x**3 * y_bar").replace(
        "return x**3,", "return a * x**3,").replace(" --check", ""))  # fmt: skip
    assert judged.ok("%rule_check cube")
    assert "arguments were drawn" in judged.text


def test_only_so_many_comparisons_are_remembered(notebook):
    """The session does not keep every array there was."""
    from rulelab.notebook.loading import session
    from rulelab.notebook.session import MOST_COMPARED, LastArguments

    for number in range(MOST_COMPARED + 5):
        session().remember_comparison(
            [f"f{number}"], LastArguments((1.0,), {}, "%grad_compare", "cell In [1]")
        )
    assert len(session().compared) == MOST_COMPARED and "f0" not in session().compared


@pytest.mark.parametrize(
    ("domain", "kinds"),
    [
        ("positive", "(x: a number, positive; or x: a vector, positive)"),
        ('"(1, 2)"', "(x: a number, between 1 and 2; or x: a vector, between 1 and 2)"),
        ('"x: negative"', "(x: a number, below 0; or x: a vector, below 0)"),
    ],
)
def test_domain_says_where_to_draw(notebook, domain, kinds):
    """In words, as an interval, or by the names of the parameters."""
    notebook.ok(CUBE)
    notebook.ok(CUBE_RULE.replace(" --check", ""))
    notebook.ok(f"%rule_check cube --domain {domain}")
    assert kinds in notebook.text


# -- what goes wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nothing", "MagicError: %rule_check: there is no function nothing"),
        ("y", "MagicError: %rule_check: y is an ndarray, which cannot be called"),
        ("", "MagicError: %rule_check: give F, the function whose rule is checked: %rule_check F"),
        ("mse", "NoRuleError: mse has no rrule"),
        ("mse_cr --domain positve", "'positve' is not a domain; did you mean positive?"),
        ('mse_cr --domain "(2, 1)"', "a domain must be (low, high) with low < high, not (2, 1)"),
        ('mse_cr --domain "(a, 1)"', "a domain must be (low, high), not (a, 1)"),
        ('mse_cr --domain "q: positive"', "NoInputsError: mse_cr has no parameter q"),
        ("mse_cr --order 3", "MagicError: %rule_check: --order must be 1 or 2, not '3'"),
        ("mse_cr y, yh", "MagicError: %rule_check: arguments come after --at: %rule_check mse_cr --at y, yh"),
        ("texts", "NoInputsError: no arguments were found that texts takes: "),
    ],
)
def test_wrong_use_is_told_in_a_line(judged, line, words):
    """And the last result is still there."""
    judged.ok(
        "def texts(name):\n    return name.upper()\n"
        "@rl.rrule_for(texts)\ndef texts_rrule(name):\n    return '', lambda y_bar: (rl.NoTangent(), 0.0)\n"
    )
    before = judged.ok("%gradient mse(y, yh)")
    shown = judged.fails(f"%rule_check {line}")
    assert words in shown and "Traceback" not in shown and len(shown.splitlines()) <= 6
    assert rulelab.notebook.last() is before


@pytest.mark.parametrize(
    "line",
    ["mse_cr(y, yh)", "mse_cr(y, yh=yh) --order 1", "--order 1 mse_cr(*(y, yh)) -o kept", "mse_cr(y,yh)"],
)
def test_a_call_says_function_and_arguments_at_once(judged, line):
    """As `%gradient mse(y, yh)` does: the point that was asked about is the one that is judged."""
    report = judged.ok(f"%rule_check {line}")
    assert report.verdict == "right" and report.points[0].origin == "given"
    assert "note: the arguments" not in judged.text  # they are in the line


SLOW = """\
import os, signal
calls = 0
def slow(x):
    global calls
    calls += 1
    if calls == most:
        os.kill(os.getpid(), signal.SIGINT)
    return x * x
@rl.rrule_for(slow)
def slow_rrule(x):
    def slow_pullback(y_bar):
        return rl.NoTangent(), 2 * x * y_bar
    return x * x, slow_pullback
"""


@pytest.mark.parametrize("line", ["%rule_check slow --at 2.0", "%grad_check slow(2.0)"])
def test_ctrl_c_shows_the_points_there_are(notebook, line):
    """The partial report is shown and kept, is not right, and the cells that follow do not run."""
    notebook.ok(f"{SLOW}most = 100\n")
    shown = notebook.fails(line)
    kept = rulelab.notebook.last()
    assert kept.interrupted and kept.points and not kept and kept.verdict == "inconclusive"
    assert "stopped after" in shown and "stopped early" in shown
    magic = line.split()[0]
    assert shown.rstrip().splitlines()[-1].startswith(f"Interrupted: {magic} was stopped after ")
    assert shown.rstrip().endswith("the report shows these")


# -- at the definition ---------------------------------------------------------------------------------------


def test_a_rule_is_checked_where_it_is_defined(notebook):
    """In one line below the one that says which rule it is."""
    notebook.ok(MSE_RULE.replace("--of mse", CHECKED, 1))
    first, second = notebook.text.strip().splitlines()[-2:]
    assert first.endswith("mse_cr, a copy of mse, now has the rule mse_cr_rrule.")
    assert second.startswith("Check: right at ") and second.endswith("s.")
    assert notebook.ok("rl.gradient(mse_cr, y, yh)") and rulelab.notebook.last().check


def test_a_wrong_rule_is_defined_all_the_same(notebook):
    """The line says the mistake and where it is, and which magic says more."""
    notebook.ok(WRONG.replace("--of mse", CHECKED, 1))
    head, below = notebook.text.strip().splitlines()[-2:]
    assert head.startswith("Check: wrong: ignores its cotangent") and len(head) <= 110
    assert "cell In [2], line" in f"{head} {below}" and below.endswith("%rule_check mse_cr shows more.")
    assert notebook.ok("rl.has_rrule(mse_cr, y, yh)")


def test_the_other_kinds_of_rules(notebook):
    """%%frule and %scalar_rule, in a cell and in a line."""
    notebook.ok(CUBE)
    frule = "%%frule cube --check\ndef cube_frule(tangents, x):\n    return x**3, {} * x**2 * tangents[1]\n"
    notebook.ok(frule.format(3))
    assert "Check: right at" in notebook.text
    notebook.ok(frule.format(4))
    assert "Check: wrong: " in notebook.text and notebook.ok("rl.pushforward(cube, 1.0)(1.0)") == 4.0
    notebook.ok("%scalar_rule --check cube(x): 3*x**2")
    assert "Check: right at" in notebook.text
    notebook.ok("%%scalar_rule cube --check\ndef cube_partials(out, x):\n    return x\n")
    assert "Check: wrong: " in notebook.text and notebook.ok("rl.gradient(cube, 3.0)") == (3.0,)


def test_what_cannot_be_checked_is_said(notebook):
    """The rule is there, and the line says why nothing was looked at."""
    notebook.ok("def texts(name):\n    return name.upper()\n")
    notebook.ok("%%rrule texts --check\ndef texts_rrule(name):\n    return name, None\n")
    assert "Check: not judged: no arguments were found that texts takes: " in notebook.text
    assert notebook.ok("rl.has_rrule(texts, 'a')")


UNLUCKY = """\
def unlucky(A, B):
    return A @ B
"""
UNLUCKY_RULE = """\
def unlucky_rrule(A, B):
    raise ValueError("no such matrices")
"""


@pytest.mark.slow
def test_advice_is_in_the_syntax_of_where_one_stands(notebook):
    """In a magic, in the line below a cell, and in plain Python next to these."""
    notebook.ok(UNLUCKY)
    notebook.ok(f"%%rrule unlucky --check\n{UNLUCKY_RULE}")
    assert "give your own: %rule_check unlucky --at A, B" in " ".join(notebook.text.split())
    found = notebook.ok("%rule_check unlucky")
    assert "give your own: %rule_check unlucky --at A, B" in found.reason and "at=" not in found.to_json()
    assert notebook.ok("rl.rule_check(unlucky)").reason.endswith("give your own: rule_check(unlucky, A, B)")


def test_advice_of_an_error_is_in_the_syntax_of_where_one_stands(notebook):
    notebook.ok("def texts(name):\n    return name.upper()\n")
    notebook.ok("%%rrule texts\ndef texts_rrule(name):\n    return name, None\n")
    assert "do: give them: %rule_check f --at 2.0, [1.0, 2.0]; or" in notebook.fails("%rule_check texts")
    assert "do: give them: rule_check(f, 2.0, [1.0, 2.0]); or" in notebook.fails("rl.rule_check(texts)")
    assert "do: give arguments: --at name" in notebook.fails("%rule_export texts --to module texts_rules.py")


def test_a_setting_checks_every_rule(notebook):
    """Until it is set to never again."""
    notebook.ok("%config RuleLab.check = 'quick'")
    notebook.ok(MSE_RULE)
    assert "Check: right at" in notebook.text
    notebook.ok("%config RuleLab.check = 'never'")
    notebook.ok(MSE_RULE)
    assert "Check: " not in notebook.text


def test_ctrl_c_in_the_check_leaves_the_rule_whole(notebook):
    """The definition is shown; the cells that follow do not run."""
    notebook.ok(f"{SLOW}most = 60\n")
    rule = "def slow_rrule(x):\n    return x * x, lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)\n"
    shown = notebook.fails(f"%%rrule slow --check\n{rule}")
    assert "slow now has the rule slow_rrule" in shown
    assert shown.rstrip().endswith("%%rrule: the check was stopped; the rule is in place")
    assert notebook.ok("rl.which_rule(slow, 1.0).rule.function") is notebook["slow_rrule"]


# -- gradients -----------------------------------------------------------------------------------------------


def test_the_gradient_of_an_expression(judged):
    """With the rules of the author that took part."""
    judged.ok("def loss(w):\n    return 2.0 * mse_cr(w * y, yh)\n")
    assert judged.ok("%grad_check loss(0.5)").verdict == "right"
    assert "note: made with your rule mse_cr(y, yh) by mse_cr_rrule at cell In [2]" in judged.text
    judged.ok(WRONG)
    found = judged.ok("%grad_check loss(0.5)")
    assert found.verdict == "wrong" and "The gradient of loss is wrong" in judged.text


def test_what_has_no_gradient_is_refused_in_the_words_of_the_gradient(judged):
    """Arrays of outputs, and lines that are no call."""
    assert "Perhaps you wanted jacobian" in judged.fails("%grad_check np.cumsum(y)")
    assert "give one call, as in %grad_check f(x), not `y`" in judged.fails("%grad_check y")
