"""The functions of NumPy and Python that take no objects, by their definitions, of exact numbers.

Where NumPy has a function of arrays of objects, that one is called itself. These are the others.
"""

import builtins
import cmath
import math
import operator
import statistics

import numpy as np
from exact_numbers import Exact, fmod, hypot, is_complex, number, ordinary, power, remainder, truncated
from mpmath import mp

from rulelab.rulesets.numpy_indexing import scatter


def objects(x):
    """An array of exact numbers, of whatever numbers are given."""
    return np.asarray(np.frompyfunc(Exact, 1, 1)(np.asarray(x, object)))


def elementwise(f, count=1, results=1):
    """A ufunc of exact numbers, with the methods of one."""
    if results == 1:
        return np.frompyfunc(lambda *xs: Exact(f(*map(number, xs))), count, 1)
    return np.frompyfunc(lambda *xs: tuple(map(Exact, f(*map(number, xs)))), count, results)


def of_numbers(f):
    """A function of Python's numbers, of exact ones."""

    def of(*xs):
        y = f(*[number(x.item() if isinstance(x, np.ndarray) else x) for x in xs])
        return tuple(map(Exact, y)) if isinstance(y, tuple) else Exact(y)

    return of


def identity(x, *_, **__):
    return x


def logaddexp(base):
    def of(x, y):
        high, low = (x, y) if mp.re(x) > mp.re(y) else (y, x)
        return high + mp.log(1 + mp.power(base(), low - high)) / mp.log(base())

    return of


def signum(z):
    return z / abs(z) if is_complex(z) and z else mp.sign(z)


def copysign(x, y):
    return abs(x) if y >= 0 else -abs(x)


def heaviside(x, half):
    return half if x == 0 else mp.mpf(x > 0)


def modf(x):
    return x - truncated(x), truncated(x)


def frexp(x):
    man, exponent = mp.frexp(x)
    return man, mp.mpf(exponent)


def ldexp(x, n):
    return x * mp.mpf(2) ** int(n)


def sinc(x):
    return mp.mpf(1) if x == 0 else mp.sin(mp.pi * x) / (mp.pi * x)


def ieee_remainder(x, y):
    return x - y * mp.nint(x / y)


def angle(z, deg=False):
    turned = elementwise(lambda z: mp.arg(z) * (180 / mp.pi if deg else 1))
    return turned(z)


def nearest(x, towards):
    return x


# -- sums ----------------------------------------------------------------------------------------------------


def masked(reduce, unit):
    """A reduction that NumPy refuses to mask without a first number."""

    def of(a, axis=None, dtype=None, out=None, keepdims=False, initial=unit, where=True):
        kept = np.where(where, objects(a), Exact(unit))
        return reduce(kept, axis=axis, keepdims=keepdims, initial=Exact(initial))

    return of


def product_along(a, axis=0, *rest, **words):
    return masked(np.prod, 1)(a, axis, *rest, **words)


