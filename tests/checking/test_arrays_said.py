"""Tests of what is a number beside parameters that a docstring calls arrays, and of arrays of the same shape:
a rule is judged there whatever it makes of that.
"""

import pytest

from rulelab.checking.reading.arrays_said import forms_told

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NUMBER, VECTOR = ["a number"], ["a vector"]


@pytest.mark.parametrize(
    "doc, names, wanted",
    [
        ("Light at depths z (array).", "z rate", {"z": VECTOR, "rate": NUMBER}),
        ("Light at depths z (array, positive); rate > 0.", "z rate", {"z": VECTOR, "rate": NUMBER}),
        ("Light at depths z, an array.", "z rate", {"z": VECTOR, "rate": NUMBER}),
        ("Light at depths z, an array or a number.", "z rate", {}),
        ("Light at depths z (1-D).", "z rate", {"z": VECTOR, "rate": NUMBER}),
        ("Light at depths (array `z`) by the rate.", "z rate", {"z": VECTOR, "rate": NUMBER}),
        ("Light at depths (number or array z) by the rate.", "z rate", {}),
        ("Light at depths z (a number or an array).", "z rate", {}),
        ("Light at depths z.", "z rate", {}),
        ("Light.\n\n    Args:\n        z: array\n        s: loss", "z s", {"z": VECTOR, "s": NUMBER}),
        ("Light.\n\n    Args:\n        z: array\n        rate: rates of the layers", "z rate", {"z": VECTOR}),
        ("Light.\n\n    Args:\n        z: array\n        rate: one for each z", "z rate", {"z": VECTOR}),
        ("Light.\n\n    Args:\n        z: array of integers\n        rate: loss", "z rate", {}),
        ("Light at depths z (array).", "z rates", {"z": VECTOR}),
        ("Light at depths z (array).", "z A", {"z": VECTOR}),
        ("At complex samples z (1-D) by s: a number or one gain per sample.", "z s",
         {"z": ["a complex vector"], "s": NUMBER + VECTOR}),
        ("Light.\n\n    z: array of depths, zero or more\n    rate: loss, float > 0", "z rate",
         {"z": VECTOR, "rate": NUMBER}),
        ("Light.\n\n    :param z: array of depths\n    :param k: loss per metre, float", "z k",
         {"z": VECTOR, "k": NUMBER}),
        ("Light.\n\n    :param z: array of depths\n    :param k: loss, float or array", "z k", {"z": VECTOR}),
        ("z : complex ndarray\n    gain : float\n", "z gain", {"z": ["a complex vector"], "gain": NUMBER}),
    ],
)  # fmt: skip
def test_what_is_no_array_beside_one_is_a_number(doc, names, wanted):
    """But for what the text, or its own name, leaves open."""
    if " : " in doc:
        doc = f"Light.\n\n    Parameters\n    ----------\n    {doc}"
    f = eval(f"lambda {', '.join(names.split())}: 0")
    f.__doc__ = doc
    assert {name: list(map(str, kinds)) for name, kinds in forms_told(f).items()} == wanted


LIGHT = """
def f(z, rate):
    "Light at depths z{kind}."
    return np.exp(-rate * z)


@rl.rrule_for(f, registry=registry)
def f_rrule(z, rate):
    y = np.exp(-rate * z)

    def back(y_bar):
        g = -y * y_bar
        return rl.NoTangent(), g * rate, {rate_bar}

    return y, back
"""


@pytest.mark.parametrize(("kind", "rate_bar", "verdict"), [
    (" (array)", "np.sum(g * z)", "right"), (" (array)", "g * z", "wrong"), ("", "g * z", "right"),
])  # fmt: skip
def test_a_number_beside_what_is_called_an_array(kind, rate_bar, verdict):
    """A sum that is forgotten; where no array is spoken of, two arrays of one shape may be meant."""
    assert judged(LIGHT.format(kind=kind, rate_bar=rate_bar)).verdict == verdict


@pytest.mark.slow
def test_the_other_factor_of_a_product_is_an_array():
    text = """
def f(x, w):
    "Weighted sum of x (array)."
    return np.dot(x, w)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, w):
    return np.dot(x, w), lambda y_bar: (rl.NoTangent(), y_bar * w, y_bar * x)
"""
    assert judged(text).verdict == "right"


SHRUNK = '''
def f(z, least=0.5):
    """Shrinkage.

    Parameters
    ----------
    z : complex ndarray
        Coefficients of a transform.
    least : float
        Positive.
    """
    return z / (np.abs(z) ** 2 + least)


@rl.rrule_for(f, registry=registry)
def f_rrule(z, least=0.5):
    d = np.abs(z) ** 2 + least
    y = z / d

    def back(y_bar):
        d_bar = -np.real(np.conj(y_bar) * y) / d
        return rl.NoTangent(), y_bar / d + 2 * z * d_bar, {}

    return y, back
'''


@pytest.mark.slow
@pytest.mark.parametrize(("least_bar", "verdict"), [("np.sum(d_bar)", "right"), ("d_bar", "wrong")])
def test_a_default_beside_what_is_called_a_complex_array(least_bar, verdict):
    report = judged(SHRUNK.format(least_bar))
    assert report.verdict == verdict and "complex vector" in str(report.notes)


TURNED = """
def f(z, angle):
    "The complex samples z (1-D), turned by angle: a number or one angle per sample."
    return z * np.exp(1j * angle)


@rl.rrule_for(f, registry=registry)
def f_rrule(z, angle):
    turn = np.exp(1j * angle)
    w = z * turn

    def back(w_bar):
        angle_bar = np.real(np.conj(1j * w) * w_bar)
        return rl.NoTangent(), w_bar * np.conj(turn), {}

    return w, back
"""


