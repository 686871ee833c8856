"""Right rules and the mistakes that can be made in them: each changes one line and has its name.

A text states `f` and its rule. A mistake is a piece of the text, what is written in its place, and the
names of which any is right for it. `at` says what the parameters are: "number", "positive", "vector n",
"matrix m n", "regular n", "spd n" (symmetric positive definite), "complex", "complex n", "pair" (a number
and a vector), with letters for lengths.
"""

from __future__ import annotations

from dataclasses import dataclass

HEAD = "def f({0}):\n{1}\n\n@rl.rrule_for(f, registry=registry)\ndef f_rule({0}):\n{2}\n"


@dataclass(frozen=True)
class Base:
    """One function with its right rule."""

    name: str
    at: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Mistake:
    """A rule with one mistake, the `line` it is on, and the names that are right for it."""

    base: Base
    kind: str
    text: str
    line: int
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.base.name}: {self.kind}: {self.text.splitlines()[self.line - 1].strip()}"


BASES: list[Base] = []
MISTAKES: list[Mistake] = []


def base(name: str, at: str, parameters: str, f: str, rule: str, *mistakes: tuple[str, str, str, str]):
    """A right rule, and its mistakes as (kind, what should be written, what is, names)."""
    text = HEAD.format(parameters, _in(f if "return" in f else f"return {f}"), _in(rule))
    made = Base(name, tuple(at.split(", ")), text)
    BASES.append(made)
    for kind, old, new, names in mistakes:
        start = text.index("@rl")
        assert text[start:].count(old) >= 1, (name, old)
        place = text.index(old, start)
        assert text.find(old, place + 1) < 0, (name, old)
        spoilt = text[:place] + new + text[place + len(old) :]
        MISTAKES.append(Mistake(made, kind, spoilt, text.count("\n", 0, place) + 1, tuple(names.split())))


def _in(text: str) -> str:
    return "\n".join("    " + line for line in text.strip("\n").splitlines())


# --- numbers, elementwise -----------------------------------------------------------------------------------

base("cos", "vector n", "x", "np.cos(x)", """
y = np.cos(x)
def back(y_bar):
    slope = -np.sin(x)
    return NO, slope * y_bar
return y, back""",
    ("sign", "-np.sin", "np.sin", "sign"),
    ("function", "-np.sin", "-np.cos", "other_function"),
    ("seed", "slope * y_bar", "slope", "ignores_cotangent"),
    ("seed", "slope * y_bar", "slope * abs(y_bar)", "nonlinear"),
    ("seed", "slope * y_bar", "slope * np.mean(y_bar)", "part_of_cotangent"),
    ("seed", "slope * y_bar", "slope + y_bar", "nonlinear additive_constant"),
    ("function", "slope * y_bar", "slope / y_bar", "nonlinear"),
)  # fmt: skip
base("polynomial", "number", "x", "x**3 + 2 * x", """
def back(y_bar):
    slope = 3 * x**2 + 2
    return NO, y_bar * slope
return x**3 + 2 * x, back""",
    ("power", "x**2", "x**3", "other_function factor extra_term lacks_term power"),
    ("factor", "3 * x", "2 * x", "factor lacks_term"),
    ("factor", "3 * x", "x", "lacks_term"),
    ("dropped term", " + 2\n", "\n", "lacks_term"),
    ("sign", " + 2\n", " - 2\n", "lacks_term sign"),
)  # fmt: skip
base("tanh", "vector n", "x", "np.tanh(x)", """
y = np.tanh(x)
def back(y_bar):
    return NO, (1 - y**2) * y_bar
return y, back""",
    ("power", "y**2", "y", "factor other_function power lacks_term extra_term"),
    ("wrong variable", "y**2", "x**2", "factor other_function wrong_variable extra_term lacks_term"),
    ("sign", "1 - y", "1 + y", "factor extra_term sign"),
    ("sign", "(1 - y**2)", "(y**2 - 1)", "sign"),
)  # fmt: skip
base("sigmoid", "vector n", "x", "1 / (1 + np.exp(-x))", """
s = 1 / (1 + np.exp(-x))
def back(y_bar):
    slope = s * (1 - s)
    return NO, y_bar * slope
return s, back""",
    ("factor", "s * (1 - s)", "(1 - s)", "factor"),
    ("factor", "s * (1 - s)", "s", "factor"),
    ("sign", "(1 - s)", "(1 + s)", "factor extra_term sign"),
    ("power", "s * (1", "s**2 * (1", "factor power"),
    ("wrong variable", "s * (1 - s)", "s * (1 - x)", "factor wrong_variable extra_term"),
)  # fmt: skip
base("chain", "number", "x", "np.sin(2 * x) ** 2", """
inner = np.sin(2 * x)
def back(y_bar):
    outer = 2 * inner
    slope = outer * 2 * np.cos(2 * x)
    return NO, slope * y_bar
return inner**2, back""",
    ("chain factor", "outer * 2 *", "outer *", "factor"),
    ("chain factor", "* np.cos(2 * x)", "", "factor"),
    ("chain factor", "outer = 2 *", "outer =", "factor"),
    ("function", "np.cos(2 * x)", "np.cos(x)", "factor wrong_variable"),
)  # fmt: skip
base("softplus", "vector n", "x", "np.logaddexp(0.0, x)", """
def back(y_bar):
    slope = 1 / (1 + np.exp(-x))
    return NO, y_bar * slope
return np.logaddexp(0.0, x), back""",
    ("sign", "np.exp(-x)", "np.exp(x)", "factor sign other_function"),
    ("sign", "1 + np", "1 - np", "sign factor not_finite"),
    ("additive", "y_bar * slope", "y_bar * slope + 1", "additive_constant"),
)  # fmt: skip
base("root", "number", "x", "np.sqrt(1 + x**2)", """
y = np.sqrt(1 + x**2)
def back(y_bar):
    return NO, y_bar * x / y
return y, back""",
    ("missing factor", "y_bar * x / y", "y_bar / y", "factor"),
    ("power", "x / y", "x / y**2", "factor"),
    ("chain factor", "* x / y", "/ (2 * y)", "factor"),
    ("operator", "x / y", "x * y", "factor"),
)  # fmt: skip
base("power", "positive, number", "x, p", "x**p", """
y = x**p
def back(y_bar):
    x_bar = y_bar * p * x ** (p - 1)
    p_bar = y_bar * y * np.log(x)
    return NO, x_bar, p_bar
return y, back""",
    ("off by one", "(p - 1)", "p", "factor off_by_one"),
    ("factor", "y_bar * p *", "y_bar *", "factor"),
    ("factor", "* np.log(x)", "", "factor"),
    ("wrong variable", "np.log(x)", "np.log(y)", "factor wrong_variable"),
    ("order", "x_bar, p_bar", "p_bar, x_bar", "swapped_arguments"),
    ("dropped", "x_bar, p_bar", "x_bar, rl.ZeroTangent()", "dropped_argument"),
)  # fmt: skip
base("product", "number, number, number", "a, b, c", "a * b * c", """
def back(y_bar):
    a_bar = y_bar * b * c
    b_bar = y_bar * a * c
    c_bar = y_bar * a * b
    return NO, a_bar, b_bar, c_bar
return a * b * c, back""",
    ("wrong variable", "y_bar * b * c", "y_bar * a * c", "factor wrong_variable"),
    ("order", "a_bar, b_bar, c_bar", "b_bar, a_bar, c_bar", "swapped_arguments"),
    ("dropped", "b_bar, c_bar", "b_bar, NO", "dropped_argument"),
    ("missing factor", "y_bar * a * b", "y_bar * a", "factor"),
)  # fmt: skip
base("quotient", "number, positive", "a, b", "a / b", """
y = a / b
def back(y_bar):
    return NO, y_bar / b, -y_bar * a / b**2
return y, back""",
    ("sign", "-y_bar", "y_bar", "sign"),
    ("power", "b**2", "b", "factor"),
    ("operator", "y_bar / b,", "y_bar * b,", "factor"),
    ("wrong variable", "y_bar * a /", "y_bar * b /", "factor wrong_variable"),
)  # fmt: skip
base("gaussian", "number, number, positive", "x, m, s", "np.exp(-((x - m) ** 2) / (2 * s**2))", """
y = np.exp(-((x - m) ** 2) / (2 * s**2))
def back(y_bar):
    d = (x - m) / s**2
    x_bar = -y_bar * y * d
    m_bar = y_bar * y * d
    s_bar = y_bar * y * (x - m) ** 2 / s**3
    return NO, x_bar, m_bar, s_bar
return y, back""",
    ("sign", "m_bar = y_bar", "m_bar = -y_bar", "sign"),
    ("power", "s**3", "s**2", "factor"),
    ("chain factor", "-y_bar * y * d", "-y_bar * d", "factor"),
    ("power", "(x - m) / s**2", "(x - m) / s", "factor"),
)  # fmt: skip

# --- branches, kinks ----------------------------------------------------------------------------------------

