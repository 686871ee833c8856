"""Tests of what an AD says of itself."""

import pytest

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
