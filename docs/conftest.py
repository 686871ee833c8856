"""The examples of these pages stand for a reader's notebook cells, and messages call them so."""

import pytest

from rulelab.errors import register_cell_label


@pytest.fixture(autouse=True)
def examples_are_called_so(request):
    """Name the page's examples just before they run: the table of names is bounded."""
    for number in range(200):
        register_cell_label(f"<doctest {request.node.name}[{number}]>", "example")
