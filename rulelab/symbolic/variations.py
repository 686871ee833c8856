"""Properties of a rule that no trace shows, tested in floats: other memory layouts and types of the same
numbers, other cotangents, later calls, arguments that are written to, and state that is kept.

The trace uses one layout, one type and seeds of moderate magnitude, and its calls are separate. If an answer
differs from the first one in a variation, it is compared with the exact derivative before it refutes the
rule.
"""

from __future__ import annotations

import functools
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ..tangents.holding import held_by
from ..tangents.thunks import unthunk
from .cells import Array, ComplexNumber, Static, is_complex_sample
from .counterexamples import counterexample_at, literal, position
from .outcomes import Settled, Skipped
from .plain_values import (
    are_complex,
    argument_cotangents,
    flat_floats,
    is_zero,
    numbers_in,
    padded_cotangents,
    plain_argument,
    plain_number,
    seed_like,
    without_warnings_or_output,
)
from .scalars import CONTEXT, Scalar, Stop, Trace
from .tracing import depends_on, difference_quotients, leaf_values, trace_primal
from .verdicts import Refuted

SUSPICIOUS = 1e-7  # relative: a difference that rounding may or may not explain
WRONG = 1e-6  # relative difference of a float from the exact number
VANISHING = 1e-30  # exact cotangents below this are zero, and have no relative error
ROUNDING = 1e-12  # rounding errors of zero cotangents, relative to the value and the cotangent
WORSE = 1e3  # factor by which it must be further off than the answer that was judged
HUGE = (100_000, Fraction(1, 100_000))  # factors for the seeds
LESS = Fraction(15, 16)  # factor for an argument that changes alone
MOST_CONSTANTS = 6


