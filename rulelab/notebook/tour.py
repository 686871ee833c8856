"""The first notebook in a terminal: each case without and with its rule, each number next to what it should
be.

The code that the story differentiates is typed, as a person would type it: text that is shown and run. It
would not do to define it here, since the compiler leaves this package's own functions alone.
"""

from __future__ import annotations

import inspect
import linecache
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from tabulate import tabulate

from .. import github
from ..ad.reverse import gradient, pullback
from ..bench.duel import gradient_duel
from ..checking import findiff
from ..compiler.calls.cache import DEFAULT as CACHE
from ..compiler.calls.cache import refresh
from ..errors import RuleLabError, register_cell_label
from ..verdicts import RIGHT, WRONG
from . import formats

CLOSE = 1e-8
"""How far a number may differ from the expected one, absolutely and relative to its size."""
DIFFERENCES = "finite differences"
CLAIM = "the story"
WRONG_RULE = "the wrong formula"


class Check(NamedTuple):
    """A result of the tour and its expected value according to `by`; arrays, numbers or words."""

    what: str
    found: Any
    expected: Any
    by: str

    @property
    def off(self) -> float:
        """The largest difference: 0 or inf for words, inf for values that cannot be compared."""
        if isinstance(self.expected, str) or isinstance(self.found, str) or self.found is None:
            return 0.0 if self.found == self.expected else math.inf
        found, expected = np.asarray(self.found), np.asarray(self.expected)
        if found.shape != expected.shape or not np.all(np.isfinite(found)):
            return math.inf
        return float(np.max(np.abs(found - expected)))

    @property
    def right(self) -> bool:
        """Whether the two agree; words must be the same, numbers agree within `CLOSE`."""
        size = 0.0 if isinstance(self.expected, str) else float(np.max(np.abs(self.expected)))
        return math.isfinite(self.off) and self.off <= CLOSE * max(1.0, size)

    def row(self) -> tuple[str, ...]:
        """The line of this check in the table."""
        off = f"{self.off:.0e}" if 0.0 < self.off < math.inf else "0" if self.off == 0.0 else "–"
        verdict = RIGHT if self.right else WRONG
        return self.what, _shown(self.found), _shown(self.expected), self.by, off, verdict

    def to_dict(self) -> dict[str, str]:
        """The same, by the names of the columns."""
        names = ("what", "found", "should be", "according to", "off by", "verdict")
        return dict(zip(names, self.row()))


class Typist:
    """A person at the keyboard: what is typed is shown indented, and run in a namespace of its own."""

    def __init__(self):
        self.names: dict[str, Any] = {"__name__": "tour"}

    def types(self, text: str) -> str:
        """Run code; what to print of it."""
        code = textwrap.dedent(text).strip("\n") + "\n"
        filename = f"<tour {id(self)}-{len(linecache.cache)}>"
        # Sources are found through the line cache, as those of notebook cells are.
        linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
        register_cell_label(filename, "the code above")
        exec(compile(code, filename, "exec"), self.names)
        return textwrap.indent(code.rstrip(), "    ")

    def __getitem__(self, name: str) -> Any:
        return self.names[name]


class Chapter(NamedTuple):
    """A part of the story; `tell` gets a typist, and yields text to print and `Check`s, in order."""

    title: str
    tell: Callable[[Typist], Iterator[str | Check]]


class ChapterResult(NamedTuple):
    """A chapter as it was told: its checks, and the error that ended it early, if any."""

    title: str
    checks: tuple[Check, ...]
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """In plain Python types, for programs."""
        checks = [check.to_dict() for check in self.checks]
        return {"title": self.title, "checks": checks, "error": self.error}

    def notes(self) -> Iterator[github.Note]:
        """What is not as it should be."""
        for check in self.checks:
            if not check.right:
                yield github.Note(WRONG, self.title, f"{check.what}: {check.row()[1]}, not {check.row()[2]}")
        if self.error:
            yield github.Note("error", self.title, self.error)


