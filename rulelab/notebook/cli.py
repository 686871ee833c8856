"""The command line: `rulelab lab | repl | tour | rules | check`, each the start of what lives elsewhere."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from ..files import copy_new

FIRST_NOTEBOOK = "01-a-rule-in-a-cell.ipynb"
KERNEL = "rulelab"
LOOPBACK = "127.0.0.1"
REPL_GREETING = "rulelab is loaded: %rules lists the rules, %%rrule? shows how to write one.\n"


class CommandError(Exception):
    """The command cannot be carried out as it was typed; the message says why, and what to type instead."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 1: it ran and something in it was wrong. 2: it was not typed right, or what it names cannot be
    used. 3: nothing was wrong, but not everything could be judged. 130: stopped by Ctrl-C.
    """
    arguments = command_line().parse_args(argv)
    try:
        return arguments.run(arguments)
    except CommandError as error:
        print(f"rulelab {arguments.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `rulelab rules | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def command_line() -> argparse.ArgumentParser:
    """The parser of every command; each subparser carries the function that runs it as `run`."""
    parser = argparse.ArgumentParser(prog="rulelab", description="A bench for derivative rules.")
    version = importlib.metadata.version("rulelab")
    parser.add_argument("--version", action="version", version=f"rulelab {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    lab = commands.add_parser("lab", help="JupyterLab, on the first notebook or on NOTEBOOK")
    lab.add_argument("--port", type=port_number, help="default: the first free one from 8888 on")
    lab.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    lab.add_argument("notebook", nargs="?", type=Path, metavar="NOTEBOOK", help=f"default: {FIRST_NOTEBOOK}")
    lab.set_defaults(run=run_lab)

    repl = commands.add_parser("repl", help="IPython with the magics loaded")
    repl.set_defaults(run=run_repl)

    tour = commands.add_parser("tour", help="the first notebook's story in this terminal, under 20 seconds")
    tour.set_defaults(run=run_tour)

    rules = commands.add_parser("rules", help="the rules there are, or those for functions named TEXT")
    rules.add_argument("text", nargs="?", default="", metavar="TEXT")
    rules.set_defaults(run=run_rules)

    check = commands.add_parser(
        "check",
        help="whether the rules of a module are right, by numbers",
        description="Checks every rule that MODULE states (a dotted name or a file), or those for functions "
        "named NAME. Exit code 0: all are right; 1: one is wrong; 2: they cannot be checked as asked; "
        "3: none is wrong, but of some it is not known; 130: stopped. Several files may be given: what ends "
        "with .py is one.",
    )
    check.add_argument("words", nargs="*", metavar="MODULE [NAME ...]")
    check.add_argument(
        "--format", choices=FORMATS, default="text", metavar="FORMAT",
        help="text (the default), json, or github: the commands that annotate lines in a job there",
    )  # fmt: skip
    check.add_argument(
        "--if-any",
        action="store_true",
        help="modules that state no rules are passed over; exit code 0 if none does",
    )
    check.add_argument(
        "--shipped", action="store_true", help="the rules that come with rulelab; all words are NAMEs"
    )
    check.add_argument("--jobs", type=whole_number, default=1, metavar="N", help="processes; default: 1")
    check.add_argument("--junit", type=Path, metavar="FILE", help="write the outcome as JUnit XML too")
    check.add_argument("--seed", type=int, default=0, metavar="N", help="of the points; default: 0")
    check.add_argument("--deep", action="store_true", help="three times as many points")
    check.add_argument(
        "--domain", action="append", default=[], metavar="KIND|NAME=KIND",
        help='what to draw arguments from: "positive vector"; x="positive definite"; may be repeated',
    )  # fmt: skip
    check.add_argument("--limit", type=seconds, metavar="S", help="seconds for one check; default: 60")
    check.set_defaults(run=run_check)
    return parser


def port_number(text: str) -> int:
    """`text` as a TCP port.

    >>> port_number("8888")
    8888
    """
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return number


def whole_number(text: str) -> int:
    """`text` as a number from 1 on.

    >>> whole_number("2")
    2
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is needed, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """`text` as a number of seconds above 0.

    >>> seconds("0.5")
    0.5
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"a number of seconds above 0 is needed, not {text!r}")
    return number


# -- rulelab lab ------------------------------------------------------------------------------------------


def run_lab(arguments: argparse.Namespace) -> int:
    """Start JupyterLab on the loopback address with a token, and stay until it ends."""
    notebook = chosen_notebook(arguments.notebook, Path.cwd())
    root = lab_root(notebook, Path.cwd())
    browser = not arguments.no_browser and has_screen(os.environ, sys.platform)
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    options = lab_options(
        notebook, root, token=token, port=arguments.port, browser=browser, as_root=is_root()
    )

    # A second of imports that no other command should pay.
    from jupyterlab.labapp import LabApp

    # In this process, not a child's: the token then never stands in the list of processes.
    server = LabApp.initialize_server(argv=options)
    server.io_loop.add_callback(announce, server.local_url, token)
    server.start()
    return 0


def chosen_notebook(named: Path | None, folder: Path) -> Path:
    """The notebook to open: the one named, the source tree's first one, or a copy of the installed one.

    The copy goes into `folder`, so that what a reader writes into it is theirs, and with it come the others
    that it points to; one that is there already stays as it is. Nothing is read or written through a link,
    and only a notebook that was named is opened where it leads out of `folder`.
    """
    if named is not None:
        if not named.is_file():
            raise CommandError(f"there is no notebook {str(named)!r}; without a name the first one is opened")
        return named.resolve()
    for there in (folder / "notebooks" / FIRST_NOTEBOOK, folder / FIRST_NOTEBOOK):
        if os.path.lexists(there):
            return notebook_in(folder, there)
    shipped = installed_notebooks()
    if FIRST_NOTEBOOK not in {notebook.name for notebook in shipped}:
        raise CommandError(f"{FIRST_NOTEBOOK} did not come with this installation; name a notebook to open")
    for notebook in shipped:
        with contextlib.suppress(FileExistsError):
            copy_new(notebook, folder / notebook.name)
    return notebook_in(folder, folder / FIRST_NOTEBOOK)


def notebook_in(folder: Path, notebook: Path) -> Path:
    """Where a notebook that nobody named is; CommandError if it is none, or not in `folder` at all."""
    found = notebook.resolve()
    if not found.is_relative_to(folder.resolve()):
        raise CommandError(f"{notebook} is a link to {found}, outside this folder; to open that one, name it")
    if not found.is_file():
        raise CommandError(f"{notebook} is in the way, and is no notebook; move it, or name one to open")
    return found


def installed_notebooks() -> list[Path]:
    """Where the notebooks were put when rulelab was installed, as files and not as links; none if not."""
    files = importlib.metadata.files("rulelab") or ()
    found = [Path(str(f.locate())) for f in files if f.suffix == ".ipynb" and "share" in f.parts]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def lab_root(notebook: Path, folder: Path) -> Path:
    """The folder JupyterLab shows: `folder` where the notebook lies below it, else the notebook's own."""
    return folder.resolve() if notebook.is_relative_to(folder.resolve()) else notebook.parent


