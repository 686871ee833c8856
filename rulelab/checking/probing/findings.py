"""What a check found, one statement at a time, and the mistake that a doctor sees behind it."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Place
from .closeness import Worst
from .probes import Probe

WRONG, UNKNOWN, WARNING = "wrong", "inconclusive", "warning"
NO_NUMBER, AT_ZERO = "no number", "at zero"
"""The checks that hold nan, infinity or a division by zero against a rule: where it was asked nothing else is
wrong, and at zero where it takes slopes from both sides to see that."""


@dataclass(frozen=True)
class Finding:
    """One statement of one check: `check` is its name, `words` the statement.

    `level` is "wrong", "inconclusive" or "warning". `argument` names the leaf it is about, `worst` the
    number that is furthest off, `probe` the point where it was seen. `of_several` marks a kink at which the
    rule is wrong only if several numbers change at once; for each alone it is a choice among the slopes.
    """

    check: str
    words: str
    level: str = WRONG
    argument: str | None = None
    worst: Worst | None = None
    probe: Probe | None = None
    of_several: bool = False


@dataclass(frozen=True)
class Diagnosis:
    """The mistake behind what was found.

    `mistake` is one of `doctor.MISTAKES`; `words` complete the sentence "the rule …". `place` is the line of
    the rule, `diff` the corrected line as a unified diff, given only if the rule so corrected was right at
    every probe; `left` is the point, in words, at which another mistake is left all the same.
    """

    mistake: str
    words: str
    argument: str | None = None
    place: Place | None = None
    diff: str = ""
    advice: str = ""
    left: str = ""

    @property
    def corrected(self) -> str:
        """What is true of the rule with the corrected line, in words."""
        if self.left:
            return f"corrected, but for another mistake that is left, at {self.left}"
        return "corrected, and right at every point of this check"
