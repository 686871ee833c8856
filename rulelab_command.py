"""The command `rulelab`. It stands beside the package and not in it, so that Ctrl-C is heard while that is
imported, which takes most of the time of a short command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code, which after Ctrl-C is 130 at whatever moment it came."""
    try:
        from rulelab.notebook.cli import main as command

        return command()
    except KeyboardInterrupt:
        print("rulelab: stopped by Ctrl-C before it began", file=sys.stderr)
        return 130
