"""Tests of functions that take complex numbers and say nothing of them: what is right for real ones alone is
said to be.
"""

import pytest

from rulelab.checking.reading.complex_meant import may_be_of_complex
from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

SENSITIVITY = """
def f(G, K):
    return np.linalg.norm(np.linalg.inv(np.eye(len(G)) + G @ K))


@rl.rrule_for(f, registry=registry)
def f_rrule(G, K):
    S = np.linalg.inv(np.eye(len(G)) + G @ K)
    n = np.linalg.norm(S)

    def back(y_bar):
        M_bar = -{S} @ (y_bar * S / n) @ {S}
        return rl.NoTangent(), M_bar @ {K}, {G} @ M_bar

    return n, back
"""
GAIN = """
def f(H):
    return np.sum(np.abs(H @ H.T) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(H):
    P = H @ H.T

    def back(y_bar):
        P_bar = 2 * y_bar * P
        return rl.NoTangent(), (P_bar + P_bar.T) @ {H}

    return f(H), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize("text", [SENSITIVITY, GAIN], ids=["linear algebra", "squared sizes"])
def test_a_rule_for_real_numbers_alone_is_said_to_be(text):
    """No conjugate in it is a mistake if complex matrices are meant."""
    plain = text.format(S="S.T", G="G.T", K="K.T", H="H")
    report = judged(plain)
    assert report.verdict == "right"
    assert any("not right for complex numbers" in note for note in report.notes)
    made = written(plain)
    proof = prove(made["f"], registry=made["registry"]).verdict
    assert proof.word == "PROVED" and "not complex" in proof.sentence()


@pytest.mark.parametrize("text", [SENSITIVITY, GAIN], ids=["linear algebra", "squared sizes"])
def test_a_rule_with_its_conjugates_is_right_for_complex_numbers(text):
    report = judged(text.format(S="S.conj().T", G="G.conj().T", K="K.conj().T", H="H.conj()"))
    assert report.verdict == "right" and not any("complex" in note for note in report.notes)


@pytest.mark.slow
def test_a_rule_with_some_of_its_conjugates_is_wrong():
    text = SENSITIVITY.format(S="S.conj().T", G="G.T", K="K.conj().T")
    assert judged(text).verdict == "wrong"
    made = written(text)
    assert prove(made["f"], registry=made["registry"]).verdict.word == "REFUTED"


def test_products_alone_say_nothing_of_complex_numbers():
    """A layer `x @ W + b` is for real ones."""

    def layer(x, W):
        return x @ W

    assert not may_be_of_complex(layer) and not may_be_of_complex(len)

MOEBIUS = '''
def f(a, b, z):
    """The image of complex z under a map with complex a and b."""
    return (a * z + b) / (b * z + a)


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, z):
    d = b * z + a
    y = (a * z + b) / d

    def back(g):
        return rl.NoTangent(), g * {}((z - y) / d), g * {}((1 - y * z) / d), g * {}((a - y * b) / d)

    return y, back
'''


@pytest.mark.slow
def test_what_a_docstring_calls_complex_is_judged_so():
    """Without a conjugate a rule is right for real numbers alone, and the code has no word for others."""
    right, wrong = (MOEBIUS.format(*[conj] * 3) for conj in ("np.conj", ""))
    assert judged(right).verdict == "right"
    assert judged(wrong).verdict == "wrong"
    made = written(wrong)
    assert prove(made["f"], registry=made["registry"]).verdict.word == "REFUTED"


SWING = """
def f(t, damping, frequency):
    return np.exp(-damping * t) * np.cos(frequency * t)


@rl.frule_for(f, registry=registry)
def f_frule(dots, t, damping, frequency):
    _, t_dot, damping_dot, frequency_dot = dots
    pole = -damping + 1j * frequency
    wave = np.exp(pole * t)
    pole_dot = {}damping_dot + 1j * frequency_dot
    return wave.real, np.real(wave * (pole_dot * t + pole * t_dot))
"""


@pytest.mark.slow
def test_a_forward_rule_may_find_real_numbers_by_way_of_complex_ones():
    """Its tangents are as many as the values, and not as the arguments."""
    assert judged(SWING.format("-"), mode="frule").verdict == "right"
    assert judged(SWING.format(""), mode="frule").verdict == "wrong"


TURNED = """
def f({a}, b):
    return np.array([{a}[0] + b[0] * np.cos({a}[1]), b[1] + b[0] * np.sin({a}[1])])


