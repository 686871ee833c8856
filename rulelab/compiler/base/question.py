"""What the parts of the compiler ask of whoever answers calls (`calls.pullbacks`).

It is passed to them, so that none of them imports who answers.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Protocol

from ...errors import Place

Handler = Callable[..., Any]  # called in place of a callable, with the same arguments; gives `(y, back)`


class Question(Protocol):
    """Who answers a call, an attribute or a method, in reverse, forward and plain running.

    `active` has a flag for the function itself and one for each argument; `place` is the author's line.
    """

    @property
    def cache(self) -> Any:
        """The compiled passes, and the registry that they are made over."""

    @property
    def implicit(self) -> bool:
        """Whether parameters are reached that nobody hands in."""

    @property
    def keeps(self) -> bool:
        """Whether copies are kept of the arrays that belong to others."""

    @property
    def entries(self) -> Any:
        """The quick way to passes that were found before."""

    @property
    def push(self) -> Any:
        """The forward question."""

    @property
    def vjp(self) -> Any:
        """The reverse question as forward mode asks it."""

    @property
    def iteration(self) -> Any:
        """What answers for iterators, and for functions of iterables."""

    @property
    def plain_iteration(self) -> Any:
        """The same in plain running."""

    # -- reverse mode ----------------------------------------------------------------------------------------

    def find(
        self,
        g: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """What to call instead of `g` with the same arguments to get `(y, back)`."""

    def find_function(
        self, function: Any, args: tuple[Any, ...], active: tuple[bool, ...], place: Place | None
    ) -> Handler:
        """The same of a Python function that is called by position and of which nothing is remembered."""

    def find_target(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """The same where nothing but the target itself is called, with arguments that it takes."""

    def remembered(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        active: tuple[bool, ...],
        by_rule: bool = True,
    ) -> Handler | None:
        """The handler of such a call that has been found before and still counts; None if nobody knows."""

    def remembered_bound(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        words: dict[str, Any],
        active: tuple[bool, ...],
    ) -> Handler | None:
        """The same of a call by keyword, or one that leaves parameters to their defaults."""

    def ask(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the registry answers for a call: a rule, that its function opted out, or None."""

    def by_pass(self, function: types.FunctionType, call: Any) -> Handler:
        """The pass of a Python function as a handler of the call that it answers."""

    def by_rule(self, rule: Any, call: Any) -> Handler:
        """The handler of a call that a rule answers."""

    def without_rule(self, call: Any) -> Handler | None:
        """The handler of a call of C code that this package knows the doings of; None for any other."""

    def via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """`(y, back)` of a call as rules ask for it."""

    def by_arguments(self, f: Any, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[Any, Any]:
        """`(y, back)` of a call as `gradient` asks for it: what f captures is a constant."""

    # -- plain running ---------------------------------------------------------------------------------------

    def run_plain(
        self,
        g: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        varied: tuple[bool, ...],
        place: Place | None,
    ) -> Any:
        """The value of a call of which no derivative is wanted."""

    def push_plain(self, call: Any, varied: tuple[bool, ...], place: Place | None) -> Any:
        """The value and the tangent of a call of which no derivative is wanted."""

    def refuse_implicit(self, place: Place | None) -> None:
        """NotDifferentiableError where parameters are reached that nobody hands in."""

    def unseen(self, target: Any) -> Handler:
        """The handler of code that nobody looks into and that no cotangent is wanted of."""

    # -- about a call ----------------------------------------------------------------------------------------

    def pass_of(
        self,
        function: types.FunctionType,
        values: tuple[Any, ...],
        flags: tuple[bool, ...],
        captured: bool,
        differentiate: bool,
        place: Place | None,
        before: int | None = None,
    ) -> Any:
        """The pass for these argument values: cached, or compiled now. With `before` they are the arguments
        one by one, of which `*args` has those after so many.
        """
