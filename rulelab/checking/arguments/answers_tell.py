"""Kinds of arguments that the answers of a rule speak of: a list of cotangents is one for a list."""

from __future__ import annotations

import dataclasses

from ..reading.kinds import MATRICES, Kind
from .guesser import Guesser, Kinds

_LENGTHS = (3, 4, 2)


def _lists(form: str, dims: tuple[str, ...]) -> list[Kind]:
    parts = [[(str(i), Kind(form, dims=dims)) for i in range(length)] for length in _LENGTHS]
    return [Kind("object", made=list, parts=tuple(each)) for each in parts]


LISTS = {
    "vector": [Kind("list"), *_lists("vector", ("n",)), *_lists("matrix", ("m", "n"))],
    "matrix": [*_lists("vector", ("n",)), *_lists("matrix", ("m", "n"))],
}
"""The lists that may be meant where a rule has a list of cotangents for such an array."""


def as_lists_answered(guesser: Guesser, kinds: Kinds) -> tuple[Kinds, ...]:
    """The kinds with lists for those arrays for which the rule itself has lists, where it has an answer for
    some that the function takes, of several lengths if there are some; else the kinds themselves.

    An array cannot have a list for its gradient, but a function that goes through its rows takes a list of
    these as well: that is what the author means.
    """
    if guesser.mode != "rrule":
        return (kinds,)
    bars = guesser.answered(guesser.drawn(kinds))[1 : len(kinds) + 1]
    those = [i for i, bar in enumerate(bars) if type(bar) is list and kinds[i].form in _ARRAYS]
    if not those or any(map(guesser.is_asked, those)):
        return (kinds,)
    forms = {i: "vector" if kinds[i].form == "vector" else "matrix" for i in those}
    choices = list(zip(*(LISTS[forms[i]] for i in those)))
    found = []
    for choice in choices:
        lists = dict(zip(those, choice))
        new = tuple(
            dataclasses.replace(lists[i], low=kind.low, high=kind.high) if i in lists else kind
            for i, kind in enumerate(kinds)
        )
        if not guesser.end.is_over() and guesser.takes(new) and guesser.rule_runs(guesser.drawn(new)):
            found.append(new)
            if len(found) == len(_LENGTHS) or new[those[0]].form == "list":
                break
    return tuple(found) or (kinds,)


_ARRAYS = ("vector", *MATRICES)
