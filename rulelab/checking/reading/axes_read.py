"""What the code of a function says about axes, sums and matrices."""

from __future__ import annotations

import ast
import dis
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..calling.subjects import codes_of, helper_codes
from .anatomy import last_name
from .texts import calls_in, names_of, text_nodes, text_of, values_by_name

_OF_MATRICES = frozenset(
    "dot matmul inner outer einsum tensordot linalg T mT transpose trace diag diagonal tril triu kron vstack "
    "hstack".split()
)
_LINEAR_ALGEBRA = frozenset(name for name in dir(np.linalg) if not name.startswith("_")) - {"linalg"}


def names_an_axis(f: Callable) -> bool:
    """Whether the code of a function names an `axis`, or uses `...` before the axes it names: it is then
    written for arrays of several axes, unless it makes these from vectors itself.
    """
    return _name_an_axis(codes_of(f)) and not _makes_axes_of_vectors(f) or is_for_any_axes(f)


def _makes_axes_of_vectors(f: Callable) -> bool:
    """Whether the axes that a function names are those of `x[:, None]`, made from a parameter.

    >>> _makes_axes_of_vectors(lambda x, c: np.sum((x[:, None] - c) ** 2, axis=1))
    True
    >>> _makes_axes_of_vectors(lambda x, c: np.sum((x[:, None] - c) ** 2, axis=-1))
    False
    """
    nodes, names, _ = text_nodes(f)
    named = [n.value for n in nodes if isinstance(n, ast.keyword) and n.arg == "axis"]
    are_first = all(isinstance(value, ast.Constant) and value.value in (0, 1) for value in named)
    picks = [n for n in nodes if isinstance(n, ast.Subscript) and _is_a_column(n.slice)]
    are_of_parameters = any(isinstance(n.value, ast.Name) and n.value.id in names for n in picks)
    return bool(named) and are_first and are_of_parameters


def _is_a_column(at: ast.expr) -> bool:
    """Whether an index makes a column from a vector: `[:, None]`, `[:, np.newaxis]`."""
    if not isinstance(at, ast.Tuple) or len(at.elts) != 2:
        return False
    rows, new = at.elts
    is_new = isinstance(new, ast.Constant) and new.value is None or getattr(new, "attr", "") == "newaxis"
    return isinstance(rows, ast.Slice) and is_new


def is_for_any_axes(f: Callable) -> bool:
    """Whether a function writes `...` for any axes before those that it names."""
    return any(... in _constants(code.co_consts) for code in codes_of(f))


def _constants(constants: Iterable[Any]) -> Iterator[Any]:
    """Constants, including those within tuples: an index of several parts is a tuple."""
    for one in constants:
        if isinstance(one, tuple):
            yield from _constants(one)
        else:
            yield one


def sums_by_axes(f: Callable) -> bool:
    """Whether the code of a rule, or of a helper that it calls, names an `axis`."""
    return _name_an_axis((*codes_of(f), *helper_codes(f)))


def axes_of_matrices(f: Callable) -> frozenset[int]:
    """The axes that the code of a function names by number, as the axes of a matrix.

    >>> def normalised(x):
    ...     return x - x.mean(axis=-1, keepdims=True)
    >>> sorted(axes_of_matrices(normalised))
    [1]
    """
    named = [k.value for call in calls_in(text_of(f)[0]) for k in call.keywords if k.arg == "axis"]
    return frozenset(n % 2 for n in range(-2, 2) for one in named if ast.unparse(one) == str(n))


def _name_an_axis(codes: Iterable[types.CodeType]) -> bool:
    words = (word for code in codes for word in (*names_of(code), *code.co_varnames))
    return not {"axis", "keepdims", "axes"}.isdisjoint(words)


def multiplies_matrices(f: Callable) -> bool:
    """Whether the code of a function has matrix products or other linear algebra; norms do not count, since
    vectors have them, too.
    """
    for code in codes_of(f):
        words = set(names_of(code))
        if _LINEAR_ALGEBRA & words == {"norm"}:
            words.discard("linalg")
        if not _OF_MATRICES.isdisjoint(words):
            return True
        if any(op.opname == "BINARY_OP" and op.argrepr in ("@", "@=") for op in dis.get_instructions(code)):
            return True
    return False


