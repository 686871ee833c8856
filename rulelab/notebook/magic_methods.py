"""What the magics share: making one from a method, evaluating the arguments of its line, keeping a result,
and reporting misuse and Ctrl-C.
"""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import keyword
import re
from collections import ChainMap
from collections.abc import Callable
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics, needs_local_scope, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import MagicArgumentParser, argument, kwds, magic_arguments

from ..ad.progress import Waiting, place_of_bar
from ..advice import shown_in_magics
from ..errors import RuleLabError
from . import in_place
from .cells import Interrupted, MagicError, evaluate, parse
from .invocations import Invocation, note_of_arguments
from .lines import (
    call_as_at,
    ends_with_semicolon,
    is_python,
    option_in,
    options_first,
    options_of,
    parse_arguments,
    place_of,
    raw_rest,
    refuse_late_options,
    split_at,
    without_semicolon,
    words_after_options,
)
from .misuse import (
    callable_only,
    called_by_words,
    refuse_misfit,
    refuse_to_overwrite,
    refuse_unknown,
    with_its_pair,
)
from .names import as_a_call, is_method_of_a_result, parameters_of
from .options import OptionParser
from .session import Session, lookup, meant_by

_IPYTHONS_OWN = re.compile(r"In|Out|exit|quit|get_ipython|_{1,3}|_i{1,3}|_i?\d+|_[dio]h")


def _name(text: str) -> str:
    """The value of `-o`: a name to bind that Python and IPython do not use."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"needs a name to keep the result under, not {text}")
    if _IPYTHONS_OWN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text} is one of IPython's own names; give another")
    return text


class _HelpAsked(Exception):
    """The line contains `-h`."""


class _AskHelp(argparse.Action):
    def __call__(self, *_) -> None:
        raise _HelpAsked


AT = argument(
    "--at",
    metavar="ARGS",
    help="the arguments to call with, as in a call; the last option: it takes the "
    'rest of the line (--at -x, y, k={"a": -2})',
)
OUTPUT = argument("-o", "--output", metavar="RESULT", type=_name, help="also keep the result under this name")
HELP = argument("-h", "--help", action=_AskHelp, nargs=0, help="print this help")
EXPRESSION = argument("expression", metavar="EXPR", nargs="...", help="one call, f(x, y, k=1)")


CHECK = argument(
    "--check", action="store_true", help="check the rule by numbers at once, in a third of a second at most"
)


PROVE = argument(
    "--prove",
    action="store_true",
    help="ask SymPy about the rule at once, for two seconds at most, and show its verdict",
)


def magic_method(
    *, plain: str, usage: str | None = None, in_line: bool = False, comments: bool = True
) -> Callable:
    """Make a magic of a method `name(self, line, scope)`, or `name(self, line, scope, cell=None)`, that has
    `@argument`s: its parser, its help, and the manners that all of ours share.

    `plain` is the same in plain Python; the help and docs/magics.md show it. `usage` replaces what argparse
    would write after the name. A cell magic that may stand `in_line`, too, is given no cell there. Without
    `comments` a `#` in the line is a part of it. The
    docstring says first what the magic does and ends with `Examples::`, which a test runs. Braces and dollars
    in the line are left alone, a `;` at its end silences the result,
    misuse and Ctrl-C are reported in one line and stop the cells that follow, and our frames stay out of
    tracebacks. `-h` prints the help; so does a cell magic that is used as a line magic with nothing else.
    """

    def decorate(magic):
        takes_cell = "cell" in inspect.signature(magic).parameters
        spelled = f"%%{magic.__name__}" if takes_cell else f"%{magic.__name__}"
        _give_parser(magic, spelled, plain, usage)

        @functools.wraps(magic)
        def manners(self, line, cell=None, local_ns=None):
            __tracebackhide__ = True
            if takes_cell and cell is None:
                if line.strip() in ("", "-h", "--help"):
                    return print(manners.__doc__)
                if not in_line:
                    raise MagicError(
                        f"{spelled[1:]} is a cell magic: write {spelled} {line.strip()}, and the code below "
                        "it"
                    )
            extra, line = ({"cell": cell} if takes_cell else {}), line.rstrip()
            scope = self.shell.user_ns if local_ns is None else local_ns
            asked_as = spelled[1:] if takes_cell and cell is None else spelled
            try:
                with in_place.of_magic(self.shell, asked_as) as results:
                    with Waiting(spelled):
                        asked = without_semicolon(line) if comments else line.removesuffix(";").rstrip()
                        result = magic(self, asked, scope, **extra)
                    # IPython handles a line with comments; in one without, `#` is an ordinary character.
                    is_quiet = ends_with_semicolon(line) if comments else line.endswith(";")
                    result = None if is_quiet and (cell is not None or not comments) else result
                    results.append(result)
                return result
            except _HelpAsked:
                return print(manners.__doc__)
            except UsageError as error:
                if isinstance(error, MagicError) and asked_as != spelled:
                    raise MagicError(str(error).replace(spelled, asked_as)) from None
                if hasattr(error, "_render_traceback_"):
                    raise
                raise MagicError(f"{spelled}: {error}") from None
            except RuleLabError as error:
                shown_in_magics(error)
                raise
            except Interrupted:
                raise
            except KeyboardInterrupt:
                raise Interrupted(f"{spelled} was stopped before it had a result; nothing was kept") from None

        manners.spelled, manners.plain = spelled, plain  # type: ignore[attr-defined]
        return needs_local_scope(no_var_expand(output_can_be_silenced(manners)))

    return decorate


class _MagicParser(OptionParser, MagicArgumentParser):
    """IPython's parser of a magic, with rulelab's messages."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(self.in_words(message))


