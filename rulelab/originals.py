"""The functions of NumPy and `math` as they were when this package was imported.

Users may replace `np.sin` by a function of their own, to trace calls or to correct a result. Calls of it are
then differentiated as calls of that function; but the built-in rules, and the code that accumulates their
cotangents, need the original function. So their modules use a copy of NumPy's namespace.
"""

from __future__ import annotations

import math
import sys
import types

import numpy as np

_PARTS = ("linalg", "fft", "random")


def _copy(module: types.ModuleType) -> types.ModuleType:
    copied = types.ModuleType(module.__name__, module.__doc__)
    vars(copied).update(vars(module))
    return copied


def hold(packages: tuple[str, ...]) -> None:
    """Replace NumPy and `math` by copies of their present state in the imported modules of these packages."""
    numpy = _copy(np)
    for name in _PARTS:
        setattr(numpy, name, _copy(getattr(np, name)))
    held = {id(np): numpy, id(math): _copy(math)}
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            for known, value in list(vars(module).items()):
                if isinstance(value, types.ModuleType) and id(value) in held:
                    setattr(module, known, held[id(value)])
