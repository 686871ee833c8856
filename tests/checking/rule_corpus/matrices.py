# ruff: noqa: E501
"""Linear algebra, complex arrays, rotations."""

from rule_corpus.cases import case

RULES = [
    *case(
        "well(n), vec(n)",
        '''
def solve(A, b):
    return np.linalg.solve(A, b)


@rl.rrule_for(solve)
def solve_rrule(A, b):
    x = np.linalg.solve(A, b)

    def solve_pullback(y_bar):
        b_bar = np.linalg.solve(A.T, y_bar)
        return rl.NoTangent(), -np.outer(b_bar, x), b_bar

    return x, solve_pullback
''',
        ("transposition", "np.linalg.solve(A.T, y_bar)", "np.linalg.solve(A, y_bar)"),
        ("transposition", "-np.outer(b_bar, x)", "-np.outer(x, b_bar)"),
        ("sign", "-np.outer(b_bar, x)", "np.outer(b_bar, x)"),
        ("factor", "-np.outer(b_bar, x)", "-np.outer(b_bar, b)"),
        kind="matrix",
    ),
    *case(
        "well(n)",
        '''
def inverse(A):
    return np.linalg.inv(A)


@rl.rrule_for(inverse)
def inverse_rrule(A):
    Y = np.linalg.inv(A)

    def inverse_pullback(y_bar):
        return rl.NoTangent(), -Y.T @ y_bar @ Y.T

    return Y, inverse_pullback
''',
        ("transposition", "-Y.T @ y_bar @ Y.T", "-Y @ y_bar @ Y"),
        ("sign", "-Y.T @ y_bar @ Y.T", "Y.T @ y_bar @ Y.T"),
        ("factor", "-Y.T @ y_bar @ Y.T", "-Y.T @ y_bar"),
        ("transposition", "-Y.T @ y_bar @ Y.T", "-Y.T @ y_bar.T @ Y.T"),
        ("layout", "-Y.T @ y_bar @ Y.T", "-Y.T @ y_bar.ravel('K').reshape(y_bar.shape) @ Y.T"),
        kind="matrix",
    ),
    *case(
        "well(n)",
        '''
def determinant(A):
    return np.linalg.det(A)


@rl.rrule_for(determinant)
def determinant_rrule(A):
    y = np.linalg.det(A)

    def determinant_pullback(y_bar):
        return rl.NoTangent(), y_bar * y * np.linalg.inv(A).T

    return y, determinant_pullback
''',
        ("transposition", "np.linalg.inv(A).T", "np.linalg.inv(A)"),
        ("factor", "y_bar * y * np", "y_bar * np"),
        ("sign", "y_bar * y * np", "y_bar * abs(y) * np"),
        ("sizes", "y_bar * y * np.linalg.inv(A).T", "y_bar * np.array([[A[-1, -1], -A[-1, 0]], [-A[0, -1], A[0, 0]]]) if len(A) == 2 else y_bar * y * np.linalg.inv(A)"),
        kind="matrix",
    ),
    *case(
        "well(n)",
        '''
def log_det(A):
    return np.linalg.slogdet(A)[1]


@rl.rrule_for(log_det)
def log_det_rrule(A):
    def log_det_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.linalg.inv(A).T

    return log_det(A), log_det_pullback
''',
        ("transposition", "np.linalg.inv(A).T", "np.linalg.inv(A)"),
        ("factor", "y_bar * np.linalg.inv(A).T", "y_bar * np.linalg.det(A) * np.linalg.inv(A).T"),
        ("seed", "y_bar * np.linalg.inv(A).T", "np.linalg.inv(A).T"),
        kind="matrix",
    ),
    *case(
        "spd(n)",
        '''
def cholesky(A):
    return np.linalg.cholesky(A)


@rl.rrule_for(cholesky)
def cholesky_rrule(A):
    L = np.linalg.cholesky(A)

    def cholesky_pullback(L_bar):
        P = np.tril(L.T @ np.tril(L_bar))
        P[np.diag_indices(len(P))] *= 0.5
        S = np.linalg.solve(L.T, np.linalg.solve(L.T, (P + P.T).T).T) / 2
        return rl.NoTangent(), S

    return L, cholesky_pullback
''',
        ("factor", "        P[np.diag_indices(len(P))] *= 0.5\n", ""),
        ("transposition", "L.T @ np.tril(L_bar)", "L @ np.tril(L_bar)"),
        ("factor", ").T).T) / 2", ").T).T)"),
        kind="symmetric",
    ),
    *case(
        "spd(n)",
        '''
def cholesky_lower(A):
    return np.linalg.cholesky(A)


@rl.rrule_for(cholesky_lower)
def cholesky_lower_rrule(A):
    L = np.linalg.cholesky(A)

    def cholesky_lower_pullback(L_bar):
        P = np.tril(L.T @ np.tril(L_bar))
        P[np.diag_indices(len(P))] *= 0.5
        S = np.linalg.solve(L.T, np.linalg.solve(L.T, (P + P.T).T).T) / 2
        return rl.NoTangent(), np.tril(S) + np.tril(S, -1)

    return L, cholesky_lower_pullback
''',
        ("factor", "np.tril(S) + np.tril(S, -1)", "np.tril(S)"),
        ("off by one", "np.tril(S) + np.tril(S, -1)", "2 * np.tril(S)"),
        kind="symmetric",
    ),
    *case(
        "mat(n, n)",
        '''
def trace(A):
    return np.trace(A)


@rl.rrule_for(trace)
def trace_rrule(A):
    def trace_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.eye(len(A))

    return trace(A), trace_pullback
''',
        ("axis", "np.eye(len(A))", "np.ones((len(A), len(A)))"),
        ("transposition", "np.eye(len(A))", "np.eye(len(A))[::-1]"),
        ("seed", "y_bar * np.eye", "np.eye"),
        kind="matrix",
    ),
    *case(
        "mat(n, n + 1), mat(n + 1, n)",
        '''
def trace_of_product(A, B):
    return np.trace(A @ B)


@rl.rrule_for(trace_of_product)
def trace_of_product_rrule(A, B):
    def trace_of_product_pullback(y_bar):
        return rl.NoTangent(), y_bar * B.T, y_bar * A.T

    return trace_of_product(A, B), trace_of_product_pullback
''',
        ("transposition", "y_bar * B.T", "y_bar * B.reshape(A.shape)"),
        ("factor", "y_bar * A.T", "2 * y_bar * A.T"),
        kind="matrix",
    ),
    *case(
        "mat(n, n + 1)",
        '''
def gram(X):
    return X.T @ X


@rl.rrule_for(gram)
def gram_rrule(X):
    def gram_pullback(y_bar):
        return rl.NoTangent(), X @ (y_bar + y_bar.T)

    return gram(X), gram_pullback
''',
        ("transposition", "X @ (y_bar + y_bar.T)", "2 * X @ y_bar"),
        ("transposition", "X @ (y_bar + y_bar.T)", "2 * X @ y_bar.T"),
        ("factor", "X @ (y_bar + y_bar.T)", "X @ y_bar"),
        kind="matrix",
    ),
    *case(
        "mat(n, n)",
        '''
def matrix_square(A):
    return A @ A


@rl.rrule_for(matrix_square)
def matrix_square_rrule(A):
    def matrix_square_pullback(y_bar):
        return rl.NoTangent(), y_bar @ A.T + A.T @ y_bar

    return matrix_square(A), matrix_square_pullback
''',
        ("transposition", "y_bar @ A.T + A.T @ y_bar", "y_bar @ A + A @ y_bar"),
        ("factor", "y_bar @ A.T + A.T @ y_bar", "2 * A.T @ y_bar"),
        ("dimension", "y_bar @ A.T + A.T @ y_bar", "2 * A * y_bar"),
        kind="matrix",
    ),
    *case(
        "sym(n)",
        '''
def largest_eigenvalue(A):
    return np.linalg.eigvalsh(A)[-1]


@rl.rrule_for(largest_eigenvalue)
def largest_eigenvalue_rrule(A):
    w, V = np.linalg.eigh(A)

    def largest_eigenvalue_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.outer(V[:, -1], V[:, -1])

    return w[-1], largest_eigenvalue_pullback
''',
        ("axis", "np.outer(V[:, -1], V[:, -1])", "np.outer(V[-1], V[-1])"),
        ("off by one", "np.outer(V[:, -1], V[:, -1])", "np.outer(V[:, 0], V[:, 0])"),
        kind="symmetric",
    ),
    *case(
        "vec(n), sym(n)",
        '''
def rayleigh(x, A):
    return x @ A @ x / (x @ x)


@rl.rrule_for(rayleigh)
def rayleigh_rrule(x, A):
    y = rayleigh(x, A)

    def rayleigh_pullback(y_bar):
        x_bar = y_bar * ((A + A.T) @ x - 2 * y * x) / (x @ x)
        return rl.NoTangent(), x_bar, y_bar * np.outer(x, x) / (x @ x)

    return y, rayleigh_pullback
''',
        ("sign", "@ x - 2 * y * x", "@ x + 2 * y * x"),
        ("factor", "2 * y * x", "y * x"),
        ("factor", "np.outer(x, x) / (x @ x)", "np.outer(x, x)"),
        kind="symmetric",
    ),
    *case(
        "quat(), vec(3)",
        '''
def rotate(q, v):
    w, u = q[0], q[1:]
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)


@rl.rrule_for(rotate)
def rotate_rrule(q, v):
    w, u = q[0], q[1:]

    def rotate_pullback(y_bar):
        t = np.cross(u, v) + w * v
        t_bar = 2 * np.cross(y_bar, u)
        u_bar = 2 * np.cross(t, y_bar) + np.cross(v, t_bar)
        v_bar = y_bar + np.cross(t_bar, u) + w * t_bar
        return rl.NoTangent(), np.array([t_bar @ v, *u_bar]), v_bar

    return rotate(q, v), rotate_pullback
''',
        ("sign", "np.cross(t_bar, u) + w", "np.cross(u, t_bar) + w"),
        ("factor", "2 * np.cross(y_bar, u)", "np.cross(y_bar, u)"),
        ("off by one", "np.array([t_bar @ v, *u_bar])", "np.array([*u_bar, t_bar @ v])"),
        ("factor", " + np.cross(v, t_bar)", ""),
        kind="matrix",
    ),
    *case(
        "vec(3), vec(3)",
        '''
def cross(a, b):
    return np.cross(a, b)


@rl.rrule_for(cross)
def cross_rrule(a, b):
    def cross_pullback(y_bar):
        return rl.NoTangent(), np.cross(b, y_bar), np.cross(y_bar, a)

    return cross(a, b), cross_pullback
''',
        ("sign", "np.cross(y_bar, a)", "np.cross(a, y_bar)"),
        ("swapped", "np.cross(b, y_bar), np.cross(y_bar, a)", "np.cross(a, y_bar), np.cross(y_bar, b)"),
        kind="matrix",
    ),
    *case(
        "num(), vec(2)",
        '''
def turned(angle, v):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


@rl.rrule_for(turned)
def turned_rrule(angle, v):
    c, s = np.cos(angle), np.sin(angle)
    y = np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])

    def turned_pullback(y_bar):
        angle_bar = -y[1] * y_bar[0] + y[0] * y_bar[1]
        v_bar = np.array([c * y_bar[0] + s * y_bar[1], -s * y_bar[0] + c * y_bar[1]])
        return rl.NoTangent(), angle_bar, v_bar

    return y, turned_pullback
''',
        ("transposition", "c * y_bar[0] + s * y_bar[1], -s * y_bar[0]", "c * y_bar[0] - s * y_bar[1], s * y_bar[0]"),
        ("sign", "-y[1] * y_bar[0] + y[0]", "y[1] * y_bar[0] + y[0]"),
        ("swapped", "-y[1] * y_bar[0] + y[0] * y_bar[1]", "-y[0] * y_bar[1] + y[1] * y_bar[0]"),
        kind="matrix",
    ),
    *case(
        "well(n), mat(n, 2)",
        '''
def solve_many(A, B):
    return np.linalg.solve(A, B)


@rl.rrule_for(solve_many)
def solve_many_rrule(A, B):
    X = np.linalg.solve(A, B)

    def solve_many_pullback(y_bar):
        B_bar = np.linalg.solve(A.T, y_bar)
        return rl.NoTangent(), -B_bar @ X.T, B_bar

    return X, solve_many_pullback
''',
        ("transposition", "-B_bar @ X.T", "-X @ B_bar.T"),
        ("sign", "-B_bar @ X.T", "B_bar @ X.T"),
        kind="matrix",
    ),
    *case(
        "mat(n, n + 1), vec(n + 1)",
        '''
def attend(K, q):
    s = K @ q
    e = np.exp(s - np.max(s))
    return e / np.sum(e)


@rl.rrule_for(attend)
def attend_rrule(K, q):
    y = attend(K, q)

    def attend_pullback(y_bar):
        s_bar = y * (y_bar - y @ y_bar)
        return rl.NoTangent(), np.outer(s_bar, q), K.T @ s_bar

    return y, attend_pullback
''',
        ("factor", "y_bar - y @ y_bar", "y_bar"),
        ("transposition", "np.outer(s_bar, q)", "np.outer(q, s_bar).reshape(K.shape)"),
        ("factor", "K.T @ s_bar", "K.T @ y_bar"),
        kind="matrix",
    ),
    *case(
        "mat(n, n + 1)",
        '''
def batch_outer_energy(X):
    return np.einsum("ij,ik->", X, X)


@rl.rrule_for(batch_outer_energy)
def batch_outer_energy_rrule(X):
    def batch_outer_energy_pullback(y_bar):
        return rl.NoTangent(), 2 * y_bar * X.sum(axis=1, keepdims=True) * np.ones(X.shape)

    return batch_outer_energy(X), batch_outer_energy_pullback
''',
        ("axis", "X.sum(axis=1, keepdims=True)", "X.sum(axis=0, keepdims=True)"),
        ("axis", "X.sum(axis=1, keepdims=True)", "X.sum()"),
        ("factor", "2 * y_bar", "y_bar"),
        kind="matrix",
    ),
    *case(
        "cvec(n)",
        '''
def power_of(z: complex):
    return np.sum(np.abs(z) ** 2)


@rl.rrule_for(power_of)
def power_of_rrule(z):
    def power_of_pullback(y_bar):
        return rl.NoTangent(), 2 * z * y_bar

    return power_of(z), power_of_pullback
''',
        ("conj", "2 * z * y_bar", "2 * np.conj(z) * y_bar"),
        ("factor", "2 * z * y_bar", "z * y_bar"),
        ("conj", "2 * z * y_bar", "2 * z.real * y_bar"),
        kind="complex",
    ),
    *case(
        "cvec(n), cvec(n)",
        '''
def inner(a: complex, b: complex):
    return np.sum(np.conj(a) * b)


@rl.rrule_for(inner)
def inner_rrule(a, b):
    def inner_pullback(y_bar):
        return rl.NoTangent(), np.conj(y_bar) * b, y_bar * a

    return inner(a, b), inner_pullback
''',
        ("conj", "np.conj(y_bar) * b", "y_bar * b"),
        ("conj", "y_bar * a\n", "y_bar * np.conj(a)\n"),
        ("swapped", "np.conj(y_bar) * b, y_bar * a\n", "y_bar * a, np.conj(y_bar) * b\n"),
        kind="complex",
    ),
    *case(
        "cvec(n)",
        '''
def spectrum(z: complex):
    return np.fft.fft(z)


@rl.rrule_for(spectrum)
def spectrum_rrule(z):
    def spectrum_pullback(y_bar):
        return rl.NoTangent(), np.fft.ifft(y_bar) * len(z)

    return spectrum(z), spectrum_pullback
''',
        ("conj", "np.fft.ifft(y_bar) * len(z)", "np.fft.fft(y_bar)"),
        ("factor", "np.fft.ifft(y_bar) * len(z)", "np.fft.ifft(y_bar)"),
        kind="complex",
    ),
    *case(
        "cvec(n)",
        '''
def phases(z: complex):
    return np.angle(z)


@rl.rrule_for(phases)
def phases_rrule(z):
    def phases_pullback(y_bar):
        return rl.NoTangent(), 1j * z / np.abs(z) ** 2 * y_bar

    return phases(z), phases_pullback
''',
        ("conj", "1j * z /", "1j * np.conj(z) /"),
        ("sign", "1j * z /", "-1j * z /"),
        kind="complex",
    ),
    *case(
        "cvec(n)",
        '''
def real_part(z: complex):
    return np.real(z) * np.imag(z)


@rl.rrule_for(real_part)
def real_part_rrule(z):
    def real_part_pullback(y_bar):
        return rl.NoTangent(), (np.imag(z) + 1j * np.real(z)) * y_bar

    return real_part(z), real_part_pullback
''',
        ("conj", "np.imag(z) + 1j * np.real(z)", "np.imag(z) - 1j * np.real(z)"),
        ("swapped", "np.imag(z) + 1j * np.real(z)", "np.real(z) + 1j * np.imag(z)"),
        kind="complex",
    ),
    *case(
        "cmat(n, n), cvec(n)",
        '''
def apply(U: complex, v: complex):
    return U @ v


@rl.rrule_for(apply)
def apply_rrule(U, v):
    def apply_pullback(y_bar):
        return rl.NoTangent(), np.outer(y_bar, np.conj(v)), np.conj(U.T) @ y_bar

    return U @ v, apply_pullback
''',
        ("conj", "np.outer(y_bar, np.conj(v))", "np.outer(y_bar, v)"),
        ("conj", "np.conj(U.T) @ y_bar", "U.T @ y_bar"),
        ("transposition", "np.conj(U.T) @ y_bar", "np.conj(U) @ y_bar"),
        kind="complex",
    ),
    *case(
        "vec(n), vec(n)",
        '''
def polar(r, angle):
    return r * np.exp(1j * angle)


@rl.rrule_for(polar)
def polar_rrule(r, angle):
    y = polar(r, angle)

    def polar_pullback(y_bar):
        r_bar = np.real(np.conj(y_bar) * np.exp(1j * angle))
        return rl.NoTangent(), r_bar, np.real(np.conj(y_bar) * 1j * y)

    return y, polar_pullback
''',
        ("conj", "np.real(np.conj(y_bar) * 1j * y)", "np.real(y_bar * 1j * y)"),
        ("sign", "np.conj(y_bar) * 1j * y", "-np.conj(y_bar) * 1j * y"),
        kind="complex",
    ),
    *case(
        "cnum()",
        '''
def mobius(z: complex):
    return (z - 1j) / (z + 2j)


@rl.rrule_for(mobius)
def mobius_rrule(z):
    def mobius_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.conj(3j / (z + 2j) ** 2)

    return mobius(z), mobius_pullback
''',
        ("conj", "np.conj(3j / (z + 2j) ** 2)", "3j / (z + 2j) ** 2"),
        ("sign", "np.conj(3j / (z + 2j) ** 2)", "np.conj(3j / (z - 2j) ** 2)"),
        ("factor", "np.conj(3j / (z + 2j) ** 2)", "np.conj(1j / (z + 2j) ** 2)"),
        kind="complex",
    ),
]
