"""The live panel: its controls do what they say, its errors are seen, a closed one leaves nothing behind."""

import asyncio
import collections
import gc
import html
import json
import re
import threading
import time
import tracemalloc
import types

import ipywidgets
import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import rulelab as rl
import rulelab.symbolic
from rulelab.notebook import lab, pair, tabs, widgets
from rulelab.notebook.copying import COPY, all_as, tables_html
from rulelab.notebook.pages import Check
from rulelab.notebook.widgets import Panel
from rulelab.symbolic import prove
from rulelab.tables import Page, Table

from .conftest import MSE_RULE, SETUP


def mse(y, yh):
    total = 0.0
    for i in range(len(y)):
        total += (y[i] - yh[i]) ** 2
    return total / len(y)


mse_cr = rl.twin(mse, "mse_cr")


@rl.rrule_for(mse_cr)
def mse_cr_rrule(y, yh):
    def mse_cr_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_cr_pullback


Y, YH = np.arange(8.0) + 1.0, np.ones(8)


def new_panel(f=mse, f_cr=mse_cr, args=(Y, YH), **options):
    return Panel(pair.Pair(f, f_cr, args, **options))


def parts(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def named(panel, name):
    """The control of this name; of several buttons the first."""
    return next(w for w in parts(panel.widget) if getattr(w, "description", None) == name)


def cubed(x):
    return x**3


def status(panel):
    return re.sub("</?span[^>]*>", "", panel._board.status.value)  # they keep a number and its unit together


def pages(panel):
    return next(w for w in parts(panel.widget) if isinstance(w, ipywidgets.Tab))


def verdicts(panel):
    """The line of what is known, without its tags."""
    return re.sub("<[^>]*>", "", panel._board.verdicts.value)


def number_of(name):
    return [tab.name for tab in tabs.registered()].index(name)


def title(panel, name):
    return pages(panel).titles[number_of(name)]


def turn_to(panel, name):
    pages(panel).selected_index = number_of(name)


def on_page(panel, page, name):
    """The control of this name on one page."""
    children = pages(panel).children[number_of(page)]
    return next(w for w in parts(children) if getattr(w, "description", None) == name)


def shown(panel, name):
    """The HTML of one page."""
    page = pages(panel).children[number_of(name)]
    return "".join(w.value for w in parts(page) if isinstance(w, ipywidgets.HTML))


@pytest.fixture
def panel():
    """A panel without an event loop: what a control asks for is done at once."""
    opened = new_panel()
    yield opened
    opened.close()


async def until(condition, seconds=300.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.005)


# -- what it shows -------------------------------------------------------------------------------------------


def test_a_panel_has_the_registered_pages(panel):
    """With gradients, and code; what takes time waits until it is asked for."""
    assert list(pages(panel).titles) == ["✓ Gradients", "Times", "Check", "Code", "Symbolic"]
    assert "Values and gradients" in shown(panel, "Gradients") and "mse_pullback" in shown(panel, "Code")
    assert "Nothing timed yet" in shown(panel, "Times") and "not answered yet" in shown(panel, "Symbolic")
    assert 'role="status"' in status(panel) and verdicts(panel) == "✓Gradients: right, agree exactly"


def test_every_control_has_a_name(panel):
    """And none is a slider, which would have none for a screen reader."""
    controls = [w for w in parts(panel.widget) if hasattr(w, "value") and not isinstance(w, ipywidgets.HTML)]
    controls += [w for w in parts(panel.widget) if isinstance(w, ipywidgets.Button)]
    assert len(controls) >= 9
    for control in controls:
        assert control.description, control
        assert "Slider" not in type(control).__name__


def test_a_registered_tab_without_a_widget_is_shown_as_html(monkeypatch):
    """Its section is enough."""
    monkeypatch.setattr(tabs, "_tabs", dict(tabs._tabs))
    tabs.register(tabs.Tab("Check", 25, lambda of: [pair.Words("<b>checked</b>")]))
    opened = new_panel()
    assert "&lt;b&gt;checked" in shown(opened, "Check")
    opened.close()


def test_the_widget_says_where_to_look_without_a_kernel(panel):
    """In text and HTML beside the view."""
    bundle = panel.widget._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain", "text/html"}
    assert "showed is below" in bundle["text/plain"] and "showed is below" in bundle["text/html"]


# -- what its controls do ------------------------------------------------------------------------------------


def test_another_size_compares_anew(panel):
    """And says so in the status line."""
    named(panel, "Size N:").value = 21
    assert "float64[21]" in shown(panel, "Gradients")
    assert "Compared at N = 21. Right: mse and mse_cr agree" in status(panel)


def test_the_size_cannot_be_changed_where_there_is_none():
    """The box is disabled, and words say why."""

    def square(x):
        return x * x

    opened = new_panel(square, square, (3.0,))
    assert named(opened, "Size N:").disabled and "has a size to change" in shown(opened, "Gradients")
    opened.close()


@pytest.mark.slow
def test_run_times_and_keeps_the_figure(panel):
    """Rounds and sizes are those of the boxes."""
    named(panel, "Rounds:").value = 9
    named(panel, "Smallest N:").value, named(panel, "Largest N:").value = 4, 16
    named(panel, "How many sizes:").value = 3
    named(panel, "Run").click()
    assert "Done: 9 of 9 rounds and 3 of 3 sizes." in status(panel)
    assert "Time of one call" in shown(panel, "Times") and "<img alt=" in shown(panel, "Times")
    assert panel.to_dict()["times"][0]["rounds"] == 9


def test_sizes_the_wrong_way_round_are_refused_in_words(panel):
    """And nothing is run."""
    named(panel, "Smallest N:").value = 5000
    named(panel, "Run").click()
    assert "The smallest N, 5,000, is larger than the largest, 1,000" in status(panel)
    assert panel.pair.times is None


def test_stop_without_a_run_says_so(panel):
    """It does not fail in silence."""
    on_page(panel, "Times", "Stop").click()
    assert "Nothing is running" in status(panel)


def test_run_on_the_page_check_judges_the_rule(panel):
    """The verdict is in the status line, the report on the page; `Deep` looks at more points."""
    assert "Not checked yet" in shown(panel, "Check")
    on_page(panel, "Check", "Run").click()
    assert "Done: " in status(panel) and "Verdict: right." in status(panel)
    assert "Checks: " in shown(panel, "Check") and panel.to_dict()["check"][0]["verdict"] == "right"
    points = len(panel.pair.check.points)
    on_page(panel, "Check", "Deep: two to three times as many points").value = True
    on_page(panel, "Check", "Run").click()
    assert len(panel.pair.check.points) > 1.8 * points


def test_a_wrong_rule_is_told_on_the_page_check():
    """With the number that is furthest off."""

    def cube(x):
        return x * x * x

    cube_cr = rl.twin(cube, "cube_cr")
    rl.rrule_for(cube_cr)(lambda x: (cube(x), lambda y_bar: (rl.NoTangent(), 4.0 * x * x * y_bar)))
    opened = new_panel(cube, cube_cr, (2.0,))
    on_page(opened, "Check", "Run").click()
    assert "Verdict: wrong." in status(opened) and "Furthest off" in shown(opened, "Check")
    opened.close()


def test_a_function_without_a_rule_is_told_on_the_page_check():
    """In the status line, and on the page with what to do."""

    def square(x):
        return x * x

    opened = new_panel(square, square, (3.0,))
    on_page(opened, "Check", "Run").click()
    assert "square has no rrule" in status(opened)
    assert "state one with @rl.rrule_for(square)" in shown(opened, "Check")
    opened.close()


def test_symbolic_is_asked_when_its_page_is_opened_and_only_then(panel):
    """Once; Prove asks again, and says how long it took."""
    turn_to(panel, "Code")
    assert panel.pair.proof is None
    turn_to(panel, "Symbolic")
    assert "PROVED" in shown(panel, "Symbolic") and "PROVED" in status(panel)
    first = panel.pair.proof
    pages(panel).selected_index = 0
    turn_to(panel, "Symbolic")
    assert panel.pair.proof is first
    named(panel, "Prove").click()
    assert panel.pair.proof is not first
    assert re.search(r"SymPy has answered: right, PROVED, in [\d.]+ m?s\.", status(panel))
    assert re.search(r"Answered in (<[^>]*>)?[\d.]+ m?s(<[^>]*>)?\.", shown(panel, "Symbolic"))


def test_a_wrong_rule_is_refuted_with_an_example_to_paste():
    """On the page Symbolic, formulas as mathematics."""

    def area(w):
        return w * w

    area_cr = rl.twin(area, "area_cr")
    rl.rrule_for(area_cr)(lambda w: (w * w, lambda s: (rl.NoTangent(), w * s)))
    opened = new_panel(area, area_cr, (3.0,))
    turn_to(opened, "Symbolic")
    assert "REFUTED" in status(opened)
    page = shown(opened, "Symbolic")
    assert "y, back = rl.rrule(area_cr, " in page and "but 1/2 times that" in page
    assert page.count("<math") >= 4 and r"\bar" not in page.partition("rulelab-taken")[0]
    opened.close()


@pytest.mark.slow
def test_a_rule_is_derived_on_the_page_symbolic():
    """As a cell to copy, with its proof; what cannot be derived is told in the status line."""
    opened = new_panel(cubed, rl.twin(cubed, "cubed_cr"), (2.0,))
    on_page(opened, "Symbolic", "Derive a rule").click()
    page = shown(opened, "Symbolic")
    assert "%%rrule cubed_cr" in page and "rule derived for cubed_cr: right, PROVED" in page
    assert "Below is a rule derived for cubed_cr: right, PROVED" in status(opened)
    assert "%%rrule cubed_cr" in str(opened.overview())
    assert opened.to_dict()["symbolic"][-1]["cell"].startswith("%%rrule cubed_cr")
    opened.close()
    opened = new_panel()  # its arrays are long
    opened.pair.prove()
    on_page(opened, "Symbolic", "Derive a rule").click()
    assert ">Symbolic: DerivationError: " in status(opened)
    assert "Symbolic: right, PROVED" in verdicts(opened)  # which says of the rule what it did before
    opened.close()


def test_a_function_without_a_rule_is_told_on_the_page_symbolic():
    """In the status line, not in a log."""

    def square(x):
        return x * x

    opened = new_panel(square, square, (3.0,))
    turn_to(opened, "Symbolic")
    assert "no rule" in status(opened).lower() or "RuleError" in status(opened)
    opened.close()


def test_errors_of_the_function_are_told_with_its_line(panel):
    """A callback's error would otherwise be seen by nobody."""

    def touchy(x):
        if len(x) > 5:
            raise ValueError("too <long>")
        return float(np.sum(x))

    opened = new_panel(touchy, touchy, (np.ones(3),))
    named(opened, "Size N:").value = 9
    assert "ValueError: too &lt;long&gt;" in status(opened)
    assert "raise ValueError(&quot;too &lt;long&gt;&quot;)" in status(opened)
    assert "float64[3]" in shown(opened, "Gradients")
    opened.close()


def test_code_is_that_of_the_rule_that_counts_when_its_page_is_opened():
    """A rule may have been stated anew since the panel was opened."""

    def cube(x):
        return x * x * x

    def first_rrule(x):
        return cube(x), lambda y_bar: (rl.NoTangent(), 3.0 * x * x * y_bar)

    def second_rrule(x):
        return cube(x), lambda y_bar: (rl.NoTangent(), 4.0 * x * x * y_bar)

    cube_cr = rl.twin(cube, "cube_cr")
    rl.rrule_for(cube_cr)(first_rrule)
    opened = new_panel(cube, cube_cr, (2.0,))
    rl.rrule_for(cube_cr)(second_rrule)
    turn_to(opened, "Code")
    assert "second_rrule" in shown(opened, "Code") and "first_rrule" not in shown(opened, "Code")
    pages(opened).selected_index = 0
    assert "before the rule of cube_cr was changed" in shown(opened, "Gradients")
    opened.close()


def test_nothing_acts_in_the_title_or_in_the_status(panel):
    """A sign stands for each character that would turn the text around or command a terminal."""
    panel._board.say("\x1b[31m \u202e")
    assert "\u241b[31m" in status(panel) and "\u202e" not in status(panel)

    def f(x):
        return x * x

    f.__name__ = "\u202ef"
    opened = new_panel(f, f, (2.0,))
    assert "\u202e" not in repr(opened) + "".join(getattr(w, "value", "") or "" for w in html_of(opened))
    opened.close()


def html_of(panel):
    return [w for w in parts(panel.widget) if isinstance(w, ipywidgets.HTML)]


def test_an_error_at_a_later_size_keeps_what_was_measured():
    """The report says where it ended."""

    def touchy(x):
        if len(x) > 5:
            raise ValueError("too long")
        return float(np.sum(x))

    opened = new_panel(touchy, touchy, (np.ones(3),))
    named(opened, "Smallest N:").value, named(opened, "Largest N:").value = 4, 16
    named(opened, "Rounds:").value = 8
    named(opened, "Run").click()
    assert "8 of 8 rounds" in status(opened) and "too long" in shown(opened, "Times")
    opened.close()


# -- on an event loop ----------------------------------------------------------------------------------------


def on_a_loop(scenario, opened_on=None):
    async def main():
        opened = new_panel() if opened_on is None else Panel(opened_on())
        try:
            await scenario(opened)
        finally:
            opened.close()

    asyncio.run(main())


def test_stop_ends_a_run_and_shows_the_rounds_there_are():
    """Run and Stop can be pressed while they do something, and the tab says what is going on."""

    async def scenario(opened):
        run, stop = on_page(opened, "Times", "Run"), on_page(opened, "Times", "Stop")
        assert stop.disabled and not run.disabled
        named(opened, "Rounds:").value = 100_000
        run.click()
        await until(lambda: "round" in status(opened) and "Running, " in status(opened))
        assert run.disabled and not stop.disabled and title(opened, "Times") == "… Times"
        assert "agree exactly" in verdicts(opened)  # which stays
        run.click()  # a second click that was on its way
        assert not opened._board.turns.waiting
        stop.click()
        await until(lambda: "Stopped after" in status(opened))
        assert "Stopped after" in shown(opened, "Times")
        assert stop.disabled and not run.disabled

    on_a_loop(scenario)


def slow_pair():
    """A pair of which each call takes a while, so that a check of it can be stopped."""

    def slow(x):
        time.sleep(0.002)
        return float(np.sum(x * x))

    slow_cr = rl.twin(slow, "slow_cr")

    @rl.rrule_for(slow_cr)
    def slow_cr_rrule(x):
        def slow_cr_pullback(y_bar):
            return rl.NoTangent(), 2 * x * y_bar

        return float(np.sum(x * x)), slow_cr_pullback

    return pair.Pair(slow, slow_cr, (np.arange(4.0),))


@pytest.mark.slow
def test_stop_ends_a_check_and_the_next_in_line_begins():
    """What is asked for meanwhile waits, says so, and can be taken out of the line again."""

    async def scenario(opened):
        named(opened, "Smallest N:").value = named(opened, "Largest N:").value = 4
        named(opened, "Rounds:").value = 2
        on_page(opened, "Check", "Deep: two to three times as many points").value = True
        on_page(opened, "Check", "Run").click()
        await until(lambda: "Checking, " in status(opened))
        on_page(opened, "Times", "Run").click()
        assert "Waiting: the times, until the check is done." in status(opened)
        assert title(opened, "Times") == "⋮ Times" and not on_page(opened, "Times", "Stop").disabled
        await until(lambda: "Checking, " in status(opened) and "Waiting: the times." in status(opened))
        turn_to(opened, "Symbolic")
        assert "Waiting: the times, then the proof, until the check is done." in status(opened)
        on_page(opened, "Symbolic", "Stop").click()
        assert "Symbolic: no longer waiting. Waiting: the times." in status(opened)
        assert not on_page(opened, "Symbolic", "Prove").disabled
        on_page(opened, "Check", "Stop").click()
        await until(lambda: opened.pair.check is not None)
        assert "stopped early" in shown(opened, "Check")
        assert opened.pair.check.interrupted and not opened.pair.check
        assert title(opened, "Check") == "? Check" and "?Check: cannot tell" in verdicts(opened)
        await until(lambda: "Done: 2 of 2 rounds" in status(opened))
        assert opened.pair.proof is None

    on_a_loop(scenario, slow_pair)


def test_a_run_that_fails_is_told_on_its_page_and_the_next_begins():
    """Until it is run again: another message in the status line does not take it away."""

    async def scenario(opened):
        opened.pair.checking = lambda deep: 1 / 0
        on_page(opened, "Check", "Run").click()
        on_page(opened, "Times", "Run").click()
        assert "ZeroDivisionError" in shown(opened, "Check") and title(opened, "Check") == "– Check"
        assert "Not checked yet" not in shown(opened, "Check")
        assert "–Check: not judged because of an error" in verdicts(opened)
        assert opened._board.turns.state("Times") == "running"
        del opened.pair.checking
        on_page(opened, "Times", "Stop").click()
        await until(lambda: opened._board.turns.running is None)
        on_page(opened, "Check", "Run").click()
        on_page(opened, "Check", "Stop").click()
        await until(lambda: opened._board.turns.running is None)
        assert "ZeroDivisionError" not in shown(opened, "Check")

    on_a_loop(scenario)


@pytest.mark.parametrize("made", [0, 1])
def test_run_can_be_pressed_again_when_its_end_is_told(panel, made):
    """Whoever reads that it is done, or has failed, need not wait for the button; a browser shows the two in
    the order in which they were sent.
    """
    told, run = [], on_page(panel, "Check", "Run")
    panel._board.status.observe(lambda change: told.append((change["new"], run.disabled)), "value")
    checking = panel.pair.checking
    panel.pair.checking = lambda deep: checking(deep=deep) if made else 1 / 0
    run.click()
    end = [disabled for words, disabled in told if "Done: " in words or "ZeroDivisionError" in words]
    assert end == [False]


def test_tables_and_pictures_of_a_page_can_be_taken_along(panel):
    """By buttons that copy, as text in a box with a name and as a file, where there is a table."""
    page = shown(panel, "Gradients")
    assert page.count("<textarea readonly") == page.count("<button") == 3
    assert "\nvalue,17.5,17.5,0,0,agree exactly" in page
    assert 'download="values-and-gradients.csv" href="data:text/csv;base64,' in page
    assert on_page(panel, "Gradients", "Pictures as SVG").layout.display == "none"  # there are none
    assert "<textarea" not in shown(panel, "Check")


def test_what_a_copy_button_does_holds_no_word_of_anybodys():
    """Its handler is one and the same text for every page, and what is copied is text in a box."""
    name = """\"'); window.ran=1; //</textarea><script>"""
    hostile = Page(tables=(Table(name, ("a", name), ((name, name),)),))
    page = tables_html([types.SimpleNamespace(page=lambda: hostile)])
    handlers = re.findall(r'onclick="([^"]*)"', page)
    assert [html.unescape(handler) for handler in handlers] == [COPY] * 3
    assert page.count("</textarea>") == 3 and "<script" not in page


def test_tables_of_a_proof_are_copied_as_mathematics_in_latex():
    """And in SymPy's spelling as Markdown."""
    proof = prove(lambda x: x * x, lambda x: (x * x, lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)))
    assert r"\begin{aligned}" in all_as("LaTeX", [proof]) and "2\\*x" in all_as("Markdown", [proof])


