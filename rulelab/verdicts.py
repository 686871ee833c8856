"""The words of verdicts, one set for numbers, proofs, comparisons, scans and benches.

Four words say what is known: *right*, *wrong*, *cannot tell* and *not judged*. PROVED and REFUTED say how it
is known. The values of `.verdict` are for programs, and stay: here is what each of them is called.
"""

from __future__ import annotations

RIGHT, WRONG, CANNOT_TELL, NOT_JUDGED = "right", "wrong", "cannot tell", "not judged"

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
}
_HOW = {
    "PROVED": "PROVED",
    "REFUTED": "REFUTED",
    "AGREES": "but for rounded constants",
    "CONVERGES": "in the limit of many steps",
}


def word_of(verdict: str) -> str:
    """What a value of `.verdict`, or of its `.word`, is called: one of the four words.

    >>> word_of("inconclusive"), word_of("REFUTED"), word_of("right")
    ('cannot tell', 'wrong', 'right')
    """
    return _WORDS[verdict]


def said(verdict: str) -> str:
    """The same with how it is known, where there is a word for that.

    >>> said("PROVED"), said("UNDECIDED")
    ('right, PROVED', 'cannot tell')
    """
    return ", ".join(filter(None, (word_of(verdict), _HOW.get(verdict))))


# --- headlines ----------------------------------------------------------------------------------------------

HEADLINE = 110
"""Characters of a headline at most: what is longer is said on the line below."""
_NAME = 32
_BRIEFLY = ((" of length ", " "), ("contiguous ", ""), ("positive definite", "pos. def."))


def headed(sentence: str, *names: str) -> tuple[str, ...]:
    """A sentence as a headline, and the line below it that says what the headline leaves out, if it does.

    Long ones of the `names` in it are shortened in the middle, and kinds of arguments abbreviated; what is
    too long all the same goes on below.

    >>> headed("rule of f: right, PROVED for numbers; float64", "f")
    ('rule of f: right, PROVED for numbers; float64',)
    >>> for line in headed(f"rule of f: wrong: {'this, and ' * 10}that", "f"): print(line)
    rule of f: wrong: this, and this, and this, and this, and this, and this, and this, and this, and this, …
    … and this, and that
    """
    if len(sentence) <= HEADLINE:
        return (sentence,)
    brief = sentence
    for name in sorted(set(names), key=len, reverse=True):
        brief = brief.replace(name, shortened_name(name)) if len(name) > _NAME else brief
    for words, fewer in _BRIEFLY:
        brief = brief if len(brief) <= HEADLINE else brief.replace(words, fewer)
    if len(brief) <= HEADLINE:
        return brief, sentence
    end = _end_of_line(brief)
    head = f"{brief[:end].rstrip()} …"
    return (head, f"… {brief[end:].lstrip()}") if brief == sentence else (head, sentence)


def shortened_name(name: str) -> str:
    """A long name without its middle.

    >>> shortened_name("a_package.of_some_length.and_a_function_with_a_name")
    'a_package.of_s…tion_with_a_name'
    """
    return name if len(name) <= _NAME else f"{name[: _NAME // 2 - 2]}…{name[-(_NAME // 2) :]}"


def _end_of_line(words: str) -> int:
    """Where a line ends best: after a part of the sentence, or else after a word."""
    room = HEADLINE - 2
    parts = max(words.rfind(mark, 0, room) for mark in (": ", "; ", ", "))
    if parts > room // 2:
        return parts + 1
    space = words.rfind(" ", 0, room)
    return space if space > room // 2 else room
