"""Chromium on a running JupyterLab: open a notebook, type, run, read what came out.

All tests of this folder are one visit: JupyterLab is loaded once, and each test opens a notebook of its own.
What a test that fails leaves on the page is left to nobody: the next one loads JupyterLab anew.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM_OPTIONS = [
    "--disable-gpu",
    "--disable-dev-shm-usage",            # /dev/shm is small in containers
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",    # otherwise it looks for its maker's hosts at every start
    "--disable-component-update",
    "--disable-sync",
]

READY = "() => window.jupyterapp !== undefined"
RESTORED = "() => window.jupyterapp.restored.then(() => null)"
IDLE = """() => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.sessionContext?.session?.kernel?.status === 'idle';
}"""
# The command is back at the first cell that fails, though cells that may fail let the others run on, and then
# none of them shows that it waits. A kernel takes requests in turn: one more is answered after the last cell.
RUN_ALL = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  await app.commands.execute('notebook:run-all-cells');
  await panel.sessionContext.session.kernel.requestExecute({code: '', silent: true}).done;
}"""
OFFERED = ".jp-Completer:not(.lm-mod-hidden) .jp-Completer-match"
CELLS = "() => window.jupyterapp.shell.currentWidget.content.model.toJSON().cells"
SHOW_CELL = """async number => {
  const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
  if (!app.shell.leftCollapsed) await app.commands.execute('application:toggle-left-area');
  notebook.activeCellIndex = number;
  notebook.widgets[number].node.scrollIntoView({block: 'start'});
}"""
OPEN = """async path => {
  const panel = await window.jupyterapp.commands.execute('docmanager:open', {path});
  await panel.context.ready;
}"""
CLOSE = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  await panel.sessionContext.shutdown();
  panel.context.model.dirty = false;
  panel.close();
}"""


def small(picture: Path, target: Path) -> None:
    """The picture with as many colours as a screen of text needs, which is a third of the bytes; those that
    are rare are kept, such as that of a single sign.
    """
    from PIL import Image

    with Image.open(picture) as shown:
        few = shown.convert("RGB").quantize(128, kmeans=3, dither=Image.Dither.NONE)
        few.save(target, optimize=True)


class NotebookPage:
    """One notebook in the browser, as a person has it in front of them, with notes of what went wrong."""

    def __init__(self, page: Any, base: str):
        self.page = page
        self.errors: list[str] = []
        self.outside: list[str] = []
        self._noting = {
            "pageerror": lambda error: self.errors.append(str(error)),
            "console": lambda message: message.type == "error" and self.errors.append(message.text),
            "request": lambda request: self._note_request(request.url, base),
        }
        for event, note in self._noting.items():
            page.on(event, note)

    def _note_request(self, url: str, base: str) -> None:
        if url.startswith("http") and not url.startswith(base):
            self.outside.append(url)

    def open(self, name: str) -> NotebookPage:
        """Open a notebook of the server's folder and wait until it has an idle kernel."""
        self.page.evaluate(OPEN, name)
        self.page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
        self.wait_until_idle()
        return self

    def wait_until_idle(self) -> None:
        self.page.wait_for_function(IDLE)

    def run_all(self) -> None:
        """Run > Run All Cells; back when the last one has run, also where an error was to be expected."""
        self.page.evaluate(RUN_ALL)
        self.wait_until_idle()

    def run_cell(self, text: str) -> str:
        """Type `text` into the last cell, press Shift+Enter, and give back what the cell shows."""
        cells = self.page.locator(".jp-CodeCell")
        number = cells.count() - 1
        cells.nth(number).locator(".cm-content").click()
        # As one insertion: typed key by key, the editor would add indents and closing brackets of its own.
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Shift+Enter")
        self.page.wait_for_function(f"() => document.querySelectorAll('.jp-CodeCell').length > {number + 1}")
        self.page.wait_for_function(
            "n => /^\\[\\d+\\]/.test(document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[n].innerText)",
            arg=number,
        )
        self.wait_until_idle()
        return "\n".join(cells.nth(number).locator(".jp-OutputArea-output").all_inner_texts())

    def press_tab(self, *wanted: str) -> None:
        """Press Tab where one types; back when the popup lists these words."""
        self.page.keyboard.press("Tab")
        for word in wanted:
            self.page.locator(OFFERED).get_by_text(word, exact=True).first.wait_for()

    def cells(self) -> list[dict[str, Any]]:
        """The cells as they would be saved, outputs included."""
        return self.page.evaluate(CELLS)

    def error_outputs(self) -> list[str]:
        """What the cells that failed say, in order."""
        outputs = [output for cell in self.cells() for output in cell.get("outputs", ())]
        return [f"{o['ename']}: {o['evalue']}" for o in outputs if o["output_type"] == "error"]

    def unrun_cells(self) -> list[str]:
        """The sources of code cells that have something in them and have not been run."""
        code = [cell for cell in self.cells() if cell["cell_type"] == "code"]
        unrun = ["".join(cell["source"]) for cell in code if cell["execution_count"] is None]
        return [source for source in unrun if source.strip()]

    def picture(self, path: Path, beginning: str = "") -> Path:
        """A screenshot, from the first cell whose source starts with `beginning`."""
        sources = ["".join(cell["source"]) for cell in self.cells()]
        question = self.page.get_by_role("button", name="No", exact=True)
        if question.count():  # JupyterLab's own, whether to fetch news
            question.first.click()
        number = next(n for n, source in enumerate(sources) if source.startswith(beginning))
        self.page.evaluate(SHOW_CELL, number)
        self.page.wait_for_timeout(500)  # the toast and the side bar take a moment to go
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(path))
        small(path, path)
        return path

    def close(self) -> None:
        """End the kernel and close the notebook; the page stays, and is no longer noted."""
        with contextlib.suppress(Exception):   # what failed before must be what is reported
            self.page.evaluate(CLOSE)
        for event, note in self._noting.items():
            self.page.remove_listener(event, note)


