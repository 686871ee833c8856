"""Functions of matrices and sequences by their definitions, in the arithmetic of mpmath: a witness of rules
that shares no code, no algorithm and no rounding with the library.

Each takes matrices and vectors of mpmath and gives a list of numbers. What a library chooses (signs, phases,
an order) is left out: of vectors there are the projections.
"""

import mpmath
from mpmath import mp

DIGITS = 50
STEP = mpmath.mpf(10) ** -12


def flat(*matrices):
    """The entries of matrices and lists, row by row."""
    return [x for m in matrices for x in m]


def column(m, j):
    return mp.matrix([m[i, j] for i in range(m.rows)])


def projections(m, count=None):
    """Those onto each of the first columns, which have length one."""
    return flat(*[column(m, j) * column(m, j).H for j in range(m.cols if count is None else count)])


# -- factorisations and spectra ------------------------------------------------------------------------------


def svd(a):
    """The values, largest first, and the projections onto the vectors of either side."""
    u, s, vh = mp.svd_c(a)
    return flat(s, projections(u, len(s)), projections(vh.H, len(s)))


def eigh(a):
    """Of the Hermitian part, smallest first."""
    w, v = mp.eighe((a + a.H) / 2)
    return flat(w, projections(v))


def eig(a):
    """The values by their real parts, and the projections onto the vectors made as long as one."""
    w, v = mp.eig(a)
    order = sorted(range(len(w)), key=lambda j: (mp.re(w[j]), mp.im(w[j])))
    columns = [column(v, j) / mp.norm(column(v, j)) for j in order]
    return flat([w[j] for j in order], *[x * x.H for x in columns])


def qr(a):
    """The projection onto the columns so far, and `rᴴ r`: what no sign changes."""
    q, r = mp.qr(a, mode="skinny")
    return flat(projections(q), r.H * r)


def lstsq(a, b):
    """By the normal equations."""
    return flat(mp.lu_solve(a.H * a, a.H * b))


def pinv(a):
    return flat(mp.inverse(a.H * a) * a.H)


def polar(a):
    p = mp.sqrtm(a.H * a)
    return flat(a * mp.inverse(p), p)


# -- equations -----------------------------------------------------------------------------------------------


def sylvester(a, b, q):
    """By the system for all entries of the solution."""
    m, n = q.rows, q.cols
    whole, rest = mp.zeros(m * n), mp.zeros(m * n, 1)
    for i in range(m):
        for j in range(n):
            rest[i * n + j] = q[i, j]
            for k in range(m):
                whole[i * n + j, k * n + j] += a[i, k]
            for k in range(n):
                whole[i * n + j, i * n + k] += b[k, j]
    return flat(mp.lu_solve(whole, rest))


def as_matrix(numbers, n):
    return mp.matrix([numbers[i * n : (i + 1) * n] for i in range(n)])


def lyapunov(a, q):
    return sylvester(a, a.H, q)


def discrete_lyapunov(a, q):
    """By doubling: the sum of `aᵏ q aᴴᵏ`."""
    x, power = q, a
    for _ in range(12):
        x, power = x + power * x * power.H, power * power
    return flat(x)


def riccati(a, b, q, r):
    """By Kleinman's iteration (1968), each step of which is one of Lyapunov's equations; `a` is stable."""
    n, x = a.rows, mp.zeros(a.rows)
    for _ in range(12):
        gain = mp.inverse(r) * b.H * x
        loop = a - b * gain
        x = as_matrix(sylvester(loop.H, loop, -(q + gain.H * r * gain)), n)
    return flat(x)


# -- functions of matrices -----------------------------------------------------------------------------------


def expm(a):
    return flat(mp.expm(a, method="taylor"))


def logm(a):
    return flat(mp.logm(a))


def sqrtm(a):
    return flat(mp.sqrtm(a))


# -- transforms: by their sums -------------------------------------------------------------------------------


def transform(weight, count):
    """A linear transform of a vector: `count` sums with these weights of row and column."""
    return lambda x: [mp.fsum(weight(k, j) * x[j] for j in range(len(x))) for k in range(count)]


