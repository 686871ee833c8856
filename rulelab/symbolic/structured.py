"""Arguments and results that are dicts, tuples, lists and objects of numbers and arrays: to the judge each
number and each array in them is a separate argument, and the structures are rebuilt around these for the
function and its rule.

So samples, cells, refutation and proof are the same as for plain arguments. The parts have names such as
`p.rate`, `p.0` and `p.w`, for attributes, positions and keys.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import an
from ..tangents.missing import NotImplementedTangent
from ..tangents.structural import (
    Tangent,
    class_of,
    entries_of,
    field_names,
    is_mapping,
    is_namedtuple,
    is_raw,
    is_sequence,
    make,
    parts,
)
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent, ZeroTangent
from .cells import Static
from .outcomes import Settled
from .plain_values import plain_argument, without_warnings_or_output
from .questions import NO_DEFAULT, Plan, Question, find_rule, kind_of, positional_parameters, sample_of
from .verdicts import Refuted, Unsupported

_PARTS_OF_COMPLEX = ("real", "imag")  # suffixes that a name must not have


@dataclass(frozen=True)
class Place:
    """The position of the argument with this number in a structure."""

    number: int


@dataclass(frozen=True)
class Holder:
    """A structure: its class, and its parts by key."""

    cls: type
    held: tuple[tuple[Any, Any], ...]

    def built(self, values: list, exchange: Callable = lambda cls: cls) -> Any:
        """The structure with these values, its classes replaced by `exchange`."""
        held = {key: build_structure(node, values, exchange) for key, node in self.held}
        if is_namedtuple(self.cls):
            return exchange(self.cls)(**held)
        if is_mapping(self.cls):
            return held
        if is_sequence(self.cls):
            return self.cls(held.values())
        found = object.__new__(exchange(self.cls))
        for key, value in held.items():
            object.__setattr__(found, key, value)
        return found

    def text(self, texts: list[str]) -> str:
        """The structure as Python source, with these texts for its values."""
        held = [(key, text(node, texts)) for key, node in self.held]
        if is_mapping(self.cls):
            return f"{{{', '.join(f'{key!r}: {one}' for key, one in held)}}}"
        if self.cls is list:
            return f"[{', '.join(one for _, one in held)}]"
        if self.cls is tuple:
            return f"({''.join(f'{one}, ' for _, one in held).rstrip()})"
        return f"{self.cls.__name__}({', '.join(f'{key}={one}' for key, one in held)})"


def build_structure(node: Any, values: list, exchange: Callable = lambda cls: cls) -> Any:
    """The structure or value of a node, with these values."""
    return values[node.number] if isinstance(node, Place) else node.built(values, exchange)


def text(node: Any, texts: list[str]) -> str:
    return texts[node.number] if isinstance(node, Place) else node.text(texts)


def is_structure(x: Any) -> bool:
    """Whether something is a structure with parts that may vary: its class must be one that can be
    rebuilt.
    """
    cls = type(x)
    if cls in (dict, list, tuple) or is_namedtuple(cls) or dataclasses.is_dataclass(cls):
        return True
    return hasattr(x, "__dict__") and not callable(x) and cls.__module__ not in _NO_HOLDERS and bool(parts(x))


_NO_HOLDERS = ("builtins", "numpy")
_TAKE_LISTS = ("numpy", "scipy")


def _has_what_varies(x: Any) -> bool:
    """Whether something contains a number or an array that may vary."""
    if is_structure(x):
        return any(map(_has_what_varies, parts(x).values()))
    return not isinstance(sample_of(x), Static)


def is_of_parts(f: Callable, args: tuple, kwargs: dict) -> bool:
    """Whether some arguments, or the function's result, are structures with parts that vary. NumPy and SciPy
    accept lists in place of arrays, but their rules do not.
    """
    if (getattr(f, "__module__", None) or "").split(".")[0] in _TAKE_LISTS:
        return False
    if any(is_structure(x) and _has_what_varies(x) for x in args):
        return True
    with without_warnings_or_output(), contextlib.suppress(Exception):
        return _is_opened(f(*copy.deepcopy(args), **kwargs))
    return False


def read_parts(args: tuple, names: tuple[str, ...]) -> tuple[list, list[str], list]:
    """(nodes, names, values) of all parts of the arguments, in order."""
    found: list[str] = []
    values: list[Any] = []

    def node_of(x: Any, name: str, depth: int) -> Any:
        if is_structure(x) and _has_what_varies(x) and depth < _DEEPEST:
            cls = type(x)
            held = sorted(parts(x).items(), key=str) if is_mapping(cls) else parts(x).items()
            return Holder(cls, tuple((key, node_of(v, named(name, key), depth + 1)) for key, v in held))
        found.append(name if name not in found else f"{name}_")
        values.append(x)
        return Place(len(values) - 1)

    return [node_of(x, name, 0) for x, name in zip(args, names, strict=True)], found, values


_DEEPEST = 6


def named(name: str, key: Any) -> str:
    return f"{name}.{key}{'_' if key in _PARTS_OF_COMPLEX else ''}"


def part_numbers(node: Any) -> Iterator[int]:
    """The numbers of the parts."""
    if isinstance(node, Place):
        yield node.number
    else:
        for _, inner in node.held:
            yield from part_numbers(inner)


def contents_at_places(node: Any, x: Any) -> Iterator[Any]:
    """Yield the current contents of the places in something that was built."""
    if isinstance(node, Place):
        yield x
        return
    there = dict(parts(x)) if is_structure(x) else {}
    for key, inner in node.held:
        yield from contents_at_places(inner, there.get(key))


def run_class_checks(x: Any) -> None:
    """Run the checks of an author's class, which may raise: an object is built here without its
    constructor.
    """
    if not is_structure(x):
        return
    for part in parts(x).values():
        run_class_checks(part)
    check = getattr(type(x), "__post_init__", None)
    if isinstance(check, types.FunctionType) and check.__code__.co_argcount == 1:
        check(copy.copy(x))


# --- cotangents ---------------------------------------------------------------------------------------------


def cotangents_of(node: Any, x_bar: Any, name: str) -> Iterator[Any]:
    """Yield the cotangents of the parts, in order, from a cotangent of the whole as a rule may return it."""
    if isinstance(node, Place):
        yield x_bar
        return
    x_bar = unthunk(x_bar)
    if isinstance(x_bar, (AbstractZero, NotImplementedTangent)):
        yield from (x_bar for _ in part_numbers(node))
        return
    given = _entries(x_bar, node.cls)
    if given is None:
        words = f"the cotangent of {name} is {_kind(x_bar)}, but {name} is {an(node.cls.__name__)}"
        raise Settled(Unsupported(words))
    if unknown := given.keys() - {key for key, _ in node.held}:
        words = f"the cotangent of {name} has a part {sorted(map(str, unknown))[0]}, but {name} has none"
        raise Settled(Refuted("shape", words))
    for key, inner in node.held:
        part = given.get(key, ZeroTangent())
        yield from cotangents_of(inner, ZeroTangent() if part is None else part, named(name, key))


def _entries(x_bar: Any, cls: type) -> dict | None:
    """The parts of a cotangent by key; None if it is not one of such a class."""
    if isinstance(x_bar, Tangent):
        return dict(entries_of(x_bar)) if _are_alike(class_of(x_bar), cls) else None
    if is_raw(x_bar):
        return dict(parts(x_bar)) if _are_alike(type(x_bar), cls) else None
    return None


def _are_alike(given: type, cls: type) -> bool:
    """Whether the parts of both are identified by the same keys: a tuple may replace a list, and a class that
    replaces another in an exchange counts as that.
    """
    if is_namedtuple(cls) or field_names(cls) is not None:
        return issubclass(given, cls) or is_mapping(given) and not is_namedtuple(cls)
    if is_sequence(cls):
        return is_sequence(given)
    return is_mapping(given) if is_mapping(cls) else issubclass(given, cls)


def _kind(x_bar: Any) -> str:
    if isinstance(x_bar, Tangent):
        return f"a Tangent of {an(class_of(x_bar).__name__)}"
    return an(type(x_bar).__name__)


# --- results ------------------------------------------------------------------------------------------------


def opened_value(y: Any) -> tuple[Any, Callable[[Any], Any]]:
    """A value with dicts and objects converted to tuples, and a function that converts a cotangent of the
    result to one of the value. A value without these is returned unchanged.
    """
    cls = type(y)
    if not _is_opened(y):
        return y, lambda y_bar: y_bar
    held = parts(y)
    keys = sorted(held, key=str) if is_mapping(cls) else list(held)
    opened = [opened_value(held[key]) for key in keys]
    length = len(keys) if is_sequence(cls) else None

    def cotangent(y_bar: Any) -> Any:
        bars = list(y_bar) if isinstance(y_bar, Tangent) else [y_bar] * len(keys)
        return make(cls, {k: inner(bar) for k, (_, inner), bar in zip(keys, opened, bars)}, length)

    return tuple(value for value, _ in opened), cotangent


def _is_opened(y: Any) -> bool:
    if isinstance(y, (tuple, list)):
        return any(map(_is_opened, y))
    return is_structure(y)


def form_of(y: Any) -> Any:
    """The structure of a value, without its numbers."""
    if not is_structure(y):
        return None
    return type(y).__name__, tuple(sorted(((key, form_of(part)) for key, part in parts(y).items()), key=str))


# --- the question -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StructuredQuestion(Question):
    """The `inner` question about structured arguments, as a question about their parts; `nodes` describe the
    structures.
    """

    inner: Question = None  # type: ignore[assignment]  # always set
    nodes: tuple = ()
    opens_value: bool = False

    def value_through(self, exchange):
        value = self._inner().value_through(exchange)
        is_plain = exchange(self.primal) is self.primal

        def opened(*xs):
            args = self.arguments(xs, exchange)
            if is_plain:
                for arg in args:
                    run_class_checks(arg)
            return opened_value(value(*args))[0]

        return opened

    def rule_through(self, exchange):
        rule = self._inner().rule_through(exchange)
        value = self._inner().value_through(exchange)
        is_plain = exchange(self.primal) is self.primal

        def structured_rule(*xs):
            args = self.arguments(xs, exchange)
            result = rule(*args)
            self._refute_writes(args, xs)
            if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
                return result
            if is_plain and form_of(result[0]) != form_of(value(*self.arguments(xs))):
                raise Settled(Refuted("value", "the rule's value has different parts from the function's"))
            y, cotangent = opened_value(result[0])

            def pullback(y_bar):
                bars = result[1](cotangent(y_bar))
                self._refute_writes(args, xs)
                return self._flat(bars)

            return y, pullback

        return structured_rule

    def _refute_writes(self, args, xs):
        """Raise Settled if a place in an argument no longer contains what was put there."""
        kept = [x for node, arg in zip(self.nodes, args, strict=True) for x in contents_at_places(node, arg)]
        changed = (name for name, x, put in zip(self.names, kept, xs, strict=True) if x is not put)
        if (name := next(changed, None)) is not None:
            raise Settled(Refuted("effects", f"the rule writes to its argument {name}"))

    def ways(self):
        """The Python expression for each number and array, by its name: `points[0].mass` for
        `points.0.mass`.
        """
        held = [
            (number, f"{name}{way}")
            for name, node in zip(self.inner.names, self.nodes, strict=True)
            for number, way in _ways(node)
        ]
        return {self.names[number]: way for number, way in held}

    def arguments(self, xs, exchange=lambda cls: cls):
        """The arguments of the function with these numbers and arrays in them."""
        values = list(xs)
        return tuple(build_structure(node, values, exchange) for node in self.nodes)

    def _inner(self):
        return dataclasses.replace(self.inner, kwargs=self.kwargs)

    def _flat(self, bars):
        """One cotangent for the function, then one for each number and array."""
        if not isinstance(bars, tuple):
            return bars
        if self.inner.leading is not None:
            bars = (*bars, *(NoTangent(),) * len(self.nodes))[: len(self.nodes) + 1]
        if len(bars) != len(self.nodes) + 1:
            raise Settled(
                Refuted(
                    "arity",
                    f"the pullback returned {len(bars)} cotangents; {len(self.nodes) + 1} are needed: "
                    "one for the function itself, then one for each argument",
                )
            )
        pairs = zip(self.nodes, bars[1:], self.inner.names, strict=True)
        return bars[0], *(bar for node, x_bar, name in pairs for bar in cotangents_of(node, x_bar, name))

    def spelled(self, texts):
        return ", ".join(text(node, texts) for node in self.nodes)

    def place(self, number):
        return next(
            f"[{argument}]{way}"
            for argument, node in enumerate(self.nodes, 1)
            for one, way in _ways(node)
            if one == number - 1
        )

    def code(self, arguments, index, seed):
        # How the seed of a dict is written depends on its contents: users have to continue from `y`
        # themselves.
        return f"y, back = {self.ask}{arguments})" if self.opens_value and index is not None else None

    def defaults(self):
        given = dict(zip(self.inner.names, self.inner.defaults(), strict=False))
        return tuple(given.get(name, NO_DEFAULT) for name in self.names)


def _ways(node: Any, way: str = "") -> Iterator[tuple[int, str]]:
    """Yield the number of each part, and the expression that accesses it."""
    if isinstance(node, Place):
        yield node.number, way
        return
    by_key = is_mapping(node.cls) or is_sequence(node.cls)
    for key, inner in node.held:
        yield from _ways(inner, f"{way}[{key!r}]" if by_key else f"{way}.{key}")


def structured(f, rule, choices, registry=None, name=None, kwargs=None):
    """(names, samples, question) about the numbers and arrays in several `choices` of arguments with the same
    structure. What does not vary is taken from the first choice, except for arrays. Raises `NoRuleFound`.
    """
    parameters, _ = positional_parameters(f, len(choices[0]), kwargs or ())
    parameters = parameters[: len(choices[0])]
    nodes, names, values = read_parts(choices[0], parameters)
    known = [values]
    for args in choices[1:]:
        others, _, further = read_parts(args, parameters)
        if others == nodes:
            known.append(further)
    samples = [tuple(map(sample_of, one)) for one in known]
    first = samples[0]
    samples = [tuple(a if _is_held_by_all(a) else b for a, b in zip(first, one)) for one in samples]
    kinds = tuple(kind_of(sample_of(x)) for x in choices[0])  # for the registry a structure is one argument
    inner = find_rule(f, rule, parameters, Plan((kinds,)), registry, name, kwargs)
    stated = {field.name: getattr(inner, field.name) for field in dataclasses.fields(Question)}
    stated |= {"names": tuple(names), "leading": None, "inner": inner, "nodes": tuple(nodes)}
    question = StructuredQuestion(**stated)
    opens = _is_opened(_value_at(question, samples[0]))
    return tuple(names), samples, dataclasses.replace(question, opens_value=opens)


def _is_held_by_all(sample):
    """Whether a part does not vary, nor depend on the lengths of those that do, as an array of flags may."""
    return isinstance(sample, Static) and not isinstance(sample.value, np.ndarray)


def _value_at(question, sample):
    """The function's own value at a sample; None if it has none."""
    with without_warnings_or_output(), contextlib.suppress(Exception):
        args = question.arguments(map(plain_argument, sample))
        return question.primal(*args, **question.kwargs)
    return None
