"""Second derivatives of code on arrays: the tangents of typed operations are written out, and right."""

import importlib.util
import inspect
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import pullbacks

WEIGHTS = np.array([[0.3, -1.2, 0.5], [0.7, 0.2, -0.4]])


def chain(x):
    return np.sum(np.tanh(x * 0.5) * np.exp(-x) / (1.0 + x * x) - np.sin(x) ** 3)


def products(x):
    h = np.tanh(WEIGHTS @ x)
    return h @ h + (x @ WEIGHTS.T) @ np.array([1.0, 2.0])


def reductions(x):
    table = x[:, None] * x[None, :] + 0.1
    return np.sum(np.log(np.sum(table**2, axis=1))) + table.mean() * np.sum(x, axis=0)


def shapes(x):
    table = np.reshape(np.concatenate((x, x * x)), (2, -1))
    return np.sum(table.T[0] * table.swapaxes(0, 1)[1]) + np.sum(np.stack((x, np.exp(x))) ** 2)


def made_in_a_loop(x):
    y = np.array([x[0], x[1] * x[2]])
    for _ in range(3):
        y = y + 0.1 * np.array([y[1], -math.sin(y[0]) - x[2] * y[1]])
    return np.sum(y * y)


def constants_of_other_shapes(x):
    return np.sum((x + WEIGHTS) ** 2 * np.cos(WEIGHTS - x)) + np.sum(WEIGHTS / (x * x + 1.0))


def branches(x):
    y = x * x if x[0] > 0 else -x
    total = 0.0
    for row in WEIGHTS:
        total = total + np.sum(row * y) ** 2
    return total


def unknown_between(x):
    """What is taken from a dict is of unknown kind, so its tangent is taken for nothing."""
    held = {"y": x * x, "c": np.ones(3)}
    return np.sum(held["y"] * np.tanh(held["c"] * x)) + np.sum(np.reshape(held["c"], (3, 1)) * x)


FUNCTIONS = [
    *(chain, products, reductions, shapes, made_in_a_loop),
    *(constants_of_other_shapes, branches, unknown_between),
]
POINTS = [np.array([0.4, -0.7, 1.1]), np.array([-0.3, 0.9, 0.2])]


def differences_of_gradient(f, x, step=1e-5):
    """The derivative of the gradient by central differences, which are extrapolated once."""

    def slope(h):
        moved = [rl.gradient(f, x + h * e)[0] - rl.gradient(f, x - h * e)[0] for e in np.eye(len(x))]
        return np.array(moved) / (2 * h)

    return (4 * slope(step) - slope(2 * step)) / 3


@pytest.mark.every(3)
@pytest.mark.parametrize("x", POINTS, ids=["first", "second"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_hessian_agrees_with_differences_of_the_gradient(f, x):
    """The Hessian is the derivative of the gradient."""
    assert rl.hessian(f, x) == pytest.approx(differences_of_gradient(f, x), rel=1e-6, abs=1e-7)


@pytest.mark.every(2)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_products_with_hessians_and_third_derivatives(f):
    """A Hessian times a vector is the derivative along it, in every order of the modes; and so on."""
    x, v = POINTS[0], np.array([0.5, -1.0, 0.25])
    wanted = differences_of_gradient(f, x) @ v
    along = lambda x: rl.gradient(f, x)[0] @ v
    assert rl.hvp(f, x, v) == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    assert rl.gradient(along, x)[0] == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    third = rl.gradient(lambda x: rl.hvp(f, x, v) @ v, x)[0]
    h = 1e-5
    moved = [(rl.hvp(f, x + h * e, v) @ v - rl.hvp(f, x - h * e, v) @ v) / (2 * h) for e in np.eye(3)]
    assert third == pytest.approx(np.array(moved), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("f", [chain, products, reductions, shapes, made_in_a_loop], ids=lambda f: f.__name__)
def test_nothing_is_asked_at_run_time(f, monkeypatch, tmp_path):
    """In the second sweep over typed code there is no call whose tangent is looked for when it is made."""
    texts, compile_pass = [], pullbacks.compile_pass

    def compiled(*given, **options):
        made = compile_pass(*given, **options)
        texts.append((made.name, made.text))
        return made

    monkeypatch.setattr(pullbacks, "compile_pass", compiled)
    rl.hessian(anew(f, tmp_path), POINTS[0])
    of_tangent = [text for name, text in texts if name == f.__name__ and "_dot" in text]
    assert of_tangent and not any("push" in text for text in of_tangent)


def anew(f, folder):
    """The same function from a file of its own, which nobody has differentiated yet."""
    path = folder / "anew.py"
    path.write_text("import math\nimport numpy as np\n" + inspect.getsource(f))
    spec = importlib.util.spec_from_file_location("anew", path)
    module = importlib.util.module_from_spec(spec)
    module.WEIGHTS = WEIGHTS
    spec.loader.exec_module(module)
    return getattr(module, f.__name__)
