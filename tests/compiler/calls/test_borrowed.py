"""Arrays that code out of sight refills: what was kept of them is what they were when it was used."""

import array
import collections
import contextlib
import ctypes
import functools
import gc
import heapq
import io
import itertools
import operator
import queue
import random
import weakref
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad.forward import jvp
from rulelab.checking import grad_check
from rulelab.compiler.calls.cache import DEFAULT, Cache
from rulelab.errors import MutationError, RuleLabError

from ...differences import gradient_by_differences

X = np.array([0.7, -1.2, 2.1])
# What the programs below are about; `given` sets them.
data = use = RNG = LOADERS = None


def values(t):
    return np.cos(np.arange(3) + t) + 0.1 * t


# --- kinds of code that is not followed, each with one buffer -----------------------------------------------


class Held:
    """What all of them have: a buffer, and how often it was filled."""

    def __init__(self):
        self.buffer = np.ones(3)
        self.count = 0

    def fill(self):
        self.buffer[:] = values(self.count)
        self.count += 1
        return self.buffer


class Items(Held):
    def __getitem__(self, t):
        return self.fill()


class Looped(Held):
    def __iter__(self):
        for _ in range(3):
            yield self.fill()


class Iterated(Held):
    def __iter__(self):
        return self

    def __next__(self):
        if self.count == 3:
            raise StopIteration
        return self.fill()


class Property(Held):
    @property
    def batch(self):
        return self.fill()


class Descriptor:
    def __get__(self, owner, kind=None):
        return owner.fill()


class Described(Held):
    batch = Descriptor()


class Fallback(Held):
    def __getattr__(self, name):
        if name != "batch":
            raise AttributeError(name)
        return self.fill()


class Operator(Held):
    def __add__(self, other):
        return self.fill()

    def __neg__(self):
        return self.fill()


class Compared(Held):
    def __lt__(self, other):
        return self.fill()


class Array(Held):
    def __array__(self, dtype=None, copy=None):
        return self.fill()


class Wrapper:
    """A dataset over another one: its own text is harmless."""

    def __init__(self, base):
        self.base = base

    def __getitem__(self, t):
        return self.base[t]


class Chained:
    def __init__(self, base):
        self.base = base

    def __iter__(self):
        for item in self.base:
            yield item


class Kept:
    """A property that asks a method of another object, under the name of a harmless one of Python's."""

    class Store(Held):
        def get(self, t):
            return self.fill()

    def __init__(self):
        self.store = self.Store()
        self.buffer = self.store.buffer

    @property
    def batch(self):
        return self.store.get(0)


def by_item(x):
    s = 0.0
    for t in range(3):
        s = s + use(x, data[t])
    return s


def by_loop(x):
    s = 0.0
    for b in data:
        s = s + use(x, b)
    return s


def by_enumerate(x):
    s = 0.0
    for t, b in enumerate(data):
        s = s + use(x, b) * (t + 1)
    return s


def by_zip_with_active(x):
    s = 0.0
    for b, v in zip(data, x):
        s = s + use(x, b) * v
    return s


def by_map(x):
    return sum(map(lambda b: use(x, b), data))


def by_comprehension(x):
    return sum([use(x, b) for b in data])


def by_next(x):
    it = iter(data)
    s = 0.0
    for _ in range(3):
        s = s + use(x, next(it))
    return s


def by_chain(x):
    s = 0.0
    for b in itertools.islice(itertools.chain(data), 3):
        s = s + use(x, b)
    return s


def by_attribute(x):
    s = 0.0
    for _ in range(3):
        s = s + use(x, data.batch)
    return s


def by_getattr(x):
    s = 0.0
    for _ in range(3):
        s = s + use(x, getattr(data, "batch"))  # noqa: B009
    return s


def by_binary(x):
    s = 0.0
    for t in range(3):
        s = s + use(x, data + t)
    return s


def by_unary(x):
    s = 0.0
    for _ in range(3):
        s = s + use(x, -data)
    return s


def by_comparison(x):
    s = 0.0
    for t in range(3):
        s = s + use(x, data < t)
    return s


def by_asarray(x):
    s = 0.0
    for _ in range(3):
        s = s + use(x, np.asarray(data))
    return s


def by_field_while_looping(x):
    """The buffer is not handed out: it is read as a field, used before and after the loop refills it."""

    s = use(x, data.buffer)
    for _ in data:
        s = s + use(x, data.buffer)
    return s


def by_first_use(x):
    """Kept before anything is refilled."""
    first = data.buffer
    s = use(x, first)
    for t in range(3):
        s = s + np.sum(x) * np.sum(data[t])
    return s


def generator():
    buffer = np.empty(3)
    for t in range(3):
        buffer[:] = values(t)
        yield buffer


def by_pair(x):
    s = 0.0
    for _, b in data:
        s = s + use(x, b)
    return s


