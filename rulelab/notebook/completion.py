"""Tab after one of our magics: its options, their choices, the functions of the namespace, the names of
rules.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

FUNCTION_NAMES = ("F", "F_CR", "LOSS", "NAME")
"""The metavars of arguments that name a function; what a magic calls so is completed with functions."""

_LINE = re.compile(r"^\s*(?:[\w.,\s]+=\s*)?%{1,2}(?P<magic>\w+)[ \t](?P<rest>.*)$", re.S)


def matcher_for(
    parsers: Callable[[], dict[str, argparse.ArgumentParser]], functions: Callable[[], Iterable[str]]
):
    """A matcher for IPython's `Completer.custom_matchers`.

    `parsers()` maps the names of our magics to their parsers, `functions()` lists the names that a function
    argument may have. Where the rest of the line is Python (after `--at`, within an expression) nothing is
    offered and IPython's own completion of Python takes over.
    """

    @context_matcher(identifier="rulelab.magics")
    def rulelab_matcher(context: CompletionContext) -> SimpleMatcherResult:
        found = _LINE.match(context.text_until_cursor)
        parser = parsers().get(found["magic"]) if found else None
        if found is None or parser is None:
            return {"completions": []}
        words = found["rest"].split(" ")
        before, fragment = [w for w in words[:-1] if w], words[-1]
        offered = [c for c in _offered(parser, before, fragment, functions) if c.text.startswith(fragment)]
        return {"completions": offered, "matched_fragment": fragment, "suppress": bool(offered)}

    return rulelab_matcher


def _offered(parser, before: list[str], fragment: str, functions) -> list[SimpleCompletion]:
    if "--at" in before:
        return []
    option = _option_waiting(parser, before)
    if option is not None:
        return _values(option, functions)
    if fragment.startswith("-"):
        return _options(parser, before)
    place = _positional_at(parser, before)
    values = _values(place, functions) if place is not None else []
    return values + (_options(parser, before) if not fragment else [])


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


def _values(action, functions) -> list[SimpleCompletion]:
    if action.choices is not None:
        return [SimpleCompletion(str(choice), type="value") for choice in action.choices]
    if action.metavar in FUNCTION_NAMES:
        return [SimpleCompletion(name, type="function") for name in functions()]
    return []


def _options(parser, before: list[str]) -> list[SimpleCompletion]:
    return [
        SimpleCompletion(text, type="option")
        for action in parser._actions
        for text in action.option_strings
        if text not in before
    ]
