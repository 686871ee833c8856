"""What the author of a function says about its parameters: kinds, intervals and orders in the docstring,
numbers in the annotations.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import types
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

import numpy as np

from ...rules.signatures import meant_types
from .by_name import holds_whole_numbers
from .counts_said import called_whole, counts_in_brackets, indexed_in_words
from .docstrings import (
    BETWEEN,
    SIGNS,
    SOFT,
    WORDED,
    docstring_text,
    in_one_line,
    parameter_called,
    types_said,
    words_about,
)
from .kinds import Kind
from .positive_said import left_positive
from .ranks_said import (
    IN_ALL,
    OR_A_NUMBER,
    OR_AN_ARRAY,
    are_each,
    numbers_beside_arrays,
    numbers_called,
    of_either_rank,
)
from .relations import relations_of
from .texts import names_without_defaults

_THINGS = "group|class|cluster|node|player|team|row|column|bin|state|level|word|token|item|user|segment"
_COMMA = r"(?:, and |, or |, | and | or )"
_BESIDE_A_NAME = r"(?:(?:the|an?|plain|real|scalar|positive|negative|constant) )*"
"""Words before a name within a list: strike, the positive vol and expiry are numbers."""
_NAMES = rf"((?:\w+{_COMMA}{_BESIDE_A_NAME})*\w+)"
_ADJECTIVE = "(?:real|complex|positive|negative|square|symmetric|invertible|definite|any|row|column)"
_ADJECTIVES = rf"((?:{_ADJECTIVE}\s+)*)"
_MANY, _ONE = r"matri(?:x|ces)|vectors?|arrays?|signals?", r"scalars?|numbers?|floats?"
_NOUN = rf"((?:{_MANY})\b(?!{OR_A_NUMBER})|(?:{_ONE})\b(?!{OR_AN_ARRAY})|indices)"
_NOUN_ALONE = rf"((?:{_MANY})\b(?!{OR_A_NUMBER})|(?:{_ONE})\b{IN_ALL}|indices)"
_OF = r"(?: of (integers|indices|whole numbers|booleans|bools|flags|two|three|four)\b)?"
_NUMBERS_MEANT = re.compile(_ONE)
_DEFINITE = re.compile(
    rf"\b{_NAMES}(?:(?: is| are|,| ?:)(?: an?| both)?(?: real)?(?: symmetric)?| symmetric)"
    r" positive[ -]definite\b"
)
_COLON = re.compile(  # W: weight matrix
    rf"\b(\w+) ?: (?:an? |the )?((?:[\w-]+ ){{0,3}}?)(matrix|vector)\b(?!{OR_A_NUMBER}|,? or\b|es\b)"
)
_WHAT = _ADJECTIVES + _NOUN + r"\b" + _OF
_BEHIND = re.compile(rf"\b{_WHAT} {_NAMES}\b(?!\[)")  # the real matrix E
_SAID_TO_BE = re.compile(  # mu is a number, t a vector
    rf"{_NAMES}(?:(?: is| are|,)(?: an?| the| both| two| three| four)?| an?) "
    rf"{_ADJECTIVES}{_NOUN_ALONE}\b{_OF}"
)
_OF_WHOLE = re.compile(  # counts (an array of whole numbers)
    rf"{_NAMES} ?\((?:an? |the )?{_ADJECTIVES}{_NOUN} of (integers|whole numbers|booleans|bools|flags)\b"
)
_ARRAYS = rf"{_ADJECTIVES}({_MANY}|scalars?)\b{_OF}"
_ALL_ALIKE = re.compile(
    rf"\b(?:(two|three|four|five|six)\s+)?{_ARRAYS} of (?:one|the same) (?:length|shape|size)"
)
_OF_ONE = re.compile(rf"\b(?:of|for|along) (?:an?|the|one) {_WHAT}")  # the mean of a vector
_OF_THOSE = re.compile(rf"\b(arrays|vectors|matrices) of {_BESIDE_A_NAME}{_NAMES}\b")  # arrays of means
_JUST_ONE = re.compile(
    rf"\bone {_BESIDE_A_NAME}(\w+)\b(?! (?:per|each|every|an?|(?:for|of|in) (?:each|every|an?))\b)"
)
_WHOLE = re.compile(
    rf"\b{_NAMES} (?:is|are)(?: all| both| an?| the)? \(?(?:ints?|integers?|whole numbers?)\b"
    r"(?!\)? (?:array|matri))"
)
_NUMBERED = re.compile(rf"\b{_NAMES} are(?: \w+)? (?:ids|indexes)\b|\b{_NAMES} are (?:{_THINGS}) numbers\b")
_SEVERAL_NUMBERED = re.compile(
    rf"\b(?:labels|indices|indexes|categories|ids|classes|(?:{_THINGS})s) (?!of\b|in\b|a\b)(\w+)\b"
)
_POSITIONS = re.compile(
    rf"\b{_NAMES} (?:hold|contain|give|list|are|is)s?\b(?:, ?[^,.;]+,)?(?: the| all)?(?: integer| whole)? "
    r"(?:positions|indices|indexes|ids)\b"
)
"""winners and losers hold, match by match, the integer positions of both teams"""
_OTHERS = re.compile(
    r"\b(?:other (?:arguments|parameters)|(?:all|the) others|the rest|everything else)(?: are| is)? (?:an? )?"
    r"(?:plain |real )?(positive )?(?:numbers?|scalars?|ones?)\b"
)
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)"
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}

_VERB = r"(?:is|are) (?:all |both )?(?=\w+\b(?! (?:or|semi)))"
_POSITIVE = re.compile(rf"{_NAMES} (?:{_VERB}|(?=\w+ ?(?:[,;.)]|$)))(positive|negative)\b")
"""Also at the end of a sentence without a verb: precip and pet positive, omega > 1."""
_OF_SIGN = {"positive": (0.0, math.inf), "negative": (-math.inf, 0.0)}
_IN_A_LIST = re.compile(r"(?:^|[,;(] ?)(?:both |all |each |strictly )?(positive|negative) ?(?=[.,;)]|$)")
"""On its own between commas: decay constants (1/s), positive."""
_BEING = re.compile(r"\b(\w+) being an? [^,.;]+, (positive|negative)(?= ?[.;)]|$)")
"""omega being an angular frequency or an array of them, positive"""
_TIMES = re.compile(r"\btimes? (\w+)\b")
_POSITIVE_BEFORE = re.compile(  # to positive doses and rates, but not: the positive doses and the changes
    rf"\b(?:of|to|between|at|the|one|an?) positive ((?:\w+{_COMMA})*\w+)"
)
_PROBABILITIES = re.compile(rf"(?<![Ll]og[ -])\b[Pp]robabilit(?:y|ies) ((?:\w+{_COMMA})*\w+)")
_ON = re.compile(r"\bon [(\[](-?\d+(?:\.\d+)?), ?(-?\d+(?:\.\d+)?)[)\]]")
_AT = re.compile(r"\bat (?:all |the )?(\w+)\b(?= ?(?:\(|[.,;]|$))")
"""A curve on [0, 1], evaluated at t."""
_MEASURED = r"(?::|,| is| are| must be)?(?: all| both)?(?: an?| the)?(?: real)?(?: numbers?| scalars?)?"
_WORDED = re.compile(rf"\b{_NAMES}{_MEASURED} {WORDED}")
_WORDED_TWICE = re.compile(rf"\b{_NAMES}{_MEASURED} {WORDED},? (?:and|but) {WORDED}")
"""alpha is at least 0 and less than 1"""
_BETWEEN = re.compile(rf"\b{_NAMES}{_MEASURED} {BETWEEN}")
_OF_EACH = re.compile(
    r"(?:^|,|\b(?:each|all|every|elements?|entry|entries|values?|numbers?|are|is|them|be)) *"
    rf"([<>]=?) *{_NUMBER}(?![\w.]*\w| *[-+*/^(<>])"
)
"""A statement about the numbers of a parameter in a description that does not name it: an array of returns,
each > -1.
"""
_EACH_OF_A_SUBJECT = re.compile(
    rf"(?:^|[.;:] )(\w+) (?:is|are|holds?|lists?) [^.;:]*\b(?:each|all)(?: of them)? {WORDED}"
)
"""The same in a sentence that begins with the name: load is an array of offered traffics, each above 0."""
_RANGE = re.compile(rf"(?:^|[,;(] ?|range ){_NUMBER} ?(?:to|\.\.\.?|\u2013|\u2026) ?{_NUMBER}(?![\w.]*\w)")
"""The range of a parameter in its description: depth in metres, 0 to 8000."""
_OF_A_POSITIVE_QUANTITY = re.compile(
    r"(?:floats?; ?)?(?:the |an? )?(?!log|change|difference|relative|net|signed)(?:[a-z]+ ){0,2}"
    r"(?:(?:rate|time|decay|spring|dissociation|equilibrium) constant|half-li(?:fe|ve)|thickness|diameter"
    r"|radius|wavelength|viscosity|resistivity|porosity|permeability)(?:e?s)?\b"
    r"(?! (?:change|difference)s?\b)"
)
"""Descriptions that begin with a quantity that is never negative: absorption rate constant, 1/h."""
_ALL_POSITIVE = re.compile(
    r"\b(?:all(?: arguments| parameters| inputs| of them)?(?: are)?|everything(?: is)?) positive\b"
)
_OF_POSITIVE = re.compile(
    r"\b(?:(?:arrays?|vectors?|lists?|sequences?|samples?) of (?:strictly )?positive \w+"
    r"|(?<!and )(?<!or )(?:an?|the) positive (?:arrays?|vectors?|lists?|sequences?|samples?))\b"
)
"""A statement about the only parameter that does not name it: an array of positive incomes."""

_FORMS = {
    "matrix": ("matrix", "square", "positive definite"),
    "vector": ("vector", "columns", "rows"),
    "array": ("vector", "matrix", "square", "positive definite", "columns", "rows"),
    "number": ("number",),
}
_LETTERS = {
    "matrix": (("n", "m"), ("m", "n"), ("n", "p"), ("n", "n")),
    "vector": (("n",), ("m",), ("p",)),
}
_NUMBERS = (float, complex, np.float64, np.complex128)


def numbers_said(f: Callable) -> Mapping[str, Kind]:
    """The parameters of a function that are numbers according to its annotations or to the sections of its
    docstring, with their kinds.

    >>> def f(x, lam: float, axis: int): ...
    >>> {name: str(kind) for name, kind in numbers_said(f).items()}
    {'lam': 'a number', 'axis': 'an axis'}
    """
    found: dict[str, Kind] = {}
    for name, note in meant_types(f).items():
        if note in _NUMBERS:
            dtype = "complex128" if issubclass(note, complex) else "float64"
            found[name] = Kind(dtype=dtype, is_asked=True)
        elif note is int and name == "axis":
            found[name] = Kind("axis", is_asked=True)
    found.pop("return", None)
    of_sections = (name for name, said in types_said(f).items() if said is float)
    found.update(dict.fromkeys(of_sections, Kind(is_asked=True)))
    return found


_OF_TWO_AXES = re.compile(r"\b(\w+)\[[\w:+-]+ ?, ?[\w:+-]+\]")
"""A name with two indices, such as `w[:, c]`."""


def kinds_said(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds that the docstring of a function gives for its parameters, the likeliest first.

    >>> def bag(E, ids, weights):
    ...     "The sum of rows of the real matrix E; ids is a vector of integers."
    >>> [(name, str(kinds[0])) for name, kinds in kinds_said(bag).items()]
    [('E', 'a matrix'), ('ids', 'a vector of indices')]
    >>> def filtered(x, w):
    ...     "Each channel of x has its own filter w[:, c]."
    >>> [(name, str(kinds[0])) for name, kinds in kinds_said(filtered).items()]
    [('w', 'a matrix')]
    """
    names, text = _text_of(f)
    found: dict[str, tuple[Kind, ...]] = {}
    for adjectives, noun, of, those in _BEHIND.findall(text):
        last = tuple(itertools.takewhile(names.__contains__, _names_in(those)))
        if _NUMBERS_MEANT.match(noun) is None or are_each(noun, last):
            found.update({name: _kinds(adjectives, noun, of) for name in last if name not in found})
    for those, adjectives, noun, of in (*_SAID_TO_BE.findall(text), *_OF_WHOLE.findall(text)):
        last = tuple(_last_of(those, names))
        if _NUMBERS_MEANT.match(noun) is None or are_each(noun, last):
            found.update({name: _kinds(adjectives, noun, of) for name in last if name not in found})
    for noun, those in _OF_THOSE.findall(text):
        for name in (parameter_called(word, names) for word in _names_in(those)):
            if name in names:
                found.setdefault(name, _kinds("", noun, ""))
    for name, before, noun in _COLON.findall(text):
        if name in names and _NOT_ALONE.isdisjoint(before.split()):
            found.setdefault(name, _kinds(before, noun, ""))
    for name in numbers_called(names, text):
        found.setdefault(name, (Kind(),))
    either = of_either_rank(names, text)
    found = {name: kinds for name, kinds in found.items() if name not in either or kinds[0].form != "number"}
    for name in _JUST_ONE.findall(text):
        if name in names:
            found.setdefault(name, (Kind(),))
    for those in _DEFINITE.findall(text):  # with or without "matrix"
        for name in _last_of(those, names):
            found[name] = (Kind("positive definite"),)
    notes = {**types_said(f), **meant_types(f)}
    spoken = itertools.chain(_WHOLE.findall(text), itertools.chain.from_iterable(_NUMBERED.findall(text)))
    for those in spoken:
        for name in _last_of(those, names):
            found.setdefault(name, (Kind("integer" if notes.get(name) is int else "indices"),))
    indexed = indexed_in_words(text, names)
    for name in counts_in_brackets(text, names):
        alone = (Kind("integer" if notes.get(name) is int else "indices"),)
        found.setdefault(name, alone if name in indexed else (*alone, Kind("integer")))
    for name in _OF_TWO_AXES.findall(text):
        if name in names:
            found.setdefault(name, _kinds("", "matrix", ""))
    for name in indexed:
        found.setdefault(name, _kinds("", "vector", ""))
    others = _OTHERS.search(text)
    if others is not None:
        kinds = _kinds(others[1] or "", "numbers", "")
        found = {**dict.fromkeys(_not_told_of(text[: others.start()], names), kinds), **found}
    numbers = sorted(numbers_beside_arrays(names, text) - found.keys() - notes.keys())
    found |= dict.fromkeys(numbers, (Kind(),))
    left = [name for name in names if name not in found and name not in notes]
    for count, adjectives, noun, of in _ALL_ALIKE.findall(text):
        if _COUNTS.get(count, len(left)) == len(left) > 1:
            found.update(dict.fromkeys(left, _kinds(adjectives, noun, of)))
            return found
    unnamed = [one for one in _OF_ONE.finditer(text) if not _is_named(text[one.end() :], names)]
    if len(left) == 1 and len(unnamed) == 1:
        found[left[0]] = _kinds(*unnamed[0].groups(default=""))
    return found