class Variations:
    """A rule at a sample where it was found to be right, tested in other ways."""

    def __init__(self, question, visits, whole=()):
        self.question, self.visits, self.whole = question, visits, whole
        self.sample = visits[0].sample
        self.rule = question.rule_through(lambda f: f)
        with without_warnings_or_output():
            self.y = question.value_through(lambda f: f)(*self.arguments())
        self.wide = are_complex(self.y)
        rng = np.random.default_rng(2)
        self.seeds = [self._number(lambda: Fraction(int(rng.integers(9, 25)), 7), w) for w in self.wide]
        self.base = self.answers(self.arguments(), self.cotangent(self.seeds))

    # --- asking ---

    def arguments(self, sample=None):
        return [plain_argument(v) for v in (self.sample if sample is None else sample)]

    @staticmethod
    def _number(draw, is_wide):
        return ComplexNumber(draw(), draw()) if is_wide else draw()

    def cotangent(self, seeds):
        """The seeds in the form of the result, as floats."""
        numbers = iter([complex(s) if isinstance(s, ComplexNumber) else float(s) for s in seeds])
        return seed_like(self.y, lambda shape: numbers_in(shape, numbers))

    def of_pullback(self, back, y_bar):
        """The cotangents of a pullback, as it returns them."""
        return argument_cotangents(
            padded_cotangents(self.question, back(y_bar), len(self.sample)), self.sample
        )

    def answers(self, arguments, y_bar):
        """The cotangents as one vector; None if the rule raises, which means nothing here."""
        with without_warnings_or_output():
            try:
                _, back = self.rule(*arguments)
                return self.flat(self.of_pullback(back, y_bar))
            except (Exception, Settled):
                return None

    def flat(self, found):
        """The numbers for the free entries of the arguments, in order."""
        flat: list[Any] = []
        for value, cotangent in zip(self.sample, found, strict=True):
            if isinstance(value, Static):
                continue
            numbers = plain_number(cotangent)
            shape = value.shape if isinstance(value, Array) else ()
            numbers = np.broadcast_to(numbers, shape) if is_zero(cotangent) else numbers
            if not is_complex_sample(value):
                numbers = numbers.real
            flat += leaf_values(value, numbers.ravel().tolist())
        return np.array(flat)

    # --- judging ---

    def refute(self):
        """Raise Settled if an answer is wrong."""
        self.answers_whole_numbers()
        if self.base is None or not self.base.size or not np.all(np.isfinite(self.base)):
            return
        for words, arguments, spelled in self.other_arguments():
            found = self.answers(arguments, self.cotangent(self.seeds))
            self.hold(words, found, self.base, self.seeds, spelled)
        for words, seeds, y_bar in self.other_cotangents():
            self.hold(words, self.answers(self.arguments(), y_bar), self.base, seeds)
        self.linear()
        self.later_calls()
        self.changed_alone()

    def hold(self, words, found, wanted, seeds, spelled=None):
        """Raise Settled if `found` differs from `wanted`, and the exact derivative confirms it."""
        if found is None or found.shape != wanted.shape or not np.all(np.isfinite(wanted)):
            return
        size = np.max(np.abs(wanted), initial=0.0)
        off = np.abs(found - wanted)
        if not np.any(~(off <= SUSPICIOUS * size)):
            return
        known = self.exact(seeds)
        exact = wanted if known is None else known
        size = np.max(np.abs(exact), initial=0.0)
        off, own = np.abs(found - exact), np.max(np.abs(wanted - exact), initial=0.0)
        # `wanted`, which was computed in floats, may itself have rounding errors.
        left = self._left_of_zero(0.0 if known is None else size, seeds)
        wrong = np.flatnonzero(~(off <= max(WRONG * size, WORSE * own, left)))
        if wrong.size:
            i = int(wrong[0])
            name = self.visits[0].leaves[self._leaf(i)].args
            example = counterexample_at(
                self.question, self.sample, self.y, seeds, f"the cotangent of {name}",
                CONTEXT.mpmathify(exact[i].item()), CONTEXT.mpmathify(found[i].item()),
                position(self.sample, self._leaf(i)), spelled,
            )  # fmt: skip
            raise Settled(Refuted("gradient", f"the cotangent of {name} is wrong {words}", example))

    def _left_of_zero(self, size, seeds):
        """What rounding may leave of cotangents that are zero: small relative to the seeds and the value; 0
        if they are not zero.
        """
        if size > VANISHING:
            return 0.0
        value = np.max(np.abs(flat_floats(self.y)), initial=1.0)
        return ROUNDING * value * max(abs(complex(s)) for s in seeds)

    def _leaf(self, i):
        """The number of the leaf for entry `i`, or of its first part."""
        places: list[int] = []
        count = 0
        for value in self.sample:
            if isinstance(value, Static):
                continue
            entries = len(value.leaf_indices()) if isinstance(value, Array) else 1
            width = 2 if is_complex_sample(value) else 1
            places += [count + width * k for k in range(entries)]
            count += entries * width
        return places[i]

    def exact(self, seeds):
        """The cotangents by difference quotients with 100 digits; None for complex numbers."""
        if any(self.wide) or any(map(is_complex_sample, self.sample)):
            return None
        try:
            trace, _, _, leaves, _ = trace_primal(self.question, self.sample)
            numbers = [_exact(Trace(), s) for s in seeds]
            found = difference_quotients(
                self.question, self.sample, leaves, numbers, trace.path(), tuple(trace.quadratures), self.wide
            )
        except (Skipped, Settled, Stop):
            return None
        return np.array([float(number) for number in found])

    # --- the same numbers in another form ---

    def other_arguments(self) -> Iterator[tuple[str, list, Callable]]:
        """Yield (when, arguments, how to write a sample of one): the same numbers in another layout or
        type.
        """
        for words, change, text in _LAYOUTS:
            changed = [change(x) if _has_axes(x) else x for x in self.arguments()]
            if any(map(_has_axes, changed)):
                yield words, changed, functools.partial(_spelled, text)
        if any(isinstance(v, Fraction) for v in self.sample):
            numbers = [np.float64(x) if isinstance(x, float) else x for x in self.arguments()]
            yield "for numbers of type np.float64", numbers, functools.partial(_spelled, "np.float64({})")
        if self.whole:
            texts = iter([f"np.array({x.tolist()})" if _has_axes(x) else repr(x) for x in self.whole])
            given = [x.copy() if isinstance(x, np.ndarray) else x for x in self.whole]
            yield "for whole numbers as they were given", given, lambda v: next(texts)

    def answers_whole_numbers(self):
        """Raise Settled if the rule raises at the ints that were given although the function has a value
        there; no other variation refutes by an exception.
        """
        if not self.whole:
            return

        def given():
            return [x.copy() if isinstance(x, np.ndarray) else x for x in self.whole]

        with without_warnings_or_output():
            try:
                y = self.question.value_through(lambda f: f)(*given())
                numbers = iter(float(s) for s in self.seeds)
                y_bar = seed_like(y, lambda shape: numbers_in(shape, numbers))
                if not np.all(np.isfinite(flat_floats(y))):
                    return
            except Exception:
                return  # there is no value, or its number of entries differs from that of the float run
            try:
                _, back = self.rule(*given())
                self.of_pullback(back, y_bar)
            except Settled:
                raise
            except Exception as raised:
                words = f"it raises {type(raised).__name__} at the whole numbers that were given: {raised}"
                raise Settled(Refuted("effects", words)) from raised

    def other_cotangents(self) -> Iterator[tuple[str, list, Any]]:
        """Yield (when, seeds, cotangent): the same seeds in another layout or type."""
        y_bar = self.cotangent(self.seeds)
        if isinstance(y_bar, np.ndarray) and y_bar.ndim:
            for words, change, _ in _LAYOUTS:
                yield words.replace("arrays", "cotangents"), self.seeds, change(y_bar)
            frozen = y_bar.copy()
            frozen.flags.writeable = False
            yield "for a cotangent that is read-only", self.seeds, frozen
        elif isinstance(y_bar, float):
            yield "for a cotangent of type np.float64", self.seeds, np.float64(y_bar)

    # --- linearity in the cotangent ---

    def linear(self):
        """Test other seeds: all ones, huge and tiny ones, and the constants that the rule compares them
        with.
        """
        for number in (Fraction(1), *self.compared_with()):
            for factor in (1, Fraction(3, 2)):
                one = number * factor
                seeds = [ComplexNumber(one, Fraction(0)) if w else one for w in self.wide]
                both = [_sum(s, t) for s, t in zip(seeds, self.seeds, strict=True)]
                found = self.answers(self.arguments(), self.cotangent(seeds))
                of_both = self.answers(self.arguments(), self.cotangent(both))
                if found is not None and of_both is not None:
                    self.hold(_for_seed(seeds), found, of_both - self.base, seeds)
                    self.hold(_for_seed(both), of_both, found + self.base, both)
        for factor in (*HUGE, -HUGE[0]):
            seeds = [_scaled(s, factor) for s in self.seeds]
            found = self.answers(self.arguments(), self.cotangent(seeds))
            self.hold(_for_seed(seeds), found, float(factor) * self.base, seeds)

    def compared_with(self):
        """The constants that the rule compares its cotangent with."""
        found: dict[Fraction, None] = {}
        for seen in self.visits:
            for decision in seen.trace.decisions:
                for left, right in ((decision.left, decision.right), (decision.right, decision.left)):
                    constant = getattr(right, "is_constant", False) and right.args is not None
                    if constant and right.shadow != 0 and depends_on(left, seen.seeds):
                        found[Fraction(float(right.shadow)).limit_denominator(10**6)] = None
        return list(found)[:MOST_CONSTANTS]

    def decides_by_cotangent(self):
        """Whether the rule has a decision on its cotangent anywhere."""
        return any(
            depends_on(d.left, seen.seeds) or depends_on(d.right, seen.seeds)
            for seen in {v.path: v for v in self.visits}.values()
            for d in seen.trace.decisions
        )

    # --- later calls ---

    def later_calls(self):
        """Raise Settled if a result changes, or is not reproduced, after the rule was called with other
        arguments: of the same shapes, and then of other shapes.
        """
        samples = [v.sample for v in self.visits[1:]]
        alike = [s for s in samples if s != self.sample and self._shapes(s) == self._shapes(self.sample)]
        if not self.stands_after(self.arguments(alike[0] if alike else self.sample)):
            return
        others = [self.arguments(s) for s in samples if self._shapes(s) != self._shapes(self.sample)]
        for arguments in others[:1] or [[_longer(x) if _has_axes(x) else x for x in self.arguments()]]:
            if any(map(_has_axes, arguments)):
                self.stands_after(arguments)

    def _shapes(self, sample):
        return [np.shape(x) for x in self.arguments(sample)]

    def stands_after(self, others):
        """Whether a result could be obtained before and after a call with other arguments. Raises Settled if
        it has changed.
        """
        y_bar = self.cotangent(self.seeds)
        with without_warnings_or_output():
            try:
                value, back = self.rule(*self.arguments())
                value_was, returned = flat_floats(value), self.of_pullback(back, y_bar)
                first = self.flat(returned)
                self.of_pullback(back, self.cotangent([_scaled(s, 3) for s in self.seeds]))
                y, others_back = self.rule(*others)
                for cotangent in others_back(seed_like(y, lambda shape: np.full(shape, 3.0)[()])):
                    unthunk(cotangent)
                stands, kept = self.flat(returned), flat_floats(value)
                again = self.flat(self.of_pullback(back, y_bar))
                _, back = self.rule(*self.arguments())
                anew = self.flat(self.of_pullback(back, y_bar))
            except (Exception, Settled):
                return False
        for words, found, before in (
            ("pullback changed what it had returned before when it was called again", stands, first),
            ("rule changed the value it had returned before when it was called again", kept, value_was),
            (
                "pullback gives a different answer after the rule was called with other arguments",
                again,
                first,
            ),
            ("pullback gives a different answer when the rule is called again", anew, first),
        ):
            if not np.allclose(found, before, rtol=SUSPICIOUS, atol=0.0, equal_nan=True):
                raise Settled(Refuted("effects", f"the {words}"))
        return True

    def changed_alone(self):
        """Raise Settled if the rule and the function differ in value after a single argument has changed: a
        cache keyed by only some of the arguments is right as long as all change together.
        """
        for i, name in enumerate(self.question.names[: len(self.sample)]):
            if isinstance(self.sample[i], Static):
                continue
            sample = tuple(_less(v) if i == j else v for j, v in enumerate(self.sample))
            with without_warnings_or_output():
                try:
                    value = flat_floats(self.question.value_through(lambda f: f)(*self.arguments(sample)))
                    given = flat_floats(self.rule(*self.arguments(sample))[0])
                except (Exception, Settled):
                    continue
            size = np.max(np.abs(value), initial=0.0)
            if value.shape != given.shape or not np.isfinite(size):
                continue
            if not np.all(np.abs(given - value) <= WRONG * size):
                words = f"the rule gives the value of an earlier call when only {name} has changed"
                raise Settled(Refuted("effects", words))

    def keeps(self):
        """The name of something that changes from call to call although the arguments are the same; None if
        nothing does.
        """
        functions = [self.question.primal, self.question.rule, self.question.partials]
        y_bar = self.cotangent(self.seeds)
        with without_warnings_or_output():
            try:
                _, back = self.rule(*self.arguments())
                self.of_pullback(back, y_bar)
                memory = _Memory((*functions, back))
                _, other = self.rule(*self.arguments())
                self.of_pullback(other, y_bar)
                self.of_pullback(back, y_bar)
            except (Exception, Settled):
                return None
        return memory.changed()


