"""What `jacobian`, `hessian` and their kin promise."""

import copy
import math
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import all_cases, finite_differences, is_real  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.ad import forward, matrices  # noqa: E402

BOTH = ["reverse", "forward"]
ALL = [*BOTH, None]

A32 = np.array([[1, 2], [3, 4], [5, 6]])
X = np.array([0.5, -1.5, 2.0])
RNG = np.random.default_rng(5)


def near(found, wanted, tolerance=1e-8):
    """Equal in shape, and in numbers but for rounding."""
    wanted = np.asarray(wanted)
    assert np.shape(found) == wanted.shape
    assert np.allclose(found, wanted, rtol=tolerance, atol=tolerance), f"{found}\nnot\n{wanted}"
    return True


# --- the examples of the reference ---


@pytest.mark.parametrize("mode", ALL)
def test_first_index_is_the_output(mode):
    """Rows are the numbers of y, columns those of x."""
    (J,) = rl.jacobian(lambda a: 100 * a[:3] ** 2, np.arange(1, 8), mode=mode)
    near(J, np.hstack([np.diag([200.0, 400.0, 600.0]), np.zeros((3, 4))]))


@pytest.mark.parametrize("mode", ALL)
def test_a_number_has_a_vector(mode):
    """∂y[k]/∂x of a number x is one-dimensional."""
    by_a, by_x = rl.jacobian(lambda a, x: a**2 * x, np.array([1, 2, 3]), 1, mode=mode)
    near(by_a, np.diag([2.0, 4.0, 6.0])), near(by_x, [1.0, 4.0, 9.0])


@pytest.mark.parametrize("mode", ALL)
def test_an_axis_has_zeros(mode):
    """Nothing depends on an int that is an axis; being a number, it has zeros and not None."""
    by_a, by_d = rl.jacobian(lambda a, d: np.prod(a, axis=d), A32, 1, mode=mode)
    near(by_a, [[2, 1, 0, 0, 0, 0], [0, 0, 4, 3, 0, 0], [0, 0, 0, 0, 6, 5]])
    assert by_d.tolist() == [0.0, 0.0, 0.0] and by_d.dtype == float


@pytest.mark.parametrize("mode", ALL)
def test_a_string_has_none(mode):
    """An argument that is neither a number nor an array of numbers has no entry."""
    by_a, by_s = rl.jacobian(lambda a, s: a ** len(s), np.array([1, 2, 3]), "str", mode=mode)
    near(by_a, np.diag([3.0, 12.0, 27.0]))
    assert by_s is None


@pytest.mark.parametrize("mode", ALL)
def test_a_tuple_has_none_where_gradient_has_an_entry(mode):
    """The two differ in this, as the reference says."""

    def f(a, t):
        return np.sum(a * t[0]) + t[1]

    a, t = np.array([1, 2, 3]), (4, 5)
    by_a, by_t = rl.jacobian(f, a, t, mode=mode)
    near(by_a, [[4.0, 4.0, 4.0]])
    assert by_t is None
    assert rl.gradient(f, a, t)[1] == (6.0, 1.0)


# --- shapes and types ---

