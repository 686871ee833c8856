"""Single operations in both sweeps: which arguments of a call are wanted a cotangent of."""

import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls.cache import StaleRuleWarning, refresh

from ...differences import gradient_by_differences

X = np.array([1.0, 2.5, 4.0])
CALLS = {  # the function of one argument, of both, the second argument, whether it has a derivative
    "quantile": (lambda x: np.quantile(x, 0.4), np.quantile, 0.4, False),
    "norm": (lambda x: np.linalg.norm(x, 2.5), np.linalg.norm, 2.5, False),
    "largest": (lambda x: np.linalg.norm(x, np.inf), np.linalg.norm, np.inf, False),
    "power": (lambda x: np.sum(x**2.5), lambda x, y: np.sum(x**y), 2.5, True),
    "hypot": (lambda x: np.sum(np.hypot(x, 0.7)), lambda x, y: np.sum(np.hypot(x, y)), 0.7, True),
}
CHOICES = {
    "first": lambda one, f: lambda v: one(v[:3]) ** 2,
    "second": lambda one, f: lambda v: f(X, v[3]) ** 2,
    "both": lambda one, f: lambda v: f(v[:3], v[3]) ** 2,
}


@pytest.mark.every(3)
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", CALLS)
def test_each_choice_of_what_varies_has_its_second_derivative(name, choice):
    """What stands still is a constant, whatever varies beside it; what varies and has no derivative is
    refused.
    """
    one, f, y, smooth = CALLS[name]
    along, start = CHOICES[choice](one, f), np.append(X, y)
    if choice != "first" and not smooth:
        with pytest.raises(rl.NotDifferentiableError, match="no derivative for its argument"):
            rl.hessian(along, start)
        return
    start[3] = min(start[3], 20.0)
    found = rl.hessian(along, start)
    wanted = gradient_by_differences(lambda x: rl.gradient(along, x)[0], start, 1e-5)
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_an_unpacked_tuple_gets_its_cotangent_in_one_display():
    """The items of a tuple of known length are put into its cotangent together; its length is asked once."""

    def f(a, xs):
        p, q, r = xs
        return a * p * q * r

    text = rl.adjoint_source(f, 2.0, (3.0, 5.0, 7.0))
    assert "put_item(" not in text and text.count("put_each(") == 1 and text.count("len(") == 1
    assert "{0: " in text and ", 1: " in text and ", 2: " in text
    assert rl.gradient(f, 2.0, (3.0, 5.0, 7.0)) == (105.0, (70.0, 42.0, 30.0))


def test_the_cotangent_of_a_tuple_of_numbers_is_read_at_once():
    """Where it is the value: whatever form it comes in, its items become numbers."""

    def f(a, b):
        return a * b, a, 2.0, a + b

    assert "reals(" in rl.adjoint_source(f, 2.0, 3.0)
    numbers = (1.0, 2.0, 5.0, 3.0)
    for seed in (numbers, list(numbers), (1, 2, 5, np.float64(3.0)), rl.Tangent(tuple, *numbers)):
        for _ in range(3):
            assert rl.pullback(f, 2.0, 3.0)[1](seed) == (8.0, 5.0)
    assert rl.pullback(f, 2.0, 3.0)[1]((None, 1.0, None, None)) == (1.0, 0.0)
    assert rl.pullback(f, 2.0, 3.0)[1](None) == (0.0, 0.0)

    def outer(a, b):
        p, q, _, r = f(a, b)
        return p * q + r

    for _ in range(3):
        assert rl.gradient(outer, 2.0, 3.0) == (13.0, 5.0)


def test_items_that_are_read_twice_or_by_branches_add_up():
    """An item that is read again, in a branch or not, and one that is not read at all."""

    def f(flag, *xs):
        p, q, r = xs
        y = p * p + xs[0] * xs[-1]
        if flag:
            a, b, _ = xs
            y = y + a * b
        return y

    assert rl.gradient(f, True, 2.0, 3.0, 5.0)[1:] == (4.0 + 5.0 + 3.0, 2.0, 2.0)
    assert rl.gradient(f, False, 2.0, 3.0, 5.0)[1:] == (4.0 + 5.0, 0.0, 2.0)


def each(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i + 0]
    return s


def in_turn(x, a):
    s = 0.0
    for i in range(len(x)):
        if a[i] > 2.0:
            s += x[i] ** 2
    return s


