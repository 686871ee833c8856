"""The registry of rules: an immutable snapshot with an epoch, replaced by one assignment."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import types
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..collections_off import without_collections
from ..tangents.classes import made_by_python
from .rule import OptOut, Rule
from .signatures import ArrayType, most_specific, weakly
from .targets import name_of

KEPT = "__rulelab_rules__"  # the attribute in which a Python function or class keeps its own rules alive
_MOST_ANSWERS = 256  # answers cached per target; bounds the cache when types keep being created
_WRITING = threading.RLock()  # one for all registries, since they keep their rules side by side on a function


@dataclass(frozen=True, eq=False)
class Found:
    """The answer "this rule applies". Equal to another if the rule is the same object."""

    rule: Rule

    def __eq__(self, other):
        return isinstance(other, Found) and other.rule is self.rule

    def __hash__(self):
        return hash(self.rule)


@dataclass(frozen=True)
class NoRule:
    """The answer "no rule applies"."""


@dataclass(frozen=True, eq=False)
class OptedOut:
    """The answer "this call was opted out of"."""

    opt_out: OptOut

    def __eq__(self, other):
        return isinstance(other, OptedOut) and other.opt_out is self.opt_out

    def __hash__(self):
        return hash(self.opt_out)


NO_RULE = NoRule()


class Entry:
    """Everything that one registry knows about one target: the user's rules and opt-outs in order, and the
    built-in rules; `history` has the user's rules before each change, the latest last.
    """

    __slots__ = ("__weakref__", "answers", "history", "built_in", "name", "target", "user")

    def __init__(self, target, name, user=(), built_in=(), history=()):
        self.target = target  # a function that returns the target, or None if it is gone
        self.name = name
        self.user = user
        self.built_in = built_in
        self.history = history
        self.answers = {}

    def is_empty(self):
        """Whether there are no rules, only a history."""
        return not (self.user or self.built_in)

    def answers_in(self, mode):
        """Whether there is anything about calls in this mode, "rrule" or "frule"; any user's rule counts,
        since the other mode is derived from it.
        """
        return bool(self.user) or any(e.mode == mode for e in self.built_in)

    def built_in_for(self, mode):
        """The built-in rules of a mode."""
        return [rule for rule in self.built_in if isinstance(rule, Rule) and rule.mode == mode]

    def changed(self, user=None, built_in=None):
        """A new entry with other rules, without the cached answers."""
        return Entry(
            self.target,
            self.name,
            self.user if user is None else user,
            self.built_in if built_in is None else built_in,
            self.history,
        )

    def remembering(self, old, steps):
        """This entry, with the user's rules of the `old` one added to its history of at most `steps`
        steps.
        """
        history = (*old.history, old.user)[-steps:] if steps else ()
        return Entry(self.target, self.name, self.user, self.built_in, history)

    def undone(self):
        """A new entry with the user's rules before the last change."""
        return Entry(self.target, self.name, self.history[-1], self.built_in, self.history[:-1])

    def ask(self, given, mode, config):
        """Return the answer for arguments of these types, cached."""
        traits = config.traits if config is not None else None
        answer = self.answers.get((given, mode, traits))
        if answer is not None:  # all types are C types, for which no weak references are needed
            return answer
        weak = tuple(map(weakly, given))
        answer = self.answers.get((weak, mode, traits))
        if answer is None:
            answer = self._choose(given, mode, config)
            if len(self.answers) >= _MOST_ANSWERS:
                self.answers.clear()
            self.answers[(weak, mode, traits)] = answer
        return answer

    def _choose(self, given, mode, config):
        for tier in (self.user, self.built_in):
            fitting = [e for e in tier if _serves(e, mode, config) and e.accepts.match(given)]
            if tier is self.built_in and not all(map(_is_usual, given)):
                fitting = [e for e in fitting if not e.differentiable]
            fitting = _after_last_opt_out_of_everything(fitting)
            with_config = [e for e in fitting if isinstance(e, Rule) and e.requires]
            if fitting:
                best = most_specific(with_config or fitting, len(given), self.name)
                return OptedOut(best) if isinstance(best, OptOut) else Found(best)
        return NO_RULE


