"""The examples of these pages stand for a reader's notebook cells, and messages call them so."""

import importlib.util

import pytest

import rulelab as rl
from rulelab.errors import register_cell_label

WITH_SCIPY = (
    "functions-of-scipy", "differential-equation", "filter", "gaussian-process", "integral", "mixture",
    "optimiser", "student-t", "sylvester",
)  # fmt: skip
NEEDED = {"faults-in-autograd.md": ("autograd", "scipy")} | {f"{page}.md": ("scipy",) for page in WITH_SCIPY}
"""Pages whose examples need packages that not everybody has; elsewhere they are skipped."""


@pytest.fixture(autouse=True)
def packages_are_there(request):
    """Skip a page whose packages are missing."""
    for package in NEEDED.get(request.node.name, ()):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")


@pytest.fixture(autouse=True)
def examples_are_called_so(request):
    """Name the page's examples just before they run: the table of names is bounded."""
    for number in range(200):
        register_cell_label(f"<doctest {request.node.name}[{number}]>", "example")


@pytest.fixture(autouse=True)
def nothing_is_stale():
    """A page begins as a session does, and one that fails leaves no mode behind."""
    rl.refresh("auto")
    rl.refresh()
    yield
    rl.refresh("auto")
