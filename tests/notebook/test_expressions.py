"""How `%sym_check EXPR [== FORMULA]` is read: what is judged, what varies, and what is said of wrong use."""

import pytest

from rulelab.notebook.cells import MagicError
from rulelab.notebook.expressions import equation
from rulelab.notebook.names import free_names

from .conftest import MSE_RULE

NAMES = """\
import math
from math import sin, cos
a, n, done = 3.0, 3, True
def f(x, k=1):
    return k * x * x
"""


@pytest.fixture
def named(notebook):
    notebook.ok(NAMES)
    return notebook


# -- the two sides -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        ("f(x)", "f(x)", None),
        ("x**2 == 2*x", "x**2", "2*x"),
        ("(a + b) == (1, 1)", "a + b", "(1, 1)"),
        ("f(x == y) == g(x == 1)", "f(x == y)", "g(x == 1)"),
        ("f('a == b') == 2", "f('a == b')", "2"),
        ("x if x == 1 else 2", "x if x == 1 else 2", None),
        ("ä*ß == ß", "ä*ß", "ß"),
    ],
)
def test_the_one_equals_sign_outside_of_brackets_splits(text, left, right):
    """As Python reads the line, not as letters."""
    found = equation("%sym_check", text)
    assert (found.text, found.formula) == (left, right)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x < 1", "one `==` between it and a formula"),
        ("x == 1 == 2", "one `==` between it and a formula"),
        ("x*y == y, x", "must be a tuple in parentheses"),
        ("x ==", "cannot read the expression `x ==`"),
        ("x = 2", "must be one expression, not `x = 2`"),
    ],
)
def test_what_is_no_equation_is_said(text, said):
    """In one line, with a caret below where it cannot be read."""
    with pytest.raises(MagicError, match=r"^%sym_check: ") as raised:
        equation("%sym_check", text)
    told = str(raised.value)
    assert said in told and told.count("\n") == (2 if "cannot read" in said else 0)


def test_names_bound_within_do_not_vary():
    """Those of a comprehension, a lambda or a walrus are the expression's own."""
    assert free_names("[t * x for t in ts if t]") == ["x", "ts"]
    assert free_names("(lambda t, u=w: t + u + x)(y)") == ["w", "x", "y"]
    assert free_names("(t := x * x) + t") == ["x"]
    assert free_names("np.sum(x.T, axis=k)") == ["np", "x", "k"]


# -- what varies ---------------------------------------------------------------------------------------------


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("mse(y, yh)", ["y", "yh"]),
        ("mse(y * a, yh)", ["y", "a", "yh"]),
        ("f(2.0, k=3)", ["x"]),
        ("f(a)", ["x"]),
        ("f(-2)", ["x"]),
        ("x**2 * sin(x)", ["x"]),
        ("a * x**n", ["a", "x"]),
        ("y.sum()", ["y"]),
        ("np.where(a > 0, a, 0.0)", ["a"]),
        ("-a**3", ["a"]),
        ("--wrt n n*n*a", ["n"]),
        ("--wrt x,a a * x**n", ["x", "a"]),
        ('--wrt "x, a" a * x**n', ["x", "a"]),
        ("--wrt=x --seconds=3 a * x**n", ["x"]),
    ],
)
def test_what_varies(named, line, names):
    """The arguments of a call of names and numbers; else the names that hold floats, or nothing."""
    report = named.ok(f"%sym_check {line}")
    assert report.verdict.word == "PROVED", str(report)
    assert list(report.names) == names


def test_a_name_that_nothing_is_defined_for_is_any_number(named):
    """And the report says so, in case it was a slip; what is held is named, too."""
    report = named.ok("%sym_check --wrt x a * x**n == n * a * x**(n - 1)")
    assert report.verdict.word == "PROVED"
    assert report.notes[:2] == (
        "x is any real number: nothing of that name is defined",
        "held fixed: a = 3.0, n = 3",
    )


