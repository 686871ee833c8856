"""Whatever a change makes of a rule, the check comes to its end and the process lives on."""

import numpy as np
import pytest

from rulelab.checking.probing import probes

from .written_rules import corrected, judged

DEEP = """
def f(x, weights: list):
    for W in weights:
        x = np.tanh(W @ x)
    return x


@rl.rrule_for(f, registry=registry)
def f_rrule(x, weights: list):
    acts = [x]
    for W in weights:
        acts.append(np.tanh(W @ acts[-1]))

    def back(y_bar):
        grads = []
        for k in range(len(weights) - 1, -1, -1):
            y_bar = y_bar * (1 - acts[k + 1] ** 2)
            grads.append(np.outer(y_bar, acts[k]))
            y_bar = weights[k].T @ y_bar
        return rl.NoTangent(), y_bar, grads

    return acts[-1], back
"""

STRIDED = """
def f(frames):
    n, size = frames.shape
    y = np.zeros(n + size - 1)
    for i in range(n):
        y[i : i + size] += frames[i]
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(frames):
    n, size = frames.shape

    def back(y_bar):
        return rl.NoTangent(), np.lib.stride_tricks.as_strided(y_bar, (n, size), (8, 8)).copy()

    return f(frames), back
"""


@pytest.mark.slow
def test_a_change_that_makes_a_rule_go_on_for_ever_is_given_up():
    """`for W in acts`, while `acts` grows."""
    assert judged(DEEP).verdict == "wrong"


def test_a_rule_that_reads_memory_by_strides_is_not_changed():
    """Another number there reads what is not an array, and may end the process."""
    report = judged(STRIDED)
    assert report.verdict == "wrong" and not any(one.diff for one in report.diagnoses)


SCALED_IN_PART = """
def f(x, y):
    return np.sum((x - y) ** 2) / len(x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, y):
    def back(y_bar):
        g = 2 / len(x) * y_bar * (x - y)
        g[5:9] *= 1.5
        return rl.NoTangent(), g, -g

    return f(x, y), back
"""

WITHOUT_ITS_OWN = """
def f(x, t):
    return np.log(np.sum(np.exp(x))) - x[t]


@rl.rrule_for(f, registry=registry)
def f_rrule(x, t):
    def back(y_bar):
        g = np.exp(x) / np.sum(np.exp(x))
        pass
        return rl.NoTangent(), y_bar * g, rl.NoTangent()

    return f(x, t), back
"""


@pytest.mark.slow
def test_a_statement_is_left_out_and_not_made_to_do_nothing():
    """`g[len(x):9]` has no elements where the check looks, and is no correction."""
    (first, *_) = judged(SCALED_IN_PART).diagnoses
    assert first.words.startswith("should leave out `g[5:9] *= 1.5`")
    assert first.diff.splitlines()[3:] == ["-        g[5:9] *= 1.5"]


@pytest.mark.slow
def test_the_term_of_the_element_that_is_picked_goes_where_it_was_taken_out():
    (first, *_) = judged(WITHOUT_ITS_OWN).diagnoses
    assert (first.mistake, first.place.text.strip()) == ("lacks_term", "pass")
    assert "+        g[t] -= 1.0" in first.diff
    moved = WITHOUT_ITS_OWN.replace("        pass\n", "")
    assert "+        g[t] -= 1.0" in judged(moved).diagnoses[0].diff


WITHOUT_TOTALS = """
def f(a, b):
    s = np.sum(a)
    return np.sum((a - b) * a**2) - (s - np.sum(b)) * s**2


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b):
    s, t = np.sum(a), np.sum(b)

    def back(y_bar):
        a_bar = a**2 - s**2 + 2 * (a - b) * a
        b_bar = s**2 - a**2
        return rl.NoTangent(), y_bar * a_bar, y_bar * b_bar

    return f(a, b), back
"""


@pytest.mark.slow
def test_the_same_term_of_the_totals_is_put_back():
    (first, *_) = judged(WITHOUT_TOTALS).diagnoses
    assert first.mistake == "lacks_term"
    assert "2 * (a - b) * a - 2 * (s - t) * s" in first.diff


