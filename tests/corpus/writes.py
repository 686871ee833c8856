"""Random programs that write to arrays, and finite differences to judge their tangents by.

A program is grown statement by statement: each is run on real values, and kept if Python takes it, so that shapes
and indices fit. Its result is the state of every array that it has made or was given.
"""

# ruff: noqa: E501
import copy
import linecache
import random
import warnings

import numpy as np

HELPERS = """
import numpy as np
class O:
    def __init__(self, a):
        self.a = a
        self.kept = None
    def scale(self, k):
        self.a *= k
        return self
    @property
    def part(self):
        return self.a[..., 0:1]
def g_inner(z, y):
    for i in range(len(z)):
        z[i] = 2.0 * y + z[i] * 0.5
    return z
def g_outer(y):
    z = np.zeros(3)
    g_inner(z, y)
    return z
def first(z):
    return z[0:1]
def tail(z):
    w = z[1:]
    w *= 0.5
    return w
def put(z, key, value):
    z[key] = value
def both(p, q):
    p += 0.25
    q *= 0.5
    return p
def clear(z, stop):
    for i in range(len(z)):
        if i == stop:
            return i
        z[i] = 0.0
    return -1
def keeper(z):
    def add(v):
        z[...] += v
        return z
    return add
"""


class Grower:
    """One program as it grows, with the values that its names have so far."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.count = 0
        self.names = {}
        exec(HELPERS, self.names)
        self.names |= copy.deepcopy(arguments(seed))
        self.arrays = ["x", "m", "c"]  # expressions that give arrays

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def value(self, text):
        return eval(text, self.names)

    def run(self, text):
        """Whether Python takes a statement, which is then part of the program."""
        saved = {k: v for k, v in self.names.items() if k[0] in "vktixo"}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("error")
                exec(text, self.names)
        except Exception:
            self.names.update(saved)
            return False
        self.lines += ["    " + line for line in text.splitlines()]
        return True

    def pick(self, real=None, ndim=None, floats=True):
        found = []
        for text in self.arrays:
            kind = self.value(text)
            if not isinstance(kind, np.ndarray) or (floats and kind.dtype.kind not in "fc"):
                continue
            if (real is None or (kind.dtype.kind != "c") == real) and (ndim is None or kind.ndim == ndim):
                found.append(text)
        return self.rng.choice(found) if found else "x"

    def number(self):
        r = self.rng
        if r.random() < 0.3:
            return r.choice(["s", "s * 0.5", "np.sin(s)", "-s"])
        if r.random() < 0.3:
            return str(round(r.uniform(-1.5, 1.5), 2))
        text = self.pick(real=True)
        shape = self.value(text).shape
        if 0 in shape:
            return "s"
        index = ", ".join(str(r.randrange(-n, n)) for n in shape)
        return f"{text}[{index}]" if shape else f"np.cos({text}[()])"

    def real(self, shape):
        """An expression that broadcasts to a shape."""
        r = self.rng
        same = [
            t for t in self.arrays if self.value(t).shape == tuple(shape) and self.value(t).dtype.kind in "fc"
        ]
        if not same or r.random() < 0.3:
            return self.number()
        one, two = r.choice(same), r.choice(same)
        one, two = (f"{t}.real" if self.value(t).dtype.kind == "c" else t for t in (one, two))
        return r.choice(
            [one, f"np.sin({one})", f"{one} * {two}", f"{one} + {self.number()}", f"{two} * 0.7 - {one}"]
            + [
                f"np.array({one})",
                f"{one}[::-1]" if shape else one,
                f"list({one})" if len(shape) == 1 else one,
            ]
        )

    def index(self, shape):
        r = self.rng
        if not shape or r.random() < 0.1:
            return "..."
        n = shape[0]
        if r.random() < 0.12:
            return f"np.array({[r.random() < 0.5 for _ in range(n)]})"
        parts = []
        for n in shape[: r.randint(1, len(shape))]:
            kind = r.random()
            if kind < 0.4 and n:
                parts.append(str(r.randrange(-n, n)))
            elif kind < 0.6:
                parts.append(r.choice(["1:", ":-1", "::2", "::-1", "1::2", ":", "-1:0:-1", "0:1"]))
            elif kind < 0.7:
                parts.append("...") if "..." not in parts else parts.append(":")
            elif kind < 0.8:
                parts.append("None")
            elif n:
                parts.append(str([r.randrange(n) for _ in range(r.randint(1, 3))]))
        return ", ".join(parts) or "..."

    # -- statements --------------------------------------------------------------------------------------

    def make(self):
        r, name = self.rng, self.fresh()
        shape = r.choice([(3,), (2, 3), (3, 3), (4,), (2, 2, 3), (), (1,), (3, 1)])
        old = self.pick()
        text = r.choice(
            [
                f"np.zeros({shape})", f"np.ones({shape})", f"np.full({shape}, {self.number()})",
                f"np.zeros_like({old})", f"{old}.copy()", f"np.array({old})", f"{old} * 1",
                f"np.sin({old})", f"np.array([{self.number()}, {self.number()}, {self.number()}])",
                f"np.array([{self.number()} * i for i in range(3)])", "np.arange(4.0)",
                f"np.linspace(0.0, {self.number()}, 3)", f"np.full_like({old}, {self.number()})",
                f"np.zeros({shape}, dtype=np.float32)", f"{old}.astype(complex)", f"np.zeros({shape}, complex)",
                f"np.array({old}, dtype=np.float32)", f"np.outer({self.real((3,))}, {self.real((3,))})",
                f"np.empty_like({old}) * 0.0", f"np.array([{old}, {old}])", f"np.stack([{old}, {old}], axis=-1)",
                f"np.concatenate([{old}, {old}])", f"g_outer({self.number()})", f"np.tile({old}, 2)",
                f"np.array(list({old}))", f"np.zeros_like({old}, order='F')", f"np.asfortranarray({old}) * 1.0",
                f"{old} + 0", f"np.where({old} > 0.1, {old}, {self.number()})", f"np.copy({old}.T)",
                f"{old}.T * 2.0", f"np.array({old}, order='K')", f"np.ascontiguousarray({old}.T)",
                "np.arange(6).reshape(2, 3)", f"np.zeros({shape}, dtype=int)",
            ]
        )  # fmt: skip
        if self.run(f"{name} = {text}"):
            self.arrays.append(name)

    def view(self):
        r, name, old = self.rng, self.fresh(), self.pick(floats=False)
        text = r.choice(
            [
                f"{old}[{self.index(self.value(old).shape)}]", f"{old}[None]", f"{old}.T", f"{old}.reshape(-1)",
                f"{old}.ravel()", f"{old}.swapaxes(0, -1)", f"np.diagonal({old})", f"np.split({old}, 3)[1]",
                f"np.array_split({old}, 2)[0]", f"{old}.real", f"{old}.imag", f"np.real({old})",
                f"np.broadcast_to({old}, (2,) + {old}.shape)", f"{old}.squeeze()", f"np.asarray({old})",
                f"{old}[...]", f"np.expand_dims({old}, -1)", f"np.atleast_2d({old})", f"np.moveaxis({old}, 0, -1)",
                f"first({old})", f"tail({old})", f"{old}[::-1]", f"{old}[1::2]", f"{old}[..., ::2]",
                f"np.reshape({old}, {old}.shape[::-1])", f"np.ravel({old}, 'F')", f"{old}.flatten()",
                f"np.flip({old})", f"np.rot90({old})", f"{old}.view()", f"np.ascontiguousarray({old})",
                f"{old}.transpose()", f"np.squeeze({old})", f"O({old}).part", f"O({old}).a", f"[{old}, 1.0][0]",
                f"{{'p': {old}}}['p']", f"(1, {old})[1]", f"list({old})[0]", f"next(iter({old}))",
                f"np.asarray({old}, dtype=float)", f"{old}.astype(float, copy=False)", f"np.array({old}, copy=None)",
                f"np.require({old})", f"np.conj({old})", f"+{old}", f"np.nan_to_num({old}, copy=False)",
                f"np.where(True, {old}, 0.0)", f"np.clip({old}, -9, 9)", f"(lambda: {old})()", f"np.hsplit({old}, 1)[0]",
                f"np.broadcast_arrays({old}, 1.0)[0]", f"np.meshgrid({old}, {old})[0]", f"np.real_if_close({old})",
                f"np.atleast_1d({old})", f"np.rollaxis({old}, -1)", f"np.roll({old}, 0)", f"np.abs({old})",
                f"np.flatnonzero({old})", f"{old}.flat[:]", f"np.trim_zeros({old})", f"np.fliplr({old})",
                f"np.unstack({old})[0]", f"np.diag({old})", f"{old}.diagonal()", f"np.triu({old})",
                f"np.einsum('i...->...i', {old})", f"np.einsum('ii->i', {old})", f"np.permute_dims({old})",
                f"np.matrix_transpose({old})", f"{old}.mT", f"{old}.take([0], axis=0)",
            ]
        )  # fmt: skip
        if self.run(f"{name} = {text}") and isinstance(self.names[name], np.ndarray):
            self.arrays.append(name)

    def hold(self):
        r, old, other, name = self.rng, self.pick(), self.pick(), self.fresh()
        kind = r.choice(["list", "dict", "tuple", "object", "unpack", "keeper", "kept", "zip"])
        if kind == "unpack":
            n = len(self.value(old)) if self.value(old).ndim else 0
            names = [f"{name}{c}" for c in "abcdefgh"[:n]]
            if n and self.run(f"{', '.join(names)}, = {old}"):
                self.arrays += [k for k in names if isinstance(self.names[k], np.ndarray)]
            return
        texts = {
            "list": (f"[{old}, {other}]", "{}[0]", "{}[1]"), "tuple": (f"({old}, {other})", "{}[0]", "{}[1]"),
            "dict": (f"{{'p': {old}, 'q': {other}[:]}}", "{}['p']", "{}['q']"), "object": (f"O({old})", "{}.a"),
            "keeper": (f"keeper({old})", "{}(0.5)"), "kept": (f"[w[::2] for w in ({old}, {other})]", "{}[0]"),
            "zip": (f"[p for p, q in zip({old}, {other})]", "{}[0]"),
        }  # fmt: skip
        text, *parts = texts[kind]
        if self.run(f"{name} = {text}") and kind != "keeper":
            self.arrays += [p.format(name) for p in parts if self.is_array(p.format(name))]
        elif kind == "keeper" and name in self.names:
            self.run(f"{name}({self.number()})")

    def is_array(self, text):
        try:
            return isinstance(self.value(text), np.ndarray)
        except Exception:
            return False

    def write(self):
        r = self.rng
        a = self.pick(floats=r.random() < 0.9)
        shape = self.value(a).shape
        key = self.index(shape)
        try:
            part = np.shape(self.value(f"{a}[{key}]"))
        except Exception:
            return False
        v, whole = self.real(part), self.real(shape)
        first_, second = self.index(shape), self.index(shape)
        sources = self.real(shape)
        op = r.choice(["+=", "-=", "*=", "/="])
        safe = v if op != "/=" else f"(2.0 + np.abs({v}))" if not v.startswith("list") else "2.0"
        safe_whole = whole if op != "/=" else f"(2.0 + np.cos({whole}))"
        name = self.fresh()
        choices = [f"{a}[{key}] = {v}"] * 6 + [f"{a}[{key}] {op} {safe}"] * 4 + [f"{a} {op} {safe_whole}"] * 3
        choices += [
            f"{a} **= 2", f"{a}[{key}] **= 2", f"np.copyto({a}, {whole})", f"{a}.fill({self.number()})",
            f"np.copyto({a}, {whole}, where={a} > 0.123)", f"np.put({a}, [0, -1], {self.number()})",
            f"{a}.put([1], [{self.number()}])", f"{a}.sort()", f"{a}.sort(axis=0)", f"np.add.at({a}, [0, 0], {self.number()})",
            f"np.subtract.at({a}, [0, 1, 0], {self.number()})", f"np.multiply.at({a}, [0, 0], {self.number()})",
            f"np.fill_diagonal({a}, {self.number()})", f"np.place({a}, {a} > 0.123, [{self.number()}])",
            f"np.putmask({a}, {a} < 0.321, {whole})", f"{a}.flat[0] = {self.number()}", f"{a}.flat = {whole}",
            f"{a}[{first_}], {a}[{second}] = {a}[{second}], {a}[{first_}]",
            f"{a}[0], {a}[-1] = {a}[-1], {a}[0]", f"np.sin({sources}, out={a})", f"np.multiply({a}, {sources}, out={a})",
            f"np.add({sources}, {self.number()}, {a})", f"np.exp(np.sin({sources}), out=({a},))",
            f"{name} = np.cos({sources}, out={a})", f"np.clip({a}, -0.5, 0.6, out={a})", f"np.cumsum({a}, out={a})",
            f"np.sum(np.array([{sources}, {sources}]), axis=0, out={a})", f"np.array([{sources}, {whole}]).mean(0, out={a})",
            f"np.negative({a}, {a})", f"np.add({a}, 1.0, out={a}, where={a} > 0.123)", f"np.dot(m, m.T, out={a})",
            f"np.take({a}.copy(), [0, 0], axis=0, out={a}[:2])", f"put({a}, slice(0, 1), {self.number()})",
            f"g_inner({a}, {self.number()})", f"both({a}, {self.pick()})", f"both({a}, {a})", f"clear({a}, 1)",
            f"keeper({a})({self.number()})", f"O({a}).scale({self.number()})", f"{name} = O({a}).scale(0.5).a",
            f"{a}[{a} > 0.2] = {self.number()}", f"{a}[{a} > 0.2] *= {self.number()}", f"{a} @= np.eye(3)",
            f"{a}[...] = {a}[::-1]", f"{a}[1:] = {a}[:-1]", f"{a}[1:] += {a}[:-1]", f"{a} += {a}.T", f"{a} -= {a}[0]",
            f"{a} += {a}[::-1]", f"{name} = {a}\n{name} *= 0.5", f"np.put_along_axis({a}, np.array([[0]]), {self.number()}, 0)",
            f"np.copyto({a}[::2], {self.number()})", f"{a}.T[...] = {self.number()}", f"{a}.reshape(-1)[0] = {self.number()}",
            f"{a}.ravel()[-1] *= {self.number()}", f"{a}.real[...] = {self.number()}", f"{a}.imag[...] += {self.number()}",
            f"{a}.real = {self.number()}", f"{a}.partition(1)", f"np.nan_to_num({a}, copy=False)", f"{a}.shape = (-1,)",
            f"np.minimum({a}, 0.3, out={a})", f"np.maximum({a}, {sources}, {a})", f"np.add.reduce(m, 0, None, {a})",
            f"np.matmul(m, m.T, out={a})", f"np.einsum('ij->j', m, out={a})", f"np.modf({sources}, {a})",
            f"np.divmod({sources}, 0.7, out=({a}, None))", f"np.around({a}, 1, out={a})", f"np.add.accumulate({a}, out={a})",
            f"np.concatenate([{a}, {a}][:1], out={a})", f"np.stack([{a}[0], {a}[1]], out={a}[:2])", f"np.random.shuffle({a})",
            f"{a}.resize((2,))", f"np.conjugate({a}, out={a})", f"np.diff({a})[...] = 1.0", f"np.flip({a})[0] = {self.number()}",
            f"np.sort({a})[0] = 1.0", f"np.cumprod({a}, out={a})", f"np.outer({a}, {a}, out=np.zeros((3, 3)))",
            f"np.ndarray.fill({a}, {self.number()})", f"np.ndarray.__setitem__({a}, 0, {self.number()})",
            f"{a}.__setitem__(0, {self.number()})", f"{a}.__iadd__({self.number()})", f"np.max({sources}, out=np.zeros(()))",
            f"{a}.itemset(0, 1.0)", f"{a}.cumsum(out={a})", f"{a}.clip(0.0, 1.0, {a})", f"{a}.round(1, out={a})",
            f"np.add(1.0, 2.0, {a})", f"{a}.take([0], out={a}[:1])", f"np.compress([True], {a}, axis=0, out={a}[:1])",
            f"np.choose([0], [{a}], out={a})", f"np.mean(m, 0, None, {a})", f"m.sum(0, out={a})", f"np.var(m, axis=0, out={a})",
            f"np.add({a}, {a}, out={a}[::-1])", f"np.add({a}, {self.number()}, {a}, dtype=float)",
        ]  # fmt: skip
        return self.run(r.choice(choices))

    def item_of(self, name):
        if isinstance(self.names.get(name), np.ndarray):
            self.arrays.append(name)

    def block(self):
        r, a, b, name = self.rng, self.pick(), self.pick(), self.fresh()
        shape = self.value(a).shape
        v, w = self.number(), self.number()
        texts = [
            f"for {name} in {a}:\n    {name}[...] = {v}",
            f"for {name} in {a}:\n    {name} *= {v}",
            f"for i, {name} in enumerate({a}):\n    {name}[0] = {v} * i",
            f"for {name}, {name}w in zip({a}, {b}):\n    {name}[...] += {name}w",
            f"for i in range(len({a})):\n    {a}[i] = {a}[i - 1] * {v}",
            f"for i in range(len({a})):\n    if i == 1:\n        break\n    {a}[i] += {v}",
            f"for i in range(len({a})):\n    if {v} > 0.1:\n        continue\n    {a}[i] *= {w}",
            f"i = 0\nwhile i < len({a}) - 1:\n    {a}[i] = {a}[i + 1] + {v}\n    i += 1",
            f"if {v} > 0.05:\n    {a}[...] = {w}\nelse:\n    {a} *= {v}",
            f"{name} = {a} if {v} > 0.1 else {b}\n{name}[...] = {w}",
            f"if {v} > 0.1:\n    {name} = {a}[:1]\nelse:\n    {name} = {b} * 2.0\n{name} *= 0.5",
            f"def k{name}(u):\n    {a}[...] += u\n    return {a}\nk{name}({v})",
            f"def k{name}():\n    {a}[0] = {v}\nk{name}()\nk{name}()",
            f"def k{name}(u={a}):\n    u *= {v}\n    return u\nk{name}()",
            f"{name}o = O(np.zeros(3))\n{name}o.a = {a}\n{name}o.a += {v}",
            f"{name}o = O({a})\n{name}o.kept = {name}o.a[:1]\n{name}o.kept[...] = {v}\n{name} = {name}o.a",
            f"{name}l = [{a}, {b}]\nfor {name} in {name}l:\n    {name} += {v}",
            f"{name}l = [{a}]\n{name}l.append({b})\n{name}l[-1] *= {v}\n{name}l[0][...] += {w}",
            f"{name}l = []\n{name}l.append({a}[:1])\n{name}l.pop()[...] = {v}",
            f"{name}d = {{}}\n{name}d['k'] = {a}\n{name}d['k'] += {v}\n{name} = {name}d['k']",
            f"{name} = np.zeros({shape})\n{name}[...] = {a}.real\n{name} *= {v}",
            f"{name} = np.zeros(2)\n{name}[0], {name}[1] = {v}, {w}",
            f"{name}, *{name}w = {a}\n{name}[...] = {v}",
            f"try:\n    {a}[0] = {v}\n    {a}[77] = 1.0\nexcept IndexError:\n    {a}[-1] = {w}",
            f"{name} = [np.zeros(2) for i in range(3)]\n{name}[1][0] = {v}\n{name} = np.array({name})",
            f"{name} = [[0.0] * 2 for i in range(2)]\n{name}[1][0] = {v}\n{name} = np.array({name})",
            f"{name} = np.empty(3)\nfor i in range(3):\n    {name}[i] = {v} * i",
            f"{name} = {a}[:]\n{name}w = {name}[::-1]\n{name}w[...] = {v}\n{name} += {w}",
            f"{name} = (lambda q: q)({a})\n{name} += {v}",
            f"{name} = max([{a}, {a}], key=lambda q: 1.0)\n{name} += {v}",
            f"for {name} in [{a}[:1], {b}[1:]]:\n    {name}[...] = {v}",
            f"for {name} in map(lambda q: q[:1], [{a}, {b}]):\n    {name}[...] *= {v}",
            f"{name} = dict(p={a}, q={b})\nfor {name}k, {name}v in {name}.items():\n    {name}v *= {v}",
            f"{name} = sorted([{a}], key=len)[0]\n{name} *= {v}",
            f"with np.errstate(all='ignore'):\n    {a}[0] = {v}",
            f"{name} = np.array([[{v}, {w}], [{w}, {v}]])\n{name} @= np.array([[{v}, 0.3], [0.1, {w}]])",
            f"{name} = np.zeros(3)\nfor {name}i in np.ndindex(3):\n    {name}[{name}i] = {v}",
            f"{name} = np.arange(3)\n{name}[0] += 2\n{name} = {name} * {v}",
            f"{name} = np.zeros(3, dtype=bool)\n{name}[0] = {v} > 0.1\n{name} = np.where({name}, {v}, {w})",
            f"{name} = np.zeros(2, dtype=object)\n{name}[0] = {v}\n{name} = {name}[0] * np.ones(2)",
            f"{name} = {a}.tolist()\n{name} = np.array({name})\n{name} *= {v}",
        ]  # fmt: skip
        if self.run(r.choice(texts)):
            self.item_of(name)

    def grow(self):
        for _ in range(self.rng.randint(1, 3)):
            self.make()
        for _ in range(self.rng.randint(3, 10)):
            kind = self.rng.random()
            if kind < 0.14:
                self.make()
            elif kind < 0.38:
                self.view()
            elif kind < 0.48:
                self.hold()
            elif kind < 0.66:
                self.block()
            else:
                self.write()
        result = [t for t in dict.fromkeys(self.arrays) if self.value(t).dtype.kind in "fciu"]
        if self.rng.random() < 0.5:
            tail = f"    return ({', '.join(result)},)"
        else:
            tail = "    return " + " + ".join(
                f"np.sum(np.cos(np.real({t}))) + np.sum(np.sin(np.imag({t})))" for t in result
            )
        return HELPERS + "\n".join(["def f(x, m, c, s):", *self.lines, tail]) + "\n"


def program(seed):
    """The text of a function `f(x, m, c, s)`: of a vector, a matrix, a complex vector and a number."""
    return Grower(seed).grow()


def arguments(seed):
    """The arguments of a program, by name."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(size=3),
        "m": rng.normal(size=(2, 3)),
        "c": rng.normal(size=3) + 1j * rng.normal(size=3),
        "s": float(rng.normal()),
    }


