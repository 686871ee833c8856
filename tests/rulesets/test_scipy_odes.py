"""Solutions of differential equations by what they begin with, by times, and by what the right side holds."""

import math

import numpy as np
import pytest

integrate = pytest.importorskip("scipy.integrate")

from implicit_slopes import agree, agree_again, is_refused  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls.pullbacks import Pullbacks  # noqa: E402
from rulelab.errors import NotDifferentiableError, NotImplementedTangentError  # noqa: E402
from rulelab.rulesets import scipy_trajectories  # noqa: E402
from rulelab.tangents.algebra import scale  # noqa: E402

solve_ivp = integrate.solve_ivp
FINE = {"rtol": 1e-9, "atol": 1e-10}
TIMES = np.linspace(0.0, 1.0, 3)


def hunt(t, y, a, b):
    return [a * y[0] - b * y[0] * y[1], -y[1] + b * y[0] * y[1] * math.cos(t)]


def by_method(method, **tolerances):
    def f(p):
        found = solve_ivp(
            hunt, (0, 1), [1.0, 0.5], args=(p[0], p[1]), t_eval=TIMES, method=method, **(tolerances or FINE)
        )
        return np.sum(found.y**2)

    return f


def decay(p, **options):
    return solve_ivp(lambda t, y: -p * y, (0, 1), [1.0], **options).y[0, -1]


def beginning(a):
    return solve_ivp(lambda t, y: -a * y, (0, 1), [a], t_eval=[0.0]).y[0, 0]


def switched(p):
    return solve_ivp(lambda t, y: -p * y if t < p / 4 else y, (0, 1), [1.0]).y[0, -1]


def switched_by_y(p):
    return solve_ivp(lambda t, y: -p * y if y[0] > 0.5 else p * y, (0, 1), [1.0]).y[0, -1]


def told(p):
    return integrate.odeint(lambda y, t: -p * y, 1.0, [0.0, 1.0], full_output=True)[0][1, 0]


def driven(p):
    return solve_ivp(lambda t, y: -y + p * np.cos(20 * t), (0, 2), [1.0], **FINE).y[0, -1]


ODEINT = {"rtol": 1e-10, "atol": 1e-10}


def by_odeint(p):
    f = lambda y, t, a, b: hunt(t, y, a, b)
    return np.sum(integrate.odeint(f, [1.0, 0.5], TIMES, args=(p[0], p[1]), **ODEINT) ** 2)


def by_odeint_and_times(p):
    return np.sum(integrate.odeint(lambda t, y: -p * y, p, [0.0, p, 2 * p], tfirst=True, **ODEINT) ** 2)


def held(p, y0=(1.0, 0.5)):
    return solve_ivp(lambda t, y: np.array(hunt(t, y, *p)), (0, 1), y0, **FINE).y[:, -1]


P = [0.7, 1.2]
CASES = {
    "RK45": (by_method("RK45"), P),
    "DOP853": (by_method("DOP853"), P),
    "LSODA": (by_method("LSODA"), P),
    "Radau": (by_method("Radau", rtol=1e-7, atol=1e-8), P),
    "BDF": (by_method("BDF", rtol=1e-7, atol=1e-8), P),
    "captured": (lambda p: held(p)[1], P),
    "begun with": (lambda y0: np.dot(held([0.7, 1.2], y0), [1.0, 2.0]), P),
    "between times": (
        lambda s: np.sum(
            solve_ivp(lambda t, y: np.array(hunt(t, y, 0.7, 1.2)), (s[0], s[1]), [1.0, 0.5], **FINE).y[:, -1]
        ),
        P,
    ),
    "backwards": (
        lambda s: np.sum(
            solve_ivp(lambda t, y: np.array(hunt(t, y, 0.7, s[1])), (s[1], s[0]), [1.0, 0.5], **FINE).y[:, -1]
        ),
        P,
    ),
    "at times": (
        lambda s: np.sum(
            solve_ivp(
                lambda t, y: np.array(hunt(t, y, 0.7, 1.2)), (0, 3.0), [1.0, 0.5], t_eval=s, **FINE
            ).y ** 2
        ),
        P,
    ),
    "driven fast": (driven, 0.7),
    "several states at once": (
        lambda a: solve_ivp(
            lambda t, y: np.stack([-a * y[0], y[0, :]]), (0, 1), [1.0, 2.0], vectorized=True, **FINE
        ).y[1, -1],
        0.7,
    ),
    "no way to go": (lambda a: decay(1.0, t_eval=[0.0]) * a + beginning(a), 0.7),
    "odeint": (by_odeint, P),
    "odeint by all": (by_odeint_and_times, 0.7),
}  # fmt: skip


