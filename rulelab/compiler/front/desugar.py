"""Rewrites statements in terms of simpler ones: `else` of loops and of `try`, `finally`, `except*`, `with`,
`match` and `import`.

The new statements keep the author's positions and Python's order of evaluation.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...parsing import cloned, nodes_of
from ...python_facts import JUMPS, jumps
from ..base.copying import shallow
from ..base.source import Source
from . import asking
from .fence import refusal
from .growing import Growing, may_grow
from .ignoring import Block, bound_in, left_by
from .iterators_in_place import in_place
from .making import Ask, assign, branch, flag, made, placed, variable
from .parting import Parting


class Collect(ast.expr):
    """A dict built from the values of `args`; see `ir.Collect`."""

    _fields = ("args",)

    def __init__(self, kind: str = "", args: Sequence[ast.expr] = ()) -> None:
        super().__init__()
        self.kind, self.args = kind, args


@dataclass(frozen=True)
class Plain:
    """A function rewritten in fewer kinds of statements.

    Each block in `closing` (an `if True:`) holds a `try` and the code that runs after it however it is left.
    """

    source: Source
    closing: frozenset[ast.stmt]


def plain(
    source: Source, ignores: Callable[[ast.expr], bool], known: Callable[[ast.expr], Any] = lambda node: None
) -> Plain:
    """The function rewritten in fewer kinds of statements; nested functions are left as they are.

    `ignores` says whether an expression after `with` is a call of `ignore_derivatives`, `known` gives the
    object that a name from outside the function refers to.
    """
    if isinstance(source.node, ast.Lambda):
        return Plain(source, frozenset())
    rewriter = _Rewriter(source, ignores, known)
    node = shallow(source.node)
    node.body = rewriter.block(node.body)
    return Plain(source.of(node), frozenset(rewriter.closing))


LONGEST_CHAIN = 25  # arms within arms; Python allows no more than a hundred levels of indentation


def arms_of(node: Any) -> tuple[list[Any], Any]:
    """The arms of `if … elif … else`, or of `a if … else b if … else c`, and what runs if none is taken."""
    arms, rest = [node], node.orelse
    while True:
        following = rest[0] if isinstance(rest, list) and len(rest) == 1 else rest
        if type(following) is not type(node):
            return arms, rest
        arms.append(following)
        rest = following.orelse


_FINALLY = """
if True:
    try:
        body
    except BaseException as error:
        again
        raise
    final
"""
_FINALLY_THAT_JUMPS = """
left = False
if True:
    try:
        body
    except BaseException as error:
        left = True
        again
        if is_ours(error): raise
        jump
    if left: pass
    else: final
"""
_TRY_STAR = """
last = None
try:
    body
except BaseException as error:
    if is_ours(error): raise
    rest = error
    raised = none_raised()
    clauses
    last = regrouped(error, rest, raised)
    if last is error: raise
else:
    orelse
if last is not None: raise last  # out here the handled one is not its context
"""
_CLAUSE = """
kinds = wanted
share = share_of(rest, kinds)
rest = left_over(rest, kinds)
if share is not None:
    again = False
    try:
        body
    except BaseException as ours:
        if is_ours(ours): raise
        raised = one_more(raised, ours, share, error, again)
        gone
"""
_ENTER = """
manager = context
manages(manager)
entered = manager.__enter__()
"""
_LEAVE = """
left = False
if True:
    try:
        body
    except BaseException as error:
        left = True
        swallowed = manager.__exit__(kind, error, error.__traceback__)
        if goes_on(error, swallowed): raise
    if left: pass
    else: manager.__exit__(None, None, None)
