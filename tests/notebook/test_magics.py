"""Each magic through a real shell: what it shows, what it returns, how it fails."""

import importlib
import re

import pytest

from .conftest import MSE_RULE

# -- %%rrule -------------------------------------------------------------------------------------------------


def test_a_rule_in_a_cell(notebook):
    """The copy is made, carries the rule, and the rule is used at once."""
    notebook.ok(MSE_RULE)
    assert notebook.text == "Out[2]: mse_cr, a copy of mse, now has the rule mse_cr_rrule.\n"
    assert notebook["mse_cr"](notebook["y"], notebook["yh"]) == 11.5
    assert repr(notebook.ok("rl.which_rule(mse_cr)")).endswith(
        "by mse_cr_rrule at cell In [2], line 2, in mse_cr_rrule"
    )


def test_running_the_cell_again_keeps_the_copy_and_replaces_the_rule(notebook):
    """The object stays, so whoever holds it gets the new rule."""
    notebook.ok(MSE_RULE)
    before = notebook["mse_cr"]
    notebook.ok(MSE_RULE.replace("2 / len", "3 / len"))
    assert notebook["mse_cr"] is before
    assert notebook.ok("rl.gradient(mse_cr, y, yh)")[0][0] == pytest.approx(-3 / 8)


@pytest.mark.parametrize("broken", ["    out = mse(y, yh", "1 / 0\n", "raise KeyboardInterrupt\n"])
def test_a_failing_cell_leaves_the_old_rule_whole(notebook, broken):
    """A syntax error, an error and Ctrl-C all come before the rule is replaced."""
    notebook.ok(MSE_RULE)
    old = notebook.ok("rl.which_rule(mse_cr).rule")
    notebook.fails(f"{MSE_RULE}{broken}")
    assert notebook.ok("rl.which_rule(mse_cr).rule") is old


def test_a_rule_for_a_name_with_dots(notebook):
    """A library's function, or a method, is named as in Python."""
    notebook.ok("class Bar:\n    def method(self, x):\n        return x\n")
    notebook.ok("%%rrule Bar.method\ndef method_rrule(self, x):\n    return x, None\n")
    assert notebook.text == "Out[3]: Bar.method now has the rule method_rrule.\n"
    assert notebook.ok("rl.has_rrule(Bar.method)")


def test_a_lambda_for_a_pullback_gets_a_warning(notebook):
    """Why a name helps, in one sentence."""
    notebook.ok("%%rrule mse\ndef mse_rrule(y, yh):\n    return 1.0, lambda s: (rl.NoTangent(), y, yh)\n")
    words = "Line 3: The pullback of mse_rrule is a lambda: a traceback and a profile will call it <lambda>."
    assert words in notebook.text
    assert "%rule_lint mse shows the better line, and why." in notebook.text


def test_the_advice_below_a_rule_can_be_switched_off(notebook):
    """Who knows better is left alone; `%rule_lint` still answers."""
    notebook.ok("%config RuleLab.advice = False")
    notebook.ok("%%rrule mse\ndef mse_rrule(y, yh):\n    return 1.0, lambda s: (rl.NoTangent(), y, yh)\n")
    assert notebook.text.endswith("mse now has the rule mse_rrule.\n")
    assert [a.kind for a in notebook.ok("%rule_lint mse").advices] == ["lambda-pullback"]


def test_a_good_rule_is_defined_without_a_word_more(notebook):
    """Nor does advice on another rule of the function, or on an older one, stand below it."""
    notebook.ok(MSE_RULE)
    assert "now has the rule mse_cr_rrule" in notebook.text and "Line" not in notebook.text
    assert notebook.ok("%rule_lint mse_cr").advices == ()


def test_advice_on_a_function_without_a_rule_is_refused_in_a_line(notebook):
    """With what to do."""
    assert "mse has no rule with code to judge" in notebook.fails("%rule_lint mse")


def test_advice_that_fails_does_not_fail_the_cell(notebook, monkeypatch):
    """The rule is in its place, and it is said that there is no advice."""

    def broken(*_, **__):
        raise ValueError("no\nluck")

    monkeypatch.setattr("rulelab.notebook.magics.rule_lint", broken)
    notebook.ok(MSE_RULE)
    assert "There is no advice on this rule: no luck" in notebook.text
    assert notebook.ok("rl.has_rrule(mse_cr)")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%rrule\ndef f(x): pass", "%%rrule: give NAME, the function that gets the rule: %%rrule NAME"),
        (
            "%%rrule nope\ndef f(x): pass",
            "%%rrule: there is no function nope; to make it a copy of a function F: %%rrule nope --of F",
        ),
        (
            "%%rrule addone --of mse\ndef f(x): pass",
            "%%rrule: addone already exists and is not a copy made by --of",
        ),
        ("%%rrule y\ndef f(x): pass", "%%rrule: y is an ndarray, which cannot be called"),
        ("%%rrule mse --off mse\ndef f(x): pass", "%%rrule: there is no option --off; did you mean --of?"),
        (
            "%%rrule mse\ndef mse(y, yh): pass",
            "%%rrule: the last `def` of the cell is mse itself; put its rule last",
        ),
        (
            "%%rrule mse\nx = 1",
            "%%rrule: the cell has no plain `def`; the rule is the last `def` of the cell",
        ),
    ],
)
def test_wrong_use_of_rrule_is_one_line(notebook, cell, words):
    """And it fails the cell."""
    shown = notebook.fails(cell)
    assert shown.startswith(f"MagicError: {words}") and shown.count("\n") == 1


