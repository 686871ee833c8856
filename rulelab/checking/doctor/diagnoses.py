"""The mistake behind a wrong rule, its line, and the corrected line."""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...errors import Place
from ..calling.subjects import Subject
from ..probing.closeness import Closeness
from ..probing.findings import AT_ZERO, Diagnosis, Finding
from ..probing.probes import Point, Probe
from ..reading.editing import Edit, instead
from . import arrays, mistakes, regions, symptoms
from .corrections import MOST_TRIED, Surgery, surgery
from .edits import is_zero
from .evidence import Case, Evidence, Explanation, evidence_of
from .foreign_writes import first_write
from .paths import omitted_path
from .reading import place_elsewhere

MISTAKES = {
    "ignores_cotangent": "the pullback does not use its cotangent",
    "part_of_cotangent": "the pullback uses a part of its cotangent, or a sum of it, for all its elements",
    "nonlinear": "the answer is not linear in the cotangent",
    "additive_constant": "something is added that does not depend on the cotangent",
    "sign": "the sign is wrong",
    "factor": "a factor is missing, or there is one too many",
    "size": "the rule is made for one size of its arguments",
    "power": "a power is wrong",
    "lacks_term": "a term is missing",
    "extra_term": "there is one term too many",
    "other_function": "it is the derivative of a different function",
    "conjugate": "a conjugate is missing, or there is one too many",
    "transposed": "something is transposed",
    "elementwise_product": "an elementwise product is used where a matrix product belongs",
    "matrix_product": "a matrix product is used where an elementwise one belongs",
    "swapped_arguments": "the cotangents of two arguments are swapped",
    "dropped_argument": "the cotangent of an argument is zero, but its derivative is not",
    "unused_argument": "an argument that the value does not depend on has a cotangent",
    "broadcast_sum": "the sum over an axis along which an argument was repeated is missing",
    "wrong_axis": "the sum is over the wrong axis",
    "mean_for_sum": "a mean is used where a sum belongs",
    "sum_for_mean": "a sum is used where a mean belongs",
    "lacks_sum": "a sum is missing",
    "lacks_inverse": "an inverse is missing",
    "off_by_one": "an index, a length or a power is off by one",
    "wrong_element": "the rule picks a different element from the one that the function picks",
    "overwrites": "something is overwritten that should be added to",
    "lost_write": "something is written to a copy, and lost",
    "order": "something is done, or written, in the wrong order",
    "wrong_variable": "a variable is used where another belongs",
    "parentheses": "parentheses are missing or misplaced",
    "triangle": "the wrong triangle of a matrix is used",
    "branch": "the rule is wrong on one side of a branch, or at some points only",
    "kink": "the rule is wrong at a kink or at a tie",
    "dtype": "the rule is wrong in single precision",
    "layout": "the rule is wrong for arrays that are not contiguous",
    "precision": "digits are lost",
    "not_finite": "nan or inf where the derivative is finite",
    "value": "the rule returns a different value from the function",
    "raises": "the rule raises an exception",
    "count": "the pullback returns the wrong number of cotangents",
    "none": "the pullback returns None for a cotangent",
    "zero_class": "the pullback returns a class in place of a zero",
    "shape": "a cotangent has a different shape from its argument",
    "kind": "a cotangent is of a different kind from its argument",
    "writes": "the rule writes to what belongs to its caller",
    "stateful": "the answer depends on earlier calls",
    "keeps_uncopied": "the pullback uses what the caller may have changed meanwhile",
    "thunk": "a delayed cotangent is not treated as a plain one",
    "unexplained": "no simple mistake was found that explains the numbers",
}
"""All mistakes that have a name, in general words; a diagnosis has specific ones."""

