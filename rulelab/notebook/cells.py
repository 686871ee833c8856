"""Run the body of a cell that states a rule in the user's namespace, keep its source, and return its last
function.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from IPython.core.error import UsageError

from ..errors import an, register_cell_label
from ..screen import of_message


class MagicError(UsageError):
    """Wrong use of a magic, reported in one line.

    IPython prints a plain UsageError on stderr, where notebook test tools count the cell as a success; a
    subclass that renders itself is short too, and is always a failure.
    """

    def _render_traceback_(self) -> list[str]:
        return of_message(f"{type(self).__name__}: {self}".split("\n"))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after the results so far were shown: one line, and the cells that follow do not run."""

    def _render_traceback_(self) -> list[str]:
        return of_message([f"Interrupted: {self}"])


class CellSyntaxError(UsageError):
    """Python could not parse the body of a cell; shows the user's line and no lines of rulelab.

    Not a SyntaxError itself: IPython shows those with the frames of the code that compiled the text.
    """

    def __init__(self, error: SyntaxError, lines: list[str]):
        super().__init__(f"{error.msg}, line {error.lineno}")
        self.lines = lines

    def _render_traceback_(self) -> list[str]:
        return self.lines


class CellRun(NamedTuple):
    """The results of running a body: its file name for tracebacks, and its last top-level function."""

    filename: str
    function: Callable


def run_body(shell, body: str, magic_line: str) -> CellRun:
    """Run `body` in the shell's namespace and return the function that its last top-level `def` bound.

    The lines are numbered as in the cell, whose first line is the magic's (it stands in the text as a
    comment), so a traceback and the editor agree; `inspect.getsource` and the compiler find the text.
    Raises CellSyntaxError, MagicError where the body defines no function, and whatever the body raises.
    """
    __tracebackhide__ = True
    text = f"# {magic_line}\n{_transformed(shell, body)}"
    filename = _kept(shell, text)
    tree = _parsed(shell, text, filename)
    last = next((node for node in reversed(tree.body) if isinstance(node, ast.FunctionDef)), None)
    magic = magic_line.split()[0]
    if last is None:
        raise MagicError(f"{magic}: the cell has no plain `def`; the rule is the last `def` of the cell")
    code = _compiled(shell, tree, filename)
    exec(code, shell.user_ns)
    function = shell.user_ns.get(last.name)
    if not callable(function):
        raise MagicError(
            f"{magic}: the last `def` of the cell, {last.name}, was rebound to {an(type(function).__name__)}"
        )
    return CellRun(filename, function)


def evaluate(shell, text: str, names: dict, node: ast.expr):
    """The value of an expression parsed from `text`; functions in it keep their source, as in a cell."""
    __tracebackhide__ = True
    filename = _kept(shell, text)
    code = shell.compile(ast.Expression(node), filename, "eval")
    return eval(code, shell.user_ns, names)


def parse(magic: str, text: str, what: str, shown: str | None = None) -> ast.expr:
    """The single expression that `text` is; if it is not one, a MagicError of one line that shows what the
    user typed.
    """
    shown = text if shown is None else shown
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        why = f"{error.msg}{_caret(error, text, shown)}"
        raise MagicError(f"{magic}: cannot read {what} `{shown}`: {why}") from None
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        raise MagicError(f"{magic}: {what} must be one expression, not `{shown}`")
    return tree.body[0].value


def _caret(error: SyntaxError, text: str, shown: str) -> str:
    """Two lines: what the user typed, which is somewhere in the text, and a caret at the error."""
    if "\n" in shown:
        return ""
    place = max((error.offset or 1) - 1 - max(text.find(shown), 0), 0)
    closes_ours = place >= len(shown) and ")" in shown and error.msg.startswith("unmatched")
    if closes_ours:
        place = shown.rindex(")")
    return f"\n    {shown}\n    {' ' * min(place, len(shown))}^"


def cell_label(shell) -> str:
    """The name of the running cell in messages: "cell In [3]"."""
    return f"cell In [{cell_number(shell)}]"


def cell_number(shell) -> int:
    """The number of the running cell in the margin; the shell's own counter may already be one further."""
    result = getattr(shell.displayhook, "exec_result", None)
    number = getattr(result, "execution_count", None)
    return shell.execution_count if number is None else number


def label_cell(shell, info) -> None:
    """Register the number of the cell that is about to run, for messages; `info` is what `pre_run_cell`
    passes on.

    The number is the index at which the history will store the cell: some versions of IPython increase the
    shell's counter before this event, others after it.
    """
    transformed = info.transformed_cell if hasattr(info, "transformed_cell") else _retransformed(shell, info)
    if info.raw_cell and transformed is not None:
        counted = info.store_history and shell.history_manager is not None
        number = len(shell.history_manager.input_hist_parsed) if counted else shell.execution_count
        filename = shell.compile.get_code_name(info.raw_cell, transformed, number)
        register_cell_label(filename, f"cell In [{number}]")


def _retransformed(shell, info) -> str | None:
    """The code that IPython is about to run, for versions of IPython that do not pass it."""
    try:
        return shell.transform_cell(info.raw_cell)
    except Exception:  # IPython reports this itself when it runs the cell
        return None


def label_earlier_cells(shell) -> None:
    """The same for the cells that ran before; IPython keeps their numbers for its own tracebacks."""
    for filename, number in getattr(shell.compile, "_filename_map", {}).items():
        register_cell_label(filename, f"cell In [{number}]")


def _transformed(shell, body: str) -> str:
    """The body with IPython's `!` and `%` turned into Python; leading blank lines, which this drops, are
    restored.
    """
    lines = body.splitlines(keepends=True)
    blank = 0
    while blank < len(lines) and not lines[blank].strip():
        blank += 1
    return "\n" * blank + shell.transform_cell("".join(lines[blank:]))


def _kept(shell, text: str) -> str:
    filename = shell.compile.cache(text, cell_number(shell), raw_code=text)
    register_cell_label(filename, cell_label(shell))
    return filename


def _parsed(shell, text: str, filename: str) -> ast.Module:
    __tracebackhide__ = True
    try:
        return shell.transform_ast(shell.compile.ast_parse(text, filename=filename))
    except SyntaxError as error:
        raise _readable(shell, error) from None


def _compiled(shell, tree: ast.Module, filename: str):
    __tracebackhide__ = True
    try:
        return shell.compile(tree, filename, "exec")
    except SyntaxError as error:  # a `return` outside a function, and other things that parse
        raise _readable(shell, error) from None


def _readable(shell, error: SyntaxError) -> CellSyntaxError:
    return CellSyntaxError(error, shell.SyntaxTB.structured_traceback(type(error), error, []))