def test_large_gradients_are_drawn_and_saved_as_svg():
    """Both over each other; the link holds the picture."""
    opened = new_panel(args=(np.arange(20.0), np.ones(20)))
    assert shown(opened, "Gradients").count("<img alt=") == 2
    assert on_page(opened, "Gradients", "Pictures as SVG").layout.display is None
    on_page(opened, "Gradients", "Pictures as SVG").click()
    assert shown(opened, "Gradients").count('download="picture-') == 2
    on_page(opened, "Gradients", "Pictures as SVG").click()
    assert 'download="picture-' not in shown(opened, "Gradients")
    opened.close()


def test_each_page_shows_the_cell_that_does_the_same():
    """As it was written; for other arguments nobody wrote one."""
    opened = new_panel(asked=("mse", "mse_cr", " y, yh[:'<b>'] "))
    assert "--at</span> y, yh[:&#x27;&lt;b&gt;&#x27;]</code>" in shown(opened, "Gradients")
    assert '%rule_check mse_cr <span style="white-space: nowrap">--at</span> y' in shown(opened, "Check")
    named(opened, "Size N:").value = 9
    assert "The same in a cell" not in shown(opened, "Gradients")
    opened.close()


def test_a_check_stopped_before_its_first_point_keeps_the_older_report(panel):
    """And the status line says that the report is older."""
    on_page(panel, "Check", "Run").click()
    before = panel.pair.check
    check = panel.pair.checking()
    report = check.result(interrupted=True)
    assert panel.pair.check is before and report is not before
    stopped = Check(panel.pair, panel._board)
    stopped._ended(report)
    assert "the report is from an earlier run" in status(panel)


