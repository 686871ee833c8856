"""The exceptions that users can meet, and the form of their messages."""

from __future__ import annotations

import itertools
import linecache
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

WIDTH = 160  # columns of a line on screen
MOST_CELLS = 4096  # cell labels remembered; a long session forgets its oldest cells

_labels: OrderedDict[str, str] = OrderedDict()
_labels_lock = threading.Lock()


def register_cell_label(filename, label):
    """Remember that code of `filename` is to be called `label` ("cell In [3]") in messages.

    The notebook tells this for each cell that runs; the table is bounded and forgets the oldest.
    """
    with _labels_lock:
        _remember(filename, label)


def _remember(filename, label):
    _labels[filename] = label
    _labels.move_to_end(filename)
    while len(_labels) > MOST_CELLS:
        _labels.popitem(last=False)


_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
# Controls of the upper half, marks of direction, separators of lines, and halves of surrogate pairs.
_UNSEEN = dict.fromkeys(
    [
        *range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A),
        *range(0xD800, 0xE000),
    ],
    "\ufffd",
)  # fmt: skip


def printable(text):
    """The text with a sign in place of each character that has an effect instead of being visible.

    A name or a message of others may hold terminal commands, marks that turn the direction of the text, or
    half of a surrogate pair, which cannot be written to a file or sent to a page. One sign stands for one
    character, so that a caret below a line keeps its place.

    >>> printable("\x1b[31mred")
    '␛[31mred'
    """
    return text if text.isprintable() else text.translate(_CONTROLS).translate(_UNSEEN)


def an(name):
    """A word, usually the name of a class, with its article.

    >>> an("int"), an("float"), an("ndarray"), an("uint8"), an("OSError")
    ('an int', 'a float', 'an ndarray', 'a uint8', 'an OSError')
    """
    word = str(name).lower()
    vowel = word[:1] in tuple("aeio") or (word[:1] == "u" and not word.startswith(_LIKE_YOU))
    return f"an {name}" if vowel or word.startswith(_SPELLED) else f"a {name}"


_LIKE_YOU = ("uni", "use", "uint", "ufunc", "ut")
_SPELLED = ("nd", "rrule", "nt")


def An(name):
    """A word with its article at the beginning of a sentence.

    >>> An("int")
    'An int'
    """
    return f"A{an(name)[1:]}"


class Place(NamedTuple):
    """A spot in somebody's source: `column` and `end_column` count from 0, as `ast` does.

    >>> Place("model.py", 12, function="loss").label()
    'model.py, line 12, in loss'
    """

    filename: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str | None = None
    text: str | None = None

    @classmethod
    def of_function(cls, function):
        """The place where a Python function is defined."""
        code = function.__code__
        return cls(code.co_filename, code.co_firstlineno, function=code.co_name)

    @classmethod
    def of_frame(cls, frame):
        """The place that a frame is at, with the columns of the expression being run."""
        return cls._at(frame.f_code, frame.f_lasti, frame.f_lineno)

    @classmethod
    def of_step(cls, step):
        """The place that a step of a traceback is at, with the columns of the expression that was run."""
        return cls._at(step.tb_frame.f_code, step.tb_lasti, step.tb_lineno)

    @classmethod
    def _at(cls, code, last, line):
        columns = (None, None)
        here = last // 2
        for start, end, column, end_column in itertools.islice(code.co_positions(), here, here + 1):
            columns = (column, end_column if start == end else None)
            line = start or line
        return cls(code.co_filename, line, *columns, code.co_name)

    @property
    def calls(self):
        """The calls that lead here by themselves, outermost first: those of functions that were inlined."""
        return ()

    def label(self):
        """How a message calls this place: the cell by its number, a file by its name."""
        known = _labels.get(self.filename)
        where = known if known is not None else _short(self.filename)
        inside = f", in {self.function}" if self.function and self.function != "<module>" else ""
        return f"{where}, line {self.line}{inside}"

    def lines(self):
        """The line behind the name of its place, and below it a caret under the spot.

        >>> print("\\n".join(Place("f.py", 3, 7, 12, text="    return x / 0").lines()))
        f.py, line 3: return x / 0
                         ^^^^^
        """
        return [printable(line.replace("\n", " ")) for line in _place_lines(self, ())]

    def code_lines(self):
        """The line without its label, and the caret below it; nothing where the text cannot be found.

        >>> Place("f.py", 3, 7, 12, text="    return x / 0").code_lines()
        ['return x / 0', '   ^^^^^']
        """
        head = f"{_clip(self.label(), 3 * WIDTH // 4)}: "
        return [line[len(head) :] for line in self.lines()] if self.source().strip() else []

    def source(self):
        """The text of the line, without its newline; empty if it cannot be found."""
        if self.text is not None:
            return self.text.rstrip("\n")
        return line_of(self.filename, self.line)


