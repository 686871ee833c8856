"""The results of magics that are not reports of their own: gradients, source, rules, stale passes, and errors
in six lines.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import traceback
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..checking.advice.advices import Advice
from ..checking.comparing.comparison import named_leaves
from ..checking.judgement.reports import RIGHT, WRONG, RuleCheck
from ..checking.measuring.shortening import index_text, plain_data, shortened
from ..errors import ForeignCallError, MutationError, Place, RuleLabError, printable
from ..nearest import OF_MANY_WORDS, did_you_mean
from ..raised import is_of_a_library, raised_words
from ..rules.listing import Listed, homes_in, listed
from ..rules.registry import Registry
from ..screen import of_message, on_screen
from ..tables import DARK_HOSTS, Page, Report, Table, name_latex
from ..tangents.projection import class_shown
from ..verdicts import BELOW, headed
from .manual import where_to_read

_COLOURS = {
    "k": ("keyword", "#007a3d", "#6cc38a"),
    "s": ("string", "#ba2121", "#f0907a"),
    "c": ("comment", "#47747a", "#8fb8a8"),
    "m": ("number", "#06604a", "#9ed6a0"),
    "d": ("def", "#0030c0", "#8ab4f8"),
}
"""For each kind of token, the name of its colour in JupyterLab, and the colours for a light and for a dark
theme.
"""


def _lines_of_colour() -> str:
    """The lines of the style sheet for the colours. A page without a theme may be light or dark: there a
    colour is mixed with the text colour.
    """
    plain, dark = [], []
    for letter, (name, light, in_the_dark) in _COLOURS.items():
        here = f".rulelab-source .rulelab-{letter}"
        mixed = f"color-mix(in srgb, {light} 45%, currentColor)"
        plain.append(f"{here} {{ color: var(--jp-mirror-editor-{name}-color, {mixed}); }}")
        dark.append(f'[data-jp-theme-light="false"] {here},\n{DARK_HOSTS} {here} {{ color: {in_the_dark}; }}')
    return "\n".join((*plain, *dark))


SOURCE_STYLE = """\
<style>
.rulelab-source.rulelab-source pre { color: var(--jp-content-font-color1, inherit);
  background: transparent; line-height: 1.3; margin: 0.3em 0; font-size: var(--jp-code-font-size, 13px);
  font-family: var(--jp-code-font-family, monospace); white-space: pre; word-break: normal;
  overflow-wrap: normal; overflow-x: auto; }
.rulelab-source .rulelab-k { font-weight: 600; }
.rulelab-source .rulelab-c { font-style: italic; }
COLOURS
</style>""".replace("COLOURS", _lines_of_colour())
"""JupyterLab's own dark theme has colours for comments and names that are too dark to read easily."""


class _TupleShown(tuple, Report):
    """A tuple shown as tables in a notebook; its text is that of the tuple, with remarks below."""

    def remarks(self) -> tuple[str, ...]:
        """Remarks about the values."""
        return ()

    def __str__(self) -> str:  # the text of a report would hide that this is a tuple
        return "\n".join((tuple.__repr__(self), *self.remarks()))

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.pretty(tuple(self))
        for remark in self.remarks():
            printer.break_()
            printer.text(on_screen(remark))


class Gradient(_TupleShown):
    """A gradient: the tuple that `rl.gradient` returns, shown with the names of the arguments in a notebook.

    Its text is that of the tuple, and a note. `function` is the name of the differentiated function, `names`
    has one entry for each positional argument, and `note` says what these are where that could be misread.
    """

    function: str
    names: tuple[str, ...]
    note: str

    def __new__(cls, values: Iterable = (), function: str = "f", names: Sequence[str] = (), note: str = ""):
        self = super().__new__(cls, values)
        self.function, self.note = function, note
        self.names = (*names, *(str(i) for i in range(len(names), len(self))))
        return self

    def remarks(self) -> tuple[str, ...]:
        return _noted(self.note)

    def page(self) -> Page:
        parts = [one for name, value in zip(self.names, self) for one in _parts(name, value)]
        rows = tuple((name, *_kind(value), shortened(value, kind=False)) for name, value in parts)
        columns = ("argument", "dtype", "shape", "gradient")
        unused = [n for n, value in zip(self.names, self) if value is None]
        without = f"None: {self.function} does not depend on {', '.join(unused)}." if unused else ""
        notes = (*filter(None, (without,)), *_noted(self.note))
        return Page((), (Table(f"Gradient of {self.function}", columns, rows),), notes)

    def to_dict(self) -> dict:
        kinds = [_kind(value) for value in self]
        return {
            "function": self.function,
            "gradients": [
                {"argument": name, "dtype": dtype, "shape": shape, "value": plain_data(value)}
                for name, (dtype, shape), value in zip(self.names, kinds, self)
            ],
        }


