"""The source of a function, found by its code object and verified against the running code."""

from __future__ import annotations
import __future__

import ast
import contextlib
import copy
import functools
import inspect
import linecache
import operator
import textwrap
import types
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from ...errors import NAMELESS, Place, SourceMismatchError, SourceNotFoundError
from ...parsing import compiled, nodes_of, parse

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Source:
    """The syntax tree of one function and the text it was parsed from."""

    node: FunctionNode
    filename: str
    lines: tuple[str, ...]
    name: str

    def of(self, node: FunctionNode) -> Source:
        """The same text with another tree for the function."""
        return Source(node, self.filename, self.lines, self.name)

    def place(self, node: ast.AST | None = None) -> Place:
        """The place of `node` (of the function itself, if None) in the author's source."""
        node = self.node if node is None else node
        line = getattr(node, "lineno", self.node.lineno)
        column, end_column = getattr(node, "col_offset", None), getattr(node, "end_col_offset", None)
        return self.place_at(line, getattr(node, "end_lineno", line), column, end_column)

    def place_at(self, line: int, end_line: int | None, column: int | None, end_column: int | None) -> Place:
        """The place at these positions; one that spans several lines is shown to the end of its first."""
        text = self.lines[line - 1].rstrip("\n") if 0 < line <= len(self.lines) else None
        if end_line != line:
            end_column = len(text) if text is not None else None
        return Place(self.filename, line, column, end_column, self.name, text)


@dataclass(frozen=True)
class _File:
    """A text that was compiled again; `functions` has its functions by their first line."""

    text: str
    flags: int
    tree: ast.Module
    module: types.CodeType
    lines: tuple[str, ...]
    functions: dict[int, list[ast.AST]]


@dataclass(frozen=True)
class _Statement:
    """A statement at the left margin that was compiled by itself; `codes` are the code objects in it."""

    text: str
    imports: str
    flags: int
    codes: tuple[types.CodeType, ...]
    functions: dict[int, list[ast.AST]]


_STATEMENTS: dict[tuple[str, int], _Statement] = {}
_FOUND: dict[int, tuple[weakref.ref[types.CodeType], Source]] = {}
_FILES: dict[str, _File] = {}
_KEPT_FILES = 64
_KEPT_STATEMENTS = 256


def find_source(code: types.CodeType) -> Source:
    """The verified source of `code`.

    The text of the file or cell is compiled again, and the function in it that equals the running code is
    taken, so text that changed underneath a function is never mistaken for its source. Raises
    SourceNotFoundError if there is no text, and SourceMismatchError if the text does not match.
    """
    entry = _FOUND.get(id(code))
    if entry is not None and entry[0]() is code:
        return entry[1]
    return remember(code, _search(code))


def remember(code: types.CodeType, source: Source) -> Source:
    """Have `find_source` return this source for a code object, as long as that is alive."""
    key = id(code)
    _FOUND[key] = (weakref.ref(code, lambda _: _FOUND.pop(key, None)), source)
    return source


def written_lines(target: Any) -> tuple[list[str], int]:
    """The lines in which a function or class is written and the number of the first, for people to read.

    Like `inspect.getsourcelines`, and not verified; also raises OSError for code made from a text without a
    name, since another such text might be found in its place.
    """
    if inspect.getfile(inspect.unwrap(target)) in NAMELESS:
        raise OSError("the text has no name")
    return inspect.getsourcelines(target)


def _search(code: types.CodeType) -> Source:
    """The source of code, from the first text that contains it; raises if there is none."""
    place = Place(code.co_filename, code.co_firstlineno, None, None, code.co_name, None)
    for text in _texts(code.co_filename):
        try:
            found = _in_statement(code, text) or _match(code, text)
        except RecursionError:
            raise SourceNotFoundError(
                f"The source of {code.co_name}() cannot be read: its file is nested more deeply "
                "than this Python's parser allows",
                place=place,
                fixes=("break up the longest expression", "define the function in a file of its own"),
                read="limitations#source",
            ) from None
        if found is not None:
            return found
    if code.co_filename in NAMELESS or not any(True for _ in _texts(code.co_filename)):
        raise SourceNotFoundError(
            f"The source of {code.co_name}() cannot be found: there is no text for {code.co_filename}",
            place=place,
            fixes=("define the function in a file or in a notebook cell", "write a rule for it"),
            read="limitations#source",
        )
    raise SourceMismatchError(
        f"The text of {code.co_name}() is not the code that runs: the file was changed after it was loaded",
        place=place,
        fixes=("reload the module or run the cell again",),
        read="limitations#source",
    )


def _texts(filename: str) -> Iterator[str]:
    """The candidate texts of a file: the cached one first, then the one on disk; nothing if no file can have
    this name.
    """
    with contextlib.suppress(ValueError):
        cached = "".join(linecache.getlines(filename))
        if cached:
            yield cached
        linecache.checkcache(filename)
        fresh = "".join(linecache.getlines(filename))
        if fresh and fresh != cached:
            yield fresh


