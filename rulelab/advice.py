"""What a report or an error advises: written in the syntax of the functions, and what a magic and the command
line show instead."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

from .errors import RuleLabError

ONE_SIZE = (
    "only one size was tried, and a rule that is right for this size only would pass too; "
    "try others with sizes="
)
FLOATS = "give floats and arrays of floats with at=: 2.0 for 2, np.array([1.0, 2.0]) for a list"
AT_OR_DOMAIN = "with at= or domain="
MORE_TIME = "give it more time with time_limit=, or shorter arrays"
NO_SCALAR = "leave out scalar=True"
NO_PLANE = "use NumPy's functions, or leave out plane=True"
IN_THE_PLANE = "give plane=True and no complex arguments"
TO_JUDGE = "give arguments to judge it"
FOR_FLOATS = "export it for floats only: give floats with at="
OF_ONE_KIND = "export it for one kind of argument with at="
BY_FORCE = "force=True: replace what exists"
NO_PACKAGE = "leave out package="

_IN_MAGICS = {
    "try others with sizes=": "try others with --sizes",
    "arrays of floats with at=: ": "arrays of floats after --at: ",
    AT_OR_DOMAIN: "with --at or --domain",
    "time with time_limit=": "time with --seconds N",
    NO_SCALAR: "leave out --scalar",
    NO_PLANE: "use NumPy's functions, or leave out --plane",
    IN_THE_PLANE: "give --plane and no complex arguments",
    "say with domain= which": "say with --domain which",
    "as an integer with at=": "as an integer with --at",
    "that the rule accepts with at=": "that the rule accepts after --at",
    TO_JUDGE: "give --at to judge it",
    FOR_FLOATS: "export it for floats only: give floats with --at",
    OF_ONE_KIND: "export it for one kind of argument with --at",
    BY_FORCE: "--force: replace what exists",
    NO_PACKAGE: "leave out --package",
}
_NAMES = r"((?:[\w\[\]]+, )*[\w\[\]]+)"
_SAMPLES = re.compile(rf"(give (?:[\w ]+)): at=\({_NAMES},?\)")
_CALLED = re.compile(rf"((?:give arguments[\w ]*|for arrays)): derive_rule\([\w.]+, {_NAMES}\)")
_CHECKED = re.compile(r"(give them|give your own): rule_check\(([^(),]+), ([^()]+)\)")
_BY_NUMBERS = re.compile(r"(?<!%)\brule_check(?= says more| shows what)|(?<=by numbers: )rule_check\b")
_KINDS = re.compile(r'(which it is for|their kinds): domain=\{((?:"[^"{}]*"(?:: |, )?)+)\}')

# The command line checks the rules of a module at the points that the module states.
_ON_COMMAND_LINE = {TO_JUDGE: "give arguments in __rulelab_points__ to judge it"}

SHOWN = (
    "why", "advice", "words", "notes", "verdict", "proof", "checked", "checks", "findings", "diagnoses",
    "outcomes", "sentence", "lines", "report",
)  # fmt: skip
"""The parts of reports, and of what these consist of, in which there may be advice."""


def with_at(asked: str, names: Sequence[str]) -> str:
    """Advice to give arguments, by the names of the parameters.

    >>> with_at("give sample arguments", ("y", "yh")), with_at("give smaller arrays", ("x",))
    ('give sample arguments: at=(y, yh)', 'give smaller arrays: at=(x,)')
    """
    return f"{asked}: at=({', '.join(names)}{',' * (len(names) == 1)})"


def with_arguments(asked: str, f: Callable[..., Any]) -> str:
    """The same for a function whose rule is to be derived.

    >>> def area(w, h): return w * h
    >>> with_arguments("give arguments", area)
    'give arguments: derive_rule(area, w, h)'
    """
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    return f"{asked}: derive_rule({', '.join([f.__name__, *names])})"


def in_magics(text: str) -> str:
    """A text with its advice in the syntax of magics.

    >>> in_magics("no such sample (give sample arguments: at=(y, yh))")
    'no such sample (give sample arguments: --at y, yh)'
    >>> in_magics("give arguments: derive_rule(area, w)"), in_magics("f() got domain=3")
    ('give arguments: --at w', 'f() got domain=3')
    >>> print(in_magics('say which it is for: domain={"A": "symmetric"} or "square"'))
    say which it is for: --domain "A: symmetric" or "square"
    """
    for plain, magic in _IN_MAGICS.items():
        text = text.replace(plain, magic)
    text = _CALLED.sub(r"\1: --at \2", _SAMPLES.sub(r"\1: --at \2", text))
    text = _BY_NUMBERS.sub("%rule_check", _CHECKED.sub(r"\1: %rule_check \2 --at \3", text))
    return _KINDS.sub(lambda found: f'{found[1]}: --domain "{", ".join(_kinds(found[2], ": "))}"', text)


def on_command_line(text: str) -> str:
    """A text about a rule with its advice for who uses the command line.

    >>> on_command_line("at x = 0: give arguments to judge it there")
    'at x = 0: give arguments in __rulelab_points__ to judge it there'
    >>> print(on_command_line('say which it is for: domain={"A": "symmetric"} or "square"'))
    say which it is for: --domain "A=symmetric" or "square"
    """
    for plain, there in _ON_COMMAND_LINE.items():
        text = text.replace(plain, there)
    text = _CHECKED.sub(r"\1 in __rulelab_points__", text)
    return _KINDS.sub(
        lambda found: f"{found[1]}: " + " ".join(f'--domain "{kind}"' for kind in _kinds(found[2], "=")), text
    )


def _kinds(items: str, between: str) -> list[str]:
    """The items of a dict from parameters to kinds, as they are written elsewhere."""
    return [f"{name}{between}{kind}" for name, kind in re.findall(r'"([^"]*)": "([^"]*)"', items)]


def shown_in_magics(found: Any) -> Any:
    """A report, or a verdict, with its advice in the syntax of magics. An error is changed in its place.

    >>> error = RuleLabError("found", fixes=MORE_TIME)
    >>> shown_in_magics(error).fixes
    ('give it more time with --seconds N, or shorter arrays',)
    """
    return _shown(found, in_magics)


def shown_on_command_line(found: Any) -> Any:
    """The same for the command line."""
    return _shown(found, on_command_line)


def _shown(found: Any, told: Callable[[str], str]) -> Any:
    if isinstance(found, str):
        return told(found)
    if isinstance(found, RuleLabError):
        found.fixes = tuple(map(told, found.fixes))
    elif type(found) in (tuple, list):
        return type(found)(_shown(part, told) for part in found)
    elif type(found) is dict:  # a report as plain data
        return {key: _shown(part, told) for key, part in found.items()}
    elif dataclasses.is_dataclass(found) and not isinstance(found, type):
        names = [field.name for field in dataclasses.fields(found) if field.name in SHOWN]
        return dataclasses.replace(found, **{name: _shown(getattr(found, name), told) for name in names})
    return found
