"""One sample point: the author's code run plainly, then traced, and the two compared; then rule against
difference quotient.

The plain run is the witness for the tracer: a value or cotangent that differs between the two by more than
1e-9 would mean a statement about the wrong program, and ends in "unsupported". The difference quotient is
the witness against the rule: the traced primal at x + h and x - h with h = 1e-30 and 100 digits, which no
table of derivatives has touched.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, Place
from ..rulesets import array_likes, numpy_elementwise, python_math
from ..tangents import projection, thunks, zeros
from ..tangents.structural import Tangent
from .arrays import own, summed_to
from .cells import Array, ComplexNumber, Static, count_of, samples
from .complexes import Complex, as_complex, is_complex
from .field_graphs import same_everywhere
from .functions import apply, element_version, scalar_version
from .integrals import stand_ins
from .scalars import CONTEXT, CannotTrace, Scalar, Stop, Trace
from .small_slopes import wrong_though_small
from .swap import Swap, same_shape_object_array
from .verdicts import Counterexample, Refuted, Unsupported
from .writes import first_changed

STEP = CONTEXT.mpf(10) ** -30
SAME_PROGRAM = 1e-9  # plain against traced
WRONG = 1e-12  # rule against difference quotient: beyond this the rule is wrong
EXACT_DIGITS = 30  # fewer agreeing digits than this: no identity, whatever the cause
MAX_DIGITS = 40
VALUES = CONTEXT.mpf(10) ** -30  # the size of values below which their rounding counts


@dataclass(frozen=True)
class Question:
    """What is judged: `rule(*args) -> (y, pullback)`, or `partials(y, *args)`, for `primal`.

    `leading` is set for rules that give cotangents for the first so many arguments only. `ask` is the text
    by which a reader gets at (y, pullback), up to the opening bracket's arguments.
    """

    primal: Callable
    rule: Callable | None
    partials: Callable | None
    names: tuple
    leading: int | None = None
    ask: str = "rl.rrule(f, "
    kwargs: dict = field(default_factory=dict)

    def swap(self, trace, stand_ins):
        """The exchange of namespaces for one trace."""
        return Swap(trace, stand_ins)

    def code(self, arguments, index, seed):
        """Code that shows what was found at `arguments`, in a way of its own; None for that of a rule."""
        return None

    def value_through(self, exchange):
        """The function passed through `exchange`, with its keyword arguments."""
        return _with_keywords(exchange(self.primal), self.kwargs)

    def rule_through(self, exchange):
        """The rule as a function to (y, pullback), each of its parts passed through `exchange`."""
        if self.partials is None:
            return _with_keywords(exchange(self.rule), self.kwargs)
        primal, partials = exchange(self.primal), exchange(self.partials)
        fitted = exchange(projection.unbroadcast)

        def scalar_rule(*xs):
            y = primal(*xs)
            slopes = partials(y, *xs)
            slopes = slopes if isinstance(slopes, tuple) else (slopes,)
            return y, lambda y_bar: (
                zeros.NoTangent(),
                *(fitted(times(_conjugated(s), y_bar), x) for s, x in zip(slopes, xs, strict=True)),
            )

        return scalar_rule


def _with_keywords(function, kwargs):
    return functools.partial(function, **kwargs) if kwargs else function


def _conjugated(slope):
    return slope.conjugate() if is_complex(slope) else slope


def times(slope, y_bar):
    """A partial derivative of a scalar rule times the seed; zeros pass through."""
    return slope if isinstance(slope, zeros.AbstractZero) else slope * y_bar


class Settled(Exception):
    """A verdict was reached at this sample."""

    # Set only where a gradient is refuted: the number of the leaf, and what its cell is made of.
    wrong: int
    graphs: tuple[Any, Any, Any, Any]
    expected: list

    def __init__(self, verdict):
        super().__init__(verdict.word)
        self.verdict = verdict


class Skipped(Exception):
    """The sample proves nothing: outside the domain, or on the border of a cell."""


class NotFollowed(Skipped):
    """The function has a value at the sample, but traced numbers have none: what holds there is not said."""


class Misfit(Exception):
    """The function does not take arguments of this kind; `verdict` is what it would mean if no other kind
    fits."""

    def __init__(self, reason, verdict=None):
        super().__init__(reason)
        self.verdict = verdict


@dataclass
class Visit:
    """What a sample at which the rule is right has shown."""

    sample: tuple
    trace: Trace
    y: list  # traced results, flat
    rule_y: list
    seeds: list  # traced cotangents of the results, flat
    leaves: list  # traced inputs, flat
    found: list  # traced cotangents the rule gives for them
    expected: list  # the same by difference quotients, numbers
    digits: int
    path: tuple = field(default=())
    codes: frozenset = frozenset()  # the author's code objects that were run


# --- the plain run
# -----------------------------------------------------------------------------------------------


def plain_argument(value):
    if isinstance(value, Static):
        return value.value
    if isinstance(value, Array):
        number = complex if value.is_complex else float
        return np.array([number(v) for v in value.entries], number).reshape(value.shape)
    return complex(value) if isinstance(value, ComplexNumber) else float(value)


@contextlib.contextmanager
def _quietly():
    with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def makes_a_number(question, spec, rng, limits=()):
    """Whether the function makes one number of arguments of these kinds, and not always the same."""
    try:
        y, other = (_plain_primal(question, s) for s in itertools.islice(samples(spec, rng, limits), 2))
    except (Skipped, Misfit, Settled):
        return False
    return np.ndim(y) == 0 and not isinstance(y, (tuple, list)) and bool(y != other)


_WRONG_KIND = (TypeError, AttributeError, IndexError, KeyError)


def plain_run(question, sample, seed_for):
    """(y, cotangents) in floats, after checking that both are repeatable and have the right form."""
    y = _plain_primal(question, sample)
    again = _plain_primal(question, sample)
    if not np.array_equal(flat_floats(y), flat_floats(again)):
        trace_primal(question, sample)  # where a C call is at fault, this names it
        raise Settled(
            Unsupported(
                "the function gives another value at each call",
                _place_of(question.primal),
                "pass in what varies as an argument",
            )
        )
    if any(_wide(y)) and not any(map(_is_complex_sample, sample)):
        trace_primal(question, sample)  # a power of a negative float turns complex: skipped there
    y_bar = seed_for(y)
    with _quietly():
        arguments = list(map(plain_argument, sample))
        rule_y, pullback = _plain_rule(question, sample, arguments)
        if (given := _shapes(rule_y)) != (wanted := _shapes(y)):
            words = f"the rule's value has shape {given}, the function's has {wanted}"
            raise Settled(Refuted("shape", words))
        try:
            first = _padded(question, pullback(y_bar), len(sample))
            _check_form(question, sample, first)
            kept = [np.array(_plain_number(c), copy=True) for c in _cotangents(first, sample)]
            again = _cotangents(_padded(question, pullback(y_bar), len(sample)), sample)
        except (Settled, Misfit):
            raise
        except Exception as raised:
            _rule_raised(question, "pullback", raised, sample)
    if written := first_changed(arguments, map(plain_argument, sample), question.names):
        raise Settled(Refuted("effects", f"the rule writes to its argument {written}"))
    if not all(_alike(k, _plain_number(a)) for k, a in zip(kept, again, strict=True)):
        raise Settled(Refuted("effects", "the pullback gives another answer when it is called a second time"))
    return y, rule_y, kept


def _shapes(y):
    """The shape of a value; of a list or tuple those of its parts."""
    return [_shapes(part) for part in y] if isinstance(y, (tuple, list)) else np.shape(y)


def _plain_primal(question, sample):
    with _quietly():
        try:
            y = question.value_through(lambda f: f)(*map(plain_argument, sample))
        except (ArithmeticError, ValueError) as raised:
            raise Skipped(f"{type(raised).__name__}: {raised}") from raised
        except Exception as raised:
            raise Misfit(f"{type(raised).__name__}: {raised}") from raised
    kinds = {np.asarray(part).dtype.kind for part in parts_that_move(y)}
    if not kinds <= set("fiubc"):
        raise Settled(
            Unsupported(
                f"a result of type {type(y).__name__}",
                _place_of(question.primal),
                "this check is for functions that return numbers",
            )
        )
    if not np.all(np.isfinite(flat_floats(y))):
        raise Skipped("the value is not finite")
    return y


def _plain_rule(question, sample, arguments=None):
    rule = question.rule_through(lambda function: function)
    try:
        result = rule(*(map(plain_argument, sample) if arguments is None else arguments))
    except Exception as raised:
        _rule_raised(question, "rule", raised, sample)
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
        raise Settled(
            Refuted(
                "arity", f"the rule must return a pair (y, pullback), it returned {type(result).__name__}"
            )
        )
    return result


def _rule_raised(question, part, raised, sample):
    if isinstance(raised, NotDifferentiableError):
        raise Skipped(f"the rule refuses: {str(raised).splitlines()[0]}") from raised
    verdict = Refuted(
        "effects",
        f"the {part} raised {type(raised).__name__}: {raised}",
        Counterexample(
            exact_arguments(question, sample),
            "1",
            f"the {part}",
            "a result",
            f"{type(raised).__name__}",
            0,
            paste(question, sample, Fraction(1), None, None),
        ),
    )
    if isinstance(raised, _WRONG_KIND):
        raise Misfit(str(raised), verdict) from raised
    raise Settled(verdict) from raised


def _padded(question, cotangents, count):
    if not isinstance(cotangents, tuple):
        raise Settled(
            Refuted("arity", f"the pullback must return a tuple, it returned {type(cotangents).__name__}")
        )
    if question.leading is not None:
        cotangents = (*cotangents, *(zeros.NoTangent(),) * count)[: count + 1]
    if len(cotangents) != count + 1:
        raise Settled(
            Refuted(
                "arity",
                f"the pullback returned {len(cotangents)} cotangents; {count + 1} are needed: "
                "one for the function itself, then one for each argument",
            )
        )
    return cotangents


def _cotangents(returned, sample):
    """The cotangents of the arguments, thunks opened; nobody asks for those of what is held fixed."""
    return [
        zeros.NoTangent() if isinstance(value, Static) else thunks.unthunk(c)
        for c, value in zip(returned[1:], sample, strict=True)
    ]


def _is_zero(cotangent):
    return isinstance(cotangent, zeros.AbstractZero)


def _plain_number(cotangent):
    if _is_zero(cotangent):
        return np.float64(0.0)
    try:
        cotangent = np.asarray(cotangent)
        return np.asarray(cotangent, complex if cotangent.dtype.kind == "c" else float)
    except (TypeError, ValueError) as raised:
        raise Settled(Unsupported(f"a cotangent of type {type(cotangent).__name__}")) from raised


def _check_form(question, sample, returned):
    for name, cotangent in zip(question.names, returned[1:], strict=True):
        if cotangent is None:
            raise Settled(
                Refuted(
                    "arity", f"the cotangent of {name} is None: NoTangent() and ZeroTangent() say nothing"
                )
            )
    for name, value, cotangent in zip(question.names, sample, _cotangents(returned, sample), strict=True):
        if isinstance(value, Static) or _is_zero(cotangent):
            continue
        shape = value.shape if isinstance(value, Array) else ()
        if np.shape(cotangent) != shape:
            verdict = Refuted(
                "shape", f"the cotangent of {name} has shape {np.shape(cotangent)}, {name} itself has {shape}"
            )
            raise Misfit(verdict.reason, verdict) if shape == () else Settled(verdict)


def _alike(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    return bool(
        np.all(np.abs(a - b) <= SAME_PROGRAM * (1 + np.abs(b))) or np.array_equal(a, b, equal_nan=True)
    )


# --- the traced run
# ----------------------------------------------------------------------------------------------



def _unbroadcast(x_bar, x):
    if isinstance(x_bar, thunks.Thunk):
        return thunks.Thunk(lambda: _unbroadcast(thunks.unthunk(x_bar), x))
    return x_bar if _is_zero(x_bar) else _as_real_as(x, summed_to(x_bar, np.shape(x)))


def _as_real_as(x, x_bar):
    """The real part of a cotangent, where the argument is real."""
    return x_bar if _is_zero(x_bar) or is_complex(x) or not is_complex(x_bar) else x_bar.real


def _project_to(x):
    def project(x_bar):
        if isinstance(x_bar, thunks.Thunk):
            return thunks.Thunk(lambda: project(thunks.unthunk(x_bar)))
        return _as_real_as(x, x_bar)

    return project


def _exactly(original, name):
    """A function that a rule computes by a series, as the function it computes."""

    def on_scalar(x):
        x.trace.notes[f"{original.__name__} was taken as the exact function"] = None
        return apply(name, x, False)

    def on_values(x):
        if isinstance(x, np.ndarray) and x.ndim:
            return own(np.frompyfunc(element_version(original, on_scalar), 1, 1)(x.view(np.ndarray)))
        return on_scalar(x.view(np.ndarray).item() if isinstance(x, np.ndarray) else x)

    return original, scalar_version(original, on_values)


_STAND_INS = (
    _exactly(python_math.digamma, "digamma"),
    _exactly(numpy_elementwise.bessel_i1, "besseli1"),
    (projection.ProjectTo, _project_to),
    (projection.unbroadcast, _unbroadcast),
    (array_likes.check_plain, lambda items: None),
)


def traced_arguments(trace, names, sample, moved=None):
    """(arguments, leaves): traced inputs for `sample`; `moved` is (number of a leaf, by how much)."""
    leaves: list[Scalar] = []

    def leaf(name, value):
        if isinstance(value, ComplexNumber):
            return Complex(leaf(f"{name}.real", value.real), leaf(f"{name}.imag", value.imag))
        shadow = CONTEXT.mpf(value.numerator) / value.denominator
        if moved is not None and moved[0] == len(leaves):
            shadow += moved[1]
        leaves.append(trace.argument(name, shadow))
        return leaves[-1]

    arguments = []
    for name, value in zip(names, sample, strict=True):
        if isinstance(value, Static):
            arguments.append(value.value)
        elif isinstance(value, Array):
            arguments.append(_traced_array(leaf, name, value))
        else:
            arguments.append(leaf(name, value))
    return arguments, leaves


def _traced_array(leaf, name, value):
    entries = np.empty(value.shape, dtype=object)
    numbers = np.reshape(np.array(value.entries, dtype=object), value.shape)
    for index in value.leaf_indices():
        entries[index] = leaf(f"{name}[{','.join(map(str, index))}]", numbers[index])
        if value.symmetric:
            entries[index[::-1]] = entries[index]
    return own(entries)


def _flat(trace, value, wide=None):
    """Traced real numbers of a result or cotangent, in C order; whole numbers in a tuple are left out.

    `wide` says of each number whether it stands for a complex one, which gives two; by default, what is
    complex does.
    """
    lifted = [trace.constant(v) for part in parts_that_move(value) for v in _entries(part)]
    if any(v is None for v in lifted):
        trace.halt(CannotTrace(f"a result of type {type(value).__name__}"))
    wide = map(is_complex, lifted) if wide is None else wide
    return [part for number, pair in zip(lifted, wide, strict=True) for part in _real_parts(number, pair)]


def _real_parts(number, pair):
    if pair:
        return as_complex(number).args
    if is_complex(number):
        number.trace.halt(CannotTrace("a complex number where the plain run has a real one"))
    return (number,)


def _wide(y):
    """Of each number of a plain result, whether it is complex."""
    kinds = [np.asarray(part).dtype.kind == "c" for part in parts_that_move(y)]
    return [k for k, part in zip(kinds, parts_that_move(y), strict=True) for _ in range(np.size(part))]


def _entries(value):
    if not isinstance(value, np.ndarray):
        return [value]
    return value.view(np.ndarray).ravel().tolist()


def flat_floats(value):
    """The numbers of a plain result as one vector of floats."""
    parts = [_as_floats(np.asarray(part)) for part in parts_that_move(value)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _as_floats(array):
    """The entries as floats, those of complex ones in pairs."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array, complex).ravel().view(float)
    return np.asarray(array, float).ravel()


