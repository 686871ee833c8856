"""The panel of one pair, live: only it and what it is made of, `controls.py`, import ipywidgets.

A browser's message may arrive on a thread of its own (JupyterLab sends those of widgets to a subshell), so
every callback is passed to the event loop that the panel was opened on, and no two of them run at once. Only
Stop is heard where it arrives. Whatever fails is reported in the panel's own status line.
"""

from __future__ import annotations

import asyncio
import re
import threading
import weakref
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as W

from ..errors import printable
from ..pieces import Measurement, Progress, percent
from ..tables import engineering, prose
from ..verdicts import NOT_JUDGED_BY_AN_ERROR, SIGNS, most_pressing, said, sign_of, word_of
from . import controls, tabs
from .copying import pictures_html, tables_html
from .displays import error_in_words
from .in_place import place_of
from .pair import SIZES, Overview, Pair, Words, html_of, sizes_between
from .running import PROOF_SECONDS, RULE_SECONDS, Interruption, Runner, Throttle
from .session import AT_UNLOADING
from .turns import IDLE, RUNNING, WAITING, Request, Turns

LARGEST = 100_000_000
UPDATE_AFTER = 0.5
"""Seconds of rest after which the copy below the panel follows a change of the size."""


class Board:
    """What the tabs of one panel share: the event loop, the verdicts, the status line, whose turn it is to
    run, the words for errors.

    `changed(soon)` is called when what the panel shows has changed: at once after a run, soon after a size.
    """

    def __init__(self, pair: Pair, loop: asyncio.AbstractEventLoop | None, changed: Callable[[bool], None]):
        self.pair, self.loop, self.changed = pair, loop, changed
        self.runner = Runner(loop)
        self.turns = Turns(self.runner, self._begin, self._follow)
        self.kit = controls.Kit()
        self.verdicts, self.status = self.kit.html(), self.kit.html()
        self.marked: Callable[[], None] = lambda: None
        self.failed: dict[str, str] = {}
        self.unjudged: set[str] = set()
        self.followed: dict[str, Callable[[str], None]] = {}
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
                f"{prose(words)}</div>"
            )

    def show_verdicts(self) -> None:
        """What is known by now, in a line that stays: the verdict of each page, and the colour of the most
        pressing one.
        """
        if self.closed:
            return
        told = [(tab.name, self.judged(tab)) for tab in tabs.registered()]
        words = [
            f"<span>{sign_of(found[0]).html()}{escape(name)}: {prose(found[1])}</span>"
            for name, found in told
            if found is not None
        ]
        pressing = most_pressing(found[0] for _, found in told if found is not None)
        colour = "#9e9e9e" if pressing is None else SIGNS[pressing].colour
        self.verdicts.value = (
            f'<div class="rulelab-verdicts tex2jax_ignore mathjax_ignore" '
            f'style="border-left-color: {colour}">'
            f"{''.join(words) or 'Nothing is known yet.'}</div>"
        )
        self.marked()

    def judged(self, tab: tabs.Tab) -> tuple[str, str] | None:
        """The verdict of a page and a few words on it; that of a run that failed is "not judged"."""
        if tab.name in self.unjudged:
            return "error", NOT_JUDGED_BY_AN_ERROR
        return tabs.judged(tab, self.pair)

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
        """Do it; an error, or the kernel's interrupt, is reported and ends nothing else."""
        if self.closed:
            return
        outer = self._doing
        try:
            with Interruption() as self._doing, self._doing.piece():
                action(*given)
        except KeyboardInterrupt:
            self.say("Stopped; what is shown is from an earlier run.")
        except Exception as error:
            self.say(error_in_words(error))
        finally:
            self._doing = outer

    def ask(self, request: Request) -> None:
        """Run what a page asks for, now or when its turn has come."""
        if not self.turns.ask(request):
            return  # it was pressed twice, before the page could follow
        if self.turns.state(request.page) == WAITING and self.turns.running is not None:
            self.say(f"{self.turns.queue.removesuffix('.')}, until {self.turns.running.doing} is done.")

    def _begin(self, request: Request) -> None:
        self.failed.pop(request.page, None)
        if request.judges:
            self.unjudged.discard(request.page)
        try:
            measurement = request.make()
        except Exception as error:
            self._fail(request, error)
            self.show_verdicts()
            self.turns.over()
            return
        except KeyboardInterrupt:
            self.turns.over()
            raise
        self.start(measurement, request.told, request.ended)

    def _fail(self, request: Request, error: Exception) -> None:
        """Tell an error in the status line, and on the page until its next run."""
        page = request.page
        self.failed[page] = error_in_words(error)
        if request.judges:
            self.unjudged.add(page)
        self.say(f"{page}: {self.failed[page].partition(chr(10))[0]}")  # the page says it all
        if page in self.opened:
            self.opened[page]()

    def _follow(self) -> None:
        for page, follow in self.followed.items():
            follow(self.turns.state(page))
        self.marked()

    def say_progress(self, doing: str, progress: Progress) -> None:
        """How far the run is, what it does, about when it will be done, and who waits."""
        left = self.turns.left(progress)
        words = f"{doing}, {min(99, percent(progress))} %{f', {left}' if left else ''}: {progress.doing}"
        self.say("\n".join(filter(None, (words, self.turns.queue))))

    def start(
        self, measurement: Measurement, told: Callable[[Progress], None], ended: Callable[[Any], None]
    ) -> None:
        """Run a measurement; `ended` is called with what there is, also when it was stopped or has failed."""

        def heard(report: Any, error: Exception | None, stopped: bool) -> None:
            def show() -> None:
                if report is not None:
                    ended(report)
                if error is not None and self.turns.running is not None:
                    self._fail(self.turns.running, error)
                self.show_verdicts()

            self.guarded(show)
            self.turns.over()
            self.guarded(self.changed, False)

        self.runner.start(measurement, told, heard)

    def stop(self, page: str) -> None:
        """End the run of a page, or what a control has asked for, or take the page out of those that wait.

        Heard on the thread that it arrives on, because the loop may be busy with a long call.
        """
        doing, state = self._doing, self.turns.state(page)
        if doing is not None:  # also while a run waits for its turn: this is what takes long
            doing.ask()
        if state == RUNNING or doing is not None:
            self.runner.stop()
        elif state == WAITING:
            self.callback(self._withdraw)(page)
        else:
            self.callback(lambda: self.say("Nothing is running."))()

    def _withdraw(self, page: str) -> None:
        if self.turns.withdraw(page):
            self.say(f"{page}: no longer waiting. {self.turns.queue}".strip())

    def close(self) -> None:
        """End the run, and whatever else the tabs have going."""
        self.closed = True
        self.turns.clear()
        self.runner.close()
        for close in self.closing:
            close()
        self.opened.clear()
        self.closing.clear()
        self.followed.clear()
        self.marked = lambda: None