_TRIANGLES = frozenset("tril triu tril_indices triu_indices solve_triangular".split())


def undoes_broadcasts(author: Callable) -> bool:
    """Whether a rule, or a helper that it calls, sums along axes that it finds by comparing shapes: it is
    then written for broadcast arguments of any shapes.

    >>> def summed_like(g, like):
    ...     while g.ndim > like.ndim:
    ...         g = g.sum(axis=0)
    ...     return g
    >>> undoes_broadcasts(summed_like), undoes_broadcasts(lambda g: g.sum(axis=0))
    (True, False)
    """
    space = getattr(author, "__globals__", {})
    called = {name for code in codes_of(author) for name in code.co_names}
    helpers = [space[name] for name in called if isinstance(space.get(name), types.FunctionType)]
    helpers = [helper for helper in helpers if helper.__globals__ is space]
    return any(_compares_shapes(text_of(one)[0]) and sums_by_axes(one) for one in (author, *helpers))


def _compares_shapes(node: ast.AST | None) -> bool:
    """Whether a tree compares two shapes or numbers of axes, or the lengths of a shape with one."""
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Compare):
            words = [_of_shapes(side) for side in (inner.left, *inner.comparators)]
            if sum(words) > 1:
                return True
        elif isinstance(inner, (ast.For, ast.comprehension)):
            if _of_shapes(inner.iter) and any(isinstance(n, ast.Call) for n in ast.walk(inner.iter)):
                tests = [n for n in ast.walk(node) if isinstance(n, ast.Compare)]  # type: ignore[arg-type]
                if any(isinstance(c, ast.Constant) and c.value == 1 for t in tests for c in t.comparators):
                    return True
    return False


def _of_shapes(node: ast.AST) -> bool:
    """Whether a shape or a number of axes occurs in an expression."""
    words = ("ndim", "shape")
    return any(last_name(n) in words for n in ast.walk(node) if isinstance(n, (ast.Attribute, ast.Name)))


def takes_triangles(f: Callable) -> bool:
    """Whether the code of a function names triangles of matrices."""
    return any(not _TRIANGLES.isdisjoint(code.co_names) for code in codes_of(f))


_SUMMING = frozenset("sum nansum mean average trace bincount add".split())


def sums(f: Callable) -> bool:
    """Whether the code of a function calls one that reduces an array to a number."""
    return any(not _SUMMING.isdisjoint(code.co_names) for code in codes_of(f))


def sums_within(f: Callable) -> bool:
    """Whether an inner function has sums, matrix products, or loops that may add; also True if there is no
    inner function.
    """
    inner = codes_of(f)[1:]
    operations = {(op.opname, op.argrepr) for code in inner for op in dis.get_instructions(code)}
    names = {name for code in inner for name in code.co_names}
    adds = any(name == "FOR_ITER" or text in ("@", "@=") for name, text in operations)
    return adds or not inner or not names.isdisjoint(_SUMMING | _OF_MATRICES)


_SUMS = frozenset(("sum", "dot", "vdot", "inner"))
"""Functions that return one number. A mean of a cotangent in place of a sum is a mistake."""


def summed_for(author: Callable, of_number: bool = False) -> frozenset[str]:
    """The parameters for which the code of a reverse rule returns one number: a sum, multiplied by
    expressions of parameters only. They are numbers beside arrays. If the value is one number (`of_number`),
    its cotangent may also be outside the sum, but not what is summed: `x / x.sum()` is an array.

    >>> def rule(x, k):
    ...     def back(y_bar):
    ...         return None, y_bar * k, np.sum(y_bar * x) / k
    ...     return k * x, back
    >>> sorted(summed_for(rule))
    ['k']
    """
    node, names = text_of(author)
    code = getattr(author, "__code__", None)
    if node is None or not isinstance(code, types.CodeType):
        return frozenset()
    made, ordered = values_by_name(node), code.co_varnames[: code.co_argcount]
    inner = (n for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n is not node)
    answers = (n.value for one in inner for n in ast.walk(one) if isinstance(n, ast.Return))
    own = set() if of_number else {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)} - names
    own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found: set[str] = set()
    for answer in answers:
        if isinstance(answer, ast.Tuple) and len(answer.elts) == len(ordered) + 1:
            for name, part in zip(ordered, answer.elts[1:]):
                outside, sums = _outside_of_sums(part, made, _SUMS | {"mean"})
                is_one = sums and own.isdisjoint(outside) and not _is_beside_its_sum(part, made)
                found.update([name] if is_one else [])
    return frozenset(found)


