"""What integrals, trajectories, roots and minima are: closed forms, and solutions that mpmath finds.

As in `definitions.py` each takes vectors of mpmath and gives a list of numbers; beside each stands the call
of SciPy's function that has to give the same.
"""

import numpy as np
from mpmath import mp
from scipy import integrate, optimize

# -- integrals -----------------------------------------------------------------------------------------------


def bell(t, a):
    return a[0] * np.exp(-a[1] * t * t)


def under_bell(a):
    """`∫ p exp(-q t²)` from the third parameter on."""
    root = mp.sqrt(a[1])
    return [a[0] * mp.sqrt(mp.pi) / 2 / root * mp.erfc(root * a[2])]


def powers(a):
    """`∫ (t, s t²)` from 0 to the other parameter."""
    return [a[1] ** 2 / 2, a[0] * a[1] ** 3 / 3]


def wedge(a):
    """`∫∫ x` for y up to `s x` and x up to the other parameter."""
    return [a[0] * a[1] ** 3 / 3]


def corner(a):
    """`∫∫∫ x` for y up to `s x`, z up to y."""
    return [a[0] ** 2 * a[1] ** 4 / 8]


INTEGRALS = {
    "quad": (lambda a: np.array([integrate.quad(bell, a[2], np.inf, args=(a,))[0]]), under_bell),
    "quad_vec": (lambda a: integrate.quad_vec(lambda t: np.array([t, a[0] * t * t]), 0, a[1])[0], powers),
    "dblquad": (
        lambda a: np.array([integrate.dblquad(lambda y, x: x, 0, a[1], 0.0, lambda x: a[0] * x)[0]]),
        wedge,
    ),
    "tplquad": (
        lambda a: np.array([
            integrate.tplquad(
                lambda z, y, x: x, 0, a[1], 0.0, lambda x: a[0] * x, 0.0, lambda x, y: y
            )[0]
        ]),
        corner,
    ),
    "fixed_quad": (
        lambda a: np.array([integrate.fixed_quad(lambda t: t, 0, a[1])[0],
                            integrate.fixed_quad(lambda t: a[0] * t * t, 0, a[1])[0]]),
        powers,
    ),
}  # fmt: skip


# -- trajectories --------------------------------------------------------------------------------------------


def growth(t, y, rate):
    return rate * y * (1 - y)


def grown(a):
    """The logistic curve at two times: by its rate and where it begins."""
    return [1 / (1 + (1 / a[1] - 1) * mp.exp(-a[0] * t)) for t in (mp.mpf(1), mp.mpf(2))]


TIGHT = {"rtol": 1e-11, "atol": 1e-12}
TRAJECTORIES = {
    "solve_ivp": (
        lambda a: integrate.solve_ivp(
            growth, (0.0, 2.0), a[1:], "DOP853", [1.0, 2.0], args=(a[0],), **TIGHT
        ).y[0],
        grown,
    ),
    "odeint": (
        lambda a: integrate.odeint(
            growth, a[1:], [0.0, 1.0, 2.0], args=(a[0],), tfirst=True, **TIGHT
        )[1:, 0],
        grown,
    ),
}  # fmt: skip


# -- roots and minima ----------------------------------------------------------------------------------------


def cubic(x, a):
    return x**3 + a[0] * x - a[1]


def quartic(x, a):
    """Its slope is the cubic."""
    return np.sum(x**4 / 4 + a[0] * x * x / 2 - a[1] * x)


def cardano(a):
    """The one root of `x³ + p x = q`."""
    half, root = a[1] / 2, mp.sqrt(a[1] ** 2 / 4 + a[0] ** 3 / 27)
    return [mp.cbrt(half + root) - mp.cbrt(root - half)]


def fixed(a):
    """The root of `x = p cos(q x)`."""
    return [mp.findroot(lambda x: x - a[0] * mp.cos(a[1] * x), mp.mpf("0.6"))]


def bracketed(find):
    return lambda a: np.array([find(cubic, -5.0, 5.0, args=(a,), xtol=1e-14)])


ROOTS = {name: (bracketed(getattr(optimize, name)), cardano) for name in
         ("brentq", "brenth", "bisect", "ridder", "toms748")}  # fmt: skip
ROOTS |= {
    "newton": (lambda a: optimize.newton(cubic, np.array([1.0]), args=(a,), tol=1e-14), cardano),
    "root_scalar": (
        lambda a: np.array([optimize.root_scalar(cubic, args=(a,), bracket=(-5, 5), xtol=1e-14).root]),
        cardano,
    ),
    "root": (lambda a: optimize.root(cubic, [1.0], args=(a,), tol=1e-13).x, cardano),
    "fsolve": (lambda a: optimize.fsolve(cubic, [1.0], args=(a,), xtol=1e-13), cardano),
    "fixed_point": (
        lambda a: optimize.fixed_point(
            lambda x: a[0] * np.cos(a[1] * x), np.array([0.6]), xtol=1e-14
        ),
        fixed,
    ),
}  # fmt: skip

TIMES = np.array([0.0, 0.5, 1.0, 2.0])


def fading(t, height, rate):
    return height * np.exp(-rate * t)


def fitted(y):
    """The height and the rate of what fades through four numbers, where the sum of squares has no slope."""
    t = [mp.mpf(float(x)) for x in TIMES]

    def slopes(height, rate):
        left = [(height * mp.exp(-rate * s) - v) * mp.exp(-rate * s) for s, v in zip(t, y, strict=True)]
        return [mp.fsum(left), mp.fsum(s * r for s, r in zip(t, left, strict=True))]

    return list(mp.findroot(slopes, (2, 1.3)))


FINE = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
MINIMA = {
    "minimize": (lambda a: optimize.minimize(quartic, [1.0], args=(a,), tol=1e-9).x, cardano),
    "minimize_scalar": (
        lambda a: np.array([optimize.minimize_scalar(quartic, args=(a,), tol=1e-12).x]),
        cardano,
    ),
    "least_squares": (
        lambda y: optimize.least_squares(lambda p: fading(TIMES, *p) - y, [2.0, 1.3], **FINE).x,
        fitted,
    ),
    "curve_fit": (lambda y: optimize.curve_fit(fading, TIMES, y, [2.0, 1.3], **FINE)[0], fitted),
}
THROUGH = 2 * np.exp(-1.3 * TIMES) + 0.1 * np.sin(5 * TIMES)


CUBIC, BELL, LOGISTIC = np.array([0.7, 1.3]), np.array([1.2, 0.7, 0.4]), np.array([1.4, 0.3])
SOLUTIONS = (  # a family, its parameters, and how near a solver comes
    ({"quad": INTEGRALS["quad"]}, BELL, 1e-8),
    ({name: pair for name, pair in INTEGRALS.items() if name != "quad"}, CUBIC, 1e-8),
    (TRAJECTORIES, LOGISTIC, 1e-7),
    (ROOTS, CUBIC, 1e-9),
    ({name: MINIMA[name] for name in ("minimize", "minimize_scalar")}, CUBIC, 1e-6),
    ({name: MINIMA[name] for name in ("least_squares", "curve_fit")}, THROUGH, 1e-7),
)


def cases():
    """The call, its definition, its arguments, no complex ones, and how near both have to be."""
    return {
        name: (*pair, (args,), None, within)
        for family, args, within in SOLUTIONS
        for name, pair in family.items()
    }
