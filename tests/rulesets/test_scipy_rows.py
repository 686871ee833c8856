"""Rules of `scipy.special` where formulas are special: zeros, poles, kinks, limits, numbers far out; and how
rows are stated.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

special = pytest.importorskip("scipy.special")
mp = pytest.importorskip("mpmath")

import rulelab as rl  # noqa: E402
from rulelab.errors import NotDifferentiableError, RuleLabError  # noqa: E402
from rulelab.rulesets.scipy_rows import SpecialTable, points_at, times  # noqa: E402

NAN, INF = math.nan, math.inf


def of_voigt(x, sigma, gamma):
    """The profile, of which a narrow one is nearly that of Lorentz: by the first terms of its series."""
    x, gamma = mp.mpf(x), mp.mpf(gamma)
    lorentz = lambda t: gamma / mp.pi / (t * t + gamma * gamma)
    return sum(sigma ** (2 * n) * mp.diff(lorentz, x, 2 * n) / (2**n * mp.factorial(n)) for n in range(12))


def first(f, x):
    with np.errstate(all="ignore"):
        backwards, forwards = rl.gradient(f, x)[0], rl.pushforward(f, x)(1.0)
    np.testing.assert_allclose(forwards, backwards, rtol=1e-12)
    return backwards


def second(f, x):
    with np.errstate(all="ignore"):
        return rl.gradient(lambda t: rl.gradient(f, t)[0], x)[0]


ORDERS = [
    # function, where, first derivative, second derivative
    ("j0", special.j0, 0.0, 0.0, -0.5),
    ("j1", special.j1, 0.0, 0.5, 0.0),
    ("jv of 0", lambda x: special.jv(0, x), 0.0, 0.0, -0.5),
    ("jv of 1", lambda x: special.jv(1, x), 0.0, 0.5, 0.0),
    ("jv of 2", lambda x: special.jv(2, x), 0.0, 0.0, 0.25),
    ("i0", special.i0, 0.0, 0.0, 0.5),
    ("i1", special.i1, 0.0, 0.5, 0.0),
    ("i1e", special.i1e, 0.0, 0.5, 0.0),
    ("spherical_jn of 0", lambda x: special.spherical_jn(0, x), 0.0, 0.0, -1 / 3),
    ("spherical_jn of 1", lambda x: special.spherical_jn(1, x), 0.0, 1 / 3, 0.0),
    ("its slope", lambda x: special.spherical_jn(0, x, derivative=True), 0.0, -1 / 3, 0.0),
    ("sinc", special.sinc, 0.0, 0.0, -(math.pi**2) / 3),
    ("si", lambda x: special.sici(x)[0], 0.0, 1.0, 0.0),
    ("shi", lambda x: special.shichi(x)[0], 0.0, 1.0, 0.0),
    ("exprel", special.exprel, 0.0, 0.5, 1 / 3),
    ("exprel beside 0", special.exprel, 1e-12, 0.5, 1 / 3),
    ("diric", lambda x: special.diric(x, 5), 0.0, 0.0, -2.0),
    ("diric of 1", lambda x: special.diric(x, 1), 0.7, 0.0, 0.0),
    ("xlogy by its first", lambda x: special.xlogy(x, 2.0), 0.0, math.log(2), 0.0),
    ("xlogy by its second, of 0", lambda y: special.xlogy(0.0, y), 0.0, 0.0, 0.0),
    ("xlogy by its second", lambda y: special.xlogy(2.0, y), 0.0, INF, -INF),
    ("xlog1py", lambda x: special.xlog1py(x, 1.0), 0.0, math.log(2), 0.0),
    ("entr", special.entr, 0.0, INF, -INF),
    ("rel_entr by y, of 0", lambda y: special.rel_entr(0.0, y), 0.5, 0.0, 0.0),
    ("kl_div by y, of 0", lambda y: special.kl_div(0.0, y), 0.5, 1.0, 0.0),
    ("huber inside", lambda r: special.huber(1.0, r), 0.5, 0.5, 1.0),
    ("huber outside", lambda r: special.huber(1.0, r), -3.0, -1.0, 0.0),
    ("huber at its border", lambda r: special.huber(1.0, r), 1.0, 1.0, 1.0),
    ("pseudo_huber", lambda r: special.pseudo_huber(1.0, r), 0.0, 0.0, 1.0),
    ("logit of 0", special.logit, 0.0, INF, -INF),
    (
        "boxcox by the power",
        lambda p: special.boxcox(3.0, p),
        0.0,
        math.log(3) ** 2 / 2,
        math.log(3) ** 3 / 3,
    ),
    ("boxcox of power 0", lambda x: special.boxcox(x, 0.0), 2.0, 0.5, -0.25),
    ("inv_boxcox by the power", lambda p: special.inv_boxcox(0.7, p), 0.0, -math.exp(0.7) * 0.245, None),
    ("ellipk", special.ellipk, 0.0, math.pi / 8, 9 * math.pi / 64),
    ("ellipe", special.ellipe, 0.0, -math.pi / 8, -3 * math.pi / 64),
    ("elliprd of 0", lambda z: special.elliprd(0.0, 1.0, z), 1.0, -27 * math.pi / 32, None),
    ("ellipkinc", lambda m: special.ellipkinc(0.7, m), 0.0, 0.35 / 2 - math.sin(1.4) / 8, None),
    ("ellipeinc", lambda m: special.ellipeinc(0.7, m), 0.0, -0.35 / 2 + math.sin(1.4) / 8, None),
    ("ellipeinc of more than a half", lambda m: special.ellipeinc(4.0, m), 0.0, -1 + math.sin(8.0) / 8, None),
    ("spence", special.spence, 1.0, -1.0, 0.5),
    ("lambertw", lambda x: np.real(special.lambertw(x)), 0.0, 1.0, -2.0),
    ("wrightomega", special.wrightomega, 1.0, 0.5, 0.125),
    ("gammainc of 1", lambda x: special.gammainc(1.0, x), 0.0, 1.0, -1.0),
    ("gammainc of 2", lambda x: special.gammainc(2.0, x), 0.0, 0.0, 1.0),
    ("gammainc of 3", lambda x: special.gammainc(3.0, x), 0.0, 0.0, 0.0),
    ("gammainc of 1/2", lambda x: special.gammainc(0.5, x), 0.0, INF, -INF),
    ("betainc of 1 and 1", lambda x: special.betainc(1.0, 1.0, x), 0.0, 1.0, 0.0),
    ("betainc of 2 and 1", lambda x: special.betainc(2.0, 1.0, x), 0.0, 0.0, 2.0),
    ("betainc of 1 and 2 at 1", lambda x: special.betainc(1.0, 2.0, x), 1.0, 0.0, -2.0),
    ("expn of 0", lambda x: special.expn(0, x), 1.0, -2 / math.e, 5 / math.e),
    ("expn of 1", lambda x: special.expn(1, x), 1.0, -1 / math.e, 2 / math.e),
    ("legendre of degree 0", lambda x: special.eval_legendre(0, x), 0.3, 0.0, 0.0),
    ("legendre of degree 1", lambda x: special.eval_legendre(1, x), 0.3, 1.0, 0.0),
    ("legendre at 1", lambda x: special.eval_legendre(3, x), 1.0, 6.0, 15.0),
    ("chebyt at 1", lambda x: special.eval_chebyt(3, x), 1.0, 9.0, 24.0),
    ("hermite", lambda x: special.eval_hermite(2, x), 0.0, 0.0, 8.0),
    ("erf", special.erf, 0.0, 2 / math.sqrt(math.pi), 0.0),
    ("erfinv at its end", special.erfinv, 1.0, INF, None),
    ("log_ndtr far left", special.log_ndtr, -1e8, 1e8, -1.0),
    ("log_ndtr far right", special.log_ndtr, 50.0, 0.0, 0.0),
    ("log_expit far left", special.log_expit, -800.0, 1.0, 0.0),
    ("gamma of 1", special.gamma, 1.0, -np.euler_gamma, np.euler_gamma**2 + math.pi**2 / 6),
    ("zeta of Hurwitz", lambda q: special.zeta(2.0, q), 1.0, -2.4041138063191885, 6 * 1.0823232337111382),
    ("airy", lambda x: special.airy(x)[1], 0.0, 0.0, 0.3550280538878172),
    ("fresnel", lambda x: special.fresnel(x)[1], 0.0, 1.0, 0.0),
    ("cbrt", special.cbrt, 0.0, INF, None),
]


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "x", "slope", "curvature"), [row[1:] for row in ORDERS], ids=[row[0] for row in ORDERS]
)
def test_where_a_formula_is_special(f, x, slope, curvature):
    """At zeros, poles, ends and far out: what the function has there, in both modes and both orders."""
    np.testing.assert_allclose(first(f, x), slope, rtol=1e-10, atol=1e-14)
    if curvature is not None:
        np.testing.assert_allclose(second(f, x), curvature, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (special.i0e, 0.0),
        (lambda x: special.ive(0, x), 0.0),
    ],
)
def test_a_kink_has_the_slope_0(f, x):
    """By convention; what is made of it may be smooth there, so its curvature is not known."""
    assert first(f, x) == 0
    assert np.isnan(second(lambda x: (f(x) - 1) ** 2, x))
    assert first(f, 1e-9) == pytest.approx(-1.0)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "derivatives"),
    [
        (special.berp, (0.0, 0.0, -3 / 8)),
        (special.beip, (0.5, 0.0, 0.0)),
        (special.ber, (0.0, 0.0, 0.0, -3 / 8)),
    ],
)
def test_kelvin_functions_are_smooth_at_zero(f, derivatives):
    """Where their recurrences divide by the argument: the coefficients of their series."""
    found = [float(rl.derivative(f, n)(0.0)) for n in range(1, 1 + len(derivatives))]
    assert found == pytest.approx(derivatives)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (special.gamma, -2.0),
        (lambda x: special.lpmv(0, 2, x), 1.0),
    ],
)
def test_where_a_slope_is_not_known_it_is_no_number(f, x):
    """NaN, which is seen, and not a wrong number."""
    assert np.isnan(first(f, x))


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("f", "of_mpmath", "x"),
    [
        (special.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), 1e3),
        (special.erfcx, lambda x: mp.exp(x * x) * mp.erfc(x), 24.0),
        (special.dawsn, lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), 60.0),
        (special.log_ndtr, lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2), -200.0),
        (special.ndtri_exp, None, -5e4),
        (special.ellipk, mp.ellipk, 1e-9),
        (special.ellipk, mp.ellipk, 1 - 1e-9),
        (special.ellipk, mp.ellipk, -1e4),
        (special.ellipe, mp.ellipe, 1e-9),
        (special.ellipkm1, lambda p: mp.ellipk(1 - p), 1e-30),
        (lambda m: special.ellipkinc(0.7, m), lambda m: mp.ellipf(mp.mpf(0.7), m), 1e-9),
        (lambda m: special.ellipkinc(4.0, m), lambda m: mp.ellipf(mp.mpf(4.0), m), 0.05),
        (lambda m: special.ellipeinc(4.0, m), lambda m: mp.ellipe(mp.mpf(4.0), m), 0.2),
        *[
            (lambda x, z=z: special.elliprd(x, 2.0, z), lambda x, z=z: mp.elliprd(x, 2, mp.mpf(z)), 1.0)
            for z in (1.0, 1.0 + 1e-12, 1.0 + 1e-6, 1.1)
        ],
        (lambda z: special.elliprd(1.0, 1.0, z), lambda z: mp.elliprd(1, 1, z), 1.0),
        (lambda z: special.elliprd(1e-3, 1.0, z), lambda z: mp.elliprd(mp.mpf(1e-3), 1, z), 1.0 - 1e-10),
        (special.exprel, lambda x: mp.expm1(x) / x, -60.0),
        (lambda p: special.inv_boxcox(0.5, p), lambda p: mp.exp(mp.log1p(p / 2) / p), 0.05),
        (lambda p: special.inv_boxcox(0.5, p), lambda p: mp.exp(mp.log1p(p / 2) / p), 0.07),
        (lambda p: special.inv_boxcox(0.5, p), lambda p: mp.exp(mp.log1p(p / 2) / p), 1e-7),
        (
            lambda d: special.pseudo_huber(d, 1e-5),
            lambda d: d**2 * (mp.sqrt(1 + (mp.mpf(1e-5) / d) ** 2) - 1),
            3.0,
        ),
        (lambda s: special.voigt_profile(0.3, s, 0.2), lambda s: of_voigt(0.3, s, 0.2), 1e-3),
        (lambda s: special.voigt_profile(5.0, s, 0.2), lambda s: of_voigt(5.0, s, 0.2), 1e-9),
        (lambda s: special.voigt_profile(0.3, s, 0.2), lambda s: of_voigt(0.3, s, 0.2), 0.02),
        (lambda y: special.powm1(0.3, y), lambda y: mp.mpf(0.3) ** y - 1, 40.0),
        (lambda x: special.powm1(x, 40.0), lambda x: x**40 - 1, 0.3),
        (
            lambda y: special.inv_boxcox1p(y, 0.7),
            lambda y: mp.exp(mp.log1p(mp.mpf(0.7) * y) / mp.mpf(0.7)) - 1,
            -1.4285,
        ),
        (
            lambda p: special.inv_boxcox1p(-1.4285, p),
            lambda p: mp.exp(mp.log1p(p * mp.mpf(-1.4285)) / p) - 1,
            0.7,
        ),
        (special.psi, lambda x: mp.psi(0, x), -7.3),
        (lambda x: special.gammainc(900.0, x), lambda x: mp.gammainc(900, 0, x, regularized=True), 880.0),
    ],
)
def test_slopes_that_could_cancel(f, of_mpmath, x):
    """Small differences of large numbers are avoided: eight digits, of the second derivative five."""
    with mp.workdps(60):
        if of_mpmath is None:  # an inverse: 1 over the slope of the function there
            t = mp.mpf(float(f(x)))
            wanted = [float(1 / mp.diff(lambda u: mp.log(mp.erfc(-u / mp.sqrt(2)) / 2), t)), None]
        else:
            wanted = [float(mp.diff(of_mpmath, mp.mpf(x), n)) for n in (1, 2)]
    assert first(f, x) == pytest.approx(wanted[0], rel=1e-8, abs=0)
    if wanted[1] is not None:
        assert second(f, x) == pytest.approx(wanted[1], rel=1e-5, abs=0)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: special.boxcox(x, -1.3), 0.0),
        (lambda p: special.boxcox1p(np.inf, p), 0.7),
        (special.exprel, 1e300),
        (special.exprel, np.inf),
    ],
)
def test_what_is_infinite_is_answered(f, x):
    """SciPy's hypergeometric function would not return."""
    assert first(f, x) == INF


