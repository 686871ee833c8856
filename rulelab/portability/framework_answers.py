"""What the processes share that run exports to frameworks: which arguments are moved, and the numbers."""

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
    """A function of an export and the arguments of one call, defaults included; `moved` are the positions of
    those that hold floating-point numbers.
    """

    f: Callable
    args: tuple
    kwargs: dict[str, Any]
    moved: tuple[int, ...]

    @classmethod
    def of(cls, f: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Called:
        """That of a call, with the defaults of what is not given."""
        bound = inspect.signature(getattr(f, "fun", f)).bind(*args, **kwargs)
        bound.apply_defaults()
        moved = tuple(i for i, x in enumerate(bound.args) if to_vec(x)[0].size)
        return cls(f, bound.args, bound.kwargs, moved)

    @property
    def inputs(self) -> list[Any]:
        """The arguments that are moved."""
        return [self.args[i] for i in self.moved]

    def __call__(self, *inputs: Any) -> Any:
        """The value with others in the place of those that are moved."""
        whole = list(self.args)
        for i, x in zip(self.moved, inputs):
            whole[i] = x
        return self.f(*whole, **self.kwargs)

    def tangents(self) -> list[Any]:
        """The tangents of the arguments that are moved, of their own structures."""
        vector, back = to_vec(tuple(self.inputs))
        return list(back(weights(vector.size)))

    def numbers(self, value: Any, given: Sequence[Any]) -> tuple[Sequence[float], Sequence[float]]:
        """The numbers of a value and of the cotangents of what is moved."""
        parts = [cotangent_vec(x, x_bar) for x, x_bar in zip(self.inputs, given)]
        return to_vec(value)[0].tolist(), np.concatenate([np.empty(0), *parts]).tolist()


def seed_like(value: Any) -> Any:
    """The cotangent that rules are asked with, of the structure of a value."""
    vector, back = to_vec(value)
    return back(weights(vector.size))


def function_of(module: ModuleType, asked: Asked, options: Mapping[str, Any]) -> Callable:
    """The function of an export that was made of the one asked for."""
    return vars(module)[options.get("names", {}).get(asked.name, asked.name)]
