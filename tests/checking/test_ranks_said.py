"""Tests of what a docstring says of the ranks of arguments, and of rules that are judged at these."""

import pytest

from rulelab.checking.reading.ranks_said import ranks_said, says_axes
from rulelab.checking.reading.stated_kinds import kinds_said, labels_said, signs_said

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def said_by(doc, names):
    f = eval(f"lambda {', '.join(names.split())}: 0")
    f.__doc__ = doc
    return f


@pytest.mark.parametrize(
    "doc, numbers",
    [
        ("Extension of a spring; all arguments are numbers.", "force rate rest"),
        ("Extension of a spring. All inputs are scalars.", "force rate rest"),
        ("Extension of a spring; all parameters are floats.", "force rate rest"),
        ("Extension of a spring of scalar arguments.", "force rate rest"),
        ("Extension of a spring, for scalars only.", "force rate rest"),
        ("Extension of a spring (all numbers).", "force rate rest"),
        ("Extension of a spring. Every argument is a number.", "force rate rest"),
        ("Extension of a spring; takes numbers only.", "force rate rest"),
        ("Extension of a spring, of plain numbers.", "force rate rest"),
        ("Extension of a spring. Scalars in, scalar out.", "force rate rest"),
        ("Extension; force, rate and rest are real scalars.", "force rate rest"),
        ("Extension; force : scalar, rate : scalar.", "force rate"),
        ("Extension.\n\n    force: float\n    rate: float\n", "force rate"),
        ("Extension. force (float), rate (float).", "force rate"),
        ("Extension for a scalar force and scalar rate.", "force rate"),
        ("Extension; force and rate must be numbers.", "force rate"),
        ("Extension, the rate being a number.", "rate"),
        ("Extension for all numbers or arrays.", ""),
        ("Extension of a spring; all arguments are numbers or arrays.", ""),
        ("Extension; force (number of newtons).", ""),
        ("Extension; force is a float array, rate a number.", "rate"),
        ("Extension; force (float array), rate (float).", "rate"),
        ("Extension; force (float, shape (n,)), rate (float).", "rate"),
        ("Extension; force: a number density, rate: a scalar field.", ""),
        ("Extension; force and rate are numbers for each spring.", ""),
        ("Extension; force: scalars, one for each spring; rate: a number.", "rate"),
        ("Extension for the number rate; of the numbers force.", "rate"),
        ("Of a spring.\n\n    Args:\n        rest (int): Turns.\n\n    Returns:\n        float\n    ", ""),
        ("Extension; the other arguments are numbers or arrays.", ""),
    ],
)
def test_what_is_called_a_number_is_one(doc, numbers):
    """In the words that people have for it; a number of something, or one of two, is none."""
    said = kinds_said(said_by(doc, "force rate rest"))
    assert {name for name, kinds in said.items() if kinds[0].form == "number"} == set(numbers.split())


EITHER = ["a number", "a vector"]
ANY = ["a vector", "a matrix"]
SIDES = ["a vector (n)", "a matrix (n, k)"]


