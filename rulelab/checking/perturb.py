"""Where the inputs of a check come from: kinds of arguments, points, random tangents."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import dis
import itertools
import math
import re
import threading
import types
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import RuleLabError, an
from ..nearest import did_you_mean
from ..rules.signatures import Accepts, ArrayAtom, ClassAtom, accepts_from
from ..tangents.zeros import NoTangent
from .vectors import to_vec


class WithTangent(NamedTuple):
    """An argument and the tangent that a test shall use for it; NoTangent makes it a constant."""

    value: Any
    tangent: Any


def with_tangent(x: Any, dx: Any) -> WithTangent:
    """An argument of a test together with its tangent, in place of a random one.

    With `NoTangent()` the argument is a constant of the test: it is not moved, and its cotangent is not
    looked at.

    >>> with_tangent(2.0, 1.0).tangent
    1.0
    """
    return WithTangent(x, dx)


def rand_tangent(x: Any, rng: np.random.Generator | None = None) -> Any:
    """A random tangent for `x`: two decimals, between -9 and 9, never zero, in the structure of `x`.

    Short decimals make a failing test readable. Arrays keep shape and dtype, complex numbers get both parts;
    integers, text, functions and whatever else cannot be moved get NoTangent(). A structure without any
    number gives NoTangent() too.

    >>> rng = np.random.default_rng(0)
    >>> rand_tangent(1.0, rng), rand_tangent("a", rng)
    (7.66, NoTangent())
    """
    rng = np.random.default_rng() if rng is None else rng
    vector, back = to_vec(x)
    if not vector.size:
        return NoTangent()
    return back(_short_decimals(rng, vector.size))


def _short_decimals(rng: np.random.Generator, count: int) -> np.ndarray:
    return rng.integers(1, 901, count) * rng.choice([-1.0, 1.0], count) / 100


# --- kinds of arguments -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Kind:
    """A family of arguments to draw from: their form, and the interval that their numbers are in.

    Attributes
    ----------
    form : str
        "number", "vector", "matrix", "square", "symmetric", "positive definite", "integer", "list",
        "indices", "mask", "flags" (a matrix of booleans), "axis" or "object".
    low, high : float
        Numbers lie strictly between the two.
    dtype : str
        The dtype of arrays.
    is_asked : bool
        Whether the caller asked for the form.
    dims : tuple of int or str
        The lengths where they are said: numbers, letters that mean the same in all arguments, or
        products (`m*n`, `4*n`). Indices (n, m) are n of them below m, and (n, 2, m) are n pairs of
        different ones; an integer (m) is that length.
    made : type or None
        The class of an object, a dict too.
    parts : tuple of (str, Kind)
        The parts of an object by their names; those of a list are numbered.
    """

    form: str = "number"
    low: float = -math.inf
    high: float = math.inf
    dtype: str = "float64"
    is_asked: bool = dataclasses.field(default=False, compare=False)
    dims: tuple[int | str, ...] = ()
    made: type | None = None
    parts: tuple[tuple[str, Kind], ...] = ()

    def __str__(self) -> str:
        if self.made is not None:
            return an(self.made.__name__) + (" of arrays" if self.made in (list, tuple) else "")
        inside = _interval_words(self.low, self.high) if self.form != "indices" else _bound_words(self.high)
        plain = {
            "number": "a number", "integer": "an integer", "axis": "an axis", "list": "a list of numbers",
            "array": "an array", "mask": "a vector of booleans",
            "flags": "a matrix of booleans",
            "columns": "a vector as long as a row of the matrix",
            "rows": "a vector as long as a column of the matrix",
            "indices": "an array of indices" if len(self.dims) > 2 else "a vector of indices",
        }  # fmt: skip
        what = plain.get(self.form, an(self.form) + ("" if "matrix" in self.form else _noun(self.form)))
        word = "complex " if self.dtype.startswith("complex") else ""
        lengths = f" ({', '.join(map(str, self.dims))})" if self.dims else ""
        return f"{what.replace('a ', f'a {word}', 1)}{lengths}{inside}"


def _noun(form: str) -> str:
    return "" if form == "vector" else " matrix"


def _interval_words(low: float, high: float) -> str:
    if low == -math.inf and high == math.inf:
        return ""
    if (low, high) == (0.0, math.inf):
        return ", positive"
    if high == math.inf:
        return f", above {low:g}"
    return f", below {high:g}" if low == -math.inf else f", between {low:g} and {high:g}"


def may_be_a_count(name: str) -> bool:
    """Whether a parameter is called as whole numbers are: a rule that gives it `NoTangent()` is for these."""
    return name in COUNTS or name in _INTEGER_NAMES


def is_a_guard(name: str, default: Any) -> bool:
    """Whether a parameter is there for a formula not to fail, as `eps=1e-12` is: a rule that gives it
    `NoTangent()` says that it is left at its default.

    >>> is_a_guard("eps", 1e-12), is_a_guard("eps", 0.1), is_a_guard("dt", 1e-3)
    (True, False, False)
    """
    is_small = isinstance(default, float) and 0 < default <= LARGEST_GUARD
    return is_small and not _GUARD_NAMES.isdisjoint(name.lower().split("_"))


def _bound_words(high: float) -> str:
    return f" below {high:g}" if 2 <= high < math.inf else ""


INTERVALS = {
    "any": (-math.inf, math.inf),
    "real": (-math.inf, math.inf),
    "positive": (0.0, math.inf),
    "negative": (-math.inf, 0.0),
    "unit": (0.0, 1.0),
    "probability": (0.0, 1.0),
}
AS_LIST = "list"
"""The dtype of indices that are a list of Python's."""
AS_ROWS = "rows"
"""The length of a matrix, for what has an element for each of its rows."""
FORMS = ("number", "vector", "matrix", "square", "symmetric", "positive definite", "integer", "list")


class DomainError(RuleLabError):
    """A domain that a check cannot draw from."""