def _outside_of_sums(
    node: ast.AST, made: Mapping[str, ast.expr], sums_called: frozenset[str], depth: int = 3
) -> tuple[set[str], bool]:
    """The names outside sums over all elements, and whether there is such a sum."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in sums_called and not node.keywords:
        return set(), True
    if isinstance(node, ast.Name):
        inside = made.get(node.id) if depth else None
        if inside is None:
            return {node.id}, False
        return _outside_of_sums(inside, made, sums_called, depth - 1)
    parts = [_outside_of_sums(part, made, sums_called, depth) for part in ast.iter_child_nodes(node)]
    return set().union(*(names for names, _ in parts)), any(sums for _, sums in parts)


def _is_beside_its_sum(node: ast.AST, made: Mapping[str, ast.expr]) -> bool:
    """Whether an expression is both the argument of a sum over all elements and used outside it."""
    summed: set[str] = set()
    outside: set[str] = set()
    waiting = [(node, 3)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, ast.Call) and getattr(part.func, "attr", "") in _SUMS and not part.keywords:
            of = part.args[0] if part.args else part.func.value  # type: ignore[attr-defined]
            summed.add(ast.dump(of))
            continue
        outside.add(ast.dump(part))
        if isinstance(part, ast.Name) and depth and part.id in made:
            waiting.append((made[part.id], depth - 1))
        waiting += [(inner, depth) for inner in ast.iter_child_nodes(part)]
    return not summed.isdisjoint(outside)


_REDUCING = frozenset("sum prod mean std var max min amax amin norm cumsum sort argmax argmin len".split())


def reduced_parameters(f: Callable) -> frozenset[str]:
    """The parameters passed, as such, to functions that reduce arrays, or whose length is taken: nobody sums
    a number.

    >>> def log_norm(alpha):
    ...     return gammaln(np.sum(alpha)) - gammaln(alpha).sum()
    >>> sorted(reduced_parameters(log_norm))
    ['alpha']
    """
    node, names = text_of(f)
    return names & {x.id for x in _given_to(node, _REDUCING) if isinstance(x, ast.Name)}


def reduced_keys(f: Callable) -> frozenset[str]:
    """The keys of dicts whose values a function passes, as such, to functions that reduce arrays.

    >>> def total(parts):
    ...     mass = parts["mass"]
    ...     return np.sum(mass) * parts["gain"]
    >>> sorted(reduced_keys(total))
    ['mass']
    """
    node, _ = text_of(f)
    made = values_by_name(node) if node is not None else {}
    values = (made.get(x.id, x) if isinstance(x, ast.Name) else x for x in _given_to(node, _REDUCING))
    places = (x.slice for x in values if isinstance(x, ast.Subscript))
    keys = (place.value for place in places if isinstance(place, ast.Constant))
    return frozenset(key for key in keys if isinstance(key, str))


def _given_to(node: ast.AST | None, functions: frozenset[str]) -> Iterator[ast.expr]:
    """The expressions that some code passes first to functions of these names, and those whose methods of
    these names it calls.
    """
    for call in calls_in(node):
        if last_name(call.func) in functions:
            yield from call.args[:1]
            if isinstance(call.func, ast.Attribute):
                yield call.func.value


_OF_PLACES = frozenset("argsort argmax argmin argpartition lexsort roll flip unique cumsum cumprod".split())


def put_in_places(f: Callable) -> frozenset[str]:
    """The parameters passed, as they are or negated, to functions that find or change the order of elements.
    They are arrays, though NumPy treats a number as an array of one element.

    >>> def in_order(x, time):
    ...     return np.cumsum(x[np.argsort(-time)])
    >>> sorted(put_in_places(in_order))
    ['time']
    """
    node, names = text_of(f)
    given = _given_to(node, _OF_PLACES)
    bare = (x.operand if isinstance(x, ast.UnaryOp) else x for x in given)
    return names & {x.id for x in bare if isinstance(x, ast.Name)}


def halved_parameters(f: Callable) -> frozenset[tuple[str, int]]:
    """The parameters of which a function combines one half with the other elementwise, and the axis along
    which they are split: its length must be even.

    >>> def gated(x):
    ...     h = x.shape[-1] // 2
    ...     return x[..., :h] * np.tanh(x[..., h:])
    >>> sorted(halved_parameters(gated)), sorted(halved_parameters(lambda x: x[::2] - x[1::2]))
    ([('x', -1)], [('x', 0)])
    """
    node, names = text_of(f)
    if node is None:
        return frozenset()
    made, found = values_by_name(node), set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp):
            left, right = (set(_halves_in(side, made, names)) for side in (inner.left, inner.right))
            found |= {(name, axis) for name, axis, half in left if (name, axis, not half) in right}
    return frozenset(found)


_KEEPING = frozenset("exp log sin cos tan tanh sqrt abs square maximum minimum where conj expit".split())


def _halves_in(
    node: ast.AST, made: Mapping[str, ast.expr], names: frozenset[str], depth: int = 4
) -> Iterator[tuple[str, int, bool]]:
    """The halves of parameters that an expression uses elementwise: the parameter, the axis, and whether it
    is the second half.
    """
    if isinstance(node, ast.Name) and node.id in made and node.id not in names and depth:
        yield from _halves_in(made[node.id], made, names, depth - 1)
    elif isinstance(node, (ast.BinOp, ast.UnaryOp)):
        for side in ast.iter_child_nodes(node):
            yield from _halves_in(side, made, names, depth)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _KEEPING:
        for arg in node.args:
            yield from _halves_in(arg, made, names, depth)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for place, part in enumerate(parts):
            half = _which_half(part, made)
            if half is not None and all(_is_all(other) for other in parts if other is not part):
                from_end = any(_is_ellipsis(other) for other in parts[:place])
                yield node.value.id, place - len(parts) if from_end else place, half


def _which_half(part: ast.expr, made: Mapping[str, ast.expr]) -> bool | None:
    """Whether a slice is the second half, or the elements at odd indices, as opposed to the first half or
    even indices; None for other slices.
    """
    if not isinstance(part, ast.Slice):
        return None
    ends = part.lower, part.upper, part.step
    low, high, step = (None if end is None else ast.unparse(end) for end in ends)
    if step == "2" and high is None and low in (None, "0", "1"):
        return low == "1"
    one = part.upper if low in (None, "0") else part.lower if high is None else None
    cut = made.get(one.id) if isinstance(one, ast.Name) else one
    is_half = isinstance(cut, ast.BinOp) and isinstance(cut.op, ast.FloorDiv) and _is_two(cut.right)
    return low not in (None, "0") if is_half and step is None else None


def _is_two(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 2


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_all(node: ast.expr) -> bool:
    """Whether a part of an index selects everything along its axes."""
    return _is_ellipsis(node) or isinstance(node, ast.Slice) and not (node.lower or node.upper or node.step)


_RANKS = frozenset(("ndim", "isscalar", "iterable"))


def ranks_asked(f: Callable) -> frozenset[str]:
    """The parameters that the code tests for being numbers: both cases are then intended.

    >>> def scaled(x, scale):
    ...     return x * (scale if np.ndim(scale) == 0 else scale[:, None])
    >>> sorted(ranks_asked(scaled))
    ['scale']
    """
    node, names = text_of(f)
    found: set[str] = set()
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Call) and inner.args and isinstance(inner.args[0], ast.Name):
            word = getattr(inner.func, "attr", getattr(inner.func, "id", ""))
            if word in _RANKS or word == "isinstance" and _names_numbers(inner.args[1:]):
                found.add(inner.args[0].id)
        elif isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "len" and inner.args:
            found.update(_of_shape(inner.args[0]))
        elif isinstance(inner, ast.Attribute) and inner.attr == "ndim" and isinstance(inner.value, ast.Name):
            found.add(inner.value.id)
        elif isinstance(inner, (ast.If, ast.IfExp)):
            found.update(_of_shape(_without_not(inner.test)))
    return names & found


def _without_not(test: ast.expr) -> ast.expr:
    """What a condition tests: `np.shape(x)` of `not np.shape(x)` and of `np.shape(x) == ()`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and isinstance(other := test.comparators[0], ast.Tuple):
        return test.left if not other.elts else test
    return test


