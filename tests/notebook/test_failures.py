"""A magic that fails, fails everywhere: in the kernel, in nbclient, in nbmake and in a terminal."""

import os
import re
import subprocess
import sys
from typing import NamedTuple

import nbformat
import pexpect
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from .conftest import SETUP, until_it_had

STOPPING = """\
import os, signal
calls = iter(range(10**9))
def stopping(y, yh):
    if next(calls) == 300:
        os.kill(os.getpid(), signal.SIGINT)
    return np.sum((y - yh) ** 2)
"""


class Kind(NamedTuple):
    """A cell that fails, the class of its error, what its last line says, whether that is all it shows."""

    cell: str
    error: str
    words: str
    alone: bool = True


KINDS = {
    "wrong-option": Kind(
        "%grad_compare mse mse --nope --at y, yh",
        "MagicError",
        "%grad_compare: there is no option --nope",
    ),
    "missing-argument": Kind(
        "%grad_compare mse mse", "MagicError", "%grad_compare: give the arguments with --at"
    ),
    "unknown-function": Kind(
        "%grad_compare mse nope --at y, yh", "MagicError", "%grad_compare: there is no function nope"
    ),
    "unreadable-at": Kind(
        "%grad_compare mse mse --at y,, yh",
        "MagicError",
        "%grad_compare: cannot read the arguments after --at `y,, yh`",
    ),
    "error-in-body": Kind(
        "%%rrule mse\ndef mse_rrule(y, yh):\n    return 1.0, None\nwrong = 1 / 0\n",
        "ZeroDivisionError",
        "division by zero",
        alone=False,
    ),
    "syntax-error-in-body": Kind(
        "%%rrule mse\ndef mse_rrule(y, yh)\n    return 1.0, None\n",
        "CellSyntaxError",
        "expected ':'",
        alone=False,
    ),
    "refused-by-the-ad": Kind(
        "%gradient addone(y)", "MutationError", "Mutating arrays is not supported", alone=False
    ),
    "error-in-expression": Kind(
        "%gradient mse(y, y[99])", "IndexError", "index 99 is out of bounds", alone=False
    ),
    "rule-refused": Kind(
        "%%rrule mse\ndef mse_rrule(y):\n    return 1.0, None\n",
        "RuleRegistrationError",
        "mse_rrule takes 1 argument",
        alone=False,
    ),
    "interrupt": Kind(
        "%grad_bench mse stopping --rounds 100000 --at y, yh",
        "Interrupted",
        "%grad_bench was stopped",
    ),
}
"""Wrong use and Ctrl-C are one line; an error of the user's own shows the user's lines."""

EACH = pytest.mark.parametrize("name", KINDS)


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def failing(name):
    """The notebook of one kind: what goes before, the cell that fails, and one that must not run."""
    setup = f"%load_ext rulelab\n{SETUP}{STOPPING}"
    sources = (setup, KINDS[name].cell, f"print('{name} was passed over')")
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )


def check_shown(kind, shown):
    """One line where it is wrong use, the user's lines elsewhere, and never one of ours."""
    assert f"{kind.error}: " in shown or kind.error == "CellSyntaxError", shown
    assert kind.words in " ".join(shown.split())
    assert "/rulelab/" not in shown and "magics.py" not in shown and "magic_methods.py" not in shown
    if kind.alone:
        first, *broken = shown.strip().splitlines()  # one sentence, between words where it is long
        assert all(line.startswith("  ") for line in broken) and "Traceback" not in shown


# -- the kernel ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@EACH
def test_the_kernel_replies_with_an_error(kernel, name):
    """Jupyter stops Run All on the reply's status; what it shows is short where the use was wrong."""
    kind = KINDS[name]
    kernel.run(STOPPING)
    reply, shown = kernel.run(kind.cell)
    assert reply["status"] == "error" and reply["ename"] == kind.error
    check_shown(kind, without_colours(shown["error"]))
    assert kernel.run("1 + 1")[0]["status"] == "ok"


@pytest.mark.slow
def test_the_kernel_hears_the_stop_button(kernel):
    """While the magic runs; what there was is shown and kept."""
    reply, shown = kernel.interrupted_after(1.5, "%grad_bench mse mse --rounds 1000000 --at y, yh")
    assert reply["status"] == "error" and reply["ename"] == "Interrupted"
    assert "Time of one call" in shown["text/plain"]
    _, shown = kernel.run("rl_last = __import__('rulelab.notebook').notebook.last(); rl_last.interrupted")
    assert shown["text/plain"] == "True"


