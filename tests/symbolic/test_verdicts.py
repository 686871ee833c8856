"""Each verdict says its word, its reach and its reason in one sentence, and is data."""

import json

import pytest

from rulelab.symbolic import Agrees, Proved, Refuted, Undecided, Unsupported
from rulelab.symbolic.verdicts import to_dict


@pytest.mark.parametrize(
    ("verdict", "word", "sentence"),
    [
        (Proved("x > 0", "expansion", "none"), "PROVED", "right, PROVED for x > 0 (by expansion)"),
        (Refuted("gradient", "wrong sign"), "REFUTED", "wrong, REFUTED (gradient): wrong sign"),
        (
            Agrees(15, "3.14 is a rounded constant"),
            "AGREES",
            "right, but for rounded constants: it agrees to 15 digits, and is not an identity: 3.14 is a "
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
