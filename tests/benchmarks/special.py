"""Rows that are no workload: a function with a rule, what `gradient` adds to a rule, a Hessian.

Each gives a contest and what its numbers are: see `Problem`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import systems
from contest import Contest, disagreement
from systems import found, numbers
from workloads import START, mse, mse_arguments, mse_hand, pendulum_loss

import rulelab as rl


@dataclass(frozen=True)
class Problem:
    """A row: its name, its unit, what is to be reached in it, and what makes its contest.

    Units are P (times of the plain function), H (of the gradient by hand), G (of our gradient),
    µs, and "µs over H".
    """

    name: str
    unit: str
    goal: float | None
    aim: float | None
    contest: Callable


# --- a function with a rule --------------------------------------------------------------------------------


def mse_ruled(y, yh):
    return mse(y, yh)


@rl.rrule_for(mse_ruled)
def mse_ruled_rrule(y, yh):
    r = y - yh

    def mse_ruled_pullback(out_bar):
        g = (2.0 / len(r) * out_bar) * r
        return rl.NoTangent(), g, -g

    return r @ r / len(r), mse_ruled_pullback


def mse_kept(y, yh):
    return mse(y, yh)


@rl.rrule_for(mse_kept)
def mse_kept_rrule(y, yh):
    """As the rule's author would write it who calls the function itself."""

    def mse_kept_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_kept_pullback


def autograd_rule(y, yh):
    """In each peer the same rule by the peer's own means, here `defvjp`."""
    autograd, extend = found("autograd"), found("autograd.extend")

    @extend.primitive
    def ruled(y, yh):
        r = y - yh
        return r @ r / len(r)

    extend.defvjp(
        ruled,
        lambda out, y, yh: lambda g: 2.0 / len(y) * g * (y - yh),
        lambda out, y, yh: lambda g: -2.0 / len(y) * g * (y - yh),
    )
    gradient = autograd.grad(ruled, (0, 1))
    return lambda: gradient(y, yh)


def tangent_rule(y, yh):
    """tangent has its rules as templates of source."""
    import peer_code

    tangent = found("tangent")
    gradient = tangent.grad(peer_code.tangent_ruled(tangent), wrt=(0, 1))
    return lambda: gradient(y, yh)


def torch_rule(y, yh):
    torch = found("torch")

    class Ruled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y, yh):
            r = y - yh
            ctx.save_for_backward(r)
            return r @ r / len(r)

        @staticmethod
        def backward(ctx, g):
            (r,) = ctx.saved_tensors
            back = (2.0 / len(r) * g) * r
            return back, -back

    active = [torch.tensor(x, requires_grad=True) for x in (y, yh)]
    return lambda: torch.autograd.grad(Ruled.apply(*active), active)


def jax_rule(y, yh):
    jax, jnp = found("jax"), found("jax.numpy")
    jax.config.update("jax_enable_x64", True)

    @jax.custom_vjp
    def ruled(y, yh):
        r = y - yh
        return r @ r / len(r)

    def forward(y, yh):
        r = y - yh
        return r @ r / len(r), r

    def backward(r, g):
        back = (2.0 / len(r) * g) * r
        return back, -back

    ruled.defvjp(forward, backward)
    gradient = jax.jit(jax.grad(ruled, (0, 1)))
    given = jnp.asarray(y), jnp.asarray(yh)
    return lambda: jax.block_until_ready(gradient(*given))


def mygrad_rule(y, yh):
    mg = found("mygrad")

    class Ruled(mg.operation_base.Operation):
        def __call__(self, y, yh):
            self.variables = (y, yh)
            self.r = y.data - yh.data
            return self.r @ self.r / len(self.r)

        def backward_var(self, g, index, **kwargs):
            back = (2.0 / len(self.r) * g) * self.r
            return -back if index else back

    given = mg.tensor(y), mg.tensor(yh)

    def call():
        mg.execute_op(Ruled, *given).backward()
        return given[0].grad, given[1].grad

    return call


RULES = {
    "autograd": autograd_rule,
    "tangent": tangent_rule,
    "PyTorch": torch_rule,
    "JAX": jax_rule,
    "mygrad": mygrad_rule,
}


