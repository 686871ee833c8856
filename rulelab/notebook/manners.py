"""What the magics share: how a line is parsed, how its arguments are evaluated, how a result is kept, how
misuse and Ctrl-C are reported.
"""

from __future__ import annotations

import argparse
import ast
import functools
import inspect
import io
import keyword
import math
import re
import tokenize
import types
from collections import ChainMap
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from IPython.core.error import UsageError
from IPython.core.magic import Magics, needs_local_scope, no_var_expand, output_can_be_silenced
from IPython.core.magic_arguments import MagicArgumentParser, argument, kwds, magic_arguments
from IPython.utils.process import arg_split

from ..ad.progress import Waiting, place_of_bar
from ..advice import shown_in_magics
from ..annotations import signature_of_callable
from ..checking.reading.kinds import DomainError, kind_named
from ..errors import RuleLabError, an
from ..nearest import did_you_mean
from . import in_place
from .cells import Interrupted, MagicError, evaluate, parse
from .names import (
    as_a_call,
    computed_arguments,
    free_names,
    is_method_of_a_result,
    may_vary,
    parameters_of,
)
from .options import OptionParser
from .repairs import Asked, names_alone, repaired
from .session import Session, lookup

LONGEST = 3600
"""Seconds that a limit may be at most."""

_IPYTHONS_OWN = re.compile(r"In|Out|exit|quit|get_ipython|_{1,3}|_i{1,3}|_i?\d+|_[dio]h")


def _name(text: str) -> str:
    """What `-o` takes: a name to bind, which is neither Python's nor IPython's."""
    if not text.isidentifier() or keyword.iskeyword(text):
        raise argparse.ArgumentTypeError(f"needs a name to keep the result under, not {text}")
    if _IPYTHONS_OWN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text} is one of IPython's own names; give another")
    return text


class _HelpAsked(Exception):
    """`-h` stands in the line."""


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


class Invocation(NamedTuple):
    """A call taken apart: the function and its arguments, all evaluated, what the function was called, and
    what is to be said of the arguments.
    """

    function: Any
    args: tuple
    kwargs: dict
    name: str = ""
    note: str = ""


def faced(*, plain: str, usage: str | None = None, in_line: bool = False, comments: bool = True) -> Callable:
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
                    # Of a line with comments IPython sees to it; in one without, a `#` is as any other sign.
                    is_quiet = silenced(line) if comments else line.endswith(";")
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
    """IPython's parser of a magic, with our words."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(self.in_words(message))


def _give_parser(magic, spelled: str, plain: str, usage: str | None) -> None:
    """Build the parser of a magic from its decorators, and its help: usage, meaning, arguments, examples."""
    about, _, examples = inspect.cleandoc(magic.__doc__).partition("\nExamples::\n")
    words = {
        "description": f"{about.rstrip()}\n\nIn plain Python::\n\n    {plain}",
        "epilog": f"\nExamples::\n{examples}",  # headed by a newline, or IPython takes the indent away
    }
    if usage is not None:
        words["usage"] = f"{spelled[1:]} {usage}".replace("%", "%%")  # which argparse fills in
    magic = magic_arguments(spelled[1:])(kwds(**words)(HELP(magic)))
    if not any(action.dest == "output" for action in magic.parser._actions):
        above = f"directly above def {magic.__name__}"
        raise TypeError(f"{spelled} has no -o: write @OUTPUT as its last decorator, {above}")
    magic.parser.__class__, magic.parser.spelled = _MagicParser, spelled  # IPython makes the parser itself
    magic.parser.allow_abbrev = False  # or `--a` would be taken for `--at`, and for whatever comes later
    # IPython heads the help with the marks of a reST literal block, which a reader of `?` would only see
    magic.__doc__ = magic.__doc__.removeprefix("::\n\n  ")


class ManneredMagics(Magics):
    """Magics that read their lines alike, and keep what they find in one session."""

    shell: Any

    def __init__(self, shell, session: Session | None = None, **kwargs):
        super().__init__(shell, **kwargs)
        self.session = session or Session()

    def kept(self, args, result):
        """Remember a result, under the name that `-o` gave and as the session's last."""
        self.session.last = result
        if args.output is not None:
            self.shell.user_ns[args.output] = result
        return result

    def show(self, result) -> None:
        """Display a result now: before an interrupt is reported, or where there are several."""
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
            raise MagicError(f"{method.spelled}: there is no function {name}{_meant(name, names)}")
        return callable_only(method, found, name)

    def with_call(self, method, line: str, scope: dict):
        """The options of a line, and the call at its end evaluated as IPython evaluates any expression."""
        __tracebackhide__ = True
        args, magic = parse_arguments(method, line), method.spelled
        text = raw_rest(line, args.expression)
        names = ChainMap(scope, self.shell.user_ns)
        if not text:
            raise MagicError(f"{magic}: give a call, as in {magic} f(x)")
        if (meant := _called_by_words(text, names)) is not None:
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
        note = _note_of_arguments(magic, call, text, called, names)
        return args, self.call(method, call, text, scope)._replace(name=called, note=note)

    def call(self, method, call: ast.Call, text: str, scope: dict) -> Invocation:
        """A call taken apart, its parts evaluated."""
        __tracebackhide__ = True
        given = self._evaluated(call, text, scope)
        called = ast.get_source_segment(text, call.func) or "the function"
        callable_only(method, given.function, called)
        refuse_misfit(method, given.function, called, given)
        return given

    def with_at(self, method, line: str, scope: dict, needed: bool = True, refuse=None):
        """The options of a line, and the arguments after `--at` evaluated; None without `--at`, if that is
        not `needed`. What else is wrong with the line is said first, by `refuse(options)` as well.
        """
        __tracebackhide__ = True
        options, at = split_at(_call_as_at(method, line))
        args, magic = parse_arguments(method, options, at or None), method.spelled
        said = [vars(args).get(one) for one in ("function", "twin", "without")]
        if refuse is not None:
            refuse(args)
        refuse_to_overwrite(method, args.output, said)
        if at is None and not needed:
            return args, None
        name, *others = _named_functions(args)
        if not at:
            what = "say where with --at, the last option" if at is None else "--at needs arguments"
            first, *_ = [self.function(method, one, scope) for one in said if one is not None]
            raise MagicError(f"{magic}: {what}: {magic} {options.strip()} --at {parameters_of(first)}")
        text = f"{name}({at})"
        late = option_in(at, [*self._options(), *(() if _is_python(text) else ("-o", "-h"))])
        if late is not None:
            first = f"{options_first(magic, options, at, late)} --at {at[: _place_of(late, at)].strip()}"
            raise MagicError(f"{magic}: options come before --at, which takes the rest of the line: {first}")
        call = parse(magic, text, "the arguments after --at", shown=at)
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != name:
            raise MagicError(f"{magic}: the arguments after --at must be one argument list, not `{at}`")
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
        name, *late = ([] if at is None else _words_after_options(method, options)) or [""]
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
        """The options of all our magics that begin with two dashes."""
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


