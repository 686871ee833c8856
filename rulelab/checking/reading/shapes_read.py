"""The lengths of parameters that the code of a function implies, read and never run: products with matrices
written out, indexing by rows and columns, one-hot rows, and padding.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from ...rules.signatures import meant_types
from .anatomy import last_name
from .axes_read import cross_product_parameters
from .blocks_read import beside_blocks, of_blocks
from .kinds import AS_LIST, Kind, Lengths, lengths_of_axes, of_lengths
from .lists_read import of_lists, sequence, tuples_of
from .loops_read import side_by_side
from .texts import (
    attributes_read,
    identifier,
    size_of_identity,
    text_of,
    unpacked_names,
    values_by_name,
    whole_defaults,
    whole_number,
)
from .usage import shapes_of_parts_said, shapes_said

_ELEMENTS = frozenset(("array", "asarray", "matrix"))
_LABELS = Kind("indices", dims=("n", "m"))
_PAIRS = Kind("indices", dims=("n", 2, "n"))
_PAIRED = Kind("indices", dims=(2, "n", "n"))


FEWEST_ROWS = 3
"""The smallest number of rows, or numbers, read at constant indices from which their count follows: of two,
more may exist that are not read.
"""
MOST_AXES = 3
"""The number of axes of the arrays that are drawn where a function uses that many."""
_OF_THREE = (Kind("array", dims=("n", "m", "p")),)


def shapes_read(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds, with lengths, that the code of a function implies for its parameters, likeliest first.

    >>> def turned(points, c, s):
    ...     return points @ np.array([[c, s], [-s, c]])
    >>> [str(kind) for kind in shapes_read(turned)["points"]]
    ['a vector (2)', 'a matrix (n, 2)']
    >>> def picked(logits, labels):
    ...     return logits[np.arange(len(labels)), labels].sum()
    >>> {name: str(kinds[0]) for name, kinds in shapes_read(picked).items()}
    {'logits': 'a matrix (n, m)', 'labels': 'a vector of indices (n), below m'}
    >>> def stretched(x, edges):
    ...     return np.sum((x[edges[:, 0]] - x[edges[:, 1]]) ** 2)
    >>> {name: str(kinds[0]) for name, kinds in shapes_read(stretched).items()}
    {'edges': 'an array of indices (n, 2), below n'}
    >>> def moved(rates, t, before):
    ...     Q = rates * t
    ...     return (np.eye(4) + Q + Q @ Q / 2) @ before
    >>> {name: str(kinds[0]) for name, kinds in shapes_read(moved).items()}
    {'before': 'a vector (4)', 'rates': 'a matrix (4, 4)', 't': 'a matrix (4, 4)'}
    >>> def forward(net, x):
    ...     for w, b in zip(net.weights, net.biases):
    ...         x = np.tanh(w @ x + b)
    ...     return x
    >>> {name: str(kinds[0]) for name, kinds in shapes_read(forward).items()}
    {'net.weights': 'a list of arrays', 'net.biases': 'a list of arrays'}
    """
    node, names = text_of(f)
    if node is None:
        return {}
    if parts := {f"{name}.{part}" for name, read in attributes_read(f).items() for part in read}:
        node, names = _WithParts(parts).visit(copy.deepcopy(node)), names | parts
    began = values_by_name(node, first=True)
    made, picking, wholes = values_by_name(node), set(_names_in_picks(node)), whole_defaults(f)
    lengths = shapes_said(f)
    found: dict[str, tuple[Kind, ...]] = {**dict(_of_columns(node, names)), **dict(_of_pairs(node, made))}
    found |= dict(_of_rows(node, names))
    beside: dict[str, tuple[Kind, ...]] = {}
    for inner in ast.walk(node):
        read = (*_of_product(inner, made), *_of_picks(inner, made), *of_lists(inner, began))
        read += (*_of_einsum(inner, made), *_of_sums_with_einsum(inner))
        read += (*_of_reshape(inner), *_of_shape(inner))
        read += (*_of_padding(inner, made, lengths), *_of_flat(inner, made), *_of_split(inner))
        read += (*_of_picks_one_by_one(inner, picking), *_of_matrix_taken_apart(inner))
        read += (*_of_identity(inner, made), *_of_cross(inner))
        blocks = [(name, kinds) for name, kinds in of_blocks(inner, wholes) if name in names]
        for name, kinds in (*read, *blocks):
            found.setdefault(name, kinds)
        beside |= {name: beside_blocks(kinds) for _, kinds in blocks for name in names}
    for name, kinds in beside.items():
        found.setdefault(name, kinds)
    return {**dict(_of_tuples(f)), **{name: kinds for name, kinds in found.items() if name in names}}


