"""A rule joined with its pullback gives what the two give one after the other, and is joined only where it
does.
"""

import contextlib
import functools
import gc
import sys
import traceback
import types
import weakref

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad import by_rule
from rulelab.ad.fused_rule import joined
from rulelab.compiler.calls.entries import FLOAT64, KEPT
from rulelab.rules.lent import DEBUGGING
from tests.benchmarks.bytecodes import executed

X, Z = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
pytestmark = pytest.mark.usefixtures("as_users_run_it")

FACTOR = 2.0
SEEN = []


def ruled(rule):
    """A new function of as many arguments as the rule has, with this rule."""
    f = (lambda x: np.sum(x) * 0.0) if rule.__code__.co_argcount == 1 else (lambda x, y: np.sum(x * y) * 0.0)
    rl.rrule_for(f)(rule)
    return f


def way_of(f, *args):
    known = f.__dict__[KEPT]
    return known.of_one if len(args) == 1 else known.of_two


def is_joined(f, *args):
    """Whether gradients of a function go by its rule and the pullback in one."""
    return way_of(f, *args).__code__.co_filename == __file__


def settled(f, *args, often, monkeypatch):
    """The function, after calls that open the quick way; joined if it is called more often than `often`."""
    with monkeypatch.context() as patch:
        patch.setattr(by_rule, "OFTEN", often)
        for _ in range(4):
            rl.gradient(f, *args)
    return f


@pytest.fixture
def in_one(monkeypatch):
    """Gives a new function by a rule that is joined with its pullback for arguments of these kinds."""

    def make(rule, *args):
        f = settled(ruled(rule), *args, often=0, monkeypatch=monkeypatch)
        assert is_joined(f, *args)
        return f

    return make


# --- what it gives ------------------------------------------------------------------------------------------


def energy(x):
    def energy_pullback(y_bar):
        return rl.NoTangent(), 2.0 * y_bar * x

    return x @ x, energy_pullback


def distance(x, y):
    """With what the pullback keeps, and a cotangent in a variable."""
    r = x - y

    def distance_pullback(d_bar):
        g = 2.0 * d_bar * r
        return rl.NoTangent(), g, -g

    return r @ r, distance_pullback


def slope(x, scale=None):
    return 3.0


def same_names(x):
    """Variables of the pullback that the rule has, too: as a variable and as a global."""
    g, t = x * FACTOR, x + 1.0

    def pullback(t):
        FACTOR = 2.0 * t  # noqa: N806
        y = FACTOR * g
        slope = y * 0.5
        return rl.NoTangent(), slope * 2.0

    y = slope(x) * g @ g / t[0]
    return y, pullback


def own_names(own_0, own_1):
    """Names that might be those around it."""
    own_2 = own_0 * own_1

    def own_3(own_21):
        own_22 = own_21 * 2.0
        return rl.NoTangent(), own_22 * own_1, own_22 * own_0

    return np.sum(own_2), own_3


def with_statements(x: np.ndarray) -> tuple:
    """Blocks, loops, annotations, a variable that only the rule has."""
    total: float = 0.0
    with np.errstate(divide="ignore"):
        for value in x:
            if value > 0:
                total += value
                continue
            total -= value
    if total < 0.0:
        raise ValueError(total)

    def pullback(y_bar):
        """Its own."""
        x_bar = np.empty_like(x)
        number = 0
        while number < len(x):
            x_bar[number] = y_bar if x[number] > 0 else -y_bar
            number += 1
        return rl.NoTangent(), x_bar

    return total, pullback


def positional(x, /, y):
    def pullback(z_bar, /):
        return rl.NoTangent(), z_bar * y, z_bar * x

    return x * y, pullback


def handing_out(x):
    """A cotangent that the rule has made, and nobody else has."""
    g = np.cos(x)

    def pullback(y_bar):
        return rl.NoTangent(), g

    return np.sum(np.sin(x)), pullback


