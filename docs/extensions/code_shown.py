"""How code is shown: `%%rrule` cells in colour, examples without the empty line that ends a doctest."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes
from ipython_pygments_lexers import IPython3Lexer
from pygments.token import Comment, Text
from sphinx.transforms import SphinxTransform


class CellLexer(IPython3Lexer):
    """IPython's lexer, which takes the body of an unknown cell magic for text; that of ours is Python."""

    name = "IPython3"
    aliases = ("ipython3", "ipython")

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple]:
        if not text.startswith("%%rrule"):
            yield from super().get_tokens_unprocessed(text)
            return
        head, end, body = text.partition("\n")
        yield 0, Comment.Preproc, head
        yield len(head), Text, end
        for at, token, value in super().get_tokens_unprocessed(body):
            yield at + len(head) + len(end), token, value


class EndWithoutEmptyLine(SphinxTransform):
    """A doctest in a fence needs an empty line before the fence; a reader does not."""

    default_priority = 100

    def apply(self, **kwargs) -> None:
        for block in self.document.findall(nodes.literal_block):
            if block.rawsource == block.astext():
                block.rawsource = block.astext().rstrip()
                block.children = [nodes.Text(block.rawsource)]


def setup(app) -> dict:
    app.add_lexer("ipython3", CellLexer)
    app.add_lexer("ipython", CellLexer)
    app.add_transform(EndWithoutEmptyLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
