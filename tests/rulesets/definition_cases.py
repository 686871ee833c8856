"""The functions of SciPy that are compared with a definition of theirs in fifty digits, by their names."""

from typing import Any, NamedTuple

import definitions as by_definition
import definitions_of_data as of_data
import definitions_of_solutions as of_solutions
import numpy as np
from scipy import fft, integrate, linalg, optimize, signal, special, stats


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


def discrete_riccati(a, b, q, r):
    return linalg.solve_discrete_are(a, b, (q + q.T) / 2, (r + r.T) / 2)


def symmetric_discrete_riccati(a, b, q, r):
    return by_definition.discrete_riccati(a, b, (q + q.T) / 2, (r + r.T) / 2)


RNG = np.random.default_rng(5)
A = np.array([[2.0, 0.5, -0.75], [0.25, 3.5, 0.5], [0.5, -0.75, 5.0]])
Z = A + 0.3j * np.array([[1.0, -0.5, 0.25], [0.75, 0.5, -1.0], [0.5, 1.0, -0.5]])
TALL = RNG.normal(size=(4, 3)) + np.eye(4, 3)
TALL_Z = TALL + 0.5j * RNG.normal(size=(4, 3))
B, Q = np.array([[1.0, 0.5], [0.25, 2.0]]), RNG.normal(size=(3, 2))
X, LONG = RNG.normal(size=8), RNG.normal(size=20)
HALF = RNG.normal(size=5) + 1j * RNG.normal(size=5)
OTHER, V = RNG.normal(size=20), np.array([0.5, -1.0, 2.0])
BANDS = np.array([[9.0, 9.0, 0.5, -0.3, 0.2], [7.0, 0.4, 0.6, -0.7, 0.8], [4.0, 5.0, 6.0, 5.0, 4.0]])
TURNED = BANDS + 0.1j * BANDS * [[1.0], [1.0], [0.0]]
WORDS = {"window": "hann", "nperseg": 8, "noverlap": 4}

class Definition(NamedTuple):
    """A call of SciPy's function, the definition, real arguments and complex ones, and how near it has to
    come: as near as the digits allow, or as a solver does.
    """

    function: Any
    definition: Any
    real: tuple | None
    complex: tuple | None = None
    within: float = 1e-9


