"""What lies in an argument is named in proofs as in checks by numbers, and as one writes it in Python."""

import re
from dataclasses import dataclass

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.registry import Registry
from rulelab.symbolic import prove

NO = rl.NoTangent()


@dataclass
class Body:
    mass: float
    speed: float


def points_by(factor):
    def f(points, w):
        return w * sum(x * y**2 for x, y in points)

    def rule(points, w):
        def back(y_bar):
            here = [(y_bar * w * y**2, factor * y_bar * w * x * y) for x, y in points]
            return NO, here, y_bar * sum(x * y**2 for x, y in points)

        return f(points, w), back

    return f, rule, ([(1.0, 2.0), (3.0, 0.5)], 2.0)


def layers_by(factor):
    def f(params, x):
        return params["W"] @ x * params["scale"]

    def rule(params, x):
        def back(y_bar):
            W = factor * np.outer(y_bar, x) * params["scale"]
            scale = np.sum(y_bar * (params["W"] @ x))
            return NO, {"W": W, "scale": scale}, params["W"].T @ y_bar * params["scale"]

        return f(params, x), back

    return f, rule, ({"W": np.array([[1.0, 2.0]]), "scale": 0.5}, np.array([3.0, -1.0]))


def bodies_by(factor):
    def f(bodies):
        return sum(b.mass * b.speed**2 for b in bodies)

    def rule(bodies):
        def back(y_bar):
            return NO, [rl.Tangent(Body, mass=y_bar * b.speed**2, speed=factor * y_bar * b.mass * b.speed)
                        for b in bodies]  # fmt: skip

        return f(bodies), back

    return f, rule, ([Body(1.0, 2.0), Body(3.0, 0.5)],)


@pytest.mark.parametrize(
    "made, right, names",
    [
        (points_by, 2, {"points[0][0]", "points[1][1]", "w"}),
        (layers_by, 1, {"params['W'][0, 0]", "params['scale']"}),
        (bodies_by, 2, {"bodies[0].mass", "bodies[1].speed"}),
    ],
    ids=["tuples", "dicts", "objects"],
)
@pytest.mark.parametrize("factor", [1, 2])
def test_a_proof_names_what_an_argument_holds_as_python_does(made, right, names, factor):
    """In its headline, formulas and counterexample, as text, HTML and LaTeX, and so does a check."""
    f, rule, at = made(factor)
    report = prove(f, rule, at=at)
    assert report.verdict.word == ("PROVED" if factor == right else "REFUTED")
    text = report.details()
    assert all(name in text for name in names)
    for shown in (text, report._repr_html_(), report.to_latex(), str(report.to_dict())):
        assert not re.search(r"(points|bodies)\.\d|params\.(W|scale)", shown)
    assert r"\mathrm{points}}_{0,1}" in report.to_latex() or made is not points_by
    registry = Registry()
    rl.rrule_for(f, registry=registry)(rule)
    judged = {check.name for check in rl.rule_check(f, *at, registry=registry).checks}
    assert {f"cotangent of {re.sub(r'.[0-9],.*', '', name)}" for name in names} <= judged


def test_drawn_arguments_are_named_so_too():
    """Also while the proof runs."""
    registry = Registry()

    def energy(bodies: list[Body]):
        return sum(b.mass * b.speed**2 for b in bodies)

    @rl.rrule_for(energy, registry=registry)
    def energy_rrule(bodies):
        def back(y_bar):
            return NO, [rl.Tangent(Body, mass=y_bar * b.speed**2, speed=2 * y_bar * b.mass * b.speed)
                        for b in bodies]  # fmt: skip

        return energy(bodies), back

    heard = []
    report = prove(energy, registry=registry, heard=heard.append)
    assert report.verdict.word == "PROVED"
    assert "bodies[0].mass" in report.verdict.scope
    assert not any(re.search(r"bodies\.\d", str(one)) for one in [report, *heard])