def main(chapters: Sequence[Chapter] | None = None, form: str = formats.TEXT) -> int:
    """Tell the story; 0 if every number in it is right, else 1.

    A chapter that breaks off does not end the story, but counts as wrong. As text it is told while it
    happens; in the other FORMATS only what was found is said, at the end.
    """
    say = print if form == formats.TEXT else _without_narration
    chapters = CHAPTERS if chapters is None else chapters
    heard = list(_narrated(chapters, say))
    checks = [check for chapter in heard for check in chapter.checks]
    wrong, broken = sum(not check.right for check in checks), sum(bool(chapter.error) for chapter in heard)
    is_right = bool(checks) and not wrong and not broken
    end = _end(len(checks), wrong, broken)
    say("\n")
    data = {"verdict": RIGHT if is_right else WRONG, "sentence": end, "parts": [c.to_dict() for c in heard]}
    notes = tuple(note for chapter in heard for note in chapter.notes())
    formats.say(formats.TextResult(end, data, notes), form)
    return 0 if is_right else 1


def _narrated(chapters: Sequence[Chapter], say: Callable[[str], object]) -> Iterator[ChapterResult]:
    user = Typist()
    say(user.types(IMPORTS))
    for number, chapter in enumerate(chapters, start=1):
        title, told, broken = f"{number}. {chapter.title}", list[Check](), ""
        say(f"\n\n{title}\n{'=' * len(title)}")
        try:
            for part in chapter.tell(user):
                told.append(part) if isinstance(part, Check) else say(f"\n{part}")
        except Exception as error:
            broken = f"{type(error).__name__}: {error}"
            say(f"\nThis part failed: {broken}")
        if told:
            say(f"\n{_table(told)}")
        yield ChapterResult(title, tuple(told), broken)


def _without_narration(words: str) -> None:
    """Where a program listens, the story is not told."""


def _end(count: int, wrong: int, broken: int) -> str:
    parts = f" {broken} part{'s' if broken > 1 else ''} failed." if broken else ""
    if wrong or broken or not count:
        return f"{count - wrong} of {count} results are as they should be.{parts}"
    return f"All {count} results are as they should be. The notebook has the same examples: rulelab lab"


def _table(checks: Sequence[Check]) -> str:
    columns = ("what", "found", "should be", "according to", "off by", "")
    return tabulate([check.row() for check in checks], columns, disable_numparse=True)


def _shown(value: Any) -> str:
    if isinstance(value, str) or value is None:
        return str(value)
    if np.ndim(value):
        array = np.asarray(value)
        shown = np.array2string(array, precision=3, threshold=4, edgeitems=1, suppress_small=True)
        return f"{shown} ({len(array)})" if len(array) > 4 else shown
    return f"{value:.10g}"


def _refusal(ask: Callable[[], object]) -> RuleLabError | None:
    """The error that a question is answered with; None if it is answered."""
    try:
        ask()
    except RuleLabError as error:
        return error
    return None


def _quoted(error: RuleLabError | None) -> str:
    words = "(no error)" if error is None else f"{type(error).__name__}: {error}"
    return textwrap.indent(words, "    ")


def _refused(what: str, error: RuleLabError | None, kind: str, line: int) -> Check:
    """That an error is of a kind and names this line of the code above."""
    place = None if error is None else error.place
    found = "no error" if error is None else type(error).__name__
    if place is not None:
        found += f", line {place.line}"
    return Check(what, found, f"{kind}, line {line}", CLAIM)


def _gradients(f: Callable, *args, said: str = "") -> Iterator[Check]:
    """Each gradient of a call beside finite differences."""
    names = list(inspect.signature(f).parameters)
    for name, ours, theirs in zip(names, gradient(f, *args), findiff.gradient(f, *args)):
        yield Check(f"{f.__name__}{said}: gradient of {name}", ours, theirs, DIFFERENCES)


