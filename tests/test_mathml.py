"""Formulas as MathML: what a browser typesets, and the line of text that is left where MathML is removed."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

import pytest

from rulelab.mathml import formula_html, mathml
from rulelab.tables import name_latex

LINES = {
    r"x^{2}": "x^2",
    r"\frac{1}{2} x^{2}": "(1/2)x^2",
    r"\frac{\bar{y} e^{x}}{\left(e^{x} + 1\right)^{2}}": "((y\u00afe^x)/((e^x+1)^2))",
    r"- 2 \sin{\left(x \right)} \cos^{2}{\left(y \right)}": "\N{MINUS SIGN}2 sin(x) cos^2(y)",
    r"\sqrt{x^{2} + 1}": "\u221a(x^2+1)",
    r"{\mathrm{my\_rate}}_{0,1}^{2}": "my_rate_(0,1)^2",
    r"1.5 \cdot 10^{-5}": "1.5\u00b710^(\N{MINUS SIGN}5)",
    r"\begin{cases} x & \text{for}\: x > 0 \\0 & \text{otherwise} \end{cases}": "{x, for x>0; 0, otherwise",
    r"\left[\begin{matrix}1 & 2\\3 & 4\end{matrix}\right]": "[1, 2; 3, 4]",
    r"\operatorname{Re}{x}": "Re x",
    r"x \bmod 2": "x mod 2",
    r"\sqrt[3]{x + 1}": "(x+1)^(1/3)",
}


def left(markup: str) -> str:
    """What a host leaves that removes elements which it does not know."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup))


@pytest.mark.parametrize("latex", LINES)
def test_the_text_of_a_formula_reads_as_the_formula(latex):
    """A power is not its digits in a row, and a fraction is not a product, where only the text is left."""
    assert " ".join(left(mathml(latex)).replace("\N{NO-BREAK SPACE}", " ").split()) == LINES[latex]


@pytest.mark.parametrize("latex", LINES)
def test_the_marks_of_the_text_take_no_part_in_the_formula(latex):
    """They are not shown, and each element still has as many parts as MathML wants of it."""
    made = ElementTree.fromstring(mathml(latex).replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
    for name, parts in {"msup": 2, "msub": 2, "mfrac": 2, "mover": 2, "msubsup": 3}.items():
        assert all(len(element) == parts for element in made.iter(name)), name
    assert all(mark.get("style") == "display: none" for mark in made.iter("mphantom"))


def test_what_a_formula_says_in_words_is_no_markup():
    """Letters that would be a tag are letters."""
    assert "<script" not in mathml(r"\text{<script>1</script>}")
    assert left(mathml(r"\text{<script>}")) == "<script>"


def test_a_formula_that_cannot_be_read_is_shown_as_text():
    """In SymPy's spelling, escaped."""
    assert formula_html(r"\left(x", "x < 2") == "<code>x &lt; 2</code>"
    with pytest.raises(ValueError, match="cannot typeset"):
        mathml(r"\left(x")


def test_a_name_with_a_dot_has_no_room_around_it():
    """It is a field of something, not two factors."""
    assert '<mo lspace="0" rspace="0">.</mo>' in mathml(r"\mathrm{lens.focus}")


@pytest.mark.parametrize(
    "latex, spaces",
    [
        (rf"2 {name_latex('weights[0]')}", 1),
        (rf"{name_latex('yh')} {name_latex('rate')}^{{2}} x", 2),
        (rf"{name_latex('points[0][1]')}^{{2}} w {name_latex('points[0][0]')}", 2),
        (rf"{name_latex('rate')} - {name_latex('bodies[2].mass')} x", 1),
        (rf"{name_latex('rate')} \left(x + 1\right)", 1),
        (r"2 x_{0} y", 0),
        (r"f{\left(x \right)}", 0),
    ],
)
def test_a_long_name_stands_apart_from_what_it_is_multiplied_by(latex, spaces):
    """`2 weights` is no `2weights`; letters, and the name of a function before its brackets, need none."""
    assert mathml(latex).count("<mspace") == spaces


@pytest.mark.parametrize(
    "key", ["rate 2", "x<y", "it's", 'a"b', "a_b-c", r"\input{x}$", "</mtext><script>", ""]
)
def test_any_key_of_a_dict_is_an_index(key):
    """In words, of which none acts; no name is a row of question marks for its brackets and quotes."""
    written = name_latex(f"d[{key!r}][0]")
    assert written.startswith("{d}_{") and written.endswith(",0}") and not set("<>$") & set(written)
    page = mathml(written)
    assert "<msub>" in page and "<script" not in page and r"\input" not in written
