# ruff: noqa: E501  (paragraphs of a notebook are wrapped as in the other ones)
"""The source of notebook 06, until all that it uses is there.

`python tests/notebook/sixth_notebook.py` writes notebooks/06-structs-and-second-derivatives.ipynb. Once that is
stored, it is the source, and this file is to go.
"""

from pathlib import Path

import nbformat

FILE = Path(__file__).parents[2] / "notebooks" / "06-structs-and-second-derivatives.ipynb"
CELLS = []


def text(name, source):
    cell = nbformat.v4.new_markdown_cell(source.strip(), id=name)
    CELLS.append(cell)


def code(name, source):
    cell = nbformat.v4.new_code_cell(source.strip(), id=name)
    CELLS.append(cell)


text(
    "title",
    r"""
# Structs, implicit parameters, second derivatives

Real models are not functions of three numbers. Their parameters sit in objects, the loop that trains them is written in one of two
styles, and some methods want a matrix of derivatives, or the derivative of a derivative. This notebook goes through what there is for
each, and checks every number that it shows.
""",
)

code(
    "setup",
    """
%load_ext rulelab
import dataclasses
from dataclasses import dataclass

import numpy as np

import rulelab as rl
from rulelab.checking import findiff
""",
)

text(
    "structs",
    r"""
## 1. The gradient of an object

A gradient has the structure of its argument. For a dataclass that is one entry for each field, and None where nothing flowed:
""",
)

code(
    "dense",
    """
@dataclass(frozen=True)
class Dense:
    w: np.ndarray
    b: np.ndarray
    name: str = "dense"

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


rng = np.random.default_rng(6)
layer = Dense(rng.standard_normal((2, 2)), np.zeros(2))
x = np.array([0.5, -0.5])

(slopes,) = rl.gradient(lambda layer: np.sum(layer(x)), layer)
slopes
""",
)

text(
    "callable",
    r"""
`layer` is called like a function, and it is one: `rl.gradient` of something that ends in `layer(x)` differentiates `Dense.__call__`.
By *what* is a matter of the arguments. Here it was by the layer; with the layer fixed it is by `x`:
""",
)

code(
    "callable-by-x",
    """
def by_differences(f, x):
    return findiff.gradient(f, x)[0]


(of_x,) = rl.gradient(lambda x: np.sum(layer(x)), x)
print("by x:", of_x, " off by", np.max(np.abs(of_x - by_differences(lambda x: np.sum(layer(x)), x))))

of_w = by_differences(lambda w: np.sum(dataclasses.replace(layer, w=w)(x)), layer.w)
print("by w: off by", np.max(np.abs(slopes.w - of_w)))
""",
)

text(
    "nested",
    r"""
Objects may hold objects, lists, dicts and tuples, and so does the gradient:
""",
)

code(
    "nested-model",
    """
@dataclass
class Model:
    layers: list
    readout: dict

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x @ self.readout["w"] + self.readout["b"]


model = Model([layer, Dense(rng.standard_normal((3, 2)), np.zeros(3))], {"w": rng.standard_normal(3), "b": 0.1})
(of_model,) = rl.gradient(lambda model: model(x) ** 2, model)
print(of_model.layers[1].w)
print(of_model.readout)
""",
)

text(
    "changing",
    r"""
A function may also *change* an object that it was given. The change is made, as in any call, and the gradient is that of the object as
it was when the function was entered:
""",
)

code(
    "changing-counter",
    """
class Oscillator:
    def __init__(self, position, speed):
        self.position = position
        self.speed = speed
        self.steps = 0

    def step(self, dt):
        self.speed -= dt * self.position
        self.position += dt * self.speed
        self.steps += 1


def after(oscillator, steps):
    for _ in range(steps):
        oscillator.step(0.1)
    return oscillator.position


swing = Oscillator(1.0, 0.0)
of_start, _ = rl.gradient(after, swing, 10)
print(of_start)
print("the caller sees:", swing.steps, "steps, position", round(swing.position, 4))

h = 1e-6
slope = (after(Oscillator(1.0 + h, 0.0), 10) - after(Oscillator(1.0 - h, 0.0), 10)) / (2 * h)
print("off by", abs(of_start.position - slope))
""",
)

text(
    "training",
    r"""
## 2. A training loop, twice

The data: 40 noisy points of a sine. First in the **explicit** style: the model is an argument, its gradient a structure, and a step
makes a new model from both.
""",
)

code(
    "training-data",
    """
points = np.linspace(-2.0, 2.0, 40)
heights = np.sin(points) + 0.05 * rng.standard_normal(40)


@dataclass(frozen=True)
class Net:
    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray

    def __call__(self, x):
        return np.tanh(x[:, None] * self.w1 + self.b1) @ self.w2


def error(net):
    return np.mean((net(points) - heights) ** 2)


start = Net(rng.standard_normal(8), rng.standard_normal(8), 0.1 * rng.standard_normal(8))
""",
)

