"""What a rule does besides computing: what it writes to, shares, keeps, or does differently later."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ad import reverse
from ...errors import MutatedAfterCaptureError, RuleEffectsError, RuleError, RuleLabError
from ...raised import raised_words
from ...rules.lent import Lent
from ...tangents.thunks import Thunk, unthunk
from ..calling.plain_calls import value_of
from ..calling.subjects import Subject, raw_pullback
from ..measuring.copies import own_copies, own_keywords
from ..measuring.vectors import cotangent_like, cotangent_vec, to_vec
from ..probing.closeness import Tolerance, digits
from ..probing.findings import UNKNOWN, Finding
from ..probing.perturb import laid_out_otherwise, nudged
from ..probing.probes import Point, Probe, reverse_answer, tangents_of, vector_of, without_warnings


def primal_is_steady(subject: Subject, point: Point, y: Any) -> Finding | None:
    """A finding if the function does not give the same value twice: then it has no measurable derivative."""
    again = value_of(subject.primal, point.inputs, point.kwargs)
    if np.array_equal(to_vec(y)[0], to_vec(again)[0], equal_nan=True):
        return None
    return Finding(
        "primal",
        "the function returns a different value at each call, so its derivative cannot be measured",
        UNKNOWN,
    )


def effects_of(subject: Subject, probe: Probe, other: Probe | None) -> Iterator[Finding]:
    """What the rule does at one probe that no rule may do. Between two calls it is called at `other`, to see
    what it keeps.
    """
    if subject.reverse is None:
        yield from _forward_effects(subject, probe)
        return
    watched = _watched(subject, probe)
    if watched is not None:
        yield watched
    yield from writes(subject, probe)
    if watched is None:
        yield from _one_buffer(subject, probe)
        yield from _one_buffer_of_values(subject, probe)
    yield from state_kept(subject, probe, other)
    yield from _seeds_generators(subject, probe)
    yield from _changed_alone(subject, probe)
    yield from _laid_out_otherwise(subject, probe)


OTHER_SEED = 7919


def _seeds_generators(subject: Subject, probe: Probe) -> Iterator[Finding]:
    """A finding if the rule sets a global random generator, NumPy's or Python's, that the function leaves
    alone: the caller would draw the same numbers again and again.
    """
    if named := _generator_set(subject, probe):
        yield Finding("effects", f"sets the state of {named}, which the function leaves alone", probe=probe)


def _generator_set(subject: Subject, probe: Probe) -> str:
    """The generator that the rule sets, in words; empty if it sets none, or if the function draws from one
    itself. The states are restored.
    """
    point, seed = probe.point, cotangent_like(probe.truth.y, probe.seeds[-1])
    before = np.random.get_state(), random.getstate()
    others = np.random.RandomState(OTHER_SEED).get_state(), random.Random(OTHER_SEED).getstate()
    np.random.set_state(others[0])  # the rule may have set the present state in an earlier call
    random.setstate(others[1])
    try:
        with without_warnings(), contextlib.suppress(Exception):
            value_of(subject.primal, own_copies(point.inputs), own_keywords(point.kwargs))
            if not _generators_changed(others):
                _, back = _called(subject, own_copies(point.inputs), point)
                back(seed)
                return _generators_changed(others)
        return ""
    finally:
        np.random.set_state(before[0])
        random.setstate(before[1])


def _generators_changed(before: tuple[Any, Any]) -> str:
    of_numpy, of_python = np.random.get_state(), random.getstate()
    if any(not np.array_equal(one, other) for one, other in zip(before[0], of_numpy)):
        return "NumPy's global generator of random numbers"
    return "" if before[1] == of_python else "Python's global generator of random numbers"


def _laid_out_otherwise(subject: Subject, probe: Probe) -> Iterator[Finding]:
    """A finding if the answer differs when the same cotangent has another memory layout, or is read-only."""
    seed = cotangent_like(probe.truth.y, probe.seeds[-1])
    for words, same in _otherwise(seed) if isinstance(seed, np.ndarray) else ():
        with without_warnings():
            try:
                _, back = _called(subject, own_copies(probe.point.inputs), probe.point)
                found = vector_of(probe.point, back(same))
            except Exception:  # an error is not silent, so it is no finding here
                continue
        limit, expected = Tolerance.of(probe), probe.answers[-1]
        largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0))
        # Sums in another order differ by more where terms cancel, and completely where all cancel.
        atol = max(limit.atol * largest, _rounding(probe, seed))
        is_alike = found.shape == expected.shape
        if not is_alike or not np.allclose(found, expected, limit.rtol, atol, equal_nan=True):
            yield Finding("effects", f"a different answer for a cotangent that {words}", probe=probe)
            return


_LAST_DIGITS = 64
"""How many units in the last place of the cotangent a sum that should be zero may leave."""


def _rounding(probe: Probe, seed: np.ndarray) -> float:
    """What rounding may leave of a cotangent that should be zero, if slopes are as large as the inputs are
    small.
    """
    sizes = np.abs(to_vec(probe.point.floats)[0]).max(initial=0.0)
    slope = max(1.0, 1.0 / max(float(sizes), np.finfo(float).tiny))
    eps = float(np.finfo(f"f{digits(probe)}").eps)
    return _LAST_DIGITS * eps * float(np.abs(seed).max(initial=0.0)) * slope


def _otherwise(seed: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    for how, words in (("transposed", "transposed"), ("backwards", "backwards"), ("gaps", "with gaps")):
        turned = laid_out_otherwise((seed,), how)
        if turned is not None:
            yield f"lies {words} in memory", turned[0]
    frozen = seed.copy()
    frozen.flags.writeable = False
    yield "cannot be written to", frozen


def _called(subject: Subject, inputs: tuple, point: Point) -> tuple[Any, Callable]:
    assert subject.reverse is not None
    return subject.reverse(*inputs, **own_keywords(point.kwargs))


def _watched(subject: Subject, probe: Probe) -> Finding | None:
    """What debug mode finds in one call of an author's rule; None if nothing."""
    inputs = own_copies(probe.point.inputs)
    seed = cotangent_like(probe.truth.y, probe.seeds[-1])
    with without_warnings(), reverse.debug_mode(rules=True):
        try:
            _called(subject, inputs, probe.point)[1](seed)
        except RuleError as error:
            return None if _is_sharing(error) else Finding("effects", error.found, probe=probe)
        except Exception:
            return None  # the probe itself reports it
    return None


