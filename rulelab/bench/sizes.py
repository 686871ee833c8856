"""Arguments of another size, guessed from given ones: the generator from which a scaling starts, and which
its author may edit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Recipe(Protocol):
    """How one argument is made for a size."""

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        """The argument of size n."""
        ...

    @property
    def text(self) -> str | None:
        """The argument as an expression in `n` and `rng`; None if there is none."""
        ...


@dataclass(frozen=True)
class FixedArgument:
    """An argument that does not depend on the size."""

    value: Any

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        return copy.deepcopy(self.value)

    @property
    def text(self) -> str | None:
        return _literal(self.value)


@dataclass(frozen=True)
class LengthArgument:
    """An argument that is the size itself."""

    def draw(self, n: int, rng: np.random.Generator) -> int:
        return n

    @property
    def text(self) -> str:
        return "n"


@dataclass(frozen=True)
class DrawnArgument:
    """An array (or a list of numbers) that is drawn at random.

    `shape` has None in place of the size. `manner` is the kind of its entries: "normal", "positive",
    "complex", "boolean", "integer" within `bounds`, "index" below the size, "symmetric" or "positive
    definite".
    """

    shape: tuple[int | None, ...]
    manner: str
    dtype: str | None = None
    bounds: tuple[int, int] = (0, 1)
    listed: bool = False

    def draw(self, n: int, rng: np.random.Generator) -> Any:
        shape = tuple(n if length is None else length for length in self.shape)
        drawn = self._draw(n, shape, rng)
        drawn = drawn if self.dtype is None else drawn.astype(self.dtype)
        return drawn.tolist() if self.listed else drawn

    def _draw(self, n: int, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        match self.manner:
            case "boolean":
                return rng.random(shape) < 0.5
            case "index":
                return rng.integers(0, n, shape)
            case "integer":
                return rng.integers(*self.bounds, shape, "uint64" if self.bounds[1] > 2**63 else "int64")
            case "positive":
                return abs(rng.standard_normal(shape))
            case "complex":
                return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
            case "symmetric":
                square = rng.standard_normal(shape)
                return square + square.T
            case "positive definite":
                wide = rng.standard_normal((n, 2 * n))
                return wide @ wide.T / n
        return rng.standard_normal(shape)

    @property
    def text(self) -> str:
        lengths = ["n" if length is None else str(length) for length in self.shape]
        shape = lengths[0] if len(lengths) == 1 else f"({', '.join(lengths)})"
        normal = f"rng.standard_normal({shape})"
        kind = ', "uint64"' if self.bounds[1] > 2**63 else ""
        text = {
            "boolean": f"(rng.random({shape}) < 0.5)",
            "index": f"rng.integers(0, n, {shape})",
            "integer": f"rng.integers({self.bounds[0]}, {self.bounds[1]}, {shape}{kind})",
            "positive": f"abs({normal})",
            "complex": f"({normal} + 1j * {normal})",
            "symmetric": f"(lambda a: a + a.T)({normal})",
            "positive definite": "(lambda a: a @ a.T / n)(rng.standard_normal((n, 2 * n)))",
        }.get(self.manner, normal)
        text += "" if self.dtype is None else f'.astype("{self.dtype}")'
        return f"{text}.tolist()" if self.listed else text


def sized(
    args: Sequence[Any], rng: np.random.Generator, kwargs: Mapping[str, Any] | None = None
) -> Callable[[int], Any] | None:
    """A function `make(n)` that returns arguments like `args` of size n; None if no argument has a size.

    The size is the length of the first array or list of numbers. Arrays with an axis of this length are drawn
    at random: positive numbers stay positive, whole numbers stay within their bounds, symmetric matrices stay
    symmetric. A whole number equal to the size becomes n. Everything else is kept.

    Parameters
    ----------
    args : sequence
        The arguments.
    rng : numpy.random.Generator
        The generator for the arrays.
    kwargs : dict, optional
        Keyword arguments; `make(n)` then returns a pair `(args, kwargs)`.

    Returns
    -------
    callable or None
        `make`.

    Raises
    ------
    TypeError
        From `make`, if n is not a whole number.

    Examples
    --------
    >>> make = sized((np.ones((4, 2)), 4, 0.5), np.random.default_rng(0))
    >>> x, n, rate = make(7)
    >>> x.shape, n, rate
    ((7, 2), 7, 0.5)
    """
    recipes = _recipes(args, kwargs)
    if recipes is None:
        return None
    by_place, by_name = recipes

    def make(n: int) -> Any:
        made = tuple(recipe.draw(n, rng) for recipe in by_place)
        if not by_name:
            return made
        return made, {name: recipe.draw(n, rng) for name, recipe in by_name.items()}

    return make


def sized_text(
    args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, texts: Sequence[str | None] = ()
) -> str | None:
    """The arguments that `sized` makes, as the text of an argument list in `n` and `rng`, for editing.

    Parameters
    ----------
    args : sequence
        The arguments.
    kwargs : dict, optional
        Keyword arguments.
    texts : sequence of str or None
        The expressions of the arguments, by position, used for those that are kept and cannot be written
        as a literal.

    Returns
    -------
    str or None
        None if no argument has a size, or one cannot be written as text.

    Examples
    --------
    >>> sized_text((np.zeros(100), np.ones((100, 3)), 0.5))
    'rng.standard_normal(n), abs(rng.standard_normal((n, 3))), 0.5'
    """
    recipes = _recipes(args, kwargs)
    if recipes is None:
        return None
    by_place, by_name = recipes
    given = [*texts, *[None] * len(by_place)]
    words = [recipe.text or said for recipe, said in zip(by_place, given)]
    words += [recipe.text and f"{name}={recipe.text}" for name, recipe in by_name.items()]
    return _joined(words)


def size_of(args: Sequence[Any]) -> int | None:
    """The length of the first array or list of numbers with at least two entries; None if there is none."""
    for value in args:
        if isinstance(value, np.ndarray) and value.ndim and len(value) > 1:
            return len(value)
        if _is_list_of_numbers(value) and len(value) > 1:
            return len(value)
    return None


def _recipes(
    args: Sequence[Any], kwargs: Mapping[str, Any] | None
) -> tuple[list[Recipe], dict[str, Recipe]] | None:
    kwargs = kwargs or {}
    size = size_of([*args, *kwargs.values()])
    if size is None:
        return None
    kept = _kept_lengths([*args, *kwargs.values()], size)
    by_place = [_recipe(value, size, kept) for value in args]
    by_name = {name: _recipe(value, size, kept) for name, value in kwargs.items()}
    if None in by_place or None in by_name.values():
        return None
    return by_place, by_name  # type: ignore[return-value]


def _kept_lengths(values: Sequence[Any], size: int) -> set[int]:
    """The lengths of axes other than the size: labels may index these axes."""
    return {n for value in values if isinstance(value, np.ndarray) for n in value.shape if n != size}


def _recipe(value: Any, size: int, kept: set[int]) -> Recipe | None:
    """The recipe of an argument; None for an array of this size that cannot be drawn (strings, objects)."""
    if type(value) is int and value == size:
        return LengthArgument()
    listed = _is_list_of_numbers(value)
    if not (listed or isinstance(value, np.ndarray)):
        return FixedArgument(value)
    array = np.asarray(value)
    if size not in array.shape or not array.size:
        return FixedArgument(value)
    if type(value) not in (list, np.ndarray) or array.dtype.kind not in "biufc":
        return None
    shape = tuple(None if length == size else length for length in array.shape)
    manner, bounds = _manner(array, size, kept)
    usual = {"boolean": "bool", "complex": "complex128", "index": "int64", "integer": "int64"}
    dtype = None if listed or array.dtype == usual.get(manner, "float64") else array.dtype.str
    return DrawnArgument(shape, manner, dtype, bounds, listed)


def _manner(array: np.ndarray, size: int, kept: set[int]) -> tuple[str, tuple[int, int]]:
    if array.dtype.kind == "b":
        return "boolean", (0, 1)
    if array.dtype.kind == "c":
        return "complex", (0, 1)
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        of_a_kept_axis = any(high < length for length in kept)
        if low >= 0 and size // 2 <= high < size and not of_a_kept_axis:
            return "index", (0, 1)
        return "integer", (low, high + 1)
    if array.shape == (size, size) and np.array_equal(array, array.T):
        return ("positive definite" if _is_definite(array) else "symmetric"), (0, 1)
    return ("positive" if (array > 0).all() else "normal"), (0, 1)


def _is_definite(array: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(array.astype(float))
    except np.linalg.LinAlgError:
        return False
    return True


def _is_list_of_numbers(value: Any) -> bool:
    return type(value) is list and all(type(entry) in (int, float) for entry in value)


def _literal(value: Any) -> str | None:
    """A short value as an expression that evaluates to it; None if there is none."""
    if isinstance(value, float) and type(value) is float and not np.isfinite(value):
        return f'float("{value}")'
    if value is None or type(value) in (bool, int, float, complex, str):
        text = repr(value)
        return text if len(text) <= 80 and "\n" not in text else None
    if type(value) in (list, tuple) and len(value) <= 8:
        inner = _joined([_literal(entry) for entry in value])
        if inner is None:
            return None
        comma = "," if type(value) is tuple and len(value) == 1 else ""
        return f"[{inner}]" if type(value) is list else f"({inner}{comma})"
    return None


def _joined(words: Sequence[str | None]) -> str | None:
    known = [word for word in words if word is not None]
    return ", ".join(known) if len(known) == len(words) else None