CASES = [
    (lambda x: x * 2.0, 3.0, (1,)),
    (lambda x: np.array([x, x * x]), 3.0, (2,)),
    (lambda x: np.array([[x, x * x, 1.0]]), 3.0, (3,)),
    (lambda x: np.sum(x), X, (1, 3)),
    (lambda x: x * x, X, (3, 3)),
    (lambda x: x[:2], X, (2, 3)),
    (lambda x: np.outer(x, x), X, (9, 3)),
    (lambda x: x.sum(axis=0), np.ones((2, 4)), (4, 8)),
    (lambda x: x * 2.0, np.array(3.0), (1, 1)),
    (lambda x: x * 2.0, np.zeros(0), (0, 0)),
    (lambda x: np.sum(x), np.zeros((0, 3)), (1, 0)),
    (lambda x: x[:0], X, (0, 3)),
]


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("f, x, shape", CASES)
def test_shapes(f, x, shape, mode):
    """A row for each number of y, a column for each of x, a vector where x is a number."""
    y, (J,) = rl.withjacobian(f, x, mode=mode)
    assert J.shape == shape and J.dtype == float
    (shaped,) = rl.jacobian(f, x, mode=mode, shaped=True)
    assert shaped.shape == np.shape(y) + np.shape(x)
    assert np.array_equal(shaped.ravel(), J.ravel())


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_is_that_of_c(order, mode):
    """However x and y lie in memory, their numbers are counted row by row."""
    x = np.array(RNG.standard_normal((2, 3)), order=order)
    (J,) = rl.jacobian(lambda x: x.T, x, mode=mode)
    wanted = np.zeros((6, 6))
    for i in range(2):
        for j in range(3):
            wanted[j * 2 + i, i * 3 + j] = 1.0
    near(J, wanted)


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    "x, scale, dtype",
    [
        (np.ones(2, np.float32), 2.0, np.float32),
        (np.ones(2, np.float32), np.float64(2.0), np.float64),
        (np.ones(2), 2.0, np.float64),
        (np.ones(2, int), 2, np.float64),
        (np.ones(2, np.uint8), 2, np.float64),
        (np.ones(2), 2j, np.complex128),
        (np.ones(2, np.complex64), 2.0, np.complex64),
        (3, 2, np.float64),
        (np.float32(3), 2, np.float32),
        (3 + 1j, 2, np.complex128),
    ],
)
def test_dtypes(x, scale, dtype, mode):
    """The precision of y and x; ints have floats."""
    (J,) = rl.jacobian(lambda x: x * scale, x, mode=mode)
    assert J.dtype == dtype
    near(J, np.squeeze(scale * np.eye(np.size(x))) if np.ndim(x) else [scale], 1e-5)


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    "other",
    [
        "text",
        None,
        True,
        np.True_,
        np.array([True, False]),
        (1.0, 2.0),
        [1.0],
        {"a": 1.0},
        math.sin,
        np.array("a"),
    ],
    ids=repr,
)
def test_any_other_argument_has_none(other, mode):
    """Also where a gradient by it could be had."""
    by_x, by_other = rl.jacobian(lambda x, other: x * 2.0, X, other, mode=mode)
    near(by_x, 2.0 * np.eye(3))
    assert by_other is None


@pytest.mark.parametrize("mode", BOTH)
def test_what_nothing_depends_on_has_zeros(mode):
    """Unlike `gradient`, which has None."""
    found = rl.jacobian(lambda x, y, z: x * x, X, 2.0, np.ones((2, 2)), mode=mode)
    assert [j.shape for j in found] == [(3, 3), (3,), (3, 4)]
    assert not found[1].any() and not found[2].any()
    (constant,) = rl.jacobian(lambda x: np.ones(2), X, mode=mode)
    assert constant.shape == (2, 3) and not constant.any()


@pytest.mark.parametrize("mode", BOTH)
def test_the_result_is_the_callers_own(mode):
    """Writable, and no two entries share memory, nor with an argument or the value."""
    x = X.copy()
    val, found = rl.withjacobian(lambda x, y, z: x * y + z, x, x, 2.0, mode=mode)
    arrays = [x, val, *found]
    for number, a in enumerate(found):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for k, b in enumerate(arrays) if k != number + 2)
    near(found[0], np.diag(X)), near(found[1], np.diag(X))
    assert np.array_equal(x, X)


def test_withjacobian_is_a_named_tuple():
    """`val` is what the function returns, `grad` what `jacobian` does."""
    found = rl.withjacobian(lambda x: x * x, X)
    val, grad = found
    assert found._fields == ("val", "grad") and found.val is val and found.grad is grad
    assert np.array_equal(val, X * X)
    near(grad[0], np.diag(2 * X))


