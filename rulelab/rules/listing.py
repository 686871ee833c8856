"""The rules of a registry as a list, selected by words of a function's name; each rule is listed once."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .rule import Rule


class Listed(NamedTuple):
    """A rule as its author stated it: a scalar rule is one entry, although it serves both modes."""

    target: str
    accepts: str
    kind: str
    functions: str
    place: str
    built_in: bool
    is_helper: bool = False

    @property
    def is_special(self) -> bool:
        """Whether it is for a method that operators and statements call, such as `Tangent.__add__`."""
        return "__" in self.target

    def describe(self) -> str:
        """One line: `math.sin(x) by sin_frule, sin_rrule at python_math.py, line 86`."""
        return f"{self.target}{self.accepts} by {self.functions}" + (
            f" at {self.place}" if self.place else ""
        )


_WITHOUT_MODULE = ("numpy", "scipy.special")  # modules of ufuncs, which do not name their module
_NOBODYS: Mapping[int, str] = types.MappingProxyType({})


def listed(
    rules: Iterable[Rule], text: str = "", helpers: Container[int] = (), homes: Mapping[int, str] = _NOBODYS
) -> list[Listed]:
    """The rules, sorted by target, whose names contain the words of `text`. A target is listed under its name
    in `homes`, if it has one; a rule whose `id` is in `helpers` is marked as a helper.

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
        name = homes.get(id(rule), str(rule.target_name))
        if has_word(name, text):
            groups.setdefault(_stated(rule, name), []).append(rule)
    found = [
        Listed(
            target,
            accepts,
            _all(map(_kind, group)),
            _all(map(_function, group)),
            place,
            built_in,
            id(group[0]) in helpers,
        )
        for (target, accepts, place, built_in), group in groups.items()
    ]
    return sorted(found)


def has_word(name: str, text: str) -> bool:
    """Whether the words of `text` occur in a name as whole words; words are separated by dots and
    underscores.

    >>> has_word("np.sin", "sin"), has_word("np.sin", "np.sin"), has_word("isinstance", "sin")
    (True, True, False)
    """
    words, wanted = _words(name), _words(text)
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1))


def words_of(rules: Iterable[Listed]) -> set[str]:
    """The names of the functions that have rules, and the last word of each, without helpers."""
    names = {rule.target for rule in rules if not rule.is_helper}
    return names | {name.rpartition(".")[2] for name in names}


def helpers_in(entries: Iterable[Any], offered: Container[str]) -> set[int]:
    """The `id` of each rule for something that users do not call: private functions, and rulelab's own
    functions that are not among those `offered` and are called by derived code only.
    """
    ours = __name__.partition(".")[0]
    found = set()
    for entry in entries:
        target, first = entry.target(), entry.name.partition(".")[0]
        module = getattr(target, "__module__", None) or ""
        is_inner = "<locals>" in getattr(target, "__qualname__", "")
        if first.startswith("_") or (module.partition(".")[0] == ours and (is_inner or first not in offered)):
            found |= {id(rule) for rule in (*entry.built_in, *entry.user)}
    return found


def homes_in(entries: Iterable[Any]) -> dict[int, str]:
    """The names under which library functions are imported, by the `id` of each of their rules: messages say
    softmax, a list `scipy.special.softmax`. Users' functions are not included.

    >>> from .authoring import rrule_for
    >>> from .registry import Registry
    >>> r = Registry()
    >>> @rrule_for(np.poly, registry=r)
    ... def poly_rrule(roots): ...
    >>> list(homes_in(r.entries()).values())
    ['np.poly']
    """
    found: dict[int, str] = {}
    for entry in entries:
        target = entry.target()
        if entry.built_in or not isinstance(target, (types.FunctionType, type)):
            home = home_of(target)
            if home is not None:
                found.update((id(rule), home) for rule in (*entry.built_in, *entry.user))
    return found


def home_of(target: Any) -> str | None:
    """The name under which a function or class is imported, from the first public package that has it. None
    if there is none, and for builtins.

    >>> import copy
    >>> home_of(copy.deepcopy), home_of(np.fft.fft), home_of(np.sin)
    ('copy.deepcopy', 'np.fft.fft', 'np.sin')
    >>> home_of(len), home_of(np.ndarray.sum), home_of(lambda x: x)
    (None, None, None)
    """
    name, module = getattr(target, "__name__", None), getattr(target, "__module__", None)
    if not isinstance(name, str) or getattr(target, "__qualname__", name) != name or module == "builtins":
        return None
    said = module.split(".") if isinstance(module, str) else ()
    packages = [".".join(said[: count + 1]) for count in range(len(said))]
    for package in packages or (_WITHOUT_MODULE if isinstance(target, np.ufunc) else ()):
        is_public = not any(part.startswith("_") for part in package.split("."))
        if is_public and vars(sys.modules.get(package, types)).get(name) is target:
            return f"{re.sub('^numpy(?=[.]|$)', 'np', package)}.{name}"
    return None


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\W_]+", text) if word]


def _stated(rule: Rule, name: str) -> tuple[str, str, str, bool]:
    place = rule.place.label() if rule.place is not None else ""
    return name, str(rule.accepts), place, rule.built_in


def _all(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words)))


def _kind(rule: Rule) -> str:
    return "scalar rule" if rule.partials is not None else rule.mode


def _function(rule: Rule) -> str:
    return getattr(rule.function, "__name__", None) or str(rule.function)
