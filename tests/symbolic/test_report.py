"""Reports show the same findings as text, LaTeX, HTML and data, and nothing in a name can act."""

import dataclasses
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest

from rulelab.mathml import formula_html
from rulelab.symbolic import prove
from rulelab.symbolic.report import SymbolicReport
from rulelab.symbolic.verdicts import Undecided
from rulelab.tables import name_latex
from rulelab.tangents.zeros import NoTangent


def squared(x):
    return x**2


def _rule(x):
    return x**2, lambda y_bar: (NoTangent(), 2 * x)


@pytest.fixture(scope="module")
def report():
    return prove(squared, _rule)


def test_a_refutation_on_the_way_is_not_told_as_a_verdict(report):
    """While the check runs it may be taken back: its point may be one that nobody means."""
    assert report.verdict.word != "" and report.so_far == "wrong at one point, being rechecked"
    assert dataclasses.replace(report, verdict=Undecided(40, "too long")).so_far == "agrees to 40 digits"


def test_text_shows_both_formulas_and_the_counterexample(report):
    """In a terminal I see the derivative, what the rule gives, the difference and code to paste."""
    text = str(report)
    for part in ("REFUTED", "ignores", "2*x*y_bar", "the rule gives      2*x", "back("):
        assert part in text


def test_latex_is_one_display(report):
    """The LaTeX form is one balanced display with the three formulas."""
    latex = report._repr_latex_()
    assert latex.startswith("$$") and latex.endswith("$$") and latex.count("{") == latex.count("}")
    assert r"2 x \bar{y}" in latex


def test_html_typesets_formulas_and_holds_the_code(report):
    """The HTML form has the formulas as MathML and the code in a pre."""
    html = report._repr_html_()
    assert str(formula_html(r"2 x \bar{y}", "")) in html and "<pre>" in html and "$" not in html


def test_data_is_json(report):
    """The dict form survives JSON and names the verdict."""
    data = json.loads(json.dumps(report.to_dict()))
    assert data["verdict"] == "REFUTED" and data["kind"] == "gradient"
    assert data["cells"][0]["arguments"][0]["derivative"] == "2*x*y_bar"


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        r"\input{/etc/passwd}",
        "$$x$$",
        "{{ 7*7 }}",
        "a&b",
        "</td>",
        "'\"onload=",
        r"\href{javascript:1}{x}",
    ],
)
def test_names_cannot_act(name):
    """A function with a hostile name is shown, not obeyed."""

    def f(x):
        return math.sin(x)

    f.__name__ = name
    report = prove(f, lambda x: (math.sin(x), lambda b: (NoTangent(), b)))
    html, latex = report._repr_html_(), report._repr_latex_()
    assert "<script" not in html and "</td>:" not in html and "49" not in html
    assert name not in latex and r"\input" not in latex and r"\href" not in latex and latex.count("$") == 4
    assert name not in (report.verdict.counterexample.code if not name.isidentifier() else "")


def test_names_in_latex_are_letters_only():
    """Whatever is in a name, its LaTeX has no command of the name's own."""
    assert name_latex("x") == "x" and name_latex("alpha") == r"\alpha"
    assert name_latex("learning_rate") == r"\mathrm{learning\_rate}"
    assert "\\" not in name_latex(r"\evil{}").replace(r"\mathrm", "")


def test_the_package_loads_without_sympy():
    """`import rulelab` does not load SymPy; the symbolic package does."""
    code = "import sys, rulelab; assert 'sympy' not in sys.modules and 'mpmath' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_words_of_a_proof_are_not_typeset():
    """Its formulas are MathML, so that MathJax leaves all of it alone: a dollar in a note or a reason is a
    dollar, and no mark turns the text around.
    """
    shown = SymbolicReport("f", ("x",), Undecided(15, "costs $5 or $6\u202e"), notes=("from $1 to $2",))
    html = shown._repr_html_()
    assert html.startswith('<div class="rulelab-symbolic tex2jax_ignore mathjax_ignore">')
    assert "\u202e" not in html