def _give_parser(magic, spelled: str, plain: str, usage: str | None) -> None:
    """Build the parser of a magic from its decorators, and its help: usage, meaning, arguments, examples."""
    about, _, examples = inspect.cleandoc(magic.__doc__).partition("\nExamples::\n")
    words = {
        "description": f"{about.rstrip()}\n\nIn plain Python::\n\n    {plain}",
        "epilog": f"\nExamples::\n{examples}",  # starts with a newline, or IPython removes the indent
    }
    if usage is not None:
        words["usage"] = f"{spelled[1:]} {usage}".replace("%", "%%")  # which argparse fills in
    magic = magic_arguments(spelled[1:])(kwds(**words)(HELP(magic)))
    if not any(action.dest == "output" for action in magic.parser._actions):
        above = f"directly above def {magic.__name__}"
        raise TypeError(f"{spelled} has no -o: write @OUTPUT as its last decorator, {above}")
    magic.parser.__class__, magic.parser.spelled = _MagicParser, spelled  # IPython makes the parser itself
    magic.parser.allow_abbrev = False  # or `--a` would mean `--at`, or any later option
    # IPython heads the help with the marks of a reST literal block, which a reader of `?` would only see
    magic.__doc__ = magic.__doc__.removeprefix("::\n\n  ")


