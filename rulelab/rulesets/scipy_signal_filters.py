"""Rules for recursive filters of `scipy.signal`, by their coefficients, what is filtered, and the state at
the start.

A filter solves `a * y = b * x`, products of polynomials cut off at the end, so it is
`a * ẏ = ḃ * x + b * ẋ - ȧ * y`: what changes is filtered by `1 / a` again. Backwards the same filter runs
through the reversed sequence.
"""

import numpy as np

from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent
from .array_likes import dense, is_zero, like_argument, only_real, refuse
from .given_values import as_given, as_precise, for_lapack
from .scipy_optional import LibraryTable, optional
from .scipy_signal_resampling import from_end, to_end

signal = optional("scipy.signal")
linalg = optional("scipy.linalg")
TABLE = LibraryTable("scipy_signal_filters", rounds=True)


# -- one filter along the last axis --------------------------------------------------------------------------


def filtered(b, a, x, zi):
    """`signal.lfilter` along the last axis, without the state at the end; `zi` may be None."""
    if zi is None:
        return signal.lfilter(b, a, x)
    return signal.lfilter(b, a, x, zi=zi)[0]


def _one(b):
    """A denominator that divides by nothing; SciPy takes no empty sequences with one of a single number."""
    return np.eye(1, 2, dtype=np.asarray(b).dtype)[0]


def by_numerator(b, x):
    """`b * x`, as long as `x`."""
    return filtered(b, _one(x), x, None)


def _at_start(z, y):
    """A state as what it adds to a sequence of the shape of `y`: its numbers, one after another."""
    n, count = np.shape(y)[-1], np.shape(z)[-1]
    z = z + np.zeros((*np.shape(y)[:-1], count), z.dtype)
    if count >= n:
        return z[..., :n]
    return np.concatenate([z, np.zeros((*np.shape(y)[:-1], n - count), z.dtype)], axis=-1)


def delayed_products(x, bar, count):
    """The sums of the products of `bar` with the conjugate of `x`, later by 0, 1, …, count - 1 places."""
    n = np.shape(x)[-1]
    if count == 0:
        return np.zeros(0, bar.dtype)
    sums = [np.sum(np.conj(x[..., : n - k]) * bar[..., k:]) for k in range(min(count, n))]
    return np.stack([*sums, *[np.zeros((), bar.dtype)] * (count - len(sums))])


@TABLE.rrule(filtered, leading=4)
def filtered_rrule(b, a, x, zi):
    """With `ū` the reversed ȳ filtered by `1 / a`: `x̄` is it filtered by `b`, `b̄` and `ā` are its products
    with `x` and `-y`.
    """
    y = filtered(b, a, x, zi)

    def filtered_pullback(y_bar):
        top, low, flow = np.asarray(b), np.asarray(a), np.asarray(x)
        back = filtered(_one(low), np.conj(low), np.asarray(y_bar)[..., ::-1], None)
        x_bar = by_numerator(np.conj(top), back)[..., ::-1]
        bar = back[..., ::-1]
        a_bar = -delayed_products(y, bar, len(low))
        zi_bar = NoTangent()
        if zi is not None:
            start = np.asarray(zi)
            first = np.sum(np.conj(_at_start(start, y)) * bar)
            a_bar = a_bar + np.concatenate([first[None], np.zeros(len(low) - 1, a_bar.dtype)])
            zi_bar = like_argument(zi, unbroadcast(np.conj(low[0]) * _first(bar, np.shape(start)[-1]), start))
        return (
            NoTangent(),
            like_argument(b, delayed_products(flow, bar, len(top))),
            like_argument(a, a_bar),
            like_argument(x, x_bar),
            zi_bar,
        )

    return y, filtered_pullback


def _first(bar, count):
    """The first numbers of a sequence, zeros if it has not so many."""
    n = np.shape(bar)[-1]
    if n >= count:
        return bar[..., :count]
    return np.concatenate([bar, np.zeros((*np.shape(bar)[:-1], count - n), bar.dtype)], axis=-1)


@TABLE.frule(filtered)
def filtered_frule(tangents, b, a, x, zi):
    y = filtered(b, a, x, zi)
    moved = np.zeros_like(y)
    if not is_zero(tangents[1]):
        moved = moved + by_numerator(dense(b, tangents[1]), x)
    if not is_zero(tangents[3]):
        moved = moved + by_numerator(b, dense(x, tangents[3]))
    if not is_zero(tangents[2]):
        a_dot = dense(a, tangents[2])
        moved = moved - by_numerator(a_dot, y)
        if zi is not None:
            moved = moved + a_dot[0] * _at_start(zi, y)
    if zi is not None and not is_zero(tangents[4]):
        moved = moved + a[0] * _at_start(dense(zi, tangents[4]), y)
    return y, filtered(_one(a), a, moved, None)


