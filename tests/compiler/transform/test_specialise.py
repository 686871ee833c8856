"""Formulas written out give what the operation and its derivative give, and Python's own errors."""

import math
import operator
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import derivative  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.base import ir  # noqa: E402
from rulelab.compiler.memory import support  # noqa: E402
from rulelab.compiler.transform.specialise import PREFIXES, SYMBOLS, operator_of, primal_text, terms  # noqa: E402

X, Y = 1.7, -0.6


NAMES = {"bar": "y_bar", "left": "a", "right": "b", "divisor": "b", "result": "y"}


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
@pytest.mark.parametrize("number", [0, 1])
def test_binary_formulas(name, number):
    """The term of each operand is its partial derivative, times the cotangent."""
    apply = getattr(operator, name)
    text = terms(ir.Binary(name, "a", "b"))[number].format_map(NAMES)
    found = eval(text, {"a": X, "b": Y, "y": apply(X, Y), "y_bar": 3.0})
    slope, _ = derivative(lambda t: apply(t, Y) if number == 0 else apply(X, t), (X, Y)[number])
    assert found == pytest.approx(3.0 * slope, rel=1e-9)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -1, -2, 2.0, -3.0, 0.0])
@pytest.mark.parametrize("base", [1.7, -0.6])
def test_whole_powers(exponent, base):
    """x ** n for a whole n has its derivative at positive and negative x."""
    text, _ = terms(ir.Binary("pow", "a", ir.Const(exponent)))
    found = eval(text.format_map(NAMES), {"a": base, "y": base**exponent, "y_bar": 1.5})
    slope, _ = derivative(lambda t: t**exponent, base)
    assert found == pytest.approx(1.5 * slope, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.0, 1.0, 2.0])
def test_powers_at_zero(exponent):
    """At zero the derivative of x ** n is that of the monomial: 0, 1, 0."""
    assert rl.gradient(lambda x: x**exponent, 0.0) == ({0: 0.0, 1: 1.0}.get(exponent, 0.0),)


@pytest.mark.parametrize(
    "exponent", ["n", ir.Const(0.5), ir.Const(True), ir.Const(2**40), ir.Const(math.inf), ir.Const(math.nan)]
)
def test_other_powers_are_left_to_the_rule(exponent):
    """A power that is not a modest whole literal is not written out."""
    assert terms(ir.Binary("pow", "a", exponent)) is None


@pytest.mark.parametrize("name", ["floordiv", "mod", "matmul", "and_"])
def test_other_operators_are_left_to_the_rule(name):
    """Only short formulas that are right everywhere are written out."""
    assert terms(ir.Binary(name, "a", "b")) is None


def test_unary_formulas():
    """Minus turns the sign, plus keeps it."""
    for name, wanted in (("neg", -3.0), ("pos", 3.0)):
        [text] = terms(ir.Unary(name, "a"))
        assert eval(text.format_map(NAMES), {"y_bar": 3.0}) == wanted


@pytest.mark.parametrize("name", SYMBOLS)
def test_symbols(name):
    """The symbol printed for an operator is that operator."""
    a, b = (np.eye(2), 2 * np.eye(2)) if name == "matmul" else (7, 2)
    op = ir.Binary(name, "a", "b")
    assert np.array_equal(eval(primal_text(op, ["a", "b"], None), {"a": a, "b": b}), operator_of(op)(a, b))


@pytest.mark.parametrize("name", PREFIXES)
def test_prefixes(name):
    """The prefix printed for an operator is that operator."""
    op = ir.Unary(name, "a")
    assert eval(primal_text(op, ["a"], None), {"a": 5}) == operator_of(op)(5)


@pytest.mark.parametrize(
    "op, texts, wanted",
    [
        (ir.Build("tuple", ("a",)), ["a"], (1,)),
        (ir.Build("tuple", ()), [], ()),
        (ir.Build("list", ("a", "b")), ["a", "b"], [1, 2]),
        (ir.Build("set", ("a", "b")), ["a", "b"], {1, 2}),
        (ir.Build("dict", ("a", "b")), ["a", "b"], {1: 2}),
        (ir.Build("dict", ()), [], {}),
        (ir.Slice("a", "b", "None"), ["a", "b", "None"], slice(1, 2)),
        (ir.Slice("a", "b", "a"), ["a", "b", "a"], slice(1, 2, 1)),
        (ir.Compare("not in", "a", "b"), ["a", "(1,)"], False),
        (ir.Item("a", "b"), ["(3, 4, 5)", "b"], 5),
        (ir.Attribute("a", "real"), ["a"], 1),
    ],
)
def test_displays(op, texts, wanted):
    """What is printed for a display, slice, comparison or item is what the author wrote."""
    assert eval(primal_text(op, texts, None), {"a": 1, "b": 2}) == wanted