def _is_sharing(error: RuleError) -> bool:
    """Whether debug mode objects to memory that is also used elsewhere, or that is read-only.

    The AD copies what it is given before it writes to it: `return NoTangent(), y_bar, y_bar` is right.
    """
    return isinstance(error, RuleEffectsError) and error.is_sharing


def writes(subject: Subject, probe: Probe) -> Iterator[Finding]:
    """A finding if the rule changes its inputs or its cotangent."""
    inputs = own_copies(probe.point.inputs)
    seed = cotangent_like(probe.truth.y, probe.seeds[-1])
    lent = Lent([*zip(subject.names, inputs), ("its cotangent", seed)], containers=True)
    with without_warnings():
        try:
            _, back = _called(subject, inputs, probe.point)
            back(seed)
        except Exception:
            return
    changed = lent.changed()
    if changed is not None:
        yield Finding(
            "effects", f"changes {changed}, which belongs to the caller", argument=changed, probe=probe
        )


def _one_buffer(subject: Subject, probe: Probe) -> Iterator[Finding]:
    """A finding if an answer changes when another answer is computed, by the same pullback or by that of
    another call of the rule.
    """
    point, y, changed = probe.point, probe.truth.y, None
    with without_warnings():
        try:
            backs = [raw_pullback(_called(subject, own_copies(point.inputs), point)[1]) for _ in range(2)]
            for again in backs:
                first = backs[0](cotangent_like(y, probe.seeds[-1]))
                lent = Lent(_answers(subject, first), containers=True)
                _answers(subject, again(cotangent_like(y, probe.seeds[-2])))
                changed = changed or lent.changed()
        except Exception:
            return  # the probe itself reports it
    if changed is not None:
        yield _not_what_it_was(changed, probe)


def _one_buffer_of_values(subject: Subject, probe: Probe) -> Iterator[Finding]:
    """A finding if the value changes when the rule is called with other arguments."""
    inputs = own_copies(probe.point.inputs)
    with without_warnings():
        try:
            y, _ = _called(subject, inputs, probe.point)
            lent = Lent([("its value", y)], containers=True)
            _called(subject, _smaller(inputs), probe.point)
        except Exception:
            return  # the function may have no value at the other arguments
    if lent.changed() is not None:
        yield _not_what_it_was("its value", probe)


