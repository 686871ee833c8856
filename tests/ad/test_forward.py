"""Forward mode at its door: what it refuses and how that reads, and what an error or an interrupt leaves."""

import copy
import traceback

import numpy as np
import pytest

import rulelab as rl
from rulelab.ad.forward import jvp
from rulelab.compiler.base import nesting
from rulelab.compiler.memory import heap
from rulelab.tangents import tracked

V = np.array([1.0, 2.0])


def product(x, y):
    return x * y


def squares(v):
    return np.sum(v * v)


def first(x, _):
    return x * x


def in_a_list(xs):
    return xs[0] * xs[1]


def in_a_dict(d):
    return d["a"]


# --- tangents that do not fit ---

SHAPE, DTYPE = rl.RuleShapeError, rl.RuleDtypeError
MISFITS = {
    "one of two": (product, (1.0, 2.0), (1.0,), rl.RuleError, "1 tangent for 2 arguments"),
    "two of one": (squares, (V,), (V, V), rl.RuleError, "2 tangents for 1 argument"),
    "longer": (squares, (V,), (np.ones(3),), SHAPE, "shape (2,) and cannot have a tangent of shape (3,)"),
    "number for an array": (squares, (V,), (1.0,), SHAPE, "shape (2,) and cannot have a tangent of shape ()"),
    "array for a number": (product, (1.0, 2.0), (V, None), SHAPE, "argument 1 has shape ()"),
    "complex for real": (product, (1.0, 2.0), (None, 1j), DTYPE, "argument 2 is real"),
    "complex array for real": (squares, (V,), (V * 1j,), DTYPE, "argument 1 is real"),
    "bool": (product, (1.0, 2.0), (True, None), DTYPE, "of kind bool"),
    "text": (product, (1.0, 2.0), ("a", None), DTYPE, "of kind str"),
    "bools": (squares, (V,), (V > 0,), DTYPE, "of float64 and cannot have a tangent of bool"),
    "objects": (squares, (V,), (V.astype(object),), DTYPE, "a tangent of object"),
    "of text": (first, (1.0, "a"), (1.0, 1.0), DTYPE, "argument 2 is a str, which cannot vary"),
    "of None": (first, (1.0, None), (1.0, 1.0), DTYPE, "argument 2 is a NoneType, which cannot vary"),
    "of a bool": (first, (1.0, True), (1.0, 1.0), DTYPE, "argument 2 is a bool, which cannot vary"),
    "short list": (in_a_list, ([1.0, 2.0],), ([1.0],), SHAPE, "cannot have a tangent of length 1"),
    "other key": (in_a_dict, ({"a": 1.0},), ({"b": 1.0},), SHAPE, "no part 'b', but its tangent has one"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISFITS)
def test_a_tangent_that_does_not_fit(case):
    """It is refused by the argument's number, before the function has run."""
    f, args, tangents, error, words = MISFITS[case]
    runs = []

    def counted(*xs):
        runs.append(1)
        return f(*xs)

    for push in (lambda: rl.pushforward(counted, *args)(*tangents), lambda: jvp(counted, args, tangents)):
        with pytest.raises(error) as refused:
            push()
        assert words in str(refused.value).splitlines()[0] and not runs
        assert len(str(refused.value).splitlines()) <= 6


@pytest.mark.parametrize("case", MISFITS)
def test_a_tangent_that_does_not_fit_inside_of_a_gradient(case):
    """The same where the pushforward is differentiated, with the line that called it."""
    f, args, tangents, error, words = MISFITS[case]

    def outer(x):
        return x * rl.pushforward(f, *args)(*tangents)

    def by_its_own(v):
        return rl.pushforward(squares, v)(np.ones(3))

    with pytest.raises(error) as refused:
        rl.gradient(outer, 2.0)
    assert words in str(refused.value)
    with pytest.raises(rl.RuleShapeError, match=r"in by_its_own: return rl\.pushforward"):
        rl.gradient(by_its_own, V)


@pytest.mark.parametrize("tangents", [(), (V, V)], ids=["none", "one too many"])
def test_the_count_of_tangents_that_are_differentiated(tangents):
    """None is dropped or made up because the call stands inside a gradient."""
    with pytest.raises(rl.RuleError, match=f"{len(tangents)} tangents for 1 argument"):
        rl.gradient(lambda v: rl.pushforward(squares, v)(*tangents), V)


def test_a_whole_number_is_a_tangent():
    """1 is as good as 1.0, also for a whole number, whose derivative is by the number that it stands for."""
    assert rl.pushforward(product, 1.0, 2.0)(1, 0) == 2.0
    assert rl.pushforward(product, 3, 2.0)(1.0, None) == 2.0
    assert rl.pushforward(squares, V)(np.array([1, 2])) == 10.0


@pytest.mark.parametrize(
    "ask",
    [
        lambda: rl.pushforward(3.0, 1.0)(1.0),
        lambda: jvp(3.0, (1.0,), (1.0,)),
        lambda: rl.derivative(3.0)(1.0),
        lambda: rl.jacobian(3.0, V),
        lambda: rl.hessian(3.0, V),
        lambda: rl.hvp(3.0, V, V),
    ],
    ids=["pushforward", "jvp", "derivative", "jacobian", "hessian", "hvp"],
)
def test_what_cannot_be_called(ask):
    """A value where a function belongs is named in one line."""
    with pytest.raises(rl.RuleLabError) as refused:
        ask()
    assert "float cannot be called" in str(refused.value) or "3.0(" in str(refused.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: rl.pushforward(f, 1.0, z=3.0)(1.0),
        lambda f: rl.hessian(f, 1.0, z=3.0),
        lambda f: rl.hvp(f, 1.0, 1.0, z=3.0),
        lambda f: rl.jacobian(f, 1.0, mode="forward", z=3.0),
        lambda f: rl.gradient(lambda x: rl.pushforward(f, x, z=3.0)(1.0), 1.0),
        lambda f: rl.gradient(lambda x: rl.gradient(f, x, z=3.0)[0], 1.0),
    ],
)
def test_a_keyword_that_the_function_does_not_have(ask):
    """It is Python's own error."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        ask(lambda x, k=2.0: x * k)


# --- errors and interrupts of the function ---


def failing(error):
    def f(xs, v):
        y = xs[0] * v[0]
        for k in range(3):
            y = y * v[1] + k
            if k == 1:
                raise error
        return y

    return f


def by_x(f):
    """f by one array, whose list is made inside."""

    def g(v):
        return f([v[0], 2.0], v)

    return g


ONES = np.ones(2)
ASKED = {
    "pushforward": lambda f, xs, v: rl.pushforward(f, xs, v)([1.0, 1.0], ONES),
    "jacobian, forward": lambda f, xs, v: rl.jacobian(f, xs, v, mode="forward"),
    "jacobian, reverse": lambda f, xs, v: rl.jacobian(f, xs, v, mode="reverse"),
    "hessian": lambda f, xs, v: rl.hessian(by_x(f), v),
    "hessian_reverse": lambda f, xs, v: rl.hessian_reverse(by_x(f), v),
    "diaghessian": lambda f, xs, v: rl.diaghessian(f, xs, v),
    "hvp": lambda f, xs, v: rl.hvp(by_x(f), v, ONES),
    "derivative": lambda f, xs, v: rl.derivative(lambda t: f([t, t], v), 2)(1.5),
    "reverse over reverse": lambda f, xs, v: rl.gradient(lambda v: np.sum(rl.gradient(f, xs, v)[1]), v),
    "forward over reverse": lambda f, xs, v: rl.pushforward(lambda v: rl.gradient(f, xs, v)[1], v)(ONES),
    "reverse over forward": lambda f, xs, v: rl.gradient(
        lambda v: rl.pushforward(f, xs, v)([1.0, 1.0], ONES), v
    ),
    "forward over forward": lambda f, xs, v: rl.pushforward(
        lambda v: rl.pushforward(f, xs, v)([1.0, 1.0], ONES), v
    )(ONES),
    "forwarddiff": lambda f, xs, v: rl.gradient(lambda v: rl.forwarddiff(lambda u: f([u[0]], u), v), v),
    "third": lambda f, xs, v: rl.gradient(
        lambda v: np.sum(rl.hessian(lambda u: f([u[0], 1.0], u), v)), v
    ),
}  # fmt: skip


def assert_at_rest():
    """Nothing of a derivative goes on in this thread."""
    assert rl.nest_level() == 0 and not rl.isderiving()
    assert heap._STATE.here.sweep is heap._OUTSIDE and heap._STATE.here.depth == 0
    assert nesting._LEVELS.now == 0
    now = tracked._NOW
    assert (now.arrays, now.forward, now.within_reverse) == ((), False, False)


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), ZeroDivisionError("of mine")], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("name", ASKED)
def test_an_error_of_the_function(name, error):
    """It comes out as it is, with the function's own line; nothing is changed, nothing goes on after it."""
    f, xs, v = failing(error), [0.5, 2.0], np.array([1.5, -0.5])
    for _ in range(2):
        given = copy.deepcopy((xs, v))
        with pytest.raises(type(error)) as raised:
            ASKED[name](f, xs, v)
        assert raised.value is error
        lines = [(frame.name, frame.line) for frame in traceback.extract_tb(error.__traceback__)]
        assert ("f", "raise error") in lines
        assert xs == given[0] and np.array_equal(v, given[1])
        assert_at_rest()
        error.__traceback__ = None
    right = (
        rl.pushforward(lambda x: x**3, 2.0)(1.0),
        rl.gradient(lambda x: rl.gradient(lambda u: u**3, x)[0], 2.0),
    )
    assert right == (12.0, (12.0,))