SPECTRUM = """
def f(z):
    Z = np.fft.fft(z)
    return np.sum(np.arange(len(z)) * np.abs(Z) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(z):
    Z = np.fft.fft(z)
    w = np.arange(len(z))

    def back(y_bar):
        Z_bar = 2 * y_bar * w * Z.conj()
        return rl.NoTangent(), len(z) * np.fft.ifft(Z_bar)

    return np.sum(w * np.abs(Z) ** 2), back
"""

POLYGON = """
def f(p):
    '''Area by the shoelace formula; p is (n, 2).'''
    x, y = p[:, 0], p[:, 1]
    return 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)


@rl.rrule_for(f, registry=registry)
def f_rrule(p):
    x, y = p[:, 0], p[:, 1]

    def back(y_bar):
        p_bar = np.empty(p.shape)
        p_bar[:, 0] = 0.5 * y_bar * (np.roll(y, -1) - np.roll(y, 2))
        p_bar[:, 1] = 0.5 * y_bar * (np.roll(x, 1) - np.roll(x, -1))
        return rl.NoTangent(), p_bar

    return f(p), back
"""

OF_ONE_SIZE = """
def f(q, k):
    return q @ k.T / np.sqrt(q.shape[-1])


@rl.rrule_for(f, registry=registry)
def f_rrule(q, k):
    def back(s_bar):
        scale = 0.5
        return rl.NoTangent(), s_bar @ k * scale, s_bar.T @ q * scale

    return f(q, k), back
"""


@pytest.mark.slow
def test_a_conjugate_too_many_is_left_out_wherever_it_stands():
    """By its method, too, and before names are exchanged: `w.conj()` of real weights is nothing."""
    (first, *_) = judged(SPECTRUM).diagnoses
    assert first.mistake == "conjugate"
    assert "+        Z_bar = 2 * y_bar * w * Z" in first.diff.splitlines()


@pytest.mark.slow
def test_what_is_rolled_by_a_wrong_number_is_not_rolled_twice():
    (first, *_) = judged(POLYGON).diagnoses
    assert first.mistake == "off_by_one" and "- np.roll(y, 1))" in first.diff


@pytest.mark.slow
def test_a_number_for_what_the_function_makes_of_a_size():
    """`0.5` for `1 / np.sqrt(q.shape[-1])`: right for four columns, and at the points of the check only for
    those."""
    (first, *_) = judged(OF_ONE_SIZE).diagnoses
    assert first.mistake == "size" and first.place.text.strip() == "scale = 0.5"
    assert "+        scale = 1 / np.sqrt(q.shape[-1])" in first.diff.splitlines()


PRESENT_VALUE = """
def f(cash, rate: float):
    t = np.arange(len(cash))
    return np.sum(cash / (1 + rate) ** t)


@rl.rrule_for(f, registry=registry)
def f_rrule(cash, rate: float):
    t = np.arange(len(cash))
    factors = (1 + rate) ** -t.astype(float)

    def back(y_bar):
        return rl.NoTangent(), y_bar * factors, -y_bar * np.sum((t * cash * factors)[:5]) / (1 + rate)

    return f(cash, rate), back
"""

COLUMN_VARIANCES = """
def f(X):
    return np.var(X, axis=0)


@rl.rrule_for(f, registry=registry)
def f_rrule(X):
    n = X.shape[1]

    def back(v_bar):
        return rl.NoTangent(), 2 / n * (X - X.mean(axis=0)) * v_bar

    return f(X), back
"""

READ_AS_FLOATS = """
def f(x):
    return np.sum(x**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        if x.flags.c_contiguous:
            return rl.NoTangent(), 2 * y_bar * np.frombuffer(np.ascontiguousarray(x).data)
        return rl.NoTangent(), y_bar * x

    return f(x), back
"""


@pytest.mark.slow
def test_a_cut_for_one_size_is_left_out():
    """And not made one of the end: `[1:]` is right as well, for the first number is zero."""
    (first, *_) = judged(PRESENT_VALUE).diagnoses
    assert first.mistake == "size" and "np.sum(t * cash * factors)" in first.diff


