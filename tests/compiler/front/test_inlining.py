"""A call of a small function costs no call; it means what it meant, and is told of as before."""

import contextlib
import gc
import io
import itertools
import linecache
import math
import re
import sys
import traceback
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from differences import gradient_by_differences  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.calls import passes  # noqa: E402
from rulelab.compiler.calls.cache import Cache  # noqa: E402
from rulelab.errors import RuleLabError  # noqa: E402


@pytest.fixture
def cache():
    """A cache of its own."""
    return Cache()


def texts_of(cache, name="f"):
    """The emitted passes of the functions with this name."""
    passes = [made for held in cache.memory.passes.values() for made in held.by_key.values()]
    return [made.text for made in passes if made.name == name]


def is_inlined(cache, callee="g"):
    """Whether no pass of `f` calls the function."""
    found = texts_of(cache)
    assert found
    return not any(f"{callee}_at" in text or f"call_{callee}" in text for text in found)


def programs(text):
    """Those in a text, by the comments above them."""
    pieces = re.split(r"^# (.*)\n", text, flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


# --- the family: helpers in the namespace, and `f(x)` of a number or of an array of three -------------------

SCALAR = programs("""
# straight
def g(u, v):
    return math.sin(u) * v
def f(x):
    return g(x, x * x) + g(2.0, x)

# branch
def g(u):
    if u > 0.5:
        w = u * u
    else:
        w = -u
    return w * 3.0
def f(x):
    return g(x) + g(-x)

# early return
def g(u):
    if u < 0.0:
        return u * 5.0
    w = math.exp(u)
    return w * u
def f(x):
    return g(x) * g(-x)

# loop
def g(u, n):
    total = 0.0
    for i in range(n):
        total += u ** i / (i + 1)
    return total
def f(x):
    s = 0.0
    for k in range(3):
        s = s + g(x, k + 2)
    return s

# while and break
def g(u):
    n = 0
    while True:
        u = u * 0.7
        n += 1
        if u < 0.3 or n > 9:
            break
    return u * n
def f(x):
    return g(x) + g(x * 3.0)

# return in a loop
def g(u):
    for i in range(5):
        u = u * 1.5
        if u > 2.0:
            return u * i
    return u
def f(x):
    return g(x) + g(0.01 * x)

# defaults
def g(u, k=3.0, n=None):
    if n is None:
        return u * k
    return u ** n * k
def f(x):
    return g(x) + g(x, 2.0) + g(x, n=3)

# keywords
def g(u, /, v, *, w=2.0):
    return u * v ** 2 + w * v
def f(x):
    return g(x, v=x) + g(1.0, w=x, v=2.0)

# star parameter
def g(u, *others):
    return u * others[0] + others[1] * len(others)
def f(x):
    return g(x, x, 2.0) + g(1.0, x, x, x)

# chain
def h(u):
    return math.tanh(u)
def k(u, v):
    return h(u) * h(v)
def g(u):
    return k(u, h(2.0 * u))
def f(x):
    return g(x) + g(0.3)

# tuples
def g(u, v):
    return u * v, u + v
def f(x):
    a, b = g(x, 2.0)
    (c, d), e = g(a, b), x
    return a * b + c * d * e

# a pair of pairs
def h(u):
    return (u, u * u), 3.0
def g(u):
    (a, b), c = h(u)
    return a * c, b
def f(x):
    p = g(x)
    return p[0] * p[-1]

# nested
def f(x):
    k = x * 2.0
    def g(u):
        return u * k + math.sin(u)
    return g(x) + g(k)

# nested with defaults
def f(x):
    def g(u, v=x * x):
        return u * v
    return g(x) + g(2.0, x)

# nested in nested
def f(x):
    h = lambda u: u * x
    def g(u):
        return h(u) + h(x)
    return g(x) * g(2.0)

# lambda in a loop
def f(x):
    s = 0.0
    for i in range(4):
        g = lambda u: u * (x + i)
        s += g(x)
    return s

# lambda of the namespace
g = lambda u, v=0.5: u * v if u > v else v * v
def f(x):
    return g(x) + g(x, 9.0) + g(x * x)

# unused result
def g(u):
    w = u * 3.0
    return w
def f(x):
    g(x)
    return x * x

# ignored argument
def g(u, v):
    return u * u
def f(x):
    return g(x, x * 2.0) * x

# name of its own
def g(x):
    t = x * x
    s = t + x
    return s * t
def f(x):
    t = 2.0 * x
    s = g(t)
    t_1 = g(s * 0.1)
    return t * s * t_1

# raises behind a branch
def g(u):
    if u < -9.0:
        raise ValueError('small')
    return u * u
def f(x):
    return g(x) + g(2.0 * x)

# assertion
def g(u):
    assert u > -9.0, 'small'
    return u ** 3
def f(x):
    return g(x) * x

# in a test
def g(u):
    return u * u - 1.0
def f(x):
    n = 0.0
    while g(n) < 3.0 and g(x) < 90.0:
        n += 0.7
    return g(x) * n if g(x) < 5.0 else x

# comprehension
def g(u, i):
    return u * i
def f(x):
    return sum([g(x, i) for i in range(4)])

# list of its own
def g(u):
    out = []
    for i in range(3):
        out.append(u * i)
    return out[1] + out[2]
def f(x):
    return g(x) * g(0.5)

# try around
def g(u):
    return u * u
def f(x):
    try:
        y = g(x)
    except ValueError:
        y = x
    return y * g(x)

# global number
scale = 2.5
def g(u):
    return u * scale
def f(x):
    return g(x) * scale

# rebinds its parameter
def g(u, k):
    u = u * k
    u = u + 1.0
    return u
def f(x):
    y = g(x, 2.0)
    return x * y

# augments its parameter
def g(u, k):
    u *= k
    u += 1.0
    return u
def f(x):
    y = g(x, 2.0)
    return x * y
""")
ARRAY = programs("""
# straight
def g(u):
    return 1.0 / (1.0 + np.exp(-u))
def f(x):
    return np.sum(g(x) * g(2.0 * x))

# items
def g(u):
    return np.array([u[1], -u[0] * u[2], np.sin(u[0])])
def f(x):
    for _ in range(3):
        x = x + 0.1 * g(x)
    return np.sum(x ** 2)

# branch
def g(u, deep):
    if deep:
        return np.tanh(u)
    return u[::-1] * 2.0
def f(x):
    return np.sum(g(x, True) * g(x, False))

# pair
def g(u, v):
    return u @ v, u * v
def f(x):
    s, w = g(x, x + 1.0)
    return s * np.sum(w * w)

# nested
def f(x):
    h = x.shape[0]
    def g(u, m):
        return u[:h] * m, u - m
    a, b = g(x, x * x)
    return np.sum(a * b)

# array of its own
def g(u):
    out = np.zeros(3)
    out += u
    out += u * u
    return out
def f(x):
    return np.sum(g(x) * x)

# loop over rows
def g(u):
    s = 0.0
    for e in u:
        s = s + e * e
    return s
def f(x):
    return g(x) * g(x[1:])

# writes to its argument
def g(u):
    u[0] = u[1] * 2.0
    return np.sum(u)
def f(x):
    y = [x[0], x[1]]
    return g(y) * y[0]
""")
POINTS = {"scalar": (0.7, -0.4, 1.9), "array": (np.array([0.3, -0.7, 1.1]), np.array([2.0, 0.5, -0.1]))}


def cases():
    for kind, texts in (("scalar", SCALAR), ("array", ARRAY)):
        for name, text in texts.items():
            yield pytest.param(text, POINTS[kind], id=f"{kind}, {name}")


def f_of(cells, text):
    return cells.run(f"import math\nimport numpy as np\n{text}\n")["f"]


@pytest.mark.every(3)
@pytest.mark.parametrize(("text", "points"), list(cases()))
def test_value_and_gradient(cells, text, points, monkeypatch):
    """Values, gradients of both modes and second derivatives are those of the function, and those without
    inlining, to the kind of zero.
    """
    f = f_of(cells, text)
    for x in points:
        inlined, called = Cache(), Cache()
        value, found = rl.withgradient(f, x, cache=inlined)
        assert value == f(x)
        slope = gradient_by_differences(f, x)
        np.testing.assert_allclose(found[0], slope, rtol=1e-5, atol=1e-6)
        with monkeypatch.context() as patched:
            patched.setattr(passes, "_inlines", lambda *asked: False)
            plain = rl.withgradient(f, x, cache=called)
        np.testing.assert_allclose(found[0], plain.grad[0], rtol=1e-12)
        assert type(found[0]) is type(plain.grad[0])
        direction = np.ones_like(x) if isinstance(x, np.ndarray) else 1.0
        np.testing.assert_allclose(
            rl.pushforward(f, x)(direction), np.sum(slope * direction), rtol=1e-5, atol=1e-6
        )
        second = lambda t: np.sum(rl.gradient(f, t)[0])
        try:
            found = rl.gradient(second, x)[0]
        except RuleLabError:
            continue  # writes are not taken at the second order
        np.testing.assert_allclose(
            0.0 if found is None else found,
            gradient_by_differences(lambda t: np.sum(rl.gradient(f, t)[0]), x, 1e-5),
            rtol=1e-4,
            atol=1e-5,
        )


# Calls in a `try` stay, a variable that changes while it is captured lives in a cell, and `u *= k` may change
# what the caller has.
STAYING = ("try around", "lambda in a loop", "augments its parameter")
IN_PLACE = [name for name in SCALAR if name not in STAYING]


@pytest.mark.parametrize("name", IN_PLACE)
def test_what_is_inlined(cells, cache, name):
    """Of these no call is left."""
    rl.gradient(f_of(cells, SCALAR[name]), 0.7, cache=cache)
    (text,) = texts_of(cache)
    assert not re.search(r"\b(g|h|k|function)(_at)?(_\d+)?\(", text)


def test_a_hessian(cells):
    """A matrix of second derivatives through a called function."""
    f = f_of(
        cells, "def g(u, v):\n    return u * u * v + np.sin(v)\ndef f(x):\n    return g(x[0], x[1]) * x[1]"
    )
    x = np.array([0.4, 1.2])
    expected = gradient_by_differences(lambda t: rl.gradient(f, t)[0], x, 1e-5)
    np.testing.assert_allclose(rl.hessian(f, x), expected, rtol=1e-5, atol=1e-6)


def test_zeros_are_those_of_a_call(cells):
    """An argument that a called function leaves alone has a zero, and no gap, as when it was called."""
    f = f_of(cells, "def g(u, v):\n    return u * u, v\ndef f(x, y):\n    a, _ = g(x, y)\n    return a")
    assert rl.gradient(f, 2.0, 3.0) == (4.0, 0.0)


# --- what stays a call --------------------------------------------------------------------------------------

CALLS = programs("""
# recursion
def g(u):
    return u if u < 1.0 else g(u * 0.5) * 2.0
def f(x):
    return g(x)

# recursion of two
def h(u):
    return g(u * 0.5)
def g(u):
    return u * u if u < 1.0 else h(u)
def f(x):
    return g(x)

# star at the call
def g(u, v):
    return u * v
def f(x):
    xs = (x, x)
    return g(*xs)

# keywords of its own
def g(u, **words):
    return u * words['k']
def f(x):
    return g(x, k=x)

# try
def g(u):
    try:
        return u * u
    except ValueError:
        return u
def f(x):
    return g(x)

# closure
def make(k):
    def g(u):
        return u * k
    return g
g = make(2.0)
def f(x):
    return g(x) * x

# decorated
import functools
def twice(h):
    @functools.wraps(h)
    def wrapped(u):
        return h(u) * 2.0
    return wrapped
@twice
def g(u):
    return u * u
def f(x):
    return g(x)

# escapes
def f(x):
    def g(u):
        return u * u
    gs = [g]
    return g(x) + gs[0](x)

# rebound capture
def f(x):
    k = x
    def g(u):
        return u * k
    a = g(x)
    k = 3.0
    return a * g(x)

# name taken
def scale(u):
    return u * 3.0
def g(u):
    return scale(u) + math.sin(u)
def f(x):
    math = x * 2.0
    return g(math)

# list default
def g(u, ks=[2.0, 3.0]):
    return u * ks[0]
def f(x):
    return g(x)

# chosen by a branch
def g(u):
    return u * u
def h(u):
    return u * 3.0
def f(x):
    k = g if x > 0.0 else h
    return k(x)

# objects
class Box:
    pass
def g(box, u):
    box.u = u
    return u * 2.0
def f(x):
    box = Box()
    y = g(box, x)
    return y * box.u
""")
CALLS["long"] = "def g(u):\n" + "    u = u * 1.01 + 0.1\n" * 50 + "    return u\ndef f(x):\n    return g(x)\n"


@pytest.mark.parametrize("name", CALLS)
def test_what_stays_a_call(cells, cache, name):
    """What is not inlined is right as well."""
    f = f_of(cells, CALLS[name])
    for x in (0.7, 2.5):
        found = rl.gradient(f, x, cache=cache)
        np.testing.assert_allclose(found[0], gradient_by_differences(f, x), rtol=1e-5)


RECURSIONS = programs("""
# of two
def g(u, n):
    return u if n == 0 else h(u * 1.1, n - 1) + u
def h(u, n):
    return u * u if n == 0 else g(u * u, n - 1)
def f(x):
    return g(x, 5)

# of three
def g(u, n):
    return u if n == 0 else h(u * 1.1, n - 1) + u
def h(u, n):
    return u * u if n == 0 else k(u * u, n - 1)
def k(u, n):
    return u * 3.0 if n == 0 else g(u, n - 1)
def f(x):
    return g(x, 5) + k(x, 2)

# through the first function
def g(u, n):
    return f(u * 1.1, n - 1) + u
def f(x, n=5):
    return x if n == 0 else g(x, n)

# beside a function without it
def small(u):
    return u * u
def g(u, n):
    return small(u) if n == 0 else h(small(u), n - 1)
def h(u, n):
    return small(u) if n == 0 else g(small(u) * 0.5, n - 1)
def f(x):
    return g(x, 4) + small(x)
""")


@pytest.mark.parametrize("name", RECURSIONS)
def test_functions_that_call_each_other_stand_once_in_a_pass(cells, cache, name):
    """They are called, as one that calls itself is, and not written into each other again and again."""
    f = f_of(cells, RECURSIONS[name])
    for x in (0.7, 1.1):
        found = rl.gradient(f, x, cache=cache)[0]
        np.testing.assert_allclose(found, gradient_by_differences(f, x), rtol=1e-5)
    for function in ("f", "g"):
        assert all(text.count("1.1") + text.count("0.5") <= 2 for text in texts_of(cache, function))


def test_many_calls_are_bounded(cells, cache):
    """A function that calls another a thousand times does not grow without end."""
    lines = "".join("    x = g(x)\n" for _ in range(1000))
    f = f_of(cells, f"def g(u):\n    return u * 1.0001 + 0.001 * math.sin(u)\ndef f(x):\n{lines}    return x")
    found = rl.gradient(f, 0.3, cache=cache)[0]
    np.testing.assert_allclose(found, gradient_by_differences(f, 0.3), rtol=1e-6)
    (text,) = texts_of(cache)
    assert 500 < text.count("g_at") < 2000


def test_types_that_are_not_known_get_a_pass_of_their_own(cells, cache):
    """What a list holds is known when it runs: the called function is compiled for it."""
    text = "def g(u):\n    a = u * u + 1.0\n    b = math.sin(a) * u\n    return a * b - u\n"
    f = f_of(cells, text + "def f(xs):\n    return sum([g(x) for x in xs])")
    found = rl.gradient(f, [0.3, 0.7], cache=cache)[0]
    g = cells.names["g"]
    np.testing.assert_allclose(found, [gradient_by_differences(g, x) for x in (0.3, 0.7)], rtol=1e-6)
    assert len(texts_of(cache, "g")) == 1


# --- what changes later -------------------------------------------------------------------------------------

SQUARE = "def g(u, k=1.0, *, p=2):\n    return k * u ** p\ndef f(x):\n    return g(x) * 1.0"


CHANGES = {
    "redefined": lambda names: exec_in(names, "def g(u, k=1.0, *, p=2):\n    return 7.0 * u"),
    "rebound": lambda names: names.update(g=lambda u: 7.0 * u),
    "rebound to a function of C": lambda names: names.update(g=math.sqrt),
    "code": lambda names: setattr(names["g"], "__code__", (lambda u, k=1.0, *, p=2: 7.0 * u).__code__),
    "defaults": lambda names: setattr(names["g"], "__defaults__", (7.0,)),
    "keyword defaults": lambda names: names["g"].__kwdefaults__.update(p=3),
    "keyword defaults anew": lambda names: setattr(names["g"], "__kwdefaults__", {"p": 3}),
}


def exec_in(names, text):
    """A cell's text, in its namespace; found again as it is."""
    filename = f"<redefined {next(NUMBER)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), names)


NUMBER = itertools.count()


@pytest.mark.parametrize("through", ["g", "a chain", "forward mode", "second order"])
@pytest.mark.parametrize("change", CHANGES)
def test_changes_count_at_the_next_call(cells, change, through):
    """A function that was inlined and is now another, or has other defaults, is seen at once."""
    text = SQUARE
    if through == "a chain":
        text = text.replace("return g(x)", "return h(x)") + "\ndef h(u):\n    return g(u) + 0.0 * u\n"
    f = f_of(cells, text)
    asked = {
        "forward mode": lambda x: rl.pushforward(f, x)(1.0),
        "second order": lambda x: rl.gradient(lambda t: rl.gradient(f, t)[0], x)[0] or 0.0,
    }.get(through, lambda x: rl.gradient(f, x)[0])
    compared = f if through != "second order" else lambda x: gradient_by_differences(f, x, 1e-4)
    for _ in range(2):
        assert asked(1.5) == pytest.approx(gradient_by_differences(compared, 1.5, 1e-4), rel=1e-4, abs=1e-5)
    CHANGES[change](cells.names)
    for _ in range(2):
        assert asked(1.5) == pytest.approx(gradient_by_differences(compared, 1.5, 1e-4), rel=1e-4, abs=1e-5)


def test_a_name_that_goes(cells):
    """A function whose name was deleted is missed, as Python misses it."""
    f = f_of(cells, SQUARE)
    assert rl.gradient(f, 3.0) == (6.0,)
    del cells.names["g"]
    with pytest.raises(NameError):
        rl.gradient(f, 3.0)


@pytest.mark.parametrize("mode", ["rrule", "frule", "opt out of the rule", "not differentiable"])
def test_rules_count_from_when_they_are_defined(cells, mode):
    """A rule defined later for an inlined function is used, and no longer when it is removed."""
    f = f_of(cells, "def g(u):\n    return u * u\ndef f(x):\n    return g(x) * 1.0")
    g = cells.names["g"]
    assert rl.gradient(f, 3.0) == (6.0,)
    if mode == "frule":
        rl.frule_for(g)(lambda dots, u: (g(u), 100.0 * dots[1]))
        assert rl.pushforward(f, 3.0)(1.0) == 100.0
    elif mode == "not differentiable":
        rl.non_differentiable(g)
        assert rl.gradient(f, 3.0)[0] in (None, 0.0)
    else:
        rl.rrule_for(g)(lambda u: (g(u), lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)))
        assert rl.gradient(f, 3.0) == (100.0,)
        if mode == "opt out of the rule":
            rl.opt_out(g)
            assert rl.gradient(f, 3.0) == (6.0,)
    rl.remove_rule(g)
    assert rl.gradient(f, 3.0) == (6.0,) and rl.pushforward(f, 3.0)(1.0) == 6.0


