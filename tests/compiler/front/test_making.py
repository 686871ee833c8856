"""Statements that are made of a text: the author's parts stand in it, at their own places."""

import ast

from rulelab.compiler.front import asking
from rulelab.compiler.front.making import Ask, made

AUTHORS = ast.parse("\n\n\nf(\n  a)").body[0]


def test_parts_stand_where_their_names_do():
    """A name is a variable, an expression or statements, as the part is; handlers bind variables too."""
    text = """
    if test: body
    else: nothing
    try: y = test
    except BaseException as error: raise error
    """
    branch, guarded = made(text, AUTHORS, test=AUTHORS.value, body=[AUTHORS], nothing=[], y=".y", error=".e")
    assert branch.test is AUTHORS.value and branch.body == [AUTHORS] and branch.orelse == []
    [assigned], [handler] = guarded.body, guarded.handlers
    assert assigned.targets[0].id == ".y" and assigned.value is AUTHORS.value
    assert handler.name == ".e" and handler.body[0].exc.id == ".e" and handler.type.value is BaseException


def test_questions_are_calls_by_their_names():
    """What `asking` holds is asked by its name; other calls are calls."""
    asked, called = made("is_ours(error)\nother(error)", AUTHORS, error=".error")
    assert isinstance(asked.value, Ask) and asked.value.function is asking.is_ours
    assert asked.value.args[0].id == ".error" and isinstance(called.value, ast.Call)


def test_what_is_made_is_at_the_place_it_is_made_for():
    """Made nodes have the place that they are made for, and the author's keep theirs."""
    for _ in range(2):
        [statement] = made("if test:\n    x = is_ours(x)", AUTHORS, test=AUTHORS.value, x=".x")
        places = {n.lineno for n in ast.walk(statement.body[0]) if hasattr(n, "lineno")}
        assert places == {AUTHORS.lineno} == {statement.lineno} and AUTHORS.value.args[0].lineno == 5
