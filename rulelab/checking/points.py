"""Which points a check looks at: given or drawn, of several sizes and scales, with ties, on both sides of
branches.
"""

from __future__ import annotations

import copy
import inspect
import time
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import RuleLabError, RuleShapeError
from ..rules.authoring import ask, rrule
from ..rules.registry import Found, Registry
from ..rules.targets import name_of, resolve
from .perturb import (
    DRAWN_SCALES,
    Kind,
    WithTangent,
    all_equal,
    between,
    draw,
    guesses,
    in_float32,
    jittered,
    laid_out_otherwise,
    landmarks,
    narrow_gaps,
    narrowed,
    near,
    opposed,
    plainly,
    tied,
    with_all_digits,
)
from .probes import Point, quiet, watched_lines
from .subjects import Subject, rules_of
from .vectors import leaves, to_vec

TRIES = 400
"""Calls of the function that may be spent on finding arguments it takes."""


class NoInputsError(RuleLabError):
    """A check could not find arguments that the function takes."""


class Source:
    """The points of one check: those the caller `given`, or drawn by the kinds that the function takes."""

    def __init__(
        self,
        f: Callable,
        given: tuple | None,
        kwargs: Mapping[str, Any],
        domain: Mapping[str, Kind],
        rng: np.random.Generator,
        mode: str,
        config: Any,
        registry: Registry,
        several: bool = False,
        seconds: float = 5.0,
    ) -> None:
        self.f, self.kwargs, self.rng = f, kwargs, rng
        self.choices: tuple[tuple[Kind, ...], ...] = ()
        self.notes: tuple[str, ...] = ()
        if given is not None:
            plain = tuple(x.value if isinstance(x, WithTangent) else x for x in given)
            self.args, self.notes = _movable(f, plain, kwargs)
            return
        self.choices = _kinds_taken(f, kwargs, domain, rng, (mode, config, registry), several, seconds)
        self.args = tuple(draw(kind, rng) for kind in self.choices[0])

    @property
    def drawn(self) -> bool:
        """Whether the arguments are ours and not the caller's."""
        return bool(self.choices)

    def args_at(self, number: int) -> tuple:
        """The arguments of the point of this number; the first are those the caller gave.

        Numbers have few digits, so that single precision holds them; but not all of them, or a rule that
        keeps its arguments in single precision would pass.
        """
        if number == 0:
            return self.args
        args = self._moved(number)
        return with_all_digits(args, self.rng) if number % 4 == 2 else args

    def _moved(self, number: int) -> tuple:
        scale = DRAWN_SCALES[number % len(DRAWN_SCALES)]
        if not self.choices:
            return jittered(self.args, self.rng, flips=number % 3 == 2, scale=1.0 if number < 3 else scale)
        kinds = self.choices[number % len(self.choices)]
        drawn = tuple(draw(kind, self.rng, number, scale) for kind in kinds)
        return opposed(drawn, self.args, kinds) if number == 1 else drawn

    def origin(self, number: int) -> str:
        """Where the numbers of that point come from, in words."""
        if self.choices:
            return "drawn"
        return "given" if number == 0 else "near those given"


