"""Annotations and signatures of functions whose annotations may name what is not defined.

From Python 3.14 on annotations are computed when they are asked for, and `inspect.signature` asks for them:
a name that is only imported for a type checker is a NameError there. Such annotations are read as texts.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any


def _reader() -> Any:
    """The module that reads annotations as texts; None before Python 3.14."""
    return importlib.import_module("annotationlib") if sys.version_info >= (3, 14) else None


def annotations_of(x: Any) -> Mapping[str, Any]:
    """The annotations of a function or class itself, by name; all of them texts where one cannot be computed.

    >>> annotations_of(signature_of_callable)["follow_wrapped"]
    'bool'
    """
    try:
        return getattr(x, "__annotations__", None) or {}
    except Exception:  # the author's own expressions
        reader = _reader()
        if reader is None:
            raise
        return reader.get_annotations(x, format=reader.Format.STRING)


def signature_of_callable(f: Callable[..., Any], *, follow_wrapped: bool = True) -> inspect.Signature:
    """`inspect.signature`, whatever the annotations name; it raises TypeError or ValueError as that does."""
    try:
        return inspect.signature(f, follow_wrapped=follow_wrapped)
    except (TypeError, ValueError):
        raise
    except Exception:
        reader = _reader()
        if reader is None:
            raise
        as_texts = {"annotation_format": reader.Format.STRING}
        return inspect.signature(f, follow_wrapped=follow_wrapped, **as_texts)
