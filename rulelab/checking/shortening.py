"""Values in one line of a table, and as plain data for JSON."""

from __future__ import annotations

import re

import numpy as np


def is_numeric(value) -> bool:
    return isinstance(value, (int, float, complex, np.number, np.bool_)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    )


def plain_data(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return plain_data(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain_data(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(v) for v in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def shortened(value) -> str:
    """A value in one line of a table: a number in full, of a large array the kind and the ends."""
    if isinstance(value, np.ndarray) and value.ndim:
        shown = np.array2string(
            value + 0.0 if value.dtype.kind in "fc" else value,
            threshold=6,
            edgeitems=2 if value.ndim == 1 else 1,
            precision=5,
            separator=", ",
        )
        # On one line, without the spaces that stand below each other in an array of several.
        shown = re.sub(r" (?=[\],])|(?<=\[) ", "", " ".join(shown.split()))
        shape = ", ".join(map(str, value.shape))
        return f"{value.dtype}[{shape}] {shown}" if value.size > 6 else shown
    if is_numeric(value):
        return number_in_short(np.asarray(value)[()])
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def number_in_short(value) -> str:
    return (
        f"{value:.10g}"
        if isinstance(value, (float, np.floating, complex, np.complexfloating))
        else str(value)
    )
