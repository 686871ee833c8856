"""Distributions of `scipy.stats` with their arguments in every form, and their second derivatives."""

import pytest

pytest.importorskip("scipy.stats")
pytest.importorskip("mpmath")

from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)
from stats_rows import ROWS, arguments, bars  # noqa: E402

from rulelab.tangents.missing import NotImplementedTangent  # noqa: E402
from rulelab.tangents.zeros import AbstractZero  # noqa: E402

APART = {"triang": ((0.4, 0.3, 0.5), (0.75, 0.8, 0.7))}  # from the peak, whichever are taken together


def by_what_moves(row, name):
    """A call of a method by the arguments that it has slopes by; the others are written in it."""
    args, method = arguments(row, name), getattr(row.instance, name)
    found = bars(row, name)[1]
    moves = [i for i in range(len(args)) if not isinstance(found[i], (NotImplementedTangent, AbstractZero))]

    def of_these(*xs):
        given = dict(zip(moves, xs, strict=True))
        return method(*[given.get(i, x) for i, x in enumerate(args)])

    return call(f"{row.name} {name}", of_these, *[args[i] for i in moves])


def methods_of(row):
    return ("logpmf", "cdf") if row.discrete else ("logpdf", "cdf", "ppf")


CALLS = [
    by_what_moves(row._replace(at=APART.get(row.name, row.at)), name)
    for row in ROWS.values()
    for name in methods_of(row)
]
