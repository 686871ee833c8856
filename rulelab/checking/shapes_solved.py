"""Lengths of the entries of a dict, solved from the products in a function's text, which is read and never
run: `p["U"] @ h + p["V"] @ x + p["b"]` takes matrices with as many rows as `b` is long.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from .perturb import Kind
from .usage import keys_read, text_of, values_by_name

_LETTERS, _MANY = "nmpqklrsuvw", "t"
_PRODUCTS = frozenset(("dot", "matmul"))
_OF_TWO = frozenset("maximum minimum add subtract multiply divide power".split())
_REDUCTIONS = frozenset("sum mean max min prod norm len size shape".split())
_NAMES_OF_MATRICES = ("weight", "kernel", "w_")
_DEEPEST = 12
"""Names within names that are looked into: one may be made of what it was before."""

Leaf = tuple[str, str | None]  # a parameter, or an entry of one
Shape = tuple[int, ...]  # the numbers of its lengths


def shapes_solved(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of the dicts with matrices that a function multiplies, and of the vectors that it multiplies
    these with; none where the text does not tell the lengths.

    >>> def step(p, h, x):
    ...     return np.tanh(p["U"] @ h + p["V"] @ x + p["b"])
    >>> found = shapes_solved(step)
    >>> [str(part) for _, part in found["p"][0].parts], str(found["h"][0]), str(found["x"][0])
    (['a vector (n)', 'a matrix (n, m)', 'a matrix (n, p)'], 'a vector (m)', 'a vector (p)')
    """
    node, names = text_of(f)
    keys = keys_read(f)
    if node is None or not keys:
        return {}
    solver = _Solver(values_by_name(node), names, keys)
    places = [inner for inner in ast.walk(node) if isinstance(inner, (ast.BinOp, ast.Call))]
    for _ in range(3):  # what one line tells may be needed in another
        for place in places:
            solver.shape(place)
    return solver.kinds()


