"""The report of a check as HTML: the verdict, the mistake with its line and correction, numbers, tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import Place, printable
from ...tables import Table, drawn, label, numbered, prose, stacked, unbroken
from ...verdicts import CANNOT_TELL, RIGHT, WRONG, sign_of, word_of

if TYPE_CHECKING:
    from ..probing.findings import Finding

_PAGE = """\
{%- macro table(t) %}
{%- set numeric = t.numeric() %}
<div class="rulelab-scroll" tabindex="0" role="article" aria-label="{{ t.caption | printable }}">
<table aria-label="{{ t.caption | printable }}">
<thead><tr>{% for name in t.columns %}
{%- if name %}<th scope="col"{% if loop.index0 in numeric %} class="rulelab-number"{% endif %}>
{{- name | printable }}</th>{% else %}<td></td>{% endif %}
{%- endfor %}</tr></thead>
<tbody>
{%- for row in t.rows %}
{%- set verdict = t.verdicts[loop.index0] if t.verdicts else "" %}
<tr>{% for cell in row %}{% if loop.first -%}
<th scope="row"{{ t.columns[0] | numbered(cell) }}>{{ cell | printable }}</th>
{%- else %}<td{% if loop.index0 in numeric %} class="rulelab-number"{% endif %}
{{- t.columns[loop.index0] | label }}>
{%- if t.columns[loop.index0] == "verdict" %}{{ verdict | sign }}{% endif %}{{ cell | unbroken }}</td>
{%- endif %}{% endfor %}</tr>
{%- endfor %}
</tbody></table></div>
{%- endmacro %}
<div class="rulelab-check rulelab-{{ report.verdict }} tex2jax_ignore mathjax_ignore"
 style="border-left-color: {{ colour }}">