def kind_named(words: str | tuple[float, float] | Kind) -> Kind:
    """The kind that words such as "positive", "positive vector", "complex matrix" or `(0, 1)` mean.

    Lengths may follow a form: "vector (4)", "matrix (m, n)"; a letter is one length in all arguments.

    >>> str(kind_named("positive definite")), str(kind_named((0, 1)))
    ('a positive definite matrix', 'a number, between 0 and 1')
    >>> str(kind_named("positive matrix (m, 2)"))
    'a matrix (m, 2), positive'
    """
    if isinstance(words, Kind):
        return words
    if isinstance(words, tuple) and len(words) == 2:
        low, high = float(words[0]), float(words[1])
        if not low < high:
            raise DomainError(f"a domain reads (low, high) with low < high, not {words!r}")
        return Kind(low=low, high=high)
    if not isinstance(words, str):
        raise DomainError(f"a domain is a word or (low, high), not {words!r}", fixes=_known_domains())
    rest, kind = " ".join(words.split()), Kind()
    rest, dims = _without_lengths(rest)
    for ending in ("positive definite matrix", "positive definite"):
        if rest.endswith(ending):
            kind = dataclasses.replace(kind, form="positive definite", is_asked=True)
            rest = rest[: -len(ending)]
    for word in rest.split():
        if word in INTERVALS:
            low, high = INTERVALS[word]
            kind = dataclasses.replace(kind, low=low, high=high)
        elif word == "complex":
            kind = dataclasses.replace(kind, dtype="complex128")
        elif word in FORMS:
            if word != "matrix" or kind.form not in ("square", "symmetric"):
                kind = dataclasses.replace(kind, form=word, is_asked=True)
        else:
            near = did_you_mean(word, [*INTERVALS, "complex", *FORMS])
            which = "" if word == words else f": {word!r} is not known"
            raise DomainError(
                f"{words!r} is not a domain{which}{near}", fixes=_known_domains()
            )
    return _of_lengths(kind, dims, words)


_LENGTHS = re.compile(r"(.*?[a-z])\s*\(([\w\s,]*)\)$")


def _without_lengths(words: str) -> tuple[str, tuple[int | str, ...]]:
    """Words without the lengths in brackets behind them, and these."""
    found = _LENGTHS.fullmatch(words)
    if found is None:
        return words, ()
    named = [part.strip() for part in found[2].split(",") if part.strip()]
    return found[1], tuple(int(part) if part.isdigit() else part for part in named)


def _of_lengths(kind: Kind, dims: tuple[int | str, ...], words: str) -> Kind:
    """The kind with these lengths; DomainError where it does not have so many."""
    square = kind.form in ("square", "symmetric", "positive definite")
    axes = {"vector": 1, "list": 1, "matrix": 2}.get(kind.form, 2 if square else 0)
    if square and len(dims) == 1:
        dims = (*dims, *dims)
    if not dims:
        return kind
    fit = len(dims) == axes and all(d if isinstance(d, int) else d.isidentifier() for d in dims)
    if not fit or (square and dims[0] != dims[1]):
        fixes = ('say "vector (n)", "matrix (m, n)", "symmetric (n)" or numbers: "vector (4)"',)
        raise DomainError(f"{words!r} is not a domain: {kind} does not have these lengths", fixes=fixes)
    return dataclasses.replace(kind, dims=dims)


def _known_domains() -> tuple[str, ...]:
    known = ", ".join([*INTERVALS, "complex", *FORMS])
    return (f"use (low, high), or some of these words: {known}; lengths may follow: matrix (m, n)",)


SIZES = ((3, 2, 4), (2, 3, 5), (1, 4, 2), (4, 1, 3), (7, 2, 3))
"""(vectors, rows, columns) of the points of a check: no two equal, so that no transpose goes unseen."""
MORE_LENGTHS = (5, 6, 8, 9)
"""What further letters of a domain stand for, at each point."""

DRAWN_SCALES = (1.0, 1.0, 8.0, 0.125, 1.0, 64.0, 2.0**-6)


def draw_all(
    kinds: tuple[Kind, ...], rng: np.random.Generator, size: int = 0, scale: float = 1.0
) -> tuple[Any, ...]:
    """One argument of each kind; a letter among their lengths stands for one number.

    >>> A, x = draw_all((kind_named("matrix (m, n)"), kind_named("vector (n)")), np.random.default_rng(1))
    >>> A.shape, x.shape
    ((3, 2), (2,))
    """
    said = [part for kind in kinds for d in _dims_of(kind) if isinstance(d, str) for part in d.split("*")]
    letters = dict.fromkeys(part for part in said if not part.isdigit() and part != AS_ROWS)
    lengths = dict(zip(letters, itertools.chain(SIZES[size % len(SIZES)], itertools.cycle(MORE_LENGTHS))))
    rows = SIZES[size % len(SIZES)][1]
    lengths[AS_ROWS] = max(2, rows) if any(kind.form in SQUARE for kind in kinds) else rows
    drawn = [draw(kind, rng, size, scale, lengths) for kind in kinds]
    plain = [x for x, kind in zip(drawn, kinds) if kind.made is None]
    arrays = [x for x in plain if isinstance(x, (np.ndarray, list))]
    shortest = min([n for x in arrays for n in np.shape(x) if n], default=None)
    if shortest is None:
        return tuple(drawn)
    # How many of the numbers are meant, perhaps.
    counts = [kind.form == "integer" and not kind.dims for kind in kinds]
    picks = [i for i, kind in enumerate(kinds) if counts[i] and kind.high < math.inf]  # what is at a place
    if len(picks) > 1:  # places of their own
        for i, place in zip(picks, rng.permutation(len(picks)).tolist()):
            drawn[i] = place
    drawn = [min(x, shortest) if is_count else x for x, is_count in zip(drawn, counts)]
    labels = [kind.form == "indices" and not kind.dims and math.isinf(kind.high) for kind in kinds]
    if sum(counts) == sum(labels) == 1:  # of so many groups, none of which is empty
        groups = drawn[counts.index(True)]
        drawn = [rng.permutation(np.arange(len(x)) % groups) if one else x for x, one in zip(drawn, labels)]
    return tuple(drawn)


def _dims_of(kind: Kind) -> Iterator[int | str]:
    """The lengths of a kind, and of what is in it."""
    yield from kind.dims
    for _, part in kind.parts:
        yield from _dims_of(part)


