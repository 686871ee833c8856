"""Lists of records over which the code of a function iterates, read and never run: objects of one class, or
dicts with the same keys, as in `for layer in layers: x = layer.W @ x + layer.b`.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...rules.signatures import meant_types
from .kinds import Kind
from .kinds_taken import dicts_of, fields_of, objects_with
from .lists_read import BIASES, PAIR, sequence, transposed_kind
from .loops_read import elements_of
from .texts import text_of

MOST_RECORDS = 8
"""The largest number of kinds of records that are tried for one list."""
_SQUARE = (Kind("matrix", dims=("n", "n")),) * 2, (Kind("vector", dims=("n",)),) * 2


@dataclasses.dataclass
class _Asked:
    """The fields of a record that the code reads: as attributes or keys, as factors of matrix products, and
    as addends.
    """

    attributes: dict[str, None] = dataclasses.field(default_factory=dict)
    keys: dict[str, None] = dataclasses.field(default_factory=dict)
    multiplied: dict[str, None] = dataclasses.field(default_factory=dict)
    added: dict[str, None] = dataclasses.field(default_factory=dict)


def lists_of_records(f: Callable, classes: Sequence[type]) -> Mapping[str, tuple[Kind, ...]]:
    """The parameters that are such lists, with their possible kinds, the likeliest first: objects of the
    class in the annotation, or of one of `classes`.

    >>> def through(layers, x):
    ...     for layer in layers:
    ...         x = np.tanh(layer["W"] @ x + layer["b"])
    ...     return x
    >>> kind = lists_of_records(through, ())["layers"][0]
    >>> str(kind), sorted(str(part) for _, part in kind.parts[0][1].parts)
    ('a list of dict objects', ['a matrix (m, n)', 'a vector (m)'])
    """
    node, names = text_of(f)
    if node is None:
        return {}
    notes, found = meant_types(f), {}
    for name, parts in elements_of(node, names).items():
        asked = _asked_of(node, name, parts)
        made = [cls for cls in typing.get_args(notes.get(name)) if isinstance(cls, type)]
        records = list(itertools.islice(_records(asked, made or classes), MOST_RECORDS))
        if records:
            found[name] = tuple(dict.fromkeys(_lists(records, asked)))
    return found


def attributes_of_elements(f: Callable) -> Mapping[str, tuple[str, ...]]:
    """The attributes that a function reads from the elements of its parameters.

    >>> def work(forces):
    ...     return sum(force.size * force.way for force in forces)
    >>> attributes_of_elements(work)
    {'forces': ('size', 'way')}
    """
    node, names = text_of(f)
    elements = elements_of(node, names) if node is not None else {}
    read = {name: _asked_of(node, name, parts).attributes for name, parts in elements.items()}  # type: ignore[arg-type]
    return {name: tuple(attributes) for name, attributes in read.items() if attributes}


def _asked_of(node: ast.AST, name: str, parts: set[str]) -> _Asked:
    """The fields that the code reads from the elements of a list."""

    def is_element(inner: ast.expr) -> bool:
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            is_key = isinstance(inner.slice, ast.Constant) and isinstance(inner.slice.value, str)
            is_one = not is_key and not isinstance(inner.slice, (ast.Slice, ast.Tuple))
            return inner.value.id == name and is_one
        return isinstance(inner, ast.Name) and inner.id in parts

    def field(inner: ast.AST) -> str:
        if isinstance(inner, ast.Attribute) and inner.attr == "T":
            inner = inner.value
        if isinstance(inner, ast.Attribute) and is_element(inner.value):
            return inner.attr
        key = inner.slice if isinstance(inner, ast.Subscript) and is_element(inner.value) else None
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""

    asked = _Asked()
    for inner in ast.walk(node):
        if read := field(inner):
            (asked.keys if isinstance(inner, ast.Subscript) else asked.attributes).setdefault(read)
        if isinstance(inner, ast.BinOp):
            sides = filter(None, map(field, (inner.left, inner.right)))
            if isinstance(inner.op, ast.MatMult):
                asked.multiplied.update(dict.fromkeys(sides))
            elif isinstance(inner.op, ast.Add):
                asked.added.update(dict.fromkeys(sides))
    return asked


def _records(asked: _Asked, classes: Sequence[type]) -> Iterator[Kind]:
    if asked.keys and not asked.attributes:
        yield from dicts_of(asked.keys)
    fields = [name for name in asked.attributes if any(name in fields_of(cls) for cls in classes)]
    if fields:
        yield from objects_with(dict.fromkeys(classes), fields)


def _lists(records: Sequence[Kind], asked: _Asked) -> Iterator[Kind]:
    """Lists of two records in which a matrix is multiplied by the result of the one before, for both orders
    of multiplication, or of three alike.
    """
    if len(asked.multiplied) == 1:
        other_way = tuple(map(transposed_kind, PAIR))
        for matrices, biases in ((PAIR, BIASES), (other_way, BIASES), _SQUARE):
            both = zip(matrices, biases)
            yield sequence(list, [_sized(records[0], asked, *pair) for pair in both])
    yield from (sequence(list, [record] * 3) for record in records)


def _sized(record: Kind, asked: _Asked, matrix: Kind, bias: Kind) -> Kind:
    """A record with the lengths of one layer."""
    parts = tuple(
        (name, matrix if name in asked.multiplied else bias if name in asked.added else part)
        for name, part in record.parts
    )
    return dataclasses.replace(record, parts=parts)
