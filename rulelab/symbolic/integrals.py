"""`scipy.integrate.quad` on traced numbers: the integral itself, and its value to more digits than a check
compares.

The integrand is run once, on a number that represents the variable. SymPy and the finite field use the
resulting graph, and a quadrature in mpmath's arithmetic evaluates it at its nodes: Gauss-Legendre on panels
that are halved until nothing changes; tanh-sinh if the limits are infinite or the integrand has a singularity
at an end. A value of unknown accuracy is not used: such a sample is skipped.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
from typing import Any

import numpy as np
import sympy as sp
from mpmath.calculus.quadrature import GaussLegendre, TanhSinh

from .digits import EXACT_DIGITS
from .moved_graphs import DECIDED, operation
from .scalars import CONTEXT, SHADOW_DIGITS, CannotTrace, NoRealValue, infinite_limit
from .work_counter import COUNTER

WANTED_DIGITS = 36  # more than a proof requires of its samples
WELL_KNOWN = 42  # digits that suffice for a difference quotient
LEAST_DIGITS = 32
EXACT = CONTEXT.mpf(10) ** -EXACT_DIGITS
# Multiple of the change of a slope with the quadrature, within which nothing is known about it.
CHANGES = 1000
PANELS = ((4, 1), (5, 1), (5, 2), (5, 4), (5, 8), (5, 16))  # degree and number: 24 or 48 nodes on each
HOPELESS = (
    CONTEXT.mpf(10) ** -12
)  # if two sums with this many panels differ by more, the integrand is not smooth
TANH_SINH = (3, 8)  # the degrees whose sums are compared; the step is 2**-degree
LINE_DEGREES = (3, 7)
FAR = 20_000  # where an exponentially decaying integrand has vanished
NOTHING = CONTEXT.mpf(10) ** -150
NOTE = "scipy.integrate.quad is treated as the exact integral"
_LETTERS = "tsuvw"
_NO_VALUE = (ArithmeticError, ValueError, TypeError, CONTEXT.NoConvergence)
_REFUSED = ("full_output", "weight", "complex_func")


def replacements(trace):
    """Pairs of an integration function of SciPy and its replacement for traced numbers; empty if SciPy's
    integration is not imported.
    """
    quad = getattr(sys.modules.get("scipy.integrate"), "quad", None)
    return () if quad is None else ((quad, _quad_for(trace, inspect.signature(quad))),)


def precompute_nodes():
    """Compute the nodes before a worker is forked, if SciPy's integration is in use."""
    if "scipy.integrate" in sys.modules:
        _gauss_nodes(4), _gauss_nodes(5)
        _warm_sympy()


@functools.cache
def _warm_sympy():
    """Make SymPy load what it needs for Leibniz' rule, once."""
    x, t = sp.symbols("x t")
    slope = sp.diff(sp.Integral(sp.exp(-x * t), (t, 0, x**2)), x)
    sp.latex(slope), sp.sstr(slope), sp.cancel(slope / x)


def _quad_for(trace, signature):
    def quad(*given, **options):
        asked = signature.bind(*given, **options).arguments
        refused = [name for name in _REFUSED if asked.get(name)]
        if refused:
            trace.halt(CannotTrace(f"scipy.integrate.quad with {refused[0]}="))
        args = asked.get("args", ())
        trace.notes[NOTE] = None
        args = args if isinstance(args, tuple) else (args,)
        return integral(trace, asked["func"], asked["a"], asked["b"], args), 0.0

    return quad


def integral(trace, function, a, b, args=()):
    """The traced number for the integral of `function(t, *args)` over t from `a` to `b`."""
    lower, upper = _limit(trace, a), _limit(trace, b)
    with trace.inside_integral(_between(lower.shadow, upper.shadow), _LETTERS) as variable:
        outer_decisions, outer_bound = len(trace.decisions), len(trace.bound)
        value = function(variable, *args)
    value = _only_entry(value)
    integrand = trace.constant(value)
    if integrand is None:
        trace.halt(CannotTrace(f"an integrand that returns {type(value).__name__}", "return a number"))
    rule = _Integrand(integrand, variable, trace.decisions[outer_decisions:], trace.bound[outer_bound:])
    shadow = rule.between(lower.shadow, upper.shadow, {})
    node = trace.node("integral", (integrand, variable, lower, upper), shadow)
    trace.integrands[id(node)] = rule
    return node


