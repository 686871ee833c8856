"""What a caller asks in forward mode; the transform that answers is not there yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import NotDifferentiableError


def jvp(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    tangents: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
) -> tuple[Any, Any]:
    """`(y, y_dot)`: the value of f at `args`, and its derivative in the direction `tangents`."""
    raise NotDifferentiableError(
        "There is no forward mode yet", asked="jvp(f, args, tangents)", fixes=('ask for mode="reverse"',)
    )
