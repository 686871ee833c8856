"""A call whose intermediate values are recomputed in the reverse sweep instead of being kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..compiler.base import nesting
from ..compiler.calls.call import Call
from ..compiler.calls.holders import CALLING
from ..compiler.memory import heap
from ..compiler.memory.crossings import through_rule
from ..compiler.memory.fingerprints import value_fingerprint
from ..compiler.memory.handlers import NO, Handler, Uncached
from ..compiler.memory.snapshots import Outside
from ..errors import MutatedAfterCaptureError, Place
from ..own_code import runs_out_of_sight
from ..rules.targets import name_of, resolve

if TYPE_CHECKING:
    from ..compiler.calls.pullbacks import Pullbacks

runs_out_of_sight(__name__)


def checkpointed(f: Callable[..., Any], *xs: Any, **kw: Any) -> Any:
    """Return `f(*xs, **kw)` without a tape: the reverse sweep runs f once more.

    Such a call keeps only its arguments, and costs one more run of f. A long loop that is split into √n calls
    of √n steps needs memory for about 2√n steps instead of n. Arguments, keywords and captured variables of f
    get their gradients as in a plain call.

    Parameters
    ----------
    f : callable
        A pure function: the same arguments always give the same value.
    *xs
        Its positional arguments.
    **kw
        Its keyword arguments.

    Returns
    -------
    object
        What `f(*xs, **kw)` returns.

    Raises
    ------
    MutationError
        If f changes a list, dict or object that was made outside it.
    MutatedAfterCaptureError
        If something that f reads, such as a global, has changed by the time it runs again, or if f returns a
        different value, because it read a clock or drew random numbers.

    Examples
    --------
    >>> from rulelab import gradient
    >>> gradient(lambda x: checkpointed(lambda y: y * y, x) + x, 3.0)
    (7.0,)
    """
    return f(*xs, **kw)


def _handler(pullbacks: Pullbacks, asked: Call) -> Handler:
    """Return the handler of a call of `checkpointed`. Objects that f makes belong to it, in both runs."""
    active, place = asked.active, asked.place

    def run(f: Any, xs: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        nesting.enter()
        try:
            return pullbacks.find(f, xs, kw, active[1:], place)(*xs, **kw)
        finally:
            nesting.leave()

    def call(f: Any, *xs: Any, **kw: Any) -> Any:
        __tracebackhide__ = True
        outside, outer = Outside(f), heap.enter()
        try:
            y = run(f, xs, kw)[0]
        finally:
            heap.leave(outer)
        seen = value_fingerprint(y)

        def back(y_bar: Any) -> Any:
            __tracebackhide__ = True
            if outside.has_changed():  # checked separately, since the value may be unchanged: rate * x at 0
                raise _impure(f, place, "read different values")
            outer = heap.enter()
            try:
                again, pullback = run(f, xs, kw)
                if value_fingerprint(again) != seen:
                    raise _impure(f, place, "returned a different value")
                got = pullback(y_bar)
            finally:
                heap.leave(outer)
            return NO if got is NO else (NO, *got)

        return y, back

    return through_rule(Uncached(call), "all", False, "checkpointed")


def _impure(f: Any, place: Place | None, found: str) -> MutatedAfterCaptureError:
    return MutatedAfterCaptureError(
        f"{name_of(resolve(f)[0])} {found} when checkpointed ran it again",
        place=place,
        fixes=(
            "pass what it depends on as an argument",
            "draw random numbers outside it",
            "call it without checkpointed",
        ),
        read="limitations#changed-arrays",
    )


CALLING[checkpointed] = _handler
