"""The panel of a pair, in a real JupyterLab in a real browser."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from .conftest import small

pytestmark = pytest.mark.browser

SETUP = """\
import numpy as np
import rulelab as rl

def mse(y, yh):
    n = len(y)
    s = 0.0
    for i in range(n):
        s += (y[i] - yh[i]) ** 2.0
    return s / n

rng = np.random.default_rng(2024)
y, yh = rng.random(30), rng.random(30)"""

RULE = """\
%%rrule mse_cr --of mse
def mse_cr_rrule(y, yh):
    difference = y - yh
    n = len(y)

    def mse_cr_pullback(out_bar):
        g = 2 / n * out_bar * difference
        return rl.NoTangent(), g, -g

    return difference @ difference / n, mse_cr_pullback"""

WRONG_RULE = """\
%%rrule mse_wrong --of mse
def mse_wrong_rrule(y, yh):
    def mse_wrong_pullback(out_bar):
        g = 2 / len(y) * out_bar * (y - yh)
        g[5:9] *= 1.5
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_wrong_pullback"""

AXE = """async area => {
  const rules = {'focus-order-semantics': {enabled: true}};  // an experiment of theirs, off by default
  const found = await axe.run(area, {resultTypes: ['violations'], rules});
  return found.violations.map(v => [v.id, v.impact, ...v.nodes.slice(0, 3).map(n => n.html)].join(' | '));
}"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
INTERRUPT = "() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')"
DARK = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
LIGHT = "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})"
OPEN_WITHOUT_KERNEL = """async () => {
  const app = window.jupyterapp, panel = app.shell.currentWidget, path = panel.context.path;
  await panel.sessionContext.shutdown();
  panel.close();
  await app.commands.execute('docmanager:open', {path, factory: 'Notebook', kernelPreference: {
    shouldStart: false, canStart: false, autoStartDefault: false}});
}"""
HIDE_SIDE = """async () => {
  const app = window.jupyterapp;
  if (!app.shell.leftCollapsed) await app.commands.execute('application:toggle-left-area');
}"""


# All that a panel comes to say from now on: what it says for a moment only may be gone when a test looks.
HEAR = """() => {
  window.heard = [];
  const hear = records => records.forEach(record => record.addedNodes.forEach(
    node => window.heard.push(node.textContent)));
  const panel = document.querySelector('.rulelab-panel');
  new MutationObserver(hear).observe(panel, {subtree: true, childList: true});
}"""
HEARD = "words => window.heard.some(text => text.includes(words))"


def violations(page, area: str = ".jp-OutputArea") -> list[str]:
    """What axe finds wrong in the outputs on a page, of JupyterLab or of an exported notebook."""
    if not page.evaluate("() => typeof axe !== 'undefined'"):
        import axe_playwright_python

        source = Path(axe_playwright_python.__file__).parent / "axe.min.js"
        page.evaluate(source.read_text())
    return page.evaluate(AXE, area)


