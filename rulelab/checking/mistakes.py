"""Which mistake turns the derivative that was measured into the one that a rule gives, argument by argument."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import Place
from .evidence import Block, Case, Evidence
from .formulas import Fit, Sample, named_constant
from .probes import SEEDS, quiet, reverse_answer


@dataclass(frozen=True)
class Seen:
    """A mistake that explains the numbers of one argument at every probe (of no argument: of all).

    `words` complete "the rule of f is wrong: …" without the argument. `edits` are Python expressions that
    may put it right, in which IT stands for what the rule returns now, BAR for the cotangent it was handed
    and NP for NumPy.
    """

    mistake: str
    words: str
    argument: str | None = None
    edits: tuple[str, ...] = ()
    place: Place | None = None
    whole: bool = field(default=False, compare=False)
    """Whether the words name all arguments that they are about."""


Recogniser = Callable[[Evidence, Case], Iterator[Seen]]


def _what(evidence: Evidence) -> str:
    return "tangent" if evidence.forward else "cotangent"


# --- of the cotangent ---------------------------------------------------------------------------------------


def not_finite(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """nan or inf where a number was measured."""
    bad = [b for b in case.blocks if np.any(b.wrong & ~np.isfinite(b.given))]
    if bad:
        block = bad[0]
        kind = "nan" if np.any(np.isnan(block.given)) else "inf"
        everywhere = all(np.any(~np.isfinite(b.given)) for b in case.blocks)
        where = "" if everywhere else _at(evidence, block)
        yield Seen("not_finite", f"gives {kind} where the derivative is finite{where}", case.name)


def ignores(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """The same answer to every cotangent."""
    if case.all_of(_is_same_for_all) and any(np.any(b.answers) for b in case.blocks):
        scalar = all(b.look.seeds.shape[1] == 1 for b in case.blocks)
        said = "back(2) equals back(1)" if scalar else "back(2*y_bar) equals back(y_bar)"
        words = "ignores the tangents" if evidence.forward else f"ignores its cotangent: {said}"
        edits = ("IT * BAR", "BAR @ IT", "IT @ BAR", "BAR.T @ IT", "IT @ BAR.T")
        yield Seen("ignores_cotangent", words, case.name, edits)


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


def part_of_cotangent(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Right for a cotangent that has been reduced to a part of itself."""
    longer = [b for b in case.blocks if b.look.seeds.shape[1] > 1]
    if evidence.forward or not longer:
        return
    for words, part in _PARTS:
        if case.all_of(lambda b, part=part: _answers_as_if(b, part)):  # type: ignore[misc]
            yield Seen("part_of_cotangent", words, case.name)
            return
    for axis, words in ((1, "row"), (2, "column")):
        for how, reduce in (("sum", np.sum), ("mean", np.mean)):
            if case.all_of(lambda b, axis=axis, reduce=reduce: _answers_as_if_reduced(b, axis, reduce)):  # type: ignore[misc]
                said = f"uses the {how} over each {words} of its cotangent in place of its elements"
                yield Seen("part_of_cotangent", said, case.name)
                return


