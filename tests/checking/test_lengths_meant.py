"""A rule for arrays of one length that nobody spoke of is told from one with a mistake."""

import pytest

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

LIT = """
def f(normal, light):
    c = normal @ light
    return c**2 if c > 0 else 0.0 * c


@rl.rrule_for(f, registry=registry)
def f_rrule(normal, light):
    c = normal @ light

    def back(y_bar):
        if c <= 0:
            return rl.NoTangent(), np.zeros(3), np.zeros(3)
        return rl.NoTangent(), 2 * c * y_bar * light, 2 * c * y_bar * normal

    return (c**2 if c > 0 else 0.0), back
"""


@pytest.mark.slow
def test_a_rule_that_answers_with_the_length_in_its_text_is_not_called_wrong():
    """On one side of the branch it is right for all vectors, on the other for those in space alone."""
    report = judged(LIT)
    assert report.verdict == "inconclusive" and "length 3" in report.sentence
    assert judged(LIT.replace("zeros(3)", "zeros(len(normal))")).verdict == "right"


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("piece", "instead"),
    [
        ("np.zeros(3), np.zeros(3)", "np.zeros(len(light) + 1), np.zeros(3)"),
        ("y_bar * light, 2", "y_bar * light, -2"),
        ("np.zeros(3), np.zeros(3)", "np.ones(3), np.zeros(3)"),
    ],
)
def test_it_is_wrong_where_it_is_so_for_that_length_too(piece, instead):
    assert judged(LIT.replace(piece, instead)).verdict == "wrong"


def test_nor_is_it_in_a_quick_check():
    assert judged(LIT, depth="quick").verdict != "wrong"

MIRROR = """
def f(d, normal):
    return d - 2 * np.dot(d, normal) / np.dot(normal, normal) * normal


@rl.rrule_for(f, registry=registry)
def f_rrule(d, normal):
    n2 = np.dot(normal, normal)
    mirror = np.eye({}) - 2 * np.outer(normal, normal) / n2
    along = np.dot(d, normal) / n2

    def back(y_bar):
        seen = np.dot(y_bar, normal)
        pull = -2 * (along * y_bar + seen / n2 * d - 2 * along * seen / n2 * normal)
        return rl.NoTangent(), mirror @ y_bar, pull

    return mirror @ d, back
"""


@pytest.mark.slow
def test_a_rule_that_raises_at_all_lengths_but_one_in_its_text_is_not_called_right():
    """Nobody has said that vectors in space are meant, and the function takes others."""
    report = judged(MIRROR.format(3))
    assert report.verdict == "inconclusive" and "length 3" in report.sentence
    assert judged(MIRROR.format("len(d)")).verdict == "right"


BLOCKS = """
def f(x, k=2):
    h = len(x) // k
    return x[: h * k].reshape(h, k).sum(axis=1)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, k=2):
    def back(y_bar):
        x_bar = np.zeros({})
        x_bar[: len(y_bar) * k] = np.repeat(y_bar, k)
        return rl.NoTangent(), x_bar, rl.NoTangent()

    return f(x, k), back
"""
GATHERED = """
def f(w, rows, x):
    \"\"\"Weighted sum of those numbers of the vector x that the indices `rows` name.\"\"\"
    return np.sum(w * x[rows])


@rl.rrule_for(f, registry=registry)
def f_rrule(w, rows, x):
    def back(y_bar):
        return rl.NoTangent(), y_bar * x[rows], rl.NoTangent(), y_bar * np.bincount(rows, w, {})

    return f(w, rows, x), back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [(BLOCKS, "len(x)", "len(y_bar) * k"), (GATHERED, "len(x)", "0")],
    ids=["the rest of an array is dropped", "some indices are not drawn"],
)
def test_a_rule_that_goes_by_the_lengths_is_wrong_where_its_cotangent_has_another(text, right, wrong):
    """It is right at several lengths, or at this very one where the last element is looked at: no polynomial
    of which it has as many coefficients as it is for."""
    assert judged(text.format(right)).verdict == "right"
    report = judged(text.format(wrong))
    assert report.verdict == "wrong" and "cannot have a gradient with shape" in report.sentence, report


def test_coefficients_of_which_a_function_takes_the_first_three_are_as_many():
    text = """
def f(t, c):
    return c[0] + c[1] * t + c[2] * t**2


@rl.rrule_for(f, registry=registry)
def f_rrule(t, c):
    def back(y_bar):
        c_bar = np.array([np.sum(y_bar), np.sum(y_bar * t), np.sum(y_bar * t**2)])
        return rl.NoTangent(), y_bar * (c[1] + 2 * c[2] * t), c_bar

    return f(t, c), back
"""
    assert judged(text).verdict == "right"


STEPS = """
def f(rewards, values):
    \"\"\"Sum of squared errors; the last of the values comes after the last reward.\"\"\"
    total = 0.0
    for k in range(len(rewards)):
        total = total + (rewards[k] + values[k + 1] - values[k]) ** 2
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(rewards, values):
    n = len(rewards)
    error = rewards + values[1 : n + 1] - values[:n]

    def back(y_bar):
        error_bar, values_bar = 2 * y_bar * error, np.zeros(n + 1)
        values_bar[1:] += error_bar
        values_bar[:n] -= error_bar
        return rl.NoTangent(), error_bar, values_bar

    return f(rewards, values), back
"""


def test_of_two_lengths_that_go_together_others_are_not_condemned():
    """More values than are looked at are none that the rule has to answer for."""
    assert judged(STEPS).verdict == "right"


PULL = """
def f(x, centres, weights):
    return np.mean((x[:, None] - centres) ** 2 @ weights) + np.sum(np.max(x[:, None] - centres, axis=1))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, centres, weights):
    apart = x[:, None] - centres
    first = np.arange(len(centres)) == np.argmax(apart, axis=1)[:, None]

    def back(y_bar):
        apart_bar = 2 * y_bar * apart * weights / len({}) + y_bar * first
        weights_bar = y_bar * np.mean(apart**2, axis=0)
        return rl.NoTangent(), np.sum(apart_bar, axis=1), -np.sum(apart_bar, axis=0), weights_bar

    return f(x, centres, weights), back
"""


@pytest.mark.slow
def test_of_three_vectors_two_may_have_one_length():
    """Where all have one, nobody sees by which of them a rule divides."""
    assert judged(PULL.format("x")).verdict == "right"
    assert judged(PULL.format("centres")).verdict == "wrong"


MASKED = """
def f(query, keys, values, mask):
    "Attention of one query. Keys whose mask is False are left out; at least one is True."
    scores = np.where(mask, keys @ query / np.sqrt(query.size), -np.inf)
    weights = np.exp(scores - scores.max())
    return (weights / weights.sum()) @ values


@rl.rrule_for(f, registry=registry)
def f_rrule(query, keys, values, mask):
    scores = np.where(mask, keys @ query / np.sqrt(query.size), -np.inf)
    p = np.exp(scores - scores.max())
    p /= p.sum()

    def back(y_bar):
        p_bar = values @ y_bar
        bar = p * (p_bar - p @ p_bar) / np.sqrt(SIZE)
        return rl.NoTangent(), keys.T @ bar, np.outer(bar, query), np.outer(p, y_bar), rl.NoTangent()

    return p @ values, back
"""


@pytest.mark.slow
@pytest.mark.parametrize(("size", "verdict"), [("query.size", "right"), ("len(keys)", "wrong")])
def test_matrices_beside_a_mask_need_not_be_square(size, verdict):
    """And a mask lets through more than one element, where there are several: one alone has no share."""
    assert judged(MASKED.replace("SIZE", size)).verdict == verdict
