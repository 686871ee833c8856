"""The syntax tree of a function to the intermediate form: every value named once, evaluation order kept."""

from __future__ import annotations

import ast
import builtins
import copy
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import ir
from .fence import CONSUMERS, check, refusal
from .jumps import RESULT, Straightened
from .ownership import Ownership, is_append
from .source import Source, is_of

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


@dataclass(frozen=True)
class Surroundings:
    """What the lowering may know about names outside the function."""

    find_global: Callable[[str], Any]  # the object now bound to a global or builtin name, or ir.UNBOUND
    reads_only: Callable[[Any], bool]  # whether a callable keeps and shares nothing of its arguments
    makes_fresh: Callable[[Any], bool]  # whether a callable returns a new object


def lower(source: Source, code: types.CodeType, around: Surroundings) -> ir.Function:
    """The function in the intermediate form; raises UnsupportedSyntaxError for what is not taken."""
    check(source, code)
    return _Lowerer(_with_private_names(source, code), code, around).function()


class _Lowerer:
    def __init__(self, source: Source, code: types.CodeType, around: Surroundings) -> None:
        self.source = source
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
        self.cells_in_loops = bool(code.co_cellvars) and any(
            isinstance(n, (ast.For, ast.While)) for n in ast.walk(source.node)
        )
        self.ownership = Ownership(source.node, self._reads_only, self._makes_fresh)

    # -- the whole -------------------------------------------------------------------------------------------

    def function(self) -> ir.Function:
        node, code = self.source.node, self.code
        if code.co_flags & 0x0C:
            starred = node.args.vararg or node.args.kwarg
            raise refusal(self.source, starred or node, "* and ** parameters")
        count = code.co_argcount + code.co_kwonlyargcount
        parameters = []
        for name in code.co_varnames[:count]:
            parameters.append(self.names.exact(name))
            self.env[name] = parameters[-1]
        for name in code.co_freevars:
            self.env[name] = self.names.exact(name)
        body = node.body if isinstance(node, ast.FunctionDef) else [_returning(node.body)]
        straight = Straightened(body)
        self.stop_of = straight.stop_of
        self._check_captures(body)
        self._statements(straight.body)
        result = self.env[RESULT]
        return ir.Function(
            code.co_name,
            parameters,
            code.co_argcount,
            code.co_kwonlyargcount,
            list(code.co_freevars),
            self.block,
            result,
            self.names.taken,
            self.assumed,
        )

    def _check_captures(self, body: list[ast.stmt]) -> None:
        """A captured variable must keep its value while a nested function can see it."""
        cells = set(self.code.co_cellvars)
        if not cells:
            return
        _CaptureCheck(self.source, cells).run(body)

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

    def _assign(self, name: str, atom: ir.Atom) -> None:
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
        ):
            values = [
                self._expression(v, base=_base(t)) for t, v in zip(targets.elts, node.value.elts, strict=True)
            ]
            for target, atom in zip(targets.elts, values, strict=True):
                self._store(target, atom)
            return
        value = self._expression(node.value, base=_base(node.targets[0]))
        for target in node.targets:
            self._store(target, value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self._expression(node.value, base=_base(node.target)))

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
        names = _assigned([node.test, *node.body])
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
        self._for(node, node.iter, node.target, lambda: self._loop_body(node), [node.target, *node.body])

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
        pieces: list[tuple[ast.expr, str]] = []
        iteration = self._iteration(iterable, target, pieces)
        names = _assigned(assigning)
        carried, env = self._open_loop(names)
        outer, self.env = self.env, env

        def body() -> None:
            for pattern, item in pieces:
                self._store(pattern, item)
            run()

        block, body_env = self._inside(body)
        self.env = outer
        stop = self._close_loop(node, names, carried, body_env)
        self.block.append(ir.For(self._position(iterable), iteration, block, carried, stop))

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

    def _iteration(
        self, iterable: ast.expr, target: ast.expr, pieces: list[tuple[ast.expr, str]]
    ) -> ir.Iteration:
        """What is looped over, seen through zip, enumerate and range; `pieces` are the patterns to unpack."""
        if isinstance(iterable, ast.Call) and not any(isinstance(a, ast.Starred) for a in iterable.args):
            plain = not iterable.keywords
            parts = target.elts if isinstance(target, ast.Tuple) else None
            if plain and self._is_builtin(iterable.func, "range") and 1 <= len(iterable.args) <= 3:
                args = tuple(self._expression(a) for a in iterable.args)
                return ir.Count(args, self._item(target, pieces))
            if (
                plain
                and parts
                and len(parts) == len(iterable.args)
                and self._is_builtin(iterable.func, "zip")
            ):
                return ir.Zipped(
                    [self._iteration(i, t, pieces) for i, t in zip(iterable.args, parts, strict=True)]
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
        value = self._expression(iterable)
        return ir.Sequence(value, self._item(target, pieces))

    def _item(self, target: ast.expr, pieces: list[tuple[ast.expr, str]]) -> str:
        name = self.names.fresh(_base(target))
        pieces.append((target, name))
        return name

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._assign(node.name, self._make_function(node, node.name))

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
        names = [n for n in _assigned(inside) if n in self.local or n.startswith(".")]
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
        if node.type is not None:
            if not _only_globals(node.type, self.local | self.free):
                raise refusal(self.source, node.type, "an except clause with a computed class")
            kinds = ast.unparse(node.type)
        name = self.names.fresh(node.name) if node.name else None

        def body() -> None:
            self.env.update(keeps)
            if node.name and name:
                self.env[node.name] = name
            self._statements(node.body)

        block, env = self._inside(body)
        return ir.Handler(
            self._position(node), kinds, name, block, [env[n] if n != node.name else _UNBOUND for n in keeps]
        )

    # -- expressions -----------------------------------------------------------------------------------------

    def _expression(self, node: ast.expr, base: str = "t") -> ir.Atom:
        return getattr(self, f"_get_{type(node).__name__}")(node, base)

    def _get_Constant(self, node: ast.Constant, base: str) -> ir.Atom:
        return ir.Const(node.value)

    def _get_Name(self, node: ast.Name, base: str) -> ir.Atom:
        return self._read(node.id, node)

    def _read(self, name: str, node: ast.AST) -> ir.Atom:
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
            raise refusal(self.source, node, "** in a dict")
        pairs = [part for key, value in zip(node.keys, node.values, strict=True) for part in (key, value)]
        return self._build("dict", node, pairs, base)  # type: ignore[arg-type]

    def _build(self, kind: str, node: ast.expr, parts: list[ast.expr], base: str) -> ir.Atom:
        items = tuple(self._expression(part) for part in parts)
        return self._let(ir.Build(kind, items), node, base)

    def _get_Call(self, node: ast.Call, base: str) -> ir.Atom:
        method = None
        self._refuse_frame_readers(node)
        if isinstance(node.func, ast.Attribute):
            function, method = self._expression(node.func.value), node.func.attr
        else:
            function = self._expression(node.func)
        args = self._super_arguments(node) + [self._argument(node, argument) for argument in node.args]
        keywords = [(k.arg, self._expression(k.value)) for k in node.keywords]
        result = self._let(ir.Call(function, tuple(args), tuple(keywords), method), node, base)  # type: ignore[arg-type]
        if self.cells_in_loops and any(isinstance(a, ast.Lambda) for a in node.args):
            return self._let(ir.Move(result, unkept=True), node, base)
        return result

    def _refuse_frame_readers(self, node: ast.Call) -> None:
        """Calls that look into the frame of their caller would find the pass there, not the author's
        function.
        """
        known = self._known(node.func)
        if any(known is f for f in (eval, exec, locals)) or (
            not node.args and any(known is f for f in (super, vars, dir))
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
        if not isinstance(node, ast.GeneratorExp):
            return self._expression(node)
        at_once = any(self._is_builtin(call.func, name) for name in CONSUMERS) and len(call.args) == 1
        if not at_once:
            raise refusal(self.source, node, "a generator expression", ("write a list comprehension",))
        return self._get_ListComp(node, "t")

    def _get_GeneratorExp(self, node: ast.GeneratorExp, base: str) -> ir.Atom:
        raise refusal(self.source, node, "a generator expression", ("write a list comprehension",))

    def _get_ListComp(self, node: ast.ListComp | ast.GeneratorExp, base: str) -> ir.Atom:
        """A loop that appends; its variables are its own, so they go under names of their own."""
        out = self.names.hidden()
        self.local.add(out)
        self.env[out] = self._let(ir.Build("list", ()), node, base)
        renames = {
            n.id: self.names.hidden()
            for g in node.generators
            for n in ast.walk(g.target)
            if isinstance(n, ast.Name)
        }
        self.local |= set(renames.values())
        first = node.generators[0].iter  # the one expression that is evaluated outside of the new scope

        def run(number: int) -> None:
            if number == len(node.generators):
                item = self._expression(_renamed(node.elt, renames))
                self.env[out] = self._let(ir.Append(self.env[out], item), node, base)
                return
            generator = node.generators[number]
            iterable = first if number == 0 else _renamed(generator.iter, renames)
            assigning = [ast.Name(n, ast.Store()) for n in (out, *renames.values())]
            self._for(
                node,
                iterable,
                _renamed(generator.target, renames),
                lambda: self._filtered(generator.ifs, renames, lambda: run(number + 1)),
                assigning,
            )

        outer, self.renaming = self.renaming, {**self.renaming, **renames}
        run(0)
        self.renaming = outer
        for name in renames.values():
            self.env.pop(name, None)
        return self.env.pop(out)

    def _filtered(self, tests: list[ast.expr], renames: Mapping[str, str], run: Callable[[], None]) -> None:
        if not tests:
            run()
            return
        test = self._expression(_renamed(tests[0], renames))
        self._choose(test, lambda: self._filtered(tests[1:], renames, run), lambda: None, tests[0])

    def _get_Lambda(self, node: ast.Lambda, base: str) -> ir.Atom:
        return self._make_function(node, base if base != "t" else "function")

    def _make_function(self, node: ast.FunctionDef | ast.Lambda, base: str) -> ir.Atom:
        code = next(code for code in self.nested if is_of(node, code))
        own = (
            _own_name(self.source.node.body, node) if isinstance(self.source.node, ast.FunctionDef) else None
        )
        captured = []
        for name in code.co_freevars:
            if name in self.renaming:
                raise refusal(
                    self.source,
                    node,
                    f"a function that captures the comprehension's variable {name}",
                    (f"bind the value now: {name}={name} among the parameters",),
                )
            if name != own and self._may_be_unbound(self.env.get(name, _UNBOUND)):
                raise refusal(
                    self.source,
                    node,
                    f"a nested function that captures {name}, which may have no value yet,",
                    (f"give {name} a value on every path before it",),
                )
            captured.append((name, _UNBOUND if name == own else self._read(name, node)))
        defaults = tuple(self._expression(d) for d in node.args.defaults)
        keyword_defaults = tuple(
            (a.arg, self._expression(d))
            for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if d is not None
        )
        op = ir.MakeFunction(code, tuple(captured), defaults, keyword_defaults)
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
        return f".v{self._hidden}"


_UNBOUND = ir.Const(ir.UNBOUND)


def _equal(left: ir.Atom, right: ir.Atom) -> bool:
    if isinstance(left, ir.Const) and isinstance(right, ir.Const):
        return left is right or (
            type(left.value) is type(right.value)
            and isinstance(left.value, (bool, type(None)))
            and left.value is right.value
        )
    return left == right


def _base(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) and not target.id.startswith(".") else "t"


def _assigned(nodes: Sequence[ast.AST]) -> list[str]:
    """The variables that these nodes bind, in textual order; the scopes of comprehensions are their own."""
    found: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.Lambda)):
            return
        if isinstance(node, ast.FunctionDef):
            found[node.name] = None
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
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
        for name in (getattr(node, "id", None), getattr(node, "attr", None))
        if name is not None and name.startswith("__") and not name.endswith("__")
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
    def __init__(self, full: Mapping[str, str]) -> None:
        self.full = full

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.full.get(node.id, node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        node.attr = self.full.get(node.attr, node.attr)
        self.generic_visit(node)
        return node


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
            if constant.co_name in ("<listcomp>", "<genexpr>"):
                yield from _nested_codes(constant)


class _CaptureCheck:
    """Refuses a nested function whose captured variable changes while the function may be called."""

    def __init__(self, source: Source, cells: set[str]) -> None:
        self.source = source
        self.cells = cells

    def run(self, body: list[ast.stmt]) -> None:
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                    self._check(node, body)

    def _check(self, function: ast.FunctionDef | ast.Lambda, body: list[ast.stmt]) -> None:
        inner = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)} & self.cells
        loops = _enclosing_loops(body, function)
        for name in inner:
            after = [n for s in body for n in _binders(s, name) if _start(n) > _start(function)] or (
                name != _own_name(body, function)
                and any(_gives_its_result_to(s, function, name) for s in body)
            )
            within = any(
                _binders(s, name)
                for loop in loops
                for s in (*loop.body, *([loop.target] if isinstance(loop, ast.For) else []))
            )
            if after or (within and not self._used_at_once(function, loops[-1], body)):
                raise refusal(
                    self.source,
                    function,
                    f"a nested function whose captured variable {name} changes later",
                    (f"bind the value now: {name}={name} among the parameters",),
                )

    def _used_at_once(
        self, function: ast.FunctionDef | ast.Lambda, loop: ast.For | ast.While, body: list[ast.stmt]
    ) -> bool:
        """The function is called, or handed to a call, in the iteration that made it and kept by nobody.

        What a call returns that a lambda was handed to is looked at when it runs (`Move.unkept`).
        """
        if isinstance(function, ast.Lambda):
            return any(
                isinstance(n, ast.Call) and (n.func is function or (function in n.args and not _keeps(n)))
                for n in ast.walk(loop)
            )
        if function not in loop.body:  # made in some iterations only, so perhaps called in a later one
            return False
        uses = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == function.name]
        here = {n for s in loop.body for n in ast.walk(s)}
        called = [n.func for n in here if isinstance(n, ast.Call)]
        return all(
            use in here and _start(use) > _start(function) and any(use is f for f in called) for use in uses
        )


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


def _keeps(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in (
        "append",
        "insert",
        "extend",
        "add",
        "setdefault",
    )


def _binders(node: ast.AST, name: str) -> list[ast.AST]:
    found = [
        n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
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
