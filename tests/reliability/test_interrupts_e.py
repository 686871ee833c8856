"""E3, E5: an operation that is interrupted anywhere leaves the old state whole or the new one, no lock held.

What is interrupted is every instruction of the package that an operation runs, in turn. CPython delivers a
signal at calls and jumps only; nearly every instruction is more than can happen (see `out_of_reach`).
"""

import math
import os

import numpy as np
import pytest
from interrupts import free_locks, instructions_of, interrupted_at, spread
from sessions import Session

import rulelab as rl
from rulelab import files, parsing
from rulelab.compiler.base import source
from rulelab.compiler.calls.cache import Cache
from rulelab.errors import RuleLabError
from rulelab.rules.registry import _WRITING, Found, Registry
from rulelab.rulesets.catalogue import install

LOCKS = (_WRITING, parsing.PARSING)
NUMPY = np.frompyfunc(lambda x: x, 1, 1)  # a ufunc of this test's own, which can keep no rules


def rule_of(slope):
    def rule(x):
        return x * 1.0, lambda y_bar: (rl.NoTangent(), slope * y_bar)

    return rule


OLD, NEW, OTHER = rule_of(2.0), rule_of(3.0), rule_of(5.0)


class State:
    """A registry with a rule on a function, on a class and on a ufunc, and what is true of it."""

    def __init__(self, kind):
        def f(x):
            return x * 7.0

        class Thing:
            def __init__(self, x):
                self.x = x

        def bystander(x):
            return x

        self.registry = Registry()
        self.targets = {"function": f, "class": Thing, "ufunc": NUMPY, "bystander": bystander}
        self.target = self.targets[kind]
        for target in self.targets.values():
            rl.rrule_for(target, registry=self.registry)(OLD)
        rl.rrule_for(bystander, registry=self.registry)(OTHER)

    def seen(self):
        """What the registry answers for every target, and what it lists."""
        answers = tuple(
            self.registry.ask(target, (kind,), mode)
            for target in self.targets.values()
            for kind in (float, int)
            for mode in ("rrule", "frule")
        )
        said = tuple(
            (type(a).__name__, a.rule.function.__name__ if isinstance(a, Found) else None,
             a.rule.function(1.0)[1](1.0)[1] if isinstance(a, Found) and a.rule.mode == "rrule" else None)
            for a in answers
        )
        listed = sorted(f"{r.target_name} {r.mode} {r.accepts}" for r in self.registry.rules())
        hidden = tuple(name for name, target in self.targets.items() if self.registry.is_hidden(target))
        mutators = tuple(name for name, target in self.targets.items() if self.registry.mutator(target))
        return said, tuple(listed), hidden, mutators


def within_without(state):
    with state.registry.without(state.target):
        pass


OPERATIONS = {
    "register again": lambda s: rl.rrule_for(s.target, registry=s.registry)(NEW),
    "register another": lambda s: rl.frule_for(s.target, registry=s.registry)(lambda t, x: (x, t[1])),
    "scalar rule": lambda s: rl.scalar_rule(s.target, lambda out, x: 9.0, registry=s.registry),
    "non-differentiable": lambda s: rl.non_differentiable(s.target, registry=s.registry),
    "remove": lambda s: rl.remove_rule(s.target, registry=s.registry),
    "opt out": lambda s: rl.opt_out(s.target, registry=s.registry),
    "opt out of a type": lambda s: rl.opt_out(s.target, int, registry=s.registry),
    "install": lambda s: s.registry.install([], [(s.target, "changes things")]),
    "without": within_without,
}


@pytest.mark.parametrize("kind", ["function", "class", "ufunc"])
@pytest.mark.parametrize("name", list(OPERATIONS))
@pytest.mark.every(17)
def test_e3_every_instruction_of_a_registry_operation(name, kind):
    """Registering, removing, opting out and setting aside happen whole or not at all."""
    work = OPERATIONS[name]
    before, after = State(kind).seen(), State(kind)
    work(after)
    wanted = {before, after.seen()}
    wrong = []
    counted = State(kind)
    # The instructions that decide whether a rule may be stated are many, harmless, and the same for all.
    files = () if kind == "function" else ("rules/registry.py",)
    for number in range(1, instructions_of(lambda: work(counted), files) + 1):
        state = State(kind)
        where = interrupted_at(number, lambda: work(state), files)
        if state.seen() not in wanted or not free_locks_quickly():
            wrong.append(where)
            continue
        again = work(state) if name != "remove" or state.seen() == before else None
        if state.seen() != after.seen():
            wrong.append((*where, "second time", again))
    assert not wrong