def _answers_as_if(block: Block, changed: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether the answers are right for cotangents so changed."""
    seeds = block.look.seeds
    with np.errstate(all="ignore"):
        expected = block.asked(changed(seeds))
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


def nonlinear(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """An answer that is no linear function of the cotangent."""
    if not evidence.of_check("linear"):
        return
    what = _what(evidence)
    if not all(b.look.whole or not evidence.forward for b in case.blocks):
        return
    case = _asked_more(evidence, case)
    for words, change in _CHANGES:
        if case.all_of(lambda b, change=change: _answers_as_if(b, change)):  # type: ignore[misc]
            yield Seen("nonlinear", words.format(what), case.name)
            return
    if case.blocks and all(map(_is_partly_affine, case.blocks)) and not all(map(_is_affine, case.blocks)):
        yield Seen("additive_constant", f"has a term that does not depend on its {what}", case.name)
        return
    if all(map(_is_affine, case.blocks)):
        said = f"adds something that does not depend on its {what}"
        constant = [_offset(b) for b in case.blocks]
        if all(np.ptp(c) <= 1e-7 * (1 + np.abs(c).max()) for c in constant) and len(constant) > 1:
            value = constant[0].flat[0]
            if all(abs(c.flat[0] - value) <= 1e-7 * (1 + abs(value)) for c in constant):
                said = f"adds {named_constant(float(value))}, whatever its {what}"
        yield Seen("additive_constant", said, case.name)
        return
    yield Seen("nonlinear", f"is not linear in its {what}: back(2*s) is not 2*back(s)", case.name)


def _asked_more(evidence: Evidence, case: Case) -> Case:
    """The case with answers to smaller seeds, too: in the others, clipped numbers are no others than signs."""
    if evidence.forward or not case.blocks:
        return case
    more = []
    for block in case.blocks[:3]:
        probe = block.look.probe
        seeds = probe.seeds[-SEEDS:] * 0.17
        try:
            with quiet():
                _, back = evidence.subject.reverse(  # type: ignore[misc]
                    *copy.deepcopy(probe.point.inputs), **copy.deepcopy(dict(probe.point.kwargs))
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
    """Whether the answers are a constant and a linear map of the seeds, whichever."""
    seeds, answers = block.look.seeds, block.answers
    table = np.concatenate([np.ones((len(seeds), 1)), seeds], axis=1)
    if len(seeds) <= table.shape[1] or not np.all(np.isfinite(answers)):
        return False
    found = np.linalg.lstsq(table, answers, rcond=None)[0]
    scale = float(np.max(np.abs(answers), initial=0.0))
    off = float(np.max(np.abs(table @ found - answers), initial=0.0))
    return off <= 1e-8 * scale and bool(np.max(np.abs(found[0])) > 1e-6 * scale)


def _offset(block: Block) -> np.ndarray:
    return (block.answers - block.asked(block.look.seeds))[0]


def _is_affine(block: Block) -> bool:
    seeds = block.look.seeds
    expected = block.asked(seeds) + _offset(block)
    reach = np.abs(seeds).sum(1, keepdims=True)
    return block.look.same(block.answers, expected, block.bar * (2 + reach)) and bool(np.any(_offset(block)))


# --- of one argument ----------------------------------------------------------------------------------------


def dropped(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Zero, where the derivative is not."""
    known = [b for b in case.blocks if np.any(np.isfinite(b.error))]
    given = (b.given if b.look.forward else b.answers for b in case.blocks)
    if known and not any(np.any(g) for g in given) and all(np.any(np.nan_to_num(b.right)) for b in known):
        words = f"drops {case.name}: its cotangent is zero, its derivative is not"
        if evidence.forward:
            words = f"drops the tangent of {case.name}, which the value depends on"
        yield Seen("dropped_argument", words, case.name, whole=True)


def unused(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Not zero, where the derivative is."""
    if case.all_of(lambda b: b.is_known and not np.any(np.abs(b.right) > 8 * b.bar)):
        said = f"gives {case.name} a {_what(evidence)} that is not zero, but the value does not depend on {case.name}"
        yield Seen("unused_argument", said, case.name, ("rl.ZeroTangent()", "0 * IT"), whole=True)


def conjugate(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Right but for a conjugate, of complex numbers."""
    if not case.all_of(lambda b: b.look.whole) or not any(map(_is_complex, case.blocks)):
        return
    for inner, outer, words in (
        (True, True, "lacks a conjugate of the derivative"),
        (True, False, "gives the conjugate of the cotangent"),
        (False, True, "conjugates the cotangent it is handed"),
    ):
        if case.all_of(lambda b, i=inner, o=outer: b.gives(_conjugated(b, i, o))):  # type: ignore[misc]
            yield Seen("conjugate", words, case.name, ("NP.conj(IT)",))
            return


def _is_complex(block: Block) -> bool:
    outputs = block.look.probe.truth.outputs
    return (block.leaf is not None and block.leaf.dtype.kind == "c") or any(
        o.dtype.kind == "c" for o in outputs
    )


def _conjugated(block: Block, inner: bool, outer: bool) -> np.ndarray:
    turned = block.right.copy()
    if inner and block.leaf is not None and block.leaf.dtype.kind == "c":
        turned[:, 1::2] *= -1
    if outer:
        for leaf in block.look.probe.truth.outputs:
            if leaf.dtype.kind == "c":
                turned[leaf.start + 1 : leaf.stop : 2] *= -1
    return turned


def factor(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Right but for a factor, the same expression at every probe."""
    if case.all_of(_is_mean_for_sum):
        words = "takes a mean where the axis along which it was repeated is to be summed"
        yield Seen("mean_for_sum", words, case.name)
        return
    if case.all_of(lambda b: b.gives(-b.right)):
        yield Seen("sign", "has the wrong sign", case.name, ("-IT",))
        return
    fit = _sample(evidence, case).factor()
    if fit is None or case.all_of(lambda b: np.array_equal(b.given, b.right)):
        return
    if fit.constant is not None and abs(fit.constant - 1) < 1e-3:
        return
    if "np." in fit.text:
        other = next(other_function(evidence, case), None)
        if other is not None:
            yield other
            return
    dividing = (f"IT / ({fit.text})", f"IT * ({fit.text})") if _is_python(fit.text) else ()
    of_size = "len(" in fit.text or ".size" in fit.text or ".shape" in fit.text
    if fit.constant is None and of_size and fit.text not in _plain_sizes(evidence):
        yield Seen("size", f"is made for one size: off by a factor {fit.words}", case.name, dividing)
        return
    yield Seen("factor", f"off by a factor {fit.words}", case.name, dividing)


def _plain_sizes(evidence: Evidence) -> set[str]:
    names = (*evidence.subject.names, "y")
    forms = ("len({})", "{}.size", "{}.shape[1]")
    return {start + form.format(name) for name in names for form in forms for start in ("", "1/")}


def _is_mean_for_sum(block: Block) -> bool:
    """Whether a sum over the repeats of a broadcast argument has been divided by their number."""
    if block.leaf is None or block.look.forward:
        return False
    out, size = block.right.shape
    if not 0 < size <= out or not _is_repeated(block):
        return False
    return block.gives(block.right * size / out)


def _is_repeated(block: Block) -> bool:
    """Whether an argument is smaller than the value, each element of which depends on one of it."""
    shape = block.look.y_shape
    if block.leaf is None or len(shape) == 0 or block.leaf.shape == shape:
        return False
    return bool(np.all(np.count_nonzero(np.abs(block.right) > 8 * block.bar, axis=1) <= 1))


def _is_python(text: str) -> bool:
    return "the " not in text


def excess(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Right but for a term that is a simple expression."""
    sample = _sample(evidence, case)
    fit = sample.excess()
    if fit is None:
        return
    negative = fit.text.startswith("-")
    text = fit.text.lstrip("-")
    if _is_of_one_element(case) and fit.constant is None:
        edits = (f"IT + ({text}) * BAR" if negative else f"IT - ({text}) * BAR",) if _is_python(text) else ()
    else:
        edits = ()
    if negative:
        yield Seen("lacks_term", f"lacks a term: too small by {text}", case.name, edits)
    else:
        yield Seen("extra_term", f"has a term too many: too large by {text}", case.name, edits)


def _is_of_one_element(case: Case) -> bool:
    """Whether each number in goes to one number out, so that a term of the derivative goes with the cotangent."""
    return case.all_of(
        lambda b: b.leaf is not None and (b.right.shape[0] == 1 or b.right.shape[0] == b.right.shape[1])
    )


def other_function(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """The derivative of something else, where both have a simple name."""
    sample = _sample(evidence, case)
    said = sample.said()
    if said is None or said.constant is not None:
        return
    measured = sample.measured()
    if measured is not None and measured.text != said.text:
        edits = ()
        if _is_python(said.text) and _is_python(measured.text):
            edits = (f"({measured.text}) * BAR",)
        yield Seen(
            "other_function", f"gives {said.text} where the derivative is {measured.text}", case.name, edits
        )


def imprecise(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Right to half of the digits."""
    yield from _to_some_digits(case, 1e-5)


def _all_answers(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """The answers to every seed, and what they should have been."""
    if block.look.whole:
        return block.answers, block.asked(block.look.seeds)
    return block.given, block.right


def rough(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Right to a few digits."""
    yield from _to_some_digits(case, 1e-3)


def _to_some_digits(case: Case, limit: float) -> Iterator[Seen]:
    worst = 0.0
    for block in case.blocks:
        if block.look.is_coarse:
            continue
        found, wanted = _all_answers(block)
        known = np.isfinite(wanted)
        scale = max(float(np.max(np.abs(wanted[known]), initial=0.0)), 1e-300)
        if not known.any() or not np.all(np.isfinite(found[known])):
            return
        worst = max(worst, float(np.max(np.abs(found - wanted)[known])) / scale)
    if 0 < worst < limit:
        digits = int(np.floor(-np.log10(worst)))
        yield Seen(
            "precision",
            f"is right to about {digits} digits only, as by differences or in single precision",
            case.name,
        )


def of_parts(evidence: Evidence, case: Case) -> Iterator[Seen]:
    """Transposed as a map: R is the transpose of J."""
    square = case.all_of(lambda b: b.leaf is not None and b.right.shape[0] == b.right.shape[1] > 1)
    if square and case.all_of(lambda b: b.gives(b.right.T)):
        yield Seen("transposed", "is transposed: its matrix is the transpose of the right one", case.name)


# --- where it is wrong only somewhere -----------------------------------------------------------------------


def _sample(evidence: Evidence, case: Case) -> Sample:
    return Sample(case, evidence.subject)


OF_COTANGENTS: tuple[Recogniser, ...] = (not_finite, ignores, dropped, unused)
OF_ARGUMENTS: tuple[Recogniser, ...] = (
    imprecise, conjugate, part_of_cotangent, nonlinear, of_parts, factor, rough,
)  # fmt: skip
OF_EXPRESSIONS: tuple[Recogniser, ...] = (excess, other_function)


def detail(evidence: Evidence, case: Case, only_wrong: bool = True) -> Seen | None:
    """What is wrong in those entries that are, in words to follow "wrong where …"."""
    wrong = case.only([b for b in case.blocks if not b.is_right])
    sample = Sample(wrong, evidence.subject, only_wrong)
    if sample.size and not np.any(sample.given) and np.any(sample.right):
        return Seen("dropped_argument", "zero there")
    fit: Fit | None = sample.factor()
    if fit is not None and fit.text == "-1":
        return Seen("sign", "with the wrong sign there")
    if fit is not None:
        return Seen("factor", f"off by a factor {fit.words} there")
    return None


def _at(evidence: Evidence, block: Block) -> str:
    from .comparison import shortened

    inputs = block.look.probe.point.inputs
    return ", at " + ", ".join(f"{n} = {shortened(x)}" for n, x in zip(evidence.subject.names, inputs))


def named(seen: Seen, name: str) -> Seen:
    return replace(seen, argument=name)
