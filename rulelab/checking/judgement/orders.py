"""Second derivatives: whether the gradient of the gradient through a rule agrees with differences of the
gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...ad import reverse
from ...errors import RuleLabError
from ...raised import raised_words
from ...tangents.algebra import is_number
from ..measuring import oracles
from ..measuring.vectors import cotangent_vec, gradient_like, to_vec
from ..probing.closeness import Tolerance
from ..probing.findings import UNKNOWN, Finding
from ..probing.probes import FEW, Probe, without_warnings
from .differentiated import slope_along, weighted

LOOSER = 100.0
"""The tolerance for second derivatives, in multiples of that for first ones."""


def second_order_findings(f: Callable, probe: Probe, rng: np.random.Generator) -> Iterator[Finding]:
    """What is wrong with the second derivatives of `f` at a probe; inconclusive if they are refused. They are
    those of a sum of the function's values with random weights, along a random direction.
    """
    inputs, kwargs, y = probe.point.inputs, dict(probe.point.kwargs), probe.truth.y
    if not (isinstance(y, np.ndarray) or is_number(y)) or np.iscomplexobj(y):
        yield Finding(
            "second order", "second derivatives are checked for real numbers and arrays only", UNKNOWN
        )
        return
    vector, back = to_vec(inputs)
    if vector.size > FEW:
        words = f"second derivatives are checked for up to {FEW} numbers"
        yield Finding("second order", words, UNKNOWN)
        return
    loss = weighted(f, kwargs, rng.integers(130, 480, np.shape(y)) / 100)

    def gradient_at(moved: np.ndarray) -> np.ndarray:
        return _as_vector(inputs, reverse.gradient(loss, *back(moved)))

    weights = rng.integers(130, 480, vector.size) / 100
    along = slope_along(loss, gradient_like(inputs, weights))
    with without_warnings():
        try:
            second = _as_vector(inputs, reverse.gradient(along, *back(vector)))
        except RuleLabError as error:
            yield Finding(
                "second order", f"second derivatives are refused: {error.found}", UNKNOWN, probe=probe
            )
            return
        except Exception as error:
            yield Finding(
                "second order", f"second derivatives fail: {raised_words(error)}", probe=probe
            )
            return
        hessian = oracles.measured_jacobian(gradient_at, vector, domain=probe.point.limits())
    expected, bars = weights @ hessian.value, np.abs(weights) @ hessian.error
    limit = Tolerance.of(probe)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    known = np.isfinite(expected) & np.isfinite(bars)
    off = known & ~(np.abs(second - expected) <= LOOSER * (limit.rtol * scale + limit.atol) + 4 * bars)
    if np.any(off):
        i = int(np.argmax(np.where(off, np.abs(second - expected), -1.0)))
        name = next(leaf.name for leaf in probe.truth.inputs if leaf.start <= i < leaf.stop)
        words = (
            f"the second derivative is wrong: for {name} {second[i]:.8g} by the rule, "
            f"{expected[i]:.8g} by differences of the gradient"
        )
        yield Finding("second order", words, argument=name, probe=probe)
    elif not known.any():
        yield Finding("second order", "no two differences of the gradient agree", UNKNOWN, probe=probe)


def _as_vector(inputs: tuple, gradients: tuple) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(cotangent_vec(x, g) for x, g in zip(inputs, gradients))])
