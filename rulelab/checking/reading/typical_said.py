"""The numbers that a docstring gives as examples: "gamma is the ratio of specific heats, e.g. 1.4 for
air".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .docstrings import docstring_text
from .texts import text_of

_NUMBER = r"(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
_EXAMPLE = re.compile(
    r"\b(?:say|typically|usually|normally|often|for example|for instance|such as)"
    rf"(?: (?:about|around|near|between|from))? {_NUMBER}(?:(?: [a-z]+){{0,3}}(?: or| to| and|-) {_NUMBER})?"
)
_CLAUSES = re.compile(r"[;\n]|\.(?=\s|$)")
_NAMED = re.compile(r"\s*(?:the )?(\w+) ?(?::|,| is\b| are\b)")
AROUND = 0.1
"""By which fraction numbers may differ from an example."""


def typical_said(f: Callable) -> Mapping[str, tuple[float, float]]:
    """The intervals around the positive numbers that the docstring of a function gives as examples.

    >>> def speed(gamma, r):
    ...     "gamma is the ratio of specific heats, e.g. 1.4 for air or 1.25 for exhaust gas."
    >>> {name: [round(end, 3) for end in ends] for name, ends in typical_said(speed).items()}
    {'gamma': [1.125, 1.54]}
    """
    _, names = text_of(f)
    found = {}
    for clause in _CLAUSES.split(docstring_text(f).replace("e.g.", "say")):
        named, example = _NAMED.match(clause), _EXAMPLE.search(clause)
        if named and example and named[1] in names and named[1] not in found:
            numbers = [float(number) for number in example.groups() if number]
            found[named[1]] = min(numbers) * (1 - AROUND), max(numbers) * (1 + AROUND)
    return {name: ends for name, ends in found.items() if ends[0] > 0}