@pytest.mark.slow
@pytest.mark.parametrize(("angle_bar", "verdict"), [
    ("angle_bar.sum() if np.ndim(angle) == 0 else angle_bar", "right"),
    ("angle_bar", "wrong"), ("angle_bar.sum()", "wrong"),
])  # fmt: skip
def test_a_number_or_one_for_each(angle_bar, verdict):
    assert judged(TURNED.format(angle_bar)).verdict == verdict


PIXELS = '''
def f(pixels, tint):
    """Tinted pixels.

    pixels : (h, w, 3) array
    tint : (3,) array
    """
    return np.log(1 + pixels**2 * tint**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(pixels, tint):
    def back(y_bar):
        g = 2 * y_bar / (1 + pixels**2 * tint**2)
        return rl.NoTangent(), g * pixels * tint**2, np.sum(g * pixels**2 * tint, axis={})

    return f(pixels, tint), back
'''


@pytest.mark.slow
@pytest.mark.parametrize(("axis", "verdict"), [("(0, 1)", "right"), ("0", "wrong")])
def test_a_number_with_a_comma_is_a_length(axis, verdict):
    assert judged(PIXELS.format(axis)).verdict == verdict


MISFIT = """
def f(seen, told):
    "Mean misfit{kind}."
    return np.mean(np.cosh(seen - told))


@rl.rrule_for(f, registry=registry)
def f_rrule(seen, told):
    def back(y_bar):
        g = y_bar * np.sinh(seen - told) / {count}
        return rl.NoTangent(), g, -g

    return f(seen, told), back
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count", "verdict"), [
    ("; arrays of the same shape", "np.size(seen)", "right"),
    ("; arrays of the same shape", "len(seen)", "wrong"),
    ("; 1-D arrays of the same shape", "len(seen)", "right"), ("", "len(seen)", "right"),
])  # fmt: skip
def test_arrays_of_the_same_shape_are_matrices_too(kind, count, verdict):
    """Rows are counted instead of numbers; where vectors are meant, or nothing is said, that is right."""
    assert judged(MISFIT.format(kind=kind, count=count)).verdict == verdict


@pytest.mark.slow
def test_arrays_of_the_same_shape_are_vectors_where_a_product_is_a_number():
    text = """
def f(seen, told):
    "Overlap; arrays of the same shape."
    return np.inner(seen, told)


@rl.rrule_for(f, registry=registry)
def f_rrule(seen, told):
    return np.inner(seen, told), lambda y_bar: (rl.NoTangent(), y_bar * told, y_bar * seen)
"""
    assert judged(text).verdict == "right"


SCORES = '''
def f(scores, wanted):
    """Mean of the squares.

    Args:
        scores (ndarray): any shape.
        wanted (ndarray): same shape, numbers between 0 and 1.
    """
    return np.mean((scores - wanted) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(scores, wanted):
    def back(y_bar):
        g = 2 * y_bar * (scores - wanted) / {count}
        return rl.NoTangent(), g, -g

    return f(scores, wanted), back
'''


@pytest.mark.first(1)
@pytest.mark.parametrize(("count", "verdict"), [("scores.size", "right"), ("len(scores)", "wrong")])
def test_any_shape_is_that_of_matrices_too(count, verdict):
    assert judged(SCORES.format(count=count)).verdict == verdict


LENS = '''
class Lens(NamedTuple):
    power: float
    offset: float


def f(lens, z):
    """Defocus of a lens (a Lens) at the places z, an array."""
    return np.tanh(lens.power * (z - lens.offset))


@rl.rrule_for(f, registry=registry)
def f_rrule(lens, z):
    y = f(lens, z)

    def back(y_bar):
        g = y_bar * (1 - y**2)
        sums = np.sum(g * (z - lens.offset)), {}
        return rl.NoTangent(), rl.Tangent(Lens, power=sums[0], offset=sums[1]), g * lens.power

    return y, back
'''


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("offset_bar", "verdict"), [("-lens.power * np.sum(g)", "right"), ("-lens.power * g", "wrong")]
)
def test_an_array_beside_an_object_is_one_too(offset_bar, verdict):
    """An object is no number, whatever its name looks like."""
    assert judged("from typing import NamedTuple\n" + LENS.format(offset_bar)).verdict == verdict


APART = """
def f(runs):
    \"\"\"Weighted spread of the levels of runs.

    Args:
        runs: list of one-dimensional arrays, of different lengths.
    \"\"\"
    level = np.mean(np.concatenate(runs))
    return sum(len(run) * np.cos(np.mean(run) - level) for run in runs)


@rl.rrule_for(f, registry=registry)
def f_rrule(runs):
    counts = np.array([len(run) for run in runs])
    means = np.array([np.mean(run) for run in runs])
    level = {}

    def back(y_bar):
        bars = -y_bar * counts * np.sin(means - level)
        level_bar = -np.sum(bars) / np.sum(counts)
        return rl.NoTangent(), [np.full(n, bar / n + level_bar) for n, bar in zip(counts, bars)]

    return f(runs), back
"""


@pytest.mark.parametrize(
    ("level", "verdict"), [("np.sum(counts * means) / np.sum(counts)", "right"), ("np.mean(means)", "wrong")]
)
def test_arrays_of_a_list_are_of_other_lengths_where_that_is_said(level, verdict):
    assert judged(APART.format(level)).verdict == verdict
