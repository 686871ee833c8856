"""The body of a rule's cell is ordinary Python, and its text is kept."""

import ast
import inspect

import pytest

from rulelab.notebook.cells import CellSyntaxError, MagicError, cell_label, parse, run_body

RULE = "def f_rrule(x):\n    return x, lambda s: (None, s)\n"


def test_the_body_runs_in_the_users_namespace(bare_shell):
    """What it defines is there afterwards, and its last function is handed back."""
    run = run_body(bare_shell, f"seven = 7\ndef helper(): pass\n{RULE}after = 8\n", "%%rrule f")
    assert run.function is bare_shell.user_ns["f_rrule"]
    assert (bare_shell.user_ns["seven"], bare_shell.user_ns["after"]) == (7, 8)


def test_the_source_is_kept_and_lines_are_those_of_the_cell(bare_shell):
    """inspect finds the function, on the line where the editor shows it: the magic is line 1."""
    run = run_body(bare_shell, f"\n\n{RULE}", "%%rrule f")
    assert inspect.getsource(run.function) == RULE
    assert run.function.__code__.co_firstlineno == 4


def test_indented_bodies_and_shell_syntax_work(bare_shell):
    """IPython's own transformations apply to the body, too."""
    run = run_body(bare_shell, "    where = %pwd\n    def f_rrule(x):\n        return x\n", "%%rrule f")
    assert run.function(3) == 3 and isinstance(bare_shell.user_ns["where"], str)


@pytest.mark.parametrize(
    "body", ["def f(x) return x\n", "return 3\ndef f(x): pass\n", "def f(x):\nreturn x\n"]
)
def test_a_syntax_error_shows_the_users_line_only(bare_shell, body):
    """No frame of ours, the line and what is wrong; and nothing of the body has run."""
    with pytest.raises(CellSyntaxError) as caught:
        run_body(bare_shell, f"ran = 1\n{body}", "%%rrule f")
    shown = "\n".join(caught.value._render_traceback_())
    assert "Error" in shown and "rulelab" not in shown and "line" in str(caught.value)
    assert "ran" not in bare_shell.user_ns


def test_a_body_without_a_function_is_refused_before_it_runs(bare_shell):
    """There would be no rule; nothing is changed."""
    with pytest.raises(
        MagicError, match=r"the cell has no plain `def`; the rule is the last `def` of the cell"
    ):
        run_body(bare_shell, "ran = 1\n", "%%rrule f")
    assert "ran" not in bare_shell.user_ns


def test_a_rebound_function_is_refused(bare_shell):
    """The last def must still be a function at the end of the cell."""
    with pytest.raises(MagicError, match="f_rrule, was rebound to an int"):
        run_body(bare_shell, f"{RULE}f_rrule = 3\n", "%%rrule f")


def test_messages_call_the_cell_by_its_number(bare_shell):
    """The number in the margin, also while the cell runs."""
    bare_shell.user_ns["labels"] = labels = []
    bare_shell.user_ns["label"] = lambda: labels.append(cell_label(bare_shell))
    bare_shell.run_cell("label()", store_history=True)
    bare_shell.run_cell("label()", store_history=True)
    assert labels == ["cell In [1]", "cell In [2]"]


def test_wrong_expressions_are_told_in_one_line():
    """What was typed and what is wrong with it."""
    assert isinstance(parse("%m", "f(x)", "the call"), ast.Call)
    with pytest.raises(MagicError, match=r"%m: cannot read the call `f\(`: '\(' was never closed"):
        parse("%m", "f(", "the call")
    with pytest.raises(MagicError, match="must be one expression"):
        parse("%m", "a; b", "the call")
