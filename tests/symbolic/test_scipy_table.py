"""docs/reference/scipy.md says what rules for functions of SciPy there are, and how each is known."""

import collections

import pytest

pytest.importorskip("scipy.special")

from scipy_table import PAGE, ROWS, VERSION, WHOLE, known, page, version_of, words_on  # noqa: E402
from special_rules import is_asked, judged  # noqa: E402

TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.skipif(
    version_of(TEXT) != VERSION, reason="written with another SciPy, which has other functions"
)
def test_the_page_is_up_to_date():
    """What the committed page says is what the rules say; `make scipy-table` writes it anew."""
    words = collections.defaultdict(str, words_on(TEXT))  # "" of a function that is new
    assert TEXT == page(words), "run `make scipy-table`"


@pytest.mark.skipif(
    version_of(TEXT) != VERSION, reason="written with another SciPy, which has other functions"
)
def test_each_rule_is_there_once():
    """No function with a rule is missing, and none is told of twice."""
    assert set(words_on(TEXT)) == {*ROWS, *WHOLE, "sph_harm_y"}
    assert TEXT.count("`jv(v, z)`") == 1


@pytest.mark.every(61)
@pytest.mark.parametrize("name", [name for name in words_on(TEXT) if name in ROWS])
def test_a_verdict_on_the_page_is_that_of_the_prover(name):
    """What is called proved is proved."""
    if is_asked(ROWS[name]):
        word, sentence = judged(ROWS[name])
        assert known(word) == known(words_on(TEXT)[name]), sentence
