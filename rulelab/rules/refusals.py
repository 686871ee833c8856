"""Why functions of libraries have no rule: what the error of a call says of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REASONS: dict[int, tuple[Any, str]] = {}  # with each function, so that its identity stays its own


def state_reasons(module: Any, reasons: Mapping[str, str]) -> None:
    """State why functions of a module have no rule, by their names; of what it has not, nothing is stated."""
    for name, reason in reasons.items():
        if (target := getattr(module, name, None)) is not None:
            _REASONS[id(target)] = target, reason


def reason_for(target: Any) -> str | None:
    """The reason stated for a function, if there is one.

    >>> import colorsys
    >>> state_reasons(colorsys, {"rgb_to_hsv": "use another space", "no_such_function": "there is none"})
    >>> reason_for(colorsys.rgb_to_hsv), reason_for(colorsys.hsv_to_rgb)
    ('use another space', None)
    """
    stated, reason = _REASONS.get(id(target), (None, None))
    return reason if stated is target else None