def test_a_negative_base_has_a_slope():
    """As its power has; with the power, whole, held."""
    f = lambda x: special.powm1(x, 3.0)
    assert first(f, -2.0) == pytest.approx(12.0) and second(f, -2.0) == pytest.approx(-12.0)
    assert first(lambda x: special.powm1(x, 0.0), 0.0) == 0.0


def test_complex_slopes():
    """Far out, and where one side is reflected on the other."""
    with mp.workdps(40):
        for z in (30 - 40j, 3 - 0.5j):
            wanted = complex(mp.diff(lambda t: mp.exp(-t * t) * mp.erfc(-1j * t), mp.mpc(z)))
            assert np.conj(_complex_slope(special.wofz, z)) == pytest.approx(wanted, rel=1e-10)
        for z in (-7.4 + 0.3j, -0.2 - 2j, 12 + 5j):
            wanted = complex(mp.psi(1, mp.mpc(z)))
            assert np.conj(_complex_slope(special.psi, z)) == pytest.approx(wanted, rel=1e-11)


def _complex_slope(f, z):
    _, back = rl.pullback(f, z)
    return back(1.0 + 0j)[0]


@pytest.mark.parametrize("name", ["ive", "jve", "yve"])
def test_complex_numbers_that_are_scaled_by_a_size_are_refused(name):
    """There is no complex derivative; real numbers have one."""
    function = getattr(special, name)
    with pytest.raises(NotDifferentiableError, match=name):
        rl.pullback(lambda z: function(1.5, z), 0.5 + 0.4j)
    assert np.isfinite(rl.gradient(lambda x: function(1.5, x), 0.5)[0])


