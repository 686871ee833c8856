"""Tests of proofs for arguments and results that hold others: dicts, tuples, lists and objects."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.registry import Registry
from rulelab.symbolic import prove
from rulelab.symbolic.structured import Holder, Place, read_parts

NO = rl.NoTangent()


class Line(NamedTuple):
    slope: float
    offset: float


@dataclass(frozen=True)
class Spring:
    stiffness: float
    rest: float

    def force(self, x):
        return -self.stiffness * (x - self.rest)


class Moments(NamedTuple):
    mean: float
    spread: float


def layer(p, x):
    return np.tanh(p["W"] @ x + p["b"])


def layer_with(factor):
    def rule(p, x):
        y = layer(p, x)

        def back(y_bar):
            h = y_bar * (1 - y**2)
            return NO, rl.Tangent(dict, {"W": np.outer(h, x), "b": factor * h}), p["W"].T @ h

        return y, back

    return rule


def on_line(line: Line, x):
    return line.slope * x + line.offset


def on_line_with(factor):
    def rule(line, x):
        def back(y_bar):
            total = np.sum(y_bar)
            return NO, rl.Tangent(Line, slope=np.sum(y_bar * x), offset=factor * total), line.slope * y_bar

        return on_line(line, x), back

    return rule


def work(spring: Spring, x, dx):
    return spring.force(x) * dx


def work_with(factor):
    def rule(spring, x, dx):
        k, x0 = spring.stiffness, spring.rest

        def back(y_bar):
            by_spring = rl.Tangent(Spring, stiffness=-y_bar * (x - x0) * dx, rest=factor * y_bar * k * dx)
            return NO, by_spring, -y_bar * k * dx, -y_bar * k * (x - x0)

        return work(spring, x, dx), back

    return rule


def joined(parts):
    """Of a list of vectors."""
    return np.concatenate([2.0 * part for part in parts])


def joined_with(factor):
    def rule(parts):
        cuts = np.cumsum([len(part) for part in parts])[:-1]
        return joined(parts), lambda y_bar: (NO, [factor * bar for bar in np.split(y_bar, cuts)])

    return rule


def rotated(state, angle):
    x, y = state
    return x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)


def rotated_with(factor):
    def rule(state, angle):
        (x, y), (c, s) = state, (np.cos(angle), np.sin(angle))

        def back(y_bar):
            g, h = y_bar
            by_angle = np.sum(g * (-x * s - y * c) + h * (x * c - y * s))
            return NO, rl.Tangent(tuple, c * g + s * h, factor * s * g + c * h), by_angle

        return rotated(state, angle), back

    return rule


def polar(x, y):
    return {"r": np.sqrt(x**2 + y**2 + 1), "area": x * y}


def polar_with(factor):
    def rule(x, y):
        value = polar(x, y)

        def back(y_bar):
            g, h = y_bar["r"] / value["r"], y_bar["area"]
            return NO, g * x + h * y, factor * g * y + h * x

        return value, back

    return rule


def moments(x):
    return Moments(np.mean(x), np.mean((x - np.mean(x)) ** 2))


def moments_with(factor):
    def rule(x):
        y = moments(x)

        def back(y_bar):
            return NO, (y_bar.mean + factor * y_bar.spread * (x - y.mean)) / len(x) * np.ones(len(x))

        return y, back

    return rule


def picked(scores, label):
    return scores[label] - np.log(np.sum(np.exp(scores)))


def picked_with(factor):
    def rule(scores, label):
        def back(y_bar):
            bar = -factor * np.exp(scores) / np.sum(np.exp(scores))
            bar[label] += 1
            return NO, y_bar * bar, NO

        return picked(scores, label), back

    return rule


VECTOR = np.array([1.0, -2.0, 0.5])
CASES = {
    "a dict": (layer, layer_with, 1.0, "p['b']", ({"W": np.ones((2, 3)), "b": np.ones(2)}, VECTOR)),
    "a NamedTuple": (on_line, on_line_with, 1.0, "line.slope, line.offset", (Line(2.0, 1.0), VECTOR)),
    "an object with a method": (work, work_with, 1.0, "spring.rest", (Spring(2.0, 0.5), 1.5, 0.25)),
    "a list": (joined, joined_with, 2.0, "parts.1", ([VECTOR, np.ones(2)],)),
    "a tuple": (rotated, rotated_with, -1.0, "state[0]", ((VECTOR, VECTOR + 1), 0.5)),
    "a dict that is made": (polar, polar_with, 1.0, "", (1.5, 2.0)),
    "a NamedTuple that is made": (moments, moments_with, 2.0, "", (VECTOR,)),
    "an index beside an array": (picked, picked_with, 1.0, "", (VECTOR, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("f, make, right, named, args", CASES.values(), ids=CASES)
def test_what_is_held_is_proved_given_nothing_and_given_arguments(f, make, right, named, args):
    """The headline, or the scope, names what was judged; a rule that is wrong in one part is refuted."""
    for given in ({}, {"at": args}):
        verdict = prove(f, registry=registered(f, make(right)), **given).verdict
        assert verdict.word == "PROVED", verdict.sentence()
        assert named in verdict.scope or f is joined  # a list of arrays of one length is an array, too
        assert len(verdict.sentence()) <= 110
        spoilt = prove(f, registry=registered(f, make(right + 1.0)), **given).verdict
        assert spoilt.word == "REFUTED", spoilt.sentence()


def registered(f, rule):
    registry = Registry()
    rl.rrule_for(f, registry=registry)(rule)
    return registry


def test_the_code_of_a_counterexample_runs():
    """It makes the argument anew, and gets at the part that is wrong."""
    for f, make, right, args in ((layer, layer_with, 1.0, CASES["a dict"][-1]), (work, work_with, 1.0, None)):
        args = args or CASES["an object with a method"][-1]
        registry = registered(f, make(right + 1.0))
        shown = prove(f, at=args, registry=registry).verdict.counterexample
        asked = f"rl.rrule({f.__name__}, "
        *lines, last = shown.code.replace(asked, "rule(").split("\n")
        space = {"np": np, "Spring": Spring, "rule": make(right + 1.0)}
        exec("\n".join(lines), space)
        assert eval(last, space) == pytest.approx(float(shown.found))


def with_cotangent(x_bar):
    return lambda p: (p["a"] * p["b"], lambda y_bar: (NO, x_bar(y_bar, p)))


def product(p):
    return p["a"] * p["b"]


@pytest.mark.parametrize(
    "x_bar, word",
    [
        (lambda y_bar, p: {"a": y_bar * p["b"], "b": y_bar * p["a"]}, "PROVED"),
        (lambda y_bar, p: {"a": y_bar * p["b"]}, "REFUTED"),  # what is left out is zero
        (lambda y_bar, p: {"a": y_bar * p["b"], "b": y_bar * p["a"], "c": y_bar}, "REFUTED"),
        (lambda y_bar, p: rl.ZeroTangent(), "REFUTED"),
        (lambda y_bar, p: y_bar * p["b"], "UNSUPPORTED"),
        (lambda y_bar, p: (y_bar * p["b"], y_bar * p["a"]), "UNSUPPORTED"),
    ],
)
def test_what_a_rule_may_give_for_what_holds_others(x_bar, word):
    verdict = prove(product, at=({"a": 2.0, "b": 3.0},), registry=registered(product, with_cotangent(x_bar)))
    assert verdict.verdict.word == word


def test_a_value_of_other_parts_is_refuted():
    def renamed(x, y):
        value, back = polar_with(1.0)(x, y)
        return {"r": value["r"], "field": value["area"]}, back

    assert prove(polar, renamed, at=(1.0, 2.0)).verdict.word == "REFUTED"


def test_what_is_read_can_be_built_again():
    nodes, names, values = read_parts(
        ({"w": [1.0, (2.0, "a")], "n": 3}, Line(4.0, 5.0), {"k": 1}), ("p", "q", "r")
    )
    assert names == ["p.n", "p.w.0", "p.w.1.0", "p.w.1.1", "q.slope", "q.offset", "r"]
    assert isinstance(nodes[0], Holder) and nodes[2] == Place(6)
    built = [node.built(values) if isinstance(node, Holder) else values[node.number] for node in nodes]
    assert built == [{"w": [1.0, (2.0, "a")], "n": 3}, Line(4.0, 5.0), {"k": 1}]
    assert nodes[1].text([str(value) for value in values]) == "Line(slope=4.0, offset=5.0)"


@dataclass
class Range:
    low: float
    high: float

    def __post_init__(self):
        if not self.low < self.high:
            raise ValueError("low is below high")


def position(x, bounds):
    return (x - bounds.low) / abs(bounds.high - bounds.low)


def position_with(sign):
    def rule(x, bounds):
        y, width = position(x, bounds), bounds.high - bounds.low

        def back(y_bar):
            bounds_bar = rl.Tangent(Range, low=(y - 1) / width * y_bar, high=sign * y / width * y_bar)
            return NO, y_bar / width, bounds_bar

        return y, back

    return rule


def test_no_object_is_tried_that_its_class_refuses():
    """A rule is judged for objects that pass the checks of their class, although no constructor is called."""
    report = prove(position, position_with(-1), at=(0.3, Range(-0.5, 2.0)))
    assert report.verdict.word == "PROVED", str(report)
    assert prove(position, position_with(1), at=(0.3, Range(-0.5, 2.0))).verdict.word == "REFUTED"


def layer_written_to(when):
    def rule(p, x):
        y, back = layer_with(1)(p, x)
        if when == "rule":
            p["b"] = p["b"] * 1.0

        def writing(y_bar):
            if when == "pullback":
                p["b"] = p["b"] * 1.0
            return back(y_bar)

        return y, writing

    return rule


@pytest.mark.parametrize("when", ["rule", "pullback"])
def test_a_rule_that_writes_to_a_dict_is_refuted(when):
    """What stands in an argument has to be there afterwards, whatever its numbers."""
    at = ({"W": np.array([[0.3, -0.2], [0.1, 0.4]]), "b": np.array([0.2, 0.7])}, np.array([0.5, -0.3]))
    report = prove(layer, layer_written_to(when), at=at)
    assert report.verdict.word == "REFUTED"
    assert "writes to its argument p['b']" in report.verdict.reason


def stretched(x, how):
    return x * len(how)


def stretched_rule(x, how):
    return stretched(x, how), lambda y_bar: (NO, y_bar * len(how), NO)


def test_what_is_held_is_in_the_headline_however_long():
    """A long argument that was held is named in the headline: of others nothing is proved."""
    report = prove(stretched, stretched_rule, at=(2.0, "a text of some length that no headline holds"))
    assert report.verdict.word == "PROVED" and "how held" in report.verdict.kinds


def likelihood(risk, events):
    """Log-likelihood; events: 1 for a death and 0 for censored."""
    total = 0.0
    for i in range(len(risk)):
        if events[i]:
            total += risk[i] - math.log(sum([math.exp(r) for r in risk]))
    return total


def likelihood_rule(risk, events):
    dead, hazard = np.array(events, dtype=float), np.exp(risk)
    share = hazard / np.sum(hazard)
    return likelihood(risk, events), lambda y_bar: (NO, y_bar * (dead - np.sum(dead) * share), NO)


def test_flags_that_are_held_are_not_all_unset():
    """A sum over those that are set would be empty, and its proof one of nothing."""
    report = prove(likelihood, likelihood_rule)
    assert report.verdict.word == "PROVED" and "True" in report.verdict.scope


def test_a_forward_rule_alone_is_said_to_be_that():
    """Nobody is told to write a rule that is there: a proof is not for forward rules."""
    registry = Registry()
    rl.frule_for(stretched, registry=registry)(lambda dots, x, how: (x * len(how), dots[1] * len(how)))
    for at in (None, (2.0, "abc")):
        with pytest.raises(rl.errors.RuleError, match="has only a forward rule") as raised:
            prove(stretched, registry=registry, at=at)
        assert "judge it by numbers" in str(raised.value)