class _WithParts(ast.NodeTransformer):
    """Replaces the attributes of parameters, such as `net.weights`, by names."""

    def __init__(self, parts: Container[str]) -> None:
        self.parts = parts

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = f"{identifier(node.value)}.{node.attr}"
        if name not in self.parts:
            return self.generic_visit(node)
        return ast.copy_location(ast.Name(name, node.ctx), node)


def _of_tuples(f: Callable) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Parameters annotated as tuples and unpacked, `lo, hi = limits`: numbers or vectors; or arrays whose
    lengths a docstring gives.
    """
    notes, said = meant_types(f), shapes_of_parts_said(f)
    for name, parts in unpacked_names(f).items():
        if name in said:
            dims = [said[name].get(part, ()) for part in parts]
            yield name, (sequence(tuple, map(of_lengths, dims)),)
        elif notes.get(name) is tuple:
            yield name, tuples_of(len(parts), ("number", "vector"))


def lengths_held(f: Callable) -> Mapping[str, tuple[tuple[int | str, ...], ...]]:
    """The lengths of parameters that the code or the docstring of a function fixes to a number, in whole or
    in part: other lengths must not be tried.

    >>> def area(p):
    ...     return np.sum(p[:, 0] * np.roll(p[:, 1], 1))
    >>> lengths_held(area)
    {'p': (('n', 2), (2, 2))}
    """
    said = {name: (Kind(dims=dims),) for name, dims in shapes_said(f).items()}
    crosses = dict.fromkeys(cross_product_parameters(f), (Kind(dims=(3,)), Kind(dims=("n", 3))))
    found = {}
    for name, kinds in {**crosses, **shapes_read(f), **said}.items():
        shapes = map(lengths_of_axes, kinds)
        lengths = tuple(dims for dims in shapes if any(isinstance(d, int) for d in dims))
        if lengths:
            found[name] = lengths
    return found


def _of_product(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """A name multiplied by a matrix whose size is known from the code."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult):
        return
    left, right = _written_out(node.left, made), _written_out(node.right, made)
    row, width = _entries(node.left, made), _width_of_columns(node.right)
    if width > 1 and isinstance(node.left, ast.Name):
        yield node.left.id, (Kind("matrix", dims=("m", width)), Kind("vector", dims=(width,)))
    if row and isinstance(node.right, ast.Name):
        yield node.right.id, (Kind("matrix", dims=(row, "n")), Kind("vector", dims=(row,)))
    if right is not None and isinstance(node.left, ast.Name):
        yield node.left.id, (Kind("vector", dims=right[:1]), Kind("matrix", dims=("n", right[0])))
    if left is not None and isinstance(node.right, ast.Name):
        yield node.right.id, (Kind("vector", dims=left[1:]), Kind("matrix", dims=(left[1], "n")))


def _width_of_columns(node: ast.expr) -> int:
    """How many columns of a matrix that is then transposed are selected by number: `H[:, :2].T`."""
    cut = node.value if isinstance(node, ast.Attribute) and node.attr == "T" else None
    is_closed = isinstance(cut, ast.Subscript) and not _ends_open(cut.slice)
    return len(_columns_in(cut.slice)) if is_closed else 0  # type: ignore[union-attr]


def _ends_open(at: ast.expr) -> bool:
    """Whether columns are selected up to the last one, however many there are."""
    column = at.elts[-1] if isinstance(at, ast.Tuple) else at
    return isinstance(column, ast.Slice) and column.upper is None