_NOT_ALONE = frozenset(("of", "or", "and", "per", "for", "in", "each", "list", "number", "scalar", "float"))
"""Words before a noun that is not what the parameter is, or not all of it."""
_ARTICLE = re.compile(r"\ba (?!(?:and|or|is|are|of|in|to|for|from|has|must|may|with)\b)(?=[A-Za-z])")
"""The article "a", which may also be the name of a parameter."""


def _not_told_of(text: str, names: tuple[str, ...]) -> list[str]:
    """The parameters that a text does not mention. If it mentions all of them, as in a formula, all but the
    last mentioned; none if it mentions none.
    """
    words = [parameter_called(word, names) for word in re.findall(r"\w+", _ARTICLE.sub("", text))]
    told = [word for word in words if word in names]
    of_all = set(told) == set(names)
    return [name for name in names if name not in (told[-1:] if of_all else told)] if told else []


def arrays_by_contrast(f: Callable) -> frozenset[str]:
    """The parameters without defaults that a docstring does not describe, if it says of others that they are
    numbers.

    >>> def rates(prefactor, energy, temperature):
    ...     "At the temperatures given; prefactor and energy are numbers."
    >>> sorted(arrays_by_contrast(rates))
    ['temperature']
    """
    (names, text), said, notes = _text_of(f), kinds_said(f), meant_types(f)
    is_said = any(kind.form == "number" for kinds in said.values() for kind in kinds)
    left = frozenset(names_without_defaults(f) if is_said else ()) - said.keys() - notes.keys()
    either = of_either_rank(names, text)
    return left if not either or left <= either else frozenset()


