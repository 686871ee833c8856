"""Tests of the same point as users have it."""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.probing.perturb import laid_out_like, laid_out_otherwise
from rulelab.checking.probing.probes import Point
from rulelab.checking.probing.variants import (
    in_complex,
    in_floats,
    in_whole_numbers,
    of_other_lengths,
    same_numbers,
    smaller_in_complex,
    with_fractions,
)
from rulelab.rules.registry import Registry

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

X = np.array([[0.5, 1.5, -2.5], [3.5, 4.5, 5.5]])


def rng():
    return np.random.default_rng(2)


def test_the_same_numbers_in_every_layout():
    """Gaps, backwards, transposed, and in single precision; none of a number."""
    points = list(same_numbers(Point((X, 2.0)), 1.0))
    assert all(np.array_equal(p.inputs[0], X) and p.guessed for p in points)
    arrays = [p.inputs[0] for p in points]
    assert [a.dtype == np.float32 for a in arrays] == [True, False, False, False]
    assert [min(a.strides) < 0 for a in arrays] == [False, False, True, False]
    assert arrays[3].flags.f_contiguous and not arrays[1].flags.forc
    assert not list(same_numbers(Point((2.0,)), 1.0))


def test_a_layout_is_kept():
    """By another array of the same rank."""
    for how in ("gaps", "backwards", "transposed"):
        (x,) = laid_out_otherwise((X,), how)
        assert laid_out_like(x, X + 1.0).strides == x.strides


def test_whole_numbers_know_their_floats():
    """A derivative is by these; no number is 1, which hides mistakes."""
    floats = in_floats(Point((X, 0.25)))
    whole = in_whole_numbers(floats)
    assert whole.inputs[0].dtype == np.int64 and type(whole.inputs[1]) is int
    assert np.array_equal(whole.inputs[0], whole.floats[0]) and whole.floats[0].dtype == float
    assert not np.any(np.abs(floats.inputs[0]) == 1)
    assert np.mean(in_floats(Point((np.array([2.0, -2.0, 3.0]),))).inputs[0]) % 1 != 0  # nor a mean of them
    for largest in range(2, 200):  # each is moved by one, not by a factor that is rounded
        moved = in_floats(Point((np.array([-1.0, largest - 1.0]),))).inputs[0]
        assert np.all(moved % 1 == 0) and np.sum(moved) % 2 == 1
    assert in_whole_numbers(Point((np.arange(3),))) is None


def test_whole_numbers_that_were_given_are_floats_wherever_they_stand():
    """Beside a list, a dict, a flag, a word or nothing at all, each of which is no number."""
    whole = ([1, 2], (3,), {"a": np.array([4])}, 5, True, "full", None, np.array([True]))
    floats = in_floats(Point(tuple(whole)), whole).inputs
    assert floats[:2] == ([1.0, 2.0], (3.0,)) and type(floats[0][0]) is float
    assert floats[2]["a"].dtype == float and floats[3:7] == (5.0, True, "full", None)
    assert type(floats[4]) is bool and floats[7].dtype == bool


@pytest.mark.parametrize("c", [[1, 2, 3], [1.0, 2.0, 3.0], (1, 2, 3)])
def test_a_whole_number_beside_a_list_can_be_checked(c):
    """As whoever tries a polynomial types it: poly([1, 2, 3], 2)."""

    def poly(c, x):
        return c[0] + c[1] * x + c[2] * x * x

    def poly_rrule(c, x):
        def poly_pullback(y_bar):
            return rl.NoTangent(), type(c)([y_bar, x * y_bar, x * x * y_bar]), (c[1] + 2 * c[2] * x) * y_bar

        return poly(c, x), poly_pullback

    registry = Registry()
    rl.rrule_for(poly, registry=registry)(poly_rrule)
    assert rl.rule_check(poly, c, 2, registry=registry).verdict == "right"


def test_numbers_keep_their_fractions_beside_arrays_of_whole_numbers():
    point = Point((X, 0.25))
    mixed = in_whole_numbers(with_fractions(in_floats(point), point))
    assert mixed.inputs[0].dtype.kind == "i" and mixed.inputs[1] == 0.25
    assert with_fractions(in_floats(Point((X,))), Point((X,))) is None


