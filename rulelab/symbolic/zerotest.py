"""Is an expression identically zero? Decided by exact algebra, then by evaluation in a finite field.

The field test is Gonnet's (1984): choose a safe prime p = 2q + 1, send each (positive) variable to a random
quadratic residue, and let each elementary function be a random map that keeps its functional equations:
roots are unique among the residues, exp turns sums into products, (cos, sin) of an angle is a unit of
F_p[i]. An identity evaluates to zero at every seed; an expression that is not one does so with probability
about degree / p. A function whose equations are not modelled becomes an unknown keyed by the value of its
argument, which can only lose proofs; an integral is a random linear functional of its integrand. Branches of
roots and logarithms are not modelled: a zero counts only beside a 40-digit numerical zero at samples of the
same cell, which the caller has established.

G. H. Gonnet, Determining equivalence of expressions in random polynomial time, STOC 1984,
https://doi.org/10.1145/800057.808698
"""

from __future__ import annotations

import hashlib
import itertools
import math
from fractions import Fraction

import sympy as sp

from .formulas import has_small_powers
from .transcendents import REDUCED, reflected, step_from
from .worker import TooLong, at_most

P = 170141183460469231731687303715883955719  # a safe prime below 2**127 of which 2, 3, 5, 7 are squares
Q = (P - 1) // 2  # also prime: the order of the group of quadratic residues

ROOTS = math.lcm(*range(1, 13))  # angles may be divided by 1..12
INTEGRATION_SECONDS = 2.0
SEEDS_NEEDED = 3
SEEDS_TRIED = 64
FUNCTIONAL_NODES = 6  # of the functional that stands for an integral
SEEDS_WITH_ROOTS = (12, 256)  # needed and tried: a root with the wrong sign passes at every second seed


class NoValue(Exception):
    """This seed gives no value (a root of a non-residue, a division by zero); another one may."""


def is_identically_zero(expr, negative=()):
    """Return `(method, error)` of a proof that `expr` is zero, or None if none was found.

    `negative` are the symbols that are negative in the cell; each is replaced by minus a positive one.
    """
    expr = expr.xreplace({symbol: -symbol for symbol in negative})
    if expr == 0:
        return "SymPy's normal form", "none"
    small = expr.count_ops() < 400 and has_small_powers(expr)
    if small and sp.expand(expr) == 0:
        return "expansion", "none"
    if small and expr.is_rational_function(*expr.free_symbols) and sp.cancel(sp.together(expr)) == 0:
        return "cancellation of rational functions", "none"
    if field_zero(expr) or ((other := reflected(expr)) != expr and field_zero(other)):
        return "identity test in a finite field", "below 1e-100"
    if expr.has(sp.Integral):
        return _once_integrated(expr)
    if small and _by_simplification(expr):
        return "SymPy's simplification", "none"
    return None


def _once_integrated(expr):
    """The same with every integral evaluated by SymPy, on the main branch; None if SymPy cannot evaluate
    one.
    """
    try:
        with at_most(INTEGRATION_SECONDS):
            solved = expr.replace(lambda part: isinstance(part, sp.Integral), _main_branch)
    except (TooLong, Exception):  # SymPy's heuristics may raise almost anything
        return None
    proof = None if solved.has(sp.Integral) else is_identically_zero(solved)
    return proof and ("SymPy's integration", proof[1])


def _main_branch(integral):
    solved = sp.piecewise_fold(integral.doit())
    return solved.args[0].expr if isinstance(solved, sp.Piecewise) else solved


def _by_simplification(expr):
    for step in (sp.trigsimp, sp.simplify):
        try:
            if step(expr) == 0:
                return True
        except Exception:  # a heuristic that fails proves nothing; the next one may succeed
            continue
    return False


def field_zero(expr):
    """Whether `expr` vanishes in the field model for several independent seeds."""
    found, needed, tried = 0, SEEDS_NEEDED, SEEDS_TRIED
    for seed in itertools.count():
        if seed == tried:
            return False
        model = FieldModel(seed)
        try:
            if model.value(expr) != 0:
                return False
        except NoValue:
            continue
        except (RecursionError, NotImplementedError):
            return False
        finally:
            if model.took_root:
                needed, tried = SEEDS_WITH_ROOTS
        found += 1
        if found == needed:
            return True