def rows_said(f: Callable) -> frozenset[str]:
    """The parameters whose rows a docstring mentions: something is done to each of them.

    >>> def shifted(x, bias):
    ...     "x + bias, the same bias for every row of x."
    >>> sorted(rows_said(shifted))
    ['x']
    """
    names, doc = _text_of(f)
    return frozenset(re.findall(r"\b(?:each|every|all) rows? of (?:the )?(\w+)", doc)) & {*names}


def _names_in(those: str) -> list[str]:
    """The names in a list of words, without the adjectives before each."""
    return [part.rsplit(" ", 1)[-1] for part in re.split(_COMMA, those)]


def _last_of(those: str, names: Container[str]) -> Iterator[str]:
    """The parameters at the end of a list of words, from the last one backwards."""
    return itertools.takewhile(names.__contains__, reversed(_names_in(those)))


def wholes_said(f: Callable) -> frozenset[str]:
    """The parameters whose numbers are whole according to the docstring of a function.

    >>> def rates(c, orders):
    ...     "Of mass action; the orders are whole numbers."
    >>> sorted(wholes_said(rates))
    ['orders']
    """
    told = words_about(f).items()
    about = (name for name, words in told if _OF_WHOLES.match(words) or _IN_WHOLES.search(words))
    return _listed(_WHOLE, *_text_of(f)).union(about)


