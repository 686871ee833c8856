"""What several floors' tests need: a running `rulelab lab`, in folders of its own; which tests go first."""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

import rulelab as rl
from rulelab.compiler.calls.cache import Cache
from rulelab.compiler.memory import heap

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

REPOSITORY = Path(__file__).resolve().parents[1]
ADDRESS = re.compile(r"(?P<base>http://127\.0\.0\.1:\d+)/\S*\?token=(?P<token>\w+)")
LAB_SETTINGS = {
    # Otherwise cells that are off the screen are not in the page, and nothing in them can be found.
    "notebook-extension/tracker": {"windowingMode": "none", "autoStartDefaultKernel": True},
    "docmanager-extension/plugin": {"autosave": False},
    # What the kernel offers counts however busy the machine is: otherwise it is dropped after a second.
    "completer-extension/manager": {"providerTimeout": 120_000},
}
LAB_CONFIG = {"LabApp": {"expose_app_in_browser": True}, "ServerApp": {"terminals_enabled": False}}
EMPTY_NOTEBOOK = {
    "cells": [],
    "metadata": {"kernelspec": {"name": "rulelab", "display_name": "Python (rulelab)", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}

# What shares a browser, a built manual or a notebook that was run, and what takes long. The browser is the
# very first: another process that took one of its tests would start a JupyterLab of its own.
FIRST = ("browser", "test_docs.py", "notebook", "reliability")
# Pages whose examples take seconds: tests of their own stand for what they show.
SLOW_PAGES = {
    "docs/coming-from/vocabulary.md",
    "docs/gallery/differential-equation.md",
    "docs/gallery/interpolation.md",
    "docs/howto/check-a-rule.md",
    "docs/howto/derive-a-rule.md",
    "docs/howto/prove-a-rule.md",
    "docs/howto/scan-a-rule.md",
    "docs/reference/faults-in-autograd.md",
    "docs/reference/mistakes.md",
    "docs/reference/proving.md",
}
# What asks a process of its own for each proof: it is made twice as fast by one that holds little yet.
FORKING = ("symbolic", "checking")


# jsonschema, without which no notebook is read, has a grammar of addresses compiled in each process, which
# takes 1.6 s, and does without where it is not installed.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
SPHINX = """
import functools, sys
sys.modules["rfc3987_syntax"] = None
from sphinx.cmd.build import main
from sphinx.search.en import SearchEnglish
SearchEnglish.stem = functools.cache(SearchEnglish.stem)  # of each word once, not wherever it stands: 2 s
sys.exit(main(sys.argv[1:]))
"""

gc.set_threshold(20_000, 20, 50)  # compiling makes many objects and few cycles: with 700, a sixth of all time


_CASES_OF: dict[tuple[Path, str], int] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Whatever the environment says, bytecode is kept, and Ctrl-C, which many tests press, is heard.

    Containers forbid bytecode by `PYTHONDONTWRITEBYTECODE`; then each process of the suite compiles the
    tests, and each of the hundreds that tests start the package. What a shell without job control starts in
    its background is deaf to Ctrl-C.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("PYTEST_ADDOPTS", "-p no:nbmake")  # where a test starts pytest: 3 s each time
    for library in ("OPENBLAS", "OMP", "MKL"):
        # What runs side by side has the cores already: with threads of its own the linear algebra of small
        # arrays takes half as much time of the processor again.
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    config.pluginmanager.register(WithExamples())  # a hook of this file is asked about its own folder only
    _keep_what_jax_compiles(config)


def _keep_what_jax_compiles(config: pytest.Config) -> None:
    """What XLA compiles for one process, 50 ms for each operation, the others find until the run ends."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="rulelab-jax-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder.name
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """In a fresh clone each process rewrites the assertions of a share of the files before it reads them.

    That takes 12 s of the processor, and otherwise each would do it for all files, side by side. So would it
    look for the numbers in our code, which Hypothesis tries: 5 s.
    """
    given = getattr(session.config, "workerinput", None)
    if given is not None and session.config.option.assertmode == "rewrite":
        number, count = int(given["workerid"].removeprefix("gw")), given["workercount"]
        asked = [Path(arg.partition("::")[0]).resolve() for arg in session.config.args]
        every = sorted((REPOSITORY / "tests").rglob("test_*.py"))
        files = [file for file in every if any(map(file.is_relative_to, asked))]
        # There are no public names for this: with a pytest that has others, it takes as long as it takes.
        with contextlib.suppress(ImportError, AttributeError, TypeError):
            for file in files[number::count]:
                _rewrite_assertions(file, session.config)
        if len(files) == len(every):
            with contextlib.suppress(ImportError, AttributeError, TypeError):
                for file in sorted((REPOSITORY / "rulelab").rglob("*.py"))[number::count]:
                    _look_for_numbers(file)


def _rewrite_assertions(file: Path, config: pytest.Config) -> None:
    from _pytest.assertion import rewrite

    folder = rewrite.get_cache_dir(file)
    kept = folder / (file.stem + rewrite.PYC_TAIL)
    if rewrite._read_pyc(file, kept) is None and rewrite.try_makedirs(folder):
        found, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, found, kept)


def _look_for_numbers(file: Path) -> None:
    """Of a file, for the folder `.hypothesis`, where each process finds what one of them has read."""
    from hypothesis.internal import constants_ast

    module = types.ModuleType(file.stem)
    module.__file__ = str(file)
    constants_ast.constants_from_module(module)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One more than there are cores, as browsers, kernels and commands are waited for; None: as it is set."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class WithExamples:
    """Examples are looked for where there are some: not in tests, so that each file of them is read once, nor
    in a module in whose text there is none, which takes a second and a half in each process.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Iterator[None]:
        found = yield
        if file_path.suffix != ".py" or _may_have_examples(file_path):
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        if item.nodeid.partition("::")[0] in SLOW_PAGES:
            _leave_to_ci(item)


def _may_have_examples(file: Path) -> bool:
    return not file.is_relative_to(REPOSITORY / "tests") and ">>>" in file.read_text(encoding="utf-8")


def pytest_itemcollected(item: pytest.Item) -> None:
    """`@pytest.mark.every(n)`: each n-th case is run with the suite, and the others are a campaign; with
    `slow=True` each n-th one is slow.

    So is a whole test with `@pytest.mark.rest` or `slow`, and with `@pytest.mark.first(n)` each case but
    the first n, which is slow. With `pytestmark = pytest.mark.slow_file` all of a file is slow that the suite
    would run, and no more. An address in the name of a case would be another one in each process, so
    that none could share the work.
    """
    if " at 0x" in item.nodeid:
        raise pytest.UsageError(f"{item.nodeid}: give this case a name that is the same in every process")
    marks: dict[str, pytest.Mark] = {}
    for mark in item.iter_markers():  # from the closest one on
        marks.setdefault(mark.name, mark)
    if "manual" in getattr(item, "fixturenames", ()) and "campaign" not in marks:  # a minute to build
        _leave_to_ci(item)
    if "rest" in marks or "slow" in marks or "slow_file" in marks and _leaves_campaigns_out(item):
        item.add_marker(pytest.mark.campaign)
    if _leaves_campaigns_out(item):
        return
    if "every" in marks and _number(item) % marks["every"].args[0]:
        item.add_marker(pytest.mark.campaign)
    elif "every" in marks and marks["every"].kwargs.get("slow"):
        _leave_to_ci(item)
    if "first" in marks and _number(item) >= marks["first"].args[0]:
        _leave_to_ci(item)
    if "slow_file" in marks and item.get_closest_marker("campaign") is None:
        _leave_to_ci(item)


def _leave_to_ci(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.slow)
    item.add_marker(pytest.mark.campaign)


def _number(item: pytest.Item) -> int:
    """Which case of its test it is; asked once of each, in their order."""
    test = item.path, item.nodeid.partition("[")[0]
    number = _CASES_OF[test] = _CASES_OF.get(test, -1) + 1
    return number


# Half of all cases are campaigns. To make them, only to leave them out, takes seconds in each process.


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> list[pytest.Item] | None:
    """Of a test that is a campaign no case is made where none is run."""
    marks = getattr(obj, "pytestmark", ()) if name.startswith("test") else ()
    is_campaign = isinstance(marks, list) and any(map(_is_of_a_campaign, marks))
    return [] if is_campaign and _leaves_campaigns_out(collector) else None


def _is_of_a_campaign(mark: pytest.Mark) -> bool:
    return mark.name in ("campaign", "slow") or mark.name == "every" and mark.kwargs.get("slow", False)


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Nor are those that `every` leaves to a campaign, or `first` to the slow ones."""
    yield
    if not _leaves_campaigns_out(metafunc.definition):
        return
    if (sampled := metafunc.definition.get_closest_marker("every")) is not None:
        metafunc._calls = metafunc._calls[:: sampled.args[0]]  # pytest has no public name for them
    if (ahead := metafunc.definition.get_closest_marker("first")) is not None:
        metafunc._calls = metafunc._calls[: ahead.args[0]]


def _leaves_campaigns_out(node: pytest.Collector | pytest.Item) -> bool:
    """Whether no campaign of a file is run, nor a test of it asked for by name, which is to be found then.

    With one process all are made, and it is said how many of them are left out.
    """
    config = node.config
    by_default = hasattr(config, "workerinput") and config.option.markexpr == "not campaign"
    return by_default and node.path not in _files_of_named_tests(tuple(config.args))


@functools.cache
def _files_of_named_tests(args: tuple[str, ...]) -> frozenset[Path]:
    return frozenset(Path(arg.partition("::")[0]).resolve() for arg in args if "::" in arg)


@pytest.hookimpl(trylast=True)  # when it is known which tests are campaigns, and not run
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With several processes, what shares something costly goes first, side by side.

    `--dist worksteal` gives each process a stretch of the list, and one that has nothing left takes from the
    end of another's: so the tests at the beginning stay together, and nothing long is left for the end. What
    forks is where the second process begins.
    """
    if hasattr(config, "workerinput"):
        parts: dict[str, list[pytest.Item]] = {name: [] for name in (*FIRST, *FORKING, "")}
        for item in items:
            parts[_part_of(item.path)].append(item)
        first, forking = ([item for name in names for item in parts[name]] for names in (FIRST, FORKING))
        before = max(0, len(items) // config.workerinput["workercount"] - len(first))
        items[:] = [*first, *parts[""][:before], *forking, *parts[""][before:]]


@functools.cache
def _part_of(path: Path) -> str:
    """The name in `FIRST` or `FORKING` of what holds a file, else an empty one."""
    tests = REPOSITORY / "tests"
    return next((name for name in (*FIRST, *FORKING) if path.is_relative_to(tests / name)), "")


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not look through it again and again."""
    _set_apart()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """So does what a file leaves in caches; with all that about, a test that collects is 5 times slower."""
    if nextitem is None or nextitem.path != item.path:
        _set_apart()


def _set_apart() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def values_are_compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In every test each derived value is compared with that of the plain function, whatever the cache."""
    with rl.debug_mode(compare=True):  # first, so that it finds, and puts back, what was there before
        monkeypatch.setattr(Cache, "compare", True)
        yield


@pytest.fixture
def as_users_run_it(values_are_compared: None) -> Iterator[None]:
    """Nothing is compared at each call, which would close the quick ways."""
    with rl.debug_mode(rules=False, compare="first"):
        yield


@pytest.fixture(autouse=True)
def no_sweep_is_left_open() -> Iterator[None]:
    """What a sweep makes counts as its own no longer than it runs, however it ends."""
    yield
    if heap._STATE.here.depth:  # one that was interrupted is noticed by the next
        rl.pullback(float, 1.0)
    assert heap._STATE.here.depth == 0


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address and token as it printed them, and the folder it shows."""

    address: str
    base: str
    token: str
    root: Path

    @property
    def address_of_launcher(self) -> str:
        """The address that opens JupyterLab without a notebook, whatever was open before."""
        return f"{self.base}/lab?token={self.token}&reset"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder of the project."""
    return REPOSITORY


@pytest.fixture(scope="session")
def manual(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built as `make docs` does, but for the notebooks, which are not run; once for all processes
    of the suite.
    """
    pytest.importorskip("myst_nb")
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "manual"
    with _one_process_at_a_time(folder.with_suffix(".lock")):
        if not (folder / "html").exists():
            _build_the_manual(repository, folder)
    return folder / "html"


def _build_the_manual(repository: Path, folder: Path) -> None:
    """It has its name once it is whole."""
    command = [sys.executable, "-c", SPHINX, "-q", "-W", "--keep-going", "-D", "nb_execution_mode=off"]
    done = subprocess.run(
        [*command, "-b", "html", "-d", str(folder / "doctrees"), "docs", str(folder / "begun")],
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "begun").rename(folder / "html")


@contextlib.contextmanager
def _one_process_at_a_time(file: Path) -> Iterator[None]:
    with file.open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def jupyter_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables under which Jupyter neither sees nor touches anything of the user's."""
    home = tmp_path_factory.mktemp("jupyter")
    settings = home / "settings" / "@jupyterlab"
    for plugin, value in LAB_SETTINGS.items():
        file = settings / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    (home / "config").mkdir()
    (home / "config" / "jupyter_server_config.json").write_text(json.dumps(LAB_CONFIG))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    return kept | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


@pytest.fixture(scope="session")
def lab(jupyter_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """`rulelab lab --no-browser` on a free port, as a person without a screen would start it."""
    root = tmp_path_factory.mktemp("notebooks")
    (root / "empty.ipynb").write_text(json.dumps(EMPTY_NOTEBOOK))
    log = root.parent / "lab.log"
    command = [sys.executable, "-m", "rulelab", "lab", "--no-browser", "--port", str(free_port())]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "empty.ipynb"], cwd=root, env=jupyter_environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )
    found = None
    try:
        found = wait_for_address(process, log)
        yield Lab(found[0], found["base"], found["token"], root)
    finally:
        shut_down(process, found)


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_address(process: subprocess.Popen[bytes], log: Path, seconds: float = 300.0) -> re.Match[str]:
    """The address that the server prints once it is up."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if found := ADDRESS.search(log.read_text(errors="replace")):
            return found
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not come up:\n" + log.read_text(errors="replace")[-4000:])


def shut_down(process: subprocess.Popen[bytes], found: re.Match[str] | None) -> None:
    """End the server politely, so that it ends its kernels first; by signal only if that did not help."""
    if found is not None:
        headers = {"Authorization": f"token {found['token']}"}
        request = urllib.request.Request(f"{found['base']}/api/shutdown", method="POST", headers=headers)
        with contextlib.suppress(OSError):
            urllib.request.urlopen(request, timeout=5).close()  # is to end: there are signals
    for end in (signal.SIGTERM, signal.SIGKILL):
        try:
            process.wait(15 if found is not None else 1)
            return
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, end)   # its own process group: it was started as the leader of one
    process.wait()
