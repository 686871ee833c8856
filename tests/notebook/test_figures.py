"""Pictures say in words what they show, are drawn where there is something to see, and need no backend."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.text import Text

from rulelab.bench import Scaling, ScalingLine, Timings
from rulelab.checking.comparing.compared import Difference
from rulelab.checking.comparing.comparison import compare
from rulelab.notebook import figures
from rulelab.notebook.figures import LARGE, Picture, _label, both_sides, scaling_picture, spread_picture


def difference(left, right, name="gradient of x"):
    apart = np.abs(left - right)
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(apart), apart.shape)) if apart.size else ()
    return Difference(name, left, right, float(apart.max(initial=0.0)), 1.0, worst, "differ")


def scaling(*lines):
    return Scaling(tuple(lines), (10, 100))


def size_of(png):
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


@pytest.mark.first(1)
@pytest.mark.parametrize("shape", [(LARGE,), (5, 7), (3, 4, 5), (40, 1)])
def test_a_picture_shows_where_arrays_differ_and_names_the_worst_element(shape):
    """In its alternative text too, for who does not see it; whatever the number of axes."""
    left = np.zeros(shape)
    right = left.copy()
    spot = tuple(n - 1 for n in shape)
    right[spot] = 0.25
    right[(0,) * len(shape)] = 1e-9
    shown = both_sides(difference(left, right), "f", "f_cr")
    assert shown.png.startswith(b"\x89PNG")
    words = f"2 of {left.size} elements differ, by at most 0.25; the worst element is {list(spot)}"
    assert words in shown.alt
    assert "f and f_cr" in shown.alt and "gradient of x" in shown.alt


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.ones(LARGE - 1), np.zeros(LARGE - 1)),
        (np.float64(1.0), np.float64(2.0)),
    ],
)
def test_no_picture_where_a_row_of_the_table_says_all(left, right):
    """Small arrays, numbers."""
    assert both_sides(difference(left, right), "f", "f_cr") is None


@pytest.mark.parametrize("shape", [(LARGE,), (100,), (4, 5)])
def test_equal_arrays_are_drawn_over_each_other(shape):
    """As points, as a line, as images; the difference is said to be none."""
    left = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape)
    shown = both_sides(Difference("gradient of x", left, left.copy(), worst=(0,) * len(shape)), "_f", "$f$")
    assert f"0 of {left.size} elements differ" in shown.alt and "worst" not in shown.alt + shown.caption
    assert "the two are equal" in shown.caption


def height(picture):
    """Of a PNG, in its dots."""
    return int.from_bytes(picture.png[20:24], "big")


def test_where_nothing_differs_no_room_is_kept_for_a_difference():
    """The gradients alone are drawn, and the caption says that they are equal; a nan on one side is none."""
    left = np.linspace(-1.0, 1.0, 20)
    other = left + np.where(left > 0.9, np.nan, 0.0)
    sides = (left, left + 1.0, other)
    same, differ, unknown = (both_sides(difference(left, side), "f", "g") for side in sides)
    assert height(same) < 0.8 * height(differ) == 0.8 * height(unknown)


@pytest.mark.slow
def test_the_sizes_of_small_differences_are_plain_numbers():
    """As those of the gradients beside them; only what spans powers of ten is told by them."""
    left = np.arange(20.0).reshape(4, 5)
    for most, plain in ((0.5, True), (1e5, False)):
        apart = np.linspace(0.1, most, 20).reshape(4, 5)
        figure = both_sides(difference(left, left + apart), "f", "g").again()
        figure.draw_without_rendering()
        powers = ["10^" in text.get_text() for text in figure.findobj(match=Text)]
        assert any(powers) is not plain


@pytest.mark.parametrize("size", [1e-7, 2.0, 1e9])
def test_numbers_on_the_axis_stand_alone_and_rounding_is_drawn_as_equal(size):
    """Nothing that they have in common is written into the legend."""
    left = size * np.ones(30)
    right = left * (1 + 1e-13 * np.arange(30))
    shown = both_sides(difference(left, right), "f", "f_cr").again()
    upper = shown.axes[0]
    shown.draw_without_rendering()
    assert upper.yaxis.get_offset_text().get_text() == ""
    labels = [label.get_text() for label in upper.get_yticklabels()]
    assert len(set(labels)) == len(labels)
    low, high = upper.get_ylim()
    assert high - low >= 1e-4 * size > 1e6 * np.abs(left - right).max()


def test_times_close_to_each_other_have_numbers_on_their_axis():
    """Two at least, also where no round number lies between them."""
    for least, most in ((5.21e-6, 5.27e-6), (1.01, 1.02), (9.9e-4, 1.01e-3), (1e-6, 9e-5), (2.0, 2.0000001)):
        ticks = figures._few_ticks(least, most)
        assert 2 <= len(ticks) <= 5 and all(least <= tick <= most for tick in ticks)


def test_complex_numbers_are_drawn_by_their_size():
    """And the caption says so; the difference is that of the numbers."""
    left = np.exp(1j * np.arange(20.0))
    shown = both_sides(difference(left, -left), "f", "g")
    assert shown.caption.startswith("The size of the gradient of x") and "by at most 2;" in shown.alt


def test_a_picture_can_be_had_as_svg():
    """Without a script or a link, and twice the same; a PNG of somebody else's cannot."""
    left = np.arange(20.0)
    shown = both_sides(difference(left, left + 1.0), "<script>", "g")
    svg = shown.svg()
    assert svg == shown.svg() and svg.startswith(b"<?xml") and b"<script" not in svg
    assert Picture(b"png", "alt", "caption").svg() is None


