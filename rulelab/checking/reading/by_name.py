"""What the name of a parameter says about its kind: counts, matrices, positive numbers, constants."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

MATRIX_NAMES = frozenset("ABCDKMQRUVWX")
_INTEGER_NAMES = frozenset(("n", "order", "ord", "decimals"))
COUNTS = frozenset(
    """k i j m d p q n count counts times steps degree power lag trials successes failures hits cases deaths
    zero zero_point zp""".split()
)
"""Parameters that may be whole numbers; they are where a rule says that they have no derivative."""
_GUARD_NAMES = frozenset(("eps", "epsilon", "tol", "atol", "rtol", "tiny", "jitter"))
LARGEST_GUARD = 1e-3
"""The largest default of a parameter of such a name that is not a quantity of a model."""
_MASK_NAMES = frozenset(
    """mask masks cond condition event events flag flags status observed valid keep missing selected
    visible""".split()
)
_INDEX_NAMES = frozenset(("idx", "inds", "index", "indices", "ids", "labels", "label", "segment_ids"))
_WHOLE_NAMES = frozenset(("incidence", "adjacency", "connectivity", "stoich", "stoichiometry"))
_SYMMETRIC_NAMES = frozenset(
    """H S Sigma Sigma0 Sigma1 corr correlation cov covar covariance prec precision gram hamiltonian hess
    hessian metric laplacian""".split()
)
_POSITIVE_OF_ANYTHING = frozenset(
    """scale variance std sigma concentration bandwidth mass density volume radius diameter thickness
    wavelength period viscosity speed area duration lifetime resistance capacitance inductance conductivity
    permeability luminosity""".split()
)
_POSITIVE_NAMES = _POSITIVE_OF_ANYTHING.union(
    """var stddev stdev rate tau weight temperature kappa lengthscale ell dof waist half_life spacing pitch
    porosity""".split()
)
_OF_POSITIVE = re.compile(
    rf"sigma_?[a-z0-9]{{1,2}}|n_?[0-9]|n_[a-z]+|[a-z]+_(?:{'|'.join(sorted(_POSITIVE_OF_ANYTHING))})"
)
"""Names of one among several, and names whose first word says of what; counts and indices of refraction
(n_...) are both positive.
"""
_OF_BOTH_SIGNS = ("log", "ln", "delta", "diff", "d", "signed", "relative", "net")
"""Words that make a positive quantity one of either sign: `log_scale`."""
_UNIT_NAMES = frozenset(("p", "prob", "probability"))


_ARRAY_NAMES = frozenset(("v", "vec", "vector", "xs", "ys", "values", "samples", "signal", "image"))
_SCALAR_NAMES = frozenset(
    ("shift", "offset", "factor", "scalar", "alpha", "lam", "lambda_", "eps", "epsilon", "temperature")
)
_SCALAR_BESIDE_ARRAYS = frozenset(("s", "c", "k", "t", "const", "constant", "scale"))
_VECTOR_BESIDE_MATRICES = frozenset(("b", "bias"))


def may_be_a_count(name: str) -> bool:
    """Whether a parameter is named like whole numbers: a rule that returns `NoTangent()` for it is written
    for these.
    """
    return name in COUNTS or name in _INTEGER_NAMES


def is_a_guard(name: str, default: Any) -> bool:
    """Whether a parameter only keeps a formula from failing, like `eps=1e-12`: a rule that returns
    `NoTangent()` for it assumes that it stays at its default.

    >>> is_a_guard("eps", 1e-12), is_a_guard("eps", 0.1), is_a_guard("dt", 1e-3)
    (True, False, False)
    """
    is_small = isinstance(default, float) and 0 < default <= LARGEST_GUARD
    return is_small and not _GUARD_NAMES.isdisjoint(name.lower().split("_"))


def scalar_names(names: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The parameters that are numbers by their names where others are arrays: those for which this is
    certain, since another has the name of an array, and those for which it is likely.

    >>> scalar_names(("v", "s"))
    (frozenset({'s'}), frozenset())
    >>> scalar_names(("x", "shift"))
    (frozenset(), frozenset({'shift'}))
    """
    arrays = _ARRAY_NAMES.intersection(names) | MATRIX_NAMES.intersection(names)
    if arrays:
        return (_SCALAR_NAMES | _SCALAR_BESIDE_ARRAYS).intersection(names), frozenset()
    return frozenset(), _SCALAR_NAMES.intersection(names)


