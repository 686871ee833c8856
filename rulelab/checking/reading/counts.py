"""The parameters of a function that are integers because of their use: the function slices or reshapes arrays
by them, iterates that often, takes their factorials, or compares them with several integers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from .anatomy import last_name
from .texts import calls_in, text_of

_LOG_FACTORIALS = frozenset("lgamma gammaln loggamma".split())
"""Their value at `n + 1` is the logarithm of the factorial of `n`."""
REST = "the_rest"
"""The length that remains once the others are known: -1 in `reshape`."""
_OF_WHOLE = frozenset("factorial comb binom perm factorial2".split())


def counting_parameters(f: Callable) -> frozenset[str]:
    """The parameters by which a function iterates, `range(1, days + 1)`, or slices or reshapes an array:
    `x[lag:]`, `x.reshape(n, groups, c // groups)`. They are integers.

    >>> def decayed(x, days):
    ...     for _ in range(days - 1):
    ...         x = 0.9 * x
    ...     return x
    >>> def later(x, lag):
    ...     return x[lag:] - x[:-lag]
    >>> sorted(counting_parameters(decayed)), sorted(counting_parameters(later))
    (['days'], ['lag'])
    """
    node, names = text_of(f)
    return names & {name for length in _lengths_in(node) for name in _added_up(length)}


def range_parameters(f: Callable) -> frozenset[str]:
    """The parameters that are arguments of a `range`: `range(days)`."""
    node, names = text_of(f)
    return names & {arg.id for call in _ranges_in(node) for arg in call.args if isinstance(arg, ast.Name)}


def made_so_long(f: Callable) -> frozenset[str]:
    """The parameters that are lengths of arrays which a function makes: `np.zeros(n)`.

    >>> sorted(made_so_long(lambda x, n: np.zeros(n) + np.sum(x)))
    ['n']
    """
    node, names = text_of(f)
    first = (call.args[0] for call in calls_in(node) if last_name(call.func) in _MAKERS and call.args)
    parts = (part for arg in first for part in (arg.elts if isinstance(arg, ast.Tuple) else [arg]))
    return names & {part.id for part in parts if isinstance(part, ast.Name)}


def sliced_by(f: Callable) -> frozenset[str]:
    """The names at which slices begin and end in a function: `np.sort(x)[-k:]`.

    >>> sorted(sliced_by(lambda x, k: np.sort(x)[-k:]))
    ['k']
    """
    slices = (inner for inner in ast.walk(text_of(f)[0] or ast.Pass()) if isinstance(inner, ast.Slice))
    ends = (end for part in slices for end in (part.lower, part.upper))
    plain = (end.operand if isinstance(end, ast.UnaryOp) else end for end in ends)
    return frozenset(end.id for end in plain if isinstance(end, ast.Name))


_MAKERS = frozenset(("zeros", "ones", "empty", "full", "eye", "identity"))


def cut_into(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The parameters that a function reshapes to lengths given by others: the names of those, and `REST` for
    a length that is left open.

    >>> def blocks(x, count, size):
    ...     return np.sum(x.reshape(count, size) ** 2, axis=1)
    >>> dict(cut_into(blocks))
    {'x': ('count', 'size')}
    """
    node, names = text_of(f)
    found: dict[str, tuple[str, ...]] = {}
    for cut, lengths in _cuts_in(node):
        counts = tuple(REST if _is_rest(one) else getattr(one, "id", "") for one in lengths)
        if cut in names and len(counts) > 1 and names & {*counts} and {*counts} <= names | {REST}:
            found[cut] = counts
    return found


def _is_rest(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and ast.unparse(node) == "-1"


def _cuts_in(node: ast.AST | None) -> Iterator[tuple[str, list[ast.expr]]]:
    """The name of each array that is reshaped, and its new lengths."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)] if node is not None else []
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "reshape":
            of = call.func.value
            is_numpy = isinstance(of, ast.Name) and of.id in ("np", "numpy")
            cut, args = (call.args[0], call.args[1:]) if is_numpy and call.args else (of, call.args)
            lengths = [part for arg in args for part in (arg.elts if isinstance(arg, ast.Tuple) else [arg])]
            yield getattr(cut, "id", ""), lengths


def _ranges_in(node: ast.AST | None) -> Iterator[ast.Call]:
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "range":
            yield inner


def _lengths_in(node: ast.AST | None) -> Iterator[ast.AST]:
    """The expressions that are used as a length or an index."""
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Slice):
            yield from (end for end in (inner.lower, inner.upper, inner.step) if end is not None)
    for call in _ranges_in(node):
        yield from call.args
    for _, lengths in _cuts_in(node):
        yield from lengths


def _added_up(node: ast.AST) -> Iterator[str]:
    """The names in sums and products. Quotients are left out, since `range` takes none, and calls, whose
    result may be whole where the argument is not.
    """
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.UnaryOp):
        yield from _added_up(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)):
        yield from _added_up(node.left)
        yield from _added_up(node.right)


def meant_whole(f: Callable) -> frozenset[str]:
    """The parameters of which a function takes the factorial or its logarithm, or that it compares with
    several integers: counts, if a rule returns `NoTangent()` for them. A single number may be one at which a
    formula fails.

    >>> def log_probability(k, rate):
    ...     return k * math.log(rate) - rate - math.lgamma(k + 1)
    >>> def kernel(kind, x):
    ...     return abs(x) if kind == 1 else x**2 if kind == 2 else x**3
    >>> sorted(meant_whole(log_probability)), sorted(meant_whole(kernel))
    (['k'], ['kind'])
    """
    node, names = text_of(f)
    return names & {*_of_factorials(node), *_of_several(node)} if node is not None else frozenset()


def _of_factorials(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        word = last_name(call.func) if isinstance(call, ast.Call) else ""
        if word in _OF_WHOLE:
            yield from (name for arg in call.args for name in _added_up(arg))  # type: ignore[attr-defined]
        elif word in _LOG_FACTORIALS and len(call.args) == 1 and _is_one_more(call.args[0]):  # type: ignore[attr-defined]
            yield from _added_up(call.args[0])  # type: ignore[attr-defined]


def _is_one_more(node: ast.AST) -> bool:
    """Whether an expression is a sum or difference of names, plus one: `n - k + 1`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return False
    sides = (node.left, node.right)
    others = [side for side in sides if not (isinstance(side, ast.Constant) and side.value == 1)]
    return len(others) == 1 and _is_of_names(others[0])


def _is_of_names(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _is_of_names(node.left) and _is_of_names(node.right)
    return isinstance(node, ast.Name)


def _of_several(node: ast.AST) -> Iterator[str]:
    """The names that are compared for equality with more than one integer."""
    compared: dict[str, set[int]] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Compare) and len(inner.ops) == 1 and isinstance(inner.ops[0], ast.Eq):
            name, number = inner.left, inner.comparators[0]
            if isinstance(name, ast.Name) and isinstance(number, ast.Constant) and type(number.value) is int:
                compared.setdefault(name.id, set()).add(number.value)
    yield from (name for name, numbers in compared.items() if len(numbers) > 1)
