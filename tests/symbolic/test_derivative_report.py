"""A report on a derivative has the formulas, the numbers and the counterexample in each of its forms."""

import json

import numpy as np
import pytest

from rulelab.mathml import formula_html
from rulelab.symbolic import sym_check


def wave(x):
    return x**2 * np.sin(x)


def right(x):
    return 2 * x * np.sin(x) + x**2 * np.cos(x)


@pytest.fixture(scope="module")
def refuted():
    return sym_check(wave, 2.0, formula=lambda x: 2 * x * np.sin(x), name="wave(x)", written="slope")


@pytest.fixture(scope="module")
def gradient():
    patience = 40.0  # seconds of processor time, of which a busy one needs more
    x = np.linspace(0.5, 2.0, 20)
    return sym_check(lambda v: np.sum(v**3), x, name="np.sum(v**3)", time_limit=patience)


def test_text(refuted):
    """Verdict, formulas, numbers, point, code, in this order."""
    text = str(refuted)
    parts = ("slope as the derivative of wave(x): wrong, REFUTED", "derivative by SymPy", "the formula gives",
             "difference", "matching digits", "at x = 2: the formula for x should be",
             "slope(2.0)")  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "y_bar" not in text and "cotangent" not in text and "the rule" not in text


def test_html(refuted):
    """Formulas are typeset, numbers are a table, and neither speaks of rules."""
    html = refuted._repr_html_()
    assert str(formula_html(r"x^{2} \cos{\left(x \right)}", "")) in html
    assert "matching digits" in html and "<pre>" in html
    assert "y_bar" not in html and "the rule" not in html and "<script" not in html


def test_latex(refuted):
    """One balanced display, and the numbers as a table."""
    display, latex = refuted._repr_latex_(), refuted.to_latex()
    assert display.startswith("$$") and display.endswith("$$")
    assert r"\frac{\partial}{\partial x}" in display and "the formula gives" in display
    assert latex.count("{") == latex.count("}") and r"\toprule" in latex


def test_data(refuted):
    """The numbers are there, with the point, in plain types."""
    data = json.loads(refuted.to_json())
    assert data == json.loads(json.dumps(refuted.to_dict()))
    assert data["verdict"] == "REFUTED" and data["formula"] == "slope" and data["point"] == {"x": "2"}
    (number,) = data["numbers"]
    assert number["name"] == "x" and number["digits"] < 3
    assert number["found"] == pytest.approx(4 * np.sin(2.0))


def test_markdown(refuted):
    """With both tables."""
    markdown = refuted.to_markdown()
    assert "matching digits" in markdown and "the formula gives" in markdown


def test_long_gradients_show_the_worst_numbers_and_count_the_rest(gradient):
    """A page is for reading; `numbers` has them all."""
    assert gradient.verdict.word == "PROVED" and len(gradient.numbers) == 20
    assert "9 more" in str(gradient) and "or more" in str(gradient)
    assert "at the arguments given" in str(gradient) and "['" not in str(gradient)
    assert "gradient of np.sum(v**3): right, PROVED" in str(gradient)
    assert gradient.by == "the AD" and "the AD gives" in gradient._repr_html_()


def test_cells_are_named(gradient):
    """A piecewise derivative has its conditions."""
    text = str(sym_check(abs, 2.0, formula=np.sign))
    assert "where x > 0:" in text and "where x < 0:" in text