@pytest.mark.parametrize("mode", BOTH)
def test_argnums(mode):
    """One entry for each argument that is named, in that order, as `gradient` has it."""

    def f(x, y, z):
        return x * y + z

    args = (X, 2.0, X)
    every = rl.jacobian(f, *args, mode=mode)
    for numbers in (0, 1, -1, (2, 0), [1], range(2)):
        found = rl.jacobian(f, *args, argnums=numbers, mode=mode)
        wanted = [numbers] if isinstance(numbers, int) else numbers
        assert isinstance(found, tuple) and len(found) == len(wanted)
        assert all(np.array_equal(j, every[k]) for j, k in zip(found, wanted, strict=True))
    with pytest.raises(rl.RuleLabError, match="argnums=3"):
        rl.jacobian(f, *args, argnums=3, mode=mode)


@pytest.mark.parametrize("mode", BOTH)
def test_keywords_are_constants(mode):
    """They reach the function and have no entry."""
    (J,) = rl.jacobian(lambda x, *, k: k * x, X, k=3.0, mode=mode)
    near(J, 3.0 * np.eye(3))


def test_no_arguments():
    """There is nothing to differentiate by, so the tuple is empty."""
    assert rl.jacobian(lambda: np.ones(2)) == ()


# --- complex numbers ---


@pytest.mark.parametrize("mode", BOTH)
def test_complex_output_of_a_real_argument(mode):
    """∂Re y/∂x + i ∂Im y/∂x: nothing of y is lost."""
    (J,) = rl.jacobian(lambda x: np.exp(1j * x), X, mode=mode)
    near(J, np.diag(1j * np.exp(1j * X)))
    (number,) = rl.jacobian(lambda x: (1.0 + 2.0j) * x, 3.0, mode=mode)
    near(number, [1 + 2j])


@pytest.mark.parametrize("mode", BOTH)
def test_real_output_of_a_complex_argument(mode):
    """A row is the gradient, ∂/∂Re + i ∂/∂Im."""
    z = np.array([1 + 2j, -0.5j])
    (J,) = rl.jacobian(lambda z: np.abs(z) ** 2, z, mode=mode)
    near(J, np.diag(2 * z))
    near(J[0], rl.gradient(lambda z: (np.abs(z) ** 2)[0], z)[0])


@pytest.mark.parametrize("mode", BOTH)
def test_holomorphic_functions_have_the_complex_derivative(mode):
    """Not its conjugate: J @ z_dot is y_dot."""
    z = np.array([1 + 2j, 0.3 - 0.5j])
    (J,) = rl.jacobian(lambda z: np.exp(z) * z[0], z, mode=mode)
    wanted = np.diag(np.exp(z) * z[0])
    wanted[:, 0] += np.exp(z)
    near(J, wanted)


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("f", [np.conj, lambda z: z * np.conj(z), lambda z: np.real(z) + 0j])
def test_functions_that_are_not_holomorphic_are_refused(f, mode):
    """One complex matrix would lose half of the derivative."""
    with pytest.raises(rl.NotDifferentiableError, match="not holomorphic"):
        rl.jacobian(f, np.array([1 + 2j, 0.5j]), mode=mode)


# --- the choice of the mode ---


@pytest.fixture
def sweeps_and_runs(monkeypatch):
    """How many reverse sweeps and how many runs with tangents there were; the latter give zeros."""
    counts = {"reverse": 0, "forward": 0}
    plain = matrices.sweeps

    def sweeps(*args):
        y, back = plain(*args)

        def counted(seed):
            counts["reverse"] += 1
            return back(seed)

        return y, counted

    def jvp(f, args, tangents, kwargs=None):
        counts["forward"] += 1
        return f(*args, **(kwargs or {})), None

    monkeypatch.setattr(matrices, "sweeps", sweeps)
    monkeypatch.setattr(forward, "jvp", jvp)
    return counts


@pytest.mark.parametrize(
    "f, args, rows, columns",
    [
        (lambda x: x[:2] * 2, (X,), 2, 0),
        (lambda x: np.outer(x, x), (X,), 0, 3),
        (lambda x: x * 2, (X,), 3, 0),
        (lambda x, y: x * y, (X, 2.0), 3, 0),
        (lambda x, y: np.outer(x, x) * y, (X, 2.0), 0, 4),
        (lambda x: x * 1j, (X,), 0, 3),
        (lambda x: np.abs(x), (X + 1j,), 3, 0),
    ],
)
def test_the_mode_with_fewer_sweeps_is_taken(f, args, rows, columns, sweeps_and_runs):
    """Rows or columns, a complex number counting twice; at a tie reverse mode."""
    rl.jacobian(f, *args)
    assert sweeps_and_runs == {"reverse": rows, "forward": columns}