@pytest.mark.every(17)
@pytest.mark.parametrize("name", CASES)
def test_a_trajectory(name):
    """By every method, forwards and backwards in time, in both modes."""
    assert agree(*CASES[name], 0.05, 1e-5)


def test_as_exact_as_the_solution():
    """With the tolerances that SciPy takes by itself, slopes have as many digits as the solution."""
    f = lambda k: solve_ivp(lambda t, y: -k * y, (0, 1), [1.0]).y[0, -1]
    off = abs(f(1.3) / math.exp(-1.3) - 1)
    for slope in (rl.gradient(f, 1.3)[0], rl.pushforward(f, 1.3)(1.0)):
        assert abs(slope / -math.exp(-1.3) - 1) < max(3e-3, 5 * off)


def test_a_second_derivative_leads_back_one_equation(monkeypatch):
    """That of the solution beside its tangent, and not that of the solution once more."""
    sizes, right = [], scipy_trajectories._adjoint
    monkeypatch.setattr(
        scipy_trajectories, "_adjoint", lambda *given: sizes.append(len(given[-1])) or right(*given)
    )
    f = lambda k: solve_ivp(lambda t, y: -k * y * y, (0, 0.5), [1.0]).y[0, -1] ** 2
    k = 1.3
    found = rl.gradient(lambda k: rl.pushforward(f, k)(1.0), k)[0]
    assert sizes == [2]
    assert abs(found - 6 * 0.25 / (1 + 0.5 * k) ** 4) < 1e-3


@pytest.mark.every(17, slow=True)
@pytest.mark.parametrize("name", CASES)
def test_the_second_derivative_of_each_trajectory(name):
    """By every method and by all that it depends on, against differences of first gradients."""
    assert agree_again(*CASES[name], 0.05, 1e-4)


@pytest.mark.campaign
def test_the_second_derivative_of_a_trajectory():
    """The equations for the slopes have slopes."""
    assert agree_again(lambda k: solve_ivp(lambda t, y: -k * y * y, (0, 1), [1.0], **FINE).y[0, -1], 1.3)


def of_the_beginning(change):
    """`_adjoint` with another cotangent of the beginning."""

    def changed(right):
        def wrong(*given):
            pieces, of_y0 = right(*given)
            return pieces, change(of_y0)

        return wrong

    return changed


WRONG = {
    "what the right side holds": ("_along", lambda right: lambda *given: scipy_trajectories.NO),
    "its sign": ("_along", lambda right: lambda *given: scale(-1.0, right(*given))),
    "its size": ("_along", lambda right: lambda *given: scale(0.99, right(*given))),
    "the last piece alone": (
        "_along",
        lambda right: lambda back, solved, pieces, rtol: right(back, solved, pieces[:1], rtol),
    ),
    "the weights of the nodes": ("_WEIGHTS", lambda right: np.full(5, 0.41)),
    "the nodes' number": ("_WEIGHTS", lambda right: np.concatenate([right[:4], [0.0]])),
    "the beginning's size": ("_adjoint", of_the_beginning(lambda bar: 1.01 * bar)),
    "the beginning's sign": ("_adjoint", of_the_beginning(lambda bar: -bar)),
    "no beginning": ("_adjoint", of_the_beginning(lambda bar: 0 * bar)),
    "back without the right side": (
        "_adjoint",
        lambda right: lambda back, t0, times, solved, how, ys_bar: (
            right(back, t0, times, solved, how, ys_bar)[0],
            ys_bar.sum(1),
        ),
    ),
}


