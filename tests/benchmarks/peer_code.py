"""Workloads as users of a peer would write them, where our own text is not what they would write.

`WRITTEN[system, function]` makes the peer's function of a workload.
"""

import numpy as np

WRITTEN = {}


def written(system, *functions):
    def keep(make):
        WRITTEN.update({(system, f): make for f in functions})
        return make

    return keep


# --- JAX: loops that would be unrolled otherwise -----------------------------------------------------------


@written("jax", "logistic")
def jax_logistic(workload=None):
    """By `fori_loop`."""
    import jax

    def logistic(r, x, steps=1000):
        return jax.lax.fori_loop(0, steps, lambda _, x: r * x * (1.0 - x), x)

    return logistic


def jax_mse(workload):
    """By `fori_loop`, except for 30 elements, which are unrolled."""
    if len(workload.arguments[0]) <= 100:
        return None
    import jax

    def mse(y, yh):
        return jax.lax.fori_loop(0, len(y), lambda i, s: s + (y[i] - yh[i]) ** 2, 0.0) / len(y)

    return mse


WRITTEN["jax", "mse"] = jax_mse


@written("jax", "trapezoid")
def jax_trapezoid(workload=None):
    """By `fori_loop`."""
    import jax
    import jax.numpy as jnp

    def bell(t, p):
        return jnp.exp(-p * t * t) * jnp.sin(t)

    def trapezoid(a, b, p):
        n = 1000
        h = (b - a) / n
        ends = 0.5 * (bell(a, p) + bell(b, p))
        return h * jax.lax.fori_loop(1, n, lambda i, s: s + bell(a + i * h, p), ends)

    return trapezoid


@written("jax", "simpson")
def jax_simpson(workload=None):
    """By `fori_loop`."""
    import jax
    import jax.numpy as jnp

    def bell(t, p):
        return jnp.exp(-p * t * t) * jnp.sin(t)

    def simpson(a, b, p):
        n = 1000
        h = (b - a) / n
        ends = bell(a, p) + bell(b, p)
        more = lambda i, s: s + jnp.where(i % 2, 4.0, 2.0) * bell(a + i * h, p)  # noqa: E731
        return jax.lax.fori_loop(1, n, more, ends) * h / 3.0

    return simpson


@written("jax", "lstm")
def jax_lstm(workload=None):
    """By `scan`, with its two layers unrolled."""
    import jax
    import jax.numpy as jnp

    def lstm(main, extra, state, sequence):
        h = sequence.shape[1]

        def cell(weight, bias, hidden, memory, x):
            gates = jnp.concatenate((x, hidden, x, hidden)) * weight + bias
            forget, ingate, outgate = (
                1.0 / (1.0 + jnp.exp(-gates[k * h : (k + 1) * h])) for k in range(3)
            )
            memory = memory * forget + ingate * jnp.tanh(gates[3 * h :])
            return outgate * jnp.tanh(memory), memory

        def step(s, pair):
            x, gold = pair
            x, new = x * extra[0], []
            for i in range(0, len(s), 2):
                hidden, memory = cell(main[i], main[i + 1], s[i], s[i + 1], x)
                new += [hidden, memory]
                x = hidden
            y = x * extra[1] + extra[2]
            return new, jnp.sum(gold * (y - jnp.log(jnp.sum(jnp.exp(y)) + 2.0)))

        start = [state[i] for i in range(len(state))]
        _, terms = jax.lax.scan(step, start, (sequence[:-1], sequence[1:]))
        return -jnp.sum(terms) / (h * (len(sequence) - 1))

    return lstm


@written("jax", "pendulum")
def jax_pendulum(workload=None):
    """By `fori_loop`."""
    import jax
    import jax.numpy as jnp

    def pendulum(theta, y0, dt=0.01):
        def f(y):
            return jnp.array([y[1], -theta[0] * jnp.sin(y[0]) - theta[1] * y[1]])

        def step(_, y):
            k1 = f(y)
            k2 = f(y + dt / 2 * k1)
            k3 = f(y + dt / 2 * k2)
            k4 = f(y + dt * k3)
            return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        y = jax.lax.fori_loop(0, 100, step, y0)
        return jnp.sum((y - jnp.array([0.2, 0.1])) ** 2)

    return pendulum