def _traced(trace, swap, question, work):
    """`work()` with every way of failing turned into a verdict about the tracing, not about the rule."""
    with _quietly():
        try:
            result = work()
        except CannotTrace as stop:
            raise Settled(
                Unsupported(stop.construct, _user_place(stop, swap.codes, question), stop.advice)
            ) from stop
        except Stop as stop:
            raise NotFollowed(str(stop)) from stop
        except NotDifferentiableError as refusal:
            raise Skipped(f"the rule refuses: {str(refusal).splitlines()[0]}") from refusal
        except Exception as raised:
            if isinstance(trace.stop, CannotTrace):  # C code made another error of it
                place = _user_place(raised, swap.codes, question)
                raise Settled(Unsupported(trace.stop.construct, place, trace.stop.advice)) from raised
            raise Settled(
                Unsupported(
                    f"{type(raised).__name__} on traced numbers: {raised}",
                    _user_place(raised, swap.codes, question),
                    "the plain run was fine: the code needs something only real floats have",
                )
            ) from raised
    if isinstance(trace.stop, CannotTrace):  # it was caught by a bare except
        raise Settled(Unsupported(trace.stop.construct, _user_place(trace.stop, swap.codes, question)))
    if trace.stop is not None:
        raise NotFollowed(str(trace.stop))
    return result


