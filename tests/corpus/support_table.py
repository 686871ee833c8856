"""docs/support.md, made by trying every function of constructs.py; `make support-table` writes it anew."""

import copy
import itertools
import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from corpus.constructs import ROWS  # noqa: E402
from corpus.harness import finite_differences, flat, is_real  # noqa: E402
from corpus.programs import headline  # noqa: E402

import rulelab as rl  # noqa: E402

PAGE = TESTS.parent / "docs" / "support.md"
INTRODUCTION = """# Supported Python and NumPy

What a differentiated function may contain. A supported construct gives the right derivative; a refused one
gives an error with the line and the reason ([Limitations](limitations.md) explains them). Every
row was obtained by running its example, a function in
[tests/corpus/constructs.py](../tests/corpus/constructs.py); `make support-table` runs them again.
"""
TABLE_HEAD = "| construct | supported or refused | example | instead |\n|---|---|---|---|\n"


def outcome(row):
    """None where the function is differentiated rightly, else the refusal.

    Raises AssertionError where the gradient is not that of finite differences.
    """
    try:
        value, gradient = rl.withgradient(row.function, *copy.deepcopy(row.args))
    except rl.RuleLabError as refusal:
        return refusal
    wanted = row.function(*copy.deepcopy(row.args))
    assert value == wanted, f"{row.function.__name__}: value {value!r}, the function gives {wanted!r}"
    for i, argument in enumerate(row.args):
        if is_real(argument):
            numeric, error = finite_differences(row.function, row.args, i)
            assert np.all(error <= 1e-7 * (1 + np.abs(numeric))), f"{row.function.__name__}: no witness"
            found = flat(gradient[i], argument)
            assert np.allclose(found, numeric, rtol=1e-6, atol=1e-6), (
                f"{row.function.__name__}: gradient {found}, finite differences {numeric}"
            )
    return None


def cells(row):
    """The cells of one row: construct, supported or refused, example, what to do instead."""
    refusal, example = outcome(row), f"`{row.function.__name__}`"
    if refusal is None:
        return row.construct, "supported", example, ""
    instead = row.instead or "; ".join(refusal.fixes)
    if refusal.read:
        page, _, anchor = refusal.read.partition("#")
        instead += f" ([{anchor.replace('-', ' ')}]({page}.md#{anchor}))"
    found = headline(refusal).replace("|", "\\|")
    return row.construct, f"refused: `{type(refusal).__name__}: {found}`", example, instead


def page():
    """The text of docs/support.md."""
    parts = [INTRODUCTION]
    for group, rows in itertools.groupby(ROWS, key=lambda row: row.group):
        parts.append(f"\n## {group}\n\n{TABLE_HEAD}")
        parts += [f"| {' | '.join(cells(row))} |\n" for row in rows]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
