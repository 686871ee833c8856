"""Lowers loops, and comprehensions, which are loops that append."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..base import ir
from .bindings import Comprehension, assigned
from .captures import captured_inside
from .consumers import as_calls, is_side_effect_free
from .lowering import UNBOUND, Lowering
from .names import renamed, target_base
from .stopping import may_stop, will_stop

Piece = tuple[ast.expr, str | Callable[[], ir.Atom]]  # a pattern of a loop, and the value it unpacks


Scope = Mapping[str, str]  # the variables of a comprehension -> their names here


class Loops(Lowering):
    """The part of the lowering that iterates."""

    # -- loops -----------------------------------------------------------------------------------------------

    def _for(
        self,
        node: ast.AST,
        iterable: ast.expr,
        target: ast.expr,
        run: Callable[[], None],
        assigning: Sequence[ast.AST],
        generates: bool = False,
    ) -> None:
        """Lower a loop whose body is lowered by `run`; `assigning` are the nodes that may assign in it."""
        pieces: list[Piece] = []
        around, self.between = self.between, node if isinstance(node, ast.expr) else None
        if node in self.stop_of or node in self.acting:
            self.between = None
        outside, self.assigning = self.assigning, assigning
        iteration = self._iteration(self._items_alone(iterable), target, pieces)
        self.between, self.assigning = around, outside
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
        self.block.append(ir.For(self._position(iterable), iteration, block, carried, stop, generates))

    def _assigned(self, nodes: Sequence[ast.AST]) -> list[str]:
        """The variables that these nodes assign, except those that live in cells."""
        return [name for name in assigned(nodes) if name not in self.cells]

    def _open_loop(self, names: list[str]) -> tuple[list[ir.Phi], dict[str, ir.Atom]]:
        """The joins at the start of a loop for the variables it assigns, and the environment with them."""
        env = dict(self.env)
        carried = []
        for name in names:
            phi = ir.Phi(self.names.fresh(name), [self.env.get(name, UNBOUND)])
            self._note_unbound(phi)
            env[name] = phi.target
            carried.append(phi)
        return carried, env

    def _close_loop(
        self, node: ast.AST, names: list[str], carried: list[ir.Phi], env: dict[str, ir.Atom]
    ) -> ir.Atom | None:
        """Complete the joins of a loop with the values after its body; returns its stop flag, or None."""
        for name, phi in zip(names, carried, strict=True):
            phi.sources.append(env.get(name, UNBOUND))
            self.env[name] = phi.target
        flag = self.stop_of.get(node)
        if flag is None:
            return None
        stop = env[flag]
        return None if isinstance(stop, ir.Const) and stop.value is False else stop

    # -- what is looped over ---------------------------------------------------------------------------------

    def _iteration(
        self, iterable: ast.expr, target: ast.expr, pieces: list[Piece], more: bool = False
    ) -> ir.Iteration:
        """Lower an iterable, looking through zip, enumerate and so on; adds patterns to `pieces`.

        With `more`, another iterable may end after an item of this one has been taken. Python has computed
        the item by then, but a loop computes it only in its body, so a generator expression that computes
        its items must not become part of the loop.
        """
        if isinstance(iterable, ast.GeneratorExp):
            plain = len(iterable.generators) == 1 and not iterable.generators[0].ifs
            plain = plain and not will_stop(iterable, self._known)
            if plain and not (more and _computes(iterable)):
                return self._generated(iterable, target, pieces, more)
            if more and self._may_be_early(iterable):
                self.around.early.append(iterable)  # type: ignore[union-attr]
                return ir.Sequence(self._unpackable(iterable), self._item(target, pieces), early=True)
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
                # When its first iterable is exhausted, a strict `zip` asks all the others for another item.
                asked = more or (bool(strict and strict[0]) and len(parts) > 1)
                last = len(parts) - 1
                return ir.Zipped(
                    [
                        self._iteration(i, t, pieces, asked or number < last)
                        for number, (i, t) in enumerate(zip(iterable.args, parts, strict=True))
                    ],
                    strict=bool(strict and strict[0]),
                )
            if plain and len(iterable.args) == 1 and self._is_builtin(iterable.func, "reversed"):
                return ir.Sequence(
                    self._expression(iterable.args[0]), self._item(target, pieces), backwards=True
                )
            if plain and len(iterable.args) == 1 and self._is_builtin(iterable.func, "iter"):
                return self._iteration(iterable.args[0], target, pieces, more)
            start = self._start_of(iterable) if parts and len(parts) == 2 else None
            if start is not None and parts:
                first, counter = self._expression(start), self._item(parts[0], pieces)
                inner = self._iteration(self._items_alone(iterable.args[0], more), parts[1], pieces, more)
                return ir.Enumerated(counter, first, inner)
        if more:
            self.between = None
        value = self._columns(iterable, "t") or self._merged(iterable, "t") or self._expression(iterable)
        return ir.Sequence(value, self._item(target, pieces))

    def _may_be_early(self, generator: ast.GeneratorExp) -> bool:
        """Whether the items of a generator expression may be computed before the loop that asks for them, if
        the function only computes (`opening` checks the rest): nothing that they read is assigned meanwhile.
        """
        if self.around.early is None or will_stop(generator, self._known):
            return False
        read = {n.id for n in ast.walk(generator) if isinstance(n, ast.Name)}
        changing = {*assigned([*self.assigning, generator]), *self.cells}
        return changing.isdisjoint(read)

    def _items_alone(self, iterable: ast.expr, more: bool = False) -> ast.expr:
        """The iterable; a `map` as a generator expression, unless another iterable may end first (`more`)."""
        return (None if more else as_calls(iterable, self._is_builtin, self._ends_none)) or iterable

    def _unpackable(self, node: ast.expr, base: str = "t") -> ir.Atom:
        """Lower a value that is consumed immediately and used nowhere else."""
        if isinstance(node, ast.GeneratorExp):
            return self._get_ListComp(node, "t")
        around, self.between = self.between, node
        found = self._columns(node, base) or self._merged(node, base) or self._expression(node, base)
        self.between = around
        return found

    def _merged(self, node: ast.expr, base: str) -> ir.Atom | None:
        raise NotImplementedError

    def _columns(self, node: ast.expr, base: str) -> ir.Atom | None:
        """`zip(*rows)`, for a caller that consumes it immediately; None for anything else."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
            return None
        rows = node.args[0]
        if not isinstance(rows, ast.Starred) or not self._is_builtin(node.func, "zip"):
            return None
        return self._let(ir.Collect("transposed", (self._unpackable(rows.value),)), node, base)

    def _generator_of(self, iterable: ast.expr) -> tuple[ast.GeneratorExp | None, ast.expr | None]:
        """The generator expression that a loop runs over, and the start of an `enumerate` around it."""
        if isinstance(iterable, ast.GeneratorExp):
            return iterable, None
        start = self._start_of(iterable)
        if isinstance(iterable, ast.Call) and start is not None and is_side_effect_free(start):
            if isinstance(iterable.args[0], ast.GeneratorExp):
                return iterable.args[0], start
        return None, None

    def _start_of(self, call: ast.expr) -> ast.expr | None:
        """The start of `enumerate(iterable)`; None for any other expression."""
        if not isinstance(call, ast.Call) or not call.args:
            return None
        starts = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "start")]
        if len(starts) != len(call.args) - 1 + len(call.keywords) or len(starts) > 1:
            return None
        zero = ast.copy_location(ast.Constant(0), call)
        return (starts or [zero])[0] if self._is_builtin(call.func, "enumerate") else None

    def _generated(
        self, generator: ast.GeneratorExp, target: ast.expr, pieces: list[Piece], more: bool
    ) -> ir.Iteration:
        """The iteration for a generator expression without conditions; its item is computed in the loop."""
        scope = self._scope(generator.generators)

        def item() -> ir.Atom:
            with self._renaming(scope):
                return self._expression(renamed(generator.elt, scope))

        first = generator.generators[0]
        through = self._items_alone(first.iter, more)
        iteration = self._iteration(through, renamed(first.target, scope), pieces, more)
        pieces.append((target, item))
        return iteration

    def _item(self, target: ast.expr, pieces: list[Piece]) -> str:
        name = self.names.fresh(target_base(target))
        pieces.append((target, name))
        return name

    # -- comprehensions --------------------------------------------------------------------------------------

    def _get_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, base: str) -> ir.Atom:
        return self._lists(node, [node.elt], base)[0]

    def _get_SetComp(self, node: ast.SetComp, base: str) -> ir.Atom:
        items = self._get_ListComp(node, "t")
        return self._let(ir.Call(ir.Const(set), (items,)), node, base)

    def _lists(self, node: Comprehension, elements: list[ast.expr], base: str) -> list[ir.Atom]:
        """Lists built by one loop, which appends to a list for each of `elements`."""
        outs = [self.names.hidden() for _ in elements]
        for out in outs:
            self.env[out] = self._let(ir.Build("list", ()), node, base)

        def append(scope: Scope) -> None:
            for out, element in zip(outs, elements, strict=True):
                item = self._expression(renamed(element, scope))
                self.env[out] = self._let(ir.Append(self.env[out], item, hidden=True), node, base)

        self._comprehension(node, outs, append)
        made = [self.env.pop(out) for out in outs]
        for value in made:
            self._let(ir.Publish(value), node, "published")
        return made

    def _short_circuit(self, node: ast.Call, generator: ast.GeneratorExp, kind: str) -> ir.Atom:
        """A loop that stops as soon as the result of `any` or `all` is known."""
        found = self.names.hidden()
        self.env[found] = ir.Const(False)
        self.stop_of[generator] = found

        def look(scope: Scope) -> None:
            test = self._expression(renamed(generator.elt, scope))
            yes, no = (lambda: self.env.__setitem__(found, ir.Const(True))), (lambda: None)
            self._choose(test, *((yes, no) if kind == "any" else (no, yes)), generator.elt)

        self._comprehension(generator, [found], look)
        result = self.env.pop(found)
        return self._let(ir.Unary("not_", result), node) if kind == "all" else result

    def _comprehension(
        self, node: Comprehension, changed: list[str], run: Callable[[Scope], None], generates: bool = True
    ) -> None:
        """The loops of a comprehension around `run`, whose variables get hidden names, since they are local
        to it. `changed` are the variables that `run` assigns.
        """
        generates = generates and isinstance(node, ast.GeneratorExp) and may_stop(node, self._known)
        scope = self._scope(node.generators)
        for name in sorted(captured_inside(node, self._turns_first) & set(scope)):
            self._make_cell(scope[name], UNBOUND, node)
        names = [*changed, *scope.values(), *assigned([node], appends=False)]
        assigning = [ast.Name(n, ast.Store()) for n in names]

        def nest(number: int) -> None:
            if number == len(node.generators):
                run(scope)
                return
            generator = node.generators[number]
            # The first iterable is the only expression evaluated outside the new scope.
            iterable = generator.iter if number == 0 else renamed(generator.iter, scope)
            inside = lambda: self._filtered(generator.ifs, scope, lambda: nest(number + 1))  # noqa: E731
            outermost = generates and number == 0
            self._for(node, iterable, renamed(generator.target, scope), inside, assigning, outermost)

        with self._renaming(scope):
            nest(0)
        for name in scope.values():
            self.env.pop(name, None)
            self.cells.pop(name, None)

    def _scope(self, generators: list[ast.comprehension]) -> Scope:
        names = [n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
        return {name: self.names.hidden() for name in names}

    @contextmanager
    def _renaming(self, scope: Scope) -> Iterator[None]:
        outer, self.renaming = self.renaming, {**self.renaming, **scope}
        yield
        self.renaming = outer

    def _filtered(self, tests: list[ast.expr], renames: Mapping[str, str], run: Callable[[], None]) -> None:
        if not tests:
            run()
            return
        test = self._expression(renamed(tests[0], renames))
        self._choose(test, lambda: self._filtered(tests[1:], renames, run), lambda: None, tests[0])


def _computes(generator: ast.GeneratorExp) -> bool:
    """Whether a generator expression does more than pass its items on, and so may raise or have an effect."""
    target, item = generator.generators[0].target, generator.elt
    same = isinstance(target, ast.Name) and isinstance(item, ast.Name) and item.id == target.id
    return not same
