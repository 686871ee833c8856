"""What the compiler does not take is refused before anything runs, at its line, by its name."""

import sys
import textwrap

import pytest

import rulelab as rl
from rulelab.compiler.base.source import find_source
from rulelab.compiler.front.fence import check
from rulelab.errors import UnsupportedSyntaxError

REFUSED = {
    "yield": ("yield x", "yield x"),
    "yield from": ("yield from [x]", "yield from [x]"),
    "a write to a global": ("global total\ntotal = x\nreturn x", "global total"),
    "a class definition": ("class C:\n    pass\nreturn x", "class C:"),
}
if sys.version_info >= (3, 12):
    REFUSED["a type statement"] = ("type T = list\nreturn x", "type T = list")
if sys.version_info >= (3, 14):
    REFUSED["a template string"] = ('return t"{x}"', 't"{x}"')
GLOBAL_WRITES = (
    "n += x",
    "for n in [x]:\n    pass",
    "del n",
    "import math as n",
    "def n():\n    pass",
    "with OPEN as n:\n    pass",
    "[(n := y) for y in [x]]",
    "match x:\n    case [*n]:\n        pass",
    "match x:\n    case {**n}:\n        pass",
)

TAKEN = (
    "return x",
    "a, (b, c) = x, (x, x)\nreturn a",
    "for i in range(3):\n    if i:\n        continue\n    break\nreturn x",
    "while x > 0:\n    x -= 1\nreturn x",
    "try:\n    return x\nexcept KeyError as e:\n    raise ValueError from e",
    "try:\n    y = x\nexcept* KeyError:\n    y = x\nreturn y",
    "g = lambda y, k=2: y ** k\nreturn g(x)",
    "def g(y):\n    yield y\nreturn x",
    "return [y for y in (x, x) if y][-1:], {'a': x}, {x}, f'{x:.2f}', -x if x else not x",
    "y: float = x\nassert y\npass\nreturn sum(z for z in [y])",
    "with OPEN(x) as g, OPEN(g):\n    return g",
    "global total\nreturn [total for total in [x]]",
    "import math, os.path as p\nfrom math import sin as s\nreturn s(x)",
    "match x:\n    case [1, *_] | {'a': 2} | int(3) if x:\n        return x",
    "y = x\ndel y\nreturn [w := x]",
    "a, *b = x, *[x, x]\nreturn max(*b, **{'key': abs})",
    "return {y for y in [x]}, {y: y for y in [x]}",
    "try:\n    y = x\nexcept KeyError:\n    y = x\nelse:\n    y = x\nfinally:\n    z = x\nreturn y",
    "for i in [x]:\n    y = i\nelse:\n    y = x\nreturn y",
    "@OPEN\ndef g(*y, **z):\n    return y\nreturn g(x)",
)


def function_of(cells, body, head="def f(x):"):
    return cells.run(f"{head}\n{textwrap.indent(body, '    ')}\n")["f"]


def refusal_of(f):
    with pytest.raises(UnsupportedSyntaxError) as caught:
        check(find_source(f.__code__), f.__code__)
    return caught.value


@pytest.mark.parametrize("what", REFUSED)
def test_refused(cells, what):
    """The message names the construct, and the caret stands under it."""
    body, fragment = REFUSED[what]
    error = refusal_of(function_of(cells, body))
    assert (
        error.found
        == f"Differentiating through {what.replace('yield from', 'yield')} is not supported, found in f()"
    )
    assert error.place.text[error.place.column : error.place.end_column] == fragment
    assert any("%rule_stub f" in fix for fix in error.fixes)


@pytest.mark.parametrize("body", GLOBAL_WRITES)
def test_every_write_to_a_global_is_seen(cells, body):
    """Whatever binds the name: an assignment, a loop, `del`, an import, a pattern."""
    error = refusal_of(function_of(cells, f"global n\n{body}\nreturn x"))
    assert "through a write to a global" in error.found and error.place.line == 2


@pytest.mark.parametrize("body", ["return x", "await x", "yield x"])
def test_async(cells, body):
    """An asynchronous function or generator is refused as such."""
    error = refusal_of(function_of(cells, body, "async def f(x):"))
    assert "through async def is" in error.found
    assert error.place.line == 1


def test_nonlocal(cells):
    """A function that rebinds a variable of one that is not differentiated is refused, with what to do."""
    text = "def make():\n    n = 0\n    def g(x):\n        nonlocal n\n        n = x\n        return x\n"
    text += "    return g\n"
    with pytest.raises(UnsupportedSyntaxError) as caught:
        rl.gradient(cells.run(text)["make"](), 2.0)
    error = caught.value
    assert "through nonlocal" in error.found and error.place.line == 4
    assert error.fixes[0].startswith("return the value")


@pytest.mark.parametrize("body", TAKEN)
def test_taken(cells, body):
    """Everyday Python passes; what a nested function holds is a question for when it is called."""
    f = function_of(cells, body)
    check(find_source(f.__code__), f.__code__)


def test_deep_inside(cells):
    """A refused construct is found at any depth."""
    body = "if x:\n    for i in [1]:\n        while x:\n            try:\n"
    body += "                class C:\n                    pass\n"
    body += "            except KeyError:\n                pass\nreturn x"
    error = refusal_of(function_of(cells, body))
    assert error.place.line == 6 and "class" in error.found