def _seeded(what: str, f: Callable, x: Any, expected: Any, by: str) -> Check:
    """What the pullback of a function of one argument answers to the seed 10."""
    return Check(f"{what}: back(10.0)", pullback(f, x)[1](10.0)[0], expected, by)


def _tenfold(f: Callable, x: Any) -> Any:
    """The expected answer of a pullback to the seed 10: the derivative of ten times the function."""
    return findiff.gradient(lambda x: 10.0 * f(x), x)[0]


def _timed(f: Callable, f_cr: Callable, *args) -> str:
    """The faster of the two, measured now."""
    duel = gradient_duel(f, f_cr, *args, rounds=20)
    loop = duel.others[0]
    return f"Measured now: {duel.sentence}\n({loop.name}: {loop.median * 1e6:.1f} µs)"


IMPORTS = """
import ctypes
import math

import numpy as np

import rulelab as rl
"""


# -- a hidden write ---------------------------------------------------------------------------------------


def tell_addone(user: Typist) -> Iterator[str | Check]:
    """A write is refused; a rule makes it differentiable; the printed rule forgets the seed."""
    yield user.types("""
        def addone(a):
            b = np.empty_like(a)
            b[:] = a + 1
            return np.sum(b)

        a = np.array([1.0, 2.0, 3.0])
    """)
    addone, a = user["addone"], user["a"]
    error = _refusal(lambda: gradient(addone, a))
    yield f"Without a rule, rl.gradient(addone, a) ends in\n\n{_quoted(error)}"
    yield _refused("addone without a rule", error, "MutationError", 3)
    yield "With a rule, in the same session, it has a gradient:"
    yield user.types("""
        @rl.rrule_for(addone)
        def addone_rrule(a):
            y = addone(a)

            def addone_pullback(y_bar):
                return rl.NoTangent(), y_bar * np.ones(len(a))

            return y, addone_pullback
    """)
    yield from _gradients(addone, a, said=" with its rule")
    yield (
        "Texts on this subject print a rule that ignores y_bar. rl.gradient calls the pullback with 1 and\n"
        "cannot tell; a call with 10 can: tens are right. We put that rule on a copy:"
    )
    yield user.types("""
        addone_printed = rl.twin(addone, "addone_printed")

        @rl.rrule_for(addone_printed)
        def addone_printed_rrule(a):
            y = addone(a)

            def addone_printed_pullback(y_bar):
                return rl.NoTangent(), np.ones(len(a))

            return y, addone_printed_pullback
    """)
    yield _seeded("right rule", addone, a, _tenfold(addone, a), DIFFERENCES)
    yield _seeded("printed rule", user["addone_printed"], a, np.ones(3), WRONG_RULE)


# -- try and except ---------------------------------------------------------------------------------------


def tell_exception(user: Typist) -> Iterator[str | Check]:
    """Nothing is thrown, so it works either way; SymPy judges the rule and the printed one."""
    yield user.types("""
        def exception(x):
            try:
                return x**2
            except Exception:
                print("could not square input")
    """)
    exception = user["exception"]
    yield from _gradients(exception, 3.0, said=" without a rule")
    yield user.types("""
        @rl.rrule_for(exception)
        def exception_rrule(x):
            y = exception(x)

            def exception_pullback(y_bar):
                return rl.NoTangent(), 2 * x * y_bar

            return y, exception_pullback
    """)
    yield from _gradients(exception, 3.0, said=" with its rule")
    yield "Again a printed rule that ignores y_bar, on a copy:"
    yield user.types("""
        exception_printed = rl.twin(exception, "exception_printed")

        @rl.rrule_for(exception_printed)
        def exception_printed_rrule(x):
            y = exception(x)

            def exception_printed_pullback(y_bar):
                return rl.NoTangent(), 2 * x

            return y, exception_printed_pullback
    """)
    yield _seeded("right rule", exception, 3.0, _tenfold(exception, 3.0), DIFFERENCES)
    yield _seeded("printed rule", user["exception_printed"], 3.0, 6.0, WRONG_RULE)
    yield from _judged(exception, user["exception_printed"])


