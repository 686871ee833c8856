"""Formulas as MathML, which a browser sets by itself: no script, no font, nothing to fetch."""

from __future__ import annotations

import html
import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

FORMULA = re.compile(r"(?<=[> ])\$(?!\s)([^$<>]+)(?<!\s)\$(?=[< ])")
HOLDS_FORMULAS = 'class="rulelab-symbolic"'  # the one report that does


def mathml(latex: str, display: str = "inline") -> str:
    """The formula as a `<math>` element; ExtensionError, with the formula, where it cannot be read.

    >>> mathml(r"\\bar x")[:5]
    '<math'
    """
    try:
        return convert(latex, display=display)
    except Exception as error:
        raise ExtensionError(f"cannot set the formula {latex!r}: {error!r}") from error


def typeset_in_html(text: str) -> str:
    """HTML in which every `$formula$` that stands alone in its element is set.

    >>> typeset_in_html("<td>$x$</td><td>5 $ and 6 $</td>").count("<math")
    1
    """
    return FORMULA.sub(lambda found: mathml(html.unescape(found[1])), text)


class SetInOutputs(SphinxPostTransform):
    """What a cell shows as HTML may hold formulas, which JupyterLab would set."""

    default_priority = 900

    def run(self, **kwargs) -> None:
        for output in self.document.findall(nodes.container):
            if output.get("nb_element") != "cell_code_output":
                continue
            for raw in output.findall(nodes.raw):
                if raw["format"] == "html" and HOLDS_FORMULAS in raw.astext():
                    raw.children = [nodes.Text(typeset_in_html(raw.astext()))]


def visit_inline(translator, node) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator, node) -> None:
    formula = mathml(node.astext(), "block")
    translator.body.append(translator.starttag(node, "div", CLASS="math") + formula + "</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.add_post_transform(SetInOutputs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
