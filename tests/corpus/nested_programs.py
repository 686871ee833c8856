"""Random programs that take derivatives themselves: phrases that call `rl.gradient` and its like on functions
of the program's values, and functions with rules of an author.
"""

from corpus.features import FEATURES
from corpus.phrases import new_scalar
from corpus.programs import Writer

NESTED = []  # phrases, as those of phrases.py

RULED = {
    "cubed": """
def cubed(p):
    return p * p * p


@rl.rrule_for(cubed)
def cubed_rrule(p):
    def cubed_pullback(y_bar):
        return rl.NoTangent(), 3.0 * p * p * y_bar

    return p * p * p, cubed_pullback
""",
    "bent": """
def bent(p, q):
    return math.sin(p) * q


@rl.frule_for(bent)
def bent_frule(tangents, p, q):
    _, p_dot, q_dot = tangents
    return math.sin(p) * q, math.cos(p) * q * p_dot + math.sin(p) * q_dot


@rl.rrule_for(bent)
def bent_rrule(p, q):
    def bent_pullback(y_bar):
        return rl.NoTangent(), math.cos(p) * q * y_bar, math.sin(p) * y_bar

    return math.sin(p) * q, bent_pullback
""",
    "damped": """
def damped(p):
    return math.exp(-p * p)


rl.scalar_rule(damped, lambda out, p: -2.0 * p * out)
""",
    "scaled_sum": """
def scaled_sum(a, p):
    return np.sum(a * a) * p


@rl.rrule_for(scaled_sum)
def scaled_sum_rrule(a, p):
    total = np.sum(a * a)

    def scaled_sum_pullback(y_bar):
        return rl.NoTangent(), 2.0 * p * y_bar * a, total * y_bar

    return total * p, scaled_sum_pullback
""",
}

OF_A_NUMBER = (
    "rl.gradient({f}, {x})[0]",
    "rl.grad({f})({x})",
    "rl.withgradient({f}, {x}).grad[0] * 0.5",
    "rl.derivative({f})({x} * 1.0)",
    "rl.derivative({f}, 2)({x} * 1.0)",
    "rl.pushforward({f}, {x})({s})",
    "rl.pullback({f}, {x})[1]({s})[0]",
    "rl.hessian({f}, {x} * 1.0)",
    "rl.hvp({f}, {x} * 1.0, {s} * 1.0)",
    "rl.forwarddiff({f}, {x})",
    "rl.checkpointed({f}, {x})",
    "rl.jacobian({f}, {x})[0][0]",
    "rl.jacobian({f}, {x}, mode='forward')[0][0]",
    "rl.gradient(rl.derivative({f}), {x} * 1.0)[0]",
    "rl.pushforward(rl.grad({f}), {x} * 1.0)({s} * 1.0)",
    "rl.gradient(lambda other: rl.pushforward({f}, other * {s})({x}), {x} * 1.0)[0]",
)
OF_AN_ARRAY = (
    "np.sum(rl.gradient({f}, {a})[0] * {b})",
    "np.sum(rl.hessian({f}, {a})[0] * {b})",
    "rl.hvp({f}, {a}, {b})[-1]",
    "np.sum(rl.diaghessian({f}, {a})[0])",
    "rl.pushforward({f}, {a})({b})",
    "rl.jacobian({f}, {a})[0][0, 1]",
    "rl.pullback({f}, {a})[1]({s})[0][2]",
    "rl.forwarddiff({f}, {a})",
    "rl.checkpointed({f}, {a})",
)


def bounded(expression):
    return f"math.tanh({expression})"


def of_a_number(form):
    def phrase(w, scope, depth, budget):
        name, inside = w.name("t"), scope.inner()
        inside.scalars.append(name)
        f = f"(lambda {name}: math.tanh({name} * {w.leaf(scope)}) * ({w.scalar(inside, 2)}))"
        new_scalar(w, scope, depth, bounded(form.format(f=f, x=w.leaf(scope), s=w.leaf(scope))))

    return phrase


def of_an_array(form):
    def phrase(w, scope, depth, budget):
        if not scope.arrays:
            return
        name, inside = w.name("a"), scope.inner()
        inside.arrays.append(name)
        f = f"(lambda {name}: np.sum({name} * {name} * {w.leaf(scope)}) * ({w.scalar(inside, 2)}))"
        a, b = w.pick.choice(scope.arrays), w.pick.choice(scope.arrays)
        new_scalar(w, scope, depth, bounded(form.format(f=f, a=a, b=b, s=w.leaf(scope))))

    return phrase


def of_a_rule(form):
    def phrase(w, scope, depth, budget):
        x, s = w.leaf(scope), w.leaf(scope)
        a = w.pick.choice(scope.arrays) if scope.arrays else "TABLE"
        new_scalar(w, scope, depth, bounded(form.format(x=x, s=s, a=a)))

    return phrase


RULES = (
    "cubed({x}) + {s}",
    "bent({x}, {s})",
    "damped({x}) * {s}",
    "scaled_sum({a}, {s})",
    "rl.gradient(cubed, {x})[0] * {s}",
    "rl.gradient(bent, {x}, {s})[0]",
    "rl.derivative(damped, 2)({x} * 1.0)",
    "rl.pushforward(bent, {x}, {s})({s}, {x})",
    "rl.gradient(lambda q: scaled_sum({a} * q, q), {s})[0]",
    "rl.pushforward(cubed, {x})({s})",
)

NESTED += [of_a_number(form) for form in OF_A_NUMBER]
NESTED += [of_an_array(form) for form in OF_AN_ARRAY]
NESTED += [of_a_rule(form) for form in RULES]


class NestedWriter(Writer):
    """Writes a random module some of whose statements take derivatives."""

    def __init__(self, seed, hazards, features):
        super().__init__(seed, hazards, features)
        self.phrases = [*self.phrases[:3], *self.pick.sample(NESTED, 6)]

    def head(self):
        text = "\n".join(self.lines)
        found = "".join(piece for name, piece in RULED.items() if f"{name}(" in text or f"({name}," in text)
        return (
            super().head().replace("import numpy as np\n", "import numpy as np\nimport rulelab as rl\n", 1)
            + found
        )


def nested_program(seed, hazards=False, features=FEATURES):
    """The text of the random module with this seed, some of whose statements take derivatives."""
    return NestedWriter(f"nested-{seed}-{hazards}", hazards, features).module()
