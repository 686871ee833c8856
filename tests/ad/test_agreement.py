"""A pass that does not compute what the function computes is caught, and nothing else raises that alarm."""

import itertools
import math
import random
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import all_cases  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.ad import reverse  # noqa: E402
from rulelab.ad.agreement import Compared, agree  # noqa: E402
from rulelab.ad.nested_functions import nth_derivative  # noqa: E402
from rulelab.compiler.analysis.effects import Noted, Watch, side_effect_of_call  # noqa: E402
from rulelab.compiler.calls.cache import DEFAULT, Cache  # noqa: E402
from rulelab.compiler.memory.holding import fields_of, holds_iterator  # noqa: E402
from rulelab.compiler.transform import specialise  # noqa: E402
from rulelab.rules.targets import resolve  # noqa: E402

NAN = float("nan")
CASES = [case for case in all_cases() if case.name.startswith(("arithmetic.", "branches.", "numerics."))]


@pytest.fixture
def first_use_only(monkeypatch):
    """The normal state: values are compared when a pass is new."""
    monkeypatch.setattr(Cache, "compare", "first")
    with rl.debug_mode(compare="first"):
        yield


@pytest.fixture
def wrong_compiler(monkeypatch):
    """A compiler that emits `-` for the author's `+`; what it made is forgotten afterwards."""
    right = specialise.primal_text
    monkeypatch.setattr(
        specialise, "primal_text", lambda op, texts, shared: right(op, texts, shared).replace(" + ", " - ")
    )
    DEFAULT.drop_passes()
    yield
    DEFAULT.drop_passes()


def adds(x):
    return x * x + 1.0


def calls_adds(x):
    return 2.0 * adds(x)


RNG = np.random.default_rng(0)


def draws_globally(x):
    return x * np.random.rand()


def draws_from_a_generator(x):
    return x * RNG.normal()


def draws_from_its_own(x):
    return x * np.random.default_rng(0).normal()


@pytest.mark.parametrize("f", [adds, calls_adds, lambda x: x + 1.0], ids=["itself", "callee", "lambda"])
@pytest.mark.usefixtures("first_use_only", "wrong_compiler")
@pytest.mark.parametrize("ask", [rl.gradient, rl.withgradient, rl.pullback])
def test_a_wrong_transform_is_caught_at_first_use(f, ask):
    """A sum that became a difference never gets as far as a gradient, also in a function called by mine."""
    with pytest.raises(rl.WrongTransformError) as caught:
        ask(f, 3.0)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("A bug in rulelab: the pass of ")
    assert lines[0].endswith(f"itself gives float {f(3.0)}") and " gives float " in lines[0]
    assert "report it" in str(caught.value) and len(lines) <= 6
    assert ("write a rule for " in str(caught.value)) is (f.__name__ != "<lambda>")
    assert caught.value.place.filename == __file__


@pytest.mark.every(3)
@pytest.mark.usefixtures("first_use_only", "wrong_compiler")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_no_wrong_value_of_the_corpus_comes_through(case):
    """Each function of the corpus has its right value or is caught, whatever became of its sums."""
    args = case.points[0]
    try:
        value = rl.withgradient(case.function, *args, **case.kwargs).val
    except rl.WrongTransformError:
        return
    assert agree(value, case.function(*args, **case.kwargs))


@pytest.mark.usefixtures("first_use_only", "wrong_compiler")
def test_a_caught_alarm_leaves_nothing_behind():
    """The wrong pass is not used by the next call either."""
    for _ in range(3):
        with pytest.raises(rl.WrongTransformError):
            rl.gradient(calls_adds, 3.0)


@pytest.mark.usefixtures("wrong_compiler")
def test_debug_mode_finds_what_is_already_compiled():
    """With compare=True a pass that was there before, and goes by the quick way, is compared."""
    with rl.debug_mode(compare=False):
        assert rl.withgradient(adds, 3.0).val == 8.0
        assert reverse._FIND(adds, (3.0,)) is not None
    with rl.debug_mode(compare="first"):
        assert rl.withgradient(adds, 3.0).val == 8.0
    with rl.debug_mode(compare=True), pytest.raises(rl.WrongTransformError):
        rl.gradient(adds, 3.0)