def _entries(node: ast.expr, made: Mapping[str, ast.expr]) -> int:
    """The number of elements of a vector that is written out; 0 for anything else."""
    if isinstance(node, ast.Name) and not isinstance(made.get(node.id), ast.Name):
        node = made.get(node.id, node)
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", None) not in _ELEMENTS or not node.args:
        return 0
    entries = node.args[0].elts if isinstance(node.args[0], (ast.List, ast.Tuple)) else []
    return 0 if any(isinstance(e, (ast.List, ast.Tuple, ast.Starred)) for e in entries) else len(entries)


def _of_identity(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """What is added to an identity matrix of known size, `np.eye(4) + Q`, and the factors of that, as in
    `rates * t`: there one of the two may be a number.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return
    for side, other in ((node.left, node.right), (node.right, node.left)):
        size = size_of_identity(side)
        factors = _factors(made.get(other.id, other) if isinstance(other, ast.Name) else other)
        for name in factors if size else ():
            yield name, (Kind("matrix", dims=(size, size)), *([Kind("number")] if len(factors) > 1 else []))


def _factors(node: ast.expr) -> list[str]:
    """The names of the factors of an elementwise product."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return [*_factors(node.left), *_factors(node.right)]
    return []


def _written_out(
    node: ast.expr, made: Mapping[str, ast.expr], within: frozenset[str] = frozenset()
) -> tuple[int, int] | None:
    """The numbers of rows and columns of a matrix that is written out, or of a sum with an identity of known
    size; None for anything else. `within` are the names whose values are being read.
    """
    if isinstance(node, ast.Attribute) and node.attr == "T":
        turned = _written_out(node.value, made, within)
        return None if turned is None else turned[::-1]
    if isinstance(node, ast.Name):
        inside = None if node.id in within else made.get(node.id)
        is_another = inside is None or isinstance(inside, ast.Name)
        return None if is_another else _written_out(inside, made, within | {node.id})  # type: ignore[arg-type]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return _written_out(node.left, made, within) or _written_out(node.right, made, within)
    if rows := size_of_identity(node):
        return rows, rows
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", None) not in _ELEMENTS or not node.args:
        return None
    each = node.args[0]
    if not isinstance(each, (ast.List, ast.Tuple)):
        return None
    lengths = [len(row.elts) for row in each.elts if isinstance(row, (ast.List, ast.Tuple))]
    return (len(lengths), lengths[0]) if len(set(lengths)) == 1 and len(lengths) == len(each.elts) else None


def _of_columns(node: ast.AST, names: frozenset[str]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """The matrices whose columns are all selected by number or in slices: `p[:, 0]` and `p[:, 1]`, or `p[:,
    :2]` and `p[:, 2:]`.
    """
    taken: dict[str, set[int]] = {}
    unknown: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            columns = _columns_in(inner.slice)
            taken.setdefault(inner.value.id, set()).update(columns)
            unknown.update(() if columns else [inner.value.id])
    for name in sorted((names & taken.keys()) - unknown):
        width = len(taken[name])
        if width > 1 and taken[name] == set(range(width)):
            yield name, (Kind("matrix", dims=("n", width)), Kind("matrix", dims=(width, width)))


def _of_matrix_taken_apart(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """A matrix that is unpacked into its elements: `(a, b), (c, d) = lens`."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    rows = target.elts if isinstance(target, ast.Tuple) else []
    widths = {len(row.elts) if isinstance(row, ast.Tuple) else 0 for row in rows}
    name = identifier(node.value) if isinstance(node, ast.Assign) else ""
    if len(widths) == 1 and (width := widths.pop()) and name:
        yield name, (Kind("matrix", dims=(len(rows), width)),)


def _of_rows(node: ast.AST, names: frozenset[str]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Arrays that are only used by their elements at constant indices from 0 on without gaps: `P[0]` to
    `P[3]`, four numbers or four rows.
    """
    taken: dict[str, set[int | None]] = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            taken.setdefault(inner.value.id, set()).add(whole_number(inner.slice))
    owners = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Subscript)}
    as_wholes = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in owners}
    for name in sorted((names & taken.keys()) - as_wholes):
        count = len(taken[name])
        if count >= FEWEST_ROWS and taken[name] == set(range(count)):
            yield name, (Kind("vector", dims=(count,)), Kind("matrix", dims=(count, "n")))