def lab_options(
    notebook: Path, root: Path, *, token: str, port: int | None, browser: bool, as_root: bool
) -> list[str]:
    """JupyterLab's own command line for one notebook.

    These options outrank the user's configuration files, so the address stays the loopback one and the
    token stays on whatever those say.
    """
    page = quote(notebook.relative_to(root).as_posix())
    options = [
        f"--ServerApp.ip={LOOPBACK}",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.open_browser={browser}",
        "--Application.log_level=WARN",
        f"--LabApp.default_url=/lab/tree/{page}",
        f"--MultiKernelManager.default_kernel_name={KERNEL}",
        # A first start asks nobody for news or newer versions, and no question covers the notebook.
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
    ]
    if port is not None:
        options += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if as_root:
        # A container has no other user, and JupyterLab would refuse to start.
        options.append("--allow-root")
    return options


def has_screen(environ: Mapping[str, str], platform: str) -> bool:
    """Whether a browser window can be shown.

    On Linux without a display `webbrowser` would start a text browser over JupyterLab's own output.
    """
    if platform in ("darwin", "win32", "cygwin"):
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def is_root() -> bool:
    """Whether this process is the superuser's; never on systems that have none."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def announce(url: str, token: str) -> None:
    """Print the address that opens the notebook, token included."""
    address = f"{url.partition('?')[0]}?token={token}"
    print("\nJupyterLab is up (Ctrl-C twice ends it). Open this address in a browser:\n", flush=True)
    print(f"    {address}\n", flush=True)


# -- rulelab repl -----------------------------------------------------------------------------------------


def run_repl(arguments: argparse.Namespace) -> int:
    """Start IPython with the extension loaded, as `%load_ext rulelab` would."""
    from IPython import start_ipython
    from traitlets.config import Config

    config = Config()
    config.InteractiveShellApp.extra_extensions = ["rulelab"]
    config.TerminalInteractiveShell.banner2 = REPL_GREETING
    start_ipython(argv=[], config=config)
    return 0


# -- rulelab tour -----------------------------------------------------------------------------------------


def run_tour(arguments: argparse.Namespace) -> int:
    """Tell the first notebook's story here; 0 only if every number in it came out right."""
    from . import tour

    return tour.main()