SOURCES = {
    "item": (Items, by_item),
    "item of a wrapper": (lambda: Wrapper(Items()), by_item),
    "item of a wrapper twice": (lambda: Wrapper(Wrapper(Items())), by_item),
    "loop": (Looped, by_loop),
    "loop of a wrapper": (lambda: Chained(Looped()), by_loop),
    "own iterator": (Iterated, by_loop),
    "enumerate": (Looped, by_enumerate),
    "zip with what varies": (Looped, by_zip_with_active),
    "map": (Looped, by_map),
    "comprehension": (Looped, by_comprehension),
    "next": (Looped, by_next),
    "chain and islice": (Looped, by_chain),
    "generator": (generator, by_loop),
    "iterator of Python's over a loader": (lambda: zip(range(3), Looped()), by_pair),
    "property": (Property, by_attribute),
    "descriptor": (Described, by_attribute),
    "__getattr__": (Fallback, by_attribute),
    "property by getattr": (Property, by_getattr),
    "property that asks another object": (Kept, by_attribute),
    "binary operator": (Operator, by_binary),
    "unary operator": (Operator, by_unary),
    "comparison": (Compared, by_comparison),
    "__array__": (Array, by_asarray),
    "field, refilled by a loop": (Looped, by_field_while_looping),
    "used before it is refilled": (Items, by_first_use),
}


# --- ways in which a constant is kept for the reverse sweep -------------------------------------------------


def product(x, b):
    return np.sum(x * x * b)


def matmul(x, b):
    return (b @ x) ** 2


def in_helper(x, b):
    return helper(np.sin(x), b)


def helper(x, b):
    return np.dot(x, b) ** 2


def captured(x, b):
    return (lambda v: np.sum(v * v * b))(x)


def in_list(x, b):
    return np.sum(np.stack([x, b])[0] * np.prod(np.stack([x, b]), axis=0))


def where(x, b):
    return np.sum(np.where(b > 0, x * x, x * b))


def einsum(x, b):
    return np.einsum("i,i->", x * x, b)


def power(x, b):
    return np.sum((x * x + 2.0) ** b)


def index(x, b):
    return np.sum(x[np.argsort(b)] ** 2 * np.arange(3))


def carried(x, b):
    state = x
    for _ in range(2):
        state = np.tanh(state * b)
    return np.sum(state)


def in_place(x, b):
    total = x * 1.0
    total *= b
    return np.sum(total * total)


def by_row(x, b):
    return sum([np.sum(x * b[:1]) * v for v in b])


def in_buffer(x, b):
    out = rl.Buffer(x)
    out[:] = x * b
    return np.sum(out.copy() ** 2)


def own_rule(x, b):
    return np.sum(x * x * b)


def own_rule_rrule(x, b):
    return own_rule(x, b), lambda y_bar: (rl.NoTangent(), 2 * x * b * y_bar, x * x * y_bar)


def by_own_rule(x, b):
    return own_rule(x, b)


USES = (product, matmul, in_helper, captured, in_list, where, einsum, power, index, carried, in_place)
USES = (*USES, by_row, in_buffer, by_own_rule)


@pytest.fixture
def rule_of_own():
    rl.rrule_for(own_rule)(own_rule_rrule)
    yield
    rl.remove_rule(own_rule)


@pytest.fixture
def given(monkeypatch):
    """Sets what the programs use: new data, and the way in which they are used."""

    def set_globals(make, how):
        monkeypatch.setitem(globals(), "data", make())
        monkeypatch.setitem(globals(), "use", how)

    return set_globals


def checked(program, make, how, given, cache, may_be_refused=False):
    def plain(x):
        given(make, how)
        return program(x)

    right = gradient_by_differences(plain, X)
    for _ in range(2):  # a new pass, and one that is known
        given(make, how)
        try:
            (found,) = rl.gradient(program, X, cache=cache)
        except RuleLabError:
            if not may_be_refused:
                raise
            return
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-7)


CELLS = [(source, how) for source in SOURCES for how in USES]
# Each source with one use, and each use with one source; all of them are a campaign.
FEW = [(source, how) for source, how in CELLS if how is product or source == "item"]


def check_cell(source, how, given):
    make, program = SOURCES[source]
    # In these, what is looped over or read might be changed, and is followed.
    checked(program, make, how, given, Cache(), how in (captured, in_buffer))


@pytest.mark.parametrize("source, how", FEW, ids=lambda part: getattr(part, "__name__", part))
def test_what_is_kept_of_a_buffer_that_is_refilled_is_what_was_used(source, how, given, rule_of_own):
    """A loader, dataset, property or operator with one buffer gives the gradient of the numbers that it
    handed out, whatever it is that keeps them."""
    check_cell(source, how, given)


@pytest.mark.campaign
def test_every_source_of_refilled_buffers_with_every_use(given, rule_of_own):
    """The same of all pairs."""
    for source, how in CELLS:
        check_cell(source, how, given)


# --- code of C, of libraries, and functions that hold another ----------------------------------------------

BUFFER = np.ones(3)


def refill(k):
    BUFFER[:] = k
    return k