class _Solver:
    """Shapes of leaves as numbers of lengths, of which some are found to be one."""

    def __init__(
        self, made: Mapping[str, ast.expr], names: frozenset[str], keys: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.made, self.names, self.keys = made, names, keys
        self.shapes: dict[Leaf, Shape] = {}
        self.same: dict[int, int] = {}
        self.fresh = itertools.count()
        self.sides: dict[Leaf, bool] = {}  # of the factors of products, whether it is the left one

    # -- lengths ---------------------------------------------------------------------------------------------

    def one(self, length: int) -> int:
        """The number that stands for all lengths that are the same."""
        while length in self.same:
            length = self.same[length]
        return length

    def unify(self, one: int, other: int) -> None:
        one, other = self.one(one), self.one(other)
        if one != other:
            self.same[max(one, other)] = min(one, other)

    def _new(self, is_matrix: bool) -> Shape:
        """A shape of lengths of which nothing is known."""
        return tuple(itertools.islice(self.fresh, 1 + is_matrix))

    # -- expressions -----------------------------------------------------------------------------------------

    def leaf(self, node: ast.AST) -> Leaf | None:
        if isinstance(node, ast.Name) and node.id in self.names and node.id not in self.keys:
            return None if node.id in self.made else (node.id, None)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return (node.value.id, key) if node.value.id in self.keys and isinstance(key, str) else None
        return None

    def shape(self, node: ast.AST, depth: int = 0) -> Shape | None:
        """The shape of an expression; None where nothing tells it."""
        if depth > _DEEPEST:
            return None
        leaf = self.leaf(node)
        if leaf is not None:
            return self.shapes.get(leaf)
        if isinstance(node, ast.Constant):
            return ()
        if isinstance(node, ast.Name):
            return self.shape(self.made[node.id], depth + 1) if node.id in self.made else None
        if isinstance(node, ast.UnaryOp):
            return self.shape(node.operand, depth)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            inner = self.shape(node.value, depth)
            return None if inner is None else inner[::-1]
        if isinstance(node, ast.BinOp):
            of = self._product if isinstance(node.op, ast.MatMult) else self._elementwise
            return of(node.left, node.right, depth)
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def _of_call(self, node: ast.Call, depth: int) -> Shape | None:
        name = getattr(node.func, "attr", None)
        if name in _PRODUCTS and isinstance(node.func, ast.Attribute):
            pair = node.args if len(node.args) == 2 else [node.func.value, *node.args]
            return self._product(pair[0], pair[1], depth) if len(pair) == 2 else None
        if name in _OF_TWO and len(node.args) == 2:
            return self._elementwise(node.args[0], node.args[1], depth)
        if len(node.args) != 1 or node.keywords or name in _REDUCTIONS:
            return None
        return self.shape(node.args[0], depth)  # of each element

    def _elementwise(self, left: ast.expr, right: ast.expr, depth: int) -> Shape | None:
        shapes = [self.shape(side, depth) for side in (left, right)]
        for mine, (side, other) in enumerate(((left, shapes[1]), (right, shapes[0]))):
            leaf = self.leaf(side)
            if shapes[mine] is None and leaf is not None and leaf[1] is not None and other:
                shapes[mine] = self.shapes[leaf] = other[-1:]  # an entry beside a vector: a bias
        first, second = shapes
        if first is None or second is None:  # a parameter, of which this tells nothing
            return first or second if self.leaf(left) or self.leaf(right) else None
        for pair in zip(reversed(first), reversed(second)):
            self.unify(*pair)
        return max(first, second, key=len)

    def _product(self, left: ast.expr, right: ast.expr, depth: int) -> Shape | None:
        first, second = self.shape(left, depth), self.shape(right, depth)
        leaves = self._plain_leaf(left), self._plain_leaf(right)
        for leaf, is_left in zip(leaves, (True, False)):
            if leaf is not None:
                self.sides.setdefault(leaf, is_left)
        if first is None and leaves[0] is not None and (second is not None or leaves[1] is not None):
            first = self._new(is_matrix=_is_of_matrix(leaves[0]))
            self._set(left, leaves[0], first)
        if second is None and leaves[1] is not None and first is not None:
            second = self._new(is_matrix=_is_of_matrix(leaves[1]))
            self._set(right, leaves[1], second)
        if not first or not second or max(len(first), len(second)) > 2:
            return None
        self.unify(first[-1], second[0])
        return (*first[:-1], *second[1:])

    def _plain_leaf(self, node: ast.expr) -> Leaf | None:
        """The leaf that an expression is, perhaps transposed."""
        turned = isinstance(node, ast.Attribute) and node.attr == "T"
        return self.leaf(node.value if turned else node)  # type: ignore[attr-defined]

    def _set(self, node: ast.expr, leaf: Leaf, shape: Shape) -> None:
        self.shapes[leaf] = shape[::-1] if isinstance(node, ast.Attribute) else shape

    # -- what was found --------------------------------------------------------------------------------------

    def kinds(self) -> Mapping[str, tuple[Kind, ...]]:
        dicts = dict(self._dicts())
        if not dicts:
            return {}
        plain = [leaf for leaf in self.shapes if leaf[1] is None and leaf in self.sides]
        return {**{leaf[0]: (self._kind(self.shapes[leaf]), self._several(leaf)) for leaf in plain}, **dicts}

    def _several(self, leaf: Leaf) -> Kind:
        """A matrix of such vectors: rows where they stand on the left, else columns."""
        letter = self._letter(self.shapes[leaf][0])
        return Kind("matrix", dims=(_MANY, letter) if self.sides[leaf] else (letter, _MANY))

    def _dicts(self) -> Iterator[tuple[str, tuple[Kind, ...]]]:
        for name, keys in self.keys.items():
            shapes = [self.shapes.get((name, key)) for key in keys]
            if any(shape is not None and len(shape) == 2 for shape in shapes):
                parts = tuple((key, self._kind(shape or ())) for key, shape in zip(keys, shapes))
                yield name, (Kind("object", made=dict, parts=parts),)

    def _kind(self, shape: Shape) -> Kind:
        dims = tuple(self._letter(length) for length in shape)
        return Kind(("number", "vector", "matrix")[len(shape)], dims=dims)

    def _letter(self, length: int) -> str:
        """The letter of a length, by the order in which the leaves were met."""
        order = sorted({self.one(n) for shape in self.shapes.values() for n in shape})
        return _LETTERS[order.index(self.one(length)) % len(_LETTERS)]


def _is_of_matrix(leaf: Leaf) -> bool:
    """Whether an entry has the name of a matrix; what it is multiplied with is a vector."""
    key = leaf[1]
    return key is not None and (key[:1].isupper() or key.startswith(_NAMES_OF_MATRICES))
