"""What the parameter sections of a docstring say, rewritten as the sentences that other modules read: `rate :
float` with "Positive rate." below it becomes "rate is a number. rate > 0.".
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from .kinds import lengths_in
from .own_docstrings import docstring_of

_HAS_A_SECTION = re.compile(r"^\s*(?:Parameters\s*\n\s*-{3,}|Args:|Arguments:|:param )", re.MULTILINE)
_NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?"
_BOUND = re.compile(rf"(?:^|(\w+) |[\s,;(])([<>]=?) ?({_NUMBER})(?!\w|\.\d)")
"""A bound, and the word before it, which may be a length: corners (n, 2), n >= 3."""
_LENGTHS_SAID = re.compile(r"\((\w+),([\w, ]*)\)")
SIGNS = {
    **dict.fromkeys(("above", "over", "greater than", "larger than", "more than"), ">"),
    **dict.fromkeys(("below", "under", "less than", "smaller than"), "<"),
    "at least": ">=",
    "at most": "<=",
}
"""Words for the end of an interval, before a number."""
WORDED = rf"({'|'.join(SIGNS)}) ({_NUMBER})(?!\w|\.\d)"
_WORDED_TWICE = re.compile(rf"\b{WORDED}(?:,? (?:and|but) (?:\w+ )?{WORDED})?")
"""One end or both: each above 0 and below 1."""
_DIGITS = {"zero": "0", "one": "1", "two": "2"}
_END_IN_WORDS = re.compile(
    rf"\b((?:{'|'.join(SIGNS)}|between|between (?:zero|one|-?\d[\d.]*) and) )(zero|one|two)\b(?! of\b)"
)
"""The end of an interval in words: at least zero, less than one."""
_NOT_OF_A_SIGN = re.compile(
    r"\b(?:(cannot|(?:may|must|should|can) (?:not|never)) be|not|never) (negative|positive)\b"
    r"(?![ -](?:semi|definite))"
)
BETWEEN = rf"(?:between|from|in|within) [(\[]?({_NUMBER})(?:,| and| to) ({_NUMBER})(?!\w|\.\d)"
TO_LAST = r"([A-Za-z]\w*)(?:\.shape\[(\d)\])? ?- ?1\b"
_ALONG = rf"(?:between|from) ({_NUMBER}) (?:and|to) ({TO_LAST})"
"""An interval that ends at the last index of an axis: between 0 and h - 1."""
_OF_ORDER = r"(?:strictly )?(?:sorted|increasing|ascending|rising|decreasing|descending|finite)\b"
_SIGNED = (
    (re.compile(r"\b(?:non-?negative|zero or positive|positive or zero)\b"), ">= 0"),
    (
        re.compile(
            rf"(?<!non-)(?<!zero or )\bpositive\b(?!,? (?:and (?!{_OF_ORDER})|semi|definite)| or zero|-)"
        ),
        "> 0",
    ),
    (re.compile(r"(?<!non-)\bnegative\b(?!,? (?:and|semi|definite)|-)"), "< 0"),
)
_RISES = re.compile(r"\b(?:sorted|increasing|ascending|rising)\b(?! or)")
_ONE_OF_TWO = re.compile(
    r"(?<![\w.])(?<!between )(?:(?:0|-1)(?:,| or| and) ?1\b|1(?:,| or| and) ?(?:0|-1)\b)(?!\w|\.\d)"
    r"|(?<![\w.])[01] (?:where|if|when|for)\b[^.;]*\b(?:otherwise|else) [01](?!\w|\.\d)"
)
SOFT = re.compile(
    r"\bor (?:\w+ )?(?:soft|smooth(?:ed)?|between|in-between|fractions?|fractional|probabilit(?:y|ies))\b"
)
"""Words that say that labels are not only two numbers: 0 or 1, or soft."""
_ARRAY = re.compile(r"\b(?:nd)?arrays?(?:[_-]like)?\b|\bsequence\b|\blist\b|\bshape\b|\(\w+,")
SYMMETRIC = re.compile(
    "".join(rf"(?<!{no} )" for no in ("not", "not be", "not necessarily", "not be assumed", "not in general"))
    + r"(?<!non-)\bsymmetric\b"
)
"""A statement that a matrix is symmetric, but not that it need not be."""
_NOUNS = (
    (re.compile(r"\bpositive[ -]definite\b"), "symmetric positive definite matrix"),
    (SYMMETRIC, "symmetric matrix"),
    (re.compile(r"\bsquare matrix\b"), "square matrix"),
    (re.compile(r"\bmatrix\b"), "matrix"),
    (re.compile(r"\bvector\b"), "vector"),
)
_TYPES: Mapping[str, type] = {"int": int, "integer": int, "float": float, "scalar": float, "number": float}


_BEFORE_AN_OPTION = r"\bbetween [-+.\w]+ and |\b(?:below|above|under|over|than) |[<>]=? ?"


def docstring_text(f: Any) -> str:
    """The docstring of a function, followed by the contents of its parameter sections as sentences; empty if
    there is none.

    >>> def decay(t, rate):
    ...     \"\"\"Exponential decay.
    ...
    ...     Parameters
    ...     ----------
    ...     t : ndarray, shape (n,)
    ...     rate : float
    ...         Positive rate.
    ...     \"\"\"
    >>> docstring_text(decay).splitlines()[-1]
    'rate is a number. rate > 0.'
    """
    doc = _doc_of(f)
    said = "".join(f"\n{'. '.join(each)}." for each in _sentences(doc))
    return f"{doc}.{said}" if said else doc  # the period keeps the last word apart from the first name


def _doc_of(f: Any) -> str:
    """The docstring of a function, simplified: bounds in parentheses follow the name directly, `counts (>=
    0)` as `counts >= 0`, and statements about several parameters in one line get a line each.

    >>> def deviance(counts, rates):
    ...     "counts: observed (>= 0), rates: expected ones. Of counts (events, >= 0)."
    >>> _doc_of(deviance).splitlines()
    ['counts: observed >= 0,', 'rates: expected ones. Of counts >= 0.']
    """
    code, doc = getattr(f, "__code__", None), docstring_of(f)
    names = code.co_varnames[: code.co_argcount] if isinstance(code, types.CodeType) else ()
    return _by_names(_with_options(doc, getattr(f, "__kwdefaults__", None) or {}), names)


def _with_options(doc: str, defaults: Mapping[str, Any]) -> str:
    """A docstring with the names of options used as bounds replaced by their defaults.

    >>> _with_options("load is between 0 and load_max", {"load_max": 1.5})
    'load is between 0 and 1.5'
    """
    bounds = [name for name, x in defaults.items() if type(x) in (int, float) and name in doc]
    for name in bounds:
        doc = re.sub(rf"({_BEFORE_AN_OPTION}){name}\b", rf"\g<1>{defaults[name]!r}", doc)
    return doc


def bounded_in_brackets(doc: str) -> frozenset[str]:
    """The words after which a docstring has a bound in parentheses, whatever the bound is.

    >>> sorted(bounded_in_brackets("At an area (> 1) and a speed (m/s, < limit)."))
    ['area', 'speed']
    """
    return frozenset(word for word, _ in re.findall(_BRACKET_BEHIND, doc))


@functools.lru_cache(1024)  # each reader of a docstring calls it
def _by_names(doc: str, names: tuple[str, ...]) -> str:
    doc = _END_IN_WORDS.sub(lambda found: found[1] + _DIGITS[found[2]], doc)
    doc = _NOT_OF_A_SIGN.sub(lambda found: f"{'is ' if found[1] else ''}non-{found[2]}", doc)
    doc = _in_full(_ANY_AXES.sub("batch", doc), names)
    doc = _shapes_in_order(doc, names)
    first = _OWN_LINE.search(doc)
    if first is not None and len(names) > 1 and first[1] in names:
        name = rf"(?:{'|'.join(map(re.escape, names))})"
        doc = re.sub(rf"(: [^\n:]*?[,;.]) (?=(?:{name}, )*{name} ?: )", r"\1\n", doc)
    doc = _WORD_IN_BRACKETS.sub(r"\1 ", _QUOTED.sub(r"\1", _EACH.sub("(", doc)))
    doc = _OF_SEVERAL.sub(functools.partial(_one_by_one, names), doc)
    doc = _BETWEEN_TWO.sub(functools.partial(_each_between, names), doc)
    doc = _IN_BRACKETS.sub(r"\1 \2 \3", doc)

    def called(found: re.Match[str]) -> str:
        is_letter = found[1] in names and found[2] not in names
        return f"{found[1]} {found[3]}" if is_letter else found[0]

    return _BY_A_LETTER.sub(called, doc)


def _shapes_in_order(doc: str, names: tuple[str, ...]) -> str:
    """A sentence with a shape for each parameter, in their order, in which each follows its name.

    >>> _shapes_in_order("Of colours (..., 3) under the white point (3,).", ("xyz", "white"))
    'Of colours xyz (..., 3) under the white point white (3,).'
    """
    found = _WORD_AND_SHAPE.findall(doc)
    if len(found) != len(names) or len(names) < 2 or "\n" in doc.strip():
        return doc
    if any(word in names and word != name for word, name in zip(found, names)):
        return doc
    left = iter(names)

    def named(shape: re.Match[str]) -> str:
        name = next(left)
        return shape[0] if shape[1] == name else f"{shape[0]} {name}"

    return _WORD_AND_SHAPE.sub(named, doc)


_WORD_AND_SHAPE = re.compile(
    r"(?<!in )(?<!between )\b(\w+)(?= \((?:\.\.\., ?\w+(?:, ?\w+)*,?|[A-Za-z]\w*(?:, ?\w+)*,|[1-9],"
    r"|[A-Za-z]\w*(?:, ?\w+)+|[1-9]\d*(?:, ?[1-9A-Za-z]\w*)+)\))"
)
"""A word before a shape in parentheses, with a comma in it: points (n, 3), weights (n,)."""


def _in_full(doc: str, names: tuple[str, ...]) -> str:
    """A docstring in which bounds are given for parameters by their full names, where it uses a phrase with
    their initials, their last word or their beginning.

    >>> _in_full("State of charge between 0 and 1.", ("soc", "current"))
    'soc between 0 and 1.'
    >>> _in_full("4000 <= Re <= 1e8, 0 <= roughness <= 0.05", ("reynolds", "relative_roughness"))
    '4000 <= reynolds <= 1e8, 0 <= relative_roughness <= 0.05'
    """
    left = [name for name in names if len(name) > 2 and not re.search(rf"\b{name}\b", doc)]
    for name in left:
        if name.isalpha() and len(name) <= MOST_INITIALS:
            phrase = r"[ -]".join(rf"{letter}\w+" for letter in name)
            doc = re.sub(rf"\b(?:{phrase}){_BEFORE_A_BOUND}", name, doc, flags=re.IGNORECASE)
    beside = {word for pair in _BESIDE_A_SIGN.findall(doc) for word in pair if len(word) > 1} - {*names}
    for is_called in (_is_last_word, _is_beginning):
        for word in sorted(beside):
            if len(those := [name for name in left if is_called(word.lower(), name.lower())]) == 1:
                doc = re.sub(rf"\b{word}\b", those[0], doc)
                left.remove(those[0])
                beside.discard(word)
    return doc


MOST_INITIALS = 5
"""The largest number of letters of a name that may each stand for a word."""
_BEFORE_A_BOUND = (
    r"(?= ?(?:[<>(]|(?:(?:is|are|lies|must be|,) )?"
    r"(?:in [\[(]|between|within|above|below|at |positive|negative)))"
)
_BESIDE_A_SIGN = re.compile(r"[<>]=? ?([A-Za-z]\w*)\b|\b([A-Za-z]\w*)(?= ?[<>])")


def _is_last_word(word: str, name: str) -> bool:
    return name.rpartition("_")[2] == word


def _is_beginning(word: str, name: str) -> bool:
    return name.startswith(word)


def _one_by_one(names: tuple[str, ...], found: re.Match[str]) -> str:
    """The bound in parentheses after several names, repeated for each."""
    those = _AND.split(found[1])
    if not {*those} <= {*names} or len(those) < 2:
        return found[0]
    return f"{found[1]}{found[2]} ({', '.join(f'{name} {found[3]} {found[4]}' for name in those)})"


def _each_between(names: tuple[str, ...], found: re.Match[str]) -> str:
    """The interval of several names, repeated for each."""
    those = _AND.split(found[2])
    if not {*those} <= {*names}:
        return found[0]
    return ", ".join(f"{found[1]}{name}{found[3]}" for name in those)


_AND = re.compile(r", and |, | and ")
_SEVERAL = r"(\w+(?:(?:, and |, | and )\w+)+)"
_OF_SEVERAL = re.compile(rf"\b{_SEVERAL}((?: (?:is|are)(?: \w+){{1,3}})?) \((<=|>=|<|>) ?({_NUMBER})\)")
"""A bound of all names before it: attack, decay, release are lengths (> 0)."""
_BETWEEN_TWO = re.compile(rf"({_NUMBER} ?<=? ?){_SEVERAL}( ?<=? ?{_NUMBER})(?!\w|\.\d)")
"""One interval for several names: 0 <= attack, release < 1."""
_ANY_AXES = re.compile(r"(?<=\()\.\.\.(?=, ?\w+, ?\w)|(?<=\w, )\.\.\.(?=, ?\w)")
"""Any number of axes: shape (..., 3, 3)."""
_QUOTED = re.compile(r"`+(\w+)`+")
_EACH = re.compile(
    r"\((?:each|all|every one)(?: of them)?(?: is| are)? "
    r"(?=[<>]|in |between |within |(?:non-?)?(?:posi|nega)tive)"
)
"""A statement about the elements of an array, in parentheses after its name: (each < 1), (all positive)."""
_WORD_IN_BRACKETS = re.compile(r"(?<=\bthe )\((positive|negative|non-?negative)\) (?=\w)")
"""An adjective in parentheses before a noun: the (positive) durations."""
_BRACKET_BEHIND = r"\b(\w+) \((?:[\w/ ]+, )?(<=|>=|<|>)"
_IN_BRACKETS = re.compile(rf"{_BRACKET_BEHIND} ?({_NUMBER})\)")
_BY_A_LETTER = re.compile(r"\b(\w+) ([A-Za-z](?:_\w+)?) ((?:<=|>=|<|>) )")
"""A parameter's symbol in a formula, between its name and the bound: degeneracies g_i > 0."""