def _kinds_taken(
    f: Callable,
    kwargs: Mapping[str, Any],
    domain: Mapping[str, Kind],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
    several: bool,
    seconds: float,
) -> tuple[tuple[Kind, ...], ...]:
    """The first kinds that the function, and a rule of it, take; up to three if `several` are wanted."""
    target, bound = resolve(f)
    if bound:
        raise _none_found(f, "its object's numbers are not drawn")
    names = required_names(f)
    unknown = set(domain) - set(names) - set(_all_names(target))
    if unknown:
        raise NoInputsError(f"{name_of(target)} has no parameter {sorted(unknown)[0]}")
    mode, config, registry = asked
    accepts = [rule.accepts for rule in rules_of(target, registry) if rule.mode == mode]
    tried, last, end = 0, "no kind of number suits them", time.perf_counter() + seconds
    seen: set[tuple[Kind, ...]] = set()
    found: dict[tuple[str, ...], tuple[Kind, ...]] = {}
    relations: dict[str, tuple[bool, bool]] = {}
    refused: list[tuple[Kind, ...]] = []
    for accepted in [*accepts, None]:
        for guessed in guesses(names, accepted, domain):
            for kinds in narrowed(guessed):
                forms = tuple(kind.form for kind in kinds)
                if time.perf_counter() > end:
                    break
                if kinds in seen or tried >= TRIES or forms in found or found and "list" in forms:
                    continue
                seen.add(kinds)
                tried += 1
                args = tuple(draw(kind, rng) for kind in kinds)
                if not isinstance(ask(target, args, dict(kwargs), mode, config, registry), Found):
                    continue
                try:
                    y = plainly(f, args, kwargs)
                    relation = _relation(args, y)
                    if not _is_finite(y) or relation != relations.get("first", relation):
                        continue
                    if _takes(f, kinds, kwargs, rng):
                        if len(refused) < MOST_REFUSED and not _rule_takes(target, args, kwargs, asked):
                            refused.append(kinds)
                            continue
                        if len(refused) == MOST_REFUSED and not found:
                            return (refused[0],)
                        relations["first"] = relation
                        found[forms] = kinds
                        if len(found) == 3 or not several:
                            return tuple(found.values())
                except Exception as error:
                    last = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
    if time.perf_counter() > end:
        last = f"none in {seconds:g} s; {last}"
    if found or refused:
        return tuple(found.values()) or (refused[0],)
    raise _none_found(f, last)


MOST_REFUSED = 8
"""Kinds that a rule may fail for before it is taken for wrong about all."""


def _rule_takes(
    target: Any, args: tuple, kwargs: Mapping[str, Any], asked: tuple[str, Any, Registry]
) -> bool:
    """Whether a rule runs through for these arguments: one written for arrays may not do so for a number.

    What is wrong with its answer is for the check to say.
    """
    mode, config, registry = asked
    if mode != "rrule":
        return True
    with quiet():
        try:
            y, back = rrule(target, *copy.deepcopy(args), config=config, registry=registry, **dict(kwargs))
            back(y)
        except (TypeError, ValueError, AttributeError, IndexError, RuleShapeError):
            return False
        except Exception:
            return True
    return True


def _relation(args: tuple, y: Any) -> tuple[bool, bool]:
    """How a value goes with its arguments: whether it is one number, whether it has the rank of the first.

    A function that takes vectors to a number is another function where it takes matrices to vectors.
    """
    return to_vec(y)[0].size == 1, _rank(y) == _rank(args[0])


def _rank(x: Any) -> int:
    return x.ndim if isinstance(x, np.ndarray) else 0