@pytest.mark.parametrize(
    "rule, args",
    [
        (energy, (X,)),
        (energy, (np.array([np.nan, np.inf, 0.0]),)),
        (energy, (np.empty(0),)),
        (distance, (X, Z)),
        (distance, (X[::2], Z[::2])),
        (same_names, (X,)),
        (own_names, (X, Z)),
        (own_names, (np.eye(2), np.ones((2, 2)))),
        (with_statements, (X,)),
        (positional, (1.5, 2.0)),
        (positional, (-0.0, float("nan"))),
        (handing_out, (X,)),
    ],
)
def test_it_gives_what_the_two_give(in_one, monkeypatch, rule, args):
    """Bit by bit, in new arrays that may be written to."""
    wanted = rl.gradient(settled(ruled(rule), *args, often=1000, monkeypatch=monkeypatch), *args)
    f = in_one(rule, *args)
    for _ in range(2):
        found = rl.gradient(f, *args)
        assert list(map(type, found)) == list(map(type, wanted))
        for one, other, x in zip(found, wanted, args, strict=True):
            np.testing.assert_array_equal(one, other)
            if type(x) is np.ndarray:
                assert one.flags.writeable and one.base is None and not np.shares_memory(one, x)
    assert len({id(one) for one in found}) == len(found)


def test_other_kinds_are_answered(in_one):
    """A float, an array of another dtype, a number of arguments that is wrong."""
    f = in_one(energy, X)
    assert rl.gradient(f, X.astype(np.float32))[0].dtype == np.float32
    g = in_one(positional, 1.5, 2.0)
    np.testing.assert_array_equal(rl.gradient(g, np.float64(1.5), 2.0), (2.0, 1.5))
    assert type(rl.gradient(g, np.float64(1.5), 2.0)[0]) is np.float64
    with pytest.raises(TypeError):
        rl.gradient(f, X, X)


# --- what is wrong ------------------------------------------------------------------------------------------

KEPT_ARRAY = np.ones(3)
READ_ONLY = np.ones(3)
READ_ONLY.flags.writeable = False
MODE = {0: "", 1: 1.0, 2: 1.0}  # for rules that do now this and now that


class Mine(np.ndarray):
    """A kind of array that is not NumPy's own."""


def of_mode():
    """A cotangent for an array of three numbers, right or wrong in one way or another."""
    frozen = np.full(3, 5.0)
    frozen.flags.writeable = False
    made = {
        "": np.full(3, 5.0),
        "shape": np.ones(4),
        "more axes": np.ones((3, 1)),
        "number": 2.0,
        "none": None,
        "class": rl.ZeroTangent,
        "zero": rl.ZeroTangent(),
        "no tangent": rl.NoTangent(),
        "float32": np.ones(3, np.float32),
        "complex": np.ones(3, complex),
        "integers": np.arange(3),
        "text": "text",
        "frozen": frozen,
        "kept": KEPT_ARRAY,
        "read-only": READ_ONLY,
        "view": np.ones(6)[::2],
        "broadcast": np.broadcast_to(1.0, 3),
        "subclass": np.ones(3).view(Mine),
        "thunk": rl.thunk(lambda: np.full(3, 7.0)),
        "missing": rl.not_implemented("no rule"),
    }
    return made.pop(MODE[0])


COTANGENTS = (
    *("", "shape", "more axes", "number", "none", "class", "zero", "no tangent", "float32", "complex"),
    *("integers", "text", "frozen", "kept", "read-only", "view", "broadcast", "subclass", "thunk", "missing"),
)
VALUES = (*("", "float", "float32", "int", "0-d", "0-d float32", "complex", "array", "none", "pair"),)


def answers(x):
    def answers_pullback(y_bar):
        return rl.NoTangent(), of_mode()

    return np.sum(x), answers_pullback


def answers_for_two(x, y):
    def answers_for_two_pullback(z_bar):
        g = of_mode()
        return rl.NoTangent(), g, g

    return np.sum(x), answers_for_two_pullback


