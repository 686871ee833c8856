"""Lowers a function's syntax tree to the intermediate form: single assignment, evaluation order kept."""

from __future__ import annotations

import ast
import functools
import types
from dataclasses import dataclass

from ...python_facts import BY_NODE
from ..base import ir
from ..base.source import Source
from . import asking
from .bindings import assigned
from .desugar import plain
from .expressions import Expressions
from .fence import check, refusal
from .growing import generates
from .ignoring import ignore_derivatives
from .jumps import RESULT, Straightened
from .loops import Scope
from .lowering import UNBOUND, PerhapsUnbound, Surroundings, known
from .making import made
from .names import renamed, target_base, with_private_names
from .ownership import is_append, is_copy
from .stopping import will_stop
from .unreachable import without_unreachable

_IN_TURN = """
try: body
except BaseException as error:
    if is_ours(error): raise
    chosen
"""
_CLAUSE = """
if is_caught(error, kinds): body
else: others
"""


def parameters_of(code: types.CodeType) -> tuple[str, ...]:
    """The names of the parameters: positional, keyword-only, then `*args` and `**kwargs` if present."""
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def lower(
    source: Source, code: types.CodeType, around: Surroundings, cells: frozenset[str] = frozenset()
) -> ir.Function:
    """The function in the intermediate form; raises UnsupportedSyntaxError for code that is not accepted.

    `cells` are its captured variables that are rebound while it may run.
    """
    source = without_unreachable(source)
    check(source, code)
    shared: set[str] = set()
    while True:
        try:
            given = plain(
                with_private_names(source, code),
                lambda node: _ignores(node, code, around),
                lambda node: known(node, _own_names(code), around),
            )
            return _Lowerer(given, code, around, cells, shared).function()
        except PerhapsUnbound as found:
            shared.update(found.args)


