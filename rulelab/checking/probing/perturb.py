"""Arguments derived from given ones: at and around numbers of the code, with other signs, with ties, moved by
their last digits, with another memory layout; and random tangents.
"""

from __future__ import annotations

import copy
import dis
import functools
import itertools
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...tangents.zeros import NoTangent
from ..measuring.copies import own_copies
from ..measuring.vectors import to_vec
from ..reading.constants import LOADING, constants_in
from ..reading.kinds import Kind

FARTHEST = 1e6
"""Numbers in code of at least this size are not used as places."""


class WithTangent(NamedTuple):
    """An argument and its tangent in a test; NoTangent makes it a constant."""

    value: Any
    tangent: Any


def with_tangent(x: Any, dx: Any) -> WithTangent:
    """An argument of a test together with its tangent, in place of a random one.

    With `NoTangent()` the argument is a constant of the test: it is not perturbed, and its cotangent is not
    checked.

    >>> with_tangent(2.0, 1.0).tangent
    1.0
    """
    return WithTangent(x, dx)


def rand_tangent(x: Any, rng: np.random.Generator | None = None) -> Any:
    """A random tangent for `x`: two decimals, between -9 and 9, never zero, in the structure of `x`.

    Short decimals make a failing test readable. Arrays keep shape and dtype, complex numbers get both parts.
    Integers, text, functions and everything else that cannot vary get NoTangent(), and so does a structure
    without any numbers.

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


def few_digits(x: np.ndarray) -> np.ndarray:
    """The nearest numbers with eleven binary digits, which are exact in every floating dtype."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 2048) / 2048, exponent)


def are_in_order(args: tuple, pairs: Iterable[tuple[int, int]]) -> bool:
    """Whether all numbers of the first of each pair of arguments are smaller than those of the second; true
    if they cannot be compared.
    """
    for i, j in pairs:
        first, second = args[i], args[j]
        if all(isinstance(x, (int, float, np.ndarray)) for x in (first, second)):
            if np.size(first) and np.size(second) and not np.max(first) < np.min(second):
                return False
    return True


def put_in_order(args: tuple, pairs: Iterable[tuple[int, int]]) -> tuple:
    """The arguments, with the second of each pair raised until all its numbers exceed those of the first."""
    found = list(args)
    for i, j in pairs:
        if not are_in_order(args, [(i, j)]):
            by = np.max(found[i]) - np.min(found[j])
            whole = np.asarray(found[j]).dtype.kind in "iu"  # a whole number stays one
            found[j] = found[j] + (int(np.floor(by)) + 1 if whole else by + 0.5)
    return tuple(found)


def landmarks(codes: Iterable[types.CodeType]) -> tuple[float, ...]:
    """The numbers in some code, at which it may branch; zero is always included.

    >>> landmarks([(lambda x: x * 3.0 if x in (1.0, 2.0) else x).__code__])
    (0.0, 1.0, 2.0, 3.0)
    """
    return tuple(sorted({0.0}.union(*map(_numbers_in, codes)), key=abs))


@functools.lru_cache(maxsize=256)  # each edit of a rule is tried at a hundred points
def _numbers_in(code: types.CodeType) -> frozenset[float]:
    constants = (*constants_in(code), *_looked_for(code))
    numbers = (x for x in constants if isinstance(x, (int, float)) and not isinstance(x, bool))
    return frozenset(float(x) for x in numbers if abs(x) < FARTHEST)


def _looked_for(code: types.CodeType) -> Iterator[Any]:
    """The literals of a tuple or a set that some code tests for membership."""
    for before, operation in itertools.pairwise(dis.get_instructions(code)):
        if operation.opname == "CONTAINS_OP" and isinstance(before.argval, (tuple, frozenset)):
            yield from before.argval


def compared_numbers(codes: Iterable[types.CodeType], named: Mapping[str, float]) -> tuple[float, ...]:
    """The nonzero numbers that some code compares with, or uses as bounds, as in `min`: there it does branch.
    They are literals in the code, or values of its names by `named`.

    >>> compared_numbers([(lambda h: 6.5 * h if h < 11 else 216.65).__code__], {})
    (11.0,)
    >>> compared_numbers([(lambda h: LOW < h).__code__, (lambda h: min(h, 0.5)).__code__], {"LOW": -2.0})
    (-2.0, 0.5)
    """
    return _known(map(_decisive, codes), named)


def equality_numbers(codes: Iterable[types.CodeType], named: Mapping[str, float]) -> tuple[float, ...]:
    """The nonzero numbers that some code compares with by `==` or `!=`.

    >>> equality_numbers([(lambda a, x: x**a if a != 1 else x > 2).__code__], {})
    (1.0,)
    """
    return _known((_decisive(code, ("==", "!=")) for code in codes), named)


