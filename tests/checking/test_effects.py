"""Tests of what a rule does besides computing: each thing that no rule may do is told."""

import traceback

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.calling.subjects import subject_of
from rulelab.checking.judgement.kept_state import state_that_raises

from .rules import registry_with
from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def double(x):
    return 2.0 * x


def keeps_a_buffer():
    buffer = np.zeros(3)

    def rule(x):
        def pullback(y_bar):
            buffer[...] = 0.0
            buffer[...] += 2.0 * y_bar
            return rl.NoTangent(), buffer

        return 2.0 * x, pullback

    return rule


def right_at_first():
    calls = []

    def rule(x):
        def pullback(y_bar):
            calls.append(1)
            return rl.NoTangent(), 2.0 * y_bar if len(calls) < 30 else 3.0 * y_bar

        return 2.0 * x, pullback

    return rule


def adds_up():
    def rule(x):
        total = np.zeros_like(x)

        def pullback(y_bar):
            nonlocal total
            total = total + 2.0 * y_bar
            return rl.NoTangent(), total

        return 2.0 * x, pullback

    return rule


def writes_its_cotangent():
    def rule(x):
        def pullback(y_bar):
            y_bar *= 2.0
            return rl.NoTangent(), y_bar

        return 2.0 * x, pullback

    return rule


def writes_its_argument():
    def rule(x):
        y = 2.0 * x
        x += 0.0
        x[0] = 7.0
        return y, lambda y_bar: (rl.NoTangent(), 2.0 * y_bar)

    return rule


def remembers_the_last_call():
    last = {}

    def rule(x):
        last["scale"] = np.ones_like(x) * 2.0 * x / x

        def pullback(y_bar):
            return rl.NoTangent(), y_bar * np.resize(last["scale"], y_bar.shape)

        last["scale"] = last["scale"] + (0.0 if x[0] == 1.5 else 1e-3)
        return 2.0 * x, pullback

    return rule


