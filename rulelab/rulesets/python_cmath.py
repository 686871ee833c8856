"""Rules for the functions of the `cmath` module, and for the conjugates of Python's numbers.

Cotangents follow ChainRules: x̄ = ∂/∂Re + i ∂/∂Im. So the pullback of a holomorphic f is ȳ conj(f'(z)), and a
real argument gets the real part. Where f' has a pole (`sqrt(0)`, `asin(1)`) the rule says NaN and does not
raise; on a branch cut the derivative is that of the side from which the value comes.
"""

import cmath
import math

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.projection import unbroadcast
from ..tangents.thunks import unthunk
from ..tangents.zeros import NoTangent
from .array_likes import is_zero
from .kinks import past_kink
from .numpy_elementwise import LN10

TABLE = RuleTable("python_cmath")

_NAN = complex(math.nan, math.nan)
_POINTS = [(0.3 + 0.4j,), (-1.2 + 0.5j,), (1.5 - 2.0j,), (0.4,), (np.complex128(0.7 - 0.2j),), (2,)]
_AWAY_FROM_CUTS = [(0.3 + 0.4j,), (-1.2 + 0.5j,), (1.5 - 2.0j,), (np.complex128(0.7 - 0.2j),)]


def over(a, b):
    """`a / b`, NaN at a pole.

    >>> over(1.0, 2j), over(1.0, 0.0)
    (-0.5j, (nan+nanj))
    """
    return complex(a) / complex(b) if b else _NAN * (complex(a) * complex(b))  # so are its derivatives


def root_of_ends(z):
    """`sqrt(1 - z) * sqrt(1 + z)`, written so that the sign of a zero in `z`, the side of a cut, is kept."""
    return cmath.sqrt(-(z - 1.0)) * cmath.sqrt(z - -1.0)


# -- holomorphic ---------------------------------------------------------------------------------------------

TABLE.scalar(cmath.exp, lambda out, z: out, points=_POINTS)
TABLE.scalar(cmath.log10, lambda out, z: over(1.0 / LN10, z), points=_AWAY_FROM_CUTS)
TABLE.scalar(cmath.sqrt, lambda out, z: over(0.5, out), points=_AWAY_FROM_CUTS)
TABLE.scalar(cmath.sin, lambda out, z: cmath.cos(z), points=_POINTS)
TABLE.scalar(cmath.cos, lambda out, z: -cmath.sin(z), points=_POINTS)
TABLE.scalar(cmath.tan, lambda out, z: 1.0 + out * out, points=_POINTS)
TABLE.scalar(cmath.sinh, lambda out, z: cmath.cosh(z), points=_POINTS)
TABLE.scalar(cmath.cosh, lambda out, z: cmath.sinh(z), points=_POINTS)
TABLE.scalar(cmath.tanh, lambda out, z: 1.0 - out * out, points=_POINTS)
TABLE.scalar(
    cmath.asin, lambda out, z: over(1.0, root_of_ends(z)), points=_AWAY_FROM_CUTS
)
TABLE.scalar(
    cmath.acos, lambda out, z: over(-1.0, root_of_ends(z)), points=_AWAY_FROM_CUTS
)
TABLE.scalar(cmath.atan, lambda out, z: over(1.0, (1.0 + 1j * z) * (1.0 - 1j * z)), points=_AWAY_FROM_CUTS)
TABLE.scalar(
    cmath.asinh,
    lambda out, z: over(1.0, root_of_ends(complex(-z.imag, z.real))),  # `1j * z` loses the sign of a zero
    points=_AWAY_FROM_CUTS,
)
TABLE.scalar(
    cmath.acosh, lambda out, z: over(1.0, cmath.sqrt(z - 1.0) * cmath.sqrt(z - -1.0)), points=_AWAY_FROM_CUTS
)
TABLE.scalar(cmath.atanh, lambda out, z: over(1.0, (1.0 - z) * (1.0 + z)), points=_AWAY_FROM_CUTS)


def _log_partials(out, z, base=None):
    if base is None:
        return over(1.0, z)
    of_base = cmath.log(base) if base else _NAN
    return over(1.0, z * of_base), over(-out, base * of_base)


_LOG_POINTS = [*_AWAY_FROM_CUTS, (0.3 + 0.4j, 1.5 - 0.5j), (0.3 + 0.4j, 3.0)]


@TABLE.rrule(cmath.log, leading=2, points=_LOG_POINTS)
def log_rrule(z, /, *base):
    """`cmath.log(z)` and `cmath.log(z, base)`"""
    y = cmath.log(z, *base)
    partials = _log_partials(y, z, *base)

    def log_pullback(y_bar):
        rows = partials if isinstance(partials, tuple) else (partials,)
        return NoTangent(), *(unbroadcast(y_bar * p.conjugate(), x) for p, x in zip(rows, (z, *base)))

    return y, log_pullback