@rl.rrule_for(f, registry=registry)
def f_rrule({a}, b):
    e = np.exp(1j * {a}[1])

    def back(y_bar):
        g = y_bar[0] + 1j * y_bar[1]
        across = (np.conj(g) * 1j * e * b[0]).real
        return rl.NoTangent(), np.array([y_bar[0], across]), np.array([({turned} * g).real, y_bar[1]])

    return f({a}, b), back
"""


@pytest.mark.slow
def test_a_rule_that_turns_real_numbers_by_complex_ones_is_for_real_ones():
    """The numbers that it makes complex are its own; its arguments are real, as those of its function are."""
    assert judged(TURNED.format(a="a", turned="np.conj(e)")).verdict == "right"
    assert judged(TURNED.format(a="a", turned="e")).verdict == "wrong"


@pytest.mark.slow
def test_what_is_called_as_a_complex_number_is_asked_as_one_whatever_a_rule_makes():
    """A rule for real numbers whose argument is called z is asked in complex ones all the same."""
    text = """
def f(z):
    return z**3


@rl.rrule_for(f, registry=registry)
def f_rrule(z):
    turned = (1j * z) ** 2

    def back(y_bar):
        return rl.NoTangent(), -3 * {} * y_bar

    return z**3, back
"""
    assert judged(text.format("np.conj(turned)")).verdict == "right"
    assert judged(text.format("turned")).verdict == "wrong"


@pytest.mark.parametrize(("said", "verdict"), [("a float or an array", "right"), ("an array", "wrong")])
def test_what_is_called_a_float_is_not_asked_in_complex_numbers(said, verdict):
    """Though the function takes the real part of what a call makes of real numbers."""
    text = f'''
def f(x):
    """How much longer than a leg of length x the hypotenuse is, of {said}."""
    return np.emath.sqrt(-1 - x * x).imag / x


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    return f(x), lambda y_bar: (rl.NoTangent(), -y_bar / (x * x * np.sqrt(1 + x * x)))
'''
    assert judged(text).verdict == verdict


@pytest.mark.parametrize(("first", "verdict"), [("np.conj(y_bar) * b", "right"), ("y_bar * b", "wrong")])
def test_all_are_complex_that_a_docstring_calls_so_without_their_names(first, verdict):
    text = f'''
def f(a, b):
    """Inner product of two complex state vectors."""
    return np.vdot(a, b)


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b):
    return np.vdot(a, b), lambda y_bar: (rl.NoTangent(), {first}, y_bar * a)
'''
    assert judged(text).verdict == verdict


IMPEDANCE = """
def f(values, omega, load):
    z = load
    for value in values:
        z = z * (1j * omega * value) / (z + 1j * omega * value)
    return z


@rl.rrule_for(f, registry=registry)
def f_rrule(values, omega, load):
    z, before = load, []
    for value in values:
        before.append(z)
        z = z * (1j * omega * value) / (z + 1j * omega * value)

    def back(z_bar):
        omega_bar, bars = 0.0, np.zeros(len(values))
        for i in range(len(values) - 1, -1, -1):
            own, z = 1j * omega * values[i], before[i]
            slope = np.real(z_bar * np.conj((z / (z + own)) ** 2 * 1j))
            bars[i] = slope * omega
            omega_bar += slope * values[i]
            z_bar = z_bar * np.conj((own / (z + own)) ** 2)
        return rl.NoTangent(), bars, omega_bar, z_bar

    return z, back
"""


def test_who_gives_real_arguments_beside_a_complex_one_means_both():
    """A frequency beside a load stays real; a mistake in the load is found."""
    args = ([0.7, 1.4], 1.7, 5.0 + 3.0j)
    text = IMPEDANCE.replace("bars = 0.0, np.zeros(len(values))", "bars = 0.0, [0.0] * len(values)")
    assert judged(text, *args).verdict == "right"
    assert judged(text.replace("z_bar * np.conj((own", "z_bar * ((own"), *args).verdict == "wrong"


WAVE = """
def f(k, w):
    return np.exp(1j * w * k)


@rl.rrule_for(f, registry=registry)
def f_rrule(k, w):
    y = f(k, w)

    def back(b):
        return rl.NoTangent(), np.conj(1j * w * y) * b, np.real(np.conj(1j * k * y) * b)

    return y, back
"""


def test_a_report_says_where_complex_numbers_are_given_for_real_arguments():
    """The AD takes their real parts, but other systems may not."""
    assert any("complex numbers for the real k: " in note for note in judged(WAVE).notes)
    real = WAVE.replace("np.conj(1j * w * y) * b", "np.real(np.conj(1j * w * y) * b)")
    assert not any("complex numbers" in note for note in judged(real).notes)
