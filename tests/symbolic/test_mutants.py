"""Our own rules with one slip each are not proved; what is proved is a right rule in disguise, and listed."""

import warnings

import pytest
from mutants import ARRAYS, SCALAR, all_mutants, cases, escaped, fate, is_equivalent, mutants_of, summary

from rulelab.rules.targets import name_of

TABLES = (*SCALAR, *ARRAYS)
ALL_ALIKE = (
    "math.fsum sum np.sum ndarray.sum np.mean ndarray.mean np.average np.nansum np.nanmean np.add.reduce "
    "fmean"
)
EQUIVALENT = {
    # No value at a negative argument; of a power with a free exponent none but at whole exponents, which
    # the scope of the verdict (x > 0) leaves out.
    "wrong sign on a half-line": (
        "math.log math.log2 math.log10 math.sqrt math.acosh math.pow operator.pow pow np.log np.log2 "
        "np.log10 np.sqrt np.arccosh np.power np.float_power "
        "np.power.outer np.float_power.outer"
    ),
    # The entries of the cotangent are one number (for `np.where` and the trapezoids: from either end).
    "reversed": f"{ALL_ALIKE} np.where np.trapezoid",
    "rolled": ALL_ALIKE,
    "meaned": ALL_ALIKE,
    "columns reversed": "ndarray.sum ndarray.mean np.average pow",
    # The cotangent is symmetric, or has one row; the argument is, for `cholesky`, and its scope says so.
    "transposed": (
        "ndarray.sum ndarray.mean np.average pow np.trace np.linalg.trace np.choose np.linalg.cholesky"
    ),
    # Both arguments have the same cotangent.
    "swapped": "operator.add np.add",
    # The entry is zero as it is: the one that was not taken.
    "one entry zero": "np.where operator.getitem np.take ndarray.take np.extract np.select",
    # The entry is a constant's: of the padding, or where another argument is taken that is held fixed.
    "one entry of the seed dropped": "np.pad scatter np.select",
    # The seed is summed along that axis, or has one entry there.
    "seed reversed": "np.broadcast_to np.tile np.atleast_2d np.atleast_3d full np.full_like np.nextafter",
}
"""Slips that change nothing, and the rules of which that is so."""


def _sample():
    """A handful of slips from every table."""
    for name in TABLES:
        for case in [
            case for case in cases(name)[5::24] if case.points and not isinstance(case.target, type)
        ]:
            args, kwargs = case.points[-1]
            yield from list(mutants_of(case, args, kwargs))[3::6]


@pytest.mark.every(11)
@pytest.mark.parametrize("mutant", list(_sample()), ids=str)
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
    return name_of(mutant.case.target) in EQUIVALENT.get(mutant.kind, "").split()