@pytest.mark.parametrize(
    "doc, names, wanted",
    [
        ("Of theta (a number or an array) about mu.", "theta mu", {"theta": EITHER}),
        ("Of theta, a number or an array; mu > 0.", "theta mu", {"theta": EITHER}),
        ("Of an array or number theta about mu.", "theta mu", {"theta": EITHER}),
        ("theta : float or array\n    mu : float", "theta mu", {"theta": EITHER}),
        ("theta may be an array or a scalar.", "theta mu", {"theta": EITHER}),
        ("theta can be an array; mu is a scalar.", "theta mu", {"theta": EITHER}),
        ("Of theta (scalar or array), about the scalar mu.", "theta mu", {"theta": EITHER}),
        ("At theta, scalar or array. mu is positive.", "theta mu", {"theta": EITHER}),
        ("Where lo < hi, numbers or arrays of one shape.", "lo hi s", {"lo": EITHER, "hi": EITHER}),
        ("lo and hi, floats or arrays of equal shape; s > 0", "lo hi s", {"lo": EITHER, "hi": EITHER}),
        ("lo, hi : scalar or array_like\n    s : scalar", "lo hi s", {"lo": EITHER, "hi": EITHER}),
        ("Of p; d is a number or an array of the shape of p.", "p d", {"p": ANY[:1], "d": EITHER}),
        ("At distances r (any array); depth is a number.", "r depth", {"r": ANY}),
        ("The squares of x, an array of any shape.", "x", {"x": ANY}),
        ("Of x and y, arrays of any shape.", "x y", {"x": ANY, "y": ANY}),
        ("Of a vector or a matrix x.", "x", {"x": ANY}),
        ("Norm of A - B. For equal matrices it is 0.", "A B", {"A": ANY[1:], "B": ANY[1:]}),
        ("Norm of A - B.", "A B", {}),
        ("Norm of x - y. For equal matrices it is 0.", "x y", {}),
        ("Means over windows of an image, k by k.", "img", {"img": ["a matrix (h, w)"]}),
        ("Means over windows of a square image.", "img", {}),
        ("Scales x, an image.", "x", {"x": ["a matrix (h, w)"]}),
        ("A is (n, n), b a vector (n,) or a matrix (n, k).", "A b", {"b": SIDES}),
        ("A is (n, n), b has shape (n,) or (n, k).", "A b", {"b": SIDES}),
        ("x is (..., d), gain (d,).", "x gain", {"x": ["a vector (d)", "a matrix (m, d)"]}),
        ("A number or an array is returned.", "x", {}),
        ("Squares of x of any shape.", "x", {"x": ANY}),
        ("Of x, an array.", "x", {}),
    ],
)
def test_ranks_are_read(doc, names, wanted):
    """Those that a text says outright, and no others: an array may be one of numbers in a row."""
    found = ranks_said(said_by(doc, names))
    assert {name: [*map(str, kinds)] for name, kinds in found.items()} == wanted


@pytest.mark.parametrize(
    "doc, of_signs",
    [
        ("Loss with labels y of -1 and 1; X is (n, d), w is (d,).", True),
        ("Loss; y is -1 or 1.", True),
        ("Loss; y in {-1, 1}.", True),
        ("Loss; y holds +1 or -1; X (n, d), w (d,).", True),
        ("Loss of labels y in {-1, +1}.", True),
        ("Loss with class labels y (+1 or -1).", True),
        ("Loss; the labels y are -1 and 1.", True),
        ("Loss; labels y are +-1.", True),
        ("Loss, y = -1 or 1.", True),
        ("X: (n, d), w: (d,), y: (n,) labels, -1 or 1", True),
        ("Loss with binary labels y (-1/1).", True),
        ("Loss; y: class of each row, -1 or 1.", True),
        ("Loss.\n\n    Parameters\n    ----------\n    y : (n,) array of -1 and 1\n", True),
        ("Loss for the labels y.", False),
        ("Loss; the labels y are 0 or 1.", False),
    ],
)
def test_labels_and_their_two_numbers_are_read(doc, of_signs):
    """Labels of -1 and 1 are told from flags."""
    f = said_by(doc, "w X y")
    assert labels_said(f) == {"y"}
    assert signs_said(f) == ({"y"} if of_signs else frozenset())


def test_classes_are_no_two():
    """Nor are those that a function counts."""
    assert labels_said(said_by("Chance of the classes y, whole numbers below n.", "w X y")) == frozenset()


def test_axes_are_told_from_others_in_words():
    """Of a vector nobody says along which axis."""
    assert says_axes(said_by("Means over the last axis.", "x"))
    assert not says_axes(said_by("Distance from the axis of rotation.", "x"))


def verdict(text, **options):
    return judged(text, **options).verdict


SPRING = '''
def f(force, rate=2.5, rest=1.25):
    """Length of a spring{words}"""
    return rest + force / rate


@rl.rrule_for(f, registry=registry)
def f_rrule(force, rate=2.5, rest=1.25):
    def back(y_bar):
        return rl.NoTangent(), y_bar / rate, -y_bar * force / rate{power}, y_bar

    return rest + force / rate, back
'''


