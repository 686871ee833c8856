"""A function and its twin side by side: their values, every gradient, where they differ most, and the verdict
in words.

A gradient calls a rule with the seed 1 only, for which a rule that forgets to multiply by its cotangent is
right. So the pullbacks are compared with another seed too, and a rule whose `back(2)` equals `back(1)` is
reported.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ad import reverse
from ...annotations import signature_of_callable
from ...compiler.calls.cache import DEFAULT, Cache, Pass
from ...errors import RuleLabError
from ...rules.authoring import has_rrule, without_rule
from ...rules.registry import Found
from ...rules.targets import resolve
from ...tangents.projection import FieldGradients
from .. import findiff
from ..measuring.shortening import is_numeric, number_in_short, shortened
from ..probing.forms import forms_read, symmetric_part
from .compared import Comparison, Difference


@dataclass(frozen=True)
class Settings:
    """Settings of a comparison, separate from its arguments, since keywords belong to the functions compared.

    Parameters
    ----------
    rtol : float, optional
        The relative difference that still counts as agreement; the default depends on the dtype and on
        whether finite differences are involved.
    rng : numpy.random.Generator
        The generator of the seeds.
    ad : object, optional
        The AD, an object with `gradient` and `pullback`; rulelab's own reverse mode by default.
    names : tuple of str, optional
        The names of the two functions in the report, if not their own.

    Examples
    --------
    >>> compare(lambda x: x, lambda x: 1.001 * x, 1.0, settings=Settings(rtol=0.01)).agree
    True
    """

    rtol: float | None = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(20))
    ad: Any = None
    names: tuple[str, str] | None = None


def compare(
    f: Callable[..., Any],
    f_cr: Callable[..., Any],
    *args: Any,
    without: bool = False,
    settings: Settings | None = None,
    **kwargs: Any,
) -> Comparison:
    """Values and gradients of `f` and of `f_cr` at `args`, side by side.

    If `f` is refused (it mutates, it calls C), its column has finite differences of `f`, and the result says
    why.

    Parameters
    ----------
    f : callable
        The function; with `without`, a whole loss.
    f_cr : callable
        Its twin with the rule; with `without`, a function in the loss whose rule is left out on the left
        side, as in `compare_without`.
    *args
        The arguments at which both are called.
    without : bool
        Whether to compare a loss with and without a rule.
    settings : Settings, optional
        How closely the two have to agree, which seeds are drawn, and what the two are called.
    **kwargs
        Keyword arguments of both functions, which are constants.

    Returns
    -------
    Comparison
        Both columns, with a verdict in words; `agree` says whether they agree.

    Raises
    ------
    RuleLabError
        If the gradient of `f_cr` raises it. An error in its rule is raised as it is.

    Examples
    --------
    >>> import rulelab as rl
    >>> def f(x): return x**3
    >>> found = rl.compare(f, lambda x: x * x * x, 2.0)
    >>> found.agree, found.gradients[0].name
    (True, 'gradient of x')
    """
    __tracebackhide__ = True
    if without:
        return compare_without(f, f_cr, *args, settings=settings, **kwargs)
    reverse.need_positional(f, args, kwargs)
    settings = settings or Settings()
    ad, names = settings.ad or reverse, _common_names(f, f_cr, args)
    f_name, f_cr_name = settings.names or (_name(f), _name(f_cr))
    left = _Side(f_name, f, args, kwargs, ad, names, title=_title(f, f_name, settings))
    right = _Side(f_cr_name, f_cr, args, kwargs, ad, names, title=_title(f_cr, f_cr_name, settings))
    return _compared(left, right, settings, subject=f_cr_name)


def compare_without(
    loss: Callable[..., Any],
    f: Callable[..., Any],
    *args: Any,
    settings: Settings | None = None,
    **kwargs: Any,
) -> Comparison:
    """The gradient of a whole `loss` without the rule of `f` (left) and with it (right), side by side.

    Parameters
    ----------
    loss : callable
        A function that calls `f`.
    f : callable
        The function with the rule.
    *args
        The arguments of the loss.
    settings : Settings, optional
        How closely the two have to agree, which seeds are drawn, and what they are called.
    **kwargs
        Keyword arguments of the loss, which are constants.

    Returns
    -------
    Comparison
        Both columns, with a verdict in words. If `loss` does not reach `f` at `args`, or `f` has no rule,
        both sides are the same: `agree` is then False, and the verdict "cannot tell" says why.

    Raises
    ------
    RuleLabError
        If the gradient of `loss` with the rule raises it.

    Examples
    --------
    >>> import math
    >>> compare_without(lambda x: math.hypot(x, 4.0) ** 2, math.hypot, 3.0).agree
    True
    """
    __tracebackhide__ = True
    reverse.need_positional(loss, args, kwargs)
    settings = settings or Settings()
    ad, names = settings.ad or reverse, argument_names(loss, args)
    loss_name, f_name = settings.names or (_name(loss), _name(f))
    left_name = f"{loss_name} without the rule of {f_name}"
    left = _Side(left_name, loss, args, kwargs, ad, names, lambda: without_rule(f), f"value of {left_name}")
    title = f"value of {loss_name} with the rule of {f_name}"
    right = _Side(f"{loss_name} with it", loss, args, kwargs, ad, names, title=title)
    unasked = _why_rule_is_unused(right, f, f_name) if settings.ad is None else None
    return dataclasses.replace(_compared(left, right, settings, subject=f_name), unasked=unasked)


def first_difference(f: Callable, f_cr: Callable, args: tuple, kwargs: dict) -> Difference | None:
    """The first value or cotangent in which the two differ, by one pullback of each with a random seed; None
    if they agree, or if one of them is refused.

    This is a quick test before doing something else; `compare` gives the whole result.

    >>> print(first_difference(lambda x: x * x, lambda x: x * x, (2.0,), {}))
    None
    """
    __tracebackhide__ = True
    names, settings = _common_names(f, f_cr, args), Settings()
    left = _Side(_name(f), f, args, kwargs, reverse, names)
    right = _Side(_name(f_cr), f_cr, args, kwargs, reverse, names)
    seed = _random_seed(right.value(), settings.rng)
    try:
        left_y, left_bars = left.pulled_back(seed)
        right_y, right_bars = right.pulled_back(seed)
    except RuleLabError:
        return None
    tell = _Comparer(None, False, whole=_of_integers(right))
    values = tell.all(dict(named_leaves("value", left_y)), dict(named_leaves("value", right_y)), "{}")
    bars = left.leaves(left_bars), right.leaves(right_bars)
    told = values + tell.all_as_intended(left, *bars, "gradient of {}")
    return next((d for d in told if not d.agree), None)


def _title(f: Callable, name: str, settings: Settings) -> str:
    """The name of the value that comes with the gradient, if it is not that of the plain call."""
    ruled = settings.ad is not None or has_rrule(f)
    return f"value of {name} {'by its rule' if ruled else 'with its gradient'}"


class _Watched(Cache):
    """A new cache that notes whether the rule of one target is used in what is derived with it."""

    def __init__(self, target: Any):
        super().__init__()
        self.target, self.asked = target, False

    def ask(self, target: Any, types_of_arguments: tuple, config: Any = None, mode: str = "rrule") -> Any:
        answer = super().ask(target, types_of_arguments, config, mode)
        self.asked |= target is self.target and isinstance(answer, Found)
        return answer

    def store(self, function: Any, key: Any, made: Pass) -> None:
        self.asked |= any(target is self.target for target, _ in made.trail)  # a built-in rule, inlined
        super().store(function, key, made)


def _why_rule_is_unused(side: _Side, f: Callable, name: str) -> str | None:
    """Why the rule of `f` is not used in the gradient of a side, in words; None if it is used."""
    __tracebackhide__ = True
    if not has_rrule(f):
        return f"there is no rule for {name}"
    if DEFAULT.mode == "manual":
        return 'the refresh mode is manual, in which no rule is left out: rl.refresh("auto") first'
    watched = _Watched(resolve(f)[0])
    args, kwargs = side.fresh()
    reverse.pullback(side.f, *args, cache=watched, **kwargs)
    return None if watched.asked else f"the rule of {name} was not used in this call"


HELD = "its numbers are whole, and the rule gives no derivative with respect to them"


def _is_of_integers(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "iu"


@dataclass
class _Side:
    """One of the two columns: a function, its arguments, and the AD that differentiates it."""

    name: str
    f: Callable
    args: tuple
    kwargs: dict
    ad: Any
    names: list[str]
    context: Callable[[], AbstractContextManager] = nullcontext
    title: str = "value"
    by_differences: bool = False

    def fresh(self) -> tuple[tuple, dict]:
        """Copies of the arguments, since a function under test may write to them."""
        return copy.deepcopy((self.args, self.kwargs))

    def symmetric(self) -> list[str]:
        """The arguments that are symmetric matrices and treated as such (`forms_read`)."""
        rng = np.random.default_rng(0)  # a separate one, so that the seeds do not depend on this
        with self.context():
            args, kwargs = self.fresh()
            return [self.names[i] for i in forms_read(self.f, args, kwargs, rng, drawn=False)]

    def value(self):
        """The value of a plain call, in which no rule is used."""
        __tracebackhide__ = True
        with self.context():
            args, kwargs = self.fresh()
            return self.f(*args, **kwargs)

    def gradient(self) -> tuple:
        __tracebackhide__ = True
        args, kwargs = self.fresh()
        if self.by_differences:
            return findiff.gradient(self.f, *args, **kwargs)
        with self.context():
            return tuple(self.ad.gradient(self.f, *args, **kwargs))

    def pulled_back(self, seed) -> tuple[Any, tuple]:
        """The value that comes with the pullback, which may be that of a rule, and the cotangents of the
        positional arguments for this seed.
        """
        __tracebackhide__ = True
        args, kwargs = self.fresh()
        if self.by_differences:

            def paired(*xs, **kw):
                __tracebackhide__ = True
                return _inner(seed, self.f(*xs, **kw))

            return self.value(), findiff.gradient(paired, *args, **kwargs)
        with self.context():
            y, back = self.ad.pullback(self.f, *args, **kwargs)
            return y, tuple(back(seed))

    def answers(self, scalar: bool, seed) -> tuple[Any, list[dict[str, Any]]]:
        """The value, and the leaves of the gradient and of the pullback of the seed; only those of the
        pullback if not `scalar`.
        """
        __tracebackhide__ = True
        gradients = [self.leaves(self.gradient())] if scalar else []
        y, cotangents = self.pulled_back(seed)
        return y, [*gradients, self.leaves(cotangents)]

    def value_by_rule(self, y, plain, rtol: float | None) -> tuple[Difference, ...]:
        """Where the value `y` of the derived code differs from that of a plain call."""
        sides = dict(named_leaves(self.title, y)), dict(named_leaves(self.title, plain))
        told = _Comparer(rtol, False, zero_is_none=False).all(*sides, "{}")
        return tuple(
            dataclasses.replace(d, problem=f"{d.problem} by the plain call") for d in told if not d.agree
        )

    def leaves(self, gradient: tuple) -> dict[str, Any]:
        """The gradient's leaves by the names of the arguments: `x`, `params['w']`, `args[0]`."""
        return dict(leaf for name, entry in zip(self.names, gradient) for leaf in named_leaves(name, entry))


