"""Arguments go to the parameters that Python gives them to, whatever way a call takes."""

import itertools

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.calls import pullbacks
from rulelab.compiler.calls.binding import bind, flags_by_slot, flags_in_order, in_order

from ...differences import gradient_by_differences

pytestmark = pytest.mark.usefixtures("as_users_run_it")
XS = np.array([0.7, -1.3, 2.1])


def all_kinds(a, /, b, c=3, *, d, e=5): ...
def without_defaults(a, b): ...
def defaults_alone(a=1, b=2): ...
def by_name_alone(*, a, b=2): ...
def with_rest(a, *rest, b=1): ...
def with_words(a, **words): ...


FUNCTIONS = [all_kinds, without_defaults, defaults_alone, by_name_alone, with_rest, with_words]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_order_is_that_of_the_parameters(f):
    """For each call with these numbers of arguments and these names: the same values and flags as by the
    slower way, and None where that raises.
    """
    fits = 0
    for count in range(5):
        for names in itertools.chain.from_iterable(itertools.permutations("abcdef", n) for n in range(4)):
            args, words = tuple(range(10, 10 + count)), {name: name * 2 for name in names}
            found = in_order(f, args, words)
            try:
                values, where = bind(f, args, words)
            except TypeError:
                assert found is None
                continue
            if f.__code__.co_flags & 0x0C:
                assert found is None
                continue
            fits += 1
            assert found == values
            flags = tuple(number % 2 == 0 for number in range(count + len(words)))
            assert list(flags_in_order(f, count, words, flags)) == flags_by_slot(len(values), where, flags)
    assert fits or f.__code__.co_flags & 0x0C


def powers(x, scale=2.0, *, power=2):
    y = x * 0.0 + 1.0
    for _ in range(power):
        if np.sum(y) > 1e9:
            break
        y = y * x
    return y * scale


def by_words(x):
    return np.sum(powers(x, power=3)) * np.sum(powers(scale=0.5, x=x)) + np.sum(powers(x))


def words_that_vary(x):
    total = 0.0
    for k in range(3):
        total += np.sum(powers(XS, power=k, scale=x[k]) * powers(power=2, x=x))
    return total


def only_the_word_varies(x):
    return np.sum(powers(XS, scale=x[0] * x[1])) + np.sum(powers(XS, scale=x[2], power=1))


class Model:
    """An object whose method takes words."""

    def __init__(self, weights, *, bias=0.5):
        self.weights = weights
        self.bias = bias

    def predict(self, x, *, scale=1.0, squared=False):
        y = np.sum(self.weights * x) + self.bias
        for _ in range(2):
            if squared:
                y = y * y
        return y * scale


def methods(x):
    model = Model(x * 2.0, bias=x[0])
    return model.predict(x, scale=x[1]) + model.predict(x, squared=True) + Model(x).predict(XS, scale=2.0)


def nested_with_defaults(x):
    def g(y, k=x[0], *, m=x[1]):
        for _ in range(2):
            if k > 1e9:
                break
            y = y * k
        return y + m

    return g(x[2]) + g(x[1], m=2.0) + g(1.0, k=x[2]) + g(2.0, 3.0, m=x[0])


def with_lists(x):
    def weigh(values, *, by):
        total = 0.0
        for v, w in zip(values, by):
            if v > 1e9:
                break
            total = total + v * w
        return total

    by = [x[0], 2.0, x[1]]
    first = weigh([x[1], x[2], 1.0], by=by)
    by[1] = x[2]
    return first * weigh(by=by, values=[x[0], 3.0, x[2]])


CALLERS = [by_words, words_that_vary, only_the_word_varies, methods, nested_with_defaults, with_lists]


@pytest.mark.parametrize("f", CALLERS)
def test_calls_by_keyword_inside_are_right_in_every_mode(f):
    """At the first call, and where they go by what was found before; forwards and of the second order."""
    wanted = gradient_by_differences(f, XS)
    for _ in range(3):
        np.testing.assert_allclose(rl.gradient(f, XS)[0], wanted, rtol=1e-6, atol=1e-7)
    by_forward = [rl.pushforward(f, XS)(e) for e in np.eye(3)]
    np.testing.assert_allclose(by_forward, wanted, rtol=1e-6, atol=1e-7)
    second = gradient_by_differences(lambda x: rl.gradient(f, x)[0], XS, 1e-5)
    np.testing.assert_allclose(rl.hessian(f, XS), second, rtol=1e-4, atol=1e-4)


def test_they_are_not_looked_for_again():
    """The second time no pass is looked for by signature."""
    counted = []
    before = pullbacks.Pullbacks.pass_of

    def counting(self, *asked, **words):
        counted.append(asked[0])
        return before(self, *asked, **words)

    for _ in range(2):
        rl.gradient(by_words, XS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pullbacks.Pullbacks, "pass_of", counting)
        rl.gradient(by_words, XS)
    assert counted == []


def test_defaults_are_those_of_the_moment(monkeypatch):
    """A default of a function that is called inside is taken anew at each call."""
    assert rl.gradient(of_default, 2.0) == rl.gradient(of_default, 2.0) == (16.0,)
    monkeypatch.setattr(cubed, "__kwdefaults__", {"scale": 10.0})
    assert rl.gradient(of_default, 2.0) == (40.0,)
    monkeypatch.setattr(cubed, "__kwdefaults__", {"scale": np.array([1.0, 2.0])})
    np.testing.assert_allclose(rl.gradient(of_default, 2.0)[0], 12.0)


