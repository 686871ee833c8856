"""The result of a symbolic check, as text, LaTeX, HTML and data."""

from __future__ import annotations

import functools
import itertools
import json
import re
from dataclasses import dataclass, replace
from typing import Any

from ..errors import printable
from ..mathml import formula_html
from ..tables import Page, Report, Table, drawn, label, name_latex, prose, stacked, text_latex
from ..verdicts import headed, said
from .caveats import Caveat
from .formulas import Formula
from .verdicts import A_RESULT, Converges, Proved, Refuted, Undecided, Verdict, in_short
from .verdicts import to_dict as verdict_dict


@dataclass(frozen=True)
class ArgumentFinding:
    """For one argument: y_bar times SymPy's derivative, the rule's cotangent, and their difference."""

    name: str
    derivative: Formula
    rule: Formula
    difference: Formula

    @property
    def is_long(self):
        """Whether one of its formulas takes too many lines of text to read at a glance."""
        return any(len(f.text) > _TEXT_LONG for f in (self.derivative, self.rule, self.difference))

    @property
    def says_something(self):
        """Whether there is any formula to read, other than a difference of zero."""
        return (
            self.derivative.whole
            or self.rule.whole
            or (self.difference.whole and self.difference.text != "0")
        )


@dataclass(frozen=True)
class CellFinding:
    """The formulas on one cell: `condition` says which cell, `samples` how many of its points were tried,
    `sizes` the shapes of its arrays, in words.
    """

    condition: str
    samples: int
    arguments: tuple[ArgumentFinding, ...]
    sizes: str = ""

    @property
    def caption(self):
        """Which cell it is, in words; empty if there is nothing to say."""
        return ", ".join(filter(None, (_at_sizes(self.sizes), _where(self.condition))))

    @property
    def heading(self):
        """The caption of its table."""
        words = self.caption or "formulas"
        return words[0].upper() + words[1:]


