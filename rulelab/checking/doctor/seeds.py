"""Mistakes of a pullback with its cotangent: it ignores it, uses a part of it, or is not linear in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ..measuring.copies import own_copies, own_keywords
from ..measuring.shortening import shortened
from ..probing.probes import SEEDS, reverse_answer, without_warnings
from .evidence import Block, Case, Evidence, Explanation
from .formulas import named_constant


def what_of(evidence: Evidence) -> str:
    return "tangent" if evidence.forward else "cotangent"


def not_finite(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """nan or inf where the derivative was measured."""
    bad = [b for b in case.blocks if np.any(b.wrong & ~np.isfinite(b.given))]
    if bad:
        block = bad[0]
        kind = "nan" if np.any(np.isnan(block.given)) else "inf"
        everywhere = all(np.any(~np.isfinite(b.given)) for b in case.blocks)
        where = "" if everywhere else _at(evidence, block)
        yield Explanation("not_finite", f"gives {kind} where the derivative is finite{where}", case.name)


def ignores(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """The same answer to every cotangent."""
    if case.all_of(_is_same_for_all) and any(np.any(b.answers) for b in case.blocks):
        scalar = all(b.look.seeds.shape[1] == 1 for b in case.blocks)
        said = "back(2) equals back(1)" if scalar else "back(2*y_bar) equals back(y_bar)"
        words = "ignores the tangents" if evidence.forward else f"ignores its cotangent: {said}"
        edits = ("IT * BAR", "BAR @ IT", "IT @ BAR", "BAR.T @ IT", "IT @ BAR.T")
        yield Explanation("ignores_cotangent", words, case.name, edits)


def _is_same_for_all(block: Block) -> bool:
    answers = block.answers
    return len(answers) > 1 and bool(np.allclose(answers, answers[:1], rtol=1e-12, atol=0, equal_nan=True))


_PARTS: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("uses only the first element of its cotangent", lambda s: _filled(s, s[:, :1])),
    ("uses only the last element of its cotangent", lambda s: _filled(s, s[:, -1:])),
    ("uses only the first element of its cotangent", lambda s: _kept(s, 0)),
    ("uses only the last element of its cotangent", lambda s: _kept(s, s.shape[1] - 1)),
    ("uses the sum of its cotangent in place of its elements", lambda s: _filled(s, s.sum(1, keepdims=True))),
    (
        "uses the mean of its cotangent in place of its elements",
        lambda s: _filled(s, s.mean(1, keepdims=True)),
    ),
    ("uses the largest element of its cotangent only", lambda s: _filled(s, s.max(1, keepdims=True))),
    ("uses the elements of its cotangent in reverse order", lambda s: s[:, ::-1]),
)
_CHANGES: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("takes the absolute value of its {}", np.abs),
    ("takes the square of its {}", np.square),
    ("takes the sign of its {} only", np.sign),
    ("clips its {} to the numbers from -1 to 1", lambda s: np.clip(s, -1, 1)),
    ("clips its {} to the numbers from 0 to 1", lambda s: np.clip(s, 0, 1)),
    ("drops what is negative in its {}", lambda s: np.maximum(s, 0)),
    ("rounds its {}", np.round),
    ("rounds its {} down", np.floor),
    ("rounds its {} towards zero", np.trunc),
    ("scales its {} to length one", lambda s: s / np.linalg.norm(s, axis=1, keepdims=True)),
)


def _filled(s: np.ndarray, part: np.ndarray) -> np.ndarray:
    return np.broadcast_to(part, s.shape)


def _kept(s: np.ndarray, column: int) -> np.ndarray:
    kept = np.zeros_like(s)
    kept[:, column] = s[:, column]
    return kept


def part_of_cotangent(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right for a cotangent that was reduced to a part of itself."""
    longer = [b for b in case.blocks if b.look.seeds.shape[1] > 1]
    if evidence.forward or not longer:
        return
    for words, part in _PARTS:
        if case.all_of(lambda b, part=part: _answers_as_if(b, part)):  # type: ignore[misc]
            yield Explanation("part_of_cotangent", words, case.name)
            return
    for axis, words in ((1, "row"), (2, "column")):
        for how, reduce in (("sum", np.sum), ("mean", np.mean)):
            if case.all_of(lambda b, axis=axis, reduce=reduce: _answers_as_if_reduced(b, axis, reduce)):  # type: ignore[misc]
                said = f"uses the {how} over each {words} of its cotangent in place of its elements"
                yield Explanation("part_of_cotangent", said, case.name)
                return


