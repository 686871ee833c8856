"""The implicit style: Params, Grads, and gradients of losses that reach their parameters by themselves."""

import copy
import functools
import json
import operator
import random
import sys
import threading
import types
from collections import defaultdict, deque, namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from corpus.harness import all_cases  # noqa: E402
from corpus.programs import arguments, loaded, program  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.ad.implicit import jacobian_of_params  # noqa: E402

W = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])
B = np.array([0.5, -1.5])
X = np.array([1.0, 2.0, -0.5])
PARAMS = rl.Params([W, B])


def numeric(loss, array, step=1e-6):
    """Central differences of the loss by the elements of the array, written in place and put back."""
    found = np.zeros(array.shape)
    for k in np.ndindex(array.shape):
        kept = array[k].copy()
        array[k] = kept + step
        above = loss()
        array[k] = kept - step
        below = loss()
        array[k] = kept
        found[k] = (above - below) / (2 * step)
    return found


def agrees(loss, params=PARAMS):
    """The gradient of each parameter is that of finite differences."""
    grads = rl.gradient(loss, params)
    for x in params:
        found = np.zeros(x.shape) if grads[x] is None else grads[x]
        np.testing.assert_allclose(found, numeric(loss, x), rtol=1e-6, atol=1e-7)
    assert any(grads[x] is not None for x in params)


# --- the numbers of the reference ---------------------------------------------------------------------------


def test_gradient_of_the_reference_text():
    """The example of the reference gives its numbers; an array that is no parameter is no key."""
    x, y, z = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[7], [8]]), np.array([1, 10, 100])
    grads = rl.gradient(lambda: np.sum(x * y * z), rl.Params([x, y]))
    assert np.array_equal(grads[x], [[7, 70, 700], [8, 80, 800]])
    assert np.array_equal(grads[y], [[321], [654]])
    assert z not in grads and x in grads
    with pytest.raises(KeyError, match=r"An array int64\[3\] is not one of the parameters"):
        grads[z]


def test_jacobian_of_the_reference_text():
    """The Jacobians of the reference, with the columns in the order of C."""
    xs, ys = np.array([[1, 2], [3, 4]]), np.array([5, 7, 9])
    J = jacobian_of_params(lambda: ys[:2] + np.sum(xs**2), rl.Params([xs, ys]))
    assert np.array_equal(J[ys], [[1, 0, 0], [0, 1, 0]])
    assert np.array_equal(J[xs], [[2, 4, 6, 8], [2, 4, 6, 8]])


def test_jacobian_of_a_number_and_of_nothing():
    """A number has one row; a parameter that nothing leads from has zeros; a complex output is refused."""
    J = jacobian_of_params(lambda: np.sum(W**2), PARAMS)
    assert np.array_equal(J[W], 2 * W.reshape(1, 6)) and np.array_equal(J[B], np.zeros((1, 2)))
    with pytest.raises(rl.ScalarOutputError, match="real numbers"):
        jacobian_of_params(lambda: W * 1j, PARAMS)


def test_jacobian_agrees_with_gradients():
    """Each row of a Jacobian is the gradient of that element."""
    J = jacobian_of_params(lambda: np.tanh(W @ X + B), PARAMS)
    for k in range(2):
        grads = rl.gradient(lambda k=k: np.tanh(W @ X + B)[k], PARAMS)
        assert np.array_equal(J[W][k], grads[W].ravel()) and np.array_equal(J[B][k], grads[B])


def test_no_path_gives_none():
    """A parameter that the loss does not depend on has None; one with derivative zero has zeros."""
    grads = rl.gradient(lambda: np.sum(0 * W), PARAMS)
    assert grads[B] is None and np.array_equal(grads[W], np.zeros((2, 3)))


def test_value_and_extra_outputs():
    """withgradient gives the value too, and carries what follows the loss in a tuple."""
    found = rl.withgradient(lambda: (np.sum(B**2), "more"), PARAMS)
    assert found.val == (2.5, "more") and np.array_equal(found.grad[B], 2 * B)


def test_results_are_the_callers_own():
    """Gradients are writable, share no memory with each other or the parameters, and are new each time."""
    loss = lambda: np.sum(W[0, :2] + B)  # noqa: E731
    first, second = rl.gradient(loss, PARAMS), rl.gradient(loss, PARAMS)
    first[B][0] = 99.0
    assert second[B][0] == 1.0 and not np.shares_memory(first[B], first[W])