def test_arguments_by_name_and_by_default():
    """SciPy's Python functions are called as their signatures say."""
    slope = rl.gradient(lambda x: special.spherical_jn(2, x, derivative=True), 0.7)[0]
    assert slope == rl.gradient(lambda x: special.spherical_jn(2, z=x, derivative=True), 0.7)[0]
    assert rl.gradient(lambda x: special.jvp(1, x, n=2), 0.7)[0] == pytest.approx(special.jvp(1, 0.7, 3))
    assert rl.gradient(lambda x: special.jvp(1, x), 0.7)[0] == pytest.approx(special.jvp(1, 0.7, 2))
    w = special.lambertw(-0.2, k=-1)
    found = rl.gradient(lambda x: np.real(special.lambertw(x, k=-1)), -0.2)[0]
    assert found == pytest.approx((w / (-0.2 * (1 + w))).real)


def test_keywords_of_ufuncs_are_refused():
    """`out=` writes, `where=` leaves parts undefined."""
    for options in ({"where": np.array([True])}, {"out": np.zeros(1)}):
        with pytest.raises(RuleLabError):
            rl.gradient(lambda x: np.sum(special.erf(x, **options)), np.array([0.5]))


def test_compiled_code_reads_as_its_formula():
    """The slope of a row stands in the emitted text, also beside a parameter that has none."""
    source = rl.adjoint_source(lambda x: np.sum(special.jv(2.5, x) * special.erfi(x)), np.ones(3))
    assert "jv" in source and "np.exp" in source or "exp(" in source
    assert "partials(" not in source


