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


PLACES = np.array([0, 1])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.var(x, 0, None, None, 1),
        lambda x: np.mean(x, 0, None, None, True),
        lambda x: np.median(x, 0, None, False, True),
        lambda x: np.quantile(x, 0.3, 0, None, False, "lower"),
        lambda x: np.take(x, PLACES, 0, None, "clip"),
        lambda x: np.choose(PLACES, (x[0], x[1]), None, "clip"),
        lambda x: np.max(x, 0, None, True),
        lambda x: x.sum(0, None, None, True),
        lambda x: np.logaddexp.reduce(x, 0, None, None, True),
        lambda x: np.nanvar(x, 0, None, None, 1),
        lambda x: np.cumsum(x, 0, None, None),
        lambda x: np.add(x, x, None),
    ],
)
def test_no_array_for_results_keeps_its_place(f):
    """None for `out`, in front of further arguments, in forward mode: these stay where they are."""
    x = np.array([[1.0, 4.0], [3.0, 1.5]])
    x_dot = np.array([[0.5, -1.0], [2.0, 0.25]])
    wanted = (f(x + 1e-6 * x_dot) - f(x - 1e-6 * x_dot)) / 2e-6
    np.testing.assert_allclose(rl.pushforward(f, x)(x_dot), wanted, rtol=1e-7, atol=1e-7)


QS = [0.2, 0.9]


class Options:
    q = 0.2

    def __init__(self):
        self.qs = [0.2, 0.9]


def in_a_dict(x):
    d = {"q": 0.2, "x": x}
    return np.quantile(d["x"], d["q"])


def in_a_list(x):
    a, q = [x, [0.2, 0.9]]
    return np.sum(np.quantile(a, q))


def by_names(x):
    words = {"q": [0.2, 0.9], "axis": 0}
    return np.sum(np.quantile(x, **words))


def made_inside(x):
    return np.sum(np.quantile(x, list(np.linspace(0.0, 1.0, 3))))


def captured(q):
    return lambda x: np.sum(np.quantile(x, q))


def collected(x):
    qs = []
    for k in range(3):
        qs.append(k / 4)
    return np.sum(np.quantile(x, qs))


@pytest.mark.parametrize(
    "f",
    [in_a_dict, in_a_list, by_names, made_inside, captured(0.2), captured([0.2, 0.9]), collected]
    + [lambda x: np.sum(np.quantile(x, QS)), lambda x: np.sum(np.quantile(x, Options().qs))]
    + [lambda x: np.quantile(x, Options.q)],
)
def test_constants_beside_what_varies_are_taken(f):
    """In structures that hold both, too, and at the second order: they are refused where they vary."""
    x = np.array([1.0, 4.0, 2.0])
    (x_bar,) = rl.gradient(f, x)
    wanted = [(f(x + 1e-6 * e) - f(x - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(x_bar, wanted, atol=1e-8)
    assert rl.pushforward(f, x)(x) == pytest.approx(np.dot(wanted, x))

    def weighed(x):
        return f(x) * np.sum(x * x)

    second = np.outer(x_bar, 2 * x) + np.outer(2 * x, x_bar) + 2 * f(x) * np.eye(3)
    np.testing.assert_allclose(rl.hessian(weighed, x), second, rtol=1e-12)
    np.testing.assert_allclose(rl.hessian_reverse(weighed, x), second, rtol=1e-12)
