"""The command beside the package: Ctrl-C at any moment of it, before the package is there too."""

import math
import os
import subprocess
import sys
import textwrap

import pytest

import rulelab_command

INTERRUPTED = """
import importlib.abc, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
"""
OURS = ["rulelab", "rulelab.errors", "rulelab.rules.registry", "rulelab.ad.reverse"]


def ran(code, *words):
    """A process of its own that runs this code."""
    command = [sys.executable, "-c", textwrap.dedent(code), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def ran_as_a_package(code, folder):
    """`python -m rulelab`, with this code run before."""
    (folder / "sitecustomize.py").write_text(textwrap.dedent(code))
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "rulelab", "rules", "sin"]
    environ = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environ)


@pytest.mark.first(2)
@pytest.mark.parametrize("module", [*OURS, "numpy", "rulelab.notebook.cli"])
def test_ctrl_c_during_the_import_shows_no_traceback(module):
    """Exit code 130 and one line, wherever in the import it comes."""
    code = INTERRUPTED.format(module=module) + "import rulelab_command\nsys.exit(rulelab_command.main())\n"
    run = ran(code, "rules", "sin")
    assert (run.returncode, run.stdout) == (130, ""), run.stderr
    assert run.stderr == "rulelab: stopped by Ctrl-C before it began\n"


@pytest.mark.parametrize("module", ["rulelab.errors", "numpy", "rulelab.ad.reverse", "rulelab.notebook.cli"])
def test_ctrl_c_shows_no_traceback_where_the_package_is_run(module, tmp_path):
    """`python -m rulelab` imports the package first, and says the same."""
    run = ran_as_a_package(INTERRUPTED.format(module=module), tmp_path)
    assert (run.returncode, run.stdout) == (130, ""), run.stderr
    assert run.stderr == "rulelab: stopped by Ctrl-C before it began\n"


def test_an_error_of_the_import_is_shown_as_it_is(tmp_path):
    """Only Ctrl-C is told in a line."""
    code = INTERRUPTED.format(module="numpy").replace("KeyboardInterrupt", "OSError")
    run = ran_as_a_package(code, tmp_path)
    assert run.returncode == 1 and "Traceback" in run.stderr and "OSError" in run.stderr


@pytest.mark.first(1)
@pytest.mark.parametrize("module", OURS)
def test_an_import_that_was_interrupted_can_be_done_again(module):
    """After Ctrl-C at `%load_ext rulelab` or `import rulelab` the next try works, and gives what is right."""
    code = INTERRUPTED.format(module=module) + (
        "try:\n    import rulelab\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        "import numpy as np, rulelab as rl\nprint(rl.gradient(np.sin, 2.0)[0])\n"
    )
    run = ran(code)
    assert run.stderr == ""
    interrupted, value = run.stdout.split()
    assert interrupted == "interrupted" and float(value) == math.cos(2.0)


def test_the_command_is_the_command_line(capsys):
    """What it returns is the exit code of the command line."""
    sys_argv, sys.argv = sys.argv, ["rulelab", "rules", "sin"]
    try:
        assert rulelab_command.main() == 0
    finally:
        sys.argv = sys_argv
    assert "math.sin(x) by" in capsys.readouterr().out
