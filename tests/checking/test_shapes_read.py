"""Tests of what the text of a function says of the lengths of its parameters: arguments are found, a right
rule is right there and a wrong one wrong.
"""

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking import rule_check
from rulelab.checking.arguments.guesser import kinds_used
from rulelab.checking.reading.lists_read import layered_kinds
from rulelab.checking.reading.shapes_read import shapes_read

from .rules import registry_with
from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")

NO = rl.NoTangent()


def turned(points, angle):
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def turned_with(back):
    def rule(points, angle):
        c, s = np.cos(angle), np.sin(angle)
        matrix = np.array([[c, s], [-s, c]])
        slope = np.array([[-s, c], [-c, -s]])

        def pullback(y_bar):
            return NO, y_bar @ back(matrix), np.sum(y_bar * (points @ slope))

        return points @ matrix, pullback

    return rule


def cross_entropy(logits, labels):
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_z = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_z - shifted[np.arange(len(labels)), labels])


def cross_entropy_with(axis):
    def rule(logits, labels):
        e = np.exp(logits - logits.max(axis=1, keepdims=True))

        def pullback(y_bar):
            g = e / e.sum(axis=axis, keepdims=True)
            g[np.arange(len(labels)), labels] -= 1
            return NO, y_bar * g / len(labels), NO

        return cross_entropy(logits, labels), pullback

    return rule


def against_ones(scores, classes, count):
    return np.sum(np.eye(count)[classes] * np.tanh(scores))


def against_ones_with(factor):
    def rule(scores, classes, count):
        def pullback(y_bar):
            return NO, factor * y_bar * np.eye(count)[classes] / np.cosh(scores) ** 2, NO, NO

        return against_ones(scores, classes, count), pullback

    return rule


def layered(weights, x):
    for W in weights:
        x = np.tanh(W @ x)
    return x


def layered_with(slope):
    def rule(weights, x):
        kept = [x]
        for W in weights:
            kept.append(np.tanh(W @ kept[-1]))

        def pullback(y_bar):
            bars = []
            for W, before, after in zip(weights[::-1], kept[-2::-1], kept[:0:-1]):
                y_bar = y_bar * slope(after)
                bars.insert(0, np.outer(y_bar, before))
                y_bar = W.T @ y_bar
            return NO, bars, y_bar

        return kept[-1], pullback

    return rule


def paired(layers, x):
    for W, b in layers:
        x = np.sin(W @ x + b)
    return x


def paired_with(factor):
    def rule(layers, x):
        kept = [x]
        for W, b in layers:
            kept.append(np.sin(W @ kept[-1] + b))

        def pullback(y_bar):
            bars = []
            for (W, b), before in zip(layers[::-1], kept[-2::-1]):
                y_bar = y_bar * np.cos(W @ before + b)
                bars.insert(0, (np.outer(y_bar, before), factor * y_bar))
                y_bar = W.T @ y_bar
            return NO, bars, y_bar

        return kept[-1], pullback

    return rule


def product(factors, b):
    L, U = factors
    return L @ (U @ b)


def product_with(turn):
    def rule(factors, b):
        L, U = factors

        def pullback(y_bar):
            c_bar = L.T @ y_bar
            return NO, (np.outer(y_bar, U @ b), np.outer(c_bar, b)), turn(U) @ c_bar

        return product(factors, b), pullback

    return rule


def network(params, x):
    return params["W2"] @ np.tanh(params["W1"] @ x + params["b1"]) + params["b2"]


def network_with(slope):
    def rule(params, x):
        h = np.tanh(params["W1"] @ x + params["b1"])

        def pullback(y_bar):
            a_bar = (params["W2"].T @ y_bar) * slope(h)
            bars = {"W1": np.outer(a_bar, x), "b1": a_bar, "W2": np.outer(y_bar, h), "b2": y_bar}
            return NO, bars, params["W1"].T @ a_bar

        return network(params, x), pullback

    return rule


