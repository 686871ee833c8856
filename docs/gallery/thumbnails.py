"""The pictures of the gallery: `python docs/gallery/thumbnails.py` writes one for each recipe.

They have no background and mid-grey axes, so they can be read on a light page and on a dark one. They have
no dates or random names, so the same drawing gives the same file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
from matplotlib import pyplot as plt

HERE = Path(__file__).resolve().parent
GREY, BLUE, ORANGE, GREEN = "#8a8f98", "#3b82c4", "#e08a2e", "#3fa66b"
STYLE = {
    "svg.hashsalt": "rulelab",
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 2.2,
    "lines.solid_capstyle": "round",
    "image.cmap": "viridis",
}
DRAWN: dict[str, Callable] = {}


def drawing(name: str) -> Callable:
    """Enter a function that draws on given axes as the picture of the recipe `name`."""

    def enter(draw: Callable) -> Callable:
        DRAWN[name] = draw
        return draw

    return enter


def save(name: str, folder: Path = HERE / "thumbnails") -> None:
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(3.2, 2), layout="constrained")
        axes.set_xticks([])
        axes.set_yticks([])
        DRAWN[name](axes)
        path = folder / f"{name}.svg"
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    path.write_text(as_readable(path.read_text(encoding="utf-8")), encoding="utf-8")


def as_readable(svg: str) -> str:
    """The file without blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def smoothed(a: float, x: np.ndarray) -> np.ndarray:
    y, out = x[0], []
    for value in x:
        y = a * y + (1 - a) * value
        out.append(y)
    return np.array(out)


def coloured(axes, *mesh, **limits) -> None:
    """A matrix as coloured squares, without seams between them."""
    axes.pcolormesh(*mesh, edgecolors="face", linewidth=0.3, **limits)


def plain(axes) -> None:
    """No frame: what is drawn is not a graph."""
    for spine in axes.spines.values():
        spine.set_visible(False)


@drawing("softmax")
def softmax(axes) -> None:
    x = np.array([1.0, 2.2, 0.5, -0.6, 1.4])
    p = np.exp(x) / np.sum(np.exp(x))
    axes.bar(np.arange(5) - 0.2, x / 4, 0.36, color=GREY)
    axes.bar(np.arange(5) + 0.2, p, 0.36, color=BLUE)
    axes.axhline(0, color=GREY, lw=1)


@drawing("log-sum-exp")
def log_sum_exp(axes) -> None:
    x = np.linspace(-4, 4, 80)
    axes.plot(x, np.maximum(x, 0), color=GREY, ls="--")
    axes.plot(x, np.logaddexp(x, 0), color=BLUE)


@drawing("cross-entropy")
def cross_entropy(axes) -> None:
    p = np.linspace(0.02, 1, 80)
    axes.plot(p, -np.log(p), color=BLUE)
    axes.plot([0.12, 0.45, 0.85], -np.log([0.12, 0.45, 0.85]), "o", color=ORANGE, ms=8)


@drawing("attention")
def attention(axes) -> None:
    i = np.arange(8)
    scores = -((i[:, None] - i) ** 2) / 4 + np.sin(3 * i)[None, :]
    w = np.exp(scores)
    coloured(axes, w / w.sum(axis=1, keepdims=True))
    axes.invert_yaxis()
    axes.set_aspect("equal")
    plain(axes)


@drawing("layer-norm")
def layer_norm(axes) -> None:
    z = np.array([-1.4, -0.6, 0.1, 0.6, 1.3])
    for row, (shift, spread) in enumerate(((-3.2, 0.4), (-1.0, 1.2), (-4.0, 0.8))):
        axes.plot(shift + spread * z, 5 * [-row], "o", color=GREY, ms=6)
        axes.plot(4.5 + z, 5 * [-row], "o", color=BLUE, ms=6)
    axes.annotate("", (2.6, -1), (0.9, -1), arrowprops={"arrowstyle": "->", "color": GREY, "lw": 2})
    axes.set_ylim(-2.6, 0.6)
    plain(axes)