@dataclass(frozen=True, repr=False)
class SymbolicReport(Report):
    """The verdict on a rule, with the formulas behind it for each case, and the warnings that belong to
    it.

    Attributes
    ----------
    function : str
        The function that the rule is for.
    names : tuple
        Its arguments.
    verdict : Proved, Refuted, Undecided, Unsupported, Agrees or Converges
        The verdict, with its scope or its counterexample; `verdict.word` is its name.
    cells : tuple of CellFinding
        The formulas, for each size and each region in which the function has one.
    notes : tuple of str
        Assumptions, and what was not tried.
    seconds : float
        How long it took.
    warnings : tuple of Caveat
        Where a rule that is right elsewhere gives no number or a wrong one, or loses digits.
    """

    function: str
    names: tuple[Any, ...]
    verdict: Verdict
    cells: tuple[CellFinding, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    warnings: tuple[Caveat, ...] = ()

    columns = ("argument", "derivative * y_bar", "the rule gives", "difference")

    @property
    def html_columns(self):
        """The columns as HTML; one of them has the seed in mathematical notation."""
        return (self.columns[0], _derivative_by_seed(), *self.columns[2:])

    @property
    def lead(self):
        """The words before the function in the headline."""
        return "rule of "

    @property
    def so_far(self):
        """A preliminary result while the check still runs, in a few words; empty if nothing is known yet."""
        verdict = self.verdict
        # Not final: arguments that may not be intended have not been excluded yet.
        if isinstance(verdict, Refuted):
            return "wrong at one point, being rechecked"
        if not isinstance(verdict, Undecided):
            return said(verdict.word)
        return f"agrees to {verdict.digits} digits" if verdict.digits else ""

    def stopped(self):
        """This report as that of a check that was stopped now."""
        if not isinstance(self.verdict, Undecided):
            return self
        return replace(self, verdict=replace(self.verdict, why="it was stopped before it was decided"))

    @property
    def arguments(self):
        """The findings of the first cell, one for each argument."""
        return self.cells[0].arguments if self.cells else ()

    def with_formulas(self):
        """The cells with formulas that can be shown; those of large cells were not made, or are too long."""
        found = []
        for cell in self.cells:
            if rows := tuple(row for row in cell.arguments if row.says_something):
                found.append(replace(cell, arguments=rows))
        return found

    def lines(self, whole=False):
        """The report as lines of text; long parts are folded unless `whole`."""
        head, *below = self._headed()
        yield head
        scope = [line if whole else _shortened(line) for line in self.scope_lines()]
        yield from (f"  {line}" for line in (*below, *scope))
        yield from (f"    {line}" for line in self.place_lines())
        cells = self.with_formulas()
        shown = len(cells) if whole else self._shown(_TEXT_ROWS) or self._shown()
        if not whole and any(row.is_long for cell in cells[:shown] for row in cell.arguments):
            shown = 0
        for cell in cells[:shown]:
            if len(self.cells) > 1 or cell.condition:
                yield f"  {cell.caption or 'where no branch was found'}:"
            for row in cell.arguments:
                yield from self.row_lines(row)
        folded = [self._folded(shown), "the whole scope" if scope != list(self.scope_lines()) else ""]
        if any(folded) and not whole:
            yield f"  its .details() shows {', and '.join(filter(None, folded))}"
        yield from self.number_lines()
        yield from (f"  {line}" for line in self.counterexample_lines())
        yield from (f"  {line}" for warning in self.warnings for line in warning.lines())
        yield from (f"  note: {note}" for note in self.notes)

    def place_lines(self):
        """The author's line at which the code could not be followed, with a caret below it."""
        place = getattr(self.verdict, "place", None)
        return () if place is None else place.code_lines()

    def scope_lines(self):
        """The scope of a proof whose headline names only kinds and sizes."""
        if isinstance(self.verdict, Proved) and self.verdict.kinds:
            yield f"scope: {self.verdict.detail()}"

    def row_lines(self, row):
        """The formulas for one argument as lines of text."""
        yield f"    {row.name}: derivative * y_bar = {row.derivative.text}"
        yield f"    {' ' * len(row.name)}  the rule gives      {row.rule.text}"
        yield f"    {' ' * len(row.name)}  difference          {row.difference.text}"

    def number_lines(self):
        """The numbers between the formulas and the counterexample, as lines of text."""
        yield from (f"  {line}" for line in self.convergence_lines())

    def counterexample_lines(self):
        example = self.verdict.counterexample if isinstance(self.verdict, Refuted) else None
        if example is None:
            return
        at = [f"{name} = {listed(value)}" for name, value in example.arguments.items()]
        if self.shows_seed(example):
            at.append(f"y_bar = {listed(example.y_bar)}")
        expected, found = in_short(example.expected, example.found)
        if expected == found:
            expected, found = example.expected, example.found
        # Arrays are in the code below and need not be shown twice.
        has_arrays = any("[" in listed(value) for value in (*example.arguments.values(), example.y_bar))
        where = "" if has_arrays and example.code else f"at {', '.join(at)}: "
        raised = example.expected == A_RESULT
        said = f"raises {found}" if raised else f"should be {expected}, but is {found}"
        yield f"{where}{example.where} {said}"
        yield "to see it:"
        yield from (f"    {line}" for line in example.code.splitlines())

    def shows_seed(self, example):
        """Whether the seed of a counterexample is worth mentioning."""
        return True

    def convergence(self):
        """The errors for increasing numbers of steps as a table, if the verdict has any; else None."""
        verdict = self.verdict
        if not isinstance(verdict, Converges):
            return None
        columns = (verdict.steps, *(f"error in the cotangent of {name}" for name, _ in verdict.errors))
        rows = zip(verdict.sizes, *(errors for _, errors in verdict.errors), strict=True)
        cells = tuple((str(n), *(f"{error:.1e}" for error in errors)) for n, *errors in rows)
        return Table("Relative errors", columns, cells)

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
        return _joined(self.lines())

    def details(self):
        """Everything that is folded in the text of a report: the whole scope, and the formulas for each
        cell.
        """
        return _joined(self.lines(whole=True))

    def page(self):
        """The report as tables of formulas in text; `_repr_html_` and `to_latex` show them as mathematics."""
        tables = tuple(
            Table(
                cell.heading,
                self.columns,
                tuple((a.name, a.derivative.text, a.rule.text, a.difference.text) for a in cell.arguments),
            )
            for cell in self.with_formulas()
        )
        errors = self.convergence()
        lead = (*self._headed(), *self.place_lines(), *self.scope_lines())
        tables = tables if errors is None else (*tables, errors)
        return Page(lead, tables, self._closing(), self.verdict.word)

    def to_latex(self):
        """The verdict, the formulas as displayed mathematics, and the notes."""
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
        for cell in self.with_formulas():
            if cell.caption:
                rows.append(rf"&\text{{{text_latex(cell.caption)}}}")
            rows += map(self.row_latex, cell.arguments)
        return latex_display(rows)

    def head_latex(self):
        """The first row of the displayed mathematics."""
        return rf"&\text{{{said(self.verdict.word)}: }}{name_latex(self.function)}"

    def row_latex(self, row):
        """The formulas for one argument as one of its rows."""
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
            formula_html=formula_html,
            sign=drawn(self.verdict.word),
            shown=self._shown(),
            folded=self._folded(),
            found=next(self.counterexample_lines(), ""),
            example=_code_of(self.verdict),
        )

    def _shown(self, most=None):
        """The number of cells whose formulas are not folded: as many as can be read at a glance."""
        rows = itertools.accumulate(len(cell.arguments) for cell in self.with_formulas())
        return sum(count <= (most or _ROWS) for count in rows)

    def _folded(self, shown=None):
        """The summary of the folded formulas and their number; empty if there are none."""
        cells = self.with_formulas()
        folded = cells[self._shown() if shown is None else shown :]
        rows = sum(len(cell.arguments) for cell in folded)
        more = "more " if len(folded) < len(cells) else ""
        where = f" for {len(folded)} cases" if len(folded) > 1 else ""
        formulas = f"{rows} {more}formula{'s' if rows > 1 else ''}"
        return f"{formulas}{where}: derivative, rule and difference" if folded else ""

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