class _Page:
    """What the pages with controls have in common: what they show, the cell that does the same, and what can
    be taken along.
    """

    name: str
    drawn = False
    """Whether there are pictures on it."""

    def __init__(self, pair: Pair, board: Board):
        self.pair, self.board, self.kit = pair, board, board.kit
        self.shown, self.copied = self.kit.html(), self.kit.html()
        self.pictures: W.HTML | None = self.kit.html() if self.drawn else None
        self.below: tuple[W.Widget, ...] = (self.copied,)
        if self.pictures is not None:
            explained = "Show links that save the pictures of this page"
            drawn = board.callback(lambda pressed: self._draw())
            hidden = self.kit.own_layout(**controls.BUTTON, display="none")
            self.save = self.kit.button("Pictures as SVG", explained, drawn, layout=hidden)
            self.below += (self.kit.row(self.save), self.pictures)
        board.when_opened(self.name, self.show)

    def show(self) -> None:
        """Show what there is now."""
        failed = self.board.failed.get(self.name)
        words = f'<p class="rulelab-failed">{sign_of("error").html()}{prose(failed)}</p>' if failed else ""
        cell = self._tab.cell(self.pair)
        same = (
            f'<p class="rulelab-cell tex2jax_ignore mathjax_ignore">The same in a cell: '
            f"<code>{_unbroken(cell)}</code></p>"
            if cell
            else ""
        )
        content = tabs.content(self._tab, self.pair)
        if failed and all(isinstance(part, Words) for part in content):
            content = ()  # that nothing was asked yet
        self.shown.value = words + html_of(self.name, content) + same
        self.copied.value = tables_html(content)
        if self.pictures is not None:
            self.pictures.value = ""
            self.save.layout.display = None if any(hasattr(part, "svg") for part in content) else "none"

    @property
    def _tab(self) -> tabs.Tab:
        return next(tab for tab in tabs.registered() if tab.name == self.name)

    def _draw(self) -> None:
        """Show links to the pictures as SVG, which take a moment to draw; asked for again, put them away."""
        assert self.pictures is not None
        again = bool(self.pictures.value)
        self.pictures.value = "" if again else pictures_html(tabs.content(self._tab, self.pair))


