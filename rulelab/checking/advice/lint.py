"""Advice on how a rule is written, from its text only: `rule_lint`, and its report."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from ...advice import skeleton
from ...errors import Place, RuleLabError, printable
from ...rules import constant, scalar
from ...rules.registry import DEFAULT, Registry
from ...rules.rule import Rule
from ...rules.targets import name_of, resolve
from ...tables import Page, Report, Table, prose
from ..reading.anatomy import Anatomy, anatomy_of, names
from .advices import ADVICES, Advice
from .repeated import neighbouring_tests, repeated_derivations
from .undefined import undefined_names


@dataclass(frozen=True, repr=False)
class Lint(Report):
    """What `rule_lint` found. It is false if there is no advice.

    Attributes
    ----------
    function : str
        The function whose rules were read.
    rules : tuple of str
        The rules that were read.
    advices : tuple of Advice
        What could be better, each with the line, a better one, and why.
    notes : tuple of str
        What could not be read.
    """

    function: str
    rules: tuple[str, ...]
    advices: tuple[Advice, ...] = ()
    notes: tuple[str, ...] = ()

    told_where: ClassVar[Callable[[str], str]] = staticmethod(str)
    """How a section of the manual is shown in a report; a notebook has links."""

    def __bool__(self) -> bool:
        return bool(self.advices)

    @property
    def headline(self) -> str:
        """The number of suggestions, in a sentence."""
        if not self.rules:
            return f"No rule of {self.function} could be read."
        count = len(self.advices)
        said = "no suggestions" if not count else "1 suggestion" if count == 1 else f"{count} suggestions"
        return f"{names(self.rules)} of {self.function}: {said}."

    def lines(self) -> Iterator[str]:
        """The report as lines of text."""
        yield self.headline
        for number, advice in enumerate(self.advices, start=1):
            yield f"{number}. {advice.found}"
            yield from (f"   {line}" for line in advice.place.lines())
            yield f"   why: {advice.why}"
            first, *more = advice.better.split("\n")
            yield f"   better: {first}"
            yield from (f"           {line}" for line in more)
            yield f"   read: {Lint.told_where(advice.read)}"
        yield from (f"note: {note}" for note in self.notes)

    def __str__(self) -> str:
        return "\n".join(printable(line) for line in self.lines())

    def page(self) -> Page:
        tables = tuple(
            Table(f"{n}. {advice.found}", ("", "text"), tuple(_rows(advice)), verbatim=("text",))
            for n, advice in enumerate(self.advices, start=1)
        )
        return Page((self.headline,), tables, tuple(f"note: {note}" for note in self.notes))

    def _repr_html_(self) -> str:
        return _template().render(report=self)

    def to_dict(self) -> dict[str, Any]:
        return {
            "function": self.function,
            "rules": list(self.rules),
            "advices": [
                {
                    "kind": a.kind,
                    "rule": a.rule,
                    "found": a.found,
                    "place": a.place.label(),
                    "line": a.place.source(),
                    "why": a.why,
                    "better": a.better,
                    "read": a.read,
                }
                for a in self.advices
            ],
            "notes": list(self.notes),
        }


def rule_lint(f: Any, *, tests: Iterable[types.FunctionType] = (), registry: Registry = DEFAULT) -> Lint:
    """Advice on how the rules of `f` are written: what costs time, hides a name, or could be left to a tool.

    Only the text is read; nothing is run.

    Parameters
    ----------
    f : callable
        The function, or the function that states its rule.
    tests : iterable of functions
        Tests of the rule, besides the functions named `test…` next to it: one that expects the rule's own
        formula is reported too.
    registry : Registry
        Where to look for rules.

    Returns
    -------
    Lint
        A report with an `Advice` for each thing found; it is false if there is none.

    Raises
    ------
    RuleLabError
        If `f` has no rule.

    Examples
    --------
    >>> import rulelab as rl
    >>> def cube(x): return x**3
    >>> @rl.rrule_for(cube)
    ... def cube_rrule(x):
    ...     def cube_pullback(y_bar):
    ...         return rl.NoTangent(), 3 * x**2 * y_bar
    ...     return x**3, cube_pullback
    >>> (advice,) = rule_lint(cube).advices
    >>> print(advice.better)
    rl.scalar_rule(cube, lambda y, x: 3 * x ** 2)
    """
    read: list[Anatomy] = []
    notes: list[str] = []
    stated = _stated(f, registry)
    for target, rule in stated:
        try:
            read.append(anatomy_of(rule, target))
        except RuleLabError as error:
            notes.append(error.found)
    advices = [advice for rule in read for advice in _advices(rule, tuple(tests))]
    names_read = tuple(dict.fromkeys(rule.name for rule in read))
    return Lint(stated[0][1].target_name, names_read, tuple(_in_order(advices)), tuple(dict.fromkeys(notes)))


def _advices(rule: Anatomy, tests: tuple[types.FunctionType, ...]) -> Iterator[Advice]:
    if undefined := list(undefined_names(rule)):  # other advice would have to know what they are
        yield from undefined
        return
    for advise in ADVICES:
        yield from advise(rule)
    yield from repeated_derivations(rule, dict.fromkeys((*tests, *neighbouring_tests(rule))))


def _in_order(advices: list[Advice]) -> list[Advice]:
    """Each piece of advice once, in the order of the text."""
    return sorted(dict.fromkeys(advices), key=lambda a: (a.place.filename, a.place.line, a.place.column or 0))


def _stated(f: Any, registry: Registry) -> list[tuple[Any, Rule]]:
    """The handwritten rules of the target `f`, the user's if there are any, otherwise the built-in ones; or
    the rule that `f` itself is.
    """
    target = resolve(f)[0]
    entry = registry.entry(target)
    for rules in (entry.user, entry.built_in) if entry is not None else ():
        found = [(target, r) for r in rules if isinstance(r, Rule) and is_written(r)]
        if found:
            return found
    for other in registry.entries():
        for rule in (*other.user, *other.built_in):
            if isinstance(rule, Rule) and rule.function is f and is_written(rule):
                return [(other.target(), rule)]
    known = entry is not None and any(isinstance(r, Rule) for r in (*entry.user, *entry.built_in))
    name = name_of(target)
    raise RuleLabError(
        f"{name} has no rule with code to judge" + (": its rule was generated" if known else ""),
        fixes=() if known else (skeleton(name),),
    )


_TOOLS = (constant.__name__, scalar.__name__)  # modules whose functions implement rules stated as formulas


def is_written(rule: Rule) -> bool:
    """Whether a rule is an author's function, not one that a tool made."""
    made = rule.partials is not None or (not rule.differentiable and rule.place is None)
    return not made and rule.function.__module__ not in _TOOLS


