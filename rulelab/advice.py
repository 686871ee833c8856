"""What a report or an error advises, said in a call of a function, in the line of a magic and on the command
line.

Messages are written for callers of functions; magics and the command line show them in their own syntax.
Each piece of advice is one row here, with its text in each of them: messages take it from here, so that none
is left untranslated, and nothing but advice is translated.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .errors import RuleLabError


class _Row(NamedTuple):
    """A piece of advice: its pattern, and its replacement in magics and on the command line; None if it is
    the same there."""

    pattern: re.Pattern[str]
    in_magics: Callable[[re.Match[str]], str] | None
    on_command_line: Callable[[re.Match[str]], str] | None


_ROWS: list[_Row] = []


def _said(plain: str, magic: str, command: str | None = None) -> str:
    """Register advice with a fixed text, and return it."""
    other = None if command is None else lambda _: command
    _ROWS.append(_Row(re.compile(rf"(?<![%\w]){re.escape(plain)}"), lambda _: magic, other))
    return plain


ONE_SIZE = _said(
    "only one size was tried, and a rule that is right for this size only would pass too; "
    "try others with sizes=",
    "only one size was tried, and a rule that is right for this size only would pass too; "
    "try others with --sizes",
)
FLOATS = _said(
    "give floats and arrays of floats with at=: 2.0 for 2, np.array([1.0, 2.0]) for a list",
    "give floats and arrays of floats after --at: 2.0 for 2, np.array([1.0, 2.0]) for a list",
)
THOSE_MEANT = _said("give those that are, with at= or domain=", "give those that are, with --at or --domain")
MEANT_FOR = _said("use domain= to say which it is for", "use --domain to say which it is for")
AS_INTEGER = _said(
    "give it as an integer with at= to hold it fixed", "give it as an integer after --at to hold it fixed"
)
ACCEPTED = _said(
    "give arguments that the rule accepts with at=", "give arguments that the rule accepts after --at"
)
SHORTER_LOOP = _said(
    "give arguments for which the loop is shorter, with at=",
    "give arguments for which the loop is shorter, after --at",
)
MORE_TIME = _said(
    "give it more time with time_limit=, or shorter arrays or fewer steps",
    "give it more time with --seconds N, or shorter arrays or fewer steps",
)
NO_SCALAR = _said("leave out scalar=True", "leave out --scalar")
NO_PLANE = _said(
    "use NumPy's functions, or leave out plane=True", "use NumPy's functions, or leave out --plane"
)
IN_THE_PLANE = _said("use plane=True, with real arguments", "use --plane, with real arguments")
TO_JUDGE = _said(
    # The command line checks the rules of a module at the points that the module states.
    "give arguments to judge it",
    "give --at to judge it",
    "give arguments in __rulelab_points__ to judge it",
)
FOR_FLOATS = _said(
    "export it for floats only: give floats with at=", "export it for floats only: give floats after --at"
)
OF_ONE_KIND = _said(
    "export it for one kind of argument with at=", "export it for one kind of argument with --at"
)
BY_FORCE = _said("use force=True to replace what exists", "use --force to replace what exists")
NO_PACKAGE = _said("leave out package=", "leave out --package")
BY_NUMBERS = _said("judge it by numbers: rule_check", "judge it by numbers: %rule_check")
SAYS_MORE = _said("rule_check says more about a rule", "%rule_check says more about a rule")
SHOWS_WHAT = _said("rule_check shows what is wrong", "%rule_check shows what is wrong")
FORWARD = _said(
    'use mode="forward", which allows array writes', "use --mode forward, which allows array writes"
)
REVERSE = _said('use mode="reverse", which calls it once', "use --mode reverse, which calls it once")

# -- advice that names something -----------------------------------------------------------------------------

_ASKED = (
    "for others",
    "give sample arguments",
    "give arguments",
    "give arguments at which it is",
    "give arguments at which rounding does not matter",
    "give smaller arguments",
    "give smaller arrays",
    "give your own",
    "give them",
    "for arrays",
)
"""The words with which advice asks for arguments."""
_FOR = ("say which it is for", "their kinds")
"""The words with which advice asks for kinds of arguments."""
_ANY = "|".join(map(re.escape, sorted(_ASKED, key=len, reverse=True)))
_GIVEN = r"((?:[^()]|\([^()]*\))*?)"


def _of(words: Iterable[str], asked: str) -> str:
    if asked not in words:
        raise ValueError(f"no advice begins with {asked!r}")
    return asked


def with_at(asked: str, names: Sequence[str]) -> str:
    """Advice to give arguments, by the names of the parameters.

    >>> with_at("give sample arguments", ("y", "yh")), with_at("give smaller arrays", ("x",))
    ('give sample arguments: at=(y, yh)', 'give smaller arrays: at=(x,)')
    """
    return f"{_of(_ASKED, asked)}: at=({', '.join(names)}{',' * (len(names) == 1)})"


_ROWS.append(_Row(re.compile(rf"\b({_ANY}): at=\({_GIVEN},?\)"), lambda m: f"{m[1]}: --at {m[2]}", None))


def with_arguments(asked: str, f: Callable[..., Any]) -> str:
    """Advice to give arguments to a function whose rule is to be derived.

    >>> def area(w, h): return w * h
    >>> with_arguments("give arguments", area)
    'give arguments: derive_rule(area, w, h)'
    """
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    return f"{_of(_ASKED, asked)}: derive_rule({', '.join([f.__name__, *names])})"


_ROWS.append(
    _Row(re.compile(rf"\b({_ANY}): derive_rule\([^(),]+, {_GIVEN}\)"), lambda m: f"{m[1]}: --at {m[2]}", None)
)


def checked_with(asked: str, name: str, arguments: Sequence[str]) -> str:
    """Advice to give arguments to a function whose rule is to be checked.

    >>> checked_with("give your own", "mse", ("y", "yh"))
    'give your own: rule_check(mse, y, yh)'
    """
    return f"{_of(_ASKED, asked)}: rule_check({', '.join([name, *arguments])})"


_ROWS.append(
    _Row(
        re.compile(rf"\b({_ANY}): rule_check\(([^(),]+), {_GIVEN}\)"),
        lambda m: f"{m[1]}: %rule_check {m[2]} --at {m[3]}",
        lambda m: f"{m[1]} in __rulelab_points__",
    )
)


def with_domain(asked: str, kinds: Mapping[str, str]) -> str:
    """Advice to say what kinds of arguments a function is for.

    >>> print(with_domain("say which it is for", {"A": "symmetric"}))
    say which it is for: domain={"A": "symmetric"}
    """
    items = ", ".join(f'"{name}": "{kind}"' for name, kind in kinds.items())
    return f"{_of(_FOR, asked)}: domain={{{items}}}"


def _kinds(items: str, between: str) -> list[str]:
    """The items of a dict from parameters to kinds, in the syntax of an option."""
    return [f"{name}{between}{kind}" for name, kind in re.findall(r'"([^"]*)": "([^"]*)"', items)]


_ROWS.append(
    _Row(
        re.compile(rf'\b({"|".join(_FOR)}): domain=\{{((?:"[^"{{}}]*"(?:: |, )?)+)\}}'),
        lambda m: f'{m[1]}: --domain "{", ".join(_kinds(m[2], ": "))}"',
        lambda m: f"{m[1]}: " + " ".join(f'--domain "{kind}"' for kind in _kinds(m[2], "=")),
    )
)


def skeleton(name: str) -> str:
    """Advice to begin with a skeleton.

    >>> skeleton("mse")
    'write one: rl.rule_stub(mse) gives a skeleton'
    """
    return f"write one: rl.rule_stub({name}) gives a skeleton"


_ROWS.append(
    _Row(
        re.compile(r"write one: rl\.rule_stub\(([^(),]+)\) gives a skeleton"),
        lambda m: f"write one: %rule_stub {m[1]} gives a skeleton",
        None,
    )
)


def to_state(mode: str, name: str) -> str:
    """Advice to state a rule where there is none.

    >>> to_state("rrule", "mse")
    'state one with @rl.rrule_for(mse)'
    """
    return f"state one with @rl.{mode}_for({name})"


_ROWS.append(
    _Row(
        re.compile(r"state one with @rl\.([rf]rule)_for\(([^()]+)\)"),
        lambda m: f"state one with %%{m[1]} {m[2]}",
        None,
    )
)

# -- where one stands ----------------------------------------------------------------------------------------

SHOWN = (
    "why", "advice", "words", "notes", "verdict", "proof", "checked", "checks", "findings", "diagnoses",
    "outcomes", "sentence", "lines", "report",
)  # fmt: skip
"""The parts of reports, and of what these consist of, in which there may be advice."""


def in_magics(text: str) -> str:
    """A text with its advice in the syntax of magics.

    >>> in_magics("no such sample (give sample arguments: at=(y, yh))")
    'no such sample (give sample arguments: --at y, yh)'
    >>> in_magics("give arguments: derive_rule(<lambda>, w)"), in_magics("f() got domain=3")
    ('give arguments: --at w', 'f() got domain=3')
    >>> print(in_magics('say which it is for: domain={"A": "symmetric"} or "square"'))
    say which it is for: --domain "A: symmetric" or "square"
    """
    for row in _ROWS:
        text = row.pattern.sub(row.in_magics, text) if row.in_magics is not None else text
    return text


def on_command_line(text: str) -> str:
    """A text about a rule with its advice in the syntax of the command line.

    >>> on_command_line("at x = 0: give arguments to judge it there")
    'at x = 0: give arguments in __rulelab_points__ to judge it there'
    >>> print(on_command_line('say which it is for: domain={"A": "symmetric"} or "square"'))
    say which it is for: --domain "A=symmetric" or "square"
    """
    for row in _ROWS:
        text = row.pattern.sub(row.on_command_line, text) if row.on_command_line is not None else text
    return text


def shown_in_magics(found: Any) -> Any:
    """A report or a verdict with its advice in the syntax of magics. Errors are changed in place.

    >>> error = RuleLabError("found", fixes=MORE_TIME)
    >>> shown_in_magics(error).fixes
    ('give it more time with --seconds N, or shorter arrays or fewer steps',)
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
