"""Rules for the transforms of `scipy.fft`: Fourier's as those of `numpy.fft`, and the cosine and sine ones.

The matrix of a cosine or sine transform is, but for a factor and the weights of its first and last entries,
the transpose of that of its inverse.
"""

import operator

import numpy as np

from ..rules.refusals import state_reasons
from ..tangents.zeros import NoTangent
from .array_likes import dense, like_argument, refuse
from .fft import OPPOSITE, lengths_and_axes, resized, stages_of, transposed
from .scipy_optional import LibraryTable, named, optional, reasons

fft = optional("scipy.fft")
TABLE = LibraryTable("scipy_fft", rounds=True)


# -- Fourier transforms --------------------------------------------------------------------------------------


def _check_plan(plan):
    if plan is not None:
        refuse("a transform of scipy.fft with plan= is not differentiated", "leave plan out")


def _state_one(target, kind):
    def length(x, n, axis):
        if n is None:
            return np.shape(x)[axis] if kind != "irfft" else 2 * (np.shape(x)[axis] - 1)
        return operator.index(n)

    @TABLE.rrule(target, leading=1)
    def fft_rrule(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        _check_plan(plan)

        def fft_pullback(y_bar):
            stages = [(kind, length(x, n, axis), axis)]
            x_bar = transposed(stages, np.asarray(y_bar), np.shape(x), norm)
            return NoTangent(), like_argument(x, x_bar)

        return target(x, n, axis, norm, workers=workers), fft_pullback

    @TABLE.frule(target)
    def fft_frule(tangents, x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        _check_plan(plan)
        y_dot = target(dense(x, tangents[1]), n, axis, norm, workers=workers)
        return target(x, n, axis, norm, workers=workers), y_dot


for _kind in ("fft", "ifft", "rfft", "irfft"):
    _state_one(getattr(fft, _kind), _kind)


def _back(x, kind, s, axes, norm):
    def fft_pullback(y_bar):
        stages = stages_of(kind, np.shape(x), s, axes)
        if kind == "irfft" and stages[-1][1] == 0:  # of one frequency SciPy makes one number, NumPy none
            stages = [*stages[:-1], (kind, 1, stages[-1][2])]
        return NoTangent(), like_argument(x, transposed(stages, np.asarray(y_bar), np.shape(x), norm))

    return fft_pullback


def _several(s):
    """The lengths as a tuple; one number is that of one axis."""
    return s if s is None or np.iterable(s) else (s,)


TABLE.non_differentiable(_several)


def _state_many(target, kind):
    @TABLE.rrule(target, leading=1)
    def fftn_rrule(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
        _check_plan(plan)
        y = target(x, s, axes, norm, workers=workers)
        return y, _back(x, kind, _several(s), _several(axes), norm)

    @TABLE.frule(target)
    def fftn_frule(tangents, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
        _check_plan(plan)
        y_dot = target(dense(x, tangents[1]), s, axes, norm, workers=workers)
        return target(x, s, axes, norm, workers=workers), y_dot


def _state_two(target, kind):
    @TABLE.rrule(target, leading=1)
    def fft2_rrule(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
        _check_plan(plan)
        y = target(x, s, axes, norm, workers=workers)
        return y, _back(x, kind, _several(s), _several(axes), norm)

    @TABLE.frule(target)
    def fft2_frule(
        tangents, x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None
    ):
        _check_plan(plan)
        y_dot = target(dense(x, tangents[1]), s, axes, norm, workers=workers)
        return target(x, s, axes, norm, workers=workers), y_dot


for _kind in ("fft", "ifft", "rfft", "irfft"):
    _state_many(getattr(fft, _kind + "n"), _kind)
    _state_two(getattr(fft, _kind + "2"), _kind)


# -- of what is Hermitian: by those of what is real ----------------------------------------------------------


@TABLE.stands_in(fft.hfft)
def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    _check_plan(plan)
    return fft.irfft(np.conj(x), n, axis, OPPOSITE[norm], workers=workers)


@TABLE.stands_in(fft.ihfft)
def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    _check_plan(plan)
    return np.conj(fft.rfft(x, n, axis, OPPOSITE[norm], workers=workers))


@TABLE.stands_in(fft.hfftn)
def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    _check_plan(plan)
    return fft.irfftn(np.conj(x), s, axes, OPPOSITE[norm], workers=workers)


@TABLE.stands_in(fft.ihfftn)
def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    _check_plan(plan)
    return np.conj(fft.rfftn(x, s, axes, OPPOSITE[norm], workers=workers))


@TABLE.stands_in(fft.hfft2)
def hfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    _check_plan(plan)
    return fft.irfftn(np.conj(x), s, axes, OPPOSITE[norm], workers=workers)


@TABLE.stands_in(fft.ihfft2)
def ihfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    _check_plan(plan)
    return np.conj(fft.rfftn(x, s, axes, OPPOSITE[norm], workers=workers))


# -- cosine and sine transforms ------------------------------------------------------------------------------

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_DOUBLED = {  # (before the inverse, after it): which entries weigh how much more in the transpose
    ("dct", 1): ((0.5, 1.0), (2.0, 1.0)),
    ("dct", 2): ((1.0, 2.0), (1.0, 1.0)),
    ("dct", 3): ((1.0, 1.0), (1.0, 0.5)),
    ("dst", 2): ((1.0, 2.0), (1.0, 1.0)),
    ("dst", 3): ((1.0, 1.0), (1.0, 0.5)),
}


def weights(name, type, n, axis, ndim, dtype):
    """Those of a transform without orthogonal weights, before and after its inverse, along `axis`."""
    inner_outer = _DOUBLED.get((name, type))
    if inner_outer is None:
        return None
    both = []
    for inner, outer in inner_outer:
        row = np.full(n, inner, np.zeros(0, dtype).real.dtype)
        row[0 if name == "dct" else -1] = outer
        if (name, type) == ("dct", 1):
            row[-1] = outer
        both.append(np.reshape(row, [-1 if k == axis % ndim else 1 for k in range(ndim)]))
    return both


def _check_weights(x, name, type, norm, orthogonalize):
    """SciPy drops `orthogonalize=` where numbers are complex; a version that does not gives other values."""
    given = orthogonalize is not None and bool(orthogonalize) != (norm == "ortho")
    if given and np.iscomplexobj(x) and (name, type) in _DOUBLED:
        refuse(
            f"scipy.fft.{name} of complex numbers is not differentiated with orthogonalize=, which SciPy "
            "ignores",
            "transform the real and the imaginary part separately",
        )


TABLE.non_differentiable(weights, _check_weights)


def _state_cosine(target, inverse, name):
    """Both rules of a transform along one axis; `inverse` is its inverse of the same type."""

    def back(y_bar, x, type, n, axis, norm, workers, orthogonalize):
        orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
        length = np.shape(y_bar)[axis]
        both = None if orthogonal else weights(name, type, length, axis, np.ndim(y_bar), y_bar.dtype)
        seed = y_bar if both is None else y_bar * both[0]
        x_bar = inverse(seed, type, None, axis, OPPOSITE[norm], False, workers, orthogonal)
        x_bar = x_bar if both is None else x_bar * both[1]
        return resized(x_bar, np.shape(x)[axis], axis)

    @TABLE.rrule(target, leading=1)
    def cosine_rrule(
        x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None
    ):
        _check_weights(x, name, type, norm, orthogonalize)

        def cosine_pullback(y_bar):
            x_bar = back(np.asarray(y_bar), x, type, n, axis, norm, workers, orthogonalize)
            return NoTangent(), like_argument(x, x_bar)

        return target(x, type, n, axis, norm, False, workers, orthogonalize), cosine_pullback

    @TABLE.frule(target)
    def cosine_frule(
        tangents, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None
    ):
        _check_weights(x, name, type, norm, orthogonalize)
        y_dot = target(dense(x, tangents[1]), type, n, axis, norm, False, workers, orthogonalize)
        return target(x, type, n, axis, norm, False, workers, orthogonalize), y_dot


_state_cosine(fft.dct, fft.idct, "dct")
_state_cosine(fft.dst, fft.idst, "dst")


def _check_type(type):
    if type not in _INVERSE:
        raise ValueError(f"invalid transform type {type}")
    return _INVERSE[type]


def _orthogonal(norm, orthogonalize):
    return norm == "ortho" if orthogonalize is None else orthogonalize


TABLE.non_differentiable(_check_type, _orthogonal)


@TABLE.stands_in(fft.idct)
def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    other, weighted = _check_type(type), _orthogonal(norm, orthogonalize)
    return fft.dct(x, other, n, axis, OPPOSITE[norm], False, workers, weighted)


@TABLE.stands_in(fft.idst)
def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    other, weighted = _check_type(type), _orthogonal(norm, orthogonalize)
    return fft.dst(x, other, n, axis, OPPOSITE[norm], False, workers, weighted)


def _along_axes(shape, s, axes):
    """The length and the number of each axis along which a transform of several goes."""
    s, axes = _several(s), _several(axes)
    if s is not None and axes is not None and len(s) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    return lengths_and_axes(shape, s, axes, False)


TABLE.non_differentiable(_along_axes)


def _one_by_one(transform, x, type, s, axes, norm, workers, orthogonalize):
    y = np.asarray(x)
    for n, axis in _along_axes(np.shape(y), s, axes):
        y = transform(y, type, n, axis, norm, False, workers, orthogonalize)
    return y


@TABLE.stands_in(fft.dctn)
def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return _one_by_one(fft.dct, x, type, s, axes, norm, workers, orthogonalize)


@TABLE.stands_in(fft.idctn)
def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return _one_by_one(fft.idct, x, type, s, axes, norm, workers, orthogonalize)


@TABLE.stands_in(fft.dstn)
def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return _one_by_one(fft.dst, x, type, s, axes, norm, workers, orthogonalize)


@TABLE.stands_in(fft.idstn)
def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    return _one_by_one(fft.idst, x, type, s, axes, norm, workers, orthogonalize)


# -- shifts, frequencies, the rest ---------------------------------------------------------------------------


@TABLE.stands_in(fft.fftshift)
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@TABLE.stands_in(fft.ifftshift)
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)


def _check_numpys(xp, device):
    if xp is not None and xp is not np or device is not None:
        refuse("frequencies of scipy.fft with xp= or device= are not differentiated", "use np.fft.fftfreq")


@TABLE.stands_in(fft.fftfreq)
def fftfreq(n, d=1.0, *, xp=None, device=None):
    _check_numpys(xp, device)
    return np.fft.fftfreq(n, d)


@TABLE.stands_in(fft.rfftfreq)
def rfftfreq(n, d=1.0, *, xp=None, device=None):
    _check_numpys(xp, device)
    return np.fft.rfftfreq(n, d)


CONSTANT = named(
    fft,
    "next_fast_len prev_fast_len set_backend skip_backend set_global_backend register_backend get_workers "
    "set_workers",
)
"""Those of whole numbers, and settings."""

TABLE.non_differentiable(*[getattr(fft, name) for name in CONSTANT])

REFUSED = reasons(
    fft,
    {
        "a transform on a logarithmic scale, whose kernel depends on its parameters: not derived here": (
            "fht ifht fhtoffset"
        ),
    },
)
"""Why each has no rule."""

state_reasons(fft, REFUSED)
