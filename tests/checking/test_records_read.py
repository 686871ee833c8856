"""Lists of objects or dicts, one after the other: the layers of a network, the bodies of a system."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.reading.records_read import lists_of_records

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


class Affine(NamedTuple):
    gain: np.ndarray
    shift: np.ndarray


@dataclasses.dataclass
class Charge:
    amount: float
    place: np.ndarray


def through(layers: list[Affine], h: np.ndarray):
    for k, layer in enumerate(layers):
        h = h @ layer.gain + layer.shift
        h = np.sin(h) if k + 1 < len(layers) else h
    return h


def through_with(order, slope=np.cos):
    def rule(layers, h):
        tape = []
        for layer in layers:
            z = h @ layer.gain + layer.shift
            tape.append((h, z))
            h = np.sin(z)

        def pullback(z_bar):
            bars = []
            for k in reversed(range(len(layers))):
                before, _ = tape[k]
                bars.append(Affine(np.outer(before, z_bar), z_bar))
                z_bar = layers[k].gain @ z_bar
                z_bar = z_bar * slope(tape[k - 1][1]) if k else z_bar
            return NO, bars[::order], z_bar

        return z, pullback

    return rule


def by_keys(blocks, h):
    for block in blocks:
        h = h + np.tanh(block["A"] @ h + block["c"])
    return h


def by_keys_with(skip):
    def rule(blocks, h):
        tape = []
        for block in blocks:
            t = np.tanh(block["A"] @ h + block["c"])
            tape.append((h, t))
            h = h + t

        def pullback(y_bar):
            bars = []
            for block, (before, t) in zip(blocks[::-1], tape[::-1]):
                z_bar = y_bar * (1 - t * t)
                bars.insert(0, {"A": np.outer(z_bar, before), "c": z_bar})
                y_bar = skip * y_bar + block["A"].T @ z_bar
            return NO, bars, y_bar

        return h, pullback

    return rule


def potential(charges: list[Charge], at: np.ndarray):
    return sum(c.amount * np.sum((at - c.place) ** 2) for c in charges)


def potential_with(sign):
    def rule(charges, at):
        def pullback(y_bar):
            away = [at - c.place for c in charges]
            bars = [
                rl.Tangent(Charge, amount=y_bar * d @ d, place=sign * 2 * y_bar * c.amount * d)
                for c, d in zip(charges, away)
            ]
            return NO, bars, sum(2 * y_bar * c.amount * (at - c.place) for c in charges)

        return potential(charges, at), pullback

    return rule


CASES = [
    (through, through_with(-1), through_with(1)),
    (through, through_with(-1), through_with(-1, np.sin)),
    (by_keys, by_keys_with(1), by_keys_with(0)),
    (potential, potential_with(-1), potential_with(1)),
]


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize(("f", "right", "wrong"), CASES)
def test_a_rule_for_a_list_of_records_is_judged_without_arguments(f, right, wrong):
    report = rule_check(f, registry=registry_with(f, right))
    assert report.verdict == "right", report
    assert rule_check(f, registry=registry_with(f, wrong)).verdict == "wrong"


def test_what_is_no_list_of_records_is_none():
    def shown(names, sizes):
        return [name.upper() for name in names], [size.T for size in sizes]

    def nested(params, x):
        return params["first"]["W"] @ x + params["first"]["W"].sum()

    assert not lists_of_records(shown, ())
    assert not lists_of_records(nested, ())


@dataclasses.dataclass
class Curve:
    level: float
    tau: float


def discounted(t, curve):
    return curve.level * np.exp(-t / curve.tau)


def discounted_with(sign):
    """The rule asks the object for its class, which neither text names."""

    def rule(t, curve):
        y, tau = discounted(t, curve), curve.tau

        def pullback(y_bar):
            level_bar, tau_bar = np.sum(y_bar * y) / curve.level, np.sum(y_bar * y * t) / tau**2
            curve_bar = rl.Tangent(type(curve), level=level_bar, tau=tau_bar)
            return rl.NoTangent(), sign * y_bar * y / tau, curve_bar

        return y, pullback

    return rule


@pytest.mark.slow
def test_a_class_of_the_namespace_with_what_is_read_is_taken_where_none_is_named():
    for sign, verdict in ((-1, "right"), (1, "wrong")):
        report = rule_check(discounted, registry=registry_with(discounted, discounted_with(sign)))
        assert report.verdict == verdict, str(report)