def standardised(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def standardised_with(get):
    last = {}

    def rule(x):
        z, spread = standardised(x), x.std(axis=0)
        last["z"] = z

        def pullback(z_bar):
            mine = get(last["z"], z)
            inner = np.mean(z_bar * mine, axis=0)
            return rl.NoTangent(), (z_bar - z_bar.mean(axis=0) - mine * inner) / spread

        return z, pullback

    return rule


def test_what_is_kept_of_other_arguments_is_seen_where_two_small_points_are_alike():
    """Of two rows that are centred and scaled there is but a sign."""
    kept = standardised_with(lambda last, own: last)
    found = rule_check(standardised, registry=registry_with(standardised, kept))
    words = "the pullback gives a different answer after the rule was called with other arguments"
    assert found.verdict == "wrong" and words in {finding.words for finding in found.findings}
    own = standardised_with(lambda last, own: own)
    assert rule_check(standardised, registry=registry_with(standardised, own)).verdict == "right"


X = np.array([1.5, 2.0, -3.0])


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "make, said",
    [
        (keeps_a_buffer, "changed what it had returned before|shares memory"),
        (right_at_first, "different answer|cotangent of x is wrong"),
        (adds_up, "different answer"),
        (writes_its_cotangent, "cotangent, which belongs to the caller|shares memory"),
        (writes_its_argument, "changes its argument x|changes x"),
        (remembers_the_last_call, "different answer|wrong"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_no_rule_may_do(make, said):
    """It is told in the words of the finding."""
    found = rule_check(double, X, registry=registry_with(double, make()))
    assert found.verdict == "wrong"
    import re

    assert any(re.search(said, finding.words) for finding in found.findings), found.findings


def test_a_rule_that_does_nothing_of_the_kind():
    """Passes."""

    def plain_rrule(x):
        return 2.0 * x, lambda y_bar: (rl.NoTangent(), 2.0 * y_bar)

    assert rule_check(double, X, registry=registry_with(double, plain_rrule))


def test_what_the_caller_changes_later_does_not_reach_a_pullback():
    """The AD refuses, which is right; a rule in the registry of the AD is asked through it."""

    def square(x):
        return x * x

    @rl.rrule_for(square)
    def square_rrule(x):
        return x * x, lambda y_bar: (rl.NoTangent(), 2.0 * x * y_bar)

    assert rule_check(square, X)


def test_a_forward_rule_that_writes_to_a_tangent():
    """Is told as well."""

    def writing_frule(tangents, x):
        _, x_dot = tangents
        x_dot *= 2.0
        return 2.0 * x, x_dot.copy()

    found = rule_check(double, X, registry=registry_with(double, writing_frule, "frule"))
    assert found.verdict == "wrong" and any("caller" in finding.words for finding in found.findings)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "f, rule",
    [
        (lambda a, b: a + b, lambda a, b: (a + b, lambda s: (rl.NoTangent(), s, s))),
        (lambda a, b: a[::-1] + b, lambda a, b: (a[::-1] + b, lambda s: (rl.NoTangent(), s[::-1], s))),
        (
            lambda a, b: np.sum(a) + np.sum(b),
            lambda a, b: (
                np.sum(a) + np.sum(b),
                lambda s: (rl.NoTangent(), np.broadcast_to(s, a.shape), np.broadcast_to(s, a.shape)),
            ),
        ),
    ],
)
def test_memory_that_is_shared_is_right_with_the_ad(f, rule):
    """And so it is by the check: the cotangent itself, views of it, what may not be written to."""
    assert rule_check(f, X, X + 1, registry=registry_with(f, rule))
    rl.rrule_for(f)(rule)

    def loss(a, b):
        z = f(a, b)
        return np.sum(z * z) + np.sum(f(a, a)) + np.sum(f(b, a) * a)

    def plain(x):
        g = f.__wrapped__ if hasattr(f, "__wrapped__") else f
        a, b = x[:3], x[3:]
        z = g(a, b)
        return np.sum(z * z) + np.sum(g(a, a)) + np.sum(g(b, a) * a)

    from rulelab.checking import fd_gradient

    found = np.concatenate(rl.gradient(loss, X, X + 1))
    np.testing.assert_allclose(found, np.ravel(fd_gradient(plain, np.concatenate([X, X + 1]))), rtol=1e-7)


def cotangent_shared(x):
    return 2.0 * x, lambda y_bar: (rl.NoTangent(), y_bar[:])


def cotangent_read_only(x):
    return np.sum(x), lambda y_bar: (rl.NoTangent(), np.broadcast_to(y_bar, x.shape))


def cotangent_written(x):
    def pullback(y_bar):
        y_bar *= 2.0
        return rl.NoTangent(), y_bar.copy()

    return 2.0 * x, pullback


@pytest.mark.parametrize(
    ("rule", "f", "shared"),
    [
        (cotangent_shared, lambda x: 2.0 * x, True),
        (cotangent_read_only, np.sum, True),
        (cotangent_written, lambda x: 2.0 * x, False),
    ],
)
def test_debug_mode_tells_shared_memory_by_an_attribute(rule, f, shared):
    """To share is no mistake, as the AD copies what it is handed: a check asks for that, not for words."""

    def primal(x):
        return f(x)

    rl.rrule_for(primal)(rule)
    with pytest.raises(rl.RuleEffectsError) as caught, rl.debug_mode():
        rl.gradient(lambda x: np.sum(primal(x)), np.ones(3))
    assert caught.value.is_sharing is shared


def keeps_what_it_was_asked():
    """Arrays of all calls are in one list: where lengths change they do not go together any more."""
    kept = []

    def rule(x):
        kept.append(x)

        def pullback(y_bar):
            return rl.NoTangent(), sum(2.0 * y_bar + 0.0 * each for each in kept) / len(kept)

        return 2.0 * x, pullback

    return rule


def test_a_rule_that_fails_for_what_it_was_asked_before_is_wrong_and_does_not_end_the_check():
    def doubled(x):
        return 2.0 * x

    rl.rrule_for(doubled)(keeps_what_it_was_asked())
    assert rule_check(doubled, np.array([1.0, 2.5])).verdict == "wrong"


def cube(x):
    return x**3


def failing_at(number, in_pullback):
    calls = []

    def step(is_pullback):
        calls.append(1) if is_pullback == in_pullback else None
        if is_pullback == in_pullback and len(calls) == number:
            raise RuntimeError("not now")

    def rule(x):
        step(False)

        def pullback(y_bar):
            step(True)
            return rl.NoTangent(), 3.0 * x**2 * y_bar

        return x**3, pullback

    return rule


@pytest.mark.parametrize("in_pullback", [False, True])
@pytest.mark.parametrize("number", range(1, 13))
def test_what_a_rule_raises_at_any_call_is_a_finding_and_never_leaves_the_check(number, in_pullback):
    registry = registry_with(cube, failing_at(number, in_pullback))
    report = rule_check(cube, 2.0, depth="quick", registry=registry)
    assert report.verdict in ("right", "wrong", "inconclusive")


def test_what_a_rule_raises_when_its_arguments_were_changed_is_a_finding():
    def doubled(x):
        return 2.0 * x

    @rl.rrule_for(doubled)
    def rule(x):
        def pullback(y_bar):
            if any(frame.name == "changed_later" for frame in traceback.extract_stack()):
                raise RuntimeError("not now")
            return rl.NoTangent(), 2.0 * y_bar

        return 2.0 * x, pullback

    report = rule_check(doubled, np.array([1.0, 2.5]))
    assert report.verdict == "wrong" and "not now" in str(report)


def test_a_number_in_an_array_without_axes_is_the_same_value():
    def rule(x):
        return np.asarray(np.sum(x)), lambda y_bar: (rl.NoTangent(), y_bar * np.ones_like(x))

    def total(x):
        return np.sum(x)

    assert rule_check(total, np.array([1.0, 2.5]), registry=registry_with(total, rule)).verdict == "right"


# --- how a cotangent lies in memory, and whether it may be written to ---------------------------------------

MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
WEIGHTS = np.array([1.0, 2.0, 3.0])


def weighted(t):
    return t * WEIGHTS


def table(a, b):
    return np.outer(a, b)


def by_cotangent(f, *cotangents):
    """A rule of `f` whose cotangents are functions of (y_bar, *xs)."""

    def rule(*xs):
        return f(*xs), lambda y_bar: (rl.NoTangent(), *(cotangent(y_bar, *xs) for cotangent in cotangents))

    return rule


def in_order_of_memory(y_bar):
    return y_bar.ravel(order="K").reshape(y_bar.shape)


def in_order(y_bar):
    return y_bar.ravel(order="C").reshape(y_bar.shape)


def as_if_next_to_each_other(y_bar, backwards=True):
    forwards = y_bar.strides[0] > 0
    if forwards == backwards:
        return y_bar
    return np.lib.stride_tricks.as_strided(y_bar, y_bar.shape, (y_bar.itemsize,))


# The function, arguments, a wrong rule and one that looks like it and is right.
LYING = {
    "Fortran's order": (
        double,
        (MATRIX,),
        [lambda y_bar, x: 2.0 * in_order_of_memory(y_bar)],
        [lambda y_bar, x: 2.0 * in_order(y_bar)],
    ),
    "the order of bytes": (
        double,
        (MATRIX,),
        [lambda y_bar, x: 2.0 * np.frombuffer(y_bar.tobytes("A")).reshape(y_bar.shape)],
        [lambda y_bar, x: 2.0 * np.frombuffer(y_bar.tobytes()).reshape(y_bar.shape)],
    ),
    "Fortran's order, of vectors": (
        table,
        (X, X[:2] + 1.0),
        [lambda y_bar, a, b: in_order_of_memory(y_bar) @ b, lambda y_bar, a, b: a @ y_bar],
        [lambda y_bar, a, b: in_order(y_bar) @ b, lambda y_bar, a, b: a @ y_bar],
    ),
    "backwards": (
        double,
        (X,),
        [lambda y_bar, x: 2.0 * as_if_next_to_each_other(y_bar)],
        [lambda y_bar, x: 2.0 * np.ascontiguousarray(y_bar)],
    ),
    "backwards, of a number": (
        weighted,
        (2.5,),
        [lambda y_bar, t: as_if_next_to_each_other(y_bar) @ WEIGHTS],
        [lambda y_bar, t: y_bar @ WEIGHTS],
    ),
    "gaps": (
        double,
        (X,),
        [lambda y_bar, x: 2.0 * as_if_next_to_each_other(y_bar, backwards=False)],
        [lambda y_bar, x: 2.0 * y_bar[:]],
    ),
    "gaps, of a number": (
        weighted,
        (2.5,),
        [lambda y_bar, t: as_if_next_to_each_other(y_bar, backwards=False) @ WEIGHTS],
        [lambda y_bar, t: y_bar[:] @ WEIGHTS],
    ),
    "read-only": (
        double,
        (X,),
        [lambda y_bar, x: (2.0 if y_bar.flags.writeable else 3.0) * y_bar],
        [lambda y_bar, x: 2.0 * (y_bar if y_bar.flags.writeable else y_bar.copy())],
    ),
    "read-only, of a number": (
        weighted,
        (2.5,),
        [lambda y_bar, t: (y_bar if y_bar.flags.writeable else 2.0 * y_bar) @ WEIGHTS],
        [lambda y_bar, t: (y_bar if y_bar.flags.writeable else y_bar.copy()) @ WEIGHTS],
    ),
}


def verdicts(f, make, at):
    """What is said of a rule, by a quick check and by a whole one; each has a rule of its own."""
    depths = ("quick", "normal")
    return [rule_check(f, *at, depth=depth, registry=registry_with(f, make())).verdict for depth in depths]


@pytest.mark.every(11)
@pytest.mark.parametrize("name", LYING)
def test_an_answer_that_depends_on_how_its_cotangent_lies_in_memory_is_wrong(name):
    """One that copies what lies otherwise is right."""
    f, at, wrong, right = LYING[name]
    assert verdicts(f, lambda: by_cotangent(f, *right), at) == ["right", "right"]
    assert verdicts(f, lambda: by_cotangent(f, *wrong), at) == ["wrong", "wrong"]


def pooled(s, V):
    w = np.exp(s - s.max())
    return w @ V / w.sum()


def pooled_with(of_rows):
    def rule(s, V):
        w = np.exp(s - s.max())
        w = w / w.sum()
        y = w @ V

        def pullback(y_bar):
            return rl.NoTangent(), w * (of_rows(V @ y_bar) - y @ y_bar), np.outer(w, y_bar)

        return y, pullback

    return rule


@pytest.mark.slow
def test_terms_that_cancel_are_equal_to_the_last_digits_of_what_cancelled():
    """BLAS sums otherwise where a cotangent lies backwards, and what is left of a difference shows it."""
    s = np.array([0.0, -30.0, -31.0, -33.0])
    at = s, np.sin(np.arange(4.0 * 37)).reshape(4, 37)
    assert rule_check(pooled, *at, registry=registry_with(pooled, pooled_with(np.abs))).verdict == "wrong"
    assert rule_check(pooled, *at, registry=registry_with(pooled, pooled_with(np.array))).verdict == "right"


# --- one buffer for all answers -----------------------------------------------------------------------------


def pair(d):
    return d["a"] * d["b"]


def of_both(s):
    return s[0] * s[1]


def buffer_of_a_pullback(handed_out):
    def rule(x):
        made = np.empty_like(x)

        def pullback(y_bar):
            np.multiply(y_bar, 2.0, out=made)
            return rl.NoTangent(), handed_out(made)

        return 2.0 * x, pullback

    return rule


def delayed_buffer(handed_out):
    def rule(x):
        made = np.empty_like(x)

        def pullback(y_bar):
            return rl.NoTangent(), rl.Thunk(lambda: handed_out(np.multiply(y_bar, 2.0, out=made)))

        return 2.0 * x, pullback

    return rule


def one_dict(handed_out):
    def rule(d):
        bars = {"a": 0.0, "b": 0.0}

        def pullback(y_bar):
            bars["a"], bars["b"] = y_bar * d["b"], y_bar * d["a"]
            return rl.NoTangent(), handed_out(bars)

        return pair(d), pullback

    return rule


def one_list(handed_out):
    bars = [None, None]

    def rule(s):
        def pullback(y_bar):
            bars[:] = y_bar * s[1], y_bar * s[0]
            return rl.NoTangent(), handed_out(bars)

        return of_both(s), pullback

    return rule


def doubled_in(kept, x):
    """Twice an array, in a buffer that is kept for others of its shape."""
    made = kept.setdefault(np.shape(x), np.empty(np.shape(x)))
    return np.multiply(x, 2.0, out=made)


def buffer_of_values(handed_out):
    kept = {}

    def rule(x):
        return handed_out(doubled_in(kept, x)), lambda y_bar: (rl.NoTangent(), 2.0 * y_bar)

    return rule


def buffer_of_several_values(handed_out):
    kept = {}

    def rule(x):
        y = handed_out(doubled_in(kept, x)), np.sum(x)
        return y, lambda y_bar: (rl.NoTangent(), 2.0 * y_bar[0] + y_bar[1])

    return rule


def doubled_and_summed(x):
    return 2.0 * x, np.sum(x)


BUFFERS = {
    "of a pullback": (double, (X,), buffer_of_a_pullback),
    "of delayed cotangents": (double, (X,), delayed_buffer),
    "a dict": (pair, ({"a": 2.0, "b": -3.0},), one_dict),
    "a list of arrays": (of_both, ([X, X + 1.0],), one_list),
    "of values": (double, (X,), buffer_of_values),
    "of one of several values": (doubled_and_summed, (X,), buffer_of_several_values),
}


def copied(x):
    return type(x)(x) if isinstance(x, (dict, list)) else x.copy()


@pytest.mark.every(7)
@pytest.mark.parametrize("name", BUFFERS)
def test_one_buffer_for_all_answers_is_wrong(name):
    """The numbers are right each time, and what was answered before is not what it was; a copy is right."""
    f, at, make = BUFFERS[name]
    assert verdicts(f, lambda: make(copied), at) == ["right", "right"]
    assert verdicts(f, lambda: make(lambda made: made), at) == ["wrong", "wrong"]


@pytest.mark.parametrize("which", ["value", "tangent"])
def test_one_buffer_for_all_answers_of_a_forward_rule_is_wrong(which):
    def with_buffer(handed_out):
        kept = {}

        def rule(tangents, x):
            answer = {"value": x, "tangent": tangents[1]}
            made = doubled_in(kept, answer[which])
            answer = {name: 2.0 * numbers for name, numbers in answer.items()} | {which: handed_out(made)}
            return answer["value"], answer["tangent"]

        return registry_with(double, rule, "frule")

    for handed_out, verdict in ((copied, "right"), (lambda made: made, "wrong")):
        found = rule_check(double, X, mode="frule", registry=with_buffer(handed_out))
        assert found.verdict == verdict, str(found)


# --- what is kept of an earlier call ------------------------------------------------------------------------


def average(x):
    return np.sum(x) / len(x)


def rule_of_average(length):
    """A rule that asks `length(kept, x)` when it is called, and what it gives when its pullback is."""

    def make():
        kept = {}

        def rule(x):
            known = length(kept, x)
            return average(x), lambda y_bar: (rl.NoTangent(), np.full(len(x), y_bar / known()))

        return rule

    return make


def of_the_first_call(kept, x):
    kept.setdefault("length", len(x))
    return lambda: kept["length"]


def of_the_last_call(kept, x):
    kept["length"] = len(x)
    return lambda: kept["length"]


def of_its_own_call(kept, x):
    length = kept["length"] = len(x)
    return lambda: length


def by_length(kept, x):
    length = kept.setdefault(len(x), len(x))
    return lambda: length


@pytest.mark.every(2)
@pytest.mark.parametrize("at", [(), (X,)], ids=["given nothing", "given"])
@pytest.mark.parametrize("length", [of_the_first_call, of_the_last_call], ids=lambda length: length.__name__)
def test_a_length_that_is_held_from_another_call_is_wrong(length, at):
    assert verdicts(average, rule_of_average(length), at) == ["wrong", "wrong"]


@pytest.mark.every(2)
@pytest.mark.parametrize("at", [(), (X,)], ids=["given nothing", "given"])
@pytest.mark.parametrize("length", [of_its_own_call, by_length], ids=lambda length: length.__name__)
def test_a_length_that_is_that_of_its_own_call_is_right(length, at):
    assert verdicts(average, rule_of_average(length), at) == ["right", "right"]


def product_of(a, b):
    return a * b


def rule_that_keeps(key):
    def make():
        kept = {}

        def rule(a, b):
            y = kept.setdefault(key(a, b), a * b)
            return y.copy(), lambda y_bar: (rl.NoTangent(), b * y_bar, a * y_bar)

        return rule

    return make


@pytest.mark.every(5, slow=True)
@pytest.mark.parametrize("at", [(), (X, X + 1.0)], ids=["given nothing", "given"])
@pytest.mark.parametrize("which", ["a", "b"])
def test_a_value_that_is_kept_by_one_argument_of_two_is_wrong(which, at):
    """Where both change at once it is right; one that is kept by all of them is right."""
    of_both = rule_that_keeps(lambda a, b: (np.asarray(a).tobytes(), np.asarray(b).tobytes(), np.shape(a)))
    assert verdicts(product_of, of_both, at) == ["right", "right"]
    number = "ab".index(which)
    of_one = rule_that_keeps(lambda *xs: (np.asarray(xs[number]).tobytes(), np.shape(xs[number])))
    assert verdicts(product_of, of_one, at) == ["wrong", "wrong"]


GROWING = """
terms = []


def f(a, b):
    if b <= 0:
        raise ValueError(b)
    total = 0.0
    for t in range(3):
        total = total + a * b**-t
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b):
    terms = []
    for t in range(3):
        terms.append(b**-t)

    def back(y_bar):
        b_bar = sum(-t * term for t, term in zip(range(3), terms)) * a / b
        return rl.NoTangent(), y_bar * sum(terms), y_bar * b_bar

    return f(a, b), back
"""


def test_what_a_rule_raises_for_what_it_has_kept_is_its_fault():
    """Arrays of several shapes are left in the list by the search for arguments; what is there stays."""
    assert judged(GROWING).verdict == "right"
    made = written(GROWING.replace("    terms = []\n    for", "    for"))
    report = rule_check(made["f"], registry=made["registry"])
    assert report.verdict == "wrong"
    point = next(finding.probe for finding in report.findings if finding.probe is not None)
    made["terms"][:] = [np.ones(3), np.ones((2, 4))]
    subject, _ = subject_of(made["f"], (2.0, 1.5), {}, registry=made["registry"])
    assert state_that_raises(subject, point) == "terms"
    assert [term.shape for term in made["terms"][:2]] == [(3,), (2, 4)]
