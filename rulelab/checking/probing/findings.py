"""What a check has found, one statement at a time, and the diagnosis of the mistake behind it."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import Place
from .closeness import Worst
from .probes import Probe

WRONG, UNKNOWN, WARNING = "wrong", "inconclusive", "warning"
NO_NUMBER, AT_ZERO = "no number", "at zero"
"""The checks about nan, infinity or a division by zero in an answer that is otherwise right. The second one
is for zeros at which only slopes from both sides show that the derivative exists.
"""


@dataclass(frozen=True)
class Finding:
    """One statement of one check: `check` is its name, `words` the statement.

    `level` is "wrong", "inconclusive" or "warning". `argument` names the leaf it is about, `worst` is the
    number that is furthest off, `probe` the point where it was found. `of_several` marks a kink at which the
    rule is wrong only if several numbers change at once; for each alone its answer is one of the possible
    slopes.
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
    """The mistake behind the findings.

    `mistake` is one of `doctor.MISTAKES`; `words` complete the sentence "the rule …". `place` is the line of
    the rule. `diff` is the corrected line as a unified diff, given only if the corrected rule was right at
    every probe, except where another mistake remains: `left` describes that point.
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
        """What the rule is like with the corrected line, in words."""
        if self.left:
            return f"corrected, except for another mistake, at {self.left}"
        return "corrected, and right at every point of this check"
