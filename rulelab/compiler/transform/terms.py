"""What can be read off the text of an expression without a parser: its brackets, its sign, whether it is one
operand. The texts have a space on each side of an operator.
"""

from __future__ import annotations

import re

_HALF_DOUBLED = re.compile(r"2\.0 \* \(\((.+) \* 0\.5\)(\[[^\[\]]*\])? \* (\w+)\)")
_SIGNS = re.compile(r"[()\[\]{} ]")
_OF_PRODUCTS = frozenset({"*", "/", "**"})


def without_brackets(text: str) -> str:
    """A text without the brackets that enclose all of it.

    >>> without_brackets("(1 - h * h)"), without_brackets("(a + b)[(0)]")
    ('1 - h * h', '(a + b)[(0)]')
    """
    return text[1:-1] if text[:1] == "(" and _end_of_brackets(text) == len(text) - 1 else text


def signed(term: str) -> tuple[str, str]:
    """The sign of a term of a sum, and the term without it.

    Products and quotients round alike whatever the sign, so a minus of the first factor can go in front.

    >>> signed("-(v_bar * v)"), signed("-x * y"), signed("((-x) / y) * z")
    (('-', '(v_bar * v)'), ('-', 'x * y'), ('-', '(x / y) * z'))
    >>> signed("-x + y"), signed("(-x)[0] * y"), signed("(-x) ** 2")
    (('+', '-x + y'), ('+', '(-x)[0] * y'), ('+', '(-x) ** 2'))
    """
    rest = _without_minus(term)
    return ("-", rest) if rest else ("+", term)


def undoubled(term: str) -> str:
    """A term without the doubling of a factor that was halved first, as in the slope of half a square: to
    double a large array takes as long as the product itself. Halving and doubling cancel exactly, except for
    numbers below 1e-307.

    >>> undoubled("2.0 * ((-s_bar * 0.5)[:, None] * d)"), undoubled("2.0 * ((s_bar * 0.5) * d)")
    ('(-s_bar)[:, None] * d', 's_bar * d')
    >>> undoubled("2.0 * ((a) + (s_bar * 0.5) * d)")
    '2.0 * ((a) + (s_bar * 0.5) * d)'
    """
    found = _HALF_DOUBLED.fullmatch(term)
    if found is None or _end_of_brackets(f"({found[1]})") != len(found[1]) + 1:
        return term
    whole, index, other = found.groups()
    if not _OF_PRODUCTS.issuperset(_operators(whole.removeprefix("-"))):
        return term
    return f"{whole if not index or is_primary(whole) else f'({whole})'}{index or ''} * {other}"


def _without_minus(text: str) -> str:
    """A text without the minus that it begins with; empty if that is not the sign of the whole term."""
    if text[:1] == "-":
        return text[1:] if _OF_PRODUCTS.issuperset(_operators(text[1:])) else ""
    if text[:2] not in ("(-", "(("):
        return ""
    end = _end_of_brackets(text)
    inside, after = text[1:end], text[end + 1 :]
    times = after[:3] in (" * ", " / ") and _OF_PRODUCTS.issuperset(_operators(after[3:]))
    rest = _without_minus(inside) if times or not after else ""
    return f"({rest}){after}" if rest and after and not is_primary(rest) else rest and rest + after


def _operators(text: str) -> list[str]:
    """The operators of a text that are outside brackets; `["?"]` if that is not clear (with quotes, say)."""
    if "'" in text or '"' in text:
        return ["?"]
    words, depth, start = [], 0, 0
    for found in _SIGNS.finditer(text):
        sign, at = found.group(), found.start()
        if sign != " ":
            depth += 1 if sign in "([{" else -1
        elif depth == 0:
            words.append(text[start:at])
            start = at + 1
    return words[1::2] if len(words) % 2 == 0 else ["?"]  # the last operand is not in `words`


def _end_of_brackets(text: str) -> int:
    """The position of the bracket that closes the one with which a text begins."""
    depth = 0
    for found in _SIGNS.finditer(text):
        sign = found.group()
        if sign != " ":
            depth += 1 if sign in "([{" else -1
            if depth == 0:
                return found.start()
    return len(text)


def arguments(call: str) -> str:
    """The text between the brackets of a call.

    >>> arguments("max_bar(y_bar, x, axis=(0))")
    'y_bar, x, axis=(0)'
    """
    return call[call.index("(") + 1 : -1]


def without_first_minus(given: str) -> str:
    """The arguments of a call without the minus of the first one; empty if that has none.

    >>> without_first_minus("-f(x, y), z"), without_first_minus("-x + y, z"), without_first_minus("x, y")
    ('f(x, y), z', '', '')
    """
    if given[:1] != "-" or "'" in given or '"' in given:
        return ""
    depth = 0
    for found in re.finditer(r"[()\[\]{},]", given):
        if found.group() == ",":
            if depth == 0:
                sign, rest = signed(given[: found.start()])
                return rest + given[found.start() :] if sign == "-" else ""
        else:
            depth += 1 if found.group() in "([{" else -1
    return ""


def is_primary(text: str) -> bool | None:
    """Whether a text is an operand that needs no brackets: a name or number, perhaps with calls, attributes
    or subscripts; None if only a parser can tell.
    """
    if text.isidentifier():
        return True
    if "'" in text or '"' in text or not (text[0].isalnum() or text[0] in "_("):
        return None
    if " " not in text:
        return True
    depth = 0
    for sign in _SIGNS.findall(text):
        if sign == " ":
            if depth == 0:
                return False
        else:
            depth += 1 if sign in "([{" else -1
    return True
