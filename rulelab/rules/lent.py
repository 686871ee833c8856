"""Check that a rule leaves its arguments and cotangent unchanged, and shares no memory with them."""

from __future__ import annotations

import contextlib
import copy
import types
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..errors import RuleDtypeError, RuleEffectsError, RuleError, an
from ..tangents.algebra import is_number
from ..tangents.holding import captured
from ..tangents.structural import Tangent, entries_of, parts
from ..tangents.thunks import InplaceableThunk, Thunk, unthunk
from ..tangents.zeros import AbstractZero
from .binding import Binder
from .capabilities import SupportsMutation

FIRST_CALLS = 3
"""The number of first calls of each rule in which its arguments are checked even outside debug mode."""
_DEEPEST = 6
# Limit of the search for shared elements; beyond it, overlapping bounds count as shared.
_FEW_STEPS: Any = 10_000


class _Debugging:
    """Whether every rule of an author is checked at every call."""

    __slots__ = ("rules",)  # faster to read than class attributes

    def __init__(self):
        self.rules = False


DEBUGGING = _Debugging()


class Lent:
    """Named values, with fingerprints taken when they were passed: of arrays, and with `containers` of
    containers.
    """

    def __init__(self, named, containers=False):
        found = [(name, leaf, holder) for name, x in named for holder, leaf in _leaves(x)]
        if not (containers or DEBUGGING.rules):  # the caller checks containers (`memory/snapshots.py`)
            found = [(name, leaf, _always) for name, leaf, _ in found if isinstance(leaf, np.ndarray)]
            named = ()
        self.leaves = [(name, leaf, holder, _print(leaf)) for name, leaf, holder in found]
        self.sizes = [(name, x, len(x)) for name, x in named if isinstance(x, (list, dict))]

    def changed(self):
        """The name of the first value that has changed; None if none has."""
        for name, leaf, still_there, print_ in self.leaves:
            if _print(leaf) != print_ or not still_there(leaf):
                return name
        return next((name for name, x, size in self.sizes if len(x) != size), None)

    def arrays(self):
        """The arrays among the values, with their names."""
        return [(name, leaf) for name, leaf, _, _ in self.leaves if isinstance(leaf, np.ndarray)]


def _leaves(x, depth=_DEEPEST, seen=None):
    """Yield the arrays and numbers in a value, each with a predicate that says whether it is still in its
    place.
    """
    seen = set() if seen is None else seen
    if isinstance(x, np.ndarray) or is_number(x):
        yield _always, x
        return
    if depth == 0 or id(x) in seen or isinstance(x, (str, bytes, type, types.ModuleType, Thunk)):
        return
    seen.add(id(x))
    if callable(x) and not _has_parts(x):
        return
    for key, part in list(_parts(x).items()):
        for holder, leaf in _leaves(part, depth - 1, seen):
            yield (_holds(x, key) if leaf is part else holder), leaf


def _parts(x):
    return entries_of(x) if isinstance(x, Tangent) else parts(x)


def _has_parts(x):
    return hasattr(x, "__dict__") and not isinstance(x, (types.FunctionType, types.BuiltinFunctionType))


def _always(_leaf):
    return True


def _holds(x, key):
    # An int in an object may count calls; a derivative can only reach a float, a complex number or an array.
    def still(leaf):
        return isinstance(leaf, int) or _same(_parts(x).get(key), leaf)

    return still


def _same(one, other):
    return one is other or (is_number(one) and is_number(other) and (one == other or one != one))


def _print(leaf):
    """A fingerprint of the contents."""
    if not isinstance(leaf, np.ndarray):
        return None
    if leaf.dtype.hasobject:
        return tuple(map(id, leaf.ravel().tolist()))
    return leaf.dtype, leaf.shape, hash(leaf.tobytes())


_GIVEN_COPIES: ContextVar[bool] = ContextVar("given_copies", default=False)


