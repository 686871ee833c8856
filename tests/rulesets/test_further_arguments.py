"""The arguments for which a rule has no derivative: numbers that vary there are refused, never lost."""

import inspect
import warnings

import numpy as np
import pytest
from forms import REFUSED, usual_points
from rule_points import Points, outputs

import rulelab as rl
from rulelab.errors import RuleLabError

FORMS = {
    "a number": lambda t: t,
    "an array": lambda t: np.array([1.0, 1.0]) * t,
    "a list": lambda t: [t],
    "a longer list": lambda t: [t, 1.25 * t],
    "a tuple": lambda t: (t, 1.25 * t),
    "a list of lists": lambda t: [[t]],
    "pairs": lambda t: ((t, 1.25 * t),),
    "among others": lambda t: [0.1, t, 0.9],
}
AT = 0.4


def parameters(target):
    """The names of the parameters after the first, but of the one for results."""
    try:
        every = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for i, p in enumerate(every) if p.kind in kinds and i > 0 and p.name != "out"]


def calls(case):
    """A call with a number that varies in the place of each argument but the first, in each form."""
    for i in range(1, len(case.args)):
        for form, make in FORMS.items():
            yield f"argument {i}, {form}", lambda t, i=i, make=make: _called(case, t, i, make)
    for name in parameters(case.target):
        for form, make in FORMS.items():
            yield f"{name}=, {form}", lambda t, name=name, make=make: _called(case, t, name, make)


def _called(case, t, place, make):
    args, kwargs = list(case.args), dict(case.kwargs)
    if isinstance(place, int):
        args[place] = make(t)
    else:
        kwargs[place] = make(t)
    return total(case.target(*args, **kwargs))


def total(y):
    """The sum of the floats in a result."""
    if isinstance(y, (tuple, list)):
        return sum(total(part) for part in y)
    return np.sum(np.abs(y) ** 2) if np.asarray(y).dtype.kind in "fc" else 0.0


def slope(f):
    """By differences, where the function has one; None where it does not take the number, or leaps."""
    try:
        y = f(AT)
        if not outputs(y) or not np.isfinite(y):
            return None
        steps = [(f(AT + h) - f(AT - h)) / (2 * h) for h in (1e-4, 1e-5)]
        sides = [(f(AT + 1e-6) - y) / 1e-6, (y - f(AT - 1e-6)) / 1e-6]
    except Exception:
        return None
    settled = np.allclose(*steps, rtol=1e-3, atol=1e-6) and np.allclose(*sides, rtol=1e-2, atol=1e-3)
    return steps[1] if settled else None


def faults(case):
    """What is lost: a number, where differences say another."""
    for what, f in calls(case):
        wanted = slope(f)
        if wanted is None:
            continue
        for mode, ask in {
            "gradient": lambda f=f: rl.gradient(f, AT)[0],
            "pushforward": lambda f=f: rl.pushforward(f, AT)(1.0),
        }.items():
            try:
                found = ask()
            except (RuleLabError, *REFUSED):
                continue
            except Exception as error:
                yield f"{what}: {mode}: {type(error).__name__}: {error}"[:300]
                continue
            found = 0.0 if found is None else found
            if not np.allclose(found, wanted, rtol=1e-3, atol=1e-4):
                yield f"{what}: {mode}: {found} for {wanted}"


def first_points():
    """One call of each function of the tables."""
    return [Points(points.name, points.cases[:1]) for points in usual_points()]


@pytest.mark.every(6)
@pytest.mark.parametrize("points", first_points(), ids=str)
def test_numbers_in_any_argument_are_differentiated_or_refused(points):
    """Alone, in arrays, in lists and tuples; by position and by name."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wrong = [f"{case}: {fault}" for case in points.cases for fault in faults(case)]
    assert not wrong, "\n".join(wrong)
