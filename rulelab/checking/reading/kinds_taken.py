"""The kinds of arguments a function may take, inferred from its code and its parameters, the likeliest
first.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import types
import typing
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...annotations import annotations_of
from ...errors import RuleLabError
from ...rules.signatures import Accepts, ArrayAtom, ClassAtom, accepts_from
from .by_name import MATRIX_NAMES, forms_by_name, interval_of_name, special_names, vector_names
from .fields_said import shapes_of_fields
from .kinds import SQUARE, Kind, Lengths, dims_of, of_lengths

_INPUTS_BESIDE_MATRICES = frozenset(("x", "h", "z", "inputs", "batch"))


def are_as_named(names: tuple[str, ...], kinds: tuple[Kind, ...]) -> bool:
    """Whether kinds are those that names such as `X` and `b` suggest: a matrix and a vector as long as its
    rows; or the factors of a matrix product and a vector as long as the rows of the product.
    """
    vectors = vector_names(names)
    if not vectors or kinds in _chained(names):
        return bool(vectors)
    return all(
        kind.form == ("columns" if name in vectors else "matrix" if name in MATRIX_NAMES else "")
        for name, kind in zip(names, kinds)
    )


MOST_GUESSES = 200
"""The largest number of combinations of kinds that are guessed for the parameters of one function."""


def guesses(
    names: tuple[str, ...],
    accepts: Accepts | None,
    domain: Mapping[str, Kind],
    used: Mapping[str, tuple[Kind, ...]] = types.MappingProxyType({}),
) -> Iterator[tuple[Kind, ...]]:
    """The combinations of kinds to try for the parameters of a function, likeliest first.

    They come from the domain if it names the parameter, else from the rule's annotation, else from how the
    function uses it (`used`), else from the name.
    """
    choices = choices_of(names, accepts, domain, used)
    if not choices:
        return
    forms = _OF_ALL if MATRIX_NAMES.isdisjoint(names) else _OF_MATRICES
    same = [tuple(map(_of_form(form), choices)) for form in (choices[0][0].form, *forms)]
    mixed = itertools.islice(filter(_is_told_apart, likeliest_first(choices)), MOST_GUESSES)
    said = () if accepts is None else map(accepts.at, range(len(names)))
    of_counts = {name for name, kinds in used.items() if kinds and kinds[0].form == "integer"}
    is_free = not domain and of_counts == used.keys() and not any(map(_forms_by_annotation, said))
    chained = _chained(names) if is_free and not used else ()
    systems = _systems(dict(zip(names, choices)), of_counts) if is_free else ()
    yield from dict.fromkeys((*chained, *filter(_is_told_apart, same), *mixed, *systems))


def choices_of(
    names: tuple[str, ...],
    accepts: Accepts | None,
    domain: Mapping[str, Kind],
    used: Mapping[str, tuple[Kind, ...]],
) -> list[tuple[Kind, ...]]:
    """The kinds to try for each parameter of a function, likeliest first."""
    return [_choices(i, name, accepts, domain, used.get(name, ())) for i, name in enumerate(names)]


def _systems(choices: Mapping[str, tuple[Kind, ...]], counts: Container[str]) -> Iterator[tuple[Kind, ...]]:
    """Square matrices by their names, and vectors that fit them, beside counts of steps."""
    if not MATRIX_NAMES.isdisjoint(choices):
        square, vector = Kind("matrix", dims=("n", "n")), Kind("vector", dims=("n",))
        forms = {name: square if name in MATRIX_NAMES else vector for name in choices}
        yield tuple(kinds[0] if name in counts else forms[name] for name, kinds in choices.items())


_OF_ALL = ("number", "vector", "matrix", "square", "positive definite", "list")
_OF_MATRICES = ("matrix", "square", "positive definite", "vector", "number", "list")
"""Forms that all arguments of a function may share, likeliest first; and the same where there are names of
matrices."""


def _of_form(form: str) -> Callable[[tuple[Kind, ...]], Kind]:
    """A function that chooses the kind of this form among several, else the likeliest."""

    def chosen(kinds: tuple[Kind, ...]) -> Kind:
        if kinds[0].form in ("mask", "indices", "integer", "axis", "option"):
            flags = (kind for kind in kinds if kind.form == "flags" and form == "matrix")
            return next(flags, kinds[0])
        return next((kind for kind in kinds if kind.form == form), kinds[0])

    return chosen


def _is_told_apart(kinds: tuple[Kind, ...]) -> bool:
    """Whether vectors that are as long as a row or a column of a matrix have a matrix beside them."""
    forms = {kind.form for kind in kinds}
    if "matrix" in forms or "object" in forms:
        return True
    return "columns" not in forms and ("rows" not in forms or not forms.isdisjoint(SQUARE))


def _chained(names: tuple[str, ...]) -> Iterator[tuple[Kind, ...]]:
    """Matrices by their names with lengths that fit their product, and a bias as long as its rows; of two
    matrices, the second may be transposed.
    """
    vectors = vector_names(names)
    inputs = _INPUTS_BESIDE_MATRICES if vectors else frozenset()
    matrices = [name for name in names if name in MATRIX_NAMES | inputs]
    if not 2 <= len(matrices) <= 4 or len(matrices) + len(vectors) < len(names):
        return
    sides = "lmnpq"[: len(matrices) + 1]
    pairs = [tuple(pair) for pair in itertools.pairwise(sides)]
    for turned in (pairs, [*pairs[:-1], pairs[-1][::-1]])[: 2 if len(pairs) == 2 else 1]:
        kinds = {name: Kind("matrix", dims=pair) for name, pair in zip(matrices, turned)}
        yield tuple(kinds.get(name, Kind("vector", dims=(sides[-1],))) for name in names)


def likeliest_first(choices: Sequence[tuple[Kind, ...]]) -> Iterator[tuple[Kind, ...]]:
    """All combinations of the choices, ordered by the sum of their ranks."""
    for total in range(sum(len(one) - 1 for one in choices) + 1):
        yield from _of_rank(choices, total)


def _of_rank(choices: Sequence[tuple[Kind, ...]], total: int) -> Iterator[tuple[Kind, ...]]:
    """The combinations whose ranks among the choices add up to `total`."""
    if not choices:
        yield from [()] if total == 0 else []
        return
    first, *others = choices
    for place, kind in enumerate(first[: total + 1]):
        for rest in _of_rank(others, total - place):
            yield (kind, *rest)


def _choices(
    index: int, name: str, accepts: Accepts | None, domain: Mapping[str, Kind], used: tuple[Kind, ...]
) -> tuple[Kind, ...]:
    if name in domain and (domain[name].is_asked or domain[name].form != "number"):
        return (domain[name],)
    low, high = (domain[name].low, domain[name].high) if name in domain else interval_of_name(name)
    dtypes = (domain[name].dtype,) if name in domain else ("float64",)
    said = accepts.at(index) if accepts is not None else ()
    objects = tuple(kind for atom in said for kind in _objects_by_annotation(atom, low, high))
    if objects:
        return tuple(map(with_branches, objects))
    forms = _forms_by_annotation(said)
    if used and forms is not None and "vector" in forms and used[0].form in ("mask", "indices"):
        plain = tuple(Kind(form, low, high) for form in forms)
        return (*(kind for kind in used if kind.form not in ("integer", "number")), *plain)
    if used and (forms is None or any(dims_of(used[0]))):  # an annotation does not give lengths
        return tuple(dataclasses.replace(kind, low=low, high=high) for kind in used) if low == 0.0 else used
    special = special_names((name,)).get(name) if not used else None  # its use says more than its name
    if special is not None and forms is not None and "vector" in forms:
        named = ("mask", "flags") if special == "mask" else (special,)
        return (*map(Kind, named), *(Kind(form, low, high) for form in forms))  # an array, and what is in it
    if forms is None:
        forms = forms_by_name(name)
    elif "complex" in forms:
        forms, dtypes = tuple(f for f in forms if f != "complex"), ("complex128",)
    return tuple(Kind(form, low, high, dtype) for form in forms for dtype in dtypes)


_IN_OBJECTS = {1: ("vector", "columns", "matrix"), 2: ("matrix", "rows", "vector", "columns")}
"""The forms of the arrays in an object that has one or two; with more, all are vectors."""


_ALL = (-math.inf, math.inf)


def objects_with(
    classes: Iterable[type],
    attributes: Iterable[str],
    low: float = -math.inf,
    high: float = math.inf,
    parts: Mapping[str, tuple[Kind, ...]] = types.MappingProxyType({}),
) -> tuple[Kind, ...]:
    """The objects of those classes that have these attributes and are made of numbers and arrays. Fields with
    a default keep it, unless all have one. For lists, the kinds come from `parts`, if the code of the
    function tells them.
    """
    wanted = set(attributes)
    fitting = (cls for cls in classes if fields_of(cls) and wanted <= {*fields_of(cls)})
    return tuple(
        with_branches(kind)
        for cls in fitting
        for kind in _objects_by_annotation(ClassAtom(cls), low, high, parts=parts)
    )


def with_branches(kind: Kind) -> Kind:
    """An object with other objects of its class in the fields that hold such and are empty by default: a tree
    of three levels, one side of which has only two, with different integers in each node.

    >>> @dataclasses.dataclass
    ... class Node:
    ...     length: float
    ...     children: list["Node"] = dataclasses.field(default_factory=list)
    >>> tree = with_branches(Kind("object", made=Node, parts=(("length", Kind()),)))
    >>> [name for name, _ in tree.parts], len(dict(tree.parts)["children"].parts)
    (['length', 'children'], 2)
    """
    branches, numbers = _branches_of(kind.made), itertools.count(1)
    if not branches:
        return kind
    wholes = [name for name in _with_whole_defaults(kind.made) if name not in dict(kind.parts)]

    def leaf() -> Kind:
        own = ((name, Kind("integer", at, at + 1)) for name in wholes for at in [next(numbers) % 3])
        return dataclasses.replace(kind, parts=(*kind.parts, *own))

    def node(first: Kind, other: Kind) -> Kind:
        both = (("0", first), ("1", other))
        made = ((name, Kind("object", made=of, parts=both) if of else first) for name, of in branches.items())
        return dataclasses.replace(kind, parts=(*kind.parts, *made))

    return node(leaf(), node(leaf(), leaf()))


def _branches_of(cls: Any) -> dict[str, type | None]:
    """The fields of a class that hold objects of the same class and are empty by default, with list or tuple,
    or None for a single object.
    """
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        return {}
    try:
        notes = typing.get_type_hints(cls, localns={cls.__name__: cls})
    except (NameError, TypeError):
        return {}
    found: dict[str, type | None] = {}
    for field in dataclasses.fields(cls):
        origin, of = typing.get_origin(notes[field.name]), typing.get_args(notes[field.name])
        if cls in of and not _is_required(field):
            found[field.name] = origin if origin in (list, tuple) else None
    return found


def _with_whole_defaults(cls: Any) -> list[str]:
    """The fields of a dataclass with an integer as default."""
    return [field.name for field in dataclasses.fields(cls) if type(field.default) is int]


MOST_DICTS = 24
"""The largest number of combinations of kinds that are guessed for the values of a dict."""


def dicts_of(
    keys: Iterable[str],
    of_matrices: bool = True,
    shapes: Mapping[str, Lengths] = types.MappingProxyType({}),
    arrays: frozenset[str] = frozenset(),
) -> tuple[Kind, ...]:
    """The dicts with numbers and arrays under these keys, likeliest first; matrices under names like `R` only
    if `of_matrices`, arrays of the `shapes` that are stated, and no numbers where `arrays` are needed.
    """
    names = tuple(keys)
    usual = [tuple(filter(_IN_DICTS.__contains__, forms_by_name(name))) for name in names]
    pairs = zip(names, usual)
    matrices = MATRIX_NAMES if of_matrices else frozenset()
    forms = [("matrix", "square") if name in matrices else those for name, those in pairs]
    kinds = [tuple(Kind(form, *interval_of_name(name)) for form in one) for name, one in zip(names, forms)]
    kinds = [tuple(k for k in one if k.form != "number" or n not in arrays) for n, one in zip(names, kinds)]
    kinds = [(of_lengths(shapes[n]),) if n in shapes else one for n, one in zip(names, kinds)]
    return tuple(
        Kind("object", made=dict, parts=tuple(zip(names, parts)))
        for parts in itertools.islice(likeliest_first(kinds), MOST_DICTS)
    )


_IN_DICTS = frozenset(("number", "vector", "matrix", "columns", "rows"))


def _objects_by_annotation(
    atom: Any,
    low: float,
    high: float,
    depth: int = 2,
    parts: Mapping[str, tuple[Kind, ...]] = types.MappingProxyType({}),
) -> tuple[Kind, ...]:
    """The objects of a class whose annotations say that it is made of numbers, arrays and other such
    objects.
    """
    cls: Any = getattr(atom, "cls", None)
    needed = _needed_fields(cls) if depth else ()
    if needed and not annotations_of(cls):  # a namedtuple, which has no annotations
        plain = tuple(Kind(form, low, high) for form in ("number", "vector"))
        mixed = itertools.islice(likeliest_first([plain] * len(needed)), MOST_DICTS)
        return tuple(Kind("object", low, high, made=cls, parts=tuple(zip(needed, parts))) for parts in mixed)
    try:
        notes = typing.get_type_hints(cls) if needed else {}
        atoms = {name: accepts_from((notes[name],)).at(0) for name in needed}
    except (RuleLabError, NameError, KeyError, TypeError):
        return ()
    choices: list[tuple[Kind, ...]] = []
    shapes = shapes_of_fields(cls, tuple(atoms))
    arrays = sum("vector" in (_forms_by_annotation(said) or ()) for said in atoms.values())
    for name, said in atoms.items():
        forms = _forms_by_annotation(said)
        if name in parts and forms == ("list",):
            choices.append(parts[name][:MOST_OF_PART])
            continue
        if forms is None:
            within = (_objects_by_annotation(one, low, high, depth - 1) for one in said)
            choices.append(tuple(itertools.chain.from_iterable(within)))
            continue
        dtype = "complex128" if "complex" in forms else "float64"
        if "vector" in forms and name in shapes:
            choices.append((dataclasses.replace(of_lengths(shapes[name]), dtype=dtype),))
            continue
        usual = _IN_OBJECTS.get(arrays, ("vector",)) if "vector" in forms else forms[:1]
        ends = interval_of_name(name) if (low, high) == _ALL else (low, high)
        choices.append(tuple(Kind(form, *ends, dtype) for form in usual))
    made = itertools.product(*choices) if choices else ()
    return tuple(Kind("object", low, high, made=cls, parts=tuple(zip(atoms, parts))) for parts in made)


MOST_OF_PART = 4
"""The largest number of kinds that are tried for each list in an object."""


def _needed_fields(cls: Any) -> tuple[str, ...]:
    """The required fields of a dataclass or a NamedTuple, or all of them if none is required; none for
    another class.
    """
    if isinstance(cls, type) and dataclasses.is_dataclass(cls):
        given = [f for f in dataclasses.fields(cls) if f.init]
        return tuple(f.name for f in given if _is_required(f)) or tuple(f.name for f in given)
    with_default = getattr(cls, "_field_defaults", {})
    return tuple(name for name in fields_of(cls) if name not in with_default) or fields_of(cls)


def fields_of(cls: Any) -> tuple[str, ...]:
    """The names of all fields of a dataclass or a NamedTuple; none for another class."""
    if isinstance(cls, type) and dataclasses.is_dataclass(cls):
        return tuple(field.name for field in dataclasses.fields(cls))
    return getattr(cls, "_fields", ()) if isinstance(cls, type) and issubclass(cls, tuple) else ()


def _is_required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _forms_by_annotation(atoms: tuple) -> tuple[str, ...] | None:
    """The forms that the annotation of a parameter names; None if it names none that are known here."""
    forms: list[str] = []
    for atom in atoms:
        if isinstance(atom, ArrayAtom):
            forms += ["vector", "matrix", "square", "positive definite", "columns", "rows"]
            if issubclass(atom.scalar, np.complexfloating):
                forms.append("complex")
        elif isinstance(atom, ClassAtom) and issubclass(atom.cls, np.ndarray):
            forms += ["vector", "matrix", "square", "positive definite", "columns", "rows"]
        elif isinstance(atom, ClassAtom) and atom.cls in (float, np.float64):
            forms.append("number")
        elif isinstance(atom, ClassAtom) and atom.cls is complex:
            forms += ["number", "complex"]
        elif isinstance(atom, ClassAtom) and atom.cls in (int, np.integer):
            forms.append("integer")
        elif isinstance(atom, ClassAtom) and atom.cls in (list, tuple):
            forms.append("list")
    return tuple(dict.fromkeys(forms)) or None


NARROWER = ((-math.inf, math.inf), (0.0, math.inf), (-1.0, 1.0), (0.0, 1.0), (1.0, math.inf), (0.0, 0.25))
"""The intervals that are tried in turn where a function refuses the numbers it is given."""


def narrowed(kinds: tuple[Kind, ...]) -> Iterator[tuple[Kind, ...]]:
    """The same kinds over smaller and smaller intervals, where they have none of their own."""
    for low, high in NARROWER:
        yield tuple(
            dataclasses.replace(k, low=low, high=high)
            if k.low == -math.inf and k.high == math.inf and k.form not in ("integer", "option")
            else k
            for k in kinds
        )
