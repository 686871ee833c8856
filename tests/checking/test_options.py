"""Options that nobody gave: each of their values that the code tells apart is judged."""

import numpy as np
import pytest

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

LOSS = """
def _reduced(v, how):
    return np.mean(v) if how == "mean" else np.sum(v) if how == "sum" else v

def f(s, t, reduction="mean", squared=False):
    m = np.maximum(0.0, 1 - s * t)
    return _reduced(m**2 if squared else m, reduction)

@rl.rrule_for(f, registry=registry)
def f_rrule(s, t, reduction="mean", squared=False):
    m = np.maximum(0.0, 1 - s * t)
    def f_pullback(y_bar):
        g = y_bar * (2 * m if squared else 1.0) * (m > 0)
        if reduction == "mean":
            g = g / np.size(m)
        return rl.NoTangent(), -g * t, -g * s, rl.NoTangent(), rl.NoTangent()
    return f(s, t, reduction, squared), f_pullback
"""
TABLE = """
_KERNELS = {"gauss": lambda r: np.exp(-r**2 / 2), "cauchy": lambda r: 1 / (1 + r**2)}

def f(r, *, kind="gauss"):
    return _KERNELS[kind.lower()](r)

@rl.rrule_for(f, registry=registry)
def f_rrule(r, *, kind="gauss"):
    y = f(r, kind=kind)
    slopes = {"gauss": -r * y, "cauchy": -2 * r * y**2}
    return y, lambda y_bar: (rl.NoTangent(), y_bar * slopes[kind])
"""
NORM = """
def f(x, ord=2):
    if ord == 1:
        return np.sum(np.abs(x))
    if ord == np.inf:
        return np.max(np.abs(x))
    return np.sum(np.abs(x)**ord)**(1 / ord)

@rl.rrule_for(f, registry=registry)
def f_rrule(x, ord=2):
    y = f(x, ord)
    def f_pullback(y_bar):
        if ord == 1:
            g = np.sign(x)
        elif ord == np.inf:
            g = np.sign(x) * (np.arange(x.size) == np.argmax(np.abs(x)))
        else:
            g = np.sign(x) * (np.abs(x) / y)**(ord - 1)
        return rl.NoTangent(), y_bar * g, rl.NoTangent()
    return y, f_pullback
"""
ENDS = """
def f(x, mode="wrap"):
    match mode:
        case "wrap":
            return np.sum(x * np.roll(x, 1))
        case "edge" | "zero":
            return np.sum(x[1:] * x[:-1]) + (x[0]**2 if mode == "edge" else 0.0)
    raise ValueError(mode)

@rl.rrule_for(f, registry=registry)
def f_rrule(x, mode="wrap"):
    def f_pullback(y_bar):
        if mode == "wrap":
            g = np.roll(x, 1) + np.roll(x, -1)
        else:
            g = np.concatenate([[0.0], x[:-1]]) + np.concatenate([x[1:], [0.0]])
            g[0] += 2 * x[0] * (mode == "edge")
        return rl.NoTangent(), y_bar * g, rl.NoTangent()
    return f(x, mode), f_pullback
"""
REQUIRED = """
def f(x, mask, p, training, how):
    y = x * mask / (1 - p) if training else 1.0 * x
    return y if how == "each" else np.sum(y) if how == "sum" else np.mean(y)

@rl.rrule_for(f, registry=registry)
def f_rrule(x, mask, p, training, how):
    def f_pullback(y_bar):
        g = y_bar * np.ones(np.shape(x)) / (np.size(x) if how not in ("each", "sum") else 1)
        no = rl.NoTangent()
        if not training:
            return no, g, no, rl.ZeroTangent(), no, no
        return no, g * mask / (1 - p), no, np.sum(g * mask * x) / (1 - p)**2, no, no
    return f(x, mask, p, training, how), f_pullback
"""
TOGETHER = """
def f(x, axis=None, keepdims=False):
    return np.sum(x**2, axis=axis, keepdims=keepdims)

@rl.rrule_for(f, registry=registry)
def f_rrule(x, axis=None, keepdims=False):
    def f_pullback(y_bar):
        g = np.asarray(y_bar)
        if axis is not None and not keepdims:
            g = np.expand_dims(g, axis)
        return rl.NoTangent(), 2 * x * g, rl.NoTangent(), rl.NoTangent()
    return f(x, axis, keepdims), f_pullback
"""
MISTAKES = [
    (LOSS, 'if reduction == "mean":', 'if reduction != "sum":', "reduction is 'none'"),
    (LOSS, "2 * m if squared", "m if squared", "squared is True"),
    (TABLE, "-2 * r * y**2", "-2 * r * y", "kind is 'cauchy'"),
    (NORM, "g = np.sign(x)\n", "g = 2 * np.sign(x)\n", "ord is 1"),
    (ENDS, "2 * x[0] *", "x[0] *", "mode is 'edge'"),
    (ENDS, '2 * x[0] * (mode == "edge")', "2 * x[0]", "mode is 'zero'"),
]
MORE_MISTAKES = [
    (LOSS, 'if reduction == "mean":', 'if reduction != "none":'),
    (NORM, "g = np.sign(x) * (np.arange(x.size)", "g = (np.arange(x.size)"),
    (REQUIRED, "return no, g, no, rl.ZeroTangent()", "return no, g * mask, no, rl.ZeroTangent()"),
    (REQUIRED, 'not in ("each", "sum")', 'not in ("each",)'),
    (TOGETHER, "np.expand_dims(g, axis)", "np.expand_dims(g, 0)"),
    (TOGETHER, "if axis is not None and not keepdims:", "if axis is not None:"),
]


