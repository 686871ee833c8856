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


def from_lower(a):
    """The Hermitian matrix of which the lower triangle is read."""
    found = a.copy()
    for i in range(a.rows):
        found[i, i] = mp.re(a[i, i])
        for j in range(i):
            found[j, i] = mp.conj(a[i, j])
    return found


def pinvh(a):
    return flat(mp.inverse(from_lower(a)))


def upper_factor(a):
    return mp.cholesky(from_lower(a.H)).H


def cholesky(a):
    """`r` with `rᴴ r = a`, of the upper triangle."""
    return flat(upper_factor(a))


def cho_solve(r, b):
    """By `rᴴ r`, of which the upper triangle is read."""
    r = mp.matrix([[r[i, j] if i <= j else 0 for j in range(r.cols)] for i in range(r.rows)])
    return flat(mp.lu_solve(r.H * r, b))


def eigvalsh_tridiagonal(d, e):
    n = len(d)
    whole = mp.zeros(n)
    for i in range(n):
        whole[i, i] = d[i]
    for i in range(n - 1):
        whole[i, i + 1] = whole[i + 1, i] = e[i]
    return flat(mp.eigsy(whole, eigvals_only=True))


def norm(a):
    return [mp.sqrt(mp.fsum(abs(x) ** 2 for x in a))]


def fiedler(a):
    return [abs(x - y) for x in a for y in a]


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


def discrete_riccati(a, b, q, r):
    """By doubling (Chu, Fan, Lin and Wang 2004)."""
    g, x, one = b * mp.inverse(r) * b.H, q, mp.eye(a.rows)
    for _ in range(9):
        middle = mp.inverse(one + g * x)
        a, g, x = a * middle * a, g + a * middle * g * a.H, x + a.H * x * middle * a
    return flat(x)


def solveh_banded(ab, b):
    """From the diagonal in the last row, and those above it."""
    count, n = ab.rows - 1, ab.cols
    whole = mp.zeros(n)
    for j in range(n):
        for i in range(max(0, j - count), j + 1):
            whole[i, j] = ab[count + i - j, j]
            whole[j, i] = mp.conj(whole[i, j])
        whole[j, j] = mp.re(whole[j, j])
    return flat(mp.lu_solve(whole, b))


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


def ihfft(x):
    return [mp.conj(value) / len(x) for value in rfft(x)]


def along_rows(f, x):
    return mp.matrix([f([x[i, j] for j in range(x.cols)]) for i in range(x.rows)])


def down_columns(sign, scale, x):
    """The sums of a Fourier transform down each column."""
    n = x.rows
    weights = [[mp.expj(sign * 2 * mp.pi * k * i / n) / scale for i in range(n)] for k in range(n)]
    return mp.matrix(weights) * x


def rfft2(x):
    return flat(down_columns(-1, 1, along_rows(rfft, x)))


def irfft2(x):
    return flat(along_rows(irfft, down_columns(1, x.rows, x)))


def hfft2(x):
    return flat(along_rows(hfft, down_columns(-1, 1, x)))


def ihfft2(x):
    return flat(down_columns(1, x.rows, along_rows(ihfft, x)))


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


def convolved(x, y):
    return [
        mp.fsum(x[k] * y[n - k] for k in range(len(x)) if 0 <= n - k < len(y))
        for n in range(len(x) + len(y) - 1)
    ]


def correlate(x, y):
    """With the other sequence turned round and conjugated."""
    return convolved(list(x), [mp.conj(z) for z in list(y)[::-1]])


def correlate2d(x, y):
    rows, columns = x.rows + y.rows - 1, x.cols + y.cols - 1
    found = mp.zeros(rows, columns)
    for i in range(x.rows):
        for j in range(x.cols):
            for k in range(y.rows):
                for n in range(y.cols):
                    found[i + y.rows - 1 - k, j + y.cols - 1 - n] += x[i, j] * mp.conj(y[k, n])
    return flat(found)


