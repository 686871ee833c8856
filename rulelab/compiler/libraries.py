"""Whose a Python function is: the author's (installed packages count as that), or a library's, which goes by
rule.
"""

from __future__ import annotations

import functools
import os
import sysconfig
import types
from pathlib import Path, PurePath

_PACKAGE = Path(__file__).resolve().parents[1]
_BY_RULE = ("numpy", "scipy")
INSTALLED_IN = ("site-packages", "dist-packages")


def is_library(function: types.FunctionType) -> bool:
    """Whether a Python function belongs to NumPy, SciPy, the standard library or this package.

    The file decides, not the module's name: an author's own `queue.py` or `random.py` is the author's, and so
    are the examples in somebody's docstrings.
    """
    top = str(function.__globals__.get("__name__", "")).partition(".")[0]
    return _is_library_file(function.__code__.co_filename, top if top in _BY_RULE else None)


@functools.lru_cache(maxsize=4096)
def _is_library_file(filename: str, library: str | None) -> bool:
    if filename.startswith("<"):
        return filename.startswith("<frozen ")
    path = Path(os.path.realpath(filename))
    if library is not None and library in PurePath(filename).parent.parts:
        return True
    if path.is_relative_to(_PACKAGE):
        return True
    return any(
        path.is_relative_to(root) and not set(INSTALLED_IN) & set(path.relative_to(root).parts)
        for root in _standard_library()
    )


@functools.cache
def _standard_library() -> tuple[Path, ...]:
    paths = {os.path.dirname(os.__file__), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    return tuple(Path(os.path.realpath(path)) for path in paths if path)
