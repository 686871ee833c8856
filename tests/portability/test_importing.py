"""Rules of other frameworks that become ours: compared and checked like any other."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.errors import ExportError
from rulelab.portability import import_rule
from rulelab.portability.gathering import gathered
from rulelab.portability.judges import JudgeError
from rulelab.rules.registry import Registry

from .installed import framework

X = np.array([1.0, -2.0, 0.5])


def of_autograd(mistake=1.0):
    """x * y * y with its vjps."""
    extend = framework("autograd.extend")

    @extend.primitive
    def theirs(x, y):
        return x * y * y

    extend.defvjp(
        theirs,
        lambda ans, x, y: lambda g: g * y * y,
        lambda ans, x, y: lambda g: mistake * 2 * g * x * y,
    )
    return theirs


def ours(x, y):
    """The same in NumPy."""
    return x * y * y


def test_a_rule_of_autograd_becomes_ours():
    """Its value and its gradient are those of their code; it is checked by differences like a rule of
    ours.
    """
    registry = Registry()
    found = import_rule(of_autograd(), "autograd", name="theirs_here", registry=registry)
    assert found.__name__ == "theirs_here"
    y, back = rl.rrule(found, X, 2 * X, registry=registry)
    np.testing.assert_allclose(y, 4 * X**3)
    np.testing.assert_allclose(back(np.ones(3))[1], 4 * X**2)
    assert rule_check(found, X, 2 * X, registry=registry).verdict == "right"


def test_with_a_function_of_ours_theirs_is_its_rule():
    """`of=F` is a copy of F with their derivative, so a wrong one of theirs is found beside F."""
    registry = Registry()
    right = import_rule(of_autograd(), "autograd", ours, name="ours_right", registry=registry)
    wrong = import_rule(of_autograd(1.5), "autograd", ours, name="ours_wrong", registry=registry)
    assert rule_check(right, 2.0, 3.0, registry=registry).verdict == "right"
    assert rule_check(wrong, 2.0, 3.0, registry=registry).verdict == "wrong"


def test_ints_and_words_are_held():
    """What holds no floating-point number has no cotangent, and reaches their function as it is."""
    numpy = framework("autograd.numpy")
    registry = Registry()
    found = import_rule(
        lambda x, axis: numpy.sum(x, axis=axis), "autograd", name="summed_there", registry=registry
    )
    y, back = rl.rrule(found, np.ones((2, 3)), 1, registry=registry)
    x_bar, axis_bar = back(np.array([1.0, 2.0]))[1:]
    np.testing.assert_array_equal(x_bar, [[1.0] * 3, [2.0] * 3])
    assert isinstance(axis_bar, rl.NoTangent)


def test_an_imported_rule_does_not_leave():
    """Its code is another framework's, and stays there: that is said, and no line of ours is shown."""
    registry = Registry()
    found = import_rule(of_autograd(), "autograd", registry=registry)
    with pytest.raises(ExportError, match="another framework's code runs behind it") as refused:
        gathered(found, registry=registry)
    assert refused.value.place is None and "importing.py" not in str(refused.value)


@pytest.mark.slow
def test_a_function_of_torch_becomes_ours():
    """A `torch.autograd.Function` runs behind our rule, with numbers as tensors."""
    torch = framework("torch")

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, y_bar):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * y_bar

    registry = Registry()
    found = import_rule(Cube, "torch", registry=registry)
    assert found.__name__ == "Cube_torch"
    y, back = rl.rrule(found, 2.0, registry=registry)
    assert (y, back(10.0)[1]) == (8.0, 120.0)


@pytest.mark.slow
def test_a_function_of_jax_becomes_ours():
    """In double precision; complex cotangents are ours, not the conjugates that JAX has."""
    jax = framework("jax")
    registry = Registry()
    found = import_rule(lambda z: jax.numpy.real(z * 1j), "jax", name="turned", registry=registry)
    y, back = rl.rrule(found, 1.0 + 2.0j, registry=registry)
    assert y == -2.0 and back(1.0)[1] == -1j


@pytest.mark.parametrize("missing", ["jax", "torch", "autograd"])
def test_a_framework_that_is_missing_is_named(missing, monkeypatch):
    """One line that says so, and how to get it."""
    for module in ("jax", "torch", "autograd", "autograd.core"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(JudgeError, match="is not installed here") as refused:
        import_rule(ours, missing)
    assert refused.value.fixes[0] == f"pip install {missing}"


def test_what_is_no_function_is_refused():
    """With what was given."""
    with pytest.raises(JudgeError, match="not an object of class int"):
        import_rule(3, "autograd")
