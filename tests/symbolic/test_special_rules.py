"""The rules of `scipy.special` are proved as identities where the prover knows the function, and wrong ones
are refuted.
"""

import pytest

pytest.importorskip("scipy.special")

from special_rules import REASONS, ROWS, is_asked, judged, spoilt  # noqa: E402

ASKED = [row for row in ROWS.values() if is_asked(row)]
PROVED = [row for row in ASKED if row.name not in REASONS]
FAMILIES = ["gamma", "betaln", "gammainc", "erf", "xlogy", "jv", "ellipk", "hyp2f1", "eval_legendre", "chdtr"]
MISTAKES = {
    "sign": lambda bar, x: -bar,
    "factor": lambda bar, x: 2 * bar,
    "a thousandth": lambda bar, x: 1.001 * bar,
    "constant": lambda bar, x: bar + 0.25,
    "argument": lambda bar, x: bar * x,
    "inverse": lambda bar, x: bar / x,
    "squared": lambda bar, x: bar * bar * 3,
    "zero": lambda bar, x: 0 * bar,
    "shifted": lambda bar, x: bar + x / 100,
    "halved": lambda bar, x: bar / 2,
}


@pytest.mark.every(61)
@pytest.mark.parametrize("row", ASKED, ids=[row.name for row in ASKED])
def test_no_rule_is_refuted_and_those_known_are_proved(row):
    """A verdict of "wrong" is one on a rule of ours: there is none."""
    word, sentence = judged(row)
    assert word != "REFUTED", sentence
    if row.name in REASONS:
        assert word != "PROVED", f"{row.name} is proved: take its reason away"


@pytest.mark.every(37)
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_ten_mistakes_in_each_family_are_refuted(name, mistake):
    """A sign, a factor, another power of the argument."""
    word, sentence = judged(ROWS[name], rule=spoilt(ROWS[name], MISTAKES[mistake]))
    assert word == "REFUTED", sentence
