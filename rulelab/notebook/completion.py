"""Tab after one of our magics: its options and their values, existing functions, names of rules, and Python
where the argument is Python.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    IPCompleter,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
    provisionalcompleter,
    rectify_completions,
)

from .session import Session

FUNCTION_NAMES = ("F", "F_CR", "LOSS", "NAME", "EXPR", "TEXT")
"""The metavars of arguments that name a function; what a magic calls so is completed with functions."""

_LINE = re.compile(r"^\s*(?:[\w.,\s]+=\s*)?%{1,2}(?P<magic>\w+)[ \t](?P<rest>.*)$", re.S)
_AFTER_AT = re.compile(r"(?:^|\s)--at(?:\s+|=)(?P<python>.*)$", re.S)

Functions = Callable[[str], list[SimpleCompletion]]


def matcher_for(shell, parsers: Callable[[], dict[str, argparse.ArgumentParser]], functions: Functions):
    """A matcher for IPython's `Completer.custom_matchers`.

    `parsers()` maps the names of our magics to their parsers, `functions(word)` lists what a function
    argument that begins with `word` may be. The rest of a line that is Python (after `--at`, an expression)
    is completed by IPython's own completion of Python, which has to be asked for that text alone: given the
    whole line it takes the magic for a remainder of two numbers, and finds no names.
    """
    python = _Python(shell)

    @context_matcher(identifier="rulelab.magics")
    def rulelab_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = _LINE.match(context.text_until_cursor)
        parser = parsers().get(found["magic"]) if found else None
        if found is None or parser is None:
            return {"completions": []}
        text = python_part(parser, found["rest"])
        if text is not None:
            return python.completed(text)
        words = found["rest"].split(" ")
        before, fragment = [w for w in words[:-1] if w], words[-1]
        offered = [c for c in _offered(parser, before, fragment, functions) if c.text.startswith(fragment)]
        return {"completions": offered, "matched_fragment": fragment, "suppress": bool(offered)}

    return rulelab_matcher


def python_part(parser: argparse.ArgumentParser, rest: str) -> str | None:
    """The Python that the cursor is in, at the end of what follows the name of a magic; None where it is in
    the magic's own part.
    """
    at = _AFTER_AT.search(rest)
    if at is not None and "--at" in parser._option_string_actions:
        return at["python"]
    if not any(action.nargs == "..." for action in parser._actions):
        return None
    words = rest.split()
    taken = 0
    while taken < len(words) and words[taken].startswith("-"):
        action = parser._option_string_actions.get(words[taken])
        taken += 2 if action is not None and action.nargs != 0 else 1
    if taken >= len(words):
        waiting = taken > len(words) or (words and not rest.endswith(" "))
        return None if waiting or not words else ""
    position = 0
    for word in words[:taken]:
        position = rest.index(word, position) + len(word)
    return rest[position:].lstrip()


class _Python:
    """IPython's completion of a text that is Python, apart from the line that it stands in."""

    def __init__(self, shell):
        self.shell = shell
        self.completer: IPCompleter | None = None

    def completed(self, text: str) -> SimpleMatcherResult:
        """What may stand at the end of the text."""
        found = list(self._found(text))
        fragment = text[found[0].start :] if found else ""
        return {
            "completions": [
                SimpleCompletion(c.text, type=c.type) for c in found if not c.text.startswith("%")
            ],
            "matched_fragment": fragment,
            "suppress": True,
        }

    def _found(self, text: str) -> Iterator[Any]:
        if self.completer is None:
            self.completer = IPCompleter(shell=self.shell, parent=self.shell)
        self.completer.namespace = self.shell.user_ns
        self.completer.global_namespace = self.shell.user_global_ns
        for setting in ("use_jedi", "evaluation", "greedy"):  # as `%config IPCompleter` may have changed them
            setattr(self.completer, setting, getattr(self.shell.Completer, setting))
        with provisionalcompleter():
            yield from rectify_completions(text, self.completer.completions(text, len(text)))


