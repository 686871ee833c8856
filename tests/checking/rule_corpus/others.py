# ruff: noqa: E501
"""Objects, several numbers, keywords, rules stated by partial derivatives, other conventions, HIPS autograd's rules."""

from rule_corpus.cases import DOMAINS, HEADER, Rule, case

POINT = '''
@dataclasses.dataclass
class Point:
    x: float
    y: float


# judged: {name}
'''

LAYER = '''
@dataclasses.dataclass
class Layer:
    w: np.ndarray
    b: np.ndarray


# judged: {name}
'''

LINE = '''
class Line(typing.NamedTuple):
    slope: float
    offset: float


# judged: {name}
'''


def partials(name, parameters, value, slopes, where, *mistakes, kind="several numbers", header=""):
    """A rule by `rl.scalar_rule`; a mistake is another tuple of partial derivatives."""

    def text(slopes):
        return f"{HEADER}{header}\n\ndef {name}({parameters}):\n    return {value}\n\n\nrl.scalar_rule({name}, lambda out, {parameters}: ({slopes}))\n"

    where = DOMAINS.get(where, where)
    rules = [Rule(name, kind, name, text(slopes), where, True)]
    for number, (mistake, instead) in enumerate(mistakes):
        rules.append(Rule(f"{name}, {number}: {mistake}", mistake, name, text(instead), where, False))
    return rules


def several(name, parameters, value, slopes, where, *mistakes, kind="several numbers"):
    """A function of several numbers with a rule written out; a mistake replaces a piece of the tuple of partial derivatives."""
    cotangents = ", ".join(f"y_bar * ({s.strip()})" for s in slopes.split(";"))
    text = (
        f"def {name}({parameters}):\n    return {value}\n\n\n@rl.rrule_for({name})\ndef {name}_rrule({parameters}):\n    y = {name}({parameters})\n\n"
        f"    def {name}_pullback(y_bar):\n        return rl.NoTangent(), {cotangents}\n\n    return y, {name}_pullback\n"
    )
    changed = []
    for mistake, piece, instead in mistakes:
        changed.append((mistake, cotangents, cotangents.replace(piece, instead, 1)))
        if piece not in cotangents:
            raise ValueError(f"{name}: no {piece!r}")
    return case(where, text, *changed, kind=kind)


def hips(name, value, slope, where, *mistakes, parameters="x", header=""):
    """A primitive of HIPS autograd with its `defvjp`, for one argument or several."""
    text = f"from autograd.extend import defvjp, primitive\n{header}\n\n# judged: {name}\n@primitive\ndef {name}({parameters}):\n    return {value}\n\n\n"
    slopes = ", ".join(f"lambda y, {parameters}: lambda y_bar: {s.strip()}" for s in slope.split(";"))
    changed = [(mistake, slopes, ", ".join(f"lambda y, {parameters}: lambda y_bar: {s.strip()}" for s in instead.split(";"))) for mistake, instead in mistakes]
    return case(DOMAINS.get(where, where), f"{text}defvjp({name}, {slopes})\n", *changed, kind="autograd", through="autograd")


