"""Plain NumPy for functions of `scipy.stats` that summarise data: means, moments, scores, distances.

Each is differentiated in place of SciPy's, whose options it has; the value is SciPy's own, bit by bit, in any
version. What a function sorts by, counts and leaves out is constant. Of samples with NaN only
`nan_policy="propagate"` is followed.
"""

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.forms import form_of
from ..tangents.zeros import NoTangent
from .array_likes import only_real, refuse
from .scipy_rows import special
from .scipy_stats_rows import stats
from .standins import as_array

TABLE = RuleTable("scipy_stats_summaries")
NO = NoTangent()
_CONVERTED = "convert the array first"
_FOR_EACH = "call it for each order"


def check_policy(name, nan_policy):
    """Refuse a policy for NaN that is not followed."""
    if nan_policy != "propagate":
        refuse(
            f"scipy.stats.{name} with nan_policy={nan_policy!r} is not differentiated",
            "remove NaN first, and leave nan_policy out",
            "write a rule for the calling function",
        )


def check_left_out(name, option, fix, *values):
    """Refuse an option that changes what is computed, if it has one of these values."""
    if any(value is not None for value in values):
        refuse(
            f"scipy.stats.{name} with {option} is not differentiated",
            fix,
            "write a rule for the calling function",
        )


TABLE.non_differentiable(check_policy, check_left_out)


def agreeing(name, y, found):
    """The value of SciPy's function, of which `found` is what our own program gives: in memory of its own,
    since it has another derivative than the array that it is given.
    """
    with np.errstate(all="ignore"):
        if np.shape(y) != np.shape(found) or not np.allclose(found, y, 1e-6, 1e-9, equal_nan=True):
            refuse(
                f"scipy.stats.{name} returns a different value here from its formula, which is what is "
                "differentiated",
                "write a rule for the calling function",
            )
    return y.copy() if isinstance(y, np.ndarray) else y


@TABLE.rrule(agreeing, leading=3)
def agreeing_rrule(name, y, found, /):
    def agreeing_pullback(y_bar):
        return NO, NO, NO, y_bar

    return agreeing(name, y, found), agreeing_pullback


@TABLE.frule(agreeing)
def agreeing_frule(tangents, name, y, found, /):
    return agreeing(name, y, found), form_of(y, tangents[3])


def stands_in(name):
    """Decorator of what is differentiated for a function of SciPy's, if it is there."""
    target = getattr(stats, name, None)

    def stated(formula):
        def value(args, words):
            return target(*args, **words)

        def whole(args=(), **words):
            return agreeing(name, value(args, words), formula(*args, **words))

        TABLE.non_differentiable(value)
        TABLE.stands_in(target, rest=0)(whole)
        return formula

    return (lambda formula: formula) if target is None else stated


def count_of(a, axis):
    return np.size(a) if axis is None else np.shape(a)[axis]


def averaged(a, axis, weights, keepdims):
    """The mean along an axis, with weights or without."""
    if weights is None:
        return np.mean(a, axis=axis, keepdims=keepdims)
    spread = weights * np.ones(np.shape(a))  # repeated as NumPy repeats them, and `a` beside them
    total = np.sum(spread, axis=axis, keepdims=keepdims)
    return np.sum(spread * a, axis=axis, keepdims=keepdims) / total


def as_sample(a):
    """The array that SciPy makes of data: a number is a sample of one."""
    return np.atleast_1d(as_array(a))


# -- means ---------------------------------------------------------------------------------------------------


@stands_in("gmean")
def gmean(a, axis=0, dtype=None, weights=None, *, nan_policy="propagate", keepdims=False):
    check_policy("gmean", nan_policy)
    check_left_out("gmean", "dtype=", _CONVERTED, dtype)
    return np.exp(averaged(np.log(as_sample(a)), axis, weights, keepdims))


@stands_in("hmean")
def hmean(a, axis=0, dtype=None, *, weights=None, nan_policy="propagate", keepdims=False):
    check_policy("hmean", nan_policy)
    check_left_out("hmean", "dtype=", _CONVERTED, dtype)
    return 1.0 / averaged(1.0 / as_sample(a), axis, weights, keepdims)


@stands_in("pmean")
def pmean(a, p, *, axis=0, dtype=None, weights=None, nan_policy="propagate", keepdims=False):
    check_policy("pmean", nan_policy)
    check_left_out("pmean", "dtype=", _CONVERTED, dtype)
    if p == 0:
        return power_zero(as_sample(a), p, axis, weights, keepdims)
    return averaged(as_sample(a) ** float(p), axis, weights, keepdims) ** (1.0 / p)


