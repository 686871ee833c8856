"""Comparison of a rule with its function after that was redefined: in the first calls its value is compared
with the function's own.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import RuleError, printable
from ..tangents.algebra import is_number
from .authoring import make_rule, target_for_rule
from .registry import DEFAULT

CALLS = 3
"""The number of calls in which a rule that was moved is compared."""
_ASIDE = 1 / 64  # relative distance of the second point of a comparison from the first


def move_rule(function, f, cell, renewed=None, *, registry=DEFAULT):
    """Make `function`, the reverse rule of an earlier `f`, the rule of the present `f`, in doubt.

    In its first `CALLS` calls the rule's value is compared with that of `f`, at the arguments and at a nearby
    point, since two functions may agree at the first by chance; RuleError, which names the `cell` of the
    rule, if they disagree beyond rounding. Once the rule is stated again it is no longer in doubt. `renewed`
    is the name of what was redefined, if that is not `f` but something that `f` calls. Raises
    RuleRegistrationError if `f` cannot carry the rule.

    >>> from rulelab.rules.authoring import rrule
    >>> from rulelab.rules.registry import Registry
    >>> r = Registry()
    >>> def f(x): return x**3
    >>> def f_rrule(x): return x * x, lambda y_bar: (None, 2 * x * y_bar)
    >>> move_rule(f_rrule, f, "cell In [3]", registry=r)
    >>> rrule(f, 2.0, registry=r)
    Traceback (most recent call last):
    rulelab.errors.RuleError: f was redefined and its rule f_rrule (cell In [3]) gives a different value: ...
    """
    target = target_for_rule(f)
    rule = make_rule(target, "rrule", function)
    registry.register(replace(rule, doubt=Doubt(cell, renewed)), target)


class Doubt:
    """The comparisons that a rule still needs: `left` is the number of calls to compare."""

    def __init__(self, cell: str, renewed: str | None = None):
        self.cell, self.renewed, self.left = cell, renewed, CALLS

    def __bool__(self):
        return self.left > 0

    def settle(self, rule, target, args, kwargs) -> None:
        """Compare the value of the rule for one call with the target's own; RuleError if they differ.

        Both get copies of the arguments. If copying fails, or either raises, the call does not count.
        """
        compared = False

        def by_rule(*args, **kwargs):
            return rule.function(*args, **kwargs)[0]

        for given in (args, tuple(map(_aside, args))):
            found, plain = _value(by_rule, given, kwargs), _value(target, given, kwargs)
            if found is _UNKNOWN or plain is _UNKNOWN:
                continue
            if not _agree(found, plain, _size((given, kwargs))):
                raise self._wrong(rule, found, plain)
            compared = True
        self.left -= compared

    def _wrong(self, rule, found, plain):
        name, named = rule.target_name, f"{rule.function.__name__} ({self.cell})"
        whose = f"its rule {named}" if self.renewed is None else f"the rule {named} of {name}"
        return RuleError(
            f"{self.renewed or name} was redefined and {whose} gives a different value: "
            f"{_shown(found)} against {_shown(plain)}",
            place=rule.place,
            fixes=("change the rule, or run its cell again if it is right", f"use rl.remove_rule({name})"),
        )


_UNKNOWN = object()


def _value(call, args, kwargs) -> Any:
    """The value of a call with copied arguments; _UNKNOWN if copying or the call fails."""
    try:
        args, kwargs = copy.deepcopy((args, kwargs))
        with np.errstate(all="ignore"):
            return call(*args, **kwargs)
    except Exception:
        return _UNKNOWN


def _aside(x) -> Any:
    """A value near x, if x is a number or an array of numbers; ints stay ints."""
    if not (_is_numeric(x) and np.asarray(x).dtype.kind in "fciu"):
        return x
    return x + 1 if np.asarray(x).dtype.kind in "iu" else x + x * _ASIDE + _ASIDE


def _is_numeric(x) -> bool:
    return isinstance(x, np.ndarray) or is_number(x)


def _size(given) -> float:
    """The largest magnitude among the arguments, for judging whether a value near zero may be rounding
    error.
    """
    if isinstance(given, (tuple, list)):
        return max(map(_size, given), default=0.0)
    if isinstance(given, dict):
        return _size(list(given.values()))
    numbers = np.asarray(given) if _is_numeric(given) else np.zeros(0)
    return _largest(numbers) if numbers.dtype.kind in "fciu" else 0.0


def _largest(numbers) -> float:
    sizes = np.abs(numbers)
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))


def _agree(found, plain, size) -> bool:
    """Whether two values are equal up to rounding; values that cannot be compared count as equal."""
    if isinstance(found, (tuple, list)) and isinstance(plain, (tuple, list)):
        return len(found) == len(plain) and all(_agree(a, b, size) for a, b in zip(found, plain))
    if isinstance(found, dict) and isinstance(plain, dict):
        return found.keys() == plain.keys() and all(_agree(found[key], plain[key], size) for key in plain)
    if _is_numeric(found) and _is_numeric(plain):
        return _numbers_agree(np.asarray(found), np.asarray(plain), size)
    return _is_numeric(found) == _is_numeric(plain)


def _numbers_agree(found, plain, size) -> bool:
    if found.shape != plain.shape:
        return False
    if found.dtype.kind not in "fciu" or plain.dtype.kind not in "fciu":
        return bool(np.all(found == plain))
    precise = [np.finfo(x.dtype).eps for x in (found, plain) if x.dtype.kind in "fc"]
    eps = float(max(precise, default=0.0))
    near = np.sqrt(eps) * _largest(plain) + 64 * eps * size
    with np.errstate(all="ignore"):
        same = (found == plain) | ((found != found) & (plain != plain)) | (np.abs(found - plain) <= near)
    return bool(np.all(same))


def _shown(value) -> str:
    text = str(value) if is_number(value) else np.array2string(np.asarray(value), threshold=6, edgeitems=2)
    return printable(" ".join(text.split()))[:40]