def trace_primal(question, sample, moved=None, quadratures=()):
    """(trace, swap, arguments, leaves, flat results) of the primal alone."""
    trace = Trace()
    trace.follows = list(quadratures)
    swap = question.swap(trace, (*_STAND_INS, *stand_ins(trace)))
    arguments, leaves = traced_arguments(trace, question.names, sample, moved)
    arguments = [swap.value(a, "an argument") if callable(a) else a for a in arguments]
    primal = question.value_through(lambda f: swap.value(f, "f"))
    y = _traced(trace, swap, question, lambda: primal(*arguments))
    return trace, swap, arguments, leaves, y


def difference_quotients(question, sample, leaves, seeds, path, quadratures=(), wide=None, width=STEP):
    """d(sum of y_bar * y)/d(leaf) for every leaf, by central differences with 100 digits."""
    slopes = []
    for i, leaf in enumerate(leaves):
        step = width * max(1, abs(leaf.shadow))
        total = CONTEXT.mpf(0)
        for side in (step, -step):
            trace, _, _, _, y = trace_primal(question, sample, (i, side), quadratures)
            if trace.path() != path:
                raise Skipped("on the border between two cells")
            total += CONTEXT.sign(side) * sum(
                s.shadow * v.shadow for s, v in zip(seeds, _flat(trace, y, wide), strict=True)
            )
        slopes.append(total / (2 * step))
    return slopes


