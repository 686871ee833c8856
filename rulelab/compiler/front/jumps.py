"""Break, continue and early return as flags, so that every block has one way in and one way out."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from ...python_facts import JUMPS, STATEMENTS, jumps

RESULT = ".result"  # dots keep these apart from every name a user can write
_DONE = ".done"
_DEEP = 40  # blocks within blocks; Python reads no more than a hundred levels of indentation


@dataclass
class _Loop:
    """The flags of one loop: `stop` ends it after this iteration, `skip` passes over the rest of the body."""

    stop: str
    skip: str
    overrides: bool = False  # a jump to here replaces the one under way: that of a `finally`


class Straightened:
    """The statements of a function without jumps; `stop_of` gives the stop flag of each loop that has one.

    Of a block of `closing`, a `try` and what follows it, the latter runs whatever jump leaves the `try`.
    """

    def __init__(self, body: list[ast.stmt], closing: frozenset[ast.stmt] = frozenset()) -> None:
        self.closing = closing
        self.stop_of: dict[ast.AST, str] = {}
        self._depth = 0
        self._count = 0
        start = [_assign(RESULT, ast.Constant(None), body[0]), _flag(_DONE, False, body[0])]
        self.body = start + self._block(body, None)

    def _block(self, statements: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        self._depth += 1
        out = self._straight(statements, loop)
        self._depth -= 1
        return out

    def _straight(self, statements: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for number, statement in enumerate(statements):
            rest = statements[number + 1 :]
            if type(statement) in JUMPS:
                return out + self._jump(statement, loop)
            if isinstance(statement, ast.Try) or statement in self.closing:
                closing = statement in self.closing
                out += self._closed(statement, loop) if closing else [self._try(statement, loop)]  # type: ignore[arg-type]
                if jumps(statement):
                    return out + self._guarded(rest, loop, statement)
            elif isinstance(statement, ast.If):
                if jumps(statement):
                    return out + self._branch(statement, rest, loop)
                body, orelse = self._block(statement.body, loop), self._block(statement.orelse, loop)
                out.append(_if(statement.test, body, orelse, statement))
            elif isinstance(statement, (ast.For, ast.While)):
                new = self._loop(statement)
                stop = self.stop_of.get(new)
                out += [new] if stop is None else [_flag(stop, False, statement), new]
                if "return" in jumps(statement):
                    flags = (loop.stop, loop.skip) if loop is not None else ()
                    leave = [_flag(flag, True, statement) for flag in flags]
                    return out + [_if(_name(_DONE, statement), leave, self._block(rest, loop), statement)]
            else:
                assert not STATEMENTS[type(statement)].blocks, "a jump in it would be lost"
                out.append(statement)
        return out

    def _jump(self, statement: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        if loop is not None and loop.overrides:
            out = [*self._cancelled("return", None, statement), _flag(loop.stop, False, statement)]
        if isinstance(statement, ast.Return):
            value = statement.value or ast.copy_location(ast.Constant(None), statement)
            out += [_assign(RESULT, value, statement), _flag(_DONE, True, statement)]
        if loop is None:
            return out
        if not isinstance(statement, ast.Continue):
            out.append(_flag(loop.stop, True, statement))
        return [*out, _flag(loop.skip, True, statement)]

    def _cancelled(self, jump: str, loop: _Loop | None, at: ast.stmt) -> list[ast.stmt]:
        """Flags back to where no such jump is under way."""
        if jump == "return":
            nothing = [_assign(RESULT, ast.Constant(None), at), _flag(_DONE, False, at)]
            return nothing + (self._cancelled("break", loop, at) if loop is not None else [])
        assert loop is not None
        return [_flag(loop.stop, False, at), _flag(loop.skip, False, at)]

    def _closed(self, statement: ast.If, loop: _Loop | None) -> list[ast.stmt]:
        body, *after = statement.body
        assert isinstance(body, ast.Try)
        over = _Loop(loop.stop, loop.skip, overrides=True) if loop is not None else None
        return [self._try(body, loop), *self._block(after, over)]

    def _branch(self, statement: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """A branch that always jumps leaves the rest to the other one; otherwise a flag guards the rest."""
        if self._depth > _DEEP:
            then, orelse, after = statement.body, statement.orelse, rest
        elif always_jumps(statement.body):
            then, orelse, after = statement.body, statement.orelse + rest, []
        elif always_jumps(statement.orelse):
            then, orelse, after = statement.body + rest, statement.orelse, []
        else:
            then, orelse, after = statement.body, statement.orelse, rest
        branch = _if(statement.test, self._block(then, loop), self._block(orelse, loop), statement)
        return [branch, *self._guarded(after, loop, statement)]

    def _guarded(self, rest: list[ast.stmt], loop: _Loop | None, at: ast.stmt) -> list[ast.stmt]:
        if not rest:
            return []
        flag = _name(_DONE if loop is None else loop.skip, at)
        if self._depth > _DEEP:  # one guard for each statement: no deeper, however many returns there are
            return [_if(flag, [], self._block([statement], loop), at) for statement in rest]
        return [_if(flag, [], self._block(rest, loop), at)]

    def _loop(self, statement: ast.For | ast.While) -> ast.stmt:
        self._count += 1
        loop = _Loop(f".stop{self._count}", f".skip{self._count}")
        new = copy.copy(statement)
        new.body = [_flag(loop.skip, False, statement), *self._block(statement.body, loop)]
        if {"break", "return"} & set().union(*map(jumps, statement.body)):
            self.stop_of[new] = loop.stop
        return new

    def _try(self, statement: ast.Try, loop: _Loop | None) -> ast.Try:
        new = copy.copy(statement)
        new.body = self._block(statement.body, loop)
        new.handlers = []
        cancelled = [
            flag
            for jump in sorted(self._may_stop_in(statement))
            for flag in self._cancelled(jump, loop, statement)
        ]
        for handler in statement.handlers:
            handler = copy.copy(handler)
            handler.body = cancelled + self._block(handler.body, loop)
            new.handlers.append(handler)
        return new

    def _may_stop_in(self, statement: ast.Try) -> frozenset[str]:
        """The jumps out of a `try` block that an exception on their way may bring to nothing."""
        inner = [n for s in statement.body for n in ast.walk(s) if n in self.closing]
        stopped = frozenset().union(*(jumps(n) for n in inner if isinstance(n, ast.stmt)))
        return stopped & frozenset().union(*map(jumps, statement.body))


def always_jumps(statements: list[ast.stmt]) -> bool:
    """Whether no path reaches the end of these statements."""
    for statement in statements:
        if isinstance(statement, (*JUMPS, ast.Raise)):
            return True
        if isinstance(statement, ast.If) and always_jumps(statement.body) and always_jumps(statement.orelse):
            return True
    return False


def _name(name: str, at: ast.AST) -> ast.Name:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _assign(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    target = ast.copy_location(ast.Name(name, ast.Store()), at)
    return ast.copy_location(
        ast.Assign([target], ast.copy_location(value, value if hasattr(value, "lineno") else at)), at
    )


def _flag(name: str, value: bool, at: ast.AST) -> ast.stmt:
    return _assign(name, ast.Constant(value), at)


def _if(test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt], at: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.If(test, then, orelse), at)
