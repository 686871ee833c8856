"""Tests of what an AD says of itself."""

import functools

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleError, RuleRegistrationError
from rulelab.rules.authoring import has_rrule, rrule, rrule_for
from rulelab.rules.capabilities import HasReverseMode, NoForwardsMode, RuleConfig, capabilities
from rulelab.rules.registry import Registry
from rulelab.tangents.zeros import NoTangent


def test_a_rule_can_call_back_into_the_ad():
    """A rule that asks for reverse mode gets the config first, is preferred, and can differentiate its
    argument.
    """
    registry = Registry()

    def apply(g, x):
        return g(x)

    @rrule_for(apply, registry=registry)
    def without(g, x: float):
        return g(x), lambda y_bar: (NoTangent(), NoTangent(), -1.0)

    @rrule_for(apply, registry=registry, requires={"reverse"})
    def with_config(config, g, x):
        y, back = config.rrule_via_ad(g, x)
        return y, lambda y_bar: (NoTangent(), NoTangent(), back(y_bar)[1])

    config = RuleConfig(reverse=lambda f, x: (f(x), lambda y_bar: (NoTangent(), 7.0 * y_bar)))
    assert rrule(apply, abs, 2.0, config=config, registry=registry)[1](1.0)[2] == 7.0
    assert rrule(apply, abs, 2.0, registry=registry)[1](1.0)[2] == -1.0
    assert has_rrule(apply, abs, "no float", registry=registry)


def test_traits():
    """A config says which modes it has; asking for one it lacks is an error."""
    config = RuleConfig(HasReverseMode, NoForwardsMode)
    assert config.provides(capabilities("reverse")) and not config.provides(capabilities({"forwards"}))
    for call in (lambda: config.frule_via_ad((), abs), lambda: config.rrule_via_ad(abs, 1)):
        with pytest.raises(RuleError):
            call()
    with pytest.raises(RuleRegistrationError, match="reverse"):
        capabilities({"sideways"})


def _keyword_only(x, *, k):
    return np.sin(x) * k


def _keyword_default(x, *, k=2.0):
    return np.sin(x) * k


def _default(x, k=2.0):
    return np.sin(x) * k


def _starred(*xs, **words):
    return np.sin(xs[0]) * xs[-1] * words.get("k", 1.0)


class _Slope:
    def __init__(self, w):
        self.w = w

    def __call__(self, x, k=2.0):
        return self.w * np.sin(x) * k

    def at(self, x, *, k):
        return self.w * np.sin(x) * k


WAYS = {  # a function, and how it is called with an x that varies and a k that may
    "keyword only": (_keyword_only, lambda x, k: ((x,), {"k": k})),
    "keyword only, by default": (_keyword_default, lambda x, k: ((x,), {})),
    "by keyword": (_default, lambda x, k: ((x,), {"k": k})),
    "by default": (_default, lambda x, k: ((x,), {})),
    "by position": (_default, lambda x, k: ((x, k), {})),
    "starred": (_starred, lambda x, k: ((x, k), {})),
    "starred, keyword": (_starred, lambda x, k: ((x, x), {"k": k})),
    "object": (_Slope(1.5), lambda x, k: ((x,), {})),
    "object, keyword": (_Slope(1.5), lambda x, k: ((x,), {"k": k})),
    "method": (_Slope(1.5).at, lambda x, k: ((x,), {"k": k})),
    "partial": (functools.partial(_default), lambda x, k: ((x,), {"k": k})),
    "C": (np.multiply, lambda x, k: ((x, k), {})),
    "C, keyword": (np.clip, lambda x, k: ((x,), {"a_min": -9.0, "a_max": 9.0})),
    "constant": (len, lambda x, k: (([x],), {})),
}


def _slopes(h, x, k):
    """Derivatives of `h(x, k)` by x, and those of its slope by x and k, in each order of the modes."""

    def by_x(x, k):
        return rl.gradient(lambda x: h(x, k), x)[0] or 0.0

    def along_x(x, k):
        return rl.pushforward(lambda x: h(x, k), x)(1.0)

    def of(slope):
        yield slope(x, k)
        yield rl.gradient(lambda x: slope(x, k), x)[0] or 0.0
        yield rl.gradient(lambda k: slope(x, k), k)[0] or 0.0
        yield rl.pushforward(lambda x: slope(x, k), x)(1.0)
        yield rl.pushforward(lambda k: slope(x, k), k)(1.0)

    return [*of(by_x)], [*of(along_x)]


@pytest.mark.every(17)
@pytest.mark.parametrize("way", WAYS)
def test_a_rule_finds_a_cotangent_for_the_function_and_each_positional_argument(way):
    """However a rule calls a function through the AD, the pullback gives as many cotangents, whether the rule
    is run or is itself differentiated: keywords and defaults have none. Forward mode wants as many tangents.
    """
    f, spelt = WAYS[way]

    def plain(x, k):
        args, words = spelt(x, k)
        return f(*args, **words)

    def ruled(x, k):
        args, words = spelt(x, k)
        return f(*args, **words)

    @rl.rrule_for(ruled, requires={"reverse"})
    def ruled_rrule(config, x, k):
        args, words = spelt(x, k)
        y, back = config.rrule_via_ad(f, *args, **words)

        def ruled_pullback(y_bar):
            found = back(y_bar)
            if type(found) is not tuple or len(found) != 1 + len(args):
                raise AssertionError(f"{found} for {len(args)} arguments")
            bars = [x_bar for given, x_bar in zip(args, found[1:]) if given is x]
            return rl.NoTangent(), sum(bars) if bars else rl.ZeroTangent(), rl.ZeroTangent()

        return y, ruled_pullback

    @rl.frule_for(ruled, requires={"forwards"})
    def ruled_frule(config, tangents, x, k):
        args, words = spelt(x, k)
        given = (*args, *words.values())
        dots = [tangents[1] if a is x else tangents[2] if a is k else rl.NoTangent() for a in given]
        return config.frule_via_ad((rl.NoTangent(), *dots), f, *args, **words)

    x, k = 0.7, 3.0
    for got, wanted in zip(_slopes(ruled, x, k), _slopes(plain, x, k), strict=True):
        assert got == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_a_rule_gives_a_tangent_for_the_function_and_each_positional_argument(count, order):
    """Too few or too many tangents are refused with their number, also where the rule is differentiated."""

    def cubed(x):
        return x**3

    def called(x):
        return cubed(x)

    @rl.frule_for(called, requires={"forwards"})
    def called_frule(config, tangents, x):
        return config.frule_via_ad((rl.NoTangent(), tangents[1], tangents[1])[:count], cubed, x)

    def slope(x):
        return rl.pushforward(called, x)(1.0)

    with pytest.raises(rl.RuleError, match=f"{count} tangents for a function and its 1 positional"):
        slope(2.0) if order == 1 else rl.pushforward(slope, 2.0)(1.0)
