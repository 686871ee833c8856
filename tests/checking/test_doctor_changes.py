"""Whatever a change makes of a rule, the check comes to its end and the process lives on."""

from .written_rules import judged

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


def test_a_statement_is_left_out_and_not_made_to_do_nothing():
    """`g[len(x):9]` has no elements where the check looks, and is no correction."""
    (first, *_) = judged(SCALED_IN_PART).diagnoses
    assert first.words.startswith("should leave out `g[5:9] *= 1.5`")
    assert first.diff.splitlines()[3:] == ["-        g[5:9] *= 1.5"]


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


def test_the_same_term_of_the_totals_is_put_back():
    (first, *_) = judged(WITHOUT_TOTALS).diagnoses
    assert first.mistake == "lacks_term"
    assert "2 * (a - b) * a - 2 * (s - t) * s" in first.diff
