"""The syntax tree of a function to the intermediate form: every value named once, evaluation order kept."""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from . import asking, ir
from .consumers import consumes_first, is_quiet
from .fence import check, refusal
from .jumps import RESULT, Straightened
from .ownership import Ownership, is_append
from .plainer import Ask, Collect, Plain, plain
from .source import Source, is_of
from .types import IMMORTAL

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not_", ast.Invert: "invert"}
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def parameters_of(code: types.CodeType) -> tuple[str, ...]:
    """The names of the parameters: positional, keyword-only, then `*args` and `**kwargs` where there are."""
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


@dataclass(frozen=True)
class Surroundings:
    """What the lowering may know about names outside the function."""

    find_global: Callable[[str], Any]  # the object now bound to a global or builtin name, or ir.UNBOUND
    reads_only: Callable[[Any], bool]  # whether a callable keeps and shares nothing of its arguments
    makes_fresh: Callable[[Any], bool]  # whether a callable returns a new object


def lower(
    source: Source, code: types.CodeType, around: Surroundings, cells: frozenset[str] = frozenset()
) -> ir.Function:
    """The function in the intermediate form; raises UnsupportedSyntaxError for what is not taken.

    `cells` are its captured variables that are rebound while it may run.
    """
    check(source, code)
    shared: set[str] = set()
    while True:
        try:
            given = plain(_with_private_names(source, code))
            return _Lowerer(given, code, around, cells, shared).function()
        except _PerhapsUnbound as found:
            shared.add(found.name)


