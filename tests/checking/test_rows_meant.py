"""Tests of rules that sum over an axis which their function does not: that is for a row beside matrices."""

from .written_rules import judged

LAYER_NORM = """
def f(x, gamma, beta):
    mu = x.mean(axis=-1, keepdims=True)
    s = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    return gamma * (x - mu) / s + beta


@rl.rrule_for(f, registry=registry)
def f_rrule(x, gamma, beta):
    mu = x.mean(axis=-1, keepdims=True)
    s = np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    xhat = (x - mu) / s

    def back(dy):
        dxhat = {}
        dx = dxhat - dxhat.mean(axis=-1, keepdims=True) - xhat * np.mean(dxhat * xhat, axis=-1, keepdims=True)
        return rl.NoTangent(), dx / s, np.sum(dy * xhat, axis=0), np.sum(dy, axis=0)

    return gamma * xhat + beta, back
"""


def test_a_factor_for_each_column_is_no_number():
    """As a number it could stand behind the means as well, where it is wrong for a row."""
    assert judged(LAYER_NORM.format("dy * gamma")).verdict == "right"
    report = judged(LAYER_NORM.format("dy"))
    (first, *_) = report.diagnoses
    assert report.verdict == "wrong" and first.place.text.strip() == "dxhat = dy"
    assert "+        dxhat = dy * gamma" in first.diff.splitlines()