@pytest.mark.first(1)
@pytest.mark.parametrize("text", [LOSS, TABLE, NORM, ENDS, REQUIRED, TOGETHER])
def test_a_rule_that_is_right_for_each_value_of_its_options_is_right(text):
    """Words, flags, whole numbers and what is looked up are tried, and none of them is held against it."""
    report = judged(text)
    assert report.verdict == "right", report.sentence


@pytest.mark.first(1)
@pytest.mark.parametrize(("text", "piece", "instead", "words"), MISTAKES)
def test_a_rule_that_is_wrong_for_one_value_of_an_option_is_wrong_there(text, piece, instead, words):
    """It is right for the defaults."""
    assert text.count(piece) == 1
    assert judged(text.replace(piece, instead)).verdict == "wrong"


@pytest.mark.slow
@pytest.mark.diagnosed
@pytest.mark.parametrize(("text", "piece", "instead", "words"), MISTAKES)
def test_the_report_says_for_which_value_of_an_option_a_rule_is_wrong(text, piece, instead, words):
    report = judged(text.replace(piece, instead))
    assert words in " ".join(d.words for d in report.diagnoses)


@pytest.mark.first(1)
@pytest.mark.parametrize(("text", "piece", "instead"), MORE_MISTAKES)
def test_a_rule_is_judged_at_other_values_of_options(text, piece, instead):
    """Also at those without a default, at two at once, and where a mistake shows for some numbers alone."""
    assert text.count(piece) == 1
    assert judged(text.replace(piece, instead)).verdict == "wrong"


@pytest.mark.slow
def test_a_rule_that_refuses_an_option_is_not_wrong():
    """Nobody asked for what it raises an exception at."""
    text = LOSS.replace("    m = np.maximum(0.0, 1 - s * t)\n    def", """    if reduction == "none":
        raise NotImplementedError
    m = np.maximum(0.0, 1 - s * t)
    def""")
    report = judged(text)
    assert report.verdict == "right" and any("NotImplementedError" in note for note in report.notes)


@pytest.mark.slow
def test_options_that_are_given_are_left_as_they_are():
    """What the caller says decides."""
    text = LOSS.replace('if reduction == "mean":', 'if reduction != "sum":')
    x = np.array([0.3, -0.4, 0.2])
    assert judged(text, x, -x, "mean").verdict == "right"


MIDDLE = """
def f(x, width=3):
    \"\"\"Medians of windows of an odd number of samples of the vector x.\"\"\"
    return np.array([np.median(x[k : k + width]) for k in range(len(x) - width + 1)])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, width=3):
    places = [k + np.argsort(x[k : k + width])[width // 2] for k in range(len(x) - width + 1)]

    def back(y_bar):
        x_bar = np.zeros(len(x))
        {}
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return x[places], back
"""


