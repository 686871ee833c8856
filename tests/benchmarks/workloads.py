"""What is timed: functions as people write them in Python and NumPy, with their arguments and goals.

Each stands as its author would write it, with no regard to how it is differentiated. `WORKLOADS` names them
with the arguments at which they are timed, smaller ones for tests, the arguments that are differentiated,
a gradient by hand where there is one, and the goals.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# --- loops over numbers ------------------------------------------------------------------------------------


def mse(y, yh):
    """The mean squared error, by a loop."""
    total = 0.0
    for i in range(len(y)):
        total += (y[i] - yh[i]) ** 2
    return total / len(y)


def mse_hand(y, yh):
    g = (2.0 / len(y)) * (y - yh)
    return g, -g


def sum3(a):
    """Three elements of an array."""
    x = a[0]
    y = a[1]
    z = a[2]
    return x + y + z


def sum3_hand(a):
    g = np.zeros(len(a))
    g[:3] = 1.0
    return (g,)


def logistic(r, x, steps=1000):
    """The logistic map, many times."""
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


def logistic_hand(r, x, steps=1000):
    tape = []
    for _ in range(steps):
        tape.append(x)
        x = r * x * (1.0 - x)
    r_bar, x_bar = 0.0, 1.0
    for x in reversed(tape):
        r_bar += x_bar * x * (1.0 - x)
        x_bar = x_bar * r * (1.0 - 2.0 * x)
    return r_bar, x_bar


def newton(a):
    """A square root by Newton's method, until it is good enough."""
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def newton_hand(a):
    x, slope = a, 1.0
    while abs(x * x - a) > 1e-12 * a:
        x, slope = 0.5 * (x + a / x), 0.5 * (slope + 1.0 / x - a / (x * x) * slope)
    return (slope,)


def bell(t, p):
    return math.exp(-p * t * t) * math.sin(t)


def trapezoid(a, b, p, n=1000):
    """An integral of `bell` by the trapezoid rule."""
    h = (b - a) / n
    s = 0.5 * (bell(a, p) + bell(b, p))
    for i in range(1, n):
        s = s + bell(a + i * h, p)
    return s * h


def simpson(a, b, p, *, n=1000):
    """The same by Simpson's rule."""
    h = (b - a) / n
    total = bell(a, p) + bell(b, p)
    for i in range(1, n):
        total += (4.0 if i % 2 else 2.0) * bell(a + i * h, p)
    return total * h / 3.0


# --- arrays ------------------------------------------------------------------------------------------------


def addone(a):
    return np.sum(a + 1)


def addone_hand(a):
    return (np.ones(a.shape),)


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def logsumexp_hand(x):
    e = np.exp(x - np.max(x))
    e /= np.sum(e)
    return (e,)


def cross_entropy(logits, labels):
    """Softmax cross-entropy of a batch of rows with their right columns."""
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


def cross_entropy_hand(logits, labels):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    e[np.arange(len(labels)), labels] -= 1.0
    e /= len(labels)
    return (e,)


def mlp(W1, b1, W2, b2, W3, b3, X, Y):
    """The squared error of a network with two hidden layers."""
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    d = h2 @ W3 + b3 - Y
    return np.sum(d * d) / X.shape[0]


def mlp_hand(W1, b1, W2, b2, W3, b3, X, Y):
    h1 = np.tanh(X @ W1 + b1)
    h2 = np.tanh(h1 @ W2 + b2)
    d = (2.0 / X.shape[0]) * (h2 @ W3 + b3 - Y)
    d2 = (d @ W3.T) * (1.0 - h2 * h2)
    d1 = (d2 @ W2.T) * (1.0 - h1 * h1)
    return X.T @ d1, d1.sum(0), h1.T @ d2, d2.sum(0), h2.T @ d, d.sum(0)


def chain(x, a, b, c):
    """A chain of elementwise operations on a matrix, with a row, a column and a number."""
    u = np.tanh(x * a + b)
    t = u * u
    v = np.exp(-t)
    w = u * v + c * np.sin(x)
    return np.sum(w * w / (1.0 + t))


def chain_hand(x, a, b, c):
    u = np.tanh(x * a + b)
    t = u * u
    v, s = np.exp(-t), np.sin(x)
    w = u * v + c * s
    q = w / (1.0 + t)
    w_bar = 2.0 * q
    t_bar = -(q * q) - w_bar * u * v
    z_bar = (w_bar * v + 2.0 * t_bar * u) * (1.0 - t)
    x_bar = z_bar * a + c * w_bar * np.cos(x)
    return x_bar, np.sum(z_bar * x, axis=0), np.sum(z_bar, axis=1, keepdims=True), np.sum(w_bar * s)