def test_a_row_of_a_function_that_this_scipy_lacks_states_nothing():
    """An older SciPy has not all of them."""
    table = SpecialTable("older")
    table.row("no_such_function", lambda out, x: x, (0.3,))
    table.function_row("no_such_function", lambda out, x: x, (None, None), (0.3,))
    assert table.rules == [] and table.points == [] and table.rows == {}


def test_points_have_all_forms():
    """Numbers, arrays, no dimensions, short floats in a column, none; a constant stays as it is."""
    points = points_at((2, (0.3, 1.2)))
    assert points[0] == (2, 0.3) and all(point[0] == 2 for point in points)
    assert [np.shape(point[1]) for point in points] == [(), (2,), (), (2,), (0, 2)]
    assert points[3][1].dtype == np.float32


def test_a_factor_of_0_is_stronger_than_infinity():
    """Where a power loses its exponent nothing is left."""
    assert times(0.0, np.inf) == 0 and times(2.0, 3.0) == 6


@pytest.mark.parametrize(
    "f",
    [
        lambda x: special.hyp2f1(*[0.5, 0.7, 1.5], x),
        lambda x: special.hyp2f1(*[0.5, 0.7], 1.5, *[x]),
        lambda x: special.hyp2f1(*(0.5, 0.7, 1.5), x),
    ],
)
def test_parameters_in_a_list_are_constants(f):
    """In second derivatives, too."""
    plain = lambda x: special.hyp2f1(0.5, 0.7, 1.5, x)
    assert rl.hessian(f, 0.3) == rl.hessian(plain, 0.3)
    assert second(f, 0.3) == second(plain, 0.3)
    assert rl.pushforward(lambda x: rl.pushforward(f, x)(1.0), 0.3)(1.0) == second(plain, 0.3)