_MOST_PARTS = 12  # rows of a table for one argument


def _parts(name: str, value) -> list[tuple[str, Any]]:
    """A row for each part of the gradient of a list, a dict or an object; a single row if there are too
    many.
    """
    found = list(itertools.islice(named_leaves(name, value), _MOST_PARTS + 1))
    return found if 0 < len(found) <= _MOST_PARTS else [(name, value)]


def _kind(value) -> tuple[str, str]:
    """The dtype and shape of a gradient, in words; for a value without these, its class."""
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), "×".join(map(str, value.shape)) or "scalar"
    name = "–" if value is None else class_shown(value)
    return name, "scalar" if isinstance(value, (int, float, complex)) else "–"


class Jacobian(_TupleShown):
    """Jacobians: the tuple that `rl.jacobian` returns, shown as matrices in a notebook.

    Its text is that of the tuple. `function` is the name of the differentiated function, `names` and `shapes`
    are those of the positional arguments, `output` is the shape of the result, `partial` says which part is
    missing, if any, and `note` says what the arguments are where that could be misread.
    """

    function: str
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    partial: str
    note: str

    def __new__(
        cls,
        values: Iterable = (),
        function: str = "f",
        names: Sequence[str] = (),
        args=(),
        val=0.0,
        partial: str = "",
        note: str = "",
    ):
        self = super().__new__(cls, values)
        self.function, self.note = function, note
        self.names = (*names, *(str(i) for i in range(len(names), len(self))))
        self.shapes = (*map(np.shape, args), *((),) * (len(self) - len(args)))
        self.output, self.partial = np.shape(val), partial
        return self

    def remarks(self) -> tuple[str, ...]:
        return *_lead("Jacobian", self.partial), *_noted(self.note)

    def page(self) -> Page:
        rows = tuple(
            (n, *_kind(value), *_sizes(value), shortened(value)) for n, value in zip(self.names, self)
        )
        columns = ("argument", "dtype", "shape", "norm", "zeros", "Jacobian")
        tables = [Table(f"Jacobian of {self.function}", columns, rows)]
        tables += [
            _matrix_table(
                f"With respect to {name}", matrix, _labels(self.function, self.output), _labels(name, shape)
            )
            for name, shape, matrix in zip(self.names, self.shapes, map(_as_matrix, self))
            if _is_small(matrix)
        ]
        held = [n for n, value in zip(self.names, self) if value is None]
        without = f"None: {', '.join(held)} is neither a number nor an array of numbers." if held else ""
        notes = (*filter(None, (without,)), *_noted(self.note))
        return Page(_lead("Jacobian", self.partial), tuple(tables), notes)

    def to_dict(self) -> dict:
        kinds = [_kind(value) for value in self]
        return {
            "function": self.function,
            "partial": self.partial,
            "jacobians": [
                {"argument": name, "dtype": dtype, "shape": shape, "value": plain_data(value)}
                for name, (dtype, shape), value in zip(self.names, kinds, self)
            ],
        }

    def to_latex(self) -> str:
        """Matrices, if all are small; otherwise the tables."""
        matrices = {name: _as_matrix(x) for name, x in zip(self.names, self) if x is not None}
        if not matrices or not all(map(_is_small, matrices.values())):
            return super().to_latex()
        return "\n\n".join(_latex_matrix("J", name, matrix) for name, matrix in matrices.items())