def test_an_error_in_the_body_shows_the_users_line(notebook):
    """No frame of ours between the cell and its error; the line is the editor's."""
    shown = notebook.fails("%%rrule mse\ndef f(x):\n    pass\nwrong = 1 / 0\n")
    assert "ZeroDivisionError" in shown and "line 4" in shown and "rulelab" not in shown
    shown = notebook.fails("%%rrule mse\ndef f(x)\n    pass\n")
    assert "expected ':'" in shown and "def f(x)" in shown and "rulelab" not in shown


def test_a_rule_keeps_its_name_when_the_function_is_defined_anew(notebook):
    """With a notice, and the rule is in force in the next cell."""
    notebook.ok("def f(x):\n    return x * x\n")
    notebook.ok(
        "%%rrule f\ndef f_rrule(x):\n    def f_pullback(s):\n        return rl.NoTangent(), 2 * x * s\n"
        "    return x * x, f_pullback\n"
    )
    notebook.ok("def f(x):\n    return x * x\n")
    assert notebook.text.startswith(
        "f was redefined; its rule f_rrule (cell In [3]) now belongs to the new one"
    )
    assert notebook.ok("rl.has_rrule(f)")


SQUARE = "def f(x):\n    return x * x\n"
SQUARE_RULE = (
    "%%rrule f\ndef f_rrule(x):\n    def f_pullback(s):\n        return rl.NoTangent(), 2 * x * s\n"
    "    return x * x, f_pullback\n"
)


def test_an_unrelated_function_of_the_name_has_its_own_gradient(notebook):
    """After %reset, and after the name has stood for something else."""
    for between in ("%reset -f", "f = 3", "del f"):
        notebook.ok(f"import rulelab as rl\n{SQUARE}")
        notebook.ok(SQUARE_RULE)
        notebook.ok(between)
        assert "its rule f_rrule (cell In [" in notebook.text
        assert "no longer follows the name" in notebook.text
        notebook.ok("import rulelab as rl\ndef f(x): return x**3")
        assert notebook.text == ""
        assert notebook.ok("rl.gradient(f, 2.0)") == (12.0,)


def test_a_rule_that_followed_its_name_gives_no_wrong_gradient(notebook):
    """The edited function has another value than the rule: an error of its own, until either is put right."""
    notebook.ok(SQUARE)
    notebook.ok(SQUARE_RULE)
    notebook.ok("def f(x): return x**3")
    for cell in ("rl.gradient(f, 1.0)", "%gradient f(1.0)", "rl.gradient(lambda x: 2 * f(x), 2.0)"):
        shown = notebook.fails(cell)
        assert "its rule f_rrule (cell In [3]) gives a different value" in shown
    notebook.ok(SQUARE)
    assert notebook.ok("rl.gradient(f, 3.0)") == (6.0,)
    notebook.ok("def f(x): return x**3")
    notebook.ok("rl.remove_rule(f)")
    notebook.ok("def f(x): return x**3")
    assert notebook.text == "" and notebook.ok("rl.gradient(f, 2.0)") == (12.0,)


def test_other_parameters_are_told_once(notebook):
    """No cell after that has a word of it, and nothing of an event's callback."""
    notebook.ok(SQUARE)
    notebook.ok(SQUARE_RULE)
    notebook.ok("def f(x, y): return x * y")
    assert notebook.text.startswith("f was redefined; the rule f_rrule (cell In [3]) no longer fits")
    assert notebook.text.count("\n") == 1
    notebook.ok("1")
    assert notebook.text == "Out[5]: 1\n"


@pytest.mark.parametrize("body", ["rule = lambda y, yh: (1.0, None)\n", "async def f(y, yh): pass\n"])
def test_a_rule_is_a_plain_def(notebook, body):
    """Neither a lambda nor an async function is one, and the message says what is wanted."""
    shown = notebook.fails(f"%%rrule mse\n{body}")
    assert shown.startswith("MagicError: %%rrule: the cell has no plain `def`;")


def test_builtins_are_functions_too(notebook):
    """A stub, a copy with a rule, a comparison, a method of a builtin class."""
    notebook.ok("%rule_stub len")
    notebook.ok(
        "%%rrule a --of abs\ndef a_rrule(x):\n    def a_pullback(s):\n        return rl.NoTangent(), -s\n"
        "    return abs(x), a_pullback\n"
    )
    assert notebook.ok("%grad_compare abs a --at -2.0").agree
    notebook.ok("%rule_stub complex.conjugate")
    notebook.ok("def sum(x): return x * x")
    notebook.ok("%%rrule sum\ndef sum_rrule(x): return x * x, None")
    notebook.ok("del sum")
    assert notebook.text.startswith("sum is gone; its rule sum_rrule")
    assert not notebook.ok("any(rule.function is sum_rrule for rule in rl.which_rule(sum).known)")