def test_axes_of_one_length_vary_together():
    """So a product stays one, and labels stay labels."""
    labels = np.array([0, 1, 1])
    for point in of_other_lengths(Point((X, np.arange(3.0), labels, [1.0, 2.0])), (), rng()):
        matrix, vector, indices, _ = point.inputs
        assert matrix.shape[1] == len(vector) == len(indices) and set(indices) <= {0, 1}


def test_the_corners_of_a_triangle_stay_together():
    """None is a corner of a triangle twice, however many triangles there are."""
    corners = np.array([[2, 1, 0], [1, 0, 2]])
    longer = [p.inputs[0] for p in of_other_lengths(Point((corners, X)), (), rng()) if len(p.inputs[0]) > 2]
    assert longer and all(len(set(row)) == 3 for found in longer for row in found.tolist())


def test_lengths_stand_in_the_code():
    """Both sides of a number that lengths may be compared with."""

    def f(x):
        return x if len(x) > 10 else 2 * x

    lengths = {len(p.inputs[0]) for p in of_other_lengths(Point((np.ones(3),)), [f.__code__], rng())}
    assert {2, 4, 7, 10, 11} <= lengths


def test_complex_numbers_have_both_parts():
    """A domain of real numbers has none."""
    point = in_complex(Point((X, 2.0)), rng())
    assert np.all(point.inputs[0].imag != 0) and point.inputs[1].imag
    assert in_complex(Point((X,), bounds=((0.0, np.inf),)), rng()) is None
    assert in_complex(Point((np.arange(3),)), rng()) is None


def test_vectors_of_two_lengths_are_not_brought_to_one():
    """A quaternion is not as long as a vector; a matrix may be square, and there a rule may be another."""
    rng = np.random.default_rng(0)
    for inputs, is_tried in (((np.ones(4), np.ones(3)), False), ((np.ones((4, 3)), np.ones(3)), True)):
        origins = [point.origin for point in of_other_lengths(Point(inputs), (), rng)]
        assert origins and ("all of length 3" in origins) == is_tried


def test_complex_numbers_come_in_two_sizes():
    """The others are as they were: what is compared with a bound lies on both sides of it."""
    point = in_complex(Point((X, 2.0)), rng(), frozenset((0,)))
    smaller = smaller_in_complex(point)
    np.testing.assert_allclose(smaller.inputs[0], point.inputs[0] / 4)
    assert smaller.inputs[1] == 2.0