@written("jax", "newton")
def jax_newton(workload=None):
    """With `while_loop`, which has no reverse mode."""
    import jax

    def newton(a):
        far = lambda x: abs(x * x - a) > 1e-12 * a  # noqa: E731
        return jax.lax.while_loop(far, lambda x: 0.5 * (x + a / x), a)

    return newton


@written("jax", "projectile")
def jax_projectile(workload=None):
    """Nothing: a `while` over what is differentiated."""
    raise NotImplementedError("while_loop has no reverse mode")


@written("jax", "reprojection")
def jax_reprojection(workload=None):
    """Without the branch for no rotation, which `vmap` would run as well."""
    import jax.numpy as jnp

    def reprojection(f0, f1, *c):
        r0, r1, r2, t0, t1, t2, focal, p0, p1, k1, k2, x0, x1, x2, w = c
        x0, x1, x2 = x0 - t0, x1 - t1, x2 - t2
        angle = jnp.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
        co, si, inv = jnp.cos(angle), jnp.sin(angle), 1.0 / angle
        a0, a1, a2 = r0 * inv, r1 * inv, r2 * inv
        dot = (a0 * x0 + a1 * x1 + a2 * x2) * (1.0 - co)
        y0 = x0 * co + (a1 * x2 - a2 * x1) * si + a0 * dot
        y1 = x1 * co + (a2 * x0 - a0 * x2) * si + a1 * dot
        y2 = x2 * co + (a0 * x1 - a1 * x0) * si + a2 * dot
        u, v = y0 / y2, y1 / y2
        rr = u * u + v * v
        scale = (1.0 + k1 * rr + k2 * rr * rr) * focal
        return w * (u * scale + p0 - f0), w * (v * scale + p1 - f1)

    return reprojection


# --- PyTorch -----------------------------------------------------------------------------------------------


@written("torch", "cross_entropy")
def torch_cross_entropy(workload=None):
    """`max` along an axis is `amax`."""
    import torch

    def cross_entropy(logits, labels):
        z = logits - logits.amax(dim=1, keepdim=True)
        logp = z - torch.log(torch.exp(z).sum(dim=1, keepdim=True))
        return -logp[torch.arange(len(labels)), labels].mean()

    return cross_entropy


@written("torch", "gp")
def torch_gp(workload=None):
    """Vectors are made columns, and numbers have the functions of `math`."""
    import math

    import torch

    def gp(params, X, y):
        ell, sf, sn = torch.exp(params)
        d2 = torch.sum((X[:, None, :] - X[None, :, :]) ** 2, dim=-1)
        K = sf**2 * torch.exp(-0.5 * d2 / ell**2) + sn**2 * torch.eye(len(y), dtype=torch.float64)
        L = torch.linalg.cholesky(K)
        a = torch.linalg.solve(L.T, torch.linalg.solve(L, y))
        return 0.5 * y @ a + torch.sum(torch.log(torch.diag(L))) + 0.5 * len(y) * math.log(2 * math.pi)

    return gp


# --- tangent: no variable number of arguments, no `math`, no attributes that are arrays ---------------------


def tangent_bell_integral(a, b, p):
    n = 1000
    h = (b - a) / n
    s = 0.5 * (np.exp(-p * a * a) * np.sin(a) + np.exp(-p * b * b) * np.sin(b))
    for i in range(1, n):
        t = a + i * h
        s = s + np.exp(-p * t * t) * np.sin(t)
    return s * h


def tangent_mixture(alpha, mu, q, l, x, scatter, gamma, m):
    k = len(mu)
    d = len(mu[0])
    diagonal = np.exp(q)
    log_det = np.sum(q, axis=1)
    lower = np.reshape(np.dot(l, scatter), (k, d, d))
    centred = np.expand_dims(x, 0) - np.expand_dims(mu, 1)
    scaled = np.expand_dims(diagonal, 1) * centred + np.matmul(centred, np.transpose(lower, (0, 2, 1)))
    inner = np.expand_dims(alpha + log_det, 1) - 0.5 * np.sum(scaled * scaled, axis=2)
    top = np.max(inner, axis=0)
    likelihood = np.sum(np.log(np.sum(np.exp(inner - top), axis=0)) + top)
    prior = 0.5 * gamma * gamma * (np.sum(diagonal * diagonal) + np.sum(l * l)) - m * np.sum(log_det)
    highest = np.max(alpha)
    normal = highest + np.log(np.sum(np.exp(alpha - highest)))
    return likelihood - len(x) * normal - prior