@drawing("cox")
def cox(axes) -> None:
    t = np.arange(10)
    axes.step(t, 0.94**t, color=BLUE, where="post")
    axes.step(t, 0.8**t, color=ORANGE, where="post")
    axes.plot([3, 7], [0.94**3, 0.94**7], "+", color=GREY, ms=10, mew=2)
    axes.set_ylim(0, 1.05)


@drawing("kalman")
def kalman(axes) -> None:
    random = np.random.default_rng(3)
    walk = np.cumsum(0.5 * random.normal(size=36))
    seen = walk + 0.9 * random.normal(size=36)
    level = smoothed(0.6, seen)
    t = np.arange(36)
    axes.fill_between(t, level - 0.9, level + 0.9, color=BLUE, alpha=0.25, lw=0)
    axes.plot(t, seen, ".", color=GREY, ms=5)
    axes.plot(t, level, color=BLUE)


@drawing("pendulum")
def pendulum(axes) -> None:
    angle, speed = np.meshgrid(np.linspace(-5, 5, 60), np.linspace(-3, 3, 40))
    energy = speed**2 / 2 - np.cos(angle)
    axes.contour(
        angle, speed, energy, levels=[-0.7, -0.1, 0.5, 1.0, 1.8], colors=[BLUE, BLUE, BLUE, ORANGE, GREY]
    )


@drawing("quaternion")
def quaternion(axes) -> None:
    triangle = np.array([1.0, 1.7 + 0.2j, 1.2 + 0.6j, 1.0])
    for step in range(6):
        turned = triangle * np.exp(1j * step * np.pi / 7)
        axes.fill(turned.real, turned.imag, color=BLUE, alpha=0.2 + 0.15 * step, lw=0)
    axes.set_aspect("equal")
    plain(axes)


@drawing("interpolation")
def interpolation(axes) -> None:
    coarse = np.random.default_rng(5).random((4, 4))
    fine = np.linspace(0, 2.999, 14)
    i, a = fine.astype(int), fine % 1
    rows = (1 - a)[:, None] * coarse[i] + a[:, None] * coarse[i + 1]
    both = (1 - a) * rows[:, i] + a * rows[:, i + 1]
    coloured(axes, np.arange(5), np.arange(5), coarse)
    coloured(axes, np.linspace(5, 9, 15), np.linspace(0, 4, 15), both)
    axes.set_aspect("equal")
    plain(axes)


@drawing("polynomial")
def polynomial(axes) -> None:
    x = np.linspace(-1.25, 1.3, 80)
    axes.plot(x, 4 * x**3 - 3 * x, color=BLUE)
    axes.plot(x, (12 * x**2 - 3) / 3, color=ORANGE, ls="--", lw=1.6)
    axes.axhline(0, color=GREY, lw=0.8)


@drawing("cholesky")
def cholesky(axes) -> None:
    i = np.arange(7)
    s = np.exp(-np.abs(i[:, None] - i) / 2.5)
    factor = np.linalg.cholesky(s)
    coloured(axes, np.arange(8), np.arange(8), s[::-1], vmin=0, vmax=1)
    coloured(
        axes, np.arange(9, 17), np.arange(8), np.where(factor == 0, np.nan, factor)[::-1], vmin=0, vmax=1
    )
    axes.set_aspect("equal")
    plain(axes)


@drawing("camera")
def camera(axes) -> None:
    points = np.array([[3.2, 1.3], [3.8, -0.6], [4.4, 0.7]])
    for x, y in points:
        axes.plot([0, x], [0, y], color=GREY, lw=1)
    axes.plot([1.5, 1.5], [-1, 1], color=BLUE)
    axes.plot(points[:, 0], points[:, 1], "o", color=ORANGE, ms=8)
    axes.plot(1.5 + 0 * points[:, 0], 1.5 * points[:, 1] / points[:, 0], "o", color=BLUE, ms=6)
    axes.plot(0, 0, "s", color=GREY, ms=9)
    plain(axes)


@drawing("mixture")
def mixture(axes) -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(-0.7, 0.5, 80), random.normal(2.2, 0.4, 50)])
    at = np.linspace(-2.5, 4, 100)
    axes.hist(x, 26, density=True, color=GREY, alpha=0.45)
    for mean, scale, weight in ((-0.7, 0.5, 0.6), (2.2, 0.4, 0.4)):
        axes.plot(
            at, weight * np.exp(-(((at - mean) / scale) ** 2) / 2) / (scale * np.sqrt(2 * np.pi)), color=BLUE
        )