def ruled_contest(ours_only):
    """A vectorised rule for the mean squared error, in each system by its own means."""
    y, yh = mse_arguments(30)
    entrants = {
        "rulelab": lambda: rl.gradient(mse_ruled, y, yh),
        "rulelab, rule with the loop": lambda: rl.gradient(mse_kept, y, yh),
    }
    if not ours_only:
        entrants |= systems.made(RULES, lambda make: make(y, yh))
    wanted = mse_hand(y, yh)
    return Contest(
        "a rule, mse 30",
        lambda: mse(y, yh),
        lambda: mse_hand(y, yh),
        entrants,
        gap=lambda answer, call: disagreement(numbers(answer, call), wanted),
    )


# --- what `gradient` costs over a rule ---------------------------------------------------------------------


def square(x):
    return x * x


@rl.rrule_for(square)
def square_rrule(x):
    def square_pullback(y_bar):
        return rl.NoTangent(), 2.0 * x * y_bar

    return x * x, square_pullback


def energy(x):
    return x @ x


@rl.rrule_for(energy)
def energy_rrule(x):
    def energy_pullback(y_bar):
        return rl.NoTangent(), 2.0 * y_bar * x

    return x @ x, energy_pullback


def distance(x, y):
    r = x - y
    return r @ r


@rl.rrule_for(distance)
def distance_rrule(x, y):
    r = x - y

    def distance_pullback(d_bar):
        g = 2.0 * d_bar * r
        return rl.NoTangent(), g, -g

    return r @ r, distance_pullback


def by_hand(rule, *args):
    """The least that uses the rule: call it, call its pullback, drop the function's own cotangent."""
    _, pullback = rule(*args)
    return pullback(1.0)[1:]


def overhead_contest(name, f, rule, *args):
    return lambda ours_only: Contest(
        name, lambda: f(*args), lambda: by_hand(rule, *args), {"rulelab": lambda: rl.gradient(f, *args)}
    )


# --- second derivatives ------------------------------------------------------------------------------------


def autograd_hessian(theta):
    autograd, anp = found("autograd"), found("autograd.numpy")
    hessian = autograd.hessian(systems.rebound(pendulum_loss, {"np": anp}))
    return lambda: (hessian(theta),)


def torch_hessian(theta):
    torch = found("torch")
    f = systems.rebound(pendulum_loss, systems.Torch.names(torch) | {"START": torch.tensor(START)})
    given = torch.tensor(theta)
    return lambda: (torch.autograd.functional.hessian(f, given),)


def jax_hessian(theta):
    import peer_code

    jax, jnp = found("jax"), found("jax.numpy")
    jax.config.update("jax_enable_x64", True)
    pendulum = peer_code.jax_pendulum()
    hessian = jax.jit(jax.hessian(lambda theta: pendulum(theta, jnp.asarray(START))))
    given = jnp.asarray(theta)
    return lambda: (jax.block_until_ready(hessian(given)),)


HESSIANS = {"autograd": autograd_hessian, "PyTorch": torch_hessian, "JAX": jax_hessian}


def hessian_contest(ours_only):
    """The Hessian of a loss of two parameters, in times of our gradient of it."""
    theta = np.array([9.8, 0.3])
    entrants = {"rulelab": lambda: (rl.hessian(pendulum_loss, theta),)}
    if not ours_only:
        entrants |= systems.made(HESSIANS, lambda make: make(theta))
    wanted = slopes_of_gradient(theta)
    return Contest(
        "pendulum 100, Hessian",
        lambda: rl.gradient(pendulum_loss, theta),
        None,
        entrants,
        1e-6,
        lambda answer, call: disagreement(numbers(answer, call), [wanted]),
    )


def slopes_of_gradient(theta, step=1e-5):
    """The Hessian by differences of our gradient, which has been compared with those of the function."""
    along = [step * e for e in np.eye(len(theta))]
    gradient = lambda at: rl.gradient(pendulum_loss, at)[0]  # noqa: E731
    return np.array([(gradient(theta + e) - gradient(theta - e)) / (2 * step) for e in along])


# --- the list ----------------------------------------------------------------------------------------------


def problems():
    x, y = np.random.default_rng(3).random((2, 30))
    yield Problem("a rule, mse 30", "µs", 3.5, 3.0, ruled_contest)
    for kind, goal, given in (
        ("a float", None, (square, square_rrule, 1.5)),
        ("one array", 0.3, (energy, energy_rrule, x)),
        ("two arrays", 0.4, (distance, distance_rrule, x, y)),
    ):
        name = f"over a rule, {kind}"
        yield Problem(name, "µs over H", goal, goal, overhead_contest(name, *given))
    yield Problem("pendulum 100, Hessian", "G", None, None, hessian_contest)