@pytest.mark.usefixtures("first_use_only", "wrong_compiler")
def test_a_branch_that_is_met_later_is_compared_then():
    """A callee that is compiled at a later call, behind another branch, is covered by that call."""

    def branches(x, which):
        if which:
            return adds(x)
        return x * x

    held = 1.0
    assert rl.gradient(lambda x: branches(x * held, False), 3.0) == (6.0,)
    with pytest.raises(rl.WrongTransformError):
        rl.gradient(lambda x: branches(x * held, True), 3.0)


@pytest.mark.usefixtures("first_use_only")
def test_an_error_where_there_is_none(monkeypatch):
    """A pass that raises where the function does not is a wrong transform too, and the other way round."""
    right = specialise.primal_text
    monkeypatch.setattr(
        specialise, "primal_text", lambda op, texts, shared: right(op, texts, shared).replace(" + ", " / ")
    )
    with pytest.raises(rl.WrongTransformError, match=r"gives ZeroDivisionError.*itself gives float 4\.0"):
        rl.gradient(lambda x: x * x + 0.0, 2.0)
    monkeypatch.setattr(
        specialise, "primal_text", lambda op, texts, shared: right(op, texts, shared).replace(" / ", " + ")
    )
    with pytest.raises(rl.WrongTransformError, match="itself gives ZeroDivisionError"):
        rl.gradient(lambda x, n: x * x / n, 2.0, 0)


@pytest.mark.usefixtures("first_use_only", "wrong_compiler")
def test_where_both_raise_the_error_is_the_authors():
    """A function that fails in plain Python fails with that error, whatever the pass stumbled over before."""

    def f(x):
        return {1.0: math.log}[x - x + 1.0](x + x - x - x) + math.sqrt(-1.0 - x * x)

    with pytest.raises(ValueError, match="math domain error|expected a positive input"):
        f(3.0)
    for _ in range(2):
        with pytest.raises(ValueError, match="math domain error|expected a positive input"):
            rl.gradient(f, 3.0)  # where sums are differences, a KeyError
    with rl.debug_mode(compare=True), pytest.raises(rl.WrongTransformError):
        rl.gradient(f, 3.0)


def test_the_functions_own_error_is_its_own():
    """An error that the function itself raises comes through as it is."""
    with pytest.raises(ZeroDivisionError):
        rl.gradient(lambda x: x / 0, 2.0)

    def refuses(x):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        rl.gradient(refuses, 2.0)


def counting(kind):
    """A function that does something besides, and the number of times that it did."""
    calls = []

    def log(*_):
        calls.append(1)
        return 1.0

    stream, rng = itertools.count(), random.Random(3)

    def prints(x):
        print("here")
        return x * x

    def opens_out_of_sight(x):
        return x * x * rl.ignore_derivatives(lambda: log())

    def draws(x):
        return x * x + 0.0 * rng.random()

    def consumes(x):
        return x * x + 0.0 * next(stream)

    f = {"print": prints, "ignored": opens_out_of_sight, "random": draws, "next": consumes}[kind]
    return f, calls, rng, stream


@pytest.mark.usefixtures("first_use_only")
def test_nothing_happens_twice(capsys):
    """What is printed, drawn, consumed or done out of sight happens once: the function is not run again."""
    f, *_ = counting("print")
    rl.gradient(f, 2.0)
    assert capsys.readouterr().out == "here\n"
    f, calls, *_ = counting("ignored")
    rl.gradient(f, 2.0)
    assert calls == [1]
    f, _, rng, _ = counting("random")
    rl.gradient(f, 2.0)
    reference = random.Random(3)
    reference.random()
    assert rng.random() == reference.random()
    f, _, _, stream = counting("next")
    rl.gradient(f, 2.0)
    assert next(stream) == 1


