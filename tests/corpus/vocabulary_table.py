"""docs/coming-from/vocabulary.md, made by running every example of vocabulary.py; `make vocabulary-table`
writes it anew.
"""

import contextlib
import doctest
import io
import itertools
import sys
import warnings
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import numpy as np  # noqa: E402
from corpus.vocabulary import ROWS  # noqa: E402

import rulelab as rl  # noqa: E402

PAGE = TESTS.parent / "docs" / "coming-from" / "vocabulary.md"
INTRODUCTION = """# ChainRules, row by row

Each tool that ChainRules offers to authors of rules, and its counterpart here: our spelling with an example,
or the reason why there is none. The number links to the example below the table. All examples were run for
this page, which `make vocabulary-table` generates from
[tests/corpus/vocabulary.py](../../tests/corpus/vocabulary.py).

```python
>>> import warnings
>>> import numpy as np
>>> import rulelab as rl

```
"""
TABLE_HEAD = "| row | in ChainRules | here |\n|---|---|---|\n"


def names():
    """What the examples of one group start with."""
    return {"np": np, "rl": rl, "warnings": warnings}


def run(row, known):
    """What the run of an example says against it, empty where its outputs are those that the row states."""
    said = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    test = doctest.DocTestParser().get_doctest(row.example + "\n", known, row.ours, "vocabulary.py", 0)
    with contextlib.redirect_stderr(said):
        runner.run(test, out=said.write, clear_globs=False)
    known.update(test.globs)
    return said.getvalue()


def groups():
    """The rows of each group, numbered from 1 over all of them."""
    numbered = enumerate(ROWS, start=1)
    return itertools.groupby(numbered, key=lambda pair: pair[1].group)


def cells(number, row):
    """The cells of one row: its number, which leads to its example, theirs, ours or the reason."""
    if row.example:
        return f"[{number}](#example-{number})", row.theirs, row.ours
    return str(number), row.theirs, f"not provided. {row.reason}"


def page():
    """The text of the page; AssertionError where an example does not give what it states."""
    parts = [INTRODUCTION]
    for group, rows in groups():
        listed, known = list(rows), names()
        parts.append(f"\n## {group}\n\n{TABLE_HEAD}")
        parts += [f"| {' | '.join(cells(number, row))} |\n" for number, row in listed]
        for number, row in listed:
            if row.example:
                complaint = run(row, known)
                assert not complaint, complaint
                parts.append(
                    f"\n(example-{number})=\n**{number}.** {row.ours}\n\n```python\n{row.example}\n\n```\n"
                )
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