def test_the_mode_can_be_given(sweeps_and_runs):
    """Whatever the sizes."""
    rl.jacobian(lambda x: x[:2] * 2, X, mode="forward")
    assert sweeps_and_runs == {"reverse": 0, "forward": 3}
    rl.jacobian(lambda x: np.outer(x, x), X, mode="reverse")
    assert sweeps_and_runs == {"reverse": 9, "forward": 3}


def test_only_what_is_asked_for_counts(sweeps_and_runs):
    """An argument outside of `argnums` has no columns."""
    rl.jacobian(lambda x, y: x * y, X, 2.0, argnums=1)
    assert sweeps_and_runs == {"reverse": 0, "forward": 1}


def test_there_is_no_other_mode():
    """A slip of the pen is no default."""
    with pytest.raises(rl.RuleLabError, match="not 'backward'"):
        rl.jacobian(lambda x: x, X, mode="backward")
    with pytest.raises(rl.RuleLabError, match="not 'backward'"):
        rl.hessian(lambda x: np.sum(x), X, mode="backward")


# --- agreement ---


def jacobian_by_pullbacks(f, args, kwargs, number):
    """The seeds one by one, as a user would."""
    y, back = rl.pullback(f, *copy.deepcopy(args), **kwargs)
    rows = []
    for k in range(np.size(y)):
        seed = np.zeros(np.shape(y))
        seed.reshape(-1)[k] = 1.0
        row = back(seed if np.ndim(y) else float(seed))[number]
        rows.append(np.zeros(np.size(args[number])) if row is None else np.ravel(row))
    return np.array(rows).reshape(np.size(y), np.size(args[number]))


def numeric_positions(case):
    return [
        (args, number)
        for args in case.points
        for number in case.active(args)
        if is_real(args[number]) and not isinstance(args[number], (list, tuple, dict))
    ]


TAKEN = [case for case in all_cases() if numeric_positions(case)]


FORWARD_REFUSES = {"syntax.starred_displays": "a set of numbers that vary is counted"}


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.name)
@pytest.mark.every(59)
def test_the_jacobian_is_the_pullbacks_stacked(case, mode):
    """Of every function of the corpus, by each argument that is a number or an array."""
    if mode == "forward" and case.name in FORWARD_REFUSES:
        pytest.skip(FORWARD_REFUSES[case.name])
    for args, number in numeric_positions(case):
        found = rl.jacobian(case.function, *copy.deepcopy(args), argnums=number, mode=mode, **case.kwargs)[0]
        wanted = jacobian_by_pullbacks(case.function, args, case.kwargs, number)
        if not isinstance(args[number], np.ndarray):
            wanted = wanted[:, 0]
        assert found.shape == wanted.shape
        tolerance = 1e-5 if found.dtype == np.float32 else 1e-9
        assert np.allclose(found, wanted, rtol=tolerance, atol=tolerance)


def vector(x, w):
    return np.tanh(w @ x) * np.sum(x * x)


def table(x, w):
    return np.outer(x, w.sum(axis=1)) / (1.0 + x[0] ** 2)


@pytest.mark.parametrize("mode", ALL)
@pytest.mark.parametrize("f", [vector, table])
def test_jacobians_agree_with_finite_differences(f, mode):
    """Number by number of the output, by both arguments."""
    args = (X, RNG.standard_normal((2, 3)))
    y = f(*args)
    found = rl.jacobian(f, *args, mode=mode)
    for number in (0, 1):
        for k in range(y.size):
            numeric, _ = finite_differences(lambda *args, k=k: f(*args).flat[k], args, number)
            near(found[number][k], numeric, 1e-7)


# --- what is refused ---


class Pair(NamedTuple):
    a: float
    b: float


