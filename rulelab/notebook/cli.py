"""The command line: `rulelab lab | repl | tour | rules | check | docs`, each a small entry point to code
elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.metadata
import os
import secrets
import sys
import textwrap
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote, urljoin

from .. import __version__, github
from ..files import copy_new
from ..nearest import did_you_mean
from ..screen import on_screen, painted, width
from . import formats
from .options import OptionParser

FIRST_NOTEBOOK = "01-a-rule-in-a-cell.ipynb"
KERNEL = "rulelab"
LOOPBACK = "127.0.0.1"
REPL_GREETING = "rulelab is loaded: %rules lists the rules, %%rrule? shows how to write one.\n"


class CommandError(Exception):
    """The command cannot be carried out as it was typed; the message says why, and what to type instead.

    `where` is the file, line and column to blame, if there is one.
    """

    def __init__(self, words: str, where: tuple[str, int, int] = ("", 0, 0)) -> None:
        super().__init__(words)
        self.where = where


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 1: it ran, and something in it was wrong. 2: wrong usage, or what it names cannot be used.
    3: nothing was wrong, but not everything could be judged. 130: stopped by Ctrl-C.
    """
    parser = command_line()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        print(overview(parser))
        return 0
    try:
        return arguments.run(arguments)
    except CommandError as error:
        form = getattr(arguments, "format", formats.TEXT)
        formats.say_error(f"rulelab {arguments.command}", str(error), form, error.where)
        return 2
    except KeyboardInterrupt:
        form = getattr(arguments, "format", formats.TEXT)
        kept = "" if arguments.command == "lab" else "; nothing was saved"  # copied notebooks stay
        formats.say_error(f"rulelab {arguments.command}", f"stopped by Ctrl-C{kept}", form)
        return 130
    except BrokenPipeError:  # `rulelab rules | head`: the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


EXIT_CODES = (
    "Exit codes: 0 done, 1 something is wrong, 2 wrong usage, 3 nothing is wrong but not everything could be "
    "judged, 130 stopped by Ctrl-C."
)


class Misuse(CommandError):
    """A command line that cannot be parsed; `usage` is the correct form."""

    def __init__(self, parser: argparse.ArgumentParser, words: str) -> None:
        super().__init__(words)
        self.prog, self.usage = parser.prog, parser.format_usage()