@pytest.mark.slow
def test_a_derived_rule_is_in_the_next_cell_and_runs_there(notebook, monkeypatch):
    """As a cell, as a line with --scalar, and for the shape of what stands after --at."""
    cells = []
    monkeypatch.setattr(notebook.shell, "set_next_input", cells.append)
    notebook.ok("def bell(x): return np.exp(-x * x)\ndef dot2(v): return v[0] * v[0] + 3 * v[1]\n")
    for line in ("bell", "bell --scalar", "dot2 --at np.array([1.0, 2.0])"):
        assert "PROVED" in str(notebook.ok(f"%rule_derive {line}"))
        notebook.ok(cells[-1])
    assert cells[0].startswith("%%rrule bell\n") and cells[1].startswith("%scalar_rule bell(x): ")
    assert notebook.ok("rl.rrule(dot2, np.array([1.0, 2.0]))[1](1.0)[1].tolist()") == [2.0, 3.0]


def test_a_function_without_a_formula_leaves_the_next_cell_alone(notebook, monkeypatch):
    """An error of ours, with the reason."""
    monkeypatch.setattr(notebook.shell, "set_next_input", lambda text: 1 / 0)
    notebook.ok("import time\ndef now(x): return time.time() * x\n")
    assert "a call of time.time(), which is compiled code" in notebook.fails("%rule_derive now")


def test_an_option_may_be_python_after_at(notebook):
    """A minus is a minus where it stands as one."""
    notebook.ok("h = run = 1.0\ndef f(x): return x * x\n")
    assert notebook.ok("%grad_compare f f -o c --at 3.0 -h") is notebook["c"]
    notebook.ok("%grad_compare f f --at 3.0 - -run")


def test_rules_of_one_function(notebook):
    """By a word of its name, each stated rule once."""
    shown = notebook.ok("%rules sin").to_dict()
    assert sorted(row["target"] for row in shown["built_in"]) == ["cmath.sin", "math.sin", "np.sin"]
    notebook.ok("%rules nothing_of_that_name")
    assert "There is no rule for a function with nothing_of_that_name" in notebook.text


# -- asking --------------------------------------------------------------------------------------------------


def test_gradient_of_a_call(notebook):
    """By its positional arguments; keywords are constants."""
    notebook.ok("def f(a, b, k=1.0):\n    return a * b * k\n")
    assert notebook.ok("%gradient f(2.0, 3.0, k=2.0)") == (6.0, 4.0)
    assert notebook.ok("%gradient -o kept f(*(2.0, 3.0), **{'k': 2.0})") == notebook["kept"] == (6.0, 4.0)
    notebook.ok("got = %gradient f(2.0, 3.0)")
    assert notebook["got"] == (3.0, 2.0)
    assert notebook.ok("%gradient (lambda x: x * x)(3.0)") == (6.0,)


def test_jacobian_of_a_call(notebook):
    """By its positional arguments, spelled as a call or as a function and a point."""
    notebook.ok("def f(a, b, k=1.0):\n    return a * b * k\n")
    by_a, by_b = notebook.ok("%jacobian f(np.array([1.0, 2.0]), 3.0, k=2.0)")
    assert by_a.tolist() == [[6.0, 0.0], [0.0, 6.0]] and by_b.tolist() == [2.0, 4.0]
    again = notebook.ok("%jacobian --mode reverse -o kept f --at np.array([1.0, 2.0]), 3.0, k=2.0")
    assert again is notebook["kept"] and again[0].tolist() == by_a.tolist()
    notebook.ok("got, _ = %jacobian f(np.array([1.0, 2.0]), 3.0)")
    assert notebook["got"].tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert notebook.ok("%jacobian (lambda x: x * x)(np.array([3.0]))")[0].tolist() == [[6.0]]
    assert notebook.ok("%jacobian (lambda x, s: x * len(s))(2.0, ' --at ')")[0].tolist() == [6.0]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("%jacobian", "give a call, as in %jacobian f(x)"),
        ("%jacobian 3", "give one call, as in %jacobian f(x), not `3`"),
        ("%jacobian nosuch --at 2.0", "there is no function nosuch"),
        ("%jacobian --mode sideways mse(y, yh)", "--mode must be forward or reverse, not 'sideways'"),
        ("%jacobian -o mse mse --at y, yh", "would overwrite mse"),
        ("%jacobian mse -o kept --at y, yh", "options come before mse: %jacobian -o kept mse --at y, yh"),
        ("%hessian mse(y, yh)", "give one argument by position"),
        ("%hessian mse(y, yh)", "the others by keyword, which holds them fixed: %hessian mse(y, yh=yh)"),
        ("%hessian mse --at y, yh", "give one argument by position"),
        ("%jacobian (lambda: 2.0)()", "called without arguments"),
        ("%jacobian (lambda x: (x, x))(2.0)", "returns a number or an array of numbers"),
        ("%hessian (lambda x: x * x)(y)", "Output is an array"),
    ],
)
def test_wrong_use_of_matrices(notebook, line, shown):
    """Is told in a line, and the cell fails."""
    assert shown in notebook.fails(line)


def test_a_semicolon_silences(notebook):
    """Also after -o and before a comment; the name is bound all the same."""
    notebook.ok("def f(a):\n    return a * a\n")
    assert notebook.ok("%gradient -o kept f(2.0);") is None and notebook["kept"] == (4.0,)
    assert notebook.ok("%gradient f(2.0);  # quiet") is None


