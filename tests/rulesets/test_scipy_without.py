"""Every function of `scipy.special` has a rule, is a constant, or is refused for a reason."""

import numpy as np
import pytest

special = pytest.importorskip("scipy.special")

from differentiated import has_both_modes  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.errors import ForeignCallError, NotImplementedTangentError  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rulesets.catalogue import special_tables  # noqa: E402
from rulelab.rulesets.scipy_without import CONSTANT, REFUSED  # noqa: E402


def public_functions():
    return {
        name: getattr(special, name)
        for name in special.__all__
        if callable(getattr(special, name)) and not isinstance(getattr(special, name), type)
    }


def test_no_function_is_forgotten():
    """A name of SciPy's is on one of the lists, or is another name of one that is."""
    refused = {id(getattr(special, name)) for name in REFUSED}
    forgotten = [
        name
        for name, function in public_functions().items()
        if DEFAULT.entry(function) is None and id(function) not in refused and not has_both_modes(function)
    ]
    assert forgotten == []


def test_no_function_is_on_two_lists():
    """Who states a rule takes the name off the list of those refused."""
    assert [name for name in REFUSED if DEFAULT.entry(getattr(special, name)) is not None] == []
    assert not set(CONSTANT) & set(REFUSED)
    assert all(len(reason) > 10 for reason in REFUSED.values())


def test_both_modes_have_the_same_rules():
    """What is differentiated backwards is so forwards too."""
    for table in special_tables():
        reverse = {id(target) for target, rule in table.rules if rule.mode == "rrule"}
        assert reverse == {id(target) for target, rule in table.rules if rule.mode == "frule"}, table.name


def test_all_functions_with_a_rule_are_covered():
    """So that no answer which was given before the rules were read has become old."""
    known = {id(value) for value in vars(special).values()}
    package = rl.__name__
    for table in special_tables():
        for target, _ in table.rules:
            assert id(target) in known or target.__module__.startswith(package), target


def test_at_least_so_many():
    """Names with a rule in both modes."""
    known = [name for name, function in public_functions().items() if DEFAULT.entry(function) is not None]
    assert len(set(known) - set(CONSTANT)) >= 180


@pytest.mark.parametrize("name", ["kolmogorov", "pbdv", "agm", "ellip_harm"])
def test_a_function_without_a_rule_says_so(name):
    """By a typed error that names it."""
    function, count = getattr(special, name), {"kolmogorov": 1, "ellip_harm": 5}.get(name, 2)
    with pytest.raises(ForeignCallError, match=name):
        rl.gradient(lambda x: np.sum(function(*[x] * count)), 0.7)


@pytest.mark.parametrize(
    ("f", "word"),
    [
        (lambda v: special.jv(v, 0.7), "order"),
        (lambda a: special.gammainc(a, 0.7), "shape"),
        (lambda a: special.hyp2f1(0.5, a, 1.5, 0.3), "hypergeometric"),
        (lambda n: special.eval_legendre(n, 0.3), "degree"),
        (lambda df: special.stdtr(df, 0.3), "freedom"),
        (lambda s: special.zeta(s), "exponent"),
        (lambda s: special.zeta(s, 0.5), "exponent"),
        (lambda v: special.jvp(v, 0.7, 2), "order"),
    ],
)
def test_a_slope_without_closed_form_is_refused_by_name(f, word):
    """In both modes, for numbers and arrays: never None, never zero."""
    with pytest.raises(NotImplementedTangentError, match=word):
        rl.gradient(f, 2.5)
    with pytest.raises(NotImplementedTangentError, match=word):
        rl.pushforward(f, 2.5)(1.0)
    with pytest.raises(NotImplementedTangentError, match=word):
        rl.gradient(lambda x: np.sum(f(x)), np.array([2.5, 3.5]))


@pytest.mark.parametrize(
    ("f", "n"),
    [
        (lambda x, n: special.polygamma(n, x), 2),
        (lambda x, n: special.expn(n, x), 2),
        (lambda x, n: special.spherical_jn(n, x), 2),
        (lambda x, n: special.multigammaln(x + 2, n), 2),
        (lambda x, n: special.eval_hermite(n, x), 2),
        (lambda x, n: special.yn(n, x), 2),
        (lambda x, n: np.sum(special.roots_legendre(n)[0] * x), 3),
    ],
)
def test_whole_numbers_are_constants(f, n):
    """A gradient by one is None, and the other one is there."""
    slope, by_n = rl.gradient(f, 0.7, n)
    assert by_n is None and np.isfinite(slope)
    assert rl.pushforward(lambda x: f(x, n), 0.7)(1.0) == pytest.approx(slope)