def test_complex_and_zero_dimensional_parameters():
    """A complex parameter gets ∂/∂Re + i ∂/∂Im, one without dimensions an array without dimensions."""
    c, s = np.array([1 + 2j, 3j]), np.array(2.0)
    grads = rl.gradient(lambda: np.sum(np.abs(c) ** 2) * s, rl.Params([c, s]))
    np.testing.assert_allclose(grads[c], 4 * c)
    assert grads[s].shape == () and grads[s] == 14.0


# --- how a loss reaches its parameters ----------------------------------------------------------------------


def affine(v):
    return W @ v + B


def deep(v, depth):
    return affine(v) if depth == 0 else deep(v * 1.01, depth - 1)


def with_defaults(v, w=W, *, b=B):
    return w @ v + b


def closure_over(w):
    def inner(v):
        return w @ v

    return inner


class Layer:
    shift = B

    def __init__(self, w):
        self.w = w
        self.parts = {"b": [B]}

    @property
    def doubled(self):
        return self.w * 2

    @staticmethod
    def static(v):
        return W @ v

    @classmethod
    def of_class(cls, v):
        return W @ v + cls.shift

    def __call__(self, v):
        return self.w @ v + self.parts["b"][0] * self.shift

    def __add__(self, other):
        return self.w + other

    def __getitem__(self, k):
        return W[k]

    def __iter__(self):
        return iter([self.w, W])

    def __enter__(self):
        return self.w

    def __exit__(self, *_):
        return None

    def loss(self):
        return np.sum(self(X) ** 2)


LAYER = Layer(W)
HELD = {"layers": [(W, {"b": B})]}
NAMED = namedtuple("NAMED", "w b")(W, B)
SPACE = types.SimpleNamespace(w=W)
CLOSED = closure_over(W)
PARTIAL = functools.partial(np.matmul, W)
PARTIAL_OF_OURS = functools.partial(deep, depth=2)
VECTORIZED = np.vectorize(lambda t: t * W[0, 0] + B[1])
BOUND = W.dot
with_defaults.kept = W


@functools.lru_cache
def cached(scale):
    return W * scale


def in_a_loop():
    total = 0.0
    for i in range(2):
        for j in range(3):
            total += W[i, j] ** 2 * (B[i] + np.sum(W))
    return total


def nested_functions():
    def inner(w=W):
        return np.sum(w**2)

    def other():
        return np.sum(B**3) * inner()

    return other()


def by_with():
    with LAYER as w:
        return np.sum(w**3)


def in_a_comprehension():
    return sum([np.sum(p**2) * k for k, p in enumerate([W, B, W])])


def imported():
    from parameters_of_a_test import W as w

    return np.sum(w**2)


def filled_by_a_helper():
    out, table, held = [], {}, types.SimpleNamespace()
    put_list(out), put_dict(table), put_object(held)
    return np.sum(out[0] ** 2) + np.sum(table["b"] ** 3) + np.sum(held.w)


def put_list(out):
    out.append(W * 2)


def put_dict(table):
    table["b"] = B


def put_object(held):
    held.w = W**2


def closure_beside_a_list():
    out = []
    f = CLOSED if B[0] > 0 else affine
    both = [f, out]
    both[1].append(both[0](X))
    put_list(out)
    return np.sum(out[0] ** 2) + np.sum(out[1])


def filled_by_a_closure():
    out, total = [], 0.0

    def put():
        nonlocal total
        total = total + B[0] ** 2
        out.append(W**2)

    put()
    put()
    return total + np.sum(out[1])


class Accumulator:
    def __init__(self):
        self.total, self.items = 0.0, []

    def add(self, v):
        self.total = self.total + v * B[0]
        self.items.append(W)

    def __setitem__(self, k, v):
        self.items.append(W * v)

    def __iadd__(self, other):
        self.total = self.total + B[1] ** 2
        return self


def filled_by_methods():
    found = Accumulator()
    found.add(2.0)
    found.add(3.0)
    found[0] = 2.0
    found += 1
    return found.total + np.sum(found.items[-1] ** 2)


class Behind(Layer):
    def behind(self):
        return super().loss() + np.sum(super().shift ** 2)


BEHIND = Behind(W)


def decorated(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args) * np.sum(B)

    return inner


@decorated
def by_decorator(v):
    return W @ v


MODULE = types.ModuleType("parameters_of_a_test")
MODULE.W, MODULE.Layer, MODULE.affine = W, Layer, affine
sys.modules["parameters_of_a_test"] = MODULE