@pytest.mark.every(3)
@pytest.mark.parametrize("broken", WRONG)
def test_a_wrong_rule_is_caught(monkeypatch, broken):
    """In the cotangent of what the right side holds, or of the beginning: by its number, or because no number
    of steps is enough for it.
    """
    part, wrong = WRONG[broken]
    monkeypatch.setattr(scipy_trajectories, "MOST_HALVED", 1000)
    f = lambda p: solve_ivp(lambda t, y: -p * y, (0, 1), [p], t_eval=[0.5, 1.0], **FINE).y[0].sum()
    assert agree(f, 0.7)
    monkeypatch.setattr(scipy_trajectories, part, wrong(getattr(scipy_trajectories, part)))
    try:
        assert not agree(f, 0.7)
    except NotDifferentiableError as refused:
        assert "more than 1000 steps" in str(refused)


@pytest.mark.first(1)
@pytest.mark.parametrize("speed", [20.0, 200.0])
@pytest.mark.parametrize("tolerances", [{}, {"rtol": 1e-6, "atol": 1e-8}])
def test_what_neither_solution_shows(speed, tolerances):
    """A parameter that moves the right side faster than the solution, and its multiplier, move: its slope is
    integrated to the tolerances all the same.
    """

    def f(p):
        found = solve_ivp(lambda t, y: -y + p * math.cos(speed * t), (0, 2), [1.0], **tolerances)
        return found.y[0, -1]

    slope = (math.cos(2 * speed) + speed * math.sin(2 * speed) - math.exp(-2)) / (1 + speed**2)
    assert abs(rl.gradient(f, 0.0)[0] - slope) < 1e-4 * abs(slope)


def test_what_takes_too_many_steps_is_refused(monkeypatch):
    """With where and what to do, and no number that is a guess."""
    monkeypatch.setattr(scipy_trajectories, "MOST_HALVED", 20)
    f = lambda p: solve_ivp(lambda t, y: -y + p * math.cos(200.0 * t), (0, 2), [1.0]).y[0, -1]
    with pytest.raises(rl.NotDifferentiableError, match="more than 20 steps at rtol=0.001") as refused:
        rl.gradient(f, 0.0)
    assert "larger rtol" in str(refused.value)


FORMS = {
    "array": lambda t, y, k: np.array([-k * y[0], k * y[0] * y[1]]),
    "list": lambda t, y, k: [-k * y[0], k * y[0] * y[1]],
    "tuple": lambda t, y, k: (-k * y[0], k * y[0] * y[1]),
    "a constant in it": lambda t, y, k: [-k * y[0] + k, 0.25],
    "a whole number in it": lambda t, y, k: [-k * y[0] + k, 1],
    "itself": lambda t, y, k: y,
    "constant": lambda t, y, k: [0.5, 1.0],
    "by turns": lambda t, y, k: FORMS["array" if t < 0.5 else "list"](t, y, k),
    "nested": lambda t, y, k: [[-k * y[0], k * y[0] * y[1]]][0],
}


@pytest.mark.first(2)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", ["args", "captured", "odeint"])
def test_what_a_right_side_gives(form, how):
    """In whatever form its numbers come, the first and second derivatives are those of the array."""

    def solved(right):
        def f(p):
            if how == "odeint":
                right_side = lambda y, t, k: right(t, y, k)
                return np.sum(integrate.odeint(right_side, [p, 0.5], [0.0, 1.0], args=(p,))[-1] ** 2)
            fun, args = (right, (p,)) if how == "args" else ((lambda t, y: right(t, y, p)), None)
            return np.sum(solve_ivp(fun, (0, 1), [p, 0.5], t_eval=[1.0], args=args, **LOOSE).y ** 2)

        return f

    right = FORMS[form]
    f, g = solved(right), solved(lambda t, y, k: np.array(right(t, y, k)) * 1.0)
    assert abs(rl.gradient(f, 0.7)[0] - rl.gradient(g, 0.7)[0]) < 1e-10
    assert abs(rl.pushforward(f, 0.7)(1.0) - rl.pushforward(g, 0.7)(1.0)) < 1e-10
    assert abs(rl.hessian(f, 0.7) - rl.hessian(g, 0.7)) < 1e-9