def power_zero(a, p, axis, weights, keepdims):
    """The limit of the power mean where the power is 0, which is the geometric one; the first two terms of
    its series in the power, so that it has a slope by that as well.
    """
    logs = np.log(a)
    mean = averaged(logs, axis, weights, True)
    spread = averaged((logs - mean) ** 2, axis, weights, keepdims)
    return np.exp(averaged(logs, axis, weights, keepdims) + p * spread / 2)


@stands_in("trim_mean")
def trim_mean(a, proportiontocut, axis=0, *, nan_policy="propagate", keepdims=False):
    check_policy("trim_mean", nan_policy)
    a = as_sample(a)
    values = np.reshape(a, -1) if axis is None else np.moveaxis(a, axis, 0)
    count = np.shape(values)[0]
    cut = int(proportiontocut * count)
    y = np.mean(np.sort(values, axis=0)[cut : count - cut], axis=0)
    if not keepdims:
        return y
    return np.reshape(y, (1,) * np.ndim(a)) if axis is None else np.expand_dims(y, axis)


# -- moments -------------------------------------------------------------------------------------------------


def central(a, order, axis, center, keepdims):
    """The mean of a power of the differences from a centre, which is the mean if none is given."""
    if center is None:
        if order == 1:
            return np.mean(a - np.mean(a, axis=axis, keepdims=True), axis=axis, keepdims=keepdims) * 0.0
        center = np.mean(a, axis=axis, keepdims=True)
    return np.mean((a - center) ** order, axis=axis, keepdims=keepdims)


@stands_in("moment")
def moment(a, order=1, axis=0, nan_policy="propagate", *, center=None, keepdims=False):
    check_policy("moment", nan_policy)
    check_left_out("moment", "several orders", _FOR_EACH, None if np.ndim(order) == 0 else order)
    return central(as_sample(a), order, axis, center, keepdims)


def flat(variance, a, axis, keepdims):
    """Whether data are all but constant: then SciPy says NaN."""
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    return variance <= (np.finfo(variance.dtype).eps * mean) ** 2


TABLE.non_differentiable(flat)