REACHED = {
    "a global": lambda: np.sum(W**2) + np.prod(B),
    "calls": lambda: np.sum(affine(X) ** 2),
    "deep calls": lambda: np.sum(deep(X, 20) ** 2),
    "as arguments from there": lambda: np.sum(np.multiply(*HELD["layers"][0][0]) ** 2),
    "defaults": lambda: np.sum(with_defaults(X) ** 2),
    "defaults passed over": lambda: np.sum(with_defaults(X, W * 2) ** 2),
    "a function attribute": lambda: np.sum(with_defaults.kept**2),
    "a closure": lambda: np.sum(CLOSED(X) ** 2),
    "one of two closures": lambda: np.sum((CLOSED if B[0] > 0 else np.sin)(X) ** 2),
    "a closure in a list": lambda: sum([np.sum(f(X)) ** 2 for f in [CLOSED, affine]]),
    "a closure beside a container that changes": closure_beside_a_list,
    "a closure made inside": lambda: np.sum(closure_over(W)(X) ** 2),
    "nested functions": nested_functions,
    "a callable object": lambda: np.sum(LAYER(X) ** 2),
    "a method": LAYER.loss,
    "a method called": lambda: LAYER.loss() * 2,
    "an object made inside": lambda: Layer(W * 2).loss(),
    "a property": lambda: np.sum(LAYER.doubled**2),
    "a static method": lambda: np.sum(LAYER.static(X) ** 2),
    "a static method of the class": lambda: np.sum(Layer.static(X) ** 2),
    "a class method": lambda: np.sum(Layer.of_class(X) ** 2),
    "a class attribute": lambda: np.sum(Layer.shift**2),
    "a class attribute by the object": lambda: np.sum(LAYER.shift**2),
    "an operator": lambda: np.sum((LAYER + 1.0) ** 2),
    "an item": lambda: np.sum(LAYER[0] ** 2),
    "iteration": lambda: sum(np.sum(w**2) for w in LAYER),
    "a with statement": by_with,
    "containers": lambda: np.sum(HELD["layers"][0][0] ** 2) + np.sum(HELD["layers"][-1][1]["b"]),
    "a named tuple": lambda: np.sum(NAMED.w**2) * np.sum(NAMED.b),
    "a namespace": lambda: np.sum(SPACE.w**2),
    "a module": lambda: np.sum(MODULE.W**2),
    "a function of a module": lambda: np.sum(MODULE.affine(X) ** 2),
    "a class of a module": lambda: np.sum(MODULE.Layer.shift**2),
    "an import": imported,
    "getattr": lambda: np.sum(getattr(MODULE, "W") ** 2),
    "getattr with a name made up": lambda: np.sum(getattr(LAYER, "".join(["w"])) ** 2),
    "sys.modules": lambda: np.sum(sys.modules["parameters_of_a_test"].W ** 2),
    "an attribute getter": lambda: np.sum(operator.attrgetter("W")(MODULE) ** 2),
    "a partial": lambda: np.sum(PARTIAL(X) ** 2),
    "a partial of ours": lambda: np.sum(PARTIAL_OF_OURS(X) ** 2),
    "np.vectorize": lambda: np.sum(VECTORIZED(X)),
    "a bound method of an array": lambda: np.sum(BOUND(X)),
    "map": lambda: sum(map(lambda t: t * W[0, 0] ** 2, [1.0, 2.0])),
    "reduce": lambda: functools.reduce(lambda a, t: a * t + B[0], [1.0, 2.0], 1.0),
    "np.piecewise": lambda: np.piecewise(1.0, [True], [reads_globals]) * 1.0,
    "np.apply_along_axis": lambda: np.sum(np.apply_along_axis(reads_globals, 0, np.ones((2, 2)))),
    "a list of functions": lambda: [reads_globals, affine][0](2.0) ** 2,
    "a dict of functions": lambda: {"f": reads_globals}["f"](2.0) ** 2,
    "a sort key": lambda: max([1.0, 2.0], key=lambda t: t * W[0, 0]) * B[0] ** 2,
    "what helpers put into containers": filled_by_a_helper,
    "what closures put into variables": filled_by_a_closure,
    "what methods put into objects": filled_by_methods,
    "the class behind": lambda: BEHIND.behind(),
    "a decorator": lambda: np.sum(by_decorator(X) ** 2),
    "a partial as the loss": functools.partial(lambda w, k: np.sum(w**2) * k, W, 2.0),
    "an array's own method as the loss": W.sum,
    "a class as an argument": lambda: (lambda cls: np.sum(cls.shift**2))(Layer),
    "a module as an argument": lambda: (lambda module: np.sum(module.W**2))(MODULE),
    "a loop over elements": in_a_loop,
    "a comprehension": in_a_comprehension,
    "the Params themselves": lambda: sum(np.sum(p**2) for p in PARAMS),
    "a default of the loss": lambda w=W: np.sum(w**2),
    "a branch": lambda: np.sum(W**2) if B[0] > 0 else np.sum(B),
}


