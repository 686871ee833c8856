"""Verdicts on rules of array functions: right ones proved at two sizes, each slip refuted."""

import numpy as np
import pytest

from rulelab.symbolic import Proved, Refuted, Undecided, Unsupported, prove
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import NoTangent

NOTHING = NoTangent()


def rule_from(f, *cotangents):
    """A rule for `f` whose cotangents are functions of (y_bar, y, *xs)."""

    def rule(*xs):
        y = f(*xs)
        return y, lambda y_bar: (NOTHING, *(c(y_bar, y, *xs) for c in cotangents))

    return rule


def softmax(X):
    e = np.exp(X - X.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def normalize(x):
    return x / np.linalg.norm(x)


def layernorm(X):
    return (X - X.mean(axis=1, keepdims=True)) / np.sqrt(X.var(axis=1, keepdims=True) + 1e-5)


def layernorm_cotangent(b, y, X):
    s = np.sqrt(X.var(axis=1, keepdims=True) + 1e-5)
    return (b - b.mean(axis=1, keepdims=True) - y * (b * y).mean(axis=1, keepdims=True)) / s


def sort_cotangent(b, y, x):
    g = np.zeros(x.shape)
    g[np.argsort(x)] = b
    return g


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def cholesky_cotangent(b, L, A):
    inverse = np.linalg.inv(L)
    middle = np.tril(L.T @ b)
    middle = middle - np.diag(np.diag(middle)) / 2
    full = inverse.T @ middle @ inverse
    return (full + full.T) / 2


RIGHT = {
    "affine": (
        lambda X, W: X @ W,
        (lambda b, y, X, W: b @ W.T, lambda b, y, X, W: X.T @ b),
        "X: matrix 2x3, 3x1, W: matrix 3x2, 1x2",
    ),
    "softmax": (
        softmax,
        (lambda b, y, X: y * (b - (y * b).sum(axis=1, keepdims=True)),),
        "(2, 3) and (3, 1)",
    ),
    "layernorm": (layernorm, (layernorm_cotangent,), "(2, 3)"),
    "mean of rows": (
        lambda X: X.mean(axis=1),
        (lambda b, y, X: np.repeat(b[:, None], X.shape[1], 1) / X.shape[1],),
        "(2, 3), (3, 1) and (2, 2)",
    ),
    "logsumexp": (logsumexp, (lambda b, y, x: b * np.exp(x - y),), "(2,) and (3,)"),
    "normalize": (normalize, (lambda b, y, x: (b - y * (y @ b)) / np.linalg.norm(x),), "(3,) and (5,)"),
    "sort": (np.sort, (sort_cotangent,), "(2,) and (3,)"),
    "inverse": (lambda A: np.linalg.inv(A), (lambda b, y, A: -y.T @ b @ y.T,), "(2, 2) and (3, 3)"),
    "logdet": (
        lambda A: np.linalg.slogdet(A)[1],
        (lambda b, y, A: b * np.linalg.inv(A).T,),
        "(2, 2) and (3, 3)",
    ),
    "cholesky": (np.linalg.cholesky, (cholesky_cotangent,), "(2, 2) (symmetric) and (3, 3) (symmetric)"),
}


@pytest.mark.every(11)
@pytest.mark.parametrize("name", RIGHT)
def test_right_array_rules_are_proved_at_two_sizes(name):
    """A rule for arrays is proved for two sizes, which the verdict names."""
    f, cotangents, sizes = RIGHT[name]
    verdict = prove(f, rule_from(f, *cotangents), time_limit=60).verdict
    assert isinstance(verdict, Proved), verdict.sentence()
    assert sizes in verdict.scope


CHANGES = {
    "sign": lambda c: lambda b, *rest: -c(b, *rest),
    "double": lambda c: lambda b, *rest: 2 * c(b, *rest),
    "millionth": lambda c: lambda b, *rest: c(b, *rest) * (1 + 1e-6),
    "plus one": lambda c: lambda b, *rest: c(b, *rest) + 1.0,
    "seed as ones": lambda c: lambda b, *rest: c(np.ones_like(b), *rest),
    "seed doubled": lambda c: lambda b, *rest: c(b + b, *rest),
    "seed reversed": lambda c: lambda b, *rest: c(b[::-1], *rest),
    "reversed": lambda c: lambda b, *rest: c(b, *rest)[::-1],
    "mean": lambda c: lambda b, *rest: np.full_like(c(b, *rest), 1.0) * np.mean(c(b, *rest)),
    "one entry dropped": lambda c: lambda b, *rest: _without_last(c(b, *rest)),
}


def _without_last(g):
    g = g.copy()
    g[-1] = 0.0
    return g


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["affine", "layernorm", "normalize", "sort", "inverse"])
@pytest.mark.every(17)
def test_mutants_of_array_rules_are_never_proved(name, change):
    """Change a right array rule in any of ten ways: none is proved."""
    f, (first, *others), _ = RIGHT[name]
    verdict = prove(f, rule_from(f, CHANGES[change](first), *others)).verdict
    assert isinstance(verdict, Refuted), verdict.sentence()