_OF_WHOLES = re.compile(
    r"(?:[^;]*;)? ?(?:\(\w+,(?: ?\w+)?\) )?(?:(?:the |an? )?(?:integer|whole)(?:-valued)? \w+s\b(?! or\b)"
    r"|one (?:int|integer|whole number) (?:per|for each|for every)\b)"
)
"""Descriptions that begin like this: integer charges; array; whole numbers of atoms; one int per row."""
_IN_WHOLES = re.compile(
    r"\b(?:in|as) (?:completed )?(?:whole|full|completed) [a-z]+s\b"
    r"|[,;:(] ?(?:all )?(?:ints|integers|whole numbers)(?=[,;.)]|$)"
)
"""Units that are only counted whole, the age in whole years; or a word apart: how many of each, integers."""
_COVARIANCE = re.compile(
    r"(?<!cross-)(?<!cross )\b(?:covariance|correlation)s?\b(?! (?:function|length|time|matrices of))"
)


def speaks_of_any_square(f: Callable) -> bool:
    """Whether the docstring of a function mentions square matrices but no symmetric ones, or says that they
    need not be symmetric, whatever the names of its parameters suggest.

    >>> def energy(psi, hamiltonian):
    ...     "Of a complex state and a complex square matrix."
    >>> speaks_of_any_square(energy)
    True
    >>> def power(cov, steering):
    ...     "The covariance need not be exactly Hermitian."
    >>> speaks_of_any_square(power)
    True
    """
    said = in_one_line(docstring_text(f)).lower()
    if _NEED_NOT_BE_SYMMETRIC.search(said):
        return True
    return re.search(r"\bsquare matri", said) is not None and not any(word in said for word in _SYMMETRIC)


