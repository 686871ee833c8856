"""Rules for the multivariate normal and the Dirichlet distribution of `scipy.stats`.

The slopes of the normal log-density by its mean and covariance: K. B. Petersen and M. S. Pedersen, "The
matrix cookbook", 2012, section 8. SciPy reads the lower triangle of a covariance, as NumPy's `eigh` does.
"""

import types

import numpy as np

from ..own_code import only_look
from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of
from ..tangents.missing import NotImplementedTangent
from ..tangents.projection import unbroadcast
from ..tangents.structural import Tangent
from ..tangents.thunks import Thunk, unthunk
from ..tangents.zeros import AbstractZero, NoTangent
from .array_likes import dense, is_zero, like_argument, only_real, refuse
from .linalg_factorisations import from_triangle, onto_triangle
from .scipy_rows import special
from .scipy_stats_rows import share

try:
    from scipy.stats import _multivariate as multivariate
except ImportError:
    multivariate = None

TABLE = RuleTable("scipy_stats_multivariate")
NO = NoTangent()

SINGULAR = NotImplementedTangent(
    "the derivative of a normal density whose covariance may be singular, or is an object, is not known here",
    fixes=(
        "leave out allow_singular, and give the covariance as an array",
        "write a rule for the calling function",
    ),
)

# -- normal --------------------------------------------------------------------------------------------------


def dimension(mean, cov):
    """Of how many dimensions a normal distribution is."""
    return np.size(mean) if mean is not None else 1 if np.ndim(cov) < 2 else np.shape(cov)[0]


def is_plain(cov, allow_singular):
    """Whether a covariance is an array that has an inverse."""
    return not allow_singular and isinstance(cov, (int, float, list, tuple, np.ndarray, np.generic))


def check_points(x, mean, cov):
    """Refuse complex numbers, and points that are repeated along the dimensions."""
    only_real("scipy.stats.multivariate_normal", x, mean, cov)
    dim = dimension(mean, cov)
    if dim > 1 and np.shape(x)[-1:] != (dim,):
        refuse(
            f"a normal density at points that do not have {dim} coordinates each is not differentiated",
            "give all coordinates of each point",
        )


def standing(x, mean, cov):
    """What slopes are made of: the inverse of the covariance, and it times the differences from the mean, a
    row for each point.
    """
    dim = dimension(mean, cov)
    centre = np.zeros(dim) if mean is None else np.reshape(mean, dim)
    points = np.asarray(x).astype(float)  # as SciPy computes, whatever it is given
    if np.ndim(points) < 2:
        points = np.reshape(points, (-1, dim))
    matrix = np.asarray(cov).astype(float)
    if np.ndim(matrix) == 0:
        matrix = matrix * np.eye(dim)
    elif np.ndim(matrix) == 1:
        matrix = matrix * np.eye(dim)
    else:
        matrix = from_triangle(matrix, lower=True)
    inverse = np.linalg.inv(matrix)
    return inverse, (points - centre) @ inverse


def covariance_bar(cov, weights, inverse, pulls):
    """The cotangent of a covariance, which may be a variance or a diagonal."""
    pulls, weights = np.reshape(pulls, (-1, len(inverse))), np.reshape(weights, -1)
    whole = (pulls.T @ (weights[:, None] * pulls) - np.sum(weights) * inverse) / 2
    if np.ndim(cov) == 0:
        return float(np.trace(whole))
    return np.diagonal(whole).copy() if np.ndim(cov) == 1 else onto_triangle(whole, lower=True)


def covariance_dot(cov, cov_dot, dim):
    """The tangent of the covariance that SciPy sees."""
    cov_dot = dense(cov, cov_dot)
    return cov_dot * np.eye(dim) if np.ndim(cov) < 2 else from_triangle(cov_dot, lower=True)


