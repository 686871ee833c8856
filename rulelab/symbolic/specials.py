"""The functions of `scipy.special` on traced numbers, for those who have SciPy."""

from __future__ import annotations

import functools
import importlib.util

import numpy as np

from .arrays import own
from .functions import MATH, apply, element_version, elementwise_version
from .scalars import Scalar


def _expit(x):
    return 1 / (1 + apply("exp", -x))


def _logit(x):
    return apply("log", x / (1 - x))


def _ndtr(x):
    return apply("erfc", -x / x.trace.constant(2) ** x.trace.constant(0.5)) / 2


def _log_gammas(a, b):
    return _gammaln(a) + _gammaln(b) - _gammaln(a + b)


def _gammaln(x):
    return apply("loggamma", x, False)


def _beta(a, b):
    a, b = _lifted(a, b)
    gamma = functools.partial(apply, "gamma")
    return gamma(a) * gamma(b) / gamma(a + b)


def _betaln(a, b):
    return _log_gammas(*_lifted(a, b))


def _xlogy(x, y):
    x, y = _lifted(x, y)
    return x * apply("log", y)


def _lifted(*xs):
    trace = next(x.trace for x in xs if isinstance(x, Scalar))
    return tuple(map(trace.constant, xs))


def _polygamma(n, x):
    if not isinstance(n, Scalar) and n in (0, 1):
        return apply("digamma" if n == 0 else "trigamma", x)
    return x.__float__()  # which stops the trace: higher ones are not in the table


_SPECIAL = {
    name: MATH[name](False) for name in ("gamma", "erf", "erfc", "log1p", "expm1", "exp2", "cbrt")
} | {
    "gammaln": _gammaln,
    "digamma": functools.partial(apply, "digamma", raising=False),
    "psi": functools.partial(apply, "digamma", raising=False),
    "polygamma": _polygamma,
    "erfinv": functools.partial(apply, "erfinv", raising=False),
    "expit": _expit,
    "logit": _logit,
    "ndtr": _ndtr,
    "beta": _beta,
    "betaln": _betaln,
    "xlogy": _xlogy,
}


def has_scipy():
    """Whether SciPy can be imported; it is not, for this question."""
    return importlib.util.find_spec("scipy") is not None


def special_functions():
    """Every function of `scipy.special` that the table knows, with its version for traced numbers; none
    without SciPy."""
    if not has_scipy():
        return {}
    from scipy import special

    known = ((getattr(special, name), on_scalars) for name, on_scalars in _SPECIAL.items())
    return {original: _version(original, on_scalars) for original, on_scalars in known}


def _on_elements(original, on_scalars):
    one = np.frompyfunc(element_version(original, on_scalars), original.nin, 1)
    return lambda _ufunc, args, kwargs: own(np.asarray(one(*args, **kwargs)))


def _version(original, on_scalars):
    if isinstance(original, np.ufunc):
        return elementwise_version(original, on_scalars, _on_elements(original, on_scalars))
    return lambda *xs: on_scalars(*xs) if any(isinstance(x, Scalar) for x in xs) else original(*xs)
