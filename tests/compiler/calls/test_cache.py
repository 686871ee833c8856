"""Compiled passes are used as long as all they took for granted holds, and forgotten with their functions."""

import gc
import tracemalloc
import types
import warnings

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import Cache, StaleRuleWarning, guard_of, refresh
from rulelab.errors import RuleLabError
from rulelab.rules.registry import DEFAULT


@pytest.fixture
def cache():
    """A cache of its own."""
    return Cache()


def gradient(f, *args, cache):
    return rl.gradient(f, *args, cache=cache)


# --- guards ---


def test_guard_of_identity():
    """A name that was taken for one object must be that object, in the globals or else in the builtins."""
    guard = guard_of({"np": np, "len": len}, {}, [])
    assert guard({"np": np})
    assert not guard({"np": types})
    assert not guard({})
    assert not guard({"np": np, "len": sum})
    assert guard({"np": np, "len": len})


def test_guard_of_kind():
    """A global that was taken for a number of some type may have another value, not another type."""
    guard = guard_of({}, {"k": float}, [])
    assert guard({"k": 1.0}) and guard({"k": 2.0})
    assert not guard({"k": 1}) and not guard({"k": np.ones(2)}) and not guard({})


def test_guard_of_attribute():
    """A function of a module must still be the one that was taken."""
    module = types.ModuleType("m")
    module.f = len
    guard = guard_of({}, {}, [(module, "f", len)])
    assert guard({})
    module.f = sum
    assert not guard({})
    del module.f
    assert not guard({})


def test_globals_that_change_their_kind(cells):
    """A global number that becomes an array, or a module that becomes another, is met by a new pass."""
    names = cells.run("import math as m\nk = 2.0\ndef f(x):\n    return m.sin(x) * k\n")
    f = names["f"]
    assert rl.gradient(f, 0.0) == (2.0,)
    names["k"] = np.float64(3.0)
    assert rl.gradient(f, 0.0) == (3.0,)
    names["k"] = np.array([1.0, 2.0])
    with pytest.raises(rl.ScalarOutputError):
        rl.gradient(f, 0.0)
    names["k"], names["m"] = 2, types.SimpleNamespace(sin=lambda x: x * x)
    assert rl.gradient(f, 3.0) == (12.0,)


# --- reuse and memory ---


def test_passes_are_used_again(cache):
    """The same function and kinds of arguments are compiled once; another kind once more."""

    def f(x):
        return x * x

    for x in (1.0, 2.0, 3.0):
        assert gradient(f, x, cache=cache) == (2 * x,)
    assert len(cache) == 1
    gradient(f, np.float64(1.0), cache=cache)
    assert len(cache) == 2


def test_closures_of_one_factory_share(cache):
    """A hundred closures made of one text are one pass."""
    make = lambda k: lambda x: k * x
    assert [gradient(make(float(k)), 1.0, cache=cache) for k in range(100)] == [
        (float(k),) for k in range(100)
    ]
    assert len(cache) == 1


def test_passes_go_with_their_functions(cells, cache):
    """The cache is as long as before when the functions that were differentiated are gone."""
    rl.gradient(lambda x: x, 1.0, cache=cache)
    before = len(cache)
    cells.run("def g(x):\n    return x * 3.0\ndef f(x):\n    h = lambda u: u * u\n    return g(h(x))\n")
    assert gradient(cells.names["f"], 2.0, cache=cache) == (12.0,)
    assert len(cache) > before
    cells.names.clear()
    gc.collect()
    assert len(cache) <= before


def test_the_number_of_signatures_is_bounded(cache):
    """A function called with ever new kinds of arguments keeps a bounded number of passes."""

    def f(t):
        return t[0] * 2.0

    for size in range(1, 300):
        assert gradient(f, (1.0,) * size, cache=cache)[0][0] == 2.0
    assert len(cache) <= 256


