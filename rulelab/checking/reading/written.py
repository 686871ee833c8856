"""What the author of a function wrote: of a twin, which only calls another, the text of that other one."""

from __future__ import annotations

import types
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


def positional_names(f: Any) -> tuple[str, ...]:
    """The names of the positional parameters of a plain function; none of anything else."""
    if not isinstance(f, types.FunctionType):
        return ()
    return f.__code__.co_varnames[: f.__code__.co_argcount]
