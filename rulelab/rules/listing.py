"""The rules of a registry as a list to read: found by a word of a function's name, each stated rule once."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from .rule import Rule


class Listed(NamedTuple):
    """A rule as its author stated it: a scalar rule is one, though it serves both modes."""

    target: str
    accepts: str
    kind: str
    functions: str
    place: str
    built_in: bool
    is_helper: bool = False

    @property
    def is_special(self) -> bool:
        """Whether it is of a method that operators and statements call: `Tangent.__add__`."""
        return "__" in self.target

    def describe(self) -> str:
        """One line: `math.sin(x) by sin_frule, sin_rrule at python_math.py, line 86`."""
        return f"{self.target}{self.accepts} by {self.functions}" + (
            f" at {self.place}" if self.place else ""
        )


def listed(rules: Iterable[Rule], text: str = "", helpers: Container[str] = ()) -> list[Listed]:
    """The rules in the order of their targets, those in whose name `text` stands as a word; those for
    `helpers` are marked.

    >>> from .registry import Registry
    >>> from .authoring import scalar_rule
    >>> r = Registry()
    >>> def cube_root(x): return x ** (1 / 3)
    >>> scalar_rule(cube_root, lambda y, x: y / (3 * x), registry=r)
    >>> [(l.kind, l.functions) for l in listed(r.rules(), "root")], listed(r.rules(), "roo")
    ([('scalar rule', 'cube_root_frule, cube_root_rrule')], [])
    """
    groups: dict[tuple, list[Rule]] = {}
    for rule in rules:
        if has_word(str(rule.target_name), text):
            groups.setdefault(_stated(rule), []).append(rule)
    found = [
        Listed(
            target,
            accepts,
            _all(map(_kind, group)),
            _all(map(_function, group)),
            place,
            built_in,
            target in helpers,
        )
        for (target, accepts, place, built_in), group in groups.items()
    ]
    return sorted(found)


def has_word(name: str, text: str) -> bool:
    """Whether the words of `text` stand in a name, whose words end at dots and underscores.

    >>> has_word("np.sin", "sin"), has_word("np.sin", "np.sin"), has_word("isinstance", "sin")
    (True, True, False)
    """
    words, wanted = _words(name), _words(text)
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1))


def words_of(rules: Iterable[Listed]) -> set[str]:
    """The names of the functions that have rules, and the last word of each; of helpers none."""
    names = {rule.target for rule in rules if not rule.is_helper}
    return names | {name.rpartition(".")[2] for name in names}


def helpers_in(entries: Iterable[Any], offered: Container[str]) -> set[str]:
    """The names of targets that no user calls: private ones, and ours that are not among those `offered`,
    which derived code calls by itself.
    """
    ours = __name__.partition(".")[0]
    found = set()
    for entry in entries:
        module, first = getattr(entry.target(), "__module__", None) or "", entry.name.partition(".")[0]
        if first.startswith("_") or (module.partition(".")[0] == ours and first not in offered):
            found.add(entry.name)
    return found


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", text) if word]


def _stated(rule: Rule) -> tuple[str, str, str, bool]:
    place = rule.place.label() if rule.place is not None else ""
    return str(rule.target_name), str(rule.accepts), place, rule.built_in


def _all(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words)))


def _kind(rule: Rule) -> str:
    return "scalar rule" if rule.partials is not None else rule.mode


def _function(rule: Rule) -> str:
    return getattr(rule.function, "__name__", None) or str(rule.function)
