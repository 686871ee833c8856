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
    """Another number there reads what is no array, and may end the process."""
    report = judged(STRIDED)
    assert report.verdict == "wrong" and not any(one.diff for one in report.diagnoses)
