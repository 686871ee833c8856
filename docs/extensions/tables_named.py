"""A table that is wider than its page scrolls by itself, and Tab stops there: it has a name to be told by."""

from __future__ import annotations

import re
from html import escape, unescape

CONTAINER = '<div class="pst-scrollable-table-container">'
HEADING = r"<h[1-6]>(?P<title>.*?)(?:<a class=\"headerlink\"|</h[1-6]>)"
PIECES = re.compile(f"{HEADING}|{re.escape(CONTAINER)}", re.DOTALL)
TAG = re.compile(r"<[^>]*>")


def named(body: str) -> str:
    """The text of a page whose tables are regions, each with the title of its section as its name.

    >>> named(f"<h2>Exit codes</h2>{CONTAINER}").partition("</h2>")[2]
    '<div class="pst-scrollable-table-container" role="region" aria-label="Table: Exit codes">'
    """
    title, given = "", set()

    def piece(found: re.Match) -> str:
        nonlocal title
        if found["title"] is not None:
            title = unescape(TAG.sub("", found["title"])).strip()
            return found[0]
        label = first = f"Table: {title}" if title else "Table"
        number = 1
        while label in given:
            number += 1
            label = f"{first} ({number})"
        given.add(label)
        return f'{CONTAINER[:-1]} role="region" aria-label="{escape(label)}">'

    return PIECES.sub(piece, body)


def name_tables(app, pagename, templatename, context, doctree) -> None:
    if context.get("body"):
        context["body"] = named(context["body"])


def setup(app) -> dict:
    app.connect("html-page-context", name_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