@pytest.mark.usefixtures("first_use_only")
@pytest.mark.parametrize("f", [draws_globally, draws_from_a_generator, draws_from_its_own])
def test_numpys_random_numbers_are_drawn_once(monkeypatch, f):
    """A seeded program goes on as it would without rulelab."""
    after = []
    for run in (lambda: f(2.0), lambda: 2.0 * rl.gradient(f, 2.0)[0]):
        monkeypatch.setitem(globals(), "RNG", np.random.default_rng(0))
        np.random.seed(0)
        after.append((run(), np.random.rand(), RNG.normal()))
    assert after[0] == pytest.approx(after[1])


@pytest.mark.usefixtures("first_use_only")
@pytest.mark.parametrize("where", ["argument", "inside", "captured", "attribute"])
def test_an_iterator_is_used_up_once(where):
    """A generator among the arguments, inside of one, captured or held by an object is read once."""
    stream = iter([1.0, 2.0, 3.0])

    @dataclass
    class Source:
        items: object

    taking = {
        "argument": (lambda x, s: x * x, (2.0, stream)),
        "inside": (lambda x, s: x * x, (2.0, [[stream]])),
        "captured": (lambda x: x * x if stream is not None else x, (2.0,)),
        "attribute": (lambda x, s: x * x, (2.0, Source(stream))),
    }
    f, args = taking[where]
    assert holds_iterator((f, *args))
    assert rl.gradient(f, *args)[0] == 4.0
    assert list(stream) == [1.0, 2.0, 3.0]


def test_a_function_of_the_time_raises_no_alarm():
    """A value that is another each time is no fault of the transform, whatever it is drawn from; it is asked
    for once.
    """

    class Clock:
        ticks = 0.0

        def __getattr__(self, name):
            Clock.ticks += 1.0
            return Clock.ticks

    clock = Clock()
    found = rl.gradient(lambda x: x * x + clock.now, 3.0)
    assert found == (6.0,) and Clock.ticks == 1.0


def test_a_rule_may_compute_its_own_value():
    """A rule of mine that rounds the primal is my business, deep inside or at the top."""

    def f(x):
        return x * x

    @rl.rrule_for(f)
    def f_rrule(x):
        return round(x * x, 1), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)

    for _ in range(2):
        assert rl.withgradient(f, 1.23).val == 1.5
        assert rl.withgradient(lambda x: 2 * f(x), 1.23).val == 3.0
    rl.remove_rule(f)


@pytest.mark.usefixtures("first_use_only")
def test_threads_watch_for_themselves():
    """What one thread prints does not keep the value of another from being compared."""
    watches, compared = DEFAULT.watches, []

    def elsewhere():
        watches.note(Noted.EFFECT)
        compared.append(watches)

    watch = Watch()
    watches.open(watch)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    watches.close()
    assert compared and watch.noted is Noted.NOTHING


def test_an_inner_gradient_is_watched_by_both():
    """What happens in a gradient that is taken inside a rule happens in the outer one too."""
    inner, outer, watches = Watch(), Watch(), DEFAULT.watches
    watches.open(outer)
    watches.open(inner)
    watches.note(Noted.UNSEEN)
    watches.close()
    watches.note(Noted.NOTHING)
    watches.note_ruled()
    watches.close()
    assert outer.noted is inner.noted is Noted.UNSEEN and outer.ruled and not inner.ruled


@pytest.mark.parametrize("many", [[[] for _ in range(20_000)], [1.0] * 2_000_000], ids=["parts", "items"])
def test_too_much_to_look_through(many):
    """Arguments that hold too much to search for iterators are not vouched for."""
    assert holds_iterator([many]) and not holds_iterator([many[:100]])


def test_what_a_derivative_holds_is_the_function_alone():
    """What the package keeps for itself, its registry with all the rules, is not looked through for it."""
    numbers = iter([1.0])
    assert not holds_iterator([nth_derivative(lambda x: x * x, 1)])
    assert holds_iterator([nth_derivative(lambda x: next(numbers) * x, 1)])


