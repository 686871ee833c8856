"""What a notebook session remembers: the rules made by `%%rrule`, by the names they were given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..rules import authoring
from ..rules.registry import DEFAULT, Registry
from ..rules.rule import Rule
from ..rules.targets import resolve
from ..rules.twins import is_twin, twin
from .cells import MagicError


class Attached(NamedTuple):
    """A rule that a `%%rrule` cell put on the object that a name stood for, and which cell that was.

    `of` is the name of the function that the target is a twin of, if the cell made it one.
    """

    name: str
    target: Any
    rule: Callable
    cell: str
    of: str | None = None


@dataclass
class Session:
    """The state of one notebook. `last` is what the last magic found, complete or cut short by Ctrl-C."""

    registry: Registry = DEFAULT
    rules: dict[str, Attached] = field(default_factory=dict)
    last: Any = None

    def rule_target(self, name: str, of: str | None, namespace: dict) -> Any:
        """The object that `%%rrule NAME [--of F]` puts its rule on; for a new NAME with `--of F`, a twin of
        F.

        The twin is not bound yet: `bind` does that once the rule is in its place. Raises MagicError where
        NAME is not there, and where it is there but would have to be overwritten.
        """
        if of is not None:
            return self._twin(name, of, namespace)
        there = lookup(name, namespace)
        if there is None:
            raise MagicError(
                f"%%rrule: there is no {name}; to make it a copy of a function F: %%rrule {name} --of F"
            )
        if not callable(there):
            raise MagicError(f"%%rrule: {name} is a {type(there).__name__}, which cannot be called")
        return there

    def refuse_other(self, name: str, of: str, namespace: dict) -> None:
        """Raise MagicError if NAME is there and is not a twin of F, so that making it one would destroy
        it.
        """
        there, f = lookup(name, namespace), lookup(of, namespace)
        if there is None:
            return
        if not is_twin(there):
            raise MagicError(
                f"%%rrule: {name} is there already and is no copy made by --of; give the copy another name, "
                f"or leave out `--of {of}` to put the rule on {name} itself"
            )
        known = self.rules.get(name)
        copied = known.of if known is not None and known.target is there else _looked_up(there)
        if copied is not None and copied not in (of, getattr(f, "__name__", None)):
            raise MagicError(
                f"%%rrule: {name} is a copy of {copied}, not of {of}; give the copy of {of} another name"
            )

    def _twin(self, name: str, of: str, namespace: dict):
        """The twin that there is, or a new one; new also if the one there holds a function that F no longer
        is.
        """
        self.refuse_other(name, of, namespace)
        there, f = lookup(name, namespace), lookup(of, namespace)
        if not callable(f):
            raise MagicError(f"%%rrule: there is no function {of} to copy")
        if there is not None and not _holds_another(there, f):
            return there
        if not name.isidentifier():
            raise MagicError(f"%%rrule: the name of a copy must be a plain name, not {name}")
        return twin(f, name)

    def attach(self, name: str, target, rule: Callable, cell: str, of: str | None = None) -> None:
        """Put `rule` on `target`, in one step, and remember under which name."""
        authoring.rrule_for(target, registry=self.registry)(rule)
        self.rules[name] = Attached(name, target, rule, cell, of)

    def reattach(self, namespace: dict) -> list[str]:
        """Put the rules of names that now stand for another function on that function; returns a notice for
        each.

        A name that is gone, or stands for something that cannot be called, keeps its rule in waiting. A
        function that has got a rule of its own since then keeps that. A twin that holds a function which
        its name no longer means is made anew.
        """
        notices = [self._followed(attached, namespace) for attached in list(self.rules.values())]
        return [notice for notice in notices if notice is not None]

    def _followed(self, old: Attached, namespace: dict) -> str | None:
        now = lookup(old.name, namespace)
        if now is None or not callable(now):
            return None
        if not same_target(now, old.target):
            return self._moved(old, now)
        f = None if old.of is None else lookup(old.of, namespace)
        if callable(f) and is_twin(now) and _holds_another(now, f):
            namespace[old.name] = fresh = twin(f, old.name)
            self.attach(old.name, fresh, old.rule, old.cell, old.of)
            return (
                f"{old.of} was defined anew; {old.name} is a copy of the new one "
                f"and keeps its rule {_named(old)}."
            )
        return None

    def _moved(self, old: Attached, now) -> str | None:
        if self._has_own_rule(now):
            del self.rules[old.name]
            return None
        self.attach(old.name, now, old.rule, old.cell)
        return (
            f"{old.name} was defined anew; its rule {_named(old)} now sits on the new one (calls "
            "within this cell ran without it). Change the rule if the formula changed."
        )

    def _has_own_rule(self, target) -> bool:
        entry = self.registry.entry(resolve(target)[0])
        return entry is not None and any(isinstance(rule, Rule) for rule in entry.user)


def lookup(name: str, namespace: dict) -> Any:
    """What a dotted name stands for in a namespace, or None.

    >>> import math
    >>> lookup("math.sin", {"math": math}) is math.sin
    True
    """
    first, *rest = name.split(".")
    found = namespace.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


def same_target(one, other) -> bool:
    """Whether a rule that sits on one sits on the other: bound methods are made anew at each access."""
    return resolve(one)[0] is resolve(other)[0]


def _looked_up(a_twin) -> str | None:
    """The name that a twin looks up when it is called; None for one that holds its function."""
    return a_twin.__code__.co_names[0] if not a_twin.__closure__ and a_twin.__code__.co_names else None


def _holds_another(a_twin, f) -> bool:
    """Whether a twin holds a function, as it must of a lambda or a callable object, and that is not `f`."""
    return bool(a_twin.__closure__) and a_twin.__closure__[0].cell_contents is not f


def _named(attached: Attached) -> str:
    return f"{attached.rule.__name__} ({attached.cell})"