class PanelPage:
    """A notebook with a panel in front of a person."""

    def __init__(self, notebook, request, repository, tmp_path):
        self.notebook, self.page = notebook, notebook.page
        keep = os.environ.get("RULELAB_SAVE_IMAGES") == "1"
        self.folder: Path = repository / "docs" / "images" if keep else tmp_path

    @property
    def panel(self):
        return self.page.locator(".rulelab-panel")

    def open(self, magic: str = "%rule_lab mse mse_cr --at y, yh", rule: str = RULE) -> None:
        self.page.evaluate(HIDE_SIDE)
        self.notebook.run_cell(SETUP)
        self.notebook.run_cell(rule)
        self.notebook.run_cell(magic)
        self.panel.wait_for()

    def tab(self, name: str) -> None:
        self.panel.get_by_role("tab", name=re.compile(f"{name}$")).click()    # before it, a verdict's symbol

    def press(self, name: str) -> None:
        self.panel.get_by_role("button", name=name, exact=True).locator("visible=true").click()

    def box(self, name: str):
        return self.panel.get_by_role("spinbutton", name=name, exact=True)

    def known(self, words: str) -> None:
        """Wait until the line of verdicts says this."""
        self.panel.locator(".rulelab-verdicts").filter(has_text=re.compile(words)).wait_for()

    def enabled(self, name: str) -> bool:
        """Whether the button of this name on the page in front can be pressed."""
        button = self.panel.get_by_role("button", name=name, exact=True).locator("visible=true")
        return button.is_enabled()

    def wait_enabled(self, name: str) -> None:
        """Wait until the button of this name on the page in front can be pressed, and be reached by Tab."""
        button = self.panel.get_by_role("button", name=name, exact=True, disabled=False)
        button.locator("visible=true").wait_for()

    def status(self, words: str) -> str:
        """Wait until the status line says this; all that it says."""
        line = self.panel.get_by_role("status").filter(has_text=re.compile(words))
        line.wait_for()
        return line.inner_text()

    def picture(self, name: str, locator=None) -> None:
        question = self.page.get_by_role("button", name="No", exact=True)
        if question.count():  # JupyterLab's own, whether to fetch news
            question.first.click()
        self.page.mouse.move(0, 0)
        self.page.wait_for_timeout(300)
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        usual = self.page.viewport_size
        if locator is None:    # the whole of the panel, however tall
            self.page.set_viewport_size({**usual, "height": 2400})
            self.page.wait_for_timeout(300)
        (locator or self.panel).screenshot(path=str(path))
        self.page.set_viewport_size(usual)
        small(path, path)
        assert path.stat().st_size > 5_000

    def look(self, name: str) -> None:
        """With RULELAB_SAVE_OUTPUTS=folder, a picture of the panel to be looked at."""
        if folder := os.environ.get("RULELAB_SAVE_OUTPUTS"):
            self.panel.screenshot(path=f"{folder}/{name}.png")

    def violations(self) -> list[str]:
        """What axe finds wrong in the outputs."""
        return violations(self.page)

    def unharmed(self) -> None:
        """No error anywhere, and nothing was asked of the outside world."""
        assert self.notebook.errors == []
        assert self.notebook.outside == []
        assert self.notebook.error_outputs() == []


@pytest.fixture
def lab_page(empty_notebook, request, repository, tmp_path):
    return PanelPage(empty_notebook, request, repository, tmp_path)


def test_a_pair_is_compared_timed_read_and_proved(lab_page):
    """By keyboard and mouse through all pages of the panel, with Run and Stop; every control has a name."""
    lab_page.open()
    lab_page.known("Gradients: right, agree")
    assert not lab_page.enabled("Stop")
    assert lab_page.violations() == []
    size = lab_page.box("Size N:")
    size.focus()
    for _ in range(3):
        lab_page.page.keyboard.press("ArrowUp")
    lab_page.status("Compared at N = 33")
    assert "float64[33]" in lab_page.panel.inner_text()
    lab_page.look("panel-gradients")

    lab_page.tab("Times")
    lab_page.press("Run")
    lab_page.status("Done: 60 of 60 rounds")
    assert lab_page.panel.get_by_role("img").locator("visible=true").count() == 2
    assert lab_page.violations() == []
    lab_page.look("panel-times")
    lab_page.press("Pictures as SVG")
    lab_page.panel.get_by_role("link", name="Save picture-1.svg").wait_for()
    assert lab_page.violations() == []
    lab_page.box("Rounds:").fill("100000")
    lab_page.page.keyboard.press("Tab")
    lab_page.press("Run")
    lab_page.status("Running, .*round")
    assert not lab_page.enabled("Run")
    lab_page.known("Gradients: right, agree")    # which stays
    pressed = time.monotonic()
    lab_page.press("Stop")
    stopped = lab_page.status("Stopped after")
    assert time.monotonic() - pressed < 300    # one second on a quiet machine
    assert re.match(r"Stopped after \d+ of 100,000 rounds", stopped)

    lab_page.press("Run")
    lab_page.status("Running, .*round")
    assert lab_page.notebook.run_cell("6 * 7").strip() == "42"    # other cells run meanwhile
    lab_page.status("Running, .*round")
    lab_page.page.evaluate(INTERRUPT)
    lab_page.status("Stopped after")

    lab_page.tab("Code")
    assert "def mse_pullback" in lab_page.panel.inner_text()
    assert lab_page.violations() == []
    lab_page.look("panel-code")
    lab_page.page.evaluate(DARK)
    lab_page.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    assert lab_page.violations() == []    # names and comments in colours of a dark page
    lab_page.page.evaluate(LIGHT)
    lab_page.tab("Symbolic")
    lab_page.status("SymPy has answered: right, PROVED")
    lab_page.page.locator(".rulelab-panel math").first.wait_for()
    assert lab_page.violations() == []
    lab_page.look("panel-symbolic-mse")
    copy = lab_page.page.locator(".rulelab-copy")
    copy.filter(has_text="PROVED").filter(has_text="of 100,000 rounds").wait_for(state="attached")
    lab_page.unharmed()


