"""Draws by what varies: the numbers and the stream of the plain program, and the slope with these numbers."""

import random

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import NotDifferentiableError
from rulelab.rulesets.random_draws import _OTHERS

TWO = ("normal", "laplace", "logistic", "gumbel", "uniform", "lognormal")
ONE = ("exponential", "rayleigh")
OF_PYTHON = ("gauss", "normalvariate", "lognormvariate", "uniform")
MAKERS = {
    "Generator": lambda: np.random.default_rng(3),
    "MT19937": lambda: np.random.Generator(np.random.MT19937(3)),
    "RandomState": lambda: np.random.RandomState(3),
}
SHAPES = {
    "numbers": (0.7, 1.4, None),
    "size": (0.7, 1.4, (2, 3)),
    "arrays": (np.array([0.2, 0.7, 1.1]), np.array([[1.4], [2.0]]), None),
    "arrays and size": (np.array([0.2, 0.7, 1.1]), 1.4, (2, 3)),
    "an empty shape": (0.7, 1.4, ()),
    "one element": (np.array(0.7), 1.4, 1),
}


def same(a, b):
    return type(a) is type(b) and np.array_equal(a, b)


@pytest.mark.every(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", TWO + ONE)
def test_value_stream_and_slopes(name, maker, shape):
    """The draw and all later ones are NumPy's to the last bit; the slopes are those with the same seed."""
    first, second, size = SHAPES[shape]
    parameters = (first, second) if name in TWO else (second,)
    weights = np.arange(1.0, 7.0)

    def program(*parameters):
        rng = MAKERS[maker]()
        rng.standard_normal()
        y = getattr(rng, name)(*parameters, size=size)
        flat = np.ravel(y)
        return np.sum(flat * weights[: len(flat)]) + rng.random()

    value, gradient = rl.withgradient(program, *parameters)
    assert same(value, program(*parameters))
    for number, x in enumerate(parameters):
        for index in np.ndindex(np.shape(x)):

            def moved(h, number=number, index=index):
                there = [np.array(p, float) for p in parameters]
                there[number][index] += h
                return program(*[p if p.ndim else float(p) for p in there])

            slope = (moved(1e-6) - moved(-1e-6)) / 2e-6
            assert np.isclose(np.asarray(gradient[number])[index], slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", OF_PYTHON)
def test_pythons_generators(name):
    """Value, stream and slope of the functions of `random`."""

    def program(a, b):
        rng = random.Random(3)
        return getattr(rng, name)(a, b) * 2.0 + rng.random()

    assert rl.withgradient(program, 0.7, 1.4)[0] == program(0.7, 1.4)
    found = rl.gradient(program, 0.7, 1.4)
    wanted = [(program(0.7 + 1e-6, 1.4) - program(0.7 - 1e-6, 1.4)) / 2e-6]
    wanted += [(program(0.7, 1.4 + 1e-6) - program(0.7, 1.4 - 1e-6)) / 2e-6]
    assert np.allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("run", [rl.withgradient, lambda f, x: rl.pushforward(f, x)(1.0)])
@pytest.mark.parametrize("module", [np.random, random])
def test_a_generator_outside_draws_once(module, run):
    """The generator of the module stands afterwards where the plain program leaves it, first calls too."""
    draw = np.random.normal if module is np.random else random.gauss

    def program(x):
        return draw(x, 2.0) * draw(0.0, x)

    for seed in range(3):
        module.seed(seed)
        program(1.5)
        wanted = module.random()
        module.seed(seed)
        run(program, 1.5)
        assert module.random() == wanted


def test_numbers_of_zero_width():
    """The slope by a scale of 0 is the standard draw, not 0/0."""
    z = np.random.default_rng(0).normal()
    assert rl.gradient(lambda s: np.random.default_rng(0).normal(1e9, s), 0.0) == (z,)


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState, random.Random])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_other_draws_say_why_they_are_refused(kind, mode):
    """By position and by name; with constant parameters they are constants."""
    names = [name for name in _OTHERS if hasattr(kind(0), name)]
    assert len(names) > 4
    for name in names:

        def draw(x, name=name):
            return getattr(kind(0), name)(*(x, x)[: 1 if name == "paretovariate" else 2])

        with pytest.raises(NotDifferentiableError, match=f"A draw of {name} has no derivative"):
            rl.gradient(draw, 2.0) if mode == "reverse" else rl.pushforward(draw, 2.0)(1.0)
    with pytest.raises(NotDifferentiableError, match="A draw of gamma"):
        rl.gradient(lambda x: np.random.default_rng(0).gamma(shape=x), 2.0)
    assert rl.gradient(lambda x: x * np.random.default_rng(0).gamma(2.0), 1.5) == (
        np.random.default_rng(0).gamma(2.0),
    )
