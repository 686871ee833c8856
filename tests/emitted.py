"""How long the emitted reverse passes of the corpus are, here and in another checkout.

Each program of `corpus/` is compiled at its first point, and the text that `%adjoint` shows is counted:
its lines but for blank ones and comments, and its statements of Python's grammar. Programs that either
checkout refuses are left out of the comparison.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def counts_of(root: Path) -> dict[str, tuple[int, int]]:
    """Lines and statements of each program's emitted text, by the code of a checkout."""
    command = [sys.executable, __file__, "--print-counts-of", str(root)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {name: (lines, count) for name, (lines, count) in json.loads(printed.splitlines()[-1]).items()}


def print_counts_of(root: Path) -> None:
    sys.path[:0] = [str(root), str(ROOT / "tests")]
    from corpus.harness import all_cases

    import rulelab as rl

    counts = {}
    for case in all_cases():
        try:
            text = rl.adjoint_source(case.function, *case.points[0], **case.kwargs)
        except Exception:  # another checkout may refuse what this one answers
            continue
        counts[case.name] = lines_of(text), statements_of(text)
    print()
    print(json.dumps(counts))


def lines_of(text: str) -> int:
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())


def statements_of(text: str) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, help="the root of another checkout")
    parser.add_argument("--print-counts-of", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.print_counts_of:
        print_counts_of(arguments.print_counts_of)
        return
    here = counts_of(ROOT)
    there = counts_of(arguments.against) if arguments.against else here
    both = here.keys() & there.keys()
    print(f"{len(here)} programs, {len(both)} of them in both")
    for place, word in enumerate(("lines", "statements")):
        now, then = (sum(counts[name][place] for name in both) for counts in (here, there))
        beside = f", {then} in {arguments.against}: {now / then - 1:+.1%}" if arguments.against else ""
        print(f"{now:8} {word}{beside}")


if __name__ == "__main__":
    main()