def twice(run):
    """A program that uses the buffer, has it refilled, and uses it again."""

    def f(x):
        return np.sum(x * x * BUFFER) + run() * np.sum(x * BUFFER)

    return f


def drawn_into(x):
    rng, buffer, s = np.random.default_rng(0), np.empty(3), 0.0
    for _ in range(3):
        s = s + np.sum(x * x * rng.random(3, float, buffer))
    return s


def drawn_first(x):
    s, buffer = np.sum(x * RNG.random(3)), np.empty(3)
    for _ in range(3):
        s = s + np.sum(x * x * RNG.random(3, float, buffer))
    return s


def printed_first(x):
    print("begins", end="")
    s = 0.0
    for b in LOADERS["one"]:
        s = s + (b @ x) ** 2
    return s


def read_into(x):
    file, buffer, s = io.BytesIO(np.arange(9.0).tobytes()), np.empty(3), 0.0
    for _ in range(3):
        file.readinto(buffer)
        s = s + np.sum(x * x * buffer)
    return s


def over_bytes(x):
    memory, s = bytearray(24), 0.0
    view, file = np.frombuffer(memory), io.BytesIO(np.arange(9.0).tobytes())
    for _ in range(3):
        file.readinto(memory)
        s = s + np.sum(x * x * view)
    return s


def over_array_array(x):
    memory, s = array.array("d", [1.0, 2.0, 3.0]), 0.0
    view, file = np.asarray(memory), io.BytesIO(np.arange(9.0).tobytes())
    for _ in range(2):
        file.readinto(memory)
        s = s + np.sum(x * x * view)
    return s


def by_nditer(x):
    s = 0.0
    for v in np.nditer([np.arange(4.0)], flags=["external_loop", "buffered"], buffersize=2):
        s = s + np.sum(x[:2] * x[:2] * v)
    return s


def by_address(x):
    buffer = np.ones(3)
    s = np.sum(x * x * buffer)
    ctypes.memset(buffer.ctypes.data, 0, 24)
    return s + np.sum(x * buffer)


vectorised = np.vectorize(lambda t: (BUFFER.__setitem__(slice(None), t), t)[1])
part = functools.partial(refill, 5.0)
cached = functools.lru_cache(refill)
dispatched = functools.singledispatch(refill)


class Refilling:
    def now(self):
        return refill(7.0)

    def __call__(self):
        return refill(3.0)

    def __len__(self):
        return int(refill(2.0))

    def __bool__(self):
        return bool(refill(2.0))

    def __contains__(self, key):
        return bool(refill(2.0))

    def __str__(self):
        return str(refill(2.0))

    def __radd__(self, other):
        return refill(2.0)

    __add__ = __radd__

    def __iter__(self):
        return iter([refill(2.0), 1.0])


refilling = Refilling()


@contextlib.contextmanager
def refilled():
    BUFFER[:] = BUFFER * 2
    yield BUFFER
    BUFFER[:] = BUFFER * 3


def within_context(x):
    s = np.sum(x * x * BUFFER)
    with refilled() as b:
        s = s + np.sum(x * x * b)
    return s


def on_truth(x):
    s = np.sum(x * x * BUFFER)
    return s + np.sum(x * BUFFER) if refilling else s


def unpacked(x):
    s = np.sum(x * x * BUFFER)
    a, b = refilling
    return s + np.sum(x * BUFFER) * a * b


def spelled(x):
    s = np.sum(x * x * BUFFER)
    text = f"{refilling}"
    return s + np.sum(x * BUFFER) * len(text)


RIGHT = {
    "draws into an array": drawn_into,
    "draws, and draws into an array": drawn_first,
    "prints before a loader": printed_first,
    "file.readinto": read_into,
    "frombuffer of a bytearray": over_bytes,
    "asarray of an array.array": over_array_array,
    "nditer": by_nditer,
    "an address of ctypes": by_address,
    "methodcaller": twice(lambda: operator.methodcaller("now")(refilling)),
    "len": twice(lambda: len(refilling)),
    "in": twice(lambda: 1.0 if 3 in refilling else 0.0),
    "sum": twice(lambda: sum(refilling)),
    "sum of objects": twice(lambda: sum([refilling, refilling])),
    "star": twice(lambda: [*refilling][0]),
    "lru_cache": twice(lambda: cached(3.0)),
    "singledispatch": twice(lambda: dispatched(3.0)),
    "the truth of an object": on_truth,
    "unpacking": unpacked,
    "an f-string": spelled,
    "a context manager of contextlib": within_context,
}
REFUSED = {
    "vectorize": twice(lambda: np.sum(vectorised(np.array([2.0, 3.0])))),
    "partial": twice(lambda: part()),
    "a callable object": twice(lambda: refilling()),
    "a sort key": twice(lambda: sorted([3.0, 2.0], key=refill)[0]),
    "map": twice(lambda: list(map(refill, [3.0, 2.0]))[0]),
    "shuffle": twice(lambda: random.shuffle(BUFFER) or 1.0),
    "copyto": twice(lambda: np.copyto(BUFFER, 2.0) or 1.0),
}


