"""KeyboardInterrupt at any chosen instruction of the package, as if the user had pressed stop there."""

import dis
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

import rulelab

PACKAGE = str(Path(rulelab.__file__).parent)
_LEAVING: dict[CodeType, frozenset[int]] = {}
# The call of `__exit__` at the end of a `with` block; Python 3.12 calls by one instruction less.
_EXIT = ["LOAD_CONST"] * 3 + (["PRECALL", "CALL"] if sys.version_info < (3, 12) else ["CALL"])


def leaving_with(code: CodeType) -> frozenset[int]:
    """The offsets at which a `with` block of this code is being left: between its last instruction and the
    return of `__exit__` CPython looks at no signal, so no interrupt can come there.
    """
    if code not in _LEAVING:
        found: set[int] = set()
        steps = list(dis.get_instructions(code))
        for first in range(len(steps)):
            run = steps[first : first + len(_EXIT)]
            if [s.opname for s in run] == _EXIT and all(s.argval is None for s in run[:3]):
                found.update(s.offset for s in run)
        _LEAVING[code] = frozenset(found)
    return _LEAVING[code]


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
        if event == "opcode" and frame.f_lasti not in leaving_with(frame.f_code):
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
        work()
    except KeyboardInterrupt:
        return watch.where
    finally:
        sys.settrace(None)
    return watch.where


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