class Hessian(Report):
    """A Hessian: `matrix` is what `rl.hessian` returns, an array, or a number with respect to a number.

    NumPy functions accept the report as the array, as in `np.linalg.eigvalsh(h)`; indexing and iteration work
    as for the array. `function` and `name` are those of the function and of its argument, `shape` is that of
    the argument, `partial` says which part is missing, if any, and `note` says what the argument is where
    that could be misread.
    """

    def __init__(
        self, matrix, function: str = "f", name: str = "x", x=0.0, partial: str = "", note: str = ""
    ):
        self.matrix, self.function, self.name, self.shape = matrix, function, name, np.shape(x)
        self.partial, self.note = partial, note

    def __array__(self, dtype=None, copy=None):
        return np.array(self.matrix, dtype=dtype) if copy else np.asarray(self.matrix, dtype=dtype)

    def __getitem__(self, key):
        return np.asarray(self.matrix)[key]

    def __iter__(self):
        return iter(np.asarray(self.matrix))

    def __len__(self) -> int:
        return len(np.asarray(self.matrix))

    def page(self) -> Page:
        matrix = _as_matrix(self.matrix)
        columns = ("argument", "dtype", "shape", "norm", "zeros", "asymmetry", "eigenvalues")
        row = (
            self.name, *_kind(self.matrix), *_sizes(matrix), _asymmetry(matrix), _eigenvalues(matrix)
        )  # fmt: skip
        tables = [Table(f"Hessian of {self.function}", columns, (row,))]
        if _is_small(matrix):
            labels = _labels(self.name, self.shape)
            tables.append(_matrix_table(f"Twice with respect to {self.name}", matrix, labels, labels))
        return Page(_lead("Hessian", self.partial), tuple(tables), _noted(self.note))

    def to_dict(self) -> dict:
        dtype, shape = _kind(self.matrix)
        value = plain_data(self.matrix)
        return {
            "function": self.function,
            "argument": self.name,
            "partial": self.partial,
            "dtype": dtype,
            "shape": shape,
            "value": value,
        }

    def to_latex(self) -> str:
        """A matrix, if it is small; otherwise the table of its properties."""
        matrix = _as_matrix(self.matrix)
        if not _is_small(matrix):
            return super().to_latex()
        return _latex_matrix("H", self.name, matrix)


_SMALL = 8  # rows and columns of a matrix that is shown whole
_EIGENVALUES = 200  # rows of a matrix whose eigenvalues take negligible time


def _lead(what: str, partial: str) -> tuple[str, ...]:
    """The line above a matrix of which a part is missing."""
    return (f"{what}: {partial}",) if partial else ()


def _noted(note: str) -> tuple[str, ...]:
    return (f"note: {note}",) if note else ()


def _as_matrix(value):
    """A Jacobian or Hessian with rows and columns, a vector as a column; None if it has more axes or there is
    none.
    """
    if value is None:
        return None
    array = np.asarray(value)
    return array if array.ndim == 2 else array.reshape(-1, 1) if array.ndim < 2 else None


def _is_small(matrix) -> bool:
    return matrix is not None and max(matrix.shape) <= _SMALL and matrix.size > 0


def _sizes(value) -> tuple[str, str]:
    """The Frobenius norm, and how many of the numbers are zero."""
    if value is None:
        return "–", "–"
    array = np.asarray(value)
    zeros = array.size - np.count_nonzero(array)
    return f"{np.sqrt(np.sum(np.abs(array) ** 2)):.5g}", f"{zeros} of {array.size}"


def _asymmetry(matrix) -> str:
    """The largest difference from the transpose, relative to the largest number."""
    largest = np.max(np.abs(matrix), initial=0.0)
    worst = np.max(np.abs(matrix - matrix.T), initial=0.0)
    return "0" if worst == 0 else f"{worst / largest:.2g}"


def _eigenvalues(matrix) -> str:
    """The smallest and the largest eigenvalue of the symmetric part."""
    if not matrix.size or len(matrix) > _EIGENVALUES or not np.isfinite(matrix).all():
        return "–"
    found = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    ends = dict.fromkeys(f"{x:.5g}" for x in (found[0], found[-1]))
    return " … ".join(ends)


def _labels(name: str, shape: tuple[int, ...]) -> list[str]:
    """A label for each element of an array: its name and its index."""
    return [f"{name}{index_text(index)}" for index in np.ndindex(shape)]


def _matrix_table(caption: str, matrix, rows: list[str], columns: list[str]) -> Table:
    body = tuple((label, *map(shortened, row)) for label, row in zip(rows, matrix))
    return Table(caption, ("", *columns), body)


