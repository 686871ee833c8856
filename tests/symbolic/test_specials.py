"""Rules of functions that call `scipy.special`, on numbers and on arrays."""

import inspect
import re

import numpy as np
import pytest

from rulelab.symbolic import Proved, Refuted, Undecided, Unsupported, derive_rule, prove, specials
from rulelab.tangents.missing import not_implemented
from rulelab.tangents.zeros import NoTangent

special = pytest.importorskip("scipy.special")
integrate = pytest.importorskip("scipy.integrate")
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
    "j0": (lambda x: special.j0(x), lambda x: -special.j1(x)),
    "neighbours": (lambda x: special.jv(2.3, x), lambda x: (special.jv(1.3, x) - special.jv(3.3, x)) / 2),
    "lower": (lambda x: special.jn(2, x), lambda x: special.j1(x) - 2 / x * special.jv(2, x)),
    "jvp": (lambda x: special.jv(2, x), lambda x: special.jvp(2, x)),
    "y0": (lambda x: special.y0(x), lambda x: -special.y1(x)),
    "yn": (lambda x: special.yn(2, x), lambda x: (special.y1(x) - special.yv(3, x)) / 2),
    "i0e": (lambda x: special.i0e(x), lambda x: special.i1e(x) - np.sign(x) * special.i0e(x)),
    "iv": (lambda x: special.iv(2.5, x), lambda x: special.ivp(2.5, x)),
    "k0": (lambda x: special.k0(x), lambda x: -special.k1(x)),
    "kv": (lambda x: special.kv(2.5, x), lambda x: -special.kv(1.5, x) - 2.5 / x * special.kv(2.5, x)),
    "struve": (lambda x: special.struve(0, x), lambda x: 2 / np.pi - special.struve(1, x)),
    "gammainc": (
        lambda x: special.gammainc(2.5, x),
        lambda x: x**1.5 * np.exp(-x) / special.gamma(2.5),
    ),
    "gammainc by its neighbour": (
        lambda x: special.gammainc(2.3, x),
        lambda x: special.gammainc(1.3, x) - special.gammainc(2.3, x),
    ),
    "gammaincc": (
        lambda x: special.gammaincc(2.3, x),
        lambda x: special.gammaincc(1.3, x) - special.gammaincc(2.3, x),
    ),
    "betainc": (
        lambda x: special.betainc(2.5, 1.5, x),
        lambda x: x**1.5 * (1 - x) ** 0.5 / special.beta(2.5, 1.5),
    ),
    "lambertw": (
        lambda x: special.lambertw(x).real,
        lambda x: np.exp(-special.lambertw(x).real) / (1 + special.lambertw(x).real),
    ),
    "ellipk": (
        lambda m: special.ellipk(m),
        lambda m: (special.ellipe(m) / (1 - m) - special.ellipk(m)) / (2 * m),
    ),
    "ellipe": (lambda m: special.ellipe(m), lambda m: (special.ellipe(m) - special.ellipk(m)) / (2 * m)),
    "sn": (
        lambda u: special.ellipj(u, 0.3)[0],
        lambda u: special.ellipj(u, 0.3)[1] * special.ellipj(u, 0.3)[2],
    ),
    "ellipeinc": (
        lambda phi, m: special.ellipeinc(phi, m),
        lambda phi, m: (
            np.sqrt(1 - m * np.sin(phi) ** 2),
            (special.ellipeinc(phi, m) - special.ellipkinc(phi, m)) / (2 * m),
        ),
    ),
    "exp1": (lambda x: special.exp1(x), lambda x: -np.exp(-x) / x),
    "expn": (lambda x: special.expn(3, x), lambda x: (x * special.exp1(x) - np.exp(-x))),
    "expi": (lambda x: special.expi(x), lambda x: np.exp(x) / x),
    "chi": (lambda x: special.shichi(x)[1], lambda x: np.cosh(x) / x),
    "si": (lambda x: special.sici(x)[0], lambda x: np.sin(x) / x),
    "fresnel": (lambda x: special.fresnel(x)[1], lambda x: np.cos(np.pi / 2 * x**2)),
    "zeta": (lambda q: special.zeta(2.5, q), lambda q: -2.5 * special.zeta(3.5, q)),
    "hyp1f1": (lambda x: special.hyp1f1(0.5, 1.5, x), lambda x: special.hyp1f1(1.5, 2.5, x) / 3),
    "hyp2f1": (
        lambda x: special.hyp2f1(0.5, 1.5, 2.5, x),
        lambda x: 0.3 * special.hyp2f1(1.5, 2.5, 3.5, x),
    ),
}