def visit(question, sample, seed):
    """What happens at `sample` with seeds made by `seed()`: a Visit, or Settled, Skipped or Misfit is
    raised."""
    seeds: list[Any] = []
    sample = _held_beyond(question.leading, sample)

    def seed_for(y):
        seeds.extend(ComplexNumber(seed(), seed()) if wide else seed() for wide in _wide(y))
        left = iter(_plain_seeds(seeds))
        return seed_like(y, lambda shape: _numbers_in(shape, left))

    plain_y, plain_rule_y, plain_found = plain_run(question, sample, seed_for)
    trace, swap, arguments, leaves, y = trace_primal(question, sample)
    wide = _wide(plain_y)
    path, y_flat = trace.path(), _flat(trace, y, wide)
    quadratures = tuple(trace.quadratures)
    _skip_ties(trace)
    _same_program(question, "value", plain_y, y_flat)

    y_bar, seed_leaves = _traced_seed(trace, question.names, plain_y, seeds)
    rule = question.rule_through(lambda f: swap.value(f, "rule"))

    def run_rule():
        rule_y, pullback = rule(*arguments)
        return rule_y, _cotangents(_padded(question, pullback(y_bar), len(sample)), sample)

    rule_y, cotangents = _traced(trace, swap, question, run_rule)
    _skip_ties(trace)
    _check_count(wide, rule_y)
    rule_y = _flat(trace, rule_y, wide)
    _same_program(question, "rule's value", _widened(plain_rule_y, plain_y), rule_y)
    found = _found(trace, question, sample, cotangents, plain_found)
    _check_value(question, sample, seeds, _numbers(y_flat, wide), _numbers(rule_y, wide))
    quotients = functools.partial(
        difference_quotients, question, sample, leaves, seed_leaves, path, quadratures, wide
    )
    expected = quotients()
    again = None if quadratures else quotients
    digits = _check_gradient(question, sample, seeds, leaves, found, expected, y_flat, seed_leaves, again)
    digits = min(digits, trace.known_digits)
    return Visit(
        sample, trace, y_flat, rule_y, seed_leaves, leaves, found, expected, digits, trace.path(),
        frozenset(swap.codes),
    )  # fmt: skip