def python_power(x, y):
    """Of numbers, complex where a negative one is raised to a fraction."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray) or number(x) == 0:
        return x**y
    return Exact(mp.power(number(x), number(y)))


def log_of_sum(a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True):
    total = np.sum(elementwise(mp.exp)(objects(a)) * np.asarray(where, int), axis=axis, keepdims=keepdims)
    return elementwise(mp.log)(total if initial is None else total + Exact(mp.exp(number(initial))))


def partition(a, kth, axis=-1, kind="introselect"):
    """In the order that NumPy chooses beside the numbers that are asked for."""
    a = objects(a)
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return np.take_along_axis(a, np.argpartition(ordinary(a), kth, axis), axis)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    a, kept = objects(a), np.broadcast_to(where, np.shape(a))
    total = np.sum(np.where(kept, a, Exact(0)), axis=axis, keepdims=keepdims)
    return total / np.sum(kept, axis=axis, keepdims=keepdims)


def variance(
    a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0
):
    a, kept = objects(a), np.broadcast_to(where, np.shape(a))
    middle = DEFINITIONS[np.mean](a, axis=axis, keepdims=True, where=where) if mean is None else mean
    squares = np.where(kept, abs(a - middle) ** 2, Exact(0))
    count = np.sum(kept, axis=axis, keepdims=keepdims) - (ddof or correction)
    return np.sum(squares, axis=axis, keepdims=keepdims) / count


def nanvariance(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, **_):
    there = np.frompyfunc(lambda x: not mp.isnan(number(x)), 1, 1)(objects(a)).astype(bool)
    return variance(a, axis, ddof=ddof, keepdims=keepdims, where=there & where)


def nandeviation(*args, **words):
    return roots_of(nanvariance(*args, **words))


def deviation(*args, **words):
    return roots_of(variance(*args, **words))


roots_of = elementwise(mp.sqrt)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return quantile(a, 0.5, axis, keepdims=keepdims)


EDGES = {  # Hyndman and Fan (1996): where between the numbers, sorted, a quantile is
    "linear": (1, 1), "interpolated_inverted_cdf": (0, 1), "hazen": (0.5, 0.5), "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
}  # fmt: skip


def one_quantile(values, q, method):
    values, q = np.sort(values), number(q)
    n, last = len(values), len(values) - 1
    if method in EDGES:
        low, high = (mp.mpf(e) if e != 1 / 3 else mp.mpf(1) / 3 for e in EDGES[method])
        at = min(max(n * q + low + q * (1 - low - high) - 1, 0), last)
        i = min(int(mp.floor(at)), last - 1 if last else 0)
        return values[i] + (values[min(i + 1, last)] - values[i]) * Exact(at - i)
    at = q * last
    if method == "lower":
        return values[int(mp.floor(at))]
    if method == "higher":
        return values[int(mp.ceil(at))]
    if method == "nearest":
        return values[int(mp.nint(at))]
    if method == "midpoint":
        return (values[int(mp.floor(at))] + values[int(mp.ceil(at))]) / 2
    at = {"inverted_cdf": mp.ceil(n * q) - 1, "closest_observation": mp.nint(n * q) - 1}.get(method)
    if at is None:
        at = n * q - 1
        low, high = (min(max(int(e), 0), last) for e in (mp.floor(at), mp.floor(at) + 1))
        return (values[low] + values[high]) / 2 if at == mp.floor(at) else values[high]
    return values[min(max(int(at), 0), last)]


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return _quantiles(a, q, axis, method, keepdims, lambda values: values)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return _quantiles(a, q, axis, method, keepdims, known)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def known(values):
    return np.array([v for v in values if not mp.isnan(number(v))], object)


def _quantiles(a, q, axis, method, keepdims, kept):
    a = objects(a)
    axes = tuple(range(a.ndim)) if axis is None else tuple(np.atleast_1d(axis) % a.ndim)
    rest = [i for i in range(a.ndim) if i not in axes]
    rows = np.transpose(a, (*rest, *axes)).reshape(*[a.shape[i] for i in rest], -1)
    found = np.empty((*np.shape(q), *rows.shape[:-1]), object)
    for i in np.ndindex(*np.shape(q)):
        for j in np.ndindex(*rows.shape[:-1]):
            found[(*i, *j)] = one_quantile(kept(rows[j]), np.asarray(q)[i], method)
    return found


def percentile(of):
    def at(a, q, *args, **words):
        return of(a, objects(q) / 100, *args, **words)

    return at


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    x = np.atleast_2d(objects(m))
    x = x if rowvar or x.shape[0] == 1 else x.T
    if y is not None:
        other = np.atleast_2d(objects(y))
        x = np.concatenate([x, other if rowvar or other.shape[0] == 1 else other.T])
    ddof = (0 if bias else 1) if ddof is None else ddof
    f = np.ones(x.shape[1], int) if fweights is None else np.asarray(fweights)
    a = objects(np.ones(x.shape[1])) if aweights is None else objects(aweights)
    w = f * a
    middle = x - (np.sum(x * w, axis=1) / np.sum(w))[:, None]
    factor = np.sum(w) - ddof * np.sum(w * a) / np.sum(w)
    return np.squeeze((middle * w) @ np.conj(middle.T) / factor)


def corrcoef(*args, **words):
    c = np.atleast_2d(cov(*args, **words))
    size = roots_of(np.real(np.diagonal(c)))
    return np.squeeze(c / np.outer(size, size))


def bincount(x, weights=None, minlength=0):
    found = objects(np.zeros(max(minlength, int(np.max(x)) + 1)))
    for i, w in zip(x, weights, strict=True):
        found[i] = found[i] + w
    return found


# -- along lines ---------------------------------------------------------------------------------------------


def interp(x, xp, fp, left=None, right=None, period=None):
    xp, fp = objects(xp), objects(fp)

    def at(x):
        x = Exact(x)
        if x < xp[0]:
            return number(fp[0] if left is None else left)
        if x > xp[-1]:
            return number(fp[-1] if right is None else right)
        i = max([j for j in range(len(xp)) if xp[j] <= x])
        if i == len(xp) - 1:
            return number(fp[-1])
        return number(fp[i] + (fp[i + 1] - fp[i]) * (x - xp[i]) / (xp[i + 1] - xp[i]))

    return elementwise(at)(x)


def parabola_slope(xs, ys, x):
    """At x of the polynomial through points, by the weights of Lagrange."""
    total = Exact(0)
    for i, y in enumerate(ys):
        others = [j for j in range(len(xs)) if j != i]
        slope = Exact(0)
        for k in others:
            part = Exact(1) / (xs[i] - xs[k])
            for j in others:
                if j != k:
                    part = part * (x - xs[j]) / (xs[i] - xs[j])
            slope = slope + part
        total = total + y * slope
    return total


def gradient(f, *steps, axis=None, edge_order=1):
    f = objects(f)
    axes = list(range(f.ndim)) if axis is None else list(np.atleast_1d(axis) % f.ndim)
    steps = list(steps) * (len(axes) if len(steps) == 1 else 1) or [1.0] * len(axes)
    found = []
    for along, step in zip(axes, steps, strict=True):
        n = f.shape[along]
        xs = objects(step) if np.ndim(step) else objects(np.arange(n)) * step
        slope = lambda ys, xs=xs, n=n: _slopes(xs, ys, n, edge_order)
        found.append(along_axis(slope, f, along))
    return found[0] if len(axes) == 1 and (np.ndim(axis) == 0) else tuple(found)


def _slopes(xs, ys, n, edge_order):
    def at(i):
        first = min(max(i - 1, 0), n - 3) if 0 < i < n - 1 or edge_order == 2 else (0 if i == 0 else n - 2)
        window = slice(first, first + (3 if 0 < i < n - 1 or edge_order == 2 else 2))
        return parabola_slope(xs[window], ys[window], xs[i])

    return [at(i) for i in range(n)]


def along_axis(f, x, axis=-1):
    """A function of sequences, of those along an axis."""
    x = np.moveaxis(x, axis, -1)
    rows = x.reshape(-1, x.shape[-1])
    made = [f(list(row)) for row in rows]
    found = np.empty((len(rows), len(made[0]) if made else 0), object)
    for i, row in enumerate(made):
        for j, value in enumerate(row):
            found[i, j] = value if isinstance(value, Exact) else Exact(value)
    return np.moveaxis(found.reshape(*x.shape[:-1], found.shape[1]), -1, axis)


def correlate(a, v, mode="valid"):
    """Sums of products with the conjugates of the other, by their lags."""
    a, v = list(objects(a)), list(objects(v))
    lags = range(-(len(v) - 1), len(a))
    full = [
        sum((a[n + k] * v[n].conjugate() for n in range(len(v)) if 0 <= n + k < len(a)), Exact(0))
        for k in lags
    ]
    few, many = sorted((len(a), len(v)))
    count = {"full": len(full), "same": many, "valid": many - few + 1}[mode]
    first = (len(full) - count) // 2
    if mode == "same" and len(v) > len(a):
        first = len(full) - count - first  # NumPy turns the arguments round
    return np.array(full[first : first + count], object)


def polydiv(u, v):
    u, v = list(np.atleast_1d(objects(u))), list(np.atleast_1d(objects(v)))
    count = max(len(u) - len(v) + 1, 1)
    q, r = [Exact(0)] * count, list(u)
    for k in range(len(u) - len(v) + 1):
        q[k] = r[k] / v[0]
        for j, c in enumerate(v):
            r[k + j] = r[k + j] - q[k] * c
    rest = r[-(len(v) - 1) :] if len(v) > 1 and len(u) >= len(v) else ([r[-1]] if len(u) >= len(v) else r)
    while len(rest) > 1 and abs(complex(rest[0].of)) < 1e-14:
        rest = rest[1:]
    return np.array(q, object), np.array(rest, object)


def roots(p):
    found = mp.polyroots([number(c) for c in objects(p)], maxsteps=200, extraprec=200)
    return in_order([Exact(mp.mpc(z)) for z in found], np.roots(ordinary(p)))


def in_order(found, wanted):
    """The numbers in the order of some that are nearly the same."""
    left, sorted_ = list(found), []
    for w in np.ravel(wanted):
        near = min(left, key=lambda z: abs(complex(z.of) - w))
        left.remove(near)
        sorted_.append(near if np.iscomplexobj(wanted) else near.real)
    return np.array(sorted_, object)


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    x, y = objects(x), objects(y)
    powers = np.stack([x ** (deg - k) for k in range(deg + 1)], axis=1)
    w = objects(np.ones(len(x)) if w is None else w)
    left = np.conj(powers.T * w * w)
    columns = y if y.ndim == 2 else y[:, None]
    found = inv(left @ powers) @ (left @ columns)
    return found if y.ndim == 2 else found[:, 0]


# -- Fourier -------------------------------------------------------------------------------------------------

SCALES = {None: (0, 1), "backward": (0, 1), "ortho": (0.5, 0.5), "forward": (1, 0)}


def fitted(row, n):
    return [*row[:n], *[Exact(0)] * (n - len(row))]


def transformed(row, sign, norm):
    n = len(row)
    scale = mp.mpf(n) ** -SCALES[norm][0 if sign < 0 else 1]
    roots = [mp.expjpi(mp.mpf(2 * sign * k) / n) for k in range(n)]
    values = [number(x) for x in row]
    return [Exact(scale * mp.fsum(roots[j * k % n] * x for j, x in enumerate(values))) for k in range(n)]


def fourier(sign):
    def of(a, n=None, axis=-1, norm=None, out=None):
        a = objects(a)
        n = a.shape[axis] if n is None else n
        return along_axis(lambda row: transformed(fitted(row, n), sign, norm), a, axis)

    return of


fft, ifft = fourier(-1), fourier(1)


def real_parts(a):
    return elementwise(mp.re)(a)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    a = real_parts(a)
    n = a.shape[axis] if n is None else n
    return np.take(fft(a, n, axis, norm), range(n // 2 + 1), axis)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    a = objects(a)
    n = 2 * (a.shape[axis] - 1) if n is None else n

    def whole(row):
        half = fitted(row, n // 2 + 1)
        half[0] = half[0].real
        if n % 2 == 0:
            half[-1] = half[-1].real
        return [*half, *[half[n - k].conjugate() for k in range(n // 2 + 1, n)]]

    return real_parts(along_axis(lambda row: transformed(whole(row), 1, norm), a, axis))


OTHER_WAY = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(a, n=None, axis=-1, norm=None, out=None):
    return irfft(np.conj(objects(a)), n, axis, OTHER_WAY[norm])


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return np.conj(rfft(a, n, axis, OTHER_WAY[norm]))


def over_axes(one, last, axes_of_two=None):
    """A transform along several axes: the last by one of its own, the others by the complex one."""

    def of(a, s=None, axes=axes_of_two, norm=None, out=None):
        a = objects(a)
        if axes is None:
            axes = tuple(range(a.ndim)) if s is None else tuple(range(-len(s), 0))
        lengths = [None] * len(axes) if s is None else [a.shape[x] if n == -1 else n for n, x in zip(s, axes)]
        pairs = list(zip(lengths, axes, strict=True))
        first = last in (fft, ifft, rfft)
        if first:
            a = last(a, pairs[-1][0], pairs[-1][1], norm)
        for n, axis in pairs[:-1]:
            a = one(a, n, axis, norm)
        return a if first else last(a, pairs[-1][0], pairs[-1][1], norm)

    return of


# -- matrices ------------------------------------------------------------------------------------------------


def as_matrix(a):
    return mp.matrix([[number(x) for x in row] for row in a])


def as_array(m):
    found = np.empty((m.rows, m.cols), object)
    for i in range(m.rows):
        for j in range(m.cols):
            found[i, j] = Exact(m[i, j])
    return found


def matrix(f):
    """A function of mpmath's matrices, of arrays."""

    def of(*args):
        y = f(*map(as_matrix, args))
        return as_array(y) if isinstance(y, mp.matrix) else Exact(y)

    return of