@pytest.mark.slow
def test_all_pages_are_used_by_keyboard_alone(lab_page):
    """From tab to tab with arrows, into a page with Tab; buttons, boxes and folds; Stop is the next one after
    Run while that runs, and whoever pressed it has not lost their place.
    """
    lab_page.open("%rule_lab mse mse_wrong --at y[:6], yh[:6]", WRONG_RULE)
    lab_page.known("Gradients: wrong")
    press, focused = lab_page.page.keyboard.press, lab_page.panel.locator(":focus")

    def turn(name: str) -> None:
        press("ArrowRight")
        press("Enter")
        lab_page.panel.get_by_role("tab", name=re.compile(f"{name}$"), selected=True).wait_for()

    lab_page.box("Size N:").focus()
    press("Shift+Tab")
    turn("Times")
    press("Tab")
    assert focused.inner_text() == "Run"
    press("Tab")
    assert focused.get_attribute("type") == "number"    # the rounds
    lab_page.page.keyboard.type("100000")
    press("Enter")
    press("Shift+Tab")
    press("Enter")
    lab_page.status("Running, .* of 100,000")
    press("Tab")
    assert focused.inner_text() == "Stop"
    press("Space")
    lab_page.status("Stopped after")
    lab_page.wait_enabled("Run")
    press("Shift+Tab")
    press("Shift+Tab")
    turn("Check")
    press("Tab")
    press("Enter")
    lab_page.status("Verdict: wrong")
    press("Tab")
    press("Space")
    assert lab_page.panel.get_by_role("checkbox").is_checked()
    fold = lab_page.panel.locator("summary").filter(has_text="Checks: ")
    while not fold.evaluate("node => node === document.activeElement"):
        press("Tab")
    press("Enter")
    assert fold.evaluate("node => node.parentElement.open")
    lab_page.unharmed()


NO_CLIPBOARD = """() => {
  navigator.clipboard.writeText = () => Promise.reject(new Error('not here'));
  document.execCommand = () => false;
}"""
SELECTED = "box => document.activeElement === box && box.value.slice(box.selectionStart, box.selectionEnd)"


@pytest.mark.slow
def test_tables_are_copied_by_keyboard(lab_page):
    """To the clipboard, and told; where that is not allowed, the text is there and selected."""
    page = lab_page.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab_page.open()
    lab_page.known("Gradients: right, agree")
    for kind, beginning in (("Markdown", "**Values and gradients**"), ("CSV", "Values and gradients\n,mse")):
        lab_page.panel.get_by_role("button", name=kind, exact=True).locator("visible=true").focus()
        page.keyboard.press("Enter")
        lab_page.panel.get_by_role("status").filter(has_text=f"Copied as {kind}.").wait_for()
        assert page.evaluate("() => navigator.clipboard.readText()").startswith(beginning)
    page.evaluate(NO_CLIPBOARD)
    lab_page.panel.get_by_role("button", name="LaTeX", exact=True).locator("visible=true").focus()
    page.keyboard.press("Space")
    lab_page.panel.get_by_role("status").filter(has_text="press Ctrl").wait_for()
    box = lab_page.panel.get_by_role("textbox", name="Tables as LaTeX").locator("visible=true")
    assert r"\toprule" in box.evaluate(SELECTED)
    assert lab_page.violations() == []
    page.evaluate("() => { delete navigator.clipboard.writeText; delete document.execCommand; }")
    lab_page.unharmed()


