"""The text of a function or class as it goes into a file: dedented, and without decorators of rulelab."""

from __future__ import annotations

import ast
import collections
import inspect
import keyword
import linecache
import symtable
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..annotations import annotations_of
from ..compiler.base.source import Source, find_source
from ..errors import NAMELESS, ExportError, Place, RuleLabError
from ..parsing import cloned, nodes_of, parse
from ..rules.authoring import frule_for, rrule_for
from ..rules.rule import Rule
from .literals import NoLiteral, literal

HELPER, PRIMAL, RRULE, FRULE, PARTIALS = "helper", "primal", "rrule", "frule", "partials"


@dataclass(frozen=True)
class Piece:
    """A function or class as it goes into a file.

    `kind` is "helper", "primal", "rrule", "frule", or "partials" for the function that states a scalar rule.
    `source` begins at the left margin and ends with a newline; it is one `def` or `class` statement, without
    decorators of rulelab. `filename` and `line` say where it was written.
    """

    name: str
    kind: str
    source: str
    filename: str
    line: int
    indent: int = 0
    laid_out: bool = True  # laid out as its author wrote it; else only the first line is known
    value: Any = field(default=None, compare=False, repr=False)
    rule: Rule | None = field(default=None, compare=False, repr=False)

    @property
    def tree(self) -> Any:
        """The statement, parsed again: its lines count from 1, like those of `source`."""
        return parse(self.source).body[0]

    def place(self, node: Any = None) -> Place:
        """The location in the author's text that a node of `tree` comes from."""
        if node is None or not self.laid_out or not hasattr(node, "lineno"):
            return Place(self.filename, self.line, function=self.name)
        line = self.line + node.lineno - 1
        column = node.col_offset + self.indent
        end = node.end_col_offset
        one_line = getattr(node, "end_lineno", None) == node.lineno and end is not None
        return Place(self.filename, line, column, end + self.indent if one_line else None, self.name)


def checked_name(name: Any, what: str, place: Place | None = None) -> str:
    """A name that can occur in a file; ExportError for anything else."""
    if type(name) is str and name.isidentifier() and not keyword.iskeyword(name):
        return name
    raise ExportError(
        f"{name!r} is not a name that {what} can have", asked="an export", place=place, fixes=("rename it",)
    )


