"""The process in which an export to HIPS autograd is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from ..checking.measuring.vectors import cotangent_vec, to_vec
from .answers import in_single
from .framework_answers import Called, function_of, seed_like
from .judges import _conjugate, _each_number
from .running import Asked, all_answered, needed, serve

NEEDS = ("autograd", "HIPS autograd")


def ask(
    module: ModuleType, asked: Asked, points: Sequence[tuple[tuple, dict]], options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The answers of the vjps or of the jvp there, in both precisions."""
    core = needed("autograd.core", "HIPS autograd")
    f = function_of(module, asked, options)
    for dtype, changed in (("float64", lambda x: x), ("float32", in_single)):
        yield {
            "way": "plain",
            "dtype": dtype,
            "points": all_answered(
                [partial(_answer, core, f, p, asked.mode, changed) for p in points], dtype
            ),
        }


def _answer(core: Any, f: Callable, point: tuple, mode: str, changed: Callable) -> tuple:
    call = Called.of(f, *map(changed, point))
    if mode == "frule":
        inputs, tangents = call.inputs, call.tangents()
        sums = None
        for i, x in enumerate(inputs):
            one = core.make_jvp(_of_one(call, i), x)(tangents[i])
            sums = one[1] if sums is None else _plus(sums, one[1])
            y = one[0]
        return to_vec(y)[0].tolist(), cotangent_vec(y, sums).tolist()
    y = call(*call.inputs)
    seed = _each_number(_conjugate, seed_like(y))
    found = [core.make_vjp(_of_one(call, i), x)[0](seed) for i, x in enumerate(call.inputs)]
    return call.numbers(y, [_each_number(_conjugate, x_bar) for x_bar in found])


def _of_one(call: Called, position: int) -> Callable:
    def of_one(x: Any) -> Any:
        return call(*call.inputs[:position], x, *call.inputs[position + 1 :])

    return of_one


def _plus(one: Any, other: Any) -> Any:
    return tuple(a + b for a, b in zip(one, other)) if isinstance(one, tuple) else one + other


def main() -> None:
    """Answer the request of `run_export`."""
    serve(ask, NEEDS)
