"""Formulas in the manual's own text as MathML: those of outputs are MathML already."""

from __future__ import annotations

from docutils import nodes
from sphinx.errors import ExtensionError

from rulelab.mathml import mathml


def typeset(latex: str, display: str = "inline") -> str:
    """The formula as a `<math>` element; ExtensionError, with the formula, where it cannot be read."""
    try:
        return mathml(latex, display)
    except ValueError as error:
        raise ExtensionError(str(error)) from error


def visit_inline(translator, node) -> None:
    translator.body.append(typeset(node.astext()))
    raise nodes.SkipNode


def visit_block(translator, node) -> None:
    formula = typeset(node.astext(), "block")
    translator.body.append(translator.starttag(node, "div", CLASS="math") + formula + "</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