class _PerhapsUnbound(Exception):
    """A nested function captures a variable that may have no value yet: it has to live in a cell."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Lowerer:
    def __init__(
        self,
        given: Plain,
        code: types.CodeType,
        around: Surroundings,
        cells: frozenset[str],
        shared: set[str],
    ) -> None:
        self.source = source = given.source
        self.closing = given.closing
        self.code = code
        self.around = around
        self.local = set(code.co_varnames) | set(code.co_cellvars)
        self.free = set(code.co_freevars)
        self.names = Names(self.local | self.free, set(code.co_names))
        self.env: dict[str, ir.Atom] = {}
        self.block: ir.Block = []
        self.slots: list[dict[str, str]] = []
        self.assumed: dict[str, Any] = {}
        self.nested = list(_nested_codes(code))
        self.renaming: dict[str, str] = {}
        self.statement: ast.AST = source.node
        self.rebound = rebound_captures(source.node, set(code.co_cellvars)) | shared
        self.cells: dict[str, ir.Atom] = {name: name for name in cells}  # the cells of such variables
        self.ownership = Ownership(source.node, self._reads_only, self._makes_fresh)

    # -- the whole -------------------------------------------------------------------------------------------

    def function(self) -> ir.Function:
        node, code = self.source.node, self.code
        parameters = []
        for name in parameters_of(code):
            parameters.append(self.names.exact(name))
            self.env[name] = parameters[-1]
        for name in code.co_freevars:
            self.env[name] = self.names.exact(name)
        for name in sorted(self.rebound):
            self._make_cell(name, self.env.pop(name, _UNBOUND), node)
        body = node.body if isinstance(node, ast.FunctionDef) else [_returning(node.body)]
        straight = Straightened(body, self.closing)
        self.stop_of = straight.stop_of
        self._statements(straight.body)
        result = self.env[RESULT]
        return ir.Function(
            code.co_name,
            parameters,
            code.co_argcount,
            code.co_kwonlyargcount,
            list(code.co_freevars),
            frozenset(name for name in code.co_freevars if name in self.cells),
            self.block,
            result,
            self.names.fresh,
            self.names.taken,
            self.assumed,
        )

    # -- names -----------------------------------------------------------------------------------------------

    def _known(self, node: ast.expr) -> Any:
        """The object that a dotted global name stands for now, or UNBOUND."""
        if isinstance(node, ast.Name) and node.id not in self.local and node.id not in self.free:
            return self.around.find_global(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._known(node.value)
            if isinstance(owner, (types.ModuleType, type)):
                return getattr(owner, node.attr, ir.UNBOUND)
        return ir.UNBOUND

    def _is_builtin(self, node: ast.expr, name: str) -> bool:
        if isinstance(node, ast.Name) and node.id == name and self._known(node) is getattr(builtins, name):
            self.assumed[name] = getattr(builtins, name)
            return True
        return False

    def _reads_only(self, node: ast.Call) -> bool:
        known = self._known(node.func)
        if any(known is f for f in (max, min, sum)) and (
            len(node.args) != 1 or node.keywords
        ):  # may return an argument, or a row of one
            return False
        return not _may_share(node) and self.around.reads_only(known)

    def _makes_fresh(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.List, ast.ListComp, ast.Dict, ast.Constant, ast.BinOp)):
            return True
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub)
        return (
            isinstance(node, ast.Call)
            and not _may_share(node)
            and self.around.makes_fresh(self._known(node.func))
        )

    def _make_cell(self, name: str, first: ir.Atom, node: ast.AST) -> None:
        """The variable lives in a cell from here on: nested functions see it, and it is rebound."""
        self.cells[name] = self._let(ir.MakeCell(first), node, f"{_base_of(name)}_cell")

    def _assign(self, name: str, atom: ir.Atom) -> None:
        if name in self.cells:
            self._let(ir.Write("cell", self.cells[name], ir.Const(name), atom), self.statement)
            return
        self.env[name] = atom
        for slots in self.slots:
            if name in slots:
                self.block.append(ir.Keep(self._position(), slots[name], atom))

    def _position(self, node: ast.AST | None = None) -> ir.Position:
        node = node or self.statement
        return ir.Position((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset))  # type: ignore[attr-defined]

    def _let(self, op: ir.Op, node: ast.AST, base: str = "t") -> str:
        target = self.names.fresh(base)
        self.block.append(ir.Let(self._position(node), target, op))
        return target

    def _inside(self, run: Callable[[], None]) -> tuple[ir.Block, dict[str, ir.Atom]]:
        """Run with a new block and a copy of the environment; give both, and restore."""
        block, env = self.block, self.env
        self.block, self.env = [], dict(env)
        run()
        made, after = self.block, self.env
        self.block, self.env = block, env
        return made, after

    # -- statements ------------------------------------------------------------------------------------------

    def _statements(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement = statement
            getattr(self, f"_do_{type(statement).__name__}")(statement)

    def _do_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            if name not in self.cells:
                raise refusal(
                    self.source,
                    node,
                    f"nonlocal {name}, a variable of a function that is not differentiated,",
                    ("return the value instead of rebinding a captured variable",),
                )

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if is_append(node.value) and self._append(node.value):  # type: ignore[arg-type]
            return
        self._expression(node.value)

    def _append(self, node: ast.Call) -> bool:
        name = node.func.value.id  # type: ignore[attr-defined]
        if name not in self.local or not self.ownership.owns(node):
            return False
        item = self._expression(node.args[0])
        target = self._let(ir.Append(self._read(name, node), item), node, name)
        self._assign(name, target)
        return True

    def _do_Assign(self, node: ast.Assign) -> None:
        targets = node.targets[0]
        if (
            len(node.targets) == 1
            and isinstance(targets, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(targets.elts) == len(node.value.elts)
            and not any(isinstance(e, ast.Starred) for e in (*targets.elts, *node.value.elts))
        ):
            values = [
                self._expression(v, base=_base(t)) for t, v in zip(targets.elts, node.value.elts, strict=True)
            ]
            for target, atom in zip(targets.elts, values, strict=True):
                self._store(target, atom)
            return
        patterns = all(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets)
        read = self._unpackable if patterns and len(node.targets) == 1 else self._expression
        value = read(node.value, base=_base(node.targets[0]))
        for target in node.targets:
            self._store(target, value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self._expression(node.value, base=_base(node.target)))
        elif not isinstance(node.target, ast.Name):
            self._expression(node.target.value)

    def _do_Global(self, node: ast.Global) -> None:
        pass

    def _do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            if target.id in self.free and target.id not in self.cells:
                raise refusal(self.source, target, f"del of {target.id}, which a nested function captures,")
            self._read(target.id, target)
            self._assign(target.id, _UNBOUND)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for inner in target.elts:
                self._delete(inner)
        elif isinstance(target, ast.Subscript):
            owner, key = self._expression(target.value), self._index(target.slice)
            self._let(ir.Write("delete item", owner, key, ir.Const(None)), target)
        else:
            assert isinstance(target, ast.Attribute)
            owner, name = self._expression(target.value), ir.Const(target.attr)
            self._let(ir.Write("delete attribute", owner, name, ir.Const(None)), target)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        operator = _BINARY[type(node.op)]
        target = node.target
        if isinstance(target, ast.Name):
            left = self._read(target.id, target)
            op = ir.Augmented(operator, left, self._expression(node.value), self.ownership.owns(node))
            self._assign(target.id, self._let(op, node, target.id))
            return
        if isinstance(target, ast.Subscript):
            owner, key = self._expression(target.value), self._index(target.slice)
            old = self._let(ir.Item(owner, key), target)
            new = self._let(ir.Augmented(operator, old, self._expression(node.value), False), node)
            self._let(ir.Write("item", owner, key, new, self._owned(target)), node)
            return
        owner = self._expression(target.value)
        old = self._let(ir.Attribute(owner, target.attr), target)
        new = self._let(ir.Augmented(operator, old, self._expression(node.value), False), node)
        self._let(ir.Write("attribute", owner, ir.Const(target.attr), new), node)

    def _store(self, target: ast.expr, value: ir.Atom) -> None:
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            star = next((k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
            if star is not None:
                self._store_starred(target, star, value)
                return
            sequence = self._let(ir.Unpack(value, len(target.elts)), target)
            for number, inner in enumerate(target.elts):
                item = self._let(ir.Item(sequence, ir.Const(number)), inner, _base(inner))
                self._store(inner, item)
        elif isinstance(target, ast.Subscript):
            owner, key = self._expression(target.value), self._index(target.slice)
            self._let(ir.Write("item", owner, key, value, self._owned(target)), target)
        else:
            assert isinstance(target, ast.Attribute)
            self._let(
                ir.Write("attribute", self._expression(target.value), ir.Const(target.attr), value), target
            )

    def _store_starred(self, target: ast.Tuple | ast.List, star: int, value: ir.Atom) -> None:
        """`a, *b, c = value`: the starred target gets a list of what the others leave."""
        after = len(target.elts) - 1 - star
        sequence = self._let(ir.Unpack(value, len(target.elts) - 1, or_more=True), target)
        for number, inner in enumerate(target.elts):
            if isinstance(inner, ast.Starred):
                upper = ir.Const(-after if after else None)
                part = self._let(ir.Slice(ir.Const(number), upper, ir.Const(None)), inner)
                some = self._let(ir.Item(sequence, part), inner)
                item = self._let(ir.Call(ir.Const(list), (some,)), inner, _base(inner.value))
                self._store(inner.value, item)
                continue
            index = number if number < star else number - len(target.elts)
            item = self._let(ir.Item(sequence, ir.Const(index)), inner, _base(inner))
            self._store(inner, item)

    def _owned(self, target: ast.Subscript) -> bool:
        return (
            isinstance(target.value, ast.Name)
            and target.value.id in self.local
            and self.ownership.owns_unread(target)
        )

    def _do_If(self, node: ast.If) -> None:
        self._choose(
            self._expression(node.test),
            lambda: self._statements(node.body),
            lambda: self._statements(node.orelse),
            node.test,
        )

    def _choose(
        self, test: ir.Atom, then: Callable[[], None], orelse: Callable[[], None], node: ast.AST
    ) -> None:
        if isinstance(test, ir.Const) and isinstance(test.value, bool):
            (then if test.value else orelse)()
            return
        position = self._position(node)
        then_block, then_env = self._inside(then)
        else_block, else_env = self._inside(orelse)
        outs = []
        for name in dict.fromkeys((*then_env, *else_env)):
            left, right = then_env.get(name, _UNBOUND), else_env.get(name, _UNBOUND)
            if not _equal(left, right):
                phi = ir.Phi(self.names.fresh(name), [left, right])
                self._note_unbound(phi)
                outs.append(phi)
                self.env[name] = phi.target
            elif name in then_env:
                self.env[name] = left
        self.block.append(ir.If(position, test, then_block, else_block, outs))

    def _note_unbound(self, phi: ir.Phi) -> None:
        """A join with a way in on which the variable has no value: reading it must check."""
        if any(self._may_be_unbound(source) for source in phi.sources):
            self.names.maybe_unbound.add(phi.target)

    def _do_While(self, node: ast.While) -> None:
        names = self._assigned([node.test, *node.body])
        carried, env = self._open_loop(names)
        outer, self.env = self.env, env
        result: list[ir.Atom] = []
        head, _ = self._inside(lambda: result.append(self._expression(node.test)))
        self.env = (
            env  # names made in the head stay there: only the test reads it, so it is not differentiated
        )
        body, body_env = self._inside(lambda: self._loop_body(node))
        self.env = outer
        stop = self._close_loop(node, names, carried, body_env)
        self.block.append(ir.While(self._position(node.test), head, result[0], body, carried, stop))

    def _do_For(self, node: ast.For) -> None:
        generator, start = self._generator_of(node.iter)
        if generator is not None:
            self._for_generated(node, generator, start)
            return
        assigning = [node.target, *node.body, node.iter]
        self._for(node, node.iter, node.target, lambda: self._loop_body(node), assigning)

    def _generator_of(self, iterable: ast.expr) -> tuple[ast.GeneratorExp | None, ast.expr | None]:
        """(the generator expression that a loop runs over, where `enumerate` around it starts to count)."""
        if isinstance(iterable, ast.GeneratorExp):
            return iterable, None
        if not isinstance(iterable, ast.Call) or not self._is_builtin(iterable.func, "enumerate"):
            return None, None
        starts = [*iterable.args[1:], *(k.value for k in iterable.keywords if k.arg == "start")]
        if len(starts) != len(iterable.args) - 1 + len(iterable.keywords) or not all(map(is_quiet, starts)):
            return None, None
        first = iterable.args[0] if iterable.args else None
        if not isinstance(first, ast.GeneratorExp) or len(starts) > 1:
            return None, None
        return first, starts[0] if starts else ast.copy_location(ast.Constant(0), iterable)

    def _for_generated(self, node: ast.For, generator: ast.GeneratorExp, start: ast.expr | None) -> None:
        """A loop over a generator expression: the body runs inside its loops, item by item."""
        counter = self.names.hidden()
        changed = _assigned([node.target, *node.body])
        if start is not None:
            self.env[counter] = self._expression(start)
            changed.append(counter)
        if node in self.stop_of:
            self.stop_of[generator] = self.stop_of[node]  # type: ignore[index]
        outside = self.renaming

        def run(scope: _Scope) -> None:
            item = self._expression(scope.renamed(generator.elt))
            inside, self.renaming = self.renaming, outside
            if start is None:
                self._store(node.target, item)
            else:
                number = self.env[counter]
                self.env[counter] = self._let(ir.Binary("add", number, ir.Const(1)), node.iter)
                pair = self._let(ir.Build("tuple", (number, item)), node.iter)
                self._store(node.target, pair)
            self._loop_body(node)
            self.renaming = inside

        self._comprehension(generator, changed, run)
        self.env.pop(counter, None)

    def _loop_body(self, node: ast.For | ast.While) -> None:
        self._statements(node.body)

    def _for(
        self,
        node: ast.AST,
        iterable: ast.expr,
        target: ast.expr,
        run: Callable[[], None],
        assigning: Sequence[ast.AST],
    ) -> None:
        pieces: list[_Piece] = []
        iteration = self._iteration(iterable, target, pieces)
        names = self._assigned(assigning)
        carried, env = self._open_loop(names)
        outer, self.env = self.env, env

        def body() -> None:
            for pattern, item in pieces:
                self._store(pattern, item if isinstance(item, str) else item())
            run()

        block, body_env = self._inside(body)
        self.env = outer
        stop = self._close_loop(node, names, carried, body_env)
        self.block.append(ir.For(self._position(iterable), iteration, block, carried, stop))

    def _assigned(self, nodes: Sequence[ast.AST]) -> list[str]:
        """The variables that these nodes give new values, those apart that live in cells."""
        return [name for name in _assigned(nodes) if name not in self.cells]

    def _open_loop(self, names: list[str]) -> tuple[list[ir.Phi], dict[str, ir.Atom]]:
        env = dict(self.env)
        carried = []
        for name in names:
            phi = ir.Phi(self.names.fresh(name), [self.env.get(name, _UNBOUND)])
            self._note_unbound(phi)
            env[name] = phi.target
            carried.append(phi)
        return carried, env

    def _close_loop(
        self, node: ast.AST, names: list[str], carried: list[ir.Phi], env: dict[str, ir.Atom]
    ) -> ir.Atom | None:
        for name, phi in zip(names, carried, strict=True):
            phi.sources.append(env.get(name, _UNBOUND))
            self.env[name] = phi.target
        flag = self.stop_of.get(node)  # type: ignore[call-overload]
        if flag is None:
            return None
        stop = env[flag]
        return None if isinstance(stop, ir.Const) and stop.value is False else stop

    def _iteration(self, iterable: ast.expr, target: ast.expr, pieces: list[_Piece]) -> ir.Iteration:
        """What is looped over, seen through zip, enumerate and range; `pieces` are the patterns to unpack."""
        if isinstance(iterable, ast.GeneratorExp) and len(iterable.generators) == 1:
            if not iterable.generators[0].ifs:
                return self._generated(iterable, target, pieces)
        if isinstance(iterable, ast.Call) and not any(isinstance(a, ast.Starred) for a in iterable.args):
            plain = not iterable.keywords
            parts = target.elts if isinstance(target, ast.Tuple) else None
            if plain and self._is_builtin(iterable.func, "range") and 1 <= len(iterable.args) <= 3:
                args = tuple(self._expression(a) for a in iterable.args)
                return ir.Count(args, self._item(target, pieces))
            strict = [k.value.value for k in iterable.keywords if isinstance(k.value, ast.Constant)]
            if (
                (plain or ([k.arg for k in iterable.keywords] == ["strict"] and strict))
                and parts
                and len(parts) == len(iterable.args)
                and self._is_builtin(iterable.func, "zip")
            ):
                return ir.Zipped(
                    [self._iteration(i, t, pieces) for i, t in zip(iterable.args, parts, strict=True)],
                    strict=bool(strict and strict[0]),
                )
            if plain and len(iterable.args) == 1 and self._is_builtin(iterable.func, "reversed"):
                return ir.Sequence(
                    self._expression(iterable.args[0]), self._item(target, pieces), backwards=True
                )
            starts = [*iterable.args[1:], *(k.value for k in iterable.keywords if k.arg == "start")]
            if (
                parts
                and len(parts) == 2
                and iterable.args
                and len(starts) == len(iterable.args) - 1 + len(iterable.keywords) <= 1
                and self._is_builtin(iterable.func, "enumerate")
            ):
                start = self._expression(starts[0]) if starts else ir.Const(0)
                counter = self._item(parts[0], pieces)
                return ir.Enumerated(counter, start, self._iteration(iterable.args[0], parts[1], pieces))
        value = self._columns(iterable, "t") or self._expression(iterable)
        return ir.Sequence(value, self._item(target, pieces))

    def _unpackable(self, node: ast.expr, base: str = "t") -> ir.Atom:
        """A value that is gone through at once and by nobody else."""
        if isinstance(node, ast.GeneratorExp):
            return self._get_ListComp(node, "t")
        return self._columns(node, base) or self._expression(node, base)

    def _columns(self, node: ast.expr, base: str) -> ir.Atom | None:
        """`zip(*rows)`, which is gone through at once; None for anything else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        rows = node.args[0]
        if not isinstance(rows, ast.Starred) or not self._is_builtin(node.func, "zip"):
            return None
        return self._let(ir.Collect("transposed", (self._unpackable(rows.value),)), node, base)

    def _generated(self, generator: ast.GeneratorExp, target: ast.expr, pieces: list[_Piece]) -> ir.Iteration:
        """What a generator expression without tests runs over; its item is made in the loop."""
        scope = self._scope(generator.generators)

        def item() -> ir.Atom:
            with self._renaming(scope):
                return self._expression(scope.renamed(generator.elt))

        first = generator.generators[0]
        iteration = self._iteration(first.iter, scope.renamed(first.target), pieces)
        pieces.append((target, item))
        return iteration

    def _item(self, target: ast.expr, pieces: list[_Piece]) -> str:
        name = self.names.fresh(_base(target))
        pieces.append((target, name))
        return name

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = [self._decorator(decorator) for decorator in node.decorator_list]
        made = self._make_function(node, node.name)
        for decorator, value in zip(reversed(node.decorator_list), reversed(decorators), strict=True):
            if isinstance(value, _Wraps):
                self._let(ir.Ask(asking.take_name, (made, value.function), "any"), decorator)
            else:
                made = self._let(ir.Call(value, (made,)), decorator, node.name)
        self._assign(node.name, made)

    def _decorator(self, node: ast.expr) -> ir.Atom | _Wraps:
        """What decorates; `functools.wraps(f)` changes no value, only what the function says of itself."""
        if isinstance(node, ast.Call) and self._known(node.func) is functools.wraps:
            if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
                self._expression(node.func)
                return _Wraps(self._expression(node.args[0]))
        return self._expression(node)

    def _code_of(self, node: ast.FunctionDef | ast.Lambda) -> types.CodeType:
        """The code object of a nested function; equal lambdas of one line share theirs."""
        for code in self.nested:
            if is_of(node, code):
                return code
        same = (n for n in ast.walk(self.source.node) if isinstance(n, ast.Lambda) and _alike(n, node))
        return next(code for twin in same for code in self.nested if is_of(twin, code))

    def _do_Raise(self, node: ast.Raise) -> None:
        error = self._expression(node.exc) if node.exc is not None else None
        cause = self._expression(node.cause) if node.cause is not None else None
        self.block.append(ir.Raise(self._position(node), error, cause))

    def _do_Assert(self, node: ast.Assert) -> None:
        def fail() -> None:
            args = (self._expression(node.msg),) if node.msg is not None else ()
            error = self._let(ir.Call(ir.Const(AssertionError), args), node)
            self.block.append(ir.Raise(self._position(node), error, None))

        self._choose(self._expression(node.test), lambda: None, fail, node)

    def _do_Try(self, node: ast.Try) -> None:
        inside = [*node.body, *(s for h in node.handlers for s in h.body)]
        names = [n for n in self._assigned(inside) if n in self.local or n.startswith(".")]
        slots = [ir.Phi(self.names.fresh(n), [self.env.get(n, _UNBOUND)]) for n in names]
        for slot in slots:
            self._note_unbound(slot)
        keeps = {n: s.target for n, s in zip(names, slots, strict=True)}

        def body() -> None:
            self.slots.append(keeps)
            self._statements(node.body)
            self.slots.pop()

        block, body_env = self._inside(body)
        for name, slot in zip(names, slots, strict=True):
            slot.sources.append(body_env.get(name, _UNBOUND))
        handlers = [self._handler(handler, keeps) for handler in node.handlers]
        self.block.append(ir.Try(self._position(node), block, handlers, slots))
        for name, slot in zip(names, slots, strict=True):
            self._assign(name, slot.target)

    def _handler(self, node: ast.ExceptHandler, keeps: dict[str, str]) -> ir.Handler:
        kinds = None
        unwinds = isinstance(node.type, ast.Constant) and node.type.value is BaseException
        if node.type is not None and not unwinds:
            if not _only_globals(node.type, self.local | self.free):
                raise refusal(self.source, node.type, "an except clause with a computed class")
            kinds = ast.unparse(node.type)
        name = self.names.fresh(node.name) if node.name else None

        def body() -> None:
            self.env.update(keeps)
            if node.name and name:
                self._assign(node.name, name)
            self._statements(node.body)

        block, env = self._inside(body)
        values = [env[n] if n != node.name else _UNBOUND for n in keeps]
        return ir.Handler(self._position(node), kinds, name, block, values, unwinds)

    # -- expressions -----------------------------------------------------------------------------------------

    def _expression(self, node: ast.expr, base: str = "t") -> ir.Atom:
        return getattr(self, f"_get_{type(node).__name__}")(node, base)

    def _get_Constant(self, node: ast.Constant, base: str) -> ir.Atom:
        return ir.Const(node.value)

    def _get_Name(self, node: ast.Name, base: str) -> ir.Atom:
        return self._read(node.id, node)

    def _read(self, name: str, node: ast.AST) -> ir.Atom:
        if name in self.cells:
            return self._let(ir.ReadCell(self.cells[name], name, name in self.free), node, _base_of(name))
        if name not in self.local and name not in self.free and not name.startswith("."):
            return self._let(ir.Load(name), node, name)
        atom = self.env.get(name, _UNBOUND)
        if not self._may_be_unbound(atom):
            return atom
        checked = self._let(ir.Move(atom, checked=name), node, name)
        self.env[name] = checked
        return checked

    def _may_be_unbound(self, atom: ir.Atom) -> bool:
        return atom is _UNBOUND or (isinstance(atom, str) and atom in self.names.maybe_unbound)

    def _get_Attribute(self, node: ast.Attribute, base: str) -> ir.Atom:
        return self._let(ir.Attribute(self._expression(node.value), node.attr), node, base)

    def _get_Subscript(self, node: ast.Subscript, base: str) -> ir.Atom:
        value = self._expression(node.value)
        return self._let(ir.Item(value, self._index(node.slice)), node, base)

    def _index(self, node: ast.expr) -> ir.Atom:
        return self._expression(node)

    def _get_Slice(self, node: ast.Slice, base: str) -> ir.Atom:
        parts = [
            ir.Const(None) if part is None else self._expression(part)
            for part in (node.lower, node.upper, node.step)
        ]
        return self._let(ir.Slice(*parts), node)

    def _get_BinOp(self, node: ast.BinOp, base: str) -> ir.Atom:
        left, right = self._expression(node.left), self._expression(node.right)
        return self._let(ir.Binary(_BINARY[type(node.op)], left, right), node, base)

    def _get_UnaryOp(self, node: ast.UnaryOp, base: str) -> ir.Atom:
        value = self._expression(node.operand)
        if (
            isinstance(value, ir.Const)
            and isinstance(node.op, ast.USub)
            and type(value.value) in (int, float)
        ):
            return ir.Const(-value.value)
        return self._let(ir.Unary(_UNARY[type(node.op)], value), node, base)

    def _get_Compare(self, node: ast.Compare, base: str) -> ir.Atom:
        left, right = self._expression(node.left), self._expression(node.comparators[0])
        first = self._let(ir.Compare(_COMPARE[type(node.ops[0])], left, right), node, base)
        return self._chain(node, first, right, 1)

    def _chain(self, node: ast.Compare, value: ir.Atom, left: ir.Atom, number: int) -> ir.Atom:
        if number == len(node.ops):
            return value

        def more() -> ir.Atom:
            right = self._expression(node.comparators[number])
            following = self._let(ir.Compare(_COMPARE[type(node.ops[number])], left, right), node)
            return self._chain(node, following, right, number + 1)

        return self._select(value, more, lambda: value, node)

    def _get_BoolOp(self, node: ast.BoolOp, base: str) -> ir.Atom:
        value = self._expression(node.values[0])
        for following in node.values[1:]:
            value = self._and_or(node, value, following)
        return value

    def _and_or(self, node: ast.BoolOp, value: ir.Atom, following: ast.expr) -> ir.Atom:
        if isinstance(node.op, ast.And):
            return self._select(value, lambda: self._expression(following), lambda: value, node)
        return self._select(value, lambda: value, lambda: self._expression(following), node)

    def _get_IfExp(self, node: ast.IfExp, base: str) -> ir.Atom:
        test = self._expression(node.test)
        return self._select(
            test, lambda: self._expression(node.body), lambda: self._expression(node.orelse), node
        )

    def _select(
        self, test: ir.Atom, then: Callable[[], ir.Atom], orelse: Callable[[], ir.Atom], node: ast.AST
    ) -> ir.Atom:
        """A value chosen by a branch, by way of a variable that no user can name."""
        name = self.names.hidden()

        def run(value: Callable[[], ir.Atom]) -> Callable[[], None]:
            return lambda: self.env.__setitem__(name, value())

        self._choose(test, run(then), run(orelse), node)
        return self.env.pop(name)

    def _get_Tuple(self, node: ast.Tuple, base: str) -> ir.Atom:
        return self._build("tuple", node, node.elts, base)

    def _get_List(self, node: ast.List, base: str) -> ir.Atom:
        return self._build("list", node, node.elts, base)

    def _get_Set(self, node: ast.Set, base: str) -> ir.Atom:
        return self._build("set", node, node.elts, base)

    def _get_Dict(self, node: ast.Dict, base: str) -> ir.Atom:
        if any(key is None for key in node.keys):
            return self._merge("merged", node, list(zip(node.keys, node.values, strict=True)), base)
        pairs = [part for key, value in zip(node.keys, node.values, strict=True) for part in (key, value)]
        return self._build("dict", node, pairs, base)  # type: ignore[arg-type]

    def _merge(
        self, kind: str, node: ast.expr, pairs: list[tuple[ast.expr | None, ast.expr]], base: str
    ) -> ir.Atom:
        """A dict of keys with values and of whole mappings (no key), in order."""
        parts: list[ir.Atom] = []
        run: list[ir.Atom] = []

        def finish() -> None:
            if run:
                parts.append(self._let(ir.Build("dict", tuple(run)), node))
                run.clear()

        for key, value in pairs:
            if key is None:
                finish()
                parts.append(self._expression(value))
            else:
                run += [self._expression(key), self._expression(value)]
        finish()
        return self._collect(kind, tuple(parts), node, base)

    def _starred(self, kind: str, node: ast.expr, parts: list[ast.expr], base: str) -> ir.Atom:
        """A display with stars: sequences of the runs in it, joined."""
        joined = "tuple" if kind == "tuple" else "list"
        run: list[ir.Atom] = []
        total: ir.Atom | None = None

        def add(piece: ir.Atom) -> ir.Atom:
            return piece if total is None else self._let(ir.Binary("add", total, piece), node)

        for part in parts:
            if not isinstance(part, ast.Starred):
                run.append(self._expression(part))
                continue
            if run:
                total = add(self._let(ir.Build(joined, tuple(run)), node))
                run.clear()
            total = add(self._all_of(part, joined))
        if run:
            total = add(self._let(ir.Build(joined, tuple(run)), node))
        assert total is not None
        return self._let(ir.Call(ir.Const(set), (total,)), node, base) if kind == "set" else total

    def _all_of(self, part: ast.Starred, kind: str) -> ir.Atom:
        """The items of `*value`, in a tuple or list of their own."""
        if isinstance(part.value, ast.GeneratorExp):
            value = self._get_ListComp(part.value, "t")
            if kind == "list":
                return value
        else:
            value = self._expression(part.value)
        return self._let(ir.Call(ir.Const(tuple if kind == "tuple" else list), (value,)), part)

    def _build(self, kind: str, node: ast.expr, parts: list[ast.expr], base: str) -> ir.Atom:
        if any(isinstance(part, ast.Starred) for part in parts):
            return self._starred(kind, node, parts, base)
        items = tuple(self._expression(part) for part in parts)
        made = self._let(ir.Build(kind, items), node, base)
        if kind != "tuple":
            self._let(ir.Publish(made), node, "published")
        return made

    def _get_NamedExpr(self, node: ast.NamedExpr, base: str) -> ir.Atom:
        value = self._expression(node.value, node.target.id)
        self._store(node.target, value)
        return value

    def _get_Ask(self, node: Ask, base: str) -> ir.Atom:
        if node.function is asking.matches_itself:
            cls = self._known(node.args[0])
            if cls is not ir.UNBOUND and getattr(cls, "__module__", None) == "builtins":
                self.assumed[cls.__name__] = cls
                return ir.Const(asking.matches_itself(cls))
        there = _module_that_stays(node)
        if there is not None:
            *_, wanted = node.args
            if node.function is not asking.from_module:
                return ir.Const(there)
            assert isinstance(wanted, ast.Constant)
            return self._let(ir.Attribute(ir.Const(there), str(wanted.value)), node, base)
        items = tuple(map(self._expression, node.args))
        return self._let(ir.Ask(node.function, items, node.answer), node, base)

    def _get_Collect(self, node: Collect, base: str) -> ir.Atom:
        return self._collect(node.kind, tuple(map(self._expression, node.args)), node, base)

    def _collect(self, kind: str, parts: tuple[ir.Atom, ...], node: ast.AST, base: str) -> ir.Atom:
        """A new dict made of other values."""
        made = self._let(ir.Collect(kind, parts), node, base)
        if kind != "keywords":
            self._let(ir.Publish(made), node, "published")
        return made

    def _get_Call(self, node: ast.Call, base: str) -> ir.Atom:
        method = None
        self._refuse_frame_readers(node)
        at_once = self._at_once(node, base)
        if at_once is not None:
            return at_once
        if isinstance(node.func, ast.Attribute):
            function, method = self._expression(node.func.value), node.func.attr
        else:
            function = self._expression(node.func)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return self._apply(node, function, method, base)
        args = self._super_arguments(node) + [self._argument(node, argument) for argument in node.args]
        keywords = [(k.arg, self._expression(k.value)) for k in node.keywords]
        return self._let(ir.Call(function, tuple(args), tuple(keywords), method), node, base)  # type: ignore[arg-type]

    def _apply(self, node: ast.Call, function: ir.Atom, method: str | None, base: str) -> ir.Atom:
        """A call with stars: all its positional arguments in a tuple, then its keywords in a dict."""
        args = self._build("tuple", node, node.args, "t")
        pairs = _keyword_pairs(node)
        keywords = self._merge("keywords", node, pairs, "t") if pairs else ir.Const(None)
        return self._let(ir.Apply(function, args, keywords, method), node, base)

    def _refuse_frame_readers(self, node: ast.Call) -> None:
        """Calls that look into the frame of their caller would find the pass there, not the author's
        function.
        """
        known = self._known(node.func)
        if any(known is f for f in (eval, exec, locals)) or (
            all(isinstance(a, ast.Starred) for a in node.args) and any(known is f for f in (super, vars, dir))
        ):
            if known is super and "__class__" in self.free and self.code.co_argcount:
                return
            name = known.__name__
            fixes = (
                ("call the method of the class by its name: Base.method(self, ...)",)
                if known is super
                else ()
            )
            raise refusal(self.source, node, f"{name}(), which reads its caller's variables,", fixes)

    def _super_arguments(self, node: ast.Call) -> list[ir.Atom]:
        """What `super()` reads from the frame of a method: its class, and the first parameter."""
        if node.args or node.keywords or not self._is_builtin(node.func, "super"):
            return []
        return [self._read("__class__", node), self._read(self.code.co_varnames[0], node)]

    def _argument(self, call: ast.Call, node: ast.expr) -> ir.Atom:
        """An argument; a generator expression that the call consumes at once is read as a list."""
        if node is call.args[0] and consumes_first(call, self._known):
            return self._unpackable(node)
        return self._expression(node)

    def _get_GeneratorExp(self, node: ast.GeneratorExp, base: str) -> ir.Atom:
        raise refusal(self.source, node, "a generator expression", ("write a list comprehension",))

    def _at_once(self, node: ast.Call, base: str) -> ir.Atom | None:
        """A call of a generator expression that is another expression: `any`, `all`, `dict` of pairs."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp) or node.keywords:
            return None
        generator = node.args[0]
        pair = generator.elt
        if any(self._is_builtin(node.func, kind) for kind in ("any", "all")):
            return self._short_circuit(node, generator, node.func.id)  # type: ignore[attr-defined]
        if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and self._is_builtin(node.func, "dict"):
            if not any(isinstance(part, ast.Starred) for part in pair.elts):
                keys, values = self._lists(generator, pair.elts, "t")
                return self._collect("paired", (keys, values), node, base)
        return None

    def _short_circuit(self, node: ast.Call, generator: ast.GeneratorExp, kind: str) -> ir.Atom:
        """A loop that ends where `any` or `all` looks no further."""
        found = self.names.hidden()
        self.env[found] = ir.Const(False)
        self.stop_of[generator] = found  # type: ignore[index]

        def look(scope: _Scope) -> None:
            test = self._expression(scope.renamed(generator.elt))
            yes, no = (lambda: self.env.__setitem__(found, ir.Const(True))), (lambda: None)
            self._choose(test, *((yes, no) if kind == "any" else (no, yes)), generator.elt)

        self._comprehension(generator, [found], look)
        result = self.env.pop(found)
        return self._let(ir.Unary("not_", result), node) if kind == "all" else result

    def _get_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, base: str) -> ir.Atom:
        return self._lists(node, [node.elt], base)[0]

    def _get_SetComp(self, node: ast.SetComp, base: str) -> ir.Atom:
        items = self._get_ListComp(node, "t")
        return self._let(ir.Call(ir.Const(set), (items,)), node, base)

    def _get_DictComp(self, node: ast.DictComp, base: str) -> ir.Atom:
        keys, values = self._lists(node, [node.key, node.value], "t")
        return self._collect("paired", (keys, values), node, base)

    def _lists(self, node: _Comprehension, elements: list[ast.expr], base: str) -> list[ir.Atom]:
        """A loop that appends to a list for each of `elements`."""
        outs = [self.names.hidden() for _ in elements]
        for out in outs:
            self.env[out] = self._let(ir.Build("list", ()), node, base)

        def append(scope: _Scope) -> None:
            for out, element in zip(outs, elements, strict=True):
                item = self._expression(scope.renamed(element))
                self.env[out] = self._let(ir.Append(self.env[out], item, hidden=True), node, base)

        self._comprehension(node, outs, append)
        made = [self.env.pop(out) for out in outs]
        for value in made:
            self._let(ir.Publish(value), node, "published")
        return made

    def _comprehension(self, node: _Comprehension, changed: list[str], run: Callable[[_Scope], None]) -> None:
        """The loops of a comprehension around `run`; its variables are its own, so they go under names of
        their own. `changed` are the variables that `run` changes.
        """
        scope = self._scope(node.generators)
        for name in sorted(_captured_inside(node) & set(scope.renames)):
            self._make_cell(scope.renames[name], _UNBOUND, node)
        names = [*changed, *scope.renames.values(), *_walrus_names(node)]
        assigning = [ast.Name(n, ast.Store()) for n in names]

        def nest(number: int) -> None:
            if number == len(node.generators):
                run(scope)
                return
            generator = node.generators[number]
            # The first iterable is the one expression that is evaluated outside of the new scope.
            iterable = generator.iter if number == 0 else scope.renamed(generator.iter)
            inside = lambda: self._filtered(generator.ifs, scope.renames, lambda: nest(number + 1))  # noqa: E731
            self._for(node, iterable, scope.renamed(generator.target), inside, assigning)

        with self._renaming(scope):
            nest(0)
        for name in scope.renames.values():
            self.env.pop(name, None)
            self.cells.pop(name, None)

    def _scope(self, generators: list[ast.comprehension]) -> _Scope:
        names = [n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
        return _Scope({name: self.names.hidden() for name in names})

    @contextmanager
    def _renaming(self, scope: _Scope) -> Iterator[None]:
        outer, self.renaming = self.renaming, {**self.renaming, **scope.renames}
        yield
        self.renaming = outer

    def _filtered(self, tests: list[ast.expr], renames: Mapping[str, str], run: Callable[[], None]) -> None:
        if not tests:
            run()
            return
        test = self._expression(_renamed(tests[0], renames))
        self._choose(test, lambda: self._filtered(tests[1:], renames, run), lambda: None, tests[0])

    def _get_Lambda(self, node: ast.Lambda, base: str) -> ir.Atom:
        return self._make_function(node, base if base != "t" else "function")

    def _make_function(self, node: ast.FunctionDef | ast.Lambda, base: str) -> ir.Atom:
        code = self._code_of(node)
        own = (
            _own_name(self.source.node.body, node) if isinstance(self.source.node, ast.FunctionDef) else None
        )
        captured: list[tuple[str, ir.Atom]] = []
        cells = set()
        for name in code.co_freevars:
            inner = self.renaming.get(name, name)
            if inner in self.cells:
                captured.append((name, self.cells[inner]))
                cells.add(name)
                continue
            if name != own and self._may_be_unbound(self.env.get(inner, _UNBOUND)):
                raise _PerhapsUnbound(inner)
            captured.append((name, _UNBOUND if name == own else self._read(inner, node)))
        defaults = tuple(self._expression(d) for d in node.args.defaults)
        keyword_defaults = tuple(
            (a.arg, self._expression(d))
            for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if d is not None
        )
        op = ir.MakeFunction(code, tuple(captured), frozenset(cells), defaults, keyword_defaults)
        return self._let(op, node, base)

    def _get_JoinedStr(self, node: ast.JoinedStr, base: str) -> ir.Atom:
        parts: list[tuple[ir.Atom, int, ir.Atom]] = []
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts.append((ir.Const(value.value), -1, ir.Const("")))
            else:
                assert isinstance(value, ast.FormattedValue)
                shown = self._expression(value.value)
                spec = self._expression(value.format_spec) if value.format_spec is not None else ir.Const("")
                parts.append((shown, value.conversion, spec))
        return self._let(ir.Format(tuple(parts)), node, base)


class Names:
    """Gives every value a name of its own, close to the author's."""

    def __init__(self, own: set[str], others: set[str]) -> None:
        self.own = set(own)
        self.taken = own | others | set(dir(builtins))
        self.used: set[str] = set()
        self.maybe_unbound: set[str] = set()
        self._hidden = 0

    def exact(self, name: str) -> str:
        self.used.add(name)
        return name

    def fresh(self, base: str) -> str:
        base = base.lstrip(".")
        if base in self.own and base not in self.used:
            return self.exact(base)  # the first value of a local variable keeps its name
        number = 1
        while (name := f"{base}_{number}") in self.taken or name in self.used:
            number += 1
        self.used.add(name)
        return name

    def hidden(self) -> str:
        self._hidden += 1
        return f"..v{self._hidden}"