# The flags that `from __future__ import …` sets, but for that of `nested_scopes`, which marks nested code.
_FUTURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
_FUTURES &= ~inspect.CO_NESTED


def _compiled(filename: str, text: str, flags: int) -> _File | None:
    """The text of a file, compiled or from the cache; None if it is not valid Python."""
    known = _FILES.get(filename)
    if known is not None and known.text == text and known.flags == flags:
        return known
    try:
        tree = parse(text, filename)
        module = _module_of(tree, text, filename, flags)
    except (SyntaxError, ValueError):
        return None
    for oldest in list(_FILES)[: len(_FILES) - _KEPT_FILES + 1]:  # a list: other threads change it too
        _FILES.pop(oldest, None)
    lines = tuple(text.splitlines(keepends=True))
    found = _FILES[filename] = _File(text, flags, tree, module, lines, _by_first_line(tree))
    return found


def _module_of(tree: ast.Module, text: str, filename: str, flags: int) -> types.CodeType:
    try:
        return compiled(tree, filename, flags)
    except RecursionError:  # Python 3.12 accepts text nested twice as deeply as a syntax tree
        return compiled(text, filename, flags)


def _by_first_line(tree: ast.Module) -> dict[int, list[ast.AST]]:
    """The functions of a text, including nested ones, by the line where their code begins."""
    found: dict[int, list[ast.AST]] = {}
    for node in nodes_of(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found.setdefault(_first_line(node), []).append(node)
    return found


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    decorators = getattr(node, "decorator_list", ())
    return decorators[0].lineno if decorators else node.lineno


def _match(code: types.CodeType, text: str) -> Source | None:
    """The source of code, found by compiling the whole text; None if the text contains no equal code."""
    file = _compiled(code.co_filename, text, code.co_flags & _FUTURES)
    if file is None:
        return None
    units = _units(code, file.tree, file.module)
    if any(_same(code, other) for unit in units for other in codes_inside(unit)):
        return _only_one(code, file.functions, file.lines)
    return _autoreloaded(code, file.tree)


def _in_statement(code: types.CodeType, text: str) -> Source | None:
    """The source of code, found by compiling only the statement around its line with the imports of the text;
    CPython's code for `np.sum(x)` depends on whether `np` is imported in the same unit. None if that gives
    other code, as it may: then the whole text has to be searched, which takes longer.
    """
    lines = text.splitlines(keepends=True)
    if not 0 < code.co_firstlineno <= len(lines):
        return None
    first, end = _statement_around(lines, code.co_firstlineno - 1)
    part, imports = "".join(lines[first:end]), _imports(text, lines)
    flags = code.co_flags & _FUTURES
    found = _STATEMENTS.get((code.co_filename, first))
    if found is None or (found.text, found.imports, found.flags) != (part, imports, flags):
        try:
            tree = parse("\n" * first + part, code.co_filename)
            unit = ast.Module([*parse(imports).body, *tree.body], [])
            codes = tuple(codes_inside(compiled(unit, code.co_filename, flags)))
        except (SyntaxError, ValueError, RecursionError):
            return None
        for oldest in list(_STATEMENTS)[: len(_STATEMENTS) - _KEPT_STATEMENTS + 1]:
            _STATEMENTS.pop(oldest, None)
        alone = len(tree.body) == 1 and len(codes) == 1 and isinstance(tree.body[0], ast.FunctionDef)
        functions = {_first_line(tree.body[0]): [tree.body[0]]} if alone else _by_first_line(tree)
        found = _Statement(part, imports, flags, codes, functions)
        _STATEMENTS[code.co_filename, first] = found
    if any(_same(code, other) for other in found.codes):
        return _only_one(code, found.functions, tuple(lines))
    return None


def _statement_around(lines: list[str], number: int) -> tuple[int, int]:
    """The statement at the left margin around a line, as (first, end) line indices; a guess, not parsed."""
    first = number
    while first and not _is_at_margin(lines[first]):
        first -= 1
    end, decorated = first + 1, lines[first].startswith("@")
    while end < len(lines) and (decorated or not _is_at_margin(lines[end])):
        decorated = decorated and (lines[end].startswith("@") or not _is_at_margin(lines[end]))
        end += 1
    return first, end


def _imports(text: str, lines: list[str]) -> str:
    """The imports at the left margin of a text, which is also given as lines."""
    numbers = []
    for word in ("import ", "from "):
        at = 0 if text.startswith(word) else text.find(f"\n{word}") + 1 or -1
        while at >= 0:
            numbers.append(len(text[:at].splitlines()))
            at = text.find(f"\n{word}", at) + 1 or -1
    spans = [_statement_around(lines, number) for number in sorted(numbers)]
    return "".join(line for first, end in spans for line in lines[first:end])


def _is_at_margin(line: str) -> bool:
    """Whether a line begins a statement at the left margin, unless it is inside a multi-line string."""
    return line[:1] not in ("", " ", "\t", "\f", "\n", "\r", "#", ")", "]", "}")


def _only_one(
    code: types.CodeType, functions: dict[int, list[ast.AST]], lines: tuple[str, ...]
) -> Source | None:
    """The one of these functions whose code is `code`; None if several cannot be told apart."""
    beginning = functions.get(code.co_firstlineno, [])
    nodes = _innermost([node for node in beginning if is_of(node, code)], code)
    if len(nodes) != 1:
        return None
    node = cast(FunctionNode, nodes[0])  # `is_of` accepts nothing else; coroutines are refused by the fence
    return Source(node, code.co_filename, lines, code.co_name)


def _autoreloaded(code: types.CodeType, tree: ast.Module) -> Source | None:
    """The source of code that IPython's autoreload put in place of an older function of the file.

    Autoreload compiles a changed function by itself, from text made by `ast.unparse`, so its lines count from
    one, here as in Python's tracebacks. Doing the same again gives equal code, unless the file has changed.
    """
    defined = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    for node in defined:
        if node.name not in code.co_qualname.split("."):
            continue
        for text in _as_autoreload_writes(node):
            written = parse(text)
            built = compiled(written, code.co_filename)
            if any(_same(code, other) for other in codes_inside(built)):
                return _only_one(code, _by_first_line(written), tuple(text.splitlines(keepends=True)))
    return None


def _as_autoreload_writes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    bare = copy.copy(node)
    bare.decorator_list = []
    for text in dict.fromkeys((ast.unparse(bare), ast.unparse(node))):
        yield text
        yield "class __autoreload_class__:\n" + textwrap.indent(text, "    ")


def _units(code: types.CodeType, tree: ast.Module, module: types.CodeType) -> Iterator[types.CodeType | None]:
    """What `code` may have been compiled in: the whole text, or its statement by itself."""
    yield module
    yield _statement_alone(code, tree)


def _statement_alone(code: types.CodeType, tree: ast.Module) -> types.CodeType | None:
    """The top-level statement that `code` is from, compiled by itself, as IPython runs a cell.

    CPython's code for `np.sum(x)` depends on whether `import numpy as np` is in the same unit.
    """
    for statement in tree.body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        if first <= code.co_firstlineno <= (statement.end_lineno or first):
            return compiled(ast.Module([statement], []), code.co_filename, code.co_flags & _FUTURES)
    return None


def codes_inside(code: types.CodeType | None) -> Iterator[types.CodeType]:
    """The code objects inside another one, at any depth."""
    for constant in code.co_consts if code is not None else ():
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_inside(constant)


def names_in(code: types.CodeType) -> dict[str, None]:
    """The globals and attributes named in code and in the functions and comprehensions inside it, in order
    and each once.
    """
    return dict.fromkeys(name for inner in (code, *codes_inside(code)) for name in inner.co_names)


def first_name(node: ast.expr) -> str | None:
    """The name before the first dot of `a.b.c`, or the name itself; None for any other expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _same(running: types.CodeType, compiled: types.CodeType) -> bool:
    """Whether two code objects have equal bytecode, constants, names and positions in the text."""
    return running == compiled and (
        running.co_linetable == compiled.co_linetable  # the usual case, and fast
        or list(running.co_positions()) == list(compiled.co_positions())
    )


def is_of(node: ast.AST, code: types.CodeType) -> bool:
    """Whether `code` was compiled from `node`; two lambdas on one line differ in their columns."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name == code.co_name and _first_line(node) == code.co_firstlineno
    if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
        if _has_no_spot(code):
            return _same_constant(node, code)
        return all(_inside(position, node.body) for position in code.co_positions())
    return False


def _has_no_spot(code: types.CodeType) -> bool:
    """Whether all columns are 0, as Python 3.12 reports for a lambda that returns a constant."""
    return all(start == end == 0 for _, _, start, end in code.co_positions())


def _same_constant(node: ast.Lambda, code: types.CodeType) -> bool:
    made = compile(ast.Expression(node), code.co_filename, "eval")
    mine = next(codes_inside(made))
    return (mine.co_code, mine.co_consts, mine.co_varnames) == (
        code.co_code,
        code.co_consts,
        code.co_varnames,
    )


def _innermost(nodes: list[ast.AST], code: types.CodeType) -> list[ast.AST]:
    """The nodes that contain no other: the code of a lambda inside a lambda lies within both."""
    if len(nodes) < 2:
        return nodes
    if not any(end_column for _, _, _, end_column in code.co_positions()):
        # Python was told to keep no columns, so nothing distinguishes them; equal constants may be swapped.
        return nodes[:1] if _has_no_spot(code) else nodes
    return [
        node for node in nodes if not any(inner in nodes for inner in ast.walk(node) if inner is not node)
    ]


def _inside(position: tuple[int | None, int | None, int | None, int | None], node: ast.expr) -> bool:
    """Whether an instruction's position is within an expression; unknown positions count as inside."""
    line, end_line, column, end_column = position
    if line is None or column is None or end_line is None or end_column is None:
        return True
    if column == 0 and end_column == 0:
        return True  # the opening instruction of a function belongs to no expression
    return (node.lineno, node.col_offset) <= (line, column) and (end_line, end_column) <= (
        node.end_lineno,
        node.end_col_offset,
    )