def _note_of_arguments(magic: str, call: ast.Call, text: str, called: str, names: Mapping) -> str:
    """With respect to what a derivative of a call is, if its arguments are computed from names that may vary,
    and how to ask for the derivative with respect to these.
    """
    computed = computed_arguments(call, names)
    varying = [name for name in free_names(text) if may_vary(names.get(name))]
    if not computed or not varying:
        return ""
    part = "an argument" if len(call.args) > 1 else "the argument"
    parts = f"{computed[0]}, {part}" if len(computed) == 1 else f"{' and '.join(computed)}, the arguments"
    listed = ", ".join(varying[:1] if magic == "%hessian" else varying)
    return (
        f"this is with respect to {parts} of {called}; with respect to {listed}: "
        f"{magic} (lambda {listed}: {text})({listed})"
    )


def _named_functions(args) -> list[str]:
    """The functions that the words of a line name, the one in question first."""
    named = [getattr(args, one, None) for one in ("function", "twin")]
    found = [one for one in named if one is not None]
    return found or getattr(args, "functions", None) or args.expression[:1]


def options_of(method) -> list[str]:
    """The options of one magic that begin with two dashes."""
    return [option for option in method.parser._option_string_actions if option.startswith("--")]


def parse_arguments(method, line: str, at: str | None = None):
    """The options of a line, which `--at` with arguments may follow, by the parser of a magic; unbalanced
    quotes are wrong use, too.
    """
    __tracebackhide__ = True
    asked, parser = Asked(line.strip(), at), method.parser
    try:
        args, unknown = parser.parse_known_args(arg_split(line, strict=True))
    except ValueError:  # from shlex, for quotes only: a backslash at the end of a line is IPython's
        raise MagicError(f"{method.spelled}: a quotation mark is not closed: {line.strip()}") from None
    except UsageError as error:
        rest = f" --at {at}" if at is not None and parser.is_lacking(error) else ""
        raise MagicError(f"{method.spelled}: {repaired(parser, asked) or f'{error}{rest}'}") from None
    if unknown or not names_alone(parser, args):
        meant = repaired(parser, asked)
        if meant:
            raise MagicError(f"{method.spelled}: {meant}")
    if unknown and unknown[0].startswith("-"):
        near = did_you_mean(unknown[0].partition("=")[0], parser._option_string_actions)
        raise MagicError(f"{method.spelled}: there is no option {unknown[0]}{near}")
    if unknown:
        raise MagicError(f"{method.spelled}: nothing is expected after its arguments: {' '.join(unknown)}")
    return args


