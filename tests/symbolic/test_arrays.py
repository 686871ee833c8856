"""Arrays of traced numbers go through NumPy as float arrays do: same values, same shapes, same views."""

import math
from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic.arrays import TracedArray
from rulelab.symbolic.cells import Array
from rulelab.symbolic.field_graphs import is_identically_equal
from rulelab.symbolic.plain_values import flat_floats
from rulelab.symbolic.scalars import CannotTrace, Scalar, Trace, shadow_of
from rulelab.symbolic.swap import Swap
from rulelab.symbolic.tracing import traced_arguments

X = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]])
S = np.array([[2.0, 0.5, -0.25], [0.75, 3.0, 0.5], [-0.5, 0.25, 1.5]])
P = S @ S.T


def writes_by_slice(x):
    out = np.zeros(x.shape)
    out[:, 1:] += x[:, 1:] ** 2
    out[0] = 1.0
    return out


def writes_through_a_view(x):
    out = np.zeros((3, 2))
    out.T[...] = x
    row = out[1]
    row *= 3
    return out


def writes_by_mask(x):
    y = x.copy()
    y[y < 0] = 0.0
    return y


def sums_at_places(x):
    out = np.zeros(2)
    np.add.at(out, [0, 1, 0], x[0])
    return out


def follows_the_dtype(x):
    return np.zeros(2, dtype=x.dtype) + x[:, 0] if x.dtype.kind == "f" else x[:, 1]


ON_X = {
    "arithmetic": lambda x: 2 * x - x / 3 + x**2 - 1.0 / x,
    "elementwise": lambda x: np.exp(x) + np.sin(x) * np.tanh(x) + np.log1p(x * x),
    "broadcast": lambda x: x * x[:, :1] + x[0],
    "where": lambda x: np.where(x > 0, x, 0.1 * x),
    "clip": lambda x: np.clip(x, -1.0, 1.0) + x.clip(0, None),
    "maximum": lambda x: np.maximum(x, 0.6) + np.minimum(x, x[:, ::-1]),
    "abs and sign": lambda x: np.abs(x) * np.sign(x) + abs(x),
    "sum": lambda x: x.sum() + np.sum(x, axis=1, keepdims=True),
    "mean": lambda x: x.mean(axis=0) + np.mean(x),
    "prod": lambda x: np.prod(x, axis=-1),
    "extremes": lambda x: x.max(axis=0) - x.min() + np.ptp(x),
    "positions": lambda x: np.argmax(x, axis=1) + x.argmin(axis=1) + x[:, 0],
    "cumsum": lambda x: np.cumsum(x, axis=1) + x.cumprod(axis=0),
    "variance": lambda x: np.var(x, axis=0, ddof=1) + x.std(),
    "median": lambda x: np.median(x, axis=1),
    "norm": lambda x: np.linalg.norm(x, axis=1) + np.linalg.norm(x),
    "all": lambda x: x * np.all(x < 9) + np.any(x > 5),
    "slices": lambda x: x[:, ::-1] + x[..., 1:2] + x[0, None],
    "fancy indices": lambda x: x[[1, 0, 1], [2, 0, 0]],
    "mask": lambda x: x[x > 0],
    "write": writes_by_slice,
    "view": writes_through_a_view,
    "write by mask": writes_by_mask,
    "add.at": sums_at_places,
    "reshape": lambda x: x.reshape(3, 2) + x.ravel()[:2],
    "transpose": lambda x: x.T + np.transpose(x) + np.swapaxes(x, 0, 1),
    "concatenate": lambda x: np.concatenate([x, np.ones((1, 3))]),
    "stack": lambda x: np.stack([x, 2 * x], axis=1) + np.vstack([x[0], x[1]]),
    "tile": lambda x: np.tile(x, (1, 2)) + np.repeat(x, 2, axis=1),
    "broadcast_to": lambda x: np.broadcast_to(x[0], (4, 3)),
    "roll": lambda x: np.roll(x, 1, axis=1) + np.flip(x, 0),
    "triangles": lambda x: np.triu(x) + np.tril(x, -1),
    "diag": lambda x: np.diag(x[0]) + np.eye(3) * x[1],
    "outer": lambda x: np.outer(x[0], x[1]) + np.multiply.outer(x[0], x[1]),
    "matmul": lambda x: x @ x.T + x.dot(x.T),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x) + np.einsum("ij->i", x),
    "tensordot": lambda x: np.tensordot(x, x, 2) + np.inner(x, x),
    "kron": lambda x: np.kron(x, x[0]),
    "trace": lambda x: np.trace(x[:, :2]) * x,
    "sort": lambda x: np.sort(x, axis=1),
    "argsort": lambda x: np.take_along_axis(x, np.argsort(x, axis=1), 1),
    "diff": lambda x: np.diff(x, axis=1),
    "where=": lambda x: np.sum(x, axis=0, where=x > 0),
    "out=": lambda x: np.add(x, 1.0, out=np.zeros((2, 3))),
    "comprehension": lambda x: np.array([[math.exp(v) for v in row] for row in x]),
    "dtype": follows_the_dtype,
    "list": lambda x: sum(x[0].tolist()) + float(x[1, 1]),
}
ON_S = {
    "det": lambda a: np.linalg.det(a) * a,
    "inv": lambda a: np.linalg.inv(a),
    "inverses of a stack": lambda a: np.linalg.inv(np.stack([a, a + np.eye(3)])),
    "four rows": lambda a: np.linalg.inv(np.kron(np.eye(2), a[:2, :2]) + 0.1) * np.linalg.det(a),
    "solve": lambda a: np.linalg.solve(a, a[:, :1]) + np.linalg.solve(a, a[0])[:, None],
    "slogdet": lambda a: np.linalg.slogdet(-a)[0] * np.linalg.slogdet(a)[1],
    "matrix_power": lambda a: np.linalg.matrix_power(a, 3) + np.linalg.matrix_power(a, -1),
    "cholesky": lambda a: np.linalg.cholesky(a @ a.T),
}