def test_names_of_a_function_are_seen_within_it(named):
    """The line is read where it stands, as by the other magics."""
    named.ok(
        "def check():\n"
        "    w, c, m = 2.0, 5.0, 2\n"
        "    line = 'c * w**m * a == (w**m * a, m * c * w * a, c * w**m)'\n"
        "    return get_ipython().run_line_magic('sym_check', line)\n"
        "report = check()"
    )
    assert named["report"].verdict.word == "PROVED" and named["report"].names == ("c", "w", "a")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "give an expression, as in %sym_check f(x)"),
        ("tan(x)", "tan is not defined: from math import tan, or np.tan"),
        ("nosuch(x)", "nosuch is not defined"),
        ("nosuch.sum()", "nosuch is not defined"),
        ("a == z", "z is not defined"),
        ("n * n", "no name in `n * n` holds a float or an array of them; use --wrt to say what varies"),
        ("f(2.0) == 4.0", "no name in `f(2.0)` holds a float"),
        ("a * x == x", "a, x vary: give a tuple of 2 formulas, or --wrt x to hold the rest"),
        ("--wrt q a * a", "there is no q in `a * a`"),
        ("--wrt 1 a * a", "--wrt takes names, as in --wrt x or --wrt x,y, not 1"),
        ("--wrt x,x a * x", "--wrt takes names"),
        ("--wrt done a * done", "done is a bool, which cannot vary"),
        ("--wrt f f(a)", "f is a function, which cannot vary"),
        ("--seconds 0 a * a", "--seconds must be a positive number of seconds, not 0"),
        ("--seconds nan a * a", "--seconds must be a positive number of seconds, not nan"),
        ("--seconds a * a", "--seconds must be a positive number of seconds, not a"),
        ("-o a a * a", "-o a would overwrite a, which the line names"),
        ("-o sin a == sin(a)", "-o sin would overwrite sin, which the line names"),
        ("--sizes 3 f(a)", "cannot read the expression `--sizes 3 f(a)`"),
        ("a*a -o r", "options come before the expression: %sym_check -o r a*a"),
        ("a*a --wrt a", "options come before the expression: %sym_check --wrt a a*a"),
    ],
)
def test_wrong_use_is_told_in_one_line(named, line, said):
    """And nothing has run."""
    named.ok("def f(x, k=1):\n    print('ran')\n    return k * x * x\n")
    shown = named.fails(f"%sym_check {line}")
    assert shown.startswith("MagicError: %sym_check: ") and said in shown, shown
    assert shown.count("\n") == (3 if "cannot read" in said else 1) and "ran" not in shown


# -- what is said --------------------------------------------------------------------------------------------


def test_a_formula_is_proved_or_refuted(named):
    """The point, both numbers and the difference are there, and the code gives the number it says."""
    assert "PROVED" in str(named.ok("%sym_check x**2 * sin(x) == 2*x*sin(x) + x**2*cos(x)"))
    report = named.ok("%sym_check x**2 * sin(x) == 2*x*sin(x) - x**2*cos(x)")
    assert report.verdict.word == "REFUTED" and report.arguments[0].difference.text == "2*x**2*cos(x)"
    assert "2*x*sin(x) - x**2*cos(x) as the derivative of x**2 * sin(x): wrong, REFUTED" in named.text
    code, _, said = report.verdict.counterexample.code.partition("# gives ")
    assert named.ok(code) == pytest.approx(float(said.split(",")[0]))


def test_a_wrong_rule_makes_a_wrong_gradient(named):
    """The program is judged with the rules that it has; the rule is named."""
    named.ok(MSE_RULE.replace("2 / len(y)", "3 / len(y)"))
    report = named.ok("%sym_check 2.0 * mse_cr(a * y, yh)")
    assert report.verdict.word == "REFUTED" and "made with your rule mse_cr" in " ".join(report.notes)
    named.ok(MSE_RULE)
    assert named.ok("%sym_check 2.0 * mse_cr(a * y, yh)").verdict.word == "PROVED"


def test_the_expression_runs_once_before_it_is_traced(named):
    """In this process; its output is shown once, and what it changes is changed once."""
    named.ok("def loud(x):\n    print('ran')\n    return x * x\n")
    named.ok("%sym_check loud(a) == 2 * a;")
    assert named.text.count("ran") == 1


def test_the_authors_error_is_the_authors(named):
    """It comes as by %gradient, with none of our frames."""
    named.ok("def broken(x):\n    return x / 0\n")
    shown = named.fails("%sym_check broken(a) == 1.0")
    assert "ZeroDivisionError" in shown and "derivatives.py" not in shown and "magics.py" not in shown


def test_text_is_never_evaluated_by_sympy(named):
    """A string stays a string: what SymPy would run as code is no code here."""
    shown = named.fails("%sym_check \"__import__('os').system('echo ran')\"")
    assert "no name in" in shown and "ran\n" not in shown
