"""By whatever way a value gets into a function, and whichever derivative is taken of that function: the
derivative by the value is right, or refused.

A program is made of a *channel*, by which `k` gets into a function of `a`, and a *front door*, by which
something is asked of that function; both are texts, so that each call is written as an author would. All the
functions are a**3 * k**2, so that what a front door gives for k is known by heart, and its derivatives too.
"""

import functools
import inspect
import itertools
import linecache
import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleLabError

A, K = 1.7, 1.3

SHARED = """
import functools
import types
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import rulelab as rl
from rulelab.ad.forward import jvp


class Pair(NamedTuple):
    k: float
    n: int


@dataclass
class Data:
    k: float


class Model:
    def __init__(self, k):
        self.k = k

    def run(self, a):
        return a**3 * self.k**2

    __call__ = run

    @property
    def twice(self):
        return 2.0 * self.k

    def half(self, a):
        return a**3 * self.twice**2 / 4

    @staticmethod
    def still(a, k):
        return a**3 * k**2

    @classmethod
    def of(cls, a, k):
        return cls(k).run(a)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def run(self, a):
        return a**3 * self.k**2


def plain(a, k):
    return a**3 * k**2


def counted(a, k=1.0, n=2):
    return a**n * k**2


def first(k, a):
    return a**3 * k**2


def worded(a, *, k=1.0):
    return a**3 * k**2


def starred(a, *ks):
    return a**3 * ks[0] ** 2


def double_starred(a, **ks):
    return a**3 * ks["k"] ** 2


def of_items(a, c):
    return a**3 * c[0] ** 2


def of_entries(a, c):
    return a**3 * c["k"] ** 2


def of_object(a, c):
    return a**3 * c.k**2


def calling(a, g):
    return g(a)


def composed(*fs):
    def f(a):
        for g in fs:
            a = g(a)
        return a

    return f
"""

# name: (the function of a, what is given to it besides a, what is done before)
CHANNELS = {
    "position": ("plain", "k"),
    "keyword": ("plain", "k=k"),
    "keyword only": ("worded", "k=k"),
    "position before a constant": ("counted", "k, 3"),
    "keyword before a constant": ("counted", "k=k, n=3"),
    "keyword after a constant": ("counted", "n=3, k=k"),
    "star": ("starred", "*[k]"),
    "double star": ("double_starred", "**{'k': k}"),
    "double star to a name": ("plain", "**dict(k=k)"),
    "list by position": ("of_items", "[k]"),
    "object by position": ("of_object", "Model(k)"),
    "function by position": ("calling", "lambda a: a**3 * k**2"),
    "method by position": ("calling", "Model(k).run"),
    "partial by position": ("calling", "functools.partial(first, k)"),
    "list by keyword": ("of_items", "c=[k]"),
    "tuple by keyword": ("of_items", "c=(k, 1)"),
    "dict by keyword": ("of_entries", "c={'k': k}"),
    "NamedTuple by keyword": ("of_object", "c=Pair(k, 1)"),
    "dataclass by keyword": ("of_object", "c=Data(k)"),
    "object by keyword": ("of_object", "c=Model(k)"),
    "function by keyword": ("calling", "g=lambda a: a**3 * k**2"),
    "method by keyword": ("calling", "g=Model(k).run"),
    "default": ("f", "", "def f(a, k=k): return a**3 * k**2"),
    "keyword default": ("f", "", "def f(a, *, k=k): return a**3 * k**2"),
    "list as default": ("f", "", "def f(a, c=[k]): return a**3 * c[0]**2"),
    "object as default": ("f", "", "def f(a, c=Model(k)): return c.run(a)"),
    "closure": ("lambda a: a**3 * k**2", ""),
    "closure of a closure": ("lambda a: g(a)", "", "def g(a): return a**3 * k**2"),
    "closure of a default": ("lambda a: g(a)", "", "def g(a, k=k): return a**3 * k**2"),
    "recursion": ("f", "", "def f(a, n=3): return k**2 if n == 0 else a * f(a, n - 1)"),
    "variable set again": ("f", "", "c = 1.0", "def f(a): return a**3 * c**2", "c = k"),
    "captured list": ("lambda a: a**3 * c[0]**2", "", "c = [k]"),
    "captured dict": ("lambda a: a**3 * c['k']**2", "", "c = {'k': k}"),
    "captured NamedTuple": ("lambda a: a**3 * c.k**2", "", "c = Pair(k, 1)"),
    "captured dataclass": ("lambda a: a**3 * c.k**2", "", "c = Data(k)"),
    "captured object": ("lambda a: a**3 * c.k**2", "", "c = Model(k)"),
    "captured array": ("lambda a: a**3 * c[0]**2", "", "c = np.array([k, 1.0])"),
    "captured functions": ("lambda a: c[0](a)", "", "c = [lambda a: a**3 * k**2]"),
    "captured method": ("lambda a: run(a)", "", "run = Model(k).run"),
    "captured partial": ("lambda a: p(a)", "", "p = functools.partial(first, k)"),
    "captured callable object": ("lambda a: c(a)", "", "c = Model(k)"),
    "bound method": ("Model(k).run", ""),
    "method of slots": ("Slotted(k).run", ""),
    "method with a property": ("Model(k).half", ""),
    "callable object": ("Model(k)", ""),
    "static method": ("Model.still", "k"),
    "class method": ("Model.of", "k"),
    "partial": ("functools.partial(first, k)", ""),
    "partial by keyword": ("functools.partial(worded, k=k)", ""),
    "partial overridden": ("functools.partial(worded, k=3.0)", "k=k"),
    "partial of a method": ("functools.partial(Model(k).run)", ""),
    "partial of a closure": ("functools.partial(lambda a: a**3 * k**2)", ""),
    "decorated": ("f", "", "g = lambda a: a**3 * k**2", "@functools.wraps(g)\n    def f(a): return g(a)"),
    "cached": ("f", "", "@functools.cache\n    def f(a): return a**3 * k**2"),
    "vectorized": ("np.vectorize(lambda a: a**3 * k**2)", ""),
    "composition": ("composed(lambda a: a * k, lambda a: a**3 / k)", ""),
    "method in a dict": ("c['f']", "", "c = {'f': Model(k).run}"),
}

