"""What a notebook session remembers: the rules made by `%%rrule`, by the names they were given."""

from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..annotations import signature_of_callable
from ..errors import RuleRegistrationError, an
from ..nearest import did_you_mean
from ..rules import authoring
from ..rules.doubt import move_rule
from ..rules.registry import DEFAULT, Registry
from ..rules.rule import Rule
from ..rules.targets import resolve
from ..rules.twins import is_twin, looked_up, primal_of, twin
from .cells import MagicError

AT_UNLOADING: list[Callable[[], None]] = []
"""Functions to call when the magics are unloaded, added by modules loaded since."""


class AttachedRule(NamedTuple):
    """A rule that a `%%rrule` cell attached to the object a name stood for, and the cell.

    `of` is the name of the function that the target is a twin of, if the cell made it one. `primal` is what
    the target computes: itself, or for a twin the function it called when the rule was attached.
    """

    name: str
    target: Any
    rule: Callable
    cell: str
    of: str | None
    primal: Any


class FixedRule(NamedTuple):
    """A rule made by `%%frule` or `%scalar_rule`, which does not follow the name of its function."""

    name: str
    target: Any
    rule: Callable
    cell: str
    kind: str


class LastArguments(NamedTuple):
    """The arguments last used with a function, by which magic and in which cell."""

    args: tuple
    kwargs: dict[str, Any]
    magic: str
    cell: str


MOST_COMPARED = 32
"""The number of functions whose last arguments are stored; the oldest are forgotten."""


