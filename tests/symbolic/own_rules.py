"""The rules that come with the package, put before the prover at the check points of their own tables.

    make proved-table

writes the table of the manual anew (some minutes).
"""

from __future__ import annotations

import collections
import operator
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from rulelab.errors import RuleLabError, printable
from rulelab.rules.targets import name_of
from rulelab.rulesets.catalogue import tables
from rulelab.symbolic import prove

SCALAR = ("python_math", "numpy_elementwise", "operators")
ARRAYS = (
    "numpy_reductions",
    "linalg_products",
    "numpy_shaping",
    "numpy_indexing",
    "numpy_calculus",
    "numpy_statistics",
    "ufunc_methods",
    "linalg_factorisations",
    "python_statistics",
    "fft",
)
COMPLEX = (
    "numpy_elementwise",
    "operators",
    "python_cmath",
    "numpy_reductions",
    "linalg_products",
    "numpy_indexing",
    "numpy_calculus",
    "numpy_statistics",
    "linalg_factorisations",
    "fft",
)
MOST_NUMBERS = 20  # in all arguments of a point; of complex ones too
PATIENCE = 20.0  # seconds for a verdict of the page, which is not to depend on what else the machine does
WORST = ("REFUTED", "UNDECIDED", "AGREES", "CONVERGES", "UNSUPPORTED", "NOT JUDGED", "PROVED")


FURTHER = (  # for rules whose tables state no real ones: these need arguments that fit each other
    (operator.getitem, ([0.3, 1.0, 2.0], 1)),
    (np.power.reduceat, (np.array([1.5, 2.0, 0.5, 1.2]), [0, 2])),  # NumPy errs in longer pieces
)


class Case(NamedTuple):
    """One rule and its points: pairs (args, kwargs), none where the prover has to find some."""

    table: str
    target: Any
    points: tuple

    def __str__(self):
        return f"{self.table}:{name_of(self.target)}"


class Judged(NamedTuple):
    """The worst verdict on a rule at its points, its reason, and the warnings of where cells meet."""

    case: Case
    word: str
    sentence: str
    warnings: tuple = ()


def cases(name):
    """The differentiable reverse rules of a table, each with a point of numbers and two of arrays."""
    (table,) = [t for t in tables() if t.name == name]
    points = collections.defaultdict(list)
    for target, args, kwargs in table.points:
        if _is_real(args):
            points[id(target)].append((tuple(map(_doubled, args)), kwargs))
    targets = {
        id(target): target for target, rule in table.rules if rule.mode == "rrule" and rule.differentiable
    }
    for target, args in FURTHER:
        key = next((key for key, known in targets.items() if known == target), None)
        points[key] = points[key] or [(args, {})]
    return [Case(name, target, _few(points[key])) for key, target in targets.items()]


def complex_cases(name):
    """The rules of a table with complex check points, each with a point of numbers and one of arrays."""
    (table,) = [t for t in tables() if t.name == name]
    points = collections.defaultdict(list)
    for target, args, kwargs in table.points:
        if _is_small(args) and any(_kind(a) == "c" for a in args):
            points[id(target)].append((tuple(map(_doubled, args)), kwargs))
    targets = {
        id(target): target
        for target, rule in table.rules
        if rule.mode == "rrule" and rule.differentiable and points[id(target)]
    }
    return [Case(name, target, _few(points[key], 1)) for key, target in targets.items()]


def _is_real(args):
    return _is_small(args) and not any(_kind(a) == "c" for a in args)


def _is_small(args):
    numbers = [a for a in args if isinstance(a, (float, np.floating)) or _kind(a) in ("f", "c")]
    size = sum(np.size(a) for a in numbers)
    empty = any(np.size(a) == 0 for a in args if isinstance(a, np.ndarray))
    return bool(numbers) and not empty and size <= MOST_NUMBERS


def _kind(a):
    is_complex = isinstance(a, (complex, np.complexfloating))
    return "c" if is_complex else a.dtype.kind if isinstance(a, np.ndarray) else ""


def _doubled(a):
    return a.astype({"f": float, "c": complex}[_kind(a)]) if _kind(a) in ("f", "c") and np.ndim(a) else a


