"""Tests of what a function says of its arguments without annotations: right rules are right for what it is
meant for, and wrong ones are caught there.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.reading.kinds import Kind
from rulelab.checking.reading.lists_read import sequence
from rulelab.symbolic import prove

from .rules import registry_with

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def judged(f, rule):
    return rule_check(f, registry=registry_with(f, rule))


# --- functions, each with what makes a rule of a factor, or of another mistake ------------------------------


def chosen(p, target):
    return -np.mean(np.log(np.where(target, p, 1 - p)))


def chosen_with(sign):
    def rule(p: np.ndarray, target: np.ndarray):
        def pullback(y_bar):
            return NO, -y_bar * np.where(target, 1 / p, sign / (1 - p)) / p.size, NO

        return chosen(p, target), pullback

    return rule


def area(vertices):
    x, y = vertices[:, 0], vertices[:, 1]
    return 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))


def area_with(sign):
    def rule(vertices):
        x, y = vertices[:, 0], vertices[:, 1]

        def pullback(area_bar):
            bar = np.empty(vertices.shape)  # of other columns nothing is written
            bar[:, 0] = np.roll(y, -1) - np.roll(y, 1)
            bar[:, 1] = sign * (np.roll(x, 1) - np.roll(x, -1))
            return NO, 0.5 * area_bar * bar

        return area(vertices), pullback

    return rule


def pinhole(points, f, c):
    return f * points[:, :2] / points[:, 2:] + c


def pinhole_with(factor):
    def rule(points, f, c):
        depth = points[:, 2:]

        def pullback(y_bar):
            points_bar = np.zeros(points.shape)
            points_bar[:, :2] = f * y_bar / depth
            points_bar[:, 2] = -np.sum(y_bar * f * points[:, :2], axis=1) / depth[:, 0] ** 2
            return NO, points_bar, factor * np.sum(y_bar * points[:, :2] / depth), y_bar.sum(axis=0)

        return pinhole(points, f, c), pullback

    return rule


def mapped(H, points):
    p = np.hstack([points, np.ones((len(points), 1))]) @ H.T
    return p[:, :2] / p[:, 2:]


def mapped_with(factor):
    def rule(H, points):
        q = np.hstack([points, np.ones((len(points), 1))])
        p, y = q @ H.T, mapped(H, points)

        def pullback(y_bar):
            last = -np.sum(y_bar * y, axis=1, keepdims=True) / p[:, 2:]
            p_bar = np.hstack([y_bar / p[:, 2:], factor * last])
            return NO, p_bar.T @ q, (p_bar @ H)[:, :2]

        return y, pullback

    return rule


def norm_of_all(arrays):
    return np.sqrt(sum(np.sum(a**2) for a in arrays))


def norm_of_all_with(factor):
    def rule(arrays):
        y = norm_of_all(arrays)
        return y, lambda y_bar: (NO, [factor * y_bar * a / y for a in arrays])

    return rule


def joined(parts):
    return np.concatenate(parts)


def joined_with(factor):
    def rule(parts):
        cuts = np.cumsum([len(part) for part in parts])[:-1]
        return joined(parts), lambda y_bar: (NO, np.split(factor * y_bar, cuts))

    return rule


def scaled_parts(parts, scale):
    return np.concatenate([scale * part for part in parts])


def scaled_parts_with(factor):
    def rule(parts, scale):
        cuts = np.cumsum([len(part) for part in parts])[:-1]
        y = scaled_parts(parts, scale)

        def pullback(y_bar):
            bars = [factor * scale * bar for bar in np.split(y_bar, cuts)]
            return NO, bars, np.sum(y_bar * np.concatenate(parts))

        return y, pullback

    return rule


def chosen_score(scores, label):
    return scores[label] - np.log(np.sum(np.exp(scores)))


def chosen_score_with(factor):
    def rule(scores, label):
        def pullback(y_bar):
            bar = -factor * np.exp(scores) / np.sum(np.exp(scores))
            bar[label] += 1
            return NO, y_bar * bar, NO

        return chosen_score(scores, label), pullback

    return rule


def norms_of_rows(X):
    return np.array([np.linalg.norm(row) for row in X])


def norms_of_rows_with(factor):
    def rule(X):
        n = norms_of_rows(X)
        return n, lambda n_bar: (NO, factor * n_bar[:, None] * X / n[:, None])

    return rule


def predator_and_prey(state, params):
    x, y = state
    a, b, c, d = params
    return np.array([a * x - b * x * y, c * x * y - d * y])


def predator_and_prey_with(factor):
    def rule(state, params):
        x, y = state
        a, b, c, d = params

        def pullback(r_bar):
            u, v = r_bar
            state_bar = np.array([u * (a - b * y) + factor * v * c * y, -u * b * x + v * (c * x - d)])
            return NO, state_bar, np.array([u * x, -u * x * y, v * x * y, -v * y])

        return predator_and_prey(state, params), pullback

    return rule


def power(x):
    w = np.fft.rfft(x)
    return w.real**2 + w.imag**2


def power_with(factor):
    def rule(x):
        n, w = len(x), np.fft.rfft(x)

        def pullback(p_bar):
            full = np.zeros(n, dtype=complex)
            full[: len(w)] = factor * p_bar * w
            return NO, n * np.fft.ifft(full).real

        return power(x), pullback

    return rule


def cross_entropy(logits, targets):
    """Of logits; the targets are 0 or 1."""
    return np.mean(np.logaddexp(0, logits) - targets * logits)


def cross_entropy_with(factor):
    def rule(logits, targets):
        def pullback(y_bar):
            p = 1 / (1 + np.exp(-logits))
            return NO, y_bar * (factor * p - targets) / np.size(logits), NO

        return cross_entropy(logits, targets), pullback

    return rule


def hinge(w, X, y):
    """Squared hinge loss of a linear classifier; y is a vector of labels 0 or 1."""
    return np.sum(np.maximum(0.0, 1 - (2 * y - 1) * (X @ w)) ** 2)


def hinge_with(factor):
    def rule(w, X, y):
        sign = 2 * y - 1
        margin = np.maximum(0.0, 1 - sign * (X @ w))

        def pullback(y_bar):
            a = -factor * y_bar * margin * sign
            return NO, X.T @ a, np.outer(a, w), NO

        return np.sum(margin**2), pullback

    return rule


def mean_of_rows(table, indices):
    return table[indices].mean(axis=0)


def mean_of_rows_with(count):
    def rule(table, indices):
        def pullback(y_bar):
            table_bar = np.zeros(table.shape)
            np.add.at(table_bar, indices, y_bar / count(table, indices))
            return NO, table_bar, NO

        return mean_of_rows(table, indices), pullback

    return rule


def overlap(psi, phi):
    return np.abs(np.vdot(psi, phi)) ** 2


def overlap_with(part):
    def rule(psi, phi):
        inner = np.vdot(psi, phi)

        def pullback(y_bar):
            psi_bar, phi_bar = 2 * y_bar * np.conj(inner) * phi, 2 * y_bar * inner * psi
            return NO, psi_bar if np.iscomplexobj(psi) else psi_bar.real, part(phi_bar, phi)

        return np.abs(inner) ** 2, pullback

    return rule


def layer(params, x):
    return np.tanh(params["w"] @ x + params["b"])


def layer_with(outer):
    def rule(params, x):
        y = layer(params, x)

        def pullback(y_bar):
            a_bar = y_bar * (1 - y**2)
            return NO, {"w": outer(a_bar, x), "b": a_bar}, params["w"].T @ a_bar

        return y, pullback

    return rule


def normalised(x, weight):
    return weight * x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True))


def normalised_with(over_rows):
    def rule(x, weight):
        n = x.shape[-1]
        inv = 1 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True))

        def pullback(y_bar):
            g = weight * y_bar
            x_bar = inv * g - inv**3 * x * np.sum(g * x, axis=-1, keepdims=True) / n
            return NO, x_bar, over_rows(y_bar * x * inv, n)

        return weight * x * inv, pullback

    return rule


def outside(x, width):
    """What reaches beyond a dead zone of either sign, doubled above it."""
    return np.where(x < -width, x + width, np.where(x > width, 2 * (x - width), 0.0))


def outside_with(below):
    def rule(x, width):
        above, under = 2.0 * (x > width), below * (x < -width)

        def pullback(y_bar):
            return NO, y_bar * (above + under), np.sum(y_bar * (under - above))

        return outside(x, width), pullback

    return rule


def slope_within(x, y, firm):
    "Slope of y on x, both without the mean of their firm: 1-D arrays, and a tuple of ids."
    _, code = np.unique(firm, return_inverse=True)
    within = x - (np.bincount(code, x) / np.bincount(code))[code]
    return within @ y / (within @ within)


def slope_within_with(share):
    def rule(x, y, firm):
        _, code = np.unique(firm, return_inverse=True)

        def demeaned(v):
            return v - (np.bincount(code, v) / np.bincount(code))[code]

        within = demeaned(x)
        size = within @ within
        slope = within @ y / size

        def pullback(y_bar):
            x_bar = y_bar * (demeaned(y) - share * slope * within) / size
            return NO, x_bar, y_bar * within / size, NO

        return slope, pullback

    return rule


def energy(psi, hamiltonian):
    "Re <psi|H|psi> of a complex state and a complex square matrix."
    return np.vdot(psi, hamiltonian @ psi).real


def energy_with(turn):
    def rule(psi, hamiltonian):
        def pullback(y_bar):
            psi_bar = y_bar * (hamiltonian @ psi + turn(hamiltonian) @ psi)
            return NO, psi_bar, y_bar * np.outer(psi, psi.conj())

        return np.vdot(psi, hamiltonian @ psi).real, pullback

    return rule


def evidence(times, scale, sigma):
    "Of a process at 1-D times; scale and sigma (noise) are positive numbers."
    k = np.exp(-0.5 * ((times[:, None] - times) / scale) ** 2) + sigma**2 * np.eye(len(times))
    return 0.5 * np.linalg.slogdet(k)[1]


def evidence_with(factor):
    def rule(times, scale, sigma):
        gap = times[:, None] - times
        smooth = np.exp(-0.5 * (gap / scale) ** 2)
        inverse = np.linalg.inv(smooth + sigma**2 * np.eye(len(times)))

        def pullback(y_bar):
            m = y_bar * inverse * smooth
            scale_bar = np.sum(m * gap**2) / (2 * scale**3)
            sigma_bar = factor * y_bar * sigma * np.trace(inverse)
            return NO, -np.sum(m * gap, axis=1) / scale**2, scale_bar, sigma_bar

        return evidence(times, scale, sigma), pullback

    return rule


CASES = {
    "labels that are numbered": (slope_within, slope_within_with(2.0), slope_within_with(1.0)),
    "a square matrix with the name of a symmetric one": (
        energy,
        energy_with(lambda h: h.conj().T),
        energy_with(lambda h: h),
    ),
    "another word for a number in brackets": (evidence, evidence_with(1.0), evidence_with(2.0)),
    "a band from minus its width to its width": (outside, outside_with(1.0), outside_with(2.0)),
    "a weight for each column of a matrix": (
        normalised,
        normalised_with(lambda a, n: np.sum(a.reshape(-1, n), axis=0)),
        normalised_with(lambda a, n: np.sum(a.reshape(n, -1), axis=-1)),
    ),
    "flags by which np.where decides": (chosen, chosen_with(-1.0), chosen_with(1.0)),
    "columns taken by their numbers": (area, area_with(1.0), area_with(-1.0)),
    "a row beside points, and their depth": (pinhole, pinhole_with(1.0), pinhole_with(2.0)),
    "what maps points with a one behind": (mapped, mapped_with(1.0), mapped_with(0.0)),
    "a list of arrays that are summed": (norm_of_all, norm_of_all_with(1.0), norm_of_all_with(2.0)),
    "a list of arrays put together": (joined, joined_with(1.0), joined_with(2.0)),
    "a list of arrays that are scaled, and answered by a list": (
        scaled_parts,
        scaled_parts_with(1.0),
        scaled_parts_with(2.0),
    ),
    "one index": (chosen_score, chosen_score_with(1.0), chosen_score_with(2.0)),
    "rows taken one by one": (norms_of_rows, norms_of_rows_with(1.0), norms_of_rows_with(2.0)),
    "a state taken apart": (predator_and_prey, predator_and_prey_with(1.0), predator_and_prey_with(2.0)),
    "the spectrum of a real signal": (power, power_with(2.0), power_with(1.0)),
    "labels that are constants": (cross_entropy, cross_entropy_with(1.0), cross_entropy_with(2.0)),
    "a label for each row, which are constants": (hinge, hinge_with(2.0), hinge_with(1.0)),
    "as many indices as rows": (
        mean_of_rows,
        mean_of_rows_with(lambda table, indices: len(indices)),
        mean_of_rows_with(lambda table, indices: len(table)),
    ),
    "states in complex numbers": (
        overlap,
        overlap_with(lambda bar, phi: bar if np.iscomplexobj(phi) else bar.real),
        overlap_with(lambda bar, phi: bar.real),
    ),
    "a layer of which all answers but one have a shape": (
        layer,
        layer_with(np.outer),
        layer_with(lambda a, x: np.outer(x, a)),
    ),
}


@pytest.mark.every(17)
@pytest.mark.parametrize("case", CASES)
def test_a_right_rule_is_right_for_what_its_function_is_meant_for(case):
    f, right, _ = CASES[case]
    assert judged(f, right).verdict == "right"


@pytest.mark.every(17, slow=True)
@pytest.mark.parametrize("case", CASES)
def test_a_wrong_rule_is_wrong_for_what_its_function_is_meant_for(case):
    f, _, wrong = CASES[case]
    assert judged(f, wrong).verdict == "wrong"


def test_a_constant_is_no_label_where_nobody_says_so():
    """Who differentiates by a target would get a zero and no word."""

    def squares(prediction, target):
        return np.mean((prediction - target) ** 2)

    def rule(prediction, target):
        def pullback(y_bar):
            return NO, 2 * y_bar * (prediction - target) / np.size(prediction), NO

        return squares(prediction, target), pullback

    assert judged(squares, rule).verdict == "wrong"


def test_arguments_that_are_given_keep_the_columns_of_which_the_function_speaks():
    seen = []

    def rule(vertices):
        seen.append(np.shape(vertices))
        return area_with(1.0)(vertices)

    p = np.array([[0.0, 0.5], [1.0, 0.25], [0.5, 2.0]])
    assert rule_check(area, p, registry=registry_with(area, rule)).verdict == "right"
    assert {shape[1] for shape in seen} == {2} and len({shape[0] for shape in seen}) > 1


def unit_rows(x, eps=1e-12):
    return x / np.sqrt(np.maximum(np.sum(x**2), eps))


def unit_rows_with(eps_bar):
    def rule(x, eps=1e-12):
        y = unit_rows(x, eps)

        def pullback(y_bar):
            x_bar = (y_bar - y * np.sum(y * y_bar)) / np.sqrt(np.sum(x**2))
            return NO, x_bar if np.sum(x**2) > eps else y_bar / np.sqrt(eps), eps_bar

        return y, pullback

    return rule


@pytest.mark.slow
def test_a_guard_by_default_that_a_rule_holds_is_held():
    """`eps=1e-12` is there for the formula not to fail: `NoTangent()` says so, and a number of 0 does not."""
    report = judged(unit_rows, unit_rows_with(NO))
    assert report.verdict == "right"
    assert "eps is held at 1e-12: the rule returns NoTangent() for it" in report.notes
    assert judged(unit_rows, unit_rows_with(0.0)).verdict == "wrong"
    given = rule_check(
        unit_rows, np.array([1.0, 2.0]), 0.5, registry=registry_with(unit_rows, unit_rows_with(NO))
    )
    assert given.verdict == "wrong"


def turning(points):
    p, q, r = points
    return np.sum((p - q) * (r - q))


def turning_with(sign):
    def rule(points):
        p, q, r = points

        def pullback(y_bar):
            u_bar, v_bar = y_bar * (r - q), y_bar * (p - q)
            return NO, rl.Tangent(tuple, u_bar, sign * (u_bar + v_bar), v_bar)

        return turning(points), pullback

    return rule


@pytest.mark.slow
def test_a_rule_with_the_tangent_of_a_tuple_is_for_tuples():
    assert judged(turning, turning_with(-1)).verdict == "right"
    assert judged(turning, turning_with(1)).verdict == "wrong"


# --- a flag for each row; positive by name; complex numbers on the way to real ones -------------------------


def label_loss(w, X, y):
    """Of a logistic regression; y holds zeros and ones."""
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def label_loss_with(wrong):
    def rule(w, X, y):
        z = X @ w

        def pullback(s):
            r = s * (1 / (1 + np.exp(-z)) - (0 if wrong else y))
            return NO, X.T @ r, np.outer(r, w), NO

        return np.sum(np.logaddexp(0.0, z) - y * z), pullback

    return rule


def partial_likelihood(beta, X, died):
    """Of Cox; the rows of X are in the order of time."""
    eta = X @ beta
    return np.sum((eta - np.log(np.cumsum(np.exp(eta)[::-1])[::-1]))[died])


def partial_likelihood_with(wrong):
    def rule(beta, X, died):
        eta = X @ beta
        e = np.exp(eta)
        at_risk = np.cumsum(e[::-1])[::-1]

        def pullback(s):
            eta_bar = s * (died - e * (np.cumsum(died) / at_risk if wrong else np.cumsum(died / at_risk)))
            return NO, X.T @ eta_bar, np.outer(eta_bar, beta), NO

        return np.sum((eta - np.log(at_risk))[died]), pullback

    return rule


def pinball(residuals, tau, scale):
    u = residuals / scale
    return scale * np.mean(np.where(u >= 0, tau * u, (tau - 1) * u))


def pinball_with(wrong):
    def rule(residuals, tau, scale):
        weights = np.where(residuals >= 0, tau, -tau if wrong else tau - 1)

        def pullback(s):
            return NO, s * weights / len(residuals), s * np.mean(residuals), 0.0 * s

        return pinball(residuals, tau, scale), pullback

    return rule


def power_at(x, w):
    """By Goertzel's recurrence."""
    c = 2 * np.cos(w)
    s1 = s2 = 0.0
    for v in x:
        s1, s2 = v + c * s1 - s2, s1
    return s1**2 + s2**2 - c * s1 * s2