def test_a_transpose_left_out_is_refuted_with_an_example_to_paste():
    """The inverse for its transpose is refuted, and the code I am given shows it."""

    def logdet(A):
        return np.linalg.slogdet(A)[1]

    rule = rule_from(logdet, lambda b, y, A: b * np.linalg.inv(A))
    example = prove(logdet, rule).verdict.counterexample
    setup, ask = example.code.splitlines()
    namespace = {"rule": rule, "np": np}
    exec(setup, namespace)
    assert eval(ask, namespace) == pytest.approx(float(example.found), rel=1e-6)
    assert float(example.expected) != pytest.approx(float(example.found), rel=1e-9)


def test_only_what_is_for_symmetric_matrices_is_judged_on_them():
    """A trace and a lower triangle are functions of any matrix: a rule that is right for positive definite
    ones only is refuted, though the function reads no more than one triangle."""

    def half_right(b, y, A):
        return np.where(A > 0, np.eye(len(A)), -np.eye(len(A))) * b

    at = (np.array([[2.0, 0.5], [0.5, 1.0]]),)
    assert isinstance(prove(np.trace, rule_from(np.trace, half_right), at=at).verdict, Refuted)

    def lower(A):
        return np.tril(A)[1, 0]

    def upper_place(b, y, A):
        g = np.zeros(A.shape)
        g[0, 1] += b
        return g

    report = prove(lower, rule_from(lower, upper_place), at=at)
    assert isinstance(report.verdict, Refuted)
    assert any("stay symmetric the rule is right" in note for note in report.notes)


def test_given_arrays_give_the_shapes():
    """By at= I say which shapes are judged; keyword arguments are held."""

    def total(x, axis=None):
        return np.sum(x, axis=axis)

    def rule(x, axis=None):
        return total(x, axis), lambda b: (NOTHING, np.broadcast_to(np.expand_dims(b, axis), x.shape), NOTHING)

    verdict = prove(total, rule, at=(np.ones((2, 4)) * 0.3, 1)).verdict
    assert isinstance(verdict, Proved) and "(2, 4)" in verdict.scope and "axis = 1" in verdict.scope
    assert isinstance(prove(np.sum, at=(np.ones((2, 4)),), kwargs={"axis": 0}).verdict, Proved)


@pytest.mark.slow
def test_a_rule_with_several_results():
    """A function that returns a tuple gets a Tangent of a tuple, and is judged in all parts."""

    def parts(x):
        return x[:1] * 2, np.sum(x)

    def rule(x, wrong=0.0):
        def back(y_bar):
            assert isinstance(y_bar, Tangent)
            head, total = y_bar
            g = np.zeros(len(x)) + total + wrong * head[0]
            g[:1] += 2 * head
            return NOTHING, g

        return parts(x), back

    assert isinstance(prove(parts, rule).verdict, Proved)
    assert isinstance(prove(parts, lambda x: rule(x, 1.0)).verdict, Refuted)


