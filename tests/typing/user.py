"""What a user writes, typed: mypy and pyright read it as strictly as they can. It is not run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import rulelab as rl
from rulelab.bench import gradient_duel, profile
from rulelab.checking import grad_check, test_rrule
from rulelab.checking.many import check_all
from rulelab.portability import export
from rulelab.symbolic import derive_rule, prove, scan_stability, sym_check

Array = NDArray[np.float64]


def mse(y: Array, yh: Array) -> float:
    total = 0.0
    for i in range(len(y)):
        total += float((y[i] - yh[i]) ** 2)
    return total / len(y)


mse_cr = rl.twin(mse, "mse_cr")


@rl.rrule_for(mse_cr)
def mse_cr_rrule(y: Array, yh: Array) -> tuple[float, Callable[[float], tuple[object, Array, Array]]]:
    def mse_cr_pullback(out_bar: float) -> tuple[object, Array, Array]:
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_cr_pullback


def area(w: float) -> float:
    return w * w


def area_partial(out: float, w: float) -> float:
    return 2 * w


rl.scalar_rule(area, area_partial)
rl.scalar_rule(area, lambda out, w: 2 * w)
rl.scalar_rule(np.sin, area_partial)


@rl.frule_for(mse)
def mse_frule(tangents: tuple[object, Array, Array], y: Array, yh: Array) -> tuple[float, float]:
    _, y_dot, yh_dot = tangents
    return mse(y, yh), float(2 / len(y) * np.sum((y - yh) * (y_dot - yh_dot)))


@dataclass
class Layer:
    W: Array
    b: Array

    def __call__(self, x: Array) -> Array:
        return np.tanh(self.W @ x + self.b)


def loss(layer: Layer, x: Array) -> float:
    return float(np.sum(layer(x) ** 2))


def cubes(x: Array) -> float:
    return float(np.sum(x**3))


def gradients(y: Array, yh: Array) -> None:
    y_bar, yh_bar = rl.gradient(mse, y, yh)
    value, (g, _) = rl.withgradient(mse, y, yh)
    out, back = rl.pullback(mse, y, yh)
    back(1.0)
    rl.pushforward(mse, y, yh)
    (J,) = rl.jacobian(np.cumsum, y)
    H = rl.hessian(cubes, y)
    print(value, y_bar, yh_bar, g, out, J, H, rl.hvp(cubes, y, y))
    print(rl.derivative(area)(2.0), rl.diaghessian(cubes, y))
    bars, _ = rl.gradient(loss, Layer(np.eye(2), np.zeros(2)), y)
    print(bars, rl.has_rrule(area), rl.which_rule(mse_cr, y, yh), rl.unthunk(rl.thunk(lambda: y)))
    params = rl.Params([y])
    grads = rl.gradient(lambda: mse(y, yh), params)
    print(grads, rl.ProjectTo(y)(yh), rl.canonicalize(rl.Tangent(Layer)), rl.ZeroTangent())


def judgements(y: Array, yh: Array) -> bool:
    report = rl.rule_check(mse_cr, y, yh, seconds=2.0)
    comparison = rl.compare(mse, mse_cr, y, yh)
    print(report.verdict, report.to_json(), comparison.to_markdown(), rl.rule_lint(mse_cr))
    test_rrule(mse_cr, y, yh)
    proof = prove(area)
    print(proof.verdict, sym_check(area, 2.0), scan_stability(area), derive_rule(area))
    duel = gradient_duel(mse, mse_cr, y, yh, rounds=5)
    print(duel.verdict, duel.ratio, profile(mse, y, yh), grad_check(mse, y, yh), check_all([]))
    export([area], "module", "rules.py")
    print(rl.rule_stub(area), rl.adjoint_source(area, 2.0), rl.refresh())
    rl.undo_rule(area)
    return bool(report)


try:
    gradients(np.ones(2), np.zeros(2))
except rl.RuleLabError as error:
    print(error.found, error.fixes, error.read)