LOOSE = {"rtol": 1e-4, "atol": 1e-6}


def test_a_buffer_that_a_right_side_fills_again():
    """What it gave before is not what it gives now."""
    kept = np.zeros(2)

    def fill(t, y):
        kept[:] = (-y[0], y[0] * y[1])
        return kept

    def of(right):
        return lambda y0: np.sum(solve_ivp(right, (0, 1), [y0, 0.5], t_eval=[0.5, 1.0], **LOOSE).y ** 2)

    fresh = of(lambda t, y: np.array([-y[0], y[0] * y[1]]))
    for slope in (lambda f: rl.gradient(f, 0.7)[0], lambda f: rl.pushforward(f, 0.7)(1.0)):
        try:
            found = slope(of(fill))
        except rl.RuleLabError:
            continue  # refused
        assert abs(found - slope(fresh)) < 1e-10


def test_what_is_missing_stays_missing():
    """A right side that holds a parameter without a slope: that of another is there, its own is refused."""
    special = pytest.importorskip("scipy.special")

    def f(p):
        return solve_ivp(lambda t, y: -p[0] * y + special.jv(p[1], 1.0), (0, 1), [1.0]).y[0, -1]

    slope = rl.gradient(lambda k: f([k, 2.5]), 0.7)[0]
    assert abs(slope - (f([0.75, 2.5]) - f([0.65, 2.5])) / 0.1) < 1e-2
    with pytest.raises(NotImplementedTangentError, match="order"):
        rl.gradient(lambda nu: f([0.7, nu]), 2.5)


def test_a_second_derivative_asks_little(monkeypatch):
    """Of a right side that captures what varies: no more than a handful of questions at each point."""
    asked, right = [], Pullbacks.find_target

    def f(k):
        return solve_ivp(lambda t, y: np.array([-k * y[0], k * y[0] * y[1]]), (0, 0.5), [1.0, 0.5]).y[0, -1]

    k = 1.3
    rl.hessian(f, k)
    points, pulled = [], scipy_trajectories.pulled
    monkeypatch.setattr(Pullbacks, "find_target", lambda *given: asked.append(1) or right(*given))
    monkeypatch.setattr(scipy_trajectories, "pulled", lambda *given: points.append(1) or pulled(*given))
    rl.hessian(f, k)
    assert len(asked) < 7 * len(points)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (switched, "jumps at t = 0.5"),
        (switched_by_y, "jumps at"),
        (lambda p: decay(p, dense_output=True), "dense_output="),
        (lambda p: decay(p, events=lambda t, y: y[0]), "events="),
        (lambda p: solve_ivp(lambda t, y: p * y**2, (0, 1), [1.0]).y[0, -1], "did not converge"),
        (lambda p: solve_ivp(lambda t, y: -p * y, (0, 1), [1j]).y[0, -1].real, "complex"),
        (told, "full_output"),
    ],
)  # fmt: skip
def test_what_has_no_rule_is_refused_by_name(f, words):
    """Right sides that jump, events, dense output, a solver that gave up."""
    with np.errstate(all="ignore"):
        is_refused(f, 2.0, words, NotDifferentiableError)


def test_times_that_the_solver_has_chosen_are_refused():
    """They move with the parameters; forwards their slopes are NaN, and those of the ends are there."""
    inside = lambda p: np.sum(solve_ivp(lambda t, y: -p * y, (0, 1), [1.0]).y)
    with pytest.raises(NotDifferentiableError, match="t_eval="):
        rl.gradient(inside, 2.0)
    assert np.isnan(rl.pushforward(inside, 2.0)(1.0))
    end = lambda s: solve_ivp(lambda t, y: -y, (0, s), [1.0]).t[-1]
    assert rl.gradient(end, 2.0)[0] == rl.pushforward(end, 2.0)(1.0) == 1.0