@pytest.mark.slow
def test_a_thousand_quick_changes_compare_seldom_and_show_the_last():
    """The page can be dragged through all sizes."""

    async def scenario(opened):
        compared = []
        real = opened.pair.resize
        opened.pair.resize = lambda n: (compared.append(n), real(n))
        box = named(opened, "Size N:")
        for n in range(9, 1009):
            box.value = n
            if n % 100 == 0:
                await asyncio.sleep(0.01)
        await until(lambda: "float64[1008]" in shown(opened, "Gradients"))
        assert compared[-1] == 1008
        assert len(compared) <= 20

    on_a_loop(scenario)


def test_a_callback_from_another_thread_comes_to_the_loop():
    """JupyterLab's messages arrive on a thread of their own; no two callbacks run at once."""

    async def scenario(opened):
        threads = []
        real = opened.pair.resize
        opened.pair.resize = lambda n: (threads.append(threading.get_ident()), real(n))
        box = named(opened, "Size N:")
        changing = threading.Thread(target=setattr, args=(box, "value", 30))
        changing.start()
        changing.join()
        await until(lambda: "float64[30]" in shown(opened, "Gradients"))
        assert threads == [threading.get_ident()]

    on_a_loop(scenario)


def test_stop_ends_a_comparison_that_takes_long():
    """A click that arrives on another thread is heard in the middle of the call; what was shown stays."""

    async def scenario(opened):
        def sleepy(n):
            threading.Timer(0.2, named(opened, "Stop").click).start()
            time.sleep(600)

        opened.pair.make = sleepy
        started = time.monotonic()
        named(opened, "Size N:").value = 11
        await until(lambda: "Stopped; what is shown is from an earlier run" in status(opened))
        assert time.monotonic() - started < 300 and opened.pair.size == 8

    on_a_loop(scenario)