<style>
.rulelab-check { color: var(--jp-content-font-color1, inherit); padding: 0.1em 0 0.1em 0.8em;
  border-left: 4px solid #9e9e9e; max-width: 72em; }
.rulelab-check p { margin: 0.3em 0; overflow-wrap: anywhere; }
.rulelab-check .rulelab-verdict { font-weight: 600; font-size: 1.05em; }
.rulelab-check .rulelab-quiet { color: var(--jp-content-font-color2, inherit); font-size: 0.92em; }
.rulelab-check .rulelab-label { font-weight: 600; margin: 0.7em 0 0.1em; }
.rulelab-check.rulelab-check pre { font-family: var(--jp-code-font-family, monospace);
  font-size: var(--jp-code-font-size, 13px); line-height: 1.4; margin: 0.2em 0; padding: 0.35em 0.6em;
  overflow-x: auto; white-space: pre; word-break: normal; overflow-wrap: normal; color: inherit;
  background: transparent; border: 1px solid var(--jp-border-color2, #bdbdbd); border-radius: 3px; }
.rulelab-check pre .rulelab-line { display: block; width: max-content; min-width: 100%; }
.rulelab-check pre .rulelab-minus { background: rgba(211, 47, 47, 0.14); }
.rulelab-check pre .rulelab-plus { background: rgba(56, 142, 60, 0.16); }
.rulelab-check .rulelab-scroll { overflow-x: auto; max-width: 100%; }
.rulelab-check.rulelab-check table { border-collapse: collapse; margin: 0.2em 0;
  font-size: var(--jp-code-font-size, 13px); font-variant-numeric: tabular-nums; }
.rulelab-check.rulelab-check th, .rulelab-check.rulelab-check td { text-align: left; vertical-align: top;
  padding: 0.15em 1.2em 0.15em 0; background: transparent; white-space: nowrap;
  border-bottom: 1px solid var(--jp-border-color2, #bdbdbd); }
.rulelab-check.rulelab-check th { font-weight: 600; }
.rulelab-check.rulelab-check td { font-weight: 400; }
.rulelab-check td, .rulelab-check tbody th { font-family: var(--jp-code-font-family, monospace); }
.rulelab-check.rulelab-check .rulelab-number { text-align: right; }
.rulelab-check { container-type: inline-size; }
.rulelab-check.rulelab-check td:not(.rulelab-number):last-child { white-space: normal; min-width: 11em; }
@container (max-width: 54em) {
  .rulelab-check.rulelab-check tbody th { white-space: normal; min-width: 8em; }
}
{{ stacked("rulelab-check") }}
.rulelab-check details { margin: 0.3em 0; }
.rulelab-check summary { cursor: pointer; }
</style>
<p class="rulelab-verdict">{{ report.verdict | sign }}{{ report.headlines[0] | prose }}</p>
{%- for line in report.headlines[1:] %}
<p>{{ line | prose }}</p>
{%- endfor %}
<p class="rulelab-quiet">{{ about | prose }}</p>
{%- for one in report.diagnoses %}
{%- if not loop.first %}
<p class="rulelab-label">Also: {{ one.words | prose }}</p>
{%- endif %}
{%- if one.place %}
<p class="rulelab-label">{{ "Where to look" if one.mistake == "unexplained" else "The mistake" }}:
{{ one.place.label() | printable }}</p>
<pre tabindex="0" role="article" aria-label="the line of the mistake">{{ one.place | code }}</pre>
{%- endif %}
{%- if one.advice %}
<p><strong>Do:</strong> {{ one.advice | prose }}</p>
{%- endif %}
{%- if one.diff %}
<p class="rulelab-label">C{{ one.corrected[1:] | prose }}</p>
<pre tabindex="0" role="article" aria-label="the corrected line">
{%- for sign, line in changed(one.diff) -%}
<span class="rulelab-line{{ sign }}">{{ line | printable }}</span>
{%- endfor -%}
</pre>
{%- endif %}
{%- endfor %}
{%- if numbers %}
<p class="rulelab-label">Furthest off</p>
{{- table(numbers) }}
{%- if where %}
<p class="rulelab-quiet">at {{ where | prose }}</p>
{%- endif %}
{%- endif %}
{%- for line in others %}
<p>{{ line | prose }}</p>
{%- endfor %}
{%- if report.checks %}
<details{% if open %} open{% endif %}><summary>{{ summary | prose }}</summary>
{{- table(checks) }}
</details>
{%- endif %}
{%- if report.points %}
<details><summary>{{ points.caption | printable }}</summary>
{{- table(points) }}
</details>
{%- endif %}
{%- for note in report.notes %}
<p class="rulelab-quiet">note: {{ note | prose }}</p>
{%- endfor %}
</div>"""

_CLASSES = {"-": " rulelab-minus", "+": " rulelab-plus"}


class ReportContents(Protocol):
    """What a page needs of a report of a check (`reports.RuleCheck`)."""

    @property
    def verdict(self) -> str: ...
    @property
    def place(self) -> Place | None: ...
    @property
    def checks(self) -> Any: ...
    @property
    def diagnoses(self) -> Any: ...
    @property
    def extent(self) -> str: ...
    @property
    def closing(self) -> str: ...
    @property
    def worst(self) -> Finding | None: ...
    def where(self, finding: Finding) -> str: ...
    def numbers_table(self) -> Table | None: ...
    def checks_table(self) -> Table: ...
    def points_table(self) -> Table: ...
    def other_findings(self) -> Iterator[str]: ...
    def failed_checks(self) -> list[Any]: ...


def html_of_check(report: ReportContents) -> str:
    """The HTML of one report: escaped, without scripts, with its tables folded."""
    numbers = report.numbers_table()
    found = report.worst
    return _template().render(
        report=report,
        colour=sign_of(report.verdict).colour,
        about=f"{_stated(report)}{report.extent}, {report.closing}",
        numbers=numbers,
        where=report.where(found) if found is not None else "",
        others=list(report.other_findings()),
        summary=_counts(report),
        open=bool(report.failed_checks()) and not report.diagnoses,
        checks=report.checks_table(),
        points=report.points_table(),
    )


def _stated(report: ReportContents) -> str:
    return f"Defined at {report.place.label()}. " if report.place is not None else ""


def _counts(report: ReportContents) -> str:
    """How many checks have each verdict, in words."""
    verdicts = [word_of(check.verdict) for check in report.checks]
    counts = [f"{verdicts.count(word)} {word}" for word in (RIGHT, WRONG, CANNOT_TELL)]
    return "Checks: " + ", ".join(words for words in counts if not words.startswith("0 "))


def _marked(diff: str) -> list[tuple[str, str]]:
    """Each line of a diff with its CSS class."""
    return [(_CLASSES.get(line[:1], ""), line) for line in changed_lines(diff)]


def changed_lines(diff: str) -> list[str]:
    """The lines of a unified diff without its headings, and without the indent that they all share.

    >>> changed_lines("--- a\\n+++ b\\n@@ -1 +1 @@\\n-    x = 1\\n+    x = 2\\n")
    ['- x = 1', '+ x = 2']
    """
    kept = [line for line in diff.splitlines() if line and not line.startswith(("---", "+++", "@@"))]
    signs, lines = [line[0] for line in kept], [line[1:].expandtabs(4) for line in kept]
    return [f"{sign} {line}".rstrip() for sign, line in zip(signs, dedent("\n".join(lines)).split("\n"))]


def _code(place: Place) -> str:
    """The author's line and the caret below it, without the label of the place."""
    head = printable(f"{place.label()}: ")
    lines = place.lines()
    return "\n".join(line[len(head) :] for line in lines) if lines[0].startswith(head) else "\n".join(lines)


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined  # here, because `import rulelab` must stay light

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["printable"] = lambda words: printable(str(words))
    environment.filters["code"] = _code
    environment.filters["sign"] = drawn
    environment.filters["prose"] = prose
    environment.filters["unbroken"] = unbroken
    environment.filters["label"] = label
    environment.filters["numbered"] = numbered
    environment.globals["stacked"] = stacked
    environment.globals["changed"] = _marked
    return environment.from_string(_PAGE)