@drawing("student-t")
def student_t(axes) -> None:
    t = np.linspace(0, 1, 12)
    y = 1 + 2 * t + np.array([0.1, -0.2, 0.2, 6, -0.1, 0.2, -0.2, 0.1, 0.2, -0.1, -0.2, 0.1])
    axes.plot(t, y, "o", color=GREY, ms=5)
    axes.plot(t, np.polyval(np.polyfit(t, y, 1), t), color=ORANGE, ls="--")
    axes.plot(t, 1.1 + 1.9 * t, color=BLUE)


@drawing("gaussian-process")
def gaussian_process(axes) -> None:
    def kernel(a, b):
        return np.exp(-((a[:, None] - b) ** 2) / 0.5)

    x, at = np.array([0.1, 0.5, 1.1, 2.2, 2.6]), np.linspace(0, 3, 70)
    inverse = np.linalg.inv(kernel(x, x) + 0.01 * np.eye(5))
    mean = kernel(at, x) @ inverse @ np.sin(2 * x)
    band = 1.5 * np.sqrt(1.001 - np.sum(kernel(at, x) @ inverse * kernel(at, x), axis=1))
    axes.fill_between(at, mean - band, mean + band, color=BLUE, alpha=0.25, lw=0)
    axes.plot(at, mean, color=BLUE)
    axes.plot(x, np.sin(2 * x), "o", color=ORANGE, ms=7)


@drawing("filter")
def filtered(axes) -> None:
    t = np.arange(70)
    x = np.sign(np.sin(t / 9)) + 0.35 * np.random.default_rng(1).normal(size=70)
    axes.plot(t, x, color=GREY, lw=1)
    axes.plot(t, smoothed(0.75, x), color=BLUE)


@drawing("sylvester")
def sylvester(axes) -> None:
    big = np.kron(np.arange(1, 10).reshape(3, 3), np.eye(4)) + np.kron(
        np.eye(3), np.arange(1, 17).reshape(4, 4)
    )
    rows, columns = np.nonzero(big)
    axes.scatter(columns, -rows, c=big[rows, columns], s=20, marker="s")
    axes.set_aspect("equal")
    plain(axes)


@drawing("integral")
def integral(axes) -> None:
    t = np.linspace(-3, 3, 90)
    density = np.exp(-(t**2) / 2)
    axes.plot(t, density, color=GREY)
    axes.fill_between(t, density, where=t > 0.5, color=BLUE, alpha=0.6, lw=0)
    axes.set_ylim(0, 1.1)


@drawing("differential-equation")
def differential_equation(axes) -> None:
    prey, predators, curves = 1.0, 0.5, []
    for _ in range(260):
        curves.append((prey, predators))
        eaten = 0.9 * prey * predators
        prey, predators = prey + 0.05 * (0.8 * prey - eaten), predators + 0.05 * (eaten - predators)
    t, curves = np.arange(260), np.array(curves)
    axes.plot(t, curves[:, 0], color=BLUE)
    axes.plot(t, curves[:, 1], color=ORANGE)
    axes.plot(t[::26], curves[::26, 0] + 0.06 * (-1.0) ** np.arange(10), "o", color=BLUE, ms=5)
    axes.plot(t[::26], curves[::26, 1] - 0.06 * (-1.0) ** np.arange(10), "o", color=ORANGE, ms=5)


@drawing("optimiser")
def optimiser(axes) -> None:
    x, y = np.meshgrid(np.linspace(-2, 2, 50), np.linspace(-1.3, 1.3, 40))
    axes.contour(x, y, x**2 + 4 * y**2 + x * y, levels=[0.3, 1, 2.2, 4], colors=GREY, linewidths=1)
    path = [np.array([-1.7, 1.0])]
    for _ in range(14):
        a, b = path[-1]
        path.append(path[-1] - 0.11 * np.array([2 * a + b, 8 * b + a]))
    axes.plot(*np.array(path).T, ".-", color=BLUE, lw=1.8)
    plain(axes)


def main() -> None:
    for name in DRAWN:
        save(name)


if __name__ == "__main__":
    main()
