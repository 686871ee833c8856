"""Arrays that are written to in forward mode: the tangent beside each is written to with it."""

import io
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus.writes import judge, program  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.ad.forward import jvp  # noqa: E402

X = np.array([0.3, 1.1, 2.0, 0.7])
V = np.array([0.1, 0.2, 0.3, -0.4])


def survey(seeds):
    """How often each outcome came; an AssertionError at the first wrong one."""
    return Counter(judge(seed, jvp, rl.RuleLabError) for seed in seeds)


def test_random_programs_that_write():
    """15 programs: views, writes of all kinds, aliases, helpers. Right or refused, most of them right."""
    counts = survey(range(15))
    assert counts["right"] > 9, counts


@pytest.mark.campaign
def test_random_programs_that_write_at_length():
    """6,045 programs."""
    counts = survey((*range(15, 60), *range(10_000, 16_000)))
    assert counts["right"] > 3627, counts


def test_the_programs_are_seeded():
    """The same program for the same seed, another for another."""
    assert program(5) == program(5) and program(5) != program(6)


# --- each of these once gave a wrong number, or an error of Python's ---


def taken_from_a_list(x):
    parts = []
    parts.append(x[:1])
    parts.pop()[...] = x[2]
    return x


def part_of_a_split(x):
    y = np.array_split(x, 2)[0]
    x[0] = 5.0
    return y


def split_across(x):
    y = np.hsplit(x, 1)[0]
    x.ravel()[-1] *= x[0]
    return y.reshape(-1)


def real_part_set(x):
    y = x.astype(complex)
    y.real = x * x
    y.imag = x[::-1]
    y.imag[0] = 2.0
    return y


def set_by_its_method(x):
    y = np.zeros(4)
    for i in range(3):
        y.__setitem__(i, x[i] * 2)
    return y


def set_by_a_captured_name(x):
    y = np.zeros(4)
    list(map(lambda i: y.__setitem__(i, x[i] * x[0]), range(3)))
    return y


def out_in_a_partial(x):
    y = np.zeros(4)
    partial(np.multiply, out=y)(x, x)
    return y


def out_is_none(x):
    return np.sin(x, out=None) + np.sin(x, None) + np.exp(x, out=(None,))


def out_by_position(x):
    y = np.zeros(len(x))
    np.sin(x, y)
    np.multiply(y, x, y)
    return y


def out_of_a_reduction_by_position(x):
    m, y = np.outer(x, x), np.zeros(len(x))
    m.sum(0, None, y)
    z = np.zeros(len(x))
    np.clip(y, 0.5, 9.0, z)
    return z * x


def out_in_a_tuple_of_arguments(x):
    y = np.zeros(len(x))
    add = np.add
    add(x, 1.0, y)
    given = (x, x[0], y)
    np.multiply(*given)
    return y


def interleaved_views(x):
    y = x * 1
    a, b = y[::2], y[1::2]
    a += b
    b *= a
    return y


def taken_from_a_number(x):
    y = np.array(x[0])
    y *= x[1]
    return y.take([0], axis=0)


def views_broadcast(x):
    a, b = np.broadcast_arrays(x[:1], x)
    return a * b


def rows_in_a_loop(x):
    m = np.outer(x, x)
    for r, s in zip(m, m[1:]):
        s += r
    return m