ADVICE = {
    "ignores_cotangent": "multiply by the cotangent that the pullback is given",
    "part_of_cotangent": "use every element of the cotangent: the value has several",
    "nonlinear": "a pullback is a linear map: use the cotangent once, as a factor",
    "additive_constant": "remove the term without the cotangent",
    "size": "take the size from the argument: x.size, x.shape, len(x)",
    "conjugate": "for a complex argument, x_bar = conj(dy/dx) * y_bar",
    "broadcast_sum": "sum the cotangent over the axes along which the argument was repeated",
    "wrong_axis": "sum over the axes along which the argument was repeated, and over no others",
    "mean_for_sum": "add up the cotangent (np.sum) instead of averaging it (np.mean)",
    "branch": "compare the branches of the rule with those of the function",
    "kink": "split the cotangent between equal arguments, or give all of it to one of them",
    "dtype": "look for a hard-coded dtype, or a constant near 1e-8 that is lost in single precision",
    "layout": "use shapes and indices, not .ravel(order=…), .data or strides",
    "precision": "use the formula of the derivative, in the dtype of the argument",
    "not_finite": "treat that point separately, before the division by zero",
    "value": "return the function's own value first, then the pullback",
    "count": "return rl.NoTangent() for the function itself, then one cotangent for each argument",
    "none": "return rl.ZeroTangent() if the derivative is zero, rl.NoTangent() if there is none",
    "zero_class": "call it: rl.NoTangent()",
    "shape": "return a cotangent of the shape of the argument",
    "kind": "return numbers where the argument has numbers",
    "writes": "work on a copy",
    "stateful": "do not let the pullback change what it uses: make new arrays at each call",
    "keeps_uncopied": "keep a copy of what the pullback needs",
    "thunk": "call rl.unthunk on the cotangent before using it",
    "dropped_argument": "return its cotangent; zero is for what the value does not depend on, and "
    "rl.NoTangent() for what cannot be perturbed",
    "unused_argument": "return rl.ZeroTangent() for it",
    "swapped_arguments": "return the cotangents in the order of the arguments",
}
"""What to do about a mistake if no correction is found."""

_LOG = logging.getLogger(__name__)


class Strict:
    """Whether a recogniser that fails raises, as in tests, or is skipped."""

    raises = False


