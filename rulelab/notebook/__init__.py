"""The bench in a notebook: magics, their completion, what they show."""

from __future__ import annotations

from typing import Any

from .manual import docs as docs
from .panel import lab as lab

__all__ = ["docs", "lab", "last", "rules"]


def last() -> Any:
    """What the last magic of this session found, whole or cut short by Ctrl-C; None before the first."""
    from .loading import session  # here, because the magics load IPython

    return session().last


def rules() -> Any:
    """The existing rules: yours one by one, the built-in ones folded. `%rules` shows the same."""
    from ..rules.registry import DEFAULT
    from .displays import Rules

    DEFAULT.read_lazy_rules()
    return Rules(DEFAULT)