@dataclass
class Session:
    """The state of one notebook. `last` is the result of the last magic, complete or cut short by Ctrl-C."""

    registry: Registry = DEFAULT
    rules: dict[str, AttachedRule] = field(default_factory=dict)
    staying: dict[tuple[str, str], FixedRule] = field(default_factory=dict)
    compared: dict[str, LastArguments] = field(default_factory=dict)
    last: Any = None

    def remember_comparison(self, names: Iterable[str], compared: LastArguments) -> None:
        """Store the arguments of a comparison, or of another command, for the functions of these names."""
        for name in names:
            self.compared.pop(name, None)
            self.compared[name] = compared
        while len(self.compared) > MOST_COMPARED:
            del self.compared[next(iter(self.compared))]

    def last_compared(self, name: str, f: Callable) -> LastArguments | None:
        """The arguments of the last command about a function, about the one that it is a copy of, or about a
        copy of it.

        None if there was none, or if `f`, which the name stands for now, does not take them.
        """
        attached = self.rules.get(name)
        found = self.compared.get(name)
        if found is None and attached is not None and attached.of is not None:
            found = self.compared.get(attached.of)
        for other, compared in self.compared.items() if found is None else ():
            copy = self.rules.get(other)
            found = compared if copy is not None and copy.of == name else found
        return found if found is not None and _takes(f, found) else None

    def rule_target(self, name: str, of: str | None, namespace: dict, magic: str = "%%rrule") -> Any:
        """The object to which `%%rrule NAME [--of F]` attaches its rule; for a new NAME with `--of F`, a twin
        of F.

        The twin is not bound yet: the magic does that once the rule is attached. Raises MagicError if NAME
        does not exist, or exists but would have to be overwritten.
        """
        if of is not None:
            return self._twin(name, of, namespace)
        there = lookup(name, namespace)
        if there is None:
            copied = f"; to make it a copy of a function F: {magic} {name} --of F"
            ending = copied if magic == "%%rrule" else meant_by(name, namespace)
            raise MagicError(f"{magic}: there is no function {name}{ending}")
        if not callable(there):
            raise MagicError(f"{magic}: {name} is {an(type(there).__name__)}, which cannot be called")
        return there

    def refuse_other(self, name: str, of: str, namespace: dict) -> None:
        """Raise MagicError if NAME exists and is not a twin of F, so that making it one would destroy it."""
        there, f = lookup(name, namespace), lookup(of, namespace)
        if there is None:
            return
        if not is_twin(there):
            raise MagicError(
                f"%%rrule: {name} already exists and is not a copy made by --of; give the copy another name, "
                f"or leave out `--of {of}` to put the rule on {name} itself"
            )
        known = self.rules.get(name)
        copied = known.of if known is not None and known.target is there else looked_up(there)
        if copied is not None and copied not in (of, getattr(f, "__name__", None)):
            raise MagicError(
                f"%%rrule: {name} is a copy of {copied}, not of {of}; give the copy of {of} another name"
            )

    def _twin(self, name: str, of: str, namespace: dict):
        """The existing twin, or a new one; also a new one if the existing twin holds a function that F no
        longer is.
        """
        self.refuse_other(name, of, namespace)
        there, f = lookup(name, namespace), lookup(of, namespace)
        if not callable(f):
            raise MagicError(f"%%rrule: there is no function {of} to copy")
        if there is not None and not _holds_another(there, f) and not _takes_others(there, f):
            return there
        if not name.isidentifier():
            raise MagicError(f"%%rrule: the name of a copy must be a plain name, not {name}")
        return twin(f, name)

    def attach(self, name: str, target, rule: Callable, cell: str, of: str | None = None) -> list[str]:
        """Attach `rule` to `target`, in one step, and remember the name; returns what it replaced."""
        before = self.stated(target)
        authoring.rrule_for(target, registry=self.registry)(rule)
        self.rules[name] = AttachedRule(name, target, rule, cell, of, _primal(target))
        return self.displaced(target, before)

    def attach_frule(self, name: str, target, rule: Callable, cell: str) -> list[str]:
        """Attach a forward rule to `target`; returns what it replaced."""
        before = self.stated(target)
        authoring.frule_for(target, registry=self.registry)(rule)
        self.staying[name, "frule"] = FixedRule(name, target, rule, cell, "frule")
        return self.displaced(target, before)

    def attach_scalar(self, name: str, target, partials: Callable, cell: str) -> list[str]:
        """Attach both rules of an elementwise function to `target`; returns what they replaced."""
        before = self.stated(target)
        authoring.scalar_rule(target, partials, registry=self.registry)
        self.staying[name, "scalar rule"] = FixedRule(name, target, partials, cell, "scalar rule")
        return self.displaced(target, before)

    def stated(self, target) -> list[Rule]:
        """The user's current rules of a target."""
        entry = self.registry.entry(resolve(target)[0])
        return [rule for rule in entry.user if isinstance(rule, Rule)] if entry is not None else []

    def displaced(self, target, before: list[Rule]) -> list[str]:
        """The former rules of a target that are gone, or the built-in one that is now overridden."""
        now = self.stated(target)
        gone = dict.fromkeys(_as_replaced(rule) for rule in before if not any(rule is r for r in now))
        entry = self.registry.entry(resolve(target)[0])
        modes = {n.mode for n in now}
        built_in = [r for r in (entry.built_in if entry is not None else ()) if r.mode in modes]
        behind = [f"the built-in {built_in[0].function.__name__}"] if built_in and not before else []
        return [*gone, *behind]

    def beside(self, name: str, target, function: Callable) -> tuple[str, ...]:
        """Remarks on other rules of a target that are still used now that it has the rule or partials
        `function`: a line for each whose types overlap with its own.
        """
        stated = self.stated(target)
        new = [rule for rule in stated if function in (rule.function, rule.partials)]
        lines = []
        for old in stated:
            met = next((r for r in new if r.mode == old.mode and r.requires == old.requires), None)
            if met is not None and not any(old is r for r in new):
                lines.append(_shared(name, old, met))
        return tuple(dict.fromkeys(filter(None, lines)))

    def undo(self, name: str, target) -> authoring.Undone:
        """Restore the previous rules of a target, and follow the names of those that are there now."""
        undone = authoring.undo_rule(target, registry=self.registry)
        old = self.rules.get(name)
        back = [r for r in self.stated(target) if r.mode == "rrule" and r.partials is None]
        if old is not None and back and not self._has(old.target, old.rule):
            cell = back[-1].place.label().partition(", line")[0] if back[-1].place is not None else old.cell
            self.rules[name] = old._replace(rule=back[-1].function, cell=cell)
        return undone

    def reattach(self, namespace: dict) -> list[str]:
        """Move the rules of names that now stand for another function to that function; returns a notice for
        each.

        A moved rule is in doubt until its value agrees with the new function's (`rules/doubt.py`), and so is
        that of a twin whose function was replaced. A rule is forgotten when its name is gone, stands for
        something that cannot be called or carry it, or for a function that has a rule of its own, and when it
        was removed. A twin that holds a function which its name no longer means is made again.
        """
        notices = [self._left_behind(stays, namespace) for stays in list(self.staying.values())]
        for attached in list(self.rules.values()):
            try:
                notices.append(self._followed(attached, namespace))
            except Exception as error:  # raised by a user's object; no cell may fail for it
                del self.rules[attached.name]
                words = " ".join(str(error).split())
                notices.append(f"The rule {_named(attached)} no longer follows {attached.name}: {words}")
        return [notice for notice in notices if notice is not None]

    def _left_behind(self, stays: FixedRule, namespace: dict) -> str | None:
        """The notice that a rule stays with a function whose name now stands for another."""
        try:
            now = lookup(stays.name, namespace)
            there = same_target(now, stays.target)
        except Exception:  # by a user's object; it must not fail the cell
            return None
        if there:
            return None
        del self.staying[stays.name, stays.kind]
        entry = self.registry.entry(resolve(stays.target)[0])
        if entry is None or not entry.user or not callable(now) or self._has(now):
            return None
        return (
            f"{stays.name} was redefined; its {stays.kind} {stays.rule.__name__} ({stays.cell}) stays "
            "with the old one. Run its cell again if it is right for the new one."
        )

    def _followed(self, old: AttachedRule, namespace: dict) -> str | None:
        now = lookup(old.name, namespace)
        if old.name.split(".")[0] not in namespace and not same_target(now, old.target):
            now = None  # a builtin that the name stands for once the user's own function is gone
        if not self._has(old.target, old.rule):
            del self.rules[old.name]
            return None
        if now is None or not callable(now):
            del self.rules[old.name]
            became = "is gone" if now is None else f"is {an(type(now).__name__)} now"
            return (
                f"{old.name} {became}; its rule {_named(old)} no longer follows the name. "
                f"For a new {old.name} run the cell of the rule again."
            )
        if not same_target(now, old.target):
            return self._moved(old, now)
        return self._twin_followed(old, now, namespace) if is_twin(now) else None

    def _twin_followed(self, old: AttachedRule, now, namespace: dict) -> str | None:
        """Put the rule of a twin in doubt if the function it calls was replaced."""
        f = None if old.of is None else lookup(old.of, namespace)
        renewed = old.of or looked_up(now) or old.name
        if callable(f) and (_holds_another(now, f) or _takes_others(now, f)):
            namespace[old.name] = fresh = twin(f, old.name)
            copied = f"{old.name} is a copy of the new one and keeps its rule {_named(old)}."
            return self._put(old, fresh, renewed, copied)
        primal = primal_of(now)
        if not callable(primal) or same_callable(primal, old.primal):
            return None
        return self._put(
            old,
            now,
            renewed,
            f"{old.name} is a copy of it and keeps its rule {_named(old)}. "
            "Change the rule if the formula changed.",
        )

    def _moved(self, old: AttachedRule, now) -> str | None:
        if self._has(now):
            del self.rules[old.name]
            return None
        return self._put(
            old,
            now,
            None,
            f"its rule {_named(old)} now belongs to the new one (calls within this cell ran without it). "
            "Change the rule if the formula changed.",
        )

    def _put(self, old: AttachedRule, target, renewed: str | None, words: str) -> str:
        """Attach a rule that is in doubt to `target`, or set it aside if it does not fit; returns the
        notice.
        """
        what = renewed or old.name
        try:
            move_rule(old.rule, target, old.cell, renewed, registry=self.registry)
        except RuleRegistrationError as error:
            del self.rules[old.name]
            return (
                f"{what} was redefined; the rule {_named(old)} no longer fits ({error.found}) "
                "and is set aside: write a new one."
            )
        self.rules[old.name] = old._replace(target=target, primal=_primal(target))
        return f"{what} was redefined; {words}"

    def _has(self, target, function: Callable | None = None) -> bool:
        """Whether a target has a rule of the user: this function, or any."""
        entry = self.registry.entry(resolve(target)[0])
        rules = [rule for rule in entry.user if isinstance(rule, Rule)] if entry is not None else []
        return any(function is None or rule.function is function for rule in rules)