def _at_sizes(sizes):
    """The shapes of the arrays in words.

    >>> _at_sizes("(3,)"), _at_sizes("(3, 2) with (3,) with (2,)")
    ('at size (3,)', 'at sizes (3, 2), (3,) and (2,)')
    """
    *most, last = sizes.split(" with ")
    return f"at sizes {', '.join(most)} and {last}" if most else f"at size {last}" if last else ""


def _where(condition):
    """The conditions in words, including those that are only counted.

    >>> _where("x > 0"), _where("x > 0 and 2 more conditions")
    ('where x > 0', 'where x > 0 and 2 more conditions hold')
    """
    counted = condition.endswith((" condition", " conditions"))
    holds = "" if not counted else " hold" if condition.endswith("s") else " holds"
    return f"where {condition}{holds}" if condition else ""


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


def _plain(data):
    return json.loads(json.dumps(data, default=str))


def _derivative_by_seed():
    from markupsafe import Markup

    return Markup("derivative times {}").format(formula_html(r"\bar y", "y_bar"))


_ROWS = 8  # formulas that can be read at a glance
_TEXT_ROWS = 4  # the same in text, where each takes three lines
_TEXT_LONG = 240  # characters of a formula in text: three lines of a terminal
_PAGE = """\
<div class="rulelab-symbolic tex2jax_ignore mathjax_ignore">
<style>
.rulelab-symbolic { color: var(--jp-content-font-color1, inherit); }
.rulelab-symbolic p { margin: 0.3em 0; overflow-wrap: anywhere; }
.rulelab-symbolic .rulelab-verdict { font-weight: 600; }
.rulelab-symbolic summary { cursor: pointer; }
.rulelab-symbolic .rulelab-scroll { overflow-x: auto; }
.rulelab-symbolic table { border-collapse: collapse; margin: 0.3em 0; }
.rulelab-symbolic caption { text-align: left; caption-side: top; font-weight: 600; padding: 0.2em 0;
  color: var(--jp-content-font-color1, inherit); }
.rulelab-symbolic.rulelab-symbolic th, .rulelab-symbolic.rulelab-symbolic td { text-align: left;
  vertical-align: middle; padding: 0.25em 1.2em 0.25em 0; background: transparent; white-space: nowrap;
  border-bottom: 1px solid var(--jp-border-color2, #bdbdbd); }
.rulelab-symbolic math { font-size: 1.12em; }
.rulelab-symbolic td math { math-style: normal; }
.rulelab-symbolic.rulelab-symbolic td:has(mfrac) { padding-top: 0.45em; padding-bottom: 0.45em; }
.rulelab-symbolic tbody th { font-family: var(--jp-code-font-family, monospace);
  font-size: var(--jp-code-font-size, 13px); }
.rulelab-symbolic.rulelab-symbolic .rulelab-number { text-align: right; }
.rulelab-symbolic.rulelab-symbolic pre { white-space: pre; overflow: visible;
  font-size: var(--jp-code-font-size, 13px); margin: 0.3em 0; }
.rulelab-symbolic { container-type: inline-size; }
{{ stacked("rulelab-symbolic") }}
</style>
<p class="rulelab-verdict">{{ sign }}{{ head | prose }}</p>
{%- set scope = report.scope_lines() | list %}
{%- for line in below if not scope %}
<p>{{ line | prose }}</p>
{%- endfor %}
{%- set code = report.place_lines() | list %}
{%- if code %}
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="the line">
<pre>{{ code | join("\n") | printable }}</pre></div>
{%- endif %}
{%- for line in scope %}
<details><summary>Where, and by what means</summary>
{%- for whole in below %}
<p>{{ whole | prose }}</p>
{%- endfor %}
<p>{{ line | prose }}</p></details>
{%- endfor %}
{%- for cell in report.with_formulas() %}
{%- if loop.index0 == shown and folded %}
<details><summary>{{ folded }}</summary>
{%- endif %}
{%- set caption = cell.heading | printable %}
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="{{ caption }}">
<table>
<caption>{{ caption }}</caption>
<thead><tr>{% for name in report.html_columns %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in cell.arguments %}
<tr><th scope="row">{{ row.name | printable }}</th>
{%- for shown in (row.derivative, row.rule, row.difference) %}
<td{{ report.columns[loop.index] | label }}>{{ formula_html(shown.latex, shown.text) }}</td>
{%- endfor %}</tr>
{%- endfor %}
</tbody></table></div>
{%- endfor %}
{%- if folded %}
</details>
{%- endif %}
{%- set errors = report.convergence() %}
{%- if errors %}
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="{{ errors.caption | printable }}">
<table>
<caption>{{ errors.caption | printable }}</caption>
<thead><tr>
{%- for column in errors.columns %}
<th scope="col"{% if loop.index0 in errors.numeric() %} class="rulelab-number"{% endif %}>
{{- column | printable }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in errors.rows %}
<tr><th scope="row">{{ row[0] }}</th>{% for cell in row[1:] %}
<td class="rulelab-number"{{ errors.columns[loop.index] | label }}>{{ cell }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody></table></div>
{%- endif %}
{%- if found %}
<p>{{ found | prose }}</p>
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="code to paste">
<pre>{{ example | printable }}</pre></div>
{%- endif %}
{%- for warning in report.warnings %}
<p><strong>warning:</strong> {{ warning.sentence() | prose }}</p>
{%- if warning.code %}
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="code to paste">
<pre>{{ warning.code | printable }}</pre></div>
{%- endif %}
{%- endfor %}
{%- for note in report.notes %}
<p>note: {{ note | prose }}</p>
{%- endfor %}
</div>"""