@pytest.fixture(autouse=True)
def as_at_first(monkeypatch):
    """Every program begins with the same numbers."""

    def begin():
        BUFFER[:] = 1.0
        cached.cache_clear()
        monkeypatch.setitem(globals(), "RNG", np.random.default_rng(0))
        monkeypatch.setitem(globals(), "LOADERS", {"one": Looped()})

    begin()
    return begin


@pytest.mark.parametrize("case", RIGHT)
def test_code_of_c_and_of_libraries_that_writes_to_arrays(case, as_at_first):
    """What compiled functions, files and Python's own functions write to arrays does not change what a
    derivative has kept, nor what was drawn or printed before."""
    f = RIGHT[case]

    def plain(x):
        as_at_first()
        return f(x)

    right = gradient_by_differences(plain, X)
    for _ in range(3):
        as_at_first()
        np.testing.assert_allclose(rl.gradient(f, X)[0], right, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("case", REFUSED)
def test_followed_writes_are_refused(case):
    """Where the code that writes is followed, or watched, the write is refused by name, as ever."""
    with pytest.raises(MutationError, match="was changed|not supported"):
        rl.gradient(REFUSED[case], X)


def test_a_compiled_function_that_writes():
    """What a compiled function does to an array is not seen: the derivative keeps its own."""
    numba = pytest.importorskip("numba")

    @numba.njit
    def relax(y):
        for i in range(len(y)):
            y[i] *= 0.5

    def relaxed(x):
        y, s = np.ones(3), 0.0
        for _ in range(3):
            relax(y)
            s = s + np.sum(x * x * y)
        return s

    np.testing.assert_allclose(rl.gradient(relaxed, X)[0], gradient_by_differences(relaxed, X), rtol=1e-6)


# --- nothing runs twice -------------------------------------------------------------------------------------


class Counting:
    runs = 0

    @property
    def rate(self):
        Counting.runs += 1
        return 1.0

    @property
    def logged(self):
        LOG.append(1)
        return 1.0

    def __add__(self, other):
        Counting.runs += 1
        return 1.0

    def __getitem__(self, key):
        Counting.runs += 1
        return 1.0

    def __iter__(self):
        Counting.runs += 1
        return iter([1.0])

    def __index__(self):
        Counting.runs += 1
        return 0

    def __array__(self, dtype=None, copy=None):
        Counting.runs += 1
        return np.ones(3)


LOG = []
counting = Counting()
EFFECTS = {
    "property": lambda w: np.sum(w * w) * counting.rate,
    "property that keeps a record": lambda w: np.sum(w * w) * counting.logged,
    "operator": lambda w: np.sum(w * w) * (counting + 1),
    "item": lambda w: np.sum(w * w) * counting[0],
    "loop": lambda w: np.sum(w * w) * sum([c for c in counting]),
    "list": lambda w: np.sum(w * w) * list(counting)[0],
    "index": lambda w: w[counting] ** 2,
    "array": lambda w: np.einsum("i,i", w, counting),
}


@pytest.mark.parametrize("compare", ["first", True, False])
@pytest.mark.parametrize("case", EFFECTS)
def test_the_authors_code_behind_operators_runs_once(case, compare, monkeypatch):
    """A property, operator or loop of a constant that counts, logs or draws runs once in a gradient, new or
    known, however often values are compared."""
    monkeypatch.setitem(globals(), "LOG", [])
    with rl.debug_mode(compare=compare):
        for _ in range(3):
            Counting.runs = 0
            LOG.clear()
            rl.gradient(EFFECTS[case], X)
            assert Counting.runs + len(LOG) == 1


class Moving:
    """Each question has another answer."""

    def __init__(self):
        self.count = 0


class Position(Moving):
    def __index__(self):
        self.count += 1
        return self.count % 3


class Profile(Moving):
    def __array__(self, dtype=None, copy=None):
        self.count += 1
        return values(self.count)


ASKED = {
    "index": (Position, lambda w: w[use] * w[0]),
    "index of a row": (Position, lambda w: np.outer(w, w * w)[use, 1]),
    "index of a list": (Position, lambda w: w.tolist()[use] ** 2),
    "index of a list made here": (Position, lambda w: [w[0], w[1], w[2] * w[0]][use] * w[0]),
    "index of a tuple made here": (Position, lambda w: (w[0], w[1], w[2] * w[0])[use] * w[0]),
    "index that nobody needs": (Position, lambda w: (w[use], w[0] * w[1])[1]),
    "position to take": (Position, lambda w: np.take(w, use) * w[0]),
    "shift": (Position, lambda w: np.sum(np.roll(w, use) * np.arange(3.0))),
    "factor of a product": (Profile, lambda w: np.sum(np.outer(w, use) ** 2)),
    "operand of einsum": (Profile, lambda w: np.einsum("i,i", w, use) * w[0]),
    "heights of an interpolation": (Profile, lambda w: np.interp(w[0], [-1.0, 0.5, 2.0], use) * w[0]),
}


@pytest.mark.parametrize("case", ASKED)
def test_what_an_object_stands_for_is_asked_once_for_value_and_tangent(case, given):
    """An object in the place of a position or an array is asked as often as by the program itself, and the
    tangent is that of the answer that the value came from."""
    kind, f = ASKED[case]
    along = np.array([0.3, -0.5, 0.9])

    def afresh(x):
        given(lambda: None, kind())
        return f(x)

    slope = gradient_by_differences(afresh, X) @ along
    wanted = afresh(X)
    for _ in range(2):
        given(lambda: None, kind())
        value, found = jvp(f, (X,), (along,))
        assert (value, use.count) == (pytest.approx(wanted), 1)
        assert found == pytest.approx(slope, abs=1e-7)
    given(lambda: None, kind())
    value, (bar,) = rl.withgradient(f, X)
    assert (value, use.count) == (pytest.approx(wanted), 1)
    assert bar @ along == pytest.approx(slope, abs=1e-7)


class Pieces(Moving):
    def __len__(self):
        return 3

    def __getitem__(self, k):
        self.count += k == 0
        return values(self.count)[k]


OFTEN = {
    "dot": lambda w: np.dot(w, use),
    "dot by name": lambda w: np.dot(w, b=use),
    "dot, unpacked": lambda w: np.dot(*(w, use)),
    "dot of a list": lambda w: np.sum(np.dot(w, [use, use, use])),
    "method dot": lambda w: w.dot(use),
    "inner": lambda w: np.inner(w, use),
    "vdot": lambda w: np.vdot(w, use),
    "correlate": lambda w: np.correlate(w, use)[0],
    "convolve": lambda w: np.convolve(w, use)[1],
    "average": lambda w: np.average(w, weights=use),
    "solve": lambda w: np.linalg.solve(np.outer(w, w) + np.eye(3), use)[0],
    "outer of a ufunc": lambda w: np.sum(np.multiply.outer(w, use)),
}


@pytest.mark.parametrize("case", OFTEN)
@pytest.mark.parametrize("kind", [Profile, Pieces])
def test_an_object_that_may_be_asked_often_is_right_or_refused(case, kind, given):
    """NumPy asks some objects more than once, and a rule would again: no derivative of other numbers."""
    f = OFTEN[case]

    def afresh(x):
        given(lambda: None, kind())
        return f(x)

    def forward(x):
        found = []
        for along in np.eye(3):
            given(lambda: None, kind())
            found.append(jvp(f, (x,), (along,))[1])
        return found

    right = gradient_by_differences(afresh, X)
    nested = lambda x: rl.gradient(lambda c: c @ rl.gradient(f, x)[0], np.ones(3))[0]  # noqa: E731
    for mode in (lambda x: rl.gradient(f, x)[0], forward, nested):
        given(lambda: None, kind())
        try:
            found = mode(X)
        except RuleLabError:
            continue
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-7)