def test_manual_mode_notices(cells, cache):
    """In manual mode a rule that came later is noticed aloud, and not used until a refresh."""
    f = f_of(cells, "def g(u):\n    return u * u\ndef f(x):\n    return g(x) * 1.0")
    said = []
    cache.on_notice.append(said.append)
    assert rl.gradient(f, 3.0, cache=cache) == (6.0,)
    cache.refresh("manual")
    g = cells.names["g"]
    rl.rrule_for(g)(lambda u: (g(u), lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)))
    assert rl.gradient(f, 3.0, cache=cache) == (6.0,)
    assert len(said) == 1 and "g" in said[0] and "%grad_refresh" in said[0]
    assert "g" in str(cache.refresh())
    assert rl.gradient(f, 3.0, cache=cache) == (100.0,)
    assert rl.gradient(f, 3.0, cache=cache) == (100.0,)
    assert not is_inlined(cache)


def test_redefinitions_count_in_manual_mode(cells, cache):
    """Changed code always counts."""
    f = f_of(cells, "def g(u):\n    return u * u\ndef f(x):\n    return g(x) * 1.0")
    cache.refresh("manual")
    assert rl.gradient(f, 3.0, cache=cache) == (6.0,)
    exec_in(cells.names, "def g(u):\n    return 7.0 * u")
    assert rl.gradient(f, 3.0, cache=cache) == (7.0,)


