"""The verdict on a rule if no kind of arguments that was tried fits it and its function."""

from __future__ import annotations

from ..advice import with_at
from ..checking.reading.axes_read import multiplies_matrices
from .cells import shape_of
from .verdicts import Unsupported

NOTHING_FITS = "the rule accepts no numbers or arrays"
GIVE_ARGUMENTS = "give sample arguments"


def verdict_on_misfits(misfits, questions, excludes_ranks):
    """Return the verdict if nothing fits, from the `misfits` by plan and all questions;
    `excludes_ranks(plan)` says whether the function is meant for arguments of other ranks.
    """
    if not questions:
        return Unsupported(NOTHING_FITS)
    advice = with_at(GIVE_ARGUMENTS, questions[0][1].names)
    asked = [m.verdict for p, m in misfits if not p.form and m.verdict is not None]
    of_rule = [m for _, m in misfits if m.verdict is not None]
    raised = next((m for m in of_rule if m.raised), None)
    if asked and (misfits[0][0].given or raised is None):
        return asked[0]
    if raised is not None and f"raised {NameError.__name__}" in raised.verdict.reason:
        return Unsupported(raised.verdict.reason)  # no arguments would help
    if raised is not None:
        words = f"{raised.verdict.reason} for every kind of argument that was tried"
        return Unsupported(words, None, advice)
    is_said = len({p.ranks() for p, _ in questions}) == 1  # because a domain leaves no other kinds
    alike = [
        m for p, m in misfits
        if m.verdict is not None
        and (not p.form or is_said or p.is_of_one_shape() and not _multiplies_several(*questions[0]))
        and not excludes_ranks(p)
    ]  # fmt: skip
    if alike:  # for guessed mixtures of kinds, a cotangent may well have another shape
        return alike[0].verdict
    if of_rule:
        return Unsupported(f"{of_rule[0].verdict.reason}, at guessed arguments", None, advice)
    unsupported = next((m.unsupported for _, m in misfits if m.unsupported is not None), None)
    if unsupported is not None:
        return unsupported
    sized = all(any(map(shape_of, plan.specs[0])) for plan, _ in questions)
    kinds = "arrays of these kinds and sizes" if sized else "guessed numbers and arrays"
    return Unsupported(f"calls with {kinds} fail: {misfits[0][1]}", None, advice)


def _multiplies_several(plan, question):
    """Whether the function has several arguments and multiplies matrices: then vectors for all of them are
    probably not intended.
    """
    return sum(kind == "scalar" for kind in plan.specs[0]) > 1 and multiplies_matrices(question.primal)
