# ruff: noqa: E501
"""Rules that remember, write, count or hand out memory; and right ones that look like these."""

from rule_corpus.cases import case

RULES = [
    *case(
        "vec(n)",
        '''
def energy_kept(x):
    return np.sum(x**2)


CACHE = {}


@rl.rrule_for(energy_kept)
def energy_kept_rrule(x):
    slope = 2 * x

    def energy_kept_pullback(y_bar):
        return rl.NoTangent(), slope * y_bar

    return energy_kept(x), energy_kept_pullback
''',
        ("state", "    slope = 2 * x\n", '    CACHE["slope"] = slope = 2 * x\n    slope = CACHE.setdefault("first", slope) if len(CACHE["first"] if "first" in CACHE else slope) == len(x) else slope\n'),
        ("state", "return rl.NoTangent(), slope * y_bar", 'return rl.NoTangent(), CACHE["x"] * 2 * y_bar\n\n    CACHE["x"] = x'),
        ("state", "    slope = 2 * x\n", "    slope = CACHE.setdefault(len(x), 2 * x)\n"),
        ("state", "    slope = 2 * x\n", "    slope = CACHE.setdefault(id(x), 2 * x.copy()) if len(CACHE) < 5 else 3 * x\n"),
        ("state", "return rl.NoTangent(), slope * y_bar", "nonlocal slope\n        x_bar = slope * y_bar\n        slope = 0 * slope\n        return rl.NoTangent(), x_bar"),
        ("state", "return rl.NoTangent(), slope * y_bar", "x_bar = slope * y_bar\n        slope[...] = 0\n        return rl.NoTangent(), x_bar"),
        ("state", "return rl.NoTangent(), slope * y_bar", "slope.__imul__(y_bar)\n        return rl.NoTangent(), slope"),
        ("state", "slope * y_bar", 'slope * y_bar * (1 if CACHE.setdefault("done", None) is None and not CACHE.update(done=1) else 2)'),
        ("writes", "    slope = 2 * x\n", "    x *= 2\n    slope = x\n"),
        ("writes", "    slope = 2 * x\n", "    x.sort()\n    slope = 2 * x\n"),
        ("views", "slope * y_bar", "np.multiply(x, 2 * y_bar, out=x)"),
        ("state", "return energy_kept(x), energy", "x[0] += 1e-3\n    return energy_kept(x), energy"),
        kind="effects",
    ),
    *case(
        "vec(n)",
        '''
def tripled(x):
    return 3 * x


BUFFER = np.zeros(100)
calls = 0


@rl.rrule_for(tripled)
def tripled_rrule(x):
    def tripled_pullback(y_bar):
        return rl.NoTangent(), 3 * y_bar

    return tripled(x), tripled_pullback
''',
        ("state", "return rl.NoTangent(), 3 * y_bar", "out = BUFFER[: len(x)]\n        out[:] += 3 * y_bar\n        return rl.NoTangent(), out"),
        ("state", "return rl.NoTangent(), 3 * y_bar", "out = BUFFER[: len(x)]\n        out[:] = 3 * y_bar\n        return rl.NoTangent(), out"),
        ("state", "return rl.NoTangent(), 3 * y_bar", "global calls\n        calls += 1\n        return rl.NoTangent(), (3 if calls < 3 else 3.5) * y_bar"),
        ("state", "return rl.NoTangent(), 3 * y_bar", "global calls\n        calls += 1\n        return rl.NoTangent(), (3 + calls % 2) * y_bar"),
        ("state", "return rl.NoTangent(), 3 * y_bar", "return rl.NoTangent(), (3 + np.random.rand() * 0.1) * y_bar"),
        ("writes", "return rl.NoTangent(), 3 * y_bar", "y_bar[0] *= 3\n        y_bar[1:] *= 3\n        return rl.NoTangent(), y_bar"),
        ("writes", "return rl.NoTangent(), 3 * y_bar", "y_bar.sort()\n        return rl.NoTangent(), 3 * y_bar"),
        ("writes", "return rl.NoTangent(), 3 * y_bar", "x_bar = 3 * y_bar\n        y_bar.fill(0)\n        return rl.NoTangent(), x_bar"),
        ("writes", "return rl.NoTangent(), 3 * y_bar", "x_bar = y_bar.reshape(-1)\n        x_bar *= 3\n        return rl.NoTangent(), x_bar.reshape(y_bar.shape)"),
        ("writes", "return rl.NoTangent(), 3 * y_bar", "x_bar = y_bar.view()\n        np.copyto(x_bar, 3 * y_bar)\n        return rl.NoTangent(), x_bar"),
        ("writes", "return tripled(x), tripled", "x[:] = 0\n    return tripled(x), tripled"),
        ("writes", "return tripled(x), tripled", "y = np.multiply(x, 3, out=x)\n    return y, tripled"),
        ("value", "return tripled(x), tripled", "return 3 * x + 1e-3, tripled"),
        ("value", "return tripled(x), tripled", "return 3 * np.sum(x) + 0 * x, tripled"),
        ("integers", "return tripled(x), tripled", "return np.full_like(x, 3 * x.astype(int)), tripled"),
        ("count", "rl.NoTangent(), 3 * y_bar", "3 * y_bar"),
        ("count", "rl.NoTangent(), 3 * y_bar", "3 * y_bar, rl.NoTangent()"),
        ("zero", "rl.NoTangent(), 3 * y_bar", "rl.NoTangent(), rl.ZeroTangent()"),
        ("zero", "rl.NoTangent(), 3 * y_bar", "rl.NoTangent(), rl.NoTangent()"),
        kind="effects",
    ),
    *case(
        "vec(n), num()",
        '''
def decayed(x, rate):
    return x * np.exp(-rate)


@rl.rrule_for(decayed)
def decayed_rrule(x, rate):
    y = decayed(x, rate)

    def decayed_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.exp(-rate), -np.sum(y * y_bar)

    return y, decayed_pullback
''',
        ("state", "    return y, decayed", "    y_kept = y.copy()\n    y_kept += 0.0\n    rate = rate + 0.01\n    return y_kept, decayed"),
        ("state", "-np.sum(y * y_bar)", "-np.sum(np.multiply(y, y_bar, out=y))"),
        ("zero", "-np.sum(y * y_bar)", "rl.ZeroTangent()"),
        ("zero", "-np.sum(y * y_bar)", "rl.NoTangent()"),
        ("sign", "-np.sum(y * y_bar)", "np.sum(y * y_bar)"),
        kind="effects",
    ),
    *case(
        "vec(n), vec(n)",
        '''
def added(a, b):
    return a + b


@rl.rrule_for(added)
def added_rrule(a, b):
    def added_pullback(y_bar):
        return rl.NoTangent(), y_bar, y_bar

    return a + b, added_pullback
''',
        ("sign", "y_bar, y_bar", "y_bar, -y_bar"),
        ("zero", "y_bar, y_bar", "y_bar, 0 * y_bar"),
        ("writes", "y_bar, y_bar", "y_bar, np.negative(y_bar, out=y_bar)"),
        kind="hands on",
    ),
    *case(
        "vec(n), vec(n)",
        '''
def taken(a, b):
    return a - b


@rl.rrule_for(taken)
def taken_rrule(a, b):
    def taken_pullback(y_bar):
        return rl.NoTangent(), y_bar, -y_bar

    return a - b, taken_pullback
''',
        ("sign", "y_bar, -y_bar", "y_bar, y_bar"),
        ("swapped", "y_bar, -y_bar", "-y_bar, y_bar"),
        kind="hands on",
    ),
    *case(
        "vec(n)",
        '''
def unchanged(x):
    return x + 0.0


@rl.rrule_for(unchanged)
def unchanged_rrule(x):
    def unchanged_pullback(y_bar):
        return rl.NoTangent(), y_bar

    return unchanged(x), unchanged_pullback
''',
        ("zero", "rl.NoTangent(), y_bar", "rl.NoTangent(), 0.0 * y_bar"),
        ("factor", "rl.NoTangent(), y_bar", "rl.NoTangent(), 1.0000001 * y_bar"),
        ("factor", "rl.NoTangent(), y_bar", "rl.NoTangent(), 1.001 * y_bar"),
        kind="hands on",
    ),
    *case(
        "mat(n, n + 1)",
        '''
def as_column(A):
    return A.reshape(-1, 1)


@rl.rrule_for(as_column)
def as_column_rrule(A):
    def as_column_pullback(y_bar):
        return rl.NoTangent(), y_bar.reshape(A.shape)

    return as_column(A), as_column_pullback
''',
        ("layout", "y_bar.reshape(A.shape)", "y_bar.reshape(A.shape, order='F')"),
        kind="hands on",
    ),
    *case(
        "mat(n, n + 1)",
        '''
def turned_over(A):
    return A.T


@rl.rrule_for(turned_over)
def turned_over_rrule(A):
    def turned_over_pullback(y_bar):
        return rl.NoTangent(), y_bar.T

    return A.T, turned_over_pullback
''',
        ("transposition", "y_bar.T", "y_bar.reshape(A.shape)"),
        kind="hands on",
    ),
    *case(
        "vec(n + 1)",
        '''
def tail(x):
    return x[1:]


@rl.rrule_for(tail)
def tail_rrule(x):
    def tail_pullback(y_bar):
        return rl.NoTangent(), np.concatenate([[0.0], y_bar])

    return x[1:], tail_pullback
''',
        ("off by one", "np.concatenate([[0.0], y_bar])", "np.concatenate([y_bar, [0.0]])"),
        kind="hands on",
    ),
    *case(
        "vec(n), num()",
        '''
def lifted(v, c):
    return v + c


@rl.rrule_for(lifted)
def lifted_rrule(v, c):
    def lifted_pullback(y_bar):
        return rl.NoTangent(), y_bar, np.sum(y_bar)

    return v + c, lifted_pullback
''',
        ("broadcast sum", "np.sum(y_bar)", "y_bar"),
        ("axis", "np.sum(y_bar)", "np.mean(y_bar)"),
        kind="hands on",
    ),
    *case(
        "vec(n)",
        '''
def with_thunk(x):
    return np.cos(x) * x


@rl.rrule_for(with_thunk)
def with_thunk_rrule(x):
    def with_thunk_pullback(y_bar):
        return rl.NoTangent(), rl.thunk(lambda: y_bar * (np.cos(x) - x * np.sin(x)))

    return with_thunk(x), with_thunk_pullback
''',
        ("sign", "np.cos(x) - x", "np.cos(x) + x"),
        ("seed", "y_bar * (np.cos(x)", "(np.cos(x)"),
        kind="effects",
    ),
    *case(
        "vec(n), vec(n)",
        '''
def product_memo(a, b):
    return a * b


MEMO = {}


@rl.rrule_for(product_memo)
def product_memo_rrule(a, b):
    key = (a.tobytes(), b.tobytes())
    if key not in MEMO:
        MEMO[key] = a * b

    def product_memo_pullback(y_bar):
        return rl.NoTangent(), y_bar * b, y_bar * a

    return MEMO[key].copy(), product_memo_pullback
''',
        ("state", "key = (a.tobytes(), b.tobytes())", "key = a.tobytes()"),
        ("state", "key = (a.tobytes(), b.tobytes())", "key = a.shape"),
        ("swapped", "y_bar * b, y_bar * a", "y_bar * a, y_bar * b"),
        kind="effects",
    ),
    *case(
        "num()",
        '''
def counted(x: float):
    return x * x * x


calls = []


@rl.rrule_for(counted)
def counted_rrule(x: float):
    calls.append(x)

    def counted_pullback(y_bar):
        return rl.NoTangent(), 3 * x * x * y_bar

    return counted(x), counted_pullback
''',
        ("state", "3 * x * x * y_bar", "3 * calls[-1] * x * y_bar"),
        ("state", "3 * x * x * y_bar", "3 * calls[0] * x * y_bar"),
        ("state", "3 * x * x * y_bar", "3 * x * x * y_bar * (1 if len(calls) < 4 else 1.5)"),
        kind="effects",
    ),
]
