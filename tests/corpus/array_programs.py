"""Small programs on arrays: the body of a function of four numbers each, by what is hard about them, and
random ones.
"""

import itertools
import linecache
import random
import textwrap

import numpy as np

ORDER = np.array([0, 0, 3])  # of items, one of them twice
WEIGHTS, MATRIX = np.arange(1.0, 5.0), np.eye(4) * 3 + 0.1
POINT = np.array([0.1257, -0.1321, 0.6404, 0.1049])
_COUNT = itertools.count()


def function_of(body, parameters="x", **names):
    """The function with a body, whose text can be found; `names` are its globals besides NumPy."""
    filename = f"<array program {next(_COUNT)}>"
    text = f"def program({parameters}):\n" + textwrap.indent(body.strip(), "    ") + "\n"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names |= {"np": np, "ORDER": ORDER, "WEIGHTS": WEIGHTS, "MATRIX": MATRIX, "__name__": "__main__"}
    exec(compile(text, filename, "exec"), names)
    return names["program"]


BODIES = {
    "operands that are no arrays": (
        "return np.sum(np.dot(x, 2.0))",
        "return np.sum(np.dot(2.0, x) * x)",
        "return np.sum(np.outer(x, 2.0) * 3)",
        "return np.sum(np.inner(x, 3.0) * x)",
        "return np.dot(x, [1.0, 2.0, 3.0, 4.0])",
        "return np.dot(x, (1.0, 2.0, 3.0, 4.0))",
        "return x @ [1.0, 2.0, 3.0, 4.0]",
        "return np.matmul(x, [1.0, 2.0, 3.0, 4.0])",
        "return np.matmul((1.0, 2.0, 3.0, 4.0), x)",
        "return np.sum(np.where([True, False, True, True], x, 0.0) ** 2)",
        "return np.sum(np.where(x > 0, x[0], x[1]) * x)",
        "return np.sum(np.where(x[:, None] > 0, x, 2) * x)",
        "return np.sum(np.where(x[:2] > 0, (x[0], x[1]), x[2:]) * 3)",
        "return np.sum(np.abs(x) ** [1.0, 2.0, 3.0, 4.0])",
        "return np.sum(np.power(np.abs(x), (1.0, 2.0, 3.0, 4.0)))",
        "return np.sum(2.0 ** x) + np.sum(np.abs(x) ** x[0])",
        "return np.sum((x + [1.0, 2.0, 3.0, 4.0]) ** 2)",
        "return np.sum((x * (1.0, 2.0, 3.0, 4.0)) ** 2)",
        "return np.sum(np.linalg.solve([[2.0, 1.0], [0.0, 1.0]], x[:2]) ** 2)",
        "return np.sum(np.linalg.solve(((x[0], 1.0), (0.0, x[1])), x[:2]) ** 2)",
    ),
    "numbers of Python's and powers": (
        "return np.sum(x * x).item() * float(x[0])",
        "return x[1].item() ** 2 + x.item(2) * np.sum(x, keepdims=True).item()",
        "s = 0.0\nfor i in range(len(x)):\n    s = s + float(x[i]) * x[i].item() + x.item(-i)\nreturn s",
        "a = (x @ x).item(); return a * np.sum(np.sin(x) / float(a))",
        "return np.sum((x * x + 0.1) ** x)",
        "return np.sum(np.abs(x) ** 1.5) + np.sum((x + 2.0) ** -0.5) + np.sum(x ** -3)",
        "a = float(x[0]); return (a * a) ** 1.5 + np.sum(2.5 ** x) + np.sum(x ** 2.0)",
        "s = 0.3\nfor v in x:\n    s = s + abs(v) ** 1.5 + (v * v) ** s\nreturn s",
    ),
    "broken lines": (
        "return np.interp(x[0], np.array([-3.0, 0.0, 4.0]), x[:3]) * np.interp(x[1], [-2.0, 3.0], [x[2], 1])",
        "return np.sum(np.interp(x, np.array([-0.1, 0.05, 0.3, 0.5]), x) ** 2)",
        "return np.sum(np.interp(x, np.array([-5.0, x[0], 5.0]), np.array([0.5, 2.0, -1.0])) ** 2)",
        "s = 0.0\nfor i in range(4):\n    s = s + np.interp(x[i] * i, np.arange(4.0), x)\nreturn s",
        "return np.sum(np.interp(x, np.arange(3.0), x[1:], -1.0, x[0]))",
        "return np.interp(0.3, np.array([0.5]), x[:1]) + np.interp(9.0, np.array([0.5]), x[1:2])",
    ),
    "tuples and lists of numbers and arrays": (
        "a = x[0]; b = x[1]; return np.sum([a, b, a * b])",
        "a = x[0]; b = x[1]; return np.sum((a, b, a * b))",
        "a = x[0]; b = x[1]; return np.max((a, b, a * b))",
        "a = x[0]; b = x[1]; return np.mean((a, b, a * b))",
        "a = x[0]; b = x[1]; return np.sum(np.reshape((a, b, a * b), (3, 1)) * x)",
        "a = x[0]; b = x[1]; return np.sum(np.ravel((a, b, a * b)) * np.arange(3.0))",
        "a = x[0]; b = x[1]; return np.sum(np.stack([a, b]) * np.arange(2.0))",
        "return np.sum(np.stack([x, x * 2.0, x ** 2]) * np.arange(4.0))",
        "return np.sum(np.stack([x, x * 2.0, x ** 2], axis=1)[:, 1] * np.arange(4.0))",
        "return np.sum(np.stack(np.outer(x, x)) * np.arange(4.0))",
        "return np.sum(np.concatenate(np.outer(x, x)) * np.arange(16.0))",
        "return np.sum(np.concatenate([x, x[:2], np.ones(3)]) ** 2)",
        "return np.sum(np.concatenate([np.outer(x, x), x[None]], axis=None) ** 2)",
        "return np.sum(np.concatenate([np.outer(x, x), x[:, None]], axis=-1) ** 2)",
        "return np.sum(np.hstack([x, x[:2], 3.0]) ** 2)",
        "return np.sum(np.vstack([x, x * x]) ** 2)",
        "a = x[0]; b = x[1]; return np.sum(np.array([a, b, 1, a * b]) ** 2)",
        """
a = x[0]
b = x[1]
return np.sum(np.array([[a, b], [1, a * b]]) @ np.array([[a, b], [b, 2.0]]))
""",
        "return np.sum(np.array([x, x ** 2]) * np.array(x))",
        "y = np.array(x); z = np.asarray(x); return np.sum(y * z * x)",
        "n = 2; return np.sum(np.array([n, x[0]]) ** 2)",
        "return np.sum(np.array([x[0], x[1]], ndmin=2) ** 2)",
        "return np.sum(np.full(3, x[0]) * np.arange(3.0))",
        "return np.sum(np.full((3, 4), x) * np.arange(4.0))",
        """
out = []
for i in range(3):
    out.append(x * i)
s = np.stack(out)
c = np.concatenate(out)
return np.sum(s * s) + np.sum(c)
""",
        """
out = []
for i in range(3):
    out.append(x[i] * 2.0)
    if len(out) == 2:
        y = np.array(out)
return np.sum(y) + np.sum(np.array(out) ** 2)
""",
        "t = (x[0], x[1]); M = np.array([t, t]); return np.sum(M * M) * t[0]",
        """
t = (x, x * 2.0)
return np.sum(np.stack(t)) + np.sum(np.concatenate(t) ** 2) + np.sum(t[0] * t[1])
""",
        'd = {"a": x * 2.0, "b": np.sum(x)}; return np.sum(d["a"] * d["b"])',
    ),
    "what meets what it was made of": (
        "y = np.expand_dims(x, axis=0); return np.sum(y * x)",
        "x = np.sum(x, axis=0, keepdims=True) * 1.0; return np.sum(np.repeat(x, 3, axis=0) * x * x)",
        "x = x[None]; return np.sum(np.cumsum(x, axis=0) * x)",
        "x = x[None]; return np.sum(np.take(x, [0, 0], axis=0) * x ** 2)",
        """
M = np.outer(x, x)
return np.sum(M * np.sum(M, axis=0)) + np.sum(M / np.sum(M * M, axis=1, keepdims=True))
""",
        "M = np.outer(x, x[:1]); s = np.sum(M, axis=0); return np.sum(M * s * np.ones((4, 1)))",
        "return np.sum(x[:, None] * x + x[None] - x[:1])",
        "y = x[:1]; return np.sum(y * x) + np.sum(y + x) * 2 + np.sum(y / x)",
        "return np.sum((x[0] * x + x[1]) / x[2] - x[3])",
        "e = np.exp(x - np.max(x)); return np.sum(e / np.sum(e) * np.arange(4.0))",
    ),
    "loops and branches that change shapes": (
        """
y = x
for i in range(0):
    y = y * x
z = np.zeros(4)
for i in range(0):
    z = z + np.sin(y)
return np.sum(y * z) + np.sum(y)
""",
        """
z = x * 2.0
if x[0] > 1000000000.0:
    return np.sum(z @ x)
u = np.sin(x)
q = np.linalg.solve(np.eye(4) * 2, u)
return np.sum(z)
""",
        """
y = x
for i in range(3):
    z = y * 2.0
    y = np.concatenate([z, x])
    y = y + np.ones(1)
return np.sum(y ** 2)
""",
        """
y = x[:1]
for i in range(4):
    z = y * 2.0
    y = z + x
    if i == 2:
        break
return np.sum(z * y) + np.sum(z)
""",
        """
y = x[:1]
k = 0
while True:
    z = y * 2.0
    y = z * x
    k += 1
    if k > 2:
        break
return np.sum(z * y) + np.sum(z + y)
""",
        """
y = x[:1]
z = y * 3.0
for i in range(3):
    u = z[:1] * y
    z = y * 2.0
    y = np.concatenate([y, x[:1]])
    y = y * u[:1]
return np.sum(z) + np.sum(y) + np.sum(u)
""",
        """
if x[0] > -100:
    y = x[:1]
else:
    y = x
z = y * 2.0
return np.sum(z * x) + np.sum(y + x)
""",
        "y = x if x[0] < -100 else x[:1]; z = y + x; return np.sum(z * y)",
        "t = (np.exp(x), np.log(x * 0.0 + 2.0) / 1.0, np.outer(x, x)); a, b, c = t; return np.sum(a)",
        """
def g(a):
    return (a * 2.0, a @ a)
p, q = g(x)
return np.sum(p) * q
""",
        """
def g(a):
    return (a * 2.0, np.linalg.solve(np.eye(4), a))
p, q = g(x)
return np.sum(p)
""",
        """
y = x
while np.sum(y) < 50.0:
    y = y * 2.0 + np.max(y)
return np.sum(y)
""",
        """
W = [np.ones((4, 4)) * 0.1 * k for k in range(1, 4)]
h = x
for w in W:
    h = np.tanh(w @ h)
return np.sum(h)
""",
        'd = {"a": x * 2.0, "b": np.sum(x)}; return np.sum(d["a"] * d["b"])',
        """
x = x.reshape(2, 2)
for i in range(2):
    x = x.T @ x / (1 + np.sum(x, axis=0, keepdims=True))
return np.sum(x[0])
""",
        """
r = np.zeros(4)
for i in range(3):
    z = r * x
    r = z + np.sum(x[i:i + 2])
return np.sum(r)
""",
        """
s = 0
for k in range(3):
    s = s + x * k
return np.sum(s * s)
""",
        """
s = 0.0
for k in range(3):
    s = s + x[:k] @ x[:k]
return s
""",
        """
h = x[:1]
for k in range(3):
    h = h + x[k:k + 1] * h
    q = h * x
return np.sum(q)
""",
        """
h = x[:1]
q = h
for k in range(3):
    q = h * 2.0
    h = h + x
return np.sum(q * h) + np.sum(q + x)
""",
        """
a = x[:1]
for k in range(2):
    b = a + 0.0
    c = b * a
    a = c + x
    d = c * b + a
return np.sum(d) + np.sum(c)
""",
        """
a = x[:1]
b = a * 1.0
for k in range(3):
    a, b = (b * 1.0, a + x)
return np.sum(a * b)
""",
        """
M = np.outer(x, x)
s = np.sum(M, axis=0)
for k in range(2):
    z = M * s
    M = M[:1]
    s = np.sum(z, axis=0)
    u = M * s
return np.sum(u)
""",
        """
M = x[None]
s = np.sum(M, axis=0, keepdims=True)
for k in range(2):
    z = M + s
    M = np.concatenate([M, M])
    s = np.sum(z, axis=1, keepdims=True) * np.ones((2 ** (k + 1), 1))
return np.sum(M * s) + np.sum(z)
""",
        """
M = np.outer(x, x)
s = np.sum(M, axis=0)
for k in range(2):
    t = M - s
    M = M[:, :1]
    s = s * 1.0
    w = M - s
    M = w
return np.sum(w) + np.sum(t)
""",
        """
M = np.outer(x, x)
s = np.mean(M, axis=0)
M2 = M[:1]
return np.sum((M2 - s) * (M - s) / (1 + np.max(M, axis=0) ** 2))
""",
        """
i = 0
y = x
while True:
    z = y + x
    y = z[:1] if i == 0 else z
    i += 1
    if i == 3:
        break
return np.sum(z * y)
""",
        """
for i in range(2):
    y = x[:1] if i == 1 else x
    z = y * 2.0
return np.sum(z * x) + np.sum(y * z)
""",
    ),
    "shapes that the reverse sweep asks for": (
        """
w = np.concatenate([x, x])
y = w * 2.0
for i in range(2):
    M = np.outer(x[:2], np.ones(8))
    z = w * M
    y = y * 1.1 + np.sum(z)
return np.sum(y)
""",
        """
w = np.concatenate([x, x])
y = w * 2.0
for i in range(2):
    y = y * 1.1
M = np.outer(x[:2], np.ones(8))
return np.sum(y) + np.sum(w * M)
""",
        """
w = np.concatenate([x, x])
y = w * 2.0
if x[0] > 0:
    y = y * y
M = np.outer(x[:2], np.ones(8))
return np.sum(y) + np.sum(w * M) + np.sum(np.sum(w))
""",
        """
w = np.concatenate([x, x])
if x[0] > 0:
    y = w * 2.0
    q = np.sum(y)
else:
    q = np.sum(w) * 3.0
return q + np.sum(w)
""",
        """
w = np.concatenate([x, x])
s = 0.0
for i in range(3):
    s = s + np.sum(w) * np.sum(w * 2.0)
    w = np.concatenate([w * s, x])
return s + np.sum(w)
""",
        """
w = np.concatenate([x, x])
s = 0.0
k = 0
while np.sum(w) < 50 and k < 3:
    s = s + np.sum(w) * np.sum(w * 2.0)
    w = np.concatenate([w * w, x])
    k += 1
return s + np.sum(w)
""",
        """
w = np.concatenate([x, x])
y = w * 2.0
s = np.sum(y * y)
while s < 10.0:
    y = y * 2.0
    s = np.sum(y * y)
return s + np.sum(w * np.ones((2, 8))) + np.sum(y)
""",
        """
a = np.sin(np.concatenate([x, x]))
b = a
for i in range(2):
    a, b = (b * a, a[::2] * 1.0 if i == 5 else a + 1.0)
return np.sum(a) * np.sum(b)
""",
        """
total = 0.0
for i in range(3):
    if i == 1:
        y = x * 2.0
        total = total + np.sum(y)
    else:
        z = x[:i + 1]
        total = total + np.sum(z * z) + np.sum(z)
return total
""",
        "return np.sum(np.exp(np.concatenate([x, x]))) + np.mean(np.concatenate([x, x]) * 2.0)",
        """
try:
    w = np.concatenate([x, x])
    y = w * 2.0
    s = np.sum(y)
except ValueError:
    s = 0.0
return s * np.sum(x)
""",
        "t = (np.concatenate([x, x]) * 2.0, x); a, b = t; return np.sum(a) * np.sum(b)",
        """
w = np.concatenate([x, x])
def g(z):
    return np.sum(z * w) + np.sum(w)
return g(w * 2.0)
""",
        """
y = np.stack([x, x]) * 2.0
for r in range(2):
    u = y * y
    y = u
z = y * np.ones((3, 1, 1))
return np.sum(z)
""",
        """
M = np.outer(x, x)
L = M - np.max(M, axis=1, keepdims=True)
for _ in range(2):
    L = L - np.log(np.sum(np.exp(L), axis=1, keepdims=True))
return np.sum(L * M)
""",
        """
s = 0.0
for k in range(3):
    a = np.concatenate([x, x])[:k + 1]
    b = a * 2.0
    if k == 1:
        continue
    s = s + np.sum(b) + np.sum(a)
    if s > 100:
        break
return s
""",
        """
w = np.concatenate([x, x])
y = w * 2.0
z = y
for i in range(2):
    z = z * w + np.sum(w)
for i in range(2):
    z = z + np.sum(y)
return np.sum(z)
""",
        """
w = np.concatenate([x, x])
y = w * 2.0
y = np.sum(y)
z = w - 1.0
z = np.sum(z)
return y * z * np.sum(w)
""",
        """
while True:
    w = np.concatenate([x, x])
    y = w * 2.0
    s = np.sum(y)
    if s < 1000000000.0:
        break
return s * np.sum(w * w)
""",
        """
a = np.zeros(4)
for i in range(3):
    b = a + x
    a = np.tanh(b)
    c = a - b
return np.sum(a * b * c)
""",
    ),
    "lists whose items have kinds": (
        """
l = [x[0]]
for i in range(3):
    l.append(x[i] * 2.0)
return l[0] * l[1] + l[-1]
""",
        """
l = []
for i in range(3):
    l.append(x)
return np.sum(l[1] * l[2])
""",
        "l = [x[0], x]; return np.sum(l[0] * l[1])",
        "l = [x[0]]; m = l; m.append(x * 2.0); return np.sum(l[1]) * l[0]",
        "l = [x[0]]; m = [l, l]; m[0].append(x); return np.sum(l[1]) * l[0]",
        """
l = [x[0]]
def f():
    l.append(x)
f()
return np.sum(l[1]) * l[0]
""",
        "l = [x[0]]; l[0] = x; return np.sum(l[0])",
        "l = [x[0]]; l += [x]; return np.sum(l[1]) * l[0]",
        "l = [x[0]]; l.extend([x]); l.insert(0, x * 2); return np.sum(l[0] * l[2]) * l[1]",
        "l = [x[0]] * 3; l[1] = x; return np.sum(l[1]) * l[2]",
        "l = [a * 2 for a in x]; return l[0] * l[1]",
        """
l = []
for i in range(3):
    if i == 1:
        l = [x]
    l.append(x * i)
return np.sum(l[0]) + np.sum(l[1] * l[1])
""",
        "l = [x[0]]; sorted(l); m = list(l); m.append(x); return l[0] * np.sum(m[1])",
        "l = [x[0]] if x[0] > 0 else [x]; return np.sum(l[0]) * 2.0",
        """
l = [x[0]]
l.append(x)
k = l
k2 = k
for e in k2:
    pass
return np.sum(k2[1]) + l[0]
""",
        """
l = [x[0], x[1]]
s = 0.0
for e in l:
    s = s + e * e
l.append(s)
for e in l:
    s = s + e
return s
""",
        """
l = [x[0], x[1]]
for e in l:
    if len(l) < 5:
        l.append(x * e if False else e * 2.0)
return np.sum(np.array(l))
""",
        "l = [x[0]]; t = (l, 1.0); t[0].append(x); return np.sum(l[1])",
        'l = [x[0]]; d = {"l": l}; d["l"].append(x); return np.sum(l[1])',
        "a, *l = (x[0], x[1], x); return a * l[0] * np.sum(l[1])",
        """
l = []
l.append(x[0])
l.append(2)
l.append(True)
l.append(x[1])
return l[0] * l[1] + l[2] * l[3]
""",
        "l = [1, 2]; l.append(x[0]); return l[0] * l[2] + np.sum(np.array(l))",
        """
l = [x[0]]
r = np.array(l)
l.append(x[1])
r2 = np.stack([np.array(l), np.array(l) * 2])
return np.sum(r) + np.sum(r2)
""",
        "l = [[x[0]], [x[1]]]; l[0].append(x[2]); return l[0][1] * l[1][0]",
        """
l = [x]
l[0] = l[0] * 2.0
for i in range(3):
    l.append(l[-1] * 0.5 + x)
return np.sum(np.concatenate(l)) + np.sum(np.stack(l) ** 2)
""",
        "l = [x[0]]; q = l[-1:]; q.append(x); return q[0] * np.sum(q[1])",
        """
l = []
try:
    l.append(x[0])
    l.append(x[9])
except IndexError:
    l.append(x)
return np.sum(l[-1]) * l[0]
""",
        """
l = [0.0]
for i in range(3):
    l.append(l[i] + x[i])
return l[3] * l[2] + l[-1]
""",
        "l = [x[0]]; l.append(l); return l[0] * 2.0",
        "l = [x[0]]; del l[0]; l.append(x); return np.sum(l[0])",
        "l = [x[0]]; l.clear(); l.append(x); return np.sum(l[0] * x)",
        "l = [x[0], x[1]]; l.reverse(); l.sort(); return l[0] * 3 + l[1]",
        "l = [x[0]]; f = l.append; f(x); return np.sum(l[1])",
        """
l = [x[0]]
for i in range(2):
    l = l + [x]
return np.sum(l[1]) * l[0]
""",
        "l = [x[0]]; [l.append(x * k) for k in range(2)]; return np.sum(l[2])",
        "l = [x[0]]; map_ = list(map(l.append, [x, x])); return np.sum(l[2])",
        "l = [x[0]]; l.__setitem__(0, x); return np.sum(l[0])",
    ),
    "along an axis of a number": (
        "return np.sum(np.max(x, axis=0), axis=0) * x[1]",
        "return np.sum(np.sum(x) * x[0], axis=-1, keepdims=True) * x[1]",
        "return np.mean(np.sum(x) * x[0], axis=0) * x[1]",
        "return np.max(np.sum(x) * x[0], axis=0) * np.min(x[1] * x[2], axis=-1) * x[1]",
        "return np.prod(np.sum(x) * x[0], axis=0, keepdims=True) * x[1]",
    ),
    "options by name": (
        "return np.sum(a=x,axis=0)",
        "return np.sum(axis=0,a=x)",
        "return np.sum(axis=0,a=np.outer(x,x))@x",
        "return np.dot(x,b=WEIGHTS)",
        "return np.dot(b=x,a=WEIGHTS)",
        "return np.dot(x,b=2.0)@x",
        "return np.dot(b=2.0,a=x)@x",
        "return np.dot(b=x,a=np.outer(x,WEIGHTS))@x",
        "return np.dot(x,b=[1.0,2.0,3.0,4.0])",
        "return x.sum(axis=0,keepdims=True)@x[:1]",
        "return np.sum(np.reshape(x,shape=(2,2))[0])",
        "return np.sum(np.transpose(np.outer(x,WEIGHTS),axes=(1,0))[0])",
        "return np.sum(np.roll(x,shift=1,axis=0)*WEIGHTS)",
        "return np.sum(np.flip(m=x,axis=0)*WEIGHTS)",
        "return np.mean(a=x)",
        "return np.linalg.solve(a=MATRIX,b=x)@WEIGHTS",
        "return np.linalg.solve(b=x,a=MATRIX)@WEIGHTS",
        "return np.linalg.solve(b=x,a=np.outer(x,x)+MATRIX)@WEIGHTS",
        "return np.linalg.solve(MATRIX,b=[1.0,2.0,3.0,4.0])@x",
        "return np.sum(np.swapaxes(np.outer(x,WEIGHTS),axis1=0,axis2=1)[0])",
        "return np.sum(np.repeat(x,repeats=2)**2)",
        "return np.sum(np.tile(A=x,reps=2)**2)",
        "return np.max(a=x,axis=0)*x[0]",
        "return np.max(axis=1,a=np.outer(x,WEIGHTS))@x",
        "return np.sum(np.stack(arrays=(x,WEIGHTS),axis=1)[:,0])",
        "return np.sum(np.stack(axis=1,arrays=(x,WEIGHTS))[0])",
        "return np.sum(np.outer(b=x,a=WEIGHTS)[1])",
        "return np.inner(x,WEIGHTS)",
        "return np.vdot(WEIGHTS,x)",
        "return np.sum(np.kron(x,WEIGHTS)[3:7])",
        "return np.sum(np.diagonal(np.outer(x,WEIGHTS),offset=1))",
        "return np.trace(np.outer(x,WEIGHTS),offset=1)",
        "return np.sum(np.tril(np.outer(x,WEIGHTS),k=-1))",
        "return np.sum(np.moveaxis(np.outer(x,WEIGHTS),source=0,destination=1)[0])",
        "return np.sum(np.squeeze(x[None],axis=0)*WEIGHTS)",
        "return np.sum(np.expand_dims(a=x,axis=1)*WEIGHTS)",
        "return np.sum(np.broadcast_to(array=x,shape=(2,4))[0])",
        'return np.sum(x.reshape((2,2),order="C")[0])',
        "return np.sum(x.reshape(2,-1)[0])",
        "return np.sum(x.reshape(-1,1)*WEIGHTS)",
        "return np.sum(x.reshape(np.int64(2),2)[0])",
        "return np.sum(np.outer(x,WEIGHTS).transpose((1,0))[0])",
        "return np.sum(np.outer(x,WEIGHTS).transpose(1,0)[0])",
        "return np.sum(np.outer(x,WEIGHTS).swapaxes(0,1)[0])",
        "return np.sum(np.rot90(np.outer(x,WEIGHTS))[0])",
        "return np.matmul(x,WEIGHTS)",
        "return np.sum(np.matmul(np.outer(x,WEIGHTS),x))",
        "return np.linalg.cholesky(np.outer(x,x)+MATRIX)[2]@WEIGHTS[:4]",
        "return np.power(2.0,x)@WEIGHTS",
        "return np.sum(np.power(x,2))",
        "return pow(x,2)@WEIGHTS",
        "return abs(x)@WEIGHTS",
        "return np.sum(np.moveaxis(np.ones((2,3,4))*x,(0,1),(1,0))[0,0])",
        "return np.sum(np.cross(x[:3],WEIGHTS[:3]))",
        "return np.tensordot(x,WEIGHTS,axes=1)*1.0",
        "return np.sum(np.split(x,2)[0])",
        "return np.sum(np.take(x,[0,1]))",
        "return x.dot(WEIGHTS)",
        "return np.outer(x,WEIGHTS).dot(x)@WEIGHTS",
        "return x.max()*x.min()",
        "return np.outer(x,WEIGHTS).max(axis=1)@x",
        "return x.mean()*np.sum(x)",
        "return np.ptp(x)",
        "return np.sum(x.clip(-0.3,0.5))",
        "return x.T@WEIGHTS",
        "return x.real@WEIGHTS",
        "return np.amax(x)*2.0",
        "return np.sum(np.negative(x)*WEIGHTS)",
        "return np.add(x,WEIGHTS)@WEIGHTS",
        "return np.subtract(WEIGHTS,x)@WEIGHTS",
        "return np.sum(np.multiply(x,WEIGHTS,WEIGHTS*0))",
    ),
    "options": (
        """
M = np.outer(x, x)
total = np.sum(np.sum(M, 1) ** 2) + np.sum(M.sum(0) ** 2) + np.sum(np.sum(M, (0, 1)))
total = total + np.sum(np.sum(M, (-1,)) ** 2)
return total
""",
        """
M = np.outer(x, x)
return np.sum(np.sum(M, 1, None, None, True) ** 2) + np.sum(np.mean(M, (0, 1), keepdims=True) * M)
""",
        "return np.sum(x ** 2, where=x > 0)",
        "return np.sum(x ** 2, initial=3.0) * np.sum(x)",
        "return np.mean(x ** 2, where=x > 0)",
        "return np.max(x, initial=100.0) * np.max(x, initial=-100.0)",
        "return np.max(x, where=np.array([True, False, True, True]), initial=-3.0)",
        """
M = np.outer(x, x)
t = 0.0
for ax in range(2):
    t = t + np.sum(np.sum(M, axis=ax) ** 2) + np.sum(np.max(M, axis=ax) * 2)
    t = t + np.sum(np.mean(M, axis=ax) ** 3)
return t
""",
        """
M = np.outer(x, x)
ax = np.int64(1)
total = np.sum(np.sum(M, axis=ax) ** 2) + np.sum(np.max(M, axis=ax) * 2)
total = total + np.sum(np.mean(M, axis=ax) ** 3)
return total
""",
        """
M = np.outer(x, x)
return np.sum(np.max(M, axis=(0, 1)) * x) + np.sum(np.max(M, axis=(1,)) * x)
""",
        "return np.std(x) + np.var(x, ddof=1) + np.std(np.outer(x, x), axis=0, ddof=1).sum()",
        """
M = np.outer(x, x)
total = np.sum(M.reshape(-1) * np.arange(16.0)) + np.sum(M.reshape(2, 8) ** 2)
total = total + np.sum(M.reshape((2, -1)) ** 3) + np.sum(np.reshape(M, -1) * np.arange(16.0))
return total
""",
        """
M = np.outer(x, x + 1)
total = np.sum(M.reshape(-1, order="F") * np.arange(16.0))
total = total + np.sum(np.reshape(M, (2, 8), "F") * np.arange(16.0).reshape(2, 8))
total = total + np.sum(M.ravel("F") * np.arange(16.0))
total = total + np.sum(M.flatten(order="F") * np.arange(16.0))
return total
""",
        """
total = np.sum(np.linalg.cholesky(np.outer(x, x) + 5 * np.eye(4), upper=True) * np.arange(16.0).reshape(4, 4))
return total
""",
        "return np.sum(np.exp(x, where=x > 0, out=np.zeros(4)))",
        "o = np.zeros(4); np.multiply(x, x, out=o); return np.sum(o)",
        "o = np.zeros(4); np.multiply(x, x, o); return np.sum(o * x)",
        "o = np.zeros(4); np.sum(np.outer(x, x), 0, None, o); return np.sum(o)",
    ),
    "extremes": (
        "return np.max(x, axis=0) * 2.0",
        "return x.max(0) * 2.0",
        "return np.sum(np.max(x, axis=0, keepdims=True) * x)",
        "return np.sum(np.max(x, keepdims=True) * x)",
        "return np.sum(np.min(x, axis=-1) ** 2)",
        """
y = np.concatenate([x, x])
return np.max(y) * 3 + np.min(y) + np.sum(np.max(np.stack([x, x]), axis=0) * np.arange(4.0))
""",
        "return np.sum(np.maximum(x, 0.0) + np.minimum(x, x[::-1]) + np.maximum(x, x))",
        "return np.sum(np.clip(x, -0.5, 0.5) * x)",
        "return np.sum(np.abs(x) * abs(x)) + abs(x[0]) + np.sum(np.absolute(np.outer(x, x)))",
    ),
    "items": (
        "return np.sum(x[ORDER] ** 2) + np.sum(x[[0, 0, 3]] ** 3) + np.sum(x[-1:] * x[-2])",
        "i = [0]; a = x[i]; i.append(1); return np.sum(a ** 2) + np.sum(x[i] ** 3)",
        "i = np.array([0, 1]); a = x[i]; i[0] = 3; return np.sum(a ** 2)",
        "return np.sum(x[x > 0] ** 2)",
        """
M = np.outer(x, x)
total = M[1, 2] * M[-1, -1] + np.sum(M[1]) * M[1][0] + np.sum(M[:, 1:3] * M[:, :2])
total = total + np.sum(M[..., 0]) + np.sum(M[None, 0]) + np.sum(M[[0, 1], [1, 1]] ** 2)
total = total + np.sum(M[np.array([0, 0]), 1:3] ** 2) + np.sum(M[:, [0, 0]] ** 2)
total = total + np.sum(M[M > 0])
return total
""",
        """
M = np.outer(x, x)
s = 0.0
for i in range(1, 4):
    s = s + np.sum(M[i - 1:i, :i] ** 2) + M[i][0] * M[:, i][1]
return s
""",
    ),
    "what changes between the sweeps": (
        "m = x > 0; y = x[m]; m[:] = False; return np.sum(y ** 2)",
        "m = x > 0; y = np.where(m, x, 0.0); m[:] = False; return np.sum(y ** 2)",
        "m = [True, True, False, True]; y = np.where(m, x, 0.0); m[0] = False; return np.sum(y ** 2)",
        "c = np.arange(4.0); y = x * c; c[:] = 7.0; return np.sum(y ** 2)",
        "c = np.arange(4.0); y = np.dot(x, c); c[:] = 7.0; return y * y",
        "c = np.arange(4.0); y = x * c; c += 7.0; return np.sum(y ** 2 * c)",
        "y = np.exp(x); z = y * y; y[0] = 0.0; return np.sum(z * y)",
        "y = x * 2.0; z = np.sin(y); y[1] = x[0]; return np.sum(z * y)",
        "y = x * 1.0; z = y; y += x; return np.sum(z * y * x)",
        "y = x * 1.0; z = y; y *= x; return np.sum(z * y * x)",
        "y = x * 1.0; z = y; y **= 2; return np.sum(z * y * x)",
        "y = x * 1.0; z = np.sin(y); y **= 2; return np.sum(z * y * x)",
        "y = x * 1.0; z = np.sin(y); y /= x + 10.0; return np.sum(z * y * x)",
        "y = np.outer(x, x); z = y; y @= y; return np.sum(z * y)",
        "c = np.ones(4) * 2.0; y = x * c; np.copyto(c, 3.0); return np.sum(y * c)",
        """
c = np.ones(4) * 2.0
y = x * c
c.fill(3.0)
c.sort()
np.random.default_rng(0).shuffle(c)
return np.sum(y * c)
""",
        """
out = np.zeros(4)
for i in range(4):
    out[i] = x[i] ** 2
return np.sum(out * x)
""",
        """
out = np.zeros((2, 4))
out[0] = x
out[1] = x * x
y = np.sin(out)
out[0] = 0.0
return np.sum(y * out)
""",
        """
out = [x[0]]
y = np.array(out)
out[0] = x[1] * 3.0
return np.sum(y) + np.sum(np.array(out) ** 2)
""",
    ),
    "one array twice": (
        "y = x; return np.sum(y * x + y - x + x / (y * y + 1.0))",
        "return np.sum(x * x) + np.sum(x + x) + np.sum(x - x) + np.sum(x / x)",
        "return np.vdot(x, x)",
        "return np.sum(np.kron(x, x) * np.arange(16.0))",
        "return np.sum(np.outer(x, x))",
        "return np.sum(np.matmul(x[None], x[:, None]))",
    ),
    "whole numbers, truth values and short floats": (
        "n = np.arange(4); return np.sum(x * n + n - x / (n + 1) + x ** n)",
        "m = x > 0; return np.sum(x * m) + np.sum(m * x) + np.sum(x * True) + np.sum(x - m)",
        "c = np.arange(4.0, dtype=np.float32); return np.sum(x * c) + np.sum(c / (x * x + 1))",
        "y = x.astype(np.float32); return np.sum(y * y) * 1.0 + np.sum(y * x)",
        "return np.sum(np.array([x[0], x[1]], dtype=np.float32) ** 2)",
        "return np.sum(x ** 2, dtype=np.float32) * 1.0",
        "return np.sum(x ** 2, 0, np.float32) * 1.0",
        "return np.sum(np.multiply(x, x, dtype=np.float32)) * 1.0",
    ),
    "matrices": (
        """
M = np.outer(x, x)
total = np.sum(M @ x) + x @ M @ x + np.sum(M @ M.T) + np.sum(M[None] @ M)
total = total + np.sum(M[None] @ x) + np.sum(x @ M[None]) + x @ x
return total
""",
        "return np.sum(np.linalg.solve(np.outer(x, x) + 5 * np.eye(4), x) * x)",
        """
return np.sum(np.linalg.solve(np.outer(x, x) + 5 * np.eye(4), np.outer(x, x[:2])) * x[:, None])
""",
        "return np.sum(np.linalg.solve(np.stack([np.outer(x, x) + 5 * np.eye(4), np.eye(4)]), x) ** 2)",
        """
return np.sum(np.linalg.cholesky(np.outer(x, x) + 5 * np.eye(4)) * np.arange(16.0).reshape(4, 4))
""",
        "M = np.outer(x, x) + np.eye(4) * 3; return np.linalg.det(M) + np.sum(np.linalg.inv(M) * M.T)",
        "return np.linalg.norm(x) + np.linalg.norm(np.outer(x, x))",
        'return np.einsum("i,i->", x, x) + np.sum(np.einsum("ij,j->i", np.outer(x, x), x))',
        "return np.sum(np.linalg.solve(np.zeros((4, 4)), x))",
        "return np.sum(np.linalg.cholesky(-np.eye(4) + 0.0 * np.outer(x, x)))",
    ),
    "elementwise": (
        """
y = np.tanh(x) * np.exp(-(x**2)) + np.log1p(x * x) - np.sqrt(1 + x * x) + np.sin(x) / np.cos(x)
total = np.sum(y + np.arctan(x) + np.expm1(x) + np.square(x) + np.cosh(x) + np.sinh(x) + 1 / (1 + np.exp(-x)))
return total
""",
        """
return np.sum(np.hypot(x, x[::-1])) + np.sum(np.arctan2(x, x[::-1])) + np.sum(np.logaddexp(x, 0.0))
""",
        "return np.sum(-x) + np.sum(+x) + np.sum(-(x * x))",
        "return np.sum(x % 0.7) + np.sum(np.abs(x) // 0.7)",
        "return np.sum(np.abs(x) ** x)",
        """
total = np.sum(x ** 3) + np.sum(x ** 2) + np.sum(x ** 1) + np.sum(x ** 0)
total = total + np.sum(x ** (-1)) + np.sum(x ** 2.0)
return total
""",
        "return np.prod(x) + np.sum(np.cumprod(x))",
    ),
    "linear": (
        """
M = np.outer(x, x + 1)
total = np.sum(M.T * np.arange(16.0).reshape(4, 4)) + np.sum(M.mT @ x)
total = total + np.sum(np.transpose(M)[0] * x) + np.sum(M.transpose(1, 0) * np.arange(4.0))
total = total + np.sum(M.T.ravel() * np.arange(16.0))
return total
""",
        """
M = np.outer(x, x + 1)
total = np.sum(np.flip(M, 0) * np.arange(16.0).reshape(4, 4)) + np.sum(np.roll(M, 1) * M)
total = total + np.sum(np.roll(M, 1, axis=1) * M) + np.sum(np.cumsum(x) * x) + np.trace(M)
total = total + np.sum(np.diagonal(M) * x) + np.sum(np.diff(x) ** 2) + np.sum(np.tril(M) * M)
total = total + np.sum(np.squeeze(M[None], 0) * M) + np.sum(np.swapaxes(M, 0, 1) * M)
total = total + np.sum(np.moveaxis(M, 0, 1) * M) + np.sum(np.broadcast_to(x, (3, 4)) * 2.0)
total = total + np.sum(np.tile(x, 2) ** 2) + np.sum(np.repeat(x, 2) ** 2)
return total
""",
        """
M = np.outer(x, x + 1)
total = np.sum(M.cumsum() * 1.0) + np.sum(M.diagonal() * x) + M.trace()
total = total + np.sum(M.squeeze() * M) + np.sum(M.swapaxes(0, 1) * M) + np.sum(x.repeat(2) ** 2)
total = total + np.sum(np.atleast_2d(x) * M) + np.sum(x.copy() * x) + np.sum(np.copy(M) * M)
total = total + np.sum(np.ascontiguousarray(M) * M)
return total
""",
        """
return np.add.reduce(x * x) + np.sum(np.add.outer(x, x) ** 2) + np.sum(np.add.accumulate(x) * x)
""",
        """
s = 0.0
for row in np.outer(x, x):
    s = s + row @ x
for e in x:
    s = s + e * e
return s
""",
    ),
    "nothing and infinity": (
        "y = np.sqrt(np.abs(x) * 0.0); return np.sum(y * 0.0) + np.sum(x)",
        "return np.sum(np.log(x * 0.0)) + np.sum(x)",
        "return np.sum(1.0 / (x * 0.0)) + np.sum(x)",
        "z = x * 0.0; return np.sum(x / z)",
        "z = x * 0.0; return np.sum((x / z)[:0]) + np.sum(x)",
        "return np.sum(np.sqrt(x * 0.0))",
        "y = x[:0]; return np.sum(y * 2.0) + np.sum(np.exp(y)) + np.sum(x) + np.sum(y.reshape(0, 3))",
        "return np.mean(x[:0]) + np.sum(x)",
        "return np.sum(x * np.ones(3))",
        "return np.max(x[:0]) + np.sum(x)",
    ),
}