def power_at_with(wrong):
    def rule(x, w):
        k = np.arange(len(x))
        e = np.exp(-1j * w * k)
        X = np.sum(x * e)

        def pullback(s):
            back = X if wrong else np.conj(X)
            x_bar = 2 * s * np.real(back * e)
            return NO, x_bar, 2 * s * np.real(np.conj(X) * np.sum(-1j * k * x * e))

        return np.abs(X) ** 2, pullback

    return rule


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "rule_with"),
    [
        (label_loss, label_loss_with),
        (partial_likelihood, partial_likelihood_with),
        (pinball, pinball_with),
        (power_at, power_at_with),
    ],
    ids=lambda one: one.__name__,
)
def test_a_flag_for_each_row_a_scale_and_a_power_by_complex_numbers(f, rule_with):
    """A label or an event for each row of a matrix has no cotangent; a scale is positive wherever a rule is
    asked; and a rule that finds a real number by way of complex ones is for real arguments, if its function
    knows no others.
    """
    assert judged(f, rule_with(0)).verdict == "right"
    assert judged(f, rule_with(1)).verdict == "wrong"


@pytest.mark.first(1)
@pytest.mark.parametrize("wrong", [False, True])
def test_what_is_given_positive_and_called_so_stays_positive(wrong):
    given = np.array([1.5, -0.5, 2.0]), 0.3, 1.2
    report = rule_check(pinball, *given, registry=registry_with(pinball, pinball_with(wrong)))
    assert report.verdict == ("wrong" if wrong else "right")