def tangent_gp(params, X, y):
    e = np.exp(params)
    ell = e[0]
    sf = e[1]
    sn = e[2]
    d2 = np.sum((np.expand_dims(X, 1) - np.expand_dims(X, 0)) ** 2, axis=-1)
    K = sf**2 * np.exp(-0.5 * d2 / ell**2) + sn**2 * np.eye(len(y))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(np.transpose(L), np.linalg.solve(L, y))
    return 0.5 * np.dot(y, a) + np.sum(np.log(np.diag(L))) + 0.5 * len(y) * np.log(2 * np.pi)


def tangent_first_residual(f0, f1, r0, r1, r2, t0, t1, t2, focal, p0, p1, k1, k2, x0, x1, x2, w):
    d0 = x0 - t0
    d1 = x1 - t1
    d2 = x2 - t2
    angle = np.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
    co = np.cos(angle)
    si = np.sin(angle)
    inv = 1.0 / angle
    a0 = r0 * inv
    a1 = r1 * inv
    a2 = r2 * inv
    dot = (a0 * d0 + a1 * d1 + a2 * d2) * (1.0 - co)
    y0 = d0 * co + (a1 * d2 - a2 * d1) * si + a0 * dot
    y1 = d1 * co + (a2 * d0 - a0 * d2) * si + a1 * dot
    y2 = d2 * co + (a0 * d1 - a1 * d0) * si + a2 * dot
    u = y0 / y2
    v = y1 / y2
    rr = u * u + v * v
    scale = (1.0 + k1 * rr + k2 * rr * rr) * focal
    return w * (u * scale + p0 - f0)


def tangent_second_residual(f0, f1, r0, r1, r2, t0, t1, t2, focal, p0, p1, k1, k2, x0, x1, x2, w):
    d0 = x0 - t0
    d1 = x1 - t1
    d2 = x2 - t2
    angle = np.sqrt(r0 * r0 + r1 * r1 + r2 * r2)
    co = np.cos(angle)
    si = np.sin(angle)
    inv = 1.0 / angle
    a0 = r0 * inv
    a1 = r1 * inv
    a2 = r2 * inv
    dot = (a0 * d0 + a1 * d1 + a2 * d2) * (1.0 - co)
    y0 = d0 * co + (a1 * d2 - a2 * d1) * si + a0 * dot
    y1 = d1 * co + (a2 * d0 - a0 * d2) * si + a1 * dot
    y2 = d2 * co + (a0 * d1 - a1 * d0) * si + a2 * dot
    u = y0 / y2
    v = y1 / y2
    rr = u * u + v * v
    scale = (1.0 + k1 * rr + k2 * rr * rr) * focal
    return w * (v * scale + p1 - f1)


WRITTEN |= {
    ("tangent", "trapezoid"): lambda workload: tangent_bell_integral,
    ("tangent", "mixture"): lambda workload: tangent_mixture,
    ("tangent", "gp"): lambda workload: tangent_gp,
    ("tangent", "reprojection"): lambda workload: [tangent_first_residual, tangent_second_residual],
}


def ruled(y, yh):
    r = y - yh
    return np.dot(r, r) / len(r)


def mse_by_rule(y, yh):
    return ruled(y, yh)


def tangent_ruled(tangent):
    """A function whose rule is stated by a template, in which `d[y]` is the cotangent of y."""
    from tangent.grads import adjoint

    @adjoint(ruled)
    def ruled_adjoint(out, y, yh):
        d[y] = (2.0 / len(y) * d[out]) * (y - yh)  # noqa: F821
        d[yh] = (-2.0 / len(y) * d[out]) * (y - yh)  # noqa: F821

    return mse_by_rule