@pytest.mark.parametrize("times", [40, pytest.param(1000, marks=pytest.mark.campaign)])
def test_redefinitions_leak_nothing(cells, times):
    """A cell run again and again, its function holding 100 kB, keeps less than 1 kB each time.

    A table of the process that is renewed meanwhile (names that CPython interned, a dictionary that was here
    before tracing began) counts as kept, once. A leak shows in each round: the best of some rounds tells.
    """
    text = "import numpy as np\ndef f(x, data=np.zeros(12500)):\n    return x * x + data[0]\n"
    text += "def g(x):\n    return f(x)\n"

    def rerun(times):
        for _ in range(times):
            cells.run(text, "<cell run again and again>")
            assert rl.gradient(cells.names["g"], 3.0) == (6.0,)
            assert rl.gradient(cells.names["f"], 3.0) == (6.0,)
        gc.collect()

    def kept_by(times):
        before = tracemalloc.get_traced_memory()[0]
        rerun(times)
        return tracemalloc.get_traced_memory()[0] - before

    rerun(20)
    tracemalloc.start()
    kept = next((kept for kept in (kept_by(times) for _ in range(6)) if kept < 1e3 * times), None)
    tracemalloc.stop()
    assert kept is not None, "1 kB or more each time, in six rounds of six"


def test_rules_redefined_leak_nothing():
    """A rule written a hundred times, each holding 100 kB, keeps less than 1 MB."""

    def f(x):
        return x

    def state(k):
        data = np.full(12500, float(k))
        rl.rrule_for(f)(lambda x: (x, lambda y_bar: (rl.NoTangent(), data[0] * y_bar)))

    def restate(times):
        for k in range(times):
            state(k)
            assert rl.gradient(f, 1.0) == (float(k),)
            assert rl.gradient(lambda x: f(x) * 2.0, 1.0) == (2.0 * k,)
        gc.collect()

    restate(3)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    restate(100)
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 1e6, f"{kept / 1e6:.1f} MB"


# --- modes ---


def ruled_function():
    def squared(x):
        return x * x

    return squared, lambda x: squared(x) + 1.0


def state(f, slope):
    rl.rrule_for(f)(lambda x: (f(x), lambda y_bar: (rl.NoTangent(), slope * y_bar)))


def test_auto(cache):
    """In mode auto a rule counts from the moment it is defined, and nothing is said."""
    squared, f = ruled_function()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradient(f, 3.0, cache=cache) == (6.0,)
        state(squared, 10.0)
        assert gradient(f, 3.0, cache=cache) == (10.0,)
        rl.remove_rule(squared)
        assert gradient(f, 3.0, cache=cache) == (6.0,)


def test_manual(cache):
    """In mode manual the old derivative is used, with a notice that names the function, until a refresh."""
    squared, f = ruled_function()
    gradient(f, 3.0, cache=cache)
    assert repr(cache.refresh("manual")).startswith("refresh mode: manual")
    state(squared, 10.0)
    for _ in range(2):
        with pytest.warns(StaleRuleWarning, match=r"squared.*%grad_refresh"):
            assert gradient(f, 3.0, cache=cache) == (6.0,)
    cache.refresh()
    assert cache.mode == "manual"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradient(f, 3.0, cache=cache) == (10.0,)


def test_manual_keeps_a_removed_rule(cache):
    """In mode manual a rule that was removed is used on, as long as the answer is frozen."""
    squared, f = ruled_function()
    state(squared, 10.0)
    gradient(f, 3.0, cache=cache)
    cache.refresh("manual")
    rl.remove_rule(squared)
    gc.collect()
    with pytest.warns(StaleRuleWarning):
        assert gradient(f, 3.0, cache=cache) == (10.0,)
    cache.refresh("auto")
    assert gradient(f, 3.0, cache=cache) == (6.0,)