def diagnose(
    subject: Subject,
    probes: list[Probe],
    compared: list[tuple[Probe, Closeness]],
    findings: list[Finding],
    tries: int | None = None,
    elsewhere: Sequence[Point] = (),
    others: Sequence[Probe] = (),
    off: Sequence[Probe] = (),
) -> Iterator[Diagnosis]:
    """The mistakes that explain the findings, the likeliest first; usually one. `tries` limits the search for
    a correction. A correction must also be right at the points `elsewhere` and at the probes `others`, unless
    the rule is as wrong there as before; the first probe among those that were `off` where it is still wrong
    is reported.

    If something fails in here, only a diagnosis is lost.
    """
    evidence = evidence_of(subject, probes, compared, findings)
    seen = _explained(evidence)
    if not seen:
        return
    groups = _grouped(evidence, seen)
    wrong = {id(finding.probe) for finding in evidence.wrong}
    ordered = sorted(probes, key=lambda probe: id(probe) not in wrong)
    most = MOST_TRIED if tries is None else tries
    operation = _tried(lambda: surgery(subject, ordered, most, elsewhere, others))
    leading = _leading(groups)
    if operation is not None:
        operation.watched = [f.probe.point for f in evidence.of_check("effects") if f.probe is not None]
    # A rule that is right wherever it has numbers cannot be told from its correction by numbers.
    may_be_mended = operation is not None and not evidence.of_check(AT_ZERO)
    diff = _tried(lambda: operation.correction(leading)) if may_be_mended else None
    reading = operation.place_of if operation else partial(place_elsewhere, subject)
    almost = operation.almost if operation is not None and diff is None else ""
    edit = diff[0][0] if diff is not None else operation.nearest if operation is not None else None
    of_arrays = any(b.leaf is not None and b.leaf.shape for case in evidence.cases for b in case.blocks)
    left = _tried(lambda: operation.still_wrong(diff[0], off)) if diff is not None else None
    of_one = diff is not None and len(diff[0]) == len(diff[0][0].all)
    option = _tried(partial(regions.option_of_wrong_points, evidence))
    several, told = len({one.argument for one in leading}) > 1, False
    for number, (one, same) in enumerate(groups):
        vague = _is_vague(one, of_arrays)
        if number and of_one and (vague or told or one.mistake in ("branch", "size")):
            continue  # the same mistake
        place = one.place or _tried(partial(reading, same))
        shown = diff[1] if diff is not None and number == 0 else ""
        telling = edit if number == 0 else None
        if diff is not None and telling is not None and one.mistake == "unexplained":
            telling = _as_beside(telling, leading)
        if operation is not None and diff is None and several:
            own = (operation.each[s.argument] for s in same if s.argument in operation.each)
            telling = next(own, telling)
        alone = operation is not None and telling in operation.each.values()
        if operation is not None and telling is not None:
            vague = vague and (diff is not None or one.mistake != "not_finite")
            is_left_out = one.mistake == "dropped_argument" and operation.is_zero_by_name(telling.old)
            vague = vague or (_is_coincidence(one, telling) and not is_left_out)
            vague = vague or (bool(shown) and _tells_less(one, telling, operation.is_in_branch(telling)))
            sure = bool(shown) or (alone and operation.is_right_elsewhere(telling, one.argument or ""))
            vague = vague and (sure or not _is_chance(one, telling))
            if shown or vague:
                place = operation.source.place(telling.old)
            if vague and telling.mistake:
                one, told = _told_by(evidence, one, leading if shown and of_one else same, telling), True
        may_be_bare = not (number or shown or evidence.forward or one.mistake in _OF_ANSWER)
        bare = _tried(operation.bare_buffer) if operation is not None and may_be_bare else None
        if bare is not None and operation is not None:
            words = (
                f"never writes some elements of `{ast.unparse(bare)}`, which hold whatever was in memory"
            )
            one, place = replace(one, mistake="lacks_term", words=words), operation.source.place(bare)
        if one.mistake == "additive_constant" and operation is not None and not shown:
            term = _tried(lambda: next(operation.still_terms(), None))
            place = operation.source.place(term[0]) if term else place
        if operation is not None and not shown:
            place = _tried(partial(_place_of_effect, operation, one)) or place
            if almost and edit is not None and not number:
                place = operation.source.place(edit.old)
        bar = ""
        unsaid = one.mistake == "unexplained" or one.words.startswith(regions.SOMEWHERE)
        if unsaid and not shown and operation is not None and not evidence.forward:
            bar = _tried(partial(omitted_path, operation.anatomy, one.argument)) or ""
        if bar:
            words = f"lacks a term: what flows through `{bar}` never reaches the cotangent of {one.argument}"
            one = replace(one, mistake="lacks_term", words=words)
        elif one.mistake == "unexplained" and operation is not None:
            where = _tried(operation.where_it_goes_wrong)
            one = replace(one, words=f"{one.words}; it goes wrong {where}") if where else one
        if one.mistake == "extra_term" and operation is not None and not shown:
            one = _tried(partial(_lacking, operation, one, same)) or one
        yield Diagnosis(
            one.mistake,
            _at_option(one.words, option),
            one.argument if len(same) == 1 else None,
            place,
            shown,
            "" if shown else _advice(evidence, one, almost if number == 0 else ""),
            subject.shown(left.point.inputs) if shown and left is not None else "",
        )


def _place_of_effect(operation: Surgery, seen: Explanation) -> Place | None:
    """Where a rule writes to memory that is not its own, or where its numbers become nan or inf."""
    anatomy = operation.anatomy
    found: Iterable[ast.AST | None] = ()
    if seen.mistake == "not_finite":
        found = (operation.where_numbers_end(),)
    elif seen.mistake == "writes":
        lent = (*anatomy.parameters, *operation.bars())
        found = (first_write(scope, lent) for scope in (*anatomy.pullbacks, anatomy.node))
    elif seen.mistake == "stateful":
        found = (first_write(pullback, anatomy.values) for pullback in anatomy.pullbacks)
    return next((operation.source.place(node) for node in found if node is not None), None)


def _at_option(words: str, option: str | None) -> str:
    """The words, followed by the value of an option if the rule is wrong only with it."""
    return words if option is None or option in words else f"{words}, where {option}"


