"""The widgets that a panel is made of look as they are told, share what they can, and go with their panel."""

import ipywidgets as W
import numpy as np
import pytest
from ipywidgets.widgets.widget import _instances

from rulelab.notebook.controls import BUTTON, Kit
from rulelab.notebook.pair import Pair
from rulelab.notebook.widgets import Panel


@pytest.fixture
def kit():
    made = Kit()
    yield made
    made.close(made.html())


def test_widgets_that_look_alike_share_their_models(kit):
    """A browser keeps something of every model: two buttons have four, not six."""
    before = len(_instances)
    first, second = (kit.button(words, "It runs.", lambda pressed: None) for words in ("Run", "Stop"))
    assert len(_instances) == before + 4
    assert first.layout is second.layout and first.style is second.style
    assert first.layout.width == "auto" and first.description == "Run" and second.tooltip == "It runs."


def test_widgets_that_look_different_do_not(kit):
    """Neither another width nor a style of another kind is taken over."""
    narrow, wide = kit.number("N:", 1, 1, 9), kit.number("How many rounds:", 1, 1, 10**9)
    assert narrow.layout.width != wide.layout.width and narrow.style is wide.style
    assert kit.progress().style is not narrow.style
    assert kit.html().layout.width is None and isinstance(kit.html().style, W.HTML.style.klass)


def test_a_layout_that_is_changed_is_its_widgets_alone(kit):
    """What hides one button hides no other."""
    hidden = kit.button("Save", "", lambda pressed: None, layout=kit.own_layout(**BUTTON))
    other = kit.button("Run", "", lambda pressed: None)
    hidden.layout.display = "none"
    assert other.layout.display is None and other.layout.width == hidden.layout.width == "auto"


def test_closing_takes_the_looks_along_and_leaves_those_of_others():
    """A panel beside it keeps its looks, which JupyterLab would else draw without."""
    before = set(_instances)
    one, other = Kit(), Kit()
    kept = other.column(other.row(other.words("It stays."), other.progress()))
    with_it = set(_instances)
    one.close(one.column(one.row(one.number("N:", 1, 1, 9)), one.html("<p>It goes.</p>")))
    assert set(_instances) == with_it and kept.layout.comm is not None
    other.close(kept)
    assert set(_instances) == before


def test_a_panel_has_few_more_models_than_widgets():
    """Each of them costs the browser some kilobytes, also when it is closed."""
    before = len(_instances)
    panel = Panel(Pair(np.sum, np.sum, (np.ones(3),)))
    models = len(_instances) - before
    looks = sum(isinstance(w, (W.Layout, W.Style)) for w in list(_instances.values())[before:])
    panel.close()
    assert models > 40 and looks <= 20
