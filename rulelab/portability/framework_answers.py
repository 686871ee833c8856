"""The common base of the processes that run exports to frameworks: which arguments are moved, and the
numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from ..checking.measuring.vectors import cotangent_vec, to_vec
from .answers import weights
from .running import Asked


@dataclass(frozen=True)
class Called:
    """A function of an export and the arguments of one call, including defaults; `moved` are the positions of
    those that contain floating-point numbers.
    """

    f: Callable
    args: tuple
    kwargs: dict[str, Any]
    moved: tuple[int, ...]

    @classmethod
    def of(cls, f: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Called:
        """The call, with defaults for the arguments that are not given."""
        bound = inspect.signature(getattr(f, "fun", f)).bind(*args, **kwargs)
        bound.apply_defaults()
        moved = tuple(i for i, x in enumerate(bound.args) if to_vec(x)[0].size)
        return cls(f, bound.args, bound.kwargs, moved)

    @property
    def inputs(self) -> list[Any]:
        """The arguments that are moved."""
        return [self.args[i] for i in self.moved]

    def __call__(self, *inputs: Any) -> Any:
        """The value with `inputs` in place of the moved arguments."""
        whole = list(self.args)
        for i, x in zip(self.moved, inputs):
            whole[i] = x
        return self.f(*whole, **self.kwargs)

    def tangents(self) -> list[Any]:
        """The tangents of the moved arguments, with the structure of these."""
        vector, back = to_vec(tuple(self.inputs))
        return list(back(weights(vector.size)))

    def numbers(self, value: Any, given: Sequence[Any]) -> tuple[Sequence[float], Sequence[float]]:
        """The numbers of a value and of the cotangents of the moved arguments."""
        parts = [cotangent_vec(x, x_bar) for x, x_bar in zip(self.inputs, given)]
        return to_vec(value)[0].tolist(), np.concatenate([np.empty(0), *parts]).tolist()


def seed_like(value: Any) -> Any:
    """The cotangent with which rules are called, with the structure of a value."""
    vector, back = to_vec(value)
    return back(weights(vector.size))


def function_of(module: ModuleType, asked: Asked, options: Mapping[str, Any]) -> Callable:
    """The function of an export that was made from the given one."""
    return vars(module)[options.get("names", {}).get(asked.name, asked.name)]
