"""Derivatives of functions of a complex number: the two Wirtinger derivatives, and that of a holomorphic
function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import An, NotDifferentiableError, RuleLabError, ScalarOutputError, an
from ..rules.targets import name_of, resolve
from ..tangents.algebra import is_number
from .reverse import pullback

_ROUNDING = 1e-8  # tolerance of the Cauchy-Riemann equations, relative to the derivatives along the axes


def wirtinger(f: Callable[[Any], Any], z: Any) -> tuple[Any, Any]:
    """Return Wirtinger's derivatives `(∂f/∂z, ∂f/∂z̄)` of a function of a complex number, at `z`.

    With z = x + iy they are (∂f/∂x - i ∂f/∂y)/2 and (∂f/∂x + i ∂f/∂y)/2. The function need not be
    holomorphic; for a real f the second is half of its gradient, the first the conjugate of that. A real `z`
    is converted to complex. For an array `z` each derivative has its shape. Raises ScalarOutputError unless f
    returns a number.

    >>> wirtinger(lambda z: z * z.conjugate(), 1 + 2j)
    ((1-2j), (1+2j))
    """
    __tracebackhide__ = True
    of_x, of_y = _along_the_axes(f, z)
    return (of_x - 1j * of_y) / 2, (of_x + 1j * of_y) / 2


def holomorphic_derivative(f: Callable[[Any], Any], z: Any) -> Any:
    """Return the complex derivative `f'(z)` of a holomorphic function, at a number `z` or elementwise at an
    array.

    Raises NotDifferentiableError if the Cauchy-Riemann equations do not hold at `z`, so that f is not
    holomorphic. (That they hold at one point does not show that they hold in a neighbourhood.)

    >>> holomorphic_derivative(lambda z: z * z, 1 + 2j)
    (2+4j)
    """
    __tracebackhide__ = True
    of_x, of_y = _along_the_axes(f, z)
    first, second = (of_x - 1j * of_y) / 2, (of_x + 1j * of_y) / 2
    holds = np.abs(second) <= _ROUNDING * (np.abs(of_x) + np.abs(of_y))
    if not np.all(holds):
        at = np.argmin(holds)  # the first point where they do not hold
        shown, where = np.ravel(second)[at], np.ravel(z)[at]
        name = name_of(resolve(f)[0])
        raise NotDifferentiableError(
            f"{name} is not holomorphic at {where:.6g}: ∂f/∂z̄ is {shown:.6g} there",
            asked=f"holomorphic_derivative({name}, z)",
            fixes=(
                "use rl.wirtinger, which gives both derivatives",
                "use rl.gradient of a real function of it",
            ),
            read="limitations#complex-numbers",
        )
    return first


def _along_the_axes(f: Callable[[Any], Any], z: Any) -> tuple[Any, Any]:
    """`(∂f/∂x, ∂f/∂y)`, complex numbers or arrays of them."""
    __tracebackhide__ = True
    z = _as_complex(z)
    y, back = pullback(f, z)
    if isinstance(y, np.ndarray) and y.ndim == 0:
        y = y[()]
    if not is_number(y):
        raise ScalarOutputError(
            f"Output is {an(type(y).__name__)}, so Wirtinger derivatives are not defined",
            asked=f"the derivative of {name_of(resolve(f)[0])}",
            fixes=("call it for one output at a time",),
            read="limitations#scalar-output",
        )
    of_real = _or_zero(back(1.0)[0], z)
    of_imaginary = _or_zero(back(1j)[0], z) if np.iscomplexobj(y) else 0.0 * of_real
    return (
        np.real(of_real) + 1j * np.real(of_imaginary),
        np.imag(of_real) + 1j * np.imag(of_imaginary),
    )


def _as_complex(z: Any) -> Any:
    if isinstance(z, np.ndarray) and z.dtype.kind in "fciu":
        return z.astype(np.result_type(z, np.complex64))
    if is_number(z):
        return z if isinstance(z, (complex, np.complexfloating)) else complex(z)
    raise RuleLabError(
        f"{An(type(z).__name__)} is not a complex number",
        asked="wirtinger(f, z)",
        fixes=("give a number or an array",),
    )


def _or_zero(bar: Any, z: Any) -> Any:
    """The cotangent, or zeros if nothing depends on z."""
    return np.zeros_like(z)[()] if bar is None else bar