def _latex_matrix(letter: str, name: str, matrix) -> str:
    """A matrix as the value of a letter whose index is the name of the argument."""
    rows = r" \\ ".join(" & ".join(map(shortened, row)) for row in matrix)
    body = rf"{letter}_{{{name_latex(name)}}} = \begin{{bmatrix}} {rows} \end{{bmatrix}}"
    return rf"\begin{{equation*}} {body} \end{{equation*}}"


class Source(str):
    """Python source, coloured in a notebook and plain elsewhere."""

    def _repr_html_(self) -> str:
        classes = "rulelab-source tex2jax_ignore mathjax_ignore"
        shown = f'<pre tabindex="0" role="article" aria-label="source">{_coloured(printable(self))}</pre>'
        return f'<div class="{classes}">{SOURCE_STYLE}{shown}</div>'

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.text(printable(str(self)))

    def to_dict(self) -> dict:
        """The source, under its name."""
        return {"source": str(self)}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    def to_markdown(self) -> str:
        """The source in a fence longer than any in it."""
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", self)), default=0))
        return f"{fence}python\n{printable(str(self)).rstrip()}\n{fence}"

    def to_latex(self) -> str:
        """The source as LaTeX's `verbatim`; text in it that would end that is split."""
        text = printable(str(self)).rstrip().replace("\\end{verbatim}", "\\end {verbatim}")
        return f"\\begin{{verbatim}}\n{text}\n\\end{{verbatim}}"


class Stub(Source):
    """The skeleton of a rule, which was put into the next cell; shown as a sentence, with the source
    folded.
    """

    function: str

    def __new__(cls, source: str, function: str = "f"):
        self = super().__new__(cls, source)
        self.function = function
        return self

    @property
    def sentence(self) -> str:
        where = f"The skeleton of a rule for {self.function} is in the next cell"
        return printable(f"{where}: complete it, run it, and judge it with %rule_check {self.function}.")

    def _repr_html_(self) -> str:
        summary = f'<summary class="tex2jax_ignore mathjax_ignore">{escape(self.sentence)}</summary>'
        return f"<details>{summary}{super()._repr_html_()}</details>"

    def _repr_pretty_(self, printer, cycle) -> None:
        printer.text(on_screen(self.sentence, beside=len("Out[1000]: ")))

    def to_dict(self) -> dict:
        """The function and the source."""
        return {"function": self.function, "source": str(self)}


def shapes_of_example(report: Any) -> list[tuple[int, ...]] | None:
    """The shapes of the arguments at which a rule is refuted; None if there is no counterexample."""
    example = getattr(report.verdict, "counterexample", None)
    if example is None:
        return None
    texts = map(str, example.arguments.values())
    return [np.shape(ast.literal_eval(text)) if text.startswith("[") else () for text in texts]


def refutes(check: Any, proof: Any) -> bool:
    """Whether a proof says "wrong" about a rule for which a check by numbers does not."""
    checked = getattr(check, "verdict", None)
    return isinstance(checked, str) and checked != WRONG and _word(proof) == "REFUTED"


def contradicts(check: Any, proof: Any) -> bool:
    """Whether a check by numbers says "wrong" about a rule that is proved for some arguments."""
    return getattr(check, "verdict", None) == WRONG and _word(proof) == "PROVED"


def _word(proof: Any) -> str:
    return getattr(getattr(proof, "verdict", None), "word", "")