@pytest.mark.parametrize("mode", BOTH)
@pytest.mark.parametrize(
    "f, shown",
    [
        (lambda x: (x, x), "tuple"),
        (lambda x: [x[0], x[1]], "list"),
        (lambda x: Pair(x[0], x[1]), "Pair"),
        (lambda x: {"a": x}, "dict"),
        (lambda x: None, "None"),
        (lambda x: "text", "str"),
        (lambda x: x > 0, "bool"),
        (lambda x: bool(x[0] > 0), "bool"),
    ],
)
def test_an_output_without_numbers_is_refused(f, shown, mode):
    """With what was found, and for a tuple with what to do."""
    with pytest.raises(rl.NotDifferentiableError, match="returns a number or an array of numbers") as caught:
        rl.jacobian(f, X, mode=mode)
    assert shown in caught.value.found and "the Jacobian of <lambda>" in str(caught.value)
    if shown in ("tuple", "list"):
        assert "np.stack" in str(caught.value)


def test_a_keyword_that_is_a_parameter_too_is_refused():
    """Nobody could tell whose `mode` it is."""
    for name, value in (("mode", "forward"), ("shaped", True), ("argnums", 0)):
        with pytest.raises(rl.KeywordError, match=name):
            rl.jacobian(lambda x, mode=1, shaped=2, argnums=3: x, X, **{name: value})
    with pytest.raises(rl.KeywordError, match="mode"):
        rl.hessian(lambda x, mode=1: np.sum(x), X, mode="reverse")
    near(rl.jacobian(lambda x, shaped=2.0: shaped * x, X)[0], 2 * np.eye(3))


def test_array_writes_point_to_forward_mode():
    """Reverse mode refuses them; the message says which mode does not."""

    def f(x):
        y = np.zeros(3)
        y[0] = x[0] * 2.0
        return y

    with pytest.raises(rl.MutationError, match='mode="forward"'):
        rl.jacobian(f, X)
    with pytest.raises(rl.MutationError) as caught:
        rl.jacobian(f, X, mode="reverse")
    assert 'mode="forward"' not in str(caught.value)


def test_array_writes_in_forward_mode():
    """The array of tangents is written beside it."""

    def f(x):
        y = np.zeros(3)
        y[0] = x[0] * 2.0
        y[1:] = x[:2] ** 2
        return y

    near(rl.jacobian(f, X, mode="forward")[0], [[2, 0, 0], [2 * X[0], 0, 0], [0, 2 * X[1], 0]])


def test_an_argument_that_is_written_to_is_fresh_for_each_column(monkeypatch):
    """Forward mode calls the function often, and each call sees the arguments as they were given."""
    seen = []

    def jvp(f, args, tangents, kwargs=None):
        seen.append(args[0].copy())
        args[0][:] = 7.0
        return args[0] * 0.0, None

    monkeypatch.setattr(forward, "jvp", jvp)
    rl.jacobian(lambda x: x * 0.0, X, mode="forward")
    assert len(seen) == 3 and all(np.array_equal(x, X) for x in seen)


def test_a_function_that_is_not_the_same_each_time_has_no_columns(monkeypatch):
    """They would come from different functions."""
    values = iter(range(100))
    monkeypatch.setattr(forward, "jvp", lambda f, args, tangents, kwargs: (float(next(values)), 0.0))
    with pytest.raises(rl.NotDifferentiableError, match="different value each time"):
        rl.jacobian(lambda x: x[0] + float(next(values)), X, mode="forward")


def test_a_tangent_of_another_shape_is_refused(monkeypatch):
    """It is never broadcast."""
    monkeypatch.setattr(forward, "jvp", lambda f, args, tangents, kwargs: (f(*args), np.ones(1)))
    with pytest.raises(rl.RuleShapeError, match="tangent"):
        rl.jacobian(lambda x: x * 2.0, X, mode="forward")


def test_errors_of_the_function_are_its_own():
    """As in a plain call, with the author's line."""
    with pytest.raises(ZeroDivisionError):
        rl.jacobian(lambda x: x / 0, 1.0)


# --- implicit parameters ---


