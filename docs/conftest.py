"""The examples of these pages stand for a reader's notebook cells, and messages call them so."""

from rulelab.errors import register_cell_label

for _page in ("limitations.md", "rules.md"):
    for _number in range(200):
        register_cell_label(f"<doctest {_page}[{_number}]>", "example")
