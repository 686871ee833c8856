"""The command line says what it does, does it, and leaves by the right exit code."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.metadata
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rulelab.checking import doctor
from rulelab.notebook import cli
from rulelab.notebook.formats import FORMATS
from rulelab.screen import without_colour


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
    "words", [("labb",), ("--verson",), ("lab", "--port", "0"), ("lab", "--port", "x"), ("tour", "x")]
)
def test_wrong_use_leaves_by_code_2_with_a_word_about_it(words, capsys):
    """A mistyped command explains itself and never starts anything."""
    assert exit_code(*words) == 2
    assert "rulelab" in capsys.readouterr().err


def test_rulelab_alone_says_what_it_can_do(capsys):
    """And that is no mistake."""
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    for command in ("lab", "repl", "tour", "rules", "check", "docs"):
        assert f"rulelab {command} " in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    "words, meant",
    [(("chekc", "x.py"), "check"), (("check", "x.py", "--jbos", "2"), "--jobs"),
     (("check", "x.py", "--format", "jsno"), "json"), (("rules", "--formt", "json"), "--format")],
)
def test_a_slip_is_told_with_what_was_likely_meant(words, meant, capsys):
    """Of a command, an option, or what an option may be."""
    assert exit_code(*words) == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


def test_help_tells_the_exit_codes(capsys):
    """Of each command."""
    for words in (("--help",), ("check", "--help"), ("rules", "--help")):
        assert exit_code(*words) == 0
        assert "Exit codes: 0 done, 1 something is wrong" in " ".join(capsys.readouterr().out.split())


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


def test_the_commands_need_no_installation(tmp_path, monkeypatch, capsys):
    """With the clone on the path alone, as `python -m rulelab`: nothing asks what was installed."""
    monkeypatch.setattr(importlib.metadata.Distribution, "discover", classmethod(lambda cls, **_: iter(())))
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("rulelab")
    assert cli.main([]) == 0 and "rulelab lab" in capsys.readouterr().out
    assert exit_code("--version") == 0 and capsys.readouterr().out.startswith("rulelab ")
    with pytest.raises(cli.CommandError, match="did not come with this installation"):
        cli.chosen_notebook(None, tmp_path)


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


@pytest.mark.parametrize("way", [cli.FIRST_NOTEBOOK, f"notebooks/{cli.FIRST_NOTEBOOK}", "02-next.ipynb"])
@pytest.mark.parametrize("there", ["theirs.ipynb", "nothing-yet.ipynb"])
def test_links_do_not_lead_the_lab_out_of_the_folder(way, there, tmp_path, monkeypatch):
    """Who puts a link into a shared folder cannot have the lab write, show or open what lies elsewhere."""
    shipped = [tmp_path / "shipped" / name for name in (cli.FIRST_NOTEBOOK, "02-next.ipynb")]
    outside, folder = tmp_path / "outside", tmp_path / "mine"
    for made in (outside, folder / "notebooks", shipped[0].parent):
        made.mkdir(parents=True)
    for notebook in shipped:
        notebook.write_text("{}")
    (outside / "theirs.ipynb").write_text("theirs")
    (folder / way).symlink_to(outside / there)
    monkeypatch.setattr(cli, "installed_notebooks", lambda: shipped)
    if cli.FIRST_NOTEBOOK in way:
        with pytest.raises(cli.CommandError, match="outside this folder; to open that one, name it"):
            cli.chosen_notebook(None, folder)
    else:
        assert cli.chosen_notebook(None, folder) == folder / cli.FIRST_NOTEBOOK
    assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("theirs.ipynb", "theirs")]
    assert cli.chosen_notebook(outside / "theirs.ipynb", folder) == outside / "theirs.ipynb"


def test_what_is_no_notebook_is_not_opened(tmp_path):
    """A folder of the first notebook's name is said to be in the way."""
    (tmp_path / cli.FIRST_NOTEBOOK).mkdir()
    with pytest.raises(cli.CommandError, match="is not a notebook"):
        cli.chosen_notebook(None, tmp_path)


def test_a_shipped_notebook_that_is_a_link_is_none(tmp_path, monkeypatch):
    """Only what the installation itself brought is copied into a reader's folder."""
    secret, link = tmp_path / "secret", tmp_path / "share" / cli.FIRST_NOTEBOOK
    secret.write_text("secret")
    link.parent.mkdir()
    link.symlink_to(secret)
    file = importlib.metadata.PackagePath("share", cli.FIRST_NOTEBOOK)
    file.dist = importlib.metadata.Distribution.from_name("rulelab")
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [file])
    monkeypatch.setattr(type(file.dist), "locate_file", lambda self, path: tmp_path / path)
    with pytest.raises(cli.CommandError, match="did not come with"):
        cli.chosen_notebook(None, tmp_path / "mine")