def kept_share(scores, keep):
    e = np.where(keep, np.exp(scores), 0.0)
    return e / (e.sum() + 0.125)


def kept_share_with(total):
    def rule(scores, keep):
        p = kept_share(scores, keep)
        return p, lambda p_bar: (NO, p * (p_bar - total(p * p_bar)), NO)

    return rule


def stretched(x, edges, weights):
    tail, head = edges[:, 0], edges[:, 1]
    return np.sum(weights * (x[tail] - x[head]) ** 2)


def stretched_with(share):
    def rule(x, edges, weights):
        tail, head = edges[:, 0], edges[:, 1]
        gap = x[tail] - x[head]

        def pullback(y_bar):
            flow = 2 * y_bar * weights * gap
            x_bar = np.bincount(tail, flow, len(x)) - share * np.bincount(head, flow, len(x))
            return NO, x_bar, NO, y_bar * gap**2

        return np.sum(weights * gap**2), pullback

    return rule


def joined(x, edges):
    total = 0.0
    for i, j in edges:
        total += np.sin(x[i]) * x[j]
    return total


def joined_with(slope):
    def rule(x, edges):
        def pullback(y_bar):
            x_bar = np.zeros(len(x))
            for i, j in edges:
                x_bar[i] += y_bar * slope(x[i]) * x[j]
                x_bar[j] += y_bar * np.sin(x[i])
            return NO, x_bar, NO

        return joined(x, edges), pullback

    return rule


def rated(P, Q, pairs, ratings):
    total = 0.0
    for (u, i), r in zip(pairs, ratings):
        total += (r - P[u] @ Q[i]) ** 2
    return total


def rated_with(sign):
    def rule(P, Q, pairs, ratings):
        users, items = [u for u, _ in pairs], [i for _, i in pairs]
        err = ratings - np.sum(P[users] * Q[items], axis=1)

        def pullback(y_bar):
            g, P_bar, Q_bar = 2 * y_bar * err, np.zeros(P.shape), np.zeros(Q.shape)
            np.add.at(P_bar, users, -g[:, None] * Q[items])
            np.add.at(Q_bar, items, sign * g[:, None] * P[users])
            return NO, P_bar, Q_bar, NO, g

        return np.sum(err**2), pullback

    return rule


def won(skill, games):
    w, l = np.array([i for i, _ in games]), np.array([j for _, j in games])
    return np.sum(np.log1p(np.exp(skill[l] - skill[w])))


def won_with(sign):
    def rule(skill, games):
        w, l = np.array([i for i, _ in games]), np.array([j for _, j in games])

        def pullback(y_bar):
            s_bar, d_bar = np.zeros(len(skill)), y_bar / (1 + np.exp(skill[w] - skill[l]))
            np.add.at(s_bar, l, d_bar)
            np.add.at(s_bar, w, sign * d_bar)
            return NO, s_bar, NO

        return won(skill, games), pullback

    return rule


def moved(rates, before, after, t):
    Q = rates * t
    P = np.eye(4) + Q + Q @ Q / 2
    return (P @ before) * after


def moved_with(share):
    def rule(rates, before, after, t):
        Q = rates * t
        P = np.eye(4) + Q + Q @ Q / 2

        def pullback(y_bar):
            P_bar = np.outer(y_bar * after, before)
            Q_bar = P_bar + share * (P_bar @ Q.T + Q.T @ P_bar)
            return NO, t * Q_bar, P.T @ (y_bar * after), y_bar * (P @ before), np.sum(Q_bar * rates)

        return (P @ before) * after, pullback

    return rule


def same(matrix):
    return matrix


def transposed(matrix):
    return matrix.T


