"""A value as the text of a Python expression that evaluates to it, to the last bit."""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import an
from ..parsing import nodes_of, parse

MOST_NUMBERS = 1000
"""Maximum size of an array that is written out."""
_KINDS = "biufcSU"


class NoLiteral(Exception):
    """A value cannot be written as text; the message says what it is."""


def literal(value: Any, named: Callable[[Any], str] | None = None) -> str:
    """The text of an expression that evaluates to a value equal to this one, with the same types throughout.

    Supported are numbers, strings, tuples, lists, dicts, sets, slices, NumPy's scalars, dtypes and arrays;
    with `named`, which returns the name by which the text will find a function or class, also these and
    instances of dataclasses and named tuples. Arrays are written as `np.array(…)`. Raises NoLiteral for
    anything else, and for a list or array that occurs twice: it would become two objects.

    >>> literal((1, -0.0, [float("inf")], {"a": np.float32(0.5)}))
    "(1, -0.0, [float('inf')], {'a': np.float32(0.5)})"
    >>> literal(np.array([[0.1, np.nan]]))
    "np.array([[0.1, float('nan')]], dtype='float64')"
    """
    return _Writer(named).text(value)


def names_numpy(text: str) -> bool:
    """Whether a text returned by `literal` needs `import numpy as np`."""
    return "np." in text and any(isinstance(n, ast.Name) and n.id == "np" for n in nodes_of(parse(text)))


@dataclasses.dataclass
class _Writer:
    """One expression being written; `met` are the mutable objects that it already contains."""

    named: Callable[[Any], str] | None
    met: dict[int, Any] = dataclasses.field(default_factory=dict)

    def text(self, value: Any) -> str:
        kind = type(value)
        if value is None or value is Ellipsis or value is NotImplemented or kind in (bool, str, bytes):
            return repr(value)
        if kind in (int, float, complex):
            return _number(value)
        if kind in (list, dict, set, np.ndarray):
            self._meet(value)
        if kind is tuple:
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if kind is list:
            return f"[{', '.join(map(self.text, value))}]"
        if kind is dict:
            return f"{{{', '.join(f'{self.text(k)}: {self.text(v)}' for k, v in value.items())}}}"
        if kind in (set, frozenset):
            return self._set(value)
        if kind is slice:
            return f"slice({', '.join(map(self.text, (value.start, value.stop, value.step)))})"
        if kind is range:
            return repr(value)
        return self._of_numpy(value) if isinstance(value, _NUMPYS) else self._of_class(value)

    def _meet(self, value: Any) -> None:
        if id(value) in self.met:
            raise NoLiteral(f"{an(type(value).__name__)} that occurs twice in it")
        self.met[id(value)] = value

    def _set(self, value: set | frozenset) -> str:
        items = ", ".join(sorted(map(self.text, value)))
        inside = f"{{{items}}}" if items else ""
        if type(value) is frozenset:
            return f"frozenset({inside})"
        return inside or "set()"

    def _of_numpy(self, value: Any) -> str:
        if isinstance(value, np.dtype):
            if value.kind not in _KINDS + "O" or value.names is not None:
                raise NoLiteral(f"a dtype {value}")
            return f"np.dtype({value.str!r})"
        dtype = value.dtype
        if dtype.kind not in _KINDS or dtype in _WIDE or not dtype.isnative:
            raise NoLiteral(f"of NumPy's type {dtype}")
        if isinstance(value, np.generic):
            if type(value) is not dtype.type:
                raise NoLiteral(f"an object of the class {type(value).__name__}")
            return f"np.{_SCALARS.get(dtype.kind, dtype.name)}({self.text(_exact(value))})"
        if type(value) is not np.ndarray:
            raise NoLiteral(f"an array of the class {type(value).__name__}")
        if value.size > MOST_NUMBERS:
            raise NoLiteral(f"an array of {value.size:,} numbers; {MOST_NUMBERS:,} are written out at most")
        named = dtype.str if dtype.kind in "SU" else dtype.name
        made = f"np.array({_Writer(None).text(_exact(value))}, dtype={named!r})"
        return made if 0 not in value.shape else f"np.zeros({value.shape!r}, dtype={named!r})"

    def _of_class(self, value: Any) -> str:
        """A function or class by its name, an instance of a dataclass or a named tuple by its fields."""
        cls = type(value)
        if self.named is None:
            raise NoLiteral(f"an object of the class {cls.__name__}")
        if isinstance(value, type) or callable(value) and not dataclasses.is_dataclass(value):
            return self.named(value)
        if dataclasses.is_dataclass(value):
            return self._of_dataclass(value)
        if isinstance(value, tuple) and hasattr(cls, "_fields"):
            parts = (f"{name}={self.text(x)}" for name, x in zip(cls._fields, value, strict=True))
            return f"{self.named(cls)}({', '.join(parts)})"
        raise NoLiteral(f"an object of the class {cls.__name__}")

    def _of_dataclass(self, value: Any) -> str:
        cls, fields = type(value), dataclasses.fields(value)
        if any(not f.init for f in fields) or set(getattr(value, "__dict__", ())) - {f.name for f in fields}:
            raise NoLiteral(f"an object of {cls.__name__} with more in it than its constructor takes")
        if hasattr(cls, "__post_init__") or not cls.__dict__.get("__dataclass_params__", _PLAIN).init:
            raise NoLiteral(f"an object of {cls.__name__}, whose constructor does more than keep its fields")
        self._meet(value)
        parts = (f"{f.name}={self.text(getattr(value, f.name))}" for f in fields)
        assert self.named is not None
        return f"{self.named(cls)}({', '.join(parts)})"


class _PLAIN:
    init = False


_SCALARS = {"b": "bool_", "U": "str_", "S": "bytes_"}
_NUMPYS = (np.ndarray, np.generic, np.dtype)
_WIDE = (np.dtype(np.longdouble), np.dtype(np.clongdouble)) if np.longdouble is not np.float64 else ()


def _exact(value: Any) -> Any:
    """The numbers as Python numbers, which represent all NumPy numbers up to double precision."""
    return value.tolist()


def _number(value: int | float | complex) -> str:
    """Python's repr, which reproduces a float to the last bit; what repr writes as a name becomes a call."""
    if isinstance(value, complex):
        plain = math.isfinite(value.real) and math.isfinite(value.imag)
        text = repr(value)
        if plain and "-0" not in text:
            return text
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)
