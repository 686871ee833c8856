"""The sweeps as Python: a function whose lines have the author's positions, and its text for reading."""

from __future__ import annotations

import ast
import functools
import math
import re
import types
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Place, UnsupportedSyntaxError
from ...parsing import compiled, parse
from ..base import ir
from ..base.places import MARK, Spots
from ..memory import heap, support
from .adjoint import Emitted
from .placing import Spot, factory_of, locate, placed_function, spots_of_lines
from .probes import Probes, Probing
from .spending import Spending
from .sweeps import Sweeps
from .tidy import Line, Node, Region, Writer, texts_of

_INDENT = "    "
_WIDE = 100  # characters: joining lines never makes one longer than this
_WORD = re.compile(r"\w+")
_RENAMED = re.compile(r"(\w+) = (\w+)")
_CHOICE = re.compile(r"if (not )?(.+):")
_GIVEN = re.compile(r"(\w+) = (.+)")
_SHAPE = re.compile(r"(\w+) = \w+\.shape")
_BRANCHES = re.compile(r"\b(if|or|and|not|lambda)\b")  # would need brackets in a conditional expression
_ENDS_OF_CONSTANTS = set("eO0123456789")
_CONSTANT = re.compile(r"(\w+(?: = \w+)*) = (None|True|False|0\.0|ZERO|-?\d+)")


@dataclass(frozen=True, eq=False)
class Compiled:
    """An emitted pass: `forward(*args)` gives `(y, back)`, or `y` alone if nothing is differentiated.

    The function has no globals yet, and its variable `closure`, if there is one, still has to be set to the
    cells of the author's function. `origins` has for each line of `text` the line of the author's file that
    it came from, or None for a line of ours.
    """

    forward: types.FunctionType
    text: str
    closure: str | None
    origins: tuple[int | None, ...]
    # For a fused pass: whether the cotangents can serve as the entries of the gradient unchanged,
    exact: bool = False
    entries: Any = None  # and if so, the pass that returns them without the value


