"""Tests of where a check looks, given nothing: right rules raise no alarm, wrong ones are caught."""

import dataclasses
import math
import typing

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.arguments.points import TRIES, lines_at, points_reaching_new_lines
from rulelab.checking.testing.testers import checking
from rulelab.checking.testing.vjps import check_vjp

from .rules import registry_with
from .written_rules import judged as judged_text
from .written_rules import rule

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def judged(f, rule, *at, **options):
    return rule_check(f, *at, registry=registry_with(f, rule), **options)


def rotated(q, v):
    q = q / np.linalg.norm(q)
    t = 2 * np.cross(q[1:], v)
    return v + q[0] * t + np.cross(q[1:], t)


def rotated_rrule(q, v):
    n = np.linalg.norm(q)
    unit = q / n
    w, u = unit[0], unit[1:]
    t = 2 * np.cross(u, v)

    def pullback(y_bar):
        t_bar = w * y_bar + np.cross(y_bar, u)
        u_bar = np.cross(t, y_bar) + 2 * np.cross(v, t_bar)
        unit_bar = np.concatenate([[y_bar @ t], u_bar])
        return NO, (unit_bar - unit * (unit @ unit_bar)) / n, y_bar + 2 * np.cross(t_bar, u)

    return v + w * t + np.cross(u, t), pullback


def polynomial(c, x):
    return c[0] + c[1] * x + c[2] * x**2


def polynomial_rrule(c, x):
    def pullback(y_bar):
        return NO, y_bar * np.array([1.0, x, x**2]), y_bar * (c[1] + 2 * c[2] * x)

    return polynomial(c, x), pullback


def tail(q):
    return q[1:] @ q[1:]


def tail_rrule(q):
    def pullback(y_bar):
        q_bar = np.zeros(4)
        q_bar[1:] = 2 * y_bar * q[1:]
        return NO, q_bar

    return tail(q), pullback


def outer(x):
    return np.outer(x, x)


def outer_rrule(x):
    return outer(x), lambda y_bar: (NO, (y_bar + y_bar.T) @ x)


def power(x, k):
    return x**k


def power_rrule(x, k):
    """Of whole powers only."""
    return x**k, lambda y_bar: (NO, k * x ** (k - 1) * y_bar, NO)


def applied(A, x):
    return A @ x


def applied_rrule(A, x):
    return A @ x, lambda y_bar: (NO, np.outer(y_bar, x), A.T @ y_bar)


def layer(x, W, b):
    return W @ x + b


def layer_rrule(x, W, b):
    return layer(x, W, b), lambda y_bar: (NO, W.T @ y_bar, np.outer(y_bar, x), y_bar)


def softplus(x):
    return np.log1p(np.exp(x))


def softplus_rrule(x):
    """As JAX's manual has it."""
    return softplus(x), lambda y_bar: (NO, y_bar * (1 - 1 / (1 + np.exp(x))))


def added(a, b):
    return a + b


def added_rrule(a, b):
    """As ChainRules has it: the cotangent itself is handed on."""
    return a + b, lambda y_bar: (NO, y_bar, y_bar)


def summed(x):
    return np.sum(x)


def summed_rrule(x):
    return np.sum(x), lambda y_bar: (NO, np.broadcast_to(y_bar, np.shape(x)))


RIGHT = [
    (rotated, rotated_rrule, (np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.5, -1.0, 2.0]))),
    (polynomial, polynomial_rrule, (np.ones(3), 0.5)),
    (tail, tail_rrule, (np.array([1.0, 2.0, -1.0, 0.5]),)),
    (outer, outer_rrule, (np.array([1.0, 2.0, -1.0]),)),
    (power, power_rrule, (1.5, 3)),
    (applied, applied_rrule, (np.ones((2, 3)), np.arange(3.0))),
    (layer, layer_rrule, (np.arange(3.0), np.ones((2, 3)), np.ones(2))),
    (softplus, softplus_rrule, (1.3,)),
    (added, added_rrule, (np.arange(3.0), np.ones(3))),
    (summed, summed_rrule, (np.arange(3.0),)),
]


@pytest.mark.every(23)
@pytest.mark.parametrize("depth", ["quick", "normal"])
@pytest.mark.parametrize("f, rule, at", RIGHT, ids=lambda x: getattr(x, "__name__", ""))
def test_right_rules_are_right_at_first_try(f, rule, at, depth):
    """Given nothing, and given arguments."""
    assert judged(f, rule, depth=depth).verdict == "right"
    assert judged(f, rule, *at, depth=depth).verdict == "right"


@pytest.mark.parametrize("x", [-20.0, -60.0, 30.0, np.array([1.0, -25.0, 3.0])])
def test_lost_digits_are_no_mistake(x):
    """They are told in the verdict."""
    found = judged(softplus, softplus_rrule, x)
    assert found.verdict == "right"
    if np.max(x) < -15:
        assert "loses digits at x = " in found.sentence and found.to_dict()["loses"]


