"""Why a function of a library has no rule stands in the error of its call."""

import colorsys
import importlib

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ForeignCallError
from rulelab.rules.refusals import reason_for, state_reasons

X = np.array([0.3, 1.2, 0.7])
CALLS = [
    ("numpy", lambda np, x: np.poly(x), "use the product of `x - root`"),
    ("scipy.special", lambda special, x: special.kolmogorov(x), "its density is not among the functions"),
    ("scipy.linalg", lambda linalg, x: linalg.schur(np.diag(x))[0], "a Schur or Hessenberg form"),
    ("scipy.signal", lambda signal, x: signal.medfilt(x), "depends on the order of the values"),
    ("scipy.fft", lambda fft, x: fft.fht(x, 0.1, 0.5), "on a logarithmic scale"),
    ("scipy.integrate", lambda integrate, x: integrate.newton_cotes(x)[0], "weights that depend on"),
    ("scipy.optimize", lambda optimize, x: optimize.leastsq(lambda p: p - x, X)[0], "use least_squares"),
    ("scipy.stats", lambda stats, x: stats.tmean(x), "use np.mean"),
]


@pytest.mark.parametrize(("module", "f", "reason"), CALLS, ids=[module for module, _, _ in CALLS])
def test_the_reason_is_in_the_error(module, f, reason):
    """In both modes, after the call that is refused: what to use instead, or what is missing."""
    library = importlib.import_module(module) if module == "numpy" else pytest.importorskip(module)
    with pytest.raises(ForeignCallError, match=rf"foreign call expression .*\): .*({reason})"):
        rl.gradient(lambda x: np.sum(f(library, x)), X)
    with pytest.raises(ForeignCallError, match=rf"foreign call expression .*\): .*({reason})"):
        rl.pushforward(lambda x: np.sum(f(library, x)), X)(X)


def test_a_function_without_a_reason_has_none():
    """Nor has another object in its place; what a library has not is passed over."""
    state_reasons(colorsys, {"rgb_to_hls": "by cases", "no_such_function": "there is none"})
    assert reason_for(colorsys.rgb_to_hls) == "by cases"
    assert reason_for(colorsys.hls_to_rgb) is None and reason_for([]) is None
    with pytest.raises(ForeignCallError) as caught:
        rl.gradient(lambda x: np.sum(np.asarray(memoryview(x))), X)
    assert "): " not in str(caught.value).splitlines()[0]
