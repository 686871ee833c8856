"""Advice is in the syntax of where its reader stands."""

import ast
import functools
import html
import re

import numpy as np
import pytest

from rulelab import advice
from rulelab.advice import (
    BY_FORCE,
    FOR_FLOATS,
    NO_PACKAGE,
    OF_ONE_KIND,
    TO_JUDGE,
    checked_with,
    in_magics,
    on_command_line,
    shown_in_magics,
    shown_on_command_line,
    skeleton,
    with_arguments,
    with_at,
    with_domain,
)
from rulelab.checking import rule_check
from rulelab.checking.arguments.guesser import none_found
from rulelab.errors import DerivationError, ExportError
from rulelab.portability import export
from rulelab.rules.authoring import rrule_for
from rulelab.rules.registry import Registry
from rulelab.symbolic import derive_rule, prove, scan_stability

OPTIONS = re.compile(
    r"\b(?:at|domain|sizes|time_limit|plane|scalar|force|package|mode)=(?!=)"
    r"|\b(?:derive_rule|(?<!%)rule_check|rl\.rule_stub)\("
    r"|(?<=numbers: )rule_check|(?<!%)\brule_check (?:says|shows)"
)
"""What is written only in a call."""
OF_MAGICS = re.compile(r"--(?:at|domain|sizes|seconds|plane|scalar|force|package|to|mode)\b|%rule_check")
"""What is written only in a line of a magic."""


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
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                apart |= {id(inner) for inner in ast.walk(statement)}
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


@functools.cache
def advice_in(repository, floor):
    """(file, text) of each message of a floor."""
    return [
        (path.name, text)
        for path in sorted((repository / "rulelab" / floor).rglob("*.py"))
        for text in messages_of(path)
        if " " in text.strip()
    ]


@pytest.mark.parametrize("floor", ["ad", "checking", "portability", "symbolic"])
def test_no_message_writes_an_option_itself(repository, floor):
    """Whatever is said of one is a row of advice.py, which knows what a magic says in its place."""
    found = [(name, text) for name, text in advice_in(repository, floor) if OPTIONS.search(text)]
    assert [(name, text) for name, text in found if "\n" not in text] == []  # which is code, to be written


def test_every_row_is_said_in_the_syntax_of_where_one_stands():
    """No magic shows the syntax of a call, nor the reverse."""
    fixed = [text for name, text in vars(advice).items() if name[0].isupper() and isinstance(text, str)]
    made = [
        with_at("give arguments", ("x", "xs[0]", "f(1)")), checked_with("give your own", "<lambda>", ("x",)),
        with_arguments("for arrays", lambda w, h: w), with_domain("their kinds", {"x": "positive vector"}),
        skeleton("<lambda>"),
    ]  # fmt: skip
    assert len(fixed) >= 19
    for text in (*fixed, *made):
        magic = in_magics(text)
        assert not OPTIONS.search(magic) and not OF_MAGICS.search(text), (text, magic)
        assert magic != text and in_magics(magic) == magic
        assert on_command_line(on_command_line(text)) == on_command_line(text)


def test_what_is_asked_for_in_other_words_is_refused():
    """It would stay in the syntax of a call."""
    with pytest.raises(ValueError, match="no advice begins with 'give me arguments'"):
        with_at("give me arguments", ("x",))


@pytest.mark.parametrize("floor", ["checking", "portability", "symbolic"])
def test_no_call_shows_the_syntax_of_a_magic(repository, floor):
    """Messages are written for who calls a function."""
    assert [(name, text) for name, text in advice_in(repository, floor) if OF_MAGICS.search(text)] == []


@pytest.mark.parametrize(
    ("plain", "magic", "command"),
    [
        (f"as at 0: {TO_JUDGE} there", "as at 0: give --at to judge it there",
         "as at 0: give arguments in __rulelab_points__ to judge it there"),
        ("give your own: rule_check(A.loss, w, xs[0])", "give your own: %rule_check A.loss --at w, xs[0]",
         "give your own in __rulelab_points__"),
        (none_found(len, "").fixes[0], "give them: %rule_check f --at 2.0, [1.0, 2.0]",
         "give them in __rulelab_points__"),
        (none_found(len, "").fixes[1], 'their kinds: --domain "x: positive vector"',
         'their kinds: --domain "x=positive vector"'),
        ('say which it is for: domain={"A": "symmetric", "B": "symmetric"} or "square"',
         'say which it is for: --domain "A: symmetric, B: symmetric" or "square"',
         'say which it is for: --domain "A=symmetric" --domain "B=symmetric" or "square"'),
    ],
)  # fmt: skip
def test_advice_of_checks_is_for_where_one_stands(plain, magic, command):
    """`rulelab check` has no `--at`: the points of a module stand in the module."""
    assert not OF_MAGICS.search(plain)
    assert in_magics(plain) == magic == in_magics(magic)
    assert on_command_line(plain) == command == on_command_line(command)


@pytest.mark.parametrize(
    ("plain", "magic"),
    [
        ("rule_check says more about a rule", "%rule_check says more about a rule"),
        ("rule_check shows what is wrong", "%rule_check shows what is wrong"),
        ("judge it by numbers: rule_check", "judge it by numbers: %rule_check"),
        (with_at("give arguments", ("x", "xs[0]")), "give arguments: --at x, xs[0]"),
        (FOR_FLOATS, "export it for floats only: give floats after --at"),
        (OF_ONE_KIND, "export it for one kind of argument with --at"),
        (BY_FORCE, "use --force to replace what exists"),
        (NO_PACKAGE, "leave out --package"),
    ],
)
def test_advice_of_other_reports_is_for_magics_too(plain, magic):
    assert in_magics(plain) == magic == in_magics(magic) and not OF_MAGICS.search(plain)


def unlucky(A, B):
    return A @ B


def unlucky_rrule(A, B):
    raise ValueError("no such matrices")


@pytest.mark.slow
def test_a_check_shows_its_advice_in_one_syntax_everywhere():
    """As text, as a page and as data."""
    registry = Registry()
    rrule_for(unlucky, registry=registry)(unlucky_rrule)
    report = rule_check(unlucky, registry=registry)
    for shown, wanted in (
        (report, "give your own: rule_check(unlucky, A, B)"),
        (shown_in_magics(report), "give your own: %rule_check unlucky --at A, B"),
        (shown_on_command_line(report), "give your own in __rulelab_points__"),
    ):
        texts = (str(shown), shown._repr_html_(), shown.to_json(), shown.to_markdown(), shown.in_short)
        plain = [html.unescape(re.sub(r"<[^>]*>|\\", "", text)) for text in texts]
        assert all(wanted in " ".join(text.split()) for text in plain), plain
        assert all((OF_MAGICS.search(text) is None) == ("%" not in wanted) for text in plain)


def test_an_export_asks_for_arguments_as_it_takes_them(tmp_path):
    """Not as the check takes them that it makes."""
    registry = Registry()

    def texts(name):
        return name.upper()

    rrule_for(texts, registry=registry)(lambda name: (name.upper(), lambda y_bar: (None, 0.0)))
    with pytest.raises(ExportError) as refused:
        export(texts, "module", tmp_path / "texts_rules.py", registry=registry)
    assert refused.value.fixes == ("give arguments: at=(name,)",)
    assert shown_in_magics(refused.value).fixes == ("give arguments: --at name",)


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