def _is_usual(given):
    """Whether built-in rules are valid for such an argument: masked arrays, matrices and other subclasses of
    ndarray have their own arithmetic.
    """
    return not isinstance(given, ArrayType) or given.cls is np.ndarray or given.cls is np.memmap


def _serves(entry, mode, config):
    if isinstance(entry, OptOut):
        return mode in entry.modes
    return entry.mode == mode and (
        not entry.requires or (config is not None and config.provides(entry.requires))
    )


def _after_last_opt_out_of_everything(fitting):
    for index in range(len(fitting) - 1, -1, -1):
        if isinstance(fitting[index], OptOut) and fitting[index].everything:
            return fitting[index + 1 :] or [fitting[index]]
    return fitting


class Snapshot:
    """What a registry knows at one epoch. Immutable."""

    __slots__ = ("entries", "epoch", "hidden", "mutators", "packages", "lazy_rules", "stand_ins")

    def __init__(self, epoch, entries, hidden, mutators, stand_ins, lazy_rules=()):
        self.epoch = epoch
        self.entries = entries  # id of the target -> Entry, or a weak reference if the target keeps it
        self.hidden = hidden  # id of the target -> a token for each open `without` block
        self.mutators = mutators  # id of the target -> (the target, description)
        self.stand_ins = stand_ins  # id of the target -> (the target, StandIn)
        self.lazy_rules = lazy_rules  # those that have not been read yet
        self.packages = tuple({lazy.module.partition(".")[0] for lazy in lazy_rules})

    def entry(self, target):
        """The entry of a target, or None."""
        held = self.entries.get(id(target))
        if type(held) is weakref.ref:
            held = held()
        return held if held is not None and held.target() is target else None


class _Kept(dict):
    """The entries that a function or class keeps alive: registry -> list. Copies and pickles of it are empty,
    and a wrapper to which functools.wraps has given this very object gets its own.
    """

    owner: Any = None  # a weak reference

    @classmethod
    def by(cls, target):
        """Return the entries of this target, creating them if necessary."""
        kept = target.__dict__.get(KEPT)
        if type(kept) is cls and kept.owner is not None and kept.owner() is target:
            return kept
        kept = cls()
        kept.owner = weakref.ref(target)
        if isinstance(target, type):
            type.__setattr__(target, KEPT, kept)
        else:
            target.__dict__[KEPT] = kept
        return kept

    def __reduce__(self):
        return _Kept, ()

    def __deepcopy__(self, memo):
        return _Kept()