@contextlib.contextmanager
def given_copies() -> Iterator[None]:
    """Context in which rules get copies of their arguments and may change them. They are not checked then, so
    their results do not depend on how often they were called before.
    """
    token = _GIVEN_COPIES.set(True)
    try:
        yield
    finally:
        _GIVEN_COPIES.reset(token)


# -- checks of the value -------------------------------------------------------------------------------------


class Watch:
    """Checks of one call of an author's rrule: its `arguments` before and after, and its pullback at each
    use.
    """

    @staticmethod
    def of(rule, target, positional, keywords):
        """Return the checks of a call, in debug mode and for a new rule; otherwise None."""
        if DEBUGGING.rules:
            return Watch(rule, target, positional, keywords)
        calls = rule.tags.get("calls", 0)
        if calls >= FIRST_CALLS or SupportsMutation in rule.requires or _GIVEN_COPIES.get():
            return None
        rule.tags["calls"] = calls + 1
        return Watch(rule, target, positional, keywords)

    def __init__(self, rule, target, positional, keywords):
        self.rule, self.target, self.positional, self.keywords = rule, target, positional, keywords
        self.names = Binder.of(target).names(len(positional))
        self.arguments = Lent([*zip(self.names, positional), *keywords.items()])
        self.primal = self._primal() if DEBUGGING.rules and SupportsMutation not in rule.requires else None

    def _primal(self):
        """The value of the function itself for copies of the arguments, in a tuple; None if copying or the
        call fails. Raises RuleEffectsError if it changes them.
        """
        try:
            args, kwargs = copy.deepcopy((self.positional, self.keywords))
            before = Lent([*zip(self.names, args), *kwargs.items()])
            with np.errstate(all="ignore"):
                y = self.target(*args, **kwargs)
        except Exception:
            return None
        changed = before.changed()
        if changed is not None:
            raise self._changes_arguments(changed)
        return (y,)

    def after_value(self, y):
        """Raise RuleEffectsError if an argument has changed; in debug mode check the value as well."""
        if SupportsMutation in self.rule.requires:
            return
        changed = self.arguments.changed()
        if changed is not None:
            raise self._changes_arguments(changed)
        if self.primal is not None:
            self._check_kind(y, self.primal[0])

    def _changes_arguments(self, name):
        """The error for a call that changes an argument, be it in the rule or in the function that it is
        for.
        """
        rule = self.rule
        return RuleEffectsError(
            f"{_named(rule)} or {rule.target_name} itself changes its argument {name}: other uses of it "
            "would silently be wrong",
            asked=f"the rule of {rule.target_name}",
            place=rule.place,
            fixes=(
                "work on a copy",
                f"have {rule.target_name} return the new value: no rule can make up for a function that "
                "writes to its argument",
            ),
            read="howto/mutation#give-it-a-rule",
        )

    def _check_kind(self, y, plain, what="a value"):
        """Raise RuleError unless the rule's value has the type, shape and dtype of the function's own."""
        if isinstance(plain, (list, tuple)) and isinstance(y, (list, tuple)) and len(y) == len(plain):
            for part, other in zip(y, plain):
                self._check_kind(part, other, "a part")
            return
        if _kind(y) != _kind(plain):
            kind = RuleDtypeError if np.shape(y) == np.shape(plain) else RuleError
            name = self.rule.target_name
            raise kind(
                f"{_named(self.rule)} gives {what} that is {_kind(y)}, but {name} itself gives "
                f"{_kind(plain)}",
                asked=f"the rule of {name}",
                place=self.rule.place,
                fixes=("return what the function returns",),
            )


def _kind(y):
    if isinstance(y, np.ndarray):
        return f"{y.dtype} of shape {y.shape}"
    if is_number(y):
        return f"{np.asarray(y).dtype} of shape ()"
    return f"{an(type(y).__name__)}" + (f" of {len(y)}" if isinstance(y, (list, tuple)) else "")


def _named(rule):
    return f"the {rule.mode} {getattr(rule.function, '__name__', '?')}"