def free_locks_quickly():
    """As `free_locks`; a lock that this thread does not own is free, since no other thread runs here."""
    return not any(lock._is_owned() for lock in LOCKS)


@pytest.mark.every(4)
@pytest.mark.parametrize("part", range(4))
def test_e3_built_in_rules_are_installed_whole(part):
    """An interrupted import of the package's rules leaves none of them, so that it can be done again."""
    count = len(rules_installed(Registry()))
    instructions = instructions_of(lambda: install(Registry()), ("rules/registry.py",))
    for number in list(spread(instructions, 20))[part::4]:
        registry = Registry()
        interrupted_at(number, lambda: install(registry), ("rules/registry.py",))
        assert len(registry.rules()) in (0, count)
        assert len(rules_installed(registry)) == count


def rules_installed(registry):
    install(registry)
    return registry.rules()


# --- the cache ---


SESSION = Session("interrupted")  # a short text: a long one is read in as many instructions
SESSION["math"] = math
SESSION.run("def cube(x):\n    return x * x * x\n\nkept = [cube]\n")  # called by its name it would be inlined
SESSION.run("def through(x):\n    return kept[0](x) + math.sin(x) * 2.0\n")
through = SESSION["through"]
WANTED = {2.0: 12.0 + 2.0 * math.cos(2.0)}


def fresh_fill(cache):
    """The first gradient of a function: source, compilation, entries, of it and of its callee."""
    return rl.gradient(through, 2.0, cache=cache)


def forget():
    source._FOUND.clear()
    source._FILES.clear()


def filled_after_interrupt(numbers, files):
    wrong = []
    for number in numbers:
        forget()
        cache = Cache()
        where = interrupted_at(number, lambda: fresh_fill(cache), files)
        found = [rl.gradient(through, 2.0, cache=cache)[0] for _ in range(3)]
        if found != [pytest.approx(WANTED[2.0], rel=1e-14)] * 3 or not free_locks_quickly():
            wrong.append((where, found))
        assert len(cache) == 2
    return wrong


def fill_instructions(files):
    forget()
    return instructions_of(lambda: fresh_fill(Cache()), files)


@pytest.mark.slow
def test_e3_cache_fill():
    """A first gradient that was interrupted leaves a cache that gives the right one (a sample of places)."""
    assert not filled_after_interrupt(spread(fill_instructions(()), 30), ())


@pytest.mark.parametrize("file", ["compiler/calls/cache.py", "compiler/calls/entries.py"])
def test_e3_what_is_kept_of_a_fill(file):
    """The same in what keeps the passes and entries, where a half state could stay (a denser sample)."""
    assert not filled_after_interrupt(spread(fill_instructions((file,)), 35), (file,))


@pytest.mark.campaign
def test_e3_cache_fill_at_every_instruction():
    """The same at every instruction of the package that a first gradient runs."""
    count = fill_instructions(())
    print(f"\n{count} instructions")
    assert not filled_after_interrupt(range(1, count + 1), ())


@pytest.mark.every(3)
@pytest.mark.parametrize("start", range(1, 4))
def test_e3_second_gradient(start):
    """A gradient by an entry that was interrupted leaves the entry right."""
    cache = Cache()
    assert rl.gradient(through, 2.0, cache=cache)[0] == pytest.approx(WANTED[2.0])
    rl.gradient(through, 2.0), rl.gradient(through, 2.0)
    for number in range(start, instructions_of(lambda: rl.gradient(through, 2.0)) + 1, 3):
        interrupted_at(number, lambda: rl.gradient(through, 2.0))
        assert rl.gradient(through, 2.0)[0] == pytest.approx(WANTED[2.0])


def test_e3_pullback_and_back():
    """`pullback` and `back` may be interrupted and called again."""
    x = np.array([1.0, 2.0])

    def f(x):
        return np.sum(x * x) * x[0]

    def work():
        return rl.pullback(f, x)[1](1.0)

    wanted = work()[0].tolist()
    for number in spread(instructions_of(work), 35):
        interrupted_at(number, work)
        assert work()[0].tolist() == wanted
    _, back = rl.pullback(f, x)
    for number in spread(instructions_of(lambda: back(1.0)), 100):
        interrupted_at(number, lambda: back(1.0))
        assert back(1.0)[0].tolist() == wanted