# -- nbclient ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nbclient_cells():
    """A client with a kernel in which the cells of every kind can be run one by one."""
    cells = [nbformat.v4.new_code_cell(f"%load_ext rulelab\n{SETUP}")]
    for kind in KINDS.values():
        cells += [nbformat.v4.new_code_cell(STOPPING), nbformat.v4.new_code_cell(kind.cell)]
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300)
    with client.setup_kernel():
        client.execute_cell(cells[0], 0)
        yield client, cells


@pytest.mark.slow
@EACH
def test_nbclient_raises(nbclient_cells, name):
    """`jupyter execute`, papermill and book builders stop there."""
    client, cells = nbclient_cells
    number = 1 + 2 * list(KINDS).index(name)
    client.execute_cell(cells[number], number)
    with pytest.raises(CellExecutionError) as caught:
        client.execute_cell(cells[number + 1], number + 1)
    assert caught.value.ename == KINDS[name].error
    assert any(output.output_type == "error" for output in cells[number + 1].outputs)


@pytest.mark.slow
def test_nbclient_runs_nothing_after_it():
    """Run All ends at the cell that failed."""
    book = failing("interrupt")
    with pytest.raises(CellExecutionError, match="Interrupted"):
        NotebookClient(book, timeout=300).execute()
    assert book.cells[2].execution_count is None and book.cells[2].outputs == []


# -- nbmake --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("wrong-option", "interrupt"), id="two"),
        pytest.param(tuple(KINDS), id="all", marks=pytest.mark.campaign),
    ],
)
def test_nbmake_fails(names, tmp_path):
    """A plain UsageError would pass there."""
    for name in names:
        nbformat.write(failing(name), tmp_path / f"{name}.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbmake", str(tmp_path)]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "nbmake.pytest_plugin"}
    run = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=300)
    for name in names:
        assert re.search(rf"FAILED .*{name}\.ipynb", run.stdout), run.stdout[-3000:]
    assert run.returncode == 1 and f"{len(names)} failed" in run.stdout


# -- the terminal --------------------------------------------------------------------------------------------

PROMPT = r"\nIn \[(\d+)\]: $"
IPYTHON = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=nocolor", "--ext=rulelab"]
OPTIONS = ["--no-confirm-exit", "--HistoryManager.enabled=False"]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    """IPython at a terminal, with the extension loaded."""
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "setup.py").write_text(SETUP + STOPPING)
    child = pexpect.spawn(
        sys.executable,
        [*IPYTHON, *OPTIONS],
        cwd=str(folder),
        env=_quiet(folder),
        encoding="utf-8",
        timeout=300,
        dimensions=(60, 200),
        echo=False,
    )
    child.expect(PROMPT)
    typed(child, "%run -i setup.py")
    yield child
    child.close(force=True)


def _quiet(folder):
    return {**os.environ, "IPYTHONDIR": str(folder), "TERM": "dumb"}


def typed(child, cell):
    """Type a cell, end it as one does, and give back what came before the next prompt."""
    for line in cell.splitlines():
        child.sendline(line)
    if cell.startswith("%%"):
        child.sendline("\n")  # an empty line ends a cell, and its end is seen at the next
    child.expect(PROMPT)
    return re.sub(r"^(\s*\.\.\.: *)+", "", child.before.replace("\r", "")).strip()


@pytest.mark.slow
@EACH
def test_the_terminal_shows_the_error_and_goes_on(terminal, name):
    """One line where the use was wrong, and the next prompt works."""
    kind = KINDS[name]
    typed(terminal, "calls = iter(range(10**9))")
    shown = typed(terminal, kind.cell)
    check_shown(kind, " ".join(shown.split()) if name == "interrupt" else shown)
    assert "2" in typed(terminal, "1 + 1")


@pytest.mark.slow
def test_ctrl_c_at_the_terminal(terminal):
    """The table of the rounds so far, one line, the next prompt."""
    terminal.sendline("%grad_bench mse mse --rounds 1000000 --at y, yh")
    until_it_had(terminal.pid, 1.5)
    terminal.sendintr()
    terminal.expect(PROMPT)
    shown = terminal.before.replace("\r", "")
    assert "Time of one call" in shown and "Traceback" not in shown
    last = " ".join(shown.strip().splitlines()[-2:])
    assert "Interrupted: %grad_bench was stopped after" in last


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["missing-argument", "refused-by-the-ad", "interrupt"])
def test_a_script_ends_there(name, tmp_path):
    """`ipython script.ipy` ends with a status that a Makefile sees, and runs nothing after it."""
    script = tmp_path / "script.ipy"
    script.write_text(f"%load_ext rulelab\n{SETUP}{STOPPING}{KINDS[name].cell}\nprint('passed ' + 'over')\n")
    command = [sys.executable, *IPYTHON[:-1], *OPTIONS, str(script)]
    done = subprocess.run(command, env=_quiet(tmp_path), capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "passed over" not in done.stdout
    assert KINDS[name].words in done.stdout + done.stderr