def _known(decisive: Iterable[Iterable[float | str]], named: Mapping[str, float]) -> tuple[float, ...]:
    """The nonzero numbers among these and the values of the names among them, each once."""
    every = itertools.chain.from_iterable(decisive)
    values = (named.get(number, 0.0) if isinstance(number, str) else number for number in every)
    return tuple(dict.fromkeys(float(value) for value in values if value and abs(value) < FARTHEST))


@functools.lru_cache(maxsize=256)
def _decisive(code: types.CodeType, by: tuple[str, ...] = ()) -> tuple[float | str, ...]:
    """The numbers and names on either side of a comparison, and the last arguments of calls. With `by`, only
    those of comparisons with these operators.
    """
    found: list[float | str] = []
    operations = [one for one in dis.get_instructions(code) if one.opname not in _BETWEEN]
    has_bounds = not by and not _BOUNDING.isdisjoint(code.co_names)
    for i, operation in enumerate(operations):
        before = operations[max(i - 2, 0) : i][::-1]
        if operation.opname == "COMPARE_OP":  # the left side precedes the right one, if that is one load
            sides = before if before[0].opname.startswith("LOAD_") else before[:1]
            loaded = map(_loaded, sides if not by or operation.argval in by else ())
            found += itertools.chain.from_iterable(loaded)
        elif has_bounds and operation.opname in _CALLS:
            found += itertools.chain.from_iterable(itertools.takewhile(bool, map(_loaded, before)))
    return tuple(number for number in found if number)


def _loaded(operation: dis.Instruction) -> tuple[float | str, ...]:
    """The number that an operation loads, or the names it loads; empty for any other operation."""
    loaded = operation.argval
    if operation.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF") or "LOAD_FAST" in operation.opname:
        return loaded[::-1] if isinstance(loaded, tuple) else (str(loaded),)  # the last one first
    return (loaded,) if operation.opname in LOADING and type(loaded) in (int, float) else ()


_BOUNDING = frozenset("min max minimum maximum fmin fmax clip".split())
_CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_BETWEEN = ("PRECALL", "CACHE", "KW_NAMES")
"""Operations that may come between loading the arguments and the call."""


def moved_near(args: tuple, landmark: float, rng: np.random.Generator) -> Iterator[tuple]:
    """The arguments twice, with each number moved close to a landmark, first on one side of it, then on the
    other.
    """
    size = to_vec(args)[0].size
    sides = rng.choice([-1.0, 1.0], size)
    for signs in (sides, -sides):
        left = iter(signs * rng.uniform(0.0625, 0.5, size) * max(1.0, abs(landmark)) * 0.5)

        def moved(vector: np.ndarray, away: Iterator[float] = left) -> np.ndarray:
            return few_digits(landmark + np.array(list(itertools.islice(away, vector.size))))

        yield revalued(args, moved)


def moved_beyond(args: tuple, landmark: float, rng: np.random.Generator) -> tuple:
    """The arguments with all numbers moved to the negative side of zero, further away than a landmark."""
    size = abs(landmark)
    return revalued(args, lambda vector: few_digits(-size * rng.uniform(1.0625, 1.5, vector.size)))


def mirrored(args: tuple) -> Iterator[tuple]:
    """The arguments with the sign of one of them changed, for each in turn."""
    for i, x in enumerate(args):
        if to_vec(x)[0].size:
            yield (*args[:i], *revalued((x,), np.negative), *args[i + 1 :])


def moved_exactly_to(args: tuple, mark: float) -> Iterator[tuple]:
    """The arguments with the first number of one of them exactly at a landmark, for each in turn."""

    def first(vector: np.ndarray) -> np.ndarray:
        return np.concatenate([[mark], vector[1:]])

    for i, x in enumerate(args):
        if to_vec(x)[0].size:
            yield (*args[:i], *revalued((x,), first), *args[i + 1 :])


def with_all_digits(args: tuple, rng: np.random.Generator) -> tuple:
    """The arguments, each multiplied by a number close to one: they are no longer exact in single precision,
    but still symmetric if they were.
    """
    return revalued(args, lambda vector: vector * (1.0 + rng.uniform(0.25, 1.0) * 2.0**-13))


def narrow_gaps(landmarks: Iterable[float]) -> Iterator[tuple[float, float]]:
    """Neighbours among the numbers of some code that are too close together for a point of `moved_near` to
    lie between them, but further apart than rounding.

    >>> list(narrow_gaps((0.0, 1.0, 1.0001, -2.0)))
    [(1.0, 1.0001)]
    """
    for low, high in itertools.pairwise(sorted(landmarks)):
        size = max(1.0, abs(low), abs(high))
        if 1e-6 * size < high - low <= 0.0625 * size:
            yield low, high


def moved_between(args: tuple, low: float, high: float, rng: np.random.Generator) -> tuple:
    """The arguments with all numbers moved into an interval."""
    return revalued(args, lambda vector: low + (high - low) * rng.uniform(0.25, 0.75, vector.size))