_CASES = re.compile(
    r"(?P<head>scope: \d+ cases: )(?P<cases>.*?)"
    r"(?P<rest>, for (?:numbers|sizes|[\w.]+:) .*|, with .*| \(by .*)"
)
_CASES_SHOWN = 60  # characters for the cases of a scope


def _shortened(scope):
    """A scope line with its cases shortened if they are too long.

    >>> _shortened(f"scope: 9 cases: {' and '.join(['of_x < 0'] * 90)}, for sizes (2,) (by it)")
    'scope: 9 cases: of_x < 0 and of_x < 0 and of_x < 0 and of_x < 0 and of_x < 0 …, for sizes (2,) (by it)'
    """
    found = _CASES.fullmatch(scope)
    if found is None or len(found["cases"]) <= _CASES_SHOWN:
        return scope
    shown = re.match(rf".{{,{_CASES_SHOWN}}}(?= and |; )", found["cases"])
    return f"{found['head']}{shown[0] if shown else ''} …{found['rest']}"


def _joined(lines):
    return "\n".join(printable(line.replace("\n", " ")) for line in lines)


@functools.cache
def _template():
    import jinja2

    environment = jinja2.Environment(autoescape=True)
    environment.filters["printable"] = printable
    environment.filters["prose"] = prose
    environment.filters["label"] = label
    environment.globals["stacked"] = stacked
    return environment.from_string(_PAGE)
