"""Traced complex numbers behave like Python's and NumPy's, and remember what they are made of."""

import cmath
import operator
from fractions import Fraction

import numpy as np
import pytest

from rulelab.symbolic.complexes import Complex, TracedComplex, is_complex
from rulelab.symbolic.field_graphs import is_identically_equal
from rulelab.symbolic.functions import apply_elementary
from rulelab.symbolic.scalars import CannotTrace, Trace

POINTS = [0.3 + 0.4j, -1.2 + 0.5j, 1.5 - 2.0j, -2.5 - 0.25j]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


def traced(trace, name, value):
    parts = (trace.argument(f"{name}.{part}", Fraction(getattr(value, part))) for part in ("real", "imag"))
    return Complex(*parts)


def shadow(value):
    return complex(value.shadow) if hasattr(value, "shadow") else complex(value)


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("a", POINTS)
def test_operators_agree_with_complex_numbers(operation, a):
    """Every operator gives what it gives for complex numbers, beside real ones and plain ones too."""
    trace, b = Trace(), 0.75 - 1.25j
    z, w = traced(trace, "z", a), traced(trace, "w", b)
    x = trace.argument("x", Fraction(3, 4))
    for left, right in ((z, w), (z, b), (a, w), (z, x), (x, z), (z, 2), (2.5, z), (x, b), (b, x)):
        expected = operation(shadow(left), shadow(right))
        assert shadow(operation(left, right)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("a", POINTS)
def test_functions_take_the_principal_branch(a):
    """Each function of `cmath` has its value on every side of its cuts."""
    names = "exp log sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh".split()
    for name in names:
        value = shadow(apply_elementary(name, traced(Trace(), "z", a)))
        assert value == pytest.approx(getattr(cmath, name)(a), rel=1e-13), name


def test_whole_powers_and_others():
    """Whole powers are products, of negative numbers too; others are exp(p log z)."""
    z = traced(Trace(), "z", -1.2 + 0.5j)
    for p in (3, -2, 0, 0.5, 1 / 3, 100, 1 + 2j):
        assert shadow(z**p) == pytest.approx((-1.2 + 0.5j) ** p, rel=1e-13)
    assert is_identically_equal((z**3).re, (z * z * z).re)


def test_the_side_of_a_cut_is_a_condition():
    """Beyond the origin, log and roots write down on which side of their cut the run was."""
    outcomes = {}
    for a in (1 + 1j, -1 + 1j, -1 - 1j):
        z = traced(Trace(), "z", a)
        apply_elementary("log", z)
        outcomes[a] = z.trace.path()
    assert len(set(outcomes.values())) == 3
    on_the_cut = traced(Trace(), "z", -1 + 0j)
    apply_elementary("sqrt", on_the_cut)
    assert on_the_cut.trace.equal


def test_comparisons_look_at_both_parts():
    """Equality is that of both parts; the order is NumPy's."""
    trace = Trace()
    z = traced(trace, "z", 1 + 2j)
    assert z == 1 + 2j and z != 1 + 3j and not z == trace.argument("x", 1)
    assert z < 2 - 5j and z > 1 + 1j and z >= 1 + 2j and bool(z)


def test_the_name_complex_takes_traced_numbers():
    """`complex(a, b)` and isinstance see what they would see in the plain run; a real one is no complex."""
    trace = Trace()
    x, z = trace.argument("x", Fraction(1, 2)), traced(trace, "z", 1 + 2j)
    assert shadow(TracedComplex(x, 2.0)) == 0.5 + 2j and shadow(TracedComplex(z, x)) == 1 + 2.5j
    assert isinstance(z, TracedComplex) and not isinstance(x, TracedComplex)
    assert TracedComplex(1.0, 2) == 1 + 2j and TracedComplex("1+2j") == 1 + 2j
    assert is_complex(z) and is_complex(np.array([1j])) and not is_complex(x)


def test_what_has_no_complex_form_stops():
    """A function that is not followed in the plane is named, and C code gets no machine number."""
    z = traced(Trace(), "z", 1 + 2j)
    with pytest.raises(CannotTrace, match="gamma of a complex number"):
        apply_elementary("gamma", z)
    with pytest.raises(CannotTrace):
        cmath.exp(z)


IDENTITIES = {
    "exp of log": lambda z, w: (apply_elementary("exp", apply_elementary("log", z)), z),
    "exp of a sum": lambda z, w: (
        apply_elementary("exp", z + w),
        apply_elementary("exp", z) * apply_elementary("exp", w),
    ),
    "square of a root": lambda z, w: (apply_elementary("sqrt", z * w + 1) ** 2, z * w + 1),
    "third of a power": lambda z, w: ((z ** (1 / 3)) ** 3, z),
    "powers add": lambda z, w: (z**w * z ** (1 - w), z),
    "tangent": lambda z, w: (1 + apply_elementary("tan", z) ** 2, 1 / apply_elementary("cos", z) ** 2),
    "size of a root": lambda z, w: (abs(apply_elementary("sqrt", z + w)) ** 4, abs(z + w) ** 2),
    "product of roots": lambda z, w: (
        apply_elementary("sqrt", 1 - z) * apply_elementary("sqrt", 1 + z),
        apply_elementary("sqrt", 1 - z * z),
    ),
    "inverse sine": lambda z, w: (apply_elementary("sin", apply_elementary("asin", z)), z),
    "inverse hyperbolic": lambda z, w: (apply_elementary("cosh", apply_elementary("acosh", z)), z),
}


def test_another_sheet_is_not_taken_for_this_one():
    """Minus the right root, and roots across their cut, are told from it without any numbers."""
    trace = Trace()
    z = traced(trace, "z", 0.3 + 0.4j)
    right = apply_elementary("sqrt", 1 - z) * apply_elementary("sqrt", 1 + z)
    for wrong in (-apply_elementary("sqrt", 1 - z * z), apply_elementary("sqrt", 1 - z * z).conjugate()):
        assert not (is_identically_equal(right.re, wrong.re) and is_identically_equal(right.im, wrong.im))
    assert not is_identically_equal(apply_elementary("sqrt", z * z).re, -z.re)


@pytest.mark.every(5)
@pytest.mark.parametrize("name", IDENTITIES)
def test_identities_are_seen_in_the_field(name):
    """The functional equations hold for complex numbers, and not with a millionth more."""
    trace = Trace()
    z, w = traced(trace, "z", 0.3 + 0.4j), traced(trace, "w", 0.75 - 1.25j)
    left, right = IDENTITIES[name](z, w)
    left, right = ((v.re, v.im) if isinstance(v, Complex) else (v,) for v in (left, right))
    for a, b in zip(left, right, strict=True):
        assert is_identically_equal(a, b)
        assert not is_identically_equal(a, b * 1.000001)
