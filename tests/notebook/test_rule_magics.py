"""`%%frule`, `%scalar_rule`, `%which_rule`, `%rule_undo`: what they do, what they say, what stays whole."""

import numpy as np
import pytest

from .conftest import MSE_RULE

FRULE = """\
%%frule f
def f_frule(tangents, x):
    return x * x, 2 * x * tangents[1]
"""
F = "def f(x):\n    return x * x\n"


# -- %%frule -------------------------------------------------------------------------------------------------


def test_a_forward_rule_in_a_cell(notebook):
    """It counts at once, in forward mode and, derived, in reverse."""
    notebook.ok(F)
    notebook.ok(FRULE.replace("2 * x", "1000 * x"))
    assert notebook.text == "Out[3]: f now has the forward rule f_frule.\n"
    assert notebook.ok("rl.pushforward(f, 3.0)(1.0)") == 3000.0
    assert notebook.ok("rl.gradient(f, 3.0)") == (3000.0,)


def test_a_forward_rule_that_replaces_another_says_so(notebook):
    """With the cell of the one that is gone."""
    notebook.ok(F)
    notebook.ok(FRULE)
    notebook.ok(FRULE)
    assert "It replaces f_frule of cell In [3], line 2." in notebook.text


BY_TYPES = """\
%%rrule f
def f_{name}(x{note}):
    return x * x, lambda y_bar: (rl.NoTangent(), {by} * x * y_bar)
"""


def test_a_rule_beside_which_another_answers_says_so(notebook):
    """An earlier one for floats, as a derived one is, goes on answering: with its cell and a way out."""
    notebook.ok(F)
    notebook.ok(BY_TYPES.format(name="derived", note=": float", by=10))
    assert "still" not in notebook.text
    notebook.ok(BY_TYPES.format(name="own", note="", by=20))
    (line,) = [line for line in notebook.text.splitlines() if "still" in line]
    assert line == (
        "For (x: float) the earlier f_derived of cell In [3] is still used: its types are narrower. "
        "To keep only the new rule, run rl.remove_rule(f) and then this cell again."
    )
    assert notebook.ok("rl.gradient(f, 1.0)") == (10.0,)
    notebook.ok("rl.remove_rule(f)")
    notebook.ok(BY_TYPES.format(name="own", note="", by=20))
    assert "still" not in notebook.text
    assert notebook.ok("rl.gradient(f, 1.0)") == (20.0,)


def test_a_rule_for_some_types_says_which_one_answers_for_the_others(notebook):
    """An earlier one for everything; one for other types has nothing to do with it."""
    notebook.ok(F)
    notebook.ok(BY_TYPES.format(name="own", note="", by=20))
    notebook.ok(BY_TYPES.format(name="for_floats", note=": float", by=10))
    assert "For all but (x: float) the earlier f_own of cell In [3] is still used." in notebook.text
    notebook.ok("rl.remove_rule(f)")
    notebook.ok(BY_TYPES.format(name="for_floats", note=": float", by=10))
    notebook.ok(BY_TYPES.format(name="for_arrays", note=": np.ndarray", by=10))
    assert "still" not in notebook.text


def test_scalar_and_forward_rules_say_who_answers_too(notebook):
    """In each mode that both have."""
    notebook.ok(F)
    notebook.ok(FRULE.replace("tangents, x", "tangents, x: float"))
    notebook.ok("%scalar_rule f(x): 30 * x")
    assert "For (x: float) the earlier f_frule of cell In [3] is still used" in notebook.text


@pytest.mark.parametrize("magic", ["%%frule f", "%%scalar_rule f"])
@pytest.mark.parametrize(
    "broken", ["    oops(", "1 / 0\n", "raise KeyboardInterrupt\n", "x = 1\nf_frule = 3\n"]
)
def test_a_failing_cell_leaves_the_old_rule_whole(notebook, magic, broken):
    """A syntax error, an error, Ctrl-C and a cell that unmakes its own function come before the change."""
    notebook.ok(F)
    notebook.ok(FRULE)
    old = notebook.ok("rl.which_rule(f, 1.0, mode='frule').rule")
    body = FRULE.partition("\n")[2]
    notebook.fails(f"{magic}\n{body}{broken}")
    assert notebook.ok("rl.which_rule(f, 1.0, mode='frule').rule") is old
    assert not notebook.ok("rl.which_rule(f, 1.0)")


def test_it_stays_with_the_old_function(notebook):
    """A notice says so, once; the new function is differentiated by its own code."""
    notebook.ok(F)
    notebook.ok(FRULE)
    notebook.ok(F.replace("x * x", "x * x * x"))
    assert notebook.text == (
        "f was redefined; its frule f_frule (cell In [3]) stays with the old one. "
        "Run its cell again if it is right for the new one.\n"
    )
    assert notebook.ok("rl.gradient(f, 2.0)") == (12.0,)
    assert "defined anew" not in notebook.text