@pytest.mark.parametrize("way", REACHED)
def test_reaches(way):
    """Whatever way a parameter is reached, its gradient is that of finite differences."""
    agrees(REACHED[way])


def programs():
    return [
        pytest.param(case, id=case.name)
        for case in all_cases()
        if any(arrays_in(args) for args in case.points)
    ]


def arrays_in(value, bar=None):
    """(array, its cotangent) for the arrays of floats in lists, tuples and dicts."""
    if type(value) is np.ndarray:
        return [(value, bar)] if value.dtype.kind in "fc" else []
    if isinstance(value, (list, tuple)):
        items = enumerate(value)
    else:
        items = value.items() if isinstance(value, dict) else ()
    return [pair for k, v in items for pair in arrays_in(v, None if bar is None else bar[k])]


def called_with_global_arguments():
    return FUNCTION(*ARGUMENTS, **KEYWORDS)  # noqa: F821 (set by the test)


@pytest.mark.every(11)
@pytest.mark.parametrize("case", programs())
def test_programs_agree_with_the_explicit_style(case):
    """Every program of the corpus has the same gradient when its arrays are reached and not handed in."""
    for args in case.points:
        args = copy.deepcopy(args)
        pairs = arrays_in(args, rl.gradient(case.function, *args, **case.kwargs))
        if not pairs:
            continue
        globals().update(FUNCTION=case.function, ARGUMENTS=args, KEYWORDS=case.kwargs)
        params = rl.Params([x for x, _ in pairs])
        for loss in (lambda: case.function(*args, **case.kwargs), called_with_global_arguments):  # noqa: B023
            grads = rl.gradient(loss, params)
            for x in params:
                wanted = sum((bar for y, bar in pairs if y is x and bar is not None), np.zeros(x.shape))
                found = np.zeros(x.shape) if grads[x] is None else grads[x]
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.every(11)
def test_random_programs_agree_with_the_explicit_style(seed, tmp_path):
    """A random program has the same gradient when its array is reached and not handed in."""
    with loaded(program(seed), tmp_path / f"implicit_program_{seed}.py") as module:
        x, y, v, xs = arguments(seed)
        wanted = rl.gradient(module.program, x, y, v, xs)[2]
        found = rl.gradient(lambda: module.program(x, y, v, xs), rl.Params([v, module.TABLE]))[v]
        zeros = np.zeros(v.shape)
        np.testing.assert_allclose(
            zeros if found is None else found, zeros if wanted is None else wanted, rtol=1e-10, atol=1e-12
        )


# --- what is left out, and what is refused ------------------------------------------------------------------


def test_what_is_ignored_is_ignored():
    """ignore_derivatives hides a parameter, also when attributes and calls follow."""
    grads = rl.gradient(
        lambda: np.sum(rl.ignore_derivatives(W).T) + np.sum(affine(rl.ignore_derivatives(lambda: W[0]))),
        PARAMS,
    )
    assert np.array_equal(grads[W], np.tile(W[0], (2, 1))) and np.array_equal(grads[B], [1.0, 1.0])


def quad(function, a, b):
    from scipy.integrate import quad

    return quad(function, a, b)[0]


def reads_globals(t):
    return t * W[0, 0]


class Meta(type):
    @property
    def computed(cls):
        return W * 2


class WithMeta(metaclass=Meta):
    pass


OUT_OF_SIGHT = {
    "a property of a metaclass": lambda: np.sum(WithMeta.computed),
    "a function handed to C code": lambda: quad(lambda t: t * W[0, 0], 0, 1),
    "a function that reads a global": lambda: quad(reads_globals, 0, 1),
    "np.frompyfunc": lambda: np.sum(np.frompyfunc(reads_globals, 1, 1)(2.0)),
    "an inner gradient": lambda: rl.gradient(reads_globals, 2.0)[0],
    "an inner gradient with Params": lambda: np.sum(rl.gradient(lambda: np.sum(W**2), PARAMS)[W]),
    "globals()": lambda: np.sum(globals()["W"]),
    "an iterator from outside": lambda: np.sum(next(ITERATOR)),
    "a method caller": lambda: np.sum(CALLER(X)),
    "a view from outside": lambda: np.sum(VIEW),
    "a deque from outside": lambda: np.sum(DEQUE[0]),
}
ITERATOR, CALLER, VIEW, DEQUE = iter([W]), operator.methodcaller("dot", W.T), W.T, deque([W])


def test_follows_a_function_of_positions():
    """What `np.fromfunction` calls reads its parameters in sight."""
    found = rl.gradient(lambda: np.sum(np.fromfunction(reads_globals, (3,))), PARAMS)[W]
    assert found[0, 0] == 3.0 and np.sum(found) == 3.0