def normal_bars(x, mean, cov, weights):
    """The cotangents of points, mean and covariance, from those of the log-densities."""
    inverse, pulls = standing(x, mean, cov)
    weights = np.reshape(weights, pulls.shape[:-1])
    moved = weights[..., None] * pulls
    of_mean = np.sum(np.reshape(moved, (-1, len(inverse))), axis=0)
    mean_bar = NO if mean is None else like_argument(mean, np.reshape(of_mean, np.shape(mean))[()])
    cov_bar = like_argument(cov, covariance_bar(cov, weights, inverse, pulls))
    return like_argument(x, -np.reshape(moved, np.shape(x))[()]), mean_bar, cov_bar


def normal_dot(y, x, mean, cov, dots):
    """The tangent of the log-densities, from those of points, mean and covariance."""
    inverse, pulls = standing(x, mean, cov)
    total = 0.0 * np.sum(pulls, axis=-1)
    if not isinstance(dots[0], AbstractZero):
        total = total - np.sum(pulls * np.reshape(dense(x, dots[0]), np.shape(pulls)), axis=-1)
    if not isinstance(dots[1], AbstractZero):
        total = total + np.sum(pulls * np.reshape(dense(mean, dots[1]), np.shape(pulls)[-1]), axis=-1)
    if not isinstance(dots[2], AbstractZero):
        change = covariance_dot(cov, dots[2], np.shape(inverse)[0])
        total = total + (np.sum((pulls @ change) * pulls, axis=-1) - np.sum(inverse * change)) / 2
    return np.reshape(total, np.shape(y))


def _of(factor):
    """Whether a method gives densities, not their logarithms: their slopes are multiplied by the value."""
    return factor == "pdf"


def of_singular(y_bar):
    """The pullback of a method of what may be singular."""
    return NO, SINGULAR, SINGULAR, SINGULAR, SINGULAR


def _state_normal(name):
    target = vars(multivariate.multivariate_normal_gen)[name]

    @TABLE.rrule(target, leading=4)
    def normal_rrule(self, x, mean=None, cov=1, allow_singular=False):
        y = target(self, x, mean, cov, allow_singular)
        if not is_plain(cov, allow_singular):
            return y, of_singular
        check_points(x, mean, cov)

        def normal_pullback(y_bar):
            bars = Thunk(lambda: normal_bars(x, mean, cov, y * y_bar if _of(name) else y_bar))
            return NO, NO, *[Thunk(lambda k=k: unthunk(bars)[k]) for k in range(3)]

        return y, normal_pullback

    @TABLE.frule(target)
    def normal_frule(tangents, self, x, mean=None, cov=1, allow_singular=False):
        y = target(self, x, mean, cov, allow_singular)
        dots = (*tangents[2:5], *(NO,) * (5 - len(tangents)))
        return y, normal_tangent(name, y, x, mean, cov, allow_singular, dots)

    only_look(target)
    frozen = vars(multivariate.multivariate_normal_frozen)[name]

    @TABLE.rrule(frozen, leading=2)
    def frozen_rrule(self, x):
        y = frozen(self, x)
        if self.allow_singular or not hasattr(self.cov_object, "covariance"):
            return y, of_singular
        check_points(x, self.mean, self.cov_object.covariance)

        def frozen_pullback(y_bar):
            weights = y * y_bar if _of(name) else y_bar
            bars = Thunk(lambda: normal_bars(x, self.mean, self.cov_object.covariance, weights))
            own = Thunk(lambda: Tangent(type(self), mean=unthunk(bars)[1], cov_object=unthunk(bars)[2]))
            return NO, own, Thunk(lambda: unthunk(bars)[0])

        return y, frozen_pullback

    @TABLE.frule(frozen)
    def frozen_frule(tangents, self, x):
        y, own = frozen(self, x), tangents[1]
        still = isinstance(own, AbstractZero)
        dots = (tangents[2], NO, NO) if still else (tangents[2], own.mean, own.cov_object)
        return y, normal_tangent(name, y, x, self.mean, covariance_of(self), self.allow_singular, dots)

    only_look(frozen)


def normal_tangent(name, y, x, mean, cov, allow_singular, dots):
    """The tangent of a method that gave `y`."""
    if not is_plain(cov, allow_singular):
        return form_of(y, NO) if all(map(is_zero, dots)) else SINGULAR
    check_points(x, mean, cov)
    y_dot = normal_dot(y, x, mean, cov, dots)
    return form_of(y, y * y_dot if name == "pdf" else y_dot)