# -- checks of the pullback ----------------------------------------------------------------------------------


def watched_cotangents(watch, wrong, pullback, y, y_bar, check):
    """Return what a pullback gives for ȳ, with all thunks evaluated, after every check of debug mode.

    `check(answer)` returns the checked cotangents; `wrong(text, *fixes, kind=...)` makes an error.
    """
    lent = Lent([("its cotangent", y_bar), ("its value", y), *zip(watch.names, watch.positional)])
    first = check(pullback(y_bar))
    _check_in_place(wrong, first)
    first = tuple(map(_evaluated, first))
    _check_lent(wrong, lent)
    known = [*lent.arrays(), *_own_arrays(pullback)]
    for name, bar in zip(("itself", *watch.names), first):
        for leaf in _arrays(bar):
            _check_own(wrong, name, leaf, known)
        known += [(f"the cotangent of {name}", leaf) for leaf in _arrays(bar)]
    for name, x, bar in zip(watch.names, watch.positional, first[1:]):
        _check_numbers(wrong, name, x, bar, y_bar)
    prints = _prints(first)
    again = tuple(map(_evaluated, check(pullback(y_bar))))
    if _prints(first) != prints:
        raise wrong(
            "changed what it had returned before when it was called again",
            "make a new array at each call",
            kind=RuleEffectsError,
        )
    if _prints(again) != prints:
        raise wrong(
            "gives a different answer when it is called again with the same cotangent",
            "do not change what it uses",
            kind=RuleEffectsError,
        )
    _check_lent(wrong, lent)
    return again


def _check_lent(wrong, lent):
    changed = lent.changed()
    if changed is not None:
        name = changed if changed.startswith("its ") else f"the argument {changed}"
        raise wrong(f"changed {name}, which belongs to the caller", "work on a copy", kind=RuleEffectsError)


def _evaluated(bar):
    bar = unthunk(bar)
    if isinstance(bar, Tangent):
        for part in entries_of(bar).values():
            unthunk(part)
    return bar


def _check_in_place(wrong, bars):
    """Raise RuleError for an InplaceableThunk whose in-place form does not add its value."""
    for bar in bars:
        if isinstance(bar, InplaceableThunk):
            value = np.asarray(bar.unthunk())
            held = np.ones(value.shape, np.result_type(value, float))
            total = bar.add_into(held.copy())
            if not isinstance(total, np.ndarray) or not np.allclose(total, held + value, equal_nan=True):
                raise wrong(
                    "returned an InplaceableThunk whose add_into does not return the sum",
                    "end it with `return acc`",
                    kind=RuleEffectsError,
                )


def _arrays(bar) -> Iterator[np.ndarray]:
    bar = unthunk(bar)
    if isinstance(bar, np.ndarray):
        yield bar
    elif isinstance(bar, (Tangent, list, tuple, dict)):
        for part in _parts(bar).values():
            yield from _arrays(part)


def _own_arrays(pullback):
    """Yield the arrays that a pullback keeps, with the names of the variables."""
    for name, x in captured(getattr(pullback, "__wrapped__", pullback)).items():
        yield from ((f"{name}, which the pullback keeps", leaf) for leaf in _arrays(x))


def _check_own(wrong, name, leaf, known):
    if not leaf.flags.writeable and leaf.size:
        raise _of_sharing(
            wrong(
                f"returned an array for {name} that cannot be written to",
                "return a new array: np.array(x_bar)",
                kind=RuleEffectsError,
            )
        )
    for other, array in known:
        if shares(leaf, array):
            raise _of_sharing(
                wrong(
                    f"returned an array for {name} that shares memory with {other}",
                    "return a new array: x_bar.copy()",
                    kind=RuleEffectsError,
                )
            )


def _of_sharing(error):
    """Mark an error as one about shared memory, as distinct from one about changes."""
    error.is_sharing = True
    return error


