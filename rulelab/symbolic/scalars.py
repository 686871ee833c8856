"""Numbers that record how they were computed: an expression graph, with a high-precision shadow that decides
branches.

A traced number is *concolic*: symbolic, because it keeps the operation and operands it came from; concrete,
because it carries a shadow, its value at one sample point to 100 digits. Every comparison is decided by the
shadow and recorded as a path condition, so the author's loops and branches run unchanged, and the finished
graph contains no `Piecewise`, `Abs` or `Max`: it describes the function on one *cell*, the set of points with
the same decisions.
"""

from __future__ import annotations

import contextlib
import functools
import math
import numbers
import operator
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import numpy as np

from ..advice import SHORTER_LOOP
from .work_counter import A_RUN, COUNTER

SHADOW_DIGITS = 100  # working digits: a central difference with step 1e-30 still leaves more than 40 of them
MAX_OPERATIONS = 100_000
ROUNDED = 1e-80  # a shadow this close to an integer is meant to be one

CONTEXT = mpmath.MPContext()  # our own, so that it neither changes nor depends on mpmath.mp.dps
CONTEXT.dps = SHADOW_DIGITS


class Stop(BaseException):
    """Tracing cannot continue. Not an `Exception`, so that an author's `except Exception` does not swallow
    it.
    """


class CannotTrace(Stop):
    """The code did something that traced numbers cannot follow, such as passing one to C code.

    `advice` is what to do instead; `why` is the reason if there is nothing to do.
    """

    def __init__(self, construct, advice="", why=""):
        super().__init__(construct)
        self.construct = construct
        self.advice = advice
        self.why = why

    @property
    def sentence(self):
        """What it was, and why it is not followed."""
        return f"{self.construct} ({self.why})" if self.why else self.construct


class NoRealValue(Stop):
    """The sample lies outside the region where the result is a finite real number."""


class Decision(NamedTuple):
    """A path condition: `left relation right`, which has the truth value or number `outcome` for the
    shadows.
    """

    left: Scalar
    relation: str
    right: Scalar
    outcome: bool | int


class Trace:
    """The decisions of one run on traced numbers, its work, and its assumptions.

    `tie` is set if rounding hit a jump, and `equal` holds pairs of different expressions that a comparison
    found equal: unless they are equal everywhere, such a sample lies on the border of its cell, where
    derivatives need not exist, and proves nothing about the inside. `for_symmetric` is set if a function was
    called that is for symmetric matrices only, and reads one triangle of them. `beyond_decisions` is set if a
    number is zero or at a pole: what the code does then (a ZeroDivisionError that it catches) is not in the
    decisions.
    """

    def __init__(self):
        self.decisions: list[Decision] = []
        self.operations = 0
        COUNTER.done += A_RUN
        self.notes: dict[str, None] = {}  # an ordered set
        self.rounded: dict[float, None] = {}  # constants that were treated as decimals
        self.stop: Stop | None = None
        self.tie = False
        self.for_symmetric = False
        self.beyond_decisions = False
        self.arguments: dict[str, Scalar] = {}
        self.equal: list[tuple[Scalar, Scalar]] = []  # equal shadows: a tie, unless equal everywhere
        self.names: set[str] = set()  # of the arguments
        self.bound: list[Scalar] = []  # the variables of all integrals
        self.depth = 0  # nesting depth of integrals
        self.integrands: dict[int, Any] = {}  # what is known about each integral, by its node's id
        self.quadratures: list[Any] = []  # how each of them was computed, in order
        self.follows: list[Any] = []  # the quadratures of another trace, to be repeated in this one
        self.known_digits = SHADOW_DIGITS  # of the least accurately known integral

    def halt(self, stop):
        """Raise `stop`, and remember it in case a bare `except:` in the traced code catches it."""
        if self.stop is None:
            self.stop = stop
        raise stop

    def decide(self, left, relation, right, outcome):
        if relation in ("floor", "ceil") and not left.is_constant:
            self.tie |= bool(abs(left.shadow - CONTEXT.nint(left.shadow)) < ROUNDED)
        elif relation == "round":
            self.tie |= bool(CONTEXT.frac(abs(left.shadow)) == 0.5)
        elif (
            left.shadow == right.shadow and not (left.is_constant and right.is_constant) and left is not right
        ):
            self.equal.append((left, right))
        self.decisions.append(Decision(left, relation, right, outcome))
        return outcome

    def path(self):
        """The outcomes in order: programs are deterministic, so equal outcomes mean the same path."""
        return tuple(d.outcome for d in self.decisions)

    def argument(self, name, value):
        """The traced number for the argument called `name`, with the sample `value` (a Fraction or mpf)."""
        self.names.add(name.partition("[")[0])
        self.arguments[name] = Scalar(self, "argument", name, _shadow(value))
        self.beyond_decisions |= not self.arguments[name].shadow
        return self.arguments[name]

    @contextlib.contextmanager
    def inside_integral(self, value, letters):
        """Context with the variable of an integral at the sample `value`; its name depends on the nesting
        depth and differs from those of the arguments.
        """
        free = [letter for letter in letters if letter not in self.names]
        name = free[self.depth] if self.depth < len(free) else f"t__{self.depth}"
        self.bound.append(Scalar(self, "argument", name, value))
        self.depth += 1
        try:
            yield self.bound[-1]
        finally:
            self.depth -= 1

    def constant(self, value):
        """The traced number for a plain one; None if `value` is not a supported number."""
        if isinstance(value, Scalar):
            return value
        if isinstance(value, (np.floating, np.integer, np.bool_, np.complexfloating)):
            value = value.item()
        if isinstance(value, (int, Fraction)):
            exact = Fraction(value)
        elif isinstance(value, float):
            return self._float_constant(value)
        elif isinstance(value, complex):
            return self.complex_constant(value)
        else:
            return None
        return Scalar(self, "constant", Constant(exact), _shadow(exact))

    def complex_constant(self, value):
        """The traced number for a plain complex one; overridden by `complexes`."""
        self.halt(CannotTrace("a complex number"))

    def _float_constant(self, value):
        if not math.isfinite(value):
            return Scalar(self, "constant", None, CONTEXT.mpf(value))
        constant, note = recognised_constant(value)
        if note and constant.name is None:
            self.rounded[value] = None
        elif note:
            self.notes[note] = None
        return Scalar(self, "constant", constant, constant.shadow())

    def node(self, op, args, shadow):
        self.operations += 1
        COUNTER.done += 1
        if self.operations > MAX_OPERATIONS:
            self.halt(
                CannotTrace(
                    f"more than {MAX_OPERATIONS:,} operations",
                    SHORTER_LOOP,
                )
            )
        for a in args:
            if a.op == "complex":
                self.halt(CannotTrace(f"{op} of a complex number"))
        if not is_finite(shadow):
            self.halt(NoRealValue(f"{op} has no finite real value"))
        if not shadow and not _is_always_zero(op, args):
            self.beyond_decisions = True
        return Scalar(self, op, args, shadow)


