"""What the campaign of docstring calls promises: wrong derivatives are found, borders are told from them."""

import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus import docstring_calls as calls  # noqa: E402

import rulelab as rl  # noqa: E402


def area(width, height=2.0, *, scale=1.0):
    return width * height * scale


def count(n, x):
    return [x] * n


def norm(xs, table=None):
    return math.sqrt(sum([x * x for x in xs])) + np.sum(table["a"])


def cases(x, y):
    return 3.0 * x if y == 0.0 else 3.0 * x + y


def nameless(text):
    return text.upper()


@pytest.mark.parametrize(
    "function, args, kwargs, kind",
    [
        (area, (1.5,), {"scale": 3}, "right"),
        (count, (3, 1.25), {}, "right"),
        (norm, ([3.0, 4.0],), {"table": {"a": np.ones(2)}}, "right"),
        (cases, (1.0, 0.0), {}, calls.BORDER),
        (nameless, ("a",), {}, calls.NOTHING),
        (lambda x: math.frexp(x)[1], (1.5,), {}, calls.NOTHING),
    ],
)
def test_calls_are_judged(function, args, kwargs, kind):
    """Real arguments by position and by keyword, in lists too; a case by equality is a border."""
    assert calls.judged(function, args, kwargs)[0] == kind


def test_a_wrong_derivative_is_found():
    """A rule without its factor is wrong, here and at all points nearby."""

    def cubed(x):
        return x * x * x

    rl.rrule_for(cubed)(lambda x: (x * x * x, lambda y_bar: (rl.NoTangent(), x * x * y_bar)))
    kind, words = calls.judged(cubed, (2.0,), {})
    assert kind == "wrong" and words.startswith("by argument 0: ")


def test_noise_is_no_slope():
    """Where differences do not settle, nothing is said."""
    assert calls.judged(lambda x: x + 1e-3 * math.sin(1e12 * x), (3.0,), {})[0] == calls.NO_WITNESS


def test_docstrings_are_run_in_order(tmp_path, monkeypatch):
    """Names bound by an example serve the next; each call of the package is judged as it stands there."""
    (tmp_path / "formulas.py").write_text(
        "def twice(x):\n"
        '    """\n'
        "    >>> k = 2.5\n"
        "    >>> twice(k)\n"
        "    5.0\n"
        "    >>> abs(twice(-k)) + nothing\n"
        '    """\n'
        "    return 2 * x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = types.ModuleType("formulas")
    module.__file__ = str(tmp_path / "formulas.py")
    exec(compile((tmp_path / "formulas.py").read_text(), module.__file__, "exec"), module.__dict__)
    module.__path__ = []
    monkeypatch.setitem(sys.modules, "formulas", module)
    (test,) = calls.tests_of("formulas")
    verdicts = calls.verdicts_of("formulas", test)
    assert [(v.call, v.kind) for v in verdicts] == [("twice(k)", "right"), ("twice(-k)", "right")]
    lines = list(calls.report("formulas", verdicts, ()))
    assert lines[0].startswith("formulas: 2 calls, 2 with a derivative") and "100.0%" in lines[1]