def test_cells_say_which_size_and_condition_they_are():
    """In text, HTML and LaTeX; a cell that was proved without formulas has no table."""

    def rate(learning_rate):
        return learning_rate if learning_rate > 0 else 2 * learning_rate

    found = prove(rate, lambda x: (rate(x), lambda b: (NoTangent(), b if x > 0 else 2 * b)))
    assert "where learning_rate > 0" in str(found) and "Where learning_rate &gt; 0" in found._repr_html_()
    assert r"\text{where learning}\_\text{rate > 0}" in found._repr_latex_()

    def total(x):
        return x.sum()

    def ones(x):
        return total(x), lambda b: (NoTangent(), 0 * x + b)

    found = prove(total, ones, sizes=[2, (2, 3)])
    assert [cell.sizes for cell in found.cells] == ["(2,)", "(2, 3)"]
    assert found.to_dict()["cells"][1]["sizes"] == "(2, 3)" and "at size (2, 3):" in found.details()
    assert "At size (2, 3)" in found._repr_html_() and r"\text{at size (2, 3)}" in found._repr_latex_()
    bare = dataclasses.replace(found, cells=(dataclasses.replace(found.cells[0], arguments=()),))
    assert "<table>" not in bare._repr_html_() and not bare.page().tables


def test_an_array_in_an_example_is_a_list_of_numbers():
    """Without quotes; the sentence is text, and the code stands alone, to be copied."""

    def total(x):
        return x.sum()

    found = prove(total, lambda x: (total(x), lambda b: (NoTangent(), 0 * x)), sizes=[2, 3])
    assert "'" not in next(found.counterexample_lines())
    code = re.search(r"<pre>(.*?)</pre>", found._repr_html_(), re.S)[1]
    assert code.splitlines()[0].startswith("y, back = ") and "to see it" not in code


def test_many_formulas_are_folded_after_those_that_a_look_takes_in():
    """The count says how many; a proof of few has nothing to open but its scope."""
    x = np.linspace(0.1, 0.9, 3)

    def square(x):
        return np.sum(x * x)

    def square_rrule(x):
        return square(x), lambda y_bar: (NoTangent(), 2 * x * y_bar)

    few = prove(square, square_rrule, at=(x,))
    assert "formulas:" not in few._repr_html_() and few._repr_html_().count("<details") == 1
    cell = few.cells[0]
    many = dataclasses.replace(few, cells=(cell, cell, cell, cell))
    html = many._repr_html_()
    assert "6 more formulas for 2 cases: derivative, rule and difference" in html
    assert html.index("<table>") < html.index("6 more formulas") and html.count("<table>") == 4
    assert html.count("<details") == html.count("</details>") == 2


def test_an_error_of_ours_in_the_code_that_is_followed_is_told_by_its_headline():
    """Its caret and its advice are for who asked for a gradient; in one line they cannot be read."""
    from rulelab.errors import ForeignCallError

    def refused(x):
        if type(x).__name__ == "Scalar":  # what the code is followed on
            raise ForeignCallError("no rule for it", asked="gradient of it", fixes=["write a rule"])
        return x * x, lambda y_bar: (NoTangent(), 2 * x * y_bar)

    found = prove(lambda x: x * x, refused, name="square")
    assert found.verdict.word == "UNSUPPORTED", found
    assert "no rule for it" in str(found) and "do: write" not in str(found) and "asked:" not in str(found)


def test_a_proof_of_many_cells_is_folded_in_text():
    """The headline is one line; the cells that do not fit are counted, and `details` shows all of them."""
    from rulelab.symbolic import prove

    def biggest(x):
        return np.max(x)

    def biggest_rrule(x):
        def biggest_pullback(y_bar):
            g = np.zeros(len(x))
            g[np.argmax(x)] = y_bar
            return None, g

        return np.max(x), biggest_pullback

    report = prove(biggest, biggest_rrule, sizes=[3])
    text, whole = str(report), report.details()
    head = "rule of biggest: right, PROVED for vectors of length 3; contiguous float64; 4 cases"
    assert text.split("\n")[0] == head
    scope = next(line for line in text.split("\n") if line.startswith("  scope:"))
    assert len(scope) <= 200 and " …, for sizes (3,) (by " in scope and text.count("where x[") == 1
    assert "its .details() shows 3 more formulas" in text
    assert report.verdict.detail() in whole and "details()" not in whole and whole.count("where x[") == 2


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", [False, True])
def test_long_formulas_are_left_to_the_details(wrong):
    """A terminal shows the verdict, the scope and the counterexample, not screens of formulas."""

    def softmax_rrule(x):
        y = softmax(x)
        return y, lambda y_bar: (NoTangent(), (1.0 if wrong else y) * y_bar - y * np.sum(y_bar * y))

    found = prove(softmax, softmax_rrule, at=(np.array([1.0, 2.0, 0.5, -1.0]),))
    text = str(found)
    assert len(text) < 1300 and "derivative * y_bar" not in text
    assert ("should be" in text) == wrong and "its .details() shows " in text
    assert "x[0]: derivative * y_bar = " in found.details()