def _advice(evidence: Evidence, seen: Explanation, almost: str) -> str:
    """What to do about a mistake, and which change almost corrects it."""
    said = ADVICE.get(seen.mistake, "")
    if seen.mistake == "count":
        said = _advice_on_count(evidence, seen)
    if seen.mistake == "dropped_argument" and evidence.forward:
        said = "add its derivative times its tangent"
    if seen.mistake == "kind" and (own := _ITS_OWN_CLASS.search(seen.words)):
        said = f"return a dict of the cotangents of its fields, or rl.Tangent({own[1]}, …)"
    if seen.mistake == "branch" and not regions.has_branches(evidence.subject):
        said = "compare what the rule does there with what the function does"
    if seen.words.startswith(regions.WHERE) and regions.OF_INTEGERS in seen.words:
        said = "make buffers of floats: no np.zeros_like of integers, no .astype to their dtype"
    return "; ".join(filter(None, (said, almost)))


_ITS_OWN_CLASS = re.compile(r"\ban? (\w+) cannot have a gradient of kind \1\b")


def _advice_on_count(evidence: Evidence, seen: Explanation) -> str:
    """The advice for a wrong number of cotangents. A vjp has none for the function itself, and without a
    pullback there are none to count.
    """
    if "must return (y, pullback)" in seen.words:
        return "return a pair: the value, and a function from its cotangent to those of the arguments"
    if evidence.subject.rule is None:
        return "return one cotangent for each argument"
    return ADVICE["count"]


def _is_vague(seen: Explanation, of_arrays: bool) -> bool:
    """Whether the numbers alone do not show which mistake it is."""
    if seen.mistake in ("lacks_term", "extra_term"):  # for arrays a missing term is rarely the mistake
        return of_arrays
    somewhere = (regions.SOMEWHERE, regions.AT_END)
    return seen.mistake in ("unexplained", "not_finite") or seen.words.startswith(somewhere)


_RATHER = {
    "part_of_cotangent": (
        *("lacks_term", "off_by_one", "wrong_element", "overwrites", "swapped_arguments", "conjugate"),
    ),
    "additive_constant": ("parentheses", "additive_constant"),
    "nonlinear": ("dtype", "layout", "off_by_one", "wrong_element", "additive_constant"),
    "transposed": ("order", "conjugate"),
    "off_by_one": ("swapped_arguments", "wrong_element"),
    "factor": ("off_by_one", "wrong_element", "order", "wrong_axis", "overwrites"),
    "extra_term": ("lacks_term", "branch"),
    "lacks_term": ("branch",),
    "stateful": ("wrong_variable", "off_by_one", "wrong_element"),
    "branch": ("wrong_axis",),
    "dropped_argument": (
        *("conjugate", "branch", "wrong_variable", "wrong_element", "off_by_one", "order", "overwrites"),
        "lost_write",
    ),
}
"""For a mistake suggested by the numbers, the mistakes that a change may show it to be instead."""


_QUOTIENT = re.compile(r"^off by a factor of -?[a-z_]\w*/[a-z_]\w*(,|$)", re.IGNORECASE)
"""A factor that is the quotient of two names: one name is used instead of the other."""


_OF_ANSWER = ("writes", "value", "raises", "count", "none", "zero_class", "shape", "kind", "thunk")
"""Mistakes that unwritten elements of a buffer do not explain."""


_NO_NAME = re.compile(r"^off by a factor of -?\d+\.\d{3,}")
"""A factor that is no known constant."""


_OF_SHAPES = re.compile(r"^raises (ValueError|IndexError|LinAlgError)\b")
"""What NumPy raises for arrays with incompatible shapes."""


def _is_coincidence(seen: Explanation, edit: Edit) -> bool:
    """Whether a change shows that what the numbers suggest is a coincidence, such as a condition on a size
    although the change has nothing to do with sizes.
    """
    if seen.mistake == "size" or seen.words.startswith((regions.THIS_LINE, mistakes.DISPLACED)):
        return edit.mistake not in ("", "size")
    if seen.words.startswith(_OF_TOTALS):
        return edit.mistake not in ("", "branch", "sign")
    if edit.mistake == "wrong_variable" and _QUOTIENT.search(seen.words):
        return True
    if seen.mistake == "dropped_argument" and isinstance(edit.old, ast.expr) and not is_zero(edit.old):
        return bool(edit.mistake)  # its cotangent evaluates to zero, but was not left out
    return edit.mistake in _RATHER.get(seen.mistake, ())


