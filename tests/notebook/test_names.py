"""Where an expression is no call of a function of its arguments, the magic says how it becomes one."""

from __future__ import annotations

import numpy as np
import pytest

from rulelab.notebook.names import as_a_call


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
