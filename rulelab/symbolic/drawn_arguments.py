"""Arguments of the kinds with which numeric checks judge a rule, for functions that accept no numbers,
vectors and matrices in all positions: functions with indices, counts or structures among their arguments.
"""

from __future__ import annotations

import math
import types
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..ad.reverse import pullback
from ..checking.testing.meant import IntendedArguments
from ..errors import RuleLabError
from ..rules.authoring import rrule_for
from ..rules.registry import Registry
from ..tangents.zeros import NoTangent
from .cells import Symmetric, shape_of
from .plain_values import plain_argument
from .questions import NO_DEFAULT, NoRuleFound, Plan, kind_of, positional_parameters
from .structured import StructuredQuestion, named, structured

DRAWS = 4
"""The number of arguments that are drawn for one choice of kinds; their lengths may differ."""
SIZES = 2
"""The number of sizes that a proof covers."""


class DrawnArguments(NamedTuple):
    """Arguments that were drawn, none if no kinds were found; their kinds in words; and whether there are
    arrays among them which may have other lengths.
    """

    args: tuple = ()
    kinds: str = ""
    has_free_lengths: bool = False


def drawn_arguments(f: types.FunctionType) -> DrawnArguments:
    """Arguments of the kinds that a function without a rule is probably for: those that a check would draw,
    had the function a rule for the derivative that the AD gives.
    """
    plain = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    plain.__kwdefaults__ = f.__kwdefaults__

    def by_the_ad(*args: Any, **kwargs: Any) -> Any:
        y, back = pullback(plain, *args, **kwargs)
        return y, lambda y_bar: (NoTangent(), *(NoTangent() if bar is None else bar for bar in back(y_bar)))

    registry = Registry()
    try:
        rrule_for(f, registry=registry)(by_the_ad)
    except RuleLabError:
        return DrawnArguments()
    meant = IntendedArguments(f, {}, registry)
    if not meant.kinds:
        return DrawnArguments()
    kinds, args = meant.kinds[0], meant.guesser.drawn(meant.kinds[0])
    words = ", ".join(f"{name}: {kind}" for name, kind in zip(meant.guesser.names, kinds))
    are_free = (np.ndim(x) and not _are_numbers(kind.dims) for x, kind in zip(args, kinds))
    return DrawnArguments(args, words, any(are_free))


def _are_numbers(lengths: tuple) -> bool:
    return bool(lengths) and all(isinstance(length, int) for length in lengths)


class DrawnQuestion(NamedTuple):
    """A question about drawn arguments, and the plans for it, the one without limits first; `names` are those
    of the parts that vary.
    """

    names: tuple[str, ...]
    plans: tuple[Plan, ...]
    question: StructuredQuestion


def drawn_question(
    f: Any, rule: Any, meant: IntendedArguments, name: str | None, kwargs: dict | None
) -> DrawnQuestion | None:
    """Return the question about a rule for the kinds of arguments that it is probably intended for; None if
    there are none that can be traced, or no rule for them.
    """
    guesser, defaults = meant.guesser, _defaults(f, kwargs)
    if not meant.kinds or defaults is None:
        return None
    kinds = meant.kinds[0]
    with guesser.keeping_generator():
        drawn = [guesser.draw(kinds, number) for number in range(DRAWS)]
    choices = [(*args, *defaults[len(args) :]) for args in drawn]
    if any(default is NO_DEFAULT for default in choices[0]):
        return None
    try:
        names, samples, question = structured(f, rule, choices, meant.registry, name, kwargs)
    except NoRuleFound:
        return None
    forms = dict(_by_name(guesser.names, kinds))
    are_right = [guesser.seems_right(_args(question, sample, len(kinds))) for sample in samples]
    # Flags are held fixed: a rule that is right for some drawn flags only is judged where it is not.
    is_by_luck = any(kind.form in ("mask", "flags") for kind in kinds) and any(are_right)
    wanted = not is_by_luck or all(are_right)
    fitting = [sample for sample, is_right in zip(samples, are_right) if is_right == wanted]
    fitting.sort(key=lambda sample: not _is_mixed(_args(question, sample, len(kinds))))
    specs = [_spec(names, sample, forms) for sample in (fitting or samples[:1])]
    limits = tuple(map(_limit, map(forms.get, names)))
    sizes = dict.fromkeys(spec for spec in specs if spec is not None)
    if not sizes:
        return None
    plan = Plan(tuple(sizes)[:SIZES])
    return DrawnQuestion(names, (plan, plan._replace(limits=limits)) if any(limits) else (plan,), question)


def _defaults(f, kwargs):
    """The defaults of the positional parameters; None if there is a `*args` parameter."""
    try:
        return positional_parameters(f, None, kwargs or ())[1]
    except (TypeError, ValueError):
        return None


def _args(question, sample, count):
    return question.arguments(map(plain_argument, sample))[:count]


def _is_mixed(args):
    """Whether each array of flags has both values: if none is set, a sum over those that are is empty."""
    flags = (x for x in args if getattr(getattr(x, "dtype", None), "kind", "") == "b")
    return all(0 < x.sum() < x.size for x in flags)


def _by_name(names, kinds):
    """Yield the kinds of the parts that vary, with their names in a proof."""
    for name, kind in zip(names, kinds):
        if kind.made is None:
            yield name, kind
        else:
            yield from _by_name([named(name, key) for key, _ in kind.parts], [part for _, part in kind.parts])


def _spec(names, sample, forms):
    """The kinds of a sample; None if it has symmetric matrices that need not be positive definite."""
    spec = []
    for name, kind in zip(names, map(kind_of, sample)):
        form = forms[name].form if name in forms else ""
        if form == "symmetric":
            return None
        spec.append(Symmetric(shape_of(kind)[0]) if form == "positive definite" else kind)
    return tuple(spec)


def _limit(kind):
    """The interval of a kind, as exact numbers; None if it has none."""
    if kind is None or kind.form not in _OF_NUMBERS or kind.low == -math.inf and kind.high == math.inf:
        return None
    return tuple(end if math.isinf(end) else Fraction(repr(float(end))) for end in (kind.low, kind.high))


_OF_NUMBERS = ("number", "vector", "rows", "columns", "matrix", "square", "array")
