"""Pictures of every page of the panel, every verdict and every magic, light and dark, wide, narrow and as on
a phone: to be looked at one by one, by `make pictures`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import small
from .test_outputs import AREA_RULES, CELLS, FAILING, MORE, SIGMOID_RULE, UNFOLD
from .test_panel import DARK, HIDE_SIDE, INTERRUPT, LIGHT, RULE, SETUP, WRONG_RULE, PanelPage, violations

pytestmark = [pytest.mark.browser, pytest.mark.campaign]

PHONE = 360
WIDTHS = (1280, 800, PHONE)
HEIGHTS = {1280: 2600, 800: 4200, PHONE: 9000}
"""Room for the longest output of each width: what is taller is seen through a window of JupyterLab."""
OF_NBCONVERT = "https://cdnjs.cloudflare.com/"
"""What nbconvert's own page asks for at its first lines; nothing of it is needed to read the page."""
IMAGES_OF_MANUAL = Path(__file__).parents[2] / "docs" / "images"
SLOW = """\
import time
def slow(x):
    time.sleep(0.01)
    return float(np.sum(x * x))
slow_cr = rl.twin(slow, "slow_cr")
@rl.rrule_for(slow_cr)
def slow_cr_rrule(x):
    return float(np.sum(x * x)), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)"""
NOISY = """\
def noisy(x):
    return np.sum(x * x) + 1e-3 * rng.random()
noisy_cr = rl.twin(noisy, "noisy_cr")
@rl.rrule_for(noisy_cr)
def noisy_cr_rrule(x):
    return noisy(x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)"""
PATIENT = """\
def patient(x):
    t = 0.0
    for i in range(2_000_000):
        t = i * 0.5
    return np.sum(x ** 2.0)
patient_cr = rl.twin(patient, "patient_cr")
@rl.rrule_for(patient_cr)
def patient_cr_rrule(x):
    return np.sum(x ** 2.0), lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar)"""
MUTATING = """\
def doubled(x):
    y = np.empty_like(x)
    y[:] = 2.0 * x
    return np.sum(y)
doubled_cr = rl.twin(doubled, "doubled_cr")
@rl.rrule_for(doubled_cr)
def doubled_cr_rrule(x):
    return doubled(x), lambda y_bar: (rl.NoTangent(), 2.0 * y_bar * np.ones_like(x))"""
WITHOUT = """\
bare_cr = rl.twin(mse, "bare_cr")"""
REFUSED = """\
%%rrule short_cr --of mse
def short_cr_rrule(y, yh):
    def short_cr_pullback(out_bar):
        return rl.NoTangent(), 2 / len(y) * out_bar * (y - yh)
    return mse(y, yh), short_cr_pullback"""
KALMAN = """\
def kalman(x, P, F, H, Q, R, z):
    xp = F @ x
    Pp = F @ P @ F.T + Q
    S = H @ Pp @ H.T + R
    K = Pp @ H.T @ np.linalg.inv(S)
    return xp + K @ (z - H @ xp), (np.eye(len(x)) - K @ H) @ Pp
F, H = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
Q, R, P = 0.01 * np.eye(2), np.array([[0.1]]), np.eye(2)
x0, z = np.array([0.0, 1.0]), np.array([0.3])
kalman_cr = rl.twin(kalman, "kalman_cr")"""
IMAGES = """\
def blurred(image):
    return 0.25 * (image[1:, 1:] + image[:-1, 1:] + image[1:, :-1] + image[:-1, :-1])
def energy(image):
    return np.sum(blurred(image) ** 2.0)
energy_cr = rl.twin(energy, "energy_cr")
@rl.rrule_for(energy_cr)
def energy_cr_rrule(image):
    def back(y_bar):
        g = np.zeros_like(image)
        d = 0.5 * blurred(image) * y_bar
        g[1:, 1:] += d; g[:-1, 1:] += d; g[1:, :-1] += d
        return rl.NoTangent(), g
    return energy(image), back
image = rng.random((24, 32))"""
CUBE = """\
def cube(x):
    return x ** 3.0
cube_cr = rl.twin(cube, "cube_cr")
def total(w):
    return mse_cr(w, yh)
def valley(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1.0 - x[:-1]) ** 2.0)
def third(x):
    return 0.3333333333 * x ** 3.0
third_cr = rl.twin(third, "third_cr")
@rl.rrule_for(third_cr)
def third_cr_rrule(x):
    return third(x), lambda y_bar: (rl.NoTangent(), x ** 2.0 * y_bar)
A = rng.random((3, 2))
def squares(M):
    return np.sum(M ** 2.0)
squares_cr = rl.twin(squares, "squares_cr")
@rl.rrule_for(squares_cr)
def squares_cr_rrule(M):
    return squares(M), lambda y_bar: (rl.NoTangent(), 3.0 * M * y_bar)"""