# -- %scalar_rule --------------------------------------------------------------------------------------------


def test_both_rules_in_one_line(notebook):
    """In the arguments and in `out`, the value; arrays are broadcast, second derivatives go through it."""
    notebook.ok("def f(x, y):\n    return np.exp(x * y)\n")
    notebook.ok("%scalar_rule f(x, y): y*out, x*out")
    assert notebook.text == "Out[3]: f now has the scalar rule f(x, y): y*out, x*out.\n"
    notebook.ok("def total(x, y):\n    return np.sum(f(x, y))\n")
    x_bar, y_bar = notebook.ok("rl.gradient(total, np.array([0.5, 1.0]), 2.0)")
    assert np.allclose(x_bar, 2 * np.exp([1.0, 2.0])) and np.isclose(y_bar, 0.5 * np.e + np.exp(2.0))
    assert np.isclose(notebook.ok("rl.hessian(lambda x: f(x, 3.0), 1.0)"), 9 * np.exp(3.0))
    assert "at cell In [3], line 1, in <lambda>" in repr(notebook.ok("rl.which_rule(f, 1.0, 2.0)"))


@pytest.mark.parametrize(
    ("line", "call", "partials"),
    [
        ("g(x): 3*x**2", "g(2.0)", (12.0,)),
        ("g(x) : k['a:b'] * x", "g(2.0)", (14.0,)),
        ("g(x,): (lambda t: t * out)(x)", "g(2.0)", (16.0,)),
        ("h(*xs): xs[1], xs[0]", "h(2.0, 3.0)", (3.0, 2.0)),
        ("box.g(x): 5.0", "box.g(2.0)", (5.0,)),
    ],
)
def test_how_the_line_is_read(notebook, line, call, partials):
    """The first colon after the arguments ends them; names are those of the namespace."""
    notebook.ok(
        "def g(x):\n    return x**3\ndef h(*xs):\n    return xs[0] * xs[1]\nk = {'a:b': 7.0}\n"
        "class box:\n    @staticmethod\n    def g(x):\n        return x**3\n"
    )
    notebook.ok(f"%scalar_rule {line}")
    name, _, args = call.rstrip(")").partition("(")
    assert notebook.ok(f"rl.gradient({name}, {args})") == partials


def test_the_partials_in_a_cell(notebook):
    """The last function gives them; the first argument is the value."""
    notebook.ok("def f(x):\n    return np.tanh(x)\n")
    notebook.ok("%%scalar_rule f\ndef f_partials(y, x):\n    return 1 - y * y\n")
    assert notebook.text == "Out[3]: f now has the scalar rule f_partials.\n"
    assert notebook.ok("rl.gradient(f, 0.5)")[0] == pytest.approx(1 - np.tanh(0.5) ** 2)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("f", "give the partial derivatives, as in %scalar_rule f(x, y): y*out, x*out"),
        ("f(x):", "give the partial derivatives"),
        ("f(x, 2): x", "the arguments must be plain names, as in %scalar_rule f(x, y), not `(x, 2)`"),
        ("f(lambda): x", "the arguments must be plain names"),
        ("f(x, x): x", "each argument needs a name of its own"),
        ("f(out): out", "`out` is the value of f"),
        ("f(x): x +", "cannot read the partial derivatives `x +`"),
        ("f(x): x) + (x", "cannot read the partial derivatives"),
        ("f(x): x = 3", "must be one expression, not `x = 3`"),
        ("nope(x): x", "there is no function nope"),
        ("y(x): x", "y is an ndarray, which cannot be called"),
        ("-o f f(x): x", "-o f would overwrite f"),
    ],
)
def test_wrong_use_is_one_line_and_changes_nothing(notebook, line, words):
    """Nothing of the line is run where it cannot be read."""
    notebook.ok(F)
    shown = notebook.fails(f"%scalar_rule {line}")
    assert shown.startswith("MagicError: ") and words in shown
    assert shown.count("\n") == (3 if "cannot read" in words else 1)  # and a caret
    assert not notebook.ok("rl.has_rrule(f)")


def test_a_closure_is_refused_with_the_reason(notebook):
    """What it closes over would need a cotangent of its own."""
    notebook.ok("def make(k):\n    def inner(x):\n        return k * x\n    return inner\ng = make(2.0)\n")
    assert "it closes over k, which would need its own cotangent" in notebook.fails("%scalar_rule g(x): 2.0")