def test_lists_are_the_arrays_that_numpy_makes_of_them():
    """Of one argument and of several."""
    f = lambda a: np.sum(special.erf([a, 2 * a])) + np.sum(special.xlogy([a, 1.5], a))
    arrays = lambda a: special.erf(a) + special.erf(2 * a) + special.xlogy(a, a) + special.xlogy(1.5, a)
    slope = rl.gradient(arrays, 0.3)[0]
    assert rl.gradient(f, 0.3)[0] == pytest.approx(slope) == rl.pushforward(f, 0.3)(1.0)
    (by_list,) = rl.gradient(lambda xs: np.sum(special.betainc(2.0, 1.5, xs)), [0.3, 0.4])
    (by_array,) = rl.gradient(lambda xs: np.sum(special.betainc(2.0, 1.5, xs)), np.array([0.3, 0.4]))
    assert by_list == pytest.approx(list(by_array))


SPREAD = {
    "a list": lambda x: special.jv(*[2.5, x]),
    "a list of its own name": lambda x: (lambda args: special.jv(*args))([2.5, x]),
    "a sum of lists": lambda x: special.gammainc(*([2.5] + [x])),
    "a comprehension": lambda x: special.yv(*[item for item in (2.5, x)]),
    "a dict": lambda x: special.jvp(**{"v": 2.5, "z": x}),
    "a list of arrays": lambda x: np.sum(special.iv(*[np.array([1.5, 2.5]), x])),
    "two of three": lambda x: special.betainc(*[1.5, 2.5], x),
    "a comprehension that chooses": lambda x: special.jv(*[x if i else v for i, v in enumerate([2.5, 0.0])]),
    "one with a pole": lambda x: special.yv(*[x if i else v for i, v in enumerate([2.5, 0.0])]),
    "one with a scaled pole": lambda x: special.kve(*[2.5, x]),
}