def _of_integers(side: _Side) -> frozenset[str]:
    """The arguments that are arrays of whole numbers."""
    return frozenset(name for name, x in zip(side.names, side.args) if _is_of_integers(x))


def _compared(left: _Side, right: _Side, settings: Settings, subject: str) -> Comparison:
    __tracebackhide__ = True
    plain, left_plain = right.value(), left.value()
    for side, returned in ((left, left_plain), (right, plain)):
        if not _has_numbers(returned):
            reverse.seed_for(returned, side.f, side.args)  # refuses it, as `gradient` does
    tell_values = _Comparer(settings.rtol, False, zero_is_none=False)
    if _form(left_plain) != _form(plain):  # no seed fits both
        sides = dict(named_leaves("value", left_plain)), dict(named_leaves("value", plain))
        values = tell_values.all(*sides, "{}")
        return Comparison(left.name, right.name, values, (), (), None, subject=subject)
    scalar, seed = _is_real_scalar(plain), _random_seed(plain, settings.rng)
    y, right_answers = right.answers(scalar, seed)
    left, left_y, left_answers, refused = _left_answers(left, scalar, seed)
    tell = _Comparer(settings.rtol, left.by_differences, whole=_of_integers(right))
    titles = ("gradient of {}", "pullback to {}")[0 if scalar else 1 :]
    told = [
        tell.all_as_intended(left, a, b, title) for a, b, title in zip(left_answers, right_answers, titles)
    ]
    values = tell_values.all(dict(named_leaves("value", left_y)), dict(named_leaves("value", y)), "{}")
    by_rule = right.value_by_rule(y, plain, settings.rtol)
    if not left.by_differences:
        by_rule = left.value_by_rule(left_y, left_plain, settings.rtol) + by_rule
    differ = not all(d.agree for d in values + by_rule)
    return Comparison(
        left_name=left.name,
        right_name=right.name,
        value=values,
        gradients=told[0],
        pullbacks=told[1] if scalar else (),
        seed=seed,
        ignored=_ignored(right, seed),
        refused=refused,
        subject=subject,
        by_rule=by_rule,
        unsteady=_unsteady((left, left_plain), (right, plain)) if differ else None,
    )


