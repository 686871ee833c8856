"""A generator expression that is a part of a `zip` computes its items when and as often as Python asks it."""

import numpy as np
import pytest

import rulelab as rl


def reciprocals_first(x, D):
    total = 0.0
    for a, b in zip((1.0 / v for v in D), [x]):
        total = total + a * b
    return total


def in_a_comprehension(x, D):
    return sum(a * b for a, b in zip((1.0 / v for v in D), [x]))


def in_a_list(x, D):
    return sum([a * b for a, b in list(zip((1.0 / v for v in D), [x]))])


def counted_beside(x, D):
    return sum([k + a * b for (k, a), b in zip(enumerate(1.0 / v for v in D), [x])])


def mapped_and_counted_beside(x, D):
    return sum([k + a * b for (k, a), b in zip(enumerate(map(lambda v: 1.0 / v, D)), [x])])


def pairs_counted(x, D):
    return sum([k + a * b for k, (a, b) in enumerate(zip((1.0 / v for v in D), [x]))])


def last_of_the_first(x, D):
    return sum([c + a * b for (a, c), b in zip(zip([x, x], (1.0 / v for v in D)), [x])])


def handed_on(x, D):
    return sum([a * b for a, b in zip((w for w in (1.0 / v for v in D)), [x])])


def of_a_map(x, D):
    return sum([a * b for a, b in zip((w * 2.0 for w in map(lambda v: 1.0 / v, D)), [x])])


def behind_iter(x, D):
    return sum([a * b for a, b in iter(zip(iter(1.0 / v for v in D), [x]))])


def mapped_together(x, D):
    return sum(map(lambda a, b: a * b, (1.0 / v for v in D), [x]))


def strict_and_last(x, D):
    return sum([a * b for b, a in zip([x], (1.0 / v for v in D), strict=True)])


def taken_apart(x, D):
    return sum([a * b for a, b in zip((p for (p,) in [(v,) if v else () for v in D]), [x])])


BESIDE = [
    *(reciprocals_first, in_a_comprehension, in_a_list, counted_beside, mapped_and_counted_beside),
    *(pairs_counted, last_of_the_first, handed_on, of_a_map, behind_iter, mapped_together),
    *(strict_and_last, taken_apart),
]
MODES = {
    "reverse": lambda f, x: rl.gradient(f, x)[0],
    "forward": lambda f, x: rl.pushforward(f, x)(1.0),
    "reverse over forward": lambda f, x: rl.gradient(lambda y: rl.pushforward(f, y)(1.0), x)[0],
    "reverse twice": lambda f, x: rl.gradient(lambda y: rl.gradient(f, y)[0], x)[0],
}


@pytest.mark.first(16)
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("f", BESIDE)
def test_an_item_of_which_the_other_has_none_is_computed_as_by_zip(f, mode):
    """Also where no run is compared with another; one item less raises nothing."""
    with pytest.raises((ZeroDivisionError, ValueError)) as ours:
        f(2.0, [1.0, 0.0])
    for compare in (False, True):
        with rl.debug_mode(compare=compare), pytest.raises(ours.type):
            mode(lambda x: f(x, [1.0, 0.0]), 2.0)
    assert mode(lambda x: f(x, [1.0]), 2.0) is not None


@pytest.mark.parametrize("mode", list(MODES.values())[:2], ids=list(MODES)[:2])
@pytest.mark.parametrize("strict", [False, True])
def test_an_item_of_which_the_other_has_none_is_computed_once(capsys, mode, strict):
    """What it prints is printed once, and the derivative is that of the pairs."""

    def told(v):
        print("told")
        return v

    def first(x):
        return sum([a * b for a, b in zip((told(v) * x for v in [1.0, 2.0]), [x])])

    def last(x):
        return sum([a * b for b, a in zip([x], (told(v) * x for v in [1.0, 2.0]))])

    def both(x):
        return sum([a * b for a, b in zip((told(v) * x for v in [1.0]), [x], strict=True)])

    for f, times in [(both, 1)] if strict else [(first, 2), (last, 1)]:
        for _ in range(2):
            assert mode(f, 3.0) == pytest.approx(6.0)
            assert capsys.readouterr().out.count("told") == times


def test_a_generator_that_zip_asks_last_is_a_part_of_the_loop():
    """Nothing is asked after it; nor of what hands on its items, wherever that stands."""

    def last(v):
        return sum([a * b for b, a in zip(v, (w * w for w in v))])

    def hands_on(v):
        return sum([a * b for a, b in zip((w for w in v), v)])

    for f in (last, hands_on):
        text = rl.adjoint_source(f, np.array([0.7, 1.2]))
        assert not any(word in text for word in ("genexpr", "zip_back", "back_zip", "next("))
    beside = rl.adjoint_source(lambda v: sum([a * b for a, b in zip((w * w for w in v), v)]), np.array([0.7]))
    assert "genexpr" in beside or "zip_back" in beside