def test_what_is_said_to_be_a_number_is_no_vector():
    """A rule for numbers has no sums; where nobody says that these are meant, it lacks some."""
    told = "; all arguments are numbers."
    assert verdict(SPRING.format(words=told, power="**2"), depth="quick") == "right"
    assert verdict(SPRING.format(words=told, power=""), depth="quick") == "wrong"
    assert verdict(SPRING.format(words=".", power="**2"), depth="quick") == "wrong"


DAMPED = '''
def f(t, s, decay=1.0, phase=0.0):
    """Damped waves at t and s, numbers or arrays of the same shape; decay and phase are numbers."""
    return np.exp(-decay * t) * np.cos(s - phase)


@rl.rrule_for(f, registry=registry)
def f_rrule(t, s, decay=1.0, phase=0.0):
    e = np.exp(-decay * t)

    def back(y_bar):
        c, n = y_bar * e * np.cos(s - phase), y_bar * e * np.sin(s - phase)
        return rl.NoTangent(), {t}, -n, -np.sum(c * t), {phase}

    return e * np.cos(s - phase), back
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    "t, phase, wanted",
    [
        ("-decay * c", "np.sum(n)", "right"),
        ("-decay * c", "n", "wrong"),
        ("-c", "np.sum(n)", "wrong"),
    ],
    ids=["right", "not summed", "right for 1"],
)
def test_numbers_or_arrays_are_judged_as_both_beside_numbers(t, phase, wanted):
    """A forgotten sum shows beside arrays alone, and a factor that is 1 by default where that is another."""
    assert verdict(DAMPED.format(t=t, phase=phase)) == wanted


UPTAKE = '''
def f(S, top, half):
    """Uptake; S is a number or an array, the others are positive numbers."""
    return top * S / (half + abs(S))


@rl.rrule_for(f, registry=registry)
def f_rrule(S, top, half):
    den = half + abs(S)

    def back(y_bar):
        return rl.NoTangent(), y_bar * top * half / den**2, np.sum(y_bar * S / den), {half}

    return top * S / den, back
'''


@pytest.mark.slow
def test_the_others_stay_numbers_beside_an_array():
    """Three vectors of one length hide the sum that a number needs."""
    assert verdict(UPTAKE.format(half="-np.sum(y_bar * top * S / den**2)")) == "right"
    assert verdict(UPTAKE.format(half="-y_bar * top * S / den**2")) == "wrong"


MOVED = '''
def f(p, delta):
    """Squares of p moved by delta{words}."""
    return (p + delta) ** 2


@rl.rrule_for(f, registry=registry)
def f_rrule(p, delta):
    def back(y_bar):
        d = 2 * y_bar * (p + delta)
        return rl.NoTangent(), d, d if {test} else np.{total}(d)

    return (p + delta) ** 2, back
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    "words, test",
    [(", a number or an array of the shape of p", "isinstance(delta, np.ndarray)"), ("", "np.ndim(delta)")],
    ids=["said", "asked"],
)
def test_a_number_or_an_array_like_another_is_judged_as_both_beside_it(words, test):
    """As the docstring says, or the rule itself, which asks which of the two it has."""
    assert verdict(MOVED.format(words=words, test=test, total="sum")) == "right"
    assert verdict(MOVED.format(words=words, test=test, total="mean")) == "wrong"


BESIDE = '''
def f(x, shift):
    """Squares of x, a number or an array, moved by a shift."""
    return (x - shift) ** 2


@rl.rrule_for(f, registry=registry)
def f_rrule(x, shift):
    def back(y_bar):
        return rl.NoTangent(), 2 * y_bar * (x - shift), {}

    return (x - shift) ** 2, back
'''


@pytest.mark.slow
def test_of_what_nothing_is_said_may_be_an_array_too():
    """With or without a sum: both may be meant."""
    assert verdict(BESIDE.format("-2 * y_bar * (x - shift)")) == "right"
    assert verdict(BESIDE.format("-2 * np.sum(y_bar * (x - shift))")) == "right"