def random_program(seed):
    """A random body: steps on vectors of four, matrices of four by four and numbers, in branches and loops.

    Every function in it is smooth where its arguments are, and stays small.
    """
    return _Steps(random.Random(seed)).body()


_OF_VECTOR = (
    *(
        "np.sin({v})",
        "np.tanh({v})",
        "np.exp(-({v} * {v}))",
        "{v} * {w}",
        "{v} + {w}",
        "{v} - {w}",
        "{v} * {n}",
    ),
    *("{v} / (1.0 + {w} * {w})", "{n} - {v}", "np.sqrt(1.0 + {v} * {v})", "{v} ** 2", "np.abs({v} + 0.3)"),
    *("np.sum(np.tanh({m}), axis=0)", "np.mean({m}, axis=1)", "np.max({m}, axis=0)", "{m}.min(axis=1)"),
    *("np.tanh({m} @ {v})", "np.tanh({v} @ {m})", "{m}[1]", "{m}[:, 2]", "np.where({v} > 0.1, {v}, {w})"),
    *("np.concatenate(({v}[:2], {w}[2:]))", "np.array([{n}, {k}, 0.5, {n}])", "{m}.reshape(-1)[3:7]"),
    *("{v}[ORDER[[0, 1, 2, 2]]]", "{v}[::-1]", "np.flip({v})", "{v}[:1] * {w}"),
    *("np.linalg.solve({m} + 9.0 * np.eye(4), {v})", "np.cumsum({v}) / 4.0"),
    *("np.maximum({v}, {w} - 0.05)", "(1.5 + np.tanh({v})) ** {w}", "np.diagonal({m})"),
)
_OF_MATRIX = (
    *(
        "np.tanh(np.outer({v}, {w}))",
        "np.tanh({m} @ {o})",
        "{m} * {o}",
        "{m} + {v}",
        "{m} - {v}[:, None]",
    ),
    *(
        "{m}.T",
        "np.tanh({m}) / (1.0 + np.sum({o} * {o}, axis=1, keepdims=True))",
        "np.stack([{v}, {w}, {v}, {w}])",
    ),
    *("np.tanh({m} - np.max({m}, axis=1, keepdims=True))", "{m}.reshape(2, 8).reshape(4, 4)", "{m} * {n}"),
    *("np.reshape({m}, (2, -1)).T.reshape(4, 4)", "np.tril({m})", "np.sin({m})", "{m} * np.sum({m}, axis=0)"),
)
_OF_NUMBER = (
    *("np.sum({v})", "np.mean({m})", "{v} @ {w}", "np.dot({v}, {w})", "{v}[2]", "{m}[1, 3]", "{n} * {k}"),
    *("np.max({v})", "np.sin({n})", "{n} / (2.0 + {k} * {k})", "np.sum({m} * {o}) / 8.0", "{n} - {k}"),
)