@pytest.mark.every(11)
@pytest.mark.parametrize(
    "f, right, wrong",
    [
        (turned, turned_with(transposed), turned_with(same)),
        (cross_entropy, cross_entropy_with(1), cross_entropy_with(0)),
        (against_ones, against_ones_with(1.0), against_ones_with(2.0)),
        (layered, layered_with(lambda y: 1 - y**2), layered_with(lambda y: 1 - y)),
        (paired, paired_with(1.0), paired_with(2.0)),
        (product, product_with(transposed), product_with(same)),
        (network, network_with(lambda h: 1 - h**2), network_with(lambda h: 1 - h)),
        (kept_share, kept_share_with(np.sum), kept_share_with(np.mean)),
        (stretched, stretched_with(1), stretched_with(0)),
        (joined, joined_with(np.cos), joined_with(np.sin)),
        (rated, rated_with(-1), rated_with(1)),
        (won, won_with(-1), won_with(1)),
        (moved, moved_with(0.5), moved_with(1.0)),
    ],
)
def test_arguments_are_found_by_the_text(f, right, wrong):
    assert rule_check(f, registry=registry_with(f, right)).verdict == "right"
    assert rule_check(f, registry=registry_with(f, wrong), depth="quick").verdict == "wrong"


def test_what_the_text_tells_of_a_tuple_comes_before_what_its_rule_answers():
    """A tuple of two cotangents tells no lengths; the product of the matrices in it does."""
    first, *others = kinds_used(product, registry_with(product, product_with(transposed)))["factors"]
    assert [part.dims for _, part in first.parts] == [("n", "n"), ("n", "n")]
    assert any(part.form == "vector" for kind in others for _, part in kind.parts)


def test_what_is_not_written_out_says_nothing():
    def plain(A, x, rows):
        M = np.array(rows)
        return M @ A @ x

    assert shapes_read(plain) == {}
    assert layered_kinds(("w", "b")) == ()


def test_what_is_split_into_parts_is_as_long_as_these_together():
    def cell(c, gates, rows):
        i, f = np.split(gates, 2)
        return i * c + f, np.split(rows, 3, axis=1)

    found = shapes_read(cell)
    assert [str(kind) for kind in found["gates"]] == ["a vector (2*n)", "a matrix (2*n, m)"]
    assert [str(kind) for kind in found["rows"]] == ["a matrix (m, 3*n)"]


CHAIN = """
def f(steps):
    product = steps[0]
    for step in steps[1:]:
        product = product @ step
    return np.trace(product)


@rl.rrule_for(f, registry=registry)
def f_rrule(steps):
    before = [np.eye(len(steps[0]))]
    for step in steps:
        before.append(before[-1] @ step)

    def back(y_bar):
        steps_bar, after = [None] * len(steps), np.eye(len(steps[0]))
        for k in reversed(range(len(steps))):
            steps_bar[k] = y_bar * (after @ before[k]){}
            after = steps[k] @ after
        return rl.NoTangent(), steps_bar

    return f(steps), back
"""


@pytest.mark.slow
def test_a_product_of_a_list_may_be_of_square_matrices_alone():
    """The function has a value for others whose lengths go together, and the rule is not for these."""
    assert judged(CHAIN.format(".T")).verdict == "right"
    assert judged(CHAIN.format("")).verdict == "wrong"


BALANCE = """
def f(flow, head, nodes):
    out = np.zeros(nodes)
    np.add.at(out, head, np.sin(flow))
    return out


@rl.rrule_for(f, registry=registry)
def f_rrule(flow, head, nodes):
    def back(out_bar):
        return rl.NoTangent(), {}np.cos(flow) * out_bar[head], rl.NoTangent(), rl.NoTangent()

    return f(flow, head, nodes), back
"""


def test_a_parameter_that_is_the_length_of_an_array_is_a_whole_number():
    """There are so many places to add up at, and the indices are below it."""
    assert judged(BALANCE.format("")).verdict == "right"
    assert judged(BALANCE.format("-")).verdict == "wrong"


def running_state(Q, K, V):
    state, rows = 0.0, []
    for q, k, v in zip(Q, K, V):
        state = state + np.outer(k, v)
        rows.append(q @ state)
    return np.stack(rows)