def draw(
    kind: Kind,
    rng: np.random.Generator,
    size: int = 0,
    scale: float = 1.0,
    lengths: Mapping[str, int] | None = None,
) -> Any:
    """One argument of a kind. Its numbers have eleven binary digits, so that float32 has them too.

    >>> draw(Kind("vector"), np.random.default_rng(1)).shape
    (3,)
    """
    if kind.made is not None:
        parts = {name: dataclasses.replace(part, low=kind.low, high=kind.high) for name, part in kind.parts}
        drawn_parts = {name: draw(part, rng, size, scale, lengths) for name, part in parts.items()}
        if kind.made in (list, tuple):
            return kind.made(drawn_parts.values())
        return kind.made(**drawn_parts)
    if kind.form == "indices" and kind.dtype == AS_LIST:
        return draw(dataclasses.replace(kind, dtype="int64"), rng, size, scale, lengths).tolist()
    vector, rows, columns = SIZES[size % len(SIZES)]
    shapes = {
        "vector": (vector,), "list": (vector,), "matrix": (rows, columns),
        "columns": (columns,), "rows": ((lengths or {}).get(AS_ROWS, rows),),
    }  # fmt: skip
    said = tuple(_length(d, lengths or {}, vector) for d in kind.dims)
    if kind.form == "axis":
        return int(rng.integers(-1, 2))
    if kind.form == "integer" and said:
        return said[0]
    if kind.form == "indices" and len(said) == 3 and 2 in kind.dims[:2]:
        return _edges(said, kind.dims[1] == 2, rng)
    if kind.form == "indices" and len(said) > 1:
        return rng.integers(0, said[-1], said[:-1])
    if kind.form == "integer":
        picks = math.isfinite(kind.low) and math.isfinite(kind.high)
        return int(rng.integers(int(kind.low), int(kind.high)) if picks else rng.integers(1, 4))
    if kind.form == "indices":
        drawn = rng.integers(0, int(kind.high) if 2 <= kind.high < math.inf else vector, vector)
        drawn[-1] = drawn[0]  # what is picked twice is picked out of an array the more
        if vector > 1 and not drawn.any():
            drawn[:] = 1  # charges of which all are zero are a case of its own
        return drawn
    if kind.form in ("mask", "flags"):
        return rng.random(said or (vector if kind.form == "mask" else (rows, columns))) < 0.5
    if kind.form in SQUARE:
        n = said[0] if said else max(2, rows)
        drawn = _numbers(kind, rng, (n, n), scale)
        if kind.form == "square":
            return drawn + scale * n * np.eye(n)  # away from the singular ones
        symmetric = (drawn + drawn.conj().T) / 2
        return symmetric if kind.form == "symmetric" else symmetric + 4 * n * scale * np.eye(n)
    drawn = _numbers(kind, rng, said or shapes.get(kind.form, ()), scale)
    if kind.form == "number":
        return drawn.item()
    return drawn.tolist() if kind.form == "list" else drawn


def _length(said: int | str, lengths: Mapping[str, int], otherwise: int) -> int:
    """A length that is a number, a letter, or a product: `m*n` of a matrix that is made flat, `4*n` of
    four vectors one behind the other.
    """
    if isinstance(said, int):
        return said
    parts = said.split("*")
    return math.prod(int(part) if part.isdigit() else lengths.get(part, otherwise) for part in parts)


def _edges(said: tuple[int, ...], in_rows: bool, rng: np.random.Generator) -> np.ndarray:
    """Pairs of indices, each of two that differ: the distance of an element from itself has no derivative
    that a rule could divide by. Of a single element there is no pair.
    """
    count, size = said[0] if in_rows else said[1], said[-1]
    if size < 2:
        return np.zeros((0, 2) if in_rows else (2, 0), int)
    tails = rng.integers(0, size, count)
    heads = (tails + rng.integers(1, size, count)) % size
    return np.stack([tails, heads], axis=1 if in_rows else 0)