class ParsedMagics(Magics):
    """Magics that parse their lines in the same way and keep their results in one session."""

    shell: Any

    def __init__(self, shell, session: Session | None = None, **kwargs):
        super().__init__(shell, **kwargs)
        self.session = session or Session()

    def kept(self, args, result):
        """Store a result, under the name given by `-o` and as the session's last."""
        self.session.last = result
        if args.output is not None:
            self.shell.user_ns[args.output] = result
        return result

    def show(self, result) -> None:
        """Display a result now: before an interrupt is reported, or if there are several."""
        from IPython.display import display

        place = place_of_bar()
        if place is None:
            display(result)
        else:
            place.update(result)

    def function(self, method, name: str, scope: dict):
        """The function that an argument of a magic names."""
        names = ChainMap(scope, self.shell.user_ns)
        found = lookup(name, names)
        if found is None:
            raise MagicError(f"{method.spelled}: there is no function {name}{meant_by(name, names)}")
        return callable_only(method, found, name)

    def with_call(self, method, line: str, scope: dict):
        """The options of a line, and the call at its end, evaluated as IPython evaluates any expression."""
        __tracebackhide__ = True
        args, magic = parse_arguments(method, line), method.spelled
        text = raw_rest(line, args.expression)
        names = ChainMap(scope, self.shell.user_ns)
        if not text:
            raise MagicError(f"{magic}: give a call, as in {magic} f(x)")
        if (meant := called_by_words(text, names)) is not None:
            raise MagicError(f"{magic}: give one call, not `{text}`: {magic} {meant}")
        refuse_late_options(method, line, text, "the call")
        call = parse(magic, text, "the call")
        if not isinstance(call, ast.Call):
            meant = as_a_call(text)
            advice = f"; make it one: {magic} {meant}" if meant else ""
            raise MagicError(f"{magic}: give one call, as in {magic} f(x), not `{text}`{advice}")
        if is_method_of_a_result(call) and (meant := as_a_call(text)):
            raise MagicError(
                f"{magic}: the call in `{text}` is that of {call.func.attr}, which has no arguments to "  # type: ignore[attr-defined]
                f"differentiate with respect to; name them: {magic} {meant}"
            )
        called = ast.get_source_segment(text, call.func) or "the function"
        refuse_to_overwrite(method, args.output, [called])
        refuse_unknown(method, call, called, names)
        note = note_of_arguments(magic, call, text, called, names)
        return args, self.call(method, call, text, scope)._replace(name=called, note=note)

    def call(self, method, call: ast.Call, text: str, scope: dict) -> Invocation:
        """The evaluated parts of a call."""
        __tracebackhide__ = True
        given = self._evaluated(call, text, scope)
        called = ast.get_source_segment(text, call.func) or "the function"
        callable_only(method, given.function, called)
        refuse_misfit(method, given.function, called, given)
        return given

    def with_at(self, method, line: str, scope: dict, needed: bool = True, refuse=None):
        """The options of a line, and the evaluated arguments after `--at`; None without `--at`, if that is
        not `needed`. Other errors in the line are reported first, including those that `refuse(options)`
        raises.
        """
        __tracebackhide__ = True
        options, at = split_at(call_as_at(method, line))
        magic = method.spelled
        try:
            args = parse_arguments(method, options, at or None)
            if refuse is not None:
                refuse(args)
        except MagicError:
            if (both := with_its_pair(method, options, ChainMap(scope, self.shell.user_ns))) is None:
                raise
            f, options = both
            raise MagicError(
                f"{magic}: give F and F_CR: {magic} {options} --at {at or parameters_of(f)}"
            ) from None
        said = [vars(args).get(one) for one in ("function", "twin", "without")]
        refuse_to_overwrite(method, args.output, said)
        if at is None and not needed:
            return args, None
        name, *others = _named_functions(args)
        if not at:
            what = "give the arguments with --at, the last option" if at is None else "--at needs arguments"
            first, *_ = [self.function(method, one, scope) for one in said if one is not None]
            raise MagicError(f"{magic}: {what}: {magic} {options.strip()} --at {parameters_of(first)}")
        text = f"{name}({at})"
        late = option_in(at, [*self._options(), *(() if is_python(text) else ("-o", "-h"))])
        if late is not None:
            first = f"{options_first(magic, options, at, late)} --at {at[: place_of(late, at)].strip()}"
            raise MagicError(f"{magic}: options come before --at, which takes the rest of the line: {first}")
        call = parse(magic, text, "the arguments after --at", shown=at)
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != name:
            raise MagicError(f"{magic}: the arguments after --at must be one argument list, not `{at}`")
        refuse_unknown(method, call, None, ChainMap(scope, self.shell.user_ns))
        call.func = ast.copy_location(ast.Constant(None), call.func)
        given = self._evaluated(call, text, scope)
        called = {one: lookup(one, ChainMap(scope, self.shell.user_ns)) for one in (name, *others)}
        for one, found in called.items() if all(map(callable, called.values())) else ():
            refuse_misfit(method, found, one, given)
        return args, given

    def with_point(self, method, line: str, scope: dict):
        """The options of a line, and a function with its arguments: a call, or `F --at ARGS`."""
        __tracebackhide__ = True
        options, at = split_at(line)
        name, *late = ([] if at is None else words_after_options(method, options)) or [""]
        if not all(part.isidentifier() for part in name.split(".")):
            return self.with_call(method, line, scope)
        if late and late[0].startswith("-"):
            first = " ".join([*options.split(name)[0].split(), *late, name])
            raise MagicError(
                f"{method.spelled}: options come before {name}: {method.spelled} {first} --at {at}"
            )
        if late:
            return self.with_call(method, line, scope)
        args, given = self.with_at(method, line, scope)
        refuse_to_overwrite(method, args.output, [name])
        return args, given._replace(function=self.function(method, name, scope), name=name)

    def _options(self) -> list[str]:
        """The options of all magics that begin with two dashes."""
        return [option for method in self.magics["line"].values() for option in options_of(method)]

    def _evaluated(self, call: ast.Call, text: str, scope: dict) -> Invocation:
        """Function and arguments of a call, without calling it: evaluated as (f, (args…), {kwargs…})."""
        __tracebackhide__ = True
        names: list[ast.expr | None] = [None if k.arg is None else ast.Constant(k.arg) for k in call.keywords]
        args = ast.Tuple(call.args, ast.Load())
        kwargs = ast.Dict(names, [k.value for k in call.keywords])
        parts = ast.Tuple([call.func, args, kwargs], ast.Load())
        located = ast.fix_missing_locations(ast.copy_location(parts, call))
        return Invocation(*evaluate(self.shell, text, scope, located))


def _named_functions(args) -> list[str]:
    """The functions that a line names, the main one first."""
    named = [getattr(args, one, None) for one in ("function", "twin")]
    found = [one for one in named if one is not None]
    return found or getattr(args, "functions", None) or args.expression[:1]
