"""The transforms of `scipy.fft`."""

import numpy as np
import pytest

fft = pytest.importorskip("scipy.fft")

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
from rulelab.errors import NotDifferentiableError, RuleLabError  # noqa: E402

V = np.array([0.5, -1.0, 2.0, 0.25, 1.5])
E, Z = V[:4], V * (1 + 0.5j) - 0.25j
M = np.cos(np.arange(12.0)).reshape(3, 4)
C = np.sin(np.arange(24.0)).reshape(2, 3, 4)
W = M + 1j * M[::-1]
ONE = (("fft", Z, V), ("ifft", Z, V), ("rfft", V, E), ("irfft", Z, V), ("hfft", Z, V), ("ihfft", V, E))
MANY = (("fftn", W), ("ifftn", W), ("rfftn", M), ("irfftn", W), ("hfftn", W), ("ihfftn", M))
TWO = (("fft2", W), ("ifft2", W), ("rfft2", M), ("irfft2", W), ("hfft2", W), ("ihfft2", M))


def one_axis(name, x, other):
    f = getattr(fft, name)
    lengths = ((3, "ortho"), (8, "forward"), (7, "backward"))
    return [
        call(name, f, x),
        call(f"{name} other", f, other),
        call(f"{name} axis", given(f, axis=0), M),
        call(f"{name} short", f, V.astype(np.float32)),
        *[call(f"{name} {n} {norm}", given(f, n=n, norm=norm), x) for n, norm in lengths],
    ]


def many_axes(name, x):
    f = getattr(fft, name)
    return [
        call(name, f, x),
        call(f"{name} s", given(f, s=(2, 6)), C),
        call(f"{name} axes", given(f, axes=(0, 2), norm="ortho"), C),
        call(f"{name} one", given(f, s=3, axes=1, norm="forward"), C),
    ]


def two_axes(name, x):
    f = getattr(fft, name)
    return [call(name, f, x), call(f"{name} s", given(f, s=(2, 6), axes=(0, 1)), C)]


def cosines(name):
    f = getattr(fft, name)
    norms = ((None, None), ("ortho", None), ("forward", True), ("ortho", False), (None, True))
    return [
        *[
            call(f"{name} {kind} {norm} {weights}", given(f, type=kind, norm=norm, orthogonalize=weights), V)
            for kind in (2, 1, 3, 4)
            for norm, weights in norms
        ],
        call(f"{name} cut", given(f, n=2, axis=0), M),
        call(f"{name} padded", given(f, n=7, axis=1, type=3), C),
        call(f"{name} complex", f, Z),
        call(f"{name} short", f, V.astype(np.float32)),
    ]


def cosines_of_many(name):
    f = getattr(fft, name)
    return [
        call(name, f, C),
        call(f"{name} s", given(f, s=(2, 5), norm="ortho", type=3), C),
        call(f"{name} axes", given(f, axes=1), C),
    ]


CALLS = [
    *[one for name, x, other in ONE for one in one_axis(name, x, other)],
    *[one for name, x in MANY for one in many_axes(name, x)],
    *[one for name, x in TWO for one in two_axes(name, x)],
    *[one for name in ("dct", "dst", "idct", "idst") for one in cosines(name)],
    *[one for name in ("dctn", "dstn", "idctn", "idstn") for one in cosines_of_many(name)],
    call("fftshift", given(fft.fftshift, axes=1), C),
    call("ifftshift", fft.ifftshift, V),
    call("fftfreq", lambda d: fft.fftfreq(5, d), 0.7),
    call("rfftfreq", lambda d: fft.rfftfreq(5, d), 0.7),
]

WRONG = [
    ("fft", "transposed", lambda stages, y_bar, shape, norm: fft.ifft(y_bar)),
    ("fftn", "stages_of", lambda kind, shape, s, axes: [("ifft", shape[0], 0)]),
    ("hfft", "OPPOSITE", {None: None}),
    ("dct 2 None None", "weights", lambda *facts: None),
    ("dct 1 ortho False", "weights", lambda *facts: None),
    ("dst 3 ortho False", "weights", lambda *facts: None),
    ("ifft", "transposed", lambda stages, y_bar, shape, norm: fft.ifft(y_bar)),
    ("rfft", "transposed", lambda stages, y_bar, shape, norm: shape[-1] * fft.irfft(y_bar, shape[-1])),
    ("irfft", "transposed", lambda stages, y_bar, shape, norm: fft.rfft(y_bar) / y_bar.shape[-1]),
    ("dct cut", "resized", lambda x, n, axis: np.resize(x, M.shape)),
]


def test_a_real_signal_has_a_real_cotangent():
    """The spectrum is complex; what comes back to a real signal is real."""
    (x_bar,) = rl.gradient(lambda x: np.sum(np.abs(fft.fft(x)) ** 2), V)
    assert x_bar.dtype == float
    np.testing.assert_allclose(x_bar, 2 * len(V) * V)


def test_overwriting_is_left_out():
    """Where SciPy may destroy its argument the pass does not, which others may still need."""
    f = lambda x: np.sum(np.abs(fft.fft(x * x, overwrite_x=True)) ** 2)
    np.testing.assert_allclose(rl.gradient(f, Z)[0], 4 * len(Z) * np.abs(Z) ** 2 * Z)


@pytest.mark.parametrize("name", ["dct", "dst", "idct", "idst", "dctn", "idstn"])
@pytest.mark.parametrize(("norm", "weighted"), [(None, True), ("ortho", False)])
def test_weights_that_scipy_drops_of_complex_numbers(name, norm, weighted):
    """Refused in both modes; right where they are those of the norm, and of real numbers."""
    transform = getattr(fft, name)
    f = lambda x: transform(x, norm=norm, orthogonalize=weighted)
    for ask in (lambda: rl.gradient(lambda z: np.sum(np.abs(f(z)) ** 2), Z), lambda: rl.pushforward(f, Z)(Z)):
        with pytest.raises(NotDifferentiableError, match="orthogonalize"):
            ask()
    check_call(call(name, f, V))
    check_call(call(name, given(transform, norm=norm, orthogonalize=not weighted), Z))


def test_what_is_not_covered_is_refused():
    """Transforms on a logarithmic scale, and lengths that vary."""
    with pytest.raises(RuleLabError):
        rl.gradient(lambda x: np.sum(fft.fht(x, 0.1, 0.5)), V)
