"""What a symbolic check found, as text, LaTeX, HTML and data."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, replace

from ..errors import printable
from ..tables import Page, Report, Table, name_latex
from ..verdicts import headed, said
from .caveats import Caveat
from .formulas import Formula
from .verdicts import Converges, Proved, Refuted, Undecided, Verdict
from .verdicts import to_dict as verdict_dict


@dataclass(frozen=True)
class ArgumentFinding:
    """For one argument: y_bar times the derivative SymPy finds, the rule's cotangent, and their
    difference."""

    name: str
    derivative: Formula
    rule: Formula
    difference: Formula


@dataclass(frozen=True)
class CellFinding:
    """The formulas on one cell: `condition` says which, `samples` how many points of it were tried, `sizes`
    the shapes of the arrays in it, in words."""

    condition: str
    samples: int
    arguments: tuple[ArgumentFinding, ...]
    sizes: str = ""

    @property
    def caption(self):
        """Which cell it is, in words; empty where there is nothing to tell."""
        where = f"where {self.condition}" if self.condition else ""
        return ", ".join(filter(None, (f"at size {self.sizes}" if self.sizes else "", where)))


@dataclass(frozen=True, repr=False)
class SymbolicReport(Report):
    """The verdict on a rule, with the formulas behind it cell by cell, and the warnings that belong to it."""

    function: str
    names: tuple
    verdict: Verdict
    cells: tuple[CellFinding, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    warnings: tuple[Caveat, ...] = ()

    columns = ("argument", "derivative * y_bar", "the rule gives", "difference")
    html_columns = ("argument", r"derivative times $\bar y$", "the rule gives", "difference")

    @property
    def lead(self):
        """What the headline says before the function."""
        return "rule of "

    @property
    def so_far(self):
        """What this says while the check still runs, in a few words; empty where nothing is known yet."""
        verdict = self.verdict
        if not isinstance(verdict, Undecided):
            return said(verdict.word)
        return f"it agrees to {verdict.digits} digits at every sample" if verdict.digits else ""

    def stopped(self):
        """The same as the report of a check that was stopped when this was what it knew."""
        if not isinstance(self.verdict, Undecided):
            return self
        return replace(self, verdict=replace(self.verdict, why="it was stopped before it was decided"))

    @property
    def arguments(self):
        """The findings of the first cell, one for each argument."""
        return self.cells[0].arguments if self.cells else ()

    def lines(self):
        """The report as lines of text."""
        head, *below = self._headed()
        yield head
        yield from (f"  {line}" for line in (*below, *self.scope_lines()))
        for cell in self.cells:
            if cell.arguments and (len(self.cells) > 1 or cell.condition):
                yield f"  {cell.caption or 'where no branch is met'}:"
            for row in cell.arguments:
                yield from self.row_lines(row)
        yield from self.number_lines()
        yield from (f"  {line}" for line in self.counterexample_lines())
        yield from (f"  {line}" for warning in self.warnings for line in warning.lines())
        yield from (f"  note: {note}" for note in self.notes)

    def scope_lines(self):
        """The scope of a proof whose headline names kinds and sizes only."""
        if isinstance(self.verdict, Proved) and self.verdict.kinds:
            yield f"scope: {self.verdict.detail()}"

    def row_lines(self, row):
        """The formulas for one argument as lines of text."""
        yield f"    {row.name}: derivative * y_bar = {row.derivative.text}"
        yield f"    {' ' * len(row.name)}  the rule gives      {row.rule.text}"
        yield f"    {' ' * len(row.name)}  difference          {row.difference.text}"

    def number_lines(self):
        """What numbers there are between the formulas and the counterexample, as lines of text."""
        yield from (f"  {line}" for line in self.convergence_lines())

    def counterexample_lines(self):
        example = self.verdict.counterexample if isinstance(self.verdict, Refuted) else None
        if example is None:
            return
        at = [f"{name} = {listed(value)}" for name, value in example.arguments.items()]
        if self.shows_seed(example):
            at.append(f"y_bar = {listed(example.y_bar)}")
        yield f"at {', '.join(at)}: {example.where} should be {example.expected}, is {example.found}"
        yield "to see it:"
        yield from (f"    {line}" for line in example.code.splitlines())

    def shows_seed(self, example):
        """Whether the seed of a counterexample is worth a word."""
        return True

    def convergence(self):
        """The errors at more and more steps as a table, where the verdict has any; else None."""
        verdict = self.verdict
        if not isinstance(verdict, Converges):
            return None
        columns = (verdict.steps, *(f"error in the cotangent of {name}" for name, _ in verdict.errors))
        rows = zip(verdict.sizes, *(errors for _, errors in verdict.errors), strict=True)
        cells = tuple((str(n), *(f"{error:.1e}" for error in errors)) for n, *errors in rows)
        return Table("relative errors", columns, cells)

    def convergence_lines(self):
        verdict, table = self.verdict, self.convergence()
        if table is None or not isinstance(verdict, Converges):
            return
        yield f"relative errors by {verdict.steps}:"
        rows = [(verdict.steps, *(name for name, _ in verdict.errors)), *table.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  " + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))

    def __str__(self):
        return "\n".join(printable(line.replace("\n", " ")) for line in self.lines())

    def page(self):
        """The report as tables of formulas in text; `_repr_html_` and `to_latex` show them as mathematics."""
        cells = [cell for cell in self.cells if cell.arguments]  # large ones are proved without formulas
        tables = tuple(
            Table(
                cell.caption or "formulas",
                self.columns,
                tuple((a.name, a.derivative.text, a.rule.text, a.difference.text) for a in cell.arguments),
            )
            for cell in cells
        )
        errors = self.convergence()
        lead = (*self._headed(), *self.scope_lines())
        return Page(lead, tables if errors is None else (*tables, errors), self._closing())

    def to_latex(self):
        """The verdict, the formulas as displayed mathematics, the notes."""
        table = self.convergence()
        errors = () if table is None else (table,)
        before = Page((*self._headed(), *self.scope_lines())).latex()
        after = Page((), errors, self._closing()).latex()
        return "\n\n".join(part for part in (before, self._repr_latex_(), after) if part)

    def _headed(self):
        """The headline, and what did not fit into it."""
        whole = f"{self.lead}{self.function}: {self.verdict.sentence()}"
        return headed(whole, self.function, self.lead.partition(" as the ")[0], *self.names)

    def _closing(self):
        warnings = (line for warning in self.warnings for line in warning.lines())
        return (*self.counterexample_lines(), *warnings, *(f"note: {note}" for note in self.notes))

    def _repr_latex_(self):
        rows = [self.head_latex()]
        for cell in self.cells:
            if cell.caption and cell.arguments:
                rows.append(rf"&\text{{{_caption_latex(cell.caption)}}}")
            rows += map(self.row_latex, cell.arguments)
        return latex_display(rows)

    def head_latex(self):
        """The first row of the displayed mathematics."""
        return rf"&\text{{{said(self.verdict.word)}: }}{name_latex(self.function)}"

    def row_latex(self, row):
        """The formulas for one argument as a row of it."""
        name = name_latex(row.name)
        return (
            rf"\bar y\,\frac{{\partial f}}{{\partial {name}}} &= {row.derivative.latex} & \bar{{{name}}}"
            rf"_{{\text{{rule}}}} &= {row.rule.latex} & \Delta &= {row.difference.latex}"
        )

    def _repr_html_(self):
        head, *below = self._headed()
        return _template().render(
            report=self,
            head=head,
            below=below,
            function=printable(self.function),
            sentence=self.verdict.sentence(),
            math=_math,
            words="tex2jax_ignore mathjax_ignore",
            found=next(self.counterexample_lines(), ""),
            example=_code_of(self.verdict),
        )

    def to_dict(self):
        """The report as JSON-ready data."""
        return {
            "function": self.function,
            "arguments": list(self.names),
            **_plain(verdict_dict(self.verdict)),
            "cells": [
                {
                    "condition": c.condition,
                    "sizes": c.sizes,
                    "samples": c.samples,
                    "arguments": [
                        {
                            "name": a.name,
                            "derivative": a.derivative.text,
                            "rule": a.rule.text,
                            "difference": a.difference.text,
                        }
                        for a in c.arguments
                    ],
                }
                for c in self.cells
            ],
            "warnings": [_plain(warning.to_dict()) for warning in self.warnings],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


def latex_display(rows):
    """Rows of aligned formulas as one display."""
    body = " \\\\\n".join(rows)
    return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"


def listed(text):
    """A number of the counterexample, or an array of them as a list without quotes."""
    text = str(text)
    return text.replace("'", "") if text.startswith("[") else text


def _code_of(verdict):
    return verdict.counterexample.code if isinstance(verdict, Refuted) and verdict.counterexample else ""


def _caption_latex(caption):
    """A caption as text within mathematics, in which no sign of it can act."""
    safe = "".join(c if c.isalnum() or c in " ,()[]*+-/.=<>_!" else "?" for c in caption)
    return safe.replace("_", r"}\_\text{")  # a mark of mathematics: in its text MathJax knows no escapes


def _plain(data):
    return json.loads(json.dumps(data, default=str))


def _math(latex):
    return f"${latex}$"


_PAGE = """\
<div class="rulelab-symbolic">
<style>
.rulelab-symbolic { color: var(--jp-content-font-color1, inherit); }
.rulelab-symbolic p { margin: 0.3em 0; }
.rulelab-symbolic .rulelab-verdict { font-weight: 600; }
.rulelab-symbolic .rulelab-scroll { overflow-x: auto; }
.rulelab-symbolic table { border-collapse: collapse; margin: 0.3em 0; }
.rulelab-symbolic caption { text-align: left; caption-side: top; font-weight: 600; padding: 0.2em 0;
  color: var(--jp-content-font-color1, inherit); white-space: nowrap; }
