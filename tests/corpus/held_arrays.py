"""Small programs on arrays whose memory somebody else holds, whose cotangents share it, or that lie in it in
any way.
"""

import numpy as np
from corpus.array_programs import function_of

import rulelab as rl

X = np.array([0.3, -1.2, 0.7, 1.9])

# `z` was made here and is read by `np.exp` for the last time, but it is not the only name of its memory.
STILL_HELD = {
    "another name": "y = z\nw = np.exp(z)\nreturn np.sum(y * w)",
    "another name, read first": "y = z\ns = np.sum(y)\nw = np.exp(z)\nreturn s * np.sum(y * w)",
    "a slice": "v = z[1:]\nw = np.exp(z)\nreturn np.sum(v * w[1:])",
    "a new axis": "v = z[None]\nw = np.exp(z)\nreturn np.sum(v * w)",
    "a reshape": "v = z.reshape(2, 2)\nw = np.exp(z)\nreturn np.sum(v * w[:2])",
    "np.reshape": "v = np.reshape(z, (2, 2))\nw = np.exp(z)\nreturn np.sum(v * w[:2])",
    "a transpose": "M = np.outer(z, z) * 1.0\nv = M.T\nw = np.exp(M)\nreturn np.sum(v * w)",
    "np.ravel": "v = np.ravel(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.asarray": "v = np.asarray(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.real": "v = np.real(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.squeeze": "v = np.squeeze(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.broadcast_to": "v = np.broadcast_to(z, (3, 4))\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.atleast_2d": "v = np.atleast_2d(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.ascontiguousarray": "v = np.ascontiguousarray(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "astype without a copy": "v = z.astype(float, copy=False)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.expand_dims": "v = np.expand_dims(z, 0)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "np.swapaxes": "M = np.outer(z, z) * 1.0\nv = np.swapaxes(M, 0, 1)\nw = np.tanh(M)\nreturn np.sum(v * w)",
    "np.diagonal": "M = np.outer(z, z) * 1.0\nv = np.diagonal(M)\nw = np.tanh(M)\nreturn np.sum(v * w)",
    "np.split": "a, b = np.split(z, 2)\nw = np.exp(z)\nreturn np.sum(a * b * w[:2])",
    "rows by unpacking": "M = np.outer(z[:2], z) * 1.0\na, b = M\nw = np.exp(M)\nreturn np.sum(a * b * w)",
    "rows of a loop": """
M = np.outer(z, z) * 1.0
rows = [row for row in M]
w = np.exp(M)
return np.sum(rows[1] * w)
""",
    "a tuple": "t = (z, 1.0)\nw = np.exp(z)\nreturn np.sum(t[0] * w)",
    "a list": "t = [z]\nw = np.exp(z)\nreturn np.sum(t[0] * w)",
    "a dict": 't = {"z": z}\nw = np.exp(z)\nreturn np.sum(t["z"] * w)',
    "a closure": "f = lambda: z\nw = np.exp(z)\nreturn np.sum(f() * w)",
    "a default": "f = lambda z=z: z\nw = np.exp(z)\nreturn np.sum(f() * w)",
    "a generator": "f = (z for _ in range(1))\nw = np.exp(z)\nreturn np.sum(next(f) * w)",
    "what is chosen": "v = z if x[0] > 0 else w0\nw = np.exp(z)\nreturn np.sum(v * w)",
    "what a loop carries": """
v = z
for i in range(2):
    w = np.exp(v)
    v = w
return np.sum(v * z)
""",
    "the turn before": """
v = x * 1.0
for i in range(3):
    u = v * 2.0
    w = np.tanh(u)
    v = w + u[0]
return np.sum(v)
""",
    "a loop that reads it each turn": """
s = 0.0
for i in range(3):
    s = s + np.sum(np.exp(z) * i)
return s
""",
    "a branch that reads it later": """
w = np.exp(z)
if x[1] < 0:
    w = w * z
return np.sum(w)
""",
    "a handler": """
try:
    w = np.exp(z)
    raise ValueError
except ValueError:
    w = z * 3.0
return np.sum(w)
""",
    "an author's rule that keeps it": "s = kept(z)\nw = np.exp(z)\nreturn s * np.sum(w)",
    "an author's function that hands it on": "v = same(z)\nw = np.exp(z)\nreturn np.sum(v * w)",
    "an author's function that stores it": "store(z)\nw = np.exp(z)\nreturn np.sum(STORED[-1] * np.sum(w))",
    "what is changed in place": "y = z\ny += 1.0\nw = np.exp(z)\nreturn np.sum(y * w)",
    "an item that is set": "w = np.exp(z)\nz[0] = 5.0\nreturn np.sum(z * w)",
    "out= of the author's": "w = np.zeros(4)\nnp.exp(z, out=w)\nreturn np.sum(z * w)",
}
# Cotangents that share memory, or are read again once something was added to them.
SHARED_COTANGENTS = {
    "a sum of both": "s = z + y\nreturn np.sum(s * s) + np.sum(z * y) + np.sum(z * z)",
    "a difference": "s = z - y\nreturn np.sum(s * s * y) + np.sum(np.exp(z) * y)",
    "a view of the cotangent": "v = z.reshape(2, 2)\nreturn np.sum(v * v) + np.sum(z * y * z)",
    "its transpose": "M = np.outer(z, y)\nv = M.T\nreturn np.sum(v * v * M) + np.sum(M * M * v)",
    "its ravel": "M = np.outer(z, y)\nv = M.ravel()\nreturn np.sum(v * v) + np.sum(M * M * z)",
    "parts of it": "v = np.concatenate([z, y])\nreturn np.sum(v * v * v) + np.sum(z * y * z)",
    "its items": "a = z[1:]\nb = z[:-1]\nreturn np.sum(a * b * a) + np.sum(z * y * z)",
    "repeated": "v = z + y[:1]\nw = v * y\nreturn np.sum(w * v) + np.sum(v * y[:1]) + np.sum(y * y)",
    "a moved cotangent": "v = +z\nw = v + 0.0\nreturn np.sum(w * w * y) + np.sum(v * y * v) + np.sum(z * z)",
    "extremes of it": "m = np.max(z)\ne = np.exp(z - m)\nreturn np.sum(e * y) + m * np.sum(z * z)",
    "extremes along an axis": """
M = np.outer(z, y)
m = M.max(axis=1, keepdims=True)
n = M.min(axis=0)
return np.sum(np.exp(M - m) * M) + np.sum((M - n) ** 2 * m)
""",
    "items by an array": """
M = np.outer(z, y) * 2.0
e = np.exp(M)
return np.sum(e[[0, 0, 1], [1, 1, 2]]) + np.sum(e * M) + np.mean(M[[1, 1, 3]] * M[:3])
""",
    "a mean along an axis": "M = np.outer(z, y)\nreturn np.sum(np.mean(M * M, axis=1) * np.mean(M, axis=0))",
    "a branch": "s = z * y\nif x[0] > 0:\n    s = s + z\nreturn np.sum(s * s * z)",
    "a loop": "s = z * y\nfor i in range(3):\n    s = s * z + y\n    z = z * 0.5\nreturn np.sum(s * s * z)",
    "nothing that flowed": """
s = z * y
for i in range(0):
    s = s + z
return np.sum(s * z) + np.sum(y * y)
""",
}


def kept(z):
    return np.sum(z * z)


@rl.rrule_for(kept)
def kept_rrule(z):
    return np.sum(z * z), lambda y_bar: (rl.NoTangent(), 2.0 * y_bar * z)


def same(z):
    return z


STORED = []


def store(z):
    STORED.append(z)


def program(start, body):
    names = {"kept": kept, "same": same, "store": store, "STORED": STORED, "w0": np.ones(4)}
    return function_of(f"{start}\n{body.strip()}", **names)


LAYOUTS = ("rows", "columns", "every second", "backwards", "one row", "one column", "empty")


def laid_out(name):
    whole = np.linspace(-1.0, 2.0, 24).reshape(4, 6) ** 2
    return {
        "rows": whole,
        "columns": np.asfortranarray(whole),
        "every second": np.repeat(whole, 2, axis=1)[:, ::2],
        "backwards": whole[::-1, ::-1],
        "one row": whole[:1],
        "one column": whole[:, :1].copy(),
        "empty": whole[:0],
    }[name]
