"""Caveats that accompany a verdict: each has a kind, words, and often a point and code."""

from __future__ import annotations

import dis
from dataclasses import asdict, dataclass

from ..errors import Place

SINGULAR_AT = "SINGULAR_AT"
NOT_A_SUBGRADIENT = "NOT_A_SUBGRADIENT"
INEXACT_CONSTANT = "INEXACT_CONSTANT"
CELLS_CAPPED = "CELLS_CAPPED"
UNSTABLE = "UNSTABLE"


@dataclass(frozen=True)
class Caveat:
    """One warning of a symbolic check.

    Attributes
    ----------
    kind : str
        "SINGULAR_AT" (no number, or a number where there is no derivative), "NOT_A_SUBGRADIENT" (a wrong
        number where cells meet), "INEXACT_CONSTANT", "CELLS_CAPPED" (not every cell that was found was
        tried) or "UNSTABLE" (right in exact arithmetic, wrong in floats).
    words : str
        The warning in words.
    point : str
        The arguments at which it holds; empty if there is no such point.
    place : Place or None
        The author's line.
    code : str
        Code to paste that shows it; may be empty.
    """

    kind: str
    words: str
    point: str = ""
    place: Place | None = None
    code: str = ""

    def sentence(self):
        """The caveat in one line, without its kind, which the words express."""
        at = f"at {self.point}: " if self.point else ""
        return f"{at}{self.words}" + (f" ({self.place.label()})" if self.place else "")

    def lines(self):
        """Yield the sentence, and the code that shows it, as lines of text."""
        yield f"warning: {self.sentence()}"
        if self.code:
            yield "to see it:"
            yield from (f"    {line}" for line in self.code.splitlines())

    def to_dict(self):
        """The caveat as JSON-ready data."""
        return {**asdict(self), "place": self.place.label() if self.place else None}


MOST_CONSTANTS = 3


def of_constants(values, codes):
    """A caveat for each rounded constant, with the first line in `codes` that contains it; those after the
    third, such as the entries of an array, share one.
    """
    values = list(values)
    caveats = [
        Caveat(
            INEXACT_CONSTANT,
            f"{value!r} is a rounded constant and is treated as this exact decimal",
            place=place_of_constant(value, codes),
        )
        for value in values[:MOST_CONSTANTS]
    ]
    if more := len(values) - len(caveats):
        numbers = "constant is" if more == 1 else "constants are"
        caveats.append(Caveat(INEXACT_CONSTANT, f"{more} more rounded {numbers} treated as exact decimals"))
    return tuple(caveats)


def of_stability(report):
    """The caveats of a scan by `scan_stability`, one for each region in which digits are lost."""
    return tuple(
        Caveat(
            UNSTABLE,
            f"for {r.argument} from {r.low} to {r.high} it gives {r.found} instead of {r.exact} ({r.loss})"
            + (f": {r.cause}" if r.cause else ""),
            f"{r.argument} = {r.worst}",
        )
        for r in report.regions
    )


def place_of_constant(value, codes):
    """The first line, ordered by file and line, on which a code object contains the number `value`; else
    None.
    """
    found = [
        Place(code.co_filename, step.positions.lineno, function=code.co_name)
        for code in codes
        if any(type(c) is float and c == value for c in code.co_consts)
        for step in dis.get_instructions(code)
        if type(step.argval) is float and step.argval == value and step.positions and step.positions.lineno
    ]
    return min(found, key=lambda place: place[:2], default=None)