def test_params_are_handed_on():
    """`jacobian(loss, Params)` is answered by the implicit style."""
    xs = np.array([1.0, 2.0])
    params = rl.Params([xs])
    assert np.array_equal(rl.jacobian(lambda: xs * xs, params)[xs], [[2.0, 0.0], [0.0, 4.0]])
    val, grads = rl.withjacobian(lambda: xs * xs, params)
    assert np.array_equal(val, [1.0, 4.0]) and np.array_equal(grads[xs], [[2.0, 0.0], [0.0, 4.0]])
    with pytest.raises(rl.RuleLabError, match="no options"):
        rl.jacobian(lambda: xs * xs, params, mode="forward")


# --- Hessians ---

HESSIANS = [rl.hessian, rl.hessian_reverse]


def cubes(x):
    return np.sum(x**3)


def mixed(x):
    return np.sum(np.sin(x[:, None] * x)) + np.prod(x)


@pytest.mark.parametrize("hessian", HESSIANS)
def test_hessians_of_the_manual(hessian):
    """A product of two, a diagonal over a flattened matrix, and a number."""
    near(hessian(lambda x: x[0] * x[1], np.array([0.3, 0.7])), [[0, 1], [1, 0]])
    near(hessian(cubes, np.array([[1, 2], [3, 4]])), np.diag([6.0, 12.0, 18.0, 24.0]))
    found = hessian(math.sin, math.pi / 2)
    assert isinstance(found, float) and found == pytest.approx(-1.0)


@pytest.mark.parametrize("hessian", HESSIANS)
def test_hessians_agree_with_finite_differences_of_the_gradient(hessian):
    """Row by row; and they are symmetric, though nobody makes them so."""
    found = hessian(mixed, X)
    for i in range(3):
        numeric, _ = finite_differences(lambda x, i=i: rl.gradient(mixed, x)[0][i], (X,), 0)
        near(found[i], numeric, 1e-7)
    near(found, found.T)
    assert found.flags.writeable


def test_the_modes_of_a_hessian():
    """Forward over reverse, or reverse over reverse."""
    near(rl.hessian(mixed, X, mode="forward"), rl.hessian(mixed, X, mode="reverse"))


@pytest.mark.parametrize("hessian", HESSIANS)
def test_types_of_a_hessian(hessian):
    """The precision of x; ints have floats; keyword arguments are constants."""
    assert hessian(cubes, np.ones(2, np.float32)).dtype == np.float32
    assert hessian(cubes, np.array([1, 2])).dtype == float
    assert type(hessian(lambda x: x**3, 2)) is float
    assert type(hessian(lambda x: x**3, np.float32(2))) is np.float32
    assert hessian(cubes, np.array(2.0)).shape == (1, 1)
    assert hessian(cubes, np.zeros(0)).shape == (0, 0)
    near(hessian(lambda x, k: k * np.sum(x**3), np.array([1.0, 2.0]), k=2.0), np.diag([12.0, 24.0]))


@pytest.mark.parametrize("hessian", HESSIANS)
def test_hessians_of_constants_are_zero(hessian):
    """Where nothing depends on x."""
    assert np.array_equal(hessian(lambda x: 1.0, X), np.zeros((3, 3)))
    assert hessian(lambda x: 1.0, 2.0) == 0.0


@pytest.mark.parametrize("hessian", HESSIANS)
def test_hessians_of_linear_functions_are_zero(hessian):
    """The gradient is there and is constant."""
    assert np.array_equal(hessian(lambda x: np.sum(2.0 * x), X), np.zeros((3, 3)))


@pytest.mark.parametrize("hessian", [*HESSIANS, rl.diaghessian])
def test_a_hessian_needs_a_real_scalar(hessian):
    """As the gradient does, and in its words."""
    with pytest.raises(rl.ScalarOutputError, match="Output is an array") as caught:
        hessian(lambda x: x * x, X)
    assert "Hessian of <lambda>" in str(caught.value)
    with pytest.raises(rl.ScalarOutputError, match="complex"):
        hessian(lambda x: np.sum(x) * 1j, X)


