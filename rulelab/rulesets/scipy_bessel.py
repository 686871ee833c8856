"""Rules for the Bessel functions of `scipy.special` and their kin, by recurrences in the order.

Formulas: DLMF 10.6.1, 10.29.1 (cylinder functions), 10.51 (spherical ones), 9.2.1 (Airy's equation), 10.61
(Kelvin's), 11.4.29-30 (Struve's). None divides by the argument, so 0 is no special point, Kelvin's aside. By
the order there is no closed form. The scaled functions of complex numbers have no complex derivative where
they are scaled by the size of a part.
"""

import math

import numpy as np

from ..tangents.forms import form_of, no_change
from .array_likes import is_zero
from .kinks import past_kink
from .limits import is_at, is_met, with_limits
from .numpy_elementwise import over
from .scipy_rows import (
    BY_ORDER,
    OF_DERIVATIVE,
    OF_SPHERE,
    WHOLE,
    SpecialTable,
    refuse_complex,
    special,
    times,
)

TABLE = SpecialTable("scipy_bessel")

LINE, POSITIVE = (0.3, -1.2, 2.1), (0.3, 1.2, 2.6)
PLANE = (0.4 - 0.7j, 1.1 + 0.2j)
ORDERS, COMPLEX_ORDERS = (0.5, 2.3, 1.0), (0.5, 2.3)


# -- cylinder functions --------------------------------------------------------------------------------------


def falling(f):
    """The slope of what satisfies `2 f' = f(v - 1) - f(v + 1)`."""
    return lambda out, v, z: (BY_ORDER, (f(v - 1, z) - f(v + 1, z)) / 2)


def rising(f):
    """The slope of what satisfies `2 f' = f(v - 1) + f(v + 1)`."""
    return lambda out, v, z: (BY_ORDER, (f(v - 1, z) + f(v + 1, z)) / 2)


def sinking(f):
    """The slope of what satisfies `-2 f' = f(v - 1) + f(v + 1)`."""
    return lambda out, v, z: (BY_ORDER, (f(v - 1, z) + f(v + 1, z)) / -2)


def of_pole(f, step):
    """`derivative(v, z, n)`, the n-th by `z` of what has a pole at 0, where it is infinite and its slope one
    infinity less another; `step(below, out, above)` makes a derivative of those at the orders beside it.

    With a rule of its own, as its text would be differentiated by the order, too.
    """

    def elsewhere(v, z, n):
        if n == 0:
            return f(v, z)
        sides = [elsewhere(np.add(v, side), z, n - 1) for side in (-1, 0, 1)]
        return step(*sides)

    def derivative(v, z, n):
        if not is_met(z, (0.0,)):
            return elsewhere(v, z, n)
        at = is_at(z, 0.0)
        grows = (-1) ** n * f(v, z) * over(1, np.abs(z))
        return np.where(at, grows, elsewhere(v, np.where(at, 1.0, z), n))[()]

    TABLE.scalar(derivative, lambda out, v, z, n: (BY_ORDER, derivative(v, z, n + 1), WHOLE))
    return derivative


yv_derivative = of_pole(special.yv, lambda below, out, above: (below - above) / 2)
kve_derivative = of_pole(special.kve, lambda below, out, above: out - (below + above) / 2)
_REAL = ORDERS, POSITIVE
_COMPLEX = COMPLEX_ORDERS, PLANE
TABLE.row("jv", falling(special.jv), *_REAL, beyond=_COMPLEX)
TABLE.row("yv", lambda out, v, z: (BY_ORDER, yv_derivative(v, z, 1)), *_REAL, beyond=_COMPLEX)
TABLE.row("hankel1", falling(special.hankel1), *_REAL, beyond=_COMPLEX)
TABLE.row("hankel2", falling(special.hankel2), *_REAL, beyond=_COMPLEX)
TABLE.row("iv", rising(special.iv), *_REAL, beyond=_COMPLEX)
TABLE.row("kv", sinking(special.kv), *_REAL, beyond=_COMPLEX)


