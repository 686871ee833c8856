"""The functions of NumPy and `math` as they were when this package was imported.

Somebody may put a function of his own in the place of `np.sin`, to trace calls or to correct a result. It is
then differentiated as what it is, where it is called; but the built-in rules, and what sums up their
cotangents, mean the function that NumPy came with. So their modules see NumPy by a copy of its namespace.
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
    """Give the modules of these packages that have been imported NumPy and `math` as they are now."""
    numpy = _copy(np)
    for name in _PARTS:
        setattr(numpy, name, _copy(getattr(np, name)))
    held = {id(np): numpy, id(math): _copy(math)}
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            for known, value in list(vars(module).items()):
                if isinstance(value, types.ModuleType) and id(value) in held:
                    setattr(module, known, held[id(value)])