@pytest.mark.parametrize("how", SPREAD)
def test_a_parameter_that_is_spread_from_a_list_stays_constant(how):
    """A number in a list has a tangent of zero beside those that vary, and needs no slope."""
    f, x, h = SPREAD[how], 0.7, 1e-3
    wanted = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)
    assert first(f, x) == pytest.approx(wanted, rel=1e-8)
    assert rl.pushforward(f, x)(1.0) == pytest.approx(wanted, rel=1e-8)
    of_slope = lambda x: rl.gradient(f, x)[0]
    again = (8 * (of_slope(x + h) - of_slope(x - h)) - (of_slope(x + 2 * h) - of_slope(x - 2 * h))) / (12 * h)
    assert rl.hessian(f, x) == pytest.approx(again, rel=1e-7)
    along = lambda x: rl.pushforward(f, x)(1.0)
    assert rl.pushforward(along, x)(1.0) == pytest.approx(again, rel=1e-7)


def test_a_parameter_in_a_list_that_moves_is_refused():
    """Forwards, backwards, by the direction in which it moves, and where a part of an array does."""
    f = lambda v: special.jv(*[v, 0.7])
    along = rl.pushforward(f, 2.5)
    of_both = lambda v: np.sum(special.jv(*[v, np.array([0.7, 0.9])]))
    for ask in (
        lambda: along(1.0),
        lambda: rl.gradient(f, 2.5),
        lambda: rl.hessian(f, 2.5),
        lambda: rl.gradient(lambda v_dot: rl.pushforward(f, 2.5)(v_dot), 0.0),
        lambda: rl.pushforward(of_both, np.array([1.5, 2.5]))(np.array([0.0, 1.0])),
        lambda: rl.hessian(lambda p: special.jv(*[p[0], p[1]]), np.array([2.5, 0.7])),
    ):
        with pytest.raises(RuleLabError, match="order of a Bessel function"):
            ask()