def in_stacks(f):
    """A function of one matrix, of stacks of them; it gives one array or a tuple."""

    def of(a, *args, **words):
        a = objects(a)
        if a.ndim == 2:
            return f(a, *args, **words)
        made = [of(each, *args, **words) for each in a]
        if isinstance(made[0], tuple):
            return tuple(np.stack([np.asarray(m[i], object) for m in made]) for i in range(len(made[0])))
        return np.stack([np.asarray(m, object) for m in made])

    return of


det = in_stacks(matrix(mp.det))
inv = in_stacks(matrix(mp.inverse))


@in_stacks
def slogdet(a):
    d = det(a)
    return Exact(signum(d.of)), Exact(mp.log(abs(d.of)))


def solve(a, b):
    a, b = objects(a), objects(b)
    if b.ndim == 1:
        return (inv(a) @ b[:, None])[..., 0] if a.ndim > 2 else inv(a) @ b
    return np.matmul(inv(a), b)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


@in_stacks
def pinv(a, *_, **__):
    tall = a.shape[0] >= a.shape[1]
    square = adjoint(a) @ a if tall else a @ adjoint(a)
    return inv(square) @ adjoint(a) if tall else adjoint(a) @ inv(square)


def lstsq(a, b, rcond=None):
    a, b = objects(a), objects(b)
    x = pinv(a) @ b
    rest = abs(b - a @ x) ** 2
    none = a.shape[0] <= a.shape[1]
    return x, np.array([], object) if none else np.atleast_1d(np.sum(rest, axis=0)), min(a.shape), svdvals(a)


