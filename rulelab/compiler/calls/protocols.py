"""Author's objects that a function converts to numbers or arrays: asked only once, or refused."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import NotDifferentiableError, Place, an
from ...rules.targets import name_of
from ..base.classes import is_author_class, written_in_python
from ..base.libraries import is_of_library

_VALUES = (int, float, complex, str, np.ndarray, np.generic)


def asked_once(x: Any) -> Any:
    """The array or integer that an author's object converts to, if it does, else the object.

    A rule would ask the object again for the derivative, and might get a different answer.
    """
    kind = type(x)
    if not is_author_class(kind) or isinstance(x, _VALUES) or is_of_library(kind):
        return x
    if hasattr(kind, "__array__") and not hasattr(kind, "__array_ufunc__"):
        return np.asarray(x)
    return operator.index(x) if hasattr(kind, "__index__") else x


_CONVERSIONS = ("__float__", "__complex__", "__index__", "__array__")
_CONVERTING = ("math", "cmath", "numpy")  # their functions convert arguments to numbers


def refuse_converted(target: Any, values: Iterable[Any], place: Place | None) -> None:
    """NotDifferentiableError for an object that a C function converts to a number or an array by a method of
    its class: the rule of the function knows numbers and arrays only, so the method would not be followed.
    """
    for x in values:
        if type(x) is np.ndarray or type(x) is float:
            continue
        if str(getattr(target, "__module__", None)).partition(".")[0] not in _CONVERTING:
            return
        held = x if type(x) in (list, tuple) else (x,)
        kinds = {type(part) for part in held if is_author_class(type(part)) and not isinstance(part, _IN_C)}
        for kind in kinds:
            method = next((name for name in _CONVERSIONS if written_in_python(kind, name) is not None), None)
            if method is not None:
                raise NotDifferentiableError(
                    f"{name_of(target)} reads {an(kind.__name__)} through its {method}, "
                    "which is not differentiated",
                    place=place,
                    fixes=(f"call {method}() yourself, and pass its result",),
                    read="limitations#operators",
                )


_IN_C = (int, float, complex, str, list, tuple, dict, np.ndarray, np.generic)