def hankel1e_partials(out, v, z):
    return BY_ORDER, (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) / 2 - 1j * out


def hankel2e_partials(out, v, z):
    return BY_ORDER, (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) / 2 + 1j * out


TABLE.row("kve", lambda out, v, z: (BY_ORDER, kve_derivative(v, z, 1)), *_REAL, beyond=_COMPLEX)
TABLE.row("hankel1e", hankel1e_partials, *_REAL, beyond=_COMPLEX)
TABLE.row("hankel2e", hankel2e_partials, *_REAL, beyond=_COMPLEX)


def jve_partials(out, v, z):
    refuse_complex("jve", z)
    return BY_ORDER, (special.jve(v - 1, z) - special.jve(v + 1, z)) / 2


def yve_partials(out, v, z):
    refuse_complex("yve", z)
    return BY_ORDER, (special.yve(v - 1, z) - special.yve(v + 1, z)) / 2


def ive_partials(out, v, z):
    refuse_complex("ive", z)
    return BY_ORDER, (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - np.sign(z) * out


TABLE.row("jve", jve_partials, *_REAL)
TABLE.row("yve", yve_partials, *_REAL)


def ive_frule(tangents, v, z, /):
    """With a kink at 0 where the order is 0."""
    out = special.ive(v, z)
    if not is_zero(tangents[1]):
        return out, BY_ORDER
    if is_zero(tangents[2]):
        return out, no_change(out)
    term = ive_partials(out, v, z)[1] * tangents[2]
    kink = np.where(np.equal(v, 0), z, np.ones_like(z))[()]
    return out, form_of(out, past_kink(term, kink, z, tangents[2]))


TABLE.row("ive", ive_partials, *_REAL, frule=ive_frule, note="0 at the kink 0 of order 0")


def yn_partials(out, n, x):
    return WHOLE, yv_derivative(n, x, 1)


def kn_partials(out, n, x):
    return WHOLE, (special.kv(np.subtract(n, 1), x) + special.kv(np.add(n, 1), x)) / -2


y1_partial = with_limits(
    special.y1,
    lambda out, x: (special.y0(x) - special.yv(2.0, x)) / 2,
    {0.0: lambda x: np.square(over(1, x))},
)
i0_partial = with_limits(
    special.i0, lambda out, x: special.i1(x), {math.inf: np.exp, -math.inf: lambda x: -np.exp(-x)}
)
TABLE.row("yn", yn_partials, 2, POSITIVE)
TABLE.row("kn", kn_partials, 2, POSITIVE)
TABLE.row("j0", lambda out, x: -special.j1(x), LINE)
TABLE.row("j1", lambda out, x: (special.j0(x) - special.jv(2.0, x)) / 2, LINE)
TABLE.row("y0", lambda out, x: -special.y1(x), POSITIVE)
TABLE.row("y1", y1_partial, POSITIVE)
TABLE.row("i0", i0_partial, LINE)
TABLE.row("i1", lambda out, x: (special.i0(x) + special.iv(2.0, x)) / 2, LINE)
TABLE.row("k0", lambda out, x: -special.k1(x), POSITIVE)
TABLE.row("k1", lambda out, x: (special.k0(x) + special.kv(2.0, x)) / -2, POSITIVE)


_AT_ENDS = {0.0: lambda x: over(-1, x), math.inf: 0.0}  # of the scaled functions of the second kind
i1e_partial = with_limits(
    special.i1e,
    lambda out, x: (special.i0e(x) + special.ive(2.0, x)) / 2 - np.sign(x) * out,
    {math.inf: 0.0, -math.inf: 0.0},
)
k0e_partial = with_limits(special.k0e, lambda out, x: out - special.k1e(x), _AT_ENDS)
k1e_partial = with_limits(
    special.k1e, lambda out, x: out - (special.k0e(x) + special.kve(2.0, x)) / 2, _AT_ENDS
)


def i0e_partial(out, x):
    return special.i1e(x) - np.sign(x) * out


def i0e_frule(tangents, x, /):
    out = special.i0e(x)
    if is_zero(tangents[1]):
        return out, no_change(out)
    return out, form_of(out, past_kink(i0e_partial(out, x) * tangents[1], x, x, tangents[1]))


TABLE.row(
    "i0e",
    i0e_partial,
    LINE,
    frule=i0e_frule,
    past=lambda term, out, x, x_dot: past_kink(term, x, x, x_dot),
    note="0 at the kink 0",
)
TABLE.row("i1e", i1e_partial, LINE)
TABLE.row("k0e", k0e_partial, POSITIVE)
TABLE.row("k1e", k1e_partial, POSITIVE)


def _state_derivatives(name):
    """The n-th derivative by the argument: its derivative is the next one."""
    target = getattr(special, name)

    def partials(out, v, z, n):
        return BY_ORDER, target(v, z, n + 1), WHOLE

    TABLE.function_row(name, partials, OF_DERIVATIVE, ORDERS, POSITIVE, 1, beyond=(*_COMPLEX, 1))
    TABLE.also_at(name, (0.5, 1.2, 2), (1, np.array([0.3, 1.2])))
    TABLE.also_at(name, (1, np.array([0.3, 1.2])), n=3)


for _name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"):
    _state_derivatives(_name)


# -- spherical -----------------------------------------------------------------------------------------------


def _spherical(name, lower, upper, pole=False):
    """The rule of a spherical function with `(2n + 1) f' = lower n f(n - 1) + upper (n + 1) f(n + 1)`.

    Its derivative, asked for by `derivative=True`, has that of the neighbours'. At a `pole` at 0 the
    slope may be one infinity less another.
    """
    f = getattr(special, name)

    def slope(n, z, derivative):
        if not (pole and is_met(z, (0.0,))):
            return elsewhere(n, z, derivative)
        at = is_at(z, 0.0)
        grows = -f(n, z, derivative) * over(1, z)
        return np.where(at, grows, elsewhere(n, np.where(at, 1.0, z), derivative))[()]

    def elsewhere(n, z, derivative):
        below = f(np.maximum(np.subtract(n, 1), 0), z, derivative)
        return (lower * times(n, below) + upper * (np.add(n, 1)) * f(np.add(n, 1), z, derivative)) / (
            2 * np.asarray(n) + 1
        )

    def partials(out, n, z, derivative):
        return WHOLE, slope(n, z, derivative), WHOLE

    TABLE.function_row(name, partials, OF_SPHERE, 2, POSITIVE, False, beyond=(2, PLANE, False))
    TABLE.also_at(name, (0, np.array([0.3, 1.2])), (1, 0.7, True), (np.array([0, 3]), np.array([0.3, 1.2])))
    TABLE.also_at(name, (2, 0.7), derivative=True)


_spherical("spherical_jn", 1, -1)
_spherical("spherical_yn", 1, -1, pole=True)
_spherical("spherical_in", 1, 1)
_spherical("spherical_kn", -1, -1, pole=True)


# -- Airy, Kelvin, Struve ------------------------------------------------------------------------------------

TABLE.row("airy", lambda out, z: ((out[1],), (z * out[0],), (out[3],), (z * out[2],)), LINE, beyond=(PLANE,))


def airye_partials(out, z):
    """Scaled by `exp(2/3 z sqrt(z))` and its inverse; left of 0 the second two are not scaled."""
    refuse_complex("airye", z)
    ai, aip, bi, bip = out
    root = np.sqrt(np.maximum(z, 0.0))
    return (aip + root * ai,), (z * ai + root * aip,), (bip - root * bi,), (z * bi - root * bip,)


TABLE.row("airye", airye_partials, POSITIVE)
TABLE.row(
    "itairy",
    lambda out, x: tuple((part,) for part in (*special.airy(x)[::2], *special.airy(-x)[::2])),
    (0.3, 0.7, 1.2),
)
_TURN = (1j - 1) / math.sqrt(2)


def kelvin_curve(x):
    """The second derivative of `ber x + i bei x = J_0(exp(3πi/4) x)`, without dividing by `x`."""
    z = _TURN * x
    return 0.5j * (special.jv(0, z) - special.jv(2, z))


keip_partial = with_limits(
    special.keip, lambda out, x: special.ker(x) - out / x, {0.0: lambda x: -np.log(x)}
)
TABLE.row("ber", lambda out, x: special.berp(x), LINE)
TABLE.row("bei", lambda out, x: special.beip(x), LINE)
TABLE.row("ker", lambda out, x: special.kerp(x), POSITIVE)
TABLE.row("kei", lambda out, x: special.keip(x), POSITIVE)
TABLE.row("berp", lambda out, x: np.real(kelvin_curve(x)), LINE)
TABLE.row("beip", lambda out, x: np.imag(kelvin_curve(x)), LINE)
TABLE.row("kerp", lambda out, x: -special.kei(x) - out / x, POSITIVE)
TABLE.row("keip", keip_partial, POSITIVE)


def struve_term(v, x):
    """`(x / 2)**v / (2 sqrt(pi) gamma(v + 3/2))`, what Struve's functions have more than Bessel's."""
    return (x / 2) ** v * special.rgamma(v + 1.5) / (2 * math.sqrt(math.pi))


def struve_partials(out, v, x):
    return BY_ORDER, (special.struve(v - 1, x) - special.struve(v + 1, x)) / 2 + struve_term(v, x)


def modstruve_partials(out, v, x):
    return BY_ORDER, (special.modstruve(v - 1, x) + special.modstruve(v + 1, x)) / 2 + struve_term(v, x)


TABLE.row("struve", struve_partials, *_REAL)
TABLE.row("modstruve", modstruve_partials, *_REAL)


# -- integrals of Bessel functions ---------------------------------------------------------------------------



def share(f, sign, x):
    """`(f(x) - 1) / x` times `sign`, of `i0` for 1 and `j0` for -1; near 0, where it cancels, its series."""
    near = np.less(np.abs(x), 1.0)
    small, there = np.where(near, x, 0 * x), np.where(near, np.ones_like(x), x)
    total, term = 0 * small, small / 4
    for k in range(2, 11):
        total = total + term
        term = term * (sign * small * small / (4 * k * k))
    return np.where(near, total, sign * (f(there) - 1) / there)[()]


def struve_share(x):
    """`struve(0, x) / x`; near 0 its series (DLMF 11.2.1)."""
    near = np.less(np.abs(x), 1.0)
    small, there = np.where(near, x, 0 * x), np.where(near, np.ones_like(x), x)
    total, term = 0 * small, 0 * small + 2 / math.pi
    for k in range(1, 11):
        total = total + term
        term = term * (-small * small / (2 * k + 1) ** 2)
    return np.where(near, total, special.struve(0.0, there) / there)[()]


TABLE.row("itj0y0", lambda out, x: ((special.j0(x),), (special.y0(x),)), POSITIVE)
TABLE.row("iti0k0", lambda out, x: ((special.i0(x),), (special.k0(x),)), POSITIVE)
TABLE.row("it2j0y0", lambda out, x: ((share(special.j0, -1, x),), (-special.y0(x) / x,)), POSITIVE)
TABLE.row("it2i0k0", lambda out, x: ((share(special.i0, 1, x),), (-special.k0(x) / x,)), POSITIVE)
TABLE.row("itstruve0", lambda out, x: special.struve(0.0, x), POSITIVE)
TABLE.row("itmodstruve0", lambda out, x: special.modstruve(0.0, x), POSITIVE)
TABLE.row("it2struve0", lambda out, x: -struve_share(x), POSITIVE)


def besselpoly_partials(out, a, lmb, nu):
    """By the recurrence for the Bessel function under the integral."""
    higher = special.besselpoly(a, lmb + 1, nu - 1) - special.besselpoly(a, lmb + 1, nu + 1)
    return higher, BY_ORDER, BY_ORDER


TABLE.row("besselpoly", besselpoly_partials, (0.3, 1.2, 2.6), (0.5, 1.2, 2.0), (1.5, 2.3, 1.0))
