"""Annotations and signatures of functions whose annotations may contain undefined names.

From Python 3.14 on, annotations are evaluated when they are read, and `inspect.signature` reads them: a name
that is only imported for a type checker raises NameError there. Such annotations are read as strings.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any


def _reader() -> Any:
    """The module that reads annotations as strings; None before Python 3.14."""
    return importlib.import_module("annotationlib") if sys.version_info >= (3, 14) else None


def annotations_of(x: Any) -> Mapping[str, Any]:
    """The own annotations of a function or class, by name; all as strings if one cannot be evaluated.

    >>> annotations_of(signature_of_callable)["follow_wrapped"]
    'bool'
    """
    try:
        return getattr(x, "__annotations__", None) or {}
    except Exception:  # the author's expressions may raise anything
        reader = _reader()
        if reader is None:
            raise
        return reader.get_annotations(x, format=reader.Format.STRING)


def signature_of_callable(f: Callable[..., Any], *, follow_wrapped: bool = True) -> inspect.Signature:
    """Like `inspect.signature`, with the same TypeError and ValueError, but undefined names are allowed."""
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