def _of_shape(asked: ast.expr) -> Iterator[str]:
    """The name whose shape an expression is: `x.shape`, `np.shape(x)`."""
    is_call = isinstance(asked, ast.Call) and len(asked.args) == 1
    word = getattr(asked.func if isinstance(asked, ast.Call) else asked, "attr", "")
    of = asked.args[0] if isinstance(asked, ast.Call) and is_call else getattr(asked, "value", None)
    if word == "shape" and isinstance(of, ast.Name):
        yield of.id


def _names_numbers(classes: Iterable[ast.expr]) -> bool:
    named = {n.id for one in classes for n in ast.walk(one) if isinstance(n, ast.Name)}
    return not named.isdisjoint(("float", "int"))


def cross_product_parameters(f: Callable) -> frozenset[str]:
    """The parameters passed to a cross product: vectors of three numbers."""
    node, names = text_of(f)
    calls = calls_in(node)
    crossing = [call for call in calls if getattr(call.func, "attr", None) == "cross"]
    return names & {arg.id for call in crossing for arg in call.args if isinstance(arg, ast.Name)}


def factors_of(f: Callable, others: frozenset[str]) -> frozenset[str]:
    """The parameters that a function uses only as a factor or divisor of expressions of the `others`, or as a
    power of such a factor: `k` in `np.tanh(k * x)`, but no addend.
    """
    node, names = text_of(f)
    if node is None:
        return frozenset()
    above = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
    found: dict[str, bool] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in names:
            found[inner.id] = found.get(inner.id, True) and _is_factor(inner, above, others)
    return frozenset(name for name, is_one in found.items() if is_one)


