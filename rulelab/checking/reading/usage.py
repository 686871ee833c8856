"""How a function uses its parameters, read from its code and never by running it."""

from __future__ import annotations

import ast
import dis
import itertools
import re
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .anatomy import last_name
from .docstrings import docstring_text, parameter_called
from .kinds import are_lengths, lengths_in
from .loops_read import elements_of
from .own_docstrings import docstring_of
from .texts import calls_in, identifier, parts_read, text_nodes, text_of, unpacked_names, values_by_name

_WORDS_OF_COMPLEX = frozenset(
    "real conj conjugate imag angle iscomplex iscomplexobj fft complex complex128".split()
)
"""`vdot` is not one of them: it is also the shortest way to write the inner product of two real matrices."""


def speaks_of_complex(codes: Iterable[types.CodeType]) -> bool:
    """Whether some code uses names for complex numbers, or a complex constant.

    A function that its author has called `angle` is not `np.angle`, nor is an attribute of an object, as
    `pose.angle`; and code that takes the real part of `lambertw(x)` has real numbers.

    >>> one, other = lambda pose: np.cos(pose.angle), lambda z: np.cos(np.angle(z))
    >>> speaks_of_complex([one.__code__]), speaks_of_complex([other.__code__])
    (False, True)
    >>> speaks_of_complex([(lambda x: lambertw(x).real).__code__])
    False
    """
    codes = tuple(codes)
    own = _WORDS_OF_COMPLEX.intersection(code.co_name for code in codes)
    return any(
        any(isinstance(constant, complex) for constant in code.co_consts)
        or not _WORDS_OF_COMPLEX.isdisjoint(code.co_names)
        and _are_of_complex(_WORDS_OF_COMPLEX.intersection(_names_of_others(code, own)), code)
        for code in codes
    )


def _are_of_complex(words: frozenset[str], code: types.CodeType) -> bool:
    return bool(words) and (words != {"real"} or _COMPLEX_OF_REAL.isdisjoint(code.co_names))


_COMPLEX_OF_REAL = frozenset("lambertw roots eigvals eig sqrtm logm".split())
"""Functions that return complex numbers for real ones, so that an author takes the real part."""


def _names_of_others(code: types.CodeType, own: frozenset[str]) -> Iterator[str]:
    """The names that code looks up, except its `own` functions and attributes of variables that numbers do
    not have.
    """
    before = ""
    for one in dis.get_instructions(code):
        is_own = one.opname in _OF_GLOBALS and one.argval in own
        is_part = before.startswith(_OF_VARIABLES) and one.argval in _NO_PARTS_OF_NUMBERS
        if one.argval in code.co_names and not is_own and not is_part:
            yield one.argval
        before = one.opname


_OF_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_OF_VARIABLES = ("LOAD_FAST", "LOAD_DEREF")
_NO_PARTS_OF_NUMBERS = frozenset(("angle", "fft"))


def complex_by_use(f: Callable) -> frozenset[str]:
    """The parameters whose real or imaginary part or conjugate a function reads, or that it passes to
    functions of complex numbers; `np.vdot` is one where an absolute value of it is taken or a complex number
    occurs.

    >>> def response(weights, places):
    ...     return np.vdot(weights, np.exp(1j * places))
    >>> sorted(complex_by_use(response))
    ['weights']
    """
    is_overlap = takes_size_of_overlap(f) or _has_imaginary(f)
    functions = _PARTS | _OF_COMPLEX | (_OVERLAP if is_overlap else frozenset())
    return frozenset((*parts_read(f, _part_attribute), *_handed_to(f, functions)))


def _has_imaginary(f: Callable) -> bool:
    nodes, _, _ = text_nodes(f)
    return any(isinstance(one, ast.Constant) and isinstance(one.value, complex) for one in nodes)


def takes_size_of_overlap(f: Callable) -> bool:
    """Whether a function takes the absolute value of an inner product by `np.vdot`, as for complex vectors.

    >>> def overlap(psi, phi):
    ...     return np.abs(np.vdot(psi, phi)) ** 2
    >>> def alignment(a, b):
    ...     return np.vdot(a, b)
    >>> takes_size_of_overlap(overlap), takes_size_of_overlap(alignment)
    (True, False)
    """
    nodes, _, made = text_nodes(f)
    calls = (one for one in nodes if isinstance(one, ast.Call))
    measured = [arg for call in calls if last_name(call.func) in SIZES for arg in call.args]
    values = [made.get(arg.id, arg) if isinstance(arg, ast.Name) else arg for arg in measured]
    return any(last_name(call.func) in _OVERLAP for value in values for call in calls_in(value))


_PARTS = frozenset(("real", "imag", "conj", "conjugate"))
_OF_COMPLEX = frozenset(("iscomplexobj",))
"""Functions that are useless for real numbers, so that their arguments are meant to be complex."""
_OVERLAP = frozenset(("vdot",))
SIZES = frozenset(("abs", "absolute"))
"""Functions that return the absolute value of a complex number."""