# --- forward mode inside of reverse mode writes to nothing that the sweep has read ---

TABLE = np.array([2.0, 3.0])


def writes_table(t):
    TABLE[0] = 5.0
    return t


def writes_through_a_helper(t):
    return writes_table(t) * 1.0


def changed_before(v):
    v[1] = v[0]
    return v @ v


def changed_after(v):
    y = v @ v
    v[1] = v[0]
    return y


def constant_written(v):
    v[1] = 1.0
    return v @ v


def set_constant(v):
    v[1] = 1.0


def in_a_callee(v):
    set_constant(v)
    return v @ v


def in_a_view(v):
    w = v[1:]
    w[0] = v[0]
    return v @ v


def with_out(v):
    np.multiply(v, v, out=v)
    return v @ v


def sorted_in_place(v):
    v.sort()
    return v @ v * v[0]


@pytest.mark.parametrize(
    "f",
    [changed_before, changed_after, constant_written, in_a_callee, in_a_view, with_out, sorted_in_place],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("along", [lambda v: ONES, lambda v: 0.1 * v], ids=["constant", "varying"])
def test_a_pushforward_that_writes_to_what_is_differentiated(f, along):
    """Reverse mode would not hear of the write, and gave the gradient of another function: refused before it
    happens, at the author's own line.
    """
    v = np.array([3.0, 2.0])
    with pytest.raises(rl.MutationError) as refused:
        rl.gradient(lambda v: rl.pushforward(f, v)(along(v)), v)
    assert "test_forward.py" in str(refused.value) and "frule" not in str(refused.value)
    assert np.array_equal(v, [3.0, 2.0])


def own_writes(v):
    out = np.zeros(2)
    out[0] = v
    out[1] += 2.0 * v * v
    return np.sum(out)


@pytest.mark.parametrize(
    "part",
    [
        lambda x: rl.pushforward(own_writes, 1.0)(1.0),
        lambda x: rl.jacobian(own_writes, 1.0, mode="forward")[0][0],
        lambda x: rl.forwarddiff(own_writes, 1.0) + 2.0,
    ],
    ids=["pushforward", "jacobian", "forwarddiff"],
)
def test_constants_in_forward_mode_may_write_to_their_own(part):
    """What a part makes itself nobody else has read."""
    assert rl.gradient(lambda x: x * part(x), 1.5) == (5.0,)


@pytest.mark.parametrize("f", [writes_table, writes_through_a_helper], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "part",
    [
        lambda f, x: rl.pushforward(f, 1.0)(1.0),
        lambda f, x: rl.pushforward(f, x)(1.0),
        lambda f, x: rl.jacobian(f, 1.0, mode="forward")[0][0],
        lambda f, x: rl.forwarddiff(f, x) / x,
        lambda f, x: rl.hvp(lambda t: f(t) ** 2, 1.0, 0.5),
    ],
    ids=["pushforward", "pushforward of what varies", "jacobian", "forwarddiff", "hvp"],
)
def test_a_global_array_that_the_sweep_has_read(f, part):
    """The sweep needs it as it was."""

    def outer(x):
        y = TABLE * x
        return np.sum(y) * part(f, x)

    TABLE[:] = [2.0, 3.0]
    with pytest.raises(rl.MutationError):
        rl.gradient(outer, 1.5)
    TABLE[:] = [2.0, 3.0]
    assert_at_rest()


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda h: np.gradient(np.arange(5.0) ** 2, h), (2.0,)),
        (lambda k: np.polyint(np.arange(3.0), 1, k), (3.0,)),
        (lambda b: np.logspace(0.3, 2.0, 4, True, b), (2.0,)),
    ],
    ids=["the spacing of np.gradient", "the constant of np.polyint", "the base of np.logspace"],
)
def test_an_argument_that_no_rule_answers_for_is_refused_forwards_too(f, args):
    """Its tangent is not lost without a word: the derivative would be a wrong zero."""
    with pytest.raises(rl.NotDifferentiableError, match="gives no derivative for its argument"):
        rl.pushforward(f, *args)(1.0)