def test_braces_and_dollars_are_the_users(notebook):
    """The line is not expanded as a shell command would be."""
    notebook.ok("def f(p):\n    return p['a'] * 2.0\n")
    assert notebook.ok("%gradient f({'a': 3.0})") == ({"a": 2.0},)


def test_names_of_the_caller_are_seen(notebook):
    """A magic inside a function differentiates with the function's own variables."""
    notebook.ok(
        "def f(a):\n    return a * a\n"
        "def inner():\n    b = 5.0\n    return get_ipython().run_line_magic('gradient', 'f(b)')\n"
    )
    assert notebook.ok("inner()") == (10.0,)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%gradient", "%gradient: give a call, as in %gradient f(x)"),
        ("%gradient mse", "%gradient: give one call, not `mse`: %gradient mse(y, yh)"),
        ("%gradient mse(", "%gradient: cannot read the call `mse(`: '(' was never closed"),
        ("%gradient a = mse(y, yh)", "%gradient: the call must be one expression, not `a = mse(y, yh)`"),
        (
            "%gradient -o 3x mse(y, yh)",
            "%gradient: -o needs a name to keep the result under, not 3x",
        ),
        (
            "%grad_compare mse addone",
            "%grad_compare: give the arguments with --at, the last option: "
            "%grad_compare mse addone --at y, yh",
        ),
        ("%grad_compare mse --at y, yh", "%grad_compare: give F and F_CR, or LOSS --without F"),
        ("%grad_compare mse", "%grad_compare: give F and F_CR, or LOSS --without F"),
        ("%grad_compare mse mse --without mse", "%grad_compare: give F and F_CR, or LOSS --without F"),
        ("%grad_compare mse nosuch", "%grad_compare: there is no function nosuch"),
        ("%grad_compare mse --without nosuch", "%grad_compare: there is no function nosuch"),
        ("%grad_bench mse y", "%grad_bench: y is an ndarray, which cannot be called"),
        ("%grad_bench mse mse --rounds 0", "%grad_bench: --rounds must be at least 1, not 0"),
        ("%rule_lab mse nosuch", "%rule_lab: there is no function nosuch"),
        ("%grad_compare mse nope --at y", "%grad_compare: there is no function nope"),
        ("%grad_compare mse y --at y", "%grad_compare: y is an ndarray, which cannot be called"),
        (
            "%grad_compare mse addone --at y,, yh",
            "%grad_compare: cannot read the arguments after --at `y,, yh`",
        ),
        (
            "%grad_compare mse addone --at y) + (yh",
            "%grad_compare: the arguments after --at must be one argument list",
        ),
        ("%grad_compare mse 'addone --at y", "%grad_compare: a quotation mark is not closed: mse 'addone"),
        (
            "%grad_bench mse addone --rounds many --at y",
            "%grad_bench: --rounds must be a whole number, not many",
        ),
        ("%grad_bench mse mse --rounds 0 --at y, yh", "%grad_bench: --rounds must be at least 1, not 0"),
        ("%grad_refresh never", "%grad_refresh: MODE must be now, auto or manual, not 'never'"),
        ("%rule_derive mse --at y, yh=yh", "%rule_derive: after --at, give positional arguments only"),
        ("%rule_derive mse -o mse", "%rule_derive: -o mse would overwrite mse, which the line names"),
        ("%rule_stub", "%rule_stub: give F, the function that needs a rule: %rule_stub F"),
        ("%rule_stub nope", "%rule_stub: there is no function nope"),
        ("%rules all any", "%rules: nothing is expected after its arguments: any"),
        ("%rrule mse", "%rrule is a cell magic: write %%rrule mse, and the code below it"),
        ("%%rrule mse\n\n", "%%rrule: the cell has no plain `def`; the rule is the last `def` of the cell"),
        ("%gradient -o class mse(y, yh)", "%gradient: -o needs a name to keep the result"),
        ("%gradient -o In mse(y, yh)", "%gradient: -o: In is one of IPython's own names"),
        ("%gradient -o _12 mse(y, yh)", "%gradient: -o: _12 is one of IPython's own names"),
        ("%gradient -o mse mse(y, yh)", "%gradient: -o mse would overwrite mse, which the line names"),
        ("%rules -o np -o _", "%rules: -o: _ is one of IPython's own names"),
        ("%rule_stub np.sin -o np", "%rule_stub: -o np would overwrite np, which the line names"),
        (
            "%grad_compare mse addone -o addone --at y",
            "%grad_compare: -o addone would overwrite addone, which the line names",
        ),
        (
            "%grad_compare mse mse --at y, yh --rounds 3",
            "%grad_compare: options come before --at, which takes the rest of the line: "
            "%grad_compare mse mse --rounds 3 --at y, yh",
        ),
        (
            "%rule_lab mse mse --at y, yh --run",
            "%rule_lab: options come before --at, which takes the rest of the line: "
            "%rule_lab mse mse --run --at y, yh",
        ),
        (
            "%grad_compare mse mse --at y, yh -o c",
            "%grad_compare: options come before --at, which takes the rest of the line: "
            "%grad_compare mse mse -o c --at y, yh",
        ),
        (
            "%grad_compare mse mse y, yh",
            "%grad_compare: arguments come after --at: %grad_compare mse mse --at y, yh",
        ),
        ("%grad_compare mse mse --a y, yh", "%grad_compare: there is no option --a; did you mean --at?"),
        ("%gradient np(3.0)", "%gradient: np is a module, which cannot be called"),
        ("%gradient {1}(2.0)", "%gradient: {1} is a set, which cannot be called"),
        ("%adjoint 3", "%adjoint: give one call, as in %adjoint f(x), not `3`"),
    ],
)
def test_wrong_use_is_one_line(notebook, line, words):
    """What was typed, what is wrong, and a caret where it cannot be read; the cell fails."""
    shown = notebook.fails(line)
    assert shown.startswith(f"MagicError: {words}")
    assert shown.count("\n") == (3 if "cannot read" in words else 1)