# --- constants ----------------------------------------------------------------------------------------------


class Constant(NamedTuple):
    """`factor` times the irrational number called `name` (None: only the factor)."""

    factor: Fraction
    name: str | None = None

    def shadow(self):
        shadow = _shadow(self.factor)
        return shadow * _irrational(self.name, CONTEXT.prec) if self.name else shadow


@functools.lru_cache(256)
def _irrational(name, _):
    """An irrational number to the context's current precision, cached since every run uses the same ones."""
    return IRRATIONALS[name]()


IRRATIONALS = {
    "pi": lambda: +CONTEXT.pi,
    "E": lambda: +CONTEXT.e,
    "sqrt(pi)": lambda: CONTEXT.sqrt(CONTEXT.pi),
    "1/pi": lambda: 1 / CONTEXT.pi,
    "1/sqrt(pi)": lambda: 1 / CONTEXT.sqrt(CONTEXT.pi),
    "sqrt(2)": lambda: CONTEXT.sqrt(2),
    "sqrt(3)": lambda: CONTEXT.sqrt(3),
    "sqrt(2*pi)": lambda: CONTEXT.sqrt(2 * CONTEXT.pi),
    "1/sqrt(2*pi)": lambda: 1 / CONTEXT.sqrt(2 * CONTEXT.pi),
    "log(2)": lambda: CONTEXT.log(2),
    "log(10)": lambda: CONTEXT.log(10),
    "1/log(2)": lambda: 1 / CONTEXT.log(2),
    "1/log(10)": lambda: 1 / CONTEXT.log(10),
}


def infinite_limit(trace, value):
    """Plus or minus infinity as a limit of an integral; it does not occur in arithmetic."""
    return Scalar(trace, "constant", Constant(Fraction(1 if value > 0 else -1), "oo"), CONTEXT.mpf(value))


