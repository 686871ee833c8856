"""The tour: it tells the whole story quickly, and leaves with 0 only if every number in it is right."""

import json
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from rulelab.compiler.calls.cache import DEFAULT as CACHE
from rulelab.notebook import tour
from rulelab.notebook.tour import Chapter, Check


@pytest.mark.slow
def test_the_tour_tells_every_case_and_all_is_right_and_can_be_told_again(capsys):
    """Each function of the story appears, each number has its reference beside it, and none is wrong; no
    rule, no mode and no listener is left behind that would change a second telling.
    """
    before = (CACHE.mode, list(CACHE.on_notice))
    assert tour.main() == 0
    told = capsys.readouterr().out
    for name in ("addone", "exception", "safe_sqrt", "mse", "sum3", "jclock", "area", "cube"):
        assert f"def {name}(" in told, name
    assert "MutationError: Mutating arrays is not supported" in told
    assert "the code above, line 3, in addone: b[:] = a + 1" in told
    assert "according to" in told and "finite differences" in told
    assert "wrong\n" not in told and "failed" not in told
    assert tour.main() == 0
    assert (CACHE.mode, list(CACHE.on_notice)) == before


@pytest.mark.rest
def test_it_takes_less_than_twenty_seconds():
    """As a command of its own, imports included, of a processor that it need not share."""
    start = _of_processes_that_have_ended()
    done = subprocess.run([sys.executable, "-m", "rulelab", "tour"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert _of_processes_that_have_ended() - start < 20


def _of_processes_that_have_ended():
    used = os.times()
    return used.children_user + used.children_system


def test_a_wrong_gradient_is_found(monkeypatch, capsys):
    """A number that is off by a millionth anywhere fails the tour, and the line that is wrong says so."""

    def slightly_off(f, *args):
        return tuple(None if x is None else x * (1 + 1e-6) for x in gradient(f, *args))

    gradient = tour.gradient
    monkeypatch.setattr(tour, "gradient", slightly_off)
    assert tour.main(tour.CHAPTERS[3:4]) == 1
    told = capsys.readouterr().out
    assert "wrong\n" in told and "1 of 7 results are as they should be" in told


def test_an_error_that_does_not_come_is_found(monkeypatch, capsys):
    """A derivative where there should be a refusal fails the tour."""
    monkeypatch.setattr(tour, "_refusal", lambda ask: None)
    assert tour.main(tour.CHAPTERS[:1]) == 1
    assert "no error" in capsys.readouterr().out


def test_a_part_that_breaks_off_fails_the_tour_and_the_rest_is_told(capsys):
    """The story goes on after it."""

    def breaks(user):
        yield Check("one", 1.0, 1.0, "count")
        raise OSError("the lights went out")

    def goes_on(user):
        yield Check("two", 2.0, 2.0, "count")

    assert tour.main([Chapter("Dark", breaks), Chapter("Light", goes_on)]) == 1
    told = capsys.readouterr().out
    assert "This part failed: OSError: the lights went out" in told
    assert "2 of 2 results are as they should be. 1 part failed." in told


def test_a_tour_for_programs_and_for_github(capsys):
    """What was found is all that is said, and what is not as it should be is annotated."""

    def breaks(user):
        yield Check("one", 1.0, 2.0, "count")
        raise OSError("the lights went out")

    assert tour.main([Chapter("Dark", breaks)], "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "wrong" and told["parts"][0]["error"] == "OSError: the lights went out"
    assert told["parts"][0]["checks"][0]["should be"] == "2"
    assert tour.main([Chapter("Dark", breaks)], "github") == 1
    assert capsys.readouterr().out.splitlines() == [
        "::error title=1. Dark::one: 1, not 2",
        "::error title=1. Dark::OSError: the lights went out",
    ]


def test_a_tour_without_a_single_number_fails(capsys):
    """Nothing checked is not all right."""
    assert tour.main([]) == 1


@pytest.mark.parametrize(
    "found, expected, right",
    [
        (1.0, 1.0 + 1e-9, True),
        (1.0, 1.0 + 1e-7, False),
        (1e9, 1e9 + 1.0, True),
        (np.ones(3), np.ones(3), True),
        (np.ones(3), np.ones(4), False),
        (np.ones(1), 1.0, False),
        (math.nan, math.nan, False),
        (math.inf, math.inf, False),
        (None, 0.0, False),
        ("PROVED", "PROVED", True),
        ("PROVED", "REFUTED", False),
        ("1.0", 1.0, False),
    ],
)
def test_what_counts_as_right(found, expected, right):
    """Within 1e-8 of its size, of the same shape and finite; words word for word."""
    assert Check("it", found, expected, "hand").right is right