def lookup(name: str, namespace: Mapping) -> Any:
    """What a dotted name stands for in a namespace or among Python's builtins, or None.

    >>> import math
    >>> lookup("math.sin", {"math": math}) is math.sin, lookup("abs", {}) is abs
    (True, True)
    """
    first, *rest = name.split(".")
    found = namespace[first] if first in namespace else vars(builtins).get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


def meant_by(name: str, names: Mapping[str, Any]) -> str:
    """A function of the namespace that may have been intended, as the end of a message."""
    owner = name.rpartition(".")[0]
    inside = lookup(owner, names) if owner else None
    if inside is not None:
        known = [f"{owner}.{one}" for one in dir(inside) if not one.startswith("_")]
        return did_you_mean(name, known)
    known = [one for one, value in names.items() if callable(value) and one[:1] != "_"]
    return did_you_mean(name, [one for one in known if one not in _IPYTHONS_OWN])


_IPYTHONS_OWN = ("exit", "quit", "open", "get_ipython")
"""Functions in the namespace of every session that nobody wants to differentiate."""


def _as_replaced(rule: Rule) -> str:
    """Name and place of a rule that is gone: `f_rrule of cell In [3], line 2`."""
    name = getattr(rule.partials or rule.function, "__name__", "?")
    return name if rule.place is None else f"{name} of {rule.place.label().rpartition(', in ')[0]}"