FRULE = """\
%%frule cube_cr --check
def cube_cr_frule(tangents, x):
    return x ** 3.0, 3.0 * x ** 2.0 * tangents[1]"""
OTHERS = (
    FRULE,
    FRULE.replace("3.0 * x", "2.0 * x"),
    "%rule_check cube_cr --frule",
    "%rule_check squares_cr --at A",
    "%rule_check short_cr --at y, yh",
    "%rule_check slow_cr --seconds 0.5 --at y[:6]",
    "%which_rule mse_cr(y, yh)",
    "%which_rule np.sin",
    "%which_rule addone(y)",
    "%rule_undo cube_cr",
    "%rule_export mse_cr --to module mse_rules.py --force --at y, yh",
    "%rule_import autograd area --of area",
    "%rule_docs twin",
    "%rule_docs howto/time",
    "%jacobian sigmoid(weights)",
    "%jacobian squares(A)",
    "%hessian valley(weights)",
    "%rule_derive area",
    "%rule_derive valley --at weights",
    "%grad_compare total --without mse_cr --at y",
    "%grad_compare noisy noisy_cr --at y[:6]",
    "%grad_check noisy(y[:6])",
    "%grad_bench mse mse_cr --at y, yh",
    "%grad_bench mse mse_wrong --at y, yh",
    "%grad_bench mse mse --rounds 20 --at y, yh",
    "%grad_bench slow slow_cr --seconds 0.5 --at y[:6]",
    "%rule_symbolic squares_cr --at A",
    "%rule_symbolic third_cr",
    "%rule_symbolic mse_cr --seconds 0.001",
    "%rule_symbolic short_cr",
    "%sym_check --seconds 0.001 mse_cr(y, yh)",
    "%rule_scan sigmoid --seconds 0.5",
    "%rule_scan noise",
)
"""Every other magic, and those of `CELLS` in every other state."""
REFUSING = (
    "%rule_undo rescale",
    "%rule_export mse_wrong --to module mse_wrong.py --at y, yh",
    "%rule_import autograd nothing --of area",
    "%hessian sigmoid(weights)",
    "%jacobian addone(y)",
    "%rule_derive noise",
    "%grad_check addone(y)",
    "%grad_compare mse short_cr --at y, yh",
    "%grad_profile addone(y)",
    "%adjoint addone(y)",
    "%sym_check nobody(q)",
    "%rule_lint mse",
    "%rule_docs",
)
LASTING = (
    "%rule_check slow_cr --deep --at y[:6]",
    "%grad_check slow_cr(y[:6])",
    "%grad_bench slow slow_cr --rounds 100000 --at y[:6]",
    "%grad_profile --seconds 60 slow(y[:6])",
    "%rule_symbolic patient_cr --seconds 60 --at y[:2]",
    "%rule_scan patient_cr --seconds 60 --at y[:2]",
    "%rule_lab slow slow_cr --no-widget --at y[:6]",
)
"""Each of them shows its progress until it is stopped."""


MANUAL = {
    "panel-right-gradients-light-1280": "panel-gradients",
    "panel-right-gradients-copied-light-800": "panel-copied",
    "panel-right-times-light-1280": "panel-times",
    "panel-running-times-light-1280": "panel-running",
    "panel-right-code-light-1280": "panel-code",
    "panel-right-symbolic-dark-1280": "panel-dark",
    "panel-wrong-gradients-light-800": "panel-wrong",
    "panel-wrong-check-light-1280": "panel-check",
    "panel-wrong-images-light-1280": "panel-matrices",
    "panel-cannot-tell-check-light-800": "panel-cannot-tell",
    "panel-failed-check-light-800": "panel-failed",
    "panel-waiting-times-light-1280": "panel-waiting",
    "panel-stopped-check-light-800": "panel-stopped",
}
"""The pictures of the manual, by what they are called there: RULELAB_SAVE_IMAGES=1 makes them anew."""