def in_one_line(said: str) -> str:
    """A text as one line, with lines about different parameters as sentences.

    >>> in_one_line("lo, hi : float or array\\n    mu : float")
    'lo, hi : float or array. mu : float'
    """
    return " ".join(_NEXT_LINE.sub(". ", said).split())


_NEXT_LINE = re.compile(r"\.?\s*\n\s*(?=\w+(?:, ?\w+)* ?: )")
"""The end of a line before one about another parameter."""


def parameter_called(word: str, names: Container[str]) -> str:
    """The parameter that a word names, in the singular or plural (doses, maturities); else the word
    itself.
    """
    forms = (word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word))
    return next((form for form in forms if form in names), word)


def types_said(f: Callable) -> Mapping[str, type]:
    """The parameters to which a parameter section gives the type of a single number: int or float.

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
    entries = _entries(docstring_of(f))
    words = {name: kind.partition(",")[0].strip() for name, kind, _ in entries}
    return {name: _TYPES[word] for name, word in words.items() if word in _TYPES}


def untyped_entries(f: Callable) -> Mapping[str, str]:
    """The parameters in a section of the docstring that gives them no type, with their descriptions in lower
    case.
    """
    return {name: about for name, kind, about in _entries(docstring_of(f)) if not kind}


def words_about(f: Callable) -> Mapping[str, str]:
    """What a docstring says about each parameter, in lower case: in a parameter section, or else on a line
    that begins with the name.

    >>> def ionic(m, charge):
    ...     \"\"\"Ionic strength.
    ...
    ...     m: molalities
    ...     charge: Integer charges\"\"\"
    >>> words_about(ionic)
    {'m': 'molalities', 'charge': 'integer charges'}
    """
    doc = _doc_of(f)
    if entries := _entries(doc):
        return {name: f"{kind}; {about}".removeprefix("; ") for name, kind, about in entries}
    lines = _OWN_LINE.finditer(doc)
    return {name.strip(): line[2].lower() for line in lines for name in line[1].split(",")}


_OWN_LINE = re.compile(r"^[ \t]*(\w+(?:, ?\w+)*) ?: ?(.*\S)[ \t]*$", re.MULTILINE)


def lists_said(f: Callable) -> Mapping[str, tuple[int | str, ...]]:
    """The parameters that a docstring calls a list of arrays, with the lengths of each array, if given.

    >>> def total(parts):
    ...     \"\"\"Sum.
    ...
    ...     Args:
    ...         parts (list of np.ndarray): Of one shape.
    ...     \"\"\"
    >>> lists_said(total)
    {'parts': ()}
    >>> def moved(frames, point):
    ...     \"\"\"frames: list of (4, 4) matrices, the last one first\"\"\"
    >>> lists_said(moved)
    {'frames': (4, 4)}
    """
    return {name: lengths_in(found["before"] or found["behind"] or "") for name, found in _lists_in(f)}


def list_counts_said(f: Callable) -> Mapping[str, str]:
    """The parameters that a docstring calls a list of a number of arrays, and the word for that number.

    >>> def mixed(gates, experts):
    ...     "Weighs experts: list of K vectors by gates (K,)."
    >>> list_counts_said(mixed)
    {'experts': 'K'}
    """
    return {name: found["count"] for name, found in _lists_in(f) if found["count"]}


def _lists_in(f: Callable) -> Iterator[tuple[str, re.Match[str]]]:
    """The names that a docstring calls a list of arrays, and the match of these words."""
    doc = docstring_of(f)
    entries = [(name, _LIST_OF_ARRAYS.match(kind)) for name, kind, _ in _entries(doc)]
    entries += [(found["name"], found) for found in _CALLED_A_LIST.finditer(doc)]
    yield from ((name, found) for name, found in entries if found is not None)


def lengths_differ(f: Callable, name: str) -> bool:
    """Whether a docstring says that the arrays of a list need not have the same length.

    >>> def total(parts):
    ...     "Sum of the parts, a list of arrays of different lengths."
    >>> lengths_differ(total, "parts")
    True
    """
    text = in_one_line(docstring_text(f))
    return name in text and _OF_OTHER_LENGTHS.search(words_about(f).get(name) or text) is not None


_LENGTH = r"(?:lengths?|sizes?|numbers? of (?:entries|elements|values|samples))"
_OF_OTHER_LENGTHS = re.compile(
    rf"\b(?:{_LENGTH} (?:may|can|might|need) (?:not be (?:equal|the same|alike)|differ|vary|be different)"
    rf"|(?:different|unequal|varying|various|differing) {_LENGTH}|ragged"
    rf"|(?:not|need not be) (?:all )?(?:of |have )?(?:the same|equal|one) {_LENGTH})\b"
)
_INTEGERS = re.compile(r"(?:\w+ |an array of )?integers\b(?!,? (?:or|and)\b)")
"""The description of a parameter without a type: T integers."""
_DIMS = r"\((?P<{}>\w+,(?: ?\w+)?)\)"
_OF_ARRAYS = (
    rf"(?:list|sequence)s? of (?:(?P<count>\w+) )?(?:{_DIMS.format('before')} )?"
    r"(?:np\.)?(?:(?:nd)?arrays?|vectors|matrices)\b"
    rf"(?:,? (?:each )?(?:of |with )?(?:shape )?{_DIMS.format('behind')})?"
)
_LIST_OF_ARRAYS = re.compile(_OF_ARRAYS)
_CALLED_A_LIST = re.compile(rf"\b(?P<name>\w+)(?: ?[:,]| is| are)(?: an?| the)? {_OF_ARRAYS}")


@functools.lru_cache(1024)
def _entries(doc: str) -> tuple[tuple[str, str, str], ...]:
    """Each parameter of a section with its type and description, in lower case."""
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


_TO_PICK_BY = ("vector of integers", "vector of booleans")
"""Arrays that select elements of others: their lengths are read from the code."""
_SHAPE = re.compile(r"\bshape:? (\([\w\s,]+\))(?!,? or)")


def _sentences(doc: str) -> Iterator[list[str]]:
    """The sentences about each parameter for which there are any."""
    for name, kind, about in _entries(doc):
        noun, shape = _noun(kind, about), _SHAPE.search(f"{kind}; {about}")
        said = [f"{name} has shape {shape[1]}"] if shape and noun not in _TO_PICK_BY else []
        said += [f"{name} is {'an' if noun == 'integer' else 'a'} {noun}"] if noun else []
        said += _bounds(name, f"{kind}; {about}")
        if _RISES.search(f"{kind}; {about}"):
            said.append(f"{name} rises")
        if any(map(_ONE_OF_TWO.search, (about, kind))) and not SOFT.search(f"{kind}; {about}"):
            said.append(f"{name} is 0 or 1")
        if said:
            yield said


def _noun(kind: str, about: str) -> str:
    """What a parameter is, in the words of a sentence; empty where the docstring does not say."""
    is_complex = "complex " if "complex" in kind else ""
    if re.search(r"\bbool", kind):
        return "vector of booleans" if _ARRAY.search(kind) else ""
    if re.search(r"\bint(?:eger)?s?\b", kind) and _ARRAY.search(kind) or not kind and _INTEGERS.match(about):
        return "vector of integers"
    for pattern, noun in _NOUNS:
        if pattern.search(kind) or noun.startswith("symmetric") and pattern.search(about):
            return is_complex + noun
    alone = _TYPES.get(kind.partition(",")[0].strip())
    if alone is not None:
        return "number" if alone is float else "integer"
    return "complex array" if is_complex and _ARRAY.search(kind) else ""


def _bounds(name: str, words: str) -> Iterator[str]:
    between = re.search(rf"\b{BETWEEN}", words)
    if between is not None:
        yield f"{name} >= {between[1]}"
        yield f"{name} <= {between[2]}"
        return
    along = re.search(rf"\b{_ALONG}", words)
    if along is not None:
        yield f"{name} >= {along[1]}"
        yield f"{name} <= {along[2]}"
        return
    bound = _BOUND.search(words)
    if bound is not None:
        of = _of_length(name, bound[1], words)
        yield from [f"{of} {bound[2]} {bound[3]}"] if of else []
    elif (worded := _WORDED_TWICE.search(words)) is not None:
        ends = ((worded[1], worded[2]), (worded[3], worded[4]))
        yield from (f"{name} {SIGNS[word]} {end}" for word, end in ends if word)
    signs = [sign for pattern, sign in _SIGNED if pattern.search(words)]
    yield from (f"{name} {sign}" for sign in signs if len(signs) == 1)  # several contradict each other


def _of_length(name: str, word: str | None, words: str) -> str:
    """What a bound is about: the numbers of a parameter, or its first length if that is the word before the
    bound; empty if it is another length.
    """
    lengths = _LENGTHS_SAID.search(words)
    if word is None or lengths is None or word == name:
        return name
    if word == lengths[1]:
        return f"len({name})"
    return "" if word in lengths[2].replace(",", " ").split() else name
