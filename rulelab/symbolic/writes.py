"""What a rule must leave as it was: its arguments, and the cotangent that it is handed."""

from __future__ import annotations

import numpy as np


def first_changed(arguments, fresh, names):
    """The name of the first array among `arguments` that is not what `fresh` has in its place; else None."""
    for i, (given, as_it_was) in enumerate(zip(arguments, fresh, strict=True)):
        if isinstance(given, np.ndarray) and not np.array_equal(given, as_it_was, equal_nan=True):
            return names[i] if i < len(names) else f"argument {i + 1}"
    return None
