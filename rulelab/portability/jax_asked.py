"""The process in which an export to JAX is run: plainly, under `jit` and under `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ..checking.measuring.vectors import cotangent_vec, to_vec
from .answers import in_single
from .framework_answers import Called, function_of, seed_like
from .judges import _conjugate, _each_number, _from_jax, _in_double
from .running import Asked, all_answered, needed, serve

NEEDS = ("jax", "JAX")


def ask(
    module: ModuleType, asked: Asked, points: Sequence[tuple[tuple, dict]], options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The answers of the rule there, in both precisions."""
    jax = needed(*NEEDS)
    f = function_of(module, asked, options)
    ways = {"plain": _plain, "jit": _jit, "vmap": _vmap}
    for dtype, double, changed in (("float64", True, lambda x: x), ("float32", False, in_single)):
        for way, in_way in ways.items():
            calls = [partial(_answer, jax, f, p, asked.mode, changed, in_way, double) for p in points]
            told = all_answered(calls, dtype)
            why = next((one["error"] for one in told if "error" in one), "") if way == "vmap" else ""
            yield {
                "way": way,
                "dtype": dtype,
                "points": [] if why else told,
                **({"why": f"not under vmap: {why}"} if why else {}),
            }


def _answer(
    jax: Any, f: Callable, point: tuple, mode: str, changed: Callable, in_way: Callable, double: bool
) -> tuple:
    with _in_double(jax) if double else _as_it_is():
        call = Called.of(f, *map(changed, point))
        xs = [_array(jax, x) for x in call.inputs]
        if mode == "frule":
            dots = [_array(jax, x) for x in call.tangents()]
            y, y_dot = in_way(
                jax, lambda *both: jax.jvp(call, both[: len(xs)], both[len(xs) :]), [*xs, *dots]
            )
            y = _from_jax(y)
            return to_vec(y)[0].tolist(), cotangent_vec(y, _from_jax(y_dot)).tolist()
        shape = jax.eval_shape(call, *xs)
        zeros = jax.tree_util.tree_map(lambda s: np.zeros(s.shape, s.dtype)[()], shape)
        seed = _each_number(lambda s: _conjugate(jax.numpy.asarray(s)), seed_like(zeros))

        def both(*given: Any) -> tuple:
            *inputs, y_bar = given
            y, back = jax.vjp(call, *inputs)
            return y, back(y_bar)

        y, found = in_way(jax, both, [*xs, seed])
        return call.numbers(
            _from_jax(y), [_each_number(lambda x: _conjugate(np.array(x)), x_bar) for x_bar in found]
        )


def _plain(jax: Any, g: Callable, xs: list) -> Any:
    return g(*xs)


def _jit(jax: Any, g: Callable, xs: list) -> Any:
    return jax.jit(g)(*xs)


def _vmap(jax: Any, g: Callable, xs: list) -> Any:
    """The last of three calls in one batch; the others have half the inputs."""
    each = jax.tree_util.tree_map
    found = jax.jit(jax.vmap(g))(*each(lambda x: jax.numpy.stack([x / 2, x / 2, x]), xs))
    return each(lambda y: y[2], found)


def _array(jax: Any, x: Any) -> Any:
    return _each_number(lambda part: jax.numpy.asarray(part), x)


class _as_it_is:
    """Context that changes nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: Any) -> None:
        return None


def main() -> None:
    """Answer the request of `run_export`."""
    serve(ask, NEEDS)
