"""Who looks at each function of SciPy that has a rule, and in which forms: what the tables of the other tests
say, by the public names.
"""

import functools
import importlib
import warnings

import numpy as np
from definition_cases import CASES
from definitions_of_solutions import cases as solutions
from differentiated import OF_SCIPY, names_by_module, public
from forms import REFUSED, arrays_at, check_form, floats_in, in_form, turned
from library_calls import call, function_of, parts
from special_oracle import ORACLE
from special_rows import TABLES, free
from stats_oracle import DENSITIES

from rulelab.rulesets.catalogue import LAZY_RULES
from rulelab.rulesets.scipy_stats_rows import row_of

LIBRARIES = ("scipy.linalg", "scipy.fft", "scipy.signal", "scipy.signal.windows")
OTHERS = {  # tests with calls beside those of a table
    "scipy.special": ("test_scipy_reductions", "test_scipy_harmonics"),
    "scipy.integrate": ("test_scipy_samples",),
    "scipy.optimize": ("test_scipy_minima",),
    "scipy.stats": ("test_scipy_stats_summaries", "test_scipy_stats_multivariate", "test_scipy_stats_forms"),
}
ROWS = {id(row.target): row for table in TABLES.values() for row in table.rows.values()}
SOLUTIONS = solutions()
CIRCLE = "an integral around"


def names():
    """The functions of SciPy with a rule: module and name, each object once."""
    return [(module, name) for module in OF_SCIPY for name in names_by_module()[module]]


def row_of_special(module, name):
    """The row of an elementwise function, whatever it is called."""
    return ROWS.get(id(public(module)[name])) if module == "scipy.special" else None


def stated_name(module, name):
    """The name under which a distribution is checked."""
    row = row_of(public(module)[name]) if module == "scipy.stats" else None
    return name if row is None else row.name


@functools.cache
def calls():
    """The calls that are checked, by module and name."""
    found = {}
    for module in (*LIBRARIES, *OTHERS):
        for test in OTHERS.get(module) or tests_of(module):
            for one in importlib.import_module(test).CALLS:
                found.setdefault((module, function_of(one)), []).append(one)
    return found


def tests_of(module):
    """The tests of the tables of a module."""
    (lazy,) = [lazy for lazy in LAZY_RULES if lazy.module == module]
    return [f"test_{table.name}" for table in lazy.read() if not table.name.endswith("_without")]


def calls_of(module, name):
    return calls().get((module, stated_name(module, name)), [])


def solution_of(name):
    """The call that is compared with the closed form of a solution."""
    solve, _, args, _, _ = SOLUTIONS[name]
    return call(name, solve, *args)


def witnesses(module, name):
    """What the derivatives of a function are compared with."""
    if (row := row_of_special(module, name)) is not None:
        return {"differences"} | ({"mpmath"} if row.name in ORACLE else set())
    found = {"differences"} if calls_of(module, name) or name in SOLUTIONS else set()
    if stated_name(module, name) in DENSITIES and module == "scipy.stats":
        found.add("mpmath")
    elif name in CASES:
        found.add("a definition")
    elif found:
        found.add(CIRCLE)
    return found


def has_complex(one):
    """Whether there are complex numbers among the arguments of a call."""
    return any(np.iscomplexobj(x) for x in parts(one.args))


def of_complex(one):
    """What becomes of a call with complex numbers: "none" where SciPy takes none, "refused", or "right" where
    differences agree.
    """
    if has_complex(one):
        return "right"
    everything, arrays = floats_in(one.args), arrays_at(one.args)
    asked = [everything, arrays, *[[path] for path in arrays]]
    answers = {_of_complex(one, in_form(one.args, turned, paths)) for paths in asked}
    return next((word for word in ("right", "refused") if word in answers), "none")


def _of_complex(one, args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            if not parts(one.function(*args)):
                return "none"
        except Exception:
            return "none"
    try:
        check_form(one.function, one.args, args, "complex", None)
    except REFUSED:
        return "refused"
    return "right"


def of_complex_row(row):
    """The same of an elementwise function; complex numbers in its table are checked with the real ones."""
    if row.beyond:
        return "right"
    args = tuple(np.array(column) if isinstance(column, tuple) else column for column in row.at)
    moves = free(row, args)

    def of_these(*xs):
        given = dict(zip(moves, xs, strict=True))
        return row.target(*[given.get(i, x) for i, x in enumerate(args)])

    return of_complex(call(row.name, of_these, *[args[i] for i in moves]))
