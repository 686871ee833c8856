"""Linear algebra on traced numbers is exact, and fails as NumPy's does."""

import numpy as np
import pytest

from rulelab.symbolic.elimination import LINALG
from rulelab.symbolic.scalars import Trace, shadow_of

RNG = np.random.default_rng(4)


def traced(a):
    trace = Trace()
    made = np.empty(a.shape, dtype=object)
    for index in np.ndindex(a.shape):
        made[index] = trace.argument(f"a{index}", float(a[index]))
    return made


def floats(a):
    return np.vectorize(lambda v: float(shadow_of(v)))(a)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_results_are_numpys(n):
    """Determinant, inverse, solution and factor agree with NumPy at each size, stacks included."""
    a, b = RNG.normal(size=(2, n, n)), RNG.normal(size=(n, 2))
    for function in (np.linalg.det, np.linalg.inv):
        assert floats(LINALG[function](traced(a))) == pytest.approx(function(a), rel=1e-9)
    assert floats(LINALG[np.linalg.solve](traced(a), traced(b))) == pytest.approx(
        np.linalg.solve(a, b), rel=1e-9
    )
    spd = a[0] @ a[0].T + np.eye(n)
    assert floats(LINALG[np.linalg.cholesky](traced(spd))) == pytest.approx(np.linalg.cholesky(spd), rel=1e-9)
    sign, log = LINALG[np.linalg.slogdet](traced(a))
    assert floats(sign) == pytest.approx(np.linalg.slogdet(a)[0])
    assert floats(log) == pytest.approx(np.linalg.slogdet(a)[1], rel=1e-9)


@pytest.mark.parametrize("n", [2, 4])
def test_singular_matrices_raise_numpys_error(n):
    """A matrix without inverse raises LinAlgError, which a caller may catch."""
    a = traced(np.ones((n, n)))
    for call in (lambda: LINALG[np.linalg.inv](a), lambda: LINALG[np.linalg.solve](a, a)):
        with pytest.raises(np.linalg.LinAlgError):
            call()
    with pytest.raises(np.linalg.LinAlgError):
        LINALG[np.linalg.cholesky](traced(-np.eye(n)))