def test_objects_with_a_mind_of_their_own():
    """An object that answers every question with an error is looked into no further."""

    class Touchy:
        __slots__ = ()

        def __getattr__(self, name):
            raise RuntimeError(name)

    assert not holds_iterator([Touchy()]) and fields_of(Touchy()) == {}


@pytest.mark.usefixtures("first_use_only")
def test_a_steady_program_is_not_run_again(monkeypatch):
    """After the first use of a signature the function itself is never run."""
    runs = []

    def run_plainly(self, run=Compared._plain):
        runs.append(1)
        return run(self)

    monkeypatch.setattr(Compared, "_plain", run_plainly)

    def f(x):
        return x[0] * x[1]

    x = np.array([2.0, 3.0])
    for _ in range(3):
        rl.gradient(f, x)
        assert len(runs) == 1


@pytest.mark.usefixtures("first_use_only")
def test_a_long_run_is_not_repeated(monkeypatch):
    """Where the first sweep took long, the comparison is left out; in debug mode it is made."""
    from rulelab.ad import agreement

    monkeypatch.setattr(agreement, "_LONGEST", 0.0)
    right = specialise.primal_text
    monkeypatch.setattr(
        specialise, "primal_text", lambda op, texts, shared: right(op, texts, shared).replace(" + ", " - ")
    )
    long_run = lambda x: x * x + 1.0  # noqa: E731
    assert rl.withgradient(long_run, 2.0).val == 3.0
    with rl.debug_mode(compare=True), pytest.raises(rl.WrongTransformError):
        rl.gradient(long_run, 2.0)


def test_debug_mode_ends_with_its_block():
    """`with` puts the mode back as it was, also after an error; without it the mode stays."""
    before = DEFAULT.compare
    with rl.debug_mode(compare=False):
        assert DEFAULT.compare is False
    assert DEFAULT.compare is before
    with pytest.raises(ZeroDivisionError), rl.debug_mode(compare="first"):
        raise ZeroDivisionError
    assert DEFAULT.compare is before
    rl.debug_mode(compare="first")
    assert DEFAULT.compare == "first"
    with pytest.raises(rl.RuleLabError, match="compare must be .*, not 'often'"):
        rl.debug_mode(compare="often")


class Point:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    "one, other",
    [
        (1.0, 1), (1.0, np.float64(1.0)), (True, 1), (1.0, 1.001), (1.0, NAN), (np.ones(2), np.ones(3)),
        (np.ones(2), np.ones(2, np.float32)), (np.ones(2), [1.0, 1.0]), (np.float64(1.0), np.array(1.0)),
        ([1.0], (1.0,)), ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}), ("a", "b"), (Point(1.0), Point(2.0)),
        (None, 0.0), (np.array([1.0, NAN]), np.array([NAN, 1.0])), (1, 2), (np.arange(2), np.array([0, 2])),
        (np.inf, -np.inf), ({1, 2}, {1, 3}), (1 + 1j, 1 - 1j), (len, max),
        (np.array([1.0, None]), np.array([2.0, None])),
    ],
)  # fmt: skip
def test_what_differs(one, other):
    """Another type, dtype, shape, key order or number is a difference."""
    assert not agree(one, other) and not agree(other, one)


@pytest.mark.parametrize(
    "make",
    [
        lambda: 1.0, lambda: NAN, lambda: np.array([1.0, NAN, np.inf]), lambda: [1.0, (2.0, {"a": NAN})],
        lambda: Point(np.ones(2)), lambda: "a", lambda: {1.0, 2.0}, lambda: np.array("2020", "M8[D]"),
        lambda: np.array([("a", 1.0)], "U1,f8"), lambda: lambda x: x, lambda: None,
        lambda: Point(1.0).__init__,
        lambda: np.array([None, 2.0]), lambda: np.float32(0.1), lambda: 10**400, lambda: np.array([]),
    ],
)  # fmt: skip
def test_what_agrees(make):
    """Two results of one computation agree, NaN and all."""
    made = make()
    assert agree(made, make() if not callable(made) else make())


