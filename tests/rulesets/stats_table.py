"""docs/reference/scipy-stats.md: the distributions and functions of `scipy.stats` that have rules, and what
has none; `make scipy-table` writes it anew.
"""

from __future__ import annotations

import collections
import sys
from pathlib import Path

import scipy

HERE = Path(__file__).resolve()
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parents[2]), str(HERE.parent)]

from scipy import stats  # noqa: E402

from rulelab.rulesets.catalogue import stats_tables  # noqa: E402
from rulelab.rulesets.scipy_stats_rows import DistributionTable  # noqa: E402
from rulelab.rulesets.scipy_stats_without import CONSTANT, REFUSED  # noqa: E402
from rulelab.tangents.missing import NotImplementedTangent  # noqa: E402
from rulelab.tangents.zeros import AbstractZero  # noqa: E402

PAGE = HERE.parents[2] / "docs" / "reference" / "scipy-stats.md"
VERSION = ".".join(scipy.__version__.split(".")[:2])
HEAD = """# Distributions and statistics of SciPy

rulelab has rules for `scipy.stats`, which are loaded when one of its functions or distributions is
first met. Each has rules for both modes, for numbers and for arrays that broadcast, in float64 and
float32, and each derivative has rules itself.

For these continuous distributions the methods `pdf`, `logpdf`, `cdf`, `logcdf`, `sf`, `logsf`, `ppf`, `isf`
and `median` have a derivative by the value, by `loc` and by `scale`, and the density and its logarithm have
one by each shape. For the discrete ones `pmf`, `logpmf`, `cdf`, `logcdf`, `sf` and `logsf` have one by the
shapes that are not whole numbers. Parameters may be given by position, by name, or in a frozen
distribution: `stats.norm(mu, sigma)`. `mean`, `var`, `std` and `entropy` have a derivative by `loc` and
`scale`, and so has `rvs`: the draw is SciPy's own, shifted and scaled.

*Probabilities by* lists the shapes by which `cdf`, `sf`, their logarithms, `ppf`, `isf` and `median` have
a derivative, *draws by* those by which `rvs` has one. By any other shape the derivative has no closed form
or is not implemented, and is refused by name when it is needed.

Outside the support, and where the argument is infinite, derivatives are 0; where the value is NaN they
are NaN. At an end of the support they are those from inside: NaN for the density itself where it is 0
and its logarithm has an infinite slope. Counts, their location, and numbers of trials are whole numbers,
and constants.

All are checked against differences of order eight of SciPy's own methods. The derivatives of densities, by
everything, of probabilities and quantiles, by the value, and of probabilities, means, variances and
entropies, by shapes, are also checked against mpmath. Complex numbers are refused. This page is generated
by `make scipy-table`, with SciPy {version}.
"""
SUMMARIES = "scipy_stats_summaries"


def shapes_with(row, slopes):
    """The shapes by which there is a slope among some, one for each shape."""
    known = [
        f"`{shape}`"
        for shape, slope in zip(row.shapes, slopes, strict=True)
        if not isinstance(slope, (NotImplementedTangent, AbstractZero))
    ]
    return ", ".join(known) or ("" if row.shapes else "–")


def line(row):
    """One row of the page."""
    call = f"`{row.name}({', '.join(row.shapes)})`" if row.shapes else f"`{row.name}`"
    draws = shapes_with(row, row.moves) if row.draws else ("" if row.shapes else "–")
    moments = [name for name in ("mean", "var", "entropy") if _is_stated(getattr(row, name))]
    told = ", ".join(moments) if row.shapes else "–"
    return f"| {call} | {shapes_with(row, row.moves)} | {draws} | {told} | {len(row.at[0])} | {row.note} |"


def _is_stated(slopes):
    return any(not isinstance(slope, NotImplementedTangent) for slope in slopes)


def page():
    """The text of the page."""
    parts = [HEAD.format(version=VERSION)]
    head = (
        "| distribution | probabilities by | draws by | of the shapes | points | conventions |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
    )
    for table in stats_tables():
        if isinstance(table, DistributionTable):
            title = (
                "Discrete distributions" if table.name.endswith("discrete") else "Continuous distributions"
            )
            rows = "\n".join(line(row) for row in table.rows.values())
            parts.append(f"## {title}\n\n{head}{rows}\n")
    parts.append(
        "## Multivariate distributions\n\n`multivariate_normal.pdf` and `logpdf` by points, mean and "
        "covariance, frozen ones too; of the covariance the lower triangle is read, as by SciPy. "
        "`dirichlet.pdf` and `logpdf` by parts and parameters.\n"
    )
    parts.append(_summaries())
    names = ", ".join(f"`{name}`" for name in CONSTANT)
    parts.append(f"## Constants\n\nWhat counts and ranks: {names}.\n")
    by_reason = collections.defaultdict(list)
    for name, why in REFUSED.items():
        by_reason[why].append(f"`{name}`")
    refused = "\n".join(f"| {', '.join(names)} | {why} |" for why, names in by_reason.items())
    parts.append(
        "## Without a rule\n\nA call with an argument that varies is refused, by name. So are other methods "
        "of distributions: `fit`, `expect`, `interval`, `moment`, `stats`.\n\n"
        f"| what | why |\n| --- | --- |\n{refused}\n"
    )
    return "\n".join(parts)


def _summaries():
    (table,) = [table for table in stats_tables() if table.name == SUMMARIES]
    known = {id(target) for target, _ in table.stand_ins}
    names = sorted(name for name in stats.__all__ if id(getattr(stats, name)) in known)
    shown = ", ".join(f"`{name}`" for name in names)
    return (
        f"## Functions\n\nMeans, moments, scores, distances: {shown}. With their keywords, but for other "
        "policies for NaN, weights of distances, and a power that `boxcox` would find. What they sort by and "
        "leave out is constant.\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
