"""Compiled passes by code and signature, what they rely on, and which have become stale."""

from __future__ import annotations

import builtins
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ...errors import RuleLabError
from ...own_code import FOLDER
from ...rules.capabilities import RuleConfig
from ...rules.registry import DEFAULT as DEFAULT_REGISTRY
from ...rules.registry import NO_RULE, Found, OptedOut, Registry
from ...rules.signatures import ArrayType, weakly
from ...rules.targets import name_of
from ..analysis.effects import Noted, Watches
from ..base.purity import Named, is_as_it_was
from ..front.readers import Inlined, Reader, Restated
from ..transform.probes import Probes
from .guards import WORTH_IT, never, quick_test

_MOST_SIGNATURES = 256  # passes kept for one function; the oldest is dropped first
MODES = ("auto", "manual")


class StaleRuleWarning(UserWarning):
    """A derivative was taken with an outdated answer of the registry, because the refresh mode is manual.

    A warning, not an error: this is what that mode is for. `refresh()` takes the new answer.
    """


@dataclass(eq=False)
class Pass:
    """One compiled pass: `forward(*arguments)` returns `(y, back)`, or `y` alone if nothing is
    differentiated.

    It holds no reference to the function it was made from or to its globals, so that both can be freed.
    """

    name: str
    forward: types.FunctionType  # without globals
    closure: str | None  # the variable for the cells that the function captures, if any
    guard: Callable[[dict[str, Any]], bool]
    trail: tuple[tuple[Any, Any], ...]  # (target, what the registry had for it)
    epoch: int
    text: str
    origins: tuple[int | None, ...]  # for each line of the text, the author's line it came from
    signature: tuple[Any, ...]
    noted: Noted  # the effects of its own statements
    inlined: tuple[weakref.ref[types.FunctionType], ...] = ()  # functions inlined in it, which had no rules
    computes: bool = False  # whether it certainly only computes, on numbers, arrays and tuples
    # The number of arguments before `*args`, if the pass takes those one by one rather than as a tuple.
    before: int | None = None
    takes_numbers: bool = False  # whether the cotangent of a result that is a tuple may be a tuple of floats
    result: Any = None  # the type of the value
    keeps_numbers: bool = False  # whether its pullback keeps only numbers
    exact: bool = False  # of a fused pass: whether its cotangents are the gradient's entries as they are
    entries: Any = None  # if so, a function that gives only these, without the value
    # Of a pass for parts of containers: which parts the function reads, and which always have a cotangent.
    parts_read: tuple[bool, ...] = ()
    parts_reached: tuple[bool, ...] = ()
    gone_through: tuple[bool, ...] = ()  # of which arguments every item has a cotangent, possibly zero
    has_powers: bool = False  # whether there are powers that may turn complex, as Python's may

    def bound_to(self, function: types.FunctionType) -> types.FunctionType:
        """The forward sweep for calls of this function, with its globals and captured variables.

        A plain function, not a `partial`: recursion through C code could overflow the C stack.
        """
        return self._bound(self.forward, function)

    def entries_bound_to(self, function: types.FunctionType) -> types.FunctionType | None:
        """The sweep of a fused pass that gives only the entries of the gradient, bound likewise; None if
        there is none.
        """
        return None if self.entries is None else self._bound(self.entries, function)

    def _bound(self, forward: types.FunctionType, function: types.FunctionType) -> types.FunctionType:
        cells = forward.__closure__
        if self.closure is not None and cells is not None:
            at = forward.__code__.co_freevars.index(self.closure)
            cells = (*cells[:at], types.CellType(function.__closure__), *cells[at + 1 :])
        return types.FunctionType(forward.__code__, function.__globals__, self.name, None, cells)


@dataclass(frozen=True)
class Stale:
    """Something that a refresh renews: the function, its signature and the reason."""

    function: str
    signature: str
    reason: str


