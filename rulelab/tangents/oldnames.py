"""The names of the older texts, kept so that what they print can be typed: each warns and gives the new
one."""

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
    """What an old name stands for, with a DeprecationWarning; AttributeError for a name that never was
    one."""
    try:
        new, value = _NEW[name]
    except KeyError:
        raise AttributeError(f"module 'rulelab' has no attribute {name!r}{_meant(name)}", name=name) from None
    warnings.warn(f"{name} is the older name; use {new}", DeprecationWarning, stacklevel=3)
    return value


def _meant(name):
    """Which public name may have been meant: IPython does not show what Python itself would suggest."""
    package = sys.modules.get(__name__.partition(".")[0])
    if package is None or name.startswith("_"):
        return ""
    return did_you_mean(name, getattr(package, "__all__", ()))


def __getattr__(name):
    return old_name(name)