# name: (its text, the derivative by a that it gives, what else it takes: by position, by keyword)
DOORS = {
    "gradient": ("rl.gradient({f}, a{x})[0]", 1, "pk"),
    "withgradient": ("rl.withgradient({f}, a{x}).grad[0]", 1, "pk"),
    "val of withgradient": ("rl.withgradient({f}, a{x}).val", 0, "pk"),
    "grad": ("rl.grad({f})(a{x})", 1, "pk"),
    "grad of argnums": ("rl.grad({f}, (0,))(a{x})[0]", 1, "pk"),
    "pullback": ("rl.pullback({f}, a{x})[1](1.0)[0]", 1, "pk"),
    "value of pullback": ("rl.pullback({f}, a{x})[0]", 0, "pk"),
    "pushforward": ("rl.pushforward({f}, a{x})(1.0{still})", 1, "pk"),
    "jvp": ("jvp({f}, (a,), (1.0,), dict({words}))[1]", 1, "k"),
    "jacobian": ("rl.jacobian({f}, a{x})[0][0]", 1, "pk"),
    "withjacobian": ("rl.withjacobian({f}, a{x}).grad[0][0]", 1, "pk"),
    "hessian": ("rl.hessian({f}, a{x})", 2, "k"),
    "hessian in reverse": ("rl.hessian({f}, a, mode='reverse'{x})", 2, "k"),
    "hessian_reverse": ("rl.hessian_reverse({f}, a{x})", 2, "k"),
    "hvp": ("rl.hvp({f}, a, 1.0{x})", 2, "k"),
    "diaghessian": ("rl.diaghessian({f}, a{x})[0]", 2, "pk"),
    "derivative": ("rl.derivative({f})(a)", 1, ""),
    "second derivative": ("rl.derivative({f}, 2)(a)", 2, ""),
    "forwarddiff": ("rl.forwarddiff({f}, a)", 0, ""),
    "checkpointed": ("rl.checkpointed({f}, a{x})", 0, "pk"),
    "a call": ("({f})(a{x})", 0, "pk"),
    "partial of gradient": ("functools.partial(rl.gradient, {f}, a{x})()[0]", 1, "pk"),
    "checkpointed gradient": ("rl.checkpointed(lambda: rl.gradient({f}, a{x})[0])", 1, "pk"),
    "forwarddiff of gradient": ("rl.forwarddiff(lambda t: rl.gradient({f}, t{x})[0], a)", 1, "pk"),
    "map": ("list(map({f}, [a]))[0]", 0, ""),
    "reduce": ("functools.reduce(lambda s, t: s + ({f})(t), [a], 0.0)", 0, ""),
    "vectorize": ("np.sum(np.vectorize({f})(np.array([a])))", 0, ""),
    "hook": ("rl.hook(lambda g: g, ({f})(a))", 0, ""),
    "wirtinger": ("np.real(sum(rl.wirtinger({f}, a)))", 1, ""),
    "holomorphic_derivative": ("np.real(rl.holomorphic_derivative({f}, a))", 1, ""),
    "Params": ("(lambda W: rl.gradient(lambda: ({f})(W[0]), rl.Params([W]))[W][0])(np.array([a]))", 1, ""),
}
BY_HEART = {0: A**3, 1: 3 * A**2, 2: 6 * A}  # the derivatives of a**3


