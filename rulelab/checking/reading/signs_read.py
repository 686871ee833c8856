"""What the code of a function says of the signs of its parameters: those that are meant to be positive."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from .anatomy import last_name
from .texts import calls_in, factors_in, text_of, unpacked, values_by_name
from .usage import deciding_in

_SCALED = {"i0e": 0, "i1e": 0, "ive": 1, "lambertw": 0}
"""Functions that hold the size of their argument, and the place of that: of a negative one a formula with
`- kappa` beside them is another than the one that is meant; and one whose value is complex for others, in a
formula that goes on with the real part."""


def meant_positive(f: Callable) -> frozenset[str]:
    """The parameters that are given, alone or in products, to functions scaled by the size of what they get,
    or real for some numbers alone, in a function that takes no absolute value itself.

    >>> def log_norm(kappa, x):
    ...     a = kappa / 2
    ...     return np.log(i0e(a)) + a + np.cos(x)
    >>> sorted(meant_positive(log_norm))
    ['kappa']
    """
    node, names = text_of(f)
    calls = calls_in(node)
    called = [(last_name(call.func), call) for call in calls]
    calls_of = [(w, call) for w, call in called if w in _SCALED and not _is_of_a_branch(w, call)]
    handed = [call.args[_SCALED[w]] for w, call in calls_of if len(call.args) > _SCALED[w]]
    if node is None or not handed or any(word in ("abs", "fabs", "sign", "hypot") for word, _ in called):
        return frozenset()
    made = values_by_name(node)
    return names & {name for each in handed for name in factors_in(each, made)}


_NEVER_NEGATIVE = frozenset("abs fabs absolute exp sqrt square hypot".split())


def meant_as_sizes(f: Callable) -> frozenset[str]:
    """The parameters, and the attributes of such, that `copysign` gives a sign: they stand in its first
    argument in a product with what is never negative, so that the sign of the product is theirs, and is
    dropped. Alone (`copysign(x, y)`) a parameter may have either sign.

    >>> def bump(spring, x):
    ...     return np.copysign(spring.gain * x**2, x)
    >>> sorted(meant_as_sizes(bump)), sorted(meant_as_sizes(lambda x, y: np.copysign(x, y)))
    (['spring.gain'], [])
    """
    node, names = text_of(f)
    signed = (call for call in calls_in(node) if last_name(call.func) == "copysign" and len(call.args) == 2)
    made = values_by_name(node) if node is not None else {}
    found: set[str] = set()
    for call in signed:
        factors = list(_signs_in(call.args[0], made, names))
        if "" in factors and None not in factors:
            found.update(filter(None, factors))
    return frozenset(found)


def _signs_in(
    node: ast.AST, made: Mapping[str, ast.expr], names: frozenset[str], depth: int = 4
) -> Iterator[str | None]:
    """What the sign of a product comes from: parameters and attributes of these by name, an empty name for
    what is never negative, and None for what is not known.
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        yield from _signs_in(node.left, made, names, depth)
        yield from _signs_in(node.right, made, names, depth)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = getattr(node.right, "value", None)
        if isinstance(exponent, int) and exponent % 2:
            yield from _signs_in(node.left, made, names, depth)
        else:
            yield "" if isinstance(exponent, int) else None
    elif isinstance(node, ast.Call):
        yield "" if last_name(node.func) in _NEVER_NEGATIVE else None
    elif isinstance(node, ast.Name) and node.id in made and node.id not in names and depth:
        yield from _signs_in(made[node.id], made, names, depth - 1)
    elif isinstance(node, ast.Name) and node.id in names:
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
        yield f"{node.value.id}.{node.attr}"
    elif not (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value > 0):
        yield None


def _is_of_a_branch(word: str, call: ast.Call) -> bool:
    """Whether a function of several branches is told which of them: there other numbers may be meant."""
    return word == "lambertw" and len(call.args) + len(call.keywords) > 1


_ROOTS = frozenset("sqrt log log10 log2".split())