def test_given_arguments_are_moved_a_little():
    """What a quadrature gives 64 times further away is not a number to judge by."""
    integrate = pytest.importorskip("scipy.integrate")

    def area(b, k):
        return integrate.quad(lambda t: math.sin(k * t), 0, b)[0]

    def area_rrule(b, k):
        def pullback(y_bar):
            k_bar = integrate.quad(lambda t: t * math.cos(k * t), 0, b)[0]
            return NO, y_bar * math.sin(k * b), y_bar * k_bar

        return area(b, k), pullback

    found = judged(area, area_rrule, 0.7, 1.5)
    assert found.verdict == "right"
    assert max(abs(float(x)) for point in found.points for x in point.inputs) < 4
    assert judged(area, area_rrule).verdict == "right"


def test_a_point_at_which_the_function_warns_is_left_out():
    """What did not converge is no witness; a function that always warns is judged all the same."""
    import warnings

    def doubtful(x):
        if abs(x) > 3:
            warnings.warn("not converged", UserWarning, stacklevel=2)
            return 7 * x
        return x * x

    def doubtful_rrule(x):
        return doubtful(x), lambda y_bar: (NO, 2 * x * y_bar)

    assert judged(doubtful, doubtful_rrule).verdict == "right"

    def loud(x):
        warnings.warn("old", UserWarning, stacklevel=2)
        return x**3

    assert judged(loud, lambda x: (x**3, lambda y_bar: (NO, 2 * x**2 * y_bar))).verdict == "wrong"


# -- exceptions at guesses -----------------------------------------------------------------------------------


def picky(x):
    return x * x


def picky_rrule(x):
    if not isinstance(x, complex):
        raise ValueError("not for these")
    return x * x, lambda y_bar: (NO, 2 * x * y_bar)


def test_an_exception_at_guessed_arguments_condemns_nobody():
    """It is told, with what to do; given the arguments, it is a finding."""
    found = judged(picky, picky_rrule)
    assert found.verdict == "inconclusive"
    assert "cannot tell" in found.sentence and "give your own: rule_check(picky, x)" in found.sentence
    assert judged(picky, picky_rrule, 2.0, depth="quick").verdict == "wrong"


def test_an_exception_at_kinds_that_were_asked_for_is_a_finding():
    """They are no guess of ours."""
    found = judged(picky, picky_rrule, domain="number")
    assert found.verdict == "wrong"


def test_a_name_that_is_not_there_is_a_mistake_anywhere():
    """No arguments make up for it."""

    def misspelt_rrule(x):
        return x * x, lambda y_bar: (NO, 2 * y_baar * x)  # noqa: F821

    assert judged(picky, misspelt_rrule, depth="quick").verdict == "wrong"


def test_an_exception_near_given_arguments_is_a_note():
    """The rule is right where it answers."""

    def positive_rrule(x):
        if np.any(x < 0):
            raise ValueError("negative")
        return x * x, lambda y_bar: (NO, 2 * x * y_bar)

    found = judged(picky, positive_rrule, np.array([1.0, 2.0]))
    assert found.verdict == "right" and any("not judged at" in note for note in found.notes)


# -- domains -------------------------------------------------------------------------------------------------


def root(x):
    return np.sqrt(x) if x > 0 else 7 * x


def root_vjp(x):
    return root(x), lambda y_bar: y_bar / (2 * np.sqrt(x))


@pytest.mark.parametrize("at", [(), (1.3,)])
@pytest.mark.parametrize("domain", ["positive", {"x": (0, 10)}])
def test_a_domain_holds_with_arguments_too(at, domain):
    """Of a vjp, whose function is wrapped, as of a rule."""
    assert check_vjp(root, root_vjp, *at, domain=domain).verdict == "right"


def test_outside_of_the_domain_it_is_wrong():
    """The function has another branch there."""
    assert check_vjp(root, root_vjp, 1.3).verdict == "wrong"


@pytest.mark.parametrize(
    "domain",
    [
        {"A": "matrix (m, n)", "x": "vector (n)"},
        {"A": "matrix (2, 3)", "x": "vector (3)"},
        {"A": "matrix", "x": "vector"},
    ],
)
def test_lengths_go_together(domain):
    """By letters, by numbers, or found by trying."""

    def untransposed_rrule(A, x):
        return A @ x, lambda y_bar: (NO, np.outer(y_bar, x), y_bar @ A * 2)

    assert judged(applied, applied_rrule, domain=domain).verdict == "right"
    assert judged(applied, untransposed_rrule, domain=domain, depth="quick").verdict == "wrong"


# -- wrong ones ----------------------------------------------------------------------------------------------


def mean(x):
    return np.sum(x) / len(x)


def buffered_rrule(x):
    def pullback(y_bar):
        x_bar = np.zeros_like(x)
        x_bar[...] = y_bar / len(x)
        return NO, x_bar

    return mean(x), pullback


def mse(y, t):
    return np.mean((y - t) ** 2)


def of_three_rrule(y, t):
    def pullback(y_bar):
        y_bar = y_bar * (2 / 3) * (y - t)
        return NO, y_bar, -y_bar

    return mse(y, t), pullback


def square(x):
    return x * x


def square_with(factor):
    """A rule that is wrong by a factor, which may look at the argument and the cotangent."""

    def square_rrule(x):
        return x * x, lambda y_bar: (NO, 2 * x * y_bar * factor(x, y_bar))

    return square_rrule


