"""The ways in which a sample ends early: with a verdict, without a result, or because arguments of this kind
do not fit.
"""

from __future__ import annotations

import textwrap
from typing import Any


class Settled(Exception):
    """A sample led to a verdict."""

    # Set only if a gradient is refuted: the number of the leaf, and the parts of its cell.
    wrong: int
    graphs: tuple[Any, Any, Any, Any]
    expected: list

    def __init__(self, verdict):
        super().__init__(verdict.word)
        self.verdict = verdict


class Skipped(Exception):
    """The sample proves nothing: it is outside the domain, on the border of a cell, or refused by the
    rule.
    """

    @classmethod
    def by_refusal(cls, error):
        """Return the exception for a sample that the rule itself refuses."""
        return cls(f"the rule refuses: {str(error).splitlines()[0]}")


class UntracedSample(Skipped):
    """The function has a value at the sample, but traced numbers have none, so nothing is said about it."""


class Misfit(Exception):
    """The function, or its rule, does not accept arguments of this kind.

    `verdict` is the verdict on the rule if no other kind fits; None if it is the function that does not
    accept them. `raised` says that the rule raised an exception.
    """

    def __init__(self, reason, verdict=None, raised=False):
        super().__init__(reason)
        self.verdict, self.raised = verdict, raised
        self.unsupported: Any = None  # the verdict if the function has no value at any sample

    def reason_in_short(self):
        """The first line of the reason, shortened."""
        words = str(self).splitlines()[0]
        return textwrap.shorten(words, 120, placeholder=" …")
