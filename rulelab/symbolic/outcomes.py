"""The ways in which a sample ends early: with a verdict, with nothing shown, or with arguments of a kind that
does not fit."""

from __future__ import annotations

import textwrap
from typing import Any


class Settled(Exception):
    """A verdict was reached at this sample."""

    # Set only where a gradient is refuted: the number of the leaf, and what its cell is made of.
    wrong: int
    graphs: tuple[Any, Any, Any, Any]
    expected: list

    def __init__(self, verdict):
        super().__init__(verdict.word)
        self.verdict = verdict


class Skipped(Exception):
    """The sample proves nothing: outside the domain, on the border of a cell, or refused by the rule."""

    @classmethod
    def by_refusal(cls, error):
        """The rule itself refused the sample."""
        return cls(f"the rule refuses: {str(error).splitlines()[0]}")


class NotFollowed(Skipped):
    """The function has a value at the sample, but traced numbers have none: what holds there is not said."""


class Misfit(Exception):
    """The function, or its rule, does not take arguments of this kind.

    `verdict` is what it would mean of the rule if no other kind fits, None where it is the function that does
    not take them; `raised` says that the rule ended in an exception.
    """

    def __init__(self, reason, verdict=None, raised=False):
        super().__init__(reason)
        self.verdict, self.raised = verdict, raised
        self.unsupported: Any = None  # what the verdict is if the function has no value at any sample

    def reason_in_short(self):
        """The reason in at most some words."""
        words = str(self).splitlines()[0]
        return textwrap.shorten(words, 120, placeholder=" …")