def first_entry(x):
    def first_entry_pullback(y_bar):
        return {"": rl.NoTangent(), "none": None, "number": 1.0, "class": rl.NoTangent}[MODE[0]], y_bar * x

    return np.sum(x), first_entry_pullback


def gives_argument(x):
    def pullback(y_bar):
        return rl.NoTangent(), x

    return np.sum(x), pullback


def values(x):
    def values_pullback(y_bar):
        SEEN.append(y_bar)
        return rl.NoTangent(), y_bar * np.ones(3)

    return {
        "": np.float64(2.0),
        "float": 2.0,
        "float32": np.float32(2.0),
        "int": 2,
        "0-d": np.array(2.0),
        "0-d float32": np.array(2.0, np.float32),
        "complex": 2.0 + 1.0j,
        "array": x,
        "none": None,
        "pair": (1.0, 2.0),
    }[MODE[0]], values_pullback


def outcome(f, *args):
    """What a gradient is, or the error, as plain data; and what was seen."""
    SEEN.clear()
    try:
        found = rl.gradient(f, *args)
    except Exception as error:
        place = getattr(error, "place", None)
        return type(error), str(error), place, [*map(repr, SEEN)]
    told = [(type(one), getattr(one, "dtype", None), np.array(one).tolist()) for one in found]
    own = [one is None or (one.flags.writeable and one is not KEPT_ARRAY) for one in found]
    return told, own, len({id(one) for one in found}) == len(found), [*map(repr, SEEN)]


@pytest.mark.parametrize(
    "rule, modes",
    [
        (answers, COTANGENTS),
        (answers_for_two, COTANGENTS),
        (first_entry, ("", "none", "number", "class")),
        (values, VALUES),
    ],
)
def test_what_is_unusual_is_as_it_was(monkeypatch, rule, modes):
    """Cotangents and values that do not fit at a glance are taken, copied or refused in the same words."""
    args = (X, Z)[: rule.__code__.co_argcount]
    f, apart = ruled(rule), ruled(rule)  # before either is settled: with a new rule other entries are old
    settled(apart, *args, often=1000, monkeypatch=monkeypatch)
    settled(f, *args, often=0, monkeypatch=monkeypatch)
    assert is_joined(f, *args) and not is_joined(apart, *args)
    for mode in modes:
        monkeypatch.setitem(MODE, 0, mode)
        assert (mode, outcome(f, *args)) == (mode, outcome(apart, *args))
        assert is_joined(f, *args)
    assert KEPT_ARRAY.tolist() == [1.0] * 3


def test_an_argument_is_not_handed_out(in_one):
    """Nor is an array that something else still refers to."""
    f = in_one(gives_argument, X)
    found = rl.gradient(f, X)[0]
    np.testing.assert_array_equal(found, X)
    assert not np.shares_memory(found, X)


# --- what is certain by the text, and what only looks so ----------------------------------------------------

OTHERS = {}  # what a name stands for


def mean_square(x, y):
    """With `len` in it."""
    r = x - y

    def pullback(z_bar):
        g = (2.0 / len(r) * z_bar) * r
        return rl.NoTangent(), g, -g

    return r @ r / len(r), pullback


def by_a_global(x):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * GLOBAL * x

    return x @ x, pullback


GLOBAL = 2.0


def array_for_a_float(x, k):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * k * x, y_bar * x

    return np.float64(2.0), pullback


def of_any_value(x):
    def pullback(y_bar):
        return rl.NoTangent(), 2.0 * y_bar * x

    return OTHERS.get("value", np.float64(2.0)), pullback


def keeps_what_it_gives(x):
    def pullback(y_bar):
        g = y_bar * x
        SEEN.append(g)
        return rl.NoTangent(), g

    return np.sum(x), pullback


class Greedy:
    """Something of an author's that keeps and turns what is multiplied with it."""

    __array_ufunc__ = None

    def __rmul__(self, other):
        SEEN.append(other)
        other.shape = (3, 1)
        return 1.0


