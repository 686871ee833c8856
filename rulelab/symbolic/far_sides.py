"""Samples on the side of a decision that no sample has reached: `Re + 1200 < 2300` has the same outcome for
all numbers of the usual magnitudes, but a proof should cover both sides.
"""

from __future__ import annotations

import functools
from fractions import Fraction

import sympy as sp

from .cells import ComplexNumber, Static, with_moved
from .formulas import TooLarge, expression, size
from .moved_graphs import Difference
from .scalars import CONTEXT, Decision, quotient

_INEQUALITIES = frozenset(("<", "<=", ">", ">="))
MOST_DECISIONS = 12
"""The most decisions that are examined, of one visit and in total."""
MOST_OPERATIONS = 30
"""The most operations in both sides of a decision together."""
MOST_MOVED = 2
"""The most arguments of one decision that are moved, one at a time."""
HALVINGS = 12
"""Bisections between a number on one side and one on the other."""
CLOSEST = 40
"""The same for the search for samples close to a narrow guard."""
_SIZES = [Fraction(10) ** power * times for power in range(-2, 6) for times in (1, 3)]
NUMBERS = sorted({sign * number for number in _SIZES for sign in (1, -1)}, key=abs)


def far_sides(names, visits, tried):
    """Yield samples on the other side of each decision of which the visits have seen only one side: one far
    from the border and one close to it, each with one number moved, if such are found. For a decision on an
    expression of several arguments, do so from either side that was seen. Decisions in `tried` are skipped;
    the others are added to it, since there may be further ones on the other side.
    """
    places = {name: i for i, name in enumerate(names)}
    sides: dict[sp.Expr, dict[bool, tuple]] = {}
    decided: dict[sp.Expr, Decision] = {}
    close_by: set[sp.Expr] = set()  # decisions on one argument and a number, which `beside_borders` covers
    for visit in visits:
        for decision in visit.trace.decisions[:MOST_DECISIONS]:
            form = _difference(decision)
            if form is not None and len(sides) <= MOST_DECISIONS:
                is_positive = decision.left.shadow > decision.right.shadow
                sides.setdefault(form, {}).setdefault(is_positive, visit.sample)
                decided.setdefault(form, decision)
                if "argument" in (decision.left.op, decision.right.op):
                    close_by.add(form)
    for form, seen in sides.items():
        # If both sides of an expression were seen, the samples may lie far from the border on either: a rule
        # with another threshold is right at these.
        is_met = len(seen) == 2 and form not in close_by
        if form not in tried and (len(seen) == 1 or is_met):
            tried.add(form)
            for is_positive, sample in seen.items():
                yield from _beyond(form, decided[form], is_positive, sample, places)


def closest_beyond(decision, sample, names):
    """Yield samples on the other side of a decision, as close to it as bisection gets, with one number moved;
    each with the distance of the move.
    """
    form = _difference(decision)
    if form is None:
        return
    places = {name: i for i, name in enumerate(names)}
    is_positive = decision.left.shadow > decision.right.shadow
    for moved, (here, _, close) in _crossings(form, decision, is_positive, sample, places, CLOSEST):
        yield moved(close), abs(close - here)


def _difference(decision):
    """The difference of the two sides of a decision; None if it is too large or not an inequality."""
    left, relation, right, _ = decision
    is_large = size(left) + size(right) > MOST_OPERATIONS
    if relation not in _INEQUALITIES or is_large or left.shadow == right.shadow:
        return None
    memo: dict[int, sp.Expr] = {}
    try:
        form = expression(left, {}, memo) - expression(right, {}, memo)
    except (TooLarge, KeyError, TypeError, ValueError):
        return None
    return form if form.free_symbols else None


def value_at(form, sample, names):
    """The value of an expression of the arguments at a sample; None if it is not a number."""
    places = {name: i for i, name in enumerate(names)}
    values = {symbol: _value(symbol.name, sample, places) for symbol in form.free_symbols}
    value = None if None in values.values() else form.subs(values).evalf(15)
    return value if value is not None and value.is_number else None


def _beyond(form, decision, is_positive, sample, places):
    for moved, (_, far, close) in _crossings(form, decision, is_positive, sample, places, HALVINGS):
        yield moved(far)
        yield moved(close)


def _crossings(form, decision, is_positive, sample, places, halvings):
    """For the first number that can be moved to the other side of a decision: a function that returns the
    sample with this number replaced, and (its value, a value far on the other side, a value there close to
    the border). Both signs of the number are tried, since there may be a pole in between.
    """
    values = {symbol: _value(symbol.name, sample, places) for symbol in form.free_symbols}
    if None in values.values():
        return
    sign_at = _signs(form, decision, values)
    for symbol in sorted(values, key=str)[:MOST_MOVED]:

        def is_beyond(number, symbol=symbol):
            return sign_at(symbol, number) == (-1 if is_positive else 1)

        start = Fraction(values[symbol].p, values[symbol].q)
        place = places[symbol.name.partition("[")[0]]
        found = (next((n for n in NUMBERS if n * sign > 0 and is_beyond(n)), None) for sign in (1, -1))
        sides = sorted((far for far in found if far is not None), key=lambda far: far * start < 0)
        for far in sides:
            here, there = start, far
            for _ in range(halvings):
                middle = (here + there) / 2
                here, there = (here, middle) if is_beyond(middle) else (middle, there)
            yield functools.partial(with_moved, sample, place, symbol.name), (start, far, there)
        if sides:
            return


def _signs(form, decision, values):
    """Return a function of a symbol and a number: the sign of the difference of the two sides with the symbol
    set to the number; 0 if the difference is zero or not a real number. Uses the graph, or SymPy if its
    functions are slow.
    """
    difference = Difference(decision)
    if difference.is_at_once:
        usual = {symbol.name: quotient(Fraction(v.p, v.q), CONTEXT.prec) for symbol, v in values.items()}
        for node in difference.nodes:  # arguments that cancel in the formula may have any value
            if node.op == "argument":
                usual.setdefault(node.args, node.shadow)
        return lambda symbol, number: difference.sign({**usual, symbol.name: quotient(number, CONTEXT.prec)})

    @functools.cache
    def of_one(symbol):
        return form.subs({other: number for other, number in values.items() if other is not symbol})

    def sign_at(symbol, number):
        try:
            value = of_one(symbol).subs(symbol, sp.Rational(number.numerator, number.denominator)).evalf(15)
        except (ArithmeticError, TypeError, ValueError):
            return 0
        if not (value.is_number and value.is_real is True and value != 0):
            return 0
        return 1 if value > 0 else -1

    return sign_at


def _value(name, sample, places):
    """The number of a sample with this name, as a SymPy number; None if it cannot be moved."""
    i = places.get(name.partition("[")[0])
    if i is None or isinstance(sample[i], (Static, ComplexNumber)):
        return None
    value = sample[i]
    if "[" in name:
        if value.symmetric or value.is_complex:
            return None
        index = tuple(map(int, filter(None, name.partition("[")[2].rstrip("]").split(","))))
        value = value.entries[value.leaf_indices().index(index)]
    return sp.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else None