RULES = [
    *case(
        "Point(num(), num())",
        POINT.format(name="radius")
        + '''
def radius(p: Point):
    return np.hypot(p.x, p.y)


@rl.rrule_for(radius)
def radius_rrule(p: Point):
    y = radius(p)

    def radius_pullback(y_bar):
        return rl.NoTangent(), rl.Tangent(Point, x=y_bar * p.x / y, y=y_bar * p.y / y)

    return y, radius_pullback
''',
        ("swapped", "x=y_bar * p.x / y, y=y_bar * p.y / y", "x=y_bar * p.y / y, y=y_bar * p.x / y"),
        ("sign", "y=y_bar * p.y / y", "y=-y_bar * p.y / y"),
        ("zero", ", y=y_bar * p.y / y", ""),
        ("seed", "x=y_bar * p.x / y", "x=p.x / y"),
        kind="struct",
    ),
    *case(
        "Layer(mat(2, 3), vec(2)), vec(3)",
        LAYER.format(name="run_layer")
        + '''
def run_layer(layer: Layer, x: np.ndarray):
    return np.tanh(layer.w @ x + layer.b)


@rl.rrule_for(run_layer)
def run_layer_rrule(layer: Layer, x: np.ndarray):
    y = run_layer(layer, x)

    def run_layer_pullback(y_bar):
        z_bar = y_bar * (1 - y**2)
        return rl.NoTangent(), rl.Tangent(Layer, w=np.outer(z_bar, x), b=z_bar), layer.w.T @ z_bar

    return y, run_layer_pullback
''',
        kind="struct",
    ),
    *case(
        "Line(num(), num()), num()",
        LINE.format(name="on_line")
        + '''
def on_line(line: Line, x: float):
    return line.slope * x + line.offset


@rl.rrule_for(on_line)
def on_line_rrule(line: Line, x: float):
    def on_line_pullback(y_bar):
        return rl.NoTangent(), rl.Tangent(Line, slope=x * y_bar, offset=y_bar), line.slope * y_bar

    return on_line(line, x), on_line_pullback
''',
        ("factor", "slope=x * y_bar", "slope=y_bar"),
        ("swapped", "slope=x * y_bar, offset=y_bar", "slope=y_bar, offset=x * y_bar"),
        ("sign", "line.slope * y_bar\n", "-line.slope * y_bar\n"),
        kind="struct",
    ),
    *case(
        "(vec(n), num())",
        '''
def pair_energy(pair: tuple):
    return np.sum(pair[0] ** 2) * pair[1]


@rl.rrule_for(pair_energy)
def pair_energy_rrule(pair: tuple):
    def pair_energy_pullback(y_bar):
        first = 2 * pair[0] * pair[1] * y_bar
        return rl.NoTangent(), rl.Tangent(tuple, first, np.sum(pair[0] ** 2) * y_bar)

    return pair_energy(pair), pair_energy_pullback
''',
        kind="struct",
    ),
    *case(
        "Point(num(), num()), num()",
        POINT.format(name="stretched")
        + '''
def stretched(p: Point, s: float):
    return (p.x + 2 * p.y) * s


@rl.rrule_for(stretched)
def stretched_rrule(p: Point, s: float):
    def stretched_pullback(y_bar):
        return rl.NoTangent(), rl.Tangent(Point, x=s * y_bar, y=2 * s * y_bar), (p.x + 2 * p.y) * y_bar

    return stretched(p, s), stretched_pullback
''',
        ("factor", "y=2 * s * y_bar", "y=s * y_bar"),
        ("sign", "(p.x + 2 * p.y) * y_bar", "(p.x - 2 * p.y) * y_bar"),
        ("zero", "rl.Tangent(Point, x=s * y_bar, y=2 * s * y_bar)", "rl.ZeroTangent()"),
        kind="struct",
    ),
    *case(
        "Line(num(), num()), vec(n)",
        LINE.format(name="line_energy")
        + '''
def line_energy(line: Line, x: np.ndarray):
    return np.sum((line.slope * x + line.offset) ** 2)


@rl.rrule_for(line_energy)
def line_energy_rrule(line: Line, x: np.ndarray):
    r = line.slope * x + line.offset

    def line_energy_pullback(y_bar):
        g = 2 * r * y_bar
        return rl.NoTangent(), rl.Tangent(Line, slope=np.sum(g * x), offset=np.sum(g)), g * line.slope

    return np.sum(r**2), line_energy_pullback
''',
        ("broadcast sum", "offset=np.sum(g)", "offset=np.mean(g)"),
        ("factor", "slope=np.sum(g * x)", "slope=np.sum(g)"),
        ("factor", "g * line.slope", "g * line.offset"),
        kind="struct",
    ),
    *several("bilinear", "x, y_", "x * y_", "y_; x", "num(), num() | vec(n), vec(n)", ("swapped", "y_bar * (y_), y_bar * (x)", "y_bar * (x), y_bar * (y_)"), ("sign", "y_bar * (x)", "-y_bar * (x)")),
    *several("ratio", "x, d", "x / d", "1 / d; -x / d**2", "num(), pnum() | vec(n), pvec(n)", ("sign", "-x / d**2", "x / d**2"), ("factor", "-x / d**2", "-x / d"), ("factor", "1 / d)", "d)")),
    *several("raised", "x, p", "x**p", "p * x ** (p - 1); y * np.log(x)", "pnum(), num()", ("off by one", "(p - 1)", "p"), ("factor", "y * np.log(x)", "y"), ("factor", "p * x", "x")),
    *several("angle_of", "y_, x", "np.arctan2(y_, x)", "x / (x**2 + y_**2); -y_ / (x**2 + y_**2)", "num(), num()", ("sign", "(-y_", "(y_"), ("swapped", "y_bar * (x /", "y_bar * (y_ /")),
    *several("hypotenuse", "a, b", "np.sqrt(a * a + b * b)", "a / y; b / y", "num(), num()", ("factor", "b / y", "2 * b / y"), ("swapped", "(a / y)", "(b / y)")),
    *several("gauss_density", "x, mu, sigma", "np.exp(-((x - mu) ** 2) / (2 * sigma**2)) / sigma", "-y * (x - mu) / sigma**2; y * (x - mu) / sigma**2; y * ((x - mu) ** 2 / sigma**3 - 1 / sigma)", "num(), num(), pnum()", ("sign", "(y * (x - mu) /", "(-y * (x - mu) /"), ("off by one", " - 1 / sigma", ""), ("factor", "-y * (x - mu) / sigma**2", "-y * (x - mu) / sigma")),
    *several("michaelis", "s, vmax, km", "vmax * s / (km + s)", "vmax * km / (km + s) ** 2; s / (km + s); -vmax * s / (km + s) ** 2", "pnum(), pnum(), pnum()", ("sign", "-vmax * s", "vmax * s"), ("factor", "vmax * km", "vmax * s")),
    *several("lerp", "a, b, t", "a + (b - a) * t", "1 - t; t; b - a", "num(), num(), num()", ("sign", "b - a", "a - b"), ("factor", "(1 - t)", "(1)"), ("swapped", "(1 - t), y_bar * (t)", "(t), y_bar * (1 - t)")),
    *several("pendulum", "theta, length", "9.81 / length * np.sin(theta)", "9.81 / length * np.cos(theta); -9.81 / length**2 * np.sin(theta)", "num(), pnum()", ("sign", "-9.81", "9.81"), ("factor", "np.cos(theta)", "-np.cos(theta)")),
    *several("lens", "f, d", "1 / (1 / f - 1 / d)", "y**2 / f**2; -(y**2) / d**2", "1.5 + unum(), 4.5 + unum()", ("sign", "-(y**2)", "(y**2)"), ("factor", "y**2 / f**2", "y / f**2")),
    *several("cobb_douglas", "k_, l_, a", "k_**a * l_ ** (1 - a)", "a * y / k_; (1 - a) * y / l_; y * np.log(k_ / l_)", "pnum(), pnum(), unum()", ("sign", "np.log(k_ / l_)", "np.log(l_ / k_)"), ("factor", "(1 - a) * y", "a * y")),
    *several("black", "s, k, t", "s * np.exp(-k * t)", "np.exp(-k * t); -t * y; -k * y", "num(), num(), num()", ("swapped", "(-t * y), y_bar * (-k * y)", "(-k * y), y_bar * (-t * y)"), ("sign", "(-k * y)", "(k * y)")),
    *several("soft_hinge", "x, beta", "np.log1p(np.exp(beta * x)) / beta", "1 / (1 + np.exp(-beta * x)); x / (beta * (1 + np.exp(-beta * x))) - y / beta", "num(), pnum()", ("factor", " - y / beta", ""), ("factor", "1 / (1 + np.exp(-beta * x)))", "beta / (1 + np.exp(-beta * x)))")),
    *several("bigger", "a, b", "np.maximum(a, b)", "np.where(a > b, 1.0, 0.0); np.where(a > b, 0.0, 1.0)", "num(), num() | vec(n), vec(n)", ("swapped", "np.where(a > b, 1.0, 0.0)", "np.where(a > b, 0.0, 1.0)"), ("branch", "np.where(a > b, 0.0, 1.0)", "np.where(b > 0, 1.0, 0.0)"), ("branch", "np.where(a > b, 0.0, 1.0)", "1.0"), kind="kinks"),
    *several("smaller", "a, b", "np.minimum(a, b)", "np.where(a < b, 1.0, 0.0); np.where(a < b, 0.0, 1.0)", "num(), num()", ("swapped", "np.where(a < b, 1.0, 0.0)", "np.where(a < b, 0.0, 1.0)"), kind="kinks"),
    *several("gated", "x, g", "np.where(g > 0, x * g, 0.0)", "np.where(g > 0, g, 0.0); np.where(g > 0, x, 0.0)", "num(), num() | vec(n), vec(n)", ("branch", "np.where(g > 0, x, 0.0)", "x"), ("branch", "np.where(g > 0, g, 0.0)", "np.where(x > 0, g, 0.0)"), kind="kinks"),
    *partials("s_square", "x", "x * x", "2 * x", "real", ("factor", "x")),
    *partials("s_tanh", "x", "np.tanh(x)", "1 - out**2", "real", ("sign", "1 + out**2")),
    *partials("s_product", "a, b", "a * b", "b, a", "num(), num() | vec(n), vec(n) | vec(n), num()", ("swapped", "a, b")),
    *partials("s_quotient", "a, b", "a / b", "1 / b, -out / b", "num(), pnum() | vec(n), pnum()", ("sign", "1 / b, out / b")),
    *partials("s_power", "x, p", "x**p", "p * x ** (p - 1), out * np.log(x)", "pnum(), num()", ("factor", "p * x ** (p - 1), out")),
    *partials("s_logistic", "x, rate", "1 / (1 + np.exp(-rate * x))", "rate * out * (1 - out), x * out * (1 - out)", "num(), num() | vec(n), num()", ("swapped", "x * out * (1 - out), rate * out * (1 - out)"), ("factor", "out * (1 - out), x * out * (1 - out)")),
    *partials("s_hypot", "a, b", "np.hypot(a, b)", "a / out, b / out", "num(), num()", ("factor", "a / out, b * out")),
    *partials("s_exp", "x", "np.exp(-x)", "-out", "real", ("sign", "out")),
    *partials("s_log", "x", "np.log(x)", "1 / x", "positive", ("factor", "1 / out")),
    *partials("s_cbrt", "x", "np.cbrt(x)", "1 / (3 * out**2)", "positive", ("factor", "1 / (3 * out)")),
    *partials("s_sin", "x", "np.sin(2 * x)", "2 * np.cos(2 * x)", "real", ("factor", "np.cos(2 * x)")),
    *partials("s_atan", "x", "np.arctan(x)", "1 / (1 + x**2)", "real", ("factor", "1 / (1 + x)")),
    *partials("s_damped", "x, t", "x * np.exp(-t)", "np.exp(-t), -out", "num(), num() | vec(n), num()", ("sign", "np.exp(-t), out")),
    *partials("s_lgamma", "x", "math.lgamma(x)", "digamma(x)", "positive number", ("off by one", "digamma(x + 1)"), header="\nfrom scipy.special import digamma\n", kind="special"),
    *partials("s_beta", "a, b", "sp.betaln(a, b)", "sp.digamma(a) - sp.digamma(a + b), sp.digamma(b) - sp.digamma(a + b)", "pnum(), pnum()", ("swapped", "sp.digamma(b) - sp.digamma(a + b), sp.digamma(a) - sp.digamma(a + b)"), header="\nimport scipy.special as sp\n", kind="special"),
    *partials("s_xlogy", "x, y", "sp.xlogy(x, y)", "np.log(y), x / y", "pnum(), pnum()", ("swapped", "x / y, np.log(y)"), header="\nimport scipy.special as sp\n", kind="special"),
    *case(
        "vec(n)",
        '''
def with_keyword(x, *, power=3):
    return np.sum(x**power)


@rl.rrule_for(with_keyword)
def with_keyword_rrule(x, *, power=3):
    def with_keyword_pullback(y_bar):
        return rl.NoTangent(), power * x ** (power - 1) * y_bar

    return with_keyword(x, power=power), with_keyword_pullback
''',
        ("off by one", "x ** (power - 1)", "x**power"),
        ("factor", "power * x", "x"),
        kind="keywords",
    ),
    *case(
        "mat(n, n + 1)",
        '''
def along(A, axis=0):
    return np.sum(A * A, axis=axis)


@rl.rrule_for(along)
def along_rrule(A, axis=0):
    def along_pullback(y_bar):
        return rl.NoTangent(), 2 * A * np.expand_dims(y_bar, axis), rl.NoTangent()

    return along(A, axis), along_pullback
''',
        ("factor", "2 * A * np", "A * np"),
        ("axis", "np.expand_dims(y_bar, axis)", "np.mean(y_bar)"),
        kind="keywords",
    ),
    *case(
        "vec(n), 2",
        '''
def nth_power(x, n):
    return np.sum(x**n)


@rl.rrule_for(nth_power)
def nth_power_rrule(x, n: int):
    def nth_power_pullback(y_bar):
        return rl.NoTangent(), n * x ** (n - 1) * y_bar, rl.NoTangent()

    return nth_power(x, n), nth_power_pullback
''',
        ("factor", "n * x ** (n - 1) * y_bar", "x ** (n - 1) * y_bar"),
        kind="keywords",
    ),
    *case(
        "vec(n)",
        '''
def many_results(x):
    return np.sum(x), x**2


@rl.rrule_for(many_results)
def many_results_rrule(x):
    def many_results_pullback(y_bar):
        total_bar, square_bar = rl.unthunk(y_bar[0]), rl.unthunk(y_bar[1])
        return rl.NoTangent(), total_bar + 2 * x * square_bar

    return many_results(x), many_results_pullback
''',
        ("factor", "total_bar + 2 * x * square_bar", "total_bar + x * square_bar"),
        ("seed", "total_bar + 2 * x * square_bar", "total_bar + 2 * x"),
        ("sign", "total_bar + 2 * x * square_bar", "2 * x * square_bar - total_bar"),
        kind="several results",
    ),
    *hips("h_square", "x**2", "y_bar * 2 * x", "real", ("factor", "y_bar * x"), ("seed", "2 * x")),
    *hips("h_softplus", "np.log1p(np.exp(x))", "y_bar / (1 + np.exp(-x))", "real", ("sign", "y_bar / (1 + np.exp(x))")),
    *hips("h_tanh", "np.tanh(x)", "y_bar * (1 - y**2)", "real", ("factor", "y_bar * (1 - y)")),
    *hips("h_log", "np.log(x)", "y_bar / x", "positive", ("factor", "y_bar * x")),
    *hips("h_sum", "np.sum(x)", "y_bar * np.ones(np.shape(x))", "num() | vec(n) | mat(n, n + 1)", ("factor", "y_bar * np.ones(np.shape(x)) / np.size(x)")),
    *hips("h_mean", "np.mean(x)", "y_bar * np.ones(np.shape(x)) / np.size(x)", "vec(n) | mat(n, n + 1)", ("factor", "y_bar * np.ones(np.shape(x))"), ("sizes", "y_bar * np.ones(np.shape(x)) / 3")),
    *hips("h_norm", "np.sqrt(np.sum(x * x))", "y_bar * x / y", "vec(n)", ("factor", "y_bar * x")),
    *hips("h_sort", "np.sort(x)", "y_bar[np.argsort(np.argsort(x))]", "vec(n)", ("transposition", "y_bar[np.argsort(x)]")),
    *hips("h_cumsum", "np.cumsum(x)", "np.cumsum(y_bar[::-1])[::-1]", "vec(n)", ("transposition", "np.cumsum(y_bar)")),
    *hips("h_outer", "np.outer(a, b)", "y_bar @ b; y_bar.T @ a", "vec(n), vec(n + 1)", ("swapped", "y_bar @ b; y_bar.T @ a * 2"), parameters="a, b"),
    *hips("h_dot", "np.dot(a, b)", "y_bar * b; y_bar * a", "vec(n), vec(n)", ("swapped", "y_bar * a; y_bar * b"), parameters="a, b"),
    *hips("h_matmul", "A @ x", "np.outer(y_bar, x); A.T @ y_bar", "mat(n, n + 1), vec(n + 1)", ("transposition", "np.outer(y_bar, x); y_bar @ A * np.sign(x)"), parameters="A, x"),
    *hips("h_inv", "np.linalg.inv(A)", "-y.T @ y_bar @ y.T", "well(n)", ("transposition", "-y @ y_bar @ y"), parameters="A"),
    *hips("h_det", "np.linalg.det(A)", "y_bar * y * np.linalg.inv(A).T", "well(n)", ("transposition", "y_bar * y * np.linalg.inv(A)"), parameters="A"),
    *hips("h_relu", "np.maximum(x, 0)", "y_bar * (x > 0)", "real", ("branch", "y_bar * (y_bar > 0)")),
    *hips("h_erf", "sp.erf(x)", "y_bar * 2 / np.sqrt(np.pi) * np.exp(-(x**2))", "real", ("factor", "y_bar * np.exp(-(x**2))"), header="import scipy.special as sp"),
    *hips("h_abs_square", "np.abs(z) ** 2", "2 * y_bar * np.conj(z)", "complex", ("conj", "2 * y_bar * z"), parameters="z"),
    *hips("h_c_exp", "np.exp(z)", "y_bar * y", "complex", ("conj", "y_bar * np.conj(y)"), parameters="z"),
    *hips("h_swish", "x / (1 + np.exp(-x))", "y_bar * (y / x + y * (1 - y / x))", "real", ("factor", "y_bar * y / x")),
    *hips("h_max", "np.max(x)", "y_bar * (x == y) / np.sum(x == y)", "vec(n)", ("branch", "y_bar * (x > 0)")),
    # right rules that are written otherwise, or look wrong
    *case("uvec(n)", '''
def entropy(p):
    return -np.sum(p * np.log(p))


@rl.rrule_for(entropy)
def entropy_rrule(p):
    def entropy_pullback(y_bar):
        return rl.NoTangent(), -(np.log(p) + 1) * y_bar

    return entropy(p), entropy_pullback
''', ("off by one", "np.log(p) + 1", "np.log(p)"), ("sign", "-(np.log(p) + 1)", "(np.log(p) + 1)"), kind="domain"),
    *case("snum()", '''
def half_circle(x: float):
    return math.sqrt(1 - x * x)


@rl.rrule_for(half_circle)
def half_circle_rrule(x: float):
    y = half_circle(x)
    return y, lambda y_bar: (rl.NoTangent(), -x / y * y_bar)
''', ("sign", "-x / y * y_bar", "x / y * y_bar"), kind="domain"),
    *case("pnum() + 2", '''
def loglog(x):
    return math.log(math.log(x))


@rl.rrule_for(loglog)
def loglog_rrule(x):
    return loglog(x), lambda y_bar: (rl.NoTangent(), y_bar / (x * math.log(x)))
''', ("factor", "y_bar / (x * math.log(x))", "y_bar / x"), kind="domain"),
    *case("pvec(n)", '''
def sum_of_roots(x):
    return np.sum(np.sqrt(x))


@rl.rrule_for(sum_of_roots)
def sum_of_roots_rrule(x):
    return sum_of_roots(x), lambda y_bar: (rl.NoTangent(), y_bar / (2 * np.sqrt(x)))
''', ("factor", "(2 * np.sqrt(x))", "np.sqrt(x)"), kind="domain"),
    *case("num()", '''
def stable_softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@rl.rrule_for(stable_softplus)
def stable_softplus_rrule(x):
    e = np.exp(-np.abs(x))

    def stable_softplus_pullback(y_bar):
        return rl.NoTangent(), y_bar * np.where(x >= 0, 1 / (1 + e), e / (1 + e))

    return stable_softplus(x), stable_softplus_pullback
''', ("branch", "np.where(x >= 0, 1 / (1 + e), e / (1 + e))", "1 / (1 + e)"), kind="scalar"),
    *case("num()", '''
def log1pexp(x):
    return np.log(1.0 + np.exp(x))


@rl.rrule_for(log1pexp)
def log1pexp_rrule(x):
    def log1pexp_pullback(y_bar):
        return rl.NoTangent(), (1 - 1 / (1 + np.exp(x))) * y_bar

    return log1pexp(x), log1pexp_pullback
''', ("sign", "(1 - 1 / (1 + np.exp(x)))", "(1 + 1 / (1 + np.exp(x)))"), kind="scalar"),
    *case("pnum()", '''
def newton_root(a):
    x = a
    for _ in range(60):
        x = 0.5 * (x + a / x)
    return x


@rl.rrule_for(newton_root)
def newton_root_rrule(a):
    y = newton_root(a)
    return y, lambda y_bar: (rl.NoTangent(), y_bar / (2 * y))
''', ("factor", "y_bar / (2 * y)", "y_bar / y"), kind="scalar"),
    *case("num()", '''
def fixed_point(a):
    x = 0.0
    for _ in range(200):
        x = np.cos(x) / 2 + a / 4
    return x


@rl.rrule_for(fixed_point)
def fixed_point_rrule(a):
    y = fixed_point(a)
    return y, lambda y_bar: (rl.NoTangent(), y_bar * 0.25 / (1 + np.sin(y) / 2))
''', ("sign", "(1 + np.sin(y) / 2)", "(1 - np.sin(y) / 2)"), kind="scalar"),
    *case("num(), num()", '''
def integral_of_sine(a, b):
    nodes, weights = np.polynomial.legendre.leggauss(40)
    return (b - a) / 2 * np.sum(weights * np.sin((a + b) / 2 + (b - a) / 2 * nodes))


@rl.rrule_for(integral_of_sine)
def integral_of_sine_rrule(a, b):
    return integral_of_sine(a, b), lambda y_bar: (rl.NoTangent(), -y_bar * np.sin(a), y_bar * np.sin(b))
''', ("sign", "-y_bar * np.sin(a)", "y_bar * np.sin(a)"), kind="scalar"),
    *case("snum(), snum()", '''
def quad_gauss(a, b):
    from scipy.integrate import quad

    return quad(lambda t: math.exp(-t * t), a, b)[0]


@rl.rrule_for(quad_gauss)
def quad_gauss_rrule(a, b):
    return quad_gauss(a, b), lambda y_bar: (rl.NoTangent(), -y_bar * math.exp(-a * a), y_bar * math.exp(-b * b))
''', ("sign", "-y_bar * math.exp(-a * a)", "y_bar * math.exp(-a * a)"), ("sign", "math.exp(-b * b))", "math.exp(b * b))"), kind="scalar"),
    *case("vec(n)", '''
def huber_loss(r):
    return np.sum(np.where(np.abs(r) <= 1, 0.5 * r**2, np.abs(r) - 0.5))


@rl.rrule_for(huber_loss)
def huber_loss_rrule(r):
    return huber_loss(r), lambda y_bar: (rl.NoTangent(), y_bar * np.clip(r, -1, 1))
''', ("branch", "np.clip(r, -1, 1)", "np.clip(r, -1, 2)"), ("branch", "np.clip(r, -1, 1)", "np.sign(r)"), kind="kinks"),
    *case("vec(n)", '''
def one_norm(x):
    return np.sum(np.abs(x))


@rl.rrule_for(one_norm)
def one_norm_rrule(x):
    return one_norm(x), lambda y_bar: (rl.NoTangent(), y_bar * np.where(x >= 0, 1.0, -1.0))
''', ("branch", "np.where(x >= 0, 1.0, -1.0)", "np.where(x >= 0, 1.0, 0.0)"), ("factor", "np.where(x >= 0, 1.0, -1.0)", "x"), kind="kinks"),
    *case("vec(n)", '''
def median_like(x):
    return np.sort(x)[len(x) // 2]


@rl.rrule_for(median_like)
def median_like_rrule(x):
    def median_like_pullback(y_bar):
        x_bar = np.zeros(len(x))
        x_bar[np.argsort(x, kind="stable")[len(x) // 2]] = y_bar
        return rl.NoTangent(), x_bar

    return median_like(x), median_like_pullback
''', ("off by one", '[len(x) // 2]] = y_bar', '[(len(x) - 1) // 2]] = y_bar'), ("integers", "np.zeros(len(x))", "np.zeros_like(x)"), kind="kinks"),
    *case("vec(n)", '''
def tied_max(x):
    return np.max(x)


@rl.rrule_for(tied_max)
def tied_max_rrule(x):
    y = np.max(x)

    def tied_max_pullback(y_bar):
        hit = x == y
        return rl.NoTangent(), y_bar * hit / np.sum(hit)

    return y, tied_max_pullback
''', ("branch", "x == y", "x >= y - 0.5"), ("branch", "hit = x == y", "hit = x > 0"), kind="kinks"),
    *case("vec(n)", '''
def cut_off(x):
    return np.where(x > 2.5, 0.0, (2.5 - x) ** 2)


@rl.rrule_for(cut_off)
def cut_off_rrule(x):
    return cut_off(x), lambda y_bar: (rl.NoTangent(), np.where(x > 2.5, 0.0, -2 * (2.5 - x)) * y_bar)
''', ("branch", "np.where(x > 2.5, 0.0, -2 * (2.5 - x))", "-2 * (2.5 - x)"), ("sign", "-2 * (2.5 - x)) * y_bar", "2 * (2.5 - x)) * y_bar"), kind="kinks"),
]