def _shared(name: str, old: Rule, new: Rule) -> str:
    """A line that says which of two rules is used for which calls; empty if no call fits both."""
    count = max(len(old.accepts.parameters), len(new.accepts.parameters))
    cell = f" of {old.place.label().partition(', line')[0]}" if old.place is not None else ""
    other = f"{getattr(old.partials or old.function, '__name__', 'a rule')}{cell}"
    alone = f"To keep only the new rule, run rl.remove_rule({name}) and then this cell again."
    if new.accepts.covers(old.accepts, count):
        return f"For {old.accepts} the earlier {other} is still used: its types are narrower. {alone}"
    if old.accepts.covers(new.accepts, count):
        return f"For all but {new.accepts} the earlier {other} is still used. {alone}"
    pairs = [(old.accepts.at(i), new.accepts.at(i)) for i in range(count)]
    if not all(any(a.covers(b) or b.covers(a) for a in olds for b in news) for olds, news in pairs):
        return ""
    return f"Calls that fit both {old.accepts} of {other} and {new.accepts} are refused as ambiguous. {alone}"


def _takes(f: Callable, compared: LastArguments) -> bool:
    """Whether a function has parameters for these arguments."""
    try:
        signature_of_callable(f).bind(*compared.args, **compared.kwargs)
    except TypeError:
        return False
    except ValueError:  # a C function without a signature
        pass
    return True


def same_target(one, other) -> bool:
    """Whether a rule attached to one is attached to the other: bound methods are created again at each
    access.
    """
    return resolve(one)[0] is resolve(other)[0]


def same_callable(one, other) -> bool:
    """Whether two callables compute the same: the same object, or the same method of the same object, which
    is created again at each access.

    >>> numbers = [1.0]
    >>> same_callable(numbers.append, numbers.append), same_callable(numbers.append, [1.0].append)
    (True, False)
    """
    return one is other or (isinstance(one, _METHODS) and type(one) is type(other) and one == other)


_METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)


def _primal(target) -> Any:
    return primal_of(target) if is_twin(target) else target


def _holds_another(a_twin, f) -> bool:
    """Whether a twin holds a function, as it must for a lambda or a callable object, other than `f`."""
    return bool(a_twin.__closure__) and not same_callable(primal_of(a_twin), f)


def _takes_others(a_twin, f) -> bool:
    """Whether a twin has different parameters or defaults from `f`, so that it would call it wrongly."""
    return _parameters(a_twin) != _parameters(f)


def _parameters(f) -> list[tuple]:
    try:
        parameters = signature_of_callable(f, follow_wrapped=False).parameters.values()
    except (ValueError, TypeError):  # a C function without a signature: its twin takes (*args, **kwargs)
        return [("args", inspect.Parameter.VAR_POSITIONAL, ""), ("kwargs", inspect.Parameter.VAR_KEYWORD, "")]
    return [(p.name, p.kind, "" if p.default is p.empty else repr(p.default)) for p in parameters]


def _named(attached: AttachedRule) -> str:
    return f"{attached.rule.__name__} ({attached.cell})"
