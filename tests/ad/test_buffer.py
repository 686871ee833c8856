"""A Buffer may be written to, and the gradient is that of what is in it at each moment."""

import numpy as np
import pytest

import rulelab as rl

from ..differences import gradient_by_differences

W = np.arange(1.0, 7.0)
X = np.array([0.7, -1.3, 2.1])


def running(x):
    b = rl.Buffer(x)
    b[0] = x[0]
    for i in range(1, len(x)):
        b[i] = b[i - 1] + x[i] ** 2
    return np.sum(b.copy())


def overwritten(x):
    b = rl.Buffer(np.zeros(4))
    b[1] = x[0]
    b[1] = x[1] * 2
    b[:] = b[:] * x[2]
    b[2:4] += x[:2]
    b[0] += 3 * x[0]
    b[1:3] *= x[1]
    return np.sum(b.copy() * W[:4])


def positions_and_masks(x):
    b = rl.Buffer(x, shape=4)
    b[[0, 1, 0]] = x[:3]
    b[np.array([2, 3])] = x[1]
    y = b[[0, 0, 3]]
    b[np.array([True, False, True, False])] = x[:2] * x[2]
    b[[-1, 3]] += x[0]
    return np.sum(y * W[:3]) + np.sum(b.copy() * W[:4])


def appended(x):
    b = rl.Buffer(x, shape=0)
    for v in x:
        b.append(v * v)
    p = b.pop()
    b.append(p * x[0])
    b.append(x[1])
    q = b.pop()
    return np.sum(b.copy() * W[: len(b)]) + q * b[0] * b[-1]


def rows_appended(x):
    b = rl.Buffer(x, shape=(1, 3))
    b.append(x * x[0])
    b.append(b[-1] * b[1])
    last = b.pop()
    b[0] = [x[0], 2.0, last[1]]
    return np.sum(b.copy() @ b[:].T) + np.sum(last)


def add_to(b, i, v):
    b[i] = b[i] + v


def under_other_names(x):
    b = rl.Buffer(x)
    c = b

    def put(i, v):
        b[i] = v * x[0]

    for i in range(len(x)):
        put(i, x[i])
    add_to(c, 0, x[1])
    add_to(c, 0, b[0])
    append = rl.Buffer(x, shape=0).append
    append(x[0])
    return sum(v * v for v in b) + len(b) * b[1] + sum([v for v in b])


def two_axes(x):
    b = rl.Buffer(x, shape=(2, 3))
    b[0] = x[:3]
    b[1, :] = x[0]
    b[:, 1] = [x[1], x[2] * x[2]]
    b[1, 2] = b[0, 2] * b[1, 0]
    b[..., 0] = x[:2]
    b[None, 0, 1:] += x[None, :2]
    m = b.copy()
    return np.sum(m @ m.T) + np.sum(b[1] * b[0])


def in_containers(x):
    bs = [rl.Buffer(x), rl.Buffer(x)]
    d = {"b": bs[0]}
    bs[0][0] = x[0]
    d["b"][1] = bs[0][0] * x[1]
    bs[1][:] = bs[0][:] * 2
    return np.sum(bs[1].copy() * x)


def of_constants(x):
    w = rl.Buffer(np.zeros(3))
    w[1:3] += 2.0
    w[0] = 5.0
    return np.sum(w.copy() * x[:3])


def sweeps(x):
    b = rl.Buffer(x)
    for _ in range(5):
        for i in range(len(x)):
            b[i] = b[i] * 0.5 + x[i] * x[i - 1]
    return np.sum(b[:] ** 2)


def on_a_branch(x):
    b = rl.Buffer(x)
    b[0] = x[0] * 3
    if x[0] > 0:
        b[0] = x[1]
    while b[1] < 3:
        b[1] += 1.0 + x[2]
    return b[0] * b[1]


def shifted(x):
    b = rl.Buffer(x)
    b[:] = x
    b[1:] = b[:-1]
    b[::2] = 1.0
    b[-1] = b[-2] * x[0]
    return np.sum(b.copy() * x)


def changed_in_its_own_loop(x):
    b = rl.Buffer(x)
    b[:] = x
    s = 0.0
    for k, (v, w) in enumerate(zip(b, x)):
        b[k - 1] = v * w
        s = s + v
    for v in b:
        if len(b) < 6:
            b.append(v * x[0])
    for v in reversed(b):
        s = s * v + 1
    return s