@stands_in("skew")
def skew(a, axis=0, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy("skew", nan_policy)
    a = as_sample(a)
    variance, n = central(a, 2, axis, None, keepdims), count_of(a, axis)
    still = flat(variance, a, axis, keepdims)
    y = central(a, 3, axis, None, keepdims) / np.where(still, np.nan, variance) ** 1.5
    return y if bias or n < 3 else y * (np.sqrt((n - 1.0) * n) / (n - 2.0))


@stands_in("kurtosis")
def kurtosis(a, axis=0, fisher=True, bias=True, nan_policy="propagate", *, keepdims=False):
    check_policy("kurtosis", nan_policy)
    a = as_sample(a)
    variance, n = central(a, 2, axis, None, keepdims), count_of(a, axis)
    still = flat(variance, a, axis, keepdims)
    y = central(a, 4, axis, None, keepdims) / np.where(still, np.nan, variance) ** 2
    if not bias and n > 3:
        y = ((n * n - 1.0) * y - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    return y - 3.0 if fisher else y


@stands_in("sem")
def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    check_policy("sem", nan_policy)
    a = as_sample(a)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.sqrt(count_of(a, axis))


@stands_in("variation")
def variation(a, axis=0, nan_policy="propagate", ddof=0, *, keepdims=False):
    check_policy("variation", nan_policy)
    a = as_sample(a)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


# -- scores --------------------------------------------------------------------------------------------------


def scored(scores, compare, axis, ddof):
    mean = np.mean(compare, axis=axis, keepdims=True)
    return (scores - mean) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


@stands_in("zscore")
def zscore(a, axis=0, ddof=0, nan_policy="propagate"):
    check_policy("zscore", nan_policy)
    return scored(as_sample(a), as_sample(a), axis, ddof)


@stands_in("zmap")
def zmap(scores, compare, axis=0, ddof=0, nan_policy="propagate"):
    check_policy("zmap", nan_policy)
    return scored(as_sample(scores), as_sample(compare), axis, ddof)


@stands_in("gzscore")
def gzscore(a, *, axis=0, ddof=0, nan_policy="propagate"):
    check_policy("gzscore", nan_policy)
    logs = np.log(as_sample(a))
    return scored(logs, logs, axis, ddof)


@stands_in("gstd")
def gstd(a, axis=0, ddof=1, *, keepdims=False, nan_policy="propagate"):
    check_policy("gstd", nan_policy)
    return np.exp(np.std(np.log(as_sample(a)), axis=axis, ddof=ddof, keepdims=keepdims))


@stands_in("iqr")
def iqr(
    x, axis=None, rng=(25, 75), scale=1.0, nan_policy="propagate", interpolation="linear", keepdims=False
):
    check_policy("iqr", nan_policy)
    other = None if interpolation == "linear" else interpolation
    check_left_out("iqr", f"interpolation={interpolation!r}", "leave interpolation= out", other)
    unit = 2 * special.ndtri(0.75) if isinstance(scale, str) else scale  # "normal" is the only name
    x = as_sample(x)
    if np.size(x) == 0:
        refuse("scipy.stats.iqr of no data is not differentiated", "leave out empty samples")
    low = np.percentile(x, min(rng), axis=axis, keepdims=keepdims)
    return (np.percentile(x, max(rng), axis=axis, keepdims=keepdims) - low) / unit


@stands_in("median_abs_deviation")
def median_abs_deviation(x, axis=0, center=None, scale=1.0, nan_policy="propagate", *, keepdims=False):
    by_median = center is None or center is np.median
    check_policy("median_abs_deviation", nan_policy)
    other = None if by_median else center
    check_left_out("median_abs_deviation", "a center other than np.median", "leave center= out", other)
    unit = special.ndtri(0.75) if isinstance(scale, str) else scale
    x = as_sample(x)
    apart = np.abs(x - np.median(x, axis=axis, keepdims=True))
    return np.median(apart, axis=axis, keepdims=keepdims) / unit


# -- information and distances -------------------------------------------------------------------------------


def shares_of(weights, axis):
    """What each is of their sum."""
    return weights / np.sum(weights, axis=axis, keepdims=True)


@stands_in("entropy")
def entropy(pk, qk=None, base=None, axis=0, *, nan_policy="propagate", keepdims=False):
    check_policy("entropy", nan_policy)
    pk = as_sample(pk)
    if qk is None:
        y = np.sum(special.entr(shares_of(pk, axis)), axis=axis, keepdims=keepdims)
    else:
        shape = np.broadcast_shapes(np.shape(pk), np.shape(qk))
        both = [shares_of(np.broadcast_to(each, shape), axis) for each in (pk, as_array(qk))]
        y = np.sum(special.rel_entr(both[0], both[1]), axis=axis, keepdims=keepdims)
    return y if base is None else y / np.log(base)


def cdf_distance(power, u_values, v_values):
    """The distance of two distribution functions: between values, which are sorted, they are constant."""
    u, v = as_sample(u_values), as_sample(v_values)
    together = np.sort(np.concatenate([u, v]))
    steps = np.diff(together)
    apart = np.abs(shares(u, together) - shares(v, together))
    if power == 1:
        return np.sum(apart * steps)
    return np.sqrt(np.sum(apart**2 * steps))


def shares(values, places):
    """The share of values up to each place but the last."""
    return np.searchsorted(np.sort(values), places[:-1], "right") / len(values)


TABLE.non_differentiable(shares)


@stands_in("wasserstein_distance")
def wasserstein_distance(u_values, v_values, u_weights=None, v_weights=None):
    check_left_out("wasserstein_distance", "weights", "leave the weights out", u_weights, v_weights)
    return cdf_distance(1, u_values, v_values)


@stands_in("energy_distance")
def energy_distance(u_values, v_values, u_weights=None, v_weights=None):
    check_left_out("energy_distance", "weights", "leave the weights out", u_weights, v_weights)
    return np.sqrt(2.0) * cdf_distance(2, u_values, v_values)


# -- transformations -----------------------------------------------------------------------------------------


@stands_in("boxcox")
def boxcox(x, lmbda=None, alpha=None, optimizer=None):
    if lmbda is None:
        refuse(
            "scipy.stats.boxcox without lmbda is not differentiated: it searches for the power",
            "give lmbda",
        )
    return special.boxcox(as_sample(x), lmbda)


@stands_in("boxcox_llf")
def boxcox_llf(lmb, data, *, axis=0, keepdims=False, nan_policy="propagate"):
    check_policy("boxcox_llf", nan_policy)
    only_real("scipy.stats.boxcox_llf", lmb, data)
    data = as_sample(data)
    logs = np.sum(np.log(data), axis=axis, keepdims=keepdims)
    spread = np.var(special.boxcox(data, lmb), axis=axis, keepdims=keepdims)
    return (lmb - 1) * logs - count_of(data, axis) / 2 * np.log(spread)
