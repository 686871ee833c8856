"""The interface through which the parts of the compiler ask `calls.pullbacks` about calls.

The object is passed to them, so that none of them has to import that module.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Protocol

from ...errors import Place

Handler = Callable[..., Any]  # called in place of a callable, with the same arguments; returns `(y, back)`


class Question(Protocol):
    """What answers a call, an attribute or a method, in reverse mode, forward mode and plain running.

    `active` has a flag for the function itself and one for each argument; `place` is the author's line.
    """

    @property
    def cache(self) -> Any:
        """The compiled passes, and the registry of rules that they depend on."""

    @property
    def implicit(self) -> bool:
        """Whether the gradient is with respect to parameters that are reached without being passed."""

    @property
    def keeps(self) -> bool:
        """Whether copies are kept of arrays that belong to others."""

    @property
    def entries(self) -> Any:
        """The fast path to passes that were found before."""

    @property
    def push(self) -> Any:
        """What answers calls in forward mode."""

    @property
    def vjp(self) -> Any:
        """What answers calls in reverse mode, as used by forward mode."""

    @property
    def iteration(self) -> Any:
        """What answers for iterators, and for functions of iterables."""

    @property
    def plain_iteration(self) -> Any:
        """What answers for iterators, and for functions of iterables, in plain running."""

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
        """Like `find`, for a Python function without a cache entry, called with positional arguments only."""

    def find_target(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        active: tuple[bool, ...],
        place: Place | None,
    ) -> Handler:
        """Like `find`, for a call that runs nothing but the target itself, with arguments that it accepts."""

    def remembered(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        active: tuple[bool, ...],
        by_rule: bool = True,
    ) -> Handler | None:
        """The handler found earlier for a call with positional arguments only, if still valid; else None."""

    def remembered_bound(
        self,
        function: types.FunctionType,
        args: tuple[Any, ...],
        words: dict[str, Any],
        active: tuple[bool, ...],
    ) -> Handler | None:
        """Like `remembered`, for a call with keywords, or one that leaves parameters to their defaults."""

    def ask(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the registry says about a call: a rule, that the function opted out, or None."""

    def by_pass(self, function: types.FunctionType, call: Any) -> Handler:
        """The pass of a Python function as the handler of a call."""

    def by_rule(self, rule: Any, call: Any) -> Handler:
        """The handler of a call that a rule answers."""

    def without_rule(self, call: Any) -> Handler | None:
        """The handler of a call of C code whose behaviour this package knows; None for any other call."""

    def via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """`(y, back)` of a call, as requested by rules."""

    def by_arguments(self, f: Any, args: tuple[Any, ...], words: dict[str, Any]) -> tuple[Any, Any]:
        """`(y, back)` of a call, as requested by `gradient`: what f captures is constant."""

    # -- plain running ---------------------------------------------------------------------------------------

    def run_plain(
        self,
        g: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        varied: tuple[bool, ...],
        place: Place | None,
    ) -> Any:
        """The value of a call whose derivative is not wanted."""

    def push_plain(self, call: Any, varied: tuple[bool, ...], place: Place | None) -> Any:
        """The value and the tangent of a call whose derivative is not wanted."""

    def refuse_implicit(self, place: Place | None) -> None:
        """Raise NotDifferentiableError if the gradient is with respect to parameters that are not passed."""

    def unseen(self, target: Any) -> Handler:
        """The handler of code that is not followed and needs no cotangent."""

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
        """The pass for these argument values: cached, or compiled now. With `before`, the values are the
        arguments one by one, and `*args` receives those after the first `before`.
        """