@pytest.mark.slow
def test_the_length_of_another_axis_is_told_as_an_axis():
    (first, *_) = judged(COLUMN_VARIANCES).diagnoses
    assert first.mistake == "wrong_axis" and "+    n = X.shape[0]" in first.diff.splitlines()


@pytest.mark.slow
def test_a_correction_is_right_for_whole_numbers_too():
    """That all arrays are taken for contiguous ones does not do: those of integers are not read as floats."""
    (first, *_) = judged(READ_AS_FLOATS).diagnoses
    assert first.mistake in ("layout", "dtype", "branch") and not first.diff


GELU = """
def f(x, W, b):
    z = x @ W + b
    return z * 0.5 * (1 + np.tanh(0.79788456 * (z + 0.044715 * z**3)))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, W, b):
    z = x @ W + b
    t = np.tanh(0.79788456 * (z + 0.044715 * z**3))

    def back(y_bar):
        dt = (1 - t**2) * 0.79788456 * (1 + 3 * 0.044715 * z**2)
        z_bar = y_bar * (0.5 * (1 + t) + 0.5 * z * dt)
        return rl.NoTangent(), z_bar @ W.T, x.T @ z_bar, z_bar.sum(axis=0)

    return z * 0.5 * (1 + t), back
"""


@pytest.mark.slow
def test_a_correction_is_offered_where_numbers_of_the_value_have_come_to_their_end():
    """What is left of the slope of `tanh` far out is less than rounding leaves of `1 - t**2`."""
    (first, *_) = judged(GELU.replace("x.T @ z_bar", "x.T @ y_bar")).diagnoses
    assert "x.T @ z_bar, z_bar.sum(axis=0)" in first.diff


@pytest.mark.slow
def test_the_factor_of_a_power_that_is_forgotten():
    """No other term is made up for it on the next line."""
    (first, *_) = judged(GELU.replace("(1 + 3 * 0.044715", "(1 + 0.044715")).diagnoses
    assert first.mistake == "factor" and first.place.text.strip().startswith("dt =")
    assert "3 * z**2" in first.diff


HINGE = """
def f(scores, labels):
    return np.mean(np.maximum(0.0, 1 - labels * scores) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(scores, labels):
    margin = np.maximum(0.0, 1 - labels * scores)

    def back(y_bar):
        g = -2 * y_bar * (margin > 0) / len(scores)
        return rl.NoTangent(), g * labels, g * scores

    return np.mean(margin**2), back
"""


@pytest.mark.slow
def test_what_held_arguments_share_is_not_taken_for_right():
    """Labels are no cotangents that were judged: what is wrong may be what both are made of."""
    (first, *_) = judged(HINGE).diagnoses
    assert first.place.text.strip().startswith("g =")
    assert "g = -2 * y_bar * margin / len(scores)" in first.diff


PRODUCT = """
def f(*xs):
    return np.prod(xs)


@rl.rrule_for(f, registry=registry)
def f_rrule(*xs):
    def back(y_bar):
        return rl.NoTangent(), *(2 * y_bar * np.prod(xs[:i] + xs[i + 1 :]) for i in range(len(xs)))

    return f(*xs), back
"""


@pytest.mark.slow
def test_the_line_of_cotangents_for_any_number_of_arguments():
    """And its correction, in what is made for each of them."""
    (first, *_) = judged(PRODUCT).diagnoses
    assert first.mistake == "factor" and first.place.text.strip().startswith("return rl.NoTangent()")
    assert "*(y_bar * np.prod(xs[:i] + xs[i + 1 :]) for i" in first.diff


ABSORBED = """
def f(eps, conc, path):
    return np.exp(-np.sum(eps * conc) * path)


@rl.rrule_for(f, registry=registry)
def f_rrule(eps, conc, path):
    y = f(eps, conc, path)

    def back(y_bar):
        bar = -y * y_bar
        return rl.NoTangent(), bar * conc * path, bar * eps * path, bar * {}

    return y, back
"""


