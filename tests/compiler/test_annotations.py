"""What annotations name need not be defined where they are computed when they are asked for."""

import inspect
import sys

import pytest

import rulelab as rl
from rulelab.annotations import annotations_of, signature_of_callable
from rulelab.errors import RuleRegistrationError
from rulelab.notebook.cells import MagicError
from rulelab.notebook.invocations import Invocation
from rulelab.notebook.magics import RuleLab
from rulelab.notebook.misuse import refuse_misfit
from rulelab.notebook.names import parameters_of

TEXT = """
import rulelab as rl

def scaled(x: Nowhere, *, k: Missing = 2.0) -> Absent:
    return k * x * x

class Pair:
    a: Nowhere
    b: float = 1.0
"""


@pytest.fixture
def names(cells):
    if sys.version_info < (3, 14):
        pytest.skip("annotations are computed where they stand")
    return cells.run(TEXT)


def test_they_are_read_as_texts(names):
    assert annotations_of(names["scaled"]) == {"x": "Nowhere", "k": "Missing", "return": "Absent"}
    assert annotations_of(names["Pair"]) == {"a": "Nowhere", "b": "float"}
    assert str(signature_of_callable(names["scaled"])) == "(x: 'Nowhere', *, k: 'Missing' = 2.0) -> 'Absent'"


def test_the_function_is_differentiated_and_has_a_stub(names):
    scaled = names["scaled"]
    assert rl.gradient(scaled, 3.0) == (12.0,)
    assert "def scaled_rrule(x, *, k" in str(rl.rule_stub(scaled))


def test_a_magic_says_what_its_function_needs(names):
    """The arguments that are missing, and those that do not fit."""
    scaled = names["scaled"]
    assert parameters_of(scaled) == "x"
    with pytest.raises(MagicError, match="do not fit scaled"):
        refuse_misfit(RuleLab.grad_compare, scaled, "scaled", Invocation(scaled, (1.0, 2.0), {}))


def test_a_rule_names_what_is_missing(names):
    def rule(x):
        return x, lambda y_bar: (rl.NoTangent(), y_bar)

    rule.__annotate__ = names["scaled"].__annotate__
    with pytest.raises(RuleRegistrationError, match="Nowhere, which is not defined"):
        rl.rrule_for(names["scaled"])(rule)


def test_what_is_no_function_of_pythons_raises_as_inspect_does():
    for thing, kind in ((3, TypeError), (type, ValueError)):
        with pytest.raises(kind):
            inspect.signature(thing)
        with pytest.raises(kind):
            signature_of_callable(thing)
    assert annotations_of(3) == {}
