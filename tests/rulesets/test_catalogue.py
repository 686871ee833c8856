"""All rulesets together."""

import math
import operator
import subprocess
import sys

import numpy as np
import pytest
from rule_points import rule_at

from rulelab.rules.registry import Registry
from rulelab.rulesets.catalogue import install, tables


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
    """Each call has one house rule: every check point of every table gets an answer without ambiguity."""
    registry = installed()
    for table in tables():
        for target, args, _ in table.points:
            assert rule_at(registry, target, args, "rrule") is not None, (table.name, target)


def test_the_catalogue_loads_numpy_and_nothing_heavier():
    """Installing the rules keeps `import rulelab` light."""
    heavy = ("IPython", "sympy", "scipy", "matplotlib", "ipywidgets", "numba")
    code = f"import sys, rulelab.rulesets.catalogue; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
