"""A line that cannot be read comes back as it was probably meant, where one can tell."""

import pytest

from rulelab.notebook.magics import RuleLab
from rulelab.notebook.repairs import MagicArguments, repaired

DASHES = "options begin with two dashes: "
QUOTES = "a value with spaces needs quotes: "
NAMES = "functions are given by name only: "
AFTER = "arguments come after --at: "
TOGETHER = "functions are listed together: "


@pytest.mark.parametrize(
    ("magic", "head", "at", "meant"),
    [
        ("rule_check", "f deep", None, f"{DASHES}%rule_check f --deep"),
        ("rule_check", "f -deep", "x", f"{DASHES}%rule_check f --deep --at x"),
        ("rule_check", "f at x", None, f"{DASHES}%rule_check f --at x"),
        ("rule_scan", "f seconds 3", None, f"{DASHES}%rule_scan f --seconds 3"),
        ("rrule", "f_cr of f", None, f"{DASHES}%%rrule f_cr --of f"),
        ("rrule", "f_cr -of f", None, f"{DASHES}%%rrule f_cr --of f"),
        ("rule_check", "f --domain (0, 1)", None, f'{QUOTES}%rule_check f --domain "(0, 1)"'),
        ("rule_check", "f --domain=(0, 1)", None, f'{QUOTES}%rule_check f --domain "(0, 1)"'),
        (
            "rule_check",
            "--domain positive vector f",
            "x",
            f'{QUOTES}%rule_check --domain "positive vector" f --at x',
        ),
        ("rule_symbolic", "f --sizes 3, 5", None, f'{QUOTES}%rule_symbolic f --sizes "3, 5"'),
        ("grad_bench", "f, g", "x", f"{NAMES}%grad_bench f g --at x"),
        ("grad_bench", "f,g", "x", f"{NAMES}%grad_bench f g --at x"),
        ("grad_bench", "f(x, y) g(x, y)", None, f"{NAMES}%grad_bench f g --at x, y"),
        ("rule_check", "f(x)", "y", f"{NAMES}%rule_check f --at y"),
        ("rule_stub", "'f'", None, f"{NAMES}%rule_stub f"),
        ("rrule", "f(x, y):", None, f"{NAMES}%%rrule f"),
        ("grad_bench", "f g x y", None, f"{AFTER}%grad_bench f g --at x, y"),
        ("grad_bench", "f g x, -y", None, f"{AFTER}%grad_bench f g --at x, -y"),
        ("grad_bench", "f, g x, y", None, f"{NAMES}%grad_bench f g --at x, y"),
        ("rule_export", "f --to module f.py g", None, f"{TOGETHER}%rule_export g f --to module f.py"),
    ],
)
def test_what_was_probably_meant_can_be_read(magic, head, at, meant):
    """One slip or two: a dash, quotes, brackets, a comma, a missing `--at`."""
    assert repaired(getattr(RuleLab, magic).parser, MagicArguments(head, at)) == meant


@pytest.mark.parametrize(
    ("magic", "head", "at"),
    [
        ("rule_check", "f --deeep", None),
        ("rule_check", "f g", "x"),
        ("rule_check", "f --domain (0,", None),
        ("rule_check", "f --domain unheard of words", "x"),
        ("rule_check", "", None),
        ("rule_undo", "f g", None),
        ("gradient", "-o f(x)", None),
    ],
)
def test_nothing_is_proposed_that_could_not_be_read(magic, head, at):
    """Nor a line that asks for something else."""
    assert repaired(getattr(RuleLab, magic).parser, MagicArguments(head, at)) == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%grad_compare mse mse --at", "--at needs arguments: %grad_compare mse mse --at y, yh"),
        ("%grad_bench mse --at y, yh", "made by %%rrule F_CR --of F: %grad_bench mse F_CR --at y, yh"),
        ("%gradient mse y, yh", "give one call, not `mse y, yh`: %gradient mse(y, yh)"),
        ("%gradient mse --at y, yh", "give one call, not `mse --at y, yh`: %gradient mse(y, yh)"),
        ("%gradient mse(y, yh) -o g", "options come before the call: %gradient -o g mse(y, yh)"),
        ("%grad_check mse(y, yh) --seconds 3", "before the call: %grad_check --seconds 3 mse(y, yh)"),
        ("%sym_check y --wrt y", "options come before the expression: %sym_check --wrt y y"),
        ("%scalar_rule mse(x): 2*out --check", "the function: %scalar_rule --check mse(x): 2*out"),
        ("%scalar_rule nope(x): 2*out", "%scalar_rule: there is no function nope"),
        ("%hessian mse(y, yh)", "which holds them fixed: %hessian mse(y, yh=yh)"),
        ("%hessian mse --at y, yh", "which holds them fixed: %hessian mse(y, yh=yh)"),
        ("%rule_check mse --domain (0, 1)", 'needs quotes: %rule_check mse --domain "(0, 1)"'),
        ("%rule_symbolic mse --sizes 3, 5", 'needs quotes: %rule_symbolic mse --sizes "3, 5"'),
        ("%rule_check mse --domain postive", "--domain: 'postive' is not a domain; did you mean positive?"),
    ],
)
def test_the_line_to_write_is_shown(notebook, line, said):
    """With the arguments that the function needs, or those of the line."""
    told = " ".join(notebook.fails(line).split())
    assert told.startswith(f"MagicError: {line.split()[0]}: ") and told.endswith(said)


@pytest.mark.parametrize(
    "line",
    [
        "%gradient mse(y)",
        "%which_rule mse(y, yh, 3)",
        "%jacobian mse --at y",
        "%rule_check mse --at y",
        "%rule_symbolic mse --at y",
        "%rule_derive mse --at y",
        "%rule_lab addone mse --at y",
        "%grad_compare addone mse --at y",
        "%grad_bench mse mse --at y, z=3",
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_signature(notebook, line):
    """In one line, not from within a frame of ours."""
    said = notebook.fails(line)
    assert f"{line.split()[0]}: the arguments do not fit mse(y, yh): " in said and "File" not in said


def test_what_may_take_any_arguments_is_asked_itself(notebook):
    """A wrapper has the signature of what it wraps, and need not take the same."""
    notebook.ok(
        "import functools\n@functools.wraps(mse)\ndef wrapped(*args):\n    return mse(args[0], args[0] + 1.0)"
    )
    notebook.ok("%gradient wrapped(y)")


def test_a_caret_is_where_the_line_cannot_be_read(notebook):
    """In what the user typed, whatever was put around it."""
    assert "\n    y,, yh\n      ^" in notebook.fails("%grad_compare mse mse --at y,, yh")
    assert "\n    y)\n     ^" in notebook.fails("%grad_compare mse mse --at y)")
    assert "\n    mse(y, yh\n       ^" in notebook.fails("%gradient mse(y, yh")
    assert "\n    2*out,, 3\n          ^" in notebook.fails("%scalar_rule mse(x): 2*out,, 3")


def test_an_error_in_an_argument_is_shown_in_a_call_of_the_function(notebook):
    """The traceback has the arguments after `--at` in the call that they are for."""
    assert "mse(y, nowhere + 1)" in notebook.fails("%grad_compare mse mse --at y, nowhere + 1")
