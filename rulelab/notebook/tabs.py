"""The register of the panel's tabs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import pair
from .displays import error_in_words


@dataclass(frozen=True)
class Tab:
    """One page of the panel.

    `section(pair)` gives its content without widgets: a sequence of things that have an HTML face and are
    words as strings (reports, pictures, listings). `live(pair, board)` gives its widget; where it is None the
    section is shown as HTML. Tabs stand in the order of their numbers.
    """

    name: str
    order: int
    section: Callable[[pair.Pair], Sequence[Any]]
    live: Callable[[pair.Pair, Any], Any] | None = None


_tabs: dict[str, Tab] = {}


def register(tab: Tab) -> None:
    """Add a tab to the panels that are opened from now on; one of the same name takes the old one's place."""
    _tabs[tab.name] = tab


def registered() -> tuple[Tab, ...]:
    """The tabs, in order."""
    return tuple(sorted(_tabs.values(), key=lambda tab: (tab.order, tab.name)))


def content(tab: Tab, of: pair.Pair) -> tuple[Any, ...]:
    """What a tab shows without widgets; if its section fails, the reason in words, and the others stay."""
    try:
        return tuple(tab.section(of))
    except Exception as error:
        return (pair.Words(f"This page could not be made. {error_in_words(error)}"),)


def overview(of: pair.Pair, folded: bool = False) -> pair.Overview:
    """Everything that the panel shows of a pair at this moment, without widgets."""
    sections = tuple((tab.name, content(tab, of)) for tab in registered())
    interrupted = any(getattr(found, "interrupted", False) for found in (of.times, of.check))
    return pair.Overview(of.title, sections, folded, interrupted)


_live: dict[str, Callable[[pair.Pair, Any], Any]] = {}


def live(name: str) -> Callable[[Any], Any]:
    """Says of a class that it makes the widget of a tab of ours: it is loaded with the first panel."""

    def note(made: Any) -> Any:
        _live[name] = made
        return made

    return note


def _ours(name: str, order: int, section: Callable[[pair.Pair], Sequence[Any]]) -> Tab:
    return Tab(name, order, section, lambda of, board: _live[name](of, board).widget)


register(_ours("Gradients", 10, pair.gradients))
register(_ours("Times", 20, pair.times))
register(_ours("Check", 25, pair.checks))
register(Tab("Code", 30, pair.code))
register(_ours("Symbolic", 40, pair.symbolic))
