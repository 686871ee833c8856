"""The first notebook, a reader's own rule, and what Tab lists, in a real JupyterLab in a real browser."""

from __future__ import annotations

import copy
import json
import os
import shutil

import pytest

from tests.conftest import EMPTY_NOTEBOOK

from .conftest import RUN_ALL

pytestmark = pytest.mark.browser

FIRST_NOTEBOOK = "01-a-rule-in-a-cell.ipynb"

FUNCTION = """\
import numpy as np
import rulelab as rl

def cubes(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 3
    return total"""

RULE = """\
%%rrule cubes_cr --of cubes
def cubes_cr_rrule(x):
    def cubes_cr_pullback(out_bar):
        return rl.NoTangent(), 3 * x**2 * out_bar
    return np.sum(x**3), cubes_cr_pullback"""

WIDGET = """\
import ipywidgets
button = ipywidgets.Button(description="Press me")
button.on_click(lambda pressed: setattr(pressed, "description", f"{6 * 7} it is"))
button"""


DERIVED = {
    "04-is-this-rule-right.ipynb": [
        "%%rrule logistic\n"
        "# loses digits for x from 6.30957 to 630.957 (no digit is right): cancellation in 1 - y\n"
        "from numpy.typing import NDArray\n"
        "\n"
        "def logistic_rrule(x: float | NDArray[np.floating]):\n"
        "    y = logistic(x)\n"
        "    def logistic_pullback(y_bar):\n"
        "        return rl.NoTangent(), y * (1 - y) * y_bar\n"
        "    return y, logistic_pullback\n"
    ]
}
"""The cells that %rule_derive puts into a notebook: they are there to be read before they are run."""


@pytest.mark.slow
def test_a_cell_is_run_and_a_widget_answers(empty_notebook):
    """Under `rulelab lab` plain cells run, widgets work, and nothing is asked of the outside world."""
    assert empty_notebook.run_cell("6 * 7").strip() == "42"
    empty_notebook.run_cell(WIDGET)
    empty_notebook.page.get_by_role("button", name="Press me", exact=True).click()
    empty_notebook.page.get_by_role("button", name="42 it is", exact=True).wait_for()
    assert not empty_notebook.error_outputs()
    assert not empty_notebook.errors
    assert not empty_notebook.outside


@pytest.mark.slow
def test_a_failing_cell_is_seen_by_these_tests(empty_notebook):
    """What the other tests here rely on: an error in a cell is found in the notebook's outputs."""
    empty_notebook.run_cell("1 / 0")
    assert empty_notebook.error_outputs() == ["ZeroDivisionError: division by zero"]


@pytest.mark.slow
def test_these_tests_wait_for_cells_after_one_that_fails(open_notebook, lab):
    """JupyterLab calls a run ended at the first cell that fails, also where the others run on."""
    written = copy.deepcopy(EMPTY_NOTEBOOK)
    for number, source in enumerate(("1 / 0", "import time\ntime.sleep(0.5)\n1 / 0", "6 * 7")):
        cell = {"cell_type": "code", "execution_count": None, "outputs": [], "id": f"cell-{number}"}
        written["cells"].append({**cell, "metadata": {"tags": ["raises-exception"]}, "source": source})
    (lab.root / "failing.ipynb").write_text(json.dumps(written))
    notebook = open_notebook("failing.ipynb")
    notebook.page.evaluate(RUN_ALL)
    assert notebook.unrun_cells() == []


@pytest.mark.slow
def test_the_first_notebook_runs_from_top_to_bottom(open_notebook, lab, repository, tmp_path):
    """A person opens the first notebook, runs all of it, and no cell fails."""
    source = repository / "notebooks" / FIRST_NOTEBOOK
    shutil.copyfile(source, lab.root / source.name)
    notebook = open_notebook(source.name)
    notebook.run_all()
    assert notebook.error_outputs() == []
    assert notebook.unrun_cells() == []
    assert notebook.errors == []
    assert notebook.outside == []
    keep = os.environ.get("RULELAB_SAVE_IMAGES") == "1"    # how the README's picture is made anew
    folder = repository / "docs" / "images" if keep else tmp_path
    assert notebook.picture(folder / "first-notebook.png", "%%rrule mse_cr").stat().st_size > 10_000


@pytest.mark.campaign
@pytest.mark.parametrize(
    "name",
    ["03-writing-good-rules.ipynb", "04-is-this-rule-right.ipynb", "07-taking-a-rule-with-you.ipynb"],
)
def test_another_notebook_runs_from_top_to_bottom(open_notebook, lab, repository, name):
    """Run All goes through there as well, and asks nothing of the outside world."""
    shutil.copyfile(repository / "notebooks" / name, lab.root / name)
    notebook = open_notebook(name)
    notebook.run_all()
    assert notebook.error_outputs() == []
    assert notebook.unrun_cells() == DERIVED.get(name, [])
    assert notebook.errors == [] and notebook.outside == []
    folder = os.environ.get("RULELAB_SAVE_OUTPUTS")
    cells = notebook.page.locator(".jp-Cell")
    for number in range(cells.count() if folder else 0):
        cells.nth(number).screenshot(path=f"{folder}/{name}-{number:02}.png")


@pytest.mark.slow
def test_a_reader_types_a_rule_and_compares_it(empty_notebook):
    """A rule typed into a cell counts in the next one, where both gradients stand side by side."""
    empty_notebook.run_cell(FUNCTION)
    empty_notebook.run_cell(RULE)
    compared = empty_notebook.run_cell("%grad_compare cubes cubes_cr --at np.array([1.0, 2.0, 3.0])")
    assert empty_notebook.error_outputs() == []
    assert "27" in compared and "12" in compared
    assert empty_notebook.errors == []
    assert empty_notebook.outside == []


def check_offered(notebook, text, *wanted):
    """Tab at the end of `text` lists the words wanted; the cell is emptied again."""
    cell = notebook.page.locator(".jp-CodeCell").last.locator(".cm-content")
    cell.click()
    notebook.page.keyboard.insert_text(text)
    notebook.press_tab(*wanted)
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("ControlOrMeta+a")
    notebook.page.keyboard.press("Delete")


@pytest.mark.slow
def test_the_popup_lists_options_functions_and_names(empty_notebook):
    """Options after a dash, functions after a space, and Python where Python stands."""
    empty_notebook.run_cell(f"{FUNCTION}\ncubed = np.ones(3)\ncubic = 2.0")
    check_offered(empty_notebook, "%%rrule -", "--check", "--of", "-o")
    check_offered(empty_notebook, "%%rrule ", "cubes", "np.")
    check_offered(empty_notebook, "%rule_symbolic np.sin", "np.sin", "np.sinh")
    # Two words of the cell begin so: a single one JupyterLab would take before the kernel has answered.
    check_offered(empty_notebook, "%grad_compare cubes cubes --at cubic, cub", "cubed", "cubes", "cubic")
    assert empty_notebook.errors == [] and empty_notebook.outside == []