def hilbert(x):
    """Twice the part of the positive frequencies, and what is constant or at half the rate."""
    n = len(x)
    spectrum = [mp.fsum(mp.expj(-2 * mp.pi * k * j / n) * x[j] for j in range(n)) for k in range(n)]
    kept = [(1 if k in (0, n / 2) else 2) * spectrum[k] for k in range(n // 2 + 1)]
    return [mp.fsum(mp.expj(2 * mp.pi * k * j / n) * z for k, z in enumerate(kept)) / n for j in range(n)]


def savgol_coeffs(delta):
    """The weights of the second derivative in the middle of seven numbers, by a cubic of least squares."""
    powers = mp.matrix([[(delta[0] * j) ** k for k in range(4)] for j in range(-3, 4)])
    return [2 * x for x in (mp.inverse(powers.T * powers) * powers.T)[2, :]][::-1]


def cross_spectrum(x, y, window):
    """Products of the sums with a window, without the means; each frequency but the ends counts twice."""
    n, found = len(x), []
    scale, means = mp.fsum(w * w for w in window), [mp.fsum(z) / n for z in (x, y)]
    for k in range(n // 2 + 1):
        p, q = (
            mp.fsum(mp.expj(-2 * mp.pi * k * j / n) * window[j] * (z[j] - mean) for j in range(n))
            for z, mean in zip((x, y), means, strict=True)
        )
        twice = 1 if k == 0 or 2 * k == n else 2
        found.append(twice * mp.conj(p) * q / scale)
    return found


def spectrum(x, window):
    """The squares of these sums."""
    return [mp.re(z) for z in cross_spectrum(x, x, window)]


def hann(n):
    return [mp.sin(mp.pi * j / n) ** 2 for j in range(n)]


def periodogram(x):
    return spectrum(x, [mp.mpf(1)] * len(x))


def parts(x, y=None):
    """The spectra of parts of eight numbers, each half of which is in the next, under Hann's window."""
    y = x if y is None else y
    cut = lambda z, i: [z[j] for j in range(i, i + 8)]
    return [cross_spectrum(cut(x, i), cut(y, i), hann(8)) for i in range(0, len(x) - 7, 4)]


def csd(x, y):
    each = parts(x, y)
    return [mp.fsum(part[k] for part in each) / len(each) for k in range(5)]


def welch(x):
    return [mp.re(z) for z in csd(x, x)]


def coherence(x, y):
    return [abs(c) ** 2 / (p * q) for c, p, q in zip(csd(x, y), welch(x), welch(y), strict=True)]


def spectrogram(x):
    """Frequency by frequency."""
    each = parts(x)
    return [mp.re(part[k]) for k in range(5) for part in each]


def general_gaussian(p, width):
    """Seven numbers around the middle."""
    return [mp.exp(-((abs(mp.mpf(j)) / width[0]) ** (2 * p[0])) / 2) for j in range(-3, 4)]


def general_hamming(alpha):
    return [alpha[0] - (1 - alpha[0]) * mp.cos(mp.pi * j / 3) for j in range(7)]


def kaiser(beta):
    at = lambda j: mp.besseli(0, beta[0] * mp.sqrt(1 - (mp.mpf(j) / 3) ** 2))
    return [at(j) / at(0) for j in range(-3, 4)]


# -- sums of exponentials ------------------------------------------------------------------------------------


def logsumexp(a):
    return [mp.log(mp.fsum(mp.exp(x) for x in a))]


def softmax(a):
    total = mp.fsum(mp.exp(x) for x in a)
    return [mp.exp(x) / total for x in a]


def log_softmax(a):
    return [mp.log(x) for x in softmax(a)]


# -- on the sphere -------------------------------------------------------------------------------------------


def harmonic(theta, phi):
    """The spherical harmonic of degree 3 and order -2, by its polynomial."""
    scale = mp.sqrt(105 / (32 * mp.pi))
    return [scale * mp.sin(t) ** 2 * mp.cos(t) * mp.expj(-2 * p) for t, p in zip(theta, phi, strict=True)]


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