def _unsteady(*sides: tuple[_Side, Any]) -> str | None:
    """Which side returns a different value when it is called again, in words; None if neither does."""
    tell = _Comparer(0.0, False, zero_is_none=False)
    for side, before in sides:
        again = tell.all(dict(named_leaves("value", before)), dict(named_leaves("value", side.value())), "{}")
        if not all(difference.agree for difference in again):
            return f"{side.name} returns a different value at each call"
    return None


def _left_answers(left: _Side, scalar: bool, seed) -> tuple[_Side, Any, list[dict[str, Any]], str | None]:
    """The answers of the left side by the AD or, if it refuses, by finite differences, with the reason."""
    __tracebackhide__ = True
    try:
        return left, *left.answers(scalar, seed), None
    except RuleLabError as error:
        reason = f"{type(error).__name__}: {_headline(error)}"
    refused = f"{left.name} is refused by the AD, so its column is finite differences ({reason})."
    left = dataclasses.replace(left, by_differences=True, name=f"{left.name} (finite differences)")
    return left, *left.answers(scalar, seed), refused


def _ignored(side: _Side, seed) -> tuple[str, ...]:
    """The leaves of the pullback that are equal, and not zero, for a seed and its double."""
    __tracebackhide__ = True
    once = side.leaves(side.pulled_back(seed)[1])
    twice = side.leaves(side.pulled_back(_doubled(seed))[1])
    return tuple(
        name
        for name, leaf in once.items()
        if is_numeric(leaf)
        and is_numeric(twice.get(name))
        and np.any(leaf)
        and np.all(np.isfinite(leaf))
        and np.array_equal(leaf, twice[name])
    )