code(
    "training-explicit",
    """
def stepped(net, g, rate):
    return Net(net.w1 - rate * g.w1, net.b1 - rate * g.b1, net.w2 - rate * g.w2)


net = start
for epoch in range(400):
    value, (g,) = rl.withgradient(error, net)
    if epoch % 100 == 0:
        print(f"{epoch:4} {value:.6f}")
    net = stepped(net, g, 0.1)

print(f"last {error(net):.6f}")
""",
)

text(
    "training-implicit-text",
    r"""
In the **implicit** style the parameters are arrays that the loss reaches by itself, and one says which: `Params` is an ordered set of
arrays, by identity. What comes back is looked up by the array. The arrays are then changed in place, by you, between gradients.
""",
)

code(
    "training-implicit",
    """
w1, b1, w2 = start.w1.copy(), start.b1.copy(), start.w2.copy()


def loss():
    return np.mean((np.tanh(points[:, None] * w1 + b1) @ w2 - heights) ** 2)


parameters = rl.Params([w1, b1, w2])
for epoch in range(400):
    value, grads = rl.withgradient(loss, parameters)
    if epoch % 100 == 0:
        print(f"{epoch:4} {value:.6f}")
    for p in parameters:
        p -= 0.1 * grads[p]

print(f"last {loss():.6f}")
""",
)

code(
    "training-same",
    """
print("the same parameters:", all(np.allclose(a, b) for a, b in zip((w1, b1, w2), (net.w1, net.b1, net.w2))))
""",
)

text(
    "training-which",
    r"""
Both do the same arithmetic. The explicit style says in the signature what a function depends on, and works for objects of any shape;
prefer it for new code. The implicit one is at home where a loss reaches its parameters through many layers of somebody else's code.

## 3. Jacobians

`gradient` wants a number. For a function with several results there is the matrix $J_{ki} = \partial y_k/\partial x_i$:
""",
)

code(
    "jacobian-polar",
    """
def cartesian(p):
    r, phi = p
    return np.array([r * np.cos(phi), r * np.sin(phi)])


p = np.array([2.0, 0.5])
""",
)

code("jacobian-magic", "%jacobian cartesian(p)")

code(
    "jacobian-check",
    """
(J,) = rl.jacobian(cartesian, p)
print("determinant", np.linalg.det(J), "should be r =", p[0])
""",
)

text(
    "jacobian-text",
    r"""
Arrays of any shape count as flat, row by row; `shaped=True` keeps the axes. The mode is chosen by the sizes: forward mode costs a pass
for each input, reverse mode one for each output.

## 4. Second derivatives

A gradient is a function like any other, so it can be differentiated:
""",
)

code(
    "second-nested",
    """
def slope(v):
    return rl.gradient(lambda u: np.sin(u) * u**2, v)[0]


curvature = rl.gradient(slope, 1.3)[0]
by_hand = (2 - 1.3**2) * np.sin(1.3) + 4 * 1.3 * np.cos(1.3)
print(curvature, " off by", abs(curvature - by_hand))
print("by the operator:", rl.derivative(lambda u: np.sin(u) * u**2, 2)(1.3))
""",
)

text(
    "hessian-text",
    r"""
For a function of an array the second derivatives are a matrix, the Hessian. The valley of Rosenbrock, bent and narrow, is the usual test:
""",
)

code(
    "hessian",
    """
def valley(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


x0 = np.array([-1.2, 1.0])
""",
)

code("hessian-magic", "%hessian valley(x0)")

code(
    "hessian-check",
    """
H = rl.hessian(valley, x0)
by_hand = np.array([[1200 * x0[0] ** 2 - 400 * x0[1] + 2, -400 * x0[0]], [-400 * x0[0], 200.0]])
print("off by", np.max(np.abs(H - by_hand)))
print("reverse over reverse agrees:", np.allclose(H, rl.hessian_reverse(valley, x0)))
""",
)

text(
    "newton-text",
    r"""
With it comes Newton's method: a few steps where gradient descent takes thousands.
""",
)

code(
    "newton",
    """
x = x0
for step in range(10):
    g, = rl.gradient(valley, x)
    print(f"{step:3} {valley(x):12.3e}   |gradient| {np.linalg.norm(g):9.2e}")
    if np.linalg.norm(g) < 1e-9:
        break
    x = x - np.linalg.solve(rl.hessian(valley, x), g)

print("minimum at", np.round(x, 9))
""",
)

text(
    "hvp-text",
    r"""
For many variables the matrix is too large, and often only its product with a vector is needed. `hvp` costs a few gradients, whatever
the size. Conjugate gradients solve $Hs = -g$ with nothing else:
""",
)

