"""The line of a magic as text: its options, its comment and `;`, the start of `--at`, and the part that is
Python.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Container

from IPython.core.error import UsageError
from IPython.utils.process import arg_split

from ..nearest import did_you_mean
from .cells import MagicError
from .repairs import MagicArguments, names_alone, repaired


def options_of(method) -> list[str]:
    """The options of one magic that begin with two dashes."""
    return [option for option in method.parser._option_string_actions if option.startswith("--")]


def parse_arguments(method, line: str, at: str | None = None):
    """The options of a line, which `--at` with arguments may follow, by the parser of a magic; unbalanced
    quotes are a usage error, too.
    """
    __tracebackhide__ = True
    asked, parser = MagicArguments(line.strip(), at), method.parser
    try:
        args, unknown = parser.parse_known_args(arg_split(line, strict=True))
    except ValueError:  # from shlex, only for quotes: IPython handles a backslash at the end of a line
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
    """The line of a magic with an option, and what follows it, moved to the front; the rest of the text is
    left out.
    """
    return " ".join(filter(None, (magic, head.strip(), text[place_of(late, text) :].strip())))


def refuse_late_options(method, line: str, text: str, what: str) -> None:
    """Raise MagicError if an option of a magic is in the Python at the end of its line. Python might accept
    it: `x --check` is `x - (-check)`.
    """
    letters = () if is_python(text) else ("-o", "-h")
    late = option_in(text, [*options_of(method), *letters])
    if late is not None:
        head = line.rstrip()[: -len(text)]
        first = f"{options_first(method.spelled, head, text, late)} {text[: place_of(late, text)].strip()}"
        raise MagicError(f"{method.spelled}: options come before {what}: {first}")


def call_as_at(method, line: str) -> str:
    """`F(x, y) --deep` as `F --deep --at x, y`: a user who has just called a function asks about that
    call.
    """
    name = r"(?:^|\s)([^\W\d][\w.]*)\("
    if split_at(line)[1] is not None:
        return line
    try:
        words = method.parser.parse_known_args(arg_split(line, strict=True))[0]
    except (ValueError, UsageError):  # reported when the line is parsed
        return line
    asked = getattr(words, "function", None) or ""
    found = re.search(name, line) if "(" in asked else None
    if found is None or not asked.startswith(f"{found[1]}("):
        return line
    start, opened = found.start(1), found.end()
    for end in (i for i, sign in enumerate(line) if sign == ")" and i >= opened):
        if is_python(line[start : end + 1]):
            rest = f"{line[:start]}{found[1]}{line[end + 1 :]}"
            return rest if not line[opened:end].strip() else f"{rest} --at {line[opened:end]}"
    return line


def words_after_options(method, line: str) -> list[str]:
    """The words of an expression; none if the line ends within a string."""
    try:
        return method.parser.parse_known_args(arg_split(line, strict=True))[0].expression
    except ValueError:
        return []


def unquoted(word: str) -> str:
    """A word of a line without the quotes around it, which protect its spaces.

    >>> unquoted("'my rules.py'"), unquoted("rules.py")
    ('my rules.py', 'rules.py')
    """
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def option_in(text: str, options: Container[str]) -> str | None:
    """The first of the options that occurs as a word in Python; text in quotes does not count.

    >>> option_in("x, '--run' --no-widget", {"--run", "--no-widget"})
    '--no-widget'
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)
    return next((word for word in re.findall(r"(?<!\S)--?[a-z][\w-]*", bare) if word in options), None)


def place_of(option: str, text: str) -> int:
    """The position of an option that `option_in` has found.

    >>> place_of("--run", "x, '--run', y --run")
    14
    """
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: "'" * len(quoted[0]), text)
    found = re.search(rf"(?<!\S){re.escape(option)}(?![\w-])", bare)
    assert found is not None
    return found.start()


def without_semicolon(line: str) -> str:
    """The line without a comment and a `;` at its end, which belong to IPython, not to the expression.

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


def ends_with_semicolon(line: str) -> bool:
    """Whether a line ends with `;`: for a cell magic, IPython only checks the end of the cell.

    >>> ends_with_semicolon("mse_cr --of mse;"), ends_with_semicolon("mse_cr --of mse  # why; why not")
    (True, False)
    """
    return _without_comment(line).endswith(";")


def split_at(line: str) -> tuple[str, str | None]:
    """The options of a line, and the text after its first `--at`; None if there is none.

    >>> split_at('f f_cr -o c --at -x, {"a": " --at "}')
    ('f f_cr -o c', '-x, {"a": " --at "}')
    """
    found = re.search(r"(?:^|\s)--at(?:\s+|=|$)", line)
    return (line, None) if found is None else (line[: found.start()], line[found.end() :].strip())


def texts_of_arguments(text: str) -> list[str]:
    """The positional arguments of a call, or of the list after `F --at`, as source text.

    >>> texts_of_arguments("f(x + 1, y, k=2)"), texts_of_arguments("-o h f --at x, y")
    (['x + 1', 'y'], ['x', 'y'])
    """
    if not is_python(text):
        text = f"f({split_at(text)[1]})"
    if not is_python(text):  # `--at` in a string
        return []
    call = ast.parse(text, mode="eval").body
    return list(map(ast.unparse, call.args)) if isinstance(call, ast.Call) else []


def raw_rest(line: str, rest: list[str]) -> str:
    """The end of the line that was split into the words `rest`, as it was written: joining the words would
    change its spaces.

    >>> raw_rest('-o g  f("a  b")', ['f("a', 'b")'])
    'f("a  b")'
    """
    words, position = arg_split(line, posix=False, strict=False), 0
    for word in words[: len(words) - len(rest)]:
        position = line.index(word, position) + len(word)
    return line[position:].strip()
