"""Traced complex numbers: pairs of traced real numbers.

Every operation is written out in real ones (exp with cos and sin, log and roots with the modulus and the
angle), so that graphs, difference quotients and the identity test see only real numbers. The branch cut of
the angle is the negative half-axis, as in `cmath` and NumPy: a run decides on which side of the cut it is,
and a verdict holds on the sides that were visited.
"""

from __future__ import annotations

import cmath
import numbers
import operator
from fractions import Fraction

import numpy as np

from .functions import apply_elementary, atan2, scalar_version
from .scalars import CONTEXT, CannotTrace, Constant, NoRealValue, Scalar, Trace

SQUARINGS_UP_TO = 64  # larger integer powers use the logarithm


class Complex(Scalar):
    """A complex number: `re` and `im` are traced real ones.

    It acts like a Python complex, with the same operators; it is ordered as in NumPy, first by the real
    parts, then by the imaginary ones.
    """

    __slots__ = ("re", "im")
    __hash__ = None

    def __init__(self, re, im):
        super().__init__(re.trace, "complex", (re, im), CONTEXT.mpc(re.shadow, im.shadow))
        self.re, self.im = re, im

    real = property(lambda self: self.re)
    imag = property(lambda self: self.im)

    @property
    def is_constant(self):
        return self.re.is_constant and self.im.is_constant

    def conjugate(self):
        return Complex(self.re, _minus(self.im))

    conj = conjugate

    def apply(self, name):
        """The elementary function called `name` of this number."""
        if name not in _FUNCTIONS:
            self.trace.halt(CannotTrace(f"{name} of a complex number"))
        return _FUNCTIONS[name](self)

    def met(self, op, other, reflected=False):
        """`other op self` for a real `other`; `self op other` if `reflected`."""
        left, right = (self, other) if reflected else (other, self)
        return _MEETINGS[op](as_complex(left), right)

    def __neg__(self):
        return Complex(_minus(self.re), _minus(self.im))

    def __abs__(self):
        return abs(self.re) if _is_zero(self.im) else root(squared_size(self))

    def __bool__(self):
        return bool(self.re != 0) or bool(self.im != 0)

    def __format__(self, spec):
        return format(complex(self.shadow), spec)


def _operator(compute):
    def method(self, other):
        other = self.trace.constant(other)
        return NotImplemented if other is None else compute(self, other)

    def reflected(self, other):
        other = self.trace.constant(other)
        return NotImplemented if other is None else compute(other, self)

    return method, reflected


def _relation(compare):
    def method(self, other):
        other = self.trace.constant(other)
        return NotImplemented if other is None else compare(*_parts(self), *_parts(other))

    return method


# --- parts, with the constants 0 and 1 folded ---


def is_complex(value):
    """Whether a value is a complex number, traced or not, or an array that contains one."""
    if isinstance(value, np.ndarray):
        entries = value.view(np.ndarray)
        return entries.dtype.kind == "c" or entries.dtype == object and any(map(is_complex, entries.flat))
    return isinstance(value, (Complex, complex, np.complexfloating))


def as_complex(value, trace=None):
    """A traced number, or a plain one with a trace, as a complex one."""
    value = value if isinstance(value, Scalar) else trace.constant(value)
    return value if isinstance(value, Complex) else Complex(value, value.trace.constant(0))


def _parts(x):
    return (x.re, x.im) if isinstance(x, Complex) else (x, x.trace.constant(0))


def _rational(x):
    return x.args.factor if x.op == "constant" and x.args is not None and x.args.name is None else None


def _is_zero(x):
    return _rational(x) == 0


def _minus(a):
    known = _rational(a)
    return -a if known is None else a.trace.constant(-known)


def _plus(a, b):
    known, other = _rational(a), _rational(b)
    if known is not None and other is not None:
        return a.trace.constant(known + other)
    return b if known == 0 else a if other == 0 else a + b


def _times(a, b):
    known, other = _rational(a), _rational(b)
    if known is not None and other is not None:
        return a.trace.constant(known * other)
    for factor, rest in ((known, b), (other, a)):
        if factor in (0, 1, -1):
            return a.trace.constant(0) if factor == 0 else rest if factor == 1 else -rest
    return a * b


def _over(a, b):
    return a if _is_zero(a) or _rational(b) == 1 else a / b


def squared_size(z):
    """`abs(z)**2`, a real number."""
    return _plus(_times(z.re, z.re), _times(z.im, z.im))


def root(size):
    """The root of a sum of squares, without a decision that it is not negative."""
    return size.trace.node("sqrt", (size,), CONTEXT.sqrt(size.shadow))


def angle_of(z, decide=True):
    """The angle of a complex number, in (-pi, pi]; the side of the cut is a decision."""
    if not _is_zero(z.im):
        if decide:
            return atan2(z.im, z.re)
        return z.trace.node("atan2", (z.im, z.re), CONTEXT.atan2(z.im.shadow, z.re.shadow))
    if z.re.shadow == 0:
        z.trace.halt(NoRealValue("the angle of zero"))
    return z.trace.constant(0) if z.re > 0 else _pi(z.trace)


