"""Plain NumPy for functions of NumPy made of others: sets, functions of positions, and those that turn to
complex numbers where real ones have no answer.
"""

import numpy as np

from ..rules.refusals import state_reasons
from ..rules.rule_table import RuleTable
from ..tangents.forms import no_change
from ..tangents.zeros import NoTangent, ZeroTangent
from .array_likes import refuse
from .standins import as_array

TABLE = RuleTable("numpy_others")

# -- sets ----------------------------------------------------------------------------------------------------
# Which values are alike is constant; of those that are, the first has the cotangent.


@TABLE.stands_in(np.union1d)
def union1d(ar1, ar2):
    return np.unique(np.concatenate((np.ravel(as_array(ar1)), np.ravel(as_array(ar2)))))


def once(values, assume_unique):
    return np.ravel(as_array(values)) if assume_unique else np.unique(as_array(values))


@TABLE.stands_in(np.intersect1d)
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        refuse("np.intersect1d with return_indices is not differentiated",
               "use np.isin, and take the values where it is true")
    both = np.sort(np.concatenate((once(ar1, assume_unique), once(ar2, assume_unique))))
    return both[:-1][both[1:] == both[:-1]]


@TABLE.stands_in(np.setxor1d)
def setxor1d(ar1, ar2, assume_unique=False):
    both = np.sort(np.concatenate((once(ar1, assume_unique), once(ar2, assume_unique))))
    return both[alone(both)]


def alone(both):
    """Which of sorted values have no like beside them."""
    differs = np.concatenate(([True], both[1:] != both[:-1], [True]))
    return differs[1:] & differs[:-1]


TABLE.non_differentiable(alone)

# -- functions of positions ----------------------------------------------------------------------------------


@TABLE.stands_in(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*np.indices(shape, dtype=dtype), **kwargs)


# -- counts --------------------------------------------------------------------------------------------------


def _check_bins(name, bins, span, *others):
    if any(x is not None and x is not False for x in others):
        refuse(f"np.{name} with density or weights is not differentiated",
               "divide the counts, or use np.bincount with weights")
    counted = np.ndim(bins) == 0 or all(np.ndim(each) == 0 for each in bins)
    if counted and span is None:
        refuse(f"np.{name} with edges that it makes from the data is not differentiated",
               "give range=, or the edges as bins")


def _none(target, count):
    """The rules of counts between edges that do not depend on the data, its first `count` arguments."""

    def pullback(y_bar):
        return (NoTangent(), *(ZeroTangent(),) * count)

    return pullback


@TABLE.rrule(np.histogram2d, leading=2)
def histogram2d_rrule(x, y, bins=10, range=None, density=None, weights=None):
    _check_bins("histogram2d", bins, range, density, weights)
    return np.histogram2d(x, y, bins, range), _none(np.histogram2d, 2)


@TABLE.frule(np.histogram2d)
def histogram2d_frule(tangents, x, y, bins=10, range=None, density=None, weights=None):
    _check_bins("histogram2d", bins, range, density, weights)
    found = np.histogram2d(x, y, bins, range)
    return found, no_change(found)


@TABLE.rrule(np.histogramdd, leading=1)
def histogramdd_rrule(sample, bins=10, range=None, density=None, weights=None):
    _check_bins("histogramdd", bins, range, density, weights)
    return np.histogramdd(sample, bins, range), _none(np.histogramdd, 1)


@TABLE.frule(np.histogramdd)
def histogramdd_frule(tangents, sample, bins=10, range=None, density=None, weights=None):
    _check_bins("histogramdd", bins, range, density, weights)
    counts, edges = np.histogramdd(sample, bins, range)
    return (counts, edges), (no_change(counts), no_change(edges))


@TABLE.rrule(np.histogram_bin_edges, leading=1)
def edges_rrule(a, bins=10, range=None, weights=None):
    _check_bins("histogram_bin_edges", bins, range, weights)
    return np.histogram_bin_edges(a, bins, range), _none(np.histogram_bin_edges, 1)


@TABLE.frule(np.histogram_bin_edges)
def edges_frule(tangents, a, bins=10, range=None, weights=None):
    _check_bins("histogram_bin_edges", bins, range, weights)
    y = np.histogram_bin_edges(a, bins, range)
    return y, no_change(y)


TABLE.non_differentiable(_check_bins)

# -- complex numbers where real ones have no answer ----------------------------------------------------------


def _is_beyond(x, outside):
    return not np.iscomplexobj(x) and bool(np.any(outside(np.asarray(x))))


def _below_zero(x):
    return _is_beyond(x, lambda x: x < 0)


def _beyond_one(x):
    return _is_beyond(x, lambda x: np.abs(x) > 1)