def test_an_error_of_the_function_keeps_its_traceback(notebook):
    """The user's frames are there, ours are hidden."""
    notebook.ok("def f(a):\n    return a * missing\n")
    shown = notebook.fails("%gradient f(2.0)")
    assert "NameError" in shown and "magics.py" not in shown


def test_our_errors_are_shown_in_six_lines_with_the_stub(notebook):
    """From a magic and from plain Python alike."""
    for cell in ("%gradient addone(y)", "rl.gradient(addone, y)"):
        shown = notebook.fails(cell)
        assert shown.startswith(
            "MutationError: Mutating arrays is not supported -- called ndarray.__setitem__(float64[8])"
        )
        assert "%rule_stub addone" in shown
        assert "cell In [1], line 12, in addone: x[i] = x[i] + 1" in shown
        assert shown.rstrip().count("\n") < 6 and "Traceback" not in shown


def test_short_errors_can_be_switched_off(notebook):
    """%config RuleLab.short_errors = False shows the traceback again."""
    notebook.ok("%config RuleLab.short_errors = False")
    assert "Traceback (most recent call last)" in notebook.fails("rl.gradient(addone, y)")
    notebook.ok("%config RuleLab.short_errors = True")
    assert "Traceback" not in notebook.fails("rl.gradient(addone, y)")


def test_the_stub_is_put_in_the_next_cell(notebook):
    """A skeleton that runs as it is and says what is missing when it is used."""
    notebook.ok("%rule_stub mse")
    stub = notebook.shell.rl_next_input
    assert stub.startswith("%%rrule mse\ndef mse_rrule(y, yh):\n    ")
    notebook.ok(stub)
    assert "NotImplementedTangentError" in notebook.fails("rl.gradient(mse, y, yh)")


def test_a_rule_for_a_function_that_writes_to_its_argument_is_refused(notebook):
    """When that is seen, which is the first time it runs."""
    notebook.ok("%rule_stub addone")
    notebook.ok(notebook.shell.rl_next_input)
    shown = notebook.fails("rl.gradient(addone, y.copy())")
    assert "RuleEffectsError: the rrule addone_rrule or addone itself changes its argument x" in shown


def test_rules_are_listed_with_their_cells(notebook):
    """Yours, and the number of the built-in ones."""
    notebook.ok(MSE_RULE)
    shown = notebook.ok("%rules")
    assert re.search(r"mse_cr_rrule +cell In \[2\], line 2, in mse_cr_rrule", str(shown))
    assert len(shown.built_in) > 80


def test_adjoint_is_python(notebook):
    """The compiled pass as text that compiles."""
    source = notebook.ok("%adjoint mse(y, yh)")
    compile(source, "pass", "exec")
    assert "def " in notebook.text


def test_refresh_says_what_was_stale_and_why(notebook):
    """In manual mode the old answer is used until %grad_refresh names and drops it."""
    notebook.ok("def g(x):\n    return x * x\ndef loss(x):\n    return 3.0 * g(x)\n")
    try:
        assert str(notebook.ok("%grad_refresh manual")).startswith("Mode manual.")
        assert notebook.ok("%gradient loss(2.0)") == (12.0,)
        notebook.ok(
            "%%rrule g\ndef g_rrule(x):\n    def g_pullback(s):\n        return rl.NoTangent(), 100.0 * s\n"
            "    return x * x, g_pullback\n"
        )
        assert notebook.ok("%gradient loss(2.0)") == (12.0,)
        shown = notebook.ok("%grad_refresh")
        assert [s.function for s in shown.stale] == ["g"]
        assert "g           float        a rule was defined at cell In [5], line 2, in g_rrule" in str(shown)
        assert notebook.ok("%gradient loss(2.0)") == (300.0,)
    finally:
        notebook.ok("%grad_refresh auto")


def test_a_stale_pass_of_arrays_is_told_by_their_dtype(notebook):
    """As a person calls them, not as the machine stores them."""
    notebook.ok(MSE_RULE)
    notebook.ok("def loss(p):\n    return 2.0 * mse_cr(p, yh)\n%gradient loss(y)")
    try:
        notebook.ok("%grad_refresh manual")
        notebook.ok(MSE_RULE)
        shown = notebook.ok("%grad_refresh")
        assert [s.signature for s in shown.stale] == ["ndarray of float64, ndarray of float64"]
    finally:
        notebook.ok("%grad_refresh auto")


# -- comparing -----------------------------------------------------------------------------------------------