class Parser(OptionParser):
    """A parser that suggests what an unknown word may have been meant to be."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, epilog=EXIT_CODES, **options)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, but what is unknown is reported by the command's parser, with suggestions."""
        words = sys.argv[1:] if args is None else list(args)
        try:
            found, unknown = self.parse_known_args(words, namespace)
            if unknown:
                self.of_command(found.command).refuse(unknown[0])
        except Misuse as error:
            print(error.usage, end="", file=sys.stderr)
            formats.say_error(error.prog, str(error), formats.asked_for(words))
            self.exit(2)
        return found

    def refuse(self, word: str) -> NoReturn:
        """Raise the error about an unexpected word."""
        if not word.startswith("-"):
            self.error(f"unexpected argument: {word}")
        known = [option for action in self._actions for option in action.option_strings]
        self.error(f"there is no option {word}{did_you_mean(word.partition('=')[0], known)}")

    def error(self, message: str) -> NoReturn:
        """Raise the error in the line, in words."""
        raise Misuse(self, self.in_words(message))

    def of_command(self, command: str | None) -> Parser:
        """The parser of a command; this one if there is none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction) and command in action.choices:
                return action.choices[command]
        return self


def overview(parser: argparse.ArgumentParser) -> str:
    """An overview of the commands, for a user who typed only `rulelab`."""
    action = next(one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    lines = [painted("rulelab: a bench for derivative rules", "heading"), ""]
    lines += [f"  rulelab {one.dest:<6} {one.help}" for one in action._get_subactions()]
    lines += ["", "`rulelab COMMAND --help` says more; `rulelab docs` opens the manual."]
    return on_screen("\n".join(lines))


def command_line() -> Parser:
    """The parser of every command; each subparser carries the function that runs it as `run`."""
    parser = Parser(prog="rulelab", description="A bench for derivative rules.")
    parser.add_argument("--version", action="version", version=f"rulelab {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    lab = commands.add_parser("lab", help="open JupyterLab on the first notebook, or on NOTEBOOK")
    lab.add_argument("--port", type=port_number, help="default: the first free one from 8888 on")
    lab.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    lab.add_argument("notebook", nargs="?", type=Path, metavar="NOTEBOOK", help=f"default: {FIRST_NOTEBOOK}")
    formats.add_format(lab)
    lab.set_defaults(run=run_lab)

    repl = commands.add_parser("repl", help="start IPython with the magics loaded")
    repl.set_defaults(run=run_repl)

    tour = commands.add_parser("tour", help="go through the first notebook in this terminal")
    formats.add_format(tour)
    tour.set_defaults(run=run_tour)

    rules = commands.add_parser("rules", help="list the existing rules, or those for functions named TEXT")
    rules.add_argument("text", nargs="?", default="", metavar="TEXT")
    rules.add_argument("--all", action="store_true", help="also list those for helpers of the compiler")
    formats.add_format(rules)
    rules.set_defaults(run=run_rules)

    docs = commands.add_parser(
        "docs",
        help="open the manual, or what it says about TOPIC",
        description="Opens the manual in a browser, or prints where it is if there is no screen. TOPIC is a "
        "page (limitations), a section (limitations#syntax), a public name (gradient), or words to look for.",
    )
    docs.add_argument("topic", nargs="*", metavar="TOPIC")
    docs.add_argument("--text", action="store_true", help="print the section here instead")
    formats.add_format(docs)
    docs.set_defaults(run=run_docs)

    check = commands.add_parser(
        "check",
        help="check by numbers whether the rules of a module are right",
        description="Checks every rule that MODULE states (a dotted name or a file), or those for functions "
        "named NAME. Several files may be given: a word that ends in .py is one.",
    )
    check.add_argument("words", nargs="*", metavar="MODULE [NAME ...]")
    formats.add_format(check)
    check.add_argument(
        "--if-any",
        action="store_true",
        help="skip modules that state no rules; exit code 0 if none does",
    )
    check.add_argument(
        "--shipped",
        action="store_true",
        help="check the rules that come with rulelab; every word is then a NAME",
    )
    check.add_argument(
        "--jobs", type=whole_number, default=1, metavar="N", help="how many processes to use; default: 1"
    )
    check.add_argument("--junit", type=Path, metavar="FILE", help="also write the outcome as JUnit XML")
    check.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the random points; default: 0"
    )
    check.add_argument("--deep", action="store_true", help="check at two to three times as many points")
    check.add_argument(
        "--domain", action="append", default=[], metavar="KIND|NAME=KIND",
        help='what to draw arguments from: "positive vector"; x="positive definite"; may be repeated',
    )  # fmt: skip
    check.add_argument(
        "--limit", type=seconds, metavar="S", help="seconds that one check may take; default: 60"
    )
    check.set_defaults(run=run_check)
    return parser


def port_number(text: str) -> int:
    """`text` as a TCP port.

    >>> port_number("8888")
    8888
    """
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to 65535, not {text!r}")
    return number


def whole_number(text: str) -> int:
    """`text` as a number from 1 on.

    >>> whole_number("2")
    2
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive whole number, not {text!r}")
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
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text!r}")
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

    # These imports take a second, which other commands should not need.
    from jupyterlab.labapp import LabApp

    os.environ["JUPYTER_CONFIG_PATH"] = with_our_defaults(os.environ.get("JUPYTER_CONFIG_PATH"))
    # In this process, not in a child: so the token is never in the list of processes.
    server = LabApp.initialize_server(argv=options)
    serve_manual(server)
    server.io_loop.add_callback(announce, server.local_url, token, arguments.format)
    server.start()
    return 0


