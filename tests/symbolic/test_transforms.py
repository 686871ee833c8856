"""Fourier transforms of traced numbers are those of NumPy."""

import numpy as np
import pytest

from rulelab.symbolic import Proved, Refuted, prove
from rulelab.symbolic.arrays import to_traced_arrays
from rulelab.symbolic.questions import sample_of
from rulelab.symbolic.scalars import Trace
from rulelab.symbolic.tracing import traced_arguments
from rulelab.symbolic.transforms import TRANSFORMS

SIGNAL = np.array([[0.5 + 1j, -1.0, 2.0 - 0.5j, 0.25j], [1.5, 1j, -0.75, 0.5 + 0.5j], [1.0, 2.0, 3.0, 1j]])


def values(array):
    return np.array([complex(getattr(v, "shadow", v)) for v in np.asarray(array).ravel()])


@pytest.mark.every(3)
@pytest.mark.parametrize("function", TRANSFORMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_every_transform_agrees_with_numpy(function, norm):
    """Each has NumPy's values, along its axes, cut off and filled up."""
    real = function.__name__ in ("rfft", "ihfft", "rfftn", "rfft2")
    signal = SIGNAL.real if real else SIGNAL
    (traced,), _ = traced_arguments(Trace(), ("a",), (sample_of(signal),))
    several = function.__name__[-1] in "2n"
    axes = [{}, {"s": (4, 5), "axes": (0, 1)}] if several else [{}, {"n": 3}, {"n": 6, "axis": 0}]
    for options in axes:
        expected = function(signal, norm=norm, **options)
        found = np.asarray(TRANSFORMS[function](to_traced_arrays(traced), norm=norm, **options)).view(
            np.ndarray
        )
        assert found.shape == expected.shape
        assert np.allclose(values(found), expected.ravel())


def test_the_rule_of_a_transform():
    """The transposed transform is proved; the inverse one, which differs by a factor, is refuted."""

    def spectrum(x):
        return np.fft.fft(x)

    def rule_with(back):
        return lambda x: (spectrum(x), lambda y_bar: (None, back(y_bar)))

    at = (np.array([1 + 2j, 3j, -0.5, 2.0, 1 - 1j]),)
    right = prove(spectrum, rule_with(lambda b: len(b) * np.fft.ifft(b)), at=at).verdict
    assert isinstance(right, Proved), right.sentence()
    wrong = prove(spectrum, rule_with(np.fft.ifft), at=at).verdict
    assert isinstance(wrong, Refuted) and "1/5 times the right one" in wrong.reason