def test_formulas_too_large_to_be_shown_are_not_counted_out_one_by_one():
    """Rows that say nothing but how many operations a formula has are left out; the counterexample stays."""

    def step(x, P, F):
        S = F @ P @ F.T
        return np.linalg.inv(S) @ F @ np.linalg.inv(P) @ x

    def step_rrule(x, P, F):
        A = np.linalg.inv(F @ P @ F.T) @ F @ np.linalg.inv(P)
        return A @ x, lambda y_bar: (NoTangent(), A.T @ y_bar, A @ np.outer(A.T @ y_bar, x) @ A, 0.0 * F)

    P, F = np.array([[2.0, 0.3], [0.1, 1.5]]), np.array([[1.0, 0.2], [0.4, 0.9]])
    found = prove(step, step_rrule, at=(np.array([1.0, 2.0]), P, F))
    assert found.verdict.word == "REFUTED"
    for text in (str(found), found.details(), found._repr_html_(), found.to_markdown()):
        assert "operations)" not in text and "should be" in text


def test_what_a_headline_calls_named_below_is_named_below():
    """In text, too, where cases are folded: the sizes and what was held stand behind them."""

    def total(x, keep, n):
        return sum(np.abs(x[i]) for i in range(n) if keep[i])

    def total_rrule(x, keep, n):
        signs = np.array([np.sign(x[i]) if keep[i] else 0.0 for i in range(len(x))])
        return total(x, keep, n), lambda y_bar: (NoTangent(), y_bar * signs, NoTangent(), NoTangent())

    at = (np.array([1.0, -2.0, 3.0, -4.0, 0.5]), np.array([True, False, True, True, True]), 5)
    found = prove(total, total_rrule, at=at)
    assert found.verdict.word == "PROVED"
    scope = next(line for line in str(found).split("\n") if line.startswith("  scope: "))
    assert " cases: " in scope and "…" in scope and "sizes (5,)" in scope
    assert "keep = [True, False, True, True, True]" in scope


@pytest.mark.parametrize(
    "labels", [np.array([0, 2, 1]), np.array([2, 0], np.int8), np.array([True, False, True])]
)
def test_the_code_to_paste_runs_where_arrays_are_held(labels):
    """Labels, masks and keywords are written so that they can be pasted, whatever their dtype."""

    def chosen(x, labels, *, weights):
        return np.sum(x[labels] * weights)

    def chosen_rrule(x, labels, *, weights):
        return chosen(x, labels, weights=weights), lambda y_bar: (NoTangent(), y_bar * x, NoTangent())

    weights = np.array([1, 2, 3])[: np.count_nonzero(labels) if labels.dtype == bool else len(labels)]
    at = (np.array([1.0, 2.5, 4.0]), labels)
    found = prove(chosen, chosen_rrule, at=at, kwargs={"weights": weights})
    example = found.verdict.counterexample
    setup, ask = example.code.splitlines()
    namespace = {"np": np, "chosen_rrule": chosen_rrule}
    exec(setup, namespace)
    assert eval(ask, namespace) == pytest.approx(float(example.found), rel=1e-6)
    assert example.arguments["labels"] == repr(labels.tolist())


def test_the_arrays_of_a_counterexample_are_written_once_and_its_numbers_in_twelve_digits():
    """In the code to paste; single numbers stand in front of it, too."""

    def scaled(x, k):
        return k * np.sum(x**3)

    def scaled_rrule(x, k):
        return scaled(x, k), lambda y_bar: (NoTangent(), 3 * k * x**2 * y_bar / 7, y_bar * np.sum(x**3))

    of_vectors = prove(scaled, scaled_rrule, at=(np.array([1.0, 2.0, 3.0]), 2.0))
    lines = [line.strip() for line in str(of_vectors).splitlines()]
    said = next(line for line in lines if " should be " in line and "# gives" not in line)
    assert re.fullmatch(r"the cotangent of x\[0\] should be -?[\d.]{1,13}, but is -?[\d.]{1,13}", said)
    assert str(of_vectors).count("np.array([") == 1 and " = [" not in str(of_vectors)
    of_numbers = str(prove(squared, _rule))
    assert re.search(r"at x = [\d/-]+, y_bar = [\d/-]+: the cotangent of x should be", of_numbers)


def test_one_formula_is_not_called_several():
    def long(x):
        root = np.sqrt(1 + x**4)
        return np.log(1 + np.exp(np.sin(x) * np.cos(x**2) + np.tanh(x) ** 3 / (2 + np.exp(-x) * root)))

    def long_rrule(x):
        return long(x), lambda y_bar: (NoTangent(), y_bar * np.cos(x))

    assert "1 formula: derivative, rule and difference" in str(prove(long, long_rrule))
