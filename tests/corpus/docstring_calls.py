"""The calls in the docstrings of installed packages: is every derivative right that can be asked of them?

    make docstrings [ARGS="PACKAGE ... [--jobs N] [--list KIND]"]

A docstring shows how its author expects a function to be called, and whoever differentiates a program meets
just such calls. Each call of a package's own function or class is taken with its arguments as they stand
there; the real numbers among these, in arrays, lists and tuples too, are what it is differentiated by, given
by position or by keyword; what it gives is made one number by fixed weights. The gradient is compared with
differences of the call.
"""

import argparse
import ast
import contextlib
import copy
import doctest
import importlib
import io
import linecache
import math
import multiprocessing
import os
import pkgutil
import re
import signal
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import derivative  # noqa: E402
from corpus.programs import headline  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402

PACKAGES = ("fluids", "ht", "chemicals", "transforms3d")
SECONDS = 60  # for one call with its derivatives
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Verdict:
    """What became of one call: `kind` is "right", "wrong", "refused" or why there is nothing to judge."""

    where: str
    call: str
    kind: str
    words: str = ""


NOTHING = "nothing to differentiate"
BORDER = "at a border of its cases"
NO_WITNESS = "differences tell nothing"


# --- the calls of a docstring -------------------------------------------------------------------------------


def modules_of(package):
    """The modules of a package that can be imported."""
    top = importlib.import_module(package)
    yield top
    for found in pkgutil.walk_packages(top.__path__, f"{package}."):
        if re.search(r"\.(tests?|numba|vectorized|__main__|conftest)\b", found.name):
            continue
        with contextlib.suppress(Exception):  # a module whose own requirements are not here
            yield importlib.import_module(found.name)


def tests_of(package):
    """The docstrings with examples, each once."""
    seen = set()
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in modules_of(package):
        for test in finder.find(module, globs=dict(vars(module))):
            key = (test.filename, test.lineno, test.docstring)
            if test.examples and key not in seen:
                seen.add(key)
                yield test


def own_call(node, names, package):
    """The outermost call in an expression of something that the package has made, as (node, function)."""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Call):
            continue
        with contextlib.suppress(Exception):
            function = eval(compile(ast.Expression(inner.func), "<docstring>", "eval"), names)
            if str(getattr(function, "__module__", None)).partition(".")[0] == package:
                return inner, function
    return None


def values_of(call, names):
    """(args, kwargs) of a call, evaluated."""

    def take(*args, **kwargs):
        return args, kwargs

    taken = ast.Call(ast.Name("take ", ast.Load()), call.args, call.keywords)
    code = compile(ast.fix_missing_locations(ast.Expression(taken)), "<docstring>", "eval")
    return eval(code, {**names, "take ": take})


# --- a call as a function of its real arguments -------------------------------------------------------------


def is_real(x):
    """Whether an argument is made of real numbers, whole ones included."""
    if isinstance(x, (bool, np.bool_)):
        return False
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(map(is_real, x))
    if isinstance(x, np.ndarray):
        return type(x) is np.ndarray and x.size > 0 and x.dtype.kind in "fiu"
    return isinstance(x, (int, float, np.integer, np.floating)) and math.isfinite(x)