base("leaky", "vector n", "x", "np.where(x > 0, x, 0.1 * x)", """
def back(y_bar):
    slope = np.where(x > 0, 1.0, 0.1)
    return NO, slope * y_bar
return np.where(x > 0, x, 0.1 * x), back""",
    ("branch", "x > 0, 1.0", "x < 0, 1.0", "branch factor"),
    ("branch", "1.0, 0.1", "1.0, 0.0", "branch"),
    ("branch", "1.0, 0.1", "1.0, 0.2", "branch"),
    ("branch", "x > 0, 1.0", "x > 1, 1.0", "branch"),
)  # fmt: skip
base("piecewise", "number", "x", "return x**2 if x > 1 else 2 * x - 1", """
def back(y_bar):
    if x > 1:
        return NO, 2 * x * y_bar
    else:
        return NO, 2 * y_bar
return f(x), back""",
    ("branch", "2 * x * y_bar", "x * y_bar", "branch"),
    ("branch", "NO, 2 * y_bar", "NO, y_bar", "branch"),
    ("branch", "NO, 2 * y_bar", "NO, -2 * y_bar", "branch"),
    ("branch", "if x > 1", "if x < 1", "branch factor"),
)  # fmt: skip
base("clip", "vector n", "x", "np.clip(x, -1.0, 2.0)", """
def back(y_bar):
    inside = (x > -1.0) & (x < 2.0)
    return NO, np.where(inside, y_bar, 0.0)
return np.clip(x, -1.0, 2.0), back""",
    ("branch", "(x > -1.0) & ", "", "branch"),
    ("branch", "x < 2.0", "x < 1.0", "branch"),
    ("branch", "inside, y_bar, 0.0", "inside, y_bar, 1.0", "branch additive_constant nonlinear"),
)  # fmt: skip
base("huber", "number", "x", "return 0.5 * x**2 if abs(x) < 1.0 else abs(x) - 0.5", """
y = f(x)
def back(y_bar):
    slope = x if abs(x) < 1.0 else np.sign(x)
    return NO, slope * y_bar
return y, back""",
    ("branch", "np.sign(x)", "1.0", "branch"),
    ("branch", "slope = x if", "slope = 2 * x if", "branch"),
    ("branch", "abs(x) < 1.0", "abs(x) < 2.0", "branch"),
)  # fmt: skip
base("largest", "vector n", "x", "np.max(x)", """
def back(y_bar):
    x_bar = np.zeros(x.shape)
    x_bar[np.argmax(x)] = y_bar
    return NO, x_bar
return np.max(x), back""",
    ("argmin", "np.argmax(x)", "np.argmin(x)", "wrong_element off_by_one branch"),
    ("element", "np.argmax(x)", "0", "wrong_element branch"),
    ("off by one", "np.argmax(x)", "np.argmax(x) - 1", "off_by_one"),
)  # fmt: skip
base("greater", "number, number", "a, b", "max(a, b)", """
def back(y_bar):
    if a > b:
        return NO, y_bar, 0.0
    return NO, 0.0, y_bar
return max(a, b), back""",
    ("branch", "a > b", "a < b", "branch swapped_arguments"),
    ("branch", "NO, 0.0, y_bar", "NO, y_bar, 0.0", "branch"),
)  # fmt: skip

# --- reductions and vectors ---------------------------------------------------------------------------------

base("squares", "vector n", "x", "np.sum(x**2)", """
def back(y_bar):
    return NO, 2 * x * y_bar
return np.sum(x**2), back""",
    ("factor", "2 * x * y_bar", "x * y_bar", "factor"),
    ("power", "2 * x * y_bar", "2 * x**2 * y_bar", "factor"),
    ("size", "2 * x * y_bar", "2 * x * y_bar / len(x)", "factor size mean_for_sum"),
    ("reduced", "2 * x * y_bar", "2 * np.sum(x) * y_bar * np.ones(x.shape)", "other_function"),
    ("seed", "2 * x * y_bar", "2 * x", "ignores_cotangent"),
)  # fmt: skip
base("mean", "vector n", "x", "np.mean(x)", """
n = x.size
def back(y_bar):
    return NO, np.full(x.shape, y_bar / n)
return np.mean(x), back""",
    ("size", "n = x.size", "n = 3", "size"),
    ("size", "y_bar / n", "y_bar", "factor size"),
    ("off by one", "y_bar / n", "y_bar / (n - 1)", "off_by_one size factor not_finite"),
    ("operator", "y_bar / n", "y_bar * n", "factor size"),
)  # fmt: skip
base("variance", "vector n", "x", "np.var(x)", """
n = x.size
m = np.mean(x)
def back(y_bar):
    return NO, y_bar * 2 * (x - m) / n
return np.var(x), back""",
    ("off by one", "/ n", "/ (n - 1)", "off_by_one size factor not_finite"),
    ("size", "/ n", "/ 3", "size"),
    ("term", "(x - m)", "x", "lacks_term extra_term"),
    ("factor", "y_bar * 2 *", "y_bar *", "factor"),
)  # fmt: skip
base("mse", "vector n, vector n", "p, t", "np.mean((p - t) ** 2)", """
d = p - t
def back(y_bar):
    g = 2 * d * y_bar / d.size
    return NO, g, -g
return np.mean(d**2), back""",
    ("sign", "g, -g", "g, g", "sign"),
    ("order", "g, -g", "-g, g", "sign swapped_arguments"),
    ("size", "/ d.size", "/ 3", "size"),
    ("size", "/ d.size", "", "factor size"),
    ("factor", "2 * d *", "d *", "factor"),
    ("sign", "d = p - t", "d = p + t", "value other_function lacks_term sign extra_term"),
)  # fmt: skip
base("norm", "vector n", "x", "np.sqrt(np.sum(x * x))", """
y = np.sqrt(np.sum(x * x))
def back(y_bar):
    return NO, y_bar * x / y
return y, back""",
    ("factor", "/ y", "", "factor"),
    ("factor", "/ y", "/ (2 * y)", "factor"),
    ("power", "/ y", "/ y**2", "factor"),
)  # fmt: skip
base("centred", "vector n", "x", "x - np.mean(x)", """
def back(y_bar):
    return NO, y_bar - np.mean(y_bar)
return x - np.mean(x), back""",
    ("dropped term", "y_bar - np.mean(y_bar)", "y_bar * 1.0", "lacks_term extra_term"),
    ("mean for sum", "np.mean(y_bar)", "np.sum(y_bar)", "sum_for_mean size lacks_term extra_term"),
    ("sign", "y_bar - np.mean", "y_bar + np.mean", "sign lacks_term extra_term"),
    ("wrong variable", "np.mean(y_bar)", "np.mean(x)", "additive_constant nonlinear"),
)  # fmt: skip
base("unit", "vector n", "x", "x / np.sqrt(np.sum(x * x))", """
r = np.sqrt(np.sum(x * x))
y = x / r
def back(y_bar):
    along = np.sum(y * y_bar)
    return NO, (y_bar - along * y) / r
return y, back""",
    ("dropped term", "(y_bar - along * y) / r", "y_bar / r", "lacks_term extra_term"),
    ("sign", "y_bar - along", "y_bar + along", "sign lacks_term extra_term"),
    ("factor", " / r\n    return y", "\n    return y", "factor"),
    ("wrong variable", "along * y)", "along * x)", "wrong_variable lacks_term extra_term"),
    ("reduced", "np.sum(y * y_bar)", "y * y_bar", "lacks_sum lacks_term extra_term broadcast_sum"),
)  # fmt: skip
base("softmax", "vector n", "x", "np.exp(x) / np.sum(np.exp(x))", """
e = np.exp(x)
y = e / np.sum(e)
def back(y_bar):
    inner = np.sum(y * y_bar)
    return NO, y * (y_bar - inner)
return y, back""",
    ("dropped term", "(y_bar - inner)", "y_bar", "lacks_term extra_term"),
    ("factor", "y * (y_bar - inner)", "y_bar - inner", "factor lacks_term extra_term"),
    ("sign", "y_bar - inner", "y_bar + inner", "sign lacks_term extra_term"),
    ("wrong variable", "np.sum(y * y_bar)", "np.sum(y_bar)", "lacks_term extra_term wrong_variable factor"),
    ("mean for sum", "np.sum(y * y_bar)", "np.mean(y * y_bar)", "mean_for_sum size lacks_term extra_term"),
)  # fmt: skip
base("logsumexp", "vector n", "x", "np.log(np.sum(np.exp(x)))", """
y = np.log(np.sum(np.exp(x)))
def back(y_bar):
    weights = np.exp(x - y)
    return NO, y_bar * weights
return y, back""",
    ("factor", "np.exp(x - y)", "np.exp(x)", "factor other_function"),
    ("sign", "np.exp(x - y)", "np.exp(y - x)", "factor sign other_function"),
    ("seed", "y_bar * weights", "weights", "ignores_cotangent"),
)  # fmt: skip
base("logsoftmax", "vector n", "x", "x - np.log(np.sum(np.exp(x)))", """
y = x - np.log(np.sum(np.exp(x)))
def back(y_bar):
    p = np.exp(y)
    return NO, y_bar - p * np.sum(y_bar)
return y, back""",
    ("reduced", "np.sum(y_bar)", "y_bar", "lacks_sum lacks_term extra_term factor other_function"),
    ("mean for sum", "np.sum(y_bar)", "np.mean(y_bar)", "mean_for_sum size lacks_term extra_term"),
    ("wrong variable", "np.exp(y)", "np.exp(x)", "lacks_term extra_term wrong_variable"),
)  # fmt: skip
base("cumsum", "vector n", "x", "np.cumsum(x)", """
def back(y_bar):
    turned = y_bar[::-1]
    return NO, np.cumsum(turned)[::-1]
return np.cumsum(x), back""",
    ("transposed", "turned = y_bar[::-1]", "turned = y_bar", "transposed order"),
    ("transposed", "np.cumsum(turned)[::-1]", "np.cumsum(y_bar)", "transposed order"),
)  # fmt: skip
base("neighbours", "vector n", "x", "np.sum(x[1:] * x[:-1])", """
def back(y_bar):
    g = np.zeros(x.shape)
    g[1:] += y_bar * x[:-1]
    g[:-1] += y_bar * x[1:]
    return NO, g
return np.sum(x[1:] * x[:-1]), back""",
    ("off by one", "y_bar * x[:-1]", "y_bar * x[1:]", "off_by_one"),
    ("off by one", "y_bar * x[1:]", "y_bar * x[:-1]", "off_by_one"),
    ("sign", "g[:-1] +=", "g[:-1] -=", "sign branch"),
)  # fmt: skip
base("differences", "vector n", "x", "np.diff(x)", """
def back(y_bar):
    g = np.zeros(x.shape)
    g[1:] += y_bar
    g[:-1] -= y_bar
    return NO, g
return np.diff(x), back""",
    ("sign", "g[:-1] -=", "g[:-1] +=", "sign"),
    ("off by one", "g[:-1] -=", "g[1:] -=", "dropped_argument off_by_one"),
    ("dropped", "g[:-1] -= y_bar\n", "pass\n", "off_by_one lacks_term branch"),
)  # fmt: skip
base("rolled", "vector n", "x", "np.roll(x, 1)", """
def back(y_bar):
    return NO, np.roll(y_bar, -1)
return np.roll(x, 1), back""",
    ("off by one", "y_bar, -1", "y_bar, 1", "off_by_one transposed"),
    ("off by one", "np.roll(y_bar, -1)", "y_bar * 1.0", "off_by_one"),
    ("off by one", "y_bar, -1", "y_bar, -2", "off_by_one"),
)  # fmt: skip
base("weighted", "vector n, vector n", "w, x", "np.sum(w * x)", """
def back(y_bar):
    w_bar = y_bar * x
    x_bar = y_bar * w
    return NO, w_bar, x_bar
return np.sum(w * x), back""",
    ("order", "NO, w_bar, x_bar", "NO, x_bar, w_bar", "swapped_arguments"),
    ("dropped", "w_bar, x_bar\n", "w_bar, rl.ZeroTangent()\n", "dropped_argument"),
    ("size", "y_bar * w\n", "y_bar * w / len(w)\n", "factor size"),
    ("count", "NO, w_bar, x_bar", "w_bar, x_bar", "count"),
)  # fmt: skip
base("squared distance", "vector n, vector n", "a, b", "np.sum((a - b) ** 2)", """
d = a - b
def back(y_bar):
    return NO, 2 * y_bar * d, -2 * y_bar * d
return np.sum(d**2), back""",
    ("sign", "-2 * y_bar", "2 * y_bar", "sign"),
    ("factor", "NO, 2 * y_bar", "NO, y_bar", "factor"),
    ("none", "-2 * y_bar * d", "None", "none"),
    ("none for the function", "return NO, 2", "return None, 2", "count"),
)  # fmt: skip
base("outer", "vector m, vector n", "u, v", "np.outer(u, v)", """
def back(y_bar):
    u_bar = y_bar @ v
    v_bar = u @ y_bar
    return NO, u_bar, v_bar
return np.outer(u, v), back""",
    ("axis", "y_bar @ v\n", "y_bar.sum(axis=1)\n", "factor wrong_axis"),
    ("sign", "u @ y_bar", "-u @ y_bar", "sign"),
    ("factor", "u @ y_bar", "2 * (u @ y_bar)", "factor"),
)  # fmt: skip
base("polyval", "vector k, number", "c, x", "np.sum(c * x ** np.arange(len(c)))", """
k = np.arange(len(c))
def back(y_bar):
    c_bar = y_bar * x**k
    x_bar = y_bar * np.sum(k * c * x ** np.maximum(k - 1, 0))
    return NO, c_bar, x_bar
return np.sum(c * x**k), back""",
    ("off by one", "y_bar * x**k", "y_bar * x ** (k + 1)", "factor off_by_one"),
    ("off by one", "np.maximum(k - 1, 0)", "k", "factor off_by_one"),
    ("off by one", "np.sum(k * c", "np.sum((k + 1) * c", "off_by_one lacks_term extra_term"),
)  # fmt: skip