def meets_an_object(x):
    def pullback(y_bar):
        g = y_bar * x
        t = g * OTHERS.get("object", 1.0)  # noqa: F841
        return rl.NoTangent(), g

    return np.sum(x), pullback


@pytest.mark.parametrize(
    "rule, args, more",
    [
        (mean_square, (X, Z), [(X[::2], Z[::2]), (np.eye(2), np.ones((2, 2))), (X, Z[:1]), (X[:1], Z)]),
        (energy, (X,), [(np.array(2.0),), (np.ones((1, 1)),), (X[:0],)]),
        (distance, (X, Z), [(np.array(2.0), np.array(1.0)), (X, np.array(1.0)), (X, Z[:2]), (X, Z[:, None])]),
        (by_a_global, (X,), [(X[:2],)]),
    ],
)
def test_shapes_and_kinds_are_as_they_were(monkeypatch, rule, args, more):
    """Also where the arguments have shapes that are broadcast, or no axes."""
    f, apart = ruled(rule), ruled(rule)
    for often, one in ((1000, apart), (0, f)):
        with contextlib.suppress(rl.RuleLabError):  # at the first call
            settled(one, *args, often=often, monkeypatch=monkeypatch)
    for xs in (args, *more, args):
        assert outcome(f, *xs) == outcome(apart, *xs)


@pytest.mark.parametrize("other", [np.ones(4), np.ones((3, 1)), 1j, np.float32(2.0), np.longdouble(2.0), "a"])
def test_what_a_global_does_to_a_shape_or_kind_is_noticed(in_one, monkeypatch, other):
    """A name of a module may stand for anything at the next call."""
    f = in_one(by_a_global, X)
    monkeypatch.setitem(globals(), "GLOBAL", other)
    apart = ruled(by_a_global)
    found, wanted = outcome(f, X), outcome(apart, X)
    assert found[:2] == wanted[:2]


@pytest.mark.parametrize("value", [np.longdouble(2.0), np.float32(2.0), np.array(2.0), 2, 2.0])
def test_the_kind_of_the_value_counts(in_one, monkeypatch, value):
    """Its seed is of that kind, and an entry of the kind of its argument."""
    f = in_one(of_any_value, X)
    monkeypatch.setitem(OTHERS, "value", value)
    (found,) = rl.gradient(f, X)
    assert found.dtype is np.dtype(float)
    np.testing.assert_array_equal(found, 2.0 * X)


def test_an_array_for_a_float_is_refused(in_one):
    """Though it is new, and of the shape of another argument."""
    f, args = ruled(array_for_a_float), (X, 2.0)
    with pytest.raises(rl.RuleShapeError):
        for _ in range(4):
            rl.gradient(f, *args)


def test_what_the_rule_keeps_is_not_handed_out(in_one):
    """Nor what an object that it meets keeps, or turns."""
    f = in_one(keeps_what_it_gives, X)
    SEEN.clear()
    (found,) = rl.gradient(f, X)
    assert not np.shares_memory(found, SEEN[0])


def test_an_object_that_is_met_is_seen(in_one, monkeypatch):
    """It may keep the array, and give it another shape."""
    f, wanted = in_one(meets_an_object, X), []
    for one in (f, ruled(meets_an_object)):
        SEEN.clear()
        monkeypatch.setitem(OTHERS, "object", Greedy())
        (found,) = rl.gradient(one, X)
        assert len(SEEN) == 1 and not np.shares_memory(found, SEEN[0])
        wanted.append((found.shape, found.tolist()))
    assert wanted[0] == wanted[1]


def test_a_hidden_len_counts(in_one, monkeypatch):
    """The length of the rule is then that of another function, and its cotangent is looked at."""
    f = in_one(halved_by_length, X)
    monkeypatch.setitem(globals(), "len", lambda x: np.ones(4))
    with pytest.raises(ValueError):
        rl.gradient(f, X)
    monkeypatch.setitem(globals(), "len", lambda x: np.full((2, 3), 3.0))
    with pytest.raises(rl.RuleShapeError):
        rl.gradient(f, X)
    monkeypatch.setitem(globals(), "len", lambda x: 4.0)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], X / 4.0)


