"""Suggest what was probably intended by a line that a magic cannot parse: the first repair that makes it
valid.
"""

from __future__ import annotations

import ast
import itertools
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from IPython.core.error import UsageError
from IPython.utils.process import arg_split

NAMING = frozenset({"F", "F_CR", "NAME", "OBJECT"})
"""The metavars of arguments that can only be the name of a function."""
_WITH_SPACES = frozenset({"WORDS", "SIZES", "NAMES"})
"""The metavars of values that may contain spaces, and are then in quotes."""
_CALLED = re.compile(r"(?<!\S)([^\W\d][\w.]*)\(([^()]*)\)")


class MagicArguments(NamedTuple):
    """What follows the name of a magic: its part, and the arguments after `--at`, if any."""

    head: str
    at: str | None = None

    def __str__(self) -> str:
        return self.head if self.at is None else f"{self.head} --at {self.at}"


def repaired(parser: ArgumentParser, asked: MagicArguments) -> str:
    """Why a line cannot be parsed, and the line that was probably intended, after at most two repairs; empty
    if none helps.
    """
    once = list(_once(parser, asked))
    twice = ((reason, further) for reason, candidate in once for _, further in _once(parser, candidate))
    for reason, candidate in (*once, *twice):
        if _can_read(parser, candidate):
            return f"{reason}: {parser.spelled} {candidate}"  # type: ignore[attr-defined]
    return ""


def names_alone(parser: ArgumentParser, args: Namespace) -> bool:
    """Whether each argument that names a function is a name, possibly dotted."""
    naming = [one for one in parser._actions if one.metavar in NAMING and one.nargs != "..."]
    given = [getattr(args, one.dest) for one in naming]
    words = [word for value in given for word in (value if isinstance(value, list) else [value])]
    return all(word is None or _is_name(word) for word in words)


def _is_name(word: str) -> bool:
    return all(part.isidentifier() for part in word.split("."))


def _once(parser: ArgumentParser, asked: MagicArguments) -> Iterator[tuple[str, MagicArguments]]:
    for reason, repair in _REPAIRS:
        yield from ((reason, other) for other in repair(parser, asked) if other != asked)


def _can_read(parser: ArgumentParser, asked: MagicArguments) -> bool:
    if asked.at is not None and not _is_call(asked.at):
        return False
    try:
        args, unknown = parser.parse_known_args(arg_split(asked.head, strict=True))
    except (UsageError, ValueError):
        return False
    return not unknown and names_alone(parser, args)


def _is_call(arguments: str) -> bool:
    try:
        return isinstance(ast.parse(f"f({arguments})", mode="eval").body, ast.Call)
    except SyntaxError:
        return False


def _takes_at(parser: ArgumentParser) -> bool:
    return "--at" in parser._option_string_actions


def _bare_names(parser: ArgumentParser, asked: MagicArguments) -> Iterator[MagicArguments]:
    """Functions without the parentheses, quotes and punctuation around them."""
    if any(action.nargs == "..." for action in parser._actions):  # an expression is not a name
        return
    called = _CALLED.search(asked.head)
    words = arg_split(_CALLED.sub(r"\1", asked.head), posix=False, strict=False)
    bare = " ".join(map(_bare, words))
    if called is not None and called[2].strip() and asked.at is None and _takes_at(parser):
        yield MagicArguments(bare, called[2].strip())
    yield asked._replace(head=bare)


def _bare(word: str) -> str:
    inner = word.strip("'\"`").rstrip(",:;").split(",")
    return " ".join(inner) if all(map(_is_name, inner)) else word


def _dashed(parser: ArgumentParser, asked: MagicArguments) -> Iterator[MagicArguments]:
    """Options with two dashes in front."""
    words = arg_split(asked.head, posix=False, strict=False)
    whole = [f"--{w.lstrip('-')}" if _is_option(parser, w) else w for w in words]
    if "--at" not in whole:
        yield asked._replace(head=" ".join(whole))
    elif asked.at is None:
        place = whole.index("--at")
        yield MagicArguments(" ".join(whole[:place]), " ".join(whole[place + 1 :]))


def _is_option(parser: ArgumentParser, word: str) -> bool:
    known = parser._option_string_actions
    return not word.startswith("--") and len(word) > 1 and f"--{word.lstrip('-')}" in known


def _quoted(parser: ArgumentParser, asked: MagicArguments) -> Iterator[MagicArguments]:
    """Values with spaces in quotes, as many of the words as possible."""
    known = parser._option_string_actions
    words = arg_split(re.sub(r"(--\w+)=", r"\1 ", asked.head), posix=False, strict=False)
    for place, word in enumerate(words):
        if word in known and known[word].metavar in _WITH_SPACES:
            for end in range(len(words), place + 2, -1):
                value = " ".join(words[place + 1 : end]).replace('"', "").replace("'", "")
                yield asked._replace(head=" ".join([*words[: place + 1], f'"{value}"', *words[end:]]))


def _late_arguments(parser: ArgumentParser, asked: MagicArguments) -> Iterator[MagicArguments]:
    """Words that nothing else takes, as the arguments after `--at`."""
    try:
        words = arg_split(asked.head, strict=True)
        unknown = parser.parse_known_args(words)[1]
    except (UsageError, ValueError):
        return
    if any(re.match("--|-[a-z]{2}", word) for word in unknown):
        return
    if unknown and asked.at is None and _takes_at(parser) and words[-len(unknown) :] == unknown:
        at = ", ".join(word.rstrip(",") for word in unknown)
        yield MagicArguments(" ".join(words[: -len(unknown)]), at)


def _together(parser: ArgumentParser, asked: MagicArguments) -> Iterator[MagicArguments]:
    """Functions, where several are allowed, before the options."""
    words = arg_split(asked.head, posix=False, strict=False)
    if any(action.nargs == "+" for action in parser._actions):
        late = list(itertools.takewhile(_is_name, reversed(words)))[::-1]
        for count in range(1, len(late) + 1):
            yield asked._replace(head=" ".join([*words[-count:], *words[:-count]]))


_REPAIRS: tuple[tuple[str, Callable[[Any, MagicArguments], Iterator[MagicArguments]]], ...] = (
    ("options begin with two dashes", _dashed),
    ("a value with spaces needs quotes", _quoted),
    ("functions are given by name only", _bare_names),
    ("functions are listed together", _together),
    ("arguments come after --at", _late_arguments),
)
