"""All rulesets together."""

import inspect
import math
import operator
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rule_points import rule_at

from rulelab.rules.registry import Registry
from rulelab.rules.rule import Rule
from rulelab.rules.targets import name_of
from rulelab.rulesets import python_statistics, standins
from rulelab.rulesets.catalogue import install, tables
from rulelab.rulesets.numpy_others import REFUSED


def installed():
    registry = Registry()
    install(registry)
    return registry


def test_all_tables_come_in_one_step():
    """A pass that is being compiled sees all the rules or none: the epoch rises once."""
    registry = Registry()
    before = registry.epoch
    install(registry)
    assert registry.epoch == before + 1


def test_compiled_code_can_call_the_functions_that_give_cotangents():
    """It passes all that they read by position."""
    rules = [rule for _, rule in installed_rules() if rule.cotangents]
    functions = {inspect.unwrap(given) for rule in rules for given in rule.cotangents if given is not None}
    assert len(functions) > 20
    assert not [f.__qualname__ for f in functions if f.__code__.co_kwonlyargcount]


def installed_rules():
    return [pair for table in tables() for pair in table.rules if isinstance(pair[1], Rule)]


def test_the_points_of_each_table_are_checked():
    """By the test file that is named after it: points that no test reads verify nothing."""
    files = Path(__file__).parent.glob("test_*.py")
    texts = {path.stem.removeprefix("test_"): path.read_text(encoding="utf-8") for path in files}
    with_points = [table.name for table in tables() if list(table.points)]
    unread = [name for name in with_points if "from rule_points import" not in texts.get(name, "")]
    assert not unread, f"no test_NAME.py here checks the points of {unread}: test_fft.py shows how"


def test_table_names_are_their_modules():
    """A rule in a listing can be found in the file that its table is named after."""
    names = [table.name for table in tables()]
    assert len(set(names)) == len(names) and "numpy_elementwise" in names


@pytest.mark.parametrize(
    ("target", "args"),
    [
        (np.sin, (0.5,)),
        (math.sin, (0.5,)),
        (operator.add, (0.5, np.ones(2))),
        (np.sum, (np.ones(2),)),
        (np.reshape, (np.ones(2), (2, 1))),
        (operator.getitem, (np.ones(2), 0)),
        (operator.getitem, ([1.0], 0)),
        (np.matmul, (np.ones((2, 2)), np.ones(2))),
        (np.linalg.inv, (np.eye(2),)),
        (np.full, (2, 0.5)),
    ],
)
def test_a_rule_is_found_for_the_functions_people_use(target, args):
    """Python, NumPy and linear algebra are there after one install."""
    assert rule_at(installed(), target, args, "rrule") is not None


def test_no_two_tables_answer_for_the_same_call():
    """Each call has one built-in rule: every check point of every table gets an answer without ambiguity."""
    registry = installed()
    for table in tables():
        for target, args, _ in table.points:
            assert rule_at(registry, target, args, "rrule") is not None, (table.name, target)


def numpy_names():
    """Each function and array method of NumPy by one of its names."""
    found = {}
    for prefix, home in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("ndarray", np.ndarray)):
        for name in dir(home):
            if not name.startswith("_"):
                found.setdefault(id(getattr(home, name)), f"{prefix}.{name}")
    return found


def rules_by_target(mode):
    return {
        id(t): t for table in tables() for t, rule in table.rules if rule.mode == mode and rule.differentiable
    }


def test_numpy_is_covered_in_both_modes():
    """At least 150 names of NumPy have a reverse and a forward rule, whatever their aliases; and its ufuncs'
    methods besides.
    """
    names, reverse, forward = numpy_names(), rules_by_target("rrule"), rules_by_target("frule")
    reversed_names = {names[key] for key in reverse if key in names}
    both = {names[key] for key in reverse if key in names and key in forward}
    assert len(both) >= 250 and reversed_names == both
    methods = [
        t
        for key, t in reverse.items()
        if isinstance(getattr(t, "__self__", None), np.ufunc) and key in forward
    ]
    assert len(methods) >= 80


def test_every_rule_has_its_forward_rule():
    """What is differentiated backwards is so forwards too. (`x.flat` is refused both ways.)"""
    forward = rules_by_target("frule")
    tables_of_containers = (python_statistics.TABLE, standins.TABLE)
    waiting = {id(target) for table in tables_of_containers for target, _ in table.rules}
    missing = [
        name_of(t)
        for key, t in rules_by_target("rrule").items()
        if key not in forward and key not in waiting
    ]
    assert missing in ([], [name_of(np.ndarray.flat)])


UNTOLD = {
    "apply_along_axis",
    "apply_over_axes",
    "asmatrix",
    "bmat",
    "busday_count",
    "busday_offset",
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "frompyfunc",
    "fromregex",
    "fromstring",
    "genfromtxt",
    "info",
    "is_busday",
    "intersect1d",
    "kaiser",
    "load",
    "loadtxt",
    "nested_iters",
    "piecewise",
    "poly",
    "row_stack",
    "savez_compressed",
    "setbufsize",
    "seterrcall",
    "setxor1d",
    "show_config",
    "show_runtime",
    "test",
    "trapz",
    "union1d",
    "unique_values",
}


def test_no_function_of_numpy_is_forgotten():
    """A function is differentiated, declared constant, known to write, or on the list of those refused."""
    registry = installed()
    for name in dir(np):
        function = getattr(np, name)
        if name.startswith("_") or not callable(function) or isinstance(function, type) or name in UNTOLD:
            continue
        assert registry.entry(function) is not None or registry.mutator(function), name


@pytest.mark.parametrize("module", [np.linalg, np.fft])
def test_no_function_of_its_modules_is_forgotten(module):
    """Each has a rule."""
    registry = installed()
    functions = {name: getattr(module, name) for name in module.__all__}
    functions = {name: f for name, f in functions.items() if callable(f) and not isinstance(f, type)}
    assert len(functions) > 15
    assert [name for name, f in functions.items() if registry.entry(f) is None] == []


def test_no_function_with_a_rule_is_listed_as_refused():
    """Who states a rule takes the name off the list."""
    registry = installed()
    assert [name for name in UNTOLD if hasattr(np, name) and registry.entry(getattr(np, name))] == []


def test_each_function_without_a_rule_has_a_reason():
    """Those on the list are answered by a stand-in, or refused for a reason."""
    registry = installed()
    refused = {name for name in UNTOLD if hasattr(np, name) and registry.stand_in(getattr(np, name)) is None}
    assert refused <= set(REFUSED) <= UNTOLD and all(len(reason) > 10 for reason in REFUSED.values())


def test_the_catalogue_loads_numpy_and_nothing_heavier():
    """Installing the rules keeps `import rulelab` light."""
    heavy = ("IPython", "sympy", "scipy", "matplotlib", "ipywidgets", "numba")
    code = f"import sys, rulelab.rulesets.catalogue; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
