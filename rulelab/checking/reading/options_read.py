"""The values of an option that the code of a function, or of its rule, distinguishes: the words, flags and
integers that it compares the parameter with or looks up by it.
"""

from __future__ import annotations

import ast
import enum
import itertools
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...annotations import annotations_of
from ...tangents.holding import captured
from .anatomy import last_name
from .own_docstrings import docstring_of
from .parameters import default_of
from .texts import text_of, values_by_name

Option = str | int | float | None | enum.Enum
"""The type of an option's value: a bool is an int."""
MOST_OF_ONE = 8
"""The largest number of values of one parameter that are distinguished; of more, the first are."""
MOST_HELPERS = 3
"""The largest depth of helper calls through which a parameter is followed."""
ANY_OTHER = "none"
"""A word for the `else` case, where a function accepts any other."""

_MODES = ("full", "same", "valid")
_NORMS = ("backward", "ortho", "forward")
OF_NUMPY: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("convolve", "mode"): _MODES,
    ("correlate", "mode"): _MODES,
    ("fftconvolve", "mode"): _MODES,
    **{(f"{way}{kind}fft{n}", "norm"): _NORMS for way in ("", "i") for kind in ("", "r") for n in ("", "2")},
    ("pad", "mode"): ("constant", "edge", "reflect", "symmetric", "wrap"),
    ("quantile", "method"): ("linear", "lower", "higher", "midpoint", "nearest"),
    ("percentile", "method"): ("linear", "lower", "higher", "midpoint", "nearest"),
    ("flatten", "order"): ("C", "F"),
    ("ravel", "order"): ("C", "F"),
    ("reshape", "order"): ("C", "F"),
}
"""The options of NumPy and SciPy functions whose values are words, by function and option name."""
_PLACES = {"convolve": 2, "correlate": 2, "fftconvolve": 2, "pad": 2}
"""The position of such an option among the positional arguments."""
_SPELLING = frozenset(("lower", "upper", "casefold", "strip"))


def options_read(f: Callable, *authors: Callable) -> Mapping[str, tuple[Option, ...]]:
    """The values of its parameters that a function or the authors of its rules distinguish, by name.

    A comparison by size (`order > 1`) distinguishes that number and its neighbours. Where a function has
    words for some values and takes any other (`else:`), a word that it does not have is added, unless its
    rule has words of its own.

    >>> def loss(x, reduction="mean", order=2):
    ...     if reduction == "mean":
    ...         return np.mean(x**order)
    ...     return np.sum(x**order) if reduction == "sum" else x
    >>> dict(options_read(loss))
    {'reduction': ('mean', 'sum', 'none')}
    """
    own = _told_apart(f)
    others = [_told_apart(author) for author in authors]
    found: dict[str, tuple[Option, ...]] = {}
    for name in dict.fromkeys(itertools.chain(own, _said(f), *others)):
        mine = own.get(name, ())
        theirs = [v for one in others for v in one.get(name, ())] if name in _names(f) else []
        values = dict.fromkeys((*mine, *_said(f).get(name, ()), *theirs))
        if not values:
            continue
        words = [v for v in values if isinstance(v, str)]
        if words and set(words) <= {*mine, default_of(f, name)} and ANY_OTHER not in words:
            values[ANY_OTHER] = None
        found[name] = tuple(values)[: MOST_OF_ONE + 1]
    return found


def options_required(f: Callable, *authors: Callable) -> Mapping[str, tuple[Option, ...]]:
    """The values of parameters without a default: words for those compared with words, and both truth values
    for those that a function only uses as conditions: `if training`.

    >>> def dropped(x, mask, training):
    ...     return x * mask if training else 0.5 * x
    >>> dict(options_required(dropped))
    {'training': (True, False)}
    """
    read = options_read(f, *authors)
    names = [name for name in _names(f) if default_of(f, name) is ...]
    words = {name: [v for v in read.get(name, ()) if isinstance(v, (str, enum.Enum))] for name in names}
    flags = _decided_by(f).intersection(names)
    found = {name: tuple(values) for name, values in words.items() if values}
    return {name: (True, False) for name in names if name in flags} | found