def _plain_seeds(seeds):
    return [complex(s) if isinstance(s, ComplexNumber) else float(s) for s in seeds]


def _check_count(wide, rule_y):
    theirs = [is_complex(entry) for part in parts_that_move(rule_y) for entry in _entries(part)]
    if len(theirs) != len(wide):
        raise Settled(
            Refuted("shape", f"the rule's value has {len(theirs)} entries, the function's has {len(wide)}")
        )
    if any(theirs) and not any(wide):
        raise Settled(Refuted("value", "the rule's y is complex, f of the arguments is real"))


def _widened(rule_y, y):
    """The rule's plain value, as complex as the function's."""
    if isinstance(y, (tuple, list)) or np.asarray(y).dtype.kind != "c":
        return rule_y
    return np.asarray(rule_y, complex)


def _skip_ties(trace):
    if trace.tie or not all(same_everywhere(left, right) for left, right in trace.equal):
        raise Skipped("on the border between two cells")


def _held_beyond(leading, sample):
    """The sample with what a rule does not answer for held fixed."""
    if leading is None:
        return sample
    held = [v if isinstance(v, Static) else Static(plain_argument(v)) for v in sample[leading:]]
    return (*sample[:leading], *held)


def parts_that_move(y):
    """The results that get a cotangent: of a tuple or list, those that are not whole numbers."""
    if not isinstance(y, (tuple, list)):
        return [y]
    return [part for item in y for part in parts_that_move(item) if np.asarray(part).dtype.kind not in "iub"]


def seed_like(y, numbers):
    """A cotangent in the form of the result `y`; `numbers(shape)` gives that of one array or number."""
    if not isinstance(y, (tuple, list)):
        return numbers(np.shape(y))
    moves = [isinstance(item, (tuple, list)) or np.asarray(item).dtype.kind not in "iub" for item in y]
    return Tangent(
        type(y), *[seed_like(i, numbers) if m else zeros.NoTangent() for i, m in zip(y, moves, strict=True)]
    )


def _numbers_in(shape, numbers):
    if shape == ():
        return next(numbers)
    return np.array([next(numbers) for _ in range(math.prod(shape))]).reshape(shape)


def seed_name(names):
    """A name for the seed that no argument has."""
    name = "y_bar"
    while name in names:
        name += "_"
    return name


def _traced_seed(trace, names, plain_y, seeds):
    name, left = seed_name(names), iter(seeds)
    leaves: list[Scalar] = []
    several = isinstance(plain_y, (tuple, list))

    def leaf(label):
        place = ",".join(filter(None, (f"{sum_of[0]}" if several else "", label)))
        return one(f"{name}[{place}]" if place else name, next(left))

    def one(called, value):
        if isinstance(value, ComplexNumber):
            return Complex(one(f"{called}.real", value.real), one(f"{called}.imag", value.imag))
        leaves.append(trace.argument(called, value))
        return leaves[-1]

    sum_of = [-1]  # the number of the result that is being seeded

    def numbers(shape):
        sum_of[0] += 1
        entries = [leaf(",".join(map(str, index))) for index in np.ndindex(shape)]
        return own(same_shape_object_array(entries, shape)) if shape else entries[0]

    return seed_like(plain_y, numbers), leaves