@dataclass(frozen=True)
class _Comparer:
    """Compares two numbers or arrays, as closely as their dtype and origin allow."""

    rtol: float | None
    by_differences: bool
    zero_is_none: bool = True  # true of cotangents, not of values
    whole: frozenset[str] = frozenset()  # the arguments that are arrays of whole numbers

    def all(self, left: dict[str, Any], right: dict[str, Any], title: str) -> tuple[Difference, ...]:
        fields = {n for n in {**left, **right} if "." in n and left.get(n) is right.get(n) is None}
        names = [n for n in {**left, **right} if n not in fields]  # text in an object is not compared
        told = ((n, self.one(title.format(n), left.get(n), right.get(n))) for n in names)
        return tuple(self._held(one) if n in self.whole and right.get(n) is None else one for n, one in told)

    def all_as_intended(
        self, side: _Side, left: dict[str, Any], right: dict[str, Any], title: str
    ) -> tuple[Difference, ...]:
        """The comparison of all cotangents. Those of symmetric matrices are compared by their symmetric
        parts, since in which triangle the entries are is their author's choice.
        """
        told = self.all(left, right, title)
        names = {title.format(name): name for name in left if name in side.names}
        apart = [names[d.name] for d in told if not d.agree and d.name in names]
        meant = [name for name in side.symmetric() if name in apart] if apart else ()
        return tuple(
            self._as_symmetric(d, names[d.name]) if names.get(d.name) in meant else d for d in told
        )

    def _as_symmetric(self, told: Difference, name: str) -> Difference:
        if np.shape(told.left) != np.shape(told.right) or np.ndim(told.left) != 2:
            return told
        both = self.one(told.name, *(symmetric_part(np.asarray(x)) for x in (told.left, told.right)))
        if not both.agree:
            return told
        return dataclasses.replace(both, left=told.left, right=told.right, symmetric=name)

    @staticmethod
    def _held(one: Difference) -> Difference:
        """The comparison without a problem: a rule may give no derivative with respect to whole numbers."""
        if one.problem is None:
            return one
        return dataclasses.replace(one, absolute=0.0, relative=0.0, problem=None, note=HELD)

    def one(self, name: str, left, right) -> Difference:
        if left is None or right is None:
            return self._one_missing(name, left, right)
        if not (is_numeric(left) and is_numeric(right)):
            return self._other(name, left, right)
        a, b = np.asarray(left), np.asarray(right)
        if a.shape != b.shape:
            return Difference(
                name, left, right, math.inf, math.inf, problem=f"shape {a.shape} against {b.shape}"
            )
        return self._numbers(name, left, right, a, b)

    def _one_missing(self, name, left, right) -> Difference:
        there = right if left is None else left
        if there is None:
            return Difference(name, left, right)
        if self.zero_is_none and is_numeric(there) and not np.any(there):
            return Difference(name, left, right, note="None on one side, zero on the other")
        return Difference(
            name, left, right, math.inf, math.inf, problem=f"{shortened(left)} against {shortened(right)}"
        )

    def _other(self, name, left, right) -> Difference:
        same = type(left) is type(right) and bool(np.all(left == right))
        return Difference(
            name, left, right, problem=None if same else f"{shortened(left)} against {shortened(right)}"
        )

    def _numbers(self, name, left, right, a: np.ndarray, b: np.ndarray) -> Difference:
        note = None if a.dtype == b.dtype or self.by_differences else f"dtype {a.dtype} against {b.dtype}"
        eps = max(_eps(a), _eps(b))
        a, b = _wide(a), _wide(b)
        known = np.ones(a.shape, bool) if not self.by_differences else ~np.isnan(a)
        with np.errstate(all="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | ~known
            apart = np.where(same, 0.0, np.abs(a - b))
            size = np.maximum(np.abs(a), np.abs(b))
            apart = np.where(np.isnan(apart), np.inf, apart)  # a number against nan, inf against -inf
            limit = self._limit(size, eps)
            excess = np.where(apart == 0, 0.0, apart / limit)
            excess = np.where(np.isnan(excess) | np.isinf(apart), np.inf, excess)
            relative = np.where(
                apart == 0, 0.0, np.where(np.isinf(apart), np.inf, apart / np.where(size > 0, size, 1))
            )
        if a.size == 0:
            return Difference(name, left, right, worst=(), note=note)
        worst = tuple(int(i) for i in np.unravel_index(np.argmax(excess), excess.shape))
        problem = None
        if excess[worst] > 1:
            spot = f"at {list(worst)} " if worst else ""
            problem = f"{spot}{number_in_short(a[worst])} against {number_in_short(b[worst])}"
        counted = np.where(apart > self._floor(size, eps), relative, apart / max(float(size.max()), 1e-300))
        return Difference(
            name,
            left,
            right,
            float(apart.max()),
            float(counted.max()),
            worst,
            problem,
            note,
            bool(known.all()),
        )

    def _limit(self, size: np.ndarray, eps: float) -> np.ndarray:
        """How far apart two elements may be: a fraction of their own size, plus rounding at the size of the
        largest.
        """
        rtol = (
            self.rtol if self.rtol is not None else max(1e-6 if self.by_differences else 0.0, math.sqrt(eps))
        )
        return rtol * size + self._floor(size, eps)

    def _floor(self, size: np.ndarray, eps: float) -> float:
        finite = size[np.isfinite(size)]
        scale = float(finite.max()) if finite.size else 1.0
        return scale * (1e-9 if self.by_differences else 1e3 * eps) + (1e-9 if self.by_differences else 0.0)


def argument_names(f: Callable, args: tuple) -> list[str]:
    """The names of the positional arguments by the signature of `f`: `x`, `args[0]`, `argument 1`.

    >>> argument_names(lambda x, *rest: x, (1.0, 2.0, 3.0))
    ['x', 'rest[0]', 'rest[1]']
    """
    try:
        parameters = list(signature_of_callable(f).parameters.values())
    except (TypeError, ValueError):
        return [f"argument {i + 1}" for i in range(len(args))]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "argument")
    return [names[i] if i < len(names) else f"{rest}[{i - len(names)}]" for i in range(len(args))]