_UNBOUND = ir.Const(ir.UNBOUND)
_Piece = tuple[ast.expr, str | Callable[[], ir.Atom]]  # a pattern of a loop, and what it takes apart
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True)
class _Wraps:
    """The decorator `functools.wraps(function)`."""

    function: ir.Atom


@dataclass(frozen=True)
class _Scope:
    """The variables of a comprehension, and what they are called here."""

    renames: Mapping[str, str]

    def renamed(self, node: ast.expr) -> ast.expr:
        return _renamed(node, self.renames)


def _module_that_stays(node: Ask) -> Any:
    """The module of an import, if it is there and stays as it is while Python runs; else None."""
    if node.function not in (asking.module, asking.top_module, asking.from_module):
        return None
    name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    if not isinstance(name, str) or name.partition(".")[0] not in IMMORTAL or name not in sys.modules:
        return None
    if node.function is asking.from_module:
        wanted = node.args[-1]
        there = isinstance(wanted, ast.Constant) and hasattr(sys.modules[name], str(wanted.value))
        return sys.modules[name] if there else None
    return sys.modules[name.partition(".")[0] if node.function is asking.top_module else name]


def _walrus_names(node: ast.AST) -> list[str]:
    """What `:=` inside of a comprehension binds: variables of the function around it."""
    if isinstance(node, (ast.Lambda, ast.FunctionDef)):
        return [name for outside in _evaluated_at_once(node) for name in _walrus_names(outside)]
    inner = [name for child in ast.iter_child_nodes(node) for name in _walrus_names(child)]
    return [*inner, node.target.id] if isinstance(node, ast.NamedExpr) else inner


