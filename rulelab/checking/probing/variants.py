"""Variants of a point, in forms that users may have: in single precision, with another memory layout, in
whole numbers, at other lengths, in complex numbers.
"""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from ...tangents.thunks import unthunk
from ..calling.subjects import Subject, codes_of, helper_codes, raw_pullback
from ..measuring.vectors import leaves, parts_and_rebuild, shape_of, to_vec
from ..reading.kinds_taken import fields_of
from ..reading.stated_kinds import numbers_said, real_said
from ..reading.usage import complex_by_use, speaks_of_complex, takes_size_of_overlap
from .forms import conformed
from .perturb import few_digits, fresh, in_float32, laid_out_otherwise, landmarks, revalued
from .probes import Point, without_warnings

LAYOUTS = {
    "gaps": "with gaps in memory",
    "backwards": "reversed in memory",
    "transposed": "transposed in memory",
}
IN_COMPLEX, OF_MATRICES = "near the first, in complex numbers", "of matrices for vectors"
LENGTHS = (2, 4, 7)
"""Lengths that arguments are changed to, one axis after the other."""
LONGEST = 41
"""Numbers in the code are tried as lengths if they are smaller than this."""
MOST_APART = 12
"""Up to how many whole numbers are made different: with more, the largest would be too large for many
functions.
"""
OBLONG = (2, 3)
"""The shape of the matrix that replaces a vector if axes are to be distinguished."""
MATRIX = (3, 3)
"""The shape of the matrix that replaces a vector: with another one, a matrix product would be refused."""
MOST_NUMBERS = 400
"""How many numbers the arguments may have at a point with other lengths."""
_OF_LENGTHS = frozenset(("len", "shape", "size", "ndim"))


def has_arrays(point: Point) -> bool:
    """Whether one of the inputs is an array with numbers that can vary."""
    return any(isinstance(x, np.ndarray) and x.ndim and to_vec(x)[0].size for x in point.floats)


def same_numbers(point: Point, y: Any) -> Iterator[Point]:
    """The same numbers in single precision, and with other memory layouts. Cotangents of the value `y` get
    the layout of the arrays, and are transposed separately if the arrays cannot be.
    """
    single = in_float32(point.inputs)
    turned = [(words, laid_out_otherwise(point.inputs, how)) for how, words in LAYOUTS.items()]
    for words, inputs in (("in single precision", single), *turned):
        if inputs is not None:
            held = tuple(point.inputs[i] if i in point.constant else x for i, x in enumerate(inputs))
            yield point.having(held, f"the first, {words}", edge=inputs is single)
    if turned[-1][1] is None and laid_out_otherwise((y,), "transposed") is not None:
        yield point.having(point.inputs, "the first, cotangents transposed in memory", turned=True)


def with_keys_turned(point: Point) -> Iterator[Point]:
    """The point with the keys of one dict in reverse order, if other dicts have the same keys: a function
    that looks keys up has the same value there.

    >>> shares, prices = {"a": 0.25, "b": 0.75}, {"a": 2.0, "b": 4.0}
    >>> [list(point.inputs[1]) for point in with_keys_turned(Point((shares, prices), {}, "drawn"))]
    [['b', 'a']]
    """
    dicts = [i for i, x in enumerate(point.inputs) if type(x) is dict and len(x) > 1]
    if len({frozenset(point.inputs[i]) for i in dicts}) == 1 < len(dicts):
        turned = dict(reversed(point.inputs[dicts[-1]].items()))
        inputs = (*point.inputs[: dicts[-1]], turned, *point.inputs[dicts[-1] + 1 :])
        yield point.having(inputs, "the first, with keys in another order")


def in_floats(point: Point, whole: tuple | None = None) -> Point:
    """The point with its numbers moved to whole numbers, as floats. Each moves away from zero, and not to 1,
    which hides mistakes. No two become equal, since the function may have a kink at a tie. Their mean is not
    a whole number.
    """
    if whole is not None:
        inputs = tuple(map(_as_floats, whole))
    else:
        inputs = revalued(point.floats, _further_from_zero)
    return point.moved(inputs, "near the first, whole numbers as floats")