# --- broadcasting, axes -------------------------------------------------------------------------------------

base("bias", "matrix m n, vector n", "X, b", "X + b", """
def back(y_bar):
    b_bar = np.sum(y_bar, axis=0)
    return NO, y_bar * 1.0, b_bar
return X + b, back""",
    ("broadcast sum", "np.sum(y_bar, axis=0)", "y_bar * 1.0", "broadcast_sum"),
    ("axis", "axis=0", "axis=1", "wrong_axis"),
    ("mean for sum", "np.sum(y_bar, axis=0)", "np.mean(y_bar, axis=0)", "mean_for_sum"),
    ("sign", "b_bar = np", "b_bar = -np", "sign"),
    ("dropped", "b_bar\nreturn".replace("\n", "\n    "), "NO\n    return", "dropped_argument"),
)  # fmt: skip
base("scaled rows", "matrix m n, vector n", "X, s", "X * s", """
def back(y_bar):
    X_bar = y_bar * s
    s_bar = np.sum(y_bar * X, axis=0)
    return NO, X_bar, s_bar
return X * s, back""",
    ("factor", "y_bar * X,", "y_bar,", "factor"),
    ("axis", "axis=0", "axis=1", "wrong_axis"),
    ("broadcast sum", "np.sum(y_bar * X, axis=0)", "y_bar * X", "broadcast_sum"),
    ("mean for sum", "np.sum(y_bar * X", "np.mean(y_bar * X", "mean_for_sum"),
    ("factor", "y_bar * s", "y_bar", "factor"),
)  # fmt: skip
base("number times vector", "vector n, number", "x, s", "s * x", """
def back(y_bar):
    return NO, s * y_bar, np.sum(x * y_bar)
return s * x, back""",
    ("broadcast sum", "np.sum(x * y_bar)", "x * y_bar", "broadcast_sum"),
    ("mean for sum", "np.sum(x * y_bar)", "np.mean(x * y_bar)", "mean_for_sum"),
    ("factor", "np.sum(x * y_bar)", "np.sum(y_bar)", "factor"),
    ("shape", "np.sum(x * y_bar)", "np.sum(x) * np.sum(y_bar)", "part_of_cotangent"),
)  # fmt: skip
base("sum of rows", "matrix m n", "X", "np.sum(X, axis=1)", """
def back(y_bar):
    return NO, np.repeat(y_bar[:, None], X.shape[1], axis=1)
return np.sum(X, axis=1), back""",
    ("size", "X.shape[1], axis", "3, axis", "shape"),
    ("factor", "NO, np.repeat(y_bar[", "NO, np.repeat(y_bar[::-1][", "order off_by_one part_of_cotangent"),
    ("size", "X.shape[1], axis=1)", "X.shape[1], axis=1) / X.shape[1]", "factor size"),
)  # fmt: skip
base("mean of columns", "matrix m n", "X", "np.mean(X, axis=0)", """
m = X.shape[0]
def back(y_bar):
    return NO, np.ones(X.shape) * y_bar / m
return np.mean(X, axis=0), back""",
    ("axis", "X.shape[0]", "X.shape[1]", "factor size wrong_axis"),
    ("size", "/ m", "", "factor size"),
    ("size", "X.shape[0]", "2", "size factor"),
)  # fmt: skip
base("layer norm", "matrix m n", "X", """
m = np.mean(X, axis=1, keepdims=True)
return (X - m) / np.sqrt(np.mean((X - m) ** 2, axis=1, keepdims=True) + 1e-5)""", """
m = np.mean(X, axis=1, keepdims=True)
s = np.sqrt(np.mean((X - m) ** 2, axis=1, keepdims=True) + 1e-5)
z = (X - m) / s
def back(y_bar):
    first = np.mean(y_bar, axis=1, keepdims=True)
    second = np.mean(y_bar * z, axis=1, keepdims=True)
    return NO, (y_bar - first - z * second) / s
return z, back""",
    ("axis", "first = np.mean(y_bar, axis=1", "first = np.mean(y_bar, axis=0", "wrong_axis"),
    ("dropped term", " - z * second", "", "lacks_term extra_term"),
    ("dropped term", " - first", "", "lacks_term extra_term"),
    ("mean for sum", "second = np.mean", "second = np.sum", "sum_for_mean size lacks_term extra_term"),
    ("factor", "second) / s", "second)", "factor"),
)  # fmt: skip
base("row softmax", "matrix m n", "X", "return np.exp(X) / np.sum(np.exp(X), axis=1, keepdims=True)", """
p = np.exp(X) / np.sum(np.exp(X), axis=1, keepdims=True)
def back(y_bar):
    inner = np.sum(p * y_bar, axis=1, keepdims=True)
    return NO, p * (y_bar - inner)
return p, back""",
    ("axis", "inner = np.sum(p * y_bar, axis=1", "inner = np.sum(p * y_bar, axis=0", "wrong_axis"),
    ("dropped term", "(y_bar - inner)", "y_bar", "lacks_term extra_term"),
)  # fmt: skip

# --- matrices -----------------------------------------------------------------------------------------------