_CONSTANT_NAMES = frozenset(
    """alpha delta eps epsilon kappa lam lambda_ omega nu amp amplitude coef coeff coefficient const constant
    decay factor freq frequency period rate slope strength temperature width""".split()
)
_OF_CONSTANTS = re.compile(
    r"k_?[a-z0-9]{0,3}|K_?[a-zA-Z0-9]{1,3}|[a-z]+_?(max|coef|coeff|const|rate|factor)|[a-z]0"
)


def names_a_constant(name: str) -> bool:
    """Whether a parameter is named like a constant of a formula, which is a number more often than not; this
    alone does not decide that it is one.

    >>> [name for name in ("x", "k", "vmax", "km", "w", "target") if names_a_constant(name)]
    ['k', 'vmax', 'km']
    """
    return name in _CONSTANT_NAMES or _OF_CONSTANTS.fullmatch(name) is not None


_SHIFT_NAMES = frozenset(
    """baseline beta bias center centre exponent gain gamma intercept loc location mean mu n offset order
    origin power shift""".split()
)
_OF_RATES = re.compile(r"[kK]_?([1-9]|[abcdfimrt]|on|off|cat)|[a-z]+_?max")


def names_a_shift(name: str) -> bool:
    """Whether a parameter is named like a shift or scale of a whole distribution or channel, an exponent, or
    a rate constant; this alone does not decide that it is smaller than an array.
    """
    return name in _SHIFT_NAMES or _OF_RATES.fullmatch(name) is not None


_PLURAL = re.compile(r"(?:\w*_)?(?!lens)[a-z]{2,}[^\Waisu_\d]s")


def names_several(name: str) -> bool:
    """Whether a parameter has a plural name.

    >>> names = ("amplitudes", "mode_weights", "loss", "bias", "radius", "gains")
    >>> [name for name in names if names_several(name)]
    ['amplitudes', 'mode_weights', 'gains']
    """
    return _PLURAL.fullmatch(name) is not None


_SPREAD_NAMES = frozenset("sigma std sd stddev stdev scale tau".split())


def names_a_spread(name: str) -> bool:
    """Whether a parameter is named like the width of a distribution, which accompanies its location."""
    return name in _SPREAD_NAMES


_CURVE_NAMES = frozenset(
    """bottom ceiling cutoff damping delay eta floor hill knee lag makeup midpoint phase plateau setpoint
    steepness stiffness thresh threshold top zeta""".split()
)
_OF_CURVES = re.compile(r"[a-dA-Z]|([a-zA-Z]+?)_?(0|50|ref|inf|min|max|limit|offset|scale|shift|width|slope)")


_TARGET_NAMES = frozenset(
    "y y_true target targets truth true observed measured expected label labels".split()
)


def names_a_target(name: str) -> bool:
    """Whether a parameter is named like what a prediction is compared with, which has the same length, unlike
    a bias.

    >>> [name for name in ("y", "y_true", "targets", "b", "scale") if names_a_target(name)]
    ['y', 'y_true', 'targets']
    """
    return name in _TARGET_NAMES


def names_of_curve(name: str, array: str) -> bool:
    """Whether a parameter is named like the parameters of a curve, which are often numbers: a reason for
    doubt, but it does not decide. A parameter named after the `array` beside it may be as long, except its
    origin (`x0`).

    >>> names = ("top", "ec50", "v0", "grad", "x0", "x_ref", "L", "target")
    >>> [name for name in names if names_of_curve(name, "x")]
    ['top', 'ec50', 'v0', 'x0', 'L']
    """
    if name in _CURVE_NAMES:
        return True
    found = _OF_CURVES.fullmatch(name)
    alike = len(name) == len(array) == 1 and name.isupper() == array.isupper() and array in _LETTERS_OF_CURVES
    return found is not None and (found[1] != array or found[2] == "0") and not alike


_LETTERS_OF_CURVES = frozenset("abcdABCDEFGHIJKLMNOPQRSTUVWXYZ")


_PENALTY_NAMES = frozenset(("lam", "lambda_", "lmbda", "reg", "ridge", "eps", "epsilon", "temperature"))


