"""What numbers say of a rule that is proved for some arguments, where nobody has said which are meant: a
proof is of the kinds, sizes and layouts that were traced, and users have others, too.
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
from .testers import checking, finished


class Seen(NamedTuple):
    """What numbers say of a rule: what is `wrong` with it, and at which arguments; where it gives nan or
    infinity although it is right elsewhere, and the function has a slope; what is wrong at arguments that may
    not be meant, and is `set_aside`.
    """

    wrong: tuple[str, str] | None = None
    no_number_at: str = ""
    set_aside: str = ""


def seen_by_numbers(
    f: Callable, kwargs: Mapping[str, Any], registry: Registry, of_form: bool = True, in_doubt: bool = False
) -> Seen:
    """What numbers say of the reverse rule of a function at arguments that are drawn, as `rule_check` draws
    them; nothing where no arguments are found. The `of_form` of its answers is wrong, too, unless this need
    not be what the AD takes.

    The mistake is not looked for, and few points are looked at unless one is wrong there: the whole check
    then has to say so, too, for it knows what condemns no rule. It is asked at once where the proof is
    `in_doubt`: something is wrong at arguments that may not be meant, and it knows more of what is.
    """
    try:
        check = _judged(f, kwargs, registry, few=not in_doubt)
        if not in_doubt and _of_the_first(check, of_form) is not None:
            check = _judged(f, kwargs, registry, few=False)
        return Seen(_of_the_first(check, of_form), check.no_number_at, check.set_aside)
    except RuleLabError:
        return Seen()


def _judged(f: Callable, kwargs: Mapping[str, Any], registry: Registry, few: bool) -> Checking:
    depth = "quick" if few else "normal"
    check = checking(f, mode="rrule", depth=depth, fkwargs=kwargs, registry=registry)
    check.is_witness = True
    finished(check)
    return check


def _of_the_first(check: Checking, of_form: bool) -> tuple[str, str] | None:
    wrong = [one for one in check.findings if one.level == WRONG and (of_form or not _is_of_form(one))]
    if not wrong:
        return None
    first = next((one for one in wrong if one.check != "linear"), wrong[0])  # a wrong number says more
    return _in_words(first), "" if first.probe is None else check.shown(first.probe.point)


def _is_of_form(finding: Finding) -> bool:
    """Whether an answer, or the value beside it, is another kind of thing than the AD takes."""
    if finding.check != "value" or finding.probe is None:
        return finding.check == "answer"
    given, value = to_vec(finding.probe.y)[0], to_vec(finding.probe.truth.y)[0]
    return given.shape == value.shape and bool(np.allclose(given, value))


def _in_words(finding: Finding) -> str:
    """The statement, and in which way the arguments are others than those that are drawn."""
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
