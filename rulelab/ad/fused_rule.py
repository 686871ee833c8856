"""Join a rule, its pullback and the checks that `gradient` makes around them into one function.

A pullback is a closure, since it may be called again. A gradient calls it once, right after the rule; so the
statements of both can be put into one function, in which what the pullback captures is a variable like any
other. That saves calls, a closure and tuples, which take longer than a short rule. The statements are the
author's, with their line numbers and globals; the checks are those of `by_rule`.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from sys import getrefcount
from types import CellType, CodeType, FunctionType
from typing import Any

from numpy import float64, ndarray

from ..compiler.base.source import find_source, remember
from ..compiler.calls.entries import FLOAT64, NO
from ..compiler.memory.reach import LOOKING_AROUND
from ..errors import RuleLabError
from ..parsing import cloned, compiled_within, nodes_of, parse
from .fresh_cotangents import FreshCotangents
from .natural import ALONE

_STATEMENTS = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Raise),
    *(ast.If, ast.For, ast.While, ast.With, ast.Break, ast.Continue, ast.Pass),
)
_WITH_VARIABLES_OF_THEIR_OWN = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NOT_WITHIN = (*_WITH_VARIABLES_OF_THEIR_OWN, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_NAMED_BY = {ast.Name: "id", ast.Attribute: "attr", ast.keyword: "arg"}
_SPECIAL = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200  # *args, **kwargs, generators and coroutines
_SEES_VARIABLES = LOOKING_AROUND | {"dir", "super", "breakpoint"}

# Templates for the code around the author's statements. Each {name} is a variable that the author does not
# use.
_NOT_FOR = {
    float: "{type}({x}) is not {float}",
    FLOAT64: "{type}({x}) is not {ndarray} or {x}.dtype is not {FLOAT64}",
}
_BEGIN = """
if {others} or {is_outdated}:
    return {plain}({f}, {xs})
{happened} = {loud}[0]
"""
_SEED = (
    "{y_bar} = {one} if {type}({y}) is {float64} or {type}({y}) is {float} else {seed}({f}, ({xs},), {y})\n"
)
_FITS = {
    float: "{type}({bar}) is {float}",
    # for vectors it is faster to compare the length
    FLOAT64: """(
    {type}({bar}) is {ndarray} and {bar}.dtype is {FLOAT64} and {bar}.base is None
    and {getrefcount}({bar}) == {alone} and {bar}.flags.writeable
    and ({len}({bar}) == {len}({x}) if {bar}.ndim == 1 == {x}.ndim else {bar}.shape == {x}.shape)
    )""",
}
# For cotangents that `FreshCotangents` is certain of: arrays of one shape with axes, and a seed that is a
# float.
_NOT_ALIKE = {
    1: "not {0}.ndim",
    2: "({len}({0}) != {len}({1}) if {0}.ndim == 1 == {1}.ndim else not {0}.ndim or {0}.shape != {1}.shape)",
}
_FRESH = "({y_bar} is {one} or {fits})"
_END = """
if {own} is {NO} and {fit}:
    return ({bars},)
return {in_full}({f}, ({xs},), ({own}, {bars}))
"""
_CATCH = """
try:
    pass
except {RuleLabError} as {error}:
    if {begins_again}({error}, {f}, ({xs},), {happened}):
        return None
    raise
