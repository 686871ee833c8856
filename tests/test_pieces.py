"""A measurement in pieces can be stopped between any two, and gives what there is."""

import gc

import pytest

from rulelab.pieces import Pace, Progress, run
from rulelab.tables import Page, Report


class Told(Report):
    def __init__(self, done, interrupted):
        self.done, self.interrupted = done, interrupted

    def page(self):
        return Page((f"{self.done} pieces",))


class Counting:
    """Three pieces, of which one may raise."""

    def __init__(self, raises=None):
        self.done, self.raises = 0, raises

    def pieces(self):
        for number in range(3):
            if number == 2 and self.raises is not None:
                raise self.raises
            self.done += 1
            yield Progress(self.done, 3, "counting")

    def result(self, *, interrupted=False):
        return Told(self.done, interrupted)


def test_all_pieces_are_done():
    """Without an interrupt the report is of the whole."""
    found = run(Counting())
    assert (found.done, found.interrupted) == (3, False)


def test_ctrl_c_gives_what_there_is():
    """An interrupt ends it and is in the report; nothing measured is lost."""
    found = run(Counting(KeyboardInterrupt()))
    assert (found.done, found.interrupted) == (2, True)


def test_other_errors_are_the_callers():
    """A function that cannot be called is not timed, and says so itself."""
    with pytest.raises(ZeroDivisionError):
        run(Counting(ZeroDivisionError()))



def test_the_collector_is_on_again_whenever_it_was_interrupted(monkeypatch):
    """Also where timeit had no time to see to it."""

    class Off:
        def pieces(self):
            gc.disable()
            raise KeyboardInterrupt
            yield

        def result(self, *, interrupted=False):
            return interrupted

    assert run(Off()) is True and gc.isenabled()


def test_the_end_is_estimated_by_what_goes_on_now():
    """A third of the bar was done at once, and what follows is slow: an estimate by the whole would be wrong
    by a factor of a thousand.
    """
    pace = Pace(0.0)
    assert pace.left(1 / 3, 0.5) is None
    for tenth in range(10, 200):
        now = tenth / 10
        left = pace.left(1 / 3 + now / 10_000, now)
    assert left == pytest.approx(2 / 3 * 10_000, rel=0.05)
    assert pace.left(1.0, 30.0) is None


def test_a_pace_keeps_few_moments():
    """However long a run is and however short its pieces are."""
    pace = Pace(0.0)
    for number in range(100_000):
        pace.left(number / 100_000, number / 500)
    assert len(pace._seen) < 1_000
