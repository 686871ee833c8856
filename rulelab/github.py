"""Results as the workflow commands with which a GitHub job annotates lines of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import Place, printable

TOLD = "told"
"""The verdict of a note that is not a judgement but is shown nevertheless."""
_COMMANDS = {"wrong": "error", "inconclusive": "warning", "error": "error", TOLD: "notice"}


@dataclass(frozen=True)
class Note:
    """The result of one check: verdict, name, text and place; lines and columns from 1, or 0 if unknown."""

    verdict: str
    title: str
    words: str
    file: str = ""
    line: int = 0
    column: int = 0


def document(notes: Iterable[Note], *closing: str) -> str:
    """One command for each check that is not right, followed by closing lines for people.

    >>> wrong = Note("wrong", "rrule of f", "it is wrong:\\nx", "shapes.py", 3)
    >>> print(document([wrong], "1 check: 1 wrong."))
    ::error file=shapes.py,line=3,title=rrule of f::it is wrong:%0Ax
    1 check: 1 wrong.
    """
    commands = [_command(note) for note in notes if note.verdict in _COMMANDS]
    return "\n".join([*commands, *map(_line, closing)])


def spot(place: Place | None) -> tuple[str, int, int]:
    """The file, line and column of a place, counted from 1 in characters; ("", 0, 0) if there is no file."""
    if place is None or not _is_file(place.filename):
        return "", 0, 0
    if place.column is None:
        return place.filename, place.line, 0
    before = place.source().encode()[: place.column]  # a place counts columns in bytes, as Python does
    return place.filename, place.line, len(before.decode(errors="replace")) + 1


def _command(note: Note) -> str:
    facts = {"file": _path(note.file), "line": str(note.line or ""), "col": str(note.column or "")}
    facts["title"] = note.title
    said = ",".join(f"{key}={_property(value)}" for key, value in facts.items() if value)
    return f"::{_COMMANDS[note.verdict]} {said}::{_escaped(note.words)}"


def _line(words: str) -> str:
    """A line for people; it is quoted if it would be a command, in the new or the old syntax."""
    line = _escaped(words)
    return f"> {line}" if line.lstrip().startswith(("::", "##[")) else line


def _path(file: str) -> str:
    """The path of a file relative to the folder of the job, if it lies there; "" for what is not a file."""
    if not _is_file(file):
        return ""
    # A step may run in a subfolder, but annotations need paths relative to the folder of the job.
    path = os.path.relpath(file, os.environ.get("GITHUB_WORKSPACE") or os.curdir)
    return file if path.startswith(os.pardir) else path


def _is_file(name: str) -> bool:
    return bool(name) and not name.startswith("<")


def _escaped(words: str) -> str:
    """The text in one line, so that none of its lines can begin another command."""
    lines = map(printable, words.split("\n"))
    return "%0A".join(line.replace("%", "%25") for line in lines)


def _property(words: str) -> str:
    return _escaped(words).replace(":", "%3A").replace(",", "%2C")
