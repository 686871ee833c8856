"""The docstring that an author wrote for a function; a twin, which only calls another function, has that of
the other.
"""

from __future__ import annotations

from typing import Any

from ...rules.twins import written


def docstring_of(f: Any) -> str:
    """The docstring of a function; for a twin, that of the function it stands for; empty if there is none.

    >>> import rulelab as rl
    >>> def gain(P):
    ...     "P is a covariance."
    >>> docstring_of(rl.twin(gain, "gain_cr"))
    'P is a covariance.'
    """
    return getattr(written(f), "__doc__", None) or ""
