# ruff: noqa: E501
"""Functions of SciPy that are no elementwise ones: right rules as users write them, and at least ten mistakes
in each family.
"""

from __future__ import annotations

import re

from rule_corpus.cases import case

IMPORTS = "from scipy import fft, integrate, linalg, optimize, signal, special, stats\n\n\n"
LEAST = 10  # mistakes in each family


def of(family, where, text, *mistakes):
    """The rules of `case`, all of one family: the mistake stands in the name."""
    made = case(where, IMPORTS + text.strip("\n"), *mistakes, kind=family)
    function = re.search(r"^def (\w+)", text, re.MULTILINE)[1]
    return [rule._replace(kind=family, function=function) for rule in made]


RULES = [
    # --- continuous distributions ---------------------------------------------------------------------------
    *of(
        "continuous distributions",
        "vec(n), num(), pnum()",
        '''
def normal(x, mu, sigma):
    return stats.norm.logpdf(x, mu, sigma)


@rl.rrule_for(normal)
def normal_rrule(x, mu, sigma):
    z = (x - mu) / sigma

    def normal_pullback(y_bar):
        x_bar = -z / sigma * y_bar
        mu_bar = -np.sum(x_bar)
        sigma_bar = np.sum((z**2 - 1) / sigma * y_bar)
        return rl.NoTangent(), x_bar, mu_bar, sigma_bar

    return stats.norm.logpdf(x, mu, sigma), normal_pullback
''',
        ("sign", "mu_bar = -np.sum", "mu_bar = np.sum"),
        ("scale forgotten", "-z / sigma", "-z"),
        ("term missing", "(z**2 - 1)", "z**2"),
        ("power", "z**2", "z"),
        ("order", "mu_bar, sigma_bar", "sigma_bar, mu_bar"),
        ("sum for one", "np.sum((z**2 - 1) / sigma * y_bar)", "np.sum((z**2 - 1) / sigma) * np.sum(y_bar)"),
        ("constant for variable", "x_bar, mu_bar, sigma_bar\n", "x_bar, mu_bar, rl.ZeroTangent()\n"),
    ),
    *of(
        "continuous distributions",
        "pvec(n), pnum()",
        '''
def below(x, scale):
    return stats.gamma.cdf(x, 2.5, scale=scale)


@rl.rrule_for(below)
def below_rrule(x, scale):
    density = stats.gamma.pdf(x, 2.5, scale=scale)

    def below_pullback(y_bar):
        return rl.NoTangent(), density * y_bar, -np.sum(x / scale * density * y_bar)

    return stats.gamma.cdf(x, 2.5, scale=scale), below_pullback
''',
        ("log forgotten", "density = stats.gamma.pdf", "density = stats.gamma.logpdf"),
        ("scale forgotten", "density = stats.gamma.pdf(x, 2.5, scale=scale)", "density = stats.gamma.pdf(x / scale, 2.5)"),
        ("sign", "-np.sum(x", "np.sum(x"),
        ("wrong parameter's slope", "np.sum(x / scale * density * y_bar)", "np.sum(density * y_bar)"),
    ),
    *of(
        "continuous distributions",
        "num(), 1 + pnum()",
        '''
def heavy(x, df):
    return stats.t.logpdf(x, df)


@rl.rrule_for(heavy)
def heavy_rrule(x, df):
    far = x**2 / df

    def heavy_pullback(y_bar):
        x_bar = -(df + 1) * x / (df + x**2)
        shape = special.psi((df + 1) / 2) - special.psi(df / 2)
        df_bar = 0.5 * (shape - 1 / df - np.log1p(far) + (df + 1) * far / (df + x**2))
        return rl.NoTangent(), y_bar * x_bar, y_bar * df_bar

    return stats.t.logpdf(x, df), heavy_pullback
''',
        ("term missing", " - 1 / df", ""),
        ("log forgotten", "np.log1p(far)", "far"),
        ("factor", "0.5 * (shape", "(shape"),
        ("off by one", "-(df + 1)", "-df"),
        ("half a shape", "special.psi(df / 2)", "special.psi(df)"),
    ),
    *of(
        "continuous distributions",
        "unum(), pnum()",
        '''
def quantile(p, scale):
    return stats.expon.ppf(p, scale=scale)


@rl.rrule_for(quantile)
def quantile_rrule(p, scale):
    def quantile_pullback(y_bar):
        return rl.NoTangent(), y_bar * scale / (1 - p), -y_bar * np.log1p(-p)

    return stats.expon.ppf(p, scale=scale), quantile_pullback
''',
        ("scale forgotten", "y_bar * scale /", "y_bar /"),
        ("tail", "scale / (1 - p)", "scale / p"),
        ("log forgotten", "-y_bar * np.log1p(-p)", "y_bar * p"),
        ("sign", "-y_bar * np", "y_bar * np"),
    ),
    # --- discrete distributions -----------------------------------------------------------------------------
    *of(
        "discrete distributions",
        "3, pnum()",
        '''
def events(k: int, mu):
    return stats.poisson.logpmf(k, mu)


@rl.rrule_for(events)
def events_rrule(k, mu):
    def events_pullback(y_bar):
        return rl.NoTangent(), rl.NoTangent(), y_bar * (k / mu - 1)

    return stats.poisson.logpmf(k, mu), events_pullback
''',
        ("sign", "(k / mu - 1)", "(1 - k / mu)"),
        ("term missing", "(k / mu - 1)", "(k / mu)"),
        ("log forgotten", "(k / mu - 1)", "(k / mu - 1) * stats.poisson.pmf(k, mu)"),
        ("off by one", "(k / mu - 1)", "((k - 1) / mu - 1)"),
    ),
    *of(
        "discrete distributions",
        "2, 6, unum()",
        '''
def heads(k: int, tries: int, p):
    return stats.binom.logpmf(k, tries, p)


@rl.rrule_for(heads)
def heads_rrule(k, tries, p):
    def heads_pullback(y_bar):
        slope = k / p - (tries - k) / (1 - p)
        return rl.NoTangent(), rl.NoTangent(), rl.NoTangent(), y_bar * slope

    return stats.binom.logpmf(k, tries, p), heads_pullback
''',
        ("sign", "k / p - (tries", "k / p + (tries"),
        ("term missing", "k / p - (tries - k) / (1 - p)", "k / p"),
        ("count", "(tries - k)", "tries"),
        ("tail", "/ (1 - p)", "/ p"),
    ),
    *of(
        "discrete distributions",
        "2, pnum(), unum()",
        '''
def failures(k: int, r, p):
    return stats.nbinom.logpmf(k, r, p)


@rl.rrule_for(failures)
def failures_rrule(k, r, p):
    def failures_pullback(y_bar):
        r_bar = special.psi(k + r) - special.psi(r) + np.log(p)
        p_bar = r / p - k / (1 - p)
        return rl.NoTangent(), rl.NoTangent(), y_bar * r_bar, y_bar * p_bar

    return stats.nbinom.logpmf(k, r, p), failures_pullback
''',
        ("log forgotten", "+ np.log(p)", "+ p"),
        ("term missing", " - special.psi(r)", ""),
        ("order", "y_bar * r_bar, y_bar * p_bar", "y_bar * p_bar, y_bar * r_bar"),
        ("other function", "special.psi(k + r)", "special.gammaln(k + r)"),
    ),
    *of(
        "discrete distributions",
        "2, pnum()",
        '''
def at_most(k: int, mu):
    return stats.poisson.cdf(k, mu)


@rl.rrule_for(at_most)
def at_most_rrule(k, mu):
    def at_most_pullback(y_bar):
        return rl.NoTangent(), rl.NoTangent(), -y_bar * stats.poisson.pmf(k, mu)

    return stats.poisson.cdf(k, mu), at_most_pullback
''',
        ("sign", "-y_bar * stats", "y_bar * stats"),
        ("off by one", "stats.poisson.pmf(k, mu)", "stats.poisson.pmf(k - 1, mu)"),
    ),
    # --- several variables ----------------------------------------------------------------------------------
    *of(
        "distributions of several variables",
        "vec(n), vec(n), spd(n)",
        '''
def cloud(x, mean, cov):
    return stats.multivariate_normal.logpdf(np.reshape(x, len(mean)), mean, cov)


@rl.rrule_for(cloud)
def cloud_rrule(x, mean, cov):
    s = np.linalg.solve(cov, x - mean)

    def cloud_pullback(y_bar):
        cov_bar = 0.5 * (np.outer(s, s) - np.linalg.inv(cov))
        return rl.NoTangent(), -y_bar * s, y_bar * s, y_bar * cov_bar

    return stats.multivariate_normal.logpdf(x, mean, cov), cloud_pullback
''',
        ("sign", "y_bar * s, y_bar * cov", "-y_bar * s, y_bar * cov"),
        ("term missing", " - np.linalg.inv(cov))", ")"),
        ("factor", "0.5 * (np", "(np"),
        ("determinant", "np.linalg.inv(cov))", "cov)"),
        ("inverse forgotten", "s = np.linalg.solve(cov, x - mean)", "s = cov @ (x - mean)"),
        ("log forgotten", "return rl.NoTangent(), -y_bar * s", "y_bar = y_bar * stats.multivariate_normal.pdf(x, mean, cov)\n        return rl.NoTangent(), -y_bar * s"),
        ("order", "-y_bar * s, y_bar * s, y", "y_bar * s, -y_bar * s, y"),
        ("diagonal", "np.outer(s, s) -", "np.diag(s * s) -"),
    ),
    *of(
        "distributions of several variables",
        "pvec(n + 1)",
        '''
def shares(alpha):
    x = np.ones(len(alpha)) / len(alpha)
    return stats.dirichlet.logpdf(x, alpha)


@rl.rrule_for(shares)
def shares_rrule(alpha):
    x = np.ones(len(alpha)) / len(alpha)

    def shares_pullback(y_bar):
        slope = special.psi(np.sum(alpha)) - special.psi(alpha) + np.log(x)
        return rl.NoTangent(), y_bar * slope

    return stats.dirichlet.logpdf(x, alpha), shares_pullback
''',
        ("log forgotten", "+ np.log(x)", "+ x"),
        ("term missing", "special.psi(np.sum(alpha)) - ", "-"),
        ("sign", "- special.psi(alpha)", "+ special.psi(alpha)"),
        ("mean for sum", "np.sum(alpha)", "np.mean(alpha)"),
        ("other function", "special.psi(alpha)", "special.gammaln(alpha)"),
    ),
    # --- integrals ------------------------------------------------------------------------------------------
    *of(
        "integrals",
        "pnum(), num(), num()",
        '''
def area(a, low, high):
    return integrate.quad(lambda t: np.exp(-a * t**2), low, high)[0]


@rl.rrule_for(area)
def area_rrule(a, low, high):
    def area_pullback(y_bar):
        inside = integrate.quad(lambda t: -(t**2) * np.exp(-a * t**2), low, high)[0]
        at_low = np.exp(-a * low**2)
        at_high = np.exp(-a * high**2)
        return rl.NoTangent(), y_bar * inside, -y_bar * at_low, y_bar * at_high

    return integrate.quad(lambda t: np.exp(-a * t**2), low, high)[0], area_pullback
''',
        ("limits swapped", "-y_bar * at_low, y_bar * at_high", "-y_bar * at_high, y_bar * at_low"),
        ("sign", "-y_bar * at_low", "y_bar * at_low"),
        ("sign", "lambda t: -(t**2)", "lambda t: t**2"),
        ("limits swapped", "np.exp(-a * t**2), low, high)[0]\n        at_low", "np.exp(-a * t**2), high, low)[0]\n        at_low"),
        ("slope of another variable", "lambda t: -(t**2) * np", "lambda t: -2 * a * t * np"),
        ("limit of zero", "np.exp(-a * t**2), low, high)[0]\n        at_low", "np.exp(-a * t**2), 0, high)[0]\n        at_low"),
        ("parameter forgotten", "y_bar * inside", "rl.ZeroTangent()"),
        ("limit forgotten", "-y_bar * at_low", "0.0"),
    ),
    *of(
        "integrals",
        "vec(n + 1), np.cumsum(pvec(n + 1))",
        '''
def under(y, x):
    return integrate.trapezoid(y, x)


@rl.rrule_for(under)
def under_rrule(y, x):
    def under_pullback(out_bar):
        half = 0.5 * np.diff(x)
        heights = 0.5 * (y[1:] + y[:-1])
        y_bar = np.zeros(len(y))
        x_bar = np.zeros(len(x))
        y_bar[1:] += half
        y_bar[:-1] += half
        x_bar[1:] += heights
        x_bar[:-1] -= heights
        return rl.NoTangent(), out_bar * y_bar, out_bar * x_bar

    return integrate.trapezoid(y, x), under_pullback
''',
        ("factor", "half = 0.5 * np", "half = np"),
        ("sign", "x_bar[:-1] -=", "x_bar[:-1] +="),
        ("end forgotten", "        y_bar[:-1] += half\n", ""),
        ("order", "out_bar * y_bar, out_bar * x_bar", "out_bar * x_bar, out_bar * y_bar"),
        ("wrong height", "y[1:] + y[:-1]", "y[1:] + y[1:]"),
    ),
    *of(
        "integrals",
        "vec(n + 1)",
        '''
def summed_up(y):
    return integrate.cumulative_trapezoid(y, dx=0.25, initial=0)


@rl.rrule_for(summed_up)
def summed_up_rrule(y):
    def summed_up_pullback(out_bar):
        tail = np.cumsum(out_bar[::-1])[::-1]
        y_bar = np.zeros(len(y))
        y_bar[1:] += 0.125 * tail[1:]
        y_bar[:-1] += 0.125 * tail[1:]
        return rl.NoTangent(), y_bar

    return integrate.cumulative_trapezoid(y, dx=0.25, initial=0), summed_up_pullback
''',
        ("transposition", "np.cumsum(out_bar[::-1])[::-1]", "np.cumsum(out_bar)"),
        ("off by one", "y_bar[:-1] += 0.125 * tail[1:]", "y_bar[:-1] += 0.125 * tail[:-1]"),
        ("step forgotten", "0.125 * tail[1:]\n        y_bar[:-1] += 0.125", "0.5 * tail[1:]\n        y_bar[:-1] += 0.5"),
    ),
    # --- differential equations -----------------------------------------------------------------------------
    *of(
        "differential equations",
        "num(), num()",
        '''
FINE = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}


def turned(rate, start):
    return integrate.solve_ivp(lambda t, y: rate * (2 + np.cos(y)), (0, 0.5), [start], **FINE).y[0, -1]


@rl.rrule_for(turned)
def turned_rrule(rate, start):
    end = integrate.solve_ivp(lambda t, y: rate * (2 + np.cos(y)), (0, 0.5), [start], **FINE).y[0, -1]

    def turned_pullback(y_bar):
        speed = 2 + np.cos(end)
        return rl.NoTangent(), y_bar * 0.5 * speed, y_bar * speed / (2 + np.cos(start))

    return end, turned_pullback
''',
        ("time forgotten", "y_bar * 0.5 * speed", "y_bar * speed"),
        ("factor", "y_bar * 0.5 * speed", "y_bar * 0.5 * rate * speed"),
        ("start forgotten", "speed / (2 + np.cos(start))", "speed"),
        ("at the wrong end", "speed = 2 + np.cos(end)", "speed = 2 + np.cos(start)"),
        ("sign", "y_bar * 0.5 * speed", "-y_bar * 0.5 * speed"),
    ),
    *of(
        "differential equations",
        "0.4 * mat(2, 2), vec(2)",
        '''
FINE = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}


def carried(a, y0):
    return integrate.solve_ivp(lambda t, y: a @ y, (0, 1), y0, **FINE).y[:, -1]


@rl.rrule_for(carried)
def carried_rrule(a, y0):
    y1 = integrate.solve_ivp(lambda t, y: a @ y, (0, 1), y0, **FINE).y[:, -1]
    n = len(y0)

    def carried_pullback(y_bar):
        def backwards(t, z):
            y, lam = z[:n], z[n : 2 * n]
            return np.concatenate((a @ y, -a.T @ lam, -np.outer(lam, y).ravel()))

        size = max(np.max(np.abs(y_bar)), 1e-300)
        end = np.concatenate((y1, y_bar / size, np.zeros(n * n)))
        z = size * integrate.solve_ivp(backwards, (1, 0), end, **FINE).y[:, -1]
        return rl.NoTangent(), z[2 * n :].reshape(n, n), z[n : 2 * n]

    return y1, carried_pullback
''',
        ("transposition", "-a.T @ lam", "-a @ lam"),
        ("sign", "-a.T @ lam", "a.T @ lam"),
        ("transposition", "np.outer(lam, y)", "np.outer(y, lam)"),
        ("sign", "-np.outer", "np.outer"),
        ("limits swapped", "(1, 0), end", "(0, 1), end"),
        ("state not followed", "(a @ y, -a.T", "(0 * y, -a.T"),
        ("begun at the start", "(y1, y_bar / size", "(y0, y_bar / size"),
        ("cotangent not carried", "z[n : 2 * n]\n\n    return", "y_bar\n\n    return"),
    ),
    # --- roots and optimisers -------------------------------------------------------------------------------
    *of(
        "roots and optimisers",
        "pnum(), num()",
        '''
def crossing(a, b):
    return optimize.brentq(lambda x: x**3 + a * x - b, -10, 10, xtol=1e-14)


@rl.rrule_for(crossing)
def crossing_rrule(a, b):
    x = optimize.brentq(lambda x: x**3 + a * x - b, -10, 10, xtol=1e-14)

    def crossing_pullback(y_bar):
        slope = 3 * x**2 + a
        return rl.NoTangent(), -y_bar * x / slope, y_bar / slope

    return x, crossing_pullback
''',
        ("sign", "-y_bar * x", "y_bar * x"),
        ("term missing", "3 * x**2 + a", "3 * x**2"),
        ("inverse forgotten", "y_bar / slope", "y_bar * slope"),
        ("factor", "3 * x**2", "x**2"),
        ("slope of another variable", "-y_bar * x / slope", "-y_bar * a / slope"),
    ),
    *of(
        "roots and optimisers",
        "num(), pnum()",
        '''
def lowest(p, q):
    cost = lambda x: np.cosh(x[0] - p) + 0.5 * q * x[0] ** 2
    slope = lambda x: np.array([np.sinh(x[0] - p) + q * x[0]])
    return optimize.newton(lambda x: slope([x])[0], optimize.minimize(cost, [p / 2], jac=slope).x[0], tol=1e-14)


@rl.rrule_for(lowest)
def lowest_rrule(p, q):
    x = lowest(p, q)

    def lowest_pullback(y_bar):
        bend = np.cosh(x - p) + q
        return rl.NoTangent(), y_bar * np.cosh(x - p) / bend, -y_bar * x / bend

    return x, lowest_pullback
''',
        ("term missing", "np.cosh(x - p) + q", "np.cosh(x - p)"),
        ("first derivative", "bend = np.cosh(x - p)", "bend = np.sinh(x - p)"),
        ("sign", "-y_bar * x / bend", "y_bar * x / bend"),
        ("order", "y_bar * np.cosh(x - p) / bend, -y_bar * x / bend", "-y_bar * x / bend, y_bar * np.cosh(x - p) / bend"),
    ),
    *of(
        "roots and optimisers",
        "mat(n + 2, 2), vec(n + 2)",
        '''
def fitted(a, b):
    exact = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    return optimize.least_squares(lambda w: a @ w - b, np.zeros(2), jac=lambda w: a, method="lm", **exact).x


@rl.rrule_for(fitted)
def fitted_rrule(a, b):
    w = fitted(a, b)

    def fitted_pullback(w_bar):
        u = np.linalg.solve(a.T @ a, w_bar)
        left = b - a @ w
        return rl.NoTangent(), np.outer(left, u) - np.outer(a @ u, w), a @ u

    return w, fitted_pullback
''',
        ("term missing", "np.outer(left, u) - np", "-np"),
        ("sign", "left = b - a @ w", "left = a @ w - b"),
        ("normal equations forgotten", "np.linalg.solve(a.T @ a, w_bar)", "w_bar"),
        ("sign", "u) - np.outer", "u) + np.outer"),
        ("order of an outer product", "np.outer(a @ u, w)", "np.outer(b, u)"),
    ),
    # --- linear algebra -------------------------------------------------------------------------------------
    *of(
        "linear algebra",
        "0.3 * mat(n, n) + 3 * np.eye(n), 0.3 * mat(2, 2) + 3 * np.eye(2), mat(n, 2)",
        '''
def sylvester(a, b, q):
    return linalg.solve_sylvester(a, b, q)


@rl.rrule_for(sylvester)
def sylvester_rrule(a, b, q):
    x = linalg.solve_sylvester(a, b, q)

    def sylvester_pullback(x_bar):
        s = linalg.solve_sylvester(a.T, b.T, x_bar)
        return rl.NoTangent(), -s @ x.T, -x.T @ s, s

    return x, sylvester_pullback
''',
        ("transposition", "linalg.solve_sylvester(a.T, b.T, x_bar)", "linalg.solve_sylvester(a, b, x_bar)"),
        ("transposition", "-s @ x.T", "-x @ s.T"),
        ("sign", "-x.T @ s", "x.T @ s"),
        ("transposition", "-x.T @ s", "-s.T @ x"),
        ("transposition of one", "(a.T, b.T, x_bar)", "(a.T, b, x_bar)"),
        ("not carried", "-x.T @ s, s", "-x.T @ s, x_bar"),
    ),
    *of(
        "linear algebra",
        "well(n), vec(n)",
        '''
def forward_solved(a, b):
    return linalg.solve_triangular(a, b, lower=True)


@rl.rrule_for(forward_solved)
def forward_solved_rrule(a, b):
    x = linalg.solve_triangular(a, b, lower=True)

    def forward_solved_pullback(x_bar):
        b_bar = linalg.solve_triangular(a, x_bar, trans="T", lower=True)
        return rl.NoTangent(), -np.tril(np.outer(b_bar, x)), b_bar

    return x, forward_solved_pullback
''',
        ("transposition", ', trans="T", lower', ", lower"),
        ("other half", "-np.tril(np", "-np.triu(np"),
        ("whole matrix", "-np.tril(np.outer(b_bar, x))", "-np.outer(b_bar, x)"),
        ("diagonal forgotten", "-np.tril(np.outer(b_bar, x))", "-np.tril(np.outer(b_bar, x), -1)"),
        ("sign", "-np.tril", "np.tril"),
    ),
    *of(
        "linear algebra",
        "0.5 * mat(n, n)",
        '''
def flow(a):
    return linalg.expm(a)


@rl.rrule_for(flow)
def flow_rrule(a):
    def flow_pullback(y_bar):
        return rl.NoTangent(), linalg.expm_frechet(a.T, y_bar, compute_expm=False)

    return linalg.expm(a), flow_pullback
''',
        ("transposition", "(a.T, y_bar,", "(a, y_bar,"),
        ("transposition", "(a.T, y_bar,", "(a.T, y_bar.T,"),
        ("as of numbers", "linalg.expm_frechet(a.T, y_bar, compute_expm=False)", "linalg.expm(a).T @ y_bar"),
        ("entry by entry", "linalg.expm_frechet(a.T, y_bar, compute_expm=False)", "np.exp(a) * y_bar"),
        ("sign", "(a.T, y_bar,", "(-a.T, y_bar,"),
    ),
    *of(
        "linear algebra",
        "cmat(n, n) + 4 * np.eye(n), cvec(n)",
        '''
def solved(a: complex, b: complex):
    return linalg.solve(a, b)


@rl.rrule_for(solved)
def solved_rrule(a, b):
    x = linalg.solve(a, b)

    def solved_pullback(x_bar):
        b_bar = linalg.solve(a.conj().T, x_bar)
        return rl.NoTangent(), -np.outer(b_bar, x.conj()), b_bar

    return x, solved_pullback
''',
        ("conjugate", "a.conj().T", "a.T"),
        ("conjugate", "np.outer(b_bar, x.conj())", "np.outer(b_bar, x)"),
    ),
    # --- Fourier transforms ---------------------------------------------------------------------------------
    *of(
        "Fourier transforms",
        "cvec(n)",
        '''
def spectrum(z: complex):
    return fft.fft(z)


@rl.rrule_for(spectrum)
def spectrum_rrule(z):
    def spectrum_pullback(y_bar):
        return rl.NoTangent(), len(z) * fft.ifft(y_bar)

    return fft.fft(z), spectrum_pullback
''',
        ("scale forgotten", "len(z) * fft.ifft(y_bar)", "fft.ifft(y_bar)"),
        ("conjugate", "len(z) * fft.ifft(y_bar)", "fft.fft(y_bar)"),
        ("conjugate", "fft.ifft(y_bar)", "fft.ifft(y_bar.conj())"),
        ("real part", "len(z) * fft.ifft(y_bar)", "len(z) * fft.ifft(y_bar).real + 0j"),
    ),
    *of(
        "Fourier transforms",
        "vec(n + 1)",
        '''
def half_spectrum(x):
    return fft.rfft(x)


@rl.rrule_for(half_spectrum)
def half_spectrum_rrule(x):
    n = len(x)

    def half_spectrum_pullback(y_bar):
        whole = np.zeros(n, dtype=complex)
        whole[: len(y_bar)] = y_bar
        return rl.NoTangent(), n * fft.ifft(whole).real

    return fft.rfft(x), half_spectrum_pullback
''',
        ("both halves", "n * fft.ifft(whole).real", "n * fft.irfft(y_bar, n)"),
        ("scale forgotten", "n * fft.ifft", "fft.ifft"),
        ("factor", "n * fft.ifft", "2 * n * fft.ifft"),
        ("size", "n * fft.ifft", "len(y_bar) * fft.ifft"),
        ("imaginary part", "fft.ifft(whole).real", "fft.ifft(whole).imag"),
    ),
    *of(
        "Fourier transforms",
        "vec(n + 1)",
        '''
def cosines(x):
    return fft.dct(x)


@rl.rrule_for(cosines)
def cosines_rrule(x):
    def cosines_pullback(y_bar):
        weighted = y_bar.copy()
        weighted[0] *= 2
        return rl.NoTangent(), fft.dct(weighted, type=3)

    return fft.dct(x), cosines_pullback
''',
        ("first weight", "        weighted[0] *= 2\n", ""),
        ("transposition", "fft.dct(weighted, type=3)", "fft.dct(weighted)"),
        ("inverse for transposed", "fft.dct(weighted, type=3)", "fft.idct(y_bar)"),
        ("sines", "fft.dct(weighted, type=3)", "fft.dst(weighted, type=3)"),
    ),
    # --- signals --------------------------------------------------------------------------------------------
    *of(
        "signals",
        "vec(n + 2), vec(2)",
        '''
def blurred(x, h):
    return signal.convolve(x, h)


@rl.rrule_for(blurred)
def blurred_rrule(x, h):
    def blurred_pullback(y_bar):
        x_bar = signal.correlate(y_bar, h, mode="valid")
        h_bar = signal.correlate(y_bar, x, mode="valid")
        return rl.NoTangent(), x_bar, h_bar

    return signal.convolve(x, h), blurred_pullback
''',
        ("not turned", 'x_bar = signal.correlate(y_bar, h, mode="valid")', 'x_bar = signal.convolve(y_bar, h, mode="valid")'),
        ("reversed", 'h_bar = signal.correlate(y_bar, x, mode="valid")', 'h_bar = signal.correlate(y_bar, x, mode="valid")[::-1]'),
        ("cut off", 'signal.correlate(y_bar, h, mode="valid")', "signal.correlate(y_bar, h)[: len(x)]"),
        ("wrong variable", 'h_bar = signal.correlate(y_bar, x, mode="valid")', 'h_bar = signal.correlate(y_bar, x_bar, mode="valid")'),
    ),
    *of(
        "signals",
        "vec(n + 2), vec(2), 0.9 * snum()",
        '''
def echoed(x, b, r):
    return signal.lfilter(b, [1.0, -r], x)


@rl.rrule_for(echoed)
def echoed_rrule(x, b, r):
    y = signal.lfilter(b, [1.0, -r], x)

    def echoed_pullback(y_bar):
        back = signal.lfilter([1.0], [1.0, -r], y_bar[::-1])[::-1]
        x_bar = signal.lfilter(b, [1.0], back[::-1])[::-1]
        b_bar = np.array([np.dot(back[j:], x[: max(0, len(x) - j)]) for j in range(len(b))])
        r_bar = np.dot(back[1:], y[:-1])
        return rl.NoTangent(), x_bar, b_bar, r_bar

    return y, echoed_pullback
''',
        ("forwards in time", "y_bar[::-1])[::-1]", "y_bar)"),
        ("feedback forgotten", "signal.lfilter([1.0], [1.0, -r], y_bar[::-1])[::-1]", "y_bar"),
        ("sign", "[1.0], [1.0, -r], y_bar", "[1.0], [1.0, r], y_bar"),
        ("taps forgotten", "x_bar = signal.lfilter(b, [1.0], back[::-1])[::-1]", "x_bar = back * 1.0"),
        ("off by one", "np.dot(back[1:], y[:-1])", "np.dot(back, y)"),
        ("sign", "r_bar = np.dot", "r_bar = -np.dot"),
        ("input for output", "np.dot(back[1:], y[:-1])", "np.dot(back[1:], x[:-1])"),
        ("order of taps", "for j in range(len(b))])", "for j in range(len(b))])[::-1]"),
    ),
    # --- reductions -----------------------------------------------------------------------------------------
    *of(
        "reductions",
        "mat(2, n)",
        '''
def soft_maxima(x):
    return special.logsumexp(x, axis=1)


@rl.rrule_for(soft_maxima)
def soft_maxima_rrule(x):
    y = special.logsumexp(x, axis=1)

    def soft_maxima_pullback(y_bar):
        return rl.NoTangent(), np.exp(x - y[:, None]) * y_bar[:, None]

    return y, soft_maxima_pullback
''',
        ("axis", "y_bar[:, None]\n", "np.sum(y_bar)\n"),
        ("scale forgotten", "np.exp(x - y[:, None])", "np.exp(x)"),
        ("log forgotten", "np.exp(x - y[:, None])", "(x - y[:, None])"),
        ("sign", "np.exp(x - y[:, None])", "np.exp(y[:, None] - x)"),
    ),
    *of(
        "reductions",
        "vec(n), pvec(n)",
        '''
def weighted_sum(x, w):
    return special.logsumexp(x, b=w)


@rl.rrule_for(weighted_sum)
def weighted_sum_rrule(x, w):
    y = special.logsumexp(x, b=w)

    def weighted_sum_pullback(y_bar):
        share = np.exp(x - y)
        return rl.NoTangent(), y_bar * w * share, y_bar * share

    return y, weighted_sum_pullback
''',
        ("weights forgotten", "y_bar * w * share", "y_bar * share"),
        ("order", "y_bar * w * share, y_bar * share", "y_bar * share, y_bar * w * share"),
        ("weights twice", ", y_bar * share\n", ", y_bar * w * share\n"),
        ("constant for variable", ", y_bar * share\n", ", rl.ZeroTangent()\n"),
    ),
    *of(
        "reductions",
        "mat(n, 2)",
        '''
def portions(x):
    return special.softmax(x, axis=0)


@rl.rrule_for(portions)
def portions_rrule(x):
    y = special.softmax(x, axis=0)

    def portions_pullback(y_bar):
        return rl.NoTangent(), y * (y_bar - np.sum(y * y_bar, axis=0))

    return y, portions_pullback
''',
        ("term missing", "y * (y_bar - np.sum(y * y_bar, axis=0))", "y * y_bar"),
        ("whole sum", "np.sum(y * y_bar, axis=0)", "np.sum(y * y_bar)"),
        ("mean for sum", "np.sum(y * y_bar, axis=0)", "np.mean(y * y_bar, axis=0)"),
        ("weights forgotten", "np.sum(y * y_bar, axis=0)", "np.sum(y_bar, axis=0)"),
    ),
    *of(
        "reductions",
        "vec(n)",
        '''
def log_portions(x):
    return special.log_softmax(x)


@rl.rrule_for(log_portions)
def log_portions_rrule(x):
    y = special.log_softmax(x)

    def log_portions_pullback(y_bar):
        return rl.NoTangent(), y_bar - np.exp(y) * np.sum(y_bar)

    return y, log_portions_pullback
''',
        ("log forgotten", "np.exp(y) * np", "y * np"),
        ("seed not summed", "np.exp(y) * np.sum(y_bar)", "np.exp(y) * y_bar"),
        ("sign", "y_bar - np.exp", "y_bar + np.exp"),
    ),
]  # fmt: skip