def _written(w):
    y = np.zeros(3) + 0.0 * w
    y[:use] = w[:1]
    return np.sum(y * np.arange(1.0, 4.0))


def _replaced(w):
    parts = [w[0], w[1] * 2.0, w[2] * 3.0]
    parts[use:] = [w[0] * w[1]]
    return sum(parts)


def _deleted(w):
    parts = [w[0], w[1] * 2.0, w[2] * 3.0]
    del parts[use:]
    return sum(parts) * w[0]


SLICED = {
    "from": lambda w: np.sum(w[use:] ** 2),
    "up to": lambda w: np.sum(w[:use] ** 2),
    "in steps of": lambda w: np.sum(w[::use] ** 2),
    "of one axis": lambda w: np.sum(np.outer(w, w)[:, use:] ** 2),
    "of a computed array": lambda w: np.sum((w * w)[use:] ** 2),
    "both ends": lambda w: np.sum(w[use:use]) + w[0] ** 2,
    "of a list": lambda w: sum([w[0], w[1] * 2.0, w[2] * 3.0][use:]),
    "of a tuple": lambda w: sum((w[0], w[1] * 2.0, w[2] * 3.0)[:use]),
    "in a loop": lambda w: sum(a * a for a in w[use:]),
    "made by slice": lambda w: np.sum(w[slice(None, use)] ** 2),
    "written": _written,
    "replaced": _replaced,
    "deleted": _deleted,
}


@pytest.mark.parametrize("case", SLICED)
@pytest.mark.parametrize("mode", ["reverse", "forward", "reverse over reverse"])
def test_the_ends_of_a_slice_are_asked_once(case, mode, given):
    """An object at an end of a slice is asked as often as by the program itself, in reading and in writing,
    and the derivative is that of the answer."""
    f = SLICED[case]

    def afresh(x):
        given(lambda: None, Position())
        return f(x)

    right = gradient_by_differences(afresh, X)
    given(lambda: None, Position())
    try:
        if mode == "reverse":
            found = rl.gradient(f, X)[0]
        elif mode == "reverse over reverse":
            found = rl.gradient(lambda c: c @ rl.gradient(f, X)[0], np.ones(3))[0]
        else:
            found = []
            for along in np.eye(3):
                given(lambda: None, Position())
                found.append(jvp(f, (X,), (along,))[1])
    except MutationError:
        assert case == "written" and mode != "forward"  # arrays are not written to in reverse mode
        return
    np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-7)


