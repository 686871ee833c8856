"""The formats in which a command of `rulelab` prints its findings: for people, for programs, for a GitHub
job.

What a command found is anything with a text, `to_json` and `to_github`: a report, or `Said`. Errors of use
go to the standard error stream, whatever the form, and what a program reads is then an object with the key
`error`.
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


class Sayable(Protocol):
    """What a command found."""

    def to_json(self) -> str:
        """For programs."""

    def to_github(self) -> str:
        """Annotations, and lines for people that cannot be taken for commands."""


@dataclass(frozen=True)
class Said:
    """A text, the data that it was made of, and what of it GitHub is to show beside lines of files.

    >>> found = Said("two rules", ["f", "g"])
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


def written(found: Sayable, form: str) -> str:
    """What was found, in one of the FORMATS; the text is as wide as the terminal, and in its colours."""
    ways: dict[str, Callable[[], str]] = {JSON: found.to_json, GITHUB: found.to_github}
    return ways[form]() if form in ways else on_screen(found)


def say(found: Sayable, form: str) -> None:
    """Print what was found, at once."""
    print(written(found, form), flush=True)


def say_error(command: str, words: str, form: str, where: tuple[str, int, int] = ("", 0, 0)) -> None:
    """Say why a command could not be carried out: on the error stream, and in the form that was asked for
    what a program or a job on GitHub reads in place of a result.
    """
    print(on_screen(f"{command}: {words}", sys.stderr), file=sys.stderr)
    if form == GITHUB:
        print(github.document([github.Note("error", command, words, *where)]), flush=True)
    if form == JSON:
        file, line, column = where
        place = {"file": file, "line": line, "column": column} if file else None
        print(json.dumps({"error": words, "command": command, "place": place}, indent=2), flush=True)


def asked_for(words: Sequence[str]) -> str:
    """The form that a command line asks for, also where it cannot be read.

    >>> asked_for(["check", "f.py", "--format", "json", "--jbos"]), asked_for(["rules"])
    ('json', 'text')
    """
    named = [after for word, after in itertools.pairwise(words) if word == "--format"]
    named += [word.partition("=")[2] for word in words if word.startswith("--format=")]
    return next((form for form in named if form in FORMATS), TEXT)
