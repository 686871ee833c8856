"""Which existing word may have been meant by an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SAME_LETTERS = 0.6
"""The part of their letters that two words have in common where one may be meant by the other."""
OF_MANY_WORDS = 0.75
"""The same among so many words that one of them has most of the letters of whatever is asked."""


def nearest(word: str, known: Iterable[str], most: int = 1, alike: float = SAME_LETTERS) -> list[str]:
    """The known words that are most like this one, none where none is much like it.

    >>> nearest("--secnds", ["--rounds", "--seconds"]), nearest("x", ["--rounds"])
    (['--seconds'], [])
    """
    folded: dict[str, str] = {}
    for one in sorted(known, reverse=True):  # of words that differ in case alone, small letters
        folded.setdefault(one.lower(), one)
    return [folded[found] for found in difflib.get_close_matches(word.lower(), folded, most, alike)]


def did_you_mean(word: str, known: Iterable[str], most: int = 1, alike: float = SAME_LETTERS) -> str:
    """The same as the end of a message; empty where nothing is near.

    >>> did_you_mean("chekc", ["check", "rules"])
    '; did you mean check?'
    """
    found = nearest(word, known, most, alike)
    return f"; did you mean {' or '.join(found)}?" if found else ""
