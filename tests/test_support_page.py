"""docs/support.md says of each construct what happens to it."""

import inspect
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from corpus.constructs import ARRAYS, BUILTINS, CONTAINERS, ROWS  # noqa: E402
from corpus.support_table import PAGE, cells, outcome, page  # noqa: E402

import rulelab as rl  # noqa: E402

NAME = re.compile(r"`(?:[a-z]+\.)*(\w+)(?:=|\(\))?`")


@pytest.mark.parametrize("row", ROWS, ids=[row.function.__name__ for row in ROWS])
def test_a_construct_is_taken_rightly_or_refused(row):
    """The gradient is that of finite differences, or a typed error names the place and a way out."""
    refusal = outcome(row)
    assert refusal is None or (refusal.place is not None and refusal.fixes)


def test_the_page_is_up_to_date():
    """What the committed page says is what happens today; `make support-table` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make support-table`"


NAMING = [row for row in ROWS if row.group in {BUILTINS, CONTAINERS, ARRAYS}]


@pytest.mark.parametrize("row", NAMING, ids=[row.function.__name__ for row in NAMING])
def test_an_example_uses_what_it_stands_for(row):
    """Every name that the page says is taken was tried."""
    source = inspect.getsource(row.function)
    for name in NAME.findall(row.construct):
        assert re.search(rf"\b{name}\b", source.replace(row.construct, "")), name


def test_the_page_is_a_table():
    """Each construct and each example stands there once, in lines of four cells."""
    assert len({row.construct for row in ROWS}) == len({row.function.__name__ for row in ROWS}) == len(ROWS)
    lines = [line for line in page().splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in lines)


def test_a_wrong_gradient_is_not_put_on_the_page(monkeypatch):
    """The page can not be made while an example gets a wrong number."""
    taken = next(row for row in ROWS if outcome(row) is None)

    def careless(f, *args):
        return f(*args), tuple(1e3 for _ in args)

    monkeypatch.setattr(rl, "withgradient", careless)
    with pytest.raises(AssertionError, match="finite differences"):
        cells(taken)