def given_to_functions_of_iterables(x):
    b = rl.Buffer(x)
    b[:] = x * x[0]
    first, *rest = b
    return sum(map(lambda v: v * v, b)) + max(b) + first * rest[0] + np.sum(np.stack(list(b)))


def by_its_shape(x):
    b = rl.Buffer(x)
    b[0] = x[0] * b.shape[0] * b.ndim
    return b[0] if b.dtype == float else 0.0


def maker(x):
    b = rl.Buffer(x)
    b[:] = x * 2
    return b


def handed_back(x):
    b = maker(x)
    b[0] *= x[1]
    return np.sum(b.copy() * b[0])


PROGRAMS = [
    running, overwritten, positions_and_masks, appended, rows_appended, under_other_names, two_axes,
    in_containers,
    of_constants, sweeps, on_a_branch, shifted, changed_in_its_own_loop, given_to_functions_of_iterables,
    by_its_shape, handed_back,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_against_differences(f):
    """The gradient is that of the written program; a pullback may be called again."""
    expected = gradient_by_differences(f, X)
    assert rl.gradient(f, X)[0] == pytest.approx(expected, abs=1e-6)
    y, back = rl.pullback(f, X)
    assert y == f(X)
    assert back(2.0)[0] == pytest.approx(2 * expected, abs=1e-5)
    assert back(1.0)[0] == pytest.approx(expected, abs=1e-6)

    def of_scaled(x):
        return f(x * x[0])

    assert rl.gradient(of_scaled, X)[0] == pytest.approx(gradient_by_differences(of_scaled, X), abs=1e-5)


def test_random_writes():
    """Hundreds of random writes, reads, appends and pops in a row: as by differences."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        steps = [(int(rng.integers(6)), *map(int, rng.integers(0, 3, 3))) for _ in range(25)]

        def f(x, steps=steps):
            b = rl.Buffer(x)
            b[:] = x
            for kind, i, j, k in steps:
                if kind == 0:
                    b[i] = b[j] * x[k]
                elif kind == 1:
                    b[i] += b[j] * 0.5
                elif kind == 2:
                    b[[i, j]] = b[[k, k]] * x[:2]
                elif kind == 3:
                    b.append(b[i] - x[k])
                elif kind == 4 and len(b) > 3:
                    b[i] = b.pop() * 0.3
                else:
                    b[i:] *= x[j]
            return np.sum(b.copy() ** 2)

        assert rl.gradient(f, X)[0] == pytest.approx(gradient_by_differences(f, X), rel=1e-5, abs=1e-5)


def test_plain():
    """Without a derivative it is an array that copies what is read."""
    b = rl.Buffer(np.zeros((2, 2), np.float32))
    row = b[0]
    b[0] = [1.0, 2.0]
    assert row.tolist() == [0.0, 0.0]
    assert (b.shape, b.ndim, b.dtype, len(b)) == ((2, 2), 2, np.float32, 2)
    b.append([3.0, 4.0])
    assert b.pop().tolist() == [3.0, 4.0]
    assert b.copy().tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert rl.Buffer(b, shape=(), dtype=int).shape == ()
    assert [*rl.Buffer([1, 2], shape=3)] == [0, 0, 0]
    with pytest.raises(TypeError, match="not an array"):
        np.asarray(b)
    with pytest.raises(TypeError):
        np.sum(b)
    with pytest.raises(TypeError):
        b + 1
    with pytest.raises(ValueError, match="append of shape"):
        rl.Buffer(b).append(1.0)
    with pytest.raises(IndexError):
        rl.Buffer([]).pop()
    with pytest.raises(TypeError, match="holds numbers"):
        rl.Buffer(["a"])


def test_frozen():
    """After copy() it may be read and no longer written to, plain and in a derivative; the array is apart."""
    b = rl.Buffer([0.0, 0.0])
    y = b.copy()
    y[0] = 5.0
    assert b[0] == 0.0
    for write in (lambda: b.__setitem__(0, 1.0), lambda: b.append(1.0), b.pop):
        with pytest.raises(rl.MutationError, match="Buffer is frozen"):
            write()

    def f(x):
        b = rl.Buffer(x)
        b.copy()
        b[0] = x[0]
        return b[0]

    with pytest.raises(rl.MutationError, match="Buffer is frozen") as caught:
        rl.gradient(f, X)
    assert "b[0] = x[0]" in str(caught.value)


KEPT = rl.Buffer([2.0, 3.0])
KEPT[:] = [2.0, 3.0]


def test_from_outside():
    """One that was made outside may be read; every change is refused before it happens."""
    assert rl.gradient(lambda x: x * KEPT[1], 2.0) == (3.0,)
    changes = [
        lambda x: KEPT.__setitem__(0, x), lambda x: KEPT.append(x), lambda x: KEPT.pop() * x,
        lambda x: KEPT.copy()[0] * x,
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(rl.MutationError, match="Buffer") as caught:
            rl.gradient(change, 2.0)
        assert "create the Buffer in the function" in str(caught.value)
    with pytest.raises(rl.RuleLabError):
        rl.gradient(lambda x, b: add_to(b, 0, x), 2.0, KEPT)
    assert KEPT[:].tolist() == [2.0, 3.0]


def test_kinds_of_numbers():
    """Widths and complex numbers as by hand; a real value has a real gradient."""

    def narrow(x):
        b = rl.Buffer(np.zeros(2, np.float32))
        b[0] = x
        return b[0] * 2.0

    def complex_(x):
        b = rl.Buffer(np.zeros(2, complex))
        b[0] = x * 1j
        b[1] = x
        return (b[0] * b[1] * (1 - 2j)).real

    def parts(z):
        b = rl.Buffer(np.zeros(1, complex))
        b.append(z * z)
        return b[1].real

    assert rl.gradient(narrow, 3.0) == (2.0,)
    assert rl.gradient(complex_, 3.0) == (pytest.approx(12.0),)
    assert rl.gradient(parts, 1 + 2j) == (pytest.approx(2 - 4j),)


def test_ints():
    """A float does not lose its digits in a Buffer of ints; an int that varies is refused."""

    def floats(x):
        b = rl.Buffer([1, 2])
        b[0] = x
        return b[0] * 1.0

    for call in (lambda: floats(1.5), lambda: rl.gradient(floats, 1.5)):
        with pytest.raises(TypeError, match="does not fit into a Buffer of int64"):
            call()
    with pytest.raises(rl.NotDifferentiableError, match="Buffer of int64"):
        rl.gradient(floats, 3)

    def indices(x):
        b = rl.Buffer([0, 0])
        b[0] = 2
        b.append(1)
        return x[b[0]] * x[b[2]]

    assert rl.gradient(indices, X)[0].tolist() == [0.0, 2.1, -1.3]


def keeps_a_row(x):
    b = rl.Buffer(x)
    b[:] = x
    row = b[0:2]
    rows = [row]
    rows[0] += x[0]
    return np.sum(row)


def reads_it_late(x):
    b = rl.Buffer(x)
    b[:] = x
    pairs = zip(b, x)
    s = 0.0
    for v, w in pairs:
        s = s + v * w
        b[1] = b[1] * 2 + s
    return s


def sums_it(x):
    b = rl.Buffer(x)
    b[0] = x[0]
    return np.sum(b)


def multiplies_it(x):
    b = rl.Buffer(x)
    b[0] = x[0]
    return np.sum(b * 2)


def writes_lists_of_lists(x):
    b = rl.Buffer(x, shape=(2, 2))
    b[:] = [[x[0], x[1]], [x[1], x[2]]]
    return b[0, 1]


def checkpoints_it(x):
    b = rl.Buffer(x)
    b[:] = x

    def write(v):
        b[0] = v
        return v

    return rl.checkpointed(write, x[1]) + b[0]


@pytest.mark.parametrize(
    "f",
    [keeps_a_row, reads_it_late, sums_it, writes_lists_of_lists, checkpoints_it],
    ids=lambda f: f.__name__,
)
def test_refused(f):
    """What could lose a gradient or meet other values is refused, with the author's line."""
    with pytest.raises(rl.RuleLabError) as caught:
        rl.gradient(f, X)
    assert not isinstance(caught.value, (rl.InternalError, rl.WrongTransformError))
    assert caught.value.place is not None


def test_an_operator_that_it_does_not_have_is_the_mistake_that_it_is_without_us():
    """Python's own error, as the plain function raises it."""
    for call in (multiplies_it, lambda x: rl.gradient(multiplies_it, x)):
        with pytest.raises(TypeError, match="unsupported operand"):
            call(X)


def test_lists_of_positions_may_change():
    """An index that is changed after the write is the old one in the reverse sweep."""

    def f(x):
        where = [0, 1]
        b = rl.Buffer(x)
        b[where] = x[:2]
        where[1] = 2
        return np.sum(b.copy() * W[:3])

    assert rl.gradient(f, X)[0].tolist() == [1.0, 2.0, 0.0]
