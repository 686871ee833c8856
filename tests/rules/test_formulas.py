"""Formulas are read off the functions that state partials: the text says what the function computes."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "rulesets"))

from rule_points import by_function, cases  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.rules.formulas import (  # noqa: E402
    adding_onto,
    makes_new_memory,
    may_lack_slopes,
    of_distinct_rows,
    only_spreads,
    partials_of,
    share_of,
    subtracting_from,
    takes_one_number,
)
from rulelab.rules.registry import DEFAULT  # noqa: E402
from rulelab.rules.signatures import types_of  # noqa: E402
from rulelab.rulesets.catalogue import tables  # noqa: E402
from rulelab.rulesets.linalg_products import matmul_left_bar, matmul_right_bar  # noqa: E402
from rulelab.rulesets.numpy_elementwise import over  # noqa: E402
from rulelab.rulesets.numpy_indexing import item_bar, rows_item_bar  # noqa: E402
from rulelab.rulesets.numpy_reductions import max_bar, mean_bar, min_bar, spread_to, sum_bar  # noqa: E402
from rulelab.tangents.missing import MissingSlope, not_implemented  # noqa: E402
from rulelab.tangents.zeros import NoTangent, ZeroTangent  # noqa: E402


def evaluated(formula, y, xs, factor=None):
    """A formula, or the product of a number and it, worked out for a value and arguments."""
    names = {"y": "y", **{f"x{k}": f"x{k}" for k in range(len(xs))}}
    names |= {f"h{k}": f"h{k}" for k in range(len(formula.helpers))}
    text = formula.text.format_map(names) if factor is None else formula.times("factor", names)
    around = {"y": y, "factor": factor, **{f"x{k}": x for k, x in enumerate(xs)}}
    return eval(text, around | {f"h{k}": helper for k, helper in enumerate(formula.helpers)})


def read(partials, count=1):
    """The texts of a row of partials."""
    return [formula.text for formula in partials_of(partials, count)]


def has_reals_alone(case):
    """Whether a check point is a call by position with arrays of float64 and numbers."""
    reals = (float, np.float64)
    kinds = [type(x) in reals or (type(x) is np.ndarray and x.dtype == np.float64) for x in case.args]
    return all(kinds) and not case.kwargs and case.mode == "rrule"


def stated(fact):
    """The check points, by function, of the rules that state such a fact."""
    found = []
    for case in (case for table in tables() for case in cases(table)):
        rule = getattr(DEFAULT.ask(case.target, types_of(case.args), "rrule"), "rule", None)
        if rule is not None and getattr(rule, fact) and has_reals_alone(case):
            found.append(case)
    return by_function(found)


@pytest.mark.every(5)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("points", stated("partials"), ids=str)
def test_a_formula_says_what_the_partials_are(points):
    """Bit by bit, at every check point, for arrays and for Python's numbers; its product with a cotangent to
    the rounding of one operation.
    """
    for case in points.cases:
        partials = DEFAULT.ask(case.target, types_of(case.args), "rrule").rule.partials
        of_arrays = all(not isinstance(x, float) or isinstance(x, np.float64) for x in case.args)
        y = case.target(*case.args)
        given = partials(y, *case.args)
        row = given if isinstance(given, tuple) else (given,)
        for formula, slope in zip(partials_of(partials, len(case.args), of_arrays), row):
            np.testing.assert_array_equal(evaluated(formula, y, case.args), slope)
            if np.isfinite(slope).all():
                product = evaluated(formula, y, case.args, np.float64(0.7))
                np.testing.assert_allclose(product, 0.7 * slope, rtol=4e-16, atol=0)


def test_most_elementwise_functions_have_formulas():
    """Those that look at their arguments are few."""
    given = stated("partials")
    rules = [DEFAULT.ask(p.cases[0].target, types_of(p.cases[0].args), "rrule").rule for p in given]
    read = [bool(partials_of(r.partials, len(p.cases[0].args))) for r, p in zip(rules, given)]
    assert sum(read) > len(read) / 2


@pytest.mark.every(5)
@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()])
@pytest.mark.parametrize("points", stated("partials"), ids=str)
def test_a_zero_object_is_absorbed_by_every_formula(points, zero):
    """What flows back may be one."""
    case = points.cases[0]
    partials = DEFAULT.ask(case.target, types_of(case.args), "rrule").rule.partials
    y = case.target(*case.args)
    for formula in partials_of(partials, len(case.args)):
        assert evaluated(formula, y, case.args, zero) is zero


@pytest.mark.parametrize(
    ("partials", "texts"),
    [
        (lambda y, x: 1 - (x - 1), ["1 - ({x0} - 1)"]),
        (lambda y, x: (1 - x) - 1, ["1 - {x0} - 1"]),
        (lambda y, x: x / (2 * x), ["{x0} / (2 * {x0})"]),
        (lambda y, x: x / 2 * x, ["{x0} / 2 * {x0}"]),
        (lambda y, x: -(x**2), ["-{x0} ** 2"]),
        (lambda y, x: (-x) ** 2, ["(-{x0}) ** 2"]),
        (lambda y, x: x ** (-x), ["{x0} ** -{x0}"]),
        (lambda y, x: (x**x) ** x, ["({x0} ** {x0}) ** {x0}"]),
        (lambda y, x: x ** (x**x), ["{x0} ** {x0} ** {x0}"]),
        (lambda y, x: 2 ** (x + 1), ["2 ** ({x0} + 1)"]),
        (lambda y, x: (-2) ** x, ["(-2) ** {x0}"]),
        (lambda y, x: x - -2, ["{x0} - -2"]),
        (lambda y, x: x * (x * x), ["{x0} * ({x0} * {x0})"]),
        (lambda y, x: -(x + y), ["-({x0} + {y})"]),
        (lambda y, x: +(x + y) * 2, ["({x0} + {y}) * 2"]),
    ],
)
def test_brackets_stand_where_python_needs_them(partials, texts):
    """The text computes in the order in which the function does."""
    assert read(partials) == texts
    for y, x in ((0.3, 0.7), (2.0, 1.5), (-1.5, 3.0)):
        assert evaluated(partials_of(partials, 1)[0], y, (x,)) == partials(y, x)


@pytest.mark.parametrize(
    ("partials", "count"),
    [
        (lambda y, x: 1.0 if x > 0 else 2.0, 1),
        (lambda y, x: x if x else y, 1),
        (lambda y, x: float(x), 1),
        (lambda y, x: x[0], 1),
        (lambda y, x: x.real, 1),
        (lambda y, x: abs(x), 1),
        (lambda y, x: math.inf * x, 1),
        (lambda y, x: math.nan, 1),
        (lambda y, x: True, 1),
        (lambda y, x: 1j * x, 1),
        (lambda y, x: [x], 1),
        (lambda y, x: (x, y), 1),
        (lambda y, x: x, 2),
        (lambda y, x: np.sum(x, axis=0), 1),
        (lambda y, x: np.add.outer(x, y), 1),
        (lambda y, x: np.float64(2.0) * x, 1),
        (lambda y, x: x // 2, 1),
        (lambda y, x: sum(x), 1),
        (lambda y, x: {"a": x}["a"] in (1, 2), 1),
    ],
)
def test_what_is_no_expression_has_no_formula(partials, count):
    """Nor has what looks at its arguments."""
    assert partials_of(partials, count) == ()


def halved(x):
    return x / 2


def test_functions_that_are_called_are_helpers():
    """They are not looked into, and each stands in a formula once."""
    slope, other = partials_of(lambda y, a, b: (halved(a) + halved(b), np.exp(a)), 2)
    assert slope.text == "{h0}({x0}) + {h0}({x1})"
    assert slope.helpers == (halved, np.exp)
    assert other.text == "{h1}({x0})"


def test_a_default_or_a_captured_number_is_written_out():
    scale = 3.0
    assert read(lambda y, x, scale=2.0: scale * x) == ["2.0 * {x0}"]
    assert read(lambda y, x: scale * x) == ["3.0 * {x0}"]


def test_the_product_with_what_flows_back():
    """A factor of one is left out, and a quotient divides."""
    names = {"y": "y", "x0": "a"}

    def product(partials):
        return partials_of(partials, 1)[0].times("bar", names)

    assert product(lambda y, x: 1.0) == "bar"
    assert product(lambda y, x: -1) == "-bar"
    assert product(lambda y, x: 1 / x) == "bar / a"
    assert product(lambda y, x: 1 / (x * x)) == "bar / (a * a)"
    assert product(lambda y, x: -1 / x) == "bar * (-1 / a)"
    assert product(lambda y, x: 1 / x - 1) == "bar * (1 / a - 1)"
    assert product(lambda y, x: -x) == "bar * (-a)" or product(lambda y, x: -x) == "bar * -a"
    assert product(lambda y, x: 2 / x) == "bar * (2 / a)"


@pytest.mark.parametrize(
    "partials",
    [
        lambda y, x: over(1, x),
        (lambda divide: lambda y, x: divide(1, x))(over),
        lambda y, x, divide=over: divide(1, x),
    ],
    ids=["a global", "captured", "a default"],
)
def test_what_only_looks_at_numbers_is_looked_into_for_arrays(partials):
    """Python's numbers may not be divided by zero: for them it stays a helper, however it is named."""
    assert partials_of(partials, 1, True)[0].text == "1 / {x0}"
    assert partials_of(partials, 1, False)[0].text == "{h0}(1, {x0})"