def _pi(trace, times=1):
    constant = Constant(Fraction(times), "pi")
    return Scalar(trace, "constant", constant, constant.shadow())


def log_of_size(z, times=None):
    """`log(abs(z))`, a real number, multiplied by `times` if given."""
    if _is_zero(z.im):
        log = apply_elementary("log", abs(z.re))
        return log if times is None else _times(times, log)
    size = squared_size(z)
    if size.shadow == 0:
        z.trace.halt(NoRealValue("the logarithm of zero"))
    log = z.trace.node("log", (size,), CONTEXT.log(size.shadow))
    return (log if times is None else _times(times, log)) / 2


def unit_root(trace, times):
    """exp(2 pi i times) for a fraction: exact for quarters, otherwise in terms of the smallest angle."""
    times = times % 1
    if times > Fraction(1, 2):
        return unit_root(trace, 1 - times).conjugate()
    quarters = {Fraction(0): 1, Fraction(1, 4): 1j, Fraction(1, 2): -1}
    if times in quarters:
        return as_complex(quarters[times], trace)
    return from_polar(trace.constant(1), _pi(trace, 2 * times))


def from_polar(size, angle):
    """The complex number with this modulus and angle."""
    if _is_zero(angle):
        return Complex(size, angle)
    if angle.op == "constant" and angle.args == (1, "pi"):
        return Complex(-size, angle.trace.constant(0))
    return Complex(_times(size, apply_elementary("cos", angle)), _times(size, apply_elementary("sin", angle)))


# --- arithmetic ---


def _sum(z, w):
    (a, b), (c, d) = _parts(z), _parts(w)
    return Complex(_plus(a, c), _plus(b, d))


def _difference(z, w):
    return _sum(z, -w)


def _product(z, w):
    (a, b), (c, d) = _parts(z), _parts(w)
    return Complex(_plus(_times(a, c), _minus(_times(b, d))), _plus(_times(a, d), _times(b, c)))


def _quotient(z, w):
    if w.shadow == 0:
        raise ZeroDivisionError("complex division by zero")
    (a, b), (c, d) = _parts(z), _parts(w)
    if _is_zero(d):
        return Complex(_over(a, c), _over(b, c))
    up, size = _product(z, w.conjugate()), squared_size(w)
    return Complex(_over(up.re, size), _over(up.im, size))


def power(base, exponent, decide=True):
    """`base ** exponent` on the principal branch: exp(exponent * log(base))."""
    base = as_complex(base)
    (p, q), (a, b) = _parts(exponent), _parts(base)
    whole = _rational(p) if _is_zero(q) else None
    if whole is not None and whole.denominator == 1 and abs(whole) <= SQUARINGS_UP_TO:
        return _whole_power(base, int(whole))
    if base.shadow == 0:
        base.trace.halt(NoRealValue("a power of zero that is not whole"))
    if _is_zero(b):
        size = (a if a > 0 else -a) ** p
    else:
        known = _rational(p)
        size = squared_size(base) ** (p / 2 if known is None else known / 2)
    angle = angle_of(base, decide)
    turned = _times(p, angle)
    if not _is_zero(q):
        size = _times(size, apply_elementary("exp", -_times(q, angle)))
        turned = _plus(turned, log_of_size(base, q))
    return from_polar(size, turned)


def _whole_power(base, times):
    if times < 0:
        return _quotient(base.trace.constant(1), _whole_power(base, -times))
    made = as_complex(base.trace.constant(1))
    while times:
        if times & 1:
            made = _product(made, base)
        times >>= 1
        base = _product(base, base) if times else base
    return made


Complex.__add__, Complex.__radd__ = _operator(_sum)
Complex.__sub__, Complex.__rsub__ = _operator(_difference)
Complex.__mul__, Complex.__rmul__ = _operator(_product)
Complex.__truediv__, Complex.__rtruediv__ = _operator(_quotient)
Complex.__pow__, Complex.__rpow__ = _operator(power)  # type: ignore[method-assign]
Complex.__eq__ = _relation(lambda a, b, c, d: bool(a == c) and bool(b == d))  # type: ignore[method-assign]
Complex.__ne__ = _relation(lambda a, b, c, d: bool(a != c) or bool(b != d))  # type: ignore[method-assign]
for _name in ("lt", "le", "gt", "ge"):
    _compare, _strict = getattr(operator, f"__{_name}__"), getattr(operator, f"__{_name[0]}t__")
    setattr(
        Complex,
        f"__{_name}__",
        _relation(
            lambda a, b, c, d, all_of=_compare, strict=_strict: (
                bool(all_of(b, d)) if a == c else bool(strict(a, c))
            )
        ),
    )

# The operators of a real number with a complex one.
_MEETINGS = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "pow": power,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _complex_constant(trace, value):
    return Complex(trace.constant(value.real), trace.constant(value.imag))


Trace.complex_constant = _complex_constant  # type: ignore[method-assign]


# --- functions ---


def _exp(z):
    return from_polar(apply_elementary("exp", z.re), z.im)


def _log(z, decide=True):
    return Complex(log_of_size(z), angle_of(z, decide))


