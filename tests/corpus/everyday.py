"""Functions of one number, in which people use Python as it comes: each is differentiated once and twice."""

import collections
import contextlib
import functools
import itertools
import math
import operator
import types
from dataclasses import dataclass, field

import numpy as np

PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


G = 3.0


@program
def closure(x):
    k = x * 2

    def g(y):
        return y * k * G

    return g(x) + g(2.0)


@program
def closure_late(x):
    k = 1.0

    def g(y):
        return y * k

    k = x * x
    return g(x)


@program
def nonlocal_counter(x):
    t = 0.0

    def add(y):
        nonlocal t
        t = t + y * x
        return t

    add(1.0)
    add(x)
    return t * t


@program
def defaults(x):
    def g(y, z=x * x, *, w=x):
        return y * z + w

    return g(2.0) + g(x, w=3.0)


@program
def recursion(x):
    def p(n):
        return 1.0 if n == 0 else x * p(n - 1)

    return p(4)


def rec(x, n):
    return x if n == 0 else math.sin(rec(x, n - 1)) * x


@program
def recursion2(x):
    return rec(x, 3)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return 2 * x if n == 0 else even(x + 1, n - 1)


@program
def mutual(x):
    return even(x, 3)


class P:
    k = 2.0

    def __init__(self, a, b=1.0):
        self.a = a
        self.b = b
        self.log = []

    def area(self):
        self.log.append(self.a)
        return self.a * self.b

    @property
    def twice(self):
        return 2 * self.a

    @staticmethod
    def st(x):
        return x * x

    @classmethod
    def cm(cls, x):
        return cls(x, cls.k * x)

    def __call__(self, x):
        return self.a * x

    def __add__(self, o):
        return P(self.a + o.a, self.b)

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __len__(self):
        return 2

    def __iter__(self):
        yield self.a
        yield self.b


@program
def methods(x):
    p = P(x, b=x * x)
    return p.area() + p.twice * P.st(x) + P.cm(x).b * sum(p.log)


@program
def callobj(x):
    p = P(x)
    return p(x) * p(2.0)


@program
def opers(x):
    p = P(x) + P(x * x)
    return p.a * p[1] * len(p)


@program
def bound_method(x):
    m = P(x, x).area
    return m() + m()


def apply(f, *a, **k):
    return f(*a, **k)


@program
def funarg(x):
    return apply(lambda y: y * x, x) + apply(math.sin, x) + apply(P.st, x)


@program
def list_funs(x):
    fs = [math.sin, lambda y: y * x, P(x).__call__, functools.partial(math.pow, x)]
    return sum(f(x) for f in fs)


@program
def kw(x):
    def g(a, *r, b, **k):
        return a * b + sum(r) * k["c"]

    return g(x, x, x * x, b=x, c=x)


@program
def kwspread(x):
    d = {"b": x, "c": x * x}

    def g(a, b, c):
        return a * b * c

    return g(*[x], **d)


@program
def try2(x):
    d = {}
    try:
        z = d["a"] * x
    except KeyError:
        z = x**3
    return z


@program
def wh(x):
    s = x
    n = 0
    while True:
        s = s * x
        n += 1
        if n > 3:
            break
        if n == 2:
            continue
        s += x
    else:
        s = 0
    return s


@program
def wh2(x):
    s = x
    while s < 20:
        s = s * 1.5 + x
    return s


@program
def cond_def(x):
    if x > 0:

        def h(y):
            return y * x
    else:

        def h(y):
            return y

    return h(x * x)


@program
def early(x):
    for i in range(5):
        if i == 3:
            return x**i
    return x


@program
def alias(x):
    a = [x]
    b = a
    b.append(x * x)
    a[0] = a[0] * 2
    return b[0] * a[1]


@program
def alias2(x):
    a = [[0.0] * 2 for _ in range(2)]
    b = a[1]
    b[0] = x
    a[0] = b
    a[0][1] = x * x
    return a[1][1] * a[0][0]


@program
def obj_in_cont(x):
    d = {"p": P(x)}
    q = [d["p"]]
    q[0].a = x * x
    return d["p"].a * d["p"].b


@program
def objconst(x):
    p = P(1.0)
    p.a = x
    return p.a * p.b