def _rows(advice: Advice) -> Iterator[tuple[str, str]]:
    first, *caret = advice.place.lines()
    yield "where", first
    yield from (("", line) for line in caret)
    yield "why", advice.why
    for n, line in enumerate(advice.better.split("\n")):
        yield ("" if n else "better"), line
    yield "read", Lint.told_where(advice.read)


_PAGE = """\
<div class="rulelab-lint tex2jax_ignore mathjax_ignore">
<style>
.rulelab-lint { color: var(--jp-content-font-color1, inherit); }
.rulelab-lint p { margin: 0.3em 0; }
.rulelab-lint .rulelab-verdict { font-weight: 600; }
.rulelab-lint ol { margin: 0.3em 0; padding-left: 1.6em; }
.rulelab-lint li { margin: 0.6em 0; }
.rulelab-lint.rulelab-lint dl { display: grid; grid-template-columns: max-content minmax(0, 1fr);
  margin: 0.2em 0; gap: 0.15em 0.8em; width: auto; max-width: none; }
.rulelab-lint.rulelab-lint dl { align-items: baseline; }
.rulelab-lint.rulelab-lint dt { font-weight: 400; float: none; width: auto; }
.rulelab-lint.rulelab-lint dd { margin: 0; float: none; width: auto; }
.rulelab-lint.rulelab-lint.rulelab-lint pre { font-family: var(--jp-code-font-family, monospace);
  font-size: var(--jp-code-font-size, 13px); line-height: 1.3; margin: 0; padding: 0; overflow-x: auto;
  white-space: pre; word-break: normal; overflow-wrap: normal; background: transparent; color: inherit; }
</style>
<p class="rulelab-verdict">{{ report.headline | prose }}</p>
{%- if report.advices %}
<ol>
{%- for advice in report.advices %}
<li><p class="rulelab-verdict">{{ advice.found | prose }}</p>
<dl><dt>where</dt><dd>{{ advice.place.label() | printable }}
<pre tabindex="0" role="article" aria-label="your line">{{ advice.place | code }}</pre></dd>
<dt>why</dt><dd>{{ advice.why | prose }}</dd>
<dt>better</dt><dd><pre tabindex="0" role="article" aria-label="the better line">
{{- advice.better | printable }}</pre></dd>
{%- set where = report.told_where(advice.read) %}
<dt>read</dt><dd>{% if where.startswith("http") %}<a href="{{ where }}">{{ advice.read | printable }}</a>
{%- else %}{{ where | printable }}{% endif %}</dd></dl></li>
{%- endfor %}
</ol>
{%- endif %}
{%- for note in report.notes %}
<p>note: {{ note | prose }}</p>
{%- endfor %}
</div>"""


@cache
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined  # here, because `import rulelab` must stay light

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters["printable"] = lambda words: printable(str(words))
    environment.filters["prose"] = prose
    environment.filters["code"] = lambda place: "\n".join(_code(place))
    return environment.from_string(_PAGE)


def _code(place: Place) -> list[str]:
    """The author's line and the caret below it, without the label of the place."""
    head = f"{place.label()}: "
    lines = place.lines()
    return [line[len(head) :] for line in lines] if lines[0].startswith(printable(head)) else lines