def _part_attribute(node: ast.AST) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) and node.attr in _PARTS else None


def array_function_parameters(f: Callable) -> frozenset[str]:
    """The parameters that a function passes to functions of arrays, multiplies as matrices, indexes, or takes
    the length of.

    >>> def fidelity(a: complex, b: complex, phase: complex):
    ...     return abs(phase * np.vdot(a, b)) ** 2
    >>> sorted(array_function_parameters(fidelity))
    ['a', 'b']
    """
    nodes, names, _ = text_nodes(f)
    taken = (n.value for n in nodes if isinstance(n, ast.Subscript))
    measured = (n.args[0] for n in calls_in(text_of(f)[0]) if last_name(n.func) == "len" and n.args)
    products = (n for n in nodes if isinstance(n, ast.BinOp) and isinstance(n.op, ast.MatMult))
    multiplied = (side for product in products for side in (product.left, product.right))
    parts = {n.id for n in (*taken, *measured, *multiplied) if isinstance(n, ast.Name)}
    return names & (parts | {*_handed_to(f, _OF_ARRAYS)})


_OF_ARRAYS = frozenset(
    "vdot dot outer kron norm sum mean fft ifft rfft irfft fft2 ifft2 cumsum cumprod einsum trace inv solve"
    " det".split()
)


def _handed_to(f: Callable, functions: frozenset[str]) -> Iterator[str]:
    """The parameters passed, as such or in a difference of parameters, to functions of these names."""
    node, names = text_of(f)
    for call in calls_in(node):
        if getattr(call.func, "attr", None) in functions:
            for arg in call.args:
                is_difference = isinstance(arg, ast.BinOp) and isinstance(arg.op, ast.Sub)
                parts = (arg.left, arg.right) if is_difference else (arg,)  # type: ignore[attr-defined]
                given = [part.id for part in parts if isinstance(part, ast.Name) and part.id in names]
                yield from given if len(given) == len(parts) else ()


_SHAPE_SAID = re.compile(
    r"((?:\b\w+(?:,? and |, | or ))*\b\w+)"
    r"(?:(?:\s*[:,])?\s+(?:is|are|has|have|of|shape|with|an?|the|real|complex|positive|square|matri(?:x|ces)"
    r"|vectors?|arrays?|ndarrays?|np\.ndarray|array_like|floats?|ints?|integers?))*"
    r"(?:\s*[:,])?\s*\(([\w\s,+*]+)\)(?!,?\s+or\s*\()(?!\s+(?:is|are)\s+(?:an?\s+)?(?:\w+\s+)?numbers?\b)"
)
"""Names, and lengths in parentheses after them: `x is (batch, channels), gamma and beta (channels)`, or `x, y
: ndarray, shape (n,)`.
"""
_AND = re.compile(r",? and |, | or ")
MOST_AXES_SAID = 5
"""The largest number of axes whose lengths are read from parentheses: batches of images have four."""
_OF_ONE_AXIS = re.compile(r"\d+, ?")
"""A number that is a length because of its comma: (3,)."""
_NO_NAMES = tuple("a an the shape array arrays matrix matrices vector vectors ndarray ndarrays".split())
"""Words between a name and its shape that are not names: X, a matrix (m, n); points, shape (n, 2)."""
_ALONE_NO_LENGTHS = frozenset((word,) for word in ("rows", "columns", "row", "column"))
_NO_LENGTHS = frozenset(
    """optional real complex radians degrees integer integers int ints
    float floats positive negative signed unsigned sorted boolean binary fixed known constant
    array arrays ndarray array_like matrix vector list tuple sequence dict str bool callable""".split()
)
"""Words in parentheses after a name that are not lengths: x (array, positive)."""
_UNIT_LETTERS = frozenset("m s h K N V A W J T g".split())
_HAS_UNITS = re.compile(
    r"\b(?:met(?:re|er)s?|seconds?|hours?|kelvin|newtons?|volts?|watts?|m[23]|[kcm]m|kg|k?N/m|m/s|[kM]?Pa"
    r"|kN|k?Hz|k?W|k?J|mol)\b|\bin m\b"
)
"""Units of physics in a docstring, beside which a letter alone in parentheses is a unit, too: height (m)."""
_UNITS = re.compile(r" \((?:[kMmn]?Pa|[kcmn]m|[km]?g|[kM]?Hz|[kM]?[NWJ]|ms|mol|deg|rad|%)(?:/\w+)?\)")
"""A unit in parentheses, which separates a name from the shape after it: limit (Pa), an array."""
_QUOTED = re.compile(r"[`'\"]+(\w+)[`'\"]+")
"""A name in quotes, as a key of a dict is written."""
_ANOTHER_WORD = re.compile(r"[^\W\d]{3,}(?<!s)")
"""A single word in parentheses that is not a plural, as lengths often are (channels), is another word for the
name before it, sigma (noise), unless it is a length elsewhere.
"""