# -- lfilter, with its state ---------------------------------------------------------------------------------


def padded_to(x, count):
    """A vector with zeros behind it."""
    return x if len(x) >= count else np.concatenate([x, np.zeros(count - len(x), x.dtype)])


def _delays(count):
    """For each place of the state and each of the last `count` numbers: the coefficient that leads there, and
    whether there is one.
    """
    k, i = np.arange(count)[:, None], np.arange(count)[None, :]
    return np.where(i >= k, count + k - i, 0), i >= k


TABLE.non_differentiable(_delays)


def state_after(b, a, x, y, zi):
    """The state of a filter at the end of `x`."""
    count, n = np.shape(zi)[-1], np.shape(x)[-1]
    b, a = as_precise(b, y), as_precise(a, y)
    at, there = _delays(count)
    from_x = np.where(there, padded_to(b / a[0], count + 1)[at], 0)
    from_y = np.where(there, padded_to(a / a[0], count + 1)[at], 0)
    z = _last(x, count) @ from_x.T - _last(y, count) @ from_y.T
    if n < count:
        rest = np.concatenate([zi[..., n:], np.zeros((*np.shape(zi)[:-1], n), zi.dtype)], axis=-1)
        z = z + rest
    return z


def _last(x, count):
    """The last numbers of a sequence, with zeros before it if it has not so many."""
    n = np.shape(x)[-1]
    if n >= count:
        return x[..., n - count :]
    return np.concatenate([np.zeros((*np.shape(x)[:-1], count - n), x.dtype), x], axis=-1)


@TABLE.stands_in(signal.lfilter)
def lfilter(b, a, x, axis=-1, zi=None):
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    if np.result_type(b, x) == np.float16:
        refuse("scipy.signal.lfilter of float16 only is not differentiated", "make the sequence float32")
    along = to_end(x, axis)
    if zi is None:
        return from_end(filtered(b, a, along, None), axis)
    if not along.shape[-1]:
        refuse("scipy.signal.lfilter of no samples with zi is not differentiated: SciPy leaves the state "
               "unset",
               "use zi as it is")
    start = to_end(np.asarray(zi), axis)
    y = filtered(b, a, along, start)
    return from_end(y, axis), from_end(state_after(b, a, along, y, start), axis)


@TABLE.stands_in(signal.lfilter_zi)
def lfilter_zi(b, a):
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    _check_steady(b, a)
    count = max(len(a), len(b))
    b, a = as_precise(b, a), as_precise(a, b)  # before a division, as SciPy from 1.18 on
    b, a = padded_to(b / a[0], count), padded_to(a / a[0], count)
    kept = np.eye(count - 1, dtype=a.dtype) - linalg.companion(a).T
    return np.linalg.solve(for_lapack(kept), for_lapack(b[1:] - a[1:] * b[0]))


def _check_steady(b, a):
    signal.lfilter_zi(b, a)
    if np.asarray(a).ndim and a[0] == 0:
        refuse("scipy.signal.lfilter_zi with a denominator that begins with 0 is not differentiated",
               "leave the zeros out")


TABLE.non_differentiable(_check_steady)


# -- sections one after another ------------------------------------------------------------------------------


def _check_sections(sos):
    """SciPy's own error for what are no sections; the number before `y` in each is 1, and is not read."""
    signal.sosfilt(np.ascontiguousarray(sos), np.zeros(1))


TABLE.non_differentiable(_check_sections)


def _halves(sos, i):
    """The numerator and denominator of a section."""
    return sos[i, :3], np.concatenate([np.ones(1, sos.dtype), sos[i, 4:]])


@TABLE.stands_in(signal.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None):
    sos, x = np.atleast_2d(sos), np.asarray(x)
    _check_sections(sos)
    along, after = to_end(x, axis), []
    for i in range(len(sos)):
        b, a = _halves(sos, i)
        start = None if zi is None else to_end(np.asarray(zi)[i], axis)
        y = filtered(b, a, along, start)
        if zi is not None:
            after.append(from_end(state_after(b, a, along, y, start), axis))
        along = y
    y = from_end(along, axis)
    return y if zi is None else (y, np.stack(after))


@TABLE.stands_in(signal.sosfilt_zi)
def sosfilt_zi(sos):
    sos = np.asarray(sos)
    _check_sections(sos)
    states, scale = [], 1.0
    for i in range(len(sos)):
        b, a = _halves(sos, i)
        states.append(scale * signal.lfilter_zi(b, a))
        scale = scale * np.sum(b) / np.sum(a)
    return np.stack(states)


# -- forwards and backwards ----------------------------------------------------------------------------------