@pytest.mark.slow
def test_a_wrong_rule_is_refuted_and_a_right_one_derived(lab_page):
    """By keyboard on the page Symbolic: formulas typeset, an example to paste, a cell to copy; dark, too."""
    lab_page.open(
        "%rule_lab logistic logistic_cr --at 0.5",
        "def logistic(x):\n"
        "    return 1 / (1 + np.exp(-x))\n"
        "logistic_cr = rl.twin(logistic, 'logistic_cr')\n"
        "@rl.rrule_for(logistic_cr)\n"
        "def logistic_cr_rrule(x):\n"
        "    y = logistic(x)\n"
        "    def logistic_cr_pullback(y_bar):\n"
        "        return rl.NoTangent(), y * (1 + y) * y_bar\n"
        "    return y, logistic_cr_pullback",
    )
    lab_page.tab("Symbolic")
    lab_page.status("SymPy has answered: wrong, REFUTED, in ")
    lab_page.page.locator(".rulelab-panel math").first.wait_for()
    text = lab_page.panel.inner_text()
    assert "y, back = rl.rrule(logistic_cr, " in text and "Answered in " in text
    lab_page.panel.get_by_role("button", name="Prove", exact=True).focus()
    lab_page.page.evaluate(HEAR)
    lab_page.page.keyboard.press("Enter")
    lab_page.page.wait_for_function(HEARD, arg="SymPy is working")
    lab_page.status("SymPy has answered: wrong, REFUTED, in ")
    lab_page.panel.get_by_role("button", name="Derive a rule", exact=True).focus()
    lab_page.page.keyboard.press("Enter")
    lab_page.status("Below is a rule derived for logistic_cr: right, PROVED")
    assert "return rl.NoTangent(), y * (1 - y) * y_bar" in lab_page.panel.inner_text()
    assert lab_page.violations() == []
    lab_page.picture("panel-symbolic.png")
    lab_page.page.evaluate(DARK)
    lab_page.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    assert lab_page.violations() == []
    lab_page.look("panel-symbolic-dark")
    lab_page.page.evaluate(LIGHT)
    copy = lab_page.page.locator(".rulelab-copy")
    copy.filter(has_text="%%rrule logistic_cr").wait_for(state="attached")
    lab_page.unharmed()


@pytest.mark.slow
def test_the_rule_is_checked_on_its_own_page(lab_page):
    """Run, the verdict in words, Stop with what there is, the report in the copy below; in both themes."""
    lab_page.open("%rule_lab mse mse_wrong --at y[:12], yh[:12]", WRONG_RULE)
    lab_page.tab("Check")
    assert "Not checked yet" in lab_page.panel.inner_text()
    lab_page.press("Run")
    lab_page.status("Done: .* Verdict: wrong")
    assert "Furthest off" in lab_page.panel.inner_text()
    assert lab_page.violations() == []
    lab_page.look("panel-check")
    lab_page.page.evaluate(DARK)
    lab_page.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    assert lab_page.violations() == []
    lab_page.page.evaluate(LIGHT)
    copy = lab_page.page.locator(".rulelab-copy")
    copy.filter(has_text="mse_wrong_rrule of mse_wrong is wrong").wait_for(state="attached")
    lab_page.unharmed()


@pytest.mark.slow
def test_a_long_check_is_stopped(lab_page):
    """Other cells run meanwhile; Stop shows the points that are whole."""
    lab_page.open(
        "%rule_lab slow slow_cr --at y[:6]",
        "import time\n"
        "def slow(x):\n"
        "    time.sleep(0.006)\n"
        "    return float(np.sum(x * x))\n"
        "slow_cr = rl.twin(slow, 'slow_cr')\n"
        "@rl.rrule_for(slow_cr)\n"
        "def slow_cr_rrule(x):\n"
        "    def slow_cr_pullback(y_bar):\n"
        "        return rl.NoTangent(), 2 * x * y_bar\n"
        "    return float(np.sum(x * x)), slow_cr_pullback",
    )
    lab_page.tab("Check")
    lab_page.panel.get_by_role("checkbox", name="Deep: two to three times as many points").check()
    lab_page.press("Run")
    lab_page.status("Checking, ")
    assert lab_page.notebook.run_cell("6 * 7").strip() == "42"
    lab_page.status("Checking, ")
    lab_page.tab("Times")
    lab_page.press("Run")
    lab_page.status("Waiting: the times")
    assert lab_page.enabled("Stop") and not lab_page.enabled("Run")
    lab_page.press("Stop")
    lab_page.status("no longer waiting|Checking, [^\n]*$")
    lab_page.tab("Check")
    lab_page.press("Stop")
    lab_page.status("Stopped after")
    assert "stopped early" in lab_page.panel.inner_text()
    lab_page.unharmed()


@pytest.mark.slow
def test_a_panel_works_after_a_reload_and_in_the_dark(lab_page):
    """While its kernel lives, whatever the theme."""
    lab_page.open("%rule_lab mse mse_wrong --at y, yh", WRONG_RULE)
    lab_page.page.evaluate(DARK)
    lab_page.page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    assert lab_page.violations() == []
    lab_page.look("panel-dark")
    lab_page.page.evaluate(LIGHT)
    lab_page.page.evaluate(SAVE)
    lab_page.page.reload(wait_until="domcontentloaded")
    lab_page.page.wait_for_function("() => window.jupyterapp !== undefined")
    lab_page.page.evaluate("() => window.jupyterapp.restored.then(() => null)")
    lab_page.panel.wait_for()
    lab_page.notebook.wait_until_idle()
    lab_page.box("Size N:").fill("40")
    lab_page.page.keyboard.press("Enter")
    lab_page.status("Compared at N = 40")
    assert "float64[40]" in lab_page.panel.inner_text()
    lab_page.unharmed()


