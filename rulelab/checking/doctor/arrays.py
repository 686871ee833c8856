"""Mistakes in rules for arrays, seen in what the author's pullback returned for a cotangent, in any shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...tangents.thunks import unthunk
from ...tangents.zeros import AbstractZero
from ..measuring.vectors import Leaf
from ..probing.probes import Probe
from .evidence import COARSE, EXACT, Evidence, Explanation, raw_cotangents


@dataclass(frozen=True)
class Returned:
    """What a pullback returned for one argument, and what was `expected`, in the argument's shape.

    `seed` is the cotangent that it was given. `weighted`, in the shape of the value, is what each number of
    the value contributes to the cotangent.
    """

    name: str
    seed: np.ndarray
    found: np.ndarray
    expected: np.ndarray
    weighted: np.ndarray
    others: dict[str, np.ndarray]
    slack: float
    is_repeated: bool

    def gives(self, guess: np.ndarray) -> bool:
        return _same(self.found, guess, self.slack)


def _same(one: np.ndarray, other: np.ndarray, slack: float) -> bool:
    if one.shape != other.shape or not one.size:
        return False
    with np.errstate(all="ignore"):
        scale = max(float(np.max(np.abs(one))), float(np.max(np.abs(other))))
        return bool(np.all(np.abs(one - other) <= slack * scale)) and bool(np.isfinite(scale))


def returned_by(evidence: Evidence) -> dict[str, list[Returned]]:
    """What was returned for each real argument, at every probe; without arguments for which it is not known
    at all of them.
    """
    found: dict[str, list[Returned]] = {}
    probes = [p for p in evidence.probes if p.truth.whole and not _is_coarse(p)]
    probes = list(filter(_is_known, probes)) or probes  # if all numbers are equal, nothing may be known
    if evidence.forward:
        return found
    for probe in probes:
        for name, one in _returned_at(evidence, probe):
            found.setdefault(name, []).append(one)
    return {name: every for name, every in found.items() if len(every) == len(probes)}


def _is_known(probe: Probe) -> bool:
    slopes = probe.truth.slopes
    return bool(np.all(np.isfinite(slopes.value)) and np.all(np.isfinite(slopes.error)))


def _is_coarse(probe: Probe) -> bool:
    return any(leaf.dtype.itemsize < 8 for leaf in (*probe.truth.inputs, *probe.truth.outputs))


def _returned_at(evidence: Evidence, probe: Probe) -> Iterator[tuple[str, Returned]]:
    raw = raw_cotangents(probe)
    y = probe.truth.y
    if raw is None or not isinstance(y, (np.ndarray, float, np.floating)) or np.asarray(y).dtype.kind != "f":
        return
    bars, seed = raw
    value, error = probe.truth.slopes.value, probe.truth.slopes.error
    inputs = dict(zip(evidence.subject.names, probe.point.inputs))
    arrays = {n: np.asarray(x, float) for n, x in inputs.items() if _is_real(x)}
    for (name, x), bar in zip(inputs.items(), bars):
        leaf = _leaf_of(probe, name)
        if leaf is None or not _is_real(x):
            continue
        columns = slice(leaf.start, leaf.stop)
        block, bad = value[:, columns], error[:, columns]
        given = _array(bar)
        if given is None or not np.all(np.isfinite(bad)) or not np.all(np.isfinite(block)):
            continue
        scale = float(np.max(np.abs(block), initial=0.0)) or 1.0
        slack = EXACT + 20 * float(np.max(bad, initial=0.0)) / scale
        repeated = np.count_nonzero(np.abs(block) > 8 * bad, axis=1)
        yield (
            name,
            Returned(
                name,
                seed.reshape(np.shape(y)),
                given,
                (seed @ block).reshape(leaf.shape),
                (seed * block.sum(1)).reshape(np.shape(y)),
                arrays,
                min(slack, COARSE),
                bool(np.all(repeated <= 1)) and leaf.shape != np.shape(y),
            ),
        )


def _is_real(x: Any) -> bool:
    return isinstance(x, (float, np.floating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


def _leaf_of(probe: Probe, name: str) -> Leaf | None:
    return next((leaf for leaf in probe.truth.inputs if leaf.name == name), None)


def _array(bar: Any) -> np.ndarray | None:
    try:
        bar = unthunk(bar)
    except Exception:
        return None
    if isinstance(bar, AbstractZero) or bar is None or isinstance(bar, type):
        return None
    try:
        given = np.asarray(bar)
    except Exception:
        return None
    return given.astype(float) if given.dtype.kind in "fiu" else None


# --- possible mistakes --------------------------------------------------------------------------------------


def of_arrays(evidence: Evidence) -> Iterator[Explanation]:
    """The mistakes that the arrays themselves show, for each argument that is wrong."""
    every = returned_by(evidence)
    wrong = {
        name: group for name, group in every.items() if not all(one.gives(one.expected) for one in group)
    }
    seen = list(_swapped(every, wrong))
    yield from seen
    done = {one.argument for one in seen}
    for name, group in wrong.items():
        if name in done:
            continue
        for recognise in (_missing_sum, _unsummed, _transposed, _products, _unrepeated):
            found = next(recognise(group), None)
            if found is not None:
                yield found
                break


def _swapped(every: dict[str, list[Returned]], wrong: dict[str, list[Returned]]) -> Iterator[Explanation]:
    for one, other in combinations(wrong, 2):
        pairs = list(zip(every[one], every[other]))
        # If the two differ only in sign, the sign is the mistake.
        only_signs = all(a.gives(-a.expected) and b.gives(-b.expected) for a, b in pairs)
        if not only_signs and all(a.gives(b.expected) and b.gives(a.expected) for a, b in pairs):
            words = f"swaps the cotangents of {one} and {other}"
            yield Explanation("swapped_arguments", words, one, whole=True)
            yield Explanation("swapped_arguments", words, other, whole=True)


def _missing_sum(group: list[Returned]) -> Iterator[Explanation]:
    """A missing sum, or one over the wrong axes, for an argument that was repeated along axes."""
    longer = [one for one in group if one.weighted.shape != one.expected.shape]
    if longer and all(one.gives(one.expected) for one in group if one.weighted.shape == one.expected.shape):
        group = longer  # at points with nothing to sum, no sum is missing
    if not all(one.is_repeated for one in group):
        return
    name = group[0].name
    axes = [_summed_axes(one) for one in group]
    if any(a is None for a in axes):
        return
    wanted = axes[0]
    edits = (
        _sum_over(wanted, group),
        "NP.sum(IT, axis=0)",
        "NP.sum(IT, axis=1)",
        f"IT.sum(axis=tuple(range(IT.ndim - NP.ndim({name}))))",
        f"IT if NP.ndim({name}) else NP.sum(IT)",
    )
    if all(one.gives(one.weighted) and one.weighted.shape != one.expected.shape for one in group):
        yield Explanation(
            "broadcast_sum", f"lacks a sum over {_axes(wanted)}, along which {name} is repeated", name, edits
        )
        return
    for other in _other_axes(group[0].weighted.ndim):
        if other != wanted and all(_reduced(one, other) for one in group):
            words = f"sums over {_axes(other)}; {name} is repeated along {_axes(wanted)}"
            yield Explanation("wrong_axis", words, name)
            return


def _unsummed(group: list[Returned]) -> Iterator[Explanation]:
    """A cotangent with more axes than its argument that is right when summed over some of them: the argument
    was broadcast against something on the way to the value.
    """
    rank, name = group[0].found.ndim, group[0].name
    if any(one.found.ndim != rank or one.expected.ndim >= rank for one in group):
        return
    for axes in _other_axes(rank):
        if all(_same(one.found.sum(axis=axes), one.expected, one.slack) for one in group):
            words = f"lacks a sum over {_axes(axes)}, along which {name} is repeated"
            edits = [f"NP.sum(IT, axis={_tuple(axes)})"]
            if not any(one.expected.ndim for one in group):
                edits.append(f"IT if NP.ndim({name}) else NP.sum(IT)")
            yield Explanation("broadcast_sum", words, name, tuple(edits))
            return


def _sum_over(axes: tuple[int, ...] | None, group: list[Returned]) -> str:
    """The sum as its author would write it: an axis of length one in the argument is kept."""
    if all(one.expected.ndim == one.weighted.ndim for one in group):
        return f"NP.sum(IT, axis={_tuple(axes)}, keepdims=True)"
    return f"NP.sum(IT, axis={_tuple(axes)})" if group[0].expected.ndim else "NP.sum(IT)"


def _summed_axes(one: Returned) -> tuple[int, ...] | None:
    """The axes over which the contributions are to be summed."""
    for axes in _other_axes(one.weighted.ndim):
        if _same(one.weighted.sum(axis=axes).reshape(-1), one.expected.reshape(-1), one.slack):
            return axes
    return None


def _other_axes(count: int) -> list[tuple[int, ...]]:
    return [axes for size in range(1, count + 1) for axes in combinations(range(count), size)]


def _reduced(one: Returned, axes: tuple[int, ...]) -> bool:
    if max(axes) >= one.weighted.ndim:
        return False
    total = one.weighted.sum(axis=axes)
    return _same(one.found.reshape(-1), total.reshape(-1), one.slack)


def _axes(axes: tuple[int, ...] | None) -> str:
    numbers = [str(a) for a in axes or ()]
    return f"axis {numbers[0]}" if len(numbers) == 1 else f"axes {' and '.join(numbers)}"


def _tuple(axes: tuple[int, ...] | None) -> str:
    axes = axes or ()
    return str(axes[0]) if len(axes) == 1 else str(axes)


def _transposed(group: list[Returned]) -> Iterator[Explanation]:
    if all(one.found.ndim == 2 and _same(one.found.T, one.expected, one.slack) for one in group):
        yield Explanation(
            "transposed", "gives the transpose of the derivative", group[0].name, ("IT.T", "(IT).T")
        )


_PRODUCTS: tuple[tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]], ...] = (
    ("y_bar @ {}.T", lambda s, u: s @ u.T),
    ("{}.T @ y_bar", lambda s, u: u.T @ s),
    ("y_bar @ {}", lambda s, u: s @ u),
    ("{} @ y_bar", lambda s, u: u @ s),
    ("y_bar * {}", lambda s, u: s * u),
    ("np.outer(y_bar, {})", lambda s, u: np.outer(s, u)),
    ("np.outer({}, y_bar)", lambda s, u: np.outer(u, s)),
    ("(y_bar @ {}).T", lambda s, u: (s @ u).T),
    ("({} @ y_bar).T", lambda s, u: (u @ s).T),
    ("y_bar.T @ {}", lambda s, u: s.T @ u),
    ("{} @ y_bar.T", lambda s, u: u @ s.T),
    ("y_bar.T @ {}.T", lambda s, u: s.T @ u.T),
    ("{}.T @ y_bar.T", lambda s, u: u.T @ s.T),
)


def _products(group: list[Returned]) -> Iterator[Explanation]:
    """A product in place of another one."""
    wanted = _product_of(group, lambda one: one.expected)
    if wanted is None:
        return
    found = _product_of(group, lambda one: one.found)
    if found is None or found == wanted:
        return
    if "*" in found and "@" in wanted:
        mistake, what = "elementwise_product", "an elementwise product where a matrix product belongs"
    elif "@" in found and "*" in wanted:
        mistake, what = "matrix_product", "a matrix product where an elementwise one belongs"
    else:
        mistake, what = "transposed", "something transposed"
    words = f"has {what}: gives {found} where the derivative is {wanted}"
    yield Explanation(mistake, words, group[0].name, (wanted.replace("y_bar", "BAR"),))


def _product_of(group: list[Returned], what: Callable[[Returned], np.ndarray]) -> str | None:
    for name in group[0].others:
        for text, form in _PRODUCTS:
            if all(_is_product(one, name, form, what(one)) for one in group):
                return text.format(name)
    return None


def _is_product(one: Returned, name: str, form: Callable, wanted: np.ndarray) -> bool:
    other = one.others.get(name)
    if other is None or other.ndim == 0 or one.seed.ndim == 0:
        return False
    try:
        return _same(np.asarray(form(one.seed, other)), wanted, one.slack)
    except ValueError:
        return False


def _unrepeated(group: list[Returned]) -> Iterator[Explanation]:
    """A cotangent that still has to be repeated along the axes over which the function sums."""
    if all(
        one.found.shape != one.expected.shape and _fits(one.found, one.expected, one.slack) for one in group
    ):
        yield Explanation(
            "shape",
            f"has the shape of the value where that of {group[0].name} is needed",
            group[0].name,
            (f"NP.broadcast_to(IT, NP.shape({group[0].name})).copy()", f"IT * NP.ones_like({group[0].name})"),
        )


def _fits(found: np.ndarray, expected: np.ndarray, slack: float) -> bool:
    try:
        return _same(np.broadcast_to(found, expected.shape), expected, slack)
    except ValueError:
        return False
