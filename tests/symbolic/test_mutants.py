"""Our own rules with one slip each are never proved; those that are, are right rules in disguise, and listed."""

import warnings

import pytest
from mutants import ARRAYS, SCALAR, all_mutants, cases, escaped, fate, is_equivalent, mutants_of, summary

from rulelab.rules.targets import name_of

TABLES = (*SCALAR, *ARRAYS)
EQUIVALENT = {
    "wrong sign on a half-line": {
        "the function has no value, or no derivative, at a negative argument": (
            "log log2 log10 sqrt acosh arccosh pow power float_power"
        ),
    },
}
"""Slips that change nothing, by kind and reason, and the rules of which that is so."""


def _sample():
    """A handful of slips from every table."""
    for name in TABLES:
        for case in [case for case in cases(name)[5::24] if case.points and not isinstance(case.target, type)]:
            args, kwargs = case.points[-1]
            yield from list(mutants_of(case, args, kwargs))[3::7]


@pytest.mark.parametrize("mutant", _sample(), ids=str)
def test_a_sample_of_wrong_rules_is_not_proved(mutant):
    """A rule of ours with a slip in it is not proved, unless it is the same function after all."""
    found = fate(mutant)
    assert found.word != "PROVED" or found.equivalent, found.sentence


def test_the_test_of_equivalence_tells_a_millionth():
    """It finds a right rule the same as itself, and one that is a millionth off another."""
    (case,) = [case for case in cases("python_math") if str(case).endswith("math.sin")]
    found = {m.kind: m for m in mutants_of(case, *case.points[0])}
    same = found["sign"]._replace(rule=found["sign"].right)
    assert is_equivalent(same) and not is_equivalent(found["a millionth more"])


@pytest.mark.campaign
@pytest.mark.parametrize("name", TABLES)
def test_no_wrong_rule_is_proved(name):
    """Of all slips in all of our rules none is proved that makes a difference; what is proved is listed here
    with the reason why it is no slip."""
    warnings.simplefilter("ignore")
    fates = [fate(mutant) for mutant in all_mutants(name)]
    print("\n".join(summary(fates)))
    assert not escaped(fates)
    assert not [f for f in fates if f.word == "PROVED" and not _is_listed(f.mutant)]


def _is_listed(mutant):
    rule = name_of(mutant.case.target).rpartition(".")[2]
    return any(rule in rules.split() for rules in EQUIVALENT.get(mutant.kind, {}).values())