def loaded(text, name):
    """The function of a program, whose source can be read."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": "random_writes"}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def numbers(y):
    """All that a result holds, as one vector of real numbers."""
    parts = y if isinstance(y, tuple) else (y,)
    flat = [np.ravel(np.asarray(p)) for p in parts]
    return np.concatenate([np.concatenate([p.real, p.imag]) for p in flat]).astype(float)


class Unfit(Exception):
    """A program that finite differences cannot judge."""


def slopes(seed, text, directions):
    """The value of a program and its derivative along directions, by central differences of fresh runs."""
    wide = loaded(text.replace("float32", "float64"), f"<random writes {seed}, wide>")
    args = arguments(seed)

    def at(step):
        moved = {k: copy.deepcopy(v) + step * directions[k] for k, v in args.items()}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return numbers(wide(**moved))

    try:
        y = at(0.0)
        one, two, three = ((at(h) - at(-h)) / (2 * h) for h in (1e-6, 3e-6, 1e-5))
        sides = [(at(h) - y) / h for h in (1e-7, -1e-7)]
    except Exception as error:
        raise Unfit(f"{type(error).__name__}: {error}") from None
    scale = 1e-5 * (1.0 + np.abs(one))
    if not np.all(np.isfinite(one)) or np.any(np.abs(y) > 1e4) or np.any(np.abs(one) > 1e4):
        raise Unfit("too large")
    if np.any(np.abs(one - two) > scale) or np.any(np.abs(one - three) > 10 * scale):
        raise Unfit("a kink")
    if np.any(np.abs(sides[0] - sides[1]) > 100 * scale):
        raise Unfit("a kink")
    return y, one


def judge(seed, jvp, refusal, text=None):
    """How a program fares: "right", "unfit", or the first line of a refusal; else an AssertionError with it."""
    text = program(seed) if text is None else text
    rng = np.random.default_rng(seed + 1)
    args = arguments(seed)
    directions = {k: rng.normal(size=np.shape(v)) * (1 + (0.5j if k == "c" else 0)) for k, v in args.items()}
    directions["s"] = float(directions["s"])
    try:
        y, slope = slopes(seed, text, directions)
    except Unfit:
        return "unfit"
    f = loaded(text, f"<random writes {seed}>")
    given, plain = arguments(seed), arguments(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = f(*plain.values())
        try:
            value, tangent = jvp(f, tuple(given.values()), tuple(directions.values()))
        except refusal as error:
            return str(error).splitlines()[0]
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{text}") from error
    assert same(value, wanted), f"the value differs\n{text}"
    for name in given:
        assert same(given[name], plain[name]), f"{name} is left as another\n{text}"
    parts, dots = (value, tangent) if isinstance(value, tuple) else ((value,), (tangent,))
    filled = tuple(
        np.zeros(np.shape(p)) if d is None else d + 0 * p for p, d in zip(parts, dots, strict=True)
    )
    found = numbers(filled)
    narrow = "float32" in text
    close = np.abs(found - slope) <= (3e-3 if narrow else 2e-5) * (1.0 + np.abs(slope))
    assert np.all(close), f"wrong: {found[~close][:6]}, finite differences: {slope[~close][:6]}\n{text}"
    return "right"


def same(a, b):
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return np.shape(a) == np.shape(b) and np.array_equal(a, b, equal_nan=True)