class _Measured(_Page):
    """A page that measures: a button that asks for it, Stop, and how far it is. Each is enabled while it does
    something.
    """

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.stop = self.kit.button("Stop", "Keep the results so far", lambda pressed: board.stop(self.name))
        self.stop.disabled = True
        self.progress = self.kit.progress()
        self.asking: list[W.Button] = []
        board.followed[self.name] = self.follow

    def asks(self, words: str, explained: str, pressed: Callable[[], None]) -> W.Button:
        """A button that asks for a run."""
        self.asking.append(self.kit.button(words, explained, self.board.callback(lambda _: pressed())))
        return self.asking[-1]

    def follow(self, state: str) -> None:
        """The buttons for this state."""
        for button in self.asking:
            button.disabled = state != IDLE
        self.stop.disabled = state == IDLE
        if state == WAITING or (state == IDLE and self.name in self.board.failed):
            self.progress.value = 0


@tabs.live("Gradients")
class Gradients(_Page):
    """The live tab of values and gradients: another size draws new arguments and compares at once."""

    name = "Gradients"
    drawn = True

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.size = self.kit.made(
            W.BoundedIntText,
            value=pair.size or 1,
            min=1,
            max=LARGEST,
            description="Size N:",
            disabled=pair.make is None or pair.size is None,
            style={"description_width": "initial"},
            layout={"width": "11em"},
        )
        self.throttle = Throttle(lambda: board.guarded(self.compare), board.loop)
        board.when_closed(self.throttle.cancel)
        self.size.observe(board.callback(lambda change: self.throttle()), "value")
        why = "" if not self.size.disabled else "These arguments have no size that could be changed."
        hint = why or "Another size draws new arguments, with the generator on the page Times, and compares."
        stopped = "Stop a comparison that takes long"
        self.stop = self.kit.button("Stop", stopped, lambda pressed: board.stop(self.name))
        self.stop.disabled = True
        row = self.kit.row(self.size, self.stop, self.kit.words(hint))
        self.widget = self.kit.column(row, self.shown, *self.below)
        self.show()

    def compare(self) -> None:
        """Compare at the size that the box shows."""
        n = self.size.value
        if n == self.pair.size:
            return
        self.board.say(f"Comparing at N = {n:,} …")
        self.stop.disabled = False
        try:
            self.pair.resize(n)
        finally:
            self.stop.disabled = True
        self.show()
        said = "" if self.pair.comparison is None else self.pair.comparison.sentence
        self.board.say(f"Compared at N = {n:,}. {said}")
        self.board.show_verdicts()
        self.board.changed(True)


