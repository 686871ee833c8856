"""Rules derived from the statements of array code: right at any length; elsewhere the AD answers."""

import importlib.util
import math
import random

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import DerivationError
from rulelab.rules.registry import Registry
from rulelab.symbolic import derive, derive_rule
from rulelab.symbolic.by_steps import draft_by_steps

from ..differences import gradient_by_differences

RATE = 0.5


def drawn(*shape, seed=1):
    """Numbers between 0.5 and 2, all different."""
    return np.random.default_rng(seed).uniform(0.5, 2.0, shape)


def drafted(f, args):
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    name = f.__name__ if f.__name__.isidentifier() else "f"
    return draft_by_steps(f, names, args, name, np.random.default_rng(0))


def stated(f, args):
    """The rule that is derived at `args`, in a registry of its own, and its text."""
    draft = drafted(f, args)
    scope = {**globals(), draft.root: f}
    exec(draft.body, scope)
    registry = Registry()
    rl.rrule_for(f, registry=registry)(scope[draft.rule])
    return registry, draft.body, scope[draft.rule]


def agrees(f, rule, args):
    """Whether the value is that of the function, and its cotangents are the slopes by differences."""
    y, back = rule(*args)
    np.testing.assert_allclose(y, f(*args), rtol=1e-13)
    seed = np.random.default_rng(3).normal(size=np.shape(y))[()]
    given = back(seed)
    assert isinstance(given[0], rl.NoTangent) and len(given) == len(args) + 1
    for i, (arg, bar) in enumerate(zip(args, given[1:], strict=True)):
        if not np.asarray(arg).dtype.kind == "f":
            assert isinstance(bar, rl.NoTangent)
            continue

        def by(x, i=i):
            return np.sum(seed * f(*(x if j == i else other for j, other in enumerate(args))))

        assert np.shape(bar) == np.shape(arg)
        np.testing.assert_allclose(bar, gradient_by_differences(by, arg), rtol=2e-6, atol=1e-7)


LABELS = np.array([2, 0, 1, 2])
TIMES = np.array([3.0, 1.0, 2.0, 5.0])


def by_helper(x):
    return np.sum(squared(x) * x)


def squared(x):
    return x * x


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def row_softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def cross_entropy(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    logp = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


def cox(beta, X, time, event):
    eta = X @ beta
    order = np.argsort(-time)
    risk = np.log(np.cumsum(np.exp(eta[order])))
    return np.sum(event[order] * (eta[order] - risk))


def likelihood(theta, X, y):
    d = X[:, None] - X[None, :]
    K = np.exp(theta[0]) * np.exp(-0.5 * d**2 / np.exp(theta[1]) ** 2) + np.exp(theta[2]) * np.eye(len(y))
    L = np.linalg.cholesky(K)
    a = np.linalg.solve(L, y)
    return -0.5 * a @ a - np.sum(np.log(np.diag(L)))


def rotate(q, v):
    w, u = q[0], q[1:]
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)


def bilinear(image, x, y):
    i, j = int(np.floor(x)), int(np.floor(y))
    s, t = x - i, y - j
    return (1 - s) * (1 - t) * image[i, j] + s * t * image[i + 1, j + 1]


def reuses_a_name(x):
    x = x * x
    y = np.sum(x)
    y = y * y
    return y * x


def every_name_is_taken(y, out, result, t1, y_bar):
    t2 = y * t1 + out
    x_bar = t2 * result
    return x_bar * y_bar + np.sum(t2)


def typed(x: np.ndarray, k: int = 2) -> float:
    """A docstring."""
    total: float = np.sum(x**3)
    return total * k


