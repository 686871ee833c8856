"""What numbers say about a rule that is proved for some arguments, where it is not known which are intended:
a proof holds for the kinds, sizes and layouts that were traced, and users have others, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...errors import RuleLabError
from ...rules.registry import Registry
from ..measuring.vectors import to_vec
from ..probing.findings import AT_ZERO, NO_NUMBER, WRONG, Finding
from ..probing.variants import OF_MATRICES
from .checks import Checking
from .testers import checking, report_of_check


class NumericEvidence(NamedTuple):
    """What numbers say about a rule: what is `wrong` with it and at which arguments; where it returns nan or
    infinity although it is right elsewhere and the function has a slope; and what is wrong at arguments that
    may not be intended, and is `set_aside`.
    """

    wrong: tuple[str, str] | None = None
    no_number_at: str = ""
    set_aside: str = ""


def numeric_evidence(
    f: Callable, kwargs: Mapping[str, Any], registry: Registry, of_form: bool = True, in_doubt: bool = False
) -> NumericEvidence:
    """What numbers say about the reverse rule of a function at drawn arguments, as `rule_check` draws them;
    nothing if no arguments are found. A wrong form of its answers counts only with `of_form`: they need not
    have the form that the AD takes.

    The mistake is not located, and few points are checked unless one is wrong. Then the whole check must
    confirm it, since it knows which deviations do not make a rule wrong. It runs at once if the proof is
    `in_doubt`: something is wrong at arguments that may not be intended, and it knows more about which are.
    """
    try:
        check = _judged(f, kwargs, registry, few=not in_doubt)
        if not in_doubt and _of_the_first(check, of_form) is not None:
            check = _judged(f, kwargs, registry, few=False)
        return NumericEvidence(_of_the_first(check, of_form), check.no_number_at, check.set_aside)
    except RuleLabError:
        return NumericEvidence()


def _judged(f: Callable, kwargs: Mapping[str, Any], registry: Registry, few: bool) -> Checking:
    depth = "quick" if few else "normal"
    check = checking(f, mode="rrule", depth=depth, fkwargs=kwargs, registry=registry)
    check.is_witness = True
    report_of_check(check)
    return check


def _of_the_first(check: Checking, of_form: bool) -> tuple[str, str] | None:
    wrong = [one for one in check.findings if one.level == WRONG and (of_form or not _is_of_form(one))]
    if not wrong:
        return None
    first = next((one for one in wrong if one.check != "linear"), wrong[0])  # a wrong number tells more
    return _in_words(first), "" if first.probe is None else check.shown(first.probe.point)


def _is_of_form(finding: Finding) -> bool:
    """Whether an answer, or the value beside it, has a form that the AD does not take."""
    if finding.check != "value" or finding.probe is None:
        return finding.check == "answer"
    given, value = to_vec(finding.probe.y)[0], to_vec(finding.probe.truth.y)[0]
    return given.shape == value.shape and bool(np.allclose(given, value))


def _in_words(finding: Finding) -> str:
    """The statement, and how the arguments differ from those that are drawn."""
    origin = "" if finding.probe is None else finding.probe.point.origin
    where = origin.removeprefix("near ").removeprefix("the first, ")
    if where in _USUAL or finding.check in (NO_NUMBER, AT_ZERO):  # these name the arguments themselves
        return finding.words
    if where.startswith(OF_MATRICES):
        return f"{finding.words} for matrices in place of vectors{where.removeprefix(OF_MATRICES)}"
    return f"{finding.words} for {_OTHERS.get(where) or f'arguments {where}'}"


_OTHERS = {
    "in complex numbers": "complex arguments",
    "in smaller complex numbers": "small complex arguments",
    "in whole numbers": "whole numbers",
}
_USUAL = ("", "drawn", "whole numbers as floats")
