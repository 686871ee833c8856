"""The live panel of one pair: its widgets, and one panel for each cell."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from html import escape
from typing import Any

import ipywidgets as W

from ..errors import printable
from ..verdicts import sign_of
from . import controls, tabs
from . import pages as pages  # which register themselves
from .board import Board, shell
from .in_place import place_of
from .pair import Overview, Pair, html_of
from .request_queue import RUNNING, WAITING
from .session import AT_UNLOADING

UPDATE_AFTER = 0.5
"""Seconds without changes after which the copy below the panel follows a change of the size."""


class _Root(W.VBox):
    """The panel's outermost widget; without a kernel to draw it, it says where its content is."""

    words = "This panel needs its kernel. What it showed is below."

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": self.words, "text/html": f"<p>{escape(self.words)}</p>"}


class Panel:
    """The panel of one pair as a notebook shows it: live widgets, and below them what they showed as plain
    HTML and text, for a page without a kernel.

    `close()` ends its run and removes the widgets; running the panel's cell again closes it, too.
    """

    __slots__ = ("__weakref__", "_board", "_copy", "_later", "pair", "title", "widget")

    def __init__(self, pair: Pair):
        loop = _running_loop()
        self.pair: Pair | None = pair
        self.title = pair.title
        self._copy: Any = None
        self._later: asyncio.TimerHandle | None = None
        self._board: Board | None = Board(pair, loop, self._changed)
        self.widget: Any = _built(pair, self._board)
        _closed_with_its_cell(self)

    def __repr__(self) -> str:
        return printable(f"Panel of {self.title}") + (", closed" if self.pair is None else "")

    @property
    def interrupted(self) -> bool:
        """Whether the measurements were ended early."""
        return self.pair is not None and self.pair.stopped(self.pair.times)

    def overview(self, folded: bool = False) -> Overview | None:
        """What the panel shows now, without widgets; None once it is closed."""
        return None if self.pair is None else tabs.overview(self.pair, folded=folded)

    def to_dict(self) -> dict:
        """The numbers that the panel shows, in plain Python types."""
        overview = self.overview()
        return {} if overview is None else overview.to_dict()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self.widget is None:
            print(f"{self!r}. Run its cell again to open a new one.")
            return
        place = place_of(shell(), self)
        if place is None:
            display(self.widget)
        else:
            place.update(self.widget)
        self._copy = display(self.overview(folded=True), display_id=True)

    def _changed(self, soon: bool) -> None:
        """Update the copy below: at once, or after a series of changes."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if soon and self._board is not None and self._board.loop is not None:
            self._later = self._board.loop.call_later(UPDATE_AFTER, self._changed, False)
        elif self._copy is not None and self.pair is not None:
            self._copy.update(self.overview(folded=True))

    def close(self) -> None:
        """End what is running, remove the widgets, and forget the pair."""
        if self._board is None:
            return
        if self._later is not None:
            self._later.cancel()
        self._board.close()
        self._board.kit.close(self.widget)
        self.pair = self.widget = self._board = self._copy = self._later = None


def _built(pair: Pair, board: Board) -> _Root:
    registered = tabs.registered()
    live = [tab.live(pair, board) if tab.live is not None else _plain(tab, pair, board) for tab in registered]
    names = [tab.name for tab in registered]
    book = board.kit.made(W.Tab, children=live, titles=names)
    board.marked = lambda: _mark(book, registered, board)

    def turned(change: Any) -> None:
        opened = board.opened.get(names[change["new"]])
        if opened is not None:
            opened()

    book.observe(board.callback(turned), "selected_index")
    classes = "rulelab-title tex2jax_ignore mathjax_ignore"
    title = board.kit.html(f'{controls.style()}<p class="{classes}">{escape(printable(pair.title))}</p>')
    within = [title, board.verdicts, board.status, book]
    root = board.kit.made(_Root, children=within, layout=board.kit.own_layout())
    root.add_class("rulelab-panel")
    board.say("")
    board.show_verdicts()
    return root


def _mark(book: W.Tab, registered: Sequence[tabs.Tab], board: Board) -> None:
    """Set the symbol and the colour of each tab to those of its page's verdict, or dots while it runs or
    waits.
    """
    titles, classes = [], []
    for at, tab in enumerate(registered):
        found, state = board.judged(tab), board.turns.state(tab.name)
        if found is not None:
            classes.append(f"rulelab-tab-{at}-{controls.slug(sign_of(found[0]).word)}")
        symbol = {RUNNING: "…", WAITING: "⋮"}.get(state) or (sign_of(found[0]).symbol if found else "")
        titles.append(f"{symbol} {tab.name}".strip())
    if tuple(titles) != tuple(book.titles):
        book.titles = titles
    kept = [name for name in book._dom_classes if not name.startswith("rulelab-tab-")]
    if (*kept, *classes) != book._dom_classes:
        book._dom_classes = (*kept, *classes)


def _plain(tab: tabs.Tab, pair: Pair, board: Board) -> W.Widget:
    """A page without controls, created again whenever it is opened: the rule may have changed."""
    shown = board.kit.html()

    def show() -> None:
        shown.value = html_of(tab.name, tabs.content(tab, pair))

    show()
    board.when_opened(tab.name, show)
    return shown


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


# -- one panel for one cell ----------------------------------------------------------------------------------

_by_cell: dict[str, tuple[str, weakref.WeakSet[Panel]]] = {}


def _closed_with_its_cell(panel: Panel) -> None:
    """Close the panels that an earlier run of this cell made; a cell is identified by the id in its message.
    A panel made elsewhere (a frontend without cell ids, a test) is closed by its owner.
    """
    cell, run = _cell_and_run()
    if cell is None:
        return
    earlier, panels = _by_cell.get(cell, ("", weakref.WeakSet()))
    if earlier != run:
        for old in list(panels):
            old.close()
        panels = weakref.WeakSet()
    panels.add(panel)
    _by_cell[cell] = (run, panels)


def _cell_and_run() -> tuple[str | None, str]:
    """The id of the running cell, and of this run of it."""
    parent: dict = getattr(shell(), "get_parent", dict)() or {}
    cell = (parent.get("metadata") or {}).get("cellId")
    return cell, (parent.get("header") or {}).get("msg_id", "")


def close_all() -> None:
    """Close every panel that belongs to a cell."""
    for _, panels in _by_cell.values():
        for panel in list(panels):
            panel.close()
    _by_cell.clear()


AT_UNLOADING.append(close_all)