_NEED_NOT_BE_SYMMETRIC = re.compile(
    r"\b(?:need(?: not|n't)|not necessarily|(?:does|do) not have to|(?:is|are) not assumed(?: to)?|may not) "
    r"(?:be )?(?:[a-z]+ )?(?:symmetric|hermitian|self-adjoint)\b"
    r"|\b(?:non-?|un|a)symmetric (?:matri|K\b|too\b|as well\b)"
)
_SYMMETRIC = ("symmetric", "hermitian", "self-adjoint", "definite", "covarian", "correlation")


def counts_each(f: Callable) -> frozenset[str]:
    """The parameters that are whole numbers according to the docstring of a function and written with an
    index.

    >>> def likelihood(hits, trials, p):
    ...     "Of hits[i] out of trials[i] (integers) with probability p."
    >>> sorted(counts_each(likelihood))
    ['hits', 'trials']
    """
    names, text = _text_of(f)
    return counts_in_brackets(text, names) & indexed_in_words(text, names)


def whole_said(f: Callable) -> frozenset[str]:
    """The parameters that hold whole numbers according to the docstring of a function or to their names.

    >>> def rates(conc, orders, stoich):
    ...     "Net rates. orders (reactions, species) are integers; stoich holds whole coefficients."
    >>> sorted(whole_said(rates))
    ['orders', 'stoich']
    """
    names, text = _text_of(f)
    about = {name for name, words in words_about(f).items() if called_whole(f"{name} {words}", (name,))}
    return called_whole(text, names).union(about.intersection(names), filter(holds_whole_numbers, names))


def covariances_said(f: Callable) -> frozenset[str]:
    """The parameters that the docstring of a function calls covariances or correlations, which are symmetric
    matrices.

    >>> def gain(P, H):
    ...     \"\"\"P : (n, n) covariance of the state\"\"\"
    >>> sorted(covariances_said(gain))
    ['P']
    """
    return frozenset(name for name, words in words_about(f).items() if _COVARIANCE.search(words))


def symmetric_said(f: Callable) -> frozenset[str]:
    """The parameters that the docstring of a function calls symmetric, positive definite or covariances.

    >>> def distance(x, S, W):
    ...     "Of the symmetric positive definite matrix S, and W is a covariance matrix."
    >>> sorted(symmetric_said(distance))
    ['S', 'W']
    """
    forms = ("symmetric", "positive definite")
    called = (name for name, kinds in kinds_said(f).items() if kinds[0].form in forms)
    return covariances_said(f).union(called)


def _listed(pattern: re.Pattern[str], names: Container[str], text: str) -> frozenset[str]:
    """The parameters at the end of each list of words that a pattern finds."""
    return frozenset(name for those in pattern.findall(text) for name in _last_of(those, names))


_NUMBER_OF_TWO = r"(?:[-+]?1|0|zeros?|ones?)"
_FILLED = (
    r"(?: an?| the| all| each| either| in| arrays? of| vectors? of| values?| labels?| flags?| numbers?)*"
)
_TWO = rf"[{{(]?{_NUMBER_OF_TWO}(?:, ?| or | and | ?/ ?){_NUMBER_OF_TWO}\b|(?:\+-|\+/-|\u00b1) ?1\b"
_ONE_OF_TWO = re.compile(
    rf"{_NAMES} (?:is|are|has|have|holds?|in|of|=|==|\u2208){_FILLED} "
    rf"(?:{_TWO}|binary\b|one-hot\b|booleans?\b"
    r"|[01] (?:for|if|where|when|means|=) [^,;.]{1,40},? (?:and |or )?[01] (?:for|if|where|when|means|=) )"
)
_LABELS_ARE = re.compile(rf"\b(?:labels?|flags?) {_NAMES}\b")  # with labels y
_BEFORE_LABELS = re.compile(r"\b(\w+) labels?\b(?! or\b)")  # y: (n,) labels
_ARE_LABELS = re.compile(
    rf"\b{_NAMES}(?: ?: ?| ?\(|, |(?: is| are) )"
    r"(?:(?:an?|the|array|vector|list|tuple|sequence|of|class|binary|two) )*"
    rf"(?:labels?\b(?! or\b)|(?:class\b[^;.]{{0,30}})?(?:{_TWO}))"
)