def test_what_cannot_be_followed_is_not_judged():
    """A singular value decomposition is named as what stopped the check; nothing is said about the rule."""

    def largest(A):
        return np.linalg.svd(A, compute_uv=False)[0]

    verdict = prove(largest, rule_from(largest, lambda b, y, A: b * A)).verdict
    assert isinstance(verdict, Unsupported) and "np.linalg.svd" in verdict.construct
    assert verdict.place.function == "largest"


def test_large_arrays_end_at_the_limit():
    """Arrays with more numbers than can be tried are told so, at once."""
    verdict = prove(np.sort, rule_from(np.sort, sort_cotangent), at=(np.arange(100.0),)).verdict
    assert isinstance(verdict, Unsupported | Undecided) and "64" in verdict.sentence()


def test_the_code_to_paste_has_a_cotangent_of_the_form_of_the_result():
    """For a function that makes a matrix, or two numbers, the counterexample runs as it stands."""

    def squares(X):
        return X * X

    def both(x):
        return x * x, 3 * x

    for f, slope in (
        (squares, lambda b, y, X: 3 * b * X),
        (both, lambda b, y, x: 3 * b[0] * x + 3 * b[1]),
    ):
        example = prove(f, rule_from(f, slope)).verdict.counterexample
        setup, ask = example.code.splitlines()
        namespace = {"rule": rule_from(f, slope), "np": np}
        exec(setup, namespace)
        assert eval(ask, namespace) == pytest.approx(float(example.found))


def by_place(x):
    return np.sum(x * np.arange(len(x)))


def ramp(x):
    return np.sin(x) @ np.linspace(0.0, 1.0, len(x))


def counted_into(y_bar, y, x):
    g = np.arange(x.size, dtype=float).reshape(x.shape)
    g *= y_bar
    return g


def counted_by_position(y_bar, y, x):
    g = np.arange(0, x.size, 1, float)
    g[:] = g * y_bar
    return g


def counted_at_step(y_bar, y, x):
    g = np.arange(0.0, x.size)
    np.multiply(g, y_bar, out=g)
    return g


def ramp_into(y_bar, y, x):
    g = np.linspace(0.0, 1.0, len(x))
    g *= np.cos(x) * y_bar
    return g


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "f, cotangent",
    [
        (by_place, counted_into), (by_place, counted_by_position),
        (by_place, counted_at_step), (ramp, ramp_into),
    ],
)  # fmt: skip
def test_a_range_of_floats_may_be_written_into(f, cotangent):
    """What `np.arange` and `np.linspace` make of floats is a buffer like that of `np.zeros`."""
    at = (np.array([0.3, 1.2, -0.7]),)
    assert isinstance(prove(f, rule_from(f, cotangent), at=at).verdict, Proved)
    twice = rule_from(f, lambda *given: 2 * cotangent(*given))
    assert isinstance(prove(f, twice, at=at).verdict, Refuted)


def looked_up(x):
    grid = np.linspace(0.0, 4.0, 5)
    places = np.searchsorted(grid, x)
    return np.sum(np.interp(x, grid, grid**2) * grid[places - 1] + np.outer(grid, x).sum(axis=0))


def looked_up_cotangent(y_bar, y, x):
    grid = np.linspace(0.0, 4.0, 5)
    values = grid**2
    right = np.searchsorted(grid, x)
    slope = (values[right] - values[right - 1]) / (grid[right] - grid[right - 1])
    return y_bar * (slope * grid[right - 1] + grid.sum())


def test_a_range_of_floats_is_read_as_ever():
    """Tables, searches and products go on a grid of floats."""
    at, within = (np.array([0.3, 1.2]),), (0.1, 1.9)
    report = prove(looked_up, rule_from(looked_up, looked_up_cotangent), at=at, domain=within)
    assert isinstance(report.verdict, Proved), str(report)
