"""Pictures: PNG with an alternative text, drawn by matplotlib without pyplot, so that the user's backend does
not matter.

They are drawn on white, and on a dark theme of Jupyter they are inverted by CSS: hues stay, and light and
dark are swapped. So a colour map is light where its numbers are small, which is then close to the background,
light or dark. Lines differ in their markers and dashes as well as in colour.
"""

from __future__ import annotations

import base64
import io
import itertools
import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from ..errors import printable
from ..tables import DARK_HOSTS, Page, engineering, span

DOTS_PER_INCH = 200  # twice the usual, for high-resolution screens
LARGE = 16
"""The number of elements from which on a picture says more than the table's row."""
MOST_POINTS = 2000
"""The largest number of points along an axis; a longer one is drawn in stretches, each by its first element
and its largest difference.
"""
FEW_POINTS = 60
"""The largest number of elements of a vector that are drawn as points; more are drawn as a line."""
LEAST_BLOCKS = 8
MANY_TIMES = 20
"""The ratio of the largest to the smallest difference from which on their axis is logarithmic."""
FEW_POWERS = 100
"""The ratio of the largest to the smallest number up to which a logarithmic axis has plain numbers."""
LONGEST = 40
"""The length of a name for which a legend has room."""
LEGIBLE = 0.7
"""The fraction of its width below which the letters of a picture are too small; a narrower page scrolls
it.
"""

_STYLE = f"""\
<style>
.rulelab-picture {{ display: inline-block; vertical-align: top; margin: 0.6em 0; padding-right: 1.5em;
  box-sizing: border-box; max-width: 100%; }}
@media (max-width: 552px) {{ .rulelab-picture {{ padding-right: 0; }} }}
.rulelab-picture div {{ overflow-x: auto; overflow-y: hidden; }}
.rulelab-picture img {{ width: 100%; max-width: none; height: auto; display: block; border-radius: 3px; }}
.rulelab-picture figcaption {{ color: var(--jp-content-font-color1, inherit); margin-top: 0.2em; }}
[data-jp-theme-light="false"] .rulelab-picture img,
{DARK_HOSTS} .rulelab-picture img {{ filter: invert(0.9) hue-rotate(180deg); }}
</style>"""
_COLOURS = ("#444444", "#b5431d", "#0b62a8")
_MARKS = ("o", "s", "^")
_DASHES = (":", "--", "-")


@dataclass(frozen=True)
class Picture:
    """A PNG, an alternative text, its caption, and its width on the screen.

    `again` draws the figure again, for an SVG. A picture that goes `beside` the preceding output does so if
    there is room.
    """

    png: bytes
    alt: str
    caption: str
    width: int = 640
    again: Callable[[], Any] | None = field(default=None, compare=False, repr=False)
    beside: bool = False

    def __str__(self) -> str:
        return printable(f"[picture: {self.alt}]")

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.png).decode("ascii")
        return (
            f'{_STYLE}<figure class="rulelab-picture tex2jax_ignore mathjax_ignore" '
            f'style="width: {self.width}px"><div tabindex="0" role="article" aria-label="picture">'
            f'<img alt="{escape(printable(self.alt))}" style="min-width: {round(LEGIBLE * self.width)}px" '
            f'src="data:image/png;base64,{data}"></div>'
            f"<figcaption>{escape(printable(self.caption))}</figcaption></figure>"
        )

    def to_markdown(self) -> str:
        """The picture as Markdown, its data included."""
        alt = Page((self.alt,)).markdown()
        return f"![{alt}](data:image/png;base64,{base64.b64encode(self.png).decode('ascii')})"

    def svg(self) -> bytes | None:
        """The picture as SVG, with its letters as outlines; None if it cannot be drawn again."""
        return None if self.again is None else _svg(self.again())


def _drawn(draw: Callable[[], Any], alt: str, caption: str, width: int, **kind: bool) -> Picture:
    return Picture(_png(draw()), alt, caption, width, draw, **kind)


