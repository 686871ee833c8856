"""Windows of `scipy.signal.windows`: constant but for their shape parameters, by which some have a slope.

The others refuse a shape parameter that varies, by name.
"""

import numpy as np

from ..tangents.missing import NotImplementedTangent
from ..tangents.zeros import NoTangent
from .array_likes import is_zero, only_real
from .scipy_optional import LibraryTable, named, optional

windows = optional("scipy.signal.windows")
special = optional("scipy.special")
TABLE = LibraryTable("scipy_signal_windows")


# -- of whole numbers alone ----------------------------------------------------------------------------------

CONSTANT = named(
    windows,
    "boxcar triang parzen bohman blackman nuttall blackmanharris flattop bartlett barthann hamming cosine "
    "hann lanczos",
)
"""Those of a number of points."""

TABLE.non_differentiable(*[getattr(windows, name) for name in CONSTANT])


# -- with a shape parameter ----------------------------------------------------------------------------------


def without_slope(what):
    """The partial derivative with respect to a shape parameter for which there is no rule."""
    return NotImplementedTangent(
        f"the derivative of a window with respect to {what} is not implemented",
        fixes=("hold it constant: rl.ignore_derivatives", "write the window in NumPy"),
    )


def _state_of_shape(target, what):
    """A window whose arguments after the number of points may not vary."""
    none = without_slope(what)

    @TABLE.rrule(target, leading=None)
    def window_rrule(*args, **options):
        def window_pullback(w_bar):
            return NoTangent(), NoTangent(), *[none] * (len(args) - 1)

        return target(*args, **options), window_pullback

    @TABLE.frule(target)
    def window_frule(tangents, *args, **options):
        w = target(*args, **options)
        if all(is_zero(x_dot) for x_dot in tangents[2:]):
            return w, NoTangent()
        return w, none


SHAPED = {
    "kaiser_bessel_derived": "beta",
    "general_cosine": "its weights",
    "chebwin": "the attenuation",
    "tukey": "the part that is tapered",
    "taylor": "the level of its side lobes",
    "dpss": "its bandwidth",
}
"""Windows with a rule for constants alone: what may not vary."""
SHAPED = {name: what for name, what in SHAPED.items() if getattr(windows, name, None) is not None}

for _name, _what in SHAPED.items():
    _state_of_shape(getattr(windows, _name), _what)


@TABLE.rrule(windows.get_window, leading=2)
def get_window_rrule(window, Nx, fftbins=True, **options):
    """Constant; of a window with a shape parameter it is refused by that."""

    def get_window_pullback(w_bar):
        return NoTangent(), _by_shape(window), NoTangent()

    return windows.get_window(window, Nx, fftbins, **options), get_window_pullback


def _by_shape(window):
    return NoTangent() if isinstance(window, str) else without_slope("its shape parameter")


@TABLE.frule(windows.get_window)
def get_window_frule(tangents, window, Nx, fftbins=True, **options):
    w = windows.get_window(window, Nx, fftbins, **options)
    return w, NoTangent() if is_zero(tangents[1]) else _by_shape(window)


# -- with a slope --------------------------------------------------------------------------------------------


def _places(M, sym):
    """The numbers of the points, and the length of the symmetric window of which they are the first."""
    whole = int(M) if sym or M < 2 else int(M) + 1
    return np.arange(int(M), dtype=float), whole


TABLE.non_differentiable(_places)


def _plain(M):
    """Whether a window has so few points that all are 1; SciPy's own error for other numbers."""
    windows.boxcar(M)
    return M <= 1


TABLE.non_differentiable(_plain)


@TABLE.stands_in(windows.gaussian)
def gaussian(M, std, sym=True, *, xp=None, device=None):
    if _plain(M):
        return windows.boxcar(M)
    at, whole = _places(M, sym)
    n = at - (whole - 1.0) / 2.0
    return np.exp(-(n**2) / (2 * std * std))


def _at_zero(p):
    return 0.0 ** (2 * p)


TABLE.non_differentiable(_at_zero)


@TABLE.stands_in(windows.general_gaussian)
def general_gaussian(M, p, sig, sym=True, *, xp=None, device=None):
    if _plain(M):
        return windows.boxcar(M)
    at, whole = _places(M, sym)
    n = at - (whole - 1.0) / 2.0
    beside = np.where(n == 0, 1.0, np.abs(n / sig))  # in the middle the power is 0 whatever its exponent
    return np.exp(-0.5 * np.where(n == 0, _at_zero(p), beside ** (2 * p)))


@TABLE.stands_in(windows.exponential)
def exponential(M, center=None, tau=1.0, sym=True, *, xp=None, device=None):
    if sym and center is not None:
        raise ValueError("If sym==True, center must be None.")
    if _plain(M):
        return windows.boxcar(M)
    at, whole = _places(M, sym)
    return np.exp(-np.abs(at - ((whole - 1) / 2 if center is None else center)) / tau)


@TABLE.stands_in(windows.general_hamming)
def general_hamming(M, alpha, sym=True, *, xp=None, device=None):
    if _plain(M):
        return windows.boxcar(M)
    only_real("scipy.signal.windows.general_hamming", alpha)
    at, whole = _places(M, sym)
    angle = _angles(whole)[: len(at)]
    return np.zeros(len(at)) + alpha * np.cos(0 * angle) + (1.0 - alpha) * np.cos(angle)


def _angles(whole):
    return np.linspace(-np.pi, np.pi, whole)


TABLE.non_differentiable(_angles)


@TABLE.stands_in(windows.kaiser)
def kaiser(M, beta, sym=True, *, xp=None, device=None):
    if _plain(M):
        return windows.boxcar(M)
    return special.i0(beta * _half_circle(M, sym)) / special.i0(np.asarray(beta, float))


def _half_circle(M, sym):
    """The heights of a half circle above the points."""
    at, whole = _places(M, sym)
    alpha = (whole - 1) / 2.0
    return np.sqrt(1 - ((at - alpha) / alpha) ** 2.0)


TABLE.non_differentiable(_half_circle)
