"""The derivative operator: f to f', f'' and so on, for a function of one real number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import RuleLabError
from ..rules.targets import name_of, resolve
from .nested_functions import check_real_number, nth_derivative
from .reverse import gradient


def derivative(f: Callable[[Any], Any], n: int = 1) -> Callable[[Any], Any]:
    """Return the `n`-th derivative of a function of one real number, as a function.

    It is 0.0 where the result does not depend on the argument. Raises RuleLabError for an argument that is
    not a real number, and whatever `gradient` raises.

    >>> derivative(lambda x: x**3)(2.0), derivative(lambda x: x**3, 2)(2.0)
    (12.0, 12.0)
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise RuleLabError(
            f"The order of a derivative must be a positive integer, not {n!r}",
            asked="derivative(f, n)",
            fixes=("give n = 1, 2, 3, …",),
        )
    name = name_of(resolve(f)[0])
    inner = nth_derivative(f, n - 1)

    def derivative_of_f(x: Any) -> Any:
        __tracebackhide__ = True
        check_real_number(f, x)
        found = gradient(inner, x)[0]
        return 0.0 if found is None else found

    derivative_of_f.__name__ = f"derivative_of_{name}" if name.isidentifier() else "derivative"
    order = "" if n == 1 else f" of order {n}"
    derivative_of_f.__doc__ = f"The derivative{order} of {name}."
    derivative_of_f.differentiated_as = nth_derivative(f, n)  # type: ignore[attr-defined]
    return derivative_of_f
