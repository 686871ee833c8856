"""The page on the compiler names the home of each kind of call, and what answers for it there."""

import importlib
import importlib.util
import re

import pytest

from ... import calls_table

NAME, HOME = re.compile(r"`([A-Za-z_]+)`"), re.compile(r"`([\w/.]+)`")


def rows(repository):
    """The homes of the table of calls, with the names that each row gives for reverse and forward mode."""
    text = (repository / "docs/design/compiler.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|") and line.count("|") == 6]
    for line in lines[2:]:
        _, _, home, reverse, forward, _, _ = line.split("|")
        modules, _, recognises = home.partition(";")
        yield HOME.findall(modules), NAME.findall(recognises + reverse + forward)


def module_of(home):
    """The module of a home: a name in the room, or a path in the compiler or the package."""
    if not home.endswith(".py"):
        return importlib.import_module(f"rulelab.compiler.calls.{home}")
    path = home.removesuffix(".py").replace("/", ".")
    in_package = "rulelab" if path.startswith(("rules.", "rulesets.", "python_facts")) else "rulelab.compiler"
    return importlib.import_module(f"{in_package}.{path}")


def test_every_home_is_there_and_answers(repository):
    """Each module stands in the room, and has what the page says that it has."""
    found = list(rows(repository))
    assert len(found) >= 14
    for homes, names in found:
        modules = list(map(module_of, homes))
        for name in names:
            own = any(hasattr(module, name) for module in modules)
            nested = any(hasattr(x, name) for module in modules for x in vars(module).values())
            room = importlib.util.find_spec(f"rulelab.compiler.calls.{name}")
            assert own or nested or room is not None, f"{homes}: {name}"


NEAR = 40
"""So far a definition may have moved, in lines, before the table is to be written anew."""


@pytest.mark.slow
def test_every_name_stands_where_the_page_says():
    """The table gives file and line; a few lines added above do not fail this, a definition gone does."""
    known = calls_table.Known()
    rows = filter(calls_table.is_row, calls_table.PAGE.read_text(encoding="utf-8").splitlines())
    found = [(row, *each) for row in rows for each in calls_table.told(row)]
    assert len(found) >= 30
    for row, name, file, line in found:
        place = known.place(name, calls_table.homes_of(row))
        assert place is not None and calls_table.shown(place[0]) == file, name
        assert place[1] - NEAR <= line <= place[2] + NEAR, f"{name}: run {calls_table.__file__}"