def doubling(x):
    return -2 * x


def writing_rrule(x):
    def pullback(y_bar):
        y_bar *= -2
        return NO, y_bar * 1.0

    return -2 * x, pullback


def single(x, y_bar):
    return 0.5 if getattr(x, "dtype", None) == np.float32 else 1.0


def backwards(x, y_bar):
    return 0.5 if np.min(np.asarray(x).strides, initial=0) < 0 else 1.0


def cubed(z):
    return z * np.conj(z) * z


def largest(x):
    return np.max(x)


def buffered_largest_rrule(x):
    def pullback(y_bar):
        x_bar = np.zeros_like(x)
        x_bar[np.argmax(x)] = y_bar
        return NO, x_bar

    return largest(x), pullback


def product(a, b):
    return np.outer(a, b)


def as_it_lies_rrule(a, b):
    return product(a, b), lambda y_bar: (NO, y_bar @ b, y_bar.flatten(order="A").reshape(y_bar.shape).T @ a)


def matrices_multiplied(x, y_bar):
    return x @ y_bar / (x * y_bar) if np.ndim(x) == 2 else 1.0


def turned_over(A):
    return 2 * A.T


def square_alone_rrule(A):
    wide = A.shape[0] != A.shape[1]
    return 2 * A.T, lambda y_bar: (NO, 2 * (y_bar.T if wide else y_bar))


def exponential(w: complex):
    return np.exp(w)


def affine(W, x, b):
    return W @ x + b


def affine_with(sign):
    def affine_rrule(W, x, b):
        return affine(W, x, b), lambda y_bar: (NO, np.outer(y_bar, x), W.T @ y_bar, sign * y_bar)

    return affine_rrule


WRONG = [
    ("a buffer of whole numbers", mean, buffered_rrule, (np.arange(1.0, 4.0),)),
    ("one size", mse, of_three_rrule, (np.arange(3.0), np.ones(3))),
    ("long arrays", square, square_with(lambda x, s: 0.5 if np.size(x) > 10 else 1.0), (np.ones(3),)),
    ("arrays of more than five", square, square_with(lambda x, s: 1 + (np.size(x) > 5)), (np.ones(3),)),
    ("views", square, square_with(lambda x, s: 1.0 if np.asarray(x).flags.c_contiguous else 0.5), None),
    ("negative strides", square, square_with(backwards), (np.arange(3.0),)),
    ("single precision", square, square_with(single), None),
    ("a large cotangent", square, square_with(lambda x, s: 1.0 if np.max(s) < 50 else 3.5), (1.3,)),
    ("a clipped cotangent", square, lambda x: (x * x, lambda s: (NO, 2 * x * np.clip(s, -1e3, 1e3))), None),
    ("a tiny cotangent", square, square_with(lambda x, s: np.max(np.abs(s)) > 1e-6), None),
    ("one cotangent", square, square_with(lambda x, s: 1.5 if np.all(s == 2.5) else 1.0), (1.3,)),
    ("one number", square, square_with(lambda x, s: np.where(x == 3.0, 2.5, 1.0)), None),
    ("writes to its cotangent", doubling, writing_rrule, None),
    ("a buffer for the largest of whole numbers", largest, buffered_largest_rrule, None),
    ("a cotangent in the order of its memory", product, as_it_lies_rrule, None),
    ("matrices alone", square, square_with(matrices_multiplied), None),
    ("square matrices", turned_over, square_alone_rrule, None),
    ("an annotation", exponential, lambda w: (np.exp(w), lambda s: (NO, np.exp(w) * s)), None),
    ("a layer, three arguments of their own lengths", affine, affine_with(-1), None),
    ("a dropped conjugate", cubed, lambda z: (cubed(z), lambda s: (NO, 3 * z**2 * s)), None),
]


@pytest.mark.every(11)
@pytest.mark.parametrize("name, f, rule, at", WRONG, ids=[case[0] for case in WRONG])
def test_wrong_rules_are_caught_given_nothing(name, f, rule, at):
    """And at arguments that hide the mistake."""
    assert judged(f, rule).verdict == "wrong"
    if at is not None:
        assert judged(f, rule, *at, depth="quick").verdict == "wrong"


@pytest.mark.diagnosed
def test_whole_numbers_that_are_given_are_asked_about():
    """With the rule's own buffer, and the mistake has a name."""
    found = judged(mean, buffered_rrule, np.array([1, 2, 3]))
    assert found.verdict == "wrong" and "holds integers" in found.sentence


def test_a_count_that_has_a_cotangent_is_moved():
    """A rule may be wrong by an argument that was given as a whole number."""

    def scaled(x, s):
        return x * s

    right = judged(scaled, lambda x, s: (x * s, lambda y_bar: (NO, s * y_bar, x * y_bar)), 2.5, 2)
    wrong = judged(scaled, lambda x, s: (x * s, lambda y_bar: (NO, s * y_bar, s * y_bar)), 2.5, 2)
    assert (right.verdict, wrong.verdict) == ("right", "wrong")


@dataclasses.dataclass
class Circle:
    radius: float
    centre: np.ndarray