def test_stop_ends_a_comparison_that_takes_long_while_a_run_waits_for_its_turn():
    """The run and the comparison both: Stop is for what is going on."""
    opened = None

    def dozing(x):
        if len(x) == 9:
            time.sleep(600)
        return float(x @ x)

    def make(n):
        if n == 9:
            threading.Timer(0.3, lambda: named(opened, "Stop").click()).start()
        return (np.ones(n),)

    async def main():
        nonlocal opened
        opened = new_panel(dozing, rl.twin(dozing, "dozing_cr"), (np.ones(8),), make=make)
        named(opened, "Rounds:").value = 100_000
        named(opened, "Run").click()
        await until(lambda: "round" in status(opened))
        started = time.monotonic()
        named(opened, "Size N:").value = 9
        await until(lambda: not opened._board.runner.running)
        assert time.monotonic() - started < 300 and opened.pair.size == 8
        opened.close()

    asyncio.run(main())


def test_a_run_stopped_before_anything_was_timed_shows_whose_tables_stand_there(panel):
    """Those of the run before are not called those of this one."""
    named(panel, "Rounds:").value = 8
    named(panel, "Smallest N:").value, named(panel, "Largest N:").value = 4, 4
    named(panel, "Run").click()
    assert "Done" in status(panel)
    before = panel.pair.times
    runner = panel._board.runner
    runner.start = lambda run, told, ended: ended(run.result(interrupted=True), None, True)
    named(panel, "Run").click()
    del runner.start
    assert panel.pair.times is before and "the tables are from an earlier run" in status(panel)