@dataclass(frozen=True)
class Refreshed:
    """What a refresh found: the mode from now on, and what was stale."""

    mode: str
    stale: tuple[Stale, ...] = ()

    def __str__(self) -> str:
        head = f"refresh mode: {self.mode}"
        if not self.stale:
            return f"{head}; nothing was stale"
        rows = "\n".join(f"  {s.function}({s.signature}): {s.reason}" for s in self.stale)
        return f"{head}; {len(self.stale)} stale:\n{rows}"

    __repr__ = __str__


@dataclass(eq=False)
class OfCode:
    """What is remembered for the functions that share one code object, as long as that lives."""

    code: weakref.ref[types.CodeType]
    by_key: dict[Any, Any] = field(default_factory=dict)


def of_code(table: dict[int, OfCode], code: types.CodeType) -> OfCode:
    """The record that a table has for a code object, by its id; a new, empty one if there is none."""
    number = id(code)
    held = table.get(number)
    if held is None or held.code() is not code:
        held = table[number] = OfCode(weakref.ref(code, lambda _: table.pop(number, None)))
    return held


@dataclass(eq=False)
class _Answer:
    """An earlier answer of the registry; in automatic mode it keeps no rule alive."""

    target: Callable[[], Any]
    kind: type
    rule: Callable[[], Any]
    said: Callable[[], Any]  # the answer itself, while the registry keeps it: quick to compare

    def strengthened(self) -> _Answer:
        return _Answer(self.target, self.kind, _held(self.rule(), True), self.said)

    def value(self) -> Any:
        """The answer, or None if its rule is gone."""
        if self.kind is type(NO_RULE):
            return NO_RULE
        said = self.rule()
        return None if said is None else self.kind(said)


def _held(value: Any, keep: bool, forget: Callable[[Any], None] | None = None) -> Callable[[], Any]:
    """A function that returns a value, which is held weakly unless `keep` is set; a value without weak
    references, such as a ufunc, stays.
    """
    try:
        return (lambda: value) if keep else weakref.ref(value, forget)
    except TypeError:
        return lambda: value


@dataclass(eq=False)
class _Memory:
    """All that a cache remembers, in one object: a refresh swaps it in one store."""

    mode: str = "auto"
    passes: dict[int, OfCode] = field(default_factory=dict)  # each with passes by key
    answers: dict[Any, _Answer] = field(default_factory=dict)
    ways: dict[int, OfCode] = field(default_factory=dict)  # those of `opened`
    texts: dict[int, OfCode] = field(default_factory=dict)  # code that answered a call by itself
    era: object = field(default_factory=object)  # what is remembered elsewhere is valid for one era