def jittered(args: tuple, rng: np.random.Generator, flips: bool = False, scale: float = 1.0) -> tuple:
    """The arguments with every number multiplied by a factor between 0.6 and 1.4 (and by `scale`); with
    `flips`, signs change too.
    """

    def moved(vector: np.ndarray) -> np.ndarray:
        factors = scale * rng.uniform(0.6, 1.4, vector.size)
        if flips:
            signs = rng.choice([-1.0, 1.0], vector.size)
            signs[rng.integers(vector.size)] = -1.0
            # A single number stays as far from zero as before: closer to it, it may be in another branch.
            factors = factors * signs if vector.size > 1 else -np.ones(1)
        zero = vector == 0
        return few_digits(np.where(zero, rng.uniform(-1.0, 1.0, vector.size) * scale, vector * factors))

    return revalued(args, moved)


def with_ties(args: tuple, rng: np.random.Generator) -> tuple:
    """The arguments with some numbers made equal, within an argument and between arguments."""
    pool: list[float] = []

    def moved(vector: np.ndarray) -> np.ndarray:
        if not pool:
            pool.extend(vector[:2])
        return rng.choice(np.array(pool), vector.size) if pool else vector

    return revalued(args, moved)


def with_equal_pairs(args: tuple) -> tuple:
    """The arguments with each second number equal to the one before it. That is from the same argument, so
    that it is in its domain.
    """

    def moved(vector: np.ndarray) -> np.ndarray:
        return np.repeat(vector[::2], 2)[: vector.size]

    return revalued(args, moved)


def nudged(args: tuple, rng: np.random.Generator, held: tuple[float, ...] = ()) -> tuple:
    """The arguments with each number moved by about one last digit of its dtype, except those that are
    `held`. Equal numbers move differently, because a rule may treat ties specially and is to be called beside
    them.
    """
    found = []
    digits = _digits_apart(np.concatenate([np.zeros(0), *(to_vec(x)[0] for x in args)]), rng)
    for x in args:
        vector, back = to_vec(x)
        eps = np.finfo(x.dtype).eps if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else 2.0**-52
        mine, digits = np.split(digits, [vector.size])
        moved = back(np.where(np.isin(vector, held), vector, vector * (1.0 + eps * mine)))
        found.append(laid_out_like(x, moved))  # the layout may be what makes a rule wrong
    return tuple(found)


def _digits_apart(numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """By how many last digits each number is to be moved, so that no equal numbers stay equal."""
    digits = rng.choice([-1.0, 1.0, 2.0], numbers.size)
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(sizes > 1):
        digits[group == number] = rng.permutation(sizes[number]) - sizes[number] // 2 + rng.choice([0.0, 1.0])
    return digits


def with_opposite_signs(args: tuple, others: tuple, kinds: tuple[Kind, ...]) -> tuple:
    """The arguments, with the sign of each argument changed if its first number has the same sign as in
    `others` and its kind allows both signs.
    """
    found = []
    for x, other, kind in zip(args, others, kinds):
        (vector, back), reference = to_vec(x), to_vec(other)[0]
        free = kind.low == -math.inf and kind.high == math.inf and kind.form != "positive definite"
        same = vector.size and reference.size and vector[0] * reference[0] > 0
        found.append(back(-vector) if free and same else x)
    return tuple(found)


def all_equal(args: tuple) -> tuple:
    """The arguments with all numbers equal to the first nonzero one."""
    numbers = to_vec(args)[0]
    first = [*numbers[numbers != 0], 1.0][:1]
    return revalued(args, lambda vector: np.resize(first, vector.size))


def revalued(args: tuple, moved: Callable[[np.ndarray], np.ndarray]) -> tuple:
    """Copies of the arguments with new numbers: `moved` maps the vector of each argument to the new one."""
    found = []
    for x in args:
        vector, back = to_vec(x)
        found.append(back(moved(vector)) if vector.size else copy.deepcopy(x))
    return tuple(found)


def in_float32(args: tuple) -> tuple | None:
    """The arguments in single precision; None if no array among them is in double precision."""
    found = tuple(_single(x) for x in args)
    return found if any(f is not x for f, x in zip(found, args)) else None


def _single(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype in (np.float64, np.complex128):
        return x.astype(np.float32 if x.dtype == np.float64 else np.complex64)
    return x


def laid_out_otherwise(args: tuple, how: str = "gaps") -> tuple | None:
    """The arguments with another memory layout: "gaps" (in Fortran order and with gaps between elements),
    "backwards" or "transposed". None if there are no arrays to which this applies.
    """
    least = 2 if how == "transposed" else 1
    found = tuple(
        _LAYOUTS[how](x) if isinstance(x, np.ndarray) and x.size > 1 and x.ndim >= least else x for x in args
    )
    return found if any(f is not x for f, x in zip(found, args)) else None


def fresh(args: tuple) -> tuple:
    """Copies of the arguments with the same memory layout."""
    return tuple(laid_out_like(x, own_copies((x,))[0]) for x in args)


def laid_out_like(x: Any, other: Any) -> Any:
    """`other`, with the memory layout of `x` if both are arrays."""
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
