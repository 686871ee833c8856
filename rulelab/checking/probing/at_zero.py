"""Whether a function is smooth at zero although its code treats zero specially, as `v * abs(v)` does. The
derivative exists then, and a rule that divides by zero there has no number for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

import numpy as np

from ..calling.plain_calls import silencing_warnings, value_of
from ..calling.subjects import Subject
from ..measuring.vectors import to_vec
from ..reading.anatomy import last_name
from ..reading.docstrings import docstring_text, words_about
from ..reading.relations import relations_in
from ..reading.texts import text_nodes, text_of
from .kinks import is_twice_differentiable
from .probes import Point, vector_function

_PARTING = frozenset(
    "abs fabs absolute sign copysign maximum minimum fmax fmin clip where heaviside norm hypot sinc prod "
    "cumprod".split()
)
"""Functions that treat zero specially, or for which zero is an ordinary argument."""
STEPS = (1e-3, 1e-4, 1e-5)
"""The steps of differences on either side."""
BEND = 10.0
"""By how many times its own size a slope may change over a length of one."""
MOST_BEND = 200.0
"""The same for showing that a function is smooth at numbers that are not zero, where its slope may be."""
MOST, DIRECTIONS = 16, 4
"""Up to how many numbers a function is shown to be smooth, and along how many random directions."""
AGREE = 1e-3
"""How much the slopes on both sides may differ, relative to the largest slope nearby."""


def special_at_zero(f: Callable) -> frozenset[str]:
    """The parameters that a function compares with zero, passes to functions that treat zero specially, or
    squares inside a root, also under another name. They are intended to be zero at times; a parameter that
    the function only divides by may not be.

    >>> def drag(rho, v, area):
    ...     speed = abs(v)
    ...     return rho * v * speed / area
    >>> sorted(special_at_zero(drag)), sorted(special_at_zero(lambda x, c: np.sqrt(x**2 + c)))
    (['v'], ['x'])
    """
    nodes, names, made = text_nodes(f)
    roots = (n for n in nodes if isinstance(n, ast.Call) and last_name(n.func) == "sqrt")
    bases = (base for root in roots for base in _squared(root.args))
    squared = {name for base in bases for name in _names_in(base, made)}
    return names & squared | branching_at_zero(f)


def branching_at_zero(f: Callable) -> frozenset[str]:
    """The parameters that a function compares with zero or passes to functions that treat zero specially, and
    angles whose sine it squares inside a root: zero is intended for these even if they have no sign.

    >>> sorted(branching_at_zero(lambda t, n: np.sqrt(n**2 - np.sin(t) ** 2)))
    ['t']
    """
    nodes, names, made = text_nodes(f)
    found: set[str] = set()
    for call in (n for n in nodes if isinstance(n, ast.Call)):
        word = last_name(call.func)
        if word in _PARTING:
            given = [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
            found.update(name for arg in given for name in _names_in(arg, made, of_zero=True))
        elif word == "sqrt":
            found.update(_angles_squared(call.args, made))
    return names & found | compared_with_number(f, 0.0)


def compared_with_number(f: Callable, mark: float) -> frozenset[str]:
    """The parameters that a function compares with the number `mark`, also under another name, so that it
    defines its value there.

    >>> relative = lambda x, c: np.where(x == -2.0, 1.0, np.expm1(x + 2.0) / (x + 2.0)) / c
    >>> sorted(compared_with_number(relative, -2.0))
    ['x']
    """
    nodes, names, made = text_nodes(f)
    found: set[str] = set()
    for inner in nodes:
        sides = [inner.left, *inner.comparators] if isinstance(inner, ast.Compare) else []
        if any(_is_number(side, mark) for side in sides):
            found.update(name for side in sides for name in _names_in(side, made))
    return names & found


_MAY_BE_ZERO = re.compile(
    r"\b(?:(?:may|can|might) (?:also )?be zero|(?:zero|0) or (?:positive|more|above|greater|larger)"
    r"|positive or zero|non-?negative)\b"
)
_THEY_MAY = re.compile(r"\b((?:\w+(?:, | and | or |, and |, or ))*\w+) (?:may|can|might) (?:also )?be zero\b")


def zero_allowed_by_docstring(f: Callable) -> frozenset[str]:
    """The parameters that may be zero according to the docstring of a function.

    >>> def effect(dose, half, n):
    ...     "The effect of a drug, where half > 0 and n >= 0; dose is a number, and may be zero."
    >>> def run(v, w, t):
    ...     "The speeds v and w may be zero."
    >>> sorted(zero_allowed_by_docstring(effect)), sorted(zero_allowed_by_docstring(run))
    (['dose', 'n'], ['v', 'w'])
    """
    names, said = text_of(f)[1], docstring_text(f)
    ends = (r for r in relations_in(said, sorted(names)) if r.sign in (">=", "<="))
    zeros = (r for r in ends if 0.0 in (r.left.number, r.right.number) and not r.left.of + r.right.of)
    found = {r.left.name or r.right.name for r in zeros}
    clauses = (clause.strip().partition(" ") for clause in re.split(r"[.;:]\s", said))
    found.update(name for name, _, rest in clauses if _MAY_BE_ZERO.search(rest))
    found.update(name for m in _THEY_MAY.finditer(said) for name in re.findall(r"\w+", m[1]))
    found.update(name for name, words in words_about(f).items() if _MAY_BE_ZERO.search(words))
    return names & found


_NUMBER = r"-?\d+(?:\.\d+)?"
_CLOSED = rf"\bin \[({_NUMBER}), ?({_NUMBER})\]"
_NAMED_CLOSED = re.compile(rf"\b(\w+) (?:is |are |lies? )?{_CLOSED}")


def ends_allowed_by_docstring(f: Callable) -> Mapping[str, frozenset[float]]:
    """The numbers at which the intervals of parameters end that the docstring of a function writes as closed.

    >>> def annuity(qx, share):
    ...     \"\"\"A value, where share in [0, 0.5].
    ...
    ...     qx: probabilities, each in [0, 1]
    ...     \"\"\"
    >>> {name: sorted(ends) for name, ends in ends_allowed_by_docstring(annuity).items()}
    {'share': [0.0, 0.5], 'qx': [0.0, 1.0]}
    """
    names = text_of(f)[1]
    found = {name: ends for name, *ends in _NAMED_CLOSED.findall(docstring_text(f))}
    found |= {name: ends[0] for name, words in words_about(f).items() if (ends := re.findall(_CLOSED, words))}
    return {name: frozenset(map(float, ends)) for name, ends in found.items() if name in names}


def _is_number(node: ast.expr, mark: float) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_number(node.operand, -mark)
    return isinstance(node, ast.Constant) and node.value == mark


def _names_in(
    node: ast.AST, made: Mapping[str, ast.expr], depth: int = 3, of_zero: bool = False
) -> Iterator[str]:
    """The names in an expression, also by what they were assigned. With `of_zero` not those in a sum with a
    number, as `x - 0.5`, which is not zero where x is.
    """
    if of_zero and _has_offset(node):
        return
    if isinstance(node, ast.Name):
        yield node.id
        if node.id in made and depth:
            yield from _names_in(made[node.id], made, depth - 1, of_zero)
    for inner in ast.iter_child_nodes(node):
        yield from _names_in(inner, made, depth, of_zero)


def _has_offset(node: ast.AST) -> bool:
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))
    sides = (node.left, node.right) if is_sum else ()  # type: ignore[attr-defined]
    return any(isinstance(side, ast.Constant) and side.value != 0 for side in sides)


def _squared(args: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """The bases of even powers within some expressions."""
    for inner in (inner for arg in args for inner in ast.walk(arg)):
        power = inner.right if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Pow) else None
        if isinstance(power, ast.Constant) and isinstance(power.value, int) and power.value % 2 == 0:
            yield inner.left  # type: ignore[attr-defined]


def _angles_squared(args: Iterable[ast.expr], made: Mapping[str, ast.expr]) -> Iterator[str]:
    """The names in the argument of a squared sine or tangent, for which zero is only the border between two
    halves of the circle.
    """
    for base in _squared(args):
        whole = made.get(base.id, base) if isinstance(base, ast.Name) else base
        if isinstance(whole, ast.Call) and last_name(whole.func) in ("sin", "tan"):
            yield from (name for arg in whole.args for name in _names_in(arg, made))


def slopes_at(f: Callable, point: Point, position: int) -> Iterator[tuple[int, np.ndarray]]:
    """For each zero of an input, its index and the derivative of the value with respect to it, if differences
    on both sides agree that there is one.
    """
    vector, make = to_vec(point.inputs[position])

    def value(at: int, step: float) -> np.ndarray:
        moved = vector.copy()
        moved[at] += step
        inputs = (*point.inputs[:position], make(moved), *point.inputs[position + 1 :])
        return to_vec(value_of(f, inputs, point.kwargs))[0]

    for at in np.flatnonzero(vector == 0.0).tolist():
        slope = slope_along(partial(value, at))
        if slope is not None:
            yield at, slope


def slope_along(value: Callable[[float], np.ndarray], bend: float = BEND) -> np.ndarray | None:
    """The derivative of `value(step)` at step zero, if differences on both sides agree that there is one, and
    it changes by no more than `bend` times itself over a length of one; otherwise None.
    """
    here = value(0.0)
    sides = [[(value(sign * h) - here) / (sign * h) for h in STEPS] for sign in (1.0, -1.0)]
    # Extrapolation removes what is proportional to the step: the slope of `v * abs(v)` is the step.
    above, below = ((10 * slopes[2] - slopes[1]) / 9 for slopes in sides)
    near = max(float(np.abs(slopes[0]).max(initial=0.0)) for slopes in sides)
    limit = AGREE * max(near, STEPS[0])
    changes = [np.abs(slopes[2] - slopes[1]).max(initial=0.0) for slopes in sides]
    is_steady = max(changes) <= bend * STEPS[1] * max(near, 1.0)
    if not (np.all(np.isfinite(above + below)) and np.all(np.abs(above - below) <= limit) and is_steady):
        return None
    slope = (above + below) / 2
    return np.where(np.abs(slope) <= 1e-9 * max(near, 1.0), 0.0, slope)


@silencing_warnings()
def slopes_if_smooth(subject: Subject, point: Point) -> np.ndarray | None:
    """The derivative of a function with respect to each number that varies, one column each, if it is shown
    to be smooth at a point. Differences on both sides must agree along each number, those along several
    random directions must follow from these, and second differences must be those of a quadratic. Otherwise
    None.
    """
    x, f = vector_function(subject, point)
    size, rng = np.maximum(1.0, np.abs(x)), np.random.default_rng(0)

    def along(direction: np.ndarray) -> np.ndarray | None:
        return slope_along(lambda step: np.asarray(f(x + step * size * direction)), MOST_BEND)

    try:
        with np.errstate(all="ignore"):
            jacobian = _jacobian_along(along, x.size, rng)
    except Exception:
        return None
    if jacobian is None or not is_twice_differentiable(subject, point, rng):
        return None
    return jacobian / size


def _jacobian_along(
    along: Callable[[np.ndarray], np.ndarray | None], size: int, rng: np.random.Generator
) -> np.ndarray | None:
    """The slopes along each of `size` numbers, one column each. None if one is not known, or if those along
    random directions do not follow from them.
    """
    units = [along(unit) for unit in np.eye(size)] if size <= MOST else [None]
    found = [slope for slope in units if slope is not None]
    if not found or len(found) < len(units):
        return None
    jacobian = np.stack(found, axis=1)
    directions = rng.uniform(-1.0, 1.0, (DIRECTIONS, size))
    return jacobian if all(_is_linear(along, jacobian, one) for one in directions) else None


def _is_linear(
    along: Callable[[np.ndarray], np.ndarray | None], jacobian: np.ndarray, direction: np.ndarray
) -> bool:
    slope = along(direction)
    allowed = AGREE * (np.abs(jacobian) @ np.abs(direction) + STEPS[0])
    return slope is not None and not np.any(np.abs(slope - jacobian @ direction) > allowed)
