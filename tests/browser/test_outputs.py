"""Every output there is, in a real JupyterLab, light and dark: axe finds nothing to object to."""

from __future__ import annotations

import copy
import json
import os

import numpy as np
import pytest

import rulelab as rl
from rulelab.notebook import tabs
from rulelab.notebook.pair import Pair
from rulelab.tables import Page
from tests.conftest import EMPTY_NOTEBOOK

from .test_panel import DARK, HIDE_SIDE, LIGHT, RULE, SETUP, WRONG_RULE, PanelPage, violations

pytestmark = pytest.mark.browser

MORE = """\
from rulelab.bench import compare_records, first_gradient, gradient_duel, measure, scaling
from rulelab.symbolic import prove

def area(r):
    return np.pi * r ** 2.0

def rescale(weights, features):
    scaled = np.tanh(features @ weights) + 0.5 * np.log1p(np.exp(-np.abs(features @ weights))) - 0.25
    return np.sum(scaled ** 2.0) / len(scaled)

def addone(x):
    for i in range(len(x)):
        x[i] = x[i] + 1
    return np.sum(x ** 2)

def noise(x):
    return x + rng.random()

def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))

square = lambda x: x ** 2.0
features, weights = rng.random((6, 4)), rng.random(4)"""

AREA_RULES = """\
%%rrule area_cr --of area
def area_cr_rrule(r):
    return np.pi * r ** 2.0, lambda y_bar: (rl.NoTangent(), 2.0 * np.pi * r * y_bar)"""
AREA_WRONG = AREA_RULES.replace("area_cr", "area_wrong").replace("2.0 * np.pi * r *", "np.pi * r *")

SIGMOID_RULE = """\
%%scalar_rule sigmoid --prove
def sigmoid_partials(out, x):
    return out * (1.0 - out)"""

NOISE_RULE = """\
%%rrule noise --check
def noise_rrule(x):
    return noise(x), lambda y_bar: (rl.NoTangent(), x * y_bar)"""

CELLS = (
    AREA_RULES,
    AREA_WRONG,
    "%rule_lint area_cr",
    "%rule_check area_cr",
    "%rule_check area_wrong --domain positive",
    "%rule_check mse_cr --at y, yh",
    "%rule_check mse_wrong --at y[:12], yh[:12]",
    "%grad_check mse(y, yh)",
    "%grad_check mse_wrong(y, yh)",
    NOISE_RULE,
    "%rule_check noise",
    RULE.replace("--of mse", "--of mse --check"),
    "%rules",
    "%gradient mse(y, yh)",
    "%gradient rescale(weights, features)",
    "%adjoint mse(y, yh)",
    "%grad_compare mse mse_cr --at y, yh",
    "%grad_compare mse mse_wrong --at y, yh",
    "%grad_bench mse mse_cr --rounds 5 --at y, yh",
    "%grad_profile --seconds 0.1 mse(y, yh)",
    "%grad_profile --seconds 0.1 rescale(weights, features)",
    "%grad_refresh",
    "def loss(p):\n    return 2.0 * mse_cr(p, yh)",
    "%gradient loss(y)",
    "%grad_refresh manual",
    RULE,
    "%gradient loss(y)",
    "%grad_refresh auto",
    "%rule_symbolic area_cr",
    "%rule_symbolic area_wrong",
    "%rule_symbolic mse_cr --at y, yh",
    "%sym_check area(q) == 2.0 * np.pi * q",
    "%sym_check 3.0 * area_wrong(q)",
    "%sym_check np.abs(weights) * weights == weights",
    "%rule_symbolic mse_cr --sizes 3",
    '%rule_symbolic area_wrong --domain "r: (0, 1)"',
    "%rule_symbolic noise",
    SIGMOID_RULE,
    "%rule_scan sigmoid",
    "%rule_scan area_cr --seconds 3",
    "from IPython.display import Latex\nLatex(prove(area_wrong)._repr_latex_())",
    "Latex(prove(sigmoid, domain='positive')._repr_latex_())",
    "measure(lambda: mse(y, yh), name='mse', rounds=3)",
    "first_gradient(mse, y, yh)",
    "scaling(mse, mse_cr, lambda n: (rng.random(n), rng.random(n)), sizes=[4, 16, 64], rounds=2)",
    "compare_records(*[gradient_duel(mse, mse_cr, y, yh, rounds=5) for _ in range(2)])",
    "%rule_lab mse mse_cr --no-widget -o shown --at y[:2], yh[:2]",
    "shown",  # a page may show the same names twice
    "%grad_profile --seconds 0.1 mse(y, yh)",
)

# Each of them says in a few lines what is wrong.
FAILING = (
    "%gradient addone(y)",
    "%grad_compare mse --at y, yh",
    "%gradient mse(y, yh",
    "%grad_bench mse nobody --at y, yh",
    "%rule_check mse",
    "%rule_check mse_cr --domain positve",
    "%rule_symbolic mse_cr --sizes 3x",
    "%rule_scan mse_cr --at y, nothing",
)