code(
    "hvp",
    """
def conjugate_gradients(product, b, steps=50):
    s, r = np.zeros_like(b), b
    d = r
    for _ in range(steps):
        if np.linalg.norm(r) < 1e-10 * np.linalg.norm(b):
            break
        Hd = product(d)
        alpha = (r @ r) / (d @ Hd)
        s = s + alpha * d
        r, before = r - alpha * Hd, r
        d = r + (r @ r) / (before @ before) * d
    return s


def bowl(x):
    return np.sum(np.cosh(x) - 0.5 * x) + 0.5 * np.sum((x[1:] - x[:-1]) ** 2)


many = rng.standard_normal(50)
for _ in range(8):
    (g,) = rl.gradient(bowl, many)
    many = many - conjugate_gradients(lambda v: rl.hvp(bowl, many, v), g)

print("|gradient|", np.linalg.norm(rl.gradient(bowl, many)[0]))
""",
)

text(
    "marks",
    r"""
## 5. Marks: telling the machine something

`hook` looks at a cotangent on its way back, and may change it. Here one clips a gradient that would be too large:
""",
)

code(
    "marks-hook",
    """
def steep(x):
    x = rl.hook(lambda x_bar: np.clip(x_bar, -1.0, 1.0), x)
    return np.sum(x**4)


wild = np.array([0.1, 1.0, 10.0])
print("without:", 4 * wild**3)
print("clipped:", rl.gradient(steep, wild)[0])
""",
)

text(
    "marks-ignore-text",
    r"""
`ignore_derivatives` takes something out of the gradient, and `checkpointed` trades time for memory: what a block needs for its derivative
is not kept, but worked out again on the way back. The numbers stay the same.
""",
)

code(
    "marks-ignore",
    """
def normalised(x):
    return np.sum((x / rl.ignore_derivatives(np.max(x))) ** 2)


print(rl.gradient(normalised, np.array([1.0, 2.0, 4.0]))[0], "= 2 x / max²")


def block(x):
    for _ in range(100):
        x = x + 0.01 * np.sin(x)
    return x


def kept(x):
    for _ in range(10):
        x = block(x)
    return np.sum(x)


def recomputed(x):
    for _ in range(10):
        x = rl.checkpointed(block, x)
    return np.sum(x)


big = rng.standard_normal(1000)
print("equal:", np.array_equal(rl.gradient(kept, big)[0], rl.gradient(recomputed, big)[0]))
""",
)

text(
    "mutation",
    r"""
## 6. Functions that write into arrays

Writing into an array destroys what the reverse sweep may need, so it is refused. `g_outer` leaves its argument alone, but it fills an
array by a helper:
""",
)

code(
    "mutation-refused",
    """
def g_inner(x, y):
    for i in range(len(y)):
        x[i] = 2 * y[i] ** 2
    return x


def g_outer(y):
    z = np.empty_like(y)
    g_inner(z, y)
    return z


y = np.array([1.0, 2.0, 3.0])
try:
    rl.gradient(lambda y: np.sum(g_outer(y)), y)
except rl.RuleLabError as error:
    print(f"{type(error).__name__}: {error}")
""",
)

text(
    "mutation-forward-text",
    r"""
Forward mode has no such trouble: values and tangents go the same way, and are written side by side. `forwarddiff` hands a part over to
it, inside a gradient that is otherwise reverse:
""",
)

code(
    "mutation-forward",
    """
found = rl.gradient(lambda y: np.sum(rl.forwarddiff(g_outer, y) * y), y)[0]
print(found, " off by", np.max(np.abs(found - 6 * y**2)))
""",
)

text(
    "mutation-buffer-text",
    r"""
And where the writing itself is yours, a `Buffer` is an array under construction; `copy()` makes an array of it:
""",
)

code(
    "mutation-buffer",
    """
def running_products(y):
    out = rl.Buffer(y)
    out[0] = y[0]
    for i in range(1, len(y)):
        out[i] = out[i - 1] * y[i]
    return out.copy()


found = rl.gradient(lambda y: np.sum(running_products(y)), y)[0]
print(found, " off by", np.max(np.abs(found - by_differences(lambda y: np.sum(np.cumprod(y)), y))))
""",
)

text(
    "checklist",
    r"""
## In short

1. Make the model an argument; its gradient has its structure. `Params` is for losses that reach their arrays by themselves.
2. A number: `gradient`. Several: `jacobian`. Curvature: `hessian` if it fits, `hvp` if it does not.
3. Nest gradients freely. If a rule's pullback writes into arrays, the error names the line.
4. Arrays are not written to; if they must be, `forwarddiff` around the part, a `Buffer`, or a rule.
""",
)


def notebook():
    """The whole, as it is stored: without outputs, for the kernel that every Jupyter has."""
    metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return nbformat.v4.new_notebook(cells=CELLS, metadata=metadata)


if __name__ == "__main__":
    nbformat.write(notebook(), FILE)
    print(f"wrote {FILE}")