def test_nothing_is_kept_alive(cells, cache):
    """The function that was inlined goes when its name does, and the pass with its function."""
    f = f_of(cells, SQUARE)
    assert rl.gradient(f, 3.0, cache=cache) == (6.0,) and is_inlined(cache)
    gone = weakref.ref(cells.names["g"])
    cells.run("def g(u):\n    return 2.0 * u\n")
    gc.collect()
    assert gone() is None
    assert rl.gradient(f, 3.0, cache=cache) == (2.0,)
    del f
    cells.names.clear()
    gc.collect()
    assert len(cache) == 0


# --- what is seen of it -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell_of_its_own", [False, True])
@pytest.mark.parametrize("way", ["gradient", "pushforward"])
def test_refusals_name_the_called_function(cells, cell_of_its_own, way):
    """The message tells the line in the called function, and from where that was reached."""
    called = "import numpy as np\ndef g(u):\n    w = u * 2.0\n    return np.poly(w)\n"
    caller = "def f(x):\n    y = x + 1.0\n    return np.sum(g(y))\n"
    if cell_of_its_own:
        cells.run(called)
        cells.run(caller)
    else:
        cells.run(called + caller)
    f = cells.names["f"]
    with pytest.raises(RuleLabError) as caught:
        rl.gradient(f, np.ones(3)) if way == "gradient" else rl.pushforward(f, np.ones(3))(np.ones(3))
    place = caught.value.place
    assert (place.function, place.line) == ("g", 4)
    line = 3 if cell_of_its_own else 7
    assert f"(reached from f, line {line}): return np.poly(w)" in str(caught.value)


