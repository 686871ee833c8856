"""The registry of rules: one immutable snapshot with its epoch, swapped in one store."""

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

KEPT = "__rulelab_rules__"  # where a Python function or class keeps its own rules alive
_MOST_ANSWERS = 256  # remembered per target, so that those for ever new types do not pile up
_WRITING = threading.RLock()  # one for all registries: they keep their rules side by side on a function


@dataclass(frozen=True, eq=False)
class Found:
    """The answer "this rule". Equal to another if it is the same rule."""

    rule: Rule

    def __eq__(self, other):
        return isinstance(other, Found) and other.rule is self.rule

    def __hash__(self):
        return hash(self.rule)


@dataclass(frozen=True)
class NoRule:
    """The answer "there is no rule"."""


@dataclass(frozen=True, eq=False)
class OptedOut:
    """The answer "there may be one, but it was opted out of"."""

    opt_out: OptOut

    def __eq__(self, other):
        return isinstance(other, OptedOut) and other.opt_out is self.opt_out

    def __hash__(self):
        return hash(self.opt_out)


NO_RULE = NoRule()


class Entry:
    """All that one registry knows of one target: the user's rules and opt-outs in order, and the built-in
    rules; `history` has the user's as they were before each change, the last one last."""

    __slots__ = ("__weakref__", "answers", "history", "built_in", "name", "target", "user")

    def __init__(self, target, name, user=(), built_in=(), history=()):
        self.target = target  # a function that gives the target, or None if it is gone
        self.name = name
        self.user = user
        self.built_in = built_in
        self.history = history
        self.answers = {}

    def is_empty(self):
        """Whether the rules are gone and only the way back to them is left."""
        return not (self.user or self.built_in)

    def answers_in(self, mode):
        """Whether there is something about calls in this mode, "rrule" or "frule": of an author's rule in one
        the other is derived."""
        return bool(self.user) or any(e.mode == mode for e in self.built_in)

    def built_in_for(self, mode):
        """The built-in rules of a mode."""
        return [rule for rule in self.built_in if isinstance(rule, Rule) and rule.mode == mode]

    def changed(self, user=None, built_in=None):
        """A new entry with other rules; the answers of the old one are not taken along."""
        return Entry(
            self.target,
            self.name,
            self.user if user is None else user,
            self.built_in if built_in is None else built_in,
            self.history,
        )

    def remembering(self, old, steps):
        """This entry, with the user's rules of the `old` one as the last of so many steps back."""
        history = (*old.history, old.user)[-steps:] if steps else ()
        return Entry(self.target, self.name, self.user, self.built_in, history)

    def undone(self):
        """A new entry with the user's rules as they were before the last change."""
        return Entry(self.target, self.name, self.history[-1], self.built_in, self.history[:-1])

    def ask(self, given, mode, config):
        """The answer for arguments of these types, remembered."""
        traits = config.traits if config is not None else None
        answer = self.answers.get((given, mode, traits))
        if answer is not None:  # all its types are C's, which nothing has to let go
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
    """Whether the built-in rules know the arithmetic of such an argument: that of a masked array, a matrix or
    another subclass of ndarray is its own."""
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
    """What a registry knew at one epoch. Never changed after it was made."""

    __slots__ = ("entries", "epoch", "hidden", "mutators", "packages", "shelves", "stand_ins")

    def __init__(self, epoch, entries, hidden, mutators, stand_ins, shelves=()):
        self.epoch = epoch
        self.entries = entries  # id of the target -> Entry, or a weak reference to one that the target keeps
        self.hidden = hidden  # id of the target -> a token for each open `without`
        self.mutators = mutators  # id of the target -> (the target, description)
        self.stand_ins = stand_ins  # id of the target -> (the target, StandIn)
        self.shelves = shelves  # those that nobody has read yet
        self.packages = tuple({shelf.module.partition(".")[0] for shelf in shelves})

    def entry(self, target):
        """The entry of a target, or None."""
        held = self.entries.get(id(target))
        if type(held) is weakref.ref:
            held = held()
        return held if held is not None and held.target() is target else None


