"""Which public names of NumPy and SciPy are differentiated in both modes: what the registry says of them. The
manual tells how many (`tests/symbolic/scipy_table.py`).
"""

import functools
import importlib
import types

import numpy as np
from scipy import stats
from special_rows import free, slopes

from rulelab.rules.registry import DEFAULT
from rulelab.rules.targets import resolve
from rulelab.rulesets import scipy_signal_windows
from rulelab.rulesets.catalogue import special_tables
from rulelab.rulesets.scipy_stats_rows import row_of

OF_NUMPY = ("numpy", "numpy.linalg", "numpy.fft", "numpy.emath", "numpy.polynomial")
OF_SCIPY = (
    "scipy.special",
    "scipy.linalg",
    "scipy.fft",
    "scipy.signal",
    "scipy.signal.windows",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.stats",
)
SHAPED = {"scipy.signal.windows": scipy_signal_windows.SHAPED}  # with a rule for constants alone


def has_both_modes(function):
    """Whether a function has a reverse and a forward rule, or a Python function in its place."""
    rules = getattr(DEFAULT.entry(function), "built_in", ())
    if {rule.mode for rule in rules if rule.differentiable} == {"rrule", "frule"}:
        return True
    target, bound = resolve(function)
    stand_in = DEFAULT.stand_in(target)
    if bound and stand_in is not None and not stand_in.answers(bound):
        return False  # one for another object of the class
    return stand_in is not None and stand_in.function is not None and not stand_in.reads_items


def is_differentiated(value):
    """Whether a public object is a function that is, or a distribution whose methods are."""
    if isinstance(value, (stats.rv_continuous, stats.rv_discrete)):
        return row_of(value) is not None
    if type(value).__module__ == "scipy.stats._multivariate":
        return has_both_modes(getattr(type(value), "logpdf", None))
    return callable(value) and not isinstance(value, type) and has_both_modes(value)


def public(module):
    """The public objects of a module by name; of the polynomials those of its modules."""
    if module == "numpy.polynomial":
        kinds = [part for part in vars(np.polynomial).values() if isinstance(part, types.ModuleType)]
        return {f"{part.__name__}.{name}": getattr(part, name) for part in kinds for name in part.__all__}
    library = importlib.import_module(module) if module != "numpy.emath" else np.emath
    return {name: getattr(library, name) for name in getattr(library, "__all__", dir(library))}


STEPS = frozenset(
    "ceil fix floor floor_divide heaviside histogram histogram2d histogram_bin_edges histogramdd rint round "
    "around sign trunc get_window".split()
)
"""Whose derivative is zero wherever there is one, or refused although there is a rule."""


def moves(module, name):
    """Whether there is more to the derivative of a function with a rule than zeros and refusals."""
    if name in STEPS or name in SHAPED.get(module, ()):
        return False
    row = _rows().get(name) if module == "scipy.special" else None
    if row is None:
        return True
    args = tuple(np.array(column) if isinstance(column, tuple) else column for column in row.at)
    with_slope = free(row, args)
    return any(np.any(part[i]) for part in slopes(row, args) for i in with_slope)


@functools.cache
def _rows():
    return {name: row for table in special_tables() for name, row in getattr(table, "rows", {}).items()}


def names_by_module():
    """The names that are differentiated, by module: each object once, where it is met first."""
    found, seen = {}, set()
    for module in (*OF_NUMPY, *OF_SCIPY):
        found[module] = names = []
        for name, value in sorted(public(module).items()):
            if id(value) not in seen and is_differentiated(value):
                seen.add(id(value))
                if moves(module, name):
                    names.append(name)
    return found
