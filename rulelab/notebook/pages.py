"""The live pages of the panel: the controls of each, and what it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as W

from ..errors import printable
from ..pieces import Measurement, Progress, percent
from ..tables import engineering, prose
from ..verdicts import said, sign_of, word_of
from . import controls, tabs
from .board import Board
from .copying import pictures_html, tables_html
from .pair import NO_SIZE, SIZES, Pair, Words, html_of, sizes_between
from .request_queue import IDLE, WAITING, Request
from .running import PROOF_SECONDS, RULE_SECONDS, Throttle

LARGEST = 100_000_000


class _Page:
    """What pages with controls share: their content, the cell that does the same, and what can be copied or
    saved.
    """

    name: str
    drawn = False
    """Whether there are pictures on the page."""

    def __init__(self, pair: Pair, board: Board):
        self.pair, self.board, self.kit = pair, board, board.kit
        self.shown = self.kit.html()
        self.pictures: W.HTML | None = self.kit.html() if self.drawn else None
        self.below: tuple[W.Widget, ...] = ()
        if self.pictures is not None:
            explained = "Show links that save the pictures of this page"
            drawn = board.callback(lambda pressed: self._draw())
            hidden = self.kit.own_layout(**controls.BUTTON_ALONE, display="none")
            self.save = self.kit.button("Pictures as SVG", explained, drawn, layout=hidden)
            self.below = (self.save, self.pictures)
        board.when_opened(self.name, self.show)

    def show(self) -> None:
        """Show the current content."""
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
            content = ()  # which only says that nothing was measured yet
        self.shown.value = words + html_of(self.name, content) + same + tables_html(content)
        if self.pictures is not None:
            self.pictures.value = ""
            self.save.layout.display = None if any(hasattr(part, "svg") for part in content) else "none"

    @property
    def _tab(self) -> tabs.Tab:
        return next(tab for tab in tabs.registered() if tab.name == self.name)

    def _draw(self) -> None:
        """Show links to the pictures as SVG, which take a moment to draw; at the next press, remove them."""
        assert self.pictures is not None
        again = bool(self.pictures.value)
        self.pictures.value = "" if again else pictures_html(tabs.content(self._tab, self.pair))


class _Measured(_Page):
    """A page that measures: a button that starts it, Stop, and a progress bar. Buttons are enabled only while
    they have an effect.
    """

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.stop = self.kit.button("Stop", "Keep the results so far", lambda pressed: board.stop(self.name))
        self.stop.disabled = True
        self.progress = self.kit.progress()
        self.asking: list[W.Button] = []
        board.followed[self.name] = self.follow

    def asks(self, words: str, explained: str, pressed: Callable[[], None]) -> W.Button:
        """A button that starts a run."""
        self.asking.append(self.kit.button(words, explained, self.board.callback(lambda _: pressed())))
        return self.asking[-1]

    def follow(self, state: str) -> None:
        """Enable or disable the buttons for this state."""
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
        why = "" if not self.size.disabled else f"{NO_SIZE}."
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
        """Parse what was typed into the generator, without running it."""
        from .option_values import parse_generator

        if change["new"].strip():
            parse_generator(change["new"])
            self.board.say("The new arguments are used from the next Run on, for the times against N.")

    def _run(self) -> None:
        self.board.ask(Request(self.name, "the times", self._timing, self._progressed, self._ended))

    def _timing(self) -> Measurement:
        """The measurement, with the values of the boxes when its turn comes."""
        self._use_generator_field()
        sizes: tuple[int, ...] = ()
        if self.pair.make is not None:
            sizes = sizes_between(self.smallest.value, self.largest.value, self.count.value)
        self.board.say("Running …")
        return self.pair.timing(rounds=self.rounds.value, sizes=sizes)

    def _use_generator_field(self) -> None:
        """Evaluate the generator in the field, in the user's namespace, since Run was pressed. An empty field
        means the generator with which the panel was opened.
        """
        if self.generator is None or self.generator.value.strip() == self.text:
            return
        from .option_values import generator

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
    """The live tab of the check by numbers: Run, Stop, and the report of the points checked."""

    name = "Check"

    def __init__(self, pair: Pair, board: Board):
        super().__init__(pair, board)
        self.run = self.asks("Run", "Check the rule at many points", self._run)
        self.deep = self.kit.made(
            W.Checkbox,
            value=False,
            description="Deep: two to three times as many points",
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
    """The live tab of the proof: SymPy is asked when the tab is first opened, and by Prove; Derive a rule
    asks it for a rule.
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
    """How far a check got, and its verdict; the findings are on the page."""
    count = len(report.points)
    if not count:
        how = "Stopped" if report.interrupted else "Done"
        return f"{how} before any point was checked. Verdict: {word_of(report.verdict)}."
    points = f"{count:,} point{'s' if count != 1 else ''}"
    if report.interrupted:
        return f"Stopped after {points}; the report is of these."
    return f"Done: {points} in {engineering(report.seconds, 's')}. Verdict: {word_of(report.verdict)}."


def _unbroken(cell: str) -> str:
    """A cell as HTML in which no line break separates an option from its dashes.

    >>> _unbroken("%rule_check f --at x")
    '%rule_check f <span style="white-space: nowrap">--at</span> x'
    """
    nowrap = r'<span style="white-space: nowrap">\g<0></span>'
    return re.sub(r"(?<= )--?[a-z][\w-]*", nowrap, escape(printable(cell)))
