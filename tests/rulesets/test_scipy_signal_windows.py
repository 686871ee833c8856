"""Windows of `scipy.signal.windows`."""

import warnings

import numpy as np
import pytest

signal = pytest.importorskip("scipy.signal")
windows = pytest.importorskip("scipy.signal.windows")

from library_calls import call  # noqa: E402
from library_tests import (  # noqa: E402, F401
    test_a_mistake_is_caught,
    test_an_analytic_function_agrees_with_an_integral_around,
    test_each_form_of_arrays,
    test_each_function_agrees_with_differences,
    test_further_calls_agree_with_differences,
    test_second_derivatives,
)

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError, NotImplementedTangentError  # noqa: E402

X = np.arange(5.0)

CALLS = [
    *[
        call(
            f"{name} {length} {sym}",
            lambda *args, f=getattr(windows, name), n=length, sym=sym: f(n, *args, sym=sym),
            *args,
        )
        for name, args in (
            ("gaussian", (1.3,)),
            ("general_gaussian", (0.7, 1.5)),
            ("general_hamming", (0.6,)),
            ("kaiser", (2.5,)),
        )
        for length in (7, 6)
        for sym in (True, False)
    ],
    call("exponential", lambda tau: windows.exponential(6, tau=tau), 1.5),
    call("exponential centre", lambda centre, tau: windows.exponential(6, centre, tau, False), 2.2, 1.5),
    call(
        "constant",
        lambda x: x * windows.hann(5) * windows.tukey(5, 0.5) * signal.get_window(("kaiser", 3.0), 5),
        X,
    ),
]

WRONG = [
    ("gaussian 7 True", "_places", lambda M, sym: (np.arange(M) + 1.0, M)),
    ("kaiser 7 True", "_half_circle", lambda M, sym: np.ones(M)),
    ("exponential", "_places", lambda M, sym: (np.arange(M) + 1.0, M)),
]


@pytest.mark.parametrize(
    "f, x",
    [
        (lambda a: windows.tukey(9, a), 0.5),
        (lambda a: windows.get_window(("kaiser", a), 9), 0.5),
        (lambda a: windows.get_window(a, 9), 0.5),
        (lambda a: signal.get_window(("tukey", a), 5), 0.5),
        (lambda a: windows.chebwin(9, at=a), 50.0),
        (lambda a: windows.taylor(9, sll=a), 30.0),
        (lambda a: windows.general_cosine(9, [a, 1 - a]), 0.5),
        (lambda a: windows.dpss(9, a), 2.5),
        (lambda a: windows.kaiser_bessel_derived(8, a), 2.5),
    ],
)
def test_a_shape_that_varies_is_refused(f, x):
    """Never None, never zero in silence."""
    assert np.isfinite(rl.gradient(lambda t: np.sum(t * f(x)), 2.0)[0])
    with pytest.raises((NotImplementedTangentError, NotDifferentiableError)):
        rl.gradient(lambda a: np.sum(f(a)), x)
    with pytest.raises((NotImplementedTangentError, NotDifferentiableError)):
        rl.pushforward(f, x)(1.0)


def test_an_imaginary_part_that_scipy_drops_is_refused():
    """It makes real numbers of NumPy's complex ones, with a warning: a complex slope would be another's."""
    shape = np.complex128(0.6 + 0.2j)
    for ask in (
        lambda: rl.gradient(lambda a: np.sum(windows.general_hamming(5, a)), shape),
        lambda: rl.pushforward(lambda a: windows.general_hamming(5, a), shape)(1.0),
    ):
        with warnings.catch_warnings(), pytest.raises(NotDifferentiableError, match="parts are dropped"):
            warnings.simplefilter("ignore")
            ask()
