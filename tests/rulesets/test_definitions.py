"""Rules against definitions in fifty digits: a witness that shares no code with SciPy, nor with the rule."""

import itertools

import numpy as np
import pytest

pytest.importorskip("scipy.stats")
pytest.importorskip("mpmath")

import definitions as by_definition  # noqa: E402
from definition_cases import CASES  # noqa: E402
from forms import strided  # noqa: E402
from library_calls import orders  # noqa: E402

import rulelab as rl  # noqa: E402

ONCE = {"tplquad"}  # other forms and second derivatives of three integrals take minutes: dblquad has them
SLOW = {"quad", "dblquad", "tplquad"}  # integrals of integrals, with second derivatives
FORWARD = dict.fromkeys({*SLOW, "quad_vec"}, 2)  # orders that begin forwards: the others take minutes
MARKS = {name: pytest.mark.rest for name in SLOW} | {"curve_fit": pytest.mark.slow}
POINTS = [
    pytest.param(name, kind, marks=MARKS.get(name, ()))
    for name, case in CASES.items()
    for kind, args in (("real", case.real), ("complex", case.complex))
    if args is not None
]
SHORT = {"f": np.float32, "c": np.complex64}


def direction(args):
    """One for the arguments, complex where they are."""
    rng = np.random.default_rng(9)
    drawn = [(rng.normal(size=x.shape), rng.normal(size=x.shape)) for x in args]
    return tuple([a + 1j * b if x.dtype.kind == "c" else a for x, (a, b) in zip(args, drawn, strict=True)])


@pytest.mark.every(12, slow=True)
@pytest.mark.parametrize(("name", "kind"), POINTS, ids=lambda x: x)
def test_both_orders_agree_with_the_definition(name, kind):
    """The value, both modes, and the second derivative along a direction in all orders of modes, of arrays
    with gaps between their numbers as well; in short floats the first order.
    """
    case = CASES[name]
    f, args = case.function, getattr(case, kind)
    along = direction(args)
    value, first, second = map(np.array, by_definition.derivatives(case.definition, args, along))
    short = lambda x: x.astype(SHORT[x.dtype.kind])
    forms = ((np.copy, case.within), (strided, case.within), (short, 2e-3))
    for form, within in forms[:1] if name in ONCE else forms:
        here, there = [form(x) for x in args], [form(x) for x in along]
        near(np.ravel(f(*here)), value, within)
        near(np.ravel(rl.pushforward(f, *here)(*there)), first, within)
        y, back = rl.pullback(f, *here)
        y_bar = seed_like(y)
        near(paired(back(y_bar), there), np.real(np.vdot(y_bar, first)), within)

    if name in ONCE:
        return
    within = max(1e-7, 100 * case.within)
    seed = seed_like(f(*args))
    asked = itertools.islice(orders(f, args, along, seed), FORWARD.get(name))
    for _, found in asked:
        near(found, np.real(np.vdot(seed, second)), within * max(1.0, np.sum(np.abs(seed))))


def seed_like(y):
    """Numbers that are not alike, in the form of a value."""
    return np.cos(1.0 + np.arange(np.size(y))).reshape(np.shape(y)).astype(y.dtype)[()]


def paired(bars, dots):
    """The sum of the inner products; the cotangent of what a function does not depend on is None."""
    pairs = zip(bars, dots, strict=True)
    return sum(np.real(np.vdot(bar, dot)) for bar, dot in pairs if bar is not None)


def near(found, wanted, within):
    scale = 1.0 + float(np.max(np.abs(wanted), initial=0.0))
    np.testing.assert_allclose(found, wanted, rtol=within, atol=within * scale)