def with_our_defaults(path: str | None) -> str:
    """Jupyter's search path for configuration, with ours last: JupyterLab then does not ask whether to fetch
    news. Users' own settings have precedence.
    """
    ours = str(Path(__file__).resolve().parent / "jupyter")
    return os.pathsep.join(filter(None, (path, ours)))


def serve_manual(server: Any) -> None:
    """Make the server show the manual to everybody with its token, and tell the kernels its address."""
    from jupyter_server.base.handlers import JupyterHandler
    from tornado import web

    from . import manual

    writing = threading.Thread(target=manual.built, daemon=True)  # two seconds, once for each version

    class Pages(JupyterHandler, web.StaticFileHandler):
        """Like Jupyter's file handler, but pages may be opened from anywhere: they contain nothing secret."""

        @web.authenticated
        async def get(self, path: str, include_body: bool = True) -> None:  # type: ignore[override]
            while writing.is_alive():  # a link may be opened in the first seconds
                await asyncio.sleep(0.05)
            await web.StaticFileHandler.get(self, path, include_body)

    base = urljoin(server.local_url, f"{server.base_url}rulelab/manual/")
    pattern = f"{server.base_url}rulelab/manual/(.*)"
    served = {"path": str(manual.folder_for_html())}
    server.web_app.add_handlers(".*$", [(pattern, Pages, served)])
    os.environ[manual.ADDRESS] = base  # which kernels inherit
    writing.start()


def chosen_notebook(named: Path | None, folder: Path) -> Path:
    """The notebook to open: the one named, the source tree's first one, or a copy of the installed one.

    The copy is put into `folder`, so that readers can write to it, together with the notebooks that it links
    to; existing files are not replaced. Nothing is read or written through a link, and only a notebook that
    was named may lie outside `folder`.
    """
    if named is not None:
        if not named.is_file():
            beside = [file.name for file in named.parent.glob("*.ipynb")] if named.parent.is_dir() else []
            near = did_you_mean(named.name, beside) or "; without a name the first one opens"
            raise CommandError(f"there is no notebook {str(named)!r}{near}")
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
    """The path of a notebook that was not named; CommandError if it is not one, or not in `folder`."""
    found = notebook.resolve()
    if not found.is_relative_to(folder.resolve()):
        raise CommandError(f"{notebook} is a link to {found}, outside this folder; to open that one, name it")
    if not found.is_file():
        raise CommandError(f"{notebook} exists and is not a notebook; move it, or name one to open")
    return found


def installed_notebooks() -> list[Path]:
    """The notebooks that were installed with rulelab, as files and not as links; none if it is not installed
    but only on the path.
    """
    try:
        files = importlib.metadata.files("rulelab") or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    found = [Path(str(f.locate())) for f in files if f.suffix == ".ipynb" and "share" in f.parts]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def lab_root(notebook: Path, folder: Path) -> Path:
    """The folder JupyterLab shows: `folder` if the notebook lies below it, else the notebook's own."""
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
        # A first start looks for no news and no newer version, and does not offer to (`with_our_defaults`).
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


def announce(url: str, token: str, form: str = formats.TEXT) -> None:
    """Print the address that opens the notebook, token included."""
    address = f"{url.partition('?')[0]}?token={token}"
    told = f"\nJupyterLab is running; press Ctrl-C twice to end it. Open in a browser:\n\n    {address}\n"
    formats.say(formats.TextResult(told, {"address": address}), form)


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
    """Tell the first notebook's story in the terminal; 0 only if every number in it is right."""
    from . import tour

    return tour.main(form=arguments.format)


# -- rulelab rules ----------------------------------------------------------------------------------------