def test_symbolic_does_not_hold_up_the_loop_and_can_be_stopped(monkeypatch):
    """It works in a process of its own; the answer so far is shown, and an older answer stays."""
    real = rl.symbolic.prove

    async def scenario(opened):
        asked = threading.Event()

        def prove(*args, stop, **options):
            asked.set()
            while not stop():
                time.sleep(0.01)
            return real(mse_cr, time_limit=0.5, stop=lambda: True)

        monkeypatch.setattr(rl.symbolic, "prove", prove)
        turn_to(opened, "Symbolic")
        await until(asked.is_set)
        assert "SymPy is working" in status(opened)
        await until(lambda: "0 s of 5 s at most" in status(opened))
        on_page(opened, "Symbolic", "Stop").click()
        await until(lambda: "SymPy has answered: cannot tell" in status(opened))
        assert "stopped before it was decided" in shown(opened, "Symbolic")
        first = opened.pair.proof
        asked.clear()
        on_page(opened, "Symbolic", "Prove").click()
        await until(asked.is_set)
        on_page(opened, "Symbolic", "Stop").click()
        await until(lambda: "the answer shown is from an earlier run" in status(opened))
        assert opened.pair.proof is first

    on_a_loop(scenario)


def test_closing_a_panel_ends_the_question(monkeypatch):
    """No thread waits for an answer that nobody will see."""
    ended = threading.Event()

    def prove(*args, stop, **options):
        while not stop():
            time.sleep(0.01)
        ended.set()
        raise ValueError("nobody hears this")

    async def scenario(opened):
        monkeypatch.setattr(rl.symbolic, "prove", prove)
        turn_to(opened, "Symbolic")
        await until(lambda: "s at most" in status(opened))
        opened.close()
        await until(ended.is_set)

    on_a_loop(scenario)


