"""A checkpointed call has the gradients of the plain call, in less memory, or says why it cannot."""

import tracemalloc

import numpy as np
import pytest

import rulelab as rl


def step(s, n):
    for _ in range(n):
        s = s * 0.999 + 1e-3 * s * s
    return s


def plain(x, blocks, n):
    s = x
    for _ in range(blocks):
        s = step(s, n)
    return s


def split(x, blocks, n):
    s = x
    for _ in range(blocks):
        s = rl.checkpointed(step, s, n)
    return s


def peak(f, *args):
    """The most memory that the gradient of f takes, in bytes."""
    rl.gradient(f, *args)
    tracemalloc.start()
    try:
        rl.gradient(f, *args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_same_gradient_in_less_memory():
    """A loop of 40,000 steps in 100 blocks: the very same gradient, and a fifth of the memory at most."""
    with rl.debug_mode(compare=False):
        assert rl.gradient(split, 0.5, 100, 400) == rl.gradient(plain, 0.5, 100, 400)
        assert peak(split, 0.5, 100, 400) < peak(plain, 0.5, 100, 400) / 5


def test_arguments_keywords_captures_and_objects():
    """Everything that a plain call gives a gradient gets it here."""

    def f(x, c, *, k, d=2.0):
        return x * x * c * k + d

    assert rl.gradient(lambda x, c, k: rl.checkpointed(f, x, c, k=k), 3.0, 2.0, 5.0) == (60.0, 45.0, 18.0)
    assert rl.gradient(lambda x, c: rl.checkpointed(lambda y: y * y * c, x) + x, 3.0, 2.0) == (13.0, 9.0)
    assert rl.gradient(lambda c: rl.checkpointed(lambda: c * c), 3.0) == (6.0,)
    assert rl.gradient(lambda x: rl.checkpointed(np.sum, x * x), np.ones(3))[0].tolist() == [2.0] * 3
    assert rl.gradient(lambda t: rl.checkpointed(lambda t: t[0] * t[1], t), (2.0, 3.0)) == ((3.0, 2.0),)

    def nested(x):
        return rl.checkpointed(lambda y: rl.checkpointed(lambda z: z * z * x, y) * y, x)

    assert rl.gradient(nested, 2.0) == (32.0,)

    def several(x):
        a, b = rl.checkpointed(lambda y: (y, y * y), x)
        return a * b

    assert rl.gradient(several, 2.0) == (12.0,)


def test_what_changes_later():
    """Lists and variables that change after the call had their values then."""

    def changed_list(x):
        xs = [x, x * x]
        y = rl.checkpointed(lambda xs: xs[0] * xs[1], xs)
        xs[0] = 5.0 * x
        return y + xs[0]

    def rebound(x):
        c = x

        def times(y):
            return y * c

        r = rl.checkpointed(times, x)
        c = 7.0
        return r * c

    assert rl.gradient(changed_list, 2.0) == (17.0,)
    assert rl.gradient(rebound, 2.0) == (28.0,)


def test_a_pullback_may_be_called_again():
    """Each call of the pullback runs the function again."""
    runs = []

    def f(x):
        rl.ignore_derivatives(lambda: runs.append(0))
        return x * x

    with rl.debug_mode(compare=False):
        y, back = rl.pullback(lambda x: rl.checkpointed(f, x), 3.0)
        assert (y, back(1.0), back(2.0)) == (9.0, (6.0,), (12.0,))
    assert len(runs) == 3


def test_changed_arguments():
    """An array that was changed between the sweeps is noticed."""
    x = np.ones(3)
    _, back = rl.pullback(lambda x: np.sum(rl.checkpointed(np.sin, x)), x)
    x[0] = 2.0
    with pytest.raises(rl.MutatedAfterCaptureError):
        back(1.0)


def test_another_value():
    """A function that gives another value the second time: an error, never the gradient of that one."""
    rate, numbers = [2.0], iter([1.0, 2.0, 3.0, 4.0])

    def rated(x):
        return x * rate[0]

    _, back = rl.pullback(lambda x: rl.checkpointed(rated, x), 3.0)
    rate[0] = 5.0
    with pytest.raises(rl.MutatedAfterCaptureError, match="A list that the pullback|a different value"):
        back(1.0)

    def drawn(x):
        return x * rl.ignore_derivatives(lambda: next(numbers))

    with rl.debug_mode(compare=False), pytest.raises(rl.MutatedAfterCaptureError, match="drawn returned a"):
        rl.gradient(lambda x: rl.checkpointed(drawn, x), 3.0)


class Settings:
    rate = 2.0


class Scaled:
    def __init__(self):
        self.rate, self.log = 2.0, []

    def __call__(self, x):
        rl.ignore_derivatives(lambda: self.log.append(1))
        return self.rate * x


RATE, RATES, BY_NAME, OWN, NUMBERS = 2.0, [2.0], {"rate": 2.0}, Settings(), np.random.default_rng(0)


def set_rate(rate):
    globals()["RATE"] = rate


def through_another(x):
    return RATE * x


READ_OUTSIDE = {
    "a global": (lambda x: RATE * x, set_rate),
    "a global of a callee": (lambda x: through_another(x), set_rate),
    "an item of a list": (lambda x: RATES[0] * x, lambda rate: RATES.__setitem__(0, rate)),
    "an entry of a dict": (lambda x: BY_NAME["rate"] * x, lambda rate: BY_NAME.update(rate=rate)),
    "an attribute": (lambda x: OWN.rate * x, lambda rate: setattr(OWN, "rate", rate)),
    "an attribute of a class": (lambda x: Settings.rate * x, lambda rate: setattr(Settings, "rate", rate)),
}


@pytest.mark.parametrize("case", READ_OUTSIDE)
@pytest.mark.parametrize("order", [1, 2])
def test_what_was_read_has_changed_and_the_value_has_not(case, order):
    """At 0 the value is 0 whatever the rate: a rate that has changed before the second run is noticed
    all the same, between the sweeps of `pullback` and within one gradient."""
    f, change = READ_OUTSIDE[case]
    change(2.0)

    def within(x):
        y = rl.checkpointed(f, x)
        rl.ignore_derivatives(lambda: change(5.0))
        return y

    try:
        assert rl.gradient(lambda x: rl.checkpointed(f, x), 0.0) == (2.0,)
        _, back = rl.pullback(lambda x: rl.checkpointed(f, x), 0.0)
        asked = (lambda c: rl.gradient(within, 0.0)[0] * c) if order == 2 else within
        with pytest.raises(rl.MutatedAfterCaptureError):
            rl.gradient(asked, 0.0)
        change(5.0)
        with pytest.raises(rl.MutatedAfterCaptureError):
            back(1.0)
    finally:
        change(2.0)


def test_draws_at_a_point_where_they_do_not_show():
    """A function that draws has other numbers in its second run."""
    with pytest.raises(rl.MutatedAfterCaptureError):
        rl.gradient(lambda x: rl.checkpointed(lambda x: NUMBERS.random() * x, x), 0.0)


def test_what_is_not_read_may_change():
    """Records, other attributes and what is only handed on may change between the runs."""
    scaled, records = Scaled(), []

    def f(x):
        records.append(1)
        return x * x

    def within(x):
        y = rl.checkpointed(scaled, x) + rl.checkpointed(lambda x: x * x, x)
        with rl.ignore_derivatives():
            records.append(float(x))
            scaled.other = 1
        return y

    assert rl.gradient(within, 3.0) == (8.0,)


def appends(x):
    out = [x]

    def add(v):
        out.append(v)
        return v * v

    return rl.checkpointed(add, x) + out[0]


def rebinds(x):
    count = x

    def more(v):
        nonlocal count
        count = count + v
        return v

    return rl.checkpointed(more, x) + count


def changes_argument(x):
    def change(xs):
        xs[0] = 5.0
        return xs[0] * x

    return rl.checkpointed(change, [x])


def gives_back(x):
    ys = rl.checkpointed(lambda xs: xs, [x])
    return ys[0]


def writes_array(x):
    def write(y):
        y[0] = x
        return np.sum(y)

    return rl.checkpointed(write, np.ones(3))


@pytest.mark.parametrize("f", [appends, rebinds, changes_argument, gives_back, writes_array])
def test_what_is_not_pure_is_refused(f):
    """What was made outside may not be changed inside, nor go out under its own name."""
    with pytest.raises(rl.RuleLabError) as caught:
        rl.gradient(f, 2.0)
    assert isinstance(caught.value, (rl.MutationError, rl.NotDifferentiableError, rl.UnsupportedSyntaxError))


def test_errors_and_rules():
    """An error of the function is its own; a rule inside is used in both runs."""

    def fails(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        rl.gradient(lambda x: rl.checkpointed(fails, x), 2.0)
    assert rl.checkpointed(pow, 2, 3) == 8

    def ruled(x):
        return x * x

    calls = []

    @rl.rrule_for(ruled)
    def ruled_rrule(x):
        calls.append(x)
        return x * x, lambda y_bar: (rl.NoTangent(), 100 * x * y_bar)

    assert rl.gradient(lambda x: rl.checkpointed(lambda y: ruled(y) + y, x), 3.0) == (301.0,)
    assert len(calls) >= 2
