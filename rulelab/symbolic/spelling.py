"""Rename parts of arguments in a report to the Python expressions that access them, as numeric checks do:
`points[0][1]` and `params['w']`. During a proof they have names of letters and dots, such as `points.0.1`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..tables import name_latex
from .caveats import Caveat
from .formulas import Formula
from .report import ArgumentFinding, CellFinding, SymbolicReport
from .structured import StructuredQuestion
from .verdicts import Agrees, Converges, Counterexample, Proved, Refuted, Undecided, Unsupported

_WITH_NAMES = (
    SymbolicReport, CellFinding, ArgumentFinding, Caveat, Counterexample,
    Agrees, Converges, Proved, Refuted, Undecided, Unsupported,
)  # fmt: skip


def with_expressions_for_parts(report: SymbolicReport, question: Any) -> SymbolicReport:
    """Return the report with the parts of arguments named by Python expressions; `question` is what was
    asked.
    """
    ways = question.ways() if isinstance(question, StructuredQuestion) else {}
    ways = {name: way for name, way in ways.items() if name != way}
    if not ways:
        return report
    in_latex = {name_latex(name): name_latex(way) for name, way in ways.items()}
    return _renamed(report, _exchange(ways), _exchange(in_latex))


def _exchange(instead: Mapping[str, str]) -> Callable[[str], str]:
    """Return a function that replaces names in a text."""
    names = "|".join(map(re.escape, sorted(instead, key=len, reverse=True)))
    whole = re.compile(rf"(?<![\w.])(?:{names})(?!\w|\.\d)")
    return lambda text: whole.sub(lambda found: instead[found[0]], text)


def _renamed(x: Any, words: Callable[[str], str], latex: Callable[[str], str]) -> Any:
    if isinstance(x, str):
        return words(x)
    if isinstance(x, Formula):
        return dataclasses.replace(x, text=words(x.text), latex=latex(x.latex))
    if isinstance(x, _WITH_NAMES):
        known = {field.name: getattr(x, field.name) for field in dataclasses.fields(x)}
        return dataclasses.replace(x, **{key: _renamed(part, words, latex) for key, part in known.items()})
    if type(x) in (tuple, list):
        return type(x)(_renamed(part, words, latex) for part in x)
    if type(x) is dict:
        return {_renamed(key, words, latex): _renamed(part, words, latex) for key, part in x.items()}
    return x
