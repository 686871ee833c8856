"""Pictures: PNG with an alternative text, drawn by matplotlib without pyplot, so that no backend that a
user has chosen has a say.

They are drawn on white, and a dark theme of Jupyter turns them to dark by its own colours: the hues stay.
Lines differ in their marks and dashes as well as in colour.
"""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from ..errors import printable
from ..tables import Page, engineering

DOTS_PER_INCH = 200  # twice the screen's, for those with fine dots
LARGE = 16
"""Elements from which on a picture of the differences says more than the table's row."""
MOST_POINTS = 2000
"""Points along an axis of a map; a longer axis is drawn in stretches, each with its largest difference."""
LONGEST = 40
"""Letters of a name that a legend has room for."""

_STYLE = """\
<style>
.rulelab-picture { display: inline-block; vertical-align: top; margin: 0.6em 1.5em 0.6em 0; max-width: 100%; }
.rulelab-picture img { width: 100%; height: auto; display: block; border-radius: 3px; }
.rulelab-picture figcaption { color: var(--jp-content-font-color1, inherit); margin-top: 0.2em; }
[data-jp-theme-light="false"] .rulelab-picture img { filter: invert(0.9) hue-rotate(180deg); }
</style>"""
_COLOURS = ("#444444", "#b5431d", "#0b62a8")
_MARKS = ("o", "s", "^")
_DASHES = (":", "--", "-")


@dataclass(frozen=True)
class Picture:
    """A PNG, what it shows in words (for who does not see it), its caption, and its width on the screen."""

    png: bytes
    alt: str
    caption: str
    width: int = 640

    def __str__(self) -> str:
        return printable(f"[picture: {self.alt}]")

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png).decode("ascii")
        return (
            f'{_STYLE}<figure class="rulelab-picture tex2jax_ignore mathjax_ignore" '
            f'style="width: {self.width}px">'
            f'<img alt="{escape(printable(self.alt))}" '
            f'src="data:image/png;base64,{data}">'
            f"<figcaption>{escape(printable(self.caption))}</figcaption></figure>"
        )

    def to_markdown(self) -> str:
        """The picture as Markdown, its data included."""
        alt = Page((self.alt,)).markdown()
        return f"![{alt}](data:image/png;base64,{base64.b64encode(self.png).decode('ascii')})"