# -- closing -------------------------------------------------------------------------------------------------


def test_closing_takes_every_widget_away():
    """Layouts and styles too: what is open is kept by ipywidgets for ever."""
    before = set(_instances)
    opened = new_panel()
    assert len(_instances) > len(before) + 20
    opened.close()
    opened.close()
    assert set(_instances) == before
    assert repr(opened) == "Panel of mse and mse_cr, closed" and opened.overview() is None


def test_a_closed_panel_says_how_to_open_a_new_one(capsys):
    """It may still be in `Out`."""
    opened = new_panel()
    opened.close()
    opened._ipython_display_()
    assert "Run its cell again" in capsys.readouterr().out


def test_closing_ends_the_run():
    """Nothing goes on for a panel that is gone."""

    async def scenario(opened):
        named(opened, "Rounds:").value = 100_000
        named(opened, "Run").click()
        await asyncio.sleep(0.05)
        runner = opened._board.runner
        opened.close()
        await until(lambda: not runner.running)

    on_a_loop(scenario)


def kept_by(count, made):
    """Bytes that so many calls of `made` leave behind."""
    tracemalloc.start()  # first, or names that CPython interns anew would be counted as kept
    sizes = []
    for times in (10, count):
        for _ in range(times):
            made()
        widgets.close_all()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    return sizes[1] - sizes[0]