def shapes_said(f: Callable) -> Mapping[str, tuple[int | str, ...]]:
    """The lengths that the docstring of a function gives for its parameters, by name: numbers and words.

    >>> def film(x, gamma, beta):
    ...     "Scales and shifts: x is (batch, channels), gamma and beta (channels)."
    >>> dict(shapes_said(film))
    {'x': ('batch', 'channels'), 'gamma': ('channels',), 'beta': ('channels',)}
    >>> def nearest(X, Y):
    ...     "Of the points X, a real matrix (n, d), to the nearest of the points Y (m, d)."
    >>> dict(shapes_said(nearest))
    {'X': ('n', 'd'), 'Y': ('m', 'd')}
    >>> def attracted(position, mass):
    ...     "Accelerations (n, d) of bodies at the positions (n, d) with their masses (n,)."
    >>> dict(shapes_said(attracted))
    {'position': ('n', 'd'), 'mass': ('n',)}
    >>> def pixels(points):
    ...     "Pixels of normalised image points, shape (n, 2)."
    >>> dict(shapes_said(pixels))
    {'points': ('n', 2)}
    >>> def over(front, back, alpha, gain):
    ...     \"\"\"front, back : ndarray, shape (h, w, channels)
    ...         alpha : (h, w) array_like
    ...         gain : array of shape (channels,), optional\"\"\"
    >>> list(shapes_said(over).values())
    [('h', 'w', 'channels'), ('h', 'w', 'channels'), ('h', 'w'), ('channels',)]
    >>> def evidence(times, sigma):
    ...     "times (n,) and sigma (noise), a positive number."
    >>> dict(shapes_said(evidence))
    {'times': ('n',)}
    >>> def mixed(a, b, mask):
    ...     "Mixes two images of shape (h, w, 3) by a mask of shape (h, w)."
    >>> dict(shapes_said(mixed))
    {'a': ('h', 'w', 3), 'b': ('h', 'w', 3), 'mask': ('h', 'w')}
    >>> def area(corners):
    ...     "Area of a triangle from the (3, 2) array of its corners."
    ...     a, b, c = corners
    ...     return np.linalg.norm(np.cross(b - a, c - a)) / 2
    >>> dict(shapes_said(area))
    {'corners': (3, 2)}
    >>> def stiffness(nodes):
    ...     "Of a linear triangle; nodes (3, 2), in any orientation."
    >>> dict(shapes_said(stiffness))
    {'nodes': (3, 2)}
    >>> def power(snapshots, angle):
    ...     "snapshots : complex (sensors, snapshots); angle : radians"
    >>> dict(shapes_said(power))
    {'snapshots': ('sensors', 'snapshots_')}
    >>> def curve(coefficients, t):
    ...     "A spline of k spans with k + 3 coefficients at all t (m,)."
    >>> dict(shapes_said(curve))
    {'coefficients': ('k+3',), 't': ('m',)}
    >>> def turned(R, x):
    ...     "Turns x by the 3x3 rotation matrix R."
    >>> dict(shapes_said(turned))
    {'R': (3, 3)}
    >>> def risk(mean, cov):
    ...     "mean, cov : ndarray (n,), (n, n)"
    >>> dict(shapes_said(risk))
    {'mean': ('n',), 'cov': ('n', 'n')}
    """
    code = getattr(f, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if isinstance(code, types.CodeType) else ()
    found = shapes_in(f, names)
    found |= _shapes_of_all(f, [name for name in names if name not in found])
    of_parts = shapes_of_parts_said(f)
    return {name: found[name] for name in names if name in found and name not in of_parts}


def shapes_of_parts_said(f: Callable) -> Mapping[str, Mapping[str, tuple[int | str, ...]]]:
    """The lengths that the docstring of a function gives for the parts of its parameters, by the names under
    which the function unpacks them.

    >>> def moved(pose, points):
    ...     "pose: the quaternion q = (w, x, y, z) and the translation t of shape (3,)"
    ...     q, t = pose
    ...     return points + t
    >>> shapes_of_parts_said(moved)
    {'pose': {'q': (4,), 't': (3,)}}
    """
    components = {word: (len(letters.split(",")),) for word, letters in _LISTED.findall(docstring_text(f))}
    found = {}
    for name, parts in unpacked_names(f).items():
        shapes = {**shapes_in(f, parts), **components}
        if of_parts := {part: shapes[part] for part in parts if part in shapes}:
            found[name] = of_parts
    return found


_LISTED = re.compile(r"\b(\w+) = \((\w(?:, ?\w)+)\)")
"""The components of a vector: q = (w, x, y, z)."""


def shapes_in(f: Callable, names: Sequence[str]) -> dict[str, tuple[int | str, ...]]:
    """The lengths that a docstring gives for things of these names."""
    found: dict[str, tuple[int | str, ...]] = {}
    text = _UNITS.sub("", _QUOTED.sub(r"\1", docstring_text(f)))
    said_in_brackets = [*_SHAPE_SAID.findall(text)]
    beside_others = {word for _, inside in said_in_brackets if "," in inside for word in lengths_in(inside)}
    for those, inside in said_in_brackets:
        lengths = lengths_in(inside)
        if _ANOTHER_WORD.fullmatch(inside) and lengths[0] not in beside_others:
            continue
        if inside in _UNIT_LETTERS and inside not in beside_others and _HAS_UNITS.search(text):
            continue
        words = [*map(str, lengths)]
        if not words or not are_lengths(words):
            continue
        if not _NO_LENGTHS.isdisjoint(words) or lengths in _ALONE_NO_LENGTHS:
            continue
        of_numbers = len(lengths) == 2 and all(map(_is_size, lengths))
        is_shape = of_numbers or any(isinstance(n, str) for n in lengths)
        is_shape = is_shape or _OF_ONE_AXIS.fullmatch(inside) is not None
        before = [_called_in_full(word, names) for word in _AND.split(those)]
        if before[-1] in words:  # a length named like the array itself
            lengths = tuple(f"{n}_" if n == before[-1] else n for n in lengths)
        if len(lengths) <= MOST_AXES_SAID and set(names).isdisjoint(lengths) and is_shape:
            while len(before) > 1 and before[-1] in _NO_NAMES and before[-1] not in names:
                before.pop()
            said = itertools.takewhile(names.__contains__, reversed(before))
            found.update(dict.fromkeys(said, lengths))
    for inside, word in _SHAPE_BEFORE.findall(text):
        found.setdefault(parameter_called(word, names), lengths_in(inside))
    for rows, columns, word in _SIZES_BEFORE.findall(text):
        if parameter_called(word, names) in names:
            found.setdefault(parameter_called(word, names), (int(rows), int(columns)))
    for word, rows, columns in _SIZES_BEHIND.findall(text):
        if word in names:
            found.setdefault(word, (int(rows), int(columns)))
    for letter, number, word in _SUM_BEFORE.findall(text):
        if word in names:
            found.setdefault(word, (f"{letter}+{number}",))
    found = {**_behind_words(text, names), **found}
    for those, shapes in _ONE_EACH.findall(text):
        each = [*map(lengths_in, _PARENTHESES.findall(shapes))]
        listed = _AND.split(those)
        found.update(zip(listed, each) if len(each) == len(listed) else ())
    return found


def _behind_words(text: str, names: Sequence[str]) -> dict[str, tuple[int | str, ...]]:
    """The lengths in parentheses after the description of a parameter, or after a noun that follows its name.

    >>> _behind_words("ssh: sea level, (time, lat, lon); of a raw image (h, w, 3)", ("ssh", "raw"))
    {'ssh': ('time', 'lat', 'lon'), 'raw': ('h', 'w', 3)}
    """
    found: dict[str, tuple[int | str, ...]] = {}
    each = (*_BEHIND_A_COLON.findall(" ".join(text.split())), *_BEHIND_A_NOUN.findall(text))
    for word, inside in (*each, *_BEHIND_ANY_NOUN.findall(text)):
        name, lengths = parameter_called(word, tuple(names)), lengths_in(inside)
        if name in names and are_lengths(map(str, lengths)) and len(lengths) <= MOST_AXES_SAID:
            found.setdefault(name, lengths)
    return found


_IN_COMMAS = r"\((\w+, ?(?:\w+, ?)*\w*)\)(?! or\b)"
_BEHIND_A_COLON = re.compile(rf"\b(\w+) ?: (?:(?!--)[^;:().])*{_IN_COMMAS}")
_NOUN = "(?:image|array|matrix|vector|tensor|stack|batch|signal|field|frame|grid|map|cube|cloud)s?"
_BEHIND_A_NOUN = re.compile(rf"\b(\w+) {_NOUN} {_IN_COMMAS}")
_BEHIND_ANY_NOUN = re.compile(rf"\b(\w{{2,}}) \w+,? (?:of |with )?shape {_IN_COMMAS}")
"""An array of stress tensors, shape (n, 3, 3)."""


def _called_in_full(word: str, names: Sequence[str]) -> str:
    """The parameter that a word means: one of that name or its singular, or the only one whose name the word
    begins with; else the word.
    """
    called = parameter_called(word, names)
    begun = [name for name in names if len(name) > 2 and called.lower().startswith(name.lower())]
    return begun[0] if called not in names and len(begun) == 1 else called


def sizes_said(f: Callable) -> tuple[tuple[int | str, ...], ...]:
    """The pairs of numbers that a docstring gives in parentheses: rows and columns of arrays that it need not
    name.

    >>> def torsion(xyz, phase):
    ...     "Of four atoms (4, 3)."
    >>> sizes_said(torsion)
    ((4, 3),)
    """
    pairs = map(lengths_in, _PARENTHESES.findall(docstring_text(f)))
    return tuple(pair for pair in pairs if len(pair) == 2 and all(map(_is_size, pair)))


def _is_size(length: int | str) -> bool:
    return isinstance(length, int) and length > 1


_ONE_EACH = re.compile(
    r"\b(\w+(?:(?:, and |, | and )\w+)+) ?: ?(?:\w+,? )?(?:of )?(?:shapes? )?"
    r"(\([\w, ]+\)(?:(?:, and |, | and )\([\w, ]+\))+)"
)
_PARENTHESES = re.compile(r"\(([\w, ]+)\)")
"""Several names, and after them a shape for each: mean, cov : ndarray (n,), (n, n)."""
_SHAPE_BEFORE = re.compile(r"\((\d+, ?\d+)\) (?:real |nd)?(?:array|matrix) of (?:its |the |all )?(\w+)")
"""Numbers before the name of the array whose shape they are: the (4, 3) array of its vertices."""
_SUM_BEFORE = re.compile(r"(?<![+*/-] )\b([a-z]) \+ (\d) (\w+)\b")
"""A length before the name: k + 3 coefficients."""
_SIZES_BEFORE = re.compile(r"\b(\d) ?[x\u00d7] ?(\d) (?:(?:real|complex|unitary|rotation|matrix) )*(\w+)")
"""Rows and columns before the name: a complex 2 x 2 gate, the 3x3 rotation matrix R."""
_SIZES_BEHIND = re.compile(r"\b(\w+)(?: is| ?:|,)(?: an?| the)? (\d) ?[x\u00d7] ?(\d)\b")
"""P is the 3x4 camera matrix."""
_SHAPE_OF_ALL = re.compile(
    r"\b(two|three|four|both) (?:real |grey |colou?r )?"
    r"(?:arrays|images|matrices|vectors|fields|signals|frames|grids),? "
    r"(?:each )?(?:of|with|in)? ?(?:the )?(?:same )?shape \((\w+(?:, ?\w+)*),?\)"
)
"""Arrays that are not named: two images of shape (h, w, channels)."""
_COUNTS = {"two": 2, "both": 2, "three": 3, "four": 4}


def _shapes_of_all(f: Callable, left: Sequence[str]) -> Mapping[str, tuple[int | str, ...]]:
    """The lengths of several arrays that are not named, if as many parameters are left."""
    for count, inside in _SHAPE_OF_ALL.findall(docstring_text(f)):
        lengths = lengths_in(inside)
        if len(left) == _COUNTS[count] and set(left).isdisjoint(lengths) and len(lengths) <= 3:
            return dict.fromkeys(left, lengths)
    return {}


_VALUE_SAID = re.compile(r"\bReturns?\b:?\s*(?:-{3,}\s*)?[^()]{0,60}?\((\w+(?:, ?\w+)*),?\)")


def has_said_shape(f: Callable, args: tuple, y: Any) -> bool:
    """Whether a docstring gives the lengths of all array arguments and of the value, and they match.

    >>> def running(x, h):
    ...     "x: (n,) array, h: (m,) array. Returns an array (n,)."
    >>> has_said_shape(running, (np.ones(3), np.ones(2)), np.ones(3))
    True
    >>> has_said_shape(running, (np.ones(3), np.ones(2)), np.ones(2))
    False
    """
    said, found = shapes_said(f), _VALUE_SAID.search(docstring_of(f))
    names = f.__code__.co_varnames if found is not None else ()
    shapes = {name: x.shape for name, x in zip(names, args) if isinstance(x, np.ndarray) and x.ndim}
    if found is None or not shapes or not shapes.keys() <= said.keys():
        return False
    lengths: dict[int | str, int] = {}
    for name, shape in shapes.items():
        pairs = list(zip(said[name], shape))
        if len(said[name]) != len(shape) or any(lengths.setdefault(word, n) != n for word, n in pairs):
            return False
    of_value = lengths_in(found[1])
    return tuple(n if isinstance(n, int) else lengths.get(n, -1) for n in of_value) == np.shape(y)


_INDEXERS = {"at": 1, "take": 1, "bincount": 0}
"""Functions that take indices, and the position of these among their arguments."""
_SCATTERERS = {"at": 1, "bincount": 0}


def index_parameters(f: Callable) -> frozenset[str]:
    """The parameters that a function uses as indices, alone or beside others: `x[i]`, and those that cannot
    be floats: `np.add.at(out, i, x)`.
    """
    node, names = text_of(f)
    made = values_by_name(node) if node is not None else {}
    found: set[str] = set()
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Subscript) and isinstance(inner.ctx, ast.Load):
            parts = inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice]
            found.update(name for part in parts for name in _picked_by(part, made))
        elif isinstance(inner, ast.Call):
            found.update(_handed_as_indices(inner, _INDEXERS))
    return names & found


