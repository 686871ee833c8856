"""Rules of functions that call `scipy.special`, on numbers and on arrays."""

import inspect

import numpy as np
import pytest

from rulelab.symbolic import Proved, Refuted, Unsupported, derive_rule, prove, specials
from rulelab.tangents.zeros import NoTangent

special = pytest.importorskip("scipy.special")
HERE = np.array([0.3, 0.6, 0.8])


def judge(f, slopes, *at, **options):
    """The verdict on the elementwise rule of `f` with the partial derivatives `slopes(*xs)`."""

    def rule(*xs):
        found = slopes(*xs)
        found = found if isinstance(found, tuple) else (found,)
        return f(*xs), lambda y_bar: (NoTangent(), *(y_bar * slope for slope in found))

    return prove(f, rule, at=at or None, **options).verdict


RIGHT = {
    "erf": (lambda x: special.erf(x), lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x)),
    "gammaln": (lambda x: special.gammaln(x), lambda x: special.psi(x)),
    "digamma": (lambda x: special.digamma(x), lambda x: special.polygamma(1, x)),
    "logit": (lambda x: special.logit(x), lambda x: 1 / (x * (1 - x))),
    "ndtr": (lambda x: special.ndtr(x), lambda x: np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)),
    "erfinv": (
        lambda x: special.erfinv(x),
        lambda x: np.sqrt(np.pi) / 2 * np.exp(special.erfinv(x) ** 2),
    ),
    "softplus of exchanged code": (
        lambda x: -special.log_expit(-x),
        lambda x: special.expit(x),
    ),
    "bessel": (lambda x: special.i1(x), lambda x: special.i0(x) - special.i1(x) / x),
    "two": (
        lambda a, b: special.betaln(a, b),
        lambda a, b: (
            special.psi(a) - special.psi(a + b),
            special.psi(b) - special.psi(a + b),
        ),
    ),
    "entropies": (lambda p, q: special.rel_entr(p, q), lambda p, q: (np.log(p / q) + 1, -p / q)),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", RIGHT)
def test_on_arrays_as_on_numbers(name):
    """Proved for a number, for a vector, and for more entries than SymPy is asked about."""
    f, slopes = RIGHT[name]
    count = len(inspect.signature(f).parameters)
    for x in (0.4, HERE, np.linspace(0.1, 0.9, 7)):
        at = [x / (1 + i) for i in range(count)]
        assert isinstance(judge(f, slopes, *at, domain=(0, 1)), Proved)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", specials._SPECIAL)
def test_a_wrong_slope_is_refuted_for_every_function_in_the_table(name):
    """None ends with "traced numbers cannot follow it", given an array or a number."""
    function = getattr(special, name, None)
    if function is None:
        pytest.skip("this SciPy has no such function")
    count = {"polygamma": 2, "softplus": 1}.get(name) or function.nin
    first = (1,) if name == "polygamma" else (0.7,) * (count - 1)

    def f(x):
        return function(*first, x)

    for x in (0.45, HERE):
        verdict = judge(f, lambda x: 0.123 + 0 * x, x, domain=(0, 1))
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient"


OF_ARRAYS = {
    "softmax": (special.softmax, lambda x, b: special.softmax(x) * (b - np.sum(b * special.softmax(x)))),
    "logsumexp": (special.logsumexp, lambda x, b: b * special.softmax(x)),
    "log_softmax": (special.log_softmax, lambda x, b: b - np.sum(b) * special.softmax(x)),
    "sum": (lambda x: np.sum(special.erf(x)), lambda x, b: b * 2 / np.sqrt(np.pi) * np.exp(-(x**2))),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("name", OF_ARRAYS)
def test_functions_of_whole_arrays(name):
    """A right pullback is proved, one that is a tenth too large refuted."""
    function, pulled = OF_ARRAYS[name]

    def f(x):
        return function(x)

    def rule(x):
        return f(x), lambda y_bar: (NoTangent(), pulled(x, y_bar))

    def wrong(x):
        return f(x), lambda y_bar: (NoTangent(), pulled(x, 1.1 * y_bar))

    assert isinstance(prove(f, rule, at=(HERE,)).verdict, Proved)
    assert isinstance(prove(f, wrong, at=(HERE,)).verdict, Refuted)


def test_what_the_table_lacks_is_named_by_its_module():
    """Not as a function of NumPy's."""
    verdict = judge(lambda x: special.ellipk(x), lambda x: x, HERE, domain=(0, 1))
    assert isinstance(verdict, Unsupported) and "scipy.special.ellipk" in verdict.sentence()


def test_a_rule_is_derived_for_arrays():
    """Elementwise, with functions that take arrays, and entry by entry where entries are summed."""

    def bell_area(x):
        return special.ndtr(x)

    derived = derive_rule(bell_area, HERE)
    assert derived.is_proved and "math." not in derived.source

    def total(x):
        return np.sum(special.gammaln(x))

    derived = derive_rule(total, HERE)
    assert derived.is_proved and "special.digamma" in derived.source
