"""Tests of what tells a class of Python code from one of C."""

import array
import collections
import csv
import dataclasses
import enum
import functools
import random
import re
import types
import typing

import numpy as np
import pytest

from rulelab.tangents.classes import made_by_python


class Plain:
    pass


class Slotted:
    __slots__ = ("x",)


class Meta(type):
    pass


@dataclasses.dataclass(frozen=True)
class Data:
    x: float


class Named(typing.NamedTuple):
    x: float


class Kind(enum.Enum):
    ONE = 1


WRITTEN = [
    Plain, Slotted, Meta, Meta("Made", (), {}), type("Made", (), {}), type("Numbers", (list,), {}), Data,
    Named, Kind, collections.namedtuple("Pair", "a b"), type("Flat", (np.ndarray,), {}),
    types.new_class("New"), random.Random,
    type("Held", (functools.partial,), {}), type("Raised", (ValueError,), {}),
]  # fmt: skip
OF_C = [
    int, float, list, dict, type, object, np.ndarray, np.float64, np.ufunc, np.dtype, types.FunctionType,
    types.MethodType, re.Pattern, re.Match, array.array, functools.partial, type(csv.reader([])), range,
    collections.deque, collections.defaultdict, types.SimpleNamespace, ValueError,
]  # fmt: skip


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_class_that_python_code_made(kind):
    """By a statement or by a call, with whatever metaclass and base, as long as Python code did it."""
    assert made_by_python(kind)


@pytest.mark.parametrize("kind", OF_C)
def test_a_class_of_c(kind):
    """Also where it is on the heap, as from Python 3.12 on many of the standard library are."""
    assert not made_by_python(kind)
