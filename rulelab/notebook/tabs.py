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

    `section(pair)` returns its content without widgets: a sequence of objects with an HTML representation
    that are text as strings (reports, pictures, listings). `live(pair, board)` returns its widget; if it is
    None the section is shown as HTML. Tabs are in the order of their numbers. `judged(pair)` returns the
    verdict of the page and a few words about it, None while there is none; `cell(pair)` the cell that does
    the same.
    """

    name: str
    order: int
    section: Callable[[pair.Pair], Sequence[Any]]
    live: Callable[[pair.Pair, Any], Any] | None = None
    judged: Callable[[pair.Pair], tuple[str, str] | None] = lambda of: None
    cell: Callable[[pair.Pair], str | None] = lambda of: None


_tabs: dict[str, Tab] = {}


def register(tab: Tab) -> None:
    """Add a tab to panels opened from now on; it replaces one of the same name."""
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


def judged(tab: Tab, of: pair.Pair) -> tuple[str, str] | None:
    """The verdict of a tab and a few words about it; None if there is none or it fails."""
    try:
        return tab.judged(of)
    except Exception:  # the page says what failed
        return None


def overview(of: pair.Pair, folded: bool = False) -> pair.Overview:
    """Everything that the panel currently shows of a pair, without widgets."""
    sections = tuple((tab.name, content(tab, of)) for tab in registered())
    interrupted = any(map(of.stopped, (of.times, of.check)))
    return pair.Overview(of.title, sections, folded, interrupted)


_live: dict[str, Callable[[pair.Pair, Any], Any]] = {}


def live(name: str) -> Callable[[Any], Any]:
    """Mark a class as making the widget of one of the package's tabs: it is loaded with the first panel."""

    def note(made: Any) -> Any:
        _live[name] = made
        return made

    return note


def _ours(name: str, order: int, section: Callable, judged: Callable, cell: Callable) -> Tab:
    return Tab(name, order, section, lambda of, board: _live[name](of, board).widget, judged, cell)


def _at(magic: str, twin_only: bool = False) -> Callable[[pair.Pair], str | None]:
    return lambda of: of.cell(magic, twin_only)


register(_ours("Gradients", 10, pair.gradients, pair.judged_gradients, _at("%grad_compare")))
register(_ours("Times", 20, pair.times, pair.judged_times, _at("%grad_bench")))
register(_ours("Check", 25, pair.checks, pair.judged_check, _at("%rule_check", True)))
register(Tab("Code", 30, pair.code))
register(_ours("Symbolic", 40, pair.symbolic, pair.judged_proof, _at("%rule_symbolic", True)))