.rulelab-symbolic.rulelab-symbolic th, .rulelab-symbolic.rulelab-symbolic td { text-align: left;
  vertical-align: middle; padding: 0.25em 1.2em 0.25em 0; background: transparent; white-space: nowrap;
  border-bottom: 1px solid var(--jp-border-color2, #bdbdbd); }
.rulelab-symbolic th code { background: transparent; padding: 0; }
.rulelab-symbolic.rulelab-symbolic pre { white-space: pre; overflow: visible;
  font-size: var(--jp-code-font-size, 13px); margin: 0.3em 0; }
</style>
<p class="rulelab-verdict {{ words }}">
{%- if below %}
{{ head | printable }}
{%- else %}
{{ report.lead | printable }}<code>{{ function }}</code>: {{ sentence | printable }}
{%- endif %}</p>
{%- for line in below %}
<p class="{{ words }}">{{ line | printable }}</p>
{%- endfor %}
{%- for line in report.scope_lines() %}
<p class="{{ words }}">{{ line | printable }}</p>
{%- endfor %}
{%- for cell in report.cells if cell.arguments %}
{%- set caption = (cell.caption or "formulas") | printable %}
<div class="rulelab-scroll" tabindex="0" role="group" aria-label="{{ caption }}">
<table>
<caption class="{{ words }}">{{ caption }}</caption>
<thead><tr>{% for name in report.html_columns %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in cell.arguments %}
<tr><th scope="row"><code>{{ row.name | printable }}</code></th><td>{{ math(row.derivative.latex) }}</td>
<td>{{ math(row.rule.latex) }}</td><td>{{ math(row.difference.latex) }}</td></tr>
{%- endfor %}
</tbody></table></div>
{%- endfor %}
{%- set errors = report.convergence() %}
{%- if errors %}
<div class="rulelab-scroll" tabindex="0" role="group" aria-label="{{ errors.caption | printable }}">
<table>
<caption class="{{ words }}">{{ errors.caption | printable }}</caption>
<thead><tr>
{%- for column in errors.columns %}<th scope="col">{{ column | printable }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in errors.rows %}
<tr><th scope="row">{{ row[0] }}</th>{% for cell in row[1:] %}<td>{{ cell }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody></table></div>
{%- endif %}
{%- if found %}
<p class="{{ words }}">{{ found | printable }}</p>
<div class="rulelab-scroll" tabindex="0" role="group" aria-label="code to paste">
<pre>{{ example | printable }}</pre></div>
{%- endif %}
{%- for warning in report.warnings %}
<p class="{{ words }}"><strong>warning:</strong> {{ warning.sentence() | printable }}</p>
{%- if warning.code %}
<div class="rulelab-scroll" tabindex="0" role="group" aria-label="code to paste">
<pre class="{{ words }}">{{ warning.code | printable }}</pre></div>
{%- endif %}
{%- endfor %}
{%- for note in report.notes %}
<p class="{{ words }}">note: {{ note | printable }}</p>
{%- endfor %}
</div>"""


@functools.cache
def _template():
    import jinja2

    environment = jinja2.Environment(autoescape=True)
    environment.filters["printable"] = printable
    return environment.from_string(_PAGE)