def functions_in(shell, session: Session, word: str) -> list[SimpleCompletion]:
    """What may be called and begins with `word`: names of the namespace, with dots what is in modules and
    classes, and the names that have a rule. No property is asked for its value.
    """
    owner, dot, beginning = word.rpartition(".")
    inside = _inside(_looked_up(shell, owner)) if dot else _top(shell)
    found = {
        f"{owner}{dot}{name}": value
        for name, value in inside
        if name.startswith(beginning) and (beginning or not name.startswith("_"))
        if name.removesuffix(".").isidentifier()  # a key such as `globals()["a\\nb"]` cannot be typed
    }
    ruled = {name: "function" for name in session.rules if name.startswith(word)}
    kinds = ruled | {name: kind for name, value in found.items() if (kind := _kind(value)) is not None}
    return [SimpleCompletion(name, type=kind) for name, kind in sorted(kinds.items())]


def _top(shell) -> Iterator[tuple[str, Any]]:
    hidden = shell.user_ns_hidden
    for name, value in list(shell.user_ns.items()):
        if not (name in hidden and hidden[name] is value):
            yield (f"{name}.", None) if isinstance(value, ModuleType) else (name, value)


def _inside(owner) -> Iterator[tuple[str, Any]]:
    """The attributes of a module, of a class, or of the class of an object, none of them computed."""
    if isinstance(owner, ModuleType):
        for name, value in list(vars(owner).items()):
            yield (f"{name}.", None) if isinstance(value, ModuleType) else (name, value)
    elif owner is not None:
        for name in dir(owner if isinstance(owner, type) else type(owner)):
            yield name, inspect.getattr_static(owner, name, 0)


def _looked_up(shell, dotted: str):
    """What a dotted name stands for, found without running anything of the user's; or None."""
    first, *rest = dotted.split(".")
    found = shell.user_ns.get(first)
    for name in rest:
        found = inspect.getattr_static(found, name, None)
    return found


def _kind(value) -> str | None:
    """ "module" (None stands for one here), "class", "function", or None for what cannot be called."""
    if value is None:
        return "module"
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) or isinstance(value, (staticmethod, classmethod)) else None


def _offered(parser, before: list[str], fragment: str, functions: Functions) -> list[SimpleCompletion]:
    option = _option_waiting(parser, before)
    if option is not None:
        return _values(option, fragment, functions)
    if fragment.startswith("-"):
        return _options(parser, before, fragment)
    place = _positional_at(parser, before)
    values = _values(place, fragment, functions) if place is not None else []
    return values + (_options(parser, before, fragment) if not fragment else [])


def _option_waiting(parser, before: list[str]):
    """The option whose value comes next, if the word before the cursor is one."""
    action = parser._option_string_actions.get(before[-1]) if before else None
    return action if action is not None and action.nargs != 0 else None


def _positional_at(parser, before: list[str]):
    """The positional argument that the cursor is on."""
    given, words = 0, iter(before)
    for word in words:
        action = parser._option_string_actions.get(word)
        if action is None:
            given += 1
        elif action.nargs != 0:
            next(words, None)
    positional = [action for action in parser._actions if not action.option_strings]
    return positional[given] if given < len(positional) else None


def _values(action, fragment: str, functions: Functions) -> list[SimpleCompletion]:
    if action.choices is not None:
        return [SimpleCompletion(str(choice), type="value") for choice in action.choices]
    if action.metavar in FUNCTION_NAMES:
        return functions(fragment)
    # A number or a new name: nothing but what is there, or IPython would offer all that it knows.
    return [SimpleCompletion(fragment, type="value")]


def _options(parser, before: list[str], fragment: str) -> list[SimpleCompletion]:
    """Each option that is not there yet, once, under the first of its names that fits; help if asked for."""
    found = []
    for action in parser._actions:
        fitting = [text for text in action.option_strings if text.startswith(fragment)]
        helps = action.dest == "help" and len(fragment.strip("-")) == 0
        if fitting and not helps and not any(text in before for text in action.option_strings):
            found.append(SimpleCompletion(fitting[0], type="option"))
    return found
