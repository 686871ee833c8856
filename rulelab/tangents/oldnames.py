"""Deprecated names, kept so that code from older texts runs: each works, with a warning that gives the new
name.
"""

from __future__ import annotations

import sys
import warnings

from ..nearest import did_you_mean
from .one import One as _One
from .structural import Tangent
from .zeros import NoTangent, ZeroTangent

OLD_NAMES = ("NO_FIELDS", "Zero", "One", "DoesNotExist", "Composite")


_NEW = {
    "NO_FIELDS": ("NoTangent()", NoTangent()),
    "Zero": ("ZeroTangent", ZeroTangent),
    "One": ("1.0", _One),
    "DoesNotExist": ("NoTangent", NoTangent),
    "Composite": ("Tangent", Tangent),
}


def old_name(name):
    """Return what a deprecated name stands for, with a DeprecationWarning; AttributeError for any other
    name.
    """
    try:
        new, value = _NEW[name]
    except KeyError:
        raise AttributeError(f"module 'rulelab' has no attribute {name!r}{_meant(name)}", name=name) from None
    warnings.warn(f"{name} is the older name; use {new}", DeprecationWarning, stacklevel=3)
    return value


def _meant(name):
    """The hint about a similar public name; IPython does not show Python's own suggestion."""
    package = sys.modules.get(__name__.partition(".")[0])
    if package is None or name.startswith("_"):
        return ""
    return did_you_mean(name, getattr(package, "__all__", ()))


def __getattr__(name):
    return old_name(name)
