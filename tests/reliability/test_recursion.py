"""Recursion: a gradient goes nearly as deep as its function, then RecursionError; never off the C stack."""

import subprocess
import sys

import pytest
from sessions import Session

import rulelab as rl

END = "(x, n):\n    if n == 0:\n        return x\n"
CELLS = {
    "function": f"def f{END}    return f(x, n - 1) * 1.0001\n",
    "closure": (
        "def make(c):\n    def f(x, n):\n        if n == 0:\n            return x\n"
        "        return f(x, n - 1) * c\n    return f\nf = make(1.0001)\n"
    ),
    "default": "def f(x, n, k=1.0001):\n    if n == 0:\n        return x\n    return f(x, n - 1) * k\n",
    "keyword": f"def f{END}    return f(x, n=n - 1) * 1.0001\n",
    "method": (
        "class M:\n    def f(self, x, n):\n        if n == 0:\n            return x\n"
        "        return self.f(x, n - 1) * 1.0001\nm = M()\ndef f(x, n):\n    return m.f(x, n)\n"
    ),
    "mutual": f"def g(x, n):\n    return f(x, n)\ndef f{END}    return g(x, n - 1) * 1.0001\n",
}
THROUGH_C = {
    "object": (
        "class M:\n    def __call__(self, x, n):\n        if n == 0:\n            return x\n"
        "        return self(x, n - 1) * 1.0001\nm = M()\ndef f(x, n):\n    return m(x, n)\n"
    ),
    "rule": (
        f"def g(x, n):\n    return f(x, n)\ndef f{END}    return g(x, n - 1) * 1.0001\n"
        "@rl.rrule_for(g)\ndef g_rrule(x, n):\n    y, back = rl.pullback(f, x, n)\n"
        "    return y, lambda y_bar: (rl.NoTangent(), back(y_bar)[0], rl.NoTangent())\n"
    ),
}


def deepest(call):
    """The greatest depth, to one in a hundred, at which a call ends well."""
    low, high = 10, 2000
    while high - low > 4:
        middle = (low + high) // 2
        try:
            call(middle)
            low = middle
        except RecursionError:
            high = middle
    return low


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", list(CELLS))
def test_as_deep_as_the_function(kind):
    """Nine tenths of the depth of the function itself; RecursionError beyond it leaves the cache right."""
    session = Session("recursion")
    session.run(CELLS[kind])
    f = session["f"]
    # CPython 3.13.0 does not count calls that fill in a default: there the function goes on beyond the limit.
    allowed = min(deepest(lambda n: f(2.0, n)), sys.getrecursionlimit())
    assert deepest(lambda n: rl.gradient(f, 2.0, n)) >= 0.9 * allowed
    with pytest.raises(RecursionError):
        rl.gradient(f, 2.0, 5000)
    assert rl.gradient(f, 2.0, 50)[0] == pytest.approx(1.0001**50)


DEEP = """
import sys, linecache
import rulelab as rl
names = {"rl": rl}
text = sys.argv[1]
linecache.cache["<cell>"] = (len(text), None, text.splitlines(True), "<cell>")
exec(compile(text, "<cell>", "exec"), names)
sys.setrecursionlimit(200_000)
try:
    print("right" if abs(rl.gradient(names["f"], 2.0, 30_000)[0] / 1.0001**30_000 - 1) < 1e-9 else "wrong")
except RecursionError:
    print("RecursionError")
assert abs(rl.gradient(names["f"], 2.0, 10)[0] / 1.0001**10 - 1) < 1e-9
"""


SLOW = pytest.param("rule", marks=pytest.mark.campaign)  # 14 s, for one that ends in an error


@pytest.mark.every(11)
@pytest.mark.parametrize("kind", [*CELLS, *(SLOW if kind == "rule" else kind for kind in THROUGH_C)])
def test_thirty_thousand_deep(kind):
    """Without the recursion limit: right, or RecursionError where C code lies between; no crash."""
    text = (CELLS | THROUGH_C)[kind]
    found = subprocess.run([sys.executable, "-c", DEEP, text], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr[-500:]
    assert found.stdout.strip() == ("right" if kind in CELLS else "RecursionError")
