"""Verdicts on rules of functions of complex numbers: right ones proved, slips with conjugates refuted."""

import cmath
import os

import numpy as np
import pytest

from rulelab.rules.authoring import rrule_for, scalar_rule
from rulelab.rules.registry import Registry
from rulelab.symbolic import Proved, Refuted, Unsupported, derive_rule, prove
from rulelab.symbolic.report import name_latex
from rulelab.tangents.structural import Tangent
from rulelab.tangents.zeros import NoTangent, ZeroTangent

NOTHING = NoTangent()
conj = np.conj
Z = (1 + 2j,)
TWO = (1 + 2j, 0.5 - 1j)
VECTOR = np.array([1 + 2j, 3 - 1j])
A = np.array([[1 + 2j, 3 - 1j, 1j], [1.0, 2.0, 3j]])
B = np.array([[2j, 0.5 - 1j], [1.0, 1.0], [2.0, 2j]])


def rule_from(f, *cotangents):
    """A rule for `f` whose cotangents are functions of (y_bar, *xs)."""

    def rule(*xs):
        return f(*xs), lambda y_bar: (NOTHING, *(c(y_bar, *xs) for c in cotangents))

    return rule


def judge(f, *cotangents, **options):
    return prove(f, rule_from(f, *cotangents), time_limit=20.0, **options).verdict


HOLOMORPHIC = {
    "exp": (np.exp, np.exp),
    "sin": (np.sin, np.cos),
    "log": (np.log, lambda z: 1 / z),
    "sqrt": (np.sqrt, lambda z: 0.5 / np.sqrt(z)),
    "cube": (lambda z: z**3, lambda z: 3 * z**2),
    "power": (lambda z: z**1.5, lambda z: 1.5 * z**0.5),
    "tanh": (np.tanh, lambda z: 1 - np.tanh(z) ** 2),
    "arcsin": (np.arcsin, lambda z: 1 / np.sqrt((1 - z) * (1 + z))),
    "quotient": (lambda z: (z + 1j) / (z * z + 2), lambda z: (2 - z * z - 2j * z) / (z * z + 2) ** 2),
    "cmath": (lambda z: cmath.exp(1j * z), lambda z: 1j * cmath.exp(1j * z)),
}


def norm(x):
    return np.linalg.norm(x)


def squared_size(z):
    return (z * z.conjugate()).real


def with_branch(z):
    return z**2 if z.real > 0 else 3 * z.conjugate()


def buffered(v):
    out = np.zeros(len(v), complex)
    for i in range(len(v)):
        out[i] = 1j * v[i] ** 2
    return out


OTHERS = {
    "abs": (abs, (lambda b, z: b * z / abs(z),), Z),
    "squared size": (squared_size, (lambda b, z: 2 * b * z,), Z),
    "by parts": (lambda z: z.real**2 + z.imag**2, (lambda b, z: 2 * b * z,), Z),
    "angle": (np.angle, (lambda b, z: 1j * b * z / abs(z) ** 2,), Z),
    "conj": (np.conj, (lambda b, z: conj(b),), Z),
    "real": (np.real, (lambda b, z: b + 0j,), Z),
    "imag": (lambda z: z.imag, (lambda b, z: 1j * b,), Z),
    "z conj(w)": (lambda z, w: z * conj(w), (lambda b, z, w: b * w, lambda b, z, w: conj(b) * z), TWO),
    "z to the w": (
        lambda z, w: z**w,
        (lambda b, z, w: b * conj(w * z ** (w - 1)), lambda b, z, w: b * conj(z**w * np.log(z))),
        TWO,
    ),
    "vdot": (np.vdot, (lambda b, z, w: conj(b) * w, lambda b, z, w: b * z), (VECTOR, VECTOR[::-1] * 2j)),
    "matmul": (
        lambda X, Y: X @ Y,
        (lambda b, X, Y: b @ Y.conj().T, lambda b, X, Y: X.conj().T @ b),
        (A, B),
    ),
    "norm": (norm, (lambda b, x: b * x / norm(x),), (VECTOR,)),
    "inverse": (
        np.linalg.inv,
        (lambda b, X: -np.linalg.inv(X).conj().T @ b @ np.linalg.inv(X).conj().T,),
        (A[:, :2],),
    ),
    "branch": (
        with_branch,
        (lambda b, z: b * conj(2 * z) if z.real > 0 else 3 * conj(b),),
        Z,
    ),
    "buffer": (buffered, (lambda b, v: -2j * conj(v) * b,), (VECTOR,)),
    "two reals": (
        lambda x, y: complex(x, y) ** 2,
        (
            lambda b, x, y: (b * conj(2 * complex(x, y))).real,
            lambda b, x, y: (b * conj(2j * complex(x, y))).real,
        ),
        (1.0, 2.0),
    ),
    "of a real number": (
        lambda x: np.exp(1j * x),
        (lambda b, x: (b * conj(1j * np.exp(1j * x))).real,),
        None,
    ),
    "real and complex": (
        lambda x, z: x * z,
        (lambda b, x, z: (b * conj(z)).real, lambda b, x, z: b * x),
        (1.5, 1 + 2j),
    ),
}