def run_rules(arguments: argparse.Namespace) -> int:
    """Print the rules that come with rulelab, one per line, public names first; 1 if there is none for the
    given name.
    """
    from ..rules.listing import helpers_in, homes_in, listed, words_of
    from ..rules.registry import DEFAULT

    DEFAULT.read_lazy_rules()
    offered = set(dir(sys.modules[__name__.partition(".")[0]]))
    entries = DEFAULT.entries()
    helpers, homes = helpers_in(entries, offered), homes_in(entries)
    rules = listed(DEFAULT.rules(), arguments.text, helpers, homes)
    found = rules if arguments.all else [rule for rule in rules if not rule.is_helper]
    if not found:
        near = did_you_mean(arguments.text, words_of(listed(DEFAULT.rules(), "", helpers, homes)))
        about = f"a function with {arguments.text!r} as a word in its name"
        hidden = "; a helper of the compiler has one, which --all shows" if rules else ""
        near = hidden or _in_the_manual(arguments.text) or near
        formats.say_error("rulelab rules", f"there is no rule for {about}{near}", arguments.format)
        return 1
    found = sorted(found, key=lambda rule: (rule.is_helper, rule.is_special))
    columns = None if arguments.text or arguments.all else width()
    lines = [rule.describe() for rule in found] if columns is None else by_module(found, columns)
    formats.say(formats.TextResult("\n".join(lines), [rule._asdict() for rule in found]), arguments.format)
    return 0


def by_module(rules: Iterable[Any], columns: int) -> list[str]:
    """The functions with rules, module by module, for a terminal; without their places, which would be too
    much to read.
    """
    names: dict[str, set[str]] = {}
    for rule in rules:
        module, _, name = rule.target.rpartition(".")
        if not rule.is_special:
            names.setdefault(module or "Python", set()).add(name)
    lines = []
    for module in sorted(names, key=lambda module: -len(names[module])):
        lines.append(painted(f"{module} ({len(names[module])})", "heading"))
        listed = ", ".join(sorted(names[module], key=str.lower))
        lines += textwrap.wrap(listed, columns, initial_indent="  ", subsequent_indent="  ")
    return [*lines, "", "`rulelab rules NAME` shows the rules for a function, and where they are."]


def _in_the_manual(text: str) -> str:
    """The section of the manual about a word that is not in the name of any function with a rule."""
    from . import manual

    with contextlib.suppress(manual.NoPageError):
        if manual.found(text)[0].title.lower() == text.lower():
            return f"; `rulelab docs {text.lower()}` shows what the manual says"
    return ""


# -- rulelab docs -----------------------------------------------------------------------------------------


def run_docs(arguments: argparse.Namespace) -> int:
    """Show the manual in a browser, or a section of it here; 2 if it says nothing about the topic."""
    from . import manual

    topic = " ".join(arguments.topic)
    try:
        first, *others = manual.found(topic)
    except manual.NoPageError as error:
        raise CommandError(str(error)) from None
    address = manual.address_of(first, manual.built())
    data = {**first._asdict(), "address": address, "see_also": [other.topic for other in others]}
    text = manual.for_terminal(first, width())
    lines = [text] if arguments.text else []
    if arguments.format == formats.TEXT and not arguments.text and not opened(address):
        lines = [address, f"`rulelab docs --text {first.topic}` prints it here."]
    if others:
        lines.append("see also: " + ", ".join(data["see_also"]))
    note = github.Note(github.TOLD, first.title, text if arguments.text else address)
    if lines or arguments.format != formats.TEXT:
        formats.say(formats.TextResult("\n".join(lines), data, (note,)), arguments.format)
    return 0


def opened(address: str) -> bool:
    """Whether a browser has opened an address; False without a screen."""
    import webbrowser

    return has_screen(os.environ, sys.platform) and webbrowser.open(address)


# -- rulelab check ----------------------------------------------------------------------------------------

CHECKED = {"right": 0, "wrong": 1, "inconclusive": 3}  # the exit code of each verdict