_COMPLEX_BEFORE = re.compile(
    rf"\bcomplex (?:\d ?[x\u00d7] ?\d |square |unitary )*(?:number |value |\w+s )?{_NAMES}\b"
)
_COMPLEX_WORD = re.compile(rf"\bcomplex \w+ {_NAMES}\b")  # complex element weights
_COMPLEX_BEHIND = re.compile(r"\b(\w+),? (?:of |with )?shape(?: \([^()]*\))?,? complex\b")
"""A batch of states, shape (n, 2), complex."""
_ALL_COMPLEX = re.compile(
    r"\b(?:of|between|for|from|with) (?:two |three |the |its )?complex (?:\w+ ){0,2}"
    r"(?:vectors|arrays|matrices|numbers|signals|spectra|states|amplitudes|fields|operators|points|samples)"
    r"\b"
)
"""About arguments that are not named: the inner product of two complex state vectors."""
_COMPLEX = re.compile(
    rf"\b{_NAMES}(?: is| are| ?:)?(?: both| all)?(?: the| its| an?)? \(?complex\b(?! (?:conjugate|plane))"
)


def complex_said(f: Callable) -> frozenset[str]:
    """The parameters that the docstring of a function calls complex. Where it also mentions real numbers, a
    statement about all parameters does not count, but one about a single name does: "complex z".

    >>> def misfit(x, A, intensity):
    ...     "Squared error of the intensities |A x|^2; x and A complex."
    >>> sorted(complex_said(misfit))
    ['A', 'x']
    >>> def moebius(a, b, z):
    ...     "The image of complex z under a map with complex a and b."
    >>> sorted(complex_said(moebius))
    ['a', 'b', 'z']
    >>> def rotated(gate, qubit):
    ...     "A complex 2 x 2 gate on a qubit."
    >>> sorted(complex_said(rotated))
    ['gate']
    >>> def overlap(psi, phi):
    ...     "Inner product of two complex state vectors."
    >>> sorted(complex_said(overlap))
    ['phi', 'psi']
    """
    names, text = _text_of(f)
    each = (_COMPLEX_BEFORE, _COMPLEX_WORD, _COMPLEX_BEHIND)
    found_before = (those for told in each for those in told.findall(text))
    before = map(_names_in, found_before)
    explicit = {name for those in before for name in itertools.takewhile(names.__contains__, those)}
    found = _listed(_COMPLEX, names, text)
    if not found and not explicit and _ALL_COMPLEX.search(text) and "real" not in text:
        return frozenset(names_without_defaults(f))
    return (found if len(found) < len(names) or "real" not in text else frozenset()) | explicit


_REAL = re.compile(
    r"\breal(?:-valued)? (?:(?:square|symmetric|positive) )*"
    + _NOUN
    + r"|\bfloats? or (?:an? )?(?:nd)?arrays?\b|\barrays? (?:of|or) (?:an? )?floats?\b"
)


_REAL_ONE = re.compile(
    r"\breal(?:-valued)? (?:(?:square|symmetric|positive|vector|matrix|array|signal|number) )*(\w+)"
)


def real_said(f: Callable) -> frozenset[str]:
    """The parameters that the docstring of a function calls real.

    >>> def response(model, signal):
    ...     "Response of a complex state-space model to a real signal (steps,)."
    >>> sorted(real_said(response))
    ['signal']
    """
    names, text = _text_of(f)
    return frozenset(names).intersection(_REAL_ONE.findall(text))


def says_real(f: Callable) -> bool:
    """Whether the docstring of a function mentions real numbers, or floats or arrays of them, but no complex
    ones.

    >>> def band_power(x, weights):
    ...     "Weighted power spectrum of a real signal (n,)."
    >>> says_real(band_power)
    True
    >>> def final_size(r0):
    ...     "Share of a population, for r0 > 1 (float or array)."
    >>> says_real(final_size)
    True
    """
    _, text = _text_of(f)
    return bool(_REAL.search(text)) and "complex" not in text


def labels_said(f: Callable) -> frozenset[str]:
    """The parameters that have only two values according to the docstring of a function.

    >>> def bce(logits, targets):
    ...     "Binary cross entropy of logits; the targets are 0 or 1."
    >>> sorted(labels_said(bce))
    ['targets']
    >>> def probit(b, X, y):
    ...     "Log likelihood; y is a vector of labels in {0, 1}."
    >>> sorted(labels_said(probit))
    ['y']
    >>> def overlap(p, t):
    ...     \"\"\"p: probabilities
    ...     t: target mask (0 or 1, or soft)\"\"\"
    >>> sorted(labels_said(overlap))
    []
    >>> def survival(time, event):
    ...     "Log-likelihood of times; event is 1 for death, 0 for censored."
    >>> sorted(labels_said(survival))
    ['event']
    >>> def cox(X, time, event):
    ...     "Log partial likelihood; X (n, p), time (n,), event (n,) of 0 or 1."
    >>> sorted(labels_said(cox))
    ['event']
    """
    names, text = _text_of(f, _BETWEEN_SHAPES)
    found = (_names_in(those) for those in _ONE_OF_TWO.findall(text))
    called = _listed(_ARE_LABELS, names, text)
    beside = (*(_names_in(those)[0] for those in _LABELS_ARE.findall(text)), *_BEFORE_LABELS.findall(text))
    called |= {name for name in beside if name in names}
    called |= {name for those in found for name in those if name in names}
    about = words_about(f)
    return frozenset(name for name in called if not SOFT.search(about.get(name, "")))


