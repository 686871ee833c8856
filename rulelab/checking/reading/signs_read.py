"""What the code of a function says about the signs of its parameters: those that are meant to be positive."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from .anatomy import last_name
from .texts import calls_in, factors_in, text_of, unpacked_names, values_by_name
from .usage import deciding_in

_SCALED = {"i0e": 0, "i1e": 0, "ive": 1, "lambertw": 0}
"""Functions scaled by the absolute value of an argument, or complex for some real numbers, and the position
of that argument. At a negative number, a formula that adds `kappa` to the logarithm of the first is not the
intended one, nor is one that continues with the real part of the second.
"""


def meant_positive(f: Callable) -> frozenset[str]:
    """The parameters passed, alone or as factors of products, to functions that are scaled by the size of
    their argument or real for some numbers only, if the function itself takes no absolute value.

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
    """The parameters, and attributes of parameters, that `copysign` overrides the sign of: they are factors
    of its first argument beside something never negative, so the sign of the product is theirs, and is
    dropped. On its own (`copysign(x, y)`) a parameter may have either sign.

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
    """What determines the sign of a product: parameters and their attributes by name, an empty name for what
    is never negative, and None for what is unknown.
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
    """Whether a function with several branches is told which one to use, so that other numbers may be
    intended.
    """
    return word == "lambertw" and len(call.args) + len(call.keywords) > 1


_ROOTS = frozenset("sqrt log log10 log2".split())


def meant_positive_together(f: Callable) -> frozenset[str]:
    """The parameters, and parts and attributes of parameters, that are factors under a root or logarithm: the
    value is also real for two negative ones, but these are not intended. Where the function compares one of
    them, either sign may be.

    >>> def lorentz(omega, q, car):
    ...     return omega * np.sqrt(car.accel * car.brake) + np.log(q / omega)
    >>> sorted(meant_positive_together(lorentz))
    ['car.accel', 'car.brake', 'omega', 'q']
    """
    node, names = text_of(f)
    if node is None:
        return frozenset()
    names = names.union(*unpacked_names(f).values())
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
    """Whether the exponent is a number that is not whole."""
    if isinstance(exponent, ast.UnaryOp):
        exponent = exponent.operand
    value = getattr(exponent, "value", None)
    return isinstance(value, float) and not value.is_integer()


def half_widths(f: Callable) -> frozenset[str]:
    """The parameters that are half the width of a band, which must be positive. The function compares the
    same number with both `-width` and `width`, clips a number between both, or compares an absolute value
    with the parameter or a multiple of it.

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
    """Whether an expression is an absolute value, or the name of one."""
    whole = made.get(node.id, node) if isinstance(node, ast.Name) else node
    return isinstance(whole, ast.Call) and last_name(whole.func) in ("abs", "fabs", "absolute")


_HOLDING = frozenset(("min", "max", "minimum", "maximum", "fmin", "fmax", "clip"))


def _held_between(node: ast.AST | None) -> Iterator[list[ast.expr]]:
    """The arguments of each `clip`, and of each `min` of a `max` or the other way round."""
    for call in calls_in(node):
        if last_name(call.func) in _HOLDING:
            calls = (arg for arg in call.args if isinstance(arg, ast.Call))
            inside = (inner for inner in calls if last_name(inner.func) in _HOLDING)
            yield [*call.args, *(arg for inner in inside for arg in inner.args)]