POWER = '''
def f({x}, exponent=2.0):
    """Powers of {x}{words}."""
    return np.abs({x}) ** exponent


@rl.rrule_for(f, registry=registry)
def f_rrule({x}, exponent=2.0):
    y = np.abs({x}) ** exponent

    def back(y_bar):
        slope = exponent * np.abs({x}) ** (exponent - 1) * np.sign({x})
        return rl.NoTangent(), y_bar * slope, np.sum(y_bar * y * np.log(np.abs({x})){axis})

    return y, back
'''


@pytest.mark.slow
@pytest.mark.parametrize("x, words", [("x", ", any array"), ("img", " of an image"), ("x", "")])
def test_matrices_are_judged_where_they_are_meant(x, words):
    """A sum over one axis is right for vectors: where matrices are meant it is wrong, else that is told."""
    assert verdict(POWER.format(x=x, words=words, axis="")) == "right"
    report = judged(POWER.format(x=x, words=words, axis=", axis=-1"))
    assert report.verdict == ("wrong" if words else "right")
    if not words:
        assert "for matrices its cotangents have a different shape" in str(report.sentence)


APART = '''
def f(A, B):
    """Half of the squared distance of A and B{words}."""
    return 0.5 * np.sum((A - B) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B):
    def back(y_bar):
        d = y_bar * (A - B){scale}
        return rl.NoTangent(), d, -d

    return 0.5 * np.sum((A - B) ** 2), back
'''
WRONG_SCALE = " * np.linalg.norm(A - B) / np.linalg.norm(A - B, 2)"


@pytest.mark.slow
def test_matrices_that_a_docstring_speaks_of_are_those_that_are_called_so():
    """The two norms of a vector are one."""
    assert verdict(APART.format(words=", two matrices", scale="")) == "right"
    assert verdict(APART.format(words=": 0 for equal matrices", scale=WRONG_SCALE)) == "wrong"
    assert verdict(APART.format(words="", scale=WRONG_SCALE)) == "right"


TRACE = '''
def f(A):
    """Squared trace of A, for square matrices."""
    return np.trace(A) ** 2


@rl.rrule_for(f, registry=registry)
def f_rrule(A):
    def back(y_bar):
        return rl.NoTangent(), {} * y_bar * np.trace(A) * np.eye(len(A))

    return np.trace(A) ** 2, back
'''


@pytest.mark.slow
def test_square_matrices_stay_square():
    """NumPy takes the trace of others as well."""
    assert verdict(TRACE.format("2")) == "right"
    assert verdict(TRACE.format("1")) == "wrong"


STEPS = '''
def f(x):
    """Squares of the steps{words}."""
    return np.diff(x, axis=0) ** 2


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    d = np.diff(x, axis=0)

    def back(y_bar):
        edge = np.zeros((1, *x.shape[1:]))
        return rl.NoTangent(), -np.diff(np.concatenate([edge, 2 * d * y_bar, edge]){axis})

    return d**2, back
'''


@pytest.mark.slow
def test_what_a_rule_raises_where_axes_are_spoken_of_is_its_own_fault():
    """Where the text of a function names an axis alone, a rule may be for vectors."""
    assert verdict(STEPS.format(words=" along the first axis", axis=", axis=0")) == "right"
    assert verdict(STEPS.format(words=" along the first axis", axis="")) == "wrong"
    assert verdict(STEPS.format(words="", axis="")) == "right"


SOLVED = '''
def f(A, b):
    """Solution of A x = b; A is (n, n), b a vector (n,) or a matrix (n, k)."""
    return np.linalg.solve(A, b)


@rl.rrule_for(f, registry=registry)
def f_rrule(A, b):
    x = np.linalg.solve(A, b)

    def back(y_bar):
        b_bar = np.linalg.solve(A.T, y_bar)
        return rl.NoTangent(), -np.outer(b_bar, x) if x.ndim == 1 else -{}, b_bar

    return x, back
'''


