"""Derivatives of a traced graph in a finite field: the identity test of `zerotest` without any expression.

A graph is evaluated at random numbers of the field, its derivatives by one reverse sweep, and both are
compared with what the rule gives. The cost is that of a few floating-point runs, so arrays of a dozen entries
are no problem, whereas SymPy would differentiate for minutes. The derivatives come from the table below; an
error in it cannot prove a wrong rule, because the caller has compared the rule with difference quotients to
30 digits at samples of the same cell.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from .formulas import constant_expression, graph_of
from .scalars import Constant
from .transcendents import IN_SYMPY, REDUCED, slopes_of, step_from, written_out
from .zerotest import ROOTS, SEEDS_NEEDED, SEEDS_TRIED, FieldModel, NoValue, P, Q

ERROR = "below 1e-100"
METHOD = "identity test in a finite field"


def is_identity(leaves, seeds, y, found, rule_y):
    """Whether the cotangents `found` are those of `y` for `leaves`, and `rule_y` is `y`: True, or None for
    "not shown".
    """
    parts = [(leaves, seeds, y, found, rule_y)]
    if seeds is not None:
        parts = _independent(leaves, seeds, y, found, rule_y)
    return True if all(_is_identity(*part) for part in parts) else None


def _independent(leaves, seeds, y, found, rule_y):
    """Split the question into parts that share no argument: entries of an elementwise function, for
    instance.
    """
    masks: dict[int, int] = {}
    bits: dict[str, int] = {}

    def mask(node):
        for part in _in_order(node, masks):
            if part.op == "argument":
                masks[id(part)] = bits.setdefault(part.args, 1 << len(bits))
            else:
                below = () if part.op == "constant" else part.args
                # The inside of an integral is not traversed.
                known = mask if part.op == "integral" else lambda a: masks[id(a)]
                masks[id(part)] = functools.reduce(operator.or_, map(known, below), 0)
        return masks[id(node)]

    results = [mask(s) | mask(a) | mask(b) for s, a, b in zip(seeds, y, rule_y, strict=True)]
    cotangents = [mask(leaf) | mask(f) for leaf, f in zip(leaves, found, strict=True)]
    groups: list[int] = []
    for new in (*results, *cotangents):
        apart = [g for g in groups if not g & new]
        groups = [*apart, functools.reduce(operator.or_, (g for g in groups if g & new), new)]
    for group in groups:
        own = [i for i, m in enumerate(results) if m & group]
        theirs = [i for i, m in enumerate(cotangents) if m & group]
        yield (
            [leaves[i] for i in theirs],
            [seeds[i] for i in own],
            [y[i] for i in own],
            [found[i] for i in theirs],
            [rule_y[i] for i in own],
        )


def _is_identity(leaves, seeds, y, found, rule_y):
    for wide in (False, True):
        shown = _shown(wide, leaves, seeds, y, found, rule_y)
        if shown is not _NO_VALUES:
            return shown
    return None


def is_identically_equal(left, right):
    """Whether two traced numbers are identically equal."""
    return is_identity((), None, (left,), (), (right,)) is True


_NO_VALUES = object()
SEEDS_FOR_ROOTS = 2000  # one complex number in eight has a root


class _NoRoot(NoValue):
    """This seed gives a complex number without the required root."""


def _shown(wide, leaves, seeds, y, found, rule_y):
    """Test in the field itself, or in the wide one if the roots have no values in it."""
    passed, tries = 0, SEEDS_TRIED
    for number in itertools.count():
        if number == tries:
            return _NO_VALUES
        try:
            field = _Field(number, wide)
            if any(field.value(a) != field.value(b) for a, b in zip(y, rule_y, strict=True)):
                return None
            given = [field.value(f) for f in found]  # before the derivatives, since it may have no value here
            if seeds is not None and field.cotangents(leaves, seeds, y) != given:
                return None
        except _NoRoot:
            tries = SEEDS_FOR_ROOTS
            continue
        except NoValue:
            continue
        except (NotImplementedError, RecursionError):
            return None
        passed += 1
        if passed == SEEDS_NEEDED:
            return True


class _Pair:
    """A number a + b*i of the wider field F_p[i], in which every number of the field has a square root."""

    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a % P, b % P

    def __mod__(self, p):
        return self if self.b else self.a

    def __add__(self, other):
        other = _pair(other)
        return _Pair(self.a + other.a, self.b + other.b)

    def __neg__(self):
        return _Pair(-self.a, -self.b)

    def __sub__(self, other):
        return self + -_pair(other)

    def __rsub__(self, other):
        return _pair(other) + -self

    def __mul__(self, other):
        other = _pair(other)
        return _Pair(self.a * other.a - self.b * other.b, self.a * other.b + self.b * other.a)

    __radd__, __rmul__ = __add__, __mul__

    def inverse(self):
        scale = pow(self.a * self.a + self.b * self.b, -1, P)
        return _Pair(self.a * scale, -self.b * scale)

    def __eq__(self, other):
        other = _pair(other)
        return (self.a, self.b) == (other.a, other.b)

    def __hash__(self):
        return hash((self.a, self.b))

    def __repr__(self):  # part of the key of a function's value
        return f"{self.a}+{self.b}i"


def _pair(number):
    return number if isinstance(number, _Pair) else _Pair(number, 0)


def _power(number, times):
    """A power of a number of the wider field with a non-negative integer exponent."""
    a, b, c, d = 1, 0, number.a, number.b
    while times:
        if times & 1:
            a, b = (a * c - b * d) % P, (a * d + b * c) % P
        c, d = (c + d) * (c - d) % P, 2 * c * d % P
        times >>= 1
    return _Pair(a, b)


@functools.cache
def _orders(denominator):
    """(order, rest) of the two groups whose product is the group of numbers of norm one: in the first, roots
    of this degree are unique; the second is small.
    """
    order = _without_factors_of(P + 1, denominator)
    return order, (P + 1) // order


@functools.cache
def _small_logarithms(order, rest):
    """(generator, {number: exponent}) of the small group."""
    for n in itertools.count(2):
        unit = _Pair(1, n) * _Pair(1, -n).inverse()  # of norm one
        generator = _power(unit, order)
        powers = [_Pair(1, 0)]
        while len(powers) < rest:
            powers.append(powers[-1] * generator)
        if len({(p.a, p.b) for p in powers}) == rest:
            return generator, {(p.a, p.b): e for e, p in enumerate(powers)}


def _fraction_of_turn(unit, times):
    """A power of a number of norm one with a fractional exponent.

    In the small group the root with the smallest exponent is taken, and none if that is large: then the root
    of a product is the product of the roots, since their exponents cannot wrap around.
    """
    order, rest = _orders(times.denominator)
    generator, logarithms = _small_logarithms(order, rest)
    small = _power(unit, order * pow(order, -1, rest) % (P + 1))
    exponent = logarithms[small.a, small.b]
    if exponent % times.denominator or 2 * exponent >= rest:
        raise _NoRoot
    unique = _power(unit, rest * pow(rest, -1, order) % (P + 1))
    share = times.numerator * pow(times.denominator, -1, order) % order
    chosen = _power(generator, exponent // times.denominator * times.numerator % rest)
    return _power(unique, share) * chosen


def _without_factors_of(number, denominator):
    while (common := math.gcd(number, denominator)) > 1:
        number //= common
    return number


_POWER_WITH_ROOTS = (P * P - 1) // _without_factors_of(P * P - 1, ROOTS)


def _with_roots(signs, random):
    """(a, b) such that a + ib has an order coprime to 2, 3, 5, …, and both are squares times their signs;
    `random(n)` gives the n-th candidate.
    """
    for n in itertools.count():
        number = _power(_Pair(*random(n)), _POWER_WITH_ROOTS)
        parts = number.a, number.b
        if all(pow(part * sign, Q, P) == 1 for part, sign in zip(parts, signs, strict=True)):
            return parts


class _WideModel(FieldModel):
    """The model with imaginary roots."""

    def inverse(self, number):
        return number.inverse() % P if isinstance(number, _Pair) else super().inverse(number)

    def rational_power(self, number, exponent):
        if isinstance(number, _Pair):
            if exponent.q != 1:
                raise NoValue
            power = _pair(1)
            for _ in range(min(abs(exponent.p), 64)):
                power = power * number
            if abs(exponent.p) > 64:
                raise NoValue
            return (power if exponent > 0 else power.inverse()) % P
        if exponent.q == 2 and number and pow(number, Q, P) != 1:
            root = _Pair(0, super().rational_power(-number % P, sp.Rational(1, 2)))
            return self.rational_power(root, sp.Integer(exponent.p))
        return super().rational_power(number, exponent)


class _Field:
    """A random homomorphism from traced graphs to the field."""

    def __init__(self, seed, wide=False):
        self.model = _WideModel(seed) if wide else FieldModel(seed)
        self.values = {}
        self.sums = {}
        self.bound = {}  # the values of the variables of the enclosing integrals, by id
        self.complex_arguments: dict[str, tuple] = {}
        self.turns: dict[tuple, tuple] = {}
        self.kept: list[Any] = []

    def at(self, variable, value):
        """The same homomorphism with a value for the variable of an integral."""
        inside = _Field.__new__(_Field)
        inside.model, inside.sums = self.model, {}
        inside.bound = {**self.bound, id(variable): value}
        inside.values = dict(inside.bound)
        inside.complex_arguments, inside.turns = self.complex_arguments, self.turns
        inside.kept = []
        return inside

    # --- values ---

    def value(self, node):
        for part in _in_order(node, self.values):
            self.values[id(part)] = self._value(part) % P
        return self.values[id(node)]

    def _value(self, node):
        op, args = node.op, node.args
        if op == "argument" and args.endswith((".real", ".imag")):
            return self.part_of_complex(node, *args.rsplit(".", 1))
        if op == "argument":
            return self.model.residue("symbol", args) * (-1 if node.shadow < 0 else 1)
        if op == "constant":
            return self.model.value(constant_expression(node))
        if op in _ARITHMETIC:
            return _ARITHMETIC[op](self.model, *(self.values[id(a)] for a in args))
        if op == "pow":
            return self.power(*args)
        if op == "integral":
            return sum(
                weight * inside.value(args[0]) for weight, inside in self.inside(args[1], *args[2:])
            )
        if op == "sqrt":
            return self.root(self.values[id(args[0])])
        if op == "exp":
            return self.exp(self.sum_of(args[0]))
        if op == "log":
            return self.log(args[0])
        if op in ("sin", "cos", "tan"):
            cos, sin = self.angle(args[0])
            return {"sin": sin, "cos": cos}[op] if op != "tan" else sin * self.model.inverse(cos)
        if op in ("sinh", "cosh", "tanh"):
            return self.hyperbolic(op, args[0])
        if (kind := _KINDS.get(op)) in REDUCED:
            step = step_from(kind, *self.constant_part(args[0]))
            if step is not None:
                symbols, neighbours = written_out(step, len(args))
                return self.written(symbols, neighbours, args)
        return self.model.random(op, *(self.values[id(a)] for a in args))

    def constant_part(self, node):
        """(the rational constant among the terms of a node, whether that is the whole node)."""
        terms = self.sum_of(node)
        constant, _ = terms.get(("one",), (Fraction(0), None))
        return constant, len(terms) == bool(constant)

    def written(self, symbols, expr, nodes):
        """The value of an expression with nodes of a graph for its symbols, so that its angles and exponents
        get the same keys as those of the rule.
        """
        made = graph_of(expr, nodes[0].trace, dict(zip(symbols, nodes, strict=True)))
        self.kept.append(made)  # `values` is keyed by ids, so these nodes must stay alive
        return self.value(made)

    def inside(self, variable, lower, upper):
        """Yield the functional that represents an integral: weights, and this field at the nodes."""
        for sign, limit in ((1, upper), (-1, lower)):
            for weight, node in self.model.functional(self.value(limit)):
                yield sign * weight, self.at(variable, node)

    def part_of_complex(self, node, name, part):
        """The real or imaginary part of a complex argument, chosen so that all its roots exist."""
        parts = ("real", "imag")
        if name not in self.complex_arguments:
            signs = [-1 if node.trace.arguments[f"{name}.{p}"].shadow < 0 else 1 for p in parts]
            self.complex_arguments[name] = _with_roots(
                signs, lambda n: [self.model.random(n, p, name) for p in parts]
            )
        return self.complex_arguments[name][parts.index(part)]

    def root(self, number, times=1):
        return self.model.rational_power(number, sp.Rational(times, 2))

    def hyperbolic(self, op, node):
        up = self.exp(self.sum_of(node))
        down, half = self.model.inverse(up), self.model.inverse(2)
        if op == "tanh":
            return (up - down) * self.model.inverse(up + down)
        return (up - down if op == "sinh" else up + down) * half

    def power(self, base, exponent):
        rational = _rational(exponent)
        if rational is not None:
            return self.model.rational_power(
                self.values[id(base)], sp.Rational(rational.numerator, rational.denominator)
            )
        return self.exp(self.times_log(self.sum_of(exponent), base))

    def log(self, node):
        """The logarithm; that of products and powers is computed from those of their factors."""
        total = 0
        for times, part in _factors(node):
            if part.op == "exp":
                logarithm = self.value(part.args[0])
            elif _rational(part) == 1:
                logarithm = 0
            else:
                logarithm = self.model.random("log", self.value(part))
            total += times.numerator * self.model.inverse(times.denominator) * logarithm
        return total

    # --- additive arguments: exponents and angles ---

    def sum_of(self, node):
        """A node as a sum of rational multiples of atoms, `{key: (coefficient, base)}`; exp of an atom with a
        `base` is that number of the field, such as a product for a sum of logarithms.
        """
        if id(node) not in self.sums:
            for part in _in_order(node, self.sums):
                self.sums[id(part)] = self._sum_of(part)
        return self.sums[id(node)]

    def _sum_of(self, node):
        self.value(node)
        op, args = node.op, node.args
        if op in ("add", "sub"):
            return _joined(self.sums[id(args[0])], self.sums[id(args[1])], 1 if op == "add" else -1)
        if op == "neg":
            return _scaled(self.sums[id(args[0])], Fraction(-1))
        if op == "mul":
            for factor, other in (args, args[::-1]):
                if (rational := _rational(factor)) is not None:
                    return _scaled(self.sums[id(other)], rational)
                if factor.op == "atan2":
                    return self.times_angle(self.sums[id(other)], factor)
                if factor.op == "log":
                    return self.times_log(self.sums[id(other)], factor.args[0])
                if (whole := _LOGARITHMS.get(_name(factor))) is not None:
                    return _scaled(self.times_number(self.sums[id(other)], whole), factor.args.factor)
        if op == "div" and (rational := _rational(args[1])):
            return _scaled(self.sums[id(args[0])], 1 / rational)
        if op == "log":
            return self.times_log({("one",): (Fraction(1), None)}, args[0])
        if op == "atan2":
            return {("atan2", *(self.values[id(a)] for a in args)): (Fraction(1), None)}
        if op in _EXP_OF:
            return {
                (op, self.values[id(args[0])]): (Fraction(1), _EXP_OF[op](self, self.values[id(args[0])]))
            }
        if (rational := _rational(node)) is not None:
            return {("one",): (rational, None)} if rational else {}
        return self.atom(self.values[id(node)], _content(node))

    def atom(self, value, content):
        """A value as a rational multiple of its remaining factor, so that x*x/2 and (x/sqrt(2))**2 have the
        same atom.
        """
        rest = value * content.denominator * self.model.inverse(content.numerator % P) % P
        return {("atom", rest): (content, None)}

    def times_log(self, terms, base):
        """A sum times the logarithm of `base`; exp undoes the logarithm itself."""
        total: dict[tuple, tuple] = {}
        for times, part in _factors(base):
            total = _joined(total, _scaled(self.times_number(terms, self.value(part)), times), 1)
        return total

    def times_angle(self, terms, node):
        """A sum times an angle."""
        total: dict[tuple, tuple] = {}
        for key, (coefficient, _) in terms.items():
            if key == ("one",):
                term = {("atan2", *(self.values[id(a)] for a in node.args)): (coefficient, None)}
            else:
                term = {("atom", self._atom(key) * self.values[id(node)] % P): (coefficient, None)}
            total = _joined(total, term, 1)
        return total

    def times_number(self, terms, number):
        """A sum times the logarithm of a number of the field."""
        total: dict[tuple, tuple] = {}
        for key, (coefficient, _) in terms.items() if number != 1 else ():
            if key == ("one",):
                term = {("log", number): (coefficient, number)}
            else:
                term = {("atom", self._atom(key) * self.model.random("log", number) % P): (coefficient, None)}
            total = _joined(total, term, 1)
        return total

    def _atom(self, key):
        """The value of an atom, from its key."""
        if key[0] == "atom":
            return key[1]
        if key[0] == "log":
            return self.model.random("log", key[1])
        if key[0] == "atan2":
            return self.model.random(*key)
        raise NotImplementedError

    def exp(self, terms):
        product = 1
        for key, (coefficient, base) in terms.items():
            factor = self.model.residue("exp", key) if base is None else base
            product = (
                product
                * self.model.rational_power(
                    factor, sp.Rational(coefficient.numerator, coefficient.denominator)
                )
                % P
            )
        return product

    def angle(self, node):
        cos, sin = 1, 0
        for key, (coefficient, _) in self.sum_of(node).items():
            if key[0] == "atan2":
                if (key, coefficient) not in self.turns:
                    self.turns[key, coefficient] = self.turned(key[1], key[2], coefficient)
                c, s = self.turns[key, coefficient]
            else:
                c, s = self.model.part_of_angle(key, coefficient)
            cos, sin = (cos * c - sin * s) % P, (cos * s + sin * c) % P
        return cos, sin

    def turned(self, y, x, times):
        """(cos, sin) of a multiple of the angle of x + i y: a power of the corresponding number of norm
        one.
        """
        if isinstance(x, _Pair) or isinstance(y, _Pair):
            raise NoValue
        scale = self.model.inverse(self.model.rational_power((x * x + y * y) % P, sp.Rational(1, 2)))
        if isinstance(scale, _Pair):
            raise NoValue
        unit = _Pair(x * scale, y * scale)
        if times < 0:
            unit, times = _Pair(x * scale, -y * scale), -times
        if times.denominator == 1:
            turned = _power(unit, times.numerator)
        else:
            turned = _fraction_of_turn(unit, times)
        return turned.a, turned.b

    # --- derivatives ---

    def cotangents(self, leaves, seeds, y):
        """The derivatives of the sum of seeds times results with respect to each leaf, by one reverse
        sweep.
        """
        bars = self.swept([(result, self.value(seed)) for seed, result in zip(seeds, y, strict=True)])
        return [bars.get(id(leaf), 0) % P for leaf in leaves]

    def swept(self, seeded):
        """Cotangents by id of all nodes in the graphs of `seeded`, which are pairs of a result and its
        cotangent.
        """
        order, bars = [], dict[int, Any]()
        done: dict[int, int] = {}
        for result, seed in seeded:
            self.value(result)
            for part in _in_order(result, done):
                done[id(part)] = 1
                order.append(part)
            bars[id(result)] = bars.get(id(result), 0) + seed
        for node in reversed(order):
            bar = bars.get(id(node), 0) % P
            if not bar or node.op in ("argument", "constant"):
                continue
            sweep = self.by_leibniz(node, bar) if node.op == "integral" else self.by_slopes(node, bar)
            for key, part in sweep:
                bars[key] = bars.get(key, 0) + part
        return bars

    def by_slopes(self, node, bar):
        for argument, slope in zip(node.args, self.slopes(node), strict=True):
            yield id(argument), bar * slope

    def by_leibniz(self, node, bar):
        """Yield the integrand at the limits, and the integral of its derivative with respect to everything
        else in it.
        """
        integrand, variable, *limits = node.args
        for sign, limit in zip((-1, 1), limits, strict=True):
            if not limit.is_constant:
                yield id(limit), sign * bar * self.at(variable, self.value(limit)).value(integrand)
        for weight, inside in self.inside(variable, *limits):
            bars = inside.swept([(integrand, bar * weight)])
            for leaf in _leaves(integrand):
                if id(leaf) in bars:
                    yield id(leaf), bars[id(leaf)]

    def slopes(self, node):
        args = [self.values[id(a)] for a in node.args]
        if node.op == "pow":
            return self.power_slopes(node, *args)
        if node.op in ("sin", "cos"):
            cos, sin = self.angle(node.args[0])
            return (cos if node.op == "sin" else -sin,)
        if node.op in ("sinh", "cosh"):
            return (self.hyperbolic("cosh" if node.op == "sinh" else "sinh", node.args[0]),)
        if node.op in ("erf", "erfc"):
            sign = 1 if node.op == "erf" else -1
            return (sign * 2 * self.model.value(1 / sp.sqrt(sp.pi)) * self.gauss(node.args[0]),)
        if node.op == "erfinv":
            return (self.model.value(sp.sqrt(sp.pi) / 2) * self.model.inverse(self.gauss(node)),)
        if node.op in IN_SYMPY:
            return self.special_slopes(node, *args)
        try:
            return _SLOPES[node.op](self, self.values[id(node)], *args)
        except KeyError:
            raise NotImplementedError(node.op) from None

    def special_slopes(self, node, *args):
        """The derivatives by SymPy; a random number of the field for one without a closed form."""
        symbols, slopes = slopes_of(IN_SYMPY[node.op], len(args))
        for i, (argument, slope) in enumerate(zip(node.args, slopes, strict=True)):
            if argument.is_constant:
                yield 0
            elif slope is None:
                yield self.model.random("slope", i, node.op, *args)
            else:
                yield self.written(symbols, slope, node.args)

    def power_slopes(self, node, base, exponent):
        inverse = self.model.inverse
        value = self.values[id(node)]
        if node.args[1].is_constant:
            return (0 if value == 0 and exponent != 1 else exponent * value * inverse(base) if base else 1), 0
        return exponent * value * inverse(base), value * self.log(node.args[0])

    def gauss(self, node):
        """exp(-x**2) for the value x of a node, with the key that its graph would have."""
        x = self.values[id(node)]
        return self.exp(_scaled(self.atom(x * x % P, _content(node, 2)), Fraction(-1)))


_ARITHMETIC: dict[str, Callable] = {
    "add": lambda m, a, b: a + b,
    "sub": lambda m, a, b: a - b,
    "mul": lambda m, a, b: a * b,
    "div": lambda m, a, b: a * m.inverse(b),
    "neg": lambda m, a: -a,
}

_LOGARITHMS = {"log(2)": 2, "log(10)": 10}

# Functions that are logarithms of algebraic ones: their exponentials.
_EXP_OF: dict[str, Callable] = {
    "asinh": lambda f, x: (x + f.root(x * x + 1)) % P,
    "acosh": lambda f, x: (x + f.root(x * x - 1)) % P,
    "atanh": lambda f, x: f.root((1 + x) * f.model.inverse(1 - x) % P),
    "LambertW": lambda f, x: x * f.model.inverse(f.model.random("LambertW", x)) % P,
}
_KINDS = {**IN_SYMPY, "gamma": sp.gamma}

_SLOPES: dict[str, Callable] = {
    "add": lambda f, v, a, b: (1, 1),
    "sub": lambda f, v, a, b: (1, -1),
    "mul": lambda f, v, a, b: (b, a),
    "div": lambda f, v, a, b: (f.model.inverse(b), -v * f.model.inverse(b)),
    "neg": lambda f, v, a: (-1,),
    "sqrt": lambda f, v, x: (f.model.inverse(2 * v),),
    "exp": lambda f, v, x: (v,),
    "log": lambda f, v, x: (f.model.inverse(x),),
    "tan": lambda f, v, x: (1 + v * v,),
    "tanh": lambda f, v, x: (1 - v * v,),
    "asin": lambda f, v, x: (f.root(1 - x * x, -1),),
    "acos": lambda f, v, x: (-f.root(1 - x * x, -1),),
    "atan": lambda f, v, x: (f.model.inverse(1 + x * x),),
    "asinh": lambda f, v, x: (f.root(1 + x * x, -1),),
    "acosh": lambda f, v, x: (f.root(x * x - 1, -1),),
    "atanh": lambda f, v, x: (f.model.inverse(1 - x * x),),
    "atan2": lambda f, v, y, x: (x * f.model.inverse(x * x + y * y), -y * f.model.inverse(x * x + y * y)),
    "gamma": lambda f, v, x: (v * f.model.random("digamma", x),),
    "loggamma": lambda f, v, x: (f.model.random("digamma", x),),
    "digamma": lambda f, v, x: (f.model.random("trigamma", x),),
}


def _rational(node):
    if node.op == "constant" and node.args is not None and node.args.name is None:
        return node.args.factor
    return None


def _name(node):
    """The name of an irrational constant, else None."""
    return node.args.name if node.op == "constant" and node.args is not None else None


def _factors(node):
    """Yield (times, part) for the factors of a product, quotient, power or root."""
    stack = [(Fraction(1), node)]
    while stack:
        times, top = stack.pop()
        if top.op == "mul":
            stack += [(times, a) for a in top.args]
        elif top.op == "div":
            stack += [(times, top.args[0]), (-times, top.args[1])]
        elif top.op == "sqrt":
            stack.append((times / 2, top.args[0]))
        elif top.op == "pow" and _rational(top.args[1]) is not None:
            stack.append((times * _rational(top.args[1]), top.args[0]))
        else:
            yield times, top


_ONE, _MINUS = Constant(Fraction(1)), Constant(Fraction(-1))
_ROOTS = {"sqrt(2)": 2, "sqrt(3)": 3}
MAX_FACTORS = 100


def _content(node, power=1):
    """The rational factor of a product, quotient or power, raised to `power`; 1 if it has none."""
    content = Fraction(1)
    factors = list(itertools.islice(_signed_factors(node, Fraction(power)), MAX_FACTORS))
    for times, constant in factors if len(factors) < MAX_FACTORS else ():
        root = times / 2 if constant.name in _ROOTS else Fraction(0)
        if times.denominator == 1 and root.denominator == 1 and (constant.name is None or root):
            content *= constant.factor ** int(times) * Fraction(_ROOTS.get(constant.name, 1)) ** int(root)
    return content or Fraction(1)


def _signed_factors(node, power):
    """Yield (times, constant) for the constants and signs in a product."""
    stack = [(power, node)]
    while stack:
        power, top = stack.pop()
        for times, part in _factors(top):
            if part.op == "constant" and part.args is not None:
                yield power * times, part.args
            elif part.op == "neg" and (power * times).denominator == 1:
                yield power * times, _MINUS
                stack.append((power * times, part.args[0]))
            else:
                yield power * times, _ONE


def _scaled(terms, factor):
    return {key: (coefficient * factor, base) for key, (coefficient, base) in terms.items()} if factor else {}


def _joined(a, b, sign):
    total = dict(a)
    for key, (coefficient, base) in b.items():
        coefficient = sign * coefficient + total.get(key, (0,))[0]
        if coefficient:
            total[key] = (coefficient, base)
        else:
            total.pop(key, None)
    return total


def _in_order(node, done):
    """Yield the nodes of a graph that are not in `done` yet, operands first; the caller adds each to it."""
    stack = [node]
    while stack:
        top = stack[-1]
        if id(top) in done:
            stack.pop()
            continue
        # The inside of an integral has other values.
        operands = top.args[2:] if top.op == "integral" else top.args
        missing = () if top.op in ("argument", "constant") else [a for a in operands if id(a) not in done]
        if missing:
            stack.extend(missing)
        else:
            yield top
            stack.pop()


def _leaves(node):
    """Yield the arguments in a graph, including the variables of its integrals."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        top = stack.pop()
        if id(top) in seen:
            continue
        seen.add(id(top))
        if top.op == "argument":
            yield top
        elif top.op != "constant":
            stack.extend(top.args)