_OF_PLACES = frozenset(("branch", "kink", "off_by_one", "wrong_element", "order", "overwrites", "triangle"))
"""Mistakes that are right at some points and wrong at others."""


def _is_chance(seen: Explanation, edit: Edit) -> bool:
    """Whether a change that is not a correction may be right by chance where the rule is wrong. If that is at
    few points, or wherever two lengths differ, nearly any change may be.
    """
    if seen.mistake == "size" and regions.SAME_AS in seen.words:
        return True
    return seen.words.startswith(regions.SOMEWHERE) and edit.mistake not in _OF_PLACES


_OF_TOTALS = (
    f"{regions.WHERE} the value",
    *(f"{regions.WHERE} the {one} of" for one in ("sum", "largest", "smallest")),
)
"""Conditions on totals of all numbers, nearly any of which may hold by chance."""


def _tells_less(seen: Explanation, edit: Edit, in_branch: bool) -> bool:
    """Whether a diagnosis by a condition, by the wrong elements or by shapes says less than the change that
    corrects the rule. `in_branch` says whether the change is made where a condition holds.
    """
    if seen.mistake == "shape" or (seen.mistake == "raises" and _OF_SHAPES.search(seen.words)):
        return bool(edit.mistake)
    if seen.mistake == "branch" and seen.words.startswith(regions.WHERE) and not in_branch:
        return edit.mistake not in ("", "branch", "sign")
    if seen.mistake == "transposed":
        return edit.mistake not in ("", "transposed")
    less = mistakes.FOR_SOME in seen.words or bool(_NO_NAME.search(seen.words))
    return bool(edit.mistake) and (less or seen.words.startswith(regions.IN_COMPLEX_ALONE))


def _lacking(operation: Surgery, seen: Explanation, same: list[Explanation]) -> Explanation | None:
    """The mistake as a missing term, if the answer is too large and the rule has no sum there: then no term
    can be superfluous, but one with a minus is missing.
    """
    sites = [operation.cotangents_of(one.argument) for one in same]
    if any(not nodes or any(map(operation.is_a_sum, nodes)) for nodes in sites):
        return None
    words = seen.words.replace("has one term too many", "lacks a term")
    return replace(seen, mistake="lacks_term", words=words)


def _told_by(evidence: Evidence, vague: Explanation, same: list[Explanation], edit: Edit) -> Explanation:
    """The mistake that a change of the rule corrects, in place of a vague one."""
    names = list(dict.fromkeys(s.argument for s in same if s.argument))
    words = edit.words
    if names and len(names) < len(evidence.arguments):
        words = _naming(evidence, words, names)
    return replace(vague, mistake=edit.mistake, words=words)


def _as_beside(edit: Edit, leading: list[Explanation]) -> Edit:
    """A change without a mistake of its own, with the mistake that it corrects for other arguments besides
    the unexplained one.
    """
    known = [one for one in leading if one.mistake != "unexplained"]
    if edit.mistake or edit.more or not known:
        return edit
    return replace(edit, mistake=known[0].mistake, words=instead(edit.new, edit.old))


def _leading(groups: list[tuple[Explanation, list[Explanation]]]) -> list[Explanation]:
    """What a correction has to correct: all arguments of all diagnoses."""
    return [one for _, same in groups for one in same]