def every_second(x):
    s = 0.0
    for i in range(1, len(x), 2):
        s += x[i] ** 3
    return s


def numbered(x):
    s = 0.0
    for i, _ in enumerate(x):
        s += x[i] ** 3
    return s + np.sum(x)


def from_the_end(x):
    s = 0.0
    for i in range(-2, 2):
        s += x[i] ** 3
    return s


def in_two_loops(x):
    s = 0.0
    for _ in range(2):
        for i in range(len(x)):
            s += s * x[i] ** 3 + x[i]
    return s


def twice(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] ** 3
    for i in range(len(x)):
        s += s * x[i]
    return s


def with_a_part(x):
    s = np.sum(x[1:] ** 2)
    for i in range(len(x)):
        s += x[i] ** 3
    return s


def unsure(x, start=-1):
    s = 0.0
    for i in range(start, 2):
        s += x[i] ** 3
    return s


@pytest.mark.parametrize(
    ("f", "stores"),
    [
        (in_turn, True),
        (every_second, True),
        (numbered, True),
        *((f, False) for f in (each, from_the_end, in_two_loops, twice, with_a_part, unsure)),
    ],
)
def test_the_cotangent_of_an_item_is_stored_where_no_other_can_come(f, stores):
    """It is added up where another turn, another loop or a part of the array may give the same item more."""
    args = (X, X)[: 2 if f is in_turn else 1]
    text = rl.adjoint_source(f, *args)
    assert ("_at[i] = " in text) is stores
    for _ in range(3):
        found = rl.gradient(f, *args)[0]
        np.testing.assert_allclose(found, gradient_by_differences(lambda x: f(x, *args[1:]), X), rtol=1e-6)


# --- sums of lists of numbers that nobody else reads: one cotangent for all items ---------------------------

XS = np.array([0.7, -1.2, 2.5])


def of_a_comprehension(x):
    return sum([t * t for t in x]) * x[0]


def of_a_generator(x):
    return sum(math.exp(t) * k for k, t in enumerate(x))


def with_a_condition(x):
    return sum([t**3 for t in x if t > 0.0])


def of_two_loops(x):
    return sum([a * b for a in x for b in x if a != b])


def built_on_branches(x):
    terms = [x[0], 2.0]
    for k in range(3):
        if k % 2:
            terms.append(x[k] * x[0])
        else:
            terms.append(1.5)
    return sum(terms) ** 2


def anew_in_each_turn(x):
    total = 0.0
    for k in range(3):
        row = [x[k] * k]
        if k > 1:
            row.append(x[k] / k)
        total += sum(row) ** 2
    return total


def summed_while_it_grows(x):
    terms, total = [], 0.0
    for k in range(3):
        terms.append(x[k] * x[k])
        total += sum(terms) * k
    return total


def summed_again_and_again(x):
    terms = [x[0] * x[1], x[2]]
    total = 0.0
    for k in range(3):
        total += sum(terms) * x[k]
    return total


def with_its_length(x):
    squares = [t * t for t in x]
    return sum(squares) / len(squares)


def of_nothing(x):
    return x[0] + sum([t for t in x if t > 100.0])


def of_numpys_numbers(x):
    return sum([np.sin(t) * k for k, t in enumerate(x)])


ONE_COTANGENT = [
    of_a_comprehension,
    of_a_generator,
    with_a_condition,
    of_two_loops,
    built_on_branches,
    anew_in_each_turn,
    summed_while_it_grows,
    summed_again_and_again,
    with_its_length,
    of_nothing,
    of_numpys_numbers,
]


def read_as_well(x):
    """Typed, though each item has a cotangent of its own."""
    squares = [t * t for t in x]
    mean = sum(squares) / len(squares)
    return sum((t - mean) ** 2 for t in squares) * max(squares) - min(squares) / (len(squares) - 1)


def seen_by_another(x):
    terms = [x[0], x[1]]
    other = terms
    other.append(x[2] * x[0])
    return sum(terms) * other[2]


def read_item_by_item(x):
    terms = [t * t for t in x]
    return sum(terms) * terms[1]


def captured(x):
    terms = [x[0]]

    def more():
        terms.append(x[1] * x[2])

    more()
    return sum(terms)


def written_to(x):
    terms = [t * t for t in x]
    terms[0] = x[1]
    return sum(terms)