AS_OFTEN = """\
import ipywidgets as W
from rulelab.notebook.pair import Pair
from rulelab.notebook.widgets import Panel

SHARED = ("min", "max", "value", "description", "titles", "_dom_classes")
was = None


def parts(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def plain(widget):
    kind = W.VBox if type(widget).__name__ == "_Root" else type(widget)
    given = {name: getattr(widget, name) for name in SHARED if widget.has_trait(name)}
    if hasattr(widget, "children"):
        given["children"] = [plain(child) for child in widget.children]
    return kind(**given)


def plain_again():
    global was
    for widget in () if was is None else list(parts(was)):
        for part in (widget.layout, getattr(widget, "style", None), widget):
            if part is not None:
                part.close()
    was = plain(first.widget)
    return was


first = Panel(Pair(mse, mse_cr, (y, yh)))
print(sum(type(widget) is W.HTML for widget in parts(first.widget)))"""
AGAIN = """async number => {
  const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
  document.querySelectorAll('.rulelab-panel').forEach(panel => panel.classList.add('seen'));
  notebook.activeCellIndex = number;
  await app.commands.execute('notebook:run-cell');
}"""
WHOLE = "n => document.querySelectorAll('.rulelab-panel:not(.seen) .widget-html').length === n"


@pytest.mark.slow
def test_closed_panels_leave_no_more_than_plain_widgets_do(lab_page):
    """JupyterLab keeps the models and views of closed widgets until its page is left: of a panel no more than
    of the same widgets made one by one; and what the panel keeps beside them, pages of HTML, is bounded.
    """
    page, run = lab_page.page, lab_page.notebook.run_cell
    page.evaluate(HIDE_SIDE)
    run(SETUP)
    run(RULE)
    count = int(run(AS_OFTEN))
    session = page.context.new_cdp_session(page)

    def bytes_held() -> float:
        for _ in range(3):
            session.send("HeapProfiler.collectGarbage")
        held = session.send("Runtime.getHeapUsage")
        return held["usedSize"] + held["embedderHeapUsedSize"]

    def left_by(code: str) -> float:
        run(code)
        cell, sizes = page.locator(".jp-CodeCell").count() - 2, []
        for times in (6, 12):
            for _ in range(times):
                page.evaluate(AGAIN, cell)
                page.wait_for_function(WHOLE, arg=count).dispose()
            lab_page.notebook.wait_until_idle()
            sizes.append(bytes_held())
        return (sizes[1] - sizes[0]) / 12

    ours, plain = left_by("Panel(Pair(mse, mse_cr, (y, yh)))"), left_by("plain_again()")
    assert ours < plain, f"a panel leaves {ours / 1e3:.0f} kB, plain widgets {plain / 1e3:.0f} kB"
    assert ours < 800_000
    session.detach()
    lab_page.unharmed()


@pytest.mark.campaign  # what stands in the file is read in tests/notebook/test_widgets.py
def test_without_a_kernel_what_the_panel_showed_can_be_read(lab_page):
    """The kernel is gone and the page is opened anew: tables and figures are there, as text and pictures."""
    lab_page.open("%rule_lab mse mse_cr --run --at y, yh")
    lab_page.page.evaluate(SAVE)
    lab_page.page.evaluate(OPEN_WITHOUT_KERNEL)
    summary = lab_page.page.get_by_text("What the panel showed of mse and mse_cr")
    summary.click()
    output = lab_page.page.locator(".rulelab-overview")
    text = output.inner_text()
    for words in ("Values and gradients", "Time of one call", "def mse_pullback", "PROVED"):
        assert words in text
    output.get_by_role("img").last.wait_for()
    assert output.get_by_role("img").count() == 4
    assert lab_page.violations() == []
    summary.evaluate("node => node.closest('.jp-OutputArea').scrollIntoView({block: 'start'})")
    lab_page.picture("panel-no-kernel.png", lab_page.page)
    assert lab_page.notebook.outside == []
