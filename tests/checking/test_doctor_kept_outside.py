"""The doctor on pullbacks that read what their rule has left outside of itself, where the next call
leaves its own."""

import pytest

from .written_rules import corrected, judged

RATE = (
    "def f(x, k):\n    return np.exp(k * np.sum(x))\n"
    "@rl.rrule_for(f, registry=registry)\n"
    "def f_rrule(x, k):\n"
)

KEPT = {
    "in a dict of the module": (
        "kept = {}\n" + RATE + "    y = f(x, k)\n    kept['y'] = y\n"
        "    def f_pullback(y_bar):\n"
        "        s = kept['y'] * y_bar\n"
        "        return rl.NoTangent(), s * k * np.ones(len(x)), s * np.sum(x)\n"
        "    return y, f_pullback\n",
        "s = kept['y'] * y_bar",
        "s = y * y_bar",
    ),
    "in a global variable": (
        RATE + "    global last\n    last = f(x, k)\n"
        "    def f_pullback(y_bar):\n"
        "        s = last * y_bar\n"
        "        return rl.NoTangent(), s * k * np.ones(len(x)), s * np.sum(x)\n"
        "    return last, f_pullback\n",
        "global last",
        "-    global last",
    ),
    "in an attribute of the function": (
        RATE + "    y = f(x, k)\n    f.kept = y\n"
        "    def f_pullback(y_bar):\n"
        "        s = f.kept * y_bar\n"
        "        return rl.NoTangent(), s * k * np.ones(len(x)), s * np.sum(x)\n"
        "    return y, f_pullback\n",
        "s = f.kept * y_bar",
        "s = y * y_bar",
    ),
    "at the end of a list of the module": (
        "tape = []\n" + RATE + "    y = f(x, k)\n    tape.append(y)\n"
        "    def f_pullback(y_bar):\n"
        "        s = tape[-1] * y_bar\n"
        "        return rl.NoTangent(), s * k * np.ones(len(x)), s * np.sum(x)\n"
        "    return y, f_pullback\n",
        "s = tape[-1] * y_bar",
        "s = y * y_bar",
    ),
    "twice": (
        "kept = {}\n" + RATE + "    y = f(x, k)\n    kept['y'], kept['sum'] = y, np.sum(x)\n"
        "    def f_pullback(y_bar):\n"
        "        s = kept['y'] * y_bar\n"
        "        return rl.NoTangent(), s * k * np.ones(len(x)), s * kept['sum']\n"
        "    return y, f_pullback\n",
        "s = kept['y'] * y_bar",
        "s = y * y_bar",
    ),
}


@pytest.mark.first(1)
@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_outside_is_read_from_the_rule_itself(name):
    """The line that reads what another call may have left there is shown, and corrected."""
    text, line, new = KEPT[name]
    report = judged(text)
    first = report.diagnoses[0]
    assert report.verdict == "wrong" and first.mistake == "stateful"
    assert first.place.text.strip() == line and new in first.diff
    assert judged(corrected(text, first.diff)).verdict == "right"


@pytest.mark.slow
def test_a_correction_that_leaves_something_behind_is_none():
    """Where two things are kept and one alone can be read from the rule, nothing is offered as right."""
    of_both = "kept['y'], kept['sum'] = y, np.sum(x)"
    text = KEPT["twice"][0].replace(of_both, "kept['y'] = y; kept.update(sum=np.sum(x))")
    report = judged(text)
    assert report.verdict == "wrong" and report.diagnoses[0].mistake == "stateful"
    assert not any(one.diff for one in report.diagnoses)