def _alike(left: ast.Lambda, right: ast.AST) -> bool:
    return left.lineno == right.lineno and ast.dump(left) == ast.dump(right)  # type: ignore[attr-defined]


def _equal(left: ir.Atom, right: ir.Atom) -> bool:
    if isinstance(left, ir.Const) and isinstance(right, ir.Const):
        return left is right or (
            type(left.value) is type(right.value)
            and isinstance(left.value, (bool, type(None)))
            and left.value is right.value
        )
    return left == right


def _base(target: ast.expr) -> str:
    """What to call a value after: its variable, unless that is one which only the lowering has."""
    if not isinstance(target, ast.Name) or target.id == RESULT or target.id.startswith(".."):
        return "t"
    return target.id.lstrip(".")


def _assigned(nodes: Sequence[ast.AST]) -> list[str]:
    """The variables that these nodes bind, in textual order; the scopes of comprehensions are their own."""
    found: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, _Comprehension):
            found.update(dict.fromkeys(_walrus_names(node)))
            return
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if isinstance(node, ast.FunctionDef):
                found[node.name] = None
            for part in _evaluated_at_once(node):
                visit(part)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found[node.id] = None
        if is_append(node):
            found[node.func.value.id] = None  # type: ignore[attr-defined]
        if isinstance(node, ast.ExceptHandler) and node.name:
            found[node.name] = None
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return list(found)