CASES = [
    (lambda x: -x + x, (drawn(3),), (drawn(5),)),
    (lambda x: np.exp(x) * np.log(x), (drawn(3),), (drawn(5),)),
    (lambda x: np.sqrt(x) + np.sin(x) * np.cos(x), (drawn(3),), (drawn(2),)),
    (lambda x: np.tanh(x) + np.sinh(x) - np.cosh(x), (drawn(3),), (drawn(2),)),
    (lambda x: np.tan(0.3 * x) + np.arctan(x) + np.expm1(x) + np.log1p(x), (drawn(3),), (drawn(4),)),
    (lambda x: np.abs(x - 1.0) + np.square(x) + np.reciprocal(x), (drawn(3),), (drawn(4),)),
    (lambda x: x**2 + x**3 + x**0.5 + x**-1, (drawn(3),), (drawn(4),)),
    (lambda x, n: np.sum(x**n), (drawn(3), 3), (drawn(5), 2)),
    (lambda x, p: np.sum(x**p), (drawn(3), 1.5), (drawn(5), 2.0)),
    (lambda x, k: np.sum(x) * math.exp(k), (drawn(3), 0.5), (drawn(4), 0.2)),
    (lambda x, y: x * y - y / x, (drawn(3), drawn(3, seed=2)), (drawn(5), drawn(5, seed=2))),
    (lambda x, v: x + v, (drawn(3, 3), drawn(3, seed=2)), (drawn(2, 4), drawn(4, seed=2))),
    (
        lambda x, v: x * v[:, None] / np.sum(x),
        (drawn(2, 3), drawn(2, seed=2)),
        (drawn(4, 3), drawn(4, seed=2)),
    ),
    (lambda x, s: x * s + s, (drawn(2, 3), 1.5), (drawn(1, 4), 0.3)),
    (lambda x, y: x * y, (drawn(3, 1), drawn(1, 4)), (drawn(2, 1), drawn(1, 3))),
    (lambda x, y: np.sum(x / y), (drawn(1), drawn(3, seed=2)), (drawn(1), drawn(5, seed=2))),
    (lambda a, b: a @ b, (drawn(3), drawn(3, seed=2)), (drawn(4), drawn(4, seed=2))),
    (lambda a, b: a @ b, (drawn(2, 3), drawn(3, seed=2)), (drawn(4, 2), drawn(2, seed=2))),
    (lambda a, b: np.dot(a, b), (drawn(2), drawn(2, 3, seed=2)), (drawn(4), drawn(4, 2, seed=2))),
    (lambda a, b: a.dot(b) @ a.T, (drawn(2, 2), drawn(2, 2, seed=2)), (drawn(3, 3), drawn(3, 3, seed=2))),
    (lambda a, b: np.outer(a, b) @ b, (drawn(2), drawn(3, seed=2)), (drawn(4), drawn(2, seed=2))),
    (lambda x: x - np.mean(x, axis=0), (drawn(3, 3),), (drawn(4, 2),)),
    (lambda x: np.exp(x) / x.sum(axis=-1, keepdims=True), (drawn(3, 2),), (drawn(2, 4),)),
    (lambda x: np.mean(x) * np.sum(x, axis=1), (drawn(3, 2),), (drawn(2, 4),)),
    (lambda x: np.exp(x.sum(0)) * np.mean(x, 0) + np.max(x, 0), (drawn(3, 2),), (drawn(2, 4),)),
    (lambda x: x.mean() + x.sum(keepdims=True), (drawn(3, 2),), (drawn(2, 4),)),
    (lambda x: x[0] * x[-1] + x[1:] - x[:-1], (drawn(4),), (drawn(6),)),
    (lambda x: x[1, :] * x[:, 0], (drawn(3, 3),), (drawn(4, 4),)),
    (lambda x: x[::-1] * x[::2][0], (drawn(3),), (drawn(6),)),
    (lambda x: np.sum(x[np.array([0, 2, 0])] ** 2), (drawn(3),), (drawn(6),)),
    (lambda x, i: x[i, :] * x[i][:, :1], (drawn(3, 2), LABELS), (drawn(3, 4), LABELS[:2])),
    (
        lambda x, mask: np.sum(np.sin(x[mask])),
        (drawn(3), np.array([True, False, True])),
        (drawn(2), np.array([True, True])),
    ),
    (lambda x, n: np.sum(x[:n] ** 2), (drawn(4), 2), (drawn(5), 3)),
    (lambda x: np.cumsum(x) ** 2, (drawn(3),), (drawn(6),)),
    (lambda x: np.cumsum(x, axis=1) ** 2, (drawn(3, 2),), (drawn(2, 4),)),
    (
        lambda A, b: np.linalg.solve(A + 3 * np.eye(len(b)), b),
        (drawn(3, 3), drawn(3)),
        (drawn(2, 2), drawn(2)),
    ),
    (
        lambda A, b: np.linalg.solve(A @ A.T + np.eye(len(A)), b),
        (drawn(2, 2), drawn(2, 3)),
        (drawn(3, 3), drawn(3, 1)),
    ),
    (lambda A: np.linalg.inv(A @ A.T + np.eye(len(A))), (drawn(2, 2),), (drawn(3, 3),)),
    (lambda A: np.linalg.det(A @ A.T + np.eye(2)) * np.diag(A), (drawn(2, 2),), (drawn(2, 2),)),
    (lambda A: np.diag(A @ A.T), (drawn(2, 3),), (drawn(4, 2),)),
    (lambda x: np.array([x[0], x[1] * x[0]]) * x[0], (drawn(3),), (drawn(4),)),
    (lambda x: np.max(x) * np.sum(x), (drawn(3),), (drawn(6),)),
    (lambda x: x / np.max(x), (drawn(3),), (drawn(6),)),
    (lambda x: x.max(axis=1) + np.min(x, axis=1), (drawn(3, 2),), (drawn(2, 4),)),
    (lambda x: np.prod(x) * np.linalg.norm(x), (drawn(3),), (drawn(4),)),
    (lambda x: np.maximum(x, 1.2) * RATE, (drawn(3),), (drawn(5),)),
    (lambda x: x - np.floor(x) + np.sign(x) * x, (drawn(3),), (drawn(5),)),
    (lambda x: np.sum(x) / len(x) + x.shape[0] * x, (drawn(3),), (drawn(5),)),
    (lambda x, y: x @ np.eye(len(y), M=3) * y, (drawn(3), drawn(3, seed=2)), (drawn(1), drawn(1, seed=2))),
    (lambda x, n: x * np.sum(n, axis=0) * n, (drawn(2), LABELS[:2]), (drawn(4), LABELS)),
    (by_helper, (drawn(3),), (drawn(5),)),
    (softmax, (drawn(5),), (drawn(7),)),
    (row_softmax, (drawn(3, 3),), (drawn(2, 5),)),
    (cross_entropy, (drawn(4, 3), LABELS), (drawn(3, 5), LABELS[:3])),
    (cox, (drawn(2), drawn(4, 2), TIMES, LABELS), (drawn(3), drawn(3, 3), TIMES[1:], LABELS[1:])),
    (likelihood, (drawn(3), TIMES, drawn(4)), (drawn(3), TIMES[1:], drawn(3))),
    (rotate, (drawn(4), drawn(3)), (drawn(4, seed=5), drawn(3, seed=6))),
    (bilinear, (drawn(4, 4), 1.3, 2.6), (drawn(5, 6), 3.2, 0.1)),
    (reuses_a_name, (drawn(3),), (drawn(4),)),
    (every_name_is_taken, tuple(drawn(5, 3)), tuple(drawn(5, 2))),
    (typed, (drawn(3), 3), (drawn(4), 2)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_cotangents_are_the_slopes(number):
    """At the arguments that it was derived from, and at others of other lengths."""
    f, at, elsewhere = CASES[number]
    rule = stated(f, at)[2]
    agrees(f, rule, at)
    agrees(f, rule, elsewhere)


def test_a_shift_that_the_result_does_not_depend_on_gets_no_cotangent():
    """Nothing flows through the maximum of a softmax, but through one that matters it does."""
    assert "pullback(np.max" not in stated(softmax, (drawn(5),))[1]
    assert "pullback(np.max" in stated(lambda x: np.exp(x - np.max(x)), (drawn(5),))[1]
    assert "pullback(np.max" in stated(lambda x: x - np.floor(np.max(x)) + np.max(x), (drawn(5),))[1]
    assert "pullback(np.max" in stated(lambda x: np.sum((x - np.max(x))[1:]), (drawn(1),))[1]
    assert "pullback(np.max" in stated(lambda x: np.max(x) * (len(x) - 3.0) + x, (drawn(3),))[1]
    assert "pullback(np.max" in stated(lambda x: np.sum(x - np.max(x, axis=0)), (drawn(3, 2),))[1]
    spread = lambda x: np.exp(x - np.max(x, axis=1, keepdims=True)) / np.sum(np.exp(x), axis=0)  # noqa: E731
    assert "pullback(np.max" in stated(spread, (drawn(3, 2),))[1]


def products(x, y, n):
    return np.sum(x * y) * n


@pytest.mark.parametrize(
    "at",
    [
        (drawn(3), drawn(1), 2),  # broadcast, where lengths were equal
        (drawn(2, 3), drawn(2, 3), 2),  # more dimensions
        (1.5, drawn(3), 2),  # a number
        (drawn(3), drawn(3), 2.5),  # a float, where it was a whole number
        (drawn(3).astype(np.float32), drawn(3), 2),
        (np.arange(3), drawn(3), 2),
        (drawn(3) + 1j, drawn(3), 2),
    ],
)
def test_where_the_text_does_not_hold_the_ad_answers(at):
    """Other dimensions, lengths, kinds: never a number that is wrong."""
    registry, _, _ = stated(products, (drawn(3), drawn(3), 2))
    found = rl.rrule(products, *at, registry=registry)
    y, back = found if found is not None else rl.pullback(products, *at)
    expected, of_the_ad = rl.pullback(products, *at)
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    given = back(1.0)
    for bar, right in zip(given[1:] if found is not None else given, of_the_ad(1.0), strict=True):
        if right is not None and not isinstance(rl.unthunk(bar), rl.NoTangent):
            np.testing.assert_allclose(rl.unthunk(bar), right, rtol=1e-6)


def counted(x, bars):
    return np.sum(x) * len(bars)


def test_what_the_ad_answers_for_has_no_cotangent_of_None():
    """Whole numbers, and what the result does not depend on, have NoTangent; a parameter may be `bars`."""
    registry, _, rule = stated(counted, (drawn(3), np.arange(2)))
    assert rl.rrule(counted, drawn(2, 3), np.arange(2), registry=registry)[1](1.0)[2] == rl.NoTangent()
    given = rule(drawn(2, 3), np.arange(2))[1](1.0)
    assert isinstance(given[2], rl.NoTangent)
    np.testing.assert_array_equal(given[1], np.full((2, 3), 2.0))


STEPS = (
    "np.exp(0.1 * {0})", "np.tanh({0})", "-{0}", "{0} ** 3", "np.abs({0})", "{0} - np.max({0})", "{0} + {1}",
    "np.exp({0} - np.max({0}))", "{0} / np.sum({0})", "np.sum({0})", "np.mean({0})", "{0} - {1}", "{0} * {1}",
    "{0} @ {1}", "np.outer({0}, {1})", "np.cumsum({0})", "np.sum({0}, axis=0)", "{0}[1:]", "{0}.T", "{0}[0]",
    "np.sum({0}, axis=-1, keepdims=True)", "np.max({0}, axis=0)", "np.mean({0}, axis=0)", "{0}[-1]", "{0}[i]",
    "{0}[:, None]", "{0}[None, :]", "{0} - np.max({0}, axis=0, keepdims=True)",
)  # fmt: skip
LENGTHS = [(3, 3), (3, 4), (4, 2), (2, 3), (1, 3), (3, 1), (1, 1)]


def program(name, chance):
    """The text of a function of two vectors, a matrix, a number and positions."""
    names, lines = ["x", "y", "A", "s"], []
    for _ in range(chance.randint(2, 6)):
        target = chance.choice(["a", "b", "x", "t1", "y_bar"])
        lines.append(f"    {target} = {chance.choice(STEPS).format(*chance.choices(names, k=2))}")
        names.append(target)
    return "\n".join(
        [f"def {name}(x, y, A, s, i):", *lines, f"    return np.sum({names[-1]} * {names[-2]})", ""]
    )


def arguments(n, m, rng, short=False):
    y = rng.normal(size=1 if short else n)
    return rng.normal(size=n), y, rng.normal(size=(n, m)), float(rng.normal()), rng.integers(0, len(y), n)


@pytest.mark.filterwarnings("ignore")  # means of nothing, for arrays of one number
@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(0, marks=pytest.mark.slow),
        *(pytest.param(s, marks=pytest.mark.campaign) for s in range(1, 30)),
    ],
)
def test_random_programs_have_the_derivatives_of_the_ad_at_all_lengths(seed, tmp_path):
    """Also where lengths of 1 are broadcast that were not, or were by accident, at the sample."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    names = [f"f{k}" for k in range(60)]
    path = tmp_path / f"programs_{seed}.py"
    path.write_text(
        "\n".join(["import numpy as np", "import rulelab as rl", *(program(n, chance) for n in names)])
    )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compared = 0
    for f in (getattr(module, name) for name in names):
        try:
            with np.errstate(all="ignore"):
                draft = drafted(f, arguments(*chance.choice(LENGTHS), rng))
        except DerivationError:  # it raises at these arguments, or gives no number
            continue
        scope = dict(vars(module))
        exec(draft.body, scope)
        for n, m, short in [*((n, m, False) for n, m in LENGTHS), (3, 2, True)]:
            compared += same_as_the_ad(f, scope[draft.rule], arguments(n, m, rng, short))
    assert compared > 100


def same_as_the_ad(f, rule, args):
    """True where the two are the same; False where the function itself, or the AD, cannot be called."""
    try:
        y, back = rl.pullback(f, *args)
    except Exception:
        return False
    found, given = rule(*args)
    np.testing.assert_allclose(found, y, rtol=1e-12)
    for arg, bar, right in zip(args[:4], given(1.3)[1:], back(1.3), strict=False):
        bar = np.zeros(np.shape(arg)) if isinstance(bar, rl.NoTangent) else bar
        right = np.zeros(np.shape(arg)) if right is None else right
        assert np.shape(bar) == np.shape(right) == np.shape(arg)
        np.testing.assert_allclose(bar, right, rtol=1e-8, atol=1e-9)
    return True


def loops(x):
    total = 0.0
    for a in x:
        total = total + a
    return total


def branches(x):
    if len(x) > 2:
        return np.sum(x)
    return np.sum(x * x)


def writes(x):
    out = np.zeros(len(x))
    out[0] = x[0]
    return np.sum(out)


def adds_in_place(x):
    x += 1.0
    return np.sum(x)


def nested(x):
    def inner(z):
        return z * x

    return inner(x)


def two(x):
    both = (x, x * x)
    return both[1]


@pytest.mark.parametrize(
    "f, words",
    [
        (loops, "a loop"),
        (branches, "an `if`"),
        (writes, "an assignment to an element or an attribute"),
        (adds_in_place, r"an assignment like `\+=`"),
        (nested, "a function defined inside"),
        (two, "a list or tuple of values"),
        (lambda x: sum(a for a in x), "a comprehension"),
        (lambda x: np.concatenate([x, x]), "a call with a list of arrays"),
        (lambda x: np.sum(x, where=x > 1) if len(x) else x, "a choice by"),
        (lambda x: x.tolist(), "the method .tolist"),
        (lambda x: (lambda z: z)(x), "a lambda"),
        (lambda x: 3.0, "does not change with its arguments"),
        (lambda x: loops(x), "it only calls loops"),
        (lambda x: np.where(x > 1, x, 0.0)[missing], "missing is not defined"),  # noqa: F821
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(f, words):
    """An error that names it, never a guess."""
    with pytest.raises(DerivationError, match=words):
        drafted(f, (drawn(3),))


def test_closures_and_foreign_arguments_are_refused():
    """The text of a rule reaches no variable of another function, and knows numbers alone."""
    k = 2.0
    with pytest.raises(DerivationError, match="variables of an enclosing function"):
        drafted(lambda x: k * x, (drawn(3),))
    with pytest.raises(DerivationError, match="neither a number nor an array"):
        drafted(lambda x, d: x, (drawn(3), {}))


def many_parameters(weights, offsets, scales, temperatures, amplitudes):
    return weights * offsets + scales * temperatures - amplitudes


def test_long_lines_are_broken_between_parameters_and_between_conditions():
    """Each has a line of its own, so that names stay with their types."""
    lines = drafted(many_parameters, tuple(drawn(5, 3))).source.split("\n")
    assert "    temperatures: NDArray[np.floating]," in lines
    assert "        or np.ndim(offsets) != 1" in lines


rotate_cr = rl.twin(rotate, "rotate_cr")
loops_cr = rl.twin(loops, "loops_cr")


def test_the_statements_of_a_twin_are_those_of_its_function():
    """It only calls that; the rule is its own, and what cannot be read is a line of the function."""
    args = drawn(4), drawn(3)
    own, found = drafted(rotate, args), drafted(rotate_cr, args)
    assert found.body == own.body.replace("rotate", "rotate_cr") and "np.cross(" in found.body
    _, _, rule = stated(rotate_cr, args)
    agrees(rotate_cr, rule, args)
    with pytest.raises(DerivationError, match="a loop") as refused:
        drafted(loops_cr, (drawn(3),))
    assert refused.value.place.line == loops.__code__.co_firstlineno + 2
    with pytest.raises(DerivationError, match=r"%adjoint loops\(x\) .* %rule_stub loops_cr a skeleton"):
        derive_rule(loops_cr, drawn(13))


def test_a_rule_for_some_lengths_is_not_said_to_be_for_all():
    """A cross product is one of vectors of three; a softmax takes as many as there are."""
    some, every = drafted(rotate, (drawn(4), drawn(3))), drafted(softmax, (drawn(4),))
    assert "np.shape(v)[0] != 3" in some.source and "other lengths" in some.notes[0]
    assert "any length" not in some.notes[0] and "for arrays of any length" in every.notes[0]


@pytest.mark.slow
@pytest.mark.scanned
def test_a_rule_by_statements_is_checked_before_it_is_shown(monkeypatch):
    """What numbers do not confirm is an error, not a cell."""
    from rulelab.symbolic import cotangents

    at = drawn(4, 5), np.array([2, 0, 1, 2])
    found = derive_rule(cross_entropy, *at)
    assert found.is_checked and "statement by statement" in str(found)
    assert found.cell.startswith("%%rrule cross_entropy\n")
    monkeypatch.setitem(cotangents.OF_ONE, "exp", "{g} * {y} * 2")
    with pytest.raises(DerivationError, match="did not pass"):
        derive_rule(cross_entropy, *at)


@pytest.mark.slow
@pytest.mark.scanned
def test_where_no_proof_is_found_the_headline_says_by_numbers():
    """A rule that leaves a call to the AD cannot be proved; that it is right was seen by numbers."""
    found = derive_rule(likelihood, drawn(3), TIMES, drawn(4))
    assert found.is_checked and not found.is_proved
    assert found.sentence.startswith("rule derived for likelihood: right by numbers; not proved: the rule")
    assert found.page().verdict == "right"


@pytest.mark.slow
def test_a_rule_for_whose_check_there_was_no_time_is_not_said_to_have_failed(monkeypatch):
    """It was not judged; what helps is more time."""
    monkeypatch.setattr(derive, "_checked", lambda *_: _without_end())
    monkeypatch.setattr(derive, "CHECK_SHARE", 0.001)  # the least that there is
    cut = "derived, but not checked: the check by numbers took"
    with pytest.raises(DerivationError, match=cut) as refused:
        derive_rule(likelihood, drawn(3), TIMES, drawn(4))
    assert "did not pass" not in str(refused.value) and "time_limit=" in str(refused.value)


def test_a_limit_that_is_shared_is_named_with_its_share(monkeypatch):
    """Who is told that 16 s were too few, and gives it 20, would have given it less."""
    monkeypatch.setattr(derive, "_drafted", lambda *_: _without_end())
    with pytest.raises(DerivationError, match="than 0.4 s of processor time, its share of the limit of 1 s"):
        derive_rule(polar, 1.0, 2.0, time_limit=1.0)


def _without_end():
    while True:
        pass


def polar(r, t):
    return r * math.cos(t), r * math.sin(t)


def literals(x):
    halved = np.cumsum(x) / (-1 * 2) * 2**-2
    return np.sum(halved * np.exp(x) ** (1 / 3) * (7 // 2))


@pytest.mark.slow
def test_arithmetic_of_literals_is_the_number_that_it_is():
    """Where that is no longer than what the author wrote; a third stays a third."""
    source = derive_rule(literals, np.linspace(0.1, 1.0, 20)).source
    assert "/ -2" in source and "* 0.25" in source and "* 3" in source and "1 / 3" in source
    assert "-1 * 2" not in source and "7 // 2" not in source


@pytest.mark.slow
@pytest.mark.scanned
def test_functions_of_numbers_with_several_results_have_a_formula():
    """The seed is a tuple then, with nothing for a result that is not used."""
    found = derive_rule(polar)
    assert found.is_proved and found.is_checked
    f = rl.twin(polar, "polar_by_formula")
    scope = {**globals()}
    exec(found.source.replace("@rl.rrule_for(polar)\n", ""), scope)
    rl.rrule_for(f)(scope["polar_rrule"])
    r, t = 1.5, 0.4
    assert rl.gradient(lambda r, t: f(r, t)[0], r, t) == pytest.approx((math.cos(t), -r * math.sin(t)))
    assert rl.gradient(lambda r, t: f(r, t)[1] ** 2, r, t) == pytest.approx(
        (2 * r * math.sin(t) ** 2, 2 * r * r * math.sin(t) * math.cos(t))
    )
