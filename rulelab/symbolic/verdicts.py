"""The verdicts of a symbolic check, each with its scope: there is no bare "correct"."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import Place
from ..verdicts import BELOW, said

A_RESULT = "a result"
"""The expected result in messages about a rule that raises."""


@dataclass(frozen=True)
class Counterexample:
    """A point where the rule is wrong, with what was expected there and what the rule gave.

    Attributes
    ----------
    arguments : dict
        Names to exact fractions as text; nested lists for arrays.
    y_bar : str
        The seed.
    where : str
        Which number was compared.
    expected, found : str
        What the number should be and what the rule gave, as decimals.
    digits : int
        The number of matching digits.
    code : str
        Code to paste that shows it.
    """

    arguments: dict[str, Any]
    y_bar: str
    where: str
    expected: str
    found: str
    digits: int
    code: str


NOTHING = 1e-25
"""If a number is smaller than this fraction of the other, it is zero up to the precision of the
computation.
"""


def in_short(expected, found):
    """Two decimals in readable form: with twelve digits, and 0 for a number that is negligible beside the
    other.

    >>> in_short("-2.4028712203093280876e-71", "6.2615384615384615385")
    ('0', '6.26153846154')
    """
    try:
        one, other = (complex(text) if "j" in text else float(text) for text in (expected, found))
    except ValueError:
        return expected, found  # not numbers: the expected "a result", and an error in its place
    shown = [0.0 if abs(a) <= NOTHING * abs(b) < math.inf else a for a, b in ((one, other), (other, one))]
    return tuple(f"{number:.12g}" for number in shown)


@dataclass(frozen=True)
class Proved:
    """The rule's cotangents equal the derivative times `y_bar` everywhere in the scope.

    Attributes
    ----------
    scope : str
        Where the rule's cotangents equal the derivative times `y_bar`.
    method : str
        How it was proved.
    error : str
        The chance that the proof is wrong; "none" for a symbolic one.
    kinds : str
        The scope in short: which kinds and sizes of arguments.
    """

    scope: str
    method: str
    error: str
    kinds: str = ""
    word = "PROVED"

    def sentence(self):
        return f"{said(self.word)} for {self.kinds or self.detail()}"

    def sentence_alone(self):
        """The sentence for a place where the scope does not stand below it."""
        return self.sentence() if BELOW not in self.kinds else f"{said(self.word)} for {self.detail()}"

    def detail(self):
        """The whole scope, and the method of the proof."""
        chance = "" if self.error == "none" else f"; chance of error {self.error}"
        return f"{self.scope} (by {self.method}{chance})"


@dataclass(frozen=True)
class Refuted:
    """The rule is wrong.

    Attributes
    ----------
    kind : str
        "value", "gradient", "shape", "arity" or "effects", or "numbers" if floats show it outside
        what is proved.
    reason : str
        How it is wrong, in words.
    counterexample : Counterexample or None
        A point that shows it.
    """

    kind: str
    reason: str
    counterexample: Counterexample | None = None
    word = "REFUTED"

    def sentence(self):
        return f"{said(self.word)} ({self.kind}): {self.reason}"


@dataclass(frozen=True)
class Agrees:
    """The rule agrees to many digits at every sample, but is not an identity.

    Attributes
    ----------
    digits : int
        The number of digits that agree at every sample.
    why : str
        The rounded constant that causes the difference, or the digit at which the two begin to differ.
    """

    digits: int
    why: str
    word = "AGREES"

    def sentence(self):
        return f"{said(self.word)}: it agrees to {self.digits} digits, but is not an identity: {self.why}"


@dataclass(frozen=True)
class Undecided:
    """No difference was found, but no proof either.

    Attributes
    ----------
    digits : int
        The number of digits to which no difference was found; 0 if nothing was compared.
    why : str
        What prevented a proof.
    """

    digits: int
    why: str
    word = "UNDECIDED"

    def sentence(self):
        seen = f"it agrees to {self.digits} digits at every sample, not proved: " if self.digits else ""
        return f"{said(self.word)}: {seen}{self.why}"


@dataclass(frozen=True)
class Converges:
    """The rule is not for the sum with a given number of steps, but for its limit.

    Attributes
    ----------
    order : float
        The error falls as this power of the number of steps.
    steps : str
        The name of the number of steps.
    sizes : tuple of int
        The numbers of steps that were tried.
    errors : tuple of (str, tuple of float)
        The largest relative errors at each of them, by argument.
    left : float
        An upper bound on the error in the limit, relative to the derivative.
    samples : int
        The number of points. The verdict rests on numbers, not on a proof.
    """

    order: float
    steps: str
    sizes: tuple[int, ...]
    errors: tuple[tuple[str, tuple[float, ...]], ...]
    left: float
    samples: int
    word = "CONVERGES"

    def sentence(self):
        first, last = (max(row[k] for _, row in self.errors) for k in (0, -1))
        return (
            f"{said(self.word)} (order {self.order:.2f}): the rule is for the integral, "
            f"not for the sum of {self.steps} terms: off by {first:.1e} of the derivative at "
            f"{self.steps} = {self.sizes[0]}, by {last:.1e} at {self.steps} = {self.sizes[-1]}, "
            f"in the limit by less than {_power_of_ten(self.left)} "
            f"(numbers at {self.samples} samples, no proof)"
        )


def _power_of_ten(number):
    """The smallest power of ten above a small number."""
    return f"1e{math.ceil(math.log10(max(number, 1e-30))):03d}"


@dataclass(frozen=True)
class Unsupported:
    """The code cannot be followed symbolically: nothing is said about the rule.

    Attributes
    ----------
    construct : str
        What cannot be followed.
    place : Place or None
        The author's line.
    advice : str
        What to do about it; may be empty.
    """

    construct: str
    place: Place | None = None
    advice: str = ""
    word = "UNSUPPORTED"

    def sentence(self):
        where = f", {self.place.label()}" if self.place else ""
        return f"{said(self.word)}: {self.construct}{where}" + (f" ({self.advice})" if self.advice else "")


Verdict = Proved | Refuted | Agrees | Converges | Undecided | Unsupported


def to_dict(verdict):
    """The verdict as JSON-ready data, with its kind under "verdict"."""
    return {"verdict": verdict.word, "sentence": verdict.sentence(), **asdict(verdict)}
