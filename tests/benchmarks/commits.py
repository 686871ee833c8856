"""Two commits of this project against each other: the same derivatives, in turns, in a process of each.

    make bench ARGS="--against REV [NAME ...] [--runs N] [--rounds N]"

compares what stands in the working tree with the commit REV. NAME picks rows by a part of their name. Each
run starts two new processes, which take turns; its verdict on a row is the median of the ratios
of its rounds. A row is called slower (faster) if every run says so, by more than `LEAST`. The exit code is 1
where a row is slower, fails or gives other numbers.
"""

import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import time_text

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
LEAST = 0.02  # a smaller difference is none: two checkouts of one commit differ by about as much
BLOCK = 5e-3  # seconds that a block takes at least


# --- one of the two processes: reads a command a line, answers by a line of JSON ---------------------------


def numbers_in(value):
    """The numbers of a derivative, in a list as it is nested."""
    import numpy as np

    from rulelab.tangents.projection import FieldGradients

    if isinstance(value, (tuple, list, FieldGradients)):
        return [numbers_in(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return None if value is None else float(value)


def serve(tree):
    """Answer `names`, `value ROW` and `block ROW CALLS` until the input ends."""
    sys.path.insert(0, tree)
    from rows import rows

    calls = rows()
    clock = time.process_time  # what other programs do meanwhile is not in it
    for line in sys.stdin:
        word, *rest = json.loads(line)
        try:
            if word == "names":
                answer = list(calls)
            elif word == "value":
                answer = numbers_in(calls[rest[0]]())
            else:
                call, turns = calls[rest[0]], range(rest[1])
                start = clock()
                for _ in turns:
                    call()
                answer = clock() - start
        except Exception as error:  # a commit that cannot do a row says so in its place
            answer = {"failure": f"{type(error).__name__}: {error}".splitlines()[0][:80]}
        print(json.dumps(answer), flush=True)


# --- the one that asks both --------------------------------------------------------------------------------


class Side:
    """A process that serves the rows of one tree."""

    def __init__(self, tree):
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve", str(tree)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"},
        )

    def ask(self, *words):
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("One of the two processes has ended; what it said stands above.")
        return json.loads(line)

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=30)


@contextlib.contextmanager
def sides(trees):
    """A process for each tree, ended in every case."""
    started = []
    try:
        for tree in trees:
            started.append(Side(tree))
        yield started
    finally:
        for side in started:
            side.close()


@contextlib.contextmanager
def checkout(revision):
    """A folder with the files of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ("git", "-C", str(TREE), "worktree")
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def calls_in_block(pair, row):
    """How many calls make a block that is long enough on the slower side."""
    loops = 1
    while True:
        spent = max(side.ask("block", row, loops) for side in pair)
        if spent >= BLOCK:
            return loops
        loops = max(loops * 2, int(loops * 1.2 * BLOCK / max(spent, 1e-9)))


def failure_of(pair, row):
    """Why a row is not timed, or None: a side that fails, or two that give different numbers."""
    values = [side.ask("value", row) for side in pair]
    for name, value in zip(("before", "now"), values):
        if isinstance(value, dict) and "failure" in value:
            return f"{name}: {value['failure']}"
    return None if same(*values) else "the two give different numbers"


def same(a, b):
    """Whether two nests of numbers agree but for rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, list) or isinstance(b, list) or a is None or b is None:
        return a is b
    return abs(a - b) <= 1e-9 * max(1.0, abs(a))


def ratio_of(pair, row, rounds, shuffle):
    """The median over the rounds of the time now to the time before, the seconds of a call before)."""
    loops = calls_in_block(pair, row)
    ratios, seconds = [], []
    for _ in range(rounds):
        order = [0, 1]
        shuffle.shuffle(order)
        spent = {number: pair[number].ask("block", row, loops) for number in order}
        ratios.append(spent[1] / spent[0])
        seconds.append(spent[0] / loops)
    return statistics.median(ratios), min(seconds)


def verdict(ratios):
    """What the runs say of a row, each by its ratio."""
    if all(ratio > 1 + LEAST for ratio in ratios):
        return "slower"
    if all(ratio < 1 - LEAST for ratio in ratios):
        return "faster"
    return ""


def compared(revision, names, runs, rounds, report=lambda text: None):
    """[(row, seconds before, ratios of the runs)], {row: why it was not timed}."""
    found, failures, seconds = {}, {}, {}
    with checkout(revision) as before:
        for run in range(runs):
            shuffle = random.Random(run)
            with sides((before, TREE)) as pair:
                rows = pair[1].ask("names")
                for row in [row for row in rows if not names or any(name in row for name in names)]:
                    why = failure_of(pair, row)
                    if why is not None:
                        failures[row] = why
                        continue
                    ratio, seconds[row] = ratio_of(pair, row, rounds, shuffle)
                    found.setdefault(row, []).append(ratio)
            report(f"  run {run + 1} of {runs}: done")
    return [(row, seconds[row], ratios) for row, ratios in found.items() if row not in failures], failures


def main(revision, names, runs, rounds):
    """Print the table; 1 where a row is slower or fails."""
    from tabulate import tabulate

    report = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
    found, failures = compared(revision, names, runs, rounds, report)
    lines = [
        [
            row,
            time_text(seconds),
            f"{statistics.median(ratios):.3f}",
            *(f"{r:.2f}" for r in ratios),
            verdict(ratios),
        ]
        for row, seconds, ratios in found
    ]
    heads = ["row", f"at {revision}", "now : then", *(f"run {k + 1}" for k in range(runs)), "verdict"]
    print(
        tabulate(
            lines, headers=heads, disable_numparse=True, colalign=("left", *["right"] * (runs + 2), "left")
        )
    )
    for row, why in failures.items():
        print(f"{row}: {why}")
    slower = [row for row, _, ratios in found if verdict(ratios) == "slower"]
    print(f"{len(found)} rows, {len(slower)} slower in each of {runs} runs, {len(failures)} not timed")
    return 1 if slower or failures else 0


if __name__ == "__main__" and sys.argv[1:2] == ["--serve"]:
    sys.path.insert(0, str(HERE))
    from contest import one_thread

    one_thread()
    serve(sys.argv[2])
