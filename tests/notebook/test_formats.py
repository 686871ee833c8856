"""What a command found is said for people, for programs and for GitHub, by one owner."""

from __future__ import annotations

import json

from rulelab.github import Note
from rulelab.notebook import formats


def test_each_form_has_its_words(capsys):
    """Text, data, and annotations in place of the text."""
    found = formats.TextResult("f is wrong", {"f": "wrong"}, (Note("wrong", "f", "off by 2", "f.py", 3),))
    said = []
    for form in formats.FORMATS:
        formats.say(found, form)
        said.append(capsys.readouterr().out)
    assert said[0] == "f is wrong\n" and json.loads(said[1]) == {"f": "wrong"}
    assert said[2] == "::error file=f.py,line=3,title=f::off by 2\n"


def test_errors_are_on_the_error_stream(capsys):
    """In words; a program reads an object that says so."""
    formats.say_error("rulelab check", "no such module", "text")
    assert capsys.readouterr() == ("", "rulelab check: no such module\n")
    formats.say_error("rulelab check", "no such module", "json", ("f.py", 3, 1))
    out, err = capsys.readouterr()
    assert err == "rulelab check: no such module\n" and json.loads(out) == {
        "error": "no such module",
        "command": "rulelab check",
        "place": {"file": "f.py", "line": 3, "column": 1},
    }