def _explained(evidence: Evidence) -> list[Explanation]:
    """The mistakes seen, in order of cause: writes come before numbers, a refusal before everything else."""
    effects = symptoms.shared_cause(list(_guarded(symptoms.effects_seen, evidence)))
    strong = [one for one in effects if one.mistake in ("writes", "stateful")]
    if strong:
        return strong[:1]
    refused = list(_guarded(symptoms.failures_seen, evidence))
    of_arrays = {one.argument: one for one in _guarded(arrays.of_arrays, evidence)}
    numbers = sorted(_of_cases(evidence, of_arrays), key=lambda one: one.mistake == "not_finite")
    if refused:
        shaped = [one for one in of_arrays.values() if refused[0].mistake == "shape"]
        # A mistake where the rule does answer comes first: that it fails elsewhere is a different matter.
        return shaped or [*numbers, refused[0]]
    value = list(_guarded(symptoms.value_seen, evidence))
    if value and not numbers:
        return value
    weak = [*numbers, *value, *effects]
    if not weak:
        weak = [
            *_guarded(symptoms.zeros_seen, evidence),
            *_guarded(symptoms.kinks_seen, evidence),
        ]
    return weak if numbers or value else weak[:1]


def _of_cases(evidence: Evidence, of_arrays: dict[str | None, Explanation]) -> Iterator[Explanation]:
    """The mistake of each argument that is wrong."""
    for case in evidence.cases:
        yield _of_case(evidence, case, of_arrays)


def _of_case(evidence: Evidence, case: Case, of_arrays: dict[str | None, Explanation]) -> Explanation:
    case = _of_numbers(case)
    fine = [b for b in case.blocks if not b.look.is_coarse] or list(case.blocks)
    exact = case.only(fine)
    odd = _first(regions.of_odd_inputs, evidence, case)
    if odd is not None:
        return odd
    if not all(b.is_right for b in fine):
        for recognise in mistakes.OF_COTANGENTS:
            found = _first(recognise, evidence, exact)
            if found is not None:
                return found
        if case.name in of_arrays:
            return of_arrays[case.name]
        for recognise in mistakes.OF_ARGUMENTS:
            found = _first(recognise, evidence, exact)
            if found is not None and "np.sign(" in found.words:  # a branch is a better explanation
                return _first(regions.regions, evidence, case) or found
            if found is not None:
                return found
    found = _first(regions.regions, evidence, case)
    if found is not None:
        return found
    for recognise in mistakes.OF_EXPRESSIONS:
        found = _first(recognise, evidence, exact)
        if found is not None:
            return found
    return Explanation("unexplained", "no simple mistake was found that explains its numbers", case.name)


def _of_numbers(case: Case) -> Case:
    """A case without the points at which the rule gives nan or inf, if it gives wrong numbers at others: to
    divide by something that may be zero is a different matter.
    """
    numbers = [b for b in case.blocks if np.all(np.isfinite(b.given[np.isfinite(b.right)]))]
    return case.only(numbers) if any(not b.is_right for b in numbers) else case


def _first(recognise: Callable, evidence: Evidence, case: Case) -> Explanation | None:
    return _tried(lambda: next(iter(recognise(evidence, case)), None))


def _guarded(recognise: Callable[[Evidence], Iterable[Explanation]], evidence: Evidence) -> list[Explanation]:
    return _tried(lambda: list(recognise(evidence))) or []


def _tried(work: Callable):
    """The result of `work`; None if it raises, which is a bug of ours and does not concern the author."""
    try:
        return work()
    except Exception:
        if Strict.raises:
            raise
        _LOG.debug("a recogniser failed", exc_info=True)
        return None


def _grouped(evidence: Evidence, seen: list[Explanation]) -> list[tuple[Explanation, list[Explanation]]]:
    """What is seen, with equal statements about several arguments combined. The arguments are named if there
    are others.
    """
    groups: dict[tuple[str, str], list[Explanation]] = {}
    for one in seen:
        groups.setdefault((one.mistake, one.words), []).append(one)
    everything = len(evidence.arguments)
    found = []
    for same in groups.values():
        one = same[0]
        names = [s.argument for s in same if s.argument]
        # What holds for all arguments needs no names.
        if not one.whole and names and 0 < len(names) < everything:
            one = replace(one, words=_naming(evidence, one.words, names))
        found.append((one, same))
    return found


def _naming(evidence: Evidence, words: str, names: list[str]) -> str:
    if evidence.forward:
        return f"{words}, in the part of {_row(names)}"
    return f"{words}, in the cotangent{'s' if len(names) > 1 else ''} of {_row(names)}"


def _row(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