def _found(trace, question, sample, cotangents, plain_found):
    flat: list[Scalar] = []
    for name, value, cotangent, plain in zip(question.names, sample, cotangents, plain_found, strict=True):
        if isinstance(value, Static):
            continue
        count = len(value.entries) if isinstance(value, Array) else 1
        pairs = _is_complex_sample(value)
        if not pairs and (is_complex(cotangent) or is_complex(plain)):
            trace.notes[f"the cotangent of {name} is complex: its real part counts, {name} being real"] = None
            cotangent, plain = _as_real_as(0.0, cotangent), plain.real
        zero = _is_zero(cotangent)
        wide = [pairs] * count
        entries = _flat(trace, [0.0] * count if zero else cotangent, wide)
        plain = np.asarray(plain, complex if pairs else float)
        _same_program(
            question,
            f"cotangent of {name}",
            np.broadcast_to(plain, (count,)) if plain.ndim == 0 else plain,
            entries,
        )
        flat.extend(_of_leaves(value, entries))
    return flat


def _of_leaves(value, entries):
    """The cotangents of the free entries of an argument; both places of a symmetric one count."""
    if not isinstance(value, Array) or not value.symmetric:
        return entries
    square = same_shape_object_array(entries, value.shape)
    return [square[i] if i[0] == i[1] else square[i] + square[i[::-1]] for i in value.leaf_indices()]


def _same_program(question, what, plain, traced):
    plain = flat_floats(plain)
    integrals = any(t.trace.integrands for t in traced)
    traced = np.array([float(CONTEXT.nstr(t.shadow, 20)) for t in traced])
    if not _alike(traced, plain):
        if integrals:
            raise Skipped("SciPy's quad has not nine digits of the integral")
        raise Settled(
            Unsupported(
                f"the traced {what} differs from the plain one "
                f"({traced.tolist()[:3]} against {plain.tolist()[:3]})",
                _place_of(question.primal),
                "rounding decides the result, or the code treats floats specially",
            )
        )


# --- judging the numbers
# -----------------------------------------------------------------------------------------


def _beyond_numbers(expected, found):
    """Of two numbers of which one is infinite or nan, whether they agree; None for two numbers."""
    if CONTEXT.isfinite(expected) and CONTEXT.isfinite(found):
        return None
    return bool(expected == found or (CONTEXT.isnan(expected) and CONTEXT.isnan(found)))


def agreeing_digits(expected, found, scale):
    alike = _beyond_numbers(expected, found)
    if alike is not None:
        return MAX_DIGITS if alike else 0
    size = max(abs(expected), abs(found)) + CONTEXT.mpf(10) ** -20 * scale
    if expected == found:
        return MAX_DIGITS
    return max(0, min(MAX_DIGITS, int(-CONTEXT.log10(abs(expected - found) / size))))


def _is_wrong(expected, found, scale):
    alike = _beyond_numbers(expected, found)
    if alike is not None:
        return not alike
    size = max(abs(expected), abs(found)) + CONTEXT.mpf(10) ** -20 * scale
    return abs(expected - found) > WRONG * size


def _numbers(parts, wide):
    """The 100-digit numbers whose real and imaginary parts these traced ones are."""
    left = iter(parts)
    return [CONTEXT.mpc(next(left).shadow, next(left).shadow) if w else next(left).shadow for w in wide]


def _check_value(question, sample, seeds, y, rule_y):
    for value, given in zip(y, rule_y, strict=True):
        if _is_wrong(value, given, VALUES):
            raise Settled(
                Refuted(
                    "value",
                    "the rule's y is not f of the arguments",
                    _counterexample(question, sample, seeds, "y", value, given, "value"),
                )
            )


def _check_gradient(question, sample, seeds, leaves, found, expected, y, seed_leaves, quotients=None):
    scale = 1 + sum(abs(s.shadow * v.shadow) for s, v in zip(seed_leaves, y, strict=True))
    numbers = [f.shadow for f in found]
    digits = [agreeing_digits(e, n, scale) for e, n in zip(expected, numbers, strict=True)]
    wrong = [i for i, (e, n) in enumerate(zip(expected, numbers, strict=True)) if _is_wrong(e, n, scale)]
    if not wrong and quotients:
        wrong = wrong_though_small(expected, numbers, quotients)
    if wrong:
        i = wrong[0]
        name, should, given = leaves[i].args, expected[i], numbers[i]
        if (part := complex_part(name)) is not None:
            name, first = name.rpartition(".")[0], i - part
            should = CONTEXT.mpc(*expected[first : first + 2])
            given = CONTEXT.mpc(*numbers[first : first + 2])
        reason = (
            diagnosis(i, leaves, found, expected, seed_leaves)
            if part is None
            else _complex_diagnosis(name, should, given, found[first : first + 2], seed_leaves)
        )
        counterexample = _counterexample(
            question,
            sample,
            seeds,
            f"the cotangent of {name}",
            should,
            given,
            _position(question, sample, i),
        )
        settled = Settled(Refuted("gradient", reason, counterexample))
        settled.wrong = i
        settled.graphs = (leaves, found, y, seed_leaves)
        settled.expected = expected
        raise settled
    return min(digits, default=MAX_DIGITS)


