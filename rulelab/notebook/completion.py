"""Complete an argument of a rulelab magic on Tab: the values it may have, likely ones first, then its
options; Python where the argument is Python.
"""

from __future__ import annotations

import argparse
import builtins
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
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

from ..checking.reading.kinds import FORMS, INTERVALS
from ..portability.exports import TARGETS
from ..rules.listing import homes_in, listed, words_of
from ..rules.registry import Registry
from . import manual
from .names import may_vary
from .session import Session

FUNCTION_NAMES = ("F", "F_CR", "LOSS", "NAME", "EXPR", "TEXT", "OBJECT")
"""The metavars of arguments that name a function: they are completed with functions."""
NUMBERS = ("1", "10", "60")
"""What is offered for a number of seconds or rounds."""
SIZES = ("3,5", '"2x3, 4x2"')
DOMAINS = (*INTERVALS, "complex", *FORMS)

_LINE = re.compile(r"^\s*(?:[\w.,\s]+=\s*)?%{1,2}(?P<magic>\w+)[ \t](?P<rest>.*)$", re.S)
_AFTER_AT = re.compile(r"(?:^|\s)--at(?:\s+|=)(?P<python>.*)$", re.S)

_WORD = re.compile(r"(?:\"[^\"]*(?:\"|$)|'[^']*(?:'|$)|[^\s\"'])+")  # with spaces in quotes, closed or not

Sources = Mapping[str, Callable[[str], list[SimpleCompletion]]]


def matcher_for(shell, parsers: Callable[[], dict[str, argparse.ArgumentParser]], sources: Sources):
    """A matcher for IPython's `Completer.custom_matchers`.

    `parsers()` maps the names of the magics to their parsers; `sources` maps the metavar of an argument to a
    function that lists its values with a given beginning. The rest of a line that is Python (after `--at`, an
    expression) is completed by IPython's own completion of Python, which gets only that text: given the whole
    line, it takes the `%` of the magic for the modulo operator and finds no names.
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
        *before, fragment = _words(found["rest"])
        option, fragment = _option_within(parser, fragment)
        if option is not None:
            offered = _values(option, 0, fragment, sources)
        else:
            offered = _offered(parser, before, fragment, sources)
        offered = [c for c in offered if c.text.startswith(fragment)]
        if fragment and not offered:  # otherwise IPython would list every name it knows
            offered = [SimpleCompletion(fragment, type="value")]
        return {
            "completions": offered,
            "matched_fragment": fragment,
            "suppress": bool(offered),
            "ordered": True,
        }

    return rulelab_matcher


def python_part(parser: argparse.ArgumentParser, rest: str) -> str | None:
    """The Python in which the cursor is, at the end of what follows the name of a magic; None if it is in the
    magic's own part.
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


def _words(rest: str) -> list[str]:
    """The words of what follows the name of a magic; the last is the one at the cursor, or empty.

    >>> _words('f --domain "positive ve'), _words("f ")
    (['f', '--domain', '"positive ve'], ['f', ''])
    """
    words = _WORD.findall(rest)
    return words if words and rest.endswith(words[-1]) else [*words, ""]


def _option_within(parser, fragment: str) -> tuple[Any, str]:
    """The option of `--option=value` and the beginning of the value; None and the unchanged fragment if there
    is none.
    """
    name, equals, value = fragment.partition("=")
    action = parser._option_string_actions.get(name) if equals else None
    return (None, fragment) if action is None or action.nargs == 0 else (action, value)


