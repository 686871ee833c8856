"""The rules for `scipy.linalg`, `scipy.fft` and `scipy.signal`: no function is forgotten, none is told of
twice, and nobody pays for what is not used.
"""

import importlib
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("scipy")

from library_calls import check_on_a_circle, first_of_each  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import ForeignCallError, RuleLabError  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rulesets.catalogue import LAZY_RULES  # noqa: E402
from rulelab.rulesets.scipy_optional import LibraryTable, NoFunctions, named, optional, reasons  # noqa: E402

TABLES = {lazy.module: lazy.read for lazy in LAZY_RULES}
LISTS = {  # where it says what has no rule
    "scipy.linalg": "scipy_linalg_without",
    "scipy.fft": "scipy_fft",
    "scipy.signal": "scipy_signal_without",
    "scipy.signal.windows": "scipy_signal_windows",
}


def lists_of(module):
    told = importlib.import_module(f"rulelab.rulesets.{LISTS[module]}")
    return told.CONSTANT, getattr(told, "REFUSED", {})


def public_functions(module):
    """What a module has by name that is called, and no class."""
    library = importlib.import_module(module)
    found = {name: getattr(library, name) for name in library.__all__}
    return {name: f for name, f in found.items() if callable(f) and not isinstance(f, type)}


def is_known(function):
    """Whether there is a rule, or a Python function in its place."""
    return DEFAULT.entry(function) is not None or DEFAULT.stand_in(function) is not None


@pytest.mark.parametrize("module", LISTS)
def test_no_function_is_forgotten(module):
    """Each has a rule, is done by others, is constant or refused for a reason; and only one of these."""
    constant, refused = lists_of(module)
    functions = public_functions(module)
    without = {name for name, function in functions.items() if not is_known(function)}
    assert without == set(refused)
    assert set(constant) <= set(functions) and not set(constant) & set(refused)
    assert all(len(reason) > 10 for reason in refused.values())


@pytest.mark.parametrize(("module", "count"), [("scipy.linalg", 55), ("scipy.fft", 30), ("scipy.signal", 29)])
def test_at_least_so_many(module, count):
    """Functions that are differentiated in both modes."""
    constant, refused = lists_of(module)
    assert len(set(public_functions(module)) - set(constant) - set(refused)) >= count


@pytest.mark.campaign
def test_most_functions_have_a_second_witness():
    """An integral around the arguments, which knows nothing of differences: of those that are analytic."""
    tables = [table for module in LISTS for table in TABLES[module]() if not table.name.endswith("_without")]
    calls = [one for t in tables for one in first_of_each(importlib.import_module(f"test_{t.name}").CALLS)]
    assert sum(map(check_on_a_circle, calls)) >= 65


@pytest.mark.parametrize("module", LISTS)
def test_both_modes_have_the_same_rules(module):
    """What is differentiated backwards is so forwards too."""
    for table in TABLES[module]():
        reverse = {id(target) for target, rule in table.rules if rule.mode == "rrule"}
        assert reverse == {id(target) for target, rule in table.rules if rule.mode == "frule"}, table.name


@pytest.mark.parametrize("module", LISTS)
def test_all_functions_with_a_rule_are_covered(module):
    """So that no answer which was given before the rules were read has become old."""
    known = {id(value) for value in vars(importlib.import_module(module)).values()}
    for table in TABLES[module]():
        for target in [*[target for target, _ in table.rules], *[target for target, _ in table.stand_ins]]:
            assert id(target) in known or target.__module__.startswith(rl.__name__), target


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("scipy.linalg", "schur"),
        ("scipy.linalg", "funm"),
        ("scipy.linalg", "matrix_balance"),
        ("scipy.fft", "fht"),
        ("scipy.signal", "medfilt"),
        ("scipy.signal", "hilbert2"),
        ("scipy.signal", "butter"),
    ],
)
def test_a_function_without_a_rule_says_so(module, name):
    """By a typed error that names it."""
    function = getattr(importlib.import_module(module), name)
    arguments = {"funm": (np.exp,), "fht": (0.1, 0.5), "butter": ()}.get(name, ())
    with pytest.raises(ForeignCallError, match=name):
        if name == "butter":
            rl.gradient(lambda w: np.sum(function(2, w)[0]), 0.3)
        else:
            rl.gradient(lambda x: np.sum(np.abs(function(x, *arguments)[0])), np.eye(4))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda n: importlib.import_module("scipy.signal").detrend([1.0, 2.0, 4.0], bp=n), 1.0),
        (lambda n: importlib.import_module("scipy.fft").fft([1.0, 2.0], n), 2.0),
    ],
)
def test_a_number_that_no_rule_answers_for_is_refused(f, x):
    """A length or an axis that varies: an error, never None."""
    with pytest.raises((RuleLabError, TypeError)):
        rl.gradient(lambda n: np.sum(np.abs(f(n))), x)


SESSION = """
import sys, time
from importlib.machinery import SourceFileLoader
import rulelab as rl
from rulelab.rules.registry import Registry
from rulelab.rulesets import catalogue

assert "scipy" not in sys.modules
import scipy.fft, scipy.linalg, scipy.signal

def rulesets():
    return [m for m in sys.modules if m.startswith("rulelab.rulesets.scipy_")]

def forget():
    for name in rulesets():
        delattr(sys.modules["rulelab.rulesets"], name.rpartition(".")[2])
        del sys.modules[name]

assert not rulesets()
compiled, get_code = {}, SourceFileLoader.get_code

def known_code(self, name):
    if name not in compiled:
        compiled[name] = get_code(self, name)
    return compiled[name]

SourceFileLoader.get_code = known_code
for function in (scipy.linalg.expm, scipy.fft.fft, scipy.signal.lfilter, scipy.signal.windows.hann):
    times = []
    for _ in range(4):  # as if they were met for the first time; from the second time on as compiled code
        forget()
        registry = Registry()
        catalogue.install(registry)
        start = time.process_time()
        assert registry.entry(function) is not None or registry.stand_in(function) is not None
        times.append(time.process_time() - start)
    print(min(times), *sorted(rulesets()))
"""


@pytest.mark.slow
def test_a_session_reads_the_rules_of_one_module(tmp_path):
    """When a function of it is met, in at most 50 ms of a processor's time; those of others are left."""
    script = tmp_path / "session.py"
    script.write_text(SESSION, encoding="utf-8")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    for family, line in zip(("linalg", "fft", "signal", "signal"), lines, strict=True):
        seconds, *read = line.split()
        own = f"rulelab.rulesets.scipy_{family}"
        assert float(seconds) < 0.05, line
        assert all(name.startswith((own, "rulelab.rulesets.scipy_optional")) for name in read), read


def test_a_module_that_is_not_there():
    """Nothing is stated of what a library has not, and nothing fails."""
    nothing = optional("no_such_library_at_all")
    assert isinstance(nothing, NoFunctions) and nothing.solve is None
    table = LibraryTable("nothing")
    table.rrule(nothing.solve)(lambda x: x)
    table.frule(nothing.solve)(lambda tangents, x: x)
    table.stands_in(nothing.solve)(lambda x: x)
    table.non_differentiable(nothing.solve)
    assert table.rules == [] and table.stand_ins == []
    assert named(nothing, "solve inv") == () and reasons(nothing, {"because": "solve"}) == {}