def names_read(source: str) -> dict[str, None]:
    """The global names that a statement at the left margin reads or writes, including those in
    annotations.

    >>> list(names_read("def f(x: T, k=K):\\n    y = g(x)\\n    return [h(v) for v in y]\\n"))
    ['K', 'T', 'g', 'h']
    """
    found: dict[str, None] = {}

    def visit(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            top = table.get_type() == "module"
            read = symbol.is_referenced() and not symbol.is_assigned() if top else symbol.is_global()
            if read and not (not top and symbol.get_name() in defined):
                found[symbol.get_name()] = None
        for inner in table.get_children():
            visit(inner)

    table = symtable.symtable(source, "<export>", "exec")
    defined = {s.get_name() for s in table.get_symbols() if s.is_assigned()}
    visit(table)
    order = [node.id for node in nodes_of(parse(source)) if isinstance(node, ast.Name)]
    return dict.fromkeys(sorted(found, key=lambda n: order.index(n) if n in order else len(order)))


# --- functions ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """The text of a function or class, and its location in the author's text."""

    source: str
    filename: str
    line: int
    indent: int
    laid_out: bool

    def piece(self, name: str, kind: str, value: Any, rule: Rule | None = None) -> Piece:
        return Piece(
            name, kind, self.source, self.filename, self.line, self.indent, self.laid_out, value, rule
        )


def written_function(
    function: types.FunctionType,
    name: str,
    default_text: Callable[[Any, ast.expr | None, Place], str | None],
    decorator_of: Callable[[ast.expr], Any],
) -> Written:
    """The text of a function under a given name, with the defaults that the function has now.

    `default_text(value, node, place)` returns the text of a default, or None to keep the author's;
    `decorator_of` returns the value of a decorator's expression. Raises ExportError if there is no text.
    """
    inner = inspect.unwrap(function)
    if type(inner) is not types.FunctionType:
        found = f"{name} wraps something that is not a Python function"
        raise ExportError(found, asked=f"an export of {name}")
    source = _found(inner, name)
    if isinstance(source.node, ast.Lambda):
        node: Any = ast.FunctionDef(name, source.node.args, [ast.Return(source.node.body)], [])
        node = ast.fix_missing_locations(ast.copy_location(node, source.node))
        source = Source(node, source.filename, source.lines, name)
        return _unparsed(source, _with_defaults(node, source, inner, default_text)[0], name)
    node = source.node
    kept = [d for d in node.decorator_list if not _is_ours(d, decorator_of)]
    if _layers(function) > len(kept):
        raise ExportError(
            f"{name} wraps {inner.__name__}, but no source text shows that",
            asked=f"an export of {name}",
            place=source.place(),
            fixes=("write it as a decorator above its def, or as a function of its own",),
        )
    changed, edits = _with_defaults(node, source, inner, default_text)
    changed.name = name
    changed.decorator_list = kept
    first = min([node.lineno, *(d.lineno for d in kept)])
    if kept and [d for d in node.decorator_list if d not in kept and d.lineno > first]:
        return _unparsed(source, changed, name)
    return _laid_out(source, changed, first, name, edits)


Edits = Sequence[tuple[ast.expr, str]]
"""The replacements of expressions in an author's text."""


def _layers(function: Any) -> int:
    """The number of wrappers around a function, each with a `__wrapped__`."""
    count = 0
    while hasattr(function, "__wrapped__"):
        function, count = function.__wrapped__, count + 1
    return count


def _found(function: types.FunctionType, name: str) -> Source:
    try:
        return find_source(function.__code__)
    except RuleLabError as error:
        raise ExportError(
            f"the text of {name} is not available: {error.found}",
            asked=f"an export of {name}",
            place=error.place,
            fixes=error.fixes[:1],
        ) from None


def _is_ours(decorator: ast.expr, value_of: Callable[[ast.expr], Any]) -> bool:
    """Whether a decorator states a rule: in an exported file that is written in a different way."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return value_of(called) in (rrule_for, frule_for)


def _with_defaults(
    node: ast.FunctionDef,
    source: Source,
    function: types.FunctionType,
    text_of: Callable[[Any, ast.expr | None, Place], str | None],
) -> tuple[ast.FunctionDef, Edits]:
    """A copy of a function's node with the defaults that the function has now, and the resulting edits of its
    text.
    """
    changed = cloned(node)
    edits: list[tuple[ast.expr, str]] = []
    count = len(changed.args.posonlyargs) + len(changed.args.args)
    values = (function.__defaults__ or ())[-count:] if count else ()

    def said(value: Any, old: ast.expr | None) -> ast.expr:
        text = text_of(value, old, source.place(old))
        if text is None:
            assert old is not None
            return old
        if old is not None:
            edits.append((old, text))
        made = parse(text, mode="eval").body
        for part in ast.walk(made):
            ast.copy_location(part, node if old is None else old)
        return made

    old: list[ast.expr | None] = [None] * (len(values) - len(changed.args.defaults))
    old += changed.args.defaults[max(0, len(changed.args.defaults) - len(values)) :]
    changed.args.defaults = [said(v, o) for v, o in zip(values, old, strict=True)]
    keywords = function.__kwdefaults__ or {}
    changed.args.kw_defaults = [
        said(keywords[a.arg], o) if a.arg in keywords else None
        for a, o in zip(changed.args.kwonlyargs, changed.args.kw_defaults, strict=True)
    ]
    return changed, edits


# --- text ---------------------------------------------------------------------------------------------------


def _laid_out(source: Source, node: Any, first: int, name: str, edits: Edits = ()) -> Written:
    """The author's own lines, including comments, if they mean the same as the node; else unparsed text."""
    lines = _edited(source.lines[: node.end_lineno], edits)[first - 1 :]
    head = lines[0] if lines else ""
    margin = head[: len(head) - len(head.lstrip(" \t"))]
    text = "".join(line.removeprefix(margin) for line in lines).rstrip("\n") + "\n"
    if _is_plain(text):
        try:
            parsed = parse(text).body
        except (SyntaxError, ValueError):
            parsed = []
        if len(parsed) == 1 and _says_the_same(parsed[0], node):
            return Written(text, source.filename, first, len(margin.encode()), True)
    return _unparsed(source, node, name)


def _edited(lines: Sequence[str], edits: Edits) -> list[str]:
    """Lines with expressions replaced. An expression that spans several lines is left, and the result is then
    not equivalent.
    """
    edited = [line.encode("utf-8", "surrogatepass") for line in lines]
    for old, text in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        line = edited[old.lineno - 1]
        if old.end_lineno == old.lineno:
            edited[old.lineno - 1] = line[: old.col_offset] + text.encode() + line[old.end_col_offset :]
    return [line.decode("utf-8", "surrogatepass") for line in edited]


def _unparsed(source: Source, node: Any, name: str) -> Written:
    """The node as Python unparses it, with every non-printable character escaped."""
    line = node.lineno
    try:
        text = ast.unparse(ast.fix_missing_locations(node)) + "\n"
        same = _says_the_same(parse(text).body[0], node)
    except (SyntaxError, ValueError, RecursionError):
        same = False
    if not same or not _is_plain(text):
        raise ExportError(
            f"the text of {name} cannot be written so that Python reads the same again",
            asked=f"an export of {name}",
            place=source.place(),
        )
    return Written(text, source.filename, line, 0, False)


def _is_plain(text: str) -> bool:
    """Whether every character of a text is visible as what it is."""
    return all(line.isprintable() for line in text.replace("\t", " ").split("\n"))


def _says_the_same(one: ast.AST, other: ast.AST) -> bool:
    return _dump(one) == _dump(other)


def _dump(node: ast.AST) -> str:
    """A dump of a tree without locations, which ignores the indentation of docstrings."""
    node = cloned(node)
    for part in ast.walk(node):
        body = getattr(part, "body", None)
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and body:
            said = body[0].value if isinstance(body[0], ast.Expr) else None
            if isinstance(said, ast.Constant) and isinstance(said.value, str):
                said.value = inspect.cleandoc(said.value)
        if isinstance(part, ast.Constant):
            part.kind = None
    return ast.dump(node)


# --- classes ------------------------------------------------------------------------------------------------


def written_class(cls: type, name: str) -> Written:
    """The text of a class; ExportError if no text with its methods and fields is found."""
    for source in _class_texts(cls):
        first = min([source.node.lineno, *(d.lineno for d in source.node.decorator_list)])
        return _laid_out(source, source.node, first, name)
    raise ExportError(
        f"the text of the class {cls.__name__} cannot be found, or it was changed since",
        asked=f"an export of {name}",
        fixes=("define it at the left margin of a file or of a cell",),
    )


def _class_texts(cls: type) -> Iterator[Any]:
    methods = {key: m for key, m in vars(cls).items() if _is_written(m, cls)}
    for filename in _files_of(cls, methods):
        lines = tuple(linecache.getlines(filename))
        try:
            tree = parse("".join(lines), filename)
        except (SyntaxError, ValueError):
            continue
        for node in reversed([n for n in nodes_of(tree) if isinstance(n, ast.ClassDef)]):
            source: Any = Source(node, filename, lines, cls.__name__)  # type: ignore[arg-type]
            if node.name == cls.__name__ and _is_of_class(node, cls, methods):
                yield source


def _is_written(method: Any, cls: type) -> bool:
    """Whether a method occurs in the text of its class: methods that Python generates have code from
    elsewhere.
    """
    code = getattr(method, "__code__", None)
    return code is not None and code.co_qualname.startswith(f"{cls.__qualname__}.")


def _files_of(cls: type, methods: dict[str, Any]) -> dict[str, None]:
    """The files in which the text of a class may be: those of its methods, that of its module, or cells."""
    files = dict.fromkeys(m.__code__.co_filename for m in methods.values())
    module = sys.modules.get(cls.__module__)
    if not files and getattr(module, "__file__", None):
        files[module.__file__] = None  # type: ignore[union-attr]
    if not files:
        newest_first = reversed(list(linecache.cache))
        files = dict.fromkeys(name for name in newest_first if cls.__name__ in "".join(_lines(name)))
    return files


def _lines(filename: str) -> list[str]:
    entry = linecache.cache.get(filename)
    return list(entry[2]) if entry is not None and len(entry) > 2 else []


def _is_of_class(node: ast.ClassDef, cls: type, methods: dict[str, Any]) -> bool:
    """Whether a class statement defines what a class has, namely its methods (each verified), fields and
    constants, and nothing was added to the class since.
    """
    defined = {n.name: n for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    annotated = [n for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    fields = [n.target.id for n in annotated if isinstance(n.target, ast.Name)]
    if fields != list(annotations_of(cls)) or not set(methods) <= set(defined):
        return False
    if not all(_is_method(vars(cls).get(key), statement) for key, statement in defined.items()):
        return False
    plain = [n for n in node.body if isinstance(n, ast.Assign)]
    assigned = {t.id: n.value for n in plain for t in n.targets if isinstance(t, ast.Name)}
    assigned |= {n.target.id: n.value for n in annotated if isinstance(n.target, ast.Name) and n.value}
    return all(
        key in defined or key in fields or (key in assigned and _is_value(value, assigned[key]))
        for key, value in vars(cls).items()
        if not _is_made_by_python(key, value)
    ) and all(_is_value(vars(cls).get(key), value) for key, value in assigned.items() if key in fields)


def _is_method(found: Any, statement: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the attribute of a class was defined by a given statement."""
    function = getattr(found, "fget", None) or getattr(found, "func", None) or found
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    try:
        return code is not None and find_source(code).node.lineno == statement.lineno
    except RuleLabError:
        return False


def _is_value(found: Any, node: ast.expr) -> bool:
    """Whether a constant of a class still has the value in its text; for anything but a literal nobody can
    tell.
    """
    try:
        return literal(ast.literal_eval(node)) == literal(found)
    except (ValueError, TypeError, SyntaxError, NoLiteral):
        return True


def _is_made_by_python(key: str, value: Any) -> bool:
    """Whether an attribute of a class is generated by Python for every class or for a field (of a named
    tuple, or with slots), or is a method whose code belongs to Python.
    """
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    if code is not None:
        nameless = code.co_filename in NAMELESS or not linecache.getlines(code.co_filename)
        return nameless or code.co_filename.startswith(_STANDARD)
    return (key.startswith("__") and key.endswith("__")) or key in _OF_PYTHON or isinstance(value, _FIELDS)


_STANDARD = sysconfig.get_path("stdlib")
_OF_PYTHON = frozenset({"_fields", "_field_defaults", "_abc_impl"})
_FIELDS = (types.MemberDescriptorType, type(vars(collections.namedtuple("_", "x"))["x"]))