@pytest.mark.every(5)
@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_holomorphic_functions(name):
    """The cotangent conj(f'(z)) * y_bar is proved for complex arguments."""
    f, slope = HOLOMORPHIC[name]
    verdict = judge(f, lambda b, z: b * conj(slope(z)), at=Z)
    assert isinstance(verdict, Proved), verdict.sentence()


@pytest.mark.every(11)
@pytest.mark.parametrize("name", OTHERS)
def test_other_functions(name):
    """So are functions that are not holomorphic, arrays, branches, and real arguments on complex ways."""
    f, cotangents, at = OTHERS[name]
    verdict = judge(f, *cotangents, at=at)
    assert isinstance(verdict, Proved), verdict.sentence()


SLIPS = {
    "no conjugate": lambda b, d: b * d,
    "all conjugated": lambda b, d: conj(b) * d,
    "y_bar conjugated": lambda b, d: conj(b) * conj(d),
    "real part of y_bar": lambda b, d: b.real * conj(d),
    "imaginary part of y_bar": lambda b, d: 1j * b.imag * conj(d),
    "real part only": lambda b, d: (b * conj(d)).real,
    "imaginary part only": lambda b, d: 1j * (b * conj(d)).imag,
    "i": lambda b, d: 1j * b * conj(d),
    "minus i": lambda b, d: -1j * b * conj(d),
    "sign": lambda b, d: -b * conj(d),
    "double": lambda b, d: 2 * b * conj(d),
    "millionth": lambda b, d: (1 + 1e-6) * b * conj(d),
    "imaginary millionth": lambda b, d: (1 + 1e-6j) * b * conj(d),
    "without y_bar": lambda b, d: conj(d),
    "real part of the derivative": lambda b, d: b * d.real,
    "size of the derivative": lambda b, d: b * abs(d),
    "zero": lambda b, d: 0 * b,
}


SLOW = ("power", "quotient", "tanh", "arcsin")  # 2 s each


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.campaign] * (name in SLOW)) for name in HOLOMORPHIC]
)
@pytest.mark.every(5, slow=True)
def test_slips_in_holomorphic_rules_are_refuted(name):
    """A conjugate too few, too many or elsewhere, one part only, a factor of i: none is proved."""
    f, slope = HOLOMORPHIC[name]
    for slip, wrong in SLIPS.items():
        verdict = judge(f, lambda b, z, wrong=wrong: wrong(b, slope(z)), at=Z)
        assert isinstance(verdict, Refuted) and verdict.kind == "gradient", f"{slip}: {verdict.sentence()}"


WRONG = {
    "abs": [lambda b, z: b * conj(z) / abs(z), lambda b, z: b * z.real / abs(z), lambda b, z: b * z],
    "squared size": [lambda b, z: b * z, lambda b, z: 2 * b * conj(z), lambda b, z: 2 * b * z.real],
    "angle": [lambda b, z: b * z / abs(z) ** 2, lambda b, z: -1j * b * z / abs(z) ** 2],
    "conj": [lambda b, z: b, lambda b, z: -conj(b), lambda b, z: b.real + 0j],
    "real": [lambda b, z: 1j * b, lambda b, z: b / 2, lambda b, z: b * (1 + 1j)],
    "imag": [lambda b, z: b + 0j, lambda b, z: -1j * b],
    "norm": [lambda b, x: b * conj(x) / norm(x), lambda b, x: b * x.real / norm(x)],
    "of a real number": [lambda b, x: (b * 1j * np.exp(1j * x)).real, lambda b, x: b.real],
}