class Taking:
    """A notebook with one panel after the other, and pictures of each state in every light and width."""

    def __init__(self, page: PanelPage, folder: Path):
        self.page, self.folder = page, folder

    def open(self, magic: str) -> None:
        """Another panel, the last of the notebook."""
        before = self.page.page.locator(".rulelab-panel").count()
        self.page.notebook.run_cell(magic)
        self.page.page.locator(".rulelab-panel").nth(before).wait_for()
        self.page.number = before

    def take(self, name: str, still: bool = True) -> None:
        """The panel as it is now; what is `still` moving, in one light and width only."""
        for theme, width in self._ways() if still else [("light", WIDTHS[0])]:
            path = self.folder / f"panel-{name}-{theme}-{width}.png"
            self.page.panel.screenshot(path=str(path))
            if path.stem in MANUAL and os.environ.get("RULELAB_SAVE_IMAGES") == "1":
                small(path, IMAGES_OF_MANUAL / f"{MANUAL[path.stem]}.png")

    def stopped(self, cell: str) -> None:
        """What a cell shows while it runs; then it is stopped."""
        page = self.page.page
        cells = page.locator(".jp-CodeCell")
        number = cells.count() - 1
        cells.nth(number).locator(".cm-content").click()
        page.keyboard.insert_text(cell)
        page.keyboard.press("Shift+Enter")
        output = cells.nth(number).locator(".jp-Cell-outputArea")
        output.get_by_role("progressbar").or_(output.get_by_text("of 60 s")).first.wait_for(timeout=30_000)
        page.wait_for_timeout(1500)  # until it has a number to tell
        output.screenshot(path=str(self.folder / f"running-{number:02}-light-{WIDTHS[0]}.png"))
        page.evaluate(INTERRUPT)
        self.page.notebook.wait_until_idle()

    def outputs(self, name: str = "cell") -> None:
        """What each cell shows."""
        for theme, width in self._ways():
            outputs = self.page.page.locator(".jp-Cell-outputArea")
            for number in range(outputs.count()):
                if outputs.nth(number).is_visible():
                    path = self.folder / f"{name}-{number:02}-{theme}-{width}.png"
                    outputs.nth(number).screenshot(path=str(path))

    def _ways(self) -> Iterator[tuple[str, int]]:
        page = self.page.page
        usual = page.viewport_size
        for theme, change, light in (("light", LIGHT, "true"), ("dark", DARK, "false")):
            page.evaluate(change)
            page.locator(f"body[data-jp-theme-light={light}]").wait_for(state="attached")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
                page.mouse.move(0, 0)
                page.wait_for_timeout(400)
                yield theme, width
        page.evaluate(LIGHT)
        page.set_viewport_size(usual)


class OnePanel(PanelPage):
    """The panel that is asked for, of several on the page."""

    number = 0

    @property
    def panel(self):
        return self.page.locator(".rulelab-panel").nth(self.number)


