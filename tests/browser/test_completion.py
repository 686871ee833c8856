"""Tab in JupyterLab: the popup lists what may stand there."""

from __future__ import annotations

import pytest

from .test_first_notebook import FUNCTION

pytestmark = pytest.mark.browser

OFFERED = ".jp-Completer:not(.lm-mod-hidden) .jp-Completer-match"


def check_offered(notebook, text, *wanted):
    """Tab at the end of `text` lists the words wanted; the cell is emptied again.

    JupyterLab first lists words of the cell itself, and those of the kernel only if they come within a
    second. On a busy machine the first ones do not, and one presses Tab again.
    """
    from playwright.sync_api import TimeoutError as NotThere

    cell = notebook.page.locator(".jp-CodeCell").last.locator(".cm-content")
    cell.click()
    notebook.page.keyboard.insert_text(text)
    for last in (False, False, False, True):
        notebook.page.keyboard.press("Tab")
        try:
            for word in wanted:
                notebook.page.locator(OFFERED).get_by_text(word, exact=True).first.wait_for(timeout=5000)
            break
        except NotThere:
            if last:
                raise
            notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("ControlOrMeta+a")
    notebook.page.keyboard.press("Delete")


def test_the_popup_lists_options_functions_and_names(empty_notebook):
    """Options after a dash, functions after a space, and Python where Python stands."""
    empty_notebook.run_cell(f"{FUNCTION}\ncubed = np.ones(3)\ncubic = 2.0")
    check_offered(empty_notebook, "%%rrule -", "--check", "--of", "-o")
    check_offered(empty_notebook, "%%rrule ", "cubes", "np.")
    check_offered(empty_notebook, "%rule_symbolic np.sin", "np.sin", "np.sinh")
    # Two words of the cell begin so: a single one JupyterLab would take before the kernel has answered.
    check_offered(empty_notebook, "%grad_compare cubes cubes --at cubic, cub", "cubed", "cubes", "cubic")
    assert empty_notebook.errors == [] and empty_notebook.outside == []