class _Lowerer(Expressions):
    """The lowering of one function, with a method for each kind of statement."""

    def function(self) -> ir.Function:
        node, code = self.source.node, self.code
        parameters = list(parameters_of(code))
        for name in (*parameters, *code.co_freevars):
            self.env[name] = self.names.exact(name)
        for name in sorted(self.rebound):
            self._make_cell(name, self.env.pop(name, UNBOUND), node)
        body = node.body
        if not isinstance(body, list):
            body = [ast.copy_location(ast.Return(body), body)]
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
            frozenset(self.local | self.free),
            self.assumed,
            dict(self.readers),
        )

    # -- statements ------------------------------------------------------------------------------------------

    def _statements(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.statement = statement
            getattr(self, f"_do_{type(statement).__name__}")(statement)

    def _do_Pass(self, node: ast.Pass | ast.Global) -> None:
        pass

    _do_Global = _do_Pass

    def _do_Nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            if name not in self.cells:
                raise refusal(
                    self.source,
                    node,
                    f"nonlocal {name}, a variable of a function that is not differentiated,",
                    ("return the value instead of rebinding a captured variable",),
                )

    def _do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if is_append(node.value) and self._append(node.value):  # type: ignore[arg-type]
            return
        self._expression(node.value)

    def _append(self, node: ast.Call) -> bool:
        """Lower `name.append(value)` for a list that the function owns; returns False for any other."""
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
                self._expression(v, base=target_base(t))
                for t, v in zip(targets.elts, node.value.elts, strict=True)
            ]
            for target, atom in zip(targets.elts, values, strict=True):
                self._store(target, atom)
            return
        one_copy = len(node.targets) == 1 and is_copy(node.value)
        if one_copy and self.ownership.is_changed_copy(targets):
            self._store(targets, self._copied(node.value, target_base(targets)))
            return
        patterns = all(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets)
        read = self._unpackable if patterns and len(node.targets) == 1 else self._expression
        value = read(node.value, base=target_base(node.targets[0]))
        for target in node.targets:
            self._store(target, value)

    def _copied(self, node: ast.expr, base: str) -> ir.Atom:
        """`value.copy()` for a variable that is changed in place; checks that an array was really copied."""
        owner = self._expression(node.func.value)  # type: ignore[attr-defined]
        made = self._let(ir.Call(owner, (), (), "copy"), node, base)
        self._let(ir.Ask(asking.check_copy, (owner, made)), node)
        return made

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self._expression(node.value, base=target_base(node.target)))
        elif not isinstance(node.target, ast.Name):
            self._expression(node.target.value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        operator = BY_NODE[type(node.op)]
        target = node.target
        if isinstance(target, ast.Name):
            left = self._read(target.id, target)
            owned, of_copy = self.ownership.owns(node), self.ownership.owns_copy(node)
            op = ir.Augmented(operator, left, self._expression(node.value), owned, of_copy=of_copy)
            self._assign(target.id, self._let(op, node, target.id))
            return
        kind, owner, key = self._spot(target)
        read: ir.Op = ir.Item(owner, key, for_update=True)
        if isinstance(target, ast.Attribute):
            read = ir.Attribute(owner, target.attr)
        old, of_item = self._let(read, target), kind == "item"
        new = self._let(ir.Augmented(operator, old, self._expression(node.value), False, of_item), node)
        self._let(ir.Write(kind, owner, key, new, self._owned(target)), node)

    def _do_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            if target.id in self.free and target.id not in self.cells:
                raise refusal(self.source, target, f"del of {target.id}, which a nested function captures,")
            self._read(target.id, target)
            self._assign(target.id, UNBOUND)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for inner in target.elts:
                self._delete(inner)
        else:
            kind, owner, key = self._spot(target)
            self._let(ir.Write(f"delete {kind}", owner, key, ir.Const(None)), target)

    # -- branches and loops ----------------------------------------------------------------------------------

    def _do_If(self, node: ast.If) -> None:
        self._choose(
            self._expression(node.test),
            lambda: self._statements(node.body),
            lambda: self._statements(node.orelse),
            node.test,
        )

    def _do_While(self, node: ast.While) -> None:
        names = self._assigned([node.test, *node.body])
        carried, env = self._open_loop(names)
        outer, self.env = self.env, env
        result: list[ir.Atom] = []
        head, _ = self._inside(lambda: result.append(self._expression(node.test)))
        # Names bound in the head stay there: only the test reads it, so it is not differentiated.
        self.env = env
        body, body_env = self._inside(lambda: self._statements(node.body))
        self.env = outer
        stop = self._close_loop(node, names, carried, body_env)
        self.block.append(ir.While(self._position(node.test), head, result[0], body, carried, stop))

    def _do_For(self, node: ast.For) -> None:
        generator, start = self._generator_of(node.iter)
        ends = generator is not None and will_stop(generator, self._known)
        if generator is not None and (assigned([generator], appends=False) or not ends):
            self._for_generated(node, generator, start)
            return
        assigning = [node.target, *node.body, node.iter]
        self._for(node, node.iter, node.target, lambda: self._statements(node.body), assigning)

    def _for_generated(self, node: ast.For, generator: ast.GeneratorExp, start: ast.expr | None) -> None:
        """A loop over a generator expression: the body runs inside the expression's own loops."""
        counter = self.names.hidden()
        changed = assigned([node.target, *node.body])
        if start is not None:
            self.env[counter] = self._expression(start)
            changed.append(counter)
        if node in self.stop_of:
            self.stop_of[generator] = self.stop_of[node]
        self.acting.add(generator)
        outside = self.renaming

        def run(scope: Scope) -> None:
            item = self._expression(renamed(generator.elt, scope))
            inside, self.renaming = self.renaming, outside
            if start is None:
                self._store(node.target, item)
            else:
                number = self.env[counter]
                self.env[counter] = self._let(ir.Binary("add", number, ir.Const(1)), node.iter)
                pair = self._let(ir.Build("tuple", (number, item)), node.iter)
                self._store(node.target, pair)
            self._statements(node.body)
            self.renaming = inside

        # In a block of the author's, StopIteration is not turned into RuntimeError.
        self._comprehension(generator, changed, run, generates=generates(node))
        self.env.pop(counter, None)

    # -- nested functions ------------------------------------------------------------------------------------

    def _do_FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = [self._decorator(decorator) for decorator in node.decorator_list]
        made = self._make_function(node, node.name)
        for decorator, value in zip(reversed(node.decorator_list), reversed(decorators), strict=True):
            if isinstance(value, _Wraps):
                self._let(ir.Ask(asking.take_name, (made, value.function)), decorator)
            else:
                made = self._let(ir.Call(value, (made,)), decorator, node.name)
        self._assign(node.name, made)

    def _decorator(self, node: ast.expr) -> ir.Atom | _Wraps:
        """Lower a decorator; `functools.wraps(f)`, which changes only metadata, becomes a `_Wraps`."""
        if isinstance(node, ast.Call) and self._known(node.func) is functools.wraps:
            if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
                self._expression(node.func)
                return _Wraps(self._expression(node.args[0]))
        return self._expression(node)

    # -- exceptions ------------------------------------------------------------------------------------------

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
        clauses, chosen = tuple(map(self._position, node.handlers)), None
        if not all(self._is_constant(handler.type) for handler in node.handlers):
            chosen = self.names.hidden()
            node = self._asking_in_turn(node, chosen)
        inside = [*node.body, *(s for h in node.handlers for s in h.body)]
        caught = [h.name for h in node.handlers if h.name]  # unbound after their handlers
        assigned = dict.fromkeys((*self._assigned(inside), *caught))
        names = [n for n in assigned if n in self.local or n.startswith(".")]
        slots = [ir.Phi(self.names.fresh(n), [self.env.get(n, UNBOUND)]) for n in names]
        for slot in slots:
            self._note_unbound(slot)
        keeps = {n: s.target for n, s in zip(names, slots, strict=True)}

        def body() -> None:
            self.slots.append(keeps)
            self._statements(node.body)
            self.slots.pop()

        block, body_env = self._inside(body)
        for name, slot in zip(names, slots, strict=True):
            slot.sources.append(body_env.get(name, UNBOUND))
        handlers = [self._handler(handler, keeps) for handler in node.handlers]
        if chosen is not None:
            handlers[0].clauses, handlers[0].chosen = clauses, handlers[0].values[names.index(chosen)]
        for slot, *left in zip(slots, *(handler.values for handler in handlers)):
            if any(map(self._may_be_unbound, (slot.sources[-1], *left))):
                self.names.maybe_unbound.add(slot.target)
        self.block.append(ir.Try(self._position(node), block, handlers, slots))
        for name, slot in zip(names, slots, strict=True):
            self._assign(name, slot.target)

    def _is_constant(self, kinds: ast.expr | None) -> bool:
        """Whether generated code can write the classes of an `except` as the author did."""
        if kinds is None or (isinstance(kinds, ast.Constant) and kinds.value is BaseException):
            return True
        return _only_globals(kinds, self.local | self.free)

    def _asking_in_turn(self, node: ast.Try, number: str) -> ast.Try:
        """A single handler evaluates the classes of each clause in turn, no earlier than Python would, and
        records the `number` of the clause that runs.
        """
        error, at = self.names.hidden(), node.handlers[0]
        chosen: list[ast.stmt] = made("raise", at)
        for k, clause in reversed(list(enumerate(node.handlers, 1))):
            noted = made("number = k", clause, number=number, k=ast.Constant(k))
            bind, drop = ("name = error", "name = None\ndel name") if clause.name else ("", "")
            names = {"name": clause.name, "error": error}
            bound, gone = (made(text, clause, **names) for text in (bind, drop))
            body = [*noted, *bound, *clause.body, *gone]
            if clause.type is None:
                chosen = body
                continue
            chosen = made(_CLAUSE, clause, kinds=clause.type, body=body, others=chosen, **names)
        (new,) = made(_IN_TURN, at, body=node.body, error=error, chosen=chosen)
        assert isinstance(new, ast.Try)
        return new

    def _handler(self, node: ast.ExceptHandler, keeps: dict[str, str]) -> ir.Handler:
        kinds = None
        unwinds = isinstance(node.type, ast.Constant) and node.type.value is BaseException
        if node.type is not None and not unwinds:
            kinds = ast.unparse(node.type)
        name = self.names.fresh(node.name) if node.name else None

        def body() -> None:
            self.env.update(keeps)
            if node.name and name:
                self._assign(node.name, name)
            self._statements(node.body)

        block, env = self._inside(body)
        values = [env[n] if n != node.name else UNBOUND for n in keeps]
        return ir.Handler(self._position(node), kinds, name, block, values, unwinds)


def _ignores(node: ast.expr, code: types.CodeType, around: Surroundings) -> bool:
    """Whether an expression is a call of `ignore_derivatives`, under whatever name."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return known(node.func, _own_names(code), around) is ignore_derivatives


def _own_names(code: types.CodeType) -> set[str]:
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}


@dataclass(frozen=True)
class _Wraps:
    """The decorator `functools.wraps(function)`."""

    function: ir.Atom


def _only_globals(node: ast.expr, local: set[str]) -> bool:
    """Whether an expression consists of global names and their attributes only."""
    return all(
        isinstance(n, (ast.Name, ast.Attribute, ast.Tuple, ast.Load))
        and not (isinstance(n, ast.Name) and n.id in local)
        for n in ast.walk(node)
    )
