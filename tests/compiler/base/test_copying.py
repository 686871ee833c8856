"""Copies of nodes and of lowered statements."""

import ast

from rulelab.compiler.base.copying import shallow


def test_a_shallow_copy_has_the_same_parts():
    """And what it is given afterwards is its own."""
    loop = ast.parse("while x > 1.5:\n    x = x / 1.3\n").body[0]
    copied = shallow(loop)
    assert type(copied) is ast.While and copied.test is loop.test and copied.body is loop.body
    assert (copied.lineno, copied.end_lineno) == (loop.lineno, loop.end_lineno)
    copied.body = []
    assert len(loop.body) == 1
