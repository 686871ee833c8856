"""The basis of lowering: variables and their values, blocks and joins, names from outside."""

from __future__ import annotations

import ast
import builtins
import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base import ir
from ..base.source import first_name, names_in
from .bindings import function_alone
from .captures import rebound_captures
from .consumers import consumes_first, ends_none, ends_nothing, is_side_effect_free
from .desugar import Plain
from .names import Names, name_base, target_base
from .ownership import Ownership
from .readers import Reader, Restated, only_computes, restated

UNBOUND = ir.Const(ir.UNBOUND)
OF_CERTAIN_TRUTH = (bool, int, float, complex, str, bytes, type(None), type(...))  # types of literals


@dataclass(frozen=True)
class Surroundings:
    """What the lowering may know about names outside the function."""

    find_global: Callable[[str], Any]  # the object now bound to a global or builtin name, or ir.UNBOUND
    reads_only: Callable[[Any], bool]  # whether a callable neither keeps nor shares its arguments
    makes_fresh: Callable[[Any], bool]  # whether a callable returns a new object
    joins: Callable[[Any], bool] = lambda g: (
        False
    )  # whether it makes the same array from a list as from a tuple
    captured: Mapping[str, Any] = field(default_factory=dict)  # captured variables known for certain
    reader: Callable[[str], Reader | None] = lambda name: (
        None
    )  # the author's function of a global name, if it consumes its first argument immediately
    computing: Callable[[str], Reader | None] = lambda name: (
        None
    )  # the same, if the function does nothing but compute
    has_rule: Callable[[Any], bool] = lambda g: True  # whether a function has been given a rule
    # Gets each generator expression whose items are computed before they are asked for; None if none may be.
    early: list[ast.GeneratorExp] | None = None


class PerhapsUnbound(Exception):
    """A nested function captures the named variable while it may be unbound, so it has to live in a cell."""