def _base_of(name: str) -> str:
    return "t" if name.startswith(".") else name


def _evaluated_at_once(node: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    """The parts of a function definition that belong to the scope around it."""
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    return [*getattr(node, "decorator_list", ()), *defaults]


def _keyword_pairs(node: ast.Call) -> list[tuple[ast.expr | None, ast.expr]]:
    """(key, value) of each keyword of a call, (None, mapping) for what has two stars; a display with two
    stars counts as keywords, for nobody else sees it.
    """
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    for k in node.keywords:
        if k.arg is not None:
            pairs.append((ast.copy_location(ast.Constant(k.arg), k.value), k.value))
        elif isinstance(k.value, ast.Dict) and all(isinstance(key, ast.Constant) for key in k.value.keys):
            pairs += zip(k.value.keys, k.value.values, strict=True)
        else:
            pairs.append((None, k.value))
    names = [key.value for key, _ in pairs if isinstance(key, ast.Constant)]
    if len(names) == len(set(names)) and all(isinstance(name, str) for name in names):
        return pairs
    return [  # what comes twice is an error of the call, found when it is made
        (None if k.arg is None else ast.copy_location(ast.Constant(k.arg), k.value), k.value)
        for k in node.keywords
    ]


def _may_share(node: ast.Call) -> bool:
    """Whether a call that makes a new array is asked for an old one: `np.array(x, copy=False)`, `out=x`."""
    return any(keyword.arg in ("copy", "out") for keyword in node.keywords)


def _returning(body: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Return(body), body)


def _only_globals(node: ast.expr, local: set[str]) -> bool:
    return all(
        isinstance(n, (ast.Name, ast.Attribute, ast.Tuple, ast.Load))
        and not (isinstance(n, ast.Name) and n.id in local)
        for n in ast.walk(node)
    )


def _with_private_names(source: Source, code: types.CodeType) -> Source:
    """In a class, `__x` means `_Class__x`; the names of the code object tell which class that is."""
    private = {
        name
        for node in ast.walk(source.node)
        for name in (getattr(node, field, None) for field in _Private.FIELDS)
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__")
    }
    known = _all_names_of(code)
    full = {
        name: found
        for name in private - known
        for found in known
        if found.startswith("_") and found.endswith(name)
    }
    if not full:
        return source
    return replace(source, node=_Private(full).visit(copy.deepcopy(source.node)))


def _all_names_of(code: types.CodeType) -> set[str]:
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    return names.union(*(_all_names_of(c) for c in code.co_consts if isinstance(c, types.CodeType)))


class _Private(ast.NodeTransformer):
    FIELDS = ("id", "attr", "name", "rest", "asname")

    def __init__(self, full: Mapping[str, str]) -> None:
        self.full = full

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in self.FIELDS:
            name = getattr(node, field, None)
            kept = isinstance(node, (ast.FunctionDef, ast.alias)) and field == "name"
            if isinstance(name, str) and not kept:
                setattr(node, field, self.full.get(name, name))
        return super().generic_visit(node)


class _Rename(ast.NodeTransformer):
    def __init__(self, renames: Mapping[str, str]) -> None:
        self.renames = renames

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id not in self.renames:
            return node
        return ast.copy_location(ast.Name(self.renames[node.id], node.ctx), node)


def _renamed(node: ast.expr, renames: Mapping[str, str]) -> ast.expr:
    return _Rename(renames).visit(copy.deepcopy(node))


def _nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects of the functions defined in this one, also inside its comprehensions."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            if constant.co_name in ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"):
                yield from _nested_codes(constant)


