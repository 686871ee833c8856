"""What is wrong with a line is told in a sentence, for each option of each magic and each command."""

from __future__ import annotations

import argparse
import json
import re

import pytest

from rulelab.notebook import cli
from rulelab.notebook.magics import RuleLab
from rulelab.notebook.options import named

ARGPARSES = re.compile(
    r"\bexpected (?:one|at|\d)|\bargument -|\bargument [A-Z]+:|following arguments|invalid \w+ value|"
    r"invalid choice|ignored explicit|unrecognized"
)


def magic_methods():
    found = {}
    for name in dir(RuleLab):
        method = getattr(RuleLab, name)
        if hasattr(method, "parser") and hasattr(method, "spelled"):
            found[method.spelled] = method
    return found


MAGICS = magic_methods()
COMMANDS = next(a for a in cli.command_line()._actions if isinstance(a, argparse._SubParsersAction)).choices


def misuses(parser: argparse.ArgumentParser):
    """Lines that misuse each argument of a parser: without its value, with one too few, with nonsense."""
    yield []
    for action in parser._actions:
        option = action.option_strings[0] if action.option_strings else None
        if option in ("-h", "--help", "--version", "--at"):
            continue
        if option is None:
            yield ["%$&"]
        elif action.nargs == 0:
            yield [f"{option}=3"] if option.startswith("--") else [option]
        else:
            yield [option]
            yield [option, "%$&"]


def told(parser: argparse.ArgumentParser, words: list[str]) -> str:
    """What a parser says of a line; empty where it takes it."""
    try:
        parser.parse_known_args(words)
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.parametrize("spelled", sorted(MAGICS))
def test_no_word_of_argparse_reaches_the_user_of_a_magic(spelled):
    """Whatever is missing or wrong."""
    parser = MAGICS[spelled].parser
    said = [told(parser, words) for words in misuses(parser)]
    assert not [line for line in said if ARGPARSES.search(line)]
    if any(action.required and action.nargs not in (argparse.REMAINDER, "*") for action in parser._actions):
        assert said[0].startswith("give ") and f": {spelled} " in said[0]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_word_of_argparse_reaches_the_user_of_a_command(name):
    """Nor here."""
    parser = COMMANDS[name]
    said = [told(parser, words) for words in misuses(parser)]
    assert not [line for line in said if ARGPARSES.search(line)]


def test_what_is_missing_is_named():
    """With the line as it reads when it is there."""
    assert told(MAGICS["%rule_export"].parser, ["f", "--to", "module"]) == (
        "--to needs TARGET and FILE; FILE is missing: --to TARGET FILE"
    )
    assert told(MAGICS["%rule_export"].parser, ["f", "--to"]).startswith(
        "--to needs TARGET and FILE; TARGET and FILE are missing"
    )
    assert told(MAGICS["%grad_bench"].parser, ["f"]) == (
        "give F_CR, its copy that carries the rule, made by %%rrule F_CR --of F: %grad_bench f F_CR"
    )
    assert told(MAGICS["%grad_bench"].parser, ["f", "g", "--rounds"]).startswith(
        "--rounds needs a value: --rounds N (rounds to run"
    )
    assert told(MAGICS["%grad_bench"].parser, ["f", "g", "--rounds", "x"]) == (
        "--rounds must be a whole number, not x"
    )
    assert told(MAGICS["%rule_check"].parser, ["f", "--order"]) == "--order needs a value: 1 or 2"
    assert told(MAGICS["%rule_check"].parser, ["f", "--order", "3"]) == "--order must be 1 or 2, not '3'"
    assert told(MAGICS["%rule_check"].parser, ["f", "--deep=3"]) == "--deep takes no value, not '3'"
    assert told(COMMANDS["check"], ["--jobs", "0"]) == "--jobs must be a positive whole number, not '0'"


def test_each_option_has_a_name_and_each_argument_a_help():
    """Which the sentences are made of."""
    for parser in [*(method.parser for method in MAGICS.values()), *COMMANDS.values()]:
        for action in parser._actions:
            assert named(action) and (action.help or action.dest in ("words", "text", "topic")), action


@pytest.mark.parametrize("words", [["check", "--jbos", "2"], ["chekc"], ["rules", "--all=3"]])
def test_a_line_that_cannot_be_read_is_told_in_the_form_asked_for(words, capsys):
    """A program gets an object, a job on GitHub an annotation, and people one message."""
    for form in ("text", "json", "github"):
        with pytest.raises(SystemExit) as left:
            cli.main([*words, "--format", form])
        out, err = capsys.readouterr()
        assert left.value.code == 2 and "rulelab" in err
        if form == "json":
            assert json.loads(out)["error"]
        elif form == "github":
            assert out.startswith("::error ") and out.count("\n") == 1
        else:
            assert out == ""
