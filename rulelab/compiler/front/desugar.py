"""Statements that other statements can say, said by them: `else` of loops and of `try`, `finally`, `except*`,
`with`, `match` and `import`.

What is made keeps the author's positions and Python's order of evaluation. Names that are made up start with
a dot, which no user can write.
"""

from __future__ import annotations

import ast
import builtins
import copy
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...parsing import nodes_of
from ...python_facts import JUMPS, jumps
from ..base.source import Source
from . import asking
from .fence import refusal
from .ignoring import Block, bound_in, left_by


class Ask(ast.expr):
    """A question of ours about the values of `args`; see `ir.Ask`."""

    _fields = ("args",)

    def __init__(self, function: Any = None, args: Sequence[ast.expr] = (), answer: str = "any") -> None:
        super().__init__()  # a deep copy is made without arguments, and filled
        self.function, self.args, self.answer = function, args, answer


class Collect(ast.expr):
    """A dict made of the values of `args`; see `ir.Collect`."""

    _fields = ("args",)

    def __init__(self, kind: str = "", args: Sequence[ast.expr] = ()) -> None:
        super().__init__()
        self.kind, self.args = kind, args


@dataclass(frozen=True)
class Plain:
    """The function with fewer kinds of statements.

    A block of `closing` (an `if True:`) holds a `try` and what runs after it however the `try` is left.
    """

    source: Source
    closing: frozenset[ast.stmt]


def plain(source: Source, ignores: Callable[[ast.expr], bool]) -> Plain:
    """The same function in fewer kinds of statements; its nested functions are left as they are.

    `ignores` tells of an expression after `with` whether it is a call of `ignore_derivatives`.
    """
    if isinstance(source.node, ast.Lambda):
        return Plain(source, frozenset())
    rewriter = _Rewriter(source, ignores)
    node = copy.copy(source.node)
    node.body = rewriter.block(node.body)
    return Plain(replace(source, node=node), frozenset(rewriter.closing))


LONGEST_CHAIN = 25  # arms within arms; Python reads no more than a hundred levels of indentation


def arms_of(node: Any) -> tuple[list[Any], Any]:
    """The arms of `if … elif … else`, or of `a if … else b if … else c`, and what is taken if none is."""
    arms, rest = [node], node.orelse
    while True:
        following = rest[0] if isinstance(rest, list) and len(rest) == 1 else rest
        if type(following) is not type(node):
            return arms, rest
        arms.append(following)
        rest = following.orelse


@dataclass
class _Pattern:
    """What one pattern asks and binds, step by step: a test, or an assignment to a made-up name."""

    steps: list[ast.expr | ast.stmt]
    names: dict[str, str]  # the author's names, each with the made-up one that holds its value until all fits


