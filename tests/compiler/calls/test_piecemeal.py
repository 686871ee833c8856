"""`np.piecewise` and `np.apply_along_axis` call a function on parts of an array: beside differences, beside
the stand-ins, and with functions that capture, change and raise.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import piecemeal

from ...differences import gradient_by_differences

V = np.array([-0.4, 0.3, 1.2, 0.7])
M = np.array([[0.3, -1.2, 0.7], [2.0, 0.4, -0.6]])


def pieces(v):
    found = np.piecewise(v, [v < 0, v > 1], [lambda x: -x * x, lambda x: x**3, lambda x: np.sum(x) * x])
    return np.sum(found**2) + found[0]


def overlapping(v):
    """The last piece wins; one function is never called, and the rest is zero."""
    conditions = (v > 0, v > 0.5, v > 9)
    return np.sum(np.piecewise(v, conditions, (lambda x: x * x, 3.0, lambda x: 1 / 0)) * v)


def numbers_that_vary(v):
    return np.sum(np.piecewise(v, [v < 0.5], [v[1] * v[2], lambda x: np.max(x)]) * v)


def captured(v):
    k = v[2] * 2.0
    seen = [v[0]]

    def piece(x):
        seen.append(x[0] * k)
        return k * x + seen[0]

    found = np.piecewise(v, [v < 0.5], [piece, piece])
    return np.sum(found * v) + seen[1] * seen[2]


def listed(v):
    rest = lambda x: [x[0], x[1], x[0] * x[2]]  # noqa: E731
    return np.sum(np.piecewise(v, [v < 0], [lambda x: [2.0 * x[0]], rest]) ** 2)


def of_a_matrix(m):
    masks = [m < 0, m > 1]
    return np.sum(np.piecewise(m, masks, [np_free, lambda x: x * x]) * m)


def np_free(x):
    return np.exp(x) * x[0]


TRUNCATED = [
    lambda m: np.sum(np.apply_along_axis(lambda r: 1 if r[0] > 1 else r[0] * 1.5, 1, m) * m[:, 1]),
    lambda m: np.sum(np.apply_along_axis(lambda r: [1, 2] if r[0] > 1 else [r[0] * 1.5, r[1]], 1, m)),
    lambda m: np.sum(np.apply_along_axis(lambda r: np.arange(3) if r[0] > 1 else r * 1.5, 1, m)),
]


@pytest.mark.parametrize("f", TRUNCATED)
def test_a_first_result_that_truncates_the_others_is_refused(f):
    """NumPy takes the dtype of the first result for all. Where all are floats there is nothing to refuse, and
    the pass for these is used again.
    """
    floats = np.minimum(M, 0.5)
    assert rl.withgradient(f, floats).val == pytest.approx(f(floats))
    for ask in (lambda: rl.gradient(f, M[::-1]), lambda: rl.pushforward(f, M[::-1])(M)):
        with pytest.raises(rl.NotDifferentiableError, match="the dtype of its first result"):
            ask()


def along(m):
    rows = np.apply_along_axis(lambda r: r * r[0], 1, m)
    columns = np.apply_along_axis(np.sum, 0, m)
    return np.sum(rows**2) + np.sum(columns**3) + rows[0, 1]


def along_all(m):
    cube = m[:, :, None] * np.array([1.0, 2.0, -1.0, 0.5])
    found = 0.0
    for axis in (0, 1, 2, -1, -2, -3):
        pairs = np.apply_along_axis(lambda r: r[:2] * r[-1], axis, cube)
        tables = np.apply_along_axis(lambda r: np.outer(r, r[:2]), axis, cube)
        lengths = np.apply_along_axis(lambda r: float(np.sum(r * r)), axis, cube)
        weights = [np.cos(np.arange(y.size)).reshape(y.shape) for y in (pairs, tables, lengths)]
        found += np.sum(pairs * weights[0]) + np.sum(tables * weights[1]) + np.sum(lengths * weights[2])
    return found


def along_with_more(m):
    def weigh(r, k, w):
        return r[:2] * k + w * r[2]

    return np.sum(np.apply_along_axis(weigh, 1, m, m[0, 0], m[:1, :2][0]) ** 2)


def along_captured(m):
    k, seen = m[0, 1], []

    def weigh(r):
        seen.append(r[1] * k)
        return k * r[0] + len(seen)

    return np.sum(np.apply_along_axis(weigh, 1, m) ** 2) + seen[0] * seen[1]


def along_lists(m):
    return np.sum(np.apply_along_axis(lambda r: [r[0], 2.0, r[1] * r[0]], 1, m) ** 2)


def along_constants(m):
    return np.sum(np.apply_along_axis(lambda r: 3.0, 1, m) * m[0, 0])


PROGRAMS = [(f, V) for f in (pieces, overlapping, numbers_that_vary, captured, listed)]
PROGRAMS += [(f, M) for f in (of_a_matrix, along, along_all, along_with_more, along_captured, along_lists)]
PROGRAMS += [(along_constants, M)]


@pytest.mark.parametrize("f, x", PROGRAMS)
def test_slopes(f, x):
    wanted = gradient_by_differences(f, x)
    value, (slope,) = rl.withgradient(f, x)
    assert value == f(x) and slope == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    for _ in range(2):
        assert (rl.gradient(f, x)[0] == slope).all()
    assert rl.pushforward(f, x)(np.ones_like(x)) == pytest.approx(np.sum(slope), rel=1e-9)


@pytest.mark.parametrize("f, x", PROGRAMS)
def test_second_derivatives(f, x):
    def slope(t):
        return rl.gradient(f, t)[0].ravel()[1]

    wanted = gradient_by_differences(slope, x)
    assert rl.gradient(slope, x)[0] == pytest.approx(wanted, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("f, x", PROGRAMS)
def test_beside_the_stand_ins(f, x, monkeypatch):
    asked = []
    quick = piecemeal.handler
    monkeypatch.setattr(piecemeal, "handler", lambda *given: (asked.append(quick(*given)), asked[-1])[1])
    value, (slope,) = rl.withgradient(f, x)
    assert asked and None not in asked
    monkeypatch.setattr(piecemeal, "handler", lambda *given: None)
    again, (by_stand_in,) = rl.withgradient(f, x)
    assert value == again and slope == pytest.approx(by_stand_in, rel=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: np.sum(np.piecewise(v, [[True, False, True, False]], [lambda x: x * x, 1.0])),
        lambda v: np.sum(np.piecewise(v, v < 0, [lambda x: x * x, 1.0])),
        lambda v: np.sum(np.piecewise(v, [v < 0], [lambda x, k: x * k, 1.0], 2.0)),
        lambda v: np.sum(np.apply_along_axis(lambda r: r * r, np.int64(0), v)),
        lambda v: np.sum(np.piecewise(v, [v < 0], [np.sin, np.cos])),
    ],
)
def test_what_the_stand_ins_answer(f):
    for _ in range(2):
        assert rl.gradient(f, V)[0] == pytest.approx(gradient_by_differences(f, V), rel=1e-6)


def test_other_arrays():
    """Of complex and of short floats, and those in which nothing is."""

    def f(v):
        return np.sum(np.abs(np.piecewise(v, [np.abs(v) < 1], [lambda x: x * x, lambda x: x])))

    for dtype in ("f4", "c16"):
        v = (V + (0.5j if dtype == "c16" else 0)).astype(dtype)
        assert rl.gradient(f, v)[0].dtype == dtype
    for call in (f, lambda v: rl.gradient(f, v)):
        call(np.zeros(0))
    with pytest.raises(ValueError):
        rl.gradient(lambda m: np.sum(np.apply_along_axis(np.sum, 1, m)), np.zeros((0, 3)))


def test_errors_are_those_of_the_function():
    def failing(v):
        return np.sum(np.piecewise(v, [v < 0], [lambda x: x, lambda x: x["a"]]))

    def too_long(v):
        return np.sum(np.piecewise(v, [v < 0], [lambda x: x, lambda x: np.ones(7) * x[0]]))

    def uneven(m):
        return np.sum(np.apply_along_axis(lambda r: r[r > 0.35], 1, m))

    for f, x in ((failing, V), (too_long, V), (uneven, M)):
        with pytest.raises((IndexError, ValueError)) as wanted:
            f(x)
        for _ in range(2):
            with pytest.raises((type(wanted.value), rl.RuleLabError)):
                rl.gradient(f, x)


def test_a_write_to_a_part_is_refused():
    def writing(m):
        def first(r):
            r[0] = 1.0
            return r[0] * r[1]

        return np.sum(np.apply_along_axis(first, 1, m))

    with pytest.raises(rl.MutationError):
        rl.gradient(writing, M)


def test_rules_given_later():
    def piece(x):
        return x * x

    def f(v):
        return np.sum(np.piecewise(v, [v < 0], [piece, 1.0]))

    def rule(x):
        return x * x, lambda y_bar: (rl.NoTangent(), y_bar * 100.0)

    def of_piecewise(x, conditions, pieces):
        return x, lambda y_bar: (rl.NoTangent(), y_bar * 7.0, rl.NoTangent(), rl.NoTangent())

    before = [rl.gradient(f, V)[0].tolist() for _ in range(3)]
    rl.rrule_for(piece)(rule)
    try:
        assert rl.gradient(f, V)[0].tolist() == [100.0, 0.0, 0.0, 0.0]
    finally:
        rl.remove_rule(piece)
    rl.rrule_for(np.piecewise)(of_piecewise)
    try:
        with rl.debug_mode(compare=False):
            assert rl.gradient(f, V)[0].tolist() == [7.0] * 4
    finally:
        rl.remove_rule(np.piecewise)
    assert rl.gradient(f, V)[0].tolist() == before[0] == before[2]


FURTHER = [
    lambda m, k: np.sum(np.apply_along_axis(lambda r, q: r * q, -1, m, q=k)),
    lambda m, k: np.sum(np.apply_along_axis(lambda r, p, q=1.0: np.sum(r * p) * q, 0, m, k * k, q=k)),
    lambda m, k: np.sum(np.apply_along_axis(lambda r, args: r[0] * r * args, 1, m, args=k)),
    lambda m, k: np.sum(np.apply_along_axis(lambda r, a, b, c, d: r * a + b * c**d, 1, m, k, k, 2.0, k)),
    lambda m, k: np.sum(np.apply_along_axis(lambda r: r * r * k, 1, arr=m)),
    lambda m, k: np.sum(np.apply_along_axis(func1d=lambda r, q: r * r * q, axis=0, arr=m, q=k)),
    lambda m, k: np.sum(np.piecewise(m, [m < 0.5, m >= 0.5], [lambda v, p: v * p, lambda v, p: v**p], p=k)),
    lambda m, k: np.sum(np.piecewise(m, [m < 0], [lambda v, p, q: v * p * q, lambda v, p, q: p / q], k, q=k)),
    lambda m, k: np.sum(np.piecewise(x=m, condlist=[m < 0.5], funclist=[lambda v: v * k, k])),
]


@pytest.mark.parametrize("f", FURTHER)
def test_what_is_handed_on_may_have_names(f):
    """In both modes and at the second order; the keywords of NumPy's own parameters too."""
    of_m = gradient_by_differences(lambda m: f(m, 1.3), M)
    of_k = gradient_by_differences(lambda k: f(M, float(k)), 1.3)
    found = rl.gradient(f, M, 1.3)
    np.testing.assert_allclose(found[0], of_m, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found[1], of_k, rtol=1e-6, atol=1e-8)
    along = rl.pushforward(f, M, 1.3)(M, 0.5)
    np.testing.assert_allclose(along, np.sum(of_m * M) + 0.5 * of_k, rtol=1e-6)
    again = gradient_by_differences(lambda k: rl.gradient(f, M, float(k))[1], 1.3)
    np.testing.assert_allclose(rl.hessian(lambda k: f(M, k), 1.3), again, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("ask", [lambda f: rl.gradient(f, M), lambda f: rl.pushforward(f, M)(M)])
def test_a_keyword_that_the_function_does_not_take_is_its_own_error(ask):
    with pytest.raises(TypeError, match="unexpected keyword argument 'q'"):
        ask(lambda m: np.sum(np.apply_along_axis(lambda r: r, 1, m, q=2.0)))


# -- many parts ----------------------------------------------------------------------------------------------

MANY = np.linspace(-1.0, 2.0, 12)


def test_the_pass_for_parts_is_looked_up_a_few_times():
    """A function that only computes is answered by one pass for all parts of one kind, captured or not."""
    asked = []
    before = piecemeal.found_for

    def counted(pullbacks, function, *rest):
        asked.append(function)
        return before(pullbacks, function, *rest)

    def of_closure(v, k):
        return np.sum(np.vectorize(lambda x: x * x * k if x > 0 else -x)(v))

    wanted = np.where(MANY > 0, 6.0 * MANY, -1.0), np.sum(MANY[MANY > 0] ** 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piecemeal, "found_for", counted)
        for _ in range(3):
            found = rl.gradient(of_closure, MANY, 3.0)
            assert np.allclose(found[0], wanted[0]) and found[1] == pytest.approx(wanted[1])
    assert 0 < len(asked) <= 3 * (piecemeal._MANY + 1)


def test_parts_of_several_kinds():
    """Whole numbers and truth values among the items are other kinds."""

    def f(x, others):
        return np.sum(np.vectorize(lambda a, b: a * a * b if b else a * 3.0, otypes=[float])(x, others))

    others = np.array([1, 0, True, 2.0, 0.0, False, 3, 1.5, 1, 0, 2.0, True], dtype=object)
    wanted = [2.0 * a * b if b else 3.0 for a, b in zip(MANY, others)]
    for _ in range(3):
        assert np.allclose(rl.gradient(f, MANY, others, argnums=0)[0], wanted)


def test_what_one_part_does_counts_for_the_next():
    """A list that is filled: such a function does more than compute."""

    def f(m):
        seen = []

        def step(r):
            seen.append(r[0])
            return r * seen[0] * len(seen)

        return np.sum(np.apply_along_axis(step, 1, m))

    m = np.arange(1.0, 25.0).reshape(8, 3)
    times = np.arange(1.0, 9.0)
    wanted = np.repeat(times[:, None], 3, axis=1) * m[0, 0]
    wanted[0, 0] += np.sum(times * m.sum(axis=1))
    for _ in range(2):
        assert np.allclose(rl.gradient(f, m)[0], wanted)


def test_each_part_is_printed_once(capsys):
    def told(v):
        print("told")
        return v * v

    x = np.linspace(1.0, 2.0, 8)
    for _ in range(2):
        assert np.allclose(rl.gradient(lambda v: np.sum(np.vectorize(told, otypes=[float])(v)), x)[0], 2 * x)
        assert capsys.readouterr().out.count("told") == 8


def test_an_error_in_a_later_part():
    """It is Python's, whichever part raises it."""
    f = lambda v: np.sum(np.vectorize(lambda x: 1.0 / x, otypes=[float])(v))
    for at in (0, 3, 7, 11):
        x = MANY + 5.0
        x[at] = 0.0
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                rl.gradient(f, x)


def test_a_rule_that_comes_between_two_gradients():
    """It answers for all parts from the next call on."""
    f = lambda v: np.sum(np.vectorize(squared_part, otypes=[float])(v))
    assert np.allclose(rl.gradient(f, MANY)[0], 2 * MANY)
    rl.rrule_for(squared_part)(lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)))
    try:
        assert np.allclose(rl.gradient(f, MANY)[0], 7.0)
    finally:
        rl.remove_rule(squared_part)
    assert np.allclose(rl.gradient(f, MANY)[0], 2 * MANY)


def squared_part(x):
    return x * x


def test_lines_of_an_array():
    m = np.arange(24.0).reshape(8, 3) + 1.0
    for k in (2.0, 3.0):
        f = lambda m, k: np.sum(np.apply_along_axis(lambda r: r * r[0] * k, 1, m))
        wanted = k * np.concatenate([[[r[0] + r.sum(), r[0], r[0]]] for r in m])
        found = rl.gradient(f, m, k)
        assert np.allclose(found[0], wanted) and found[1] == pytest.approx(f(m, 1.0))