def _changed_alone(subject: Subject, probe: Probe) -> Iterator[Finding]:
    """A finding if the value by the rule is wrong after a call in which only one argument was different: a
    cache with an incomplete key goes unnoticed if all arguments change together.
    """
    point, own = probe.point, to_vec(probe.y)[0]
    if len(point.inputs) < 2 or _is_another(own, to_vec(probe.truth.y)[0]):
        return  # a value that is wrong anyway is reported elsewhere
    for i, name in enumerate(subject.names[: len(point.inputs)]):
        smaller = (*point.inputs[:i], *_smaller(point.inputs[i : i + 1]), *point.inputs[i + 1 :])
        if i in point.constant or not point.moved(smaller, point.origin).is_inside():
            continue
        with without_warnings():
            try:
                _called(subject, own_copies(point.inputs), point)
                given = to_vec(_called(subject, own_copies(smaller), point)[0])[0]
                value = to_vec(value_of(subject.primal, smaller, point.kwargs))[0]
            except Exception:  # there may be no value there
                continue
        if _is_another(given, value) and _is_settled(subject, smaller, point, value):
            words = f"gives the value of an earlier call when only {name} has changed"
            yield Finding("effects", words, argument=name, probe=probe)
            return


def _is_settled(subject: Subject, inputs: tuple, point: Point, value: np.ndarray) -> bool:
    """Whether the value of the function barely changes if the inputs move by their last digits: that of
    nearly singular matrices does, and then two ways of computing it differ.
    """
    rng = np.random.default_rng(0)
    for _ in range(NUDGES):
        try:
            beside = value_of(subject.primal, nudged(inputs, rng), point.kwargs)
        except Exception:
            return False
        if _is_another(to_vec(beside)[0], value):
            return False
    return True


def _is_another(given: np.ndarray, value: np.ndarray) -> bool:
    size = np.abs(value).max(initial=0.0)
    is_known = given.shape == value.shape and np.isfinite(size)
    return bool(is_known and not np.all(np.abs(given - value) <= ANOTHER * size))


NUDGES = 3
"""How often the inputs are moved by their last digits."""
ANOTHER = 1e-3
"""By how much of the largest number a value must be off to count as the value of an earlier call."""


def _not_what_it_was(changed: str, probe: Probe) -> Finding:
    words = f"changed what it had returned before, {changed}, when it was called again"
    return Finding("effects", words, probe=probe)


LESS = 15 / 16
"""The factor of the arguments in a call in between, whose answer is ignored."""


def _smaller(inputs: tuple) -> tuple:
    vector, back = to_vec(inputs)
    smaller: tuple = back(LESS * vector)
    return smaller


def _answers(subject: Subject, first: Any) -> list[tuple[str, Any]]:
    """The answer of a pullback by name, with thunks evaluated."""
    if not isinstance(first, tuple):
        return [("the answer", unthunk(first))]
    names = (subject.name, *subject.names)
    return [(f"the cotangent of {name}", unthunk(bar)) for name, bar in zip(names, first)]


def state_kept(subject: Subject, probe: Probe, other: Probe | None) -> Iterator[Finding]:
    """A finding if the answer depends on earlier calls, of the same pullback or of the rule."""
    point, y = probe.point, probe.truth.y
    seed, twice = probe.seeds[-1], probe.seeds[-2]
    expected = probe.answers[-1]
    with without_warnings():
        try:
            _, back = _called(subject, own_copies(point.inputs), point)
            first = reverse_answer(back, y, seed, point)
            again = reverse_answer(back, y, seed, point)
            if not _same(first, again):
                words = (
                    "the pullback gives a different answer when it is called again with the same cotangent"
                )
                yield Finding("effects", words, probe=probe)
                return
            reverse_answer(back, y, twice, point)
            if other is None:
                _call_in_between(subject, probe)
            elif other.failure is None:
                _, between = _called(subject, own_copies(other.point.inputs), other.point)
                reverse_answer(between, other.truth.y, other.seeds[-1], other.point)
            if not _same(first, _answer_later(back, probe, seed)):
                words = (
                    "the pullback gives a different answer after the rule was called with other arguments"
                )
                yield Finding("effects", words, probe=probe)
            elif not _same(first, expected):
                words = "the rule gives a different answer when it is called with the same arguments again"
                yield Finding("effects", words, probe=probe)
            yield from _thunked(back, probe, first)
        except Exception as error:
            yield failing_again(error, probe)


def _call_in_between(subject: Subject, probe: Probe) -> None:
    """Call the rule once more with other numbers of the same shapes, for which there may be no value."""
    with contextlib.suppress(Exception):
        _, between = _called(subject, _smaller(probe.point.inputs), probe.point)
        reverse_answer(between, probe.truth.y, probe.seeds[-1], probe.point)


