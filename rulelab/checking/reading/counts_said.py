"""What a docstring says about counts: which parameters are counts, and of how many others they were
counted.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

_AMONG = re.compile(r"\b(?:among|out of) (?:(?:the|its|all|these) )?(\w+)")
_IN_BRACKETS = re.compile(
    r"\b(\w+)(?:\[\w+\])?:? (?:\w+ ){0,5}\((?:an? |all )?(?:ints?|integers?|whole numbers?|counts?)"
    r"(?:(?:,| [<>]).*?)?\)"
)
"""A remark after a name, or after a noun that follows it: positives[i] positive animals (an integer), n:
number of pulses (int >= 1).
"""
_WHOLE = re.compile(r"\b(?:ints?|integers?|whole|incidence|adjacency)\b", re.IGNORECASE)
"""Words for whole numbers, and for matrices of ones and zeros, with signs or without."""
_ALL_WHOLE = re.compile(r"\b(?:both|all) (?:of them )?(?:are )?(?:integers?|whole numbers?)\b", re.IGNORECASE)
_INDEXED = re.compile(r"\b([A-Za-z_]\w*)\[[a-z]\]")
_SENTENCE, _FULL_STOP = re.compile(r"[.;](?:\s|$)"), re.compile(r"\.(?:\s|$)")


def counted_among(text: str, names: Container[str]) -> Iterator[tuple[str, str]]:
    """Pairs of parameters of which the docstring says that the first was counted among the second.

    >>> list(counted_among("Herd i has `ill[i]` animals among the `tested[i]` tested.", ("ill", "tested")))
    [('ill', 'tested')]
    """
    for sentence in _SENTENCE.split(text.replace("`", "")):
        for found in _AMONG.finditer(sentence):
            before = [word for word in re.findall(r"\w+", sentence[: found.start()]) if word in names]
            if found[1] in names and before and before[-1] != found[1]:
                yield before[-1], found[1]


def counts_in_brackets(text: str, names: Container[str]) -> frozenset[str]:
    """The parameters that a docstring marks as whole numbers in parentheses, and those counted among them or
    among which they were counted.

    >>> sorted(counts_in_brackets("k successes (an integer) out of n trials", ("k", "n", "p")))
    ['k', 'n']
    >>> sorted(counts_in_brackets("n: number of pulses (int >= 1, fixed), x: a ratio", ("n", "x")))
    ['n']
    """
    found = {name for name in _IN_BRACKETS.findall(text.replace("`", "")) if name in names}
    return frozenset(found.union(*(pair for pair in counted_among(text, names) if found & {*pair})))


def called_whole(text: str, names: Container[str]) -> frozenset[str]:
    """The parameters that are called whole numbers in the clause about them, or in one about all of the
    sentence.

    >>> text = "k are rates; a (m, n) whole orders; b (m, n) net coefficients, both integers."
    >>> sorted(called_whole(text, ("k", "a", "b"))), sorted(called_whole("the whole of x", ("x",)))
    (['a', 'b'], [])
    """
    found: set[str] = set()
    for sentence in _FULL_STOP.split(text.replace("`", "")):
        before: list[str] = []
        for clause in sentence.split(";"):
            spoken = [(word[0], word.start()) for word in re.finditer(r"\w+", clause) if word[0] in names]
            before += [word for word, _ in spoken]
            if _ALL_WHOLE.search(clause):
                found.update(before[-2:] if "both" in clause.lower() else before)
            elif said := _WHOLE.search(clause):
                found.update([word for word, at in spoken if at < said.start()][-1:])
    return frozenset(found)


def indexed_in_words(text: str, names: Container[str]) -> frozenset[str]:
    """The parameters that a docstring writes with an index, such as `hits[i]`: arrays.

    >>> sorted(indexed_in_words("hits[i] out of trials[i], each with rate p", ("hits", "trials", "p")))
    ['hits', 'trials']
    """
    return frozenset(name for name in _INDEXED.findall(text) if name in names)