WRONG = {
    "sign of j0": (lambda x: special.j0(x), lambda x: special.j1(x)),
    "sign of kv": (lambda x: special.kv(2.5, x), lambda x: special.kv(1.5, x) + special.kv(3.5, x)),
    "order of jv": (lambda x: special.jv(2.3, x), lambda x: (special.jv(1.3, x) - special.jv(2.3, x)) / 2),
    "power in gammainc": (
        lambda x: special.gammainc(2.5, x),
        lambda x: x**2.5 * np.exp(-x) / special.gamma(2.5),
    ),
    "gammainc not over gamma": (lambda x: special.gammainc(2.5, x), lambda x: x**1.5 * np.exp(-x)),
    "sign of gammaincc": (
        lambda x: special.gammaincc(2.5, x),
        lambda x: x**1.5 * np.exp(-x) / special.gamma(2.5),
    ),
    "power in betainc": (
        lambda x: special.betainc(2.5, 1.5, x),
        lambda x: x**1.5 * (1 - x) ** 1.5 / special.beta(2.5, 1.5),
    ),
    "modulus for parameter": (
        lambda k: special.ellipk(k * k),
        lambda k: (special.ellipe(k) / (1 - k * k) - special.ellipk(k)) / k,
    ),
    "factor of ellipk": (
        lambda m: special.ellipk(m),
        lambda m: (special.ellipe(m) / (1 - m) - special.ellipk(m)) / m,
    ),
    "dn without m": (
        lambda u: special.ellipj(u, 0.3)[2],
        lambda u: -special.ellipj(u, 0.3)[0] * special.ellipj(u, 0.3)[1],
    ),
    "order of expn": (lambda x: special.expn(3, x), lambda x: -special.expn(4, x)),
    "sign of exp1": (lambda x: special.exp1(x), lambda x: np.exp(-x) / x),
    "si for sinc": (lambda x: special.sici(x)[0], lambda x: np.sinc(x)),
    "other convention of fresnel": (lambda x: special.fresnel(x)[0], lambda x: np.sin(x * x)),
    "factor of zeta": (lambda q: special.zeta(2.5, q), lambda q: -3.5 * special.zeta(3.5, q)),
    "factor of hyp2f1": (
        lambda x: special.hyp2f1(0.5, 1.5, 2.5, x),
        lambda x: special.hyp2f1(1.5, 2.5, 3.5, x),
    ),
    "sign of lambertw": (
        lambda x: special.lambertw(x).real,
        lambda x: np.exp(special.lambertw(x).real) / (1 + special.lambertw(x).real),
    ),
}


@pytest.mark.every(23)
@pytest.mark.parametrize("name", RIGHT)
def test_on_arrays_as_on_numbers(name):
    """Proved for a number, for a vector, and for more entries than SymPy is asked about."""
    f, slopes = RIGHT[name]
    count = len(inspect.signature(f).parameters)
    for x in (0.4, HERE, np.linspace(0.1, 0.9, 7)):
        at = [x / (1 + i) for i in range(count)]
        assert isinstance(judge(f, slopes, *at, domain=(0, 1)), Proved)


@pytest.mark.every(11)
@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_refuted_on_arrays_as_on_numbers(name):
    """A sign, a factor, an order or a convention."""
    f, slopes = WRONG[name]
    for x in (0.4, HERE):
        verdict = judge(f, slopes, x, domain=(0, 1))
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient"


