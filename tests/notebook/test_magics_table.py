"""docs/magics.md says of each magic what it does and how the same is written in plain Python."""

import re

from rulelab.notebook.magics import RuleLab

from .magics_table import PAGE, page


def test_the_page_is_up_to_date():
    """What the committed page says is true today; `make magics-table` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make magics-table`"


def test_every_magic_has_a_row_of_four_cells():
    """None is left out."""
    rows = [line for line in page().splitlines() if line.startswith("| `%")]
    assert len(rows) == len(RuleLab.magics["line"])
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)
