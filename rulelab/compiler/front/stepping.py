"""Lowers loops over `itertools.pairwise`, `accumulate` and `chain`, and `next` of a generator expression.

What these functions do between two items is code of the pass. Left as calls, each item goes through a call
that is resolved at run time.
"""

from __future__ import annotations

import ast
import heapq
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..base import ir
from .consumers import as_calls, as_generator, is_side_effect_free
from .loops import Loops, Scope
from .making import placed, variable
from .names import renamed
from .readers import Restated, path_of

_MOST = 4  # iterables of a `chain`: the block of the loop is written for each of them
DISPLAYS = (ast.List, ast.Tuple, ast.ListComp)
_READING = (ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STEPPED = (itertools.pairwise, itertools.accumulate, itertools.chain)
_HANDING = (heapq.merge, *_STEPPED)


class Stepping(Loops):
    """The part of the lowering that does what functions of `itertools` do between items."""

    def _as_generator(self, node: ast.expr) -> ast.GeneratorExp | None:
        """A generator expression, or the one that is equivalent to a call; None for other expressions."""
        if isinstance(node, ast.GeneratorExp):
            return node
        found = as_generator(node, self._is_builtin, self._ends_none)
        if found is not None or not isinstance(node, ast.Call):
            return found
        if self._steps(node) is not None:
            item = placed(ast.Name("item", ast.Load()), node)
            through = ast.comprehension(placed(ast.Name("item", ast.Store()), node), node, [], 0)
            return ast.copy_location(ast.GeneratorExp(item, [through]), node)
        return self._flattened(node) or self._by_pairs(node)

    def _flattened(self, node: ast.Call) -> ast.GeneratorExp | None:
        """`(item for x in xs for item in f(x))` for `chain.from_iterable(f(x) for x in xs)`."""
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr != "from_iterable" or node.keywords:
            return None
        (rows, *others) = node.args or [node]
        if others or not isinstance(rows, ast.GeneratorExp):
            return None
        if self._known(function.value) is not itertools.chain or self.around.has_rule(self._known(function)):
            return None
        if not self._is_restated(function.value):
            return None
        item = placed(ast.Name(".item", ast.Load()), node)
        last = ast.comprehension(placed(ast.Name(".item", ast.Store()), node), rows.elt, [], 0)
        return ast.copy_location(ast.GeneratorExp(item, [*rows.generators, last]), node)

    def _by_pairs(self, node: ast.Call) -> ast.GeneratorExp | None:
        """`(f(x, y) for x, y in zip(xs, ys))` for `starmap(f, zip(xs, ys))`."""
        if self._known(node.func) is not itertools.starmap or len(node.args) != 2 or node.keywords:
            return None
        function, rows = node.args
        if not isinstance(rows, ast.Call) or not self._is_builtin(rows.func, "zip") or rows.keywords:
            return None
        call = ast.Call(ast.Name("map", ast.Load()), [function, *rows.args], [])
        made = as_calls(placed(call, node), self._is_builtin, self._ends_none)
        return made if made is not None and self._is_restated(node.func) else None

    def _steps(self, node: ast.expr) -> Any:
        """Which of these functions a call calls, with arguments that are understood; None for others."""
        if not isinstance(node, ast.Call) or node.keywords or not node.args:
            return None
        function = self._known(node.func)
        if any(isinstance(part, ast.Starred) for part in node.args):
            return None
        if not any(function is each for each in _STEPPED):
            return None
        if len(node.args) > {itertools.chain: _MOST, itertools.accumulate: 2}.get(function, 1):
            return None
        if len(node.args) == 2 and function is itertools.accumulate:
            return function if self._combined(node.args[1], "", "") is not None else None
        return function

    def _is_restated(self, function: ast.expr) -> bool:
        """Whether calls of a function may be replaced, as it has no rule; if so, the pass relies on that."""
        path, target = path_of(function), self._known(function)
        if path is None or path[0] in self.free or self.around.has_rule(target):
            return False
        self.readers[".".join(path)] = Restated(".".join(path), target, ((path, target),))
        return True

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
        function = self._steps(iterable)
        if function is None or not self._is_restated(iterable.func):  # type: ignore[attr-defined]
            super()._for(node, iterable, target, run, assigning, generates)
            return
        assert isinstance(iterable, ast.Call)
        if function is itertools.chain:
            if node in self.stop_of or not self._may_run_in_turn(node, iterable.args):
                super()._for(node, iterable, target, run, assigning, generates)
                return
            for row in list(map(self._begun, iterable.args)):
                self._for(node, row, target, run, assigning, generates)
            return
        through, *by = iterable.args
        before, begun, item = (self.names.hidden() for _ in range(3))
        # Until the first item there is a number, as most items are; it is never read.
        self.env[before], self.env[begun] = ir.Const(0.0), ir.Const(False)

        def pair() -> None:
            if isinstance(target, ast.Tuple) and len(target.elts) == 2 and not _has_star(target):
                self._store(target.elts[0], self.env[before])
                self._store(target.elts[1], self.env[item])
            else:
                items = (self.env[before], self.env[item])
                self._store(target, self._let(ir.Build("tuple", items), iterable))
            run()

        def add() -> None:
            if by:
                combined = self._combined(by[0], before, item)
                assert combined is not None
                self.env[before] = self._expression(combined)
            else:
                self.env[before] = self._let(
                    ir.Binary("add", self.env[before], self.env[item]), iterable, "sum"
                )

        def first() -> None:
            self.env[before] = self.env[item]

        def step() -> None:
            if function is itertools.pairwise:
                self._choose(self.env[begun], pair, lambda: None, iterable)
                first()
            else:
                self._choose(self.env[begun], add, first, iterable)
                self._store(target, self.env[before])
                run()
            self.env[begun] = ir.Const(True)

        given = [ast.Name(name, ast.Store()) for name in (before, begun, item)]
        name = placed(ast.Name(item, ast.Store()), iterable)
        self._for(node, through, name, step, [*assigning, *given], generates)
        for each in (before, begun, item):
            self.env.pop(each, None)

    def _may_run_in_turn(self, node: ast.AST, rows: list[ast.expr]) -> bool:
        """Whether a loop for each iterable does what one over their `chain` does: Python makes iterators of
        what generators run over before the first item, and these notice when it changes.
        """
        if not isinstance(node, ast.expr) or node in self.acting:
            return False
        generators = [each for row in rows if (each := self._as_generator(row)) is not None]
        over = [each.generators[0].iter for each in generators]
        return self._is_quiet(node) or all(isinstance(each, DISPLAYS) for each in over)

    def _is_quiet(self, reading: ast.expr) -> bool:
        """Whether an expression that reads items only computes: it changes no list and no variable."""
        return isinstance(reading, _READING) and self._changes_nothing(reading)

    def _changes_nothing(self, node: ast.expr) -> bool:
        """Whether an expression only computes."""
        calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
        walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
        handing = [call for call in calls if any(self._known(call) is each for each in _HANDING)]
        return not walrus and all(call in handing or self._ends_none(call) for call in calls)

    def _begun(self, row: ast.expr) -> ast.expr:
        """What stands for an iterable once that which Python evaluates before the first item is evaluated."""
        generator = as_generator(row, self._is_builtin, self._ends_none) or row
        if isinstance(generator, ast.GeneratorExp):
            first, *others = generator.generators
            through = ast.comprehension(first.target, self._begun(first.iter), first.ifs, first.is_async)
            return ast.copy_location(ast.GeneratorExp(generator.elt, [through, *others]), row)
        name = self.names.hidden()
        self.env[name] = self._expression(row)
        return variable(name, row)

    def _combined(self, function: ast.expr, found: str, item: str) -> ast.expr | None:
        raise NotImplementedError

    # -- next ------------------------------------------------------------------------------------------------

    def _next(self, node: ast.Call, base: str) -> ir.Atom | None:
        """Lower `next(x for x in xs if …)`, perhaps with a default; None for any other call."""
        if not self._is_builtin(node.func, "next") or not 1 <= len(node.args) <= 2 or node.keywords:
            return None
        generator, *default = node.args
        if not isinstance(generator, ast.GeneratorExp) or not all(map(is_side_effect_free, default)):
            return None
        if not self._is_restated(node.func):
            return None
        found, stop = self.names.hidden(), self.names.hidden()
        self.env[found] = self._expression(default[0]) if default else ir.Const(0.0)
        self.env[stop] = ir.Const(False)
        self.stop_of[generator] = stop

        def take(scope: Scope) -> None:
            self.env[found] = self._expression(renamed(generator.elt, scope))
            self.env[stop] = ir.Const(True)

        self._comprehension(generator, [found, stop], take)
        if not default:
            self._choose(self.env[stop], lambda: None, lambda: self._fail(StopIteration, (), node), node)
        self.env.pop(stop)
        return self.env.pop(found)

    def _fail(self, kind: type, message: tuple[ir.Atom, ...], node: ast.AST) -> None:
        error = self._let(ir.Call(ir.Const(kind), message), node, "error")
        self.block.append(ir.Raise(self._position(node), error, None))


def _has_star(target: ast.Tuple) -> bool:
    return any(isinstance(part, ast.Starred) for part in target.elts)