class _Text:
    """The lines so far, each with its place."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.positions: list[ir.Position | None] = []
        self.nearest: list[ir.Position | None] = []  # a line of ours has that of the statement before it
        self.indent = ""
        self._last: list[ir.Position | None] = [None]  # by depth

    def put(self, text: str, position: ir.Position | None) -> None:
        """Add a line; names that one of the author's lines sets to the same constant share an assignment."""
        ends = text[-1:] in _ENDS_OF_CONSTANTS
        if ends and self.lines and self.positions[-1] == position and (given := _CONSTANT.fullmatch(text)):
            before = _CONSTANT.fullmatch(self.lines[-1][len(self.indent) :])
            if before and before[2] == given[2] and len(self.lines[-1]) + len(text) < _WIDE:
                self.lines[-1] = f"{self.indent}{before[1]} = {text}"
                return
        self.lines.append(self.indent + text)
        self.positions.append(position)
        self._last[-1] = position or self._last[-1]
        self.nearest.append(self._last[-1])

    def inside(self, header: str, position: ir.Position | None, body: Callable[[], None]) -> None:
        """Add a header, and below it the lines that `body` adds."""
        start = len(self.lines)
        self.put(header, position)
        self.indent += _INDENT
        self._last.append(self._last[-1])
        body()
        if len(self.lines) == start + 1:
            self.put("pass", None)
        self._last.pop()
        self.indent = self.indent[: -len(_INDENT)]
        if header == "else:" and not self._choose(start):
            self._join(start)

    def _choose(self, start: int) -> bool:
        """Turn an `if` and `else:` that only assign one name, on one line of the author's, into a conditional
        expression; return whether that was done.
        """
        first = start - 2
        if len(self.lines) != start + 2 or first < 0:
            return False
        texts = [line[len(self.indent) :] for line in self.lines[first:]]
        test, given, other = _CHOICE.fullmatch(texts[0]), _GIVEN.fullmatch(texts[1][4:]), None
        if test and given and texts[1].startswith(_INDENT):
            other = _GIVEN.fullmatch(texts[3][4:])
        at = self.positions[first]
        if not (test and given and other and given[1] == other[1]) or at is None:
            return False
        if any(place is not None and place[0] != at[0] for place in self.positions[first + 1 :]):
            return False
        chosen = _chosen(test[2], given[2], other[2]) if not test[1] else _chosen(test[2], other[2], given[2])
        if not chosen or len(self.indent) + len(given[1]) + len(chosen) > _WIDE:
            return False
        self.lines[first:] = [f"{self.indent}{given[1]} = {chosen}"]
        del self.positions[first + 1 :], self.nearest[first + 1 :]
        return True

    def _join(self, start: int) -> None:
        """Turn an `else:` with nothing but an `if` below it into an `elif`."""
        inner, size = self.indent + _INDENT, len(self.indent + _INDENT)
        first, *others = self.lines[start + 1 :]
        if first.startswith(f"{inner}if ") and all(
            x[size] == " " or x.startswith(("elif ", "else:"), size) for x in others
        ):
            joined = [f"{self.indent}el{first[size:]}", *(line[len(_INDENT) :] for line in others)]
            self.lines[start:] = joined
            del self.positions[start], self.nearest[start]

    def release(self, start: int, names: set[str]) -> None:
        """Add a `del` after the last line that reads each of these arrays, among the lines from `start` to
        the final `return`; arrays that a nested line mentions are left alone.
        """
        if not names:
            return
        inside = self.indent + _INDENT
        found: dict[str, int] = {}
        other_names: dict[str, str] = {}
        for number, line in enumerate(self.lines[start:], start):
            here = names.intersection(_WORD.findall(line))
            if line.startswith(inside) or line.endswith(":"):
                names = names - here
            found |= dict.fromkeys(here, number)
            renamed = _RENAMED.fullmatch(line.strip())
            if renamed and renamed[2] in names:
                other_names[renamed[2]] = renamed[1]
        for name, other in reversed(other_names.items()):  # one array: freed once both names are deleted
            names = names if other in names else names - {name}
            found[name] = max(found.get(name, 0), found.get(other, 0))
        last: dict[int, list[str]] = defaultdict(list)
        for name in sorted(names & found.keys()):
            last[found[name]].append(name)
        for number in sorted(last, reverse=True):
            if number < len(self.lines) - 1 and not self.lines[number].lstrip().startswith("del "):
                self.lines.insert(number + 1, f"{self.indent}del {', '.join(last[number])}")
                self.positions.insert(number + 1, None)
                self.nearest.insert(number + 1, self.nearest[number])

    def nodes(self, nodes: list[Node]) -> None:
        """Add the lines of a forward sweep."""
        for node in nodes:
            if isinstance(node, Region):
                for header, body in node.arms:
                    self.inside(header, node.position, functools.partial(self.nodes, body))
            else:
                assert isinstance(node, Line)
                self.put(node.text, node.position)

    def leave_out_shapes(self, end: int) -> int:
        """Remove our lines before `end` that read a shape which is never used; return how many."""
        ours = [number for number in range(end) if self.positions[number] is None]
        found = [(number, _SHAPE.fullmatch(self.lines[number], len(self.indent))) for number in ours]
        asked = {number: shape[1] for number, shape in found if shape is not None}
        read = Counter(word for line in self.lines for word in _WORD.findall(line)) if asked else Counter()
        unread = [number for number, name in asked.items() if read[name] == 1]
        for number in reversed(unread):
            del self.lines[number], self.positions[number], self.nearest[number]
        return len(unread)

    def give_second(self, first: str, before: str, after: str) -> None:
        """Make the text return only the second of two values, the `first` of which is a name, and replace
        the line `before` by `after`.
        """
        self.lines[self.lines.index(_INDENT + before)] = _INDENT + after
        self.lines[-1] = self.lines[-1].replace(f"return {first}, ", "return ", 1)

    def for_reading(self) -> tuple[list[str], tuple[int | None, ...]]:
        """The lines without our mark, and the author's line that each came from."""
        at = self.lines.index(_INDENT + repr(MARK))
        places = self.positions[:at] + self.positions[at + 1 :]
        return self.lines[:at] + self.lines[at + 1 :], tuple([None if p is None else p[0] for p in places])


def _chosen(test: str, then: str, other: str) -> str:
    """The conditional expression for two texts, or an empty one if it would be hard to read.

    >>> _chosen("t", "x", "-x"), _chosen("t", "t", "x > 0"), _chosen("t", "x > 0", "t")
    ('x if t else -x', 't or x > 0', 't and x > 0')
    """
    if any(map(_BRANCHES.search, (test, then, other))):
        return ""
    if then == test:
        return f"{test} or {other}"
    return f"{test} and {then}" if other == test else f"{then} if {test} else {other}"


