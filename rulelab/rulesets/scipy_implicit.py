"""What functions of `scipy.integrate` and `scipy.optimize` are differentiated by: the solution of equations,
what the AD can do, the results that SciPy gives.

A solver is run as it is, by what nobody differentiates; what it found then goes through `solution`, whose
derivative is that of the equations. All that an equation depends on is held by one function without
arguments but the unknowns, so that parameters in `args=` and captured ones go the same way.
"""

from __future__ import annotations

import inspect

import numpy as np

from ..rules.rule_table import RuleTable
from ..tangents.missing import NotImplementedTangent
from ..tangents.pairings import part_at
from ..tangents.structural import Tangent
from ..tangents.zeros import NoTangent
from .array_likes import dense, is_zero, refuse

NO = NoTangent()
REVERSE, FORWARDS = frozenset({"reverse"}), frozenset({"forwards"})


class NoFunctions:
    """A module of SciPy's where there is none: each name is that of no function."""

    def __getattr__(self, name):
        return None


class ImplicitTable(RuleTable):
    """A table of stand-ins for functions that an older SciPy may lack."""

    def stands_in(self, *targets, **facts):
        return super().stands_in(*[target for target in targets if target is not None], **facts)


def named(module, names):
    """The names among these that an installed SciPy has."""
    return tuple(name for name in names.split() if getattr(module, name, None) is not None)


def reasons_by_name(module, reasons):
    """Why each function has no rule, from the names that a reason is given for."""
    return {name: reason for reason, names in reasons.items() for name in named(module, names)}


TABLE = ImplicitTable("scipy_implicit")


# -- what the AD can do --------------------------------------------------------------------------------------


def asking(g, *args):
    """`g(config, *args)` with the config that rules are given; only where it is differentiated."""
    raise RuntimeError("a part of stand-ins, which is differentiated and never called")


@TABLE.rrule(asking, leading=None, requires=REVERSE)
def asking_rrule(config, g, *args):
    y, back = config.rrule_via_ad(g, config, *args)

    def asking_pullback(y_bar):
        g_bar, _, *rest = back(y_bar)
        return (NO, g_bar, *rest)

    return y, asking_pullback


@TABLE.frule(asking, requires=FORWARDS)
def asking_frule(config, tangents, g, *args):
    return config.frule_via_ad((tangents[1], NO, *tangents[2:]), g, config, *args)


# -- the solution of equations -------------------------------------------------------------------------------


def solution(f, x, off):
    """`x`, which solves f(x) = 0: an array of so many numbers as f gives. Its derivative is that of the
    solution, `-f_x⁻¹ f_dot`; it is memory of its own, since `x` itself does not vary. `off` is how far from a
    solution the tolerances of the solver let `x` be, None where they bound something else.
    """
    return np.array(x)


@TABLE.rrule(solution, leading=3, requires=REVERSE)
def solution_rrule(config, f, x, off):
    """One run of f, and its pullback once for each unknown and once for the cotangent."""

    def solution_pullback(x_bar):
        if is_zero(x_bar):
            return NO, x_bar, NO, NO
        r, back = config.rrule_via_ad(f, x)
        rows = [dense(x, back(unit)[1]) for unit in np.eye(len(x))]
        slope = np.array(rows)
        check_solution(f, x, r, slope, off)
        return NO, back(-multipliers(slope, x_bar))[0], NO, NO

    return solution(f, x, off), solution_pullback


def multipliers(slope, x_bar):
    """What each equation counts for."""
    return np.linalg.solve(slope.T, x_bar)


@TABLE.frule(solution, requires=FORWARDS)
def solution_frule(config, tangents, f, x, off):
    y = solution(f, x, off)
    columns = [dense(y, config.frule_via_ad((NO, unit), f, y)[1]) for unit in units(x)]
    slope = np.stack(columns, axis=1)
    r, r_dot = config.frule_via_ad((tangents[1], NO), f, y)
    check_solution(f, x, r, slope, off)
    return y, -np.linalg.solve(slope, dense(r, r_dot))


def units(x):
    """The steps of one in each unknown."""
    return list(np.eye(len(x)))


_FAR = 1e-3  # how far from a solution an answer may be, of its size or of 1: a slope has as many digits
_LOOSE, _LEAST = 1e3, 1e-6  # so many times as far as the solver's tolerances say, as its function is rounded
_NEAR = 1e-11  # below this a residual is rounded numbers
_STEP = 1e-7


def check_solution(f, x, r, slope, off=None):
    """NotDifferentiableError unless `x` is a regular solution of f(x) = 0: the slope there is that of f
    around it, and a step of Newton's leads nowhere else.
    """
    if not (np.all(np.isfinite(slope)) and np.all(np.isfinite(r))):
        refuse(f"the equations have derivatives that are not finite at the solver's result, {_shown(x)}")
    scales = np.linalg.svd(slope)
    if scales[1][-1] <= len(x) * np.finfo(float).eps * scales[1][0] or scales[1][0] == 0:
        refuse_singular(x)
    step, size = np.linalg.solve(slope, r), max(1.0, float(np.max(np.abs(x))))
    far = float(np.max(np.abs(step)))
    if far > allowed(off, size):
        refuse(
            f"the solver's result, {_shown(x)}, is not a solution: a Newton step from it goes {far:.1e} "
            "further",
            "ask for a solution to more digits: a smaller tolerance, more steps",
            "look for a bound, a kink or a jump at the solution: it has no such derivative there",
        )
    if not _is_linear_along(f, x, r, scales[0][:, -1] * scales[1][-1], scales[2][-1], _STEP * size):
        refuse_singular(x)
    if far > _NEAR * size:
        again = np.linalg.solve(slope, np.asarray(f(x - step)))
        if not np.max(np.abs(again)) <= 0.1 * far:
            refuse_singular(x)


