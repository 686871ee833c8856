"""The answers a symbolic check can give, each with its scope: there is no bare "correct"."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from ..errors import Place
from ..verdicts import said


@dataclass(frozen=True)
class Counterexample:
    """A point where the rule is wrong, with what was expected there and what the rule gave.

    `arguments` maps names to exact fractions as text (nested lists for arrays), `y_bar` is the seed,
    `where` says which number was compared, `expected` and `found` are decimals, `digits` how many of them
    agree, `code` can be pasted.
    """

    arguments: dict
    y_bar: str
    where: str
    expected: str
    found: str
    digits: int
    code: str


@dataclass(frozen=True)
class Proved:
    """The rule's cotangents equal derivative times `y_bar` everywhere in `scope`; `kinds` says in short of
    which kinds and sizes of arguments that is."""

    scope: str
    method: str
    error: str  # the chance that the proof is wrong: "none" for a symbolic one
    kinds: str = ""
    word = "PROVED"

    def sentence(self):
        return f"{said(self.word)} for {self.kinds or self.detail()}"

    def detail(self):
        """The whole scope, and by what means it was proved."""
        chance = "" if self.error == "none" else f"; chance of error {self.error}"
        return f"{self.scope} (by {self.method}{chance})"


@dataclass(frozen=True)
class Refuted:
    """The rule is wrong; `kind` is value, gradient, shape, arity or effects, `reason` says how in words."""

    kind: str
    reason: str
    counterexample: Counterexample | None = None
    word = "REFUTED"

    def sentence(self):
        return f"{said(self.word)} ({self.kind}): {self.reason}"


@dataclass(frozen=True)
class Agrees:
    """The rule agrees to `digits` digits at every sample, and is no identity: `why` names the rounded
    constant, or says at which digit the two part."""

    digits: int
    why: str
    word = "AGREES"

    def sentence(self):
        return f"{said(self.word)}: it agrees to {self.digits} digits, and is no identity: {self.why}"


@dataclass(frozen=True)
class Undecided:
    """No difference was found to `digits` digits (0: nothing was compared), and no proof either; `why` says
    what stood in the way."""

    digits: int
    why: str
    word = "UNDECIDED"

    def sentence(self):
        seen = f"it agrees to {self.digits} digits at every sample, not proved: " if self.digits else ""
        return f"{said(self.word)}: {seen}{self.why}"


@dataclass(frozen=True)
class Converges:
    """The rule is not that of what is computed with any number of steps, but of its limit: its error falls
    with the power `order` of the number of steps, and leaves less than `left` of the derivative.

    `steps` is the name of the number of steps, `sizes` those that were tried, `errors` the largest relative
    errors at each by argument, at `samples` points. Numbers speak here, no proof.
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
            f"{said(self.word)} (order {self.order:.2f}): the rule is for the integral and "
            f"not for the sum with {self.steps} of them: off by {first:.1e} of the derivative at "
            f"{self.steps} = {self.sizes[0]}, by {last:.1e} at {self.steps} = {self.sizes[-1]}, "
            f"in the limit by less than {_power_of_ten(self.left)} "
            f"(numbers at {self.samples} samples, no proof)"
        )


def _power_of_ten(number):
    """The power of ten above a small number."""
    return f"1e{math.ceil(math.log10(max(number, 1e-30))):03d}"


@dataclass(frozen=True)
class Unsupported:
    """The code cannot be followed symbolically: nothing is said about the rule."""

    construct: str
    place: Place | None = None
    advice: str = ""
    word = "UNSUPPORTED"

    def sentence(self):
        where = f", {self.place.label()}" if self.place else ""
        return f"{said(self.word)}: {self.construct}{where}" + (f" ({self.advice})" if self.advice else "")


Verdict = Proved | Refuted | Agrees | Converges | Undecided | Unsupported


def to_dict(verdict):
    """The verdict as JSON-ready data, its kind under "verdict"."""
    return {"verdict": verdict.word, "sentence": verdict.sentence(), **asdict(verdict)}