def _common_names(f: Callable, f_cr: Callable, args: tuple) -> list[str]:
    """One name for each position, though the two functions may differ: that of `f`, if it has one."""
    names, others = argument_names(f, args), argument_names(f_cr, args)
    return [other if "[" in name or " " in name else name for name, other in zip(names, others)]


def named_leaves(name: str, value) -> Iterator[tuple[str, Any]]:
    """The numbers, arrays and other leaves of a value, each with the expression that leads to it.

    >>> list(named_leaves("p", {"w": (1.0, None)}))
    [("p['w'][0]", 1.0), ("p['w'][1]", None)]
    """
    if isinstance(value, FieldGradients):
        for key, entry in value._asdict().items():
            yield from named_leaves(f"{name}.{key}", entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from named_leaves(f"{name}[{key!r}]", entry)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for key in value._fields:
            yield from named_leaves(f"{name}.{key}", getattr(value, key))
    elif isinstance(value, (tuple, list)):
        for position, entry in enumerate(value):
            yield from named_leaves(f"{name}[{position}]", entry)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for part in dataclasses.fields(value):
            yield from named_leaves(f"{name}.{part.name}", getattr(value, part.name))
    else:
        yield name, value


def _random_seed(y, rng: np.random.Generator):
    """A cotangent of the structure of `y`, away from 1 and zero; None for what cannot be differentiated."""
    if isinstance(y, dict):
        return {k: _random_seed(v, rng) for k, v in y.items()}
    if isinstance(y, (tuple, list)):
        return _rebuilt(y, [_random_seed(v, rng) for v in y])
    if not is_numeric(y):
        return None
    drawn = np.round(1.5 + np.abs(rng.standard_normal(np.shape(y))), 3) * rng.choice([-1.0, 1.0], np.shape(y))
    if np.iscomplexobj(y):
        drawn = drawn + 1j * np.round(rng.standard_normal(np.shape(y)), 3)
    if np.ndim(y) == 0 and not isinstance(y, np.ndarray):
        return drawn.item() if np.ndim(drawn) == 0 and hasattr(drawn, "item") else drawn
    return np.asarray(
        drawn, dtype=np.result_type(y, np.float32) if np.asarray(y).dtype.kind in "fc" else None
    )


def _rebuilt(like, entries: list):
    """A tuple, named tuple or list with the class of `like`."""
    return like._make(entries) if hasattr(like, "_make") else type(like)(entries)


def _doubled(seed):
    if isinstance(seed, dict):
        return {k: _doubled(v) for k, v in seed.items()}
    if isinstance(seed, (tuple, list)):
        return _rebuilt(seed, [_doubled(v) for v in seed])
    return None if seed is None else seed + seed


def _has_numbers(y) -> bool:
    """Whether a result has a number for which there can be a cotangent."""
    if isinstance(y, dict):
        return any(map(_has_numbers, y.values()))
    return any(map(_has_numbers, y)) if isinstance(y, (tuple, list)) else is_numeric(y)


def _form(y) -> dict[str, Any]:
    """The shapes of the numbers in a result, by the names of its parts; None for anything else."""
    return {name: np.shape(leaf) if is_numeric(leaf) else None for name, leaf in named_leaves("", y)}


def _inner(seed, y) -> float:
    """Re <seed, y> over the whole structure: the scalar whose gradient is the pullback of the seed."""
    if seed is None:
        return 0.0
    if isinstance(seed, dict):
        return sum(_inner(s, y[k]) for k, s in seed.items())
    if isinstance(seed, (tuple, list)):
        return sum(_inner(s, v) for s, v in zip(seed, y))
    return float(np.real(np.vdot(seed, y)))


def _is_real_scalar(y) -> bool:
    # The class is tested first: NumPy treats a tuple of arrays as an array, and fails if their shapes differ.
    return isinstance(y, (int, float, np.number, np.ndarray)) and np.ndim(y) == 0 and not np.iscomplexobj(y)


def _eps(a: np.ndarray) -> float:
    return float(np.finfo(a.dtype).eps) if a.dtype.kind in "fc" else 2.0**-52


def _wide(a: np.ndarray) -> np.ndarray:
    return a.astype(complex if a.dtype.kind == "c" else float)


def _name(f) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


def _headline(error: Exception) -> str:
    return str(getattr(error, "found", error)).split("\n", 1)[0]