class Defined(Report):
    """What `%%rrule`, `%%frule` or `%scalar_rule` did: which name now has which rule, from which cell, what
    it replaced, and remarks for its author.

    `check` is its `RuleCheck` if one was requested, `proof` its `SymbolicReport`; either may be words if
    there is none.
    """

    def __init__(
        self,
        name: str,
        rule: str,
        cell: str,
        of: str | None = None,
        remarks: Sequence[str] = (),
        replaced: Sequence[str] = (),
        kind: str = "rule",
    ):
        self.name, self.rule, self.cell, self.of, self.remarks = name, rule, cell, of, tuple(remarks)
        self.replaced, self.kind = tuple(replaced), kind
        self.check: RuleCheck | str | None = None
        self.proof: Any = None

    @property
    def verdict(self) -> str | None:
        """The verdict of check and proof together: "wrong" if one of them says so; None if there is
        neither.
        """
        checked = getattr(self.check, "verdict", None)
        if checked == WRONG or _word(self.proof) == "REFUTED":
            return WRONG
        return RIGHT if _word(self.proof) == "PROVED" else checked

    def page(self) -> Page:
        copy = f", a copy of {self.of}," if self.of is not None else ""
        lead = f"{self.name}{copy} now has the {self.kind} {self.rule}."
        before = (f"It replaces {', '.join(self.replaced)}.",) if self.replaced else ()
        checked = () if self.check is None else headed(self._checked(), self.name, self.rule)
        proved = () if self.proof is None else headed(self._proved(), self.name, self.rule)
        return Page((lead, *before, *checked, *proved), (), self.remarks, self.verdict or "")

    def _checked(self) -> str:
        """The verdict of the check in one line."""
        if self.check is None or isinstance(self.check, str):
            return f"Check: {self.check}."
        if self.proof is not None and refutes(self.check, self.proof):
            return f"Check: wrong: refuted by the proof; the check by numbers said {self.check.in_short}."
        command = f"%rule_check {self.name}"
        more = "" if self.check or command in self.check.in_short else f" {command} shows more."
        return f"Check: {self.check.in_short}.{more}"

    def _proved(self) -> str:
        """The verdict of the proof in one line, with its scope."""
        if isinstance(self.proof, str):
            return f"Proof: {self.proof}."
        verdict = self.proof.verdict
        if contradicts(self.check, self.proof):
            return f"Proof: {verdict.sentence_alone()}; beyond that the rule is wrong, as the check shows."
        if verdict.word == "PROVED":
            brief = verdict.sentence().replace(f" {BELOW}", "")
            more = "" if brief == verdict.sentence() else f". %rule_symbolic {self.name} shows which."
            return f"Proof: {brief}{more}"
        return f"Proof: {verdict.sentence()}. %rule_symbolic {self.name} shows more."

    def to_dict(self) -> dict:
        return {
            "name": self.name,
            "copy of": self.of,
            "rule": self.rule,
            "kind": self.kind,
            "defined at": self.cell,
            "in the place of": list(self.replaced),
            "check": self.check.to_dict() if isinstance(self.check, RuleCheck) else self.check,
            "proof": self.proof.to_dict() if hasattr(self.proof, "to_dict") else self.proof,
            "verdict": self.verdict,
            "remarks": list(self.remarks),
        }


def advice_in_short(name: str, advices: Sequence[Advice]) -> tuple[str, ...]:
    """Advice on the rule of a name, one line each, and a line that says where there is more."""
    if not advices:
        return ()
    lines = (f"Line {advice.place.line}: {advice.found}" for advice in advices)
    return (*lines, f"%rule_lint {name} shows the better line, and why.")


class Undone(Report):
    """What `%rule_undo` did: the rules that were removed, and those that were restored."""

    def __init__(self, name: str, gone: Sequence[str], back: Sequence[str]):
        self.name, self.gone, self.back = name, tuple(dict.fromkeys(gone)), tuple(dict.fromkeys(back))

    def page(self) -> Page:
        gone = f"Removed: {'; '.join(self.gone)}." if self.gone else "Nothing was removed."
        back = f"Restored: {'; '.join(self.back)}." if self.back else "There was nothing to restore."
        return Page((f"The last change to the rules of {self.name} is undone.",), (), (gone, back))

    def to_dict(self) -> dict:
        return {"name": self.name, "gone": list(self.gone), "back": list(self.back)}


class WhichRules(Report):
    """What `%which_rule` found: the rules for both modes, and the key under which rules for the call are
    stored.

    `reverse` and `forward` are what `rl.which_rule` returns; the report is true if there is an rrule.
    """

    def __init__(self, called: str, key: str, reverse, forward):
        self.called, self.key, self.reverse, self.forward = called, key, reverse, forward

    def __bool__(self) -> bool:
        return bool(self.reverse)

    def page(self) -> Page:
        rows = (("reverse", repr(self.reverse)), ("forward", repr(self.forward)))
        table = Table(f"Rules for {self.called}", ("mode", "rule"), rows)
        return Page((), (table,), (f"Rules for this call belong to {self.key}.",))

    def to_dict(self) -> dict:
        return {
            "called": self.called,
            "key": self.key,
            "reverse": repr(self.reverse),
            "forward": repr(self.forward),
        }