def test_rounding():
    """Where rounding may differ it is no difference; one that matters is one all the same."""
    x = np.array([1.0, 1e-20, 3e8])
    assert agree(x + [1e-9, 0.0, 0.0], x, exact=False) and not agree(x + [1e-9, 0.0, 0.0], x)
    assert not agree(x + [0.0, 0.0, 30.0], x, exact=False)
    assert agree(np.float32(1.00001), np.float32(1.0), exact=False) and not agree(1.00001, 1.0, exact=False)
    assert agree([{"a": 1.0 + 1e-12}], [{"a": 1.0}], exact=False)


@pytest.mark.usefixtures("first_use_only")
@pytest.mark.parametrize(
    "f, rounds",
    [
        (lambda x, m: (x + 0.0) * float(np.linalg.eigvalsh(m)[0]), True),
        (lambda x, m: (x + 0.0) * (m @ m)[0, 0], True),
        (lambda x, m: (lambda b: (x + 0.0) * b.dot(m)[0, 0])(m), True),
        (lambda x, m: (x + 0.0) * rl.gradient(np.sin, m[0, 0])[0], True),
        (lambda x, m: (x + 0.0) * rl.pushforward(np.sin, m[0, 0])(1.0), True),
        (lambda x, m: (x + 0.0) * m[0, 0], False),
    ],
)  # fmt: skip
def test_only_linear_algebra_and_derivatives_may_round_their_own_way(monkeypatch, f, rounds):
    """The last digits count, unless the values have been through LAPACK, BLAS or a derivative."""
    right = specialise.primal_text
    monkeypatch.setattr(
        specialise, "primal_text", lambda op, *rest: right(op, *rest).replace(" + 0.0", " + 1e-12")
    )
    m = np.array([[2.0, 1.0], [1.0, 3.0]])
    if rounds:
        assert 0 < abs(rl.withgradient(f, 1.0, m).val - f(1.0, m)) < 1e-11
    else:
        with pytest.raises(rl.WrongTransformError):
            rl.gradient(f, 1.0, m)


def test_a_result_that_holds_itself():
    """A structure that contains itself is compared to its end."""
    one, other = [1.0], [1.0]
    one.append(one)
    other.append(other)
    assert agree(one, other)


@pytest.mark.parametrize(
    "target, noted",
    [
        (print, Noted.EFFECT), (np.random.rand, Noted.EFFECT), (random.random, Noted.EFFECT),
        (next, Noted.EFFECT), (open, Noted.EFFECT), (float, Noted.NOTHING), (np.sin, Noted.NOTHING),
        (str.upper, Noted.NOTHING),
        (list.append, Noted.UNSEEN), (np.ndarray.fill, Noted.UNSEEN), (np.interp, Noted.UNSEEN),
        (dict.get, Noted.NOTHING), (ValueError, Noted.NOTHING), (random.Random.gauss, Noted.EFFECT),
    ],
)  # fmt: skip
def test_how_loud_a_call_is(target, noted):
    """What is not known to be quiet is not run again; what draws, prints or consumes never."""
    assert side_effect_of_call(resolve(target)[0], False) is noted


@pytest.mark.parametrize("compare", ["first", True])
@pytest.mark.parametrize("f", [lambda xs: np.sqrt(xs[0]) + xs[1], lambda xs: np.cbrt(xs[0]) * xs[1]])
def test_an_error_of_numpys_that_only_the_slope_has_is_no_fault(compare, f):
    """Where errors are asked for: at 0 there is a root, and no slope of it."""
    with rl.debug_mode(rules=False, compare=compare), np.errstate(all="raise"):
        for _ in range(3):
            with pytest.raises(FloatingPointError):
                rl.gradient(f, [np.float64(0.0), 1.0])
