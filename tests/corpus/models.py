"""Corpus: losses and small models of statistics and learning."""

import numpy as np
from corpus.harness import case

RNG = np.random.default_rng(5)
X = RNG.standard_normal((5, 3))
Y = RNG.standard_normal(5)
W1 = 0.5 * RNG.standard_normal((3, 4))
W2 = 0.5 * RNG.standard_normal((4, 2))
B1 = 0.1 * RNG.standard_normal(4)
B2 = 0.1 * RNG.standard_normal(2)
LABELS = np.array([0, 1, 1, 0, 1])
LOGITS = RNG.standard_normal((5, 2))


@case((np.array([0.5, -1.5, 2.0]),), (np.array([800.0, 801.0, -5.0]),))
def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@case((LOGITS, LABELS), wrt=(0,), inert=(1,))
def softmax_cross_entropy(z, labels):
    m = z.max(axis=1, keepdims=True)
    log_probabilities = z - m - np.log(np.exp(z - m).sum(axis=1, keepdims=True))
    return -np.mean(log_probabilities[np.arange(len(labels)), labels])


@case((X, W1, B1, W2, B2))
def mlp(x, w1, b1, w2, b2):
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return (out**2).mean()


@case(([(W1, B1), (W2, B2)], X), wrt=(0,))
def mlp_layers(layers, x):
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return x.sum()


@case((np.array([0.2, -0.3, 0.5]), X, Y))
def linear_regression(w, x, y):
    r = x @ w - y
    return (r @ r) / len(y)


@case((np.array([0.2, -0.3, 0.5]), X, np.array([1.0, 0.0, 1.0, 1.0, 0.0])), wrt=(0, 1))
def logistic_regression(w, x, y):
    z = x @ w
    p = 1.0 / (1.0 + np.exp(-z))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


@case((0.3, 0.8, Y))
def gaussian_log_likelihood(mu, log_sigma, data):
    sigma = np.exp(log_sigma)
    s = 0.0
    for y in data:
        s += -0.5 * ((y - mu) / sigma) ** 2 - log_sigma - 0.5 * np.log(2.0 * np.pi)
    return s


@case((np.array([[2.0, 0.5], [0.5, 1.5]]), np.array([1.0, -1.0])))
def multivariate_gaussian(sigma, x):
    return 0.5 * x @ np.linalg.solve(sigma, x) + 0.5 * np.log(np.linalg.det(sigma))


@case((np.array([0.5, -1.5, 2.0]), 1.0), wrt=(0,))
def huber(x, delta):
    a = np.abs(x)
    return np.where(a < delta, 0.5 * a**2, delta * (a - 0.5 * delta)).sum()


@case((X,))
def pairwise_distances(points):
    s = 0.0
    for i in range(len(points)):
        for j in range(i):
            s += np.sqrt(((points[i] - points[j]) ** 2).sum())
    return s


@case((X, np.array([[0.0, 0.5, 1.0], [1.0, -1.0, 0.0]])))
def k_means_loss(points, centres):
    s = 0.0
    for p in points:
        s += min([((p - c) ** 2).sum() for c in centres])
    return s


@case((np.array([0.3, -0.2]), np.array([[0.5, -0.3], [0.2, 0.4]]), [0.5, -1.0, 0.25]))
def recurrent_network(h, w, inputs):
    for u in inputs:
        h = np.tanh(w @ h + u)
    return h.sum()


@case(({"scale": np.array([1.0, 2.0, 0.5]), "shift": 0.3}, X))
def layer_norm(params, x):
    mean = x.mean(axis=-1, keepdims=True)
    spread = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + 1e-5)
    return (((x - mean) / spread * params["scale"] + params["shift"]) ** 2).sum()


@case((np.array([0.1, 0.2]), X[:, :2], 0.1, 3), wrt=(0, 2))
def gradient_descent_unrolled(w, x, rate, steps):
    for _ in range(steps):
        w = w - rate * (x.T @ (x @ w - 1.0)) / len(x)
    return ((x @ w - 1.0) ** 2).mean()


@case((np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.25, 0.5, 0.25])))
def convolution_by_loops(signal, kernel):
    s = 0.0
    for i in range(len(signal) - len(kernel) + 1):
        acc = 0.0
        for j in range(len(kernel)):
            acc += signal[i + j] * kernel[j]
        s += acc * acc
    return s


@case((X, X[:3], X[1:4]))
def attention(q, k, v):
    scores = q @ k.T / np.sqrt(3.0)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return ((weights @ v) ** 2).sum()