_SAMPLES = np.array([0.5, 1.2, 0.3, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.trapezoid(_SAMPLES, dx=x[0]),
        lambda x: np.average(_SAMPLES, weights=x),
        lambda x: np.bincount(np.array([0, 1, 1, 3]), weights=x).prod() + np.bincount([0, 1, 1, 3], x)[1],
        lambda x: np.interp(_SAMPLES, xp=np.arange(4.0), fp=x)[1],
        lambda x: np.interp(x, xp=np.arange(4.0), fp=_SAMPLES)[1],
        lambda x: np.dot(_SAMPLES, b=x) + np.linspace(0.0, stop=x[1], num=3)[1],
    ],
    ids=["dx", "weights", "bincount", "fp", "constant-knots", "dot"],
)
def test_arguments_by_keyword_vary_as_by_position(f):
    """A keyword that names a differentiable argument of a NumPy function has its tangent, and one that is
    constant costs nothing; reverse mode agrees.
    """
    x, x_dot = np.array([0.7, 1.1, 0.4, 1.9]), np.array([0.3, -1.0, 0.5, 2.0])
    wanted = (f(x + 1e-6 * x_dot) - f(x - 1e-6 * x_dot)) / 2e-6
    assert rl.pushforward(f, x)(x_dot) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
    assert rl.gradient(f, x)[0] @ x_dot == pytest.approx(wanted, rel=1e-6, abs=1e-8)