# -- rulelab rules ----------------------------------------------------------------------------------------


def run_rules(arguments: argparse.Namespace) -> int:
    """Print the rules that come with rulelab, one a line; 1 if there is none for the name asked for."""
    from ..rules.listing import listed
    from ..rules.registry import DEFAULT

    found = [rule.describe() for rule in listed(DEFAULT.rules(), arguments.text)]
    if not found:
        about = f"a function with {arguments.text!r} as a word of its name"
        print(f"rulelab rules: there is none for {about}", file=sys.stderr)
        return 1
    print("\n".join(found), flush=True)
    return 0


# -- rulelab check ----------------------------------------------------------------------------------------

FORMATS = ("text", "json", "github")
CHECKED = {"right": 0, "wrong": 1, "inconclusive": 3}  # the exit code of each verdict


def run_check(arguments: argparse.Namespace) -> int:
    """Check rules and print the report; its verdict is the exit code, 130 where Ctrl-C made it partial."""
    from ..ad.progress import Progress
    from ..checking.many import check_all
    from ..errors import RuleLabError

    try:
        _check_writable(arguments.junit)
        jobs = jobs_of(arguments)
        if not jobs:
            return 0
        with Progress(len(jobs), "checks of rules") as progress:
            report = check_all(
                jobs,
                workers=arguments.jobs,
                limit=arguments.limit or (300.0 if arguments.deep else 60.0),
                told=lambda *_: progress.step(),
            )
        print(written(report, arguments.format), flush=True)
        if arguments.junit is not None:
            report.save_junit(arguments.junit)
    except RuleLabError as error:
        raise CommandError("; ".join([error.found, *error.fixes])) from None
    return 130 if report.interrupted else CHECKED[report.verdict]


def jobs_of(arguments: argparse.Namespace):
    """The checks that a command line asks for."""
    from ..checking.jobs import module_jobs, shipped_jobs
    from ..checking.modules import NoRulesError

    depth, words = "deep" if arguments.deep else "normal", arguments.words
    if arguments.shipped:
        if arguments.domain:
            raise CommandError("--domain goes with a module: shipped rules are checked at their own points")
        return shipped_jobs(words, seeds=(arguments.seed,), depth=depth)
    if not words:
        raise CommandError("name a module or a file, or say --shipped")
    files = [words[0], *(word for word in words[1:] if word.endswith(".py"))]
    names = [word for word in words[1:] if not word.endswith(".py")]
    options = {"seed": arguments.seed, "depth": depth, "domain": domain_of(arguments.domain)}
    jobs: list = []
    for file in dict.fromkeys(files):
        try:
            jobs += module_jobs(file, names, **options)
        except NoRulesError:
            if not arguments.if_any:
                raise
    return tuple(jobs)


def written(report, form: str) -> str:
    """The report of a check in one of the FORMATS."""
    return {"json": report.to_json, "github": report.to_github}.get(form, report.__str__)()


def domain_of(given: Sequence[str]) -> str | list[tuple[str, str]]:
    """The kinds of arguments that `--domain` names: words for all, or pairs of a parameter and its words.

    >>> domain_of(["positive"]), domain_of(["x=unit", "A = symmetric"])
    ('positive', [('x', 'unit'), ('A', 'symmetric')])
    """
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    for text in given:
        if "=" not in text:
            raise CommandError(f"--domain {text!r} is for all arguments: say NAME=KIND, or nothing else")
    return [(name.strip(), words.strip()) for name, _, words in (text.partition("=") for text in given)]


def _check_writable(path: Path | None) -> None:
    """CommandError for a file that could not be written in the end, before anything is done."""
    if path is None:
        return
    if path.is_dir():
        raise CommandError(f"--junit {path} is a folder: name a file in it")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise CommandError(f"--junit {path} cannot be written: there is no such folder, or it is closed")
