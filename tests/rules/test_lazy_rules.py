"""Rules of a library that is optional: they are read when a function of it is first met, and not before."""

import gc
import importlib
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

from rulelab.rules.lazy_rules import LazyRules
from rulelab.rules.registry import NO_RULE, Found, Registry
from rulelab.rules.rule_table import RuleTable
from rulelab.rules.signatures import types_of


@pytest.fixture
def library(monkeypatch):
    """A module that somebody has imported, with a function `double` and a list of when its rules are read."""
    module = types.ModuleType("a_library_that_is_optional")
    module.double = lambda x: 2 * x
    module.other = lambda x: x
    module.__spec__ = types.SimpleNamespace(_initializing=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.reads = []
    return module


def tables_of(library):
    def read():
        library.reads.append(1)
        table = RuleTable("library")
        table.scalar(library.double, lambda out, x: 2.0)
        return (table,)

    return read


def registry_with(library):
    registry = Registry()
    registry.install((), lazy_rules=[LazyRules(library.__name__, tables_of(library))])
    return registry


def test_rules_are_read_when_a_function_is_met(library):
    """Not for a function of another module; once for all functions of the module."""
    registry = registry_with(library)
    assert registry.ask(len, types_of((1.0,))) is NO_RULE and library.reads == []
    assert isinstance(registry.ask(library.double, types_of((1.0,))), Found)
    assert registry.ask(library.other, types_of((1.0,))) is NO_RULE
    assert registry.entry(library.double).built_in and library.reads == [1]


QUESTIONS = [Registry.entry, lambda registry, f: registry.entry_in("frule", f), Registry.built_in_entry]


@pytest.mark.parametrize("ask", QUESTIONS)
def test_every_question_meets_it(library, ask):
    """However one asks, the rules are there."""
    assert ask(registry_with(library), library.double) is not None


def test_stand_ins_are_read_with_the_rules(library):
    """Whichever is asked for first."""

    def read():
        table = RuleTable("library")
        table.stands_in(library.double)(lambda x: x + x)
        return (table,)

    registry = Registry()
    registry.install((), lazy_rules=[LazyRules(library.__name__, read)])
    assert registry.stand_in(library.other) is None
    assert registry.stand_in(library.double).function(2.0) == 4.0


def test_reading_makes_no_answer_old(library):
    """The epoch stays as it is: nobody was told anything else, so no pass is stale."""
    registry = registry_with(library)
    before = registry.epoch
    registry.entry(library.double)
    assert registry.epoch == before


def test_a_rule_of_the_authors_does_not_hide_them(library):
    """Who states, hides or opts out before the first question has the built-in rules below."""
    registry = registry_with(library)
    with registry.without(library.double):
        assert registry.ask(library.double, types_of((1.0,))) is NO_RULE
    assert isinstance(registry.ask(library.double, types_of((1.0,))), Found)
    registry = registry_with(library)
    table = RuleTable("other")
    table.scalar(library.double, lambda out, x: 3.0)
    (_, rule), *_ = table.rules
    registry.install([(library.double, rule)])
    assert len(registry.entry(library.double).built_in) == 2  # the frule of the library's is still there


def test_a_library_that_nobody_imported_is_left_alone():
    """No module is imported for a question."""
    registry = Registry()
    registry.install((), lazy_rules=[LazyRules("no_such_library_at_all", lambda: 1 / 0)])
    assert registry.entry(len) is None


def test_all_are_read_for_a_list(library, monkeypatch):
    """Libraries are imported for it, and those that are not there are left alone."""
    registry = Registry()
    missing = LazyRules("no_such_library_at_all", lambda: 1 / 0)
    lazy_rules = [missing, LazyRules(library.__name__, tables_of(library))]
    registry.install((), lazy_rules=lazy_rules)
    monkeypatch.delitem(sys.modules, library.__name__)
    monkeypatch.setattr(importlib, "import_module", lambda name: imported(name, library))
    before = registry.epoch
    registry.read_lazy_rules()
    registry.read_lazy_rules()
    assert library.reads == [1] and len(registry.rules()) == 2 and registry.epoch == before
    assert [lazy.module for lazy in registry.snapshot.lazy_rules] == ["no_such_library_at_all"]


@pytest.mark.parametrize("error", [ImportError, ModuleNotFoundError])
def test_rules_that_cannot_be_read_are_not_a_missing_library(error, library):
    """An import that fails in a module of rules is no reason to list fewer of them."""

    def read():
        raise error("No module named 'rulelab.rulesets.gone'", name="rulelab.rulesets.gone")

    registry = Registry()
    registry.install((), lazy_rules=[LazyRules(library.__name__, read)])
    with pytest.raises(error, match="gone"):
        registry.read_lazy_rules()


@pytest.mark.parametrize(
    "error",
    [
        ImportError("undefined symbol", name="no_such_library"),
        ModuleNotFoundError("No module named 'no_such_library.part'", name="no_such_library.part"),
        ModuleNotFoundError("No module named 'needed'", name="needed"),
    ],
    ids=["broken", "too old", "lacks another"],
)
def test_a_library_that_is_there_and_fails_is_not_missing(error, monkeypatch):
    """Only one that is not installed is passed over."""

    def failing(name):
        raise error

    registry = Registry()
    registry.install((), lazy_rules=[LazyRules("no_such_library.part", lambda: 1 / 0)])
    monkeypatch.setattr(importlib, "import_module", failing)
    with pytest.raises(type(error), match=error.msg):
        registry.read_lazy_rules()


def imported(name, library):
    if name != library.__name__:
        raise ModuleNotFoundError(name, name=name)
    sys.modules[name] = library
    return library


def test_what_fails_leaves_the_old_state(library):
    """Rules that cannot be read, or an interrupt in between: the next question reads them anew."""
    tries = []

    def read():
        tries.append(1)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return tables_of(library)()

    registry = Registry()
    registry.install((), lazy_rules=[LazyRules(library.__name__, read)])
    with pytest.raises(KeyboardInterrupt):
        registry.entry(library.double)
    assert registry.snapshot.entries == {} and registry.entry(library.double) is not None


def test_threads_that_meet_it_together(library):
    """Each is told of the rules, and they count once."""
    registry, found = registry_with(library), []
    barrier = threading.Barrier(8)

    def ask():
        barrier.wait()
        found.append(registry.entry(library.double))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(len(entry.built_in) == 2 for entry in found)


def test_a_module_that_is_still_being_imported(library):
    """What it gets later is known, too."""
    library.__spec__._initializing = True
    lazy = LazyRules(library.__name__, tables_of(library))
    assert not lazy.holds(np.sin)
    library.late = np.sin
    assert lazy.holds(np.sin)


def test_methods_of_its_classes_are_on_it(library, monkeypatch):
    """Of the classes that the module has, and of those that a module beside it defines; not of others'."""
    beside = types.ModuleType("beside_the_library")
    monkeypatch.setitem(sys.modules, beside.__name__, beside)

    class Own:
        def method(self):
            pass

    class Other:
        def method(self):
            pass

    class Foreign:
        def method(self):
            pass

    library.Own, beside.Other, beside.Foreign = Own, Other, Foreign
    Other.__module__ = beside.__name__
    lazy = LazyRules(library.__name__, tuple, beside=(beside.__name__, "a_module_that_is_not_there"))
    assert lazy.holds(Own) and lazy.holds(Own.method) and lazy.holds(Other.method)
    assert not lazy.holds(Foreign.method)


def test_what_its_rules_are_made_of_is_read_before(library, monkeypatch):
    """So that a rule made of functions of another module finds their rules, whichever is met first."""
    other = types.ModuleType("what_the_library_is_made_of")
    other.half = lambda x: x / 2
    other.__spec__ = types.SimpleNamespace(_initializing=False)
    monkeypatch.setitem(sys.modules, other.__name__, other)
    order = []

    def read_other():
        order.append("other")
        return ()

    def read():
        order.append("library")
        return tables_of(library)()

    registry = Registry()
    later = LazyRules(library.__name__, read, after=(other.__name__,))
    lazy_rules = [later, LazyRules(other.__name__, read_other)]
    registry.install((), lazy_rules=lazy_rules)
    assert registry.entry(library.double) is not None and order == ["other", "library"]
    assert registry.entry(other.half) is None and order == ["other", "library"]


SESSION = """
import sys, time
from importlib.machinery import SourceFileLoader
import numpy as np
import rulelab as rl
from rulelab.rules.registry import Registry
from rulelab.rulesets import catalogue

def rulesets():
    return [m for m in sys.modules if m.startswith("rulelab.rulesets.scipy_")]

assert "scipy" not in sys.modules
rl.gradient(lambda x: np.sum(np.sin(x)), np.ones(3))
assert "scipy" not in sys.modules and not rulesets()
import scipy.special as special
rl.gradient(lambda x: np.sum(np.cos(x)), np.ones(3))
assert not rulesets()
assert abs(rl.gradient(lambda x: special.gammaln(x), 2.0)[0] - 0.42278433509846713) < 1e-14
assert rulesets()

compiled, get_code = {}, SourceFileLoader.get_code

def known_code(self, name):
    if name not in compiled:
        compiled[name] = get_code(self, name)
    return compiled[name]

SourceFileLoader.get_code = known_code
times = []
for _ in range(4):  # as if they were met for the first time; from the second time on their code is compiled
    for name in rulesets():
        delattr(sys.modules["rulelab.rulesets"], name.rpartition(".")[2])
        del sys.modules[name]
    registry = Registry()
    catalogue.install(registry)
    start = time.process_time()
    assert registry.entry(special.erf) is not None
    times.append(time.process_time() - start)
print(min(times))
"""


def test_a_session_reads_the_rules_of_scipy_when_they_are_met(tmp_path):
    """`import rulelab`, and gradients without SciPy, load nothing of it; what is read costs at most 50 ms of
    a processor's time.
    """
    pytest.importorskip("scipy.special")
    script = tmp_path / "session.py"
    script.write_text(SESSION, encoding="utf-8")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 0.05


@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_while_rules_are_read(library, collects):
    """Else the first of them waits for a look through all that the library has just imported; whether it is
    collected is then as it was.
    """
    table_of, collections, kept, before = tables_of(library), [], [], gc.isenabled()
    note = lambda phase, info: collections.append(phase)

    def read():
        gc.callbacks.append(note)
        kept.extend([] for _ in range(200_000))
        gc.callbacks.remove(note)
        return table_of()

    registry = Registry()
    registry.install((), lazy_rules=[LazyRules(library.__name__, read)])
    (gc.enable if collects else gc.disable)()
    try:
        registry.entry(library.double)
        assert library.reads == [1] and collections == [] and gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
