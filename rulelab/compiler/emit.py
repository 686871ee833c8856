"""The sweeps as Python: a function whose lines are those of the author, and its text for reading."""

from __future__ import annotations

import ast
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Place, UnsupportedSyntaxError
from ..parsing import compiled, parse
from . import heap, ir, support
from .adjoint import Emitted
from .probes import Probes, Probing
from .tidy import Line, Node, Region, Sum

_INDENT = "    "
MARK = "A pass of rulelab: the forward sweep of the author's function."


@dataclass(frozen=True, eq=False)
class Compiled:
    """An emitted pass: `forward(*args)` gives `(y, back)`, or `y` alone if nothing is differentiated.

    It has no globals yet, and no function to read captured variables from: that goes into its closure cell
    number `slot`, if there is one. `origins` has for each line of `text` the line of the author's file that
    it came from, None for a line of ours.
    """

    forward: types.FunctionType
    text: str
    slot: int | None
    origins: tuple[int | None, ...]


class _Text:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.positions: list[ir.Position | None] = []

    def put(self, depth: int, text: str, position: ir.Position | None) -> None:
        self.lines.append(_INDENT * depth + text)
        self.positions.append(position)

    def nodes(self, depth: int, nodes: list[Node], add: str) -> None:
        if not nodes:
            self.put(depth, "pass", None)
        for node in nodes:
            if isinstance(node, Line):
                self.put(depth, node.text, node.position)
            elif isinstance(node, Sum):
                text = (
                    f"{node.bar} += {node.text}"
                    if node.real
                    else f"{node.bar} = {add}({node.bar}, {node.text})"
                )
                self.put(depth, text, node.position)
            else:
                assert isinstance(node, Region)
                for header, body in node.arms:
                    self.put(depth, header, node.position)
                    self.nodes(depth + 1, body, add)

    def for_reading(self) -> tuple[list[str], tuple[int | None, ...]]:
        """The lines without our mark, and the author's line that each came from."""
        kept = [pair for pair in zip(self.lines, self.positions) if pair[0] != _INDENT + repr(MARK)]
        return [line for line, _ in kept], tuple(None if place is None else place[0] for _, place in kept)


def emit(
    emitted: Emitted,
    free: list[str],
    own: list[str],
    filename: str,
    first_line: int,
    probes: tuple[Probes, types.CodeType] | None = None,
) -> Compiled:
    """Compile both sweeps into one function.

    Captured variables are read from the cells of the author's function at each call; `own` are those of them
    that hold the function itself. Every line keeps the position of the author's statement it came from.
    `probes` are called as the function with that code goes from line to line; the text is without them.
    """
    text = _Text()
    closure, add = emitted.fresh("function"), emitted.helper(support.add, "add")
    text.put(0, f"def {emitted.name}({', '.join(emitted.parameters)}):", None)
    text.put(1, repr(MARK), None)
    for number, name in enumerate(free):
        content = "" if name in emitted.cells else ".cell_contents"
        text.put(1, f"{name} = {closure}.__closure__[{number}]{content}", None)
    if emitted.forward:
        text.nodes(1, emitted.forward, add)
    if emitted.reverse is None:
        text.put(1, f"return {emitted.result}", None)
    else:
        text.put(1, f"def {emitted.back_name}({emitted.result_bar}):", None)
        if emitted.reverse:
            text.nodes(2, emitted.reverse, add)
        text.put(2, f"return {_returned(emitted, free, own, add)}", None)
        back = emitted.back_name
        if emitted.has_effects:
            back = f"{emitted.helper(heap.effectful, 'effectful')}({back})"
        elif emitted.hands_on:
            back = f"{emitted.helper(heap.handing_on, 'handing_on')}({emitted.result}, {back})"
        text.put(1, f"return {emitted.result}, {back}", None)
    probing = None if probes is None else _probing(emitted, *probes)
    constants = {**emitted.constants, closure: None} if free else emitted.constants
    forward = _compile(text, emitted, constants, filename, first_line, probing)
    lines, origins = text.for_reading()
    slot = forward.__code__.co_freevars.index(closure) if free else None
    return Compiled(forward, "\n".join(lines) + "\n", slot, origins)


def _returned(emitted: Emitted, free: list[str], own: list[str], add: str) -> str:
    """The cotangents: of the function itself (of what it captures), then of each parameter."""
    no = emitted.helper(support.NO, "NO")
    captured = dict(zip(free, emitted.returned[: len(free)], strict=True))
    pairs = [f"{name}={bar}" for name, bar in captured.items() if bar != no and name not in own]
    self_bar = f"{emitted.helper(support.captured, 'captured')}({', '.join(pairs)})" if pairs else no
    for name in own:
        if captured[name] != no:
            self_bar = f"{add}({self_bar}, {captured[name]})"
    return f"({', '.join([self_bar, *emitted.returned[len(free) :]])},)"


