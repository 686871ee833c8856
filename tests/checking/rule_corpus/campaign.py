"""Some thousand rules, right ones and wrong ones, before the check and before the prover, given nothing.

    make rule-corpus ARGS="[--only WORD …] [--every N] [--jobs N] [--log FILE]"

Whether a rule is right is asked of differences of its function (`truth.py`), and of nothing that is judged
here: a mistake that turns out to be none is left out and counted. Prints by kind of mistake how many wrong
rules were caught by numbers and refuted by the prover, by kind of function what was said of the right ones,
and then each miss. The exit code is 1 where a right rule is called wrong, where a wrong one is proved for
arguments at which it is wrong, or where fewer than 99 of a hundred wrong ones are caught by numbers.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import multiprocessing
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np  # noqa: E402
from rule_corpus import arrays, effects, matrices, others, scalars, scipy_families, truth  # noqa: E402
from rule_corpus.judging import Said, said_of  # noqa: E402
from tqdm import tqdm  # noqa: E402

RULES = [rule for module in (scalars, arrays, matrices, effects, others) for rule in module.RULES]
ALL = [*RULES, *scipy_families.RULES]
ENOUGH = 0.99  # of the wrong rules have to be caught by numbers, given nothing
OUTSIDE = ("layout", "integers")  # what "contiguous float64" says was not asked
FORGOTTEN = 40  # rules after which a process is ended, so that what rules leave behind is gone


class Judged(NamedTuple):
    """A rule, the ways in which it is wrong, what was said of it, whether a proof says more than is true."""

    name: str
    kind: str
    right: bool
    faults: dict
    said: Said
    proved_too_much: bool


def judge(number, folder):
    """What became of one rule; None where a mistake is the right rule in disguise."""
    rule, path = ALL[number], Path(folder) / f"rule_{number}.py"
    faults = truth.faults(rule, path)
    if not faults.points:
        raise AssertionError(f"{rule.name}: no point at which its derivative can be measured")
    if rule.meant_right and faults:
        raise AssertionError(f"{rule.name} is meant to be right: {faults.why}")
    if not rule.meant_right and not faults:
        return None
    said = said_of(rule, path)
    beyond = said.proof == "PROVED" and bool(faults) and _wrong_where_proved(rule, path, said.proof_sentence)
    return Judged(rule.name, rule.kind, rule.meant_right, faults.why, said, beyond)


def _wrong_where_proved(rule, path, sentence):
    """Whether the rule is wrong at arguments of the kinds and sizes that the headline of the proof names."""
    pairs = re.findall(r"(\w+) = (True|False|None|-?[\d.]+|'\w*')(?=[,;]|$)", sentence)
    held = {name: ast.literal_eval(value) for name, value in pairs}
    names = tuple(inspect.signature(getattr(truth.load(rule, path), rule.function)).parameters)
    sizes = {int(n) for n in re.findall(r"\d+", re.sub(r"\w+ = [^;]*;|float64", "", sentence))}

    def admitted(args):
        shapes = [np.shape(a) for a in args if truth.parts(a) is None]
        if "all alike" in sentence and len({np.shape(a) for n, a in zip(names, args) if n not in held}) > 1:
            return False
        if any(len(s) == 2 for s in shapes) and "matri" not in sentence:
            return False
        if any(len(s) == 1 for s in shapes) and "vector" not in sentence:
            return False
        if not any(shapes) and "number" not in sentence:
            return False
        if "not complex" in sentence and any(np.iscomplexobj(a) for a in args if truth.parts(a) is None):
            return False
        if any(name in held and not np.array_equal(held[name], a) for name, a in zip(names, args)):
            return False
        return all(n in sizes for s in shapes for n in s)

    faults = truth.faults(rule, path, admitted=admitted)
    return any(not word.removeprefix("raises, ").startswith(OUTSIDE) for word in faults)


def table(rows, title, columns):
    """Counts by kind, with a line for all."""
    kinds = sorted({row.kind for row in rows})
    width = max(len(k) for k in [*kinds, title]) + 2
    print(f"{title:<{width}}" + "".join(f"{c:>14}" for c in ["rules", *columns]))
    for kind in [*kinds, "all"]:
        of_kind = [row for row in rows if kind in ("all", row.kind)]
        counts = [sum(map(column, of_kind)) for column in columns.values()]
        print(f"{kind:<{width}}" + "".join(f"{c:>14}" for c in [len(of_kind), *counts]))
    print()


def caught(row):
    return row.said.numbers == "wrong" or row.said.given == "wrong"


def report(rows, disguised):
    wrong, right = [r for r in rows if not r.right], [r for r in rows if r.right]
    table(
        wrong,
        "wrong rules",
        {
            "caught": caught,
            "said right": lambda r: r.said.numbers == "right",
            "not known": lambda r: not caught(r) and r.said.numbers != "right",
            "REFUTED": lambda r: r.said.proof == "REFUTED",
            "PROVED": lambda r: r.said.proof == "PROVED",
            "proved beyond": lambda r: r.proved_too_much,
        },
    )
    table(
        right,
        "right rules",
        {
            "right": lambda r: "right" in (r.said.numbers, r.said.given),
            "called wrong": lambda r: "wrong" in (r.said.numbers, r.said.given),
            "not known": lambda r: not {"right", "wrong"} & {r.said.numbers, r.said.given},
            "PROVED": lambda r: r.said.proof == "PROVED",
            "REFUTED": lambda r: r.said.proof == "REFUTED",
        },
    )
    print(f"{disguised} mistakes are none: these rules are right, and are not counted")
    for title, said in (
        ("wrong, not caught by numbers", [r for r in wrong if not caught(r)]),
        ("wrong, PROVED where it is wrong", [r for r in wrong if r.proved_too_much]),
        (
            "wrong, PROVED for other arguments",
            [r for r in wrong if r.said.proof == "PROVED" and not r.proved_too_much],
        ),
        ("right, called wrong", [r for r in right if "wrong" in (r.said.numbers, r.said.given)]),
        ("right, REFUTED", [r for r in right if r.said.proof == "REFUTED"]),
        ("crashed", [r for r in rows if "crashed" in (r.said.numbers, r.said.proof)]),
    ):
        print(f"\n{title}: {len(said)}")
        for row in said:
            print(f"  {row.name}: {row.said.numbers}: {row.said.sentence}\n    {row.said.proof_sentence}")
            if row.faults:
                print(f"    {'; '.join(f'{word}: {why}' for word, why in list(row.faults.items())[:3])}")
    share = sum(map(caught, wrong)) / max(1, len(wrong))
    print(f"\n{100 * share:.1f}% of the wrong rules were caught by numbers")
    falsely = [r for r in right if "wrong" in (r.said.numbers, r.said.given) or r.said.proof == "REFUTED"]
    return bool(falsely or any(r.proved_too_much for r in wrong) or share < ENOUGH)


def _judge(task):
    return judge(*task)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", help="rules whose name or kind has this word in it")
    parser.add_argument("--every", type=int, default=1, help="every N-th rule")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log", help="a file for all that was said, as JSON lines")
    options = parser.parse_args()
    chosen = [
        number
        for number, rule in enumerate(ALL)
        if number % options.every == 0
        and (not options.only or any(word in rule.name or word == rule.kind for word in options.only))
    ]
    outcomes = Counter()
    rows = []
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=FORGOTTEN) as pool,
    ):
        tasks = [(number, folder) for number in chosen]
        for row in tqdm(pool.imap_unordered(_judge, tasks), total=len(tasks), disable=None):
            outcomes[row is None] += 1
            if row is not None:
                rows.append(row)
    rows.sort(key=lambda row: row.name)
    if options.log:
        Path(options.log).write_text(
            "".join(json.dumps([*row[:4], *row.said, row[5]], default=str) + "\n" for row in rows)
        )
    return report(rows, outcomes[True])


if __name__ == "__main__":
    sys.exit(main())
