"""Run the benchmarks and print one table.

    python tests/benchmarks/run.py [NAME ...] [--json FILE] [--seconds S] [--rounds N]
    python tests/benchmarks/run.py --against REV [NAME ...] [--runs N] [--rounds N]

NAME picks contests by the beginning of their name ("mse", "logistic"). Every gradient is compared with the
hand-written one before anything is timed. Ratios are to the plain primal in the same rounds. A second table
tells of long computations ("long", "deep", "large"): seconds and memory of one gradient. `--against` compares
this tree with a commit instead (commits.py).
"""

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1]))

import bench_long  # noqa: E402
import commits  # noqa: E402
from contest import one_thread, run  # noqa: E402

MODULES = ("bench_mse", "bench_scalar_loops", "bench_arrays", "bench_overhead")
SECONDS_PER_MODULE = 45.0


def options(arguments):
    parser = argparse.ArgumentParser(description="Time gradients, as ratios to the plain primal.")
    parser.add_argument(
        "names", nargs="*", help="contests to run, by the beginning of their name; all without one"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="also write what was measured to FILE ('-': only that, to stdout)"
    )
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="time for the rounds of one contest (default 4)"
    )
    parser.add_argument("--rounds", type=int, default=15, help="rounds at most (default 15)")
    parser.add_argument(
        "--against",
        metavar="REV",
        help="compare this tree with a commit, interleaved, in processes of their own",
    )
    parser.add_argument(
        "--runs", type=int, default=5, help="with --against: how often, in new processes (default 5)"
    )
    return parser.parse_args(arguments)


def chosen(names):
    """(module, contest) for the names given."""
    for module in MODULES:
        for contest in importlib.import_module(module).contests():
            if not names or any(contest.name.startswith(name) for name in names):
                yield module, contest


def measured(names, seconds, rounds):
    """[(contest, rows)]: the contests of one module share its time."""
    results = []
    picked = list(chosen(names))
    for module, contest in picked:
        peers = sum(1 for other, _ in picked if other == module)
        results.append(
            (contest, run(contest, seconds=min(seconds, SECONDS_PER_MODULE / peers), rounds=rounds))
        )
        print(f"  {contest.name}: done", file=sys.stderr, flush=True)
    return results


def time_text(seconds):
    """A time with the unit that fits it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.2g} ns"


def record(contest, rows):
    """One contest as plain data."""
    timed = {row.entrant: row for row in rows if row.samples}
    primal, hand = timed["primal"], timed["hand"]
    return {
        "contest": contest.name,
        "entrants": [
            {"entrant": row.entrant, "failure": row.failure}
            if row.failure
            else {
                "entrant": row.entrant,
                "minimum_seconds": row.minimum,
                "median_seconds": row.median,
                "rounds": len(row.samples),
                "minimum_to_primal": row.minimum / primal.minimum,
                "median_to_primal": row.median / primal.median,
                "minimum_to_hand": row.minimum / hand.minimum,
                "minimum_over_hand_microseconds": (row.minimum - hand.minimum) * 1e6,
            }
            for row in rows
        ],
    }


def table(records):
    """The one table, as text."""
    from tabulate import tabulate

    lines = []
    for one in records:
        for k, entry in enumerate(one["entrants"]):
            name = one["contest"] if k == 0 else ""
            if "failure" in entry:
                lines.append([name, f"{entry['entrant']} ({entry['failure'][:60]})", "", "", "", "", "", ""])
                continue
            over = (
                f"{entry['minimum_over_hand_microseconds']:+.2f}"
                if one["contest"].startswith("overhead")
                else ""
            )
            lines.append(
                [
                    name,
                    entry["entrant"],
                    time_text(entry["minimum_seconds"]),
                    time_text(entry["median_seconds"]),
                    f"{entry['minimum_to_primal']:.2f}",
                    f"{entry['median_to_primal']:.2f}",
                    f"{entry['minimum_to_hand']:.2f}",
                    over,
                ]
            )
    heads = [
        "contest",
        "entrant",
        "minimum",
        "median",
        "min : primal",
        "median : primal",
        "min : hand",
        "µs over hand",
    ]
    return tabulate(lines, headers=heads, disable_numparse=True, colalign=("left", "left", *["right"] * 6))


def main(arguments=None):
    chosen_options = options(arguments)
    one_thread()
    if chosen_options.against:
        return commits.main(
            chosen_options.against, chosen_options.names, chosen_options.runs, chosen_options.rounds
        )
    records = [
        record(contest, rows)
        for contest, rows in measured(chosen_options.names, chosen_options.seconds, chosen_options.rounds)
    ]
    machine = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": platform.processor(),
    }
    long = bench_long.records(chosen_options.names)
    text = json.dumps({"machine": machine, "contests": records, "long": long}, indent=1)
    if chosen_options.json == "-":
        print(text)
    else:
        if records:
            print(table(records))
        if long:
            print("\n" + bench_long.table(long))
        if chosen_options.json:
            Path(chosen_options.json).write_text(text + "\n")
    wrong = [
        e
        for one in records
        for e in one["entrants"]
        if e.get("failure") and e["entrant"].startswith("rulelab")
    ]
    return 1 if wrong or any(one["outcome"] not in ("right", "RecursionError") for one in long) else 0


if __name__ == "__main__":
    sys.exit(main())
