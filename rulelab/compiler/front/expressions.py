"""Lowers expressions to the intermediate form, in the order in which Python evaluates their parts."""

from __future__ import annotations

import ast
import functools
import itertools
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...python_facts import BY_NODE, COMPARISONS, PREFIXES
from ...tangents.generator_expressions import generated, tested
from ..base import ir
from ..base.libraries import IMMORTAL
from ..base.source import is_of
from . import asking
from .bindings import assigned
from .captures import own_name
from .consumers import ends_nothing
from .desugar import LONGEST_CHAIN, Collect, arms_of
from .fence import refusal
from .generators import code_of, item_of, test_of
from .ignoring import Block, binds_surely, code_of_block, ignore_derivatives, run_block
from .lowering import UNBOUND, PerhapsUnbound
from .making import Ask
from .restating import Restating


class Expressions(Restating):
    """The part of the lowering that reads values, with one method for each kind of expression."""

    def _get_Constant(self, node: ast.Constant, base: str) -> ir.Atom:
        return ir.Const(node.value)

    def _get_Name(self, node: ast.Name, base: str) -> ir.Atom:
        return self._read(node.id, node)

    def _get_Attribute(self, node: ast.Attribute, base: str) -> ir.Atom:
        owner = self._expression(node.value)
        if node.attr == "__wrapped__":
            self._let(ir.Ask(asking.check_wrapped, (owner,)), node)
        return self._let(ir.Attribute(owner, node.attr), node, base)

    def _get_Subscript(self, node: ast.Subscript, base: str) -> ir.Atom:
        value = self._expression(node.value)
        return self._let(ir.Item(value, self._index(node.slice, value)), node, base)

    def _get_Slice(self, node: ast.Slice, base: str) -> ir.Atom:
        owner = self.sliced
        lower, upper, step = (
            ir.Const(None) if part is None else self._expression(part)
            for part in (node.lower, node.upper, node.step)
        )
        return self._let(ir.Slice(lower, upper, step, owner), node)

    def _get_BinOp(self, node: ast.BinOp, base: str) -> ir.Atom:
        left, right = self._expression(node.left), self._expression(node.right)
        return self._let(ir.Binary(BY_NODE[type(node.op)], left, right), node, base)

    def _get_UnaryOp(self, node: ast.UnaryOp, base: str) -> ir.Atom:
        value = self._expression(node.operand)
        if isinstance(value, ir.Const) and value is not UNBOUND:
            if isinstance(node.op, ast.Not):
                return ir.Const(not value.value)
            if isinstance(node.op, ast.USub) and type(value.value) in (int, float):
                return ir.Const(-value.value)
        return self._let(ir.Unary(PREFIXES[type(node.op)][0], value), node, base)

    def _get_NamedExpr(self, node: ast.NamedExpr, base: str) -> ir.Atom:
        value = self._expression(node.value, node.target.id)
        self._store(node.target, value)
        return value

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

    def _get_GeneratorExp(self, node: ast.GeneratorExp, base: str) -> ir.Atom:
        """A generator expression that is passed on becomes a generator of calls (see `generators`)."""
        if assigned([node], appends=False):
            asked = "a generator expression with := that is passed on"
            raise refusal(self.source, node, asked, ("write a list comprehension",))
        items = self._expression(node.generators[0].iter)
        test = test_of(node)
        if test is not None:
            items = self._generating(tested, test, items, node)
        made = self._generating(generated, item_of(node), items, node)
        if len(node.generators) == 1:
            return made
        return self._let(ir.Call(ir.Const(itertools.chain.from_iterable), (made,)), node, "generated")

    def _generating(
        self, kind: Callable[..., Any], function: ast.FunctionDef, items: ir.Atom, node: ast.GeneratorExp
    ) -> ir.Atom:
        """A generator over `items`, made by `kind` from the code of `function`."""
        own = {*self.local, *self.free, *self.renaming.values()}
        code, names = code_of(function, self.source, self.code, own)
        made = self._nested(code, node, "function", names=names)
        return self._let(ir.Call(ir.Const(kind), (made, items)), node, "generated")

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
        return self._let(ir.Ask(node.function, items), node, base)

    # -- comparisons and choices -----------------------------------------------------------------------------

    def _get_Compare(self, node: ast.Compare, base: str) -> ir.Atom:
        left, right = self._expression(node.left), self._expression(node.comparators[0])
        first = self._let(ir.Compare(COMPARISONS[type(node.ops[0])], left, right), node, base)
        return self._chain(node, first, right, 1)

    def _chain(self, node: ast.Compare, value: ir.Atom, left: ir.Atom, number: int) -> ir.Atom:
        """Lower the rest of a comparison chain, from operator `number` on, run if `value` is true."""
        if number == len(node.ops):
            return value

        def more() -> ir.Atom:
            right = self._expression(node.comparators[number])
            following = self._let(ir.Compare(COMPARISONS[type(node.ops[number])], left, right), node)
            return self._chain(node, following, right, number + 1)

        return self._select(value, more, lambda: value, node)

    def _get_BoolOp(self, node: ast.BoolOp, base: str) -> ir.Atom:
        value = self._expression(node.values[0])
        for following in node.values[1:]:
            more, same = lambda: self._expression(following), lambda: value  # noqa: B023 (called at once)
            then, orelse = (more, same) if isinstance(node.op, ast.And) else (same, more)
            value = self._select(value, then, orelse, node)
        return value

    def _get_IfExp(self, node: ast.IfExp, base: str) -> ir.Atom:
        arms, last = arms_of(node)
        if len(arms) > LONGEST_CHAIN:
            return self._side_by_side(arms, last)
        test = self._expression(node.test)
        return self._select(
            test, lambda: self._expression(node.body), lambda: self._expression(node.orelse), node
        )

    def _side_by_side(self, arms: list[ast.IfExp], last: ast.expr) -> ir.Atom:
        """A long chain of conditional expressions, lowered one after the other instead of nested."""
        value, waiting = self.names.hidden(), self.names.hidden()
        self.env[value], self.env[waiting] = UNBOUND, ir.Const(True)

        def take(body: ast.expr) -> None:
            self.env[value], self.env[waiting] = self._expression(body), ir.Const(False)

        for arm in arms:

            def ask(arm: ast.IfExp = arm) -> None:
                self._choose(self._expression(arm.test), lambda: take(arm.body), lambda: None, arm)

            self._choose(self.env[waiting], ask, lambda: None, arm)
        self._choose(self.env[waiting], lambda: take(last), lambda: None, last)
        self.env.pop(waiting)
        return self.env.pop(value)

    # -- displays --------------------------------------------------------------------------------------------

    def _get_List(self, node: ast.List | ast.Tuple | ast.Set, base: str) -> ir.Atom:
        return self._build(type(node).__name__.lower(), node, node.elts, base)

    _get_Tuple = _get_Set = _get_List

    def _get_Dict(self, node: ast.Dict, base: str) -> ir.Atom:
        if any(key is None for key in node.keys):
            return self._merge("merged", node, list(zip(node.keys, node.values, strict=True)), base)
        pairs = [part for key, value in zip(node.keys, node.values, strict=True) for part in (key, value)]
        return self._build("dict", node, pairs, base)  # type: ignore[arg-type]

    def _get_DictComp(self, node: ast.DictComp, base: str) -> ir.Atom:
        keys, values = self._lists(node, [node.key, node.value], "t")
        return self._collect("paired", (keys, values), node, base)

    def _get_Collect(self, node: Collect, base: str) -> ir.Atom:
        return self._collect(node.kind, tuple(map(self._expression, node.args)), node, base)

    def _collect(self, kind: str, parts: tuple[ir.Atom, ...], node: ast.AST, base: str) -> ir.Atom:
        """A new dict built from other values."""
        made = self._let(ir.Collect(kind, parts), node, base)
        if kind != "keywords":
            self._let(ir.Publish(made), node, "published")
        return made

    def _merge(
        self, kind: str, node: ast.expr, pairs: list[tuple[ast.expr | None, ast.expr]], base: str
    ) -> ir.Atom:
        """A dict from (key, value) pairs and whole mappings (whose key is None), in order."""
        parts: list[ir.Atom] = []
        for whole, run in itertools.groupby(pairs, lambda pair: pair[0] is None):
            atoms = [self._expression(part) for pair in run for part in pair if part is not None]
            parts += atoms if whole else [self._let(ir.Build("dict", tuple(atoms)), node)]
        return self._collect(kind, tuple(parts), node, base)

    def _starred(self, kind: str, node: ast.expr, parts: list[ast.expr], base: str) -> ir.Atom:
        """A display with stars: a sequence for each run of items and each starred value, concatenated."""
        # Not for the arguments of a call, which nobody compares with another tuple.
        anew = isinstance(node, ast.Tuple) and all(isinstance(part, ast.Starred) for part in parts)
        joined = "tuple" if kind == "tuple" and not anew else "list"
        pieces: list[ir.Atom] = []
        for starred, run in itertools.groupby(parts, lambda part: isinstance(part, ast.Starred)):
            if starred:
                pieces += [self._all_of(part, joined) for part in run]  # type: ignore[arg-type]
            else:
                pieces.append(self._let(ir.Build(joined, tuple(map(self._expression, run))), node))
        total = functools.reduce(lambda a, b: self._let(ir.Binary("add", a, b), node), pieces)
        made = set if kind == "set" else tuple if anew else None  # a sum of one tuple would be that tuple
        return total if made is None else self._let(ir.Call(ir.Const(made), (total,)), node, base)

    def _all_of(self, part: ast.Starred, kind: str) -> ir.Atom:
        """The items of `*value`, in a new tuple or list."""
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
        if kind == "tuple":
            self.tuples[made] = items
        else:
            self._let(ir.Publish(made), node, "published")
        return made

    # -- calls -----------------------------------------------------------------------------------------------

    def _get_Call(self, node: ast.Call, base: str) -> ir.Atom:
        method = None
        self._refuse_frame_readers(node)
        if self._is_builtin(node.func, "globals") and not (node.args or node.keywords):
            return self._let(ir.Ask(globals, ()), node, base)  # the pass has the author's globals
        at_once = self._at_once(node, base)
        if at_once is not None:
            return at_once
        if isinstance(node.func, ast.Attribute) and node.func.attr != "__wrapped__":  # which is not a method
            function, method = self._expression(node.func.value), node.func.attr
        else:
            function = self._expression(node.func)
        if any(k.arg is None for k in node.keywords) or not self._is_taken_apart(node):
            return self._apply(node, function, method, base)
        args = self._super_arguments(node)
        for argument in node.args:
            if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.List):
                args += map(self._expression, argument.value.elts)
            elif isinstance(argument, ast.Starred):
                args += self.tuples[self._expression(argument.value)]
            else:
                args.append(self._argument(node, argument))
        keywords = [(k.arg, self._expression(k.value)) for k in node.keywords]
        return self._let(ir.Call(function, tuple(args), tuple(keywords), method), node, base)  # type: ignore[arg-type]

    def _is_taken_apart(self, node: ast.Call) -> bool:
        """Whether each `*` is applied to a tuple that this function makes, or to a list written in the call.
        Its items are then separate arguments, each with its own kind and derivative; in a tuple, constants
        would count as varying.
        """
        starred = [argument.value for argument in node.args if isinstance(argument, ast.Starred)]
        if starred and any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return False  # which may rebind one of these names
        return all(map(self._is_made_here, starred))

    def _is_made_here(self, node: ast.expr) -> bool:
        """Whether an expression is a tuple made in this function, or a display without stars."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return not any(isinstance(part, ast.Starred) for part in node.elts)
        if not isinstance(node, ast.Name) or node.id in self.cells:
            return False
        return self.env.get(node.id, UNBOUND) in self.tuples

    def _apply(self, node: ast.Call, function: ir.Atom, method: str | None, base: str) -> ir.Atom:
        """A call with stars: all positional arguments in a tuple, the keywords in a dict."""
        args = self._build("tuple", node, node.args, "t")
        pairs = _keyword_pairs(node)
        keywords = self._merge("keywords", node, pairs, "t") if pairs else ir.Const(None)
        return self._let(ir.Apply(function, args, keywords, method), node, base)

    def _refuse_frame_readers(self, node: ast.Call) -> None:
        """Refuse calls that read their caller's frame, which is the pass, not the author's function."""
        known = self._known(node.func)
        if any(known is f for f in (eval, exec, locals)) or (
            all(isinstance(a, ast.Starred) for a in node.args) and any(known is f for f in (super, vars, dir))
        ):
            if known is super and "__class__" in self.free and self.code.co_argcount:
                return
            by_name = ("call the method of the class by its name: Base.method(self, ...)",)
            what = f"{known.__name__}(), which reads its caller's variables,"
            raise refusal(self.source, node, what, by_name if known is super else ())

    def _super_arguments(self, node: ast.Call) -> list[ir.Atom]:
        """What `super()` reads from the frame of a method: the class and the first parameter."""
        if node.args or node.keywords or not self._is_builtin(node.func, "super"):
            return []
        return [self._read("__class__", node), self._read(self.code.co_varnames[0], node)]

    def _argument(self, call: ast.Call, node: ast.expr) -> ir.Atom:
        """Lower an argument; a generator expression, or an equivalent call, that the callee consumes
        immediately is read as a list.
        """
        if node is call.args[0] and self._reads_first(call):
            return self._unpackable(self._as_generator(node) or node)
        if node is call.args[0] and isinstance(node, ast.List) and self.around.joins(self._known(call.func)):
            return self._read_at_once(node)
        return self._expression(node)

    def _read_at_once(self, node: ast.expr) -> ir.Atom:
        """Lower a list display from which only an array is made as a tuple, which cannot change."""
        if not isinstance(node, ast.List) or any(isinstance(part, ast.Starred) for part in node.elts):
            return self._expression(node)
        items = tuple(map(self._read_at_once, node.elts))
        return self._let(ir.Build("tuple", items, handed=True), node, "t")

    def _at_once(self, node: ast.Call, base: str) -> ir.Atom | None:
        """Lower a call that other operations can replace: `any`, `all`, `list`, `dict` of pairs or an array
        of the items of a generator expression, or a call that selects or sorts by a key. None for others.
        """
        if (found := self._next(node, base)) is not None:
            return found
        meant = self._restated(node)
        generator = self._as_generator(node.args[0]) if meant is not None else None
        if meant is not None and generator is not None and ends_nothing(generator, self._ends_none):
            self.readers[meant.name] = meant
            items = self._get_ListComp(generator, "t")
            return self._let(ir.Call(ir.Const(np.array), (items, ir.Const(float))), node, base)
        if len(node.args) == 1 and node.keywords:
            return self._ranked(node, base)
        if len(node.args) != 1:
            return self._some_sorted(node, base) or self._reduced(node, base)
        generator = self._as_generator(node.args[0])
        if generator is None:
            return self._merged_at_once(node, base)
        pair = generator.elt
        if any(self._is_builtin(node.func, kind) for kind in ("any", "all")):
            return self._short_circuit(node, generator, node.func.id)  # type: ignore[attr-defined]
        if self._is_builtin(node.func, "list"):
            return self._get_ListComp(generator, base)
        if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and self._is_builtin(node.func, "dict"):
            if not any(isinstance(part, ast.Starred) for part in pair.elts):
                keys, values = self._lists(generator, pair.elts, "t")
                return self._collect("paired", (keys, values), node, base)
        return None

    # -- nested functions ------------------------------------------------------------------------------------

    def _get_Lambda(self, node: ast.Lambda, base: str) -> ir.Atom:
        return self._make_function(node, base if base != "t" else "function")

    def _make_function(self, node: ast.FunctionDef | ast.Lambda, base: str) -> ir.Atom:
        code = self._code_of(node)
        if code is None:
            return self._let(ir.Ask(asking.never_reached, ()), node, base)
        own = own_name(self.source.node.body, node) if isinstance(self.source.node, ast.FunctionDef) else None
        defaults = tuple(self._expression(d) for d in node.args.defaults)
        keyword_defaults = tuple(
            (a.arg, self._expression(d))
            for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if d is not None
        )
        return self._nested(code, node, base, defaults, keyword_defaults, own)

    def _nested(
        self,
        code: types.CodeType,
        node: ast.AST,
        base: str,
        defaults: tuple[ir.Atom, ...] = (),
        keyword_defaults: tuple[tuple[str, ir.Atom], ...] = (),
        own: str | None = None,
        names: Mapping[str, str] | None = None,
    ) -> str:
        """Make a nested function, with the captured values under the names in its code object. `own` is the
        function's own name; `names` maps captured names to the variables that hold them here.
        """
        captured: list[tuple[str, ir.Atom]] = []
        cells = set()
        for name in code.co_freevars:
            inner = self.renaming.get(name, name) if names is None else names.get(name, name)
            if inner in self.cells:
                captured.append((name, self.cells[inner]))
                cells.add(name)
                continue
            if name != own and self._may_be_unbound(self.env.get(inner, UNBOUND)):
                raise PerhapsUnbound(inner)
            captured.append((name, UNBOUND if name == own else self._read(inner, node)))
        op = ir.MakeFunction(code, tuple(captured), frozenset(cells), defaults, keyword_defaults)
        return self._let(op, node, base)

    def _get_Block(self, node: Block, base: str) -> ir.Atom:
        """The block of `with ignore_derivatives():`, as a function that is made and called on the spot."""
        given = [name for name in node.bound if not self._may_be_unbound(self._now(name))]
        for name in node.bound:
            if name not in given and not binds_surely(node.node, name):
                raise refusal(
                    self.source,
                    node.node.items[0].context_expr,
                    f"{name}, which the block may leave without a value,",
                    (f"give {name} a value before the with",),
                )
        called = node.node.items[0].context_expr.func  # type: ignore[attr-defined]
        if isinstance(called, ast.Name):
            self.assumed[called.id] = ignore_derivatives
        around = (self.local | self.free) - set(node.bound)
        code = code_of_block(node.node, self.source.filename, around, given)
        block = self._nested(code, node, "ignored", tuple(self._read(name, node) for name in given))
        return self._let(ir.Call(ir.Const(run_block), (block,)), node, base)

    def _now(self, name: str) -> ir.Atom:
        """The current value of a variable; UNBOUND if it lives in a cell, which may be empty."""
        return UNBOUND if name in self.cells else self.env.get(name, UNBOUND)

    def _code_of(self, node: ast.FunctionDef | ast.Lambda) -> types.CodeType | None:
        """The code object of a nested function; identical lambdas on one line share theirs. None for an
        unreachable function, for which CPython compiles no code.
        """
        for code in self.nested:
            if is_of(node, code):
                return code
        lambdas = (n for n in ast.walk(self.source.node) if isinstance(n, ast.Lambda))
        same = (n for n in lambdas if n.lineno == node.lineno and ast.dump(n) == ast.dump(node))
        return next((code for twin in same for code in self.nested if is_of(twin, code)), None)


def _module_that_stays(node: Ask) -> Any:
    """The imported module, if it is loaded and cannot change while Python runs; else None."""
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


def _keyword_pairs(node: ast.Call) -> list[tuple[ast.expr | None, ast.expr]]:
    """(key, value) for each keyword of a call and (None, mapping) for `**mapping`. A dict display after `**`
    counts as keywords, since nothing else refers to it.
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
    return [  # a repeated keyword is an error, raised by the call itself
        (None if k.arg is None else ast.copy_location(ast.Constant(k.arg), k.value), k.value)
        for k in node.keywords
    ]
