"""How long tests wait: other people's work on the same machine fails none of them."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
LEAST = 120  # seconds: nothing that ends takes so long, with whatever else the machine has to do
CLOCKS = {"monotonic", "perf_counter"}
WAITS = {"join", "wait", "acquire", "communicate", "result"}
# Without one of these no wait is begun, and a text need not be parsed; of texts, `join` is another.
MAY_WAIT = re.compile("|".join(["timeout", *CLOCKS, *(rf"(?<![\"'])\.{name}\(" for name in WAITS)]))
EXPECTED = "# is to end"  # a wait whose end is what is expected, or one that is begun again


def is_short(node):
    """Whether it is a number of seconds in which a busy machine may not come to what is waited for."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and 0 < node.value < LEAST


def asks_the_clock(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS


def limits(node):
    """The limits of time on the wall that a piece of a test sets."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords):
            yield from (keyword.value for keyword in keywords if keyword.arg == "timeout")
            yield from args[:1] if name in WAITS else ()
        case ast.Call(keywords=keywords):
            yield from (keyword.value for keyword in keywords if keyword.arg == "timeout")
        case ast.BinOp(left=left, op=ast.Add(), right=right) if asks_the_clock(left):
            yield right
        case ast.Compare(left=first, comparators=[*others, limit]):
            differences = [x for x in (first, *others) if isinstance(x, ast.BinOp)]
            yield from [limit] if any(asks_the_clock(x.left) for x in differences) else ()
        case ast.FunctionDef() | ast.AsyncFunctionDef() if any(map(asks_the_clock, ast.walk(node))):
            named = node.args.args[len(node.args.args) - len(node.args.defaults) :]
            yield from (d for a, d in zip(named, node.args.defaults) if a.arg in ("seconds", "timeout"))


def short_limits(text):
    """The lines of a text with a limit that a busy machine may miss."""
    if not MAY_WAIT.search(text):
        return []
    lines = text.splitlines()
    found = {node.lineno for part in ast.walk(ast.parse(text)) for node in limits(part) if is_short(node)}
    return [f"{n}: {lines[n - 1].strip()}" for n in sorted(found) if EXPECTED not in lines[n - 1]]


def test_no_limit_is_one_that_a_busy_machine_misses():
    """What a test waits for either comes, or never does."""
    files = {*TESTS.rglob("test_*.py"), *TESTS.rglob("conftest.py")} - {Path(__file__).resolve()}
    found = {path.relative_to(TESTS).as_posix(): short_limits(path.read_text("utf-8")) for path in files}
    assert len(found) > 200 and {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "thread.join(60)",
        "event.wait(timeout=1.5)",
        "subprocess.run(command, timeout=100)",
        "assert time.monotonic() - started < 20",
        "assert 1 <= time.monotonic() - started < 20 and done",
        "deadline = time.perf_counter() + 30",
        "def until(asked, seconds=10.0):\n    ends = time.monotonic() + seconds",
    ],
)
def test_a_short_one_is_seen(line):
    """Whatever it is written as."""
    assert len(short_limits(line)) == 1
