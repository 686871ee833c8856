"""What one answer of a rule shows by itself: another value, no number, a refusal, a lack of linearity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import KeywordError, NotDifferentiableError, NotImplementedTangentError, RuleLabError
from ...raised import raised_words
from ..measuring.shortening import shortened
from ..measuring.vectors import leaves, shape_of_answer, to_vec
from ..probing.closeness import Tolerance, by_column, rounding
from ..probing.findings import WRONG, Finding
from ..probing.probes import Point, Probe
from . import effects

FAR_OFF = 1e-4
"""The relative tolerance at far points."""
SEEN = 1e3
"""By what factor a slope must exceed its error bar to be significant."""
LINEAR = 1e3
"""The tolerance of linearity in multiples of that of a number: only rounding is to be allowed for, but it may
add up.
"""


def is_odd(point: Point) -> bool:
    """Whether wrong rules may be right at a point by chance: at round numbers, at other lengths."""
    return point.like is not None or point.origin.startswith(("exactly", "of ", "near the first"))


_LEAST, _MOST = 1e-150, 1e150
"""Products of two smaller numbers, or of two larger ones, leave the range of floats."""


def is_near_the_ends_of_floats(probe: Probe) -> bool:
    """Whether the value of a function has numbers so small or so large that a rule which is right may lose
    all digits, since a product of two of them is zero or infinite.
    """
    sizes = np.abs(to_vec(probe.truth.y)[0])
    finite = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    return bool(np.any((finite < _LEAST) | (finite > _MOST)))


def has_another_value(findings: list[Finding]) -> bool:
    """Whether a rule has a finite value other than that of the function."""
    return any(finding.check == "value" and finding.level == WRONG for finding in findings)


def has_axis_of_one(inputs: tuple[Any, ...]) -> bool:
    """Whether there is an array with an axis of length 1 among the inputs."""
    return any(isinstance(x, np.ndarray) and 1 in x.shape for x in inputs)


def looks_at_part(probe: Probe) -> bool:
    """Whether the function depends on some numbers of an argument but not on others, so that it may be
    intended for other sizes. False if indices say which numbers it uses, and if the cotangent of an array of
    several axes has another shape although the function uses some number in each row and column, as a trace
    does.
    """
    if not probe.truth.whole or any(_are_indices(probe.point.inputs[i]) for i in probe.point.constant):
        return False
    met = np.any(probe.truth.slopes.value != 0, axis=0)
    if not any(0 < met[leaf.start : leaf.stop].sum() < leaf.stop - leaf.start for leaf in probe.truth.inputs):
        return False
    bars = probe.raw if isinstance(probe.raw, tuple) else ()
    start, own = 0, bars[max(0, len(bars) - len(probe.point.floats)) :]
    for i, (x, x_bar) in enumerate(zip(probe.point.floats, own)):
        size = 0 if i in probe.point.constant else to_vec(x)[0].size
        if isinstance(x, np.ndarray) and x.ndim > 1 and size == x.size:
            is_met = met[start : start + size].reshape(x.shape)
            if shape_of_answer(x_bar) != x.shape and _is_met_throughout(is_met):
                return False
        start += size
    return True


def _is_met_throughout(met: np.ndarray) -> bool:
    """Whether each index of each axis has a true element."""
    axes = range(met.ndim)
    return all(met.any(axis=tuple(other for other in axes if other != axis)).all() for axis in axes)


def is_off_by_digits(probe: Probe) -> bool:
    one, other = to_vec(probe.truth.y)[0], to_vec(probe.y)[0]
    if one.shape != other.shape:
        return False
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= FAR_OFF * np.maximum(np.abs(one), np.abs(other))
    return bool(np.all(near | ~np.isfinite(other)))


def _are_indices(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "iu" and x.size > 0


def same_form(y: Any, like: Any) -> bool:
    return to_vec(y)[0].size == to_vec(like)[0].size


def is_refusal(error: Exception | None, odd: bool) -> bool:
    """Whether a rule has said that it has no derivative there, which is no mistake. At odd points, where
    matrices are singular, the error of linear algebra says so too.
    """
    refused = (NotDifferentiableError, NotImplementedTangentError, KeywordError)
    return isinstance(error, refused) or (odd and isinstance(error, np.linalg.LinAlgError))


def failure_found(probe: Probe) -> Finding:
    error = probe.failure
    if probe.spent and error is not None:
        return effects.failing_again(error, probe)
    if isinstance(error, RuleLabError):
        return Finding("answer", error.found, probe=probe)
    return Finding("answer", f"raises {raised_words(error)}", probe=probe)


def value_findings(probe: Probe, usual: dict[str, float]) -> Iterator[Finding]:
    """A finding if the rule does not give the value of the function up to rounding. `usual` has the size of
    each part of the value at usual points, by which a small number is recognised as a rounding error of zero.
    """
    plain, given = probe.truth.y, probe.y
    one, other = to_vec(plain)[0], to_vec(given)[0]
    if is_another_kind(given, plain):
        words = f"the rule gives {shortened(given)} where the value is {shortened(plain)}"
        yield Finding("value", words, probe=probe)
        return
    limit = Tolerance.of(probe)
    least = limit.atol * 1e-3 * by_column(probe.truth.outputs, lambda part: min(1.0, usual.get(part, 1.0)))
    apart = np.abs(one - other) - limit.rtol * np.maximum(np.abs(one), np.abs(other))
    if np.any((apart > limit.atol * 1e-3) | (apart > least) & _has_slopes(probe)):
        words = f"the value by the rule is {shortened(given)}, but by the function {shortened(plain)}"
        yield Finding("value", words, probe=probe)


def _has_slopes(probe: Probe) -> np.ndarray:
    """Which numbers of the value have a significant slope, so that they are no rounding errors of zero."""
    slopes = probe.truth.slopes
    with np.errstate(all="ignore"):
        return np.any(slopes.known() & (np.abs(slopes.value) > SEEN * slopes.error), axis=1)


def is_another_kind(given: Any, plain: Any) -> bool:
    """Whether a value has another structure than that of the function. An array without axes counts as a
    NumPy number, since it behaves like one: `np.squeeze` returns the former where `np.sum` returns the
    latter.
    """
    of_python = type(plain) in (float, complex) and isinstance(given, np.ndarray)
    return of_python or _form(given) != _form(plain)


def _form(y: Any) -> Any:
    """The structure of a value: lists and tuples, and the shapes and kinds of numbers and arrays."""
    if isinstance(y, (tuple, list)):
        return isinstance(y, list), *map(_form, y)
    return [(leaf.shape, leaf.dtype.kind) for leaf in leaves(y)]


def linear_findings(probe: Probe, forward: bool) -> Iterator[Finding]:
    """A finding if the answers to random seeds are not linear combinations of the answers to unit seeds."""
    basis = probe.units or (probe.truth.directions.shape[1] if forward and probe.truth.whole else 0)
    if not basis:
        return
    units, seeds = probe.answers[:basis], probe.seeds[basis:]
    given = probe.answers[basis:]
    limit = Tolerance.of(probe)
    with np.errstate(all="ignore"):
        made, scale = seeds @ units, np.abs(seeds) @ np.abs(units)
    with np.errstate(all="ignore"):
        off = np.abs(given - made) > LINEAR * limit.rtol * np.maximum(scale, np.abs(given))
        off &= np.abs(given - made) > 1e3 * rounding(probe, seeds, forward)
        off &= np.isfinite(made) & np.isfinite(given)
    if np.any(off):
        what = "tangent" if forward else "cotangent"
        yield Finding("linear", f"the answer is not linear in the {what}", probe=probe)
