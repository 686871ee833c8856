"""What the magics show that is not a report of its own: gradients, source, rules, what was stale, errors in
six lines.
"""

from __future__ import annotations

import json
import re
import sysconfig
import traceback
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np

from ..checking.comparison import plain_data, shortened
from ..errors import ForeignCallError, MutationError, Place, RuleLabError, printable
from ..rules.listing import Listed, listed
from ..tables import Page, Report, Table

_LIBRARIES = (
    str(Path(__file__).parents[1]),
    *(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib")),
)

SOURCE_STYLE = """\
<style>
.rulelab-source pre { color: var(--jp-content-font-color1, inherit);
  background: transparent; line-height: 1.3; margin: 0.3em 0; font-size: var(--jp-code-font-size, 13px);
  font-family: var(--jp-code-font-family, monospace); }
.rulelab-source .rulelab-k { color: var(--jp-mirror-editor-keyword-color, #007a3d);
  font-weight: 600; }
.rulelab-source .rulelab-s { color: var(--jp-mirror-editor-string-color, #ba2121); }
.rulelab-source .rulelab-c { color: var(--jp-mirror-editor-comment-color, #47747a); font-style: italic; }
.rulelab-source .rulelab-m { color: var(--jp-mirror-editor-number-color, #06604a); }
.rulelab-source .rulelab-d { color: var(--jp-mirror-editor-def-color, #0030c0); }
</style>"""


class Gradient(tuple, Report):
    """A gradient: the tuple that `rl.gradient` returns, which in a notebook names the arguments.

    Its text is that of the tuple. `function` is the name of what was differentiated, `names` has one entry
    for each positional argument.
    """

    function: str
    names: tuple[str, ...]

    def __new__(cls, values: Iterable = (), function: str = "f", names: Sequence[str] = ()):
        self = super().__new__(cls, values)
        self.function = function
        self.names = (*names, *(str(i) for i in range(len(names), len(self))))
        return self

    __str__ = tuple.__repr__  # the text of a report would hide that this is a tuple

    def page(self) -> Page:
        rows = tuple((n, *_kind(value), shortened(value)) for n, value in zip(self.names, self))
        columns = ("argument", "dtype", "shape", "gradient")
        unused = [n for n, value in zip(self.names, self) if value is None]
        note = f"None: {self.function} does not depend on {', '.join(unused)}." if unused else ""
        return Page((), (Table(f"Gradient of {self.function}", columns, rows),), (note,) if note else ())

    def to_dict(self) -> dict:
        kinds = [_kind(value) for value in self]
        return {
            "function": self.function,
            "gradients": [
                {"argument": name, "dtype": dtype, "shape": shape, "value": plain_data(value)}
                for name, (dtype, shape), value in zip(self.names, kinds, self)
            ],
        }


def _kind(value) -> tuple[str, str]:
    """dtype and shape of a gradient, in words; of what has none, its class."""
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), "×".join(map(str, value.shape)) or "scalar"
    name = "–" if value is None else type(value).__name__
    return name, "scalar" if isinstance(value, (int, float, complex)) else "–"


class Source(str):
    """Python source that shows itself coloured in a notebook and as it is elsewhere."""

    def _repr_html_(self) -> str:
        classes = "rulelab-source tex2jax_ignore mathjax_ignore"
        return f'<div class="{classes}">{SOURCE_STYLE}<pre>{_coloured(printable(self))}</pre></div>'

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.text(printable(str(self)))

    def to_dict(self) -> dict:
        """The source, under its name."""
        return {"source": str(self)}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """The source in a fence that nothing in it can end."""
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", self)), default=0))
        return f"{fence}python\n{printable(str(self)).rstrip()}\n{fence}"

    def to_latex(self) -> str:
        """The source as LaTeX's `verbatim`; a string in it that would end that is taken apart."""
        text = printable(str(self)).rstrip().replace("\\end{verbatim}", "\\end {verbatim}")
        return f"\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}"


class Stub(Source):
    """The skeleton of a rule, which was put into the next cell; it shows itself in a sentence, with the
    source folded.
    """

    function: str

    def __new__(cls, source: str, function: str = "f"):
        self = super().__new__(cls, source)
        self.function = function
        return self

    @property
    def sentence(self) -> str:
        return printable(f"The skeleton of a rule for {self.function} is in the next cell.")

    def _repr_html_(self) -> str:
        summary = f'<summary class="tex2jax_ignore mathjax_ignore">{escape(self.sentence)}</summary>'
        return f"<details>{summary}{super()._repr_html_()}</details>"

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.text(self.sentence)

    def to_dict(self) -> dict:
        """The function and the source."""
        return {"function": self.function, "source": str(self)}


class Defined(Report):
    """What `%%rrule` did: which name now has which rule, from which cell, and remarks for its author."""

    def __init__(self, name: str, rule: str, cell: str, of: str | None = None, remarks: Sequence[str] = ()):
        self.name, self.rule, self.cell, self.of, self.remarks = name, rule, cell, of, tuple(remarks)

    def page(self) -> Page:
        copy = f", a copy of {self.of}," if self.of is not None else ""
        return Page((f"{self.name}{copy} now has the rule {self.rule}.",), (), self.remarks)

    def to_dict(self) -> dict:
        return {
            "name": self.name,
            "copy of": self.of,
            "rule": self.rule,
            "defined at": self.cell,
            "remarks": list(self.remarks),
        }