@functools.lru_cache(4096)
def recognised_constant(value):
    """The exact constant that a float represents, and a note if that is a guess.

    >>> recognised_constant(0.1)[0].factor, recognised_constant(1/3)[0].factor
    (Fraction(1, 10), Fraction(1, 3))
    >>> recognised_constant(2 * math.pi)
    (Constant(factor=Fraction(2, 1), name='pi'), '6.283185307179586 is treated as 2*pi')
    """
    near = Fraction(value).limit_denominator(10_000)
    if float(near) == value:
        return Constant(near), None
    decimal = Fraction(repr(value))
    if len(repr(value).lstrip("-0.").split("e")[0].replace(".", "")) <= 13:
        return Constant(decimal), None
    for name, irrational in IRRATIONALS.items():
        factor = Fraction(value / float(irrational())).limit_denominator(360)
        if factor and abs(float(factor) * float(irrational()) - value) <= 1.5 * math.ulp(value):
            shown = name if factor == 1 else f"{factor}*{name}"
            return Constant(factor, name), f"{value!r} is treated as {shown}"
    return Constant(decimal), f"{value!r} is a rounded constant and is treated as this exact decimal"


def _is_always_zero(op, operands):
    """Whether a node that is zero is so for all arguments: a difference with itself, a product with zero."""
    if op == "sub":
        return operands[0] is operands[1]
    return op in ("mul", "neg", "div") and any(a.is_constant and not a.shadow for a in operands)


def is_finite(shadow):
    """Whether a value is a finite real number; mpmath's own test takes ten times as long."""
    if type(shadow) is not CONTEXT.mpf:
        return not isinstance(shadow, CONTEXT.mpc) and CONTEXT.isfinite(shadow)
    # Without a mantissa it is 0 or, depending on the exponent, inf or nan.
    _, mantissa, exponent, _ = shadow._mpf_
    return bool(mantissa) or not exponent


def _shadow(value):
    if not isinstance(value, Fraction):
        return CONTEXT.mpf(value)
    return quotient(value, CONTEXT.prec)


@functools.lru_cache(4096)
def quotient(value, _):
    """A fraction to the context's current precision, cached since in the runs for a difference quotient all
    arguments but one are the same.
    """
    number = CONTEXT.mpf(value.numerator)
    return number if value.denominator == 1 else number / value.denominator


# --- the number ---------------------------------------------------------------------------------------------


def _arithmetic(op, compute, reflected=False):
    def method(self, other):
        other = self.trace.constant(other)
        if other is None:
            return NotImplemented
        if other.op == "complex":
            return other.met(op, self, reflected)
        left, right = (other, self) if reflected else (self, other)
        return self.trace.node(op, (left, right), compute(left, right))

    return method


def _division(left, right):
    if right.shadow == 0:
        raise ZeroDivisionError("float division by zero")
    return left.shadow / right.shadow


def _comparison(relation, compare):
    def method(self, other):
        other = self.trace.constant(other)
        if other is None:
            return NotImplemented
        if other.op == "complex":
            return other.met(relation, self)
        return self.trace.decide(self, relation, other, bool(compare(self.shadow, other.shadow)))

    return method


def power(base, exponent):
    """`base ** exponent` over the reals; complex results, and derivatives through 0 ** n, are outside the
    domain of the check.
    """
    if exponent.op == "complex":
        return exponent.met("pow", base)
    if base.op == "complex":
        return base.met("pow", exponent, True)
    trace = base.trace
    whole = exponent.is_constant and exponent.shadow == int(exponent.shadow)
    if base.shadow == 0 and exponent.shadow < 0:
        raise ZeroDivisionError("0.0 cannot be raised to a negative power")
    if whole:
        shadow = base.shadow ** int(exponent.shadow)
    elif base.shadow > 0 or (base.shadow == 0 and exponent.is_constant):
        shadow = base.shadow**exponent.shadow
    else:
        trace.halt(NoRealValue("a power of a number that is not positive"))
    return trace.node("pow", (base, exponent), shadow)


