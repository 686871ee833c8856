"""What a docstring calls positive without naming a parameter: "the decay constants are positive"."""

from __future__ import annotations

import re
from collections.abc import Container

from .docstrings import parameter_called

_NO_NUMBERS = (
    "semi|definite|parts?|real parts?|class|integers?|whole|ints?|pairs?|examples?|directions?|feedback"
    "|roots?|odd|or|if|when|where|for|in|by|as"
)
_POSITIVE = re.compile(
    rf"(?<!non-)(?<!non)(?<!zero or )\bpositive\b(?!(?:[- ]|,? and )(?:{_NO_NUMBERS})\b)"
    r"|(?<=[a-z]{4} )>=? ?0(?![\d.]|\w)"
)
"""The word, or a comparison with zero after a word of several letters, which is not a symbol of a formula."""
_OF_A_VALUE = re.compile(
    r"\b(?:returns?|results?|outputs?|answers?|true|false|keeps?|makes?|ints?|integers?|len|lengths?"
    r"|number of)\b"
)
_OF_NOTHING = frozenset("positive and strictly increasing decreasing ascending sorted distinct".split())
"""Adjectives: a clause of only these does not say what it is about."""
_ENDS = ",;.()"


def left_positive(text: str, names: tuple[str, ...], found: Container[str]) -> frozenset[str]:
    """The parameters not in `found` that are intended where the docstring calls something positive: the one
    that the clause names ("the pack a depth >= 0"), or all of them if it names none.

    >>> text = "Atoms of a chain (positive decay constants) at times >= 0."
    >>> sorted(left_positive(text, ("lam_a", "lam_b", "times"), {"times"}))
    ['lam_a', 'lam_b']
    >>> sorted(left_positive("The response of y to positive doses.", ("dose", "slope"), {"dose"}))
    []
    """
    left, meant = frozenset(name for name in names if name not in found), frozenset[str]()
    for one in _POSITIVE.finditer(text) if left else ():
        start = max(text.rfind(end, 0, one.start()) for end in _ENDS) + 1
        before, clause = text[start : one.start()], _clause(text, start, one.end())
        named = {parameter_called(word, names) for word in re.findall(r"\w+", clause)}.intersection(names)
        is_bare = _OF_NOTHING.issuperset(re.findall(r"[a-z]+", clause))
        if _OF_A_VALUE.search(clause) or is_bare or named - left:
            continue
        if not named:
            return left
        if len(named) == 1 and re.search(_SAID_OF.format(*map(re.escape, named)), before):
            meant |= named
    return meant


_SAID_OF = r"\b{0}(?:s|es)?(?: ?:|,| is| are)?(?: an?)?(?: (?!with\b)[\w-]+){{0,3}}(?: of)? $"


def _clause(text: str, start: int, end: int) -> str:
    ends = [at for at in (text.find(one, end) for one in _ENDS) if at >= 0]
    return text[start : min(ends, default=len(text))]