@pytest.mark.every(11)
@pytest.mark.parametrize("name", WRONG)
def test_slips_in_other_rules_are_refuted(name):
    """The same where the function is not holomorphic."""
    f, _, at = OTHERS[name]
    for wrong in WRONG[name]:
        assert isinstance(verdict := judge(f, wrong, at=at), Refuted), verdict.sentence()


@pytest.mark.every(5)
@pytest.mark.parametrize("name", ["z conj(w)", "z to the w", "vdot", "matmul"])
def test_the_conjugate_on_the_wrong_factor_is_refuted(name):
    """Of two arguments: one cotangent conjugated, or y_bar, or the two swapped."""
    f, (first, second), at = OTHERS[name]
    slips = [
        (lambda *xs: conj(first(*xs)), second),
        (first, lambda *xs: conj(second(*xs))),
        (lambda b, *xs: first(conj(b), *xs), second),
        (first, lambda b, *xs: second(b.real, *xs)),
        (first, lambda b, z, w: second(b, conj(z), conj(w))),
        (first, lambda *xs: (1 + 1e-6) * second(*xs)),
    ]
    for number, wrong in enumerate(slips):
        verdict = judge(f, *wrong, at=at)
        assert isinstance(verdict, Refuted), f"{number}: {verdict.sentence()}"


def test_the_slip_is_named():
    """The verdict says which conjugate is missing, in the usual cases."""
    words = {
        "instead of its conjugate": lambda b, z: b * 2 * z,
        "is the conjugate of the right one": lambda b, z: conj(b) * 2 * z,
        "is only the real part of the right one": lambda b, z: (b * conj(2 * z)).real,
        "uses only the real part of y_bar": lambda b, z: b.real * conj(2 * z),
        "has the wrong sign": lambda b, z: -b * conj(2 * z),
        "is i times the right one": lambda b, z: 1j * b * conj(2 * z),
        "is 1/2 times the right one": lambda b, z: b * conj(z),
        "ignores the incoming cotangent": lambda b, z: conj(2 * z),
    }
    for reason, wrong in words.items():
        assert reason in judge(lambda z: z * z, wrong, at=Z).reason


@pytest.mark.parametrize("name", ["exp", "vdot"])
def test_the_example_can_be_pasted(name):
    """The code of a counterexample runs as it is and gives the wrong complex number that it says."""
    f = np.exp if name == "exp" else np.vdot
    cotangents = [lambda b, *xs: b * xs[0], lambda b, *xs: b * xs[0]][: 1 if name == "exp" else 2]
    rule = rule_from(f, *cotangents)
    example = prove(f, rule, at=Z if name == "exp" else (VECTOR, 2 * VECTOR)).verdict.counterexample
    assert "complex(" in example.code and "complex(" in example.y_bar
    setup, ask = example.code.splitlines()
    namespace = {"rule": rule, "np": np}
    exec(setup, namespace)
    assert eval(ask, namespace) == pytest.approx(complex(example.found), rel=1e-6)
    assert complex(example.expected) != pytest.approx(complex(example.found), rel=1e-6)


def test_a_branch_far_away_is_found():
    """A wrong slope beyond a condition on the real part is met, as for real arguments."""

    def far(z):
        return z * 2 if z.imag < 100 else z**2

    verdict = judge(far, lambda b, z: 2 * b, at=Z)
    assert isinstance(verdict, Refuted) and verdict.counterexample.arguments["z"].startswith("complex(")


def test_the_sides_of_a_cut_are_in_the_scope():
    """A verdict on a function with a cut names the regions that were visited."""
    verdict = judge(np.sqrt, lambda b, z: b * conj(0.5 / np.sqrt(z)), at=Z)
    assert "3 cases" in verdict.scope and "x.imag < 0" in verdict.scope
    entire = judge(np.exp, lambda b, z: b * conj(np.exp(z)), at=Z)
    assert "all complex values" in entire.scope


