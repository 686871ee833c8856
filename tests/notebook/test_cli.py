"""The command line says what it does, does it, and leaves by the right exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import types
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from rulelab.notebook import cli


def options_for(tmp_path: Path, **changes) -> list[str]:
    given = dict(token="t", port=None, browser=False, as_root=False) | changes
    return cli.lab_options(tmp_path / "a b.ipynb", tmp_path, **given)


def exit_code(*words: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        cli.main(words)
    return leaving.value.code


def test_version_is_the_installed_one(capsys):
    """`rulelab --version` prints the version that is installed."""
    assert exit_code("--version") == 0
    assert capsys.readouterr().out == "rulelab 0.1.0\n"


@pytest.mark.parametrize(
    "words", [(), ("labb",), ("lab", "--port", "0"), ("lab", "--port", "x"), ("tour", "x")]
)
def test_wrong_use_leaves_by_code_2_with_a_word_about_it(words, capsys):
    """A mistyped command explains itself and never starts anything."""
    assert exit_code(*words) == 2
    assert "rulelab" in capsys.readouterr().err


def test_a_missing_notebook_is_named(tmp_path, capsys):
    """`rulelab lab NOTEBOOK` says at once that there is no such file."""
    assert cli.main(["lab", str(tmp_path / "nowhere.ipynb")]) == 2
    assert "nowhere.ipynb" in capsys.readouterr().err


def test_lab_listens_on_loopback_only_with_its_token(tmp_path):
    """Whatever a user's configuration says, the server is reached from this machine only, with the token."""
    options = options_for(tmp_path, token="secret")
    assert "--ServerApp.ip=127.0.0.1" in options
    assert "--IdentityProvider.token=secret" in options


def test_lab_opens_the_notebook_named_even_with_a_space_in_it(tmp_path):
    """The address that is opened leads to the notebook itself."""
    assert "--LabApp.default_url=/lab/tree/a%20b.ipynb" in options_for(tmp_path)


def test_only_root_allows_root(tmp_path):
    """JupyterLab's refusal to run as root is lifted for root, and not for others."""
    assert "--allow-root" in options_for(tmp_path, as_root=True)
    assert "--allow-root" not in options_for(tmp_path)


def test_a_port_that_was_asked_for_is_the_one_used(tmp_path):
    """A named port is taken or the start fails; another one is never taken in silence."""
    options = options_for(tmp_path, port=9000)
    assert "--ServerApp.port=9000" in options and "--ServerApp.port_retries=0" in options


@pytest.mark.parametrize(
    "environ, platform, expected",
    [({}, "linux", False), ({"DISPLAY": ":0"}, "linux", True), ({"WAYLAND_DISPLAY": "w"}, "linux", True),
     ({"DISPLAY": ""}, "linux", False), ({}, "darwin", True)],
)
def test_without_a_screen_no_browser_is_tried(environ, platform, expected):
    """On a machine without a display the address is printed and no text browser takes the terminal."""
    assert cli.has_screen(environ, platform) is expected


def test_the_first_notebook_of_a_source_tree_is_opened_in_place(tmp_path):
    """In a checkout `rulelab lab` opens the tree's own notebook, and shows the whole tree."""
    there = tmp_path / "notebooks" / cli.FIRST_NOTEBOOK
    there.parent.mkdir()
    there.write_text("{}")
    assert cli.chosen_notebook(None, tmp_path) == there
    assert cli.lab_root(there, tmp_path) == tmp_path


def test_elsewhere_copies_of_the_installed_notebooks_are_made(tmp_path, monkeypatch):
    """After `pip install` the notebooks are copied here once, and never over what was written in them."""
    shipped = [tmp_path / "shipped" / name for name in (cli.FIRST_NOTEBOOK, "02-next.ipynb")]
    shipped[0].parent.mkdir()
    for notebook in shipped:
        notebook.write_text("{}")
    monkeypatch.setattr(cli, "installed_notebooks", lambda: shipped)
    folder = tmp_path / "mine"
    folder.mkdir()
    copy = cli.chosen_notebook(None, folder)
    assert copy == folder / cli.FIRST_NOTEBOOK and (folder / "02-next.ipynb").read_text() == "{}"
    for notebook in (copy, folder / "02-next.ipynb"):
        notebook.write_text('{"mine": 1}')
    copy.unlink()
    assert cli.chosen_notebook(None, folder).read_text() == "{}"
    assert (folder / "02-next.ipynb").read_text() == '{"mine": 1}'


