"""How many times as long the derived gradient takes as that with the rule, for each recipe of docs/gallery.

Run as a program it prints the table that each page ends with, of the recipes that are named, or of all:
each pair of gradients is timed in turns. What a page says was measured once, on one machine.
"""

from __future__ import annotations

import doctest
import linecache
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(REPOSITORY))

from rulelab.bench import gradient_duel  # noqa: E402

GALLERY = REPOSITORY / "docs" / "gallery"
RANDOM = np.random.default_rng(0)


class Timed(NamedTuple):
    """What is timed of a page: a loss, in which `{f}` is the function or its twin, and arguments by size."""

    function: str
    loss: str
    sizes: dict[str, tuple]


def normal(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape)


def positive_definite(n: int) -> np.ndarray:
    half = normal(n, n)
    return half @ half.T + n * np.eye(n)


GRIDS = {n: (np.linspace(0, n / 3, n), normal(n)) for n in (9, 200)}
SERIES = {n: [float(y) for y in normal(n)] for n in (30, 300)}
TIMED = {
    "softmax": Timed(
        "softmax",
        "lambda x: -np.log({f}(x)[2])",
        {f"{n:,} scores": (normal(n),) for n in (10, 1000, 100_000)}
    ),
    "log-sum-exp": Timed(
        "logsumexp", "lambda x: {f}(x)", {f"{n:,} numbers": (normal(n),) for n in (10, 1000, 100_000)}
    ),
    "cross-entropy": Timed(
        "cross_entropy",
        "lambda z, labels: {f}(z, labels)",
        {f"{n:,} rows, 10 classes": (normal(n, 10), RANDOM.integers(0, 10, n)) for n in (10, 10_000)},
    ),
    "attention": Timed(
        "attention",
        "lambda q, k, v: np.sum({f}(q, k, v))",
        {f"sequence of {n}, width 32": (normal(n, 32), normal(n, 32), normal(n, 32)) for n in (16, 512)},
    ),
    "layer-norm": Timed(
        "layer_norm",
        "lambda x, g, b: np.sum({f}(x, g, b) ** 2)",
        {f"{n:,} rows of 64": (normal(n, 64), normal(64), normal(64)) for n in (8, 1000)},
    ),
    "cox": Timed(
        "cox",
        "lambda beta, x, died: {f}(beta, x, died)",
        {f"{n:,} rows": (normal(5), normal(n, 5), RANDOM.random(n) < 0.7) for n in (10, 100, 1000)},
    ),
    "kalman": Timed(
        "kalman",
        "lambda a, b, n: {f}(a, b, series[n])",
        {f"{n:,} observations": (-1.0, 0.2, n) for n in SERIES},
    ),
    "pendulum": Timed("swing", "lambda a, b, c: {f}(a, b, c)", {"40 steps": (0.7, 0.2, 9.0)}),
    "quaternion": Timed(
        "rotate",
        "lambda q, x: np.sum({f}(q, x) ** 2)",
        {f"{n:,} points": (normal(4), normal(n, 3)) for n in (5, 10_000)}
    ),
    "interpolation": Timed(
        "interpolate",
        "lambda image, r, c: np.sum({f}(image, r, c) ** 2)",
        {
            f"{n:,} places in an image of 256 by 256": (
                normal(256, 256), RANDOM.uniform(0, 255, n), RANDOM.uniform(0, 255, n),
            )
            for n in (100, 100_000)
        },
    ),
    "polynomial": Timed(
        "horner",
        "lambda c, x: np.sum({f}(c, x))",
        {
            f"degree {d}, {n:,} points": (normal(d + 1), RANDOM.uniform(-1, 1, n))
            for d, n in ((3, 10), (20, 1000))
        },
    ),
    "cholesky": Timed(
        "logdet", "lambda s: {f}(s)", {f"{n:,} by {n}": (positive_definite(n),) for n in (4, 300)}
    ),
    "camera": Timed(
        "project",
        "lambda camera, x: np.sum({f}(camera, x))",
        {f"{n:,} points": ("camera", normal(n, 3) + np.array([0, 0, 9.0])) for n in (10, 10_000)},
    ),
    "mixture": Timed("surprise", "lambda w, m, s: {f}(w, m, s)", {"6 points, 2 components": "start"}),
    "student-t": Timed("misfit", "lambda line, s, df: {f}(line, s, df)", {"12 points": "start"}),
    "gaussian-process": Timed(
        "surprise",
        "lambda logs, n: {f}(logs, *grids[n])",
        {f"{n:,} points": (np.array([-0.5, 0.2, -1.5]), n) for n in GRIDS},
    ),
    "filter": Timed(
        "smooth",
        "lambda a, x: np.sum({f}(a, x) ** 2)",
        {f"{n:,} numbers": (0.8, normal(n)) for n in (20, 1000)}
    ),
    "sylvester": Timed(
        "sylvester",
        "lambda a, b, q: np.sum({f}(a, b, q))",
        {f"{n:,} by {n}": (positive_definite(n), positive_definite(n), normal(n, n)) for n in (3, 15)},
    ),
    "integral": Timed("mean_above", "lambda a, b: {f}(a, b)", {"two integrals": (0.5, 1.5)}),
    "differential-equation": Timed(
        "off_by", "lambda p: {f}(p)", {"4 time points": (np.array([0.3, 0.3, 1.1, 0.6]),)}
    ),
    "optimiser": Timed("weights", "lambda p: np.sum({f}(p) ** 2)", {"2 weights": (-1.0,)}),
}  # fmt: skip


def read_page(name: str) -> dict[str, Any]:
    """The names that a page defines; its checks, which take longest, are left out."""
    names: dict[str, Any] = {"series": SERIES, "grids": GRIDS}
    examples = doctest.DocTestParser().get_examples((GALLERY / f"{name}.md").read_text(encoding="utf-8"))
    for number, example in enumerate(examples):
        if example.exc_msg is None and "rule_check" not in example.source:
            run(example.source, f"<{name} {number}>", names)
    return names


def run(source: str, name: str, names: dict[str, Any]) -> None:
    """An example, whose text can be found as that of a cell can."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    exec(compile(source, name, "exec"), names)


def ratios(name: str) -> dict[str, float]:
    """How many times as long the derived gradient takes, by size."""
    timed, names = TIMED[name], read_page(name)
    losses = []
    for function in (timed.function, f"{timed.function}_cr"):
        run(f"loss_of_{function} = {timed.loss.format(f=function)}\n", f"<loss of {function}>", names)
        losses.append(names[f"loss_of_{function}"])
    found = {}
    for size, args in timed.sizes.items():
        stored = names[args] if isinstance(args, str) else args
        given = [names[x] if isinstance(x, str) else x for x in stored]
        found[size] = gradient_duel(*losses, *given, rounds=20).ratio
    return found


def main(asked: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in asked or TIMED:
        print(f"{name}\n\n| size | derived gradient ÷ gradient with the rule |\n| --- | --- |")
        for size, ratio in ratios(name).items():
            print(f"| {size} | {ratio:.2g} |", flush=True)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