def options_first(magic: str, head: str, text: str, late: str) -> str:
    """The line of a magic with an option, and what follows it, in front: all but the rest of the text."""
    return " ".join(filter(None, (magic, head.strip(), text[_place_of(late, text) :].strip())))


def refuse_late_options(method, line: str, text: str, what: str) -> None:
    """MagicError if an option of a magic stands in the Python at the end of its line. Python might read it:
    `x --check` is `x - (-check)`.
    """
    letters = () if _is_python(text) else ("-o", "-h")
    late = option_in(text, [*options_of(method), *letters])
    if late is not None:
        head = line.rstrip()[: -len(text)]
        first = f"{options_first(method.spelled, head, text, late)} {text[: _place_of(late, text)].strip()}"
        raise MagicError(f"{method.spelled}: options come before {what}: {first}")


def refuse_misfit(method, f: Any, name: str, given: Invocation) -> None:
    """MagicError if the arguments do not fit a function, in the words of Python: it would say so itself, from
    within some frame of ours.
    """
    if not isinstance(f, (types.FunctionType, types.MethodType)) or not (given.args or given.kwargs):
        return
    signature = signature_of_callable(f, follow_wrapped=False)
    if hasattr(f, "__signature__"):  # what it says of itself, and need not be so
        return
    bind = signature.bind if given.args else signature.bind_partial  # keywords alone are held fixed
    try:
        bind(*given.args, **given.kwargs)
    except TypeError as error:
        called = f"{name}({', '.join(signature.parameters)})"
        raise MagicError(f"{method.spelled}: the arguments do not fit {called}: {error}") from None


def _called_by_words(text: str, names: Mapping[str, Any]) -> str | None:
    """A call for the name of a function alone, or with its arguments behind it after a space or `--at`; None
    for anything else.
    """
    found = re.fullmatch(r"([^\W\d][\w.]*)(?:\s+(?:--at\s+)?([\w\s.,]+))?", text)
    f = None if found is None or keyword.iskeyword(found[1]) else lookup(found[1], names)
    if found is None or not callable(f):
        return None
    return f"{found[1]}({', '.join(found[2].replace(',', ' ').split()) if found[2] else parameters_of(f)})"


def _call_as_at(method, line: str) -> str:
    """`F(x, y) --deep` as `F --deep --at x, y`: who has just called a function asks about that call."""
    name = r"(?:^|\s)([^\W\d][\w.]*)\("
    if split_at(line)[1] is not None:
        return line
    try:
        words = method.parser.parse_known_args(arg_split(line, strict=True))[0]
    except (ValueError, UsageError):  # which is told when it is read
        return line
    asked = getattr(words, "function", None) or ""
    found = re.search(name, line) if "(" in asked else None
    if found is None or not asked.startswith(f"{found[1]}("):
        return line
    start, opened = found.start(1), found.end()
    for end in (i for i, sign in enumerate(line) if sign == ")" and i >= opened):
        if _is_python(line[start : end + 1]):
            rest = f"{line[:start]}{found[1]}{line[end + 1 :]}"
            return rest if not line[opened:end].strip() else f"{rest} --at {line[opened:end]}"
    return line


def _words_after_options(method, line: str) -> list[str]:
    """The words of an expression; none where the line ends within a string, so that its end is no end."""
    try:
        return method.parser.parse_known_args(arg_split(line, strict=True))[0].expression
    except ValueError:
        return []


def _meant(name: str, names: Mapping[str, Any]) -> str:
    """Which function of the namespace may have been meant, as the end of a message."""
    owner = name.rpartition(".")[0]
    inside = lookup(owner, names) if owner else None
    if inside is not None:
        known = [f"{owner}.{one}" for one in dir(inside) if not one.startswith("_")]
        return did_you_mean(name, known)
    return did_you_mean(name, [one for one, value in names.items() if callable(value) and one[:1] != "_"])


def callable_only(method, found, name: str):
    """`found`, which is called `name` in the line; MagicError if it cannot be called."""
    if not callable(found):
        raise MagicError(f"{method.spelled}: {name} is {an(type(found).__name__)}, which cannot be called")
    return found


def refuse_to_overwrite(method, output: str | None, names: Iterable[str | None]) -> None:
    """MagicError if the result would take the place of a function that the line names."""
    for name in names:
        if output is not None and name is not None and name.split(".")[0] == output:
            raise MagicError(f"{method.spelled}: -o {output} would overwrite {output}, which the line names")