base("matvec", "matrix m n, vector n", "A, x", "A @ x", """
def back(y_bar):
    A_bar = np.outer(y_bar, x)
    x_bar = A.T @ y_bar
    return NO, A_bar, x_bar
return A @ x, back""",
    ("transposed", "np.outer(y_bar, x)", "np.outer(x, y_bar)", "transposed shape"),
    ("sign", "A.T @ y_bar", "-A.T @ y_bar", "sign"),
    ("factor", "A.T @ y_bar", "2 * A.T @ y_bar", "factor"),
    ("dropped", "NO, A_bar, x_bar", "NO, rl.ZeroTangent(), x_bar", "dropped_argument"),
)  # fmt: skip
base("square matvec", "matrix n n, vector n", "A, x", "A @ x", """
def back(y_bar):
    A_bar = np.outer(y_bar, x)
    x_bar = A.T @ y_bar
    return NO, A_bar, x_bar
return A @ x, back""",
    ("transposed", "A.T @ y_bar", "A @ y_bar", "transposed"),
    ("transposed", "np.outer(y_bar, x)", "np.outer(x, y_bar)", "transposed"),
    ("elementwise", "A.T @ y_bar", "(A * y_bar).sum(axis=1)", "transposed elementwise_product"),
)  # fmt: skip
base("matmul", "matrix m n, matrix n p", "A, B", "A @ B", """
def back(y_bar):
    return NO, y_bar @ B.T, A.T @ y_bar
return A @ B, back""",
    ("sign", "A.T @ y_bar", "-A.T @ y_bar", "sign"),
    ("factor", "y_bar @ B.T", "y_bar @ B.T / 2", "factor"),
    ("dropped", "y_bar @ B.T,", "NO,", "dropped_argument"),
)  # fmt: skip
base("square matmul", "matrix n n, matrix n n", "A, B", "A @ B", """
def back(y_bar):
    A_bar = y_bar @ B.T
    B_bar = A.T @ y_bar
    return NO, A_bar, B_bar
return A @ B, back""",
    ("transposed", "y_bar @ B.T", "y_bar @ B", "transposed"),
    ("transposed", "A.T @ y_bar", "A @ y_bar", "transposed"),
    ("argument order", "A.T @ y_bar", "y_bar @ A.T", "transposed"),
    ("elementwise", "y_bar @ B.T", "y_bar * B.T", "elementwise_product"),
    ("order", "NO, A_bar, B_bar", "NO, B_bar, A_bar", "swapped_arguments"),
    ("wrong variable", "y_bar @ B.T", "y_bar @ A.T", "wrong_variable transposed"),
)  # fmt: skip
base("quadratic form", "matrix n n, vector n", "A, x", "x @ A @ x", """
def back(y_bar):
    return NO, y_bar * np.outer(x, x), y_bar * (A + A.T) @ x
return x @ A @ x, back""",
    ("symmetry assumed", "(A + A.T) @ x", "2 * A @ x", "transposed"),
    ("dropped term", "(A + A.T) @ x", "A @ x", "lacks_term transposed"),
    ("factor", "np.outer(x, x)", "2 * np.outer(x, x)", "factor"),
)  # fmt: skip
base("bilinear", "vector m, matrix m n, vector n", "u, A, v", "u @ A @ v", """
def back(y_bar):
    u_bar = y_bar * (A @ v)
    A_bar = y_bar * np.outer(u, v)
    v_bar = y_bar * (u @ A)
    return NO, u_bar, A_bar, v_bar
return u @ A @ v, back""",
    ("sign", "u_bar = y_bar", "u_bar = -y_bar", "sign"),
    ("factor", "A_bar = y_bar *", "A_bar = 0.5 * y_bar *", "factor"),
    ("seed", "y_bar * (u @ A)", "u @ A", "ignores_cotangent"),
)  # fmt: skip
base("gram", "matrix m n", "X", "X.T @ X", """
def back(y_bar):
    return NO, X @ (y_bar + y_bar.T)
return X.T @ X, back""",
    ("symmetry assumed", "X @ (y_bar + y_bar.T)", "2 * X @ y_bar", "transposed part_of_cotangent"),
    ("dropped term", "X @ (y_bar + y_bar.T)", "X @ y_bar", "lacks_term transposed"),
    ("sign", "y_bar + y_bar.T", "y_bar - y_bar.T", "sign lacks_term transposed"),
)  # fmt: skip
base("trace of product", "matrix n n, matrix n n", "A, B", "np.trace(A @ B)", """
def back(y_bar):
    return NO, y_bar * B.T, y_bar * A.T
return np.trace(A @ B), back""",
    ("transposed", "y_bar * B.T", "y_bar * B", "transposed"),
    ("transposed", "y_bar * A.T", "y_bar * A", "transposed"),
    ("order", "y_bar * B.T, y_bar * A.T", "y_bar * A.T, y_bar * B.T", "swapped_arguments"),
)  # fmt: skip
base("solve", "regular n, vector n", "A, b", "np.linalg.solve(A, b)", """
y = np.linalg.solve(A, b)
def back(y_bar):
    b_bar = np.linalg.solve(A.T, y_bar)
    A_bar = -np.outer(b_bar, y)
    return NO, A_bar, b_bar
return y, back""",
    ("sign", "-np.outer(b_bar, y)", "np.outer(b_bar, y)", "sign"),
    ("transposed", "np.outer(b_bar, y)", "np.outer(y, b_bar)", "transposed"),
    ("wrong variable", "np.outer(b_bar, y)", "np.outer(b_bar, b)", "wrong_variable"),
    ("factor", "-np.outer", "-2 * np.outer", "factor"),
)  # fmt: skip
base("general solve", "regular n, vector n", "A, b", "np.linalg.solve(A, b)", """
y = np.linalg.solve(A, b)
def back(y_bar):
    b_bar = np.linalg.solve(A.T, y_bar)
    return NO, -np.outer(b_bar, y), b_bar
return y, back""",
    ("transposed", "solve(A.T, y_bar)", "solve(A, y_bar)", "transposed"),
    ("argument order", "np.outer(b_bar, y)", "np.outer(y, b_bar)", "transposed"),
)  # fmt: skip
base("inverse", "regular n", "A", "np.linalg.inv(A)", """
Y = np.linalg.inv(A)
def back(y_bar):
    return NO, -Y.T @ y_bar @ Y.T
return Y, back""",
    ("sign", "-Y.T", "Y.T", "sign"),
    ("transposed", "-Y.T @ y_bar @ Y.T", "-Y @ y_bar @ Y", "transposed"),
    ("transposed", "y_bar @ Y.T", "y_bar @ Y", "transposed"),
    ("factor", "@ y_bar @ Y.T", "@ y_bar", "factor transposed"),
)  # fmt: skip
base("logdet", "spd n", "A", "np.log(np.linalg.det(A))", """
def back(y_bar):
    return NO, y_bar * np.linalg.inv(A).T
return np.log(np.linalg.det(A)), back""",
    ("factor", "y_bar * np.linalg.inv(A).T", "2 * y_bar * np.linalg.inv(A).T", "factor"),
    ("inverse", "np.linalg.inv(A).T", "A", "lacks_inverse other_function wrong_variable"),
)  # fmt: skip
base("cholesky", "spd n", "A", "np.linalg.cholesky(A)", """
L = np.linalg.cholesky(A)
def back(y_bar):
    P = np.tril(L.T @ y_bar)
    P[np.diag_indices(len(L))] *= 0.5
    inverse = np.linalg.inv(L)
    S = inverse.T @ P @ inverse
    return NO, 0.5 * (S + S.T)
return L, back""",
    ("factor", "0.5 * (S + S.T)", "S + S.T", "factor"),
    ("transposed", "np.tril(L.T @ y_bar)", "np.tril(L @ y_bar)", "transposed"),
    ("factor", "] *= 0.5", "] *= 1.0", "factor branch"),
    ("triangle", "np.tril(L.T", "np.triu(L.T", "triangle transposed"),
)  # fmt: skip
base("trace", "matrix n n", "A", "np.trace(A)", """
def back(y_bar):
    return NO, y_bar * np.eye(len(A))
return np.trace(A), back""",
    ("size", "np.eye(len(A))", "np.eye(3)", "shape"),
    ("element", "np.eye(len(A))", "np.ones(A.shape)", "wrong_element extra_term branch"),
    ("off by one", "np.eye(len(A))", "np.eye(len(A), k=1)", "off_by_one"),
)  # fmt: skip
base("frobenius", "matrix m n, matrix m n", "A, B", "np.sum(A * B)", """
def back(y_bar):
    return NO, y_bar * B, y_bar * A
return np.sum(A * B), back""",
    ("order", "y_bar * B, y_bar * A", "y_bar * A, y_bar * B", "swapped_arguments"),
    ("factor", "y_bar * A\n", "y_bar\n", "factor shape"),
)  # fmt: skip
base("affine", "matrix m n, vector n, vector m", "A, x, b", "A @ x + b", """
def back(y_bar):
    A_bar = np.outer(y_bar, x)
    x_bar = A.T @ y_bar
    return NO, A_bar, x_bar, y_bar * 1.0
return A @ x + b, back""",
    ("sign", "y_bar * 1.0", "-y_bar", "sign"),
    ("wrong variable", "x_bar, y_bar * 1.0", "x_bar, y_bar * b", "factor wrong_variable"),
)  # fmt: skip

# --- complex numbers ----------------------------------------------------------------------------------------

base("complex square", "complex", "z", "z * z", """
def back(y_bar):
    return NO, 2 * np.conj(z) * y_bar
return z * z, back""",
    ("conjugate", "np.conj(z)", "z", "conjugate"),
    ("conjugate", "2 * np.conj(z) * y_bar", "2 * z * np.conj(y_bar)", "conjugate"),
    ("factor", "2 * np", "np", "factor"),
)  # fmt: skip
base("complex product", "complex n, complex n", "w, z", "w * z", """
def back(y_bar):
    w_bar = np.conj(z) * y_bar
    z_bar = np.conj(w) * y_bar
    return NO, w_bar, z_bar
return w * z, back""",
    ("conjugate", "np.conj(z)", "z", "conjugate"),
    ("conjugate", "np.conj(w)", "w", "conjugate"),
    ("order", "NO, w_bar, z_bar", "NO, z_bar, w_bar", "swapped_arguments"),
    ("sign", "np.conj(w) * y_bar", "-np.conj(w) * y_bar", "sign"),
)  # fmt: skip
base("squared modulus", "complex n", "z", "z.real**2 + z.imag**2", """
def back(y_bar):
    return NO, 2 * z * y_bar
return z.real**2 + z.imag**2, back""",
    ("conjugate", "2 * z * y_bar", "2 * np.conj(z) * y_bar", "conjugate"),
    ("factor", "2 * z * y_bar", "z * y_bar", "factor"),
    ("real part", "2 * z * y_bar", "2 * z.real * y_bar", "lacks_term"),
)  # fmt: skip
base("hermitian product", "complex m n, complex n", "A, x", "A @ x", """
def back(y_bar):
    A_bar = np.outer(y_bar, np.conj(x))
    x_bar = A.conj().T @ y_bar
    return NO, A_bar, x_bar
return A @ x, back""",
    ("conjugate", "A.conj().T", "A.T", "conjugate"),
    ("conjugate", "np.conj(x)", "x", "conjugate"),
)  # fmt: skip
base("complex exponential", "complex", "z", "np.exp(z)", """
y = np.exp(z)
def back(y_bar):
    return NO, np.conj(y) * y_bar
return y, back""",
    ("conjugate", "np.conj(y)", "y", "conjugate"),
    ("sign", "np.conj(y) * y_bar", "-np.conj(y) * y_bar", "sign"),
    ("seed", "np.conj(y) * y_bar", "np.conj(y)", "ignores_cotangent"),
)  # fmt: skip