def meant_positive_together(f: Callable) -> frozenset[str]:
    """The parameters, parts and attributes of such, of which a function takes the root or the logarithm of a
    product or a quotient: of two negative ones it is real, too, and those are not meant. Where it decides by
    one of them it is for other signs, too.

    >>> def lorentz(omega, q, car):
    ...     return omega * np.sqrt(car.accel * car.brake) + np.log(q / omega)
    >>> sorted(meant_positive_together(lorentz))
    ['car.accel', 'car.brake', 'omega', 'q']
    """
    node, names = text_of(f)
    if node is None:
        return frozenset()
    names = names.union(*unpacked(f).values())
    parts = (part for test in deciding_in(node) for part in ast.walk(test))
    decided = {ast.unparse(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))}
    made, found = values_by_name(node), set[str]()
    for inside in _under_roots(node):
        factors = Counter(_signs_in(inside, made, names))
        signed = {name for name, count in factors.items() if name and count % 2}
        if None not in factors and len(signed) > 1 and signed.isdisjoint(decided):
            found |= signed
    return frozenset(found)


def _under_roots(node: ast.AST) -> Iterator[ast.expr]:
    for call in calls_in(node):
        if last_name(call.func) in _ROOTS and len(call.args) == 1:
            yield call.args[0]
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow) and _is_half(inner.right):
            yield inner.left


def _is_half(exponent: ast.expr) -> bool:
    """Whether it is a number that is not whole."""
    if isinstance(exponent, ast.UnaryOp):
        exponent = exponent.operand
    value = getattr(exponent, "value", None)
    return isinstance(value, float) and not value.is_integer()


def half_widths(f: Callable) -> frozenset[str]:
    """The parameters of which a function compares one and the same number with both signs, or that it holds
    between both, or whose absolute value it compares: a band reaches from `-width` to `width`, or half as
    far, and there is none where they lie the other way round.

    >>> def dead_zone(x, width):
    ...     return np.where(x < -width, x + width, np.where(x > width, x - width, 0.0))
    >>> def held(x, limit):
    ...     return min(max(x, -limit), limit)
    >>> def huber(r, delta):
    ...     a = np.abs(r)
    ...     return np.where(a <= delta, 0.5 * r**2, delta * (a - 0.5 * delta))
    >>> [sorted(half_widths(f)) for f in (dead_zone, held, huber)]
    [['width'], ['limit'], ['delta']]
    """
    node, names = text_of(f)
    made = values_by_name(node) if node is not None else {}
    beside: set[tuple[str, str]] = set()
    ends: dict[str, ast.expr] = {}
    sizes: list[ast.expr] = []
    for left, right in _pairs_compared(node):
        for end, other in ((left, right), (right, left)):
            ends[ast.unparse(end)] = end
            beside.add((ast.unparse(end), ast.unparse(other)))
            if _is_size_of(other, made):
                sizes.append(end)
    both = [ends[end] for end, other in beside if (f"-{end}", other) in beside]
    for each in _held_between(node):
        both += [end for end in each if f"-{ast.unparse(end)}" in map(ast.unparse, each)]
    factors = [list(factors_in(end, {})) for end in (*both, *sizes)]
    return names & {found[0] for found in factors if len(found) == 1}


def _pairs_compared(node: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Compare):
            yield from itertools.pairwise([inner.left, *inner.comparators])


def _is_size_of(node: ast.expr, made: Mapping[str, ast.expr]) -> bool:
    """Whether it is an absolute value, by itself or under a name of its own."""
    whole = made.get(node.id, node) if isinstance(node, ast.Name) else node
    return isinstance(whole, ast.Call) and last_name(whole.func) in ("abs", "fabs", "absolute")


_HOLDING = frozenset(("min", "max", "minimum", "maximum", "fmin", "fmax", "clip"))


def _held_between(node: ast.AST | None) -> Iterator[list[ast.expr]]:
    """What is handed to each `clip`, and to each `min` of a `max` or the other way round."""
    for call in calls_in(node):
        if last_name(call.func) in _HOLDING:
            calls = (arg for arg in call.args if isinstance(arg, ast.Call))
            inside = (inner for inner in calls if last_name(inner.func) in _HOLDING)
            yield [*call.args, *(arg for inner in inside for arg in inner.args)]