def test_no_notebook_anywhere_is_said(tmp_path, monkeypatch):
    """Where the notebook did not come along, the command says so instead of opening nothing."""
    monkeypatch.setattr(cli, "installed_notebooks", lambda: [])
    with pytest.raises(cli.CommandError, match="name a notebook"):
        cli.chosen_notebook(None, tmp_path)


@pytest.mark.parametrize("code", [0, 1])
def test_tour_leaves_by_the_tours_own_code(code, monkeypatch):
    """`rulelab tour` succeeds only if the tour says that every number was right."""
    story = types.SimpleNamespace(main=lambda form: code)
    monkeypatch.setitem(sys.modules, "rulelab.notebook.tour", story)
    monkeypatch.setattr("rulelab.notebook.tour", story, raising=False)
    assert cli.main(["tour"]) == code


def test_interrupt_leaves_by_130(monkeypatch):
    """Ctrl-C ends a command without a traceback, by the code that shells expect."""
    def interrupted(form):
        raise KeyboardInterrupt

    story = types.SimpleNamespace(main=interrupted)
    monkeypatch.setitem(sys.modules, "rulelab.notebook.tour", story)
    monkeypatch.setattr("rulelab.notebook.tour", story, raising=False)
    assert cli.main(["tour"]) == 130


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    """`rulelab rules | head` ends quietly."""
    command = f"{sys.executable} -m rulelab rules | head -n 1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=300)
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
    assert cli.main(["rules", "sni"]) == 1
    assert "did you mean sin?" in capsys.readouterr().err


