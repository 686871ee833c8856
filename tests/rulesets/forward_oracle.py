"""The oracle of the forward rules of containers: finite differences of the plain function, part by part.

Values are moved along their tangents in the inner form, the function is run on what came out, and the results
are compared number by number. It knows nothing of the rules.
"""

import copy
import itertools
import types
from collections import deque

import numpy as np

from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.calls.pullbacks import Pullbacks
from rulelab.rules.capabilities import RuleConfig
from rulelab.rules.registry import Found, Registry
from rulelab.rules.signatures import types_of
from rulelab.rules.targets import resolve
from rulelab.rulesets.catalogue import install
from rulelab.tangents.paired_iteration import pairs
from rulelab.tangents.shadows import attributes_of, kind_of, zero_of
from rulelab.tangents.zeros import AbstractZero, NoTangent

REGISTRY = Registry()
install(REGISTRY)
FORWARDS = Pullbacks(Cache(REGISTRY)).push
STEP = 1e-6
MANY = 12  # items taken of an iterator, which may be endless
NO = NoTangent()


def rule_for(target, args):
    """The built-in forward rule for a call, or None."""
    answer = REGISTRY.ask(target, types_of(args), "frule", CONFIG)
    return answer.rule if isinstance(answer, Found) else None


def push(tangents, f, *args, **kwargs):
    """`(y, y_dot)` by the built-in rule, by the tangent of what stands in for `f` or of an attribute,
    else by finite differences: what rules call functions with.
    """
    target, bound = resolve(f)
    if bound:
        tangents = (NO, *[NO] * len(bound), *tangents[1:])
    args = (*bound, *args)
    rule = rule_for(target, args)
    if rule is None and (target is getattr or REGISTRY.stand_in(target) is not None):
        return FORWARDS.via_ad(tangents, target, *args, **kwargs)
    if rule is None:
        return differences(target, args, tangents[1:])
    if rule.keyword_tangents and len(tangents) == 1 + len(args):
        tangents = (*tangents, *[NO] * len(kwargs))
    config = (CONFIG,) if rule.requires else ()
    return rule.function(*config, tuple(tangents), *args, **kwargs)


CONFIG = RuleConfig(forwards=push)


def differences(f, args, dots):
    """`(y, y_dot)` of a function without side effects, by central differences."""
    y = f(*args)
    if all(isinstance(x_dot, AbstractZero) for x_dot in dots):
        return y, zero_of(y)
    up = f(*[moved(x, x_dot, STEP) for x, x_dot in zip(args, dots, strict=True)])
    down = f(*[moved(x, x_dot, -STEP) for x, x_dot in zip(args, dots, strict=True)])
    return y, slope(y, up, down)


def moved(x, x_dot, t, memo=None):
    """`x` moved by `t` along its tangent, a new value of the same kind; shared parts stay shared."""
    memo = {} if memo is None else memo
    if isinstance(x_dot, AbstractZero) and not isinstance(x, (list, dict, deque)):
        return x.copy() if isinstance(x, (np.ndarray, set)) else x
    if id(x) in memo:
        return memo[id(x)]
    kind = kind_of(x)
    if kind == "array":
        return np.asarray(x + t * x_dot)
    if kind == "number":
        return x + t * x_dot
    if kind == "object":
        new = copy.copy(x)
        for name, part in attributes_of(x).items():
            object.__setattr__(new, name, moved(part, getattr(x_dot, name), t, memo))
        return new
    if isinstance(x, tuple):
        parts = [moved(part, dot, t, memo) for part, dot in zip(x, beside(x, x_dot), strict=True)]
        return type(x)._make(parts) if hasattr(x, "_fields") else tuple(parts)
    new = memo[id(x)] = copy.copy(x)
    if isinstance(x, dict):
        for key in x:
            new[key] = moved(x[key], NO if x_dot is NO else x_dot[key], t, memo)
        return new
    if isinstance(x, (list, deque)):
        for key, (part, dot) in enumerate(zip(list(x), beside(x, x_dot), strict=True)):
            new[key] = moved(part, dot, t, memo)
        return new
    raise AssertionError(f"a {type(x)} is not moved")