def _as_floats(x: Any) -> Any:
    """The whole numbers of an argument as floats, also in lists, tuples and dicts; flags, strings and the
    like stay.
    """
    if isinstance(x, np.ndarray):
        return np.asarray(x, float) if x.dtype.kind in "iuf" else x
    if type(x) in (list, tuple):
        return type(x)(map(_as_floats, x))
    if type(x) is dict:
        return {key: _as_floats(value) for key, value in x.items()}
    is_number = isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)
    return float(x) if is_number else x


def _further_from_zero(vector: np.ndarray) -> np.ndarray:
    found = np.where(vector < 0, np.floor(vector) - 1, np.ceil(vector) + 1)
    if vector.size > MOST_APART:
        return found
    for sign in (1.0, -1.0):
        last = 0.0
        for i in (int(i) for i in np.argsort(np.abs(vector), kind="stable") if found[i] * sign > 0):
            last = max(last + 1.0, abs(found[i]))
            found[i] = sign * last
    if vector.size > 1 and np.sum(found) % vector.size == 0:
        furthest = np.argmax(np.abs(found))
        found[furthest] += np.sign(found[furthest])
    return found


def in_whole_numbers(point: Point) -> Point | None:
    """A point of whole numbers with integer arrays and ints in place of floats; None if nothing changes."""
    inputs = tuple(x if i in point.constant else _whole(x) for i, x in enumerate(point.inputs))
    if all(new is old for new, old in zip(inputs, point.inputs)):
        return None
    return point.having(inputs, "near the first, in whole numbers", like=point.inputs)


def one_in_floats(point: Point, fewest: int = 2) -> Iterator[tuple[int, Point]]:
    """For each of several arrays, its position and the point with only this array moved to whole numbers, as
    floats: a buffer made like it truncates the fractions of the others. Nothing if there are fewer than
    `fewest` arrays.
    """
    arrays = [i for i, x in enumerate(point.floats) if i not in point.constant and _is_of_floats(x)]
    for i in arrays if len(arrays) >= fewest else ():
        whole = revalued((point.floats[i],), _further_from_zero)
        inputs = (*point.floats[:i], *whole, *point.floats[i + 1 :])
        yield i, point.moved(inputs, "near the first, whole numbers as floats")


def one_in_whole_numbers(point: Point, position: int) -> Point:
    """A point with the whole numbers of one array as integers."""
    inputs = [_whole(x) if i == position else x for i, x in enumerate(point.inputs)]
    return point.having(tuple(inputs), "near the first, in whole numbers", like=point.inputs)


def in_order(point: Point) -> Point | None:
    """The point with its vectors sorted; None if they are. A function of differences may be flat where they
    change sign, and a buffer of zeros is right there.
    """
    inputs = tuple(np.sort(x) if isinstance(x, np.ndarray) and x.ndim == 1 else x for x in point.floats)
    if all(new is old or np.array_equal(new, old) for new, old in zip(inputs, point.floats)):
        return None
    return point.moved(inputs, point.origin)


def _whole(x: Any) -> Any:
    """Whole numbers as integers, in arrays and for floats; inside lists and tuples only in arrays."""
    if type(x) in (list, tuple):
        parts = [_whole(part) if isinstance(part, (np.ndarray, list, tuple)) else part for part in x]
        return x if all(new is old for new, old in zip(parts, x)) else type(x)(parts)
    if _is_of_floats(x):
        is_whole = np.all((np.abs(x) < 2.0**31) & (x == np.round(x)))
        return x.astype(np.int64) if is_whole else x
    return int(x) if type(x) is float and abs(x) < 2.0**31 and x == round(x) else x


def with_fractions(floats: Point, point: Point) -> Point | None:
    """The point of whole numbers, with the numbers of another point beside its arrays, or slightly more if
    these are whole: a buffer made like an array truncates their fractions. None if there are not both arrays
    and numbers.
    """
    numbers = [type(x) is float and i not in floats.constant for i, x in enumerate(floats.inputs)]
    if not any(numbers) or not has_arrays(floats):
        return None
    pairs = zip(floats.inputs, point.inputs, numbers)
    inputs = tuple(_with_a_fraction(mine) if is_number else x for x, mine, is_number in pairs)
    return floats.moved(inputs, floats.origin)