def allowed(off, size):
    """How far a step of Newton's may go from what a solver found.

    >>> allowed(None, 1.0), allowed(1e-8, 1.0), allowed(1e-15, 1.0), allowed(0.1, 1.0)
    (0.001, 1e-05, 1e-06, 0.001)
    """
    return _FAR * size if off is None else min(_FAR * size, max(_LOOSE * off, _LEAST * size))


def _is_linear_along(f, x, r, moved, direction, step):
    """Whether f moves as its slope says, along a direction or against it, as far as `step`."""
    for h in (step, -step):
        off = np.linalg.norm(np.asarray(f(x + h * direction)) - r - h * moved)
        if off <= 0.5 * abs(h) * np.linalg.norm(moved):
            return True
    return False


def refuse_singular(x):
    refuse(
        f"the Jacobian of the equations is singular at the solution, {_shown(x)}, "
        "which changes at no finite rate",
        "look for a double root, a whole line of solutions or a jump: these have no derivative",
    )


def _shown(x):
    return np.array2string(np.asarray(x), precision=6, threshold=4, edgeitems=2).replace("\n", "")


TABLE.non_differentiable(units, check_solution)


def refuse_failure(name, message):
    """What a solver says that did not converge."""
    refuse(
        f"{name} did not converge, so its result is not a solution: {' '.join(str(message).split())}",
        "start closer to the solution, or allow more steps",
    )


def refuse_given(name, why, **options):
    """Refuse an option that was given, by its name."""
    for word, value in options.items():
        left_out = value is None or (isinstance(value, (bool, int, tuple)) and not value)
        if not left_out:
            refuse(f"scipy's {name} is not differentiated with {word}=: {why}")


TABLE.non_differentiable(refuse_failure, refuse_given)


# -- results -------------------------------------------------------------------------------------------------


def packed(kind, names, values, rest, cause=None):
    """A result of SciPy's: values that vary under these names, and what else the solver says, by name.
    Numbers among it depend on the `cause` as well; their derivatives are refused.
    """
    made = kind.__new__(kind)
    dict.update(made, rest)
    dict.update(made, zip(names, values, strict=True))
    return made


@TABLE.rrule(packed, leading=5)
def packed_rrule(kind, names, values, rest, cause=None):
    def packed_pullback(y_bar):
        for name in rest:
            check_constant(rest[name], part_at(y_bar, name), name)
        return NO, NO, NO, Tangent(tuple, *[part_at(y_bar, name) for name in names]), NO, NO

    return packed(kind, names, values, rest, cause), packed_pullback


@TABLE.frule(packed)
def packed_frule(tangents, kind, names, values, rest, cause=None):
    dots = [NO for name in names] if is_zero(tangents[3]) else tangents[3]
    return packed(kind, names, values, rest, cause), {**unanswered_of(rest), **dict(zip(names, dots))}


def unanswered_of(rest):
    """The tangents of what a solver says besides: none of words and counts, missing of numbers."""
    return {name: missing(name) if _has_slope(value) else NO for name, value in rest.items()}


def _has_slope(value):
    return isinstance(value, (float, complex)) or (
        isinstance(value, np.ndarray | np.inexact) and value.dtype.kind in "fcO"
    )


def missing(name):
    """The derivative of a number that a solver gives besides the solution."""
    return NotImplementedTangent(
        f"what the solver reports about {name} is not differentiated",
        fixes=(f"compute {name} from the solution", "hold it constant: rl.ignore_derivatives"),
    )


TABLE.non_differentiable(unanswered_of, missing)


def check_constant(value, bar, name):
    """Refuse the cotangent of a number that a solver gives besides the solution."""
    if _has_slope(value) and not is_zero(bar) and np.any(dense(value, bar)):
        raise missing(name).error()


def unanswered(value, name, cause):
    """A number or array that a function of SciPy gives besides its result, and that depends on the `cause`:
    its cotangent is refused, its tangent is NaN.
    """
    return np.array(value)[()]


@TABLE.rrule(unanswered, leading=3)
def unanswered_rrule(value, name, cause):
    def unanswered_pullback(y_bar):
        check_constant(value, y_bar, name)
        return NO, NO, NO, NO

    return unanswered(value, name, cause), unanswered_pullback


@TABLE.frule(unanswered)
def unanswered_frule(tangents, value, name, cause):
    y = unanswered(value, name, cause)
    return y, np.nan * y


def attribute_of_result(result, name):
    """An attribute of a result is an entry of it."""
    if name not in result:
        raise AttributeError(name)
    return result[name]


def state_results(table, result):
    """State what attributes of SciPy's class of results are."""
    if result is not None:
        table.stands_in(inspect.getattr_static(result, "__getattr__"))(attribute_of_result)
