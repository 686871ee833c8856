"""Wrong rules of each class that concerns count, shape, dtype, effects and aliasing: debug mode alone finds
them all, names the rule and its line, and lets right rules pass.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.rules.lent import DEBUGGING, shares

X = np.arange(6.0).reshape(2, 3) + 1.0
NO = rl.NoTangent()


def scaled(x, w):
    """What all the rules below are for."""
    return x * w[0]


def right(x, w):
    def scaled_pullback(y_bar):
        return NO, y_bar * w[0], np.array([np.sum(x * y_bar), 0.0])

    return x * w[0], scaled_pullback


def rule_with(pullback):
    """A rule whose value is right and whose pullback is `pullback(y_bar, x, w, y)`."""

    def scaled_rrule(x, w):
        y = x * w[0]

        def scaled_pullback(y_bar):
            return pullback(y_bar, x, w, y)

        return y, scaled_pullback

    return scaled_rrule


def cotangents(y_bar, x, w):
    return y_bar * w[0], np.array([np.sum(x * y_bar), 0.0])


def rule_with_value(value):
    def scaled_rrule(x, w):
        y = value(x, w)
        return y, lambda y_bar: (NO, *cotangents(np.broadcast_to(y_bar, x.shape), x, w))

    return scaled_rrule


def changed_in_place(y_bar, x, w, y):
    found = cotangents(y_bar, x, w)
    y_bar *= 2
    return NO, *found


def input_written(y_bar, x, w, y):
    found = cotangents(y_bar, x, w)
    w += 1.0
    return NO, *found


def value_written(y_bar, x, w, y):
    y *= y_bar
    return NO, *cotangents(y_bar, x, w)


def writes_argument(x, w):
    y = x * w[0]
    x += 1.0
    return y, lambda y_bar: (NO, *cotangents(y_bar, x - 1.0, w))


def own_buffer(x, w):
    """Right at the first call; the second one changes what the first returned."""
    x_bar, w_bar = np.zeros_like(x), np.zeros(2)

    def scaled_pullback(y_bar):
        x_bar[:] = y_bar * w[0]
        w_bar[:] = np.sum(x * y_bar), 0.0
        return NO, x_bar, w_bar

    return x * w[0], scaled_pullback


HIDDEN = np.zeros((2, 3))


def hidden_buffer(x, w):
    """A buffer that is not among the variables of the pullback."""

    def scaled_pullback(y_bar):
        HIDDEN[:] = y_bar * w[0] + HIDDEN
        return NO, HIDDEN, cotangents(y_bar, x, w)[1]

    return x * w[0], scaled_pullback


def accumulates(x, w):
    total = []

    def scaled_pullback(y_bar):
        total.append(y_bar)
        return NO, *cotangents(sum(total), x, w)

    return x * w[0], scaled_pullback


def pops_its_tape(x, w):
    tape = [w[0], 0.0]

    def scaled_pullback(y_bar):
        return NO, y_bar * tape.pop(0), cotangents(y_bar, x, w)[1]

    return x * w[0], scaled_pullback


def one_for_both(x, w):
    """One array returned twice."""

    def scaled_pullback(y_bar):
        both = y_bar * w[0]
        return NO, both, both.ravel()[:2]

    return x * w[0], scaled_pullback


def bad_in_place(y_bar, x, w, y):
    x_bar, w_bar = cotangents(y_bar, x, w)
    return NO, rl.InplaceableThunk(lambda acc: x_bar, lambda: x_bar), w_bar


WRONG = {
    # count
    "too few": (
        rule_with(lambda s, x, w, y: (NO, s * w[0])),
        rl.RuleCountError,
        "returned 2 cotangents, expected 3",
    ),
    "too many": (
        rule_with(lambda s, x, w, y: (NO, *cotangents(s, x, w), s)),
        rl.RuleCountError,
        "returned 4",
    ),
    "without itself": (
        rule_with(lambda s, x, w, y: cotangents(s, x, w)),
        rl.RuleCountError,
        "scaled itself, x, w",
    ),
    "no tuple": (rule_with(lambda s, x, w, y: [NO, s, w]), rl.RuleError, "must return a tuple"),
    "None": (rule_with(lambda s, x, w, y: (NO, s * w[0], None)), rl.RuleError, "returned None for w"),
    "the class": (
        rule_with(lambda s, x, w, y: (NO, s * w[0], rl.ZeroTangent)),
        rl.RuleError,
        "the class ZeroTangent",
    ),
    # shape
    "wrong shape": (rule_with(lambda s, x, w, y: (NO, s * w[0], np.zeros(3))), rl.RuleShapeError, "for w"),
    "not summed": (rule_with(lambda s, x, w, y: (NO, s * w[0], x * s)), rl.RuleShapeError, "for w"),
    "transposed": (
        rule_with(lambda s, x, w, y: (NO, (s * w[0]).T.copy(), np.zeros(2))),
        rl.RuleShapeError,
        "for x",
    ),
    "a number for an array": (
        rule_with(lambda s, x, w, y: (NO, 1.0, np.zeros(2))),
        rl.RuleShapeError,
        "for x",
    ),
    "value summed": (
        rule_with_value(lambda x, w: np.sum(x * w[0])),
        rl.RuleError,
        "gives a value that is float64 of",
    ),
    "value transposed": (
        rule_with_value(lambda x, w: (x * w[0]).T),
        rl.RuleError,
        "of shape (3, 2), but scaled itself gives",
    ),
    "value in a tuple": (rule_with_value(lambda x, w: (x * w[0],)), rl.RuleError, "a tuple of 1"),
    # dtype
    "text": (rule_with(lambda s, x, w, y: (NO, s * w[0], "w")), rl.RuleDtypeError, "for w"),
    "float32 inside": (
        rule_with(lambda s, x, w, y: (NO, (s * w[0]).astype(np.float32), np.zeros(2))),
        rl.RuleDtypeError,
        "returned a float32 array for x, which is float64",
    ),
    "whole numbers": (
        rule_with(lambda s, x, w, y: (NO, (s * w[0]).astype(int), np.zeros(2))),
        rl.RuleDtypeError,
        "int64 array for x",
    ),
    "value of float32": (
        rule_with_value(lambda x, w: (x * w[0]).astype(np.float32)),
        rl.RuleDtypeError,
        "gives a value that is float32 of shape (2, 3), but scaled itself gives float64",
    ),
    "objects": (
        rule_with(lambda s, x, w, y: (NO, (s * w[0]).astype(object), np.zeros(2))),
        rl.RuleDtypeError,
        "for x",
    ),
    # effects
    "cotangent written": (rule_with(changed_in_place), rl.RuleEffectsError, "changed its cotangent"),
    "argument written": (rule_with(input_written), rl.RuleEffectsError, "changed the argument w"),
    "value written": (rule_with(value_written), rl.RuleEffectsError, "changed its value"),
    "argument written forwards": (writes_argument, rl.RuleEffectsError, "changes its argument x"),
    "accumulates": (accumulates, rl.RuleEffectsError, "different answer when it is called again"),
    "pops its tape": (pops_its_tape, rl.RuleEffectsError, "different answer when it is called again"),
    # aliasing
    "returns the cotangent": (
        rule_with(lambda s, x, w, y: (NO, s, np.zeros(2))),
        rl.RuleEffectsError,
        "shares memory with its cotangent",
    ),
    "returns an argument": (
        rule_with(lambda s, x, w, y: (NO, s * w[0], w)),
        rl.RuleEffectsError,
        "shares memory with w",
    ),
    "returns the value": (
        rule_with(lambda s, x, w, y: (NO, y, np.zeros(2))),
        rl.RuleEffectsError,
        "shares memory with its value",
    ),
    "a view of an argument": (
        rule_with(lambda s, x, w, y: (NO, s * w[0], x[0, :2])),
        rl.RuleEffectsError,
        "shares memory with x",
    ),
    "one array for both": (
        one_for_both,
        rl.RuleEffectsError,
        "for w that shares memory with the cotangent of x",
    ),
    "read-only view": (
        rule_with(lambda s, x, w, y: (NO, np.broadcast_to(s[0, 0], x.shape), np.zeros(2))),
        rl.RuleEffectsError,
        "for x that cannot be written to",
    ),
    "a buffer of its own": (own_buffer, rl.RuleEffectsError, "x_bar, which the pullback keeps"),
    "a hidden buffer": (hidden_buffer, rl.RuleEffectsError, "changed what it had returned before"),
    "bad in-place form": (rule_with(bad_in_place), rl.RuleEffectsError, "add_into does not return the sum"),
    "the cotangent in a thunk": (
        rule_with(lambda s, x, w, y: (NO, rl.thunk(lambda: s), np.zeros(2))),
        rl.RuleEffectsError,
        "shares memory with its cotangent",
    ),
    # finite
    "nan": (rule_with(lambda s, x, w, y: (NO, s * np.nan, np.zeros(2))), rl.RuleError, "returned nan for x"),
}


@pytest.fixture
def ruled():
    """States a rule for `scaled`, until the end of the test."""

    def state(rule):
        return rl.rrule_for(scaled)(rule)

    yield state
    rl.remove_rule(scaled)
    assert not DEBUGGING.rules


def loss(x, w):
    return np.sum(scaled(x, w) ** 2)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_found(ruled, name):
    """In the first gradient that uses it, with its name and the line of the rule or of its pullback."""
    rule, kind, words = WRONG[name]
    ruled(rule)
    with rl.debug_mode(), pytest.raises(kind) as error:
        rl.gradient(loss, X.copy(), np.array([2.0, 5.0]))
    text = str(error.value)
    assert words in text and "scaled" in text
    assert error.value.place.filename == __file__


@pytest.mark.parametrize("name", ["cotangent written", "returns an argument", "value of float32"])
def test_also_when_the_quick_way_is_known(ruled, name):
    """A rule that has run often is watched as soon as debug mode is on, and no longer when it is off."""
    rule, kind, _ = WRONG[name]
    ruled(rule)
    for _ in range(5):
        rl.gradient(scaled_sum := lambda x: np.sum(scaled(x, W)), X)
    with rl.debug_mode(), pytest.raises(kind):
        rl.gradient(scaled_sum, X)
    rl.gradient(scaled_sum, X)


W = np.array([2.0, 5.0])


@pytest.mark.parametrize(
    "rule",
    [
        right,
        rule_with(
            lambda s, x, w, y: (NO, rl.thunk(lambda: s * w[0]), rl.thunk(lambda: cotangents(s, x, w)[1]))
        ),
        rule_with(lambda s, x, w, y: (NO, s * w[0], rl.Thunk(lambda: cotangents(s, x, w)[1]) + 0.0)),
        rule_with(
            lambda s, x, w, y: (
                NO,
                rl.InplaceableThunk(lambda acc: np.add(acc, s * w[0], out=acc), lambda: s * w[0]),
                cotangents(s, x, w)[1],
            )
        ),
    ],
    ids=["plain", "thunks", "thunk in a sum", "in place"],
)
def test_right_rules_pass(ruled, rule):
    """And give what they give otherwise, which is the gradient."""
    without = rl.gradient(loss, X, W)
    ruled(rule)
    with rl.debug_mode():
        found = rl.gradient(loss, X, W)
        y, back = rl.rrule(scaled, X, W)
        assert np.array_equal(back(y)[1], y * 2.0) and back(rl.ZeroTangent())[1] == rl.ZeroTangent()
    assert all(np.allclose(a, b) for a, b in zip(found, without, strict=True))


def test_right_rules_of_other_kinds_pass():
    """Numbers, several results, a view for a value, an infinite derivative of an infinite value."""

    def both(x, p):
        return x * p["a"], x[:1]

    @rl.rrule_for(both)
    def both_rrule(x, p):
        def both_pullback(y_bar):
            first, second = y_bar
            x_bar = rl.unthunk(first) * p["a"] if not isinstance(first, rl.ZeroTangent) else np.zeros(3)
            if not isinstance(second, rl.ZeroTangent):
                x_bar = x_bar + np.concatenate([second, np.zeros(2)])
            return NO, x_bar, rl.Tangent(dict, {"a": np.sum(x * first)})

        return both(x, p), both_pullback

    def root(x):
        return np.sqrt(x)

    rl.scalar_rule(root, lambda y, x: 0.5 / y)
    x = np.arange(3.0)
    try:
        with rl.debug_mode():
            found = rl.gradient(lambda x, p: np.sum(both(x, p)[0]) + np.sum(both(x, p)[1]), x, {"a": 2.0})
            assert np.array_equal(found[0], [3.0, 2.0, 2.0]) and found[1] == {"a": 3.0}
            assert rl.gradient(root, 4.0) == (0.25,) and rl.gradient(root, np.inf) == (0.0,)
            with np.errstate(divide="ignore"), pytest.raises(rl.RuleError, match="returned inf for x"):
                rl.gradient(lambda x: np.sum(root(x)), x)
    finally:
        rl.remove_rule(both)
        rl.remove_rule(root)


# -- forward rules -------------------------------------------------------------------------------------------


def twice(x):
    return 2.0 * x


def writes_tangent(tangents, x):
    tangents[1][...] = 0.0
    return 2.0 * x, 2.0 * tangents[1]


def writes_x(tangents, x):
    x *= 2.0
    return x, 2.0 * tangents[1]


KEPT = np.ones((2, 3))


@pytest.mark.parametrize(
    ("frule", "kind", "words"),
    [
        (
            lambda t, x: (2.0 * x, np.sum(t[1])),
            rl.RuleShapeError,
            "a tangent of shape () for y of shape (2, 3)",
        ),
        (lambda t, x: (2.0 * x, None), rl.RuleError, "returned None for the tangent of y"),
        (lambda t, x: (2.0 * x, rl.NoTangent), rl.RuleError, "the class NoTangent"),
        (lambda t, x: (2.0 * x, "t"), rl.RuleDtypeError, "returned a str for the tangent of y"),
        (lambda t, x: 2.0 * x, rl.RuleError, "must return (y, y_dot), not an ndarray"),
        (lambda t, x: None, rl.RuleError, "returned None, not (y, y_dot)"),
        (lambda t, x: (2.0 * x, (2.0 * t[1]).astype(np.float32)), rl.RuleDtypeError, "digits are lost"),
        (lambda t, x: (2.0 * x, t[1]), rl.RuleEffectsError, "shares memory with the tangent of argument 1"),
        (lambda t, x: (2.0 * x, x), rl.RuleEffectsError, "shares memory with its argument 1"),
        (writes_tangent, rl.RuleEffectsError, "changed the tangent of argument 1"),
        (writes_x, rl.RuleEffectsError, "changed its argument 1"),
        (lambda t, x: (2.0 * x, t[1] * np.inf), rl.RuleError, "is not finite"),
    ],
)
def test_wrong_forward_rules(frule, kind, words):
    """By `pushforward`, by the rule alone, and where reverse mode is derived from it."""
    rl.frule_for(twice)(frule)
    asked = (
        lambda: rl.pushforward(twice, X.copy())(np.ones((2, 3))),
        lambda: rl.frule((NO, np.ones((2, 3))), twice, X.copy()),
    )
    try:
        for ask in asked:
            with rl.debug_mode(), pytest.raises(kind) as error:
                ask()
            assert words in str(error.value) and error.value.place.filename == __file__
        with rl.debug_mode(), pytest.raises(rl.RuleLabError):
            rl.gradient(lambda x: np.sum(twice(x)), X.copy())
    finally:
        rl.remove_rule(twice)


def test_a_right_forward_rule_passes():
    """Also one whose value is a view of its argument, and the tangent a view of its tangent."""

    def column(x):
        return x[:, 0]

    rl.frule_for(column)(lambda t, x: (x[:, 0], t[1][:, 0]))
    rl.frule_for(twice)(lambda t, x: (2.0 * x, 2.0 * t[1]))
    try:
        with rl.debug_mode():
            assert np.array_equal(rl.pushforward(column, X)(X), X[:, 0])
            assert np.array_equal(rl.pushforward(twice, X)(X), 2.0 * X)
    finally:
        rl.remove_rule(column)
        rl.remove_rule(twice)


def test_a_rule_that_is_turned_is_watched_too(ruled):
    """Forward mode by an rrule that shares memory."""
    ruled(WRONG["returns the cotangent"][0])
    with rl.debug_mode(), pytest.raises(rl.RuleEffectsError, match="shares memory with its cotangent"):
        rl.pushforward(scaled, X, W)(X, W)


# -- without debug mode --------------------------------------------------------------------------------------


def test_a_function_that_changes_its_argument_is_refused_at_the_first_call():
    """With the reason; the rule would be right and the program around it wrong."""

    def grow(x):
        x += 1.0
        return np.sum(x * x)

    @rl.rrule_for(grow)
    def grow_rrule(x):
        y = grow(x)
        return y, lambda y_bar: (NO, 2.0 * x * y_bar)

    try:
        with pytest.raises(rl.RuleEffectsError, match="changes its argument x: other uses of it") as error:
            rl.gradient(grow, np.ones(3))
        assert (
            error.value.place.function == "grow_rrule" and error.value.read == "howto/mutation#give-it-a-rule"
        )
        for value in ([1.0], {"a": np.ones(2)}):
            rl.rrule_for(grow)(lambda x: (x.clear(), lambda y_bar: (NO, NO)))
            with rl.debug_mode(), pytest.raises(rl.RuleEffectsError, match="changes its argument x"):
                rl.rrule(grow, value)
    finally:
        rl.remove_rule(grow)


def test_debug_mode_sees_it_in_the_function_where_the_rule_goes_round_it():
    """The rule computes the value its own way; the function, on copies, is seen to write."""

    def grow(x):
        x += 1.0
        return np.sum(x * x)

    rl.rrule_for(grow)(lambda x: (np.sum((x + 1) ** 2), lambda y_bar: (NO, 2.0 * (x + 1) * y_bar)))
    x = np.ones(3)
    try:
        assert np.array_equal(rl.gradient(grow, x)[0], [4.0, 4.0, 4.0])
        with rl.debug_mode(), pytest.raises(rl.RuleEffectsError, match="changes its argument x"):
            rl.gradient(grow, x)
        assert np.array_equal(x, np.ones(3))
    finally:
        rl.remove_rule(grow)


def test_caches_and_counters_of_objects_are_their_own_affair():
    """What is written to an object beside the numbers that were there is no change of an argument."""

    class Model:
        def __init__(self):
            self.w, self.calls = 2.0, 0

        def __call__(self, x):
            self.calls += 1
            self.seen = x
            return self.w * x

    @rl.rrule_for(Model.__call__)
    def model_rrule(model, x):
        return model(x), lambda y_bar: (NO, rl.Tangent(Model, w=x * y_bar), model.w * y_bar)

    y, back = rl.rrule(Model(), 3.0)
    assert y == 6.0 and back(1.0)[0].w == 3.0


def test_the_capability_for_mutation_is_off_and_can_be_claimed():
    """A rule that needs it is not used here; an AD that can undo changes may ask for it."""

    def grow(x):
        x += 1.0
        return x

    @rl.rrule_for(grow, requires={"mutation"})
    def grow_rrule(config, x):
        return grow(x), lambda y_bar: (NO, y_bar)

    assert rl.rrule(grow, np.ones(2)) is None
    y, _ = rl.rrule(grow, np.ones(2), config=rl.RuleConfig("mutation"))
    assert np.array_equal(y, [2.0, 2.0])


# -- the mode itself -----------------------------------------------------------------------------------------


def test_the_mode_ends_with_its_block_or_stays():
    """Also after an error; each of its two parts leaves the other as it is."""
    with pytest.raises(ZeroDivisionError), rl.debug_mode():
        assert DEBUGGING.rules
        raise ZeroDivisionError
    assert not DEBUGGING.rules
    rl.debug_mode()
    try:
        with rl.debug_mode(compare=True):
            assert DEBUGGING.rules
    finally:
        rl.debug_mode(rules=False)
    assert not DEBUGGING.rules
    for wrong in ({"rules": 3}, {"compare": "often"}):
        with pytest.raises(rl.RuleLabError, match="must be"):
            rl.debug_mode(**wrong)


def test_arrays_whose_elements_interleave_share_nothing():
    """Bounds that overlap are not enough."""
    x = np.zeros((4, 4))
    assert not shares(x[:, ::2], x[:, 1::2]) and shares(x[1:], x[:2]) and not shares(x[:0], x)
