"""The panel of one pair, live: the one door to ipywidgets.

A browser's message may arrive on a thread of its own (JupyterLab sends those of widgets to a subshell), so
every callback is handed to the event loop that the panel was opened on, and no two of them run at once. Only
Stop is heard where it arrives. Whatever fails is told in the panel's own status line.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as W

from ..errors import printable
from ..pieces import Measurement, Progress
from ..tables import engineering
from ..verdicts import said
from . import tabs
from .displays import error_in_words
from .pair import SIZES, Overview, Pair, html_of, sizes_between
from .running import PROOF_SECONDS, RULE_SECONDS, Interruption, Refused, Runner, Throttle
from .session import AT_UNLOADING

LARGEST = 100_000_000
UPDATE_AFTER = 0.5
"""Seconds of rest after which the copy below the panel follows a change of the size."""

_STYLE = """\
<style>
.rulelab-panel { border: 1px solid var(--jp-border-color2, #bdbdbd); border-radius: 4px; padding: 8px 12px;
  color: var(--jp-content-font-color1, inherit); }
.rulelab-panel .widget-html, .rulelab-panel .widget-htmlmath { height: auto; }
.rulelab-panel .widget-html-content, .rulelab-panel .widget-htmlmath-content { line-height: 1.45;
  font-size: var(--jp-content-font-size1, 14px); color: var(--jp-content-font-color1, inherit); }
.rulelab-panel .rulelab-title { font-size: 1.15em; font-weight: 600; margin: 0 0 0.2em; }
.rulelab-panel .rulelab-words { margin: 0.3em 0; }
.rulelab-panel .rulelab-status { min-height: 1.5em; white-space: pre-line;
  border-left: 3px solid var(--jp-border-color1, #9e9e9e); padding-left: 0.6em; margin: 0.3em 0; }
.rulelab-panel .rulelab-wide { overflow-x: auto; }
.rulelab-panel .rulelab-row { flex-wrap: wrap; gap: 4px 14px; align-items: center; overflow: visible;
  margin: 4px 0; }
.rulelab-panel .rulelab-row > .widget-inline-hbox, .rulelab-panel .rulelab-row > .widget-button { margin: 0; }
.rulelab-panel .widget-label { color: var(--jp-content-font-color1, inherit); }
.rulelab-panel .jupyter-button:focus-visible, .rulelab-panel input:focus-visible {
  outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: 1px; }
</style>"""


class Board:
    """What the tabs of one panel share: the event loop, the status line, the one run, the words for errors.

    `changed(soon)` is called when what the panel shows has changed: at once after a run, soon after a size.
    """

    def __init__(self, pair: Pair, loop: asyncio.AbstractEventLoop | None, changed: Callable[[bool], None]):
        self.pair, self.loop, self.changed = pair, loop, changed
        self.runner = Runner(loop)
        self.status = W.HTML()
        self.opened: dict[str, Callable[[], None]] = {}
        self.closing: list[Callable[[], None]] = []
        self._doing: Interruption | None = None
        self.shell = _shell()
        self.thread = threading.get_ident()
        self.closed = False

    def say(self, words: str) -> None:
        """Put words into the status line, which screen readers read out."""
        if not self.closed:
            self.status.value = (
                '<div role="status" class="rulelab-status tex2jax_ignore mathjax_ignore">'
                f"{escape(printable(words))}</div>"
            )

    def when_opened(self, tab: str, action: Callable[[], None]) -> None:
        """Do this each time somebody turns to the page of this tab."""
        self.opened[tab] = action

    def when_closed(self, action: Callable[[], None]) -> None:
        """Do this when the panel is closed."""
        self.closing.append(action)

    def callback(self, action: Callable[..., None]) -> Callable[..., None]:
        """The action as a widget's callback: on the panel's loop, its errors told in the status line."""

        def called(*message: Any) -> None:
            if self.loop is None or threading.get_ident() == self.thread:
                self.guarded(action, *message)
            else:
                self.loop.call_soon_threadsafe(self.guarded, action, *message)

        return called

    def guarded(self, action: Callable[..., None], *given: Any) -> None:
        """Do it; an error, or the kernel's interrupt, is told and ends nothing else."""
        if self.closed:
            return
        outer = self._doing
        try:
            with Interruption() as self._doing, self._doing.piece():
                action(*given)
        except KeyboardInterrupt:
            self.say("Stopped; what is shown is as it was before.")
        except Exception as error:
            self.say(error_in_words(error))
        finally:
            self._doing = outer

    def start(
        self, measurement: Measurement, told: Callable[[Progress], None], ended: Callable[[Any], None]
    ) -> None:
        """Run a measurement; `ended` is called with what there is, also when it was stopped or has failed."""

        def heard(report: Any, error: Exception | None, stopped: bool) -> None:
            def show() -> None:
                if report is not None:
                    ended(report)
                if error is not None:
                    self.say(error_in_words(error))
                self.changed(False)

            self.guarded(show)

        self.runner.start(measurement, told, heard)

    def stop(self, pressed: Any = None) -> None:
        """End the run, or what a control has asked for: a Stop button's callback.

        Heard on the thread that it arrives on, because the loop may be busy with a long call.
        """
        doing, running = self._doing, self.runner.running
        if running:
            self.runner.stop()
        if doing is not None:  # also while a run waits for its turn: this is what takes long
            doing.ask()
        if not running and doing is None:
            self.callback(lambda: self.say("Nothing is running."))()

    def close(self) -> None:
        """End the run, and whatever else the tabs have going."""
        self.closed = True
        self.runner.close()
        for close in self.closing:
            close()
        self.opened.clear()
        self.closing.clear()


@tabs.live("Gradients")
class Gradients:
    """The live tab of values and gradients: another size draws new arguments and compares at once."""

    def __init__(self, pair: Pair, board: Board):
        self.pair, self.board = pair, board
        self.size = W.BoundedIntText(
            value=pair.size or 1,
            min=1,
            max=LARGEST,
            description="Size N:",
            disabled=pair.make is None or pair.size is None,
            style={"description_width": "initial"},
            layout=W.Layout(width="11em"),
        )
        self.shown = W.HTML()
        self.throttle = Throttle(lambda: board.guarded(self.compare), board.loop)
        board.when_closed(self.throttle.cancel)
        board.when_opened("Gradients", self.show)
        self.size.observe(board.callback(lambda change: self.throttle()), "value")
        why = "" if not self.size.disabled else "These arguments have no size that could be changed."
        hint = why or "Another size draws new arguments by the generator on the page Times, and compares."
        stop = _button("Stop", "End a comparison that takes long", board.stop)
        self.widget = W.VBox([_row(self.size, stop, _words(hint)), self.shown])
        self.show()

    def compare(self) -> None:
        """Compare at the size that the box shows."""
        n = self.size.value
        if n == self.pair.size:
            return
        self.board.say(f"Comparing at N = {n:,} …")
        self.pair.resize(n)
        self.show()
        self.board.say(f"Compared at N = {n:,}. {self.pair.comparison.sentence}")
        self.board.changed(True)

    def show(self) -> None:
        self.shown.value = html_of("Gradients", _section("Gradients", self.pair))


@tabs.live("Times")
class Times:
    """The live tab of times: Run and Stop, the sizes, the generator, and what was measured."""

    def __init__(self, pair: Pair, board: Board):
        self.pair, self.board = pair, board
        self.run = _button(
            "Run", "Time both gradients, and both against the size N", board.callback(self._run)
        )
        self.stop = _button("Stop", "End the run and keep the rounds that are whole", board.stop)
        self.rounds = _number("Rounds:", pair.rounds, 1, 100_000)
        self.progress = _progress()
        self.smallest = _number("Smallest N:", SIZES[0], 1, LARGEST)
        self.largest = _number("Largest N:", SIZES[1], 1, LARGEST)
        self.count = _number("How many sizes:", SIZES[2], 1, 50)
        rows = [_row(self.run, self.stop, self.rounds, self.progress)]
        if pair.make is not None:
            rows.append(_row(self.smallest, self.largest, self.count))
        self.generator = None
        if board.shell is not None and pair.make is not None:
            self.generator = W.Text(
                value=pair.make_text,
                placeholder="an argument list in n and rng, such as rng.random(n), k=2",
                description="Arguments of size n:",
                continuous_update=False,
                style={"description_width": "initial"},
                layout=W.Layout(width="100%", max_width="60em"),
            )
            self.generator.observe(board.callback(self._read), "value")
            rows.append(self.generator)
        self.text, self.first = pair.make_text, (pair.make, pair.make_text)
        self.shown = W.HTML()
        self.widget = W.VBox([*rows, self.shown])
        board.when_opened("Times", self.show)
        self.show()

    def _read(self, change: Any) -> None:
        """Look at what was typed into the generator, without running any of it."""
        from .manners import parse_generator

        if change["new"].strip():
            parse_generator(change["new"])
            self.board.say("The new arguments count from the next Run, for the times against N.")

    def _run(self, pressed: Any = None) -> None:
        if self.board.runner.running:
            raise Refused("A run is going on. Press Stop first, or wait for its end.")
        self._take_generator()
        sizes: tuple[int, ...] = ()
        if self.pair.make is not None:
            sizes = sizes_between(self.smallest.value, self.largest.value, self.count.value)
        self.board.say("Running …")
        self.board.start(self.pair.timing(rounds=self.rounds.value, sizes=sizes), self._told, self._ended)

    def _take_generator(self) -> None:
        """Evaluate the generator as it stands in the field, in the user's namespace: Run was pressed. An
        empty field is the generator that the panel was opened with.
        """
        if self.generator is None or self.generator.value.strip() == self.text:
            return
        from .manners import generator

        pair, text = self.pair, self.generator.value.strip()
        if not text:
            pair.make, pair.make_text = self.first
            self.generator.value = pair.make_text
        else:
            drawn = generator(self.board.shell, text)
            pair.make, pair.make_text = (lambda n: drawn(n, pair.rng)), text
        self.text = pair.make_text

    def _told(self, progress: Progress) -> None:
        self.progress.value = progress.done
        self.board.say(f"Running, {progress.done} %: {progress.doing}")

    def _ended(self, times: Any) -> None:
        self.progress.value = 0 if times.interrupted else 100
        self.show()
        kept = self.pair.times is times
        self.board.say(times.sentence if kept else "Stopped before anything was timed; the tables are older.")

    def show(self) -> None:
        self.shown.value = html_of("Times", _section("Times", self.pair))


@tabs.live("Check")
class Check:
    """The live tab of the check by numbers: Run, Stop, and the report of what was looked at."""

    def __init__(self, pair: Pair, board: Board):
        self.pair, self.board = pair, board
        self.run = _button("Run", "Check the rule at many points", board.callback(self._run))
        self.stop = _button("Stop", "End the check and keep the points that are whole", board.stop)
        self.deep = W.Checkbox(
            value=False,
            description="Deep: three times as many points",
            indent=False,
            layout=W.Layout(width="auto"),
        )
        self.progress = _progress()
        self.shown = W.HTML()
        self.widget = W.VBox([_row(self.run, self.stop, self.deep, self.progress), self.shown])
        board.when_opened("Check", self.show)
        self.show()

    def _run(self, pressed: Any = None) -> None:
        if self.board.runner.running:
            raise Refused("A run is going on. Press Stop first, or wait for its end.")
        self.board.say("Checking …")
        self.board.start(self.pair.checking(deep=self.deep.value), self._told, self._ended)

    def _told(self, progress: Progress) -> None:
        self.progress.value = progress.done
        self.board.say(f"Checking, {progress.done} %: {progress.doing}")

    def _ended(self, report: Any) -> None:
        self.progress.value = 0 if report.interrupted else 100
        self.show()
        kept = self.pair.check is report
        self.board.say(report.sentence if kept else "Stopped before a point was whole; the report is older.")

    def show(self) -> None:
        self.shown.value = html_of("Check", _section("Check", self.pair))


@tabs.live("Symbolic")
class Symbolic:
    """The live tab of the proof: SymPy is asked when the tab is first opened, and by Prove; by Derive a rule,
    for a rule.
    """

    def __init__(self, pair: Pair, board: Board):
        self.pair, self.board = pair, board
        self.prove = _button(
            "Prove", "Ask SymPy whether the rule is right", board.callback(lambda pressed: self._prove())
        )
        self.stop = _button("Stop", "End the question", board.stop)
        self.seconds = _number("Seconds at most:", int(PROOF_SECONDS), 1, 3600)
        self.derive = _button(
            "Derive a rule", "Have SymPy write a rule from the code", board.callback(self._derive)
        )
        self.progress = _progress()
        self.shown = W.HTMLMath()
        rows = _row(self.prove, self.stop, self.seconds, self.derive, self.progress)
        self.widget = W.VBox([rows, self.shown])
        board.when_opened("Symbolic", self._first)
        self.show()

    def _first(self) -> None:
        if self.pair.proof is None and not self.board.runner.running:
            self._prove()
        else:
            self.show()

    def _prove(self) -> None:
        self._ask(self.pair.proving(self.seconds.value), self._proved)

    def _derive(self, pressed: Any = None) -> None:
        self._ask(self.pair.deriving(max(RULE_SECONDS, self.seconds.value)), self._derived)

    def _ask(self, question: Any, ended: Callable[[Any], None]) -> None:
        if self.board.runner.running:
            raise Refused("A run is going on. Press Stop first, or wait for its end.")
        self.board.say("SymPy is at work …")
        self.board.start(question, self._told, ended)

    def _told(self, progress: Progress) -> None:
        self.progress.value = progress.done
        self.board.say(f"SymPy is at work: {progress.doing}.")

    def _proved(self, report: Any) -> None:
        self._show_whole()
        kept = self.pair.proof is report
        answer = f"{said(report.verdict.word)}, in {engineering(report.seconds, 's')}."
        self.board.say(
            f"SymPy has answered: {answer}" if kept else "Stopped; the answer that stands here is older."
        )

    def _derived(self, derived: Any) -> None:
        self._show_whole()
        self.board.say(f"Below stands a {derived.rule.sentence}")

    def _show_whole(self) -> None:
        self.progress.value = 100
        self.show()

    def show(self) -> None:
        self.shown.value = html_of("Symbolic", _section("Symbolic", self.pair))


class _Root(W.VBox):
    """The panel's outermost widget; where there is no kernel to draw it, it says where to look."""

    words = "A panel of rulelab, which needs its kernel. What it showed stands below."

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        return {**bundle, "text/plain": self.words, "text/html": f"<p>{escape(self.words)}</p>"}


class Panel:
    """The panel of one pair as a notebook shows it: live widgets, and below them what they showed as plain
    HTML and text, for a page without a kernel.

    `close()` ends its run and takes the widgets away; the panel's own cell does so when it is run again.
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
        return self.pair is not None and self.pair.times is not None and self.pair.times.interrupted

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
        display(self.widget)
        self._copy = display(self.overview(folded=True), display_id=True)

    def _changed(self, soon: bool) -> None:
        """Bring the copy below up to date: at once, or once a series of changes has come to rest."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if soon and self._board is not None and self._board.loop is not None:
            self._later = self._board.loop.call_later(UPDATE_AFTER, self._changed, False)
        elif self._copy is not None and self.pair is not None:
            self._copy.update(self.overview(folded=True))

    def close(self) -> None:
        """End what is running, take the widgets away, and forget the pair."""
        if self._board is None:
            return
        if self._later is not None:
            self._later.cancel()
        self._board.close()
        _close(self.widget)
        self.pair = self.widget = self._board = self._copy = self._later = None


def _built(pair: Pair, board: Board) -> _Root:
    registered = tabs.registered()
    pages = W.Tab(
        [tab.live(pair, board) if tab.live is not None else _plain(tab, pair, board) for tab in registered],
        titles=[tab.name for tab in registered],
    )
    names = [tab.name for tab in registered]

    def turned(change: Any) -> None:
        opened = board.opened.get(names[change["new"]])
        if opened is not None:
            opened()

    pages.observe(board.callback(turned), "selected_index")
    classes = "rulelab-title tex2jax_ignore mathjax_ignore"
    title = W.HTML(f'{_STYLE}<p class="{classes}">{escape(printable(pair.title))}</p>')
    root = _Root([title, board.status, pages])
    root.add_class("rulelab-panel")
    board.say(pair.comparison.sentence)
    return root


def _plain(tab: tabs.Tab, pair: Pair, board: Board) -> W.Widget:
    """A page without controls, made anew whenever somebody turns to it: the rule may be another one."""
    shown = W.HTML()

    def show() -> None:
        shown.value = html_of(tab.name, tabs.content(tab, pair))

    show()
    board.when_opened(tab.name, show)
    return shown


def _section(name: str, pair: Pair) -> Sequence[Any]:
    return next(tabs.content(tab, pair) for tab in tabs.registered() if tab.name == name)


def _row(*children: W.Widget) -> W.Box:
    row = W.HBox(list(children))
    row.add_class("rulelab-row")
    return row


def _words(text: str) -> W.Widget:
    return W.HTML(f'<p class="rulelab-words">{escape(text)}</p>')


def _button(words: str, explained: str, pressed: Callable[..., None]) -> W.Button:
    button = W.Button(description=words, tooltip=explained, layout=W.Layout(width="auto", min_width="6em"))
    button.on_click(pressed)
    return button


def _progress() -> W.IntProgress:
    return W.IntProgress(
        max=100,
        description="Progress:",
        style={"description_width": "initial"},
        layout=W.Layout(width="16em"),
    )


def _number(name: str, value: int, least: int, most: int) -> W.BoundedIntText:
    width = f"{len(name) * 0.55 + 6:.0f}em"
    return W.BoundedIntText(
        value=value,
        min=least,
        max=most,
        description=name,
        style={"description_width": "initial"},
        layout=W.Layout(width=width),
    )


def _close(widget: W.Widget) -> None:
    """Close a widget and all it is made of: ipywidgets keeps what is open for ever."""
    for child in getattr(widget, "children", ()):
        _close(child)
    widget.unobserve_all()
    for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
        if part is not None:
            part.close()
    widget.close()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _shell() -> Any:
    from IPython import get_ipython

    return get_ipython()


# -- one panel for one cell ----------------------------------------------------------------------------------

_by_cell: dict[str, tuple[str, weakref.WeakSet[Panel]]] = {}


def _closed_with_its_cell(panel: Panel) -> None:
    """Close the panels that an earlier run of this cell made; a cell is known by the id that its message
    carries. A panel made elsewhere (a frontend without cell ids, a test) is closed by its owner.
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
    """The id of the cell that is running, and of this run of it."""
    parent: dict = getattr(_shell(), "get_parent", dict)() or {}
    cell = (parent.get("metadata") or {}).get("cellId")
    return cell, (parent.get("header") or {}).get("msg_id", "")


def close_all() -> None:
    """Close every panel that belongs to a cell."""
    for _, panels in _by_cell.values():
        for panel in list(panels):
            panel.close()
    _by_cell.clear()


AT_UNLOADING.append(close_all)
