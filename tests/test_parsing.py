"""The nodes of syntax trees."""

import argparse
import ast
import statistics
import textwrap
from pathlib import Path

import numpy as np
import pytest

from rulelab import parsing

WITHOUT_PARTS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
ODD = """
def f(a, b=1, *c, d: int = 2, **e) -> float:
    x, *y = yield
    del x[0], x.y
    assert a if b else c, f"{d!r:>{e}}"
    return {**a, "k": [*b]}, lambda q=1: (q := 2)
"""


@pytest.mark.parametrize("module", [argparse, statistics, textwrap, parsing, np.lib._polynomial_impl, ODD])
def test_the_parts_of_a_node_are_those_of_ast(module):
    """Of each node of some texts, in the same order, but for operators and contexts."""
    text = module if isinstance(module, str) else Path(module.__file__).read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, WITHOUT_PARTS)]
        assert parsing.children(node) == parts, ast.dump(node)
