"""Each verdict says its word, its reach and its reason in one sentence, and is data."""

import json
from types import SimpleNamespace

import pytest

from rulelab.symbolic import Agrees, Proved, Refuted, Undecided, Unsupported
from rulelab.symbolic.plan_judge import PlanJudge
from rulelab.symbolic.verdicts import to_dict


@pytest.mark.parametrize(
    ("verdict", "word", "sentence"),
    [
        (Proved("x > 0", "expansion", "none"), "PROVED", "right, PROVED for x > 0 (by expansion)"),
        (Refuted("gradient", "wrong sign"), "REFUTED", "wrong, REFUTED (gradient): wrong sign"),
        (
            Agrees(15, "3.14 is a rounded constant"),
            "AGREES",
            "right, but for rounded constants: it agrees to 15 digits, but is not an identity: 3.14 is a "
            "rounded constant",
        ),
        (
            Undecided(40, "too large"),
            "UNDECIDED",
            "cannot tell: it agrees to 40 digits at every sample, not proved: too large",
        ),
        (Unsupported("np.linalg.svd()"), "UNSUPPORTED", "not judged: np.linalg.svd()"),
    ],
)
def test_a_verdict_is_a_word_a_sentence_and_data(verdict, word, sentence):
    """The word is one of few, the sentence says the rest, and both are in the data."""
    assert verdict.word == word and verdict.sentence() == sentence
    data = json.loads(json.dumps(to_dict(verdict)))
    assert data["verdict"] == word and data["sentence"] == sentence


def test_a_proof_that_is_told_elsewhere_names_its_kinds_itself():
    """In a note below a refutation there is no scope to look at."""
    brief = "one kind of arguments (named below); float64"
    alone = Proved("a: number", "expansion", "none", brief).sentence_alone()
    assert alone == "right, PROVED for a: number (by expansion)"
    assert Proved("a", "b", "none", "numbers").sentence_alone() == "right, PROVED for numbers"


@pytest.mark.parametrize("is_meant", [True, False])
def test_a_refutation_where_nobody_means_it_is_never_handed_over(is_meant):
    """Not for a moment: what was handed over last is the answer if somebody stops the check."""
    refuted, handed = Refuted("gradient", "wrong sign"), []
    judge = SimpleNamespace(
        proofs=(),
        evidence=SimpleNamespace(excludes=lambda verdict: not is_meant),
        make=lambda verdict, *rest: verdict,
        hand_over=handed.append,
    )
    assert PlanJudge.say(judge, refuted) is refuted
    assert (handed == [refuted]) is is_meant and len(handed) == 1
