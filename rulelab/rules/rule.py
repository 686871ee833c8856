"""A rule: the function that states it, the types it accepts, and where it was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import Place
from .signatures import Accepts


@dataclass(frozen=True, eq=False)
class Rule:
    """A derivative rule for one target in one mode; two rules are equal only if they are the same object.

    `function(*args, **kwargs)` returns `(y, pullback)` in mode "rrule"; in mode "frule" it takes the tuple of
    tangents first and returns `(y, y_dot)`; with `requires` the config comes before everything. `partials` is
    the `lambda out, *xs:` of a scalar rule; each term `partial * x_dot` of its frule is replaced by
    `past(term, out, x, x_dot)`, if given, which returns the term and has a derivative of its own. A rule that
    is not `differentiable` states that its target has no derivative. A `built_in` rule is trusted: it is
    called with the arguments as the caller wrote them, and its pullback covers only the function and the
    first `leading` arguments. `pure` promises that a call whose result is unused may be dropped.

    `cotangents` are functions that compute the cotangents of the first arguments of an rrule, for real arrays
    and numbers, in compiled code. Their parameters are identified by name: `y_bar` is the incoming cotangent,
    `result` the value, then there are parameters of the rule, and `a_shape` is the shape of its parameter
    `a`. A call with an option that such a function does not name is not compiled this way. As long as `doubt`
    is true, each call is compared (`rules/doubt.py`).
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
    # For an rrule: its pullback also returns those of the call's keywords, at the end.
    keyword_cotangents: bool = False
    # For an frule: its tangents include those of the call's keywords, at the end.
    keyword_tangents: bool = False
    linear: bool = False  # for an frule: the tangent is the function applied to that of its first argument
    rounds: bool = False  # its value may differ from that of the target in the last digits
    # For an frule: returns parts of the arguments, each with the tangent it has there.
    hands_out: bool = False
    tags: dict = field(default_factory=dict, repr=False)
    doubt: Any = None

    def describe(self):
        """One line: `f(x: float, y) by f_rrule at cell In [3], line 2`."""
        by = getattr(self.function, "__name__", "?")
        where = f" at {self.place.label()}" if self.place is not None else ""
        return f"{self.target_name}{self.accepts} by {by}{where}"


@dataclass(frozen=True, eq=False)
class OptOut:
    """A statement that rules of a target do not apply to these types."""

    target_name: str
    accepts: Accepts
    modes: tuple
    place: Place | None = None
    everything: bool = False  # no types were named: it covers every rule that existed at the time

    def describe(self):
        """One line, as for a rule."""
        where = f" at {self.place.label()}" if self.place is not None else ""
        return f"opt-out of {self.target_name}{self.accepts}{where}"


@dataclass(frozen=True, eq=False)
class StandIn:
    """A Python function that is differentiated in place of another that has no Python code.

    Positional arguments from `rest` on are passed as one tuple. `instead(*args)` says whether a call uses the
    stand-in in preference to any built-in rule; if None, rules come first. A target that `reads_items` reads
    its first argument once from end to end: an argument that is not a list is replaced by the list of its
    items. Without a `function`, that is all.
    """

    function: Callable | None
    rest: int | None = None
    instead: Callable | None = None
    reads_items: bool = False
    only: Callable | None = None

    def answers(self, args):
        """Whether its function is differentiated for a call with these arguments, if no rule applies."""
        if self.function is None or self.reads_items:
            return False
        return self.only is None or self.only(*args)
