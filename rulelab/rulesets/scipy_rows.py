"""How rules for elementwise functions of `scipy.special` are stated: one row each, from which all else comes.

A row has the name of the function, its partials as a function of the value and the arguments, numbers to
check it at, and what is to be known of it. It makes both rules, the formula of compiled code and the check
points; the prover and the manual read it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..rules.rule_table import RuleTable
from ..rules.scalar import arity_of, scalar_frule, scalar_rrule
from ..rules.signatures import ANY, Accepts, accepts_from
from ..tangents.missing import MissingSlope
from ..tangents.zeros import NoTangent
from .array_likes import refuse
from .numpy_elementwise import Number
from .standins import as_array, has_items

try:
    from scipy import special
except ImportError:
    # The modules of these rules can be imported all the same: each name is that of no function, and no row.
    special = type("NoFunctions", (), {"__getattr__": lambda self, name: None})()

WHOLE = NoTangent()
"""The partial derivative with respect to an argument that is a whole number, and so constant."""


def without_slope(word):
    """The partial derivative with respect to a parameter for which no closed form is known."""
    return MissingSlope(
        f"the derivative with respect to {word} has no closed form",
        fixes=(
            "hold it constant with rl.ignore_derivatives, or leave it out of argnums=",
            "pass it as an argument of its own: in a list or tuple (f(*args)) it varies if another item does",
            "write a rule for the calling function",
        ),
    )


BY_ORDER = without_slope("the order of a Bessel function")
BY_SHAPE = without_slope("the shape parameter of an incomplete gamma or beta function")
BY_PARAMETER = without_slope("the parameter of a hypergeometric function")
BY_DEGREE = without_slope("the degree or a parameter of an orthogonal polynomial")
BY_FREEDOM = without_slope("the degrees of freedom, counts or shape of a distribution")
BY_EXPONENT = without_slope("the exponent of a zeta function")


_NUMBER = accepts_from((Number,)).parameters[0]  # read once: a union takes as long as the rest of a row


class Row(NamedTuple):
    """What one row says: `at` has the numbers for each argument, `beyond` complex ones, `note` a
    convention.
    """

    name: str
    target: Any
    partials: Any
    at: tuple
    beyond: tuple
    note: str


class SpecialTable(RuleTable):
    """The rules of a family of `scipy.special`, with the row of each."""

    def __init__(self, name):
        super().__init__(name)
        self.rows = {}  # by name

    def rrule(self, *targets, **facts):
        """As `RuleTable` has it; of functions that this SciPy has not, nothing is stated."""
        return super().rrule(*[target for target in targets if target is not None], **facts)

    def frule(self, *targets, **facts):
        return super().frule(*[target for target in targets if target is not None], **facts)

    def row(self, name, partials, *at, beyond=(), note="", frule=None, past=None):
        """State the rule of `scipy.special.name`; an older SciPy has not all of them.

        `at` has a tuple of numbers for each argument, all of one length; what is not a tuple is one constant.
        `beyond` has the same with complex numbers. `frule` and `past` as `RuleTable.scalar` has them.
        """
        target = getattr(special, name, None)
        if target is not None:
            self.rows[name] = Row(name, target, partials, at, beyond, note)
            self.scalar(target, partials, (), frule, past, _accepts(partials))
            self.stands_in(target, only=has_items)(_of_arrays(target))

    def function_row(self, name, partials, called, *at, beyond=(), note=""):
        """The same of a Python function, whose arguments have names and defaults: `called` is one of the
        pairs below, which says which.
        """
        target = getattr(special, name, None)
        if target is not None:
            self.rows[name] = Row(name, target, partials, at, beyond, note)
            reverse, forward = called
            count = arity_of(partials)
            self.rrule(target, leading=count)(reverse(scalar_rrule(target, name, partials)))
            self.frule(target)(forward(scalar_frule(target, name, partials)))

    @property
    def points(self):
        """The check points, which are made when somebody asks for them."""
        made = [*self._stated_points]
        for stated in self.rows.values():
            for args in points_at(stated.at) + points_at(stated.beyond, "c"):
                made.append((stated.target, args, {}))
        return made

    def also_at(self, name, *points, **options):
        """Further check points of a row."""
        if name in self.rows:
            self._stated_points += [(self.rows[name].target, args, options) for args in points]


def _of_arrays(target):
    """The same function of the arrays that NumPy makes of lists."""

    def of_one(x, /):
        return target(as_array(x))

    def of_two(x, y, /):
        return target(as_array(x), as_array(y))

    def of_three(x, y, z, /):
        return target(as_array(x), as_array(y), as_array(z))

    def of_four(x, y, z, t, /):
        return target(as_array(x), as_array(y), as_array(z), as_array(t))

    return (of_one, of_two, of_three, of_four)[target.nin - 1]


def _padded(tangents, count):
    """The tangents of a call, none for what was left to its default."""
    return (*tangents, *[WHOLE] * (count + 1 - len(tangents)))


# How a Python function is called: what makes a rule with its parameters of one without names, for both modes.
OF_ORDER = (  # polygamma
    lambda rule: lambda n, x: rule(n, x),
    lambda rule: lambda tangents, n, x: rule(tangents, n, x),
)
OF_DIMENSION = (  # multigammaln
    lambda rule: lambda a, d: rule(a, d),
    lambda rule: lambda tangents, a, d: rule(tangents, a, d),
)
OF_COUNT = (  # diric
    lambda rule: lambda x, n: rule(x, n),
    lambda rule: lambda tangents, x, n: rule(tangents, x, n),
)
OF_DERIVATIVE = (  # jvp and its like
    lambda rule: lambda v, z, n=1: rule(v, z, n),
    lambda rule: lambda tangents, v, z, n=1: rule(_padded(tangents, 3), v, z, n),
)
OF_SPHERE = (  # spherical_jn and its like
    lambda rule: lambda n, z, derivative=False: rule(n, z, derivative),
    lambda rule: lambda tangents, n, z, derivative=False: rule(_padded(tangents, 3), n, z, derivative),
)
OF_BRANCH = (  # lambertw
    lambda rule: lambda z, k=0, tol=1e-8: rule(z, k, tol),
    lambda rule: lambda tangents, z, k=0, tol=1e-8: rule(_padded(tangents, 3), z, k, tol),
)
OF_SHIFT = (  # zeta
    lambda rule: lambda x, q=None: rule(x, q),
    lambda rule: lambda tangents, x, q=None: rule(_padded(tangents, 2), x, q),
)
OF_DEGREE = (  # assoc_laguerre
    lambda rule: lambda x, n, k=0.0: rule(x, n, k),
    lambda rule: lambda tangents, x, n, k=0.0: rule(_padded(tangents, 3), x, n, k),
)
OF_ONE = (  # softplus
    lambda rule: lambda x: rule(x),
    lambda rule: lambda tangents, x: rule(tangents, x),
)


def _accepts(partials):
    """Numbers and arrays of them for each argument, whatever else there may be."""
    count, code = arity_of(partials), partials.__code__
    names = code.co_varnames[1 : code.co_argcount]
    return Accepts((_NUMBER,) * len(names), ANY if count is None else None, names)


def points_at(columns, kind="f"):
    """Check points: numbers, arrays, a column of short floats against a row, without dimensions, empty."""
    if not columns:
        return []
    first = tuple(_first(column) for column in columns)
    whole = tuple(np.array(c) if isinstance(c, tuple) else c for c in columns)
    points = [first, whole]
    if kind == "f":
        short = tuple(_narrow(c) for c in whole)
        points += [
            tuple(np.array(x) if isinstance(c, tuple) else x for x, c in zip(first, columns, strict=True)),
            tuple(c[:, None] if i == 0 and isinstance(c, np.ndarray) else c for i, c in enumerate(short)),
            tuple(np.empty((0, 2)) if _is_inexact(c) else _first(c) for c in whole),
        ]
    return points


def _first(column):
    return column[0] if isinstance(column, (tuple, np.ndarray)) else column


def _is_inexact(column):
    return isinstance(column, np.ndarray) and column.dtype.kind in "fc"


def _narrow(column):
    return column.astype(np.float32) if _is_inexact(column) else column


def times(factor, x):
    """`factor * x`, and 0 where the factor is 0, also of what is infinite or not a number.

    >>> times(np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    array([0., 6.])
    """
    with np.errstate(all="ignore"):
        return np.where(np.equal(factor, 0), np.zeros_like(x), factor * x)[()]


def refuse_complex(name, *xs):
    """A function that is made of the size or the real part of a complex number has no complex derivative."""
    if any(np.iscomplexobj(x) for x in xs):
        refuse(
            f"scipy.special.{name} of a complex number has no complex derivative",
            "use the function that is not scaled, and scale it yourself",
        )
