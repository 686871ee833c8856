"""The recipes of docs/gallery that call SciPy: functions and arguments of the pages, without their rules.
Run as a program it times each gradient beside its function, as ratios.
"""

from __future__ import annotations

import contextlib
import doctest
import functools
import linecache
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).resolve()
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parents[2]), str(HERE.parent)]

import rulelab as rl  # noqa: E402

GALLERY = HERE.parents[2] / "docs" / "gallery"
# The page, a function in the names that it defines, its arguments, and the step of differences.
ASKED = (
    ("mixture", "surprise", "start", 1e-3),
    ("student-t", "misfit", "start", 1e-3),
    ("student-t", "misfit_of_t", "np.array([0.5, 1.0, -1.0, 1.0]),", 1e-3),
    ("gaussian-process", "lambda logs: surprise(logs, places, seen)", "np.array([-0.5, 0.2, -1.5]),", 1e-3),
    ("filter", "lambda b, a, x: np.sum(off(b, a, x) ** 2)", "p[:3] + 0.1, p[3:] + 0.1, sound", 1e-3),
    (
        "filter",
        "lambda zi: np.sum(signal.lfilter([1.0, 0.5], [1.0, -0.9], sound, zi=zi)[0] ** 2)",
        "np.array([0.3]),",
        1e-3,
    ),
    ("sylvester", "lambda a, b, q: np.sum((linalg.solve_sylvester(a, b, q) - 0.8) ** 2)", "a, b, q", 1e-3),
    ("integral", "mean_above", "0.5, 1.5", 1e-3),
    ("differential-equation", "off_by", "start,", 1e-2),
    (
        "optimiser",
        "lambda penalty: np.sum((basis @ weights(penalty) - np.sin(2.5 * xs)) ** 2)",
        "-1.0,",
        1e-2,
    ),
)


class Recipe(NamedTuple):
    """A function of a page, at some arguments, and the step that differences of it take."""

    title: str
    function: Any
    args: tuple
    step: float

    def __str__(self) -> str:
        return self.title


@functools.cache
def recipes() -> list[Recipe]:
    """All of them, in the order of `ASKED`: to run the pages takes a second."""
    found: list[Recipe] = []
    pages: dict[str, dict[str, Any]] = {}
    for number, (page, function, args, step) in enumerate(ASKED):
        names = pages.setdefault(page, {}) or read_page(page, pages)
        run(f"asked_{number} = {function}\n", f"<{page}: {function}>", names)
        found.append(Recipe(page, names[f"asked_{number}"], eval(f"({args})", names), step))
    return found


def read_page(page: str, pages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What a page defines. Its checks and searches, and what it refuses, are left out."""
    text = (GALLERY / f"{page}.md").read_text(encoding="utf-8")
    for number, example in enumerate(doctest.DocTestParser().get_examples(text)):
        left_out = "rule_check" in example.source or example.source.startswith("best = ")
        if example.exc_msg is None and not left_out:
            run(example.source, f"<{page} {number}>", pages[page])
    return pages[page]


def run(source: str, name: str, names: dict[str, Any]) -> None:
    """An example of the page, whose text can be found as that of a cell can."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    with contextlib.suppress(NameError):  # what a search would have found is shown, and not needed
        exec(compile(source, name, "exec"), names)


# -- as a program --------------------------------------------------------------------------------------------


def ratio(recipe: Recipe, rounds: int = 9) -> tuple[float, float]:
    """Seconds of the plain function, and how many times as long its gradient takes: both in turn."""
    plain, whole = [], []
    for _ in range(rounds):
        start = time.process_time()
        recipe.function(*recipe.args)
        middle = time.process_time()
        rl.gradient(recipe.function, *recipe.args)
        plain.append(middle - start)
        whole.append(time.process_time() - middle)
    return statistics.median(plain[1:]), statistics.median(w / p for w, p in zip(whole[1:], plain[1:]))


def main() -> None:
    warnings.simplefilter("ignore")
    for recipe in recipes():
        seconds, times = ratio(recipe)
        count = sum(np.size(x) for x in recipe.args)
        print(f"| {recipe.title} | {count} | {1e3 * seconds:.2g} ms | {times:.1f} |")


if __name__ == "__main__":
    main()