def test_helpers_are_named():
    """What Python has no short text for goes through a helper of that name."""
    helper = lambda value, *texts: f"{value.__name__}({', '.join(texts)})"
    names = {
        "a": 2.5,
        "bound": support.bound,
        "format_string": support.format_string,
        "unpack": support.unpack,
    }
    op = ir.Format((("a", -1, ir.Const(".2f")), (ir.Const("!"), -1, ir.Const(""))))
    assert eval(primal_text(op, ["a", "'.2f'", "'!'", "''"], helper), names) == "2.50!"
    assert eval(primal_text(ir.Unpack("a", 2), ["(1, 2)"], helper), names) == (1, 2)
    with pytest.raises(UnboundLocalError, match="'v'"):
        eval(primal_text(ir.Move("a", checked="v"), ["u"], helper), names | {"u": ir.UNBOUND})


EDGES = [
    (lambda x: x / 0.0, 1.0),
    (lambda x: x / 0, 1.0),
    (lambda x: 1.0 / x, 0.0),
    (lambda x: x**-1, 0.0),
    (lambda x: x**400, 1e3),
    (lambda x: math.log(x), -1.0),
    (lambda x: math.sqrt(x), -1.0),
    (lambda x: math.exp(x), 1e3),
    (lambda x: x**0.5, -1.0),
    (lambda x: x / 0.0, np.float64(1.0)),
    (lambda x: x**-1, np.float64(0.0)),
    (lambda x: x**400, np.float64(1e3)),
    (lambda x: 1 / x, 0),
    (lambda x: x % 0.0, 1.0),
    (lambda x: x // 0.0, 1.0),
    (lambda x: x * math.inf, 0.0),
    (lambda x: x - x, math.inf),
    (lambda x: np.log(x), 0.0),
    (lambda x: np.sum(x / 0.0), np.ones(2)),
    (lambda x: 2.0 * x / 0.0, np.float64(1.0)),
]


@pytest.mark.parametrize("number", range(len(EDGES)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_edges_are_python_s(number):
    """At a pole, an overflow or outside the domain, value or error is that of the function itself."""
    f, x = EDGES[number]
    try:
        wanted = f(x)
    except (ArithmeticError, ValueError) as error:
        wanted = error
    if isinstance(wanted, Exception):
        with pytest.raises(type(wanted)) as caught:
            rl.gradient(f, x)
        assert str(caught.value) == str(wanted)
    elif isinstance(wanted, complex):
        with pytest.raises(rl.RuleLabError):
            rl.gradient(f, x)
    else:
        value = rl.withgradient(f, x).val
        assert type(value) is type(wanted) and (value == wanted or math.isnan(value) and math.isnan(wanted))


ZERO = 0
QUOTIENTS_OF_NUMPYS = [
    lambda x: x[0] / 0 * 2,
    lambda x: x[0] / ZERO,
    lambda x: x[0] / False * 3,
    lambda x: x[0] / 0.0,
    lambda x: x[0] / -0.0,
    lambda x: -x[0] / (1 - 1) + x[1],
    lambda x: np.sum(x) / 0,
    lambda x: 2 * (x[0] / 0 if x[0] > 0 else x[0]),
]


@pytest.mark.parametrize("number", range(len(QUOTIENTS_OF_NUMPYS)))
def test_numpys_numbers_divide_by_zero_in_the_reverse_sweep_as_well(number):
    """Whichever zero is written, at the first call and at later ones, which take quicker ways."""
    f, x = QUOTIENTS_OF_NUMPYS[number], np.array([0.7, 1.3])
    with np.errstate(all="ignore"):
        assert np.isinf(f(x))
        slopes = [rl.gradient(f, x)[0] for _ in range(4)]
        assert np.isinf(slopes[0][0])
        along = rl.pushforward(f, x)(np.array([1.0, 0.0]))
    for slope in slopes:
        np.testing.assert_array_equal(slope, slopes[0])
    assert along == slopes[0][0]


@pytest.mark.parametrize("f", [lambda x: x / 0, lambda x: x / ZERO, lambda x: x / 0.0])
def test_pythons_numbers_do_not_divide_by_zero(f):
    for ask in (rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0)):
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                ask(f, 1.3)
