"""The process in which an exported module is run: it calls the rules that the module states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from .answers import answer_at, in_single
from .running import Asked, all_answered, named, serve


def ask(
    module: ModuleType, asked: Asked, points: Sequence[tuple[tuple, dict]], options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The answers of the rule of a function, in both precisions."""
    f = named(module, asked.name)

    def at(point: tuple[tuple, dict], changed: Callable[[Any], Any]) -> tuple:
        found = answer_at(f, changed(point[0]), changed(point[1]), mode=asked.mode)
        return found.value, found.derivative

    for dtype, changed in (("float64", lambda x: x), ("float32", in_single)):
        told = all_answered([partial(at, point, changed) for point in points], dtype)
        yield {"way": "plain", "dtype": dtype, "points": told}


def main() -> None:
    """Answer the request of `run_export`."""
    serve(ask)
