"""Hostile names, sources and errors in a real JupyterLab and its exported page: seen as words, never run."""

from __future__ import annotations

import contextlib
import re
import shutil

import pytest

from rulelab.notebook.copying import COPY
from tests.notebook.payloads import WORDS

pytestmark = pytest.mark.browser

SETUP = """\
import tempfile, pathlib, warnings
warnings.simplefilter("ignore")
import rulelab as rl
import payloads"""

SHOWN = "payloads.show(payloads.WORDS[{}::2], pathlib.Path(tempfile.mkdtemp()))"

NAMES = """\
for word in payloads.WORDS:
    globals()[word] = globals()['n' + word] = payloads.carrying(word)[0]
norm = payloads.carrying(' '.join(payloads.WORDS))[0]"""

ERRORS = """\
for word in payloads.WORDS:
    for error in (payloads.error(word), rl.MutationError(word), ValueError(word)):
        try:
            raise error
        except Exception:
            get_ipython().showtraceback()"""

PANEL = """\
everything = " ".join(payloads.WORDS)
pair = payloads.pair(everything)
f, f_cr, x = pair.f, pair.f_cr, pair.args[0]
%rule_lab f f_cr --at x"""

UNSAFE = """\
from IPython.display import HTML
HTML('<img src=x onerror=window.ran=1> <a href="javascript:1">a</a> $x$ <style>.x {color: red}</style>')"""

GENERATOR = "x, (_ for _ in ()).throw(ValueError(everything))"

# What nbconvert's own page asks for at its first line; nothing of it is needed to read the page.
SCRIPTS_OF_NBCONVERT = ("https://cdnjs.cloudflare.com/ajax/libs/",)

FOUND = """([area, ours]) => {
  const found = [], say = (node, why) => found.push(why + ': ' + node.outerHTML.slice(0, 160));
  const selectors = rules => [...rules].flatMap(    // those within @container as well
    rule => rule.selectorText === undefined ? selectors(rule.cssRules) : [rule.selectorText]);
  if (window.ran !== undefined) found.push('something ran');
  for (const output of document.querySelectorAll(area)) {
    for (const node of output.querySelectorAll('*')) {
      const tag = node.tagName.toLowerCase();
      if (['script', 'iframe', 'svg', 'object', 'embed', 'form', 'base', 'meta', 'link', 'b'].includes(tag))
        say(node, 'an element of theirs');
      if (tag === 'img' && !node.src.startsWith('data:image/png;base64,')) say(node, 'an image of theirs');
      for (const {name, value} of node.attributes) {
        if (name.startsWith('on') && value !== ours) say(node, 'a handler');
        if (/^\\s*javascript:/i.test(value)) say(node, 'a script in an address');
      }
      if (tag === 'style')
        for (const selector of selectors(node.sheet.cssRules))
        {
          const whole = selector.replace(/\\([^()]*\\)/g, inner => inner.replaceAll(',', ' '));
          if (!whole.split(',').every(one => one.includes('.rulelab-'))) say(node, 'a style');
        }
    }
  }
  for (const node of document.querySelectorAll('mjx-container')) {
    const formula = node.closest('.jp-RenderedLatex');
    if (!formula || node.closest('.tex2jax_ignore, summary, .jp-RenderedMarkdown')) say(node, 'typeset');
    // LaTeX that we write for papers has tables, which MathJax shows as they are written.
    const error = node.querySelector('mjx-merror')?.dataset.mjxError;
    if (error !== undefined && !/^Unknown environment .(tabular|verbatim).$/.test(error))
      say(node, 'an error of MathJax');
  }
  return found;
}"""


class Watched:
    """A page, and whatever happens on it that nobody asked for."""

    def __init__(self, page):
        self.page, self.happened = page, []
        self._watching = (
            (page, "dialog", lambda dialog: (self.happened.append(dialog.message), dialog.dismiss())),
            (page, "framenavigated", lambda frame: self.happened.append(f"went to {frame.url}")),
            (page.context, "page", lambda other: self.happened.append(f"opened {other.url}")),
        )
        for whom, event, note in self._watching:
            whom.on(event, note)

    def end(self):
        for whom, event, note in self._watching:
            whom.remove_listener(event, note)

    def calm(self, area=".jp-OutputArea-output"):
        """Nothing ran, nothing was asked of anybody, and the outputs have no element but ours."""
        self.page.wait_for_timeout(1000)  # time for what would run late
        assert self.page.evaluate(FOUND, [area, COPY]) == []
        assert [frame for frame in self.page.frames if frame.evaluate("() => window.ran") is not None] == []
        assert self.happened == []


@pytest.fixture
def hostile(shared, empty_notebook, lab, repository):
    """An empty notebook beside which `payloads` can be imported; a page on which something ran is left."""
    shutil.copyfile(repository / "tests" / "notebook" / "payloads.py", lab.root / "payloads.py")
    watched = Watched(empty_notebook.page)
    yield empty_notebook, watched
    watched.end()
    if watched.happened or empty_notebook.page.evaluate("() => window.ran !== undefined"):
        shared.spoilt = True


