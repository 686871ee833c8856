"""Convolutions and correlations of `scipy.signal`."""

import numpy as np
import pytest

signal = pytest.importorskip("scipy.signal")

from library_calls import call, check_call, given  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError  # noqa: E402
from rulelab.rulesets import scipy_signal_convolutions as rules  # noqa: E402

IN_FULL = rules.full_convolution_cotangent
RNG = np.random.default_rng(0)
V, W, M, K = RNG.normal(size=7), RNG.normal(size=4), RNG.normal(size=(5, 6)), RNG.normal(size=(2, 3))
C, K3, SQUARE = RNG.normal(size=(2, 5, 3)), RNG.normal(size=(2, 2, 2)), RNG.normal(size=(4, 4))
MODES = ("full", "same", "valid")


def calls_of(f):
    name = f.__name__
    return [
        call(name, f, V, W),
        *[
            one
            for mode in MODES
            for one in (
                call(f"{name} {mode}", given(f, mode=mode), V, W),
                call(f"{name} {mode} longer", given(f, mode=mode), W, V),
                call(f"{name} {mode} plane", given(f, mode=mode), M, K + 1j),
            )
        ],
        call(f"{name} space", f, C, K3),
        call(f"{name} numbers", f, 2.0, 3.0),
        call(f"{name} short", f, V.astype(np.float32), W.astype(np.float32)),
        call(f"{name} complex", given(f, mode="same"), V + 1j * V[::-1], W - 2j),
    ]


def along_axes(f):
    name = f.__name__
    return [
        one
        for mode in MODES
        for one in (
            call(f"{name} {mode} rows", given(f, mode=mode, axes=1), M, K[:1]),
            call(f"{name} {mode} outer", given(f, mode=mode, axes=(0, -1)), C, C[:1, :1, :2]),
            call(f"{name} {mode} broadcast", given(f, mode=mode, axes=[-1]), K[:1], M),
        )
    ]


def in_the_plane(f):
    name, kernels = f.__name__, {"even": SQUARE, "odd": RNG.normal(size=(3, 3)) + 1j, "small": K}
    return [
        call(name, f, M, K),
        *[
            call(f"{name} {mode} {boundary} {kind}", given(f, mode=mode, boundary=boundary), M, kernel)
            for mode in MODES
            for boundary in ("fill", "wrap", "symm")
            for kind, kernel in kernels.items()
        ],
        call(f"{name} value", lambda m, k, v: f(m, k, "same", "fill", v), M, K, 0.7),
        call(f"{name} valid in the larger", given(f, mode="valid"), K, M),
    ]


CALLS = [
    *[
        one
        for f in (signal.convolve, signal.correlate, signal.fftconvolve, signal.oaconvolve)
        for one in calls_of(f)
    ],
    *[one for f in (signal.fftconvolve, signal.oaconvolve) for one in along_axes(f)],
    call("convolve direct", given(signal.convolve, method="direct", mode="same"), M, K),
    call("convolve fft", given(signal.convolve, method="fft"), V, W),
    call("convolve lists", lambda x: signal.convolve([x, 2 * x, 1.0], [1.0, x]), 0.7),
    call("correlate direct", given(signal.correlate, method="direct", mode="same"), M, K + 1j),
    call("correlate even", given(signal.correlate, method="direct", mode="same"), V, W),
    *[one for f in (signal.convolve2d, signal.correlate2d) for one in in_the_plane(f)],
    call("deconvolve", signal.deconvolve, V, W),
    call("deconvolve longer", signal.deconvolve, W, V),
    call("fftconvolve empty", signal.fftconvolve, V, np.zeros(0)),
]

WRONG = [
    ("convolve", "reversed_conjugate", lambda x, axes: np.conj(x)),
    ("convolve complex", "reversed_conjugate", lambda x, axes: np.flip(x, axes)),
    (
        "convolve same",
        "full_convolution_cotangent",
        lambda y_bar, left, right, mode, axes: IN_FULL(y_bar, left, right, "full", axes),
    ),
    ("fftconvolve full outer", "unbroadcast", lambda bar, x: bar[: x.shape[0], : x.shape[1], : x.shape[2]]),
]


def test_a_smaller_plane_before_a_larger_one():
    """Of complex numbers SciPy conjugates the other array than it says: refused; of real ones it is right."""
    f = lambda a, b: signal.correlate2d(a, b, mode="valid")
    small, large = np.array([[1.0, 0.5j]]), np.array([[2.0, 1.0, 0.5], [0.5, 1.0j, 3.0]])
    with pytest.raises(NotDifferentiableError, match="the second is the larger"):
        rl.gradient(lambda a, b: np.sum(np.abs(f(a, b))), small, large)
    with pytest.raises(NotDifferentiableError, match="the second is the larger"):
        rl.pushforward(f, small, large)(small, large)
    check_call(call("real", f, small.real, large.real))
    check_call(call("the larger first", f, large, small))


@pytest.mark.parametrize("f", [signal.convolve2d, signal.correlate2d])
def test_an_imaginary_part_that_scipy_drops_is_refused(f):
    """Around real planes it fills with the real part, in silence; around complex ones with the whole."""
    value = np.complex128(0.7 + 0.3j)
    for ask in (
        lambda: rl.gradient(lambda v: np.sum(f(M, K, "same", "fill", v)), value),
        lambda: rl.pushforward(lambda v: f(M, K, "same", "fill", v), value)(1.0),
    ):
        with pytest.raises(NotDifferentiableError, match="parts are dropped"):
            ask()
    for left, right in ((M + 1j, K), (M, K - 1j)):
        check_call(call("complex", lambda m, k, v: f(m, k, "same", "fill", v), left, right, value))