def halved_by_length(x):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar / len(x) * x

    return np.sum(x), pullback


# --- what it relies on --------------------------------------------------------------------------------------


def scaled(x):
    def pullback(y_bar):
        return rl.NoTangent(), FACTOR * y_bar * np.ones(3)

    return np.sum(x), pullback


def tenfold(x):
    def pullback(y_bar):
        return rl.NoTangent(), 10.0 * y_bar * np.ones(3)

    return np.sum(x), pullback


def test_globals_count(in_one, monkeypatch):
    """Names are looked up at each call, as in the rule itself."""
    f = in_one(scaled, X)
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [5.0] * 3)
    monkeypatch.setattr(np, "ones", np.zeros)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [0.0] * 3)


def test_builtins_that_are_hidden_count_for_the_rule_alone(in_one, monkeypatch):
    """What is asked around its statements is asked by Python's own `type` and `len`."""
    f = in_one(scaled, X)
    monkeypatch.setitem(globals(), "type", lambda x: float)
    monkeypatch.setitem(globals(), "len", lambda x: 0)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [2.0] * 3)


def test_another_rule_counts(in_one):
    """One that replaces it, its going, a block without it."""
    f = in_one(scaled, X)
    with rl.without_rule(f):
        np.testing.assert_array_equal(rl.gradient(f, X)[0], [0.0] * 3)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [2.0] * 3)
    rl.rrule_for(f)(tenfold)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [10.0] * 3)
    rl.remove_rule(f)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [0.0] * 3)


def test_code_counts(in_one):
    """Code that is put into the rule, as a reload does, and into the function."""
    rule = types.FunctionType(scaled.__code__, globals(), "scaled")
    f = in_one(rule, X)
    rule.__code__ = tenfold.__code__
    for _ in range(3):
        np.testing.assert_array_equal(rl.gradient(f, X)[0], [10.0] * 3)
    rule.__code__ = scaled.__code__
    np.testing.assert_array_equal(rl.gradient(f, X)[0], [2.0] * 3)
    f.__code__ = (lambda x, y: x).__code__
    with pytest.raises(TypeError):
        rl.gradient(f, X)


def test_a_wrapper_has_no_part_in_it(in_one):
    """functools.wraps gives a wrapper the very dict of what it wraps."""
    f = in_one(scaled, X)
    wrapper = functools.wraps(f)(lambda x: np.sum(x * x))
    np.testing.assert_array_equal(rl.gradient(wrapper, X)[0], 2.0 * X)


def test_debug_mode_watches(in_one, monkeypatch):
    """Also where it was interrupted as it began."""
    f = in_one(gives_argument, X)
    with rl.debug_mode(), pytest.raises(rl.RuleEffectsError):
        rl.gradient(f, X)
    monkeypatch.setattr(DEBUGGING, "rules", True)
    with pytest.raises(rl.RuleEffectsError):
        rl.gradient(f, X)


# --- what may be seen of it ---------------------------------------------------------------------------------


def counting(x):
    SEEN.append(("rule", rl.nest_level(), rl.isderiving()))

    def pullback(y_bar):
        SEEN.append(("pullback", rl.nest_level(), y_bar))
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def test_everything_happens_once_and_in_order(in_one):
    """In one derivative, as its marks tell."""
    f = in_one(counting, X)
    SEEN.clear()
    rl.gradient(f, X)
    assert SEEN == [("rule", 1, True), ("pullback", 1, 1.0)]


def failing(x):
    scale = 1.0 / MODE[1]

    def failing_pullback(y_bar):
        return rl.NoTangent(), scale / MODE[2] * x

    return np.sum(x), failing_pullback


