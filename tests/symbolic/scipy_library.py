"""The part of docs/reference/scipy.md on modules whose functions take arrays as a whole: which are
differentiated, by which arguments, how many calls are checked, and which are not.
"""

from __future__ import annotations

import collections
import importlib
import inspect
import sys
from pathlib import Path

import numpy as np

RULESETS = str(Path(__file__).resolve().parents[1] / "rulesets")
if RULESETS not in sys.path:
    sys.path.insert(0, RULESETS)

from library_calls import function_of  # noqa: E402
from rule_points import leaves  # noqa: E402

from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rulesets.catalogue import LAZY_RULES  # noqa: E402

TABLES = {lazy.module: lazy.read for lazy in LAZY_RULES}
MODULES = {  # the title of each, and where it says what has no rule
    "scipy.linalg": ("Linear algebra", "scipy_linalg_without"),
    "scipy.fft": ("Fourier, cosine and sine transforms", "scipy_fft"),
    "scipy.signal": ("Signals", "scipy_signal_without"),
    "scipy.signal.windows": ("Windows", "scipy_signal_windows"),
}
HEAD = """## Functions of whole arrays in other modules

The functions below take arrays as a whole. A *rule* is stated for both modes; a function *through others* is
expressed by such functions and NumPy's, whose rules are used. *Differentiable in* lists the arguments
with respect to which there is a derivative; options are constants, and one that no rule covers is refused by
name. Each has been checked in both modes against differences of order eight of SciPy's own function, in as
many calls as the column says (float32, stacks, strides and short arrays among them; complex numbers where it
says so), and each call a second time for the second derivative; those that are analytic against Cauchy's
integral as well, the others against their definition in fifty digits of mpmath. Complex numbers, where SciPy
takes them, are differentiated or refused. Arguments named `overwrite_…` are accepted, but nothing is
overwritten.
"""
ALSO = {  # what has a default, and a slope
    "toeplitz": "r",
    "hankel": "r",
    "eigh": "b",
    "eigvalsh": "b",
    "lfilter": "zi",
    "sosfilt": "zi",
    "freqz": "a worN fs",
    "exponential": "center tau",
    "resample": "t window",
    "convolve2d": "fillvalue",
    "correlate2d": "fillvalue",
    "fftfreq": "d",
    "rfftfreq": "d",
    "savgol_filter": "delta cval",
    "savgol_coeffs": "delta pos",
    "lfiltic": "x",
    "resample_poly": "window",
    **dict.fromkeys("periodogram welch csd coherence spectrogram stft".split(), "fs window"),
}
NEVER = (
    "n N M mode sym l_and_u num type side trans way xp device name window Nx lapack_driver "
    "window_length polyorder up down".split()
)  # words and whole numbers
WHOLE = {("decimate", "q")}  # a whole number under a name that stands for others elsewhere
NOTES = {
    "solve": "each `assume_a`; what is not read of `a` has the slope 0",
    "solve_triangular": "the other triangle has the slope 0",
    "solve_banded": "as cheap as the function; corners of `ab` have the slope 0",
    "solve_circulant": "not by least squares",
    "solve_sylvester": "mixed real and complex matrices are refused where SciPy does not solve them",
    "lstsq": "of full rank",
    "pinv": "with the default cut-off, while the rank does not change",
    "pinvh": "with the default cut-off, while the rank does not change",
    "cho_factor": "the triangle that is not cleared holds what `a` has there",
    "lu": "of full rank; the order of the rows is constant",
    "lu_factor": "of full rank; the order of the rows is constant",
    "qr": "of full rank; columns of `q` beyond those of `a` are refused, forwards all of a full `q`",
    "polar": "of full rank, on the side of the shorter axis",
    "svd": "vectors of values that coincide are refused, and what depends on phases",
    "eigh": "type 1, all values; vectors of values that coincide are refused, and what depends on phases",
    "eigvalsh": "type 1, all values",
    "eig": "of one matrix, right vectors; what depends on phases is refused",
    "eigvals": "of one matrix",
    "eigvalsh_tridiagonal": "all values",
    "logm": "without options",
    "sqrtm": "of a matrix with an inverse, without options",
    "sosfilt": "the number before `y` in each section is 1, and constant",
    "filtfilt": '`method="pad"`',
    "freqz": "of one filter, in double precision",
    "resample": '`domain="time"`',
    "upfirdn": "zeros beyond the ends",
    "solve_continuous_are": "`q` and `r` are Hermitian, and so are their slopes",
    "solve_discrete_are": "`q` and `r` are Hermitian, and so are their slopes",
    "savgol_filter": "of real numbers",
    "resample_poly": "beyond the ends zeros, mean, median, minimum, maximum; of `window` its numbers",
    "decimate": "`ftype=` by name",
    "csd": "of two sequences of one length",
    "coherence": "of two sequences of one length",
    "spectrogram": "not of phases",
}