def _of_pairs(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """The edges of a graph, pairs of indices: `x[edges[:, 0]]`, `x[i]` with `for i, j in edges` or `i, j =
    edges.T`, or `x[first]` with `first = [i for i, _ in edges]`; and edges in two rows, `x[edges[0]]` and `i,
    j = edges`. The triangles of a mesh have three columns.
    """
    at = list(_picks_in(node))
    rows: dict[str, set[int | None]] = {}
    columns: dict[str, set[int]] = {}
    for part in at:
        part = made.get(part.id, part) if isinstance(part, ast.Name) else part
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
            columns.setdefault(part.value.id, set()).update(_columns_in(part.slice))
            rows.setdefault(part.value.id, set()).add(whole_number(part.slice))
    for name, numbers in columns.items():
        if numbers:
            yield name, (Kind("indices", dims=("n", max(2, 1 + max(numbers)), "n")),)
    yield from ((name, (_PAIRED,)) for name, numbers in rows.items() if numbers == {0, 1})
    picking = {part.id for part in at if isinstance(part, ast.Name)}
    for inner in ast.walk(node):
        for target, of, kind in _taken_apart_in(inner):
            if isinstance(of, ast.Attribute) and of.attr == "T":
                of, kind = of.value, _PAIRS if kind is _PAIRED else _PAIRED
            if isinstance(of, ast.Name) and _names_a_pair(target, picking):
                yield of.id, (kind,)
    for name in picking & made.keys():
        yield from ((of, (_PAIRS,)) for of in _halves_in(made[name]))


def _taken_apart_in(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, Kind]]:
    """What a loop or an assignment may unpack into pairs, and the kind of the pairs if it does."""
    if isinstance(node, (ast.For, ast.comprehension)):
        yield from ((target, of, _PAIRS) for target, of in side_by_side(node))
    elif isinstance(node, ast.Assign):
        yield node.targets[0], node.value, _PAIRED


def _halves_in(node: ast.AST) -> Iterator[str]:
    """What is iterated over for one element of each of its pairs: `[i for i, _ in edges]`."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.ListComp, ast.GeneratorExp)) and len(inner.generators) == 1:
            target, of = inner.generators[0].target, inner.generators[0].iter
            parts = target.elts if isinstance(target, ast.Tuple) else []
            names = [part.id for part in parts if isinstance(part, ast.Name)]
            if len(names) == 2 and isinstance(inner.elt, ast.Name) and isinstance(of, ast.Name):
                yield from [of.id] if inner.elt.id in names else []


def _picks_in(node: ast.AST) -> Iterator[ast.expr]:
    """Each part of the indices in a tree."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript):
            yield from inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice]


def _names_in_picks(node: ast.AST) -> Iterator[str]:
    yield from (part.id for part in _picks_in(node) if isinstance(part, ast.Name))


_ONE_BY_ONE = (Kind("indices", dtype=AS_LIST), Kind("indices"))


