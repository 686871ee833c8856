"""Time gradients, ours and those of other systems, and print one table.

    python tests/benchmarks/run.py [NAME ...] [--ours] [--json FILE] [--compare FILE]
    python tests/benchmarks/run.py --corpus [NAME ...]
    python tests/benchmarks/run.py --against REV [NAME ...] [--runs N] [--rounds N]

Rows are the workloads (workloads.py), those of special.py, the start ("start") and long computations
("long", "deep", "large"). Peers that are installed take part: pip install 'rulelab[peers]'. With --compare
it says what has moved since a run that was stored (tests/benchmarks/stored.json is the one of the manual's
page). --corpus lists instead what the gradients of the tests' programs cost. --against compares two commits
(commits.py). The exit code is 1 where one of our gradients is wrong or fails.
"""

import argparse
import json
import sys
import time
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1]))

from contest import nothing_kept, one_core, one_thread  # noqa: E402


def options(arguments):
    parser = argparse.ArgumentParser(description="Time gradients, as ratios to the plain function.")
    parser.add_argument("names", nargs="*", help="rows to run, by a part of their name; all without one")
    parser.add_argument("--ours", action="store_true", help="without the other systems")
    parser.add_argument("--json", metavar="FILE", help="also write what was measured to FILE")
    parser.add_argument("--compare", metavar="FILE", help="say what has moved since FILE was written")
    parser.add_argument("--corpus", action="store_true", help="the programs of the tests instead")
    parser.add_argument("--seconds", type=float, default=6.0, help="for the rounds of a row (default 6)")
    parser.add_argument("--rounds", type=int, default=25, help="rounds at most (default 25)")
    parser.add_argument("--against", metavar="REV", help="compare this tree with a commit instead")
    parser.add_argument("--runs", type=int, default=5, help="with --against: in how many new processes")
    return parser.parse_args(arguments)


def measured(chosen, cores):
    """What there is to say, as plain data; `cores` were there before we kept to one."""
    import bench_long
    import bytecodes
    import measuring
    from systems import OURS
    from workloads import WORKLOADS

    rows = list(measuring.rows(chosen.names, chosen.ours, chosen.seconds, chosen.rounds))
    return {
        "date": date.today().isoformat(),
        "machine": measuring.machine() | {"cores": cores},
        "rows": [*rows, *measuring.memory_rows(rows)],
        "long": bench_long.records(chosen.names),
        "bytecodes": bytecodes.counts(WORKLOADS, OURS.entrant),
    }


def rounded(value):
    """Plain data with five digits: the rest is noise."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def keep(record, file):
    if file:
        text = json.dumps(rounded(record), indent=1, ensure_ascii=False)
        Path(file).write_text(text + "\n", encoding="utf-8")


def corpus(chosen):
    """The list of the tests' programs."""
    import corpus_ratios

    found = corpus_ratios.records(chosen.names)
    print(corpus_ratios.table(found))
    keep(found, chosen.json)
    return 0


def main(arguments=None):
    chosen = options(arguments)
    one_thread()
    if chosen.against:
        import commits

        return commits.main(chosen.against, chosen.names, chosen.runs, chosen.rounds)
    cores = one_core()
    nothing_kept()
    if chosen.corpus:
        return corpus(chosen)
    import bench_long
    import compare
    import report

    start = time.perf_counter()
    record = measured(chosen, cores)
    print(report.table(record))
    if record["long"]:
        print("\n" + bench_long.table(record["long"]))
    print(f"in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    for line in report.missing(record):
        print(line)
    if chosen.compare:
        print("\n" + compare.told(json.loads(Path(chosen.compare).read_text()), record))
    keep(record, chosen.json)
    broken = [one for one in record["long"] if one["outcome"] not in ("right", "RecursionError")]
    return 1 if report.wrong(record) or broken else 0


if __name__ == "__main__":
    sys.exit(main())
