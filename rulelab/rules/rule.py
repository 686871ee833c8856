"""One rule: the function that states it, the types it accepts, and where it was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import Place
from .signatures import Accepts


@dataclass(frozen=True, eq=False)
class Rule:
    """A derivative rule for one target in one mode; two rules are equal only if they are the same object.

    `function(*args, **kwargs)` gives `(y, pullback)` in mode "rrule"; in mode "frule" it takes the tuple of
    tangents first and gives `(y, y_dot)`; with `requires` the config comes before everything. `partials` is
    the `lambda out, *xs:` of a scalar rule; each term `partial * x_dot` of its frule goes through `past(term,
    out, x, x_dot)`, if there is one, which gives the term and has a derivative of its own. A rule that is not
    `differentiable` says that its target has no derivative. A `built_in` rule is trusted: called as the
    caller wrote it, and its pullback answers for the function and the first `leading` arguments only. `pure`
    promises that calling it can be dropped if nobody uses the result. `cotangents` are functions that give
    those of the first arguments of an rrule, of real arrays and numbers, for compiled code. Their parameters
    are names: `y_bar` what flows back, `result` the value, a parameter of the rule, or `a_shape` the shape of
    its parameter `a`; a call with an option that such a function does not name is not compiled so. `doubt`,
    while it is true, has each call compared (`rules/doubt.py`).
    """

    target_name: str
    mode: str
    function: Callable
    accepts: Accepts
    place: Place | None = None
    partials: Callable | None = None
    past: Callable | None = None
    differentiable: bool = True
    leading: int | None = None
    cotangents: tuple = ()
    built_in: bool = False
    pure: bool = False
    requires: frozenset = frozenset()
    keyword_only: tuple = ()
    takes_keywords: bool = False  # has **kwargs
    keyword_cotangents: bool = False  # of an rrule: its pullback goes on with those of the call's keywords
    keyword_tangents: bool = False  # of an frule: its tangents go on with those of the call's keywords
    linear: bool = False  # of an frule: the tangent is the function itself of that of its first argument
    rounds: bool = False  # in the last digits its value may differ from that of the target
    hands_out: bool = False  # of an frule: parts of the arguments, each with the tangent that it has there
    tags: dict = field(default_factory=dict, repr=False)
    doubt: Any = None

    def describe(self):
        """One line: `f(x: float, y) by f_rrule at cell In [3], line 2`."""
        by = getattr(self.function, "__name__", "?")
        where = f" at {self.place.label()}" if self.place is not None else ""
        return f"{self.target_name}{self.accepts} by {by}{where}"


@dataclass(frozen=True, eq=False)
class OptOut:
    """The wish that rules of a target do not apply to these types."""

    target_name: str
    accepts: Accepts
    modes: tuple
    place: Place | None = None
    everything: bool = False  # no types were named: it covers every rule there was at the time

    def describe(self):
        """One line, as for a rule."""
        where = f" at {self.place.label()}" if self.place is not None else ""
        return f"opt-out of {self.target_name}{self.accepts}{where}"


@dataclass(frozen=True, eq=False)
class StandIn:
    """A Python function that is differentiated in place of another that has no Python code.

    Positional arguments from `rest` on arrive as one tuple. `instead(*args)` tells of a call whether it takes
    this way before any built-in rule; None where rules come first. A target that `reads_items` reads its
    first argument once from end to end: it is given the list of the items of what is not a list; without a
    `function` that is all.
    """

    function: Callable | None
    rest: int | None = None
    instead: Callable | None = None
    reads_items: bool = False
    only: Callable | None = None

    def answers(self, args):
        """Whether its function is differentiated for a call with these arguments that has no rule."""
        if self.function is None or self.reads_items:
            return False
        return self.only is None or self.only(*args)