def scaled_product(a, b, scale=1.0):
    return scale * (a @ b.T)


def scaled_product_with(factor):
    def rule(a, b, scale=1.0):
        product = a @ b.T

        def pullback(y_bar):
            return NO, scale * y_bar @ b, scale * y_bar.T @ a, factor * np.vdot(y_bar, product)

        return scale * product, pullback

    return rule


def overlap_as_of_real_vectors(psi, phi):
    inner = np.vdot(psi, phi)

    def pullback(y_bar):
        return NO, 2 * y_bar * inner * phi, 2 * y_bar * inner * psi

    return np.abs(inner) ** 2, pullback


@pytest.mark.slow
def test_an_inner_product_by_vdot_alone_is_no_word_of_complex_numbers():
    """It is the shortest way to that of real matrices; of complex vectors one takes the size of it."""
    assert judged(scaled_product, scaled_product_with(1.0)).verdict == "right"
    assert judged(scaled_product, scaled_product_with(2.0)).verdict == "wrong"
    assert judged(overlap, overlap_as_of_real_vectors).verdict == "wrong"
    for factor, word in ((1.0, "PROVED"), (2.0, "REFUTED")):
        registry = registry_with(scaled_product, scaled_product_with(factor))
        assert prove(scaled_product, registry=registry).verdict.word == word


