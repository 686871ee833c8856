"""The parameters that a docstring calls arrays, and those that are numbers beside them: the ones it calls
numbers, and the ones for which nothing suggests more than one number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping

from ...rules.signatures import meant_types
from .axes_read import reduced_parameters
from .by_name import is_matrix_name, special_names, vector_names
from .docstrings import (
    docstring_text,
    in_one_line,
    parameter_called,
    types_said,
    untyped_entries,
    words_about,
)
from .kinds import Kind
from .ranks_said import of_either_rank, ranks_said
from .stated_kinds import complex_said, kinds_said, numbers_said
from .texts import names_without_defaults
from .usage import shapes_said

_OF_OTHERS = (
    r"\b(?:(?<!zero )(?<!0 )or|numbers? and|scalars?|matri(?:x|ces)|2-?d|3-?d|n-?d|lists?|tuples?|dicts?"
    r"|ints?|integers?|whole|bool\w*|masks?|labels?|flags?|indices|index|ids|any|shape)\b"
)
"""Words that make an array also something else, one with several axes, or one without real numbers."""
_AN_ARRAY = re.compile(r"\b(?:(?:nd)?array(?:_like)?|1-?d)\b")
_OR_ARRAYS = re.compile(r"\b(?:numbers?|scalars?|floats?),? or (?:an? )?(?:nd)?arrays?\b")
_IN_BRACKETS = re.compile(r"\b(\w+) \(((?:[^()]*\W)?(?:array|1-[dD])(?![\w-])[^()]*)\)")
_APPOSED = re.compile(r"\b(\w+), (an? (?:1-?[dD] |numpy )?(?:nd)?array)(?= ?(?:[.,;:]|$))")
"""A name and, after a comma, what it is: at the positions z, an array."""
_ARRAY_BEFORE = re.compile(r"(?<!or an )\b(?:nd)?array `{0,2}(\w+)`{0,2}(?=[),.;:]|$| at | in )")
_SEVERAL = re.compile(
    r"\b(?:(?:nd)?arrays?|vectors?|each|every|per|one for|lists?|sequences?|samples|values|weights|shape"
    r"|[02-9]-?d|same|coefficients|components|entr(?:y|ies)|elements?)\b|\(\w+,"
)
"""Words in a description that mean more than a single number."""
_A_FLOAT = re.compile(r"\b(?:float|scalar|real number)\b")
_MANY = re.compile(
    r"\b(?:(?:nd)?arrays?|vectors?|matri(?:x|ces)|lists?|tuples?|sequences?|each|or an?)\b|\(\w+,"
)
"""Words in a description that calls a parameter one number, by which it may also be several."""
_SINGULAR = re.compile(r"(?:[sui]s|[^s])$", re.IGNORECASE)
_FIRST_WORDS = re.compile(r"(?:(?!(?:of|for|in|at|from|to|over|by|with|on|that|which|is)\b)\w+ ?)+")
"""The noun that describes a parameter, with the words before it."""


def arrays_told(f: Callable) -> frozenset[str]:
    """The parameters that a docstring calls arrays, if it says nothing about their axes or of alternatives.

    >>> def line(e, mass, width):
    ...     "A resonance at the energies e (array), normalised to one."
    >>> def cooled(t, start, rate):
    ...     \"\"\"Args:
    ...         t: times, array of positive numbers
    ...         start: a number or an array\"\"\"
    >>> def filled(energy, mu):
    ...     "Occupation of levels (array `energy`) at the potential mu."
    >>> sorted(arrays_told(line)), sorted(arrays_told(cooled)), sorted(arrays_told(filled))
    (['e'], ['t'], ['energy'])
    """
    names, text = names_without_defaults(f), in_one_line(docstring_text(f))
    about = {name: words for name, words in words_about(f).items() if name in names}
    behind = (*_IN_BRACKETS.findall(text), *_APPOSED.findall(text))
    about |= {name: words for name, words in behind if name in names}
    found = {name for name, words in about.items() if _AN_ARRAY.search(words.lower())}
    found = {name for name in found if not re.search(_OF_OTHERS, about[name].lower())}
    found |= {name for name in _ARRAY_BEFORE.findall(text) if name in names and name not in about}
    found |= arrays_counted(f)
    if not _OR_ARRAYS.search(text):
        found |= {name for name, kinds in kinds_said(f).items() if kinds[0].form == "vector"} & {*names}
    return frozenset(found) - of_either_rank(names, text) - ranks_said(f).keys() - shapes_said(f).keys()


def numbers_beside_shapes(f: Callable) -> frozenset[str]:
    """The parameters that a section of the docstring describes as one thing each, while it states the shapes
    of others: they are single numbers.

    >>> def income(days, rise, price):
    ...     \"\"\"Income of some days.
    ...
    ...     Args:
    ...         days: days of the tests, shape (n,)
    ...         rise: exponent, roughly 0.3
    ...         price: price on each day\"\"\"
    >>> sorted(numbers_beside_shapes(income))
    ['rise']
    """
    said, told = shapes_said(f), untyped_entries(f)
    if not said:
        return frozenset()
    return frozenset(name for name, about in told.items() if name not in said and not _SEVERAL.search(about))


_COUNTED = re.compile(
    r"\b(\w+) \(\w+(?: ?[-+*/]+ ?\w+)* (?:(?:real|complex) )?"
    r"(?:numbers|values|samples|coefficients|entries)\)"
)
"""A name, and how many numbers it has: the response (n // 2 + 1 numbers)."""


def arrays_counted(f: Callable) -> frozenset[str]:
    """The parameters after whose names a docstring says how many numbers they have.

    >>> def filtered(signal, response: complex):
    ...     "A signal through a filter with the complex response (n // 2 + 1 numbers)."
    >>> sorted(arrays_counted(filtered))
    ['response']
    """
    names, text = names_without_defaults(f), in_one_line(docstring_text(f))
    return frozenset(parameter_called(word, names) for word in _COUNTED.findall(text)) & {*names}


def numbers_beside(f: Callable) -> frozenset[str]:
    """The parameters that a docstring calls numbers, and those for which neither the docstring, their names
    nor their use in the function suggest more than one number.

    >>> def line(e, mass, weights):
    ...     "A resonance at the energies e (array), normalised to one."
    >>> sorted(numbers_beside(line))
    ['e', 'mass']
    """
    names, about, kinds, notes = names_without_defaults(f), words_about(f), kinds_said(f), meant_types(f)
    said = {name for name, those in kinds.items() if all(kind.form == "number" for kind in those)}
    said |= numbers_said(f).keys() | {name for name, of in {**types_said(f), **notes}.items() if of is float}
    said |= {name for name, words in about.items() if _A_FLOAT.search(words) and not _MANY.search(words)}
    more = (
        vector_names(names)
        | reduced_parameters(f)
        | special_names(names).keys()
        | kinds.keys()
        | notes.keys()
    )
    left = (name for name in names if name not in more and not is_matrix_name(name))
    return frozenset((*said, *(name for name in left if _is_one(name, about.get(name, ""))))) & {*names}


def _is_one(name: str, words: str) -> bool:
    """Whether the description of a parameter, or its name if there is none, means one number."""
    if not words:
        return _SINGULAR.search(name) is not None
    noun = _FIRST_WORDS.match(words)
    is_plural = noun is not None and any(not _SINGULAR.search(word) for word in noun[0].split())
    return not is_plural and not _SEVERAL.search(words)


def forms_told(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of the parameters of a function whose docstring calls some of them arrays: arrays for these,
    numbers for those beside them, and both for those called numbers or arrays. Parameters it leaves open are
    left out.

    >>> def line(e, mass, width):
    ...     "A resonance at the energies e (array); the width is a number or an array."
    >>> {name: list(map(str, kinds)) for name, kinds in forms_told(line).items()}
    {'e': ['a vector'], 'mass': ['a number'], 'width': ['a number', 'a vector']}
    """
    names, arrays = names_without_defaults(f), arrays_told(f)
    if not arrays:
        return {}
    either = of_either_rank(names, in_one_line(docstring_text(f)))
    dtypes = {name: kinds[0].dtype for name, kinds in kinds_said(f).items()}
    dtypes |= dict.fromkeys(complex_said(f), "complex128")
    found: dict[str, tuple[Kind, ...]] = dict.fromkeys(numbers_beside(f) - arrays, (Kind(),))
    found |= dict.fromkeys(either, (Kind(), Kind("vector")))
    found |= {name: (Kind("vector", dtype=dtypes.get(name, "float64")),) for name in arrays}
    return {name: found[name] for name in names if name in found}


_ALIKE = re.compile(
    r"(?:\b((?:\w+(?:, | and |, and ))*\w+)(?: are|,| ?:| ?\()(?: both| two| all)? "
    r"|(?:^|[.;:(]) ?(?:of |two )?)"
    r"(?:real |nd)?arrays (?:of|with) (?:the same|one|equal|a common) shape\b"
)


def alike_in_shape(f: Callable) -> frozenset[str]:
    """The parameters that a docstring calls arrays of the same shape without giving a rank: those named
    before it, or all without a default.

    >>> def loss(y, target):
    ...     "Mean of the squares; arrays of the same shape."
    >>> sorted(alike_in_shape(loss))
    ['target', 'y']
    >>> def loss(y, target):
    ...     "Mean of the squares; numbers or arrays of the same shape."
    >>> sorted(alike_in_shape(loss))
    []
    """
    names, found = names_without_defaults(f), _ALIKE.search(in_one_line(docstring_text(f)))
    if found is None or _OR_ARRAYS.search(found.string):
        return frozenset()
    those = re.findall(r"\w+", re.sub(r"\band\b", " ", found[1] or ""))
    named = frozenset(itertools.takewhile(names.__contains__, reversed(those)))
    return named or frozenset(names if len(names) > 1 and not those else ())