@pytest.mark.slow
def test_a_count_that_is_said_to_be_odd_stays_odd():
    """Of an even number the median lies between two, and the rule is not for these."""
    assert judged(MIDDLE.format("np.add.at(x_bar, places, y_bar)")).verdict == "right"
    assert judged(MIDDLE.format("x_bar[places] += y_bar")).verdict == "wrong"


PIECES = """
def f(x, width=2):
    rows, columns = x.shape
    return np.sum(x.reshape(rows // width, width, columns // width, width) ** 3, axis=(1, 3))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, width=2):
    def back(y_bar):
        spread = np.zeros(x.shape)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                spread[i, j] = y_bar[WHERE]
        return rl.NoTangent(), 3 * x**2 * spread, rl.NoTangent()

    return f(x, width), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(("where", "verdict"), [("i // width, j // width", "right"),
                                                ("min(i // 2, len(y_bar) - 1), j // width", "wrong")])
def test_arrays_that_are_cut_into_pieces_are_tried_with_pieces_of_another_length(where, verdict):
    """Where lengths are multiples of two, no pieces of three fit."""
    report = judged(PIECES.replace("WHERE", where))
    assert report.verdict == verdict and (verdict == "right" or "width = 3" in str(report))


CLOSE = """
def f(x, eps=0.1):
    apart = x[:, None] - x[None, :]
    return np.sum(apart / (apart**2 + eps**2) ** 1.5, axis=1)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, eps=0.1):
    apart = x[:, None] - x[None, :]
    r2 = apart**2 + eps**2

    def back(y_bar):
        apart_bar = y_bar[:, None] * (r2**-1.5 - 3 * apart**2 * r2**-2.5)
        eps_bar = -3 * eps * np.sum(y_bar[:, None] * apart * r2**-2.5)
        return rl.NoTangent(), {}apart_bar.sum(axis=1) - apart_bar.sum(axis=0), eps_bar

    return f(x, eps), back
"""


@pytest.mark.slow
def test_digits_that_large_numbers_leave_in_single_precision_are_lost_and_no_mistake():
    """On the diagonal there are thousands, which go out."""
    assert judged(CLOSE.format("")).verdict == "right"
    assert judged(CLOSE.format("2 * ")).verdict == "wrong"


LAGGED = """
def f(x, lag=1):
    "The sum of x[t] * x[t + lag]; x is a vector{said}."
    return np.sum(x[:len(x) - lag] * x[lag:])


@rl.rrule_for(f, registry=registry)
def f_rrule(x, lag=1):
    def back(y_bar):
        x_bar = np.zeros(len(x))
        x_bar[:{end}] += y_bar * x[lag:]
        x_bar[lag:] += y_bar * x[:len(x) - lag]
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return f(x, lag), back
"""


@pytest.mark.parametrize(("said", "end", "verdict"), [
    (", 0 <= lag < len(x)", "-lag", "wrong"),
    (", 0 <= lag < len(x)", "len(x) - lag", "right"),
    (", 1 <= lag < len(x)", "-lag", "right"),
])  # fmt: skip
def test_the_least_whole_number_that_is_said_is_tried(said, end, verdict):
    """Up to minus none is nothing: a rule that cuts there is right for all but zero."""
    assert judged(LAGGED.format(said=said, end=end)).verdict == verdict


SMOOTHED = """
def f(x, keep=2):
    "The lowest frequencies of a real signal, up to the bin `keep`."
    bins = np.fft.rfft(x)
    bins[keep + 1:] = 0
    return np.fft.irfft(bins, n=len(x))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, keep=2):
    return f(x, keep), lambda y_bar: (rl.NoTangent(), f(y_bar{keep}), rl.NoTangent())
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(("keep", "verdict"), [(", keep", "right"), ("", "wrong")])
def test_another_whole_number_is_tried_with_the_largest_arrays(keep, verdict):
    """Of short ones nothing is left to cut beyond the default."""
    assert judged(SMOOTHED.format(keep=keep)).verdict == verdict