def rerun(monkeypatch, numbers):
    """A cell that makes a panel, run again: only its number of the run is new."""
    monkeypatch.setattr(widgets, "_cell_and_run", lambda: ("a cell", str(next(numbers))))
    new_panel()


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, pytest.param(300, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("how", ["closed", "cell run again"])
def test_panels_leave_nothing_behind(how, count, monkeypatch):
    """300 of them keep at most half a megabyte; a few are tried each time."""
    numbers = iter(range(10**6))
    made = (lambda: new_panel().close()) if how == "closed" else (lambda: rerun(monkeypatch, numbers))
    kept = kept_by(count, made)
    assert kept < 0.5e6 * max(count, 60) / 300, f"{kept / 1e6:.2f} MB"


def drawn_and_closed():
    """A panel whose gradients are drawn, once more as SVG, of which each page was turned to."""
    opened = new_panel(args=(np.arange(20.0), np.ones(20)))
    for tab in tabs.registered():
        if tab.name != "Symbolic":  # which would ask another process
            turn_to(opened, tab.name)
    turn_to(opened, "Gradients")
    named(opened, "Pictures as SVG").click()
    assert "data:image/svg+xml" in shown(opened, "Gradients")
    opened.close()


def objects_by_type():
    """How many objects of each type there are, of those that can be in a cycle."""
    for _ in range(3):
        gc.collect()
    return collections.Counter(map(type, gc.get_objects()))


@pytest.mark.slow
def test_panels_that_drew_pictures_leave_no_object_behind(monkeypatch):
    """Neither figures nor callbacks nor comms: of no type are there as many more as there were panels."""
    monkeypatch.setattr(pair, "QUICK", 0.0)
    count, kept = 5, []
    drawn_and_closed()  # with which fonts and classes are loaded
    for _ in range(2):  # what is kept once, such as the table of a cache, is kept in one of them
        before = objects_by_type()
        for _ in range(count):
            drawn_and_closed()
        more = objects_by_type() - before
        kept.append({kind for kind, n in more.items() if n >= count})
    assert kept[0] & kept[1] == set()


def test_what_is_closed_is_emptied_for_the_browser(monkeypatch):
    """JupyterLab keeps a closed model, and what it was before its last change: no page is left in them."""
    opened = new_panel()
    emptied = collections.Counter()
    send_state = ipywidgets.HTML.send_state

    def noted(widget, key=None):
        if isinstance(widget, ipywidgets.HTML):
            assert widget.comm is not None and widget.value == ""
            emptied[widget.model_id] += 1
        return send_state(widget, key)

    of_html = {w.model_id for w in parts(opened.widget) if isinstance(w, ipywidgets.HTML) and w.value}
    monkeypatch.setattr(ipywidgets.Widget, "send_state", noted)
    opened.close()
    assert len(of_html) > 5 and {emptied[one] for one in of_html} == {2}


def test_a_cell_run_again_closes_its_panels_and_no_others(monkeypatch):
    """Two panels of one run live side by side; the next run takes both away."""
    where = iter([("one", "1"), ("one", "1"), ("two", "1"), ("one", "2")])
    monkeypatch.setattr(widgets, "_cell_and_run", lambda: next(where))
    first, second, other = new_panel(), new_panel(), new_panel()
    assert first.pair and second.pair
    again = new_panel()
    assert first.pair is None and second.pair is None and other.pair and again.pair
    widgets.close_all()
    assert other.pair is None and again.pair is None


# -- in a shell and a kernel ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_generator_is_evaluated_when_run_is_pressed_and_not_before(notebook):
    """In the user's namespace; a text that cannot be read is told at once."""
    notebook.ok(MSE_RULE)
    notebook.ok("drawn = []\ndef draw(n):\n    drawn.append(n)\n    return np.ones(n)")
    panel = lab(notebook["mse"], notebook["mse_cr"], (notebook["y"], notebook["yh"]), widgets=True)
    field = named(panel, "Arguments of size n:")
    assert field.value == "rng.standard_normal(n), abs(rng.standard_normal(n))"
    field.value = "draw(n), ("
    assert "cannot read" in status(panel)
    field.value = "draw(n), rng.random(n)"
    assert notebook["drawn"] == [] and "next Run" in status(panel)
    named(panel, "Smallest N:").value, named(panel, "Largest N:").value = 4, 8
    named(panel, "How many sizes:").value, named(panel, "Rounds:").value = 2, 8
    named(panel, "Run").click()
    assert sorted(notebook["drawn"]) == [4, 8] and "Done" in status(panel)
    field.value = "nobody_knows(n), 1.0"
    named(panel, "Run").click()
    assert "NameError" in status(panel) and "nobody_knows" in status(panel)
    field.value = " "
    named(panel, "Run").click()
    assert len(notebook["drawn"]) == 2 and "Done" in status(panel)
    assert field.value == panel.pair.make_text == "rng.standard_normal(n), abs(rng.standard_normal(n))"
    panel.close()


@pytest.mark.slow
def test_the_magic_without_widgets_shows_one_page(notebook):
    """As a terminal does by itself; `-o` keeps it."""
    notebook.ok(MSE_RULE)
    notebook.ok("%rule_lab mse mse_cr --no-widget -o kept --at y, yh")
    assert "Values and gradients" in notebook.text and "against N" in notebook.text
    assert isinstance(notebook["kept"], pair.Overview)


def test_the_magic_says_what_is_missing(notebook):
    """In one line."""
    assert "there is no function mse_cr" in notebook.fails("%rule_lab mse mse_cr")
    notebook.run(MSE_RULE)
    assert "give the arguments with --at" in notebook.fails("%rule_lab mse mse_cr")
    assert "there is no function nobody" in notebook.fails("%rule_lab mse nobody --at y, yh")


@pytest.fixture(scope="module")
def executed():
    """A notebook with a panel, executed as nbconvert does it."""
    cells = ["%load_ext rulelab", SETUP, MSE_RULE, "%rule_lab mse mse_cr --run --at y, yh"]
    made = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(made, timeout=300, kernel_name="python3", store_widget_state=False).execute()
    return made


@pytest.mark.slow
def test_an_executed_notebook_has_the_widget_and_below_it_what_it_shows(executed):
    """The second output is plain HTML and text, folded in HTML; of a bar that was shown nothing is left."""
    view, copy = (shown for shown in executed.cells[3].outputs if shown.data != {"text/plain": ""})
    assert "application/vnd.jupyter.widget-view+json" in view.data
    assert "What it showed is below" in view.data["text/html"]
    assert set(copy.data) == {"text/html", "text/plain"}
    for words in ("Values and gradients", "Time of one call", "mse_pullback", "PROVED"):
        assert words in copy.data["text/html"] and words in copy.data["text/plain"]
    assert "What the panel showed" in copy.data["text/html"]
    assert "data:image/png;base64," in copy.data["text/html"]


@pytest.mark.slow
def test_exported_html_can_be_read_without_a_network(executed):
    """Nothing that it shows of the panel comes from elsewhere."""
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter(template_name="basic").from_notebook_node(executed)
    assert "Values and gradients" in html and "data:image/png;base64," in html and "<math" in html
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//[^"']*""", html) == []


@pytest.mark.slow
def test_in_a_kernel_a_cell_run_again_closes_its_panel(kernel):
    """Known by the id of the cell, which JupyterLab sends."""
    kernel.run(MSE_RULE)
    code = "from rulelab.notebook import lab\nlab(mse, mse_cr, (y, yh))"
    counted = "import ipywidgets.widgets.widget as w; print(len(w._instances))"

    def run_cell():
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        content["user_expressions"] = {}
        session = kernel.client.session
        message = session.msg("execute_request", content, metadata={"cellId": "the-cell"})
        kernel.client.shell_channel.send(message)
        sent = message["header"]["msg_id"]
        while kernel.client.get_shell_msg(timeout=300)["parent_header"].get("msg_id") != sent:
            pass
        return int(kernel.run(counted)[1]["stdout"])

    first = run_cell()
    assert first > 20 and run_cell() == first == run_cell()


@pytest.mark.slow
def test_rulelab_widgets_0_means_no_widgets(kernel):
    """As the environment's variable, and as a setting."""
    kernel.run(MSE_RULE)
    kernel.run("%config RuleLab.widgets = False")
    reply, shown_there = kernel.run("%rule_lab mse mse_cr --at y, yh")
    kernel.run("%config RuleLab.widgets = True")
    assert reply["status"] == "ok" and "Time of one call" in shown_there["text/plain"]
    assert "What the panel showed" not in shown_there["text/html"]


@pytest.mark.slow
def test_ctrl_c_in_a_kernel_shows_the_partial_and_stops_the_rest(kernel):
    """The page as far as it went, then one line."""
    kernel.run("import time\ndef slow(x):\n    time.sleep(0.02)\n    return x * x\nimport rulelab as rl")
    reply, shown_there = kernel.interrupted_after(2.0, "%rule_lab slow slow --no-widget --at 3.0")
    assert reply["status"] == "error" and "Interrupted" in shown_there["error"]
    assert "slow and slow agree" in shown_there["text/plain"]
    json.dumps(reply)
