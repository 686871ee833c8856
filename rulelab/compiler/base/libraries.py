"""Who owns a Python function: the author (installed packages count as the author's), or a library whose
functions are differentiated by rules."""

from __future__ import annotations

import functools
import os
import sys
import types
from typing import Any

import numpy as np

from ...own_code import FOLDER, is_stand_in

_PACKAGE = os.path.realpath(FOLDER)
BY_RULE = ("numpy", "scipy")
INSTALLED_IN = ("site-packages", "dist-packages")

_HORNER = "a loop of products and sums over the coefficients"
_OF_COUNTER = (
    *("__init__", "update", "subtract", "total", "copy", "_keep_positive", "__missing__"),
    *("__add__", "__sub__", "__or__", "__and__", "__pos__", "__neg__"),
    *("__iadd__", "__isub__", "__ior__", "__iand__", "__delitem__"),
)
_BASES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}
_OF_A_BASIS = {
    **dict.fromkeys(("val2d", "val3d", "grid2d", "grid3d"), "the function of the basis along each axis"),
    "line": "two coefficients",
    "weight": "one formula",
}
# Library functions that are compiled like the author's own: plain Python over operations that have rules,
# writing to nothing but the object of a method. Module, name and why it is safe.
COMPILED: dict[tuple[str, str], str] = {
    ("colorsys", "rgb_to_yiq"): "two sums of products",
    ("colorsys", "yiq_to_rgb"): "sums of products, clipped to [0, 1] by branches",
    ("colorsys", "rgb_to_hls"): "branches over quotients",
    ("colorsys", "hls_to_rgb"): "branches over products",
    ("colorsys", "_v"): "what hls_to_rgb is made of",
    ("colorsys", "rgb_to_hsv"): "branches over quotients",
    ("colorsys", "hsv_to_rgb"): "branches over products",
    ("statistics", "NormalDist.pdf"): "one formula of math functions",
    ("statistics", "NormalDist.cdf"): "one formula of math functions",
    ("statistics", "NormalDist.zscore"): "a quotient",
    ("typing", "cast"): "returns its second argument",
    **dict.fromkeys(
        [("collections", f"Counter.{name}") for name in _OF_COUNTER],
        "loops over entries, with sums and differences",
    ),
    ("contextlib", "nullcontext.__init__"): "keeps its argument",
    ("contextlib", "nullcontext.__enter__"): "hands it out",
    ("contextlib", "nullcontext.__exit__"): "does nothing",
    ("numpy", "polyval"): _HORNER,
    ("numpy.lib._polynomial_impl", "poly1d.__call__"): "polyval of its coefficients",
    ("numpy", "polyadd"): "pads with zeros and adds",
    ("numpy", "polysub"): "pads with zeros and subtracts",
    (
        "numpy.polynomial._polybase",
        "ABCPolyBase.__call__",
    ): "shifts and scales, then the function of its basis",
    ("numpy.polynomial.polyutils", "mapdomain"): "a line through what mapparms gives",
    ("numpy.polynomial.polyutils", "mapparms"): "four differences and two quotients",
    ("numpy.polynomial.polynomial", "polyval"): _HORNER,
    ("numpy.polynomial.chebyshev", "chebval"): _HORNER,
    ("numpy.polynomial.legendre", "legval"): _HORNER,
    ("numpy.polynomial.hermite", "hermval"): _HORNER,
    ("numpy.polynomial.hermite_e", "hermeval"): _HORNER,
    ("numpy.polynomial.laguerre", "lagval"): _HORNER,
    ("numpy.polynomial.polyutils", "_valnd"): "the function of a basis along each axis",
    ("numpy.polynomial.polyutils", "_gridnd"): "the function of a basis along each axis",
    **{
        (f"numpy.polynomial.{family}", f"{prefix}{what}"): why
        for family, prefix in _BASES.items()
        for what, why in _OF_A_BASIS.items()
        if (prefix, what) != ("poly", "weight")  # powers are orthogonal for no weight
    },
}


def compile_too(function: Any, why: str) -> None:
    """Have a function of this package compiled like the author's own."""
    COMPILED[function.__module__, function.__qualname__] = why


def compiled_function(target: Any) -> types.FunctionType | None:
    """The Python function to compile for a call of `target`; None if there is none, or if it needs a rule."""
    function = target
    if type(target) is type(np.sum):  # it dispatches to other array classes, which are refused earlier
        function = getattr(target, "__wrapped__", None)
    if not isinstance(function, types.FunctionType):
        return None
    if function.__dict__:  # a derivative, which has a program of its own to differentiate
        function = function.__dict__.get("differentiated_as", function)
    if is_library(function) and (target.__module__, target.__qualname__) not in COMPILED:
        return None
    return function


def is_library(function: types.FunctionType) -> bool:
    """Whether a Python function belongs to NumPy, SciPy, the standard library or this package.

    The file decides, not the module's name: an author's own `queue.py` or `random.py` is the author's, and so
    are examples in docstrings.
    """
    top = str(function.__globals__.get("__name__", "")).partition(".")[0]
    return _is_library_file(function.__code__.co_filename, top if top in BY_RULE else None)


def is_of_rulelab(filename: str) -> bool:
    """Whether a file belongs to this package, or holds generated code that stands in for a function."""
    return is_stand_in(filename) or filename.startswith(_PACKAGE)


def is_authors_function(x: Any) -> bool:
    """Whether a value is a Python function that is not a library's (see `is_library`)."""
    return isinstance(x, types.FunctionType) and not is_library(x)


def is_of_library(cls: type) -> bool:
    """Whether a class belongs to NumPy, SciPy, the standard library or this package."""
    module = sys.modules.get(cls.__module__)
    filename = getattr(module, "__file__", None)
    if module is None or filename is None:
        return module is not None and cls.__module__ in sys.builtin_module_names
    top = cls.__module__.partition(".")[0]
    return _is_library_file(filename, top if top in BY_RULE else None)


@functools.lru_cache(maxsize=4096)
def _is_library_file(filename: str, library: str | None) -> bool:
    if filename.startswith("<"):
        return filename.startswith("<frozen ")
    path = os.path.realpath(filename)
    if library is not None and library in os.path.dirname(filename).split(os.sep):
        return True
    if _inside(_PACKAGE, path) is not None:
        return not is_stand_in(filename)
    found = (_inside(root, path) for root in _standard_library())
    return any(inside is not None and not set(INSTALLED_IN) & set(inside) for inside in found)


def _inside(folder: str, path: str) -> list[str] | None:
    """The path components from a folder to a path in it; None if the path is outside."""
    return path[len(folder) :].split(os.sep) if path.startswith(folder + os.sep) else None


@functools.cache
def _standard_library() -> tuple[str, ...]:
    # The folders that `sysconfig` gives, whose tables take a tenth of the time of a first gradient to read.
    of_platform = f"python{sys.version_info.major}.{sys.version_info.minor}"
    paths = {os.path.dirname(os.__file__), os.path.join(sys.base_exec_prefix, sys.platlibdir, of_platform)}
    return tuple(map(os.path.realpath, paths))


# Packages whose functions and classes are never removed, so that a pass may rely on them.
IMMORTAL = frozenset(
    {"builtins", "numpy", "scipy", "math", "rulelab", "operator", "_operator", "functools", "itertools"}
)
