"""Each name of `scipy.integrate` and `scipy.optimize` has a rule, is constant, or is refused for a reason."""

import numpy as np
import pytest

integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")

import rulelab as rl  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rulesets import scipy_integrate, scipy_optimize  # noqa: E402
from rulelab.rulesets.catalogue import integral_tables, solver_tables  # noqa: E402

# What holds limits or what was found: no function, and built by the solvers themselves or of numbers.
HOLDERS = {"Bounds", "OptimizeResult", "RootResults"}
MODULES = [
    (integrate, scipy_integrate, integral_tables),
    (optimize, scipy_optimize, solver_tables),
]


def public(module):
    """The functions and classes of a module, but for warnings and errors."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {
        name: value
        for name, value in found.items()
        if callable(value) and not (isinstance(value, type) and issubclass(value, Exception))
    }


@pytest.mark.parametrize(("module", "lists", "tables"), MODULES)
def test_no_name_is_forgotten(module, lists, tables):
    """A name is on one of the lists."""
    known = {
        name
        for name, value in public(module).items()
        if DEFAULT.entry(value) is not None or DEFAULT.stand_in(value) is not None
    }
    assert set(public(module)) - known - set(lists.REFUSED) - HOLDERS == set()
    assert known & set(lists.REFUSED) == set()
    assert all(len(reason) > 10 for reason in lists.REFUSED.values())


@pytest.mark.parametrize(("module", "lists", "tables"), MODULES)
def test_both_modes_have_the_same_rules(module, lists, tables):
    """The parts that stand-ins are made of have both."""
    for table in tables():
        reverse = {id(target) for target, rule in table.rules if rule.mode == "rrule"}
        assert reverse == {id(target) for target, rule in table.rules if rule.mode == "frule"}, table.name


@pytest.mark.parametrize(("module", "lists", "tables"), MODULES)
def test_all_of_them_are_covered(module, lists, tables):
    """So that no answer which was given before the rules were read has become old."""
    known = {id(value) for value in vars(module).values()}
    for table in tables():
        for target, _ in [*table.rules, *table.stand_ins]:
            of_results = target.__qualname__ == "_RichResult.__getattr__"
            assert id(target) in known or of_results or target.__module__.startswith("rulelab"), target


def slope(f):
    """A gradient by what f captures."""
    return lambda: rl.gradient(lambda a: np.sum(np.asarray(f(a), dtype=float)), 0.7)


@pytest.mark.parametrize(
    "asked",
    [
        slope(lambda a: integrate.nquad(lambda x: a * x, [[0, 1]])[0]),
        slope(lambda a: integrate.newton_cotes([0.0, a, 2.0])[0]),
        slope(lambda a: integrate.RK45(lambda t, y: a * y, 0, [1.0], 1).y),
        slope(lambda a: integrate.ode(lambda t, y: a * y).set_initial_value([1.0]).integrate(1.0)),
        slope(lambda a: optimize.leastsq(lambda x: x - a, [0.0])[0]),
        slope(lambda a: optimize.fmin(lambda x: (x[0] - a) ** 2, [0.0], disp=False)),
        slope(lambda a: optimize.linprog([1.0], [[-1.0]], [-a]).x),
        slope(lambda a: optimize.nnls(np.eye(1), [a])[0]),
        slope(lambda a: optimize.brute(lambda x: (x[0] - a) ** 2, [(0, 1)])),
        slope(lambda a: optimize.approx_fprime([1.0], lambda x: a * x[0], 1e-6)),
        slope(lambda a: optimize.rosen_der(np.array([a, 1.0]))),
        slope(lambda a: optimize.newton_krylov(lambda x: x - a, [0.0])),
    ],
)
def test_what_is_refused_is_so_by_a_typed_error(asked):
    """Never None, and never zero."""
    with pytest.raises(RuleLabError):
        asked()


def test_an_assignment_is_a_constant():
    """Who gets what does not move; what it costs does."""
    costs = np.array([[4.0, 1.0], [2.0, 3.0]])
    found = rl.gradient(lambda c: np.sum(c[optimize.linear_sum_assignment(c)]), costs)[0]
    np.testing.assert_array_equal(found, [[0.0, 1.0], [1.0, 0.0]])


def test_a_result_is_read_as_ever():
    """By attribute and by key; one that is made without rules as well."""
    found = optimize.root_scalar(lambda x: x - 0.5, bracket=(0, 1))
    assert rl.gradient(lambda a: a * found.root * found["root"], 2.0) == (0.25,)
    with pytest.raises(AttributeError, match="nothing"):
        rl.gradient(lambda a: optimize.root(lambda x: x - a, 0.5).nothing, 2.0)


def test_parameters_that_nobody_hands_in_are_refused():
    """In the implicit style a solver does not lose what its function reads."""
    w = np.array([2.0])
    loss = lambda: optimize.brentq(lambda x: x**3 - w[0], 0.0, 5.0)
    with pytest.raises(RuleLabError):
        rl.gradient(loss, rl.Params([w]))