def test_notices_can_be_taken(cache):
    """Who wants the notices gets them, and no warning is given."""
    squared, f = ruled_function()
    said = []
    cache.on_notice.append(said.append)
    gradient(f, 3.0, cache=cache)
    cache.refresh("manual")
    state(squared, 10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient(f, 3.0, cache=cache)
    assert len(said) == 1 and "squared" in said[0]


def test_what_a_refresh_reports(cache):
    """A refresh says which function was stale, for which types, and why, with the place of the rule."""

    def squared(x):
        try:  # so that it is called, and its text is no part of the caller's pass
            return x * x
        finally:
            pass

    def f(x):
        return squared(x) + 1.0

    gradient(f, 3.0, cache=cache)
    cache.refresh("manual")
    state(squared, 10.0)
    report = cache.refresh()
    (row,) = [s for s in report.stale if s.function.endswith("squared")]
    assert row.signature == "float"
    assert "a rule was defined" in row.reason and "test_cache.py" in row.reason
    assert str(report).startswith("refresh mode: manual; ") and "squared(float)" in str(report)
    assert cache.refresh().stale == ()


def test_what_a_refresh_reports_of_a_captured_function(cache):
    """Its text stands in the pass of its caller, which is stale."""
    squared, f = ruled_function()
    gradient(f, 3.0, cache=cache)
    cache.refresh("manual")
    state(squared, 10.0)
    report = cache.refresh()
    (row,) = report.stale
    assert row.signature == "float" and "rules of" in row.reason and "squared changed" in row.reason
    assert cache.refresh().stale == ()


def test_manual_after_a_rule_of_a_captured_function(cache):
    """What was compiled before the rule came does not come to count again, nor does it for another function
    of the same text.
    """

    def make(slope):
        def squared(x):
            return x * x

        if slope is not None:
            state(squared, slope)
        return squared, lambda x: squared(x) + 1.0

    squared, f = make(None)
    assert gradient(f, 3.0, cache=cache) == (6.0,)
    state(squared, 10.0)
    assert gradient(f, 3.0, cache=cache) == (10.0,)
    cache.refresh("manual")
    assert gradient(f, 3.0, cache=cache) == (10.0,)
    cache.refresh("auto")
    _, plain = make(None)
    assert gradient(plain, 3.0, cache=cache) == (6.0,)
    cache.refresh("manual")
    _, ruled = make(20.0)
    assert gradient(ruled, 3.0, cache=cache) == (20.0,)


@pytest.mark.parametrize(
    "change, reason", [("redefine", "redefined"), ("remove", "removed"), ("opt out", "opted out")]
)
def test_reasons(cache, change, reason):
    """The reason tells a redefined rule from one removed and one opted out of."""
    squared, f = ruled_function()
    state(squared, 10.0)
    gradient(f, 3.0, cache=cache)
    cache.refresh("manual")
    {
        "redefine": lambda: state(squared, 20.0),
        "remove": lambda: rl.remove_rule(squared),
        "opt out": lambda: rl.opt_out(squared),
    }[change]()
    assert reason in str(cache.refresh())


def test_inlined_rules_are_reported(cache):
    """A pass that wrote a library's derivative out is stale when that gets a rule of the author's."""

    def f(x):
        return np.cbrt(x) * 3.0

    before = gradient(f, 8.0, cache=cache)
    assert before == (pytest.approx(0.25),)
    cache.refresh("manual")
    rl.rrule_for(np.cbrt)(lambda x: (np.cbrt(x), lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
    try:
        with pytest.warns(StaleRuleWarning):
            assert gradient(f, 8.0, cache=cache) == before
        assert "cbrt" in str(cache.refresh())
        assert gradient(f, 8.0, cache=cache) == (21.0,)
    finally:
        rl.remove_rule(np.cbrt)
    assert rl.gradient(f, 8.0) == before


def test_unknown_mode(cache):
    """A mode that does not exist is refused, with those that do."""
    with pytest.raises(RuleLabError, match="'sometimes'") as caught:
        cache.refresh("sometimes")
    assert "auto or manual" in str(caught.value)
    assert cache.mode == "auto"


def test_refresh_as_a_function(cache):
    """The function answers for the cache it is given."""
    assert refresh("manual", cache=cache).mode == "manual" == cache.mode
    assert Cache().mode == "auto" and Cache(DEFAULT).registry is DEFAULT


def test_manual_with_a_default_left_out(cache):
    """In mode manual the old derivative counts too where the call leaves defaults or gives keywords."""

    def scaled(x, k=2.0):
        return x * x * k

    said = []
    cache.on_notice.append(said.append)
    assert gradient(scaled, 3.0, cache=cache) == (12.0,)
    assert gradient(lambda x: scaled(x=x), 3.0, cache=cache) == (12.0,)
    cache.refresh("manual")
    rl.rrule_for(scaled)(lambda x, k=2.0: (x, lambda y_bar: (rl.NoTangent(), 100.0 * y_bar, rl.NoTangent())))
    assert gradient(scaled, 3.0, cache=cache) == (12.0,) and len(said) == 1
    assert gradient(lambda x: scaled(x=x), 3.0, cache=cache) == (12.0,) and len(said) == 2
    cache.refresh()
    assert gradient(scaled, 3.0, cache=cache) == (100.0,)


def test_methods_of_c_code_are_the_same_at_each_access():
    """`np.add.reduce` is new each time it is read; a pass that calls it is not made anew for that."""
    guard = guard_of({}, {}, [(np.add, "reduce", np.add.reduce)])
    assert guard({}) and not guard_of({}, {}, [(np.add, "reduce", np.multiply.reduce)])({})