def rebound_captures(node: ast.FunctionDef | ast.Lambda, captured: set[str]) -> set[str]:
    """The captured variables that get another value while a nested function may see them."""
    if not captured:
        return set()
    body: list[Any] = node.body if isinstance(node, ast.FunctionDef) else [node.body]
    found = set()
    for function in (n for s in body for n in ast.walk(s) if isinstance(n, (ast.FunctionDef, ast.Lambda))):
        inner = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} & captured
        found |= {name for name in inner if _changes_after(name, function, body)}
        if getattr(function, "decorator_list", None):  # its name stands for what the decorators make of it
            found |= inner & {function.name}  # type: ignore[union-attr]
        found |= {n for x in ast.walk(function) if isinstance(x, ast.Nonlocal) for n in x.names} & captured
    return found


def _changes_after(name: str, function: ast.FunctionDef | ast.Lambda, body: list[ast.stmt]) -> bool:
    own = name == _own_name(body, function)
    if any(n is not function and _start(n) > _start(function) for s in body for n in _binders(s, name)):
        return True
    if not own and any(_gives_its_result_to(s, function, name) for s in body):
        return True
    return any(
        n is not function
        for loop in _enclosing_loops(body, function)
        for s in (*loop.body, *([loop.target] if isinstance(loop, ast.For) else []))
        for n in _binders(s, name)
    )


