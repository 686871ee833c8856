"""Each public name of NumPy and SciPy is answered, or its call is refused for a reason: classes, objects that
can be called, their methods, and those of frozen distributions as well.
"""

import importlib

import numpy as np
import pytest

stats = pytest.importorskip("scipy.stats")

from differentiated import OF_SCIPY  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls import foreign  # noqa: E402
from rulelab.errors import ForeignCallError  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rules.targets import resolve  # noqa: E402

MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", *OF_SCIPY)
DISTRIBUTIONS = (stats.rv_continuous, stats.rv_discrete)


def called_of(owner):
    """What can be called of a module or an object, by name."""
    names = [name for name in getattr(owner, "__all__", dir(owner)) if not name.startswith("_")]
    found = {name: getattr(owner, name, None) for name in names}
    return {name: value for name, value in found.items() if callable(value)}


def is_answered(value):
    """Whether something is stated of it, other than a reason."""
    target, bound = resolve(value)
    stand_in = DEFAULT.stand_in(target)
    stands = stand_in is not None and stand_in.answers(bound)
    return DEFAULT.entry(target) is not None or stands or DEFAULT.mutator(target)


def without_reason(called, monkeypatch):
    """The names whose call is refused, and nothing else is said of it, whatever the arguments."""
    monkeypatch.setattr(foreign, "own_error", lambda *call: None)
    found = []
    for name, value in called.items():
        try:
            if not is_answered(value):
                rl.gradient(lambda x, value=value: value(x), 0.7)
        except ForeignCallError as error:
            if "): " not in str(error).splitlines()[0]:
                found.append(name)
        except Exception:
            pass  # what is followed has errors of its own for such a call
    return found


@pytest.mark.parametrize("module", MODULES)
def test_each_name_of_a_module(module, monkeypatch):
    """Its functions, classes and objects."""
    called = called_of(importlib.import_module(module))
    assert len(called) > 10
    assert without_reason(called, monkeypatch) == []


def test_a_name_without_a_reason_is_found(monkeypatch):
    """Of two functions in C the one of which nothing is stated."""
    called = {"crc32": importlib.import_module("zlib").crc32, "poly": np.poly, "sin": np.sin}
    assert without_reason(called, monkeypatch) == ["crc32"]


def distributions():
    """The names of objects in `scipy.stats` that have methods."""
    found = {name: getattr(stats, name) for name in stats.__all__}
    return [
        name
        for name, value in found.items()
        if isinstance(value, DISTRIBUTIONS) or type(value).__module__ == "scipy.stats._multivariate"
    ]


def methods_of(distribution):
    """What can be called of it; a class that some have within is none of these."""
    return {name: value for name, value in called_of(distribution).items() if not isinstance(value, type)}


@pytest.mark.every(24)
@pytest.mark.parametrize("name", distributions())
def test_each_method_of_a_distribution(name, monkeypatch):
    """With the object that is called to freeze it."""
    value = getattr(stats, name)
    assert without_reason({name: value, **methods_of(value)}, monkeypatch) == []


FROZEN = {
    "norm": (0.3, 1.2),
    "gamma": (2.0,),
    "poisson": (0.7,),
    "alpha": (2.0,),
    "multivariate_normal": (np.zeros(2), np.eye(2)),
    "dirichlet": (np.ones(2),),
    "wishart": (3, np.eye(2)),
    "multinomial": (3, (0.4, 0.6)),
    "matrix_normal": (np.eye(2),),
}


@pytest.mark.parametrize("name", FROZEN)
def test_each_method_of_a_frozen_distribution(name, monkeypatch):
    """Which has methods of another class."""
    frozen = getattr(stats, name)(*FROZEN[name])
    assert without_reason(methods_of(frozen), monkeypatch) == []