def rfft(x):
    n = len(x)
    return transform(lambda k, j: mp.expj(-2 * mp.pi * k * j / n), n // 2 + 1)(x)


def hfft(x):
    """The sum over a Hermitian spectrum of twice as many numbers, less two."""
    n = 2 * (len(x) - 1)
    whole = [*x, *[mp.conj(x[n - k]) for k in range(len(x), n)]]
    whole[0], whole[n // 2] = mp.re(whole[0]), mp.re(whole[n // 2])
    return [mp.re(mp.fsum(mp.expj(-2 * mp.pi * k * j / n) * whole[j] for j in range(n))) for k in range(n)]


def irfft(x):
    n = 2 * (len(x) - 1)
    found = hfft([mp.conj(z) for z in x])
    return [value / n for value in found]


def dct(x):
    n = len(x)
    return transform(lambda k, j: 2 * mp.cos(mp.pi * k * (2 * j + 1) / (2 * n)), n)(x)


def dst(x):
    n = len(x)
    return transform(lambda k, j: 2 * mp.sin(mp.pi * (k + 1) * (2 * j + 1) / (2 * n)), n)(x)


# -- signals -------------------------------------------------------------------------------------------------


def savgol(x):
    """Windows of five numbers, and the parabola of least squares through each, at its middle; at the ends
    that of the first and last one.
    """
    found, n = [], len(x)
    for i in range(n):
        first = min(max(i - 2, 0), n - 5)
        powers = mp.matrix([[mp.mpf(j - i) ** k for k in range(3)] for j in range(first, first + 5)])
        window = mp.matrix([x[j] for j in range(first, first + 5)])
        found.append(mp.lu_solve(powers.T * powers, powers.T * window)[0])
    return found


def lfilter(b, a, x):
    """By the recurrence."""
    y = []
    for n in range(len(x)):
        total = mp.fsum(b[k] * x[n - k] for k in range(len(b)) if n >= k)
        total -= mp.fsum(a[k] * y[n - k] for k in range(1, len(a)) if n >= k)
        y.append(total / a[0])
    return y


def spectrum(x, window):
    """The squares of the sums with a window, without the mean; each frequency but the ends counts twice."""
    n, mean = len(x), mp.fsum(x) / len(x)
    scale, found = mp.fsum(w * w for w in window), []
    for k in range(n // 2 + 1):
        z = mp.fsum(mp.expj(-2 * mp.pi * k * j / n) * window[j] * (x[j] - mean) for j in range(n))
        twice = 1 if k == 0 or 2 * k == n else 2
        found.append(twice * (mp.re(z) ** 2 + mp.im(z) ** 2) / scale)
    return found


def hann(n):
    return [mp.sin(mp.pi * j / n) ** 2 for j in range(n)]


def periodogram(x):
    return spectrum(x, [mp.mpf(1)] * len(x))


def parts(x):
    """The spectra of parts of eight numbers, each half of which is in the next, under Hann's window."""
    return [spectrum([x[j] for j in range(i, i + 8)], hann(8)) for i in range(0, len(x) - 7, 4)]


def welch(x):
    each = parts(x)
    return [mp.fsum(part[k] for part in each) / len(each) for k in range(5)]


def spectrogram(x):
    """Frequency by frequency."""
    each = parts(x)
    return [part[k] for k in range(5) for part in each]


# -- derivatives ---------------------------------------------------------------------------------------------


def exact(x):
    """A NumPy array as a matrix of mpmath, or a vector."""
    return mp.matrix(x.tolist())


def derivatives(definition, args, along):
    """The value, the first and the second derivative along a direction, by differences with fifty digits."""
    with mp.workdps(DIGITS):
        here = [exact(x) for x in args]
        step = [STEP * exact(x) for x in along]
        ahead = definition(*[x + h for x, h in zip(here, step, strict=True)])
        at = definition(*here)
        behind = definition(*[x - h for x, h in zip(here, step, strict=True)])
        first = [(p - q) / (2 * STEP) for p, q in zip(ahead, behind, strict=True)]
        second = [(p - 2 * y + q) / STEP**2 for p, y, q in zip(ahead, at, behind, strict=True)]
        return [[complex(x) for x in values] for values in (at, first, second)]