@pytest.mark.parametrize("where, line", [(1, 1), (2, 4)])
def test_an_error_names_the_line(in_one, monkeypatch, where, line):
    """The author's, in the rule or in the pullback."""
    f = in_one(failing, X)
    monkeypatch.setitem(MODE, where, 0.0)
    with pytest.raises(ZeroDivisionError) as found:
        rl.gradient(f, X)
    last = traceback.extract_tb(found.value.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, "failing")
    assert last.lineno == failing.__code__.co_firstlineno + line


weak = weakref.ref


def letting_go(x):
    t = x * 2.0
    SEEN[:] = [weak(t)]
    y = np.sum(t)

    def pullback(y_bar):
        gone = SEEN[0]() is None
        SEEN.append(gone)
        return rl.NoTangent(), y_bar * x

    return y, pullback


def test_what_the_pullback_does_not_keep_goes(in_one):
    """An array that only the rule needs is freed before the pullback takes memory of its own."""
    f = in_one(letting_go, X)
    rl.gradient(f, X)
    assert SEEN[1] is True


def test_it_is_not_kept(in_one):
    """A rule that is replaced goes, with what it was joined to."""
    rule = types.FunctionType(scaled.__code__, globals(), "scaled")
    f = in_one(rule, X)
    held = weakref.ref(rule), weakref.ref(way_of(f, X).__code__)
    del rule
    rl.rrule_for(f)(tenfold)
    for _ in range(2):
        rl.gradient(f, X)
    gc.collect()
    assert [one() for one in held] == [None, None]


def test_the_function_is_not_kept(in_one):
    """By the way that is its own."""
    held = weakref.ref(in_one(scaled, X))
    gc.collect()
    assert held() is None


# --- what is not joined -------------------------------------------------------------------------------------


def returns_early(x):
    if len(x) > 100:
        return 0.0, lambda y_bar: (rl.NoTangent(), y_bar * x)

    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def pullback_returns_early(x):
    def pullback(y_bar):
        if y_bar == 0.0:
            return rl.NoTangent(), rl.ZeroTangent()
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def of_lambda(x):
    return np.sum(x), lambda y_bar: (rl.NoTangent(), y_bar * x)


def of_tuple(x):
    def pullback(y_bar):
        both = rl.NoTangent(), y_bar * x
        return both

    return np.sum(x), pullback


def of_stars(x):
    def pullback(y_bar):
        return rl.NoTangent(), *[y_bar * x]

    return np.sum(x), pullback


def with_comprehension(x):
    def pullback(y_bar):
        return rl.NoTangent(), np.array([y_bar for x_ in x])

    return np.sum(x), pullback


def with_helper(x):
    def helper():
        return x

    def pullback(y_bar):
        return rl.NoTangent(), y_bar * helper()

    return np.sum(x), pullback


def with_nonlocal(x):
    calls = 0

    def pullback(y_bar):
        nonlocal calls
        calls += 1
        return rl.NoTangent(), y_bar * calls * x

    return np.sum(x), pullback


def with_global(x):
    def pullback(y_bar):
        global CALLS
        CALLS = 1
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def with_try(x):
    def pullback(y_bar):
        try:
            return rl.NoTangent(), y_bar * x
        finally:
            pass

    return np.sum(x), pullback


def marks_pullback(x):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x

    pullback.note = "mine"
    return np.sum(x), pullback


def asks_itself(x):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x if pullback else x

    return np.sum(x), pullback


def looks_around(x):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * len(locals()) * x

    return np.sum(x), pullback


def changes_parameter(x):
    x = x * 1.0

    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def with_default(x, k=1.0):
    def pullback(y_bar, more=2.0):
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def pullback_with_default(x):
    def pullback(y_bar, more=2.0):
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def of_keywords(x, *, k=1.0):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def of_many(*xs):
    def pullback(y_bar):
        return rl.NoTangent(), *[y_bar * x for x in xs]

    return np.sum(xs[0]), pullback


def decorated(x):
    @functools.cache
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x

    return np.sum(x), pullback


