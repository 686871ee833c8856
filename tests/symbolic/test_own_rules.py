"""Our own rules are proved; a few in the default suite, all of them in the campaign."""

import pytest
from own_rules import ARRAYS, COMPLEX, SCALAR, cases, complex_cases, judge

SAMPLE = [case for name in SCALAR for case in cases(name)[3::16]]
SAMPLE += [case for name in ARRAYS[:3] for case in cases(name)[2::20]]
PLANE = [case for name in COMPLEX[:5] for case in complex_cases(name)[1::9]]
ELEMENTWISE = ("numpy_elementwise", "operators", "python_cmath")


@pytest.mark.parametrize("case", [case for case in SAMPLE if not isinstance(case.target, type)], ids=str)
@pytest.mark.every(19)
def test_a_sample_of_our_rules_is_proved(case):
    """Rules of the package hold as identities, not only at the points where they were tried."""
    found = judge(case)
    assert found.word in ("PROVED", "NOT JUDGED"), found.sentence
    assert not found.warnings


@pytest.mark.parametrize("case", PLANE, ids=str)
@pytest.mark.every(13)
def test_a_sample_of_our_rules_is_proved_for_complex_arguments(case):
    """Conjugates stand where they belong in rules that take complex numbers."""
    found = judge(case, 20.0)
    assert found.word in ("PROVED", "NOT JUDGED"), found.sentence


@pytest.mark.campaign
@pytest.mark.parametrize("name", COMPLEX)
def test_none_of_our_rules_is_refuted_for_complex_arguments(name):
    """No rule of the package is wrong for complex numbers; the elementwise ones are proved, all of them."""
    judged = [judge(case, 20.0) for case in complex_cases(name)]
    assert not [j for j in judged if j.word == "REFUTED"]
    counted = [j for j in judged if j.word != "NOT JUDGED"]
    proved = sum(j.word == "PROVED" for j in counted)
    assert proved >= (1 if name in ELEMENTWISE else 0.3) * len(counted), f"{proved} of {len(counted)}"


@pytest.mark.campaign
@pytest.mark.parametrize("name", [*SCALAR, *ARRAYS])
def test_none_of_our_rules_is_refuted(name):
    """No rule of the package is wrong, nor where cells meet but for those known; of those for numbers and
    elementwise ones 95% are proved."""
    judged = [judge(case) for case in cases(name)]
    assert not [j for j in judged if j.word == "REFUTED"]
    assert not [j for j in judged if j.warnings]
    counted = [j for j in judged if j.word != "NOT JUDGED"]
    proved = sum(j.word == "PROVED" for j in counted)
    assert proved >= (0.95 if name in SCALAR else 0.3) * len(counted), f"{proved} of {len(counted)}"