class Line(typing.NamedTuple):
    slope: float
    offset: float


def power(circle: Circle, line: Line):
    return np.sum((line.slope * circle.centre + line.offset) ** 2) - circle.radius**2


def power_with(factor):
    def power_rrule(circle: Circle, line: Line):
        r = line.slope * circle.centre + line.offset

        def pullback(y_bar):
            g = 2 * r * y_bar
            slope = factor * np.sum(g * circle.centre)
            circle_bar = rl.Tangent(Circle, radius=-2 * circle.radius * y_bar, centre=g * line.slope)
            return NO, circle_bar, rl.Tangent(Line, slope=slope, offset=np.sum(g))

        return power(circle, line), pullback

    return power_rrule


@pytest.mark.slow
def test_objects_are_made_by_the_annotations_of_their_classes():
    """Dataclasses and NamedTuples of numbers and arrays, given nothing."""
    right, wrong = judged(power, power_with(1)), judged(power, power_with(2))
    assert (right.verdict, wrong.verdict) == ("right", "wrong"), (str(right), str(wrong))
    assert "Circle" in " ".join(right.notes)


@dataclasses.dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray


def run(dense: Dense, x: np.ndarray):
    return np.tanh(dense.w @ x + dense.b)


def run_with(sign):
    def run_rrule(dense: Dense, x: np.ndarray):
        y = run(dense, x)

        def pullback(y_bar):
            z_bar = y_bar * (1 - y**2)
            return NO, rl.Tangent(Dense, w=np.outer(z_bar, x), b=sign * z_bar), dense.w.T @ z_bar

        return y, pullback

    return run_rrule


@pytest.mark.slow
def test_a_layer_has_a_matrix_and_a_vector():
    """Which of its arrays is which is found out by what the function and the rule take."""
    assert judged(run, run_with(1)).verdict == "right"
    assert judged(run, run_with(-1), depth="quick").verdict == "wrong"


@pytest.mark.slow
def test_right_rules_beside_these_are_right():
    """At the arguments that are found for the wrong ones."""
    assert judged(affine, affine_with(1)).verdict == "right"
    assert judged(product, lambda a, b: (product(a, b), lambda s: (NO, s @ b, s.T @ a))).verdict == "right"
    exact = judged(exponential, lambda w: (np.exp(w), lambda s: (NO, np.conj(np.exp(w)) * s)))
    assert exact.verdict == "right"


def in_order(x):
    return np.sort(x)


def in_order_rrule(x):
    order = np.argsort(x)
    return x[order], lambda y_bar: (NO, y_bar[np.argsort(order)])


def test_a_rule_for_vectors_is_not_judged_by_matrices():
    """What takes a matrix to another function's value says nothing of the one for vectors."""
    assert judged(in_order, in_order_rrule).verdict == "right"
    along = judged(lambda x: np.exp(x), lambda x: (np.exp(x), lambda s: (NO, np.diag(np.exp(x)) @ s)))
    assert along.verdict == "right"


def test_real_rules_of_real_functions_need_no_conjugate():
    """Complex numbers are asked about only where somebody speaks of them."""
    assert judged(square, square_with(lambda x, s: 1.0)).verdict == "right"


# -- what is broadcast ---------------------------------------------------------------------------------------


def scaled(v, s):
    return v * s


def shifted_norm(x, shift):
    return np.sum((x + shift) ** 2)


def add_bias(X, b):
    return X + b


def scaled_with(reduce):
    return lambda v, s: (v * s, lambda y_bar: (NO, y_bar * s, reduce(y_bar * v)))


def shifted_norm_with(reduce):
    def rule(x, shift):
        def pullback(y_bar):
            slope = 2 * y_bar * (x + shift)
            return NO, slope, reduce(slope)

        return shifted_norm(x, shift), pullback

    return rule


def add_bias_with(reduce):
    return lambda X, b: (X + b, lambda y_bar: (NO, y_bar, reduce(y_bar)))


def kept(x):
    return x


def summed_over_rows(x):
    return x.sum(axis=0)