def lengths_picked_from(f: Callable) -> Mapping[str, int | str]:
    """For each parameter that a function uses as indices along an axis of an array whose shape the docstring
    states, the length of that axis.

    >>> def shades(index, palette):
    ...     "palette: shape (k, 3)"
    ...     return palette[index]
    >>> dict(lengths_picked_from(shades))
    {'index': 'k'}
    """
    nodes, names, made = text_nodes(f)
    said = shapes_said(f)
    found: dict[str, int | str] = {}
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            for part, length in zip(parts, said.get(node.value.id, ())):
                found |= dict.fromkeys(names.intersection(_picked_by(part, made)), length)
    return found


def scatter_index_parameters(f: Callable) -> frozenset[str]:
    """The parameters that are indices at which a function adds up elements, which may coincide, so there are
    several: `np.add.at(out, i, x)`, but not `x[i]`.
    """
    nodes, names, _ = text_nodes(f)
    calls = (inner for inner in nodes if isinstance(inner, ast.Call))
    return names & {name for call in calls for name in _handed_as_indices(call, _SCATTERERS)}


def _handed_as_indices(call: ast.Call, places: Mapping[str, int]) -> Iterator[str]:
    """The name of the indices in a call of one of these functions."""
    place = places.get(getattr(call.func, "attr", ""))
    if place is not None:
        yield from (arg.id for arg in call.args[: place + 1][-1:] if isinstance(arg, ast.Name))