def _numbers(kind: Kind, rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> np.ndarray:
    real = _reals(kind, rng, shape, scale)
    return real + 1j * _reals(kind, rng, shape, scale) if kind.dtype.startswith("complex") else real


def _reals(kind: Kind, rng: np.random.Generator, shape: tuple[int, ...], scale: float) -> np.ndarray:
    low, high = kind.low, kind.high
    if math.isfinite(low) and math.isfinite(high):
        drawn = low + (high - low) * rng.uniform(0.05, 0.95, shape)
    else:
        drawn = scale * rng.uniform(0.25, 2.5, shape)
        if math.isfinite(low):
            drawn = low + drawn
        elif math.isfinite(high):
            drawn = high - drawn
        else:
            drawn = drawn * rng.choice([-1.0, 1.0], shape)
    short = _few_digits(drawn)
    return np.asarray(np.where((low < short) & (short < high), short, drawn))


def _few_digits(x: np.ndarray) -> np.ndarray:
    """The nearest numbers with eleven binary digits: exact in every floating dtype."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 2048) / 2048, exponent)


# --- which kinds a function takes ---------------------------------------------------------------------------

_MATRIX_NAMES = frozenset("ABCDKMQRUVWX")
_INTEGER_NAMES = frozenset(("n", "order", "ord", "decimals"))
COUNTS = frozenset(
    ("k", "i", "j", "m", "d", "p", "q", "n", "count", "times", "steps", "degree", "power", "lag")
)
"""Parameters that may be whole numbers: they are where a rule says of them that they have no derivative."""
_GUARD_NAMES = frozenset(("eps", "epsilon", "tol", "atol", "rtol", "tiny", "jitter"))
LARGEST_GUARD = 1e-3
"""The largest default of what is called so that is not a number of a model."""
_MASK_NAMES = frozenset(
    """mask masks cond condition event events flag flags status observed valid keep missing selected
    visible""".split()
)
_INDEX_NAMES = frozenset(("idx", "inds", "index", "indices", "ids", "labels", "label", "segment_ids"))
_SYMMETRIC_NAMES = frozenset(
    """H S Sigma Sigma0 Sigma1 cov covar covariance prec precision gram hamiltonian hess hessian metric
    laplacian""".split()
)
_POSITIVE_NAMES = frozenset(
    """sigma scale var variance std stddev stdev rate tau weight temperature kappa concentration bandwidth
    lengthscale ell dof""".split()
)
_OF_POSITIVE = re.compile(r"sigma_?[a-z0-9]{1,2}|[a-z]+_(scale|variance|std|sigma|concentration|bandwidth)")
"""Names of one among several, and with a word before them that says of what."""
_OF_BOTH_SIGNS = ("log", "ln", "delta", "diff", "d")
"""Words by which what is positive is none any more: `log_scale`."""
_UNIT_NAMES = frozenset(("p", "prob", "probability"))


_ARRAY_NAMES = frozenset(("v", "vec", "vector", "xs", "ys", "values", "samples", "signal", "image"))
_SCALAR_NAMES = frozenset(
    ("shift", "offset", "factor", "scalar", "alpha", "lam", "lambda_", "eps", "epsilon", "temperature")
)
_SCALAR_BESIDE_ARRAYS = frozenset(("s", "c", "k", "t", "const", "constant", "scale"))
_INPUTS_BESIDE_MATRICES = frozenset(("x", "h", "z", "inputs", "batch"))
_VECTOR_BESIDE_MATRICES = frozenset(("b", "bias"))


def scalar_names(names: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Which of several parameters mean a number by their names, where others are arrays: those of which that
    is known, as another has the name of an array, and those of which it is likely.

    >>> scalar_names(("v", "s"))
    (frozenset({'s'}), frozenset())
    >>> scalar_names(("x", "shift"))
    (frozenset(), frozenset({'shift'}))
    """
    arrays = _ARRAY_NAMES.intersection(names) | _MATRIX_NAMES.intersection(names)
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
    """Whether a parameter is called as the constants of a formula are, which are numbers more often than not:
    no reason to take it for one alone.

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
    """Whether a parameter is called as what moves or scales all of a distribution or a channel is, as an
    exponent, or as the constants of reactions: no reason to take it for smaller than an array alone.
    """
    return name in _SHIFT_NAMES or _OF_RATES.fullmatch(name) is not None


_SPREAD_NAMES = frozenset("sigma std sd stddev stdev scale tau".split())


def names_a_spread(name: str) -> bool:
    """Whether a parameter is called as the width of a distribution is, which has its place beside it."""
    return name in _SPREAD_NAMES


_CURVE_NAMES = frozenset(
    """bottom ceiling cutoff damping delay eta floor hill knee lag makeup midpoint phase plateau setpoint
    steepness stiffness thresh threshold top zeta""".split()
)
_OF_CURVES = re.compile(r"[a-dA-Z]|([a-zA-Z]+?)_?(0|50|ref|inf|min|max|limit|offset|scale|shift|width|slope)")


def names_of_curve(name: str, array: str) -> bool:
    """Whether a parameter is called as those of a curve are, which are numbers where others of it are: a
    reason for doubt, and none to take it for one. What goes by the name of the `array` beside it may be as
    long, but for its origin.

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
    """The parameters that are called as the weights of penalties are, beside the name of a matrix.

    >>> sorted(penalty_names(("X", "y", "lam"))), sorted(penalty_names(("x", "lam")))
    (['lam'], [])
    """
    return _PENALTY_NAMES.intersection(names) if _MATRIX_NAMES.intersection(names) else frozenset()


def vector_names(names: tuple[str, ...]) -> frozenset[str]:
    """Which of several parameters mean a vector by their names, as the bias beside a matrix does.

    >>> sorted(vector_names(("X", "b"))), sorted(vector_names(("a", "b")))
    (['b'], [])
    """
    others = _MATRIX_NAMES.intersection(names)
    return _VECTOR_BESIDE_MATRICES.intersection(names) if others else frozenset()


def are_as_named(names: tuple[str, ...], kinds: tuple[Kind, ...]) -> bool:
    """Whether kinds are those that names such as `X` and `b` speak of: a matrix, a vector like its rows; or
    the factors of a product of matrices, and a vector like the rows of that.
    """
    vectors = vector_names(names)
    if not vectors or kinds in _chained(names):
        return bool(vectors)
    return all(
        kind.form == ("columns" if name in vectors else "matrix" if name in _MATRIX_NAMES else "")
        for name, kind in zip(names, kinds)
    )


_ORDERED = (
    ("lo", "hi"), ("low", "high"), ("lower", "upper"), ("min", "max"), ("minimum", "maximum"),
    ("vmin", "vmax"), ("xmin", "xmax"), ("a_min", "a_max"), ("start", "stop"), ("start", "end"),
    ("left", "right"),
)  # fmt: skip


def ordered_pairs(names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """The positions of arguments of which the first is the smaller, by their names.

    >>> ordered_pairs(("x", "lo", "hi"))
    ((1, 2),)
    """
    return tuple((names.index(a), names.index(b)) for a, b in _ORDERED if a in names and b in names)


def are_in_order(args: tuple, pairs: Iterable[tuple[int, int]]) -> bool:
    """Whether the numbers of the first of each pair of arguments are the smaller ones; yes, where they
    cannot be compared.
    """
    for i, j in pairs:
        first, second = args[i], args[j]
        if all(isinstance(x, (int, float, np.ndarray)) for x in (first, second)):
            if np.size(first) and np.size(second) and not np.max(first) < np.min(second):
                return False
    return True


def put_in_order(args: tuple, pairs: Iterable[tuple[int, int]]) -> tuple:
    """The arguments with all numbers of the second of each pair above those of the first."""
    found = list(args)
    for i, j in pairs:
        if not are_in_order(args, [(i, j)]):
            by = np.max(found[i]) - np.min(found[j])
            whole = np.asarray(found[j]).dtype.kind in "iu"  # a whole number stays one
            found[j] = found[j] + (int(np.floor(by)) + 1 if whole else by + 0.5)
    return tuple(found)


def special_names(names: tuple[str, ...]) -> Mapping[str, str]:
    """Which of several parameters mean booleans or indices by their names, and the form of each."""
    masks = dict.fromkeys(_MASK_NAMES.intersection(names), "mask")
    return masks | dict.fromkeys(_INDEX_NAMES.intersection(names), "indices")


def means_symmetric(name: str) -> bool:
    """Whether a parameter is called as symmetric matrices are, if it is a matrix: covariances and the like.

    >>> [name for name in ("cov", "A", "Sigma") if means_symmetric(name)]
    ['cov', 'Sigma']
    """
    return name in _SYMMETRIC_NAMES or name.startswith(("cov_", "Sigma_", "prec_"))


def is_matrix_name(name: str) -> bool:
    """Whether a parameter of this name is likely to be a matrix."""
    return name in _MATRIX_NAMES


def names_of_a_formula(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names with others for those of matrices: `A` is a number in a formula that multiplies none.

    >>> names_of_a_formula(("A", "t"))
    ('a_', 't')
    """
    return tuple(f"{name.lower()}_" if is_matrix_name(name) else name for name in names)


MOST_GUESSES = 200
"""Mixtures of kinds that are guessed for the parameters of one function."""


def guesses(
    names: tuple[str, ...],
    accepts: Accepts | None,
    domain: Mapping[str, Kind],
    used: Mapping[str, tuple[Kind, ...]] = types.MappingProxyType({}),
) -> Iterator[tuple[Kind, ...]]:
    """The kinds to try for the parameters of a function, likeliest first.

    From the domain, where it names the parameter, else from the rule's annotation, else from what the
    function reads of it (`used`), else from the name.
    """
    choices = choices_of(names, accepts, domain, used)
    if not choices:
        return
    forms = _OF_ALL if _MATRIX_NAMES.isdisjoint(names) else _OF_MATRICES
    same = [tuple(map(_of_form(form), choices)) for form in (choices[0][0].form, *forms)]
    mixed = itertools.islice(filter(_is_told_apart, likeliest_first(choices)), MOST_GUESSES)
    said = () if accepts is None else map(accepts.at, range(len(names)))
    is_free = not domain and not used and not any(map(_forms_by_annotation, said))
    chained, systems = (_chained(names), _systems(names)) if is_free else ((), ())
    yield from dict.fromkeys((*chained, *filter(_is_told_apart, same), *mixed, *systems))


def choices_of(
    names: tuple[str, ...],
    accepts: Accepts | None,
    domain: Mapping[str, Kind],
    used: Mapping[str, tuple[Kind, ...]],
) -> list[tuple[Kind, ...]]:
    """The kinds to try for each parameter of a function, likeliest first."""
    return [_choices(i, name, accepts, domain, used.get(name, ())) for i, name in enumerate(names)]


def _systems(names: tuple[str, ...]) -> Iterator[tuple[Kind, ...]]:
    """Square matrices by their names, and vectors that go with them."""
    if not _MATRIX_NAMES.isdisjoint(names):
        square, vector = Kind("matrix", dims=("n", "n")), Kind("vector", dims=("n",))
        yield tuple(square if name in _MATRIX_NAMES else vector for name in names)


_OF_ALL = ("number", "vector", "matrix", "square", "positive definite", "list")
_OF_MATRICES = ("matrix", "square", "positive definite", "vector", "number", "list")
"""The forms that all arguments of a function may have alike, likeliest first; and where there are names of
matrices."""


def _of_form(form: str) -> Callable[[tuple[Kind, ...]], Kind]:
    """The choice among kinds that has a form, else the likeliest."""

    def chosen(kinds: tuple[Kind, ...]) -> Kind:
        if kinds[0].form in ("mask", "indices", "integer", "axis"):
            flags = (kind for kind in kinds if kind.form == "flags" and form == "matrix")
            return next(flags, kinds[0])
        return next((kind for kind in kinds if kind.form == form), kinds[0])

    return chosen


def _is_told_apart(kinds: tuple[Kind, ...]) -> bool:
    """Whether vectors as long as a row of the matrix, or as a column, stand beside one."""
    forms = {kind.form for kind in kinds}
    if "matrix" in forms or "object" in forms:
        return True
    return "columns" not in forms and ("rows" not in forms or not forms.isdisjoint(SQUARE))


SQUARE = ("square", "symmetric", "positive definite")
MATRICES = ("matrix", *SQUARE)


def _chained(names: tuple[str, ...]) -> Iterator[tuple[Kind, ...]]:
    """Matrices by their names as a product of them takes them, with a bias as long as its rows; of two, the
    second may be transposed.
    """
    vectors = vector_names(names)
    inputs = _INPUTS_BESIDE_MATRICES if vectors else frozenset()
    matrices = [name for name in names if name in _MATRIX_NAMES | inputs]
    if not 2 <= len(matrices) <= 4 or len(matrices) + len(vectors) < len(names):
        return
    sides = "lmnpq"[: len(matrices) + 1]
    pairs = [tuple(pair) for pair in itertools.pairwise(sides)]
    for turned in (pairs, [*pairs[:-1], pairs[-1][::-1]])[: 2 if len(pairs) == 2 else 1]:
        kinds = {name: Kind("matrix", dims=pair) for name, pair in zip(matrices, turned)}
        yield tuple(kinds.get(name, Kind("vector", dims=(sides[-1],))) for name in names)


def likeliest_first(choices: Sequence[tuple[Kind, ...]]) -> Iterator[tuple[Kind, ...]]:
    """All mixtures of the choices, those first in which each is among the first of its own."""
    for total in range(sum(len(one) - 1 for one in choices) + 1):
        yield from _of_rank(choices, total)


def _of_rank(choices: Sequence[tuple[Kind, ...]], total: int) -> Iterator[tuple[Kind, ...]]:
    """The mixtures whose places among the choices add up to `total`."""
    if not choices:
        yield from [()] if total == 0 else []
        return
    first, *others = choices
    for place, kind in enumerate(first[: total + 1]):
        for rest in _of_rank(others, total - place):
            yield (kind, *rest)


def _choices(
    index: int, name: str, accepts: Accepts | None, domain: Mapping[str, Kind], used: tuple[Kind, ...]
) -> tuple[Kind, ...]:
    if name in domain and (domain[name].is_asked or domain[name].form != "number"):
        return (domain[name],)
    low, high = (domain[name].low, domain[name].high) if name in domain else interval_of_name(name)
    dtypes = (domain[name].dtype,) if name in domain else ("float64",)
    said = accepts.at(index) if accepts is not None else ()
    objects = tuple(kind for atom in said for kind in _objects_by_annotation(atom, low, high))
    if objects:
        return objects
    forms = _forms_by_annotation(said)
    if used and forms is not None and "vector" in forms and used[0].form in ("mask", "indices"):
        plain = tuple(Kind(form, low, high) for form in forms)
        return (*(kind for kind in used if kind.form not in ("integer", "number")), *plain)
    if used and (forms is None or any(_dims_of(used[0]))):  # an annotation says less than lengths do
        return tuple(dataclasses.replace(kind, low=low, high=high) for kind in used) if low == 0.0 else used
    special = special_names((name,)).get(name) if not used else None  # what it does says more than its name
    if special is not None and forms is not None and "vector" in forms:
        named = ("mask", "flags") if special == "mask" else (special,)
        return (*map(Kind, named), *(Kind(form, low, high) for form in forms))  # an array, and of what
    if forms is None:
        forms = _forms_by_name(name)
    elif "complex" in forms:
        forms, dtypes = tuple(f for f in forms if f != "complex"), ("complex128",)
    return tuple(Kind(form, low, high, dtype) for form in forms for dtype in dtypes)


def interval_of_name(name: str) -> tuple[float, float]:
    """The interval that a parameter of this name has its numbers in.

    >>> [name for name in ("sigma2", "length_scale", "log_scale", "mu1") if interval_of_name(name)[0] == 0.0]
    ['sigma2', 'length_scale']
    """
    of_several = _OF_POSITIVE.fullmatch(name) and name.partition("_")[0] not in _OF_BOTH_SIGNS
    if name in _POSITIVE_NAMES or of_several:
        return 0.0, math.inf
    return (0.0, 1.0) if name in _UNIT_NAMES else (-math.inf, math.inf)


def _forms_by_name(name: str) -> tuple[str, ...]:
    if name in _MATRIX_NAMES:
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


_IN_OBJECTS = {1: ("vector", "matrix"), 2: ("matrix", "rows", "vector", "columns")}
"""The forms of an array in an object, of one and of two such; of more they are as one is."""


def objects_with(
    classes: Iterable[type], attributes: Iterable[str], low: float = -math.inf, high: float = math.inf
) -> tuple[Kind, ...]:
    """The objects of those classes that have these attributes and are made of numbers and arrays; what has a
    default is left as it is.
    """
    wanted = set(attributes)
    fitting = (cls for cls in classes if _needed_fields(cls) and wanted <= {*fields_of(cls)})
    return tuple(kind for cls in fitting for kind in _objects_by_annotation(ClassAtom(cls), low, high))


MOST_DICTS = 24
"""Mixtures of kinds that are guessed for the values of a dict."""


def dicts_of(keys: Iterable[str], of_matrices: bool = True) -> tuple[Kind, ...]:
    """The dicts with numbers and arrays under these keys, likeliest first; matrices under names like `R` only
    where these are likely to mean some.
    """
    names = tuple(keys)
    usual = [tuple(filter(_IN_DICTS.__contains__, _forms_by_name(name))) for name in names]
    pairs = zip(names, usual)
    matrices = _MATRIX_NAMES if of_matrices else frozenset()
    forms = [("matrix", "square") if name in matrices else those for name, those in pairs]
    kinds = [tuple(Kind(form) for form in one) for one in forms]
    return tuple(
        Kind("object", made=dict, parts=tuple(zip(names, parts)))
        for parts in itertools.islice(likeliest_first(kinds), MOST_DICTS)
    )


_IN_DICTS = frozenset(("number", "vector", "matrix", "columns", "rows"))


def _objects_by_annotation(atom: Any, low: float, high: float, depth: int = 2) -> tuple[Kind, ...]:
    """The objects of a class whose annotations say that it is made of numbers, arrays and such objects."""
    cls = getattr(atom, "cls", None)
    needed = _needed_fields(cls) if depth else ()
    if needed and not getattr(cls, "__annotations__", None):  # a namedtuple, which says nothing
        plain = tuple(Kind(form, low, high) for form in ("number", "vector"))
        mixed = itertools.islice(likeliest_first([plain] * len(needed)), MOST_DICTS)
        return tuple(Kind("object", low, high, made=cls, parts=tuple(zip(needed, parts))) for parts in mixed)
    try:
        notes = typing.get_type_hints(cls) if needed else {}
        atoms = {name: accepts_from((notes[name],)).at(0) for name in needed}
    except (RuleLabError, NameError, KeyError, TypeError):
        return ()
    choices: list[tuple[Kind, ...]] = []
    arrays = sum("vector" in (_forms_by_annotation(said) or ()) for said in atoms.values())
    for said in atoms.values():
        forms = _forms_by_annotation(said)
        if forms is None:
            within = (_objects_by_annotation(one, low, high, depth - 1) for one in said)
            choices.append(tuple(itertools.chain.from_iterable(within)))
            continue
        dtype = "complex128" if "complex" in forms else "float64"
        usual = _IN_OBJECTS.get(arrays, ("vector",)) if "vector" in forms else forms[:1]
        choices.append(tuple(Kind(form, low, high, dtype) for form in usual))
    made = itertools.product(*choices) if choices else ()
    return tuple(Kind("object", low, high, made=cls, parts=tuple(zip(atoms, parts))) for parts in made)


def _needed_fields(cls: Any) -> tuple[str, ...]:
    """The names that a dataclass or a NamedTuple wants to be made with; none of another class."""
    if isinstance(cls, type) and dataclasses.is_dataclass(cls):
        return tuple(f.name for f in dataclasses.fields(cls) if f.init and _is_required(f))
    with_default = getattr(cls, "_field_defaults", {})
    return tuple(name for name in fields_of(cls) if name not in with_default)


def fields_of(cls: Any) -> tuple[str, ...]:
    """The names of all that is in a dataclass or a NamedTuple; none of another class."""
    if isinstance(cls, type) and dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return getattr(cls, "_fields", ()) if isinstance(cls, type) and issubclass(cls, tuple) else ()


def _is_required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _forms_by_annotation(atoms: tuple) -> tuple[str, ...] | None:
    """The forms that the annotation of a parameter names; None where it names none of ours."""
    forms: list[str] = []
    for atom in atoms:
        if isinstance(atom, ArrayAtom):
            forms += ["vector", "matrix", "square", "positive definite", "columns", "rows"]
            if issubclass(atom.scalar, np.complexfloating):
                forms.append("complex")
        elif isinstance(atom, ClassAtom) and issubclass(atom.cls, np.ndarray):
            forms += ["vector", "matrix", "square", "positive definite", "columns", "rows"]
        elif isinstance(atom, ClassAtom) and atom.cls in (float, np.float64):
            forms.append("number")
        elif isinstance(atom, ClassAtom) and atom.cls is complex:
            forms += ["number", "complex"]
        elif isinstance(atom, ClassAtom) and atom.cls in (int, np.integer):
            forms.append("integer")
        elif isinstance(atom, ClassAtom) and atom.cls in (list, tuple):
            forms.append("list")
    return tuple(dict.fromkeys(forms)) or None


NARROWER = ((-math.inf, math.inf), (0.0, math.inf), (0.0, 1.0), (1.0, math.inf), (-1.0, 1.0), (0.0, 0.25))
"""The intervals that are tried in turn where a function refuses the numbers it is given."""


def narrowed(kinds: tuple[Kind, ...]) -> Iterator[tuple[Kind, ...]]:
    """The same kinds over smaller and smaller domains."""
    for low, high in NARROWER:
        yield tuple(
            dataclasses.replace(k, low=low, high=high)
            if k.low == -math.inf and k.high == math.inf and k.form != "integer"
            else k
            for k in kinds
        )


# --- more points ------------------------------------------------------------------------------------------


def landmarks(codes: Iterable[types.CodeType]) -> tuple[float, ...]:
    """The numbers that stand in some code, where its branches may part; zero is always one."""
    found = {0.0}
    for code in codes:
        for constant in code.co_consts:
            if isinstance(constant, (int, float)) and not isinstance(constant, bool) and abs(constant) < 1e6:
                found.add(float(constant))
    return tuple(sorted(found, key=abs))


def compared(codes: Iterable[types.CodeType]) -> tuple[float, ...]:
    """The numbers other than zero with which some code compares: there its branches do part.

    >>> compared([(lambda h: 6.5 * h if h < 11 else 216.65).__code__])
    (11.0,)
    """
    found: dict[float, None] = {}
    for code in codes:
        operations = list(dis.get_instructions(code))
        for before, operation in itertools.pairwise(operations):
            value: Any = before.argval if before.opname == "LOAD_CONST" else None
            is_number = type(value) in (int, float) and value and abs(value) < 1e6
            if operation.opname == "COMPARE_OP" and is_number:
                found[float(value)] = None
    return tuple(found)


def near(args: tuple, landmark: float, rng: np.random.Generator) -> Iterator[tuple]:
    """The same arguments twice, with each number moved first to one side of a landmark, then to the other,
    not far from it."""
    size = to_vec(args)[0].size
    sides = rng.choice([-1.0, 1.0], size)
    for signs in (sides, -sides):
        left = iter(signs * rng.uniform(0.0625, 0.5, size) * max(1.0, abs(landmark)) * 0.5)

        def moved(vector: np.ndarray, away: Iterator[float] = left) -> np.ndarray:
            return _few_digits(landmark + np.array(list(itertools.islice(away, vector.size))))

        yield revalued(args, moved)


def beyond(args: tuple, landmark: float, rng: np.random.Generator) -> tuple:
    """The same arguments with all numbers on the other side of zero, further away than a landmark."""
    size = abs(landmark)
    return revalued(args, lambda vector: _few_digits(-size * rng.uniform(1.0625, 1.5, vector.size)))


def mirrored(args: tuple) -> Iterator[tuple]:
    """The same arguments, in each one of them with the other sign."""
    for i, x in enumerate(args):
        if to_vec(x)[0].size:
            yield (*args[:i], *revalued((x,), np.negative), *args[i + 1 :])


def exactly(args: tuple, mark: float) -> Iterator[tuple]:
    """The same arguments, in each the first number of one of them exactly a landmark."""

    def first(vector: np.ndarray) -> np.ndarray:
        return np.concatenate([[mark], vector[1:]])

    for i, x in enumerate(args):
        if to_vec(x)[0].size:
            yield (*args[:i], *revalued((x,), first), *args[i + 1 :])


def with_all_digits(args: tuple, rng: np.random.Generator) -> tuple:
    """The same arguments, each times a number close to one: not in single precision any more, but still
    symmetric where they were."""
    return revalued(args, lambda vector: vector * (1.0 + rng.uniform(0.25, 1.0) * 2.0**-13))


def narrow_gaps(landmarks: Iterable[float]) -> Iterator[tuple[float, float]]:
    """Neighbours among numbers of some code that lie too close together for a point of `near` to come
    between them, though not as close as rounding.

    >>> list(narrow_gaps((0.0, 1.0, 1.0001, -2.0)))
    [(1.0, 1.0001)]
    """
    for low, high in itertools.pairwise(sorted(landmarks)):
        size = max(1.0, abs(low), abs(high))
        if 1e-6 * size < high - low <= 0.0625 * size:
            yield low, high


def between(args: tuple, low: float, high: float, rng: np.random.Generator) -> tuple:
    """The same arguments with their numbers moved to between two others."""
    return revalued(args, lambda vector: low + (high - low) * rng.uniform(0.25, 0.75, vector.size))


def jittered(args: tuple, rng: np.random.Generator, flips: bool = False, scale: float = 1.0) -> tuple:
    """The same arguments with every number multiplied by another between 0.6 and 1.4 (and `scale`)."""

    def moved(vector: np.ndarray) -> np.ndarray:
        factors = scale * rng.uniform(0.6, 1.4, vector.size)
        if flips:
            signs = rng.choice([-1.0, 1.0], vector.size)
            signs[rng.integers(vector.size)] = -1.0
            # A single number is as far from zero as before: nearer, it may be in another branch.
            factors = factors * signs if vector.size > 1 else -np.ones(1)
        zero = vector == 0
        return _few_digits(np.where(zero, rng.uniform(-1.0, 1.0, vector.size) * scale, vector * factors))

    return revalued(args, moved)


def tied(args: tuple, rng: np.random.Generator) -> tuple:
    """The same arguments in which some numbers are equal: within an argument, and between arguments."""
    pool: list[float] = []

    def moved(vector: np.ndarray) -> np.ndarray:
        if not pool:
            pool.extend(vector[:2])
        return rng.choice(np.array(pool), vector.size) if pool else vector

    return revalued(args, moved)


def in_pairs(args: tuple) -> tuple:
    """The same arguments in which each second number is the one before it: of its own argument, so that it is
    in the domain of that.
    """

    def moved(vector: np.ndarray) -> np.ndarray:
        return np.repeat(vector[::2], 2)[: vector.size]

    return revalued(args, moved)


def nudged(args: tuple, rng: np.random.Generator) -> tuple:
    """The same arguments, each number moved by about one last digit of its dtype, equal ones apart: a rule
    may do another thing where numbers are equal, and is to be asked beside that.
    """
    found = []
    digits = _digits_apart(np.concatenate([np.zeros(0), *(to_vec(x)[0] for x in args)]), rng)
    for x in args:
        vector, back = to_vec(x)
        eps = np.finfo(x.dtype).eps if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else 2.0**-52
        mine, digits = np.split(digits, [vector.size])
        moved = back(vector * (1.0 + eps * mine))
        found.append(laid_out_like(x, moved))  # it may be what a rule goes wrong with
    return tuple(found)


def _digits_apart(numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """By how many last digits to move each number, so that no two that are equal stay so."""
    digits = rng.choice([-1.0, 1.0, 2.0], numbers.size)
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(sizes > 1):
        digits[group == number] = rng.permutation(sizes[number]) - sizes[number] // 2 + rng.choice([0.0, 1.0])
    return digits


def opposed(args: tuple, others: tuple, kinds: tuple[Kind, ...]) -> tuple:
    """The same arguments, the first number of each with another sign than in the others, where its kind has
    both signs.
    """
    found = []
    for x, other, kind in zip(args, others, kinds):
        (vector, back), reference = to_vec(x), to_vec(other)[0]
        free = kind.low == -math.inf and kind.high == math.inf and kind.form != "positive definite"
        same = vector.size and reference.size and vector[0] * reference[0] > 0
        found.append(back(-vector) if free and same else x)
    return tuple(found)


def all_equal(args: tuple) -> tuple:
    """The same arguments in which all numbers are the first one that is not zero."""
    numbers = to_vec(args)[0]
    first = [*numbers[numbers != 0], 1.0][:1]
    return revalued(args, lambda vector: np.resize(first, vector.size))


def revalued(args: tuple, moved: Callable[[np.ndarray], np.ndarray]) -> tuple:
    """Copies of arguments whose numbers are those that `moved` makes of theirs, argument by argument."""
    found = []
    for x in args:
        vector, back = to_vec(x)
        found.append(back(moved(vector)) if vector.size else copy.deepcopy(x))
    return tuple(found)


def in_float32(args: tuple) -> tuple | None:
    """The same arguments in single precision; None if there is no double among them that can be."""
    found = tuple(_single(x) for x in args)
    return found if any(f is not x for f, x in zip(found, args)) else None


def _single(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype in (np.float64, np.complex128):
        return x.astype(np.float32 if x.dtype == np.float64 else np.complex64)
    return x


def laid_out_otherwise(args: tuple, how: str = "gaps") -> tuple | None:
    """The same arguments with their arrays in Fortran order and with gaps between elements, or `how`
    "backwards" or "transposed" in memory; None without arrays that can lie so.
    """
    least = 2 if how == "transposed" else 1
    found = tuple(
        _LAYOUTS[how](x) if isinstance(x, np.ndarray) and x.size > 1 and x.ndim >= least else x for x in args
    )
    return found if any(f is not x for f, x in zip(found, args)) else None


def fresh(args: tuple) -> tuple:
    """Copies of arguments that lie in memory as these do."""
    return tuple(laid_out_like(x, copy.deepcopy(x)) for x in args)


def laid_out_like(x: Any, other: Any) -> Any:
    """`other`, which if it is an array as `x` is lies in memory as that does."""
    if not (isinstance(x, np.ndarray) and isinstance(other, np.ndarray)) or other.size < 2:
        return other
    if x.flags.c_contiguous or x.size < 2:
        return other
    how = "backwards" if min(x.strides) < 0 else "transposed" if x.flags.f_contiguous else "gaps"
    return _LAYOUTS[how](other)


def _with_gaps(x: np.ndarray) -> np.ndarray:
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype, order="F")
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


def _backwards(x: np.ndarray) -> np.ndarray:
    turned = tuple(slice(None, None, -1) for _ in x.shape)
    return x[turned].copy()[turned]


_LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gaps": _with_gaps,
    "backwards": _backwards,
    "transposed": lambda x: x.T.copy().T,
}


def own_copies(args: tuple) -> tuple:
    """What `copy.deepcopy` makes of arguments, in a fraction of its time where all are numbers, words, or
    arrays of numbers: a function is called thousands of times for the truth about one rule.
    """
    copies = []
    for x in args:
        if type(x) is np.ndarray and not x.dtype.hasobject:
            copies.append(x.copy("K"))
        elif type(x) in _UNCHANGING:
            copies.append(x)
        else:
            return copy.deepcopy(args)
    if len(args) > 1 and len(set(map(id, args))) < len(args):
        return copy.deepcopy(args)  # an array that is handed over twice is one array in the copies, too
    return tuple(copies)


_UNCHANGING = {float, int, complex, bool, str, bytes, type(None), np.float64, np.complex128, np.int64}


HEEDED = (UserWarning, RuntimeWarning, DeprecationWarning)
"""Warnings by which a function may say that it is not meant for some arguments."""


def vouched(
    primal: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    heeded: Iterable[type[Warning]] = HEEDED,
) -> Any:
    """As `plainly`, but the function's own warnings are raised: that an integral or an iteration did not come
    to its end, that arguments of this shape (`np.cross` of vectors of two) are on their way out. What NumPy
    says about floats counts for nothing.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for category in heeded:
            warnings.simplefilter("error", category)
        return primal(*own_copies(args), **(copy.deepcopy(dict(kwargs)) if kwargs else {}))


def heard(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[Any, tuple[type[Warning], ...]]:
    """As `plainly`, and which of the warnings that may be heeded the function gave."""
    with warnings.catch_warnings(record=True) as said, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        y = primal(*own_copies(args), **(copy.deepcopy(dict(kwargs)) if kwargs else {}))
    return y, tuple(kind for kind in HEEDED if any(issubclass(each.category, kind) for each in said))


class _Silence(threading.local):
    """How many times a thread has asked for silence."""

    depth = 0


_SILENCE = _Silence()


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Keeps warnings silent for all of many calls by `plainly`, which does so for each alone else."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _SILENCE.depth += 1
        try:
            yield
        finally:
            _SILENCE.depth -= 1


def plainly(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """The value of a function for copies of these arguments, its warnings kept silent."""
    if _SILENCE.depth:
        return primal(*own_copies(args), **(copy.deepcopy(dict(kwargs)) if kwargs else {}))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return primal(*own_copies(args), **(copy.deepcopy(dict(kwargs)) if kwargs else {}))


def plainly_lent(primal: Callable, args: tuple, kwargs: Mapping[str, Any]) -> Any:
    """As `plainly`, for arguments that were made for this call alone: the function may write into them."""
    if _SILENCE.depth and not kwargs:
        return primal(*args)
    return plainly(primal, args, kwargs)


def are_unshared(args: tuple) -> bool:
    """Whether arguments are numbers, words and arrays of numbers alone, which hold nothing of each other."""
    return all(type(x) in _UNCHANGING or (type(x) is np.ndarray and not x.dtype.hasobject) for x in args)