def half_read(a, lower):
    """The Hermitian matrix of which NumPy reads one triangle."""
    kept = np.tril(np.ones(a.shape, bool), -1) if lower else np.triu(np.ones(a.shape, bool), 1)
    part = np.where(kept, a, Exact(0))
    middle = np.where(np.eye(len(a), dtype=bool), real_parts(a), Exact(0))
    return part + adjoint(part) + middle


@in_stacks
def cholesky(a, /, *, upper=False):
    low = matrix(mp.cholesky)(half_read(a, not upper))
    return adjoint(low) if upper else low


@in_stacks
def eigvalsh(a, UPLO="L"):
    return _hermitian(half_read(a, UPLO == "L"))[0]


@in_stacks
def eigh(a, UPLO="L"):
    read = half_read(a, UPLO == "L")
    w, v = _hermitian(read)
    return w, like(v, np.linalg.eigh(ordinary(read), UPLO)[1])


def _hermitian(a):
    w, v = mp.eighe(as_matrix(a))
    return np.array([Exact(mp.re(x)) for x in w], object), as_array(v)


def like(v, wanted):
    """Columns with the signs, or phases, that LAPACK chooses; real where its are."""
    found = v.copy()
    for j in range(v.shape[1]):
        turn = np.vdot(ordinary(v[:, j]), wanted[:, j])
        if np.iscomplexobj(wanted):
            found[:, j] = v[:, j] * Exact(mp.mpc(turn) / abs(mp.mpc(turn)))
        else:
            found[:, j] = real_parts(v[:, j]) * Exact(mp.sign(turn.real))
    return found


