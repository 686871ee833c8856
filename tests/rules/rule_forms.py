"""Rules in every form, on values of every kind: what the derivatives through them are is told by the primal.

A kind is a way to lay out n real numbers as a value: a complex number has two, a NamedTuple of a float and a
complex array five. Each function here takes one kind to another one by the same map of real numbers, whose
derivative its rules state; the derivatives that are asked for are compared with those of a polynomial through
values of the plain function.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

import rulelab as rl

# -- kinds of values -----------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """A NamedTuple."""

    a: float
    b: complex


@dataclasses.dataclass
class Point:
    """A dataclass; its second field is a list."""

    x: float
    rest: list


class Thing:
    """An object whose attributes are called as the parts of a complex number are."""

    def __init__(self, real, imag):
        self.real, self.imag = real, imag


class Slotted:
    """An object without a dict."""

    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left, self.right = left, right


@dataclasses.dataclass(frozen=True)
class Kind:
    """`pack(u)` is the value of the numbers in `u`, `unpack(v)` the numbers, as a list. `bar(w)` is the
    cotangent of a value whose numbers have the cotangents `w`; `bars(v_bar)` tells these of one.
    """

    name: str
    size: int
    pack: object
    unpack: object
    bar: object
    bars: object


def _kind(name, size, pack, unpack, bar=None, bars=None):
    return Kind(name, size, pack, unpack, bar or pack, bars or unpack)


def _numbers_of(z):
    return [z[0].real, z[0].imag, z[1].real, z[1].imag]


KINDS = [
    _kind("float", 1, lambda u: u[0], lambda v: [v]),
    _kind("float32", 1, lambda u: np.float32(u[0]), lambda v: [v]),
    _kind("complex", 2, lambda u: u[0] + 1j * u[1], lambda v: [v.real, v.imag]),
    _kind("array", 2, lambda u: np.array([u[0], u[1]]), lambda v: [v[0], v[1]]),
    _kind("0-d array", 1, lambda u: np.array(u[0]), lambda v: [v[()]]),
    _kind("0-d complex", 2, lambda u: np.array(u[0] + 1j * u[1]), lambda v: [np.real(v)[()], np.imag(v)[()]]),
    _kind("matrix", 3, lambda u: np.array([[u[0]], [u[1]], [u[2]]]), lambda v: [v[0, 0], v[1, 0], v[2, 0]]),
    _kind(
        "complex array",
        4,
        lambda u: np.array([u[0] + 1j * u[1], u[2] + 1j * u[3]]),
        lambda v: [v[0].real, v[0].imag, v[1].real, v[1].imag],
    ),
    _kind("tuple", 2, lambda u: (u[0], u[1]), lambda v: [v[0], v[1]]),
    _kind("list", 2, lambda u: [u[0], u[1]], lambda v: [v[0], v[1]]),
    _kind("dict", 2, lambda u: {"a": u[0], "b": u[1]}, lambda v: [v["a"], v["b"]]),
    _kind(
        "NamedTuple",
        3,
        lambda u: Pair(u[0], u[1] + 1j * u[2]),
        lambda v: [v.a, v.b.real, v.b.imag],
        lambda w: rl.Tangent(Pair, a=w[0], b=w[1] + 1j * w[2]),
    ),
    _kind(
        "dataclass",
        3,
        lambda u: Point(u[0], [u[1], u[2]]),
        lambda v: [v.x, v.rest[0], v.rest[1]],
        lambda w: rl.Tangent(Point, x=w[0], rest=[w[1], w[2]]),
    ),
    _kind(
        "object",
        2,
        lambda u: Thing(u[0], u[1]),
        lambda v: [v.real, v.imag],
        lambda w: rl.Tangent(Thing, real=w[0], imag=w[1]),
    ),
    _kind(
        "slots",
        2,
        lambda u: Slotted(u[0], np.array([u[1]])),
        lambda v: [v.left, v.right[0]],
        lambda w: rl.Tangent(Slotted, left=w[0], right=np.array([w[1]])),
    ),
    _kind(
        "with None",
        2,
        lambda u: (u[0], None, "text", u[1]),
        lambda v: [v[0], v[3]],
        lambda w: (w[0], rl.NoTangent(), rl.NoTangent(), w[1]),
    ),
    _kind(
        "nested",
        4,
        lambda u: {"p": Thing(u[0], [u[1], None]), "q": (np.array([u[2]]), {"r": u[3]})},
        lambda v: [v["p"].real, v["p"].imag[0], v["q"][0][0], v["q"][1]["r"]],
        lambda w: {"p": rl.Tangent(Thing, real=w[0], imag=rl.Tangent(list, w[1], rl.NoTangent())),
                   "q": rl.Tangent(tuple, np.array([w[2]]), {"r": w[3]})},
    ),
]  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}


# -- the map between them ------------------------------------------------------------------------------------

A = np.array([[0.7, -0.4, 0.3, 0.2], [0.5, 0.6, -0.8, 0.1], [-0.3, 0.9, 0.4, -0.6], [0.2, -0.1, 0.5, 0.8]])
B = np.array([[0.3, 0.5, -0.2, 0.4], [-0.6, 0.2, 0.3, 0.5], [0.4, -0.3, 0.6, 0.2], [0.1, 0.7, -0.4, 0.3]])


def moved(u, n, gain=1.0):
    """The n numbers that the numbers in `u` are taken to."""
    found = []
    for k in range(n):
        s, t = 0.0, 0.0
        for i in range(len(u)):
            s = s + A[k, i] * u[i]
            t = t + B[k, i] * u[i]
        found.append(gain * (s + t * t + np.sin(s * 0.5)))
    return found


def moved_back(u, w, gain=1.0):
    """The cotangents of the numbers in `u`, from those of what they are taken to."""
    found = []
    for i in range(len(u)):
        total = 0.0
        for k in range(len(w)):
            s, t = 0.0, 0.0
            for j in range(len(u)):
                s = s + A[k, j] * u[j]
                t = t + B[k, j] * u[j]
            total = total + w[k] * gain * (A[k, i] * (1.0 + 0.5 * np.cos(s * 0.5)) + 2.0 * t * B[k, i])
        found.append(total)
    return found


def moved_along(u, u_dot, n, gain=1.0):
    """The tangents of what the numbers in `u` are taken to, from theirs."""
    found = []
    for k in range(n):
        s, t, s_dot, t_dot = 0.0, 0.0, 0.0, 0.0
        for i in range(len(u)):
            s = s + A[k, i] * u[i]
            t = t + B[k, i] * u[i]
            s_dot = s_dot + A[k, i] * u_dot[i]
            t_dot = t_dot + B[k, i] * u_dot[i]
        found.append(gain * (s_dot * (1.0 + 0.5 * np.cos(s * 0.5)) + 2.0 * t * t_dot))
    return found


# -- forms of rules ------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """`ruled(v)`, which carries rules, and what undoes them."""

    ruled: object
    undo: object


def _plain(given, taken):
    def f(v):
        return taken.pack(moved(given.unpack(v), taken.size))

    return f


def _case(f):
    return Case(f, lambda: rl.remove_rule(f))


def by_rrule(given, taken):
    """A pullback and nothing else."""
    f = _plain(given, taken)

    def f_rrule(v):
        def f_pullback(y_bar):
            return rl.NoTangent(), given.bar(moved_back(given.unpack(v), taken.bars(y_bar)))

        return f(v), f_pullback

    rl.rrule_for(f)(f_rrule)
    return _case(f)


def by_frule(given, taken):
    """A forward rule and nothing else."""
    f = _plain(given, taken)

    def f_frule(tangents, v):
        return f(v), taken.bar(moved_along(given.unpack(v), given.bars(tangents[1]), taken.size))

    rl.frule_for(f)(f_frule)
    return _case(f)


def by_both(given, taken):
    """Both rules."""
    case = by_rrule(given, taken)
    f = case.ruled

    def f_frule(tangents, v):
        return f(v), taken.bar(moved_along(given.unpack(v), given.bars(tangents[1]), taken.size))

    rl.frule_for(f)(f_frule)
    return case


def with_thunk(given, taken):
    """The cotangent is delayed."""
    f = _plain(given, taken)

    def f_rrule(v):
        def f_pullback(y_bar):
            return rl.NoTangent(), rl.Thunk(lambda: given.bar(moved_back(given.unpack(v), taken.bars(y_bar))))

        return f(v), f_pullback

    rl.rrule_for(f)(f_rrule)
    return _case(f)


def with_projection(given, taken):
    """The cotangent is projected by the rule itself, and doubled and halved as a whole."""
    f = _plain(given, taken)

    def f_rrule(v):
        project = rl.ProjectTo(v)

        def f_pullback(y_bar):
            v_bar = project(given.bar(moved_back(given.unpack(v), taken.bars(y_bar))))
            return rl.NoTangent(), 0.25 * v_bar + v_bar * 0.25 + v_bar / 2

        return f(v), f_pullback

    rl.rrule_for(f)(f_rrule)
    return _case(f)


def with_config(given, taken):
    """The rule asks for the derivative of a function, which captures a number of the argument."""

    def f(v):
        return taken.pack(moved(given.unpack(v), taken.size))

    def f_rrule(config, v):
        y, back = config.rrule_via_ad(lambda v: taken.pack(moved(given.unpack(v), taken.size)), v)

        def f_pullback(y_bar):
            return rl.NoTangent(), back(y_bar)[1]

        return y, f_pullback

    rl.rrule_for(f, requires={"reverse"})(f_rrule)
    return _case(f)


def with_keywords(given, taken):
    """Defaults, a keyword-only parameter, and a positional one given by name."""

    def f(v, gain=1.0, *, shift=0.0):
        return taken.pack(moved(given.unpack(v), taken.size, gain))

    def f_rrule(v, gain=1.0, *, shift=0.0):
        u = given.unpack(v)

        def f_pullback(y_bar):
            w = taken.bars(y_bar)
            of_gain = 0.0
            for a, b in zip(moved(u, taken.size), w):
                of_gain = of_gain + a * b
            return rl.NoTangent(), given.bar(moved_back(u, w, gain)), of_gain

        return f(v, gain), f_pullback

    rl.rrule_for(f)(f_rrule)
    return Case(lambda v: f(v=v, gain=given.unpack(v)[0], shift=0.5), lambda: rl.remove_rule(f))


def with_stars(given, taken):
    """The argument comes once more in `*args`."""

    def f(v, *more):
        return taken.pack(moved(given.unpack(v), taken.size, given.unpack(more[0])[0]))

    def f_rrule(v, *more):
        u, gain = given.unpack(v), given.unpack(more[0])[0]

        def f_pullback(y_bar):
            w = taken.bars(y_bar)
            of_gain = 0.0
            for a, b in zip(moved(u, taken.size), w):
                of_gain = of_gain + a * b
            of_more = [of_gain] + [0.0] * (given.size - 1)
            return rl.NoTangent(), given.bar(moved_back(u, w, gain)), given.bar(of_more)

        return f(v, *more), f_pullback

    rl.rrule_for(f)(f_rrule)
    return Case(lambda v: f(v, v), lambda: rl.remove_rule(f))


def _layer(method, bare):
    def make(given, taken):
        class Layer:
            def __init__(self, gain):
                self.gain = gain

            def apply(self, v):
                return taken.pack(moved(given.unpack(v), taken.size, self.gain))

            def __call__(self, v):
                return taken.pack(moved(given.unpack(v), taken.size, self.gain))

        def layer_rrule(layer, v):
            u = given.unpack(v)

            def layer_pullback(y_bar):
                w = taken.bars(y_bar)
                of_gain = 0.0
                for a, b in zip(moved(u, taken.size), w):
                    of_gain = of_gain + a * b
                bars = rl.Tangent(Layer, gain=of_gain), given.bar(moved_back(u, w, layer.gain))
                return bars if bare else (rl.NoTangent(), *bars)

            return getattr(layer, method)(v), layer_pullback

        target = getattr(Layer, method)
        rl.rrule_for(target)(layer_rrule)
        if method == "apply":
            return Case(lambda v: Layer(given.unpack(v)[0]).apply(v), lambda: rl.remove_rule(target))
        return Case(lambda v: Layer(given.unpack(v)[0])(v), lambda: rl.remove_rule(target))

    return make


on_method = _layer("apply", bare=False)
on_method.__doc__ = "A rule on a method, whose object varies."
on_call = _layer("__call__", bare=True)
on_call.__doc__ = "A rule on `__call__`, whose object comes first, as the function itself."


def on_class(given, taken):
    """A rule on a constructor."""

    class Made:
        def __init__(self, v):
            self.value = taken.pack(moved(given.unpack(v), taken.size))

    def made_rrule(v):
        def made_pullback(made_bar):
            return rl.NoTangent(), given.bar(moved_back(given.unpack(v), taken.bars(made_bar.value)))

        return Made(v), made_pullback

    rl.rrule_for(Made)(made_rrule)
    return Case(lambda v: Made(v).value, lambda: rl.remove_rule(Made))


def on_twin(given, taken):
    """A rule on the twin of a function."""
    f = _plain(given, taken)
    f_cr = rl.twin(f, "f_cr")

    def f_cr_rrule(v):
        def f_cr_pullback(y_bar):
            return rl.NoTangent(), given.bar(moved_back(given.unpack(v), taken.bars(y_bar)))

        return f(v), f_cr_pullback

    rl.rrule_for(f_cr)(f_cr_rrule)
    return _case(f_cr)


def opted_out(given, taken):
    """A rule that does not apply."""
    case = by_rrule(given, taken)
    rl.opt_out(case.ruled)
    return case


FORMS = {
    "rrule": by_rrule,
    "frule": by_frule,
    "both": by_both,
    "thunk": with_thunk,
    "projection": with_projection,
    "config": with_config,
    "keywords": with_keywords,
    "stars": with_stars,
    "method": on_method,
    "call": on_call,
    "class": on_class,
    "twin": on_twin,
    "opt-out": opted_out,
}
WITH_GAIN = ("keywords", "stars", "method", "call")  # they multiply by the first number of the argument

# -- what is asked -------------------------------------------------------------------------------------------

WEIGHTS = np.array([0.8, -0.5, 0.6, 1.1])


class Asked(NamedTuple):
    """Functions of an array, where their derivatives are asked for, and along what."""

    f: object  # all numbers of the value, as an array
    loss: object
    x: np.ndarray
    v: np.ndarray


def _asked(f, given, taken):
    weights = WEIGHTS[: taken.size]

    def loss(x):
        y = f(x)
        return np.sum(weights * y) + 0.3 * np.sum(y * y)

    x, v = np.array([0.4, -0.7, 0.9, 0.3]), np.array([0.6, 1.0, -0.8, 0.5])
    return Asked(f, loss, x[: given.size], v[: given.size])


def _entered(x):
    return [x[0], *[x[i] * (1.0 + 0.1 * x[0]) for i in range(1, len(x))]]


def asked(given, taken, ruled):
    """The functions that go through `ruled`."""
    return _asked(lambda x: np.array(taken.unpack(ruled(given.pack(_entered(x))))), given, taken)


def without_rules(given, taken, form):
    """The same of plain numbers, with no kinds of values and no rules."""

    def f(x):
        u = _entered(x)
        return np.array(moved(u, taken.size, u[0] if form in WITH_GAIN else 1.0))

    return _asked(f, given, taken)


def along(function, x, v, order):
    """The derivative of t ↦ function(x + t v) at 0, from values at Chebyshev points."""
    points = 0.4 * np.cos(np.pi * (np.arange(17) + 0.5) / 17)
    values = np.array([function(x + t * v) for t in points])
    fitted = np.polynomial.chebyshev.Chebyshev.fit
    columns = values.reshape(len(points), -1).T
    found = [fitted(points, column, 16, domain=[-0.4, 0.4]).deriv(order)(0.0) for column in columns]
    return np.array(found).reshape(values.shape[1:])


SEED = np.array([0.7, -1.2, 0.4, 0.9])


def _vjp(c):
    y, back = rl.pullback(c.f, c.x)
    return back(SEED[: np.size(y)])[0] @ c.v


def _back_of_varying_seed(c):
    def g(x):
        y, back = rl.pullback(c.f, x)
        return back(0.6 * y)[0] @ c.v  # 0.3 |y|² has this gradient

    return g


def _forward(c):
    return lambda x: rl.pushforward(c.loss, x)(c.v)


MODES = {
    # order 1: of the loss along v
    "gradient": (1, lambda c: rl.gradient(c.loss, c.x)[0] @ c.v),
    "pushforward": (1, lambda c: rl.pushforward(c.loss, c.x)(c.v)),
    "jacobian forward": ("f", lambda c: rl.jacobian(c.f, c.x, mode="forward")[0] @ c.v),
    "jacobian reverse": ("f", lambda c: rl.jacobian(c.f, c.x, mode="reverse")[0] @ c.v),
    "pullback": ("seed", _vjp),
    # order 2
    "hessian": (2, lambda c: c.v @ rl.hessian(c.loss, c.x) @ c.v),
    "hessian_reverse": (2, lambda c: c.v @ rl.hessian_reverse(c.loss, c.x) @ c.v),
    "hvp": (2, lambda c: rl.hvp(c.loss, c.x, c.v) @ c.v),
    "nested gradient": (2, lambda c: rl.gradient(lambda x: rl.gradient(c.loss, x)[0] @ c.v, c.x)[0] @ c.v),
    "reverse over forward": (2, lambda c: rl.gradient(_forward(c), c.x)[0] @ c.v),
    "forward over forward": (2, lambda c: rl.pushforward(_forward(c), c.x)(c.v)),
    "forward over back": ("back", lambda c: rl.pushforward(_back_of_varying_seed(c), c.x)(c.v)),
    "reverse over back": ("back", lambda c: rl.gradient(_back_of_varying_seed(c), c.x)[0] @ c.v),
    # order 3
    "gradient of hvp": (3, lambda c: rl.gradient(lambda x: rl.hvp(c.loss, x, c.v) @ c.v, c.x)[0] @ c.v),
    "forward of hvp": (3, lambda c: rl.pushforward(lambda x: rl.hvp(c.loss, x, c.v) @ c.v, c.x)(c.v)),
    "reverse over forward twice": (
        3,
        lambda c: rl.gradient(lambda x: rl.pushforward(_forward(c), x)(c.v), c.x)[0] @ c.v,
    ),
}


def expected(what, c):
    """What a mode has to give, from values of the plain functions alone."""
    if what == "f":
        return along(c.f, c.x, c.v, 1)
    if what == "seed":
        return SEED[: np.size(c.f(c.x))] @ along(c.f, c.x, c.v, 1)
    if what == "back":
        return along(lambda x: 0.3 * np.sum(c.f(x) ** 2), c.x, c.v, 2)
    return along(c.loss, c.x, c.v, what)
