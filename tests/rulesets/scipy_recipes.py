"""The recipes of docs/howto/functions-of-scipy.md, as the page has them: each function that it compares with
differences, and the arguments. Run as a program it times each gradient beside its function, as ratios.
"""

from __future__ import annotations

import contextlib
import doctest
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

PAGE = HERE.parents[2] / "docs" / "howto" / "functions-of-scipy.md"


class Recipe(NamedTuple):
    """A function of a section of the page, at the arguments and with the step of its comparison."""

    title: str
    function: Any
    args: tuple
    step: float

    def __str__(self) -> str:
        return self.title


def recipes() -> list[Recipe]:
    """All of them, in order. The page's definitions are run, its searches and what it refuses are not."""
    found: list[Recipe] = []
    names: dict[str, Any] = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## "):
        title = section.partition("\n")[0]

        def agrees(f, *args, step=1e-3, title=title):
            found.append(Recipe(title, f, args, step))
            return True

        for number, example in enumerate(doctest.DocTestParser().get_examples(section)):
            if example.exc_msg is None and not example.source.startswith(("for ", "best = ")):
                run(example.source, f"<{title} {number}>", names)
            names["agrees"] = agrees  # in place of the page's own
    return found


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