# A bound, a threshold and a rate beside complex arrays are real: the rule, and a mistake that only complex
# numbers show, or that stands in the cotangent of the bound.
BESIDE = {
    "soft threshold": (
        "z, tau",
        "np.where(np.abs(z) > tau, (1 - tau / np.abs(z)) * z, 0)",
        """
    r, over = np.abs(z), np.abs(z) > tau
    u = z / r
    def back(y_bar):
        along = np.real(np.conj(u) * y_bar)
        z_bar = np.where(over, (1 - tau / r) * y_bar + tau / r * u * along, 0)
        return rl.NoTangent(), z_bar, -np.sum(np.where(over, along, 0.0))
""",
        (("np.real(np.conj(u) * y_bar)", "np.real(u * y_bar)"), ("-np.sum(np.where", "np.sum(np.where")),
    ),
    "clipped": (
        "z, bound",
        "np.where(np.abs(z) > bound, bound * z / np.abs(z), z)",
        """
    r, over = np.abs(z), np.abs(z) > bound
    u = z / r
    def back(y_bar):
        along = np.real(np.conj(u) * y_bar)
        z_bar = np.where(over, bound / r * (y_bar - u * along), y_bar)
        return rl.NoTangent(), z_bar, np.sum(np.where(over, along, 0.0))
""",
        (("np.real(np.conj(u) * y_bar)", "np.real(u * y_bar)"), ("over, along, 0.0", "over, -along, 0.0")),
    ),
    "limited power": (
        "z, limit",
        "np.sum(np.minimum(np.abs(z) ** 2, limit))",
        """
    under = np.abs(z) ** 2 < limit
    def back(y_bar):
        return rl.NoTangent(), 2 * y_bar * np.conj(np.conj(z)) * under, y_bar * np.sum(~under)
""",
        (("np.conj(np.conj(z))", "np.conj(z)"), ("np.sum(~under)", "np.sum(under)")),
    ),
    "shrunk": (
        "z, width",
        "z * np.abs(z) / (np.abs(z) + width)",
        """
    r = np.abs(z)
    def back(y_bar):
        along = np.real(np.conj(z) * y_bar)
        z_bar = y_bar * r / (r + width) + along * width / (r + width) ** 2 * z / np.where(r > 0, r, 1.0)
        return rl.NoTangent(), z_bar, -np.sum(along * r / (r + width) ** 2)
""",
        (("np.real(np.conj(z) * y_bar)", "np.real(z * y_bar)"), ("-np.sum(along", "np.sum(along")),
    ),
    "turned": (
        "z, rate",
        "z * np.exp(1j * rate)",
        """
    w = np.exp(1j * rate)
    def back(y_bar):
        return rl.NoTangent(), np.conj(w) * y_bar, np.sum(np.real(np.conj(1j * z * w) * y_bar))
""",
        (("np.conj(w) * y_bar", "w * y_bar"), ("np.conj(1j * z * w) * y_bar", "1j * z * w * y_bar")),
    ),
}


SQUARED = (
    "z, gain",
    "gain**2 * np.conj(z)",
    """
    def back(y_bar):
        return rl.NoTangent(), gain**2 * np.conj(y_bar), np.sum(2 * gain * z * y_bar)
""",
    (("gain**2 * np.conj(y_bar)", "gain**2 * y_bar"), ("gain * z * y_bar", "gain * np.conj(z) * y_bar")),
)


def right_and_wrong(parameters, f, rule, mistakes):
    """The text of a right rule, and those with one mistake each."""
    right = (
        f"def f({parameters}):\n    return {f}\n"
        f"@rl.rrule_for(f, registry=registry)\ndef f_rrule({parameters}):{rule}"
        f"    return f({parameters}), back\n"
    )
    assert all(right.count(piece) == 1 for piece, _ in mistakes)
    return right, [right.replace(*mistake) for mistake in mistakes]


@pytest.mark.every(11)
@pytest.mark.parametrize("depth", ["quick", "normal"])
@pytest.mark.parametrize("name", BESIDE)
def test_a_bound_beside_complex_arrays_is_real(name, depth):
    """Given nothing: right rules are right, and wrong ones wrong on either side of the bound; a quick check
    that has seen one side of it far away alone cannot tell.
    """
    right, mistakes = right_and_wrong(*BESIDE[name])
    assert judged(right, depth=depth).verdict == "right"
    for text in mistakes:
        report = judged(text, depth=depth)
        assert report.verdict in ("wrong", *["inconclusive"] * (depth == "quick")), f"{text}{report}"


@pytest.mark.first(1)
@pytest.mark.parametrize("depth", ["quick", "normal"])
def test_a_number_beside_arrays_that_are_taken_apart_is_real(depth):
    """A rule that is right for real gains alone, and has a complex answer for others, is right."""
    right, mistakes = right_and_wrong(*SQUARED)
    given = np.array([1.0, 2.5, -3.0]), 1.25
    assert judged(right, *given, depth=depth).verdict == "right"
    assert [judged(text, *given, depth=depth).verdict for text in mistakes] == ["wrong", "wrong"]


ANNOTATED = """
def f(a: complex):
    return np.fft.fft(a)


@rl.rrule_for(f, registry=registry)
def f_rrule(a):
    def back(y_bar):
        return rl.NoTangent(), len(a) * np.fft.ifft(y_bar)

    return np.fft.fft(a), back
"""