class Lowering:
    """The state of one lowering, and the steps shared by statements and expressions."""

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
        self.names = Names(self.local | self.free, set(names_in(code)))
        self.env: dict[str, ir.Atom] = {}
        self.tuples: dict[ir.Atom, tuple[ir.Atom, ...]] = {}  # the tuples made here and their items
        self.block: ir.Block = []
        self.slots: list[dict[str, str]] = []
        self.assumed: dict[str, Any] = {}
        self.readers: dict[str, Reader | Restated] = {}
        self.nested = list(_nested_codes(code))
        self.renaming: dict[str, str] = {}
        self.statement: ast.AST = source.node
        self.rebound = rebound_captures(source.node, set(code.co_cellvars), self._turns_first) | shared
        self.cells: dict[str, ir.Atom] = {name: name for name in cells}  # the cells of such variables
        self.stop_of: dict[ast.AST, str] = {}
        # The expression whose parts run between two items that are being read; None for a statement.
        self.between: ast.expr | None = None
        self.assigning: Sequence[ast.AST] = ()  # what may assign in the loop that is being opened
        self.acting: set[ast.AST] = set()  # comprehensions between whose items other code runs too
        self.sliced: ir.Atom = ir.Const(None)  # the value that is indexed by the expression being lowered

    # -- names -----------------------------------------------------------------------------------------------

    def _known(self, node: ast.expr) -> Any:
        """The object that a dotted name from outside the function refers to now, or UNBOUND."""
        return known(node, self.local | self.free, self.around)

    def _is_builtin(self, node: ast.expr, name: str) -> bool:
        if isinstance(node, ast.Name) and node.id == name and self._known(node) is getattr(builtins, name):
            self.assumed[name] = getattr(builtins, name)
            return True
        return False

    def _reads_first(self, call: ast.Call) -> bool:
        """Whether a call immediately consumes its first argument, a generator expression."""
        if consumes_first(call, self._known):
            return True
        name = call.func.id if isinstance(call.func, ast.Name) else None
        if name is None or name in self.local or name in self.free or call.keywords:
            return False
        first, *others = call.args or [call.func]
        if not isinstance(first, ast.GeneratorExp) or not ends_nothing(first, self._ends_none):
            return False
        if not all(map(is_side_effect_free, others)):
            return False
        if name not in self.readers and (found := self.around.reader(name)) is not None:
            self.readers[name] = found
        return name in self.readers

    def _ends_none(self, callee: ast.expr) -> bool:
        """Whether a call certainly ends no iteration by raising StopIteration: that of a function of C, or of
        one of the author's that only computes.
        """
        if ends_none(self._known(callee)):
            return True
        if not isinstance(callee, ast.Name):
            return False
        if callee.id in self.local:
            made = function_alone(self.source.node, callee.id)
            return made is not None and only_computes(made, self._known)
        if callee.id in self.free:
            return False
        key = f"{callee.id}(…)"
        if key not in self.readers and (found := self.around.computing(callee.id)) is not None:
            self.readers[key] = found
        return key in self.readers

    def _turns_first(self, call: ast.Call) -> bool:
        """Whether a call immediately consumes its first argument, or becomes a loop that does."""
        if self._restated(call) is not None:
            return ends_nothing(call.args[0], self._ends_none)  # type: ignore[arg-type]
        return self._reads_first(call) or any(self._known(call.func) is f for f in (any, all, enumerate))

    def _restated(self, call: ast.Call) -> Restated | None:
        """What replaces a call, if anything; None for a captured callee, which no guard checks."""
        if first_name(call.func) in self.free:
            return None
        return restated(call, self._known, self.around.has_rule)

    def _reads_only(self, node: ast.Call) -> bool:
        known = self._known(node.func)
        if any(known is f for f in (max, min, sum)) and (
            len(node.args) != 1 or node.keywords
        ):  # may return an argument, or a row of one
            return False
        return not _may_share(node) and self.around.reads_only(known)

    @functools.cached_property
    def ownership(self) -> Ownership:
        """The uses of the local variables, analysed only when something is changed in place."""
        return Ownership(self.source.node, self._reads_only, self._makes_fresh)

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

    # -- variables -------------------------------------------------------------------------------------------

    def _make_cell(self, name: str, first: ir.Atom, node: ast.AST) -> None:
        """Have a variable live in a cell from here on: nested functions see it, and it is rebound."""
        self.cells[name] = self._let(ir.MakeCell(first), node, f"{name_base(name)}_cell")

    def _assign(self, name: str, atom: ir.Atom) -> None:
        """Give a variable a new value: in its cell, or in the environment and the slots of `try` blocks."""
        if name in self.cells:
            self._let(ir.Write("cell", self.cells[name], ir.Const(name), atom), self.statement)
            return
        self.env[name] = atom
        for slots in self.slots:
            if name in slots:
                self.block.append(ir.Keep(self._position(), slots[name], atom))

    def _read(self, name: str, node: ast.AST) -> ir.Atom:
        """The value of a variable; emits a check where it may be unbound."""
        if name in self.cells:
            return self._let(ir.ReadCell(self.cells[name], name, name in self.free), node, name_base(name))
        if name == "__debug__":  # CPython compiles no code for the branch it rules out
            return ir.Const(__debug__)
        if name not in self.local and name not in self.free and not name.startswith("."):
            return self._let(ir.Load(name), node, name)
        atom = self.env.get(name, UNBOUND)
        if not self._may_be_unbound(atom):
            return atom
        checked = self._let(ir.Move(atom, checked=name), node, name)
        self.env[name] = checked
        return checked

    def _may_be_unbound(self, atom: ir.Atom) -> bool:
        return atom is UNBOUND or (isinstance(atom, str) and atom in self.names.maybe_unbound)

    def _note_unbound(self, phi: ir.Phi) -> None:
        """Record a join on which the variable may have no value, so that reading it is checked."""
        if any(self._may_be_unbound(source) for source in phi.sources):
            self.names.maybe_unbound.add(phi.target)

    # -- blocks ----------------------------------------------------------------------------------------------

    def _position(self, node: ast.AST | None = None) -> ir.Position:
        node = node or self.statement
        return ir.Position((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset))  # type: ignore[attr-defined]

    def _let(self, op: ir.Op, node: ast.AST, base: str = "t") -> str:
        target = self.names.fresh(base)
        self.block.append(ir.Let(self._position(node), target, op))
        return target

    def _inside(self, run: Callable[[], None]) -> tuple[ir.Block, dict[str, ir.Atom]]:
        """Run with a new block and a copy of the environment, then restore both; returns the new ones."""
        block, env = self.block, self.env
        self.block, self.env = [], dict(env)
        run()
        made, after = self.block, self.env
        self.block, self.env = block, env
        return made, after

    def _choose(
        self, test: ir.Atom, then: Callable[[], None], orelse: Callable[[], None], node: ast.AST
    ) -> None:
        """Lower a branch, joining variables that differ after its arms; a constant test selects one arm."""
        if isinstance(test, ir.Const) and isinstance(test.value, OF_CERTAIN_TRUTH):
            (then if test.value else orelse)()
            return
        position = self._position(node)
        then_block, then_env = self._inside(then)
        else_block, else_env = self._inside(orelse)
        outs = []
        for name in dict.fromkeys((*then_env, *else_env)):
            left, right = then_env.get(name, UNBOUND), else_env.get(name, UNBOUND)
            if not _equal(left, right):
                phi = ir.Phi(self.names.fresh(name), [left, right])
                self._note_unbound(phi)
                outs.append(phi)
                self.env[name] = phi.target
            elif name in then_env:
                self.env[name] = left
        self.block.append(ir.If(position, test, then_block, else_block, outs))

    def _expression(self, node: ast.expr, base: str = "t") -> ir.Atom:
        return getattr(self, f"_get_{type(node).__name__}")(node, base)

    # -- targets of assignments ------------------------------------------------------------------------------

    def _store(self, target: ast.expr, value: ir.Atom) -> None:
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._store_items(target, value)
        else:
            kind, owner, key = self._spot(target)
            self._let(ir.Write(kind, owner, key, value, self._owned(target)), target)

    def _spot(self, target: ast.expr) -> tuple[str, ir.Atom, ir.Atom]:
        """What an assignment to `target` writes: an "item" or an "attribute", its owner, and the key."""
        if isinstance(target, ast.Subscript):
            owner = self._expression(target.value)
            return "item", owner, self._index(target.slice, owner)
        assert isinstance(target, ast.Attribute)
        return "attribute", self._expression(target.value), ir.Const(target.attr)

    def _store_items(self, target: ast.Tuple | ast.List, value: ir.Atom) -> None:
        """`a, *b, c = value`: the starred target gets a list of the remaining items."""
        count = len(target.elts)
        star = next((k for k, t in enumerate(target.elts) if isinstance(t, ast.Starred)), count)
        sequence = self._let(ir.Unpack(value, count - (star < count), or_more=star < count), target)
        for number, inner in enumerate(target.elts):
            if isinstance(inner, ast.Starred):
                upper = ir.Const(star + 1 - count or None)
                part = self._let(ir.Slice(ir.Const(number), upper, ir.Const(None), sequence), inner)
                some = self._let(ir.Item(sequence, part), inner)
                item = self._let(ir.Call(ir.Const(list), (some,)), inner, target_base(inner.value))
                self._store(inner.value, item)
                continue
            index = ir.Const(number if number < star else number - count)
            item = self._let(ir.Item(sequence, index), inner, target_base(inner))
            self._store(inner, item)

    def _owned(self, target: ast.expr) -> bool:
        return (
            isinstance(target, ast.Subscript)
            and isinstance(target.value, ast.Name)
            and target.value.id in self.local
            and self.ownership.owns_unread(target)
        )

    def _index(self, node: ast.expr, owner: ir.Atom) -> ir.Atom:
        """The key in `owner[key]`."""
        around, self.sliced = self.sliced, owner
        key = self._expression(node)
        self.sliced = around
        return key


