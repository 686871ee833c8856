"""Which known word may have been meant by an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SAME_LETTERS = 0.6
"""The similarity of two words (`difflib` ratio) from which one may have been meant by the other."""
OF_MANY_WORDS = 0.75
"""The same if there are so many known words that one of them is similar to any word."""


def nearest(word: str, known: Iterable[str], most: int = 1, alike: float = SAME_LETTERS) -> list[str]:
    """The known words that are most similar to a word; none if none is similar enough.

    >>> nearest("--secnds", ["--rounds", "--seconds"]), nearest("x", ["--rounds"])
    (['--seconds'], [])
    """
    folded: dict[str, str] = {}
    for one in sorted(known, reverse=True):  # of words that differ only in case, the one in lower case
        folded.setdefault(one.lower(), one)
    return [folded[found] for found in difflib.get_close_matches(word.lower(), folded, most, alike)]


def did_you_mean(word: str, known: Iterable[str], most: int = 1, alike: float = SAME_LETTERS) -> str:
    """The nearest known words as the end of a message; empty if there are none.

    >>> did_you_mean("chekc", ["check", "rules"])
    '; did you mean check?'
    """
    found = nearest(word, known, most, alike)
    return f"; did you mean {' or '.join(found)}?" if found else ""