@pytest.mark.parametrize("cell_of_its_own", [False, True])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("call", [0, 1])
def test_tracebacks_show_the_called_function(cells, cell_of_its_own, again, call):
    """An error of the author's passes the line of the call that it came from, and that in the function."""
    called = "def h(u, v):\n    return u / v\ndef g(u, v):\n    w = u * 2.0\n    return h(w, v)\n"
    caller = "def f(x, v, w):\n    y = g(x, v)\n    return y + g(x, w)\n"
    if cell_of_its_own:
        cells.run(called)
        cells.run(caller)
    else:
        cells.run(called + caller)
    f = cells.names["f"]
    if again:
        rl.gradient(f, 1.0, 2.0, 2.0)
    given = (1.0, 0.0, 2.0) if call == 0 else (1.0, 2.0, 0.0)

    def steps(run):
        with pytest.raises(ZeroDivisionError) as caught:
            run()
        frames = traceback.extract_tb(caught.value.__traceback__)
        return [
            (s.name, s.lineno, s.line, s.colno, s.end_colno) for s in frames if s.filename.startswith("<cell")
        ]

    assert steps(lambda: rl.gradient(f, *given)) == steps(lambda: f(*given))


def test_effects_happen_once(cells, run_once):
    """What a called function does besides happens once a call, in order."""
    f = f_of(
        cells,
        "def g(u, n):\n    print(n)\n    return u * n\ndef f(x):\n    return g(x, 1) + g(x, 2)",
    )
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert rl.gradient(f, 3.0) == (3.0,)
        assert rl.gradient(f, 3.0) == (3.0,)
    assert out.getvalue().split() == ["1", "2", "1", "2"]