def _of_picks_one_by_one(node: ast.AST, picking: set[str]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """The indices over which a loop iterates, possibly in parallel: `for w, l in zip(won, lost)` with `x[w]`
    and `x[l]`.
    """
    if not isinstance(node, (ast.For, ast.comprehension)):
        return
    for target, of in side_by_side(node):
        if isinstance(target, ast.Name) and target.id in picking and isinstance(of, ast.Name):
            yield of.id, _ONE_BY_ONE


def _names_a_pair(target: ast.expr, picking: set[str]) -> bool:
    """Whether the target is two names that are both used as indices."""
    parts = target.elts if isinstance(target, ast.Tuple) else []
    names = {one.id for one in parts if isinstance(one, ast.Name)}
    return len(names) == 2 and picking.issuperset(names)


def _columns_in(at: ast.expr) -> set[int]:
    """The columns selected from all rows, only the first of a slice that is open at its end after column 1;
    none where they are not given as numbers.
    """
    if not isinstance(at, ast.Tuple) or len(at.elts) != 2 or not _is_everything(at.elts[0]):
        return set()
    column = at.elts[1]
    if isinstance(column, ast.Slice):
        start = 0 if column.lower is None else whole_number(column.lower)
        stop = whole_number(column.upper)
        if column.upper is None and start is not None and start > 1:
            stop = start + 1  # there may be any number after it
        return set(range(start, stop)) if column.step is None and start is not None and stop else set()
    number = whole_number(column)
    return set() if number is None else {number}


_FLAT = frozenset(("ravel", "flatten"))
_FLAT_MATRIX = (Kind("matrix", dims=("m", "n")), Kind("vector", dims=("n",)))
_AS_LONG = (Kind("vector", dims=("m*n",)), Kind("vector", dims=("n",)))


def _of_flat(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """A matrix that is flattened, and a vector beside it that is as long as the result: `np.ravel(A) @ v`."""
    if not isinstance(node, ast.BinOp):
        return
    for side, other in ((node.left, node.right), (node.right, node.left)):
        flat = _made_flat(side, made)
        if flat is not None and isinstance(other, ast.Name) and other.id not in made:
            yield flat, _FLAT_MATRIX
            yield other.id, _AS_LONG


def _of_cross(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """A matrix of vectors in space, if the axis along which they lie is given: `np.cross(w, R, axisb=0)`."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", None) != "cross":
        return
    said = {word.arg: _axis(word.value) for word in node.keywords}
    for factor, word in zip(node.args[:2], ("axisa", "axisb")):
        axis = said.get("axis", said.get(word))
        if isinstance(factor, ast.Name) and axis is not None:
            dims: tuple[int | str, ...] = (3, "n") if axis == 0 else ("n", 3)
            yield factor.id, (Kind("matrix", dims=dims), Kind("vector", dims=(3,)))


def _of_split(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """A vector that is split into equal parts, or a matrix along an axis: `np.split(gates, 4)`."""
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", None) not in ("split", "hsplit"):
        return
    if len(node.args) == 2 and isinstance(node.args[0], ast.Name) and (parts := whole_number(node.args[1])):
        at = [_axis(word.value) for word in node.keywords if word.arg == "axis"]
        vector, rows = Kind("vector", dims=(f"{parts}*n",)), Kind("matrix", dims=("m", f"{parts}*n"))
        columns = Kind("matrix", dims=(f"{parts}*n", "m"))
        along_first = at in ([], [0])
        yield node.args[0].id, (vector, columns) if along_first else (rows,) if at == [1] else (vector, rows)


def _axis(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _made_flat(node: ast.expr, made: Mapping[str, ast.expr]) -> str | None:
    """The name of the array that an expression flattens; None for any other expression."""
    node = made.get(node.id, node) if isinstance(node, ast.Name) else node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    owners = [one.id for one in (node.func.value, *node.args[:1]) if isinstance(one, ast.Name)]
    names = [name for name in owners if name not in ("np", "numpy")]
    is_flat = node.func.attr in _FLAT or node.func.attr == "reshape" and _is_one_long_axis(node)
    return names[0] if names and is_flat else None


def _is_one_long_axis(call: ast.Call) -> bool:
    """Whether an array is reshaped to a single axis: `x.reshape(-1)`, `np.reshape(x, -1)`."""
    last = call.args[-1] if call.args else None
    if isinstance(last, ast.Tuple) and len(last.elts) == 1:
        last = last.elts[0]
    is_free = (
        isinstance(last, ast.UnaryOp) and isinstance(last.op, ast.USub) and whole_number(last.operand) == 1
    )
    of_module = isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") in ("np", "numpy")
    return is_free and len(call.args) == 1 + of_module


def _of_einsum(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """The operands of an `einsum` in which one has three axes or more. Lengths are known for operands
    reshaped to given lengths.
    """
    if not isinstance(node, ast.Call) or getattr(node.func, "attr", None) != "einsum" or not node.args:
        return
    letters = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
    terms = letters.partition("->")[0].replace(" ", "").split(",") if isinstance(letters, str) else []
    if max(map(len, terms), default=0) < MOST_AXES or not all(term.isalpha() for term in terms):
        return
    operands = [(term, _conjugated(arg)) for term, arg in zip(terms, node.args[1:])]
    named = [(term, arg.id) for term, arg in operands if isinstance(arg, ast.Name)]
    alike = _letters_alike(named)
    sizes = {
        alike[letter]: size
        for term, name in named
        for letter, size in zip(term, _reshaped(made.get(name)))
        if size
    }
    for term, name in named:
        dims = tuple(sizes.get(alike[letter], alike[letter]) for letter in term)
        yield name, (of_lengths(dims),)


def _of_sums_with_einsum(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """What is added to each row of the result of such an `einsum`, as long as its last axis:
    `einsum("ni,kij->nk", x, W) + b`.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return
    for side, other in ((node.left, node.right), (node.right, node.left)):
        is_sum = isinstance(side, ast.Call) and last_name(side.func) == "einsum" and bool(side.args)
        letters = getattr(side.args[0], "value", "") if is_sum else ""  # type: ignore[attr-defined]
        terms, _, out = letters.replace(" ", "").partition("->") if isinstance(letters, str) else ("", "", "")
        if isinstance(other, ast.Name) and out.isalpha() and max(map(len, terms.split(","))) >= MOST_AXES:
            yield other.id, (of_lengths((out[-1],)), of_lengths(tuple(out)))


def _letters_alike(named: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """For each letter, the letter that stands for its length: an operand that occurs twice has the same
    lengths both times.

    >>> sorted(_letters_alike([("kab", "ops"), ("bc", "rho"), ("kdc", "ops")]).items())
    [('a', 'a'), ('b', 'b'), ('c', 'b'), ('d', 'a'), ('k', 'k')]
    """
    first = {name: term for term, name in reversed(named)}
    alike = {letter: letter for term, _ in named for letter in term}
    for term, name in named:
        for one, other in zip(term, first[name]):
            old, new = alike[one], alike[other]
            alike = {letter: new if of == old else of for letter, of in alike.items()}
    return alike


def _conjugated(node: ast.expr) -> ast.expr:
    """The name that is conjugated, which has the same lengths, or the expression itself."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("conj", "conjugate"):
        inside = node.args[0] if node.args else getattr(node.func, "value", node)
        return inside if isinstance(inside, ast.Name) else node
    return node


def _reshaped(node: ast.expr | None) -> list[int]:
    """The lengths to which a method call reshapes an array, zero for each that is not a number; empty for any
    other expression.
    """
    is_one = isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "reshape"
    return [max(whole_number(arg) or 0, 0) for arg in node.args] if is_one else []  # type: ignore[union-attr]


def _of_reshape(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """What is reshaped to four constant lengths is a matrix, `gate.reshape(2, 2, 2, 2)`, or a vector; to the
    lengths of axes of others, `x.reshape(a.shape[1], b.shape[1])`, a vector; and to a power and the rest,
    `state.reshape(2**qubit, 2, -1)`, a vector, where the exponent is the index of one of its factors.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner, lengths = node.func.value, _reshaped(node)
    if not isinstance(owner, ast.Name) or len(lengths) < 2:
        return
    power = _power_of(node.args[0])
    if power is not None and all(length != 0 for length in lengths[1:-1]) and len(lengths) > 2:
        base, exponent = power
        yield owner.id, (Kind("vector", dims=(base**2 * math.prod(lengths[1:-1]),)),)
        yield exponent, (Kind("integer", 0.0, 3.0),)
    if len(lengths) == 4 and all(lengths):
        rows, columns = math.prod(lengths[:2]), math.prod(lengths[2:])
        yield owner.id, (Kind("matrix", dims=(rows, columns)), Kind("vector", dims=(rows * columns,)))
    axes = [axis for arg in node.args if (axis := _axis_of_matrix(arg)) is not None]
    if len(axes) == len(node.args):
        of = {name: (f"r{k}", f"c{k}") for k, name in enumerate(dict.fromkeys(name for name, _ in axes))}
        yield owner.id, (Kind("vector", dims=("*".join(of[name][axis] for name, axis in axes),)),)
        yield from ((name, (Kind("matrix", dims=dims),)) for name, dims in of.items())


def _power_of(node: ast.expr) -> tuple[int, str] | None:
    """A small integer and the name of its exponent: `2**qubit`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow):
        return None
    base, exponent = whole_number(node.left), identifier(node.right)
    return (base, exponent) if base in (2, 3, 4) and exponent else None


def _axis_of_matrix(node: ast.expr) -> tuple[str, int] | None:
    """The name of a matrix, and the axis whose length is read: `a.shape[1]`."""
    of, axis = (node.value, whole_number(node.slice)) if isinstance(node, ast.Subscript) else (None, None)
    if not isinstance(of, ast.Attribute) or of.attr != "shape" or not isinstance(of.value, ast.Name):
        return None
    return (of.value.id, axis) if axis in (0, 1) else None


def _of_shape(node: ast.AST) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """An array whose shape is unpacked into three lengths, `n, h, w = batch.shape`, or that is reduced along
    an axis 2: `batch.mean(axis=(1, 2))`.
    """
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        of, taken = node.value, len(node.targets[0].elts)
        if isinstance(of, ast.Attribute) and of.attr == "shape" and isinstance(of.value, ast.Name):
            yield from [(of.value.id, _OF_THREE)] if taken == MOST_AXES else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = [node.func.value, *node.args][:2]
        axes = (keyword.value for keyword in node.keywords if keyword.arg == "axis")
        if any(isinstance(axis, ast.Tuple) and 2 in map(whole_number, axis.elts) for axis in axes):
            yield from ((one.id, _OF_THREE) for one in owner if isinstance(one, ast.Name))


def _is_everything(at: ast.expr) -> bool:
    return isinstance(at, ast.Slice) and at.lower is at.upper is at.step is None


def _of_picks(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """An element selected from each row, `x[np.arange(n), labels]`, and one-hot rows, `np.eye(k)[labels]`."""
    if not isinstance(node, ast.Subscript):
        return
    at = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(at) == 2 and _is_call(at[0], "arange", made) and isinstance(at[1], ast.Name):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        yield from _rows_of(owner, made)
        yield at[1].id, (_LABELS,)
    elif len(at) == 1 and isinstance(at[0], ast.Name) and _is_call(node.value, "eye", made):
        yield at[0].id, (_LABELS,)
        if isinstance(node.value, ast.Call) and isinstance(node.value.args[0], ast.Name):
            yield node.value.args[0].id, (Kind("integer", dims=("m",)),)


def _of_padding(
    node: ast.AST, made: Mapping[str, ast.expr], said: Mapping[str, Lengths]
) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Rows that are padded, with counts of their lengths: `np.arange(x.shape[1]) < counts[:, None]`."""
    places, counts = (node.left, node.comparators[0]) if isinstance(node, ast.Compare) else (None, None)
    if places is None or not _is_call(places, "arange", made) or not isinstance(counts, ast.Subscript):
        return
    places = made.get(places.id, places) if isinstance(places, ast.Name) else places
    padded, axis = _axis_of_matrix(places.args[-1]) or ("", 0)  # type: ignore[attr-defined]
    lengths = said.get(padded, ("n", "m"))
    owner = made.get(identifier(counts.value), counts.value)
    if isinstance(owner, ast.Call) and len(owner.args) == 1:  # `np.asarray(counts)`
        owner = owner.args[0]
    if padded and axis < len(lengths) and identifier(owner):
        yield identifier(owner), (Kind("indices", 0.5, dims=(lengths[0], lengths[axis])),)
        yield padded, (of_lengths(lengths),)


def _rows_of(owner: str, made: Mapping[str, ast.expr]) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """The matrix that is indexed, or the ones from which it was computed, through sums and other binary
    operations.
    """
    waiting, seen = [owner], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in made:
            yield name, (Kind("matrix", dims=("n", "m")),)
        elif isinstance(made[name], ast.BinOp):
            left = made[name].left  # type: ignore[attr-defined]
            waiting += [left.id] if isinstance(left, ast.Name) else []


def _is_call(node: ast.AST, name: str, made: Mapping[str, ast.expr]) -> bool:
    node = made.get(node.id, node) if isinstance(node, ast.Name) else node
    return isinstance(node, ast.Call) and getattr(node.func, "attr", None) == name and bool(node.args)
