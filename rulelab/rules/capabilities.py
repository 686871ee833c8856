"""What the AD that uses a rule can do, and how the rule calls back into it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ..errors import RuleError, RuleRegistrationError
from ..own_code import holds_no_authors

holds_no_authors(__name__)


class Capability(enum.Enum):
    """A capability that an AD declares in a `RuleConfig`."""

    HasReverseMode = "reverse"
    NoReverseMode = "no reverse"
    HasForwardsMode = "forwards"
    NoForwardsMode = "no forwards"
    SupportsMutation = "mutation"
    NoMutation = "no mutation"

    def __repr__(self):
        return self.name


HasReverseMode = Capability.HasReverseMode
NoReverseMode = Capability.NoReverseMode
HasForwardsMode = Capability.HasForwardsMode
NoForwardsMode = Capability.NoForwardsMode
SupportsMutation = Capability.SupportsMutation
NoMutation = Capability.NoMutation


def capabilities(requires):
    """Return the set of capabilities that a rule requires, given as members of Capability or their values,
    such as "reverse".

    >>> capabilities({"reverse"})
    frozenset({HasReverseMode})
    """
    items = (requires,) if isinstance(requires, (str, Capability)) else tuple(requires or ())
    try:
        return frozenset(Capability(item) for item in items)
    except ValueError:
        known = ", ".join(repr(c.value) for c in Capability)
        words = f"requires must be one of {known}, or several of them, not {requires!r}"
        raise RuleRegistrationError(words) from None


def check_tangents(count, args, words):
    """Raise RuleError unless `frule_via_ad` is given the tangents of the function and of each of `args`;
    those of the keywords may follow.
    """
    if not 1 + len(args) <= count <= 1 + len(args) + len(words):
        raise RuleError(
            f"{count} tangents for a function and its {len(args)} positional "
            f"argument{'s' * (len(args) != 1)}",
            asked="config.frule_via_ad(tangents, f, *args)",
            fixes=("give one for f and one for each positional argument, NoTangent() for a constant",),
        )


class RuleConfig:
    """What the calling AD can do. A rule with `requires` gets it as its first argument.

    Parameters
    ----------
    *traits : str or Capability
        What else it can or cannot do. An AD that undoes changes of arguments provides "mutation"; that of
        rulelab does not, so a rule that requires it is for other ADs.
    reverse : callable, optional
        `reverse(f, *args, **kwargs)` returns `(y, pullback)`; with it, the AD HasReverseMode.
    forwards : callable, optional
        `forwards(tangents, f, *args)` returns `(y, y_dot)`; with it, the AD HasForwardsMode.

    Raises
    ------
    RuleRegistrationError
        For a trait that does not exist.

    Examples
    --------
    >>> RuleConfig(reverse=lambda f, x: (f(x), None))
    RuleConfig(HasReverseMode, NoForwardsMode, NoMutation)
    """

    __slots__ = ("_forwards", "_reverse", "traits")

    def __init__(self, *traits: Any, reverse: Any = None, forwards: Any = None) -> None:
        self._reverse = reverse
        self._forwards = forwards
        given = set(capabilities(traits))
        if not given & {HasReverseMode, NoReverseMode}:
            given.add(NoReverseMode if reverse is None else HasReverseMode)
        if not given & {HasForwardsMode, NoForwardsMode}:
            given.add(NoForwardsMode if forwards is None else HasForwardsMode)
        if not given & {SupportsMutation, NoMutation}:
            given.add(NoMutation)
        self.traits = frozenset(given)

    def provides(self, requires: Any) -> bool:
        """Whether the AD has all these capabilities."""
        return requires <= self.traits

    def rrule_via_ad(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return `(y, pullback)` of `f` by the calling AD: by a rule if there is one, else by its own reverse
        mode.

        Parameters
        ----------
        f : callable
            The function to differentiate.
        *args
            Its positional arguments.
        **kwargs
            Its keyword arguments, which are constants.

        Returns
        -------
        tuple
            The value, and a function that maps the cotangent of y to those of f and of `args`.

        Raises
        ------
        RuleError
            If the AD has no reverse mode.

        Examples
        --------
        >>> from rulelab import pullback
        >>> def reverse(f, *args):
        ...     y, back = pullback(f, *args)
        ...     return y, lambda y_bar: (None, *back(y_bar))
        >>> y, back = RuleConfig(reverse=reverse).rrule_via_ad(lambda x: x * x, 3.0)
        >>> y, back(1.0)
        (9.0, (None, 6.0))
        """
        if self._reverse is None:
            raise RuleError(
                f"{self!r} cannot differentiate in reverse mode", fixes=('state requires={"reverse"}',)
            )
        return self._reverse(f, *args, **kwargs)

    def frule_via_ad(
        self,
        tangents: tuple[Any, ...],
        f: Callable[..., Any],
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Return `(y, y_dot)` of `f` by the calling AD.

        Parameters
        ----------
        tangents : tuple
            One for `f`, one for each of `args`. Tangents of the keyword arguments may follow; otherwise
            these are constants.
        f : callable
            The function to differentiate.
        *args
            Its positional arguments.
        **kwargs
            Its keyword arguments.

        Returns
        -------
        tuple
            The value and its tangent.

        Raises
        ------
        RuleError
            If the AD has no forward mode.

        Examples
        --------
        >>> def forwards(tangents, f, x):
        ...     return f(x), 2 * x * tangents[1]  # an AD that knows one function
        >>> RuleConfig(forwards=forwards).frule_via_ad((None, 1.0), lambda x: x * x, 3.0)
        (9.0, 6.0)
        """
        if self._forwards is None:
            raise RuleError(
                f"{self!r} cannot differentiate in forward mode", fixes=('state requires={"forwards"}',)
            )
        return self._forwards(tangents, f, *args, **kwargs)

    def __repr__(self):
        return f"RuleConfig({', '.join(c.name for c in Capability if c in self.traits)})"
