"""Where in a structure containers are, and what a cotangent of the whole says of them."""

from rulelab.compiler.memory import heap, outlines
from rulelab.compiler.memory.support import NO, ZERO


def test_structural_cotangents_are_handed_in(sweep):
    """What a rule says of a tuple with own lists goes to these lists; the rest stays with the tuple."""
    xs = heap.own([1.0, 2.0], True)
    outline = outlines.outline((xs, 3.0))
    rest = outlines.hand_in(outline, ([4.0, NO], 5.0))
    assert heap.take_all(xs) == {0: 4.0}
    assert rest[1] == 5.0
    assert rest[0] is ZERO


def test_an_outline_ends_where_a_structure_closes(sweep):
    """A list that holds itself, and an object that knows itself, have an outline."""
    xs = heap.own([1.0], True)
    xs.append(xs)
    owner, inner = outlines.outline(xs)
    assert owner is xs
    assert inner == {}
