"""An export is judged by what it answers in a process of its own, whatever becomes of that process."""

from __future__ import annotations

import json
import math
import os
import types
from importlib.util import find_spec

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ExportError
from rulelab.portability import running
from rulelab.portability.running import Ours, Row, answered, run_export, table_of
from rulelab.rules.registry import Registry

REGISTRY = Registry()


def cube(x):
    return x**3


rl.scalar_rule(cube, lambda out, x: 3 * x**2, registry=REGISTRY)
OURS = Ours(cube, "cube", "rrule", (((2.0,), {}),), ("((2.0,), {})",), REGISTRY)
DERIVATIVE = 12 * math.cos(0.5)


@pytest.fixture
def told(tmp_path, monkeypatch):
    """`told(lines)` gives the rows where the process that is asked does this; `answer(x)` says x."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def rows(lines, seconds=300.0):
        text = f"def main():\n{lines}\n"
        name = f"entry_{abs(hash(lines))}"
        head = "import json, os, sys\ndef answer(x):\n    asked = json.load(open(sys.argv[1]))\n"
        head += "    json.dump(x, open(asked['answer'], 'w'))\n"
        (tmp_path / f"{name}.py").write_text(head + text)
        file = tmp_path / "cubes.py"
        file.write_text("")
        return run_export(file, [OURS], types.ModuleType(name), seconds=seconds)

    return rows


def way(value, derivative, dtype="float64"):
    return {"way": "plain", "dtype": dtype, "points": [{"value": value, "derivative": derivative}]}


def said(*ways):
    return f"    answer({{'answers': [{list(ways)!r}]}})"


def test_what_agrees_is_right(told):
    """With ours and with differences; in single precision with ours alone, less exactly."""
    double, single = told(said(way([8.0], [DERIVATIVE]), way([8.00001], [DERIVATIVE], "float32")))
    assert (double.verdict, double.against_ours) == ("right", 0.0) and double.against_differences < 1e-9
    assert single.verdict == "right" and 0 < single.against_ours < 1e-4
    assert math.isnan(single.against_differences) and single.to_dict()["against_differences"] is None


@pytest.mark.parametrize(
    "value, derivative", [([8.0], [12.0]), ([9.0], [DERIVATIVE]), ([8.0], []), ([math.nan], [DERIVATIVE])]
)
def test_what_differs_is_wrong(told, value, derivative):
    """Another value, another derivative, another number of them, or no number."""
    (row,) = told(said(way(value, derivative)).replace("nan", "float('nan')"))
    assert row.verdict == "wrong" and row.why == "its answer differs from that of our rule"


def test_what_fails_there_is_told(told):
    """With the words of the error; and what cannot be asked in a way is not judged."""
    (row,) = told(said({"way": "jit", "dtype": "float64", "points": [{"error": "ValueError: no, line 3"}]}))
    assert (row.verdict, row.why) == ("wrong", "ValueError: no, line 3")
    (row,) = told(said({"way": "jit", "dtype": "float64", "points": [], "why": "it cannot be traced"}))
    assert (row.verdict, row.way, row.why) == ("not judged", "jit", "it cannot be traced")


def test_without_the_framework_it_is_not_run(told):
    """And the row says what to install."""
    (row,) = told("    answer({'missing': 'pip install jax'})")
    assert (row.verdict, row.why) == ("not judged", "not run: pip install jax")
    assert "not run: pip install jax" in table_of([row]).text()


@pytest.mark.parametrize(
    "lines, words",
    [
        ("    os._exit(3)", "exit code 3"),
        ("    raise OSError('no')", "OSError: no"),
        ("    print('x')", "exit code 0"),
    ],
)
def test_a_process_that_says_nothing_is_an_error(told, lines, words):
    """It died, it failed, or it ended: nothing is taken for an answer."""
    with pytest.raises(ExportError, match=f"cubes.py does not run: {words}"):
        told(lines)


def test_a_process_that_does_not_end_is_ended(told, monkeypatch):
    """After its time by the clock; none is left behind."""
    monkeypatch.setattr(running, "_ON_THE_CLOCK", 1)
    with pytest.raises(ExportError, match=r"did not finish in 0.5 s"):
        told("    import time; time.sleep(600)", seconds=0.5)


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("resource"), reason="seconds of processor time are not counted here")
def test_a_busy_machine_ends_no_process(told, monkeypatch):
    """What counts is the time that it works, not how long it waits for its turn."""
    monkeypatch.setattr(running, "_ON_THE_CLOCK", 600)
    row = told(f"    import time; time.sleep(1.5)\n{said(way([8.0], [DERIVATIVE]))}", seconds=1.0)[0]
    assert row.verdict == "right"
    with pytest.raises(ExportError, match=r"did not finish in 1 s of processor time"):
        told("    while True: pass", seconds=1.0)


def test_an_answer_is_numbers_or_the_words_of_its_error():
    """Whatever a call raises, and where."""
    assert answered(lambda: (np.ones(2), [])) == {"value": [1.0, 1.0], "derivative": []}
    assert json.dumps(answered(lambda: (_ for _ in ()).throw(KeyError("k")))).startswith(
        '{"error": "KeyError: \'k\''
    )
    assert os.linesep and Row("f", "rrule", "plain", "float64", 1).verdict == "not judged"