class Cache:
    """The compiled passes over one registry, and the refresh mode.

    In mode "auto" an answer of the registry is valid until it changes. In mode "manual" the first answer for
    a function and signature is used until `refresh`, and each use of an outdated one is reported.

    `compare` says when values are compared with those of the plain function: True at every call, "first" when
    a pass is new, False never.
    """

    compare: bool | str = "first"
    probes: Probes | None = None  # what follows the passes that are compiled for this cache

    def __init__(self, registry: Registry = DEFAULT_REGISTRY) -> None:
        self.registry = registry
        self.on_notice: list[Callable[[str], None]] = []
        self.memory = _Memory()
        self.watches = Watches()
        self.looked_at: dict[Any, Any] = {}  # calls of C code that run as they are (`plain`)
        # The code of functions whose sweeps have to keep copies (`borrowed`).
        self.copying: weakref.WeakSet[types.CodeType] | None = None  # None so far, which is quick to test
        self.examined: dict[int, weakref.ref[types.CodeType]] = {}  # by id: seem to need none

    @property
    def mode(self) -> str:
        """ "auto" or "manual"."""
        return self.memory.mode

    # -- passes ----------------------------------------------------------------------------------------------

    def find(
        self, function: types.FunctionType, key: Any, told: Sequence[types.FunctionType] = ()
    ) -> Pass | None:
        """The pass for this function and key, if all that it relies on still holds; otherwise None.

        In manual mode, which keeps old rules, a pass counts only if it inlined each function in `told`, the
        functions that the key identifies by source.
        """
        held = self.memory.passes.get(id(function.__code__))
        if held is None or held.code() is not function.__code__:
            return None
        found = held.by_key.get(key)
        if found is None or not found.guard(function.__globals__):
            return None
        if told and self.mode == "manual":
            inlined = [held() for held in found.inlined]
            if not all(any(one is other for other in inlined) for one in told):
                return None
        if found.epoch != self.registry.epoch and not self._still_holds(found):
            return None
        return found

    def _still_holds(self, found: Pass) -> bool:
        epoch = self.registry.epoch
        changed = self._changed(found)
        if not changed:
            found.epoch = epoch
            return True
        if self.mode == "manual":
            self._notice(found.name, changed[0])
        return self.mode == "manual"

    def _changed(self, found: Pass) -> list[Any]:
        """The targets whose rules differ from those that a pass was made with."""
        changed = [target for target, known in found.trail if self.state_of(target) != known]
        for held in found.inlined:
            function = held()
            if function is not None and self.has_rule(function):
                changed.append(function)
        return changed

    def has_rule(self, function: types.FunctionType) -> bool:
        """Whether a call of a function may do anything other than run its code."""
        registry = self.registry
        if registry.mutator(function) is not None or registry.stand_in(function) is not None:
            return True
        entry = registry.entry(function)
        return entry is not None and bool(entry.user or entry.built_in) and not registry.is_hidden(function)

    def note_text(self, function: types.FunctionType) -> None:
        """Record that only the function's own code answered a call of it."""
        of_code(self.memory.texts, function.__code__)

    def is_text_alone(self, function: types.FunctionType) -> bool:
        """Whether a call of a function certainly runs its own code, as a call of another function with this
        code did: a closure, or a function defined in a loop, is a new object each time.
        """
        held = self.memory.texts.get(id(function.__code__))
        if held is None or held.code() is not function.__code__ or self.mode != "auto":
            return False
        return self.registry.has_nothing_for(function)

    def state_of(self, target: Any) -> Any:
        """Everything that the registry has for a target, to tell later whether it has changed."""
        entry = self.registry.entry(target)
        return None if entry is None or self.registry.is_hidden(target) else (entry.user, entry.built_in)

    def store(self, function: types.FunctionType, key: Any, made: Pass) -> None:
        """Keep a pass for as long as the function's code lives, unless it is out of date already."""
        if made.epoch != self.registry.epoch and self._changed(made):
            return
        held = of_code(self.memory.passes, function.__code__)
        for oldest in list(held.by_key)[: len(held.by_key) - _MOST_SIGNATURES + 1]:
            held.by_key.pop(oldest, None)
        held.by_key[key] = made
        self.watches.note_compiled(target for target, _ in made.trail)

    def probed(self, probes: Probes) -> Cache:
        """A cache that gives the same answers but compiles its own passes, which report to the probes where
        they are.
        """
        other = Cache(self.registry)
        other.probes = probes
        other.on_notice.append(_unheard)  # this cache has reported them already
        other.memory = _Memory(self.memory.mode, answers=dict(self.memory.answers))
        return other

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Suppresses the notices of manual mode, for questions that the author did not ask."""
        told, self.on_notice = self.on_notice, [_unheard]
        try:
            yield
        finally:
            self.on_notice = told

    def drop_passes(self) -> None:
        """Forget every pass and every fast path to one."""
        self.memory = _Memory(self.memory.mode, answers=self.memory.answers)

    def __len__(self) -> int:
        return sum(len(held.by_key) for held in self.memory.passes.copy().values())

    # -- answers of the registry -----------------------------------------------------------------------------

    def ask(
        self, target: Any, types_of_arguments: tuple[Any, ...], config: Any = None, mode: str = "rrule"
    ) -> Any:
        """Found, NoRule or OptedOut, as the refresh mode requires; `mode` is that of the rule."""
        memory = self.memory
        current = self.registry.ask(target, types_of_arguments, mode, config)
        traits = None if config is None else config.traits
        key = (id(target), types_of_arguments, mode, traits)
        known = memory.answers.get(key)
        if known is not None and known.said() is current and known.target() is target:
            return current
        key = (id(target), tuple(map(weakly, types_of_arguments)), mode, traits)
        known = memory.answers.get(key)
        if known is not None and known.said() is current and known.target() is target:
            return current
        if known is not None and known.target() is target and memory.mode == "manual":
            old = known.value()
            if old is not None:
                if old != current:
                    self._notice(name_of(target), target)
                return old
        if known is None or known.target() is not target or known.value() != current:
            self._remember(memory, key, target, current)
        return current

    def _remember(self, memory: _Memory, key: Any, target: Any, answer: Any) -> None:
        answers = memory.answers

        def forget(gone: Any) -> None:
            known = answers.get(key)
            if known is not None and known.target is gone:
                answers.pop(key, None)

        said = getattr(answer, "rule" if isinstance(answer, Found) else "opt_out", None)
        rule = _held(said, memory.mode == "manual")
        answers[key] = _Answer(_held(target, False, forget), type(answer), rule, weakref.ref(answer))

    def _notice(self, name: str, target: Any) -> None:
        text = (
            f"the rules of {name_of(target)} have changed, but the refresh mode is manual: "
            f"{name} is differentiated as before (%grad_refresh updates it)"
        )
        if self.on_notice:
            for tell in self.on_notice:
                tell(text)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("always", StaleRuleWarning)
            warnings.warn(text, StaleRuleWarning, stacklevel=_callers_level())

    # -- refresh ---------------------------------------------------------------------------------------------

    def refresh(self, mode: str | None = None) -> Refreshed:
        """Renew what is stale, or switch the mode; switching to "auto" refreshes too."""
        if mode not in (None, *MODES):
            raise RuleLabError(
                f"the refresh mode must be {' or '.join(MODES)}, not {mode!r}",
                fixes=("leave it out to refresh now",),
            )
        memory = self.memory
        if mode == "manual":
            if memory.mode == "auto":  # a stale pass must not become valid again
                self._drop_stale(memory)
            answers = {key: answer.strengthened() for key, answer in memory.answers.copy().items()}
            self.memory = _Memory(mode, memory.passes, answers)
            return Refreshed(mode)
        refreshed = Refreshed(mode or memory.mode, tuple(self._stale()))
        self.memory = _Memory(refreshed.mode)
        return refreshed

    def _drop_stale(self, memory: _Memory) -> None:
        for held in memory.passes.copy().values():
            for key, made in held.by_key.copy().items():
                if self._changed(made):
                    held.by_key.pop(key, None)

    def _stale(self) -> list[Stale]:
        found = []
        for (_, signature, mode, traits), known in self.memory.answers.copy().items():
            target, old = known.target(), known.value()
            if target is None:
                continue
            kinds = tuple([kind() if type(kind) is weakref.ref else kind for kind in signature])
            if None in kinds:  # a class that no longer exists
                continue
            config = None if traits is None else RuleConfig(*traits)
            current = self.registry.ask(target, kinds, mode, config)
            if old != current:
                found.append(Stale(name_of(target), ", ".join(map(_type_name, kinds)), _reason(old, current)))
        for held in self.memory.passes.copy().values():
            for made in held.by_key.copy().values():
                given = ", ".join(map(_signature_name, made.signature))
                for target in self._changed(made):
                    found.append(Stale(made.name, given, f"the rules of {name_of(target)} changed"))
        return found


def _callers_level() -> int:
    """The stack level of the first frame outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(FOLDER):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    return level