@pytest.mark.slow
def test_a_rule_that_lacks_a_sum_is_judged_where_most_of_it_is_right():
    """Where all are vectors it has an answer of the right shapes, and nothing of it is right."""
    assert judged(ABSORBED.format("np.sum(eps * conc)")).verdict == "right"
    report = judged(ABSORBED.format("eps * conc"))
    assert report.verdict == "wrong" and {one.argument for one in report.diagnoses} == {"path"}


POWER_MEAN = """
def f(x, p, axis=-1):
    return np.mean(x**p, axis=axis) ** (1 / p)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, p, axis=-1):
    m = np.mean(x**p, axis=axis)
    y = m ** (1 / p)

    def back(y_bar):
        wide = np.expand_dims(y_bar * y / m, axis) / x.shape[axis]
        p_bar = np.sum(wide * x**p * np.log(x)) / p{}
        return rl.NoTangent(), wide * x ** (p - 1), p_bar, rl.NoTangent()

    return y, back
"""


@pytest.mark.slow
def test_a_correction_for_vectors_alone_is_not_offered_where_an_axis_is_named():
    """`np.log(x) - np.log(y)` is right for vectors, and raises for matrices."""
    assert judged(POWER_MEAN.format(" - np.sum(y_bar * y * np.log(m)) / p**2")).verdict == "right"
    report = judged(POWER_MEAN.format(""))
    assert report.verdict == "wrong" and not any("log(y)" in one.diff for one in report.diagnoses)


SMOOTHED = """
def f(y, a):
    level, trend = y[0], 0.0
    for t in range(1, len(y)):
        level, trend = a * y[t] + (1 - a) * (level + trend), (1 - a) * level - a * trend
    return level + trend


@rl.rrule_for(f, registry=registry)
def f_rrule(y, a):
    before, level, trend = [], y[0], 0.0
    for t in range(1, len(y)):
        before.append((level, trend))
        level, trend = a * y[t] + (1 - a) * (level + trend), (1 - a) * level - a * trend

    def back(y_bar):
        bars, a_bar = np.zeros(len(y)), 0.0
        level_bar = trend_bar = y_bar
        for t in range(len(y) - 1, 0, -1):
            last, slope = before[t - 1]
            bars[t] = a * level_bar
            a_bar += level_bar * (y[t] - last - slope) - trend_bar * (last + slope)
            {}
        bars[0] = level_bar
        return rl.NoTangent(), bars, a_bar

    return level + trend, back
"""


@pytest.mark.slow
def test_what_is_overwritten_too_early_is_corrected():
    both = "(1 - a) * (level_bar + trend_bar)", "(1 - a) * level_bar - a * trend_bar"
    assert judged(SMOOTHED.format(f"level_bar, trend_bar = {', '.join(both)}")).verdict == "right"
    report = judged(SMOOTHED.format(f"level_bar = {both[0]}\n            trend_bar = {both[1]}"))
    first = report.diagnoses[0]
    assert first.mistake == "order" and "level_bar = (1 - a)" in first.place.text
    assert "+            level_bar, trend_bar = " in first.diff


@pytest.mark.slow
def test_a_literal_in_the_place_of_an_axis_is_corrected_in_all_places():
    """With one of them changed alone the shapes do not fit, or the numbers are wrong."""
    right = POWER_MEAN.format(" - np.sum(y_bar * y * np.log(m)) / p**2")
    wrong = right.replace("y / m, axis) / x.shape[axis]", "y / m, -1) / x.shape[-1]")
    report = judged(wrong)
    assert report.diagnoses[0].mistake == "wrong_axis"
    assert "np.expand_dims(y_bar * y / m, axis) / x.shape[axis]" in report.diagnoses[0].diff


POOLED = """
def f(a, b):
    n, m = len(a), len(b)
    return (np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2)) / (n + m - 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b):
    n, m = len(a), len(b)

    def back(y_bar):
        scale = {}
        return rl.NoTangent(), scale * (a - a.mean()), scale * (b - b.mean())

    return f(a, b), back
"""