def unquoted(word: str) -> str:
    """A word of a line without the quotes around it, which keep its spaces.

    >>> unquoted("'my rules.py'"), unquoted("rules.py")
    ('my rules.py', 'rules.py')
    """
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def option_in(text: str, options: Container[str]) -> str | None:
    """The first of the options which stands as a word in Python; text in quotes does not count.

    >>> option_in("x, '--run' --no-widget", {"--run", "--no-widget"})
    '--no-widget'
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return next((word for word in re.findall(r"(?<!\S)--?[a-z][\w-]*", bare) if word in options), None)


def _place_of(option: str, text: str) -> int:
    """Where an option stands that `option_in` has found.

    >>> _place_of("--run", "x, '--run', y --run")
    14
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: "'" * len(quoted[0]), text)
    found = re.search(rf"(?<!\S){re.escape(option)}(?![\w-])", bare)
    assert found is not None
    return found.start()


def without_semicolon(line: str) -> str:
    """The line without a comment and a `;` at its end, both of which are IPython's, not the expression's.

    >>> without_semicolon('f("a;", 1);  # quiet')
    'f("a;", 1)'
    """
    return _without_comment(line).removesuffix(";").rstrip()


def _without_comment(line: str) -> str:
    try:
        tokens = [
            t
            for t in tokenize.generate_tokens(io.StringIO(line).readline)
            if t.type
            not in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)
        ]
    except (tokenize.TokenError, SyntaxError):
        return line.rstrip()
    if tokens and tokens[-1].type == tokenize.COMMENT and tokens[-1].start[0] == 1:
        line = line[: tokens.pop().start[1]]
    return line.rstrip()


def silenced(line: str) -> bool:
    """Whether a line ends with `;`: of a cell magic IPython only looks at the end of the cell.

    >>> silenced("mse_cr --of mse;"), silenced("mse_cr --of mse  # why; why not")
    (True, False)
    """
    return _without_comment(line).endswith(";")


def split_at(line: str) -> tuple[str, str | None]:
    """The options of a line, and what follows its first `--at`; None where there is none.

    >>> split_at('f f_cr -o c --at -x, {"a": " --at "}')
    ('f f_cr -o c', '-x, {"a": " --at "}')
    """
    found = re.search(r"(?:^|\s)--at(?:\s+|=|$)", line)
    return (line, None) if found is None else (line[: found.start()], line[found.end() :].strip())


def texts_of_arguments(text: str) -> list[str]:
    """The positional arguments of a call, or of the list after `F --at`, as they are written.

    >>> texts_of_arguments("f(x + 1, y, k=2)"), texts_of_arguments("-o h f --at x, y")
    (['x + 1', 'y'], ['x', 'y'])
    """
    if not _is_python(text):
        text = f"f({split_at(text)[1]})"
    if not _is_python(text):  # `--at` in a string
        return []
    call = ast.parse(text, mode="eval").body
    return list(map(ast.unparse, call.args)) if isinstance(call, ast.Call) else []


def raw_rest(line: str, rest: list[str]) -> str:
    """The end of the line that was split into the words `rest`, as it was written: joining them would
    change its spaces.

    >>> raw_rest('-o g  f("a  b")', ['f("a', 'b")'])
    'f("a  b")'
    """
    words, position = arg_split(line, posix=False, strict=False), 0
    for word in words[: len(words) - len(rest)]:
        position = line.index(word, position) + len(word)
    return line[position:].strip()


def parse_partials(magic: str, line: str) -> tuple[str, str, ast.expr]:
    """The name, the text and the tree of the lambda in `f(x, y): y*out, x*out`; nothing of it is run.

    >>> name, text, tree = parse_partials("%scalar_rule", "np.sinc(x): x*out")
    >>> name, text, type(tree).__name__
    ('np.sinc', 'lambda out, x: (x*out)', 'Lambda')
    """
    found = re.fullmatch(r"\s*([^\W\d][\w.]*)\s*\(([\w\s,*]*)\)\s*:(?!=)(.*)", line, re.S)
    if found is None or not found[3].strip():
        raise MagicError(f"{magic}: give the partial derivatives, as in {magic} f(x, y): y*out, x*out")
    name, parameters, body = found[1], found[2].strip().rstrip(","), found[3].strip()
    words = [word.strip() for word in parameters.split(",")] if parameters else []
    bare = [word.removeprefix("*") for word in words]
    if not bare or not all(word.isidentifier() and not keyword.iskeyword(word) for word in bare):
        raise MagicError(
            f"{magic}: the arguments are plain names, as in {magic} f(x, y), not `({parameters})`"
        )
    if any(bare.count(word) > 1 for word in bare) or "out" in bare or any("*" in word for word in words[:-1]):
        raise MagicError(f"{magic}: each argument needs a name of its own, and `out` is the value of {name}")
    wanted = parse(magic, body, "the partial derivatives")
    text = f"lambda out, {', '.join(words)}: ({body})"
    tree = parse(magic, text, "the partial derivatives", shown=body)
    if not isinstance(tree, ast.Lambda) or ast.dump(tree.body) != ast.dump(wanted):
        raise MagicError(f"{magic}: the partial derivatives must be one expression, not `{body}`")
    return name, text, tree