class _Steps:
    """Lines of a program in the making; the names of each kind that every path gives a value."""

    def __init__(self, rng):
        self.rng = rng
        self.names = {"v": ["x"], "m": ["m0"], "n": ["n0"]}
        self.count = 0

    def body(self):
        lines = ["m0 = np.outer(x, np.arange(1.0, 5.0)) / 3.0", "n0 = x[0] + 0.5"]
        for _ in range(self.rng.randint(3, 7)):
            lines += self.compound() if self.rng.random() < 0.3 else [self.step()]
        read = [self.rng.choice(names) for names in self.names.values() for _ in range(2)]
        return "\n".join([*lines, f"return {' + '.join(f'np.sum({name})' for name in read)}"])

    def step(self, kind=None, name=None):
        kind = kind or self.rng.choice("vvmn")
        forms = {"v": _OF_VECTOR, "m": _OF_MATRIX, "n": _OF_NUMBER}[kind]
        pick = {slot: self.rng.choice(self.names[of]) for slot, of in zip("vwmonk", "vvmmnn")}
        if name is None:
            self.count += 1
            name = f"{kind}{self.count}"
            text = self.rng.choice(forms).format(**pick)
            self.names[kind].append(name)
            return f"{name} = {text}"
        return f"{name} = {self.rng.choice(forms).format(**pick)}"

    def compound(self):
        kind = self.rng.choice("vmn")
        name = self.rng.choice(self.names[kind])
        if name == "x":
            return [self.step()]
        inside = [self.step(kind, name) for _ in range(self.rng.randint(1, 3))]
        before = {k: list(names) for k, names in self.names.items()}
        local = [self.step()]  # seen inside alone
        inside = [*local, *inside]
        self.names = before
        header = self.rng.choice(
            ["for _ in range(3):", "for i in range(2):", "for _ in range(0):", "if x[1] > 0.0:", "if n0 > 0:"]
        )
        return [header, *("    " + line for line in inside)]


