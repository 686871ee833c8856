"""The answer of a rule at given arguments, as plain numbers, and how far differences are from it."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checking.calling.subjects import subject_of
from ..checking.measuring.configs import ad_config
from ..checking.measuring.difference_methods import central_fdm
from ..checking.measuring.vectors import cotangent_like, cotangent_vec, to_vec
from ..checking.probing.forms import symmetric_part
from ..rules.registry import DEFAULT, Registry
from ..tangents.zeros import NoTangent

MOST_COLUMNS = 24
"""Up to this many numbers of the arguments are moved one by one; beyond that, in random directions."""


@dataclass(frozen=True)
class Answer:
    """The value of a function and the derivative that its rule returns, as real numbers.

    Attributes
    ----------
    value : tuple of float
        The numbers of the value; a complex number counts as two, its real part first.
    derivative : tuple of float
        In mode "rrule" the numbers of the cotangents of all arguments, for the cotangent of the value whose
        numbers are `weights`; in mode "frule" the numbers of the tangent of the value, for the tangent of
        the arguments whose numbers are `weights`.
    judged : tuple of bool
        Which numbers of the derivative are to be compared: not those of a NoTangent. Empty means all.
    """

    value: tuple[float, ...]
    derivative: tuple[float, ...]
    # False where the cotangent is NoTangent.
    judged: tuple[bool, ...] = dataclasses.field(default=(), compare=False)


def weights(count: int) -> np.ndarray:
    """The numbers of the cotangent or tangent with which rules are called: all different, none simple.

    >>> weights(3)
    array([ 0.87758256,  0.0707372 , -0.80114362])
    """
    return np.cos(np.arange(count) + 0.5)


def answer_at(
    f: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, *, mode: str = "rrule",
    registry: Registry = DEFAULT,
) -> Answer:  # fmt: skip
    """Return the answer of the rule of `f` at these arguments: value and derivative, as plain numbers.

    Exported tests compare it with the answer at the time of the export.

    Parameters
    ----------
    f : callable
        The function with the rule.
    args : sequence
        Its positional arguments.
    kwargs : dict, optional
        Its keyword arguments.
    mode : {"rrule", "frule"}
        Which rule to call.
    registry : Registry
        Where to look for rules.

    Returns
    -------
    Answer
        `value` and `derivative`, as tuples of numbers.

    Raises
    ------
    NoRuleError
        If no rule of this mode applies.

    Examples
    --------
    >>> import math
    >>> found = answer_at(math.exp, (0.0,))
    >>> found.value, found.derivative == (math.cos(0.5),)
    ((1.0,), True)
    """
    keywords = dict(kwargs or {})
    subject, inputs = subject_of(f, tuple(args), keywords, mode, ad_config(), registry)
    if subject.reverse is not None:
        y, back = subject.reverse(*inputs, **keywords)
        vector, _ = to_vec(y)
        given = back(cotangent_like(y, weights(vector.size)))
        parts = [cotangent_vec(x, x_bar) for x, x_bar in zip(inputs, given)]
        judged = [
            not isinstance(x_bar, NoTangent) for part, x_bar in zip(parts, given) for _ in range(part.size)
        ]
        return Answer(_floats(vector), _floats(np.concatenate([np.empty(0), *parts])), tuple(judged))
    assert subject.forward is not None
    moving = weights(to_vec(inputs)[0].size)
    tangents, at = [], 0
    for x in inputs:
        size = to_vec(x)[0].size
        tangents.append(cotangent_like(x, moving[at : at + size]))
        at += size
    y, y_dot = subject.forward(tuple(tangents), *inputs, **keywords)
    return Answer(_floats(to_vec(y)[0]), _floats(cotangent_vec(y, y_dot)))


def _floats(vector: np.ndarray) -> tuple[float, ...]:
    return tuple(map(float, vector))


def off_differences(
    f: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    answer: Answer,
    mode: str = "rrule",
    symmetric: Collection[int] = (),
) -> float:
    """The distance of a derivative from differences of `f`, relative to its largest number; nan if
    differences find no derivative. The arguments at the positions `symmetric` are moved among symmetric
    matrices.

    The differences use steps as large as accuracy suggests; if they disagree, they are repeated with small
    steps, since distant points may lie beyond a jump.
    """
    vector, back = to_vec(tuple(args))
    slopes = _slopes_back if mode == "rrule" else _slope_forward

    def meant(direction: np.ndarray) -> np.ndarray:
        parts = enumerate(back(direction))
        return to_vec(tuple(symmetric_part(x) if i in symmetric else x for i, x in parts))[0]

    found, least = math.nan, _NOISE * max((abs(y) for y in answer.value if math.isfinite(y)), default=0.0)
    for method in (central_fdm(5), central_fdm(5, max_range=_CLOSE)):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pairs = slopes(lambda x: to_vec(f(*back(x), **kwargs))[0], vector, answer, method, meant)
        except (ArithmeticError, ValueError):
            continue
        by_differences = [b for _, b in pairs]
        if np.all(np.isfinite(by_differences)):
            found = float(np.fmin(found, apart([a for a, _ in pairs], by_differences, least)))
        if found < _CLEAR:
            break
    return found


_CLOSE, _CLEAR = 1e-3, 1e-6
_NOISE = 1e-4
"""Slopes below this fraction of the value are known no more exactly than the value is rounded."""


def _slopes_back(
    f: Any, x: np.ndarray, answer: Answer, method: Any, meant: Callable[[np.ndarray], np.ndarray]
) -> list[tuple[float, float]]:
    """Pairs of slopes, by the rule and by differences, for moving the arguments in some directions."""
    seed, given = weights(len(answer.value)), np.array(answer.derivative)
    held = np.array([not judged for judged in answer.judged] or [False] * x.size, bool)
    directions = np.eye(x.size)[~held]
    if len(directions) > MOST_COLUMNS:
        directions = np.random.default_rng(0).standard_normal((MOST_COLUMNS // 3, x.size)) * ~held
    moved = map(meant, directions)
    return [(float(given @ d), _slope(lambda y: seed @ f(y), x, d, method)) for d in moved]


def _slope(f: Any, x: np.ndarray, direction: np.ndarray, method: Any) -> float:
    return float(method(lambda t: f(x + t * direction), 0.0))


def _slope_forward(
    f: Any, x: np.ndarray, answer: Answer, method: Any, meant: Callable[[np.ndarray], np.ndarray]
) -> list[tuple[float, float]]:
    direction = weights(x.size)
    found = method(lambda t: f(x + t * direction), 0.0)
    return list(zip(answer.derivative, map(float, np.atleast_1d(found))))


def apart(one: Sequence[float], other: Sequence[float], least: float = 0.0) -> float:
    """The distance of numbers from others, relative to the largest of the latter, or to `least` if that is
    larger; inf if their counts or their non-finite entries differ.

    >>> apart([1.0, 2.0], [1.0, 2.5]), apart([], []), apart([float("nan")], [1.0])
    (0.2, 0.0, inf)
    """
    a, b = np.asarray(one, float), np.asarray(other, float)
    if a.shape != b.shape:
        return float("inf")
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.all(np.isfinite(a[finite])):
        return float("inf")
    if not finite.any():
        return 0.0
    size = max(float(np.max(np.abs(b[finite]))), least)
    off = float(np.max(np.abs(a[finite] - b[finite])))
    return off / size if size else off


class NotSingle(Exception):
    """Arguments that have no counterpart in single precision."""


def in_single(x: Any) -> Any:
    """Arguments in single precision: floats, complex numbers and arrays of them, also in tuples, lists and
    dicts; everything else unchanged. Raises NotSingle for objects that contain numbers.

    >>> in_single((0.5, 2, [np.ones(1)]))
    (np.float32(0.5), 2, [array([1.], dtype=float32)])
    """
    if type(x) in (float, np.float64):
        return np.float32(x)
    if type(x) in (complex, np.complex128):
        return np.complex64(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
        return x.astype(np.float32 if x.dtype.kind == "f" else np.complex64)
    if type(x) in (tuple, list):
        return type(x)(map(in_single, x))
    if type(x) is dict:
        return {key: in_single(part) for key, part in x.items()}
    if to_vec(x)[0].size and not isinstance(x, (np.float32, np.complex64, np.float16)):
        raise NotSingle(type(x).__name__)
    return x
