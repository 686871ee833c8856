"""The mistake that turns the measured derivative into the one that a rule gives, for each argument."""

from __future__ import annotations

import ast
import dis
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...parsing import parse
from ...tangents.holding import captured
from .evidence import Block, Case, Evidence, Explanation
from .formulas import Fit, Sample, named_constant
from .seeds import drops_part, ignores, nonlinear, not_finite, part_of_cotangent, what_of

Recogniser = Callable[[Evidence, Case], Iterator[Explanation]]


def dropped(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Zero where the derivative is not zero."""
    known = [b for b in case.blocks if np.any(np.isfinite(b.error))]
    given = (b.given if b.look.forward else b.answers for b in case.blocks)
    if known and not any(np.any(g) for g in given) and any(np.any(np.nan_to_num(b.right)) for b in known):
        words = f"drops {case.name}: its cotangent is zero, but its derivative is not"
        if evidence.forward:
            words = f"drops the tangent of {case.name}, which the value depends on"
        yield Explanation("dropped_argument", words, case.name, whole=True)


def unused(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Not zero where the derivative is zero."""
    if case.all_of(lambda b: b.is_known and not np.any(np.abs(b.right) > 8 * b.bar)):
        what = f"gives {case.name} a {what_of(evidence)} that is not zero"
        said = f"{what} where the value does not depend on {case.name}"  # it may elsewhere
        yield Explanation("unused_argument", said, case.name, ("rl.ZeroTangent()", "0 * IT"), whole=True)


def conjugate(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right except for a conjugate of complex numbers."""
    if not case.all_of(lambda b: b.look.whole) or not any(map(_is_complex, case.blocks)):
        return
    for inner, outer, words in (
        (True, True, "lacks a conjugate of the derivative"),
        (True, False, "gives the conjugate of the cotangent"),
        (False, True, "conjugates the cotangent it is given"),
    ):
        if case.all_of(lambda b, i=inner, o=outer: b.gives(_conjugated(b, i, o))):  # type: ignore[misc]
            yield Explanation("conjugate", words, case.name, ("NP.conj(IT)",))
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


def factor(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right except for a factor that is the same expression at every probe."""
    if case.all_of(_is_mean_for_sum):
        words = "takes a mean over the axis that it was broadcast along, where a sum belongs"
        yield Explanation("mean_for_sum", words, case.name)
        return
    if case.all_of(lambda b: b.gives(-b.right)):
        yield Explanation("sign", "has the wrong sign", case.name, ("-IT",))
        return
    fit = _sample(evidence, case).factor()
    if fit is None or case.all_of(lambda b: np.array_equal(b.given, b.right)):
        return
    if fit.constant is not None and abs(fit.constant - 1) < 1e-3:
        return
    if fit.text == "-1":  # at most points; at some, digits are lost
        yield Explanation("sign", "has the wrong sign", case.name, ("-IT",))
        return
    of_size = "len(" in fit.text or ".size" in fit.text or ".shape" in fit.text
    if "np." in fit.text and not of_size:
        other = next(other_function(evidence, case), None)
        if other is not None:
            yield other
            return
    dividing = _dividing(fit.text) if _is_python(fit.text) else ()
    if "len(" in fit.text and not _asks_for_len(evidence):  # with `x.mean()`, x may be a matrix
        dividing = (*_dividing(_LEN.sub(r"\1.size", fit.text)), *dividing)
    if fit.constant is None and of_size and fit.text not in _plain_sizes(evidence):
        yield Explanation("size", f"made for one size: off by a factor of {fit.words}", case.name, dividing)
        return
    yield Explanation("factor", f"off by a factor of {fit.words}", case.name, dividing)


_LEN = re.compile(r"\blen\((\w+)\)")


def _asks_for_len(evidence: Evidence) -> bool:
    """Whether the function or the rule uses `len`."""
    return any("len" in code.co_names for code in (*evidence.subject.codes, *evidence.subject.helpers))


def _dividing(text: str) -> tuple[str, ...]:
    """Edits that remove a factor; the first has no quotient in a denominator, which has no value at zero."""
    above, below = _parts(parse(text, mode="eval").body)
    new = " * ".join(["IT", *(f"({part})" for part in below if part != "1")])
    rest = [f"({part})" for part in above if part != "1"]
    undone = f"{new} / ({' * '.join(rest)})" if rest else new
    return (undone, f"IT * ({text})")


def _parts(node: ast.expr) -> tuple[list[str], list[str]]:
    """The factors in the numerator and in the denominator of a product."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        above, below = _parts(node.operand)
        return ["-1", *above], below
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        (above, below), (more, less) = _parts(node.left), _parts(node.right)
        return (above + more, below + less) if isinstance(node.op, ast.Mult) else (above + less, below + more)
    return [ast.unparse(node)], []


def _plain_sizes(evidence: Evidence) -> set[str]:
    names = (*evidence.subject.names, "y")
    forms = ("len({})", "{}.size", "{}.shape[1]", "np.size({})")
    return {start + form.format(name) for name in names for form in forms for start in ("", "1/")}


def _is_mean_for_sum(block: Block) -> bool:
    """Whether a sum over the repetitions of a broadcast argument was divided by their number."""
    if block.leaf is None or block.look.forward:
        return False
    out, size = block.right.shape
    if not 0 < size <= out or not _is_repeated(block):
        return False
    return block.gives(block.right * size / out)


def _is_repeated(block: Block) -> bool:
    """Whether an argument has another shape than the value, each element of which depends on at most one of
    its elements.
    """
    shape = block.look.y_shape
    if block.leaf is None or len(shape) == 0 or block.leaf.shape == shape:
        return False
    return bool(np.all(np.count_nonzero(np.abs(block.right) > 8 * block.bar, axis=1) <= 1))


def _is_python(text: str) -> bool:
    return "the " not in text


def excess(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right except for an additional term that is a simple expression."""
    sample = _sample(evidence, case)
    fit = sample.excess()
    if fit is None:
        return
    negative = fit.text.startswith("-")
    text = fit.text.lstrip("-")
    if _is_of_one_element(case) and _is_python(text):
        sign = "+" if negative else "-"
        edits: tuple[str, ...] = (f"IT {sign} {text}", f"IT {sign} ({text}) * BAR")
    else:
        edits = ()
    if negative:
        yield Explanation("lacks_term", f"lacks a term: too small by {text}", case.name, edits)
    else:
        yield Explanation("extra_term", f"has one term too many: too large by {text}", case.name, edits)


def _is_of_one_element(case: Case) -> bool:
    """Whether a term of the derivative can be multiplied by the cotangent: each number in affects one number
    out.
    """
    return case.all_of(
        lambda b: b.leaf is not None and (b.right.shape[0] == 1 or b.right.shape[0] == b.right.shape[1])
    )


def other_function(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """The derivative of a different function, if both are simple expressions."""
    sample = _sample(evidence, case)
    said = sample.said()
    if said is None or said.constant is not None:
        return
    measured = sample.measured()
    if measured is not None and measured.text != said.text:
        edits: tuple[str, ...] = ()
        if _is_python(said.text) and _is_python(measured.text):
            edits = (f"({measured.text}) * BAR",)
        yield Explanation(
            "other_function", f"gives {said.text} where the derivative is {measured.text}", case.name, edits
        )


def imprecise(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right to about half of the digits."""
    yield from _to_some_digits(case, 1e-5)


def _all_answers(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """The answers to every seed, and the right ones."""
    if block.look.whole:
        return block.answers, block.right_answers(block.look.seeds)
    return block.given, block.right


def rough(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right to a few digits."""
    yield from _to_some_digits(case, 1e-3)


def _to_some_digits(case: Case, limit: float) -> Iterator[Explanation]:
    worst = 0.0
    for block in case.blocks:
        if block.look.is_coarse:
            continue
        found, wanted = _all_answers(block)
        known = np.isfinite(wanted)
        if not np.all(np.isfinite(found[known])):
            return
        with np.errstate(all="ignore"):
            off = np.where(known, np.abs(found - wanted), 0.0).max(1, initial=0.0)
            scale = np.where(known, np.abs(wanted), 0.0).max(1, initial=0.0)  # each answer has its own scale
        worst = max(worst, float(np.max(off / np.maximum(scale, 1e-300), initial=0.0)))
    if 0 < worst < limit:
        digits = int(np.floor(-np.log10(worst)))
        yield Explanation(
            "precision",
            f"accurate to about {digits} digits only, as finite differences or single precision would be",
            case.name,
        )


def of_parts(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Transposed as a linear map: R is the transpose of J."""
    square = case.all_of(lambda b: b.leaf is not None and b.right.shape[0] == b.right.shape[1] > 1)
    if square and case.all_of(lambda b: b.gives(b.right.T)):
        yield Explanation(
            "transposed", "transposed: its Jacobian is the transpose of the right one", case.name
        )


def shifted(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right except for a shift along a vector: each number is that of a neighbour."""
    long = case.only([b for b in case.blocks if b.leaf is not None and len(b.leaf.shape) == 1])
    if not long.blocks or len(long.blocks) < len(case.blocks):
        return
    if all(b.right.shape[1] < 3 for b in long.blocks):  # two are neighbours on both sides
        return
    for axis, by in ((1, 1), (1, -1), (0, 1), (0, -1)):
        if long.all_of(lambda b, axis=axis, by=by: b.gives(np.roll(b.right, by, axis))):  # type: ignore[misc]
            yield Explanation("off_by_one", f"off by one: {_neighbour(case.name, axis, by)}", case.name)
            return


DISPLACED = "has the right numbers, but at the wrong positions"


def displaced(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """The right numbers at the wrong elements."""
    long = [b for b in case.blocks if b.is_measured and b.leaf is not None and b.right.shape[1] > 2]
    if long and all(_is_in_other_order(b) for b in long) and not all(b.is_right for b in long):
        words = DISPLACED
        yield Explanation("wrong_element", words, case.name)


def _is_in_other_order(block: Block) -> bool:
    return block.look.same(np.sort(block.given, axis=1), np.sort(block.right, axis=1), block.bar)


FOR_SOME = "for some elements"


def of_some_elements(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Zero, or off by one factor, for some elements and right for the others."""
    wrong = [b for b in case.blocks if not b.is_right]
    if not any(np.any(np.nan_to_num(b.right[~b.wrong])) for b in wrong):
        return
    given, right = (np.concatenate([t[b.wrong] for t, b in zip(m, wrong)]) for m in
                    ([b.given for b in wrong], [b.right for b in wrong]))  # fmt: skip
    if not np.all(np.isfinite(right)):
        return
    if not np.any(np.abs(given) > 1e-9 * np.abs(right)):
        words = "lacks a term: zero for some elements, where the derivative is not, and right for others"
        yield Explanation("lacks_term", words, case.name)
    elif len(right) > 2 and np.all(right) and np.allclose(given / right, given[0] / right[0], rtol=1e-6):
        number = named_constant(float(given[0] / right[0]))
        if number == "-1":
            yield Explanation("sign", f"has the wrong sign {FOR_SOME}", case.name)
        else:
            yield Explanation("factor", f"off by a factor of {number} {FOR_SOME}", case.name)


def _neighbour(name: str, axis: int, by: int) -> str:
    what = f"the cotangent of {name}" if axis == 1 else "the part of its cotangent that it uses"
    return f"{what} is shifted by one element {'forward' if by > 0 else 'back'}"


def stale(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Answers that are right for the first arguments, or equal for all: something is kept between calls."""
    known = [b for b in case.blocks if b.is_known]
    if not known or evidence.forward:
        return
    first, *others = [b for b in known if b.right.shape == known[0].right.shape]
    wrong = [b for b in others if not b.is_right]
    if len(wrong) < 2 or not any(not b.look.same(b.right, wrong[0].right) for b in wrong):
        return
    kept = first.right if first.is_right else first.given
    if not np.any(kept):  # zero for all arguments: nothing is kept
        return
    if first.is_right and _may_keep(evidence) and all(b.gives(first.right) for b in wrong):
        words = "keeps state between calls: its answers are those for the arguments that came first"
        yield Explanation("stateful", words, case.name, whole=True)
    elif not first.is_right and _keeps(evidence) and all(b.gives(first.given) for b in wrong):
        words = "keeps state between calls: its answers are the same for all arguments"
        yield Explanation("stateful", words, case.name, whole=True)


def _keeps(evidence: Evidence) -> bool:
    """Whether the rule, or a function that it calls, can reach a container that outlives a call."""
    author = _author(evidence)
    codes = (*evidence.subject.rule_codes, *evidence.subject.helpers)
    space = getattr(author, "__globals__", {})
    held = [space.get(name) for code in codes for name in code.co_names]
    held += captured(author).values()
    return any(isinstance(one, (dict, list, set, bytearray)) for one in held)


def _may_keep(evidence: Evidence) -> bool:
    """The same for anything else that outlives a call: globals and attributes that it sets, variables of
    enclosing functions, defaults.
    """
    author = _author(evidence)
    if author is None or _keeps(evidence) or author.__closure__ or author.__defaults__:
        return True
    codes = (*evidence.subject.rule_codes, *evidence.subject.helpers)
    binds = ("STORE_GLOBAL", "STORE_ATTR")
    return any(op.opname in binds for code in codes for op in dis.get_instructions(code))


def _author(evidence: Evidence) -> Any:
    rule = evidence.subject.rule
    return None if rule is None else rule.function if rule.partials is None else rule.partials


# --- rules that are wrong only somewhere --------------------------------------------------------------------


def _sample(evidence: Evidence, case: Case) -> Sample:
    return Sample(case, evidence.subject)


OF_COTANGENTS: tuple[Recogniser, ...] = (stale, not_finite, ignores, dropped, unused)
OF_ARGUMENTS: tuple[Recogniser, ...] = (
    imprecise, conjugate, drops_part, part_of_cotangent, nonlinear, of_parts, shifted, factor, rough,
)  # fmt: skip
OF_EXPRESSIONS: tuple[Recogniser, ...] = (excess, other_function, displaced, of_some_elements)


def detail(evidence: Evidence, case: Case, only_wrong: bool = True) -> Explanation | None:
    """What is wrong in the wrong entries, in words that follow "wrong where …"."""
    wrong = case.only([b for b in case.blocks if not b.is_right])
    sample = Sample(wrong, evidence.subject, only_wrong)
    if sample.size and not np.any(sample.given) and np.any(sample.right):
        return Explanation("dropped_argument", "zero there")
    fit: Fit | None = sample.factor()
    if fit is not None and fit.text == "-1":
        return Explanation("sign", "with the wrong sign there")
    if fit is not None:
        return Explanation("factor", f"off by a factor of {fit.words} there")
    return None
