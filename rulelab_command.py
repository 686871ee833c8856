"""The command `rulelab`. It stands beside the package and not in it, so that Ctrl-C is heard while that is
imported, which takes most of the time of a short command."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code, which after Ctrl-C is 130 at whatever moment it came."""
    try:
        from rulelab.notebook.cli import main as command

        return command()
    except KeyboardInterrupt:
        _say_stopped()
        return INTERRUPTED


def hear_ctrl_c() -> None:
    """For `python -m rulelab`, which imports the package before its `__main__` can call anything: Ctrl-C ends
    it without a traceback until then, too.
    """
    shown = sys.excepthook

    def show(kind, error, traceback) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            shown(kind, error, traceback)
            return
        _say_stopped()
        sys.stderr.flush()
        os._exit(INTERRUPTED)

    sys.excepthook = show


def _say_stopped() -> None:
    print("rulelab: stopped by Ctrl-C before it began", file=sys.stderr)