MISFITS = {
    "too few": "g(x)",
    "too many": "g(x, x, x)",
    "unknown word": "g(x, x, w=1.0)",
    "twice": "g(x, x, u=x)",
    "positional only": "g(u=x, v=x)",
}


@pytest.mark.parametrize("call", MISFITS.values(), ids=MISFITS)
def test_arguments_that_do_not_fit(cells, call):
    """The error is Python's own."""
    f = f_of(cells, f"def g(u, /, v):\n    return u * v\ndef f(x):\n    return {call}")
    with pytest.raises(TypeError) as pythons:
        f(1.0)
    with pytest.raises(TypeError) as ours:
        rl.gradient(f, 1.0)
    assert str(ours.value) == str(pythons.value)


def test_unbound_variables(cells):
    """A variable of the called function that has no value is told of by its name."""
    called = "def g(u):\n    if u > 1.0:\n        w = u\n    return w * 2.0\n"
    f = f_of(cells, called + "def f(x):\n    w = x\n    return g(x) + w")
    assert rl.gradient(f, 2.0) == (3.0,)
    with pytest.raises(UnboundLocalError, match="'w'"):
        rl.gradient(f, 0.5)


def test_no_warning_of_constant_arguments(cells):
    """Constants in place of parameters make no text that Python warns of."""
    f = f_of(
        cells,
        "def g(u, k=None, n=2):\n    if k is not None and n is not None:\n        return u * k\n"
        "    return u ** 2\ndef f(x):\n    return g(x) + g(x, 3.0) + g(x, 3.0, None)",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rl.gradient(f, 2.0) == (4.0 + 3.0 + 4.0,)


def test_lines_of_warnings(cells):
    """NumPy warns of a line of the called function where that is in the same cell."""
    f = f_of(cells, "def g(u):\n    return np.log(u)\ndef f(x):\n    return np.sum(g(x))")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rl.gradient(f, np.zeros(2))
    assert 4 in {warning.lineno for warning in told}


def test_profiles_count_by_function(cells):
    """Where lines are followed nothing is inlined, so each function has its own."""
    f = f_of(cells, "def g(u):\n    return u * u\ndef f(x):\n    return g(x) + 1.0")

    class Probes:
        def __init__(self):
            self.codes = []

        def enter(self, number):
            return 0

        def tick(self, number):
            pass

        leave = tick

        def sweep(self, code):
            self.codes.append(code.co_name)
            return 0

        def site(self, sweep, line):
            return 0

    probes = Probes()
    rl.gradient(f, 2.0, cache=Cache().probed(probes))
    assert {"f", "g"} <= set(probes.codes)