def _judged(right: Callable, printed: Callable) -> Iterator[str | Check]:
    from ..symbolic import prove  # here, because SymPy takes most of a second to import

    proved, refuted = prove(right), prove(printed)
    sentences = (f"    {report.function}: {report.verdict.sentence()}" for report in (proved, refuted))
    yield "SymPy compares the formulas themselves:\n\n" + "\n".join(sentences)
    yield Check("right rule, by SymPy", proved.verdict.word, "PROVED", CLAIM)
    yield Check("printed rule, by SymPy", refuted.verdict.word, "REFUTED", CLAIM)


def tell_safe_sqrt(user: Typist) -> Iterator[str | Check]:
    """Something is thrown: the value stands, and only the derivative is refused."""
    yield user.types("""
        def safe_sqrt(x):
            try:
                return math.sqrt(x)
            except ValueError:
                return 0.0
    """)
    safe_sqrt = user["safe_sqrt"]
    yield from _gradients(safe_sqrt, 4.0, said=" without a rule")
    value, back = pullback(safe_sqrt, -1.0)
    error = _refusal(lambda: back(1.0))
    yield (
        f"value, back = rl.pullback(safe_sqrt, -1.0) gives a value, {value}; only back(1.0) ends in\n\n"
        f"{_quoted(error)}"
    )
    yield Check("safe_sqrt(-1.0) without a rule", value, 0.0, "the handler")
    yield _refused("back(1.0) without a rule", error, "CatchBlockError", 4)
    yield "You know the answer there, so a rule can say it:"
    yield user.types("""
        @rl.rrule_for(safe_sqrt)
        def safe_sqrt_rrule(x):
            y = safe_sqrt(x)

            def safe_sqrt_pullback(y_bar):
                return rl.NoTangent(), 0.0 if x < 0 else y_bar / (2 * y)

            return y, safe_sqrt_pullback
    """)
    for x in (4.0, -1.0):
        yield from _gradients(safe_sqrt, x, said=f" with its rule, at {x}")


# -- a loop -----------------------------------------------------------------------------------------------


def tell_mse(user: Typist) -> Iterator[str | Check]:
    """Two rules for one loop; what each gains is read off the clock."""
    yield user.types("""
        def mse(y, yh):
            n = len(y)
            s = 0.0
            for i in range(n):
                s += (y[i] - yh[i]) ** 2.0
            return s / n

        rng = np.random.default_rng(2024)
        y, yh = rng.random(30), rng.random(30)
    """)
    yield "A rule whose value still comes from the loop, and one that uses arrays throughout:"
    yield user.types("""
        mse_cr, mse_fast = rl.twin(mse, "mse_cr"), rl.twin(mse, "mse_fast")

        @rl.rrule_for(mse_cr)
        def mse_cr_rrule(y, yh):
            out = mse(y, yh)

            def mse_cr_pullback(out_bar):
                g = 2 / len(y) * (y - yh) * out_bar
                return rl.NoTangent(), g, -g

            return out, mse_cr_pullback

        @rl.rrule_for(mse_fast)
        def mse_fast_rrule(y, yh):
            difference = y - yh
            n = len(y)

            def mse_fast_pullback(out_bar):
                g = 2 / n * out_bar * difference
                return rl.NoTangent(), g, -g

            return difference @ difference / n, mse_fast_pullback
    """)
    mse, mse_cr, mse_fast, y, yh = (user[name] for name in ("mse", "mse_cr", "mse_fast", "y", "yh"))
    for f in (mse, mse_cr, mse_fast):
        yield from _gradients(f, y, yh)
    yield Check("mse_fast: value", pullback(mse_fast, y, yh)[0], mse(y, yh), "mse itself")
    yield _timed(mse, mse_cr, y, yh)
    yield _timed(mse, mse_fast, y, yh)