def walrus(x):
    def pullback(y_bar):
        return rl.NoTangent(), (g := y_bar * x) + 0.0 * g

    return np.sum(x), pullback


class Model:
    """A name with two underscores is another one in a class."""

    def mangled(x):  # noqa: N805
        __t = x * 2.0

        def pullback(y_bar):
            return rl.NoTangent(), y_bar * __t

        return np.sum(x), pullback

    def mangled_word(x):  # noqa: N805
        def pullback(y_bar):
            return rl.NoTangent(), np.multiply(y_bar, x, **dict(__k=1))

        return np.sum(x), pullback


def too_many(x):
    def pullback(y_bar):
        return rl.NoTangent(), y_bar * x, y_bar

    return np.sum(x), pullback


def closing(k):
    def rule(x):
        def pullback(y_bar):
            return rl.NoTangent(), k * y_bar * x

        return np.sum(x), pullback

    return rule


APART = [
    *(returns_early, pullback_returns_early, of_lambda, of_tuple, of_stars, with_comprehension, with_helper),
    *(with_nonlocal, with_global, with_try, marks_pullback, asks_itself, looks_around, changes_parameter),
    *(with_default, pullback_with_default, of_keywords, of_many, decorated, walrus, Model.mangled, too_many),
    Model.mangled_word,
    *(closing(2.0), np.sum, functools.partial(energy)),
]


@pytest.mark.parametrize("rule", APART, ids=lambda rule: getattr(rule, "__name__", "partial"))
def test_what_would_mean_something_else_is_left_as_it_is(rule):
    """A rule that is not of the simple form."""
    if isinstance(rule, types.FunctionType):
        assert joined(rule, (FLOAT64,), "{plain}", {}) is None


def test_a_rule_without_its_text_is_left_as_it_is(monkeypatch):
    """And works as it did."""
    scope = {"rl": rl}
    exec(
        "def rule(x):\n    def back(y_bar):\n        return rl.NoTangent(), y_bar * x\n    return 1.0, back",
        scope,
    )
    f = settled(ruled(scope["rule"]), X, often=0, monkeypatch=monkeypatch)
    assert not is_joined(f, X)
    np.testing.assert_array_equal(rl.gradient(f, X)[0], X)


def test_one_of_each_kind_goes_apart(monkeypatch):
    """A float and an array: joined for both, in either order."""
    for args in ((2.0, X), (X, 2.0)):
        f = settled(ruled(mixed), *args, often=0, monkeypatch=monkeypatch)
        found = rl.gradient(f, *args)
        assert is_joined(f, *args)
        assert [type(one) for one in found] == [type(one) for one in args]


def mixed(x, y):
    def pullback(z_bar):
        x_bar = z_bar * y if type(x) is np.ndarray else float(np.sum(z_bar * y))
        return (
            rl.NoTangent(),
            x_bar * np.ones(3) if type(x) is np.ndarray else x_bar,
            (float(np.sum(z_bar * x)) if type(y) is float else z_bar * x * np.ones(3)),
        )

    return np.sum(x * y), pullback


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="tracing in new frames does not count them all")
@pytest.mark.parametrize("rule, args", [(energy, (X,)), (distance, (X, Z)), (positional, (1.5, 2.0))])
def test_it_takes_fewer_steps(in_one, monkeypatch, rule, args):
    """Counted in bytecodes, which are the same on any machine."""
    apart = settled(ruled(rule), *args, often=1000, monkeypatch=monkeypatch)
    steps = executed(lambda: rl.gradient(apart, *args))
    f = in_one(rule, *args)
    assert executed(lambda: rl.gradient(f, *args)) < 0.8 * steps


def test_it_is_joined_only_when_it_pays(monkeypatch):
    """Not for a function whose gradient is asked for a few times."""
    f = settled(ruled(energy), X, often=10, monkeypatch=monkeypatch)
    assert not is_joined(f, X)
    for _ in range(10):
        rl.gradient(f, X)
    assert is_joined(f, X)
