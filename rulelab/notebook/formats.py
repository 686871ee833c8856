"""The formats in which a command of `rulelab` prints its results: for people, for programs, for a GitHub job.

A result is anything with a text, `to_json` and `to_github`: a report, or `TextResult`. Usage errors go to the
standard error stream in any format, and a program then reads an object with the key `error`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import github
from ..screen import on_screen

TEXT, JSON, GITHUB = "text", "json", "github"
FORMATS = (TEXT, JSON, GITHUB)


class CommandResult(Protocol):
    """The result of a command."""

    def to_json(self) -> str:
        """For programs."""

    def to_github(self) -> str:
        """Annotations, and lines for people that cannot be mistaken for commands."""


@dataclass(frozen=True)
class TextResult:
    """A text, the data it was made from, and the annotations that GitHub shows beside lines of files.

    >>> found = TextResult("two rules", ["f", "g"])
    >>> str(found), found.to_json().split(), found.to_github()
    ('two rules', ['[', '"f",', '"g"', ']'], 'two rules')
    """

    text: str
    data: Any
    notes: tuple[github.Note, ...] = ()

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> str:
        """The data, over several lines."""
        return json.dumps(self.data, indent=2)

    def to_github(self) -> str:
        """The notes; where there are none, the text."""
        return github.document(self.notes, *([] if self.notes else self.text.split("\n")))


def add_format(command: argparse.ArgumentParser) -> None:
    """Give a command the option `--format`."""
    command.add_argument(
        "--format", choices=FORMATS, default=TEXT, metavar="FORMAT",
        help="text (the default), json, or github: annotations for a GitHub Actions job",
    )  # fmt: skip


def written(found: CommandResult, form: str) -> str:
    """The result in one of the FORMATS; text is as wide as the terminal, and coloured if it is."""
    ways: dict[str, Callable[[], str]] = {JSON: found.to_json, GITHUB: found.to_github}
    return ways[form]() if form in ways else on_screen(found)


def say(found: CommandResult, form: str) -> None:
    """Print the result, flushed."""
    print(written(found, form), flush=True)


def say_error(command: str, words: str, form: str, where: tuple[str, int, int] = ("", 0, 0)) -> None:
    """Report why a command failed: on the error stream, and also in the requested format where a program or a
    GitHub job reads the result.
    """
    print(on_screen(f"{command}: {words}", sys.stderr), file=sys.stderr)
    if form == GITHUB:
        print(github.document([github.Note("error", command, words, *where)]), flush=True)
    if form == JSON:
        file, line, column = where
        place = {"file": file, "line": line, "column": column} if file else None
        print(json.dumps({"error": words, "command": command, "place": place}, indent=2), flush=True)


def asked_for(words: Sequence[str]) -> str:
    """The format that a command line requests, even if the line cannot be parsed.

    >>> asked_for(["check", "f.py", "--format", "json", "--jbos"]), asked_for(["rules"])
    ('json', 'text')
    """
    named = [after for word, after in itertools.pairwise(words) if word == "--format"]
    named += [word.partition("=")[2] for word in words if word.startswith("--format=")]
    return next((form for form in named if form in FORMATS), TEXT)