@pytest.mark.parametrize(  # JupyterLab shows 50 outputs of a cell
    "half", [pytest.param(0, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.rest)]
)
def test_nothing_runs_in_the_outputs_nor_in_their_export(hostile, half, tmp_path):
    """Errors with every word, a panel's page and each face of every report with some (those of all with all
    are in tests/notebook); then what nbconvert makes of it.
    """
    notebook, watched = hostile
    notebook.run_cell(SETUP)
    notebook.run_cell(SHOWN.format(half))
    notebook.run_cell(ERRORS)
    outputs = notebook.page.locator(".jp-OutputArea-output")
    shown = len(WORDS[half::2]) * (1 + 4) + len(WORDS) * 3  # the panel's page, four faces; three errors
    outputs.nth(shown - 1).wait_for()
    notebook.page.locator(".rulelab-symbolic math").first.wait_for()
    watched.calm()
    assert notebook.page.locator(".jp-Toolbar").first.is_visible()
    assert notebook.errors == [] and notebook.outside == []

    with opened_export(notebook, tmp_path) as exported:
        asked = []
        exported.page.on("request", lambda request: asked.append(request.url))
        exported.page.goto((tmp_path / "page.html").as_uri())
        exported.happened.clear()
        assert exported.page.get_by_text("payloads.show").first.is_visible()
        exported.calm(".jp-OutputArea-output")
    outside = [url for url in asked if not url.startswith(("file:", "data:", *SCRIPTS_OF_NBCONVERT))]
    assert outside == []


@contextlib.contextmanager
def opened_export(notebook, folder):
    """The notebook as an HTML page in a file, and a page of a visitor of its own to open it in."""
    import nbformat
    from nbconvert import HTMLExporter

    cells = notebook.cells()
    written = nbformat.from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    body, _ = HTMLExporter().from_notebook_node(written)
    (folder / "page.html").write_text(body)
    context = notebook.page.context.browser.new_context(viewport=notebook.page.viewport_size)
    page = context.new_page()
    page.route("https://**", lambda route: route.abort())
    yield Watched(page)
    context.close()


def visible(panel, button):
    """The button of this name on the page in front."""
    return panel.get_by_role("button", name=button, exact=True).locator("visible=true")


@pytest.mark.slow
def test_nothing_runs_in_a_panel(hostile):
    """A pair of hostile names on all pages of the panel, drawn, timed, checked, asked about and copied; a
    generator that raises.
    """
    notebook, watched = hostile
    notebook.run_cell(SETUP)
    notebook.run_cell(PANEL)
    panel = notebook.page.locator(".rulelab-panel")
    panel.wait_for()
    status = panel.get_by_role("status")
    panel.locator(".rulelab-title").filter(has_text="<script>window.ran=1</script>").wait_for()
    pictures = panel.get_by_role("img").locator("visible=true")
    pictures.first.wait_for()  # both gradients over each other
    for name in ("Symbolic", "Code", "Check", "Times"):
        panel.get_by_role("tab", name=re.compile(f"{name}$")).click()  # before it, a verdict's symbol
        if name == "Symbolic":
            status.filter(has_text="SymPy has answered").wait_for()
            panel.get_by_role("button", name="Derive a rule", exact=True).click()
            status.filter(has_text=re.compile("Below is a|Symbolic: ")).wait_for()
        if name == "Check":
            visible(panel, "Run").click()
            status.filter(has_text="Verdict: ").wait_for()
    panel.get_by_role("spinbutton", name="Rounds:", exact=True).fill("8")
    visible(panel, "Run").click()
    status.filter(has_text="Done: 8 of 8 rounds").wait_for()
    assert pictures.count() == 2  # how the times are spread, and against N
    visible(panel, "Pictures as SVG").click()
    panel.get_by_role("link", name="Save picture-2.svg").wait_for()
    visible(panel, "Markdown").click()
    field = panel.get_by_role("textbox", name="Arguments of size n:", exact=True)
    for text, looked_at, answer in (
        *((word, word, "Times: ") for word in (WORDS[1], WORDS[5])),
        (GENERATOR, "the next Run", "ValueError: <script>"),
    ):
        field.fill(text)
        notebook.page.keyboard.press("Tab")
        # ipywidgets keeps a text back until the kernel has answered for the one before, but never a click.
        status.filter(has_text=looked_at).wait_for()
        visible(panel, "Run").click()
        status.filter(has_text=answer).wait_for()  # which would replace the words about the next text
    notebook.page.locator(".rulelab-copy summary").first.click()
    watched.calm()
    assert notebook.errors == [] and notebook.outside == []


def test_what_runs_is_noticed(hostile):
    """The watch itself: HTML, a formula and a style that are not escaped are told."""
    notebook, watched = hostile
    notebook.run_cell(UNSAFE)
    notebook.page.wait_for_function("() => window.ran === 1")
    notebook.page.locator(".jp-OutputArea-output mjx-container").wait_for()
    told = " ".join(notebook.page.evaluate(FOUND, [".jp-OutputArea-output", COPY]))
    for why in ("something ran", "an image of theirs", "a handler", "an address", "a style", "typeset"):
        assert why in told


@pytest.mark.slow
def test_nothing_runs_while_one_types(hostile):
    """Hostile keys and names in the popup, the tooltip, help, and the cell that a stub is put into."""
    notebook, watched = hostile
    notebook.run_cell(f"{SETUP}\n{NAMES}")
    cell = notebook.page.locator(".jp-CodeCell").last.locator(".cm-content")
    for text in ("%rule_symbolic n", "%grad_compare no", "n"):
        cell.click()
        notebook.page.keyboard.insert_text(text)
        notebook.press_tab("norm")
        watched.calm(".jp-Completer")
        notebook.page.keyboard.press("Escape")
        notebook.page.keyboard.press("ControlOrMeta+a")
        notebook.page.keyboard.press("Delete")
    cell.click()
    notebook.page.keyboard.insert_text("norm(")
    notebook.page.keyboard.press("Shift+Tab")
    notebook.page.locator(".jp-Tooltip").get_by_text("<script>window.ran=1").first.wait_for()
    watched.calm(".jp-Tooltip")
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("ControlOrMeta+a")
    notebook.page.keyboard.press("Delete")
    notebook.run_cell("norm?")
    notebook.run_cell("%rule_stub norm")
    watched.calm()
    assert notebook.errors == [] and notebook.outside == []