def test_compare_shows_both_gradients_and_a_verdict(notebook):
    """A right rule agrees; every face of the result says so."""
    notebook.ok(MSE_RULE)
    found = notebook.ok("%grad_compare mse mse_cr -o kept --at y, yh")
    assert found.agree and found is notebook["kept"] and found.refused is None
    assert str(found).startswith("Right: mse and mse_cr agree ") and "gradient of yh" in notebook.text


def test_compare_of_a_rule_that_ignores_its_cotangent(notebook):
    """It is right for the seed 1, and is told."""
    notebook.ok(MSE_RULE.replace(" * out_bar", ""))
    assert "the rule ignores its cotangent: back(2) equals back(1)" in str(
        notebook.ok("%grad_compare mse mse_cr --at y, yh")
    )


def test_compare_with_finite_differences_where_the_function_is_refused(notebook):
    """addone writes to its argument; its column is finite differences, and y stays as it was."""
    notebook.ok(
        "%%rrule addone_cr --of addone\ndef addone_cr_rrule(x):\n    x = x + 1\n"
        "    def addone_cr_pullback(s):\n        return rl.NoTangent(), 2 * x * s\n"
        "    return np.sum(x ** 2), addone_cr_pullback\n"
    )
    found = notebook.ok("%grad_compare addone addone_cr --at y")
    assert found.agree and found.refused.startswith(
        "addone is refused by the AD, so its column is finite differences (MutationError: Mutating arrays"
    )
    assert notebook["y"][0] == 0.0


def test_compare_a_loss_with_and_without_a_rule(notebook):
    """The whole loss, once with f's rule and once without."""
    notebook.ok(MSE_RULE)
    notebook.ok("def loss(w):\n    return 2.0 * mse_cr(w * y, yh)\n")
    found = notebook.ok("%grad_compare loss --without mse_cr --at 0.5")
    assert found.agree and found.left_name == "loss without the rule of mse_cr"
    notebook.ok(MSE_RULE.replace("g, -g", "-g, g"))
    assert not notebook.ok("%grad_compare loss --without mse_cr --at 0.5").agree


def test_arguments_after_at_are_an_argument_list(notebook):
    """A leading minus, keywords, dicts, quotes, stars."""
    notebook.ok("def f(x, y, k, s='a'):\n    return x * y * k['a']\n")
    found = notebook.ok("%grad_compare f f --at -2.0, *[3.0], k={\"a\": -2}, s=' --at ;'")
    assert found.gradients[0].left == -6.0 and found.gradients[1].left == 4.0


def test_bench_shows_both_and_who_is_faster(notebook):
    """A rule with a vectorised pullback and primal is faster than the loop."""
    notebook.ok(MSE_RULE.replace("out = mse(y, yh)", "out = float(np.mean((y - yh) ** 2))"))
    notebook.ok("big = np.arange(2000.0)")
    found = notebook.ok("%grad_bench mse mse_cr --rounds 10 -o kept --at big, big + 1.0")
    assert found.verdict == "faster" and found is notebook["kept"]
    assert "gradient of mse_cr is faster than the gradient of mse" in notebook.text
    assert "mse itself, no gradient" in notebook.text


def test_ctrl_c_shows_what_there_is_and_stops_the_rest(notebook, monkeypatch):
    """The rounds so far are shown and kept; the cell fails with one line."""
    timed = importlib.import_module("rulelab.bench.rounds")
    real, count = timed.seconds_per_call, iter(range(10**6))

    def stopping(*args):
        if next(count) == 20 * 3 * timed.BLOCKS:
            raise KeyboardInterrupt
        return real(*args)

    notebook.ok(MSE_RULE)
    monkeypatch.setattr(timed, "seconds_per_call", stopping)
    shown = notebook.fails("%grad_bench mse mse_cr -o kept --at y, yh")
    assert "Time of one call" in shown and notebook["kept"].interrupted
    assert "Interrupted: %grad_bench was stopped after 20 of 60 rounds; the table shows these" in shown
    assert "Traceback" not in shown


def test_profile_shows_the_lines_beside_the_source(notebook):
    """The call as it was typed, the cell's own lines and numbers, and the object under a name."""
    found = notebook.ok("%grad_profile --seconds 0.02 -o kept mse(y, yh)")
    assert found is notebook["kept"] and found.call == "mse(y, yh)"
    assert "mse(y, yh): " in notebook.text and "mse, cell In [1], line 4: " in notebook.text
    row = next(line for line in notebook.text.splitlines() if line.startswith("7 "))
    assert row.startswith("7               total += (y[i] - yh[i]) ** 2  8 ")


def test_profile_of_a_function_that_has_a_rule_and_of_one_that_calls_it(notebook):
    """The first has no lines; the second says at which line the rule answered."""
    notebook.ok(MSE_RULE)
    assert "answered by the rule mse_cr_rrule (cell In [2], line 2" in str(
        notebook.ok("%grad_profile --seconds 0.01 mse_cr(y, yh)")
    )
    notebook.ok("def loss(w):\n    return mse_cr(w * y, yh)\n")
    assert "rule mse_cr_rrule" in str(notebook.ok("%grad_profile --seconds 0.01 loss(2.0)"))


def test_profile_wrong_use_and_refusals(notebook):
    """One line for wrong use, the AD's own words for what it refuses."""
    shown = notebook.fails("%grad_profile --seconds 0 mse(y, yh)")
    assert "--seconds must be a positive number of seconds, not 0" in shown
    assert "%grad_profile: give a call, as in %grad_profile f(x)" in notebook.fails("%grad_profile")
    assert "Mutating arrays is not supported" in notebook.fails("%grad_profile addone(y)")


