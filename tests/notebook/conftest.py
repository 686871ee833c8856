"""A shell of one's own for each test, and one real kernel for those that need it."""

import queue
import threading
from pathlib import Path
from types import FunctionType

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel
from traitlets.config import Config

import rulelab as rl
from rulelab.checking.calling.budgets import ProcessClock
from rulelab.notebook.loading import load_ipython_extension, unload_ipython_extension
from rulelab.rules.registry import DEFAULT

from .ran import run_notebook

SETUP = """\
import numpy as np
import rulelab as rl

def mse(y, yh):
    total = 0.0
    for i in range(len(y)):
        total += (y[i] - yh[i]) ** 2
    return total / len(y)

def addone(x):
    for i in range(len(x)):
        x[i] = x[i] + 1
    return np.sum(x ** 2)

y, yh = np.arange(8.0), np.ones(8)
"""

MSE_RULE = """\
%%rrule mse_cr --of mse
def mse_cr_rrule(y, yh):
    out = mse(y, yh)
    def mse_cr_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g
    return out, mse_cr_pullback
"""


class Notebook:
    """A shell with the extension loaded; `run` runs a cell and `text` is what the last one printed,
    and `beside` what it said on the error stream."""

    def __init__(self, shell, capsys):
        self.shell, self.capsys, self.text, self.beside = shell, capsys, "", ""

    def run(self, cell):
        result = self.shell.run_cell(cell, store_history=True)
        self.text, self.beside = self.capsys.readouterr()
        return result

    def ok(self, cell):
        """Run a cell that must succeed; its value."""
        result = self.run(cell)
        assert result.success, self.text
        return result.result

    def fails(self, cell):
        """Run a cell that must fail; what it showed, without colours."""
        result = self.run(cell)
        assert not result.success
        return self.text

    def __getitem__(self, name):
        return self.shell.user_ns[name]


@pytest.fixture(autouse=True)
def no_rule_is_left_behind():
    """A rule on a function that outlives the test would count in all the tests that follow."""
    before = _rules_on_lasting_targets()
    yield
    left = [rule for rule in _rules_on_lasting_targets() if rule not in before]
    assert not left, f"this test left rules behind for {left}"


def _rules_on_lasting_targets():
    """Rules of users on builtins, classes and objects; a function of a test goes with the test."""
    entries = [entry for entry in DEFAULT.entries() if not isinstance(entry.target(), FunctionType)]
    return [(entry.name, id(rule)) for entry in entries for rule in entry.user]


@pytest.fixture
def bare_shell():
    """A shell without the extension."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(
        colors="nocolor", config=Config({"HistoryManager": {"hist_file": ":memory:"}})
    )
    yield shell
    unload_ipython_extension(shell)
    InteractiveShell.clear_instance()


@pytest.fixture
def notebook(bare_shell, capsys):
    """A notebook in which mse, addone, y and yh are defined."""
    load_ipython_extension(bare_shell)
    rl.refresh()  # what other tests left is not stale in this notebook
    opened = Notebook(bare_shell, capsys)
    opened.ok(SETUP)
    return opened


def until_it_had(process, seconds, given_up=None):
    """Wait until a process has had so many seconds in which it could work, or `given_up` is set.

    What is to be interrupted has come as far on a busy machine as on a quiet one.
    """
    watched, given_up = ProcessClock(process), given_up or threading.Event()
    while watched.used() < seconds and not given_up.wait(0.02):  # is to end
        pass


class Kernel:
    """A real kernel, asked over its sockets as Jupyter asks it."""

    def __init__(self, manager, client):
        self.manager, self.client = manager, client

    def run(self, cell, begun=lambda: None):
        """The reply, and all that was ever shown: text by kind. `begun` is called when the cell is begun."""
        message = self.client.execute(cell, stop_on_error=False)
        shown = {"stdout": "", "text/plain": "", "text/html": "", "error": ""}
        while True:
            try:
                answer = self.client.get_iopub_msg(timeout=300)
            except queue.Empty:
                raise AssertionError(f"the kernel does not answer; so far {shown}") from None
            if answer["parent_header"].get("msg_id") != message:
                continue
            content, kind = answer["content"], answer["msg_type"]
            if kind == "execute_input":
                begun()
            elif kind == "stream":
                shown["stdout"] += content["text"]
            elif kind in ("display_data", "execute_result", "update_display_data"):
                for form in ("text/plain", "text/html"):
                    shown[form] += content["data"].get(form, "")
                if kind == "update_display_data":
                    shown["updates"] = [*shown.get("updates", []), content["data"]]
            elif kind == "clear_output":
                shown["cleared"] = True
            elif kind == "error":
                shown["error"] += "\n".join(content["traceback"])
            elif kind == "status" and content["execution_state"] == "idle":
                break
        return self.reply(message), shown

    def reply(self, message):
        """The reply to a message; answers to what was asked earlier (is it up yet?) are passed over."""
        while True:
            answer = self.client.get_shell_msg(timeout=300)
            if answer["parent_header"].get("msg_id") == message:
                return answer["content"]

    def interrupted_after(self, seconds, cell):
        """As `run`, with the Stop button pressed when the cell has had these seconds."""
        kernel = self.manager.provisioner.pid
        return self.interrupted_when(lambda ended: until_it_had(kernel, seconds, ended), cell)

    def interrupted_when(self, wait, cell):
        """As `run`, with Stop pressed when `wait(ended)` is over; `ended` is set if the cell is."""
        ended = threading.Event()

        def stop():
            wait(ended)
            if not ended.is_set():
                self.manager.interrupt_kernel()

        stopping = threading.Thread(target=stop, daemon=True)
        try:
            return self.run(cell, stopping.start)
        finally:
            ended.set()

    def complete(self, text):
        """What Tab offers at the end of the text."""
        return self.reply(self.client.complete(text, len(text)))["matches"]


@pytest.fixture(scope="module")
def kernel():
    """One kernel for the module, with the extension loaded by its public name."""
    manager, client = start_new_kernel(kernel_name="python3")
    running = Kernel(manager, client)
    reply, shown = running.run("%load_ext rulelab\n")
    assert reply["status"] == "ok", shown
    assert running.run(SETUP)[0]["status"] == "ok"
    yield running
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def stored(request, repository):
    """The notebook that a module of tests is about, its `FILE`, as it is in the repository."""
    return nbformat.read(repository / request.module.FILE, as_version=4)


@pytest.fixture(scope="module")
def ran(request, stored, tmp_path_factory):
    """That notebook after Run All; an error in any cell fails here."""
    return run_notebook(stored, tmp_path_factory.mktemp(Path(request.module.FILE).stem))