def emit(
    emitted: Emitted,
    free: list[str],
    own: list[str],
    filename: str,
    first_line: int,
    probes: tuple[Probes, types.CodeType] | None = None,
) -> Compiled:
    """Compile both sweeps into one function.

    Captured variables are read from the cells of the author's function at each call; those in `own` hold the
    function itself. Every line keeps the position of the author's statement it came from. `probes` are
    called as the function with that code goes from line to line; the text does not show them.
    """
    text = _Text()
    sweeps, function = emitted.sweeps, emitted.function
    closure, begins = sweeps.fresh("closure") if free else None, 0

    def forward_lines() -> None:
        nonlocal begins
        text.put(repr(MARK), None)
        _read_captured(text, closure, free, function)
        text.nodes(emitted.forward)
        if emitted.reverse is None:
            text.put(f"return {emitted.result}", None)
            return
        begins = len(text.lines) + 1
        text.inside(f"def {emitted.back_name}({emitted.result_bar}{emitted.kept}):", None, reverse_lines)
        back = emitted.back_name
        if emitted.has_effects:
            back = sweeps.asked(heap.effectful, back)
        elif emitted.hands_on:
            back = sweeps.asked(heap.handing_on, emitted.result, back)
        text.put(f"return {emitted.result}, {back}", None)

    def reverse_lines() -> None:
        assert emitted.reverse is not None
        writer = Writer(text.put, text.inside, sweeps.shared_constant, sweeps.fresh)
        start = len(text.lines)
        given = writer.write(emitted.reverse, emitted.result_bar, _returned(emitted, free, own))
        text.put(f"return {given}", None)
        text.release(start, sweeps.bars_of_arrays() - {emitted.result_bar})

    text.inside(f"def {emitted.name}({', '.join(function.parameters)}):", None, forward_lines)
    probing = None if probes is None else _probing(emitted, *probes)
    reverse = range(begins, len(text.lines)) if begins else range(0)
    made = _compile(text, emitted, closure, filename, first_line, probing, reverse)
    lines, origins = text.for_reading()
    return Compiled(made, "\n".join(lines) + "\n", closure, origins)


def _read_captured(text: _Text, closure: str | None, free: list[str], function: ir.Function) -> None:
    """Add the lines that read captured variables (for the function's `cells`, the cell itself) and what
    captured functions hold.
    """
    for number, name in enumerate(free):
        if name in function.within:
            text.put(f"{name} = {''.join(function.within[name])}", None)
            continue
        content = "" if name in function.cells else ".cell_contents"
        text.put(f"{name} = {closure}[{number}]{content}", None)


def emit_fused(
    emitted: Emitted, free: list[str], count: int, only_finite: bool, filename: str, first_line: int
) -> Compiled:
    """Compile both sweeps into one function, for a gradient: the value is a real number, its cotangent 1.0,
    and captured variables are constants.

    It returns the value and the cotangents of the first `count` parameters, as `(y, x_bar, …)`, or as
    `(y, (x_bar, …))` if these are `exact`; then a second function returns `(x_bar, …)` only. The results
    equal those of the two separate sweeps, but since this runs once, values of the forward sweep are local
    variables, and arrays are freed, or their memory is reused, after their last use. With `only_finite` it
    returns None if the value (checked before the reverse sweep begins) or a cotangent is not finite.
    """
    assert emitted.reverse is not None
    text, sweeps, reverse, bar = _Text(), emitted.sweeps, emitted.reverse, emitted.result_bar
    returned = emitted.returned[len(free) : len(free) + count]
    no, closure = sweeps.shared_constant(support.NO), sweeps.fresh("closure") if free else None
    value = sweeps.fresh("value")
    both = f"{value}, {bar} = {emitted.result}, 1.0"
    writer = Writer(text.put, text.inside, sweeps.shared_constant, sweeps.fresh)
    begins, exact = 0, False

    def give_up(unless: str) -> None:
        if unless:
            text.inside(f"if not {unless}:", None, lambda: text.put("return None", None))

    def lines() -> None:
        nonlocal begins, exact
        text.put(repr(MARK), None)
        _read_captured(text, closure, free, emitted.function)
        text.nodes(emitted.forward)
        begins = len(text.lines)
        text.put(both, None)
        if only_finite:
            give_up(sweeps.asked(math.isfinite, value))
        writer.spending = Spending(emitted.lone, *texts_of(reverse, returned), sweeps.constants)
        given = writer.write(reverse, bar, "\n".join(returned)).split("\n")
        exact = all(map(sweeps.has_double_entry, emitted.function.parameters))
        exact = exact and writer.are_own(returned, sweeps.own_buffers(), no)
        if exact:
            given = ["None" if bar == no else bar for bar in given]
        bars = f"{', '.join(given)}{',' * (len(given) == 1)}"
        if only_finite:
            named = dict(zip(emitted.function.parameters, given))
            asked = {name: bar for name, bar in named.items() if bar not in (no, "None")}
            give_up(_all_finite(sweeps, asked, exact))
        text.put(f"return {value}, {f'({bars})' if exact else bars}", None)
        begins -= text.leave_out_shapes(begins)
        text.release(begins, (sweeps.bars_of_arrays() - {bar}) | sweeps.arrays_kept())

    text.inside(f"def {emitted.name}({', '.join(emitted.function.parameters)}):", None, lines)
    reverse_lines = range(begins + 1, len(text.lines) + 1)
    made = _compile(text, emitted, closure, filename, first_line, None, reverse_lines)
    printed, origins = text.for_reading()
    entries = None
    if exact:
        unread = emitted.result.isidentifier() and not only_finite
        text.give_second(value, both, f"{bar} = 1.0" if unread else both)
        entries = _compile(text, emitted, closure, filename, first_line, None, reverse_lines)
    return Compiled(made, "\n".join(printed) + "\n", closure, origins, exact, entries)