def missing(what: str) -> None:
    """Skip the test for want of `what`; in CI nothing may be wanting."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}, and CI must run the browser tests")
    pytest.skip(f"{what}: the browser tests were not run")


def chromium_path() -> str:
    named = os.environ.get("RULELAB_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    return found or missing("no Chromium on this machine (set RULELAB_CHROMIUM to its path)")


class Shared:
    """One Chromium and one visit to JupyterLab, for as long as tests of this folder follow each other."""

    def __init__(self) -> None:
        self._ends = contextlib.ExitStack()
        self._ends_of_visit = contextlib.ExitStack()
        self._browser: Any = None
        self._visit: Any = None
        self.spoilt = False  # by a test that failed, or that left something on the page

    def browser(self) -> Any:
        """Headless Chromium, the machine's own."""
        if self._browser is None:
            self._browser = self._ends.enter_context(chromium())
        return self._browser

    def visit(self, lab: Any) -> Any:
        """A page with JupyterLab up and no notebook open."""
        if self.spoilt:
            self._end_visit()
        if self._visit is None:
            self._visit = self._ends_of_visit.enter_context(visiting(self.browser(), lab))
        return self._visit

    def _end_visit(self) -> None:
        self._visit, self.spoilt = None, False
        with contextlib.suppress(Exception):   # what failed before must be what is reported
            self._ends_of_visit.close()

    def end(self) -> None:
        self._end_visit()
        self._browser = None
        self._ends.close()


_SHARED = Shared()


@pytest.hookimpl(trylast=True)  # after the fixtures of the test
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """While Playwright's event loop is up, no other test of the process can start one: so it ends here."""
    if nextitem is None or not nextitem.path.is_relative_to(Path(__file__).parent):
        _SHARED.end()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What a test that failed has left on the page is nobody's."""
    _SHARED.spoilt |= report.failed


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, args=CHROMIUM_OPTIONS + sandbox,
            ignore_default_args=["--hide-scrollbars"],    # as a person has them, where they take room
        )
        yield browser
        browser.close()


@contextlib.contextmanager
def visiting(browser: Any, lab: Any) -> Iterator[Any]:
    """A page of a visitor of its own, with JupyterLab up and no notebook open."""
    context = browser.new_context(viewport={"width": 1280, "height": 1500}, device_scale_factor=1)
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.goto(lab.address_of_launcher, wait_until="domcontentloaded")
    page.wait_for_function(READY)
    page.evaluate(RESTORED)
    page.wait_for_url(f"{lab.base}/lab")  # it takes the token out of the address, late
    yield page
    context.close()


@pytest.fixture(scope="session")
def shared() -> Iterator[Shared]:
    """What the tests share, ended at the latest with the session, also where that is cut short."""
    yield _SHARED
    _SHARED.end()


@pytest.fixture
def browser(shared: Shared) -> Any:
    """Headless Chromium, the machine's own."""
    return shared.browser()


@pytest.fixture
def visit(shared: Shared, lab: Any) -> Any:
    """JupyterLab, loaded once for all of these tests."""
    return shared.visit(lab)


@pytest.fixture
def open_notebook(visit: Any, lab: Any) -> Iterator[Callable[[str], NotebookPage]]:
    """A function that opens a notebook of the server's folder by its name."""
    opened: list[NotebookPage] = []

    def open_it(name: str) -> NotebookPage:
        opened.append(NotebookPage(visit, lab.base))
        return opened[-1].open(name)

    yield open_it
    for notebook in opened:
        notebook.close()


@pytest.fixture
def empty_notebook(open_notebook: Callable[[str], NotebookPage], lab: Any, request: Any) -> NotebookPage:
    """A new notebook on our kernel."""
    name = f"{request.node.originalname}.ipynb"
    shutil.copyfile(lab.root / "empty.ipynb", lab.root / name)
    return open_notebook(name)
