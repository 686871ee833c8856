"""Values on one line of a table, and as plain data for JSON."""

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


def shortened(value, kind: bool = True) -> str:
    """A value on one line of a table: a number in full; of a large array its `kind` and its ends or, if these
    are zeros, how many elements are not zero, and the first and the last of those.

    >>> shortened(np.arange(8.0)), shortened(np.arange(8.0), kind=False)
    ('float64[8] [0., 1., ..., 6., 7.]', '[0., 1., ..., 6., 7.]')
    >>> shortened(np.where(np.arange(90).reshape(9, 10) // 2 == 20, 0.5, 0.0))
    'float64[9, 10] 2 of 90 not zero: [4, 0] 0.5, [4, 1] 0.5'
    >>> shortened(np.random.RandomState(0))  # without its address, which says nothing
    'RandomState(MT19937)'
    """
    if isinstance(value, np.ndarray) and value.ndim:
        shown = np.array2string(
            value + 0.0 if value.dtype.kind in "fc" else value,
            threshold=6,
            edgeitems=2 if value.ndim == 1 else 1,
            precision=5,
            separator=", ",
        )
        # On one line, without the spaces that align the columns of several lines.
        shown = re.sub(r" (?=[\],])|(?<=\[) ", "", " ".join(shown.split()))
        if value.size <= 6:
            return shown
        shown = _few_that_are_not_zero(value, shown) or shown
        return f"{value.dtype}{index_text(value.shape)} {shown}" if kind else shown
    if is_numeric(value):
        return number_in_short(np.asarray(value)[()])
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))
    return text if len(text) <= 60 else text[:57] + "…"


def _few_that_are_not_zero(array, shown: str) -> str | None:
    """A text about the elements of a numeric array that are not zero, if those shown are all zeros."""
    if array.dtype.kind not in "iufc" or re.search("[1-9]|nan|inf", shown):
        return None
    places = np.argwhere(array)
    if not len(places):
        return None
    ends = (places[0], places[-1]) if len(places) > 1 else (places[0],)
    told = (f"{index_text(place)} {number_in_short(array[tuple(place)])}" for place in ends)
    between = ", ..., " if len(places) > 2 else ", "
    return f"{len(places):,} of {array.size:,} not zero: {between.join(told)}"


def index_text(index) -> str:
    """The index of an element as it is written behind the name of an array; nothing for the index () of a
    number.

    >>> index_text((0, 1)), index_text(()), index_text((2,))
    ('[0, 1]', '', '[2]')
    """
    return f"[{', '.join(map(str, index))}]" if len(index) else ""


def number_in_short(value) -> str:
    return (
        f"{value:.10g}"
        if isinstance(value, (float, np.floating, complex, np.complexfloating))
        else str(value)
    )