_OF_ANY_SHAPE = (
    *("{p} + {q}", "{p} * {q}", "{p} - {q}", "{p} / (1.5 + {q} * {q})", "np.tanh({p}) * {q}", "np.sin({p})"),
    *("np.maximum({p}, {q})", "np.where({p} > 0.1, {q}, {p})", "{p} ** 2", "{p} * 0.7", "np.array({p})"),
    *("np.sum({p}, axis=0, keepdims=True) + {q} * 0.1", "np.mean({p}, axis=-1, keepdims=True) * {q}"),
    *(
        "np.max({p}, axis=0, keepdims=True) - 0.5 * np.sum({q})",
        "{p} + np.sum({q})",
        "{p} - np.max({q})",
        "{p}[:1]",
    ),
    *(
        "{p}[..., :2] * np.sum({q})",
        "np.tanh(np.sum({p} * {q})) * {p}",
        "(1.5 + np.tanh({p})) ** {q}",
        "{p}.T",
    ),
)
_HEADERS = (
    "for _ in range(2):",
    "for _ in range(0):",
    "if np.sum(x) > 0:",
    "if x[0] > 5:",
    "for i in range(3):",
)


def random_shapes(seed):
    """A random body whose arrays have other shapes after a branch or a turn of a loop; some have no value,
    since their shapes do not meet.
    """
    rng = random.Random(seed)
    arrays = ["x", "column", "row", "one"]
    lines = ["column = x[:, None]", "row = x[None]", "one = x[:1]"]

    def step():
        return rng.choice(_OF_ANY_SHAPE).format(p=rng.choice(arrays), q=rng.choice(arrays))

    for number in range(rng.randint(3, 7)):
        if number and rng.random() < 0.35:
            changed, before = rng.choice(arrays[1:]), list(arrays)
            lines += [rng.choice(_HEADERS), f"    inner{number} = {step()}"]
            arrays.append(f"inner{number}")
            lines.append(f"    {changed} = {step()}")
            arrays = before
        else:
            lines.append(f"y{number} = {step()}")
            arrays.append(f"y{number}")
    terms = [f"np.sum(np.tanh({rng.choice(arrays)}))" for _ in range(3)]
    return "\n".join([*lines, f"return {' + '.join(terms)}"])
