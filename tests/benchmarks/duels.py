"""How far the verdict of a duel can be trusted: many duels of known pairs, on a machine idle and loaded.

    python tests/benchmarks/duels.py [PAIR ...] [--duels N] [--load L ...] [--rounds N]

PAIR picks pairs by the beginning of their name ("fast", "slow equal"). Of two equal functions the verdict has
to be "cannot tell" in 95 of 100 duels, of a function that takes 1.1 times as long the other has to be
"faster" in as many. Every duel has new functions, compiled anew. The load is that of processes of our own,
which end with this one in every case; what else the machine does meanwhile is told by its load average.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np  # noqa: E402

from rulelab.bench import duel  # noqa: E402
from rulelab.bench.duel import ROUNDS  # noqa: E402

LOOP = "def f(n={}):\n    s = 0.0\n    for i in range(n):\n        s += i * i\n    return s\n"
SUM = "def f(numbers=tuple(range({}))):\n    return sum(numbers)\n"
WANTED = 0.95

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100_000))\n"
COMING_AND_GOING = """\
import os, random, sys, time
parent, draw = os.getppid(), random.Random(int(sys.argv[1]))
while os.getppid() == parent:
    end = time.perf_counter() + draw.expovariate(1 / 0.3)
    while time.perf_counter() < end:
        pass
    time.sleep(draw.expovariate(1 / 0.3))
"""
LOADS = {"none of ours": None, "busy": BUSY, "coming and going": COMING_AND_GOING}


class Pair(NamedTuple):
    """Two functions of one source with two sizes, and the verdict that a duel of them should give."""

    name: str
    source: str
    sizes: tuple[int, int]
    expected: str
    part: float = 1.0  # of the duels asked for: slow pairs take their time

    def functions(self):
        """Both, compiled anew, so that they lie somewhere else in memory each time."""
        for size in self.sizes:
            names = {}
            exec(compile(self.source.format(size), "<pair>", "exec"), names)
            yield names["f"]


PAIRS = (
    Pair("fast equal", SUM, (10, 10), "cannot tell"),
    Pair("fast 1.1x", SUM, (13, 10), "faster"),
    Pair("ordinary equal", LOOP, (1000, 1000), "cannot tell"),
    Pair("ordinary 1.1x", LOOP, (1100, 1000), "faster"),
    Pair("slow equal", LOOP, (500_000, 500_000), "cannot tell", 0.2),
    Pair("slow 1.1x", LOOP, (550_000, 500_000), "faster", 0.2),
)


@contextlib.contextmanager
def loaded(program):
    """One process for each core that runs `program` meanwhile."""
    processes = []
    try:
        for number in range(0 if program is None else len(os.sched_getaffinity(0))):
            processes.append(subprocess.Popen([sys.executable, "-c", program, str(number)]))
        time.sleep(0.5 if processes else 0.0)
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def fought(pair, duels, rounds, seed):
    """The results of so many duels, each of a new pair."""
    results = []
    for number in range(duels):
        slower, faster = pair.functions()
        results.append(duel(slower, faster, rounds=rounds, rng=np.random.default_rng((seed, number))))
    return results


def row(pair, load, results, seconds):
    """The line of the table, and whether it is as it should be."""
    verdicts = Counter(result.verdict for result in results)
    ratios = [result.ratio for result in results]
    widths = [result.interval[1] / result.interval[0] - 1 for result in results]
    right = verdicts[pair.expected] >= WANTED * len(results)
    return right, (
        pair.name,
        load,
        f"{os.getloadavg()[0]:.1f}",
        f"{1e6 * np.median([result.right.best for result in results]):.3g}",
        str(len(results)),
        *(str(verdicts[verdict]) for verdict in ("cannot tell", "faster", "slower")),
        f"{min(ratios):.3f} {np.median(ratios):.3f} {max(ratios):.3f}",
        f"{100 * np.median(widths):.2g}%",
        f"{seconds / len(results):.2g}",
        "as wanted" if right else "NOT as wanted",
    )


HEADS = (
    "pair",
    "load",
    "average",
    "µs a call",
    "duels",
    "cannot tell",
    "faster",
    "slower",
    "ratio: least, median, most",
    "width",
    "s a duel",
    "",
)


def options(arguments):
    parser = argparse.ArgumentParser(description="Fight duels of known pairs and count the verdicts.")
    parser.add_argument("pairs", nargs="*", help="pairs, by the beginning of their name; all without one")
    parser.add_argument("--duels", type=int, default=100, help="duels of each pair (default 100; slow: 20)")
    parser.add_argument("--load", nargs="*", choices=[*LOADS], default=[*LOADS], help="loads; all without")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds a duel (default {ROUNDS})")
    parser.add_argument("--seed", type=int, default=0, help="of the order and the bootstrap (default 0)")
    return parser.parse_args(arguments)


def main(arguments=None):
    from tabulate import tabulate

    asked, rows, all_right = options(arguments), [], True
    for load in asked.load:
        for pair in PAIRS:
            if asked.pairs and not any(pair.name.startswith(name) for name in asked.pairs):
                continue
            with loaded(LOADS[load]):
                start = time.perf_counter()
                results = fought(pair, max(1, round(asked.duels * pair.part)), asked.rounds, asked.seed)
                right, line = row(pair, load, results, time.perf_counter() - start)
            rows.append(line)
            all_right &= right
            print(f"  {' | '.join(line)}", file=sys.stderr, flush=True)
    print(tabulate(rows, headers=HEADS, disable_numparse=True))
    return 0 if all_right else 1


if __name__ == "__main__":
    sys.exit(main())
