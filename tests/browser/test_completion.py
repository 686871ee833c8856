"""Tab in JupyterLab: the popup lists what may stand there."""

from __future__ import annotations

import pytest

from .test_first_notebook import FUNCTION

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

OFFERED = ".jp-Completer:not(.lm-mod-hidden) .jp-Completer-match"


def offered(notebook, text):
    """What the popup lists at the end of `text` in the last cell; the cell is emptied again."""
    cell = notebook.page.locator(".jp-CodeCell").last.locator(".cm-content")
    cell.click()
    notebook.page.keyboard.insert_text(text)
    notebook.page.keyboard.press("Tab")
    notebook.page.wait_for_selector(OFFERED)
    found = notebook.page.locator(OFFERED).all_inner_texts()
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("ControlOrMeta+a")
    notebook.page.keyboard.press("Delete")
    return found


def test_the_popup_lists_options_functions_and_names(empty_notebook):
    """Options after two dashes, functions after a space, and Python where Python stands."""
    empty_notebook.run_cell(f"{FUNCTION}\ncubed = np.ones(3)\ncubic = 2.0")
    assert {"--of", "-o"} & set(offered(empty_notebook, "%%rrule -")) == {"--of", "-o"}
    assert "cubes" in offered(empty_notebook, "%%rrule ")
    assert {"cubed", "cubes", "cubic"} <= set(offered(empty_notebook, "%grad_compare cubes cubes --at cub"))
    assert {"np.sin", "np.sinh"} <= set(offered(empty_notebook, "%rule_symbolic np.sin"))
    assert empty_notebook.errors == [] and empty_notebook.outside == []