class PlaceInlined(Place):
    """A spot in a function whose body stands in place of its calls."""

    _calls = ()

    @classmethod
    def reached(cls, place, calls):
        """A place, with the calls of which it stands in the place."""
        made = cls(*place)
        made._calls = calls
        return made

    @property
    def calls(self):
        return self._calls


# The names of texts that were given without one. From Python 3.13 on the line cache has an entry for them:
# what stood behind `python -c`, whoever asks.
NAMELESS = frozenset({"<string>", "<stdin>"})


def line_of(filename, line):
    """A line of a file or cell, without its newline; empty if it cannot be found, or the name is no name."""
    if filename in NAMELESS:
        return ""
    try:
        return linecache.getline(filename, line).rstrip("\n")
    except ValueError:  # no file can have such a name: a NUL in it, or half of a surrogate pair
        return ""


def _short(filename):
    """A file by its name; one that every package has by its folder as well."""
    if filename.startswith("<"):
        return filename
    parts = filename.replace("\\", "/").split("/")
    return "/".join(parts[-2:] if parts[-1] in ("__init__.py", "__main__.py") else parts[-1:])


def _clip(text, width=WIDTH):
    """The text in one line of so many columns, cut behind a word.

    >>> _clip("neither of the two words", 16)
    'neither of the …'
    """
    text = " ".join(str(text).split())
    if len(text) <= width:
        return text
    whole = text[: width - 1].rpartition(" ")[0]
    if len(whole) < width // 2:  # a word, or a path, that is longer than the rest of the line
        return text[: width - 1] + "…"
    return whole + " …"


def to_do(fixes):
    """The fixes in one line, each in full.

    >>> print(to_do(["pass a number", "write a rule"]))
    do: pass a number; or write a rule
    """
    return "do: " + "; or ".join(fixes)


def _alternatives(fixes):
    """The fixes in one line, as many as fit on it in full.

    >>> print(_alternatives(["pass a number", "write a rule " + "of its own " * 20]))
    do: pass a number; or …
    """
    line = to_do(fixes)
    fitting = len(fixes)
    while len(line) > WIDTH and fitting > 1:
        fitting -= 1
        line = to_do((*fixes[:fitting], "…"))
    return _clip(line)


def _utf8_columns(source, column, end_column):
    """Columns in characters: Python counts them in UTF-8 bytes."""
    if column is None or source.isascii():
        return column, end_column
    raw = source.encode(errors="replace")  # half of a surrogate pair has no bytes
    end = None if end_column is None else len(raw[:end_column].decode(errors="replace"))
    return len(raw[:column].decode(errors="replace")), end