@pytest.mark.campaign
def test_e3_every_instruction_of_back():
    """The same at each instruction of the reverse sweep."""
    x = np.array([1.0, 2.0])
    _, back = rl.pullback(lambda x: np.sum(x * x) * x[0], x)
    wanted = back(1.0)[0].tolist()
    for number in range(1, instructions_of(lambda: back(1.0)) + 1):
        interrupted_at(number, lambda: back(1.0))
        assert back(1.0)[0].tolist() == wanted


INSTALLED = Registry()
install(INSTALLED)


def stale_cache(mode):
    """A cache in which one answer and one pass are older than the rule that came since."""

    def g(x):
        return x * x

    def f(x):
        return g(x) + 1.0

    registry = INSTALLED
    cache = Cache(registry)
    rl.gradient(f, 3.0, cache=cache)
    rl.gradient(g, 3.0, cache=cache)
    if mode == "manual":
        cache.refresh("manual")
    cache.on_notice.append(lambda text: None)
    rl.rrule_for(g, registry=registry)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)))
    return cache, f, g


@pytest.mark.every(2)
@pytest.mark.parametrize("mode", ["auto", "manual"])
@pytest.mark.parametrize("asked", [None, "auto", "manual"])
def test_e3_refresh(mode, asked):
    """An interrupted refresh has refreshed everything and switched the mode, or neither."""

    def seen(cache, f, g):
        return cache.mode, rl.gradient(f, 3.0, cache=cache)[0], rl.gradient(g, 3.0, cache=cache)[0]

    before = seen(*stale_cache(mode))
    cache, f, g = stale_cache(mode)
    cache.refresh(asked)
    wanted = {before, seen(cache, f, g)}
    cache, _, _ = stale_cache(mode)
    for number in spread(instructions_of(lambda: cache.refresh(asked)), 25 if mode == "auto" else 60):
        cache, f, g = stale_cache(mode)
        where = interrupted_at(number, lambda: cache.refresh(asked))
        assert seen(cache, f, g) in wanted, where


def test_e3_locks_are_free_for_other_threads():
    """After all that, another thread can take the locks."""
    assert free_locks(*LOCKS)


# --- E5: errors ---


@pytest.mark.parametrize("where", ["rule", "pullback"])
@pytest.mark.parametrize("error", [LookupError, MemoryError, KeyboardInterrupt, RuleLabError])
def test_e5_error_in_a_rule(where, error):
    """An error inside a rule or its pullback comes out as it is, and the next gradient is right."""

    def g(x):
        return x * x

    def f(x):
        return g(x) * 2.0

    fails = True

    @rl.rrule_for(g)
    def g_rrule(x):
        if fails and where == "rule":
            raise error("as it is")

        def g_pullback(y_bar):
            if fails and where == "pullback":
                raise error("as it is")
            return rl.NoTangent(), 5.0 * y_bar

        return x * x, g_pullback

    for target in (f, g):
        for _ in range(2):
            with pytest.raises(error, match="as it is"):
                rl.gradient(target, 3.0)
    fails = False
    assert rl.gradient(f, 3.0) == (10.0,) and rl.gradient(g, 3.0) == (5.0,)


@pytest.mark.parametrize("force", [False, True])
def test_e3_files_are_all_written_or_none(tmp_path, monkeypatch, force):
    """Whichever instruction is interrupted: all new files are there, or all old ones, and nothing else."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # what a disk does is not asked here
    after = {"a.txt": "a", "sub/b.txt": "b", "c.txt": "c"}
    before = {"a.txt": "old a", "c.txt": "old c"} if force else {}

    def written(name):
        folder = tmp_path / name
        folder.mkdir()
        for path, text in before.items():
            (folder / path).write_text(text)
        texts = {folder / path: text for path, text in after.items()}
        return folder, lambda: files.write_all(texts, force=force)

    count = instructions_of(written("counted")[1], ("files.py",))
    assert count > 500
    for number in spread(count, 250):
        folder, work = written(str(number))
        assert interrupted_at(number, work, ("files.py",))
        found = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
        assert found in (before, after), number
        assert (folder / "sub").exists() is (found == after)
