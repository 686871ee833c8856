"""The words of verdicts, one set for numbers, proofs, comparisons, scans and benches.

Four words say what is known: *right*, *wrong*, *cannot tell* and *not judged*. PROVED and REFUTED say how it
is known. The values of `.verdict` are for programs, and do not change: this module maps them to words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

RIGHT, WRONG, CANNOT_TELL, NOT_JUDGED = "right", "wrong", "cannot tell", "not judged"
FASTER, SLOWER = "faster", "slower"
LOSES_DIGITS = "loses digits"
NOT_JUDGED_BY_AN_ERROR = f"{NOT_JUDGED} because of an error"

_WORDS = {
    RIGHT: RIGHT,
    WRONG: WRONG,
    "inconclusive": CANNOT_TELL,
    "error": NOT_JUDGED,
    "skipped": NOT_JUDGED,
    "PROVED": RIGHT,
    "REFUTED": WRONG,
    "AGREES": RIGHT,
    "CONVERGES": RIGHT,
    "UNDECIDED": CANNOT_TELL,
    "UNSUPPORTED": NOT_JUDGED,
    CANNOT_TELL: CANNOT_TELL,
    NOT_JUDGED: NOT_JUDGED,
    FASTER: FASTER,
    SLOWER: SLOWER,
    LOSES_DIGITS: LOSES_DIGITS,
}
_HOW = {
    "PROVED": "PROVED",
    "REFUTED": "REFUTED",
    "AGREES": "but for rounded constants",
    "CONVERGES": "in the limit of many steps",
}


def word_of(verdict: str) -> str:
    """The word for a value of `.verdict`, or of its `.word`: one of the four words, "faster" or "slower" for
    two times, or "loses digits" for a scan.

    >>> word_of("inconclusive"), word_of("REFUTED"), word_of("right")
    ('cannot tell', 'wrong', 'right')
    """
    return _WORDS[verdict]


def said(verdict: str) -> str:
    """The word for a verdict, followed by how it is known if there is a word for that.

    >>> said("PROVED"), said("UNDECIDED")
    ('right, PROVED', 'cannot tell')
    """
    return ", ".join(filter(None, (word_of(verdict), _HOW.get(verdict))))


# --- signs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sign:
    """The display of a verdict: the word, a symbol that needs no colour, a background colour on which white
    is legible, and the colour in a terminal (the number of an SGR sequence).
    """

    word: str
    symbol: str
    colour: str
    terminal: int

    def html(self) -> str:
        """The symbol, white on its colour. The style is inline, because some hosts remove style sheets."""
        return (
            f'<span class="rulelab-sign" style="background: {self.colour}; color: #ffffff; {_SIGN_STYLE}">'
            f"{self.symbol}</span>"
        )


_SIGN_STYLE = (
    "display: inline-block; min-width: 1.35em; box-sizing: border-box; padding: 0 0.25em; "
    "margin-right: 0.45em; border-radius: 0.7em; text-align: center; font-weight: 700; line-height: 1.35;"
)
SIGNS = {
    sign.word: sign
    for sign in (
        Sign(WRONG, "✗", "#b3261e", 31),
        Sign(LOSES_DIGITS, "!", "#9a4600", 33),
        Sign(CANNOT_TELL, "?", "#7a5600", 33),
        Sign(NOT_JUDGED, "–", "#5f6368", 90),
        Sign(RIGHT, "✓", "#1a7037", 32),
        Sign(SLOWER, "▼", "#7b3fa0", 35),
        Sign(FASTER, "▲", "#0b5cad", 36),
    )
}
"""The sign of each word, the most urgent first."""


def sign_of(verdict: str) -> Sign:
    """The sign of a value of `.verdict`, or of its `.word`.

    >>> sign_of("REFUTED").symbol, sign_of("inconclusive").word
    ('✗', 'cannot tell')
    """
    return SIGNS[word_of(verdict)]


def most_pressing(verdicts: Iterable[str]) -> str | None:
    """The most urgent of some verdicts, as a word: a wrong one comes before an unknown one; None if there are
    none.

    >>> most_pressing(["right", "UNDECIDED", "faster"])
    'cannot tell'
    """
    words = {word_of(verdict) for verdict in verdicts}
    return next((word for word in SIGNS if word in words), None)


# --- headlines ----------------------------------------------------------------------------------------------

HEADLINE = 110
"""The maximal number of characters of a headline; the rest goes to the line below."""
BELOW = "(named below)"
"""What stands in a headline for kinds of arguments that take too many characters."""
_NAME = 32
_BRIEFLY = (("vectors of length ", "vectors "), ("positive definite", "pos. def."))


def headed(sentence: str, *names: str) -> tuple[str, ...]:
    """A sentence as a headline and, if that leaves something out, a second line below it.

    Long `names` are shortened in the middle, and given in full below; kinds of arguments are abbreviated. A
    sentence that is still too long continues below.

    >>> headed("rule of f: right, PROVED for numbers; float64", "f")
    ('rule of f: right, PROVED for numbers; float64',)
    >>> for line in headed(f"rule of f: wrong: {'this, and ' * 10}that", "f"): print(line)
    rule of f: wrong:
    this, and this, and this, and this, and this, and this, and this, and this, and this, and this, and that
    >>> for line in headed(f"rule of f: wrong: {'enough ' * 16}off", "f"): print(line)
    rule of f: wrong: enough enough enough enough enough enough enough enough enough enough enough enough …
    … enough enough enough enough off
    >>> told = f"Check: wrong: {'far ' * 12}off (cell In [18], line 4, in f_rrule). %rule_check f"
    >>> for line in headed(told): print(line)
    Check: wrong: far far far far far far far far far far far far off (cell In [18], line 4, in f_rrule).
    %rule_check f
    """
    if len(sentence) <= HEADLINE:
        return (sentence,)
    brief = _abbreviated(sentence)
    if len(brief) <= HEADLINE:
        return (brief,)
    brief = sentence
    for name in sorted(set(names), key=len, reverse=True):
        brief = brief.replace(name, shortened_name(name)) if len(name) > _NAME else brief
    brief = _abbreviated(brief)
    if len(brief) <= HEADLINE:
        return brief, sentence
    full = brief.rfind(". ", 0, HEADLINE + 1) + 1
    if full > HEADLINE // 3:
        return brief[:full], brief[full + 1 :] if brief == sentence else sentence
    end, ends_a_part = _end_of_line(brief, brief == sentence)
    if brief == sentence and ends_a_part:
        return brief[:end].rstrip(), brief[end:].lstrip()
    head = f"{brief[:end].rstrip(' :;,')} …"
    return (head, f"… {brief[end:].lstrip()}") if brief == sentence else (head, sentence)


def _abbreviated(sentence: str) -> str:
    """A sentence with kinds of arguments abbreviated, as far as its length requires."""
    for words, fewer in _BRIEFLY:
        sentence = sentence if len(sentence) <= HEADLINE else sentence.replace(words, fewer)
    return sentence


def _end_of_verdict(sentence: str) -> int:
    """The position after the last colon, where a reason begins that fits on a line of its own, without the
    sentences after it; 0 if there is none, or only a name comes before it.

    >>> told = "rule of f: wrong, REFUTED (numbers): the cotangent of x is wrong for arguments of length 7"
    >>> told[: _end_of_verdict(told)]
    'rule of f: wrong, REFUTED (numbers):'
    """
    colon = sentence.rfind(": ", 0, HEADLINE)
    fits = len(sentence[colon + 2 :].partition(". ")[0]) <= HEADLINE
    told = ": " in sentence[:colon] or sentence[:colon].endswith((RIGHT, WRONG, CANNOT_TELL, NOT_JUDGED))
    return colon + 1 if fits and told else 0


def shortened_name(name: str) -> str:
    """A long name without its middle.

    >>> shortened_name("a_package.of_some_length.and_a_function_with_a_name")
    'a_package.of_s…tion_with_a_name'
    """
    return name if len(name) <= _NAME else f"{name[: _NAME // 2 - 2]}…{name[-(_NAME // 2) :]}"


def _outside(words: str) -> str:
    """The text with underscores in place of everything in brackets and in code, of the same length."""
    return re.sub(r"\([^()]*(\)|$)", lambda found: "(" + "_" * (len(found[0]) - 1), _without_code(words))


def _without_code(words: str) -> str:
    """The text with underscores in place of everything in backticks, of the same length."""
    return re.sub(r"`[^`]*`", lambda found: "_" * len(found[0]), words)


def _end_of_line(words: str, goes_on: bool) -> tuple[int, bool]:
    """The best position to end a line, and whether a part of the sentence ends there: after such a part or
    before a bracket, otherwise after a word. If the text `goes_on` below, the reason may stand there alone.
    """
    room = HEADLINE - 2
    outside = _outside(words)
    parts = max(outside.rfind(mark, 0, room) for mark in (": ", "; ", ", ", " ("))
    ends_well = parts > room // 2
    if goes_on and not (ends_well and outside[parts] != ",") and (verdict := _end_of_verdict(outside)):
        return verdict, True
    if ends_well:
        return parts + 1, True
    space = _without_code(words).rfind(" ", 0, room)
    return (space if space > room // 2 else room), False