def cubed(x, *, scale=4.0):
    for _ in range(2):
        if x > 1e9:
            break
    return x * x * scale


def of_default(x):
    return np.sum(cubed(x))


def test_a_rule_inside_counts_from_the_moment_it_is_there():
    """A rule for a function that is called by keyword is asked from then on, and no longer once it goes."""

    def halved(x, *, by=2.0):
        for _ in range(2):
            if x > 1e9:
                break
        return x / by

    f = lambda x: halved(x, by=4.0) * 2.0
    assert rl.gradient(f, 1.0) == rl.gradient(f, 1.0) == (0.5,)

    @rl.rrule_for(halved)
    def halved_rrule(x, *, by=2.0):
        return x / by, lambda y_bar: (rl.NoTangent(), 7.0 * y_bar)

    assert rl.gradient(f, 1.0) == (14.0,)
    rl.remove_rule(halved)
    assert rl.gradient(f, 1.0) == (0.5,)


def test_calls_that_do_not_fit_are_pythons_errors():
    """Before and after such calls have been answered."""
    wrong = (
        lambda x: powers(x, power=2, other=1),
        lambda x: powers(x, 1.0, scale=2.0),
        lambda x: powers(x, 1.0, 2),
        lambda x: powers(scale=x),
    )
    for _ in range(2):
        for f in wrong:
            for derive in (rl.gradient, rl.pullback, lambda f, x: rl.pushforward(f, x)(x)):
                with pytest.raises(TypeError, match="powers"):
                    derive(f, XS)
            with pytest.raises(TypeError, match="powers"):
                rl.gradient(lambda x: x[0] * powers(1.0, 1.0, 2), XS)  # of constants
            with pytest.raises(TypeError, match="powers"):
                rl.gradient(powers, XS, 1.0, 2)
        rl.gradient(by_words, XS)


def slope_of(f, x=2.0):
    """By forward mode, at the first call and later."""
    found = [rl.pushforward(f, x)(1.0) for _ in range(3)]
    assert found[0] == found[1] == found[2]
    return found[0]


def stepped(x, k=3.0, *, shift=0.0):
    for _ in range(2):
        if x > 1e9:
            break
        x = x * k
    return x + shift * factor(x)


def factor(x):
    return x * x


def forwards(x):
    return stepped(x) + stepped(x, shift=x) * stepped(2.0, k=x)


def test_forward_mode_notices_what_changes(monkeypatch):
    """Calls that go by what was found before, forwards: a rule, a default, a global and other kinds count."""
    by_differences = lambda f, x=2.0, h=1e-5: (f(x + h) - f(x - h)) / (2 * h)
    np.testing.assert_allclose(slope_of(forwards), by_differences(forwards), rtol=1e-6)
    monkeypatch.setattr(stepped, "__defaults__", (0.5,))
    np.testing.assert_allclose(slope_of(forwards), by_differences(forwards), rtol=1e-6)
    monkeypatch.setitem(globals(), "factor", lambda x: 3.0 * x)
    np.testing.assert_allclose(slope_of(forwards), by_differences(forwards), rtol=1e-6)
    monkeypatch.undo()
    np.testing.assert_allclose(slope_of(forwards), by_differences(forwards), rtol=1e-6)
    constant = lambda x: stepped(3, k=2, shift=1) * x  # of whole numbers, and of what stands still
    np.testing.assert_allclose(slope_of(constant), 12 + 144)
    arrays = lambda x: np.sum(stepped(np.array([1.0, x]), k=np.array([x, 2.0])))
    quiet = lambda x: np.sum(np.array([1.0, x]) * np.array([x, 2.0]) ** 2)
    with pytest.raises(ValueError, match="ambiguous"):
        rl.pushforward(arrays, 2.0)(1.0)
    np.testing.assert_allclose(slope_of(quiet), by_differences(quiet), rtol=1e-6)
    try:

        @rl.frule_for(stepped)
        def stepped_frule(dots, x, k=3.0, *, shift=0.0):
            return stepped(x, k, shift=shift), 1000.0

        assert slope_of(lambda x: stepped(x)) == 1000.0
    finally:
        rl.remove_rule(stepped)
    np.testing.assert_allclose(slope_of(forwards), by_differences(forwards), rtol=1e-6)


def test_forward_mode_has_what_a_nested_function_holds():
    """What a nested function captures, or has for defaults, varies or not from call to call."""

    def made(x, k):
        def g(y, by=k, *, plus=k):
            for _ in range(2):
                if y > 1e9:
                    break
                y = y * by
            return y + plus * k

        return g

    f = lambda x: made(x, x)(2.0) + made(x, 3.0)(x) + made(x, x)(x, plus=1.0) + made(x, 2.0)(x, by=x)
    h = 1e-5
    np.testing.assert_allclose(slope_of(f), (f(2.0 + h) - f(2.0 - h)) / (2 * h), rtol=1e-6)


def test_forward_mode_of_the_second_order():
    """Forwards over forwards and over reverse, where the inner derivative calls by keyword."""
    inner = lambda x: rl.pushforward(forwards, x)(1.0)
    outer = lambda x: rl.gradient(forwards, x)[0]
    h = 1e-4
    second = (inner(2.0 + h) - inner(2.0 - h)) / (2 * h)
    np.testing.assert_allclose(slope_of(inner), second, rtol=1e-5)
    np.testing.assert_allclose(slope_of(outer), second, rtol=1e-5)
    np.testing.assert_allclose(rl.gradient(inner, 2.0)[0], second, rtol=1e-5)