# --- structures ---------------------------------------------------------------------------------------------

base("pair", "pair", "p", "p[0] * np.sum(p[1])", """
a, v = p
def back(y_bar):
    a_bar = y_bar * np.sum(v)
    v_bar = y_bar * a * np.ones(v.shape)
    return NO, rl.Tangent(tuple, a_bar, v_bar)
return a * np.sum(v), back""",
    ("sign", "a_bar = y_bar", "a_bar = -y_bar", "sign"),
    ("factor", "y_bar * a * np", "y_bar * np", "factor"),
    ("mean for sum", "y_bar * np.sum(v)", "y_bar * np.mean(v)", "factor size mean_for_sum"),
)  # fmt: skip
base("two values", "vector n", "x", "np.sum(x), np.sum(x**2)", """
def back(y_bar):
    first, second = y_bar
    return NO, first + 2 * second * x
return (np.sum(x), np.sum(x**2)), back""",
    ("factor", "2 * second * x", "second * x", "factor lacks_term branch"),
    ("dropped", "first + 2 * second * x", "2 * second * x", "part_of_cotangent lacks_term branch"),
    ("sign", "first + 2", "first - 2", "sign lacks_term extra_term branch"),
    ("order", "first, second = y_bar", "second, first = y_bar", "swapped_arguments part_of_cotangent"),
)  # fmt: skip

# --- state, writes, views -----------------------------------------------------------------------------------

base("remembered", "vector n", "x", "x**2", """
slope = 2 * x
def back(y_bar):
    x_bar = slope * y_bar
    return NO, x_bar
return x**2, back""",
    ("state", "x_bar = slope * y_bar", "slope[...] = slope * y_bar; x_bar = slope", "stateful"),
    ("writes", "x_bar = slope * y_bar", "y_bar *= slope; x_bar = y_bar", "writes"),
    ("writes", "slope = 2 * x", "slope = x; x *= 2", "writes"),
    ("state", "slope = 2 * x", "slope = kept.setdefault('slope', 2 * x)", "stateful"),
    ("state", "slope * y_bar", "slope * y_bar * kept.setdefault(len(kept), len(kept) + 1)", "stateful"),
)  # fmt: skip
base("counted", "number", "x", "np.sin(x)", """
slope = np.cos(x)
def back(y_bar):
    return NO, slope * y_bar
return np.sin(x), back""",
    ("state", "slope = np.cos(x)", "slope = kept.setdefault('slope', np.cos(x))", "stateful"),
    ("state", "NO, slope", "NO, (kept.setdefault('n', []).append(1) or len(kept['n'])) * slope", "stateful"),
)  # fmt: skip

# --- as strangers to the doctor wrote them ------------------------------------------------------------------

base("log of base two", "vector n", "x", "np.log2(1 + x**2)", """
q = 1 + x**2
def back(y_bar):
    return NO, y_bar * 2 * x / (q * np.log(2))
return np.log2(q), back""",
    ("log base", "(q * np.log(2))", "q", "factor"),
    ("log base", "np.log(2)", "np.log(10)", "factor"),
    ("chain factor", "y_bar * 2 * x /", "y_bar /", "factor"),
)  # fmt: skip
base("degrees", "vector n", "x", "np.sin(np.pi * x / 180)", """
rad = np.pi * x / 180
def back(y_bar):
    slope = np.cos(rad) * np.pi / 180
    return NO, y_bar * slope
return np.sin(rad), back""",
    ("degrees", "np.cos(rad) * np.pi / 180", "np.cos(rad)", "factor"),
    ("degrees", "np.cos(rad)", "np.cos(x)", "wrong_variable"),
    ("function", "np.cos(rad)", "np.sin(rad)", "other_function factor"),
)  # fmt: skip
base("damped", "number, number, number", "t, w, k", "np.exp(-k * t) * np.cos(w * t)", """
e, c, s = np.exp(-k * t), np.cos(w * t), np.sin(w * t)
def back(y_bar):
    t_bar = y_bar * (-k * e * c - w * e * s)
    w_bar = -y_bar * t * e * s
    k_bar = -y_bar * t * e * c
    return NO, t_bar, w_bar, k_bar
return e * c, back""",
    ("function", "-y_bar * t * e * s", "-y_bar * t * e * c ", "wrong_variable factor other_function"),
    ("chain factor", "- w * e * s", "- e * s", "factor"),
    ("swapped", "t_bar, w_bar, k_bar", "t_bar, k_bar, w_bar", "swapped_arguments"),
    ("seed", "k_bar = -y_bar * t", "k_bar = -t", "ignores_cotangent"),
    ("dropped term", "(-k * e * c - w * e * s)", "(-k * e * c)", "lacks_term"),
)  # fmt: skip
base("gelu", "vector n", "x", "0.5 * x * (1 + np.tanh(0.8 * (x + 0.05 * x**3)))", """
t = np.tanh(0.8 * (x + 0.05 * x**3))
def back(y_bar):
    inner = 0.8 * (1 + 3 * 0.05 * x**2)
    slope = 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * inner
    return NO, slope * y_bar
return 0.5 * x * (1 + t), back""",
    ("factor", "3 * 0.05", "0.05", "factor"),
    ("power", "1 - t**2", "1 - t", "factor power"),
    ("chain factor", " * inner\n", "\n", "factor"),
)  # fmt: skip
base("van der Waals", "number, number, number, number", "v, t, a, b", "t / (v - b) - a / v**2", """
def back(y_bar):
    v_bar = y_bar * (2 * a / v**3 - t / (v - b) ** 2)
    t_bar = y_bar / (v - b)
    a_bar = -y_bar / v**2
    b_bar = y_bar * t / (v - b) ** 2
    return NO, v_bar, t_bar, a_bar, b_bar
return t / (v - b) - a / v**2, back""",
    ("parentheses", "y_bar / (v - b)\n", "y_bar / v - b\n", "parentheses additive_constant nonlinear"),
    ("power", "2 * a / v**3", "2 * a / v**2", "power factor lacks_term"),
    ("dropped", "a_bar, b_bar\n", "a_bar, rl.ZeroTangent()\n", "dropped_argument"),
    ("sign", "b_bar = y_bar", "b_bar = -y_bar", "sign"),
)  # fmt: skip
base("half angle", "number, number", "p, q", "np.arcsin(np.sqrt(0.1 + 0.2 * np.sin(p - q) ** 2))", """
h = 0.1 + 0.2 * np.sin(p - q) ** 2
def back(y_bar):
    h_bar = y_bar / (2 * np.sqrt(h * (1 - h)))
    p_bar = h_bar * 0.4 * np.sin(p - q) * np.cos(p - q)
    return NO, p_bar, -p_bar
return np.arcsin(np.sqrt(h)), back""",
    ("root", "np.sqrt(h * (1 - h))", "(h * (1 - h))", "power factor"),
    ("sign", "p_bar, -p_bar", "p_bar, p_bar", "sign"),
    ("function", "* np.cos(p - q)", "* np.sin(p - q)", "other_function factor"),
)  # fmt: skip
base("cosine similarity", "vector n, vector n", "a, b", "a @ b / (np.linalg.norm(a) * np.linalg.norm(b))", """
s, t = np.linalg.norm(a), np.linalg.norm(b)
c = a @ b / (s * t)
def back(y_bar):
    a_bar = y_bar * (b / (s * t) - c * a / s**2)
    b_bar = y_bar * (a / (s * t) - c * b / t**2)
    return NO, a_bar, b_bar
return c, back""",
    ("power", "c * b / t**2", "c * b / t", "power factor"),
    ("wrong variable", "c * a / s**2", "c * b / s**2", "wrong_variable"),
    ("swapped", "a_bar, b_bar\n", "b_bar, a_bar\n", "swapped_arguments"),
)  # fmt: skip
base("distances", "matrix m p, matrix n p", "X, Y",
     "return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1) + 0.1)", """
D = X[:, None, :] - Y[None, :, :]
R = np.sqrt((D**2).sum(axis=-1) + 0.1)
def back(y_bar):
    G = (y_bar / R)[:, :, None] * D
    return NO, G.sum(axis=1), -G.sum(axis=0)
return R, back""",
    ("axis", "G.sum(axis=1)", "G.sum(axis=0)", "wrong_axis shape raises"),
    ("sign", "-G.sum", "G.sum", "sign"),
)  # fmt: skip
base("first order filter", "vector n, number", "x, a", """
y, last = np.zeros(len(x)), 0.0
for i in range(len(x)):
    last = a * last + x[i]
    y[i] = last
return y""", """
y = f(x, a)
def back(y_bar):
    x_bar, a_bar, acc = np.zeros(len(x)), 0.0, 0.0
    for i in range(len(x) - 1, -1, -1):
        acc = y_bar[i] + a * acc
        x_bar[i] = acc
        if i > 0:
            a_bar += acc * y[i - 1]
    return NO, x_bar, a_bar
return y, back""",
    ("chain factor", "y_bar[i] + a * acc", "y_bar[i] + acc", "factor"),
    ("wrong variable", "acc * y[i - 1]", "acc * x[i - 1]", "wrong_variable"),
    ("off by one", "acc * y[i - 1]", "acc * y[i]", "off_by_one"),
)  # fmt: skip
base("running sum", "vector n", "x", "np.cumsum(x**2)", """
def back(y_bar):
    return NO, 2 * x * np.cumsum(y_bar[::-1])[::-1]
return np.cumsum(x**2), back""",
    ("order", "np.cumsum(y_bar[::-1])[::-1]", "np.cumsum(y_bar)", "order part_of_cotangent"),
    ("sum", "np.cumsum(y_bar[::-1])[::-1]", "y_bar", "lacks_sum"),
)  # fmt: skip
base("rank one", "vector n", "x", "np.outer(x, x)", """
def back(y_bar):
    return NO, (y_bar + y_bar.T) @ x
return np.outer(x, x), back""",
    ("symmetry", "(y_bar + y_bar.T) @ x", "2 * y_bar @ x", "transposed"),
    ("dropped term", "(y_bar + y_bar.T) @ x", "y_bar @ x", "transposed lacks_term factor"),
)  # fmt: skip
base("weights reversed", "vector n, vector n", "w, x", "np.sum(w * x[::-1])", """
def back(y_bar):
    return NO, y_bar * x[::-1], (y_bar * w)[::-1]
return np.sum(w * x[::-1]), back""",
    ("order", "y_bar * x[::-1]", "y_bar * x", "off_by_one"),
    ("order", "(y_bar * w)[::-1]", "y_bar * w", "off_by_one"),
)  # fmt: skip

