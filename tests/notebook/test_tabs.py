"""The tabs of the panel are a register: what is added is shown, in order, and one that fails hides none."""

import pytest

from rulelab.notebook import pair, tabs


@pytest.fixture
def register():
    """The register as it is, put back at the end."""
    kept = dict(tabs._tabs)
    yield tabs.register
    tabs._tabs.clear()
    tabs._tabs.update(kept)


@pytest.fixture
def square():
    """A pair of one function with itself: enough to be shown."""

    def square(x):
        return x * x

    return pair.Pair(square, square, (3.0,))


def names():
    return [tab.name for tab in tabs.registered()]


def test_five_tabs_are_built_in():
    """Each in its place."""
    assert names() == ["Gradients", "Times", "Check", "Code", "Symbolic"]


def test_a_tab_is_added_in_its_place_and_replaced_by_its_name(register, square):
    """What costs goes before the code; a better proof takes the place of the simple one."""
    register(tabs.Tab("Costs", 27, lambda of: [pair.Words(f"costs of {of.title}")]))
    register(tabs.Tab("Symbolic", 40, lambda of: [pair.Words("proved")]))
    assert names() == ["Gradients", "Times", "Check", "Costs", "Code", "Symbolic"]
    shown = str(tabs.overview(square))
    assert "costs of square and square" in shown and "proved" in shown
    assert shown.index("costs of") < shown.index("def square")


def test_a_tab_that_fails_says_so_and_the_others_stay(register, square):
    """With the line at which it failed."""

    def broken(of):
        return [1 / 0]

    register(tabs.Tab("Costs", 27, broken))
    shown = tabs.overview(square)
    assert "ZeroDivisionError" in str(shown) and "return [1 / 0]" in shown._repr_html_()
    assert "def square" in str(shown)


def test_the_register_loads_no_widgets():
    """Without them the panel is text; ipywidgets stays behind its door."""
    import subprocess
    import sys

    code = (
        "import sys, rulelab.notebook.tabs\n"
        "print([m for m in ('ipywidgets', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