class Rules(Report):
    """The rules of a registry: the user's own one by one, those of the house folded behind their number.

    `rules` are the registry's `Rule` objects. With `text` only those are shown in whose target's name it
    stands as a word, and nothing is folded.
    """

    def __init__(self, rules: Iterable, text: str = ""):
        found = listed(rules, text)
        self.text = text
        self.own = [rule for rule in found if not rule.house]
        self.house = [rule for rule in found if rule.house]

    def page(self) -> Page:
        columns = ("target", "kind", "rule", "defined at")
        own = Table("Your rules", columns, tuple(map(_rule_row, self.own)))
        folded, title = not self.text, f"Rules of the house ({len(self.house)})"
        house = Table(title, columns, tuple(map(_rule_row, self.house)), folded=folded)
        tables = ((own,) if self.own else ()) + ((house,) if folded or self.house else ())
        if self.text and not tables:
            return Page((f"There is no rule for a function with {self.text} as a word of its name.",))
        lead = "No rules of your own yet: %rule_stub f writes the skeleton of one."
        return Page((lead,) if folded and not self.own else (), tables)

    def to_dict(self) -> dict:
        names = ("target", "kind", "rule", "defined at")
        return {
            "own": [dict(zip(names, _rule_row(rule))) for rule in self.own],
            "house": [dict(zip(names, _rule_row(rule))) for rule in self.house],
        }


class Refreshed(Report):
    """What `%grad_refresh` did: the mode, and each compiled pass that was stale with the reason."""

    def __init__(self, report):
        self.report = report
        self.mode = report.mode
        self.stale = tuple(report.stale)

    def page(self) -> Page:
        count = len(self.stale)
        lead = f"Mode {self.mode}. " + (
            "Nothing was stale."
            if not count
            else "1 compiled pass was stale and has been dropped."
            if count == 1
            else f"{count} compiled passes were stale and have been dropped."
        )
        rows = tuple((_named(s.function), _words(s.signature), _words(s.reason)) for s in self.stale)
        return Page((lead,), (Table("Stale", ("function", "arguments", "why"), rows),) if rows else ())

    def to_dict(self) -> dict:
        return {
            "mode": self.mode,
            "stale": [
                {"function": _named(s.function), "signature": _words(s.signature), "reason": _words(s.reason)}
                for s in self.stale
            ],
        }


def error_lines(error: RuleLabError) -> list[str]:
    """An error as IPython is to show it: its own lines under its class, and the stub offered where a rule
    would help.
    """
    lines = f"{type(error).__name__}: {error}".split("\n")
    if isinstance(error, (MutationError, ForeignCallError)) and "%rule_stub" not in str(error):
        lines.append(f"do: write a rule; %rule_stub {_culprit(error)} puts its skeleton in the next cell")
    return lines[:6] if len(lines) <= 6 else [*lines[:5], lines[-1]]


def error_in_words(error: BaseException) -> str:
    """An error in a line or a few, with the user's own line: for a place that has no room for a traceback."""
    if isinstance(error, RuleLabError):
        return "\n".join(error_lines(error))
    if type(error).__module__.startswith("rulelab."):
        return str(error)
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    steps = [step for step in traceback.walk_tb(error.__traceback__) if not _of_a_library(step[0])]
    if not steps:
        return f"{words} (inside rulelab; please report it)"
    frame, line = steps[-1]
    place = Place.of_frame(frame)._replace(line=line)
    return f"{words}\n{place.label()}: {place.source().strip()}"


def _of_a_library(frame) -> bool:
    """Whether a frame is of rulelab, of an installed package or of Python's own library."""
    return frame.f_code.co_filename.startswith(_LIBRARIES)


def _culprit(error: RuleLabError) -> str:
    """The function a rule would help: the one in whose body it happened."""
    name = getattr(error.place, "function", None)
    return name if name and name.isidentifier() else "f"


def _rule_row(rule: Listed) -> tuple[str, ...]:
    return rule.target, rule.kind, rule.functions, rule.place or "–"


def _named(function) -> str:
    return function if isinstance(function, str) else getattr(function, "__name__", None) or str(function)


def _words(value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return ", ".join(_words(v) for v in value)
    return value.__name__ if isinstance(value, type) else str(value)


def _coloured(source: str) -> str:
    """The source as escaped HTML with one class for each kind of token."""
    return "\n".join(coloured_lines(source)).rstrip("\n")


def coloured_lines(source: str) -> list[str]:
    """Each line of the source as escaped HTML with one class for each kind of token, none of which goes on
    into the next line; plain where Pygments is not there.
    """
    try:
        from pygments.lexers import PythonLexer
        from pygments.token import Token
    except ImportError:
        return escape(source).split("\n")
    kinds = (
        (Token.Keyword, "k"),
        (Token.Operator.Word, "k"),
        (Token.Literal.String, "s"),
        (Token.Comment, "c"),
        (Token.Literal.Number, "m"),
        (Token.Name.Function, "d"),
        (Token.Name.Class, "d"),
    )

    def part(token, text: str) -> str:
        kind = next((letter for parent, letter in kinds if token in parent), None)
        if kind is None or not text:
            return escape(text)
        return f'<span class="rulelab-{kind}">{escape(text)}</span>'

    lines = [""]
    for token, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(source):
        first, *others = text.split("\n")
        lines[-1] += part(token, first)
        lines += [part(token, other) for other in others]
    return lines
