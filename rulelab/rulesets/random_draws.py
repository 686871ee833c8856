"""Rules for random draws whose parameters move and stretch a standard draw: `y = loc + scale * z`, with the
same z (the reparameterisation of D. P. Kingma and M. Welling, "Auto-encoding variational Bayes", 2014).

The draw is made once, by the function itself, so that the value and the stream are those without rulelab.
The standard draw z is asked of a copy of the generator as it was before. Distributions whose parameters
change their shape have no such form here and are refused.
"""

import random

import numpy as np

from ..errors import NotDifferentiableError
from ..rules.rule_table import RuleTable
from ..tangents.projection import unbroadcast
from ..tangents.zeros import NoTangent
from .array_likes import dense

TABLE = RuleTable("random_draws")

# -- the standard draw ---------------------------------------------------------------------------------------


def state_of(generator):
    """What tells which numbers a generator will draw next."""
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    return generator.bit_generator.state


def standard_draw(generator, state, draw, shape):
    """The draw `(method, parameters)` of a copy of the generator from that state on."""
    name, standard = draw
    idle = _IDLE.get(_source(generator), [])
    try:
        twin = idle.pop()  # nobody else has it now: neither another thread nor what interrupts this one
    except IndexError:
        twin = _new_twin(generator)
    _set_state(twin, state)
    method = getattr(twin, name)
    z = method(*standard) if shape is None else method(*standard, shape)
    idle.append(twin)
    return z


def _source(generator):
    """Where the numbers of a generator come from: what tells whether another one draws the same."""
    if isinstance(generator, random.Random):
        return random.Random
    if isinstance(generator, np.random.RandomState):
        return np.random.RandomState, type(generator._bit_generator)
    return np.random.Generator, type(generator.bit_generator)


def _new_twin(generator):
    """A generator like this one, in whatever state."""
    if isinstance(generator, random.Random):
        return random.Random()
    if isinstance(generator, np.random.RandomState):
        return np.random.RandomState(type(generator._bit_generator)())
    return np.random.Generator(type(generator.bit_generator)())


def _set_state(generator, state):
    if isinstance(generator, random.Random):
        generator.setstate(state)
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.bit_generator.state = state