@pytest.mark.parametrize("way", OUT_OF_SIGHT)
def test_refuses_what_it_cannot_follow(way):
    """A parameter that goes out of sight is an error, never a None."""
    if "C code" in way or "global" in way:
        pytest.importorskip("scipy")
    with pytest.raises(rl.RuleLabError) as caught:
        rl.gradient(OUT_OF_SIGHT[way], PARAMS)
    assert str(caught.value).count("\n") < 6


def test_a_view_without_derivative_is_no_error():
    """An array that shares the memory of a parameter is refused only if something flows to it."""
    assert np.array_equal(rl.gradient(lambda: np.sum(VIEW) * 0 + np.sum(W), PARAMS)[W], np.ones((2, 3)))


def test_writing_to_a_parameter_is_refused_before_the_write():
    """A loss may not write to a parameter, and nothing is lost where it tries."""

    def writes():
        W[0, 0] = 7.0
        return np.sum(W)

    before = W.copy()
    with pytest.raises(rl.MutationError):
        rl.gradient(writes, PARAMS)
    assert np.array_equal(W, before)


def test_rebinding_in_the_middle_of_a_loop_is_noticed():
    """A global parameter that is bound to another array while a loop reads it is an error."""
    names = {"np": np, "P": np.ones(3), "rl": rl}

    def rebind():
        names["P"] = np.zeros(3)

    names["rebind"] = rebind

    def loss():
        total = 0.0
        for i in range(3):
            total += P[i]  # noqa: F821
            rl.ignore_derivatives(rebind)
        return total

    loss = types.FunctionType(loss.__code__, names, "loss", None, loss.__closure__)
    with pytest.raises(rl.NotDifferentiableError, match="was rebound while the loss ran"):
        rl.gradient(loss, rl.Params([names["P"]]))


def test_factories_of_dataclasses_are_seen():
    """A default factory that hands out a parameter is refused: nobody follows what it does."""
    import dataclasses

    @dataclasses.dataclass
    class Model:
        w: np.ndarray = dataclasses.field(default_factory=lambda: W * 2)

    with pytest.raises(rl.NotDifferentiableError, match="refers to a parameter"):
        rl.gradient(lambda: np.sum(Model().w), PARAMS)


def test_missing_entries_of_a_dict_from_outside():
    """What the factory of a defaultdict makes is differentiated, or refused."""
    table = defaultdict(lambda: W)
    try:
        assert np.array_equal(rl.gradient(lambda: np.sum(table["x"]), PARAMS)[W], np.ones((2, 3)))
    except rl.RuleLabError:
        pass


# --- rules of authors ---------------------------------------------------------------------------------------


def test_a_rule_decides_what_flows_to_captured_parameters():
    """What a rule says of a captured variable is the gradient; where it says nothing there is none."""
    w = np.array([1.0, 2.0])

    def scaled(v):
        return v * np.sum(w)

    def scaled_rrule(v):
        back = lambda y_bar: (
            rl.Tangent(types.FunctionType, w=10 * y_bar * v * np.ones(2)),
            y_bar * np.sum(w),
        )  # noqa: E731
        return v * np.sum(w), back

    rl.rrule_for(scaled)(scaled_rrule)
    params = rl.Params([w])
    assert np.array_equal(rl.gradient(lambda: scaled(3.0), params)[w], [30.0, 30.0])
    assert np.array_equal(rl.gradient(scaled_loss(scaled), params)[w], [30.0, 30.0])
    rl.remove_rule(scaled)
    assert np.array_equal(rl.gradient(lambda: scaled(3.0), params)[w], [3.0, 3.0])


def scaled_loss(scaled):
    def loss():
        return scaled(3.0)

    return loss


def test_a_rule_without_a_word_lets_nothing_flow():
    """A rule that returns NoTangent for its function hides the parameters in it."""

    def hidden(v):
        return v * np.sum(W)

    @rl.rrule_for(hidden)
    def hidden_rrule(v):
        return v * np.sum(W), lambda y_bar: (rl.NoTangent(), y_bar * np.sum(W))

    assert rl.gradient(lambda: hidden(2.0) + np.sum(B), PARAMS)[W] is None


def test_what_a_rule_asks_the_ad_for_is_its_own_affair():
    """A pullback that a rule asks for deposits nothing behind the rule's back."""

    def inner(v):
        return np.sum(v * W)

    def outer(v):
        return inner(v) + 1.0

    @rl.rrule_for(outer, requires={rl.HasReverseMode})
    def outer_rrule(config, v):
        y, back = config.rrule_via_ad(inner, v)
        return y + 1.0, lambda y_bar: (rl.NoTangent(), back(y_bar)[1])

    assert rl.gradient(lambda: outer(2.0) + np.sum(B), PARAMS)[W] is None


