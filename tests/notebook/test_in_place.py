"""A result takes the place of the bar that was shown for it: no empty output is left in a notebook."""

from __future__ import annotations

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

SETUP = """\
%load_ext rulelab
import time
import numpy as np
import rulelab as rl
from rulelab.ad import progress
progress.DELAY = progress.PATIENCE = 0.0  # a bar for everything

def f(x):
    return np.sum(x * x)

def g(x):
    return x * x

@rl.rrule_for(f)
def f_rrule(x):
    return f(x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)"""
CELLS = {
    "alone": "%rule_check f --at np.ones(3)",
    "kept": "_.verdict, Out[2].verdict",
    "after words": "print('before')\n%rule_check f --at np.ones(3)",
    "silent": "%rule_check f --at np.ones(3);",
    "later": "rl.notebook.last()",
    "not last": "%rule_check f --at np.ones(3)\n6 * 7",
    "in a line": "%scalar_rule --check g(x): 2 * x",
    "calls": "for _ in range(3):\n    J, = rl.jacobian(f, np.ones(3))\nprint('done')",
    "calls after words": "print('before')\nfor _ in range(3):\n    J, = rl.jacobian(f, np.ones(3))\nJ.shape",
}


@pytest.fixture(scope="module")
def ran():
    made = new_notebook(cells=[new_code_cell(code) for code in (SETUP, *CELLS.values())])
    NotebookClient(made, timeout=300, kernel_name="python3", coalesce_streams=True).execute()
    return dict(zip(CELLS, (cell.outputs for cell in made.cells[1:])))


def words(outputs):
    return [output.get("text") or output["data"].get("text/plain", "") for output in outputs]


@pytest.mark.slow
def test_a_report_stands_where_its_bar_was(ran):
    """And nothing else stands there; words that were printed before it stay before it."""
    (report,) = ran["alone"]
    assert "f_rrule of f is right" in report.data["text/plain"] and "<table" in report.data["text/html"]
    before, report = words(ran["after words"])
    assert before == "before\n" and "is right" in report


@pytest.mark.slow
def test_it_is_kept_as_ever(ran):
    """As `_` and in `Out`."""
    assert words(ran["kept"]) == ["('right', 'right')"]


@pytest.mark.slow
def test_only_the_result_of_the_last_line_takes_a_place(ran):
    """A silenced one is not shown in another cell's output when somebody asks for it later."""
    assert not any(map(str.strip, words(ran["silent"])))
    (later,) = ran["later"]
    assert later.output_type == "execute_result" and "is right" in later.data["text/plain"]
    assert words(ran["not last"])[-1] == "42"


@pytest.mark.slow
def test_a_cell_magic_in_a_line_is_one_of_them(ran):
    """Its result stands where its bar was, too."""
    (report,) = ran["in a line"]
    assert "g now has the scalar rule" in report.data["text/plain"]


def test_bars_of_calls_leave_nothing(ran):
    """Without a magic, where nothing was shown before them; else one output with nothing in it, and of a loop
    no more than one.
    """
    assert words(ran["calls"]) == ["done\n"]
    assert words(ran["calls after words"]) == ["before\n", "", "(1, 3)"]
