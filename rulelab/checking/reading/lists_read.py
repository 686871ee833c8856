"""What the code of a function says about the lists over which it iterates: matrices multiplied in turn,
layers, rows that are unpacked, and arrays of which each is summed.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping

from .docstrings import lists_said
from .kinds import Kind, of_lengths
from .loops_read import iterated_name, side_by_side
from .texts import identifier, size_of_identity

PAIR = (Kind("matrix", dims=("m", "n")), Kind("matrix", dims=("p", "m")))
_SQUARE = Kind("matrix", dims=("n", "n"))
BIASES = (Kind("vector", dims=("m",)), Kind("vector", dims=("p",)))


def of_lists(node: ast.AST, began: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """What one node says about lists; `began` has the values of names before a loop."""
    yield from _of_parts(node, began)
    yield from _of_each(node)
    yield from _of_layers(node)
    yield from _of_rows_taken_apart(node)


def _of_parts(node: ast.AST, began: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Lists whose parts are multiplied in turn or unpacked: `for W, b in layers`, `L, U = factors`."""
    loop = node if isinstance(node, (ast.For, ast.comprehension)) else None
    sides = [*side_by_side(loop)] if loop is not None else []
    target, name = (sides[0][0], iterated_name(sides[0][1])) if len(sides) == 1 else (None, None)
    if loop is not None and name is not None:
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            layers = [sequence(tuple, pair) for pair in zip(PAIR, BIASES)]
            both = (layers, [transposed_kind(layer) for layer in layers])
            yield name, tuple(sequence(made, each) for made in (list, tuple) for each in both)
        elif isinstance(target, ast.Name) and _is_multiplied(loop, target.id):
            beside = (began[one] for one in _names_beside(loop, target.id) if one in began)
            size = max(map(size_of_identity, beside), default=0)
            if size:
                yield name, (sequence(list, [Kind("matrix", dims=(size, size))] * 3),)
                return
            chains = (PAIR, map(transposed_kind, PAIR), [_SQUARE] * 3)
            yield name, (*(sequence(list, chain) for chain in chains), *_ROWS)
        elif isinstance(node, ast.comprehension):
            return  # see `_of_each` for what is done with each part
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        names = [part.id for part in node.targets[0].elts if isinstance(part, ast.Name)]
        if isinstance(node.value, ast.Name) and len(names) == 2 and all(name[0].isupper() for name in names):
            yield node.value.id, (sequence(tuple, (_SQUARE, _SQUARE)), sequence(tuple, PAIR[::-1]))