class _Rewriter:
    def __init__(self, source: Source, ignores: Callable[[ast.expr], bool]) -> None:
        self.source = source
        self._ignores = ignores
        self.closing: list[ast.stmt] = []
        self._numbers: dict[str, int] = {}
        self._whole: list[str | None] = []  # of each loop around: the flag that a break takes down

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            method = getattr(self, f"_of_{type(statement).__name__}", None)
            out += [statement] if method is None else method(statement)
        return out

    def _name(self, stem: str) -> str:
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return f".{stem}" if number == 1 else f".{stem}{number}"

    def _of_If(self, node: ast.If) -> list[ast.stmt]:
        arms, last = arms_of(node)
        if len(arms) > LONGEST_CHAIN:
            return self._side_by_side(arms, last)
        new = copy.copy(node)
        new.body, new.orelse = self.block(node.body), self.block(node.orelse)
        return [new]

    def _side_by_side(self, arms: list[ast.If], last: list[ast.stmt]) -> list[ast.stmt]:
        """A long chain of `elif`, each of whose arms stands within the `else` of the one before: a flag tells
        whether an arm has been taken, so that they stand side by side.
        """
        waiting = self._name("waiting")
        out = [_assign(waiting, _true(arms[0]), arms[0])]
        for arm in arms:
            taken = [_assign(waiting, _false(arm), arm), *self.block(arm.body)]
            out.append(_if(_name(waiting, arm), [_if(arm.test, taken, [], arm)], [], arm))
        return [*out, _if(_name(waiting, arms[0]), self.block(last), [], last[0])] if last else out

    # -- loops -----------------------------------------------------------------------------------------------

    def _of_For(self, node: ast.For) -> list[ast.stmt]:
        return self._loop(node, [])

    def _of_While(self, node: ast.While) -> list[ast.stmt]:
        """A head that binds names becomes the first statement of the body, which is differentiated."""
        if not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
            return self._loop(node, [])
        new = copy.copy(node)
        new.test = _at(ast.Constant(True), node.test)
        leave = _at(ast.Break(), node.test)
        return self._loop(new, [_at(ast.If(node.test, [_at(ast.Pass(), node.test)], [leave]), node.test)])

    def _loop(self, node: ast.For | ast.While, head: list[ast.stmt]) -> list[ast.stmt]:
        new = copy.copy(node)
        whole = self._name("whole") if node.orelse and any("break" in jumps(s) for s in node.body) else None
        self._whole.append(whole)
        new.body, new.orelse = [*head, *self.block(node.body)], []
        self._whole.pop()
        orelse = self.block(node.orelse)
        if whole is None:
            return [new, *orelse]
        return [_assign(whole, _true(node), node), new, _if(_name(whole, node), orelse, [], node.orelse[0])]

    def _of_Break(self, node: ast.Break) -> list[ast.stmt]:
        whole = self._whole[-1]
        return [node] if whole is None else [_assign(whole, _false(node), node), node]

    # -- try and with ----------------------------------------------------------------------------------------

    def _of_Try(self, node: ast.Try) -> list[ast.stmt]:
        body = self.block(node.body)
        statements = body
        if node.handlers:
            new = copy.copy(node)
            new.body, new.orelse, new.finalbody, new.handlers = body, [], [], []
            for handler in node.handlers:
                handler = copy.copy(handler)
                handler.body = self.block(handler.body)
                new.handlers.append(handler)
            statements = [new]
            if node.orelse:
                through = self._name("through")
                new.body = [*body, _assign(through, _true(node), node.orelse[0])]
                then = _if(_name(through, node), self.block(node.orelse), [], node.orelse[0])
                statements = [_assign(through, _false(node), node), new, then]
        return self._finally(statements, node) if node.finalbody else statements

    def _finally(self, statements: list[ast.stmt], node: ast.Try | ast.TryStar) -> list[ast.stmt]:
        """The block runs in a handler that raises again, and after the `try` where nothing was raised."""
        final = self.block(node.finalbody)
        for statement in final:
            found = jumps(statement)
            if found and not (statement is final[-1] and type(statement) in JUMPS):
                raise refusal(
                    self.source,
                    node.finalbody[0],
                    f"a conditional {min(found)} in finally",
                    ("jump after the try instead",),
                )
        at, error = node.finalbody[0], self._name("error")
        again = self.block(copy.deepcopy(node.finalbody))
        if not jumps(final[-1]):
            handler = _unwinding(error, [*again, _at(ast.Raise(None, None), at)], at)
            return [self._closed(statements, handler, final, node)]
        left = self._name("left")  # a jump at the end of `finally` swallows the exception
        ours = _if(Ask(asking.is_ours, [_name(error, at)], "bool"), [_at(ast.Raise(None, None), at)], [], at)
        handler = _unwinding(error, [_assign(left, _true(at), at), *again[:-1], ours, again[-1]], at)
        after = _if(_name(left, at), [], final, at)
        return [_assign(left, _false(at), at), self._closed(statements, handler, [after], node)]

    def _of_TryStar(self, node: ast.TryStar) -> list[ast.stmt]:
        """One handler for whatever is raised asks each clause for its share, in turn; what no clause took and
        what their blocks raised goes on after it.
        """
        at = node.handlers[0]
        error, rest, raised, last = map(self._name, ("error", "rest", "raised", "last"))
        body = [_unless_ours(error, at), _assign(rest, _name(error, at), at)]
        body.append(_assign(raised, Ask(asking.none_raised, []), at))
        for clause in node.handlers:
            body += self._clause(clause, error, rest, raised)
        goes_on = Ask(asking.regrouped, [_name(error, at), _name(rest, at), _name(raised, at)])
        same = Ask(operator.is_, [_name(last, at), _name(error, at)], "bool")
        body += [_assign(last, goes_on, at), _if(same, [_at(ast.Raise(None, None), at)], [], at)]
        handled = self._of_Try(_at(ast.Try(node.body, [_unwinding(error, body, at)], node.orelse, []), node))
        raise_last = _at(ast.Raise(_name(last, at), None), at)  # out here the handled one is not its context
        nothing = _assign(last, _at(ast.Constant(None), at), at)
        statements = [nothing, *handled, _if(_is_there(last, at), [raise_last], [], at)]
        return self._finally(statements, node) if node.finalbody else statements

    def _clause(self, clause: ast.ExceptHandler, error: str, rest: str, raised: str) -> list[ast.stmt]:
        """Of what is left in `rest`, one `except*` takes its share; what its block raises is kept."""
        kinds, share, ours, again = map(self._name, ("kinds", "share", "ours", "again"))
        assert clause.type is not None
        given: list[ast.expr] = [_name(rest, clause), _name(kinds, clause)]
        raising = _RaisingAgain(_assign(again, _true(clause), clause), _name(share, clause))
        body = [part for statement in clause.body for part in raising.of(statement)]
        drop: list[ast.stmt] = []
        if clause.name is not None:
            body = [_assign(clause.name, _name(share, clause), clause), *body]
            gone = _at(ast.Delete([ast.Name(clause.name, ast.Del())]), clause)
            drop = [_assign(clause.name, _at(ast.Constant(None), clause), clause), gone]
        told: list[ast.expr] = [_name(name, clause) for name in (raised, ours, share, error, again)]
        keep = _assign(raised, Ask(asking.one_more, told), clause)
        handler = _unwinding(ours, [_unless_ours(ours, clause), keep, *copy.deepcopy(drop)], clause)
        guarded = _at(ast.Try([*body, *drop], [handler], [], []), clause)
        return [
            _assign(kinds, clause.type, clause.type),
            _assign(share, Ask(asking.share_of, copy.deepcopy(given)), clause),
            _assign(rest, Ask(asking.left_over, given), clause),
            _if(_is_there(share, clause), [_assign(again, _false(clause), clause), guarded], [], clause),
        ]

    def _of_With(self, node: ast.With) -> list[ast.stmt]:
        """`__exit__` is called in a handler with the exception, else after the block, once."""
        if any(self._ignores(item.context_expr) for item in node.items):
            return self._ignored(node)
        item, at = node.items[0], node.items[0].context_expr
        if node.items[1:]:
            inner = copy.copy(node)
            inner.items = node.items[1:]
            body = self._of_With(inner)
        else:
            body = self.block(node.body)
        manager, left, error = self._name("manager"), self._name("left"), self._name("error")
        swallowed = self._name("swallowed")
        enter: ast.expr = _call(ast.Attribute(_name(manager, at), "__enter__", ast.Load()), [], at)
        before = [_assign(manager, item.context_expr, at)]
        before.append(_at(ast.Expr(Ask(asking.manages, [_name(manager, at)])), at))
        if item.optional_vars is None:
            before.append(_at(ast.Expr(enter), at))
        else:
            value = self._name("entered")
            before.append(_assign(value, enter, at))
            target = ast.Assign([item.optional_vars], _name(value, at))
            body = [_at(target, item.optional_vars), *body]
        trace = ast.Attribute(_name(error, at), "__traceback__", ast.Load())
        kind = Ask(builtins.type, [_name(error, at)])
        leave = _call(
            ast.Attribute(_name(manager, at), "__exit__", ast.Load()), [kind, _name(error, at), trace], at
        )
        kept = Ask(asking.goes_on, [_name(error, at), _name(swallowed, at)], "bool")
        handler = _unwinding(
            error,
            [
                _assign(left, _true(at), at),
                _assign(swallowed, leave, at),
                _if(kept, [_at(ast.Raise(None, None), at)], [], at),
            ],
            at,
        )
        nothing = [_at(ast.Constant(None), at) for _ in range(3)]
        close = _call(ast.Attribute(_name(manager, at), "__exit__", ast.Load()), nothing, at)
        after = _if(_name(left, at), [], [_at(ast.Expr(close), at)], at)
        block = self._closed(body, handler, [after], node)
        return [*before, _assign(left, _false(at), at), block]

    def _ignored(self, node: ast.With) -> list[ast.stmt]:
        """The block runs as a function of its own, and what it binds is taken from what that leaves."""
        left, at = self._name("left"), node.items[0].context_expr
        bound = bound_in(self.source, node)
        taken = [_assign(name, Ask(left_by, [_name(left, at), ast.Constant(name)]), at) for name in bound]
        return [_assign(left, Block(node, bound), at), *taken]

    def _closed(
        self, body: list[ast.stmt], handler: ast.ExceptHandler, after: list[ast.stmt], at: ast.stmt
    ) -> ast.stmt:
        guarded = _at(ast.Try(body, [handler], [], []), at)
        block = _if(_true(at), [guarded, *after], [], at)
        self.closing.append(block)
        return block

    # -- import ----------------------------------------------------------------------------------------------

    def _of_Import(self, node: ast.Import) -> list[ast.stmt]:
        out = []
        for alias in node.names:
            name, top = ast.Constant(alias.name), alias.name.partition(".")[0]
            inner = Ask(asking.module, [name, ast.Constant(None)])
            found = Ask(asking.top_module, [name]) if alias.asname is None else inner
            out.append(_assign(alias.asname or top, found, node))
        return out

    def _of_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        name = ast.Constant("." * node.level + (node.module or ""))
        package = ast.Name("__package__", ast.Load()) if node.level else ast.Constant(None)
        return [
            _assign(
                alias.asname or alias.name,
                Ask(asking.from_module, [name, package, ast.Constant(alias.name)]),
                node,
            )
            for alias in node.names
        ]

    # -- match -----------------------------------------------------------------------------------------------

    def _of_Match(self, node: ast.Match) -> list[ast.stmt]:
        subject = self._name("subject")
        rest: list[ast.stmt] = []
        for case in reversed(node.cases):
            rest = self._case(case, subject, rest)
        return [_assign(subject, node.subject, node.subject), *rest]

    def _case(self, case: ast.match_case, subject: str, rest: list[ast.stmt]) -> list[ast.stmt]:
        at = case.pattern
        found = _Pattern([], {})
        self._match(case.pattern, _name(subject, at), found)
        body = self.block(case.body)
        bound = [_assign(name, _name(held, at), at) for name, held in found.names.items()]
        tests = [step for step in found.steps if isinstance(step, ast.expr)]
        others = [step for step in found.steps if isinstance(step, ast.stmt)]
        if case.guard is None and found.steps == [*tests, *others]:
            if not tests:
                return [*others, *bound, *body]
            return [_if(_all(tests, at), [*others, *bound, *body], rest, at)]
        waiting = self._name("waiting")
        taken = [_assign(waiting, _false(at), at), *body]
        if case.guard is not None:
            taken = [_if(case.guard, taken, [], case.guard)]
        return [
            _assign(waiting, _true(at), at),
            *_nested(found.steps, [*bound, *taken], at),
            *([_if(_name(waiting, at), rest, [], at)] if rest else []),
        ]

    def _match(self, pattern: ast.pattern, value: ast.Name, into: _Pattern) -> None:
        getattr(self, f"_match_{type(pattern).__name__}")(pattern, value, into)

    def _match_MatchValue(self, pattern: ast.MatchValue, value: ast.Name, into: _Pattern) -> None:
        into.steps.append(_at(ast.Compare(value, [ast.Eq()], [pattern.value]), pattern))

    def _match_MatchSingleton(self, pattern: ast.MatchSingleton, value: ast.Name, into: _Pattern) -> None:
        into.steps.append(_at(ast.Compare(value, [ast.Is()], [ast.Constant(pattern.value)]), pattern))

    def _match_MatchAs(self, pattern: ast.MatchAs, value: ast.Name, into: _Pattern) -> None:
        if pattern.pattern is not None:
            self._match(pattern.pattern, value, into)
        if pattern.name is not None:
            self._bind(pattern.name, value, pattern, into)

    def _bind(self, name: str, value: ast.expr, at: ast.AST, into: _Pattern) -> None:
        held = into.names.setdefault(name, self._name(f"{name}_found"))
        into.steps.append(_assign(held, value, at))

    def _match_MatchOr(self, pattern: ast.MatchOr, value: ast.Name, into: _Pattern) -> None:
        alternatives = []
        for inner in pattern.patterns:
            found = _Pattern([], into.names)
            self._match(inner, value, found)
            alternatives.append(found.steps)
        if all(isinstance(step, ast.expr) for steps in alternatives for step in steps):
            either = [_all([s for s in steps if isinstance(s, ast.expr)], pattern) for steps in alternatives]
            into.steps.append(_at(ast.BoolOp(ast.Or(), either), pattern))
            return
        fits = self._name("fits")
        tried: list[ast.stmt] = []
        for steps in reversed(alternatives):
            tried = [
                *_nested(steps, [_assign(fits, _true(pattern), pattern)], pattern),
                *([_if(_name(fits, pattern), [], tried, pattern)] if tried else []),
            ]
        mine = {n.name for n in ast.walk(pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name}
        mine |= {n.rest for n in ast.walk(pattern) if isinstance(n, ast.MatchMapping) and n.rest}
        for name in sorted(mine):
            into.steps.append(_assign(into.names[name], ast.Constant(None), pattern))
        into.steps += [_assign(fits, _false(pattern), pattern), *tried, _name(fits, pattern)]

    def _match_MatchSequence(self, pattern: ast.MatchSequence, value: ast.Name, into: _Pattern) -> None:
        at, count = pattern, len(pattern.patterns)
        into.steps.append(_at(Ask(asking.is_sequence, [value], "bool"), at))
        star = next((k for k, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)), None)
        size, long_enough = (count, asking.has_length) if star is None else (count - 1, asking.has_at_least)
        into.steps.append(_at(Ask(long_enough, [value, ast.Constant(size)], "bool"), at))
        for number, inner in enumerate(pattern.patterns):
            after = count - 1 - number
            if isinstance(inner, ast.MatchStar):
                if inner.name is not None:
                    upper = ast.UnaryOp(ast.USub(), ast.Constant(after)) if after else None
                    part = ast.Subscript(value, ast.Slice(ast.Constant(number), upper, None), ast.Load())
                    whole = _call(ast.Constant(list), [part], inner)  # type: ignore[arg-type]
                    self._bind(inner.name, whole, inner, into)
                continue
            index: ast.expr = ast.Constant(number)
            if star is not None and number > star:
                index = ast.UnaryOp(ast.USub(), ast.Constant(after + 1))
            self._item(inner, ast.Subscript(value, index, ast.Load()), into)

    def _item(self, inner: ast.pattern, value: ast.expr, into: _Pattern) -> None:
        """The pattern of one part of a value; a part that nobody asks for is not looked at."""
        if isinstance(inner, ast.MatchAs) and inner.pattern is None and inner.name is None:
            return
        part = self._name("part")
        into.steps.append(_assign(part, value, inner))
        self._match(inner, _name(part, inner), into)

    def _match_MatchMapping(self, pattern: ast.MatchMapping, value: ast.Name, into: _Pattern) -> None:
        at = pattern
        into.steps.append(_at(Ask(asking.is_mapping, [value], "bool"), at))
        if pattern.keys:
            into.steps.append(_at(Ask(asking.has_keys, [value, *pattern.keys], "bool"), at))
        for key, inner in zip(pattern.keys, pattern.patterns, strict=True):
            self._item(inner, ast.Subscript(value, key, ast.Load()), into)
        if pattern.rest is not None:
            keys = ast.Tuple([*pattern.keys], ast.Load())
            self._bind(pattern.rest, Collect("left_over", [value, keys]), at, into)

    def _match_MatchClass(self, pattern: ast.MatchClass, value: ast.Name, into: _Pattern) -> None:
        at, cls, count = pattern, pattern.cls, len(pattern.patterns)
        into.steps.append(_at(Ask(asking.is_instance, [value, cls], "bool"), at))
        named: list[tuple[ast.pattern, ast.expr]] = []
        asked: list[ast.expr] = []
        for number, inner in enumerate(pattern.patterns):
            if count == 1:  # which of the two it means is known when the class is
                itself = Ask(asking.matches_itself, [cls], "bool")
                field = Ask(asking.matched_name, [cls, ast.Constant(0), ast.Constant(1)], "str")
                lacks = ast.BoolOp(ast.Or(), [itself, Ask(asking.has_attributes, [value, field], "bool")])
                into.steps.append(_at(lacks, at))
                got = _call(ast.Constant(getattr), [value, field], inner)  # type: ignore[arg-type]
                named.append((inner, ast.IfExp(itself, value, got)))
                continue
            name = self._name("field")
            shape = [cls, ast.Constant(number), ast.Constant(count)]
            into.steps.append(_assign(name, Ask(asking.matched_name, shape, "str"), inner))
            asked.append(_name(name, inner))
            read = _call(ast.Constant(getattr), [value, _name(name, inner)], inner)  # type: ignore[arg-type]
            named.append((inner, read))
        for attribute, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            asked.append(ast.Constant(attribute))
            named.append((inner, ast.Attribute(value, attribute, ast.Load())))
        if asked:
            into.steps.append(_at(Ask(asking.has_attributes, [value, *asked], "bool"), at))
        for inner, part in named:
            self._item(inner, part, into)