def _names(f: Callable) -> tuple[str, ...]:
    code = getattr(f, "__code__", None)
    if not isinstance(code, types.CodeType):
        return ()
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _decided_by(f: Callable) -> frozenset[str]:
    """The parameters that occur only as conditions."""
    node, _ = text_of(f)
    if node is None:
        return frozenset()
    asked: list[str] = []
    for inner in ast.walk(node):
        if isinstance(inner, (ast.If, ast.IfExp, ast.While)):
            asked += _conditions(inner.test)
    every = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    return frozenset(name for name in asked if every.count(name) == asked.count(name))


def _conditions(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _conditions(node.operand)
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _conditions(part)


def _told_apart(f: Callable) -> Mapping[str, tuple[Option, ...]]:
    found: dict[str, dict[tuple[type, Option], Option]] = {}
    for name, value in _Reader(f).pairs():
        found.setdefault(name, {}).setdefault((type(value), value), value)
    return {name: tuple(values.values()) for name, values in found.items()}


class _Reader:
    """The code of one function, in which its parameters are followed."""

    def __init__(self, f: Callable, depth: int = MOST_HELPERS) -> None:
        self.f, self.depth = f, depth
        self.node, _ = text_of(f)
        self.names = _names(f)
        self.made = values_by_name(self.node) if self.node is not None else {}
        self.space = {**getattr(f, "__globals__", {}), **captured(f)}

    def pairs(self) -> Iterator[tuple[str, Option]]:
        """The parameters and the values that they are compared with."""
        for inner in ast.walk(self.node) if self.node is not None else ():
            if isinstance(inner, ast.Compare):
                yield from self._of_comparison(inner)
            elif isinstance(inner, ast.Subscript):
                yield from self._of_table(inner.slice, inner.value)
            elif isinstance(inner, ast.Match):
                yield from self._of_match(inner)
            elif isinstance(inner, ast.Call):
                yield from self._of_call(inner)

    def _of_comparison(self, node: ast.Compare) -> Iterator[tuple[str, Option]]:
        sides = [node.left, *node.comparators]
        for operation, left, right in zip(node.ops, sides, sides[1:]):
            if isinstance(operation, (ast.In, ast.NotIn)):
                yield from self._of_table(left, right)
                continue
            for one, other in ((left, right), (right, left)):
                name, values = self._parameter(one), list(self._values(other))
                if name is None or len(values) != 1:
                    continue
                if isinstance(operation, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
                    yield name, values[0]
                elif type(values[0]) is int and type(default_of(self.f, name)) is int:
                    yield from ((name, values[0] + step) for step in (0, 1, -1))

    def _of_table(self, key: ast.AST, table: ast.AST) -> Iterator[tuple[str, Option]]:
        name = self._parameter(key)
        if name is not None:
            yield from ((name, value) for value in self._members(table))

    def _of_match(self, node: ast.Match) -> Iterator[tuple[str, Option]]:
        name = self._parameter(node.subject)
        for pattern in (inner for case in node.cases for inner in ast.walk(case.pattern)) if name else ():
            if isinstance(pattern, ast.MatchValue):
                yield from ((name, value) for value in self._values(pattern.value))  # type: ignore[misc]
            elif isinstance(pattern, ast.MatchSingleton):
                yield name, pattern.value  # type: ignore[misc]

    def _of_call(self, call: ast.Call) -> Iterator[tuple[str, Option]]:
        word = last_name(call.func)
        if isinstance(call.func, ast.Attribute) and word == "get" and call.args:
            yield from self._of_table(call.args[0], call.func.value)
        if isinstance(call.func, ast.Attribute) and word == "startswith" and call.args:
            name = self._parameter(call.func.value)
            yield from ((name, value) for value in self._values(call.args[0]) if name is not None)
        given = [(self._parameter(arg), i, "") for i, arg in enumerate(call.args)]
        given += [(self._parameter(k.value), -1, k.arg or "") for k in call.keywords]
        given = [one for one in given if one[0] is not None]
        if not given:
            return
        for name, place, keyword in given:
            option = keyword or ("mode" if _PLACES.get(word) == place else "")
            yield from ((name, value) for value in OF_NUMPY.get((word, option), ()))  # type: ignore[misc]
        helper: Any = self.space.get(call.func.id) if isinstance(call.func, ast.Name) else None
        space = getattr(self.f, "__globals__", None)
        if isinstance(helper, types.FunctionType) and helper.__globals__ is space and self.depth:
            inside = _Reader(helper, self.depth - 1)
            read = list(inside.pairs()) if helper is not self.f else []
            for name, place, keyword in given:
                called = keyword or (inside.names[place] if place < len(inside.names) else "")
                yield from ((name, value) for other, value in read if other == called)  # type: ignore[misc]

    def _parameter(self, node: ast.AST, depth: int = 3) -> str | None:
        """The parameter that an expression stands for, also as `kind.lower()` or `mode or "full"`."""
        if isinstance(node, ast.Name):
            if node.id in self.made and node.id not in self.names and depth:
                return self._parameter(self.made[node.id], depth - 1)
            return node.id if node.id in self.names else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._parameter(node.func.value, depth) if node.func.attr in _SPELLING else None
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            return self._parameter(node.values[0], depth)
        return None

    def _members(self, node: ast.AST, depth: int = 3) -> Iterator[Option]:
        """The values in a tuple, a list or a set, and the keys of a dict."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            yield from (value for part in node.elts for value in self._values(part))
        elif isinstance(node, ast.Dict):
            yield from (value for key in node.keys if key is not None for value in self._values(key))
        elif isinstance(node, ast.Name) and node.id in self.made and depth:
            yield from self._members(self.made[node.id], depth - 1)
        elif isinstance(node, (ast.Name, ast.Attribute)):
            held = self._held(node)
            if isinstance(held, (tuple, list, set, frozenset, dict)):
                yield from (value for value in held if _is_option(value))

    def _values(self, node: ast.AST) -> Iterator[Option]:
        """The value of a constant expression, if it has one."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield from (-v for v in self._values(node.operand) if isinstance(v, (int, float)))
            return
        held: Any = node.value if isinstance(node, ast.Constant) else self._held(node)
        if _is_option(held):
            yield held

    def _held(self, node: ast.AST) -> Any:
        """The value of a name outside the function; `...` where it is not known."""
        if isinstance(node, ast.Name):
            return self.space.get(node.id, ...) if node.id not in self.made else ...
        if isinstance(node, ast.Attribute):
            owner = self._held(node.value)
            if isinstance(owner, (types.ModuleType, enum.EnumMeta)):
                members = vars(owner) if isinstance(owner, types.ModuleType) else owner.__members__
                return members.get(node.attr, ...)
        return ...


def _is_option(value: Any) -> bool:
    """Whether a value may be that of an option: a float that is not whole, such as 0.5, is an ordinary
    number.
    """
    if isinstance(value, float):
        return value in (float("inf"), float("-inf"), 0.0) or value.is_integer()
    return value is None or isinstance(value, (str, bool, int, enum.Enum))


_QUOTED = re.compile(r"""(?<![\w`])["']([A-Za-z][\w-]{0,20})["'](?!\w)""")


def _said(f: Callable) -> Mapping[str, tuple[Option, ...]]:
    """The values that annotations and enum defaults name, and the quoted words in the docstring of a function
    that has exactly one option with a word as its default.
    """
    found: dict[str, tuple[Option, ...]] = {}
    for name, note in annotations_of(f).items():
        found[name] = tuple(_literals(note))
    for name in _names(f):
        default = default_of(f, name)
        if isinstance(default, enum.Enum):
            found[name] = tuple(type(default))
    worded = [name for name in _names(f) if isinstance(default_of(f, name), str)]
    if len(worded) == 1:
        words = _QUOTED.findall(docstring_of(f))
        found[worded[0]] = (*found.get(worded[0], ()), *words)
    return {name: values for name, values in found.items() if values and name != "return"}


def _literals(note: Any) -> Iterator[Option]:
    """The values in `Literal["a", "b"]`, also if the annotation is a string, and the members of an enum."""
    if typing.get_origin(note) is typing.Literal:
        yield from filter(_is_option, typing.get_args(note))
    elif isinstance(note, str) and "Literal[" in note:
        inside = note.split("Literal[", 1)[1].rsplit("]", 1)[0]
        try:
            values = ast.literal_eval(f"({inside},)")
        except (ValueError, SyntaxError):
            return
        yield from filter(_is_option, values)
    elif isinstance(note, enum.EnumMeta):
        yield from note
