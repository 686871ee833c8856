"""Rules that have no complex step to compare them with, against definitions in fifty digits."""

import numpy as np
import pytest

linalg = pytest.importorskip("scipy.linalg")
fft = pytest.importorskip("scipy.fft")
signal = pytest.importorskip("scipy.signal")
pytest.importorskip("mpmath")

import definitions as by_definition  # noqa: E402
from forms import strided  # noqa: E402

import rulelab as rl  # noqa: E402


def flat(*values):
    """The entries of arrays, one after another."""
    return np.concatenate([np.ravel(value) for value in values])


def projections(v):
    return np.stack([np.outer(v[:, j], np.conj(v[:, j])) for j in range(v.shape[1])])


def svd(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return flat(s, projections(u), projections(np.conj(vh.T)))


def eigh(a):
    w, v = linalg.eigh((a + np.conj(a.T)) / 2)
    return flat(w, projections(v))


def eig(a):
    w, v = linalg.eig(a)
    order = np.lexsort((np.imag(w), np.real(w)))
    return flat(w[order], projections(v[:, order]))


def qr(a):
    q, r = linalg.qr(a, mode="economic")
    return flat(projections(q), np.conj(r.T) @ r)


def polar(a):
    u, p = linalg.polar(a)
    return flat(u, p)


def riccati(a, b, q, r):
    return linalg.solve_continuous_are(a, b, (q + q.T) / 2, (r + r.T) / 2)


def symmetric_riccati(a, b, q, r):
    return by_definition.riccati(a, b, (q + q.T) / 2, (r + r.T) / 2)


RNG = np.random.default_rng(5)
A = np.array([[2.0, 0.5, -0.75], [0.25, 3.5, 0.5], [0.5, -0.75, 5.0]])
Z = A + 0.3j * np.array([[1.0, -0.5, 0.25], [0.75, 0.5, -1.0], [0.5, 1.0, -0.5]])
TALL = RNG.normal(size=(4, 3)) + np.eye(4, 3)
TALL_Z = TALL + 0.5j * RNG.normal(size=(4, 3))
B, Q = np.array([[1.0, 0.5], [0.25, 2.0]]), RNG.normal(size=(3, 2))
X, LONG = RNG.normal(size=8), RNG.normal(size=20)
HALF = RNG.normal(size=5) + 1j * RNG.normal(size=5)
WORDS = {"window": "hann", "nperseg": 8, "noverlap": 4}

CASES = {  # the function, its definition, real arguments and complex ones
    "svd": (svd, by_definition.svd, (TALL,), (TALL_Z,)),
    "eigh": (eigh, by_definition.eigh, (A,), (Z,)),
    "eig": (eig, by_definition.eig, (A,), (Z,)),
    "svdvals": (linalg.svdvals, lambda a: by_definition.svd(a)[:3], (TALL,), (TALL_Z,)),
    "eigvalsh": (
        lambda a: linalg.eigvalsh((a + np.conj(a.T)) / 2),
        lambda a: by_definition.eigh(a)[:3],
        (A,),
        (Z,),
    ),
    "eigvals": (
        lambda a: np.sort_complex(linalg.eigvals(a)),
        lambda a: by_definition.eig(a)[:3],
        (A,),
        (Z,),
    ),
    "qr": (qr, by_definition.qr, (TALL,), (TALL_Z,)),
    "lstsq": (
        lambda a, b: linalg.lstsq(a, b)[0],
        by_definition.lstsq,
        (TALL, RNG.normal(size=4)),
        (TALL_Z, RNG.normal(size=4) + 1j),
    ),
    "pinv": (linalg.pinv, by_definition.pinv, (TALL,), (TALL_Z,)),
    "polar": (polar, by_definition.polar, (TALL,), None),
    "sylvester": (linalg.solve_sylvester, by_definition.sylvester, (A, B, Q), (Z, B + 0.5j, Q + 1j)),
    "lyapunov": (
        linalg.solve_continuous_lyapunov,
        by_definition.lyapunov,
        (A, TALL[:3]),
        (Z, TALL_Z[:3]),
    ),
    "discrete lyapunov": (
        linalg.solve_discrete_lyapunov,
        by_definition.discrete_lyapunov,
        (A / 8, TALL[:3]),
        (Z / 8, TALL_Z[:3]),
    ),
    "riccati": (riccati, symmetric_riccati, (-A, Q, np.eye(3) + A / 8, np.eye(2) + B / 8), None),
    "expm": (linalg.expm, by_definition.expm, (A / 4,), (Z / 4,)),
    "logm": (linalg.logm, by_definition.logm, (A,), (Z,)),
    "sqrtm": (linalg.sqrtm, by_definition.sqrtm, (A,), (Z,)),
    "rfft": (fft.rfft, by_definition.rfft, (X,), None),
    "irfft": (fft.irfft, by_definition.irfft, None, (HALF,)),
    "hfft": (fft.hfft, by_definition.hfft, None, (HALF,)),
    "dct": (fft.dct, by_definition.dct, (X,), (X + 1j * X[::-1],)),
    "dst": (fft.dst, by_definition.dst, (X,), (X + 1j * X[::-1],)),
    "savgol_filter": (lambda x: signal.savgol_filter(x, 5, 2), by_definition.savgol, (LONG,), None),
    "lfilter": (
        signal.lfilter,
        by_definition.lfilter,
        (np.array([1.0, 0.5]), np.array([2.0, -0.5, 0.25]), X),
        (np.array([1.0, 0.5j]), np.array([2.0, -0.5j, 0.25]), X + 1j),
    ),
    "periodogram": (lambda x: signal.periodogram(x)[1], by_definition.periodogram, (X,), None),
    "welch": (lambda x: signal.welch(x, **WORDS)[1], by_definition.welch, (LONG,), None),
    "spectrogram": (
        lambda x: signal.spectrogram(x, **WORDS)[2],
        by_definition.spectrogram,
        (LONG,),
        None,
    ),
}
POINTS = [
    (name, kind)
    for name, (_, _, real, turned) in CASES.items()
    for kind, args in (("real", real), ("complex", turned))
    if args is not None
]
SHORT = {"f": np.float32, "c": np.complex64}


def direction(args):
    """One for the arguments, complex where they are."""
    rng = np.random.default_rng(9)
    drawn = [(rng.normal(size=x.shape), rng.normal(size=x.shape)) for x in args]
    return tuple([a + 1j * b if x.dtype.kind == "c" else a for x, (a, b) in zip(args, drawn, strict=True)])


@pytest.mark.every(6)
@pytest.mark.parametrize(("name", "kind"), POINTS, ids=lambda x: x)
def test_both_orders_agree_with_the_definition(name, kind):
    """The value, both modes, and the second derivative along a direction, of arrays with gaps between their
    numbers as well; in short floats the first order.
    """
    f, definition, *points = CASES[name]
    args = points[kind == "complex"]
    along = direction(args)
    value, first, second = map(np.array, by_definition.derivatives(definition, args, along))
    for form, within in ((np.copy, 1e-9), (strided, 1e-9), (lambda x: x.astype(SHORT[x.dtype.kind]), 2e-3)):
        here, there = [form(x) for x in args], [form(x) for x in along]
        near(np.ravel(f(*here)), value, within)
        near(np.ravel(rl.pushforward(f, *here)(*there)), first, within)
        y, back = rl.pullback(f, *here)
        y_bar = np.cos(1.0 + np.arange(y.size)).reshape(y.shape).astype(y.dtype)
        near(paired(back(y_bar), there), np.real(np.vdot(y_bar, first)), within)

    def tangent(*xs):
        return rl.pushforward(f, *xs)(*along)

    near(np.ravel(rl.pushforward(tangent, *args)(*along)), second, 1e-7)
    y, back = rl.pullback(tangent, *args)
    y_bar = np.cos(1.0 + np.arange(y.size)).reshape(y.shape).astype(y.dtype)
    near(paired(back(y_bar), along), np.real(np.vdot(y_bar, second)), 1e-7)


def paired(bars, dots):
    """The sum of the inner products; the cotangent of what a function does not depend on is None."""
    pairs = zip(bars, dots, strict=True)
    return sum(np.real(np.vdot(bar, dot)) for bar, dot in pairs if bar is not None)


def near(found, wanted, within):
    scale = 1.0 + float(np.max(np.abs(wanted), initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=within, atol=within * scale)