def test_names_beside_strips_tell_them_apart():
    """A long name goes on on a second line, and one that is a single long word is cut in its middle."""
    from rulelab.notebook.figures import _on_lines

    for f in ("softmax", "a_log_likelihood_of_many_words"):
        names = [_on_lines(f"value with pullback of {name}") for name in (f, f"{f}_cr")]
        assert names[0] != names[1] and all(len(line) <= 24 for name in names for line in name.split("\n"))
    assert _on_lines("gradient of mse") == "gradient of mse"


def test_times_are_drawn_as_strips():
    """One for each function, with its median and middle half in words; a few blocks are no distribution."""
    blocks = {"f": 30, "_g$x$": 9, "h": 3}
    calls = [Timings(name, 2, tuple(np.linspace(2e-6, 6e-6, count))) for name, count in blocks.items()]
    shown = spread_picture(calls)
    assert "f: median 2 µs, middle half 1.5 to 2.5 µs" in shown.alt and "h: median" not in shown.alt
    assert shown.beside and shown.svg()
    assert spread_picture(calls[2:]) is None


def test_no_picture_of_what_has_no_elementwise_difference():
    """Other shapes, None, objects: the words of the table are all there is."""
    ones, nothings = np.ones(20), np.array([None] * 20)
    for left, right in [(ones, np.ones(21)), (None, ones), (nothings, ones)]:
        assert both_sides(Difference("x", left, right, problem="differ"), "f", "f_cr") is None


@pytest.mark.filterwarnings("error")
def test_nan_and_infinity_are_drawn_without_a_warning():
    """They are what a wrong rule often gives."""
    left, right = np.zeros(30), np.zeros(30)
    right[3:6] = np.nan, np.inf, 1.0
    compared = compare(lambda x: float(np.sum(x * 0.0)), lambda x: float(np.sum(x * 0.0)), left)
    assert compared.agree
    assert both_sides(Difference("x", left, right, worst=(3,), problem="differ"), "f", "g") is not None


def test_the_difference_is_of_the_numbers_and_not_of_their_dtype():
    """Small unsigned integers do not wrap around, and flags that differ are drawn."""
    for dtype in ("u1", bool):
        left, right = np.zeros(20, dtype), np.zeros(20, dtype)
        right[2] = 1
        shown = both_sides(Difference("x", left, right, worst=(2,), problem="differ"), "f", "g")
        assert "1 of 20 elements differ, by at most 1;" in shown.alt
    words = np.array(["a"] * 20), np.array(["b"] * 20)
    assert both_sides(Difference("x", *words, problem="differ"), "f", "g") is None


def test_only_what_differs_is_counted():
    """The same infinity on both sides is no difference; a nan on one side is one that cannot be drawn."""
    left = np.full(20, np.inf)
    left[5] = np.nan
    right = left.copy()
    right[2], right[7] = 1.0, np.nan
    shown = both_sides(Difference("x", left, right, worst=(2,), problem="differ"), "f", "g")
    assert "2 of 20 elements differ" in shown.alt
    assert "left blank, and 1 with a nan" in shown.caption