def numbered_in_plural(f: Callable) -> frozenset[str]:
    """The parameters that the docstring of a function introduces by a plural noun for numbered things:
    labels, indices.

    >>> def likelihood(scores, y):
    ...     "The log-likelihood of labels y, by the scores of the classes."
    >>> sorted(numbered_in_plural(likelihood))
    ['y']
    """
    names, text = _text_of(f)
    return frozenset(name for name in _SEVERAL_NUMBERED.findall(text) if name in names)


def positions_said(f: Callable) -> frozenset[str]:
    """The parameters that are positions in an array according to the docstring of a function.

    >>> def margins(strength, winner, loser):
    ...     "winner and loser hold, match by match, the positions of both in strength."
    >>> sorted(positions_said(margins))
    ['loser', 'winner']
    """
    return _listed(_POSITIONS, *_text_of(f))


def signs_said(f: Callable) -> frozenset[str]:
    """The parameters with the values -1 and 1 according to the docstring of a function.

    >>> def hinge(w, X, y):
    ...     "Hinge loss with labels y of -1 and 1."
    >>> sorted(signs_said(hinge))
    ['y']
    """
    _, text = _text_of(f)
    return labels_said(f) if _SIGNS.search(text) else frozenset()


_SIGNS = re.compile(r"(?<![\w.])(?:-1\b[^.;]{0,12}?\b1\b|\+?1\b[^.;]{0,12}?-1\b|(?:\+-|\+/-|\u00b1) ?1\b)")


def says_vectors(f: Callable) -> bool:
    """Whether the docstring of a function calls a parameter a vector, not just an array."""
    forms = ({kind.form for kind in kinds} for kinds in kinds_said(f).values())
    return any("vector" in those and "matrix" not in those for those in forms)


def _is_named(rest: str, names: tuple[str, ...]) -> bool:
    """Whether the next word is the name of a parameter."""
    word = re.match(r" (\w+)", rest)
    return word is not None and word[1] in names


def _kinds(adjectives: str, noun: str, of: str) -> tuple[Kind, ...]:
    """The kinds that words mean: adjectives such as `real`, a noun such as `matrix`, and of what."""
    if noun == "indices" or of in ("integers", "indices", "whole numbers"):
        return (Kind("indices"), Kind("indices", 0.0, 3.0))
    if of in ("booleans", "bools", "flags"):
        return (Kind("mask"),)
    words = adjectives.split()
    form = {"matri": "matrix", "vecto": "vector", "array": "array", "signa": "vector"}.get(noun[:5], "number")
    low, high = (0.0, math.inf) if "positive" in words and "definite" not in words else (-math.inf, math.inf)
    dtype = "complex128" if "complex" in words else "float64"
    plain = Kind(low=low, high=high, dtype=dtype)
    if of in _COUNTS and form == "vector":
        return (dataclasses.replace(plain, form=form, dims=(_COUNTS[of],)),)
    forms = _FORMS[form]
    if "definite" in words:
        forms = ("positive definite",)
    elif "symmetric" in words:
        forms = ("symmetric",)
    elif form == "matrix" and not {"square", "invertible"}.isdisjoint(words):
        forms = ("square",)
    kinds = [dataclasses.replace(plain, form=one) for one in forms]
    if len(forms) > 1:
        kinds += [dataclasses.replace(plain, form=form, dims=dims) for dims in _LETTERS.get(form, ())]
    return tuple(kinds)