# --- terms, loops, masks ------------------------------------------------------------------------------------

base("cosine", "vector n, vector n", "a, b", "a @ b / (np.linalg.norm(a) * np.linalg.norm(b))", """
na, nb = np.linalg.norm(a), np.linalg.norm(b)
c = a @ b / (na * nb)
def back(y_bar):
    a_bar = y_bar * (b / (na * nb) - c * a / na**2)
    b_bar = y_bar * (a / (na * nb) - c * b / nb**2)
    return NO, a_bar, b_bar
return c, back""",
    ("dropped term", "(b / (na * nb) - c * a / na**2)", "b / (na * nb)", "lacks_term"),
    ("dropped term", "(a / (na * nb) - c * b / nb**2)", "(a / (na * nb))", "lacks_term"),
)  # fmt: skip
base("unit vector", "vector n", "x", "x / np.sqrt(np.sum(x**2) + 0.1)", """
r = np.sqrt(np.sum(x**2) + 0.1)
u = x / r
def back(y_bar):
    return NO, (y_bar - u * np.sum(u * y_bar)) / r
return u, back""",
    ("dropped term", "(y_bar - u * np.sum(u * y_bar)) / r", "y_bar / r", "lacks_term"),
    ("sum", "np.sum(u * y_bar)", "(u * y_bar)", "lacks_sum elementwise_product"),
)  # fmt: skip
base("rows to one", "matrix m n", "X", """E = np.exp(X)
return E / np.sum(E, axis=1, keepdims=True)""", """
P = f(X)
def back(y_bar):
    total = np.sum(y_bar * P, axis=1, keepdims=True)
    return NO, P * (y_bar - total)
return P, back""",
    ("diagonal", "P * (y_bar - total)", "P * (1 - P) * y_bar", "lacks_term"),
    ("dropped term", "P * (y_bar - total)", "P * y_bar", "lacks_term"),
    ("wrong axis", "total = np.sum(y_bar * P, axis=1", "total = np.sum(y_bar * P, axis=0", "wrong_axis"),
)  # fmt: skip
base("steps", "positive, positive", "u, k", """for _ in range(4):
    u = u - 0.1 * k * u**2
return u""", """
us = [u]
for _ in range(4):
    us.append(us[-1] - 0.1 * k * us[-1] ** 2)
def back(y_bar):
    k_bar = 0.0
    for v in reversed(us[:-1]):
        k_bar = k_bar - y_bar * 0.1 * v**2
        y_bar = y_bar * (1 - 2 * 0.1 * k * v)
    return NO, y_bar, k_bar
return us[-1], back""",
    ("order", "reversed(us[:-1])", "us[:-1]", "order"),
    ("off by one", "reversed(us[:-1])", "reversed(us[1:])", "off_by_one"),
    ("chain factor", "2 * 0.1 * k", "0.1 * k", "factor"),
    ("overwritten", "k_bar = k_bar - y_bar", "k_bar = -y_bar", "overwrites"),
)  # fmt: skip
base("recurrence backwards", "vector n, positive", "x, a", """
y, last = np.zeros(len(x)), 0.0
for i in range(len(x)):
    last = a * last + x[i]
    y[i] = last
return y""", """
y = f(x, a)
def back(y_bar):
    x_bar, a_bar, acc = np.zeros(len(x)), 0.0, 0.0
    for i in range(len(x) - 1, -1, -1):
        acc = y_bar[i] + a * acc
        x_bar[i] = acc
        if i > 0:
            a_bar += acc * y[i - 1]
    return NO, x_bar, a_bar
return y, back""",
    ("order", "range(len(x) - 1, -1, -1)", "range(len(x))", "order"),
    ("off by one", "range(len(x) - 1, -1, -1)", "range(len(x) - 1, 0, -1)", "off_by_one"),
    ("overwritten", "a_bar += acc", "a_bar = acc", "overwrites"),
)  # fmt: skip
base("squared differences", "vector n", "x", "np.sum((x[1:] - x[:-1]) ** 2)", """
d = x[1:] - x[:-1]
def back(y_bar):
    x_bar = np.zeros(len(x))
    x_bar[1:] += 2 * d * y_bar
    x_bar[:-1] -= 2 * d * y_bar
    return NO, x_bar
return np.sum(d**2), back""",
    ("overwritten", "x_bar[:-1] -= 2 * d", "x_bar[:-1] = -2 * d", "overwrites"),
    ("sign", "x_bar[:-1] -=", "x_bar[:-1] +=", "sign"),
)  # fmt: skip
base("smoothed", "vector n", "x", """
y = np.array(x)
y[1:-1] = (x[:-2] + x[2:]) / 2
return y""", """
def back(y_bar):
    x_bar = np.zeros(len(x))
    x_bar[0] = y_bar[0]
    x_bar[-1] = y_bar[-1]
    x_bar[:-2] += y_bar[1:-1] / 2
    x_bar[2:] += y_bar[1:-1] / 2
    return NO, x_bar
return f(x), back""",
    ("edge", "x_bar[-1] = y_bar[-1]", "x_bar[-1] = 0.0", "lacks_term"),
    ("off by one", "x_bar[:-2] += y_bar[1:-1]", "x_bar[:-2] += y_bar[:-2]", "off_by_one"),
)  # fmt: skip
base("clipped", "vector n", "x", "np.clip(x, -1.0, 1.0) ** 3", """
c = np.clip(x, -1.0, 1.0)
inside = (x > -1.0) & (x < 1.0)
def back(y_bar):
    c_bar = 3 * c**2 * y_bar
    return NO, c_bar * inside
return c**3, back""",
    ("mask", "NO, c_bar * inside", "NO, c_bar", "factor branch"),
    ("mask", "(x > -1.0) & (x < 1.0)", "x < 1.0", "branch"),
)  # fmt: skip
base("huber", "vector n, positive", "r, d", """
return np.where(np.abs(r) <= d, 0.5 * r**2, d * (np.abs(r) - 0.5 * d))""", """
inside = np.abs(r) <= d
def back(y_bar):
    r_bar = y_bar * np.where(inside, r, d * np.sign(r))
    d_bar = np.sum(y_bar * np.where(inside, 0.0, np.abs(r) - d))
    return NO, r_bar, d_bar
return f(r, d), back""",
    ("sign", "d * np.sign(r))", "d)", "branch sign"),
    ("dropped", "r_bar, d_bar", "r_bar, NO", "dropped_argument"),
)  # fmt: skip
base("log of determinant", "regular n", "A", "np.linalg.slogdet(A)[1]", """
def back(y_bar):
    return NO, y_bar * np.linalg.inv(A).T
return np.linalg.slogdet(A)[1], back""",
    ("transposed", "np.linalg.inv(A).T", "np.linalg.inv(A)", "transposed"),
    ("factor", "y_bar * np.linalg.inv", "y_bar * np.linalg.det(A) * np.linalg.inv", "factor"),
)  # fmt: skip
base("log of a share", "positive", "x", "np.log(x / (1 + x))", """
def back(y_bar):
    return NO, y_bar / (x * (1 + x))
return np.log(x / (1 + x)), back""",
    ("operator", "y_bar / (x * (1 + x))", "y_bar * x * (1 + x)", "factor"),
)  # fmt: skip
base("spectrum", "vector n", "x", """F = np.fft.fft(x)
return F.real**2 + F.imag**2""", """
F = np.fft.fft(x)
def back(y_bar):
    F_bar = 2 * F * y_bar
    return NO, np.fft.ifft(F_bar).real * len(x)
return F.real**2 + F.imag**2, back""",
    ("transform", "np.fft.ifft(F_bar).real * len(x)", "np.fft.fft(F_bar).real", "other_function"),
    ("part", ".real * len(x)", ".imag * len(x)", "conjugate"),
)  # fmt: skip
base("running sum, back", "vector n", "x", "np.cumsum(x**2)", """
def back(y_bar):
    return NO, 2 * x * np.cumsum(y_bar[::-1])[::-1]
return np.cumsum(x**2), back""",
    ("order", "np.cumsum(y_bar[::-1])[::-1]", "np.cumsum(y_bar[::-1])", "order"),
)  # fmt: skip
base("cross entropy", "vector n, vector n", "z, t", "np.sum(np.logaddexp(0, z) - t * z)", """
p = 1 / (1 + np.exp(-z))
def back(y_bar):
    return NO, y_bar * (p - t), -y_bar * z
return np.sum(np.logaddexp(0, z) - t * z), back""",
    ("factor", "y_bar * (p - t)", "y_bar * (p - t) * p * (1 - p)", "factor"),
)  # fmt: skip
base("largest of rows", "matrix m n", "X", "X.max(axis=1)", """
i = X.argmax(axis=1)
def back(y_bar):
    X_bar = np.zeros(X.shape)
    X_bar[np.arange(len(X)), i] = y_bar
    return NO, X_bar
return X.max(axis=1), back""",
    ("rows", "X_bar[np.arange(len(X)), i] = y_bar", "X_bar[:, i] = y_bar[:, None]", "wrong_element"),
)  # fmt: skip
base("polar", "number, number", "x, y", "(np.hypot(x, y), np.arctan2(y, x))", """
r = np.hypot(x, y)
def back(bars):
    r_bar, phi_bar = bars
    x_bar = r_bar * x / r - phi_bar * y / r**2
    y_bar = r_bar * y / r + phi_bar * x / r**2
    return NO, x_bar, y_bar
return (r, np.arctan2(y, x)), back""",
    ("dropped output", "r_bar * x / r - phi_bar * y / r**2", "r_bar * x / r", "lacks_term"),
)  # fmt: skip
base("scaled sum", "vector n, number", "x, a", "a * np.sum(x)", """
def back(y_bar):
    x_bar = y_bar * a * np.ones(len(x))
    a_bar = y_bar * np.sum(x)
    return NO, x_bar, a_bar
return a * np.sum(x), back""",
    ("seed", "a_bar = y_bar * np.sum(x)", "a_bar = np.sum(x)", "ignores_cotangent"),
)  # fmt: skip
base("quadratic form", "vector n, regular n", "x, A", "x @ A @ x", """
u, v = A @ x, A.T @ x
def back(y_bar):
    x_bar = y_bar * (u + v)
    return NO, x_bar, y_bar * np.outer(x, x)
return x @ u, back""",
    ("symmetry", "y_bar * (u + v)", "y_bar * 2 * u", "lacks_term wrong_variable"),
    ("dropped term", "y_bar * (u + v)", "y_bar * u", "lacks_term"),
)  # fmt: skip
base("guarded log", "spd n, vector n", "A, x", "np.sum(x * np.log2(np.diag(A) + 1e-3))", """
a = np.diag(A)
def back(y_bar):
    A_bar = np.diag(y_bar * x / ((a + 1e-3) * np.log(2)))
    return NO, A_bar, y_bar * np.log2(a + 1e-3)
return np.sum(x * np.log2(a + 1e-3)), back""",
    ("epsilon", "((a + 1e-3) * np.log(2))", "(a * np.log(2))", "lacks_term"),
)  # fmt: skip
base("covariance", "vector n, vector n", "x, y", "np.sum((x - x.mean()) * (y - y.mean())) / (len(x) + 1)", """
n = len(x)
u, v = x - x.mean(), y - y.mean()
def back(c_bar):
    return NO, c_bar * v / (n + 1), c_bar * u / (n + 1)
return np.sum(u * v) / (n + 1), back""",
    ("n for n + 1", "c_bar * v / (n + 1)", "c_bar * v / n", "off_by_one"),
)  # fmt: skip
base("lower times vector", "matrix n n, vector n", "A, x", "np.tril(A) @ x", """
L = np.tril(A)
def back(y_bar):
    return NO, np.tril(np.outer(y_bar, x)), L.T @ y_bar
return L @ x, back""",
    ("triangle", "np.tril(np.outer(y_bar, x))", "np.outer(y_bar, x)", "triangle"),
)  # fmt: skip
base("log of sums of rows", "matrix m n", "X", "np.log(np.sum(np.exp(X), axis=1))", """
e = np.exp(X)
s = e.sum(axis=1)
def back(y_bar):
    return NO, y_bar[:, None] * e / e.sum(axis=1, keepdims=True)
return np.log(s), back""",
    ("axis and keepdims", "e.sum(axis=1, keepdims=True)", "e.sum(axis=0)", "wrong_axis"),
    ("laid along rows", "y_bar[:, None] * e", "y_bar * e", "wrong_axis"),
)  # fmt: skip
base("running totals", "matrix m n", "X", "np.cumsum(X, axis=0)", """
def back(y_bar):
    return NO, np.cumsum(y_bar[::-1], axis=0)[::-1]
return np.cumsum(X, axis=0), back""",
    ("axis", "np.cumsum(y_bar[::-1], axis=0)[::-1]", "np.cumsum(y_bar[:, ::-1], axis=1)[:, ::-1]",
     "wrong_axis"),
)  # fmt: skip
base("neighbours", "vector n", "x", "np.sum(x[1:] * x[:-1])", """
def back(y_bar):
    x_bar = np.zeros(len(x))
    x_bar[1:] += y_bar * x[:-1]
    x_bar[:-1] += y_bar * x[1:]
    return NO, x_bar
return np.sum(x[1:] * x[:-1]), back""",
    ("slices", "+= y_bar * x[:-1]", "+= y_bar * x[1:]", "wrong_element off_by_one"),
)  # fmt: skip
base("steps of a map", "number, number", "r, x", """for _ in range(4):
    x = r * x * (1 - x)
return x""", """
xs = [x]
for _ in range(4):
    xs.append(r * xs[-1] * (1 - xs[-1]))
def back(x_bar):
    r_bar = 0.0
    for t in reversed(range(4)):
        r_bar += xs[t] * (1 - xs[t]) * x_bar
        x_bar = r * (1 - 2 * xs[t]) * x_bar
    return NO, r_bar, x_bar
return xs[-1], back""",
    ("order of statements", """        r_bar += xs[t] * (1 - xs[t]) * x_bar
        x_bar = r * (1 - 2 * xs[t]) * x_bar""".replace("        ", "            "),
     """            x_bar = r * (1 - 2 * xs[t]) * x_bar
            r_bar += xs[t] * (1 - xs[t]) * x_bar""", "order"),
)  # fmt: skip
base("moments", "vector n", "x", """m = np.mean(x)
return {"mean": m, "var": np.mean((x - m)**2)}""", """
m = np.mean(x)
d = x - m
def back(bar):
    return NO, bar["mean"] / x.size + bar["var"] * 2 * d / x.size
return {"mean": m, "var": np.mean(d**2)}, back""",
    ("exchanged parts", 'bar["mean"] / x.size + bar["var"] * 2', 'bar["var"] / x.size + bar["mean"] * 2',
     "swapped_arguments"),
    ("dropped part", ' + bar["var"] * 2 * d / x.size', " * np.ones(len(x))", "lacks_term"),
)  # fmt: skip
base("edges", "vector n", "x", "np.concatenate([x[:1], x, x[-1:]])", """
def back(y_bar):
    x_bar = y_bar[1:-1].copy()
    x_bar[:1] += y_bar[:1]
    x_bar[-1:] += y_bar[-1:]
    return NO, x_bar
return np.concatenate([x[:1], x, x[-1:]]), back""",
    ("forgotten edge", "x_bar[-1:] += y_bar[-1:]", "pass", "branch"),
)  # fmt: skip
base("density", "number, positive", "x, s", "np.exp(-(x / s)**2 / 2) / np.sqrt(2 * np.pi)", """
p = np.exp(-(x / s)**2 / 2) / np.sqrt(2 * np.pi)
def back(y_bar):
    p_bar = y_bar * np.exp(-(x / s)**2 / 2) / np.sqrt(2 * np.pi)
    return NO, -p_bar * x / s**2, p_bar * x**2 / s**3
return p, back""",
    ("constant", "p_bar = y_bar * np.exp(-(x / s)**2 / 2) / np.sqrt(2 * np.pi)",
     "p_bar = y_bar * np.exp(-(x / s)**2 / 2)", "factor"),
)  # fmt: skip
base("repeated rows", "vector n", "x", "np.repeat(x, 2)", """
def back(y_bar):
    return NO, y_bar.reshape(-1, 2).sum(axis=1)
return np.repeat(x, 2), back""",
    ("order of a reshape", "y_bar.reshape(-1, 2).sum(axis=1)", "y_bar.reshape(2, -1).sum(axis=0)", "order"),
    ("the first alone", "y_bar.reshape(-1, 2).sum(axis=1)", "y_bar[::2]", "lacks_sum"),
)  # fmt: skip