UNFOLD = "() => document.querySelectorAll('.jp-OutputArea details').forEach(fold => { fold.open = true; })"


NEEDED = ("%%", "def ", "%grad_refresh", "%rule_lab")  # what others build on
SHARES = {"some": 3, "all": 1}


@pytest.fixture(
    params=[pytest.param("some", marks=pytest.mark.slow), pytest.param("all", marks=pytest.mark.campaign)]
)
def lab_page(open_notebook, lab, request, repository, tmp_path):
    """A notebook with these cells or each third of them, of which Run All passes over those that fail."""
    share = SHARES[request.param]
    cells = [cell for k, cell in enumerate(CELLS) if k % share == 0 or cell.startswith(NEEDED)]
    written = copy.deepcopy(EMPTY_NOTEBOOK)
    for source in (SETUP, MORE, RULE, WRONG_RULE, *cells, *FAILING, ""):
        metadata = {"tags": ["raises-exception"]} if source in FAILING else {}
        cell = {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": []}
        written["cells"].append({**cell, "id": f"cell-{len(written['cells'])}", "source": source})
    (lab.root / "outputs.ipynb").write_text(json.dumps(written))
    return PanelPage(open_notebook("outputs.ipynb"), request, repository, tmp_path)


def pictures(lab_page, name):
    """With RULELAB_SAVE_OUTPUTS=folder, what each cell shows, to be looked at."""
    folder = os.environ.get("RULELAB_SAVE_OUTPUTS")
    outputs = lab_page.page.locator(".jp-Cell-outputArea")
    for number in range(outputs.count() if folder else 0):
        if outputs.nth(number).is_visible():
            outputs.nth(number).screenshot(path=f"{folder}/{name}-{number:02}.png")


def test_all_outputs_are_accessible_in_both_themes(lab_page):
    """Every magic, every report, errors; folds closed and open; nothing asked of the outside world."""
    notebook, page = lab_page.notebook, lab_page.page
    page.evaluate(HIDE_SIDE)
    notebook.run_all()
    assert notebook.unrun_cells() == []
    notebook.run_cell("%rule_stub addone")
    page.locator(".rulelab-symbolic math").first.wait_for()
    assert len(notebook.error_outputs()) == len(FAILING), notebook.error_outputs()
    pictures(lab_page, "closed")
    assert lab_page.violations() == []
    page.evaluate(UNFOLD)
    assert lab_page.violations() == []
    page.evaluate(DARK)
    page.locator("body[data-jp-theme-light=false]").wait_for(state="attached")
    pictures(lab_page, "dark")
    assert lab_page.violations() == []
    page.evaluate(LIGHT)
    assert notebook.errors == [] and notebook.outside == []


def softmax_reports():
    """What is said of a function, a right rule and a wrong one, by numbers, times and formulas."""
    from rulelab.bench import gradient_duel, profile
    from rulelab.symbolic import scan_stability

    def softmax(x):
        e = np.exp(x - np.max(x))
        return e / np.sum(e)

    softmax_cr, softmax_wrong = rl.twin(softmax, "softmax_cr"), rl.twin(softmax, "softmax_wrong")

    @rl.rrule_for(softmax_cr)
    def softmax_cr_rrule(x):
        y = softmax(x)
        return y, lambda y_bar: (rl.NoTangent(), y * (y_bar - np.sum(y_bar * y)))

    rl.rrule_for(softmax_wrong)(lambda x: (softmax(x), lambda y_bar: (rl.NoTangent(), y_bar)))
    x = np.array([1.0, 2.0, 0.5, -1.0])
    return (
        rl.compare(softmax, softmax_cr, x), rl.compare(softmax, softmax_wrong, x), profile(softmax, x),
        gradient_duel(softmax, softmax_cr, x, rounds=8), scan_stability(softmax_cr, at=(x,), time_limit=4.0),
        rl.rule_check(softmax_wrong, x, depth="quick"), tabs.overview(Pair(softmax, softmax_wrong, (x,))),
    )  # fmt: skip


def wide_comparisons():
    """What is said of arrays whose shapes and numbers are as wide as they come."""

    def energy(image):
        return np.sum(image * image)

    energy_wrong = rl.twin(energy, "energy_wrong")

    @rl.rrule_for(energy_wrong)
    def energy_wrong_rrule(image):
        return energy(image), lambda y_bar: (rl.NoTangent(), 2.1 * image * y_bar)

    drawn = np.random.default_rng(0).normal
    images = drawn(size=(24, 32)), 1e-7 * drawn(size=(100, 120)), 1e6 * drawn(size=6), drawn(size=(3, 3, 3))
    return [rl.compare(energy, energy_wrong, image) for image in images]


BEYOND = """() => [...document.querySelectorAll('section')].flatMap(section => {
  const edge = section.getBoundingClientRect().right + 1;
  const tables = [...section.querySelectorAll('table')].filter(table => !table.closest('.rulelab-scroll'));
  const beyond = tables.filter(table => table.getBoundingClientRect().right > edge);
  return beyond.map(table => table.caption.innerText);
})"""


@pytest.mark.slow
def test_no_table_goes_beyond_the_edge_of_a_page_of_any_width(browser):
    """Between the widths at which their layout changes as well: what goes beyond it is cut in a notebook."""
    reports = (*softmax_reports(), *wide_comparisons())
    sections = "".join(f"<section>{report._repr_html_()}</section>" for report in reports)
    context = browser.new_context()
    page = context.new_page()
    page.set_content(f'<body style="margin: 0; font: 14px sans-serif">{sections}</body>')
    beyond = {}
    for width in range(360, 1300, 10):
        page.set_viewport_size({"width": width, "height": 900})
        beyond[width] = page.evaluate(BEYOND)
    context.close()
    assert not any(beyond.values()), {width: found for width, found in beyond.items() if found}


def test_a_long_path_in_a_sentence_goes_on_in_the_next_line(browser):
    """On a phone as well: what has to be moved sideways would be a stop of the keyboard without a name."""
    path = f"/tmp/{'a_folder_with_a_long_name/' * 3}test_softplus_torch.py"
    shown = Page((f"softplus, exported to torch: {path}",), (), (f"see {path}",)).html()
    context = browser.new_context(viewport={"width": 360, "height": 900})
    page = context.new_page()
    page.set_content(f'<!doctype html><body style="margin: 0; font: 14px sans-serif">{shown}</body>')
    beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    context.close()
    assert beyond == 0


GAPS = """() => [...document.querySelectorAll('.rulelab-number + :is(td, th):not(.rulelab-number)')]
  .filter(words => words.offsetParent && getComputedStyle(words).display === 'table-cell')
  .map(words => parseFloat(getComputedStyle(words.previousElementSibling).paddingRight)
    + parseFloat(getComputedStyle(words).paddingLeft)).filter(gap => gap < 9)"""


def test_words_stand_apart_from_the_numbers_before_them(browser):
    """Numbers stand to the right of their column: a verdict behind them is no part of them."""
    report = rl.compare(np.sum, np.mean, np.array([1.0, 2.0]))
    context = browser.new_context()
    page = context.new_page()
    look = "margin: 0; font: 13px sans-serif"
    page.set_content(f'<!doctype html><body style="{look}">{report._repr_html_()}</body>')
    close = {}
    for width in (540, 585, 600, 720, 860, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        close[width] = page.evaluate(GAPS)
    context.close()
    assert not any(close.values()), close


SCROLLED = """() => [...document.querySelectorAll('.rulelab-scroll')]
  .map(box => box.scrollWidth - box.clientWidth).filter(hidden => hidden > 0)"""


def test_every_column_of_a_profile_is_seen_in_a_narrow_notebook(browser):
    """A window of 800 pixels leaves an output 600: no column is found only by those who scroll."""
    from rulelab.bench.lines import FunctionLines, Line, Profile

    text = "        total = total + 0.5 * np.log1p(np.exp(-np.abs(features @ weights))) - 0.25"
    remarks = ("calls looked_at_twice", "looks up add")
    lines = (Line(15, text, 12_000, 3.33e-3, 5.65e-3, 8.9e-3, 299_000, remarks), Line(16, "    return total"))
    function = FunctionLines("looked_at_twice", "long_name_of_a_module.py", "line 14", 30, lines)
    found = Profile("looked_at_twice(weights)", 4.5e-3, 6.7e-3, 1e-5, 803_000, 27_700, (function,), 60, 121)
    context = browser.new_context(viewport={"width": 800, "height": 900})
    page = context.new_page()
    look = "margin: 0; font: 13px sans-serif"
    page.set_content(f'<!doctype html><body style="{look}">{found._repr_html_()}</body>')
    hidden = {}
    for width in (585, 600, 640, 720, 860, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        hidden[width] = page.evaluate(SCROLLED)
    context.close()
    assert not any(hidden.values()), hidden


@pytest.mark.slow
@pytest.mark.parametrize(("ink", "paper"), [("#222832", "#ffffff"), ("#ced6dd", "#14181e")])
def test_outputs_are_read_where_there_is_no_theme(browser, ink, paper):
    """On a page of somebody's own, light or dark, without the variables of JupyterLab."""
    context = browser.new_context()
    page = context.new_page()
    body = "".join(report._repr_html_() for report in softmax_reports())
    look = f"color: {ink}; background: {paper}; font: 14px sans-serif"
    page.set_content(f'<body style="{look}"><main class="jp-OutputArea">{body}</main></body>')
    page.evaluate(UNFOLD)
    found = violations(page, "main")
    context.close()
    assert found == []
