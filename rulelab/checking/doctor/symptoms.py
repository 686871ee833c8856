"""Mistakes that show in what a rule raises, writes to or shares, before its numbers are examined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import Place, RuleCountError, RuleDtypeError, RuleEffectsError, RuleError, RuleShapeError, an
from ...raised import raised_words
from ...tangents.zeros import AbstractZero
from ..measuring.shortening import shortened
from ..measuring.vectors import to_vec
from ..probing.findings import AT_ZERO, Finding
from ..probing.probes import Probe
from .evidence import Evidence, Explanation
from .formulas import named_constant

_COPY = ("NP.array(IT)", "IT.copy()", "NP.array(IT, copy=True)")


def failures_seen(evidence: Evidence) -> Iterator[Explanation]:
    """What the rule raised, or why its answer was refused, at the first probe that failed."""
    failed = [p for p in evidence.probes if p.failure is not None]
    if not failed:
        return
    seen = _refused(evidence, failed[0])
    if seen is not None:
        if len(failed) < len(evidence.probes) and seen.mistake == "raises":
            seen = _raised(evidence, failed[0], _where(evidence, failed[0]))
        yield seen


def _refused(evidence: Evidence, probe: Probe) -> Explanation | None:
    error, raw = probe.failure, probe.raw
    words = _plain(evidence, getattr(error, "found", ""))
    if isinstance(error, RuleEffectsError):
        return _of_effect(evidence, error.found)
    if isinstance(error, RuleCountError):
        return Explanation("count", words)
    if isinstance(error, RuleShapeError):
        # The cotangent of a number is the sum over all its repetitions.
        summed = ("NP.sum(IT)",) if "variable with shape () " in words else ()
        return Explanation("shape", _of_shapes(words), _argument_in(evidence, words), summed, whole=True)
    if isinstance(error, RuleDtypeError):
        return Explanation("kind", words, _argument_in(evidence, words))
    if isinstance(error, RuleError):
        if isinstance(raw, tuple) and raw and raw[0] is None:
            return Explanation("count", words, None, ("rl.NoTangent()", "NoTangent()"))
        name = _place_of(evidence, raw, lambda bar: bar is None)
        if name is not None or "None for" in words:
            edits = ("rl.ZeroTangent()", "rl.NoTangent()", "ZeroTangent()", "NoTangent()")
            return Explanation("none", words, name, edits)
        name = _place_of(evidence, raw, lambda bar: isinstance(bar, type) and issubclass(bar, AbstractZero))
        if name is not None or "the class" in words:
            return Explanation("zero_class", words, name, ("IT()",))
        if (
            "must return" in words
            or "returned None, not" in words
            or "itself, which holds no numbers" in words
        ):
            return Explanation("count", words)
    if error is not None:
        return _raised(evidence, probe, "")
    return None


_SHAPES = re.compile(
    r"(?:\w+ )?returned for (\S+): variable with shape (\(.*?\)) cannot have a gradient with shape (\(.*?\))"
)


def _of_shapes(words: str) -> str:
    """The words of a refusal about a shape, as a statement about the rule."""
    return _SHAPES.sub(r"its cotangent of \1 has shape \3, but \1 has shape \2", words)


def _raised(evidence: Evidence, probe: Probe, where: str) -> Explanation:
    error = probe.failure
    name, _, words = raised_words(error).partition(": ")
    said = f"raises {name}{where}: {getattr(error, 'found', None) or words}"
    return Explanation("raises", said, place=_place_raised(evidence, error))


def _place_raised(evidence: Evidence, error: BaseException | None) -> Place | None:
    """The expression of the rule that ran last before an error; for an undefined name, the name."""
    codes = frozenset(evidence.subject.rule_codes)
    step, last = getattr(error, "__traceback__", None), None
    while step is not None:
        last = step if step.tb_frame.f_code in codes else last
        step = step.tb_next
    return None if last is None else Place.of_step(last)


def _where(evidence: Evidence, probe: Probe) -> str:
    names = zip(evidence.subject.names, probe.point.inputs)
    return " at " + ", ".join(f"{name} = {shortened(x)}" for name, x in names)


def _plain(evidence: Evidence, found: str) -> str:
    """The words of a refusal without the name of the pullback in front, which the sentence already has."""
    raw = " ".join(found.split())
    rule = getattr(evidence.subject.rule, "function", None)
    names = [getattr(rule, "__name__", "")]
    for code in evidence.subject.rule_codes:
        names.append(code.co_name)
    for name in sorted(filter(None, names), key=len, reverse=True):
        for start in (
            f"{name} ",
            f"the rrule {name} of {evidence.subject.name} ",
            f"the frule {name} of {evidence.subject.name} ",
        ):
            if raw.startswith(start):
                return raw[len(start) :]
    return raw


def _place_of(evidence: Evidence, raw: Any, is_one: Callable[[Any], bool]) -> str | None:
    if not isinstance(raw, tuple):
        return None
    for name, bar in zip(("", *evidence.subject.names), raw):
        if is_one(bar):
            return name or None
    return None


def _argument_in(evidence: Evidence, words: str) -> str | None:
    for name in evidence.subject.names:
        if f"for {name}:" in words or f"for {name} " in words or words.endswith(f"for {name}"):
            return name
    return None


# --- side effects -------------------------------------------------------------------------------------------

_EFFECTS: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("belongs to the caller", "writes", (), "writes"),
    ("changes its argument", "writes", (), "writes"),
    ("called again with the same cotangent", "stateful", (), ""),
    ("changed what it had returned before", "stateful", _COPY, ""),
    ("called with other arguments", "stateful", (), ""),
    ("called with the same arguments again", "stateful", (), ""),
    ("fails when it is called again", "stateful", (), ""),
    ("the value of an earlier call", "stateful", (), ""),
    ("has changed the", "keeps_uncopied", (), ""),
    ("in memory", "layout", (), ""),
    ("delayed cotangent", "thunk", ("rl.unthunk(IT)",), ""),
    ("add_into", "thunk", (), ""),
    ("digits are lost", "precision", (), ""),
    ("returned nan", "not_finite", (), ""),
    ("returned inf", "not_finite", (), ""),
)


def effects_seen(evidence: Evidence) -> Iterator[Explanation]:
    """The mistakes that the findings about effects show; writes come first, as others follow from them."""
    found = [s for f in evidence.of_check("effects") if (s := _of_effect(evidence, f.words)) is not None]
    order = [kind for _, kind, _, _ in _EFFECTS]
    yield from sorted(found, key=lambda one: order.index(one.mistake))


def _of_effect(evidence: Evidence, found: str) -> Explanation | None:
    words = _plain(evidence, found)
    for mark, kind, edits, _ in _EFFECTS:
        if mark in words:
            argument, words = _argument_in(evidence, words), _of_shapes(words)
            if kind == "writes":
                words = words.replace("changed ", "writes to ", 1).replace("changes ", "writes to ", 1)
            return Explanation(kind, words, argument, edits, whole=True)
    return None


def shared_cause(seen: list[Explanation]) -> list[Explanation]:
    """The mistakes without consequences of others: an array that is written to is also shared."""
    kinds = {one.mistake for one in seen}
    if "writes" in kinds:
        return [one for one in seen if one.mistake == "writes"]
    return seen


# --- the value ----------------------------------------------------------------------------------------------


def value_seen(evidence: Evidence) -> Iterator[Explanation]:
    """How the value by the rule differs from that of the function."""
    findings = evidence.of_check("value")
    if not findings:
        return
    yield Explanation(
        "value", f"returns a different value from the function: {_by_how_much(findings)}", whole=True
    )


def _by_how_much(findings: list[Finding]) -> str:
    found = findings[0].words
    probes = [f.probe for f in findings if f.probe is not None]
    ratios, gaps = [], []
    for probe in probes:
        one, other = to_vec(probe.truth.y)[0], to_vec(probe.y)[0]
        if one.shape != other.shape or not one.size:
            return found
        with np.errstate(all="ignore"):
            ratios.append(other / one)
            gaps.append(other - one)
    if gaps and not np.any(np.concatenate(gaps)):
        given, wanted = _kind(probes[0].y), _kind(probes[0].truth.y)
        return f"the same numbers in a different type ({given} for {wanted})"
    for numbers, words in ((ratios, "{} times it"), (gaps, "larger by {}")):
        whole = np.concatenate(numbers)
        if np.all(np.isfinite(whole)) and whole.size > 1 and np.ptp(whole) <= 1e-9 * abs(whole[0]):
            said = words.format(named_constant(float(whole[0])))
            return said.replace("larger by -", "smaller by ")
    return found


def _kind(y: Any) -> str:
    return f"an array of shape {y.shape}" if isinstance(y, np.ndarray) else f"{an(type(y).__name__)}"


# --- kinks --------------------------------------------------------------------------------------------------


def kinks_seen(evidence: Evidence) -> Iterator[Explanation]:
    """A number at a kink that is not in the generalised gradient."""
    findings = evidence.of_check("kink")
    if not findings:
        return
    probe = findings[0].probe
    tied = probe is not None and _has_ties(probe)
    words = findings[0].words.removeprefix("at a kink the rule ")
    yield Explanation("kink", f"wrong {'at a tie' if tied else 'at a kink'}: {words}", whole=True)


def zeros_seen(evidence: Evidence) -> Iterator[Explanation]:
    """nan, inf or a division by zero at zero, where the derivative exists."""
    for finding in evidence.of_check(AT_ZERO):
        yield Explanation("not_finite", finding.words, finding.argument)


def _has_ties(probe: Probe) -> bool:
    numbers = to_vec(tuple(probe.point.inputs))[0]
    return bool(np.unique(numbers).size < numbers.size)