# --- staleness, nesting, threads ----------------------------------------------------------------------------


def test_styles_do_not_mix():
    """One function differentiated in both styles in turn has the right gradient in each."""

    def scaled(v):
        return np.sum(v * B)

    v = np.array([3.0, 4.0])
    for _ in range(3):
        assert np.array_equal(rl.gradient(scaled, v)[0], B)
        grads = rl.gradient(lambda: scaled(v), rl.Params([B]))
        assert np.array_equal(grads[B], v)
        grads = rl.gradient(lambda: scaled(v), rl.Params([v, B]))
        assert np.array_equal(grads[B], v) and np.array_equal(grads[v], B)
        assert rl.gradient(lambda: scaled(v), rl.Params([W]))[W] is None


def test_what_a_cached_function_keeps_is_not_used():
    """A cached function is differentiated where it is called, whatever it keeps."""
    for _ in range(2):
        assert np.array_equal(rl.gradient(lambda: np.sum(cached(2.0)), PARAMS)[W], np.full((2, 3), 2.0))


def test_other_parameters_of_the_same_loss():
    """The same loss for other Params has other gradients, and None for nothing that is not asked."""
    loss = REACHED["calls"]
    whole = rl.gradient(loss, PARAMS)
    for _ in range(2):
        assert np.array_equal(rl.gradient(loss, rl.Params([W]))[W], whole[W])
        assert np.array_equal(rl.gradient(loss, rl.Params([B]))[B], whole[B])


def test_rebinding_a_global_gives_the_new_arrays_gradient():
    """After W stands for another array, that one has the gradient and the old one none."""
    names = {"np": np, "P": np.ones(2)}
    loss = types.FunctionType((lambda: np.sum(P**2)).__code__, names)  # noqa: F821
    old = names["P"]
    assert np.array_equal(rl.gradient(loss, rl.Params([old]))[old], [2.0, 2.0])
    names["P"] = new = np.array([3.0, 4.0])
    grads = rl.gradient(loss, rl.Params([old, new]))
    assert grads[old] is None and np.array_equal(grads[new], [6.0, 8.0])


def test_a_redefined_function_counts():
    """A helper that is defined anew is differentiated anew."""
    model = types.SimpleNamespace(f=lambda v: v * 2)
    assert np.array_equal(rl.gradient(lambda: np.sum(model.f(B)), PARAMS)[B], [2.0, 2.0])
    model.f = lambda v: v * 3
    assert np.array_equal(rl.gradient(lambda: np.sum(model.f(B)), PARAMS)[B], [3.0, 3.0])


def test_a_list_that_gets_a_parameter_later():
    """A container is looked at anew in each gradient."""
    held = [np.ones(2)]
    loss = lambda: np.sum(held[0] * 5)  # noqa: E731
    assert rl.gradient(loss, PARAMS)[B] is None
    held[0] = B
    assert np.array_equal(rl.gradient(loss, PARAMS)[B], [5.0, 5.0])


def test_a_sweep_inside_a_rule_is_its_own():
    """A gradient with Params inside a rule neither takes from the outer one nor adds to it."""

    def normed(v):
        return np.sum(v) * 2

    @rl.rrule_for(normed)
    def normed_rrule(v):
        inner = rl.gradient(lambda: np.sum(W**2) + np.sum(B**2), PARAMS)
        assert np.array_equal(inner[W], 2 * W)
        return np.sum(v) * 2, lambda y_bar: (rl.NoTangent(), 2 * y_bar * np.ones(v.shape))

    grads = rl.gradient(lambda: normed(B), PARAMS)
    assert grads[W] is None and np.array_equal(grads[B], [2.0, 2.0])


def test_threads_do_not_meet():
    """Eight threads with parameters of their own each get their own gradients."""
    meet = threading.Barrier(8)

    def work(number):
        w = np.full(3, float(number))
        params, shared = rl.Params([w]), rl.Params([w, B])
        meet.wait(300)
        for _ in range(40):
            assert np.array_equal(rl.gradient(lambda: np.sum(w**2) * np.sum(B**2), params)[w], 2 * w * 2.5)
            grads = rl.gradient(lambda: np.sum(affine(w)) + np.sum(B) * number, shared)
            assert np.array_equal(grads[B], [1.0 + number] * 2)
        return number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == list(range(8))


