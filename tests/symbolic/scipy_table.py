"""docs/reference/scipy.md: the functions of SciPy that have rules, how each is known, and those that have
none; `make scipy-table` writes it anew (a minute).
"""

from __future__ import annotations

import collections
import inspect
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy

HERE = Path(__file__).resolve()
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parents[2]), str(HERE.parent)]

import implicit_table  # noqa: E402
import scipy_library  # noqa: E402
from differentiated import names_by_module  # noqa: E402
from own_rules import Case, judge  # noqa: E402
from scipy import special  # noqa: E402
from special_rules import ROWS, arguments_of, is_asked, judged, reason, with_slopes  # noqa: E402

from rulelab.rulesets.catalogue import special_tables  # noqa: E402
from rulelab.rulesets.scipy_rows import SpecialTable  # noqa: E402
from rulelab.rulesets.scipy_without import CONSTANT, REFUSED  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "reference" / "scipy.md"
VERSION = " and NumPy ".join(".".join(library.__version__.split(".")[:2]) for library in (scipy, np))
TITLES = {
    "scipy_gamma": "Gamma and beta functions",
    "scipy_errors": "Error functions, exponential integrals",
    "scipy_logarithms": "Logarithms, powers, losses, angles",
    "scipy_bessel": "Bessel functions and their kin",
    "scipy_elliptic": "Elliptic, hypergeometric and zeta functions, Lambert's",
    "scipy_polynomials": "Orthogonal polynomials",
    "scipy_distributions": "Distribution functions",
}
WHOLE = {"logsumexp": "`a`, `b`", "softmax": "`x`", "log_softmax": "`x`"}
HEAD = """# Functions of SciPy

Rules for these functions of `scipy.special` come with rulelab; they are read when one of them is first
met. Both modes have each of them, for numbers and for arrays of any shape, of float64 and float32;
*complex* says that complex numbers are taken, too. *By* are the arguments that there is a slope by. By
the others the derivative is refused by name as soon as it is asked for, where there is one and no closed
form of it; whole numbers are constants. Each slope has rules itself: second derivatives are checked as
the first are, and higher ones are made in the same way.

How it is known: *proved* as an identity by [`prove`](proving.md), for real numbers, with the parameters
that there is no slope by held at their first number; *agrees*, but for what is rounded on purpose;
*checked*. All are checked against differences of order eight of SciPy's own function and against
derivatives by mpmath, first and second ones, at as many numbers as the column says. Poles, ends and kinks
are conventions, in the last column; where a slope is infinite its own slope may be NaN. This page is written
by `make scipy-table`, with SciPy {version}.
"""


def parameters(row):
    """The names of a row's arguments, those of its formula."""
    code = row.partials.__code__
    return code.co_varnames[1 : code.co_argcount]


def numbers(row):
    """How many numbers a row is checked at, real and complex."""
    sizes = [
        max(len(c) if isinstance(c, tuple) else 1 for c in cols) for cols in (row.at, row.beyond) if cols
    ]
    return sum(sizes)


def known(word):
    """How a row is known, by the word of the verdict on it."""
    return {"PROVED": "proved", "AGREES": "agrees"}.get(word, "checked")


def line(row, word):
    """One row of the page."""
    slopes = with_slopes(row, arguments_of(row))
    names = parameters(row)
    by = ", ".join(f"`{names[i]}`" for i in slopes) or "none"
    if not slopes and any(_is_zero(p) for p in _partials(row)):
        by = "constant"
    call = f"`{row.name}({', '.join(names)})`"
    complex_too = "yes" if row.beyond else ""
    return f"| {call} | {by} | {complex_too} | {known(word)}, {numbers(row)} | {row.note} |"


def _partials(row):
    args = arguments_of(row)
    given = row.partials(row.target(*args), *args)
    return given if isinstance(given, tuple) else (given,)


def _is_zero(partial):
    return isinstance(partial, float) and partial == 0


def verdicts():
    """The word and sentence of the verdict on each row, and on each function of whole arrays."""
    found = {name: judged(row) if is_asked(row) else ("CHECKED", "") for name, row in ROWS.items()}
    (table,) = [table for table in special_tables() if table.name == "scipy_reductions"]
    for name in WHOLE:
        target = getattr(special, name)
        points = [(args, kwargs) for f, args, kwargs in table.points if f is target and _is_plain(args)]
        verdict = judge(Case("scipy_reductions", target, tuple(points[:2])), 20.0)
        found[name] = verdict.word, verdict.sentence
    return found


