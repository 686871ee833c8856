"""The fifth notebook, run from top to bottom: its numbers say what its text says."""

import re

import pytest

from .ran import check_clean, check_stored

FILE = "notebooks/05-timing-honestly.ipynb"


def test_it_is_stored_as_it_should_be(stored):
    """Valid, without outputs, with names for its cells."""
    check_stored(stored)


@pytest.mark.rest
def test_no_cell_fails_and_none_prints_a_stray_warning(ran):
    """Run All goes through."""
    check_clean(ran)


@pytest.mark.rest
def test_ten_ratios_of_the_same_function_are_shown(ran):
    """And how long the very first gradient took."""
    first, ratios = ran.text("naive-first").strip().splitlines()
    assert re.search(r"the very first gradient: [\d.]+ ms, the second one: [\d.]+ ms", first)
    assert len(re.findall(r"\d+\.\d\d", ratios)) == 10


@pytest.mark.rest
def test_a_fixed_order_is_wrong_where_the_load_keeps_step(ran):
    """The simulation is seeded: of 100 duels of equal functions most are told wrongly, or few."""
    slow, in_step = re.findall(r"fixed order (\d+), random order (\d+)", ran.text("order-simulate"))
    assert max(map(int, slow)) < 20
    assert int(in_step[0]) > 80 and int(in_step[1]) < 20


@pytest.mark.rest
def test_the_bench_tells_equal_functions_from_a_rule(ran):
    """The equal pair's ratio is near 1; the rule wins."""
    low, high = map(float, re.search(r"interval ([\d.]+)x to ([\d.]+)x", ran.text("duel-same")).groups())
    assert low < 1.5 and high > 0.67  # however busy the machine is
    assert "gradient of mse_cr is faster than the gradient of mse" in ran.text("duel-bench")


@pytest.mark.rest
def test_the_first_gradient_stands_apart(ran):
    """Compiling is a line of its own."""
    text = ran.text("first-gradient")
    assert "first call" in text and "later call" in text and "only at the first" in text


@pytest.mark.rest
def test_loops_grow_and_arrays_do_not(ran):
    """The exponents say it."""
    grown = dict(re.findall(r"^(.+?)  +N\^(-?[\d.]+)", ran.text("size-scaling"), re.M))
    assert float(grown["gradient of mse"]) > 0.7
    assert float(grown["gradient of mse_cr"]) < 0.6


@pytest.mark.rest
def test_what_was_saved_is_compared(ran):
    """With the circumstances of both."""
    assert ran.text("record-compare").startswith("Before and now")
    assert "blas" in ran.text("record-environment")


@pytest.mark.rest
def test_the_panel_shows_the_pair(ran):
    """The same tables, and both lines of code."""
    assert "mse and mse_cr agree" in ran.text("size-lab") and "Time of one call" in ran.html("size-lab")