class _Python:
    """IPython's completion of a text that is Python, separate from the line that contains it."""

    def __init__(self, shell):
        self.shell = shell
        self.completer: IPCompleter | None = None

    def completed(self, text: str) -> SimpleMatcherResult:
        """What may follow at the end of the text: parameters, then the user's own names, numbers first."""
        found = [c for c in self._found(text) if not c.text.startswith("%")]
        fragment = text[found[0].start :] if found else ""
        if not text.removesuffix(fragment).endswith("."):
            found.sort(key=lambda c: self._rank(c.text))
        return {
            "completions": [SimpleCompletion(c.text, type=self._type(c)) for c in found],
            "matched_fragment": fragment,
            "suppress": True,
            "ordered": True,
        }

    def _type(self, found) -> str:
        """The type of a completion. Jedi has half a second to tell, and does not for a long list."""
        if found.type not in (None, "<unknown>"):
            return found.type
        value = self.shell.user_ns.get(found.text, vars(builtins).get(found.text))
        return "module" if isinstance(value, ModuleType) else _kind(value) or "instance"

    def _rank(self, name: str) -> int:
        """The rank of a name: the user's own names come before Python's builtins."""
        if name.endswith("="):
            return 0
        own, hidden = self.shell.user_ns, self.shell.user_ns_hidden
        if name not in own or (name in hidden and hidden[name] is own[name]):
            return 3
        return 1 if may_vary(own[name]) else 2

    def _found(self, text: str) -> Iterator[Any]:
        if self.completer is None:
            self.completer = IPCompleter(shell=self.shell, parent=self.shell)
        self.completer.namespace = self.shell.user_ns
        self.completer.global_namespace = self.shell.user_global_ns
        for setting in ("use_jedi", "evaluation", "greedy"):  # `%config IPCompleter` may have changed them
            setattr(self.completer, setting, getattr(self.shell.Completer, setting))
        with provisionalcompleter():
            yield from rectify_completions(text, self.completer.completions(text, len(text)))


def functions_in(shell, session: Session, word: str) -> list[SimpleCompletion]:
    """Callables whose names begin with `word`: names of the namespace, attributes of modules and classes
    after a dot, and names that have a rule. Those come first, and modules last. No property is evaluated.
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
    order = ("function", "class", "module")
    names = sorted(kinds, key=lambda name: (name not in ruled, order.index(kinds[name]), name))
    return [SimpleCompletion(name, type=kinds[name]) for name in names]


def _ruled_names(registry: Registry) -> set[str]:
    return words_of(listed(registry.rules(), homes=homes_in(registry.entries())))


def sources_in(shell, session: Session) -> Sources:
    """The possible values of arguments, by their metavars."""

    def functions(word: str) -> list[SimpleCompletion]:
        return functions_in(shell, session, word)

    def rules(word: str) -> list[SimpleCompletion]:
        known = _ruled_names(session.registry) if word else ()
        there = functions(word)
        fitting = {one for one in known if one.startswith(word) and one.count(".") == word.count(".")}
        return [*there, *_as(sorted(fitting - {one.text for one in there}), "function")]

    def numbers(word: str) -> list[SimpleCompletion]:
        return _as((name for name, value in _top(shell) if may_vary(value)), "instance")

    return {
        **dict.fromkeys(FUNCTION_NAMES, functions),
        "TEXT": rules,
        "NAMES": numbers,
        "WORDS": _domains,
        "TARGET": lambda word: _as(TARGETS, "value"),
        "TOPIC": _topics,
        "N": lambda word: _as(NUMBERS, "value"),
        "SIZES": lambda word: _as(SIZES, "value"),
        "FILE": _paths,
        "DIR": lambda word: [path for path in _paths(word) if path.text.endswith("/")],
    }


def _as(texts: Iterable[str], kind: str) -> list[SimpleCompletion]:
    return [SimpleCompletion(text, type=kind) for text in texts]


def _domains(word: str) -> list[SimpleCompletion]:
    """The words of domains; several words, and an interval, are in quotes."""
    if word[:1] not in ("'", '"'):
        return _as([one for one in DOMAINS if " " not in one] + ['"(0, 1)"'], "value")
    before = word[: len(word) - len(re.split(r"[\s'\":,]", word)[-1])]
    return _as((before + one for one in DOMAINS if one not in before), "value")


def _topics(word: str) -> list[SimpleCompletion]:
    """The pages of the manual, then the public names, and for a word that has begun the words in its titles;
    after a `#`, the sections of the page.
    """
    if "#" in word:
        return _as((section.topic for section in manual.all_sections()), "value")
    topics = [*manual.pages(), *manual.public_names()]
    return _as(dict.fromkeys([*topics, *(manual.title_words() if word else ())]), "value")


def _paths(word: str) -> list[SimpleCompletion]:
    """Folders and files whose names need no quotes."""
    folder, slash, beginning = word.rpartition("/")
    try:
        with os.scandir(Path(folder + slash or ".").expanduser()) as there:
            entries = [(one.name, "/" if one.is_dir() else "") for one in there]
    except OSError:
        return []
    return _as(
        (
            f"{folder}{slash}{name}{end}"
            for name, end in sorted(entries)
            if re.fullmatch(r"[\w.+-]+", name) and (beginning or not name.startswith("."))
        ),
        "path",
    )


def _top(shell) -> Iterator[tuple[str, Any]]:
    hidden = shell.user_ns_hidden
    for name, value in list(shell.user_ns.items()):
        if not (name in hidden and hidden[name] is value):
            yield (f"{name}.", None) if isinstance(value, ModuleType) else (name, value)


def _inside(owner) -> Iterator[tuple[str, Any]]:
    """The attributes of a module, of a class, or of the class of an object, without evaluating any."""
    if isinstance(owner, ModuleType):
        for name, value in list(vars(owner).items()):
            yield (f"{name}.", None) if isinstance(value, ModuleType) else (name, value)
    elif owner is not None:
        for name in dir(owner if isinstance(owner, type) else type(owner)):
            yield name, inspect.getattr_static(owner, name, 0)


def _looked_up(shell, dotted: str):
    """The object that a dotted name stands for, found without running any of the user's code; or None."""
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