# -- what functions that give cotangents are declared to be --------------------------------------------------

VECTOR, MATRIX = np.array([0.5, -2.0, 3.0, 3.0]), np.array([[1.0, 7.0, -2.0], [4.0, 0.5, 4.0]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
# Functions with what flows back and what else they are given.
CALLS = [
    *((bar, 1.5, (VECTOR,), {}) for bar in (max_bar, min_bar)),
    *((bar, np.float64(1.5), (MATRIX,), {"axis": None}) for bar in (max_bar, min_bar)),
    *((bar, np.array([1.0, 2.0, 3.0]), (MATRIX,), {"axis": 0}) for bar in (max_bar, min_bar)),
    (max_bar, np.array([[1.0], [2.0]]), (MATRIX,), {"axis": -1, "keepdims": True}),
    (min_bar, np.array([[1.0], [2.0]]), (MATRIX,), {"axis": 1, "keepdims": True}),
    *((bar, np.ones((2, 4)), (CUBE,), {"axis": 1}) for bar in (max_bar, min_bar)),
    *((bar, np.array([1.0, 2.0, 3.0]), (CUBE,), {"axis": (0, 2)}) for bar in (max_bar, min_bar)),
    (item_bar, np.array([1.0, 2.0, 3.0]), ((4,), np.array([0, 2, 2])), {}),
    (item_bar, np.array([1.0, 2.0]), ((2, 3), (np.array([0, 0]), np.array([1, 1]))), {}),
    (rows_item_bar, np.array([1.0, 2.0]), ((2, 3), (np.array([0, 1]), np.array([1, -1]))), {}),
    (rows_item_bar, np.array([1.0, 2.0]), ((2, 3), (np.array([0]), np.array([1, 1]))), {}),
    (item_bar, 2.5, ((4,), 1), {}),
    (item_bar, np.array([1.0, 2.0]), ((4,), slice(1, 3)), {}),
    (matmul_left_bar, np.ones((2, 2)), (MATRIX, MATRIX.T), {}),
    (matmul_right_bar, np.ones((2, 2)), (MATRIX, MATRIX.T), {}),
    (matmul_left_bar, 2.0, (VECTOR, VECTOR), {}),
    (matmul_right_bar, np.ones((2, 3, 1)), (CUBE, np.ones((4, 1))), {}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_new_memory_is_nobody_elses(call):
    function, y_bar, args, options = call
    assert makes_new_memory(function)
    made = function(y_bar, *args, **options)
    assert made.dtype == np.float64 and made.flags.writeable
    assert not any(isinstance(x, np.ndarray) and np.shares_memory(made, x) for x in (y_bar, *args))
    assert function(ZeroTangent(), *args, **options) is ZeroTangent()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_what_adds_onto_a_cotangent_gives_the_sum_in_its_memory(call, order):
    function, y_bar, args, options = call
    adding = adding_onto(function)
    if adding is None:
        return
    alone = function(y_bar, *args, **options)
    so_far = np.array(np.cos(np.arange(alone.size, dtype=float)).reshape(alone.shape), order=order)
    expected = so_far + alone
    assert adding(so_far, y_bar, *args, **options) is so_far
    np.testing.assert_array_equal(so_far, expected)
    assert adding(so_far, ZeroTangent(), *args, **options) is so_far
    np.testing.assert_array_equal(adding(ZeroTangent(), y_bar, *args, **options), alone)
    assert adding(ZeroTangent(), ZeroTangent(), *args, **options) is ZeroTangent()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("call", [call for call in CALLS if call[0] in (max_bar, min_bar)])
def test_what_subtracts_from_a_cotangent_adds_the_negative(call, order):
    function, y_bar, args, options = call
    adding, less = adding_onto(function), subtracting_from(function)
    so_far = np.array(np.cos(np.arange(args[0].size, dtype=float)).reshape(args[0].shape), order=order)
    expected = adding(so_far.copy(order), -y_bar, *args, **options)
    assert less(so_far, y_bar, *args, **options) is so_far
    np.testing.assert_array_equal(so_far, expected)
    assert less(so_far, ZeroTangent(), *args, **options) is so_far
    alone = function(-y_bar, *args, **options)
    np.testing.assert_array_equal(less(ZeroTangent(), y_bar, *args, **options), alone)


@pytest.mark.parametrize("columns", [[2, 0, 2], [-1, 1, 0], [1]])
@pytest.mark.parametrize("y_bar", [0.25, -0.0, np.array([1.0, -0.0, 3.0])])
def test_of_distinct_rows_it_is_what_it_is_of_any(columns, y_bar):
    assert of_distinct_rows(item_bar) is rows_item_bar and of_distinct_rows(sum_bar) is None
    index = np.arange(3), np.array(columns)
    found, wanted = rows_item_bar(y_bar, (4, 3), index), item_bar(y_bar, (4, 3), index)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("bar", [sum_bar, mean_bar])
@pytest.mark.parametrize("axis, y_bar", [(None, 3.0), (0, np.arange(3.0)), (1, np.arange(2.0))])
def test_a_share_at_each_place_is_the_cotangent(bar, axis, y_bar):
    assert only_spreads(bar)
    share = share_of(bar)
    each = y_bar if share is None else share(y_bar, (2, 3), axis)
    np.testing.assert_array_equal(spread_to(each, (2, 3), axis), bar(y_bar, (2, 3), axis))


def test_a_number_may_stand_for_an_array_of_it():
    assert takes_one_number(item_bar)
    index = np.array([0, 2, 2])
    np.testing.assert_array_equal(item_bar(2.0, (4,), index), item_bar(np.full(3, 2.0), (4,), index))


@pytest.mark.parametrize("missing", [NoTangent(), not_implemented("by the order")])
def test_a_partial_that_is_not_there_stands_for_itself(missing):
    """The other partials keep their formulas."""
    first, second = partials_of(lambda y, v, x: (missing, np.cos(x) * v), 2)
    assert first.helpers[int(first.text.strip("{h}"))] is missing
    assert second.text == "{h0}({x1}) * {x0}" and second.helpers[0] is np.cos


def test_a_slope_that_is_missing_is_told():
    """By the formula where there is one, else by what the function of the partials names."""
    missing = MissingSlope("by v")
    by_v, by_x = partials_of(lambda y, v, x: (missing, y * x), 2)
    assert by_v.is_missing and not by_x.is_missing
    held = lambda y, v, x, by_v=missing: (by_v, y if x > 0 else x)
    lacking = (held, lambda y, v, x: (missing, abs(x)), lambda y, v, x: (rl.not_implemented("by v"), abs(x)))
    assert all(map(may_lack_slopes, lacking)) and not any(map(partials_of, lacking, [2] * 3))
    assert not may_lack_slopes(lambda y, v, x: (v, abs(x))) and not may_lack_slopes(math.sin)
