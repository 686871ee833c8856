"""Small tables, and the page of tables as which every report is shown: as text, HTML, Markdown, LaTeX and
JSON.

Reports hold numbers; this module is the one place where their layout is decided. The HTML carries no
script, takes its colours from the theme of the notebook with fallbacks for a page without one, and escapes
every word it is given. Two classes keep MathJax, in a notebook and in an exported page, from taking a name
with dollars in it for a formula.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .errors import printable
from .screen import HEAD_PADDING, column_widths, on_screen
from .verdicts import sign_of

_PAGE = """\
<div class="rulelab-report tex2jax_ignore mathjax_ignore">
<style>
.rulelab-report { color: var(--jp-content-font-color1, inherit); }
.rulelab-report p { overflow-wrap: anywhere; }
.rulelab-report table { border-collapse: collapse; margin: 0.3em 0; font-variant-numeric: tabular-nums; }
.rulelab-report caption { text-align: left; caption-side: top; color: var(--jp-content-font-color1, inherit);
  font-weight: 600; padding: 0.2em 0; white-space: nowrap; }
.rulelab-report.rulelab-report th, .rulelab-report.rulelab-report td { text-align: left; vertical-align: top;
  padding: 0.15em 1.1em 0.15em 0; background: transparent;
  border-bottom: 1px solid var(--jp-border-color2, #bdbdbd); }
.rulelab-report.rulelab-report th, .rulelab-report.rulelab-report td { white-space: nowrap; }
.rulelab-report.rulelab-report .rulelab-long { white-space: normal; overflow-wrap: break-word;
  min-width: 11em; }
.rulelab-report.rulelab-report .rulelab-unbroken { overflow-wrap: anywhere; }
.rulelab-report p { margin: 0.3em 0; }
.rulelab-report td, .rulelab-report tbody th { font-family: var(--jp-code-font-family, monospace);
  font-size: var(--jp-code-font-size, 13px); }
.rulelab-report .rulelab-verdict { font-weight: 600; }
.rulelab-report .rulelab-beside-sign { white-space: nowrap; }
.rulelab-report.rulelab-report td.rulelab-verbatim { white-space: pre-wrap; overflow-wrap: anywhere;
  min-width: 16em; }
.rulelab-report.rulelab-report caption.rulelab-long { white-space: normal; min-width: 0; }
.rulelab-report .rulelab-scroll { overflow-x: auto; max-width: 100%; }
.rulelab-report summary { cursor: pointer; }
.rulelab-report.rulelab-report .rulelab-number { text-align: right; }
.rulelab-report { container-type: inline-size; }
@container (max-width: 90em) {
  .rulelab-report.rulelab-report td:not(.rulelab-number, .rulelab-verbatim, .rulelab-brief) {
    white-space: normal; }
  .rulelab-report.rulelab-report td.rulelab-verbatim { min-width: 11em; }
  .rulelab-report.rulelab-report table:has(.rulelab-verbatim) caption { white-space: normal; }
}
@container (max-width: 66em) {
  .rulelab-report.rulelab-report thead th, .rulelab-report.rulelab-report tbody th,
  .rulelab-report.rulelab-report td:not(.rulelab-number, .rulelab-verbatim) { white-space: normal; }
  .rulelab-report.rulelab-report .rulelab-long { min-width: 7em; }
  .rulelab-report.rulelab-report td.rulelab-verbatim { min-width: 9em; }
  .rulelab-report.rulelab-report th, .rulelab-report.rulelab-report td { padding-right: 0.9em; }
  .rulelab-report.rulelab-report table:has(.rulelab-verbatim) :is(td, th) { padding-right: 0.5em;
    font-size: calc(var(--jp-code-font-size, 13px) * 0.9); }
  .rulelab-report.rulelab-report table:has(.rulelab-verbatim) td:last-child:not(.rulelab-number) {
    overflow-wrap: anywhere; min-width: 5.5em; }
}
@container (max-width: 46em) {
  .rulelab-report.rulelab-report .rulelab-long { min-width: 4.6em; }
  .rulelab-report.rulelab-report td.rulelab-verbatim { min-width: 7em; }
  .rulelab-report.rulelab-report .rulelab-range { white-space: normal; }
  .rulelab-report.rulelab-report th, .rulelab-report.rulelab-report td { padding-right: 0.5em; }
  .rulelab-report.rulelab-report th:last-child, .rulelab-report.rulelab-report td:last-child {
    padding-right: 0; }
  .rulelab-report.rulelab-report table:has(.rulelab-sign) :is(td, tbody th) {
    font-size: calc(var(--jp-code-font-size, 13px) * 0.9); }
  .rulelab-report.rulelab-report table:has(.rulelab-sign) thead th { font-size: 0.92em; }
  .rulelab-report table:not(:has(.rulelab-sign, .rulelab-verbatim)) :is(th, td):not(:last-child) {
    padding-right: 1.1em; }
}
@container (min-width: 552.1px) and (max-width: 66em) {
  .rulelab-report.rulelab-report .rulelab-number + :is(td, th):not(.rulelab-number) { padding-left: 0.5em; }
}
{{ stacked("rulelab-report") }}
</style>
{%- for line in page.lead %}
{%- if loop.first %}
<p class="rulelab-verdict">{{ page.verdict | sign }}{{ line | prose }}</p>
{%- else %}
<p>{{ line | prose }}</p>
{%- endif %}
{%- endfor %}
{%- for table in page.tables %}
{%- set numeric = table.numeric() %}
{%- set judged = "verdict" if "verdict" in table.columns else table.columns[-1] %}
{%- if table.folded %}
<details><summary>{{ table.caption | unbroken }}</summary>
{%- endif %}
{%- if table.verbatim %}
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="{{ table.caption | printable }}">
{%- endif %}
<table>
<caption{{ table.caption | long(72) }}>{{ table.caption | unbroken }}</caption>
<thead><tr>
{%- for name in table.columns %}
{%- if name %}<th scope="col"{% if loop.index0 in numeric %} class="rulelab-number"{% endif %}>
{{- name | unbroken }}</th>{% else %}<td></td>{% endif %}
{%- endfor %}</tr></thead>
<tbody>
{%- for row in table.rows %}
{%- set verdict = table.verdicts[loop.index0] if table.verdicts else "" %}
<tr>{% for cell in row %}{% if loop.first -%}
<th scope="row"{{ cell | long }}{{ table.columns[0] | numbered(cell) }}>{{ cell | printable }}</th>
{%- elif table.columns[loop.index0] in table.verbatim %}
<td class="rulelab-verbatim"{{ cell | hanging }}>{{ cell | printable }}</td>
{%- elif loop.index0 in numeric -%}
<td class="rulelab-number{{ cell | range }}"{{ table.columns[loop.index0] | label }}>
{{- cell | with_unit | unbroken }}</td>
{%- elif table.columns[loop.index0] == judged and verdict -%}
<td{{ cell | brief }}{{ table.columns[loop.index0] | label }}>{{ verdict | signed(cell) }}</td>
{%- else %}<td{{ cell | long }}{{ table.columns[loop.index0] | label }}>{{ cell | unbroken }}</td>{% endif %}
{%- endfor %}</tr>
{%- endfor %}
</tbody></table>
{%- if table.verbatim %}
</div>
{%- endif %}
{%- if table.folded %}
</details>
{%- endif %}
{%- endfor %}
{%- for line in page.notes %}
{%- set warns = line.startswith("warning: ") %}
<p>{% if warns %}<strong>warning:</strong> {% endif %}{{ line.removeprefix("warning: ") | prose }}</p>
{%- endfor %}
</div>"""


_STACKED = """\
@container (max-width: 552px) {
  BLOCK table, BLOCK tbody, BLOCK tr, BLOCK caption, BLOCK tbody th, BLOCK tbody td {
    display: block; white-space: normal; min-width: 0; overflow-wrap: anywhere; }
  BLOCK tbody .rulelab-verbatim.rulelab-verbatim.rulelab-verbatim { min-width: 0; }
  BLOCK thead { display: none; }
  BLOCK tbody tr { border-bottom: 1px solid var(--jp-border-color2, #bdbdbd); }
  BLOCK tbody th, BLOCK tbody td, BLOCK tbody .rulelab-number.rulelab-number { border: 0;
    text-align: left; }
  BLOCK tbody :is(th, td)[data-label]::before { content: attr(data-label) ": ";
    font-family: var(--jp-content-font-family, sans-serif); }
  BLOCK tbody td[data-label]:empty { display: none; }
  BLOCK tbody td:has(math) { padding-block: 0.3em; }
  BLOCK tbody td:has(mfrac)[data-label]::before { display: block; padding-bottom: 0.3em; }
}"""
DARK_HOSTS = ':is(.vscode-dark, .vscode-high-contrast, html[theme="dark"])'
"""The selectors of hosts that may be dark and lack the variables of Jupyter's theme: VS Code and Colab."""


_WORDS = ("shape",)
"""Columns whose cells are words even where each of them happens to be a number."""


@dataclass(frozen=True)
class Table:
    """Rows of words under column names; the first column names the row.

    `folded` tables are collapsed in HTML, and only their caption appears in text. The cells of the columns
    named in `verbatim` keep their spaces, as lines of code must. `verdicts` is empty or has a verdict for
    each row: HTML draws its sign in the column "verdict", or else in the last one.

    >>> print(Table("Ages", ("name", "age"), (("Ada", "36"),)).text())
    Ages
    name    age
    ------  -----
    Ada     36
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False
    verbatim: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()

    def numeric(self) -> set[int]:
        """The positions of the columns of numbers, with or without units, which are right-aligned. Some of
        their cells may be empty.
        """
        columns = ((at, {*cells} - {""}) for at, cells in enumerate(zip(*self.rows)))
        return {
            at
            for at, cells in columns
            if at and self.columns[at] not in _WORDS and cells - {"–"} and all(map(is_number, cells))
        }

    def text(self, style: str = "simple") -> str:
        """The table in one of tabulate's styles, under its caption."""
        if self.folded and style == "simple":
            return _one_line(self.caption)
        return f"{_one_line(self.caption)}\n{self._body(style)}"

    def _body(self, style: str) -> str:
        from tabulate import tabulate  # here, because `import rulelab` must stay light

        # tabulate counts the columns of a LaTeX table in its rows: without rows there would be none.
        rows = self.rows or ([""] * len(self.columns),)
        kept = [name in self.verbatim for name in self.columns]
        cells = [[_kept(c) if keep else _one_line(c) for c, keep in zip(row, kept)] for row in rows]
        headers = list(map(_one_line, self.columns))
        widths: list[int | None] | None = [None] * len(headers)
        if style == "simple":
            cells = [[_BEFORE_UNIT.sub(_SPACE, cell) for cell in row] for row in cells]
            widths = column_widths([headers, *cells], kept)
        if widths is None and any(kept):
            return _lines_below(headers, cells, kept).replace(_SPACE, " ")
        if widths is None:
            return _row_by_row(headers, cells).replace(_SPACE, " ")
        body = tabulate(
            cells,
            headers=headers,
            tablefmt=style,
            disable_numparse=True,
            **(_limits(widths) if any(widths) else {}),
        )
        if style.startswith("latex"):
            # After the end of a row LaTeX takes these for an argument of `\\`.
            body = re.sub(rf"^([ \xa0{_SPACE}]*)([\[*])", r"\1{\2}", body, flags=re.M)
        return body.replace(_SPACE, " " if style == "simple" else "\N{NO-BREAK SPACE}")


def filled(
    columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The columns and rows of a table without columns that are empty in all rows; the first one is kept.

    >>> filled(("rule", "note", "verdict"), [("f", "", "right"), ("g", "", "")])
    (('rule', 'verdict'), (('f', 'right'), ('g', '')))
    """
    kept = [n for n in range(len(columns)) if not n or not rows or any(row[n] for row in rows)]
    return tuple(columns[n] for n in kept), tuple(tuple(row[n] for n in kept) for row in rows)


@dataclass(frozen=True)
class Page:
    """The content of a report: leading sentences (the headline, and those below it), tables, closing notes.
    `verdict` is that of the headline, if it has one; HTML draws its sign there.
    """

    lead: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    verdict: str = ""

    def text(self) -> str:
        """The page for a terminal."""
        tables = (table.text() for table in self.tables)
        return "\n".join([*map(printable, self.lead), *tables, *map(printable, self.notes)])

    def html(self) -> str:
        """The page for a notebook: escaped, without script, folded parts in `<details>`."""
        return _template().render(page=self)

    def markdown(self) -> str:
        """The page in GitHub's Markdown, every word of it escaped."""
        tables = [f"**{_md(table.caption)}**\n\n{_markdown_table(table)}" for table in self.tables]
        return "\n\n".join([*map(_md, self.lead), *tables, *map(_md, self.notes)])

    def latex(self) -> str:
        """The page in LaTeX, with `booktabs` rules."""
        parts = [
            *map(_tex, self.lead),
            *(f"{_tex(t.caption)}\n\n{t._body('latex_booktabs')}" for t in self.tables),
            *map(_tex, self.notes),
        ]
        return "\n\n".join(parts)


class Report:
    """The formats that every report has, made from its `page()` and its `to_dict()`."""

    def page(self) -> Page:
        """The page that is shown."""
        raise NotImplementedError

    def to_dict(self) -> dict:
        """The numbers, in plain Python types."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.page().text()

    def __repr__(self) -> str:
        return str(self)

    def to_json(self) -> str:
        """`to_dict` as JSON; numbers that JSON lacks (nan, inf) are written as words."""
        import json  # here, because gradients do not need it

        return json.dumps(_jsonable(self.to_dict()), indent=2)

    def to_markdown(self) -> str:
        """The report as Markdown."""
        return self.page().markdown()

    def to_latex(self) -> str:
        """The report as LaTeX."""
        return self.page().latex()

    def _repr_html_(self) -> str:
        return self.page().html()

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.text("…" if cycle else on_screen(self, beside=len("Out[1000]: ")))


def engineering(value: float, unit: str) -> str:
    """A number with an engineering prefix, in readable form.

    matplotlib's EngFormatter does the same, but importing it takes a quarter of a second, which a magic
    that prints one number cannot pay.

    >>> engineering(3.82e-5, "s"), engineering(0.0, "B"), engineering(2048, "B")
    ('38.2 µs', '0 B', '2.05 kB')
    """
    if value != value:
        return "–"
    if value == 0:
        return f"0 {unit}"
    size, prefix = abs(value), ""
    for power, letter in (
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
    ):
        prefix, scale = letter, power
        if size >= power * 0.9995:
            break
    if unit == "B" and scale < 1.0:
        prefix, scale = "", 1.0
    return f"{_three_digits(value / scale)} {prefix}{unit}"


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 99.95 or value == int(value) else f"{value:.3g}"


LONGEST = 36
"""Cells of up to this many characters are not wrapped."""
LONGEST_WORD = 24
"""Words and numbers of up to this many characters are not broken."""
DEEPEST = 8
"""The maximal indentation of a line of code that is repeated where the line is wrapped."""
BRIEF = 18
"""Verdicts of up to this many characters are not wrapped."""


def _long(cell: str, most: int = LONGEST):
    """The attribute of a cell that may be wrapped: a long one, but not numbers with their units."""
    from markupsafe import Markup

    words = printable(str(cell))
    if len(words) <= most:
        return ""
    unbroken = max(map(len, words.split()), default=0) > LONGEST_WORD
    return Markup(f' class="rulelab-long{" rulelab-unbroken" if unbroken else ""}"')


def _brief(cell: str):
    """The attribute of a cell with a verdict: a short one is not wrapped, a long one may be."""
    from markupsafe import Markup

    return Markup(' class="rulelab-brief"') if len(str(cell)) <= BRIEF else _long(cell)


def _hanging(line: str):
    """The attribute of a cell with a line of code: if it is wrapped, it continues further to the right than
    it begins, so that its indentation remains visible.
    """
    from markupsafe import Markup

    indent = min(len(line) - len(line.lstrip(" ")), DEEPEST) + 2
    return Markup(f' style="padding-left: {indent}ch; text-indent: -{indent}ch"')


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[GMkmµn]?[sB]\b|%)")


def _with_unit(cell: str) -> str:
    """A text in which no line break can separate a number from its unit.

    >>> _with_unit("2.7 µs, 4.51 µs").split(" ")
    ['2.7\\xa0µs,', '4.51\\xa0µs']
    """
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", str(cell))


def stacked(block: str):
    """The style of a block whose tables have one line per cell on narrow screens, such as phones; the
    `data-label` of a cell is the header of its column.
    """
    from markupsafe import Markup

    return Markup(_STACKED.replace("BLOCK", f".{block}.{block}"))


def label(column: str):
    """The attribute that names the column of a cell if there is no room for the header of the table."""
    from markupsafe import Markup

    return Markup(' data-label="{}"').format(printable(str(column))) if column else ""


def numbered(column: str, cell: str):
    """The attribute that names the first column, for a cell that does not say what it is: a number.

    >>> str(numbered("N", "1,000")), str(numbered("call", "mse"))
    (' data-label="N"', '')
    """
    return label(column) if is_number(cell) else ""


def drawn(verdict: str):
    """The sign of a verdict as HTML; empty for no verdict."""
    from markupsafe import Markup

    return Markup(sign_of(verdict).html()) if verdict else ""


def _signed(verdict: str, cell: str):
    """The words of a cell after the sign of its verdict, with no line break between sign and first word."""
    from markupsafe import Markup

    first, space, rest = printable(str(cell)).partition(" ")
    whole = Markup('<span class="rulelab-beside-sign">{}{}</span>').format
    words = [whole("", word) if "-" in word else word for word in rest.split(" ")]  # lines break at hyphens
    return Markup("{}{}{}").format(whole(drawn(verdict), first), space, Markup(" ").join(words))


_WHOLE = re.compile(
    r"(?<![\w.])[-+]?[\d.]+e[-+]\d+|(?<=\s)--?[a-z][\w-]*|\[\d+(?:, \d+)+\]"
    r"|(?<![\w.])\d[\d.,]* [GMkmµn]?[sB]\b"
)
_BEFORE_SHAPE = re.compile(r"\b(?:float|complex|u?int)\d+(?=<span)")
"""A dtype, after which a line may break: with its shape it is often the widest word of a table."""
_CODE = re.compile(r"`([^`\n]+)`")
_CODE_STYLE = (
    "font-family: var(--jp-code-font-family, monospace); font-size: 0.95em; color: inherit; "
    "background: transparent; padding: 0;"
)


def unbroken(words: Any) -> Any:
    """A text as HTML, without line breaks inside numbers or options that contain a hyphen, inside index
    lists, or between a number and its unit.

    >>> print(unbroken("<i> agrees to 1e-15"))
    &lt;i&gt; agrees to <span style="white-space: nowrap">1e-15</span>
    >>> print(unbroken("float64[24, 32]"))
    float64<wbr><span style="white-space: nowrap">[24, 32]</span>
    """
    from html import escape

    from markupsafe import Markup

    whole = r'<span style="white-space: nowrap">\g<0></span>'
    text = escape(printable(str(words)))
    return Markup(_BEFORE_SHAPE.sub(r"\g<0><wbr>", _WHOLE.sub(whole, text)))


def prose(words: Any) -> Any:
    """A text of rulelab as HTML, `unbroken`, with the parts in backticks as code.

    >>> print(prose("leave out `g *= 2`").replace(_CODE_STYLE, "..."))
    leave out <code style="...">g *= 2</code>
    """
    from markupsafe import Markup

    return Markup(_CODE.sub(rf'<code style="{_CODE_STYLE}">\1</code>', str(unbroken(words))))


def span(low: float, high: float, unit: str) -> str:
    """A range of two numbers; a common unit is written once.

    >>> span(9.04e-6, 1.01e-5, "s"), span(9.04e-4, 1.01e-3, "s")
    ('9.04 to 10.1 µs', '904 µs to 1.01 ms')
    """
    first, last = engineering(low, unit), engineering(high, unit)
    number, _, its_unit = first.partition(" ")
    return f"{number if last.endswith(f' {its_unit}') else first} to {last}"


_NUMBER = re.compile(r"(?:< )?[-+±−]?(\d[\d,.]*|nan|inf)(e[-+]?\d+)?( ?([GMkmµn]?[sB]|%|x))?|–")


def is_number(cell: str) -> bool:
    """Whether a cell is a number, with or without a unit, or a sign for a missing one.

    >>> is_number("38.2 µs"), is_number("< 1%"), is_number("2.3 ± 1e-3"), is_number("agree to 1e-15")
    (True, True, True, False)
    """
    parts = re.split(r" ± | to |, ", str(cell))
    return all(_NUMBER.fullmatch(part) for part in parts)


@cache
def _template():
    from jinja2 import Environment, StrictUndefined  # here, because `import rulelab` must stay light

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["long"] = _long
    environment.filters["label"] = label
    environment.filters["numbered"] = numbered
    environment.filters["brief"] = _brief
    environment.filters["hanging"] = _hanging
    environment.filters["with_unit"] = _with_unit
    environment.filters["range"] = lambda cell: " rulelab-range" if " to " in str(cell) else ""
    environment.globals["stacked"] = stacked
    environment.filters["sign"] = drawn
    environment.filters["signed"] = _signed
    environment.filters["printable"] = lambda word: printable(str(word))
    environment.filters["prose"] = prose
    environment.filters["unbroken"] = unbroken
    return environment.from_string(_PAGE)


_SPACE = "\ue000"  # stands for a space of code during the layout, which strips spaces


def _limits(widths: list[int | None]) -> dict[str, list[int | None]]:
    heads = [None if most is None else most - HEAD_PADDING for most in widths]
    return {"maxcolwidths": widths, "maxheadercolwidths": heads}


def _row_by_row(headers: list[str], rows: list[list[str]]) -> str:
    """A table as a list, for a screen that is too narrow for it: the first cell of each row, and the other
    cells below it. Short ones share a line, empty ones are left out.

    >>> print(_row_by_row(["line", "source", "time", "share"], [["1", "def f(x):", "", "4%"]]))
    1
      source: def f(x):; share: 4%
    """
    lines = []
    for first, *cells in rows:
        lines.append(first)
        named = [
            (f"{name}: " if name else "", cell) for name, cell in zip(headers[1:], cells) if cell.strip()
        ]
        short: list[str] = []
        for name, cell in named:
            if len(cell) > _SHORT:
                lines += [f"  {'; '.join(short)}"] if short else []
                lines.append(f"  {name}{cell}")
                short = []
            else:
                short.append(name + cell)
        lines += [f"  {'; '.join(short)}"] if short else []
    return "\n".join(lines)


_SHORT = 24  # maximal number of characters of a cell that shares its line


def _lines_below(headers: list[str], rows: list[list[str]], kept: list[bool]) -> str:
    """A table for a screen that is too narrow for it, in which verbatim and long cells stand below their row.

    >>> rows = [["1", "def f(x):", "", "4%"], ["2", "    return x * x", "38.2 µs", "96%"]]
    >>> print(_lines_below(["line", "source", "time", "share"], rows, [False, True, False, False]))
    line    time     share
    ------  -------  -------
    1                4%
      def f(x):
    2       38.2 µs  96%
          return x * x
    """
    from tabulate import tabulate  # here, because `import rulelab` must stay light

    lengths = [max((len(row[n]) for row in rows), default=0) for n in range(len(headers))]
    below = [n for n in range(1, len(headers)) if kept[n] or lengths[n] > _SHORT]
    beside = [n for n in range(len(headers)) if n not in below]
    short = [[row[n] for n in beside] for row in rows]
    names = [headers[n] for n in beside]
    widths = column_widths([names, *short])
    if widths is None or any(widths):
        return _row_by_row(headers, rows)
    head, line, *body = tabulate(short, headers=names, tablefmt="simple", disable_numparse=True).split("\n")
    lines = [head, line]
    for row, shown in zip(rows, body):
        told = [row[n] if kept[n] else f"    {headers[n]}: {row[n]}" for n in below if row[n].strip()]
        lines += [shown, *(f"  {words}" for words in told)]
    return "\n".join(map(str.rstrip, lines))


def _one_line(cell: str) -> str:
    return printable(" ".join(str(cell).split("\n"))).replace(_SPACE, "\N{REPLACEMENT CHARACTER}")


def _kept(cell: str) -> str:
    return _one_line(cell).expandtabs(4).replace(" ", _SPACE)


def _markdown_table(table: Table) -> str:
    escaped = Table(
        table.caption,
        tuple(map(_md_cell, table.columns)),
        tuple(tuple(_md_cell(cell) for cell in row) for row in table.rows),
        verbatim=tuple(map(_md_cell, table.verbatim)),
    )
    return escaped._body("github")


def _md(text: str) -> str:
    """A line of Markdown that is rendered as the text. No escape keeps Jupyter from reading dollars and
    backslashes as mathematics, so a text with one of them is shown as code.
    """
    line = _one_line(text)
    if "$" in line or "\\" in line:
        return _md_code(line)
    escaped = "".join(f"\\{c}" if c in "`*_{}[]<>#|&~" else c for c in line)
    return _NO_LINK.sub(_as_entity, escaped)


# Markdown renderers make links of these, and show escapes in them literally.
_NO_LINK = re.compile(r"(?<=\w)://|\bwww(?=\.)|@", re.IGNORECASE)


def _as_entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0][0])};{found[0][1:]}"


def _md_cell(text: str) -> str:
    """The same in a table, where a bar in code ends the cell unless it is escaped. Markdown renderers
    disagree on whether two backslashes and a bar are an escaped bar, so a space goes between.
    """
    escaped = _md(text)
    return re.sub(r"\\?\|", _bar_in_code, escaped) if escaped.startswith("`") else escaped


def _bar_in_code(found: re.Match[str]) -> str:
    return r"\ \|" if len(found[0]) == 2 else r"\|"


def _md_code(line: str) -> str:
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    edge = " " if line.startswith(("`", " ")) or line.endswith(("`", " ")) else ""
    return f"{fence}{edge}{line}{edge}{fence}"


_TEX = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "µ": r"$\mu$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in _one_line(text))


_GREEK = set(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi "
    "omega".split()
)


def name_latex(name: str) -> str:
    r"""A name as LaTeX of a formula, in which nothing of it can act as a command.

    >>> name_latex("x"), name_latex("theta"), name_latex("my_rate"), name_latex("x\\input{y}$")
    ('x', '\\theta', '\\mathrm{my\\_rate}', '\\mathrm{x?input?y??}')
    >>> print(name_latex("lens.focus"), name_latex("params.W[0,1]"))
    \mathrm{lens.focus} {\mathrm{params.W}}_{0,1}
    >>> print(name_latex("points[0][1]"), name_latex("params['w']"), name_latex("bodies[2].mass"))
    {\mathrm{points}}_{0,1} {\mathrm{params}}_{w} {\mathrm{bodies}}_{2}\mathrm{.mass}
    >>> print(name_latex("d['rate 2']"), name_latex("d['x<y'][0]"))
    {d}_{\text{rate 2}} {d}_{\text{x?y},0}
    """
    if name.endswith("_bar") and name != "_bar":
        return rf"\bar{{{name_latex(name[:-4])}}}"
    for ending, sign in ((".real", "Re"), (".imag", "Im")):
        if name.endswith(ending) and name != ending:
            return rf"\operatorname{{{sign}}}{{{name_latex(name[:-5])}}}"
    if held := _HELD.fullmatch(name):
        keys = (_key_latex(key) for key in _KEY.findall(held[2]))
        behind = rf"\mathrm{{{_safe(held[4])}}}" if held[4] else ""
        return f"{{{name_latex(held[1])}}}_{{{','.join(keys)}}}{behind}"
    if len(name) == 1 and name.isalpha():
        return name
    if name in _GREEK:
        return "\\" + name
    return rf"\mathrm{{{_safe(name)}}}"


_KEY = re.compile(r"""(\d+(?:, ?\d+)*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_HELD = re.compile(rf"(.*?)((?:\[{_KEY.pattern}\])+)((?:\.\w+)*)")
"""An element of an array, or what lies in a list or a dictionary: `points[0][1]`, `bodies['sun'].mass`."""


def _key_latex(key: str) -> str:
    if not key.startswith(("'", '"')):
        return key
    said = re.sub("[<>]", "?", key[1:-1])  # anybody's words, and there are hosts that take formulas for HTML
    return name_latex(said) if said.isidentifier() else rf"\text{{{text_latex(said)}}}"


def text_latex(text: str) -> str:
    r"""What stands within `\text{}` for any words, in which no sign of it can act.

    >>> print(text_latex("rate 2 <b>"), text_latex(r"a\input{b}$"), text_latex("my_rate"))
    rate 2 <b> a?input?b?? my}\_\text{rate
    """
    safe = "".join(c if c.isalnum() or c in " ,()[]*+-/.=<>_!" else "?" for c in text)
    return safe.replace("_", r"}\_\text{")  # a mark of mathematics: in its text MathJax knows no escapes


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c == "." else (r"\_" if c == "_" else "?") for c in name)


def _jsonable(value):
    if isinstance(value, dict):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    return value


def saved_number(saved: object) -> float:
    """A number as `to_json` wrote it: what JSON lacks stands there as a word.

    Every nan is the same object, so that two results without numbers are equal. Raises TypeError or
    ValueError where there is no number.

    >>> saved_number("-inf"), saved_number(2), saved_number("nan") is math.nan
    (-inf, 2.0, True)
    """
    if isinstance(saved, bool) or not isinstance(saved, (int, float, str)):
        raise TypeError(f"{saved!r} is not a number")
    value = float(saved)
    return math.nan if value != value else value