base("gate", "vector n, number", "x, a", "np.where(x > 0, x, a * (np.exp(x) - 1))", """
e = np.exp(x)
def back(y_bar):
    x_bar = np.where(x > 0, 1.0, a * e) * y_bar
    a_bar = np.sum(np.where(x > 0, 0.0, (e - 1) * y_bar))
    return NO, x_bar, a_bar
return np.where(x > 0, x, a * (e - 1)), back""",
    ("mask", "np.sum(np.where(x > 0, 0.0, (e - 1) * y_bar))", "np.sum((e - 1) * y_bar)", "branch"),
)  # fmt: skip
base("direction", "vector n", "d", "d / np.sum(d**2)**1.5", """
r = np.sqrt(np.sum(d**2))
def back(y_bar):
    return NO, y_bar / r**3 - 3 * np.sum(y_bar * d) * d / r**5
return d / r**3, back""",
    ("power by two", "d / r**5", "d / r**3", "power factor"),
)  # fmt: skip
base("centroid", "matrix m n, vector n", "P, w", "P @ w / np.sum(np.exp(w))", """
each = np.exp(w)
total = np.sum(each)
c = P @ w / total
def back(c_bar):
    P_bar = np.outer(c_bar, w) / total
    w_bar = (P.T @ c_bar - c @ c_bar * each) / total
    return NO, P_bar, w_bar
return c, back""",
    ("length for total", "np.outer(c_bar, w) / total", "np.outer(c_bar, w) / len(w)",
     "wrong_variable size factor"),
)  # fmt: skip
base("disc", "vector n, vector n", "u, v", """d = np.sum((u - v)**2)
return d / ((2 + np.sum(u**2)) * (2 + np.sum(v**2)))""", """
d = np.sum((u - v)**2)
a = 2 + np.sum(u**2)
b = 2 + np.sum(v**2)
def back(y_bar):
    u_bar = y_bar * (2 * (u - v) / (a * b) - 2 * d * u / (a**2 * b))
    v_bar = y_bar * (2 * (v - u) / (a * b) - 2 * d * v / (a * b**2))
    return NO, u_bar, v_bar
return d / (a * b), back""",
    ("term that its twin has", " - 2 * d * v / (a * b**2)", "", "lacks_term"),
)  # fmt: skip
base("likelihood", "vector n, vector n", "p, y", "np.mean(np.exp(-(y * p + (1 - y) * (1 - p))**2))", """
t = y * p + (1 - y) * (1 - p)
def back(l_bar):
    t_bar = -2 * l_bar * t * np.exp(-t**2) / t.size
    return NO, t_bar * (2 * y - 1), t_bar * (2 * p - 1)
return np.mean(np.exp(-t**2)), back""",
    ("a part for the whole", "t_bar * (2 * y - 1)", "t_bar * y", "lacks_term factor"),
)  # fmt: skip
base("focus", "vector n", "q", "np.mean((1 - q)**2 * np.sin(q))", """
def back(l_bar):
    q_bar = l_bar / q.size * ((1 - q)**2 * np.cos(q) - 2 * (1 - q) * np.sin(q))
    return NO, q_bar
return np.mean((1 - q)**2 * np.sin(q)), back""",
    ("term of a product rule", " - 2 * (1 - q) * np.sin(q)", "", "lacks_term"),
)  # fmt: skip
base("payments", "vector n, number", "c, r", """total = 0.0
for t in range(len(c)):
    total += c[t] * np.exp(-r * t)
return total""", """
t = np.arange(len(c))
disc = np.exp(-r * t)
def back(v_bar):
    return NO, v_bar * disc, -v_bar * np.sum(t * c * disc)
return np.sum(c * disc), back""",
    ("counted from one", "np.arange(len(c))", "np.arange(1, len(c) + 1)", "off_by_one"),
)  # fmt: skip
base("sample variance", "vector n", "x", "np.sum((x - np.mean(x))**2) / (len(x) + 1)", """
n = len(x)
d = x - np.mean(x)
def back(v_bar):
    return NO, 2 * v_bar * d / (n + 1)
return np.sum(d**2) / (len(x) + 1), back""",
    ("length off by one", "d / (n + 1)", "d / n", "off_by_one size factor"),
)  # fmt: skip
base("window", "vector n", "x", "x * np.array([1.0, 2.0])[np.arange(len(x)) % 2]", """
w = np.array([1.0, 2.0])[np.arange(len(x)) % 2]
def back(y_bar):
    x_bar = w * y_bar
    keep = x_bar
    return NO, keep
return x * w, back""",
    ("statement too many", "keep = x_bar", "keep = x_bar; keep[:2] *= 1.5", "factor branch size"),
)  # fmt: skip
base("drift", "number, number, number", "x, v, h", """for _ in range(3):
    v = v - h * x
    x = x + h * v
return x""", """
tape = []
for _ in range(3):
    tape.append((x, v - h * x))
    v = v - h * x
    x = x + h * v
def back(x_bar):
    v_bar, h_bar = 0.0, 0.0
    for x0, v1 in reversed(tape):
        h_bar = h_bar + v1 * x_bar
        v_bar = v_bar + h * x_bar
        h_bar = h_bar - x0 * v_bar
        x_bar = x_bar - h * v_bar
    return NO, x_bar, v_bar, h_bar
return x, back""",
    ("term in a loop", "h_bar = h_bar + v1 * x_bar", "h_bar = h_bar + 0.0", "lacks_term"),
)  # fmt: skip


