"""The time to the first gradient, which includes deriving and compiling the passes of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from ..ad import reverse
from ..compiler.calls.cache import Cache
from ..tables import Page, Report, Table, engineering, saved_number
from .calls import copied, name_of, timed_gradient
from .clock import Clock, seconds_per_call, wall
from .environment import environment


@dataclass(frozen=True, repr=False)
class FirstGradient(Report):
    """Seconds of the first gradient of a function, and of a later one that reuses the derived passes.

    The difference is the time for reading, deriving and compiling. The second call, which compiles the pass
    that runs both sweeps at once, is not counted.

    Attributes
    ----------
    name : str
        The name of the function.
    first, second : float
        The seconds of the first gradient, compiling included, and of a later one.
    environment : dict
        The versions, the machine and its load.
    """

    name: str
    first: float
    second: float
    environment: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def compiling(self) -> float:
        """Seconds that only the first gradient takes; never less than 0."""
        return max(0.0, self.first - self.second)

    def page(self) -> Page:
        rows = (
            ("first call", engineering(self.first, "s")),
            ("later call", engineering(self.second, "s")),
            ("only at the first", engineering(self.compiling, "s")),
        )
        return Page(tables=(Table(f"Time to the first gradient of {self.name}", ("call", "time"), rows),))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "first": self.first,
            "second": self.second,
            "environment": self.environment,
        }

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> FirstGradient:
        """The times written by `to_dict`."""
        first, second = saved_number(saved["first"]), saved_number(saved["second"])
        return cls(str(saved["name"]), first, second, dict(saved["environment"]))


def first_gradient(
    f: Callable[..., Any], *args: Any, cache: Cache | None = None, clock: Clock = wall, **kwargs: Any
) -> FirstGradient:
    """Time the first and the third gradient of `f` with a new cache, in which nothing is derived yet.

    What cannot be undone is not counted: loading NumPy, and reading the source of `f` if that was done
    before. For a function that does not return a scalar, the value and the pullback of a seed of ones are
    timed, as in `gradient_duel`.

    Parameters
    ----------
    f : callable
        The function to differentiate.
    *args
        Its positional arguments.
    cache : Cache, optional
        A cache to use instead of a new one: what it contains is not derived again.
    clock : callable
        A function that returns the time in seconds.
    **kwargs
        Its keyword arguments.

    Returns
    -------
    FirstGradient
        The times.

    Raises
    ------
    RuleLabError
        Whatever the gradient of `f` raises.

    Examples
    --------
    >>> found = first_gradient(lambda x: x * x, 3.0)
    >>> found.first > found.second
    True
    """
    __tracebackhide__ = True
    return first_gradient_of(f, args, kwargs, cache=cache, clock=clock)


def first_gradient_of(
    f: Callable, args: tuple, kwargs: dict, *, cache: Cache | None = None, clock: Clock = wall
) -> FirstGradient:
    """Like `first_gradient`, but for a function that may itself have keywords `cache` or `clock`."""
    __tracebackhide__ = True
    args, kwargs = copied(f, args, kwargs)
    fresh = Cache() if cache is None else cache
    ad = SimpleNamespace(
        gradient=partial(reverse.gradient, cache=fresh), pullback=partial(reverse.pullback, cache=fresh)
    )
    thunk = timed_gradient(f, args, kwargs, ad).thunk
    first = seconds_per_call(thunk, 1, clock)
    thunk()
    second = seconds_per_call(thunk, 1, clock)
    return FirstGradient(name_of(f), first, second, environment())
