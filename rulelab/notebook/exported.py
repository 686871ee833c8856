"""Formulas in the text cells of a notebook as MathML, for a page that loads no script over the network.

A preprocessor of nbconvert, which loads it by its name:

    jupyter nbconvert --to html notebook.ipynb \\
        --HTMLExporter.preprocessors=rulelab.notebook.exported.TypesetFormulas
"""

from __future__ import annotations

import re
from typing import Any

from nbconvert.preprocessors import Preprocessor

from ..mathml import mathml

_TOKENS = re.compile(
    r"""(?P<code>^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[`~]*[ \t]*$    # a block of code
         |(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)                  # code in a line
         |\\[\\$`])                                                   # what is meant as it is written
      |\$\$(?P<block>.+?)\$\$
      |\$(?P<inline>(?=\S)(?:\\.|[^\\$])+?(?<=\S))\$(?!\d)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


def with_mathml(text: str) -> str:
    r"""Markdown with its formulas, `$x$` and `$$x$$`, as MathML; one that cannot be read stays as it is.

    >>> with_mathml(r"$x$ costs \$5, see `$x$`")[:5], with_mathml(r"$x$ costs \$5, see `$x$`")[-14:]
    ('<math', '\\$5, see `$x$`')
    >>> with_mathml("from $3 to $4"), with_mathml(r"$\left(x$")
    ('from $3 to $4', '$\\left(x$')
    """
    return _TOKENS.sub(_typeset, text)


def _typeset(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return found[0]
    latex = found["block"] if found["inline"] is None else found["inline"]
    try:
        return mathml(latex.strip(), "inline" if found["block"] is None else "block")
    except ValueError:
        return found[0]


class TypesetFormulas(Preprocessor):
    """Typesets the formulas of text cells, before nbconvert makes a page of a notebook."""

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """A cell with its formulas as MathML."""
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        return cell, resources