@pytest.mark.slow  # SciPy is imported; tests/rules/test_lazy_rules.py has what it takes
def test_rules_finds_those_of_libraries_that_nobody_imported(tmp_path):
    """A rule of SciPy's is found by its name in a process that has not used SciPy."""
    command = [sys.executable, "-m", "rulelab", "rules", "softmax"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    targets = {line.partition("(")[0] for line in done.stdout.splitlines()}
    assert targets == {"scipy.special.log_softmax", "scipy.special.softmax"}


def test_rules_shows_what_users_call(capsys):
    """Helpers of the compiler are left out unless all are asked for, and methods of operators come last."""
    assert cli.main(["rules"]) == 0
    targets = [line.split("(")[0] for line in capsys.readouterr().out.splitlines()]
    assert "np.sin" in targets and "Behind.__call__" not in targets and "is_zero" not in targets
    assert not any(target.startswith("_") for target in targets)
    special = ["__" in target for target in targets]
    assert special == sorted(special)
    assert cli.main(["rules", "is_zero"]) == 1
    assert "--all" in capsys.readouterr().err
    assert cli.main(["rules", "--all", "is_zero"]) == 0


def test_functions_are_listed_under_the_names_by_which_they_are_imported(capsys):
    """SciPy's are not among Python's own: what is listed can be typed. Methods go by the names of classes."""
    pytest.importorskip("scipy")
    assert cli.main(["rules", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    targets = {rule["target"] for rule in listed if rule["built_in"]}  # other tests may have left some
    assert {"scipy.special.erf", "scipy.linalg.expm", "scipy.fft.fft", "len", "ndarray.sum"} <= targets
    assert {"np.bartlett", "copy.deepcopy", "collections.deque", "rulelab.checkpointed"} <= targets
    assert sorted(name for name in targets if "." not in name and not hasattr(builtins, name)) == []
    of_modules = {name for name in targets if name.partition(".")[0] in {"np", *sys.modules}}
    assert len(of_modules) > 1000
    assert sorted(name for name in of_modules if not is_importable(name)) == []


def is_importable(name):
    """Whether a dotted name leads from a module to something in it."""
    first, *rest = name.split(".")
    found = importlib.import_module({"np": "numpy"}.get(first, first))
    for part in rest:
        found = getattr(found, part, None)
    return found is not None


def test_rules_for_programs(capsys):
    """As JSON: what each rule is for, and where it is."""
    assert cli.main(["rules", "np.sin", "--format", "json"]) == 0
    (rule,) = json.loads(capsys.readouterr().out)
    assert rule["target"] == "np.sin" and rule["kind"] == "scalar rule" and not rule["is_helper"]


def test_each_command_says_what_it_found_in_every_form():
    """`--format` is an option of each, but for the one that hands the terminal on to IPython."""
    (commands,) = (a.choices for a in cli.command_line()._actions if a.dest == "command")
    with_format = {name for name, one in commands.items() if "--format" in one._option_string_actions}
    assert with_format == commands.keys() - {"repl"}
    assert all(commands[n]._option_string_actions["--format"].choices == FORMATS for n in with_format)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "words",
    [("rules", "sin"), ("docs", "glossary", "--text"), ("docs", "sparse array"), ("docs", "rrule_for")],
)
def test_what_is_listed_or_read_has_every_form(words, form, capsys, monkeypatch, tmp_path):
    """JSON is JSON, and no line for GitHub is a command by accident."""
    monkeypatch.setattr("rulelab.notebook.manual.built", lambda: tmp_path)
    monkeypatch.setattr(cli, "has_screen", lambda *_: False)
    assert cli.main([*words, "--format", form]) == 0
    out = capsys.readouterr().out
    if form == "json":
        assert json.loads(out)
    if form == "github":
        assert all(line.startswith("::notice ") for line in out.splitlines() if line.startswith("::"))


class Terminal(io.StringIO):
    """A terminal of 80 columns that keeps what is written to it."""

    def isatty(self):
        return True


COMMANDS = [
    (), ("rules",), ("rules", "sin"), ("rules", "sinn"), ("docs", "--text", "softmax"), ("check", "SELF"),
]  # fmt: skip


@pytest.mark.first(2)
@pytest.mark.parametrize("words", COMMANDS, ids=[" ".join(words) or "alone" for words in COMMANDS])
@pytest.mark.parametrize(
    ("environ", "stream", "coloured"),
    [
        ({}, Terminal, True),
        ({"NO_COLOR": "1"}, Terminal, False),
        ({"TERM": "dumb"}, Terminal, False),
        ({"CI": "true"}, io.StringIO, False),
        ({"TERM": ""}, io.StringIO, False),
    ],
    ids=["terminal", "NO_COLOR", "dumb", "CI", "pipe"],
)
def test_colours_are_for_terminals_that_want_them(environ, stream, coloured, words, rules, monkeypatch):
    """No escape sequence reaches a file, a log, a dumb terminal or whoever has said no to colours; and on a
    terminal no line is longer than it is wide."""
    for variable in ("NO_COLOR", "FORCE_COLOR", "CI"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in {"TERM": "xterm", "COLUMNS": "80", **environ}.items():
        monkeypatch.setenv(variable, value)
    if "SELF" in words:
        words = ("check", rules(RULES, name=f"coloured_{environ}_{stream.__name__}".translate(PLAIN)))
    out, err = stream(), stream()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    cli.main(words)
    text = out.getvalue() + err.getvalue()
    assert text.strip() and ("\x1b" not in text or coloured)
    assert not coloured or words[:1] != ("check",) or "\x1b[32mright\x1b[0m" in text
    if stream is Terminal:
        own = [line for line in without_colour(text).splitlines() if not AS_WRITTEN.match(line)]
        assert max(map(len, own)) <= 80, max(own, key=len)


PLAIN = str.maketrans({character: "_" for character in "{}': ,"})
AS_WRITTEN = re.compile(r"\s+[-+] |.*, line \d+, in |\s+\^|\s*https?://|\s*file://")
"""Lines that are shown as they were written: of a program, of an address."""


def test_an_error_of_use_is_shown_by_github_too(capsys):
    """Beside the line on the error stream; a program gets an object."""
    assert cli.main(["check", "no_such_module", "--format", "github"]) == 2
    told = capsys.readouterr()
    assert told.out.startswith("::error title=rulelab check::there is no module named no_such_module")
    assert cli.main(["rules", "sni", "--format", "json"]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["command"] == "rulelab rules" and "did you mean sin?" in told.err


def test_a_program_is_told_where_lab_is(capsys):
    """The address alone, token included."""
    cli.announce("http://127.0.0.1:8888/lab?token=...", "secret", "json")
    assert json.loads(capsys.readouterr().out) == {"address": "http://127.0.0.1:8888/lab?token=secret"}


def test_lab_without_a_screen_prints_an_address_that_works(lab):
    """The printed address opens the page; without its token nothing is served."""
    with urllib.request.urlopen(lab.address, timeout=300) as reply:
        assert reply.status == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{lab.base}/api/contents", timeout=300)
    assert refused.value.code == 403


def test_lab_asks_no_question_before_the_notebook_is_seen(lab):
    """A first start does not cover the notebook with an offer of news, and looks for none."""
    with urllib.request.urlopen(lab.address, timeout=300) as reply:
        page = reply.read().decode()
    assert re.search(r'"news": *{"disabled": *true}', page)


def test_the_page_of_lab_does_not_ask_whether_to_fetch_news(lab):
    """JupyterLab's own default is to ask, in a popup over the notebook; who wants news may say so."""
    address = f"{lab.base}/lab/api/settings/@jupyterlab/apputils-extension:notification?token={lab.token}"
    with urllib.request.urlopen(address, timeout=300) as reply:
        asked = json.load(reply)["schema"]["properties"]["fetchNews"]
    assert asked["default"] == "false"
    assert cli.with_our_defaults("/theirs").split(os.pathsep)[0] == "/theirs"


def test_lab_shows_the_manual_to_who_has_the_token(lab):
    """What an error says to read is a page beside JupyterLab, at once: it waits for the pages."""
    page = f"{lab.base}/rulelab/manual/limitations.html"
    with urllib.request.urlopen(f"{page}?token={lab.token}", timeout=300) as reply:
        assert 'id="array-mutation"' in reply.read().decode()
    with urllib.request.urlopen(page, timeout=300) as reply:
        assert "/login" in reply.url


def test_lab_offers_our_kernel(lab):
    """The kernel "Python (rulelab)" is on the list and is the one a new notebook gets."""
    with urllib.request.urlopen(f"{lab.base}/api/kernelspecs?token={lab.token}", timeout=300) as reply:
        found = json.load(reply)
    assert found["default"] == "rulelab"
    assert found["kernelspecs"]["rulelab"]["spec"]["display_name"] == "Python (rulelab)"


def test_repl_has_the_magics_loaded(jupyter_environment):
    """In `rulelab repl` the magics are there at the first prompt."""
    typed = "'rrule' in get_ipython().magics_manager.magics['cell']\n"
    done = subprocess.run(
        [sys.executable, "-m", "rulelab", "repl"], input=typed,
        env=jupyter_environment | {"TERM": "dumb"}, text=True, capture_output=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "True" in done.stdout
    assert "rulelab is loaded" in done.stdout


# -- rulelab check ----------------------------------------------------------------------------------------

RULES = """
import rulelab as rl

def cube(x: float): return x ** 3

@rl.rrule_for(cube)
def cube_rrule(x: float):
    return x ** 3, lambda y_bar: (rl.NoTangent(), 3 * x ** 2 * y_bar)
"""
WRONG = """
def square(x: float): return x * x

@rl.rrule_for(square)
def square_rrule(x: float):
    return x * x, lambda y_bar: (rl.NoTangent(), 2 * x)
"""
REFUSING = """
def refusing(x): raise ValueError("never")

rl.scalar_rule(refusing, lambda y, x: 1.0)
"""
UNLUCKY = """
import rulelab as rl

def unlucky(A, B): return A @ B

@rl.rrule_for(unlucky)
def unlucky_rrule(A, B): raise ValueError("no such matrices")
"""
PATIENT = """
import time

def patient(x: float): return 2.0 * x

@rl.frule_for(patient)
def patient_frule(dots, x: float):
    print("patient", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def rules(tmp_path):
    """`rules(text, …)` gives the path of a module; the import of it is undone at the end."""
    path = list(sys.path)

    def written(*texts, name="rules_of_a_test"):
        file = tmp_path / f"{name}.py"
        file.write_text("".join(texts))
        sys.modules.pop(name, None)
        return str(file)

    yield written
    sys.path[:] = path
    for name in [n for n, m in sys.modules.items() if str(tmp_path) in (getattr(m, "__file__", "") or "")]:
        del sys.modules[name]


def test_check_tells_right_wrong_and_unknown_by_its_exit_code(rules, capsys):
    """0: all right. 1: one is wrong. 3: none is wrong, but of some it is not known."""
    assert cli.main(["check", rules(RULES, name="all_right")]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("1 check of 1 rule: all right.") and told.err == ""
    assert cli.main(["check", rules(RULES, WRONG, name="one_wrong")]) == 1
    out = capsys.readouterr().out
    assert out.startswith("2 checks of 2 rules: 1 wrong, 1 right.")
    assert "square_rrule of square is wrong" in out
    assert cli.main(["check", rules(RULES, REFUSING, name="one_unknown")]) == 3
    out = capsys.readouterr().out
    assert "no arguments were found that refusing takes: ValueError: never" in out
    assert "\n    do: give them in __rulelab_points__; or their kinds: --domain " in out
    assert cli.main(["check", rules(RULES, REFUSING, WRONG, name="both")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_check_advises_what_can_be_done_there(rules, form, capsys, tmp_path):
    """The command takes no arguments of functions: the module states them."""
    path = tmp_path / "out.xml"
    assert cli.main(["check", rules(UNLUCKY), "--format", form, "--junit", str(path)]) == 3
    for text in (capsys.readouterr().out, path.read_text()):
        assert "give your own in __rulelab_points__" in " ".join(text.split())
        assert "--at" not in text and "rule_check(" not in text


def test_check_of_names_only(rules, capsys):
    """NAMEs after the module choose the functions."""
    assert cli.main(["check", rules(RULES, WRONG), "cube", "--deep", "--seed", "3"]) == 0
    assert "rrule of cube(x: float), seed 3" in capsys.readouterr().out


def test_check_writes_junit_for_ci(rules, tmp_path):
    """The file says what the report says: a wrong rule is a failure."""
    path = tmp_path / "out.xml"
    assert cli.main(["check", rules(RULES, WRONG), "--junit", str(path)]) == 1
    suite = ElementTree.parse(path).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert "the rule gives" in suite.find(".//failure").text


def test_check_speaks_as_it_is_asked(rules, capsys, monkeypatch):
    """JSON for programs, commands for GitHub; the exit code is the same."""
    monkeypatch.setattr(doctor, "diagnose", lambda *_: ())
    path = rules(RULES, WRONG)
    assert cli.main(["check", path, "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "wrong" and [o["verdict"] for o in told["outcomes"]] == ["right", "wrong"]
    assert cli.main(["check", path, "--format", "github"]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("::error file=") and "title=rrule of square(x%3A float)::square_rrule" in first
    assert last == "2 checks of 2 rules: 1 wrong, 1 right."


def test_check_of_several_files(rules, capsys):
    """As a hook of pre-commit names them: those that state no rules may be passed over."""
    files = [rules(RULES, name=f"several_{number}") for number in (1, 2)]
    empty = rules("x = 1\n", name="several_3")
    assert cli.main(["check", *files, empty, "cube", "--if-any"]) == 0
    assert capsys.readouterr().out.startswith("2 checks of 2 rules: all right.")
    twice = [files[0], f"{os.path.dirname(files[0])}/./{os.path.basename(files[0])}"]
    assert cli.main(["check", *twice]) == 0  # once loaded, a package has the rules of its modules as well
    assert "1 check of 1 rule: all right." in capsys.readouterr().out
    assert cli.main(["check", *files[:1], empty]) == 2


def test_check_of_nothing_is_an_answer_too(rules, capsys, tmp_path):
    """Programs read that there was nothing to check; people are told nothing."""
    empty, path = rules("x = 1\n"), tmp_path / "out.xml"
    words = ["check", empty, "--if-any"]
    assert cli.main(words) == 0 and cli.main([*words, "--format", "github"]) == 0
    assert capsys.readouterr().out == ""
    assert cli.main([*words, "--format", "json", "--junit", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["outcomes"] == [] and told["verdict"] is None
    assert ElementTree.parse(path).getroot().get("tests") == "0"


def test_a_check_that_cannot_begin_leaves_no_earlier_outcome(rules, tmp_path):
    """The file of `--junit` holds the error, where it held the outcome of another run."""
    path = tmp_path / "out.xml"
    path.write_text('<testsuites tests="1" failures="0" errors="0"/>')
    for words in (["1 / 0\n"], ["x = 1\n"]):
        assert cli.main(["check", rules(*words), "--junit", str(path)]) == 2
        suite = ElementTree.parse(path).getroot()
        assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
        assert "rules_of_a_test.py" in suite.find(".//error").get("message")


def test_check_of_shipped_rules(capsys):
    """The built-in rules, at their own check points."""
    assert cli.main(["check", "--shipped", "math.sinh"]) == 0
    assert " of 2 rules: all right." in capsys.readouterr().out


def test_check_takes_a_domain(rules, capsys):
    """Kinds of arguments for all functions, or by parameter."""
    path = rules(RULES)
    assert cli.main(["check", path, "--domain", "positive"]) == 0
    assert cli.main(["check", path, "--domain", "x=unit"]) == 0


@pytest.mark.parametrize(
    "words, told",
    [
        ([], "name a module or a file, or give --shipped"),
        (["no_such_module"], "there is no module named no_such_module"),
        (["nowhere.py"], "there is no file nowhere.py"),
        (["FAILING"], "rules_of_a_test.py cannot be imported: ZeroDivisionError: division by zero, at"),
        (["EMPTY"], "rules_of_a_test.py states no rules; state one with @rl.rrule_for(f)"),
        (["RULES", "cuby"], "there is no rule for a function named 'cuby'; did you mean cube?"),
        (["RULES", "--domain", "odd"], "'odd' is not a domain"),
        (["RULES", "--domain", "q=unit"], "no function here has a parameter 'q'"),
        (["RULES", "--domain", "x=unit", "--domain", "real"], "--domain 'real' is for all arguments"),
        (["RULES", "--junit", "nowhere/out.xml"], "--junit nowhere/out.xml cannot be written"),
        (["RULES", "--junit", "."], "--junit . is a folder: name a file in it"),
        (["--shipped", "no_such_name"], "there is no rule for a function named 'no_such_name'"),
        (["--shipped", "--domain", "unit"], "--domain needs a module"),
    ],
)
def test_check_refuses_what_cannot_be_checked_in_one_line(words, told, rules, capsys, monkeypatch, tmp_path):
    """Each way to mistype it leaves by code 2, with one line that says what is wrong."""
    texts = {"FAILING": "1 / 0\n", "EMPTY": "x = 1\n", "RULES": RULES}
    words = [rules(texts[word]) if word in texts else word for word in words]
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", *words]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"rulelab check: {told}") and error.count("\n") == 1


@pytest.mark.parametrize(
    "option, told",
    [
        (["--jobs", "0"], "must be a positive whole number, not '0'"),
        (["--jobs", "two"], "must be a positive whole number, not 'two'"),
        (["--limit", "0"], "must be a positive number of seconds, not '0'"),
        (["--limit", "soon"], "must be a positive number of seconds, not 'soon'"),
        (["--seed", "x"], "--seed must be a whole number, not x"),
    ],
)
def test_check_refuses_wrong_numbers(option, told, capsys):
    """Numbers that cannot be are refused with the option's name, by code 2."""
    assert exit_code("check", "module", *option) == 2
    error = capsys.readouterr().err
    assert told in error and option[0] in error


@pytest.mark.slow
def test_check_on_processes_from_the_shell(rules, tmp_path):
    """`--jobs 2` gives the same report, and no word on an error stream that is no terminal."""
    command = [sys.executable, "-m", "rulelab", "check", rules(RULES, WRONG, name="shell"), "--jobs"]
    runs = [subprocess.run([*command, n], cwd=tmp_path, capture_output=True, text=True) for n in ("1", "2")]
    assert [run.returncode for run in runs] == [1, 1] and [run.stderr for run in runs] == ["", ""]
    one, two = (re.sub(r"(?m)^[\d.e-]+ s$", "", run.stdout) for run in runs)
    assert one == two


@pytest.mark.every(2)
@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")
def test_ctrl_c_ends_a_check_with_what_it_has(processes, rules, tmp_path):
    """Ctrl-C prints the report of what was done, leaves by 130, and no process stays behind."""
    path = rules(RULES, PATIENT, name=f"patient_{processes}")
    command = [sys.executable, "-m", "rulelab", "check", path, "--jobs", processes]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        try:
            assert run.stdout.readline() == "patient\n"
            if processes == "2":
                time.sleep(3.0)  # the other process is to have judged its rule by then
            os.killpg(run.pid, signal.SIGINT)
            out, err = run.communicate(timeout=300)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode == 130 and "Traceback" not in err
    assert "2 checks of 2 rules: 1 not reached, 1 right." in out
    assert "stopped early: 1 check not made" in out


def test_a_bar_is_shown_on_a_terminal_only(rules, monkeypatch):
    """How far a check is, is told by the same bar as elsewhere: on a terminal, and gone at the end."""
    seen = []

    class Seen:
        def __init__(self, total, doing):
            seen.append((total, doing))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            seen.append("gone")

        def step(self):
            seen.append("step")

    monkeypatch.setattr("rulelab.ad.progress.Progress", Seen)
    assert cli.main(["check", rules(RULES, WRONG)]) == 1
    assert seen == [(2, "checks of rules"), "step", "step", "gone"]