def _longer(x):
    """The same numbers with the last one repeated along each axis."""
    for axis in range(x.ndim):
        x = np.concatenate([x, np.take(x, [-1], axis)], axis)
    return x


def _has_axes(x):
    return isinstance(x, np.ndarray) and x.ndim > 0


def _spelled(text, value):
    """A sample of one argument as an expression, inside `text` if it varies."""
    return literal(value) if isinstance(value, Static) else text.format(literal(value))


def _for_seed(seeds):
    shown = [f"{complex(s):g}" if isinstance(s, ComplexNumber) else f"{float(s):g}" for s in seeds[:3]]
    of_all = shown[:1] if len(set(seeds)) == 1 else [*shown, *["…"] * (len(seeds) > 3)]
    return f"for y_bar = {', '.join(of_all)}, right for others: it is not linear in y_bar"


def _scaled(seed, factor):
    if isinstance(seed, ComplexNumber):
        return ComplexNumber(seed.real * factor, seed.imag * factor)
    return seed * factor


def _less(value):
    """A sample of one argument closer to zero, with the same signs and symmetry."""
    if isinstance(value, Array):
        return value._replace(entries=tuple(_scaled(entry, LESS) for entry in value.entries))
    return _scaled(value, LESS)


def _sum(one, other):
    if isinstance(one, ComplexNumber):
        return ComplexNumber(one.real + other.real, one.imag + other.imag)
    return one + other