def test_an_error_leaves_nothing_behind():
    """After a loss that failed, the next gradient is right."""
    with pytest.raises(ZeroDivisionError):
        rl.gradient(lambda: np.sum(W) / 0 if False else 1 / 0, PARAMS)
    assert np.array_equal(rl.gradient(lambda: np.sum(W), PARAMS)[W], np.ones((2, 3)))


def test_training_in_both_styles_agrees_to_the_last_digit():
    """A hundred steps of descent give the same weights in the explicit and in the implicit style."""
    rng = np.random.default_rng(5)
    inputs, targets = rng.normal(size=(20, 3)), rng.normal(size=20)
    start = [rng.normal(size=(3, 4)), np.zeros(4), rng.normal(size=4)]

    def model(w1, b1, w2, x):
        return np.tanh(x @ w1 + b1) @ w2

    def explicit_loss(w1, b1, w2):
        return np.mean((model(w1, b1, w2, inputs) - targets) ** 2)

    weights = [w.copy() for w in start]
    for _ in range(100):
        weights = [w - 0.1 * g for w, g in zip(weights, rl.gradient(explicit_loss, *weights), strict=True)]

    w1, b1, w2 = (w.copy() for w in start)
    params = rl.Params([w1, b1, w2])
    for _ in range(100):
        grads = rl.gradient(lambda: np.mean((model(w1, b1, w2, inputs) - targets) ** 2), params)
        for p in params:
            p -= 0.1 * grads[p]

    for found, wanted in zip(params, weights, strict=True):
        assert np.array_equal(found, wanted)
    assert explicit_loss(*weights) < explicit_loss(*start)


# --- Params -------------------------------------------------------------------------------------------------


def test_params_are_an_ordered_set_by_identity():
    """Members are told by identity, kept in order and once."""
    params = rl.Params([W, B, W])
    assert len(params) == 2 and params[0] is W and params[-1] is B and params[1:] == rl.Params([B])
    assert W in params and W.copy() not in params and 1.0 not in params
    params.add(X)
    params.discard(W)
    params.discard(W)
    assert [x is y for x, y in zip(params, (B, X), strict=True)] == [True, True]


def test_params_algebra():
    """Union, intersection and differences keep the order; equality asks for it, subsets do not."""
    a, b = rl.Params([W, B]), rl.Params([X, W])
    assert (a | b) == rl.Params([W, B, X]) and (b | a) == rl.Params([X, W, B])
    assert (a & b) == rl.Params([W]) and (a - b) == rl.Params([B])
    assert set(map(id, a ^ b)) == {id(B), id(X)}
    assert a != rl.Params([B, W]) and a <= rl.Params([B, W]) and not b <= a
    assert a.copy() == a and a.copy() is not a
    with pytest.raises(TypeError):
        hash(a)


def test_params_to_and_from_a_vector():
    """One flat vector holds all elements in C order, and goes back into the same arrays."""
    p, q = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array(5.0)
    params = rl.Params([p, q])
    vector = params.to_vector()
    assert np.array_equal(vector, [1, 2, 3, 4, 5])
    assert params.copy_from(vector * 2) is params
    assert np.array_equal(p, [[2, 4], [6, 8]]) and q == 10 and params[0] is p
    with pytest.raises(rl.RuleShapeError, match="5 elements"):
        params.copy_from(np.zeros(4))
    assert np.array_equal(p, [[2, 4], [6, 8]])


@pytest.mark.parametrize(
    "given, text",
    [
        ([1.0], "Only arrays can be differentiated with Params: a float cannot be told apart from another"),
        ([np.float64(1)], "a float64 cannot be told apart from another"),
        ([3], "an int cannot be told apart from another"),
        (["W"], "got a str"),
        ([[W]], "got a list"),
        ("ab", "a list of arrays, not one str"),
        (W, r"a list of arrays, not one float64\[2, 3\]"),
        (2.0, "a list of arrays, not one float"),
        ({"w": W}, "a list of arrays, not one dict"),
        ([np.array([True])], r"bool\[1\] has no gradient"),
        ([np.ma.array([1.0])], "has no gradient"),
        ([W, W[0]], "share their memory"),
    ],
)
def test_what_cannot_be_a_parameter(given, text):
    """What has no identity or no gradient is refused, with the reason."""
    with pytest.raises(rl.NotDifferentiableError, match=text):
        rl.Params(given)


