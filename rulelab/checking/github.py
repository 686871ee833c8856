"""Checks as the commands by which a job on GitHub has lines of files annotated."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import printable

_COMMANDS = {"wrong": "error", "inconclusive": "warning", "error": "error"}


@dataclass(frozen=True)
class Note:
    """What is said of one check: its verdict, its name, the words, and the line of the rule."""

    verdict: str
    title: str
    words: str
    file: str = ""
    line: int = 0


def document(notes: Iterable[Note], closing: str) -> str:
    """A command for each check that is not right, and a last line for people.

    >>> wrong = Note("wrong", "rrule of f", "it is wrong:\\nx", "shapes.py", 3)
    >>> print(document([wrong], "1 check: 1 wrong."))
    ::error file=shapes.py,line=3,title=rrule of f::it is wrong:%0Ax
    1 check: 1 wrong.
    """
    return "\n".join([*(_command(note) for note in notes if note.verdict in _COMMANDS), _escaped(closing)])


def _command(note: Note) -> str:
    facts = {"file": _path(note.file), "line": str(note.line or ""), "title": note.title}
    said = ",".join(f"{key}={_property(value)}" for key, value in facts.items() if value)
    return f"::{_COMMANDS[note.verdict]} {said}::{_escaped(note.words)}"


def _path(file: str) -> str:
    """The file as seen from here, if it lies here; no name of what is no file."""
    if not file or file.startswith("<"):
        return ""
    path = os.path.relpath(file)
    return file if path.startswith(os.pardir) else path


def _escaped(words: str) -> str:
    """Words that cannot begin a command of their own: all their lines are in one."""
    lines = map(printable, words.split("\n"))
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(words: str) -> str:
    return _escaped(words).replace(":", "%3A").replace(",", "%2C")