def _sqrt(z, decide=True):
    return power(z, z.trace.constant(Fraction(1, 2)), decide)


def _mixed(of_re, of_im, of_re2, of_im2, sign):
    """u(re) v(im) + i s u'(re) v'(im): sine, cosine and the hyperbolic functions."""

    def function(z):
        return Complex(
            apply_elementary(of_re, z.re) * apply_elementary(of_im, z.im),
            sign * (apply_elementary(of_re2, z.re) * apply_elementary(of_im2, z.im)),
        )

    return function


_sin = _mixed("sin", "cosh", "cos", "sinh", 1)
_cos = _mixed("cos", "cosh", "sin", "sinh", -1)
_sinh = _mixed("sinh", "cos", "cosh", "sin", 1)
_cosh = _mixed("cosh", "cos", "sinh", "sin", 1)


def _cut_along(part, function):
    """A function whose cuts lie on the real axis (`part` is "im") or on the imaginary one ("re"): the side is
    decided once, and not for every root and logarithm inside, which only reach their own cuts there.
    """

    def decided(z):
        if not _is_zero(z.im):
            z.trace.decide(getattr(z, part), ">=", z.trace.constant(0), bool(getattr(z, part).shadow >= 0))
        return function(z)

    return decided


def _asin(z):
    return -1j * _log(1j * z + _sqrt(1 - z * z, False), False)


def _acos(z):
    return _pi(z.trace, Fraction(1, 2)) - _asin(z)


def _atan(z):
    return 0.5j * (_log(1 - 1j * z, False) - _log(1 + 1j * z, False))


def _asinh(z):
    return _log(z + _sqrt(1 + z * z, False), False)


def _acosh(z):
    return _log(z + _sqrt(z - 1, False) * _sqrt(z + 1, False), False)


def _atanh(z):
    return (_log(1 + z, False) - _log(1 - z, False)) / 2


_FUNCTIONS = {
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "sin": _sin,
    "cos": _cos,
    "tan": lambda z: _sin(z) / _cos(z),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": lambda z: _sinh(z) / _cosh(z),
    "asin": _cut_along("im", _asin),
    "acos": _cut_along("im", _acos),
    "atan": _cut_along("re", _atan),
    "asinh": _cut_along("re", _asinh),
    "acosh": _cut_along("im", _acosh),
    "atanh": _cut_along("im", _atanh),
}


# --- Python names for complex numbers ---


class _ComplexMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, (complex, Complex))

    def __subclasscheck__(cls, other):
        return issubclass(other, (complex, Complex))

    def __call__(cls, real=0, imag=0):
        if isinstance(real, np.ndarray) and real.dtype.hasobject and real.size == 1:
            real = real.view(np.ndarray).item()
        traced = [x for x in (real, imag) if isinstance(x, Scalar)]
        if not traced:
            return complex(real) if isinstance(real, str) else complex(real, imag)
        return _sum(as_complex(real, traced[0].trace), 1j * as_complex(imag, traced[0].trace))

    def __getattr__(cls, name):
        return getattr(complex, name)

    def __eq__(cls, other):
        return cls is other or other is complex or other is np.dtype(complex)

    def __hash__(cls):
        return hash(complex)


class TracedComplex(metaclass=_ComplexMeta):
    """What the name `complex` refers to in traced code."""


class _RealMeta(type):
    def __instancecheck__(cls, value):
        return isinstance(value, numbers.Real) and not isinstance(value, Complex)


class TracedReal(metaclass=_RealMeta):
    """What `numbers.Real` refers to in traced code."""


def _in_the_plane(name):
    return lambda z: as_complex(z).apply(name)


def _cmath_log(z, base=None):
    trace = (z if isinstance(z, Scalar) else base).trace
    made = _log(as_complex(z, trace))
    return made if base is None else made / _log(as_complex(base, trace))


def _phase(z):
    return angle_of(as_complex(z))


def _rect(r, phi):
    trace = (r if isinstance(r, Scalar) else phi).trace
    return from_polar(trace.constant(r), trace.constant(phi))


def replacements():
    """Functions of `cmath` and conjugation methods, by identity, with their versions for traced numbers."""
    known = {
        getattr(cmath, name): _in_the_plane(name)
        for name in _FUNCTIONS
        if hasattr(cmath, name) and name != "log"
    }
    known |= {
        cmath.log: _cmath_log,
        cmath.log10: lambda z: _log(as_complex(z)) / apply_elementary("log", z.trace.constant(10)),
        cmath.phase: _phase,
        cmath.polar: lambda z: (abs(as_complex(z)), _phase(z)),
        cmath.rect: _rect,
        cmath.isfinite: lambda z: True,
        cmath.isnan: lambda z: False,
        cmath.isinf: lambda z: False,
        complex.conjugate: lambda z: z.conjugate(),
        float.conjugate: lambda x: x,
        int.conjugate: lambda x: x,
        np.generic.conjugate: lambda z: z.conjugate(),
        np.generic.conj: lambda z: z.conjugate(),
    }
    return {original: scalar_version(original, on_scalars) for original, on_scalars in known.items()}