def _position(question, sample, i):
    """Which of the pullback's results leaf `i` is in, and at which indices."""
    for number, value in enumerate(sample, 1):
        if isinstance(value, Static):
            continue
        if i < count_of(value):
            i //= 2 if _is_complex_sample(value) else 1
            index = value.leaf_indices()[i] if isinstance(value, Array) else ()
            return number, [index, index[::-1]] if _is_doubled(value, index) else [index]
        i -= count_of(value)
    raise AssertionError("no such leaf")


def _is_doubled(value, index):
    return isinstance(value, Array) and value.symmetric and index[0] != index[1]


def complex_part(name):
    """Which part of a complex number a leaf of this name is, 0 for the real one; None for real numbers."""
    return {"real": 0, "imag": 1}.get(name.rpartition(".")[2]) if "." in name else None


def _complex_diagnosis(name, expected, given, parts, seeds):
    """What is wrong with the cotangent of a complex number, in words."""
    if not CONTEXT.isfinite(given):
        return f"the cotangent of {name} is {CONTEXT.nstr(given)}"
    if given != 0 and not any(mentions(part, seeds) for part in parts):
        return f"the cotangent of {name} ignores the cotangent y_bar that comes in"
    if given == 0:
        return f"the cotangent of {name} is zero, but the result depends on {name}"
    if expected == 0:
        return f"the cotangent of {name} is not zero, but the derivative is"
    seed = CONTEXT.mpc(*[s.shadow for s in seeds]) if len(seeds) in (1, 2) else None
    conjugate = CONTEXT.conj
    hints = [
        (-expected, "has the wrong sign"),
        (conjugate(expected), "is the conjugate of the right one"),
        (CONTEXT.mpc(expected.real), "is the real part of the right one only"),
        (1j * expected, "is i times the right one"),
        (-1j * expected, "is -i times the right one"),
    ]
    if seed is not None:
        slope = conjugate(expected / seed)
        hints.append((slope * seed, "has the derivative as it is, where its conjugate belongs"))
        hints.append((conjugate(slope) * seed.real, "uses the real part of y_bar only"))
    for number, words in hints:
        if _close(given, number):
            return f"the cotangent of {name} {words}"
    ratio = Fraction(float((given / expected).real)).limit_denominator(12)
    if ratio and _close(given, CONTEXT.mpf(ratio.numerator) / ratio.denominator * expected):
        return f"the cotangent of {name} is {ratio} times the right one"
    digits = agreeing_digits(expected, given, 0)
    close = f": it agrees to {digits} digits only" if digits >= 2 else ""
    return f"the cotangent of {name} is not conj(df/d{name}) * y_bar + df/dconj({name}) * conj(y_bar){close}"


def _close(a, b):
    return abs(a - b) <= CONTEXT.mpf(10) ** -25 * max(abs(a), abs(b))


def diagnosis(i, leaves, found, expected, seeds):
    """What is wrong with cotangent `i`, in words."""
    name, e, n = leaves[i].args, expected[i], found[i].shadow
    if not CONTEXT.isfinite(n):
        return f"the cotangent of {name} is {CONTEXT.nstr(n)}"
    if not mentions(found[i], seeds) and n != 0:
        right = len(seeds) == 1 and _close(n * seeds[0].shadow, e)
        extra = ": it is right for y_bar = 1 only" if right else ", and is wrong for y_bar = 1 too"
        return f"the cotangent of {name} ignores the cotangent y_bar that comes in{extra}"
    if n == 0:
        return f"the cotangent of {name} is zero, but the result depends on {name}"
    if e == 0:
        return f"the cotangent of {name} is not zero, but the derivative is"
    if _close(n, -e):
        return f"the cotangent of {name} has the wrong sign"
    for j, other in enumerate(expected):
        if j != i and _close(n, other) and _close(found[j].shadow, e):
            return f"the cotangents of {name} and {leaves[j].args} are swapped"
    digits = agreeing_digits(e, n, 0)
    close = f": it agrees to {digits} digits only" if digits >= 2 else ""
    return f"the cotangent of {name} is not y_bar times the derivative{close}"