TABLE.non_differentiable(_below_zero, _beyond_one)


def widened(x, is_beyond):
    """`x`, as complex numbers if one of it has no real answer."""
    return as_array(x) + 0j if is_beyond(x) else as_array(x)


def _state_wide(target, plain, is_beyond):
    @TABLE.stands_in(target)
    def wide(x):
        return plain(widened(x, is_beyond))


for _name, _is_outside in (
    *((name, _below_zero) for name in ("sqrt", "log", "log2", "log10")),
    *((name, _beyond_one) for name in ("arccos", "arcsin", "arctanh")),
):
    _state_wide(getattr(np.emath, _name), getattr(np, _name), _is_outside)


@TABLE.stands_in(np.emath.logn)
def logn(n, x):
    return np.log(widened(x, _below_zero)) / np.log(widened(n, _below_zero))


@TABLE.stands_in(np.emath.power)
def power(x, p):
    return np.power(widened(x, _below_zero), p)


# -- answers about dates, bytes, dtypes and memory -----------------------------------------------------------

TABLE.non_differentiable(
    np.isfortran, np.einsum_path, np.mintypecode, np.typename, np.datetime_as_string,
    np.datetime_data, np.packbits, np.unpackbits, np.get_include, np.getbufsize, np.geterrcall,
)  # fmt: skip

_MEMORY = "shares memory that other code may change, or reads bytes"
_FILES = "reads or writes files"
_SETTINGS = "changes settings, or prints"
_MATRICES = "makes a matrix, which has operators of its own: use np.asarray, np.block"
_REASONS = {
    _MEMORY: "frombuffer from_dlpack nested_iters",
    _FILES: "fromfile fromregex fromstring genfromtxt load loadtxt savez_compressed",
    _SETTINGS: "info setbufsize seterrcall show_config show_runtime test",
    _MATRICES: "asmatrix bmat",
    "makes a ufunc from a Python function, whose results are objects: use np.vectorize": "frompyfunc",
    "is for dates, and writes to an argument passed by position": "busday_count busday_offset is_busday",
    "use np.sum with a tuple of axes, or a loop over them": "apply_over_axes",
    "multiply the factors `x - root` with np.convolve": "poly",
    "use np.i0 in its formula": "kaiser",
    "its order is arbitrary: use np.unique with equal_nan=False": "unique_values",
}
REFUSED = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""The functions of NumPy that have neither a rule nor a stand-in, each with the reason."""

state_reasons(np, REFUSED)

_ALLOCATED = "memory that is not yet filled: use np.array, np.zeros or np.empty"
_LONGER = "numbers of a type that no rule knows: use float64 or complex128"
_NO_FLOATS = "no type of real or complex numbers: hold its argument constant"
_GENERATORS = "a generator: make it from a constant seed"
_CLASSES = {
    _ALLOCATED: "memmap ndarray recarray record",
    _MATRICES: "matrix",
    _LONGER: "longdouble clongdouble",
    _NO_FLOATS: (
        "object_ bytes_ str_ void datetime64 timedelta64 busdaycalendar byte short intc int_ long longlong "
        "ubyte ushort uintc uint ulong ulonglong int8 int16 int32 int64 uint8 uint16 uint32 uint64"
    ),
    "makes a class with operators of its own: use np.polyval of the coefficients": "poly1d",
    "an iterator over arrays: use a loop over indices": "nditer ndenumerate",
    "an iterator over arrays: use np.broadcast_arrays": "broadcast",
}
for _reason, _names in _CLASSES.items():
    state_reasons(np, dict.fromkeys(_names.split(), _reason))

_PICKED = "draw positions instead, and index the array with them: `x[rng.permutation(len(x))]`"
_OF_DRAWS = {
    **dict.fromkeys(("choice", "permutation", "permuted"), _PICKED),
    **dict.fromkeys(
        ("bytes", "randint", "random_integers", "integers", "ranf", "sample", "standard_cauchy",
         "standard_exponential"),
        "its arguments are sizes and bounds of whole numbers: hold them constant",
    ),
    "multivariate_hypergeometric": "a draw of counts, which are discrete: hold them constant",
    **dict.fromkeys(("get_state", "set_state", "seed", "spawn"), "the state of a generator: constant"),
    **dict.fromkeys(
        ("Generator", "RandomState", "SeedSequence", "MT19937", "Philox", "PCG64", "PCG64DXSM", "SFC64",
         "default_rng", "BitGenerator"),
        _GENERATORS,
    ),
}  # fmt: skip
for _owner in (np.random, np.random.Generator, np.random.RandomState):
    state_reasons(_owner, _OF_DRAWS)
