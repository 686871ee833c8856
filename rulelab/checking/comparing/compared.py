"""The result of comparing two functions: each difference, and all of them with a verdict in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...tables import Page, Report, Table
from ...verdicts import CANNOT_TELL, RIGHT, WRONG
from ..measuring.shortening import plain_data, shortened


@dataclass(frozen=True)
class Difference:
    """One quantity on both sides, and how far apart the two are.

    Attributes
    ----------
    name : str
        Which quantity it is: "value", "gradient of x", "pullback to x".
    left, right : object
        The quantity on both sides.
    absolute, relative : float
        The largest elementwise differences.
    worst : tuple of int or None
        The index of the element that is furthest off; empty for a number, None if there is no such element.
    problem : str or None
        How the two differ; None if they agree.
    note : str or None
        What else should be known about it.
    known : bool
        Whether there is a number to compare with: finite differences find none at a kink.
    symmetric : str or None
        The argument for which only the symmetric parts agree, as it is a symmetric matrix.
    """

    name: str
    left: Any
    right: Any
    absolute: float = 0.0
    relative: float = 0.0
    worst: tuple[int, ...] | None = None
    problem: str | None = None
    note: str | None = None
    known: bool = True
    symmetric: str | None = None

    @property
    def agree(self) -> bool:
        """Whether the two sides agree within the tolerance."""
        return self.problem is None

    @property
    def verdict(self) -> str:
        """In words: "agree to 1e-12", "differ: …", "cannot tell: …"."""
        if self.problem is not None:
            return f"differ: {self.problem}"
        if not self.known:
            return "cannot tell: no finite difference there"
        words = "agree exactly" if self.absolute == 0 else f"agree to {_power_of_ten(self.relative)}"
        words = words if self.symmetric is None else f"{words} for symmetric {self.symmetric}"
        return words if self.note is None else f"{words} ({self.note})"

    @property
    def word(self) -> str:
        """The verdict as one word: "right", "wrong" or "cannot tell"."""
        return WRONG if self.problem is not None else RIGHT if self.known else CANNOT_TELL

    def row(self) -> tuple[str, ...]:
        """The cells of this quantity's line in a table."""
        spread = ("–", "–") if self.worst is None else (f"{self.absolute:.3g}", f"{self.relative:.3g}")
        return self.name, shortened(self.left), shortened(self.right), *spread, self.verdict

    def to_dict(self) -> dict:
        """The numbers in plain Python types."""
        return {
            "name": self.name,
            "left": plain_data(self.left),
            "right": plain_data(self.right),
            "absolute": self.absolute,
            "relative": self.relative,
            "worst": None if self.worst is None else list(self.worst),
            "agree": self.agree,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, repr=False)
