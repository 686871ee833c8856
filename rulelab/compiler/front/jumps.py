"""Turns break, continue and early return into flags, so that every block has one entry and one exit."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ...python_facts import JUMPS, STATEMENTS, jumps
from ..base.copying import shallow
from .making import assign, branch, flag, variable

RESULT = ".result"  # the dots keep these apart from every name an author can write
_DONE = ".done"
_DEEP = 40  # levels of nested blocks; Python allows no more than a hundred levels of indentation


@dataclass
class _Loop:
    """The flags of one loop: `stop` ends it after this iteration, `skip` skips the rest of the body."""

    stop: str
    skip: str
    overrides: bool = False  # whether a jump here, in a `finally`, replaces the one in progress


class Straightened:
    """The statements of a function without jumps; `stop_of` gives the stop flag of each loop that has one.

    A block in `closing` holds a `try` and the statements after it, which run however the `try` is left.
    """

    def __init__(self, body: list[ast.stmt], closing: frozenset[ast.stmt] = frozenset()) -> None:
        self.closing = closing
        self.stop_of: dict[ast.AST, str] = {}
        self._depth = 0
        self._count = 0
        if isinstance(body[-1], ast.Return) and not any(map(jumps, body[:-1])):  # the flag would be unused
            self.body = [*self._block(body[:-1], None), assign(RESULT, _value_of(body[-1]), body[-1])]
            return
        start = [assign(RESULT, ast.Constant(None), body[0]), flag(_DONE, False, body[0])]
        self.body = start + self._block(body, None)

    def _block(self, statements: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        self._depth += 1
        out = self._straight(statements, loop)
        self._depth -= 1
        return out

    def _straight(self, statements: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """The statements without jumps; a flag guards those that a jump may skip."""
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
                out.append(branch(statement.test, body, orelse, statement))
            elif isinstance(statement, (ast.For, ast.While)):
                new = self._loop(statement)
                stop = self.stop_of.get(new)
                out += [new] if stop is None else [flag(stop, False, statement), new]
                if "return" in jumps(statement):
                    left = (loop.stop, loop.skip) if loop is not None else ()
                    leave = [flag(name, True, statement) for name in left]
                    done, after = variable(_DONE, statement), self._block(rest, loop)
                    return [*out, branch(done, leave, after, statement)]
            else:
                assert not STATEMENTS[type(statement)].blocks, "a jump in it would be lost"
                out.append(statement)
        return out

    def _jump(self, statement: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        if loop is not None and loop.overrides:
            out = [*self._cancelled("return", None, statement), flag(loop.stop, False, statement)]
        if isinstance(statement, ast.Return):
            out += [assign(RESULT, _value_of(statement), statement), flag(_DONE, True, statement)]
        if loop is None:
            return out
        if not isinstance(statement, ast.Continue):
            out.append(flag(loop.stop, True, statement))
        return [*out, flag(loop.skip, True, statement)]

    def _cancelled(self, jump: str, loop: _Loop | None, at: ast.stmt) -> list[ast.stmt]:
        """The statements that set the flags to say that no such jump is in progress."""
        if jump == "return":
            nothing = [assign(RESULT, ast.Constant(None), at), flag(_DONE, False, at)]
            return nothing + (self._cancelled("break", loop, at) if loop is not None else [])
        assert loop is not None
        return [flag(loop.stop, False, at), flag(loop.skip, False, at)]

    def _closed(self, statement: ast.If, loop: _Loop | None) -> list[ast.stmt]:
        body, *after = statement.body
        assert isinstance(body, ast.Try)
        over = _Loop(loop.stop, loop.skip, overrides=True) if loop is not None else None
        return [self._try(body, loop), *self._block(after, over)]

    def _branch(self, statement: ast.If, rest: list[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """If one arm always jumps, the rest moves into the other arm; otherwise a flag guards the rest."""
        then, orelse, after = statement.body, statement.orelse, rest
        if self._depth <= _DEEP and always_jumps(then):
            orelse, after = orelse + rest, []
        elif self._depth <= _DEEP and always_jumps(orelse):
            then, after = then + rest, []
        straight = branch(statement.test, self._block(then, loop), self._block(orelse, loop), statement)
        return [straight, *self._guarded(after, loop, statement)]

    def _guarded(self, rest: list[ast.stmt], loop: _Loop | None, at: ast.stmt) -> list[ast.stmt]:
        """The statements after a jump, run only if no flag says that they are skipped."""
        if not rest:
            return []
        flag = variable(_DONE if loop is None else loop.skip, at)
        if self._depth > _DEEP:  # one guard for each statement, so that returns do not nest any deeper
            return [branch(flag, [], self._block([statement], loop), at) for statement in rest]
        return [branch(flag, [], self._block(rest, loop), at)]

    def _loop(self, statement: ast.For | ast.While) -> ast.stmt:
        self._count += 1
        loop = _Loop(f".stop{self._count}", f".skip{self._count}")
        new = shallow(statement)
        new.body = self._block(statement.body, loop)
        found = frozenset[str]().union(*map(jumps, statement.body))
        if found:  # otherwise the flag is never read
            new.body = [flag(loop.skip, False, statement), *new.body]
        if found & {"break", "return"}:
            self.stop_of[new] = loop.stop
        return new

    def _try(self, statement: ast.Try, loop: _Loop | None) -> ast.Try:
        new = shallow(statement)
        new.body = self._block(statement.body, loop)
        new.handlers = []
        stopped = sorted(self._may_stop_in(statement))
        cancelled = [taken_back for jump in stopped for taken_back in self._cancelled(jump, loop, statement)]
        for handler in statement.handlers:
            handler = shallow(handler)
            handler.body = cancelled + self._block(handler.body, loop)
            new.handlers.append(handler)
        return new

    def _may_stop_in(self, statement: ast.Try) -> frozenset[str]:
        """The jumps out of a `try` that pass through a closing block, where an exception may cancel them."""
        inner = [n for s in statement.body for n in ast.walk(s) if n in self.closing]
        stopped = frozenset().union(*(jumps(n) for n in inner if isinstance(n, ast.stmt)))
        return stopped & frozenset().union(*map(jumps, statement.body))


def _value_of(statement: ast.Return) -> ast.expr:
    return statement.value or ast.copy_location(ast.Constant(None), statement)


def always_jumps(statements: list[ast.stmt]) -> bool:
    """Whether control never reaches the end of these statements."""
    for statement in statements:
        if isinstance(statement, (*JUMPS, ast.Raise)):
            return True
        if isinstance(statement, ast.If) and always_jumps(statement.body) and always_jumps(statement.orelse):
            return True
    return False