@TABLE.frule(cmath.log)
def log_frule(tangents, z, /, *base):
    y = cmath.log(z, *base)
    partials = _log_partials(y, z, *base)
    rows = partials if isinstance(partials, tuple) else (partials,)
    terms = [p * unthunk(dot) for p, dot in zip(rows, tangents[1:]) if not is_zero(dot)]
    return y, sum(terms) if terms else 0j


# -- not holomorphic -----------------------------------------------------------------------------------------


def _phase_slope(z):
    """∂/∂Re + i ∂/∂Im of the phase: `i z` over the size twice, whose square could overflow or vanish."""
    z = complex(z)
    r = math.hypot(z.real, z.imag)
    return over(over(1j * z, r), r)


@TABLE.rrule(cmath.phase, leading=1, points=_AWAY_FROM_CUTS)
def phase_rrule(z, /):
    def phase_pullback(y_bar):
        return NoTangent(), unbroadcast(y_bar * _phase_slope(z), z)

    return cmath.phase(z), phase_pullback


@TABLE.frule(cmath.phase)
def phase_frule(tangents, z, /):
    dot = unthunk(tangents[1])
    y = cmath.phase(z)
    return y, dot if is_zero(dot) else (_phase_slope(z).conjugate() * dot).real


@TABLE.rrule(cmath.polar, leading=1, points=_AWAY_FROM_CUTS)
def polar_rrule(z, /):
    """`(|z|, phase)`"""
    y = cmath.polar(z)

    def polar_pullback(y_bar):
        r_bar, phi_bar = y_bar
        z_bar = 0.0
        if not is_zero(r_bar):
            z_bar += unthunk(r_bar) * (complex(z) / y[0] if y[0] else 0.0)
        if not is_zero(phi_bar):
            z_bar += unthunk(phi_bar) * _phase_slope(z)
        return NoTangent(), unbroadcast(z_bar, z)

    return y, polar_pullback


@TABLE.frule(cmath.polar)
def polar_frule(tangents, z, /):
    y, dot = cmath.polar(z), unthunk(tangents[1])
    if is_zero(dot):
        return y, (0.0, 0.0)
    unit = complex(z) / y[0] if y[0] else 0j
    r_dot = past_kink((unit.conjugate() * dot).real, y[0], z, dot)
    return y, (r_dot, (_phase_slope(z).conjugate() * dot).real)


@TABLE.rrule(cmath.rect, leading=2, points=[(1.5, 0.4), (2, -1.0), (np.float64(0.5), 2.0)])
def rect_rrule(r, phi, /):
    """`r exp(i phi)`"""
    y, unit = cmath.rect(r, phi), cmath.rect(1.0, phi)

    def rect_pullback(y_bar):
        return (
            NoTangent(),
            unbroadcast((y_bar * unit.conjugate()).real, r),
            unbroadcast((y_bar * (1j * y).conjugate()).real, phi),
        )

    return y, rect_pullback


@TABLE.frule(cmath.rect)
def rect_frule(tangents, r, phi, /):
    y = cmath.rect(r, phi)
    slopes = (cmath.rect(1.0, phi), 1j * y)
    terms = [slope * unthunk(dot) for slope, dot in zip(slopes, tangents[1:]) if not is_zero(dot)]
    return y, sum(terms) if terms else 0j


def _state_conjugate(method, points):
    @TABLE.rrule(method, leading=1, points=points)
    def conjugate_rrule(z, /):
        def conjugate_pullback(y_bar):
            return NoTangent(), unbroadcast(y_bar.conjugate(), z)

        return method(z), conjugate_pullback

    @TABLE.frule(method)
    def conjugate_frule(tangents, z, /):
        dot = unthunk(tangents[1])
        return method(z), dot if is_zero(dot) else dot.conjugate()


_state_conjugate(complex.conjugate, [(0.3 + 0.4j,), (-1.2 - 0.5j,)])
_state_conjugate(float.conjugate, [(0.3,)])
_state_conjugate(int.conjugate, ())  # which takes no float: nothing to move it by
_state_conjugate(np.generic.conjugate, [(np.complex128(0.3 + 0.4j),), (np.float64(0.3),)])
_state_conjugate(np.generic.conj, [(np.complex128(0.3 + 0.4j),)])

TABLE.non_differentiable(cmath.isfinite, cmath.isinf, cmath.isnan, cmath.isclose)
