"""The formulas of rules as text, extracted from the functions that state them.

The partials of a scalar rule are a function of the value and the arguments, `lambda y, x: 1 - y * y`. Called
with names instead of numbers, it returns the text of each partial; so the function remains the only source of
the formula.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tangents.holding import captured
from ..tangents.missing import MissingSlope, NotImplementedTangent, not_implemented
from ..tangents.zeros import AbstractZero
from ..tangents.zeros import ZeroTangent as ZeroTangent

_SUM, _PRODUCT, _SIGN, _POWER, _PRIMARY = range(5)  # precedences, from loosest to tightest
_MODULES = ("math", "cmath", "numpy")


class NotAFormula(Exception):
    """The partials cannot be written as one expression of their arguments."""


@dataclass(frozen=True, eq=False)
class Formula:
    """A Python expression: `text` with a field for each name: `{y}` for the value, `{x0}`, … for the
    arguments, `{h0}`, … for the functions in `helpers`.

    `divisor` is set if the expression is `1 / divisor`.
    """

    text: str
    helpers: tuple[Any, ...]
    level: int = _PRIMARY
    divisor: str = ""

    def times(self, factor: str, names: Mapping[str, str]) -> str:
        """The product of a factor, which is a name or in parentheses, and the expression.

        >>> slope, = partials_of(lambda y, x: 1 - y * y, 1)
        >>> slope.times("h_bar", {"y": "h"})
        'h_bar * (1 - h * h)'
        """
        if self.text in ("1.0", "1"):
            return factor
        if self.text in ("-1.0", "-1"):
            return f"-{factor}"
        if self.divisor:
            return f"{factor} / {self.divisor.format_map(names)}"
        text = self.text.format_map(names)
        return f"{factor} * {text if self.level > _PRODUCT else f'({text})'}"

    @property
    def is_missing(self) -> bool:
        """Whether there is no expression, because this slope has not been derived."""
        return any(isinstance(helper, NotImplementedTangent) for helper in self.called())

    def called(self) -> list[Any]:
        """The helpers that occur in the expression."""
        return [helper for k, helper in enumerate(self.helpers) if self.reads(f"h{k}")]

    def reads(self, name: str) -> bool:
        """Whether a name occurs in the expression: the value, `y`, an argument, such as `x0`, or a helper,
        such as `h0`.
        """
        return f"{{{name}}}" in self.text


class _Term:
    """A part of a formula during construction."""

    __slots__ = ("divisor", "helpers", "level", "text")

    def __init__(self, text: str, level: int, helpers: list[Any], divisor: str = "") -> None:
        self.text, self.level, self.helpers, self.divisor = text, level, helpers, divisor

    def _made(self, text: str, level: int, divisor: str = "") -> _Term:
        return _Term(text, level, self.helpers, divisor)

    def _side(self, other: Any, level: int) -> str:
        """The text of an operand, in parentheses if it binds less tightly than `level`."""
        text, binds = _written(other)
        return text if binds >= level else f"({text})"

    def __add__(self, other: Any) -> _Term:
        return self._made(f"{self._side(self, _SUM)} + {self._side(other, _PRODUCT)}", _SUM)

    def __radd__(self, other: Any) -> _Term:
        return self._made(f"{self._side(other, _SUM)} + {self._side(self, _PRODUCT)}", _SUM)

    def __sub__(self, other: Any) -> _Term:
        return self._made(f"{self._side(self, _SUM)} - {self._side(other, _PRODUCT)}", _SUM)

    def __rsub__(self, other: Any) -> _Term:
        return self._made(f"{self._side(other, _SUM)} - {self._side(self, _PRODUCT)}", _SUM)

    def __mul__(self, other: Any) -> _Term:
        return self._made(f"{self._side(self, _PRODUCT)} * {self._side(other, _SIGN)}", _PRODUCT)

    def __rmul__(self, other: Any) -> _Term:
        return self._made(f"{self._side(other, _PRODUCT)} * {self._side(self, _SIGN)}", _PRODUCT)

    def __truediv__(self, other: Any) -> _Term:
        return self._made(f"{self._side(self, _PRODUCT)} / {self._side(other, _SIGN)}", _PRODUCT)

    def __rtruediv__(self, other: Any) -> _Term:
        below = self._side(self, _SIGN)
        return self._made(f"{self._side(other, _PRODUCT)} / {below}", _PRODUCT, below if other == 1 else "")

    def __pow__(self, other: Any) -> _Term:
        return self._made(f"{self._side(self, _PRIMARY)} ** {self._side(other, _SIGN)}", _POWER)

    def __rpow__(self, other: Any) -> _Term:
        return self._made(f"{self._side(other, _PRIMARY)} ** {self._side(self, _SIGN)}", _POWER)

    def __neg__(self) -> _Term:
        return self._made(f"-{self._side(self, _SIGN)}", _SIGN)

    def __pos__(self) -> _Term:
        return self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> _Term:
        if method != "__call__" or options:
            raise NotAFormula
        infix = _INFIX.get(ufunc)
        if infix is not None:
            return infix(*inputs)
        return self.called(ufunc, inputs)

    def called(self, function: Any, args: tuple[Any, ...]) -> _Term:
        """A call of a function that is not expanded."""
        if not any(function is helper for helper in self.helpers):
            self.helpers.append(function)
        number = next(k for k, helper in enumerate(self.helpers) if helper is function)
        return self._made(f"{{h{number}}}({', '.join(_written(x)[0] for x in args)})", _PRIMARY)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        """Refuse operations that need a value, since there is none."""
        raise NotAFormula

    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __abs__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __complex__ = __array__ = __array_function__ = __contains__ = _refuse


_INFIX: dict[Any, Callable[..., Any]] = {
    np.add: lambda a, b: a + b if isinstance(a, _Term) else b.__radd__(a),
    np.subtract: lambda a, b: a - b if isinstance(a, _Term) else b.__rsub__(a),
    np.multiply: lambda a, b: a * b if isinstance(a, _Term) else b.__rmul__(a),
    np.divide: lambda a, b: a / b if isinstance(a, _Term) else b.__rtruediv__(a),
    np.negative: lambda a: -a,
}


def _written(x: Any) -> tuple[str, int]:
    """The text of a term or a number, and its precedence."""
    if isinstance(x, _Term):
        return x.text, x.level
    if type(x) not in (int, float) or x != x or x in (np.inf, -np.inf):
        raise NotAFormula
    return repr(x), _PRIMARY if x >= 0 else _SIGN


@functools.cache
def partials_of(partials: Callable[..., Any], count: int, of_arrays: bool = True) -> tuple[Formula, ...]:
    """A formula for each partial that a function `lambda y, *xs:` returns; empty if they are not expressions.

    `of_arrays` says that the arguments are arrays or NumPy numbers, which may be divided by zero.

    >>> [each.text for each in partials_of(lambda y, x0, x1: (x1, -y / x1), 2)]
    ['{x1}', '-{y} / {x1}']
    >>> partials_of(lambda y, x: 1.0 if x > 0 else 0.0, 1)
    ()
    """
    helpers: list[Any] = []
    names = [_Term(f"{{{name}}}", _PRIMARY, helpers) for name in ("y", *(f"x{k}" for k in range(count)))]
    try:
        given = _with_names(partials, of_arrays)(*names)
        row = given if isinstance(given, tuple) else (given,)
        written = [_of_slope(x, helpers) for x in row]
    except (NotAFormula, TypeError, AttributeError):
        return ()
    if len(written) != count:
        return ()
    return tuple(Formula(text, tuple(helpers), level, divisor) for text, level, divisor in written)


def _of_slope(x: Any, helpers: list[Any]) -> tuple[str, int, str]:
    """The text of a partial, its precedence, and its divisor if it is 1 over something. A zero or missing
    partial becomes a helper.
    """
    if isinstance(x, (AbstractZero, NotImplementedTangent)):
        helpers.append(x)
        return f"{{h{len(helpers) - 1}}}", _PRIMARY, ""
    return (*_written(x), x.divisor if isinstance(x, _Term) else "")


def lacks_slope(
    partials: Callable[..., Any] | None, slopes: tuple[Formula, ...], wanted: Iterable[int]
) -> bool:
    """Whether a slope that is wanted may be missing, judged by the formulas or, if there are none, by the
    names in the code of the partials: then the rule itself allows it where its value is not needed.
    """
    return any(slopes[number].is_missing for number in wanted) if slopes else may_lack_slopes(partials)


@functools.cache
def may_lack_slopes(partials: Callable[..., Any] | None) -> bool:
    """Whether the code of a function of partials refers to a placeholder for a slope that has not been
    derived.

    >>> may_lack_slopes(lambda y, v, x: (not_implemented("by v"), y * x)), may_lack_slopes(lambda y, x: y * x)
    (True, False)
    """
    code = getattr(partials, "__code__", None)
    if partials is None or code is None:
        return False
    named = [partials.__globals__.get(name) for name in code.co_names]
    held = [*named, *captured(partials).values(), *(partials.__defaults__ or ())]
    lacking = any(isinstance(x, NotImplementedTangent) or x is not_implemented for x in held)
    return lacking or not_implemented.__name__ in code.co_names  # also as `rl.not_implemented`


def _with_names(partials: Callable[..., Any], of_arrays: bool) -> Callable[..., Any]:
    """The same function, with the functions that it calls replaced by ones that accept names."""

    def taking_names(value: Any) -> Any:
        if isinstance(value, types.ModuleType) and value.__name__ in _MODULES:
            return _Module(value)
        looks = isinstance(value, types.FunctionType) and not (of_arrays and is_plain_for_arrays(value))
        return _recorded(value) if looks else value

    around = dict(partials.__globals__)
    around |= {name: taking_names(around[name]) for name in partials.__code__.co_names if name in around}
    cells = [types.CellType(taking_names(cell.cell_contents)) for cell in partials.__closure__ or ()]
    defaults = tuple(map(taking_names, partials.__defaults__ or ()))
    return types.FunctionType(partials.__code__, around, "partials", defaults, tuple(cells))


class _Module:
    """A module whose functions accept names."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        return _recorded(value) if callable(value) and not isinstance(value, np.ufunc) else value