def traced(f, values):
    trace = Trace()
    sample = Array(tuple(map(Fraction, values.ravel())), values.shape)
    (x,), leaves = traced_arguments(trace, ("x",), (sample,))
    return Swap(trace).value(f, "f")(x), trace


@pytest.mark.parametrize(
    ("f", "values"),
    [
        *[pytest.param(f, X, id=n) for n, f in ON_X.items()],
        *[pytest.param(f, S, id=n) for n, f in ON_S.items()],
    ],
)
def test_traced_arrays_do_what_float_arrays_do(f, values):
    """Each construct gives value and shape of the plain run, and the result depends on the array."""
    plain = np.asarray(f(values.copy()))
    result, _ = traced(f, values)
    assert np.shape(result) == plain.shape
    entries = np.asarray(result, dtype=object).ravel().tolist()
    assert any(isinstance(e, Scalar) and not e.is_constant for e in entries)
    assert flat_floats([float(shadow_of(e)) for e in entries]) == pytest.approx(plain.ravel(), rel=1e-12)


def test_a_traced_array_says_it_holds_floats():
    """Code that looks at class and dtype goes the way it goes for a float array."""
    x, _ = traced(lambda x: x, X)
    assert isinstance(x, TracedArray) and x.dtype == np.float64 and np.issubdtype(x.dtype, np.floating)
    assert isinstance(x[0, 1], Scalar) and isinstance(x[0], TracedArray)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: np.linalg.svd(x)[1], "np.linalg.svd"),
        (lambda x: np.linalg.pinv(x), "np.linalg.pinv"),
        (lambda x: np.histogram(x)[0], "np.histogram"),
    ],
)
def test_what_is_not_covered_is_named(f, name):
    """A function of NumPy that traced numbers cannot follow stops the trace under its own name."""
    with pytest.raises(CannotTrace, match=name.replace(".", r"\.")):
        traced(f, X)


def test_equal_everywhere_is_told_from_a_tie():
    """Two ways of writing one number are no tie; two entries that happen to be equal are."""
    (a, b), trace = traced(
        lambda x: [(x[0, 0] + x[0, 1]) ** 2, x[0, 0] ** 2 + x[0, 1] * (2 * x[0, 0] + x[0, 1])], X
    )
    assert is_identically_equal(a, b)
    assert not is_identically_equal(a, b + a.trace.constant(1))