def _edge_of(x, axis, padtype, padlen, taps):
    """How far a sequence is continued beyond its ends, and SciPy's own errors."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd', 'constant', or None."
        )
    edge = 0 if padtype is None else 3 * taps if padlen is None else padlen
    if np.shape(x)[axis] <= edge:
        raise ValueError(f"The length of the input vector x must be greater than padlen, which is {edge}.")
    return edge


TABLE.non_differentiable(_edge_of)


def extended(x, edge, padtype):
    """A sequence along the last axis with `edge` numbers more at each end."""
    if edge == 0:
        return x
    first, last = x[..., :1], x[..., -1:]
    if padtype == "constant":
        left, right = np.repeat(first, edge, axis=-1), np.repeat(last, edge, axis=-1)
    else:
        left, right = x[..., edge:0:-1], x[..., -2 : -(edge + 2) : -1]
        if padtype == "odd":
            left, right = 2 * first - left, 2 * last - right
    return np.concatenate([left, x, right], axis=-1)


def _both_ways(run, x, axis, edge, padtype):
    """`run(x)` forwards and then backwards, along an axis."""
    along = extended(to_end(x, axis), edge, padtype)
    y = run(run(along)[..., ::-1])[..., ::-1]
    return from_end(y[..., edge : np.shape(y)[-1] - edge], axis)


@TABLE.stands_in(signal.filtfilt)
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None):
    if method != "pad":
        refuse(f"scipy.signal.filtfilt with method={method!r} is not differentiated", "use method='pad'")
    b, a, x = np.atleast_1d(b), np.atleast_1d(a), np.asarray(x)
    edge = _edge_of(x, axis, padtype, padlen, max(len(a), len(b)))
    zi = signal.lfilter_zi(b, a)
    return _both_ways(lambda u: filtered(b, a, u, zi * u[..., :1]), x, axis, edge, padtype)


def _taps_of(sos):
    taps = 2 * len(sos) + 1
    return taps - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())


TABLE.non_differentiable(_taps_of)


@TABLE.stands_in(signal.sosfiltfilt)
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None):
    sos, x = np.atleast_2d(sos), np.asarray(x)
    _check_sections(sos)
    edge = _edge_of(x, axis, padtype, padlen, _taps_of(sos))
    states = signal.sosfilt_zi(sos)
    return _both_ways(lambda u: _through_sections(sos, u, states), x, axis, edge, padtype)


def _through_sections(sos, u, states):
    """All sections, each from the state in which the first number is steady."""
    first = u[..., :1]
    for i in range(len(sos)):
        b, a = _halves(sos, i)
        u = filtered(b, a, u, states[i] * first)
    return u


# -- the answer to frequencies -------------------------------------------------------------------------------


def _grid(count, whole, include_nyquist, kind):
    """So many frequencies per sample, as SciPy chooses them."""
    return signal.freqz(np.ones(1, kind), 1, count, whole, None, 2 * np.pi, include_nyquist)[0]


TABLE.non_differentiable(_grid)


def _polynomial(c, steps):
    """The values of a polynomial, lowest power first, in the shape of the steps."""
    return np.exp(-1j * steps[..., None] * np.arange(len(c))) @ c


def _is_short(b, a):
    """Whether one of them has fewer digits than numbers of Python have."""
    return any(c.dtype.kind in "fc" and np.finfo(c.dtype).eps > np.finfo(float).eps for c in (b, a))


def _in_short(b, a, words):
    return signal.freqz(b, a, *words)


TABLE.non_differentiable(_is_short, _in_short)


@TABLE.stands_in(signal.freqz)
def freqz(b, a=1, worN=512, whole=False, plot=None, fs=2 * np.pi, include_nyquist=False):
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    if plot is not None:
        refuse("scipy.signal.freqz with plot= is not differentiated", "leave plot= out")
    if b.ndim != 1 or a.ndim != 1:
        refuse("scipy.signal.freqz of several filters is not differentiated", "call it for each filter")
    only_real("scipy.signal.freqz", fs)
    if _is_short(b, a):
        wide, words = np.result_type(b, a, float), (worN, whole, None, fs, include_nyquist)
        w, h = signal.freqz(b.astype(wide), a.astype(wide), *words)
        given = _in_short(b, a, words)
        return as_given(given[0], w.astype(given[0].dtype)), as_given(given[1], h.astype(given[1].dtype))
    kind = np.result_type(b, a, float)
    if worN is None or isinstance(worN, (int, np.integer)):
        steps = _grid(worN, whole, include_nyquist, kind)
    else:
        steps = 2 * np.pi * np.atleast_1d(np.asarray(worN, kind)) / fs
    return steps * (fs / (2 * np.pi)), _polynomial(b, steps) / _polynomial(a, steps)
