"""The command line: `rulelab lab | repl | tour | rules`, each the start of something that lives elsewhere."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

FIRST_NOTEBOOK = "01-a-rule-in-a-cell.ipynb"
KERNEL = "rulelab"
LOOPBACK = "127.0.0.1"
REPL_GREETING = "rulelab is loaded: %rules lists the rules, %%rrule? shows how to write one.\n"


class CommandError(Exception):
    """The command cannot be carried out as it was typed; the message says why, and what to type instead."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 1: it ran and something in it was wrong. 2: it was not typed right. 130: stopped by Ctrl-C.
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
    that it points to; one that is there already stays as it is.
    """
    if named is not None:
        if not named.is_file():
            raise CommandError(f"there is no notebook {str(named)!r}; without a name the first one is opened")
        return named.resolve()
    for there in (folder / "notebooks" / FIRST_NOTEBOOK, folder / FIRST_NOTEBOOK):
        if there.is_file():
            return there.resolve()
    shipped = installed_notebooks()
    if FIRST_NOTEBOOK not in {notebook.name for notebook in shipped}:
        raise CommandError(f"{FIRST_NOTEBOOK} did not come with this installation; name a notebook to open")
    for notebook in shipped:
        if not (folder / notebook.name).exists():
            shutil.copyfile(notebook, folder / notebook.name)
    return (folder / FIRST_NOTEBOOK).resolve()


def installed_notebooks() -> list[Path]:
    """Where the notebooks were put when rulelab was installed; none if they were not."""
    files = importlib.metadata.files("rulelab") or ()
    found = [Path(str(f.locate())) for f in files if f.suffix == ".ipynb" and "share" in f.parts]
    return [path for path in found if path.is_file()]


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
    """Print the rules that come with the house, one a line; 1 if there is none for the name asked for."""
    from ..rules.listing import listed
    from ..rules.registry import DEFAULT

    found = [rule.describe() for rule in listed(DEFAULT.rules(), arguments.text)]
    if not found:
        about = f"a function with {arguments.text!r} as a word of its name"
        print(f"rulelab rules: there is none for {about}", file=sys.stderr)
        return 1
    print("\n".join(found), flush=True)
    return 0
