"""Symmetric arguments: keeping points symmetric, and the part of a cotangent that counts for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..calling.plain_calls import value_of
from ..measuring.vectors import to_vec
from ..reading.parameters import positional_names
from ..reading.stated_kinds import symmetric_said

SYMMETRIC = ("symmetric", "positive definite")
"""The forms whose tangents are symmetric matrices (Hermitian for complex numbers)."""


def symmetric_part(x: np.ndarray) -> np.ndarray:
    """The symmetric part of a square matrix: the part of a cotangent that counts for symmetric tangents."""
    return (x + x.conj().T) / 2


def conformed(form: str | None, x: Any) -> Any:
    """`x` itself if it has the form, otherwise a matrix close to it that has."""
    if form not in SYMMETRIC or not _is_square(x):
        return x
    found = x if is_symmetric(x) else symmetric_part(x).astype(x.dtype)
    if form != "positive definite" or not np.all(np.isfinite(found)):
        return found
    least, most = np.linalg.eigvalsh(found)[[0, -1]]
    size = max(abs(least), abs(most), 1e-300)
    if least > 1e-3 * size:
        return found
    return (found + (0.25 * size - min(least, 0.0)) * np.eye(len(found))).astype(x.dtype)


def is_of_form(form: str | None, x: Any) -> bool:
    """Whether an argument has the form stated for it."""
    if form not in SYMMETRIC:
        return True
    if not _is_square(x) or not is_symmetric(x, 1e-12):
        return False
    return form == "symmetric" or bool(np.all(np.linalg.eigvalsh(x) > 0))


def is_symmetric(x: np.ndarray, rtol: float = 0.0) -> bool:
    return bool(np.all(np.abs(x - x.conj().T) <= rtol * np.abs(x).max(initial=0.0)))


def _is_square(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[0] == x.shape[1] and x.dtype.kind in "fc"


def forms_read(
    f: Callable[..., Any], args: tuple, kwargs: Mapping[str, Any], rng: np.random.Generator, drawn: bool
) -> dict[int, str]:
    """The arguments, by position, that a function treats as symmetric: those of which it uses one triangle
    only and, if arguments were given, those that its docstring calls symmetric.

    `np.linalg.cholesky(A)` is a function of the lower triangle, but intended for symmetric matrices. In which
    triangle a cotangent has its entries is then up to its author. Arguments that were given must be symmetric
    themselves to count; those that are `drawn` need not be.
    """
    found = {}
    said = frozenset() if drawn else symmetric_said(f)
    names = positional_names(f) if said else ()
    for i, x in enumerate(args):
        if not _is_square(x) or len(x) < 2 or not (drawn or is_symmetric(x)):
            continue
        if names[i : i + 1] and names[i] in said:
            found[i] = _form_of(x)
            continue
        here = _value(f, args, kwargs)
        away = np.abs(x).max(initial=1.0) * rng.uniform(0.05, 0.15, x.shape)
        upper, lower = (
            _value(f, (*args[:i], x + triangle(away).astype(x.dtype), *args[i + 1 :]), kwargs)
            for triangle in (lambda a: np.triu(a, 1), lambda a: np.tril(a, -1))
        )
        if here is None or (_same(here, upper) == _same(here, lower)):
            continue
        other = x.conj().T
        kept = np.tril(x) + np.triu(other, 1) if _same(here, upper) else np.triu(x) + np.tril(other, -1)
        found[i] = _form_of(kept)
    return found


def _form_of(x: np.ndarray) -> str:
    return "positive definite" if np.all(np.linalg.eigvalsh(x) > 0) else "symmetric"


def _value(f: Callable[..., Any], args: tuple, kwargs: Mapping[str, Any]) -> np.ndarray | None:
    try:
        return to_vec(value_of(f, args, kwargs))[0]
    except Exception:
        return None


def _same(here: np.ndarray | None, there: np.ndarray | None) -> bool:
    return here is not None and there is not None and np.array_equal(here, there, equal_nan=True)