def _of_layers(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Lists over which a loop iterates in parallel: matrices that are multiplied and vectors that are added,
    `for W, b in zip(weights, biases)`, or matrices row by row.
    """
    if not isinstance(node, ast.For):
        return
    pairs = ((identifier(part), iterated_name(of)) for part, of in side_by_side(node))
    sides = [(part, of) for part, of in pairs if part and of]
    matrices = [of for part, of in sides if _is_multiplied(node, part)]
    for part, of in sides if len(sides) > 1 and matrices else ():
        if of in matrices:
            other_way = [transposed_kind(one) for one in PAIR]
            layers = (sequence(made, pair) for made in (list, tuple) for pair in (PAIR, other_way))
            yield of, (*layers, Kind("matrix", dims=("n", "m")))
        elif _is_added(node, part):
            rows = (Kind("matrix", dims=("n", letter)) for letter in "pm")
            yield of, (sequence(list, BIASES), sequence(tuple, BIASES), *rows)


def _of_rows_taken_apart(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Rows that a loop unpacks beside other arrays, `for t, (a, b) in zip(times, rows)`: there are as many
    rows as elements of the others.
    """
    sides = [*side_by_side(node)] if isinstance(node, (ast.For, ast.comprehension)) else []
    widths = {identifier(of): len(target.elts) for target, of in sides if isinstance(target, ast.Tuple)}
    for target, of in sides if len(sides) > 1 and widths else ():
        if width := widths.get(identifier(of)):
            tuples = sequence(list, [sequence(tuple, [Kind()] * width)] * 3)
            yield identifier(of), (Kind("matrix", dims=("n", width)), tuples)
        elif isinstance(target, ast.Name):
            yield identifier(of), (Kind("vector", dims=("n",)), Kind("matrix", dims=("n", "m")))


_ROWS = tuple(Kind("matrix", dims=dims) for dims in (("p", "m"), ("p", "n"), ("n", "m")))
"""Matrices by whose rows a matrix is multiplied in turn."""


_PUT_TOGETHER = frozenset("concatenate hstack vstack column_stack stack block_diag".split())
_OF_ARRAYS = frozenset("sum mean norm ravel flatten reshape shape size dot vdot T".split())
"""Functions and attributes that are used with arrays, and pointless for numbers."""


def _of_each(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Lists of arrays: those that are concatenated, and those of which each array is summed or flattened."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in _PUT_TOGETHER:
        yield from ((arg.id, LISTS_OF_ARRAYS) for arg in node.args[:1] if isinstance(arg, ast.Name))
    comprehensions = getattr(node, "generators", ())
    loops = [node] if isinstance(node, ast.For) else comprehensions
    for loop in loops:
        if isinstance(loop.iter, ast.Name) and isinstance(loop.target, ast.Name):
            named = (n for n in ast.walk(node) if _asks_as_array(n, loop.target.id))
            yield from ((loop.iter.id, LISTS_OF_ARRAYS) for _ in itertools.islice(named, 1))


def _asks_as_array(node: ast.AST, name: str) -> bool:
    """Whether a node uses this name as an array: `a.size`, `np.sum(a**2)`."""
    if isinstance(node, ast.Attribute) and node.attr in _OF_ARRAYS:
        return isinstance(node.value, ast.Name) and node.value.id == name
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", None) not in _OF_ARRAYS:
        return False
    return any(isinstance(n, ast.Name) and n.id == name for arg in node.args for n in ast.walk(arg))


def _is_multiplied(loop: ast.AST, name: str) -> bool:
    return _is_in(loop, ast.MatMult, name)


def _names_beside(loop: ast.AST, name: str) -> Iterator[str]:
    """The names that a loop multiplies by this one with `@`: `total @ layer`."""
    for each in ast.walk(loop):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.MatMult):
            sides = [identifier(each.left), identifier(each.right)]
            yield from (side for side in sides if name in sides and side != name)


def _is_added(loop: ast.AST, name: str) -> bool:
    return _is_in(loop, ast.Add, name)


def _is_in(loop: ast.AST, operator: type[ast.operator], name: str) -> bool:
    """Whether a name occurs in an operand of this operator in a loop."""
    found = (n for n in ast.walk(loop) if isinstance(n, ast.BinOp) and isinstance(n.op, operator))
    return any(isinstance(n, ast.Name) and n.id == name for each in found for n in ast.walk(each))


def sequence(made: type, parts: object) -> Kind:
    """A list or a tuple of parts of these kinds."""
    return Kind("object", made=made, parts=tuple((str(i), part) for i, part in enumerate(parts)))  # type: ignore[arg-type, var-annotated]


_VECTORS = [Kind("vector", dims=(letter,)) for letter in "nmp"]
LISTS_OF_ARRAYS = (
    sequence(list, _VECTORS),
    sequence(list, [Kind("matrix", dims=("m", "n")), *_VECTORS[:2]]),
    sequence(list, [Kind("matrix", dims=(letter, "n")) for letter in "mp"]),
    sequence(list, [Kind("matrix", dims=("n", letter)) for letter in "mp"]),
    sequence(list, _VECTORS[:1] * 2),
    sequence(list, [Kind("matrix", dims=("m", "n"))] * 2),
    sequence(tuple, _VECTORS),
    sequence(tuple, _VECTORS[:1] * 2),
    Kind("matrix", dims=("n", "m")),
    Kind("vector", dims=("n",)),
)
"""Lists of arrays: with lengths of their own, mixed, with equal numbers of columns or rows, all alike; tuples
of arrays, a matrix whose rows are iterated over, and a vector.
"""


def transposed_kind(kind: Kind) -> Kind:
    """The kind with its matrices transposed."""
    if kind.made is not None:
        return sequence(kind.made, [transposed_kind(part) for _, part in kind.parts])
    return Kind(kind.form, dims=kind.dims[::-1])


def layered_kinds(keys: tuple[str, ...]) -> tuple[Kind, ...]:
    """A dict of two layers, matrices under names like `W1` and vectors under names like `b1`, for both orders
    of multiplication.

    >>> [str(part) for _, part in layered_kinds(("W1", "b1", "W2", "b2"))[0].parts]
    ['a matrix (m, n)', 'a vector (m)', 'a matrix (p, m)', 'a vector (p)']
    """
    matrices = sorted(key for key in keys if key[0] in "Ww")
    vectors = sorted(key for key in keys if key[0] in "bB")
    if len(matrices) != 2 or len(vectors) not in (0, 2) or len(matrices) + len(vectors) < len(keys):
        return ()
    found = []
    for pair in (PAIR, tuple(map(transposed_kind, PAIR))):
        parts = {**dict(zip(matrices, pair)), **dict(zip(vectors, BIASES))}
        found.append(Kind("object", made=dict, parts=tuple((key, parts[key]) for key in keys)))
    return tuple(found)


def tuples_of(count: int, forms: tuple[str, ...]) -> tuple[Kind, ...]:
    return tuple(sequence(tuple, [Kind(form)] * count) for form in forms)


def lists_of_arrays(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The parameters that a docstring calls lists of arrays, with the kinds that may be intended, likely ones
    first.
    """
    alike = [sequence(list, [Kind(form)] * 3) for form in ("vector", "matrix")]
    return {
        name: (sequence(list, [of_lengths(dims)] * 3),) if dims else (*alike, *LISTS_OF_ARRAYS)
        for name, dims in lists_said(f).items()
    }