class Rules(Report):
    """The rules of a registry: the user's own one by one, the built-in ones folded under their count.

    With `text`, only those are shown whose target's name contains it as a word, and nothing is folded.
    """

    def __init__(self, registry: Registry, text: str = ""):
        found = listed(registry.rules(), text, homes=homes_in(registry.entries()))
        self.text = text
        self.meant = "" if found or not text else _word_meant(text, registry)
        self.own = [rule for rule in found if not rule.built_in]
        self.built_in = [rule for rule in found if rule.built_in]

    def page(self) -> Page:
        columns = ("target", "kind", "rule", "defined at")
        own = Table("Your rules", columns, tuple(map(_rule_row, self.own)))
        folded, title = not self.text, f"Built-in rules ({len(self.built_in)})"
        built_in = Table(title, columns, tuple(map(_rule_row, self.built_in)), folded=folded)
        tables = ((own,) if self.own else ()) + ((built_in,) if folded or self.built_in else ())
        if self.text and not tables:
            none = f"There is no rule for a function with {self.text} as a word in its name"
            return Page((none + (self.meant or "."),))
        lead = "No rules of your own yet: %rule_stub f writes the skeleton of one."
        return Page((lead,) if folded and not self.own else (), tables)

    def to_dict(self) -> dict:
        names = ("target", "kind", "rule", "defined at")
        return {
            "own": [dict(zip(names, _rule_row(rule))) for rule in self.own],
            "built_in": [dict(zip(names, _rule_row(rule))) for rule in self.built_in],
        }


def _word_meant(text: str, registry: Registry) -> str:
    """A word in the names of functions with rules that may have been intended, as the end of a sentence."""
    everything = listed(registry.rules(), "", homes=homes_in(registry.entries()))
    words = {word for rule in everything for word in re.split(r"[._]", rule.target) if len(word) > 2}
    return did_you_mean(text, words, alike=OF_MANY_WORDS)


class Refreshed(Report):
    """What `%grad_refresh` did: the mode, and each stale compiled pass with the reason."""

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
    """The lines of an error for IPython: its own lines under its class, and a suggestion to write a rule
    where one would help.
    """
    lines = f"{type(error).__name__}: {error}".split("\n")
    if error.read and lines[-1].startswith("read: "):
        lines[-1] = f"read: {where_to_read(lines[-1].removeprefix('read: '))}"
    if isinstance(error, (MutationError, ForeignCallError)) and "%rule_stub" not in str(error):
        lines.append(f"do: write a rule; %rule_stub {_culprit(error)} puts its skeleton in the next cell")
    return lines[:6] if len(lines) <= 6 else [*lines[:5], lines[-1]]


def shown_error(error: RuleLabError) -> list[str]:
    """The same lines, wrapped to fit the screen."""
    return of_message(error_lines(error))


def in_one_line(error: BaseException) -> str:
    """The message of an error in one line, without its place."""
    if isinstance(error, RuleLabError):
        return " ".join(str(error.found).split())
    return raised_words(error)


def error_in_words(error: BaseException) -> str:
    """An error in one or a few lines, with the user's own line: where there is no room for a traceback."""
    if isinstance(error, RuleLabError):
        return "\n".join(error_lines(error))
    if type(error).__module__.startswith("rulelab."):
        return str(error)
    words = raised_words(error)
    if str(error) and not isinstance(error, RecursionError):
        words = f"{type(error).__name__}: {error}"  # keeps line breaks
    steps = [step for step in traceback.walk_tb(error.__traceback__) if not is_of_a_library(step[0])]
    if not steps:
        return f"{words} (inside rulelab; please report it)"
    frame, line = steps[-1]
    place = Place.of_frame(frame)._replace(line=line)
    return f"{words}\n{place.label()}: {place.source().strip()}"


def _culprit(error: RuleLabError) -> str:
    """The function for which a rule would help: the one in whose body the error occurred."""
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
    """Each line of the source as escaped HTML with a class for each kind of token, none of which extends into
    the next line; without colours if Pygments is not installed.
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