def _reason(old: Any, current: Any) -> str:
    if isinstance(current, Found):
        verb = "a rule was defined" if old is NO_RULE else "its rule was redefined"
        place = current.rule.place
        return verb + (f" at {place.label()}" if place is not None else "")
    if isinstance(current, OptedOut):
        return "it was opted out of its rule"
    return "its rule was removed"


def _type_name(kind: Any) -> str:
    if isinstance(kind, ArrayType):
        return f"{kind.cls.__name__} of {kind.scalar.__name__}"
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _signature_name(part: Any) -> str:
    if type(part) is weakref.ref:
        return _type_name(part() or "a class that no longer exists")
    if isinstance(part, tuple):
        return "tuple" if part and part[0] is tuple else f"{part[0]}[{', '.join([':'] * part[1])}]"
    return _type_name(part)


def guard_of(
    exact: dict[str, Any],
    like: dict[str, Any],
    attributes: list[tuple[Any, str, Any]],
    relied: Sequence[Named] = (),
    inlined: Sequence[Inlined | Reader | Restated] = (),
) -> Callable[[dict[str, Any]], bool]:
    """The guard of a pass: a quick test that everything it relies on is as it was.

    `exact` maps globals and builtins to the objects they must be, `like` to the signatures of their values;
    `attributes` are (module or class, attribute, object); `relied` are functions whose source was consulted,
    `inlined` those whose bodies the pass contains, or that it assumes read an argument at once.
    """
    from ...rules.kinds import signature_of

    standard, same, alike = vars(builtins), tuple(exact.items()), tuple(like.items())
    if not (same or alike or attributes or relied or inlined):
        return holds

    relied = list({(id(names), name, id(code)): (names, name, code) for names, name, code in relied}.values())
    calls, more = 0, bool(alike or inlined or relied)
    quick: Callable[[dict[str, Any]], bool] = never

    def are_the_same(namespace: dict[str, Any]) -> bool:
        nonlocal calls, quick
        for name, value in same:
            if (namespace[name] if name in namespace else standard.get(name, guard)) is not value:
                return False
        for owner, name, value in attributes:
            found = getattr(owner, name, guard)
            # A bound method of a C object, such as those of the generator in np.random, is new at each
            # access.
            bound = type(found) is type(value) is types.BuiltinFunctionType
            if found is not value and not (bound and found == value):
                return False
        calls += 1
        if calls == WORTH_IT:
            quick = quick_test(exact, tuple(attributes), namespace)
        return True

    def are_alike(namespace: dict[str, Any]) -> bool:
        for name, value in alike:
            if signature_of(namespace[name] if name in namespace else standard.get(name, guard)) != value:
                return False
        for function in inlined:
            if not function.stands(namespace):
                return False
        return all(is_as_it_was(named, namespace) for named in relied)

    def guard(namespace: dict[str, Any]) -> bool:
        return (quick(namespace) or are_the_same(namespace)) and (not more or are_alike(namespace))

    if not more:
        guard.asked = exact, tuple(attributes)  # type: ignore[attr-defined]
    return guard