class Labels:
    """Looks at the ends of its slices as they are."""

    def __getitem__(self, key):
        return 3.0 if isinstance(key.start, Position) else 5.0


LABELS = Labels()


def test_a_class_of_the_authors_gets_the_ends_themselves(given):
    """What a slice of an object means is said by its class."""
    given(lambda: None, Position())
    f = lambda x: x * LABELS[use:]  # noqa: E731
    assert rl.gradient(f, 2.0) == (3.0,)
    assert jvp(f, (2.0,), (1.0,)) == (6.0, 3.0)


class Shuffled:
    def __init__(self):
        self.rng, self.rows = np.random.default_rng(0), np.arange(12.0).reshape(6, 2)

    def __iter__(self):
        for i in self.rng.permutation(6)[:2]:
            yield self.rows[i]


def test_a_loader_that_shuffles(monkeypatch):
    """A loader that draws another order each time gives the gradient of the order that it drew."""
    weights, orders = np.array([0.5, 2.0]), Shuffled()
    monkeypatch.setitem(globals(), "data", Shuffled())

    def loss(w):
        return sum([np.sum((b * w) ** 2) for b in data])

    for _ in range(3):
        right = sum(2 * b * b * weights for b in orders)
        np.testing.assert_allclose(rl.gradient(loss, weights)[0], right)


# --- modes and orders ---------------------------------------------------------------------------------------


def quartic(x):
    s = 0.0
    for t in range(3):
        s = s + np.sum(x * x * data[t]) ** 2
    return s