def covariance_of(frozen):
    """The covariance of a frozen distribution; None where it has not got it as an array."""
    return getattr(frozen.cov_object, "covariance", None)


@TABLE.rrule(covariance_of, leading=1)
def covariance_rrule(frozen, /):
    def covariance_pullback(y_bar):
        return NO, Tangent(type(frozen), cov_object=y_bar)

    return covariance_of(frozen), covariance_pullback


@TABLE.frule(covariance_of)
def covariance_frule(tangents, frozen, /):
    own = tangents[1]
    return covariance_of(frozen), NO if isinstance(own, AbstractZero) else own.cov_object


def _state_freezing(target):
    @TABLE.rrule(target, leading=3)
    def frozen_rrule(self, mean=None, cov=1, allow_singular=False, seed=None, **options):
        only_real("scipy.stats.multivariate_normal", mean, cov)
        y = target(self, mean, cov, allow_singular, seed, **options)

        def frozen_pullback(y_bar):
            if isinstance(y_bar, AbstractZero):
                return NO, NO, y_bar, y_bar
            mean_bar, whole = unthunk(y_bar.mean), unthunk(y_bar.cov_object)
            if not isinstance(mean_bar, AbstractZero):
                mean_bar = (
                    NO if mean is None else like_argument(mean, np.reshape(mean_bar, np.shape(mean))[()])
                )
            if isinstance(whole, (AbstractZero, NotImplementedTangent)):
                return NO, NO, mean_bar, whole
            if np.ndim(cov) < 2:
                whole = np.diagonal(whole) if np.ndim(cov) else np.trace(whole)
            return NO, NO, mean_bar, like_argument(cov, whole)

        return y, frozen_pullback

    @TABLE.frule(target)
    def frozen_frule(tangents, self, mean=None, cov=1, allow_singular=False, seed=None, **options):
        only_real("scipy.stats.multivariate_normal", mean, cov)
        y = target(self, mean, cov, allow_singular, seed, **options)
        mean_dot, cov_dot = (*tangents[2:4], *(NO,) * (4 - len(tangents)))
        if not isinstance(mean_dot, AbstractZero):
            mean_dot = np.reshape(dense(mean, mean_dot), np.shape(y.mean))
        if not isinstance(cov_dot, AbstractZero):
            cov_dot = dense(cov, cov_dot)
            cov_dot = cov_dot * np.eye(y.dim) if np.ndim(cov) < 2 else cov_dot
        settings = {"_dist": NO, "dim": NO, "allow_singular": NO, "maxpts": NO, "abseps": NO, "releps": NO}
        return y, types.SimpleNamespace(mean=mean_dot, cov_object=cov_dot, **settings)

    only_look(target)


TABLE.non_differentiable(dimension, is_plain, check_points)


# -- Dirichlet -----------------------------------------------------------------------------------------------


def whole_of(x, alpha):
    """The parts of a whole with the last, which may have been left out."""
    if np.shape(x)[0] == np.shape(alpha)[0]:
        return np.asarray(x)
    rest = 1.0 - np.sum(x, axis=0, keepdims=True)
    return np.concatenate([np.asarray(x), rest])


def columns(alpha, ndim):
    """The parameters beside points in columns."""
    return np.reshape(alpha, (-1,) + (1,) * (ndim - 1))


def by_parts(x, alpha):
    """The slopes of the log-density by the parts that were given."""
    whole = whole_of(x, alpha)
    slopes = share(columns(alpha, whole.ndim) - 1.0, whole)
    count = np.shape(x)[0]
    return slopes if count == np.shape(alpha)[0] else slopes[:count] - slopes[count:]


def by_parameters(x, alpha):
    """The slopes by each parameter, at each point."""
    whole, alpha = whole_of(x, alpha), np.asarray(alpha)
    return np.log(whole) + columns(special.psi(np.sum(alpha)) - special.psi(alpha), whole.ndim)