def reverse(f):
    return lambda x: rl.gradient(f, x)[0]


def forward(f):
    return lambda x: rl.pushforward(f, x)(1.0)


# name: (the outer derivative, its order)
MODES = {
    "reverse": (reverse, 1),
    "forward": (forward, 1),
    "reverse over reverse": (lambda f: reverse(reverse(f)), 2),
    "forward over reverse": (lambda f: forward(reverse(f)), 2),
    "reverse over forward": (lambda f: reverse(forward(f)), 2),
    "forward over forward": (lambda f: forward(forward(f)), 2),
}

SECOND = [mode for mode in MODES if " over " in mode]
WITH_REVERSE = tuple(mode for mode in SECOND if "reverse" in mode)

# What is refused, each with a part of the message and with why.
REFUSED = {
    # The inner derivative is not a program of a kind that can be differentiated again.
    ("wirtinger", "*", tuple(MODES)): "wirtinger",
    ("holomorphic_derivative", "*", tuple(MODES)): "holomorphic_derivative",
    ("Params", "*", tuple(MODES)): "Params",
    # It changes what goes back, which no tangent does.
    ("hook", "*", ("forward", *SECOND)): "hook changes a gradient",
    # The cell of the variable is shared with code that does not run in the columns.
    ("forwarddiff", "variable set again", WITH_REVERSE): "a captured variable more than once",
    ("forwarddiff of gradient", "variable set again", WITH_REVERSE): "a captured variable more than once",
}


def taken(door, channel):
    """Whether a front door has room for what a channel gives to the function."""
    extra = CHANNELS[channel][1]
    return not extra or ("k" if by_keyword(extra) else "p") in DOORS[door][2]


def by_keyword(extra):
    return extra.startswith("**") or "=" in extra.partition("lambda")[0].partition("(")[0]


def written(door, channel):
    """The program: a function of k."""
    function, extra, *before = CHANNELS[channel]
    comma = f", {extra}" if extra else ""
    still = ", None" * (0 if by_keyword(extra) or not extra else 2 if extra == "k, 3" else 1)
    asked = DOORS[door][0].format(f=function, x=comma, words=extra, still=still)
    lines = [f"a = {A}", *before, f"return {asked}"]
    return "\n".join(["def program(k):", *(f"    {line}" for line in lines), ""])


@functools.cache
def shared():
    return made(SHARED, "<shared by channels>", {})


