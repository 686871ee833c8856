"""What counts as made anew is made anew, in the shape of the arguments; anything else is looked at."""

import ast

import numpy as np
import pytest

from rulelab.ad.fresh_cotangents import FreshCotangents


def fresh(text, cotangents, value="x @ x", arrays=("x", "y"), floats=("k", "y_bar")):
    """What the statements show of the cotangents, as a word of yes and no; and whether `len` counts."""
    (of,) = [ast.parse(f"{cotangents},", mode="eval").body]
    found = FreshCotangents(ast.parse(text).body, ast.parse(value, mode="eval").body, of.elts, arrays, floats)
    return "".join(["ny"[one] for one in found.of]), found.asks_lengths


@pytest.mark.parametrize(
    "text, cotangents, wanted",
    [
        ("", "2.0 * y_bar * x, -x, +x, x - y, x / 2, 2 ** x, x**-1, k * x", "yyyyyyyy"),
        ("r = x - y\ng = 2.0 * y_bar * r", "g, -g, r", "yyy"),
        ("s = 2.0 / x.size * y_bar", "s * x, x.ndim * x", "yy"),
        ("s = (k + 1.0) * 3 - 1 / 2", "s * x, x * (2.0 * y_bar)", "yy"),
        ("s = x @ y", "x * 2.0", "y"),
        # arguments, variables that are returned twice, other names of an array
        ("", "x, y", "nn"),
        ("g = x * 2.0", "g, g", "nn"),
        ("g = x * 2.0\nh = g", "h, g * 1.0, x * 1.0", "nny"),
        # what is no array of that shape
        ("", "2.0 * k, y_bar, x @ y, x // 2.0, x % 2.0, ~x, x[0], x[:] * 1.0", "nnnnnnnn"),
        ("", "x * 1j, x * True, x * 'a', x * None, x * 9007199254740992", "nnnnn"),
        ("", "x * (k**0.5), x * (3 * 4), x * (x @ y)", "nnn"),
        ("", "other * x, x * f(), np.exp(x) * y", "nnn"),
        # variables that meet something else, at any place
        ("g = x * 2.0\nkeep(g)", "g, g * 1.0, x * 1.0", "nny"),
        ("g = x * 2.0\ng.shape = (3, 1)", "g", "n"),
        ("g = x * 2.0\ng[0] = 1.0", "g", "n"),
        ("g = x * 2.0\nt = other * g", "g", "n"),
        ("g = x * 2.0\nt = g * other", "g", "n"),
        ("g = x * 2.0\nt = g @ other", "g", "n"),
        ("g = x * 2.0\nh = g * 2.0\nt = h * other", "g, h, h * 1.0", "ynn"),
        ("g = x * 2.0\nt = [g]", "g", "n"),
        ("g = x * 2.0\nt = f(k, g)", "g", "n"),
        ("g = x * 2.0\nt = g.T", "g", "n"),
        ("g = x * 2.0\nif g > 0:\n    pass", "g", "n"),
        ("g = x * 2.0\nt += g", "g", "n"),
        ("x.shape = (3, 1)", "x * 2.0", "n"),
        # variables that may have another value
        ("g = x * 2.0\ng = other", "g", "n"),
        ("g = x * 2.0\ng *= other", "g", "n"),
        ("if k:\n    g = x * 2.0", "g", "n"),
        ("g = x * 2.0\nfor g in other:\n    pass", "g", "n"),
        ("g, h = x * 2.0", "g", "n"),
        ("g = h = x * 2.0", "g, h", "nn"),
        ("with other as y_bar:\n    pass", "x * y_bar", "n"),
        ("k = other", "x * k", "n"),
    ],
)
def test_what_is_certain(text, cotangents, wanted):
    """Arithmetic on arguments and numbers, and nothing else."""
    assert fresh(text, cotangents) == (wanted, False)


def test_what_is_met_in_the_value_counts():
    """The value of the rule is computed from the same variables."""
    assert fresh("g = x * 2.0", "g", "g @ g / g.size") == ("y", False)
    assert fresh("g = x * 2.0", "g", "np.sum(g)") == ("n", False)
    assert fresh("g = x * 2.0", "g", "g") == ("n", False)


def test_lengths():
    """If `len` is Python's own, which is told; not where the rule has such a variable."""
    assert fresh("s = 2.0 / len(x)", "s * x") == ("y", True)
    assert fresh("g = x * 1.0\ns = 2.0 / len(g)", "s * g, g") == ("yy", True)
    assert fresh("len = other\ns = 2.0 / len(x)", "s * x")[0] == "n"
    assert fresh("s = 2.0 / len(x, k)", "s * x")[0] == "n"
    assert fresh("s = 2.0 / len(other)", "s * x") == ("n", False)


@pytest.mark.parametrize("shape", [(3,), (1,), (0,), (2, 3), (2, 1, 0)])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_what_is_certain_is_so(shape, order):
    """Each of these gives a new writable array of float64 of that shape."""
    made = np.linspace(-2.0, 2.0, 2 * int(np.prod(shape))).reshape(2, *shape)
    x, y = (one[..., ::-1] if order == "strided" else np.array(one, order=order) for one in made)
    names = {"x": x, "y": y, "k": -1.5, "y_bar": 1.0}
    texts = [
        *(
            "2.0 * y_bar * x",
            "-x",
            "+x",
            "x - y",
            "x / 0",
            "x / y",
            "2 ** x",
            "(-2) ** x",
            "x ** -1",
            "x ** k",
        ),
        *("k * x", "x * 9007199254740991", "x * (2.0 / x.size if x.size else 1.0)", "k ** x", "x ** y"),
    ]
    with np.errstate(all="ignore"):
        for text in texts:
            if " if " not in text:
                assert fresh("", text) == ("y", False)
            found = eval(text, names)
            assert type(found) is np.ndarray and found.dtype is np.dtype(float) and found.shape == shape
            assert found.base is None and found.flags.writeable and not np.shares_memory(found, x)