def _answer_later(back: Callable, probe: Probe, seed: np.ndarray) -> np.ndarray:
    """The answer of a pullback after the rule was called with other arguments. Empty if it raises, as it does
    if it keeps arrays from that call and these have other shapes.
    """
    try:
        return reverse_answer(back, probe.truth.y, seed, probe.point)
    except Exception:
        return np.zeros(0)


def failing_again(error: Exception, probe: Probe | None = None) -> Finding:
    """A finding about a rule that raises where it has answered before."""
    return Finding("effects", f"fails when it is called again: {raised_in_words(error)}", probe=probe)


def _thunked(back: Callable, probe: Probe, expected: np.ndarray) -> Iterator[Finding]:
    """A finding if a delayed cotangent gives a different answer, or is evaluated more than once."""
    counted: list[int] = []
    y = probe.truth.y

    def value() -> Any:
        counted.append(1)
        return cotangent_like(y, probe.seeds[-1])

    answer = vector_of(probe.point, back(Thunk(value)))
    if not _same(answer, expected):
        yield Finding("effects", "a delayed cotangent (a Thunk) gives a different answer", probe=probe)
    elif len(counted) > 1:
        yield Finding("effects", f"a delayed cotangent is evaluated {len(counted)} times", probe=probe)


def changed_later(probe: Probe, f: Callable) -> Iterator[Finding]:
    """A finding if the pullback is affected by what the caller does to the inputs or the value afterwards.

    This calls `rulelab.pullback`, which guards what rules keep: it must give the old derivative or a refusal.
    """
    for what in ("inputs", "value"):
        inputs = own_copies(probe.point.inputs)
        with without_warnings():
            try:
                y, back = reverse.pullback(f, *inputs, **own_keywords(probe.point.kwargs))
                plain = vector_of(probe.point, back(cotangent_like(probe.truth.y, probe.seeds[-1])))
                if not _overwritten(inputs if what == "inputs" else y):
                    continue
                later = vector_of(probe.point, back(cotangent_like(probe.truth.y, probe.seeds[-1])))
            except MutatedAfterCaptureError:
                continue
            except RuleLabError:
                return
            except Exception as error:
                yield failing_again(error, probe)
                return
        if not _same(plain, later):
            words = f"the pullback gives a different answer when the caller has changed the {what} meanwhile"
            yield Finding("effects", words, probe=probe)


def _overwritten(x: Any) -> bool:
    """Write other numbers into the arrays of a structure; return whether there were any."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.flags.writeable and x.size:
        x[...] = x + 1.5
        return True
    if isinstance(x, (tuple, list)):
        return bool(sum(_overwritten(part) for part in x))
    return bool(sum(_overwritten(part) for part in x.values())) if isinstance(x, dict) else False


def _forward_effects(subject: Subject, probe: Probe) -> Iterator[Finding]:
    assert subject.forward is not None
    point = probe.point
    with without_warnings():
        try:
            with reverse.debug_mode(rules=True):
                subject.forward(
                    tangents_of(point, probe.seeds[-1]), *own_copies(point.inputs), **point.kwargs
                )
        except RuleError as error:
            if not _is_sharing(error):
                yield Finding("effects", error.found, probe=probe)
                return
        except Exception:
            return
        inputs, tangents = own_copies(point.inputs), tangents_of(point, probe.seeds[-1])
        lent = Lent(
            [
                *zip(subject.names, inputs),
                *((f"the tangent of {n}", t) for n, t in zip(subject.names, tangents)),
            ]
        )
        try:
            y, y_dot = subject.forward(tangents, *inputs, **point.kwargs)
        except Exception as error:
            yield failing_again(error, probe)
            return
        made = Lent([("its value", y), ("its tangent", unthunk(y_dot))], containers=True)
        answer = cotangent_vec(probe.truth.y, y_dot)
        with contextlib.suppress(Exception):  # there may be no value there
            other = _smaller(inputs)
            _, other_dot = subject.forward(tangents_of(point, probe.seeds[-2]), *other, **point.kwargs)
            unthunk(other_dot)
        changed = lent.changed()
        if changed is not None:
            yield Finding("effects", f"changes {changed}, which belongs to the caller", probe=probe)
        elif (stale := made.changed()) is not None:
            yield _not_what_it_was(stale, probe)
        elif not _same(answer, probe.answers[-1]):
            words = "the rule gives a different answer when it is called with the same arguments again"
            yield Finding("effects", words, probe=probe)


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two answers are equal up to the last digits, in which BLAS may differ from one call to the
    next.
    """
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-12, atol=0.0, equal_nan=True)


def raised_in_words(error: Exception | None) -> str:
    """What a rule has raised, in words."""
    return getattr(error, "found", None) or raised_words(error)