@pytest.mark.slow
def test_an_argument_annotated_as_complex_is_tried_in_complex_numbers():
    """Where the function takes arrays alone, and the rule gives real cotangents, too."""
    assert judged(ANNOTATED).verdict == "right"
    wrong = ANNOTATED.replace("np.fft.ifft(y_bar)\n", "np.real(np.fft.ifft(y_bar)) + 0j\n")
    assert wrong != ANNOTATED
    assert judged(wrong).verdict == "wrong"
    real = wrong.replace("a: complex", "a")
    assert judged(real).verdict == "right"

BUFFER = """
def f(y, x):
    return 0.5 * np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]))


@rl.rrule_for(f, registry=registry)
def f_rrule(y, x):
    def back(y_bar):
        bar, x_bar = {}, np.zeros_like(x, dtype=float)
        bar[1:] += 0.5 * y_bar * np.diff(x)
        bar[:-1] += 0.5 * y_bar * np.diff(x)
        x_bar[1:] += 0.5 * y_bar * (y[1:] + y[:-1])
        x_bar[:-1] -= 0.5 * y_bar * (y[1:] + y[:-1])
        return rl.NoTangent(), bar, x_bar

    return f(y, x), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize("args", [(), (np.array([2, 3, 5, 4]), np.array([0, 1, 3, 6]))])
def test_a_rule_that_cannot_put_floats_into_a_buffer_of_integers_is_wrong(args):
    """Its function takes arrays of whole numbers, and the rule has no answer for them, but an exception."""
    assert judged(BUFFER.format("np.zeros(len(y))"), *args).verdict == "right"
    report = judged(BUFFER.format("np.zeros_like(y)"), *args)
    assert report.verdict == "wrong" and "UFuncTypeError" in report.sentence


IN_PLACE = """
def f(a, b, box):
    d = a - b
    return np.sum((d - box * np.round(d / box)) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, box):
    d = a - b
    wraps = np.rint(d / box)
    d -= wraps * box

    def back(y_bar):
        bar = {} * y_bar * d
        return rl.NoTangent(), bar, -bar, np.sum(-wraps * bar, axis=tuple(range(np.ndim(d) - np.ndim(box))))

    return np.sum(d**2), back
"""


@pytest.mark.slow
def test_what_is_changed_in_place_is_for_floats_unless_whole_numbers_are_given():
    """NumPy's exception is no wrong number. It is told."""
    report = judged(IN_PLACE.format("2"))
    assert report.verdict == "right" and "UFuncTypeError" in str(report)
    assert judged(IN_PLACE.format("1")).verdict == "wrong"
    whole = np.array([[2, 3], [5, 4]])
    assert judged(IN_PLACE.format("2"), whole, whole[::-1], np.array([3, 7])).verdict == "wrong"


REFUSING = """
def f(x):
    return np.sum(x**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    if x.dtype.kind == "i":
        raise TypeError("floats, please")
    return f(x), lambda y_bar: (rl.NoTangent(), 2 * y_bar * x)
"""


def test_a_rule_may_be_for_floats_unless_whole_numbers_are_given():
    assert judged(REFUSING).verdict == "right"
    assert judged(REFUSING, np.array([2, 3, 5])).verdict == "wrong"


BETWEEN = """
def f(values, t):
    k = int(np.clip(np.floor(t), 0, len(values) - 2))
    return values[k] + np.sin(t - k) * (values[k + 1] - values[k])


@rl.rrule_for(f, registry=registry)
def f_rrule(values, t):
    k = int(np.clip(np.floor(t), 0, len(values) - 2))

    def back(y_bar):
        values_bar = np.zeros(len(values))
        values_bar[{}] = y_bar * np.array([1 - np.sin(t - k), np.sin(t - k)])
        return rl.NoTangent(), values_bar, y_bar * np.cos(t - k) * (values[k + 1] - values[k])

    return f(values, t), back
"""


@pytest.mark.slow
def test_a_number_that_is_the_place_of_an_element_is_among_the_later_ones_too():
    """Elsewhere a rule that writes to the first ones looks right."""
    assert judged(BETWEEN.format("k : k + 2")).verdict == "right"
    assert judged(BETWEEN.format(":2")).verdict == "wrong"