class _Kept(dict):
    """The entries that a function or class keeps alive: registry -> list. Its copies and pickles start
    without, and so does a wrapper, which functools.wraps gives the very same object.
    """

    owner: Any = None  # a weak reference

    @classmethod
    def by(cls, target):
        """Those of this target."""
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
    """Rules by the identity of what they are for.

    Readers take the snapshot and never wait; writers queue and swap it in one store, which raises the epoch:
    a writer that is interrupted leaves the old state whole or the new one. Rules of Python functions and
    classes live on these (a rule may close over its function, and both go together); C functions and ufuncs
    are immortal and are held by the snapshot.
    """

    def __init__(self):
        # ids of targets that went, noted by weak reference callbacks, which must not lock
        self._dead: set[int] = set()
        self.remembers = 0  # changes of each target that can be undone; old rules are kept alive for it
        self.snapshot = Snapshot(0, {}, {}, {}, {})

    @property
    def epoch(self):
        """Rises with every change."""
        return self.snapshot.epoch

    def ask(self, target, types, mode="rrule", config=None):
        """Found(rule), NoRule or OptedOut for a call of `target` with arguments of these types
        (`types_of(args)`).

        AmbiguousRuleError if two rules fit equally well.
        """
        while True:
            snapshot = self.snapshot
            entry = snapshot.entry(target)
            if entry is not None and id(target) not in snapshot.hidden:
                return entry.ask(types, mode, config)
            if self._meet(target):
                continue
            if snapshot is self.snapshot:  # else a writer replaced the entry between the two reads
                return NO_RULE

    def register(self, rule, target):
        """Adds a rule; it replaces one for exactly the same types in the same mode."""
        self.register_all((rule,), target)

    def register_all(self, rules, target):
        """Adds the rules of one target in one step: all of them count, or none."""
        self.install([(target, rule) for rule in rules])

    def install(self, pairs, mutators=(), stand_ins=(), shelves=()):
        """Adds many `(target, rule)`, `(target, description)` and `(target, StandIn)` in one step: all of
        them count, or none. What is on the `shelves` is added when one of its targets is first met.
        """
        known = {id(target): (target, text) for target, text in mutators}
        standing = {id(target): (target, stand_in) for target, stand_in in stand_ins}
        if self.snapshot.shelves:
            for target, _ in pairs:
                if self.snapshot.entry(target) is None:  # SciPy has functions of NumPy's, too
                    self._meet(target)

        def add(old):
            return self._changes(old, pairs), {
                "mutators": {**old.mutators, **known} if known else old.mutators,
                "stand_ins": {**old.stand_ins, **standing} if standing else old.stand_ins,
                "shelves": (*old.shelves, *shelves),
            }

        self._write(add)

    def _changes(self, old, pairs):
        """The entries of these targets with these rules besides: `(target, entry)`."""
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
        """Reads the shelf that a target is on, if there is one; whether it did.

        The epoch stays as it is: who asked before did not ask for what is on the shelf, so no answer has
        become old.
        """
        snapshot, loaded = self.snapshot, sys.modules
        for package in snapshot.packages:  # asked of each function without a rule
            if package in loaded:
                break
        else:
            return False
        shelves = snapshot.shelves
        for shelf in shelves:
            if shelf.module in loaded and shelf.holds(target):
                break
        else:
            return False
        with without_collections():
            self._read_in_order(shelf, shelves)
        return True

    def _read_in_order(self, shelf, shelves):
        for other in shelves:
            if other.module in shelf.after:
                self._read(other)
        self._read(shelf)

    def read_shelves(self):
        """Reads all that is still on a shelf, and imports the libraries it is for; those that are not
        installed are left alone. A library that is there and fails, and rules that do, are errors.
        """
        for shelf in self.snapshot.shelves:
            library = shelf.module.partition(".")[0]
            try:
                importlib.import_module(shelf.module)
            except ModuleNotFoundError as missing:
                if missing.name != library:
                    raise
                continue
            self._read_in_order(shelf, self.snapshot.shelves)

    def _read(self, shelf):
        """Adds what is on a shelf, and takes the shelf away."""
        tables = tuple(shelf.read())  # which imports, so under no lock
        pairs = [pair for table in tables for pair in table.rules]
        standing = {id(pair[0]): pair for table in tables for pair in table.stand_ins}

        def add(old):
            left = tuple(other for other in old.shelves if other is not shelf)
            if len(left) == len(old.shelves):  # another thread has read it
                return None
            others = {"shelves": left, "epoch": old.epoch, "stand_ins": {**old.stand_ins, **standing}}
            return self._changes(old, pairs), others

        self._write(add)

    def opt_out(self, target, opt_out):
        """Rules for these types of arguments no longer apply."""
        self._meet(target)

        def add(old):
            entry = _entry_for(old, target)
            return [(target, self._remembered(old, target, entry.changed(user=(*entry.user, opt_out))))], {}

        self._write(add)

    def remove(self, target, rule=None):
        """Drops the user's rules and opt-outs for `target`, or the one `rule`; returns those that were
        dropped."""
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
        """A changed entry with the way back, as far as this registry remembers: else old rules are let go."""
        before = old.entry(target)
        if entry.user == (() if before is None else before.user):
            return entry
        return entry.remembering(_entry_for(old, target), self.remembers)

    def undo(self, target):
        """Makes the user's rules for `target` what they were before the last change: `(before, after)`, None
        where there was none.
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
        """A block in which no rule for `target` is found, by any thread."""
        token = object()
        self._meet(target)
        try:
            try:
                self._hide(target, {token}, set())
                yield
            finally:
                self._hide(target, set(), {token})
        except BaseException:  # perhaps an interrupt in the very line above: nothing may stay hidden
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
        """How a callable that writes to its arguments is called in messages; None if it is not known to do
        that."""
        known = self.snapshot.mutators.get(id(target))
        return known[1] if known is not None and known[0] is target else None

    def stand_in(self, target):
        """The StandIn that is differentiated in place of a callable without Python code; None if there is
        none."""
        known = self.snapshot.stand_ins.get(id(target))
        if known is None and self._meet(target):
            known = self.snapshot.stand_ins.get(id(target))
        return known[1] if known is not None and known[0] is target else None

    def has_nothing_for(self, target):
        """Whether certainly nothing is known of a callable: neither rules, nor a stand-in, nor that it writes
        to its arguments. Quick, for what is asked of each call of a function."""
        snapshot, number = self.snapshot, id(target)
        if number in snapshot.stand_ins or number in snapshot.mutators:
            return False
        entry = snapshot.entry(target) if number in snapshot.entries else None
        return not self._meet(target) if entry is None else entry.is_empty()

    def rules(self):
        """All rules, the built-in ones first for each target."""
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
        """What is known of one target; None if nothing."""
        while True:
            snapshot = self.snapshot
            entry = snapshot.entry(target)
            if entry is None and self._meet(target):
                continue
            if entry is not None or snapshot is self.snapshot:  # else a writer came between the two reads
                return None if entry is None or entry.is_empty() else entry

    def entry_in(self, mode, target):
        """What is known of one target about calls in a mode, "rrule" or "frule"; None if nothing."""
        entry = self.entry(target)
        return entry if entry is not None and entry.answers_in(mode) else None

    def built_in_entry(self, target, mode="rrule"):
        """What is known of a target that has only built-in rules in this mode; None for any other."""
        entry = self.entry_in(mode, target)
        return entry if entry is not None and not entry.user and not self.is_hidden(target) else None

    def _write(self, change):
        """Swap in what `change` makes of the snapshot: `(changed entries, other parts by name)`, None for no
        change. It is asked again if a signal handler or finaliser, which the lock lets in, wrote meanwhile.
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
            # What a target keeps goes only after the swap: readers may be between the two.
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
                others.get("shelves", old.shelves),
            )
            written = self.snapshot is old
            if written:  # no call between the question and the answer, so nobody comes between
                self.snapshot = new
                self._dead.difference_update(gone)
            for kept, before, after in swaps:
                idle = before if written else after
                if idle in kept:
                    kept.remove(idle)
            if written:
                return

    def _kept_by(self, target, entry):
        """The list in which a target keeps its entries; an idle one for a target that cannot."""
        return _Kept.by(target).setdefault(self, []) if isinstance(entry.target, weakref.ref) else []

    def _held(self, target, entry):
        """What the snapshot holds of an entry: a weak reference, where the target keeps it."""
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
    """A weak reference to a target that can keep its own rules, a function that gives it for one that
    cannot."""
    if type(target) is types.FunctionType:
        return weakref.ref(target)
    if isinstance(target, type) and made_by_python(target):  # so it takes attributes
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