def _with_a_fraction(x: Any) -> Any:
    """A number, with a fraction added to a whole float. An int stays, since it may be an order or a count."""
    return x + 0.25 if type(x) is float and x.is_integer() else x


def mentions_complex(subject: Subject) -> bool:
    """Whether the code of the function or of its rule mentions complex numbers."""
    return speaks_of_complex((*subject.codes, *subject.helpers)) or takes_size_of_overlap(subject.primal)


def is_called_complex_by_rule(subject: Subject) -> bool:
    """Whether the rule mentions complex numbers, while the function and its helpers do not."""
    codes = (*codes_of(subject.primal), *helper_codes(subject.primal))
    return mentions_complex(subject) and not speaks_of_complex(codes)


def makes_complex(subject: Subject) -> bool:
    """Whether a function makes complex numbers from its arguments, `1j * w`, or its rule does so in order to
    rotate points in the plane: then the arguments are real.
    """
    codes = codes_of(subject.primal)
    if is_called_complex_by_rule(subject) and not may_be_spectra(subject):
        codes = subject.codes
    return any(isinstance(c, complex) for code in codes for c in code.co_consts)


def may_be_spectra(subject: Subject) -> bool:
    """Whether a function calls a Fourier transform."""
    return any("fft" in name for code in codes_of(subject.primal) for name in code.co_names)


def may_be_complex(subject: Subject, point: Point) -> list[int]:
    """The positions of inputs that may be complex while others are real. An array may be a spectrum if the
    function calls a Fourier transform; and if only the rule mentions complex numbers, they come from the
    arguments.
    """
    codes = codes_of(subject.primal)
    if may_be_spectra(subject):
        return [i for i, x in enumerate(point.inputs) if isinstance(x, np.ndarray) and x.ndim]
    is_said = mentions_complex(subject) and not speaks_of_complex((*codes, *subject.helpers))
    return list(range(len(point.inputs))) if is_said else []


def meant_complex(subject: Subject) -> frozenset[int]:
    """The positions of the inputs whose complex parts the function or its rule takes, or that the annotations
    of the function call complex.
    """
    names = [name for author in subject.authors for name in complex_by_use(author)]
    return annotated_complex(subject) | {i for i, name in enumerate(subject.names) if name in names}


def annotated_complex(subject: Subject) -> frozenset[int]:
    """The positions of the inputs that the annotations of the function call complex."""
    kinds = numbers_said(subject.primal)
    called = {name for name, kind in kinds.items() if kind.dtype == "complex128"}
    return frozenset(i for i, name in enumerate(subject.names) if name in called)


_CALLED_COMPLEX = frozenset(("z", "zs", "z1", "z2", "Z"))


def called_complex(subject: Subject) -> frozenset[int]:
    """The positions of the inputs that are named like a complex number."""
    return frozenset(i for i, name in enumerate(subject.names) if name in _CALLED_COMPLEX)


def meant_real(subject: Subject, point: Point) -> frozenset[int]:
    """The positions of the inputs that are stated to be real, annotated as float, or compared with others by
    size.
    """
    floats = {name for name, kind in numbers_said(subject.primal).items() if kind.dtype == "float64"}
    compared = {name for relation in point.related.relations for name in relation.names}
    real = floats | compared | real_said(subject.primal)
    named = {i for i, name in enumerate(subject.names) if name in real}
    return frozenset(named)


def answered_as_real(subject: Subject, point: Point, y: Any) -> list[int]:
    """The positions of the inputs for which a rule returns a real cotangent for a complex cotangent of the
    value `y`.
    """
    if subject.reverse is None:
        return []
    with contextlib.suppress(Exception), without_warnings():
        _, back = subject.reverse(*fresh(point.inputs), **point.kwargs)
        bars = raw_pullback(back)(revalued((y,), lambda vector: vector + 1.0)[0])
        own = bars[max(0, len(bars) - len(point.inputs)) :]
        return [i for i, bar in enumerate(map(unthunk, own)) if _is_real(bar)]
    return []


def _is_real(bar: Any) -> bool:
    found = leaves(bar)
    return bool(found) and not any(leaf.dtype.kind == "c" for leaf in found)