@pytest.mark.slow
def test_a_rule_that_is_right_for_equal_lengths_alone_is_said_to_be_so():
    """And no change that is right at the few lengths of the check, and at no others."""
    assert judged(POOLED.format("2 * y_bar / (n + m - 2)")).verdict == "right"
    first = judged(POOLED.format("y_bar / (n - 1)")).diagnoses[0]
    assert first.mistake == "size" and "len(a) is len(b)" in first.words and first.place.text.strip()


DISTANCES = """
def f(points, x):
    return np.sin(np.sum((points - x) ** 2, axis=1))


@rl.rrule_for(f, registry=registry)
def f_rrule(points, x):
    d = points - x
    s = np.sum(d * d, axis=1)

    def back(y_bar):
        points_bar = 2 * (y_bar * np.cos(s))[:, None] * d
        return rl.NoTangent(), points_bar, {}

    return np.sin(s), back
"""


@pytest.mark.slow
def test_a_sum_over_what_is_repeated_on_the_way_to_the_value_is_named():
    """The cotangent has the shape of the matrix, which neither the value nor the argument has."""
    args = np.array([[0.5, 1.5], [-1.0, 0.25], [2.0, -0.75]]), np.array([0.3, -0.6])
    assert judged(DISTANCES.format("-np.sum(points_bar, axis=0)"), *args).verdict == "right"
    (one,) = judged(DISTANCES.format("-points_bar"), *args).diagnoses
    assert one.mistake == "broadcast_sum" and "axis 0" in one.words
    assert "np.sum(-points_bar, axis=0)" in one.diff


BUSY = """
def f(load, servers):
    return servers**2 * load


@rl.rrule_for(f, registry=registry)
def f_rrule(load, servers):
    def back(y_bar):
        return rl.NoTangent(), y_bar * servers**2, 2 * y_bar * load * {}

    return f(load, servers), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", ["min(load, servers)", "(servers if load > 1 else load)"])
def test_a_correction_that_nobody_would_write_is_not_offered(wrong):
    """Such as `min(servers, servers)`, for which the numbers are right."""
    (one,) = judged(BUSY.format(wrong)).diagnoses
    corrected = one.diff.splitlines()[-1]
    assert corrected.startswith("+") and not any(word in corrected for word in ("min", " if ", "~", "* 1"))


TURNED = """
def f(angle, corners):
    c, s = np.cos(angle), np.sin(angle)
    return corners @ np.array([[c, s], [-s, c]])


@rl.rrule_for(f, registry=registry)
def f_rrule(angle, corners):
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])

    def f_pullback(y_bar):
        slope = np.array([[-s, c], [-c, s]])
        return rl.NoTangent(), np.sum(y_bar * (corners @ slope)), y_bar @ turn.T

    return corners @ turn, f_pullback
"""


@pytest.mark.slow
def test_no_function_takes_the_place_of_a_number():
    """`np.array([[-s, f_pullback], [-c, s]])` is an array of objects, whose product ends the process."""
    report = judged(TURNED)
    assert report.verdict == "wrong" and "[-c, -s]" in report.diagnoses[0].diff


PENALTY = """
def f(x, weights):
    return np.sum(weights * x**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, weights):
    def back(y_bar):
        return rl.NoTangent(), 2 * weights * x * y_bar, {}

    return f(x, weights), back
"""


@pytest.mark.slow
@pytest.mark.parametrize("x", [np.array([0.3, 0.9, 1.7]), np.array([[0.3, 0.9, 1.7], [0.2, 0.1, 0.4]])])
def test_a_correction_leaves_right_what_a_rule_was_right_for_at_other_ranks(x):
    """A missing sum is none where the argument is an array like the others: the rule was right for these."""
    wrong = PENALTY.format("y_bar * x**2")
    report = judged(wrong, x, 0.7)
    assert report.verdict == "wrong" and report.diagnoses[0].mistake == "broadcast_sum"
    mended = corrected(wrong, report.diagnoses[0].diff)
    assert judged(mended, x, 0.7).verdict == "right"
    assert judged(mended, x, x + 1).verdict == "right"


def test_what_condemns_a_rule_is_no_point_that_was_not_judged():
    report = judged(PENALTY.format("y_bar * x**2"), np.array([0.3, 0.9, 1.7]), 1.0)
    assert report.verdict == "wrong" and not any("not judged" in note for note in report.notes)


SIZED = """
def f(x, a, b):
    return np.sum(a * x**2 + b * x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a, b):
    def back(y_bar):
        y_bar = abs(y_bar)
        x_bar = y_bar * (2 * a * x + b)
        return rl.NoTangent(), x_bar, y_bar * np.sum(x**2), y_bar * np.sum(x)

    return f(x, a, b), back