def calls():
    """Those that are checked, by function: each is known by the module that checks it."""
    found = collections.defaultdict(list)
    for module in MODULES:
        for table in TABLES[module]():
            if not table.name.endswith("_without"):
                for one in importlib.import_module(f"test_{table.name}").CALLS:
                    found[module, function_of(one)].append(one)
    return found


def differentiated(module):
    """The functions of a module with a slope, by name."""
    library, told = importlib.import_module(module), lists_of(module)
    functions = {name: getattr(library, name) for name in library.__all__}
    without = {*told.CONSTANT, *getattr(told, "REFUSED", {}), *getattr(told, "SHAPED", {}), "get_window"}
    return {
        name: function
        for name, function in functions.items()
        if callable(function) and not isinstance(function, type) and name not in without
    }


def lists_of(module):
    return importlib.import_module(f"rulelab.rulesets.{MODULES[module][1]}")


def slopes_of(name, function):
    """The names of the arguments that there is a slope by."""
    rules = [rule for rule in getattr(DEFAULT.entry(function), "built_in", ()) if rule.mode == "rrule"]
    parameters = inspect.signature(function).parameters
    if rules:
        return [word for word in list(parameters)[: rules[0].leading] if word not in NEVER]
    needed = [p.name for p in parameters.values() if p.default is p.empty and p.name not in NEVER]
    plain = [word for word in needed if (name, word) not in WHOLE]
    return [*plain, *ALSO.get(name, "").split()]


def line(name, function, checked):
    """One row of the page."""
    how = "rule" if DEFAULT.entry(function) is not None else "through others"
    by = ", ".join(f"`{word}`" for word in slopes_of(name, function))
    complex_too = any(np.iscomplexobj(leaf) for one in checked for _, leaf in leaves(one.args))
    told = f"{how}, {len(checked)}" + (", complex" if complex_too else "")
    return f"| `{name}` | {by} | {told} | {NOTES.get(name, '')} |"


def sections():
    """The text of the page on these modules."""
    known, parts = calls(), [HEAD]
    for module, (title, _) in MODULES.items():
        told = lists_of(module)
        rows = [line(name, f, known[module, f.__name__]) for name, f in differentiated(module).items()]
        columns = "| function | differentiable in | how, checked calls | limits |\n| --- | --- | --- | --- |"
        parts.append("\n".join([f"## {title}: `{module}`\n", columns, *rows, ""]))
        constants = ", ".join(f"`{name}`" for name in sorted(told.CONSTANT))
        parts.append(f"Constants: {constants}.\n")
        if refused := getattr(told, "REFUSED", {}):
            by_reason = collections.defaultdict(list)
            for name, why in refused.items():
                by_reason[why].append(f"`{name}`")
            rows = "\n".join(f"| {', '.join(names)} | {why} |" for why, names in by_reason.items())
            parts.append(f"Without a rule:\n\n| functions | why |\n| --- | --- |\n{rows}\n")
        if shaped := getattr(told, "SHAPED", {}):
            names = ", ".join(f"`{name}`" for name in [*shaped, "get_window"])
            only = "With constant parameters only; a shape parameter that varies is refused"
            parts.append(f"{only}: {names}.\n")
    return "\n".join(parts)