def test_ctrl_c_in_a_profile_shows_the_lines_there_are(notebook, monkeypatch):
    """The table, one line, and the partial result under its name."""
    profile = importlib.import_module("rulelab.bench.profile")
    real, count = profile.Profiling._round, iter(range(10**6))

    def stopping(self):
        if next(count) == 3:
            raise KeyboardInterrupt
        real(self)

    monkeypatch.setattr(profile.Profiling, "_round", stopping)
    shown = notebook.fails("%grad_profile -o kept mse(y, yh)")
    assert "total += (y[i]" in shown and notebook["kept"].interrupted
    assert "%grad_profile was stopped after 3 rounds; the table shows the results so far" in shown
    assert "Traceback" not in shown


def test_symbolic_verdict(notebook):
    """A scalar rule is proved; a wrong one is refuted."""
    notebook.ok("def area(w):\n    return w * w\n")
    rule = (
        "%%rrule area_cr --of area\ndef area_cr_rrule(w):\n    def area_cr_pullback(s):\n"
        "        return rl.NoTangent(), 2 * w * s\n    return w * w, area_cr_pullback\n"
    )
    notebook.ok(rule)
    assert "PROVED" in str(notebook.ok("%rule_symbolic area_cr"))
    notebook.ok(rule.replace("2 * w", "3 * w"))
    assert "REFUTED" in str(notebook.ok("%rule_symbolic area_cr --at 2.0"))


# -- calls that have nothing to differentiate by -------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "%gradient mse(y=y, yh=yh)",
        "%grad_compare mse mse_cr --at y=y, yh=yh",
        "%grad_compare mse --without mse_cr --at y=y, yh=yh",
        "%grad_bench mse mse_cr --at y=y, yh=yh",
        "%grad_profile mse(y=y, yh=yh)",
        "%rule_lab mse mse_cr --no-widget --at y=y, yh=yh",
    ],
)
def test_keywords_alone_are_no_gradient(notebook, line):
    """A line says so and what to write; nothing is called agreement or timed."""
    notebook.ok(MSE_RULE)
    assert notebook.fails(line) == (
        "NotDifferentiableError: mse is called without a positional argument, and keywords are constants: "
        "there is nothing to differentiate with respect to\ndo: give them by position: mse(y, yh)\n"
    )


def test_columns_are_called_what_was_typed(notebook):
    """Methods, lambdas and partials go by the names that the user has for them."""
    notebook.ok(
        "from functools import partial\nclass K:\n    def m(self, x):\n        return x * x\n"
        "k, lam, part = K(), lambda x: x * x, partial(lambda p, x: x ** p, 2)\n"
    )
    assert notebook.ok("%grad_compare k.m lam --at 2.0").sentence == "Right: k.m and lam agree exactly."
    assert "of part" in notebook.ok("%grad_bench lam part --rounds 1 --at 2.0").sentence


# -- errors of the author's own ------------------------------------------------------------------------------

BOOMS = """\
def boom(x):
    raise KeyError("plain")
def late(x):
    if rl.isderiving():
        raise KeyError("derived")
    return x * x
def ruled(x):
    return x * x
@rl.rrule_for(ruled)
def ruled_rrule(x):
    raise KeyError("rule")
def backed(x):
    return x * x
@rl.rrule_for(backed)
def backed_rrule(x):
    def backed_pullback(s):
        raise KeyError("pullback")
    return x * x, backed_pullback
def outer(x):
    return ruled(x) + backed(x)
def fine(x):
    return x * x
"""


@pytest.mark.every(11)
@pytest.mark.every(3)
@pytest.mark.parametrize("f", ["boom", "ruled", "backed", "outer"])
@pytest.mark.parametrize(
    "line",
    [
        "%gradient {f}(2.0)",
        "%grad_compare {f} fine --at 2.0",
        "%grad_compare fine {f} --at 2.0",
        "%grad_compare {f} --without fine --at 2.0",
        "%grad_bench {f} fine --at 2.0",
        "%grad_bench fine {f} --at 2.0",
        "%grad_profile {f}(2.0)",
        "%rule_lab {f} fine --no-widget --at 2.0",
        "%rule_lab fine {f} --no-widget --at 2.0",
        "rl.compare(fine, {f}, 2.0)",
        "rulelab.bench.first_gradient({f}, 2.0)",
        "rulelab.bench.scaling({f}, fine, lambda n: (2.0,), [1])",
        "rulelab.bench.scaling(fine, {f}, lambda n: (2.0,), [1])",
        "rulelab.bench.gradient_duel(fine, {f}, 2.0)",
        "rulelab.bench.duel(lambda: {f}(2.0), lambda: rl.gradient({f}, 2.0))",
        "rulelab.bench.measure(lambda: rl.gradient({f}, 2.0))",
    ],
)
def test_only_the_authors_frames_are_shown(notebook, f, line):
    """An error in a function or its rule is shown at the author's lines, without ours between."""
    notebook.ok(BOOMS)
    shown = notebook.fails(f"import rulelab.bench\n{line.format(f=f)}")
    assert "KeyError: " in shown
    frames = frames_of(shown)
    assert not [row for row in frames if row.startswith("File ")]
    assert 2 <= len(frames) <= 4