# --- steps on the way: one wrong intermediate value, several wrong results ---------------------------------

base("contrast", "vector n", "x", "np.mean(x**2) / np.mean(x**4 + 1)", """
a = np.mean(x**2)
b = np.mean(x**4 + 1)
def back(c_bar):
    a_bar = c_bar / b
    b_bar = -c_bar * a / b**2
    x_bar = (2 * a_bar * x + 4 * b_bar * x**3) / len(x)
    return NO, x_bar
return a / b, back""",
    ("sign of a step", "b_bar = -c_bar", "b_bar = c_bar", "sign"),
    ("power in a step", "a / b**2", "a / b", "power factor"),
    ("name in a step", "a_bar = c_bar / b", "a_bar = c_bar / a", "wrong_variable"),
    ("exchanged steps", "2 * a_bar * x + 4 * b_bar", "2 * b_bar * x + 4 * a_bar", "wrong_variable"),
)  # fmt: skip
base("gram times", "matrix m n, vector n", "A, x", "A.T @ (A @ x)", """
p = A @ x
def back(y_bar):
    q = A @ y_bar
    x_bar = A.T @ q
    A_bar = np.outer(p, y_bar) + np.outer(q, x)
    return NO, A_bar, x_bar
return A.T @ p, back""",
    ("outer term", "np.outer(p, y_bar) + np.outer(q, x)", "np.outer(p, y_bar)", "lacks_term"),
    ("step not turned", "x_bar = A.T @ q", "x_bar = A.T @ p", "wrong_variable ignores_cotangent"),
)  # fmt: skip
base("equilibrium", "regular n, vector n", "K, f", "np.linalg.solve(K, f)", """
u = np.linalg.solve(K, f)
def back(u_bar):
    lam = np.linalg.solve(K.T, u_bar)
    return NO, -np.outer(lam, u), lam
return u, back""",
    ("step not solved", "np.linalg.solve(K.T, u_bar)", "K @ u_bar", "lacks_inverse"),
    ("step not turned", "np.linalg.solve(K.T, u_bar)", "np.linalg.solve(K, u_bar)", "transposed"),
)  # fmt: skip
base("rows scaled", "matrix m n, vector m", "X, g", "g[:, None] * np.tanh(X)", """
t = np.tanh(X)
def back(y_bar):
    t_bar = g[:, None] * y_bar
    return NO, t_bar * (1 - t**2), np.sum(y_bar * t, axis=1)
return g[:, None] * t, back""",
    ("factor of a step", "t_bar = g[:, None] * y_bar", "t_bar = 1 * y_bar", "factor"),
)  # fmt: skip
base("pairs of neighbours", "vector n", "x", """i = np.arange(len(x) - 1)
j = i + 1
return np.sum(x[i]**2 * x[j]**2)""", """
i = np.arange(len(x) - 1)
j = i + 1
def back(e_bar):
    x_bar = np.zeros(len(x))
    np.add.at(x_bar, i, 2 * e_bar * x[i] * x[j]**2)
    np.add.at(x_bar, j, 2 * e_bar * x[j] * x[i]**2)
    return NO, x_bar
return np.sum(x[i]**2 * x[j]**2), back""",
    ("twin left out", "\n        np.add.at(x_bar, j, 2 * e_bar * x[j] * x[i]**2)", "", "lacks_term"),
    ("index in a call", "x[i] * x[j]**2)\n        np.add", "x[i] * x[i]**2)\n        np.add",
     "wrong_element wrong_variable off_by_one"),
)  # fmt: skip
base("blend of neighbours", "vector n, number", "x, w", "(1 - w) * x[:-1] + w * x[1:]", """
def back(y_bar):
    x_bar = np.zeros(len(x))
    x_bar[:-1] += (1 - w) * y_bar
    x_bar[1:] += w * y_bar
    return NO, x_bar, np.sum((x[1:] - x[:-1]) * y_bar)
return (1 - w) * x[:-1] + w * x[1:], back""",
    ("exchanged weights", "(1 - w) * y_bar\n        x_bar[1:] += w * y_bar",
     "w * y_bar\n        x_bar[1:] += (1 - w) * y_bar", "swapped_arguments wrong_element"),
)  # fmt: skip
base("ring", "vector n, vector n", "x, h", "np.sum(x * np.roll(h, -1))", """
def back(s_bar):
    x_bar = s_bar * np.roll(h, -1)
    h_bar = s_bar * np.roll(x, 1)
    return NO, x_bar, h_bar
return np.sum(x * np.roll(h, -1)), back""",
    ("not rolled", "np.roll(x, 1)", "x", "off_by_one"),
)  # fmt: skip
base("exponent of ten", "positive, number", "p, a", "a * np.log10(p)", """
def back(y_bar):
    p_bar = a * y_bar / (p * np.log(10))
    return NO, p_bar, np.log10(p) * y_bar
return a * np.log10(p), back""",
    ("other logarithm", "np.log10(p) * y_bar", "np.log(p) * y_bar", "other_function factor"),
    ("other logarithm", "np.log(10)", "np.log10(10)", "other_function factor"),
)  # fmt: skip
base("ranked weights", "vector n, vector n", "x, w", "np.sort(x) @ w", """
order = np.argsort(x)
def back(y_bar):
    x_bar = w[np.argsort(order)] * y_bar
    return NO, x_bar, x[order] * y_bar
return np.sort(x) @ w, back""",
    ("permutation not inverted", "w[np.argsort(order)]", "w[order]", "wrong_element"),
)  # fmt: skip
base("gaps to the nearest", "vector n, vector m", "x, c", "np.sum(np.min((x[:, None] - c) ** 2, axis=1))", """
near = np.argmin((x[:, None] - c) ** 2, axis=1)
def back(s_bar):
    x_bar = 2 * (x - c[near]) * s_bar
    c_bar = np.zeros(len(c))
    np.subtract.at(c_bar, near, x_bar)
    return NO, x_bar, c_bar
return np.sum((x - c[near]) ** 2), back""",
    ("subtracted once", "np.subtract.at(c_bar, near, x_bar)", "c_bar[near] -= x_bar", "overwrites"),
)  # fmt: skip
base("two bands", "vector n, vector n", "a, f", """T = np.diag(a) + np.tri(len(a), k=-1)
return np.linalg.solve(T, f)""", """
T = np.diag(a) + np.tri(len(a), k=-1)
x = np.linalg.solve(T, f)
def back(x_bar):
    f_bar = np.linalg.solve(T.T, x_bar)
    return NO, -f_bar * x, f_bar
return x, back""",
    ("turned within", "T.T", "T", "transposed"),
)  # fmt: skip
base("inhibited growth", "positive, positive, positive", "s, k, j", "s / (k + s + s**2 / j)", """
D = k + s + s**2 / j
y = s / D
def back(y_bar):
    D_bar = -y / D * y_bar
    s_bar = y_bar / D + D_bar * (1 + 2 * s / j)
    return NO, s_bar, D_bar, -s**2 / j**2 * D_bar
return y, back""",
    ("path left out", " + D_bar * (1 + 2 * s / j)", "", "lacks_term"),
)  # fmt: skip
