"""The discrete Fourier transforms."""

import numpy as np
import pytest
from rule_points import at_each, by_rule, check, cotangents

from rulelab.errors import RuleLabError
from rulelab.rulesets.fft import TABLE


@pytest.mark.parametrize("points", by_rule(TABLE), ids=str)
def test_rules_agree_with_finite_differences(points):
    """Every transform is right at every one of its points, in both modes: lengths, axes and norms."""
    at_each(points, check)


@pytest.mark.parametrize("transform", [np.fft.fft, np.fft.rfft, np.fft.ihfft])
def test_a_real_signal_has_a_real_cotangent(transform):
    """The spectrum is complex; what comes back to a real signal is real."""
    (x_bar,) = cotangents(TABLE, transform, np.array([1.0, 2.0, 4.0]), seed=1 + 2j)
    assert x_bar.dtype == float and x_bar.shape == (3,)


def test_what_an_inverse_real_transform_does_not_read_gets_nothing():
    """The imaginary parts at frequency zero and at the highest of an even length play no part."""
    (x_bar,) = cotangents(TABLE, np.fft.irfft, np.ones(3) + 1j, seed=np.array([1.0, 2.0, 4.0, 8.0]))
    assert x_bar[0].imag == 0 and x_bar[2].imag == 0 and x_bar[1].imag != 0


def test_spacings_in_an_array_are_refused():
    """`fftfreq` takes one spacing."""
    with pytest.raises(RuleLabError, match="array of spacings"):
        cotangents(TABLE, np.fft.fftfreq, 2, np.array([1.0, 2.0]))