@pytest.mark.parametrize("hessian", HESSIANS)
@pytest.mark.parametrize("x", [(1.0, 2.0), [1.0], {"a": 1.0}, "text", True, None])
def test_a_hessian_is_by_numbers(hessian, x):
    """By a structure it would be no matrix."""
    with pytest.raises(rl.NotDifferentiableError, match="with respect to one number or one array"):
        hessian(lambda x: 1.0, x)


@pytest.mark.parametrize("hessian", [*HESSIANS, rl.diaghessian])
@pytest.mark.parametrize("x", [1 + 2j, np.array([1j])])
def test_complex_hessians_are_refused(hessian, x):
    """One complex matrix would not be the second derivative."""
    with pytest.raises(rl.NotDifferentiableError, match="complex numbers"):
        hessian(lambda x: np.sum(np.abs(x) ** 2), x)


def test_diagonals_of_the_manual():
    """In the shape of each argument."""
    (found,) = rl.diaghessian(cubes, np.array([[1, 2], [3, 4]]))
    near(found, [[6, 12], [18, 24]])
    by_x, by_y = rl.diaghessian(
        lambda x, y: np.sum(x * y[:, None] * y), np.array([[1, 22], [333, 4]]), np.array([0.5, 0.666])
    )
    near(by_x, np.zeros((2, 2))), near(by_y, [2.0, 8.0])
    found = rl.diaghessian(math.atan2, 1, 2)
    assert found == pytest.approx((-0.16, 0.16)) and all(type(h) is float for h in found)
    near(rl.hessian(lambda xy: math.atan2(xy[0], xy[1]), np.array([1, 2])), [[-0.16, -0.12], [-0.12, 0.16]])


def test_a_diagonal_is_that_of_the_hessian():
    """And an argument of another kind has none; keywords are constants."""
    near(rl.diaghessian(mixed, X)[0], np.diag(rl.hessian(mixed, X)))
    found = rl.diaghessian(lambda x, name, n, k=1.0: k * np.sum(x**3), X, "name", 2.0, k=2.0)
    near(found[0], 12.0 * X)
    assert found[1] is None and found[2] == 0.0


def test_a_product_with_the_hessian():
    """Without the matrix; v has the structure of x."""
    v = np.array([1.0, -2.0, 0.5])
    near(rl.hvp(mixed, X, v), rl.hessian(mixed, X) @ v)
    assert rl.hvp(lambda x, k: k * x**3, 2.0, 3.0, k=2.0) == pytest.approx(72.0)
    x_part, y_part = rl.hvp(lambda p: np.sum(p[0] ** 2) * p[1], (X, 2.0), (v, 1.0))
    near(x_part, 4.0 * v + 2.0 * X)
    assert y_part == pytest.approx(2.0 * X @ v)


@pytest.mark.parametrize(
    "x, v, words",
    [
        (X, np.ones(2), "shape"),
        (X, 1.0, "shape"),
        (1.0, X, "shape"),
        (X, 1j * X, "complex"),
        (1.0, 1j, "complex"),
    ],
)
def test_a_vector_that_does_not_fit_is_refused(x, v, words):
    """It is never broadcast, and its imaginary part not dropped."""
    with pytest.raises(rl.RuleShapeError, match=words):
        rl.hvp(lambda x: np.sum(x * x), x, v)


# --- long computations ---


def test_an_interrupt_ends_a_jacobian_at_once(monkeypatch):
    """Ctrl-C comes out of the sweep it fell in, and the bar is closed."""
    opened = []

    class Bar:
        def __init__(self, *_):
            self.closed = False
            opened.append(self)

        def show(self, done, words):
            self.done = done

        def close(self):
            self.closed = True

    from rulelab.ad import progress

    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(progress, "bar_for_screen", Bar)
    plain = matrices.sweeps

    def interrupted(*args):
        y, back = plain(*args)
        left = iter([1, 2])

        def counted(seed):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return back(seed)

        return y, counted

    monkeypatch.setattr(matrices, "sweeps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rl.jacobian(lambda x: x * x, X)
    (bar,) = opened
    assert bar.closed and bar.done == 2
