"""The second notebook, run from top to bottom: its numbers say what its text says."""

import re

import pytest

from .ran import check_clean, check_stored

FILE = "notebooks/02-which-functions-need-rules.ipynb"
TABLE = re.compile(r"^(\w+), cell In \[\d+\], line \d+: ", re.M)
RATIO = re.compile(r"([\d.,]+)x as fast")
LONGER = re.compile(r"it takes ([\d.,]+)x the time")  # said of a rule that is slower


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


@pytest.mark.rest
def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


@pytest.mark.rest
def test_the_profile_finds_the_loop_and_then_the_rest(ran):
    """`roughness` is the hottest function at first; with its rule it is answered by that, at one line."""
    assert TABLE.findall(ran.text("profile-first"))[0] == "roughness"
    after = ran.text("profile-second")
    assert "roughness" not in TABLE.findall(after) and "rule roughness_cr_rrule" in after


@pytest.mark.rest
@pytest.mark.parametrize("cell", ["roughness-compare", "curve-compare", "valley-compare", "kepler-compare"])
def test_every_rule_agrees(ran, cell):
    """Before anything is timed, the gradients are the same."""
    assert re.search(r"^Right: \w+ and \w+ agree", ran.text(cell), re.M)


@pytest.mark.rest
def test_the_rule_of_the_loop_pays_in_the_whole_loss(ran):
    """Several times as fast; the closing words repeat the verdicts of the tables above them."""
    assert "gradient of loss_cr is faster than the gradient of loss" in ran.text("roughness-bench")
    first, second = ran.text("curve-verdict").splitlines()
    assert first.startswith("the rule of roughness: faster")
    assert _ratio(ran.text("roughness-bench")) == pytest.approx(float(first.split()[-4]), abs=0.051)
    assert _ratio(ran.text("curve-bench")) == pytest.approx(float(second.split()[-4]), abs=0.051)


@pytest.mark.rest
def test_the_same_rule_is_worth_more_to_autograd(ran):
    """At least ten times as much as to us."""
    assert ran.text("valley-autograd").strip() == "they agree: True"
    ours, theirs = ran.text("valley-duels").strip().splitlines()
    assert ours.startswith("rulelab: ") and theirs.startswith("autograd: the one with it is faster")
    assert _ratio(theirs) > 10 * _ratio(ours)


@pytest.mark.rest
def test_a_rule_for_something_small_does_harm(ran):
    """The last duel is lost by the rule."""
    assert "gradient of total_cr is slower than the gradient of total" in ran.text("square-bench")


def _ratio(text):
    if longer := LONGER.search(text):
        return 1 / float(longer[1].replace(",", ""))
    return float(RATIO.search(text)[1].replace(",", ""))