@pytest.mark.slow
def test_each_of_several_shapes_that_are_said_is_judged():
    """The branch for matrices is looked at, square and not."""
    assert verdict(SOLVED.format("b_bar @ x.T")) == "right"
    assert verdict(SOLVED.format("x @ b_bar.T")) == "wrong"


NORMED = '''
def f(x, gain):
    """x / |x| * gain over the last axis; x is (..., d), gain (d,)."""
    return x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True)) * gain


@rl.rrule_for(f, registry=registry)
def f_rrule(x, gain):
    n = np.sqrt(np.sum(x * x, axis=-1, keepdims=True))
    u = x / n

    def back(y_bar):
        u_bar = y_bar * gain
        x_bar = (u_bar - u * np.sum(u_bar * u, axis=-1, keepdims=True)) / n
        return rl.NoTangent(), x_bar, (y_bar * u).reshape(-1, len(gain)){}

    return u * gain, back
'''


@pytest.mark.slow
def test_leading_axes_that_are_said_are_judged():
    """One row is summed as it is."""
    assert verdict(NORMED.format(".sum(axis=0)")) == "right"
    assert verdict(NORMED.format("[0]")) == "wrong"


BLURRED = '''
def f(img):
    """Means of neighbours within an image, without its border."""
    h, w = img.shape[0] - 2, img.shape[1] - 2
    return (img[:h, 1:w + 1] + img[2:h + 2, 1:w + 1] + img[1:h + 1, :w] + img[1:h + 1, 2:w + 2]) / 4


@rl.rrule_for(f, registry=registry)
def f_rrule(img):
    def back(y_bar):
        {} = y_bar.shape
        found = np.zeros(img.shape)
        for rows, columns in ((0, 1), (2, 1), (1, 0), (1, 2)):
            found[rows:rows + h, columns:columns + w] += y_bar / 4
        return rl.NoTangent(), found

    return f(img), back
'''


@pytest.mark.slow
def test_images_are_not_square():
    """Rows and columns that are exchanged show in others alone."""
    assert verdict(BLURRED.format("h, w")) == "right"
    assert verdict(BLURRED.format("w, h")) == "wrong"


PERCEPTRON = '''
def f(w, X, y, scale=1.0):
    """scale * sum(max(0, -y * X w)) with labels y of {labels}; X is (n, d), w is (d,)."""
    return scale * np.sum(np.maximum(0.0, -y * (X @ w)))


@rl.rrule_for(f, registry=registry)
def f_rrule(w, X, y, scale=1.0):
    lost = np.maximum(0.0, -y * (X @ w))

    def back(y_bar):
        m = np.where(lost > 0, -{scale}y, 0.0) * y_bar
        return rl.NoTangent(), X.T @ m, np.outer(m, w), rl.NoTangent(), y_bar * np.sum(lost)

    return scale * np.sum(lost), back
'''


@pytest.mark.slow
def test_labels_of_two_signs_are_such_and_held():
    """No cotangent is missing for them, whatever the rule; a dropped factor that is 1 by default shows."""
    right = judged(PERCEPTRON.format(labels="-1 and 1", scale="scale * "))
    assert right.verdict == "right" and "y: a vector of -1 and 1" in str(right)
    assert verdict(PERCEPTRON.format(labels="-1 and 1", scale="")) == "wrong"


COUNTED = '''
def f(counts, rates):
    """Misfit of counts (an array of whole numbers, zero or more) and positive rates, of the same shape."""
    return np.sum(rates - counts * np.log(rates))


@rl.rrule_for(f, registry=registry)
def f_rrule(counts, rates):
    def back(y_bar):
        return rl.NoTangent(), rl.NoTangent(), y_bar * (1 - counts / rates){}

    return f(counts, rates), back
'''


@pytest.mark.slow
def test_whole_numbers_in_brackets_are_an_array():
    """Beside one whole number the size of the array is 1."""
    assert verdict(COUNTED.format("")) == "right"
    assert verdict(COUNTED.format(" / np.size(counts)")) == "wrong"