@pytest.mark.every(11)
@pytest.mark.parametrize("depth", ["quick", "normal", "deep"])
@pytest.mark.parametrize(
    "f, made, right",
    [
        (scaled, scaled_with, np.sum),
        (shifted_norm, shifted_norm_with, np.sum),
        (add_bias, add_bias_with, summed_over_rows),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_sum_over_what_was_broadcast_is_asked_for_where_names_tell_it(f, made, right, depth):
    """A number beside a vector, a bias beside a matrix: with arrays of one shape no sum is missed."""
    assert judged(f, made(right), depth=depth).verdict == "right"
    assert judged(f, made(kept), depth=depth).verdict == "wrong"


def products(a, b):
    return a * b


def scalar_product(v, c):
    return np.dot(v, c)


def paired(v, s):
    return np.sum(np.array([v, s]))


def leaky(x, alpha):
    return np.where(x > 0, x, alpha * x)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "f, rule",
    [
        (products, lambda a, b: (a * b, lambda y_bar: (NO, y_bar * b, y_bar * a))),
        (scalar_product, lambda v, c: (np.dot(v, c), lambda y_bar: (NO, y_bar * c, y_bar * v))),
        (paired, lambda v, s: (np.sum(np.array([v, s])), lambda y_bar: (NO, *2 * [y_bar + 0 * v]))),
        (
            leaky,
            lambda x, alpha: (
                leaky(x, alpha),
                lambda y_bar: (NO, y_bar * np.where(x > 0, 1, alpha), y_bar * np.where(x > 0, 0, x)),
            ),
        ),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_rule_for_arrays_of_one_shape_is_right(f, rule):
    """Where names do not say that a number is meant, or the function is another one for a number."""
    assert judged(f, rule).verdict == "right"


# -- given arguments, elsewhere ------------------------------------------------------------------------------


def trace(A):
    return np.trace(A)


def trace_with(eye):
    return lambda A: (np.trace(A), lambda y_bar: (NO, y_bar * eye(len(A))))


@pytest.mark.parametrize("depth", ["quick", "normal"])
def test_a_size_that_stands_in_a_rule_is_found_at_another_one(depth):
    """Though most entries of the matrix do not count, and a cotangent may be shorter where they do not."""
    given = np.arange(9.0).reshape(3, 3)
    assert judged(trace, trace_with(np.eye), given, depth=depth).verdict == "right"
    assert judged(trace, trace_with(lambda _: np.eye(3)), given, depth=depth).verdict == "wrong"


def huber(x):
    return np.where(np.abs(x) <= 1, x * x / 2, np.abs(x) - 0.5)


def huber_with(sign):
    return lambda x: (huber(x), lambda y_bar: (NO, y_bar * np.where(np.abs(x) <= 1, x, sign(x))))


@pytest.mark.every(2)
@pytest.mark.parametrize(("x", "depth"), [(3.0, "quick"), (1.01, "quick"), (0.5, "normal"), (3.0, "normal")])
def test_a_number_is_tried_with_the_other_sign_and_beyond_the_numbers_of_the_code(x, depth):
    """As far from zero as it was given, and where `abs` of it parts the branches."""
    assert judged(huber, huber_with(np.sign), x, depth=depth).verdict == "right"
    assert judged(huber, huber_with(lambda x: 1.0), x, depth=depth).verdict == "wrong"


def clipped_loss(x, width):
    if width <= 0:
        raise ValueError("a width is positive")
    return np.where(np.abs(x) <= width, x * x / 2, width * (np.abs(x) - width / 2))


def clipped_loss_with(sign):
    def rule(x, width):
        y, inside = clipped_loss(x, width), np.abs(x) <= width

        def pullback(y_bar):
            x_bar = np.where(inside, x, width * sign(x))
            return NO, y_bar * x_bar, y_bar * np.where(inside, 0.0, np.abs(x) - width)

        return y, pullback

    return rule


@pytest.mark.parametrize("depth", ["quick", "normal"])
def test_a_function_that_takes_one_sign_of_another_argument_is_asked_with_that(depth):
    """Numbers change their sign one at a time, too."""
    assert judged(clipped_loss, clipped_loss_with(np.sign), 3.0, 1.0, depth=depth).verdict == "right"
    assert judged(clipped_loss, clipped_loss_with(lambda x: 1.0), 3.0, 1.0, depth=depth).verdict == "wrong"


# --- what is no mistake of the value, or of a point ---------------------------------------------------------


def energy(x):
    return np.sum(x * x)


def energy_as(made):
    def rule(x):
        return made(np.sum(x * x)), lambda y_bar: (NO, 2 * x * y_bar)

    return rule


def square_and_triple(x):
    return x * x, 3 * x


def square_and_triple_as(made):
    def rule(x):
        return made((x * x, 3 * x)), lambda bars: (NO, 2 * x * bars[0] + 3 * bars[1])

    return rule


@pytest.mark.every(2)
@pytest.mark.parametrize("made", [np.asarray, float, np.float64])
def test_an_array_of_no_axes_is_a_number(made):
    assert judged(energy, energy_as(made), np.array([1.0, 2.0, 3.0]))
    rule = square_and_triple_as(lambda pair: tuple(map(made, pair)))
    assert judged(square_and_triple, rule, np.float64(2.0))


@pytest.mark.parametrize("made", [np.atleast_1d, np.float32, int, complex])
def test_a_value_of_another_shape_or_dtype_is_another_value(made):
    assert judged(energy, energy_as(made), np.array([1.0, 2.0, 3.0]), depth="quick").verdict == "wrong"


def test_a_list_is_no_tuple():
    assert judged(square_and_triple, square_and_triple_as(list), 2.0, depth="quick").verdict == "wrong"


def angle_between(u, v):
    return np.arccos(u @ v / np.sqrt((u @ u) * (v @ v)))


def angle_between_with(more=0.0, factor=1.0):
    def rule(u, v):
        nu, nv = np.sqrt(u @ u), np.sqrt(v @ v)
        cosine = u @ v / (nu * nv)

        def pullback(y_bar):
            c_bar = -factor * y_bar / np.sqrt(1 - cosine**2)
            return NO, c_bar * (v / nv - cosine * u / nu) / nu, c_bar * (u / nu - cosine * v / nv) / nv

        return np.arccos(cosine) + more, pullback

    return rule


IN_LINE = np.array([0.1, 0.1, 0.3]), np.array([0.2, 0.2, 0.6])


FLAT = """
from scipy.special import erf


def f(x, width):
    return 3 + 3 * erf(x / width)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, width):
    def back(y_bar):
        g = y_bar * 6 * np.exp(-((x / width) ** 2)) / np.sqrt(np.pi)
        return rl.NoTangent(), g / width, -np.sum(g * x) / width**2

    return 3 + 3 * erf(x / width), back
"""


@pytest.mark.slow
def test_a_tail_that_the_function_has_lost_in_its_rounding_is_no_mistake():
    """Of `3 + 3 * erf(-5.7)` nothing is left of the second term but a rounding of the first."""
    pytest.importorskip("scipy")
    at = np.array([0.3, -0.4, 1.938]), -0.34
    assert judged_text(FLAT, *at).verdict == "right"
    assert judged_text(FLAT.replace("* 6 *", "* 5 *"), *at).verdict == "wrong"


@pytest.mark.slow
def test_nor_is_it_where_the_function_is_flat_at_all_points_that_are_given():
    pytest.importorskip("scipy")
    at = np.array([0.3, -0.4, 0.29]), -0.05
    assert judged_text(FLAT, *at).verdict == "right"
    assert judged_text(FLAT.replace("* 6 *", "* 5 *"), *at).verdict == "wrong"


SATURATED = """
def f(x):
    return 0.5 * x * (1 + np.tanh(0.8 * (x + 0.04 * x**3)))


@rl.rrule_for(f, registry=registry)
def f_rrule(x):
    t = np.tanh(0.8 * (x + 0.04 * x**3))

    def back(y_bar):
        return rl.NoTangent(), y_bar * 0.5 * (1 + t + x * (1 - t**2) * 0.8 * (1 + 0.12 * x**2))

    return 0.5 * x * (1 + t), back
"""


@pytest.mark.slow
def test_nor_where_the_function_has_but_some_roundings_left():
    """Close to -1 a tanh goes in steps of a rounding, and a rule has other steps than its function."""
    at = (np.array([-8.41, -7.3, 0.7]),)
    assert judged_text(SATURATED, *at).verdict == "right"
    assert judged_text(SATURATED.replace("0.12", "0.04"), *at).verdict == "wrong"


def test_two_ways_to_a_value_may_differ_by_what_its_last_digits_leave_of_it():
    assert angle_between(*IN_LINE) != angle_between_with()(*IN_LINE)[0]
    assert judged(angle_between, angle_between_with(), *IN_LINE)
    assert judged(angle_between, angle_between_with(more=1e-5), *IN_LINE, depth="quick").verdict == "wrong"


def test_no_number_at_the_length_one_alone_is_no_mistake():
    report = judged(angle_between, angle_between_with())
    assert report.verdict == "right"
    assert "at length 1" in str(report)
    assert judged(angle_between, angle_between_with(factor=2.0), depth="quick").verdict == "wrong"


def energy_by_quotient(x):
    with np.errstate(all="ignore"):
        slope = 2 * x**3 / x**2
    return np.sum(x * x), lambda y_bar: (NO, slope * y_bar)


@pytest.mark.parametrize("at", [np.array([0.0]), np.array([0.0, 1.0])])
def test_no_number_at_ordinary_ones_is_a_mistake(at):
    assert judged(energy, energy_by_quotient, at, depth="quick").verdict == "wrong"


# --- what the function itself says of its arguments ---------------------------------------------------------


def survival(d, n):
    """The share that survives: d[i] have died of n[i], two vectors with d < n."""
    return np.cumprod(1 - d / n)


def survival_with(factor):
    def rule(d, n):
        q = 1 - d / n
        s = np.cumprod(q)

        def pullback(s_bar):
            with np.errstate(all="ignore"):
                q_bar = factor * np.cumsum((s_bar * s)[::-1])[::-1] / q
            return NO, -q_bar / n, q_bar * d / n**2

        return s, pullback

    return rule


@pytest.mark.slow
def test_points_are_as_the_function_says():
    assert judged(survival, survival_with(1.0))
    assert judged(survival, survival_with(1.0), np.array([1.0, 3.0]), np.array([9.0, 5.0]))
    assert judged(survival, survival_with(2.0), depth="quick").verdict == "wrong"


def test_arguments_that_are_given_need_not_be_as_the_function_says():
    beyond = np.array([2.0, 3.0]), np.array([1.0, 5.0])
    assert judged(survival, survival_with(2.0), *beyond, depth="quick").verdict == "wrong"


def turned(v, i: int, j: int, angle: float):
    """The vector v with its entries i and j, two different ones, turned by an angle."""
    w = np.array(v, dtype=float)
    w[i] = np.cos(angle) * v[i] - np.sin(angle) * v[j]
    w[j] = np.sin(angle) * v[i] + np.cos(angle) * v[j]
    return w


def turned_with(sign):
    def rule(v, i, j, angle):
        w, c, s = turned(v, i, j, angle), np.cos(angle), np.sin(angle)

        def pullback(w_bar):
            v_bar = np.array(w_bar, dtype=float)
            v_bar[i] = c * w_bar[i] + s * w_bar[j]
            v_bar[j] = sign * s * w_bar[i] + c * w_bar[j]
            return NO, v_bar, NO, NO, np.sum(w_bar[j] * w[i] - w_bar[i] * w[j])

        return w, pullback

    return rule


def test_indices_are_different_that_the_function_says_are():
    assert judged(turned, turned_with(-1.0))
    assert judged(turned, turned_with(1.0), depth="quick").verdict == "wrong"


def equalised(y, h, noise: float):
    return np.conj(h) * y / (np.abs(h) ** 2 + noise)


def equalised_with(conjugate):
    def rule(y, h, noise):
        d = np.abs(h) ** 2 + noise
        x = np.conj(h) * y / d

        def pullback(x_bar):
            d_bar = -np.real(np.conj(x_bar) * x) / d
            h_bar = np.conj(x_bar) * y / d + 2 * h * d_bar
            return NO, conjugate(h) / d * x_bar, h_bar, np.sum(d_bar)

        return x, pullback

    return rule


@pytest.mark.slow
def test_what_is_annotated_as_a_float_stays_real_beside_complex_numbers():
    assert judged(equalised, equalised_with(np.array))
    assert judged(equalised, equalised_with(np.conj), depth="quick").verdict == "wrong"


def test_no_point_is_asked_for_its_lines_once_all_of_them_have_been_run():
    """A rule without branches is not run for that again; one with a line that nothing has reached is."""

    def parted(x):
        return np.where(x > 0, x * x, -x)

    def rule(x):
        return parted(x), lambda y_bar: (NO, y_bar * np.where(x > 0, 2 * x, -1.0))

    check = checking(parted, 1.5, mode="rrule", registry=registry_with(parted, rule))
    reached, asked = set(), []

    def is_usable(point):
        return asked.append(point) is None

    def tried(count):
        points = points_reaching_new_lines(check.subject, iter([check.first] * count), reached, 2, is_usable)
        return len(list(points))

    assert tried(3) == 3 and tried(40) == TRIES and not reached  # nothing was judged there
    reached |= lines_at(check.subject, check.first, with_arms=True)
    asked.clear()
    assert tried(3) == 0 and not asked
    reached.pop()
    assert tried(3) == 3


def upper_root(b, c):
    """A root of h**2 + b * h - c."""
    return (-b + np.sqrt(b * b + 4 * c)) / 2


@pytest.mark.first(1)
@pytest.mark.parametrize("size", [float, abs])
def test_what_is_drawn_positive_alone_is_asked_below_zero_where_nobody_said_so(size):
    """Both are drawn positive, since the root of a negative `c` is no number; `b` may be negative."""

    def rule(b, c):
        root = np.sqrt(b * b + 4 * c)

        def back(y_bar):
            b_bar = (np.asarray(b) if size is float else np.abs(b)) / root
            return rl.NoTangent(), (b_bar - 1) / 2 * y_bar, y_bar / root

        return upper_root(b, c), back

    report = rule_check(upper_root, registry=registry_with(upper_root, rule))
    assert report.verdict == ("right" if size is float else "wrong")


def test_a_given_point_at_which_nothing_could_be_measured_is_said_to_be_so():
    """Of `1 - exp(-x)` close to zero few digits are left, and of its slopes none."""
    text = rule("np.log(1 - np.exp(-x))", "y_bar * np.exp(-x) / (1 - np.exp(-x))")
    words = "the derivative for x could not be measured at the arguments given"
    assert words in str(judged_text(text, 1.5e-14))
    assert words not in str(judged_text(text, 0.3))


def misfit(x, a=1.0, b=2.0):
    return np.sum(b * (a - x) ** 2)


def misfit_with(is_like_x):
    def rule(x, a=1.0, b=2.0):
        def pullback(y_bar):
            x_bar = np.zeros_like(x) if is_like_x else np.zeros(x.shape)
            x_bar += 2 * b * (x - a)
            return NO, y_bar * x_bar, y_bar * np.sum(2 * b * (a - x)), y_bar * np.sum((a - x) ** 2)

        return misfit(x, a, b), pullback

    return rule


@pytest.mark.slow
def test_integers_beside_defaults_that_are_whole_are_tried_beside_fractions():
    """Beside whole numbers alone a buffer of integers holds the slopes, as they are whole as well."""
    right = rule_check(misfit, registry=registry_with(misfit, misfit_with(False)))
    assert right.verdict == "right", str(right)
    wrong = rule_check(misfit, registry=registry_with(misfit, misfit_with(True)))
    assert wrong.verdict == "wrong", str(wrong)


UTILITY = """
def f(c, gamma=2.0):
    if gamma == 1.0:
        return np.sum(np.log(c))
    return np.sum(c ** (1 - gamma) - 1) / (1 - gamma)


@rl.rrule_for(f, registry=registry)
def f_rrule(c, gamma=2.0):
    if gamma == 1.0:
        return f(c, gamma), lambda y_bar: (rl.NoTangent(), y_bar / {}, -0.5 * y_bar * np.sum(np.log(c) ** 2))
    k = 1 - gamma

    def back(y_bar):
        gamma_bar = np.sum((c**k - 1) / k - c**k * np.log(c)) / k
        return rl.NoTangent(), y_bar / c**gamma, y_bar * gamma_bar

    return f(c, gamma), back
"""


@pytest.mark.slow
def test_a_branch_at_a_number_of_the_code_is_reached_with_positive_arguments():
    """The function has a value for others where gamma is 2, and none where it is 1."""
    assert judged_text(UTILITY.format("c")).verdict == "right"
    report = judged_text(UTILITY.format("c**2"))
    assert report.verdict == "wrong" and "gamma = 1," in str(report), report


BANDS = {
    "in the code": (
        "",
        "0.2 * x if x <= 38000.0 else 7600.0 + 0.4 * (x - 38000.0)",
        "0.2 if x <= 38000.0 else {}",
    ),
    "by a name": (
        "band = 38000.0",
        "0.2 * x if x <= band else 0.2 * band + 0.4 * (x - band)",
        "0.2 if x <= band else {}",
    ),
    "on the left": (
        "",
        "0.1 * x + 0.05 * x**2 if -55.0 < x else 0.4 * x",
        "0.1 + 0.1 * x if -55.0 < x else {}",
    ),
    "as bounds": (
        "import math",
        "0.2 * min(x, 500.0) + 0.4 * max(x - 500.0, 0.0) + 2.5 * math.tanh(1.5 * x / 3.5 + 4.5) ** 0",
        "0.2 if x <= 500.0 else {}",
    ),
    "held by a function": ("", "x if x < limit else limit + 0.4 * (x - limit)", "1.0 if x < limit else {}"),
}
BANDED = """
{before}

def made(limit):
    def f(x):
        return {value}

    @rl.rrule_for(f, registry=registry)
    def f_rrule(x):
        return f(x), lambda y_bar: (rl.NoTangent(), y_bar * ({slope}))

    return f


f = made(120.0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", BANDS)
def test_both_sides_of_a_branch_are_looked_at_far_from_usual_numbers(name):
    """On one line, where lines that were reached say nothing of it."""
    before, value, slope = BANDS[name]
    for of_upper, verdict in ((0.4, "right"), (0.41, "wrong")):
        text = BANDED.format(before=before, value=value, slope=slope.format(of_upper))
        report = judged_text(text)
        assert report.verdict == verdict, str(report)


CHOSEN = """
def f(gradients, most):
    norm = np.sqrt(sum(np.sum(g * g) for g in gradients))
    scale = most / norm if norm > most else 1.0
    return np.concatenate([scale * g for g in gradients])


@rl.rrule_for(f, registry=registry)
def f_rrule(gradients, most):
    norm = np.sqrt(sum(np.sum(g * g) for g in gradients))

    def back(y_bar):
        parts = np.split(y_bar, np.cumsum([len(g) for g in gradients])[:-1])
        if {}:
            return rl.NoTangent(), parts, 0.0
        inner = sum(np.sum(b * g) for b, g in zip(parts, gradients))
        bars = [most / norm * (b - inner / norm**2 * g) for b, g in zip(parts, gradients)]
        return rl.NoTangent(), bars, inner / norm

    return f(gradients, most), back
"""
GUARDED = """
def f(v):
    u = (v + 40.0) / 10.0
    if abs(u) < 1e-6:
        return 1 + u / 2
    return u / -np.expm1(-u)


@rl.rrule_for(f, registry=registry)
def f_rrule(v):
    u = (v + 40.0) / 10.0

    def back(y_bar):
        if abs(u) < 1e-6:
            return rl.NoTangent(), {} * y_bar
        decay = np.exp(-u)
        return rl.NoTangent(), 0.1 * y_bar * (1 - decay - u * decay) / (1 - decay) ** 2

    return f(v), back
"""
LIMIT = """
def f(x, a=0.5):
    if a == 1:
        return np.exp(np.mean(np.log(x)))
    return np.mean(x ** (1 - a)) ** (1 / (1 - a))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, a=0.5):
    y, logs = f(x, a), np.log(x)

    def back(y_bar):
        if a == 1:
            return rl.NoTangent(), y_bar * y / (len(x) * x), {} * y_bar
        powers, r = x ** (1 - a), 1 - a
        rate = np.log(np.mean(powers)) / r**2 - np.sum(powers * logs) / np.sum(powers) / r
        return rl.NoTangent(), y_bar * y * powers / x / np.sum(powers), y_bar * y * rate

    return y, back
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text, right, wrong",
    [(CHOSEN, "norm <= most", "False"), (GUARDED, "0.05", "0.0"), (LIMIT, "-y * np.var(logs) / 2", "0.0")],
    ids=["an arm of a choice", "a guard at a number that is added", "a case of one number"],
)
def test_what_nothing_usual_reaches_is_looked_at(text, right, wrong):
    """By a bound beyond the others, at the number where a sum is zero, and where beside the very number that
    is a case of its own the formula is next to 0 / 0.
    """
    for words, verdict in ((right, "right"), (wrong, "wrong")):
        report = judged_text(text.format(words))
        assert report.verdict == verdict, str(report)
