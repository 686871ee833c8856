"""The terminal that output goes to: whether it has colours, and how wide it is."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from .verdicts import SIGNS, word_of

NARROWEST = 40
"""The minimal number of columns for which a text is wrapped."""
NOTEBOOK = 76
"""Columns of an error or a notice in a notebook: JupyterLab breaks lines longer than its page within words,
and a page of 800 pixels has room for this many."""

_BOLD = 1
_COLOURS = {**{word: sign.terminal for word, sign in SIGNS.items()}, "heading": _BOLD}
_SEQUENCE = re.compile(r"\x1b\[[\d;]*m")


def has_colour(stream: Any = None) -> bool:
    """Whether text written to a stream, standard output by default, may have colours.

    A non-empty `NO_COLOR` says no, a non-empty `FORCE_COLOR` yes; otherwise terminals have colours unless
    they are dumb. Notebooks have none, because they store their output; their kernel sets `FORCE_COLOR` for
    the programs that it starts.
    """
    if os.environ.get("NO_COLOR") or _is_of_a_kernel(sys.stdout if stream is None else stream):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return _is_terminal(stream) and os.environ.get("TERM") != "dumb"


def width(stream: Any = None) -> int | None:
    """The columns of the terminal; None, for lines of any length, if the stream is not a terminal."""
    if not _is_terminal(stream):
        return None
    import shutil  # here, because it imports archive and compression modules

    return max(NARROWEST, shutil.get_terminal_size().columns)


def painted(text: str, as_what: str, *, colour: bool | None = None) -> str:
    """The text in the colour of a verdict, or as a heading; unchanged if there are no colours.

    >>> painted("right", "right", colour=True), painted("right", "right", colour=False)
    ('\\x1b[32mright\\x1b[0m', 'right')
    """
    code = _COLOURS.get(as_what)
    return f"\x1b[{code}m{text}\x1b[0m" if code and (has_colour() if colour is None else colour) else text


def without_colour(text: str) -> str:
    """The text without colour codes.

    >>> without_colour(painted("right", "right", colour=True))
    'right'
    """
    return _SEQUENCE.sub("", text)


def broken(line: str, columns: int | None) -> list[str]:
    """A line wrapped between words; all lines after the first are indented by two spaces.

    >>> broken("one two three", None), broken("one two three", 8)
    (['one two three'], ['one two', '  three'])
    >>> broken("type %rule_stub f", 14)
    ['type', '  %rule_stub f']
    >>> broken("    back((1.0, 2.0))[1]    # gives 3, should be 4", 32)
    ['    back((1.0, 2.0))[1]', '    # gives 3, should be 4']
    >>> broken("arguments come after --at: %grad_compare f f_cr --at x", 44)
    ['arguments come after --at:', '  %grad_compare f f_cr --at x']
    >>> broken("by hand: %adjoint f(x) shows it, %rule_stub f a skeleton", 44)
    ['by hand: %adjoint f(x) shows it,', '  %rule_stub f a skeleton']
    >>> broken("Interrupted: %grad_bench was stopped after 20 rounds", 44)
    ['Interrupted: %grad_bench was stopped after', '  20 rounds']
    """
    if columns is None or len(line) <= columns or "\n" in line:
        return [line]
    if found := _COMMENTED.match(line):  # a comment continued on the next line would be code there
        code, comment = found.groups()
        indent = code[: len(code) - len(code.lstrip())]
        return [*broken(code, columns), f"{indent}{comment}"]
    if _CHANGED.match(line):
        return _in_parts(line, "", columns)
    indent = line[: len(line) - len(line.lstrip())] + "  "
    room = columns - len(indent)
    found = _ENDS_IN_A_COMMAND.fullmatch(line)
    if found and len(found[2]) <= room:
        return [*broken(found[1], columns), f"{indent}{found[2]}"]
    parts = textwrap.wrap(
        _WHOLE.sub(lambda found: found[0].replace(" ", _KEPT) if len(found[0]) <= room else found[0], line),
        columns,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [line]
    return [part.replace(_KEPT, " ") for part in parts]


_WHOLE = re.compile(r"`[^`]+`[,.:;)]?|%%?\w+ [\w.]{1,24}|[-+\d.e]*\d ± \d[-+\d.e]*")
"""Text that is read or copied as a whole, and is not wrapped: a formula in backticks, a magic with its first
argument, a number with its error."""
_KEPT = "\ue001"
_COMMENTED = re.compile(r"( {4,}\S.*?) {4}(# .*)")
"""A line of code to paste, which ends in a comment."""
_ENDS_IN_A_COMMAND = re.compile(r"(.* .*:) (%%?\w+ [^%]*)")
"""A sentence that ends in a magic to be copied: that has a line of its own, if it fits on one. What
follows the name of an error is a sentence.
"""
_CHANGED = re.compile(r" {4}[-+] ")
"""The beginning of a line of code that a diff removes or adds."""


_VERDICTS = "|".join(SIGNS)
_VERDICT = re.compile(rf"\b({_VERDICTS})\b")
_AT_START = re.compile(rf"^\s*({_VERDICTS})(?=:)")


def coloured(lines: Sequence[str], *, colour: bool | None = None) -> list[str]:
    """The lines of a report with its verdicts in colour: in the headline, and at the beginning of lines.

    >>> coloured(["1 check: wrong.", "the rule is wrong"], colour=False)
    ['1 check: wrong.', 'the rule is wrong']
    """
    if not (has_colour() if colour is None else colour):
        return list(lines)

    def painting(found: re.Match[str]) -> str:
        return found[0].replace(found[1], painted(found[1], found[1], colour=True))

    return [(_AT_START if n else _VERDICT).sub(painting, line) for n, line in enumerate(lines)]


def _judged(lines: Sequence[str], headline: str, verdict: str) -> list[str]:
    """The lines of a report with a single verdict, whose word is in colour in the headline; if the headline
    does not contain it, the headline's first line is. Words of other verdicts have no colour, as in "no digit
    is right".
    """
    shown, word = list(lines), re.compile(rf"\b{verdict}\b", re.IGNORECASE)
    begins = next((n for n, line in enumerate(shown) if line.strip() and headline.startswith(line)), None)
    if begins is None:
        return shown
    at = next((n for n in range(begins, min(begins + _LINES, len(shown))) if word.search(shown[n])), begins)
    part = word if word.search(shown[at]) else _ALL
    shown[at] = part.sub(lambda found: painted(found[0], verdict, colour=True), shown[at], 1)
    return shown


_ALL = re.compile(".+")
_LINES = 3
"""The number of lines of a wrapped headline that are searched for its verdict."""


_columns: ContextVar[int | None] = ContextVar("columns", default=None)


@contextlib.contextmanager
def fitted(columns: int | None) -> Iterator[None]:
    """Within the block, tables are laid out for this many columns; None for as many as they need."""
    before = _columns.set(columns)
    try:
        yield
    finally:
        _columns.reset(before)


def on_screen(text: object, stream: Any = None, *, beside: int = 0) -> str:
    """The text of a report for a stream: in a terminal it is wrapped to its width, with verdicts in colour.

    A single line may stand `beside` a prompt of this many columns; several lines stand below it.
    """
    columns, colour = width(stream), has_colour(stream)
    with fitted(columns):
        lines = str(text).split("\n")
        code: Sequence[str] = getattr(text, "code_lines", tuple)()
        shown = fitting(lines, columns, code)
        if columns is not None and len(shown) == 1:
            shown = fitting(lines, columns - beside, code)
        lines = shown
    headline, verdict = _headline(text) if colour else ("", "")
    shown = _judged(lines, headline, verdict) if verdict else coloured(lines, colour=colour)
    return "\n".join(shown)


def _headline(report: Any) -> tuple[str, str]:
    """The first sentence of a report and its verdict; empty for an object without them."""
    if not hasattr(report, "page"):
        return "", ""
    page = report.page()
    return (page.lead[0], word_of(page.verdict)) if page.verdict and page.lead else ("", "")


def of_message(lines: Sequence[str], stream: Any = None) -> list[str]:
    """The lines of an error or a notice, wrapped for a stream or a notebook."""
    stream = sys.stdout if stream is None else stream
    return fitting(lines, NOTEBOOK if _is_of_a_kernel(stream) else width(stream))


def fitting(lines: Sequence[str], columns: int | None, code: Sequence[str] = ()) -> list[str]:
    """The lines wrapped between words; a caret stays below the text that it points at, and lines of `code`,
    which are to be copied, are unchanged.
    """
    left, parts, kept = list(lines), [], frozenset(code)
    while left:
        line = left.pop(0)
        if line in kept:
            parts.append(line)
        elif left and _points(left[0]):
            parts += broken_with_caret(line, left.pop(0), columns)
        else:
            parts += broken(line, columns)
    return parts


def _points(line: str) -> bool:
    """Whether a line consists of one or several carets, which point at the line above it."""
    return "^" in line and not line.strip("^ ")


def broken_with_caret(line: str, caret: str, columns: int | None) -> list[str]:
    """A line of code with a caret below it, wrapped so that the caret stays below the text that it points at.
    The place of the code gets a line of its own first.

    >>> code = "f.py, line 3: return alpha + beta"
    >>> print("\\n".join(broken_with_caret(code, " " * 29 + "^^^^", 24)))
    f.py, line 3:
      return alpha + beta
                     ^^^^
    >>> print("\\n".join(broken_with_caret(code, " " * 29 + "^^^^", 18)))
    f.py, line 3:
      return alpha +
        beta
        ^^^^
    """
    if columns is None or max(len(line), len(caret.rstrip())) <= columns:
        return [line, caret.rstrip()]
    if place := _PLACE.match(line):
        left_out = place.end() - len(place["indent"]) - _INDENT
        code, below = place["indent"] + " " * _INDENT + line[place.end() :], caret[left_out:]
        return [place[0].rstrip(), *_in_parts(code, below, columns)]
    return _in_parts(line, caret, columns)


_INDENT = 2
_PLACE = re.compile(r"(?P<indent> *)\S[^:]*\bline \d+(?:, in [^:]+)?: ")


def _in_parts(line: str, caret: str, columns: int) -> list[str]:
    parts: list[str] = []
    while max(len(line), len(caret.rstrip())) > columns:
        start = line[: len(line) - len(line.lstrip())]
        end = _end_of_code(line, len(start) + 1, columns)
        if end < 0 or len(start) + 2 > columns // 2:
            end = columns
        parts += [line[:end].rstrip(), caret[:end].rstrip()]
        indent, left_out = start if parts[2:] else start + "  ", len(line[end:]) - len(line[end:].lstrip())
        line, caret = indent + line[end:].lstrip(), indent + caret[end + left_out :]
    parts += [line, caret.rstrip()]
    return [part for number, part in enumerate(parts) if number % 2 == 0 or part.strip()]


def _end_of_code(line: str, first: int, columns: int) -> int:
    """The position of the space at which a line of code is best broken, or -1 if there is none: in as few
    brackets as possible, rather after a comma than within a formula, and as late as possible. One that leaves
    a short line is used only if there is no other.
    """
    depth, best, end = 0, (False, 0, False), -1
    for at, letter in enumerate(line[: columns + 1]):
        depth += (letter in "([{") - (letter in ")]}")
        if letter != " " or at < first or not line[:at].strip(" +-"):
            continue
        rank = (at > columns // 3, -depth, line[at - 1] == ",")
        if end < 0 or rank >= best:
            best, end = rank, at
    return end


HEAD_PADDING = 2
"""Spaces that tabulate adds to the header of a column."""
LEAST_COLUMN = 9
"""The minimal width of a column of a table; if there is less room, rows are written as lists."""
LONGEST_WORD = 24
"""Words of up to this many characters, such as numbers, are never cut; longer paths or names may be."""


def column_widths(rows: Sequence[Sequence[str]], kept: Sequence[bool] = ()) -> list[int | None] | None:
    """The width of each column so that a table fits, None for a column that needs no wrapping. None instead
    of a list if the table cannot fit without cutting words. The first row has the headers. Columns marked in
    `kept` are not wrapped.

    >>> with fitted(30):
    ...     column_widths([("name", "a long sentence in a cell"), ("x", "y")])
    [None, 22]
    >>> with fitted(24):
    ...     print(column_widths([("a", "b", "c"), ("-4.4984968", "-4.4984968", "x")]))
    None
    """
    columns = _columns.get()
    heads, *cells = rows
    table = [[head, *(row[n] for row in cells)] for n, head in enumerate(heads)]
    needed = [max([len(column[0]) + HEAD_PADDING, *map(len, column[1:])]) for column in table]
    if columns is None:
        return [None] * len(needed)
    room, keep = columns - 2 * (len(needed) - 1), [*kept, *[False] * (len(needed) - len(kept))]
    least = [n if k else min(n, _least_width(column)) for n, k, column in zip(needed, keep, table)]
    if sum(least) > room:
        return None
    cap = max(needed, default=0)
    while cap > LEAST_COLUMN and sum(max(low, min(n, cap)) for n, low in zip(needed, least)) > room:
        cap -= 1
    widths = [max(low, min(n, cap)) for n, low in zip(needed, least)]
    return [None if width >= n else width for width, n in zip(widths, needed)]


def _least_width(column: Sequence[str]) -> int:
    """The width that a column needs so that no word is cut; its first cell is the header."""
    words = [len(word) + HEAD_PADDING for word in column[0].split()]
    words += [len(word) for cell in column[1:] for word in cell.split()]
    return max(LEAST_COLUMN, min(max(words, default=0), LONGEST_WORD))


def _is_of_a_kernel(stream: Any) -> bool:
    return type(stream).__module__.partition(".")[0] == "ipykernel"


def _is_terminal(stream: Any) -> bool:
    stream = sys.stdout if stream is None else stream
    return stream is not None and stream.isatty()