def _probing(emitted: Emitted, probes: Probes, code: types.CodeType) -> Probing:
    names = {name: emitted.helper(getattr(probes, name), name) for name in ("enter", "tick", "leave")}
    return Probing(probes, code, names, emitted.fresh("depth"))


def _compile(
    text: _Text,
    emitted: Emitted,
    constants: dict[str, Any],
    filename: str,
    first_line: int,
    probing: Probing | None,
) -> Any:
    """Wrap the function in one that takes the named objects: they become closure variables, not globals."""
    try:
        inner = parse("\n".join(text.lines)).body[0]
    except (SyntaxError, MemoryError, RecursionError) as error:  # of depth, since the text is ours
        place = Place(filename, first_line, None, None, emitted.name, None)
        raise UnsupportedSyntaxError(
            f"The pass of {emitted.name}() is nested too deeply for Python: {error}",
            place=place,
            fixes=("move some of it to a function of its own",),
            read="limitations#syntax",
        ) from error
    _locate(inner, text.positions, first_line)
    if probing is not None:
        assert isinstance(inner, ast.FunctionDef)
        probing.insert(inner)
    arguments = [ast.arg(constant) for constant in constants]
    factory = ast.FunctionDef(
        "factory",
        ast.arguments([], arguments, None, [], [], None, []),
        [inner, ast.Return(ast.Name(emitted.name, ast.Load()))],
        [],
    )
    module = ast.Module([factory], [])
    for node in (factory, *factory.body[1:], *arguments, factory.args):
        ast.copy_location(node, inner)
    ast.fix_missing_locations(module if probing is not None else factory.body[-1])  # all else has its place
    code = compiled(module, filename)
    factory_code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    made = types.FunctionType(factory_code, {})(*constants.values())
    if not emitted.shown.isidentifier():  # a lambda, which messages and tracebacks call by that name
        made.__code__ = made.__code__.replace(co_name=emitted.shown)
    return made


def _locate(tree: ast.stmt, positions: list[ir.Position | None], first_line: int) -> None:
    """Give every node the place of the author's statement; lines of ours stand at the function's first
    line.
    """
    last = [ir.Position((first_line, first_line, 0, 0))] * (len(positions) + 1)
    for number, position in enumerate(positions):
        last[number + 1] = position or last[number]
    nodes: list[Any] = [tree]  # grows while it is gone through; `ast.walk` takes twice as long
    for node in nodes:
        for field in () if type(node) in _WITHOUT_PARTS else node._fields:
            part = getattr(node, field, None)
            if type(part) is list:
                nodes += [inner for inner in part if isinstance(inner, ast.AST)]
            elif isinstance(part, ast.AST) and part._fields:  # contexts and operators have none, and no place
                nodes.append(part)
        if node._attributes:
            node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = last[node.lineno]


_WITHOUT_PARTS = (ast.Name, ast.Constant)


_PACKAGE = Path(__file__).parent.parent
# Where the stand-ins are, and the forward rules: programs of the house that are differentiated themselves.
_STAND_INS = tuple(
    str(_PACKAGE / part)
    for part in (
        "rulesets",
        "rules/scalar.py",
        "rules/constant.py",
        "rules/programs.py",
        "tangents/forms.py",
        "tangents/in_step.py",
        "ad/mark_tangents.py",
        "ad/nested.py",
        "checking/differentiated.py",
    )
)


def is_stand_in(filename: str) -> bool:
    """Whether code of this file stands in for functions of Python's, or is a forward rule of the house: it is
    compiled, and no line of it is the author's."""
    return filename.startswith(_STAND_INS)


def calls_leading_here() -> tuple[Place, ...]:
    """The author's lines that the running passes are at, outermost first."""
    found = []
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(Place.of_frame(frame))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(reversed(found))


def place_in_passes(error: BaseException) -> tuple[Place | None, tuple[Place, ...]]:
    """The author's line that an error passed through, innermost, and the lines that called it, outermost
    first.
    """
    found = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_consts and code.co_consts[0] == MARK and not is_stand_in(code.co_filename):
            found.append(Place.of_frame(trace.tb_frame)._replace(line=trace.tb_lineno))
        trace = trace.tb_next
    return (found[-1], tuple(found[:-1])) if found else (None, ())