@pytest.mark.parametrize("shape", [(200_000,), (5_000, 40), (3, 70_000)])
def test_a_large_array_is_drawn_in_stretches(shape, monkeypatch):
    """Each shows the largest difference in it, so that a single wrong element is seen."""
    left, drawn = np.zeros(shape), []
    right = left.copy()
    spot = tuple(n - 2 for n in shape)
    right[spot] = 0.5
    thinned = figures._thinned
    monkeypatch.setattr(figures, "_thinned", lambda *of: drawn.append(thinned(*of)) or drawn[-1])
    assert both_sides(difference(left, right), "f", "g") is not None
    last = drawn[-1][0]
    assert max(last.shape) <= figures.MOST_POINTS and np.nanmax(last) == 0.5


def test_the_times_against_n_are_three_lines_named_in_words():
    """Growth and the ends of each line stand in the alternative text."""
    lines = [
        ScalingLine("f itself", (10, 100), (1e-6, 1e-5), (1e-6, 1e-5)),
        ScalingLine("gradient of f", (10, 100), (4e-6, 4e-5), (3e-6, 3e-5)),
        ScalingLine("gradient of f_cr", (), (), (), refused="refused"),
    ]
    shown = scaling_picture(scaling(*lines))
    assert "f itself: 1 µs at N = 10 to 10 µs at N = 100, growing as N to the power 1.00" in shown.alt
    assert "gradient of f:" in shown.alt and "f_cr" not in shown.alt
    assert size_of(shown.png)[0] == 2 * shown.width    # sharp on screens with fine dots


def test_nothing_measured_is_no_picture():
    """An empty frame would look like a result."""
    assert scaling_picture(scaling(ScalingLine("f itself"))) is None


def test_a_picture_escapes_what_it_says():
    """Its words may hold a user's names."""
    shown = Picture(b"png", 'of "<script>"', "<b>caption</b>")._repr_html_()
    assert "<script" not in shown and "<b>" not in shown
    assert 'alt="of &quot;&lt;script&gt;&quot;"' in shown and 'src="data:image/png;base64,' in shown


def test_a_picture_says_its_words_and_acts_on_nothing():
    """Neither on a terminal nor in Markdown."""
    shown = Picture(b"png", "\x1b[31m\n\n<b>](javascript:x)", "\u202e")
    for face in (str(shown), shown._repr_html_(), shown.to_markdown()):
        assert "\x1b" not in face and "\u202e" not in face
    assert "\n" not in shown.to_markdown() and "\\<b\\>\\]" in shown.to_markdown()


@pytest.mark.slow
def test_pyplot_is_never_loaded():
    """So that no backend a user has chosen has a say, and no figure is left open."""
    code = (
        "import sys, numpy as np\n"
        "from rulelab.checking.comparing.comparison import Difference\n"
        "from rulelab.notebook.figures import both_sides\n"
        "both_sides(Difference('x', np.zeros((9, 9)), np.ones((9, 9)), worst=(0, 0)), 'f', 'g')\n"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_every_line_is_in_the_legend_by_its_name():
    """One that begins with an underscore too; dollars are no formula, and long names are cut."""
    for name in ("_loss", "$x$", "w" * 100):
        line = ScalingLine(name, (1, 2), (1.0, 2.0), (1.0, 2.0), 1.0)
        assert not _label(line).startswith("_") and len(_label(line)) < 70
        assert scaling_picture(scaling(line)).png[1:4] == b"PNG"


def test_a_map_is_light_where_its_numbers_are_small():
    """A dark page turns a picture to its negative, letters and colours: then what is small is close to the
    dark ground. The least difference does not look like none.
    """
    side = np.arange(20.0).reshape(4, 5)
    square = figures.both_sides(Difference("x", side, 2 * side + 1, worst=(3, 4)), "f", "g")
    maps = [axes.images[0] for axes in square.again().axes if axes.images]
    assert len(maps) == 3
    for shown in maps:
        light = shown.cmap(np.linspace(0.0, 1.0, 32))[:, :3] @ [0.2126, 0.7152, 0.0722]
        assert (np.diff(light) < 0).all() and light[-1] < 0.3
    assert maps[-1].cmap(0.0)[2] < 0.75


def test_letters_of_a_picture_stay_legible_on_a_narrow_page():
    """It is not made smaller than that; what is beyond the edge can be scrolled to, by the keyboard, too."""
    flat = figures.both_sides(Difference("x", np.zeros(20), np.ones(20), worst=(0,)), "f", "g")
    page = flat._repr_html_()
    assert f"min-width: {round(0.7 * flat.width)}px" in page and '<div tabindex="0"' in page