def _only_entry(value):
    """The number in an array of one element; anything else unchanged."""
    return value.view(np.ndarray).item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _limit(trace, value):
    value = _only_entry(value)
    if isinstance(value, (float, np.floating)) and np.isinf(value):
        return infinite_limit(trace, value)
    limit = trace.constant(value)
    if limit is None or not CONTEXT.isfinite(limit.shadow):
        trace.halt(CannotTrace(f"a limit of integration of type {type(value).__name__}"))
    return limit


def _between(a, b):
    """A generic number between two limits."""
    if a > b:
        a, b = b, a
    part = CONTEXT.mpf(163) / 379
    if CONTEXT.isfinite(a) and CONTEXT.isfinite(b):
        return a + part * (b - a)
    if CONTEXT.isfinite(a):
        return a + 1 + part
    return b - 1 - part if CONTEXT.isfinite(b) else part


# --- the integrand at the nodes -----------------------------------------------------------------------------


class _Integrand:
    """A graph as a function of one number in it.

    `decisions` are those made while it was traced: they must have the same outcome at every node, or the
    graph would describe only a part of the interval. Nodes that depend on the variables of nested integrals
    (`inner`) are left to those.
    """

    def __init__(self, result, variable, decisions, inner):
        self.trace, self.result, self.variable = variable.trace, result, variable
        inner = {id(v) for v in inner}
        roots = [result, *(side for d in decisions for side in (d.left, d.right))]
        free = _free_variables(roots, {id(v) for v in self.trace.bound})
        self.steps = [
            (id(node), self.computing(node), node.args if node.op != "integral" else node.args[2:])
            for node in free.order
            if id(variable) in free[id(node)] and not free[id(node)] & inner and node is not variable
        ]
        own = {id(variable), *(key for key, _, _ in self.steps)}
        self.decisions = [d for d in decisions if id(d.left) in own or id(d.right) in own]

    def computing(self, node):
        """The function that computes the node's value from those of its operands."""
        if node.op == "integral":
            rule = self.trace.integrands[id(node)]
            return lambda lower, upper: rule.between(lower, upper, self.known)
        return operation(node.op)

    def at(self, number, known):
        """The value at one number; `known` contains the variables of the enclosing integrals."""
        self.known = known = dict(known)
        known[id(self.variable)] = number
        COUNTER.done += 1 + len(self.steps)
        for key, compute, operands in self.steps:
            known[key] = compute(*[known.get(id(a), a.shadow) for a in operands])
        for left, relation, right, outcome in self.decisions:
            here = known.get(id(left), left.shadow), known.get(id(right), right.shadow)
            if relation not in DECIDED or DECIDED[relation](*here) != outcome:
                self.trace.halt(
                    CannotTrace(
                        "a branch on the variable of integration",
                        "split the integral where the branch changes",
                    )
                )
        return known.get(id(self.result), self.result.shadow)

    def between(self, a, b, known):
        """The integral from `a` to `b`; the trace records how many of its digits are known."""
        if a == b:
            return CONTEXT.mpf(0)
        sign, (a, b) = (-1, (b, a)) if a > b else (1, (a, b))

        def f(t):
            return self.at(t, known)

        outermost = not known and not self.trace.depth
        if outermost and self.trace.follows:
            return sign * _sum_with_same_nodes(self.trace.follows.pop(0), f, a, b)
        total, error, sums, number = _quadrature(f, a, b)
        digits = _digits(error)
        if digits < LEAST_DIGITS:
            self.trace.halt(NoRealValue(f"an integral of which only {digits} digits could be computed"))
        self.trace.known_digits = min(self.trace.known_digits, digits)
        if outermost:
            self.trace.quadratures.append((sums, number))
        return sign * total