def beside(xs, xs_dot):
    """The tangents of items, for a constant too."""
    return [NO] * len(xs) if isinstance(xs_dot, AbstractZero) else xs_dot


def slope(y, up, down):
    """The tangent of `y` in the inner form, from the results on both sides."""
    kind = kind_of(y)
    if kind == "number":
        return (up - down) / (2 * STEP)
    if kind == "array":
        return np.asarray((up - down) / (2 * STEP))
    if isinstance(y, tuple):
        parts = [slope(*three) for three in zip(y, up, down, strict=True)]
        return type(y)._make(parts) if hasattr(y, "_fields") else tuple(parts)
    if isinstance(y, (list, deque)):
        return type(y)([slope(*three) for three in zip(y, up, down, strict=True)])
    if isinstance(y, dict):
        return {key: slope(y[key], up[key], down[key]) for key in y}
    if kind == "object":
        return types.SimpleNamespace(
            **{
                name: slope(part, getattr(up, name), getattr(down, name))
                for name, part in attributes_of(y).items()
            }
        )
    return NO


def direction(x, rng):
    """A random tangent in the inner form; parts that occur twice have one, integers are constants."""
    return _drawn(x, zero_of(x), rng, {})


def _drawn(x, x_dot, rng, seen):
    kind = kind_of(x)
    if isinstance(x_dot, AbstractZero) or isinstance(x, int):
        return NO
    if kind == "array" and x.dtype.kind in "iu":
        return NO
    if kind == "number":
        return type(x_dot)(rng.normal()) * (1 + (2j if isinstance(x_dot, complex) else 0))
    if id(x_dot) in seen:
        return x_dot
    seen[id(x_dot)] = x_dot
    if kind == "array":
        x_dot[...] = rng.normal(size=x.shape)
        return x_dot
    if isinstance(x, tuple):
        parts = [_drawn(*pair, rng, seen) for pair in zip(x, x_dot, strict=True)]
        return type(x)._make(parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        for key in x:
            x_dot[key] = _drawn(x[key], x_dot[key], rng, seen)
    elif isinstance(x, (list, deque)):
        for key, part in enumerate(x):
            x_dot[key] = _drawn(part, x_dot[key], rng, seen)
    else:
        for name, part in attributes_of(x).items():
            setattr(x_dot, name, _drawn(part, getattr(x_dot, name), rng, seen))
    return x_dot


def settle(y, y_dot=NO):
    """A result with its tangent, iterators and views read into lists: `(y, y_dot)`."""
    if hasattr(type(y), "__next__") or isinstance(y, (type({}.items()), type({}.values()), type({}.keys()))):
        rows = [settle(*row) for row in itertools.islice(pairs(CONFIG, y, y_dot), MANY)]
        return [item for item, _ in rows], [dot for _, dot in rows]
    if isinstance(y, tuple) and not hasattr(y, "_fields"):
        rows = [settle(*row) for row in zip(y, beside(y, y_dot), strict=True)]
        return tuple(item for item, _ in rows), tuple(dot for _, dot in rows)
    return y, y_dot


def flat(y, y_dot):
    """The tangents of all numbers in `y`, in one order: zeros where nothing varies."""
    kind = kind_of(y)
    if kind == "number":
        return [0.0 if isinstance(y_dot, AbstractZero) else y_dot]
    if kind == "array":
        assert isinstance(y_dot, AbstractZero) or np.shape(y_dot) == y.shape
        return [*np.broadcast_to(0.0 if isinstance(y_dot, AbstractZero) else y_dot, y.shape).ravel()]
    if isinstance(y, dict):
        assert isinstance(y_dot, AbstractZero) or list(y_dot) == list(y)
        return [z for key in y for z in flat(y[key], NO if y_dot is NO else y_dot[key])]
    if isinstance(y, (list, tuple, deque)):
        assert isinstance(y_dot, AbstractZero) or isinstance(y_dot, kind_beside(y)), (type(y), type(y_dot))
        return [z for row in zip(y, beside(y, y_dot), strict=True) for z in flat(*row)]
    if kind == "object":
        return [
            z
            for name, part in attributes_of(y).items()
            for z in flat(part, NO if y_dot is NO else getattr(y_dot, name))
        ]
    assert isinstance(y_dot, AbstractZero), f"a {type(y)} has the tangent {y_dot!r}"
    return []


def kind_beside(y):
    """The kind of container that stands beside `y`."""
    return next(kind for kind in (list, tuple, deque) if isinstance(y, kind))


class Handed:
    """Stands in a call for an iterator, which each run gets anew: of a list, or endless."""

    def __init__(self, items=None):
        self.items = items

    def direction(self, rng):
        return Handed(None if self.items is None else direction(self.items, rng))

    def moved(self, dots, t):
        return itertools.count() if self.items is None else iter(moved(self.items, dots.items, t))

    def linked(self, dots):
        if self.items is None:
            return itertools.count(), NO
        return iter(self.items), iter(dots.items)


def check(target, *args, seed=3, **kwargs):
    """The rule of `target` against finite differences, along a random direction: the result, its tangent,
    and what became of the arguments and of theirs. Gives `(y, y_dot, args, dots)`.
    """
    rng = np.random.default_rng(seed)
    dots = tuple(x.direction(rng) if isinstance(x, Handed) else direction(x, rng) for x in args)
    word_dots = tuple(direction(x, rng) for x in kwargs.values())
    plain = [run(target, args, dots, kwargs, word_dots, t) for t in (0.0, STEP, -STEP)]
    linked = [x.linked(dot) if isinstance(x, Handed) else (x, dot) for x, dot in zip(args, dots, strict=True)]
    args, dots = tuple(x for x, _ in linked), tuple(dot for _, dot in linked)
    rule = rule_for(target, args)
    assert rule is not None, f"no forward rule for {target}"
    given = (NO, *dots, *word_dots) if rule.keyword_tangents else (NO, *dots)
    config = (CONFIG,) if rule.requires else ()
    y, y_dot = settle(*rule.function(*config, given, *args, **kwargs))
    args, dots = settle(args, dots)
    wanted = slope(*plain)
    same_values((y, args), plain[0])
    got = flat((y, args), (y_dot, dots))
    np.testing.assert_allclose(got, flat(plain[0], wanted), rtol=1e-6, atol=1e-7)
    return y, y_dot, args, dots


def run(target, args, dots, kwargs, word_dots, t):
    """The plain function on arguments moved by `t`: its result, iterators read, and the arguments."""
    memo = {}
    args = tuple(
        x.moved(x_dot, t) if isinstance(x, Handed) else moved(x, x_dot, t, memo)
        for x, x_dot in zip(args, dots, strict=True)
    )
    names = zip(kwargs.items(), word_dots, strict=True)
    kwargs = {name: moved(x, x_dot, t, memo) for (name, x), x_dot in names}
    return settle(target(*args, **kwargs))[0], settle(args)[0]


def same_values(y, other):
    """The rule gives what the function gives."""
    if isinstance(y, (list, tuple, deque)):
        assert type(y) is type(other) and len(y) == len(other), (y, other)
        for row in zip(y, other, strict=True):
            same_values(*row)
    elif isinstance(y, dict):
        assert type(y) is type(other) and list(y) == list(other), (y, other)
        for key in y:
            same_values(y[key], other[key])
    elif kind_of(y) == "object":
        same_values(attributes_of(y), attributes_of(other))
    else:
        assert type(y) is type(other) and np.array_equal(y, other), (y, other)
