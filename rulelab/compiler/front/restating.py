"""Lowers calls that other code can replace: those that select, sort or merge items, and `functools.reduce`.

What chooses items is computed first, and gives their positions, through functions without a derivative
(`tangents/ranks`); what combines them is code of the function, instead of one called out of sight.
"""

from __future__ import annotations

import ast
import functools
import heapq
from collections.abc import Callable

from ...tangents.ranks import (
    order_of,
    place_of_greatest,
    place_of_least,
    places_merged,
    places_of_largest,
    places_of_smallest,
)
from ..base import ir
from .bindings import is_bound_to, is_function_alone
from .consumers import OWN_SCOPES, Ranking, ends_nothing, ranking, some_ranked
from .loops import Scope
from .making import placed, variable
from .names import renamed
from .parting import STAYS
from .stepping import DISPLAYS, Stepping
from .stopping import may_stop

_LISTS = (ast.List, ast.ListComp)
_EMPTY = ir.Const("reduce() of empty iterable with no initial value")
_MOST = 16  # items of a display that are combined one by one


class Restating(Stepping):
    """The part of the lowering that replaces such calls."""

    def _select(
        self, test: ir.Atom, then: Callable[[], ir.Atom], orelse: Callable[[], ir.Atom], node: ast.AST
    ) -> ir.Atom:
        """A value chosen by a branch, held in a variable that author code cannot name."""
        name = self.names.hidden()

        def run(value: Callable[[], ir.Atom]) -> Callable[[], None]:
            return lambda: self.env.__setitem__(name, value())

        self._choose(test, run(then), run(orelse), node)
        return self.env.pop(name)

    # -- places ----------------------------------------------------------------------------------------------

    def _ranked(self, node: ast.Call, base: str) -> ir.Atom | None:
        """Lower `sorted(xs, key=f)`, or `max` or `min` with a key: the keys are computed first, by code of
        this function, and then give the positions of the items to return. None for any other call.
        """
        found = ranking(node)
        if found is None or not self._is_builtin(node.func, found.function) or not self._is_steady(found):
            return None
        return self._by_places(found, node, base) if self._is_restated(node.func) else None

    def _is_steady(self, found: Ranking, *others: ast.expr) -> bool:
        """Whether the key certainly is a function, and the other arguments are the same after the first key
        as before.
        """
        key, given = found.key_function, [*found.others(), *others]
        names = [each.id for each in given if isinstance(each, ast.Name)]
        if found.hides_a_name() or (key is not None and not self._is_function(key)):
            return False
        walrus = any(isinstance(n, ast.NamedExpr) for n in ast.walk(found.items))
        if any(isinstance(each, ast.Attribute) for each in given) or (names and walrus):
            return False
        return not any(name in self.cells for name in names)

    def _is_function(self, name: ast.Name) -> bool:
        """Whether the value of a variable certainly is one function: a key may also be None."""
        if name.id not in self.local | self.free:
            return self._known(name) is not ir.UNBOUND and callable(self._known(name))
        if name.id in self.free:
            return callable(self.around.captured.get(name.id))
        return is_function_alone(self.source.node, name.id)

    def _some_sorted(self, node: ast.Call, base: str) -> ir.Atom | None:
        """Lower `heapq.nsmallest(n, xs, key)` and `nlargest` by indices as well; None for any other call."""
        found = some_ranked(node, self._known(node.func))
        if found is None or not self._is_steady(found, node.args[0]) or not self._is_restated(node.func):
            return None
        count = self._expression(node.args[0])
        if isinstance(node.args[0], ast.Constant):
            return self._by_places(found, node, base, count)

        def none_at_all() -> ir.Atom:  # Python asks for no item then
            self._expression(found.items)
            return self._expression(placed(ast.List([], ast.Load()), node), base)

        some = self._let(ir.Compare(">", count, ir.Const(0)), node)
        return self._select(some, lambda: self._by_places(found, node, base, count), none_at_all, node)

    def _by_places(
        self, found: Ranking, node: ast.Call, base: str, count: ir.Atom | None = None
    ) -> ir.Atom:
        """The items in the order of their keys, the first `count` of them, or the one with the greatest or
        least key.
        """
        for each in (found.key_function, *found.others()):
            if isinstance(each, ast.Name):
                self._expression(each)  # an error here if it has no value
        xs, order, given = self.names.hidden(), self.names.hidden(), self.names.hidden()
        items = found.items
        source: ir.Atom = ir.Const(() if isinstance(items, (ast.List, ast.Tuple, ast.ListComp)) else None)
        if count is not None and source.value is None and self._as_generator(items) is None:  # type: ignore[union-attr]
            source = self.env[given] = self._expression(items)
            items = variable(given, node)
        if found.function == "sorted" and not isinstance(items, (ast.List, ast.Tuple, ast.ListComp)):
            # `sorted` takes all items before it computes a key; `max` computes a key as soon as it has one.
            self.env[xs] = self._get_ListComp(self._as_generator(items) or _each(".item", items, node), "t")
            items = variable(xs, node)
        keyed = _each(".item", items, node)
        if found.goes_on() and isinstance(items, ast.GeneratorExp):
            (last,) = keyed.generators
            last.iter = ast.copy_location(ast.Tuple([items.elt], ast.Load()), items.elt)
            keyed.generators = [*items.generators, last]
        if isinstance(found.key, ast.Name) and found.key.id == ".item":
            keys = self.env[xs] = self._lists(keyed, [keyed.elt], "t")[0]
        else:
            self._note_acting(keyed, found.key)
            self.env[xs], keys = self._lists(keyed, [keyed.elt, found.key], "t")
        self.env.pop(given, None)
        if found.function in ("max", "min"):
            ranked, place = self.env.pop(xs), place_of_greatest if found.function == "max" else place_of_least

            def chosen() -> ir.Atom:
                at = self._let(ir.Call(ir.Const(place), (keys,)), node, "place")
                return self._let(ir.Item(ranked, at), node, base)

            default = found.default
            if default is None:
                return chosen()
            count = self._let(ir.Call(ir.Const(len), (keys,)), node, "count")
            return self._select(count, chosen, lambda: self._expression(default), node)
        if count is not None:
            first = places_of_smallest if found.function == "nsmallest" else places_of_largest
            call = ir.Call(ir.Const(first), (count, keys, source))
        else:
            more = () if found.reverse is None else (self._expression(found.reverse),)
            call = ir.Call(ir.Const(order_of), (keys, *more))
        self.env[order] = self._let(call, node, "order")
        made = self._in_order(xs, order, node, base)
        self.env.pop(xs), self.env.pop(order)
        return made

    def _note_acting(self, through: ast.expr, more: ast.expr) -> None:
        """Note that code which may change something runs between the items of a comprehension."""
        if not self._changes_nothing(more):
            self.acting.add(through)

    def _merged(self, node: ast.expr, base: str) -> ir.Atom | None:
        """Lower `heapq.merge(xs, ys)`, for a caller that reads it, as the list of its items; None for any
        other call, and where the code that runs between two items may show that Python reads one by one.
        """
        if not isinstance(node, ast.Call) or self._known(node.func) is not heapq.merge:
            return None
        reverse, words = False, node.keywords
        if words:
            if len(words) > 1 or words[0].arg != "reverse" or not isinstance(words[0].value, ast.Constant):
                return None
            reverse = bool(words[0].value.value)
        if not all(map(self._stays, node.args)) or not self._is_restated(node.func):
            return None
        xs, order, ends = self.names.hidden(), self.names.hidden(), []
        self.env[xs] = self._let(ir.Build("list", ()), node, base)
        for row in node.args:
            self._comprehension(_each(".item", row, node), [xs], lambda scope: self._append_item(xs, scope))
            ends.append(self._let(ir.Call(ir.Const(len), (self.env[xs],)), node, "end"))
        self._let(ir.Publish(self.env[xs]), node, "published")
        rows = self._let(ir.Build("tuple", tuple(ends)), node, "ends")
        call = ir.Call(ir.Const(places_merged), (self.env[xs], rows, ir.Const(reverse)))
        self.env[order] = self._let(call, node, "order")
        made = self._in_order(xs, order, node, base)
        self.env.pop(xs), self.env.pop(order)
        return made

    def _merged_at_once(self, node: ast.Call, base: str) -> ir.Atom | None:
        """Lower `list(heapq.merge(xs, ys))`; None for any other call."""
        if self._known(node.func) is not list or not self._is_builtin(node.func, "list"):
            return None
        around, self.between = self.between, node
        found = self._merged(node.args[0], base)
        self.between = around
        return found

    def _append_item(self, xs: str, scope: Scope) -> None:
        item = self._read(scope[".item"], self.statement)
        self.env[xs] = self._let(ir.Append(self.env[xs], item, hidden=True), self.statement)

    def _in_order(self, xs: str, order: str, node: ast.AST, base: str) -> ir.Atom:
        """The list of the items of one list at the places in another."""
        items = _each("place", variable(order, node), node)
        items.elt = placed(ast.Subscript(variable(xs, node), items.elt, ast.Load()), node)
        return self._get_ListComp(items, base)

    def _stays(self, items: ast.expr) -> bool:
        """Whether an iterable has the same items whenever they are read: only this function knows it, and
        its items, if computed, are numbers of what nothing else changes.
        """
        if isinstance(items, DISPLAYS) or (isinstance(items, ast.Name) and items.id.startswith(STAYS)):
            return True
        if isinstance(items, ast.Name):  # of two names for one iterator, each would take what the other has
            is_list = items.id not in self.cells and is_bound_to(self.source.node, items.id, _LISTS)
            return is_list and self.between is not None and self._is_quiet(self.between)
        if not isinstance(items, ast.GeneratorExp) or len(items.generators) > 1:
            return False
        if self.between is None or not self._is_quiet(self.between):
            return False
        return self._stays(items.generators[0].iter) and ends_nothing(items, self._ends_none)

    # -- functools.reduce ------------------------------------------------------------------------------------

    def _reduced(self, node: ast.Call, base: str) -> ir.Atom | None:
        """Lower `functools.reduce(f, xs)`, with or without a start, as a loop; None for any other call."""
        if self._known(node.func) is not functools.reduce or node.keywords or len(node.args) > 3:
            return None
        if any(isinstance(part, ast.Starred) for part in node.args):
            return None
        function, items, *start = node.args
        found, item = self.names.hidden(), self.names.hidden()
        combined = self._combined(function, found, item)
        through = self._as_generator(items) or _each(".item", items, node)
        if combined is None or may_stop(through, self._known) or not self._is_restated(node.func):
            return None
        self._note_acting(through, combined)
        if isinstance(function, ast.Name):
            self._expression(function)  # an error here if it has no value
        if start and not isinstance(items, (ast.List, ast.Tuple)) and not isinstance(start[0], ast.Constant):
            return None
        if isinstance(items, (ast.List, ast.Tuple)) and 0 < len(items.elts) <= _MOST:
            if not any(isinstance(part, ast.Starred) for part in items.elts):
                return self._combined_in_turn(items.elts, start, (found, item), combined)
        begun = self.names.hidden()
        # Until the first item there is a number, as most items are; it is never read.
        self.env[found], self.env[begun] = ir.Const(0.0), ir.Const(False)
        if start:
            self.env[found], self.env[begun] = self._expression(start[0]), ir.Const(True)

        def combine() -> None:
            self.env[found] = self._expression(combined)

        def begin() -> None:
            self.env[found], self.env[begun] = self.env[item], ir.Const(True)

        def run(scope: Scope) -> None:
            self.env[item] = self._expression(renamed(through.elt, scope))
            self._choose(self.env[begun], combine, begin, node)

        self._comprehension(through, [found, item] if start else [found, item, begun], run)
        if not start:
            self._choose(self.env[begun], lambda: None, lambda: self._fail(TypeError, (_EMPTY,), node), node)
        self.env.pop(begun), self.env.pop(item, None)
        return self.env.pop(found)

    def _combined(self, function: ast.expr, found: str, item: str) -> ast.expr | None:
        """What a function of two arguments returns for two variables; None for one that may be anything, or
        that makes functions, which would capture the variables instead of its parameters.
        """
        names = [found, item]
        if isinstance(function, ast.Lambda):
            given = function.args
            if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
                return None
            if len(given.args) != 2 or any(isinstance(n, OWN_SCOPES) for n in ast.walk(function.body)):
                return None
            return renamed(function.body, dict(zip((each.arg for each in given.args), names)))
        certain = isinstance(function, ast.Attribute) or (
            isinstance(function, ast.Name) and self._is_function(function)
        )
        if not certain or (isinstance(function, ast.Attribute) and not callable(self._known(function))):
            return None
        return ast.copy_location(ast.Call(function, [variable(n, function) for n in names], []), function)

    def _combined_in_turn(
        self, items: list[ast.expr], start: list[ast.expr], names: tuple[str, str], combined: ast.expr
    ) -> ir.Atom:
        """The items of a display, each combined with what was found before."""
        found, item = names
        atoms = [self._expression(part) for part in (*items, *start)]
        value, *others = [*atoms[len(items) :], *atoms[: len(items)]]
        for atom in others:
            self.env[found], self.env[item] = value, atom
            value = self._expression(combined)
        self.env.pop(found, None), self.env.pop(item, None)
        return value


def _each(name: str, items: ast.expr, at: ast.AST) -> ast.ListComp:
    """`[name for name in items]`"""
    through = ast.comprehension(ast.Name(name, ast.Store()), items, [], 0)
    found: ast.ListComp = placed(ast.ListComp(ast.Name(name, ast.Load()), [through]), at)
    return found