def made(text, name, names):
    """What a text defines, with its lines at hand for whoever reads the source."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = types.ModuleType("channels")
    vars(module).update(names)
    exec(compile(text, name, "exec"), vars(module))
    return vars(module)


def program(door, channel):
    names = {name: x for name, x in shared().items() if not name.startswith("__")}
    return made(written(door, channel), f"<{door} by {channel}>", names)["program"]


def reason(door, channel, mode):
    """What the refusal of a combination says; None where it is to be right."""
    for (d, c, modes), text in REFUSED.items():
        if d in ("*", door) and c in ("*", channel) and mode in modes:
            return text
    return None


def check(door, channel, mode):
    __tracebackhide__ = True
    f = program(door, channel)
    np.testing.assert_allclose(f(K), BY_HEART[DOORS[door][1]] * K**2, rtol=1e-9)
    derivative, order = MODES[mode]
    refusal = reason(door, channel, mode)
    if refusal is not None:
        with pytest.raises(RuleLabError, match=refusal):
            derivative(f)(K)
        return
    found = derivative(f)(K)
    right = BY_HEART[DOORS[door][1]] * (2 * K if order == 1 else 2.0)
    np.testing.assert_allclose(found, right, rtol=1e-9, err_msg=written(door, channel))
    if order == 1:  # what was known by heart, asked of the plain function
        h = 1e-5
        np.testing.assert_allclose(found, (f(K + h) - f(K - h)) / (2 * h), rtol=1e-7)


ALL = [pair for pair in itertools.product(DOORS, CHANNELS) if taken(*pair)]


@pytest.mark.every(5)
@pytest.mark.parametrize("door", ["gradient", "forwarddiff"])
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_channel(channel, door):
    """A value that gets into a function by any way has its derivative in what is asked of the function."""
    if taken(door, channel):
        check(door, channel, "reverse")


@pytest.mark.every(11)
@pytest.mark.parametrize("door", DOORS)
def test_a_front_door(door):
    """A derivative by what a keyword brings in, a learning rate, is there whatever is asked of the function;
    so is one by the object of a method.
    """
    for channel in ("keyword before a constant", "bound method"):
        if taken(door, channel):
            check(door, channel, "reverse" if channel.startswith("keyword") else "forward")


TWICE = [
    ("gradient", "keyword"),
    ("hvp", "object by keyword"),
    ("forwarddiff", "bound method"),
    ("forwarddiff of gradient", "partial by position"),
    ("forwarddiff", "variable set again"),
]


@pytest.mark.parametrize(("door", "channel"), TWICE)
@pytest.mark.parametrize("mode", [mode for mode in MODES if " over " in mode])
@pytest.mark.every(11)
def test_second_order(mode, door, channel):
    """The same of derivatives of derivatives of derivatives."""
    check(door, channel, mode)


WRAPPED = ("@functools.wraps(lambda a: a * k)", "def f(a): return a")
# What a callable holds, read as an attribute: programs that give k**2, by their lines.
READ = {
    "a default": ("h = lambda a=k: a", "return h.__defaults__[0] ** 2"),
    "the second default": ("h = lambda b, a=1.0, c=k: a", "a, c = h.__defaults__", "return c**2"),
    "a keyword default": ("h = lambda *, a=k: a", "return h.__kwdefaults__['a'] ** 2"),
    "a default by getattr": ("h = lambda a=k: a", "return getattr(h, '__defaults__', (1.0,))[0] ** 2"),
    "a default by attrgetter": ("h = lambda a=k: a", "return attrgetter('__defaults__')(h)[0] ** 2"),
    "a cell": ("h = lambda: k", "return h.__closure__[0].cell_contents ** 2"),
    "each cell": ("h = lambda: k", "return sum([c.cell_contents ** 2 for c in h.__closure__])"),
    "a cell set again": ("c = 1.0", "h = lambda: c", "c = k", "return h.__closure__[0].cell_contents ** 2"),
    "arguments of a partial": ("p = functools.partial(first, k)", "return p.args[0] ** 2"),
    "keywords of a partial": ("p = functools.partial(plain, k=k)", "return p.keywords['k'] ** 2"),
    "function of a partial": ("p = functools.partial(lambda a: a * k)", "return p.func(k)"),
    "object of a method": ("m = Model(k).run", "return m.__self__.k ** 2"),
    "method by getattr": ("return getattr(Model(k), 'run', None)(1.0)",),
    "method by attrgetter": ("return attrgetter('run')(Model(k))(1.0)",),
    "function of np.vectorize": ("v = np.vectorize(lambda a: a * k)", "return v.pyfunc(k)"),
    "what is cached": ("v = functools.lru_cache(lambda a: a * k)", "return v.__wrapped__(k)"),
    "what is wrapped": ("@functools.wraps(lambda a: a * k)", "def f(a): return a", "return f.__wrapped__(k)"),
    "what is wrapped, by getattr": (*WRAPPED, "return getattr(f, '__wrapped__')(k)"),
    "what is wrapped, by vars": (*WRAPPED, "return vars(f)['__wrapped__'](k)"),
    "what is wrapped, by its dict": (*WRAPPED, "return f.__dict__['__wrapped__'](k)"),
    "what is wrapped, by values": (*WRAPPED, "return list(vars(f).values())[0](k)"),
    "what is wrapped, unwrapped": ("import inspect", *WRAPPED, "return inspect.unwrap(f)(k)"),
    "what is wrapped twice, unwrapped": (
        "import inspect",
        *WRAPPED,
        "@functools.wraps(f)",
        "def g(a): return f(a)",
        "return inspect.unwrap(g)(k)",
    ),
    "the default of what is wrapped": (
        "@functools.wraps(lambda a=k: a)",
        "def f(a): return a",
        "return vars(f)['__wrapped__'].__defaults__[0] ** 2",
    ),
    "what is wrapped and captured": (
        "g = lambda a: a * k",
        "@functools.wraps(g)",
        "def f(a): return g(a)",
        "return vars(f)['__wrapped__'](k)",
    ),
    "what is cached, unwrapped": (
        "import inspect",
        "v = functools.lru_cache(lambda a: a * k)",
        "return inspect.unwrap(v)(k)",
    ),
    "the factory of a dict": ("d = defaultdict(lambda: k)", "return d.default_factory() ** 2"),
}
NOT_READ = {
    # It may be written to, as the function's own.
    ("a keyword default", ("forward", *SECOND)): "__kwdefaults__",
    # Functions have no tangent for it.
    **{(read, tuple(MODES)): "__wrapped__" for read in READ if "what is wrapped" in read},
    # It is the function itself that has a cotangent, and the dict has none for it.
    ("the factory of a dict", ("reverse", *WITH_REVERSE)): "default_factory",
}


@pytest.mark.every(11)
@pytest.mark.parametrize("read", READ)
def test_what_a_callable_holds(read):
    """Read as an attribute, it is what it is by its own name: it varies."""
    names = {name: x for name, x in shared().items() if not name.startswith("__")}
    lines = ["from collections import defaultdict", "from operator import attrgetter", "def program(k):"]
    text = "\n".join([*lines, *(f"    {line}" for line in READ[read]), ""])
    f = made(text, f"<{read}>", names)["program"]
    for mode, (derivative, order) in MODES.items():
        refusals = [text for (r, modes), text in NOT_READ.items() if r == read and mode in modes]
        if refusals:
            with pytest.raises(RuleLabError, match=refusals[0]):
                derivative(f)(K)
        else:
            np.testing.assert_allclose(derivative(f)(K), 2 * K if order == 1 else 2.0, err_msg=mode)


def test_a_wrapper_says_what_it_wraps():
    """In differentiated code a wrapper has the signature and name of a function that holds what varies."""

    def f(k):
        def scaled(a, *, b=1.0):
            return a * b * k

        @functools.wraps(scaled)
        def wrapper(*args, **words):
            return scaled(*args, **words)

        names = rl.ignore_derivatives(lambda: tuple(inspect.signature(wrapper).parameters))
        return wrapper(k, b=3.0) if (wrapper.__name__, *names) == ("scaled", "a", "b") else 0.0 * k

    for mode, (derivative, order) in MODES.items():
        np.testing.assert_allclose(derivative(f)(K), 6 * K if order == 1 else 6.0, err_msg=mode)


@pytest.mark.campaign
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("door", DOORS)
def test_a_front_door_by_all_channels(door, mode):
    """All combinations; what fails is told at once."""
    failed = {}
    for d, channel in ALL:
        if d == door:
            try:
                check(door, channel, mode)
            except (Exception, pytest.fail.Exception) as error:
                failed[channel] = str(error).partition("\n")[0]
    assert not failed