# -- three elements of thirty -----------------------------------------------------------------------------


def tell_sum3(user: Typist) -> Iterator[str | Check]:
    """One gradient array, by the machine and by hand."""
    yield user.types("""
        def sum3(array):
            x = array[0]
            y = array[1]
            z = array[2]
            return x + y + z

        sum3_cr = rl.twin(sum3, "sum3_cr")

        @rl.rrule_for(sum3_cr)
        def sum3_cr_rrule(array):
            y = sum3(array)

            def sum3_cr_pullback(y_bar):
                array_bar = np.zeros(len(array))
                array_bar[:3] = y_bar
                return rl.NoTangent(), array_bar

            return y, sum3_cr_pullback

        thirty = rng.random(30)
    """)
    sum3, sum3_cr, thirty = user["sum3"], user["sum3_cr"], user["thirty"]
    for f in (sum3, sum3_cr):
        yield from _gradients(f, thirty)
    yield _timed(sum3, sum3_cr, thirty)


# -- a call into C ----------------------------------------------------------------------------------------


def tell_jclock(user: Typist) -> Iterator[str | Check]:
    """C is opaque, so a rule is the only way; the printed one has the wrong formula."""
    yield "clock_times is a C function. The clock it reads is ours, and stands still, so that results repeat."
    yield user.types("""
        def ticks():
            return 15_460_639.0

        @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
        def clock_times(x):
            return ticks() * x

        def jclock(x):
            return clock_times(x)
    """)
    jclock = user["jclock"]
    error = _refusal(lambda: gradient(jclock, 0.5))
    yield f"Without a rule, rl.gradient(jclock, 0.5) ends in\n\n{_quoted(error)}"
    yield _refused("jclock without a rule", error, "ForeignCallError", 9)
    yield "With a rule, and with the printed one (y_bar * y, too small by the factor x) on a copy:"
    yield user.types("""
        jclock_printed = rl.twin(jclock, "jclock_printed")

        @rl.rrule_for(jclock)
        def jclock_rrule(x):
            y = jclock(x)

            def jclock_pullback(y_bar):
                return rl.NoTangent(), y_bar * y / x

            return y, jclock_pullback

        @rl.rrule_for(jclock_printed)
        def jclock_printed_rrule(x):
            y = jclock(x)

            def jclock_printed_pullback(y_bar):
                return rl.NoTangent(), y_bar * y

            return y, jclock_printed_pullback
    """)
    yield from _gradients(jclock, 0.5, said=" with its rule")
    tens = _tenfold(jclock, 0.5)
    yield _seeded("right rule", jclock, 0.5, tens, DIFFERENCES)
    yield _seeded("printed rule", user["jclock_printed"], 0.5, 0.5 * tens, WRONG_RULE)


# -- an integral ------------------------------------------------------------------------------------------


def tell_area(user: Typist) -> Iterator[str | Check]:
    """Simpson's rule differentiated strip by strip, and by the fundamental theorem of calculus."""
    yield user.types("""
        def bell(t):
            return math.exp(-t * t)

        def area(a, b, *, n=1000):
            h = (b - a) / n
            total = bell(a) + bell(b)
            for i in range(1, n):
                total += (4.0 if i % 2 else 2.0) * bell(a + i * h)
            return total * h / 3.0

        area_cr = rl.twin(area, "area_cr")

        @rl.rrule_for(area_cr)
        def area_cr_rrule(a, b, *, n=1000):
            y = area(a, b, n=n)

            def area_cr_pullback(y_bar):
                return rl.NoTangent(), -bell(a) * y_bar, bell(b) * y_bar

            return y, area_cr_pullback
    """)
    area, area_cr = user["area"], user["area_cr"]
    yield Check("area(0.0, 1.0)", area(0.0, 1.0), math.sqrt(math.pi) / 2 * math.erf(1.0), "sqrt(pi)/2 erf(1)")
    for f in (area, area_cr):
        yield from _gradients(f, 0.0, 1.0)
    apart = "        ".join(f"n = {n}: {_apart(area, area_cr, n):.0e} apart" for n in (10, 1000))
    yield (
        "The rule is the derivative of the integral, the machine's answer that of the sum. They differ by\n"
        "the error of Simpson's rule, which for n = 1000 is lost in rounding and for n = 10 is not:\n\n"
        f"    {apart}"
    )
    yield _timed(area, area_cr, 0.0, 1.0)