@program
def dfactory(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    d["a"].append(x * x)
    return d["a"][0] * d["a"][1]


@program
def dfactory2(x):
    d = collections.defaultdict(float)
    for k in "aab":
        d[k] += x
    return d["a"] * d["b"]


def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        return 2 * f(*a, **k)

    return w


@deco
def decd(x):
    return x * x


@program
def decorators(x):
    return decd(x)


@program
def deco_in(x):
    def scale(k):
        def d(f):
            def w(y):
                return k * f(y)

            return w

        return d

    @scale(x)
    def g(y):
        return y * y

    return g(x)


@program
def partial(x):
    return functools.partial(lambda a, b, c: a * b + c, x, c=x * x)(x)


@functools.cache
def cachd(x):
    return x * x


@functools.lru_cache(maxsize=None)
def cachd2(x):
    return x**3


@program
def cachefn(x):
    return cachd(x) * cachd2(x)


@program
def cache_in(x):
    @functools.cache
    def fib(n):
        return x if n < 2 else fib(n - 1) * fib(n - 2) + x

    return fib(5)


@program
def lam_loop(x):
    fs = []
    for i in range(3):
        fs.append(lambda y, i=i: y * i * x)
    return sum(f(x) for f in fs)


@program
def lam_loop_late(x):
    fs = []
    for i in range(3):
        k = x * i
        fs.append(lambda y: y * k)
    return sum(f(x) for f in fs)


@program
def dict_fun(x):
    t = {"s": math.sin, "q": lambda y: y * x}
    return t["s"](x) * t["q"](x)


@program
def comp(x):
    return sum(a * b * x for a in [x, 2.0] for b in (1.0, x) if a > -9)


@program
def comp2(x):
    fs = [lambda y: y * k for k in (x, 2.0)]
    return fs[0](x) * fs[1](1.0)


@program
def dictcomp(x):
    d = {i: x**i for i in range(4)}
    return sum(v * k for k, v in d.items())


@program
def genexp(x):
    return max(x * i for i in range(3)) + min((x, 5.0))


@program
def cplx(x):
    z = complex(x, x * x)
    w = z * z * 1j + z.conjugate()
    return abs(w) + w.real * z.imag


@program
def cplx2(x):
    z = x + 2j
    return (z**3).imag + abs(np.exp(1j * x) * z)


@program
def f32arr(x):
    a = np.ones(3, dtype=np.float64) * x
    return np.sum(a * a * np.arange(3))


@program
def ints(x):
    n = 3
    return x**n + n * x + (n // 2) * x


@program
def bools(x):
    b = x > 1
    return x * b + x * (not b) * 2


@program
def none_(x):
    def f(y):
        y = y

    r = f(x)
    return x * x if r is None else x


@program
def same(x):
    def f(y):
        return y

    a = [x]
    b = f(a)
    b[0] = x * x
    return a[0]


@program
def tup(x):
    t = (x, (x * x, [x, {"a": x}]))
    return t[1][1][1]["a"] * t[1][0] + t[1][1][0]


@program
def swap(x):
    a, b = x, 2.0
    for _ in range(3):
        a, b = b, a * b
    return a * b


@program
def star(x):
    a, *b = [x, x * x, x**3]
    *c, d = b
    return a * c[0] * d


@dataclass
class DC:
    a: float
    b: float = 2.0
    c: list = field(default_factory=list)


@program
def dcl(x):
    d = DC(x)
    d.c.append(x * x)
    d.b = d.a * d.c[0]
    return d.b + DC(x, x).b


@program
def dcl_const(x):
    d = DC(1.0)
    d.a = x
    d.c.append(x)
    return d.a * d.c[0] * d.b


@program
def walrus(x):
    return (y := x * x) * y


@program
def chained(x):
    return x if 0 < x < 1 else x * x if x < 5 else x**3


@program
def withst(x):
    with contextlib.nullcontext(x) as y:
        return y * x


@program
def slices(x):
    a = [x, x * x, 2.0, x**3]
    a[1:3] = [x, x]
    del a[0]
    return sum(a) * a[-1]


@program
def lops(x):
    a = [x] * 3 + [2.0, x]
    a.insert(0, x * x)
    a.reverse()
    a.sort()
    a.extend([x])
    return a.pop() * a[0] + sum(a) * a.index(2.0)


@program
def sortkey(x):
    a = sorted([(2, x), (1, x * x)], key=lambda t: t[0])
    return a[0][1] * 3 + a[1][1]


@program
def mapz(x):
    return sum(map(lambda a, b: a * b, [x, 2.0], [x * x, x])) + functools.reduce(operator.mul, [x, x, 2.0])


@program
def enum(x):
    s = 0.0
    for i, (a, b) in enumerate(zip([x, x * x], [1.0, x])):
        s += i * a * b
    return s


@program
def acc(x):
    return sum(itertools.accumulate([x, x * x, x]))


@program
def nparr(x):
    a = np.array([x, x * x, 1.0])
    b = a[::-1]
    return np.sum(a * b) + a @ b + np.max(a) + np.linalg.norm(a)


@program
def strf(x):
    s = f"{x}"
    return x * len("abc")


@program
def gl(x):
    global G
    return x * G


@program
def pw(x):
    return x**x + 2.0**x + x**2 + x**0.5


@program
def mods(x):
    return x % 0.7 + divmod(x, 0.3)[1] + math.fmod(x, 0.4) + x // 0.3 + round(x) + math.floor(x)


@program
def absx(x):
    return abs(-x) * math.copysign(x, -1) + math.hypot(x, 2.0)


@program
def matmul(x):
    A = np.array([[x, 1.0], [2.0, x * x]])
    return np.linalg.det(A) + np.trace(np.linalg.inv(A))


@program
def where(x):
    a = np.linspace(0, 1, 4) * x
    return np.sum(np.where(a > 0.3, a**2, -a))


@program
def setattr_(x):
    p = P(x)
    setattr(p, "a", x * x)
    return getattr(p, "a") * getattr(p, "zz", x)


@program
def vars_(x):
    p = types.SimpleNamespace(a=x)
    p.b = p.a * x
    return p.a * p.b


@program
def nt(x):
    Pt = collections.namedtuple("Pt", "a b")
    p = Pt(x, b=x * x)
    q = p._replace(a=x**3)
    return q.a * p.b + q[1]


@program
def matchst(x):
    match (x, 2.0):
        case (a, b) if a > 100:
            return a
        case (a, b):
            return a * b * a


@program
def assertst(x):
    assert x > 0
    return x * x


@program
def deep(x):
    def a(u):
        def b(v):
            def c(w):
                return w * u * v * x

            return c

        return b

    return a(x)(x * x)(2.0)


@program
def idx_float(x):
    a = [1.0, x, x * x]
    return a[int(2.5)] * a[-2]


@program
def stack(x):
    s = []
    for i in range(3):
        s.append((i, x * i))
    t = 0.0
    while s:
        i, v = s.pop()
        t += v * i * x
    return t
