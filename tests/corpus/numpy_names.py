"""Corpus: names of NumPy beyond the everyday ones, together in functions as one writes them."""

import numpy as np
from corpus.harness import case

V = np.array([0.5, -1.5, 2.0, 0.75])
W = np.array([1.25, 0.75, -0.5])
P = np.array([0.5, 1.5, 2.5, 0.25])
M = np.array([[0.5, 1.25, -2.0], [3.0, -1.5, 2.75]])
S = np.array([[2.0, 0.5, -1.0], [0.25, 1.5, 0.5], [0.1, -0.75, 1.0]])
TALL = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-1.0, 1.5]])


@case((V,))
def power_spectrum(x):
    spectrum = np.fft.rfft(x * np.hanning(6)[1:5], n=6)
    return np.sum(np.abs(spectrum) ** 2) + np.fft.irfft(spectrum * 2.0)[1] + np.fft.fftshift(x)[0] * x[1]


@case((M,))
def filtered_image(m):
    spectrum = np.fft.fft2(m, norm="ortho")
    return np.sum(np.real(np.fft.ifft2(spectrum * np.array([1.0, 0.5, 0.5]))) ** 2)


@case((V,))
def order_statistics(x):
    return (
        np.quantile(x, 0.3) * np.percentile(x, 80.0)
        + np.median(x)
        + np.partition(x, 1)[1]
        + np.unique(x)[0] ** 2
    )


@case((M,))
def statistics_without_nan(m):
    y = np.where(m > 2.9, np.nan, m)
    return np.nanmean(y) * np.nanstd(y, axis=1)[0] + np.nanprod(y, axis=0)[1] + np.nansum(np.nancumsum(y))


@case((M,))
def covariances(m):
    return np.sum(np.cov(m) * np.array([[1.0, 2.0], [3.0, 4.0]])) + np.corrcoef(m)[0, 1]


@case((W,), (V[:3] + 2.0,))
def interpolated(x):
    return np.interp(x[0] * 0.3, np.array([-1.0, 0.0, 2.0]), x) + np.sum(
        np.interp(np.array([-2.0, 0.7]), [0.0, 1.0, 3.0], x)
    )


@case((V,))
def differences(x):
    return (
        np.sum(np.gradient(x, 0.5) ** 2)
        + np.sum(np.diff(x, 2) * 3.0)
        + np.trapezoid(x * x)
        + np.ediff1d(x)[0] ** 2
    )


@case((V, W))
def convolved(x, kernel):
    return np.sum(np.convolve(x, kernel, "same") ** 2) + np.correlate(x, kernel)[0] * np.polyval(kernel, x[2])


@case((V,))
def fitted(x):
    slope, start = np.polyfit(np.arange(4.0), x, 1)
    return slope * start + np.polyval(np.polyder(x), 0.5)


@case((M,))
def assembled(m):
    wide = np.block([[m, m[:, :1]], [np.zeros((1, 3)), 2.0 * m[:1, 1:2]]])
    return np.sum(np.insert(wide, 1, m[0, 0], axis=1) * np.arange(15.0).reshape(3, 5)) + np.trace(
        wide @ wide.T
    )


@case((V,))
def chosen(x):
    return (
        np.sum(np.choose(np.array([0, 1, 1, 0]), [x, x * x]))
        + np.take_along_axis(x, np.argsort(x), 0)[0] * x[0]
    )


@case((TALL, V))
def least_squares(a, b):
    solution, residuals, _, s = np.linalg.lstsq(a, b)
    return np.sum(solution * np.array([1.0, -2.0])) + residuals[0] * s[1]


@case((S,))
def matrix_norms(a):
    return np.linalg.norm(a, "nuc") + np.linalg.norm(a, 2) * np.linalg.norm(a, 1) + np.linalg.cond(a)


@case((S,))
def spectral_radius(a):
    return np.max(np.abs(np.linalg.eigvals(a)))


@case((P,))
def methods_of_ufuncs(x):
    table = np.subtract.outer(x, x)
    return (
        np.sum(np.multiply.accumulate(x))
        + np.sum(np.tanh(table) ** 2)
        + np.logaddexp.reduce(x)
        + np.hypot.reduce(x)
    )


@case((P,))
def reduced_in_pieces(x):
    return np.add.reduceat(x * x, [0, 2])[1] * np.maximum.reduceat(x, [1, 3])[0] + np.divide.reduce(x)


@case((P,))
def spaced_samples(x):
    return (
        np.sum(np.logspace(x[0], x[1], 4))
        + np.sum(np.geomspace(x[2], x[1], 3))
        + np.linspace(x[0], x[3], 3)[1]
    )
