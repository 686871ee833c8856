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


def _live(name: str) -> Callable[[pair.Pair, Any], Any]:
    """A widget of ours by its name: ipywidgets is loaded when the first panel is opened."""

    def made(of: pair.Pair, board: Any) -> Any:
        from . import widgets

        return getattr(widgets, name)(of, board).widget

    return made


register(Tab("Gradients", 10, pair.gradients, _live("Gradients")))
register(Tab("Times", 20, pair.times, _live("Times")))
register(Tab("Check", 25, pair.checks, _live("Check")))
register(Tab("Code", 30, pair.code))
register(Tab("Symbolic", 40, pair.symbolic, _live("Symbolic")))