def alpha_bar(x, alpha, weights):
    """The cotangent of the parameters, from those of the log-densities."""
    moved = weights * by_parameters(x, alpha)
    return like_argument(alpha, unbroadcast(moved, columns(alpha, moved.ndim)).reshape(-1))


def dirichlet_tangent(name, y, x, alpha, x_dot, alpha_dot):
    """The tangent of a method that gave `y`."""
    total = np.zeros(np.shape(x)[1:])
    if not isinstance(x_dot, AbstractZero):
        total = total + np.sum(by_parts(x, alpha) * dense(x, x_dot), axis=0)
    if not isinstance(alpha_dot, AbstractZero):
        total = total + np.sum(by_parameters(x, alpha) * columns(dense(alpha, alpha_dot), np.ndim(x)), axis=0)
    y_dot = np.reshape(total, np.shape(y))
    return form_of(y, y * y_dot if _of(name) else y_dot)


def _state_dirichlet(name):
    target = vars(multivariate.dirichlet_gen)[name]

    @TABLE.rrule(target, leading=3)
    def dirichlet_rrule(self, x, alpha):
        only_real("scipy.stats.dirichlet", x, alpha)
        y = target(self, x, alpha)

        def dirichlet_pullback(y_bar):
            weights = np.reshape(y * y_bar if _of(name) else y_bar, np.shape(x)[1:])
            x_bar = Thunk(lambda: like_argument(x, weights * by_parts(x, alpha)))
            return NO, NO, x_bar, Thunk(lambda: alpha_bar(x, alpha, weights))

        return y, dirichlet_pullback

    @TABLE.frule(target)
    def dirichlet_frule(tangents, self, x, alpha):
        only_real("scipy.stats.dirichlet", x, alpha)
        y = target(self, x, alpha)
        return y, dirichlet_tangent(name, y, x, alpha, tangents[2], tangents[3])

    only_look(target)
    frozen = vars(multivariate.dirichlet_frozen)[name]

    @TABLE.rrule(frozen, leading=2)
    def frozen_rrule(self, x):
        only_real("scipy.stats.dirichlet", x)
        y = frozen(self, x)

        def frozen_pullback(y_bar):
            weights = np.reshape(y * y_bar if _of(name) else y_bar, np.shape(x)[1:])
            own = Thunk(lambda: Tangent(type(self), alpha=alpha_bar(x, self.alpha, weights)))
            return NO, own, Thunk(lambda: like_argument(x, weights * by_parts(x, self.alpha)))

        return y, frozen_pullback

    @TABLE.frule(frozen)
    def frozen_frule(tangents, self, x):
        only_real("scipy.stats.dirichlet", x)
        y, own = frozen(self, x), tangents[1]
        alpha_dot = own if isinstance(own, AbstractZero) else own.alpha
        return y, dirichlet_tangent(name, y, x, self.alpha, tangents[2], alpha_dot)

    only_look(frozen)


def _state_freezing_dirichlet(target):
    @TABLE.rrule(target, leading=2)
    def frozen_rrule(self, alpha, seed=None):
        only_real("scipy.stats.dirichlet", alpha)

        def frozen_pullback(y_bar):
            if isinstance(y_bar, AbstractZero):
                return NO, NO, y_bar
            own = unthunk(y_bar.alpha)
            return NO, NO, own if isinstance(own, AbstractZero) else like_argument(alpha, own)

        return target(self, alpha, seed), frozen_pullback

    @TABLE.frule(target)
    def frozen_frule(tangents, self, alpha, seed=None):
        only_real("scipy.stats.dirichlet", alpha)
        alpha_dot = tangents[2]
        if not isinstance(alpha_dot, AbstractZero):
            alpha_dot = dense(alpha, alpha_dot)
        return target(self, alpha, seed), types.SimpleNamespace(alpha=alpha_dot, _dist=NO)

    only_look(target)


if multivariate is not None:
    for _name in ("pdf", "logpdf"):
        _state_normal(_name)
        _state_dirichlet(_name)
    _state_freezing(vars(multivariate.multivariate_normal_gen)["__call__"])
    _state_freezing_dirichlet(vars(multivariate.dirichlet_gen)["__call__"])
