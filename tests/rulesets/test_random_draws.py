"""Draws by what varies: the numbers and the stream of the plain program, and the slope with these numbers."""

import random
import sys
import threading

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


GENERATORS = {
    "default": lambda seed: np.random.default_rng(seed),
    "MT19937": lambda seed: np.random.Generator(np.random.MT19937(seed)),
    "RandomState": lambda seed: np.random.RandomState(seed),
    "Python": random.Random,
}


def several(x, kinds):
    """Draws of several generators in turns, in a loop, so that each site meets all of them."""
    rngs = [GENERATORS[kind](number) for number, kind in enumerate(kinds)]
    total = 0.0
    for turn in range(3):
        for rng in rngs:
            draw = rng.gauss if isinstance(rng, random.Random) else rng.normal
            total += draw(x, x * x) * (turn + rng.uniform(x, 2 * x + 1))
    return total


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_generators_in_turns(mode):
    """Each generator's draw is that of its own stream, the first time and later."""
    kinds = tuple(GENERATORS) + ("default", "Python")
    f = lambda x: several(x, kinds)
    wanted = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    for _ in range(3):
        found = rl.gradient(f, 0.7)[0] if mode == "reverse" else rl.pushforward(f, 0.7)(1.0)
        np.testing.assert_allclose(found, wanted, rtol=1e-7)


def one_site(x, rng):
    return rng.normal(x, 2.0 * x) * rng.normal(x, 1.0)


def test_one_site_for_generators_of_all_classes():
    """What was found for a generator counts for no object of another class, nor for one that says itself what
    its method is.
    """

    class Shifted(np.random.RandomState):
        def normal(self, loc=0.0, scale=1.0, size=None):
            return 100.0 + 3.0 * loc

    class Chosen:
        normal = staticmethod(lambda loc, scale: loc * scale)

    def slope(make):
        return (one_site(0.7 + 1e-6, make()) - one_site(0.7 - 1e-6, make())) / 2e-6

    kinds = [GENERATORS["default"], GENERATORS["RandomState"], lambda _: Chosen(), Shifted]
    for make in kinds * 2:
        found = rl.gradient(one_site, 0.7, make(5))[0]
        np.testing.assert_allclose(found, slope(lambda make=make: make(5)), rtol=1e-6)


def of_gauss(x, rng):
    return rng.gauss(x, 2.0)


def test_a_method_that_an_object_has_for_itself(monkeypatch):
    """An attribute of a generator by the name of a method is what is called; and so is a method of the class
    that was replaced.
    """
    assert [rl.gradient(of_gauss, 0.7, random.Random(3)) for _ in range(2)] == [(1.0, None)] * 2
    rng = random.Random(3)
    rng.gauss = lambda mu, sigma: mu * sigma
    np.testing.assert_allclose(rl.gradient(of_gauss, 0.7, rng)[0], 2.0)
    monkeypatch.setattr(random.Random, "gauss", lambda self, mu, sigma: 5.0 * mu)
    np.testing.assert_allclose(rl.gradient(of_gauss, 0.7, random.Random(3))[0], 5.0)


def test_an_outer_generator_draws_once_each_time():
    """What a sweep draws is noted also where the handler was found before: nothing draws twice."""
    rng, same_rng = np.random.default_rng(3), np.random.default_rng(3)
    f = lambda x: rng.normal(x, x) * rng.uniform(0.0, x)
    for _ in range(4):
        value = rl.withgradient(f, 0.7).val
        assert value == same_rng.normal(0.7, 0.7) * same_rng.uniform(0.0, 0.7)


def test_draws_of_threads_do_not_meet():
    """Gradients in several threads have the slopes of their own draws."""
    wanted = {seed: rl.gradient(seeded, 0.7, seed, argnums=0)[0] for seed in range(8)}
    found = {}

    def many(seed):
        found[seed] = {rl.gradient(seeded, 0.7, seed, argnums=0)[0] for _ in range(40)}

    threads = [threading.Thread(target=many, args=(seed,)) for seed in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert found == {seed: {slope} for seed, slope in wanted.items()}


def seeded(x, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(x, x) * rng.normal(x, 2.0 * x)
