"""Parse the values of a magic's options: domains, sizes, seconds, partial derivatives and generators."""

from __future__ import annotations

import argparse
import ast
import keyword
import math
import re
from collections.abc import Callable
from typing import Any

from ..checking.reading.kinds import DomainError, kind_named
from .cells import MagicError, evaluate, parse

LONGEST = 3600
"""The largest time limit, in seconds."""


def parse_partials(magic: str, line: str) -> tuple[str, str, ast.expr]:
    """The name, the text and the tree of the lambda in `f(x, y): y*out, x*out`; nothing is run.

    >>> name, text, tree = parse_partials("%scalar_rule", "np.sinc(x): x*out")
    >>> name, text, type(tree).__name__
    ('np.sinc', 'lambda out, x: (x*out)', 'Lambda')
    """
    found = re.fullmatch(r"\s*([^\W\d][\w.]*)\s*\(([\w\s,*]*)\)\s*:(?!=)(.*)", line, re.S)
    if found is None or not found[3].strip():
        raise MagicError(f"{magic}: give the partial derivatives, as in {magic} f(x, y): y*out, x*out")
    name, parameters, body = found[1], found[2].strip().rstrip(","), found[3].strip()
    words = [word.strip() for word in parameters.split(",")] if parameters else []
    bare = [word.removeprefix("*") for word in words]
    if not bare or not all(word.isidentifier() and not keyword.iskeyword(word) for word in bare):
        raise MagicError(
            f"{magic}: the arguments must be plain names, as in {magic} f(x, y), not `({parameters})`"
        )
    if any(bare.count(word) > 1 for word in bare) or "out" in bare or any("*" in word for word in words[:-1]):
        raise MagicError(f"{magic}: each argument needs a name of its own, and `out` is the value of {name}")
    wanted = parse(magic, body, "the partial derivatives")
    text = f"lambda out, {', '.join(words)}: ({body})"
    tree = parse(magic, text, "the partial derivatives", shown=body)
    if not isinstance(tree, ast.Lambda) or ast.dump(tree.body) != ast.dump(wanted):
        raise MagicError(f"{magic}: the partial derivatives must be one expression, not `{body}`")
    return name, text, tree


def parse_domain(text: str) -> Any:
    """The value of `--domain`: words, an interval, or either for each parameter; in quotes if it has spaces.

    >>> parse_domain('"positive vector"'), parse_domain("(0,1)"), parse_domain("'x: positive, A: square'")
    ('positive vector', (0, 1), {'x': 'positive', 'A': 'square'})
    """
    bare = text.strip().strip("'\"").strip()
    named = re.findall(r"(\w+)\s*:\s*(.+?)\s*(?=,\s*\w+\s*:|$)", bare)
    try:
        if named:
            return {name: _domain_of_one(words) for name, words in named}
        return _domain_of_one(bare)
    except DomainError as error:
        said = (error.found,) if error.found.endswith("?") else (error.found, *error.fixes)
        raise argparse.ArgumentTypeError("; ".join(said)) from None


def _domain_of_one(words: str) -> Any:
    try:
        found = ast.literal_eval(words) if words.startswith("(") else words
        kind_named(found)
    except (TypeError, ValueError, SyntaxError):
        raise DomainError(f"a domain must be (low, high), not {words}") from None
    return found


def parse_sizes(text: str) -> list:
    """The value of `--sizes`: lengths and shapes separated by commas, each for all arrays, or with one word
    for each argument; in quotes if it has spaces.

    >>> parse_sizes("3,5"), parse_sizes('"2x3 3, 4x2 number"')
    ([(3,), (5,)], [((2, 3), (3,)), ((4, 2), ())])
    """
    listed = [[_shape_of(word) for word in one.split()] for one in text.strip("'\" ").split(",")]
    if not all(listed):
        raise argparse.ArgumentTypeError(f'needs sizes such as 3,5 or "2x3, 4x2", not {text}')
    return [shapes[0] if len(shapes) == 1 else tuple(shapes) for shapes in listed]


def _shape_of(word: str) -> tuple[int, ...]:
    if word == "number":
        return ()
    if not re.fullmatch(r"[0-9]{1,6}(x[0-9]{1,6})*", word):
        raise argparse.ArgumentTypeError(f"a size must be a length such as 3, 2x5 or `number`, not {word}")
    return tuple(map(int, word.split("x")))


def parse_seconds(text: str) -> float:
    """The value of `--seconds` as a time limit: a number above 0.

    >>> parse_seconds("0.5")
    0.5
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if seconds > LONGEST:
        raise argparse.ArgumentTypeError(f"must be at most {LONGEST:,} seconds, not {text}")
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text}")
    return seconds


def parse_generator(text: str) -> ast.Lambda:
    """The argument list of a generator, in `n` and `rng`, as a function of the two; nothing is run.

    >>> ast.unparse(parse_generator("rng.random(n), k=2.0"))
    "lambda n, rng: ((rng.random(n),), {'k': 2.0})"
    """
    what = "The arguments of size n"
    call = parse(what, f"at({text})", "the list", shown=text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "at":
        raise MagicError(f"{what} must be one argument list, not `{text}`")
    names: list[ast.expr | None] = [None if k.arg is None else ast.Constant(k.arg) for k in call.keywords]
    kwargs = ast.Dict(names, [keyword.value for keyword in call.keywords])
    parameters = ast.arguments([], [ast.arg("n"), ast.arg("rng")], None, [], [], None, [])
    made = ast.Lambda(parameters, ast.Tuple([ast.Tuple(call.args, ast.Load()), kwargs], ast.Load()))
    return ast.fix_missing_locations(ast.copy_location(made, call))


def generator(shell, text: str) -> Callable[[int, Any], tuple[tuple, dict]]:
    """The function of `n` and `rng` that a generator's text stands for: it returns positional and keyword
    arguments.

    Its names are looked up in the user's namespace when it is called.
    """
    return evaluate(shell, f"at({text})", {}, parse_generator(text))