def _apart(f: Callable, f_cr: Callable, n: int) -> float:
    pairs = zip(gradient(f, 0.0, 1.0, n=n), gradient(f_cr, 0.0, 1.0, n=n))
    return max(abs(ours - theirs) for ours, theirs in pairs)


# -- restarting the REPL ----------------------------------------------------------------------------------


def tell_refresh(user: Typist) -> Iterator[str | Check]:
    """In the mode manual an old derivation lives on; in the mode auto a rule counts at once."""
    mode, listeners = CACHE.mode, CACHE.on_notice
    notices: list[str] = []
    CACHE.on_notice = [notices.append]
    try:
        yield from _refresh_story(user, notices)
    finally:
        CACHE.on_notice = listeners
        refresh(mode)


def _refresh_story(user: Typist, notices: list[str]) -> Iterator[str | Check]:
    refresh("auto")  # which also forgets what earlier chapters left behind
    yield user.types("""
        def cube(x):
            return x**3

        rl.gradient(cube, 2.0)
        rl.refresh("manual")
    """)
    yield "Only now is a rule defined. It reports when it is called:"
    yield user.types("""
        notes = []

        @rl.rrule_for(cube)
        def cube_rrule(x):
            def cube_pullback(y_bar):
                notes.append("the rule")
                return rl.NoTangent(), 3 * x**2 * y_bar

            return x**3, cube_pullback
    """)
    yield from _found_by(user, "manual", "the derived code")
    yield "In the mode manual it exists but is not used. A warning says so:\n\n    " + "\n    ".join(notices)
    stale = refresh().stale
    reasons = "\n".join(f"    {one.function}: {one.reason}" for one in stale)
    yield f"rl.refresh() does what restarting the REPL did, and lists what was out of date:\n\n{reasons}"
    yield from _found_by(user, "manual, after refresh()", "the rule")
    yield Check("notices", len(notices), 1, CLAIM)
    yield Check("out of date", ", ".join(str(one.function) for one in stale), "cube", CLAIM)
    yield "In the mode auto, the default, a rule that is removed or defined takes effect at once:"
    yield user.types("""
        rl.refresh("auto")
        rl.remove_rule(cube)
    """)
    yield from _found_by(user, "auto, rule removed", "the derived code")
    yield user.types("rl.rrule_for(cube)(cube_rrule)")
    yield from _found_by(user, "auto, rule made again", "the rule")


def _found_by(user: Typist, moment: str, expected: str) -> Iterator[Check]:
    """The gradient of cube at this moment, and who gave it."""
    cube, notes = user["cube"], user["notes"]
    notes.clear()
    yield Check(f"{moment}: gradient", gradient(cube, 2.0)[0], findiff.gradient(cube, 2.0)[0], DIFFERENCES)
    yield Check(f"{moment}: found by", notes[0] if notes else "the derived code", expected, CLAIM)


CHAPTERS = (
    Chapter("A hidden write: addone", tell_addone),
    Chapter("try and except, nothing raised: exception", tell_exception),
    Chapter("try and except, something raised: safe_sqrt", tell_safe_sqrt),
    Chapter("A loop: mse", tell_mse),
    Chapter("Three elements of thirty: sum3", tell_sum3),
    Chapter("A call into C: jclock", tell_jclock),
    Chapter("An integral by Simpson's rule: area", tell_area),
    Chapter("Why you had to restart the REPL: cube", tell_refresh),
)
