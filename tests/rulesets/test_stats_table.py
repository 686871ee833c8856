"""docs/reference/scipy-stats.md says what rules for `scipy.stats` there are."""

import re

import pytest

pytest.importorskip("scipy.stats")

from stats_rows import ROWS  # noqa: E402
from stats_table import PAGE, VERSION, page  # noqa: E402

TEXT = PAGE.read_text(encoding="utf-8")
WRITTEN_WITH = re.search(r"with SciPy (\d+\.\d+)", TEXT).group(1)


@pytest.mark.skipif(WRITTEN_WITH != VERSION, reason="written with another SciPy, which has other functions")
def test_the_page_is_up_to_date():
    """What the committed page says is what the rules say."""
    assert TEXT == page(), "run `make scipy-table`"


def test_each_distribution_is_there_once():
    """None is missing, and none is told of twice."""
    told = re.findall(r"^\| `(\w+)(?:\([^)]*\))?` \|", TEXT, re.MULTILINE)
    assert len(told) == len(set(told)) and set(ROWS) <= set(told)