def known(node: ast.expr, own: set[str], around: Surroundings) -> Any:
    """The object that a dotted name refers to now, or UNBOUND; a captured variable counts only if its value
    is certain. `own` are the function's local and captured names.
    """
    if isinstance(node, ast.Name):
        captured = around.captured.get(node.id, ir.UNBOUND)
        return captured if node.id in own else around.find_global(node.id)
    if isinstance(node, ast.Attribute):
        owner = known(node.value, own, around)
        if isinstance(owner, (types.ModuleType, type)):
            return getattr(owner, node.attr, ir.UNBOUND)
    return ir.UNBOUND


def _equal(left: ir.Atom, right: ir.Atom) -> bool:
    if isinstance(left, ir.Const) and isinstance(right, ir.Const):
        return left is right or (
            type(left.value) is type(right.value)
            and isinstance(left.value, (bool, type(None)))
            and left.value is right.value
        )
    return left == right


def _may_share(node: ast.Call) -> bool:
    """Whether a call that makes a new array may use an existing one: `np.array(x, copy=False)`, `out=x`."""
    return any(keyword.arg in ("copy", "out") for keyword in node.keywords)


def _nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects of the functions defined in this one, including those in its comprehensions."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            if constant.co_name in ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>"):
                yield from _nested_codes(constant)