def _is_plain(args):
    return isinstance(args[0], np.ndarray) and args[0].dtype == float and bool(np.all(np.isfinite(args[0])))


def words_on(text):
    """The verdicts that a page tells, by function: proofs take long, and a test does not make them all."""
    told = {"proved": "PROVED", "agrees": "AGREES", "checked": "CHECKED"}
    rows = [part.split("|") for part in text.splitlines() if part.startswith("| `")]
    cells = [(row[1], row[4]) for row in rows if len(row) == 7]
    return {name.split("(")[0].strip(" `"): told[how.split(",")[0].strip()] for name, how in cells}


def version_of(text):
    """The versions of SciPy and NumPy that a page was written with."""
    return re.search(r"with SciPy (\d+\.\d+ and NumPy \d+\.\d+)", text).group(1)


def page(words):
    """The text of the page, given the word of the verdict on each function."""
    parts = [HEAD.format(version=VERSION), _how_many()]
    head = "| function | by | complex | known, numbers | conventions |\n| --- | --- | --- | --- | --- |\n"
    for table in special_tables():
        if isinstance(table, SpecialTable) and table.rows:
            rows = "\n".join(line(row, words[name]) for name, row in table.rows.items())
            parts.append(f"## {TITLES[table.name]}\n\n{head}{rows}\n")
    parts.append(f"## Of whole arrays\n\nWith all their keywords.\n\n{head}{_of_arrays(words)}\n")
    parts.append(_not_proved(words))
    constants = ", ".join(f"`{name}`" for name in sorted(CONSTANT))
    parts.append(f"## Constants\n\nFunctions of whole numbers alone, and settings: {constants}.\n")
    by_reason = collections.defaultdict(list)
    for name, why in REFUSED.items():
        by_reason[why].append(f"`{name}`")
    refused = "\n".join(f"| {', '.join(names)} | {why} |" for why, names in by_reason.items())
    parts.append(
        "## Without a rule\n\nA call with an argument that varies is a "
        "[foreign call](../limitations.md#foreign-calls) and refused; write a rule.\n\n"
        f"| functions | why |\n| --- | --- |\n{refused}\n"
    )
    parts += [scipy_library.sections(), implicit_table.sections()]
    return "\n".join(parts)


def _how_many():
    """The section on the names of NumPy and SciPy that are differentiated."""
    names = {module: len(found) for module, found in names_by_module().items()}
    rows = "\n".join(f"| `{module}` | {count} |" for module, count in names.items())
    return (
        f"## How many\n\n{sum(names.values())} names of NumPy and SciPy are differentiated in reverse and in "
        "forward mode. An object that has several names counts once; not counted are functions whose "
        "derivative is zero, and the methods of arrays and of distributions.\n\n"
        f"| module | names |\n| --- | --- |\n{rows}\n"
    )


def _of_arrays(words):
    rows = []
    for name, by in WHOLE.items():
        shown = f"`{name}{inspect.signature(getattr(special, name))}`"
        (table,) = [table for table in special_tables() if table.name == "scipy_reductions"]
        count = sum(f is getattr(special, name) for f, _, _ in table.points)
        note = "NaN where the sum is 0; the sign is constant" if name == "logsumexp" else ""
        rows.append(f"| {shown} | {by} | yes | {known(words[name])}, {count} | {note} |")
    return "\n".join(rows)


def _not_proved(words):
    by_reason = collections.defaultdict(list)
    for name, row in ROWS.items():
        if is_asked(row) and words[name] != "PROVED":
            by_reason[reason(name)].append(f"`{name}`")
    rows = "\n".join(f"| {', '.join(names)} | {why} |" for why, names in by_reason.items())
    count = sum(word == "PROVED" for word in words.values())
    told = f"{count} rules are proved. These are not:"
    return f"## Not proved\n\n{told}\n\n| functions | why |\n| --- | --- |\n{rows}\n"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    results = verdicts()
    refuted = [f"{name}: {sentence}" for name, (word, sentence) in results.items() if word == "REFUTED"]
    PAGE.write_text(page({name: word for name, (word, _) in results.items()}), encoding="utf-8")
    sys.exit("\n".join(refuted) or 0)