def penalty_names(names: tuple[str, ...]) -> frozenset[str]:
    """The parameters named like the weights of penalties, if another has the name of a matrix.

    >>> sorted(penalty_names(("X", "y", "lam"))), sorted(penalty_names(("x", "lam")))
    (['lam'], [])
    """
    return _PENALTY_NAMES.intersection(names) if MATRIX_NAMES.intersection(names) else frozenset()


def vector_names(names: tuple[str, ...]) -> frozenset[str]:
    """The parameters that are vectors by their names, such as a bias beside a matrix.

    >>> sorted(vector_names(("X", "b"))), sorted(vector_names(("a", "b")))
    (['b'], [])
    """
    others = MATRIX_NAMES.intersection(names)
    return _VECTOR_BESIDE_MATRICES.intersection(names) if others else frozenset()


_ORDERED = (
    ("lo", "hi"), ("low", "high"), ("lower", "upper"), ("min", "max"), ("minimum", "maximum"),
    ("vmin", "vmax"), ("xmin", "xmax"), ("a_min", "a_max"), ("start", "stop"), ("start", "end"),
    ("left", "right"),
)  # fmt: skip


def ordered_pairs(names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """The positions of pairs of arguments of which the first is the smaller by their names.

    >>> ordered_pairs(("x", "lo", "hi"))
    ((1, 2),)
    """
    return tuple((names.index(a), names.index(b)) for a, b in _ORDERED if a in names and b in names)


def special_names(names: tuple[str, ...]) -> Mapping[str, str]:
    """The parameters that are booleans or indices by their names, and the form of each."""
    masks = dict.fromkeys(_MASK_NAMES.intersection(names), "mask")
    return masks | dict.fromkeys(_INDEX_NAMES.intersection(names), "indices")


def holds_whole_numbers(name: str) -> bool:
    """Whether a parameter is named like a matrix of whole numbers that says what is connected with what.

    >>> [name for name in ("incidence", "A", "stoich_matrix") if holds_whole_numbers(name)]
    ['incidence', 'stoich_matrix']
    """
    return not _WHOLE_NAMES.isdisjoint(name.split("_"))


def means_symmetric(name: str) -> bool:
    """Whether a parameter is named like a symmetric matrix, such as a covariance; it need not be a matrix.

    >>> [name for name in ("cov", "A", "Sigma") if means_symmetric(name)]
    ['cov', 'Sigma']
    """
    return name in _SYMMETRIC_NAMES or name.startswith(("cov_", "Sigma_", "prec_"))


def is_matrix_name(name: str) -> bool:
    """Whether a parameter of this name is likely to be a matrix."""
    return name in MATRIX_NAMES


def is_image_name(name: str) -> bool:
    """Whether a parameter of this name is likely to be an image."""
    return name in ("img", "image", "picture", "photo")


def names_of_a_formula(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names, with the names of matrices replaced: `A` is a number in a formula that multiplies no
    matrices.

    >>> names_of_a_formula(("A", "t"))
    ('a_', 't')
    """
    return tuple(f"{name.lower()}_" if is_matrix_name(name) else name for name in names)


def interval_of_name(name: str) -> tuple[float, float]:
    """The interval that contains the numbers of a parameter of this name.

    >>> names = ("sigma2", "length_scale", "log_scale", "mu1", "n_glass")
    >>> [name for name in names if interval_of_name(name)[0] == 0.0]
    ['sigma2', 'length_scale', 'n_glass']
    """
    of_several = _OF_POSITIVE.fullmatch(name) and name.partition("_")[0] not in _OF_BOTH_SIGNS
    if name in _POSITIVE_NAMES or of_several:
        return 0.0, math.inf
    return (0.0, 1.0) if name in _UNIT_NAMES else (-math.inf, math.inf)


def forms_by_name(name: str) -> tuple[str, ...]:
    if name in MATRIX_NAMES:
        return ("matrix", "square", "positive definite", "vector", "columns", "rows", "number")
    if name == "axis":
        return ("axis", "integer", "number", "vector", "matrix")
    if name in _INTEGER_NAMES:
        return ("integer", "number", "vector", "matrix")
    if name in _MASK_NAMES:
        return ("mask", "flags", "number", "vector", "matrix")
    if name in _INDEX_NAMES:
        return ("indices", "integer", "number", "vector", "matrix")
    return ("number", "vector", "matrix", "columns", "rows", "square", "positive definite", "list", "integer")