_SOURCES = (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
# Twins that have drawn and may be set to another state: to seed a new one takes longer than to draw.
_IDLE = {random.Random: []}
_IDLE |= {(kind, source): [] for kind in (np.random.Generator, np.random.RandomState) for source in _SOURCES}


def shape_of_draw(parameters, size):
    """The size that gives a draw with standard parameters the shape of one with these; None for a number."""
    if size is None and _NUMBERS.issuperset(map(type, parameters)):
        return None
    return size if size is not None else np.broadcast_shapes(*map(np.shape, parameters)) or None


_NUMBERS = frozenset({float, int, np.float64})


def ones_beside(z):
    return np.ones(np.shape(z)) if np.ndim(z) else 1.0


TABLE.non_differentiable(state_of, standard_draw, shape_of_draw, ones_beside)


# -- both rules of a draw ------------------------------------------------------------------------------------


def drawn(y, generator, state, draw, partials, parameters, size=None):
    """`(y, pullback)` of a draw y that was made from that state on; `partials(y, z, *parameters)` gives the
    derivative by each parameter, from the standard draw z.
    """

    def draw_pullback(y_bar):
        z = standard_draw(generator, state, draw, shape_of_draw(parameters, size))
        bars = [unbroadcast(y_bar * d, x) for d, x in zip(partials(y, z, *parameters), parameters)]
        return NoTangent(), NoTangent(), *bars, NoTangent()

    return y, draw_pullback


def drawn_dot(y, z, partials, parameters, dots):
    """The tangent of a draw, from those of its parameters."""
    total = 0.0
    for d, x, x_dot in zip(partials(y, z, *parameters), parameters, dots):
        total = total + d * dense(x, x_dot)
    return total


def by_place_and_scale(y, z, loc, scale):
    return ones_beside(z), z


def by_bounds(y, z, low, high):
    return 1.0 - z, z


def by_scale(y, z, scale):
    return (z,)


def by_logarithm(y, z, mean, sigma):
    return y, y * z


def by_rate(y, z, lambd):
    return (-y / lambd,)


def _state_place_and_scale(method):
    draw = method.__name__, (0.0, 1.0)

    @TABLE.rrule(method, leading=3)
    def draw_rrule(self, loc=0.0, scale=1.0, size=None):
        state = state_of(self)
        y = method(self, loc, scale, size)
        return drawn(y, self, state, draw, by_place_and_scale, (loc, scale), size)

    @TABLE.frule(method)
    def draw_frule(tangents, self, loc=0.0, scale=1.0, size=None):
        z = standard_draw(self, state_of(self), draw, shape_of_draw((loc, scale), size))
        y = method(self, loc, scale, size)
        return y, drawn_dot(y, z, by_place_and_scale, (loc, scale), dots_of(tangents, 2))


def dots_of(tangents, count):
    """The tangents of the parameters, also of those left out."""
    return (*tangents[2 : 2 + count], *(NoTangent(),) * (2 + count - len(tangents)))


def _state_bounds(method):
    draw = "uniform", (0.0, 1.0)

    @TABLE.rrule(method, leading=3)
    def draw_rrule(self, low=0.0, high=1.0, size=None):
        state = state_of(self)
        return drawn(method(self, low, high, size), self, state, draw, by_bounds, (low, high), size)

    @TABLE.frule(method)
    def draw_frule(tangents, self, low=0.0, high=1.0, size=None):
        z = standard_draw(self, state_of(self), draw, shape_of_draw((low, high), size))
        y = method(self, low, high, size)
        return y, drawn_dot(y, z, by_bounds, (low, high), dots_of(tangents, 2))


def _state_scale(method):
    draw = method.__name__, (1.0,)

    @TABLE.rrule(method, leading=2)
    def draw_rrule(self, scale=1.0, size=None):
        state = state_of(self)
        return drawn(method(self, scale, size), self, state, draw, by_scale, (scale,), size)

    @TABLE.frule(method)
    def draw_frule(tangents, self, scale=1.0, size=None):
        z = standard_draw(self, state_of(self), draw, shape_of_draw((scale,), size))
        y = method(self, scale, size)
        return y, drawn_dot(y, z, by_scale, (scale,), dots_of(tangents, 1))


def _state_logarithm(method):
    draw = "normal", (0.0, 1.0)

    @TABLE.rrule(method, leading=3)
    def draw_rrule(self, mean=0.0, sigma=1.0, size=None):
        state = state_of(self)
        return drawn(method(self, mean, sigma, size), self, state, draw, by_logarithm, (mean, sigma), size)

    @TABLE.frule(method)
    def draw_frule(tangents, self, mean=0.0, sigma=1.0, size=None):
        z = standard_draw(self, state_of(self), draw, shape_of_draw((mean, sigma), size))
        y = method(self, mean, sigma, size)
        return y, drawn_dot(y, z, by_logarithm, (mean, sigma), dots_of(tangents, 2))


for _kind in (np.random.Generator, np.random.RandomState):
    for _method in (_kind.normal, _kind.laplace, _kind.logistic, _kind.gumbel):
        _state_place_and_scale(_method)
    for _method in (_kind.exponential, _kind.rayleigh):
        _state_scale(_method)
    _state_bounds(_kind.uniform)
    _state_logarithm(_kind.lognormal)


# -- Python's own generators ---------------------------------------------------------------------------------


def _state_of_python(method, draw, partials):
    @TABLE.rrule(method, leading=3)
    def draw_rrule(self, mu=0.0, sigma=1.0):
        state = state_of(self)
        return drawn(method(self, mu, sigma), self, state, draw, partials, (mu, sigma))

    @TABLE.frule(method)
    def draw_frule(tangents, self, mu=0.0, sigma=1.0):
        z = standard_draw(self, state_of(self), draw, None)
        y = method(self, mu, sigma)
        return y, drawn_dot(y, z, partials, (mu, sigma), dots_of(tangents, 2))


_state_of_python(random.Random.gauss, ("gauss", (0.0, 1.0)), by_place_and_scale)
_state_of_python(random.Random.normalvariate, ("normalvariate", (0.0, 1.0)), by_place_and_scale)
_state_of_python(random.Random.lognormvariate, ("normalvariate", (0.0, 1.0)), by_logarithm)


@TABLE.rrule(random.Random.uniform, leading=3)
def uniform_rrule(self, a, b):
    state = state_of(self)
    return drawn(random.Random.uniform(self, a, b), self, state, ("random", ()), by_bounds, (a, b))


@TABLE.frule(random.Random.uniform)
def uniform_frule(tangents, self, a, b):
    z = standard_draw(self, state_of(self), ("random", ()), None)
    y = random.Random.uniform(self, a, b)
    return y, drawn_dot(y, z, by_bounds, (a, b), tangents[2:])


@TABLE.rrule(random.Random.expovariate, leading=2)
def expovariate_rrule(self, lambd=1.0):
    y = random.Random.expovariate(self, lambd)

    def draw_pullback(y_bar):
        (d,) = by_rate(y, None, lambd)
        return NoTangent(), NoTangent(), unbroadcast(y_bar * d, lambd)

    return y, draw_pullback


@TABLE.frule(random.Random.expovariate)
def expovariate_frule(tangents, self, lambd=1.0):
    y = random.Random.expovariate(self, lambd)
    return y, drawn_dot(y, 0.0, by_rate, (lambd,), dots_of(tangents, 1))


# -- draws that are no move of a standard one ----------------------------------------------------------------

_OTHERS = (
    "beta", "binomial", "chisquare", "dirichlet", "f", "gamma", "geometric", "hypergeometric", "logseries",
    "multinomial", "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f",
    "pareto", "poisson", "power", "standard_gamma", "standard_t", "triangular", "vonmises", "wald", "weibull",
    "zipf",
    "betavariate", "gammavariate", "vonmisesvariate", "paretovariate", "weibullvariate",
)  # fmt: skip


def refuse_draw(name):
    """NotDifferentiableError for a draw that varies by more than its place and scale."""
    raise NotDifferentiableError(
        f"A draw of {name} has no derivative with respect to its parameters here: they do more than shift "
        "and scale it",
        fixes=(
            "draw with constant parameters, and shift and scale the draw",
            "write a rule for the function that draws",
        ),
        read="limitations#random-draws",
    )


TABLE.non_differentiable(refuse_draw)


def _state_refusal(method):
    name = method.__name__

    @TABLE.stands_in(method, rest=1)
    def refused_draw(self, parameters=(), **words):
        return refuse_draw(name)


for _kind in (np.random.Generator, np.random.RandomState, random.Random):
    for _name in _OTHERS:
        if hasattr(_kind, _name):
            _state_refusal(getattr(_kind, _name))