def run_check(arguments: argparse.Namespace) -> int:
    """Check rules and print the report; its verdict is the exit code, 130 if Ctrl-C made it partial."""
    from ..errors import RuleLabError

    _check_writable(arguments.junit)
    try:
        return _checked(arguments)
    except RuleLabError as error:
        refused = CommandError("; ".join([error.found, *error.fixes]), github.spot(error.place))
    except CommandError as error:
        refused = error
    if arguments.junit is not None:
        _save_refusal(arguments, str(refused))
    raise refused


def _checked(arguments: argparse.Namespace) -> int:
    from ..ad.progress import Progress
    from ..advice import shown_on_command_line
    from ..checking.many import ManyChecks, check_all

    jobs = jobs_of(arguments)
    if not jobs:
        return _nothing_to_check(arguments)
    with Progress(len(jobs), "checks of rules") as progress:
        report: ManyChecks = shown_on_command_line(
            check_all(
                jobs,
                workers=arguments.jobs,
                limit=arguments.limit or (300.0 if arguments.deep else 60.0),
                told=lambda *_: progress.step(),
            )
        )
    if arguments.junit is not None:
        report.save_junit(arguments.junit)
    formats.say(report, arguments.format)
    return 130 if report.interrupted else CHECKED[report.verdict]


def _nothing_to_check(arguments: argparse.Namespace) -> int:
    """Exit with `--if-any`: nothing is printed for people, and programs get an empty result."""
    from ..checking.batch import junit

    if arguments.junit is not None:
        junit.save(junit.document("rulelab check", [], 0.0), arguments.junit)
    if arguments.format == formats.JSON:
        sentence = "There are no rules to check."
        formats.say(
            formats.TextResult(
                sentence, {"verdict": None, "sentence": sentence, "outcomes": [], "waiting": []}
            ),
            formats.JSON,
        )
    return 0


def _save_refusal(arguments: argparse.Namespace, words: str) -> None:
    """Write an error to the file of `--junit`, where an earlier result would be mistaken for this run's."""
    from ..checking.batch import junit
    from ..errors import RecordError

    case = junit.Case("rulelab check", " ".join(arguments.words), "error", words, words)
    with contextlib.suppress(RecordError):
        junit.save(junit.document("rulelab check", [case], 0.0), arguments.junit)


def jobs_of(arguments: argparse.Namespace):
    """The checks that a command line requests."""
    from ..checking.batch.jobs import module_jobs, shipped_jobs
    from ..checking.batch.modules import NoRulesError

    depth, words = "deep" if arguments.deep else "normal", arguments.words
    if arguments.shipped:
        if arguments.domain:
            raise CommandError("--domain needs a module: shipped rules are checked at their own points")
        return shipped_jobs(words, seeds=(arguments.seed,), depth=depth)
    if not words:
        raise CommandError("name a module or a file, or give --shipped")
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
    # A package has the rules of its modules, too: each is checked once.
    once: dict[tuple, Any] = {}
    for job in jobs:
        once.setdefault((job.file or job.family, job.line, job.label), job)
    return tuple(once.values())


def domain_of(given: Sequence[str]) -> str | list[tuple[str, str]]:
    """The kinds of arguments that `--domain` gives: words for all, or pairs of a parameter and its words.

    >>> domain_of(["positive"]), domain_of(["x=unit", "A = symmetric"])
    ('positive', [('x', 'unit'), ('A', 'symmetric')])
    """
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    for text in given:
        if "=" not in text:
            raise CommandError(f"--domain {text!r} is for all arguments: write NAME=KIND, or give only one")
    return [(name.strip(), words.strip()) for name, _, words in (text.partition("=") for text in given)]


def _check_writable(path: Path | None) -> None:
    """Raise CommandError for a file that cannot be written, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise CommandError(f"--junit {path} is a folder: name a file in it")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        why = "its folder does not exist or cannot be written to"
        raise CommandError(f"--junit {path} cannot be written: {why}")