def _place_lines(place, chain):
    """The user's line behind its label, and below it the caret."""
    source = place.source()
    column, end = _utf8_columns(source, place.column, place.end_column)
    label = place.label()
    steps = [step for spot in chain for step in (*spot.calls, spot)]
    steps += place.calls
    if steps:
        label += " (reached from " + " → ".join(map(_step, steps)) + ")"
    head = _clip(label, 3 * WIDTH // 4) + ": "
    code = source.lstrip()
    if not code:
        return [head[:-2]]
    start = 0 if column is None else column - (len(source) - len(code))
    room = WIDTH - len(head)
    skip = max(0, start - room // 2) if len(code) > room else 0
    lead = "…" if skip else ""
    shown = _clip_code(lead + code[skip + len(lead) :], room)
    lines = [head + shown]
    at = start - skip
    if column is not None and 0 <= at < len(shown):
        marks = 1 if end is None else max(1, min(end - column, len(shown) - at))
        lines.append(" " * (len(head) + at) + "^" * marks)
    return lines


def _step(spot):
    """A call on the way to the place: the function and its line, which is enough beside the full label."""
    return f"{spot.function}, line {spot.line}" if spot.function else spot.label()


def _clip_code(text, width):
    text = text.replace("\t", " ")
    return text if len(text) <= width else text[: width - 1] + "…"


class RuleLabError(Exception):
    """The form of every refusal of rulelab: five parts, at most six lines of 160 columns.

    Parameters
    ----------
    found : str
        The headline: what was found.
    asked : str, optional
        What was asked.
    place : Place, optional
        The user's own line.
    fixes : str or sequence of str
        What to do, in order of preference.
    read : str, optional
        A section of the manual.
    chain : sequence
        The calls that led to the place, outermost first.

    Examples
    --------
    >>> print(RuleLabError("No rule for foo", asked="gradient of f(3.0)", fixes=["write a rule"]))
    No rule for foo
    asked: gradient of f(3.0)
    do: write a rule
    """

    def __init__(
        self,
        found: str,
        *,
        asked: str | None = None,
        place: Place | None = None,
        fixes: Any = (),
        read: str | None = None,
        chain: Any = (),
    ) -> None:
        super().__init__(found)
        self.found = found
        self.asked = asked
        self.place = place
        self.fixes = (fixes,) if isinstance(fixes, str) else tuple(fixes)
        self.read = read
        self.chain = tuple(chain)

    def __str__(self):
        lines = [_clip(self.found)]
        if self.asked:
            lines.append(_clip(f"asked: {self.asked}"))
        if self.place is not None:
            lines.extend(_place_lines(self.place, self.chain))
        if self.fixes:
            lines.append(_alternatives(self.fixes))
        if self.read:
            lines.append(_clip(f"read: {self.read}"))
        return "\n".join(printable(line.replace("\n", " ")) for line in lines)

    def __reduce__(self):
        return _rebuilt, (type(self), dict(self.__dict__))


def _rebuilt(cls, state):
    error = cls.__new__(cls, state["found"])
    error.args = (state["found"],)
    error.__dict__.update(state)
    return error


class MutationError(RuleLabError):
    """An array that a derivative depends on, or an object in use elsewhere, was about to be changed.

    Raised at the write, before it happens, so that nothing is lost.
    """


class MutatedAfterCaptureError(RuleLabError):
    """What the forward pass saved was changed before the pullback ran.

    The old values are needed, but are gone: call `back` first, or give `pullback` a copy.
    """


class ForeignCallError(RuleLabError):
    """A function without Python source and without a rule was given something that carries a gradient.

    C code cannot be read; write a rule for it.
    """


class CatchBlockError(RuleLabError):
    """A cotangent reached what an exception handler had computed.

    The value is right and was returned; but how far the `try` had got cannot be known.
    """


class ScalarOutputError(RuleLabError):
    """A gradient was requested of a function whose result is not one real number.

    Use `pullback`, with a cotangent of your choice.
    """


class UnsupportedSyntaxError(RuleLabError):
    """The function has code that cannot be differentiated, such as `yield`, `async` or a class definition.

    Raised before anything runs, with the place.
    """


class SourceMismatchError(RuleLabError):
    """The text found for a function is not the code that is running.

    The file was edited under the function, or something rewrote its code: define it again.
    """


class SourceNotFoundError(RuleLabError):
    """No source text could be found for a function.

    It was defined by `exec`, `eval` or at a bare prompt: define it in a file or in a cell.
    """


class RuleError(RuleLabError):
    """A rule, or its pullback, returned something that cannot be right.

    The message names the rule and the line where it was written.
    """


class RuleCountError(RuleError):
    """A pullback returned the wrong number of cotangents.

    One is due for the function itself and one for each positional parameter, those with defaults included.
    """


class RuleShapeError(RuleError):
    """A cotangent does not have the shape or the structure of its primal.

    Cotangents are never broadcast: sum over the axes that the function repeated.
    """


class RuleDtypeError(RuleError):
    """A cotangent is of a kind that cannot belong to its primal: text, None, an object.

    A zero is `ZeroTangent()`; what has no derivative is `NoTangent()`.
    """


class RuleEffectsError(RuleError):
    """A rule changed something that belongs to its caller: an argument or a cotangent.

    Work on a copy. `is_sharing` is true if it changed nothing, but what it returned is not its own: it
    shares memory with something else, or cannot be written to.
    """

    is_sharing = False


class DerivationError(RuleError):
    """No rule can be derived from this function, or the one that was derived did not pass its checks.

    The message says what stood in the way, and where in the function. Rules are derived as formulas
    or statement by statement.

    Parameters
    ----------
    found : str
        What stood in the way of a rule by formulas.
    also : str, optional
        What stood in the way of a rule statement by statement, shown on a line of its own.
    **parts
        Those of `RuleLabError`.

    Examples
    --------
    >>> print(DerivationError("it branches", also="a loop changes what it goes through"))
    it branches
    a loop changes what it goes through
    """

    def __init__(self, found: str, *, also: str = "", **parts: Any) -> None:
        super().__init__(found, **parts)
        self.also = also

    def __str__(self):
        found, *others = super().__str__().split("\n")
        return "\n".join([found, *[printable(_clip(self.also))] * bool(self.also), *others])


class RuleRegistrationError(RuleLabError):
    """A rule cannot be stated in this way; refused when it is registered.

    The rules that were registered before stay.
    """


class AmbiguousRuleError(RuleLabError):
    """Two rules fit the types of a call equally well.

    State a third for exactly these types.
    """


class NotImplementedTangentError(RuleLabError):
    """A cotangent was needed that the author of its rule has not derived.

    It was made by `not_implemented`; the message shows where.
    """


class NotDifferentiableError(RuleLabError):
    """A derivative was requested of something that has none, or none that rulelab knows.

    The message says what it was and what to write instead.
    """


def items_refused(kind, place=None, because="", do="convert it to a list first"):
    """The error for something of a class whose items have no cotangents: they have no positions."""
    if not because and issubclass(kind, (set, frozenset)):
        because = ": equal items are merged"
    return NotDifferentiableError(
        f"The items of {an(kind.__name__)} cannot be differentiated{because}",
        place=place,
        fixes=(do,),
        read="limitations#iteration",
    )


class ThunkMutationError(RuleLabError):
    """A delayed value, a `Thunk`, was written to.

    Write to `unthunk(t)`, if it is yours.
    """


class InternalError(RuleLabError):
    """rulelab itself failed where it should have answered or refused. This is a bug: please report it. Until
    it is fixed, write a rule for the function.
    """


class WrongTransformError(InternalError):
    """A compiled pass does not compute what the function itself computes.

    This is a bug, found before a wrong derivative was returned: please report it, with the function.
    """


class KeywordError(RuleLabError):
    """A keyword argument that a rule does not cover, or one that would lose its derivative."""


class MeasurementError(RuleLabError):
    """The bench cannot make a measurement in the way that was requested."""


class RecordError(RuleLabError):
    """A saved result that cannot be read or written."""


class ExportError(RuleLabError):
    """A rule cannot be exported as requested.

    Something that it needs has no source text, or no counterpart in the target. Nothing has been written.
    """
