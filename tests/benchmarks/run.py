"""Time gradients, ours and those of other systems, and print one table.

    python tests/benchmarks/run.py [NAME ...] [--ours] [--json FILE] [--compare FILE]
    python tests/benchmarks/run.py --against REV [NAME ...] [--runs N] [--rounds N]
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
    parser.add_argument("--seconds", type=float, default=6.0, help="for the rounds of a row (default 6)")
    parser.add_argument("--rounds", type=int, default=25, help="rounds at most (default 25)")
    parser.add_argument("--against", metavar="REV", help="compare this tree with a commit instead")
    parser.add_argument("--runs", type=int, default=5, help="with --against: in how many new processes")
    return parser.parse_args(arguments)


def measured(chosen):
    """What there is to say, as plain data."""
    import bench_long
    import bytecodes
    import measuring
    from systems import OURS
    from workloads import WORKLOADS

    rows = list(measuring.rows(chosen.names, chosen.ours, chosen.seconds, chosen.rounds))
    return {
        "date": date.today().isoformat(),
        "machine": measuring.machine(),
        "rows": [*rows, *measuring.memory_rows(rows)],
        "long": bench_long.records(chosen.names),
        "bytecodes": bytecodes.counts(WORKLOADS, OURS.entrant),
    }


def main(arguments=None):
    chosen = options(arguments)
    one_thread()
    if chosen.against:
        import commits

        return commits.main(chosen.against, chosen.names, chosen.runs, chosen.rounds)
    one_core()
    nothing_kept()
    import bench_long
    import report

    start = time.perf_counter()
    record = measured(chosen)
    print(report.table(record))
    if record["long"]:
        print("\n" + bench_long.table(record["long"]))
    print(f"in {time.perf_counter() - start:.0f} s", file=sys.stderr)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(record, indent=1) + "\n")
    return 1 if report.wrong(record) else 0


if __name__ == "__main__":
    sys.exit(main())
