"""What somebody puts in the place of a function of NumPy is his own; the built-in rules mean NumPy's."""

import copy
import math
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.registry import DEFAULT
from rulelab.rules.signatures import types_of
from rulelab.rules.targets import name_of
from rulelab.rulesets.catalogue import tables
from rulelab.tangents.structural import Tangent
from rulelab.tangents.thunks import unthunk

OURS = str(Path(rl.__file__).parent)
X = np.array([0.7, -1.2, 2.1])
original_sin, original_exp = np.sin, math.exp


class Replaced(Exception):
    """Raised by what stands in the place of every function."""


def one_point_of_each():
    """One call of every function that has a rule: (rule, target, args, kwargs)."""
    seen = set()
    for table in tables():
        for target, args, kwargs in table.points:
            found = DEFAULT.ask(target, types_of(args), "rrule")
            rule = getattr(found, "rule", None)
            if rule is not None and rule.differentiable and name_of(target) not in seen:
                seen.add(name_of(target))
                yield rule, target, args, kwargs


def ones_for(y):
    if isinstance(y, (tuple, list)):
        return Tangent(type(y), *map(ones_for, y))
    return np.ones_like(y, dtype=np.result_type(y, float)) if isinstance(y, np.ndarray) else 1.0


def forced(rule, args, kwargs, seed):
    _, pullback = rule.function(*args, **kwargs)
    return [unthunk(bar) for bar in pullback(seed)]


def test_no_rule_asks_numpy_by_name_at_run_time():
    """With every function of NumPy and `math` replaced by one that raises, no line of ours meets one."""
    calls = []
    for rule, target, args, kwargs in one_point_of_each():
        try:
            with np.errstate(all="ignore"):
                seed = ones_for(rule.function(*copy.deepcopy(args), **copy.deepcopy(kwargs))[0])
                forced(rule, copy.deepcopy(args), copy.deepcopy(kwargs), seed)
        except Exception:  # it takes another seed
            continue
        calls.append((rule, target, copy.deepcopy(args), copy.deepcopy(kwargs), seed))
    assert len(calls) > 300

    def stand_in(*args, **kwargs):
        raise Replaced

    met, found = [], 0
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        for module in (np, math):
            for name, value in list(vars(module).items()):
                if callable(value) and not isinstance(value, type) and not name.startswith("_"):
                    patch.setattr(module, name, stand_in)
        for rule, target, args, kwargs, seed in calls:
            try:
                forced(rule, args, kwargs, seed)
                found += 1
            except Exception as error:  # NumPy's own code goes by these names, too
                last = traceback.extract_tb(error.__traceback__)
                where = [frame for frame in last if frame.filename != __file__][-1]
                if where.filename.startswith(OURS):
                    met.append(f"{name_of(target)}: {where.filename}:{where.lineno} {where.line}")
    assert not met, "\n".join(met)
    assert found > 200


def half_sin(x):
    return 0.5 * original_sin(x)


def logged_exp(x):
    return original_exp(x) + x


def test_a_replaced_function_is_what_it_is(monkeypatch):
    """`np.sin = f` is differentiated as f where the author calls it, in both modes; `np.cos` as ever."""

    def sines(x):
        return np.sum(np.sin(x) * x)

    def cosines(x):
        return np.sum(np.cos(x) * x)

    def powers(x):
        return math.exp(x) * math.exp(2 * x)

    before = [rl.gradient(f, X)[0] for f in (sines, cosines)]
    right = [0.5 * (np.cos(X) * X + np.sin(X)), np.cos(X) - np.sin(X) * X]
    assert np.allclose(before[1], right[1])
    monkeypatch.setattr(np, "sin", half_sin)
    monkeypatch.setattr(math, "exp", logged_exp)
    for f, wanted in zip((sines, cosines), right):
        assert np.allclose(rl.gradient(f, X)[0], wanted)
        assert np.allclose(rl.pushforward(f, X)(np.ones(3)), np.sum(wanted))
    second = rl.gradient(lambda x: np.sum(rl.gradient(cosines, x)[0]), X)[0]
    assert np.allclose(second, -2 * original_sin(X) - np.cos(X) * X)
    step = 1e-6
    slope = (powers(0.3 + step) - powers(0.3 - step)) / (2 * step)
    assert rl.gradient(powers, 0.3)[0] == pytest.approx(slope)
    monkeypatch.undo()
    assert np.array_equal(rl.gradient(sines, X)[0], before[0])


@pytest.mark.parametrize("name", ["sum", "matmul", "zeros", "asarray", "add", "shape", "where", "reshape"])
def test_what_sums_up_cotangents_is_not_replaced_either(monkeypatch, name):
    """The functions that every gradient needs may be replaced by others that raise."""

    def f(x, m):
        return ((m @ x) ** 2).sum() + x[0] * x[[0, 1]].mean()

    m = np.outer(X, X)
    wanted = rl.gradient(f, X, m)

    def raises(*args, **kwargs):
        raise Replaced

    monkeypatch.setattr(np, name, raises)
    for one, other in zip(rl.gradient(f, X, m), wanted):
        assert (one == other).all()
    assert name in vars(np) and sys.modules["numpy"] is np
