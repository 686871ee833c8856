"""The inputs of a stability scan: whether it uses numbers or vectors, and which values."""

from __future__ import annotations

import cmath
import math

import numpy as np

from ..checking.arguments.guesser import is_about_form
from .cells import Array, Static, shape_of
from .plain_values import plain_argument, without_warnings_or_output
from .questions import Plan, exact_sample

MAX_ENTRIES = 64
"""How many numbers an array may hold; that of each input takes time in proportion to them."""
ENTRIES = (0.5, -1.25, 2.0, -0.375, 1.625, 0.875, -2.25, 1.125)
_NUMBERS = (0.75, 1.25, 0.625, 1.5)


def real_inputs():
    """Floats of both signs over their whole range, densest between 1e-8 and 1e4, and near ±1."""
    exponents = [
        *range(-300, -20, 40),
        *range(-20, -8, 2),
        *np.arange(-8, 4, 0.1),
        *range(4, 20, 2),
        *range(20, 301, 40),
    ]
    sizes = (
        [10.0**e for e in exponents]
        + [1 - 10.0**-k for k in range(1, 16)]
        + [1 + 10.0**-k for k in range(1, 16)]
    )
    return sorted({s * sign for s in sizes for sign in (1.0, -1.0)})


def plane_inputs():
    """Complex numbers on twelve rays, up to 300 from the origin, where sines do not overflow yet."""
    angles = [k * math.pi / 6 + 0.05 for k in range(12)]
    return [cmath.rect(10.0**e, a) for a in angles for e in np.arange(-6, 2.6, 0.3)]


def array_lines(base):
    """Lines of arrays: the first entry varies over the floats, all entries are scaled, all are shifted."""
    exponents = [-300, -150, -20, -8, -4, -2, *np.arange(-1, 3.3, 0.15), 4, 8, 16, 100, 160, 200, 300]
    sizes = sorted({sign * 10.0**e for e in exponents for sign in (1.0, -1.0)})
    first = np.zeros(base.shape)
    first.flat[0] = 1.0
    return (
        [np.where(first, size, base) for size in sizes],
        [base / np.max(np.abs(base)) * size for size in sizes] if np.any(base) else [],
        [base + size for size in sizes],
    )


def plan_to_scan(f, plans):
    """Return the plan whose arguments a scan varies, with samples of them; None if they are neither numbers
    nor real arrays.

    A function that mixes the entries of vectors is a different function for numbers: softmax of a number is
    1. It is scanned with vectors. An elementwise function is scanned with numbers, whatever it was given.
    Where it has a value for none of the samples, it is scanned with numbers, if it takes any.
    """
    numbers = [*filter(is_of_numbers, plans)]
    arrays = [p for p in plans if p not in numbers and all(map(_is_real, p.specs[0]))]
    if plans[0].given:
        mixing = [plan for plan in arrays if not _is_elementwise(f, _arguments(plan.given[0]))]
        return next(iter((*numbers, *mixing)), None) or next(map(_by_entry, arrays), None)
    sampled = [made for plan in arrays if (made := _sampled(f, plan)) is not None]
    mixing = [plan for plan in sampled if not _is_elementwise(f, _arguments(plan.given[0]))]
    works = [plan for plan in numbers if _value(f, _ordinary(plan)) is not None]
    taken = (plan for plan in numbers if _takes(f, _ordinary(plan)))
    return next(iter((*(mixing if numbers else sampled), *works, *sampled, *taken)), None)


def answers(question, plan):
    """Whether a rule gives cotangents of the right shapes for the sample of a plan; also true where there is
    nothing to call.
    """
    if question.rule is None or not plan.given:
        return True
    args = _arguments(plan.given[0])
    try:
        with without_warnings_or_output():
            y, back = question.rule(*args)
            bars = back(y)[1:]
    except Exception:
        return False
    arrays = [(x, bar) for x, bar in zip(args, bars, strict=False) if isinstance(bar, np.ndarray)]
    return all(np.shape(x) == bar.shape for x, bar in arrays)


def is_of_numbers(plan):
    """Whether each argument of a plan is a number, or does not vary."""
    return all(_is_number(kind) for kind in plan.specs[0])


def _is_number(kind):
    return isinstance(kind, Static) or kind == "scalar"


def _is_real(kind):
    return _is_number(kind) or isinstance(kind, tuple) and math.prod(shape_of(kind)) <= MAX_ENTRIES


def _by_entry(plan):
    """The plan for the first entries of the arrays."""
    sample = tuple(v.entries[0] if isinstance(v, Array) and v.entries else v for v in plan.given[0])
    return Plan((tuple(v if isinstance(v, Static) else "scalar" for v in sample),), (sample,))


def _sampled(f, plan):
    """The plan with a sample at which the function has a value; None if there is none."""
    for sign in (1.0, -1.0):  # with negative entries, then without
        sample = tuple(_sample(kind, j, sign) for j, kind in enumerate(plan.specs[0]))
        if _value(f, _arguments(sample)) is not None:
            return Plan(plan.specs[:1], (sample,))
    return None


def _sample(kind, j, sign):
    if isinstance(kind, Static):
        return kind
    if kind == "scalar":
        return exact_sample(_NUMBERS[j % 4])
    entries = np.resize(np.roll(ENTRIES, -j), shape_of(kind)) if shape_of(kind) else np.float64(ENTRIES[j])
    return exact_sample(entries if sign > 0 else np.abs(entries))


def _ordinary(plan):
    return [k.value if isinstance(k, Static) else _NUMBERS[j % 4] for j, k in enumerate(plan.specs[0])]


def _arguments(sample):
    return list(map(plain_argument, sample))


def _value(f, args):
    """The function's value as a finite array; None if it has none."""
    try:
        with without_warnings_or_output():
            y = np.asarray(f(*args))
    except Exception:
        return None
    return y if y.dtype.kind in "fiub" and np.all(np.isfinite(y)) else None


def _takes(f, args):
    """Whether the function takes arguments of this form, if perhaps not these numbers."""
    try:
        with without_warnings_or_output():
            f(*args)
    except Exception as error:
        return not is_about_form(error)
    return True


def _is_elementwise(f, args):
    """Whether the function of arrays applies to their entries one by one."""
    moving = [j for j, a in enumerate(args) if isinstance(a, (float, np.ndarray))]
    try:
        spread = np.broadcast_arrays(*(args[j] for j in moving))
    except ValueError:
        return False
    whole = _value(f, args)
    if not moving or whole is None or whole.shape != spread[0].shape:
        return False
    for index in np.ndindex(whole.shape):
        for j, entries in zip(moving, spread, strict=True):
            args = [*args[:j], float(entries[index]), *args[j + 1 :]]
        one = _value(f, args)
        if one is None or one.shape or not np.isclose(one, whole[index], rtol=1e-9):
            return False
    return True