class Comparison(Report):
    """What `compare` found: both sides, with a verdict.

    Attributes
    ----------
    left_name, right_name : str
        The names of the two columns.
    value : tuple of Difference
        The values that both return when they are differentiated; with a rule, the value by the rule.
    gradients : tuple of Difference
        An entry for each leaf of each positional argument's gradient; for a function without a real
        scalar output, for each leaf of the pullback of a random seed.
    pullbacks : tuple of Difference
        The same leaves with a seed other than 1.
    seed : object
        That seed.
    ignored : tuple of str
        The arguments whose cotangents do not depend on the seed, which is a mistake.
    refused : str or None
        Why the left column has finite differences, if so.
    subject : str
        The function whose rule is compared.
    by_rule : tuple of Difference
        The value by a rule (`left`) and that of the plain call (`right`), where these differ.
    unasked : str or None
        Why the rule was not used in a loss that is compared with and without it: then agreement says
        nothing about the rule.
    unsteady : str or None
        A text if one of the two returns a different value at each call: then differences mean nothing.
    """

    left_name: str
    right_name: str
    value: tuple[Difference, ...]
    gradients: tuple[Difference, ...]
    pullbacks: tuple[Difference, ...]
    seed: Any
    ignored: tuple[str, ...] = ()
    refused: str | None = None
    subject: str = ""
    by_rule: tuple[Difference, ...] = ()
    unasked: str | None = None
    unsteady: str | None = None

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every difference: values by a rule, values, gradients, pullbacks, in this order."""
        return self.by_rule + self.value + self.gradients + self.pullbacks

    @property
    def agree(self) -> bool:
        """Whether both sides agree everywhere, the rule was used, and its answers depend on the cotangent."""
        return not self.ignored and self.unasked is None and all(d.agree for d in self.differences)

    @property
    def absolute(self) -> float:
        """The largest absolute difference of any value or gradient."""
        return max((d.absolute for d in self.differences), default=0.0)

    @property
    def relative(self) -> float:
        """The largest relative difference of any value or gradient."""
        return max((d.relative for d in self.differences), default=0.0)

    @property
    def verdict(self) -> str:
        """In words: "agree to 1e-12", or "differ: " and the first quantity that differs."""
        if self.unsteady is not None:
            return f"{CANNOT_TELL}: {self.unsteady}"
        if self.ignored:
            return (
                "differ: the rule ignores its cotangent: back(2) equals back(1) for "
                f"{_listed(self.ignored)}; multiply by the cotangent"
            )
        for d in self.differences:
            if not d.agree:
                return f"differ: {d.name}: {d.problem}{self._seed_hint(d)}"
        if self.unasked is not None:
            return f"cannot tell: {self.unasked}"
        if not all(d.known for d in self.differences):
            return "cannot tell: finite differences gave no number for some of the gradients"
        words = "agree exactly" if self.absolute == 0 else f"agree to {_power_of_ten(self.relative)}"
        return f"{words} for symmetric {_listed(self._symmetric)}" if self._symmetric else words

    @property
    def _symmetric(self) -> tuple[str, ...]:
        """The arguments for which only the symmetric parts agree."""
        return tuple(dict.fromkeys(d.symmetric for d in self.differences if d.symmetric is not None))

    def _seed_hint(self, d: Difference) -> str:
        return ", though with the seed 1 they agree" if d in self.pullbacks else ""

    @property
    def word(self) -> str:
        """The verdict as one word: "right", "wrong" or "cannot tell"."""
        return CANNOT_TELL if self.verdict.startswith(CANNOT_TELL) else RIGHT if self.agree else WRONG

    @property
    def sentence(self) -> str:
        """The verdict as a sentence about both sides."""
        both = f"{self.left_name} and {self.right_name}"
        if self.word == CANNOT_TELL:
            reason = self.verdict.removeprefix(f"{CANNOT_TELL}: ")
            return f"Cannot tell whether {both} agree: {reason}."
        return f"{self.word.capitalize()}: {both} {self._where() or self.verdict}."

    def _where(self) -> str:
        """In which quantity the two differ; empty if it is not a quantity of both."""
        first = next((d for d in self.differences if not d.agree), None)
        named = "" if first is None else f"differ: {first.name}: "
        if first is None or first in self.by_rule or not self.verdict.startswith(named):
            return ""
        return f"differ in the {first.name}: {self.verdict.removeprefix(named)}"

    def page(self) -> Page:
        columns = ("", self.left_name, self.right_name, "largest error", "relative error", "verdict")
        caption = "Values and gradients" if self.pullbacks else "Values and pullbacks of a random seed"
        agreed = all(d.agree for d in self.pullbacks)
        main = self._table(caption, columns, self.value + self.gradients)
        tables = [main]
        if self.by_rule:
            ways = ("", "with the gradient", "plain call", *columns[3:])
            caption = "Values that are not those of the plain call"
            tables.append(self._table(caption, ways, self.by_rule))
        if self.pullbacks:
            caption = f"Pullbacks with the seed {shortened(self.seed)}"
            if agreed:
                apart = max((d.relative for d in self.pullbacks), default=0.0)
                caption += f" agree to {_power_of_ten(apart)} as well" if apart else " agree as well"
            tables.append(self._table(caption, columns, self.pullbacks, folded=agreed))
        worst = [d.problem for d in self.value + self.gradients if d.problem is not None and d.worst]
        notes = tuple(f"Worst element: {line}." for line in worst[:1] if line not in self.sentence)
        notes += (self.refused,) if self.refused else ()
        notes += self._notes_of_none() + self._notes_of_triangles()
        return Page((self.sentence,), tuple(tables), notes, self.word)

    def _notes_of_none(self) -> tuple[str, ...]:
        """A note about gradients that the right side omits and that are zero on the left, maybe only here."""
        without = [d.name for d in self.gradients if d.right is None and d.left is not None and d.agree]
        if not without:
            return ()
        these = "it" if len(without) == 1 else "them"
        does = f"{self.right_name} says that the result does not depend on {these}"
        return (
            f"The {' and the '.join(without)}: zero at these arguments, and {does}. "
            "A check of the rule tells whether that holds elsewhere.",
        )

    def _notes_of_triangles(self) -> tuple[str, ...]:
        if not self._symmetric:
            return ()
        is_one = len(self._symmetric) == 1
        are, its = ("is", "its gradient") if is_one else ("are", "their gradients")
        return (
            f"{_listed(self._symmetric)} {are} symmetric: a rule may divide {its} between both triangles "
            "in any way, so the symmetric parts were compared.",
        )

    def _table(
        self, caption: str, columns: tuple[str, ...], told: tuple[Difference, ...], folded: bool = False
    ) -> Table:
        """Rows with the sign of their verdict; differences of a function that is not steady do not count as
        wrong.
        """
        unknown = self.unsteady is not None
        signs = tuple(CANNOT_TELL if unknown and not d.agree else d.word for d in told)
        return Table(caption, columns, tuple(d.row() for d in told), folded, verdicts=signs)

    def to_dict(self) -> dict[str, Any]:
        return {
            "left": self.left_name,
            "right": self.right_name,
            "agree": self.agree,
            "verdict": self.verdict,
            "refused": self.refused,
            "ignored": list(self.ignored),
            "unasked": self.unasked,
            "unsteady": self.unsteady,
            "absolute": self.absolute,
            "relative": self.relative,
            "seed": plain_data(self.seed),
            "value": [d.to_dict() for d in self.value],
            "gradients": [d.to_dict() for d in self.gradients],
            "pullbacks": [d.to_dict() for d in self.pullbacks],
            "by_rule": [d.to_dict() for d in self.by_rule],
        }


def _power_of_ten(relative: float) -> str:
    """The power of ten just above a relative difference, as "1e-12".

    >>> _power_of_ten(3.1e-13), _power_of_ten(0.0)
    ('1e-12', '1e-16')
    """
    return f"1e{max(-16, math.ceil(math.log10(relative))) if relative > 0 else -16}"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