def _all_finite(sweeps: Sweeps, given: dict[str, str], of_arrays: bool) -> str:
    """The text of a test whether all these cotangents (texts by the name of the parameter) are finite; empty
    if there are none. `of_arrays` says that they certainly are arrays.
    """
    if of_arrays and len(given) == 2:
        return sweeps.asked(support.both_finite, *given.values())
    zero, tests, others = sweeps.shared_constant(support.ZERO, "ZERO"), [], []
    for name, bar in given.items():
        if of_arrays and len(given) == 1:
            tests.append(sweeps.asked(math.isfinite, sweeps.asked(np.vdot, bar, bar)))
        elif sweeps.has_real_bar(name):
            tests.append(f"({bar} is {zero} or {sweeps.asked(math.isfinite, bar)})")
        else:
            others.append(bar)
    if others:
        tests.append(sweeps.asked(support.are_finite, f"({', '.join(others)},)"))
    return f"({' and '.join(tests)})" if tests else ""


def _returned(emitted: Emitted, free: list[str], own: list[str]) -> str:
    """The text of the cotangents: first that of the function (what it captures), then the parameters'."""
    no = emitted.sweeps.shared_constant(support.NO)
    captured = dict(zip(free, emitted.returned[: len(free)], strict=True))
    pairs = [f"{name}={bar}" for name, bar in captured.items() if bar != no and name not in own]
    self_bar = emitted.sweeps.asked(support.captured, *pairs) if pairs else no
    for name in own:
        if captured[name] != no:
            self_bar = emitted.sweeps.asked(support.add, self_bar, captured[name], base="add")
    return f"({', '.join([self_bar, *emitted.returned[len(free) :]])},)"


def _probing(emitted: Emitted, probes: Probes, code: types.CodeType) -> Probing:
    named = emitted.sweeps.shared_constant
    names = {name: named(getattr(probes, name), name) for name in ("enter", "tick", "leave")}
    return Probing(probes, code, names, emitted.sweeps.fresh("depth"))


def _compile(
    text: _Text,
    emitted: Emitted,
    closure: str | None,
    filename: str,
    first_line: int,
    probing: Probing | None,
    reverse: range,
) -> Any:
    """Compile a text into its function, which finds the constants in closure variables, not in globals, and
    the cells of the author's function in `closure`, None so far. `reverse` are the reverse sweep's lines.
    """
    constants = emitted.sweeps.constants if closure is None else {**emitted.sweeps.constants, closure: None}
    spots = Spots()
    places = spots_of_lines(text.nearest, first_line, spots, reverse)
    try:
        if probing is None:
            made = placed_function(text.lines, emitted.name, constants, filename, places)
        else:
            made = _probed(text, emitted.name, constants, filename, places, probing)
    except (SyntaxError, MemoryError, RecursionError) as error:  # depth is all that can fail in our text
        place = Place(filename, first_line, None, None, emitted.name, None)
        raise UnsupportedSyntaxError(
            f"The pass of {emitted.name}() is nested too deeply for Python: {error}",
            place=place,
            fixes=("move some of it to a function of its own",),
            read="limitations#syntax",
        ) from error
    if spots.places:
        made.__code__ = made.__code__.replace(co_consts=(*made.__code__.co_consts, spots.bodies()))
    if not emitted.function.name.isidentifier():  # messages and tracebacks say `<lambda>`
        made.__code__ = made.__code__.replace(co_name=emitted.function.name)
    return made


def _probed(
    text: _Text, name: str, constants: dict[str, Any], filename: str, places: list[Spot], probing: Probing
) -> types.FunctionType:
    """Compile a text into its function, with probes inserted into its syntax tree."""
    inner = parse("\n".join(text.lines)).body[0]
    locate(inner, places)
    probing.insert(inner)
    arguments = ast.arguments([], [ast.arg(constant) for constant in constants], None, [], [], None, [])
    factory = ast.FunctionDef("factory", arguments, [inner, ast.Return(ast.Name(name, ast.Load()))], [])
    ast.copy_location(factory, inner)
    module = ast.fix_missing_locations(ast.Module([factory], []))
    return factory_of(compiled(module, filename))(*constants.values())