def difference_map(difference: Any, left_name: str, right_name: str) -> Picture | None:
    """Where two arrays differ, element by element, on a logarithmic scale; None where there is nothing to
    see: small arrays, equal ones, and what is no array.

    `difference` is a `checking.comparison.Difference`. Arrays of more than two axes are shown as a matrix of
    the first axis against all others.
    """
    a, b = (np.asarray(side) for side in (difference.left, difference.right))
    if a.shape != b.shape or a.ndim == 0 or a.size < LARGE:
        return None
    if not {a.dtype.kind, b.dtype.kind} <= set("biufc"):
        return None
    a, b = _wide(a), _wide(b)
    with np.errstate(all="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    if not np.any(apart > 0):
        return None
    name, spot = difference.name, difference.worst
    worst = "" if spot is None else f"; the worst element is {list(spot)}"
    unknown = int(np.count_nonzero(np.isnan(apart)))
    blank = "Equal elements are left blank" + (f", and {unknown:,} with a nan." if unknown else ".")
    alt = (
        f"Map of the absolute difference between {left_name} and {right_name} in the {name}: "
        f"{int(np.count_nonzero(apart))} of {apart.size} elements differ, "
        f"by at most {np.nanmax(apart):.3g}{worst}"
    )
    draw = _line_of_differences if a.ndim == 1 else _matrix_of_differences
    figure = _figure(4.8, 2.2 if a.ndim == 1 else 3.2)
    draw(figure, np.where(apart > 0, apart, np.nan), spot)
    caption = f"Absolute difference in the {name}, element by element{worst}. {blank}"
    return Picture(_png(figure), alt, caption, 480)


def _wide(array: np.ndarray) -> np.ndarray:
    """The numbers as float or complex: small unsigned integers wrap around when they are subtracted."""
    return array.astype(complex if array.dtype.kind == "c" else float)


def _thinned(apart: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The differences with at most `MOST_POINTS` along an axis, each the largest of a stretch of elements,
    and where along it the stretches begin.
    """
    length = apart.shape[axis]
    starts = np.arange(0, length, -(-length // MOST_POINTS)) if length > MOST_POINTS else np.arange(length)
    return (apart if len(starts) == length else np.fmax.reduceat(apart, starts, axis)), starts


def _line_of_differences(figure: Any, apart: np.ndarray, spot: tuple[int, ...] | None) -> None:
    axes = figure.add_subplot()
    shown, places = _thinned(apart, 0)
    axes.plot(places, shown, linestyle="none", marker="o", markersize=4, color=_COLOURS[2])
    if spot:
        axes.plot(spot[0], apart[spot], "x", markersize=10, markeredgewidth=2, color=_COLOURS[1])
        axes.annotate("worst", (spot[0], apart[spot]), (8, -4), textcoords="offset points")
    axes.set_yscale("log")
    axes.margins(y=0.2)
    axes.set_xlim(-0.5, len(apart) - 0.5)
    axes.set_xlabel("index")
    axes.set_ylabel("absolute difference")
    _plain(axes)


def _matrix_of_differences(figure: Any, apart: np.ndarray, spot: tuple[int, ...] | None) -> None:
    from matplotlib.colors import LogNorm

    axes = figure.add_subplot()
    flat = apart.reshape(apart.shape[0], -1)
    drawn = _thinned(_thinned(flat, 0)[0], 1)[0]
    finite = drawn[np.isfinite(drawn)]
    norm = LogNorm(*(finite.min(), finite.max())) if finite.size and finite.min() < finite.max() else None
    edges = (-0.5, flat.shape[1] - 0.5, flat.shape[0] - 0.5, -0.5)
    shown = axes.imshow(
        drawn, norm=norm, aspect="auto", cmap="viridis_r", interpolation="nearest", extent=edges
    )
    figure.colorbar(shown, ax=axes, label="absolute difference")
    if spot:
        row, column = np.unravel_index(np.ravel_multi_index(spot, apart.shape), flat.shape)
        axes.plot(column, row, "x", markersize=12, markeredgewidth=2, color=_COLOURS[1])
    axes.set_xlabel("column" if apart.ndim == 2 else "all other axes")
    axes.set_ylabel("row" if apart.ndim == 2 else "first axis")


def scaling_picture(scaling: Any) -> Picture | None:
    """Time of one call against the size N, both axes logarithmic, a line for each of the functions; None
    with nothing to draw. `scaling` has `lines` with name, sizes, medians, minima and exponent.
    """
    lines = [line for line in scaling.lines if len(line.sizes)]
    if not lines:
        return None
    figure = _figure(6.4, 3.6)
    axes = figure.add_subplot()
    for number, line in enumerate(lines):
        axes.plot(
            line.sizes,
            line.medians,
            label=_label(line),
            color=_COLOURS[number % 3],
            marker=_MARKS[number % 3],
            linestyle=_DASHES[number % 3],
        )
        low = [least if least > 0 else median for least, median in zip(line.minima, line.medians)]
        axes.fill_between(line.sizes, low, line.medians, color=_COLOURS[number % 3], alpha=0.15, lw=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda seconds, position: engineering(seconds, "s"))
    axes.yaxis.set_minor_formatter(lambda seconds, position: "")
    sizes = sorted({int(n) for line in lines for n in line.sizes})
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("size N")
    axes.set_ylabel("time of one call")
    for text in axes.legend(loc="best", frameon=False).get_texts():
        text.set_parse_math(False)  # a name with dollars in it is no formula
    _plain(axes)
    return Picture(
        _png(figure), _said(lines), "Median time of one call against the size N; shaded down to the minimum."
    )


def _label(line: Any) -> str:
    name = " ".join(printable(line.name).split())
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    # matplotlib leaves out of a legend what begins with an underscore.
    name = f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
    return name if _unknown(line.exponent) else f"{name}: grows as N^{line.exponent:.2f}"


def _said(lines: list[Any]) -> str:
    parts = []
    for line in lines:
        grown = "" if _unknown(line.exponent) else f", growing as N to the power {line.exponent:.2f}"
        first, last = engineering(line.medians[0], "s"), engineering(line.medians[-1], "s")
        parts.append(
            f"{line.name}: {first} at N = {line.sizes[0]:,} to {last} at N = {line.sizes[-1]:,}{grown}"
        )
    return "Time of one call against the size N. " + "; ".join(parts)


def _unknown(exponent: float | None) -> bool:
    return exponent is None or exponent != exponent


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure  # here, because importing it takes a quarter of a second

    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained", facecolor="white")


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def _png(figure: Any) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands there, and `alt` has it
        FigureCanvasAgg(figure).print_png(out)
    return out.getvalue()