def test_a_point_on_a_cut_is_left_out():
    """On the cut itself nothing is judged; the verdict rests on the points beside it."""
    assert isinstance(judge(np.sqrt, lambda b, z: b * conj(0.5 / np.sqrt(z)), at=(-1 + 0j,)), Proved)


def test_a_real_argument_takes_the_real_part():
    """A complex cotangent of a real argument counts by its real part, as in `rl.gradient`, with a note."""
    f = OTHERS["of a real number"][0]
    report = prove(f, rule_from(f, lambda b, x: b * conj(1j * np.exp(1j * x))))
    assert isinstance(report.verdict, Proved)
    assert any("its real part is used" in note for note in report.notes)
    assert "all real values" in report.verdict.scope


@pytest.mark.slow
def test_complex_is_asked_for_by_annotation_default_or_at():
    """`z: complex` and a complex default are tried with complex numbers; a real function stays real."""

    def square(z: complex):
        return z**2

    def scaled(x, by=2 + 1j):
        return x * by

    assert "complex" in judge(square, lambda b, z: b * conj(2 * z)).scope
    assert isinstance(judge(square, lambda b, z: b * 2 * z), Refuted)
    right = judge(scaled, lambda b, x, by: (b * conj(by)).real, lambda b, x, by: np.sum(b * x))
    assert isinstance(right, Proved) and "complex" in right.scope
    assert "all real values" in judge(lambda z: z**2, lambda b, z: b * 2 * z).scope


def test_rules_of_the_registry():
    """Scalar rules conjugate by themselves; a full rule is judged as it stands; results may be mixed."""
    registry = Registry()

    def cube(z):
        return z**3

    def polar(z):
        return abs(z), z / abs(z)

    scalar_rule(cube, lambda y, z: 3 * z**2, registry=registry)

    @rrule_for(polar, registry=registry)
    def polar_rrule(z):
        size, direction = polar(z)

        def polar_pullback(y_bar):
            size_bar, direction_bar = y_bar
            turned = 1j * direction * (conj(direction) * direction_bar).imag / size
            return NOTHING, size_bar * direction + turned

        return (size, direction), polar_pullback

    assert isinstance(prove(cube, at=Z, registry=registry).verdict, Proved)
    verdict = prove(polar, at=Z, registry=registry).verdict
    assert isinstance(verdict, Proved), verdict.sentence()


def test_a_value_of_the_wrong_kind():
    """A rule whose y is real where the function's is complex, or the other way round, is refuted by value."""

    def square(z):
        return z * z

    def with_value(value):
        return lambda z: (value(z), lambda b: (NOTHING, b * conj(2 * z)))

    for value in (lambda z: (z * z).real, lambda z: z * z + 1e-7j):
        verdict = prove(square, with_value(value), at=Z).verdict
        assert isinstance(verdict, Refuted) and verdict.kind == "value"
    verdict = prove(lambda z: z.real, lambda z: (z, lambda b: (NOTHING, b + 0j)), at=Z).verdict
    assert isinstance(verdict, Refuted) and verdict.kind == "value"


def test_what_is_not_followed_is_named():
    """Functions without a complex form here, and decompositions, are UNSUPPORTED, with their name."""
    hermitian = np.array([[2.0, 0.5 - 1j], [0.5 + 1j, 3.0]])
    verdict = judge(np.linalg.cholesky, lambda b, X: b, at=(hermitian,))
    assert isinstance(verdict, Unsupported) and "cholesky" in verdict.construct


def test_a_refutation_is_quick():
    """A wrong rule is refuted within a fraction of a second."""
    judge(np.exp, lambda b, z: b * np.exp(z), at=Z)  # SymPy is loaded
    started = sum(os.times()[:4])  # ours and that of the processes that we have started
    judge(np.exp, lambda b, z: b * np.exp(z), at=Z)
    assert sum(os.times()[:4]) - started < 2.0


