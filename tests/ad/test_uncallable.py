"""What is no function is refused as that, and a function is never taken for it."""

import contextlib

import numpy as np
import pytest

import rulelab as rl


def total(x):
    return np.sum(x * x)


def product(x, y):
    return np.sum(x * y)


X = np.array([1.0, 2.0])
DOORS = {
    "gradient": lambda f, *args: rl.gradient(f, *args),
    "pullback": lambda f, *args: rl.pullback(f, *args),
    "withgradient": lambda f, *args: rl.withgradient(f, *args),
    "pushforward": lambda f, *args: rl.pushforward(f, *args)(*args),
    "jacobian": lambda f, *args: rl.jacobian(f, *args),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("f", "args"), [(total, (X,)), (product, (X, X))], ids=["one", "two"])
def test_a_block_is_no_function(door, f, args):
    """`rl.without_rule(f)` reads as if it were f without its rule; the message has the `with`."""
    told = rf"is for a `with` statement(?s:.)*with rl\.without_rule\({f.__name__}\)"
    with pytest.raises(rl.RuleLabError, match=told):
        DOORS[door](rl.without_rule(f), *args)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((X, X), {}), ((X,), {}), ((2.0,), {}), ((), {}), ((), {"x": X}), ((X,), {"y": X}), ((total, X), {})],
)
def test_nor_is_its_call_one_of_the_function(args, kwargs):
    """Whatever is passed: neither Python's own TypeError, nor an object that nobody asked for."""
    told = r"with rl\.without_rule\(product\): rl\.gradient\(product, x\)"
    with pytest.raises(rl.RuleLabError, match=told):
        rl.without_rule(product)(*args, **kwargs)


def test_it_decorates_a_function():
    """Each call of it is a block, and none stays open."""

    def cube(x):
        return x**3

    @rl.rrule_for(cube)
    def cube_rrule(x):
        return x**3, lambda y_bar: (rl.NoTangent(), 100.0 * y_bar)

    @rl.without_rule(cube)
    def slope(x):
        return rl.gradient(cube, x)[0]

    for _ in range(2):
        assert slope(2.0) == 12.0 and rl.gradient(cube, 2.0) == (100.0,)


@contextlib.contextmanager
def block():
    yield


def test_a_block_of_somebody_else_is_no_function_either():
    """The message names no function, which is not known."""
    with pytest.raises(rl.RuleLabError, match="_GeneratorContextManager is for a `with` statement"):
        rl.gradient(block(), X)


@pytest.mark.parametrize("door", DOORS)
def test_what_cannot_be_called_has_no_derivative(door):
    """A number in the place of a function."""
    with pytest.raises(rl.RuleLabError, match="cannot be called, so it has no derivative"):
        DOORS[door](3.0, X)


def test_an_object_that_is_both_is_differentiated():
    """One that opens a block and can be called as well."""

    class Both(contextlib.ContextDecorator):
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def __call__(self, x):
            return np.sum(x * x)

    assert rl.gradient(Both(), X)[0].tolist() == [2.0, 4.0]


@pytest.mark.parametrize("other", [3, "f", None, [1.0]])
def test_without_rule_takes_what_can_be_called(other):
    """A block without the rules of a number would do nothing, in silence."""
    with pytest.raises(rl.RuleRegistrationError, match="a rule must be for a callable, not for"):
        rl.without_rule(other)
