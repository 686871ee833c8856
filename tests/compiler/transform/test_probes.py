"""A pass with probes computes what the pass without them does, and tells each of the author's lines."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import all_cases, assert_close, flat, same  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls import passes  # noqa: E402
from rulelab.compiler.calls.cache import Cache  # noqa: E402


class Diary:
    """Probes that write down what they are told: ("enter" | "line" | "leave", line or depth)."""

    def __init__(self):
        self.sites, self.told, self.depth = [], [], 0

    def sweep(self, code):
        self.sites.append((code.co_name, code.co_firstlineno))
        return len(self.sites) - 1

    def site(self, sweep, line):
        self.sites.append((self.sites[sweep][0], line - self.sites[sweep][1]))
        return len(self.sites) - 1

    def enter(self, number):
        self.told.append(("enter", self.sites[number]))
        self.depth += 1
        return self.depth - 1

    def tick(self, number):
        self.told.append(("line", self.sites[number]))

    def leave(self, depth):
        self.told.append(("leave", depth))
        self.depth = depth


def told_of(f, *args):
    diary = Diary()
    y, back = rl.pullback(f, *args, cache=Cache().probed(diary))
    forward, diary.told = diary.told, []
    back(1.0)
    return forward, diary.told


@pytest.mark.parametrize("number", range(15))
@pytest.mark.every(15)
def test_the_gradients_of_the_corpus_are_the_same_to_the_last_bit(number, monkeypatch):
    """Probes change nothing: values and gradients, also where lines raise, loop, branch and recurse; and
    every sweep that was begun is left.

    Whoever follows a pass sees calls, and so none is replaced by what it calls. Where that is done, what
    flows back to a variable is added in another order: those gradients agree but for a rounding.
    """
    count = 0
    for case in all_cases()[number::15]:
        diary = Diary()
        cache = Cache().probed(diary)
        args = case.points[0]
        quick = rl.withgradient(case.function, *args, **case.kwargs)
        with monkeypatch.context() as patch:
            patch.setattr(passes, "_inlines", lambda pullbacks, function: False)
            plain = rl.withgradient(case.function, *args, cache=Cache(), **case.kwargs)
        probed = rl.withgradient(case.function, *args, cache=cache, **case.kwargs)
        assert same(tuple(plain), tuple(probed)), case.name
        assert same(quick.val, probed.val), case.name
        for i in case.active(args):
            found, wanted = (flat(answer.grad[i], args[i]) for answer in (probed, quick))
            assert_close(found, wanted, 1e-14, case.name)
        assert diary.depth == 0, case.name
        count += bool(diary.told)
    assert count > 20


def test_the_lines_are_told_in_the_order_they_run():
    """Forwards as written, backwards from the last; a call enters the other function in between."""

    def inner(x):
        return x * x

    def outer(x):
        a = 2.0 * x
        b = inner(a)
        return a * b

    forward, reverse = told_of(outer, 3.0)
    assert forward == [
        ("enter", ("outer", 0)), ("line", ("outer", 1)), ("line", ("outer", 2)),
        ("enter", ("inner", 0)), ("line", ("inner", 1)), ("leave", 1),
        ("line", ("outer", 3)), ("leave", 0),
    ]  # fmt: skip
    lines = [what for kind, what in reverse if kind == "line"]
    assert lines.index(("outer", 2)) < lines.index(("outer", 1))
    assert [what for kind, what in reverse if kind == "enter"] == [("outer", 3), ("inner", 1)]


def test_a_loop_is_told_at_each_round():
    """Its line and those of its body, as often as they run."""

    def loop(x):
        s = 0.0
        for i in range(len(x)):
            t = x[i] * 2.0
            s = s + t * t
        return s

    forward, _ = told_of(loop, np.ones(4))
    counts = {line: forward.count(("line", ("loop", line))) for line in (3, 4)}
    assert counts == {3: 4, 4: 4}


def test_an_error_on_the_way_leaves_the_caller_where_it_was():
    """A sweep that is broken off does not count as the caller of what comes after."""

    def fails(x):
        if x > 0:
            raise ValueError("no")
        return x

    def catches(x):
        k = 1.0
        try:
            fails(3.0)
        except ValueError:
            k = 2.0
        return k * x

    forward, _ = told_of(catches, 3.0)
    assert forward[-1] == ("leave", 0)


def test_passes_of_libraries_and_stand_ins_are_not_told():
    """Their lines are nobody's who profiles; their time is the caller's."""
    np.polyval([1.0, 2.0], 3.0)
    forward, _ = told_of(lambda x: np.polyval(x, 2.0), np.ones(3))
    assert {what[0] for kind, what in forward if kind != "leave"} == {"<lambda>"}


def test_other_caches_have_no_probes():
    """Only the cache that asked for probes pays for them."""
    cache = Cache()
    diary = Diary()
    cache.probed(diary)
    rl.gradient(lambda x: x * x, 3.0, cache=cache)
    assert diary.told == [] and cache.probes is None


@pytest.mark.parametrize("mode", ["auto", "manual"])
def test_a_probed_cache_answers_as_its_original(mode):
    """It has the refresh mode and the answers that were given so far."""
    cache = Cache()
    cache.refresh(mode)
    assert cache.probed(Diary()).mode == mode