class Scalar:
    """A traced real number, which passes through the author's code.

    It acts like a Python float: the same operators and comparisons, the same ZeroDivisionError. Whatever
    would convert it to a machine number (C code calling `__float__`) stops the trace, since the result would
    no longer record what it depends on.
    """

    __slots__ = ("trace", "op", "args", "shadow")
    MACHINE_NUMBER = "C code needs a float"
    # Equality is by value and is a decision, which containers must not take implicitly.
    __hash__ = None  # type: ignore[assignment]  # makes it unhashable

    def __init__(self, trace, op, args, shadow):
        self.trace, self.op, self.args, self.shadow = trace, op, args, shadow

    @property
    def is_constant(self):
        return self.op == "constant"

    __add__ = _arithmetic("add", lambda a, b: a.shadow + b.shadow)
    __radd__ = _arithmetic("add", lambda a, b: a.shadow + b.shadow, reflected=True)
    __sub__ = _arithmetic("sub", lambda a, b: a.shadow - b.shadow)
    __rsub__ = _arithmetic("sub", lambda a, b: a.shadow - b.shadow, reflected=True)
    __mul__ = _arithmetic("mul", lambda a, b: a.shadow * b.shadow)
    __rmul__ = _arithmetic("mul", lambda a, b: a.shadow * b.shadow, reflected=True)
    __truediv__ = _arithmetic("div", _division)
    __rtruediv__ = _arithmetic("div", _division, reflected=True)

    def __pow__(self, other, modulus=None):
        other = self.trace.constant(other)
        return NotImplemented if other is None or modulus is not None else power(self, other)

    def __rpow__(self, other):
        other = self.trace.constant(other)
        return NotImplemented if other is None else power(other, self)

    def __neg__(self):
        return self.trace.node("neg", (self,), -self.shadow)

    def __pos__(self):
        return self

    def __abs__(self):
        return self if self >= 0 else -self

    __lt__ = _comparison("<", operator.lt)
    __le__ = _comparison("<=", operator.le)
    __gt__ = _comparison(">", operator.gt)
    __ge__ = _comparison(">=", operator.ge)
    __eq__ = _comparison("==", operator.eq)
    __ne__ = _comparison("!=", operator.ne)

    def __bool__(self):
        return bool(self != 0)

    # Rounding gives an integer that is constant on the cell.

    def _whole(self, how, value):
        self.trace.decide(self, how, self.trace.constant(int(value)), int(value))
        return int(value)

    def __floor__(self):
        return self._whole("floor", CONTEXT.floor(self.shadow))

    def __ceil__(self):
        return self._whole("ceil", CONTEXT.ceil(self.shadow))

    def __trunc__(self):
        return self.__floor__() if self.shadow >= 0 else self.__ceil__()

    __int__ = __trunc__

    def __round__(self, digits=None):
        if digits is None:
            return self._whole("round", CONTEXT.nint(self.shadow))
        return round(self * 10**digits) / self.trace.constant(10**digits)

    def _times_in(self, other, reflected=False):
        """(left, right, quotient): the operands, and their integer quotient as a float; None for each if
        `other` is not a number.
        """
        other = self.trace.constant(other)
        if other is None:
            return None, None, None
        left, right = (other, self) if reflected else (self, other)
        return left, right, float((left / right).__floor__())

    def __floordiv__(self, other):
        *_, times = self._times_in(other)
        return NotImplemented if times is None else times

    def __rfloordiv__(self, other):
        *_, times = self._times_in(other, True)
        return NotImplemented if times is None else times

    def __mod__(self, other):
        left, right, times = self._times_in(other)
        return NotImplemented if times is None else left - right * times

    def __rmod__(self, other):
        left, right, times = self._times_in(other, True)
        return NotImplemented if times is None else left - right * times

    def __divmod__(self, other):
        left, right, times = self._times_in(other)
        return NotImplemented if times is None else (times, left - right * times)

    def __rdivmod__(self, other):
        left, right, times = self._times_in(other, True)
        return NotImplemented if times is None else (times, left - right * times)

    def is_integer(self):
        return bool(self == self.__floor__())

    def __float__(self):
        self.trace.halt(
            CannotTrace(
                self.MACHINE_NUMBER,
                "write it with operators, math or elementwise NumPy functions",
            )
        )

    def __complex__(self):
        self.__float__()

    __index__ = None

    def __getitem__(self, key):
        if key == ():  # `np.where(…)[()]` converts 0-d arrays to numbers; this already is one
            return self
        raise TypeError("'float' object is not subscriptable")

    __iter__ = None

    real = property(lambda self: self)
    imag = property(lambda self: 0.0)

    def conjugate(self):
        return self

    conj = conjugate

    # Methods of NumPy scalars, since `np.exp` of a float is one. A rule that calls them on a Python float
    # fails in the numeric check.

    def sum(self):
        return self

    mean = sum
    item = sum

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return CONTEXT.nstr(self.shadow, 17)

    def __format__(self, spec):
        return format(mpmath.mpf(self.shadow).__float__(), spec)

    def __reduce__(self):
        self.trace.halt(CannotTrace("pickling an argument"))


numbers.Real.register(Scalar)


def shadow_of(value):
    """The 100-digit value of a traced number; a plain number itself."""
    return value.shadow if isinstance(value, Scalar) else value


def first_trace(value):
    """The trace of the first traced number in `value`, which may be an array, list, tuple or dict; None if
    there is none.
    """
    if isinstance(value, Scalar):
        return value.trace
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, np.ndarray):
        value = value.view(np.ndarray)
        if value.dtype != object:
            return None
        value = value.flat
    elif not isinstance(value, (list, tuple, np.flatiter)):
        return None
    for part in value:
        if (found := first_trace(part)) is not None:
            return found
    return None