def _picked_by(part: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[str]:
    """The names in an index: the index itself, perhaps as an array, `np.asarray(order)`, and the array of
    which a comparison selects some, `order[keep == 1]`.
    """
    part = _as_array(part)
    if isinstance(part, ast.Name):
        yield part.id
        part = _as_array(made.get(part.id, part))
        if isinstance(part, ast.Name):
            yield part.id
    if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
        if isinstance(part.slice, ast.Compare):
            yield part.value.id


def _as_array(part: ast.AST) -> ast.AST:
    """What is converted to an array, or to another dtype: `i` of `np.asarray(i)` and `i.astype(int)`."""
    called = part.func.attr if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) else ""
    if called in ("asarray", "array") and part.args:  # type: ignore[attr-defined]
        return part.args[0]  # type: ignore[attr-defined]
    return part.func.value if called == "astype" else part  # type: ignore[attr-defined]


def picks_by_number(f: Callable) -> bool:
    """Whether a function reads an element at a constant index above zero: `p[1]`."""
    node, _ = text_of(f)
    read = (n.slice for n in ast.walk(node) if isinstance(n, ast.Subscript)) if node is not None else ()
    return any(isinstance(at, ast.Constant) and type(at.value) is int and at.value > 0 for at in read)


def reads_both_ends(f: Callable) -> bool:
    """Whether a function reads the first and the last element along an axis of an array, as a trapezoidal
    rule does: then it is intended for at least two elements.

    >>> def trapezoid(y, dt):
    ...     return dt * (y.sum() - 0.5 * (y[0] + y[-1]))
    >>> reads_both_ends(trapezoid)
    True
    """
    node, _ = text_of(f)
    read = [n for n in ast.walk(node) if isinstance(n, ast.Subscript)] if node is not None else []
    places = {(ast.dump(n.value), _entries_of(n.slice)) for n in read if isinstance(n.ctx, ast.Load)}
    return any((array, end) in places for array, place in places for end in _at_last(place))