def shares(one, other):
    """Whether two arrays have an element in common.

    >>> x = np.zeros(4)
    >>> shares(x, x[1:]), shares(x[::2], x[1::2]), shares(x, x.copy())
    (True, False, False)
    """
    try:
        return bool(one.size and other.size and np.shares_memory(one, other, max_work=_FEW_STEPS))
    except np.exceptions.TooHardError:
        return True


def _check_numbers(wrong, name, x, bar, y_bar):
    """Raise an error unless a cotangent is finite, provided that everything it is computed from is."""
    bar = unthunk(bar)
    if isinstance(bar, AbstractZero) or not (isinstance(bar, np.ndarray) or is_number(bar)):
        return
    given = [leaf for value in (x, y_bar) for _, leaf in _leaves(value)]
    if not np.all(np.isfinite(bar)) and all(np.all(np.isfinite(leaf)) for leaf in given):
        raise wrong(
            f"returned {'nan' if np.any(np.isnan(bar)) else 'inf'} for {name}, from finite numbers",
            "choose the derivative there",
        )


def check_precision(wrong, name, x, bar):
    """Raise RuleDtypeError for an unprojected cotangent whose dtype is less precise than that of its
    argument.
    """
    bar = unthunk(bar)
    if not (isinstance(x, np.ndarray) and isinstance(bar, np.ndarray)) or x.dtype.kind not in "fc":
        return
    if bar.dtype.kind not in "fc" or np.finfo(bar.dtype).eps > np.finfo(x.dtype).eps:
        raise wrong(
            f"returned a {bar.dtype} array for {name}, which is {x.dtype}: digits are lost",
            f"return one of dtype {x.dtype}",
            kind=RuleDtypeError,
        )


def _prints(bars):
    return [[_print(leaf) for leaf in _arrays(bar)] or repr(bar) for bar in bars]


# -- checks of a forward rule --------------------------------------------------------------------------------


class ForwardWatch:
    """Checks of one call of an author's frule in debug mode: its arguments and tangents before and after."""

    def __init__(self, rule, args, tangents):
        self.rule = rule
        self.args = Lent([(f"its argument {number + 1}", x) for number, x in enumerate(args)])
        self.tangents = Lent([(f"the tangent of argument {n + 1}", x) for n, x in enumerate(tangents)])

    def check(self, y, y_dot):
        """Raise RuleError, or a subclass, for what the rule did or returned."""
        changed = self.args.changed() or self.tangents.changed()
        if changed is not None:
            raise self._wrong(f"changed {changed}, which belongs to the caller", "work on a copy")
        arrays = [leaf for _, leaf in self.args.arrays()]
        view = any(shares(a, x) for a in _arrays(y) for x in arrays)  # then its tangent is a view, too
        known = [*self.args.arrays(), *(() if view else self.tangents.arrays())]
        known += [("its value", leaf) for leaf in _arrays(y)]
        for leaf in _arrays(y_dot):
            for name, array in known:
                if shares(leaf, array):
                    words = f"returned a tangent that shares memory with {name}"
                    raise _of_sharing(self._wrong(words, "return a new array"))
        given = [leaf for lent in (self.args, self.tangents) for _, leaf, _, _ in lent.leaves]
        given += list(_arrays(y))
        numbers = [leaf for _, leaf in _leaves(unthunk(y_dot))]
        if not all(np.all(np.isfinite(n)) for n in numbers) and all(np.all(np.isfinite(x)) for x in given):
            raise self._wrong(
                "returned a tangent that is not finite, from finite numbers",
                "choose the tangent there",
                RuleError,
            )
        if isinstance(y, np.ndarray):
            check_precision(lambda text, fix, kind: self._wrong(text, fix, kind), "the tangent", y, y_dot)

    def _wrong(self, text, fix, kind=RuleEffectsError):
        rule = self.rule
        return kind(
            f"{_named(rule)} of {rule.target_name} {text}",
            asked=f"the frule of {rule.target_name}",
            place=rule.place,
            fixes=(fix,),
        )