def at_a_glance(guard: Callable[[dict[str, Any]], bool], namespace: dict[str, Any]) -> Callable[..., bool]:
    """A test that passes only if the guard does: its quick test, which saves a call, if the guard only
    compares objects by identity and passes now; else the guard itself.
    """
    asked: tuple[dict[str, Any], Any] | None = getattr(guard, "asked", None)
    if asked is None:
        return guard
    exact, attributes = asked
    test = quick_test(exact, attributes, namespace)
    return guard if test is never else test


def holds(namespace: dict[str, Any]) -> bool:
    """The guard of a pass that relies on nothing."""
    return True


DEFAULT = Cache()


def refresh(mode: str | None = None, *, cache: Cache = DEFAULT) -> Refreshed:
    """Recompile stale derivatives now (no argument), or switch between "auto" and "manual".

    In mode "auto", the default, a rule counts from the moment it is defined. Mode "manual" reproduces the
    behaviour of systems that keep a compiled derivative until they are told otherwise: an old answer of the
    registry is used until `refresh()`, and each such use gives a warning. Changed code, defaults, captured
    variables and globals always count, in both modes. Returns what was stale and why.

    >>> refresh(cache=Cache())
    refresh mode: auto; nothing was stale
    """
    return cache.refresh(mode)


def _unheard(notice: str) -> None:
    """Takes the place of the listeners for notices; without any listener, a notice would be a warning."""