def in_complex(
    point: Point,
    rng: np.random.Generator,
    positions: frozenset[int] | None = None,
    real: frozenset[int] = frozenset(),
) -> Point | None:
    """The point with an imaginary part added to each float and each array, also in objects. Only inputs at
    `positions` are changed if these are given; inputs with bounds, and those that are `real`, stay. None if
    nothing changes.
    """
    bounded = {i for i, (low, high) in enumerate(point.bounds) if low > -np.inf or high < np.inf}
    real = real | bounded

    def one(i: int, x: Any) -> Any:
        if i in point.constant or i in real or positions is not None and i not in positions:
            return x
        if _is_of_floats(x):
            found = _with_imaginary_parts(x, rng)
            return conformed(point.forms[i], found) if point.symmetric(i) else found
        if fields_of(type(x)):
            return _record_in_complex(x, rng)
        return complex(x, rng.integers(1, 9) / 4) if type(x) is float else x

    inputs = tuple(one(i, x) for i, x in enumerate(point.floats))
    if all(new is old for new, old in zip(inputs, point.floats)):
        return None
    return point.moved(inputs, IN_COMPLEX)


def _is_of_floats(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == np.float64


def _with_imaginary_parts(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + 1j * rng.choice([-1.0, 1.0], x.shape) * rng.integers(1, 9, x.shape) / 4


def _record_in_complex(x: Any, rng: np.random.Generator) -> Any:
    """An object with imaginary parts in all its arrays, while its numbers stay real; unchanged if it refuses
    complex arrays.
    """
    parts = {name: getattr(x, name) for name in fields_of(type(x))}
    turned = {name: _with_imaginary_parts(a, rng) for name, a in parts.items() if _is_of_floats(a)}
    replaced = getattr(x, "_replace", None) or partial(dataclasses.replace, x)
    try:
        return replaced(**turned) if turned else x
    except Exception:
        return x


def smaller_in_complex(point: Point) -> Point:
    """The point with each complex number divided by four, and all others unchanged."""
    inputs = tuple(x / 4 if isinstance(x, complex) or _is_complex(x) else x for x in point.floats)
    return point.moved(inputs, "near the first, in smaller complex numbers")


def _is_complex(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind == "c"


def of_other_lengths(
    point: Point,
    codes: Iterable[types.CodeType],
    rng: np.random.Generator,
    usual: Iterable[int] = LENGTHS,
) -> Iterator[Point]:
    """The point with other lengths: for each length, all axes that have it get a new one.

    The new lengths are a few `usual` ones, and those on both sides of a number in the code. After the first,
    all axes get the same length, because a rule may treat square matrices differently. Lengths that the
    function states as numbers stay. What it cuts into a number of parts, each as long as something else,
    keeps its ratio to that length.
    """
    codes = tuple(codes)
    there = sorted(dict.fromkeys(_free_lengths(point)))
    marked = tuple(_lengths_in(codes))
    matrices = any(isinstance(x, np.ndarray) and x.ndim > 1 for x in point.floats)
    square = iter([_all_of_one_length(point, there, rng)] if len(there) > 1 and matrices else [])
    cut = {n: (part, n // part) for part in there for n in there if n // part * part == n != part}
    cut = {n: of for n, of in cut.items() if of[1] in _numbers_of_parts(codes)}
    for new in (*usual, *marked):
        for old in there:
            if new == old or (new in there and len(there) > 1) or old in cut:
                continue
            inputs = point.floats
            for n, times in [*((n, times) for n, (part, times) in cut.items() if part == old), (old, 1)]:
                if new * times != old:
                    inputs = tuple(_resized(point, i, x, n, new * times, rng) for i, x in enumerate(inputs))
            if to_vec(inputs)[0].size <= MOST_NUMBERS:
                yield point.having(inputs, f"of length {new} instead of {old}")
                yield from square


def _all_of_one_length(point: Point, there: list[int], rng: np.random.Generator) -> Point:
    inputs, new = point.floats, min(there)
    for old in there:
        inputs = tuple(_resized(point, i, x, old, new, rng) for i, x in enumerate(inputs))
    return point.having(inputs, f"all of length {new}")


def along_other_axes(point: Point, names: tuple[str, ...], keyword: Any = ...) -> Iterator[Point]:
    """The point with each other `axis`, if this is a default among the inputs or a `keyword` with this
    default, and there are matrices. If the default is None, both axes are tried.
    """
    if not any(isinstance(x, np.ndarray) and x.ndim == 2 for x in point.floats):
        return
    position = names.index("axis") if "axis" in names else -1
    default = keyword if position < 0 else point.inputs[position]
    if default is not None and (type(default) is not int or not -2 <= default < 2):
        return
    for axis in (0, 1) if default is None else (1 - default % 2,):
        words = f"along axis {axis}"
        if position < 0:
            moved = point.having(point.floats, words)
            yield dataclasses.replace(moved, kwargs={**point.kwargs, "axis": axis})
        else:
            yield point.having((*point.floats[:position], axis, *point.floats[position + 1 :]), words)


def along_each_axis(point: Point, names: tuple[str, ...]) -> Iterator[Point]:
    """The point with each other value of `axis` that its arrays allow, and with each of its flags negated,
    among the inputs and the keywords.
    """
    ranks = max((x.ndim for x in point.floats if isinstance(x, np.ndarray)), default=0)

    def others(name: str, x: Any) -> Iterable[int]:
        if type(x) is bool:
            return (not x,)
        is_axis = name == "axis" and type(x) is int
        return [axis for axis in range(ranks) if axis != x % ranks] if is_axis else ()

    for i, (name, x) in enumerate(zip(names, point.inputs)):
        for other in others(name, x):
            inputs = (*point.floats[:i], other, *point.floats[i + 1 :])
            yield point.having(inputs, f"with {name} = {other}")
    for name, x in point.kwargs.items():
        for other in others(name, x):
            keywords = {**point.kwargs, name: other}
            yield point.having(point.floats, f"with {name} = {other}", kwargs=keywords)


COUNTS = (2, 3)
"""The whole numbers that a count is changed to."""
DIVISIBLE = 6
"""A length that is a multiple of these: a function may cut an array into so many parts."""


def with_other_counts(point: Point, positions: Iterable[int], rng: np.random.Generator) -> Iterator[Point]:
    """The point with other whole numbers at some positions, one at a time, and with the arrays resized along
    one length after the other to a multiple of these; finally with the arrays as they are.
    """
    for i in positions:
        for count in COUNTS:
            if point.inputs[i] != count:
                words = f"of {count} for {point.inputs[i]}"
            else:
                words = f"of {count} in {DIVISIBLE}"
            for old in (*dict.fromkeys(_free_lengths(point)), 0):
                inputs = [_resized(point, j, x, old, DIVISIBLE, rng) for j, x in enumerate(point.floats)]
                inputs = [_below(x, point.inputs[i], count) for x in inputs]
                inputs[i] = count
                if to_vec(tuple(inputs))[0].size <= MOST_NUMBERS:
                    yield point.having(tuple(inputs), words)


def _below(x: Any, old: Any, count: int) -> Any:
    """Labels that were all below the old count, reduced below the new one: of three groups there is no
    fourth.
    """
    are_whole = isinstance(x, np.ndarray) and x.dtype.kind in "iu" and x.size
    return x % count if are_whole and count <= np.max(x) < old else x


LARGER = 7
"""A count that is larger than those drawn, and than the number of terms that a rule with too few may have."""
LARGEST, LARGEST_ALONE = 12, 64
"""Numbers in the code from which on no larger count is tried: the first one if arrays get as long as the
count, the second one otherwise (a payment ramp of 30 months ends below it).
"""
MARKS = 3
"""How many numbers of the code the counts are to exceed."""


def with_larger_counts(
    point: Point,
    names: Mapping[int, str],
    codes: Iterable[types.CodeType],
    rng: np.random.Generator,
    stay: bool,
) -> Iterator[Point]:
    """The point with the whole numbers of these names, by position, all increased by the same amount, so that
    they stay in order, and with only the largest increased. Unless arrays `stay` as they are, they are made
    longer than these numbers; nothing if there are matrices, or vectors of several lengths.
    """
    counts = {i: point.inputs[i] for i in names}
    if not counts:
        return
    largest = LARGEST if has_arrays(point) and not stay else LARGEST_ALONE
    marks = sorted({int(m) for m in landmarks(codes) if m == int(m) and LARGER <= m < largest})
    first, last = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    for new in (LARGER, *(mark + 1 for mark in marks[:MARKS])):
        moved = [(i, n + new - counts[first]) for i, n in counts.items()]
        for larger in (moved, [(last, new)])[: 1 + (len(counts) > 1)]:
            inputs: list[Any] | None = list(point.floats)
            if not stay and has_arrays(point):
                inputs = _all_longer(point, max(n for _, n in larger) + 2, rng)
            if inputs is not None:
                for i, n in larger:
                    inputs[i] = n
                words = " and ".join(f"{names[i]} = {n}" for i, n in larger)
                yield point.having(tuple(inputs), f"with {words}")


def _all_longer(point: Point, length: int, rng: np.random.Generator) -> list[Any] | None:
    """The inputs with all vectors resized to this length; None if there are matrices, or vectors of several
    lengths.
    """
    shapes = {x.shape for x in point.floats if isinstance(x, np.ndarray) and x.ndim}
    if len(shapes) != 1 or any(len(shape) > 1 for shape in shapes):
        return None
    old = min(shapes)[0]
    found = [_resized(point, i, x, old, length, rng) for i, x in enumerate(point.floats)]
    return found if all(shape_of(x) in ((), (length,)) for x in found) else None


def with_numbers_for_none(
    point: Point, names: tuple[str, ...], first: int, rng: np.random.Generator
) -> Iterator[tuple[int, Point]]:
    """The point with positive numbers for each default that is None, such as the weights of a mean: in the
    shape of the first argument, in that of one row of it, and as a single number; each with the position of
    the default. Names that suggest something else are skipped.
    """
    whole = next((np.shape(x) for x in point.floats if isinstance(x, (float, np.ndarray))), None)
    for i in range(first, len(point.inputs)):
        if point.inputs[i] is None and whole is not None and names[i] not in _NO_NUMBERS:
            several = ((whole, ""), (whole[1:], " like a row"))[: len(whole) or 1]
            for like, words in (*several, ((), " (one)")):
                drawn: Any = rng.uniform(0.5, 1.5, like)
                inputs = (*point.inputs[:i], drawn if like else float(drawn), *point.inputs[i + 1 :])
                yield i, point.having(inputs, f"with numbers{words} for {names[i]}")


def with_arrays_for_numbers(
    point: Point, names: tuple[str, ...], first: int, asked: frozenset[str], rng: np.random.Generator
) -> Iterator[Point]:
    """The point with an array for each default number that the code tests for being an array (`asked`). The
    array has the shape of the first one and numbers of the sign of the default, once with a zero among them.
    """
    arrays = (x for x in point.floats if isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size > 1)
    like = next(arrays, np.zeros(()))
    for i in range(first, len(point.inputs)) if like.ndim else ():
        if names[i] in asked and type(point.inputs[i]) is float and i not in point.constant:
            array = few_digits(rng.uniform(0.5, 1.5, like.shape)) * (np.sign(point.inputs[i]) or 1.0)
            zero = array.copy()
            zero.flat[1] = 0.0
            for numbers, words in ((array, "an array"), (zero, "an array with a zero")):
                inputs = (*point.inputs[:i], numbers, *point.inputs[i + 1 :])
                yield point.having(inputs, f"with {words} for {names[i]}")


_NO_NUMBERS = frozenset(
    """axis axes out where mask dtype rng seed key shape size n num count order mode method name config
    callback state cache labels index indices options""".split()
)


def twice_as_long(point: Point, rng: np.random.Generator) -> Point:
    """The point with float arrays twice as long along each axis."""
    inputs = tuple(
        _drawn_like(x.ravel(), tuple(2 * n for n in x.shape), rng)
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.size
        else x
        for x in point.floats
    )
    return point.having(inputs, "of twice the length")


def as_matrices(
    point: Point, rng: np.random.Generator, shape: tuple[int, int] = MATRIX
) -> tuple[Point, Point] | None:
    """The point with a matrix of this shape in place of each vector, including booleans, and the point with
    vectors of the same numbers; None if the arrays are not vectors of one length.
    """
    arrays = [x for x in point.floats if isinstance(x, np.ndarray) and x.ndim]
    if not arrays or len({x.shape for x in arrays}) > 1 or arrays[0].ndim != 1 or any(point.constant):
        return None
    kinds = [x.dtype.kind if x.size else "" for x in arrays]
    if not set("fc").intersection(kinds) or not set("fcb").issuperset(kinds):
        return None
    inputs = tuple(
        _matrix_like(x, shape, rng) if isinstance(x, np.ndarray) and x.ndim else x for x in point.floats
    )
    flat = tuple(x.ravel() if isinstance(x, np.ndarray) else x for x in inputs)
    return point.having(inputs, OF_MATRICES), point.having(flat, "of vectors")


def _matrix_like(x: np.ndarray, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    if x.dtype.kind != "b":
        return _drawn_like(x, shape, rng)
    flags = np.arange(shape[0] * shape[1]) % 3 != 1  # some of each
    return rng.permutation(flags).reshape(shape)


def _free_lengths(point: Point) -> Iterator[int]:
    """The lengths of the inputs, except for axes whose length the function states as a number."""
    for i, x in enumerate(point.floats):
        held = point.held_axes(i) if isinstance(x, np.ndarray) else frozenset()
        if held:
            yield from (n for axis, n in enumerate(x.shape) if axis not in held and n > 1)
        else:
            yield from _lengths(x)


def _lengths(x: Any) -> Iterator[int]:
    if isinstance(x, np.ndarray):
        yield from (n for n in x.shape if n > 1)
    elif type(x) in (list, tuple):
        for part in x:
            yield from _lengths(part)
    elif type(x) is dict:
        yield from _lengths(tuple(x.values()))


def _lengths_in(codes: Iterable[types.CodeType]) -> Iterator[int]:
    """The whole numbers in code that uses lengths, and the next number above each."""
    codes = [code for code in codes if not _OF_LENGTHS.isdisjoint(code.co_names)]
    marks = sorted({int(m) for m in landmarks(codes) if m == int(m) and 2 <= m < LONGEST})
    yield from dict.fromkeys(n for mark in marks[:3] for n in (mark, mark + 1) if n not in LENGTHS)


_CUTS = frozenset("split array_split hsplit vsplit reshape".split())


def _numbers_of_parts(codes: Iterable[types.CodeType]) -> frozenset[int]:
    """The whole numbers in code that cuts arrays into parts."""
    cutting = [code for code in codes if not _CUTS.isdisjoint(code.co_names)]
    return frozenset(int(mark) for mark in landmarks(cutting) if mark == int(mark) and mark > 1)


def _resized(point: Point, position: int, x: Any, old: int, new: int, rng: np.random.Generator) -> Any:
    """The argument with `new` in place of `old` in its shape, and numbers similar to its own."""
    if type(x) is list and len(x) == old and all(type(part) is int for part in x):
        return _drawn_like(np.array(x), (new,), rng).tolist()
    parts, rebuild = (None, dict) if isinstance(x, types.FunctionType) else parts_and_rebuild(x)
    if parts is not None:
        return rebuild({key: _resized(point, -1, part, old, new, rng) for key, part in parts.items()})
    if not isinstance(x, np.ndarray) or old not in x.shape or not x.size:
        return x
    held = point.held_axes(position)
    shape = tuple(new if n == old and axis not in held else n for axis, n in enumerate(x.shape))
    if shape == x.shape:
        return x
    longer = [axis for axis, n in enumerate(x.shape) if shape[axis] != n]
    if len(longer) == 1 and x.ndim == 2 and x.dtype.kind in "iu":  # the corners of a triangle stay together
        return np.take(x, rng.integers(0, x.shape[longer[0]], new), axis=longer[0])
    found = _drawn_like(x.ravel(), shape, rng)
    if x.ndim == 2 and x.shape[0] == x.shape[1] and shape == (new, new):
        n = np.arange(new)
        found[n, n] = _drawn_like(np.diagonal(x), (new,), rng)
    return conformed(point.forms[position], found) if position >= 0 and point.symmetric(position) else found


def _drawn_like(values: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random choices from these values, each changed a little; integers and the like unchanged."""
    found = rng.choice(values, shape)
    if found.dtype.kind not in "fc":
        return found
    zero = np.abs(values).max(initial=0.0) or 1.0
    moved = np.where(found == 0, zero * rng.uniform(0.1, 0.5, shape), found * rng.uniform(0.6, 1.4, shape))
    return moved.astype(found.dtype)
