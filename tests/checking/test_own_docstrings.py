"""A copy of a function is judged by what the function says: it only calls it."""

import dataclasses

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.calling.subjects import codes_of
from rulelab.checking.reading.own_docstrings import docstring_of
from rulelab.checking.reading.stated_kinds import kinds_said
from rulelab.checking.reading.texts import text_of
from rulelab.rules.registry import Registry
from rulelab.rules.signatures import meant_types

NO = rl.NoTangent()


@dataclasses.dataclass
class Body:
    mass: float
    speed: float


def labelled(logits, labels):
    """Mean of the log weights; labels are class indices, one for each row."""
    return np.mean(logits[np.arange(len(labels)), labels])


def labelled_rrule(logits, labels):
    def back(y_bar):
        bar = np.zeros(logits.shape)
        np.add.at(bar, (np.arange(len(labels)), labels), y_bar / len(labels))
        return NO, bar, NO

    return labelled(logits, labels), back


def energy(body: Body):
    return body.mass * body.speed**2 / 2


def energy_rrule(body):
    def back(y_bar):
        return NO, rl.Tangent(Body, mass=y_bar * body.speed**2 / 2, speed=y_bar * body.mass * body.speed)

    return energy(body), back


def damped(t, rate, depth=3):
    """With a positive rate and a depth of at most four."""
    for _ in range(depth):
        t = t * np.exp(-rate) + np.log(rate)
    return t


def damped_rrule(t, rate, depth=3):
    s = np.exp(-rate)
    value, by_t, by_rate = t, 1.0, 0.0
    for _ in range(depth):
        value, by_t, by_rate = value * s + np.log(rate), by_t * s, (by_rate - value) * s + 1 / rate
    return value, lambda y_bar: (NO, by_t * y_bar, by_rate * y_bar, NO)


@pytest.mark.parametrize(
    "f, rule", [(labelled, labelled_rrule), (energy, energy_rrule), (damped, damped_rrule)],
    ids=["words", "annotations", "code"],
)  # fmt: skip
def test_a_copy_is_judged_at_the_arguments_of_its_function(f, rule):
    """Found by its docstring, its annotations and its code, with the same verdict and the same notes."""
    reports = []
    for judged in (f, rl.twin(f, f"{f.__name__}_cr")):
        registry = Registry()
        rl.rrule_for(judged, registry=registry)(rule)
        reports.append(rule_check(judged, registry=registry, depth="quick"))
    own, copied = reports
    assert own.verdict == copied.verdict == "right"
    assert own.notes == tuple(note.replace("_cr", "") for note in copied.notes)


def test_the_readers_read_the_function_of_a_copy():
    copy = rl.twin(rl.twin(labelled, "labelled_cr"), "labelled_cr_cr")
    assert docstring_of(copy) == labelled.__doc__ and kinds_said(copy) == kinds_said(labelled)
    assert text_of(copy) == text_of(labelled) and codes_of(copy) == codes_of(labelled)
    assert meant_types(rl.twin(energy, "energy_cr")) == {"body": Body}