class _free_variables(dict):
    """For each node under `roots`, by id, the variables of integration that it depends on; `order` has the
    nodes, operands first.
    """

    def __init__(self, roots, bound):
        self.order = []
        stack = list(roots)
        while stack:
            top = stack[-1]
            operands = () if top.op in ("argument", "constant") else top.args
            missing = [a for a in operands if id(a) not in self]
            if id(top) in self or missing:
                stack.extend(missing)
                if not missing:
                    stack.pop()
                continue
            free = frozenset({id(top)} & bound).union(*(self[id(a)] for a in operands))
            if top.op == "integral":
                free = (
                    self[id(top.args[0])] - {id(top.args[1])} | self[id(top.args[2])] | self[id(top.args[3])]
                )
            self[id(top)] = free
            self.order.append(top)
            stack.pop()


# --- quadrature ---------------------------------------------------------------------------------------------


def _quadrature(f, a, b):
    """The integral of `f` from `a` to `b`, a < b; its relative error; and the sum that suffices for
    difference quotients.

    The error is the difference of the last two sums, which is that of the second to last, and more than that
    of the last. It is infinite if no value was found.
    """
    best: tuple[Any, Any, Any, int] = CONTEXT.mpf(0), CONTEXT.inf, None, 0
    wanted, well = CONTEXT.mpf(10) ** -WANTED_DIGITS, CONTEXT.mpf(10) ** -WELL_KNOWN
    for sums in (_gauss_sums, _tanh_sinh_sums, _line_sums):
        before = None
        with contextlib.suppress(*_NO_VALUE):  # at a node
            for number, (total, size) in enumerate(sums(f, a, b)):
                if before is not None:
                    error = abs(total - before) / (abs(total) or size or 1)
                    enough = number - 1 if error <= well else number
                    best = min(best, (total, error, sums, enough), key=lambda found: found[1])
                    if error <= wanted:
                        return best
                before = total
    return best


def _digits(error):
    """The number of known digits if two sums differ by a relative error."""
    if error == 0:
        return SHADOW_DIGITS
    return max(0, int(-CONTEXT.log10(error)) - 2)  # both sums may lack the same small piece at an end


def _sum_with_same_nodes(quadrature, f, a, b):
    """The same sum for a perturbed integrand and limits: with the same nodes its error changes as little as
    these do, so a difference quotient has as many digits as the value.
    """
    sums, number = quadrature
    if sums is _gauss_sums:
        return _over_panels(f, a, b, *PANELS[number])[0]
    return next(itertools.islice(sums(f, a, b), number, None))[0]


def is_vague(quotients, quadratures, expected, found):
    """Whether numbers differ from the slopes by no more than the slopes change with another quadrature: then
    the difference means nothing. `quotients(quadratures=…)` returns the slopes for other sums.
    """
    close = [abs(e - f) <= EXACT * max(abs(e), abs(f)) for e, f in zip(expected, found, strict=True)]
    if all(close) or not all(map(CONTEXT.isfinite, (*expected, *found))):
        return False
    again = quotients(quadratures=_other_sums(quadratures))
    return all(
        near or abs(f - a) <= CHANGES * abs(e - a)
        for near, e, f, a in zip(close, expected, found, again, strict=True)
    )


def _other_sums(quadratures):
    """For each sum by which an integral was computed the next finer one, or else the previous one."""
    counts = {_gauss_sums: len(PANELS), _tanh_sinh_sums: _count(TANH_SINH), _line_sums: _count(LINE_DEGREES)}
    return tuple((sums, n + 1 if n + 1 < counts[sums] else n - 1) for sums, n in quadratures)


def _count(degrees):
    lowest, highest = degrees
    return highest - lowest + 1