LINEAR = {
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
    "solve_sylvester": (linalg.solve_sylvester, by_definition.sylvester, (A, B, Q), (Z, B + 0.5j, Q + 1j)),
    "solve_continuous_lyapunov": (
        linalg.solve_continuous_lyapunov,
        by_definition.lyapunov,
        (A, TALL[:3]),
        (Z, TALL_Z[:3]),
    ),
    "solve_discrete_lyapunov": (
        linalg.solve_discrete_lyapunov,
        by_definition.discrete_lyapunov,
        (A / 8, TALL[:3]),
        (Z / 8, TALL_Z[:3]),
    ),
    "solve_continuous_are": (riccati, symmetric_riccati, (-A, Q, np.eye(3) + A / 8, np.eye(2) + B / 8), None),
    "expm": (linalg.expm, by_definition.expm, (A / 4,), (Z / 4,)),
    "logm": (linalg.logm, by_definition.logm, (A,), (Z,)),
    "sqrtm": (linalg.sqrtm, by_definition.sqrtm, (A,), (Z,)),
    "solve_discrete_are": (
        discrete_riccati,
        symmetric_discrete_riccati,
        (A / 4, Q, np.eye(3) + A / 8, np.eye(2) + B / 8),
    ),
    "solveh_banded": (
        linalg.solveh_banded,
        by_definition.solveh_banded,
        (BANDS, X[:5]),
        (TURNED, X[:5] + 1j),
    ),
    "pinvh": (linalg.pinvh, by_definition.pinvh, (A,), (Z,)),
    "cholesky": (linalg.cholesky, by_definition.cholesky, (A,), (Z,)),
    "cho_factor": (lambda a: np.triu(linalg.cho_factor(a)[0]), by_definition.cholesky, (A,), (Z,)),
    "cho_solve": (
        lambda r, b: linalg.cho_solve((r, False), b),
        by_definition.cho_solve,
        (A, V),
        (Z, V + 1j),
    ),
    "eigvalsh_tridiagonal": (
        linalg.eigvalsh_tridiagonal,
        by_definition.eigvalsh_tridiagonal,
        (X[:3], X[3:5]),
    ),
    "norm": (linalg.norm, by_definition.norm, (A,), (Z,)),
    "fiedler": (linalg.fiedler, by_definition.fiedler, (X[:4],), (HALF[:4],)),
}
SIGNALS = {
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
    "ihfft": (fft.ihfft, by_definition.ihfft, (X,)),
    "rfft2": (fft.rfft2, by_definition.rfft2, (TALL,)),
    "rfftn": (fft.rfftn, by_definition.rfft2, (TALL,)),
    "irfft2": (fft.irfft2, by_definition.irfft2, None, (TALL_Z,)),
    "irfftn": (fft.irfftn, by_definition.irfft2, None, (TALL_Z,)),
    "hfft2": (fft.hfft2, by_definition.hfft2, None, (TALL_Z,)),
    "hfftn": (fft.hfftn, by_definition.hfft2, None, (TALL_Z,)),
    "ihfft2": (fft.ihfft2, by_definition.ihfft2, (TALL,)),
    "ihfftn": (fft.ihfftn, by_definition.ihfft2, (TALL,)),
    "correlate": (signal.correlate, by_definition.correlate, (X, LONG[:3]), (X + 1j, HALF)),
    "correlate2d": (signal.correlate2d, by_definition.correlate2d, (TALL, Q[:2]), (TALL_Z, Q[:2] + 1j)),
    "hilbert": (signal.hilbert, by_definition.hilbert, (X,)),
    "savgol_coeffs": (
        lambda delta: signal.savgol_coeffs(7, 3, 2, delta[0]),
        by_definition.savgol_coeffs,
        (V[:1],),
    ),
    "csd": (lambda x, y: signal.csd(x, y, **WORDS)[1], by_definition.csd, (LONG, OTHER)),
    "coherence": (lambda x, y: signal.coherence(x, y, **WORDS)[1], by_definition.coherence, (LONG, OTHER)),
    "general_gaussian": (
        lambda p, width: signal.windows.general_gaussian(7, p[0], width[0]),
        by_definition.general_gaussian,
        (V[:1], V[2:]),
    ),
    "general_hamming": (
        lambda alpha: signal.windows.general_hamming(7, alpha[0]),
        by_definition.general_hamming,
        (V[:1],),
    ),
    "kaiser": (lambda beta: signal.windows.kaiser(7, beta[0]), by_definition.kaiser, (V[2:],)),
    "logsumexp": (special.logsumexp, by_definition.logsumexp, (X,), (HALF,)),
    "softmax": (special.softmax, by_definition.softmax, (X,)),
    "log_softmax": (special.log_softmax, by_definition.log_softmax, (X,)),
}
HARMONICS = {
    "sph_harm_y": (
        lambda theta, phi: special.sph_harm_y(3, -2, theta, phi),
        by_definition.harmonic,
        (1.5 + 0.4 * X, X[::-1]),
    ),
}
FIVE, SHARES = np.array([0.7, 1.9, 1.2, 0.4, 1.6]), np.array([0.3, 0.8, 1.1, 0.6, 0.9])
PLACES, COV = np.array([0.0, 0.3, 1.0, 1.2, 2.0]), A @ A.T
DATA = {
    "gmean": (lambda a, w: stats.gmean(a, weights=w), of_data.gmean, (FIVE, SHARES)),
    "hmean": (lambda a, w: stats.hmean(a, weights=w), of_data.hmean, (FIVE, SHARES)),
    "pmean": (lambda a, p: stats.pmean(a, p.item()), of_data.pmean, (FIVE, V[2:])),
    "trim_mean": (lambda a: stats.trim_mean(a, 0.2), of_data.trim_mean, (FIVE,)),
    "moment": (lambda a: stats.moment(a, 3), of_data.moment, (FIVE,)),
    "skew": (stats.skew, of_data.skew, (FIVE,)),
    "kurtosis": (stats.kurtosis, of_data.kurtosis, (FIVE,)),
    "sem": (stats.sem, of_data.sem, (FIVE,)),
    "variation": (stats.variation, of_data.variation, (FIVE,)),
    "zmap": (stats.zmap, of_data.zmap, (FIVE, SHARES)),
    "zscore": (stats.zscore, of_data.zscore, (FIVE,)),
    "gzscore": (stats.gzscore, of_data.gzscore, (FIVE,)),
    "gstd": (stats.gstd, of_data.gstd, (FIVE,)),
    "iqr": (stats.iqr, of_data.iqr, (FIVE,)),
    "median_abs_deviation": (stats.median_abs_deviation, of_data.median_abs_deviation, (FIVE,)),
    "entropy": (stats.entropy, of_data.entropy, (FIVE, SHARES)),
    "wasserstein_distance": (stats.wasserstein_distance, of_data.wasserstein_distance, (FIVE, SHARES[:4])),
    "energy_distance": (stats.energy_distance, of_data.energy_distance, (FIVE, SHARES[:4])),
    "boxcox": (lambda a, p: stats.boxcox(a, p[0]), of_data.boxcox, (FIVE, V[:1])),
    "boxcox_llf": (lambda p, a: stats.boxcox_llf(p[0], a), of_data.boxcox_llf, (V[:1], FIVE)),
    "multivariate_normal": (stats.multivariate_normal.logpdf, of_data.log_normal, (FIVE[:3], V, COV)),
    "dirichlet": (stats.dirichlet.logpdf, of_data.log_dirichlet, (FIVE[:2] / 4, SHARES[:3])),
    "trapezoid": (
        integrate.trapezoid,
        of_data.trapezoid,
        (FIVE, PLACES),
        (FIVE + 1j * SHARES, PLACES + 0.1j * SHARES),
    ),
    "cumulative_trapezoid": (
        integrate.cumulative_trapezoid,
        of_data.cumulative_trapezoid,
        (FIVE, PLACES),
        (FIVE + 1j * SHARES, PLACES + 0.1j * SHARES),
    ),
    "simpson": (
        lambda y, x: integrate.simpson(y, x=x),
        of_data.simpson,
        (FIVE, PLACES),
        (FIVE + 1j * SHARES, PLACES),
    ),
    "cumulative_simpson": (
        lambda y, x: integrate.cumulative_simpson(y, x=x),
        of_data.cumulative_simpson,
        (FIVE, PLACES),
    ),
    "romb": (lambda y, dx: integrate.romb(y, dx[0]), of_data.romb, (FIVE, V[:1]), (FIVE + 1j, V[:1])),
    "rosen": (optimize.rosen, of_data.rosen, (FIVE,), (FIVE + 1j * SHARES,)),
}
EVERY = {**LINEAR, **SIGNALS, **DATA, **of_solutions.cases()}
if hasattr(special, "sph_harm_y"):
    EVERY |= HARMONICS
CASES = {name: Definition(*stated) for name, stated in EVERY.items()}