class Registry:
    """Rules, by the identity of their targets.

    Readers take the snapshot and never wait; writers are serialized and replace it by one assignment, which
    raises the epoch: after an interrupted write either the old state or the new one is complete. Rules of
    Python functions and classes are kept by these (a rule may close over its function, and both are collected
    together); C functions and ufuncs are immortal, and the snapshot keeps their rules.
    """

    def __init__(self):
        # ids of collected targets, added by weak reference callbacks, which must not lock
        self._dead: set[int] = set()
        self.remembers = 0  # number of changes of each target that can be undone; keeps old rules alive
        self.snapshot = Snapshot(0, {}, {}, {}, {})

    @property
    def epoch(self):
        """Increases with every change."""
        return self.snapshot.epoch

    def ask(self, target, types, mode="rrule", config=None):
        """Return Found(rule), NoRule or OptedOut for a call of `target` with arguments of these types
        (`types_of(args)`).

        Raises AmbiguousRuleError if two rules fit equally well.
        """
        while True:
            snapshot = self.snapshot
            entry = snapshot.entry(target)
            if entry is not None and id(target) not in snapshot.hidden:
                return entry.ask(types, mode, config)
            if self._meet(target):
                continue
            if snapshot is self.snapshot:  # otherwise a writer replaced the entry between the two reads
                return NO_RULE

    def register(self, rule, target):
        """Add a rule; it replaces one for exactly the same types in the same mode."""
        self.register_all((rule,), target)

    def register_all(self, rules, target):
        """Add the rules of one target in one step: all of them take effect, or none."""
        self.install([(target, rule) for rule in rules])

    def install(self, pairs, mutators=(), stand_ins=(), lazy_rules=()):
        """Add many `(target, rule)`, `(target, description)` and `(target, StandIn)` in one step: all of them
        take effect, or none. What is in `lazy_rules` is added when one of its targets is first used.
        """
        known = {id(target): (target, text) for target, text in mutators}
        standing = {id(target): (target, stand_in) for target, stand_in in stand_ins}
        if self.snapshot.lazy_rules:
            for target, _ in pairs:
                if self.snapshot.entry(target) is None:  # SciPy re-exports some NumPy functions
                    self._meet(target)

        def add(old):
            return self._changes(old, pairs), {
                "mutators": {**old.mutators, **known} if known else old.mutators,
                "stand_ins": {**old.stand_ins, **standing} if standing else old.stand_ins,
                "lazy_rules": (*old.lazy_rules, *lazy_rules),
            }

        self._write(add)

    def _changes(self, old, pairs):
        """The new entries of these targets, with these rules added: `(target, entry)`."""
        given: dict[int, tuple[Any, list[Rule]]] = {}
        for target, rule in pairs:
            given.setdefault(id(target), (target, []))[1].append(rule)
        changed = []
        for target, rules in given.values():
            entry = _entry_for(old, target, rules[0].target_name if rules[0].built_in else None)
            user, built_in = entry.user, entry.built_in
            for rule in rules:
                if rule.built_in:
                    built_in = _joined(built_in, rule)
                else:
                    user = _joined(user, rule)
            changed.append((target, self._remembered(old, target, entry.changed(user, built_in))))
        return changed

    def _meet(self, target):
        """Read the lazy rules that contain a target, if any; return whether some were read.

        The epoch does not change: no earlier question was about one of their functions, so no answer is
        outdated.
        """
        snapshot, loaded = self.snapshot, sys.modules
        for package in snapshot.packages:  # checked for each function without a rule
            if package in loaded:
                break
        else:
            return False
        lazy_rules = snapshot.lazy_rules
        for lazy in lazy_rules:
            if lazy.module in loaded and lazy.holds(target):
                break
        else:
            return False
        with without_collections():
            self._read_in_order(lazy, lazy_rules)
        return True

    def _read_in_order(self, lazy, lazy_rules):
        for other in lazy_rules:
            if other.module in lazy.after:
                self._read(other)
        self._read(lazy)

    def read_lazy_rules(self):
        """Read all remaining lazy rules, importing their libraries; libraries that are not installed are
        skipped. An error in the import of an installed library, or in its rules, is raised.
        """
        for lazy in self.snapshot.lazy_rules:
            library = lazy.module.partition(".")[0]
            try:
                importlib.import_module(lazy.module)
            except ModuleNotFoundError as missing:
                if missing.name != library:
                    raise
                continue
            self._read_in_order(lazy, self.snapshot.lazy_rules)

    def _read(self, lazy):
        """Add the contents of lazy rules, and remove them from those that are left."""
        tables = tuple(lazy.read())  # imports modules, so no lock is held
        pairs = [pair for table in tables for pair in table.rules]
        standing = {id(pair[0]): pair for table in tables for pair in table.stand_ins}

        def add(old):
            left = tuple(other for other in old.lazy_rules if other is not lazy)
            if len(left) == len(old.lazy_rules):  # another thread has already read it
                return None
            others = {"lazy_rules": left, "epoch": old.epoch, "stand_ins": {**old.stand_ins, **standing}}
            return self._changes(old, pairs), others

        self._write(add)

    def opt_out(self, target, opt_out):
        """Record that rules no longer apply to these types of arguments."""
        self._meet(target)

        def add(old):
            entry = _entry_for(old, target)
            return [(target, self._remembered(old, target, entry.changed(user=(*entry.user, opt_out))))], {}

        self._write(add)

    def remove(self, target, rule=None):
        """Remove the user's rules and opt-outs for `target`, or only `rule`; return those that were
        removed.
        """
        gone: tuple[Any, ...] = ()

        def drop(old):
            nonlocal gone
            entry = old.entry(target)
            gone = tuple(e for e in entry.user if rule is None or e is rule) if entry is not None else ()
            if not gone:
                return None
            left = tuple(e for e in entry.user if e not in gone)
            return [(target, self._remembered(old, target, entry.changed(user=left)))], {}

        self._write(drop)
        return gone

    def _remembered(self, old, target, entry):
        """Add the old state to the history of a changed entry, as far as this registry remembers; otherwise
        old rules are released.
        """
        before = old.entry(target)
        if entry.user == (() if before is None else before.user):
            return entry
        return entry.remembering(_entry_for(old, target), self.remembers)

    def undo(self, target):
        """Restore the user's rules for `target` to what they were before the last change. Returns `(before,
        after)`, or None if there was no change.
        """
        steps: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None

        def back(old):
            nonlocal steps
            steps, entry = None, old.entry(target)
            if entry is None or not entry.history:
                return None
            before = entry.undone()
            steps = entry.user, before.user
            return [(target, before)], {}

        self._write(back)
        return steps

    @contextlib.contextmanager
    def without(self, target):
        """Context in which no rule for `target` is found, in any thread."""
        token = object()
        self._meet(target)
        try:
            try:
                self._hide(target, {token}, set())
                yield
            finally:
                self._hide(target, set(), {token})
        except BaseException:  # an interrupt may have come between the blocks: nothing may stay hidden
            self._hide(target, set(), {token})
            raise

    def _hide(self, target, added, dropped):
        def change(old):
            hidden = dict(old.hidden)
            tokens = (hidden.pop(id(target), frozenset()) | added) - dropped
            if tokens:
                hidden[id(target)] = tokens
            return [], {"hidden": hidden}

        self._write(change)

    def is_hidden(self, target):
        """Whether a `without` block for the target is open."""
        return id(target) in self.snapshot.hidden

    def mutator(self, target):
        """The description, for messages, of a callable that writes to its arguments; None if it is not known
        to do that.
        """
        known = self.snapshot.mutators.get(id(target))
        return known[1] if known is not None and known[0] is target else None

    def stand_in(self, target):
        """The StandIn that is differentiated in place of a callable without Python code, or None."""
        known = self.snapshot.stand_ins.get(id(target))
        if known is None and self._meet(target):
            known = self.snapshot.stand_ins.get(id(target))
        return known[1] if known is not None and known[0] is target else None

    def has_nothing_for(self, target):
        """Whether nothing at all is known about a callable: neither rules, nor a stand-in, nor that it writes
        to its arguments. Fast, since it is called for every call of a function.
        """
        snapshot, number = self.snapshot, id(target)
        if number in snapshot.stand_ins or number in snapshot.mutators:
            return False
        entry = snapshot.entry(target) if number in snapshot.entries else None
        return not self._meet(target) if entry is None else entry.is_empty()

    def rules(self):
        """All rules, for each target the built-in ones first."""
        return [e for entry in self.entries() for e in (*entry.built_in, *entry.user) if isinstance(e, Rule)]

    def entries(self):
        """The entries of all targets that are alive."""
        alive = []
        for held in list(self.snapshot.entries.values()):
            entry = held() if type(held) is weakref.ref else held
            if entry is not None and entry.target() is not None and not entry.is_empty():
                alive.append(entry)
        return alive

    def entry(self, target):
        """What is known about one target; None if nothing."""
        while True:
            snapshot = self.snapshot
            entry = snapshot.entry(target)
            if entry is None and self._meet(target):
                continue
            # Otherwise a writer came between the two reads.
            if entry is not None or snapshot is self.snapshot:
                return None if entry is None or entry.is_empty() else entry

    def entry_in(self, mode, target):
        """What is known about calls of one target in a mode, "rrule" or "frule"; None if nothing."""
        entry = self.entry(target)
        return entry if entry is not None and entry.answers_in(mode) else None

    def built_in_entry(self, target, mode="rrule"):
        """What is known about a target that has only built-in rules in this mode; None for any other."""
        entry = self.entry_in(mode, target)
        return entry if entry is not None and not entry.user and not self.is_hidden(target) else None

    def _write(self, change):
        """Replace the snapshot by what `change(snapshot)` returns: `(changed entries, other parts by name)`,
        or None for no change. `change` is called again if a signal handler or finaliser, which the lock
        admits, wrote meanwhile.
        """
        with _WRITING:
            self._swap_in(change)

    def _swap_in(self, change):
        while True:
            old = self.snapshot
            made = change(old)
            if made is None:
                return
            changed, others = made
            gone = frozenset(self._dead)
            entries = dict(old.entries)
            for key in gone:
                held = entries.get(key)
                if type(held) is weakref.ref and held() is None:
                    del entries[key]
            # Old entries on a target are removed only after the swap, since readers may still use them.
            swaps = []
            for target, entry in changed:
                kept = self._kept_by(target, entry)
                swaps.append((kept, old.entry(target), entry))
                kept.append(entry)
                entries[id(target)] = self._held(target, entry)
            new = Snapshot(
                others.get("epoch", old.epoch + 1),
                entries,
                others.get("hidden", old.hidden),
                others.get("mutators", old.mutators),
                others.get("stand_ins", old.stand_ins),
                others.get("lazy_rules", old.lazy_rules),
            )
            written = self.snapshot is old
            if written:  # there is no call between the test and the assignment, so no interruption either
                self.snapshot = new
                self._dead.difference_update(gone)
            for kept, before, after in swaps:
                idle = before if written else after
                if idle in kept:
                    kept.remove(idle)
            if written:
                return

    def _kept_by(self, target, entry):
        """The list in which a target keeps its entries; an unused one for a target that cannot keep any."""
        return _Kept.by(target).setdefault(self, []) if isinstance(entry.target, weakref.ref) else []

    def _held(self, target, entry):
        """What the snapshot holds of an entry: a weak reference if the target keeps it."""
        if not isinstance(entry.target, weakref.ref):
            return entry
        key, dead = id(target), self._dead
        return weakref.ref(entry, lambda _: dead.add(key))

    def __reduce__(self):
        raise TypeError("a registry cannot be pickled")


def _entry_for(snapshot, target, name=None):
    entry = snapshot.entry(target)
    return entry if entry is not None else Entry(_reference(target), name or name_of(target))


def _reference(target):
    """A weak reference to a target that can keep its own rules; for any other, a function that returns it."""
    if type(target) is types.FunctionType:
        return weakref.ref(target)
    if isinstance(target, type) and made_by_python(target):  # which accepts attributes
        return weakref.ref(target)
    return lambda: target


def _joined(entries, rule):
    kept = tuple(e for e in entries if not _replaces(rule, e))
    return (*kept, rule)


def _replaces(rule, old):
    if isinstance(old, OptOut):
        return (
            old.accepts.same(rule.accepts)
            and not old.everything
            and rule.mode in old.modes
            and len(old.modes) == 1
        )
    return old.mode == rule.mode and old.requires == rule.requires and old.accepts.same(rule.accepts)


DEFAULT = Registry()
