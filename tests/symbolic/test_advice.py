"""Advice is in the syntax of where its reader stands."""

import ast
import re

import numpy as np
import pytest

from rulelab.errors import DerivationError
from rulelab.symbolic import derive_rule, prove, scan_stability
from rulelab.symbolic.advice import in_magics, shown_in_magics

OPTIONS = re.compile(r"\b(?:at|domain|sizes|time_limit|plane|scalar)=(?!=)|\bderive_rule\(")
"""What is written only in a call."""


def first_of_both(y, yh):
    raise KeyError(y)


def first_rule(y, yh):
    return y, lambda y_bar: (None, y_bar, 0.0 * yh)


def messages_of(path):
    """The strings of a module that are not docstrings, with an x in the place of what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    apart = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            if isinstance(statement, ast.Expr):
                apart |= {id(inner) for inner in ast.walk(statement)}
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


def test_no_magic_shows_the_syntax_of_a_call(repository):
    """Whatever the symbolic part says of an option, a magic says with its own."""
    found = []
    for path in sorted((repository / "rulelab" / "symbolic").glob("*.py")):
        if path.name == "advice.py":
            continue
        messages = (text for text in messages_of(path) if " " in text.strip())
        found += [(path.name, text) for text in messages if OPTIONS.search(in_magics(text))]
    assert found == []


@pytest.mark.parametrize(
    ("plain", "magic"),
    [
        ("not judged: f (give smaller arrays: at=(x,))", "not judged: f (give smaller arrays: --at x)"),
        ("give sample arguments: at=(y, yh)", "give sample arguments: --at y, yh"),
        ("for arrays: derive_rule(Model.loss, w, x)", "for arrays: --at w, x"),
        ("TypeError: g() got domain=3 and at=(1, 2)", "TypeError: g() got domain=3 and at=(1, 2)"),
    ],
)
def test_only_advice_is_translated(plain, magic):
    """By the names of the parameters; what the author's code says stays."""
    assert in_magics(plain) == magic


def test_arguments_are_asked_for_by_their_names():
    """In a call as in a magic."""
    report = prove(first_of_both, first_rule)
    assert report.verdict.advice == "give sample arguments: at=(y, yh)"
    assert shown_in_magics(report).verdict.advice == "give sample arguments: --at y, yh"
    with pytest.raises(DerivationError, match=r"give arguments: derive_rule\(first_of_both, y, yh\)") as told:
        derive_rule(first_of_both)
    assert "do: give arguments: --at y, yh;" in str(shown_in_magics(told.value))


def test_a_scan_asks_for_arguments_by_their_names():
    """Where those that were guessed do not fit."""

    def undefined(y, yh):
        return np.log(-np.abs(y) - 1.0 + 0.0 * yh)

    def rule(y, yh):
        return undefined(y, yh), lambda y_bar: (None, y_bar / (y + 1.0), 0.0)

    report = scan_stability(undefined, rule)
    assert "the arguments were guessed; give your own: at=(y, yh)" in report.notes
    assert "the arguments were guessed; give your own: --at y, yh" in shown_in_magics(report).notes