@tabs.live("Times")
class Times(_Measured):
    """The live tab of times: Run and Stop, the sizes, the generator, and what was measured."""

    name = "Times"
    drawn = True

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.run = self.asks("Run", "Time both gradients, and both against the size N", self._run)
        self.rounds = self.kit.number("Rounds:", pair.rounds, 1, 100_000)
        self.smallest = self.kit.number("Smallest N:", SIZES[0], 1, LARGEST)
        self.largest = self.kit.number("Largest N:", SIZES[1], 1, LARGEST)
        self.count = self.kit.number("How many sizes:", SIZES[2], 1, 50)
        rows = [self.kit.row(self.run, self.stop, self.rounds, self.progress)]
        if pair.make is not None:
            rows.append(self.kit.row(self.smallest, self.largest, self.count))
        self.generator = None
        if board.shell is not None and pair.make is not None:
            self.generator = self.kit.made(
                W.Text,
                value=pair.make_text,
                placeholder="an argument list in n and rng, such as rng.random(n), k=2",
                description="Arguments of size n:",
                continuous_update=False,
                style={"description_width": "initial"},
                layout={"width": "auto", "max_width": "60em"},
            )
            self.generator.observe(board.callback(self._read), "value")
            rows.append(self.generator)
        self.text, self.first = pair.make_text, (pair.make, pair.make_text)
        self.widget = self.kit.column(*rows, self.shown, *self.below)
        self.show()

    def _read(self, change: Any) -> None:
        """Look at what was typed into the generator, without running any of it."""
        from .manners import parse_generator

        if change["new"].strip():
            parse_generator(change["new"])
            self.board.say("The new arguments are used from the next Run on, for the times against N.")

    def _run(self) -> None:
        self.board.ask(Request(self.name, "the times", self._timing, self._progressed, self._ended))

    def _timing(self) -> Measurement:
        """The measurement, by what the boxes say when its turn has come."""
        self._use_generator_field()
        sizes: tuple[int, ...] = ()
        if self.pair.make is not None:
            sizes = sizes_between(self.smallest.value, self.largest.value, self.count.value)
        self.board.say("Running …")
        return self.pair.timing(rounds=self.rounds.value, sizes=sizes)

    def _use_generator_field(self) -> None:
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

    def _progressed(self, progress: Progress) -> None:
        self.progress.value = percent(progress)
        self.board.say_progress("Running", progress)

    def _ended(self, times: Any) -> None:
        self.progress.value = 0 if times.interrupted else 100
        self.show()
        kept = self.pair.times is times
        nothing = "Stopped before anything was timed; the tables are from an earlier run."
        self.board.say(times.sentence if kept else nothing)


@tabs.live("Check")
class Check(_Measured):
    """The live tab of the check by numbers: Run, Stop, and the report of what was looked at."""

    name = "Check"

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.run = self.asks("Run", "Check the rule at many points", self._run)
        self.deep = self.kit.made(
            W.Checkbox,
            value=False,
            description="Deep: three times as many points",
            indent=False,
            layout={"width": "auto"},
        )
        row = self.kit.row(self.run, self.stop, self.deep, self.progress)
        self.widget = self.kit.column(row, self.shown, *self.below)
        self.show()

    def _run(self) -> None:
        self.board.ask(Request(self.name, "the check", self._checking, self._progressed, self._ended))

    def _checking(self) -> Measurement:
        self.board.say("Checking …")
        return self.pair.checking(deep=self.deep.value)

    def _progressed(self, progress: Progress) -> None:
        self.progress.value = percent(progress)
        self.board.say_progress("Checking", progress)

    def _ended(self, report: Any) -> None:
        self.progress.value = 0 if report.interrupted else 100
        self.show()
        kept = self.pair.check is report
        nothing = "Stopped before the first point was complete; the report is from an earlier run."
        self.board.say(_how_far(report) if kept else nothing)


@tabs.live("Symbolic")
class Symbolic(_Measured):
    """The live tab of the proof: SymPy is asked when the tab is first opened, and by Prove; by Derive a rule,
    for a rule.
    """

    name = "Symbolic"

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.prove = self.asks("Prove", "Ask SymPy whether the rule is right", self._prove)
        self.seconds = self.kit.number("Seconds at most:", int(PROOF_SECONDS), 1, 3600)
        self.derive = self.asks("Derive a rule", "Have SymPy write a rule from the code", self._derive)
        row = self.kit.row(self.prove, self.stop, self.seconds, self.derive, self.progress)
        self.widget = self.kit.column(row, self.shown, *self.below)
        self.begun = False
        board.when_opened(self.name, self._first)
        self.show()

    def _first(self) -> None:
        self.show()
        if self.pair.proof is None and not self.begun:
            self._prove()

    def _prove(self) -> None:
        self._ask("the proof", lambda: self.pair.proving(self.seconds.value), self._proved)

    def _derive(self) -> None:
        seconds = max(RULE_SECONDS, self.seconds.value)
        self._ask("deriving a rule", lambda: self.pair.deriving(seconds), self._derived, judges=False)

    def _ask(
        self,
        doing: str,
        make: Callable[[], Measurement],
        ended: Callable[[Any], None],
        judges: bool = True,
    ) -> None:
        self.begun = True

        def begin() -> Measurement:
            self.board.say("SymPy is working …")
            return make()

        self.board.ask(Request(self.name, doing, begin, self._progressed, ended, judges))

    def _progressed(self, progress: Progress) -> None:
        self.progress.value = percent(progress)
        words = f"SymPy is working: {progress.doing}."
        self.board.say("\n".join(filter(None, (words, self.board.turns.queue))))

    def _proved(self, report: Any) -> None:
        self._show_whole()
        kept = self.pair.proof is report
        answer = f"{said(report.verdict.word)}, in {engineering(report.seconds, 's')}."
        self.board.say(
            f"SymPy has answered: {answer}" if kept else "Stopped; the answer shown is from an earlier run."
        )

    def _derived(self, derived: Any) -> None:
        self._show_whole()
        self.board.say(f"Below is a {derived.rule.sentence}")

    def _show_whole(self) -> None:
        self.progress.value = 100
        self.show()


