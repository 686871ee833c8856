"""Break, continue and early return as flags: the same statements run, in the same order, to the same end."""

import ast
import random
import textwrap

import pytest

import rulelab as rl
from rulelab.compiler.front.jumps import RESULT, Straightened, always_jumps
from rulelab.python_facts import jumps


def program(seed, raising=False):
    """A random function of branches, loops and handlers with jumps; its result tells the path it took."""
    rng = random.Random(seed)

    def block(depth, looping):
        lines = [line for _ in range(rng.randint(1, 3)) for line in statement(depth, looping)]
        return lines + ([jump(looping)] if rng.random() < 0.5 else [])

    def jump(looping):
        return rng.choice(
            ["return y", f"return y * {rng.randint(2, 9)}.0", *(["break", "continue"] * 2 if looping else [])]
        )

    def statement(depth, looping):
        mark = ["n = n + 1", f"y = y * 0.5 + x * {rng.randint(2, 99)}.0"]
        kind = rng.choice(["mark", "if", "if", "else", "for", "while", "try"]) if depth else "mark"
        inner = lambda loop=looping: indented(block(depth - 1, loop))
        test = f"(n + k) % {rng.randint(2, 4)} == {rng.randint(0, 1)}"
        if kind == "mark":
            return mark + ([f"if {test}:", "    raise KeyError"] if raising and rng.random() < 0.3 else [])
        if kind == "if":
            return [f"if {test}:", *inner()]
        if kind == "else":
            return [f"if {test}:", *inner(), "else:", *inner()]
        if kind == "for":
            return [f"for i in range({rng.randint(0, 3)}):", *indented(mark), *inner(True)]
        if kind == "while":
            return [f"while n < {rng.randint(2, 15)}:", *indented(mark), *inner(True)]
        return ["try:", *inner(), "except KeyError:", *inner()]

    return "\n".join(["def f(x, k):", *indented(["n = 0", "y = x", *block(3, False), "return y"])]) + "\n"


def indented(lines):
    return textwrap.indent("\n".join(lines), "    ").splitlines()


def straightened(text):
    """The function of `text` as its straightened statements say; stop flags end a loop after an iteration."""
    tree = ast.parse(text)
    straight = Straightened(tree.body[0].body)
    for loop, flag in straight.stop_of.items():
        loop.body = [*loop.body, ast.If(ast.Name(flag, ast.Load()), [ast.Break()], [])]
    for node in ast.walk(ast.Module(straight.body, [])):
        assert not isinstance(node, (ast.Return, ast.Continue))
    tree.body[0].body = [*filled(straight.body), ast.Return(ast.Name(RESULT, ast.Load()))]
    names = {}
    exec(compile(ast.fix_missing_locations(tree), "<straight>", "exec"), names)
    return names["f"]


def filled(statements):
    """Python has no empty block; ours may be."""
    for statement in statements:
        for part in ("body", "handlers"):
            if hasattr(statement, part):
                setattr(statement, part, filled(getattr(statement, part)) or [ast.Pass()])
        if hasattr(statement, "orelse"):
            statement.orelse = filled(statement.orelse)
    return statements


def outcome(f, *args):
    try:
        return f(*args)
    except KeyError:
        return "KeyError"


def plain(text):
    names = {}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 400), marks=pytest.mark.campaign)])
@pytest.mark.parametrize("raising", [False, True])
def test_random_programs_as_straightened(raising, seeds):
    """Each program takes the same path without jumps as with them."""
    for seed in seeds:
        text = program(seed, raising)
        before, after = plain(text), straightened(text)
        for k in range(3):
            assert outcome(after, 1.0, k) == outcome(before, 1.0, k), f"seed {seed}, k = {k}\n{text}"


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 60), marks=pytest.mark.campaign)])
def test_random_programs_as_differentiated(cells, seeds):
    """Each program has the same value when differentiated, and the gradient of that path."""
    for seed in seeds:
        text = program(seed)
        f = cells.run(text)["f"]
        for k in range(2):
            y, (x_bar, k_bar) = rl.withgradient(f, 2.0, k)
            assert y == f(2.0, k), f"seed {seed}, k = {k}\n{text}"
            assert x_bar == pytest.approx(y / 2.0), (
                f"seed {seed}, k = {k}\n{text}"
            )  # y is a multiple of x on every path
            assert k_bar is None


def test_the_programs_jump():
    """The generator makes every kind of jump, from every kind of statement."""
    texts = "".join(program(seed, True) for seed in range(400))
    for fragment in ("break", "continue", "return", "try:", "while", "for", "else:", "raise"):
        assert texts.count(fragment) > 100, fragment


@pytest.mark.parametrize(
    "text, found",
    [
        ("return x", {"return"}),
        ("if x:\n    break\nelse:\n    continue", {"break", "continue"}),
        ("for i in x:\n    if i: break\n    continue", set()),
        ("while x:\n    for i in x: return i\n    break", {"return"}),
        ("try:\n    y = x\nexcept KeyError:\n    return x", {"return"}),
        ("def g():\n    return x", set()),
        ("y = x", set()),
    ],
)
def test_jumps(text, found):
    """A loop keeps its breaks and continues to itself, a nested function its returns."""
    assert jumps(ast.parse(text).body[0]) == found


@pytest.mark.parametrize(
    "text, always",
    [
        ("y = x\nreturn y", True),
        ("raise x", True),
        ("if x:\n    return x\nelse:\n    raise x", True),
        ("if x:\n    return x", False),
        ("while x:\n    return x", False),
        ("y = x", False),
    ],
)
def test_always_jumps(text, always):
    """Only what cannot reach its end moves the rest into the other branch."""
    assert always_jumps(ast.parse(text).body) is always