CAPTURED = {
    "an order": lambda v: lambda x: special.jv(v, x),
    "of a function with a term": lambda v: lambda x: special.struve(v, x),
    "twice": lambda v: lambda x: special.jv(v, x) * special.gammainc(v, x),
    "computed": lambda v: lambda x: special.jv(2 * v - 1 / 4, x) + special.jv(-v / 2, x),
    "in a list": lambda v: lambda x: special.jv([v, 1.0], x)[0],
    "in an array that is made": lambda v: lambda x: np.sum(special.jv(np.array([v, 1.0]), x)),
    "spread": lambda v: lambda x: np.sum(special.jv(v * np.arange(3.0), x)),
    "in an object": lambda v: (lambda held: lambda x: special.jv(held.order, x))(SimpleNamespace(order=v)),
    "a default": lambda v: lambda x, order=v: special.jv(order, x),
    "a whole one": lambda v: (lambda n: lambda x: special.yn(n, x))(int(v)),
    "in a list that is captured": lambda v: (lambda vs: lambda x: np.sum(special.jv(vs, x)))([v, 1.0]),
    "in an array": lambda v: (lambda vs: lambda x: np.sum(special.jv(vs, x)))(np.array([v, 1.0])),
    "in a transposed one": lambda v: (lambda vs: lambda x: special.jv(vs.T, x)[0])(np.array([v, 1.0])),
    "a mean": lambda v: (lambda vs: lambda x: special.jv(np.mean(vs), x))(np.array([v, 1.0])),
    "chosen": lambda v: lambda x: special.jv(np.where(v > 9, 1.0, v), x),
    "taken": lambda v: (lambda vs: lambda x: special.jv(np.take(vs, 0), x))(np.array([v, 1.0])),
    "in a loop": lambda v: (lambda vs: lambda x: sum([special.jv(n, x) for n in vs]))(np.array([v, 1.0])),
    "made an array": lambda v: (lambda vs: lambda x: np.sum(special.jv(np.asarray(vs), x)))([v, 1.0]),
    "in a branch": lambda v: lambda x: special.jv(v, x) if v > 1 else x,
    "of a function that is called": lambda v: (lambda g: lambda x: g(x) ** 2)(lambda x: special.jv(v, x)),
}
AGAIN = {
    "hessian": lambda f: rl.hessian(f, 1.3),
    "reverse over reverse": lambda f: rl.gradient(lambda x: rl.gradient(f, x)[0], 1.3)[0],
    "forwards over reverse": lambda f: rl.pushforward(lambda x: rl.gradient(f, x)[0], 1.3)(1.0),
    "reverse over forwards": lambda f: rl.gradient(lambda x: rl.pushforward(f, x)(1.0), 1.3)[0],
    "of an array": lambda f: rl.hessian(lambda xs: sum([f(x) for x in xs]), np.array([1.3, 0.7]))[0, 0],
}


@pytest.mark.parametrize("how", CAPTURED)
def test_what_is_captured_stays_constant_in_second_derivatives(how):
    """The slope by a parameter that nobody varies is not needed, in any mixture of modes."""
    f, h = CAPTURED[how](2.5), 1e-2
    at = [f(1.3 + k * h) for k in (-2, -1, 0, 1, 2)]
    wanted = (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * h * h)
    found = {mode: ask(f) for mode, ask in AGAIN.items()}
    assert found == pytest.approx(dict.fromkeys(AGAIN, wanted), rel=1e-6)


@pytest.mark.parametrize("how", [how for how in CAPTURED if how != "a whole one"])
def test_what_is_captured_and_moves_is_refused(how):
    """Then the slope is needed: of a number that the function which is differentiated hands on."""
    def f(v):
        return CAPTURED[how](v)(1.3)

    for ask in (rl.gradient, rl.hessian, lambda f, v: rl.pushforward(f, v)(1.0)):
        with pytest.raises(RuleLabError, match="order of a Bessel|shape parameter"):
            ask(f, 2.5)
