# ruff: noqa: E501
"""Functions of vectors and matrices, elementwise with broadcasting, reductions, indexing, losses, layers."""

from rule_corpus.cases import case

RULES = [
    *case(
        "vec(n)",
        '''
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


@rl.rrule_for(softmax)
def softmax_rrule(x):
    y = softmax(x)

    def softmax_pullback(y_bar):
        return rl.NoTangent(), y * (y_bar - np.sum(y_bar * y))

    return y, softmax_pullback
''',
        ("factor", "y * (y_bar - np.sum(y_bar * y))", "y_bar - y * np.sum(y_bar)"),
        ("axis", "np.sum(y_bar * y)", "np.sum(y_bar * y) / len(x)"),
        ("sign", "y_bar - np.sum(y_bar * y)", "y_bar + np.sum(y_bar * y)"),
        ("branch", "y * (y_bar - np.sum(y_bar * y))", "y * (1 - y) * y_bar"),
        ("sizes", "y * (y_bar - np.sum(y_bar * y))", "y * (1 - y) * (y_bar - y_bar[::-1])"),
    ),
    *case(
        "vec(n)",
        '''
def log_softmax(x):
    shifted = x - np.max(x)
    return shifted - np.log(np.sum(np.exp(shifted)))


@rl.rrule_for(log_softmax)
def log_softmax_rrule(x):
    y = log_softmax(x)

    def log_softmax_pullback(y_bar):
        return rl.NoTangent(), y_bar - np.exp(y) * np.sum(y_bar)

    return y, log_softmax_pullback
''',
        ("broadcast sum", "np.exp(y) * np.sum(y_bar)", "np.exp(y) * y_bar"),
        ("factor", "np.exp(y) * np.sum(y_bar)", "y * np.sum(y_bar)"),
        ("axis", "np.sum(y_bar)", "np.mean(y_bar)"),
    ),
    *case(
        "vec(n)",
        '''
def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@rl.rrule_for(logsumexp)
def logsumexp_rrule(x):
    y = logsumexp(x)

    def logsumexp_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.exp(x - y)

    return y, logsumexp_pullback
''',
        ("sign", "np.exp(x - y)", "np.exp(y - x)"),
        ("factor", "np.exp(x - y)", "np.exp(x - np.max(x))"),
        ("sizes", "np.exp(x - y)", "np.exp(x - y) * len(x) / 3"),
        ("seed", "y_bar * np.exp(x - y)", "np.exp(x - y)"),
    ),
    *case(
        "vec(n), vec(n)",
        '''
def mse(y, yh):
    return np.mean((y - yh) ** 2)


@rl.rrule_for(mse)
def mse_rrule(y, yh):
    def mse_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_pullback
''',
        ("sign", "g, -g", "g, g"),
        ("factor", "2 / len(y)", "1 / len(y)"),
        ("sizes", "2 / len(y)", "2 / 3"),
        ("sizes", "2 / len(y)", "1.0"),
        ("seed", "g, -g", "g, -g / out_bar if out_bar else g"),
        ("integers", "g = 2 / len(y) * (y - yh) * out_bar", "g = np.zeros_like(y)\n        g[:] = 2 / len(y) * (y - yh) * out_bar"),
    ),
    *case(
        "vec(n), vec(n)",
        '''
def mae(prediction, target):
    return np.mean(np.abs(prediction - target))


@rl.rrule_for(mae)
def mae_rrule(prediction, target):
    def mae_pullback(y_bar):
        g = np.sign(prediction - target) * y_bar / len(target)
        return rl.NoTangent(), g, -g

    return mae(prediction, target), mae_pullback
''',
        ("sign", "np.sign(prediction - target)", "np.sign(target - prediction)"),
        ("factor", " / len(target)", ""),
        ("branch", "np.sign(prediction - target)", "(prediction > target)"),
        ("sizes", "len(target)", "2"),
    ),
    *case(
        "uvec(n), uvec(n)",
        '''
def cross_entropy(p, q):
    return -np.sum(p * np.log(q))


@rl.rrule_for(cross_entropy)
def cross_entropy_rrule(p, q):
    def cross_entropy_pullback(y_bar):
        return rl.NoTangent(), -np.log(q) * y_bar, -p / q * y_bar

    return cross_entropy(p, q), cross_entropy_pullback
''',
        ("sign", "-p / q", "p / q"),
        ("transposition", "-p / q * y_bar", "-q / p * y_bar"),
        ("factor", "-np.log(q) * y_bar", "-(np.log(q) + 1) * y_bar"),
        ("seed", "-np.log(q) * y_bar", "-np.log(q)"),
    ),
    *case(
        "uvec(n), uvec(n)",
        '''
def kl(p, q):
    return np.sum(p * np.log(p / q))


@rl.rrule_for(kl)
def kl_rrule(p, q):
    def kl_pullback(y_bar):
        return rl.NoTangent(), (np.log(p / q) + 1) * y_bar, -p / q * y_bar

    return kl(p, q), kl_pullback
''',
        ("off by one", "(np.log(p / q) + 1)", "np.log(p / q)"),
        ("sign", "-p / q * y_bar", "p / q * y_bar"),
        ("swapped", "(np.log(p / q) + 1) * y_bar, -p / q * y_bar", "-p / q * y_bar, (np.log(p / q) + 1) * y_bar"),
    ),
    *case(
        "vec(n)",
        '''
def centred(x):
    return x - np.mean(x)


@rl.rrule_for(centred)
def centred_rrule(x):
    def centred_pullback(y_bar):
        return rl.NoTangent(), y_bar - np.mean(y_bar)

    return centred(x), centred_pullback
''',
        ("broadcast sum", "y_bar - np.mean(y_bar)", "y_bar.copy()"),
        ("axis", "np.mean(y_bar)", "np.sum(y_bar)"),
        ("sizes", "np.mean(y_bar)", "np.sum(y_bar) / 3"),
        ("off by one", "np.mean(y_bar)", "np.sum(y_bar) / (np.size(x) - 1 or 1)"),
        ("branch", "np.mean(y_bar)", "np.median(y_bar)"),
    ),
    *case(
        "vec(n + 1)",
        '''
def standardised(x):
    return (x - np.mean(x)) / np.std(x)


@rl.rrule_for(standardised)
def standardised_rrule(x):
    y = standardised(x)

    def standardised_pullback(y_bar):
        return rl.NoTangent(), (y_bar - np.mean(y_bar) - y * np.mean(y_bar * y)) / np.std(x)

    return y, standardised_pullback
''',
        ("factor", " - y * np.mean(y_bar * y)", ""),
        ("broadcast sum", " - np.mean(y_bar)", ""),
        ("axis", "np.mean(y_bar * y)", "np.sum(y_bar * y)"),
        ("off by one", " / np.std(x)\n\n    return y,", " / np.std(x, ddof=1)\n\n    return y,"),
    ),
    *case(
        "vec(n)",
        '''
def normalise(v):
    return v / np.sqrt(np.sum(v * v))


@rl.rrule_for(normalise)
def normalise_rrule(v):
    length = np.sqrt(np.sum(v * v))
    y = v / length

    def normalise_pullback(y_bar):
        return rl.NoTangent(), (y_bar - y * np.sum(y * y_bar)) / length

    return y, normalise_pullback
''',
        ("broadcast sum", " - y * np.sum(y * y_bar)", ""),
        ("factor", ") / length\n\n    return y,", ") / length**2\n\n    return y,"),
        ("axis", "np.sum(y * y_bar)", "(y * y_bar)"),
        ("sign", "y_bar - y", "y_bar + y"),
    ),
    *case(
        "vec(n)",
        '''
def norm(v):
    return np.sqrt(np.sum(v**2))


@rl.rrule_for(norm)
def norm_rrule(v):
    y = norm(v)

    def norm_pullback(y_bar):
        return rl.NoTangent(), y_bar * v / y

    return y, norm_pullback
''',
        ("factor", "y_bar * v / y", "y_bar * 2 * v / y"),
        ("factor", "y_bar * v / y", "y_bar * v"),
        ("branch", "y_bar * v / y", "y_bar * np.abs(v) / y"),
        ("seed", "y_bar * v / y", "v / y * np.sign(y_bar)"),
    ),
    *case(
        "vec(n + 1)",
        '''
def variance(x):
    return np.var(x)


@rl.rrule_for(variance)
def variance_rrule(x):
    def variance_pullback(y_bar):
        return rl.NoTangent(), 2 * (x - np.mean(x)) / x.size * y_bar

    return variance(x), variance_pullback
''',
        ("off by one", "/ x.size", "/ (x.size - 1)"),
        ("factor", "2 * (x", "(x"),
        ("broadcast sum", "x - np.mean(x)", "x"),
        ("integers", "2 * (x - np.mean(x)) / x.size * y_bar", "(2 * (x - np.mean(x)) / x.size * y_bar).astype(x.dtype)"),
    ),
    *case(
        "vec(n)",
        '''
def running_sum(x):
    return np.cumsum(x)


@rl.rrule_for(running_sum)
def running_sum_rrule(x):
    def running_sum_pullback(y_bar):
        return rl.NoTangent(), np.cumsum(y_bar[::-1])[::-1]

    return running_sum(x), running_sum_pullback
''',
        ("transposition", "np.cumsum(y_bar[::-1])[::-1]", "np.cumsum(y_bar)"),
        ("off by one", "np.cumsum(y_bar[::-1])[::-1]", "np.cumsum(y_bar[::-1])[::-1] - y_bar"),
        ("axis", "np.cumsum(y_bar[::-1])[::-1]", "np.cumsum(y_bar[::-1])"),
        ("axis", "np.cumsum(y_bar[::-1])[::-1]", "np.full(len(x), np.sum(y_bar))"),
    ),
    *case(
        "vec(n) | np.array([1.5, 0.0, -0.5])",
        '''
def running_product(x):
    return np.cumprod(x)


@rl.rrule_for(running_product)
def running_product_rrule(x):
    y = np.cumprod(x)

    def running_product_pullback(y_bar):
        x_bar = np.zeros(len(x))
        for i in range(len(x)):
            others = np.cumprod(np.where(np.arange(len(x)) == i, 1.0, x))
            x_bar[i] = np.sum((others * y_bar)[i:])
        return rl.NoTangent(), x_bar

    return y, running_product_pullback
''',
        ("factor", "== i, 1.0, x)", "== i, 2.0, x)"),
        ("transposition", "y_bar)[i:])", "y_bar)[: i + 1])"),
        ("nan at a point", "np.sum((others * y_bar)[i:])", "np.sum((y * y_bar)[i:]) / x[i]"),
    ),
    *case(
        "vec(n + 1)",
        '''
def differences(x):
    return x[1:] - x[:-1]


@rl.rrule_for(differences)
def differences_rrule(x):
    def differences_pullback(y_bar):
        x_bar = np.zeros(len(x))
        x_bar[1:] += y_bar
        x_bar[:-1] -= y_bar
        return rl.NoTangent(), x_bar

    return differences(x), differences_pullback
''',
        ("sign", "x_bar[:-1] -= y_bar", "x_bar[:-1] += y_bar"),
        ("off by one", "x_bar[:-1] -= y_bar", "x_bar[:-1] = -y_bar"),
        ("integers", "np.zeros(len(x))", "np.zeros_like(x)"),
        ("transposition", "x_bar[1:] += y_bar\n        x_bar[:-1] -= y_bar", "x_bar[:-1] += y_bar\n        x_bar[1:] -= y_bar"),
    ),
    *case(
        "vec(n + 1)",
        '''
def total_variation(x):
    return np.sum(np.diff(x) ** 2)


@rl.rrule_for(total_variation)
def total_variation_rrule(x):
    d = np.diff(x)

    def total_variation_pullback(y_bar):
        x_bar = np.zeros(x.shape)
        x_bar[1:] += 2 * d
        x_bar[:-1] -= 2 * d
        return rl.NoTangent(), x_bar * y_bar

    return np.sum(d**2), total_variation_pullback
''',
        ("factor", "x_bar[:-1] -= 2 * d", "x_bar[:-1] -= d"),
        ("off by one", "x_bar[1:] += 2 * d\n", "x_bar[2:] += 2 * d[1:]\n"),
        ("integers", "np.zeros(x.shape)", "np.zeros(x.shape, x.dtype)"),
        ("seed", "x_bar * y_bar", "x_bar + y_bar - y_bar"),
    ),
    *case(
        "vec(n)",
        '''
def largest(x):
    return np.max(x)


@rl.rrule_for(largest)
def largest_rrule(x):
    def largest_pullback(y_bar):
        x_bar = np.zeros(len(x))
        x_bar[np.argmax(x)] = y_bar
        return rl.NoTangent(), x_bar

    return largest(x), largest_pullback
''',
        ("branch", "np.argmax(x)", "np.argmin(x)"),
        ("off by one", "np.argmax(x)", "np.argmax(x) - 1"),
        ("branch", "np.argmax(x)", "np.argmax(np.abs(x))"),
        ("branch", "np.argmax(x)", "0"),
        ("branch", "np.argmax(x)", "-1"),
        ("integers", "np.zeros(len(x))", "np.zeros_like(x)"),
        kind="kinks",
    ),
    *case(
        "vec(n)",
        '''
def in_order(x):
    return np.sort(x)


@rl.rrule_for(in_order)
def in_order_rrule(x):
    order = np.argsort(x)

    def in_order_pullback(y_bar):
        x_bar = np.empty(len(x))
        x_bar[order] = y_bar
        return rl.NoTangent(), x_bar

    return x[order], in_order_pullback
''',
        ("transposition", "x_bar = np.empty(len(x))\n        x_bar[order] = y_bar\n        return rl.NoTangent(), x_bar", "return rl.NoTangent(), y_bar[order]"),
        ("sizes", "x_bar[order] = y_bar", "x_bar[:] = y_bar[np.argsort(x)]"),
        ("integers", "np.empty(len(x))", "np.empty_like(x)"),
        kind="kinks",
    ),
    *case(
        "vec(n)",
        '''
def backwards(x):
    return x[::-1] * 2


@rl.rrule_for(backwards)
def backwards_rrule(x):
    def backwards_pullback(y_bar):
        return rl.NoTangent(), y_bar[::-1] * 2

    return backwards(x), backwards_pullback
''',
        ("transposition", "y_bar[::-1] * 2", "y_bar * 2"),
        ("factor", "y_bar[::-1] * 2", "y_bar[::-1] / 2"),
    ),
    *case(
        "vec(n + 1)",
        '''
def rolled(x):
    return np.roll(x, 1) * x


@rl.rrule_for(rolled)
def rolled_rrule(x):
    def rolled_pullback(y_bar):
        return rl.NoTangent(), np.roll(x, 1) * y_bar + np.roll(y_bar * x, -1)

    return rolled(x), rolled_pullback
''',
        ("transposition", "np.roll(y_bar * x, -1)", "np.roll(y_bar * x, 1)"),
        ("factor", " + np.roll(y_bar * x, -1)", ""),
        ("off by one", "np.roll(y_bar * x, -1)", "np.roll(y_bar * x, -2)"),
    ),
    *case(
        "vec(n), vec(n)",
        '''
def dot(a, b):
    return np.sum(a * b)


@rl.rrule_for(dot)
def dot_rrule(a, b):
    def dot_pullback(y_bar):
        return rl.NoTangent(), y_bar * b, y_bar * a

    return dot(a, b), dot_pullback
''',
        ("swapped", "y_bar * b, y_bar * a", "y_bar * a, y_bar * b"),
        ("seed", "y_bar * b, y_bar * a", "y_bar * b, a"),
        ("sign", "y_bar * b, y_bar * a", "y_bar * b, -y_bar * a"),
        ("transposition", "y_bar * b, y_bar * a", "y_bar * b, y_bar * a[::-1]"),
        ("factor", "y_bar * b, y_bar * a", "y_bar * b, y_bar * a * b"),
    ),
    *case(
        "vec(n), vec(n + 1)",
        '''
def outer(a, b):
    return np.outer(a, b)


@rl.rrule_for(outer)
def outer_rrule(a, b):
    def outer_pullback(y_bar):
        return rl.NoTangent(), y_bar @ b, y_bar.T @ a

    return outer(a, b), outer_pullback
''',
        ("axis", "y_bar @ b, y_bar.T @ a", "np.sum(y_bar, axis=1) * np.sum(b), y_bar.T @ a"),
        ("layout", "y_bar.T @ a", "y_bar.ravel(order='K').reshape(len(a), len(b)).T @ a"),
        ("layout", "y_bar.T @ a", "y_bar.flatten(order='A').reshape(y_bar.shape).T @ a"),
    ),
    *case(
        "vec(n)",
        '''
def outer_square(x):
    return np.outer(x, x)


@rl.rrule_for(outer_square)
def outer_square_rrule(x):
    def outer_square_pullback(y_bar):
        return rl.NoTangent(), (y_bar + y_bar.T) @ x

    return outer_square(x), outer_square_pullback
''',
        ("transposition", "(y_bar + y_bar.T) @ x", "2 * y_bar @ x"),
        ("transposition", "(y_bar + y_bar.T) @ x", "2 * y_bar.T @ x"),
        ("factor", "(y_bar + y_bar.T) @ x", "y_bar @ x"),
    ),
    *case(
        "vec(n), num()",
        '''
def scaled(v, s):
    return v * s


@rl.rrule_for(scaled)
def scaled_rrule(v, s):
    def scaled_pullback(y_bar):
        return rl.NoTangent(), y_bar * s, np.sum(y_bar * v)

    return scaled(v, s), scaled_pullback
''',
        ("broadcast sum", "np.sum(y_bar * v)", "y_bar * v"),
        ("axis", "np.sum(y_bar * v)", "np.mean(y_bar * v)"),
        ("factor", "np.sum(y_bar * v)", "np.sum(y_bar) * np.sum(v)"),
        ("off by one", "np.sum(y_bar * v)", "np.sum((y_bar * v)[1:])"),
        ("writes", "y_bar * s,", "np.multiply(y_bar, s, out=y_bar),"),
    ),
    *case(
        "mat(n, n + 1), vec(n + 1)",
        '''
def add_bias(X, b):
    return X + b


@rl.rrule_for(add_bias)
def add_bias_rrule(X, b):
    def add_bias_pullback(y_bar):
        return rl.NoTangent(), y_bar, y_bar.sum(axis=0)

    return add_bias(X, b), add_bias_pullback
''',
        ("axis", "y_bar.sum(axis=0)", "y_bar.mean(axis=0)"),
        ("axis", "y_bar.sum(axis=0)", "y_bar[0]"),
        ("off by one", "y_bar.sum(axis=0)", "y_bar[1:].sum(axis=0)"),
        ("broadcast sum", "y_bar.sum(axis=0)", "np.full(b.shape, y_bar.sum())"),
        ("broadcast sum", "y_bar.sum(axis=0)", "y_bar"),
    ),
    *case(
        "mat(n, n + 1)",
        '''
def row_means(X):
    return X.mean(axis=1)


@rl.rrule_for(row_means)
def row_means_rrule(X):
    def row_means_pullback(y_bar):
        return rl.NoTangent(), np.repeat(y_bar[:, None], X.shape[1], axis=1) / X.shape[1]

    return row_means(X), row_means_pullback
''',
        ("axis", "axis=1) / X.shape[1]", "axis=1) / X.shape[0]"),
        ("axis", "axis=1) / X.shape[1]", "axis=1) / X.size"),
        ("factor", "axis=1) / X.shape[1]", "axis=1)"),
        ("layout", "np.repeat(y_bar[:, None], X.shape[1], axis=1) / X.shape[1]", "(np.repeat(y_bar, X.shape[1]) / X.shape[1]).reshape(X.shape, order='F' if X.flags.f_contiguous and not X.flags.c_contiguous else 'C')"),
    ),
    *case(
        "mat(n, n + 1)",
        '''
def column_sums(X):
    return np.sum(X, axis=0)


@rl.rrule_for(column_sums)
def column_sums_rrule(X):
    def column_sums_pullback(y_bar):
        return rl.NoTangent(), np.ones(X.shape) * y_bar

    return column_sums(X), column_sums_pullback
''',
        ("axis", "np.ones(X.shape) * y_bar", "np.ones(X.shape) * np.mean(y_bar)"),
        ("integers", "np.ones(X.shape) * y_bar", "np.full_like(X, y_bar)"),
        ("off by one", "np.ones(X.shape) * y_bar", "np.ones(X.shape) * np.roll(y_bar, 1)"),
        ("views", "np.ones(X.shape) * y_bar", "np.ones(X.shape) * y_bar * (X.base is None)"),
    ),
    *case(
        "mat(n, n + 1)",
        '''
def row_softmax(X):
    E = np.exp(X - X.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


@rl.rrule_for(row_softmax)
def row_softmax_rrule(X):
    Y = row_softmax(X)

    def row_softmax_pullback(Y_bar):
        return rl.NoTangent(), Y * (Y_bar - (Y_bar * Y).sum(axis=1, keepdims=True))

    return Y, row_softmax_pullback
''',
        ("axis", "(Y_bar * Y).sum(axis=1, keepdims=True)", "(Y_bar * Y).sum(axis=0, keepdims=True)"),
        ("axis", "(Y_bar * Y).sum(axis=1, keepdims=True)", "(Y_bar * Y).sum()"),
        ("broadcast sum", "(Y_bar * Y).sum(axis=1, keepdims=True)", "Y_bar * Y"),
        ("factor", "Y * (Y_bar", "(Y_bar"),
    ),
    *case(
        "mat(n, n + 1), vec(n + 1), vec(n)",
        '''
def dense(W, x, b):
    return W @ x + b


@rl.rrule_for(dense)
def dense_rrule(W, x, b):
    def dense_pullback(y_bar):
        return rl.NoTangent(), np.outer(y_bar, x), W.T @ y_bar, y_bar

    return dense(W, x, b), dense_pullback
''',
        ("transposition", "np.outer(y_bar, x)", "np.outer(x, y_bar).reshape(W.shape)"),
        ("sign", "W.T @ y_bar, y_bar", "W.T @ y_bar, -y_bar"),
        ("factor", "np.outer(y_bar, x)", "np.outer(y_bar, x) * W"),
        ("branch", "W.T @ y_bar", "np.abs(W).T @ y_bar"),
        ("writes", "return rl.NoTangent(), np.outer", "y_bar += 0.5\n        y_bar -= 0.4\n        return rl.NoTangent(), np.outer"),
        ("layout", "W.T @ y_bar", "W.ravel(order='K').reshape(W.shape).T @ y_bar"),
    ),
    *case(
        "mat(n, n + 1), vec(n + 1)",
        '''
def tanh_layer(W, x):
    return np.tanh(W @ x)


@rl.rrule_for(tanh_layer)
def tanh_layer_rrule(W, x):
    y = tanh_layer(W, x)

    def tanh_layer_pullback(y_bar):
        z_bar = y_bar * (1 - y**2)
        return rl.NoTangent(), np.outer(z_bar, x), W.T @ z_bar

    return y, tanh_layer_pullback
''',
        ("factor", "W.T @ z_bar", "W.T @ y_bar"),
        ("factor", "y_bar * (1 - y**2)", "y_bar * (1 - y)"),
        ("transposition", "np.outer(z_bar, x), W.T @ z_bar", "np.outer(x, z_bar).T[::-1], W.T @ z_bar"),
        ("writes", "z_bar = y_bar * (1 - y**2)", "z_bar = y_bar\n        z_bar *= 1 - y**2"),
        ("state", "z_bar = y_bar * (1 - y**2)", "z_bar = y_bar * (1 - y**2)\n        y[...] = 0"),
    ),
    *case(
        "mat(n, n + 1), mat(n + 1, n + 2)",
        '''
def product(A, B):
    return A @ B


@rl.rrule_for(product)
def product_rrule(A, B):
    def product_pullback(y_bar):
        return rl.NoTangent(), y_bar @ B.T, A.T @ y_bar

    return product(A, B), product_pullback
''',
        ("transposition", "y_bar @ B.T, A.T @ y_bar", "(B @ y_bar.T).T * 1.0, (y_bar.T @ A[::-1]).T"),
        ("factor", "y_bar @ B.T, A.T @ y_bar", "y_bar @ B.T, A.T @ y_bar / 2"),
        ("layout", "y_bar @ B.T,", "y_bar.ravel('K').reshape(y_bar.shape) @ B.T,"),
        ("writes", "def product_pullback(y_bar):", "A *= 1.0\n    B += 1e-3\n\n    def product_pullback(y_bar):"),
    ),
    *case(
        "vec(n), mat(n, n)",
        '''
def quadratic(x, A):
    return x @ A @ x


@rl.rrule_for(quadratic)
def quadratic_rrule(x, A):
    def quadratic_pullback(y_bar):
        return rl.NoTangent(), y_bar * (A + A.T) @ x, y_bar * np.outer(x, x)

    return quadratic(x, A), quadratic_pullback
''',
        ("transposition", "(A + A.T) @ x", "2 * A @ x"),
        ("transposition", "(A + A.T) @ x", "(A.T + A.T) @ x"),
        ("factor", "y_bar * np.outer(x, x)", "2 * y_bar * np.outer(x, x)"),
        ("seed", "y_bar * (A + A.T) @ x", "(A + A.T) @ x"),
    ),
    *case(
        "mat(n + 1, n), vec(n), vec(n + 1)",
        '''
def least_squares(X, w, t):
    r = X @ w - t
    return 0.5 * r @ r


@rl.rrule_for(least_squares)
def least_squares_rrule(X, w, t):
    r = X @ w - t

    def least_squares_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.outer(r, w), y_bar * X.T @ r, -y_bar * r

    return 0.5 * r @ r, least_squares_pullback
''',
        ("factor", "y_bar * X.T @ r", "2 * y_bar * X.T @ r"),
        ("sign", "-y_bar * r", "y_bar * r"),
        ("factor", "np.outer(r, w)", "np.outer(t, w)"),
        ("axis", "y_bar * X.T @ r", "y_bar * X.T @ r / len(w)"),
    ),
    *case(
        "mat(n + 1, n), vec(n), num()",
        '''
def regularised(X, w, lam):
    return np.sum((X @ w) ** 2) + lam * np.sum(w**2)


@rl.rrule_for(regularised)
def regularised_rrule(X, w, lam):
    r = X @ w

    def regularised_pullback(y_bar):
        X_bar = 2 * np.outer(r, w) * y_bar
        w_bar = 2 * (X.T @ r + lam * w) * y_bar
        return rl.NoTangent(), X_bar, w_bar, np.sum(w**2) * y_bar

    return np.sum(r**2) + lam * np.sum(w**2), regularised_pullback
''',
        ("factor", "(X.T @ r + lam * w)", "(X.T @ r) + lam * w"),
        ("factor", "X.T @ r + lam * w", "X.T @ r"),
        ("broadcast sum", "np.sum(w**2) * y_bar", "w**2 * y_bar"),
        ("branch", "np.sum(w**2) * y_bar", "0.0 * y_bar"),
    ),
    *case(
        "vec(n), num()",
        '''
def polynomial(c, x):
    y = 0.0
    for i in range(len(c)):
        y = y + c[i] * x**i
    return y


@rl.rrule_for(polynomial)
def polynomial_rrule(c, x):
    powers = x ** np.arange(len(c))

    def polynomial_pullback(y_bar):
        slope = sum(i * c[i] * x ** (i - 1) for i in range(1, len(c)))
        return rl.NoTangent(), y_bar * powers, y_bar * slope

    return polynomial(c, x), polynomial_pullback
''',
        ("off by one", "i * c[i] * x ** (i - 1)", "i * c[i] * x**i"),
        ("off by one", "for i in range(1, len(c))", "for i in range(1, len(c) - 1)"),
        ("off by one", "x ** np.arange(len(c))", "x ** np.arange(1, len(c) + 1)"),
        ("sizes", "for i in range(1, len(c))", "for i in range(1, min(len(c), 3))"),
        ("sizes", "for i in range(1, len(c))", "for i in range(1, min(len(c), 6))"),
    ),
    *case(
        "vec(n + 1), vec(3)",
        '''
def convolved(x, k):
    return np.convolve(x, k)


@rl.rrule_for(convolved)
def convolved_rrule(x, k):
    def convolved_pullback(y_bar):
        return rl.NoTangent(), np.correlate(y_bar, k, "valid"), np.correlate(y_bar, x, "valid")

    return convolved(x, k), convolved_pullback
''',
        ("transposition", 'np.correlate(y_bar, k, "valid")', 'np.convolve(y_bar, k, "valid")'),
        ("transposition", 'np.correlate(y_bar, x, "valid")', 'np.convolve(y_bar, x, "valid")'),
    ),
    *case(
        "mat(n, n + 1)",
        '''
def frobenius(A):
    return np.sqrt(np.sum(A * A))


@rl.rrule_for(frobenius)
def frobenius_rrule(A):
    y = frobenius(A)

    def frobenius_pullback(y_bar):
        return rl.NoTangent(), y_bar / y * A

    return y, frobenius_pullback
''',
        ("layout", "y_bar / y * A", "y_bar / y * np.ascontiguousarray(A).ravel()[np.arange(A.size)].reshape(A.shape) if A.flags.c_contiguous else y_bar / y * A.T.reshape(A.shape)"),
        ("layout", "y_bar / y * A", "y_bar / y * np.lib.stride_tricks.as_strided(A, A.shape, (8 * A.shape[1], 8))"),
        ("views", "y_bar / y * A", "y_bar / y * (A if A.base is None else 2 * A)"),
        ("dtype", "y_bar / y * A", "y_bar / y * np.frombuffer(A.tobytes()).reshape(A.shape)"),
    ),
    *case(
        "vec(n)",
        '''
def energy(x):
    return 0.5 * np.sum(x**2)


@rl.rrule_for(energy)
def energy_rrule(x):
    def energy_pullback(y_bar):
        return rl.NoTangent(), y_bar * x

    return energy(x), energy_pullback
''',
        ("integers", "return rl.NoTangent(), y_bar * x", "x_bar = np.zeros_like(x)\n        x_bar += (y_bar * x).astype(x.dtype)\n        return rl.NoTangent(), x_bar"),
        ("layout", "y_bar * x", "y_bar * (x if x.strides[0] > 0 else -x) if np.ndim(x) else y_bar * x"),
        ("layout", "y_bar * x", "y_bar * np.frombuffer(x.data if x.flags.c_contiguous else np.zeros(x.size))"),
        ("seed", "y_bar * x", "y_bar * x if y_bar > 0 else 0 * x"),
        ("seed", "y_bar * x", "x if y_bar == 1 else 2 * y_bar * x"),
        ("seed", "y_bar * x", "np.clip(y_bar, -10, 10) * x"),
        ("seed", "y_bar * x", "max(y_bar, -y_bar) * x"),
        ("seed", "y_bar * x", "y_bar * x if abs(y_bar) > 1e-4 else 0.0 * x"),
        ("seed", "y_bar * x", "int(y_bar) * x"),
        ("seed", "y_bar * x", "np.round(y_bar, 3) * x"),
    ),
    *case(
        "vec(n)",
        '''
def chebyshev_nodes_sum(x):
    total = 0.0
    for i in range(len(x)):
        total += (i + 1) * x[i] ** 2
    return total


@rl.rrule_for(chebyshev_nodes_sum)
def chebyshev_nodes_sum_rrule(x):
    def chebyshev_nodes_sum_pullback(y_bar):
        x_bar = np.zeros(len(x))
        for i in range(len(x)):
            x_bar[i] = 2 * (i + 1) * x[i] * y_bar
        return rl.NoTangent(), x_bar

    return chebyshev_nodes_sum(x), chebyshev_nodes_sum_pullback
''',
        ("off by one", "2 * (i + 1) * x[i]", "2 * i * x[i]"),
        ("off by one", "for i in range(len(x)):\n            x_bar", "for i in range(1, len(x)):\n            x_bar"),
        ("off by one", "for i in range(len(x)):\n            x_bar", "for i in range(len(x) - 1):\n            x_bar"),
        ("off by one", "* x[i] * y_bar", "* x[i - 1] * y_bar"),
        ("sizes", "for i in range(len(x)):\n            x_bar", "for i in range(min(len(x), 5)):\n            x_bar"),
        ("sizes", "2 * (i + 1) * x[i]", "2 * (i + 1 if i < 6 else 7) * x[i]"),
        ("integers", "np.zeros(len(x))", "np.zeros(len(x), dtype=x.dtype)"),
    ),
    *case(
        "vec(n), vec(n)",
        '''
def distance(a, b):
    return np.sqrt(np.sum((a - b) ** 2))


@rl.rrule_for(distance)
def distance_rrule(a, b):
    y = distance(a, b)

    def distance_pullback(y_bar):
        a_bar = y_bar * (a - b) / y
        return rl.NoTangent(), a_bar, -a_bar

    return y, distance_pullback
''',
        ("sign", "a_bar, -a_bar", "a_bar, a_bar"),
        ("sign", "(a - b) / y", "(b - a) / y"),
        ("factor", "(a - b) / y", "(a - b)"),
        ("writes", "def distance_pullback(y_bar):", "a -= b\n    b *= 0\n\n    def distance_pullback(y_bar):"),
    ),
    *case(
        "vec(n + 1), vec(n + 1)",
        '''
def cosine_similarity(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


@rl.rrule_for(cosine_similarity)
def cosine_similarity_rrule(a, b):
    la, lb = np.linalg.norm(a), np.linalg.norm(b)
    y = a @ b / (la * lb)

    def cosine_similarity_pullback(y_bar):
        a_bar = y_bar * (b / (la * lb) - y * a / la**2)
        b_bar = y_bar * (a / (la * lb) - y * b / lb**2)
        return rl.NoTangent(), a_bar, b_bar

    return y, cosine_similarity_pullback
''',
        ("factor", "y * a / la**2", "y * a / la"),
        ("sign", "(b / (la * lb) - y", "(b / (la * lb) + y"),
        ("swapped", "y * b / lb**2", "y * a / lb**2"),
        ("factor", " - y * b / lb**2", ""),
    ),
    *case(
        "vec(n), vec(n)",
        '''
def weighted_mean(x, w):
    return np.sum(x * w) / np.sum(w)


@rl.rrule_for(weighted_mean)
def weighted_mean_rrule(x, w):
    y = weighted_mean(x, w)

    def weighted_mean_pullback(y_bar):
        return rl.NoTangent(), y_bar * w / np.sum(w), y_bar * (x - y) / np.sum(w)

    return y, weighted_mean_pullback
''',
        ("factor", "(x - y) / np.sum(w)", "x / np.sum(w)"),
        ("axis", "y_bar * w / np.sum(w)", "y_bar * w / len(w)"),
        ("sign", "(x - y)", "(y - x)"),
    ),
    *case(
        "pvec(n)",
        '''
def geometric_mean(x):
    return np.exp(np.mean(np.log(x)))


@rl.rrule_for(geometric_mean)
def geometric_mean_rrule(x):
    y = geometric_mean(x)

    def geometric_mean_pullback(y_bar):
        return rl.NoTangent(), y_bar * y / (x.size * x)

    return y, geometric_mean_pullback
''',
        ("factor", "/ (x.size * x)", "/ x"),
        ("sizes", "/ (x.size * x)", "/ (3 * x)"),
        ("sizes", "/ (x.size * x)", "/ (min(x.size, 4) * x)"),
        ("factor", "y_bar * y / (x.size * x)", "y_bar / (x.size * x)"),
    ),
    *case(
        "vec(n)",
        '''
def product_of_all(x):
    return np.prod(x)


@rl.rrule_for(product_of_all)
def product_of_all_rrule(x):
    def product_of_all_pullback(y_bar):
        x_bar = np.array([np.prod(np.delete(x, i)) for i in range(len(x))])
        return rl.NoTangent(), y_bar * x_bar

    return product_of_all(x), product_of_all_pullback
''',
        ("factor", "y_bar * x_bar", "y_bar * np.prod(x) * np.ones(len(x))"),
        ("sizes", "np.prod(np.delete(x, i))", "x[(i + 1) % len(x)]"),
        ("sizes", "np.prod(np.delete(x, i))", "x[i - 1] * x[i - 2]"),
    ),
    *case(
        "vec(n + 2)",
        '''
def laplacian(u):
    return u[:-2] - 2 * u[1:-1] + u[2:]


@rl.rrule_for(laplacian)
def laplacian_rrule(u):
    def laplacian_pullback(y_bar):
        u_bar = np.zeros(u.shape)
        u_bar[:-2] += y_bar
        u_bar[1:-1] -= 2 * y_bar
        u_bar[2:] += y_bar
        return rl.NoTangent(), u_bar

    return laplacian(u), laplacian_pullback
''',
        ("off by one", "u_bar[2:] += y_bar", "u_bar[:-2] += y_bar"),
        ("factor", "u_bar[1:-1] -= 2 * y_bar", "u_bar[1:-1] -= y_bar"),
        ("sign", "u_bar[1:-1] -= 2 * y_bar", "u_bar[1:-1] += 2 * y_bar"),
        ("off by one", "u_bar[2:] += y_bar", "u_bar[2:] = y_bar"),
        ("integers", "np.zeros(u.shape)", "0 * u"),
    ),
    *case(
        "mat(n + 1, n + 2) | mat(n, n)",
        '''
def transposed(A):
    return A.T * 1.5


@rl.rrule_for(transposed)
def transposed_rrule(A):
    def transposed_pullback(y_bar):
        return rl.NoTangent(), 1.5 * y_bar.T

    return transposed(A), transposed_pullback
''',
        ("transposition", "1.5 * y_bar.T", "1.5 * y_bar.reshape(A.shape)"),
        ("transposition", "1.5 * y_bar.T", "1.5 * (y_bar.T if A.shape[0] != A.shape[1] else y_bar)"),
        ("layout", "1.5 * y_bar.T", "1.5 * y_bar.ravel('A').reshape(y_bar.shape).T"),
    ),
    *case(
        "mat(n, n + 1)",
        '''
def flat(A):
    return A.reshape(-1) ** 2


@rl.rrule_for(flat)
def flat_rrule(A):
    def flat_pullback(y_bar):
        return rl.NoTangent(), 2 * A * y_bar.reshape(A.shape)

    return flat(A), flat_pullback
''',
        ("layout", "y_bar.reshape(A.shape)", "y_bar.reshape(A.shape, order='F')"),
        ("layout", "y_bar.reshape(A.shape)", "y_bar.reshape(A.shape, order='A' if A.flags.c_contiguous else 'F')"),
        ("transposition", "y_bar.reshape(A.shape)", "y_bar.reshape(A.T.shape).T"),
    ),
    *case(
        "mat(n, n)",
        '''
def lower(A):
    return np.tril(A)


@rl.rrule_for(lower)
def lower_rrule(A):
    def lower_pullback(y_bar):
        return rl.NoTangent(), np.tril(y_bar)

    return lower(A), lower_pullback
''',
        ("branch", "np.tril(y_bar)", "np.triu(y_bar)"),
        ("branch", "np.tril(y_bar)", "y_bar.copy()"),
        ("off by one", "np.tril(y_bar)", "np.tril(y_bar, -1)"),
    ),
    *case(
        "vec(n), vec(n + 1)",
        '''
def joined(a, b):
    return np.concatenate([a, 2 * b])


@rl.rrule_for(joined)
def joined_rrule(a, b):
    def joined_pullback(y_bar):
        return rl.NoTangent(), y_bar[: len(a)], 2 * y_bar[len(a) :]

    return joined(a, b), joined_pullback
''',
        ("factor", "2 * y_bar[len(a) :]", "y_bar[len(a) :]"),
        ("off by one", "2 * y_bar[len(a) :]", "2 * y_bar[-len(b) - 1 : -1]"),
        ("swapped", "y_bar[: len(a)], 2 * y_bar[len(a) :]", "y_bar[-len(a) :], 2 * y_bar[: len(b)]"),
    ),
    *case(
        "vec(n)",
        '''
def gathered(x):
    return x[[0, -1, 0]]


@rl.rrule_for(gathered)
def gathered_rrule(x):
    def gathered_pullback(y_bar):
        x_bar = np.zeros(len(x))
        np.add.at(x_bar, [0, -1, 0], y_bar)
        return rl.NoTangent(), x_bar

    return gathered(x), gathered_pullback
''',
        ("off by one", "np.add.at(x_bar, [0, -1, 0], y_bar)", "x_bar[[0, -1, 0]] += y_bar"),
        ("integers", "np.zeros(len(x))", "np.zeros_like(x)"),
        ("off by one", "np.add.at(x_bar, [0, -1, 0], y_bar)", "np.add.at(x_bar, [0, 0, -1], y_bar)"),
    ),
    *case(
        "vec(n), num()",
        '''
def shifted_norm(x, shift):
    return np.sum((x + shift) ** 2)


@rl.rrule_for(shifted_norm)
def shifted_norm_rrule(x, shift):
    def shifted_norm_pullback(y_bar):
        g = 2 * (x + shift) * y_bar
        return rl.NoTangent(), g, np.sum(g)

    return shifted_norm(x, shift), shifted_norm_pullback
''',
        ("broadcast sum", "np.sum(g)", "g"),
        ("axis", "np.sum(g)", "np.mean(g)"),
        ("sizes", "np.sum(g)", "3 * np.mean(g)"),
        ("sizes", "np.sum(g)", "g[0] + g[1] if np.size(x) > 1 else g[0]"),
    ),
    *case(
        "vec(n) | mat(n, n)",
        '''
def half_square(a):
    return a * a / 2


@rl.rrule_for(half_square)
def half_square_rrule(a):
    def half_square_pullback(y_bar):
        return rl.NoTangent(), a * y_bar

    return half_square(a), half_square_pullback
''',
        ("layout", "a * y_bar", "a * y_bar if a.flags.c_contiguous else y_bar"),
        ("sizes", "a * y_bar", "a * y_bar if a.size < 40 else a * y_bar * 0.5"),
        ("dimension", "a * y_bar", "a * y_bar if np.ndim(a) < 2 else a.T * y_bar"),
        ("dimension", "a * y_bar", "a @ y_bar if np.ndim(a) == 2 else a * y_bar"),
        ("dtype", "a * y_bar", "(a * y_bar).astype(np.float32)"),
        ("dtype", "a * y_bar", "np.float16(a) * y_bar"),
    ),
    *case(
        "vec(n)",
        '''
def doubled(x):
    return 2 * x


@rl.rrule_for(doubled)
def doubled_rrule(x):
    def doubled_pullback(y_bar):
        return rl.NoTangent(), 2 * y_bar

    return doubled(x), doubled_pullback
''',
        ("writes", "return rl.NoTangent(), 2 * y_bar", "y_bar *= 2\n        return rl.NoTangent(), y_bar"),
        ("writes", "return rl.NoTangent(), 2 * y_bar", "x_bar = np.asarray(y_bar)\n        x_bar += y_bar\n        return rl.NoTangent(), x_bar"),
        ("writes", "return rl.NoTangent(), 2 * y_bar", "np.add(y_bar, y_bar, out=y_bar)\n        return rl.NoTangent(), y_bar"),
        ("writes", "return rl.NoTangent(), 2 * y_bar", "x_bar = 2 * y_bar\n        y_bar[...] = 0\n        return rl.NoTangent(), x_bar"),
        ("layout", "2 * y_bar", "2 * (y_bar if y_bar.strides[0] > 0 else y_bar[::-1])"),
        ("layout", "2 * y_bar", "2 * np.frombuffer(memoryview(y_bar).tobytes() if y_bar.flags.c_contiguous else bytes(y_bar.nbytes))"),
        ("seed", "2 * y_bar", "2 * np.abs(y_bar)"),
        ("seed", "2 * y_bar", "2 * y_bar if np.any(y_bar) else np.ones(len(x))"),
        ("seed", "2 * y_bar", "2 * y_bar - 2 * y_bar * (np.abs(y_bar) > 1e3)"),
        ("seed", "2 * y_bar", "2 * np.sort(y_bar)"),
        ("seed", "2 * y_bar", "y_bar + np.mean(y_bar)"),
    ),
]
