"""Parsers of options whose errors are sentences, for magics and for commands.

argparse's own messages ("expected 2 arguments", "invalid int value") address the author of a parser. These
address its user: what is missing or wrong, and the corrected line.
"""

from __future__ import annotations

import argparse
import gettext
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..nearest import did_you_mean

WHOLE_NUMBER = "must be a whole number"
_GIVE = "give "
_REQUIRED = gettext.gettext("the following arguments are required: %s").partition("%s")[0]
_EXPLICIT = re.compile(r"argument ([^:]+): " + re.escape(gettext.gettext("ignored explicit argument %r"))
                       .replace("%r", "(.*)"))  # fmt: skip


def parse_count(text: str) -> int:
    """The value of an option that is a count: a whole number from 1 on.

    >>> parse_count("60")
    60
    """
    try:
        count = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{WHOLE_NUMBER}, not {text}") from None
    if count < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return count


class OptionParser(argparse.ArgumentParser):
    """A parser that reports errors in a line as sentences.

    `spelled` is how its line begins: `%rule_check`, or `rulelab check`.
    """

    spelled = ""
    _typed: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse; the words are stored for messages about them."""
        self._typed = () if args is None else list(args)
        return super().parse_known_args(args, namespace)

    @staticmethod
    def is_lacking(error: Exception) -> bool:
        """Whether an error says that an argument is missing, and so ends with a completed line."""
        return str(error).startswith(_GIVE)

    def in_words(self, message: str) -> str:
        """A message of argparse as a sentence; one that already is a sentence is unchanged.

        >>> parser = OptionParser(prog="rulelab check")
        >>> _ = parser.add_argument("--deep", action="store_true")
        >>> parser.in_words("argument --deep: ignored explicit argument '3'")
        "--deep takes no value, not '3'"
        """
        if message.startswith(_REQUIRED):
            return self._missing(message.removeprefix(_REQUIRED).split(", "))
        explicit = _EXPLICIT.fullmatch(message)
        if explicit is not None:
            return f"{explicit[1].partition('/')[0]} takes no value, not {explicit[2]}"
        return message

    def _missing(self, names: Sequence[str]) -> str:
        """The arguments that are missing, and the line with them."""
        called = {named(action): action for action in self._actions}
        missing = [called[name.partition("/")[0]] for name in names if name.partition("/")[0] in called]
        told = ", and ".join(f"{named(one)}, {in_short(one)}" for one in missing) or ", ".join(names)
        missing.sort(key=lambda one: bool(one.option_strings))
        return f"{_GIVE}{told}: {' '.join([self.spelled or self.prog, *self._typed, *map(written, missing)])}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = [] if action.choices is None else list(action.choices)
        if choices and value not in choices:
            words = list(map(str, choices))
            if isinstance(action, argparse._SubParsersAction):
                near = did_you_mean(str(value), words) or f"; choose from {', '.join(words)}"
                raise argparse.ArgumentError(None, f"there is no command {str(value)!r}{near}")
            near = did_you_mean(str(value), words)
            said = f"{named(action)} must be {_one_of(words)}, not {str(value)!r}{near}"
            raise argparse.ArgumentError(None, said)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            raise argparse.ArgumentError(None, refused(action, arg_string, error.message)) from None

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError:
            given = len(arg_strings_pattern) - len(arg_strings_pattern.lstrip("A"))
            raise argparse.ArgumentError(None, lacking(action, given)) from None


def named(action: argparse.Action) -> str:
    """The name of an argument: the first spelling of an option, or the name in the help."""
    if action.option_strings:
        return action.option_strings[0]
    return action.metavar if isinstance(action.metavar, str) else action.dest


def written(action: argparse.Action) -> str:
    """An argument as written in a line, with names for its values: `--to TARGET FILE`."""
    values = _values(action)
    return " ".join([named(action), *values] if action.option_strings else [named(action)])


def _values(action: argparse.Action) -> list[str]:
    if isinstance(action.metavar, tuple):
        return list(action.metavar)
    count = action.nargs if isinstance(action.nargs, int) else 1
    return [action.metavar or action.dest.upper()] * count


def _one_of(words: Sequence[str]) -> str:
    """
    >>> _one_of(["1", "2"]), _one_of(["torch", "jax", "autograd"])
    ('1 or 2', 'torch, jax or autograd')
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def in_short(action: argparse.Action) -> str:
    """A short description of an argument: the first words of its help."""
    return re.split(r"[;:(]|\. ", action.help or "a value")[0].strip().replace("%%", "%")


def lacking(action: argparse.Action, given: int) -> str:
    """The message about an option with too few values."""
    values = _values(action)
    if len(values) > 1:
        missing = " and ".join(values[given:])
        is_missing = "is missing" if len(values) - given == 1 else "are missing"
        return f"{named(action)} needs {' and '.join(values)}; {missing} {is_missing}: {written(action)}"
    if action.choices is not None:
        return f"{named(action)} needs a value: {_one_of(list(map(str, action.choices)))}"
    return f"{named(action)} needs a value: {written(action)} ({in_short(action)})"


def refused(action: argparse.Action, text: str, why: str) -> str:
    """The message about a value that an option cannot take: its type's own words, after its name."""
    kind: Callable | Any = action.type
    if kind in (int, float):
        why = f"{WHOLE_NUMBER if kind is int else 'must be a number'}, not {text}"
    return f"{named(action)} {why}" if why.startswith(("must ", "needs ")) else f"{named(action)}: {why}"