def mixture(alpha, mu, q, l, x, scatter, gamma, m):
    """The log posterior of a Gaussian mixture with a Wishart prior, but for constants.

    There are k components in d dimensions; `scatter` lays the numbers below the diagonal out as matrices.
    """
    k, d = mu.shape
    diagonal, log_det = np.exp(q), np.sum(q, axis=1)
    lower = np.reshape(l @ scatter, (k, d, d))
    centred = x[None, :, :] - mu[:, None, :]
    scaled = diagonal[:, None, :] * centred + centred @ lower.swapaxes(1, 2)
    inner = (alpha + log_det)[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
    top = np.max(inner, axis=0)
    likelihood = np.sum(np.log(np.sum(np.exp(inner - top), axis=0)) + top)
    prior = 0.5 * gamma * gamma * (np.sum(diagonal * diagonal) + np.sum(l * l)) - m * np.sum(log_det)
    return likelihood - len(x) * logsumexp(alpha) - prior


def gp(params, X, y):
    """The negative log likelihood of a Gaussian process with a squared-exponential kernel."""
    ell, sf, sn = np.exp(params)
    d2 = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = sf**2 * np.exp(-0.5 * d2 / ell**2) + sn**2 * np.eye(len(y))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return 0.5 * y @ a + np.sum(np.log(np.diag(L))) + 0.5 * len(y) * np.log(2 * np.pi)


# --- programs ----------------------------------------------------------------------------------------------


def reprojection(f0, f1, *c):
    """The two residuals of one observation (f0, f1) of a point by a camera.

    The camera: rotation 3, centre 3, focal length, principal point 2, radial distortion 2; then the point 3
    and a weight.
    """
    r0, r1, r2, t0, t1, t2, focal, p0, p1, k1, k2, x0, x1, x2, w = c
    x0, x1, x2 = x0 - t0, x1 - t1, x2 - t2
    sq = r0 * r0 + r1 * r1 + r2 * r2
    if sq != 0.0:
        angle = math.sqrt(sq)
        co, si, inv = math.cos(angle), math.sin(angle), 1.0 / angle
        a0, a1, a2 = r0 * inv, r1 * inv, r2 * inv
        dot = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - co)
        y0 = x0 * co + (a1 * x2 - a2 * x1) * si + a0 * dot
        y1 = x1 * co + (a2 * x0 - a0 * x2) * si + a1 * dot
        y2 = x2 * co + (a0 * x1 - a1 * x0) * si + a2 * dot
    else:
        y0, y1, y2 = x0 + r1 * x2 - r2 * x1, x1 + r2 * x0 - r0 * x2, x2 + r0 * x1 - r1 * x0
    u, v = y0 / y2, y1 / y2
    rr = u * u + v * v
    scale = (1.0 + k1 * rr + k2 * rr * rr) * focal
    return w * (u * scale + p0 - f0), w * (v * scale + p1 - f1)


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def lstm(main, extra, state, sequence):
    """The loss of an elementwise LSTM of two layers that foretells a sequence of vectors of h numbers.

    Of shapes main (4, 4 h), extra (3, h), state (4, h), sequence (length, h).
    """
    h = sequence.shape[1]

    def cell(weight, bias, hidden, memory, x):
        gates = np.concatenate((x, hidden, x, hidden)) * weight + bias
        forget, ingate, outgate = sigmoid(gates[:h]), sigmoid(gates[h : 2 * h]), sigmoid(gates[2 * h : 3 * h])
        memory = memory * forget + ingate * np.tanh(gates[3 * h :])
        return outgate * np.tanh(memory), memory

    total, count, x, s = 0.0, 0, sequence[0], [state[i] for i in range(len(state))]
    for t in range(len(sequence) - 1):
        x, new = x * extra[0], []
        for i in range(0, len(s), 2):
            hidden, memory = cell(main[i], main[i + 1], s[i], s[i + 1], x)
            new.append(hidden)
            new.append(memory)
            x = hidden
        y, s = x * extra[1] + extra[2], new
        gold = sequence[t + 1]
        total = total + np.sum(gold * (y - np.log(np.sum(np.exp(y)) + 2.0)))
        count, x = count + h, gold
    return -total / count


