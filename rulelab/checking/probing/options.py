"""The same point with other options: flags, words and whole numbers that were not given."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..calling.subjects import Subject
from ..measuring.vectors import shape_of
from ..reading.counts import sliced_by
from ..reading.options_read import Option, options_read
from ..reading.relations import stated_minimums
from ..reading.texts import keywords_of
from .perturb import revalued
from .probes import Point

AXES = frozenset(("axis", "axes"))


class Choice(NamedTuple):
    """A parameter that is an option: its position (-1 if it is passed by keyword only), its other values, its
    present one, and whether it `cuts` arrays.
    """

    name: str
    position: int
    others: tuple[Any, ...]
    usual: Any = None
    cuts: bool = False

    def others_at(self, point: Point) -> tuple[Any, ...]:
        """The other values, except counts by which arrays are cut that exceed the longest array: a slice
        would silently take what there is.
        """
        if not self.cuts:
            return self.others
        longest = max((n for x in point.inputs for n in shape_of(x)), default=0)
        return tuple(value for value in self.others if type(value) is not int or value <= longest)

    def with_value(self, point: Point, value: Any) -> Point:
        """The point with this value of the option, which is held fixed if it is a float."""
        if self.position < 0:
            return dataclasses.replace(point, kwargs={**point.kwargs, self.name: value})
        inputs = (*point.inputs[: self.position], value, *point.inputs[self.position + 1 :])
        is_number = isinstance(value, float)
        constant = point.constant | {self.position} if is_number else point.constant
        return dataclasses.replace(point, inputs=inputs, constant=constant)


def options_of(subject: Subject) -> Mapping[str, tuple[Option, ...]]:
    """The values of options that a function or its rule distinguishes."""
    return options_read(*subject.authors)


def choices_of(
    point: Point,
    names: tuple[str, ...],
    positions: Iterable[int],
    f: Callable,
    read: Mapping[str, tuple[Option, ...]],
) -> list[Choice]:
    """The options at some positions, and those of keywords that were not given: flags, words, whole numbers
    and None, but no numbers that vary. `read` has the values that code distinguishes; the least value of a
    whole number is added if the function states it.
    """
    least = {name: (value,) for name, value in stated_minimums(f).items()}
    told = {name: (*read.get(name, ()), *least.get(name, ())) for name in (*read, *least)}
    found = [
        Choice(names[i], i, _others(names[i], point.inputs[i], told.get(names[i], ())), point.inputs[i])
        for i in positions
    ]
    found += [
        Choice(name, -1, _larger(default) or _others(name, default, told.get(name, ())), default)
        for name, default in keywords_of(f).items()
        if name not in point.kwargs
    ]
    cut = sliced_by(f)
    return [choice._replace(cuts=choice.name in cut) for choice in found if choice.others]


def with_other_options(point: Point, choices: list[Choice]) -> Iterator[tuple[Point, ...]]:
    """The point with each other value of each option. Each group has the point and variants with other
    numbers; the first one at which the function has a value is to be judged.
    """
    pairs = [(choice, choice.others_at(point)) for choice in choices]
    for rank in range(max((len(others) for _, others in pairs), default=0)):
        for choice, value in ((one, others[rank]) for one, others in pairs if rank < len(others)):
            yield _alternatives(choice.with_value(point, value), _words(choice, value), choice.usual, value)


def with_two_options(point: Point, choices: list[Choice]) -> Iterator[tuple[Point, ...]]:
    """The point with other values of two options at once, in the same groups."""
    for one, other in itertools.combinations(choices, 2):
        for first, second in itertools.product(one.others_at(point), other.others_at(point)):
            both = other.with_value(one.with_value(point, first), second)
            yield _alternatives(both, f"{_words(one, first)} and {other.name} = {second!r}")


def of_axes(point: Point, names: tuple[str, ...], f: Callable) -> Choice | None:
    """The option `axis` with the axes that the arrays of a point have; None if the function has no such
    option, or a point has no arrays.
    """
    ranks = {x.ndim for x in point.floats if isinstance(x, np.ndarray) and x.ndim}
    if not ranks:
        return None
    if "axis" in keywords_of(f) and "axis" not in point.kwargs:
        position, default = -1, keywords_of(f)["axis"]
    elif "axis" in names:
        position = names.index("axis")
        default = point.inputs[position]
    else:
        return None
    if default is not None and type(default) is not int:
        return None
    return Choice("axis", position, tuple(axis for axis in range(max(ranks)) if axis != default))


def _alternatives(point: Point, words: str, usual: Any = None, value: Any = None) -> tuple[Point, ...]:
    """The point itself; the point with positive numbers, if the function has no value there, as a logarithm
    has none; and, if pieces of three are asked for instead of two, the point with lengths that are multiples
    of both.
    """
    here = point.having(point.inputs, words)
    moved = here.moved(revalued(here.floats, np.abs), words)
    longer = tuple(in_pieces(x, usual, value) for x in here.inputs)
    if all(new is old for new, old in zip(longer, here.inputs)):
        return here, moved
    return here, moved, here.having(longer, words)


def in_pieces(x: Any, usual: Any, value: Any) -> Any:
    """An array in which each axis whose length is a multiple of `usual` has the least common multiple of both
    numbers as its length. Its numbers are repeated, each time a little larger. Anything else is unchanged.

    >>> in_pieces(np.array([1.0, -2.0]), 2, 3)
    array([ 1.        , -2.33333333,  1.33333333, -3.        ,  1.66666667,
           -3.66666667])
    """
    is_whole = type(usual) is int and type(value) is int and usual > 1 and value > 1
    if not is_whole or not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return x
    fitting = [axis for axis, n in enumerate(x.shape) if n and n % usual == 0]
    again = x
    for axis in fitting:
        again = again.take(range(math.lcm(usual, value)), axis=axis, mode="wrap")
    larger = 1 + np.arange(again.size).reshape(again.shape) / again.size
    return (again * larger).astype(x.dtype) if fitting else x


def _words(choice: Choice, value: Any) -> str:
    return f"with {choice.name} = {value!r}"


def _larger(x: Any) -> tuple[Any, ...]:
    """A number that is a quarter larger, for a float that is not varied."""
    return (1.25 * x,) if type(x) is float and x else ()


def _others(name: str, x: Any, read: tuple[Option, ...]) -> tuple[Any, ...]:
    """Other values of an option than its present one: those that code distinguishes, and the next ones of
    flags and whole numbers. None for axes, and for numbers that vary.
    """
    is_option = x is None or isinstance(x, (bool, str, enum.Enum)) or type(x) is int
    if not is_option or name in AXES:
        return ()
    usual: tuple[Any, ...] = ()
    if type(x) is bool:
        return (not x, *(value for value in read if isinstance(value, (str, type(None)))))
    if type(x) is int:
        usual = (x + 1,)
    if x is None:  # it may also be a number, which is drawn elsewhere
        read = tuple(value for value in read if isinstance(value, (str, bool, enum.Enum)))
    same = [value for value in (*read, *usual) if not (type(value) is type(x) and value == x)]
    return tuple(dict.fromkeys(value for value in same if value is not None or isinstance(x, str)))
