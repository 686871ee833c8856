"""Samples on the side of a decision that no sample has seen: `Re + 1200 < 2300` has the same outcome at all
numbers of the usual sizes, and a proof is to be of both sides.
"""

from __future__ import annotations

import functools
from fractions import Fraction

import sympy as sp

from .cells import ComplexNumber, Static, with_moved
from .formulas import TooLarge, expression, size

_INEQUALITIES = frozenset(("<", "<=", ">", ">="))
MOST_DECISIONS = 12
"""Decisions of one visit that are looked at, and in all."""
MOST_OPERATIONS = 30
"""Of the two sides of a decision together."""
MOST_MOVED = 2
"""Arguments of one decision that are moved, each alone."""
HALVINGS = 12
"""On the way from a number on one side to one on the other."""
CLOSEST = 40
"""The same where what is close to a narrow guard is looked for."""
_SIZES = [Fraction(10) ** power * times for power in range(-2, 6) for times in (1, 3)]
NUMBERS = sorted({sign * number for number in _SIZES for sign in (1, -1)}, key=abs)


def far_sides(names, visits):
    """For each decision of which the visits have seen one side only, samples on the other: one far from the
    border and one close to it, with one number moved, if such are found."""
    places = {name: i for i, name in enumerate(names)}
    sides: dict[sp.Expr, dict[bool, tuple]] = {}
    for visit in visits:
        for decision in visit.trace.decisions[:MOST_DECISIONS]:
            form = _difference(decision)
            if form is not None and len(sides) <= MOST_DECISIONS:
                is_positive = decision.left.shadow > decision.right.shadow
                sides.setdefault(form, {}).setdefault(is_positive, visit.sample)
    for form, seen in sides.items():
        if len(seen) == 1:
            ((is_positive, sample),) = seen.items()
            yield from _beyond(form, is_positive, sample, places)


def closest_beyond(decision, sample, names):
    """Samples on the other side of a decision, as close to it as halving gets, with one number moved; each
    with how far that one was moved."""
    form = _difference(decision)
    if form is None:
        return
    places = {name: i for i, name in enumerate(names)}
    is_positive = decision.left.shadow > decision.right.shadow
    for moved, (here, _, close) in _crossings(form, is_positive, sample, places, CLOSEST):
        yield moved(close), abs(close - here)


def _difference(decision):
    """The left side of a decision less the right one; None where it is large or no inequality."""
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
    """What an expression of the arguments is at a sample; None where it is no number."""
    places = {name: i for i, name in enumerate(names)}
    values = {symbol: _value(symbol.name, sample, places) for symbol in form.free_symbols}
    value = None if None in values.values() else form.subs(values).evalf(15)
    return value if value is not None and value.is_number else None


def _beyond(form, is_positive, sample, places):
    for moved, (_, far, close) in _crossings(form, is_positive, sample, places, HALVINGS):
        yield moved(far)
        yield moved(close)


def _crossings(form, is_positive, sample, places, halvings):
    """Of the first number that can be moved to the other side of a decision: what makes a sample with another
    in its place, and (where it is, far on the other side, close to the border there)."""
    values = {symbol: _value(symbol.name, sample, places) for symbol in form.free_symbols}
    if None in values.values():
        return
    for symbol in sorted(values, key=str)[:MOST_MOVED]:
        of_one = form.subs({other: number for other, number in values.items() if other is not symbol})

        def is_beyond(number, of_one=of_one, symbol=symbol):
            try:
                value = of_one.subs(symbol, sp.Rational(number.numerator, number.denominator)).evalf(15)
            except (ArithmeticError, TypeError, ValueError):
                return False
            return value.is_number and value.is_real is True and value != 0 and (value > 0) != is_positive

        far = next((number for number in NUMBERS if is_beyond(number)), None)
        if far is None:
            continue
        start = here = Fraction(values[symbol].p, values[symbol].q)
        there = far
        for _ in range(halvings):
            middle = (here + there) / 2
            here, there = (here, middle) if is_beyond(middle) else (middle, there)
        place = places[symbol.name.partition("[")[0]]
        yield functools.partial(with_moved, sample, place, symbol.name), (start, far, there)
        return


def _value(name, sample, places):
    """The number of a sample that has this name, as SymPy has it; None where it cannot be moved."""
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