def _entries_of(index: ast.expr) -> tuple[str, ...]:
    return tuple(map(ast.unparse, index.elts if isinstance(index, ast.Tuple) else [index]))


def _at_last(place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The places with the last element in place of the first, along each axis."""
    yield from ((*place[:k], "-1", *place[k + 1 :]) for k, entry in enumerate(place) if entry == "0")


def elements_taken(f: Callable) -> Mapping[str, int]:
    """How many elements those parameters have that a function uses only by their elements at constant
    indices, counted from the first without gaps.

    >>> def wave(t, p):
    ...     return p[0] * np.sin(p[1] * t) + t[0]
    >>> elements_taken(wave)
    {'p': 2}
    """
    node, names = text_of(f)
    taken: dict[str, set[int]] = {}
    whole: Counter[str] = Counter()
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name):
            at = inner.slice.value if isinstance(inner.slice, ast.Constant) else None
            if type(at) is int and isinstance(inner.ctx, ast.Load):
                taken.setdefault(inner.value.id, set()).add(at)
                whole[inner.value.id] -= 1
        elif isinstance(inner, ast.Name):
            whole[inner.id] += 1
    return {
        name: len(those)
        for name, those in taken.items()
        if name in names and not whole[name] and len(those) > 1 and those == set(range(len(those)))
    }


def rounded_to_whole(f: Callable) -> frozenset[str]:
    """The parameters that a function rounds to whole numbers, as for the index of an element.

    >>> def between(y, t):
    ...     k = int(np.floor(t))
    ...     return y[k] + (t - k) * (y[k + 1] - y[k])
    >>> sorted(rounded_to_whole(between))
    ['t']
    """
    node, names = text_of(f)
    calls = (call for call in calls_in(node) if last_name(call.func) in _ROUNDING)
    inner = (n for call in calls for arg in call.args for n in ast.walk(arg))
    return names & {n.id for n in inner if isinstance(n, ast.Name)}


_ROUNDING = frozenset(("int", "floor", "trunc", "fix", "rint", "round", "ceil"))


def mask_parameters(f: Callable) -> frozenset[str]:
    """The parameters that are flags by their use: the function makes a choice by each of their elements,
    negates them, or only compares them with 1 or 0.

    >>> def hits(p, target, x):
    ...     return np.where(target, p, 1 - p) + np.where(x > 0, x, 0)
    >>> sorted(mask_parameters(hits))
    ['target']
    >>> sorted(mask_parameters(lambda p, t: np.where(t == 1, p, 1 - p)))
    ['t']
    >>> sorted(mask_parameters(lambda p, hit: sum(np.log(one if h else 1 - one) for one, h in zip(p, hit))))
    ['hit']
    """
    node, names = text_of(f)
    found: set[str] = {*_asked_for_one(node), *_with_flags_for_elements(node, names)}
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Invert):
            found.update(n.id for n in (inner.operand,) if isinstance(n, ast.Name))
        elif isinstance(inner, ast.Call) and getattr(inner.func, "attr", None) in _OF_FLAGS:
            found.update(arg.id for arg in inner.args[:1] if isinstance(arg, ast.Name))
    return names & found


def _asked_for_one(node: ast.AST | None) -> Iterator[str]:
    """The names that occur only beside `== 1` or `== 0` in the condition of a `where`."""
    every = Counter(n.id for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Name))
    asked: Counter[str] = Counter()
    for call in (one for one in calls_in(node) if last_name(one.func) == "where"):
        test = call.args[0] if call.args else None
        if isinstance(test, ast.Compare):
            sides = (test.left, *test.comparators)
            is_equal = all(isinstance(one, (ast.Eq, ast.NotEq)) for one in test.ops)
            if is_equal and any(isinstance(side, ast.Constant) and side.value in (0, 1) for side in sides):
                asked.update(side.id for side in sides if isinstance(side, ast.Name))
    return (name for name, times in asked.items() if every[name] == times)


def _with_flags_for_elements(node: ast.AST | None, names: frozenset[str]) -> Iterator[str]:
    """The parameters whose elements a loop uses only as conditions: `if hit`, or `if hits[i]`."""
    every = Counter(n.id for n in ast.walk(node or ast.Pass()) if isinstance(n, ast.Name))
    tests = [n.test for n in ast.walk(node or ast.Pass()) if isinstance(n, (ast.If, ast.IfExp))]
    tests = [test.operand if isinstance(test, ast.UnaryOp) else test for test in tests]
    picked = Counter(identifier(test.value) for test in tests if isinstance(test, ast.Subscript))
    yield from (name for name, times in picked.items() if name in names and every[name] == times)
    tested = Counter(test.id for test in tests if isinstance(test, ast.Name))
    loops = elements_of(node, names) if node is not None and tested else {}
    for name, parts in loops.items():
        if parts and all(tested[part] and every[part] == tested[part] + 1 for part in parts):
            yield name


_OF_FLAGS = frozenset(("where", "logical_not"))


_ABOVE_ZERO = frozenset("log log10 log2 sqrt".split())


def meant_larger(f: Callable) -> frozenset[tuple[str, str]]:
    """Pairs of parameters of which the second is meant to be the larger: a function takes the logarithm or
    root of their difference, or of a product or quotient of such. Parameters that it compares, or takes the
    absolute value of, are left out.

    >>> def mean_difference(hot, warm, cold):
    ...     d1, d2 = hot - cold, warm - cold
    ...     return (d1 - d2) / np.log(d1 / d2)
    >>> sorted(meant_larger(mean_difference))
    [('cold', 'hot'), ('cold', 'warm')]
    """
    node, names = text_of(f)
    if node is None:
        return frozenset()
    made, decided = values_by_name(node), decides_by(f)
    calls = [call for call in calls_in(node) if len(call.args) == 1]
    handed = [call.args[0] for call in calls if getattr(call.func, "attr", "") in _ABOVE_ZERO]
    pairs = {pair for each in handed for pair in _differences_in(each, made, names)}
    return frozenset(p for p in pairs if decided.isdisjoint(p) and p[::-1] not in pairs and p[0] != p[1])


def _differences_in(
    node: ast.AST, made: Mapping[str, ast.expr], names: frozenset[str], depth: int = 4
) -> Iterator[tuple[str, str]]:
    """The differences of two parameters among the factors of a product, the smaller parameter first."""
    if isinstance(node, ast.Name) and node.id in made and node.id not in names and depth:
        yield from _differences_in(made[node.id], made, names, depth - 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        yield from _differences_in(node.left, made, names, depth)
        yield from _differences_in(node.right, made, names, depth)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        sides = [_end(side, names) for side in (node.right, node.left)]
        if all(isinstance(side, str) for side in sides):
            yield sides[0], sides[1]  # type: ignore[misc]


def clipped_between(f: Callable) -> Iterator[tuple[str | float, str | float]]:
    """The bounds to which a function clips, where one of them is a parameter: names and numbers, the lower
    first.

    >>> def limited(x, floor, cap):
    ...     return np.clip(x, floor, cap) + np.clip(x, 0, cap) + np.clip(x, -cap, cap)
    >>> sorted(clipped_between(limited), key=str)
    [('floor', 'cap'), (0.0, 'cap'), (0.0, 'cap')]
    >>> def near_one(ratio, eps):
    ...     return np.clip(ratio, 1 - eps, 1 + eps)
    >>> list(clipped_between(near_one))
    [(0.0, 'eps')]
    """
    node, names = text_of(f)
    for call in calls_in(node):
        if getattr(call.func, "attr", "") != "clip" or call.keywords:
            continue
        ends = call.args[-2:]
        if len(call.args) not in (2, 3) or (len(call.args) == 3) != _is_numpy(call.func.value):  # type: ignore[attr-defined]
            continue
        low, high = (_end(end, names) for end in ends)
        if low is None and isinstance(high, str) and ast.unparse(ends[0]) == f"-{high}":
            low = 0.0
        if low is None and high is None:
            low, high = 0.0, _half_width(ends[0], ends[1], names)
        if low is not None and high is not None and {type(low), type(high)} != {float}:
            yield low, high


def _half_width(low: ast.expr, high: ast.expr, names: frozenset[str]) -> str | None:
    """The parameter that is subtracted from an expression at one end and added to the same one at the
    other.
    """
    both = isinstance(low, ast.BinOp) and isinstance(high, ast.BinOp)
    if not both or not isinstance(low.op, ast.Sub) or not isinstance(high.op, ast.Add):  # type: ignore[attr-defined]
        return None
    alike = ast.dump(low.left) == ast.dump(high.left) and ast.dump(low.right) == ast.dump(high.right)  # type: ignore[attr-defined]
    end = _end(low.right, names) if alike else None  # type: ignore[attr-defined]
    return end if isinstance(end, str) else None


def _end(node: ast.expr, names: frozenset[str]) -> str | float | None:
    """The name of a parameter, or a number; None for any other expression."""
    if isinstance(node, ast.Name):
        return node.id if node.id in names else None
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if is_number else None  # type: ignore[attr-defined]


def _is_numpy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "numpy")


_TABLES = {"interp": 1, "searchsorted": 0}
"""Functions that look something up in increasing numbers, and the position of these among their arguments."""


def meant_to_rise(f: Callable) -> frozenset[str]:
    """The parameters passed, as such, to functions that look something up in increasing numbers.

    >>> def looked_up(t, times, values):
    ...     return np.interp(t, times, values)
    >>> sorted(meant_to_rise(looked_up))
    ['times']
    """
    node, names = text_of(f)
    calls = calls_in(node)
    placed = [(call, _TABLES.get(getattr(call.func, "attr", ""))) for call in calls]
    handed = [call.args[place] for call, place in placed if place is not None and len(call.args) > place]
    return names & {one.id for one in handed if isinstance(one, ast.Name)}


_DECIDING = frozenset("where maximum minimum clip select piecewise heaviside sign abs fabs max min".split())


def decides_by(f: Callable) -> frozenset[str]:
    """The parameters whose numbers decide which branch a function takes: they occur in a comparison, or are
    passed to a function such as `np.where` or `abs`.
    """
    node, names = text_of(f)
    tests = deciding_in(node) if node is not None else ()
    return names & {n.id for test in tests for n in ast.walk(test) if isinstance(n, ast.Name)}


def deciding_in(node: ast.AST) -> Iterator[ast.AST]:
    """The comparisons and conditional expressions in a tree, and the calls of functions that choose a
    branch.
    """
    for inner in ast.walk(node):
        chooses = isinstance(inner, ast.Call) and last_name(inner.func) in _DECIDING
        if chooses or isinstance(inner, (ast.Compare, ast.IfExp)):
            yield inner


def compared_pairs(f: Callable) -> frozenset[frozenset[str]]:
    """The pairs of parameters that a function compares to choose between values, without raising.

    >>> def waiting(load, servers, limit):
    ...     if load > limit:
    ...         raise ValueError(load)
    ...     return 1.0 if load >= servers else load / servers
    >>> [sorted(pair) for pair in compared_pairs(waiting)]
    [['load', 'servers']]
    """
    node, names = text_of(f)
    found: set[frozenset[str]] = set()
    for inner in ast.walk(node) if node is not None else ():
        tests: list[ast.AST] = []
        if isinstance(inner, ast.IfExp) or isinstance(inner, ast.If) and not _raises(inner.body):
            tests = [inner.test]
        elif isinstance(inner, ast.Call) and getattr(inner.func, "attr", None) == "where":
            tests = list(inner.args[:1])
        for test in (one for each in tests for one in ast.walk(each) if isinstance(one, ast.Compare)):
            sides = {n.id for n in (test.left, *test.comparators) if isinstance(n, ast.Name)}
            if len(sides) == len(test.comparators) + 1 == 2 and sides <= names:
                found.add(frozenset(sides))
    return frozenset(found)


def _raises(body: list[ast.stmt]) -> bool:
    return any(isinstance(statement, ast.Raise) for statement in body)