@pytest.fixture
def taking(empty_notebook, request, repository, tmp_path) -> Taking:
    page = OnePanel(empty_notebook, request, repository, tmp_path)
    folder = Path(os.environ.get("RULELAB_PICTURES", repository / "build" / "pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    page.page.evaluate(HIDE_SIDE)
    for cell in (SETUP, RULE, WRONG_RULE):
        page.notebook.run_cell(cell)
    return Taking(page, folder)


def right(taking: Taking) -> None:
    page = taking.page
    taking.open("%rule_lab mse mse_cr --at y, yh")
    page.known("Gradients: right")
    taking.take("right-gradients")
    page.panel.get_by_role("button", name="Markdown", exact=True).locator("visible=true").click()
    page.panel.get_by_text("The tables as text and as files").locator("visible=true").click()
    page.press("Pictures as SVG")
    page.panel.get_by_role("link", name="Save picture-1.svg").wait_for()
    taking.take("right-gradients-copied")
    page.tab("Times")
    taking.take("right-times-before")
    page.press("Run")
    page.status("Running, ")
    taking.take("running-times", still=False)
    page.status("Done: ")
    taking.take("right-times")
    page.tab("Check")
    taking.take("right-check-before")
    page.press("Run")
    page.status("Verdict: right")
    taking.take("right-check")
    page.tab("Code")
    taking.take("right-code")
    page.tab("Symbolic")
    page.status("SymPy has answered")
    taking.take("right-symbolic")


def wrong(taking: Taking) -> None:
    page = taking.page
    taking.open("%rule_lab mse mse_wrong --at y[:6], yh[:6]")
    page.known("Gradients: wrong")
    taking.take("wrong-gradients")
    page.tab("Times")
    taking.take("slower-times")
    page.tab("Check")
    page.press("Run")
    page.status("Verdict: wrong")
    taking.take("wrong-check")
    page.tab("Symbolic")
    page.status("SymPy has answered")
    page.press("Derive a rule")
    page.status("Below is a|Symbolic: ")
    taking.take("wrong-symbolic")


def images(taking: Taking) -> None:
    taking.page.notebook.run_cell(IMAGES)
    taking.open("%rule_lab energy energy_cr --at image")
    taking.page.known("Gradients: wrong")
    taking.take("wrong-images")


def cannot_tell(taking: Taking) -> None:
    page = taking.page
    page.notebook.run_cell(NOISY)
    taking.open("%rule_lab noisy noisy_cr --at y[:6]")
    taking.take("cannot-tell-gradients")
    page.tab("Check")
    page.press("Run")
    page.status("Verdict: cannot tell")
    taking.take("cannot-tell-check")
    page.tab("Symbolic")
    page.status("SymPy has answered|Symbolic: ")
    taking.take("cannot-tell-symbolic")


def not_judged(taking: Taking) -> None:
    page = taking.page
    page.notebook.run_cell(WITHOUT)
    taking.open("%rule_lab mse bare_cr --at y, yh")
    page.tab("Check")
    page.press("Run")
    page.known("not judged")
    taking.take("failed-check")
    page.tab("Symbolic")
    page.status("Symbolic: ")
    taking.take("failed-symbolic")


def refused(taking: Taking) -> None:
    page = taking.page
    page.notebook.run_cell(REFUSED)
    taking.open("%rule_lab mse short_cr --at y, yh")
    page.known("Gradients: not judged")
    taking.take("failed-gradients")
    page.tab("Times")
    taking.take("failed-times")
    page.tab("Check")
    page.press("Run")
    page.status("Verdict: wrong")
    taking.take("refused-check")
    page.tab("Code")
    taking.take("failed-code")


def mutating(taking: Taking) -> None:
    """A function that the AD refuses."""
    page = taking.page
    page.notebook.run_cell(MUTATING)
    taking.open("%rule_lab doubled doubled_cr --at y")
    page.known("Gradients: ")
    taking.take("differences-gradients")
    page.tab("Times")
    taking.take("differences-times")
    page.tab("Code")
    taking.take("refused-code")


def several_outputs(taking: Taking) -> None:
    taking.page.notebook.run_cell(KALMAN)
    taking.open("%rule_lab kalman kalman_cr --at x0, P, F, H, Q, R, z")
    taking.take("several-gradients")
    taking.page.tab("Times")
    taking.page.press("Run")
    taking.page.status("Done: ")
    taking.take("cannot-tell-times")


def slow(taking: Taking) -> None:
    page = taking.page
    page.notebook.run_cell(SLOW)
    taking.open("%rule_lab slow slow_cr --at y[:6]")
    page.tab("Check")
    page.panel.get_by_role("checkbox", name=re.compile("Deep")).check()
    page.press("Run")
    page.status("Checking, ")
    page.tab("Times")
    page.box("Rounds:").fill("100000")  # which last until Stop
    page.page.keyboard.press("Tab")
    page.press("Run")
    page.status("Waiting: the times")
    taking.take("waiting-times")
    page.press("Stop")
    page.tab("Check")
    taking.take("running-check")
    page.press("Stop")
    page.status("Stopped after")
    taking.take("stopped-check")
    page.tab("Times")
    page.press("Run")
    page.status("Running, ")
    taking.take("running-times-long")
    page.press("Stop")
    page.status("Stopped")
    taking.take("stopped-times")


def patient(taking: Taking) -> None:
    """Runs that last, on the pages that usually answer at once."""
    page = taking.page
    page.notebook.run_cell(PATIENT)
    taking.open("%rule_lab patient patient_cr --at y[:2]")
    page.known("Gradients: right")
    page.page.wait_for_timeout(1000)
    page.panel.get_by_role("tab", name=re.compile(r"^(\? |▲ |▼ )?Times$")).wait_for()  # timed, or tried
    page.box("Size N:").fill("3")
    page.page.keyboard.press("Tab")
    page.status("Comparing at")
    taking.take("running-gradients", still=False)
    page.press("Stop")
    page.status("Stopped|agree")
    taking.take("stopped-gradients")
    page.tab("Symbolic")
    page.press("Stop")
    page.status("Stopped|SymPy has answered")
    page.box("Seconds at most:").fill("60")
    page.page.keyboard.press("Tab")
    page.press("Prove")
    page.page.wait_for_timeout(2000)
    taking.take("running-symbolic")
    page.press("Stop")
    page.status("Stopped|SymPy has answered")
    taking.take("stopped-symbolic")
    page.box("Seconds at most:").fill("1")
    page.page.keyboard.press("Tab")
    page.press("Prove")
    page.status("SymPy has answered")
    taking.take("cannot-tell-symbolic-by-time")


PANELS: tuple[Callable[[Taking], None], ...] = (
    right, wrong, images, cannot_tell, not_judged, refused, mutating, several_outputs, slow, patient,
)  # fmt: skip


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.__name__)
def test_pictures_of_a_panel(taking, panel):
    """One panel in each of its states."""
    panel(taking)
    assert taking.page.notebook.outside == []


def test_pictures_of_every_magic(taking):
    """What each magic shows, the errors as well."""
    for cell in (MORE, *CELLS, *FAILING):
        taking.page.notebook.run_cell(cell)
    taking.outputs()
    assert taking.page.notebook.outside == []


def test_pictures_of_every_other_magic(taking):
    """The magics that are not among these cells, those in other states, and what runs and is stopped."""
    notebook = taking.page.notebook
    for cell in (MORE, CUBE, NOISY, SLOW, PATIENT, REFUSED, AREA_RULES, SIGMOID_RULE, *OTHERS, *REFUSING):
        notebook.run_cell(cell)
    for cell in LASTING:
        taking.stopped(cell)
    taking.outputs("other")
    assert notebook.outside == []


def test_pictures_of_an_export(shared, tmp_path, repository):
    """What nbconvert makes of a notebook with a panel and a proof, opened from a file without a network; axe
    finds nothing to object to.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    magics = ("%rule_lab mse mse_cr --run --at y, yh", "%rule_symbolic mse_cr")
    cells = ["%load_ext rulelab", SETUP, RULE, *magics]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(made, timeout=600, kernel_name="python3", store_widget_state=False).execute()
    folder = Path(os.environ.get("RULELAB_PICTURES", repository / "build" / "pictures"))
    for theme in ("light", "dark"):
        body, _ = HTMLExporter(theme=theme).from_notebook_node(made)
        (tmp_path / f"{theme}.html").write_text(body)
        context = shared.browser().new_context(viewport={"width": 1280, "height": 1000}, offline=True)
        page = context.new_page()
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto((tmp_path / f"{theme}.html").as_uri(), wait_until="domcontentloaded")
        page.get_by_text("What the panel showed").click()
        assert page.locator(".rulelab-symbolic math").count() >= 8
        assert page.get_by_role("img").first.evaluate("picture => picture.naturalWidth") > 100
        page.screenshot(path=str(folder / f"export-{theme}.png"), full_page=True)
        page.set_viewport_size({"width": PHONE, "height": 1000})
        page.screenshot(path=str(folder / f"export-{theme}-{PHONE}.png"), full_page=True)
        page.evaluate(UNFOLD)
        assert violations(page, ".jp-OutputArea-output > *") == []  # the boxes and prompts are theirs
        outside = {url for url in asked if not url.startswith(("file:", "data:", OF_NBCONVERT))}
        assert outside == set()
        context.close()