def _exact(trace, seed):
    return Scalar(trace, "constant", None, CONTEXT.mpf(seed.numerator) / seed.denominator)


def _with_gaps(x):
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


_BACKWARDS = "{}[..., ::-1].copy()[..., ::-1]"
_LAYOUTS = (
    ("for arrays with gaps between their entries", _with_gaps, "np.repeat({}, 2, axis=-1)[..., ::2]"),
    ("for arrays that run backwards", lambda x: x[..., ::-1].copy()[..., ::-1], _BACKWARDS),
    ("for arrays in Fortran order", np.asfortranarray, "np.asfortranarray({})"),
)


# --- state of functions -------------------------------------------------------------------------------------


class _Memory:
    """A snapshot of what functions, and the objects that they refer to, hold."""

    DEEPEST, MOST = 4, 400

    def __init__(self, functions):
        self.functions = [f for f in functions if f is not None]
        self.before = self._taken()

    def changed(self):
        """The name of the first thing that has changed; else None."""
        now = self._taken()
        return next((key[0] for key in (*self.before, *now) if self.before.get(key) != now.get(key)), None)

    def _taken(self):
        self.found: dict[tuple, Any] = {}
        self.seen: dict[int, Any] = {}
        for f in self.functions:
            self._function(f, self.DEEPEST)
        return self.found

    def _function(self, f, depth):
        f = getattr(f, "__wrapped__", f) if not isinstance(f, types.FunctionType) else f
        if isinstance(f, types.MethodType):
            self._value(f"{f.__func__.__name__}.__self__", f.__self__, depth)
            f = f.__func__
        if not isinstance(f, types.FunctionType) or id(f) in self.seen or _is_a_library(f):
            return
        self.seen[id(f)] = f
        for name, value in vars(f).items():
            self._value(f"{f.__name__}.{name}", value, depth - 1)
        named = {name: f.__globals__[name] for name in _names(f.__code__) if name in f.__globals__}
        for name, value in (*held_by(f).by_name().items(), *named.items()):
            self._value(name, value, depth - 1)

    def _value(self, name, value, depth):
        if depth < 0 or len(self.found) >= self.MOST:
            return
        if isinstance(value, (types.FunctionType, types.MethodType)):
            self._function(value, depth)
            return
        if isinstance(value, (int, float, complex, str, bytes, type(None))):
            self.found[(name, depth)] = value
        elif isinstance(value, np.ndarray):
            self.found[(name, depth)] = None if value.dtype.hasobject else hash(value.tobytes())
        elif isinstance(value, (types.ModuleType, type)) or id(value) in self.seen:
            return
        elif isinstance(value, (list, tuple, set, frozenset, dict)):
            self.seen[id(value)] = value
            items = list(value.items() if isinstance(value, dict) else enumerate(value))
            self.found[(name, depth)] = len(items)
            for part, item in items[:50]:
                self._value(f"{name}[{part!r}]", item, depth - 1)
        elif hasattr(value, "__next__"):
            self.found[(name, depth)] = repr(value), operator.length_hint(value, -1), _position(value)
        elif hasattr(value, "__dict__") and not callable(value):
            self.seen[id(value)] = value
            for part, item in itertools.islice(vars(value).items(), 50):
                self._value(f"{name}.{part}", item, depth - 1)


def _position(iterator):
    frame = getattr(iterator, "gi_frame", None)
    return frame and (frame.f_lasti, frame.f_lineno)


def _is_a_library(f):
    package = (f.__module__ or "").partition(".")[0]
    return package in ("rulelab", "numpy", "scipy", "sympy", "mpmath")


def _names(code):
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