def _captured_inside(node: ast.expr) -> set[str]:
    """The names that lambdas inside an expression mention."""
    return {
        n.id
        for function in ast.walk(node)
        if isinstance(function, ast.Lambda)
        for n in ast.walk(function)
        if isinstance(n, ast.Name)
    }


def _own_name(body: list[ast.stmt], function: ast.FunctionDef | ast.Lambda) -> str | None:
    """The variable that the function itself is given to at once: `def name` or `name = lambda`."""
    if isinstance(function, ast.FunctionDef):
        return function.name
    for statement in (n for s in body for n in ast.walk(s) if isinstance(n, ast.Assign)):
        if (
            statement.value is function
            and len(statement.targets) == 1
            and isinstance(statement.targets[0], ast.Name)
        ):
            return statement.targets[0].id
    return None


def _gives_its_result_to(statement: ast.stmt, function: ast.AST, name: str) -> bool:
    """Whether an expression that holds the function is assigned to the variable, which so changes after
    it.
    """
    for node in ast.walk(statement):
        value = node.iter if isinstance(node, ast.For) else getattr(node, "value", None)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if (
            isinstance(node, ast.stmt)
            and isinstance(value, ast.expr)
            and any(n is function for n in ast.walk(value))
            and any(_binders(t, name) for t in targets if t is not None)
        ):
            return True
    return False


def _binders(node: ast.AST, name: str) -> list[ast.AST]:
    found = [
        n
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    return found + [
        n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ExceptHandler)) and n.name == name
    ]


def _start(node: ast.AST) -> tuple[int, int]:
    return (node.lineno, node.col_offset)  # type: ignore[attr-defined]


def _enclosing_loops(body: list[ast.stmt], function: ast.AST) -> list[ast.For | ast.While]:
    """The loops around a function, outermost first."""
    return [
        node
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, (ast.For, ast.While)) and any(n is function for n in ast.walk(node))
    ]
