"""What modules say of themselves: the code and objects that are known by it are those that they mean."""

import types

import pytest

import rulelab as rl
from rulelab import own_code
from rulelab.ad import marks, matrices, nested, nested_functions
from rulelab.ad.operator_arguments import PULLBACKS
from rulelab.compiler.front import ignoring
from rulelab.compiler.memory.walks import Walk
from rulelab.rules.capabilities import RuleConfig
from rulelab.rulesets import catalogue, numpy_elementwise
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import Thunk


@pytest.mark.parametrize("module", [nested, nested_functions, numpy_elementwise, catalogue])
def test_what_is_differentiated_itself(module):
    """Our own code that stands in for functions is no author's, wherever the package is installed."""
    assert own_code.is_stand_in(module.__file__)


@pytest.mark.parametrize("module", [matrices, ignoring, own_code])
def test_all_other_code_is_not(module):
    """Machinery is not compiled."""
    assert not own_code.is_stand_in(module.__file__)
    assert not own_code.is_stand_in(__file__)


def test_stand_ins_have_only_programs():
    """Every program that stands in for a function, or is a forward rule, is in a file that says so."""
    for table in catalogue.tables():
        for _, rule in table.rules:
            function = rule.function
            if isinstance(function, types.FunctionType) and function.__module__.startswith(rl.__name__):
                assert own_code.is_stand_in(function.__code__.co_filename), function.__qualname__


def test_kinds_of_objects():
    """Containers of values are looked into; the compiler's memory is nobody's state and holds nothing."""
    assert own_code.is_carrier(Thunk) and own_code.is_carrier(Tangent) and own_code.is_carrier(Walk)
    assert not own_code.is_carrier(type(PULLBACKS)) and not own_code.is_carrier(dict)
    assert own_code.is_record_keeper(type(PULLBACKS)) and not own_code.is_record_keeper(Thunk)
    assert own_code.is_without_authors(PULLBACKS) and own_code.is_without_authors(PULLBACKS.push)
    assert own_code.is_without_authors(PULLBACKS.config) and isinstance(PULLBACKS.config, RuleConfig)
    assert not own_code.is_without_authors(Thunk(lambda: 1.0)) and not own_code.is_without_authors([])


def test_what_hides_code():
    """Marks that run code out of sight are known, other functions are not."""
    assert own_code.may_hide(rl.ignore_derivatives) and own_code.may_hide(marks.showgrad)
    assert own_code.may_hide(rl.checkpointed) and own_code.may_hide(rl.forwarddiff)
    assert not own_code.may_hide(rl.gradient) and not own_code.may_hide(len)