def _offered(parser, before: list[str], fragment: str, sources: Sources) -> list[SimpleCompletion]:
    option, place = _option_waiting(parser, before)
    if option is not None:
        return _values(option, place, fragment, sources)
    if fragment.startswith("-"):
        return _options(parser, before, fragment)
    argument = _positional_at(parser, before)
    values = _values(argument, 0, fragment, sources) if argument is not None else []
    return values + (_options(parser, before, fragment) if not fragment else [])


def _option_waiting(parser, before: list[str]):
    """The option whose value comes next and the index of that value, if the words before the cursor end with
    an option.
    """
    for place, word in enumerate(reversed(before[-2:])):
        action = parser._option_string_actions.get(word)
        if action is not None:
            return (action, place) if place < _count(action) else (None, 0)
    return None, 0


def _count(action) -> int:
    """How many values an argument takes."""
    return action.nargs if isinstance(action.nargs, int) else 1


def _positional_at(parser, before: list[str]):
    """The positional argument at the cursor."""
    given, words = 0, iter(before)
    for word in words:
        action = parser._option_string_actions.get(word)
        if action is not None:
            for _ in range(_count(action)):
                next(words, None)
        elif _option_within(parser, word)[0] is None:
            given += 1
    positional = [action for action in parser._actions if not action.option_strings]
    if positional and positional[-1].nargs in ("+", "*"):
        given = min(given, len(positional) - 1)
    return positional[given] if given < len(positional) else None


def _values(action, place: int, fragment: str, sources: Sources) -> list[SimpleCompletion]:
    """The possible values of an argument, or of one of its values if it takes several."""
    if action.choices is not None:
        return _as(map(str, action.choices), "value")
    metavar = action.metavar[place] if isinstance(action.metavar, tuple) else action.metavar
    if metavar in sources:
        return sources[metavar](fragment)
    # A new name: only an example, otherwise IPython would offer every name it knows.
    return _as([fragment or str(metavar).lower()], "value")


def _options(parser, before: list[str], fragment: str) -> list[SimpleCompletion]:
    """Each option not given yet, once, under the first of its names that matches; help only if asked for."""
    found = []
    for action in parser._actions:
        fitting = [text for text in action.option_strings if text.startswith(fragment)]
        helps = action.dest == "help" and len(fragment.strip("-")) == 0
        if fitting and not helps and not any(text in before for text in action.option_strings):
            found.append(SimpleCompletion(fitting[0], type="option"))
    return found