def running_state_with(factor):
    def rule(Q, K, V):
        before = np.tril(np.ones((len(Q), len(Q))))
        weights = Q @ K.T * before

        def pullback(y_bar):
            weights_bar = y_bar @ V.T * before
            return NO, weights_bar @ K, factor * weights_bar.T @ Q, weights.T @ y_bar

        return weights @ V, pullback

    return rule


@pytest.mark.slow
def test_matrices_that_a_loop_goes_through_row_by_row_are_found():
    """Beside lists of layers, of which a text that multiplies and adds looks the same."""
    for factor, verdict in ((1.0, "right"), (2.0, "wrong")):
        registry = registry_with(running_state, running_state_with(factor))
        report = rule_check(running_state, registry=registry)
        assert report.verdict == verdict, str(report)


LAYERS = """
def f(layers):
    total = np.eye(2)
    for layer in layers:
        total = total @ layer
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(layers):
    before, after = [np.eye(2)], [np.eye(2)]
    for layer in layers:
        before.append(before[-1] @ layer)
    for layer in layers[::-1]:
        after.append(layer @ after[-1])

    def back(y_bar):
        return rl.NoTangent(), [b.T @ y_bar @ a{} for b, a in zip(before, after[-2::-1])]

    return before[-1], back
"""


@pytest.mark.slow
def test_matrices_that_a_loop_multiplies_are_as_large_as_what_it_begins_with():
    assert judged(LAYERS.format(".T")).verdict == "right"
    assert judged(LAYERS.format("")).verdict == "wrong"


FORWARD = """
class Net(typing.NamedTuple):
    weights: list
    biases: list


def f(net: Net, x):
    for w, b in zip(net.weights[:-1], net.biases[:-1]):
        x = np.tanh(w @ x + b)
    return net.weights[-1] @ x + net.biases[-1]


@rl.rrule_for(f, registry=registry)
def f_rrule(net: Net, x):
    kept = [x]
    for w, b in zip(net.weights[:-1], net.biases[:-1]):
        kept.append(np.tanh(w @ kept[-1] + b))

    def back(y_bar):
        weights, biases = [], []
        for k in range(len(net.weights) - 1, -1, -1):
            weights.append(np.outer(y_bar, kept[k]))
            biases.append(y_bar)
            y_bar = net.weights[k].T @ y_bar
            if k > {}:
                y_bar = y_bar * (1 - kept[k] ** 2)
        return rl.NoTangent(), rl.Tangent(Net, weights=weights[::-1], biases=biases[::-1]), y_bar

    return net.weights[-1] @ kept[-1] + net.biases[-1], back
"""
CELL = """
def f(w, u, b, x, h, c):
    i, g = np.split(w @ x + u @ h + b, 2)
    return np.tanh(i) * c + np.sin(g)


@rl.rrule_for(f, registry=registry)
def f_rrule(w, u, b, x, h, c):
    i, g = np.split(w @ x + u @ h + b, 2)

    def back(y_bar):
        z_bar = np.concatenate([y_bar * c * (1 - np.tanh(i) ** 2), {} * y_bar * np.cos(g)])
        bars = np.outer(z_bar, x), np.outer(z_bar, h), z_bar, w.T @ z_bar, u.T @ z_bar
        return rl.NoTangent(), *bars, y_bar * np.tanh(i)

    return f(w, u, b, x, h, c), back
"""
JOINED = """
class Cell(typing.NamedTuple):
    gate: np.ndarray
    candidate: np.ndarray


def f(cell: Cell, h, x):
    z = np.sin(cell.gate @ np.concatenate([h, x]))
    return z * np.cos(cell.candidate @ np.hstack((z * h, x)))


@rl.rrule_for(f, registry=registry)
def f_rrule(cell: Cell, h, x):
    k, both = len(h), np.concatenate([h, x])
    s = cell.gate @ both
    gated = np.concatenate([np.sin(s) * h, x])
    t = cell.candidate @ gated

    def back(y_bar):
        t_bar = -y_bar * np.sin(s) * np.sin(t)
        gated_bar = cell.candidate.T @ t_bar
        s_bar = (y_bar * np.cos(t) + {} * gated_bar[:k] * h) * np.cos(s)
        both_bar = cell.gate.T @ s_bar
        bar = rl.Tangent(Cell, gate=np.outer(s_bar, both), candidate=np.outer(t_bar, gated))
        return rl.NoTangent(), bar, both_bar[:k] + gated_bar[:k] * np.sin(s), both_bar[k:] + gated_bar[k:]

    return np.sin(s) * np.cos(t), back
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text, right, wrong",
    [
        (JOINED, "1", "2"),
        (FORWARD, "0", "1"),
        (CELL, "1", "2"),
    ],
    ids=["joined", "layers", "parts"],
)
def test_lists_in_an_object_and_vectors_that_are_split_are_found(text, right, wrong):
    """A part of so many equal ones is as long as what stands beside it; what is joined as all of it."""
    assert judged(f"import typing\n{text.format(right)}").verdict == "right"
    assert judged(f"import typing\n{text.format(wrong)}").verdict == "wrong"


APPENDED = """
def f(weights, x):
    for w in weights[:-1]:
        x = np.tanh(w @ x)
    return weights[-1] @ x


