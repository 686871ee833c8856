"""The numbers of axes that a docstring gives for parameters: numbers, either numbers or arrays, arrays of any
shape, images.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from .by_name import is_image_name, is_matrix_name
from .docstrings import docstring_text, in_one_line, parameter_called, words_about
from .kinds import Kind, lengths_in, of_lengths
from .own_docstrings import docstring_of

_COMMA = r"(?:, and |, or |, | and | or )"
_NAMES = rf"((?:\w+(?:{_COMMA}| ?[<>]=? ?))*\w+)"
"""Names, in a list or compared: lo < hi, numbers or arrays."""
_NUMBER = r"(?:numbers?|scalars?|floats?)"
_ARRAY = r"(?:(?:numpy |np\.)?(?:nd)?arrays?(?:[_-]like)?|vectors?|matri(?:x|ces)|lists?|sequences?)"
_PLAIN = r"(?:(?:an?|one|single|plain|real|positive|negative|python|1-?d|numpy) )*"
OR_AN_ARRAY = rf"(?:,? or |/){_PLAIN}{_ARRAY}\b"
OR_A_NUMBER = rf"(?:,? or |/){_PLAIN}{_NUMBER}\b"
"""Words after a noun that make it only one of two."""
_GOES_ON = (
    "and|or|that|which|who|in|of|between|above|below|from|with|for|greater|larger|less|smaller|to|at|is|are|not"
    "|but|as|where|when|beside|within|only|too|on|over|under|by|per|if"
)
IN_ALL = (
    rf"(?!{OR_AN_ARRAY})(?! (?!(?:{_GOES_ON})\b)[a-z])(?!,? (?:of )?shape)"
    r"(?!(?:,? one)? (?:for|per|of|in|at) (?:each|every|all))"
)
"""Nothing follows the noun of a number that changes its meaning: a float array, a scalar field, numbers for
each site.
"""
_ONE_EACH = r",? or one \w+ (?:per|for (?:each|every)) \w+\b"
_EITHER = rf"(?:{_NUMBER}{OR_AN_ARRAY}|{_ARRAY}{OR_A_NUMBER}|{_NUMBER}{_ONE_EACH})"
_LINKS = r"(?: real)?(?: is| are| can be| may be|,| ?:| ?\()(?: (?=\S))?(?:which (?:is|are|can be|may be) )?"
_SAID_EITHER = re.compile(rf"\b{_NAMES}{_LINKS}(?:either )?{_PLAIN}{_EITHER}")
_EITHER_BEHIND = re.compile(rf"\b{_PLAIN}{_EITHER} {_NAMES}\b")
_MAY_BE_AN_ARRAY = re.compile(rf"\b{_NAMES} (?:can|may|might)(?: also)? be {_PLAIN}{_ARRAY}\b")
_ARGUMENTS = r"(?:arguments|parameters|inputs|variables|quantities|of them)"
_ARE_NUMBERS = rf"(?: are| being|:| must be| should be| as)(?: all)? {_PLAIN}{_NUMBER}\b{IN_ALL}"
_ALL = re.compile(
    r"(?:\b[Aa]ll (?:of )?(?:the |its )?|[.;,(] ?(?:the |its |both )?|^(?:the |its )?)(?<!other )"
    rf"{_ARGUMENTS}{_ARE_NUMBERS}"
    r"|\b(?:[Ee]very|[Ee]ach) (?:argument|parameter|input) (?:is|must be) "
    rf"{_PLAIN}{_NUMBER}\b(?!{OR_AN_ARRAY})"
    rf"|[.;,(] ?all(?: are)? {_PLAIN}{_NUMBER}(?= ?[.;,)]|$)"
    rf"|\b(?:numbers|scalars|floats) only\b|\bonly (?:numbers|scalars|floats)\b(?!{OR_AN_ARRAY})"
    r"|\b(?:of|for|takes|with) (?:plain |real )*scalar (?:arguments|parameters|inputs)\b"
    rf"|\bof plain (?:real )?{_NUMBER}(?! [a-z])(?!{OR_AN_ARRAY})|\b[Ss]calars? in, (?:a )?scalars? out\b"
)
_CALLED = re.compile(
    rf"\b{_NAMES}(?: ?: ?| ?\(| being | must be | should be ){_PLAIN}({_NUMBER})\b"
    rf"{IN_ALL}(?! (?:of|in|per|from|for|between)\b)"
)
_LIKE_ANOTHER = re.compile(
    rf"\b{_EITHER} (?:of|with|in) (?:the )?(?:same )?(?:shape|length|size) (?:of|as) (?:the )?(\w+)\b"
)
"""A number or an array of the shape of p: then p is an array."""
_ANY = (
    r"(?:any (?:nd)?arrays?"
    r"|(?:nd)?arrays? (?:of|with) any (?:\w+ )?(?:shape|rank|size|dimensions?|axes)"
    r"|n-?d(?:imensional)? arrays?|vectors?,? or (?:an? )?matri(?:x|ces)"
    r"|matri(?:x|ces) or (?:an? )?vectors?)\b"
)
_IS_ANY = re.compile(rf"\b{_NAMES}{_LINKS}(?:both |all )?(?:an? )?{_ANY}")
_OF_ANY_SHAPE = re.compile(rf"\b{_NAMES},? of any (?:\w+ )?(?:shape|rank|size|dimensions?)\b")
_ANY_BEHIND = re.compile(rf"\b{_ANY} {_NAMES}\b")
_IMAGE = r"(?:an?|the|two|both|gr[ae]y(?:scale)?|one) (?:gr[ae]y(?:scale)? )?images?\b"
_AN_IMAGE = re.compile(rf"\b{_NAMES}{_LINKS}{_IMAGE}")
_IMAGE_BEHIND = re.compile(rf"\b{_IMAGE} {_NAMES}\b")
_MATRICES = re.compile(r"\bmatrices\b")
_LEADING = re.compile(r"\b(\w+)(?: is| has|:|,)?(?: of)?(?: shape)? ?\(\.\.\., ?(\w+(?:, ?\w+)*),?\)")
_SHAPED = r"(?: an?)?(?: vector| matrix| array)?(?: of|,)?(?: shape)? ?\((\w+,(?: ?\w+)?)\)"
_ONE_OF_SHAPES = re.compile(rf"\b(\w+)(?: is| has|:|,)?{_SHAPED},? or{_SHAPED}")

_NUMBER_OR_SHAPE = re.compile(
    r"\b(?:one|an?|single) (?:number|scalar|float),? or (?:an? )?(?:(?:array|vector) )?(?:of |with )?"
    r"(?:shape )?\((\w+, ?)\)"
)


def numbers_called(names: tuple[str, ...], text: str) -> frozenset[str]:
    """The parameters that a text calls numbers after a colon or in parentheses; all of them if it says so of
    all.

    >>> sorted(numbers_called(("x", "k"), "A spring: x (an array), k (a positive number)."))
    ['k']
    >>> sorted(numbers_called(("x", "k"), "A spring; all arguments are numbers."))
    ['k', 'x']
    """
    if _ALL.search(text):
        return frozenset(names)
    found = ((tuple(_last_of(those, names)), noun) for those, noun in _CALLED.findall(text))
    return frozenset(name for those, noun in found if are_each(noun, those) for name in those)


def are_each(noun: str, names: Collection[str]) -> bool:
    """Whether a noun describes each of the parameters: a plural does not describe a single one."""
    return not noun.endswith("s") or len(names) > 1


def of_either_rank(names: tuple[str, ...], text: str) -> frozenset[str]:
    """The parameters that a text describes as numbers or arrays.

    >>> sorted(of_either_rank(("lo", "hi", "s"), "Where lo < hi, numbers or arrays of one shape; s is one."))
    ['hi', 'lo']
    """
    return _ends_of((_SAID_EITHER, _EITHER_BEHIND, _MAY_BE_AN_ARRAY), names, text)


def numbers_beside_arrays(names: tuple[str, ...], text: str) -> frozenset[str]:
    """The parameters that are numbers because a text says only of others that they may be arrays.

    >>> sorted(numbers_beside_arrays(("rate", "mean", "scv"), "The rate may be an array; scv is a ratio."))
    ['mean', 'scv']
    """
    arrays = _ends_of((_MAY_BE_AN_ARRAY,), names, text)
    return frozenset(names) - arrays if arrays else frozenset()


def ranks_said(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of different ranks that a function states for a parameter: all of these are intended.

    >>> def energy(r, depth):
    ...     "At distances r (any array); the depth is a number."
    >>> {name: list(map(str, kinds)) for name, kinds in ranks_said(energy).items()}
    {'r': ['a vector', 'a matrix']}
    >>> def solved(A, b):
    ...     "A is (n, n), b a vector (n,) or a matrix (n, k)."
    >>> {name: list(map(str, kinds)) for name, kinds in ranks_said(solved).items()}
    {'b': ['a vector (n)', 'a matrix (n, k)']}
    >>> def normed(x, gain):
    ...     "Over the last axis; x is (..., d), gain (d,)."
    >>> {name: list(map(str, kinds)) for name, kinds in ranks_said(normed).items()}
    {'x': ['a vector (d)', 'a matrix (m, d)']}
    >>> def loss(scores, wanted):
    ...     \"\"\"A loss.
    ...
    ...     Args:
    ...         scores (ndarray): any shape.
    ...         wanted (ndarray): same shape.
    ...     \"\"\"
    >>> {name: list(map(str, kinds)) for name, kinds in ranks_said(loss).items()}
    {'scores': ['a vector', 'a matrix'], 'wanted': ['a vector', 'a matrix']}
    >>> def annuity(qx, payment):
    ...     \"\"\"The present value.
    ...
    ...     qx: probabilities, shape (n,)
    ...     payment: amount of each year, one number or shape (n,)
    ...     \"\"\"
    >>> {name: list(map(str, kinds)) for name, kinds in ranks_said(annuity).items()}
    {'payment': ['a number', 'a vector (n)']}
    """
    code = getattr(f, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    text = in_one_line(docstring_text(f))
    found: dict[str, tuple[Kind, ...]] = {}
    if "square" not in text:
        images = _ends_of((_AN_IMAGE, _IMAGE_BEHIND), names, text).union(filter(is_image_name, names))
        found |= dict.fromkeys(images, IMAGES)
    if _MATRICES.search(text):
        found |= dict.fromkeys(filter(is_matrix_name, names), _OF_ANY_RANK[1:])
    found |= dict.fromkeys(of_either_rank(names, text), _OF_EITHER_RANK)
    others = (parameter_called(word, names) for word in _LIKE_ANOTHER.findall(text))
    found |= dict.fromkeys((name for name in others if name not in found), _OF_ANY_RANK[:1])
    found |= dict.fromkeys(_ends_of((_IS_ANY, _OF_ANY_SHAPE, _ANY_BEHIND), names, text), _OF_ANY_RANK)
    found |= dict.fromkeys(_of_any_shape(names, words_about(f)), _OF_ANY_RANK)
    for name, inside in _LEADING.findall(text):
        lengths = lengths_in(inside)
        found[name] = of_lengths(lengths), of_lengths((_letter_apart_from(text), *lengths))
    for name, one, other in _ONE_OF_SHAPES.findall(text):
        found[name] = of_lengths(lengths_in(one)), of_lengths(lengths_in(other))
    for name, words in words_about(f).items():
        if one_or_each := _NUMBER_OR_SHAPE.search(words):
            found[name] = Kind(), of_lengths(lengths_in(one_or_each[1]))
    return {name: found[name] for name in names if name in found}


_ANY_SHAPE = re.compile(r"\bany (?:\w+ )?(?:shape|rank|dimensions?)\b|\bn-?d(?:imensional)? array\b")
_SAME_SHAPE = re.compile(r"\b(?:same|equal|that) shape\b")


def _of_any_shape(names: tuple[str, ...], about: Mapping[str, str]) -> Iterator[str]:
    """The parameters described as having any shape, and those described as having the same shape."""
    found = {name for name in names if _ANY_SHAPE.search(about.get(name, ""))}
    yield from found
    if found:
        yield from (name for name in names if _SAME_SHAPE.search(about.get(name, "")))


IMAGES = (Kind("matrix", dims=("h", "w")),)
_OF_EITHER_RANK = (Kind(), Kind("vector"))
_OF_ANY_RANK = (Kind("vector"), Kind("matrix"))


def _letter_apart_from(text: str) -> str:
    """A letter for a length that a text does not use."""
    used = set(re.findall(r"\b\w\b", text))
    return next(letter for letter in "mkpqrstuvw" if letter not in used)


def _ends_of(patterns: tuple[re.Pattern[str], ...], names: tuple[str, ...], text: str) -> frozenset[str]:
    """The parameters at the end of each list of words that some patterns find."""
    found = (those for pattern in patterns for those in pattern.findall(text))
    return frozenset(name for those in found for name in _last_of(those, names))


def _last_of(those: str, names: tuple[str, ...]) -> Iterator[str]:
    """The parameters at the end of a list of words, from the last one backwards."""
    words = re.findall(r"\w+", re.sub(r"\b(?:and|or)\b", " ", those))
    called = (parameter_called(word, names) for word in reversed(words))
    return itertools.takewhile(names.__contains__, called)


_SEVERAL_AXES = re.compile(
    r"\b(?:first|second|last|leading|trailing|each|every|other|given) (?:axis|axes|dimensions?)\b"
)


def says_axes(f: Callable) -> bool:
    """Whether a docstring distinguishes one axis from others: arrays with several axes are then intended.

    >>> def returns(prices):
    ...     "Differences along the first axis (time)."
    >>> says_axes(returns)
    True
    """
    return bool(_SEVERAL_AXES.search(docstring_of(f)))