def _svd(a):
    """The values, and the vectors of both sides, of as many as there are."""
    tall = a if a.shape[0] >= a.shape[1] else adjoint(a)
    decompose = mp.svd_c if any(is_complex(number(x)) for x in a.flat) else mp.svd_r
    u, s, vh = decompose(as_matrix(tall))
    u, s, vh = as_array(u), np.array([Exact(x) for x in s], object), as_array(vh)
    return (u, s, vh) if tall is a else (adjoint(vh), s, adjoint(u))


@in_stacks
def svdvals(a):
    return _svd(a)[1]


@in_stacks
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    u, s, vh = _svd(a)
    if not compute_uv:
        return s
    wanted = np.linalg.svd(ordinary(a), full_matrices=False)[0]
    turned = like(u, wanted)
    turn = np.sum(np.conj(u) * turned, axis=0)
    return turned, s, np.conj(turn)[:, None] * vh


@in_stacks
def qr(a, mode="reduced"):
    wanted = np.linalg.qr(ordinary(a))[1]
    r = matrix(mp.cholesky)(adjoint(a[:, : a.shape[0]]) @ a[:, : a.shape[0]])
    r = adjoint(r)
    sign = objects([np.sign(x.real) for x in np.diagonal(wanted)])
    q = a[:, : a.shape[0]] @ inv(r) * sign
    r = adjoint(q) @ a
    return (q, r) if mode == "reduced" else r


@in_stacks
def eigvals(a):
    w = mp.eig(as_matrix(a), left=False, right=False)
    return in_order([Exact(mp.mpc(x)) for x in w], np.linalg.eigvals(ordinary(a)))


@in_stacks
def eig(a):
    w, v = mp.eig(as_matrix(a))
    w, v = np.array([Exact(mp.mpc(x)) for x in w], object), as_array(v)
    wanted, vectors = np.linalg.eig(ordinary(a))
    order = [min(range(len(w)), key=lambda j: abs(complex(w[j].of) - x)) for x in wanted]
    v = v[:, order] / roots_of(np.sum(abs(v[:, order]) ** 2, axis=0))
    w = w[order] if np.iscomplexobj(wanted) else real_parts(w[order])
    return w, like(v, vectors)