def test_no_notebook_anywhere_is_said(tmp_path, monkeypatch):
    """Where the notebook did not come along, the command says so instead of opening nothing."""
    monkeypatch.setattr(cli, "installed_notebooks", lambda: [])
    with pytest.raises(cli.CommandError, match="name a notebook"):
        cli.chosen_notebook(None, tmp_path)


@pytest.mark.parametrize("code", [0, 1])
def test_tour_leaves_by_the_tours_own_code(code, monkeypatch):
    """`rulelab tour` succeeds only if the tour says that every number was right."""
    story = types.SimpleNamespace(main=lambda: code)
    monkeypatch.setitem(sys.modules, "rulelab.notebook.tour", story)
    monkeypatch.setattr("rulelab.notebook.tour", story, raising=False)
    assert cli.main(["tour"]) == code


def test_interrupt_leaves_by_130(monkeypatch):
    """Ctrl-C ends a command without a traceback, by the code that shells expect."""
    def interrupted():
        raise KeyboardInterrupt

    story = types.SimpleNamespace(main=interrupted)
    monkeypatch.setitem(sys.modules, "rulelab.notebook.tour", story)
    monkeypatch.setattr("rulelab.notebook.tour", story, raising=False)
    assert cli.main(["tour"]) == 130


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    """`rulelab rules | head` ends quietly."""
    command = f"{sys.executable} -m rulelab rules | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_rules_lists_those_with_the_text(capsys):
    """`rulelab rules sin` finds the rule for np.sin, and says so where there is none."""
    assert cli.main(["rules", "sin"]) == 0
    listed = capsys.readouterr().out.splitlines()
    targets = [line.split("(")[0] for line in listed]
    assert {"math.sin", "np.sin"} <= set(targets) and all(t.split(".")[-1] == "sin" for t in targets)
    assert len(listed) == len(set(listed)) and sum(t == "math.sin" for t in targets) == 1
    assert cli.main(["rules", "no such function"]) == 1
    assert "no such function" in capsys.readouterr().err


def test_lab_without_a_screen_prints_an_address_that_works(lab):
    """The printed address opens the page; without its token nothing is served."""
    with urllib.request.urlopen(lab.address, timeout=10) as reply:
        assert reply.status == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{lab.base}/api/contents", timeout=10)
    assert refused.value.code == 403


def test_lab_asks_no_question_before_the_notebook_is_seen(lab):
    """A first start does not cover the notebook with an offer of news, and looks for none."""
    with urllib.request.urlopen(lab.address, timeout=10) as reply:
        page = reply.read().decode()
    assert re.search(r'"news": *{"disabled": *true}', page)


def test_lab_offers_our_kernel(lab):
    """The kernel "Python (rulelab)" is on the list and is the one a new notebook gets."""
    with urllib.request.urlopen(f"{lab.base}/api/kernelspecs?token={lab.token}", timeout=10) as reply:
        found = json.load(reply)
    assert found["default"] == "rulelab"
    assert found["kernelspecs"]["rulelab"]["spec"]["display_name"] == "Python (rulelab)"


def test_repl_has_the_magics_loaded(jupyter_environment):
    """In `rulelab repl` the magics are there at the first prompt."""
    typed = "'rrule' in get_ipython().magics_manager.magics['cell']\n"
    done = subprocess.run(
        [sys.executable, "-m", "rulelab", "repl"], input=typed,
        env=jupyter_environment | {"TERM": "dumb"}, text=True, capture_output=True, timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "True" in done.stdout
    assert "rulelab is loaded" in done.stdout