def at_inner_quantiles(m):
    return np.sum(np.quantile(m, np.array([0.2, 0.9]), axis=0) ** 2)


def at_inner_percentiles(m):
    return np.sum(np.percentile(m, q=np.array([20.0, 90.0])) ** 2)


@pytest.mark.parametrize("f", [at_inner_quantiles, at_inner_percentiles])
def test_an_array_that_could_be_written_to_and_is_not(f):
    """What a rule has no derivative for may be an array made inside, in every order of forward mode."""
    m = np.arange(9.0).reshape(3, 3) ** 1.3
    d, h = np.cos(m), 1e-4
    slope = lambda x: rl.pushforward(f, x)(d)  # noqa: E731
    np.testing.assert_allclose(slope(m), (f(m + h * d) - f(m - h * d)) / (2 * h), rtol=1e-6)
    bend = rl.pushforward(slope, m)(d)
    np.testing.assert_allclose(bend, (f(m + h * d) - 2 * f(m) + f(m - h * d)) / h**2, rtol=1e-5)


@pytest.mark.parametrize("exponent", [1, 2])
def test_one_that_was_written_to_is_refused(exponent):
    """At the order at which what was written moves."""

    def f(x):
        q = np.array([0.2, 0.9])
        q[0] = 0.25 + 0.1 * x**exponent
        return np.sum(np.quantile(np.arange(5.0), q) * x)

    def slope(x):
        return rl.pushforward(f, x)(1.0)

    with pytest.raises(rl.NotDifferentiableError, match="no derivative for its argument q"):
        rl.pushforward(slope, 0.0)(1.0)