def _gauss_sums(f, a, b):
    """Yield sums over more and more panels, with the sums of absolute values, as long as they may
    converge.
    """
    if not (CONTEXT.isfinite(a) and CONTEXT.isfinite(b)):
        return
    before = None
    for degree, panels in PANELS:
        total, size = _over_panels(f, a, b, degree, panels)
        yield total, size
        if before is not None and panels >= 4 and abs(total - before) > HOPELESS * size:
            return
        before = total


def _over_panels(f, a, b, degree, panels):
    half = (b - a) / (2 * panels)
    total, size = CONTEXT.mpf(0), CONTEXT.mpf(0)
    for k in range(panels):
        middle = a + (2 * k + 1) * half
        for x, w in _gauss_nodes(degree):
            term = w * f(middle + x * half)
            total, size = total + term, size + abs(term)
    return total * half, size * half


def _tanh_sinh_sums(f, a, b):
    """Yield sums over more and more nodes that cluster at the limits, each including those of the one
    before.
    """
    if CONTEXT.isfinite(a) and CONTEXT.isfinite(b):
        method = TanhSinh(CONTEXT)
        yield from _refined(
            f, lambda degree: method.transform_nodes(_tanh_sinh_nodes(degree), a, b), TANH_SINH
        )


def _line_sums(f, a, b):
    """The same on a half-line or the line: the nodes move out exponentially, or doubly exponentially if the
    integrand decays like a power only.
    """
    ends = [sign for sign, end in ((-1, a), (1, b)) if not CONTEXT.isfinite(end)]
    if not ends:
        return
    near = 0 if len(ends) == 2 else (b if ends == [-1] else a)
    steep = any(abs(f(near + sign * FAR)) > NOTHING for sign in ends)
    place = _line_nodes if len(ends) == 2 else _half_line_nodes
    side = 1 if len(ends) == 2 else ends[0]
    yield from _refined(
        f, lambda degree: [(near + side * t, w) for t, w in place(degree, steep)], LINE_DEGREES
    )


def _refined(f, nodes_of, degrees):
    total, size = CONTEXT.mpf(0), CONTEXT.mpf(0)
    lowest, highest = degrees
    for degree in range(1, highest + 1):
        for t, w in nodes_of(degree):
            term = w * f(t)
            total, size = total + term, size + abs(term)
        if degree >= lowest:
            yield total * CONTEXT.mpf(2) ** -degree, size * CONTEXT.mpf(2) ** -degree


@functools.cache
def _gauss_nodes(degree):
    return GaussLegendre(CONTEXT).calc_nodes(degree, CONTEXT.prec)


@functools.cache
def _tanh_sinh_nodes(degree):
    with CONTEXT.workdps(
        2 * SHADOW_DIGITS
    ):  # the outermost nodes differ from the limits only in the second half of the digits
        return TanhSinh(CONTEXT).calc_nodes(degree, CONTEXT.prec // 2)


@functools.cache
def _line_nodes(degree, steep):
    def node(u):
        if not steep:
            return CONTEXT.sinh(u), CONTEXT.cosh(u)
        inner = CONTEXT.pi / 2 * CONTEXT.sinh(u)
        return CONTEXT.sinh(inner), CONTEXT.pi / 2 * CONTEXT.cosh(u) * CONTEXT.cosh(inner)

    return [node(u) for u in _steps(degree, *((-6, 6) if steep else (-10, 10)))]


@functools.cache
def _half_line_nodes(degree, steep):
    def node(u):
        if not steep:
            small = CONTEXT.exp(-u)
            t = CONTEXT.exp(u - small)
            return t, t * (1 + small)
        t = CONTEXT.exp(CONTEXT.pi / 2 * CONTEXT.sinh(u))
        return t, CONTEXT.pi / 2 * CONTEXT.cosh(u) * t

    return [node(u) for u in _steps(degree, -6, 6 if steep else 10)]


def _steps(degree, low, high):
    """Multiples of 2**-degree that do not occur at a lower degree."""
    parts = 2**degree
    numbers = range(low * parts, high * parts + 1) if degree == 1 else range(low * parts + 1, high * parts, 2)
    return [CONTEXT.mpf(k) / parts for k in numbers]
