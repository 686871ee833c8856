"""Reports show the same findings as text, LaTeX, HTML and data, and nothing in a name can act."""

import dataclasses
import json
import math
import re
import subprocess
import sys

import pytest

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
    """The HTML form has the formulas between dollar signs and the code in a pre."""
    html = report._repr_html_()
    assert r"$2 x \bar{y}$" in html and "<pre>" in html and r"$\bar y$" in html


def test_data_is_json(report):
    """The dict form survives JSON and names the verdict."""
    data = json.loads(json.dumps(report.to_dict()))
    assert data["verdict"] == "REFUTED" and data["kind"] == "gradient"
    assert data["cells"][0]["arguments"][0]["derivative"] == "2*x*y_bar"


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
    """Its formulas are; a dollar in a note or a reason is a dollar, and no mark turns the text around."""
    shown = SymbolicReport("f", ("x",), Undecided(15, "costs $5 or $6\u202e"), notes=("from $1 to $2",))
    html = shown._repr_html_()
    assert len(re.findall('<p class="[^"]*tex2jax_ignore mathjax_ignore">', html)) == 2
    assert "\u202e" not in html


def test_cells_say_which_size_and_condition_they_are():
    """In text, HTML and LaTeX; a cell that was proved without formulas has no table."""

    def rate(learning_rate):
        return learning_rate if learning_rate > 0 else 2 * learning_rate

    found = prove(rate, lambda x: (rate(x), lambda b: (NoTangent(), b if x > 0 else 2 * b)))
    assert "where learning_rate > 0" in str(found) and "where learning_rate &gt; 0" in found._repr_html_()
    assert r"\text{where learning}\_\text{rate > 0}" in found._repr_latex_()

    def total(x):
        return x.sum()

    def ones(x):
        return total(x), lambda b: (NoTangent(), 0 * x + b)

    found = prove(total, ones, sizes=[2, (2, 3)])
    assert [cell.sizes for cell in found.cells] == ["(2,)", "(2, 3)"]
    assert found.to_dict()["cells"][1]["sizes"] == "(2, 3)" and "at size (2, 3):" in str(found)
    assert "at size (2, 3)" in found._repr_html_() and r"\text{at size (2, 3)}" in found._repr_latex_()
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
