"""Solve for the lengths of parameters and their parts from the products in a function's code, which is read
and never run: in `p["U"] @ h + p["V"] @ x + p["b"]`, the matrices have as many rows as `b` has elements, and
so in `U @ h + V @ x + b`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from ...rules.signatures import meant_types
from .anatomy import last_name
from .by_name import is_matrix_name
from .kinds import Kind
from .kinds_taken import fields_of
from .texts import attributes_read, calls_in, keys_read, text_of, values_by_name, whole_number

_LETTERS, _MANY = "nmpqklrsuvw", "t"
_PRODUCTS = frozenset(("dot", "matmul"))
_OF_TWO = frozenset("maximum minimum add subtract multiply divide power".split())
_REDUCTIONS = frozenset("sum mean max min prod norm len size shape".split())
_OF_SQUARE = frozenset("cholesky det eigh eigvalsh inv slogdet solve".split())
"""Functions of square matrices; those that read one triangle take positive definite ones."""
_OF_DEFINITE = frozenset("cholesky eigh eigvalsh".split())
_OF_ANY_SQUARE = _OF_SQUARE - _OF_DEFINITE
_NAMES_OF_MATRICES = ("weight", "kernel", "w_")
_JOINING = frozenset(("concatenate", "hstack"))
_SUMS = (ast.Add, ast.Sub)
_DEEPEST = 12
"""The depth to which names within values of names are followed."""

Leaf = tuple[str, str | None]  # a parameter, or an entry of one
Shape = tuple[int, ...]  # the numbers of its lengths


def shapes_solved(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of dicts with matrices that a function multiplies, and of the vectors that it multiplies
    these by; none where the code does not determine the lengths.

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
    return _Solver(node, names, keys).kinds()


def taken_as_square(f: Callable) -> frozenset[str]:
    """The parameters that a function inverts, or whose determinant it takes, as they are.

    >>> def strain_energy(F, mu):
    ...     return mu * np.sum(np.log(np.linalg.det(F)) ** 2)
    >>> sorted(taken_as_square(strain_energy))
    ['F']
    """
    node, names = text_of(f)
    taken = (call.args[0] for call in calls_in(node) if call.args and last_name(call.func) in _OF_ANY_SQUARE)
    return names & {arg.id for arg in taken if isinstance(arg, ast.Name)}


def solved_together(f: Callable, of_factors: bool = False) -> Iterator[Mapping[str, Kind]]:
    """What the products in the code of a function imply for all its parameters at once, and for their parts
    (an "object" with the known parts). The first reading recognizes matrices by their names; in the second,
    the left factor of each product is a matrix, since a `w` may be a row of weights or a matrix. Nothing is
    returned without a matrix.

    The operands of a product or quotient, as in `A @ (x / y)`, are both taken as vectors only with
    `of_factors`, since one of them may be a number.

    >>> def step(x, h, Wx, Wh, b):
    ...     return 0.7 * h + np.tanh(Wx @ x + Wh @ h + b)
    >>> {name: "".join(kind.dims) for name, kind in next(solved_together(step)).items()}
    {'Wx': 'nm', 'x': 'm', 'Wh': 'nn', 'h': 'n', 'b': 'n'}
    """
    node, names = text_of(f)
    if node is None:
        return
    made = {name: fields_of(note) for name, note in meant_types(f).items() if fields_of(note)}
    parts_read = {**attributes_read(f), **made, **keys_read(f)}
    readings = (_Solver(node, names, parts_read, is_left, of_factors) for is_left in (False, True))
    yield from (read for read in (reading.together() for reading in readings) if read)


def _split_in(node: ast.AST) -> Iterator[tuple[str, tuple[ast.expr, int]]]:
    """The names of the equal parts into which code splits an expression, with that expression and the number
    of parts.
    """
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Assign) or not isinstance(inner.value, ast.Call):
            continue
        call, target = inner.value, inner.targets[0]
        parts = target.elts if isinstance(target, ast.Tuple) else []
        is_split = getattr(call.func, "attr", None) in ("split", "hsplit") and len(call.args) == 2
        if is_split and not call.keywords and parts and whole_number(call.args[1]) == len(parts):
            yield from ((one.id, (call.args[0], len(parts))) for one in parts if isinstance(one, ast.Name))


class _Solver:
    """Shapes of leaves, as tuples of numbered lengths, some of which turn out to be equal."""

    def __init__(
        self,
        node: ast.AST,
        names: frozenset[str],
        keys: Mapping[str, tuple[str, ...]],
        is_matrix_left: bool = False,
        of_factors: bool = False,
    ) -> None:
        self.joining = (*_SUMS, ast.Mult, ast.Div) if of_factors else _SUMS
        self.made, self.names, self.keys = values_by_name(node), names, keys
        self.is_matrix_left = is_matrix_left  # of products, whatever its name is
        self.shapes: dict[Leaf, Shape] = {}
        self.forms: dict[Leaf, str] = {}  # of square matrices
        self.same: dict[int, int] = {}
        self.fresh = itertools.count()
        self.sides: dict[Leaf, bool] = {}  # whether a factor of a product is the left one
        self.learned = 0  # how many facts were found
        self.known: dict[tuple[int, int], tuple[int, Shape | None]] = {}  # node: facts then, shape
        self.split = dict(_split_in(node))
        self.parts: list[tuple[int, int, int]] = []  # a length, the number of its parts, the length of one
        self.sums: list[tuple[int, tuple[int, ...]]] = []  # a length, and those that add up to it
        places = [inner for inner in ast.walk(node) if isinstance(inner, (ast.BinOp, ast.Call))]
        self.turned = {self._turned_leaf(inner) for inner in ast.walk(node)}
        self.of_names: dict[str, Shape | None] = {}  # while one expression is read
        for _ in range(3):  # a line may need what a later one tells
            for place in places:
                self.of_names.clear()
                self.shape(place)

    # -- lengths ---------------------------------------------------------------------------------------------

    def one(self, length: int) -> int:
        """The number that represents all lengths equal to this one."""
        while length in self.same:
            length = self.same[length]
        return length

    def unify(self, one: int, other: int) -> None:
        one, other = self.one(one), self.one(other)
        if one != other:
            self.same[max(one, other)] = min(one, other)
            self.learned += 1

    def _new(self, is_matrix: bool) -> Shape:
        """A shape of unknown lengths."""
        return tuple(itertools.islice(self.fresh, 1 + is_matrix))

    # -- expressions -----------------------------------------------------------------------------------------

    def leaf(self, node: ast.AST) -> Leaf | None:
        if isinstance(node, ast.Name) and node.id in self.names and node.id not in self.keys:
            return None if node.id in self.made else (node.id, None)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return (node.value.id, key) if node.value.id in self.keys and isinstance(key, str) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            return (name, node.attr) if node.attr in self.keys.get(name, ()) else None
        return None

    def _turned_leaf(self, node: ast.AST) -> Leaf | None:
        """The leaf that is transposed there."""
        return self.leaf(node.value) if isinstance(node, ast.Attribute) and node.attr == "T" else None

    def _is_matrix(self, leaf: Leaf, is_left: bool) -> bool:
        """Whether a factor is a matrix: by its name, because it is transposed elsewhere, or because all left
        factors are taken as matrices. The other factor is a vector.
        """
        name = leaf[1] or leaf[0]
        is_named = name[:1].isupper() or name.startswith(_NAMES_OF_MATRICES) or is_matrix_name(name)
        return is_named or leaf in self.turned or is_left and self.is_matrix_left

    def shape(self, node: ast.AST, depth: int = 0) -> Shape | None:
        """The shape of an expression; None where it is not determined.

        Names are defined by other names, so the same node may be reached thousands of times: a result is
        reused until another fact is found.
        """
        if depth > _DEEPEST:
            return None
        at = id(node), depth
        learned, shape = self.known.get(at, (-1, None))
        if learned != self.learned:
            learned = self.learned
            shape = self._read(node, depth)
            if learned == self.learned:
                self.known[at] = learned, shape
        return shape

    def _read(self, node: ast.AST, depth: int) -> Shape | None:
        leaf = self.leaf(node)
        if leaf is not None:
            return self.shapes.get(leaf)
        if isinstance(node, ast.Constant):
            return ()
        if isinstance(node, ast.Name) and node.id in self.split:
            return self._of_part(*self.split[node.id], depth + 1)
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth + 1) if node.id in self.made else None
        if isinstance(node, ast.UnaryOp):
            return self.shape(node.operand, depth)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            inner = self.shape(node.value, depth)
            return None if inner is None else inner[::-1]
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.MatMult):
                return self._product(node.left, node.right, depth)
            adds = isinstance(node.op, (ast.Add, ast.Sub))
            return self._elementwise(node.left, node.right, depth, adds)
        return self._of_call(node, depth) if isinstance(node, ast.Call) else None

    def _of_part(self, whole: ast.expr, count: int, depth: int) -> Shape | None:
        """The shape of one of several equal parts of a vector: `i, f, g, o = np.split(W @ x + b, 4)`."""
        shape = self.shape(whole, depth)
        if shape is None or len(shape) != 1:
            return None
        length = self.one(shape[0])
        known = (part for of, many, part in self.parts if (self.one(of), many) == (length, count))
        part = next(known, None)
        if part is None:
            part = next(self.fresh)
            self.parts.append((length, count, part))
            self.learned += 1
        return (part,)

    def _of_name(self, name: str, depth: int) -> Shape | None:
        """The shape of the value assigned to a name; None while that is being read."""
        if name not in self.of_names:
            self.of_names[name] = None  # while its value is read
            self.of_names[name] = self.shape(self.made[name], depth)
        return self.of_names[name]

    def _of_call(self, node: ast.Call, depth: int) -> Shape | None:
        name = getattr(node.func, "attr", None)
        if name in _JOINING and len(node.args) == 1 and not node.keywords:
            return self._of_joined(node.args[0], depth)
        if name in _PRODUCTS and isinstance(node.func, ast.Attribute):
            pair = node.args if len(node.args) == 2 else [node.func.value, *node.args]
            return self._product(pair[0], pair[1], depth) if len(pair) == 2 else None
        if name in _OF_TWO and len(node.args) == 2:
            return self._elementwise(node.args[0], node.args[1], depth, adds=False)
        if name in _OF_SQUARE and node.args:
            square = self._square(node.args[0], name, depth)
            if name != "solve" or len(node.args) != 2 or square is None:
                return square if name in ("cholesky", "inv") else None
            return self._product(node.args[0], node.args[1], depth)
        if len(node.args) != 1 or node.keywords or name in _REDUCTIONS:
            return None
        return self.shape(node.args[0], depth)  # an elementwise function

    def _of_joined(self, node: ast.expr, depth: int) -> Shape | None:
        """The shape of vectors that are joined end to end: `W @ np.concatenate([h, x])`. Leaves of unknown
        shape are taken as vectors.
        """
        joined = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
        for part in joined:
            leaf = self.leaf(part)
            if leaf is not None and leaf not in self.shapes:
                self._set(part, leaf, self._new(is_matrix=False))
        shapes = [self.shape(part, depth) for part in joined]
        if not shapes or any(shape is None or len(shape) != 1 for shape in shapes):
            return None
        lengths = tuple(self.one(shape[0]) for shape in shapes if shape)
        known = (of_all for of_all, parts in self.sums if tuple(map(self.one, parts)) == lengths)
        of_all = next(known, None)
        if of_all is None:
            of_all = next(self.fresh)
            self.sums.append((of_all, lengths))
            self.learned += 1
        return (of_all,)

    def _square(self, node: ast.expr, function: str, depth: int) -> Shape | None:
        """The shape of what is passed to a function of square matrices."""
        leaf = self._plain_leaf(node)
        if leaf is not None and leaf not in self.shapes:
            self.shapes[leaf] = self._new(is_matrix=False) * 2
            self.learned += 1
        shape = self.shape(node, depth)
        if shape is None or len(shape) != 2:
            return None
        self.unify(*shape)
        if leaf is not None:
            is_definite = function in _OF_DEFINITE or self.forms.get(leaf) == "positive definite"
            form = "positive definite" if is_definite else "square"
            self.learned += self.forms.get(leaf) != form
            self.forms[leaf] = form
        return shape

    def _elementwise(self, left: ast.expr, right: ast.expr, depth: int, adds: bool) -> Shape | None:
        shapes = [self.shape(side, depth) for side in (left, right)]
        for mine, (side, other) in enumerate(((left, shapes[1]), (right, shapes[0]))):
            leaf = self.leaf(side)
            is_shaped = adds or (leaf is not None and leaf[1] is not None) or self._is_part(other)
            if shapes[mine] is None and leaf is not None and is_shaped and other:
                shapes[mine] = self.shapes[leaf] = other[-1:]  # beside a vector: a bias
                self.learned += 1
        first, second = shapes
        if first is None or second is None:  # the other is a parameter of unknown shape
            return first or second if self.leaf(left) or self.leaf(right) else None
        for pair in zip(reversed(first), reversed(second)):
            self.unify(*pair)
        return max(first, second, key=len)

    def _is_part(self, shape: Shape | None) -> bool:
        """Whether a vector is as long as the parts of one that is split, like the state of an LSTM cell."""
        return bool(shape) and any(self.one(part) == self.one(shape[-1]) for *_, part in self.parts)  # type: ignore[index]

    def _product(self, left: ast.expr, right: ast.expr, depth: int) -> Shape | None:
        first, second = self.shape(left, depth), self.shape(right, depth)
        leaves = self._plain_leaf(left), self._plain_leaf(right)
        for leaf, is_left in zip(leaves, (True, False)):
            if leaf is not None and leaf not in self.sides:
                self.sides[leaf] = is_left
                self.learned += 1
        is_told = second is not None or leaves[1] is not None or self.joining != _SUMS
        if first is None and leaves[0] is not None and is_told:
            first = self._new(is_matrix=self._is_matrix(leaves[0], is_left=True))
            self._set(left, leaves[0], first)
        if second is None and leaves[1] is not None and first is not None:
            second = self._new(is_matrix=self._is_matrix(leaves[1], is_left=False))
            self._set(right, leaves[1], second)
        if first is None and second is not None and len(second) == 2:
            first = self._of_unknown(left, second[:1], depth)
        if second is None and first is not None and len(first) == 2:
            second = self._of_unknown(right, first[-1:], depth)
        if not first or not second or max(len(first), len(second)) > 2:
            return None
        self.unify(first[-1], second[0])
        return (*first[:-1], *second[1:])

    def _of_unknown(self, node: ast.expr, shape: Shape, depth: int) -> Shape | None:
        """The shape of an unknown factor beside a matrix, taken as a vector: a sum or difference of leaves of
        unknown shape, such as `x - g.mean`, or that times a constant; products and quotients only if
        `of_factors`. None for anything else.
        """
        inner = self.made.get(node.id) if isinstance(node, ast.Name) else node
        if depth > _DEEPEST or not isinstance(inner, ast.BinOp):
            return None
        if isinstance(inner.left, ast.Constant):
            return self._of_unknown(inner.right, shape, depth + 1)
        if not isinstance(inner.op, self.joining):
            return None
        leaves = self.leaf(inner.left), self.leaf(inner.right)
        if any(leaf is None or leaf in self.shapes for leaf in leaves):
            return None
        for side, leaf in zip((inner.left, inner.right), leaves):
            self._set(side, leaf, shape)  # type: ignore[arg-type]
        return shape

    def _plain_leaf(self, node: ast.expr) -> Leaf | None:
        """The leaf that an expression is, possibly transposed."""
        return self._turned_leaf(node) or self.leaf(node)

    def _set(self, node: ast.expr, leaf: Leaf, shape: Shape) -> None:
        self.shapes[leaf] = shape[::-1] if self._turned_leaf(node) else shape
        self.learned += 1

    # -- results ---------------------------------------------------------------------------------------------

    def kinds(self) -> Mapping[str, tuple[Kind, ...]]:
        dicts = dict(self._dicts())
        if not dicts:
            return {}
        plain = [leaf for leaf in self.shapes if leaf[1] is None and leaf in self.sides]
        return {**{leaf[0]: self._one_and_several(leaf) for leaf in plain}, **dicts}

    def together(self) -> Mapping[str, Kind]:
        """The kind of each parameter about which something is known."""
        if all(len(shape) < 2 for shape in self.shapes.values()):
            return {}
        parts: dict[str, list[tuple[str, Kind]]] = {}
        for (name, key), shape in self.shapes.items():
            kind = self._kind(shape, self.forms.get((name, key)))
            parts.setdefault(name, []).append((key or "", kind))
        return {
            name: Kind("object", parts=tuple(kinds)) if name in self.keys else kinds[0][1]
            for name, kinds in parts.items()
        }

    def _one_and_several(self, leaf: Leaf) -> tuple[Kind, ...]:
        """The kind of a factor, and for a vector also a matrix of such vectors."""
        one = self._kind(self.shapes[leaf])
        return (one, self._several(leaf)) if one.form == "vector" else (one,)

    def _several(self, leaf: Leaf) -> Kind:
        """A matrix of such vectors: as rows if they are left factors, else as columns."""
        letter = self._letter(self.shapes[leaf][0])
        return Kind("matrix", dims=(_MANY, letter) if self.sides[leaf] else (letter, _MANY))

    def _dicts(self) -> Iterator[tuple[str, tuple[Kind, ...]]]:
        for name, keys in self.keys.items():
            shapes = [self.shapes.get((name, key)) for key in keys]
            if any(shape is not None and len(shape) == 2 for shape in shapes):
                parts = tuple((key, self._kind(shape or ())) for key, shape in zip(keys, shapes))
                yield name, (Kind("object", made=dict, parts=parts),)

    def _kind(self, shape: Shape, form: str | None = None) -> Kind:
        dims = tuple(self._letter(length) for length in shape)
        return Kind(form or ("number", "vector", "matrix")[len(shape)], dims=dims)

    def _letter(self, length: int) -> str:
        """The letter of a length, in the order in which the leaves were found. The length of a split vector
        is a multiple of that of a part, and that of joined vectors a sum.
        """
        for of, count, part in self.parts:
            if self.one(of) == self.one(length):
                return f"{count}*{self._letter(part)}"
        for of_all, joined in self.sums:
            if self.one(of_all) == self.one(length) and self.one(length) not in map(self.one, joined):
                return "+".join(map(self._letter, joined))
        used = {self.one(n) for shape in self.shapes.values() for n in shape}
        order = sorted(used.union(self.one(part) for *_, part in self.parts))
        return _LETTERS[order.index(self.one(length)) % len(_LETTERS)]