COUNTS = {"polygamma": 2, "softplus": 1, "lambertw": 1, "zeta": 2, "jvp": 2, "yvp": 2, "ivp": 2, "kvp": 2}
COUNTS |= {name: 2 for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn")}
COUNTS |= {"multigammaln": 2, "diric": 2}
WHOLE = {"polygamma": 1, "yn": 2, "kn": 2, "expn": 2}  # the first argument, where no fraction is allowed
WHOLE |= {name: 2 for name in specials._SPECIAL if name.startswith(("eval_", "spherical_", "pdtr", "bdtr"))}
WHOLE_LAST = ("multigammaln", "diric")
BELOW_0 = ("ndtri_exp",)  # the logarithm of a probability
CASES = {"elliprd": (0.0, 1.0), "bdtr": (2, 5), "bdtrc": (2, 5), "nbdtr": (2, 5), "nbdtrc": (2, 5)}
CASES |= {"nrdtrimn": (0.3, 1.7), "nrdtrisd": (0.5, 0.3)}  # a probability among them


@pytest.mark.every(71)
@pytest.mark.parametrize("name", specials._SPECIAL)
def test_a_wrong_slope_is_refuted_for_every_function_in_the_table(name):
    """None ends with "traced numbers cannot follow it", given an array or a number."""
    function = getattr(special, name, None)
    if function is None:
        pytest.skip("this SciPy has no such function")
    count = COUNTS.get(name) or function.nin
    first = ((WHOLE.get(name, 1.7),) + (1.7,) * count)[: count - 1]
    first = CASES.get(name, first)
    results = getattr(function, "nout", 1)

    def f(x):
        y = function(x + 2, 2) if name in WHOLE_LAST else function(*first, -x if name in BELOW_0 else x)
        return y.real if results == 1 else y[0] + y[-1]

    for x in (0.45, HERE):
        verdict = judge(f, lambda x: 0.123 + 0 * x, x, domain=(0, 1))
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient"


def test_the_manual_lists_what_is_known(repository):
    """Each function in the table, and nothing else that SciPy has."""
    page = (repository / "docs" / "reference" / "proving.md").read_text(encoding="utf-8")
    section = page.split("## Special functions")[1].split("\n## ")[0]
    rows = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == set(specials._SPECIAL) | set(specials._OF_ARRAYS)


OF_ARRAYS = {
    "softmax": (special.softmax, lambda x, b: special.softmax(x) * (b - np.sum(b * special.softmax(x)))),
    "logsumexp": (special.logsumexp, lambda x, b: b * special.softmax(x)),
    "log_softmax": (special.log_softmax, lambda x, b: b - np.sum(b) * special.softmax(x)),
    "sum": (lambda x: np.sum(special.erf(x)), lambda x, b: b * 2 / np.sqrt(np.pi) * np.exp(-(x**2))),
}


@pytest.mark.every(5, slow=True)
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
    verdict = judge(lambda x: special.kolmogorov(x), lambda x: x, HERE, domain=(0, 1))
    assert isinstance(verdict, Unsupported) and "scipy.special.kolmogorov" in verdict.sentence()


@pytest.mark.parametrize(
    "slope", [lambda x: special.lambertw(x, k=-1).real, lambda x: special.expn(1 + x, 1.0)]
)
def test_what_no_real_number_follows_is_unsupported(slope):
    """Another branch, an order that SciPy cuts off."""
    assert isinstance(judge(lambda x: x, slope, -0.2), Unsupported)


def _tail(a, x):
    return special.gammaincc(a, x) * special.gamma(a)


def _rule_of_tail(factor):
    """Its rule, by the integral for the derivative by the order, times a factor."""

    def rule(a, x):
        def pullback(y_bar):
            by_order, _ = integrate.quad(lambda t: np.log(t) * t ** (a - 1) * np.exp(-t), x, np.inf)
            return NoTangent(), factor * y_bar * by_order, -y_bar * x ** (a - 1) * np.exp(-x)

        return _tail(a, x), pullback

    return rule


def test_a_slope_by_an_order_is_never_proved():
    """Nobody has it in closed form: right digits are "cannot tell", with the reason, wrong ones refuted."""
    verdict = prove(_tail, _rule_of_tail(1), at=(2.5, 0.7)).verdict
    assert isinstance(verdict, Undecided) and verdict.digits >= 30
    assert "derivative with respect to a" in verdict.sentence()
    assert isinstance(prove(_tail, _rule_of_tail(1.01), at=(2.5, 0.7)).verdict, Refuted)


@pytest.mark.slow
def test_an_order_that_is_held_needs_no_slope():
    """A whole order that is given, with NoTangent() in the rule; a zero for one that varies is wrong."""

    def f(v, x):
        return np.sum(special.jv(v, x))

    def rule(by_order, shift=1):
        def on_arguments(v, x):
            slope = (special.jv(v - 1, x) - special.jv(v + shift, x)) / 2
            return f(v, x), lambda y_bar: (NoTangent(), by_order, y_bar * slope)

        return on_arguments

    for x in (0.7, HERE):
        assert isinstance(prove(f, rule(NoTangent()), at=(2, x)).verdict, Proved)
        assert isinstance(prove(f, rule(NoTangent(), 2), at=(2, x)).verdict, Refuted)
        assert isinstance(prove(f, rule(0.0), at=(2.5, x)).verdict, Refuted)


@pytest.mark.slow
def test_a_slope_that_is_not_implemented_is_not_judged():
    """By an order that varies: what is judged are the others. Where all are missing, nothing was compared."""

    def f(v, x):
        return special.jv(v, x)

    def rule(sign):
        def on_arguments(v, x):
            def pullback(y_bar):
                slope = (special.jv(v - 1, x) + sign * special.jv(v + 1, x)) / 2
                return NoTangent(), not_implemented("by the order"), y_bar * slope

            return f(v, x), pullback

        return on_arguments

    for options in ({}, {"at": (2.5, 0.7)}, {"at": (2.5, HERE)}):
        verdict = prove(f, rule(-1), **options).verdict
        assert isinstance(verdict, Undecided) and verdict.digits == 40
        assert "cotangent of v is not implemented" in verdict.sentence()
        verdict = prove(f, rule(1), **options).verdict
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient"
    assert isinstance(prove(f, rule(-1), at=(2, 0.7)).verdict, Proved)
    verdict = prove(f, lambda *xs: (f(*xs), lambda b: (NoTangent(), *[not_implemented()] * 2))).verdict
    assert isinstance(verdict, Undecided) and verdict.digits == 0


def test_orders_that_are_an_array_and_held():
    """One row of results for each order."""
    orders = np.array([[0], [1]])

    def f(v, x):
        return np.sum(special.jv(v, x))

    def rule(v, x):
        return f(v, x), lambda y_bar: (NoTangent(), NoTangent(), y_bar * np.sum(special.jvp(v, x), axis=0))

    assert isinstance(prove(f, rule, at=(orders, HERE)).verdict, Proved)


@pytest.mark.slow
def test_results_of_which_there_are_several():
    """All four of Jacobi's functions, each with a cotangent of its own."""

    def f(u):
        return special.ellipj(u, 0.3)

    def rule(sign):
        def on_argument(u):
            sn, cn, dn, ph = special.ellipj(u, 0.3)

            def pullback(bars):
                by_sn, by_cn, by_dn, by_ph = bars
                by_dn = sign * 0.3 * by_dn
                return NoTangent(), by_sn * cn * dn - by_cn * sn * dn - by_dn * sn * cn + by_ph * dn

            return (sn, cn, dn, ph), pullback

        return on_argument

    assert isinstance(prove(f, rule(1), at=(HERE[:2],)).verdict, Proved)
    assert isinstance(prove(f, rule(-1), at=(HERE,)).verdict, Refuted)


@pytest.mark.every(4)
@pytest.mark.parametrize("name", ["k0", "gammaincc", "ellipeinc", "hyp2f1"])
def test_given_nothing_the_slow_ones_are_judged_in_time(name):
    """All kinds and the points between cells, of functions that mpmath takes long for."""
    f, slopes = RIGHT[name]
    assert isinstance(judge(f, slopes), Proved)


@pytest.mark.slow
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


@pytest.mark.campaign
def test_a_rule_is_derived_with_a_bessel_function():
    """Of the order that the author did not write."""

    def ring(x):
        return special.j0(x)

    derived = derive_rule(ring, 1.5)
    assert derived.is_proved and "special.jv(1, x)" in derived.source