def frames_of(shown):
    """The places in a traceback; early versions of IPython show the function that runs a magic too."""
    frames = [row for row in shown.splitlines() if row.startswith("File ") or row.startswith("Cell ")]
    return [row for row in frames if "IPython/core/interactiveshell.py" not in row]


@pytest.mark.parametrize("where", ["rule", "pullback"])
def test_only_the_authors_frames_are_shown_at_later_calls(notebook, where):
    """A rule that has answered before is called by a quicker way, which is not shown either."""
    notebook.ok(
        "failing = ''\ndef g(x):\n    return x * x\n@rl.rrule_for(g)\ndef g_rrule(x):\n"
        "    if failing == 'rule':\n        raise KeyError('late')\n    def back(s):\n"
        "        if failing == 'pullback':\n            raise KeyError('late')\n"
        "        return rl.NoTangent(), 2 * x * s\n    return x * x, back\n"
    )
    notebook.ok("rl.gradient(g, 2.0), rl.gradient(g, 2.0)")
    shown = notebook.fails(f"failing = {where!r}\n%gradient g(2.0)")
    assert "late" in shown and not [row for row in frames_of(shown) if row.startswith("File ")]


# -- what differs is not only timed --------------------------------------------------------------------------


def test_a_duel_of_two_that_differ_says_so(notebook):
    """Faster is no gain where the gradient is another one; rounding is no difference."""
    notebook.ok(MSE_RULE)
    notebook.ok(MSE_RULE.replace("mse_cr", "mse_bad").replace("g, -g", "g, g"))
    shown = notebook.ok("%grad_bench mse mse_bad --rounds 1 --at y, yh")
    assert shown.remark == "The two differ in the gradient of yh: compare before you time."
    assert shown.remark in str(shown)
    assert type(shown).from_dict(shown.to_dict()).remark == shown.remark
    assert notebook.ok("%grad_bench mse mse_cr --rounds 1 --at y, yh").remark is None
    notebook.ok("def twice(x):\n    return 2 * np.sum(x)\n")
    assert notebook.ok("%grad_bench addone twice --rounds 1 --at np.ones(3)").remark is None  # refused


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%adjoint msee(y, yh)", "%adjoint: there is no function msee; did you mean mse?"),
        ("%gradient np.summ(y)", "%gradient: there is no function np.summ; did you mean np.sum?"),
        ("%gradient mse(y, yhh)", "%gradient: yhh is not defined; did you mean yh?"),
        ("%gradient mse(y, yh=nosuchthing)", "%gradient: nosuchthing is not defined"),
        ("%grad_compare mse mse_cr --at y, yhh", "%grad_compare: yhh is not defined; did you mean yh?"),
        ("%rule_lab mse_cr", "%rule_lab: give F and F_CR: %rule_lab mse mse_cr --at y, yh"),
        ("%grad_bench mse", "%grad_bench: give F and F_CR: %grad_bench mse mse_cr --at y, yh"),
        (
            "%grad_bench --rounds 3 mse_cr --at y, y",
            "%grad_bench: give F and F_CR: %grad_bench --rounds 3 mse mse_cr --at y, y",
        ),
        (
            "%grad_compare mse_cr --at y, yh",
            "%grad_compare: give F and F_CR: %grad_compare mse mse_cr --at y, yh",
        ),
        ("%scalar_rule msee(y, yh): y, yh", "%scalar_rule: there is no function msee; did you mean mse?"),
    ],
)
def test_a_name_that_is_not_there_and_half_a_pair_are_told_with_what_was_meant(notebook, cell, words):
    """In a line, without a traceback."""
    notebook.ok(MSE_RULE)
    assert words in " ".join(notebook.fails(cell).split())


def test_a_name_that_python_finds_is_not_refused(notebook):
    """Builtins, and what is bound within the expression."""
    notebook.ok("%gradient abs(y[0])")
    notebook.ok("%gradient sum([v * v for v in y])")
    notebook.ok("%gradient (lambda t: t * t)(y[0])")


def test_the_source_of_a_rule_stated_by_partial_derivatives_is_its_authors(notebook):
    """Not that of the function which makes a rule of them."""
    notebook.ok("def half(x):\n    return x / 2\n")
    notebook.ok("rl.scalar_rule(half, lambda out, x: 0.5)")
    notebook.ok("%adjoint half(3.0)")
    assert "lambda out, x: 0.5" in notebook.text and "_check_arity" not in notebook.text


def test_what_was_undone_is_told_in_sentences(notebook):
    """And that there is nothing more: the extension is there already."""
    notebook.ok(MSE_RULE)
    notebook.ok("%rule_undo mse_cr")
    assert "The last change to the rules of mse_cr is undone." in notebook.text
    assert "Removed: " in notebook.text and "There was nothing to restore." in notebook.text
    said = notebook.fails("%rule_undo mse_cr")
    assert "load_ext" not in said and "use rl.remove_rule(mse_cr) to remove all of yours" in said


def test_a_word_that_no_rule_has_is_told_with_one_that_some_have(notebook):
    notebook.ok("%rules hypott")
    assert "with hypott as a word in its name; did you mean hypot?" in notebook.text