# -- %which_rule ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("mse(y, yh)", "the function mse"),
        ("np.sin(y)", "the ufunc np.sin"),
        ("np.add.reduce", "the method np.add.reduce of a ufunc"),
        ("y.sum()", "the method ndarray.sum, which the ndarray has"),
        ("Bar", "the class Bar: its constructor"),
        ("Bar.method", "the function Bar.method"),
        ("bar.method(1.0)", "the method Bar.method, which the Bar has"),
        ("bar", "the method Base.__call__ of the base class Base of Bar: for calls of a Bar"),
        ("abs", "the C function abs"),
    ],
)
def test_the_key_of_a_rule(notebook, text, key):
    """A function, a class, an instance, a base class, a method; nothing is called."""
    notebook.ok(
        "class Base:\n    def __call__(self, x):\n        1 / 0\n"
        "class Bar(Base):\n    def method(self, x):\n        1 / 0\nbar = Bar()\n"
    )
    found = notebook.ok(f"%which_rule {text}")
    assert found.key == key and f"Rules for this call belong to {key}." in notebook.text


def test_both_modes_and_what_is_derived(notebook):
    """A rule of one mode answers in the other, and it is said."""
    notebook.ok(MSE_RULE)
    found = notebook.ok("%which_rule mse_cr(y, yh)")
    assert found and "by mse_cr_rrule at cell In [2], line 2" in repr(found.reverse)
    assert "it is derived from the rrule mse_cr(y, yh) by mse_cr_rrule" in repr(found.forward)
    assert not notebook.ok("%which_rule mse(y, yh)") and "no rrule for mse(ndarray, ndarray)" in notebook.text
    assert "there is no function nope" in notebook.fails("%which_rule nope")


# -- %rule_undo ----------------------------------------------------------------------------------------------


def test_a_replaced_rule_comes_back(notebook):
    """And follows its name on; one step further back there was none."""
    notebook.ok(MSE_RULE)
    notebook.ok(MSE_RULE.replace("2 / len", "3 / len"))
    assert "It replaces mse_cr_rrule of cell In [2], line 2." in notebook.text
    assert notebook.ok("rl.gradient(mse_cr, y, yh)")[0][0] == pytest.approx(-3 / 8)
    notebook.ok("%rule_undo mse_cr")
    assert "Restored: mse_cr(y, yh) by mse_cr_rrule at cell In [2], line 2" in notebook.text
    assert notebook.ok("rl.gradient(mse_cr, y, yh)")[0][0] == pytest.approx(-2 / 8)
    notebook.ok("def mse(y, yh):\n    return np.mean((y - yh) ** 2)\n")
    assert "keeps its rule mse_cr_rrule (cell In [2])" in notebook.text
    notebook.ok("%rule_undo mse_cr")
    notebook.ok("%rule_undo mse_cr")
    assert not notebook.ok("rl.has_rrule(mse_cr)")
    assert "there is nothing to undo" in notebook.fails("%rule_undo mse_cr")


def test_what_was_taken_back_comes_back(notebook):
    """`rl.remove_rule` and `rl.opt_out` are changes, too; a scalar rule is one change."""
    notebook.ok(F)
    notebook.ok("%scalar_rule f(x): 1000*x")
    notebook.ok("rl.remove_rule(f)")
    assert notebook.ok("rl.gradient(f, 2.0)") == (4.0,)
    notebook.ok("%rule_undo f")
    assert notebook.ok("rl.gradient(f, 2.0)") == (2000.0,)
    notebook.ok("rl.opt_out(f)")
    assert notebook.ok("rl.gradient(f, 2.0)") == (4.0,)
    notebook.ok("%rule_undo f")
    notebook.ok("%rule_undo f")
    assert notebook.ok("rl.gradient(f, 2.0)") == (4.0,)


def test_a_rule_for_a_function_with_a_built_in_rule_says_what_it_stands_before(notebook):
    """And it can be undone."""
    notebook.ok("%scalar_rule np.cbrt(x): 1000.0")
    assert "It replaces the built-in cbrt_rrule." in notebook.text
    notebook.ok("%rule_undo np.cbrt")
    assert notebook.ok("rl.gradient(lambda x: np.cbrt(x), 8.0)") == (pytest.approx(1 / 12),)


@pytest.mark.slow
def test_rule_export_begins_where_the_function_was_last_asked(notebook, tmp_path, monkeypatch):
    """At the arguments of --at, which are remembered; a file that is there is refused at once."""
    monkeypatch.chdir(tmp_path)
    notebook.ok(MSE_RULE)
    report = notebook.ok("%rule_export mse_cr --to module 'kept_rules.py' --at y, yh")
    assert report and {path.name for path in tmp_path.iterdir()} == {"kept_rules.py", "test_kept_rules.py"}
    assert repr(float(notebook["y"][0])) in (tmp_path / "kept_rules.py").read_text()
    assert "kept_rules.py already exists" in notebook.fails("%rule_export mse_cr --to module kept_rules.py")
    assert "--at is for one function" in notebook.fails("%rule_export mse_cr mse --to module a.py --at y, yh")
    notebook.ok("%rule_check mse_cr")
    assert "the arguments are those of %rule_export in cell In [" in notebook.text
