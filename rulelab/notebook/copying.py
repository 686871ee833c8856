"""Copy or save parts of a page of the panel: its tables as Markdown, LaTeX or CSV, its pictures as SVG.

A button writes to the clipboard by a handler that is the same on every page and contains no text of a user:
what it copies is in a text box, escaped. Where the clipboard is not available, the box is opened with its
text selected; where no handler runs at all, the box can still be unfolded.
"""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from ..errors import printable
from ..tables import Page, Table, is_number

STYLE = """\
.rulelab-taken { color: var(--jp-content-font-color1, inherit); margin: 0.5em 0 0; }
.rulelab-taken p { margin: 0.4em 0 0.1em; color: var(--jp-content-font-color1, inherit); }
.rulelab-taken .rulelab-copying { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
.rulelab-taken .rulelab-copying button { width: auto; min-width: 6em; }
.rulelab-taken .rulelab-copying [role="status"] { min-height: 1.4em; }
.rulelab-taken summary { cursor: pointer; margin-top: 0.3em; }
.rulelab-taken textarea { width: 100%; max-width: 60em; box-sizing: border-box;
  font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px);
  color: var(--jp-content-font-color1, inherit); background: transparent;
  border: 1px solid var(--jp-border-color1, #757575); border-radius: 3px; white-space: pre; overflow: auto; }
.rulelab-taken a { text-decoration: underline;
  color: var(--jp-content-link-color, color-mix(in srgb, #0b5cad 45%, currentColor)); }"""
"""The style sheet for the elements below: the panel includes it once for all its pages."""
KINDS = {
    "Markdown": ("md", "text/markdown"),
    "LaTeX": ("tex", "application/x-tex"),
    "CSV": ("csv", "text/csv"),
}
"""The formats of copied tables: the extension of a file, and its media type."""

COPY = " ".join(
    """(async button => {
  const all = button.closest('.rulelab-taken'), kind = button.dataset.kind;
  const box = all.querySelector(`textarea[data-kind="${kind}"]`);
  let done = false;
  try { await navigator.clipboard.writeText(box.value); done = true; } catch { }
  if (!done) {
    all.querySelector('details').open = true;
    box.focus();
    box.select();
    try { done = document.execCommand('copy'); } catch { }
  }
  const told = all.querySelector('[role=status]');
  told.textContent = done ? `Copied as ${kind}.`
    : `The button cannot copy ${kind} from here. The text is selected
      below: press Ctrl+C, or Cmd+C on a Mac.`;
})(this)""".split()
)
"""The code that a button runs. It is always this very text, which does not contain what is copied."""


def table_as(kind: str, table: Table) -> str:
    """One table in Markdown, LaTeX or CSV, without its caption.

    >>> print(table_as("CSV", Table("Ages", ("name", "age"), (("Ada", "36"),))))
    name,age
    Ada,36
    <BLANKLINE>
    """
    if kind == "CSV":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(map(_cells, (table.columns, *table.rows)))
        return out.getvalue()
    page = Page(tables=(table,))
    _, _, body = (page.markdown() if kind == "Markdown" else page.latex()).partition("\n\n")
    return body


def _cells(row: Sequence[str]) -> list[str]:
    """The cells as text: a quote precedes what a spreadsheet would read as a formula."""
    told = (printable(" ".join(str(cell).split("\n"))) for cell in row)
    return [f"'{cell}" if cell.startswith(tuple("=@+-")) and not is_number(cell) else cell for cell in told]


def tables_html(parts: Iterable[Any]) -> str:
    """Buttons that copy the tables of a page's parts, and below them, folded, the same as text and as files;
    empty if there are no tables.
    """
    shown = list(parts)
    tables = [table for part in shown for table in _tables_of(part)]
    if not tables:
        return ""
    buttons = "".join(
        f'<button type="button" class="jupyter-button widget-button" data-kind="{kind}" '
        f'title="Copy the tables of this page as {kind}" onclick="{escape(COPY)}">{kind}</button>'
        for kind in KINDS
    )
    boxes = "".join(_box(kind, all_as(kind, shown), tables) for kind in KINDS)
    return (
        f'<div class="rulelab-taken tex2jax_ignore mathjax_ignore">'
        f'<div class="rulelab-copying">Copy tables as: {buttons}<span role="status"></span></div>'
        f"<details><summary>The tables as text and as files</summary>{boxes}</details></div>"
    )


def all_as(kind: str, parts: Iterable[Any]) -> str:
    """The tables of some parts as one text, each under its caption; in LaTeX, formulas are set as
    mathematics.
    """
    texts: list[str] = []
    for part in parts:
        formulas = getattr(part, "_repr_latex_", None) if kind == "LaTeX" else None
        tables = list(_tables_of(part))
        if formulas is not None and tables:
            texts.append(formulas())
        else:
            texts += [_captioned(kind, table) for table in tables]
    return "\n\n".join(text.strip("\n") for text in texts) + "\n"


def _captioned(kind: str, table: Table) -> str:
    page = Page(tables=(table,))
    if kind == "CSV":
        return f"{table_as('CSV', Table('', (table.caption,), ()))}{table_as('CSV', table)}"
    return page.markdown() if kind == "Markdown" else page.latex()


def _tables_of(part: Any) -> Iterator[Table]:
    if hasattr(part, "page"):
        yield from (table for table in part.page().tables if table.rows and not table.verbatim)


def _box(kind: str, text: str, tables: Sequence[Table]) -> str:
    """Text of one format in a box, and links to the same as files: in CSV, a file for each table."""
    ending, media = KINDS[kind]
    files = [(table_as("CSV", t), _file_name(t.caption)) for t in tables] if kind == "CSV" else []
    files = files or [(text, _file_name(tables[0].caption))]
    named = ((body.encode(), f"{name}.{ending}") for body, name in files)
    links = ", ".join(_link(body, media, name, name) for body, name in named)
    rows = min(12, text.count("\n") + 1)
    return (
        f"<p>{kind}, or save as {links}</p>"
        f'<textarea readonly rows="{rows}" aria-label="Tables as {kind}" data-kind="{kind}" '
        'spellcheck="false">'
        f"\n{escape(text)}</textarea>"
    )


def pictures_html(parts: Iterable[Any]) -> str:
    """Links to the pictures of a page's parts as SVG."""
    pictures = (part for part in parts if hasattr(part, "svg"))
    shown = list(filter(None, (_picture(part, number) for number, part in enumerate(pictures, 1))))
    return f'<div class="rulelab-taken tex2jax_ignore mathjax_ignore">{"".join(shown)}</div>'


def _picture(picture: Any, number: int) -> str:
    svg = picture.svg()
    if svg is None:
        return ""
    name = f"picture-{number}.svg"
    return f"<p>{_link(svg, 'image/svg+xml', name, f'Save {name}')}: {escape(printable(picture.caption))}</p>"


def _link(data: bytes, media: str, name: str, words: str) -> str:
    coded = base64.b64encode(data).decode("ascii")
    return f'<a download="{escape(name)}" href="data:{media};base64,{coded}">{escape(words)}</a>'


def _file_name(caption: str) -> str:
    """A file name made from a caption, without what it says about the table.

    >>> _file_name("Time of one call against N: minimum, median")
    'time-of-one-call-against-n'
    >>> _file_name("Pullbacks with the seed -1.86 agree to 1e-15 as well"), _file_name("At size (2, 3)")
    ('pullbacks', 'at-size-2-3')
    """
    words = re.findall(r"[a-z0-9]+", re.split(r": | with |, (?=[a-z])", caption)[0].lower())
    return "-".join(words[:7]) or "table"