def test_every_mode_and_order(monkeypatch):
    """Reverse over reverse, forward over reverse, and pullbacks that are called twice
    meet the same numbers."""
    monkeypatch.setitem(globals(), "data", Items())

    def again():
        data.count = 0

    def plain(x):
        again()
        return quartic(x)

    def slope(x):
        again()
        return rl.gradient(quartic, x)[0]

    right = gradient_by_differences(plain, X)
    hessian = np.array([(slope(X + d) - slope(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)])
    again()
    y, back = rl.pullback(quartic, X)
    np.testing.assert_allclose([back(1.0)[0], back(2.0)[0] / 2], [right, right], rtol=1e-5)

    def restarted(x):
        again_inside(data)
        return quartic(x)

    np.testing.assert_allclose(rl.gradient(restarted, X)[0], right, rtol=1e-5)
    slopes = lambda x: rl.gradient(restarted, x)[0]  # noqa: E731
    nested = (lambda: rl.hessian(restarted, X), lambda: rl.jacobian(slopes, X))
    for f in nested:
        again()
        try:
            found = f()
        except RuleLabError:
            continue  # refused: the function is run again, and what it reads has another state
        found = found[0] if isinstance(found, tuple) else found
        np.testing.assert_allclose(found, hessian, rtol=1e-4, atol=1e-6)


class Again:
    """Sets a dataset back, where it is asked whether it is in something."""

    def __contains__(self, dataset):
        dataset.count = 0
        return True


AGAIN = Again()


def again_inside(dataset):
    return dataset in AGAIN


def test_data_of_another_kind_under_the_same_name(monkeypatch):
    """A function that was differentiated with a list of arrays meets a loader with one buffer."""
    monkeypatch.setitem(globals(), "use", product)
    monkeypatch.setitem(globals(), "data", [np.ones(3)] * 3)
    np.testing.assert_allclose(rl.gradient(by_loop, X, cache=None)[0], 6 * X)
    checked(by_loop, Looped, product, lambda make, how: monkeypatch.setitem(globals(), "data", make()), None)


def test_a_branch_that_comes_later(monkeypatch):
    """Code that is not followed may come in a branch that is taken first when the pass is long known, and
    after something was drawn."""

    class Settings:
        late = False

    monkeypatch.setitem(globals(), "data", Looped())
    settings = Settings()

    def f(x):
        s = np.sum(x * RNG.random(3))
        if settings.late:
            s = s + sum([np.sum(x * x * b) for b in data])
        return s

    first = np.random.default_rng(0).random((3, 3))
    for k in range(2):
        np.testing.assert_allclose(rl.gradient(f, X)[0], first[k])
    settings.late = True
    right = first[2] + 2 * X * sum(values(t) for t in range(3))
    np.testing.assert_allclose(rl.gradient(f, X)[0], right)


def test_no_class_is_kept_alive():
    """Looking at the class of a constant does not keep it in memory when its cell is run again."""

    class Passing:
        @property
        def rate(self):
            return 2.0

    passing = Passing()
    assert rl.gradient(lambda x: x * passing.rate, 3.0) == (2.0,)
    held = weakref.ref(Passing)
    Passing = passing = None
    rl.refresh()
    gc.collect()
    assert held() is None


# --- what cannot be noticed ---------------------------------------------------------------------------------


class Replaced:
    def __add__(self, other):
        return 2.0


def behind_its_back(x):
    return np.sum(x * x * BUFFER) * (REPLACED + 1)


REPLACED = Replaced()


def test_debug_mode_finds_what_cannot_be_noticed(monkeypatch):
    """An array that a thread, or code put in the place of what was looked at, has changed is found in debug
    mode, at the line that had kept it."""
    rl.gradient(behind_its_back, X)
    monkeypatch.setattr(Replaced, "__add__", lambda self, other: refill(7.0))
    BUFFER[:] = 1.0
    with rl.debug_mode(compare=False), rl.debug_mode():
        with pytest.raises(MutationError, match="was changed after the derivative had kept it") as caught:
            rl.gradient(behind_its_back, X)
    assert caught.value.place.function == "behind_its_back"


def test_grad_check_finds_what_cannot_be_noticed(monkeypatch):
    """So does a check of the gradient by differences."""
    rl.gradient(behind_its_back, X)

    def setting_back(self, other):
        BUFFER[:] = 1.0 if BUFFER[0] == 7.0 else 7.0
        return 2.0

    monkeypatch.setattr(Replaced, "__add__", setting_back)
    BUFFER[:] = 1.0
    monkeypatch.setattr(Cache, "compare", False)
    with rl.debug_mode(compare=False):
        assert not grad_check(behind_its_back, X)


def test_what_one_function_needs_is_not_put_on_all(monkeypatch):
    """A second derivative that keeps copies goes through functions of rulelab that serve others, too."""
    monkeypatch.setitem(globals(), "data", Items())

    def restarted(x):
        again_inside(data)
        return quartic(x)

    rl.hessian(restarted, X)
    rl.jacobian(lambda x: rl.gradient(restarted, x)[0], X)
    package = str(Path(rl.__file__).parent)
    ours = [code.co_name for code in DEFAULT.copying if code.co_filename.startswith(package)]
    assert ours == [] and len(DEFAULT.copying) > 0


@pytest.mark.parametrize("kind", [Profile, Pieces])
def test_a_list_of_numbers_says_nothing_of_a_list_of_objects_behind_it(kind, given):
    """Both are lists, and what is kept of a call of the first must not answer for the second."""
    f = OFTEN["dot of a list"]
    for how, is_refused in ((1.0, False), (kind(), True), (2.0, False)):
        given(lambda: None, how)
        for mode in (lambda x: rl.gradient(f, x)[0], lambda x: jvp(f, (x,), (np.ones(3),))[1]):
            if is_refused:
                with pytest.raises(rl.NotDifferentiableError, match="more than once"):
                    mode(X)
            else:
                np.testing.assert_allclose(np.sum(mode(X)), 3 * how)


# --- lists that ignored code changes ------------------------------------------------------------------------

PICKED, WEIGHTS, BUFFERED = [0, 1], [1.0, 2.0, 3.0], array.array("d")
TABLE = [[1.0, 2.0, 3.0], [0.5, 0.1, 2.0]]
HOLDING = {"weights": WEIGHTS}


def as_written():
    PICKED[:], WEIGHTS[:], TABLE[0][0] = [0, 1], [1.0, 2.0, 3.0], 1.0
    BUFFERED[:] = array.array("d", [1.0, 2.0, 3.0])


def overwritten():
    PICKED[1], WEIGHTS[0], TABLE[0][0], BUFFERED[0] = 2, 50.0, 50.0, 50.0


READING_LISTS = {
    "index": lambda x: x[PICKED],
    "index in a tuple": lambda x: np.outer(x, x)[:, PICKED],
    "by np.take": lambda x: np.take(x, PICKED),
    "product": lambda x: np.dot(x, WEIGHTS),
    "operator": lambda x: WEIGHTS @ np.outer(x, x),
    "nested": lambda x: np.dot(TABLE, x),
    "keyword": lambda x: np.average(x, weights=WEIGHTS),
    "of a dict": lambda x: np.dot(x, HOLDING["weights"]),
    "coefficients": lambda x: np.polyval(WEIGHTS, x),
    "array of the standard library": lambda x: np.dot(x, BUFFERED),
}


@pytest.mark.parametrize("mode", ["reverse", "forward", "second order"])
@pytest.mark.parametrize("form", READING_LISTS)
def test_a_list_that_ignored_code_overwrites_later(form, mode):
    """The derivative is that of the values which the function read."""

    def squared(x):
        with rl.ignore_derivatives():
            as_written()
        y = READING_LISTS[form](x)
        with rl.ignore_derivatives():
            overwritten()
        return np.sum(y * y)

    right = gradient_by_differences(squared, X)
    if mode == "reverse":
        found = rl.gradient(squared, X)[0]
    elif mode == "forward":
        found = [rl.pushforward(squared, X)(direction) for direction in np.eye(3)]
    else:
        slope = lambda x: rl.gradient(squared, x)[0] @ X  # noqa: E731
        found = rl.gradient(slope, X)[0]
        right = gradient_by_differences(lambda x: gradient_by_differences(squared, x, 1e-4) @ X, X, 1e-4)
    np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-4)


