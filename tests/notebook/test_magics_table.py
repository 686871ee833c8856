"""docs/magics.md says of each magic what it does and how the same is written in plain Python."""

import ast
import importlib
import re

import pytest

from rulelab.notebook.magics import RuleLab

from .magics_table import PAGE, page

PLAIN = {n: getattr(getattr(RuleLab, method), "plain", None) for n, method in RuleLab.magics["line"].items()}


def test_the_page_is_up_to_date():
    """What the committed page says is true today; `make magics-table` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make magics-table`"


def test_every_magic_has_a_row_of_four_cells():
    """None is left out."""
    rows = [line for line in page().splitlines() if line.startswith("| `%")]
    assert len(rows) == len(RuleLab.magics["line"])
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 5 for row in rows)


@pytest.mark.parametrize("name", PLAIN)
def test_what_stands_for_a_magic_in_plain_python_is_there(name):
    """The page and the help of a magic send a reader to it: a function of that name, where the name says."""
    assert PLAIN[name], f"%{name} has no plain function: decorate it by @magic_method(plain=...)"
    written = PLAIN[name].removeprefix("@")
    dotted = [ast.unparse(node.func) for node in ast.walk(ast.parse(written)) if isinstance(node, ast.Call)]
    assert dotted
    for one in dotted:
        module, _, function = re.sub(r"^rl\.", "rulelab.", one).rpartition(".")
        owner = importlib.import_module(module)
        assert callable(getattr(owner, function))
        is_listed = module != "rulelab.notebook" or function in owner.__all__
        assert is_listed, f"the reference has no {function}: it is not in __all__ of {module}"


@pytest.mark.parametrize("name", PLAIN)
def test_a_page_of_the_manual_shows_a_magic_at_its_task(name):
    """Who reads how something is done learns that there is a magic for it."""
    pages = (path.read_text(encoding="utf-8") for path in (PAGE.parent / "howto").glob("*.md"))
    assert any(re.search(rf"%{name}\b", page) for page in pages), f"no page of docs/howto/ shows %{name}"