def _movable(f: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[tuple, tuple[str, ...]]:
    """Arguments with something to move: integers become floats where there is nothing else, and f agrees."""
    if to_vec(args)[0].size:
        held = [repr(x) for x in args if isinstance(x, (int, np.integer)) and not isinstance(x, bool)]
        return args, (f"{', '.join(held)}: integers are held fixed",) if held else ()
    wide = tuple(_as_float(x) for x in args)
    if not to_vec(wide)[0].size:
        return args, ()
    try:
        same = np.allclose(plainly(f, wide, kwargs), plainly(f, args, kwargs), equal_nan=True)
    except Exception:
        return args, ()
    return (wide, ("integers were taken as floats",)) if same else (args, ())


def _as_float(x: Any) -> Any:
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return [_as_float(part) for part in x] if type(x) is list else x


def _takes(f: Callable, kinds: tuple[Kind, ...], kwargs: Mapping[str, Any], rng: np.random.Generator) -> bool:
    """Whether most draws of these kinds are in the function's domain.

    A function of real numbers that gives complex ones here and there, as powers do, has left it there.
    """
    values = []
    for number in range(1, 5):
        try:
            y = plainly(f, tuple(draw(k, rng, number) for k in kinds), kwargs)
        except Exception:
            continue
        values += [y] if _is_finite(y) else []
    return len(values) >= 3 and len({_is_complex(y) for y in values}) == 1


def _none_found(f: Callable, why: str) -> NoInputsError:
    name = getattr(f, "__name__", "the function")
    return NoInputsError(
        f"no arguments were found that {name} takes: {why}",
        asked=f"a check of the rule of {name}",
        fixes=(
            "give them: %rule_check f --at 2.0, [1.0, 2.0]",
            'their kinds: domain={"x": "positive vector"}',
        ),
        read="howto/check-a-rule",
    )


def _parameters(target: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return []


def required_names(f: Any) -> tuple[str, ...]:
    """The names of the arguments that a check has to find for a function: those without a default."""
    target = resolve(f)[0]
    if isinstance(target, np.ufunc):
        return tuple("xyzw"[: target.nin])
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [p for p in _parameters(target) if p.kind in positional]
    names = [p.name for p in found if p.default is p.empty]
    if not names:
        names = [p.name for p in found[:1]]
    return tuple(names) or ("x",)


def _all_names(target: Any) -> tuple[str, ...]:
    return tuple(p.name for p in _parameters(target))


def _is_finite(y: Any) -> bool:
    vector = to_vec(y)[0]
    return bool(vector.size) and bool(np.all(np.isfinite(vector)))


def usable(subject: Subject, point: Point, like: Any) -> Any:
    """The value at a point, or None where the function refuses it or gives something not finite, or complex
    numbers where it gave real ones (`like`).
    """
    if not point.is_inside():
        return None
    try:
        y = plainly(subject.primal, point.inputs, point.kwargs)
    except Exception:
        return None
    largest = np.abs(to_vec(y)[0]).max(initial=0.0)
    if _is_single(point.inputs) and largest > np.finfo(np.float32).max:
        return None  # the function counts in doubles, but a cotangent of its dtype would overflow
    return y if _is_finite(y) and _is_complex(y) == _is_complex(like) else None


def _is_single(inputs: tuple) -> bool:
    return any(leaf.dtype in (np.float32, np.complex64, np.float16) for leaf in leaves(inputs))


def _is_complex(y: Any) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in leaves(y))


def twins_of(point: Point) -> Iterator[Point]:
    """The same numbers in single precision, and laid out otherwise in memory."""
    for origin, inputs in (
        ("the first, in single precision", in_float32(point.inputs)),
        ("the first, with gaps in memory", laid_out_otherwise(point.inputs)),
    ):
        if inputs is not None:
            yield point.moved(inputs, origin)


def odd_points(subject: Subject, point: Point, rng: np.random.Generator) -> Iterator[Point]:
    """Points with ties, with zeros, and around the numbers that stand in the code."""
    yield point.moved(all_equal(point.inputs), "all equal")
    for _ in range(2):
        yield point.moved(tied(point.inputs, rng), "with ties")
    marks = landmarks((*subject.codes, *subject.helpers))
    for low, high in narrow_gaps(marks):
        yield point.moved(between(point.inputs, low, high, rng), f"between {low:g} and {high:g}")
    for mark in marks[:8]:
        for inputs in near(point.inputs, mark, rng):
            yield point.moved(inputs, f"around {mark:g}")


def reaching(
    subject: Subject,
    candidates: Iterator[Point],
    reached: set[tuple[types.CodeType, int]],
    most: int,
    like: Any,
) -> Iterator[Point]:
    """Those among the candidates at which the function and its rule run lines that were not run before."""
    for point in candidates:
        if most <= 0:
            return
        if usable(subject, point, like) is None:
            continue
        lines = _lines_at(subject, point)
        if not lines <= reached:
            reached |= lines
            most -= 1
            yield point


def _lines_at(subject: Subject, point: Point) -> set[tuple[types.CodeType, int]]:
    with watched_lines(subject) as lines, quiet():
        try:
            y = plainly(subject.primal, point.inputs, point.kwargs)
            if subject.reverse is not None:
                _, back = subject.reverse(*point.inputs, **point.kwargs)
                back(y)
        except Exception:
            pass
    return lines


def lines_of(codes: tuple[types.CodeType, ...]) -> set[tuple[types.CodeType, int]]:
    """The lines of some code that can be run: those of statements, without the `def` that begins it."""
    return {
        (code, line)
        for code in codes
        for _, _, line in code.co_lines()
        if line is not None and line != code.co_firstlineno
    }
