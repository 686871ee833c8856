"""Formulas in the text cells of an exported notebook: mathematics without a script; nothing else changes."""

import re

import nbformat
import pytest
from nbconvert import HTMLExporter

from rulelab.notebook.exported import TypesetFormulas, with_mathml


@pytest.mark.parametrize(
    "text",
    [
        "`$x$` and ``a ` $x$``",
        "```python\ncost = '$x$'\n```",
        "~~~\n$x$\n~~~",
        r"\$x\$ and \\",
        "from $3 to $4",
        "$ x $ is no formula, nor is $x $",
        r"$\left(x$",
        "$x",
        "",
    ],
)
def test_what_is_no_formula_stays_as_it_is(text):
    """Code, prices, a formula that cannot be read: to the letter."""
    assert with_mathml(text) == text


def test_formulas_are_mathematics():
    """In a line, in a block over several lines, several of them; what is around them stays."""
    found = with_mathml("a $x^2$, b $\\bar y$.\n\n$$\nx + 1\n$$\n\n`$z$`")
    assert found.count("<math") == 3 and found.startswith("a <math") and found.endswith("\n\n`$z$`")
    assert 'display="block"' in found and "</math>, b <math" in found


def test_hostile_words_in_a_formula_are_no_markup():
    """A text cell may come from a stranger; MathML made of it holds none of its tags."""
    found = with_mathml(r"$\text{<script>alert(1)</script>} <img src=x onerror=alert(1)>$")
    assert "<script" not in found and "<img" not in found


@pytest.mark.parametrize("name", ["01-a-rule-in-a-cell", "02-which-functions-need-rules"])
def test_a_page_of_our_notebook_needs_no_script_for_its_formulas(name, repository):
    """As nbconvert makes it, with the options of the manual."""
    notebook = nbformat.read(repository / "notebooks" / f"{name}.ipynb", as_version=4)
    typed = "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    exporter = HTMLExporter(mathjax_url="", require_js_url="", preprocessors=[TypesetFormulas])
    body, _ = exporter.from_notebook_node(notebook)
    without_code = re.sub(r"`[^`]*`", "", typed)
    formulas = re.findall(r"\$[^$]+\$", without_code)
    assert formulas and body.count("<math") == len(formulas)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', body)