def _few(points, most_arrays=2):
    numbers = [p for p in points if not any(isinstance(a, np.ndarray) for a in p[0])]
    arrays = [p for p in points if any(isinstance(a, np.ndarray) for a in p[0])]
    return (*numbers[:1], *arrays[:most_arrays])


def judge(case, time_limit=5.0):
    """The worst of the verdicts at the points of a case."""
    if isinstance(case.target, type):
        return Judged(case, "NOT JUDGED", "a class: the prover takes functions")
    if getattr(case.target, "__objclass__", None) is np.generic:
        return Judged(case, "NOT JUDGED", "a method of NumPy's numbers; the prover uses Python's")
    if not case.points and str(getattr(case.target, "__module__", "")).startswith("rulelab."):
        return Judged(case, "NOT JUDGED", "part of other rules, only for arguments that go together")
    found, warned = [], []
    for args, kwargs in case.points or ((None, {}),):
        try:
            report = prove(case.target, at=args, kwargs=kwargs, time_limit=time_limit)
            found.append((report.verdict.word, report.verdict.sentence()))
            warned += [w.sentence() for w in report.warnings if w.point]
        except RuleLabError as error:
            found.append(("NOT JUDGED", str(error).splitlines()[0]))
    word, sentence = min(found, key=lambda pair: WORST.index(pair[0]))
    if not case.points and word == "UNSUPPORTED":
        return Judged(case, "NOT JUDGED", "no real arguments were found that it accepts")
    return Judged(case, word, sentence, tuple(warned))


def counts(names, judged):
    """A table of how many rules have which verdict."""
    yield "| table | rules judged | proved | agree | undecided | unsupported | not judged |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name in names:
        words = collections.Counter(j.word for j in judged if j.case.table == name)
        count = sum(words.values()) - words["NOT JUDGED"]
        shown = ("PROVED", "AGREES", "UNDECIDED", "UNSUPPORTED", "NOT JUDGED")
        yield f"| {name} | {' | '.join(str(n) for n in (count, *(words[word] for word in shown)))} |"
    yield ""


def reasons(judged):
    """A table of the rules that are not proved, and why."""
    yield "| rule | verdict | reason |"
    yield "| --- | --- | --- |"
    for j in judged:
        if j.word != "PROVED":
            reason = j.sentence.removeprefix(f"{j.word}: ").replace("|", "\\|")
            reason = printable(" ".join(reason.split()))[:160]
            yield f"| `{name_of(j.case.target)}` | {j.word.lower()} | {reason} |"


def warned_of(judged):
    """A table of the warnings on rules that are proved."""
    rows = [f"| `{name_of(j.case.target)}` | {printable(w)} |" for j in judged for w in j.warnings]
    yield from ("| rule | warning |", "| --- | --- |", *rows) if rows else ("None.",)


def page(judged, judged_complex):
    """The tables of the manual."""
    yield "# Which built-in rules are proved"
    yield ""
    yield "Built-in reverse rules, judged by [`prove`](proving.md) at the check points of their"
    yield "tables: numbers and arrays of floats, then complex ones. A verdict holds for the sizes and"
    yield "cases tried. This page is generated by `make proved-table`; rules for SciPy are on"
    yield "[a page of their own](scipy.md)."
    yield ""
    yield from counts((*SCALAR, *ARRAYS), judged)
    yield "## Complex arguments"
    yield ""
    yield "Rules whose tables have complex check points, judged at these. If a function has branch cuts,"
    yield "each side of a cut is a case."
    yield ""
    yield from counts(COMPLEX, judged_complex)
    yield "## Rules that are not proved"
    yield ""
    yield from reasons(judged)
    yield ""
    yield "With complex arguments:"
    yield ""
    yield from reasons(judged_complex)
    yield ""
    yield "## Rules with a warning where two cases meet"
    yield ""
    yield from warned_of(judged)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    results = [judge(case, PATIENCE) for name in (*SCALAR, *ARRAYS) for case in cases(name)]
    results_complex = [judge(case, PATIENCE) for name in COMPLEX for case in complex_cases(name)]
    print("\n".join(page(results, results_complex)))
    refuted = [str(j.case) for j in (*results, *results_complex) if j.word == "REFUTED"]
    sys.exit(f"refuted: {', '.join(refuted)}" if refuted else 0)