@pytest.mark.parametrize(
    "f",
    [
        taken_from_a_list, part_of_a_split, split_across, real_part_set, set_by_its_method,
        set_by_a_captured_name, out_in_a_partial, out_is_none, out_by_position,
        out_of_a_reduction_by_position, out_in_a_tuple_of_arguments, interleaved_views, views_broadcast,
        rows_in_a_loop,
        taken_from_a_number,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_the_tangent_is_that_of_finite_differences(f):
    """A write reaches the tangent under each name that the array has."""
    h = 1e-6
    _, found = jvp(f, (X.copy(),), (V,))
    np.testing.assert_allclose(found, (f(X + h * V) - f(X - h * V)) / (2 * h), atol=1e-6)


# --- what is refused ---


def through_its_base(x):
    y = x[1:]
    y.base[0] = 5.0
    return x


def through_its_buffer(x):
    x.data[0] = 5.0
    return x


def flat_set(x):
    x.flat = 5.0
    return x


def reshaped_in_place(x):
    x.shape = (2, 2)
    return x


def added_where(x):
    y = np.zeros(4)
    np.add(x, 1.0, out=y, where=x > 1.0)
    return y


def two_results(x):
    y = np.zeros(4)
    np.modf(x, y)
    return y


def into_integers(x):
    y = np.arange(4)
    y[0] = x[0]
    return y


def times_at(x):
    y = np.ones(4)
    np.multiply.at(y, [0, 0], x[:2])
    return y


@pytest.mark.parametrize(
    "f",
    [
        through_its_base, through_its_buffer, flat_set, reshaped_in_place, added_where, two_results,
        into_integers, times_at,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_cannot_be_followed_is_refused(f):
    """Never a number from a tangent that was left behind."""
    with pytest.raises(rl.RuleLabError):
        jvp(f, (X.copy(),), (V,))


# --- arrays with two names ---

KEPT = np.ones(4)


def test_one_array_given_twice_with_one_tangent():
    """A write to the one is a write to the other."""

    def f(a, b):
        a[0] = 5.0 * b[1]
        return b * 1.0

    x = X.copy()
    np.testing.assert_allclose(jvp(f, (x, x), (V, V))[1], [5 * V[1], *V[1:]])


@pytest.mark.parametrize("other", [None, 2 * V])
def test_one_array_given_twice_with_two_tangents(other):
    """Without a write each has its own; a write is refused."""
    x = X.copy()
    _, found = jvp(lambda a, b: a * b, (x, x), (V, other))
    np.testing.assert_allclose(found, X * V + (0 if other is None else X * other))

    def writes(a, b):
        a[0] = 5.0
        return b * 1.0

    with pytest.raises(rl.MutationError, match="shares memory|another name"):
        jvp(writes, (x, x), (V, other))


def test_a_view_beside_its_array():
    """Two arguments that share memory are refused where one is written to."""
    m = np.outer(X, X)

    def f(r, m):
        r[0] = 5.0
        return m * 1.0

    with pytest.raises(rl.MutationError, match="shares memory"):
        jvp(f, (m[0], m), (m[0], m))


def test_an_argument_written_to_by_a_global_name():
    """A constant written under a name that has no tangent would leave that of the argument behind."""

    def f(x):
        KEPT[0] = 5.0
        return x * 2.0

    with pytest.raises(rl.MutationError, match="another name"):
        jvp(f, (KEPT,), (V,))


def test_global_and_captured_arrays():
    """They may be given constants; a value that varies is refused."""
    held = np.zeros(4)

    def constant(x):
        held[0] = KEPT[1] = 2.0
        return x * held[0] * KEPT[1]

    np.testing.assert_allclose(jvp(constant, (X,), (V,))[1], 4 * V)

    def lost(x):
        held[0] = x[0]
        return held[0] * 2.0

    with pytest.raises(rl.MutationError):
        jvp(lost, (X,), (V,))


def test_an_authors_frule_keeps_its_array():
    """The tangent that an frule of the author gives is not written to."""
    kept = np.zeros(4)

    def flat(x):
        return np.ones(4)

    @rl.frule_for(flat)
    def flat_frule(tangents, x):
        return np.ones(4), kept

    def f(x):
        y = flat(x)
        y[0] = x[0]
        return y

    np.testing.assert_allclose(jvp(f, (X,), (V,))[1], [V[0], 0, 0, 0])
    assert not kept.any()


def test_a_rule_stated_later_is_asked():
    """What is kept of functions of C code is asked for again when a rule is stated."""

    def f(x):
        return np.logaddexp2(x, 1.0) * 2.0

    before = jvp(f, (X,), (V,))[1]
    np.testing.assert_allclose(jvp(f, (X,), (V,))[1], before)

    @rl.frule_for(np.logaddexp2)
    def logaddexp2_frule(tangents, x, y):
        return np.logaddexp2(x, y), 7.0 * tangents[1]

    try:
        np.testing.assert_allclose(jvp(f, (X,), (V,))[1], 14.0 * V)
    finally:
        rl.remove_rule(np.logaddexp2)
    np.testing.assert_allclose(jvp(f, (X,), (V,))[1], before)


def test_what_is_kept_goes_by_what_varies():
    """The same function of the same types, with another argument that varies."""

    def f(x, y):
        return np.arctan2(x, y), np.arctan2(y, x)

    one, two = jvp(f, (X, X + 1), (V, None))[1]
    np.testing.assert_allclose(one, (X + 1) / (X**2 + (X + 1) ** 2) * V)
    np.testing.assert_allclose(two, -one)


DRAWS = {
    "random": lambda rng, y: rng.random(out=y),
    "random by position": lambda rng, y: rng.random(None, np.float64, y),
    "random by size": lambda rng, y: rng.random(size=y.shape, out=y),
    "standard_normal": lambda rng, y: rng.standard_normal(out=y),
    "standard_normal by position": lambda rng, y: rng.standard_normal(None, np.float64, y),
    "standard_exponential": lambda rng, y: rng.standard_exponential(out=y),
    "standard_gamma": lambda rng, y: rng.standard_gamma(2.0, out=y),
    "permuted": lambda rng, y: rng.permuted(np.arange(4.0), out=y),
    "shuffle": lambda rng, y: rng.shuffle(y),
    "legacy shuffle": lambda rng, y: np.random.RandomState(0).shuffle(y),
    "a copy of one": lambda rng, y: np.copyto(y, rng.random(y.shape)),
    "a comparison": lambda rng, y: np.isfinite(np.arange(4.0), out=y.astype(bool)),
    "a product": lambda rng, y: np.multiply(np.arange(4.0)[: len(y)], 2.0, y),
    "bytes": lambda rng, y: io.BytesIO(BYTES).readinto(y),
    "bytes by a view": lambda rng, y: io.BytesIO(BYTES).readinto(memoryview(y)),
}
BYTES = np.arange(4.0).tobytes()
TARGETS = {
    "made empty": lambda x: np.zeros(4),
    "varies": lambda x: x * 2.0,
    "copied": np.copy,
}
GIVEN = {"as it is": lambda y: y, "a part": lambda y: y[1:3], "reversed": lambda y: y[::-1]}


@pytest.mark.parametrize("fill", DRAWS.values(), ids=DRAWS)
def test_what_is_drawn_into_an_array_is_constant(fill):
    """An array filled by draws or bytes, whatever it held: the derivative of finite differences or a refusal,
    in both modes; the numbers are drawn once.
    """
    for target in TARGETS.values():
        for given in GIVEN.values():

            def program(x, rng, target=target, given=given):
                y = target(x)
                fill(rng, given(y))
                return np.sum(y * x)

            def value(x, program=program):
                return program(x, np.random.default_rng(0))

            try:
                right = (value(X + 1e-5 * V) - value(X - 1e-5 * V)) / 2e-5
            except (TypeError, ValueError):  # it takes no array without stride 1
                continue
            rng, once = np.random.default_rng(0), np.random.default_rng(0)
            program(X, once)
            for find in (
                lambda: rl.pushforward(lambda x: program(x, rng), X)(V),
                lambda: rl.gradient(value, X)[0] @ V,
            ):
                try:
                    found = find()
                except rl.RuleLabError:
                    continue
                assert found == pytest.approx(right, rel=1e-6)
            assert rng.random() in (once.random(), np.random.default_rng(0).random())
