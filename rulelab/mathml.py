"""Formulas as MathML, which browsers typeset without scripts, fonts or downloads.

A host that removes unknown elements (JupyterLab in an untrusted notebook, GitHub) keeps only their text, and
so a power would become its digits. Each formula therefore also contains the signs of its text form, `^`, `/`
and brackets, which are hidden where MathML is typeset.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import unescape
from typing import Any
from xml.etree import ElementTree as Tree

_ROWS = {"mrow", "math", "mtd", "msqrt", "mstyle"}
_TALL = {"mfrac", "mtable", "msqrt", "mroot", "munder", "munderover"}
_MARK = ("mphantom", "mtext")
_BEFORE_A_NAME = "0.167em"


def formula_html(latex: str, text: str) -> Any:
    r"""A formula as safe HTML for a template: MathML, or its `text` if its LaTeX cannot be parsed.

    >>> str(formula_html(r"x^{2}", "x**2"))[:5], str(formula_html(r"\left(x", "x**2"))
    ('<math', '<code>x**2</code>')
    """
    from markupsafe import Markup  # here, because `import rulelab` must stay light

    try:
        return Markup(mathml(latex))
    except ValueError:
        return Markup("<code>{}</code>").format(text)


def mathml(latex: str, display: str = "inline") -> str:
    r"""The formula as a `<math>` element; ValueError, with the formula, if it cannot be parsed.

    >>> mathml(r"\bar x")[:5]
    '<math'
    """
    from latex2mathml.converter import convert_to_element  # here, because it is needed only to show formulas

    try:
        made = convert_to_element(latex, display=display)
    except Exception as error:  # the converter has many exceptions of its own
        raise ValueError(f"cannot typeset the formula {latex!r}: {error!r}") from error
    for element in made.iter():  # texts contain character references, and are escaped again below
        element.text = unescape(element.text) if element.text else element.text
    for element in list(made.iter()):
        _join_at_dot(element)
        _space(element)
        _lead_with_signs(element)
        _fit_brackets(element)
    for element in list(made.iter()):
        _mark(element)
    return Tree.tostring(made, encoding="unicode")


def _join_at_dot(element: Tree.Element) -> None:
    """Remove the space around a dot within a name, as in `lens.focus`: it is not an operator."""
    if element.tag == "mo" and element.text == ".":
        element.set("lspace", "0")
        element.set("rspace", "0")


def _space(row: Tree.Element) -> None:
    """Add a small space beside a factor whose name has several letters, as in `2 rate x` and `2 sin x`."""
    if row.tag not in _ROWS:
        return
    shifted = 0
    for at, (before, here) in enumerate(zip(list(row), list(row)[1:]), 1):
        before_a_name = _is_long_name(here) and _ends_a_factor(before)
        if before_a_name or (_is_upright(before) and _begins_a_factor(here)):
            row.insert(at + shifted, Tree.Element("mspace", {"width": _BEFORE_A_NAME}))
            shifted += 1


def _base(element: Tree.Element) -> Tree.Element:
    """The base of an element, without powers and indices."""
    has_more = element.tag in ("msup", "msub", "msubsup") and len(element) > 0
    has_more = has_more or (element.tag == "mrow" and len(element) == 1)
    return _base(element[0]) if has_more else element


def _is_upright(element: Tree.Element) -> bool:
    """Whether an element is an upright name, which the converter writes letter by letter."""
    letters = list(_base(element))
    return len(letters) > 1 and all(letter.get("mathvariant") == "normal" for letter in letters[-2:])


def _is_long_name(element: Tree.Element) -> bool:
    base = _base(element)
    begins_with_dot = len(base) > 0 and (base[0].text or "").startswith(".")
    return (_is_upright(element) and not begins_with_dot) or (
        base.tag == "mi" and len(base.text or "") > 1
    )


def _begins_a_factor(element: Tree.Element) -> bool:
    first = next(part for part in element.iter() if not len(part))
    is_text = first.text is not None and not first.text.startswith(".")
    return is_text and (first.tag != "mo" or first.get("form") == "prefix" or first.text == "(")


def _ends_a_factor(element: Tree.Element) -> bool:
    return element.tag != "mspace" and (element.tag != "mo" or element.get("form") == "postfix")


def _lead_with_signs(row: Tree.Element) -> None:
    """Make a sign after a bracket or another sign a prefix of what follows, without space around it."""
    for before, here in zip(list(row), list(row)[1:]):
        if here.tag == "mo" and here.text in ("\N{MINUS SIGN}", "+") and before.tag == "mo":
            if before.get("form") != "postfix":
                here.set("form", "prefix")


def _fit_brackets(row: Tree.Element) -> None:
    """Let brackets grow only around tall elements; browsers let them grow with any descender."""
    if not any(part.tag in _TALL for part in row.iter()):
        for part in row:
            if part.get("fence") == "true":
                part.set("stretchy", "false")


# -- the same as a line of text ------------------------------------------------------------------------------


def _mark(element: Tree.Element) -> None:
    """Add hidden signs to an element, which its text form needs."""
    parts = list(element)
    if element.tag in _ROWS:
        _spell_spaces(element)
    if element.tag in ("msup", "msub"):
        _between(element, 1, "^" if element.tag == "msup" else "_")
    elif element.tag == "msubsup":
        _between(element, 1, "_")
        _between(element, 2, "^")
    elif element.tag == "mfrac":
        _between(element, 0, "(")
        _between(element, 1, "/", ")")
    elif element.tag == "mroot":
        _between(element, 0, "")
        _between(element, 1, "^(1/", ")")
    elif element.tag == "msqrt":
        element.insert(0, _hidden("√("))
        element.append(_hidden(")"))
    elif element.tag == "mtable":
        for row, last in _with_last(parts):
            for cell, end in _with_last(row):
                cell.append(_hidden("" if end and last else "; " if end else ", "))


def _spell_spaces(row: Tree.Element) -> None:
    """Add a hidden space wherever the formula has space, also around words."""
    for part in list(row):
        word = part.tag == "mo" and len(part.text or "") > 1 and (part.text or "").isalpha()
        if word or part.tag == "mspace":
            row.insert(list(row).index(part) + 1, _hidden(" "))
        if word:
            row.insert(list(row).index(part), _hidden(" "))


def _with_last(parts: Iterable[Tree.Element]) -> list[tuple[Tree.Element, bool]]:
    listed = list(parts)
    return [(part, part is listed[-1]) for part in listed]


def _between(element: Tree.Element, at: int, mark: str, after: str = "") -> None:
    """Add hidden signs before and after a part, with brackets unless it is a single name or number."""
    part = element[at]
    single = _is_single(part)
    row: Any = Tree.Element("mrow")
    row.append(_hidden(mark if single else f"{mark}("))
    row.append(part)
    row.append(_hidden(after if single else f"){after}"))
    element.remove(part)
    element.insert(at, row)


def _is_single(element: Tree.Element) -> bool:
    while element.tag in _ROWS - {"msqrt"} and len(element) == 1:
        element = element[0]
    return element.tag in ("mi", "mn", "mtext")


def _hidden(mark: str) -> Tree.Element:
    phantom = Tree.Element(_MARK[0], {"style": "display: none"})
    Tree.SubElement(phantom, _MARK[1]).text = mark
    return phantom