def _answers_as_if(block: Block, changed: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether the answers would be right for cotangents changed in this way."""
    seeds = block.look.seeds
    with np.errstate(all="ignore"):
        expected = block.right_answers(changed(seeds))
    reach = np.abs(seeds).sum(1, keepdims=True)
    return block.look.same(block.answers, expected, block.bar * (1 + reach))


def _answers_as_if_reduced(block: Block, axis: int, reduce: Callable) -> bool:
    shape = block.look.y_shape
    if len(shape) != 2 or block.look.seeds.shape[1] != np.prod(shape):
        return False

    def changed(seeds: np.ndarray) -> np.ndarray:
        tables = seeds.reshape(-1, *shape)
        other = 3 - axis
        return np.broadcast_to(reduce(tables, axis=other, keepdims=True), tables.shape).reshape(seeds.shape)

    return _answers_as_if(block, changed)


def drops_part(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """If the value has several parts: one part's cotangent is never used, the others' are used correctly."""
    if evidence.forward or not case.all_of(lambda b: b.look.whole):
        return
    names = [{leaf.name for leaf in b.look.probe.truth.outputs} for b in case.blocks]
    for name in sorted(set.intersection(*names)) if names and len(names[0]) > 1 else ():
        if all(_drops(block, name) for block in case.blocks if not block.is_right):
            yield Explanation(
                "lacks_term", f"never uses the cotangent of {name}, a part of the value", case.name
            )
            return


def _drops(block: Block, name: str) -> bool:
    rows = np.zeros(len(block.right), bool)
    for leaf in block.look.probe.truth.outputs:
        rows[leaf.start : leaf.stop] |= leaf.name == name
    if np.any(block.given[rows]) or not np.any(block.right[rows]):
        return False
    return not block.wrong[~rows].any()


def nonlinear(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """An answer that is not linear in the cotangent."""
    if not evidence.of_check("linear") or all(_is_linear(block) for block in case.blocks):
        return  # nonlinear at odd points only, such as whole numbers
    what = what_of(evidence)
    if not all(b.look.whole or not evidence.forward for b in case.blocks):
        return
    case = _asked_more(evidence, case)
    for words, change in _CHANGES:
        if case.all_of(lambda b, change=change: _answers_as_if(b, change)):  # type: ignore[misc]
            yield Explanation("nonlinear", words.format(what), case.name)
            return
    if case.blocks and all(map(_is_partly_affine, case.blocks)) and not all(map(_is_affine, case.blocks)):
        yield Explanation("additive_constant", f"has a term that does not depend on its {what}", case.name)
        return
    if all(map(_is_affine, case.blocks)):
        said = f"adds something that does not depend on its {what}"
        constant = [_offset(b) for b in case.blocks]
        if all(np.ptp(c) <= 1e-7 * (1 + np.abs(c).max()) for c in constant) and len(constant) > 1:
            value = constant[0].flat[0]
            if all(abs(c.flat[0] - value) <= 1e-7 * (1 + abs(value)) for c in constant):
                said = f"adds {named_constant(float(value))}, whatever its {what}"
        yield Explanation("additive_constant", said, case.name)
        return
    yield Explanation("nonlinear", f"not linear in its {what}: back(2*s) is not 2*back(s)", case.name)


def _is_linear(block: Block) -> bool:
    """Whether the answers to seeds are linear combinations of those to unit seeds, if there are any."""
    probe = block.look.probe
    if block.look.forward or not probe.units or not block.look.whole:
        return False
    units, seeds = block.answers[: probe.units], probe.seeds[probe.units :]
    with np.errstate(all="ignore"):
        made, given = seeds @ units, block.answers[probe.units :]
        limit = 1e-6 * np.maximum(np.abs(seeds) @ np.abs(units), np.abs(given))
        return bool(np.all((np.abs(given - made) <= limit) | ~np.isfinite(given) | ~np.isfinite(made)))


def _asked_more(evidence: Evidence, case: Case) -> Case:
    """The case with answers to smaller seeds added: the others are so large that clipping them gives their
    signs.
    """
    if evidence.forward or not case.blocks:
        return case
    more = []
    for block in case.blocks[:3]:
        probe = block.look.probe
        seeds = probe.seeds[-SEEDS:] * 0.17
        try:
            with without_warnings():
                _, back = evidence.subject.reverse(  # type: ignore[misc]
                    *own_copies(probe.point.inputs), **own_keywords(probe.point.kwargs)
                )
                answers = [reverse_answer(back, probe.truth.y, seed, probe.point) for seed in seeds]
        except Exception:
            return case
        asked = replace(
            probe,
            seeds=np.concatenate([probe.seeds, seeds]),
            answers=np.concatenate([probe.answers, answers]),
        )
        more.append(replace(block, look=replace(block.look, probe=asked)))
    return case.only([*more, *case.blocks[3:]])


def _is_partly_affine(block: Block) -> bool:
    """Whether the answers are a constant plus some linear map of the seeds."""
    seeds, answers = block.look.seeds, block.answers
    table = np.concatenate([np.ones((len(seeds), 1)), seeds], axis=1)
    if len(seeds) <= table.shape[1] or not np.all(np.isfinite(answers)):
        return False
    found = np.linalg.lstsq(table, answers, rcond=None)[0]
    scale = float(np.max(np.abs(answers), initial=0.0))
    off = float(np.max(np.abs(table @ found - answers), initial=0.0))
    return off <= 1e-8 * scale and bool(np.max(np.abs(found[0])) > 1e-6 * scale)


def _offset(block: Block) -> np.ndarray:
    return (block.answers - block.right_answers(block.look.seeds))[0]


def _is_affine(block: Block) -> bool:
    seeds = block.look.seeds
    expected = block.right_answers(seeds) + _offset(block)
    reach = np.abs(seeds).sum(1, keepdims=True)
    return block.look.same(block.answers, expected, block.bar * (2 + reach)) and bool(np.any(_offset(block)))


def _at(evidence: Evidence, block: Block) -> str:
    inputs = block.look.probe.point.inputs
    return ", at " + ", ".join(f"{n} = {shortened(x)}" for n, x in zip(evidence.subject.names, inputs))
