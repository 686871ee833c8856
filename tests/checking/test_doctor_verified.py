"""A correction that is offered is right where the check did not look as well."""

import numpy as np
import pytest

from rulelab.checking import doctor
from rulelab.checking.doctor import corrections, verifying

from .written_rules import corrected, judged


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """A recogniser that fails is a fault here, and not passed over."""
    monkeypatch.setattr(doctor.Strict, "raises", True)


SERIES = """
def f(x, *weights):
    y = 0.0 * x
    for k in range(len(weights)):
        y = y + weights[k] * np.sin(k * x)
    return y


@rl.rrule_for(f, registry=registry)
def f_rrule(x, *weights):
    def back(y_bar):
        slope = 0.0 * x
        for k in range(1, len(weights)):
            slope = slope + k * weights[k] * np.cos(k * x)
        return rl.NoTangent(), slope * y_bar, *[y_bar * np.sin(k * x) for k in range(len(weights))]

    return f(x, *weights), back
"""

LEVEL = """
def f(size, parts, shares):
    mean = np.sum(parts * shares) / np.sum(parts)
    return size * np.log(mean / (1 - mean))


@rl.rrule_for(f, registry=registry)
def f_rrule(size, parts, shares):
    total = np.sum(parts)
    mean = np.sum(parts * shares) / total

    def back(y_bar):
        mean_bar = y_bar * size / mean / (1 - mean)
        parts_bar = mean_bar * (shares - mean) / total
        shares_bar = mean_bar * parts / total
        return rl.NoTangent(), y_bar * np.log(mean / (1 - mean)), parts_bar, shares_bar

    return size * np.log(mean / (1 - mean)), back
"""

REMOVABLE = """
def f(x):
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.expm1(safe) / safe)


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1.0, x)

    def back(y_bar):
        series = 0.5 + x / 3 + x**2 / 8 + x**3 / 30
        slope = np.where(small, series, (np.exp(safe) - np.expm1(safe) / safe) / safe)
        return rl.NoTangent(), slope * y_bar

    return f(x), back
"""

DECAY = """
def f(t, a, k):
    return a * np.exp(-k * t)


@rl.rrule_for(f, registry=registry)
def f_rrule(t, a, k):
    left = np.exp(-k * t)

    def back(y_bar):
        a_bar = np.sum(y_bar * left)
        g_bar = y_bar * a
        return rl.NoTangent(), -g_bar * k * left, a_bar, -np.sum(g_bar * t * left)

    return a * left, back
"""

LAYER = """
def f(b, x):
    return np.tanh(x + b["b"])


@rl.rrule_for(f, registry=registry)
def f_rrule(b, x):
    y = np.tanh(x + b["b"])

    def back(y_bar):
        x_bar = y_bar * (1 - y * y)
        b_bar = np.einsum("nj->j", np.atleast_2d(x_bar))
        return rl.NoTangent(), {"b": b_bar}, x_bar

    return y, back
"""