def sampled(z, rate, phase=0.0):
    return z * np.cos(rate * np.arange(len(z)) + phase)


def sampled_with(sign):
    def rule(tangents, z, rate, phase=0.0):
        dz, drate, dphase = tangents[1:]
        k = np.arange(len(z))
        turn = np.linspace(dphase, dphase + (len(z) - 1) * drate, len(z))
        y = sampled(z, rate, phase)
        dy = dz * np.cos(rate * k + phase)
        dy += sign * turn * z * np.sin(rate * k + phase)
        return y, dy

    return rule


@pytest.mark.slow
def test_a_forward_rule_is_judged_for_what_it_has_an_answer_for():
    """The function takes a vector for the rate by accident, and the rule does not."""
    for sign, verdict in ((-1, "right"), (1, "wrong")):
        registry = registry_with(sampled, sampled_with(sign), mode="frule")
        assert rule_check(sampled, registry=registry).verdict == verdict


def misfit(x, A, measured):
    return np.sum((np.abs(A @ x) ** 2 - measured) ** 2)


def misfit_with(conjugate):
    def rule(x, A, measured):
        f = A @ x
        off = np.abs(f) ** 2 - measured

        def pullback(y_bar):
            f_bar = 4 * y_bar * off * f
            return NO, conjugate(A).T @ f_bar, np.outer(f_bar, np.conj(x)), -2 * y_bar * off

        return np.sum(off**2), pullback

    return rule


@pytest.mark.slow
def test_what_is_measured_beside_the_size_of_a_complex_signal_is_real():
    """The value is real for any signal, and complex only where what was measured is."""
    assert judged(misfit, misfit_with(np.conj)).verdict == "right"
    assert judged(misfit, misfit_with(np.array)).verdict == "wrong"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([Kind("vector"), Kind("matrix")], "a list of arrays"),
        ([Kind(), Kind("integer")], "a list of numbers"),
        ([Kind("vector"), Kind()], "a list of numbers and arrays"),
        ([sequence(tuple, [Kind(), Kind()])], "a list of tuples"),
        ([sequence(list, [Kind("vector")])], "a list of lists"),
    ],
)
def test_what_a_list_holds_is_said(parts, words):
    """A list of tuples is not called a list of arrays."""
    assert str(sequence(list, parts)) == words