def _how_far(report: Any) -> str:
    """How far a check went, and its verdict; what was found stands on the page."""
    count = len(report.points)
    points = f"{count:,} point{'s' if count != 1 else ''}" if count else "no point"
    if report.interrupted:
        return f"Stopped after {points}; the report is of these."
    return f"Done: {points} in {engineering(report.seconds, 's')}. Verdict: {word_of(report.verdict)}."


class _Root(W.VBox):
    """The panel's outermost widget; where there is no kernel to draw it, it says where to look."""

    words = "This panel needs its kernel. What it showed is below."

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
        place = place_of(_shell(), self)
        if place is None:
            display(self.widget)
        else:
            place.update(self.widget)
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
        self._board.kit.close(self.widget)
        self.pair = self.widget = self._board = self._copy = self._later = None


def _built(pair: Pair, board: Board) -> _Root:
    registered = tabs.registered()
    live = [tab.live(pair, board) if tab.live is not None else _plain(tab, pair, board) for tab in registered]
    names = [tab.name for tab in registered]
    pages = board.kit.made(W.Tab, children=live, titles=names)
    board.marked = lambda: _mark(pages, registered, board)

    def turned(change: Any) -> None:
        opened = board.opened.get(names[change["new"]])
        if opened is not None:
            opened()

    pages.observe(board.callback(turned), "selected_index")
    classes = "rulelab-title tex2jax_ignore mathjax_ignore"
    title = board.kit.html(f'{controls.style()}<p class="{classes}">{escape(printable(pair.title))}</p>')
    within = [title, board.verdicts, board.status, pages]
    root = board.kit.made(_Root, children=within, layout=board.kit.own_layout())
    root.add_class("rulelab-panel")
    board.say("")
    board.show_verdicts()
    return root


def _mark(pages: W.Tab, registered: Sequence[tabs.Tab], board: Board) -> None:
    """Have each tab wear the symbol and the colour of its page's verdict, or dots while it runs or waits."""
    titles, classes = [], []
    for at, tab in enumerate(registered):
        found, state = board.judged(tab), board.turns.state(tab.name)
        if found is not None:
            classes.append(f"rulelab-tab-{at}-{controls.slug(sign_of(found[0]).word)}")
        symbol = {RUNNING: "…", WAITING: "⋮"}.get(state) or (sign_of(found[0]).symbol if found else "")
        titles.append(f"{symbol} {tab.name}".strip())
    if tuple(titles) != tuple(pages.titles):
        pages.titles = titles
    kept = [name for name in pages._dom_classes if not name.startswith("rulelab-tab-")]
    if (*kept, *classes) != pages._dom_classes:
        pages._dom_classes = (*kept, *classes)


def _plain(tab: tabs.Tab, pair: Pair, board: Board) -> W.Widget:
    """A page without controls, made again whenever somebody turns to it: the rule may be another one."""
    shown = board.kit.html()

    def show() -> None:
        shown.value = html_of(tab.name, tabs.content(tab, pair))

    show()
    board.when_opened(tab.name, show)
    return shown


def _unbroken(cell: str) -> str:
    """A cell as HTML in which no end of a line parts an option from its dashes.

    >>> _unbroken("%rule_check f --at x")
    '%rule_check f <span style="white-space: nowrap">--at</span> x'
    """
    nowrap = r'<span style="white-space: nowrap">\g<0></span>'
    return re.sub(r"(?<= )--?[a-z][\w-]*", nowrap, escape(printable(cell)))


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