def test_formulas_name_real_and_imaginary_parts():
    """The report shows both parts of the cotangent, in text and as mathematics."""
    report = prove(lambda z: z * z, rule_from(lambda z: z * z, lambda b, z: b * 2 * z), at=Z)
    assert [row.name for row in report.arguments] == ["z.real", "z.imag"]
    assert r"\operatorname{Re}{z}" in report.to_latex() and "y_bar.imag" in str(report)
    assert name_latex("z.imag") == r"\operatorname{Im}{z}"


def test_zeros_stand_for_complex_zeros():
    """ZeroTangent, and a real cotangent for a complex argument, are complex numbers too."""
    f = OTHERS["z conj(w)"][0]
    assert isinstance(judge(f, lambda b, z, w: ZeroTangent(), lambda b, z, w: conj(b) * z, at=TWO), Refuted)
    assert isinstance(judge(lambda z: z.real, lambda b, z: b, at=Z), Proved)


def test_a_tangent_for_a_tuple_of_complex_results():
    """Seeds of several complex results come as a Tangent."""

    def both(z):
        return z * z, z.conjugate()

    def rule(z):
        def back(y_bar):
            assert isinstance(y_bar, Tangent)
            return NOTHING, y_bar[0] * conj(2 * z) + conj(y_bar[1])

        return both(z), back

    assert isinstance(prove(both, rule, at=Z).verdict, Proved)


@pytest.mark.slow
def test_rules_are_derived_through_complex_numbers():
    """A real function that goes through the plane can be derived; a complex result is refused."""

    def size(x):
        return abs(x * (1 + 1j)) ** 2

    def turned(x):
        return np.exp(1j * x)

    assert "4 * x" in str(derive_rule(size))
    with pytest.raises(Exception, match="a complex result"):
        derive_rule(turned)


def scaled_conjugate(z, gain):
    return gain * np.conj(z)


def power_beyond(z, limit):
    return np.sum(np.maximum((np.conj(z) * z).real - limit, 0.0))


def beyond(z, limit):
    return (np.conj(z) * z).real > limit


# Right for real numbers; of the cotangents of each argument a right one and a wrong one.
TAKEN_APART = {
    "a factor": (
        scaled_conjugate,
        (lambda g, z, gain: gain * conj(g), lambda g, z, gain: gain * g),
        (lambda g, z, gain: np.sum((g * z).real), lambda g, z, gain: np.sum((g * conj(z)).real)),
    ),
    "a bound": (
        power_beyond,
        (
            lambda g, z, limit: 2 * g * z * beyond(z, limit),
            lambda g, z, limit: 2 * g * conj(z) * beyond(z, limit),
        ),
        (lambda g, z, limit: -g * np.sum(beyond(z, limit)),) * 2,
    ),
}


@pytest.mark.every(2, slow=True)
@pytest.mark.parametrize("name", TAKEN_APART)
def test_what_is_taken_apart_is_asked_in_complex_numbers_given_nothing(name):
    """A rule that is right for real numbers alone is refuted, one that is right for both is proved, beside
    numbers that are real.
    """
    f, of_z, of_number = TAKEN_APART[name]
    assert isinstance(judge(f, of_z[0], of_number[0]), Proved)
    for mistaken in {(of_z[1], of_number[0]), (of_z[0], of_number[1])} - {(of_z[0], of_number[0])}:
        verdict = judge(f, *mistaken)
        assert isinstance(verdict, Refuted), verdict.sentence()


def overlap(z, w):
    return np.abs(np.conj(w) * z) ** 2 / (np.abs(z) ** 2 * np.abs(w) ** 2)


def overlap_rule(z, w):
    y = overlap(z, w)

    def pullback(y_bar):
        inner = 2 * y_bar * np.conj(w) * z / (np.abs(z) ** 2 * np.abs(w) ** 2)
        z_bar = inner * w - 2 * y_bar * y / np.abs(z) ** 2 * z
        return NoTangent(), z_bar, np.conj(inner) * z - 2 * y_bar * y / np.abs(w) ** 2 * w

    return y, pullback


def test_roundings_of_a_cotangent_that_vanishes_are_no_proof_that_a_rule_is_not_linear():
    """Of two numbers the overlap is one, whatever they are."""
    verdict = prove(overlap, overlap_rule, at=(complex(4 / 3, 6 / 7), complex(10 / 9, 7 / 9))).verdict
    assert not isinstance(verdict, Refuted), verdict