def parse_domain(text: str) -> Any:
    """What `--domain` takes: words, an interval, or either for each parameter; in quotes where it has spaces.

    >>> parse_domain('"positive vector"'), parse_domain("(0,1)"), parse_domain("'x: positive, A: square'")
    ('positive vector', (0, 1), {'x': 'positive', 'A': 'square'})
    """
    bare = text.strip().strip("'\"").strip()
    named = re.findall(r"(\w+)\s*:\s*(.+?)\s*(?=,\s*\w+\s*:|$)", bare)
    try:
        if named:
            return {name: _domain_of_one(words) for name, words in named}
        return _domain_of_one(bare)
    except DomainError as error:
        said = (error.found,) if error.found.endswith("?") else (error.found, *error.fixes)
        raise argparse.ArgumentTypeError("; ".join(said)) from None


def _domain_of_one(words: str) -> Any:
    try:
        found = ast.literal_eval(words) if words.startswith("(") else words
        kind_named(found)
    except (TypeError, ValueError, SyntaxError):
        raise DomainError(f"a domain reads (low, high), not {words}") from None
    return found


def parse_sizes(text: str) -> list:
    """What `--sizes` takes: lengths and shapes separated by commas, each for all arrays, or with one word for
    each argument; in quotes where it has spaces.

    >>> parse_sizes("3,5"), parse_sizes('"2x3 3, 4x2 number"')
    ([(3,), (5,)], [((2, 3), (3,)), ((4, 2), ())])
    """
    listed = [[_shape_of(word) for word in one.split()] for one in text.strip("'\" ").split(",")]
    if not all(listed):
        raise argparse.ArgumentTypeError(f'needs sizes such as 3,5 or "2x3, 4x2", not {text}')
    return [shapes[0] if len(shapes) == 1 else tuple(shapes) for shapes in listed]


def _shape_of(word: str) -> tuple[int, ...]:
    if word == "number":
        return ()
    if not re.fullmatch(r"[0-9]{1,6}(x[0-9]{1,6})*", word):
        raise argparse.ArgumentTypeError(f"a size is a length such as 3, 2x5 or `number`, not {word}")
    return tuple(map(int, word.split("x")))


def parse_seconds(text: str) -> float:
    """What `--seconds` takes, where it is a limit: a number above 0.

    >>> parse_seconds("0.5")
    0.5
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if seconds > LONGEST:
        raise argparse.ArgumentTypeError(f"must be at most {LONGEST:,} seconds, not {text}")
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"must be a positive number of seconds, not {text}")
    return seconds


def parse_generator(text: str) -> ast.Lambda:
    """The argument list of a generator, in `n` and `rng`, as a function of the two; nothing of it is run.

    >>> ast.unparse(parse_generator("rng.random(n), k=2.0"))
    "lambda n, rng: ((rng.random(n),), {'k': 2.0})"
    """
    what = "The arguments of size n"
    call = parse(what, f"at({text})", "the list", shown=text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "at":
        raise MagicError(f"{what} must be one argument list, not `{text}`")
    names: list[ast.expr | None] = [None if k.arg is None else ast.Constant(k.arg) for k in call.keywords]
    kwargs = ast.Dict(names, [keyword.value for keyword in call.keywords])
    parameters = ast.arguments([], [ast.arg("n"), ast.arg("rng")], None, [], [], None, [])
    made = ast.Lambda(parameters, ast.Tuple([ast.Tuple(call.args, ast.Load()), kwargs], ast.Load()))
    return ast.fix_missing_locations(ast.copy_location(made, call))


def generator(shell, text: str) -> Callable[[int, Any], tuple[tuple, dict]]:
    """The function of `n` and `rng` that a generator's text is: it gives positional arguments and keywords.

    It lives in the user's namespace; what its names stand for is looked up when it is called.
    """
    return evaluate(shell, f"at({text})", {}, parse_generator(text))