def mentions(node, leaves):
    """Whether a traced number was made of one of `leaves`."""
    wanted, seen, stack = {id(leaf) for leaf in leaves}, set(), [node]
    while stack:
        top = stack.pop()
        if id(top) in wanted:
            return True
        if id(top) not in seen and top.op not in ("argument", "constant"):
            seen.add(id(top))
            stack.extend(top.args)
    return False


def reads_one_triangle(leaves, y):
    """Whether the results leave out every entry above the diagonal, or every one below it, of some
    matrices."""
    above: list[Scalar] = []
    below: list[Scalar] = []
    for leaf in leaves:
        index = leaf.args.rpartition("[")[2].partition("]")[0].split(",")
        if len(index) == 2 and index[0] != index[1]:
            (above if int(index[0]) < int(index[1]) else below).append(leaf)
    return any(side and not any(mentions(v, side) for v in y) for side in (above, below))


def exact_arguments(question, sample):
    """The sample as text, exact, under the arguments' names."""

    def text(value):
        if isinstance(value, Static):
            return value.shown()
        if isinstance(value, Array):
            return repr(same_shape_object_array([str(v) for v in value.entries], value.shape).tolist())
        return str(value)

    return {name: text(value) for name, value in zip(question.names, sample, strict=True)}


def _literal(value):
    if isinstance(value, Static):
        return value.shown()
    if isinstance(value, Array):
        entries = same_shape_object_array([_Bare(v) for v in value.entries], value.shape).tolist()
        return f"np.array({entries!r})"
    return repr(_Bare(value))


class _Bare:
    """A fraction whose repr is a Python expression for a float."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        whole = not isinstance(self.value, ComplexNumber) and self.value.denominator == 1
        return f"{self.value}.0" if whole else str(self.value)


def _seed_text(y, seeds):
    """The seeds, as a cotangent that has the form of the result `y`."""
    if isinstance(y, (tuple, list)):
        parts = [_seed_text(part, seeds) if parts_that_move([part]) else "None" for part in y]
        return f"({', '.join(parts)},)"
    if np.shape(y) == ():
        return repr(_Bare(next(seeds)))
    entries = [_Bare(next(seeds)) for _ in range(np.size(y))]
    return f"np.array({same_shape_object_array(entries, np.shape(y)).tolist()!r})"


def paste(question, sample, seeds, index, y):
    """Code that shows the counterexample; `y` is the function's plain result."""
    arguments = ", ".join(map(_literal, sample))
    seed = str(seeds) if isinstance(seeds, Fraction) else _seed_text(y, iter(seeds))
    keywords = "".join(f", {name}={value!r}" for name, value in question.kwargs.items())
    own = question.code(arguments, index, seed)
    if own is not None:
        return own
    head = f"y, back = {question.ask}{arguments}{keywords})"
    if index == "value":
        return f"{head}\ny"
    if index is None:
        return f"{head}\nback({seed})"
    number, places = index
    parts = [f"back({seed})[{number}]" + (f"[{', '.join(map(str, p))}]" if p else "") for p in places]
    return f"{head}\n{' + '.join(parts)}"


def _short(number):
    return f"{complex(number) if isinstance(number, CONTEXT.mpc) else float(number):.12g}"


def _decimals(number):
    """Twenty digits, as `float` or `complex` reads them."""
    if not isinstance(number, CONTEXT.mpc):
        return CONTEXT.nstr(number, 20)
    sign = "-" if number.imag < 0 else "+"
    return f"{CONTEXT.nstr(number.real, 20)}{sign}{CONTEXT.nstr(abs(number.imag), 20)}j"


def _is_complex_sample(value):
    return isinstance(value, ComplexNumber) or isinstance(value, Array) and value.is_complex


def _counterexample(question, sample, seeds, where, expected, found, index):
    shown = str(seeds[0]) if len(seeds) == 1 else str([str(s) for s in seeds])
    e, n = _decimals(expected), _decimals(found)
    code = (
        paste(question, sample, seeds, index, _plain_primal(question, sample))
        + f"    # gives {_short(found)}, should be {_short(expected)}"
    )
    return Counterexample(
        exact_arguments(question, sample), shown, where, e, n, agreeing_digits(expected, found, 0), code
    )


# --- where
# -------------------------------------------------------------------------------------------------------

_HERE = os.path.dirname(os.path.abspath(__file__))


def _user_place(raised, codes, question):
    """The innermost line of the author's that `raised` passed through, else where the function is defined."""
    place, walk = None, raised.__traceback__
    while walk is not None:
        if walk.tb_frame.f_code in codes:
            place = Place(
                walk.tb_frame.f_code.co_filename, walk.tb_lineno, function=walk.tb_frame.f_code.co_name
            )
        walk = walk.tb_next
    return place or _place_of(question.primal)


def _place_of(function):
    code = getattr(function, "__code__", None)
    return Place(code.co_filename, code.co_firstlineno, function=code.co_name) if code else None
