"""Long functions: as long as Python takes them, in a time that grows with their length."""

import linecache
import time

import pytest

import rulelab as rl


def made(name, text):
    """The function `f` of a text, which the compiler finds again."""
    file = f"<{name}, {len(text)} characters>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def lines(n):
    return "def f(x):\n    y = x\n" + "    y = y * 0.5 + x\n" * n + "    return y\n"


def names(n):
    steps = "".join(f"    v{k + 1} = v{k} * 0.5 + x\n" for k in range(n))
    return f"def f(x):\n    v0 = x\n{steps}    return v{n}\n"


def long_sum(n):
    return "def f(x):\n    return " + " + ".join(f"x * {k % 7}" for k in range(n)) + "\n"


def long_product(n):
    return "def f(x):\n    return " + " * ".join("(x / 1.5)" for _ in range(n)) + "\n"


def many_minus(n):
    return "def f(x):\n    return " + "-" * n + "x\n"


def nested_calls(n):
    calls = min(n, 90)  # brackets within brackets, of which Python reads 200
    return "import math\ndef f(x):\n    return " + "math.sin(" * calls + "x" + ")" * calls + "\n"


def chain_of_elif(n):
    arms = "".join(f"    elif x < {k}.25:\n        y = x * {k}\n" for k in range(n))
    return f"def f(x):\n    if x < 0:\n        y = 1.0\n{arms}    else:\n        y = x\n    return y * x\n"


def chain_of_returns(n):
    arms = "".join(f"    elif x < {k}.25:\n        return x * {k}\n" for k in range(n))
    return f"def f(x):\n    if x < 0:\n        return 1.0\n{arms}    return x\n"


def chain_of_choices(n):
    return "def f(x):\n    return x * (" + "".join(f"x * {k} if x < {k}.25 else " for k in range(n)) + "x)\n"


def many_ifs(n):
    steps = "".join(f"    if x > {k}: y = y * 0.5\n" for k in range(n))
    return f"def f(x):\n    y = x\n{steps}    return y\n"


def long_list(n):
    return "def f(x):\n    l = [" + ", ".join(f"x * {k}" for k in range(n)) + "]\n    return l[3] * l[-1]\n"


def long_dict(n):
    items = ", ".join(f"{k}: x * {k}" for k in range(n))
    return f"def f(x):\n    d = {{{items}}}\n    return d[3] * x\n"


SHAPES = [
    lines, names, long_sum, long_product, many_minus, nested_calls, chain_of_elif, chain_of_returns,
    chain_of_choices, many_ifs, long_list, long_dict,
]  # fmt: skip


@pytest.mark.every(2)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_what_is_long_is_differentiated(shape):
    """Some 200 terms, arms, entries or lines: the derivative in both modes is that of differences."""
    f, h = made(shape.__name__, shape(210)), 1e-6
    wanted = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    assert rl.gradient(f, 1.3)[0] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert rl.pushforward(f, 1.3)(1.0) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("n", [2000])
def test_a_sum_as_long_as_python_takes_it(n):
    """Expressions that nest deeper than Python calls may are read and differentiated all the same."""
    assert rl.gradient(made("sum", long_sum(n)), 1.3)[0] == sum(k % 7 for k in range(n))


@pytest.mark.every(2)
@pytest.mark.parametrize("shape", [lines, names], ids=lambda shape: shape.__name__)
def test_time_grows_with_the_number_of_lines(shape):
    """A function that is four times as long takes four times as long to compile, not sixteen."""

    def seconds(n):
        f = made(shape.__name__, shape(n))
        start = time.process_time()
        rl.gradient(f, 1.3)
        return time.process_time() - start

    seconds(20)
    assert seconds(1200) < 9.0 * seconds(300)