def floats(x):
    """The same with floats for whole numbers."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(floats, x))
    return np.asarray(x, dtype=float) if isinstance(x, np.ndarray) else float(x)


def weighed(value):
    """One number made of what a call gives; None where it has no real number."""
    if isinstance(value, (list, tuple)):
        total, weight = None, 1.0
        for part in value:
            number, weight = weighed(part), weight * 0.7
            if number is not None:
                total = weight * number if total is None else total + weight * number
        return total
    if isinstance(value, dict):
        return weighed(list(value.values()))
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or value.size == 0:
            return None
        return np.sum(value * np.cos(np.arange(value.size)).reshape(value.shape))
    if isinstance(value, (float, np.floating)):
        return value
    return None


def as_function(function, args, kwargs, chosen):
    """`function` of the chosen arguments (positions and names), the others as they are, as one number."""
    names = {"function": function, "weighed": weighed}
    texts, parameters = [], []
    for key, value in [*enumerate(args), *kwargs.items()]:
        name = f"{'x' if key in chosen else 'c'}{len(texts)}"
        if key in chosen:
            parameters.append(name)
        else:
            names[name] = value
        texts.append(name if isinstance(key, int) else f"{key}={name}")
    text = f"def call({', '.join(parameters)}):\n    return weighed(function({', '.join(texts)}))\n"
    file = f"<call of {getattr(function, '__name__', 'it')} {id(names)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
    return names["call"]


def moved(x, t, direction):
    """`x` with each number moved by t times its own size along a direction, a nest like x."""
    if isinstance(x, (list, tuple)):
        return type(x)(moved(part, t, d) for part, d in zip(x, direction))
    size = np.where(x == 0.0, 1.0, np.abs(x))
    found = x + t * direction * size
    return found if isinstance(x, np.ndarray) else float(found)


def drawn(x, rng):
    """A direction for `x`."""
    if isinstance(x, (list, tuple)):
        return [drawn(part, rng) for part in x]
    return rng.uniform(0.5, 1.0, np.shape(x)) * rng.choice([-1.0, 1.0], np.shape(x))


def paired(x_bar, x, direction):
    """The slope along a direction that a gradient says."""
    if x_bar is None:
        return 0.0
    if isinstance(x, (list, tuple)):
        return sum(paired(b, part, d) for b, part, d in zip(x_bar, x, direction))
    return float(np.sum(x_bar * direction * np.where(x == 0.0, 1.0, np.abs(x))))


def slope_by_differences(call, xs, position, direction):
    """The slope along a direction of one argument, or None where differences do not settle: two first steps,
    each with its own table, have to agree, for the noise of a function may look like a slope in one of them.
    """

    def at(t):
        given = [copy.deepcopy(x) for x in xs]
        given[position] = moved(given[position], t, direction)
        return float(call(*given))

    before = None
    for h in (1e-2, 1e-3, 1e-4, 1e-5):
        with contextlib.suppress(Exception):
            found, error = derivative(at, 0.0, h)
            scale = max(abs(found), 1e-3 * abs(at(0.0)), 1e-300)
            if not (math.isfinite(found) and error <= 0.1 * TOLERANCE * scale):
                continue
            if before is not None and abs(found - before) <= 0.5 * TOLERANCE * scale:
                return found
            before = found
    return None


def judged(function, args, kwargs):
    """(kind, words) of one call."""
    chosen = {k for k, x in [*enumerate(args), *kwargs.items()] if is_real(x)}
    if not chosen:
        return NOTHING, "no real argument"
    kept = set(chosen)
    for key in chosen:  # a whole number may be meant as one: an index, a size, an order
        value = args[key] if isinstance(key, int) else kwargs[key]
        if not _takes(function, args, kwargs, key, floats(value)):
            kept.discard(key)
    pairs = [(key, floats(x)) for key, x in [*enumerate(args), *kwargs.items()] if key in kept]
    if not pairs:
        return NOTHING, "whole numbers only"
    xs = [x for _, x in pairs]
    call = as_function(function, args, kwargs, kept)
    try:
        value = call(*copy.deepcopy(xs))
    except Exception as error:
        return NOTHING, f"the call fails: {type(error).__name__}"
    if value is None or not math.isfinite(value):
        return NOTHING, "no real number comes out"
    try:
        found = rl.gradient(call, *copy.deepcopy(xs))
    except RuleLabError as refusal:
        return "refused", f"{type(refusal).__name__}: {headline(refusal)}"
    compared, wrong = compare(call, xs, found, value)
    if wrong is not None:
        words = f"by argument {pairs[wrong[0]][0]}: {wrong[1]!r}, differences {wrong[2]!r}"
        return (BORDER if is_border(call, xs) else "wrong"), words
    return ("right", f"{compared} of {len(xs)} arguments") if compared else (NO_WITNESS, "")


def compare(call, xs, gradient, value):
    """(how many arguments could be compared, the first that differs as (position, slope, by differences))."""
    rng, compared = np.random.default_rng(1), 0
    for position, x in enumerate(xs):
        direction = drawn(x, rng)
        wanted = slope_by_differences(call, xs, position, direction)
        if wanted is None:
            continue
        compared += 1
        got = paired(gradient[position], x, direction)
        scale = max(abs(wanted), 1e-3 * abs(value), 1e-300)
        if not abs(got - wanted) <= TOLERANCE * scale:
            return compared, (position, got, wanted)
    return compared, None


def is_border(call, xs):
    """Whether all is right at points nearby, on all sides: the point lies where the function passes from one
    of its cases to another (`if x == 0`, a knot of a table), and its derivative is that of one of them.
    """
    rng, seen = np.random.default_rng(2), 0
    movable = [may_move(call, xs, position) for position in range(len(xs))]
    for _ in range(8):
        near = [moved(x, 1e-3, drawn(x, rng)) if free else x for x, free in zip(xs, movable)]
        try:
            value = call(*copy.deepcopy(near))
            compared, wrong = compare(call, near, rl.gradient(call, *copy.deepcopy(near)), value)
        except Exception:  # outside of what the call takes
            continue
        if wrong is not None:
            return False
        seen += compared > 0
    return seen >= 4


def may_move(call, xs, position):
    """Whether an argument may be another number at all: not a count of passes, of which there are few."""
    for t in (1e-3, -1e-3):
        given = copy.deepcopy(xs)
        given[position] = moved(given[position], t, drawn(given[position], np.random.default_rng(3)))
        try:
            call(*given)
        except Exception:
            return False
    return True


def _takes(function, args, kwargs, key, value):
    """Whether the call takes a float in the place of a whole number, and gives the same."""
    args, kwargs = list(copy.deepcopy(args)), copy.deepcopy(kwargs)
    if isinstance(key, int):
        args[key] = value
    else:
        kwargs[key] = value
    try:
        function(*args, **kwargs)
    except Exception:
        return False
    return True


# --- all calls of a package ---------------------------------------------------------------------------------


class TooLong(Exception):
    """A call takes more time than there is for it."""


@contextlib.contextmanager
def at_most(seconds):
    def stop(number, frame):
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def verdicts_of(package, test):
    """What became of each call of one docstring, run in order as doctest runs it."""
    names, found = dict(test.globs), []
    for example in test.examples:
        quiet = contextlib.redirect_stdout(io.StringIO())
        try:
            tree = ast.parse(example.source)
        except SyntaxError:
            continue
        file = f"<docstring of {test.name}, line {example.lineno}>"
        linecache.cache[file] = (len(example.source), None, example.source.splitlines(True), file)
        for statement in tree.body:
            if not isinstance(statement, (ast.Expr, ast.Assign, ast.Assert)):
                continue
            with warnings.catch_warnings(), quiet:
                warnings.simplefilter("ignore")
                met = own_call(statement, names, package)
                if met is not None:
                    found.append(verdict_on(test, *met, names))
        with warnings.catch_warnings(), quiet, contextlib.suppress(Exception):
            warnings.simplefilter("ignore")
            exec(compile(example.source, file, "exec"), names)
    return found


def verdict_on(test, call, function, names):
    """What became of one call."""
    text = ast.unparse(call)
    try:
        args, kwargs = values_of(call, names)
    except Exception as error:
        return Verdict(test.name, text, NOTHING, f"the call fails: {type(error).__name__}")
    try:
        with at_most(SECONDS):
            return Verdict(test.name, text, *judged(function, args, kwargs))
    except TooLong:
        return Verdict(test.name, text, "too long", f"more than {SECONDS} s")
    except Exception as error:  # what the call itself does not raise is ours
        return Verdict(test.name, text, "wrong", f"{type(error).__name__}: {error}"[:200])


def _part(given):
    package, part, parts = given
    tests = sorted(tests_of(package), key=lambda test: (test.name, test.lineno or 0))
    return [verdict for test in tests[part::parts] for verdict in verdicts_of(package, test)]


def survey(packages, jobs):
    """{package: verdicts}."""
    parts = 4 * jobs
    with tempfile.TemporaryDirectory() as folder:  # where examples may leave their files
        with multiprocessing.get_context("spawn").Pool(jobs, os.chdir, (folder,)) as pool:
            return {
                package: sum(pool.imap(_part, [(package, part, parts) for part in range(parts)]), [])
                for package in packages
            }


def report(package, verdicts, listed):
    """The lines on one package."""
    counts = Counter(verdict.kind for verdict in verdicts)
    judgeable = len(verdicts) - counts[NOTHING]
    done = counts["right"] + counts[NO_WITNESS] + counts[BORDER]
    yield f"{package}: {len(verdicts)} calls, {judgeable} with a derivative; {dict(counts.most_common())}"
    yield f"    differentiated: {done} of {judgeable}, {100 * done / max(judgeable, 1):.1f}%"
    for words, count in Counter(v.words for v in verdicts if v.kind == "refused").most_common():
        yield f"    {count:5} refused  {words}"
    for words, count in Counter(v.words for v in verdicts if v.kind == NOTHING).most_common():
        yield f"    {count:5} {NOTHING}: {words}"
    for verdict in verdicts:
        if verdict.kind in ("wrong", "too long", BORDER, *listed):
            yield f"    {verdict.kind}: {verdict.where}: {verdict.call[:200]}: {verdict.words}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Differentiate the calls in docstrings of packages.")
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=f"default: {' '.join(PACKAGES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: one per core)")
    parser.add_argument(
        "--list", action="append", default=[], metavar="KIND", help="name the calls of a kind"
    )
    options = parser.parse_args(arguments)
    found = survey(options.packages, options.jobs)
    for package, verdicts in found.items():
        print(*report(package, verdicts, options.list), sep="\n")
    everything = [verdict for verdicts in found.values() for verdict in verdicts]
    print(next(report("all", everything, ())))
    return 1 if any(verdict.kind == "wrong" for verdict in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
