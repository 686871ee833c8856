"""Numbers of mpmath that NumPy's own functions take, in arrays of objects: a function computes with fifty
digits what it computes with sixteen, and differences of it have more digits than a derivative.

NumPy calls the operators and the methods of what it finds in such an array: `np.sin` calls `x.sin()`. An
`Exact` has those. It is no float: neither a rule nor NumPy's own arithmetic is met on the way.
"""

import numbers

import mpmath
import numpy as np
from mpmath import mp

KINDS = (numbers.Number, np.number, mpmath.mpf, mpmath.mpc)


def number(x):
    """What is in an Exact, and what a float or an integer is in mpmath."""
    if isinstance(x, Exact):
        return x.of
    if isinstance(x, np.ndarray):
        return number(x.item())
    if isinstance(x, (bool, np.bool_, numbers.Integral)):
        return mp.mpf(int(x))
    return mp.mpmathify(x.item() if isinstance(x, np.generic) else x)


def is_complex(x):
    return isinstance(x, mpmath.mpc)


def _binary(operate):
    """An operator and the one for the other side."""

    def forwards(self, other):
        return Exact(operate(self.of, number(other))) if isinstance(other, TAKEN) else NotImplemented

    def backwards(self, other):
        return Exact(operate(number(other), self.of)) if isinstance(other, TAKEN) else NotImplemented

    return forwards, backwards


def _compared(operate):
    def compare(self, other):
        return operate(self.of, number(other)) if isinstance(other, TAKEN) else NotImplemented

    return compare


def order(z):
    """That in which NumPy sorts: complex numbers by their real parts first, NaN last."""
    return (bool(mp.isnan(z)), mp.re(z), mp.im(z))


def power(x, y):
    """Real where the arguments are, else NaN, as in NumPy."""
    if y == 0:
        return mp.mpf(1)
    if x == 0:
        return mp.zero if mp.re(y) > 0 else mp.inf
    if is_complex(x) or is_complex(y) or x > 0 or mp.isint(y):
        return mp.power(x, y)
    return mp.nan


def among_reals(f):
    """NaN where a function leaves the real numbers."""

    def of(x):
        y = f(x)
        return mp.nan if is_complex(y) and not is_complex(x) and y.imag else y

    return of


def truncated(x):
    return mp.sign(x) * mp.floor(abs(x))


def fmod(x, y):
    return x - y * truncated(x / y)


def remainder(x, y):
    return x - y * mp.floor(x / y)


def hypot(x, y):
    return mp.sqrt(x * x + y * y)


METHODS = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "arctan": mp.atan,
    "arcsin": among_reals(mp.asin), "arccos": among_reals(mp.acos),
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "arcsinh": mp.asinh,
    "arccosh": among_reals(mp.acosh), "arctanh": among_reals(mp.atanh),
    "exp": mp.exp, "exp2": lambda x: mp.power(2, x), "expm1": mp.expm1,
    "log": among_reals(mp.log), "log2": among_reals(lambda x: mp.log(x) / mp.log(2)),
    "log10": among_reals(lambda x: mp.log(x) / mp.log(10)), "log1p": among_reals(mp.log1p),
    "sqrt": among_reals(mp.sqrt), "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "radians": mp.radians, "deg2rad": mp.radians, "degrees": mp.degrees, "rad2deg": mp.degrees,
    "fabs": abs, "rint": mp.nint, "conjugate": mp.conj, "trunc": truncated, "floor": mp.floor,
    "ceil": mp.ceil,
}  # fmt: skip
OF_TWO = {"arctan2": mp.atan2, "hypot": hypot, "fmod": fmod}


class Exact:
    """A number of mpmath with what NumPy asks of the objects in an array."""

    __slots__ = ("of",)
    dtype = np.dtype(object)
    shape = ()
    ndim = 0

    def __init__(self, x):
        self.of = number(x)

    __add__, __radd__ = _binary(lambda x, y: x + y)
    __sub__, __rsub__ = _binary(lambda x, y: x - y)
    __mul__, __rmul__ = _binary(lambda x, y: x * y)
    __truediv__, __rtruediv__ = _binary(lambda x, y: x / y)
    __pow__, __rpow__ = _binary(power)
    __floordiv__, __rfloordiv__ = _binary(lambda x, y: mp.floor(x / y))
    __mod__, __rmod__ = _binary(remainder)
    __lt__ = _compared(lambda x, y: order(x) < order(y))
    __le__ = _compared(lambda x, y: order(x) <= order(y))
    __gt__ = _compared(lambda x, y: order(x) > order(y))
    __ge__ = _compared(lambda x, y: order(x) >= order(y))
    __eq__ = _compared(lambda x, y: x == y)
    __ne__ = _compared(lambda x, y: x != y)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return Exact(other).__divmod__(self)

    def __neg__(self):
        return Exact(-self.of)

    def __pos__(self):
        return self

    def __abs__(self):
        return Exact(abs(self.of))

    def __bool__(self):
        return bool(self.of)

    def __hash__(self):
        return hash(self.of)

    def __floor__(self):
        return Exact(mp.floor(self.of))

    def __ceil__(self):
        return Exact(mp.ceil(self.of))

    def __trunc__(self):
        return int(self.of)

    def __round__(self, digits=0):
        return Exact(mp.nint(self.of * mp.mpf(10) ** digits) / mp.mpf(10) ** digits)

    @property
    def real(self):
        return Exact(mp.re(self.of))

    @property
    def imag(self):
        return Exact(mp.im(self.of))

    def __repr__(self):
        return f"Exact({mp.nstr(self.of, 20)})"


TAKEN = (Exact, *KINDS)
for _name, _f in METHODS.items():
    setattr(Exact, _name, lambda self, _f=_f: Exact(_f(self.of)))
for _name, _f in OF_TWO.items():
    setattr(Exact, _name, lambda self, other, _f=_f: Exact(_f(self.of, number(other))))


def exact(x):
    """A float as an Exact, and an array of floats as one of these; what is no float as it is."""
    kind = np.asarray(x).dtype.kind if isinstance(x, (np.ndarray, numbers.Number, np.generic)) else None
    if kind not in ("f", "c"):
        return x
    return np.frompyfunc(Exact, 1, 1)(x) if isinstance(x, np.ndarray) and x.ndim else in_array(x)


def in_array(x):
    """One of no axis stays one."""
    if not isinstance(x, np.ndarray):
        return Exact(x)
    found = np.empty((), object)
    found[()] = Exact(x.item())
    return found


def ordinary(x):
    """The nearest floats: an array of complex numbers, for a real one of floats."""
    values = [number(each) for each in np.ravel(x)]
    wide = any(map(is_complex, values))
    return np.array([complex(v) if wide else float(v) for v in values]).reshape(np.shape(x))