def of_arrays(x):
    return np.sum(sum([x * k for k in range(3)]) ** 2)


def measured_by_a_function_of_that_name(x):
    terms = [x[0]]

    def len(xs):
        xs.append(x[1])
        return 2.0

    return len(terms) * sum(terms)


THE_LONG_WAY = [read_as_well, read_item_by_item, of_arrays]
CHANGED = [seen_by_another, captured, written_to, measured_by_a_function_of_that_name]


@pytest.mark.parametrize("f", ONE_COTANGENT + THE_LONG_WAY + CHANGED)
def test_gradients_are_right_in_every_mode(f):
    """By reverse and forward mode, of the first and second order, at the first call and at later ones."""
    wanted = gradient_by_differences(f, XS)
    for _ in range(4):
        np.testing.assert_allclose(rl.gradient(f, XS)[0], wanted, rtol=1e-6, atol=1e-8)
    _, back = rl.pullback(f, XS)
    np.testing.assert_array_equal(back(2.0)[0], 2.0 * rl.gradient(f, XS)[0])
    by_forward = [rl.pushforward(f, XS)(e) for e in np.eye(3)]
    np.testing.assert_allclose(by_forward, wanted, rtol=1e-6, atol=1e-8)
    second = gradient_by_differences(lambda x: rl.gradient(f, x)[0], XS, 1e-5)
    np.testing.assert_allclose(rl.hessian(f, XS), second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", ONE_COTANGENT)
def test_no_cotangent_of_the_list_is_kept(f):
    """The emitted pass asks no pullback of `sum`, and takes no item from a list of cotangents."""
    text = str(rl.adjoint_source(f, XS))
    assert "sum_back" not in text and "pop_item" not in text
    assert "sum(" in text


@pytest.mark.parametrize("f", THE_LONG_WAY)
def test_a_list_that_others_may_read_has_its_own(f):
    assert "sum_back" in str(rl.adjoint_source(f, XS))


@pytest.mark.parametrize("f", CHANGED)
def test_a_list_that_is_changed_has_a_list_of_cotangents_beside_it(f):
    """Also where that is done by a function that stands in the pass, in place of its call."""
    text = str(rl.adjoint_source(f, XS))
    assert "terms_bars" in text and "sum_back" not in text


def test_what_is_made_of_such_numbers_is_typed():
    """Sums, extremes and lengths of lists that nobody else changes are numbers, which ask nobody anything."""
    text = str(rl.adjoint_source(read_as_well, XS))
    assert "_at(" not in text and "ask(" not in text


@pytest.mark.parametrize("numbers", [(0.3, 2.0), (np.float64(0.3), np.float64(2.0)), (0.3, np.float64(2.0))])
def test_python_and_numpy_numbers_among_arguments(numbers):
    """The gradient has the kinds of the arguments."""

    def f(a, b):
        return sum([a * b, a, b * 2, 3]) * a

    a, b = map(float, numbers)
    for _ in range(4):
        found = rl.gradient(f, *numbers)
        assert tuple(map(type, found)) == tuple(map(type, numbers))
        np.testing.assert_allclose(found, (2 * a * b + 2 * a + 2 * b + 3, a * (a + 2)), rtol=1e-14)


@pytest.mark.parametrize("on", [True, False])
def test_what_has_no_part_in_the_result_has_no_slope(on):
    """A root at zero has an infinite slope; where its sum is not used nothing of it flows."""

    def f(x, on):
        total = 0.0
        for k in range(2):
            roots = [np.sqrt(t) for t in x]
            s = sum(roots)
            total = total + s * (k + 1) if on else total + x[1]
        return total

    with np.errstate(all="ignore"):
        found = rl.gradient(f, np.array([0.0, 4.0]), on)[0]
    np.testing.assert_array_equal(found, [np.inf, 0.75] if on else [0.0, 2.0])


def test_a_rule_for_sum_counts_and_goes():
    def f(x):
        return sum([t * t for t in x])

    def tenfold(xs):
        return sum(xs), lambda y_bar: (rl.NoTangent(), [10.0 * y_bar for _ in xs])

    for _ in range(3):
        np.testing.assert_array_equal(rl.gradient(f, XS)[0], 2 * XS)
    rl.rrule_for(sum)(tenfold)
    try:
        for _ in range(3):
            np.testing.assert_array_equal(rl.gradient(f, XS)[0], 20 * XS)
    finally:
        rl.remove_rule(sum)
    np.testing.assert_array_equal(rl.gradient(f, XS)[0], 2 * XS)


def test_in_manual_mode_a_rule_for_sum_waits_for_the_refresh():
    def f(x):
        return sum([t * t for t in x])

    before = rl.gradient(f, XS)[0]
    refresh("manual")
    try:
        rl.gradient(f, XS)
        rl.rrule_for(sum)(lambda xs: (sum(xs), lambda y_bar: (rl.NoTangent(), [0.0 * y_bar for _ in xs])))
        with pytest.warns(StaleRuleWarning):
            np.testing.assert_array_equal(rl.gradient(f, XS)[0], before)
        refresh()
        assert not rl.gradient(f, XS)[0].any()
    finally:
        rl.remove_rule(sum)
        refresh("auto")
    np.testing.assert_array_equal(rl.gradient(f, XS)[0], before)


def test_a_global_of_the_name_sum_counts(monkeypatch):
    """From the next call on, and no longer than it is there."""

    def f(x):
        return sum([t * t for t in x])

    for _ in range(3):
        rl.gradient(f, XS)
    monkeypatch.setitem(globals(), "sum", lambda xs: 3.0 * xs[0])
    np.testing.assert_array_equal(rl.gradient(f, XS)[0], [6.0 * XS[0], 0.0, 0.0])
    monkeypatch.delitem(globals(), "sum")
    np.testing.assert_array_equal(rl.gradient(f, XS)[0], 2 * XS)


# --- powers with whole exponents that vary from turn to turn ------------------------------------------------


def polynomial(x, n):
    s = 0.0
    for k in range(n):
        s += (k + 1.0) * x**k
    return s


def with_negative_exponents(x, n):
    return sum([x**-k for k in range(n)])


def compound(x, n):
    return (1.0 + x) ** n * 2**n


@pytest.mark.parametrize("f", [polynomial, with_negative_exponents, compound])
@pytest.mark.parametrize("x", [0.3, 2.5, -1.5, -1.0, np.float64(0.3), np.float64(-1.5), 1e-30])
def test_powers_of_numbers_are_typed_and_right(f, x):
    """Their cotangent is a call of the function by which the rule states it."""
    text = str(rl.adjoint_source(f, x, 4))
    assert "_at(" not in text and "pow_rule" not in text
    for n in (0, 1, 2, 5):
        terms = {
            polynomial: [(k + 1.0) * k * x ** (k - 1) for k in range(1, n)],
            with_negative_exponents: [-k * float(x) ** (-k - 1) for k in range(1, n)],
            compound: [n * (1.0 + x) ** (n - 1) * 2**n] if n else [],
        }[f]
        for _ in range(3):
            found = rl.gradient(f, x, n)[0]
            assert type(found) is type(x)
            np.testing.assert_allclose(found, sum(terms, 0.0), rtol=1e-13)


def test_a_power_of_zero_with_a_whole_exponent():
    assert [rl.gradient(polynomial, 0.0, n)[0] for n in (0, 1, 2, 3)] == [0.0, 0.0, 2.0, 2.0]
    with pytest.raises(ZeroDivisionError):
        rl.gradient(with_negative_exponents, 0.0, 2)


def alone(x):
    return (x,)


def product_alone(x, y):
    return (x * y,)


HELD = {"alone": alone, "product": product_alone}  # looked up, so that they are called and not inlined


@pytest.mark.parametrize("seed", [(2.0,), [2.0]])
def test_a_tuple_of_a_single_number(seed):
    """Its cotangent is that of the number, and not a tuple or a list with it."""
    assert rl.pullback(alone, 0.7)[1](seed) == (2.0,)
    assert rl.pullback(product_alone, 0.7, 3.0)[1](seed) == pytest.approx((6.0, 1.4))


def test_a_tuple_of_a_single_number_from_a_call():
    def program(x):
        return HELD["alone"](x)[0] * HELD["product"](x, x)[0]

    for x in (0.7, np.float64(0.7)):
        for _ in range(3):
            np.testing.assert_allclose(rl.gradient(program, x)[0], 3 * x * x)
        np.testing.assert_allclose(rl.pushforward(program, x)(1.0), 3 * x * x)
        np.testing.assert_allclose(rl.gradient(lambda x: rl.gradient(program, x)[0], x)[0], 6 * x)