@pytest.mark.parametrize(
    "ask, text",
    [
        (lambda: rl.gradient(lambda x: x, PARAMS), "the loss is called without arguments"),
        (lambda: rl.gradient(lambda: np.sum(W), PARAMS, W), "Params must be the only argument"),
        (lambda: rl.gradient(lambda: np.sum(W), W, PARAMS), "Params must be the only argument"),
        (lambda: rl.gradient(lambda: np.sum(W), PARAMS, argnums=0), "Params must be the only argument"),
        (lambda: rl.gradient(lambda: W, PARAMS), "Perhaps you wanted jacobian"),
        (lambda: rl.gradient(3.0, PARAMS), "cannot be called"),
        (lambda: rl.pullback(lambda: np.sum(W), PARAMS), "pullback takes no Params"),
    ],
)
def test_wrong_calls_say_what_is_wrong(ask, text):
    """A loss with arguments, Params beside others and the like are clear errors."""
    with pytest.raises(rl.RuleLabError, match=text):
        ask()


# --- Grads --------------------------------------------------------------------------------------------------


def grads_of(scale):
    return rl.gradient(lambda: scale * np.sum(B**2), PARAMS)


def test_grads_are_a_mapping_by_identity():
    """Keys are the parameters, also those without gradient; iteration is over keys."""
    grads = grads_of(1.0)
    assert list(map(id, grads)) == [id(W), id(B)] and len(grads) == 2
    assert grads.get(X, "none") == "none" and grads[W] is None and grads.params == PARAMS
    assert [key is B for key, value in grads.items() if value is not None] == [True]


def test_grads_arithmetic():
    """Sums, differences, products and quotients go entry by entry; None counts as zeros."""
    g, h = grads_of(1.0), grads_of(3.0)
    assert np.array_equal((g + h)[B], 8 * B) and np.array_equal((g + h)[W], np.zeros((2, 3)))
    with np.errstate(invalid="ignore"):  # None counts as zeros, also below a line
        quotient = h / g
    for found, wanted in [
        (h - g, 4 * B), (2 * g, 4 * B), (g * np.float64(2), 4 * B), (np.float64(2) * g, 4 * B), (-g, -2 * B),
        (1 - g, 1 - 2 * B), (g * h, 12 * B * B), (quotient, np.full(2, 3.0)), (1 + g, 1 + 2 * B),
        (h / 2, 3 * B),
    ]:  # fmt: skip
        assert np.array_equal(found[B], wanted)
    own = rl.Grads(PARAMS, [np.ones((2, 3)), None])
    assert np.array_equal((g + own)[W], np.ones((2, 3)))
    assert g == grads_of(1.0) and g != h
    with pytest.raises(TypeError):
        g + "a"


def test_grads_of_other_params_do_not_mix():
    """Arithmetic takes Grads of the same parameters, in any order; others are an error."""
    g = grads_of(1.0)
    turned = rl.Grads(rl.Params([B, W]), [np.ones(2), None])
    assert np.array_equal((g + turned)[B], 2 * B + 1)
    with pytest.raises(rl.RuleLabError, match="different Params"):
        g + rl.Grads(rl.Params([B]), [B])
    with pytest.raises(rl.RuleShapeError, match="2 parameters got 1"):
        rl.Grads(PARAMS, [B])


def test_grads_map_merge_and_vectors():
    """map goes over entries with zeros for None, merge unites, a flat vector holds all."""
    g = grads_of(1.0)
    clipped = g.map(lambda a, b: np.clip(a, -1, 1) + b, g)
    assert np.array_equal(clipped[B], np.clip(2 * B, -1, 1) + 2 * B)
    merged = g.merge(rl.Grads(rl.Params([X, B]), [X, B]))
    assert merged.params == rl.Params([W, B, X]) and np.array_equal(merged[B], B)
    assert np.array_equal(g.to_vector(), [*np.zeros(6), *(2 * B)])
    vector = np.empty(8)
    assert g.copy_to(vector) is vector and np.array_equal(vector, g.to_vector())
    with pytest.raises(rl.RuleShapeError):
        g.copy_to(np.empty(7))


def test_grads_are_shown_as_a_table():
    """Text and HTML have one row for each parameter; JSON holds the numbers."""
    grads = grads_of(1.0)
    assert "float64[2, 3]" in repr(grads) and "None: the loss does not depend on it" in repr(grads)
    html = grads._repr_html_()
    assert 'data-label="gradient">[ 1. -3.]</td>' in html and "<script" not in html
    assert json.loads(grads.to_json())["parameters"][1]["gradient"] == [1.0, -3.0]


def test_random_compositions_agree_with_the_explicit_style():
    """Losses put together at random from ways to reach parameters agree with finite differences."""
    pick = random.Random(3)
    ways = [way for way in REACHED if way != "a branch"]
    for _ in range(12):
        chosen = [REACHED[way] for way in pick.sample(ways, 3)]
        agrees(lambda: sum([f() for f in chosen]))  # noqa: B023