v = np.array([0.7, -1.2, 0.4])
p = np.array([0.3, 0.8, 0.6])
# the rule, the line that is right, the same with a mistake, where it is judged, where else it has to be right
ELSEWHERE = {
    "more arguments": (
        *(SERIES, "+ k * weights", "+ (k + 1) * weights"),
        *((0.7, 1.1, 0.4), (0.7, 1.1, 0.4, -0.3, 2.1)),
    ),
    "totals of one number": (LEVEL, " / mean / (1 - mean)\n", " / mean\n", (2.0, 0.7, 0.4), (2.0, 2 * p, p)),
    "a removable point": (REMOVABLE, "0.5 + x", "0.5 - x", (v,), (np.array([4e-4, 0.0, -7e-4]),)),
    "a cotangent that is written to": (
        *(DECAY, "g_bar = y_bar * a", "y_bar *= a\n        g_bar = y_bar * a"),
        *((0.7, 1.1, 0.4), (np.abs(v), 1.1, 0.4)),
    ),
    "rows": (
        *(LAYER, "np.atleast_2d(x_bar)", "np.atleast_2d(1 - y * y) * y_bar.sum()"),
        *(({"b": p}, v), ({"b": p}, np.stack([v, p]))),
    ),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("what", ELSEWHERE)
def test_no_correction_is_offered_that_is_wrong_elsewhere(what):
    text, right, wrong, here, there = ELSEWHERE[what]
    assert judged(text, *there).verdict == "right"
    spoilt = text.replace(right, wrong)
    first = judged(spoilt, *here).diagnoses[0]
    for diff in filter(None, [first.diff]):
        assert judged(corrected(spoilt, diff), *there).verdict == "right"


@pytest.mark.slow
def test_a_correction_of_totals_is_that_of_vectors_too():
    """`1 - shares` is as good as `1 - mean` for numbers alone."""
    spoilt = LEVEL.replace(" / mean / (1 - mean)\n", " / mean\n")
    assert "(1 - mean)" in judged(spoilt, 2.0, 0.7, 0.4).diagnoses[0].diff


SINC = """
def f(x):
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.expm1(safe) / safe)


@rl.frule_for(f, registry=registry)
def f_frule(tangents, x):
    _, dx = tangents
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1.0, x)
    slope = np.where(small, 0.5 + x / 3 + x**2 / 8, (np.exp(safe) - np.expm1(safe) / safe) / safe)
    return f(x), slope * dx
"""


@pytest.mark.slow
def test_a_correction_takes_away_no_number_that_was_right():
    """Without its series the rule would divide by zero at zero, where it has the right number as it is."""
    there = np.array([4e-4, 0.0, -7e-4])
    assert judged(SINC, there, mode="frule").verdict == "right"
    spoilt = SINC.replace("0.5 + x / 3 +", "0.5 - x / 3 +")
    first = judged(spoilt, there, mode="frule").diagnoses[0]
    for diff in filter(None, [first.diff]):
        assert judged(corrected(spoilt, diff), there, mode="frule").verdict == "right"
        assert judged(corrected(spoilt, diff), np.array([0.0, 1.0]), mode="frule").verdict == "right"


@pytest.mark.slow
def test_what_a_quick_look_rules_out_is_asked_no_further(monkeypatch):
    """Of a forward rule as well one tangent tells of most changes that they are no correction."""
    asked, tried = [], []
    of, changed = verifying.Answers.of, corrections.Surgery._changed
    monkeypatch.setattr(verifying.Answers, "of", lambda *args: asked.append(1) or of(*args))
    monkeypatch.setattr(corrections.Surgery, "_changed", lambda *args: tried.append(1) or changed(*args))
    both = SINC.replace("0.5 + x / 3 +", "0.2 - x * np.cos(x) +")
    spoilt = both.replace("(np.exp(safe) - np.expm1(safe) / safe)", "np.exp(safe + np.sin(safe) / 7)")
    report = judged(spoilt, v, mode="frule")
    assert report.verdict == "wrong" and not report.diagnoses[0].diff
    assert len(tried) > 400 and len(asked) < len(tried) / 2


BUFFERED = """
def f(w, x):
    return np.sum(w * x**2)


@rl.rrule_for(f, registry=registry)
def f_rrule(w, x):
    w_bar = np.zeros_like(w{})

    def back(y_bar):
        w_bar[:] = x**2 * y_bar
        return rl.NoTangent(), w_bar.copy(), 3 * y_bar * w * x

    return f(w, x), back
"""


@pytest.mark.slow
def test_a_correction_beside_another_mistake_does_not_claim_that_all_is_right():
    """The buffer cuts off fractions where `w` holds integers, and no corrected factor helps there."""
    (one,) = judged(BUFFERED.format("")).diagnoses
    assert "2 * y_bar * w * x" in one.diff and one.left.startswith("w = ["), one
    assert one.corrected.startswith("corrected, except for another mistake, at w = [")
    (one,) = judged(BUFFERED.format(", dtype=float")).diagnoses
    assert one.diff and not one.left and one.corrected.endswith("right at every point of this check")