def _recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        if options:
            raise NotAFormula
        term = next((x for x in args if isinstance(x, _Term)), None)
        return function(*args) if term is None else term.called(function, args)

    return call


_PLAIN_FOR_ARRAYS: set[Callable[..., Any]] = set()


def plain_for_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function with a special case for Python numbers only: for arrays it is one expression,
    which formulas may use in its place.
    """
    _PLAIN_FOR_ARRAYS.add(function)
    return function


def is_plain_for_arrays(function: Any) -> bool:
    """Whether a function was decorated with `plain_for_arrays`."""
    return function in _PLAIN_FOR_ARRAYS


_NO_NUMBERS = (AbstractZero, MissingSlope)


def strong_zero(cotangent: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that computes a cotangent from the incoming one, its first argument: if that
    is a zero object or missing, it is returned, and nothing is computed.

    >>> strong_zero(lambda y_bar, x: y_bar / x)(ZeroTangent(), 0)
    ZeroTangent()
    """

    @functools.wraps(cotangent)
    def unless_zero(y_bar: Any, *args: Any, **options: Any) -> Any:
        return y_bar if isinstance(y_bar, _NO_NUMBERS) else cotangent(y_bar, *args, **options)

    return unless_zero


_TOGETHER: set[Callable[..., Any]] = set()
_OF_NUMBERS: set[Callable[..., Any]] = set()
_OF_TUPLES: set[Callable[..., Any]] = set()