"""
_OURS = (type, float, float64, ndarray, getrefcount, len)


def joined(
    rule: FunctionType, kinds: tuple[Any, ...], is_outdated: str, given: Mapping[str, Any]
) -> FunctionType | None:
    """Return a function of `f` and arguments of these kinds (`float` or the dtype FLOAT64) that gives the
    entries of the gradient by a rule; None if the source of the rule is not simple enough, or not available.

    `is_outdated` is an expression that is true if the rule or its source may no longer apply; then, and for
    arguments of other kinds, `plain(f, *args)` answers. `given` maps the names in `is_outdated`, and these:
    `plain`; `seed(f, args, y)`, for a value that is not a float; `in_full(f, args, cotangents)`, which checks
    cotangents that fail the quick test; `begins_again`, for errors.
    """
    code, inner = rule.__code__, _pullback_in(rule.__code__)
    if inner is None or not _is_plain(code, len(kinds)) or code.co_freevars:
        return None
    if rule.__defaults__ or rule.__kwdefaults__:
        return None
    if not _SEES_VARIABLES.isdisjoint((*code.co_names, *inner.co_names)):
        return None
    try:
        source = find_source(code)
    except RuleLabError:
        return None
    parts = _Parts.of(source.node, len(kinds))
    if parts is None:
        return None
    words: dict[str, Any] = {one.__name__: one for one in _OURS}
    words |= {"FLOAT64": FLOAT64, "NO": NO, "RuleLabError": RuleLabError, "one": 1.0, **given}
    words["alone"] = ALONE
    names = _names_beside(code, inner)
    ours = {word: next(names) for word in (*words, "f", "y", "own", "happened", "error")}
    made = compiled_within(
        _Writer(parts, code, inner, ours, names).written(kinds, is_outdated),
        code.co_filename,
        [ours[word] for word in words],
    )
    made = made.replace(co_qualname=code.co_qualname)
    remember(made, source)
    values = {ours[word]: value for word, value in words.items()}
    cells = tuple([CellType(values[name]) for name in made.co_freevars])
    return FunctionType(made, rule.__globals__, rule.__name__, None, cells)


def like_pullback(rule: FunctionType) -> FunctionType | None:
    """Return a function with the name and location of the pullback of a joined rule, for messages. It is
    never called.
    """
    code = _pullback_in(rule.__code__)
    if code is None:
        return None
    cells = tuple([CellType() for _ in code.co_freevars])
    return FunctionType(code, rule.__globals__, code.co_name, None, cells)


def _pullback_in(code: CodeType) -> CodeType | None:
    """The code of the only function defined in a rule; None if there is none or more than one, or if it is
    not plain.
    """
    inside = _codes_in(code)
    return inside[0] if len(inside) == 1 and _is_plain(inside[0], 1) and not _codes_in(inside[0]) else None


def _codes_in(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if type(constant) is CodeType]


def _is_plain(code: CodeType, count: int) -> bool:
    """Whether this is the code of a function with exactly `count` positional arguments and no others."""
    return code.co_argcount == count and not code.co_kwonlyargcount and not code.co_flags & _SPECIAL


def _names_beside(*codes: CodeType) -> Iterator[str]:
    """Yield names that occur in none of these code objects."""
    taken = {name for code in codes for name in (*code.co_names, *code.co_varnames, *code.co_cellvars)}
    return (name for number in itertools.count() if (name := f"own_{number}") not in taken)


@dataclass(frozen=True)
class _Parts:
    """A rule taken apart: its statements, and its `return` of the `value` and the pullback; the parameter
    and the statements of the pullback, and its `return` of the `cotangents`.
    """

    rule: ast.FunctionDef
    statements: list[ast.stmt]
    answer: ast.Return
    value: ast.expr
    y_bar: str
    backwards: list[ast.stmt]
    found: ast.Return
    cotangents: list[ast.expr]

    @classmethod
    def of(cls, rule: ast.AST, count: int) -> _Parts | None:
        """Return the parts; None if the rule has a different form, or contains something that would mean
        something else in another function.
        """
        match rule:
            case ast.FunctionDef(
                body=[*rest, ast.Return(value=ast.Tuple(elts=[value, ast.Name(id=name)])) as answer]
            ):
                pass
            case _:
                return None
        match [one for one in rest if isinstance(one, ast.FunctionDef)]:
            case [
                ast.FunctionDef(
                    decorator_list=[],
                    args=ast.arguments(defaults=[]) as arguments,
                    body=[*backwards, ast.Return(value=ast.Tuple(elts=cotangents)) as found],
                ) as pullback
            ] if pullback.name == name and len(cotangents) == 1 + count:
                pass
            case _:
                return None
        statements = [one for one in rest if one is not pullback]
        nodes = _nodes([*statements, value, *backwards, *cotangents])
        if not all(map(_may_move, nodes)) or any(
            isinstance(one, ast.Name) and one.id == name for one in nodes
        ):
            return None
        if not _stored(statements).isdisjoint(one.arg for one in _parameters(rule.args)):
            return None
        (y_bar,) = _parameters(arguments)
        return cls(rule, statements, answer, value, y_bar.arg, backwards, found, cotangents)


@dataclass(frozen=True)
class _Writer:
    """Writes the one function from the parts of a rule and the code of the rule and its pullback. `ours` maps
    the placeholders of the templates above to the names of our variables, and `names` yields more names.
    """

    parts: _Parts
    code: CodeType
    inner: CodeType
    ours: dict[str, str]
    names: Iterator[str]

    def written(self, kinds: tuple[Any, ...], is_outdated: str) -> ast.FunctionDef:
        """Return the syntax tree, for arguments of these kinds."""
        parts, ours = self.parts, self.ours
        node = cloned(parts.rule)
        node.decorator_list, node.returns, node.type_comment = [], None, None
        parameters = _parameters(node.args)
        for one in parameters:
            one.annotation = one.type_comment = None
        given = [one.arg for one in parameters]
        words = {**ours, "xs": ", ".join(given)}
        # A local variable of the pullback is renamed if the rule uses the same name, since it is a different
        # variable.
        of_rule = {*self.code.co_varnames, *self.code.co_cellvars, *self.code.co_names}
        renamed = {name: next(self.names) if name in of_rule else name for name in self.inner.co_varnames}
        backwards = [cloned(one) for one in parts.backwards]
        cotangents = [cloned(one) for one in parts.cotangents]
        for one in _nodes([*backwards, *cotangents]):
            if type(one) is ast.Name:
                one.id = renamed.get(one.id, one.id)
        y_bar = words["y_bar"] = renamed[parts.y_bar]
        arrays = [x for x, kind in zip(given, kinds) if kind is FLOAT64]
        floats = [x for x, kind in zip(given, kinds) if kind is float]
        fresh = FreshCotangents(
            [*parts.statements, *backwards], parts.value, cotangents, arrays, [*floats, y_bar]
        )

        certain = [on and kind is FLOAT64 for on, kind in zip(fresh.of[1:], kinds)]
        others = [_NOT_FOR[kind].format(x=x, **ours) for kind, x in zip(kinds, given)]
        if any(certain):
            others += [_NOT_ALIKE[len(arrays)].format(*arrays, **ours)]
            others += ["len is not {len}".format(**ours)] if fresh.asks_lengths else []
        outdated = is_outdated.format(**ours)
        head = self._made(parts.rule, _BEGIN, words, others=" or ".join(others), is_outdated=outdated)
        # Variables that the pullback does not capture are freed when the rule returns.
        gone = sorted(_stored_at_once(parts.statements).difference(self.code.co_cellvars))
        seeded = self._made(parts.answer, _SEED + (f"del {', '.join(gone)}" if gone else ""), words)
        variables = {*self.code.co_varnames, *self.code.co_cellvars, *renamed.values()}
        kept, bars = self._kept(cotangents, variables)
        fit = [_FITS[kind].format(bar=bar, x=x, **ours) for kind, bar, x in zip(kinds, bars, given)]
        fit = [_FRESH.format(fits=one, **words) if on else one for one, on in zip(fit, certain)]
        end = self._made(parts.found, _END, words, fit=" and ".join(fit), bars=", ".join(bars))
        (whole,) = self._made(parts.rule, _CATCH, words)
        value = self._assigned(ours["y"], cloned(parts.value), parts.answer)
        whole.body = [*map(cloned, parts.statements), value, *seeded, *backwards, *kept, *end]
        (node.args.posonlyargs or node.args.args).insert(0, ast.arg(ours["f"]))
        node.body = [*head, whole]
        return node

    def _kept(self, cotangents: list[ast.expr], variables: set[str]) -> tuple[list[ast.stmt], list[str]]:
        """Assign the cotangents to variables; also return the names of those of the arguments. A cotangent
        that is already in a variable, and is not returned twice, stays there.
        """
        named = [one.id for one in cotangents if isinstance(one, ast.Name)]
        kept, bars = [self._assigned(self.ours["own"], cotangents[0], self.parts.found)], []
        for one in cotangents[1:]:
            if isinstance(one, ast.Name) and named.count(one.id) == 1 and one.id in variables:
                bars.append(one.id)
            else:
                bars.append(next(self.names))
                kept.append(self._assigned(bars[-1], one, self.parts.found))
        return kept, bars

    def _made(self, at: ast.AST, text: str, words: dict[str, str], **more: str) -> list[Any]:
        """Return the statements of a template, at the location of one of the author's nodes."""
        made = parse(text.format(**words, **more)).body
        for one in _nodes(made):
            if isinstance(one, (ast.stmt, ast.expr, ast.excepthandler)):
                ast.copy_location(one, at)
        return made

    def _assigned(self, name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
        """Return an assignment to one of our variables, at the location of `at`."""
        target = ast.copy_location(ast.Name(name, ast.Store()), at)
        return ast.copy_location(ast.Assign([target], value), at)


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args]


def _nodes(trees: Iterable[ast.AST]) -> list[Any]:
    return [node for tree in trees for node in nodes_of(tree)]


def _may_move(node: ast.AST) -> bool:
    """Whether a node of a rule means the same in another function that has all of its variables."""
    if isinstance(node, ast.stmt):
        return isinstance(node, _STATEMENTS)
    name = getattr(node, _NAMED_BY.get(type(node), ""), None) or ""
    if name.startswith("__") and not name.endswith("__"):  # a name that is mangled in a class
        return False
    return not isinstance(node, (*_NOT_WITHIN, ast.Starred))


def _stored(trees: Iterable[ast.AST]) -> set[str]:
    """The variables that are assigned anywhere in these trees."""
    return {node.id for node in _nodes(trees) if type(node) is ast.Name and type(node.ctx) is not ast.Load}


def _stored_at_once(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that certainly have a value after these statements."""
    targets = [target for one in statements if isinstance(one, ast.Assign) for target in one.targets]
    targets += [one.target for one in statements if isinstance(one, ast.AnnAssign) and one.value is not None]
    return _stored(targets)
