"""Random programs on seeds of one's own, in as many processes as there are cores.

    make programs ARGS="KIND [--count N] [--start SEED]"

KIND is `plain`, `hazard` (aliases, views, writes), `nested` (programs that take derivatives themselves) or
`stateful` (constants that are objects with state, of which nothing may run twice). Each program is judged in
one way, drawn by its seed: reverse or forward mode, the two modes in one of four orders, the third order, or
the quick ways of `gradient` against the generic passes.
Prints what became of the programs of each way; the exit code is 1 where one is wrong.
"""

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.nested_programs import nested_program  # noqa: E402
from corpus.program_orders import FIRST, QUICK, SECOND, THIRD, judged  # noqa: E402
from corpus.programs import arguments, loaded, program  # noqa: E402
from corpus.stateful_programs import state_of, stateful_program  # noqa: E402
from tqdm import tqdm  # noqa: E402

import rulelab as rl  # noqa: E402


def plain(seed):
    return program(seed)


def hazard(seed):
    return program(seed, hazards=True)


KINDS = {"plain": plain, "hazard": hazard, "nested": nested_program, "stateful": stateful_program}
# How often each way is drawn: the first order more often, where a fault would hit most users.
DRAWN = {QUICK: 24, **dict.fromkeys(FIRST, 16), **dict.fromkeys(SECOND, 4), **dict.fromkeys(THIRD, 1)}
FORGOTTEN = 50  # programs after which the compiled passes are dropped


def way_of(seed, kind):
    """The way in which the program of this seed is judged."""
    pick = random.Random(f"way-{kind}-{seed}")
    return pick.choices(list(DRAWN), list(DRAWN.values()))[0]


def judge_one(kind, seed, folder):
    """(seed, way, verdict)."""
    way = way_of(seed, kind)
    path = Path(folder) / f"{kind}_{seed}.py"
    with loaded(KINDS[kind](seed), path) as module:
        left = state_of if kind == "stateful" else None
        verdict = judged(module, arguments(seed), (way,), left=left)[way]
    path.unlink(missing_ok=True)
    if seed % FORGOTTEN == 0:
        rl.refresh()
    return seed, way, verdict


def _judge_given(given):
    return judge_one(*given)


def survey(kind, seeds, folder, jobs):
    """({way: Counter of verdicts}, the wrong ones in words, by seed)."""
    counts, wrong = {way: Counter() for way in DRAWN}, []
    given = [(kind, seed, folder) for seed in seeds]
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=2000) as pool:
        for seed, way, verdict in tqdm(
            pool.imap_unordered(_judge_given, given, chunksize=5), total=len(given), mininterval=10.0
        ):
            if verdict.startswith("wrong"):
                wrong.append((seed, f"{kind}({seed}), {way}: {verdict}"))
            counts[way][verdict.partition(":")[0]] += 1
    return counts, [text for _, text in sorted(wrong)]


def main(arguments_given=None):
    parser = argparse.ArgumentParser(description="Judge random programs.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=1000, help="programs (default 1000)")
    parser.add_argument("--start", type=int, default=100_000, help="the first seed (default 100000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one per core)")
    options = parser.parse_args(arguments_given)
    seeds = range(options.start, options.start + options.count)
    with tempfile.TemporaryDirectory() as folder:
        counts, wrong = survey(options.kind, seeds, folder, options.jobs)
    for way, count in counts.items():
        print(f"{way}: {dict(count.most_common())}")
    print(*wrong, sep="\n")
    total = sum((count for count in counts.values()), Counter())
    print(f"{options.kind}, seeds {seeds[0]} to {seeds[-1]}: {total['right']} right, {len(wrong)} wrong, "
          f"{total['no witness']} that nothing can judge, the rest refused")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