@rl.rrule_for(f, registry=registry)
def f_rrule(weights, x):
    kept = [x]
    for w in weights[:-1]:
        kept.append(np.tanh(w @ kept[-1]))

    def back(y_bar):
        bars = []
        for k in range(len(weights) - 1, -1, -1):
            bars.append(np.outer(y_bar, kept[k]))
            y_bar = weights[k].T @ y_bar * ((1 - kept[k] ** 2) if k else 1.0)
        return rl.NoTangent(), bars[::{}], y_bar

    return weights[-1] @ kept[-1], back
"""


@pytest.mark.slow
def test_a_list_of_cotangents_that_is_turned_round_answers_for_a_list():
    assert judged(APPENDED.format("-1")).verdict == "right"
    assert judged(APPENDED.format("1")).verdict == "wrong"


def product_of(a, b, x):
    block = x.reshape(a.shape[1], b.shape[1])
    return (a @ block @ b.T).ravel()


def product_of_with(turned):
    def rule(a, b, x):
        block = x.reshape(a.shape[1], b.shape[1])

        def pullback(y_bar):
            g = y_bar.reshape(a.shape[0], b.shape[0])
            return NO, g @ b @ block.T, turned(g.T @ a @ block), (a.T @ g @ b).ravel()

        return product_of(a, b, x), pullback

    return rule


def on_both(left, gate, right):
    legs = gate.reshape(2, 3, 2, 3)
    return np.einsum("uvst,as,bt->aubv", legs, left, right)


def on_both_with(order):
    def rule(left, gate, right):
        legs = gate.reshape(2, 3, 2, 3)

        def pullback(y_bar):
            gate_bar = np.einsum(f"aubv,as,bt->{order}", y_bar, left, right).reshape(gate.shape)
            left_bar = np.einsum("aubv,uvst,bt->as", y_bar, legs, right)
            return NO, left_bar, gate_bar, np.einsum("aubv,uvst,as->bt", y_bar, legs, left)

        return on_both(left, gate, right), pullback

    return rule


@pytest.mark.slow
@pytest.mark.parametrize(
    "f, right, wrong",
    [
        (product_of, product_of_with(lambda b: b), product_of_with(lambda b: -b)),
        (on_both, on_both_with("uvst"), on_both_with("stuv")),
    ],
)
def test_what_is_reshaped_is_as_long_as_that_needs(f, right, wrong):
    for rule, word in ((right, "right"), (wrong, "wrong")):
        assert rule_check(f, registry=registry_with(f, rule)).verdict == word