def of_numbers(cotangent: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that computes a cotangent also if the operands of its rule are real numbers.

    The others are for arrays only.
    """
    _OF_NUMBERS.add(cotangent)
    return cotangent


def takes_numbers(cotangent: Any) -> bool:
    """Whether a function was decorated with `of_numbers`."""
    return cotangent in _OF_NUMBERS


def of_tuples(cotangent: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that computes the cotangent of a tuple of arrays; if decorated with
    `of_numbers` as well: of numbers and arrays, and of such tuples.
    """
    _OF_TUPLES.add(cotangent)
    return cotangent


def takes_tuples(cotangent: Any) -> bool:
    """Whether a function was decorated with `of_tuples`."""
    return cotangent in _OF_TUPLES


def together(cotangents: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that returns the cotangents of all first arguments at once, as a tuple."""
    _TOGETHER.add(cotangents)
    return cotangents


def is_together(cotangents: Callable[..., Any]) -> bool:
    """Whether a function was decorated with `together`."""
    return cotangents in _TOGETHER


_SPREADING: dict[Callable[..., Any], Callable[..., Any] | None] = {}


def spreading(share: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator for a function that broadcasts the incoming cotangent, or `share(y_bar, a_shape, axis)`, to
    the shape of an array. If the result is then multiplied by an array of the same shape, or passed to a
    function that broadcasts it itself, the share may be used directly.
    """

    def declared(cotangent: Callable[..., Any]) -> Callable[..., Any]:
        _SPREADING[cotangent] = share
        return cotangent

    return declared


def only_spreads(cotangent: Any) -> bool:
    """Whether a function was decorated with `spreading`."""
    return cotangent in _SPREADING


def share_of(cotangent: Any) -> Callable[..., Any] | None:
    """What such a function broadcasts, if it is not the incoming cotangent itself."""
    return _SPREADING[cotangent]


_REPEATING: set[Callable[..., Any]] = set()


def repeats_itself(cotangent: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function for which an incoming array of equal numbers may be replaced by that
    number.
    """
    _REPEATING.add(cotangent)
    return cotangent


def takes_one_number(cotangent: Any) -> bool:
    """Whether a function was decorated with `repeats_itself`."""
    return cotangent in _REPEATING


_NEW: set[Callable[..., Any]] = set()
_ONTO: dict[Callable[..., Any], Callable[..., Any]] = {}


def new_memory(cotangent: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function that, for float64 arrays, returns a new float64 array, which shares no memory
    with the incoming cotangent; or the zero that it was given.
    """
    _NEW.add(cotangent)
    return cotangent


def makes_new_memory(cotangent: Any) -> bool:
    """Whether a function was decorated with `new_memory`."""
    return cotangent in _NEW


def _stated(
    table: dict[Callable[..., Any], Callable[..., Any]],
    cotangent: Callable[..., Any],
    other: Callable[..., Any],
) -> Callable[..., Any]:
    """Record in a table that `other` belongs to `cotangent`, and return `other`."""
    table[cotangent] = other
    return other


def onto(cotangent: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator for a function that adds the cotangent that another function computes to its first argument,
    the sum so far: in place, unless that is a zero. It returns the sum.
    """
    return functools.partial(_stated, _ONTO, cotangent)


def adding_onto(cotangent: Any) -> Callable[..., Any] | None:
    """The function that was recorded for another one with `onto`, or None."""
    return _ONTO.get(cotangent)


_OFF: dict[Callable[..., Any], Callable[..., Any]] = {}


def off(cotangent: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator for a function that subtracts in the same way what another function computes for `-y_bar`; it
    is given `y_bar`.
    """
    return functools.partial(_stated, _OFF, cotangent)


def subtracting_from(cotangent: Any) -> Callable[..., Any] | None:
    """The function that was recorded for another one with `off`, or None."""
    return _OFF.get(cotangent)


_AT_DISTINCT: dict[Callable[..., Any], Callable[..., Any]] = {}


def at_distinct_rows(cotangent: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator for a function that computes what another one does for an index that begins with a vector of
    distinct ints followed by another vector.
    """
    return functools.partial(_stated, _AT_DISTINCT, cotangent)


def of_distinct_rows(cotangent: Any) -> Callable[..., Any] | None:
    """The function that was recorded for another one with `at_distinct_rows`, or None."""
    return _AT_DISTINCT.get(cotangent)