"""


@dataclass
class _Pattern:
    """The steps of matching one pattern: each is a test, or an assignment to a generated name."""

    steps: list[ast.expr | ast.stmt]
    names: dict[str, str]  # author's name -> generated name that holds its value until all matches

    def ask(self, question: Callable[..., bool], at: ast.AST, *args: ast.expr) -> None:
        self.steps.append(placed(Ask(question, args), at))


class _Rewriter:
    def __init__(
        self, source: Source, ignores: Callable[[ast.expr], bool], known: Callable[[ast.expr], Any]
    ) -> None:
        self.source = source
        self._ignores = ignores
        self.closing: list[ast.stmt] = []
        self._parting = Parting(known, lambda name: self._growing.is_list(name), self._name)
        self._numbers: dict[str, int] = {}
        self._whole: list[str | None] = []  # for each enclosing loop, the flag that a break clears

    @functools.cached_property
    def _nodes(self) -> list[Any]:
        return nodes_of(self.source.node)

    @functools.cached_property
    def _growing(self) -> Growing:
        return Growing(self._nodes, self.source.node.body, self._name)

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in in_place(statements, lambda: self._nodes, self._parting):
            method = getattr(self, f"_of_{type(statement).__name__}", None)
            out += [statement] if method is None else method(statement)
        return out

    def _name(self, stem: str) -> str:
        number = self._numbers[stem] = self._numbers.get(stem, 0) + 1
        return f".{stem}" if number == 1 else f".{stem}{number}"

    def _names(self, *stems: str) -> dict[str, str]:
        return {stem: self._name(stem) for stem in stems}

    def _of_Expr(self, node: ast.Expr | ast.AugAssign | ast.Assign) -> list[ast.stmt]:
        """Rewrite a statement that adds several items to a list or dict made by this function."""
        if not may_grow(node):
            return [node]
        return self._growing.statements(node) or [node]

    _of_AugAssign = _of_Assign = _of_Expr

    def _of_If(self, node: ast.If) -> list[ast.stmt]:
        arms, last = arms_of(node)
        if len(arms) > LONGEST_CHAIN:
            return self._side_by_side(arms, last)
        new = shallow(node)
        new.body, new.orelse = self.block(node.body), self.block(node.orelse)
        return [new]

    def _side_by_side(self, arms: list[ast.If], last: list[ast.stmt]) -> list[ast.stmt]:
        """A long `elif` chain, whose arms are nested in each other, as a flat sequence: a flag records
        whether an arm has been taken.
        """
        waiting = self._name("waiting")
        out = [flag(waiting, True, arms[0])]
        for arm in arms:
            taken = [flag(waiting, False, arm), *self.block(arm.body)]
            out.append(branch(variable(waiting, arm), [branch(arm.test, taken, [], arm)], [], arm))
        return [*out, branch(variable(waiting, arms[0]), self.block(last), [], last[0])] if last else out

    # -- loops -----------------------------------------------------------------------------------------------

    def _of_For(self, node: ast.For) -> list[ast.stmt]:
        return self._loop(node, [])

    def _of_While(self, node: ast.While) -> list[ast.stmt]:
        """A condition that binds names becomes the first statement of the body, which is differentiated."""
        if not any(isinstance(n, ast.NamedExpr) for n in ast.walk(node.test)):
            return self._loop(node, [])
        new = shallow(node)
        new.test = placed(ast.Constant(True), node.test)
        return self._loop(new, made("if test: pass\nelse: break", node.test, test=node.test))

    def _loop(self, node: ast.For | ast.While, head: list[ast.stmt]) -> list[ast.stmt]:
        new = shallow(node)
        whole = self._name("whole") if node.orelse and any("break" in jumps(s) for s in node.body) else None
        self._whole.append(whole)
        new.body, new.orelse = [*head, *self.block(node.body)], []
        self._whole.pop()
        orelse = self.block(node.orelse)
        if whole is None:
            return [new, *orelse]
        return [flag(whole, True, node), new, branch(variable(whole, node), orelse, [], node.orelse[0])]

    def _of_Break(self, node: ast.Break) -> list[ast.stmt]:
        whole = self._whole[-1]
        return [node] if whole is None else [flag(whole, False, node), node]

    def _not_left(self, at: ast.AST) -> list[ast.stmt]:
        """Undo a `break`: sets the flag again where an exception, or a jump in `finally`, overrides it."""
        whole = self._whole[-1] if self._whole else None
        return [] if whole is None else [flag(whole, True, at)]

    def _of_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        """A `continue` in `finally` overrides a `break`."""
        return [*self._not_left(node), node]

    # -- try and with ----------------------------------------------------------------------------------------

    def _of_Try(self, node: ast.Try) -> list[ast.stmt]:
        statements = self.block(node.body)
        if node.handlers:
            new = shallow(node)
            new.body, new.orelse, new.finalbody = statements, [], []
            new.handlers = [shallow(handler) for handler in node.handlers]
            for handler in new.handlers:
                handler.body = [*self._not_left(handler), *self.block(handler.body)]
            statements = [new]
            if node.orelse:
                at, through = node.orelse[0], self._name("through")
                new.body = [*new.body, flag(through, True, at)]
                then = branch(variable(through, node), self.block(node.orelse), [], at)
                statements = [flag(through, False, at), new, then]
        return self._finally(statements, node) if node.finalbody else statements

    def _finally(self, statements: list[ast.stmt], node: ast.Try | ast.TryStar) -> list[ast.stmt]:
        """The `finally` block runs in a handler that re-raises, and after the `try` if nothing was raised."""
        final, at = self.block(node.finalbody), node.finalbody[0]
        for statement in final:
            found = jumps(statement)
            if found and not (statement is final[-1] and type(statement) in JUMPS):
                what = f"a conditional {min(found)} in finally"
                raise refusal(self.source, at, what, ("jump after the try instead",))
        again, error = self.block([cloned(one) for one in node.finalbody]), self._name("error")
        if not jumps(final[-1]):
            return self._closed(_FINALLY, at, body=statements, error=error, again=again, final=final)
        left = self._name("left")  # a jump at the end of `finally` swallows the exception
        parts = {"again": again[:-1], "jump": again[-1:], "final": final}
        return self._closed(_FINALLY_THAT_JUMPS, at, body=statements, error=error, left=left, **parts)

    def _of_TryStar(self, node: ast.TryStar) -> list[ast.stmt]:
        """A single handler gives each clause in turn its share of the exception; what no clause handled and
        what the clauses raised propagates afterwards.
        """
        names = self._names("error", "rest", "raised", "last")
        clauses = [part for clause in node.handlers for part in self._clause(clause, names)]
        parts = {"body": node.body, "orelse": node.orelse, "clauses": clauses, **names}
        statements = self.block(made(_TRY_STAR, node.handlers[0], **parts))
        return self._finally(statements, node) if node.finalbody else statements

    def _clause(self, clause: ast.ExceptHandler, around: dict[str, str]) -> list[ast.stmt]:
        """One `except*` takes its share of what is left in `rest`; what its block raises is recorded."""
        names = around | self._names("kinds", "share", "ours", "again")
        raising = _RaisingAgain(made("again = True\nraise share", clause, **names))
        body = [part for statement in clause.body for part in raising.of(statement)]
        bind, drop = ("name = share", "name = None\ndel name") if clause.name else ("", "")
        parts: dict[str, Any] = {"name": clause.name, **names}
        bound, gone, unbound = (made(text, clause, **parts) for text in (bind, drop, drop))
        return made(_CLAUSE, clause, wanted=clause.type, body=[*bound, *body, *gone], gone=unbound, **names)

    def _of_With(self, node: ast.With) -> list[ast.stmt]:
        """`__exit__` is called exactly once: in a handler with the exception, or else after the block."""
        if any(self._ignores(item.context_expr) for item in node.items):
            return self._ignored(node)
        item, inner = node.items[0], shallow(node)
        inner.items = node.items[1:]
        body = self._of_With(inner) if inner.items else self.block(node.body)
        names = self._names("manager", "left", "error", "swallowed", "entered")
        target, at = item.optional_vars, item.context_expr
        if target is not None:
            body = [*made("target = entered", target, target=target, **names), *body]
        before = made(_ENTER, at, context=at, **names)
        kind = Ask(builtins.type, [variable(names["error"], at)])
        return before + self._closed(_LEAVE, at, body=body, kind=kind, **names)

    def _ignored(self, node: ast.With) -> list[ast.stmt]:
        """The block runs as a function, and the names it binds are read from that function's result."""
        left, at = self._name("left"), node.items[0].context_expr
        bound = bound_in(self.source, node)
        taken = [assign(name, Ask(left_by, [variable(left, at), ast.Constant(name)]), at) for name in bound]
        return [assign(left, Block(node, bound), at), *taken]

    def _closed(self, text: str, at: ast.AST, **parts: Any) -> list[ast.stmt]:
        """Statements from a template that ends with a `try` and the code to run however it is left."""
        statements = made(text, at, **parts)
        for handler in statements[-1].body[0].handlers:  # type: ignore[attr-defined]
            handler.body = [*self._not_left(at), *handler.body]
        self.closing.append(statements[-1])
        return statements

    # -- import ----------------------------------------------------------------------------------------------

    def _of_Import(self, node: ast.Import) -> list[ast.stmt]:
        out = []
        for alias in node.names:
            name, top = ast.Constant(alias.name), alias.name.partition(".")[0]
            inner = Ask(asking.module, [name, ast.Constant(None)])
            found = Ask(asking.top_module, [name]) if alias.asname is None else inner
            out.append(assign(alias.asname or top, found, node))
        return out

    def _of_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        name = ast.Constant("." * node.level + (node.module or ""))
        package = ast.Name("__package__", ast.Load()) if node.level else ast.Constant(None)
        return [
            assign(
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
        return [assign(subject, node.subject, node.subject), *rest]

    def _case(self, case: ast.match_case, subject: str, rest: list[ast.stmt]) -> list[ast.stmt]:
        at = case.pattern
        found = _Pattern([], {})
        self._match(at, variable(subject, at), found)
        body = self.block(case.body)
        bound = [assign(name, variable(held, at), at) for name, held in found.names.items()]
        tests, others = _tests(found.steps), [step for step in found.steps if isinstance(step, ast.stmt)]
        if case.guard is None and found.steps == [*tests, *others]:
            whole = [*others, *bound, *body]
            return [branch(_all(tests, at), whole, rest, at)] if tests else whole
        waiting = self._name("waiting")
        taken = [flag(waiting, False, at), *body]
        if case.guard is not None:
            taken = [branch(case.guard, taken, [], case.guard)]
        out = [flag(waiting, True, at), *_nested(found.steps, [*bound, *taken], at)]
        return [*out, branch(variable(waiting, at), rest, [], at)] if rest else out

    def _match(self, pattern: ast.pattern, value: ast.Name, into: _Pattern) -> None:
        getattr(self, f"_match_{type(pattern).__name__}")(pattern, value, into)

    def _match_MatchValue(self, pattern: ast.MatchValue, value: ast.Name, into: _Pattern) -> None:
        into.steps.append(placed(ast.Compare(value, [ast.Eq()], [pattern.value]), pattern))

    def _match_MatchSingleton(self, pattern: ast.MatchSingleton, value: ast.Name, into: _Pattern) -> None:
        into.steps.append(placed(ast.Compare(value, [ast.Is()], [ast.Constant(pattern.value)]), pattern))

    def _match_MatchAs(self, pattern: ast.MatchAs, value: ast.Name, into: _Pattern) -> None:
        if pattern.pattern is not None:
            self._match(pattern.pattern, value, into)
        if pattern.name is not None:
            self._bind(pattern.name, value, pattern, into)

    def _bind(self, name: str, value: ast.expr, at: ast.AST, into: _Pattern) -> None:
        held = into.names.setdefault(name, self._name(f"{name}_found"))
        into.steps.append(assign(held, value, at))

    def _match_MatchOr(self, pattern: ast.MatchOr, value: ast.Name, into: _Pattern) -> None:
        alternatives = [_Pattern([], into.names) for _ in pattern.patterns]
        for inner, found in zip(pattern.patterns, alternatives, strict=True):
            self._match(inner, value, found)
        if all(_tests(found.steps) == found.steps for found in alternatives):
            either = [_all(_tests(found.steps), pattern) for found in alternatives]
            into.steps.append(placed(ast.BoolOp(ast.Or(), either), pattern))
            return
        fits = self._name("fits")
        tried: list[ast.stmt] = []
        for found in reversed(alternatives):
            otherwise = [branch(variable(fits, pattern), [], tried, pattern)] if tried else []
            tried = _nested(found.steps, [flag(fits, True, pattern)], pattern) + otherwise
        mine = {n.name for n in ast.walk(pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name}
        mine |= {n.rest for n in ast.walk(pattern) if isinstance(n, ast.MatchMapping) and n.rest}
        for name in sorted(mine):
            into.steps.append(assign(into.names[name], ast.Constant(None), pattern))
        into.steps += [flag(fits, False, pattern), *tried, variable(fits, pattern)]

    def _match_MatchSequence(self, pattern: ast.MatchSequence, value: ast.Name, into: _Pattern) -> None:
        count = len(pattern.patterns)
        into.ask(asking.is_sequence, pattern, value)
        star = next((k for k, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)), None)
        size, long_enough = (count, asking.has_length) if star is None else (count - 1, asking.has_at_least)
        into.ask(long_enough, pattern, value, ast.Constant(size))
        for number, inner in enumerate(pattern.patterns):
            after = count - 1 - number
            if isinstance(inner, ast.MatchStar):
                if inner.name is not None:
                    upper = ast.UnaryOp(ast.USub(), ast.Constant(after)) if after else None
                    part = ast.Subscript(value, ast.Slice(ast.Constant(number), upper, None), ast.Load())
                    self._bind(inner.name, _call(list, part), inner, into)
                continue
            index: ast.expr = ast.Constant(number)
            if star is not None and number > star:
                index = ast.UnaryOp(ast.USub(), ast.Constant(after + 1))
            self._item(inner, ast.Subscript(value, index, ast.Load()), into)

    def _item(self, inner: ast.pattern, value: ast.expr, into: _Pattern) -> None:
        """Match one part of a value; a part matched by `_` is not even read."""
        if isinstance(inner, ast.MatchAs) and inner.pattern is None and inner.name is None:
            return
        part = self._name("part")
        into.steps.append(assign(part, value, inner))
        self._match(inner, variable(part, inner), into)

    def _match_MatchMapping(self, pattern: ast.MatchMapping, value: ast.Name, into: _Pattern) -> None:
        into.ask(asking.is_mapping, pattern, value)
        if pattern.keys:
            into.ask(asking.has_keys, pattern, value, *pattern.keys)
        for key, inner in zip(pattern.keys, pattern.patterns, strict=True):
            self._item(inner, ast.Subscript(value, key, ast.Load()), into)
        if pattern.rest is not None:
            keys = ast.Tuple([*pattern.keys], ast.Load())
            self._bind(pattern.rest, Collect("left_over", [value, keys]), pattern, into)

    def _match_MatchClass(self, pattern: ast.MatchClass, value: ast.Name, into: _Pattern) -> None:
        cls, count = pattern.cls, len(pattern.patterns)
        into.ask(asking.is_instance, pattern, value, cls)
        parts: list[ast.expr] = []
        asked: list[ast.expr] = []
        for number, inner in enumerate(pattern.patterns):
            field = Ask(asking.matched_name, [cls, ast.Constant(number), ast.Constant(count)])
            if count == 1:  # only the class tells which of the two the pattern means
                itself = Ask(asking.matches_itself, [cls])
                lacks = ast.BoolOp(ast.Or(), [itself, Ask(asking.has_attributes, [value, field])])
                into.steps.append(placed(lacks, pattern))
                parts.append(ast.IfExp(itself, value, _call(getattr, value, field)))
                continue
            name = self._name("field")
            into.steps.append(assign(name, field, inner))
            asked.append(variable(name, inner))
            parts.append(_call(getattr, value, asked[-1]))
        asked += map(ast.Constant, pattern.kwd_attrs)
        parts += [ast.Attribute(value, attribute, ast.Load()) for attribute in pattern.kwd_attrs]
        if asked:
            into.ask(asking.has_attributes, pattern, value, *asked)
        for inner, part in zip((*pattern.patterns, *pattern.kwd_patterns), parts, strict=True):
            self._item(inner, part, into)


class _RaisingAgain(ast.NodeTransformer):
    """Makes a bare `raise` in a block of `except*` raise the share again and set a flag to say so; one in a
    nested handler belongs to that handler.
    """

    def __init__(self, again: list[ast.stmt]) -> None:
        self.again = again

    def of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that replace this one."""
        found = self.visit(cloned(statement))
        return found if isinstance(found, list) else [found]

    def visit_Raise(self, node: ast.Raise) -> Any:
        return node if node.exc is not None else self.again

    def visit_ExceptHandler(self, node: ast.ExceptHandler | ast.FunctionDef) -> Any:
        return node

    visit_FunctionDef = visit_ExceptHandler


def _tests(steps: list[ast.expr | ast.stmt]) -> list[ast.expr]:
    return [step for step in steps if isinstance(step, ast.expr)]


def _nested(steps: list[ast.expr | ast.stmt], inside: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
    """The statements `inside`, guarded by every test among the steps."""
    out = inside
    for step in reversed(steps):
        out = [step, *out] if isinstance(step, ast.stmt) else [branch(step, out, [], at)]
    return out


def _all(tests: list[ast.expr], at: ast.AST) -> ast.expr:
    if len(tests) == 1:
        return tests[0]
    return placed(ast.BoolOp(ast.And(), tests) if tests else ast.Constant(True), at)


def _call(function: Any, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(function), [*args], [])
