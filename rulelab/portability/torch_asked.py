"""The process in which an export to PyTorch is run: plainly, by `gradcheck` and under `torch.func.vmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from .answers import in_single
from .framework_answers import Called, function_of, seed_like
from .judges import _from_torch
from .running import Asked, all_answered, answered, needed, serve

NEEDS = ("torch", "PyTorch")


def ask(
    module: ModuleType, asked: Asked, points: Sequence[tuple[tuple, dict]], options: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The answers of the backward function there, in both precisions."""
    torch = needed(*NEEDS)
    f = function_of(module, asked, options)
    for dtype, changed in (("float64", lambda x: x), ("float32", in_single)):
        for way, in_way in (("plain", _plain), ("vmap", _vmap)):
            told = all_answered([partial(_answer, torch, f, p, changed, in_way) for p in points], dtype)
            why = next((one["error"] for one in told if "error" in one), "") if way == "vmap" else ""
            yield {
                "way": way,
                "dtype": dtype,
                "points": [] if why else told,
                **({"why": f"not under vmap: {why}"} if why else {}),
            }
    yield {
        "way": "gradcheck",
        "dtype": "float64",
        "points": [answered(partial(_checked, torch, f, p, asked.symmetric, False)) for p in points],
    }
    told = [answered(partial(_checked, torch, f, p, asked.symmetric, True)) for p in points]
    once = next((one["error"] for one in told if "no second derivative" in one.get("error", "")), "")
    yield {
        "way": "gradgradcheck",
        "dtype": "float64",
        "points": [] if once else told,
        **({"why": "it has no second derivative"} if once else {}),
    }


def _answer(torch: Any, f: Callable, point: tuple, changed: Callable, in_way: Callable) -> tuple:
    call = Called.of(f, *map(changed, point))
    call = Called(
        f,
        tuple(_tensor(torch, x) if isinstance(x, np.ndarray) else x for x in call.args),
        call.kwargs,
        call.moved,
    )
    plain = Called.of(f, *map(changed, point))
    xs = [_tensor(torch, x) for x in plain.inputs]
    y, found = in_way(torch, call, xs)
    return plain.numbers(_from_torch(torch, y), [_from_torch(torch, x_bar) for x_bar in found])


def _tensor(torch: Any, x: Any) -> Any:
    """A number or an array as a tensor of the same precision."""
    return torch.from_numpy(np.array(x))


def _seed(torch: Any, y: Any) -> Any:
    """The cotangent with which rules are called, for each tensor of the value."""
    given = seed_like(_from_torch(torch, y))
    parts = given if isinstance(given, tuple) else (given,)
    ys = y if isinstance(y, tuple) else (y,)
    return [torch.as_tensor(np.array(s), dtype=one.dtype) for s, one in zip(parts, ys)]


def _plain(torch: Any, call: Called, xs: list) -> tuple:
    xs = [x.requires_grad_() for x in xs]
    y = call(*xs)
    outputs = list(y) if isinstance(y, tuple) else [y]
    found = torch.autograd.grad(outputs, xs, _seed(torch, y), allow_unused=True)
    return y, found


def _vmap(torch: Any, call: Called, xs: list) -> tuple:
    """The last of three calls in one batch; the others have half the inputs."""
    y = call(*xs)
    seeds = _seed(torch, y)

    def one(*inputs: Any) -> tuple:
        value, back = torch.func.vjp(call, *inputs)
        return value, back(tuple(seeds) if isinstance(value, tuple) else seeds[0])

    y, found = torch.func.vmap(one)(*[torch.stack([x / 2, x / 2, x]) for x in xs])
    last = tuple(part[2] for part in y) if isinstance(y, tuple) else y[2]
    return last, [x_bar[2] for x_bar in found]


def _checked(torch: Any, f: Callable, point: tuple, symmetric: Sequence[int], twice: bool) -> tuple:
    """The answer once `gradcheck` has passed; arguments meant to be symmetric are moved among symmetric
    matrices.
    """
    plain = Called.of(f, *point)
    xs = [_tensor(torch, x).requires_grad_() for x in plain.inputs]
    args = tuple(_tensor(torch, x) if isinstance(x, np.ndarray) else x for x in plain.args)
    call = Called(f, args, plain.kwargs, plain.moved)
    check = torch.autograd.gradgradcheck if twice else torch.autograd.gradcheck
    size = max([1.0, *np.abs(plain.numbers(_from_torch(torch, call(*xs)), [])[0])])

    def among(*inputs: Any) -> Any:
        return call(*[(x + x.mH) / 2 if i in symmetric else x for i, x in zip(call.moved, inputs)])

    check(among, tuple(xs), atol=1e-5 * size)  # the errors of differences grow with the values
    return _answer(torch, f, point, lambda x: x, _plain)


def main() -> None:
    """Answer the request of `run_export`."""
    serve(ask, NEEDS)
