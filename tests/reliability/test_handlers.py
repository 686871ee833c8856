"""A signal that arrives at the end of a loop finds the `with`, `finally` or `except` around that loop.

CPython looks at signals at calls and where a loop jumps back. Python 3.13 leaves some of these jumps out of
the table of handlers (cpython issue 130279): Ctrl-C there passes a `with` block by, and its lock stays
held. In the package such a loop stands in a function of its own, whose call is in the table. (Python 3.12
leaves them out too, but looks up the handler of the instruction before the jump.)
"""

import dis
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

import rulelab

ROOT = Path(rulelab.__file__).parent
pytestmark = pytest.mark.skipif(sys.version_info < (3, 13), reason="a jump has the handler of what is before")

CATCHES_SIGNALS = {"BaseException", "KeyboardInterrupt"}
LOOP_IN_A_WITH = '''
def held(lock, items):
    with lock:
        for item in items:
            if item:
                print(item)
'''


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that are written inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


class Handlers:
    """Which handler an instruction has: the offset where it begins, None if there is none."""

    def __init__(self, code: CodeType) -> None:
        self.steps = list(dis.get_instructions(code))
        self.place = {step.offset: number for number, step in enumerate(self.steps)}
        self.entries = dis.Bytecode(code).exception_entries

    def at(self, offset: int) -> int | None:
        return next((e.target for e in self.entries if e.start <= offset < e.end), None)

    def is_for_signals(self, target: int | None) -> bool:
        """Whether KeyboardInterrupt is handled there: by `with`, `finally` or an `except` that names it."""
        if target is None or self.steps[self.place[target]].opname != "PUSH_EXC_INFO":
            return False
        names: set[object] = set()
        for step in self.steps[self.place[target] + 1 :]:
            if step.opname == "CHECK_EXC_MATCH":
                return bool(names & CATCHES_SIGNALS)
            if not step.opname.startswith("LOAD") and step.opname not in ("NOP", "BUILD_TUPLE", "CACHE"):
                return True
            names.add(step.argval)
        return False


def missed(code: CodeType) -> list[int]:
    """The lines whose loop jumps back without the handler that its beginning has."""
    handlers, lines = Handlers(code), []
    for step in handlers.steps:
        if step.opname == "JUMP_BACKWARD":
            wanted = handlers.at(step.argval)
            if handlers.is_for_signals(wanted) and handlers.at(step.offset) != wanted:
                lines.append(step.positions.lineno)
    return lines


@pytest.mark.skipif(sys.version_info[:2] != (3, 13), reason="it is not known which others do it")
def test_a_jump_without_its_handler_is_found():
    """As it stands in the code that Python 3.13 compiles."""
    assert any(missed(code) for code in codes_of(compile(LOOP_IN_A_WITH, "held", "exec")))


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_loop_jumps_past_its_handler(path):
    """In no module of the package: what was taken is given back, whenever Ctrl-C comes."""
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    wrong = {inner.co_qualname: lines for inner in codes_of(code) if (lines := missed(inner))}
    assert not wrong