def _is_factor(name: ast.Name, above: Mapping[ast.AST, ast.AST], others: frozenset[str]) -> bool:
    """Whether a name is in a product or a quotient with one of the others."""
    inner: ast.AST = name
    while (outer := above.get(inner)) is not None:
        if isinstance(outer, ast.BinOp) and isinstance(outer.op, (ast.Mult, ast.Div)):
            other = outer.right if inner is outer.left else outer.left
            if not others.isdisjoint(n.id for n in ast.walk(other) if isinstance(n, ast.Name)):
                return True
        elif not (isinstance(outer, ast.UnaryOp) or _is_power_of(outer, inner)):
            return False
        inner = outer
    return False


def scaling_sums(f: Callable) -> frozenset[str]:
    """The parameters that a function uses only as a factor of a sum over all elements: most likely numbers.

    >>> def energy(x, k):
    ...     return 0.5 * k * np.sum((np.roll(x, -1) - x) ** 2)
    >>> sorted(scaling_sums(energy))
    ['k']
    """
    node, names = text_of(f)
    if node is None:
        return frozenset()
    above = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
    found: dict[str, bool] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id in names:
            found[inner.id] = found.get(inner.id, True) and _is_factor_of_a_sum(inner, above)
    return frozenset(name for name, is_one in found.items() if is_one)


def _is_factor_of_a_sum(name: ast.Name, above: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a name is multiplied by a call that reduces an array to one number."""
    inner: ast.AST = name
    while isinstance(outer := above.get(inner), ast.BinOp) and isinstance(outer.op, (ast.Mult, ast.Div)):
        other = outer.right if inner is outer.left else outer.left
        if isinstance(other, ast.Call) and getattr(other.func, "attr", "") in _SUMS and not other.keywords:
            return len(other.args) == 1 or getattr(other.func, "attr", "") != "sum"
        inner = outer
    return False


def _is_power_of(outer: ast.AST, base: ast.AST) -> bool:
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Pow):
        return False
    return outer.left is base and isinstance(outer.right, ast.Constant)