# --- what a library changes ---------------------------------------------------------------------------------

CHANGED_BY_LIBRARIES = {
    "deque.rotate": lambda ring, heap, line: ring.rotate(1) or ring[0],
    "deque.popleft": lambda ring, heap, line: ring.popleft(),
    "deque.appendleft": lambda ring, heap, line: ring.appendleft(1.5 + len(ring)) or ring[0],
    "heapq.heappush": lambda ring, heap, line: heapq.heappush(heap, 0.1 + len(heap)) or len(heap),
    "queue.put": lambda ring, heap, line: line.put(1.0) or line.qsize(),
}


class Measured:
    def __float__(self):
        return 0.25


MEASURED = Measured()


@pytest.mark.parametrize("way", ["gradient", "pullback", "pushforward"])
@pytest.mark.parametrize("name", CHANGED_BY_LIBRARIES)
def test_what_a_library_changes_is_changed_once(name, way):
    """Also where code that is not followed comes later, for which the sweep begins again."""
    change = CHANGED_BY_LIBRARIES[name]

    def held():
        return collections.deque([0.2, 0.7, 1.3]), [0.3, 0.5], queue.Queue()

    state = held()

    def f(x):
        return x * change(*state) + x * float(MEASURED)

    right = f(1.0)
    state = held()
    if way == "gradient":
        found = rl.gradient(f, 2.0)[0]
    elif way == "pullback":
        found = rl.pullback(f, 2.0)[1](1.0)[0]
    else:
        found = rl.pushforward(f, 2.0)(1.0)
    assert found == pytest.approx(right, rel=1e-12)


class Counting:
    """An index that is another one at each time it is asked."""

    def __init__(self):
        self.count = 0

    def __index__(self):
        self.count += 1
        return self.count % 3


INDEX = Counting()


@pytest.mark.parametrize("inner", ["gradient", "pushforward"])
def test_an_index_is_asked_once_at_second_order(inner):
    """Also where only the run tells what is indexed."""

    def f(v):
        w = np.where(v > 0.0, v, 2.0 * v)
        return w[INDEX] ** 2

    slope = {
        "gradient": lambda v: rl.gradient(f, v)[0] @ X,
        "pushforward": lambda v: rl.pushforward(f, v)(X),
    }[inner]
    INDEX.count = 0
    if inner == "gradient":
        with pytest.raises(RuleLabError, match="runs again"):
            rl.pushforward(slope, X)(X)
    else:
        assert rl.pushforward(slope, X)(X) == pytest.approx(2.0 * (2.0 * X[1]) ** 2)
        assert INDEX.count == 1


class Short:
    """An iterator with two items, which cannot begin again."""

    def __init__(self):
        self.left = [1.5, 2.5]

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        return self.left.pop()


@pytest.mark.parametrize("way", ["reverse over reverse", "forward over reverse"])
def test_a_function_that_cannot_run_again_is_refused(way, monkeypatch):
    """What it raises the second time is not handed on as if it were its own error."""
    monkeypatch.setitem(globals(), "SHORT", Short())

    def f(x):
        return x**3 * next(SHORT) * next(SHORT)  # noqa: F821

    def slope(x):
        return rl.gradient(f, x)[0]

    assert slope(1.5) == pytest.approx(3.0 * 1.5**2 * 1.5 * 2.5)
    SHORT.left = [1.5, 2.5]  # noqa: F821
    with pytest.raises(RuleLabError, match="raises StopIteration when it runs again"):
        if way == "reverse over reverse":
            rl.gradient(slope, 1.5)
        else:
            rl.pushforward(slope, 1.5)(1.0)


LAYOUTS = {
    "reversed": lambda v: v[::-1] @ v,
    "every other": lambda v: v[::2] @ v[1::2],
    "column": lambda v: v.reshape(4, 5)[:, 1] @ v[:4],
    "transposed": lambda v: (v.reshape(4, 5).T @ v[:4]) @ v[:5],
    "reversed matrix": lambda v: np.sum(v.reshape(4, 5)[::-1, ::-1] @ v.reshape(5, 4)),
    "broadcast": lambda v: np.broadcast_to(v[3], 5) @ v[:5],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_copy_is_laid_out_as_the_array(name, monkeypatch):
    """The value is that of the plain function to the last digit, which depends on the strides in BLAS."""
    monkeypatch.setitem(globals(), "data", Property())
    product = LAYOUTS[name]

    def f(v):
        return np.sum(data.batch) * 0.0 + product(v)

    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for _ in range(60):
            v = rng.standard_normal(20)
            assert rl.withgradient(f, v)[0] == product(v)