class FieldModel:
    """One random homomorphism from expressions to the field."""

    def __init__(self, seed):
        self.seed, self.memo = seed, {}
        self.took_root = False

    def random(self, *key):
        """A number of the field that depends only on the seed and `key`."""
        digest = hashlib.blake2b(repr((self.seed, key)).encode(), digest_size=24).digest()
        return int.from_bytes(digest, "big") % P

    def residue(self, *key):
        return pow(self.random(*key), 2, P) or 1

    def value(self, expr):
        if expr not in self.memo:
            self.memo[expr] = self._value(expr)
        return self.memo[expr]

    def _value(self, expr):
        if expr.is_Rational:
            return expr.p * self.inverse(expr.q) % P
        if expr.is_Symbol:
            return self.residue("symbol", expr.name)
        if expr.is_Add:
            return sum(map(self.value, expr.args)) % P
        if expr.is_Mul:
            return math.prod(map(self.value, expr.args)) % P
        if expr is sp.pi:
            return self.residue("pi")
        if expr is sp.E:
            return self.exp(sp.Integer(1))
        if expr in (sp.oo, -sp.oo):  # a limit of an integral
            return self.random("infinity", str(expr))
        if isinstance(expr, sp.Integral):
            return self.integral(expr.function, *expr.limits[0])
        if isinstance(expr, sp.exp):
            return self.exp(expr.args[0])
        if expr.is_Pow:
            return self.power(*expr.as_base_exp())
        return self.function(expr)

    def integral(self, integrand, variable, lower, upper):
        """The integral as a difference of random linear functionals of the integrand, one for each limit; so
        linearity, and joining or reversing intervals, hold.
        """
        total = 0
        for sign, limit in ((1, upper), (-1, lower)):
            for weight, node in self.functional(self.value(limit)):
                at_node = integrand.xreplace({variable: sp.Symbol(f"{variable} = {node}")})
                total += sign * weight * self.value(at_node)
        return total % P

    def functional(self, limit):
        """The weights and nodes of the functional of one limit. With this many nodes, no identity among fewer
        factors holds by chance.
        """
        return [
            (self.random("weight", limit, j), self.residue("symbol", f"node {j} of {limit}"))
            for j in range(FUNCTIONAL_NODES)
        ]

    def inverse(self, number):
        if number % P == 0:
            raise NoValue
        return pow(number, -1, P)

    def power(self, base, exponent):
        if base is sp.E:
            return self.exp(exponent)
        if exponent.is_Rational:
            return self.rational_power(self.value(base), exponent)
        return self.exp(exponent * sp.expand_log(sp.log(base), force=True))

    def rational_power(self, number, exponent):
        if number == 0 and exponent > 0:
            return 0
        if exponent.q == 1:
            return pow(number if exponent > 0 else self.inverse(number), abs(exponent.p), P)
        self.took_root = True
        if pow(number, Q, P) != 1:
            raise NoValue
        return pow(number, exponent.p * pow(exponent.q, -1, Q) % Q, P)

    def exp(self, exponent):
        product = 1
        for coefficient, rest in _linear_terms(sp.expand_log(exponent, force=True)):
            if isinstance(rest, sp.log):
                factor = self.value(rest.args[0])
            elif isinstance(rest, sp.LambertW):
                factor = self.value(rest.args[0] / rest)
            else:
                factor = self.residue("exp", self.value(rest))
            product = product * self.rational_power(factor, coefficient) % P
        return product

    def angle(self, expr):
        """(cos, sin) of `expr`: a product of powers of units, one for each independent part of the angle."""
        cos, sin = 1, 0
        for coefficient, rest in _linear_terms(expr):
            if rest is sp.pi:
                raise NotImplementedError
            c, s = self.part_of_angle(self.value(rest), Fraction(coefficient.p, coefficient.q))
            cos, sin = (cos * c - sin * s) % P, (cos * s + sin * c) % P
        return cos, sin

    def part_of_angle(self, key, coefficient):
        turns = coefficient * ROOTS
        if turns.denominator != 1:
            raise NotImplementedError
        return self.unit(key, int(turns))

    def unit(self, key, times):
        t = self.random("angle", key)
        scale = self.inverse(1 + t * t)
        c, s = (1 - t * t) * scale % P, 2 * t * scale % P
        if times < 0:
            s, times = -s, -times
        cos, sin = 1, 0
        while times:
            if times & 1:
                cos, sin = (cos * c - sin * s) % P, (cos * s + sin * c) % P
            c, s = (c * c - s * s) % P, 2 * c * s % P
            times >>= 1
        return cos, sin

    def function(self, expr):
        argument = expr.args[0] if expr.args else None
        if isinstance(expr, sp.log):
            return self.log(expr)
        if isinstance(expr, (sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc)):
            cos, sin = self.angle(argument)
            return {
                sp.sin: lambda: sin,
                sp.cos: lambda: cos,
                sp.tan: lambda: sin * self.inverse(cos) % P,
                sp.cot: lambda: cos * self.inverse(sin) % P,
                sp.sec: lambda: self.inverse(cos),
                sp.csc: lambda: self.inverse(sin),
            }[expr.func]()
        if isinstance(expr, (sp.sinh, sp.cosh, sp.tanh, sp.coth)):
            return self.value(expr.rewrite(sp.exp))
        if expr.func in REDUCED and (made := self.reduced(expr)) is not None:
            return made
        if isinstance(expr, sp.Function):
            return self.random(expr.func.__name__, *(self.value(a) for a in expr.args))
        raise NotImplementedError

    def reduced(self, expr):
        """The value of a function with an order, reduced to neighbouring orders; None if it cannot be
        reduced.
        """
        constant, rest = expr.args[0].as_coeff_Add()
        step = step_from(expr.func, constant, rest == 0) if constant.is_Rational else None
        return None if step is None else self.value(step(*expr.args))

    def log(self, expr):
        expanded = sp.expand_log(expr, force=True)
        if expanded != expr:
            return self.value(expanded)
        if isinstance(expr.args[0], sp.exp):
            return self.value(expr.args[0].args[0])
        return self.random("log", self.value(expr.args[0]))


def _linear_terms(expr):
    """Yield `expr` as rational coefficients times independent terms."""
    for term in sp.Add.make_args(sp.expand(expr)):
        coefficient, rest = term.as_coeff_Mul()
        if coefficient.is_Rational:
            yield coefficient, rest
        else:
            raise NotImplementedError
