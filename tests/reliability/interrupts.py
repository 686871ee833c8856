"""KeyboardInterrupt at any chosen instruction of the package, as if the user had pressed stop there."""

import dis
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import rulelab

PACKAGE = str(Path(rulelab.__file__).parent)
_OUT_OF_REACH: dict[CodeType, frozenset[int]] = {}
# The call of `__exit__` at the end of a `with` block; Python 3.12 calls by one instruction less.
_EXIT = ["LOAD_CONST"] * 3 + (["PRECALL", "CALL"] if sys.version_info < (3, 12) else ["CALL"])


def out_of_reach(code: CodeType) -> frozenset[int]:
    """The offsets of this code before which no interrupt can come as it comes here."""
    if code not in _OUT_OF_REACH:
        steps = list(dis.get_instructions(code))
        _OUT_OF_REACH[code] = frozenset((*_leaving_with(steps), *_without_handler(code, steps)))
    return _OUT_OF_REACH[code]


def _leaving_with(steps: list[dis.Instruction]) -> Iterator[int]:
    """Where a `with` block is being left: between its last instruction and the return of `__exit__` CPython
    looks at no signal.
    """
    for first in range(len(steps)):
        run = steps[first : first + len(_EXIT)]
        if [s.opname for s in run] == _EXIT and all(s.argval is None for s in run[:3]):
            yield from (s.offset for s in run)


def _without_handler(code: CodeType, steps: list[dis.Instruction]) -> Iterator[int]:
    """The jumps of loops that Python 3.12 leaves out of the table of handlers: a signal has there the handler
    of the instruction before, what is raised while tracing has none.
    """
    handled = [(entry.start, entry.end) for entry in dis.Bytecode(code).exception_entries]
    if sys.version_info[:2] == (3, 12):
        for step in steps:
            if step.opname == "JUMP_BACKWARD" and not any(a <= step.offset < b for a, b in handled):
                yield step.offset


class _Stopwatch:
    """Counts the instructions of the package, and interrupts before one of them."""

    def __init__(self, at: int | None, files: tuple[str, ...]) -> None:
        self.at = at
        self.files = files
        self.count = 0
        self.where: tuple[str, int] | None = None

    def frame(self, frame, event, arg):
        if not frame.f_code.co_filename.startswith(self.files):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.step

    def step(self, frame, event, arg):
        if event == "opcode" and frame.f_lasti not in out_of_reach(frame.f_code):
            self.count += 1
            if self.count == self.at:
                self.where = (frame.f_code.co_qualname, frame.f_lineno)
                raise KeyboardInterrupt
        return self.step


def files_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """The paths of modules of the package, or that of all of them."""
    return tuple(f"{PACKAGE}/{name}" for name in names) or (PACKAGE + "/",)


def instructions_of(work: Callable[[], object], files: tuple[str, ...] = ()) -> int:
    """How many instructions of the package (of these files in it) an operation runs."""
    watch = _Stopwatch(None, files_of(files))
    sys.settrace(watch.frame)
    try:
        work()
    finally:
        sys.settrace(None)
    return watch.count


def interrupted_at(
    number: int, work: Callable[[], object], files: tuple[str, ...] = ()
) -> tuple[str, int] | None:
    """Runs an operation and interrupts it before its instruction `number`; gives function and line of that,
    None if the operation came to its end before it.
    """
    watch = _Stopwatch(number, files_of(files))
    sys.settrace(watch.frame)
    try:
        next(_apart(work))
    except KeyboardInterrupt:
        return watch.where
    finally:
        sys.settrace(None)
    return watch.where


def _apart(work: Callable[[], object]) -> Iterator[object]:
    """A generator has a stack of handled exceptions of its own: one that an interrupt leaves on it, where no
    signal comes, is not the context of all that is raised in the tests to come.
    """
    yield work()


def spread(count: int, most: int) -> Iterator[int]:
    """At most so many of the numbers 1 to `count`, evenly, the first and the last among them."""
    if count <= most:
        return iter(range(1, count + 1))
    return iter(sorted({1 + round(k * (count - 1) / (most - 1)) for k in range(most)}))


def free_locks(*locks) -> bool:
    """Whether another thread can take each of these locks now."""
    found = []

    def take():
        for lock in locks:
            if lock.acquire(timeout=1.0):
                lock.release()
                found.append(lock)

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return len(found) == len(locks)