@in_stacks
def cond(a, p=None):
    if p in (None, 2, -2):
        s = svdvals(a)
        return s[-1] / s[0] if p == -2 else s[0] / s[-1]
    return norm(a, p) * norm(inv(a), p)


@in_stacks
def matrix_power(a, n):
    return np.linalg.matrix_power(a, n) if n >= 0 else np.linalg.matrix_power(inv(a), -n)


def norm(x, ord=None, axis=None, keepdims=False):
    x = objects(x)
    ord = float(number(ord)) if isinstance(ord, Exact) else ord
    axes = tuple(np.atleast_1d(axis)) if axis is not None else tuple(range(x.ndim))
    if ord in (None, "fro") or (ord == 2 and len(axes) == 1):
        return roots_of(np.sum(abs(x) ** 2, axis=axes, keepdims=keepdims))
    if len(axes) == 1:
        return _vector_norm(abs(x), ord, axes[0], keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(size, ord, axis, keepdims):
    if ord in (np.inf, -np.inf):
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(size != 0, axis=axis, keepdims=keepdims)
    return np.sum(size ** Exact(ord), axis=axis, keepdims=keepdims) ** (1 / Exact(ord))


def _matrix_norm(x, ord, axes, keepdims):
    of = {
        "nuc": lambda m: np.sum(svdvals(m)),
        2: lambda m: svdvals(m)[0],
        -2: lambda m: svdvals(m)[-1],
        1: lambda m: np.max(np.sum(abs(m), axis=0)),
        -1: lambda m: np.min(np.sum(abs(m), axis=0)),
        np.inf: lambda m: np.max(np.sum(abs(m), axis=1)),
        -np.inf: lambda m: np.min(np.sum(abs(m), axis=1)),
    }[ord]
    found = in_stacks(of)(np.moveaxis(x, axes, (-2, -1)))
    return np.expand_dims(np.asarray(found, object), axes) if keepdims else found


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return norm(x, ord, (-2, -1), keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    x = objects(x)
    if axis is None:
        y = norm(x.ravel(), ord, 0)
        return np.reshape(np.asarray(y, object), (1,) * x.ndim) if keepdims else y
    if np.ndim(axis):
        rest = [i for i in range(x.ndim) if i not in tuple(np.array(axis) % x.ndim)]
        flat = np.transpose(x, (*rest, *axis)).reshape(*[x.shape[i] for i in rest], -1)
        y = norm(flat, ord, -1)
        return np.expand_dims(y, axis) if keepdims else y
    return norm(x, ord, axis, keepdims)


def tensorinv(a, ind=2):
    a = objects(a)
    rows = int(np.prod(a.shape[ind:]))
    return inv(a.reshape(rows, -1)).reshape(*a.shape[ind:], *a.shape[:ind])


def tensorsolve(a, b, axes=None):
    a, b = objects(a), objects(b)
    return (inv(a.reshape(b.size, -1)) @ b.ravel()).reshape(a.shape[b.ndim :])


# -- Python --------------------------------------------------------------------------------------------------


def made_complex(re=0.0, im=0.0):
    return Exact(mp.mpc(number(re)) + 1j * mp.mpc(number(im)))


def mean_of(xs):
    xs = list(xs)
    return sum(xs, Exact(0)) / len(xs)


def spread(less):
    def of(xs, mean=None):
        xs = list(xs)
        middle = mean_of(xs) if mean is None else mean
        return sum(((x - middle) * (x - middle) for x in xs), Exact(0)) / (len(xs) - less)

    return of


def root_of(f):
    return lambda *args: Exact(mp.sqrt(f(*args).of))


def geometric(xs):
    return Exact(mp.exp(mean_of([Exact(mp.log(number(x))) for x in xs]).of))


def weighted(f):
    """A mean with weights."""

    def of(xs, weights=None):
        xs = list(xs)
        w = [Exact(1)] * len(xs) if weights is None else [Exact(x) for x in weights]
        return f(xs, w)

    return of


fmean = weighted(lambda xs, w: sum((a * b for a, b in zip(w, xs)), Exact(0)) / sum(w, Exact(0)))
harmonic = weighted(lambda xs, w: sum(w, Exact(0)) / sum((a / b for a, b in zip(w, xs)), Exact(0)))


def distance(p, q):
    return Exact(mp.sqrt(mp.fsum((number(a) - number(b)) ** 2 for a, b in zip(p, q, strict=True))))


def hypot_of(*xs):
    return Exact(mp.sqrt(mp.fsum(number(x) ** 2 for x in xs)))


def arange(*args, **_):
    count = len(np.arange(*[float(number(x)) for x in args]))
    first, step = (args[0] if len(args) > 1 else 0), (args[2] if len(args) > 2 else 1)
    return objects(np.arange(count)) * step + first


def scattered(y, index, shape):
    found = objects(np.zeros(shape))
    if np.ndim(y) == 0:
        found[index] = found[index] + y
    else:
        for i, value in zip(index, y, strict=True):
            found[i] = found[i] + value
    return found


def above_the_cut(f):
    """A function of real numbers, which beyond 1 gives what it gives above its cut, as NumPy does."""
    return lambda x: mp.conj(f(x)) if x > 1 else f(x)


def log(x, base=mp.e):
    return mp.log(x) / mp.log(base)


def of_python(module, **renamed):
    """The functions of a module that mpmath has, by their names there."""
    return {getattr(module, name): of_numbers(getattr(mp, to)) for name, to in renamed.items()}


UFUNCS = {
    np.float_power: elementwise(power, 2), np.logaddexp: elementwise(logaddexp(lambda: mp.e), 2),
    np.logaddexp2: elementwise(logaddexp(lambda: mp.mpf(2)), 2), np.copysign: elementwise(copysign, 2),
    np.heaviside: elementwise(heaviside, 2), np.nextafter: elementwise(nearest, 2),
    np.divmod: elementwise(lambda x, y: (mp.floor(x / y), remainder(x, y)), 2, 2),
    np.modf: elementwise(modf, 1, 2), np.frexp: elementwise(frexp, 1, 2), np.ldexp: elementwise(ldexp, 2),
    np.arctan2: elementwise(mp.atan2, 2), np.hypot: elementwise(hypot, 2), np.fmod: elementwise(fmod, 2),
    np.sign: elementwise(signum), np.logical_not: np.logical_not,
}  # fmt: skip
DEFINITIONS = {
    **UFUNCS,
    **{
        getattr(ufunc, name): getattr(exact_one, name)
        for ufunc, exact_one in UFUNCS.items()
        for name in ("outer", "reduce", "accumulate", "reduceat")
        if isinstance(exact_one, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1
    },
    np.sinc: elementwise(sinc), np.i0: elementwise(lambda x: mp.besseli(0, x)), np.angle: angle,
    np.real: elementwise(mp.re), np.imag: elementwise(mp.im),
    np.sum: masked(np.sum, 0), np.prod: masked(np.prod, 1), np.mean: mean, np.var: variance,
    np.std: deviation,
    np.nanvar: nanvariance, np.nanstd: nandeviation,
    np.multiply.reduce: product_along, np.partition: partition,
    np.median: median, np.quantile: quantile, np.percentile: percentile(quantile),
    np.nanmedian: nanmedian,
    np.nanquantile: nanquantile, np.nanpercentile: percentile(nanquantile), np.cov: cov,
    np.corrcoef: corrcoef, np.bincount: bincount, np.sort_complex: lambda a: np.sort(objects(a)),
    np.interp: interp, np.gradient: gradient, np.correlate: correlate, np.polydiv: polydiv, np.roots: roots,
    np.polyfit: polyfit,
    np.fft.fft: fft, np.fft.ifft: ifft, np.fft.rfft: rfft, np.fft.irfft: irfft, np.fft.hfft: hfft,
    np.fft.ihfft: ihfft, np.fft.fftn: over_axes(fft, fft), np.fft.ifftn: over_axes(ifft, ifft),
    np.fft.rfftn: over_axes(fft, rfft), np.fft.irfftn: over_axes(ifft, irfft),
    np.fft.fft2: over_axes(fft, fft, (-2, -1)), np.fft.ifft2: over_axes(ifft, ifft, (-2, -1)),
    np.fft.rfft2: over_axes(fft, rfft, (-2, -1)), np.fft.irfft2: over_axes(ifft, irfft, (-2, -1)),
    np.linalg.det: det, np.linalg.inv: inv, np.linalg.slogdet: slogdet, np.linalg.solve: solve,
    np.linalg.pinv: pinv, np.linalg.lstsq: lstsq, np.linalg.cholesky: cholesky, np.linalg.eigh: eigh,
    np.linalg.eigvalsh: eigvalsh, np.linalg.svd: svd, np.linalg.svdvals: svdvals, np.linalg.qr: qr,
    np.linalg.eigvals: eigvals, np.linalg.eig: eig, np.linalg.cond: cond, np.linalg.norm: norm,
    np.linalg.matrix_norm: matrix_norm, np.linalg.vector_norm: vector_norm,
    np.linalg.matrix_power: matrix_power, np.linalg.tensorinv: tensorinv, np.linalg.tensorsolve: tensorsolve,
    np.asarray: lambda a, *_, **__: np.asarray(a), np.astype: identity, np.ndarray.astype: identity,
    np.generic.astype: identity, np.require: identity, np.float64: identity, np.complex128: identity,
    np.generic.item: identity, np.generic.sum: identity, np.generic.mean: identity,
    np.generic.conjugate: lambda x: x.conjugate(), np.generic.conj: lambda x: x.conjugate(),
    complex.conjugate: lambda x: x.conjugate(), float.conjugate: identity,
    scatter: scattered, np.arange: arange,
    builtins.float: lambda x: x.item() if isinstance(x, np.ndarray) else x, builtins.complex: made_complex,
    builtins.int: lambda x: Exact(truncated(number(x))),
    operator.pow: python_power,
    builtins.divmod: lambda x, y: (objects(x) // y, objects(x) % y),
    **of_python(cmath, exp="exp", log10="log10", sqrt="sqrt", sin="sin", cos="cos", tan="tan", sinh="sinh",
                cosh="cosh", tanh="tanh", asin="asin", acos="acos", atan="atan", asinh="asinh", acosh="acosh",
                atanh="atanh", phase="arg"),
    **of_python(math, exp="exp", log10="log10", sqrt="sqrt", sin="sin", cos="cos", tan="tan", sinh="sinh",
                cosh="cosh", tanh="tanh", asin="asin", acos="acos", atan="atan", asinh="asinh", acosh="acosh",
                atanh="atanh", expm1="expm1", log1p="log1p", erf="erf", erfc="erfc", gamma="gamma",
                degrees="degrees", radians="radians", atan2="atan2"),
    math.lgamma: of_numbers(lambda x: mp.log(abs(mp.gamma(x)))),
    math.log2: of_numbers(lambda x: mp.log(x, 2)),
    math.cbrt: of_numbers(lambda x: mp.sign(x) * mp.cbrt(abs(x))), math.fabs: of_numbers(abs),
    math.pow: of_numbers(power), math.fmod: of_numbers(fmod), math.remainder: of_numbers(ieee_remainder),
    math.copysign: of_numbers(copysign), math.nextafter: of_numbers(nearest), math.ldexp: of_numbers(ldexp),
    math.frexp: of_numbers(frexp), math.modf: of_numbers(modf), math.log: of_numbers(log),
    cmath.log: of_numbers(log), math.hypot: hypot_of, math.dist: distance,
    math.fsum: lambda xs: sum(map(Exact, xs), Exact(0)),
    cmath.polar: of_numbers(lambda z: (abs(z), mp.arg(z))),
    cmath.rect: of_numbers(lambda r, phi: r * mp.expj(phi)),
    statistics.mean: mean_of, statistics.fmean: fmean, statistics.variance: spread(1),
    statistics.pvariance: spread(0), statistics.stdev: root_of(spread(1)),
    statistics.pstdev: root_of(spread(0)),
    statistics.geometric_mean: geometric, statistics.harmonic_mean: harmonic,
}  # fmt: skip
DEFINITIONS |= {
    getattr(np.lib.scimath, name): elementwise(f)
    for name, f in {
        "sqrt": mp.sqrt, "log": mp.log, "log2": lambda x: mp.log(x, 2), "log10": mp.log10,
        "arccos": above_the_cut(mp.acos), "arcsin": above_the_cut(mp.asin),
        "arctanh": above_the_cut(mp.atanh),
    }.items()
}  # fmt: skip
DEFINITIONS[np.lib.scimath.logn] = elementwise(lambda n, x: mp.log(x) / mp.log(n), 2)
DEFINITIONS[np.lib.scimath.power] = elementwise(mp.power, 2)
if hasattr(math, "exp2"):
    DEFINITIONS[math.exp2] = of_numbers(lambda x: mp.power(2, x))
DEFINITIONS[np.logaddexp.reduce] = log_of_sum