def pendulum(theta, y0, dt=0.01, steps=100):
    """How far a damped pendulum misses its mark, by the Runge-Kutta method with a local function."""

    def f(y):
        return np.array([y[1], -theta[0] * np.sin(y[0]) - theta[1] * y[1]])

    y = y0
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + dt / 2 * k1)
        k3 = f(y + dt / 2 * k2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum((y - np.array([0.2, 0.1])) ** 2)


START = np.array([1.0, 0.0])


def pendulum_loss(theta):
    """The same as a function of its two parameters alone."""
    return pendulum(theta, START)


def projectile(speed, angle, wind, drag):
    """How far a ball flies, thrown from a height of 1.5 against the wind: some 25 lines, for a start."""
    gravity, dt = 9.81, 0.05
    vx = speed * math.cos(angle)
    vy = speed * math.sin(angle)
    x, y = 0.0, 1.5
    highest = y
    while y > 0.0:
        ux = vx - wind
        air = math.sqrt(ux * ux + vy * vy)
        if air > 20.0:
            slowed = 0.9 * drag * air
        else:
            slowed = drag * air
        ax = -slowed * ux
        ay = -gravity - slowed * vy
        old_x, old_y = x, y
        x = x + dt * vx
        y = y + dt * vy
        vx = vx + dt * ax
        vy = vy + dt * ay
        if y > highest:
            highest = y
    part = old_y / (old_y - y)
    landed = old_x + part * (x - old_x)
    return landed + 0.1 * highest


# --- arguments ---------------------------------------------------------------------------------------------


def seeded():
    return np.random.default_rng(0)


def mse_arguments(n):
    return tuple(seeded().random((2, n)))


def cross_entropy_arguments(batch, columns):
    rng = seeded()
    return 2 * rng.normal(size=(batch, columns)), rng.integers(0, columns, batch)


def mlp_arguments(batch, sizes=(64, 128, 128, 10)):
    rng = seeded()
    layers = []
    for into, out in zip(sizes, sizes[1:]):
        layers += [rng.normal(size=(into, out)) / into**0.5, rng.normal(size=out) * 0.1]
    return (*layers, rng.normal(size=(batch, sizes[0])), rng.normal(size=(batch, sizes[-1])))


def chain_arguments(n):
    draw = seeded().normal
    return draw(size=(n, n)), draw(size=n), draw(size=(n, 1)), 0.7


def mixture_arguments(d, k, n=1000):
    draw, below = seeded().normal, d * (d - 1) // 2
    rows, columns = np.tril_indices(d, -1)
    scatter = np.zeros((below, d * d))
    scatter[np.arange(below), rows * d + columns] = 1.0
    means, scales = draw(size=(k, d)), 0.1 * draw(size=(k, d))
    return draw(size=k), means, scales, 0.1 * draw(size=(k, below)), draw(size=(n, d)), scatter, 1.0, 0


def observations(n):
    """As many observations, each the arguments of `reprojection`."""
    def one(rotation_and_centre, point):
        return (0.1, 0.2, *rotation_and_centre, 500.0, 0.1, 0.2, 0.01, 0.001, *point, 0.9)

    draw = seeded().normal
    return [one(draw(size=6), draw(size=3) + [0.0, 0.0, 8.0]) for _ in range(n)]


def lstm_arguments(length, h=14):
    draw = seeded().normal
    return (
        *(0.1 * draw(size=(rows, width)) for rows, width in ((4, 4 * h), (3, h), (4, h))),
        draw(size=(length, h)),
    )


def gp_arguments(n):
    draw = seeded().normal
    return np.array([0.1, 0.2, -1.0]), draw(size=(n, 2)), draw(size=n)


# --- the list ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Goal:
    """At most `limit` times the plain function (unit P), or the gradient by hand (unit H)."""

    limit: float
    unit: str = "P"

    def __str__(self):
        return f"{self.limit:g} {self.unit}"


@dataclass(frozen=True)
class Workload:
    """A function to differentiate, in the arguments `wrt`, at `arguments`.

    `small` are arguments for tests and for counting. `goal` is what the acceptance asks for, `aim` what code
    emitted by hand shows to be possible. With `rows` the function has two results, `arguments` is a list of
    arguments, and wanted are the gradients of both results at each of them.
    """

    name: str
    f: Callable
    arguments: tuple | list
    small: tuple | list
    wrt: tuple[int, ...]
    hand: Callable | None = None
    goal: Goal | None = None
    aim: Goal | None = None
    rows: bool = False

    def plain(self):
        """Calls the function, at all its arguments."""
        if not self.rows:
            return lambda f=self.f, arguments=self.arguments: f(*arguments)

        def each(f=self.f, arguments=self.arguments):
            for one in arguments:
                f(*one)

        return each

    def by_hand(self):
        """A call of the gradient by hand, or None."""
        return self.hand and (lambda: self.hand(*self.arguments))

    def at_small_arguments(self):
        return Workload(
            self.name, self.f, self.small, self.small, self.wrt, self.hand, self.goal, self.aim, self.rows
        )


def listed():
    P, H = Goal, lambda limit: Goal(limit, "H")
    draw = seeded()
    for n, aim in ((30, 1.25), (3000, 1.0)):
        yield Workload(f"mse {n}", mse, mse_arguments(n), mse_arguments(5), (0, 1), mse_hand, P(1.5), P(aim))
    yield Workload("sum3 30", sum3, (draw.random(30),), (draw.random(5),), (0,), sum3_hand, P(4), P(2.6))
    yield Workload(
        "addone 1000", addone, (draw.random(1000),), (draw.random(5),), (0,), addone_hand, P(2), P(1)
    )
    yield Workload(
        "logistic 1000", logistic, (3.57, 0.31), (3.57, 0.31, 7), (0, 1), logistic_hand, P(4.2), P(4.2)
    )
    yield Workload("Newton", newton, (2e6,), (2.0,), (0,), newton_hand, P(2.8), P(2.8))
    ends = (0.2, 2.5, 0.7)
    yield Workload("trapezoid 1000", trapezoid, ends, (*ends, 8), (0, 1, 2), goal=P(4), aim=P(2.8))
    yield Workload("Simpson 1000", simpson, ends, ends, (0, 1, 2), goal=P(4), aim=P(2.8))
    for n in (100, 10_000, 1_000_000):
        x, small = 3 * draw.normal(size=n), draw.normal(size=5)
        yield Workload(f"log-sum-exp {n}", logsumexp, (x,), (small,), (0,), logsumexp_hand, P(1.6), P(1.35))
    for rows, columns in ((10, 10), (100, 100), (10_000, 100)):
        yield Workload(
            f"cross-entropy {rows}x{columns}",
            cross_entropy,
            cross_entropy_arguments(rows, columns),
            cross_entropy_arguments(3, 4),
            (0,),
            cross_entropy_hand,
            P(2),
            P(1.6),
        )
    for batch, goal, aim in ((32, 1.3, 1.15), (4096, 1.2, 1.2)):
        yield Workload(
            f"MLP {batch}",
            mlp,
            mlp_arguments(batch),
            mlp_arguments(2, (3, 2, 2, 1)),
            tuple(range(6)),
            mlp_hand,
            H(goal),
            H(aim),
        )
    for n in (100, 1000):
        yield Workload(
            f"chain {n * n}",
            chain,
            chain_arguments(n),
            chain_arguments(3),
            (0, 1, 2, 3),
            chain_hand,
            P(2.1),
            P(2.1),
        )
    for d, k, aim in ((2, 5, 1.4), (20, 25, 1.6)):
        yield Workload(
            f"mixture d{d} K{k}",
            mixture,
            mixture_arguments(d, k),
            mixture_arguments(2, 3, 4),
            (0, 1, 2, 3),
            goal=P(2),
            aim=P(aim),
        )
    yield Workload(
        "reprojection x100",
        reprojection,
        observations(100),
        observations(2),
        tuple(range(2, 17)),
        goal=P(8),
        aim=P(5.2),
        rows=True,
    )
    yield Workload(
        "LSTM 1024", lstm, lstm_arguments(1024), lstm_arguments(3, 2), (0, 1), goal=P(4), aim=P(2.2)
    )
    theta = np.array([9.8, 0.3])
    yield Workload("pendulum 100", pendulum, (theta, START), (theta, START, 0.01, 2), (0,), goal=P(6))
    yield Workload("GP 30", gp, gp_arguments(30), gp_arguments(4), (0,), goal=P(4))


WORKLOADS = list(listed())


def short(name):
    """A short function, for the time of a first gradient."""
    if name == "projectile":
        return Workload(name, projectile, (25.0, 0.7, -3.0, 0.01), (9.0, 0.7, -3.0, 0.01), (0, 1, 2, 3))
    return next(workload for workload in WORKLOADS if workload.f.__name__ == name)
