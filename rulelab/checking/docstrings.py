"""What a docstring says of each parameter in a section of its own, in the sentences that are read elsewhere:
`rate : float`, and "Positive rate." below it, is "rate is a number. rate > 0.".
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

_HAS_A_SECTION = re.compile(r"^\s*(?:Parameters\s*\n\s*-{3,}|Args:|Arguments:|:param )", re.MULTILINE)
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_BOUND = re.compile(rf"(?:^|[\s,;(])([<>]=?) ?({_NUMBER})(?!\w|\.\d)")
SIGNS = {
    **dict.fromkeys(("above", "over", "greater than", "larger than", "more than"), ">"),
    **dict.fromkeys(("below", "under", "less than", "smaller than"), "<"),
    "at least": ">=", "at most": "<=",
}
"""Words for the end of an interval, before a number."""
WORDED = rf"({'|'.join(SIGNS)}) ({_NUMBER})(?!\w|\.\d)"
BETWEEN = rf"(?:between|from|in|within) [(\[]?({_NUMBER})(?:,| and| to) ({_NUMBER})(?!\w|\.\d)"
_SIGNED = (
    (re.compile(r"\bnon-?negative\b"), ">= 0"),
    (re.compile(r"(?<!non-)\bpositive\b(?!,? (?:and|semi|definite)|-)"), "> 0"),
    (re.compile(r"(?<!non-)\bnegative\b(?!,? (?:and|semi|definite)|-)"), "< 0"),
)
_RISES = re.compile(r"\b(?:sorted|increasing|ascending|rising)\b(?! or)")
_ONE_OF_TWO = re.compile(r"(?<![\w.])(?:(?:0|-1)(?:,| or| and) ?1\b|1(?:,| or| and) ?(?:0|-1)\b)(?!\w|\.\d)")
_ARRAY = re.compile(r"\b(?:nd)?arrays?(?:[_-]like)?\b|\bsequence\b|\blist\b|\bshape\b|\(\w+,")
_NOUNS = (
    (re.compile(r"\bpositive[ -]definite\b"), "symmetric positive definite matrix"),
    (re.compile(r"\bsymmetric\b"), "symmetric matrix"),
    (re.compile(r"\bsquare matrix\b"), "square matrix"),
    (re.compile(r"\bmatrix\b"), "matrix"),
    (re.compile(r"\bvector\b"), "vector"),
)
_TYPES: Mapping[str, type] = {"int": int, "integer": int, "float": float, "scalar": float, "number": float}


def said_of(f: Any) -> str:
    """The docstring of a function, and what it says in sections once more in sentences; empty without one.

    >>> def decay(t, rate):
    ...     \"\"\"Exponential decay.
    ...
    ...     Parameters
    ...     ----------
    ...     t : ndarray, shape (n,)
    ...     rate : float
    ...         Positive rate.
    ...     \"\"\"
    >>> said_of(decay).splitlines()[-1]
    'rate is a number. rate > 0.'
    """
    doc = getattr(f, "__doc__", None) or ""
    return doc + "".join(f"\n{'. '.join(said)}." for said in _sentences(doc))


def parameter_called(word: str, names: Container[str]) -> str:
    """The parameter that a word is the name of, or its plural (doses, maturities); else the word."""
    forms = (word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word))
    return next((form for form in forms if form in names), word)


def types_said(f: Callable) -> Mapping[str, type]:
    """The parameters that such a section calls one whole number, or one number.

    >>> def power(x, k):
    ...     \"\"\"A power.
    ...
    ...     Args:
    ...         x (float): The base.
    ...         k (int): The exponent.
    ...     \"\"\"
    >>> types_said(power)
    {'x': <class 'float'>, 'k': <class 'int'>}
    """
    entries = _entries(getattr(f, "__doc__", None) or "")
    words = {name: kind.partition(",")[0].strip() for name, kind, _ in entries}
    return {name: _TYPES[word] for name, word in words.items() if word in _TYPES}


def lists_said(f: Callable) -> frozenset[str]:
    """The parameters that such a section calls a list of arrays.

    >>> def total(parts):
    ...     \"\"\"Sum.
    ...
    ...     Args:
    ...         parts (list of np.ndarray): Of one shape.
    ...     \"\"\"
    >>> sorted(lists_said(total))
    ['parts']
    """
    entries = _entries(getattr(f, "__doc__", None) or "")
    return frozenset(name for name, kind, _ in entries if _LIST_OF_ARRAYS.match(kind))


_LIST_OF_ARRAYS = re.compile(r"(?:list|sequence) of (?:np\.)?(?:(?:nd)?arrays?|vectors)\b")


@functools.lru_cache(1024)
def _entries(doc: str) -> tuple[tuple[str, str, str], ...]:
    """Each parameter of a section with its type and what is said of it, in small letters."""
    if not _HAS_A_SECTION.search(doc):
        return ()
    import docstring_parser  # most functions have no such section

    try:
        parameters = docstring_parser.parse(doc).params
    except docstring_parser.ParseError:
        return ()
    return tuple(
        (name.strip(), (one.type_name or "").lower(), " ".join((one.description or "").lower().split()))
        for one in parameters
        for name in one.arg_name.split(",")
    )


def _sentences(doc: str) -> Iterator[list[str]]:
    """What is said of each parameter of which something is."""
    for name, kind, about in _entries(doc):
        noun = _noun(kind, about)
        said = [f"{name} is {'an' if noun == 'integer' else 'a'} {noun}"] if noun else []
        said += [f"{name} {bound}" for bound in _bounds(f"{kind}; {about}")]
        if _RISES.search(f"{kind}; {about}"):
            said.append(f"{name} rises")
        if _ONE_OF_TWO.search(about) or _ONE_OF_TWO.search(kind):
            said.append(f"{name} is 0 or 1")
        if said:
            yield said


def _noun(kind: str, about: str) -> str:
    """What a parameter is in the words of a sentence; empty where that is left open."""
    is_complex = "complex " if "complex" in kind else ""
    if re.search(r"\bbool", kind):
        return "vector of booleans" if _ARRAY.search(kind) else ""
    if re.search(r"\bint(?:eger)?s?\b", kind) and _ARRAY.search(kind):
        return "vector of integers"
    for pattern, noun in _NOUNS:
        if pattern.search(kind) or noun.startswith("symmetric") and pattern.search(about):
            return is_complex + noun
    alone = _TYPES.get(kind.partition(",")[0].strip())
    if alone is not None:
        return "number" if alone is float else "integer"
    return "complex array" if is_complex and _ARRAY.search(kind) else ""


def _bounds(words: str) -> Iterator[str]:
    between = re.search(rf"\b{BETWEEN}", words)
    if between is not None:
        yield f">= {between[1]}"
        yield f"<= {between[2]}"
        return
    bound = _BOUND.search(words)
    if bound is not None:
        yield f"{bound[1]} {bound[2]}"
        return
    worded = re.search(rf"\b{WORDED}", words)
    if worded is not None:
        yield f"{SIGNS[worded[1]]} {worded[2]}"
        return
    signs = [sign for pattern, sign in _SIGNED if pattern.search(words)]
    yield from signs if len(signs) == 1 else ()  # of both kinds: of any
