"""Where an expression is no call of a function of its arguments, the magic says how it becomes one."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from rulelab.notebook.names import as_a_call, computed_arguments


@pytest.mark.parametrize(
    "text, call",
    [
        ("f(x)[0].sum()", "(lambda x: f(x)[0].sum())(x)"),
        ("f(x) + g(y, x)", "(lambda x, y: f(x) + g(y, x))(x, y)"),
        ("np.sum(w * x, axis=0)[0]", "(lambda w, x: np.sum(w * x, axis=0)[0])(w, x)"),
        ("sum(t * w for t in x)", "(lambda w, x: sum(t * w for t in x))(w, x)"),
        ("f(2.0)[0]", ""),
    ],
)
def test_the_names_that_stand_as_arguments_become_parameters(text, call):
    """Functions, modules, and what the expression binds itself stay as they are."""
    assert as_a_call(text) == call


def test_the_advice_can_be_pasted(notebook):
    """It gives the gradient that was meant."""
    notebook.ok("import numpy as np\ndef f(x): return np.stack([x, x * x])\nx = np.arange(3.0)")
    for magic in ("%gradient", "%grad_check", "%jacobian"):
        told = notebook.fails(f"{magic} f(x)[1].sum()")
        assert "has no arguments to differentiate with respect to; name them" in told
        line = told[told.index(f"{magic} (lambda") :].split("\n")[0]
        assert line == f"{magic} (lambda x: f(x)[1].sum())(x)"
    (g,) = notebook.ok("%gradient (lambda x: f(x)[1].sum())(x)")
    assert np.array_equal(g, [0.0, 2.0, 4.0])
    assert "make it one: %jacobian (lambda x: f(x)[1])(x)" in notebook.fails("%jacobian f(x)[1]")


SOFTMAX = """\
import numpy as np
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)
x, w = np.array([0.3, -1.2, 0.7]), 1.5"""


@pytest.mark.parametrize(
    "call, computed",
    [
        ("f(x)", []),
        ("f(x[1:], x.T, x.copy(), n)", []),
        ("f(n - 1, np.ones(n))", []),
        ("f(-x)", ["-x"]),
        ("f(2 * x, g(y=x), n)", ["2 * x", "g(y=x)"]),
        ("f(n, k=g(x))", []),
    ],
)
def test_arguments_that_are_computed_from_what_may_vary(call, computed):
    """A part of an array is none, nor is what only constants and counts go into."""
    node = ast.parse(call, mode="eval").body
    assert computed_arguments(node, {"x": np.ones(3), "n": 3, "np": np}) == computed


@pytest.mark.parametrize("magic", ["%gradient", "%jacobian", "%hessian", "%grad_check"])
def test_a_derivative_by_what_was_computed_says_so(notebook, magic):
    """With respect to what it is, in the text as well as on the page, and how the other one is asked for."""
    notebook.ok(SOFTMAX)
    names = "w" if magic == "%hessian" else "w, x"
    told = f"with respect to {names}: {magic} (lambda {names}: np.sum(softmax(w * x) ** 2))({names})"
    found = notebook.ok(f"{magic} np.sum(softmax(w * x) ** 2)")
    for text in (notebook.text, found.to_markdown()):
        assert "with respect to softmax(w * x) ** 2, the argument of np.sum" in without_breaks(text)
        assert told in without_breaks(text)
    assert "this is with respect to" not in str(notebook.ok(f"{magic} np.sum(x)"))


def without_breaks(text: str) -> str:
    return " ".join(text.replace("\\", "").split())


def test_the_gradient_that_was_meant_is_that_of_the_advice(notebook):
    """By central differences."""
    notebook.ok(SOFTMAX)
    note = notebook.ok("%gradient np.sum(softmax(x) ** 2)").note
    (g,) = notebook.ok(note[note.index("%gradient") :])
    x, softmax, h = notebook["x"], notebook["softmax"], 1e-6
    for i, step in enumerate(h * np.eye(3)):
        slope = (np.sum(softmax(x + step) ** 2) - np.sum(softmax(x - step) ** 2)) / (2 * h)
        assert abs(g[i] - slope) < 1e-8