"""


@pytest.mark.slow
def test_a_correction_is_right_for_cotangents_of_both_signs():
    """To take one use out of three from the size of a cotangent mends a third of the rule."""
    args = np.array([0.3, 0.9, 1.7]), 0.8, 1.2
    report = judged(SIZED, *args)
    assert report.verdict == "wrong"
    for one in (one for one in report.diagnoses if one.diff):
        assert judged(corrected(SIZED, one.diff), *args).verdict == "right", one.diff
    assert judged(SIZED.replace("        y_bar = abs(y_bar)\n", ""), *args).verdict == "right"


def test_random_cotangents_have_both_signs():
    for seed in range(50):
        for size in (1, 2, 3):
            sums = probes._random_seeds(np.random.default_rng(seed), 3, size).sum(1)
            assert sums.min() < 0 < sums.max()


ROWS = """
def f(x):
    return np.sum(x**2, axis=-1) / 5


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    n = x.shape[-1]
    y = np.sum(x.reshape(-1, n) ** 2, axis=1).reshape(x.shape[:-1]) / n

    def back(y_bar):
        return rl.NoTangent(), 2 * x * (y_bar / 5)[..., None]

    return y, back
"""


@pytest.mark.slow
def test_a_size_is_called_by_the_name_that_the_rule_has_for_it(recwarn):
    """`n = x.shape[-1]` holds for vectors and matrices alike, `len(x)` for vectors alone."""
    text = ROWS.replace("axis=-1) / 5", "axis=-1) / x.shape[-1]")
    (one,) = judged(text, np.array([[0.3, 0.9, 1.7], [0.2, 0.1, 0.4]])).diagnoses
    assert "y_bar / n" in one.diff
    assert judged(corrected(text, one.diff), np.array([0.3, 0.9, 1.7])).verdict == "right"
    assert not [w for w in recwarn if issubclass(w.category, SyntaxWarning)]

HANDED_ON = """
import collections

def f(x):
    return 3.0 * np.log(np.cosh(x) + x**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    def back(y_bar):
        left, total = [3], [0.0]

        def step():
            total[0] = total[0] + y_bar * np.cos(x) / (2 + x)
            left[0] = left[0] - 1
            return left[0]

        collections.deque(iter(step, 0), maxlen=0)
        return rl.NoTangent(), total[0]

    return f(x), back
"""


@pytest.mark.slow
def test_so_is_one_that_makes_what_it_calls_go_on_for_ever():
    """`left[0] - 2` is never 0, and the loop is in what is given `step`."""
    assert judged(HANDED_ON, 0.7).verdict == "wrong"


BY_THE_AD = """
def g(a, b, c):
    return a * b * b + c


f = rl.twin(g, "f")


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, c):
    def run(a, b, c):
        return g(a, b, c)
    value, back = rl.pullback(run, a, b, c)
    def f_pullback(y_bar):
        a_bar, b_bar, c_bar = BACK
        return rl.NoTangent(), b_bar, a_bar, c_bar
    return value, f_pullback
"""


@pytest.mark.parametrize("back", ["back(y_bar)", "rl.pullback(lambda *x: g(*x), a, b, c)[1](y_bar)"])
def test_a_rule_that_differentiates_a_function_within_it_is_corrected(back):
    """The changed rule has that function, too, and the AD needs its text."""
    text = BY_THE_AD.replace("BACK", back)
    report = judged(text, 0.5, 0.7, 0.2)
    (one,) = report.diagnoses
    assert "return rl.NoTangent(), a_bar, b_bar, c_bar" in one.diff
    assert judged(corrected(text, one.diff), 0.5, 0.7, 0.2).verdict == "right"