def intervals_said(f: Callable) -> Mapping[str, tuple[float, float]]:
    """The intervals that the docstring of a function gives for its parameters.

    >>> def f(L, beta, d):
    ...     "Where L > 0, and -1 < beta < 1."
    >>> sorted(dict(intervals_said(f)).items())
    [('L', (0.0, inf)), ('beta', (-1.0, 1.0))]
    >>> def response(dose, slope):
    ...     "The response to positive doses."
    >>> dict(intervals_said(response))
    {'dose': (0.0, inf)}
    >>> def highlight(c, shininess, share):
    ...     "shininess: a number above 1; the share is between 0 and 0.5."
    >>> dict(intervals_said(highlight))
    {'shininess': (1.0, inf), 'share': (0.0, 0.5)}
    >>> def wealth(returns):
    ...     '''Wealth.
    ...
    ...     returns : 1-D array of simple returns, each > -1
    ...     '''
    >>> dict(intervals_said(wealth))
    {'returns': (-1.0, inf)}
    >>> def curve(coefficients, t):
    ...     "A uniform spline on [0, 1], evaluated at all t (m,)."
    >>> dict(intervals_said(curve))
    {'t': (0.0, 1.0)}
    >>> def permittivity(omega, alpha):
    ...     "omega being an angular frequency, positive; alpha is at least zero and less than one."
    >>> dict(intervals_said(permittivity))
    {'alpha': (0.0, 1.0), 'omega': (0.0, inf)}
    >>> def lifetime(qx):
    ...     "Years lived, from the one-year death probabilities qx (each < 0.9) of a life table."
    >>> dict(intervals_said(lifetime))
    {'qx': (0.0, 0.9)}
    """
    names, text = _text_of(f)
    found: dict[str, tuple[float, float]] = {}
    for name, low, high in relations_of(f, names).intervals:
        before = found.get(name, (-math.inf, math.inf))
        found[name] = max(low, before[0]), min(high, before[1])
    for those, *ends in _WORDED_TWICE.findall(text):
        by_sign = {SIGNS[word][0]: float(number) for word, number in (ends[:2], ends[2:])}
        if len(by_sign) == 2:
            interval = by_sign[">"], by_sign["<"]
            found |= {name: interval for name in _last_of(those, names) if name not in found}
    for those, sign, number in _WORDED.findall(text):
        low, high = (float(number), math.inf) if ">" in SIGNS[sign] else (-math.inf, float(number))
        found |= {name: (low, high) for name in _last_of(those, names) if name not in found}
    for those, low, high in _BETWEEN.findall(text):
        found |= {name: (float(low), float(high)) for name in _last_of(those, names) if name not in found}
    for name, sign, number in _EACH_OF_A_SUBJECT.findall(text):
        if name in names and name not in found:
            found[name] = (float(number), math.inf) if ">" in SIGNS[sign] else (-math.inf, float(number))
    for name, told in words_about(f).items():
        ends = [(">" in sign, float(number)) for sign, number in _OF_EACH.findall(told)]
        if ends and name not in found:
            low = max((end for is_low, end in ends if is_low), default=-math.inf)
            found[name] = low, min((end for is_low, end in ends if not is_low), default=math.inf)
        for low, high in _RANGE.findall(told):
            found.setdefault(name, (float(low), float(high)))
        for sign in _IN_A_LIST.findall(told):
            found.setdefault(name, _OF_SIGN[sign])
        if _OF_A_POSITIVE_QUANTITY.match(told):
            found.setdefault(name, (0.0, math.inf))
    for those, sign in _POSITIVE.findall(text):
        for name in _last_of(those, names):
            found.setdefault(name, _OF_SIGN[sign])
    for name, sign in _BEING.findall(text):
        if name in names:
            found.setdefault(name, _OF_SIGN[sign])
    for those in [] if "negative" in text else _POSITIVE_BEFORE.findall(text):
        words = (parameter_called(word, names) for word in _names_in(those))
        for name in itertools.takewhile(names.__contains__, words):
            found.setdefault(name, (0.0, math.inf))
    if len(on := _ON.findall(text)) == len(at := _AT.findall(text)) == 1:
        found.setdefault(at[0], (float(on[0][0]), float(on[0][1])))
    for name in _TIMES.findall(text):  # the activity at a time t after the start
        found.setdefault(name, (0.0, math.inf))
    for name in (word for those in _PROBABILITIES.findall(text) for word in _names_in(those)):
        low, high = found.get(name, (-math.inf, math.inf))
        found[name] = max(low, 0.0), min(high, 1.0)
    if _ALL_POSITIVE.search(text) or len(names) == 1 and _OF_POSITIVE.search(text):
        found = {**dict.fromkeys(names, (0.0, math.inf)), **found}
    return {name: (low, high) for name, (low, high) in found.items() if name in names and low < high}


def meant_as_positive(f: Callable, said: Container[str]) -> frozenset[str]:
    """The parameters that the docstring of a function may mean where it calls something positive that is not
    the name of a parameter; those with a known interval (`said`) are left out.

    >>> def atoms(n0, lam_a, lam_b, times):
    ...     "Atoms of a decay chain (positive decay constants) at times >= 0."
    >>> sorted(meant_as_positive(atoms, intervals_said(atoms)))
    ['lam_a', 'lam_b', 'n0']
    """
    names, text = _text_of(f)
    return left_positive(text, names, said)


def _text_of(f: Any, stops: re.Pattern[str] | None = None) -> tuple[tuple[str, ...], str]:
    """The names of the parameters of a function, and its docstring in one line, without lengths, and with
    semicolons in place of what is to stop a list of names.
    """
    code = getattr(f, "__code__", None)
    if not isinstance(code, types.CodeType):
        return (), ""
    text = in_one_line(docstring_text(f))
    text = text if stops is None else stops.sub(";", text)
    return code.co_varnames[: code.co_argcount], _LENGTHS.sub("", text)


_LENGTHS = re.compile(r":? ?\((?:\w{1,2}(?: ?[-+*] ?\d)?, ?)+(?:\w{1,2}(?: ?[-+*] ?\d)?)?\)")
"""Lengths after a name, which are read elsewhere: a: (m,) and b: (n,) are positive."""
_BETWEEN_SHAPES = re.compile(_LENGTHS.pattern + r",(?= \w+ \()")
"""Between arrays each of which has its own shape: what is said behind the last one is said of that one."""