def both_sides(difference: Any, left_name: str, right_name: str) -> Picture | None:
    """A picture of two arrays drawn over each other, and below it the difference, element by element. None if
    the row of a table says as much: for small arrays, and for anything but arrays of numbers.

    `difference` is a `checking.compared.Difference`. A vector is drawn as points or as a line, an array with
    more axes as images side by side: a matrix of the first axis against all others.
    """
    a, b = (np.asarray(side) for side in (difference.left, difference.right))
    if a.shape != b.shape or a.ndim == 0 or a.size < LARGE:
        return None
    if not {a.dtype.kind, b.dtype.kind} <= set("biufc"):
        return None
    a, b = _wide(a), _wide(b)
    with np.errstate(all="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    name, spot = difference.name, difference.worst if np.any(apart > 0) else None
    worst = "" if spot is None else f"; the worst element is {list(spot)}"
    unknown = int(np.count_nonzero(np.isnan(apart)))
    count = int(np.count_nonzero(apart))
    most = f", by at most {np.nanmax(apart):.3g}" if np.any(apart > 0) else ""
    alt = (
        f"The {name} of {left_name} and {right_name}, and the absolute difference: "
        f"{count} of {apart.size} elements differ{most}{worst}"
    )
    names = (_short(left_name), _short(right_name))
    blank = "Equal elements are left blank" + (f", and {unknown:,} with a nan." if unknown else ".")
    below = f"below it the absolute difference{worst}. {blank}" if count else "the two are equal."
    apart = np.where(apart > 0, apart, np.nan)
    sides = tuple(np.abs(side) if side.dtype.kind == "c" else side for side in (a, b))
    size = "The size of the" if a.dtype.kind == "c" else "The"
    if a.ndim == 1:
        step = -(-len(a) // MOST_POINTS)
        every = f"One in {step:,} elements of the" if step > 1 else size
        caption = f"{every} {name}, one over the other; {below}"
        return _drawn(lambda: _lines_of_both(sides, apart, spot, names, count > 0), alt, caption, 480)
    caption = f"{size} {name} of both; {below.replace('below it', 'on the right')}"
    return _drawn(lambda: _matrices_of_both(sides, apart, spot, names), alt, caption, 760)


def _wide(array: np.ndarray) -> np.ndarray:
    """The numbers as float or complex: small unsigned integers would wrap around in a subtraction."""
    return array.astype(complex if array.dtype.kind == "c" else float)


def _thinned(apart: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The differences with at most `MOST_POINTS` along an axis, each the largest of a stretch of elements,
    and the starts of the stretches.
    """
    length = apart.shape[axis]
    starts = np.arange(0, length, -(-length // MOST_POINTS)) if length > MOST_POINTS else np.arange(length)
    return (apart if len(starts) == length else np.fmax.reduceat(apart, starts, axis)), starts


def _lines_of_both(
    sides: tuple[np.ndarray, ...],
    apart: np.ndarray,
    spot: tuple[int, ...] | None,
    names: tuple[str, str],
    differ: bool,
) -> Any:
    figure = _figure(4.8, 3.6 if differ else 2.4)
    axes = figure.subplots(2 if differ else 1, sharex=True, squeeze=False, height_ratios=(3, 2)[: 1 + differ])
    upper, lower = axes[0, 0], axes[-1, 0]
    places = np.arange(0, len(apart), -(-len(apart) // MOST_POINTS))
    few = len(places) <= FEW_POINTS
    looks: tuple[dict[str, Any], ...] = (
        {"marker": "o", "markersize": 7, "fillstyle": "none"} if few else {"linewidth": 3.5, "alpha": 0.4},
        {"marker": "o", "markersize": 3} if few else {"linewidth": 1.2},
    )
    for side, name, colour, look in zip(sides, names, (_COLOURS[1], _COLOURS[2]), looks):
        line = "none" if few else "-"
        upper.plot(places, _drawable(side[places]), label=name, color=colour, linestyle=line, **look)
    above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
    columns = 2 if sum(map(len, names)) <= LONGEST else 1
    for text in upper.legend(frameon=False, ncols=columns, **above).get_texts():
        text.set_parse_math(False)  # a name with dollars in it is no formula
    _plain(upper)
    _whole_numbers_on_axis(upper, sides)
    if differ:
        _line_of_differences(lower, apart, spot)
    lower.set_xlim(-0.5, len(apart) - 0.5)
    lower.locator_params(axis="x", integer=True)
    lower.set_xlabel("index")
    return figure


LEAST_RANGE = 1e-4
"""The least range of an axis, as a fraction of its numbers: what differs by rounding is drawn as equal."""


def _whole_numbers_on_axis(axes: Any, sides: tuple[np.ndarray, ...]) -> None:
    """Numbers that can be read as they stand: matplotlib would write what they have in common, such as
    "1e-12+2", into the legend above.
    """
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.6g}".replace("-", "−"))
    largest = max((float(np.nanmax(np.abs(_drawable(side)), initial=0.0)) for side in sides), default=0.0)
    low, high = axes.get_ylim()
    if high - low < (least := LEAST_RANGE * largest):
        axes.set_ylim((low + high - least) / 2, (low + high + least) / 2)


def _drawable(numbers: np.ndarray) -> np.ndarray:
    """The numbers without infinities, which have no place on an axis."""
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _line_of_differences(axes: Any, apart: np.ndarray, spot: tuple[int, ...] | None) -> None:
    shown, places = _thinned(apart, 0)
    axes.plot(places, shown, linestyle="none", marker="o", markersize=3, color=_COLOURS[0])
    if spot:
        axes.plot(spot[0], apart[spot], "x", markersize=9, markeredgewidth=2, color=_COLOURS[1])
        axes.annotate("worst", (spot[0], apart[spot]), (8, -4), textcoords="offset points")
    finite = shown[np.isfinite(shown)]
    if finite.size and finite.max() > MANY_TIMES * finite.min():
        axes.set_yscale("log")
        axes.margins(y=0.2)
    elif finite.size:
        axes.set_ylim(0.0, 1.25 * finite.max())
        axes.ticklabel_format(axis="y", scilimits=(-3, 3))
    else:  # infinite or nan, which cannot be drawn
        axes.set_yticks([])
        axes.text(0.5, 0.5, "not finite", transform=axes.transAxes, ha="center", va="center")
    axes.set_ylabel("difference")
    _plain(axes)


def _matrices_of_both(
    sides: tuple[np.ndarray, ...],
    apart: np.ndarray,
    spot: tuple[int, ...] | None,
    names: tuple[str, str],
) -> Any:
    figure = _figure(7.6, 2.9)
    left, right, last = figure.subplots(1, 3)
    flat = [_drawable(side.reshape(side.shape[0], -1)) for side in sides]
    flat = [side[:: -(-side.shape[0] // MOST_POINTS), :: -(-side.shape[1] // MOST_POINTS)] for side in flat]
    numbers = np.concatenate([side[np.isfinite(side)] for side in flat])
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 1.0)
    edges = _edges(apart)
    for axes, side, name in zip((left, right), flat, names):
        image = axes.imshow(
            side, vmin=low, vmax=high, aspect="auto", cmap="YlGnBu", interpolation="nearest", extent=edges
        )
        axes.set_title(name, fontsize="medium").set_parse_math(False)
        axes.set_xlabel("column" if apart.ndim == 2 else "all other axes")
        axes.locator_params(integer=True)
    left.set_ylabel("row" if apart.ndim == 2 else "first axis")
    figure.colorbar(image, ax=(left, right), shrink=0.9)
    _matrix_of_differences(figure, last, apart, spot)
    return figure


def _edges(apart: np.ndarray) -> tuple[float, float, float, float]:
    rows = apart.shape[0]
    return -0.5, apart.size / rows - 0.5, rows - 0.5, -0.5


def _matrix_of_differences(figure: Any, axes: Any, apart: np.ndarray, spot: tuple[int, ...] | None) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap, LogNorm

    flat = apart.reshape(apart.shape[0], -1)
    drawn = _thinned(_thinned(flat, 0)[0], 1)[0]
    finite = drawn[np.isfinite(drawn)]
    axes.set_title("difference", fontsize="medium")
    axes.set_xlabel("column" if apart.ndim == 2 else "all other axes")
    if not finite.size:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", va="center")
        return
    norm = LogNorm(*(finite.min(), finite.max())) if finite.min() < finite.max() else None
    tinted = ListedColormap(colormaps["OrRd"](np.linspace(0.2, 1.0, 256)))  # not blank for the least
    shown = axes.imshow(
        drawn, norm=norm, aspect="auto", cmap=tinted, interpolation="nearest", extent=_edges(apart)
    )
    bar = figure.colorbar(shown, ax=axes, shrink=0.9)
    if norm is not None and finite.max() < FEW_POWERS * finite.min():  # plain numbers, as on the bar of both
        ticks = _few_ticks(finite.min(), finite.max())
        bar.set_ticks(ticks, labels=[f"{tick:.3g}" for tick in ticks])
        bar.minorticks_off()
    axes.locator_params(integer=True)
    if spot:
        row, column = np.unravel_index(np.ravel_multi_index(spot, apart.shape), flat.shape)
        edge = {"markersize": 14, "markeredgewidth": 5, "color": "white"}  # so that it is seen on any colour
        for look in (edge, {"markersize": 12, "markeredgewidth": 2, "color": _COLOURS[2]}):
            axes.plot(column, row, "x", clip_on=False, zorder=5, **look)  # whole at the edge as well


def _middle(timings: Any) -> str:
    low, high = timings.middle_half
    return span(low, high, "s")


def spread_picture(timings: Sequence[Any]) -> Picture | None:
    """A picture of the spread of the times of one call, a strip for each function: a point for each block,
    the middle half as a box, the median as a line. None with fewer than eight blocks. `timings` have name and
    timings.
    """
    shown = [one for one in timings if len(one.timings) >= LEAST_BLOCKS]
    if not shown:
        return None
    parts = (
        f"{one.name}: median {engineering(one.median, 's')}, middle half {_middle(one)}" for one in shown
    )
    alt = "How the times of one call are spread. " + "; ".join(parts)
    caption = "A point for each measurement; box: middle half, line: median."
    return _drawn(lambda: _strips(shown), alt, caption, 460, beside=True)


def _strips(timings: Sequence[Any]) -> Any:
    most = max(len(_on_lines(one.name).split("\n")) for one in timings)
    figure = _figure(4.6, 0.7 + max(0.5, 0.22 * most) * len(timings))
    axes = figure.add_subplot()
    colours = (_COLOURS[1], _COLOURS[2], _COLOURS[0])  # as in the picture of times against N
    for row, (one, colour) in enumerate(zip(timings, itertools.cycle(colours))):
        times = np.array(one.timings)
        heights = row + 0.5 * ((np.arange(len(times)) * 0.618034) % 1.0 - 0.5)  # spread evenly, not by chance
        axes.plot(times, heights, "o", markersize=3, alpha=0.35, markeredgewidth=0, color=colour)
        low, high = one.middle_half
        box = {"facecolor": "none", "edgecolor": colour, "linewidth": 1.0, "zorder": 3}  # over the points
        axes.fill_betweenx((row - 0.33, row + 0.33), low, high, **box)
        axes.plot((one.median,) * 2, (row - 0.36, row + 0.36), linewidth=2, color=colour)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda seconds, position: engineering(seconds, "s"))
    axes.xaxis.set_minor_formatter(lambda seconds, position: "")
    least, most = (bound(t for one in timings for t in one.timings) for bound in (min, max))
    if least > 0 and most < FEW_POWERS * least:
        axes.set_xticks(_few_ticks(least, most))
    axes.set_yticks(range(len(timings)), [_on_lines(one.name) for one in timings])
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.invert_yaxis()
    axes.set_xlabel("time of one call")
    _plain(axes)
    return figure


def _few_ticks(least: float, most: float) -> list[float]:
    """Round numbers between two that are less than two powers of ten apart."""
    power = 10.0 ** np.floor(np.log10(least))
    steps = [power * scale * step for scale in (1, 10, 100) for step in (1, 1.5, 2, 3, 5, 7)]
    inside = [step for step in steps if least <= step <= most]
    if len(inside) < 2:
        from matplotlib.ticker import MaxNLocator

        inside = [float(t) for t in MaxNLocator(4).tick_values(least, most) if least <= t <= most]
    return inside if len(inside) <= 4 else inside[:: -(-len(inside) // 4)]


def scaling_picture(scaling: Any) -> Picture | None:
    """A picture of the time of one call against the size N, both axes logarithmic, with a line for each
    function; None if there is nothing to draw. `scaling` has `lines` with name, sizes, medians, minima and
    exponent.
    """
    lines = [line for line in scaling.lines if len(line.sizes)]
    if not lines:
        return None
    caption = "Median time of one call against the size N; shaded down to the minimum."
    return _drawn(lambda: _growth_of(lines), _said(lines), caption, 640)


def _growth_of(lines: list[Any]) -> Any:
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
    return figure


_BESIDE = 24  # characters of a line beside the axes


def _on_lines(name: str) -> str:
    """A name on lines short enough to be beside the axes. The middle of a word that is too long is left out,
    since what distinguishes two names often comes last.

    >>> _on_lines("value with pullback of softmax_cr")
    'value with pullback of\\nsoftmax_cr'
    """
    words = " ".join(f"{w[:11]}…{w[-12:]}" if len(w) > _BESIDE else w for w in _short(name, 99).split(" "))
    return "\n".join(textwrap.wrap(words, _BESIDE, break_on_hyphens=False, break_long_words=False)[:3])


def _short(name: str, longest: int = LONGEST) -> str:
    """A name for a legend, in which matplotlib omits names that begin with an underscore."""
    name = " ".join(printable(name).split())
    name = name if len(name) <= longest else f"{name[: longest - 1]}…"
    return f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name


def _label(line: Any) -> str:
    name = _short(line.name)
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
        warnings.filterwarnings("ignore", "Glyph .* missing")  # drawn as a box; `alt` has it
        FigureCanvasAgg(figure).print_png(out)
    return out.getvalue()


def _svg(figure: Any) -> bytes:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.BytesIO()
    options: Any = {"svg.fonttype": "path", "svg.hashsalt": "rulelab"}
    with warnings.catch_warnings(), matplotlib.rc_context(options):
        warnings.filterwarnings("ignore", "Glyph .* missing")
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    return out.getvalue()
