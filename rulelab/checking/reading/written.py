"""What the author of a function wrote: of a twin, which only calls another, the text of that other one."""

from __future__ import annotations

from typing import Any

from ...rules.twins import written


def docstring_of(f: Any) -> str:
    """The docstring of a function, of a twin that of the function it stands for; empty without one.

    >>> import rulelab as rl
    >>> def gain(P):
    ...     "P is a covariance."
    >>> docstring_of(rl.twin(gain, "gain_cr"))
    'P is a covariance.'
    """
    return getattr(written(f), "__doc__", None) or ""
