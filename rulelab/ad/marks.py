"""What an author writes into a function to tell the AD something: leave this out."""

from __future__ import annotations

from typing import Any

from ..rules.house import RuleTable

TABLE = RuleTable("marks")


def ignore_derivatives(value_or_function: Any) -> Any:
    """The value itself, seen by the AD as a constant; a function is called without arguments and its value
    taken.

    The computation runs as always, but no cotangent flows back through it. Used on something that the result
    does depend on, it makes the gradient wrong: it leaves that dependence out, as asked.

    >>> ignore_derivatives(2.0), ignore_derivatives(lambda: 3.0)
    (2.0, 3.0)
    """
    return value_or_function() if callable(value_or_function) else value_or_function


TABLE.non_differentiable(ignore_derivatives)