class _RaisingAgain(ast.NodeTransformer):
    """A bare `raise` in the block of `except*` raises the share again, and a flag tells that it was bare; one
    in a handler within is that handler's.
    """

    def __init__(self, noted: ast.stmt, share: ast.expr) -> None:
        self.noted, self.share = noted, share

    def of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that take the place of one."""
        found = self.visit(copy.deepcopy(statement))
        return found if isinstance(found, list) else [found]

    def visit_Raise(self, node: ast.Raise) -> Any:
        return node if node.exc is not None else [self.noted, _at(ast.Raise(self.share, None), node)]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node


def _unless_ours(error: str, at: ast.AST) -> ast.stmt:
    """A refusal of ours goes on from here."""
    ours = Ask(asking.is_ours, [_name(error, at)], "bool")
    return _if(ours, [_at(ast.Raise(None, None), at)], [], at)


def _is_there(name: str, at: ast.AST) -> ast.expr:
    return Ask(operator.is_not, [_name(name, at), _at(ast.Constant(None), at)], "bool")


def _nested(steps: list[ast.expr | ast.stmt], inside: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
    """`inside`, done where every test among the steps holds."""
    out = inside
    for step in reversed(steps):
        out = [step, *out] if isinstance(step, ast.stmt) else [_if(step, out, [], at)]
    return out


def _at(node: Any, at: ast.AST) -> Any:
    """The node with the place of `at`, as far as it and its parts have none."""
    for inner in nodes_of(node):
        if isinstance(inner, (ast.expr, ast.stmt, ast.excepthandler)) and not hasattr(inner, "lineno"):
            ast.copy_location(inner, at)
    return node


def _name(name: str, at: ast.AST) -> ast.Name:
    return _at(ast.Name(name, ast.Load()), at)


def _true(at: ast.AST) -> ast.Constant:
    return _at(ast.Constant(True), at)


def _false(at: ast.AST) -> ast.Constant:
    return _at(ast.Constant(False), at)


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), at)


def _if(test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt], at: ast.AST) -> ast.stmt:
    return _at(ast.If(test, then, orelse), at)


def _all(tests: list[ast.expr], at: ast.AST) -> ast.expr:
    if not tests:
        return _true(at)
    return tests[0] if len(tests) == 1 else _at(ast.BoolOp(ast.And(), tests), at)


def _call(function: ast.expr, args: list[ast.expr], at: ast.AST) -> ast.Call:
    return _at(ast.Call(function, args, []), at)


def _unwinding(error: str, body: list[ast.stmt], at: ast.AST) -> ast.ExceptHandler:
    """A handler for whatever is raised, a refusal of ours included."""
    everything = ast.Constant(BaseException)  # type: ignore[arg-type]
    return _at(ast.ExceptHandler(_at(everything, at), error, body), at)
